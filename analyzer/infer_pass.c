/* SPDX-License-Identifier: MIT
 * infer: the walk over a graph, and over a program with its nested bodies. */
#include "infer_body.h"
#include "infer_object.h"

/* ---- one node ---- */

static void set_result(Infer *in, NodeId id, const Result *r)
{
	NodeTypes *nt = &in->nt;
	nt->v[id.i] = r->one;
	if (!r->many)
		return;
	nt->elem_at[id.i] = nt->elems.n;
	nt->nelems[id.i] = r->n;
	for (uint32_t i = 0; i < r->n; i++)
		VEC_PUSH(in->a, &nt->elems, r->v[i]);
}

/* The printed type as far as it can be trusted at this node. */
static TypeId trusted(Infer *in, NodeId id)
{
	const Node *n = graph_node(in->g, id);
	if (n->type.i && !in->g->types_at_run && infer_layout_later(in, id) && type_get(in->t, n->type)->kind == TK_TENSOR)
		return infer_layout_before(in, id);
	return n->type;
}

static bool is_complete(const Type *x)
{
	if (x->kind == TK_TENSOR)
		return x->has_shape && x->has_stride && x->dtype != DT_NONE && x->device.i;
	return x->kind != TK_NONE;
}

static bool same_exprs(Types *t, const ExprId *a, const ExprId *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (expr_eq(t, a[i], b[i]) != TRI_MUST)
			return false;
	return true;
}

/* Printed parts, and computed ones where nothing is printed; computed strides only go with the
 * printed sizes. */
static TypeId merged(Types *t, TypeId printed, TypeId computed)
{
	const Type *p = type_get(t, printed), *c = type_get(t, computed);
	if (p->kind == TK_NONE || (c->kind == TK_TENSOR && p->kind == TK_TENSOR && p->dtype == DT_NONE))
		return computed;
	if (p->kind != TK_TENSOR || c->kind != TK_TENSOR)
		return printed;
	Type both = *p;
	if (!p->has_shape) {
		both.has_shape = c->has_shape;
		both.has_stride = c->has_stride;
		both.ndim = c->ndim;
		both.size = c->size;
		both.stride = c->stride;
	} else if (!p->has_stride && c->has_stride && c->ndim == p->ndim &&
	           same_exprs(t, p->size, c->size, p->ndim)) {
		both.has_stride = true;
		both.stride = c->stride;
	}
	if (!both.device.i)
		both.device = c->device;
	return type_intern(t, &both);
}

/* Python syntax works on numbers too: without a tensor among the operands nothing says that the
 * result is one. */
static bool may_be_number(Infer *in, const Node *n)
{
	if (n->callee != CALLEE_OPERATOR || str_eq(sym_str(in->names, n->target), S("getitem")))
		return false;
	for (uint32_t i = 0; i < n->nargs; i++)
		if (type_get(in->t, infer_arg(&in->nt, in->g, in->t, &node_args(in->g, n)[i]))->kind ==
		    TK_TENSOR)
			return false;
	return true;
}

/* What the operator facts alone say of the result. */
static void by_fact(Infer *in, NodeId id, Result *r)
{
	const Node *n = graph_node(in->g, id);
	const Arg *args = node_args(in->g, n);
	const Fact *f = facts_find(in->f, (Callee)n->callee, sym_str(in->names, n->target), in->torch);
	if (!f || !f->outs.nalts)
		return;
	bool first = n->nargs && args->kind == AR_NODE && f->nalias && f->alias[0].index == 0 &&
	             !f->alias[0].each;
	if (first && f->outs.nalts == 1 && f->outs.n[0] <= 1 &&
	    (f->kind == FK_INPLACE || f->kind == FK_METADATA)) {
		r->one = infer_type_at(&in->nt, in->t, args->u.node, id);
		if (infer_writes_layout(in, id)) /* without a rule for what it becomes */
			r->one = type_without_shape(in->t, r->one);
		return;
	}
	if (f->outs.nalts != 1)
		return;
	uint32_t m = f->outs.n[0];
	TypeId each[16];
	for (uint32_t i = 0; i < m; i++) {
		char k = f->outs.member[0][i];
		each[i] = k == 't' ? type_tensor_unknown(in->t) : (TypeId){0};
		if (k == 'v')
			each[i] = type_intern(in->t, &(Type){.kind = TK_OTHER});
		if (k == 'L')
			return;
	}
	if (m == 1) {
		r->one = each[0];
	} else if (m > 1) {
		TypeId *v = NEW_N(in->a, TypeId, m);
		memcpy(v, each, m * sizeof *v);
		*r = (Result){.many = true, .v = v, .n = m};
	}
}

