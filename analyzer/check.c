/* SPDX-License-Identifier: MIT */
#include "check.h"

typedef struct CheckRow {
	Str id, name;
	bool flows;
	void (*graph)(const CheckCtx *c, const CheckGraph *cg);
	void (*program)(const CheckCtx *c);
} CheckRow;

static const CheckRow rows[CHECK_N] = {
#define CHECK_GRAPH(id, name, fn, flows, meaning) {STR_INIT(#id), STR_INIT(name), flows, fn, NULL},
#define CHECK_PROGRAM(id, name, fn, flows, meaning) {STR_INIT(#id), STR_INIT(name), flows, NULL, fn},
#include "checks.def"
#undef CHECK_GRAPH
#undef CHECK_PROGRAM
};

CheckRule check_rule(Str id_or_name)
{
	uint32_t i = 0;
	while (i < CHECK_N && !str_eq(rows[i].id, id_or_name) && !str_eq(rows[i].name, id_or_name))
		i++;
	return (CheckRule)i;
}

Str check_rule_id(CheckRule r)
{
	ASSERT(r < CHECK_N);
	return rows[r].id;
}

Str check_rule_name(CheckRule r)
{
	ASSERT(r < CHECK_N);
	return rows[r].name;
}

bool check_needs_flows(CheckRule r)
{
	ASSERT(r < CHECK_N);
	return rows[r].flows;
}

/* ---- one graph ---- */

static const Fact *fact_of(const CheckCtx *c, const Graph *g, const Node *n)
{
	if (n->kind != NK_CALL || n->callee == CALLEE_MODULE)
		return NULL;
	bool asked = c->cfg->torch.lo || c->cfg->torch.hi;
	return facts_find(c->f, (Callee)n->callee, sym_str(c->p->names, n->target), asked ? c->cfg->torch : g->torch);
}

typedef struct Users {
	CheckGraph *cg;
	uint32_t user;
} Users;

static void count_user(void *ctx, NodeId id)
{
	Users *u = ctx;
	u->cg->user_at[id.i + 1]++;
}

static void put_user(void *ctx, NodeId id)
{
	Users *u = ctx;
	u->cg->users[u->cg->user_at[id.i]++] = (NodeId){u->user};
}

static void each_argument(const Graph *g, uint32_t i, void (*f)(void *, NodeId), void *ctx)
{
	const Node *n = &g->nodes.v[i];
	for (uint32_t k = 0; k < n->nargs; k++)
		arg_each_node(g, &node_args(g, n)[k], f, ctx);
}

static void find_users(const CheckCtx *c, CheckGraph *cg)
{
	const Graph *g = cg->g;
	Users u = {.cg = cg};
	cg->user_at = NEW_N(c->scratch, uint32_t, (size_t)g->nodes.n + 2);
	for (uint32_t i = 1; i < g->nodes.n; i++)
		each_argument(g, i, count_user, &u);
	for (uint32_t i = 1; i <= g->nodes.n; i++)
		cg->user_at[i] += cg->user_at[i - 1];
	cg->users = NEW_N(c->scratch, NodeId, (size_t)cg->user_at[g->nodes.n] + 1);
	for (u.user = 1; u.user < g->nodes.n; u.user++)
		each_argument(g, u.user, put_user, &u);
	for (uint32_t i = g->nodes.n; i > 0; i--) /* putting moved each start to its end */
		cg->user_at[i] = cg->user_at[i - 1];
	cg->user_at[0] = 0;
}

static void note_returned(void *ctx, NodeId id)
{
	CheckGraph *cg = ctx;
	cg->returned[id.i] = true;
	cg->root_returned[cg->root[id.i].i] = true;
}

static void find_roots(const CheckCtx *c, CheckGraph *cg)
{
	const Graph *g = cg->g;
	cg->root = NEW_N(c->scratch, NodeId, g->nodes.n + 1);
	cg->root_must = NEW_N(c->scratch, bool, g->nodes.n + 1);
	cg->last_use = NEW_N(c->scratch, NodeId, g->nodes.n + 1);
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const NodeFrom *from = &cg->s->from[i];
		bool shares = from->node.i && from->node.i < i && from->shares != TRI_NO;
		cg->root[i] = shares ? cg->root[from->node.i] : (NodeId){i};
		cg->root_must[i] = !shares || (from->shares == TRI_MUST && cg->root_must[from->node.i]);
		for (uint32_t k = cg->user_at[i]; k < cg->user_at[i + 1]; k++)
			if (cg->users[k].i > cg->last_use[cg->root[i].i].i)
				cg->last_use[cg->root[i].i] = cg->users[k];
	}
}

