/* SPDX-License-Identifier: MIT
 * GL403: memory of `empty` that is read or returned before it is written. The graph is run over value numbers, in which
 * every element of such memory is a value of its own: what depends on one has read it. */
#include "check.h"

#include "sim_node.h"

enum { UNINIT_TERMS = 100000 };

/* Memory that was allocated and not filled. */
typedef struct Alloc {
	NodeId node, read;  /* read: who first computed with an element of it */
	uint32_t store;
	TermId whole;       /* of a large one: all of it; 0 otherwise */
} Alloc;

typedef struct Uninit {
	const CheckCtx *c;
	const CheckGraph *cg;
	Sim sim;
	VEC(Alloc) allocs;
	uint32_t *taint;    /* by TermId: allocation that it depends on, plus 1 */
	uint32_t done;      /* terms looked at */
} Uninit;

static bool is_keeping_write(Str op)
{
	static const Str known[] = {
#define KEEPING_WRITE(op) STR_INIT(op),
#include "keeping_writes.def"
#undef KEEPING_WRITE
	};
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(known[i], op))
			return true;
	return false;
}

/* Operators that take a tensor for its sizes, dtype or device alone, as the first operand or a later one. */
static bool takes_form_only(Str op)
{
	return str_ends(op, S("_as")) || str_ends(op, S("_like")) || str_starts(op, S("new_")) || str_eq(op, S("to"));
}

/* ---- what depends on what ---- */

static uint32_t taint_of_operands(const Uninit *u, const Term *x)
{
	const TermId *args = term_args(u->sim.terms, x);
	for (uint32_t i = 0; i < x->n; i++)
		if (args[i].i < UINT32_MAX && u->taint[args[i].i])
			return u->taint[args[i].i];
	return 0;
}

/* Terms made since: operands are older than what is made of them. */
static void follow_terms(Uninit *u, NodeId node, bool reads)
{
	uint32_t end = terms_mark(u->sim.terms).terms;
	end = end < UNINIT_TERMS ? end : UNINIT_TERMS;
	for (; u->done < end; u->done++) {
		const Term *x = term_get(u->sim.terms, (TermId){u->done});
		if (x->kind != TERM_OP || x->unsure || !reads)
			continue;
		uint32_t k = taint_of_operands(u, x);
		u->taint[u->done] = k;
		if (k && !u->allocs.v[k - 1].read.i)
			u->allocs.v[k - 1].read = node;
	}
}

static void note_allocation(Uninit *u, const GraphRun *r)
{
	Ref v = r->v[r->node.i];
	if (!v || !sim_is_tensor(r->s, v))
		return;
	const SimTensor *t = sim_tensor_of(r->s, v);
	SimStore *s = &r->s->stores.v[t->store];
	Alloc a = {.node = r->node, .store = t->store};
	if (!s->n && s->whole.i && s->whole.i < UNINIT_TERMS && t->sized && !t->assumed)
		a.whole = s->whole;
	VEC_PUSH(u->c->scratch, &u->allocs, a);
	for (uint32_t i = 0; i < s->n; i++)
		if (s->e[i].i < UNINIT_TERMS)
			u->taint[s->e[i].i] = u->allocs.n;
	if (a.whole.i)
		u->taint[a.whole.i] = u->allocs.n;
}

/* All elements of an allocation may have been written: nothing is said of it any more. */
static void settle(Uninit *u, Alloc *a)
{
	const SimStore *s = &u->sim.stores.v[a->store];
	for (uint32_t i = 0; i < s->n; i++)
		if (s->e[i].i < UNINIT_TERMS)
			u->taint[s->e[i].i] = 0;
	if (a->whole.i)
		u->taint[a->whole.i] = 0;
}

static void settle_root(Uninit *u, NodeId value)
{
	NodeId root = u->cg->root[value.i];
	for (uint32_t i = 0; i < u->allocs.n; i++)
		if (u->allocs.v[i].node.i == root.i)
			settle(u, &u->allocs.v[i]);
}

static void settle_argument(void *ctx, NodeId id)
{
	settle_root(ctx, id);
}

