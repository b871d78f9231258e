/* SPDX-License-Identifier: MIT */
#include "infer_object.h"

static const Fact *node_fact(Infer *in, const Node *n)
{
	return facts_find(in->f, (Callee)n->callee, sym_str(in->names, n->target), in->torch);
}

/* Operators that write in place end in an underscore, dispatcher names before their overload. */
static bool maybe_inplace_name(Str target)
{
	if (str_ends(target, S("_")))
		return true;
	uint32_t dot = str_rfind(target, S("."));
	return dot < target.n && dot && target.p[dot - 1] == '_';
}

bool infer_writes_layout(Infer *in, NodeId id)
{
	const Node *n = graph_node(in->g, id);
	if (n->kind != NK_CALL || !n->nargs || node_args(in->g, n)->kind != AR_NODE)
		return false;
	Str target = sym_str(in->names, n->target);
	if (!maybe_inplace_name(target))
		return false;
	const Fact *f = node_fact(in, n);
	if (!f || (f->kind != FK_METADATA && !fact_has(f, FT_INPLACE_VIEW)))
		return false;
	const ShapeRow *row = shapes_find(in->rules, (Callee)n->callee, target);
	return !row || row->shape[0] != SH_SAME; /* requires_grad_ and its like leave the layout */
}

/* ---- names of one object ---- */

