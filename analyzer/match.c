/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "match.h"

#include <pcre2.h>

#include "link.h"
#include "template.h"
#include "utf8.h"
#include "match_pred.h"
#include "match_plan.h"

/* An argument list of the program, beside one of the pattern. */
typedef struct ListBind {
	const Graph *g;
	const Arg *args;
	uint32_t n;
	uint32_t node; /* of the call itself; 0 nested */
} ListBind;

/* What one step has tried. */
typedef struct Trial {
	Vals list;       /* possibilities */
	uint32_t at, n;  /* the next one, and how many there are */
	uint64_t bound;  /* metavariables that it bound */
	Bind before;     /* MS_FOLLOW: what its variable was */
	ArenaMark mark;
	bool perhaps;    /* holds only perhaps */
	Str why;
} Trial;

typedef struct Matcher {
	World w;
	const CheckCtx *c;
	const Rules *rules;
	Buf *dump;
	Map by_key;       /* operator -> index in lists of seeds, plus 1 */
	VEC(Vals) seeds;
	/* of the rule and pattern at hand */
	const Rule *rule;
	const RulePattern *rp;
	const Pattern *p;
	Plan plan;
	Map told;         /* places that have a finding of this rule */
	Bind b[PATTERN_VARS];
	ListBind lists[PATTERN_LISTS];
	Trial trial[PLAN_STEPS];
} Matcher;

bool match_wanted(const Rules *rules, const RuleLevel *levels)
{
	for (uint32_t i = 0; i < rules->v.n; i++)
		if (levels[i].on && rules->v.v[i].patterns.n)
			return true;
	return false;
}

/* ---- operators ---- */

static uint64_t spelled_key(uint32_t callee, Sym target)
{
	return (uint64_t)(callee + 1) << 32 | target.i;
}

static uint64_t packet_key(Sym packet)
{
	return (uint64_t)0xff << 32 | packet.i;
}

static uint64_t seed_key(const PatNode *n)
{
	return n->op == PO_PACKET ? packet_key(n->target) : n->op == PO_SPELLED ? spelled_key(n->callee, n->target) : 0;
}

/* Lists for all operators that patterns name. */
static void want_seeds(Matcher *m, const RuleLevel *levels)
{
	for (uint32_t i = 0; i < m->rules->v.n; i++)
		for (uint32_t k = 0; levels[i].on && k < m->rules->v.v[i].patterns.n; k++) {
			const Pattern *p = m->rules->v.v[i].patterns.v[k].pattern;
			for (uint32_t n = 0; n < p->nnodes; n++) {
				uint64_t key = seed_key(&p->node[n]);
				if (!key || map_get(&m->by_key, key))
					continue;
				VEC_PUSH(m->w.a, &m->seeds, (Vals){0});
				map_put(&m->by_key, key, m->seeds.n);
			}
		}
}

static void add_seed(Matcher *m, uint64_t key, Val v)
{
	uint32_t at = map_get(&m->by_key, key);
	if (at)
		VEC_PUSH(m->w.a, &m->seeds.v[at - 1], v);
}

static void index_graph(Matcher *m, const Graph *g)
{
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		if (n->kind != NK_CALL)
			continue;
		Val v = {g->id.i, i};
		add_seed(m, spelled_key(n->callee, n->target), v);
		Sym packet = world_packet(&m->w, (Callee)n->callee, n->target);
		if (packet.i)
			add_seed(m, packet_key(packet), v);
	}
}

static bool same_operator(Matcher *m, const Bind *b, const Node *n)
{
	if (b->callee == n->callee && sym_eq(b->op, n->target))
		return true;
	Sym x = world_packet(&m->w, (Callee)b->callee, b->op), y = world_packet(&m->w, (Callee)n->callee, n->target);
	return x.i && sym_eq(x, y);
}

static bool bind_operator(Matcher *m, Trial *f, const PatNode *pn, Val v, const Node *n)
{
	Bind *b = &m->b[pn->op_var];
	if (b->kind != BIND_NONE)
		return b->kind == BIND_OP && same_operator(m, b, n);
	*b = (Bind){.kind = BIND_OP, .callee = n->callee, .op = n->target, .v = v};
	f->bound |= (uint64_t)1 << pn->op_var;
	return true;
}

