/* SPDX-License-Identifier: MIT */
#include "term.h"

#include "term_range.h"

#include <math.h>
#include <stdio.h>

enum {
	UNSURE = 1,         /* term 1: everything beyond the limit */
	OPERANDS_EACH = 16  /* of a term in the mean; more count as terms */
};

typedef enum FoldClass { FOLD_NONE, FOLD_IDEMPOTENT, FOLD_INVOLUTION } FoldClass;

/* Operators with a folding of their own. */
typedef enum Arith {
	AR_NOT,
	AR_ADD,
	AR_SUB,
	AR_MUL,
	AR_DIV,
	AR_POW,
	AR_NEG,
	AR_ABS,
	AR_RELU,
	AR_MIN,
	AR_MAX,
	AR_LT,
	AR_LE,
	AR_GT,
	AR_GE,
	AR_EQ,
	AR_NE,
	AR_WHERE,
	AR_CLAMP_MIN,
	AR_CLAMP_MAX
} Arith;

typedef struct TermSlot {
	uint32_t id, hash; /* id 0: free */
} TermSlot;

struct Terms {
	Arena *a;
	Names *names;
	VEC(Term) v;
	VEC(TermId) operands;
	TermSlot *slots;
	uint32_t nslots, limit;
	bool limit_hit;
	Map arith, folds; /* Sym -> Arith, FoldClass */
	Map ranges;       /* of term_ranges */
	Sym vec, softmax, log_softmax;
	Sym where, neg, perhaps;
};

static void name_ops(Terms *t)
{
	static const struct {
		Str name;
		uint32_t what;
	} arith[] = {{STR_INIT("add"), AR_ADD}, {STR_INIT("sub"), AR_SUB}, {STR_INIT("mul"), AR_MUL},
	             {STR_INIT("div"), AR_DIV}, {STR_INIT("pow"), AR_POW}, {STR_INIT("neg"), AR_NEG},
	             {STR_INIT("abs"), AR_ABS}, {STR_INIT("relu"), AR_RELU}, {STR_INIT("minimum"), AR_MIN}, {STR_INIT("maximum"), AR_MAX}, {STR_INIT("lt"), AR_LT},
	             {STR_INIT("le"), AR_LE}, {STR_INIT("gt"), AR_GT}, {STR_INIT("ge"), AR_GE},
	             {STR_INIT("eq"), AR_EQ}, {STR_INIT("ne"), AR_NE}, {STR_INIT("where"), AR_WHERE},
	             {STR_INIT("clamp_min"), AR_CLAMP_MIN}, {STR_INIT("clamp_max"), AR_CLAMP_MAX}};
	static const struct {
		Str name;
		uint32_t what;
	} folds[] = {
#define FOLD(op, cls) {STR_INIT(op), FOLD_##cls},
#include "term_folds.def"
#undef FOLD
	};
	for (uint32_t i = 0; i < sizeof arith / sizeof *arith; i++)
		map_put(&t->arith, sym_intern(t->names, arith[i].name).i, arith[i].what);
	for (uint32_t i = 0; i < sizeof folds / sizeof *folds; i++)
		map_put(&t->folds, sym_intern(t->names, folds[i].name).i, folds[i].what);
}

Terms *terms_new(Arena *a, Names *names, uint32_t limit)
{
	Terms *t = NEW(a, Terms);
	*t = (Terms){.a = a, .names = names, .limit = limit};
	t->arith.a = t->folds.a = a;
	VEC_PUSH(a, &t->v, ((Term){0}));
	VEC_PUSH(a, &t->v, ((Term){.kind = TERM_FRESH, .unsure = true}));
	name_ops(t);
	t->ranges = term_ranges(a, names);
	t->where = sym_intern(names, S("where"));
	t->vec = sym_intern(names, S("vec"));
	t->softmax = sym_intern(names, S("softmax"));
	t->log_softmax = sym_intern(names, S("log_softmax"));
	t->neg = sym_intern(names, S("neg"));
	t->perhaps = sym_intern(names, S("perhaps"));
	return t;
}

const Term *term_get(const Terms *t, TermId id)
{
	ASSERT(id.i < t->v.n);
	return &t->v.v[id.i];
}