CheckGraph *check_graph_of(const CheckCtx *c, const Graph *g)
{
	CheckGraph *cg = NEW(c->scratch, CheckGraph);
	cg->g = g;
	cg->nt = c->types[g->id.i];
	cg->s = c->summaries[g->id.i];
	cg->fact = NEW_N(c->scratch, const Fact *, g->nodes.n + 1);
	for (uint32_t i = 1; i < g->nodes.n; i++)
		cg->fact[i] = fact_of(c, g, &g->nodes.v[i]);
	find_users(c, cg);
	cg->returned = NEW_N(c->scratch, bool, g->nodes.n + 1);
	cg->root_returned = NEW_N(c->scratch, bool, g->nodes.n + 1);
	find_roots(c, cg);
	for (uint32_t j = 0; j < g->outputs.n; j++)
		arg_each_node(g, &g->outputs.v[j].arg, note_returned, cg);
	return cg;
}

Str check_name(const CheckCtx *c, const Graph *g, NodeId id)
{
	return node_shown(c->p, g, id);
}

Str check_target(const CheckCtx *c, const Graph *g, NodeId id)
{
	return sym_str(c->p->names, graph_node(g, id)->target);
}

bool check_has_tag(const CheckGraph *cg, NodeId id, FactTag tag)
{
	return cg->fact[id.i] && fact_has(cg->fact[id.i], tag);
}

const Type *check_arg_type(const CheckCtx *c, const CheckGraph *cg, const Arg *a)
{
	return type_get(c->t, infer_arg(cg->nt, cg->g, c->t, a));
}

const Type *check_type(const CheckCtx *c, const CheckGraph *cg, NodeId id)
{
	return type_get(c->t, cg->nt->v[id.i]);
}

bool check_wanted(const CheckCtx *c, const Graph *g)
{
	return g && c->summaries[g->id.i] && c->types[g->id.i] && !g->superseded;
}

/* ---- findings ---- */

Finding *check_finding_at(const CheckCtx *c, CheckRule rule, Severity sev, Span at)
{
	return diag_add(c->d, rows[rule].id, sev, at);
}

Finding *check_finding(const CheckCtx *c, CheckRule rule, Severity sev, const Graph *g, NodeId node)
{
	Finding *f = check_finding_at(c, rule, sev, node.i ? node_span(g, node) : graph_span(g));
	f->graph = sym_str(c->p->names, g->name);
	f->graph_id = g->id;
	f->compile_id = sym_str(c->p->names, g->compile_id);
	if (!node.i)
		return f;
	f->source = node_source(c->p, c->src, g, node);
	f->group = operator_shown(c->d->a, c->p, graph_node(g, node));
	diag_var(c->d, f, S("operator"), f->group);
	return f;
}

void check_step(const CheckCtx *c, Finding *f, StepRole role, const Graph *g, NodeId node, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	Str text = str_vprintf(c->scratch, fmt, ap);
	va_end(ap);
	diag_step(c->d, f, role, node.i ? node_span(g, node) : graph_span(g), text);
}

/* ---- all of them ---- */

static bool any_graph_check(const CheckCtx *c)
{
	for (uint32_t r = 0; r < CHECK_N; r++)
		if (rows[r].graph && !(c->off >> r & 1))
			return true;
	return false;
}

static void check_graphs(const CheckCtx *c)
{
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (!check_wanted(c, g))
			continue;
		crash_note("check", NULL, g->at);
		ArenaMark mark = arena_mark(c->scratch);
		CheckGraph *cg = check_graph_of(c, g);
		for (uint32_t r = 0; r < CHECK_N; r++)
			if (rows[r].graph && !(c->off >> r & 1))
				rows[r].graph(c, cg);
		arena_rewind(c->scratch, mark);
	}
}

static bool *find_parts(const CheckCtx *c)
{
	const Program *p = c->p;
	bool *part = NEW_N(c->keep, bool, p->graphs.n);
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		for (uint32_t k = 1; g->children.n && k < g->nodes.n; k++) {
			const Node *n = &g->nodes.v[k];
			if (n->kind == NK_CALL && n->callee == CALLEE_MODULE)
				part[graph_child(g, n->target).i] = true;
		}
	}
	part[0] = false;
	return part;
}

void check_program(const CheckCtx *given)
{
	CheckCtx ctx = *given;
	const CheckCtx *c = &ctx;
	ctx.part = find_parts(given);
	if (any_graph_check(c))
		check_graphs(c);
	for (uint32_t r = 0; r < CHECK_N; r++) {
		if (!rows[r].program || c->off >> r & 1)
			continue;
		ArenaMark mark = arena_mark(c->scratch);
		crash_note(rows[r].name.p, NULL, 0);
		rows[r].program(c);
		arena_rewind(c->scratch, mark);
	}
}
