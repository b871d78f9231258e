/* SPDX-License-Identifier: MIT */
#include "facts_priv.h"

/* ---- words ---- */

Str fact_kind_name(FactKind k)
{
	static const Str words[] = {
#define FACT_KIND(id, word) STR_INIT(word),
#include "fact_kinds.def"
#undef FACT_KIND
	};
	ASSERT(k < FK_N);
	return words[k];
}

Str fact_cond_name(FactCond c)
{
	static const Str words[] = {
#define FACT_COND(id, word) STR_INIT(word),
#include "fact_conds.def"
#undef FACT_COND
	};
	ASSERT(c < FC_N);
	return words[c];
}

Str fact_tag_name(FactTag t)
{
	static const Str words[] = {
#define FACT_TAG(id, word) STR_INIT(word),
#include "fact_tags.def"
#undef FACT_TAG
	};
	ASSERT(t < FT_N);
	return words[t];
}

Str family_name(Family f)
{
	static const Str words[] = {
#define FAMILY(id, word) STR_INIT(word),
#include "families.def"
#undef FAMILY
	};
	ASSERT(f < FAM_N);
	return words[f];
}

/* ---- the store ---- */

Facts *facts_new(Arena *a, Names *names)
{
	Facts *f = NEW(a, Facts);
	f->a = a;
	f->names = names;
	f->by_name.a = f->by_mangled.a = f->resolved.a = f->nearest.a = a;
	VEC_PUSH(a, &f->groups, ((Group){0}));
	return f;
}

uint32_t facts_count(const Facts *f)
{
	return f->rows.n;
}

const Fact *facts_at(const Facts *f, uint32_t i)
{
	ASSERT(i < f->rows.n);
	return &f->rows.v[i]->fact;
}

uint32_t facts_group(const Facts *f, Family family, Str name)
{
	Sym sym = sym_find(f->names, name);
	return sym_none(sym) ? 0 : map_get(&f->by_name, name_key(family, sym));
}

/* ---- joining rows ---- */

static bool has_result(const Fact *f)
{
	return f->outs.nalts == 0 || f->outs.n[0] > 0 || (f->outs.nalts == 2 && f->outs.n[1] > 0);
}

static bool same_target(const FactArg *a, const FactArg *b)
{
	return a->index == b->index && a->result == b->result && a->each == b->each &&
	       a->grad == b->grad && a->buffer == b->buffer && a->parameter == b->parameter &&
	       sym_eq(a->name, b->name);
}

static FactArg *find_target(FactArg *v, uint32_t n, const FactArg *what)
{
	for (uint32_t i = 0; i < n; i++)
		if (same_target(&v[i], what))
			return &v[i];
	return NULL;
}

typedef struct ArgList {
	FactArg *v;
	uint32_t n;
} ArgList;

static ArgList row_args(const Fact *f, bool mutates)
{
	return mutates ? (ArgList){f->mutates, f->nmutates} : (ArgList){f->alias, f->nalias};
}

/* What any of the rows names, in their order; `sometimes` where another row does not name it. */
static ArgList join_args(Arena *a, const Fact *const *rows, uint32_t n, bool mutates)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < n; i++)
		most += row_args(rows[i], mutates).n;
	ArgList out = {NEW_N(a, FactArg, most), 0};
	for (uint32_t i = 0; i < n; i++) {
		ArgList in = row_args(rows[i], mutates);
		for (uint32_t k = 0; k < in.n; k++) {
			FactArg *old = find_target(out.v, out.n, &in.v[k]);
			if (!old) {
				out.v[out.n++] = in.v[k];
				continue;
			}
			old->maybe |= in.v[k].maybe;
			if (!sym_eq(old->when, in.v[k].when))
				old->when = (Sym){0};
		}
	}
	for (uint32_t k = 0; k < out.n; k++)
		for (uint32_t i = 0; i < n; i++) {
			ArgList in = row_args(rows[i], mutates);
			if (!find_target(in.v, in.n, &out.v[k]))
				out.v[k].sometimes = true;
		}
	return out;
}

