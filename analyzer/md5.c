/* SPDX-License-Identifier: MIT */
#include "md5.h"

enum { BLOCK = 64, STEPS = 64 };

void md5_init(Md5 *m)
{
	*m = (Md5){.state = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u}};
}

static uint32_t word(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t turned(uint32_t x, unsigned by)
{
	return x << by | x >> (32 - by);
}

/* floor(2^32 |sin i|), i in radians from 1 */
static const uint32_t sines[STEPS] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
	0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
	0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
	0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
	0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
	0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
	0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
	0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

/* A round of 16 steps: how far each turns, and which word of the block it takes: (first + step * i) mod 16. */
static const struct {
	unsigned char turn[4], first, step;
} rounds[4] = {{{7, 12, 17, 22}, 0, 1}, {{5, 9, 14, 20}, 1, 5}, {{4, 11, 16, 23}, 5, 3}, {{6, 10, 15, 21}, 0, 7}};

static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round) {
	case 0: return (b & c) | (~b & d);
	case 1: return (b & d) | (c & ~d);
	case 2: return b ^ c ^ d;
	default: return c ^ (b | ~d);
	}
}

static void add_block(Md5 *m, const unsigned char *p)
{
	uint32_t a = m->state[0], b = m->state[1], c = m->state[2], d = m->state[3];
	for (unsigned i = 0; i < STEPS; i++) {
		unsigned r = i / 16, k = (rounds[r].first + rounds[r].step * (i % 16)) % 16;
		uint32_t sum = a + mix(r, b, c, d) + sines[i] + word(p + (size_t)4 * k), next = d;
		a = next;
		d = c;
		c = b;
		b += turned(sum, rounds[r].turn[i % 4]);
	}
	m->state[0] += a;
	m->state[1] += b;
	m->state[2] += c;
	m->state[3] += d;
}

void md5_add(Md5 *m, Str s)
{
	uint32_t had = (uint32_t)(m->bytes % BLOCK);
	m->bytes += s.n;
	while (s.n) {
		uint32_t n = s.n < BLOCK - had ? s.n : BLOCK - had;
		if (n == BLOCK) {
			add_block(m, (const unsigned char *)s.p);
		} else {
			memcpy(m->block + had, s.p, n);
			if (had + n == BLOCK)
				add_block(m, m->block);
		}
		had = (had + n) % BLOCK;
		s = str_sub(s, n, s.n);
	}
}

void md5_hex(Md5 *m, char out[MD5_HEX])
{
	static const char digits[] = "0123456789abcdef";
	uint64_t bits = m->bytes * 8;
	char length[8];
	for (unsigned i = 0; i < sizeof length; i++)
		length[i] = (char)(bits >> 8 * i);
	md5_add(m, S("\x80"));
	while (m->bytes % BLOCK != BLOCK - sizeof length)
		md5_add(m, (Str){"", 1});
	md5_add(m, (Str){length, sizeof length});
	for (unsigned i = 0; i < MD5_HEX; i++) {
		unsigned byte = m->state[i / 8] >> 8 * (i / 2 % 4) & 0xff;
		out[i] = digits[i % 2 ? byte & 15 : byte >> 4];
	}
}
