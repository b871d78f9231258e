/* SPDX-License-Identifier: MIT
 * sim_number: Python's arithmetic on numbers. Both operands known: the exact result, floats as IEEE doubles like
 * CPython's. Else a term over their terms. */
#include "sim_host.h"

#include <math.h>

static Str term_name(Str name)
{
	static const struct {
		Str name, term;
	} rows[] = {
#define NUMBER_TERM(name, term) {STR_INIT(name), STR_INIT(term)},
#include "number_terms.def"
#undef NUMBER_TERM
	};
	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (str_eq(rows[i].name, name))
			return rows[i].term;
	return name;
}

enum { SMALL = 1 << 30 }; /* sums and products of such integers are exact in int64_t and as doubles below 2^53 */

static bool small(int64_t v)
{
	return v > -(int64_t)SMALL && v < SMALL;
}

static int64_t floor_div(int64_t x, int64_t y)
{
	int64_t q = x / y;
	return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}

static bool int_power(int64_t x, int64_t y, int64_t *out)
{
	int64_t r = 1;
	if (y < 0 || y > 62)
		return false;
	for (; y; y--) {
		if (!small(r) || !small(x))
			return false;
		r *= x;
	}
	*out = r;
	return true;
}

/* False: not folded here. */
static bool fold_ints(Str op, int64_t x, int64_t y, int64_t *out)
{
	if (!small(x) || !small(y))
		return false;
	if (str_eq(op, S("add")))
		*out = x + y;
	else if (str_eq(op, S("sub")))
		*out = x - y;
	else if (str_eq(op, S("mul")))
		*out = x * y;
	else if (str_eq(op, S("floordiv")) && y)
		*out = floor_div(x, y);
	else if (str_eq(op, S("mod")) && y)
		*out = x - floor_div(x, y) * y;
	else if (str_eq(op, S("and_")))
		*out = x & y;
	else if (str_eq(op, S("or_")))
		*out = x | y;
	else if (str_eq(op, S("xor")))
		*out = x ^ y;
	else if (str_eq(op, S("lshift")) && y >= 0 && y < 22 && x >= 0)
		*out = x << y;
	else if (str_eq(op, S("rshift")) && y >= 0 && y < 63 && x >= 0)
		*out = x >> y;
	else if (str_eq(op, S("pow")))
		return int_power(x, y, out);
	else
		return false;
	return true;
}

static bool fold_floats(Str op, double x, double y, double *out)
{
	if (str_eq(op, S("add")))
		*out = x + y;
	else if (str_eq(op, S("sub")))
		*out = x - y;
	else if (str_eq(op, S("mul")))
		*out = x * y;
	else if (str_eq(op, S("truediv")) && y != 0)
		*out = x / y;
	else
		return false;
	return isfinite(*out);
}

Ref host_arith(Sim *s, Machine *m, Str op, Ref x, Ref y)
{
	TermId a = sim_obj(s, x)->term, b = sim_obj(s, y)->term;
	const Term *p = term_get(s->terms, a), *q = term_get(s->terms, b);
	bool divides = str_eq(op, S("truediv")) || str_eq(op, S("floordiv")) || str_eq(op, S("mod"));
	if (divides && q->kind == TERM_NUM && q->num == 0)
		return host_raise(s, m, S("ZeroDivisionError"));
	int64_t i, j, r;
	double d;
	if (host_int(s, x, &i) && host_int(s, y, &j) && fold_ints(op, i, j, &r))
		return sim_int(s, r);
	bool numbers = p->kind == TERM_NUM && q->kind == TERM_NUM;
	bool inexact = str_eq(op, S("truediv")) || p->cls == 'f' || q->cls == 'f';
	if (numbers && inexact && fold_floats(op, p->num, q->num, &d))
		return sim_number(s, term_num(s->terms, d, 'f'));
	return sim_number(s, term_op(s->terms, host_sym(s, term_name(op)), (TermId[]){a, b}, 2, 0));
}

Ref host_number_op(Sim *s, Str op, const Ref *v, uint32_t n)
{
	TermId t[4];
	for (uint32_t i = 0; i < n && i < 4; i++)
		t[i] = sim_obj(s, v[i])->term;
	return sim_number(s, term_op(s->terms, host_sym(s, op), t, n < 4 ? n : 4, 0));
}

/* int(x) of a number: towards zero. */
Ref host_to_int(Sim *s, Ref x)
{
	const Term *t = term_get(s->terms, sim_obj(s, x)->term);
	if (t->kind == TERM_NUM && fabs(t->num) < 9007199254740992.0)
		return sim_int(s, (int64_t)t->num);
	if (t->cls == 'i' || t->kind == TERM_TEXT)
		return x;
	return host_number_op(s, S("trunc"), &x, 1);
}

Ref host_to_float(Sim *s, Ref x)
{
	const Term *t = term_get(s->terms, sim_obj(s, x)->term);
	return t->kind == TERM_NUM ? sim_number(s, term_num(s->terms, t->num, 'f')) : x;
}

/* math.f(x), or an empty name's false: not one of those that are exact everywhere. */
Ref host_math(Sim *s, Str f, const Ref *v, uint32_t n)
{
	const Term *t = n ? term_get(s->terms, sim_obj(s, v[0])->term) : NULL;
	if (n == 1 && t->kind == TERM_NUM && fabs(t->num) < 1e15) {
		if (str_eq(f, S("floor")) || str_eq(f, S("ceil")))
			return sim_int(s, (int64_t)(str_eq(f, S("floor")) ? floor(t->num) : ceil(t->num)));
		if (str_eq(f, S("sqrt")) && t->num >= 0)
			return sim_number(s, term_num(s->terms, sqrt(t->num), 'f'));
		if (str_eq(f, S("fabs")))
			return sim_number(s, term_num(s->terms, fabs(t->num), 'f'));
	}
	return host_number_op(s, f, v, n);
}
