/* SPDX-License-Identifier: MIT */
#include "expr.h"

#include <stdio.h>

/* ---- bounds ----
 * INT64_MIN and INT64_MAX stand for "none"; sums and products that leave the range become that. */

typedef struct Range {
	int64_t lo, hi;
} Range;

static const Range any_value = {INT64_MIN, INT64_MAX};

static int64_t sat_add(int64_t a, int64_t b, int64_t none)
{
	int64_t r;
	return a == none || b == none || __builtin_add_overflow(a, b, &r) ? none : r;
}

/* Values of a product of atoms; `shifted`: of what each atom is above its lower bound. */
static Range mono_range(const Types *t, uint32_t mono, bool shifted)
{
	const Factor *f = mono_factors(t, mono);
	Range r = {1, 1};
	for (uint32_t i = 0; i < t->monos.v[mono].n; i++) {
		const Atom *a = &t->atoms.v[f[i].atom];
		Range x = {a->lo, a->hi};
		if (shifted) {
			x.lo = 0;
			if (a->hi != INT64_MAX && __builtin_sub_overflow(a->hi, a->lo, &x.hi))
				x.hi = INT64_MAX;
		}
		if (x.lo < 0) /* only alone can such an atom be told something about */
			return t->monos.v[mono].degree == 1 ? x : any_value;
		for (uint32_t k = 0; k < f[i].power; k++) {
			if (__builtin_mul_overflow(r.lo, x.lo, &r.lo))
				r.lo = INT64_MAX - 1;
			if (r.hi == INT64_MAX || x.hi == INT64_MAX || __builtin_mul_overflow(r.hi, x.hi, &r.hi))
				r.hi = INT64_MAX;
		}
	}
	return r;
}

static Range poly_interval(const Types *t, const Poly *p, bool shifted)
{
	Range sum = {0, 0};
	for (uint32_t i = 0; i < p->n; i++) {
		Range m = mono_range(t, p->t[i].mono, shifted);
		int64_t c = p->t[i].coef, least = c > 0 ? m.lo : m.hi, most = c > 0 ? m.hi : m.lo;
		bool no_lo = c > 0 ? least == INT64_MIN : least == INT64_MAX;
		bool no_hi = c > 0 ? most == INT64_MAX : most == INT64_MIN;
		if (no_lo || __builtin_mul_overflow(c, least, &least))
			least = INT64_MIN;
		if (no_hi || __builtin_mul_overflow(c, most, &most))
			most = INT64_MAX;
		sum.lo = sat_add(sum.lo, least, INT64_MIN);
		sum.hi = sat_add(sum.hi, most, INT64_MAX);
	}
	return sum;
}

/* Writes every atom as its lower bound plus what it is above that. */
static bool poly_shift(Types *t, Poly *p)
{
	uint32_t atoms[POLY_ATOMS], n;
	if (!poly_atoms(t, p, atoms, &n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		Poly v;
		if (t->atoms.v[atoms[i]].lo == INT64_MIN)
			return false;
		poly_atom(t, atoms[i], &v);
		if (!poly_add_term(&v, t->atoms.v[atoms[i]].lo, MONO_ONE) ||
		    !poly_replace(t, p, atoms[i], &v, p))
			return false;
	}
	return true;
}

static void range_narrow(Range *r, Range by)
{
	if (by.lo > r->lo)
		r->lo = by.lo;
	if (by.hi < r->hi)
		r->hi = by.hi;
}

static Range poly_range_plain(Types *t, const Poly *p)
{
	Range r = poly_interval(t, p, false);
	Poly s = *p;
	if ((r.lo == INT64_MIN || r.hi == INT64_MAX) && poly_shift(t, &s))
		range_narrow(&r, poly_interval(t, &s, true));
	return r;
}

/* x when p is x + number and x a symbol; 0 otherwise. */
static uint32_t poly_lone_symbol(const Types *t, const Poly *p, int64_t *number)
{
	uint32_t atom = 0;
	*number = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		const Mono *m = &t->monos.v[p->t[i].mono];
		if (p->t[i].mono == MONO_ONE)
			*number = p->t[i].coef;
		else if (atom || m->degree != 1 || p->t[i].coef != 1)
			return 0;
		else
			atom = t->factors.v[m->at].atom;
	}
	return atom && t->atoms.v[atom].op == ATOM_SYMBOL ? atom : 0;
}

/* Where (x//c) and x both occur, x = c*(x//c) + Mod(x, c) leaves one unknown instead of two that
 * only look independent. Does that for one quotient; false when there is none. */
