/* SPDX-License-Identifier: MIT
 * Records of graph breaks as each generation prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "read_break.h"

typedef struct Want {
	const char *text, *reason, *file, *function, *second;
	uint32_t line, nstack;
	BreakOutcome outcome;
} Want;

static const Want wants[] = {
	{"Graph break: call_function args: NumpyVariable()  from user code at   File \"/p/m.py\", line 9, in forward\n"
	 "    y = g(x)\n  File \"/p/m.py\", line 4, in g\n    return np.sin(x)\n\n",
	 "call_function args: NumpyVariable()", "/p/m.py", "g", "", 4, 2, BREAK_UNKNOWN},
	{"Graph break: 'skip function f in file /t.py'' from user code at:\n  File \"/p/m.py\", line 14, in f\n    g()\n",
	 "'skip function f in file /t.py''", "/p/m.py", "f", "", 14, 1, BREAK_UNKNOWN},
	{"Graph break: from user code at:\n  File \"/p/m.py\", line 14, in f\n    g()\nTraceback (most recent call last):\n"
	 "  File \"/t/torch/_dynamo/x.py\", line 1, in run\n    unimplemented(msg)\n    ^^^^^\ntorch._dynamo.exc.Unsupported: why\n",
	 "why", "/p/m.py", "f", "", 14, 1, BREAK_UNKNOWN},
	{"Graph break in user code at /p/m.py:5\nReason: Unsupported: Tensor.item\nUser code traceback:\n"
	 "  File \"/p/m.py\", line 5, in f\n    k = y.item()\n",
	 "Tensor.item", "/p/m.py", "f", "", 5, 1, BREAK_UNKNOWN},
	{"Graph break (details suppressed) in user code at /p/m.py:5\n", "", "/p/m.py", "", "", 5, 0, BREAK_UNKNOWN},
	{"Graph break in user code at /p/m.py:6\nGraph Break Reason: Encountered graph break when attempting to trace CALL: f(x):\n\n"
	 "Failed to trace builtin operator\n  Explanation: no\n\nStack variable source attribution:\n"
	 "  File \"/p/other.py\", line 3\n    with g():\n\nUser code traceback:\n  File \"/p/m.py\", line 20, in <module>\n    f(x)\n"
	 "  File \"/p/m.py\", line 6, in f\n    print(x)\n    ^^^^^\n",
	 "Failed to trace builtin operator", "/p/m.py", "f", "", 6, 2, BREAK_RESUMES},
	{"Graph break in user code at /p/m.py:6\nGraph Break Reason: Failed to handle graph break gracefully. Skipping the function.\n"
	 "\nfirst\n*** While handling this graph break, another graph break occurred: ***\n\ngraph break in loop\n",
	 "first", "/p/m.py", "", "graph break in loop", 6, 0, BREAK_SKIPS_FRAME},
	{"Graph break: skip: from user code at:\n  File \"/p/m.py\", line 2, in f\n    g()\n", "", "/p/m.py", "f", "", 2, 1, BREAK_SKIPS_FRAME},
};

static Text text_of(const char *s)
{
	static const Seg seg = {0};
	return (Text){.s = str_from_c(s), .seg = (Seg *)&seg, .nseg = 1};
}

static void each_generation(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		Arena a = arena_new(NULL);
		const Want *w = &wants[i];
		Text t = text_of(w->text);
		BreakRecord r;
		assert_true(read_break(&t, &a, &r));
		assert_string_equal(str_to_c(&a, r.reason), w->reason);
		assert_string_equal(str_to_c(&a, r.place.file), w->file);
		assert_string_equal(str_to_c(&a, r.place.function), w->function);
		assert_string_equal(str_to_c(&a, r.second), w->second);
		assert_int_equal(r.place.line, w->line);
		assert_int_equal(r.nstack, w->nstack);
		assert_int_equal(r.outcome, w->outcome);
		arena_free(&a);
	}
}

static void nothing_to_tell(void **state)
{
	static const char *const texts[] = {"", "\n\n", "Graph break", "Graph break in user code at", "Graph break in user code at :", "  File \"",
	                                    "User code traceback:\n  File \"/p.py\", line x, in f\n", "Graph Break Reason:"};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		Arena a = arena_new(NULL);
		Text t = text_of(texts[i]);
		BreakRecord r;
		assert_false(read_break(&t, &a, &r));
		arena_free(&a);
	}
}

/* A stack as long as one likes keeps its innermost line out of the list, and its length bounded. */
static void long_stack(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Buf b = {.a = &a};
	buf_add(&b, S("Graph break in user code at /p/m.py:6\nUser code traceback:\n"));
	for (int i = 0; i < 5000; i++)
		buf_printf(&b, "  File \"/p/m.py\", line %d, in f\n    f(x)\n", i + 1);
	static const Seg seg = {0};
	Text t = {.s = buf_str(&b), .seg = (Seg *)&seg, .nseg = 1};
	BreakRecord r;
	assert_true(read_break(&t, &a, &r));
	assert_true(r.nstack <= 1000);
	assert_int_equal(r.place.line, 6);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_generation), cmocka_unit_test(nothing_to_tell), cmocka_unit_test(long_stack)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
