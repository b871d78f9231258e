/* SPDX-License-Identifier: MIT
 * Graphs of a run: inputs and size symbols are bound, nodes run in order, a cut is made, and what one graph left for
 * another is noted. */
#include "sim_aot.h"
#include "sim_grad.h"
#include "sim_node.h"

#include "sim_learn.h"

/* A value of which only its origin is known becomes the tensor that the graph takes: in place, so that all its
 * holders see it. */
static void become_tensor(Sim *s, Ref v, TypeId type, Str name)
{
	HeapObj *o = sim_obj(s, v);
	if (o->kind == HK_TENSOR && sim_tensor_of(s, v)->whence == WHENCE_GIVEN)
		sim_note_origin(s, v, name, false);
	if (o->kind != HK_UNKNOWN && o->kind != HK_OBJECT)
		return;
	uint64_t origin = o->origin, key = step_source_key(s, name);
	bool attribute = str_has(name, S("self"));
	if (!attribute && !o->known) /* attributes are found by their names, whoever comes first */
		sim_learn(s, origin, type);
	s->attrs.a = s->a;
	Ref t = attribute ? map_get(&s->attrs, key) : 0; /* what another graph holds */
	if (!t)
		t = sim_root_tensor(s, type, origin);
	sim_note_origin(s, t, name, false);
	if (attribute && !map_get(&s->attrs, key))
		map_put(&s->attrs, key, v);
	o = sim_obj(s, v);
	uint32_t index = sim_obj(s, t)->tensor;
	bool root = o->root;
	o->kind = HK_TENSOR;
	o->tensor = index;
	o->root = root;
	s->tensors.v[index].self = v;
}

static void bind_symbol(Sim *s, ExprId e, int64_t value, bool assumed)
{
	Str name;
	if (value < 0 || value >= UINT32_MAX - 1 || !expr_is_symbol(s->t, e, &name))
		return;
	s->symbols.a = s->a;
	map_put(&s->symbols, sym_intern(s->names, name).i, (uint32_t)value + 1);
	s->assumed.a = s->a;
	if (assumed)
		map_put(&s->assumed, sym_intern(s->names, name).i, 1);
}

/* Size symbols that no argument decides get a small number of their own. */
static void bind_unknown_sizes(Sim *s, TypeId id)
{
	const Type *t = type_get(s->t, id);
	Str name;
	for (uint32_t d = 0; t->kind == TK_TENSOR && t->has_shape && d < t->ndim; d++) {
		if (!expr_is_symbol(s->t, t->size[d], &name))
			continue;
		uint32_t sym = sym_intern(s->names, name).i;
		s->symbols.a = s->a;
		if (map_get(&s->symbols, sym))
			continue;
		map_put(&s->symbols, sym, 4 + s->symbols.n % 4);
		s->assumed.a = s->a;
		map_put(&s->assumed, sym, 1);
	}
}

/* Sizes as far as both are known for certain. */
static bool fits(Sim *s, const SimTensor *x, TypeId id)
{
	int64_t size[SIM_DIMS], stride[SIM_DIMS];
	bool strided;
	uint32_t ndim;
	if (!x->sized || x->assumed || !sim_sizes(s, id, size, stride, &strided, &ndim))
		return true;
	bool same = ndim == x->ndim;
	for (uint32_t d = 0; same && d < ndim; d++)
		same = size[d] == x->size[d];
	return same;
}

static void bind_inputs(GraphRun *r, Ref *args)
{
	Sim *s = r->s;
	for (uint32_t i = 0; i < r->g->inputs.n; i++) { /* sizes of known tensors first: they decide symbols */
		NodeId in = r->g->inputs.v[i];
		const Type *t = type_get(s->t, r->nt->v[in.i]);
		const HeapObj *o = sim_obj(s, args[i]);
		if (t->kind == TK_TENSOR && t->has_shape && o->kind == HK_TENSOR) {
			const SimTensor *x = sim_tensor_of(s, args[i]);
			for (uint32_t d = 0; x->sized && x->ndim == t->ndim && d < t->ndim; d++)
				bind_symbol(s, t->size[d], x->size[d], x->assumed);
		} else if (t->kind == TK_SYM && o->kind == HK_NUMBER && o->known) {
			bind_symbol(s, t->sym, o->num, false);
		}
	}
	for (uint32_t i = 0; i < r->g->inputs.n; i++) {
		NodeId in = r->g->inputs.v[i];
		TypeId id = r->nt->v[in.i];
		if (type_get(s->t, id)->kind == TK_TENSOR) {
			bind_unknown_sizes(s, id);
			become_tensor(s, args[i], id, sym_str(s->names, graph_node(r->g, in)->target));
			const SimTensor *x = sim_is_tensor(s, args[i]) ? sim_tensor_of(s, args[i]) : NULL;
			s->misfit |= x && !fits(s, x, id);
			if (x && !x->sized && !x->version)
				sim_learn(s, x->origin, id);
		}
		r->v[in.i] = args[i];
	}
}