static bool poly_unquotient(Types *t, Poly *p)
{
	uint32_t atoms[POLY_ATOMS], n;
	if (!poly_atoms(t, p, atoms, &n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		Atom q = t->atoms.v[atoms[i]];
		int64_t c, number;
		Poly x, div, v, m;
		if (q.op != ATOM_FLOORDIV || !expr_value(t, q.args[1], &c))
			continue;
		poly_of(t, q.args[0], &x);
		uint32_t symbol = poly_lone_symbol(t, &x, &number);
		if (!symbol || number == INT64_MIN || !poly_has_atom(t, p, symbol))
			continue;
		poly_int(&div, c);
		poly_atom(t, atoms[i], &v);
		if (poly_mod(t, &x, &div, &m) && poly_mul(t, &v, &div, &v) && poly_add(&v, &m, 1) &&
		    poly_add_term(&v, -number, MONO_ONE) && poly_replace(t, p, symbol, &v, p))
			return true;
	}
	return false;
}

/* x/c - 1 < (x//c) <= x/c: makes *p, which stands over *den, a bound of itself from below (or
 * above) in which one quotient is gone and *den is larger. False when no quotient stands alone in
 * a term. */
static bool poly_relax(Types *t, Poly *p, int64_t *den, bool below)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const Mono *m = &t->monos.v[p->t[i].mono];
		Poly x, r = {.n = 0};
		int64_t c, coef = p->t[i].coef, slack;
		if (m->degree != 1 || coef == INT64_MIN)
			continue;
		uint32_t atom = t->factors.v[m->at].atom, mono = p->t[i].mono;
		if (t->atoms.v[atom].op != ATOM_FLOORDIV || !expr_value(t, t->atoms.v[atom].args[1], &c))
			continue;
		poly_of(t, t->atoms.v[atom].args[0], &x);
		slack = (coef > 0) == below ? 1 - c : 0;
		if (poly_add(&r, p, 1) && poly_add_term(&r, -coef, mono) && !poly_has_atom(t, &r, atom) &&
		    poly_add_term(&x, slack, MONO_ONE) && poly_add(&r, &r, c - 1) &&
		    poly_add(&r, &x, coef) && !__builtin_mul_overflow(*den, c, den)) {
			poly_copy(p, &r);
			return true;
		}
	}
	return false;
}

enum { QUOTIENTS = 4 }; /* of one polynomial that are looked into */

static Range poly_range(Types *t, const Poly *p)
{
	int64_t v, den = 1;
	if (poly_value(p, &v))
		return (Range){v, v};
	Range r = poly_range_plain(t, p);
	Poly q = *p;
	for (int i = 0; i < QUOTIENTS && (r.lo == INT64_MIN || r.hi == INT64_MAX); i++) {
		if (!poly_unquotient(t, &q))
			break;
		range_narrow(&r, poly_range_plain(t, &q));
	}
	poly_copy(&q, p);
	for (int i = 0; i < QUOTIENTS && poly_relax(t, &q, &den, true); i++) {
		int64_t lo = poly_range_plain(t, &q).lo;
		if (lo != INT64_MIN && lo != INT64_MAX)
			range_narrow(&r, (Range){int_floor_div(lo, den) + (lo % den != 0), INT64_MAX});
	}
	poly_copy(&q, p);
	den = 1;
	for (int i = 0; i < QUOTIENTS && poly_relax(t, &q, &den, false); i++) {
		int64_t hi = poly_range_plain(t, &q).hi;
		if (hi != INT64_MAX && hi != INT64_MIN)
			range_narrow(&r, (Range){INT64_MIN, int_floor_div(hi, den)});
	}
	return r;
}

static Range expr_range(Types *t, ExprId e)
{
	Expr *x = &t->exprs.v[e.i];
	if (!x->bounded) {
		Poly p;
		poly_of(t, e, &p);
		Range r = poly_range(t, &p);
		x = &t->exprs.v[e.i]; /* the vector may have moved */
		x->lo = r.lo;
		x->hi = r.hi;
		x->bounded = true;
	}
	return (Range){x->lo, x->hi};
}

/* ---- text ---- */

/* A text of limited length. */
typedef struct Label {
	uint32_t n;
	bool over;
	char p[ATOM_TEXT];
} Label;

static void label_add(Label *l, Str s)
{
	if (s.n > ATOM_TEXT - l->n) {
		l->over = true;
		return;
	}
	if (s.n)
		memcpy(l->p + l->n, s.p, s.n);
	l->n += s.n;
}

static void label_u64(Label *l, uint64_t v)
{
	char b[24];
	int n = snprintf(b, sizeof b, "%llu", (unsigned long long)v);
	label_add(l, (Str){b, (uint32_t)n});
}