static bool fits(Matcher *m, Trial *f, const PatNode *pn, Val v)
{
	const Node *n = world_node(&m->w, v);
	bool call = n->kind == NK_CALL;
	switch ((PatOp)pn->op) {
	case PO_SPELLED: return call && n->callee == pn->callee && sym_eq(n->target, pn->target);
	case PO_PACKET: return call && sym_eq(world_packet(&m->w, (Callee)n->callee, n->target), pn->target);
	case PO_VAR: return call && (pn->callee == CALLEE_FUNCTION || n->callee == pn->callee) && bind_operator(m, f, pn, v, n);
	case PO_ATTR: return n->kind == NK_GET_ATTR && sym_eq(n->target, pn->target);
	case PO_ATTR_VAR: return n->kind == NK_GET_ATTR && bind_operator(m, f, pn, v, n);
	case PO_INPUT: return n->kind == NK_PLACEHOLDER;
	case PO_VIEWS:
	case PO_DEPENDS: return n->kind != NK_NONE;
	}
	return false;
}

/* ---- arguments ---- */

static bool bind_arg(Matcher *m, Trial *f, uint8_t var, const Graph *g, const Arg *a)
{
	Bind new = {.kind = a->kind == AR_NODE ? BIND_VALUE : BIND_ARG, .v = {g->id.i, a->kind == AR_NODE ? a->u.node.i : 0}, .arg = a};
	Bind *b = &m->b[var];
	if (b->kind == BIND_NONE) {
		if (m->p->var[var].node >= 0 && new.kind != BIND_VALUE)
			return false;
		*b = new;
		f->bound |= (uint64_t)1 << var;
		return true;
	}
	if (b->kind != new.kind)
		return false;
	if (new.kind == BIND_VALUE)
		return world_same(&m->w, b->v, new.v);
	return pattern_same_arg(graph_get(m->c->p, (GraphId){b->v.g}), b->arg, g, a);
}

static bool match_elem(Matcher *m, Trial *f, const PatElem *e, const Graph *g, const Arg *a)
{
	if (!a || !world_work(&m->w, 1))
		return false;
	switch ((PatElemKind)e->kind) {
	case PE_VAR: return bind_arg(m, f, e->var, g, a);
	case PE_LITERAL: return pattern_same_arg(m->p->graph, e->arg, g, a);
	case PE_LIST:
		if (e->slice ? a->kind != AR_SLICE : a->kind != AR_TUPLE && a->kind != AR_LIST)
			return false;
		m->lists[e->list] = (ListBind){g, arg_kids(g, a), a->n, 0};
		return true;
	case PE_REST: return true;
	}
	return false;
}

static const Arg *by_key(const ListBind *l, Sym key)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->args[i].key.i && sym_eq(l->args[i].key, key))
			return &l->args[i];
	return NULL;
}

/* Name of a positional parameter of the call. */
static Sym param_name(Matcher *m, const ListBind *l, uint32_t i)
{
	const Node *n = &l->g->nodes.v[l->node];
	const Overload *o;
	uint32_t count = l->node ? facts_params(m->c->f, (Callee)n->callee, sym_str(m->c->p->names, n->target), &o) : 0;
	return count && i < o[0].n ? o[0].v[i].name : (Sym){0};
}

static uint32_t positional(const ListBind *l)
{
	uint32_t n = 0;
	while (n < l->n && !l->args[n].key.i)
		n++;
	return n;
}

/* A wanted argument at a position, also where the call gives it by its name. */
static const Arg *at_position(Matcher *m, const ListBind *l, uint32_t npos, uint32_t i)
{
	if (i < npos)
		return &l->args[i];
	Sym name = param_name(m, l, i);
	return name.i ? by_key(l, name) : NULL;
}

