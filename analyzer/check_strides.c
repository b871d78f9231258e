/* SPDX-License-Identifier: MIT
 * GL302: graphs that depend on strides of an input which another graph made: the graph is typed again with that input
 * packed, as a new tensor would be, and compared. */
#include "check_links.h"
#include "link.h"
#include "layout.h"

/* What of a graph depends on how its input lies in memory. */
typedef enum Need { NEED_NONE, NEED_VIEW, NEED_PLACES, NEED_ASKED, NEED_SHARING } Need;

/* A graph that gets tensors from others. */
typedef struct Consumer {
	const CheckCtx *c;
	const CheckGraph *cg;
	const Crossing **from; /* by NodeId of an input: how it comes in, when it can be packed; else NULL */
	TypeId *layout;        /* by NodeId of such an input: its type when it is packed */
	NodeTypes packed;      /* types of the nodes when these inputs are packed */
} Consumer;

static bool one_of(Str s, const Str *names, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(s, names[i]))
			return true;
	return false;
}

/* What an operator could need, before any layout is looked at. */
static Need possible_need(Str op)
{
	static const Str views[] = {STR_INIT("view"), STR_INIT("_unsafe_view")};
	static const Str places[] = {STR_INIT("as_strided"), STR_INIT("as_strided_"), STR_INIT("data_ptr"), STR_INIT("_reinterpret_tensor")};
	static const Str asked[] = {STR_INIT("stride"), STR_INIT("is_contiguous"), STR_INIT("storage_offset")};
	static const Str sharing[] = {STR_INIT("reshape"), STR_INIT("contiguous"), STR_INIT("flatten")};
	if (one_of(op, views, 2))
		return NEED_VIEW;
	if (one_of(op, places, 4))
		return NEED_PLACES;
	if (one_of(op, asked, 3))
		return NEED_ASKED;
	return one_of(op, sharing, 3) ? NEED_SHARING : NEED_NONE;
}

static NodeId operand_of(const CheckGraph *cg, NodeId id)
{
	const Node *n = graph_node(cg->g, id);
	const Arg *a = node_args(cg->g, n);
	return n->kind == NK_CALL && n->callee != CALLEE_MODULE && n->nargs && a[0].kind == AR_NODE ? a[0].u.node : (NodeId){0};
}

/* The graph with these inputs packed, and no annotation of what follows from them. */
static void type_again(Consumer *k)
{
	const CheckCtx *c = k->c;
	Graph g = *k->cg->g;
	bool asked = c->cfg->torch.lo || c->cfg->torch.hi;
	Node *nodes = NEW_N(c->scratch, Node, g.nodes.n);
	memcpy(nodes, g.nodes.v, g.nodes.n * sizeof *nodes);
	for (uint32_t i = 1; i < g.nodes.n; i++) {
		if (nodes[i].kind == NK_CALL)
			nodes[i].type = (TypeId){0};
		else if (k->from[i])
			nodes[i].type = k->layout[i];
	}
	g.nodes.v = nodes;
	k->packed = infer_types(c->p, &g, c->t, c->f, c->shapes, asked ? c->cfg->torch : g.torch, NULL, c->scratch);
}

/* Does the view exist for what its operand is under these types? */
static Tri view_exists(const Consumer *k, const NodeTypes *nt, NodeId id, NodeId operand)
{
	const CheckCtx *c = k->c;
	const Type *x = type_get(c->t, nt->v[operand.i]);
	const ExprId *asked;
	ExprId size[TYPE_DIMS_MOST];
	uint32_t n;
	if (x->kind != TK_TENSOR || !x->has_shape || !x->has_stride ||
	    !infer_shape(nt, k->cg->g, c->t, c->p->names, graph_node(k->cg->g, id), 1, &asked, &n, c->scratch) || n > TYPE_DIMS_MOST)
		return TRI_MAY;
	for (uint32_t i = 0; i < n; i++) {
		size[i] = asked[i];
		if (!asked[i].i)
			return TRI_MAY;
	}
	return type_fill_shape(c->t, x, size, n) ? type_view_exists(c->t, x, size, n, NULL) : TRI_MAY;
}

