/* SPDX-License-Identifier: MIT
 * Arenas; and memory that runs out at any request: the run ends, says so, and everything is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "report.h"
#include "run.h"

enum { BIG = 300000 };

static void small_allocations_are_zeroed_and_aligned(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	for (uint32_t i = 1; i < 3000; i++) {
		char *p = arena_alloc(&a, i % 70 + 1);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (uint32_t k = 0; k < i % 70 + 1; k++)
			assert_int_equal(p[k], 0);
		memset(p, 1, i % 70 + 1);
	}
	arena_free(&a);
	assert_int_equal(arena_bytes(&a), 0);
}

static void growing_keeps_what_was_there(void **state)
{
	(void)state;
	Budget budget = {0};
	Arena a = arena_new(&budget);
	VEC(uint32_t) v[3] = {{0}, {0}, {0}};
	for (uint32_t i = 0; i < BIG; i++)
		VEC_PUSH(&a, &v[i % 3], i);
	for (uint32_t i = 0; i < BIG; i++)
		assert_int_equal(v[i % 3].v[i / 3], i);
	/* what grew left nothing behind */
	assert_true(budget.used < 4 * BIG * sizeof **&v[0].v);
	arena_free(&a);
	assert_int_equal(budget.used, 0);
}

static void the_last_allocation_grows_in_place(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	char *p = arena_alloc(&a, 32);
	memset(p, 7, 32);
	assert_ptr_equal(arena_grow(&a, p, 32, 96), p);
	char *q = arena_alloc(&a, 16), *r = arena_grow(&a, p, 96, 160);
	assert_ptr_not_equal(r, p);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(r[i], 7);
	assert_true(q > p);
	arena_free(&a);
}

static void rewinding_gives_back_what_came_since(void **state)
{
	(void)state;
	Budget budget = {0};
	Arena a = arena_new(&budget);
	char *before = arena_alloc(&a, BIG);
	memset(before, 3, BIG);
	size_t used = budget.used, bytes = arena_bytes(&a);
	ArenaMark mark = arena_mark(&a);
	for (uint32_t i = 0; i < 10; i++)
		arena_alloc(&a, BIG + i);
	char *grown = arena_grow(&a, arena_alloc(&a, BIG), BIG, 2 * BIG);
	grown[2 * BIG - 1] = 1;
	arena_rewind(&a, mark);
	assert_int_equal(budget.used, used);
	assert_int_equal(arena_bytes(&a), bytes);
	assert_int_equal(before[BIG - 1], 3);
	arena_free(&a);
	assert_int_equal(budget.used, 0);
}

static void what_was_dropped_is_free(void **state)
{
	(void)state;
	Budget budget = {0};
	Arena a = arena_new(&budget);
	arena_alloc(&a, BIG);
	void *p[5];
	for (uint32_t i = 0; i < 5; i++)
		p[i] = arena_alloc(&a, BIG);
	size_t used = budget.used;
	arena_drop(&a, p[2], BIG);
	arena_drop(&a, p[4], BIG);
	arena_drop(&a, p[0], BIG);
	assert_true(budget.used < used - 3 * (BIG - 64));
	arena_drop(&a, NULL, 0);
	char *last = arena_alloc(&a, 48);
	arena_drop(&a, last, 48);
	assert_ptr_equal(arena_alloc(&a, 48), last);
	arena_free(&a);
	assert_int_equal(budget.used, 0);
}

static void what_is_taken_lives_in_the_other_arena(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {5, 1000, BIG};
	Budget budget = {0};
	Arena from = arena_new(&budget), to = arena_new(&budget);
	for (uint32_t k = 0; k < 3; k++) {
		VEC(uint32_t) v = {0};
		for (uint32_t i = 0; i < sizes[k]; i++)
			VEC_PUSH(&from, &v, i);
		VEC_TAKE(&to, &from, &v);
		arena_free(&from);
		assert_int_equal(v.cap, sizes[k]);
		for (uint32_t i = 0; i < sizes[k]; i++)
			assert_int_equal(v.v[i], i);
		VEC_PUSH(&to, &v, 1); /* and grows there */
		assert_int_equal(v.v[sizes[k] - 1], sizes[k] - 1);
	}
	assert_null(arena_take(&to, &from, NULL, 0, 0));
	arena_free(&to);
	assert_int_equal(budget.used, 0);
}

