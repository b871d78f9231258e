/* SPDX-License-Identifier: MIT */
#include "match_world.h"

/* Values that one question looks at, at most: the rest is not found, and the rule's work limit says so. */
enum { LOOKED_MOST = 20000 };

/* ---- making it ---- */

static void add_link(World *w, Val from, Val to, bool same)
{
	CrossLink l = {.from = from, .to = to, .same = same};
	for (uint32_t i = map_get(&w->to, val_key(to)); i; i = w->links.v[i - 1].next_to)
		if (val_eq(w->links.v[i - 1].from, from))
			return;
	l.next_from = map_get(&w->from, val_key(from));
	l.next_to = map_get(&w->to, val_key(to));
	VEC_PUSH(w->a, &w->links, l);
	map_put(&w->from, val_key(from), w->links.n);
	map_put(&w->to, val_key(to), w->links.n);
}

static const Graph *graph_of(const World *w, uint32_t g)
{
	return graph_get(w->c->p, (GraphId){g});
}

/* Where outputs go, as frames show it. */
static void add_flows(World *w, const Graph *g)
{
	const GraphVerdicts *v = w->c->verdicts ? &w->c->verdicts[g->id.i] : NULL;
	for (uint32_t i = 0; v && i < v->flows.n; i++) {
		const GraphFlow *f = &v->flows.v[i];
		const Graph *to = graph_get(w->c->p, f->to);
		if (!to || f->output >= g->outputs.n || f->input >= to->inputs.n || g->outputs.v[f->output].arg.kind != AR_NODE)
			continue;
		add_link(w, (Val){g->id.i, g->outputs.v[f->output].arg.u.node.i}, (Val){to->id.i, to->inputs.v[f->input].i}, f->same);
	}
}

/* What a call of a child module hands in and gets back. */
static void add_call(World *w, const Graph *g, uint32_t n)
{
	const Node *node = &g->nodes.v[n];
	const Graph *child = graph_get(w->c->p, graph_child(g, node->target));
	if (!child)
		return;
	for (uint32_t k = 0; k < node->nargs && k < child->inputs.n; k++) {
		const Arg *a = &node_args(g, node)[k];
		if (a->kind == AR_NODE && !a->key.i)
			add_link(w, (Val){g->id.i, a->u.node.i}, (Val){child->id.i, child->inputs.v[k].i}, true);
	}
	if (child->outputs.n == 1 && child->returns_bare && child->outputs.v[0].arg.kind == AR_NODE)
		add_link(w, (Val){child->id.i, child->outputs.v[0].arg.u.node.i}, (Val){g->id.i, n}, true);
}

/* x[2] of what a child module returned. */
static void add_item(World *w, const Graph *g, uint32_t n)
{
	const Node *node = &g->nodes.v[n];
	const Arg *a = node_args(g, node);
	if (node->nargs != 2 || a[0].kind != AR_NODE || a[1].kind != AR_INT)
		return;
	const Node *call = graph_node(g, a[0].u.node);
	if (call->kind != NK_CALL || call->callee != CALLEE_MODULE)
		return;
	const Graph *child = graph_get(w->c->p, graph_child(g, call->target));
	if (child && !child->returns_bare && a[1].u.num >= 0 && a[1].u.num < child->outputs.n &&
	    child->outputs.v[a[1].u.num].arg.kind == AR_NODE)
		add_link(w, (Val){child->id.i, child->outputs.v[a[1].u.num].arg.u.node.i}, (Val){g->id.i, n}, true);
}

void world_init(World *w, const CheckCtx *c, Arena *a)
{
	*w = (World){.c = c, .a = a, .from = {.a = a}, .to = {.a = a}, .packets = {.a = a}};
	w->graphs = NEW_N(a, CheckGraph *, c->p->graphs.n + 1);
	Str getitem = S("getitem");
	Sym item = sym_find(c->p->names, getitem);
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (!check_wanted(c, g))
			continue;
		add_flows(w, g);
		for (uint32_t n = 1; g->children.n && n < g->nodes.n; n++) {
			const Node *node = &g->nodes.v[n];
			if (node->kind == NK_CALL && node->callee == CALLEE_MODULE)
				add_call(w, g, n);
			else if (node->kind == NK_CALL && node->callee == CALLEE_OPERATOR && item.i && sym_eq(node->target, item))
				add_item(w, g, n);
		}
	}
}

bool world_work(World *w, uint64_t n)
{
	w->work += n;
	return w->work <= w->most;
}

CheckGraph *world_graph(World *w, uint32_t g)
{
	if (!w->graphs[g] && check_wanted(w->c, graph_of(w, g))) {
		CheckCtx c = *w->c;
		c.scratch = w->a;
		w->graphs[g] = check_graph_of(&c, graph_of(w, g));
	}
	return w->graphs[g];
}

const Node *world_node(World *w, Val v)
{
	return graph_node(graph_of(w, v.g), (NodeId){v.n});
}

