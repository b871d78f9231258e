/* SPDX-License-Identifier: MIT
 * What is left of a function behind a break, and how many arguments a listing takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "listing.h"
#include "sim_args.h"
#include "sim_rest.h"

static const char rest_of_calls[] = "  7           2 LOAD_GLOBAL              1 (NULL + print)\n"
                                    "             14 LOAD_FAST                0 (t)\n"
                                    "             16 CALL                     1\n"
                                    "             26 STORE_FAST               2 (r)\n"
                                    "  8          28 LOAD_FAST                1 (u)\n"
                                    "             30 LOAD_FAST                2 (r)\n"
                                    "             32 BINARY_OP                0 (+)\n"
                                    "             36 RETURN_VALUE\n";

static void what_is_left(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, rest_of_calls);
	CodeRest r;
	assert_true(code_rest(c, 26, &e->a, &r));
	assert_int_equal(r.depth, 1);
	assert_int_equal(r.nlive, 1);
	assert_int_equal(c->vars[r.live[0]].index, 1);
	assert_false(r.quiet);
	assert_true(code_rest(c, 36, &e->a, &r));
	assert_int_equal(r.nlive, 0);
	assert_true(r.quiet);
	assert_false(code_rest(c, 27, &e->a, &r)); /* no instruction is there */
}

static void how_many_arguments(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, rest_of_calls);
	assert_int_equal(code_parameters(c, &e->scratch), 2);
	assert_int_equal(code_takes(c, &e->names, &e->scratch), 2);
}

/* y has a value only where the loop ran: no parameter for certain. */
static void what_a_loop_binds(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  7           2 LOAD_FAST                0 (x)\n"
	                          "              4 GET_ITER\n"
	                          "        >>    6 FOR_ITER                 2 (to 12)\n"
	                          "              8 STORE_FAST               3 (y)\n"
	                          "             10 JUMP_BACKWARD            3 (to 6)\n"
	                          "        >>   12 LOAD_FAST                3 (y)\n"
	                          "             14 RETURN_VALUE\n");
	CodeRest r;
	assert_int_equal(code_parameters(c, &e->scratch), 1);
	assert_true(code_rest(c, 2, &e->a, &r));
	assert_int_equal(r.nlive, 2);
}

/* Where no local follows, parameters that are never used could. */
static void no_locals(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  7           2 LOAD_FAST                0 (x)\n"
	                          "              4 RETURN_VALUE\n");
	assert_int_equal(code_parameters(c, &e->scratch), 1);
	assert_int_equal(code_takes(c, &e->names, &e->scratch), UINT32_MAX);
}

/* *args and **kwargs are the last parameters, whatever locals may have no value. */
static void by_customary_names(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  7           2 LOAD_FAST                4 (late)\n"
	                          "              4 LOAD_FAST                1 (args)\n"
	                          "              6 LOAD_FAST                2 (kwargs)\n"
	                          "              8 BUILD_TUPLE              3\n"
	                          "             10 RETURN_VALUE\n");
	assert_int_equal(code_takes(c, &e->names, &e->scratch), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_left, setup, teardown),
		cmocka_unit_test_setup_teardown(how_many_arguments, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_loop_binds, setup, teardown),
		cmocka_unit_test_setup_teardown(no_locals, setup, teardown),
		cmocka_unit_test_setup_teardown(by_customary_names, setup, teardown)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
