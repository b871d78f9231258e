/* SPDX-License-Identifier: MIT */
#include "expr.h"

/* ---- hash tables of ids ---- */

uint32_t idset_next(const IdSet *s, uint64_t hash, uint32_t *probe)
{
	if (!s->cap)
		return 0;
	for (;;) {
		const IdSlot *k = &s->v[(hash + (*probe)++) & (s->cap - 1)];
		if (!k->id || k->hash == hash)
			return k->id;
	}
}

static void idset_put(IdSet *s, uint64_t hash, uint32_t id)
{
	for (uint64_t i = hash;; i++) {
		IdSlot *k = &s->v[i & (s->cap - 1)];
		if (!k->id) {
			*k = (IdSlot){hash, id};
			return;
		}
	}
}

void idset_add(Arena *a, IdSet *s, uint64_t hash, uint32_t id)
{
	if (s->n * 2 >= s->cap) {
		IdSet old = *s, now = {.n = s->n, .cap = s->cap ? s->cap * 2 : 64};
		now.v = NEW_N(a, IdSlot, now.cap);
		for (uint32_t i = 0; i < old.cap; i++)
			if (old.v[i].id)
				idset_put(&now, old.v[i].hash, old.v[i].id);
		*s = now;
		arena_drop(a, old.v, old.cap * sizeof *old.v);
	}
	idset_put(s, hash, id);
	s->n++;
}

static uint64_t hash_mix(uint64_t h, uint64_t x)
{
	return hash_u64(h ^ (x + 0x9e3779b97f4a7c15u));
}

/* ---- products of atoms ---- */

/* Id of the product of factors f[0..n), which are in ascending order of atom. */
static uint32_t mono_intern(Types *t, const Factor *f, uint32_t n)
{
	uint64_t h = hash_mix(t->names->seed, n), degree = 0;
	uint32_t probe = 0, id;
	for (uint32_t i = 0; i < n; i++) {
		h = hash_mix(h, (uint64_t)f[i].atom << 32 | f[i].power);
		degree += f[i].power;
	}
	if (degree > POLY_DEGREE)
		return MONO_NONE;
	while ((id = idset_next(&t->mono_set, h, &probe))) {
		const Mono *m = &t->monos.v[id];
		bool same = m->n == n;
		for (uint32_t i = 0; same && i < n; i++)
			same = t->factors.v[m->at + i].atom == f[i].atom &&
			       t->factors.v[m->at + i].power == f[i].power;
		if (same)
			return id;
	}
	Mono m = {t->factors.n, n, (uint32_t)degree};
	for (uint32_t i = 0; i < n; i++)
		VEC_PUSH(t->a, &t->factors, f[i]);
	id = t->monos.n;
	VEC_PUSH(t->a, &t->monos, m);
	idset_add(t->a, &t->mono_set, h, id);
	return id;
}

const Factor *mono_factors(const Types *t, uint32_t mono)
{
	return t->factors.v + t->monos.v[mono].at;
}

uint32_t mono_power(const Types *t, uint32_t mono, uint32_t atom)
{
	const Factor *f = mono_factors(t, mono);
	for (uint32_t i = 0; i < t->monos.v[mono].n; i++)
		if (f[i].atom == atom)
			return f[i].power;
	return 0;
}

static uint32_t mono_mul(Types *t, uint32_t a, uint32_t b)
{
	const Mono *x = &t->monos.v[a], *y = &t->monos.v[b];
	const Factor *f = mono_factors(t, a), *g = mono_factors(t, b);
	Factor out[2 * POLY_DEGREE];
	uint32_t n = 0, i = 0, j = 0;
	if (a == MONO_ONE || b == MONO_ONE)
		return a == MONO_ONE ? b : a;
	while (i < x->n || j < y->n)
		if (j == y->n || (i < x->n && f[i].atom < g[j].atom))
			out[n++] = f[i++];
		else if (i == x->n || g[j].atom < f[i].atom)
			out[n++] = g[j++];
		else
			out[n++] = (Factor){f[i].atom, f[i].power + g[j].power}, i++, j++;
	return mono_intern(t, out, n);
}

uint32_t mono_div(Types *t, uint32_t a, uint32_t b)
{
	const Factor *f = mono_factors(t, a), *g = mono_factors(t, b);
	uint32_t n = 0, j = 0, nb = t->monos.v[b].n;
	Factor out[POLY_DEGREE];
	for (uint32_t i = 0; i < t->monos.v[a].n; i++) {
		uint32_t power = f[i].power;
		if (j < nb && g[j].atom == f[i].atom) {
			if (g[j].power > power)
				return MONO_NONE;
			power -= g[j++].power;
		}
		if (power)
			out[n++] = (Factor){f[i].atom, power};
	}
	return j == nb ? mono_intern(t, out, n) : MONO_NONE;
}

uint32_t mono_gcd(Types *t, uint32_t a, uint32_t b)
{
	const Factor *f = mono_factors(t, a);
	Factor out[POLY_DEGREE];
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->monos.v[a].n; i++) {
		uint32_t p = mono_power(t, b, f[i].atom);
		if (p)
			out[n++] = (Factor){f[i].atom, p < f[i].power ? p : f[i].power};
	}
	return mono_intern(t, out, n);
}