/* ---- operators ---- */

/* Python's operators are ATen's, under other names. */
static Str python_packet(Str target)
{
	static const Str rows[][2] = {
#define PACKET(python, aten) {STR_INIT(python), STR_INIT(aten)},
#include "packets.def"
#undef PACKET
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (str_eq(rows[i][0], target))
			return rows[i][1];
	return (Str){0};
}

static Sym find_packet(World *w, Callee callee, Sym target)
{
	const Names *names = w->c->p->names;
	Str t = sym_str(names, target);
	static const Str ops = STR_INIT("torch.ops.");
	if (callee == CALLEE_OPERATOR)
		return sym_intern(w->c->p->names, python_packet(t));
	if (callee == CALLEE_FUNCTION && str_starts(t, ops)) { /* torch.ops.aten.view.default */
		uint32_t dot = str_find_char(t, '.', ops.n), end = str_find_char(t, '.', dot + 1);
		return sym_intern(w->c->p->names, str_sub(t, ops.n, end));
	}
	const Fact *f = facts_find(w->c->f, callee, t, (VersionSpan){0, 0});
	return f ? f->aten : (Sym){0};
}

Sym world_packet(World *w, Callee callee, Sym target)
{
	uint64_t key = (uint64_t)callee << 32 | target.i;
	uint32_t known = map_get(&w->packets, key);
	if (!known) {
		known = find_packet(w, callee, target).i + 1;
		map_put(&w->packets, key, known);
	}
	return (Sym){known - 1};
}

/* ---- walks ---- */

/* A set of values in the order in which they were met. */
typedef struct Walk {
	World *w;
	Arena *a;
	Vals *out;
	Tris *certain;
	Map met;       /* val_key -> index, plus 1 */
} Walk;

static void meet(Walk *k, Val v, Tri t)
{
	uint32_t known = map_get(&k->met, val_key(v));
	if (known) {
		if (k->certain && t > k->certain->v[known - 1])
			k->certain->v[known - 1] = t;
		return;
	}
	if (k->out->n >= LOOKED_MOST || !world_work(k->w, 1))
		return;
	VEC_PUSH(k->a, k->out, v);
	if (k->certain)
		VEC_PUSH(k->a, k->certain, t);
	map_put(&k->met, val_key(v), k->out->n);
}

static Walk begin(World *w, Val v, Arena *a, Vals *out, Tris *certain)
{
	Walk k = {w, a, out, certain, {.a = a}};
	out->n = 0;
	meet(&k, v, TRI_MUST);
	return k;
}

static void meet_links_up(Walk *k, Val v, Tri t, bool views)
{
	for (uint32_t i = map_get(&k->w->to, val_key(v)); i; i = k->w->links.v[i - 1].next_to)
		if (views || k->w->links.v[i - 1].same)
			meet(k, k->w->links.v[i - 1].from, t);
}

static void meet_links_down(Walk *k, Val v, Tri t, bool views)
{
	for (uint32_t i = map_get(&k->w->from, val_key(v)); i; i = k->w->links.v[i - 1].next_from)
		if (views || k->w->links.v[i - 1].same)
			meet(k, k->w->links.v[i - 1].to, t);
}

void world_sources(World *w, Val v, bool views, Arena *a, Vals *out)
{
	Walk k = begin(w, v, a, out, NULL);
	for (uint32_t i = 0; i < out->n; i++)
		meet_links_up(&k, out->v[i], TRI_MUST, views);
}

void world_sinks(World *w, Val v, bool views, Arena *a, Vals *out)
{
	Walk k = begin(w, v, a, out, NULL);
	for (uint32_t i = 0; i < out->n; i++)
		meet_links_down(&k, out->v[i], TRI_MUST, views);
}

bool world_same(World *w, Val x, Val y)
{
	if (val_eq(x, y))
		return true;
	if (x.g == y.g && !map_get(&w->to, val_key(x)) && !map_get(&w->to, val_key(y)))
		return false;
	Arena *a = w->c->scratch;
	ArenaMark mark = arena_mark(a);
	Vals xs = {0}, ys = {0};
	bool same = false;
	world_sources(w, x, false, a, &xs);
	world_sources(w, y, false, a, &ys);
	for (uint32_t i = 0; i < xs.n && !same; i++)
		for (uint32_t k = 0; k < ys.n && !same && world_work(w, 1); k++)
			same = val_eq(xs.v[i], ys.v[k]);
	arena_rewind(a, mark);
	return same;
}

/* ---- memory ---- */

void world_bases(World *w, Val v, Arena *a, Vals *out, Tris *certain)
{
	Tris own = {0};
	if (!certain)
		certain = &own;
	certain->n = 0;
	Walk k = begin(w, v, a, out, certain);
	for (uint32_t i = 0; i < out->n; i++) {
		Val x = out->v[i];
		const CheckGraph *g = world_graph(w, x.g);
		const NodeFrom *from = g ? &g->s->from[x.n] : NULL;
		if (from && from->node.i && from->shares != TRI_NO)
			meet(&k, (Val){x.g, from->node.i}, tri_and(certain->v[i], from->shares));
		meet_links_up(&k, x, certain->v[i], true);
	}
}

/* Users of a node that are views of it. */
static void meet_views(Walk *k, const CheckGraph *g, Val v)
{
	for (uint32_t u = g->user_at[v.n]; u < g->user_at[v.n + 1]; u++) {
		const NodeFrom *from = &g->s->from[g->users[u].i];
		if (from->node.i == v.n && from->shares != TRI_NO)
			meet(k, (Val){v.g, g->users[u].i}, TRI_MAY);
	}
}

void world_views(World *w, Val v, Arena *a, Vals *out)
{
	Walk k = begin(w, v, a, out, NULL);
	for (uint32_t i = 0; i < out->n; i++) {
		const CheckGraph *g = world_graph(w, out->v[i].g);
		if (g)
			meet_views(&k, g, out->v[i]);
		meet_links_down(&k, out->v[i], TRI_MAY, true);
	}
}

typedef struct ArgWalk {
	Walk *k;
	uint32_t g;
} ArgWalk;

static void meet_arg(void *ctx, NodeId id)
{
	ArgWalk *x = ctx;
	meet(x->k, (Val){x->g, id.i}, TRI_MAY);
}

void world_reasons(World *w, Val v, Arena *a, Vals *out)
{
	Walk k = begin(w, v, a, out, NULL);
	for (uint32_t i = 0; i < out->n; i++) {
		Val x = out->v[i];
		const Graph *g = graph_of(w, x.g);
		const Node *n = graph_node(g, (NodeId){x.n});
		ArgWalk args = {&k, x.g};
		for (uint32_t m = 0; m < n->nargs; m++)
			arg_each_node(g, &node_args(g, n)[m], meet_arg, &args);
		meet_links_up(&k, x, TRI_MAY, true);
	}
}

void world_results(World *w, Val v, Arena *a, Vals *out)
{
	Walk k = begin(w, v, a, out, NULL);
	for (uint32_t i = 0; i < out->n; i++) {
		Val x = out->v[i];
		const CheckGraph *g = world_graph(w, x.g);
		for (uint32_t u = g ? g->user_at[x.n] : 0; g && u < g->user_at[x.n + 1]; u++)
			meet(&k, (Val){x.g, g->users[u].i}, TRI_MAY);
		meet_links_down(&k, x, TRI_MAY, true);
	}
}

/* The reason of the first step on the way from a value that shares only perhaps. */
static Str perhaps_why(World *w, Val v)
{
	for (uint32_t steps = 0; steps < LOOKED_MOST; steps++) {
		const CheckGraph *g = world_graph(w, v.g);
		const NodeFrom *from = g ? &g->s->from[v.n] : NULL;
		if (!from || !from->node.i || from->shares == TRI_NO)
			return (Str){0};
		if (from->shares == TRI_MAY)
			return from->why;
		v.n = from->node.i;
	}
	return (Str){0};
}

/* Within one graph without links the answer is on the one way up; else the sets of both are compared. */
Tri world_aliases(World *w, Val x, Val y, Str *why)
{
	Arena *a = w->c->scratch;
	if (val_eq(x, y))
		return TRI_MUST;
	ArenaMark mark = arena_mark(a);
	Vals xs = {0}, ys = {0};
	Tris tx = {0}, ty = {0};
	Tri best = TRI_NO;
	world_bases(w, x, a, &xs, &tx);
	world_bases(w, y, a, &ys, &ty);
	Map at = {.a = a};
	for (uint32_t i = 0; i < xs.n; i++)
		map_put(&at, val_key(xs.v[i]), i + 1);
	for (uint32_t i = 0; i < ys.n; i++) {
		uint32_t k = map_get(&at, val_key(ys.v[i]));
		if (k)
			best = tri_or(best, tri_and(tx.v[k - 1], ty.v[i]));
	}
	arena_rewind(a, mark);
	if (best == TRI_MAY && why && !why->n) {
		*why = perhaps_why(w, x);
		if (!why->n)
			*why = perhaps_why(w, y);
	}
	return best;
}

void world_users(World *w, Val v, Arena *a, Vals *out)
{
	Vals sinks = {0};
	world_sinks(w, v, false, a, &sinks);
	out->n = 0;
	for (uint32_t i = 0; i < sinks.n; i++) {
		const CheckGraph *g = world_graph(w, sinks.v[i].g);
		uint32_t last = 0;
		for (uint32_t u = g ? g->user_at[sinks.v[i].n] : 0; g && u < g->user_at[sinks.v[i].n + 1]; u++) {
			if (g->users[u].i == last || !world_work(w, 1))
				continue;
			last = g->users[u].i;
			VEC_PUSH(a, out, ((Val){sinks.v[i].g, last}));
		}
	}
}
