/* SPDX-License-Identifier: MIT */
#include "sim_names.h"

enum { HOLDERS_SEEN = 256 }; /* so many of the newest are candidates */

/* A tensor object: who handed it out last. */
typedef struct Holder {
	uint32_t store, call; /* call 0: no graph did */
	TypeId type;
	Sym name;             /* of the variable */
	GraphId graph;
	uint32_t output;
	uint32_t used;        /* by an input of that call, plus 1 */
	uint32_t uses;        /* inputs that it was */
} Holder;

typedef struct Replay {
	const VerdictCtx *c;
	Arena *a;
	GraphVerdicts *out;
	VEC(Holder) holders;  /* slot 0 unused */
	Map attributes;       /* name of an attribute's placeholder -> holder */
	Map seen;             /* flows that were added */
	uint32_t stores, calls;
} Replay;

static bool fits_dim(const Types *t, ExprId a, ExprId b)
{
	int64_t x, y;
	return !expr_value(t, a, &x) || !expr_value(t, b, &y) || x == y;
}

static bool fits(const Types *t, TypeId a, TypeId b)
{
	const Type *x = type_get(t, a), *y = type_get(t, b);
	bool same = x->kind == TK_TENSOR && y->kind == TK_TENSOR && x->dtype == y->dtype && x->has_shape && y->has_shape && x->ndim == y->ndim;
	for (uint32_t d = 0; same && d < x->ndim; d++)
		same = fits_dim(t, x->size[d], y->size[d]) &&
		       (!x->has_stride || !y->has_stride || fits_dim(t, x->stride[d], y->stride[d]));
	return same;
}

/* "x" of L_x_; empty: it is not the name of a local. */
static Str local_name(Str target)
{
	bool local = str_starts(target, S("L_")) && str_ends(target, S("_")) && target.n > 3 && !str_starts(target, S("L_self_"));
	return local ? str_sub(target, 2, target.n - 1) : (Str){0};
}

static bool is_stack(Str name)
{
	return str_starts(name, S("stack")) || str_starts(name, S("__stack"));
}

/* x of x_3: later values of a variable are counted. */
static Str base_name(Str name)
{
	uint32_t n = name.n;
	while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	return n < name.n && n > 1 && name.p[n - 1] == '_' ? str_sub(name, 0, n - 1) : name;
}

static uint32_t add_holder(Replay *r, Holder h)
{
	VEC_PUSH(r->a, &r->holders, h);
	return r->holders.n - 1;
}

enum { SCORE_NONE, SCORE_FREE, SCORE_ONLY, SCORE_NEXT, SCORE_BASE, SCORE_NAME };

/* How well a holder answers to a name. By its type alone only what the graph before handed out, what was on the stack, and
 * what nobody has taken so far. */
static uint32_t score(const Replay *r, const Holder *h, Str name)
{
	Str has = sym_str(r->c->names, h->name);
	if (has.n && str_eq(has, name))
		return SCORE_NAME;
	if (has.n && str_eq(base_name(has), name))
		return SCORE_BASE;
	if (!h->call || h->used == r->calls + 1)
		return SCORE_NONE;
	return h->call == r->calls ? SCORE_NEXT : is_stack(name) ? SCORE_ONLY : h->uses ? SCORE_NONE : SCORE_FREE;
}

/* Of two that one graph handed out: the one that was taken less often, then the first. `i` stands before `best`. */
static bool goes_first(const Replay *r, uint32_t i, uint32_t best)
{
	const Holder *h = &r->holders.v[i], *b = &r->holders.v[best];
	return h->call && h->call == b->call && h->uses <= b->uses;
}

/* The holder that an input is; 0: none that is known. */
static uint32_t find_holder(const Replay *r, TypeId type, Str name)
{
	uint32_t best = 0, most = SCORE_NONE, alike = 0;
	uint32_t stop = r->holders.n > HOLDERS_SEEN ? r->holders.n - HOLDERS_SEEN : 1;
	for (uint32_t i = r->holders.n; i-- > stop;) {
		const Holder *h = &r->holders.v[i];
		uint32_t s = fits(r->c->t, h->type, type) ? score(r, h, name) : SCORE_NONE;
		alike = s > most ? 1 : alike + (s && s == most);
		if (s > most || (s && s == most && goes_first(r, i, best))) {
			most = s;
			best = i;
		}
	}
	return most == SCORE_ONLY && alike > 1 ? 0 : best;
}

static uint32_t holder_of(Replay *r, const Graph *g, uint32_t i)
{
	const Node *n = graph_node(g, g->inputs.v[i]);
	TypeId type = r->c->types[g->id.i]->v[g->inputs.v[i].i];
	Str target = sym_str(r->c->names, n->target), name = local_name(target);
	if (type_get(r->c->t, type)->kind != TK_TENSOR)
		return 0;
	uint32_t at = name.n ? find_holder(r, type, name) : map_get(&r->attributes, n->target.i + 1);
	if (!at) {
		at = add_holder(r, (Holder){.store = ++r->stores, .type = type, .name = name.n ? sym_intern(r->c->names, name) : (Sym){0}});
		if (!name.n)
			map_put(&r->attributes, n->target.i + 1, at);
	}
	r->holders.v[at].used = r->calls + 1;
	r->holders.v[at].uses++;
	return at;
}

