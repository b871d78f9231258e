/* SPDX-License-Identifier: MIT
 * GL501: dtypes that contradict the operator or the other side of a boundary, and long reductions in half precision. */
#include "check_links.h"

/* Terms from which on a sum of equal numbers stands still in bfloat16. */
enum { LONG_REDUCTION = 256 };

typedef enum DtypeRole { DTYPE_IS_NONE, DTYPE_IS_CERTAIN, DTYPE_IS_REDUCED, DTYPE_IS_RUNNING } DtypeRole;

static DtypeRole role_of(Str op)
{
	static const struct {
		Str op;
		DtypeRole role;
	} known[] = {
#define DTYPE_CERTAIN(op) {STR_INIT(op), DTYPE_IS_CERTAIN},
#define DTYPE_REDUCES(op, running) {STR_INIT(op), (running) ? DTYPE_IS_RUNNING : DTYPE_IS_REDUCED},
#include "dtype_checks.def"
#undef DTYPE_CERTAIN
#undef DTYPE_REDUCES
	};
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(known[i].op, op))
			return known[i].role;
	return DTYPE_IS_NONE;
}

static bool is_half(DType d)
{
	return d == DT_F16 || d == DT_BF16;
}

/* ---- against the operator ---- */

static const Type *printed(const CheckCtx *c, const Graph *g, NodeId id)
{
	return type_get(c->t, graph_node(g, id)->type);
}

typedef struct Operands {
	const CheckCtx *c;
	const Graph *g;
	bool all_printed;
	NodeId first;
} Operands;

static void look_at_operand(void *ctx, NodeId id)
{
	Operands *o = ctx;
	o->all_printed &= printed(o->c, o->g, id)->dtype != DT_NONE;
	o->first = o->first.i ? o->first : id;
}

static void contradiction(const CheckCtx *c, const CheckGraph *cg, NodeId id, DType is, DType expected)
{
	const Graph *g = cg->g;
	const Node *n = graph_node(g, id);
	Operands o = {.c = c, .g = g, .all_printed = true};
	for (uint32_t i = 0; i < n->nargs; i++)
		arg_each_node(g, &node_args(g, n)[i], look_at_operand, &o);
	Finding *f = check_finding(c, CHECK_GL501, o.all_printed ? SEV_WARNING : SEV_NOTE, g, id);
	f->variant = S("contradicts");
	f->certainty = TRI_MUST;
	diag_var(c->d, f, S("what"), dtype_shown(is));
	diag_var(c->d, f, S("text"), dtype_shown(expected));
	if (o.first.i)
		check_step(c, f, ROLE_PLACE, g, o.first, "the operand is " STR_FMT, STR_ARG(dtype_shown(check_type(c, cg, o.first)->dtype)));
	check_step(c, f, ROLE_PLACE, g, id, "the result is printed as " STR_FMT, STR_ARG(dtype_shown(is)));
}

/* Nodes whose operator alone decides the dtype, and for which one is printed. */
static bool *certain_nodes(const CheckCtx *c, const CheckGraph *cg, uint32_t *count)
{
	const Graph *g = cg->g;
	bool *want = NEW_N(c->scratch, bool, g->nodes.n + 1);
	*count = 0;
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		const Type *t = printed(c, g, (NodeId){i});
		want[i] = n->kind == NK_CALL && n->callee != CALLEE_MODULE && cg->fact[i] && t->kind == TK_TENSOR && !t->wrapped &&
		          t->dtype != DT_NONE && role_of(operator_short(c->p, n)) == DTYPE_IS_CERTAIN;
		*count += want[i];
	}
	return want;
}

static void check_against_operators(const CheckCtx *c, const CheckGraph *cg)
{
	const Graph *g = cg->g;
	uint32_t count;
	bool *want = certain_nodes(c, cg, &count);
	if (!count)
		return;
	bool asked = c->cfg->torch.lo || c->cfg->torch.hi;
	const DType *expected = infer_dtypes(c->p, g, c->t, c->f, c->shapes, asked ? c->cfg->torch : g->torch, cg->nt, want, c->scratch);
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		DType is = printed(c, g, (NodeId){i})->dtype;
		if (want[i] && expected[i] != DT_NONE && expected[i] != is)
			contradiction(c, cg, (NodeId){i}, is, expected[i]);
	}
}

/* ---- reductions ---- */

static int64_t elements(const CheckCtx *c, const Type *t)
{
	int64_t n;
	ExprId e = t->has_shape ? type_numel(c->t, t) : (ExprId){0};
	return e.i && expr_value(c->t, e, &n) ? n : -1;
}

