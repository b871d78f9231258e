/* SPDX-License-Identifier: MIT */
#include "infer_body.h"

static GraphId body_of_arg(const Infer *in, const Arg *a)
{
	if (a->kind != AR_NODE)
		return (GraphId){0};
	const Node *n = graph_node(in->g, a->u.node);
	return n->kind == NK_GET_ATTR ? infer_child(in, n->target) : (GraphId){0};
}

static void add_operand(Infer *in, BodyCall *call, uint32_t *cap, const Arg *a)
{
	if (call->noperands == *cap)
		call->operand = vec_grow(in->a, call->operand, call->noperands, cap, sizeof *call->operand);
	call->operand[call->noperands++] = infer_arg(&in->nt, in->g, in->t, a);
}

/* Operands in order, lists and tuples opened; keywords and strings are options. */
static void add_operands(Infer *in, const Node *n, uint32_t from, BodyCall *call)
{
	uint32_t cap = 0;
	for (uint32_t i = from; i < n->nargs; i++) {
		const Arg *a = &node_args(in->g, n)[i];
		if (a->key.i || a->kind == AR_STR)
			continue;
		if (a->kind != AR_TUPLE && a->kind != AR_LIST)
			add_operand(in, call, &cap, a);
		else
			for (uint32_t k = 0; k < a->n; k++)
				add_operand(in, call, &cap, &arg_kids(in->g, a)[k]);
	}
}

BodyCall infer_body_call(Infer *in, NodeId id)
{
	BodyCall call = {0};
	const Node *n = graph_node(in->g, id);
	Str target = sym_str(in->names, n->target);
	uint32_t after = 0;
	if (n->callee == CALLEE_MODULE) {
		call.body[0] = infer_child(in, n->target);
		call.n = call.body[0].i ? 1 : 0;
	}
	for (uint32_t i = 0; n->callee == CALLEE_FUNCTION && i < n->nargs && call.n < BODIES_MOST;
	     i++) {
		GraphId body = body_of_arg(in, &node_args(in->g, n)[i]);
		if (!body.i)
			continue;
		call.body[call.n++] = body;
		after = i + 1;
	}
	if (!call.n)
		return call;
	add_operands(in, n, after, &call);
	call.nresults = 1;
	call.pair = str_has(target, S("autograd_function_apply"));
	if (str_has(target, S("while_loop")))
		call.first_result = call.n - 1;
	else if (str_has(target, S("cond")))
		call.nresults = call.n;
	else if (str_has(target, S("map")) ||
	         str_has(target, S("scan"))) /* one step of it, not the whole */
		call.nresults = 0;
	return call;
}

const TypeId *infer_body_inputs(const Infer *in, const BodyCall *call, const Graph *body)
{
	uint32_t skip = 0;
	if (body->inputs.n == call->noperands + 1) {
		Str first = sym_str(in->names, graph_node(body, body->inputs.v[0])->target);
		skip = str_has(first, S("ctx")) ? 1 : 0;
	}
	if (body->inputs.n != call->noperands + skip || !body->inputs.n)
		return NULL;
	TypeId *v = NEW_N(in->a, TypeId, body->inputs.n);
	for (uint32_t i = skip; i < body->inputs.n; i++)
		v[i] = call->operand[i - skip];
	return v;
}

static bool same_sizes(Types *t, const ExprId *a, const ExprId *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (expr_eq(t, a[i], b[i]) != TRI_MUST)
			return false;
	return true;
}

TypeId infer_join(Types *t, TypeId a, TypeId b)
{
	const Type *x = type_get(t, a), *y = type_get(t, b);
	if (a.i == b.i)
		return a;
	if (x->kind != y->kind)
		return (TypeId){0};
	Type both = *x;
	both.dtype = x->dtype == y->dtype ? x->dtype : DT_NONE;
	both.device = sym_eq(x->device, y->device) ? x->device : (Sym){0};
	both.sym = x->sym.i == y->sym.i ? x->sym : (ExprId){0};
	if (x->kind == TK_TENSOR) {
		both.wrapped = x->wrapped && y->wrapped;
		both.has_shape = x->has_shape && y->has_shape && x->ndim == y->ndim &&
		                 same_sizes(t, x->size, y->size, x->ndim);
		both.has_stride = both.has_shape && x->has_stride && y->has_stride &&
		                  same_sizes(t, x->stride, y->stride, x->ndim);
	}
	return type_intern(t, &both);
}

/* Results of one body: the members of what it returns. */
static bool body_results(Infer *in, const BodyCall *call, const Graph *body, const NodeTypes *nt,
                         TypeId **v, uint32_t *n)
{
	const Arg *one = body->outputs.n ? &body->outputs.v[0].arg : NULL;
	bool inner = call->pair && one && (one->kind == AR_TUPLE || one->kind == AR_LIST);
	*n = inner ? one->n : call->pair ? 1 : body->outputs.n;
	*v = NEW_N(in->a, TypeId, *n ? *n : 1);
	for (uint32_t i = 0; i < *n; i++) {
		const Arg *a = inner ? &arg_kids(body, one)[i] : &body->outputs.v[i].arg;
		NodeId end = {0};
		(*v)[i] = a->kind == AR_NODE ? infer_type_at(nt, in->t, a->u.node, end)
		                             : infer_arg(nt, body, in->t, a);
	}
	return inner || (!call->pair && !body->returns_bare);
}

bool infer_body_result(Infer *in, const BodyCall *call, const NodeTypes *const *nt, Result *r)
{
	TypeId *all = NULL, *v;
	uint32_t nall = 0, n;
	bool several = true;
	for (uint32_t k = 0; k < call->nresults; k++) {
		GraphId id = call->body[call->first_result + k];
		const Graph *body = graph_get(in->p, id);
		if (!body || !nt[id.i] || body->truncated)
			return false;
		several = body_results(in, call, body, nt[id.i], &v, &n);
		if (all && n != nall)
			return false;
		for (uint32_t i = 0; all && i < n; i++)
			v[i] = infer_join(in->t, all[i], v[i]);
		all = v;
		nall = n;
	}
	if (!all)
		return false;
	*r = (Result){.many = several, .v = all, .n = nall};
	if (!several && nall == 1)
		r->one = all[0];
	return several || nall == 1;
}
