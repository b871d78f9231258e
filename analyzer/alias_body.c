/* SPDX-License-Identifier: MIT
 * Calls of bodies that are in the dump: higher-order operators (torch/_higher_order_ops of PyTorch 2.1 to 2.15) and
 * submodules. The body was summarised before; its summary is applied to the operands. */
#include "alias_flow.h"

enum { MAX_BODIES = 8 };

typedef struct Bodies {
	GraphId v[MAX_BODIES];
	uint32_t n;
	uint32_t after;      /* first argument behind the last body */
	bool saves;          /* what the body returns in a second tuple is kept for the backward, and is no result */
	bool exclusive;      /* one of them runs (cond): what only one does is conditional */
} Bodies;

typedef struct Operands {
	VEC(Value) v;
	VEC(NodeId) node;    /* parallel; 0 for literals */
} Operands;

static GraphId body_of_arg(const Flow *f, const Arg *a)
{
	if (a->kind != AR_NODE)
		return (GraphId){0};
	const Value *v = &f->values[a->u.node.i];
	return v->kind == VALUE_GRAPH ? v->graph : (GraphId){0};
}

static void find_bodies(const Flow *f, const Node *n, Bodies *b)
{
	Str target = sym_str(f->c->p->names, n->target);
	for (uint32_t i = 0; i < n->nargs && b->n < MAX_BODIES; i++) {
		GraphId g = body_of_arg(f, &node_args(f->g, n)[i]);
		if (!g.i)
			continue;
		b->v[b->n++] = g;
		b->after = i + 1;
	}
	b->saves = str_has(target, S("autograd_function_apply"));
	if (b->saves || str_has(target, S("while_loop"))) {
		/* forward and backward: the first runs here; condition and body: the last makes the results */
		if (b->n > 1 && str_has(target, S("while_loop")))
			b->v[0] = b->v[b->n - 1];
		b->n = b->n ? 1 : 0;
	}
	b->exclusive = str_has(target, S("cond")) && b->n > 1;
}

/* Operands in order, lists and tuples opened; keywords and strings are options, not operands. */
static void add_operand(Flow *f, const Arg *a, Operands *o)
{
	if (!sym_none(a->key) || a->kind == AR_STR)
		return;
	if (a->kind == AR_TUPLE || a->kind == AR_LIST) {
		for (uint32_t i = 0; i < a->n; i++) {
			const Arg *e = &arg_kids(f->g, a)[i];
			VEC_PUSH(f->scratch, &o->v, e->kind == AR_NODE ? f->values[e->u.node.i] : (Value){0});
			VEC_PUSH(f->scratch, &o->node, e->kind == AR_NODE ? e->u.node : (NodeId){0});
		}
		return;
	}
	VEC_PUSH(f->scratch, &o->v, a->kind == AR_NODE ? f->values[a->u.node.i] : (Value){0});
	VEC_PUSH(f->scratch, &o->node, a->kind == AR_NODE ? a->u.node : (NodeId){0});
}

/* The body's inputs that come before the operands (ctx of an autograd function); UINT32_MAX when they do not fit. */
static uint32_t input_offset(const Flow *f, const Graph *body, uint32_t operands)
{
	if (body->inputs.n == operands)
		return 0;
	if (body->inputs.n == operands + 1) {
		Str first = sym_str(f->c->p->names, graph_node(body, body->inputs.v[0])->target);
		if (str_has(first, S("ctx")))
			return 1;
	}
	return UINT32_MAX;
}

static uint32_t operand_object(const Operands *o, uint32_t input, uint32_t offset)
{
	if (input < offset || input - offset >= o->v.n)
		return 0;
	const Value *v = &o->v.v[input - offset];
	return v->kind == VALUE_TENSOR || v->kind == VALUE_EACH ? v->obj : 0;
}

static Str body_name(const Flow *f, const Graph *b)
{
	return sym_str(f->c->p->names, b->class_name.i ? b->class_name : b->name);
}

static void note_effect(Flow *f, NodeId id, const Graph *body, const char *verb, NodeId operand)
{
	if (!operand.i)
		return;
	flow_note(f, S("GL801"), SEV_WARNING, id, body->class_name,
	          str_printf(f->keep, "the body " STR_FMT " %s its operand " STR_FMT, STR_ARG(body_name(f, body)), verb,
	                     STR_ARG(flow_name(f, operand))));
}