/* A struct with an arena in it may be copied; the copy frees what there is, and grows it by copying. */
static void a_moved_arena_is_whole(void **state)
{
	(void)state;
	Budget budget = {0};
	Arena old = arena_new(&budget);
	char *p = arena_alloc(&old, BIG);
	p[BIG - 1] = 9;
	Arena a = old;
	old = (Arena){0};
	char *q = arena_grow(&a, p, BIG, 2 * BIG);
	assert_int_equal(q[BIG - 1], 9);
	arena_free(&a);
	assert_int_equal(budget.used, 0);
}

static void equal_arrays_stand_once(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Pool pool = {.a = &a, .seed = 5};
	uint32_t x[100] = {1, 2, 3}, y[100] = {1, 2, 3}, z[100] = {1, 2, 4}, few[2] = {1, 2};
	assert_null(pool_find(&pool, x, sizeof x));
	pool_add(&pool, x, sizeof x);
	assert_ptr_equal(pool_find(&pool, y, sizeof y), x);
	assert_null(pool_find(&pool, z, sizeof z));
	assert_null(pool_find(&pool, y, sizeof y - 4));
	pool_add(&pool, few, sizeof few);
	assert_null(pool_find(&pool, few, sizeof few)); /* not worth it */
	assert_null(pool_find(&pool, NULL, 0));
	arena_free(&a);
}

/* ---- a run ---- */

static const char *const inputs[] = {"samples/bigbird/hazard.graph_code.log", "samples/module/mutation.readable.txt",
                                     "samples/two_ops/two_ops.graph.txt"};

typedef struct Shop {
	Tables tables;
	Config cfg;
	Budget budget;
	Arena out;
} Shop;

static void add_inputs(Run *r)
{
	Str why;
	for (uint32_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		FileId f = sources_add_file(&r->sources, str_from_c(inputs[i]), (Str){0}, 0, &why);
		if (!f.i)
			fail_msg("%s: " STR_FMT, inputs[i], STR_ARG(why));
	}
}

/* One run whose request number fail_at fails. True: it came to its end, and *out is the report. */
static bool run_once(Shop *m, uint32_t fail_at, Str *out)
{
	Run r;
	Buf text = {.a = &m->out};
	ReportOptions o = {0};
	volatile bool whole = false;
	jmp_buf fail;
	m->budget = (Budget){.fail_at = fail_at};
	m->tables.a.budget = &m->budget;
	run_init_next(&r, &m->tables, &m->cfg, &m->budget, NULL, NULL);
	m->budget.fail = &fail;
	if (!r.out_of_memory && setjmp(fail) == 0) {
		add_inputs(&r);
		run_analyse(&r);
		assert_ptr_equal(m->budget.fail, &fail);
		if (!r.out_of_memory)
			report_write_json(&r, &o, &text);
		whole = !r.out_of_memory;
	}
	if (r.out_of_memory)
		assert_int_equal(run_status(&r), 4);
	m->budget.fail = NULL;
	run_free(&r);
	m->tables.a.budget = NULL;
	*out = buf_str(&text);
	return whole;
}

static void memory_may_run_out_anywhere(void **state)
{
	(void)state;
	Shop m = {.cfg = config_default(), .out = arena_new(NULL)};
	Str want, got;
	uint32_t failed = 0;
	tables_init(&m.tables);
	assert_true(run_once(&m, 0, &want));
	/* sanitizers make a request of nearly every allocation: then a part of them has to do */
	uint32_t calls = m.budget.calls, step = calls / 400 + 1;
	for (uint32_t at = 1; at <= calls + step; at += step) {
		Arena scratch = m.out;
		m.out = arena_new(NULL);
		if (run_once(&m, at, &got))
			assert_true(str_eq(got, want));
		else
			failed++;
		arena_free(&m.out);
		m.out = scratch;
	}
	assert_true(failed > 10);
	assert_true(run_once(&m, 0, &got)); /* what all runs share is whole still */
	assert_true(str_eq(got, want));
	tables_free(&m.tables);
	arena_free(&m.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_allocations_are_zeroed_and_aligned),
		cmocka_unit_test(growing_keeps_what_was_there),
		cmocka_unit_test(the_last_allocation_grows_in_place),
		cmocka_unit_test(rewinding_gives_back_what_came_since),
		cmocka_unit_test(what_was_dropped_is_free),
		cmocka_unit_test(what_is_taken_lives_in_the_other_arena),
		cmocka_unit_test(a_moved_arena_is_whole),
		cmocka_unit_test(equal_arrays_stand_once),
		cmocka_unit_test(memory_may_run_out_anywhere),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