static FactKind join_kind(const Fact *const *rows, uint32_t n)
{
	unsigned kinds = 0;
	uint32_t sharing = 0;
	for (uint32_t i = 0; i < n; i++) {
		kinds |= 1u << rows[i]->kind;
		sharing += rows[i]->nalias > 0;
	}
	if (kinds == 1u << rows[0]->kind)
		return rows[0]->kind;
	static const FactKind strongest[] = {FK_UNKNOWN, FK_SUBGRAPH, FK_METADATA};
	for (uint32_t i = 0; i < sizeof strongest / sizeof *strongest; i++)
		if (kinds >> strongest[i] & 1)
			return strongest[i];
	if (sharing) {
		bool certain = !(kinds & ~(1u << FK_VIEW | 1u << FK_INPLACE | 1u << FK_OUT));
		return certain && sharing == n ? FK_VIEW : FK_MAYBE_VIEW;
	}
	if (kinds & (1u << FK_MUTATES | 1u << FK_OUT))
		return FK_MUTATES;
	return kinds >> FK_FRESH & 1 ? FK_FRESH : FK_SCALAR;
}

/* The one condition that some row names; FC_NONE when they name different ones. */
static FactCond join_cond(const Fact *const *rows, uint32_t n)
{
	FactCond c = FC_NONE;
	for (uint32_t i = 0; i < n; i++) {
		if (rows[i]->cond == FC_NONE || rows[i]->cond == c)
			continue;
		if (c != FC_NONE)
			return FC_NONE;
		c = rows[i]->cond;
	}
	return c;
}

static uint64_t tag_bit(FactTag t)
{
	return (uint64_t)1 << t;
}

/* Tags that promise something hold only when all rows have them; those that warn, when any has. */
static uint64_t join_tags(const Fact *const *rows, uint32_t n)
{
	uint64_t any = 0, all = ~(uint64_t)0;
	for (uint32_t i = 0; i < n; i++) {
		any |= rows[i]->tags;
		all &= rows[i]->tags;
	}
	uint64_t promise = tag_bit(FT_SAME_OBJECT) | tag_bit(FT_POINTWISE) | tag_bit(FT_FIXED_STRIDES);
	uint64_t tags = (any & ~promise) | (all & promise);
	if ((any & ~all) & tag_bit(FT_SAME_OBJECT))
		tags |= tag_bit(FT_MAYBE_SAME_OBJECT);
	return tags;
}

static bool same_alternative(const FactOuts *a, uint32_t i, const FactOuts *b, uint32_t k)
{
	return a->n[i] == b->n[k] && memcmp(a->member[i], b->member[k], a->n[i]) == 0;
}

static FactOuts join_outs(const Fact *const *rows, uint32_t n)
{
	FactOuts out = {0};
	for (uint32_t i = 0; i < n; i++) {
		const FactOuts *o = &rows[i]->outs;
		if (o->nalts == 0)
			return (FactOuts){0};
		for (uint32_t k = 0; k < o->nalts; k++) {
			bool known = false;
			for (uint32_t j = 0; j < out.nalts; j++)
				known |= same_alternative(&out, j, o, k);
			if (known)
				continue;
			if (out.nalts == 2)
				return (FactOuts){0};
			out.n[out.nalts] = o->n[k];
			memcpy(out.member[out.nalts++], o->member[k], sizeof o->member[k]);
		}
	}
	return out;
}

static bool any_sometimes(ArgList l)
{
	for (uint32_t i = 0; i < l.n; i++)
		if (l.v[i].sometimes)
			return true;
	return false;
}

static VersionSpan span_hull(VersionSpan a, VersionSpan b)
{
	if (b.lo < a.lo) /* 0 is open */
		a.lo = b.lo;
	if (a.hi && (!b.hi || b.hi > a.hi))
		a.hi = b.hi;
	return a;
}

