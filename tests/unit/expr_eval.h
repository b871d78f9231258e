/* SPDX-License-Identifier: MIT
 * expr_eval: values of the text of an expression, for tests; shares nothing with what is tested. */
#ifndef GRAPHLINT_TEST_EXPR_EVAL_H
#define GRAPHLINT_TEST_EXPR_EVAL_H

#include "base.h"

enum { SYMBOLS = 4 }; /* s0, s1, s2, u0 */
static const char *const symbol_names[] = {"s0", "s1", "s2", "u0"};

typedef struct Eval {
	const char *p;
	const int64_t *value;
	bool bad;
} Eval;

static int64_t floor_of(int64_t a, int64_t b)
{
	int64_t q = a / b;
	return q - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t eval_sum(Eval *e);

static void eval_blank(Eval *e)
{
	while (*e->p == ' ')
		e->p++;
}

static int64_t eval_call(Eval *e, char kind)
{
	int64_t v = eval_sum(e);
	while (*e->p == ',') {
		e->p++;
		int64_t b = eval_sum(e);
		if (kind == 'M')
			v = v > b ? v : b;
		else if (kind == 'm')
			v = v < b ? v : b;
		else if (b == 0)
			e->bad = true;
		else
			v -= floor_of(v, b) * b;
	}
	if (*e->p++ != ')')
		e->bad = true;
	return v;
}

static int64_t eval_atom(Eval *e)
{
	int64_t v = 0;
	eval_blank(e);
	if (*e->p == '-') {
		e->p++;
		return -eval_atom(e);
	}
	if (*e->p == '(') {
		e->p++;
		v = eval_sum(e);
		if (*e->p++ != ')')
			e->bad = true;
	} else if (*e->p >= '0' && *e->p <= '9') {
		while (*e->p >= '0' && *e->p <= '9')
			v = v * 10 + (*e->p++ - '0');
	} else if (!strncmp(e->p, "Max(", 4) || !strncmp(e->p, "Min(", 4) ||
	           !strncmp(e->p, "Mod(", 4)) {
		char kind = e->p[1] == 'a' ? 'M' : e->p[1] == 'i' ? 'm' : '%';
		e->p += 4;
		v = eval_call(e, kind);
	} else {
		int i = 0;
		while (i < SYMBOLS && strncmp(e->p, symbol_names[i], 2))
			i++;
		if (i == SYMBOLS) {
			e->bad = true;
			return 0;
		}
		e->p += 2;
		v = e->value[i];
	}
	if (e->p[0] == '*' && e->p[1] == '*') {
		e->p += 2;
		int64_t base = v, n = eval_atom(e);
		for (v = 1; n > 0; n--)
			v *= base;
	}
	return v;
}

static int64_t eval_product(Eval *e)
{
	int64_t v = eval_atom(e);
	for (;;) {
		eval_blank(e);
		if (e->p[0] == '*') {
			e->p++;
			v *= eval_atom(e);
		} else if (e->p[0] == '/' && e->p[1] == '/') {
			e->p += 2;
			int64_t b = eval_atom(e);
			if (b == 0)
				e->bad = true;
			else
				v = floor_of(v, b);
		} else {
			return v;
		}
		if (e->bad)
			return 0;
	}
}

static int64_t eval_sum(Eval *e)
{
	eval_blank(e);
	int64_t sign = 1, v;
	if (*e->p == '-') {
		sign = -1;
		e->p++;
	}
	v = sign * eval_product(e);
	for (;;) {
		eval_blank(e);
		if (*e->p == '+') {
			e->p++;
			v += eval_product(e);
		} else if (*e->p == '-') {
			e->p++;
			v -= eval_product(e);
		} else {
			return v;
		}
	}
}

static bool eval_text(Arena *a, Str s, const int64_t *value, int64_t *out)
{
	Eval e = {.p = str_to_c(a, s), .value = value};
	*out = eval_sum(&e);
	return !e.bad && !*e.p;
}

/* Next assignment: sizes s0, s1, s2 in 2..5, u0 in 0..3. False after the last. */
static bool next_values(int64_t *v)
{
	for (int i = 0; i < SYMBOLS; i++) {
		int64_t least = i == SYMBOLS - 1 ? 0 : 2;
		if (++v[i] < least + 4)
			return true;
		v[i] = least;
	}
	return false;
}

#define FIRST_VALUES                                                                               \
	{                                                                                              \
		2, 2, 2, 0                                                                                 \
	}

#endif
