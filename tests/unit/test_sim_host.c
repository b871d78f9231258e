/* SPDX-License-Identifier: MIT
 * The host runs listings over heap values: what Python would have computed, what stays unknown, what gives up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>

#include "listing.h"
#include "sim.h"
#include "sim_host.h"

typedef struct World {
	Env *e;
	Arena inner;
	Sim s;
	Machine m;
	MachineStatus status;
} World;

static int world_setup(void **state)
{
	void *env;
	setup(&env);
	World *w = NEW(&((Env *)env)->a, World);
	w->e = env;
	w->inner = arena_new(NULL);
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	World *w = *state;
	arena_free(&w->inner);
	void *env = w->e;
	return teardown(&env);
}

static void sim_begin(World *w)
{
	Env *e = w->e;
	w->s = (Sim){.p = &e->program, .names = &e->names, .a = &e->a, .scratch = &e->scratch, .inner = &w->inner};
	w->s.t = types_new(&e->a, &e->names);
	w->s.f = facts_builtin(&e->a, &e->names);
	w->s.terms = terms_new(&e->a, &e->names, 100000);
	w->s.small = SIM_SMALL;
	w->s.cut = (SimCut){.output = -1, .input = -1};
	w->s.assume = ASSUME_READS;
	w->s.max_steps = 100000;
}

/* Parameters are numbered 0, 1 ... ; `first` is the value of parameter 0, or 0. */
static Ref run_with(World *w, const char *listing, Ref first)
{
	Code *c = read_code_of(w->e, listing);
	assert_non_null(c);
	machine_init(&w->m, c, &sim_host, &w->s, &w->e->a);
	if (first)
		machine_set_param(&w->m, 0, first);
	w->status = machine_run(&w->m, 100000);
	return w->status == MS_RETURN ? w->m.value : 0;
}

static Ref run(World *w, const char *listing)
{
	sim_begin(w);
	return run_with(w, listing, 0);
}

static void assert_int(World *w, Ref r, int64_t want)
{
	assert_int_equal(w->status, MS_RETURN);
	const HeapObj *o = sim_obj(&w->s, r);
	assert_int_equal(o->kind, HK_NUMBER);
	assert_true(o->known);
	assert_int_equal(o->num, want);
}

static void assert_text(World *w, Ref r, const char *want)
{
	assert_int_equal(w->status, MS_RETURN);
	const HeapObj *o = sim_obj(&w->s, r);
	assert_int_equal(o->kind, HK_CONST);
	Str t = sym_str(&w->e->names, o->name);
	assert_true(str_eq(t, str_from_c(want)));
}

#define CONST(text) "  1           0 LOAD_CONST               1 (" text ")\n              2 RETURN_VALUE\n"

/* ---- constants ---- */

static void test_constants(void **state)
{
	World *w = *state;
	assert_int(w, run(w, CONST("-12")), -12);
	assert_int(w, run(w, CONST("True")), 1);
	assert_text(w, run(w, CONST("None")), "None");
	assert_text(w, run(w, CONST("'a (b, \\'c'")), "'a (b, \\'c'");
	Ref r = run(w, CONST("(1, ('x', None), (), (2,), (1+2j))"));
	const HeapObj *o = sim_obj(&w->s, r);
	assert_int_equal(o->kind, HK_TUPLE);
	assert_int_equal(o->items.n, 5);
	assert_int_equal(sim_obj(&w->s, o->items.v[1])->items.n, 2);
	assert_int_equal(sim_obj(&w->s, o->items.v[2])->kind, HK_TUPLE);
	assert_int_equal(sim_obj(&w->s, o->items.v[3])->items.n, 1);
	assert_int_equal(sim_obj(&w->s, o->items.v[4])->kind, HK_CONST);
	r = run(w, CONST("<code object f at 0x7f, file \"/x/y.py\", line 8>"));
	assert_int_equal(sim_obj(&w->s, r)->kind, HK_CODE);
	assert_int_equal(sim_obj(&w->s, r)->num, 8);
	r = run(w, CONST("<class 'ValueError'>"));
	assert_int_equal(sim_obj(&w->s, r)->kind, HK_NAME);
	r = run(w, CONST("frozenset({1, 2})"));
	assert_int_equal(sim_obj(&w->s, r)->kind, HK_SET);
	r = run(w, CONST("1e-05"));
	assert_true(term_get(w->s.terms, sim_obj(&w->s, r)->term)->num == 1e-05);
}