/* How many numbers make one of the result; -1 unknown. */
static int64_t reduced_length(const CheckCtx *c, const Graph *g, NodeId id, const Type *x, const Type *r, DtypeRole role)
{
	int64_t from = elements(c, x), to = elements(c, r), size;
	if (role == DTYPE_IS_REDUCED)
		return from > 0 && to > 0 ? from / to : -1;
	const Arg *dim = call_arg(c->f, g, graph_node(g, id), 1, S("dim"));
	if (!dim || dim->kind != AR_INT || !x->has_shape || dim->u.num >= (int64_t)x->ndim || dim->u.num < -(int64_t)x->ndim)
		return -1;
	ExprId e = x->size[dim->u.num < 0 ? dim->u.num + x->ndim : dim->u.num];
	return e.i && expr_value(c->t, e, &size) ? size : -1;
}

static void reduction(const CheckCtx *c, const CheckGraph *cg, NodeId id, DtypeRole role)
{
	const Node *n = graph_node(cg->g, id);
	if (!n->nargs)
		return;
	const Type *x = check_arg_type(c, cg, node_args(cg->g, n)), *r = check_type(c, cg, id);
	if (x->kind != TK_TENSOR || r->kind != TK_TENSOR || !is_half(x->dtype) || !is_half(r->dtype))
		return;
	int64_t length = reduced_length(c, cg->g, id, x, r, role);
	if (length < LONG_REDUCTION)
		return;
	Finding *f = check_finding(c, CHECK_GL501, SEV_NOTE, cg->g, id);
	f->variant = S("reduction");
	f->certainty = TRI_MUST;
	diag_var(c->d, f, S("what"), dtype_shown(r->dtype));
	diag_varf(c->d, f, S("text"), "%lld", (long long)length);
	check_step(c, f, ROLE_PLACE, cg->g, id, "%lld numbers of " STR_FMT " make one of " STR_FMT, (long long)length,
	           STR_ARG(dtype_shown(x->dtype)), STR_ARG(dtype_shown(r->dtype)));
}

static void check_reductions(const CheckCtx *c, const CheckGraph *cg)
{
	for (uint32_t i = 1; i < cg->g->nodes.n; i++) {
		const Node *n = &cg->g->nodes.v[i];
		if (n->kind != NK_CALL || n->callee == CALLEE_MODULE || !cg->fact[i])
			continue;
		DtypeRole role = role_of(operator_short(c->p, n));
		if (role == DTYPE_IS_REDUCED || role == DTYPE_IS_RUNNING)
			reduction(c, cg, (NodeId){i}, role);
	}
}

/* ---- across boundaries ---- */

static void across(const CheckCtx *c, const Crossing *x)
{
	const Graph *from = graph_get(c->p, x->from), *to = graph_get(c->p, x->to);
	NodeId out = check_output_node(from, x->output), in = to->inputs.v[x->input];
	if (!out.i || !x->same)
		return;
	const Type *a = printed(c, from, out), *b = printed(c, to, in);
	if (a->dtype == DT_NONE || b->dtype == DT_NONE || a->dtype == b->dtype || a->kind != TK_TENSOR || b->kind != TK_TENSOR)
		return;
	Finding *f = check_finding(c, CHECK_GL501, x->inferred ? SEV_NOTE : SEV_WARNING, from, out);
	f->variant = S("boundary");
	f->certainty = TRI_MUST;
	diag_var(c->d, f, S("output_name"), check_name(c, from, out));
	diag_var(c->d, f, S("what"), sym_str(c->p->names, to->name));
	diag_varf(c->d, f, S("text"), STR_FMT, STR_ARG(dtype_shown(a->dtype)));
	diag_var(c->d, f, S("why"), dtype_shown(b->dtype));
	check_step(c, f, ROLE_BOUNDARY, from, out, "it leaves as " STR_FMT, STR_ARG(dtype_shown(a->dtype)));
	if (x->parent.i)
		check_step(c, f, ROLE_LINK, graph_get(c->p, x->parent), x->call, "it is handed on here");
	check_step(c, f, ROLE_BOUNDARY, to, in, "it is expected as " STR_FMT, STR_ARG(dtype_shown(b->dtype)));
}

void check_dtype(const CheckCtx *c)
{
	Crossings all = {0};
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (!check_wanted(c, g) || g->stage == STAGE_INDUCTOR)
			continue;
		ArenaMark mark = arena_mark(c->scratch);
		const CheckGraph *cg = check_graph_of(c, g);
		check_against_operators(c, cg);
		if (!check_is_repeat(g) && g->stage != STAGE_AOT_BACKWARD)
			check_reductions(c, cg);
		arena_rewind(c->scratch, mark);
	}
	check_crossings(c, &all, c->scratch);
	for (uint32_t i = 0; i < all.v.n; i++)
		across(c, &all.v.v[i]);
}
