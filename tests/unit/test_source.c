/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "source.h"

typedef struct Env {
	Arena a;
	Sources t;
	Str why;
} Env;

static int setup(void **state)
{
	Arena a = arena_new(NULL);
	Env *e = NEW(&a, Env);
	e->a = a;
	sources_init(&e->t, &e->a);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	Arena a = ((Env *)*state)->a;
	arena_free(&a);
	return 0;
}

static const Source *take(Env *e, Str bytes)
{
	FileId f = sources_add_bytes(&e->t, S("x.log"), bytes, 0, &e->why);
	return f.i ? source_get(&e->t, f) : NULL;
}

static void assert_str(Str s, const char *want)
{
	assert_int_equal(s.n, strlen(want));
	assert_memory_equal(s.p ? s.p : "", want, s.n);
}

static void assert_at(const Source *s, uint32_t offset, uint32_t line, uint32_t col)
{
	LineCol lc = source_line_col(s, offset);
	assert_int_equal(lc.line, line);
	assert_int_equal(lc.col, col);
}

static void lines_end_at_lf_and_crlf(void **state)
{
	const Source *s = take(*state, S("ab\r\ncd\n\nef\rg\n"));
	assert_int_equal(s->nlines, 4);
	assert_str(source_line(s, 1), "ab");
	assert_str(source_line(s, 2), "cd");
	assert_str(source_line(s, 3), "");
	assert_str(source_line(s, 4), "ef\rg");
	assert_int_equal(source_line(s, 0).n, 0);
	assert_int_equal(source_line(s, 5).n, 0);
	assert_at(s, 0, 1, 1);
	assert_at(s, 3, 1, 3); /* on the line end */
	assert_at(s, 4, 2, 1);
	assert_at(s, 7, 3, 1);
	assert_at(s, s->text.n, 4, 5);
	assert_at(s, 9999, 4, 5);
}

static void the_last_line_may_have_no_end(void **state)
{
	const Source *s = take(*state, S("a\nbc\r"));
	assert_int_equal(s->nlines, 2);
	assert_str(source_line(s, 2), "bc\r");
	assert_at(s, 4, 2, 3);
}

static void empty_text_has_a_place(void **state)
{
	const Source *s = take(*state, S(""));
	assert_int_equal(s->nlines, 0);
	assert_at(s, 0, 1, 1);
	assert_int_equal(source_offset(s, (LineCol){3, 3}), 0);
}

static void columns_are_code_points(void **state)
{
	/* e-acute, a tab, an emoji, a bad byte, an overlong form (two bad bytes) */
	const Source *s = take(*state, S("x\n\xc3\xa9\t\xf0\x9f\x98\x80\xff\xc0\x80z"));
	assert_at(s, 2, 2, 1);
	assert_at(s, 3, 2, 1); /* inside the first code point */
	assert_at(s, 4, 2, 2);
	assert_at(s, 5, 2, 3);
	assert_at(s, 9, 2, 4);
	assert_at(s, 10, 2, 5);
	assert_at(s, 12, 2, 7);
	for (uint32_t col = 1; col <= 7; col++)
		assert_int_equal(source_line_col(s, source_offset(s, (LineCol){2, col})).col, col);
	assert_int_equal(source_offset(s, (LineCol){2, 100}), s->text.n);
	assert_int_equal(source_offset(s, (LineCol){9, 1}), s->text.n);
	assert_int_equal(source_offset(s, (LineCol){0, 1}), 0);
}

static void a_bom_is_dropped(void **state)
{
	const Source *s = take(*state, S("\xef\xbb\xbf"
	                                 "ab"));
	assert_str(s->text, "ab");
	assert_false(s->was_utf16);
}

static void nul_is_kept_and_told(void **state)
{
	const Source *s = take(*state, S("a\0b\n"));
	assert_int_equal(s->text.n, 4);
	assert_true(s->has_nul);
	assert_false(take(*state, S("ab"))->has_nul);
}