/* What is not understood gives something unknown, of which nothing is concluded. */
static void assert_goes_on_unsure(World *w)
{
	assert_int_equal(w->status, MS_RETURN);
	assert_true(w->s.unsure);
}

static void test_hostile_constants(void **state)
{
	World *w = *state;
	static const char *const bad[] = {CONST("("), CONST("(1, "), CONST("((((((("), CONST("slice(1"), CONST("frozenset({1"),
	                                  CONST("'"), CONST("'\\"), CONST("<"), CONST("<code object"), CONST("{'a': ("),
	                                  CONST("<bound method"), CONST("<bound method a of <class '>>"), CONST(")")};
	for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		run(w, bad[i]);
		assert_true(w->status == MS_RETURN || w->status == MS_STOPPED);
	}
	Buf deep = {.a = &w->e->a};
	buf_add(&deep, S("  1           0 LOAD_CONST               1 ("));
	for (uint32_t i = 0; i < 200000; i++)
		buf_char(&deep, '(');
	buf_add(&deep, S(")\n              2 RETURN_VALUE\n"));
	buf_char(&deep, '\0');
	run(w, deep.p);
	assert_goes_on_unsure(w);
}

/* ---- operators ---- */

#define BINARY(x, op, y)                                                                                   \
	"  1           0 LOAD_CONST               1 (" x ")\n              2 LOAD_CONST               2 (" y ")\n"   \
	"              4 BINARY_OP                0 (" op ")\n              8 RETURN_VALUE\n"

static void test_arithmetic(void **state)
{
	World *w = *state;
	assert_int(w, run(w, BINARY("7", "+", "5")), 12);
	assert_int(w, run(w, BINARY("-7", "//", "2")), -4);
	assert_int(w, run(w, BINARY("-7", "%", "3")), 2);
	assert_int(w, run(w, BINARY("2", "**", "10")), 1024);
	assert_text(w, run(w, BINARY("'a'", "+", "'b'")), "'ab'");
	Ref r = run(w, BINARY("1", "/", "4"));
	assert_true(term_get(w->s.terms, sim_obj(&w->s, r)->term)->num == 0.25);
	r = run(w, BINARY("(1,)", "+", "(2, 3)"));
	assert_int_equal(sim_obj(&w->s, r)->items.n, 3);
	run(w, BINARY("1", "/", "0"));
	assert_int_equal(w->status, MS_RAISE);
	/* Numbers that no double holds are not rounded. */
	r = run(w, BINARY("9007199254740993", "+", "9007199254740993"));
	assert_false(sim_obj(&w->s, r)->known);
	run(w, BINARY("(1, 2)", "*", "1000000000"));
	assert_int_equal(w->status, MS_STOPPED);
	run(w, BINARY("1", "?", "2"));
	assert_goes_on_unsure(w);
}

/* ---- containers ---- */

