/* SPDX-License-Identifier: MIT
 * What frames do and whom they call: events, graphs, resume functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "run.h"

typedef struct World {
	Tables tables;
	Config cfg;
	Run run;
} World;

static int setup(void **state)
{
	static World w; /* its memory is its own arenas' */
	w = (World){0};
	tables_init(&w.tables);
	w.cfg = config_default();
	run_init(&w.run, &w.tables, &w.cfg);
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	World *w = *state;
	run_free(&w->run);
	tables_free(&w->tables);
	return 0;
}

static ProgramFrames *frames_of(World *w, const char *text)
{
	Str why = {0};
	sources_add_bytes(&w->run.sources, S("a.log"), str_from_c(text), 0, &why);
	w->run.dump |= DUMP_LINK; /* events with their lines */
	run_analyse(&w->run);
	assert_non_null(w->run.frames);
	return w->run.frames;
}

static void links_are(World *w, const char *text, const char *want)
{
	Buf out = {.a = &w->run.a};
	frames_dump(frames_of(w, text), &out);
	assert_string_equal(str_to_c(&w->run.a, buf_str(&out)), want);
}

/* ---- events ---- */

static void branches_fork_with_their_own_lists(void **state)
{
	links_are(*state,
	          "MODIFIED BYTECODE f m.py line 4 \n"
	          "  4           0 LOAD_FAST                0 (x)\n"
	          "              2 BUILD_LIST               1\n"
	          "              4 STORE_FAST               1 (l)\n"
	          "              6 LOAD_FAST                0 (x)\n"
	          "              8 POP_JUMP_IF_FALSE       22\n"
	          "             10 LOAD_CONST               1 (7)\n"
	          "             12 LOAD_FAST                1 (l)\n"
	          "             14 LOAD_CONST               2 (0)\n"
	          "             16 STORE_SUBSCR\n"
	          "             18 LOAD_FAST                1 (l)\n"
	          "             20 RETURN_VALUE\n"
	          "        >>   22 LOAD_FAST                1 (l)\n"
	          "             24 RETURN_VALUE\n\n\n",
	          "== f line 4 [None] vars {0: 'x', 1: 'l'}\n"
	          "   branch local:x POP_JUMP_IF_FALSE\n"
	          "   return [local:x]\n"
	          "   return [7]\n");
}

static void what_lies_behind_a_loop_is_kept_but_not_printed(void **state)
{
	World *w = *state;
	links_are(w,
	          "MODIFIED BYTECODE f m.py line 4 \n"
	          "  4           0 LOAD_GLOBAL              0 (g)\n"
	          "              2 CALL_FUNCTION            0\n"
	          "              4 GET_ITER\n"
	          "        >>    6 FOR_ITER                10 (to 18)\n"
	          "              8 STORE_FAST               0 (i)\n"
	          "             10 LOAD_GLOBAL              1 (h)\n"
	          "             12 LOAD_FAST                0 (i)\n"
	          "             14 CALL_FUNCTION            1\n"
	          "             16 JUMP_ABSOLUTE            6\n"
	          "        >>   18 LOAD_CONST               0 (None)\n"
	          "             20 RETURN_VALUE\n\n\n",
	          "== f line 4 [None] vars {0: 'i'}\n"
	          "   call g()\n");
	const FrameLinks *l = w->run.frames->links[0];
	assert_int_equal(l->events.n, 3);
	assert_true(l->events.v[1].beyond);
	assert_string_equal(str_to_c(&w->run.a, l->events.v[1].line), "call h(item of get_iter(g()))");
	assert_int_equal(l->events.v[2].kind, LINK_RETURN);
}

static void paths_are_bounded_and_it_is_said(void **state)
{
	World *w = *state;
	Buf b = {.a = &w->run.a};
	buf_add(&b, S("MODIFIED BYTECODE f m.py line 4 \n"));
	for (uint32_t i = 0; i < 40; i++)
		buf_printf(&b, "%13u LOAD_FAST                0 (x)\n%13u POP_JUMP_IF_FALSE %9u\n", 4 * i, 4 * i + 2, 4 * i + 4);
	buf_printf(&b, "%13u LOAD_CONST 0 (None)\n%13u RETURN_VALUE\n\n\n", 160, 162);
	const ProgramFrames *f = frames_of(w, str_to_c(&w->run.a, buf_str(&b)));
	assert_true(f->links[0]->bounded);
	assert_int_equal(f->links[0]->paths, link_limits_default.paths);
	Buf out = {.a = &w->run.a};
	frames_dump(f, &out);
	assert_true(str_has(buf_str(&out), S("-- bounded: 128 paths")));
}

static void what_is_not_followed_is_said(void **state)
{
	links_are(*state,
	          "MODIFIED BYTECODE f m.py line 4 \n"
	          "  4           0 LOAD_FAST                0 (x)\n"
	          "              2 FROBNICATE\n"
	          "              4 RETURN_VALUE\n\n\n",
	          "== f line 4 [None] vars {0: 'x'}\n"
	          "-- not followed from instruction 1 on: an instruction that is not known\n");
}

/* ---- names ---- */