static void add_flow(Replay *r, const Holder *h, const Graph *to, uint32_t input, bool same)
{
	uint64_t key = hash_u64(((uint64_t)h->graph.i << 32 | to->id.i) ^ hash_u64((uint64_t)h->output << 32 | input)) | 1;
	if (map_get(&r->seen, key))
		return;
	map_put(&r->seen, key, 1);
	VEC_PUSH(r->c->keep, &r->out[h->graph.i].flows, ((GraphFlow){h->output, input, to->id, same, true}));
}

/* From whoever handed out this object last, and from who handed out something of its memory after that. */
static void note_flow(Replay *r, const Graph *to, uint32_t input, uint32_t at)
{
	const Holder *h = &r->holders.v[at], *view = NULL;
	uint32_t stop = r->holders.n > HOLDERS_SEEN ? r->holders.n - HOLDERS_SEEN : 1;
	for (uint32_t i = stop; i < r->holders.n; i++) {
		const Holder *o = &r->holders.v[i];
		if (i != at && o->store == h->store && o->call > h->call && (!view || o->call > view->call))
			view = o;
	}
	if (h->call)
		add_flow(r, h, to, input, true);
	if (view)
		add_flow(r, view, to, input, false);
}

static uint32_t shared_store(const Replay *r, const OutputSummary *s, const uint32_t *in, const uint32_t *outs)
{
	bool inputs = s->kind == ALIAS_INPUT || s->kind == ALIAS_VIEW_OF_INPUT, outputs = s->kind == ALIAS_OUTPUT || s->kind == ALIAS_VIEW_OF_OUTPUT;
	uint32_t at = !s->nof ? 0 : inputs ? in[s->of[0]] : outputs ? outs[s->of[0]] : 0;
	return at ? r->holders.v[at].store : 0;
}

static void hand_out(Replay *r, const Graph *g, const uint32_t *in)
{
	const Summary *s = r->c->summaries[g->id.i];
	uint32_t *outs = NEW_N(r->a, uint32_t, g->outputs.n + 1);
	for (uint32_t j = 0; j < g->outputs.n; j++) {
		const OutputSummary *o = &s->outputs[j];
		TypeId type = o->node.i ? r->c->types[g->id.i]->v[o->node.i] : (TypeId){0};
		if (type_get(r->c->t, type)->kind != TK_TENSOR)
			continue;
		uint32_t same = o->kind == ALIAS_INPUT && o->certainty == TRI_MUST && o->nof ? in[o->of[0]] : 0;
		uint32_t store = shared_store(r, o, in, outs);
		outs[j] = same ? same : add_holder(r, (Holder){.store = store ? store : ++r->stores, .type = type, .name = graph_node(g, o->node)->name});
		r->holders.v[outs[j]].graph = g->id;
		r->holders.v[outs[j]].output = j;
		r->holders.v[outs[j]].call = r->calls;
	}
}

static void call(Replay *r, const Graph *g)
{
	uint32_t *in = NEW_N(r->a, uint32_t, g->inputs.n + 1);
	for (uint32_t i = 0; i < g->inputs.n; i++) {
		in[i] = holder_of(r, g, i);
		if (in[i])
			note_flow(r, g, i, in[i]);
	}
	if (!g->outputs.n)
		return;
	r->calls++;
	hand_out(r, g, in);
}

static bool is_captured(const VerdictCtx *c, const Graph *g)
{
	return g->stage == STAGE_DYNAMO && !g->printing_of.i && !g->superseded && !g->parent.i && c->summaries[g->id.i] && c->types[g->id.i];
}

static uint64_t process_key(FileId unit, Sym process)
{
	return ((uint64_t)unit.i << 32 | process.i) + 1;
}

void names_infer_flows(const VerdictCtx *c, GraphVerdicts *out)
{
	const Program *p = c->p;
	Map shown = {.a = c->runs}, replays = {.a = c->runs};
	VEC(Replay) all = {0};
	for (uint32_t i = 0; i < p->frames.n; i++)
		map_put(&shown, process_key(p->frames.v[i].unit, p->frames.v[i].process), 1);
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		uint64_t key = process_key(g->unit, g->process);
		if (!is_captured(c, g) || map_get(&shown, key))
			continue;
		uint32_t at = map_get(&replays, key);
		if (!at) {
			Replay r = {.c = c, .a = c->runs, .out = out, .attributes = {.a = c->runs}, .seen = {.a = c->runs}};
			VEC_PUSH(r.a, &r.holders, ((Holder){0}));
			VEC_PUSH(c->runs, &all, r);
			at = all.n;
			map_put(&replays, key, at);
		}
		call(&all.v[at - 1], g);
	}
	arena_free(c->runs);
}