static bool is_out_call(Infer *in, const Node *n, NodeId id, Result *r)
{
	for (uint32_t i = n->nargs; i-- > 0;) {
		const Arg *a = &node_args(in->g, n)[i];
		if (!a->key.i)
			return false;
		if (a->kind == AR_NODE && str_eq(sym_str(in->names, a->key), S("out"))) {
			r->one = infer_type_at(&in->nt, in->t, a->u.node, id);
			return true;
		}
	}
	return false;
}

static bool is_setitem(Infer *in, const Node *n)
{
	return n->callee == CALLEE_OPERATOR && n->nargs &&
	       str_eq(sym_str(in->names, n->target), S("setitem"));
}

static void compute(Infer *in, NodeId id, Result *r)
{
	const Node *n = graph_node(in->g, id);
	if (is_setitem(in, n) && node_args(in->g, n)->kind == AR_NODE)
		r->one = infer_type_at(&in->nt, in->t, node_args(in->g, n)->u.node, id);
	else if (!is_out_call(in, n, id, r) && !infer_number_call(in, id, r) && !may_be_number(in, n) &&
	         !infer_call(in, id, r))
		by_fact(in, id, r);
}

/* ---- regions ---- */

static void autocast_enter(Infer *in, NodeId id)
{
	const Node *n = graph_node(in->g, id);
	const Arg *a = node_args(in->g, n);
	Autocast c = {.enter = id, .state = AUTOCAST_UNKNOWN};
	if (n->nargs >= 3 && a[0].kind == AR_STR && a[2].kind == AR_BOOL) {
		c.device = sym_str(in->names, a[0].u.sym);
		c.dtype = a[1].kind == AR_NAME ? dtype_parse(sym_str(in->names, a[1].u.sym)) : DT_NONE;
		c.state = !a[2].u.num ? AUTOCAST_OFF : c.dtype != DT_NONE ? AUTOCAST_ON : AUTOCAST_UNKNOWN;
	}
	VEC_PUSH(in->a, &in->autocast, c);
}

static void autocast_exit(Infer *in, NodeId id)
{
	const Node *n = graph_node(in->g, id);
	const Arg *a = node_args(in->g, n);
	if (n->nargs == 1 && a->kind == AR_NODE && in->autocast.n &&
	    in->autocast.v[in->autocast.n - 1].enter.i == a->u.node.i)
		in->autocast.n--;
}

/* Calls that open and close regions; true when this is one. */
static bool region(Infer *in, NodeId id)
{
	const Node *n = graph_node(in->g, id);
	Str target = sym_str(in->names, n->target);
	if (n->callee != CALLEE_FUNCTION)
		return false;
	if (str_ends(target, S("._enter_autocast")))
		autocast_enter(in, id);
	else if (str_ends(target, S("._exit_autocast")))
		autocast_exit(in, id);
	else if (str_ends(target, S("_vmap_increment_nesting")))
		in->vmap++;
	else if (str_ends(target, S("_vmap_decrement_nesting")))
		in->vmap -= in->vmap > 0;
	else
		return false;
	return true;
}

/* Under vmap, sizes are those of one slice of the batch; the tensor in memory has others. */
static bool is_batched(const Infer *in, const Node *n)
{
	return in->vmap &&
	       !(in->vmap == 1 && str_ends(sym_str(in->names, n->target), S("_remove_batch_dim")));
}

static void call_type_of(Infer *in, NodeId id, Result *r)
{
	const Node *n = graph_node(in->g, id);
	TypeId printed = trusted(in, id);
	bool writes = in->nt.object && infer_writes_layout(in, id);
	if (!region(in, id) && !is_complete(type_get(in->t, printed)) && !r->many)
		compute(in, id, r);
	r->one = merged(in->t, printed, r->one);
	if (is_batched(in, n) && type_get(in->t, r->one)->kind == TK_TENSOR)
		r->one = type_without_shape(in->t, r->one);
	if (r->many && type_get(in->t, r->one)->kind == TK_TENSOR) /* printed as a single tensor */
		r->many = false;
	if (writes)
		infer_layout_written(in, id, r->one);
}

