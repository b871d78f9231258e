/* SPDX-License-Identifier: MIT
 * Which writes of one printing are gone in the other, and which reads changed sides with a write. */
#include "compare_graphs.h"

typedef struct Effects {
	const CheckCtx *c;
	const GraphMatch *m;
	GraphChanges *out;
	Arena *keep;
	Map b_writes;   /* class of written memory in b -> 1: some write there equals none in a */
	Map b_pairs;    /* writer in b and class of the memory -> 1 */
	const bool *dead; /* by NodeId of a: what it stores is written over before anybody reads it, or was there before */
	Map functional; /* operator without underscore and class of its first operand, of calls in b that write nothing */
} Effects;

static uint64_t mix(uint64_t h, uint64_t x)
{
	return hash_u64(h ^ (x + 0x9e3779b97f4a7c15u));
}

/* add of add_, iadd and add: what it computes, whether it stores it or not. */
static Str base_operator(Str op)
{
	if (str_ends(op, S("_")) && op.n > 1)
		return str_sub(op, 0, op.n - 1);
	return op.n > 3 && op.p[0] == 'i' && !str_starts(op, S("index")) && !str_starts(op, S("is")) ? str_sub(op, 1, op.n) : op;
}

static uint64_t functional_key(Str op, uint64_t cls)
{
	Str base = base_operator(op);
	return mix(hash_bytes(3, base.p, base.n), cls) | 1;
}

static uint64_t memory_class(const CheckGraph *cg, const uint64_t *cls, NodeId value)
{
	return cls[cg->root[value.i].i];
}

static bool is_effect(const CheckGraph *cg, const NodeWrite *w)
{
	return w->through.i && !w->metadata && w->certainty == TRI_MUST && graph_node(cg->g, w->node)->kind == NK_CALL;
}

/* Does the partner of a write in a write the same memory? */
static bool partner_writes(const Effects *e, const NodeWrite *w)
{
	NodeId b = e->m->b_of[w->node.i];
	return b.i && map_get(&e->b_pairs, mix(b.i, memory_class(e->m->a, e->m->a_class, w->through)) | 1);
}

static bool *writers(const CheckGraph *cg, Arena *a)
{
	bool *writes = NEW_N(a, bool, cg->g->nodes.n + 1);
	for (uint32_t i = 0; i < cg->s->nnode_writes; i++)
		writes[cg->s->node_writes[i].node.i] = true;
	return writes;
}

static void look_at_b(Effects *e)
{
	const CheckGraph *b = e->m->b;
	const bool *a_writes = writers(e->m->a, e->keep);
	e->b_writes.a = e->b_pairs.a = e->functional.a = e->keep;
	for (uint32_t i = 0; i < b->s->nnode_writes; i++) {
		const NodeWrite *w = &b->s->node_writes[i];
		if (!w->through.i || w->metadata)
			continue;
		uint64_t cls = memory_class(b, e->m->b_class, w->through);
		map_put(&e->b_pairs, mix(w->node.i, cls) | 1, 1);
		if (!e->m->b_exact[w->node.i] || !a_writes[e->m->a_of[w->node.i].i] || w->certainty != TRI_MUST)
			map_put(&e->b_writes, cls | 1, 1);
	}
	for (uint32_t i = 1; i < b->g->nodes.n; i++) {
		const Node *n = &b->g->nodes.v[i];
		const Arg *a = node_args(b->g, n);
		if (n->kind == NK_CALL && n->nargs && a[0].kind == AR_NODE)
			map_put(&e->functional, functional_key(operator_short(e->c->p, n), e->m->b_class[a[0].u.node.i]), 1);
	}
}

/* A write into new memory that became an operator without a write is the same computation; one into memory of the caller
 * is not. setitem becomes copies and scatters. */
static bool is_functionalized(const Effects *e, const NodeWrite *w)
{
	const CheckGraph *a = e->m->a;
	NodeKind kind = (NodeKind)graph_node(a->g, a->root[w->through.i])->kind;
	Str op = operator_short(e->c->p, graph_node(a->g, w->node));
	if (kind == NK_PLACEHOLDER || kind == NK_GET_ATTR)
		return false;
	static const Str forms[] = {STR_INIT("copy"), STR_INIT("fill"), STR_INIT("index_put"), STR_INIT("select_scatter"), STR_INIT("slice_scatter")};
	uint64_t cls = e->m->a_class[w->through.i];
	if (map_get(&e->functional, functional_key(op, cls)))
		return true;
	for (uint32_t i = 0; str_eq(op, S("setitem")) && i < sizeof forms / sizeof *forms; i++)
		if (map_get(&e->functional, functional_key(forms[i], cls)))
			return true;
	return false;
}