static void test_lists(void **state)
{
	World *w = *state;
	/* x = [1, 2, 3]; x[0:2] = [5]; x.append(9); return x[-2] + len(x) */
	Ref r = run(w, "  1           0 LOAD_CONST               1 (1)\n"
	               "              2 LOAD_CONST               2 (2)\n"
	               "              4 LOAD_CONST               3 (3)\n"
	               "              6 BUILD_LIST               3\n"
	               "              8 STORE_FAST               0 (x)\n"
	               "             10 LOAD_CONST               4 (5)\n"
	               "             12 BUILD_LIST               1\n"
	               "             14 LOAD_FAST                0 (x)\n"
	               "             16 LOAD_CONST               5 (0)\n"
	               "             18 LOAD_CONST               2 (2)\n"
	               "             20 BUILD_SLICE              2\n"
	               "             22 STORE_SUBSCR\n"
	               "             24 LOAD_FAST                0 (x)\n"
	               "             26 LOAD_METHOD              0 (append)\n"
	               "             28 LOAD_CONST               6 (9)\n"
	               "             30 CALL_METHOD              1\n"
	               "             32 POP_TOP\n"
	               "             34 LOAD_FAST                0 (x)\n"
	               "             36 LOAD_CONST               7 (-2)\n"
	               "             38 BINARY_SUBSCR\n"
	               "             40 LOAD_GLOBAL              1 (len)\n"
	               "             42 LOAD_FAST                0 (x)\n"
	               "             44 CALL_FUNCTION            1\n"
	               "             46 BINARY_ADD\n"
	               "             48 RETURN_VALUE\n");
	assert_int(w, r, 6);
}

static void test_dict_of_module(void **state)
{
	World *w = *state;
	static const char *const listing = "  1           0 LOAD_FAST                0 (self)\n"
	                                   "              2 LOAD_ATTR                0 (_modules)\n"
	                                   "              4 LOAD_CONST               1 ('lin')\n"
	                                   "              6 BINARY_SUBSCR\n"
	                                   "              8 LOAD_ATTR                1 (_parameters)\n"
	                                   "             10 LOAD_CONST               2 ('weight')\n"
	                                   "             12 BINARY_SUBSCR\n"
	                                   "             14 LOAD_FAST                0 (self)\n"
	                                   "             16 LOAD_ATTR                2 (lin)\n"
	                                   "             18 LOAD_ATTR                3 (weight)\n"
	                                   "             20 COMPARE_OP               8 (is)\n"
	                                   "             22 RETURN_VALUE\n";
	sim_begin(w);
	Ref self = sim_object(&w->s, sym_intern(&w->e->names, S("self")), 5);
	sim_obj(&w->s, self)->root = true;
	assert_int(w, run_with(w, listing, self), 1);
}

/* An argument of which nothing is known, used as a list: the items that were there are made by their key. */
static void test_opened_list(void **state)
{
	World *w = *state;
	static const char *const listing = "  1           0 LOAD_FAST                0 (box)\n"
	                                   "              2 LOAD_METHOD              0 (append)\n"
	                                   "              4 LOAD_CONST               1 (7)\n"
	                                   "              6 CALL_METHOD              1\n"
	                                   "              8 POP_TOP\n"
	                                   "             10 LOAD_FAST                0 (box)\n"
	                                   "             12 LOAD_CONST               2 (-1)\n"
	                                   "             14 BINARY_SUBSCR\n"
	                                   "             16 RETURN_VALUE\n";
	sim_begin(w);
	Ref box = sim_unknown(&w->s, 77);
	sim_obj(&w->s, box)->root = true;
	assert_int(w, run_with(w, listing, box), 7);
	assert_int_equal(sim_obj(&w->s, box)->kind, HK_LIST);
	assert_true(sim_obj(&w->s, box)->opened);
}