static void infer_node(Infer *in, NodeId id, const Result *body)
{
	const Node *n = graph_node(in->g, id);
	Result r = body ? *body : (Result){0};
	if (n->kind == NK_CALL && body && !body->many)
		r.one = merged(in->t, trusted(in, id), body->one);
	else if (n->kind == NK_CALL)
		call_type_of(in, id, &r);
	else
		r.one = trusted(in, id);
	if (n->kind == NK_GET_ATTR && !n->type.i && infer_child(in, n->target).i)
		r.one = type_intern(in->t, &(Type){.kind = TK_OTHER});
	set_result(in, id, &r);
}

/* ---- one graph ---- */

/* Members of tuples that are kept: far more than any graph takes out again, and linear in its
 * length. */
enum { MEMBERS_LEAST = 65536, MEMBERS_PER_NODE = 64 };

GraphId infer_child(const Infer *in, Sym attr)
{
	return (GraphId){map_get(&in->child, attr.i)};
}

static Infer infer_start(const Program *p, const Graph *g, Types *t, Facts *f, const Shapes *rules,
                         VersionSpan torch, Arena *a)
{
	Infer in = {.p = p, .g = g, .t = t, .names = p->names, .f = f, .rules = rules, .a = a};
	in.torch = torch.lo || torch.hi ? torch : g->torch;
	in.nt.n = g->nodes.n;
	in.members_left =
		MEMBERS_LEAST +
		(g->nodes.n < UINT32_MAX / MEMBERS_PER_NODE / 2 ? g->nodes.n * MEMBERS_PER_NODE : 0);
	in.child.a = a;
	for (uint32_t i = 0; i < g->children.n; i++)
		if (!map_get(&in.child, g->children.v[i].attr.i) && g->children.v[i].graph.i)
			map_put(&in.child, g->children.v[i].attr.i, g->children.v[i].graph.i);
	in.nt.names = p->names;
	in.nt.v = NEW_N(a, TypeId, g->nodes.n);
	in.nt.elem_at = NEW_N(a, uint32_t, g->nodes.n);
	in.nt.nelems = NEW_N(a, uint32_t, g->nodes.n);
	infer_objects(&in);
	return in;
}

NodeTypes infer_types(const Program *p, const Graph *g, Types *t, Facts *f, const Shapes *rules,
                      VersionSpan torch, const NodeTypes *const *child, Arena *a)
{
	Infer in = infer_start(p, g, t, f, rules, torch, a);
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		Result r = {0};
		bool call = graph_node(g, (NodeId){i})->kind == NK_CALL && child;
		BodyCall body = call ? infer_body_call(&in, (NodeId){i}) : (BodyCall){0};
		bool has = body.n && infer_body_result(&in, &body, child, &r);
		infer_node(&in, (NodeId){i}, has ? &r : NULL);
	}
	return in.nt;
}

DType *infer_dtypes(const Program *p, const Graph *g, Types *t, Facts *f, const Shapes *rules,
                    VersionSpan torch, const NodeTypes *nt, const bool *want, Arena *a)
{
	Infer in = infer_start(p, g, t, f, rules, torch, a);
	DType *out = NEW_N(a, DType, (size_t)g->nodes.n + 1);
	in.nt = *nt;
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		Result r = {0};
		if (graph_node(g, (NodeId){i})->kind != NK_CALL || region(&in, (NodeId){i}) || !want[i])
			continue;
		compute(&in, (NodeId){i}, &r);
		const Type *x = type_get(t, r.one);
		out[i] = !r.many && x->kind == TK_TENSOR && !in.vmap ? x->dtype : DT_NONE;
	}
	return out;
}

/* ---- a program ---- */

/* How often a body is gone through again because another call has other operands; after that they
 * count as unknown. */
enum { ROUNDS_MOST = 8 };

typedef struct Work {
	Infer in;
	uint32_t next; /* node to go on with */
	GraphId graph;
} Work;

typedef struct Pass {
	const Program *p;
	Types *t;
	Facts *f;
	const Shapes *rules;
	VersionSpan torch;
	Arena *a;
	NodeTypes **out;
	const TypeId **inputs; /* by GraphId: types of a body's inputs, from all its calls so far */
	uint8_t *rounds; /* by GraphId */
	bool *open; /* by GraphId: on the stack */
	VEC(Work) stack;
} Pass;

static void work_push(Pass *c, GraphId id)
{
	const Graph *g = graph_get(c->p, id);
	Work w = {
		.in = infer_start(c->p, g, c->t, c->f, c->rules, c->torch, c->a), .next = 1, .graph = id};
	c->open[id.i] = true;
	VEC_PUSH(c->a, &c->stack, w);
}

