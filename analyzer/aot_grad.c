/* SPDX-License-Identifier: MIT */
#include "aot_grad.h"

#include "graph_words.h"

typedef struct Trial {
	GradTape *t;
	const Program *p;
	Arena *scratch, *keep;
	uint8_t *eager;       /* by node: its backward runs in eager code */
	uint32_t *seen, stamp; /* of walks */
	GradMask leaves;      /* that need a gradient in this trial */
	bool faint;
	const GradCall *c;
	uint32_t call;        /* its index + 1 */
	uint32_t end_node, first_write, end_write;
	Map last;             /* store -> version + 1 after the last write of the call */
	AotSaveds *out;
} Trial;

/* Nodes that a backward runs, in the order in which they are found. Walks share the stamps. */
typedef struct Walk {
	const GradTape *t;
	uint32_t *seen, stamp;
	VEC(uint32_t) found; /* nodes + 1 */
	uint32_t done;       /* of found: whose edges were followed */
	Arena *a;
} Walk;

static void walk_from(Walk *w, uint32_t fn)
{
	if (!fn || w->seen[fn - 1] == w->stamp)
		return;
	w->seen[fn - 1] = w->stamp;
	VEC_PUSH(w->a, &w->found, fn);
}

static void walk(Walk *w)
{
	while (w->done < w->found.n) {
		const GradNode *g = &w->t->nodes.v[w->found.v[w->done++] - 1];
		for (uint32_t i = 0; i < g->nedges; i++)
			walk_from(w, w->t->edges.v[g->edge + i]);
	}
}

static const GradSaved *saved_of(const GradTape *t, const GradNode *g)
{
	return t->saved.v ? t->saved.v + g->saved : NULL;
}

/* What eager code's own backward could not use: there the leaves need no gradient, or the program would stop. */
static void rule_out(GradTape *t, const uint8_t *eager)
{
	for (uint32_t i = 0; i < t->nodes.n; i++) {
		const GradNode *g = &t->nodes.v[i];
		for (uint32_t k = 0; eager[i] && k < g->nsaved; k++) {
			const GradSaved *x = &saved_of(t, g)[k];
			if (x->store < t->versions.n && t->versions.v[x->store] != x->version)
				t->never |= x->need;
		}
	}
}

static GradMask bit_of(uint32_t leaf)
{
	return (GradMask)1 << (leaf < GRAD_LEAVES ? leaf : GRAD_LEAVES - 1);
}

static GradMask parameters_of(const GradTape *t)
{
	GradMask m = 0;
	for (uint32_t i = 0; i < t->leaves.n; i++)
		m |= t->leaves.v[i].parameter ? bit_of(i) : 0;
	return m;
}

bool aot_is_faint(const GradTape *t, GradMask leaves)
{
	return t->module && !(leaves & parameters_of(t));
}

/* Could every argument need a gradient? */
static bool all_arguments_can(const GradTape *t)
{
	for (uint32_t i = 0; i < t->leaves.n; i++)
		if (t->leaves.v[i].argument && t->never & bit_of(i))
			return false;
	return true;
}

/* A parameter that is written with grad mode on, as far as the dump shows, was written with grad mode off. */
static bool mode_is_off(const GradTape *t)
{
	for (uint32_t i = 0; i < t->leaves.n; i++)
		if (t->leaves.v[i].parameter && !t->leaves.v[i].buffer && t->never & bit_of(i))
			return true;
	return false;
}

static GradMask leaves_of(const GradTape *t, uint32_t trial)
{
	GradMask m = 0;
	if (mode_is_off(t) || (trial == TRIAL_ALL && !all_arguments_can(t)))
		return 0;
	for (uint32_t i = 0; i < t->leaves.n; i++)
		if (trial != TRIAL_PARAMETERS || t->leaves.v[i].parameter)
			m |= bit_of(i);
	return m & ~t->never;
}

Str aot_needs(const GradTape *t, GradMask mask, const Names *names, Arena *a)
{
	for (uint32_t i = 0; i < t->leaves.n && i < GRAD_LEAVES; i++)
		if (mask >> i & 1 && t->leaves.v[i].name.i)
			return str_printf(a, "`" STR_FMT "` needs a gradient", STR_ARG(sym_str(names, t->leaves.v[i].name)));
	return S("an input needs a gradient");
}

static void found(Trial *r, AotSaved x, GradMask need)
{
	x.graph = r->c->graph;
	x.faint = r->faint || aot_is_faint(r->t, need & r->leaves);
	x.needs = aot_needs(r->t, need & r->leaves, r->p->names, r->keep);
	for (uint32_t i = 0; i < r->out->n; i++) {
		const AotSaved *o = &r->out->v[i];
		if (o->graph.i == x.graph.i && o->output == x.output && o->input == x.input && o->cause == x.cause)
			return;
	}
	VEC_PUSH(r->keep, r->out, x);
}

