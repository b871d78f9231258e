/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "json.h"
#include "utf8.h"

static void assert_buf(const Buf *b, const char *want)
{
	assert_int_equal(b->n, strlen(want));
	assert_memory_equal(b->p, want, b->n);
}

static void assert_written(Str s, const char *want)
{
	Arena a = arena_new(NULL);
	Buf b = {.a = &a};
	Json j = json_new(&b, false);
	json_str(&j, s);
	assert_buf(&b, want);
	arena_free(&a);
}

static void sample(Json *j)
{
	json_object(j);
	json_key(j, S("a"));
	json_array(j);
	json_int(j, INT64_MIN);
	json_bool(j, true);
	json_null(j);
	json_str_or_null(j, S(""));
	json_str_or_null(j, S("x"));
	json_end(j);
	json_key(j, S("e"));
	json_object(j);
	json_end(j);
	json_key(j, S("f"));
	json_array(j);
	json_end(j);
	json_key(j, S("g"));
	json_array(j);
	json_array(j);
	json_end(j);
	json_object(j);
	json_key(j, S("h"));
	json_bool(j, false);
	json_end(j);
	json_end(j);
	json_end(j);
}

static void compact_form(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Buf b = {.a = &a};
	Json j = json_new(&b, false);
	sample(&j);
	assert_buf(&b, "{\"a\":[-9223372036854775808,true,null,null,\"x\"],\"e\":{},\"f\":[],\"g\":[[],{\"h\":false}]}");
	arena_free(&a);
}

static void pretty_form(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Buf b = {.a = &a};
	Json j = json_new(&b, true);
	sample(&j);
	assert_buf(&b,
		"{\n"
		"  \"a\": [\n"
		"    -9223372036854775808,\n"
		"    true,\n"
		"    null,\n"
		"    null,\n"
		"    \"x\"\n"
		"  ],\n"
		"  \"e\": {},\n"
		"  \"f\": [],\n"
		"  \"g\": [\n"
		"    [],\n"
		"    {\n"
		"      \"h\": false\n"
		"    }\n"
		"  ]\n"
		"}");
	arena_free(&a);
}

static void strings_are_escaped(void **state)
{
	(void)state;
	assert_written(S(""), "\"\"");
	assert_written(S("a\"b\\c/\b\f\n\r\t"), "\"a\\\"b\\\\c/\\u0008\\u000c\\n\\r\\t\"");
	assert_written((Str){"\0x", 2}, "\"\\u0000x\"");
	assert_written(S("\x1b[31m\x7f"), "\"\\u001b[31m\\u007f\"");
	assert_written(S("\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80"), "\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\"");
	/* C1 control, bidirectional override, line separator, tag letter: JSON allows them, a terminal obeys them */
	assert_written(S("\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xf3\xa0\x81\x81"), "\"\\u009b\\u202e\\u2028\\udb40\\udc41\"");
}

static void bad_bytes_become_one_mark_each(void **state)
{
	(void)state;
#define FFFD "\xef\xbf\xbd"
	assert_written(S("a\xff" "b"), "\"a" FFFD "b\"");
	assert_written(S("\xe2\x82"), "\"" FFFD FFFD "\"");            /* cut sequence */
	assert_written(S("\xc0\xaf"), "\"" FFFD FFFD "\"");            /* overlong */
	assert_written(S("\xed\xa0\x80"), "\"" FFFD FFFD FFFD "\"");   /* surrogate */
	assert_written(S("\xf4\x90\x80\x80"), "\"" FFFD FFFD FFFD FFFD "\""); /* above U+10FFFF */
	assert_written(S("\xf0\x9f\x98"), "\"" FFFD FFFD FFFD "\"");
	assert_written(S("\x80"), "\"" FFFD "\"");
}

static void decoding_stays_inside_the_slice(void **state)
{
	(void)state;
	const char *text = "\xe4\xb8\xad";
	uint32_t n;
	for (uint32_t len = 1; len < 3; len++) {
		assert_int_equal(utf8_decode((Str){text, len}, 0, &n), UTF8_BAD);
		assert_int_equal(n, 1);
	}
	assert_int_equal(utf8_decode((Str){text, 3}, 0, &n), 0x4e2d);
	assert_int_equal(n, 3);
}

static void stepping_back(void **state)
{
	(void)state;
	Str s = S("a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\xff\xa9");
	const uint32_t starts[] = {11, 10, 6, 3, 1, 0};
	uint32_t at = s.n;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		at = utf8_before(s, at);
		assert_int_equal(at, starts[i]);
	}
}

static void widths(void **state)
{
	(void)state;
	assert_int_equal(utf8_width('a'), 1);
	assert_int_equal(utf8_width(0xe9), 1);
	assert_int_equal(utf8_width(0x301), 0);
	assert_int_equal(utf8_width(0x4e2d), 2);
	assert_int_equal(utf8_width(0x1f600), 2);
	assert_int_equal(utf8_width(0x10ffff), 1);
	assert_int_equal(utf8_width(0x378), 1); /* unassigned */
	assert_int_equal(utf8_width(UTF8_BAD), 0);
	assert_true(utf8_hidden(UTF8_BAD));
	assert_true(utf8_hidden(0x202e));
	assert_true(utf8_hidden('\n'));
	assert_false(utf8_hidden(' '));
	assert_int_equal(utf8_head(S("\xc3\xa9x\xff"), 2).n, 3);
	assert_int_equal(utf8_head(S("ab"), 9).n, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compact_form),
		cmocka_unit_test(pretty_form),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(bad_bytes_become_one_mark_each),
		cmocka_unit_test(decoding_stays_inside_the_slice),
		cmocka_unit_test(stepping_back),
		cmocka_unit_test(widths),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
