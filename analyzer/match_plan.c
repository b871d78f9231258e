/* SPDX-License-Identifier: MIT */
#include "match_plan.h"

typedef struct Planner {
	const RulePattern *rp;
	const Pattern *p;
	Plan *out;
	uint64_t bound;   /* by variable */
	uint32_t planned; /* by node */
	uint32_t asked;   /* conditions that were put down */
	uint64_t returned;
	uint8_t queue[PATTERN_NODES];
	uint32_t nqueue;
} Planner;

static uint64_t bit(uint32_t v)
{
	return (uint64_t)1 << v;
}

static void put(Planner *pl, MatchStep s)
{
	ASSERT(pl->out->n < PLAN_STEPS);
	pl->out->v[pl->out->n++] = s;
}

/* What can be asked now. */
static void put_questions(Planner *pl)
{
	for (uint32_t v = 0; v < pl->p->nvars; v++)
		if (pl->p->var[v].returned && pl->bound & bit(v) && !(pl->returned & bit(v))) {
			pl->returned |= bit(v);
			put(pl, (MatchStep){.kind = MS_RETURNED, .var = (uint8_t)v});
		}
	for (uint32_t c = 0; c < pl->rp->where.n; c++)
		if (!(pl->asked >> c & 1) && (pl->rp->where.v[c].vars & ~pl->bound) == 0) {
			pl->asked |= 1u << c;
			put(pl, (MatchStep){.kind = MS_COND, .cond = (uint16_t)c});
		}
}

static void bind(Planner *pl, uint32_t v)
{
	pl->bound |= bit(v);
}

/* The statement has its call: its operator and arguments are next. */
static void take(Planner *pl, uint32_t node)
{
	const PatNode *n = &pl->p->node[node];
	pl->planned |= 1u << node;
	bind(pl, n->var);
	if (n->op == PO_VAR || n->op == PO_ATTR_VAR)
		bind(pl, n->op_var);
	pl->queue[pl->nqueue++] = (uint8_t)node;
}

static bool is_edge(const PatNode *n)
{
	return n->op == PO_VIEWS || n->op == PO_DEPENDS;
}

/* A variable of an argument list has its value; a statement that defines it is next. */
static void reach(Planner *pl, uint32_t var)
{
	int node = pl->p->var[var].node;
	bind(pl, var);
	if (node < 0 || pl->planned >> node & 1)
		return;
	if (!is_edge(&pl->p->node[node]))
		put(pl, (MatchStep){.kind = MS_FOLLOW, .node = (uint8_t)node});
	take(pl, (uint32_t)node);
}

static void plan_list(Planner *pl, uint16_t list)
{
	const PatList *l = &pl->p->list[list];
	put(pl, (MatchStep){.kind = MS_ARGS, .list = list});
	for (uint32_t i = 0; i < l->n; i++)
		if (pl->p->elem[l->at + i].kind == PE_VAR)
			bind(pl, pl->p->elem[l->at + i].var);
	for (uint32_t i = 0; i < l->n; i++)
		if (pl->p->elem[l->at + i].kind == PE_LIST)
			plan_list(pl, pl->p->elem[l->at + i].list); /* depth: that of brackets in the pattern, 16 */
}

static void reach_list(Planner *pl, uint16_t list)
{
	const PatList *l = &pl->p->list[list];
	for (uint32_t i = 0; i < l->n; i++) {
		const PatElem *e = &pl->p->elem[l->at + i];
		if (e->kind == PE_VAR)
			reach(pl, e->var);
		else if (e->kind == PE_LIST)
			reach_list(pl, e->list);
	}
}

static uint32_t base_var(const Pattern *p, const PatNode *n)
{
	return p->elem[p->list[n->list].at].var;
}

