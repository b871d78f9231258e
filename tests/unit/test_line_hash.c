/* SPDX-License-Identifier: MIT
 * Published vectors of GitHub's line hash, and ours of what they leave out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "line_hash.h"

static Arena arena;

static void check(Str text, const char *const *want, uint32_t n)
{
	LineHashes h = line_hashes(text, &arena);
	assert_int_equal(h.n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_string_equal(str_to_c(&arena, line_hash_text(&h.v[i], &arena)), want[i]);
}

#define CHECK(text, ...)                                                                           \
	check(S(text), (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void published(void **state)
{
	(void)state;
	CHECK("", "c129715d7a2bc9a3:1");
	CHECK(" a\nb\n  \t\tc\n d", "271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1");
	CHECK("view = contiguous.view(1, 1024, -1)\nreturn (view,)\n", "5f3dd9099852a0bf:1", "fae81c1b64973261:1", "c129715d7a2bc9a3:1");
	CHECK("# \xc3\xa9\xf0\x9f\x98\x80\nx\n", "3fe0e72b867ed684:1", "828973aa50c68d6d:1", "c129715d7a2bc9a3:1");
}

static void line_ends(void **state)
{
	(void)state;
	CHECK(" a\r\nb\r\n  \t\tc\r\n d", "271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1");
	CHECK(" a\rb\r  \t\tc\r d", "271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1");
}

/* Lines whose windows are full of the same text have one hash; near the end they differ. */
static void repeats(void **state)
{
	(void)state;
	Buf b = {.a = &arena};
	for (int i = 0; i < 10; i++)
		buf_add(&b, S("0123456789 0123456789\n"));
	LineHashes h = line_hashes(buf_str(&b), &arena);
	assert_int_equal(h.n, 11);
	for (uint32_t i = 0; i < 6; i++) {
		assert_true(h.v[i].hash == h.v[0].hash);
		assert_int_equal(h.v[i].count, i + 1);
	}
	assert_true(h.v[6].hash != h.v[0].hash);
	assert_int_equal(h.v[6].count, 1);
}

static void offsets(void **state)
{
	(void)state;
	LineHashes h = line_hashes(S("  a\r\n\tb\nc"), &arena);
	assert_int_equal(h.n, 3);
	assert_ptr_equal(line_hash_at(&h, 0), &h.v[0]);
	assert_ptr_equal(line_hash_at(&h, 4), &h.v[0]);
	assert_ptr_equal(line_hash_at(&h, 5), &h.v[1]);
	assert_ptr_equal(line_hash_at(&h, 6), &h.v[1]);
	assert_ptr_equal(line_hash_at(&h, 8), &h.v[2]);
	assert_ptr_equal(line_hash_at(&h, 100), &h.v[2]);
}

static void bad_bytes(void **state)
{
	(void)state;
	assert_int_equal(line_hashes(S("a\nb\xff\n"), &arena).n, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(published),
		cmocka_unit_test(line_ends),
		cmocka_unit_test(repeats),
		cmocka_unit_test(offsets),
		cmocka_unit_test(bad_bytes),
	};
	arena = arena_new(NULL);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	int failed = cmocka_run_group_tests_name("line_hash", tests, NULL, NULL);
	arena_free(&arena);
	return failed;
}
