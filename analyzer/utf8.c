/* SPDX-License-Identifier: MIT */
#include "utf8.h"

typedef enum { CP_PLAIN, CP_HIDDEN, CP_ZERO, CP_WIDE } Class;

static const struct {
	uint32_t first, last;
	Class cls;
} ranges[] = {
#define CODEPOINTS(cls, first, last) {first, last, CP_##cls},
#include "codepoints.def"
#undef CODEPOINTS
};

/* Bytes that a sequence with this first byte has; 0: it begins none. */
static uint32_t length_of(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c < 0xc2)
		return 0;
	return c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

uint32_t utf8_decode(Str s, uint32_t at, uint32_t *n)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)s.p + at;
	uint32_t len = length_of(p[0]);
	*n = 1;
	if (len == 1)
		return p[0];
	if (!len || len > s.n - at)
		return UTF8_BAD;
	uint32_t c = p[0] & (0x7fu >> len);
	for (uint32_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return UTF8_BAD;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return UTF8_BAD;
	*n = len;
	return c;
}

uint32_t utf8_before(Str s, uint32_t at)
{
	uint32_t n;
	for (uint32_t back = 2; back <= 4 && back <= at; back++) {
		utf8_decode(s, at - back, &n);
		if (n == back)
			return at - back;
	}
	return at - 1;
}

static Class class_of(uint32_t c)
{
	if (c < 0x80)
		return c < 0x20 || c == 0x7f ? CP_HIDDEN : CP_PLAIN;
	if (c == UTF8_BAD)
		return CP_HIDDEN;
	uint32_t lo = 0, hi = sizeof ranges / sizeof *ranges;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (c > ranges[mid].last)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < sizeof ranges / sizeof *ranges && c >= ranges[lo].first ? ranges[lo].cls : CP_PLAIN;
}

uint32_t utf8_width(uint32_t c)
{
	Class k = class_of(c);
	return k == CP_PLAIN ? 1 : k == CP_WIDE ? 2 : 0;
}

bool utf8_hidden(uint32_t c)
{
	return class_of(c) == CP_HIDDEN;
}

Str utf8_head(Str s, uint32_t most)
{
	uint32_t at = 0, n;
	for (; most && at < s.n; most--, at += n)
		utf8_decode(s, at, &n);
	return str_sub(s, 0, at);
}
