/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>

#include "listing.h"

/* ---- the table ---- */

static void table_is_sorted_and_spans_are_apart(void **state)
{
	uint32_t n;
	const OpRow *t = op_table(&n);
	(void)state;
	for (uint32_t i = 0; i + 1 < n; i++) {
		int c = str_cmp(t[i].name, t[i + 1].name);
		assert_true(c <= 0);
		if (c == 0)
			assert_true(t[i].hi < t[i + 1].lo);
		assert_true(t[i].lo >= 308 && t[i].hi <= 314 && t[i].lo <= t[i].hi);
	}
}

static const OpRow *row_of(const char *name, PyVersion v)
{
	uint32_t n;
	const OpRow *r = op_rows(str_from_c(name), &n);
	for (uint32_t i = 0; r && i < n; i++)
		if (r[i].lo <= v && v <= r[i].hi)
			return &r[i];
	return NULL;
}

typedef struct Known {
	const char *name;
	PyVersion lo, hi;
	int change[5];
} Known;

static const Known known[] = {
#define EFFECT(name, lo, hi, a, b, c, d, e) {#name, lo, hi, {a, b, c, d, e}},
#include "stack_effects.def"
#undef EFFECT
};

static void effects_are_those_of_cpython(void **state)
{
	static const uint32_t args[] = {0, 1, 2, 3, 5};
	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		for (PyVersion v = known[i].lo; v <= known[i].hi; v++) {
			const OpRow *r = row_of(known[i].name, v);
			if (!r)
				fail_msg("%s of %u is not in the table", known[i].name, v);
			for (int k = 0; k < 5; k++) {
				if (r->op == OP_BUILD_SLICE && args[k] != 2 && args[k] != 3)
					continue; /* no such instruction */
				Ins ins = {.row = r, .arg = args[k], .has_arg = true};
				ins.null = r->flags & OF_NULL && args[k] & 1 ? NULL_PLAIN : NULL_NONE;
				Effect e = ins_effect(&ins);
				if ((int64_t)e.push - (int64_t)e.pop != known[i].change[k])
					fail_msg("%s %u of %u: %d expected, %d in the table", known[i].name, args[k], v, known[i].change[k],
					         (int)e.push - (int)e.pop);
			}
		}
}

/* ---- reading ---- */

static void is_sound(Env *e, const Code *c)
{
	assert_non_null(c);
	assert_int_equal(e->diags.unread.n, 0);
	assert_false(c->incomplete);
	assert_false(c->truncated);
}

static void name_is(Env *e, Sym got, const char *want)
{
	assert_string_equal(str_to_c(&e->a, sym_str(&e->names, got)), want);
}

static void old_style_with_offsets(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "ORIGINAL BYTECODE f a.py line 4 \n"
	                          "  5     >>    0 LOAD_FAST                0 (x)\n"
	                          "              2 POP_JUMP_IF_FALSE        8\n"
	                          "  -->         4 LOAD_CONST               1 (1)\n"
	                          "\n"
	                          "  6           6 RETURN_VALUE\n"
	                          "        >>    8 LOAD_CONST               0 (None)\n"
	                          "             10 JUMP_ABSOLUTE            0\n");
	is_sound(e, c);
	assert_int_equal(c->n, 6);
	assert_false(c->labels);
	assert_int_equal(c->lo, 308);
	assert_int_equal(c->hi, 309);
	assert_int_equal(c->ins[1].target, 4);
	assert_int_equal(c->ins[5].target, 0);
	assert_int_equal(c->ins[2].line, 5);
	assert_int_equal(c->ins[3].line, 6);
	assert_int_equal(c->nvars, 1);
	name_is(e, c->vars[0].name, "x");
}