static const Arg *for_key(Matcher *m, const ListBind *l, Sym key)
{
	const Arg *a = by_key(l, key);
	if (a || !l->node)
		return a;
	return call_param(m->c->f, l->g, &l->g->nodes.v[l->node], sym_str(m->c->p->names, key));
}

/* How many positional arguments are wanted before, between and behind `...`. */
static void count_parts(const Pattern *p, const PatList *l, uint32_t part[3])
{
	uint32_t rest = 0;
	part[0] = part[1] = part[2] = 0;
	for (uint32_t i = 0; i < l->n; i++) {
		const PatElem *e = &p->elem[l->at + i];
		if (e->kind == PE_REST)
			rest += rest < 2;
		else if (!e->key.i)
			part[rest]++;
	}
	if (l->rests == 1) { /* what stands behind the only one is counted from the end */
		part[2] = part[1];
		part[1] = 0;
	}
}

/* Places where the middle part can begin, less one; none: the list cannot match. */
static bool choices(Matcher *m, const MatchStep *s, uint32_t *n)
{
	const PatList *l = &m->p->list[s->list];
	const ListBind *lb = &m->lists[s->list];
	uint32_t part[3], npos = positional(lb), need;
	count_parts(m->p, l, part);
	need = part[0] + part[1] + part[2];
	*n = 1;
	if (!l->rests)
		return lb->n == l->n;
	if (l->rests == 2 && npos >= need)
		*n = npos - need + 1;
	return npos >= part[1] + part[2];
}

static bool match_args(Matcher *m, Trial *f, const MatchStep *s, uint32_t offset)
{
	const PatList *l = &m->p->list[s->list];
	const ListBind lb = m->lists[s->list];
	uint32_t part[3], npos = positional(&lb), next = 0, rest = 0;
	count_parts(m->p, l, part);
	for (uint32_t i = 0; i < l->n; i++) {
		const PatElem *e = &m->p->elem[l->at + i];
		if (e->kind == PE_REST) {
			rest++;
			next = l->rests == 2 && rest == 1 ? part[0] + offset : npos - part[2];
			continue;
		}
		const Arg *a = e->key.i ? for_key(m, &lb, e->key) : at_position(m, &lb, npos, next++);
		if (!match_elem(m, f, e, lb.g, a))
			return false;
	}
	return true;
}

/* ---- steps ---- */

static void bind_value(Matcher *m, Trial *f, uint8_t var, Val v)
{
	m->b[var] = (Bind){.kind = BIND_VALUE, .v = v};
	f->bound |= (uint64_t)1 << var;
}

/* The statement has its call: its arguments can be compared. */
static void take_call(Matcher *m, const PatNode *pn, Val v)
{
	const Graph *g = graph_get(m->c->p, (GraphId){v.g});
	const Node *n = graph_node(g, (NodeId){v.n});
	if (pn->has_list)
		m->lists[pn->list] = (ListBind){g, node_args(g, n), n->nargs, v.n};
}

/* Graphs that the rule is about. */
static bool wants_graph(const Matcher *m, const Graph *g)
{
	if (m->rule->stages)
		return m->rule->stages >> g->stage & 1;
	if (!check_is_repeat(g))
		return true;
	for (uint32_t i = 0; i < m->p->nnodes; i++)
		if (m->p->node[i].op == PO_SPELLED && str_starts(sym_str(m->c->p->names, m->p->node[i].target), S("torch.ops.")))
			return true;
	return false;
}

static void every_node(Matcher *m, Arena *a, uint32_t g, Vals *out)
{
	const Graph *graph = graph_get(m->c->p, (GraphId){g});
	if (!graph || !check_wanted(m->c, graph) || !wants_graph(m, graph))
		return;
	for (uint32_t i = 1; i < graph->nodes.n && world_work(&m->w, 1); i++)
		VEC_PUSH(a, out, ((Val){g, i}));
}