static void drain(Planner *pl)
{
	for (uint32_t i = 0; i < pl->nqueue; i++) {
		uint8_t node = pl->queue[i];
		const PatNode *n = &pl->p->node[node];
		put_questions(pl);
		if (is_edge(n)) {
			put(pl, (MatchStep){.kind = MS_BASES, .node = node});
			reach(pl, base_var(pl->p, n));
		} else if (n->has_list) {
			plan_list(pl, n->list);
			put_questions(pl);
			reach_list(pl, n->list);
		}
	}
	pl->nqueue = 0;
	put_questions(pl);
}

static bool list_has(const Pattern *p, uint16_t list, uint64_t bound, uint8_t *var)
{
	const PatList *l = &p->list[list];
	for (uint32_t i = 0; i < l->n; i++) {
		const PatElem *e = &p->elem[l->at + i];
		if (e->kind == PE_VAR && bound & bit(e->var)) {
			*var = e->var;
			return true;
		}
		if (e->kind == PE_LIST && list_has(p, e->list, bound, var))
			return true;
	}
	return false;
}

/* A statement that takes something that has its value; false when there is none. */
static bool go_down(Planner *pl)
{
	for (uint32_t k = 0; k < pl->p->nnodes; k++) {
		const PatNode *n = &pl->p->node[k];
		uint8_t var;
		if (pl->planned >> k & 1 || !n->has_list || !list_has(pl->p, n->list, pl->bound, &var))
			continue;
		put(pl, (MatchStep){.kind = is_edge(n) ? MS_VIEWS : MS_USERS, .node = (uint8_t)k, .var = var});
		if (is_edge(n)) { /* its base has its value: nothing is left to ask */
			pl->planned |= 1u << k;
			bind(pl, n->var);
		} else {
			take(pl, k);
		}
		drain(pl);
		return true;
	}
	return false;
}

/* A statement without a way to it: better one with an operator of its own. */
static int next_seed(const Planner *pl)
{
	int any = -1;
	for (uint32_t k = 0; k < pl->p->nnodes; k++) {
		if (pl->planned >> k & 1)
			continue;
		if (!is_edge(&pl->p->node[k]) && pl->p->node[k].op != PO_VAR)
			return (int)k;
		if (any < 0 || is_edge(&pl->p->node[any]))
			any = (int)k;
	}
	return any;
}

void plan_make(const RulePattern *rp, int seed, Plan *out)
{
	Planner pl = {.rp = rp, .p = rp->pattern, .out = out};
	out->n = 0;
	for (uint32_t v = 0; seed < 0 && v < pl.p->nvars; v++)
		if (pl.p->var[v].returned) {
			put(&pl, (MatchStep){.kind = MS_OUTPUT, .var = (uint8_t)v});
			pl.returned |= bit(v);
			bind(&pl, v);
		}
	for (int k = seed; k >= 0; k = next_seed(&pl)) {
		put(&pl, (MatchStep){.kind = MS_SEED, .node = (uint8_t)k});
		take(&pl, (uint32_t)k);
		drain(&pl);
		while (go_down(&pl))
			continue;
	}
	put_questions(&pl);
}

void plan_text(const RulePattern *rp, const Plan *p, Buf *out)
{
	static const char *const words[] = {
		[MS_SEED] = "seed", [MS_OUTPUT] = "output", [MS_FOLLOW] = "follow", [MS_ARGS] = "args", [MS_BASES] = "bases",
		[MS_VIEWS] = "views", [MS_USERS] = "users", [MS_RETURNED] = "returned", [MS_COND] = "condition",
	};
	for (uint32_t i = 0; i < p->n; i++) {
		const MatchStep *s = &p->v[i];
		uint8_t var = s->kind == MS_OUTPUT || s->kind == MS_RETURNED ? s->var :
			s->kind == MS_ARGS ? rp->pattern->node[rp->pattern->list[s->list].node].var : rp->pattern->node[s->node].var;
		buf_printf(out, "%s ", words[s->kind]);
		if (s->kind == MS_COND)
			buf_printf(out, STR_FMT "\n", STR_ARG(rp->where.v[s->cond].text));
		else
			buf_printf(out, "$" STR_FMT "\n", STR_ARG(rp->pattern->var[var].name));
	}
}