static void mono_label(const Types *t, uint32_t mono, Label *l)
{
	const Factor *f = mono_factors(t, mono);
	uint32_t n = t->monos.v[mono].n, order[POLY_DEGREE];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i;
		for (; k && str_cmp(t->atoms.v[f[order[k - 1]].atom].text, t->atoms.v[f[i].atom].text) > 0;
		     k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			label_add(l, S("*"));
		label_add(l, t->atoms.v[f[order[i]].atom].text);
		if (f[order[i]].power > 1) {
			label_add(l, S("**"));
			label_u64(l, f[order[i]].power);
		}
	}
}

/* Order of terms in text: higher degree first, then by text, so that it does not hang on ids. */
static bool term_before(const Types *t, uint32_t a, uint32_t b)
{
	uint32_t da = t->monos.v[a].degree, db = t->monos.v[b].degree;
	Label x, y;
	if (da != db)
		return da > db;
	x.n = y.n = 0;
	x.over = y.over = false;
	mono_label(t, a, &x);
	mono_label(t, b, &y);
	return str_cmp((Str){x.p, x.n}, (Str){y.p, y.n}) < 0;
}

static void terms_order(const Types *t, const Poly *p, uint32_t *order)
{
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t k = i;
		for (; k && term_before(t, p->t[i].mono, p->t[order[k - 1]].mono); k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}

static void poly_label(const Types *t, const Poly *p, Label *l)
{
	uint32_t order[POLY_TERMS];
	terms_order(t, p, order);
	l->n = 0;
	l->over = false;
	if (!p->n)
		label_add(l, S("0"));
	for (uint32_t i = 0; i < p->n && !l->over; i++) {
		Term x = p->t[order[i]];
		if (i)
			label_add(l, x.coef < 0 ? S(" - ") : S(" + "));
		else if (x.coef < 0)
			label_add(l, S("-"));
		if (int_magnitude(x.coef) != 1 || x.mono == MONO_ONE) {
			label_u64(l, int_magnitude(x.coef));
			if (x.mono != MONO_ONE)
				label_add(l, S("*"));
		}
		mono_label(t, x.mono, l);
	}
}

/* Operand of "//": in parentheses unless a single positive term (as divisor: a number or atom). */
static void operand_label(const Types *t, const Poly *p, bool divisor, Label *l)
{
	Label x;
	bool bare = p->n == 1 && p->t[0].coef > 0;
	if (divisor && bare)
		bare =
			p->t[0].mono == MONO_ONE || (p->t[0].coef == 1 && t->monos.v[p->t[0].mono].degree == 1);
	poly_label(t, p, &x);
	if (!bare)
		label_add(l, S("("));
	label_add(l, (Str){x.p, x.n});
	if (!bare)
		label_add(l, S(")"));
	l->over |= x.over;
}

Str expr_text(Types *t, ExprId e, Arena *a)
{
	Buf out = {.a = a};
	uint32_t order[POLY_TERMS];
	Poly p;
	if (!e.i)
		return S("?");
	poly_of(t, e, &p);
	terms_order(t, &p, order);
	if (!p.n)
		buf_char(&out, '0');
	/* One term at a time: a sum of long atoms is longer than a label. */
	for (uint32_t i = 0; i < p.n; i++) {
		Poly one = {.n = 1, .t = {p.t[order[i]]}};
		bool minus = one.t[0].coef < 0;
		Label l;
		poly_label(t, &one, &l);
		if (i)
			buf_add(&out, minus ? S(" - ") : S(" + "));
		buf_add(&out, str_sub((Str){l.p, l.n}, i && minus, l.n));
		if (l.over)
			buf_add(&out, S("..."));
	}
	return buf_str(&out);
}

/* ---- atoms ---- */

static bool atom_intern(Types *t, Str text, const Atom *like, Poly *out)
{
	uint64_t h = hash_bytes(t->names->seed, text.p, text.n);
	uint32_t probe = 0, id;
	while ((id = idset_next(&t->atom_set, h, &probe)))
		if (str_eq(t->atoms.v[id].text, text))
			break;
	if (!id) {
		Atom a = *like;
		a.text = str_copy(t->a, text);
		id = t->atoms.n;
		VEC_PUSH(t->a, &t->atoms, a);
		idset_add(t->a, &t->atom_set, h, id);
	}
	if (t->atoms.v[id].lo == t->atoms.v[id].hi)
		poly_int(out, t->atoms.v[id].lo);
	else
		poly_atom(t, id, out);
	return true;
}

/* A letter and digits: s0, u12. */
static bool name_is_numbered(Str s, char letter)
{
	if (s.n < 2 || s.p[0] != letter)
		return false;
	for (uint32_t i = 1; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return true;
}

bool poly_symbol(Types *t, Str name, Poly *out)
{
	/* Dynamo specialises sizes 0 and 1, so a backed size symbol is at least 2. */
	Atom a = {.op = ATOM_SYMBOL, .lo = name_is_numbered(name, 's') ? 2 : 0, .hi = INT64_MAX};
	return name.n && name.n <= ATOM_TEXT && atom_intern(t, name, &a, out);
}

bool poly_opaque(Types *t, Str text, Poly *out)
{
	Atom a = {.op = ATOM_OPAQUE, .lo = INT64_MIN, .hi = INT64_MAX};
	return text.n && text.n <= ATOM_TEXT && atom_intern(t, text, &a, out);
}

static bool atom_binary(Types *t, AtomOp op, const Poly *a, const Poly *b, Range r, Poly *out)
{
	Atom x = {.op = (uint8_t)op, .nargs = 2, .lo = r.lo, .hi = r.hi};
	Label l = {.n = 0}, y;
	if (op == ATOM_FLOORDIV) {
		label_add(&l, S("("));
		operand_label(t, a, false, &l);
		label_add(&l, S("//"));
		operand_label(t, b, true, &l);
	} else {
		label_add(&l, S("Mod("));
		poly_label(t, a, &y);
		label_add(&l, (Str){y.p, y.n});
		label_add(&l, S(", "));
		l.over |= y.over;
		poly_label(t, b, &y);
		label_add(&l, (Str){y.p, y.n});
		l.over |= y.over;
	}
	label_add(&l, S(")"));
	x.args[0] = poly_intern(t, a);
	x.args[1] = poly_intern(t, b);
	return !l.over && atom_intern(t, (Str){l.p, l.n}, &x, out);
}

/* ---- quotients ---- */

/* The one term of p that is a quotient by a number, coefficient 1; NULL for none or several. */
static const Term *poly_inner_quotient(const Types *t, const Poly *p, Poly *x, int64_t *by)
{
	const Term *found = NULL;
	for (uint32_t i = 0; i < p->n; i++) {
		const Mono *m = &t->monos.v[p->t[i].mono];
		if (m->degree != 1 || p->t[i].coef != 1)
			continue;
		const Atom *q = &t->atoms.v[t->factors.v[m->at].atom];
		int64_t c;
		if (q->op != ATOM_FLOORDIV || !expr_value(t, q->args[1], &c))
			continue;
		if (found)
			return NULL;
		found = &p->t[i];
		*by = c;
		poly_of(t, q->args[0], x);
	}
	return found;
}

/* Moves what c > 0 divides from *p to *whole (may be NULL); coefficients left are 0..c-1. */
static bool poly_split(Poly *p, int64_t c, Poly *whole)
{
	Poly rest = {.n = 0};
	for (uint32_t i = 0; i < p->n; i++) {
		int64_t q = int_floor_div(p->t[i].coef, c), r = p->t[i].coef % c;
		r += r < 0 ? c : 0;
		if (whole && !poly_add_term(whole, q, p->t[i].mono))
			return false;
		if (!poly_add_term(&rest, r, p->t[i].mono))
			return false;
	}
	poly_copy(p, &rest);
	return true;
}

/* y + n and c > 0, n the number in *p, 0 <= n < c: divides y and c by their common *factor g, and
 * n by g rounding down, with *rest what that loses. False when g is 1. */
static bool poly_reduce(Poly *p, int64_t *c, int64_t *rest, int64_t *factor)
{
	uint64_t g = int_gcd(poly_content(p, false), (uint64_t)*c);
	*rest = 0;
	*factor = (int64_t)g;
	if (g <= 1)
		return false;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->t[i].mono == MONO_ONE) {
			int64_t n = p->t[i].coef;
			*rest = n % (int64_t)g; /* n >= 0 */
			break;
		}
	poly_add_term(p, -*rest, MONO_ONE);
	poly_shrink(p, (int64_t)g);
	*c /= (int64_t)g;
	return true;
}

/* (a // c), c > 0. Exact parts are moved out, common factors cancelled and quotients of quotients
 * joined, so that (((s1//2) + 1)//2) and ((s1 + 2)//4) are one atom. */
static bool floordiv_number(Types *t, const Poly *a, int64_t c, Poly *out)
{
	Poly p = *a, whole = {.n = 0}, x, div;
	for (;;) {
		int64_t rest, factor, by, joined;
		if (!poly_split(&p, c, &whole))
			return false;
		if (poly_value(&p, &rest)) { /* 0 <= rest < c */
			poly_copy(out, &whole);
			return true;
		}
		if (poly_reduce(&p, &c, &rest, &factor))
			continue;
		const Term *q = poly_inner_quotient(t, &p, &x, &by);
		if (!q || __builtin_mul_overflow(by, c, &joined))
			break;
		Poly outer = p;
		if (!poly_add_term(&outer, -1, q->mono) || !poly_add(&x, &outer, by))
			break;
		p = x;
		c = joined;
	}
	Range r = poly_range(t, &p);
	r.lo = r.lo == INT64_MIN ? r.lo : int_floor_div(r.lo, c);
	r.hi = r.hi == INT64_MAX ? r.hi : int_floor_div(r.hi, c);
	poly_int(&div, c);
	if (r.lo == r.hi)
		poly_int(&p, r.lo);
	else if (!atom_binary(t, ATOM_FLOORDIV, &p, &div, r, &p))
		return false;
	if (!poly_add(&p, &whole, 1))
		return false;
	poly_copy(out, &p);
	return true;
}

/* Cancels what all terms of both have in common; not 0, as somebody divided by it. */
static void poly_cancel(Types *t, Poly *a, Poly *b)
{
	uint32_t m = mono_gcd(t, poly_common(t, a), poly_common(t, b));
	uint64_t g = int_gcd(poly_content(a, true), poly_content(b, true));
	if (m != MONO_ONE) {
		poly_div_mono(t, a, m);
		poly_div_mono(t, b, m);
	}
	if (g > 1 && g <= INT64_MAX) {
		poly_shrink(a, (int64_t)g);
		poly_shrink(b, (int64_t)g);
	}
}

static bool poly_negate(Poly *p)
{
	Poly q = {.n = 0};
	if (!poly_add(&q, p, -1))
		return false;
	poly_copy(p, &q);
	return true;
}

/* Moves the terms of *p that the single term b divides to *whole, divided. */
static bool poly_split_term(Types *t, Poly *p, const Term *b, Poly *whole)
{
	Poly rest = {.n = 0};
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t m = mono_div(t, p->t[i].mono, b->mono);
		bool exact = m != MONO_NONE && b->coef > 0 && p->t[i].coef % b->coef == 0;
		if (exact ? !poly_add_term(whole, p->t[i].coef / b->coef, m)
		          : !poly_add_term(&rest, p->t[i].coef, p->t[i].mono))
			return false;
	}
	poly_copy(p, &rest);
	return true;
}