static void names_of_graphs_and_resume_functions(void **state)
{
	uint32_t offset = 0;
	Str inner;
	(void)state;
	assert_true(name_is_graph(S("__compiled_fn_12")));
	assert_true(name_is_graph(S("__compiled_fn_2_c5148c8b_6954_4e34_bece_90c62c8862ee")));
	assert_false(name_is_graph(S("__compiled_fn_")));
	assert_false(name_is_graph(S("__compiled_fn_2_c5148c8b_6954_4e34_bece_90c62c8862e")));
	assert_false(name_is_graph(S("__compiled_fn_2_x")));
	assert_false(name_is_graph(S("my__compiled_fn_2")));
	assert_true(name_is_resume(S("__resume_at_104_3"), &offset));
	assert_int_equal(offset, 104);
	assert_false(name_is_resume(S("__resume_at_104"), &offset));
	assert_false(name_is_resume(S("__resume_at_104_3_x"), &offset));
	assert_false(name_is_resume(S("__resume_at_99999999999_3"), &offset));
	assert_true(name_is_resume_code(S("torch_dynamo_resume_in_a_at_b_at_7"), &inner));
	assert_true(str_eq(inner, S("a_at_b")));
	assert_true(name_is_resume_code(S("<graph break in <listcomp>>"), &inner));
	assert_true(str_eq(inner, S("<listcomp>")));
	assert_true(name_is_resume_code(S("<resume in f>"), &inner));
	assert_true(name_is_resume_code(S("resume_in_f"), &inner));
	assert_false(name_is_resume_code(S("torch_dynamo_resume_in_f_at_"), &inner));
	assert_false(name_is_resume_code(S("f"), &inner));
}

/* ---- resume frames ---- */

/* A resume function of 3.8 whose prologue jumps to offset `to`: the dead copy begins at 2. */
#define RESUME(line, to)                                                                                     \
	"ORIGINAL BYTECODE torch_dynamo_resume_in_f_at_" #line " m.py line " #line " \n"                        \
	"  5           0 JUMP_ABSOLUTE           " #to "\n"                                                       \
	"              2 POP_TOP\n              4 POP_TOP\n              6 POP_TOP\n              8 POP_TOP\n" \
	"        >>   10 LOAD_CONST               0 (None)\n             12 RETURN_VALUE\n"                     \
	"        >>   14 LOAD_CONST               0 (None)\n             16 RETURN_VALUE\n"                     \
	"        >>   20 LOAD_CONST               0 (None)\n             22 RETURN_VALUE\n\n\n"
#define CALLER(first, second)                                                                                \
	"ORIGINAL BYTECODE f m.py line 4 \n  4           0 LOAD_CONST               0 (None)\n"                  \
	"              2 RETURN_VALUE\n\n\n"                                                                     \
	"MODIFIED BYTECODE f m.py line 4 \n"                                                                     \
	"  4           0 LOAD_FAST                0 (x)\n              2 POP_JUMP_IF_FALSE       10\n"           \
	"              4 LOAD_GLOBAL              1 (" first ")\n              6 CALL_FUNCTION            0\n"   \
	"              8 RETURN_VALUE\n"                                                                         \
	"        >>   10 LOAD_GLOBAL              2 (" second ")\n             12 CALL_FUNCTION            0\n"  \
	"             14 RETURN_VALUE\n\n\n"

/* The n-th call of a resume function in a frame (from 0). */
static const LinkEvent *resume_call(const ProgramFrames *f, FrameRef frame, uint32_t n)
{
	const FrameLinks *l = f->links[frame - 1];
	for (uint32_t i = 0; i < l->events.n; i++)
		if (l->events.v[i].kind == LINK_CALL && l->events.v[i].callee == CALLEE_RESUME && !n--)
			return &l->events.v[i];
	fail_msg("no such call");
	return NULL;
}

static void resumes(World *w, FrameRef caller, uint32_t n, ResumeFit fit, FrameRef want)
{
	const ProgramFrames *f = w->run.frames;
	FrameRefs found = {0};
	assert_int_equal(frame_resume_candidates(f, caller, resume_call(f, caller, n), &w->run.a, &found), fit);
	assert_int_equal(found.n, want ? 1 : 0);
	if (want)
		assert_int_equal(found.v[0], want);
}

static void arms_by_offset(void **state)
{
	World *w = *state;
	frames_of(w, CALLER("__resume_at_8_2", "__resume_at_12_3") RESUME(5, 10) RESUME(5, 14));
	assert_int_equal(w->run.program.frames.n, 4);
	assert_int_equal(w->run.frames->places[2].distance, 8);
	resumes(w, 2, 0, FIT_EXACT, 4); /* the jump is taken first */
	resumes(w, 2, 1, FIT_EXACT, 3);
}

static void offsets_that_are_near(void **state)
{
	World *w = *state;
	frames_of(w, CALLER("__resume_at_14_2", "__resume_at_100_3") RESUME(5, 10) RESUME(5, 20));
	resumes(w, 2, 0, FIT_NONE, 0);
	resumes(w, 2, 1, FIT_NEAR, 4);
}