Fact facts_join(Arena *a, const Fact *const *rows, uint32_t n)
{
	ASSERT(n > 0);
	/* A row without a result says nothing about the memory of one: where a result is used, the
	 * others hold. */
	const Fact **with = NEW_N(a, const Fact *, n);
	uint32_t nwith = 0;
	for (uint32_t i = 0; i < n; i++)
		if (has_result(rows[i]))
			with[nwith++] = rows[i];
	const Fact *const *about = nwith ? with : rows;
	if (!nwith)
		nwith = n;
	Fact out = *rows[0];
	ArgList alias = join_args(a, about, nwith, false), mutates = join_args(a, rows, n, true);
	out.kind = join_kind(about, nwith);
	out.cond = join_cond(rows, n);
	out.tags = join_tags(about, nwith);
	out.outs = join_outs(rows, n);
	out.alias = alias.v;
	out.nalias = alias.n;
	out.mutates = mutates.v;
	out.nmutates = mutates.n;
	out.joined = any_sometimes(alias) || any_sometimes(mutates);
	for (uint32_t i = 0; i < n; i++) {
		const Fact *r = rows[i];
		out.joined |=
			r->joined || r->cond != rows[0]->cond || (has_result(r) && r->kind != about[0]->kind);
		out.user |= r->user;
		out.span = span_hull(out.span, r->span);
	}
	return out;
}

/* ---- looking up ---- */

static bool spans_meet(VersionSpan a, VersionSpan b)
{
	return !(a.hi && b.lo && b.lo > a.hi) && !(a.lo && b.hi && b.hi < a.lo);
}

typedef struct Rows {
	const Fact *v[2 * MAX_ROWS_OF_NAME];
	uint32_t n;
	uint32_t group; /* of the first row */
} Rows;

/* Adds the rows of a group that hold for some of these versions; all of them when none does: the
 * dump's version may be misread, and a name that is printed exists. */
static void rows_add(const Facts *f, Rows *r, uint32_t group, VersionSpan torch)
{
	uint32_t before = r->n;
	if (!group)
		return;
	if (!r->n)
		r->group = group;
	for (int all = 0; all < 2 && r->n == before; all++)
		for (const Row *row = f->groups.v[group].first; row; row = row->next)
			if (all || spans_meet(row->fact.span, torch)) {
				ASSERT(r->n < sizeof r->v / sizeof *r->v);
				r->v[r->n++] = &row->fact;
			}
}

static const Fact *rows_fact(Facts *f, const Rows *r)
{
	if (r->n <= 1)
		return r->n ? r->v[0] : NULL;
	Group *g = &f->groups.v[r->group];
	for (Joined *j = g->joined; j; j = j->next)
		if (j->n == r->n && memcmp(j->rows, r->v, r->n * sizeof *r->v) == 0)
			return &j->fact;
	Joined *j = NEW(f->a, Joined);
	j->n = r->n;
	j->rows = NEW_N(f->a, const Fact *, r->n);
	memcpy(j->rows, r->v, r->n * sizeof *r->v);
	j->fact = facts_join(f->a, j->rows, j->n);
	j->next = g->joined;
	g->joined = j;
	return &j->fact;
}

const Fact *facts_find(Facts *f, Callee callee, Str target, VersionSpan torch)
{
	if (callee == CALLEE_MODULE && !str_ends(target, S("]")))
		return facts_find_module(f, target, 0, false, torch);
	uint32_t g = facts_resolve(f, callee, target);
	if (!g)
		return NULL;
	if (f->groups.v[g].n == 1)
		return &f->groups.v[g].first->fact;
	Rows r;
	r.n = 0;
	rows_add(f, &r, g, torch);
	return rows_fact(f, &r);
}

static uint32_t module_group(const Facts *f, Str cls, Str inplace, Str mode)
{
	char buf[MAX_NAME];
	if ((uint64_t)cls.n + inplace.n + mode.n > sizeof buf)
		return 0;
	memcpy(buf, cls.p, cls.n);
	if (inplace.n)
		memcpy(buf + cls.n, inplace.p, inplace.n);
	memcpy(buf + cls.n + inplace.n, mode.p, mode.n);
	return facts_group(f, FAM_MODULE, (Str){buf, cls.n + inplace.n + mode.n});
}