/* Does reshape, contiguous or flatten share memory for what its operand is under these types? */
static Tri shares(const Consumer *k, const NodeTypes *nt, NodeId id, NodeId operand)
{
	const CheckCtx *c = k->c;
	const Type *x = type_get(c->t, nt->v[operand.i]);
	Str op = operator_short(c->p, graph_node(k->cg->g, id));
	if (x->kind != TK_TENSOR || !x->has_shape || !x->has_stride)
		return TRI_MAY;
	if (str_eq(op, S("reshape")))
		return view_exists(k, nt, id, operand);
	if (str_eq(op, S("contiguous")))
		return graph_node(k->cg->g, id)->nargs == 1 ? type_is_contiguous(c->t, x) : TRI_MAY;
	return graph_node(k->cg->g, id)->nargs == 1 ? type_is_contiguous(c->t, x) : TRI_MAY; /* flatten() of all dims */
}

/* Is what a node returned written, itself or through a view of it? */
static bool is_written(const CheckGraph *cg, NodeId id)
{
	for (uint32_t i = 0; i < cg->s->nnode_writes; i++) {
		const NodeWrite *w = &cg->s->node_writes[i];
		NodeId at = w->through;
		while (at.i > id.i && cg->s->from[at.i].node.i && cg->s->from[at.i].node.i < at.i)
			at = cg->s->from[at.i].node;
		if (w->certainty == TRI_MUST && at.i == id.i)
			return true;
	}
	return false;
}

/* Does this call give something else when the input is packed? */
static bool depends(const Consumer *k, NodeId id, NodeId operand, Need need)
{
	switch (need) {
	case NEED_VIEW:
		return view_exists(k, k->cg->nt, id, operand) == TRI_MUST && view_exists(k, &k->packed, id, operand) == TRI_NO;
	case NEED_PLACES:
	case NEED_ASKED: return true;
	case NEED_SHARING: {
		Tri now = shares(k, k->cg->nt, id, operand), then = shares(k, &k->packed, id, operand);
		return now != TRI_MAY && then != TRI_MAY && now != then && is_written(k->cg, id);
	}
	case NEED_NONE: break;
	}
	return false;
}

/* ---- findings ---- */

static Severity severity(const CheckCtx *c, const Graph *from, const Type *out, const Type *in)
{
	bool printed = out->has_stride && in->has_stride;
	bool kept = contract_keeps(&c->cfg->contract, link_captured_by_2x(c->p, from)) & KEEP_STRIDES;
	return printed && !kept ? SEV_WARNING : SEV_NOTE;
}

static Str variant_of(Need need)
{
	static const Str words[] = {STR_INIT(""), STR_INIT("view"), STR_INIT("places"), STR_INIT("asked"), STR_INIT("sharing")};
	return words[need];
}

static void report(const Consumer *k, NodeId input, NodeId id, Need need)
{
	const CheckCtx *c = k->c;
	const Crossing *x = k->from[input.i];
	const Graph *from = graph_get(c->p, x->from), *to = k->cg->g;
	NodeId out = check_output_node(from, x->output);
	const Type *a = type_get(c->t, graph_node(from, out)->type), *b = type_get(c->t, graph_node(to, input)->type);
	Finding *f = check_finding(c, CHECK_GL302, severity(c, from, a, b), to, id);
	Str shown = type_text(c->t, c->types[from->id.i]->v[out.i], c->scratch);
	f->variant = variant_of(need);
	f->certainty = x->inferred ? TRI_MAY : TRI_MUST;
	if (x->inferred)
		f->condition = S("the graphs belong together as their order says");
	diag_var(c->d, f, S("input_name"), check_name(c, to, input));
	diag_var(c->d, f, S("what"), sym_str(c->p->names, from->name));
	diag_var(c->d, f, S("text"), shown);
	check_step(c, f, ROLE_BOUNDARY, from, out, "it leaves `" STR_FMT "` as " STR_FMT, STR_ARG(sym_str(c->p->names, from->name)), STR_ARG(shown));
	if (x->parent.i)
		check_step(c, f, ROLE_LINK, graph_get(c->p, x->parent), x->call, "it is handed on here");
	check_step(c, f, ROLE_BOUNDARY, to, input, "it enters `" STR_FMT "`", STR_ARG(sym_str(c->p->names, to->name)));
	check_step(c, f, ROLE_READ, to, id, "this depends on its strides");
}