/* Does somebody see what is written: the caller, a later reader, or who gets the result? */
static bool is_seen(const CheckGraph *cg, const NodeWrite *w)
{
	NodeId root = cg->root[w->through.i];
	NodeKind kind = (NodeKind)graph_node(cg->g, root)->kind;
	return kind == NK_PLACEHOLDER || kind == NK_GET_ATTR || cg->root_returned[root.i] || cg->last_use[root.i].i > w->node.i;
}

static bool is_matched_memory(const Effects *e, NodeId through)
{
	return e->m->b_of[e->m->a->root[through.i].i].i != 0;
}

/* Writes all of its first operand, whatever was there. */
static bool is_store(Str op)
{
	return str_eq(op, S("copy_")) || str_eq(op, S("fill_")) || str_eq(op, S("zero_"));
}

/* Does a call read the contents of an operand, not its form, and does it not only store into it? */
static bool reads(const CheckCtx *c, const CheckGraph *cg, NodeId id, const Arg *a, uint32_t at)
{
	const Fact *f = cg->fact[id.i];
	Str op = operator_short(c->p, graph_node(cg->g, id));
	bool stores = str_eq(op, S("setitem")) || is_store(op);
	if (!f || f->kind == FK_VIEW || f->kind == FK_EFFECT || (f->kind == FK_SCALAR && !fact_has(f, FT_DATADEP)) || a->kind != AR_NODE)
		return false;
	if (f->kind == FK_MAYBE_VIEW && cg->s->from[id.i].shares != TRI_NO)
		return false;
	return !(stores && !at) && !str_ends(op, S("_like")) && !str_starts(op, S("new_")) && !(at && str_ends(op, S("_as")));
}

/* copy_(x, x) */
static bool is_idle(const Effects *e, const Graph *g, const Node *n)
{
	const Arg *a = node_args(g, n);
	return n->nargs > 1 && a[0].kind == AR_NODE && a[1].kind == AR_NODE && str_eq(operator_short(e->c->p, n), S("copy_")) &&
	       e->m->a_class[a[0].u.node.i] == e->m->a_class[a[1].u.node.i];
}

/* From the end to the start: what happens to each memory next. */
static bool *dead_writes(const Effects *e)
{
	const CheckGraph *cg = e->m->a;
	const Graph *g = cg->g;
	uint64_t *stored = NEW_N(e->keep, uint64_t, g->nodes.n + 1); /* by root: class of what is stored into next; 0: read */
	bool *dead = NEW_N(e->keep, bool, g->nodes.n + 1);
	uint32_t w = cg->s->nnode_writes;
	for (uint32_t i = g->nodes.n; i-- > 1;) {
		const Node *n = &g->nodes.v[i];
		const Arg *a = node_args(g, n);
		uint32_t effects = 0, lost = 0;
		for (; w && cg->s->node_writes[w - 1].node.i >= i; w--) {
			NodeId through = cg->s->node_writes[w - 1].through;
			uint64_t next = through.i ? stored[cg->root[through.i].i] : 0;
			effects++;
			lost += next && (next == e->m->a_class[through.i] || next == e->m->a_class[cg->root[through.i].i]);
		}
		dead[i] = (effects && lost == effects) || is_idle(e, g, n);
		if (n->kind == NK_CALL && n->nargs && a[0].kind == AR_NODE && is_store(operator_short(e->c->p, n)))
			stored[cg->root[a[0].u.node.i].i] = e->m->a_class[a[0].u.node.i];
		for (uint32_t k = 0; n->kind == NK_CALL && k < n->nargs; k++)
			if (reads(e->c, cg, (NodeId){i}, &a[k], k))
				stored[cg->root[a[k].u.node.i].i] = 0;
	}
	return dead;
}

static void lost_writes(Effects *e)
{
	const CheckGraph *a = e->m->a;
	NodeId last = {0};
	for (uint32_t i = 0; i < a->s->nnode_writes; i++) {
		const NodeWrite *w = &a->s->node_writes[i];
		if (!is_effect(a, w) || w->node.i == last.i || !is_seen(a, w) || e->dead[w->node.i] || partner_writes(e, w) || !is_matched_memory(e, w->through) ||
		    map_get(&e->b_writes, memory_class(a, e->m->a_class, w->through) | 1) || is_functionalized(e, w))
			continue;
		last = w->node;
		VEC_PUSH(e->keep, &e->out->v, ((GraphChange){.kind = CHANGE_WRITE_LOST, .a = w->node, .b = e->m->b_of[w->node.i]}));
	}
}