Ref step_cut_copy(Sim *s, Ref v, bool marks)
{
	Ref copy = sim_clone(s, v);
	if (marks) {
		s->stores.v[sim_tensor_of(s, v)->store].side = SIDE_OLD;
		s->stores.v[sim_tensor_of(s, copy)->store].side = SIDE_NEW;
	}
	s->cut_made = true;
	return copy;
}

static void cut_input(Sim *s, Ref *args, uint32_t n)
{
	uint32_t i = (uint32_t)s->cut.input;
	if (i < n && sim_is_tensor(s, args[i]))
		args[i] = step_cut_copy(s, args[i], !s->cut_made);
}

static Ref cut_output(Sim *s, Ref v)
{
	return sim_is_tensor(s, v) ? step_cut_copy(s, v, !s->cut_made) : v;
}

/* The views that lead from an input to an output, taken of another tensor. */
static Ref replay_views(void *ctx, uint32_t output, Ref base)
{
	GraphRun *r = ctx;
	const OutputSummary *o = &r->sum->outputs[output];
	uint64_t site = r->s->frame_site;
	r->s->frame_site = step_mix(site, 43); /* what is counted here is not counted in runs without it */
	for (uint32_t k = 1; k < o->nchain && base; k++) {
		const Hop *h = &o->chain[k];
		const Node *n = h->node.i ? graph_node(r->g, h->node) : NULL;
		if (!n || n->kind != NK_CALL || h->same_object)
			continue;
		Ref *args = NEW_N(r->s->scratch, Ref, n->nargs + 1);
		Sym *names = NEW_N(r->s->scratch, Sym, n->nargs + 1);
		for (uint32_t i = 0; i < n->nargs; i++) {
			const Arg *a = &node_args(r->g, n)[i];
			bool before = a->kind == AR_NODE && a->u.node.i == r->sum->from[h->node.i].node.i;
			args[i] = before ? base : step_arg(r, a);
			names[i] = a->key;
		}
		bool member = n->nargs == 2 && sim_obj(r->s, base)->kind == HK_TUPLE;
		base = member ? step_element(r, base, &node_args(r->g, n)[1])
		              : sim_operator(r->s, (Callee)n->callee, step_target(r, n), args, names, n->nargs);
	}
	r->s->frame_site = site;
	return base;
}

Ref step_graph(Sim *s, const Program *p, const Graph *g, const NodeTypes *nt, const Summary *sum, const Ref *given, uint32_t n,
                     uint64_t site, bool eager, uint32_t depth)
{
	ArenaMark mark = arena_mark(s->scratch);
	GraphRun r = {.s = s, .p = p, .g = g, .nt = nt, .sum = sum, .site = site, .eager = eager, .depth = depth};
	r.v = NEW_N(s->scratch, Ref, g->nodes.n);
	Ref *args = NEW_N(s->scratch, Ref, n + 1);
	if (n)
		memcpy(args, given, n * sizeof *args);
	bool cut = !eager && s->cut.graph.i && s->cut.graph.i == g->id.i;
	Map outer = s->symbols, outer_assumed = s->assumed;
	bool tracing = s->tracing, logged = s->aot && !eager && !depth;
	s->tracing |= cut && s->cut.kind == CUT_TRACED;
	s->symbols = s->assumed = (Map){.a = s->a};
	bind_inputs(&r, args);
	if (logged) {
		grad_enter(s, g, args, n, 0);
		aot_enter(s, g, sum, args, n);
	}
	if (cut && s->cut.input >= 0) {
		cut_input(s, args, n);
		r.v[g->inputs.v[s->cut.input].i] = args[s->cut.input];
	}
	for (uint32_t i = 1; i < g->nodes.n && !s->stopped; i++) {
		ArenaMark node = arena_mark(s->scratch);
		r.node = (NodeId){i};
		step_node(&r);
		if (s->watch && !depth && !eager)
			s->watch(s->watch_ctx, &r);
		arena_rewind(s->scratch, node);
		if (++s->steps > s->max_steps)
			sim_stop(s, S("the simulation takes too many steps"));
	}
	Ref *outs = NEW_N(s->scratch, Ref, g->outputs.n + 1);
	for (uint32_t j = 0; j < g->outputs.n; j++)
		outs[j] = step_arg(&r, &g->outputs.v[j].arg);
	if (logged) {
		grad_leave(s, g, outs);
		aot_leave(s, g, args, outs, replay_views, &r);
	}
	if (cut && s->cut.output >= 0 && (uint32_t)s->cut.output < g->outputs.n)
		outs[s->cut.output] = cut_output(s, outs[s->cut.output]);
	Ref res = g->returns_bare && g->outputs.n == 1 ? outs[0] : sim_list(s, HK_TUPLE, outs, g->outputs.n);
	s->symbols = outer;
	s->assumed = outer_assumed;
	s->tracing = tracing;
	arena_rewind(s->scratch, mark);
	return res;
}

