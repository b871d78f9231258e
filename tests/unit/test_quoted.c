/* SPDX-License-Identifier: MIT
 * Keywords of calls in a line of the user's program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "quoted.h"

/* "a b" of the call's keywords, "-" where they cannot be told. */
static void expect(const char *code, const char *callee, uint32_t nargs, const char *want)
{
	QuotedCall c;
	char got[256] = "-";
	uint32_t n = 0;
	if (quoted_call((Str){code, (uint32_t)strlen(code)}, (Str){callee, (uint32_t)strlen(callee)}, nargs, &c)) {
		got[0] = '\0';
		for (uint32_t i = 0; i < c.n; i++)
			n += (uint32_t)snprintf(got + n, sizeof got - n, "%s" STR_FMT, i ? " " : "", STR_ARG(c.keywords[i]));
	}
	assert_string_equal(got, want);
}

static void calls(void **state)
{
	(void)state;
	expect("torch.mul(x, x, out=x)", "mul", 3, "out");
	expect("y = f(a, scale=g(1, k=2), bias=[1, (2)])", "f", 3, "scale bias");
	expect("y = f(a, scale=g(1, k=2), bias=[1, (2)])", "g", 2, "k");
	expect("f(x == 1, flag=x == 2)", "f", 2, "flag");
	expect("f('a(b=1)', c=\"),\")", "f", 2, "c");
	expect("h = make(1)(x, dim=-1)", "", 2, "dim");
	expect("f(x, y=1) # f(x, z=1)", "f", 2, "y");
}

static void not_told(void **state)
{
	(void)state;
	expect("f(x, y)", "f", 2, "-");                 /* no keywords */
	expect("f(x, y=1)", "f", 3, "-");               /* another number of arguments */
	expect("f(x, y=1)", "g", 2, "-");
	expect("f(*x, y=1)", "f", 2, "-");
	expect("f(x, y=1", "f", 2, "-");                /* goes on in another line */
	expect("f(x, a=1) + f(x, b=1)", "f", 2, "-");   /* two that differ */
	expect("f(x, a=1) + f(y, a=2)", "f", 2, "a");
	expect("'f(x, a=1)'", "f", 2, "-");
	expect("", "f", 1, "-");
	expect("f(((((((((", "f", 1, "-");
	expect("f(a, 'open", "f", 2, "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(calls), cmocka_unit_test(not_told)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
