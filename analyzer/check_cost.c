/* SPDX-License-Identifier: MIT
 * GL303: buffers of which a part is written, and which functionalization rebuilds as a whole. */
#include "check.h"

/* Elements below which a copy costs less than its launch. */
enum { SMALL_BUFFER = 256 };

typedef struct Scatter {
	Str op;
	uint32_t source;
	bool view;
} Scatter;

static const Scatter *scatter_of(Str op)
{
	static const Scatter known[] = {
#define SCATTER(op, source, view) {STR_INIT(op), source, view},
#include "scatters.def"
#undef SCATTER
	};
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(known[i].op, op))
			return &known[i];
	return NULL;
}

static bool splits(Str op)
{
	static const Str known[] = {STR_INIT("split"), STR_INIT("split_with_sizes"), STR_INIT("chunk"), STR_INIT("unbind"), STR_INIT("tensor_split")};
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(known[i], op))
			return true;
	return false;
}

/* What happens to one buffer. */
typedef struct Buffer {
	NodeId root, first, back; /* back: the copy into the buffer itself, or the node whose value the caller copies back */
	uint32_t scatters, deepest, split_before, split_after;
	int64_t written, moved;   /* elements; -1 unknown */
} Buffer;

typedef struct Costs {
	const CheckCtx *c;
	const CheckGraph *cg;
	uint32_t *buffer;  /* by NodeId: of which buffer it is a whole version, plus 1 */
	uint32_t *depth;   /* by NodeId of a scatter: scatters below it */
	VEC(Buffer) v;
} Costs;

static int64_t elements(const CheckCtx *c, const Type *t)
{
	int64_t n;
	ExprId e = t->kind == TK_TENSOR && t->has_shape ? type_numel(c->t, t) : (ExprId){0};
	return e.i && expr_value(c->t, e, &n) ? n : -1;
}

static void add_elements(int64_t *sum, int64_t n)
{
	*sum = *sum < 0 || n < 0 || *sum > INT64_MAX - n ? -1 : *sum + n;
}

static Buffer *buffer_at(Costs *k, NodeId root)
{
	if (!k->buffer[root.i]) {
		VEC_PUSH(k->c->scratch, &k->v, ((Buffer){.root = root}));
		k->buffer[root.i] = k->v.n;
	}
	return &k->v.v[k->buffer[root.i] - 1];
}

static const Arg *operand(const Costs *k, NodeId id, uint32_t at)
{
	const Node *n = graph_node(k->cg->g, id);
	const Arg *a = node_args(k->cg->g, n);
	return at < n->nargs && !a[at].key.i && a[at].kind == AR_NODE ? &a[at] : NULL;
}

static void scatter(Costs *k, NodeId id, const Scatter *s)
{
	const Arg *base = operand(k, id, 0), *source = operand(k, id, s->source);
	if (!base)
		return;
	NodeId root = k->cg->root[base->u.node.i];
	int64_t whole = elements(k->c, check_type(k->c, k->cg, id));
	int64_t part = source ? elements(k->c, check_arg_type(k->c, k->cg, source)) : -1;
	if (whole >= 0 && (whole < SMALL_BUFFER || part == whole))
		return;
	uint32_t depth = s->view ? k->depth[root.i] + 1 : 1;
	Buffer *b = buffer_at(k, root);
	if (!b->first.i)
		b->first = id;
	b->scatters++;
	b->deepest = depth > b->deepest ? depth : b->deepest;
	NodeId from = source ? k->cg->root[source->u.node.i] : (NodeId){0};
	if (!from.i || !k->depth[from.i] || k->buffer[from.i] != k->buffer[root.i]) /* else a write through views of views */
		add_elements(&b->written, part);
	add_elements(&b->moved, whole);
	k->buffer[id.i] = k->buffer[root.i];
	k->depth[id.i] = depth;
}

static void copy_back(Costs *k, NodeId id)
{
	const Arg *into = operand(k, id, 0), *from = operand(k, id, 1);
	if (!into || !from)
		return;
	NodeId root = k->cg->root[into->u.node.i], value = k->cg->root[from->u.node.i];
	if (!k->depth[value.i] || k->buffer[value.i] != k->buffer[root.i])
		return;
	Buffer *b = &k->v.v[k->buffer[root.i] - 1];
	b->back = id;
	add_elements(&b->moved, elements(k->c, check_arg_type(k->c, k->cg, into)));
}