static Range range_of_quotient(Range a, Range b)
{
	Range r = any_value;
	if (b.lo < 1 || a.lo < 0)
		return r;
	r.lo = b.hi == INT64_MAX ? 0 : a.lo / b.hi;
	if (a.hi != INT64_MAX)
		r.hi = a.hi / b.lo;
	return r;
}

/* Is 0 <= a < b for all values? */
static bool poly_below(Types *t, const Poly *a, const Poly *b)
{
	Poly d = *b;
	return poly_range(t, a).lo >= 0 && poly_add(&d, a, -1) && poly_range(t, &d).lo > 0;
}

bool poly_floordiv(Types *t, const Poly *a, const Poly *b, Poly *out)
{
	Poly p = *a, q = *b, whole = {.n = 0};
	int64_t c;
	if (!q.n)
		return false;
	if (poly_div_exact(t, &p, &q, out))
		return true;
	poly_cancel(t, &p, &q);
	if (q.t[0].coef < 0 && (!poly_negate(&p) || !poly_negate(&q)))
		return false;
	if (!poly_value(&q, &c)) {
		/* a / (c * q) with q dividing a leaves a number below */
		uint64_t content = poly_content(&q, true);
		Poly prim = q;
		if (content <= INT64_MAX) {
			poly_shrink(&prim, (int64_t)content);
			if (poly_div_exact(t, &p, &prim, &p))
				return floordiv_number(t, &p, (int64_t)content, out);
		}
	} else if (c > 0) {
		return floordiv_number(t, &p, c, out);
	}
	if (q.n == 1 && !poly_split_term(t, &p, &q.t[0], &whole))
		return false;
	if (poly_below(t, &p, &q))
		poly_int(&p, 0);
	else if (!atom_binary(t, ATOM_FLOORDIV, &p, &q,
	                      range_of_quotient(poly_range(t, &p), poly_range(t, &q)), &p))
		return false;
	if (!poly_add(&p, &whole, 1))
		return false;
	poly_copy(out, &p);
	return true;
}