/* The first write of a store after a version. */
static const GradWrite *write_after(const GradTape *t, uint32_t store, uint32_t version)
{
	for (uint32_t i = 0; i < t->writes.n; i++)
		if (t->writes.v[i].store == store && t->writes.v[i].version > version)
			return &t->writes.v[i];
	return NULL;
}

static void name_write(const Trial *r, AotSaved *x, uint32_t store, uint32_t version)
{
	const GradWrite *w = write_after(r->t, store, version);
	if (!w)
		return;
	x->written = w->where;
	x->writer = str_copy(r->keep, sym_str(r->p->names, w->op));
}

static int32_t port_index(const GradPort *v, uint32_t n, const GradTape *t, const GradSaved *x, uint64_t elements)
{
	(void)t;
	for (uint32_t i = 0; i < n; i++)
		if (v[i].store == x->store && (v[i].tensor == x->tensor || v[i].elements == elements))
			return (int32_t)i;
	return -1;
}

/* A value that crosses the boundary is kept as it is, and written after the call. */
static void kept_value(Trial *r, const GradNode *g, const GradSaved *x)
{
	const GradTape *t = r->t;
	if (x->mask || map_get(&r->last, x->store) > x->version + 1 || x->store >= t->versions.n || t->versions.v[x->store] == x->version)
		return;
	int32_t out = port_index(r->c->outputs.v, r->c->outputs.n, t, x, x->elements);
	int32_t in = out < 0 ? port_index(r->c->inputs.v, r->c->inputs.n, t, x, x->elements) : -1;
	if (out < 0 && in < 0)
		return;
	AotSaved f = {.cause = AOT_CAUSE_SAVED_LATER, .output = -1, .input = -1, .node = g->node};
	if (out >= 0)
		f.output = (int32_t)r->c->outputs.v[out].index;
	else
		f.input = (int32_t)r->c->inputs.v[in].index;
	name_write(r, &f, x->store, x->version);
	found(r, f, x->need);
}

/* Written within the graph, after it was saved: tracing the backward of every output fails. */
static void saved_then_written(Trial *r, const GradNode *g, const GradSaved *x)
{
	if (map_get(&r->last, x->store) <= x->version + 1)
		return;
	AotSaved f = {.cause = AOT_CAUSE_SAVED, .output = -1, .input = -1, .node = g->node};
	int32_t out = port_index(r->c->outputs.v, r->c->outputs.n, r->t, x, x->elements);
	f.output = out >= 0 ? (int32_t)r->c->outputs.v[out].index : -1;
	name_write(r, &f, x->store, x->version);
	found(r, f, x->need);
}

/* What lies before the graph and runs only since the graph is one function. */
static void dragged_in(Trial *r, const Walk *all)
{
	const GradTape *t = r->t;
	for (uint32_t n = 0; n < all->found.n; n++) {
		uint32_t i = all->found.v[n] - 1;
		const GradNode *g = &t->nodes.v[i];
		for (uint32_t k = 0; i < r->c->first_node && !r->eager[i] && k < g->nsaved; k++) {
			const GradSaved *x = &saved_of(t, g)[k];
			if (!(x->need & r->leaves) || x->store >= t->versions.n || t->versions.v[x->store] == x->version)
				continue;
			AotSaved f = {.cause = AOT_CAUSE_SAVED_LATER, .output = -1, .input = -1};
			int32_t in = port_index(r->c->inputs.v, r->c->inputs.n, t, x, x->elements);
			f.input = in >= 0 ? (int32_t)r->c->inputs.v[in].index : -1;
			name_write(r, &f, x->store, x->version);
			found(r, f, x->need);
		}
	}
}

static bool is_of_call(const Trial *r, uint32_t node)
{
	return node >= r->c->first_node && node < r->end_node && r->t->nodes.v[node].call == r->call;
}

/* What the graph did not make is handed on as it came. */
static void walk_made(const Trial *r, Walk *w, uint32_t fn)
{
	if (fn && is_of_call(r, fn - 1) && r->t->nodes.v[fn - 1].need & r->leaves)
		walk_from(w, fn);
}