const TermId *term_args(const Terms *t, const Term *x)
{
	return x->n ? t->operands.v + x->at : NULL;
}

bool term_is_unsure(const Terms *t, TermId id)
{
	return term_get(t, id)->unsure;
}

static bool surely_differs(const Terms *t, TermId a, TermId b, uint32_t depth, uint32_t *left)
{
	const Term *x = term_get(t, a), *y = term_get(t, b);
	if (a.i == b.i || !*left || depth > 200)
		return false;
	--*left;
	if (!x->unsure && !y->unsure)
		return true;
	if (x->kind != TERM_OP || y->kind != TERM_OP || x->op.i != y->op.i || x->n != y->n || x->extra != y->extra ||
	    x->op.i == t->perhaps.i)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (surely_differs(t, term_args(t, x)[i], term_args(t, y)[i], depth + 1, left))
			return true;
	return false;
}

bool term_surely_differs(const Terms *t, TermId a, TermId b)
{
	uint32_t left = 20000;
	return surely_differs(t, a, b, 0, &left);
}

bool terms_fit(const Terms *t, uint64_t terms, uint64_t operands)
{
	return !t->limit || (terms < t->limit && operands / OPERANDS_EACH <= t->limit);
}

bool terms_limit_hit(const Terms *t)
{
	return t->limit_hit;
}

Names *terms_names(const Terms *t)
{
	return t->names;
}

/* ---- consing ---- */

static uint64_t term_hash(const Term *x, const TermId *args)
{
	uint64_t h = hash_u64((uint64_t)x->kind << 56 ^ (uint64_t)x->op.i << 8 ^ (uint64_t)(unsigned char)x->cls ^ x->extra);
	return hash_bytes(h, args, x->n * sizeof *args);
}

static bool term_equal(const Terms *t, const Term *a, const Term *x, const TermId *args)
{
	return a->kind == x->kind && a->op.i == x->op.i && a->n == x->n && a->extra == x->extra && a->cls == x->cls &&
	       a->unsure == x->unsure &&
	       (a->n == 0 || memcmp(term_args(t, a), args, a->n * sizeof *args) == 0);
}

static TermSlot *term_slot(const Terms *t, const Term *x, const TermId *args, uint32_t hash)
{
	for (uint32_t i = hash;; i++) {
		TermSlot *s = &t->slots[i & (t->nslots - 1)];
		if (!s->id || (s->hash == hash && term_equal(t, &t->v.v[s->id], x, args)))
			return s;
	}
}

static void terms_grow(Terms *t)
{
	arena_drop(t->a, t->slots, t->nslots * sizeof *t->slots);
	t->nslots = t->nslots ? t->nslots * 2 : 4096;
	t->slots = NEW_N(t->a, TermSlot, t->nslots);
	for (uint32_t i = 2; i < t->v.n; i++) {
		const Term *x = &t->v.v[i];
		uint32_t hash = (uint32_t)term_hash(x, term_args(t, x));
		*term_slot(t, x, term_args(t, x), hash) = (TermSlot){i, hash};
	}
}

static TermId cons(Terms *t, Term x, const TermId *args)
{
	if ((uint64_t)t->v.n * 5 >= (uint64_t)t->nslots * 4)
		terms_grow(t);
	uint32_t hash = (uint32_t)term_hash(&x, args);
	TermSlot *s = term_slot(t, &x, args, hash);
	if (s->id)
		return (TermId){s->id};
	if (t->limit && (t->v.n >= t->limit || t->operands.n / OPERANDS_EACH > t->limit)) {
		t->limit_hit = true;
		return (TermId){UNSURE};
	}
	*s = (TermSlot){t->v.n, hash};
	x.at = t->operands.n;
	for (uint32_t i = 0; i < x.n; i++)
		VEC_PUSH(t->a, &t->operands, args[i]);
	VEC_PUSH(t->a, &t->v, x);
	return (TermId){t->v.n - 1};
}

TermsMark terms_mark(const Terms *t)
{
	return (TermsMark){t->v.n, t->operands.n, t->limit_hit};
}

