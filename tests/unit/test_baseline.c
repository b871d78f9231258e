/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "baseline.h"
#include "glob.h"

static Arena arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&arena);
	return 0;
}

static void globs(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *path;
		bool fits;
	} cases[] = {
		{"*.txt", "a.txt", true},          {"*.txt", "logs/a.txt", true},      {"logs/*.txt", "logs/a.txt", true},
		{"logs/*.txt", "logs/b/a.txt", false}, {"logs/**", "logs/b/a.txt", true}, {"**/a.txt", "a.txt", true},
		{"**/a.txt", "x/y/a.txt", true},   {"**/a.txt", "x/ba.txt", false},    {"a?c", "abc", true},
		{"x/a?c", "x/a/c", false},         {"[a-c]x", "bx", true},             {"[!a-c]x", "bx", false},
		{"[]x]y", "]y", true},             {"", "", true},                     {"*", "", true},
		{"a/**/b", "a/b", true},           {"a/**/b", "a/x/y/b", true},        {"a/**/b", "ab", false},
		{"**", "any/thing", true},         {"a*b*c", "aXbYbZc", true},         {"a*b*c", "aXbYbZ", false},
		{"[a", "[a", true},                {"*a*", "\xff" "a", true},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (glob_path(str_from_c(cases[i].pattern), str_from_c(cases[i].path)) != cases[i].fits)
			fail_msg("'%s' on '%s'", cases[i].pattern, cases[i].path);
	assert_true(glob_fault(S("[a")).n > 0);
	assert_true(glob_fault(S("[a]*")).n == 0);
}

/* Work is the product of both lengths at most, whatever the stars. */
static void hostile_globs(void **state)
{
	(void)state;
	Buf p = {.a = &arena}, s = {.a = &arena};
	for (int i = 0; i < 2000; i++) {
		buf_add(&p, i % 2 ? S("**a") : S("*a"));
		buf_char(&s, 'a');
	}
	buf_char(&p, 'b');
	assert_false(glob_match(buf_str(&p), buf_str(&s)));
}

static void paths(void **state)
{
	(void)state;
	static const char *const joins[][3] = {
		{"/a/b", "c", "/a/b/c"}, {"/a/b", "../c", "/a/c"}, {"/a", "/x/./y//z", "/x/y/z"}, {"/", "../..", "/"},
		{"a", "../..", ".."},    {".", ".", "."},          {"/a/b", "../../..", "/"},     {"a", "b/..", "a"},
	};
	for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
		assert_string_equal(str_to_c(&arena, path_join(&arena, str_from_c(joins[i][0]), str_from_c(joins[i][1]))), joins[i][2]);
	static const char *const below[][3] = {
		{"/a/b", "/a/b/c/d", "c/d"}, {"/a/b", "/a/bc", "/a/bc"}, {"/", "/a", "a"}, {".", "x/y", "x/y"}, {"/a/b/", "/a/./b/c", "c"},
	};
	for (size_t i = 0; i < sizeof below / sizeof *below; i++)
		assert_string_equal(str_to_c(&arena, path_below(&arena, str_from_c(below[i][0]), str_from_c(below[i][1]))), below[i][2]);
}

/* ---- baselines ---- */

static Finding *add(Diags *d, const char *print, uint32_t graph, Severity sev)
{
	Finding *f = diag_add(d, S("GL101"), sev, (Span){0});
	f->fingerprint = str_from_c(print);
	f->graph_id.i = graph;
	return f;
}

static const char A[] = "00000000000000aa", B[] = "00000000000000bb";

static Baseline *written(Diags *d, const char *contract)
{
	Buf out = {.a = &arena}, errors = {.a = &arena};
	baseline_write(d, str_from_c(contract), &arena, &out);
	Baseline *b = baseline_load(&arena, S("b.json"), str_copy(&arena, buf_str(&out)), &errors);
	assert_string_equal(str_to_c(&arena, buf_str(&errors)), "");
	assert_non_null(b);
	return b;
}