enum { MAX_FLOWS = 20000 };

static void add_flow(Sim *s, const SimLeft *l, GraphId to, uint32_t input, bool same)
{
	uint64_t key = step_mix(step_mix((uint64_t)l->graph.i << 32 | to.i, l->output), input) | 1;
	if (s->flows.n == MAX_FLOWS || map_get(&s->flow_seen, key))
		return;
	map_put(&s->flow_seen, key, 1);
	VEC_PUSH(s->a, &s->flows, ((SimFlow){l->graph, to, l->output, input, same}));
}

/* Where an argument comes from: the last call that handed out this very object; and the last one that handed out
 * something of its memory, if that was later. What was handed out before is passed on by these. */
static void note_flow(Sim *s, GraphId to, Ref arg, uint32_t input)
{
	uint32_t store = sim_tensor_of(s, arg)->store;
	const SimLeft *same = NULL, *view = NULL;
	for (uint32_t k = s->left.n; k-- > 0 && !same;) {
		const SimLeft *l = &s->left.v[k];
		if (l->store != store)
			continue;
		if (l->value == arg)
			same = l;
		else if (!view || view->call == l->call)
			view = l;
	}
	if (same)
		add_flow(s, same, to, input, true);
	if (view && (!same || view->call > same->call))
		add_flow(s, view, to, input, false);
}

/* A number or another object that a graph handed out and that enters the next as it is. */
static void note_plain_flow(Sim *s, GraphId to, Ref arg, uint32_t input)
{
	uint32_t k = map_get(&s->plain_left, arg);
	if (k && s->plain_flows.n < MAX_FLOWS)
		VEC_PUSH(s->a, &s->plain_flows, ((SimFlow){s->plain.v[k - 1].graph, to, s->plain.v[k - 1].output, input, true}));
}

static void note_flows(Sim *s, GraphId to, const Ref *args, uint32_t n)
{
	s->flow_seen.a = s->a;
	for (uint32_t i = 0; i < n; i++) {
		if (sim_is_tensor(s, args[i]))
			note_flow(s, to, args[i], i);
		else if (args[i])
			note_plain_flow(s, to, args[i], i);
	}
}

static void note_plain_left(Sim *s, GraphId id, Ref v, uint32_t output)
{
	HeapKind kind = (HeapKind)sim_obj(s, v)->kind;
	if (kind != HK_NUMBER && kind != HK_OBJECT && kind != HK_UNKNOWN)
		return;
	VEC_PUSH(s->a, &s->plain, ((SimLeft){.value = v, .graph = id, .output = output, .call = s->left_calls}));
	s->plain_left.a = s->a;
	map_put(&s->plain_left, v, s->plain.n);
}

static void note_left(Sim *s, GraphId id, Ref result)
{
	const HeapObj o = *sim_obj(s, result);
	uint32_t n = o.kind == HK_TUPLE ? o.items.n : 1;
	s->left_calls++;
	for (uint32_t j = 0; j < n && s->left.n < MAX_FLOWS; j++) {
		Ref v = o.kind == HK_TUPLE ? o.items.v[j] : result;
		if (sim_is_tensor(s, v))
			VEC_PUSH(s->a, &s->left, ((SimLeft){v, sim_tensor_of(s, v)->store, id, j, s->left_calls}));
		else if (v && s->plain.n < MAX_FLOWS)
			note_plain_left(s, id, v, j);
	}
}

Ref sim_graph(Sim *s, GraphId id, const Ref *args, uint32_t n)
{
	const Graph *g = graph_get(s->p, id);
	if (!g || g->inputs.n != n || !s->summaries[id.i] || !s->types[id.i]) {
		sim_stop(s, S("a graph is called with another number of arguments than it has inputs"));
		return sim_none(s);
	}
	if (g->incomplete)
		sim_unsure(s, S("a graph of which lines are missing, or a body with other operands"));
	Ref res = step_graph(s, s->p, g, s->types[id.i], s->summaries[id.i], args, n, sim_site(s, step_mix(40, id.i)), false, 0);
	note_flows(s, id, args, n);
	note_left(s, id, res);
	return res;
}