/* Mod(a, c), c > 0, as Python's %. */
static bool mod_number(Types *t, const Poly *a, int64_t c, Poly *out)
{
	Poly p = *a, div;
	int64_t v, rest, factor;
	if (!poly_split(&p, c, NULL))
		return false;
	if (poly_value(&p, &v)) {
		poly_copy(out, &p);
		return true;
	}
	/* Mod(g*y + n, g*c) is g*Mod(y, c) + n for n < g */
	poly_reduce(&p, &c, &rest, &factor);
	poly_int(&div, c);
	if (!poly_below(t, &p, &div) && !atom_binary(t, ATOM_MOD, &p, &div, (Range){0, c - 1}, &p))
		return false;
	Poly r = {.n = 0};
	if (!poly_add(&r, &p, factor > 1 ? factor : 1) || !poly_add_term(&r, rest, MONO_ONE))
		return false;
	poly_copy(out, &r);
	return true;
}

bool poly_mod(Types *t, const Poly *a, const Poly *b, Poly *out)
{
	Poly p = *a, ignored = {.n = 0};
	int64_t c;
	if (!b->n)
		return false;
	if (poly_value(b, &c) && c > 0)
		return mod_number(t, a, c, out);
	if (poly_div_exact(t, a, b, &p)) {
		poly_int(out, 0);
		return true;
	}
	p = *a;
	if (b->n == 1 && !poly_split_term(t, &p, &b->t[0], &ignored))
		return false;
	if (poly_below(t, &p, b)) {
		poly_copy(out, &p);
		return true;
	}
	Range r = poly_range(t, b);
	r = r.lo < 1 ? any_value : (Range){0, r.hi == INT64_MAX ? r.hi : r.hi - 1};
	return atom_binary(t, ATOM_MOD, &p, b, r, out);
}