/* Degree first, then powers of the lowest atom that differs: products keep this order, as division
 * needs. */
static int mono_cmp(const Types *t, uint32_t a, uint32_t b)
{
	const Mono *x = &t->monos.v[a], *y = &t->monos.v[b];
	const Factor *f = mono_factors(t, a), *g = mono_factors(t, b);
	if (x->degree != y->degree)
		return x->degree < y->degree ? -1 : 1;
	for (uint32_t i = 0; i < x->n && i < y->n; i++) {
		if (f[i].atom != g[i].atom)
			return f[i].atom < g[i].atom ? 1 : -1;
		if (f[i].power != g[i].power)
			return f[i].power < g[i].power ? -1 : 1;
	}
	return 0;
}

/* ---- polynomials ---- */

void poly_of(const Types *t, ExprId e, Poly *out)
{
	const Expr *x = &t->exprs.v[e.i];
	ASSERT(e.i && e.i < t->exprs.n);
	out->n = x->n;
	for (uint32_t i = 0; i < x->n; i++)
		out->t[i] = t->terms.v[x->at + i];
}

void poly_int(Poly *p, int64_t v)
{
	p->n = v != 0;
	p->t[0] = (Term){v, MONO_ONE};
}

bool poly_value(const Poly *p, int64_t *out)
{
	if (p->n > 1 || (p->n == 1 && p->t[0].mono != MONO_ONE))
		return false;
	*out = p->n ? p->t[0].coef : 0;
	return true;
}

void poly_copy(Poly *out, const Poly *p)
{
	if (out == p)
		return;
	out->n = p->n;
	memcpy(out->t, p->t, p->n * sizeof *p->t);
}

bool poly_add_term(Poly *p, int64_t coef, uint32_t mono)
{
	uint32_t lo = 0, hi = p->n;
	if (!coef)
		return true;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (p->t[mid].mono < mono)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < p->n && p->t[lo].mono == mono) {
		if (__builtin_add_overflow(p->t[lo].coef, coef, &p->t[lo].coef))
			return false;
		if (!p->t[lo].coef) {
			memmove(p->t + lo, p->t + lo + 1, (p->n - lo - 1) * sizeof *p->t);
			p->n--;
		}
		return true;
	}
	if (p->n == POLY_TERMS)
		return false;
	memmove(p->t + lo + 1, p->t + lo, (p->n - lo) * sizeof *p->t);
	p->t[lo] = (Term){coef, mono};
	p->n++;
	return true;
}

bool poly_add(Poly *p, const Poly *q, int64_t scale)
{
	for (uint32_t i = 0; i < q->n; i++) {
		int64_t c;
		if (__builtin_mul_overflow(q->t[i].coef, scale, &c) || !poly_add_term(p, c, q->t[i].mono))
			return false;
	}
	return true;
}

/* *p += coef * mono * *q */
static bool poly_add_product(Types *t, Poly *p, int64_t coef, uint32_t mono, const Poly *q)
{
	for (uint32_t i = 0; i < q->n; i++) {
		uint32_t m = mono_mul(t, mono, q->t[i].mono);
		int64_t c;
		if (m == MONO_NONE || __builtin_mul_overflow(coef, q->t[i].coef, &c))
			return false;
		if (!poly_add_term(p, c, m))
			return false;
	}
	return true;
}

bool poly_mul(Types *t, const Poly *a, const Poly *b, Poly *out)
{
	Poly p = {.n = 0};
	for (uint32_t i = 0; i < a->n; i++)
		if (!poly_add_product(t, &p, a->t[i].coef, a->t[i].mono, b))
			return false;
	poly_copy(out, &p);
	return true;
}

bool poly_pow(Types *t, const Poly *a, uint32_t power, Poly *out)
{
	Poly p;
	poly_int(&p, 1);
	if (power > POLY_DEGREE) {
		int64_t v;
		if (!poly_value(a, &v) || power > 64)
			return false;
	}
	for (uint32_t i = 0; i < power; i++)
		if (!poly_mul(t, &p, a, &p))
			return false;
	poly_copy(out, &p);
	return true;
}

static const Term *poly_lead(const Types *t, const Poly *p)
{
	const Term *best = p->t;
	for (uint32_t i = 1; i < p->n; i++)
		if (mono_cmp(t, p->t[i].mono, best->mono) > 0)
			best = &p->t[i];
	return best;
}

bool poly_div_exact(Types *t, const Poly *a, const Poly *b, Poly *out)
{
	Poly rem = *a, q = {.n = 0};
	if (!b->n)
		return false;
	Term lead = *poly_lead(t, b);
	while (rem.n) {
		Term r = *poly_lead(t, &rem);
		uint32_t m = mono_div(t, r.mono, lead.mono);
		if (m == MONO_NONE || (lead.coef == -1 && r.coef == INT64_MIN) || r.coef % lead.coef)
			return false;
		int64_t c = r.coef / lead.coef;
		if (c == INT64_MIN || !poly_add_term(&q, c, m) || !poly_add_product(t, &rem, -c, m, b))
			return false;
	}
	poly_copy(out, &q);
	return true;
}