/* Slots are emptied in the reverse order of their filling, so that no probe sequence is cut. */
void terms_rewind(Terms *t, TermsMark m)
{
	ASSERT(m.terms >= 2 && m.terms <= t->v.n);
	while (t->v.n > m.terms) {
		const Term *x = &t->v.v[t->v.n - 1];
		const TermId *args = term_args(t, x);
		*term_slot(t, x, args, (uint32_t)term_hash(x, args)) = (TermSlot){0};
		t->v.n--;
	}
	t->operands.n = m.operands;
	t->limit_hit = m.limit_hit;
}

/* One zero and one NaN: they compare as values do. */
TermId term_num(Terms *t, double v, char cls)
{
	if (v == 0)
		v = 0;
	else if (isnan(v))
		v = (double)NAN;
	return cons(t, (Term){.kind = TERM_NUM, .num = v, .cls = cls}, NULL);
}

TermId term_text(Terms *t, Sym s)
{
	return cons(t, (Term){.kind = TERM_TEXT, .op = s}, NULL);
}

TermId term_fresh(Terms *t, uint64_t name)
{
	return cons(t, (Term){.kind = TERM_FRESH, .extra = name}, NULL);
}

TermId term_unsure(Terms *t, uint64_t name)
{
	return cons(t, (Term){.kind = TERM_FRESH, .extra = name, .unsure = true}, NULL);
}

/* ---- folding ---- */

static bool is_num(const Terms *t, TermId id, double v)
{
	const Term *x = term_get(t, id);
	return x->kind == TERM_NUM && x->num == v;
}

/* Both are numbers that double holds exactly; the result too. */
static bool both_nums(const Terms *t, const TermId *a, double *x, double *y)
{
	const Term *p = term_get(t, a[0]), *q = term_get(t, a[1]);
	*x = p->num;
	*y = q->num;
	return p->kind == TERM_NUM && q->kind == TERM_NUM && isfinite(p->num) && isfinite(q->num);
}

static char cls_of(const Terms *t, const TermId *a)
{
	char p = term_get(t, a[0])->cls, q = term_get(t, a[1])->cls;
	if (p == 'b' && q == 'b')
		return 'b';
	return p == 'f' || q == 'f' ? 'f' : 'i';
}

/* An exact result of integers below 2^53; sums of other numbers round, and stay as they are. */
static bool small_ints(double x, double y)
{
	const double most = 67108864; /* products stay exact */
	return floor(x) == x && floor(y) == y && fabs(x) <= most && fabs(y) <= most;
}

static bool fold_numbers(Terms *t, Arith op, const TermId *a, uint32_t n, TermId *out)
{
	double x, y;
	if (n == 1 && term_get(t, a[0])->kind == TERM_NUM) {
		const Term p = *term_get(t, a[0]);
		switch (op) {
		case AR_NEG: *out = term_num(t, -p.num, p.cls); return true;
		case AR_ABS: *out = term_num(t, fabs(p.num), p.cls); return true;
		case AR_RELU: *out = term_num(t, p.num < 0 ? 0 : p.num, p.cls); return true;
		default: return false;
		}
	}
	if (n != 2 || !both_nums(t, a, &x, &y))
		return false;
	switch (op) {
	case AR_LT: *out = term_num(t, x < y, 'b'); return true;
	case AR_LE: *out = term_num(t, x <= y, 'b'); return true;
	case AR_GT: *out = term_num(t, x > y, 'b'); return true;
	case AR_GE: *out = term_num(t, x >= y, 'b'); return true;
	case AR_EQ: *out = term_num(t, x == y, 'b'); return true;
	case AR_NE: *out = term_num(t, x != y, 'b'); return true;
	case AR_MIN: *out = term_num(t, x < y ? x : y, cls_of(t, a)); return true;
	case AR_MAX: *out = term_num(t, x > y ? x : y, cls_of(t, a)); return true;
	case AR_CLAMP_MIN: *out = term_num(t, x < y ? y : x, cls_of(t, a)); return true;
	case AR_CLAMP_MAX: *out = term_num(t, x > y ? y : x, cls_of(t, a)); return true;
	default: break;
	}
	if (!small_ints(x, y) || cls_of(t, a) == 'b') /* True + True is True among bools */
		return false;
	switch (op) {
	case AR_ADD: *out = term_num(t, x + y, cls_of(t, a)); return true;
	case AR_SUB: *out = term_num(t, x - y, cls_of(t, a)); return true;
	case AR_MUL: *out = term_num(t, x * y, cls_of(t, a)); return true;
	default: return false;
	}
}