/* ---- maximum and minimum ---- */

typedef struct Operands {
	ExprId v[ATOM_ARGS];
	uint32_t n;
} Operands;

/* Adds e unless an operand makes it needless, and drops those that it makes needless. */
static bool operands_add(Types *t, Operands *o, ExprId e, bool max)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < o->n; i++)
		if (expr_ge(t, max ? o->v[i] : e, max ? e : o->v[i]) == TRI_MUST)
			return true;
	for (uint32_t i = 0; i < o->n; i++)
		if (expr_ge(t, max ? e : o->v[i], max ? o->v[i] : e) != TRI_MUST)
			o->v[n++] = o->v[i];
	o->n = n;
	if (n == ATOM_ARGS)
		return false;
	o->v[o->n++] = e;
	return true;
}

/* p, or the operands of p when it is itself such a maximum or minimum. */
static bool operands_of(Types *t, Operands *o, const Poly *p, AtomOp op)
{
	const Mono *m = p->n == 1 ? &t->monos.v[p->t[0].mono] : NULL;
	if (m && m->degree == 1 && p->t[0].coef == 1) {
		Atom a = t->atoms.v[t->factors.v[m->at].atom];
		if (a.op == op) {
			for (uint32_t i = 0; i < a.nargs; i++)
				if (!operands_add(t, o, a.args[i], op == ATOM_MAX))
					return false;
			return true;
		}
	}
	return operands_add(t, o, poly_intern(t, p), op == ATOM_MAX);
}

static bool extreme_atom(Types *t, const Operands *o, AtomOp op, Poly *out)
{
	Atom x = {.op = (uint8_t)op, .nargs = (uint8_t)o->n};
	Label l = {.n = 0}, text[ATOM_ARGS];
	uint32_t order[ATOM_ARGS];
	Poly p;
	for (uint32_t i = 0; i < o->n; i++) {
		Range r = expr_range(t, o->v[i]);
		uint32_t k = i;
		poly_of(t, o->v[i], &p);
		poly_label(t, &p, &text[i]);
		l.over |= text[i].over;
		for (; k; k--) {
			const Label *b = &text[order[k - 1]];
			if (str_cmp((Str){b->p, b->n}, (Str){text[i].p, text[i].n}) <= 0)
				break;
			order[k] = order[k - 1];
		}
		order[k] = i;
		x.lo = !i || (op == ATOM_MAX ? r.lo > x.lo : r.lo < x.lo) ? r.lo : x.lo;
		x.hi = !i || (op == ATOM_MAX ? r.hi > x.hi : r.hi < x.hi) ? r.hi : x.hi;
	}
	label_add(&l, op == ATOM_MAX ? S("Max(") : S("Min("));
	for (uint32_t i = 0; i < o->n; i++) {
		if (i)
			label_add(&l, S(", "));
		label_add(&l, (Str){text[order[i]].p, text[order[i]].n});
		x.args[i] = o->v[order[i]];
	}
	label_add(&l, S(")"));
	return !l.over && atom_intern(t, (Str){l.p, l.n}, &x, out);
}