static void utf16_is_decoded(void **state)
{
	const Source *s = take(*state, S("\xff\xfe"
	                                 "a\0\xe9\0\x3d\xd8\x00\xde\n\0"));
	assert_true(s->was_utf16);
	assert_str(s->text, "a\xc3\xa9\xf0\x9f\x98\x80\n");
	s = take(*state, S("\xfe\xff\0a\0b"));
	assert_str(s->text, "ab");
}

static void damaged_utf16_gives_one_mark_each(void **state)
{
	/* a high surrogate before a letter, a low one alone, half a unit at the end */
	const Source *s = take(*state, S("\xff\xfe\x3d\xd8"
	                                 "a\0\x00\xde"
	                                 "b\0\x01"));
	assert_str(s->text, "\xef\xbf\xbd"
	                    "a"
	                    "\xef\xbf\xbd"
	                    "b"
	                    "\xef\xbf\xbd");
	s = take(*state, S("\xff\xfe"));
	assert_int_equal(s->text.n, 0);
}

static Str pack(Arena *a, Str s)
{
	uLong room = compressBound(s.n) + 64;
	char *out = arena_alloc(a, room);
	z_stream z = {0};
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)s.p;
	z.avail_in = s.n;
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return (Str){out, (uint32_t)z.total_out};
}

static void gzip_is_unpacked(void **state)
{
	Env *e = *state;
	const Source *s = take(e, pack(&e->a, S("one\ntwo\n")));
	assert_true(s->was_gzip);
	assert_str(s->text, "one\ntwo\n");
	assert_int_equal(s->damage.n, 0);
	assert_int_equal(s->nlines, 2);
	/* what was packed may be UTF-16; an empty text is a text */
	assert_str(take(e, pack(&e->a, S("\xff\xfe"
	                                 "a\0")))
	               ->text,
	           "a");
	assert_int_equal(take(e, pack(&e->a, S("")))->text.n, 0);
}

static void members_follow_one_another(void **state)
{
	Env *e = *state;
	Buf b = {.a = &e->a};
	buf_add(&b, pack(&e->a, S("one\n")));
	buf_add(&b, pack(&e->a, S("two\n")));
	buf_add(&b, S("\0\0\0")); /* padding of tapes */
	assert_str(take(e, buf_str(&b))->text, "one\ntwo\n");
}

static Str noise(Arena *a, uint32_t n)
{
	char *p = arena_alloc(a, n);
	for (uint32_t i = 0; i < n; i++)
		p[i] = (char)hash_u64(i);
	return (Str){p, n};
}

static void what_a_broken_gzip_gives_is_taken(void **state)
{
	Env *e = *state;
	Str all = noise(&e->a, 200000), packed = pack(&e->a, all);
	const Source *s = take(e, str_sub(packed, 0, packed.n / 2));
	assert_non_null(s);
	assert_true(s->text.n > 1000 && s->text.n < all.n);
	assert_memory_equal(s->text.p, all.p, s->text.n);
	assert_true(s->damage.n > 0);
	assert_int_equal(e->why.n, 0);
	assert_null(take(e, str_sub(packed, 0, 12)));
	assert_true(e->why.n > 0);
	assert_null(take(e, S("\x1f\x8b\x08zzzzzzzzzzzzzzzzzz")));
}

static void a_bomb_is_refused_before_it_is_written_down(void **state)
{
	Env *e = *state;
	Arena big = arena_new(NULL);
	Str packed = pack(&e->a, (Str){arena_alloc(&big, 64 << 20), 64 << 20});
	arena_free(&big);
	size_t before = arena_bytes(&e->a);
	FileId f = sources_add_bytes(&e->t, S("bomb.gz"), packed, 1 << 20, &e->why);
	assert_int_equal(f.i, 0);
	assert_true(str_has(e->why, S("limit")));
	assert_true(arena_bytes(&e->a) - before < 4 << 20);
	/* exactly the limit is no bomb */
	packed = pack(&e->a, noise(&e->a, 70000));
	assert_int_not_equal(sources_add_bytes(&e->t, S("x"), packed, 70000, &e->why).i, 0);
	assert_int_equal(sources_add_bytes(&e->t, S("x"), packed, 69999, &e->why).i, 0);
}