/* Items that are not known are counted all the same; what stops first, stops all. */
static void test_rows_of_unknown(void **state)
{
	World *w = *state;
	static const char *const numbered = "  1           0 LOAD_GLOBAL              0 (enumerate)\n"
	                                    "              2 LOAD_FAST                0 (box)\n"
	                                    "              4 LOAD_CONST               1 (3)\n"
	                                    "              6 CALL_FUNCTION            2\n"
	                                    "              8 GET_ITER\n"
	                                    "        >>   10 FOR_ITER                10 (to 22)\n"
	                                    "             12 UNPACK_SEQUENCE          2\n"
	                                    "             14 STORE_FAST               1 (i)\n"
	                                    "             16 STORE_FAST               2 (x)\n"
	                                    "             18 JUMP_ABSOLUTE           10\n"
	                                    "        >>   22 LOAD_FAST                1 (i)\n"
	                                    "             24 RETURN_VALUE\n";
	static const char *const zipped = "  1           0 LOAD_GLOBAL              0 (zip)\n"
	                                  "              2 LOAD_FAST                0 (box)\n"
	                                  "              4 LOAD_CONST               1 ((4, 5))\n"
	                                  "              6 CALL_FUNCTION            2\n"
	                                  "              8 GET_ITER\n"
	                                  "        >>   10 FOR_ITER                10 (to 22)\n"
	                                  "             12 UNPACK_SEQUENCE          2\n"
	                                  "             14 STORE_FAST               1 (x)\n"
	                                  "             16 STORE_FAST               2 (k)\n"
	                                  "             18 JUMP_ABSOLUTE           10\n"
	                                  "        >>   22 LOAD_FAST                2 (k)\n"
	                                  "             24 RETURN_VALUE\n";
	sim_begin(w);
	run_with(w, numbered, sim_unknown(&w->s, 77));
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(w->status, MS_LOOP);
		machine_choose(&w->m, i == 2);
		w->status = machine_run(&w->m, 1000);
	}
	assert_int(w, w->m.value, 4);
	sim_begin(w);
	run_with(w, zipped, sim_unknown(&w->s, 77));
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(w->status, MS_LOOP);
		machine_choose(&w->m, false);
		w->status = machine_run(&w->m, 1000);
	}
	assert_int(w, w->m.value, 5);
}

/* it = zip(it) again and again: no way that deep is gone. */
static void test_rows_within_rows(void **state)
{
	World *w = *state;
	sim_begin(w);
	Ref it = sim_unknown(&w->s, 77), deeper = it;
	uint32_t depth = 0;
	while (deeper && depth < 1000) {
		it = deeper;
		deeper = host_rows(&w->s, &w->m, &it, 1, 0);
		depth++;
	}
	assert_true(depth < 10);
}

/* What Dynamo replays by the dict method of a subclass is done to the object itself. */
static void test_method_of_a_base(void **state)
{
	World *w = *state;
	assert_int(w, run(w, "  1           0 LOAD_CONST               1 ('a')\n"
	                     "              2 LOAD_CONST               2 (1)\n"
	                     "              4 BUILD_MAP                1\n"
	                     "              6 STORE_FAST               0 (d)\n"
	                     "              8 LOAD_GLOBAL              0 (type)\n"
	                     "             10 LOAD_FAST                0 (d)\n"
	                     "             12 CALL_FUNCTION            1\n"
	                     "             14 LOAD_ATTR                1 (__mro__)\n"
	                     "             16 LOAD_CONST               3 (2)\n"
	                     "             18 BINARY_SUBSCR\n"
	                     "             20 LOAD_METHOD              2 (__setitem__)\n"
	                     "             22 LOAD_FAST                0 (d)\n"
	                     "             24 LOAD_CONST               1 ('a')\n"
	                     "             26 LOAD_CONST               4 (9)\n"
	                     "             28 CALL_METHOD              3\n"
	                     "             30 POP_TOP\n"
	                     "             32 LOAD_FAST                0 (d)\n"
	                     "             34 LOAD_CONST               1 ('a')\n"
	                     "             36 BINARY_SUBSCR\n"
	                     "             38 RETURN_VALUE\n"), 9);
}

/* ---- names ---- */

