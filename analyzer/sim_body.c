/* SPDX-License-Identifier: MIT
 * Bodies of higher-order operators and submodules in a run. */
#include "sim_node.h"

enum { MAX_BODY_DEPTH = 16, MAX_OPERANDS = 4000, MAX_BODIES = 8 };

/* A call of bodies: which, and with what. */
typedef struct BodyCall {
	GraphId body[MAX_BODIES];
	uint32_t nbodies;
	Ref *args;
	uint32_t nargs;
} BodyCall;

static GraphId body_of(const GraphRun *r, const Arg *a)
{
	if (a->kind != AR_NODE)
		return (GraphId){0};
	const Node *n = graph_node(r->g, a->u.node);
	return n->kind == NK_GET_ATTR ? graph_child(r->g, n->target) : (GraphId){0};
}

static void add_operand(GraphRun *r, BodyCall *c, const Arg *a)
{
	if (c->nargs < MAX_OPERANDS)
		c->args[c->nargs++] = step_arg(r, a);
}

/* Operands stand behind the last body; keywords and texts are settings. */
static void find_bodies(GraphRun *r, BodyCall *c)
{
	const Node *n = graph_node(r->g, r->node);
	const Arg *a = node_args(r->g, n);
	uint32_t after = 0;
	*c = (BodyCall){.args = NEW_N(r->s->scratch, Ref, MAX_OPERANDS + 1)};
	if (n->callee == CALLEE_MODULE)
		c->body[0] = graph_child(r->g, n->target);
	c->nbodies = c->body[0].i != 0;
	for (uint32_t i = 0; n->callee == CALLEE_FUNCTION && i < n->nargs; i++) {
		GraphId b = body_of(r, &a[i]);
		if (!b.i || c->nbodies == MAX_BODIES)
			continue;
		c->body[c->nbodies++] = b;
		after = i + 1;
	}
	for (uint32_t i = after; c->nbodies && i < n->nargs; i++) {
		if (!sym_none(a[i].key) || a[i].kind == AR_STR)
			continue;
		if (a[i].kind != AR_TUPLE && a[i].kind != AR_LIST)
			add_operand(r, c, &a[i]);
		for (uint32_t j = 0; (a[i].kind == AR_TUPLE || a[i].kind == AR_LIST) && j < a[i].n; j++)
			add_operand(r, c, &arg_kids(r->g, &a[i])[j]);
	}
}

/* Does it make new values only, whatever it is given? */
static bool is_pure(const GraphRun *r, GraphId body)
{
	const Summary *sum = r->s->summaries[body.i];
	const Graph *g = graph_get(r->p, body);
	for (uint32_t i = 0; i < g->inputs.n; i++)
		if (sum->inputs[i].data != TRI_NO || sum->inputs[i].metadata != TRI_NO)
			return false;
	for (uint32_t j = 0; j < g->outputs.n; j++)
		if (sum->outputs[j].kind != ALIAS_FRESH && sum->outputs[j].kind != ALIAS_NON_TENSOR)
			return false;
	for (uint32_t i = 0; i < sum->nattrs; i++)
		if (sum->attrs[i].w.data != TRI_NO || sum->attrs[i].w.metadata != TRI_NO)
			return false;
	return !g->incomplete && !g->unread.n;
}

/* A graph whose operands are not those of the call counts as code that is not shown. */
static bool run_one(GraphRun *r, const BodyCall *c, uint32_t k, Ref *out)
{
	Sim *s = r->s;
	const Graph *g = graph_get(r->p, c->body[k]);
	Ref *args = NEW_N(s->scratch, Ref, c->nargs + 2);
	uint32_t n = c->nargs, at = 0;
	if (g->inputs.n == n + 1) { /* ctx of an autograd function */
		args[at++] = sim_none(s);
		n++;
	}
	if (g->inputs.n != n) {
		sim_unsure(s, S("a graph of which lines are missing, or a body with other operands"));
		return false;
	}
	memcpy(args + at, c->args, c->nargs * sizeof *args);
	*out = step_graph(s, r->p, g, s->types[c->body[k].i], s->summaries[c->body[k].i], args, n,
	                  step_mix(step_mix(r->site, r->node.i), k), false, r->depth + 1);
	return true;
}

/* ---- one of two ---- */

static bool predicate(GraphRun *r, TermId *out)
{
	const Node *n = graph_node(r->g, r->node);
	Ref v = n->nargs ? step_arg(r, node_args(r->g, n)) : 0;
	if (!v)
		return false;
	if (sim_is_tensor(r->s, v))
		v = sim_item(r->s, v);
	*out = sim_obj(r->s, v)->term;
	return sim_obj(r->s, v)->kind == HK_NUMBER;
}