/* clamp_min(x, c) of a value that clamp_min with a bound at least c made, also below a clamp_max at least c */
static bool clamped_already(const Terms *t, Sym op, bool is_min, const TermId *a)
{
	const Term *bound = term_get(t, a[1]), *x = term_get(t, a[0]);
	for (uint32_t guard = 0; guard < 4 && x->kind == TERM_OP && x->n == 2; guard++) {
		const TermId *xa = term_args(t, x);
		const Term *b = term_get(t, xa[1]);
		if (bound->kind != TERM_NUM || b->kind != TERM_NUM)
			return sym_eq(x->op, op) && xa[1].i == a[1].i;
		bool other = map_get(&t->arith, x->op.i) == (is_min ? AR_CLAMP_MAX : AR_CLAMP_MIN);
		if (sym_eq(x->op, op))
			return is_min ? b->num >= bound->num : b->num <= bound->num;
		if (!other || (is_min ? b->num < bound->num : b->num > bound->num))
			return false;
		x = term_get(t, xa[0]);
	}
	return x->kind == TERM_NUM && bound->kind == TERM_NUM && (is_min ? x->num >= bound->num : x->num <= bound->num);
}

/* An operand that the operator hands through unchanged, or none. */
static TermId unchanged(const Terms *t, Arith op, Sym sym, const TermId *a, uint32_t n)
{
	const TermId none = {0};
	switch (op) {
	case AR_ADD:
		if (n == 2 && is_num(t, a[1], 0))
			return a[0];
		return n == 2 && is_num(t, a[0], 0) ? a[1] : none;
	case AR_SUB: return n == 2 && is_num(t, a[1], 0) ? a[0] : none;
	case AR_MUL:
		if (n == 2 && is_num(t, a[1], 1))
			return a[0];
		return n == 2 && is_num(t, a[0], 1) ? a[1] : none;
	case AR_DIV:
	case AR_POW: return n == 2 && is_num(t, a[1], 1) ? a[0] : none;
	case AR_MIN:
	case AR_MAX: return n == 2 && a[0].i == a[1].i ? a[0] : none;
	case AR_WHERE:
		if (n != 3)
			return none;
		if (term_get(t, a[0])->kind == TERM_NUM)
			return term_get(t, a[0])->num != 0 ? a[1] : a[2];
		return a[1].i == a[2].i ? a[1] : none;
	case AR_CLAMP_MIN:
	case AR_CLAMP_MAX: return n == 2 && clamped_already(t, sym, op == AR_CLAMP_MIN, a) ? a[0] : none;
	default: return none;
	}
}

/* Does c imply the mask m? It is c itself, or where(c, true, d). */
static bool implied_by(const Terms *t, Sym where, TermId m, TermId c)
{
	const Term *x = term_get(t, m);
	return m.i == c.i || (x->kind == TERM_OP && sym_eq(x->op, where) && x->n == 3 && term_args(t, x)[0].i == c.i &&
	                      term_get(t, term_args(t, x)[1])->kind == TERM_NUM && term_get(t, term_args(t, x)[1])->num != 0);
}

/* where(m, x, where(c, y, z)) is where(m, x, z) when c implies m: what a later masked write covers is gone. */
static TermId inner_where(Terms *t, Sym op, const TermId *a)
{
	const Term *in = term_get(t, a[2]);
	if (in->kind == TERM_OP && sym_eq(in->op, op) && in->n == 3 && implied_by(t, op, a[0], term_args(t, in)[0]))
		return term_op(t, op, (TermId[]){a[0], a[1], term_args(t, in)[2]}, 3, 0);
	return (TermId){0};
}

static bool is_compare(Arith a)
{
	return a >= AR_LT && a <= AR_NE;
}

/* An operator with a number looks through a masked write of a number: gt(where(c, 3, x), 0) is where(c, 1, gt(x, 0)),
 * mul(where(c, 3, x), 2) is where(c, 6, mul(x, 2)). */