/* A module that gets two tensors in one memory and writes one of them. */
static void note_shared(Flow *f, NodeId id, const Graph *body, const Summary *s, const Operands *o, uint32_t offset)
{
	Map first = {.a = f->scratch};
	for (uint32_t i = 0; i < body->inputs.n; i++) {
		uint32_t obj = operand_object(o, i, offset), store = obj ? f->m.objs.v[obj].store : 0, other = map_get(&first, store);
		if (!obj)
			continue;
		if (!other) {
			map_put(&first, store, i + 1);
			continue;
		}
		if (s->inputs[i].data == TRI_NO && s->inputs[other - 1].data == TRI_NO)
			continue;
		uint32_t written = s->inputs[i].data != TRI_NO ? i : other - 1, read = written == i ? other - 1 : i;
		flow_note(f, S("GL105"), SEV_NOTE, id, body->class_name,
		          str_printf(f->keep, "it writes " STR_FMT ", and " STR_FMT " shares memory with that",
		                     STR_ARG(flow_name(f, o->node.v[written - offset])), STR_ARG(flow_name(f, o->node.v[read - offset]))));
		return;
	}
}

static void body_writes(Flow *f, NodeId id, const Bodies *b, const Graph *body, const Summary *s, const Operands *o,
                        uint32_t offset, bool hop)
{
	Str some = str_printf(f->keep, "the body " STR_FMT " runs and writes it", STR_ARG(body_name(f, body)));
	for (uint32_t i = 0; i < body->inputs.n; i++) {
		uint32_t obj = operand_object(o, i, offset);
		const InputSummary *in = &s->inputs[i];
		Tri data = b->exclusive ? tri_and(in->data, TRI_MAY) : in->data;
		Tri meta = b->exclusive ? tri_and(in->metadata, TRI_MAY) : in->metadata;
		NodeId operand = obj ? o->node.v[i - offset] : (NodeId){0};
		flow_write(f, id, obj, operand, data, false, some);
		flow_write(f, id, obj, operand, meta, true, some);
		if (hop && obj && (in->data != TRI_NO || in->metadata != TRI_NO))
			note_effect(f, id, body, "writes", operand);
	}
	if (!hop)
		note_shared(f, id, body, s, o, offset);
	for (uint32_t i = 0; i < s->nattrs; i++)
		if (s->attrs[i].w.data != TRI_NO)
			flow_write(f, id, flow_attr(f, s->attrs[i].path, id), (NodeId){0}, s->attrs[i].w.data, false, some);
}

/* What output k of one body is, in terms of the caller's objects. `done` are the outputs before it. */
static uint32_t body_output(Flow *f, NodeId id, const Graph *body, const OutputSummary *out, const Operands *o,
                            uint32_t offset, const Value *done, uint32_t k, bool hop)
{
	uint32_t src = 0;
	bool same = out->kind == ALIAS_INPUT || out->kind == ALIAS_OUTPUT;
	if (out->nof && (out->kind == ALIAS_INPUT || out->kind == ALIAS_VIEW_OF_INPUT)) {
		src = operand_object(o, out->of[0], offset);
		if (src)
			flow_from(f, id, o->node.v[out->of[0] - offset], out->certainty, same, out->condition);
		if (hop && src)
			note_effect(f, id, body, same ? "returns" : "returns a view of", o->node.v[out->of[0] - offset]);
	} else if (out->nof && (out->kind == ALIAS_OUTPUT || out->kind == ALIAS_VIEW_OF_OUTPUT)) {
		src = out->of[0] < k && done[out->of[0]].kind == VALUE_TENSOR ? done[out->of[0]].obj : 0;
	} else if (out->kind == ALIAS_VIEW_OF_ATTR && out->attribute.i) {
		src = flow_attr(f, out->attribute, id);
	}
	if (out->kind == ALIAS_UNKNOWN)
		return memory_object(&f->m, memory_store(&f->m, STORE_UNKNOWN, 0, id), 0, id, (Str){0});
	if (!src)
		return memory_fresh(&f->m, id);
	if (out->certainty == TRI_MUST)
		return same ? src : memory_object(&f->m, f->m.objs.v[src].store, src, id, (Str){0});
	uint32_t obj = memory_fresh(&f->m, id);
	memory_store_may_be(&f->m, f->m.objs.v[obj].store, src, id, out->condition);
	if (same)
		memory_object_may_be(&f->m, obj, src, id, out->condition);
	return obj;
}

