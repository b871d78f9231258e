/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir.h"

typedef struct Lay {
	uint32_t storage, ndim;
	int64_t size[4], stride[4], offset;
	uint32_t bytes; /* of an element; the others leave it 0 */
} Lay;

static InputPlace place(const Lay *l)
{
	return (InputPlace){.storage = l->storage, .ndim = l->ndim, .size = l->size, .stride = l->stride, .offset = l->offset, .bytes = l->bytes};
}

static Tri both(Lay a, Lay b, bool elements)
{
	Arena arena = arena_new(NULL);
	Graph g = {.a = &arena};
	VEC_PUSH(&arena, &g.places, place(&a));
	VEC_PUSH(&arena, &g.places, place(&b));
	Tri t = elements ? graph_inputs_overlap(&g, 0, 1) : graph_inputs_share(&g, 0, 1);
	Tri back = elements ? graph_inputs_overlap(&g, 1, 0) : graph_inputs_share(&g, 1, 0);
	arena_free(&arena);
	assert_int_equal(t, back);
	return t;
}

static void storages_tell(void **state)
{
	(void)state;
	assert_int_equal(both((Lay){.storage = 1}, (Lay){.storage = 1}, false), TRI_MUST);
	assert_int_equal(both((Lay){.storage = 1}, (Lay){.storage = 2}, false), TRI_NO);
	assert_int_equal(both((Lay){.storage = 0}, (Lay){.storage = 0}, false), TRI_MAY);
	assert_int_equal(both((Lay){.storage = 0}, (Lay){.storage = 3}, false), TRI_MAY);
	Graph none = {0};
	assert_int_equal(graph_inputs_share(&none, 0, 1), TRI_MAY);
	assert_int_equal(graph_inputs_overlap(&none, 0, 1), TRI_MAY);
	assert_int_equal(graph_inputs_share(&none, 1, 1), TRI_MUST);
}

static void rows_are_apart_and_neighbours_meet(void **state)
{
	(void)state;
	Lay row0 = {1, 2, {3, 4}, {4, 1}, 0, 0}, row1 = {1, 2, {3, 4}, {4, 1}, 12, 0}, lower = {1, 2, {3, 4}, {4, 1}, 4, 0};
	assert_int_equal(both(row0, row1, true), TRI_NO);
	assert_int_equal(both(row0, lower, true), TRI_MUST);
	assert_int_equal(both(row0, row0, true), TRI_MUST);
}

static void columns_are_apart(void **state)
{
	(void)state;
	Lay left = {1, 2, {4, 2}, {4, 1}, 0, 0}, right = {1, 2, {4, 2}, {4, 1}, 2, 0}, middle = {1, 2, {4, 2}, {4, 1}, 1, 0};
	assert_int_equal(both(left, right, true), TRI_NO);
	assert_int_equal(both(left, middle, true), TRI_MUST);
	Lay even = {1, 1, {5}, {2}, 0, 0}, odd = {1, 1, {5}, {2}, 1, 0};
	assert_int_equal(both(even, odd, true), TRI_NO);
}

static void what_overlaps_itself(void **state)
{
	(void)state;
	Lay wide = {1, 2, {3, 5}, {3, 2}, 0, 0}, found = {1, 1, {1}, {1}, 5, 0}, missed = {1, 1, {1}, {1}, 4, 0};
	assert_int_equal(both(wide, found, true), TRI_MUST); /* 3 + 2 */
	assert_int_equal(both(wide, missed, true), TRI_MAY); /* 2 + 2, which is not searched for */
}

static void empty_and_impossible(void **state)
{
	(void)state;
	Lay empty = {1, 2, {0, 4}, {4, 1}, 0, 0}, some = {1, 1, {4}, {1}, 0, 0}, huge = {1, 2, {INT64_MAX, 8}, {8, 1}, 0, 0},
		negative = {1, 1, {-3}, {1}, 0, 0}, scalar = {1, 0, {0}, {0}, 2, 0};
	assert_int_equal(both(empty, some, true), TRI_NO);
	assert_int_equal(both(huge, some, true), TRI_MAY);
	assert_int_equal(both(negative, some, true), TRI_MAY);
	assert_int_equal(both(scalar, some, true), TRI_MUST);
	Lay big = {1, 2, {1 << 10, 1 << 10}, {1 << 12, 1}, 0, 0}, apart = {1, 2, {1 << 10, 1 << 10}, {1 << 12, 1}, 1 << 10, 0};
	assert_int_equal(both(big, apart, true), TRI_MAY); /* a million elements are not compared one by one */
}

static void one_memory_as_two_dtypes(void **state)
{
	(void)state;
	Lay floats = {1, 1, {4}, {1}, 0, 4}, bytes = {1, 1, {4}, {1}, 16, 1}, inside = {1, 1, {4}, {1}, 12, 1}, untold = {1, 1, {4}, {1}, 99, 0};
	assert_int_equal(both(floats, bytes, true), TRI_NO);
	assert_int_equal(both(floats, inside, true), TRI_MAY);
	assert_int_equal(both(floats, untold, true), TRI_MAY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(storages_tell),
		cmocka_unit_test(rows_are_apart_and_neighbours_meet),
		cmocka_unit_test(columns_are_apart),
		cmocka_unit_test(what_overlaps_itself),
		cmocka_unit_test(empty_and_impossible),
		cmocka_unit_test(one_memory_as_two_dtypes),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