static void other_functions_are_no_candidates(void **state)
{
	World *w = *state;
	frames_of(w, "MODIFIED BYTECODE g m.py line 4 \n  4           0 LOAD_GLOBAL              1 (__resume_at_8_2)\n"
	             "              2 CALL_FUNCTION            0\n              4 RETURN_VALUE\n\n\n" RESUME(5, 10));
	resumes(w, 1, 0, FIT_NONE, 0);
}

/* Offsets of a resume function's own breaks count from where its dead copy begins. */
static void chains_of_resume_functions(void **state)
{
	World *w = *state;
	frames_of(w, RESUME(5, 10)
	          "MODIFIED BYTECODE torch_dynamo_resume_in_f_at_5 m.py line 5 \n"
	          "  5           0 LOAD_GLOBAL              1 (__resume_at_14_2)\n              2 CALL_FUNCTION            0\n"
	          "              4 RETURN_VALUE\n\n\n" RESUME(9, 14) RESUME(9, 20));
	assert_int_equal(w->run.frames->partner[1], 1);
	resumes(w, 2, 0, FIT_EXACT, 3);
}

/* With cells on 3.11 to 3.13 (PyTorch 2.6) only the code object names the function: the dead copy tells the arms apart. */
static void arms_by_code_object(void **state)
{
	static const char *const tail =
		"               POP_TOP\n               RETURN_CONST             0 (None)\n"
		"       L2:     RETURN_CONST             0 (None)\n\n\n";
	World *w = *state;
	Buf b = {.a = &w->run.a};
	for (int arm = 0; arm < 2; arm++)
		buf_printf(&b, "ORIGINAL BYTECODE torch_dynamo_resume_in_f_at_5 m.py line 5 \n"
		               "   5           COPY_FREE_VARS           1\n               RESUME                   0\n"
		               "               JUMP_FORWARD             9 (to L%d)\n               RESUME                   0\n"
		               "               LOAD_DEREF               1 (c)\n               POP_JUMP_IF_FALSE        1 (to L2)\n"
		               "       L1:     NOP\n%s", arm + 1, tail);
	static const char *const make =
		"               LOAD_FAST                1 (c)\n               BUILD_TUPLE              1\n"
		"               LOAD_CONST               1 (<code object torch_dynamo_resume_in_f_at_5 at 0x7f01, file \"m.py\", line 5>)\n"
		"               MAKE_FUNCTION\n               SET_FUNCTION_ATTRIBUTE   8 (closure)\n               PUSH_NULL\n"
		"               CALL                     0\n               RETURN_VALUE\n";
	buf_printf(&b, "MODIFIED BYTECODE f m.py line 4 \n  4           MAKE_CELL                1 (c)\n"
	               "               RESUME                   0\n               LOAD_FAST                0 (x)\n"
	               "               POP_JUMP_IF_FALSE        9 (to L1)\n%s       L1:     NOP\n%s\n\n", make, make);
	frames_of(w, str_to_c(&w->run.a, buf_str(&b)));
	resumes(w, 3, 0, FIT_ARM, 2); /* the arm that jumps */
	resumes(w, 3, 1, FIT_ARM, 1);
}

static void factories_name_what_they_make(void **state)
{
	World *w = *state;
	const ProgramFrames *f = frames_of(w,
		"MODIFIED BYTECODE f m.py line 4 \n  4           0 MAKE_CELL                1 (c)\n"
		"              2 RESUME                   0\n              4 LOAD_GLOBAL              1 (NULL + __resume_at_8_2)\n"
		"             16 LOAD_CLOSURE             1 (c)\n             18 BUILD_TUPLE              1\n"
		"             20 PRECALL                  1\n             24 CALL                     1\n"
		"             34 PUSH_NULL\n             36 SWAP                     2\n"
		"             38 LOAD_FAST                0 (x)\n"
		"             40 PRECALL                  1\n             44 CALL                     1\n             54 RETURN_VALUE\n\n\n");
	const LinkEvent *made = resume_call(f, 1, 0), *called = resume_call(f, 1, 1);
	assert_true(made->factory);
	assert_false(called->factory);
	assert_true(sym_eq(made->name, called->name));
	assert_int_equal(called->nargs, 1);
	assert_string_equal(str_to_c(&w->run.a, made->line), "call __resume_at_8_2((cell:c))");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(branches_fork_with_their_own_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(what_lies_behind_a_loop_is_kept_but_not_printed, setup, teardown),
		cmocka_unit_test_setup_teardown(paths_are_bounded_and_it_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_followed_is_said, setup, teardown),
		cmocka_unit_test(names_of_graphs_and_resume_functions),
		cmocka_unit_test_setup_teardown(arms_by_offset, setup, teardown),
		cmocka_unit_test_setup_teardown(offsets_that_are_near, setup, teardown),
		cmocka_unit_test_setup_teardown(other_functions_are_no_candidates, setup, teardown),
		cmocka_unit_test_setup_teardown(chains_of_resume_functions, setup, teardown),
		cmocka_unit_test_setup_teardown(arms_by_code_object, setup, teardown),
		cmocka_unit_test_setup_teardown(factories_name_what_they_make, setup, teardown),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