static void every_output(Matcher *m, Arena *a, Vals *out)
{
	for (uint32_t i = 1; i < m->c->p->graphs.n; i++) {
		const Graph *g = m->c->p->graphs.v[i];
		if (!check_wanted(m->c, g) || !wants_graph(m, g))
			continue;
		for (uint32_t j = 0; j < g->outputs.n && world_work(&m->w, 1); j++)
			if (g->outputs.v[j].arg.kind == AR_NODE)
				VEC_PUSH(a, out, ((Val){i, g->outputs.v[j].arg.u.node.i}));
	}
}

/* The graph of the statements so far; 0: this is the first. A further statement without a way to it stands in the same one. */
static uint32_t graph_so_far(const Matcher *m)
{
	for (uint32_t v = 0; v < m->p->nvars; v++)
		if (m->b[v].kind == BIND_VALUE)
			return m->b[v].v.g;
	return 0;
}

static void find_seeds(Matcher *m, Arena *a, const PatNode *pn, Vals *out)
{
	uint32_t g = graph_so_far(m), list = map_get(&m->by_key, seed_key(pn));
	if (list) {
		const Vals *all = &m->seeds.v[list - 1];
		for (uint32_t i = 0; i < all->n; i++)
			if ((!g || all->v[i].g == g) && wants_graph(m, graph_get(m->c->p, (GraphId){all->v[i].g})))
				VEC_PUSH(a, out, all->v[i]);
		world_work(&m->w, all->n / 16);
		return;
	}
	for (uint32_t i = g ? g : 1; i < (g ? g + 1 : m->c->p->graphs.n); i++)
		every_node(m, a, i, out);
}

static uint8_t base_of(const Matcher *m, const PatNode *pn)
{
	return m->p->elem[m->p->list[pn->list].at].var;
}

static void enter(Matcher *m, const MatchStep *s, Trial *f)
{
	Arena *a = m->c->scratch;
	const PatNode *pn = &m->p->node[s->node];
	*f = (Trial){.mark = arena_mark(a), .n = 1};
	switch ((StepKind)s->kind) {
	case MS_SEED: find_seeds(m, a, pn, &f->list); break;
	case MS_OUTPUT: every_output(m, a, &f->list); break;
	case MS_FOLLOW:
		f->before = m->b[pn->var];
		world_sources(&m->w, f->before.v, false, a, &f->list);
		break;
	case MS_BASES:
		if (pn->op == PO_VIEWS)
			world_bases(&m->w, m->b[pn->var].v, a, &f->list, NULL);
		else
			world_reasons(&m->w, m->b[pn->var].v, a, &f->list);
		break;
	case MS_VIEWS:
		if (pn->op == PO_VIEWS)
			world_views(&m->w, m->b[s->var].v, a, &f->list);
		else
			world_results(&m->w, m->b[s->var].v, a, &f->list);
		break;
	case MS_USERS:
		if (m->b[s->var].kind == BIND_VALUE)
			world_users(&m->w, m->b[s->var].v, a, &f->list);
		break;
	case MS_ARGS:
		if (!choices(m, s, &f->n))
			f->n = 0;
		return;
	case MS_RETURNED:
	case MS_COND: return;
	}
	f->n = f->list.n;
}

static void undo(Matcher *m, const MatchStep *s, Trial *f)
{
	for (uint32_t v = 0; f->bound >> v; v++)
		if (f->bound >> v & 1)
			m->b[v] = (Bind){0};
	f->bound = 0;
	f->perhaps = false;
	f->why = (Str){0};
	if (s->kind == MS_FOLLOW)
		m->b[m->p->node[s->node].var] = f->before;
}

/* Does memory of the one only perhaps belong to the other? */
static void note_perhaps(Matcher *m, Trial *f, const PatNode *pn, Val base, Val v)
{
	if (pn->op == PO_VIEWS)
		f->perhaps = world_aliases(&m->w, v, base, &f->why) != TRI_MUST;
}

static bool try_base(Matcher *m, Trial *f, const PatNode *pn, Val v)
{
	uint8_t base = base_of(m, pn);
	if (m->b[base].kind == BIND_NONE)
		bind_value(m, f, base, v);
	else if (m->b[base].kind != BIND_VALUE || !world_same(&m->w, m->b[base].v, v))
		return false;
	note_perhaps(m, f, pn, v, m->b[pn->var].v);
	return true;
}

