/* SPDX-License-Identifier: MIT
 * Tasks by several processes: all of them, in order, and what happens when some fail or are not wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "jobs.h"

typedef struct Ctx {
	uint32_t dies, stops; /* tasks at which a worker ends, or at which no more are wanted; UINT32_MAX none */
	bool hungry;          /* tasks take more memory than there is */
	uint32_t next;
	uint64_t sum;
	Budget *budget;
} Ctx;

static bool work(void *ctx, uint32_t i, Buf *out)
{
	const Ctx *c = ctx;
	if (i == c->dies)
		_exit(7);
	if (c->hungry) {
		Arena a = arena_new(c->budget);
		arena_alloc(&a, 1 << 20);
	}
	for (uint32_t k = 0; k < i % 7; k++)
		buf_printf(out, "%u ", (unsigned)i);
	if (i == 3)
		for (uint32_t k = 0; k < 100000; k++)
			buf_char(out, 'x');
	return true;
}

static bool take(void *ctx, uint32_t i, Str data)
{
	Ctx *c = ctx;
	assert_int_equal(i, c->next);
	if (i == c->stops)
		return false;
	c->next++;
	c->sum += data.n;
	return true;
}

static uint32_t run(Ctx *c, uint32_t workers, uint32_t tasks)
{
	Jobs j = {.workers = workers, .tasks = tasks, .work = work, .take = take, .ctx = c, .budget = c->budget};
	return jobs_run(&j);
}

static void every_task_once_and_in_order(void **state)
{
	(void)state;
	uint64_t sum = 0;
	for (uint32_t workers = 1; workers <= 9; workers += 4) {
		Ctx c = {.dies = UINT32_MAX, .stops = UINT32_MAX};
		assert_int_equal(run(&c, workers, 500), 500);
		assert_true(!sum || sum == c.sum);
		sum = c.sum;
	}
	assert_true(sum > 100000);
}

static void more_workers_than_tasks(void **state)
{
	(void)state;
	Ctx c = {.dies = UINT32_MAX, .stops = UINT32_MAX};
	assert_int_equal(run(&c, 60, 2), 2);
	assert_int_equal(run(&(Ctx){.dies = UINT32_MAX, .stops = UINT32_MAX}, 4, 0), 0);
}

static void a_worker_that_dies(void **state)
{
	(void)state;
	Ctx c = {.dies = 40, .stops = UINT32_MAX};
	assert_int_equal(run(&c, 3, 100), 40);
	c = (Ctx){.dies = 0, .stops = UINT32_MAX};
	assert_int_equal(run(&c, 1, 100), 0);
}

static void not_wanted_any_more(void **state)
{
	(void)state;
	Ctx c = {.dies = UINT32_MAX, .stops = 17};
	assert_int_equal(run(&c, 4, 1000), 17);
}

/* Workers share what is left of the memory; running out of it ends a worker, and nobody else. */
static void no_memory(void **state)
{
	(void)state;
	Budget b = {.limit = 1 << 20};
	Ctx c = {.dies = UINT32_MAX, .stops = UINT32_MAX, .hungry = true, .budget = &b};
	assert_int_equal(run(&c, 2, 10), 0);
	assert_int_equal(b.limit, 1 << 20);
	assert_int_equal(b.used, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_task_once_and_in_order),
		cmocka_unit_test(more_workers_than_tasks),
		cmocka_unit_test(a_worker_that_dies),
		cmocka_unit_test(not_wanted_any_more),
		cmocka_unit_test(no_memory),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
