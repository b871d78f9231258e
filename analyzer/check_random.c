/* SPDX-License-Identifier: MIT
 * GL402: dropout that is on where nothing is trained, and random operators whose order only their position keeps. */
#include "check.h"

/* ---- does a call draw random numbers? ---- */

static Tri literal_truth(const Arg *a)
{
	switch (a ? (ArgKind)a->kind : AR_NONE) {
	case AR_NONE: return TRI_NO;
	case AR_BOOL:
	case AR_INT: return a->u.num ? TRI_MUST : TRI_NO;
	case AR_FLOAT: return a->u.real != 0 ? TRI_MUST : TRI_NO;
	default: return TRI_MAY;
	}
}

static Tri default_truth(Str printed)
{
	if (!printed.n)
		return TRI_MAY;
	return str_eq(printed, S("False")) || str_eq(printed, S("0")) || str_eq(printed, S("0.0")) || str_eq(printed, S("None")) ? TRI_NO
	                                                                                                                        : TRI_MUST;
}

/* Is a switch of the call on, as given or by its default? MUST where the operator has no such switch. */
static Tri switch_on(const CheckCtx *c, const Graph *g, const Node *n, Str name)
{
	const Overload *o;
	uint32_t count = facts_params(c->f, (Callee)n->callee, sym_str(c->p->names, n->target), &o);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < o[i].n; k++) {
			if (!str_eq(sym_str(c->p->names, o[i].v[k].name), name))
				continue;
			const Arg *a = call_param(c->f, g, n, name);
			return a ? literal_truth(a) : default_truth(o[i].v[k].dflt);
		}
	return TRI_MUST;
}

static Tri switches_on(const CheckCtx *c, const Graph *g, const Node *n, Str op)
{
	static const struct {
		Str op;
		int at;
		Str keyword;
	} known[] = {
#define RANDOM_SWITCH(op, at, keyword) {STR_INIT(op), at, STR_INIT(keyword)},
#include "random_switches.def"
#undef RANDOM_SWITCH
	};
	Tri on = TRI_MUST;
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(known[i].op, op))
			on = tri_and(on, literal_truth(call_arg(c->f, g, n, known[i].at, known[i].keyword)));
	on = tri_and(on, switch_on(c, g, n, S("p")));
	on = tri_and(on, switch_on(c, g, n, S("training")));
	return tri_and(on, switch_on(c, g, n, S("train")));
}

static Tri draws(const CheckCtx *c, const CheckGraph *cg, NodeId id)
{
	const Node *n = graph_node(cg->g, id);
	const Fact *fact = cg->fact[id.i];
	Str op = operator_short(c->p, n);
	if (!fact || !fact_has(fact, FT_RNG) || fact->kind == FK_SCALAR || str_has(op, S("backward")))
		return TRI_NO;
	return switches_on(c, cg->g, n, op);
}

/* One that drops elements: nothing that inference wants. */
static bool drops(Str op)
{
	return str_has(op, S("dropout")) || str_has(op, S("dot_product"));
}

/* ---- is it training? ---- */

static bool is_prefixed(const CheckCtx *c, const Graph *g, Str prefix)
{
	for (uint32_t i = 0; i < g->inputs.n; i++)
		if (str_starts(check_name(c, g, g->inputs.v[i]), prefix))
			return true;
	return false;
}

static uint64_t process_key(FileId file, Sym process)
{
	return ((uint64_t)file.i << 32 | process.i) + 1;
}

typedef struct Modes {
	Map trains;    /* process -> 1: some graph of it has a backward */
	Map inference; /* GraphId of a Dynamo graph, or of an AOT graph without one -> AOT's graph of it, which has none */
} Modes;

static void find_modes(const CheckCtx *c, Modes *m)
{
	m->trains.a = m->inference.a = c->scratch;
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		bool forward = g->stage == STAGE_AOT_FORWARD && !g->parent.i;
		bool trains = forward && is_prefixed(c, g, S("primals"));
		if (trains || g->stage == STAGE_AOT_BACKWARD || g->stage == STAGE_AOT_JOINT)
			map_put(&m->trains, process_key(g->file, g->process), 1);
		else if (forward && (!g->inputs.n || is_prefixed(c, g, S("arg"))))
			map_put(&m->inference, g->of.i ? g->of.i : i, i);
	}
}

/* ---- dropout in inference ---- */

typedef struct GradMode {
	bool off;
	NodeId since;
} GradMode;

static void follow_grad_mode(const CheckCtx *c, const Graph *g, NodeId id, GradMode *m)
{
	const Node *n = graph_node(g, id);
	Str op = n->kind == NK_CALL && n->callee == CALLEE_FUNCTION ? operator_short(c->p, n) : (Str){0};
	const Arg *a = n->nargs ? node_args(g, n) : NULL;
	if (str_eq(op, S("_set_grad_enabled")))
		*m = (GradMode){a && a->kind == AR_BOOL && !a->u.num, id};
	else if (str_eq(op, S("_enter_inference_mode")))
		*m = (GradMode){true, id};
	else if (str_eq(op, S("_exit_inference_mode")))
		*m = (GradMode){0};
}