bool poly_extreme(Types *t, const Poly *a, const Poly *b, bool max, Poly *out)
{
	AtomOp op = max ? ATOM_MAX : ATOM_MIN;
	Operands o = {.n = 0};
	if (!operands_of(t, &o, a, op) || !operands_of(t, &o, b, op))
		return false;
	if (o.n == 1) {
		poly_of(t, o.v[0], out);
		return true;
	}
	return extreme_atom(t, &o, op, out);
}

/* ---- the functions of types.h ---- */

ExprId expr_int(Types *t, int64_t v)
{
	Poly p;
	poly_int(&p, v);
	return poly_intern(t, &p);
}

ExprId expr_symbol(Types *t, Str name)
{
	Poly p;
	return poly_symbol(t, name, &p) ? poly_intern(t, &p) : (ExprId){0};
}

bool expr_value(const Types *t, ExprId e, int64_t *out)
{
	const Expr *x = &t->exprs.v[e.i];
	if (!e.i || x->n > 1 || (x->n == 1 && t->terms.v[x->at].mono != MONO_ONE))
		return false;
	*out = x->n ? t->terms.v[x->at].coef : 0;
	return true;
}

ExprId expr_add(Types *t, ExprId a, ExprId b)
{
	Poly p, q;
	if (!a.i || !b.i)
		return (ExprId){0};
	poly_of(t, a, &p);
	poly_of(t, b, &q);
	return poly_add(&p, &q, 1) ? poly_intern(t, &p) : (ExprId){0};
}

ExprId expr_sub(Types *t, ExprId a, ExprId b)
{
	Poly p, q;
	if (!a.i || !b.i)
		return (ExprId){0};
	poly_of(t, a, &p);
	poly_of(t, b, &q);
	return poly_add(&p, &q, -1) ? poly_intern(t, &p) : (ExprId){0};
}

static ExprId expr_apply(Types *t, ExprId a, ExprId b,
                         bool (*f)(Types *t, const Poly *a, const Poly *b, Poly *out))
{
	Poly p, q;
	if (!a.i || !b.i)
		return (ExprId){0};
	poly_of(t, a, &p);
	poly_of(t, b, &q);
	return f(t, &p, &q, &p) ? poly_intern(t, &p) : (ExprId){0};
}

ExprId expr_mul(Types *t, ExprId a, ExprId b)
{
	int64_t x, y, r;
	if (expr_value(t, a, &x) && expr_value(t, b, &y))
		return __builtin_mul_overflow(x, y, &r) ? (ExprId){0} : expr_int(t, r);
	return expr_apply(t, a, b, poly_mul);
}

ExprId expr_floordiv(Types *t, ExprId a, ExprId b)
{
	return expr_apply(t, a, b, poly_floordiv);
}

ExprId expr_mod(Types *t, ExprId a, ExprId b)
{
	return expr_apply(t, a, b, poly_mod);
}

static bool poly_max(Types *t, const Poly *a, const Poly *b, Poly *out)
{
	return poly_extreme(t, a, b, true, out);
}

static bool poly_min(Types *t, const Poly *a, const Poly *b, Poly *out)
{
	return poly_extreme(t, a, b, false, out);
}

ExprId expr_max(Types *t, ExprId a, ExprId b)
{
	return expr_apply(t, a, b, poly_max);
}

ExprId expr_min(Types *t, ExprId a, ExprId b)
{
	return expr_apply(t, a, b, poly_min);
}

/* Is p different from 0 for all values of its atoms? False when that cannot be told. */
static bool poly_never_zero(Types *t, Poly *p)
{
	uint32_t common = poly_common(t, p);
	const Factor *f = mono_factors(t, common);
	for (uint32_t i = 0; i < t->monos.v[common].n; i++)
		if (t->atoms.v[f[i].atom].lo < 1 && t->atoms.v[f[i].atom].hi > -1)
			return false;
	if (common != MONO_ONE)
		poly_div_mono(t, p, common);
	uint64_t step = poly_content(p, false);
	for (uint32_t i = 0; i < p->n && step; i++)
		if (p->t[i].mono == MONO_ONE && int_magnitude(p->t[i].coef) % step)
			return true; /* a number that is no multiple of all the rest */
	Range r = poly_range(t, p);
	return r.lo > 0 || r.hi < 0;
}