/* Elements whose index is a tensor: which ones are written is not known. */
static bool index_is_known(const Uninit *u, NodeId id)
{
	const Node *n = graph_node(u->cg->g, id);
	if (n->callee != CALLEE_OPERATOR || n->nargs < 2)
		return false;
	const Arg *a = &node_args(u->cg->g, n)[1];
	bool simple = a->kind == AR_INT || a->kind == AR_SLICE || a->kind == AR_ELLIPSIS;
	for (uint32_t i = 0; a->kind == AR_TUPLE && i < a->n; i++) {
		const Arg *k = &arg_kids(u->cg->g, a)[i];
		if (k->kind == AR_NODE || k->kind == AR_LIST || k->kind == AR_UNKNOWN)
			return false;
	}
	return simple || a->kind == AR_TUPLE;
}

static void after_node(void *ctx, const GraphRun *r)
{
	Uninit *u = ctx;
	const Graph *g = u->cg->g;
	const Node *n = graph_node(g, r->node);
	bool uninitialised = false, call = n->kind == NK_CALL;
	const Fact *fact = u->cg->fact[r->node.i];
	Str op = call ? operator_short(u->c->p, n) : (Str){0};
	follow_terms(u, r->node, !takes_form_only(op) && !is_keeping_write(op));
	if (call && fact && check_is_allocation(op, &uninitialised) && uninitialised)
		note_allocation(u, r);
	bool unknown = n->kind == NK_UNREAD || (call && (!fact || fact->kind == FK_UNKNOWN || fact->kind == FK_SUBGRAPH || fact->family == FAM_HOP));
	if (unknown)
		for (uint32_t i = 0; i < n->nargs; i++)
			arg_each_node(g, &node_args(g, n)[i], settle_argument, u);
	else if (call && n->nargs && is_keeping_write(op) && !index_is_known(u, r->node) &&
	         node_args(g, n)->kind == AR_NODE)
		settle_root(u, node_args(g, n)->u.node);
	for (uint32_t i = 0; i < u->allocs.n; i++) /* a part of a large one was written: perhaps all parts are */
		if (u->allocs.v[i].whole.i && r->s->stores.v[u->allocs.v[i].store].parts.n)
			u->taint[u->allocs.v[i].whole.i] = 0;
}

/* ---- what leaves the graph ---- */

typedef struct Left {
	uint32_t alloc; /* plus 1; 0: nothing of such memory */
	uint32_t elements, of;
	bool computed;
} Left;

static uint32_t taint_at(const Uninit *u, TermId t)
{
	return t.i < UNINIT_TERMS && !term_is_unsure(u->sim.terms, t) ? u->taint[t.i] : 0;
}

static Left left_in(Uninit *u, Ref v)
{
	Left l = {0};
	const TermId *e;
	if (!v || !sim_is_tensor(&u->sim, v))
		return l;
	if (!sim_elements(&u->sim, v, &e)) {
		const SimStore *s = &u->sim.stores.v[sim_tensor_of(&u->sim, v)->store];
		l.alloc = s->n || s->parts.n ? 0 : taint_at(u, s->whole);
		l.computed = l.alloc && term_get(u->sim.terms, s->whole)->kind == TERM_OP;
		return l;
	}
	l.of = sim_tensor_of(&u->sim, v)->numel;
	for (uint32_t i = 0; i < l.of; i++) {
		uint32_t k = taint_at(u, e[i]);
		l.alloc = l.alloc ? l.alloc : k;
		l.elements += k != 0;
		l.computed |= k && term_get(u->sim.terms, e[i])->kind == TERM_OP;
	}
	return l;
}