uint64_t int_magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

uint64_t int_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = a % b;
		a = b;
		b = r;
	}
	return a;
}

int64_t int_floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;
	return q - (a % b != 0 && (a < 0) != (b < 0));
}

void poly_shrink(Poly *p, int64_t by)
{
	for (uint32_t i = 0; i < p->n; i++)
		p->t[i].coef /= by;
}

uint64_t poly_content(const Poly *p, bool all)
{
	uint64_t g = 0;
	for (uint32_t i = 0; i < p->n; i++)
		if (all || p->t[i].mono != MONO_ONE)
			g = int_gcd(g, int_magnitude(p->t[i].coef));
	return g;
}

uint32_t poly_common(Types *t, const Poly *p)
{
	uint32_t m = p->n ? p->t[0].mono : MONO_ONE;
	for (uint32_t i = 1; i < p->n && m != MONO_ONE; i++)
		m = mono_gcd(t, m, p->t[i].mono);
	return m;
}

void poly_div_mono(Types *t, Poly *p, uint32_t mono)
{
	Poly q = {.n = 0};
	for (uint32_t i = 0; i < p->n; i++)
		poly_add_term(&q, p->t[i].coef, mono_div(t, p->t[i].mono, mono));
	poly_copy(p, &q);
}

ExprId poly_intern(Types *t, const Poly *p)
{
	uint64_t h = hash_mix(t->names->seed, p->n);
	uint32_t probe = 0, id;
	for (uint32_t i = 0; i < p->n; i++)
		h = hash_mix(hash_mix(h, (uint64_t)p->t[i].coef), p->t[i].mono);
	while ((id = idset_next(&t->expr_set, h, &probe))) {
		const Expr *e = &t->exprs.v[id];
		bool same = e->n == p->n;
		for (uint32_t i = 0; same && i < p->n; i++)
			same = t->terms.v[e->at + i].coef == p->t[i].coef &&
			       t->terms.v[e->at + i].mono == p->t[i].mono;
		if (same)
			return (ExprId){id};
	}
	Expr e = {.at = t->terms.n, .n = p->n};
	for (uint32_t i = 0; i < p->n; i++)
		VEC_PUSH(t->a, &t->terms, p->t[i]);
	id = t->exprs.n;
	VEC_PUSH(t->a, &t->exprs, e);
	idset_add(t->a, &t->expr_set, h, id);
	return (ExprId){id};
}

bool poly_replace(Types *t, const Poly *p, uint32_t atom, const Poly *value, Poly *out)
{
	Poly r = {.n = 0};
	for (uint32_t i = 0; i < p->n; i++) {
		Factor rest[POLY_DEGREE];
		uint32_t n = 0, power = 0;
		const Factor *f = mono_factors(t, p->t[i].mono);
		for (uint32_t k = 0; k < t->monos.v[p->t[i].mono].n; k++)
			if (f[k].atom == atom)
				power = f[k].power;
			else
				rest[n++] = f[k];
		Poly v;
		if (!power) {
			if (!poly_add_term(&r, p->t[i].coef, p->t[i].mono))
				return false;
			continue;
		}
		if (!poly_pow(t, value, power, &v))
			return false;
		if (!poly_add_product(t, &r, p->t[i].coef, mono_intern(t, rest, n), &v))
			return false;
	}
	poly_copy(out, &r);
	return true;
}

bool poly_atoms(const Types *t, const Poly *p, uint32_t *atoms, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		const Factor *f = mono_factors(t, p->t[i].mono);
		for (uint32_t k = 0; k < t->monos.v[p->t[i].mono].n; k++) {
			uint32_t j = 0;
			while (j < *n && atoms[j] != f[k].atom)
				j++;
			if (j < *n)
				continue;
			if (*n == POLY_ATOMS)
				return false;
			atoms[(*n)++] = f[k].atom;
		}
	}
	return true;
}

bool poly_has_atom(const Types *t, const Poly *p, uint32_t atom)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (mono_power(t, p->t[i].mono, atom))
			return true;
	return false;
}

void poly_atom(Types *t, uint32_t atom, Poly *out)
{
	Factor f = {atom, 1};
	*out = (Poly){.n = 1, .t = {{1, mono_intern(t, &f, 1)}}};
}

/* ---- an empty interner ---- */

void exprs_init(Types *t)
{
	VEC_PUSH(t->a, &t->atoms, ((Atom){.op = 0}));
	VEC_PUSH(t->a, &t->factors, ((Factor){0})); /* so that no range starts at a null pointer */
	VEC_PUSH(t->a, &t->terms, ((Term){0}));
	VEC_PUSH(t->a, &t->monos, ((Mono){0}));
	VEC_PUSH(t->a, &t->exprs, ((Expr){0}));
	uint32_t one = mono_intern(t, NULL, 0);
	ASSERT(one == MONO_ONE);
}