/* ---- order ---- */

typedef struct Reading {
	NodeId reader, value;
	uint32_t epoch;
} Reading;

typedef struct Readings {
	VEC(Reading) v;
	VEC(NodeId) writer; /* with a partner, in order */
	VEC(NodeId) through;
} Readings;

enum { SWAPS_MOST = 64 };

/* Every read of memory that is written by partners, with how many of these writes stand before it. */
static void read_epochs(const Effects *e, const CheckGraph *cg, const NodeId *partner, Readings *r)
{
	const Graph *g = cg->g;
	uint32_t *count = NEW_N(e->keep, uint32_t, g->nodes.n + 1), w = 0;
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		for (uint32_t k = 0; n->kind == NK_CALL && partner[i].i && k < n->nargs; k++) {
			const Arg *a = &node_args(g, n)[k];
			if (reads(e->c, cg, (NodeId){i}, a, k))
				VEC_PUSH(e->keep, &r->v, ((Reading){{i}, a->u.node, count[cg->root[a->u.node.i].i]}));
		}
		for (; w < cg->s->nnode_writes && cg->s->node_writes[w].node.i <= i; w++) {
			const NodeWrite *x = &cg->s->node_writes[w];
			if (x->node.i != i || !is_effect(cg, x) || !partner[i].i)
				continue;
			count[cg->root[x->through.i].i]++;
			VEC_PUSH(e->keep, &r->writer, x->node);
			VEC_PUSH(e->keep, &r->through, x->through);
		}
	}
}

/* The write of number `epoch` into a memory. */
static bool write_at(const CheckGraph *cg, const Readings *r, NodeId root, uint32_t epoch, NodeId *writer, NodeId *through)
{
	for (uint32_t i = 0, k = 0; i < r->writer.n; i++) {
		if (cg->root[r->through.v[i].i].i != root.i || k++ != epoch)
			continue;
		*writer = r->writer.v[i];
		*through = r->through.v[i];
		return true;
	}
	return false;
}

/* Do a read and a write through these values meet for certain? One of them is the whole, or both are the same view. */
static bool surely_meet(const GraphMatch *m, NodeId read, NodeId written)
{
	NodeId root = m->a->root[read.i];
	uint64_t whole = m->a_class[root.i], x = m->a_class[read.i], y = m->a_class[written.i];
	return x == whole || y == whole || x == y;
}

static void swapped(Effects *e)
{
	const GraphMatch *m = e->m;
	Readings a = {0}, b = {0};
	read_epochs(e, m->a, m->b_of, &a);
	read_epochs(e, m->b, m->a_of, &b);
	Map epoch_in_b = {.a = e->keep};
	for (uint32_t i = 0; i < b.v.n; i++) { /* epochs count from 1 here: 0 is absent */
		const Reading *x = &b.v.v[i];
		map_put(&epoch_in_b, mix((uint64_t)x->reader.i << 1 | 1, memory_class(m->b, m->b_class, x->value)) | 1, x->epoch + 1);
	}
	NodeId told = {0};
	for (uint32_t i = 0, found = 0; i < a.v.n && found < SWAPS_MOST; i++) {
		const Reading *x = &a.v.v[i];
		NodeId partner = m->b_of[x->reader.i], writer, through;
		uint32_t other = map_get(&epoch_in_b, mix((uint64_t)partner.i << 1 | 1, memory_class(m->a, m->a_class, x->value)) | 1);
		if (!other || other - 1 == x->epoch || x->reader.i == told.i)
			continue;
		found++;
		uint32_t crossed = x->epoch < other - 1 ? x->epoch : other - 1;
		if (!write_at(m->a, &a, m->a->root[x->value.i], crossed, &writer, &through) || !surely_meet(m, x->value, through))
			continue;
		told = x->reader;
		VEC_PUSH(e->keep, &e->out->v, ((GraphChange){.kind = CHANGE_ORDER, .a = x->reader, .b = partner, .by = writer}));
	}
}

void graphs_effects(const CheckCtx *c, const GraphMatch *m, GraphChanges *out, Arena *keep)
{
	Effects e = {.c = c, .m = m, .out = out, .keep = keep};
	look_at_b(&e);
	e.dead = dead_writes(&e);
	lost_writes(&e);
	swapped(&e);
}