static uint32_t find(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = find(parent, a);
	b = find(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

typedef struct Unite {
	uint32_t *parent;
	uint32_t node;
} Unite;

static void unite_arg(void *ctx, NodeId id)
{
	const Unite *u = ctx;
	unite(u->parent, u->node, id.i);
}

/* How a call's result stands to its first argument: the same object for sure, perhaps (then to any
 * argument), or not. */
static Tri same_object(Infer *in, const Node *n)
{
	const Fact *f = node_fact(in, n);
	if (n->callee == CALLEE_OPERATOR && str_eq(sym_str(in->names, n->target), S("setitem")))
		return TRI_MUST;
	if (!f || f->kind == FK_SUBGRAPH || f->kind == FK_UNKNOWN)
		return TRI_MAY;
	if (f->kind == FK_INPLACE || f->kind == FK_METADATA)
		return f->cond == FC_NONE && !f->joined ? TRI_MUST : TRI_MAY;
	if (fact_has(f, FT_SAME_OBJECT) || fact_has(f, FT_MAYBE_SAME_OBJECT) || f->cond != FC_NONE)
		return TRI_MAY;
	return TRI_NO;
}

static void unite_node(Infer *in, NodeId id)
{
	const Node *n = graph_node(in->g, id);
	const Arg *args = node_args(in->g, n);
	Unite u = {in->nt.cluster, id.i};
	if (n->kind != NK_CALL || !n->nargs)
		return;
	Tri same = same_object(in, n);
	if (same == TRI_MUST && args->kind == AR_NODE) {
		unite(in->nt.cluster, id.i, args->u.node.i);
		in->nt.object[id.i] = in->nt.object[args->u.node.i];
	}
	for (uint32_t i = 0; i < n->nargs && same == TRI_MAY; i++)
		arg_each_node(in->g, &args[i], unite_arg, &u);
}

static bool writes_any_layout(Infer *in)
{
	for (uint32_t i = 1; i < in->g->nodes.n; i++)
		if (infer_writes_layout(in, (NodeId){i}))
			return true;
	return false;
}

/* Room for each cluster's writes, one after the other; which nodes write is filled in at once. */
static void make_room(Infer *in, const NodeId *write, uint32_t n)
{
	NodeTypes *nt = &in->nt;
	nt->write_at = NEW_N(in->a, uint32_t, nt->n);
	nt->nwrites = NEW_N(in->a, uint32_t, nt->n);
	nt->writes = NEW_N(in->a, LayoutWrite, n);
	in->nlayout = NEW_N(in->a, uint32_t, nt->n);
	in->undo_room = 64 * (uint64_t)n;
	for (uint32_t i = 0; i < n; i++)
		in->nlayout[nt->cluster[write[i].i]]++;
	uint32_t at = 0;
	for (uint32_t c = 0; c < nt->n; c++) {
		nt->write_at[c] = at;
		at += in->nlayout[c];
	}
	memset(in->nlayout, 0, nt->n * sizeof *in->nlayout);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = nt->cluster[write[i].i];
		nt->writes[nt->write_at[c] + in->nlayout[c]++].node = write[i];
	}
}

void infer_objects(Infer *in)
{
	NodeTypes *nt = &in->nt;
	VEC(NodeId) write = {0};
	if (!writes_any_layout(in))
		return;
	nt->object = NEW_N(in->a, uint32_t, nt->n);
	nt->cluster = NEW_N(in->a, uint32_t, nt->n);
	for (uint32_t i = 0; i < nt->n; i++)
		nt->object[i] = nt->cluster[i] = i;
	for (uint32_t i = 1; i < nt->n; i++) {
		unite_node(in, (NodeId){i});
		if (infer_writes_layout(in, (NodeId){i}))
			VEC_PUSH(in->a, &write, ((NodeId){i}));
	}
	for (uint32_t i = 1; i < nt->n; i++)
		nt->cluster[i] = find(nt->cluster, i);
	make_room(in, write.v, write.n);
}

void infer_layout_written(Infer *in, NodeId id, TypeId after)
{
	NodeTypes *nt = &in->nt;
	uint32_t c = nt->cluster[id.i];
	nt->writes[nt->write_at[c] + nt->nwrites[c]++] = (LayoutWrite){id, nt->object[id.i], after};
}

bool infer_layout_later(const Infer *in, NodeId id)
{
	if (!in->nt.object)
		return false;
	uint32_t c = in->nt.cluster[id.i], n = in->nlayout[c];
	return n && in->nt.writes[in->nt.write_at[c] + n - 1].node.i > id.i;
}

/* Goes on from write `done` - 1 down to write k. False: some write between cannot be undone. */
static bool undo_to(Infer *in, Undo *u, const LayoutWrite *w, uint32_t n, uint32_t k)
{
	while (!u->stuck && u->done > k) {
		TypeId after = u->done < n ? u->before[u->done] : u->end;
		const LayoutWrite *last = &w[u->done - 1];
		u->stuck = in->nt.object[last->node.i] != in->nt.object[w[n - 1].node.i] ||
		           !infer_call_undo(in, last->node, after, &u->before[u->done - 1]);
		u->done -= !u->stuck;
	}
	return u->done <= k;
}

/* The first write of a cluster behind a node. */
static uint32_t first_write_after(const LayoutWrite *w, uint32_t n, NodeId id)
{
	uint32_t low = 0, high = n;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (w[mid].node.i > id.i)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Back over the writes after a node, from what its object is at the end. The way is kept for the next node of the cluster;
 * where names of one object print with many layouts, not all of them get one of their own. */
static TypeId undone(Infer *in, NodeId id)
{
	const NodeTypes *nt = &in->nt;
	uint32_t c = nt->cluster[id.i], n = in->nlayout[c];
	const LayoutWrite *w = nt->writes + nt->write_at[c];
	TypeId now = graph_node(in->g, id)->type, plain = type_without_shape(in->t, now);
	uint32_t k = first_write_after(w, n, id);
	if (k == n)
		return now;
	if (nt->object[w[n - 1].node.i] != nt->object[id.i])
		return plain;
	uint64_t key = (uint64_t)c << 32 | now.i;
	in->undos_of.a = in->a;
	uint32_t at = map_get(&in->undos_of, key);
	if (!at) {
		if (in->undo_room < n)
			return plain;
		in->undo_room -= n;
		VEC_PUSH(in->a, &in->undos, ((Undo){.end = now, .before = NEW_N(in->a, TypeId, n), .done = n}));
		at = in->undos.n;
		map_put(&in->undos_of, key, at);
	}
	Undo *u = &in->undos.v[at - 1];
	return undo_to(in, u, w, n, k) ? u->before[k] : plain;
}

static bool same_layout(Types *t, const Type *a, const Type *b)
{
	bool same = a->ndim == b->ndim && a->has_stride == b->has_stride;
	for (uint32_t i = 0; same && i < a->ndim; i++)
		same = expr_eq(t, a->size[i], b->size[i]) == TRI_MUST &&
		       (!a->has_stride || expr_eq(t, a->stride[i], b->stride[i]) == TRI_MUST);
	return same;
}

TypeId infer_layout_before(Infer *in, NodeId id)
{
	const NodeTypes *nt = &in->nt;
	uint32_t c = nt->cluster[id.i];
	NodeId last = nt->writes[nt->write_at[c] + in->nlayout[c] - 1].node;
	TypeId printed = graph_node(in->g, id)->type;
	const Type *now = type_get(in->t, printed),
			   *end = type_get(in->t, graph_node(in->g, last)->type);
	bool one = nt->object[last.i] == nt->object[id.i];
	if (one && now->has_shape && end->kind == TK_TENSOR && end->has_shape)
		return same_layout(in->t, now, end) ? undone(in, id) : printed;
	return in->g->stage == STAGE_DYNAMO || in->g->stage == STAGE_BODY
	           ? undone(in, id)
	           : type_without_shape(in->t, printed);
}
