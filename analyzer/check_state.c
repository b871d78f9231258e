/* SPDX-License-Identifier: MIT
 * GL401: regions of grad mode, autocast and their like that one graph does not both enter and leave. */
#include "check.h"

typedef enum StateAct { STATE_IS_SET, STATE_IS_ENTERED, STATE_IS_LEFT } StateAct;

typedef struct StateOp {
	Str name;
	StateAct act;
	Str state;
} StateOp;

static const StateOp ops[] = {
#define STATE_SET(name, state) {STR_INIT(name), STATE_IS_SET, STR_INIT(state)},
#define STATE_ENTER(name, state) {STR_INIT(name), STATE_IS_ENTERED, STR_INIT(state)},
#define STATE_EXIT(name, state) {STR_INIT(name), STATE_IS_LEFT, STR_INIT(state)},
#include "state_ops.def"
#undef STATE_SET
#undef STATE_ENTER
#undef STATE_EXIT
};

/* A value that was set. */
typedef struct Setting {
	Str state;
	NodeId first, last;
	bool from, now;   /* value before the first, as it must have been; value now */
	bool unsure;      /* set to what it was: the value before is not known */
} Setting;

typedef struct Region {
	const StateOp *op;
	NodeId enter;
	bool left;
} Region;

typedef struct States {
	const CheckCtx *c;
	const CheckGraph *cg;
	VEC(Setting) set;
	VEC(Region) regions;
} States;

static const StateOp *state_op(const CheckCtx *c, const Node *n)
{
	if (n->kind != NK_CALL || n->callee != CALLEE_FUNCTION)
		return NULL;
	Str name = operator_short(c->p, n);
	for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (str_eq(ops[i].name, name))
			return &ops[i];
	return NULL;
}

static Finding *finding(States *s, Severity sev, NodeId id, Str state, Str variant)
{
	Finding *f = check_finding(s->c, CHECK_GL401, sev, s->cg->g, id);
	f->variant = variant;
	f->certainty = TRI_MUST;
	diag_var(s->c->d, f, S("what"), state);
	return f;
}

static void repeated(States *s, NodeId id, NodeId before, Str state)
{
	Finding *f = finding(s, SEV_NOTE, id, state, S("repeated"));
	check_step(s->c, f, ROLE_PLACE, s->cg->g, before, "it is so since here");
	check_step(s->c, f, ROLE_PLACE, s->cg->g, id, "the same again");
}

/* torch._C._set_grad_enabled(False): whoever sets a state changes it, so before the first it was the other value. */
static void set(States *s, NodeId id, const StateOp *op)
{
	const Node *n = graph_node(s->cg->g, id);
	const Arg *a = n->nargs ? node_args(s->cg->g, n) : NULL;
	bool value = a && a->u.num;
	Setting *p = NULL;
	for (uint32_t i = 0; i < s->set.n; i++)
		if (str_eq(s->set.v[i].state, op->state))
			p = &s->set.v[i];
	if (!p) {
		VEC_PUSH(s->c->scratch, &s->set, ((Setting){.state = op->state, .first = id, .last = id, .from = !value, .now = value}));
		p = &s->set.v[s->set.n - 1];
		p->unsure = !a || a->kind != AR_BOOL;
		return;
	}
	if (!a || a->kind != AR_BOOL) {
		p->unsure = true;
	} else if (value == p->now && !p->unsure) {
		repeated(s, id, p->last, op->state);
		p->unsure = true;
	}
	p->now = value;
	p->last = id;
}

static bool same_arguments(const States *s, NodeId a, NodeId b)
{
	const Graph *g = s->cg->g;
	const Node *x = graph_node(g, a), *y = graph_node(g, b);
	Buf t = {.a = s->c->scratch}, u = {.a = s->c->scratch};
	if (x->nargs != y->nargs || x->target.i != y->target.i)
		return false;
	for (uint32_t i = 0; i < x->nargs; i++) {
		arg_text(s->c->p, g, &node_args(g, x)[i], &t);
		arg_text(s->c->p, g, &node_args(g, y)[i], &u);
	}
	return str_eq(buf_str(&t), buf_str(&u));
}

static Region *innermost(States *s, Str state)
{
	for (uint32_t i = s->regions.n; i-- > 0;)
		if (!s->regions.v[i].left && str_eq(s->regions.v[i].op->state, state))
			return &s->regions.v[i];
	return NULL;
}

static void enter(States *s, NodeId id, const StateOp *op)
{
	Region *in = innermost(s, op->state);
	if (in && str_eq(op->state, S("autocast")) && same_arguments(s, in->enter, id))
		repeated(s, id, in->enter, op->state);
	VEC_PUSH(s->c->scratch, &s->regions, ((Region){.op = op, .enter = id}));
}

/* The region that an exit names by what its enter returned, else the innermost one. */
static Region *region_of(States *s, NodeId id, const StateOp *op)
{
	const Node *n = graph_node(s->cg->g, id);
	const Arg *a = n->nargs ? node_args(s->cg->g, n) : NULL;
	if (!a || a->kind != AR_NODE)
		return innermost(s, op->state);
	for (uint32_t i = s->regions.n; i-- > 0;)
		if (s->regions.v[i].enter.i == a->u.node.i)
			return &s->regions.v[i];
	return NULL;
}

static void leave(States *s, NodeId id, const StateOp *op)
{
	Region *r = region_of(s, id, op);
	if (r) {
		r->left = true;
		return;
	}
	Finding *f = finding(s, SEV_WARNING, id, op->state, S("entered-elsewhere"));
	check_step(s->c, f, ROLE_PLACE, s->cg->g, id, STR_FMT " ends here and began outside this graph", STR_ARG(op->state));
}

static void settle(States *s)
{
	for (uint32_t i = 0; i < s->regions.n; i++) {
		const Region *r = &s->regions.v[i];
		if (r->left)
			continue;
		bool crosses = s->cg->returned[r->enter.i];
		Finding *f = finding(s, SEV_WARNING, r->enter, r->op->state, crosses ? S("left-elsewhere") : S("open"));
		check_step(s->c, f, ROLE_PLACE, s->cg->g, r->enter, STR_FMT " begins here and does not end in this graph", STR_ARG(r->op->state));
	}
	for (uint32_t i = 0; i < s->set.n; i++) {
		const Setting *p = &s->set.v[i];
		if (p->unsure || p->now == p->from)
			continue;
		Finding *f = finding(s, SEV_WARNING, p->last, p->state, p->now ? S("left-on") : S("left-off"));
		check_step(s->c, f, ROLE_PLACE, s->cg->g, p->last, STR_FMT " stays as it is set here", STR_ARG(p->state));
	}
}

void check_state_region(const CheckCtx *c, const CheckGraph *cg)
{
	States s = {.c = c, .cg = cg};
	for (uint32_t i = 1; i < cg->g->nodes.n; i++) {
		const StateOp *op = state_op(c, &cg->g->nodes.v[i]);
		if (!op)
			continue;
		switch (op->act) {
		case STATE_IS_SET: set(&s, (NodeId){i}, op); break;
		case STATE_IS_ENTERED: enter(&s, (NodeId){i}, op); break;
		case STATE_IS_LEFT: leave(&s, (NodeId){i}, op); break;
		}
	}
	if (!cg->g->truncated && !cg->g->incomplete)
		settle(&s);
}