static void test_names(void **state)
{
	World *w = *state;
	Ref r = run(w, "  1           0 LOAD_GLOBAL              0 (__import_torch_dot__dynamo_dot_utils)\n"
	               "              2 LOAD_ATTR                1 (call_size)\n"
	               "              4 RETURN_VALUE\n");
	assert_true(str_eq(sym_str(&w->e->names, sim_obj(&w->s, r)->name), S("torch._dynamo.utils.call_size")));
	r = run(w, "  1           0 LOAD_GLOBAL              0 (__builtins_dict___1)\n"
	           "              2 LOAD_CONST               1 ('print')\n"
	           "              4 BINARY_SUBSCR\n"
	           "              6 RETURN_VALUE\n");
	assert_true(str_eq(sym_str(&w->e->names, sim_obj(&w->s, r)->name), S("print")));
}

/* A module-level value stays one object, and is observed. */
static void test_global_value(void **state)
{
	World *w = *state;
	run(w, "  1           0 LOAD_GLOBAL              0 (TABLE)\n"
	       "              2 LOAD_METHOD              1 (append)\n"
	       "              4 LOAD_CONST               1 (3)\n"
	       "              6 CALL_METHOD              1\n"
	       "              8 POP_TOP\n"
	       "             10 LOAD_GLOBAL              0 (TABLE)\n"
	       "             12 RETURN_VALUE\n");
	assert_int_equal(w->status, MS_RETURN);
	assert_int_equal(sim_obj(&w->s, w->m.value)->kind, HK_LIST);
	assert_int_equal(w->s.roots.n, 1);
	assert_int_equal(w->s.roots.v[0], w->m.value);
}

/* ---- calls ---- */

static void test_print(void **state)
{
	World *w = *state;
	run(w, "  1           0 LOAD_GLOBAL              0 (print)\n"
	       "              2 LOAD_CONST               1 ('x')\n"
	       "              4 LOAD_CONST               2 (2)\n"
	       "              6 CALL_FUNCTION            2\n"
	       "              8 RETURN_VALUE\n");
	assert_int_equal(w->status, MS_RETURN);
	assert_int_equal(w->s.printed.n, 2);
}

static void test_resume_is_left_to_the_driver(void **state)
{
	World *w = *state;
	run(w, "  1           0 LOAD_GLOBAL              0 (__resume_at_12_1)\n"
	       "              2 LOAD_CONST               1 (4)\n"
	       "              4 CALL_FUNCTION            1\n"
	       "              6 RETURN_VALUE\n");
	assert_int_equal(w->status, MS_CALL);
	assert_true(w->s.call.resume);
	assert_int_equal(w->s.call.nargs, 1);
	machine_deliver(&w->m, w->s.call.args[0]);
	w->status = machine_run(&w->m, 100);
	assert_int(w, w->m.value, 4);
}

static void test_missing_graph_is_unsure(void **state)
{
	World *w = *state;
	run(w, "  1           0 LOAD_GLOBAL              0 (__compiled_fn_3)\n"
	       "              2 CALL_FUNCTION            0\n"
	       "              4 RETURN_VALUE\n");
	assert_goes_on_unsure(w);
}

static void test_exception_match(void **state)
{
	World *w = *state;
	static const char *const listing = "  1           0 LOAD_FAST                0 (e)\n"
	                                   "              2 LOAD_CONST               1 (<class 'ArithmeticError'>)\n"
	                                   "              4 COMPARE_OP              10 (exception match)\n"
	                                   "              6 RETURN_VALUE\n";
	static const struct {
		const char *cls;
		Tri match;
	} rows[] = {{"ZeroDivisionError", TRI_MUST}, {"ValueError", TRI_NO}, {"Bad", TRI_MAY}};
	for (uint32_t i = 0; i < 3; i++) {
		sim_begin(w);
		Ref e = sim_new(&w->s, HK_EXCEPTION);
		sim_obj(&w->s, e)->name = sym_intern(&w->e->names, str_from_c(rows[i].cls));
		Ref r = run_with(w, listing, e);
		assert_int_equal(w->status, MS_RETURN);
		const HeapObj *o = sim_obj(&w->s, r);
		assert_int_equal(o->known, rows[i].match != TRI_MAY);
		if (o->known)
			assert_int_equal(o->num, rows[i].match == TRI_MUST);
	}
}