static TermId through_where(Terms *t, Sym op, Sym where, const TermId *a)
{
	const Term *x = term_get(t, a[0]);
	TermId w[3];
	uint32_t depth = 0; /* a chain of masked writes: only short ones are looked through */
	for (const Term *in = x; in->kind == TERM_OP && sym_eq(in->op, where) && in->n == 3 && depth < 9; depth++)
		in = term_get(t, term_args(t, in)[2]);
	if (depth > 8)
		return (TermId){0};
	if (term_get(t, a[1])->kind != TERM_NUM || x->kind != TERM_OP || !sym_eq(x->op, where) || x->n != 3)
		return (TermId){0};
	memcpy(w, term_args(t, x), sizeof w);
	if (term_get(t, w[1])->kind != TERM_NUM)
		return (TermId){0};
	TermId yes = term_op(t, op, (TermId[]){w[1], a[1]}, 2, 0), no = term_op(t, op, (TermId[]){w[2], a[1]}, 2, 0);
	if (term_get(t, yes)->kind != TERM_NUM)
		return (TermId){0}; /* not exact as a double: kept as it is */
	if (no.i == w[0].i && is_compare((Arith)map_get(&t->arith, op.i)) && term_get(t, yes)->num != 0) /* where(c, true, c) */
		return no;
	return term_op(t, where, (TermId[]){w[0], yes, no}, 3, 0);
}

static TermRange range_of(const Terms *t, TermId id)
{
	const Term *x = term_get(t, id);
	double v = x->num;
	if (x->kind == TERM_NUM && !isnan(v)) /* within a float of it; equal where it is one */
		return (TermRange){(float)v <= v ? (float)v : nextafterf((float)v, -HUGE_VALF),
		                   (float)v >= v ? (float)v : nextafterf((float)v, HUGE_VALF)};
	return x->kind == TERM_OP ? x->range : (TermRange){-HUGE_VALF, HUGE_VALF};
}

/* What follows from where the operands lie: a comparison that comes out one way, a bound that is kept already. */
static TermId by_range(Terms *t, Arith op, const TermId *a, uint32_t n)
{
	TermRange x = range_of(t, a[0]), y = n > 1 ? range_of(t, a[1]) : x;
	if (n == 1 && op == AR_RELU && x.hi <= 0)
		return term_num(t, 0, 'f');
	if (n == 1 && (op == AR_RELU || op == AR_ABS))
		return x.lo >= 0 ? a[0] : (TermId){0};
	if (n != 2)
		return (TermId){0};
	bool less = x.hi < y.lo, more = x.lo > y.hi, at_most = x.hi <= y.lo, at_least = x.lo >= y.hi;
	switch (op) {
	case AR_LT: return less || at_least ? term_num(t, less, 'b') : (TermId){0};
	case AR_LE: return at_most || more ? term_num(t, at_most, 'b') : (TermId){0};
	case AR_GT: return more || at_most ? term_num(t, more, 'b') : (TermId){0};
	case AR_GE: return at_least || less ? term_num(t, at_least, 'b') : (TermId){0};
	case AR_EQ:
	case AR_NE: return less || more ? term_num(t, op == AR_NE, 'b') : (TermId){0};
	case AR_CLAMP_MIN:
	case AR_MAX: return at_least ? a[0] : at_most && op == AR_MAX ? a[1] : (TermId){0};
	case AR_CLAMP_MAX:
	case AR_MIN: return at_most ? a[0] : at_least && op == AR_MIN ? a[1] : (TermId){0};
	default: return (TermId){0};
	}
}

/* x of x + c, with c a number; none. */
static TermId without_shift(const Terms *t, TermId id, TermId c)
{
	const Term *x = term_get(t, id);
	bool shifted = x->kind == TERM_OP && x->n == 2 && !x->extra && map_get(&t->arith, x->op.i) == AR_ADD;
	return shifted && term_args(t, x)[1].i == c.i && term_get(t, c)->kind == TERM_NUM ? term_args(t, x)[0] : (TermId){0};
}

