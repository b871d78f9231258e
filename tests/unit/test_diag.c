/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "diag.h"

static void assert_str(Str got, const char *want)
{
	char buf[256];
	assert_true(got.n < sizeof buf);
	memcpy(buf, got.n ? got.p : "", got.n);
	buf[got.n] = 0;
	assert_string_equal(buf, want);
}

static Span span(uint32_t file, uint32_t at, uint32_t end)
{
	return (Span){{file}, at, end};
}

static void names_roundtrip(void **state)
{
	(void)state;
	for (int i = SEV_NONE; i <= SEV_ERROR; i++) {
		Severity s = SEV_NONE;
		assert_true(severity_parse(severity_name((Severity)i), &s));
		assert_int_equal(s, i);
	}
	Severity s = SEV_NOTE;
	assert_false(severity_parse(S("Error"), &s));
	assert_false(severity_parse(S(""), &s));
	assert_int_equal(s, SEV_NOTE);
	assert_str(role_name(ROLE_BOUNDARY), "boundary");
	assert_str(observable_name(OBS_NONE), "");
	assert_str(observable_name(OBS_IDENTITY), "identity");
}

static void finding_starts_without_indices(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Diags d;
	diags_init(&d, &a);
	char rule[] = "GL101", value[] = "x";
	Finding *f = diag_add(&d, str_from_c(rule), SEV_NOTE, span(1, 2, 3));
	assert_int_equal(f->output, -1);
	assert_int_equal(f->input, -1);
	assert_int_equal(f->other_output, -1);
	assert_int_equal(f->certainty, TRI_NO);
	diag_var(&d, f, S("graph"), str_from_c(value));
	diag_varf(&d, f, S("input"), "%d", 7);
	diag_stepf(&d, f, ROLE_LINK, span(1, 0, 1), "step %d", 1);
	rule[0] = value[0] = '?'; /* texts are copied */
	assert_str(f->rule, "GL101");
	assert_str(f->vars.v[0].value, "x");
	assert_str(f->vars.v[1].value, "7");
	assert_str(f->steps.v[0].text, "step 1");
	arena_free(&a);
}

static void unread_once_per_place(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Diags d;
	diags_init(&d, &a);
	for (int k = 0; k < 3; k++) {
		diag_unread(&d, span(1, 10, 12), "statement %d", k);
		diag_unread(&d, span(2, 10, 12), "other file");
		diag_truncated(&d, span(1, 10, 12), "ends early");
	}
	diag_unread(&d, span(0, 0, 0), "nowhere");
	assert_int_equal(d.v.n, 4);
	assert_int_equal(d.unread.n, 4);
	assert_str(d.v.v[0].rule, "GL901");
	assert_str(d.v.v[2].rule, "GL902");
	assert_str(d.unread.v[0].why, "statement 0");
	for (uint32_t i = 0; i < d.v.n; i++) {
		assert_int_equal(d.v.v[i].severity, SEV_WARNING);
		assert_int_equal(d.v.v[i].steps.n, 1);
		assert_str(d.v.v[i].vars.v[0].name, "why");
		assert_true(d.unread.v[i].incomplete);
	}
	arena_free(&a);
}

static Finding *put(Diags *d, Span at, const char *rule, uint32_t graph, int output, int input)
{
	Finding *f = diag_add(d, str_from_c(rule), SEV_NOTE, at);
	f->graph_id.i = graph;
	f->output = output;
	f->input = input;
	return f;
}

static void sorted_by_place_then_rule(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Diags d;
	diags_init(&d, &a);
	put(&d, span(2, 0, 1), "GL101", 1, 0, 0)->variant = S("8");
	put(&d, span(1, 9, 9), "GL101", 1, 0, 0)->variant = S("7");
	put(&d, span(1, 5, 8), "GL103", 1, -1, 0)->variant = S("6");
	put(&d, span(1, 5, 8), "GL101", 2, 0, 0)->variant = S("5");
	put(&d, span(1, 5, 8), "GL101", 1, 1, 0)->variant = S("4");
	put(&d, span(1, 5, 8), "GL101", 1, 0, 2)->variant = S("2");
	put(&d, span(1, 5, 8), "GL101", 1, 0, 2)->variant = S("3"); /* equal: stays behind */
	put(&d, span(1, 5, 8), "GL101", 1, -1, 2)->variant = S("1");
	put(&d, span(1, 5, 6), "GL901", 1, -1, -1)->variant = S("0");
	diags_sort(&d);
	for (uint32_t i = 0; i < d.v.n; i++)
		assert_int_equal(d.v.v[i].variant.p[0] - '0', i);
	arena_free(&a);
}

static void sort_is_stable_on_many(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Diags d;
	diags_init(&d, &a);
	uint64_t x = 1;
	enum { N = 5000 };
	for (uint32_t i = 0; i < N; i++) {
		x = hash_u64(x + i);
		diag_add(&d, S("GL101"), SEV_NOTE, span(1, x % 50, 60))->graph_id.i = 0;
		d.v.v[i].input = -1;
		d.v.v[i].source.line = i;
	}
	size_t before = arena_bytes(&a);
	diags_sort(&d);
	assert_int_equal(arena_bytes(&a), before); /* what sorting needs is given back */
	for (uint32_t i = 1; i < N; i++) {
		const Finding *p = &d.v.v[i - 1], *q = &d.v.v[i];
		assert_true(p->span.at <= q->span.at);
		if (p->span.at == q->span.at)
			assert_true(p->source.line < q->source.line);
	}
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_roundtrip),
		cmocka_unit_test(finding_starts_without_indices),
		cmocka_unit_test(unread_once_per_place),
		cmocka_unit_test(sorted_by_place_then_rule),
		cmocka_unit_test(sort_is_stable_on_many),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