/* Two runs of one listing give the same names to what they make. */
static void test_origins_are_stable(void **state)
{
	World *w = *state;
	static const char *const listing = "  1           0 LOAD_GLOBAL              0 (torchvision)\n"
	                                   "              2 CALL_FUNCTION            0\n"
	                                   "              4 RETURN_VALUE\n";
	Ref r = run(w, listing);
	assert_int_equal(w->status, MS_RETURN);
	uint64_t first = sim_obj(&w->s, r)->origin;
	r = run(w, listing);
	assert_true(first == sim_obj(&w->s, r)->origin);
}

/* Whether a record of the dump is what runs only the driver can tell. */
static void test_guessed_calls(void **state)
{
	World *w = *state;
	run(w, "  1           0 LOAD_GLOBAL              0 (mystery)\n"
	       "              2 LOAD_CONST               1 (3)\n"
	       "              4 CALL_FUNCTION            1\n"
	       "              6 RETURN_VALUE\n");
	assert_int_equal(w->status, MS_CALL);
	assert_int_equal(w->s.call.guess, GUESS_CLOSURE);
	assert_int_equal(w->s.call.nargs, 1);
}

/* f(7, *args) where args is not known: what is known goes first, the rest is kept. */
static void test_part_of_the_arguments(void **state)
{
	World *w = *state;
	sim_begin(w);
	Ref args = sim_unknown(&w->s, 5);
	run_with(w, "  1           0 LOAD_GLOBAL              0 (mystery)\n"
	            "              2 LOAD_CONST               1 (7)\n"
	            "              4 BUILD_LIST               1\n"
	            "              6 LOAD_FAST                0 (args)\n"
	            "              8 LIST_EXTEND              1\n"
	            "             10 LIST_TO_TUPLE\n"
	            "             12 CALL_FUNCTION_EX         0\n"
	            "             14 RETURN_VALUE\n",
	         args);
	assert_int_equal(w->status, MS_CALL);
	assert_int_equal(w->s.call.nargs, 1);
	assert_int_equal(sim_obj(&w->s, w->s.call.args[0])->num, 7);
	assert_int_equal(w->s.call.rest, args);
}

static void test_installed_modules(void **state)
{
	World *w = *state;
	Ref r = run(w, "  1           0 LOAD_GLOBAL              0 (___module_collections_140625363315312_c1)\n"
	               "              2 LOAD_ATTR                1 (OrderedDict)\n"
	               "              4 LOAD_CONST               1 ('k')\n"
	               "              6 LOAD_CONST               2 (4)\n"
	               "              8 BUILD_MAP                1\n"
	               "             10 CALL_FUNCTION            1\n"
	               "             12 RETURN_VALUE\n");
	assert_int_equal(w->status, MS_RETURN);
	assert_int_equal(sim_obj(&w->s, r)->kind, HK_DICT);
	assert_int_equal(sim_obj(&w->s, r)->items.n, 2);
}

static void test_steps_are_bounded(void **state)
{
	World *w = *state;
	sim_begin(w);
	w->s.max_steps = 2;
	run_with(w, BINARY("1", "+", "2"), 0);
	assert_int_equal(w->status, MS_STOPPED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_constants, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_hostile_constants, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_arithmetic, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_lists, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_dict_of_module, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_opened_list, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_rows_of_unknown, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_rows_within_rows, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_method_of_a_base, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_names, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_global_value, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_print, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_resume_is_left_to_the_driver, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_missing_graph_is_unsure, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_exception_match, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_origins_are_stable, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_guessed_calls, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_part_of_the_arguments, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_installed_modules, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_steps_are_bounded, world_setup, world_teardown),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