static void try_call(Trial *r)
{
	GradTape *t = r->t;
	ArenaMark mark = arena_mark(r->scratch);
	Walk w = {.t = t, .a = r->scratch, .seen = r->seen, .stamp = ++r->stamp};
	bool runs = false;
	r->last = (Map){.a = r->scratch};
	for (uint32_t i = r->first_write; i < r->end_write; i++)
		if (t->writes.v[i].call == r->call)
			map_put(&r->last, t->writes.v[i].store, t->writes.v[i].version + 1);
	for (uint32_t i = 0; i < r->c->outputs.n; i++)
		walk_made(r, &w, r->c->outputs.v[i].fn);
	for (uint32_t i = 0; i < r->c->inputs.n; i++)
		walk_made(r, &w, r->c->inputs.v[i].fn_after);
	walk(&w);
	for (uint32_t i = r->c->first_node; i < r->end_node; i++)
		runs |= is_of_call(r, i) && r->eager[i] && t->nodes.v[i].need & r->leaves;
	for (uint32_t i = r->c->first_node; i < r->end_node; i++) {
		const GradNode *g = &t->nodes.v[i];
		if (!is_of_call(r, i) || w.seen[i] != w.stamp)
			continue;
		for (uint32_t k = 0; k < g->nsaved; k++) {
			const GradSaved *x = &saved_of(t, g)[k];
			if (!(x->need & r->leaves))
				continue;
			saved_then_written(r, g, x);
			if (runs)
				kept_value(r, g, x);
		}
	}
	for (uint32_t i = 0; runs && i < r->c->old.n; i++) {
		const GradOld *o = &r->c->old.v[i];
		if (o->need & r->leaves)
			found(r, (AotSaved){.cause = AOT_CAUSE_SAVED_INPUT, .output = -1, .input = (int32_t)o->input, .node = o->node}, o->need);
	}
	if (runs)
		dragged_in(r, &w);
	for (uint32_t i = 0; i < r->c->outputs.n; i++) {
		const GradPort *o = &r->c->outputs.v[i];
		if (!(o->need & r->leaves) && o->poison & r->leaves)
			found(r, (AotSaved){.cause = AOT_CAUSE_NO_GRAD_VIEW, .output = (int32_t)o->index, .input = -1, .written = o->poisoned}, o->poison);
	}
	arena_rewind(r->scratch, mark);
}

static void try_all(Trial *r)
{
	GradTape *t = r->t;
	uint32_t write = 0;
	for (uint32_t i = 0; r->leaves && i < t->calls.n; i++) {
		r->c = &t->calls.v[i];
		r->call = i + 1;
		r->end_node = i + 1 < t->calls.n ? t->calls.v[i + 1].first_node : t->nodes.n;
		while (write < t->writes.n && t->writes.v[write].call && t->writes.v[write].call < i + 1)
			write++;
		r->first_write = write;
		r->end_write = t->writes.n;
		for (uint32_t k = write; k < t->writes.n; k++)
			if (t->writes.v[k].call > i + 1) {
				r->end_write = k;
				break;
			}
		try_call(r);
	}
}

void aot_gradients_dump(const GradTape *t, const Names *names, Buf *out)
{
	for (uint32_t i = 0; i < t->leaves.n && i < GRAD_LEAVES; i++) {
		const GradLeaf *l = &t->leaves.v[i];
		buf_printf(out, "leaf " STR_FMT "%s%s%s\n", STR_ARG(l->name.i ? sym_str(names, l->name) : S("?")), l->parameter ? " parameter" : "",
		           l->argument ? " argument" : "", t->never & bit_of(i) ? " needs no gradient" : "");
	}
}

void aot_gradients(GradTape *t, AotLog *log, uint32_t from, const Program *p, const uint8_t *inference, Arena *scratch, Arena *keep,
                   AotSaveds *out)
{
	if (t->full)
		return;
	Walk w = {.t = t, .a = scratch, .seen = NEW_N(scratch, uint32_t, t->nodes.n + 1), .stamp = 1};
	uint8_t *eager = NEW_N(scratch, uint8_t, t->nodes.n + 1);
	for (uint32_t i = 0; i < t->observed.n; i++)
		walk_from(&w, t->observed.v[i]);
	walk(&w);
	for (uint32_t i = 0; i < w.found.n; i++)
		eager[w.found.v[i] - 1] = 1;
	rule_out(t, eager);
	for (uint32_t i = 0; i < t->calls.n; i++)
		for (uint32_t k = 0; inference && inference[t->calls.v[i].graph.i] && k < t->calls.v[i].outputs.n; k++)
			t->never |= t->calls.v[i].outputs.v[k].need;
	for (uint32_t i = from; i < log->calls.n; i++) {
		log->calls.v[i].tape = t;
		for (uint32_t k = 0; k < AOT_TRIALS; k++)
			log->calls.v[i].leaves[k] = leaves_of(t, k);
	}
	Trial r = {.t = t, .p = p, .scratch = scratch, .keep = keep, .eager = eager, .seen = w.seen, .stamp = 1, .out = out};
	GradMask tried = 0;
	for (uint32_t k = 0; k < AOT_TRIALS; k++) {
		r.leaves = leaves_of(t, k);
		r.faint = k == TRIAL_SOME;
		if (r.leaves != tried)
			try_all(&r);
		tried = r.leaves ? r.leaves : tried;
	}
}