static Ref join_tensors(GraphRun *r, TermId cond, Ref yes, Ref no, uint64_t origin)
{
	Sim *s = r->s;
	Sym where = sym_intern(s->names, S("where"));
	TypeId type = sim_type(s, yes);
	const TermId *a, *b;
	if (!sim_elements(s, yes, &a) || !sim_elements(s, no, &b) || sim_tensor_of(s, yes)->numel != sim_tensor_of(s, no)->numel) {
		TermId whole = term_op(s->terms, where, (TermId[]){cond, sim_content(s, yes), sim_content(s, no)}, 3, 0);
		return sim_new_tensor(s, type, &whole, origin);
	}
	uint32_t n = sim_tensor_of(s, yes)->numel;
	TermId *e = NEW_N(s->scratch, TermId, n + 1);
	for (uint32_t k = 0; k < n; k++)
		e[k] = term_op(s->terms, where, (TermId[]){cond, a[k], b[k]}, 3, 0);
	return sim_new_tensor(s, type, e, origin);
}

static Ref join(GraphRun *r, TermId cond, Ref yes, Ref no, uint64_t origin)
{
	Sim *s = r->s;
	const HeapObj a = *sim_obj(s, yes), b = *sim_obj(s, no);
	if (a.kind == HK_TENSOR && b.kind == HK_TENSOR)
		return join_tensors(r, cond, yes, no, origin);
	if (a.kind == HK_NUMBER && b.kind == HK_NUMBER)
		return sim_number(s, term_op(s->terms, sym_intern(s->names, S("where")), (TermId[]){cond, a.term, b.term}, 3, 0));
	if (a.kind != HK_TUPLE || b.kind != HK_TUPLE || a.items.n != b.items.n)
		return yes == no ? yes : sim_unknown(s, origin);
	Ref *v = NEW_N(s->scratch, Ref, a.items.n + 1);
	for (uint32_t i = 0; i < a.items.n; i++)
		v[i] = a.items.v[i] == b.items.v[i] ? a.items.v[i] : join(r, cond, a.items.v[i], b.items.v[i], step_mix(origin, i + 1));
	return sim_list(s, HK_TUPLE, v, a.items.n);
}

/* torch.cond: both run, as far as neither changes what there was, and the predicate chooses for each element. */
static bool run_cond(GraphRun *r, const BodyCall *c, Ref *out)
{
	TermId cond;
	Ref yes, no;
	if (c->nbodies != 2 || !predicate(r, &cond))
		return false;
	const Term *t = term_get(r->s->terms, cond);
	if (t->kind == TERM_NUM)
		return run_one(r, c, t->num ? 0 : 1, out);
	if (!is_pure(r, c->body[0]) || !is_pure(r, c->body[1]) || !run_one(r, c, 0, &yes) || !run_one(r, c, 1, &no))
		return false;
	*out = join(r, cond, yes, no, step_mix(step_mix(r->site, r->node.i), 43));
	return true;
}

/* ---- bodies that run over parts, or as often as they say ---- */

static bool runs_otherwise(Str target)
{
	static const Str names[] = {STR_INIT("while_loop"), STR_INIT("scan"), STR_INIT("map"), STR_INIT("map_impl"),
	                            STR_INIT("switch"), STR_INIT("while_loop_stack_output"), STR_INIT("associative_scan")};
	uint32_t dot = str_rfind(target, S("."));
	Str last = dot < target.n ? str_sub(target, dot + 1, target.n) : target;
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(last, names[i]))
			return true;
	return false;
}

bool step_body(GraphRun *r, Ref *out)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	Str t = step_target(r, n);
	BodyCall c;
	find_bodies(r, &c);
	if (!c.nbodies || r->depth >= MAX_BODY_DEPTH)
		return false;
	bool pure = true;
	for (uint32_t k = 0; k < c.nbodies; k++) {
		if (!s->summaries[c.body[k].i] || !s->types[c.body[k].i])
			return false;
		pure &= is_pure(r, c.body[k]);
	}
	if (runs_otherwise(t) && pure) /* what comes out depends on all that goes in */
		return false;
	Ref res;
	if (!(str_has(t, S("cond")) && run_cond(r, &c, &res))) {
		bool all = c.nbodies == 1 || str_has(t, S("autograd_function_apply"));
		if (!all || runs_otherwise(t))
			sim_unsure(s, S("a body of which the dump does not tell whether it runs"));
		if (!run_one(r, &c, 0, &res))
			return false;
	}
	const HeapObj o = *sim_obj(s, res);
	TypeId type = n->type;
	bool single = type.i && type_get(s->t, type)->kind == TK_TENSOR;
	*out = single && o.kind == HK_TUPLE && o.items.n ? o.items.v[0] : res;
	return true;
}