/* The possibility at f->at; true when it holds. */
static bool attempt(Matcher *m, const MatchStep *s, Trial *f)
{
	const PatNode *pn = &m->p->node[s->node];
	Val v = f->at < f->list.n ? f->list.v[f->at] : (Val){0, 0};
	switch ((StepKind)s->kind) {
	case MS_SEED:
	case MS_USERS:
		if (!fits(m, f, pn, v))
			return false;
		bind_value(m, f, pn->var, v);
		take_call(m, pn, v);
		return true;
	case MS_FOLLOW:
		if (!fits(m, f, pn, v))
			return false;
		m->b[pn->var].v = v;
		take_call(m, pn, v);
		return true;
	case MS_OUTPUT: bind_value(m, f, s->var, v); return true;
	case MS_BASES: return try_base(m, f, pn, v);
	case MS_VIEWS:
		bind_value(m, f, pn->var, v);
		note_perhaps(m, f, pn, m->b[s->var].v, v);
		return true;
	case MS_ARGS: return match_args(m, f, s, f->at);
	case MS_RETURNED: {
		const CheckGraph *g = m->b[s->var].kind == BIND_VALUE ? world_graph(&m->w, m->b[s->var].v.g) : NULL;
		return g && g->returned[m->b[s->var].v.n];
	}
	case MS_COND: return match_cond(&m->w, &m->rp->where.v[s->cond], m->b, &f->perhaps, &f->why) == TRI_MUST;
	}
	return false;
}

static bool next(Matcher *m, const MatchStep *s, Trial *f)
{
	undo(m, s, f);
	while (f->at < f->n && world_work(&m->w, 1)) {
		bool holds = attempt(m, s, f);
		f->at++;
		if (holds)
			return true;
		undo(m, s, f);
	}
	return false;
}

/* ---- findings ---- */

static void add_named(void *ctx, Str name, Buf *out)
{
	enum { MOST = 100 };
	Matcher *m = ctx;
	if (!str_starts(name, S("$")))
		return;
	int v = pattern_var(m->p, str_sub(name, 1, name.n));
	if (v < 0)
		return;
	Str text = match_bind_text(&m->w, &m->b[v], m->c->scratch), head = utf8_head(text, MOST);
	buf_add(out, head);
	if (head.n < text.n)
		buf_add(out, S("..."));
}

static Span span_of(Matcher *m, Val v)
{
	return node_span(graph_get(m->c->p, (GraphId){v.g}), (NodeId){v.n});
}

static void own_steps(Matcher *m, Finding *f)
{
	for (uint32_t i = 0; i < m->rp->steps.n; i++) {
		const RuleStep *s = &m->rp->steps.v[i];
		Buf text = {.a = m->c->scratch};
		template_fill(s->text, add_named, m, &text);
		if (m->b[s->var].kind == BIND_VALUE)
			diag_step(m->c->d, f, s->role, span_of(m, m->b[s->var].v), buf_str(&text));
	}
}

/* What the program does at one statement of the pattern. */
static StepRole role_of(Matcher *m, Val v)
{
	const CheckGraph *g = world_graph(&m->w, v.g);
	if (world_node(&m->w, v)->kind == NK_PLACEHOLDER)
		return ROLE_BOUNDARY;
	for (uint32_t i = 0; g && i < g->s->nnode_writes && g->s->node_writes[i].node.i <= v.n; i++)
		if (g->s->node_writes[i].node.i == v.n)
			return ROLE_WRITE;
	return g && g->s->from[v.n].node.i && g->s->from[v.n].shares != TRI_NO ? ROLE_ALIAS : ROLE_PLACE;
}