static void what_is_new(void **state)
{
	(void)state;
	Diags old, d;
	diags_init(&old, &arena);
	add(&old, A, 1, SEV_NOTE);
	add(&old, A, 1, SEV_WARNING);
	add(&old, B, 0, SEV_NOTE);
	add(&old, "00000000000000cc", 1, SEV_NOTE)->suppressed = S("inline");
	Baseline *b = written(&old, "auto");
	assert_int_equal(b->v.n, 2);
	assert_int_equal(b->v.v[0].count, 2);
	assert_int_equal(b->v.v[0].severity, SEV_WARNING);
	diags_init(&d, &arena);
	add(&d, A, 7, SEV_WARNING);
	add(&d, A, 7, SEV_NOTE);
	add(&d, A, 7, SEV_NOTE);    /* one more than in any graph before */
	add(&d, A, 8, SEV_NOTE);    /* compiled again */
	add(&d, A, 8, SEV_ERROR);   /* proven now */
	add(&d, B, 0, SEV_WARNING); /* about no graph: any number; more was captured, or less */
	add(&d, B, 0, SEV_NOTE);
	add(&d, "00000000000000dd", 7, SEV_NOTE);
	assert_int_equal(baseline_apply(b, S("auto"), &d, &arena), 0);
	static const bool in[] = {true, true, false, true, false, true, true, false};
	for (uint32_t i = 0; i < d.v.n; i++)
		if ((d.v.v[i].suppressed.n > 0) != in[i])
			fail_msg("finding %u", i);
	diags_init(&d, &arena);
	add(&d, B, 0, SEV_WARNING);
	assert_int_equal(baseline_apply(b, S("fresh"), &d, &arena), 1); /* A is gone */
	assert_int_equal(d.v.v[0].suppressed.n, 0);                     /* a note that another contract makes a warning */
}

static void faults(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"", "b.json:1:1: not a baseline: the file is empty\n"},
		{"[]", "b.json:1:1: a mapping with the key 'tool' is expected here\n"},
		{"{\"tool\": \"other\", \"baseline\": 1, \"contract\": \"auto\", \"findings\": []}", "b.json:1:10: not a baseline of graphlint\n"},
		{"{\"tool\": \"graphlint\", \"baseline\": 2, \"contract\": \"auto\", \"findings\": []}", "b.json:1:35: a number from 1 to 1 "},
		{"{\"tool\": \"graphlint\", \"baseline\": 1, \"contract\": \"auto\", \"findings\": [{\"fingerprnt\": \"a\"}]}",
			"b.json:1:72: unknown key 'fingerprnt' (did you mean 'fingerprint'?)\n"},
		{"{\"tool\": \"graphlint\", \"baseline\": 1, \"contract\": \"auto\", \"findings\": [{\"fingerprint\": \"zz\", \"rule\": \"GL101\", "
			"\"severity\": \"note\", \"count\": 1}]}", "b.json:1:87: a fingerprint has 16 hexadecimal digits\n"},
		{"{\"tool\"", "b.json:2:1: not YAML: "},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Buf errors = {.a = &arena};
		assert_null(baseline_load(&arena, S("b.json"), str_from_c(cases[i][0]), &errors));
		if (!str_starts(buf_str(&errors), str_from_c(cases[i][1])))
			fail_msg("wanted %s, got %.*s", cases[i][1], STR_ARG(buf_str(&errors)));
	}
}

/* What a dump says may not spoil the file. */
static void hostile_words(void **state)
{
	(void)state;
	Diags d;
	diags_init(&d, &arena);
	Finding *f = add(&d, A, 1, SEV_NOTE);
	f->source.function = S("f\x7f\n\"}");
	f->group = S("a\"b\\u0000\xc3\xa9");
	assert_int_equal(written(&d, "auto")->v.n, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(globs), TEST(hostile_globs), TEST(paths), TEST(what_is_new), TEST(faults), TEST(hostile_words),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("baseline", tests, NULL, NULL);
}