/* A lane of equal elements gives each the same share, whatever they are. */
static TermId equal_share(Terms *t, Sym op, const TermId *a)
{
	const Term lane = *term_get(t, a[1]);
	if (lane.kind != TERM_OP || lane.op.i != t->vec.i || lane.extra || !lane.n)
		return (TermId){0};
	for (uint32_t i = 0; i < lane.n; i++)
		if (term_args(t, &lane)[i].i != a[0].i)
			return (TermId){0};
	return term_num(t, sym_eq(op, t->softmax) ? 1.0 / lane.n : -log(lane.n), 'f');
}

/* softmax(x + c) is softmax(x): of an element and its lane. Equal up to rounding, as a sum in another order is. */
static TermId unshifted(Terms *t, Sym op, const TermId *a)
{
	enum { MOST = 256 };
	const Term lane = *term_get(t, a[1]), *x = term_get(t, a[0]);
	TermId v[MOST], c = x->kind == TERM_OP && x->n == 2 ? term_args(t, x)[1] : (TermId){0}, e = {0};
	if (!c.i || lane.kind != TERM_OP || lane.op.i != t->vec.i || lane.extra || lane.n > MOST)
		return (TermId){0};
	e = without_shift(t, a[0], c);
	for (uint32_t i = 0; i < lane.n && e.i; i++) {
		v[i] = without_shift(t, term_args(t, &lane)[i], c);
		e = v[i].i ? e : (TermId){0};
	}
	return e.i ? term_op(t, op, (TermId[]){e, term_op(t, t->vec, v, lane.n, 0)}, 2, 0) : (TermId){0};
}

TermId term_op(Terms *t, Sym op, const TermId *args, uint32_t n, uint64_t extra)
{
	Arith arith = (Arith)map_get(&t->arith, op.i);
	FoldClass fold = (FoldClass)map_get(&t->folds, op.i);
	TermId out = {0};
	if (arith && !extra) {
		out = unchanged(t, arith, op, args, n);
		if (!out.i && arith == AR_WHERE && n == 3)
			out = inner_where(t, op, args);
		if (!out.i && n == 2 && (is_compare(arith) || arith <= AR_DIV))
			out = through_where(t, op, t->where, args);
		if (!out.i && arith == AR_MUL && n == 2 && is_num(t, args[1], -1)) /* twice is nothing */
			out = term_op(t, t->neg, args, 1, 0);
		if (out.i || fold_numbers(t, arith, args, n, &out))
			return out;
		out = by_range(t, arith, args, n);
		if (out.i)
			return out;
	}
	if (fold != FOLD_NONE && n == 1 && !extra) {
		const Term *x = term_get(t, args[0]);
		if (x->kind == TERM_OP && sym_eq(x->op, op) && x->n == 1)
			return fold == FOLD_IDEMPOTENT ? args[0] : term_args(t, x)[0];
	}
	if (n == 2 && !extra && (sym_eq(op, t->softmax) || sym_eq(op, t->log_softmax))) {
		out = equal_share(t, op, args);
		if (!out.i)
			out = unshifted(t, op, args);
		if (out.i)
			return out;
	}
	Term x = {.kind = TERM_OP, .op = op, .n = n, .extra = extra, .range = term_range(t, &t->ranges, op, args, n, extra)};
	for (uint32_t i = 0; i < n; i++)
		x.unsure |= term_get(t, args[i])->unsure;
	return cons(t, x, args);
}

void term_text_of(const Terms *t, TermId id, uint32_t depth, Buf *out)
{
	const Term *x = term_get(t, id);
	switch ((TermKind)x->kind) {
	case TERM_NONE: buf_add(out, S("?")); break;
	case TERM_NUM: buf_printf(out, "%.17g", x->num); break;
	case TERM_TEXT: buf_add(out, sym_str(t->names, x->op)); break;
	case TERM_FRESH: buf_printf(out, "%s%llx", x->unsure ? "~" : "$", (unsigned long long)(x->extra & 0xffff)); break;
	case TERM_OP:
		buf_printf(out, STR_FMT "(", STR_ARG(sym_str(t->names, x->op)));
		for (uint32_t i = 0; i < x->n && depth; i++) {
			buf_add(out, i ? S(", ") : S(""));
			term_text_of(t, term_args(t, x)[i], depth - 1, out);
		}
		buf_add(out, depth ? S(")") : S("...)"));
		break;
	}
}