static void plain_steps(Matcher *m, Finding *f)
{
	for (uint32_t k = 0; k < m->p->nnodes; k++) {
		const PatNode *pn = &m->p->node[k];
		const Bind *b = &m->b[pn->var];
		if (b->kind != BIND_VALUE || pn->op == PO_VIEWS || pn->op == PO_DEPENDS)
			continue;
		const Graph *g = graph_get(m->c->p, (GraphId){b->v.g});
		Str op = operator_shown(m->c->scratch, m->c->p, graph_node(g, (NodeId){b->v.n}));
		diag_stepf(m->c->d, f, role_of(m, b->v), span_of(m, b->v), "`" STR_FMT "`%s" STR_FMT "%s",
			STR_ARG(node_shown(m->c->p, g, (NodeId){b->v.n})), op.n ? " by `" : "", STR_ARG(op), op.n ? "`" : "");
	}
}

/* Are the rule's contracts those of the graph? Elsewhere what it says is kept. */
static bool holds_here(const Matcher *m, const Graph *g)
{
	if (!m->rule->contracts || m->rule->contracts == (CONTRACT_BIT(CONTRACT_N) - 1))
		return true;
	return m->rule->contracts & CONTRACT_BIT(contract_of(&m->c->cfg->contract, link_captured_by_2x(m->c->p, g)));
}

static void add_vars(Matcher *m, Finding *f)
{
	for (uint32_t v = 0; v < m->p->nvars; v++) {
		if (!m->p->var[v].name.n || m->b[v].kind == BIND_NONE)
			continue;
		Buf name = {.a = m->c->scratch};
		buf_printf(&name, "$" STR_FMT, STR_ARG(m->p->var[v].name));
		diag_var(m->c->d, f, buf_str(&name), match_bind_text(&m->w, &m->b[v], m->c->scratch));
	}
}

static void tell(Matcher *m, bool perhaps, Str why)
{
	const Bind *at = &m->b[m->rp->at];
	if (at->kind != BIND_VALUE || map_get(&m->told, val_key(at->v)))
		return;
	map_put(&m->told, val_key(at->v), 1);
	const Graph *g = graph_get(m->c->p, (GraphId){at->v.g});
	bool holds = holds_here(m, g);
	Finding *f = diag_add(m->c->d, m->rule->id, holds ? m->rule->level : SEV_NOTE, span_of(m, at->v));
	f->graph = sym_str(m->c->p->names, g->name);
	f->graph_id = g->id;
	f->compile_id = sym_str(m->c->p->names, g->compile_id);
	f->source = node_source(m->c->p, m->c->src, g, (NodeId){at->v.n});
	f->group = operator_shown(m->c->d->a, m->c->p, graph_node(g, (NodeId){at->v.n}));
	f->certainty = perhaps ? TRI_MAY : TRI_MUST;
	f->condition = perhaps ? str_copy(m->c->d->a, why.n ? why : S("the dump does not decide it")) : (Str){0};
	f->contracts = m->rule->contracts;
	f->quiet_by_contract = !holds && m->rule->level > SEV_NOTE;
	diag_var(m->c->d, f, S("operator"), f->group);
	add_vars(m, f);
	if (m->rp->steps.n)
		own_steps(m, f);
	else
		plain_steps(m, f);
}

static void matched(Matcher *m)
{
	bool perhaps = false;
	Str why = {0};
	ArenaMark mark = arena_mark(m->c->scratch);
	for (uint32_t i = 0; i < m->plan.n; i++) {
		perhaps |= m->trial[i].perhaps;
		if (m->trial[i].perhaps && !why.n)
			why = m->trial[i].why;
	}
	tell(m, perhaps, why);
	arena_rewind(m->c->scratch, mark);
}

/* ---- one rule ---- */

/* Where few calls fit, few have to be looked at. */
static int choose_seed(const Matcher *m)
{
	int best = -1;
	uint32_t fewest = UINT32_MAX;
	for (uint32_t k = 0; k < m->p->nnodes; k++) {
		const PatNode *n = &m->p->node[k];
		uint32_t list = map_get(&m->by_key, seed_key(n));
		bool edge = n->op == PO_VIEWS || n->op == PO_DEPENDS;
		uint32_t many = list ? m->seeds.v[list - 1].n : edge ? UINT32_MAX - 1 : n->op == PO_VAR ? UINT32_MAX - 2 : UINT32_MAX - 3;
		if (many < fewest) {
			fewest = many;
			best = (int)k;
		}
	}
	return best;
}

