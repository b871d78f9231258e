/* SPDX-License-Identifier: MIT */
#include "term_range.h"

#include <math.h>

typedef enum RangeKind { RANGE_NONE, RANGE_CONST, RANGE_PASS, RANGE_HULL, RANGE_LAST, RANGE_SIGN, RANGE_POSITIVE } RangeKind;

typedef struct RangeRow {
	Str op;
	RangeKind kind;
	float lo, hi;
} RangeRow;

#define INF HUGE_VALF
static const RangeRow rows_of[] = {
#define RANGE(op, kind, lo, hi) {STR_INIT(op), RANGE_##kind, lo, hi},
#include "term_ranges.def"
#undef RANGE
};

static const TermRange all = {-INF, INF};

enum { ROW_WHERE = 10000, ROW_CLAMP_MIN, ROW_CLAMP_MAX, ROW_NEG, ROW_ADD, ROW_SUB, ROW_GT, ROW_GE, ROW_LT, ROW_LE };

/* Besides the rows: operators with a rule of their own, and comparisons under keys that no operator has. */
static uint64_t compare_key(Sym op)
{
	return (1ull << 40) | op.i;
}

Map term_ranges(Arena *a, Names *names)
{
	static const struct {
		Str op;
		uint32_t row;
	} own[] = {{STR_INIT("where"), ROW_WHERE}, {STR_INIT("clamp_min"), ROW_CLAMP_MIN},
	           {STR_INIT("clamp_max"), ROW_CLAMP_MAX}, {STR_INIT("neg"), ROW_NEG},
	           {STR_INIT("add"), ROW_ADD}, {STR_INIT("sub"), ROW_SUB}},
	  compares[] = {{STR_INIT("gt"), ROW_GT}, {STR_INIT("ge"), ROW_GE}, {STR_INIT("lt"), ROW_LT}, {STR_INIT("le"), ROW_LE}};
	Map m = {.a = a};
	for (uint32_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++)
		map_put(&m, sym_intern(names, rows_of[i].op).i, i + 1);
	for (uint32_t i = 0; i < sizeof own / sizeof *own; i++)
		map_put(&m, sym_intern(names, own[i].op).i, own[i].row);
	for (uint32_t i = 0; i < sizeof compares / sizeof *compares; i++)
		map_put(&m, compare_key(sym_intern(names, compares[i].op)), compares[i].row);
	return m;
}

static float least(float a, float b) { return a < b ? a : b; }
static float most(float a, float b) { return a > b ? a : b; }

static TermRange hull(TermRange a, TermRange b)
{
	return (TermRange){least(a.lo, b.lo), most(a.hi, b.hi)};
}

static TermRange meet(TermRange a, TermRange b)
{
	TermRange r = {most(a.lo, b.lo), least(a.hi, b.hi)};
	return r.lo <= r.hi ? r : a;
}

/* A bound that all floating dtypes hold, so that what is stored lies on the same side. */
static float down(double v)
{
	if (v >= 256)
		return 256;
	if (fabs(v) <= 2)
		return (float)(floor(v * 64) / 64);
	return v >= -256 ? (float)floor(v) : -INF;
}

static TermRange of_number(double v)
{
	return isnan(v) ? all : (TermRange){down(v), -down(-v)};
}

static TermRange of(const Terms *t, TermId id)
{
	const Term *x = term_get(t, id);
	return x->kind == TERM_NUM ? of_number(x->num) : x->kind == TERM_OP ? x->range : all;
}

/* What a comparison of x with a number that came out as `holds` says about x. */
static TermRange told_by(const Terms *t, Map *rows, TermId cond, TermId x, bool holds)
{
	const Term *c = term_get(t, cond);
	if (c->kind != TERM_OP || c->n != 2 || term_args(t, c)[0].i != x.i)
		return all;
	const Term *k = term_get(t, term_args(t, c)[1]);
	if (k->kind != TERM_NUM)
		return all;
	TermRange r = of_number(k->num);
	switch (map_get(rows, compare_key(c->op))) {
	case ROW_GT:
	case ROW_GE: return holds ? (TermRange){r.lo, INF} : (TermRange){-INF, r.hi};
	case ROW_LT:
	case ROW_LE: return holds ? (TermRange){-INF, r.hi} : (TermRange){r.lo, INF};
	default: return all;
	}
}

static TermRange over(const Terms *t, const TermId *args, uint32_t n, RangeKind kind)
{
	TermRange r = of(t, args[kind == RANGE_LAST ? n - 1 : 0]);
	for (uint32_t i = 1; i < n && kind != RANGE_PASS && kind != RANGE_LAST; i++)
		r = hull(r, of(t, args[i]));
	if (kind == RANGE_PASS || kind == RANGE_HULL || kind == RANGE_LAST)
		return r;
	bool both = kind == RANGE_SIGN;
	return (TermRange){r.lo >= 0 ? 0 : -INF, both && r.hi <= 0 ? 0 : INF};
}

/* f32_to_i64 and its like, which sem_convert makes */
static bool is_conversion(const Terms *t, Sym op)
{
	return str_has(sym_str(terms_names(t), op), S("_to_"));
}

static TermRange own_rule(const Terms *t, Map *rows, uint32_t row, const TermId *args, uint32_t n)
{
	TermRange r = of(t, args[0]);
	if (row == ROW_NEG && n == 1)
		return (TermRange){-r.hi, -r.lo};
	TermRange by = n > 1 ? of(t, args[1]) : all;
	if (row == ROW_SUB)
		by = (TermRange){-by.hi, -by.lo};
	if ((row == ROW_ADD || row == ROW_SUB) && n == 2)
		return (TermRange){down((double)r.lo + by.lo), -down(-((double)r.hi + by.hi))};
	if (row == ROW_CLAMP_MIN && n == 2)
		return (TermRange){most(r.lo, of(t, args[1]).lo), most(r.hi, of(t, args[1]).hi)};
	if (row == ROW_CLAMP_MAX && n == 2)
		return (TermRange){least(r.lo, of(t, args[1]).lo), least(r.hi, of(t, args[1]).hi)};
	if (row == ROW_WHERE && n == 3)
		return hull(meet(of(t, args[1]), told_by(t, rows, args[0], args[1], true)),
		            meet(of(t, args[2]), told_by(t, rows, args[0], args[2], false)));
	return all;
}

TermRange term_range(const Terms *t, Map *rows, Sym op, const TermId *args, uint32_t n, uint64_t extra)
{
	uint32_t at = map_get(rows, op.i);
	if (!n)
		return all;
	if (at >= ROW_WHERE)
		return extra ? all : own_rule(t, rows, at, args, n);
	if (!at)
		return n == 1 && !extra && is_conversion(t, op) ? of(t, args[0]) : all;
	const RangeRow *row = &rows_of[at - 1];
	if (row->kind == RANGE_CONST)
		return (TermRange){row->lo, row->hi};
	if (extra) /* a position, another result */
		return all;
	if (row->kind == RANGE_POSITIVE && n == 2 && args[0].i == args[1].i)
		return (TermRange){0, INF}; /* a square */
	return over(t, args, n, row->kind);
}