static void new_style_with_labels(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  --           MAKE_CELL                1 (a)\n"
	                          "   4           RESUME                   0\n"
	                          "   5   L1:     LOAD_GLOBAL              3 (f + NULL)\n"
	                          "               LOAD_FAST_LOAD_FAST     33 (y, a)\n"
	                          "               LOAD_ATTR                7 (m + NULL|self)\n"
	                          "               POP_JUMP_IF_TRUE         4 (to L1)\n"
	                          "       L2:     RETURN_CONST             0 (None)\n"
	                          "ExceptionTable:\n"
	                          "  L1 to L2 -> L2 [2] lasti\n");
	is_sound(e, c);
	assert_true(c->labels);
	assert_int_equal(c->python, 313);
	assert_int_equal(c->hi, 313);
	assert_int_equal(c->ins[2].null, NULL_PLAIN);
	name_is(e, c->ins[2].name, "f");
	assert_int_equal(c->ins[4].null, NULL_SELF);
	name_is(e, c->ins[4].name, "m");
	assert_int_equal(c->ins[5].target, 2);
	assert_int_equal(c->ins[2].offset, 4);
	assert_int_equal(c->ins[3].offset, 14); /* four entries of cache behind LOAD_GLOBAL */
	assert_int_equal(c->nguards, 1);
	assert_int_equal(c->guards[0].from, 2);
	assert_int_equal(c->guards[0].end, 6); /* exclusive */
	assert_int_equal(c->guards[0].target, 6);
	assert_int_equal(c->guards[0].depth, 2);
	assert_true(c->guards[0].lasti);
	assert_true(c->vars[c->ins[0].var].made);
	assert_int_equal(c->ins[0].var, c->ins[3].var2);
}

static void one_instruction_a_line_is_no_old_style(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  1           RESUME                   0\n  2           RETURN_CONST             0 (None)\n");
	is_sound(e, c);
	assert_true(c->labels);
	assert_int_equal(c->ins[1].line, 2);
}

static void guards_with_offsets_end_inclusive(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  1           0 RESUME                   0\n"
	                          "              2 LOAD_GLOBAL              1 (NULL + f)\n"
	                          "             14 PRECALL                  0\n"
	                          "             18 CALL                     0\n"
	                          "             28 RETURN_VALUE\n"
	                          "        >>   30 PUSH_EXC_INFO\n"
	                          "             32 RERAISE                  0\n"
	                          "ExceptionTable:\n"
	                          "  2 to 26 -> 30 [0]\n"
	                          "  30 to 32 -> 32 [1] lasti\n");
	is_sound(e, c);
	assert_int_equal(c->python, 311);
	assert_int_equal(c->guards[0].from, 1);
	assert_int_equal(c->guards[0].end, 4); /* 26 lies in the caches of CALL */
	assert_int_equal(c->guards[1].end, 7);
}

static void version_is(Env *e, const char *listing, PyVersion lo, PyVersion hi)
{
	Code *c = read_code_of(e, listing);
	assert_non_null(c);
	assert_int_equal(c->lo, lo);
	assert_int_equal(c->hi, hi);
}

static void versions_by_content(void **state)
{
	Env *e = *state;
	version_is(e, "  1           0 LOAD_FAST                0 (x)\n              2 RETURN_VALUE\n", 308, 312);
	version_is(e, "  1           0 BEGIN_FINALLY\n              2 RETURN_VALUE\n", 308, 308);
	version_is(e, "  1           0 COMPARE_OP               6 (in)\n              2 RETURN_VALUE\n", 308, 308);
	version_is(e, "  1           0 IS_OP                    0\n              2 JUMP_ABSOLUTE            0\n", 309, 309);
	version_is(e, "  1           0 IS_OP                    0\n              2 JUMP_ABSOLUTE            0 (to 0)\n", 310, 310);
	version_is(e, "  1           0 RESUME                   0\n              2 RETURN_VALUE\n", 311, 312);
	version_is(e, "  1           0 RESUME                   0\n              2 CALL                     0\n"
	              "             10 RETURN_VALUE\n", 312, 312);
	version_is(e, "  1           0 LOAD_ATTR                1 (NULL|self + x)\n             20 RETURN_VALUE\n", 312, 312);
	version_is(e, "  1           RESUME                   0\n              RETURN_VALUE\n", 313, 314);
	version_is(e, "  1           LOAD_SMALL_INT           3\n              RETURN_VALUE\n", 314, 314);
	version_is(e, "  1           BINARY_OP               26 ([])\n              RETURN_VALUE\n", 314, 314);
	version_is(e, "  1           CALL_FUNCTION_EX\n              RETURN_VALUE\n", 314, 314);
	version_is(e, "  1           CALL_FUNCTION_EX         0\n              RETURN_VALUE\n", 313, 313);
}