/* What this call adds to what is known of a body's inputs; true when the body has to be gone
 * through (again). */
static bool inputs_joined(Pass *c, const Infer *in, const BodyCall *call, GraphId id)
{
	const Graph *body = graph_get(c->p, id);
	const TypeId *now = infer_body_inputs(in, call, body), *old = c->inputs[id.i];
	bool first = !c->rounds[id.i], changed = first;
	TypeId *joined = NEW_N(c->a, TypeId, body->inputs.n ? body->inputs.n : 1);
	for (uint32_t i = 0; i < body->inputs.n; i++) {
		TypeId mine = now ? now[i] : (TypeId){0};
		joined[i] = first ? mine : infer_join(c->t, old[i], mine);
		if (c->rounds[id.i] >= ROUNDS_MOST)
			joined[i] = (TypeId){0};
		changed |= !first && joined[i].i != old[i].i;
	}
	c->inputs[id.i] = joined;
	return changed;
}

/* Have the bodies of this call been gone through with its operands? Otherwise they are put on the
 * stack. */
static bool bodies_ready(Pass *c, const Infer *in, const BodyCall *call)
{
	uint32_t before = c->stack.n;
	for (uint32_t i = 0; i < call->n; i++) {
		GraphId id = call->body[i];
		if (c->open[id.i] || !inputs_joined(c, in, call, id))
			continue;
		if (c->rounds[id.i] < UINT8_MAX)
			c->rounds[id.i]++;
		work_push(c, id);
	}
	return c->stack.n == before;
}

/* Inputs of a body: as printed, else as its calls have them. */
static void take_inputs(Pass *c, Work *w)
{
	const Graph *g = w->in.g;
	const TypeId *v = c->inputs[w->graph.i];
	for (uint32_t i = 0; v && i < g->inputs.n; i++) {
		NodeId id = g->inputs.v[i];
		w->in.nt.v[id.i] =
			merged(c->t, w->in.nt.v[id.i], infer_layout_later(&w->in, id) ? (TypeId){0} : v[i]);
	}
}

static bool is_input(const Graph *g, uint32_t i)
{
	return graph_node(g, (NodeId){i})->kind == NK_PLACEHOLDER;
}

/* Goes on with the graph on top of the stack until it is done or needs a body. */
static void work_run(Pass *c)
{
	Work *w = &c->stack.v[c->stack.n - 1];
	const Graph *g = w->in.g;
	for (bool taken = false; w->next < g->nodes.n; w->next++) {
		NodeId id = {w->next};
		Result r = {0};
		if (!taken && !is_input(g, id.i)) {
			take_inputs(c, w);
			taken = true;
		}
		bool call = graph_node(g, id)->kind == NK_CALL && g->children.n;
		BodyCall body = call ? infer_body_call(&w->in, id) : (BodyCall){0};
		if (body.n) {
			Infer in = w->in; /* the stack moves when it grows */
			if (!bodies_ready(c, &in, &body))
				return;
		}
		bool has = body.n && infer_body_result(&w->in, &body, (const NodeTypes *const *)c->out, &r);
		infer_node(&w->in, id, has ? &r : NULL);
	}
	c->out[w->graph.i] = NEW(c->a, NodeTypes);
	*c->out[w->graph.i] = w->in.nt;
	c->open[w->graph.i] = false;
	c->stack.n--;
}

static void pass_graph(Pass *c, uint32_t i)
{
	const Graph *g = c->p->graphs.v[i];
	if (c->out[i] || g->printing_of.i)
		return;
	budget_pulse(c->a->budget);
	work_push(c, g->id);
	while (c->stack.n)
		work_run(c);
}

NodeTypes **infer_program(const Program *p, Types *t, Facts *f, const Shapes *rules,
                          VersionSpan torch, Arena *a)
{
	uint32_t n = p->graphs.n;
	Pass c = {.p = p, .t = t, .f = f, .rules = rules, .torch = torch, .a = a};
	c.out = NEW_N(a, NodeTypes *, n);
	c.inputs = NEW_N(a, const TypeId *, n);
	c.rounds = NEW_N(a, uint8_t, n);
	c.open = NEW_N(a, bool, n);
	for (uint32_t i = 1; i < n; i++)
		if (!p->graphs.v[i]->parent.i)
			pass_graph(&c, i);
	for (uint32_t i = 1; i < n; i++) /* bodies that nothing calls */
		pass_graph(&c, i);
	return c.out;
}
