/* SPDX-License-Identifier: MIT
 * What a node of a run writes: planned from the values before it, then put into the storages. */
#include "sim_node.h"

const NodeWrite *step_writes(GraphRun *r, uint32_t *n)
{
	uint32_t at = r->write_at, end = at;
	while (end < r->sum->nnode_writes && r->sum->node_writes[end].node.i == r->node.i)
		end++;
	r->write_at = end;
	*n = end - at;
	return &r->sum->node_writes[at];
}

/* Which argument the written value is, for operators that write several (batch norm: 1000 + its position). */
static int write_member(GraphRun *r, NodeId through, uint32_t k)
{
	const Node *n = graph_node(r->g, r->node);
	for (uint32_t i = 0; i < n->nargs; i++) {
		const Arg *a = &node_args(r->g, n)[i];
		if (a->kind == AR_NODE && a->u.node.i == through.i)
			return i ? 1000 + (int)i : -1;
		if (a->kind == AR_LIST || a->kind == AR_TUPLE)
			for (uint32_t j = 0; j < a->n; j++)
				if (arg_kids(r->g, a)[j].kind == AR_NODE && arg_kids(r->g, a)[j].u.node.i == through.i)
					return (int)j;
	}
	return k ? (int)k : -1;
}

static bool is_setitem(const GraphRun *r)
{
	const Node *n = graph_node(r->g, r->node);
	return n->callee == CALLEE_OPERATOR && str_eq(step_target(r, n), S("setitem")) && n->nargs == 3;
}

void step_plan(GraphRun *r, NodeId through, uint32_t k, PlannedWrite *w)
{
	Sim *s = r->s;
	const SimTensor t = *sim_tensor_of(s, w->target);
	const Node *n = graph_node(r->g, r->node);
	SemCall c = step_sem(r);
	int64_t size[SIM_DIMS];
	uint32_t ndim = 0;
	if (!t.idx && is_setitem(r) && step_place(r, w->target, -1, NULL, 0, &w->at)) {
		TermId args[16];
		uint32_t nargs = 0;
		w->part = true;
		if (sem_fills(&c, -1, &w->whole))
			return;
		step_terms(r, step_arg(r, &node_args(r->g, n)[2]), args, &nargs, 16, 0);
		w->whole = nargs == 1 ? args[0] : step_whole(r, -1);
		return;
	}
	if (!t.idx) {
		if (!is_setitem(r) && sem_fills(&c, -1, &w->whole))
			return;
		w->whole = step_whole(r, -1);
		if (is_setitem(r)) { /* a part of it: written in the place that the index names */
			const Arg *a = node_args(r->g, n);
			Buf b = {.a = s->scratch};
			arg_text(r->p, r->g, &a[1], &b);
			TermId old = sim_content(s, w->target);
			w->whole = term_op(s->terms, sym_intern(s->names, S("put")), (TermId[]){old, w->whole}, 2, hash_bytes(4, b.p, b.n) | 1);
			w->mixes = true;
		}
		return;
	}
	if (is_setitem(r) && sem_index_sizes(&c, &node_args(r->g, n)[0], &node_args(r->g, n)[1], size, &ndim)) {
		uint64_t numel = 1;
		for (uint32_t d = 0; d < ndim; d++)
			numel = numel > SIM_SMALL ? numel : numel * (uint64_t)(size[d] <= SIM_SMALL ? size[d] : SIM_SMALL + 1);
		const Arg *source;
		uint32_t *map = NEW_N(s->scratch, uint32_t, numel + 1);
		TermId *e = NEW_N(s->scratch, TermId, numel + 1);
		if (numel <= SIM_SMALL && sem_move(&c, -1, size, ndim, (uint32_t)numel, &source, map)) {
			sem_apply(&c, -1, size, ndim, (uint32_t)numel, e);
			w->map = map;
			w->terms = e;
			w->n = (uint32_t)numel;
			return;
		}
	}
	TermId *e = NEW_N(s->scratch, TermId, t.numel + 1);
	sem_apply(&c, write_member(r, through, k), t.size, t.ndim, t.numel, e);
	w->terms = e;
	w->n = t.numel;
}

/* The object stays what it is and is now where the other one is. */
static void take_place(SimTensor *x, const SimTensor *y)
{
	SimTensor old = *x;
	*x = *y;
	x->self = old.self;
	x->version = old.version;
	x->parent = old.parent;
	x->base = old.base;
}

/* The object that a frame changes is what a graph handed out last under this name. */
static void note_reshape(GraphRun *r, Ref v)
{
	enum { MOST = 1024 };
	Sim *s = r->s;
	for (uint32_t k = s->left.n; k-- > 0 && s->reshapes.n < MOST;) {
		const SimLeft *l = &s->left.v[k];
		if (l->value != v)
			continue;
		VEC_PUSH(s->a, &s->reshapes, ((SimReshape){l->graph, l->output, s->here, graph_node(r->g, r->node)->target}));
		return;
	}
}

static void resize_tensor(GraphRun *r, Ref v)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	Str t = step_target(r, n);
	if (r->eager)
		note_reshape(r, v);
	SimTensor *x = sim_tensor_of(s, v);
	x->version++;
	if (str_has(t, S("set_")) || str_has(t, S("data"))) {
		const Arg *a = node_args(r->g, n);
		Ref src = n->nargs > 1 && a[1].kind == AR_NODE ? r->v[a[1].u.node.i] : 0;
		if (src && sim_is_tensor(s, src)) {
			SimTensor y = *sim_tensor_of(s, src);
			take_place(x, &y);
		}
		return;
	}
	/* t_, unsqueeze_ and their like: the view that the functional form would give, put into the object */
	Ref view = step_view(r, v, -1);
	SimTensor y = *sim_tensor_of(s, view);
	x = sim_tensor_of(s, v);
	if (y.idx || !x->idx)
		take_place(x, &y);
	else
		sim_unsure(s, S("sizes or strides that change in a way that is not followed")); /* resize_ to more elements, as_strided_ */
}

void step_apply(GraphRun *r, const PlannedWrite *w)
{
	step_touch(r, w->target, true);
	if (w->metadata)
		resize_tensor(r, w->target);
	else if (w->terms)
		sim_write_elements(r->s, w->target, w->map, w->n, w->terms);
	else if (w->part)
		sim_write_part(r->s, w->target, w->at.size, w->at.stride, w->at.ndim, w->at.offset, w->whole);
	else
		sim_write_whole(r->s, w->target, w->whole);
	if (w->mixes)
		r->s->stores.v[sim_tensor_of(r->s, w->target)->store].coarse = true;
}