static void constants_go_on_over_lines(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  1           0 LOAD_CONST               1 ({'a': Mod(\n"
	                          "  (lin): Linear(1, 2)\n"
	                          "\n"
	                          ")\n"
	                          ", 'b': 3})\n"
	                          "              2 RETURN_VALUE\n");
	is_sound(e, c);
	assert_int_equal(c->n, 2);
	assert_string_equal(str_to_c(&e->a, ins_repr(c, &c->ins[0])), "{'a': Mod(\n  (lin): Linear(1, 2)\n\n)\n, 'b': 3}");
	assert_true(str_ends(str_sub(e->text.s, c->places[0].at, c->places[0].end), S("'b': 3})")));
}

static void extended_arguments_are_lines_of_their_own(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  1           0 EXTENDED_ARG             1\n"
	                          "              2 POP_JUMP_IF_FALSE      260 (to 6)\n"
	                          "              4 RETURN_VALUE\n"
	                          "        >>    6 EXTENDED_ARG             1\n"
	                          "              8 JUMP_ABSOLUTE          256 (to 0)\n");
	is_sound(e, c);
	assert_int_equal(c->ins[1].target, 3);
	assert_int_equal(c->ins[4].target, 0);
}

/* ---- damage ---- */

static void unread_is(Env *e, const char *why)
{
	assert_true(e->diags.unread.n > 0);
	assert_string_equal(str_to_c(&e->a, e->diags.unread.v[e->diags.unread.n - 1].why), why);
}

static void what_cannot_be_read_is_told(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  1           0 LOAD_FAST                0 (x)\n  what is this\n              2 RETURN_VALUE\n");
	assert_true(c->incomplete);
	assert_int_equal(c->n, 2);
	unread_is(e, "a line of bytecode that is no instruction");
	assert_int_equal(e->diags.unread.v[0].span.at, 47);
}

static void unknown_opcodes_stay_in_the_code(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  1           0 FROBNICATE               3 (x)\n              2 RETURN_VALUE\n");
	assert_true(c->incomplete);
	assert_int_equal(ins_op(&c->ins[0]), OP_UNKNOWN);
	unread_is(e, "opcode FROBNICATE is of no CPython from 3.8 to 3.14");
}

static void gaps_stand_between_instructions(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  1           0 LOAD_CONST               0 (None)\n[... 37 lines omitted ...]\n"
	                          "             80 RETURN_VALUE\n");
	assert_true(c->incomplete);
	assert_int_equal(c->n, 3);
	assert_int_equal(ins_op(&c->ins[1]), OP_GAP);
	unread_is(e, "instructions are left out here");
}

static void jumps_to_nowhere_are_told(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  1           0 JUMP_FORWARD            99 (to 101)\n              2 RETURN_VALUE\n");
	assert_true(c->incomplete);
	assert_int_equal(c->ins[0].target, INS_NONE);
	unread_is(e, "a jump to a place that the listing does not show");
}