static uint32_t result_count(const Bodies *b, const Graph *body)
{
	uint32_t n = body->outputs.n;
	if (b->saves && n && body->outputs.v[0].nested)
		while (n && body->outputs.v[n - 1].top > 0)
			n--;
	return n;
}

static Value body_outputs(Flow *f, NodeId id, const Bodies *b, const Graph *body, const Summary *s, const Operands *o,
                          uint32_t offset, bool hop)
{
	uint32_t n = result_count(b, body);
	Value *v = NEW_N(f->scratch, Value, n + 1);
	for (uint32_t k = 0; k < n; k++)
		if (s->outputs[k].kind != ALIAS_NON_TENSOR)
			v[k] = flow_tensor(body_output(f, id, body, &s->outputs[k], o, offset, v, k, hop));
	return flow_members(f, v, n);
}

/* Results of two bodies of which one runs: alike in both, or perhaps what one of them makes. */
static Value join(Flow *f, NodeId id, const Value *a, const Value *b)
{
	uint32_t n = a->n < b->n ? a->n : b->n;
	Value *v = NEW_N(f->scratch, Value, n + 1);
	for (uint32_t k = 0; k < n; k++) {
		Value x = f->members.v[a->at + k], y = f->members.v[b->at + k];
		if (x.kind != VALUE_TENSOR || y.kind != VALUE_TENSOR)
			continue;
		const Obj ox = f->m.objs.v[x.obj], oy = f->m.objs.v[y.obj];
		if (x.obj == y.obj || (ox.store == oy.store && ox.node.i == id.i)) {
			v[k] = x;
			continue;
		}
		uint32_t obj = memory_fresh(&f->m, id), store = f->m.objs.v[obj].store;
		Str first = S("the first branch runs"), second = S("the second branch runs");
		memory_store_may_be(&f->m, store, x.obj, id, first);
		memory_store_may_be(&f->m, store, y.obj, id, second);
		memory_object_may_be(&f->m, obj, x.obj, id, first);
		memory_object_may_be(&f->m, obj, y.obj, id, second);
		v[k] = flow_tensor(obj);
	}
	return flow_members(f, v, n);
}

static bool is_single(const Flow *f, NodeId id, const Graph *body, bool hop)
{
	if (!hop && body->returns_bare)
		return true;
	TypeId t = graph_node(f->g, id)->type;
	return t.i && type_get(f->c->t, t)->kind == TK_TENSOR;
}

static bool apply(Flow *f, NodeId id, const Bodies *b, const Operands *o, bool hop)
{
	Value result = {0};
	const Graph *first = graph_get(f->c->p, b->v[0]);
	for (uint32_t i = 0; i < b->n; i++) {
		const Graph *body = graph_get(f->c->p, b->v[i]);
		const Summary *s = body ? f->c->summaries[body->id.i] : NULL;
		if (!s || input_offset(f, body, o->v.n) == UINT32_MAX)
			return false;
	}
	for (uint32_t i = 0; i < b->n; i++) {
		const Graph *body = graph_get(f->c->p, b->v[i]);
		const Summary *s = f->c->summaries[body->id.i];
		uint32_t offset = input_offset(f, body, o->v.n);
		body_writes(f, id, b, body, s, o, offset, hop);
		Value v = body_outputs(f, id, b, body, s, o, offset, hop);
		result = i ? join(f, id, &result, &v) : v;
	}
	f->values[id.i] = is_single(f, id, first, hop) && result.n ? f->members.v[result.at] : result;
	return true;
}

/* Bodies whose results are new tensors whatever they return: every turn of the loop stacks or scores. */
static bool makes_new_results(Str target)
{
	return str_has(target, S("flex_attention")) || str_has(target, S("higher_order.map")) ||
	       str_has(target, S("higher_order.scan")) || str_has(target, S("associative_scan"));
}

bool flow_body_call(Flow *f, NodeId id)
{
	const Node *n = graph_node(f->g, id);
	Bodies b = {0};
	Operands o = {0};
	bool hop = n->callee == CALLEE_FUNCTION;
	if (n->callee == CALLEE_MODULE) {
		b.v[0] = graph_child(f->g, n->target);
		b.n = b.v[0].i != 0;
	} else if (hop) {
		find_bodies(f, n, &b);
	}
	if (!b.n || makes_new_results(sym_str(f->c->p->names, n->target)))
		return false;
	for (uint32_t i = b.after; i < n->nargs; i++)
		add_operand(f, &node_args(f->g, n)[i], &o);
	return apply(f, id, &b, &o, hop);
}