static void dropout_in_inference(const CheckCtx *c, const CheckGraph *cg, const Graph *aot, bool trains)
{
	const Graph *g = cg->g;
	GradMode mode = {0};
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		NodeId id = {i};
		follow_grad_mode(c, g, id, &mode);
		if (graph_node(g, id)->kind != NK_CALL || (!mode.off && !aot) || !drops(operator_short(c->p, graph_node(g, id))) ||
		    draws(c, cg, id) != TRI_MUST)
			continue;
		Finding *f = check_finding(c, CHECK_GL402, trains ? SEV_NOTE : SEV_WARNING, g, id);
		f->certainty = TRI_MUST;
		f->variant = mode.off ? S("no-grad") : S("inference");
		check_step(c, f, ROLE_PLACE, g, id, "elements are dropped here");
		if (mode.off)
			check_step(c, f, ROLE_PLACE, g, mode.since, "no gradients are recorded since here");
		else
			check_step(c, f, ROLE_PLACE, aot, (NodeId){0}, "AOTAutograd made a graph without a backward");
	}
}

/* ---- order of parts ---- */

typedef struct Draw {
	GraphId graph;
	NodeId node;
} Draw;

/* By GraphId: the first call in it, or in a graph within it, that draws. Bodies are printed after their parents. */
static Draw *first_draws(const CheckCtx *c)
{
	const Program *p = c->p;
	Draw *first = NEW_N(c->scratch, Draw, p->graphs.n);
	for (uint32_t i = p->graphs.n; i-- > 1;) {
		const Graph *g = p->graphs.v[i];
		if (!check_wanted(c, g) || !g->parent.i)
			continue;
		ArenaMark mark = arena_mark(c->scratch);
		const CheckGraph *cg = check_graph_of(c, g);
		for (uint32_t k = 1; k < g->nodes.n && !first[i].node.i; k++)
			if (draws(c, cg, (NodeId){k}) == TRI_MUST)
				first[i] = (Draw){g->id, {k}};
		arena_rewind(c->scratch, mark);
		if (first[i].node.i && !first[g->parent.i].node.i)
			first[g->parent.i] = first[i];
	}
	return first;
}

typedef struct Latest {
	uint32_t *after; /* by NodeId: number of the latest drawing part whose result it depends on */
	uint32_t most;
} Latest;

static void depend(void *ctx, NodeId id)
{
	Latest *l = ctx;
	if (l->after[id.i] > l->most)
		l->most = l->after[id.i];
}

static void unordered(const CheckCtx *c, const Graph *g, NodeId before, NodeId id, Draw first, Draw second)
{
	Finding *f = check_finding(c, CHECK_GL402, SEV_WARNING, g, id);
	f->variant = S("order");
	f->certainty = TRI_MUST;
	diag_var(c->d, f, S("what"), check_target(c, g, before));
	diag_var(c->d, f, S("text"), check_target(c, g, id));
	check_step(c, f, ROLE_PLACE, graph_get(c->p, first.graph), first.node, "the part that is called first draws here");
	check_step(c, f, ROLE_PLACE, graph_get(c->p, second.graph), second.node, "the part that is called second draws here");
	check_step(c, f, ROLE_BOUNDARY, g, before, "the first part");
	check_step(c, f, ROLE_BOUNDARY, g, id, "the second part takes nothing of what the first returns");
}

/* Parts that draw are numbered in the order of their calls; each has to depend on the one before it. */
static void order_of_parts(const CheckCtx *c, const Graph *g, const Draw *first)
{
	ArenaMark mark = arena_mark(c->scratch);
	Latest l = {.after = NEW_N(c->scratch, uint32_t, g->nodes.n)};
	NodeId before = {0};
	Draw drew = {0};
	uint32_t count = 0;
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		l.most = 0;
		for (uint32_t k = 0; k < n->nargs; k++)
			arg_each_node(g, &node_args(g, n)[k], depend, &l);
		l.after[i] = l.most;
		if (n->kind != NK_CALL || n->callee != CALLEE_MODULE)
			continue;
		Draw d = first[graph_child(g, n->target).i];
		if (!d.node.i)
			continue;
		if (count && l.most < count)
			unordered(c, g, before, (NodeId){i}, drew, d);
		before = (NodeId){i};
		drew = d;
		l.after[i] = ++count;
	}
	arena_rewind(c->scratch, mark);
}

static bool has_parts(const CheckCtx *c, const Graph *g)
{
	for (uint32_t i = 0; i < g->children.n; i++)
		if (c->part[g->children.v[i].graph.i])
			return true;
	return false;
}

static bool may_drop(const CheckCtx *c, const Graph *g)
{
	for (uint32_t i = 1; i < g->nodes.n; i++)
		if (g->nodes.v[i].kind == NK_CALL && drops(operator_short(c->p, &g->nodes.v[i])))
			return true;
	return false;
}

void check_randomness(const CheckCtx *c)
{
	Modes m = {0};
	Draw *first = NULL;
	find_modes(c, &m);
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (!check_wanted(c, g))
			continue;
		if (has_parts(c, g)) {
			first = first ? first : first_draws(c);
			order_of_parts(c, g, first);
		}
		if (check_is_repeat(g) || !may_drop(c, g))
			continue;
		bool trains = map_get(&m.trains, process_key(g->file, g->process));
		uint32_t aot = trains ? 0 : map_get(&m.inference, g->parent.i ? g->parent.i : i);
		ArenaMark mark = arena_mark(c->scratch);
		dropout_in_inference(c, check_graph_of(c, g), graph_get(c->p, (GraphId){aot}), trains);
		arena_rewind(c->scratch, mark);
	}
}