const Fact *facts_find_module(Facts *f, Str cls, int mode, bool inplace, VersionSpan torch)
{
	static const Str modes[] = {STR_INIT("[train]"), STR_INIT("[eval]")};
	Rows r;
	r.n = 0;
	/* A printed tree has Linear, a printed class may be torch.nn.modules.linear.Linear. */
	uint32_t dot = str_rfind(cls, S("."));
	if (dot < cls.n)
		cls = str_sub(cls, dot + 1, cls.n);
	if (!cls.n)
		return NULL;
	for (int m = 1; m <= 2; m++) {
		if (mode && mode != m)
			continue;
		uint32_t g = inplace ? module_group(f, cls, S("(inplace=True)"), modes[m - 1]) : 0;
		if (!g)
			g = module_group(f, cls, (Str){0}, modes[m - 1]);
		rows_add(f, &r, g, torch);
	}
	return rows_fact(f, &r);
}

uint32_t facts_params(Facts *f, Callee callee, Str target, const Overload **out)
{
	const Group *g = &f->groups.v[facts_resolve(f, callee, target)];
	*out = g->params;
	return g->nparams;
}

/* ---- text ---- */

static void arg_entry_text(const Facts *f, const FactArg *a, Buf *out)
{
	if (a->result >= 0)
		buf_printf(out, "r%d=", a->result);
	if (a->index >= 0)
		buf_printf(out, "%d:", a->index);
	buf_add(out, a->buffer ? S("buf.") : a->parameter ? S("par.") : (Str){0});
	buf_add(out, sym_str(f->names, a->name));
	buf_add(out, a->each ? S("[*]") : (Str){0});
	buf_add(out, a->grad ? S(".grad") : (Str){0});
	buf_add(out, a->maybe ? S("?") : (Str){0});
	buf_add(out, sym_str(f->names, a->when));
	buf_add(out, a->sometimes ? S("~") : (Str){0});
}

static void arg_list_text(const Facts *f, ArgList l, Buf *out)
{
	buf_char(out, '\t');
	if (!l.n)
		buf_char(out, '-');
	for (uint32_t i = 0; i < l.n; i++) {
		if (i)
			buf_char(out, ',');
		arg_entry_text(f, &l.v[i], out);
	}
}

static void outs_text(const FactOuts *o, Buf *out)
{
	if (!o->nalts)
		buf_char(out, '?');
	for (uint32_t i = 0; i < o->nalts; i++) {
		if (i)
			buf_char(out, '|');
		if (!o->n[i])
			buf_char(out, '-');
		for (uint32_t k = 0; k < o->n[i]; k++) {
			char m = o->member[i][k];
			if (k)
				buf_char(out, ',');
			buf_add(out, m == 'o' ? S("t?") : m == 'L' ? S("t[]") : m == 'v' ? S("v") : S("t"));
		}
	}
}

static void tags_text(uint64_t tags, Buf *out)
{
	bool first = true;
	for (uint32_t t = 0; t < FT_N; t++)
		if (tags >> t & 1) {
			if (!first)
				buf_char(out, ',');
			buf_add(out, fact_tag_name((FactTag)t));
			first = false;
		}
	if (first)
		buf_char(out, '-');
}

static void version_text(Version v, Buf *out)
{
	if (v)
		buf_printf(out, "\t%u.%u", v / 100, v % 100);
	else
		buf_add(out, S("\t-"));
}

void fact_text(const Facts *f, const Fact *row, Buf *out)
{
	Str name = sym_str(f->names, row->name), family = family_name(row->family);
	if (row->family == FAM_DISPATCH) {
		family = str_sub(name, S("torch.ops.").n, name.n);
		family = str_sub(family, 0, str_find_char(family, '.', 0));
	}
	buf_printf(out, STR_FMT "\t" STR_FMT "\t" STR_FMT, STR_ARG(family), STR_ARG(name),
	           STR_ARG(fact_kind_name(row->kind)));
	arg_list_text(f, row_args(row, false), out);
	arg_list_text(f, row_args(row, true), out);
	buf_char(out, '\t');
	outs_text(&row->outs, out);
	buf_printf(out, "\t" STR_FMT "\t", STR_ARG(fact_cond_name(row->cond)));
	tags_text(row->tags, out);
	buf_char(out, '\t');
	buf_add(out, sym_none(row->aten) ? S("-") : sym_str(f->names, row->aten));
	version_text(row->span.lo, out);
	version_text(row->span.hi, out);
	if (row->joined)
		buf_add(out, S("\tjoined"));
}