static void the_limit_counts_what_is_read(void **state)
{
	Env *e = *state;
	assert_int_equal(sources_add_bytes(&e->t, S("x"), S("12345"), 4, &e->why).i, 0);
	assert_true(str_has(e->why, S("4 bytes")));
	assert_int_not_equal(sources_add_bytes(&e->t, S("x"), S("12345"), 5, &e->why).i, 0);
	/* two letters of UTF-16 become six bytes */
	assert_int_equal(
		sources_add_bytes(&e->t, S("x"), S("\xff\xfe\xff\xff\xff\xff"), 6, &e->why).i != 0, true);
	assert_int_equal(sources_add_bytes(&e->t, S("x"), S("\xff\xfe\xff\xff\xff\xff"), 5, &e->why).i,
	                 0);
}

static void files_are_read(void **state)
{
	Env *e = *state;
	char name[] = "test-source-XXXXXX";
	int fd = mkstemp(name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "ab\ncd", 5), 5);
	close(fd);
	FileId f = sources_add_file(&e->t, str_from_c(name), S("shown.log"), 0, &e->why);
	assert_int_not_equal(f.i, 0);
	assert_str(source_get(&e->t, f)->text, "ab\ncd");
	assert_str(source_get(&e->t, f)->path, "shown.log");
	assert_int_equal(sources_add_file(&e->t, str_from_c(name), S(""), 4, &e->why).i, 0);
	assert_true(str_has(e->why, S("limit")));
	unlink(name);
	assert_int_equal(sources_add_file(&e->t, str_from_c(name), S(""), 0, &e->why).i, 0);
	assert_true(e->why.n > 0);
	assert_int_equal(sources_add_file(&e->t, S("/"), S(""), 0, &e->why).i, 0);
	assert_true(e->why.n > 0);
	assert_int_equal(sources_add_file(&e->t, S("a\0b"), S(""), 0, &e->why).i, 0);
}

static void endless_input_stops_at_the_limit(void **state)
{
	Env *e = *state;
	if (access("/dev/zero", R_OK))
		skip();
	assert_int_equal(sources_add_file(&e->t, S("/dev/zero"), S(""), 5000000, &e->why).i, 0);
	assert_true(str_has(e->why, S("limit")));
}

static void clean_text_knows_its_places(void **state)
{
	(void)state;
	Seg seg[] = {{0, 10}, {3, 100}, {5, 50}};
	Text t = {.file = {1}, .s = S("abcdefg"), .seg = seg, .nseg = 3};
	assert_int_equal(text_offset(&t, 0), 10);
	assert_int_equal(text_offset(&t, 2), 12);
	assert_int_equal(text_offset(&t, 3), 100);
	assert_int_equal(text_offset(&t, 6), 51);
	assert_int_equal(text_offset(&t, 7), 52); /* the end of the last byte */
	assert_int_equal(text_offset(&t, 99), 52);
	Span s = text_span(&t, 1, 3);
	assert_int_equal(s.at, 11);
	assert_int_equal(s.end, 13); /* not 100: that is behind a prefix */
	s = text_span(&t, 3, 6); /* the second half stands before the first */
	assert_true(s.at <= s.end);
	s = text_span(&t, 2, 2);
	assert_int_equal(s.at, s.end);
	Text none = {0};
	assert_int_equal(text_offset(&none, 3), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(lines_end_at_lf_and_crlf),
		TEST(the_last_line_may_have_no_end),
		TEST(empty_text_has_a_place),
		TEST(columns_are_code_points),
		TEST(a_bom_is_dropped),
		TEST(nul_is_kept_and_told),
		TEST(utf16_is_decoded),
		TEST(damaged_utf16_gives_one_mark_each),
		TEST(gzip_is_unpacked),
		TEST(members_follow_one_another),
		TEST(what_a_broken_gzip_gives_is_taken),
		TEST(a_bomb_is_refused_before_it_is_written_down),
		TEST(the_limit_counts_what_is_read),
		TEST(files_are_read),
		TEST(endless_input_stops_at_the_limit),
		TEST(clean_text_knows_its_places),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
