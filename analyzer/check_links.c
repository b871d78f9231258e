/* SPDX-License-Identifier: MIT */
#include "check_links.h"

NodeId check_output_node(const Graph *g, uint32_t output)
{
	if (output >= g->outputs.n || g->outputs.v[output].arg.kind != AR_NODE)
		return (NodeId){0};
	return g->outputs.v[output].arg.u.node;
}

/* ---- parts printed one by one behind their parent ---- */

static bool is_part_call(const Node *n)
{
	return n->kind == NK_CALL && n->callee == CALLEE_MODULE;
}

/* A whole number at the end of a name: 3 of submod_3; UINT32_MAX none. */
static uint32_t number_of(Str name)
{
	uint32_t at = name.n, k;
	while (at && name.p[at - 1] >= '0' && name.p[at - 1] <= '9')
		at--;
	return str_to_u32(str_sub(name, at, name.n), &k) ? k : UINT32_MAX;
}

/* Position of a target among those that the parent calls, by the numbers in their names; UINT32_MAX: not all have one. */
static uint32_t rank_of(const CheckCtx *c, const Graph *parent, Sym target, uint32_t *count)
{
	Map seen = {.a = c->scratch};
	uint32_t mine = number_of(sym_str(c->p->names, target)), before = 0;
	*count = 0;
	for (uint32_t i = 1; i < parent->nodes.n; i++) {
		const Node *n = &parent->nodes.v[i];
		if (!is_part_call(n) || map_get(&seen, n->target.i))
			continue;
		map_put(&seen, n->target.i, 1);
		uint32_t k = number_of(sym_str(c->p->names, n->target));
		if (k == UINT32_MAX || graph_child(parent, n->target).i)
			return UINT32_MAX;
		++*count;
		before += k < mine;
	}
	return mine == UINT32_MAX ? mine : before;
}

/* Graphs printed behind the parent, as many as it calls: taken in the order of the numbers in the names of the parts. */
static GraphId printed_behind(const CheckCtx *c, const Graph *parent, const Node *call)
{
	ArenaMark mark = arena_mark(c->scratch);
	uint32_t count, rank = rank_of(c, parent, call->target, &count);
	arena_rewind(c->scratch, mark);
	if (rank == UINT32_MAX || parent->id.i + count >= c->p->graphs.n)
		return (GraphId){0};
	for (uint32_t k = 1; k <= count; k++) {
		const Graph *g = c->p->graphs.v[parent->id.i + k];
		if (g->parent.i || g->file.i != parent->file.i || g->process.i != parent->process.i || g->stage != parent->stage ||
		    g->compile_id.i || g->printing_of.i)
			return (GraphId){0};
	}
	const Graph *g = c->p->graphs.v[parent->id.i + rank + 1];
	return g->inputs.n == call->nargs ? g->id : (GraphId){0};
}

GraphId check_part_of_call(const CheckCtx *c, const Graph *parent, const Node *call, bool *inferred)
{
	GraphId child = graph_child(parent, call->target);
	*inferred = !child.i;
	return child.i || parent->children.n ? child : printed_behind(c, parent, call);
}

/* ---- through parents ---- */

/* Where a value of the parent comes from: output of a part. */
typedef struct Origin {
	GraphId graph; /* 0: of no part */
	uint32_t output;
	bool whole;    /* all outputs: a tuple to take apart */
	bool inferred;
} Origin;

static Origin origin_of_call(const CheckCtx *c, const Graph *parent, const Node *n)
{
	bool inferred;
	const Graph *part = graph_get(c->p, check_part_of_call(c, parent, n, &inferred));
	if (!part || !check_wanted(c, part))
		return (Origin){0};
	return (Origin){part->id, 0, !(part->returns_bare && part->outputs.n == 1), inferred};
}

static Origin origin_of_item(const CheckCtx *c, const Graph *g, const Node *n, const Origin *origins)
{
	const Arg *a = node_args(g, n);
	if (n->callee != CALLEE_OPERATOR || n->nargs != 2 || a[0].kind != AR_NODE || a[1].kind != AR_INT || a[1].u.num < 0 ||
	    !str_eq(sym_str(c->p->names, n->target), S("getitem")))
		return (Origin){0};
	Origin o = origins[a[0].u.node.i];
	if (!o.graph.i || !o.whole)
		return (Origin){0};
	o.whole = false;
	o.output = (uint32_t)a[1].u.num;
	return o.output < graph_get(c->p, o.graph)->outputs.n ? o : (Origin){0};
}

static void enter_part(const CheckCtx *c, const Graph *parent, NodeId call, const Origin *origins, Crossings *out, Arena *a)
{
	const Node *n = graph_node(parent, call);
	bool inferred;
	const Graph *part = graph_get(c->p, check_part_of_call(c, parent, n, &inferred));
	for (uint32_t i = 0; part && i < n->nargs && i < part->inputs.n; i++) {
		const Arg *arg = &node_args(parent, n)[i];
		if (arg->kind != AR_NODE || arg->key.i)
			continue;
		Origin o = origins[arg->u.node.i];
		if (o.graph.i && !o.whole)
			VEC_PUSH(a, &out->v, ((Crossing){.from = o.graph, .to = part->id, .output = o.output, .input = i, .same = true,
			                                 .inferred = inferred || o.inferred, .parent = parent->id, .call = call}));
	}
}

static void through_parent(const CheckCtx *c, const Graph *g, Crossings *out, Arena *a)
{
	Origin *origins = NULL;
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		if (n->kind != NK_CALL || (!origins && !is_part_call(n)))
			continue;
		if (!origins)
			origins = NEW_N(c->scratch, Origin, g->nodes.n);
		if (is_part_call(n)) {
			enter_part(c, g, (NodeId){i}, origins, out, a);
			origins[i] = origin_of_call(c, g, n);
		} else {
			origins[i] = origin_of_item(c, g, n, origins);
		}
	}
}

/* ---- through frames ---- */

static void through_frames(const GraphVerdicts *v, GraphId from, Crossings *out, Arena *a)
{
	for (uint32_t i = 0; i < v->flows.n; i++)
		VEC_PUSH(a, &out->v, ((Crossing){.from = from, .to = v->flows.v[i].to, .output = v->flows.v[i].output,
		                                 .input = v->flows.v[i].input, .same = v->flows.v[i].same}));
	for (uint32_t i = 0; i < v->plain_flows.n; i++)
		VEC_PUSH(a, &out->v, ((Crossing){.from = from, .to = v->plain_flows.v[i].to, .output = v->plain_flows.v[i].output,
		                                 .input = v->plain_flows.v[i].input, .same = true}));
}

void check_crossings(const CheckCtx *c, Crossings *out, Arena *a)
{
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (!check_wanted(c, g))
			continue;
		through_parent(c, g, out, a);
		if (c->verdicts)
			through_frames(&c->verdicts[i], g->id, out, a);
	}
}