static void dump_plan(Matcher *m)
{
	buf_printf(m->dump, "rule " STR_FMT "\n", STR_ARG(m->rule->id));
	plan_text(m->rp, &m->plan, m->dump);
}

static void match_pattern(Matcher *m)
{
	uint32_t i = 0;
	memset(m->b, 0, sizeof m->b);
	plan_make(m->rp, choose_seed(m), &m->plan);
	if (m->dump)
		dump_plan(m);
	enter(m, &m->plan.v[0], &m->trial[0]);
	for (;;) {
		if (next(m, &m->plan.v[i], &m->trial[i])) {
			if (i + 1 == m->plan.n) {
				matched(m);
				continue;
			}
			i++;
			enter(m, &m->plan.v[i], &m->trial[i]);
			continue;
		}
		arena_rewind(m->c->scratch, m->trial[i].mark);
		if (!i)
			return;
		i--;
	}
}

/* A limit is told once for each rule, and what it cut off counts as not looked at. */
static void tell_limit(Matcher *m, const char *variant, Str text)
{
	Finding *f = diag_add(m->c->d, S("GL906"), SEV_WARNING, (Span){0});
	f->variant = str_from_c(variant);
	diag_var(m->c->d, f, S("what"), m->rule->id);
	diag_var(m->c->d, f, S("text"), text);
	VEC_PUSH(m->c->d->a, &m->c->d->unread, ((Unread){.why = str_printf(m->c->d->a, "rule " STR_FMT ": " STR_FMT, STR_ARG(m->rule->id),
		STR_ARG(text)), .incomplete = true}));
}

static void match_rule(Matcher *m, const Rule *rule)
{
	m->rule = rule;
	m->told = (Map){.a = m->w.a};
	m->w.work = 0;
	m->w.trouble = (Str){0};
	for (uint32_t i = 0; i < rule->patterns.n; i++) {
		m->rp = &rule->patterns.v[i];
		m->p = m->rp->pattern;
		match_pattern(m);
	}
	if (m->w.work > m->w.most)
		tell_limit(m, "steps", S("the rule needs more steps than --max-match-steps allows"));
	if (m->w.trouble.n)
		tell_limit(m, "regex", m->w.trouble);
}

/* Expressions are made fast where they are used; one that cannot be is still right. */
static void prepare_regexes(const Rule *r)
{
	for (uint32_t i = 0; i < r->patterns.n; i++)
		for (uint32_t k = 0; k < r->patterns.v[i].where.n; k++) {
			const Cond *c = &r->patterns.v[i].where.v[k];
			for (uint32_t x = 0; x < c->regexes.n; x++)
				pcre2_jit_compile(c->regexes.v[x].code, PCRE2_JIT_COMPLETE);
		}
}

void match_program(const CheckCtx *c, const Rules *rules, const RuleLevel *levels, Buf *dump)
{
	Arena *a = c->work[0];
	ArenaMark mark = arena_mark(a);
	if (!match_wanted(rules, levels))
		return;
	Matcher *m = NEW(a, Matcher);
	m->c = c;
	m->rules = rules;
	m->dump = dump;
	m->by_key = (Map){.a = a};
	world_init(&m->w, c, a);
	m->w.most = c->cfg->limits.match_steps;
	want_seeds(m, levels);
	for (uint32_t i = 1; i < c->p->graphs.n; i++)
		if (check_wanted(c, c->p->graphs.v[i]))
			index_graph(m, c->p->graphs.v[i]);
	for (uint32_t i = 0; i < rules->v.n; i++) {
		if (!levels[i].on || !rules->v.v[i].patterns.n)
			continue;
		crash_note("match", NULL, i);
		budget_pulse(c->scratch->budget);
		prepare_regexes(&rules->v.v[i]);
		match_rule(m, &rules->v.v[i]);
	}
	arena_rewind(a, mark);
}