static void report(Uninit *u, const Left *l, uint32_t output, bool *told)
{
	const Graph *g = u->cg->g;
	const Alloc *a = &u->allocs.v[l->alloc - 1];
	if (told[l->alloc - 1])
		return;
	told[l->alloc - 1] = true;
	Finding *f = check_finding(u->c, CHECK_GL403, SEV_NOTE, g, a->node);
	bool part = !l->computed && l->of && l->elements < l->of;
	f->variant = l->computed ? S("read") : part ? S("part") : S("returned");
	f->certainty = TRI_MUST;
	diag_var(u->c->d, f, S("what"), check_name(u->c, g, a->node));
	if (part)
		diag_varf(u->c->d, f, S("text"), "%u of its %u elements", l->elements, l->of);
	check_step(u->c, f, ROLE_PLACE, g, a->node, "the memory is allocated and not filled");
	if (l->computed && a->read.i)
		check_step(u->c, f, ROLE_READ, g, a->read, "it is read here");
	if (output < g->outputs.n) {
		Span at = {g->file, g->outputs.v[output].at, g->outputs.v[output].end};
		diag_stepf(u->c->d, f, ROLE_BOUNDARY, at, l->computed ? "output %u depends on it" : "it leaves the graph as output %u", output);
	}
}

/* ---- the run ---- */

static void run(Uninit *u)
{
	const Graph *g = u->cg->g;
	Sim *s = &u->sim;
	Ref *args = NEW_N(s->a, Ref, (size_t)g->inputs.n + 1);
	bool *told;
	for (uint32_t i = 0; i < g->inputs.n; i++)
		args[i] = sim_root_tensor(s, u->cg->nt->v[g->inputs.v[i].i], hash_u64(i + 1));
	Ref out = sim_graph(s, g->id, args, g->inputs.n);
	told = NEW_N(u->c->scratch, bool, (size_t)u->allocs.n + 1);
	if (s->stopped || terms_limit_hit(s->terms))
		return;
	const HeapObj o = *sim_obj(s, out);
	for (uint32_t j = 0; j < g->outputs.n; j++) {
		Ref v = o.kind == HK_TUPLE && o.items.n == g->outputs.n ? o.items.v[j] : g->outputs.n == 1 ? out : 0;
		Left l = left_in(u, v);
		if (l.alloc)
			report(u, &l, j, told);
	}
	for (uint32_t i = 0; i < g->inputs.n; i++) {
		Left l = left_in(u, args[i]);
		if (l.alloc)
			report(u, &l, UINT32_MAX, told);
	}
}

static bool allocates(const CheckCtx *c, const CheckGraph *cg)
{
	bool uninitialised = false;
	for (uint32_t i = 1; i < cg->g->nodes.n; i++) {
		const Node *n = &cg->g->nodes.v[i];
		if (n->kind == NK_CALL && cg->fact[i] && check_is_allocation(operator_short(c->p, n), &uninitialised) && uninitialised &&
		    type_is_empty(c->t, check_type(c, cg, (NodeId){i})) != TRI_MUST)
			return true;
	}
	return false;
}

void check_uninitialised(const CheckCtx *c, const CheckGraph *cg)
{
	const Graph *g = cg->g;
	if (check_is_repeat(g) || g->stage == STAGE_INDUCTOR || g->incomplete || g->truncated || !allocates(c, cg))
		return;
	Uninit *u = NEW(c->scratch, Uninit);
	u->c = c;
	u->cg = cg;
	u->taint = NEW_N(c->scratch, uint32_t, UNINIT_TERMS + 1);
	u->done = 1;
	u->sim = (Sim){.p = c->p, .t = c->t, .f = c->f, .shapes = c->shapes, .sem = c->sem, .types = c->types, .summaries = c->summaries,
	               .names = c->p->names, .a = c->work[0], .scratch = c->work[1], .inner = c->work[2], .small = SIM_SMALL,
	               .max_steps = (uint64_t)g->nodes.n * 2 + 1000, .watch = after_node, .watch_ctx = u};
	u->sim.terms = terms_new(c->work[3], c->p->names, UNINIT_TERMS);
	VEC_PUSH(u->sim.a, &u->sim.heap, ((HeapObj){0}));
	VEC_PUSH(u->sim.a, &u->sim.tensors, ((SimTensor){0}));
	VEC_PUSH(u->sim.a, &u->sim.stores, ((SimStore){0}));
	run(u);
	for (uint32_t i = 0; i < 4; i++)
		arena_free(c->work[i]);
}
