/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "md5.h"

static void sum_is(Str s, uint32_t step, const char *want)
{
	Md5 m;
	char hex[MD5_HEX + 1] = {0};
	md5_init(&m);
	for (uint32_t at = 0; at < s.n; at += step)
		md5_add(&m, str_sub(s, at, at + step));
	md5_hex(&m, hex);
	assert_string_equal(hex, want);
}

/* The vectors of RFC 1321, A.5. */
static void published_vectors(void **state)
{
	static const struct {
		const char *text, *sum;
	} vectors[] = {
		{"", "d41d8cd98f00b204e9800998ecf8427e"},
		{"a", "0cc175b9c0f1b6a831c399e269772661"},
		{"abc", "900150983cd24fb0d6963f7d28e17f72"},
		{"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
		{"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
		{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
		{"12345678901234567890123456789012345678901234567890123456789012345678901234567890", "57edf4a22be3c955ac49da2e2107b67a"},
	};
	(void)state;
	for (uint32_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
		for (uint32_t step = 1; step < 90; step += step < 3 ? 1 : 31)
			sum_is(str_from_c(vectors[i].text), step, vectors[i].sum);
}

/* Every length around the end of a block, in pieces of any size: the sum of the sums. */
static void pieces_do_not_matter(void **state)
{
	char text[300];
	(void)state;
	for (uint32_t i = 0; i < sizeof text; i++)
		text[i] = (char)(i * 7 + 1);
	for (uint32_t n = 50; n < 200; n += 1) {
		Md5 whole;
		char want[MD5_HEX + 1] = {0};
		md5_init(&whole);
		md5_add(&whole, (Str){text, n});
		md5_hex(&whole, want);
		sum_is((Str){text, n}, 1 + n % 67, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(published_vectors), cmocka_unit_test(pieces_do_not_matter)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