static void listings_that_end_early(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  1           0 LOAD_FAST                0 (x)\n              2 LOAD_CONST               1 (<code obj");
	assert_true(c->truncated);
	assert_int_equal(c->n, 2);
	assert_int_equal(e->diags.unread.n, 1);
}

static void nothing_is_no_code(void **state)
{
	Env *e = *state;
	assert_null(read_code_of(e, ""));
	assert_null(read_code_of(e, "ORIGINAL BYTECODE f a.py line 4 \n\n"));
}

static void nested_code_objects_are_frames(void **state)
{
	Env *e = *state;
	Code *c = read_code_of(e, "  1           0 LOAD_CONST               0 (None)\n              2 RETURN_VALUE\n\n"
	                          "Disassembly of <code object g at 0x7f01, file \"m.py\", line 7>:\n"
	                          "  8           0 LOAD_CONST               0 (None)\n              2 RETURN_VALUE\n");
	is_sound(e, c);
	assert_int_equal(e->program.frames.n, 2);
	name_is(e, e->program.frames.v[1].name, "g");
	name_is(e, e->program.frames.v[1].file, "m.py");
	assert_int_equal(e->program.frames.v[1].first_line, 7);
}

/* Numbers at the edges, and lines that are nearly instructions. */
static void hostile_lines(void **state)
{
	static const char *const lines[] = {
		"  1           0 LOAD_FAST       4294967295 (x)\n", "  1           0 LOAD_FAST       99999999999 (x)\n",
		"  1 2 3 4     0 LOAD_FAST                0 (x)\n", "  1           0 UNPACK_SEQUENCE 4294967295\n",
		"  1           0 BUILD_MAP       4294967295\n",     "  1           0 JUMP_FORWARD 1 (to 4294967295)\n",
		"  1           0 JUMP_ABSOLUTE   4294967295\n",     "L0: NOP\n", "L4294967295: NOP\n", "(((((((\n", ">> >> --> NOP\n",
		"ExceptionTable:\n  1 to 0 -> 9 [4294967295]\n",    "ExceptionTable:\n  L1 to L2 -> L3 [0]\n",
		"  1           0 STORE_FAST_STORE_FAST 255 (a)\n",  "  1           0 LOAD_GLOBAL 1 (NULL + )\n",
		"  1           0 LOAD_GLOBAL 1 ( + NULL)\n",        "  1           0 LOAD_CONST 1 ()\n",
		"Disassembly of \n", "Disassembly of <code object \nDisassembly of <code object",
	};
	Env *e = *state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
			Code *c = read_code_of(e, str_to_c(&e->a, str_printf(&e->a, "%s%s  3          20 RETURN_VALUE\n", lines[i], lines[k])));
			for (uint32_t n = 0; c && n < c->n; n++) {
				assert_true(c->ins[n].target == INS_NONE || c->ins[n].target < c->n);
				assert_true(c->ins[n].var == INS_NONE || c->ins[n].var < c->nvars);
				ins_effect(&c->ins[n]);
			}
			for (uint32_t n = 0; c && n < c->nguards; n++)
				assert_true(c->guards[n].target < c->n && c->guards[n].end <= c->n);
		}
}

static void code_objects_are_taken_apart(void **state)
{
	Str name, file;
	uint32_t line;
	Env *e = *state;
	assert_true(code_object_parse(S("<code object <lambda> at 0x7f8f, file \"/a b/c.py\", line 20>"), &name, &file, &line));
	assert_string_equal(str_to_c(&e->a, name), "<lambda>");
	assert_string_equal(str_to_c(&e->a, file), "/a b/c.py");
	assert_int_equal(line, 20);
	assert_false(code_object_parse(S("<code object f at 0x"), &name, &file, &line));
	assert_false(code_object_parse(S(""), &name, &file, &line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_sorted_and_spans_are_apart),
		cmocka_unit_test(effects_are_those_of_cpython),
		cmocka_unit_test_setup_teardown(old_style_with_offsets, setup, teardown),
		cmocka_unit_test_setup_teardown(new_style_with_labels, setup, teardown),
		cmocka_unit_test_setup_teardown(one_instruction_a_line_is_no_old_style, setup, teardown),
		cmocka_unit_test_setup_teardown(guards_with_offsets_end_inclusive, setup, teardown),
		cmocka_unit_test_setup_teardown(versions_by_content, setup, teardown),
		cmocka_unit_test_setup_teardown(constants_go_on_over_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(extended_arguments_are_lines_of_their_own, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_opcodes_stay_in_the_code, setup, teardown),
		cmocka_unit_test_setup_teardown(gaps_stand_between_instructions, setup, teardown),
		cmocka_unit_test_setup_teardown(jumps_to_nowhere_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(listings_that_end_early, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_no_code, setup, teardown),
		cmocka_unit_test_setup_teardown(nested_code_objects_are_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(code_objects_are_taken_apart, setup, teardown),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