/* The input as a new tensor of its sizes would lie; 0 where it lies so already, or that cannot be told. */
static TypeId packed_type(const CheckCtx *c, TypeId id)
{
	const Type *x = type_get(c->t, id);
	if (x->kind != TK_TENSOR || !x->has_shape || !x->has_stride || x->wrapped || type_is_contiguous(c->t, x) != TRI_NO)
		return (TypeId){0};
	return type_contiguous_of(c->t, x->dtype, x->size, x->ndim, x->device);
}

/* Input of this call's operand, when the call could depend on the layout of a packed input. */
static NodeId input_of_call(const Consumer *k, NodeId id, NodeId *operand, Need *need)
{
	*operand = operand_of(k->cg, id);
	NodeId root = operand->i ? k->cg->root[operand->i] : (NodeId){0};
	if (!root.i || !k->from[root.i])
		return (NodeId){0};
	*need = possible_need(operator_short(k->c->p, graph_node(k->cg->g, id)));
	return *need == NEED_NONE ? (NodeId){0} : root;
}

static bool may_depend(const Consumer *k)
{
	NodeId operand;
	Need need;
	for (uint32_t i = 1; i < k->cg->g->nodes.n; i++)
		if (input_of_call(k, (NodeId){i}, &operand, &need).i)
			return true;
	return false;
}

/* The inputs that leave another graph with strides of their own. */
static bool take_inputs(Consumer *k, const Crossing *const *in, uint32_t n)
{
	const CheckCtx *c = k->c;
	const Graph *to = graph_get(c->p, in[0]->to);
	bool any = false;
	k->from = NEW_N(c->scratch, const Crossing *, to->nodes.n);
	k->layout = NEW_N(c->scratch, TypeId, to->nodes.n);
	for (uint32_t i = 0; i < n; i++) {
		const Graph *from = graph_get(c->p, in[i]->from);
		NodeId out = check_output_node(from, in[i]->output), input = to->inputs.v[in[i]->input];
		TypeId packed = packed_type(c, c->types[to->id.i]->v[input.i]);
		if (!in[i]->same || k->from[input.i] || !packed.i || !out.i || !packed_type(c, c->types[from->id.i]->v[out.i]).i)
			continue;
		k->from[input.i] = in[i];
		k->layout[input.i] = packed;
		any = true;
	}
	return any;
}

static void check_consumer(const CheckCtx *c, const Crossing *const *in, uint32_t n)
{
	const Graph *to = graph_get(c->p, in[0]->to);
	Consumer k = {.c = c};
	NodeId operand;
	Need need;
	if (!take_inputs(&k, in, n))
		return;
	k.cg = check_graph_of(c, to);
	if (!may_depend(&k))
		return;
	type_again(&k);
	for (uint32_t i = 1; i < to->nodes.n; i++) {
		NodeId input = input_of_call(&k, (NodeId){i}, &operand, &need);
		if (!input.i || !depends(&k, (NodeId){i}, operand, need))
			continue;
		report(&k, input, (NodeId){i}, need);
		k.from[input.i] = NULL; /* the first one is told: what follows is built on it */
	}
}

/* Crossings in the order of the graphs that they enter. */
static const Crossing **by_consumer(const CheckCtx *c, const Crossings *all)
{
	uint32_t *at = NEW_N(c->scratch, uint32_t, (size_t)c->p->graphs.n + 1);
	const Crossing **sorted = NEW_N(c->scratch, const Crossing *, (size_t)all->v.n + 1);
	for (uint32_t i = 0; i < all->v.n; i++)
		at[all->v.v[i].to.i + 1]++;
	for (uint32_t i = 1; i <= c->p->graphs.n; i++)
		at[i] += at[i - 1];
	for (uint32_t i = 0; i < all->v.n; i++)
		sorted[at[all->v.v[i].to.i]++] = &all->v.v[i];
	return sorted;
}

void check_layout_crosses(const CheckCtx *c)
{
	Crossings all = {0};
	check_crossings(c, &all, c->scratch);
	const Crossing **sorted = by_consumer(c, &all);
	for (uint32_t i = 0, end; i < all.v.n; i = end) {
		for (end = i + 1; end < all.v.n && sorted[end]->to.i == sorted[i]->to.i;)
			end++;
		ArenaMark mark = arena_mark(c->scratch);
		check_consumer(c, sorted + i, end - i);
		arena_rewind(c->scratch, mark);
	}
}