static bool expr_never_zero(Types *t, ExprId e)
{
	if (t->exprs.v[e.i].zero == ZERO_NOT_ASKED) {
		Poly p;
		poly_of(t, e, &p);
		bool never = poly_never_zero(t, &p);
		t->exprs.v[e.i].zero = never ? ZERO_NEVER : ZERO_MAYBE;
	}
	return t->exprs.v[e.i].zero == ZERO_NEVER;
}

Tri expr_eq(Types *t, ExprId a, ExprId b)
{
	int64_t x, y;
	if (!a.i || !b.i)
		return TRI_MAY;
	if (a.i == b.i)
		return TRI_MUST;
	if (expr_value(t, a, &x) && expr_value(t, b, &y))
		return TRI_NO;
	/* The sign does not matter: one order asks about one difference. */
	ExprId d = a.i < b.i ? expr_sub(t, a, b) : expr_sub(t, b, a);
	return d.i && expr_never_zero(t, d) ? TRI_NO : TRI_MAY;
}

Tri expr_ge(Types *t, ExprId a, ExprId b)
{
	int64_t x, y;
	if (!a.i || !b.i)
		return TRI_MAY;
	if (a.i == b.i)
		return TRI_MUST;
	if (expr_value(t, a, &x) && expr_value(t, b, &y))
		return x >= y ? TRI_MUST : TRI_NO;
	ExprId d = expr_sub(t, a, b);
	if (!d.i)
		return TRI_MAY;
	Range r = expr_range(t, d);
	return r.lo >= 0 ? TRI_MUST : r.hi < 0 ? TRI_NO : TRI_MAY;
}

/* ---- values ---- */

enum { EVAL_DEPTH = 64 }; /* atoms within atoms; their text is capped, so deeper ones do not occur */

typedef struct Eval {
	bool (*symbol)(void *ctx, Str name, int64_t *out);
	void *ctx;
} Eval;

static bool eval_poly(const Types *t, ExprId e, const Eval *ev, uint32_t depth, int64_t *out);

static bool eval_atom(const Types *t, const Atom *a, const Eval *ev, uint32_t depth, int64_t *out)
{
	int64_t x = 0, y = 0;
	if (a->op == ATOM_SYMBOL)
		return ev->symbol(ev->ctx, a->text, out);
	if (a->op == ATOM_OPAQUE || !a->nargs || !eval_poly(t, a->args[0], ev, depth + 1, &x))
		return false;
	for (uint32_t i = 1; i < a->nargs; i++) {
		if (!eval_poly(t, a->args[i], ev, depth + 1, &y))
			return false;
		if ((a->op == ATOM_FLOORDIV || a->op == ATOM_MOD) && y <= 0)
			return false;
		int64_t q = a->op == ATOM_FLOORDIV || a->op == ATOM_MOD ? int_floor_div(x, y) : 0;
		x = a->op == ATOM_FLOORDIV ? q : a->op == ATOM_MOD ? x - q * y : a->op == ATOM_MAX ? (x > y ? x : y) : (x < y ? x : y);
	}
	*out = x;
	return true;
}

static bool eval_poly(const Types *t, ExprId e, const Eval *ev, uint32_t depth, int64_t *out)
{
	Poly p;
	int64_t sum = 0;
	if (!e.i || depth > EVAL_DEPTH)
		return false;
	poly_of(t, e, &p);
	for (uint32_t i = 0; i < p.n; i++) {
		int64_t product = p.t[i].coef, v;
		const Factor *f = mono_factors(t, p.t[i].mono);
		for (uint32_t k = 0; k < t->monos.v[p.t[i].mono].n; k++) {
			if (!eval_atom(t, &t->atoms.v[f[k].atom], ev, depth, &v))
				return false;
			for (uint32_t n = 0; n < f[k].power; n++)
				if (__builtin_mul_overflow(product, v, &product))
					return false;
		}
		if (__builtin_add_overflow(sum, product, &sum))
			return false;
	}
	*out = sum;
	return true;
}

bool expr_eval(const Types *t, ExprId e, bool (*symbol)(void *ctx, Str name, int64_t *out), void *ctx, int64_t *out)
{
	return eval_poly(t, e, &(Eval){symbol, ctx}, 0, out);
}

bool expr_is_symbol(const Types *t, ExprId e, Str *name)
{
	Poly p;
	if (!e.i)
		return false;
	poly_of(t, e, &p);
	if (p.n != 1 || p.t[0].coef != 1 || t->monos.v[p.t[0].mono].n != 1)
		return false;
	const Factor *f = mono_factors(t, p.t[0].mono);
	*name = t->atoms.v[f->atom].text;
	return f->power == 1 && t->atoms.v[f->atom].op == ATOM_SYMBOL;
}