static void split(Costs *k, NodeId id)
{
	const Arg *of = operand(k, id, 0);
	if (!of)
		return;
	NodeId root = k->cg->root[of->u.node.i];
	Buffer *b = buffer_at(k, root);
	if (k->depth[root.i])
		b->split_after++;
	else
		b->split_before++;
}

/* In training the new value of a written input is an output, which AOTAutograd's wrapper copies back. */
static bool caller_copies_back(const Costs *k, const Buffer *b)
{
	const Graph *g = k->cg->g;
	const Summary *of = g->of.i && !g->parent.i ? k->c->summaries[g->of.i] : NULL;
	bool writes = false;
	for (uint32_t i = 0; of && i < graph_get(k->c->p, g->of)->inputs.n; i++)
		writes |= of->inputs[i].data == TRI_MUST;
	if (!writes || graph_node(g, b->root)->kind != NK_PLACEHOLDER)
		return false;
	for (uint32_t i = 1; i < g->nodes.n; i++)
		if (k->depth[i] && k->v.v + (k->buffer[i] - 1) == b && k->cg->returned[i])
			return true;
	return false;
}

static void report(Costs *k, const Buffer *b)
{
	const Graph *g = k->cg->g;
	Finding *f = check_finding(k->c, CHECK_GL303, SEV_NOTE, g, b->first);
	Buf t = {.a = k->c->scratch};
	buf_printf(&t, "%u scatter%s", b->scatters, b->scatters == 1 ? "" : "s");
	if (b->split_after)
		buf_printf(&t, ", %u split%s", b->split_before + b->split_after, b->split_before + b->split_after == 1 ? "" : "s");
	if (b->back.i)
		buf_add(&t, S(" and a copy back"));
	f->variant = b->written > 0 && b->moved > 0 ? S("counted") : (Str){0};
	f->certainty = TRI_MUST;
	diag_var(k->c->d, f, S("what"), check_name(k->c, g, b->root));
	diag_var(k->c->d, f, S("text"), buf_str(&t));
	if (f->variant.n)
		diag_varf(k->c->d, f, S("why"), "%lld elements are written, %lld are moved", (long long)b->written, (long long)b->moved);
	check_step(k->c, f, ROLE_PLACE, g, b->root, "the buffer");
	for (uint32_t i = b->first.i; i < g->nodes.n; i++)
		if (k->depth[i] && k->v.v + (k->buffer[i] - 1) == b && f->steps.n < 8)
			check_step(k->c, f, ROLE_WRITE, g, (NodeId){i}, "the whole of it is made anew");
	if (b->back.i)
		check_step(k->c, f, ROLE_WRITE, g, b->back, "the whole of it is copied back");
}

void check_functionalization_cost(const CheckCtx *c, const CheckGraph *cg)
{
	const Graph *g = cg->g;
	if (g->stage == STAGE_INDUCTOR || (check_is_repeat(g) && (g->stage == STAGE_AOT_JOINT || g->stage == STAGE_POST_GRAD)))
		return;
	Costs k = {.c = c, .cg = cg};
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		if (n->kind != NK_CALL || n->callee == CALLEE_MODULE || !cg->fact[i])
			continue;
		Str op = operator_short(c->p, n);
		const Scatter *s = scatter_of(op);
		bool copies = str_eq(op, S("copy_")), cuts = splits(op);
		if (!s && !copies && !cuts)
			continue;
		if (!k.buffer) {
			k.buffer = NEW_N(c->scratch, uint32_t, g->nodes.n);
			k.depth = NEW_N(c->scratch, uint32_t, g->nodes.n);
		}
		if (s)
			scatter(&k, (NodeId){i}, s);
		else if (copies)
			copy_back(&k, (NodeId){i});
		else
			split(&k, (NodeId){i});
	}
	for (uint32_t i = 0; i < k.v.n; i++) {
		const Buffer *b = &k.v.v[i];
		if (b->scatters && (b->back.i || b->deepest > 1 || (b->split_before && b->split_after) || caller_copies_back(&k, b)))
			report(&k, b);
	}
}
