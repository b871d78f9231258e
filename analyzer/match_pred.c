/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "match_pred.h"

#include <pcre2.h>

#include "link.h"

/* Of one match of a regular expression. */
enum { REGEX_STEPS = 200000, REGEX_DEPTH = 2000, REGEX_HEAP_KIB = 4096 };

/* A value of the stack machine. */
typedef struct Answer {
	char kind;         /* 'T' 'N' 'S', 'V' a metavariable, 'L' a list, 'R' a regular expression */
	Tri t;
	bool known;        /* of 'S' and real numbers */
	bool is_real;
	ExprId e;          /* of 'N'; 0 unknown */
	double real;
	Str s;
	const Bind *b;
	uint32_t at, n;    /* 'L': members in Eval.list; 'R': index */
} Answer;

typedef struct Eval {
	World *w;
	const Cond *c;
	const Bind *binds;
	bool *perhaps;
	Str *why;
	Answer stack[COND_STACK + 1];
	Answer list[64];
	uint32_t n, nlist;
} Eval;

typedef Answer PredFn(Eval *e, const Answer *a, uint32_t n);

static Answer tri(Tri t)
{
	return (Answer){.kind = 'T', .t = t};
}

static Answer yes(bool b)
{
	return tri(b ? TRI_MUST : TRI_NO);
}

static Answer text(Str s)
{
	return (Answer){.kind = 'S', .known = true, .s = s};
}

static Answer text_or_unknown(Str s)
{
	return (Answer){.kind = 'S', .known = s.n > 0, .s = s};
}

static Answer number(ExprId e)
{
	return (Answer){.kind = 'N', .e = e};
}

static Answer count(const Eval *e, int64_t n)
{
	return number(expr_int(e->w->c->t, n));
}

/* ---- what predicates look at ---- */

static bool is_value(const Answer *a)
{
	return a->b->kind == BIND_VALUE;
}

static const Graph *graph_of(const Eval *e, const Answer *a)
{
	return graph_get(e->w->c->p, (GraphId){a->b->v.g});
}

static const Node *node_of(const Eval *e, const Answer *a)
{
	return world_node(e->w, a->b->v);
}

static const Type *type_of(const Eval *e, const Answer *a)
{
	const NodeTypes *nt = e->w->c->types[a->b->v.g];
	return type_get(e->w->c->t, nt && is_value(a) ? nt->v[a->b->v.n] : (TypeId){0});
}

static Str str_of(const Eval *e, Sym s)
{
	return sym_str(e->w->c->p->names, s);
}

static Answer pred_may(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	*e->perhaps |= a[0].t == TRI_MAY;
	return yes(a[0].t != TRI_NO);
}

static Answer pred_is_input(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return yes(is_value(a) && node_of(e, a)->kind == NK_PLACEHOLDER);
}

static Answer pred_is_output(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const CheckGraph *g = is_value(a) ? world_graph(e->w, a->b->v.g) : NULL;
	return yes(g && g->returned[a->b->v.n]);
}

/* Names that Dynamo makes of self.lin._parameters['weight'] and of buffers (2.5 on); of others nothing is known. */
static Answer member_of(Eval *e, const Answer *a, Str word)
{
	if (!is_value(a))
		return tri(TRI_NO);
	const Node *n = node_of(e, a);
	if (n->kind == NK_GET_ATTR)
		return tri(TRI_MAY);
	return yes(n->kind == NK_PLACEHOLDER && (str_has(str_of(e, n->target), word) || str_has(str_of(e, n->name), word)));
}

static Answer pred_is_parameter(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return member_of(e, a, S("_parameters_"));
}

static Answer pred_is_buffer(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return member_of(e, a, S("_buffers_"));
}

static Answer pred_is_attribute(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return yes(is_value(a) && node_of(e, a)->kind == NK_GET_ATTR);
}

static Answer pred_is_constant(Eval *e, const Answer *a, uint32_t n)
{
	(void)e, (void)n;
	return yes(a->b->kind == BIND_ARG);
}

static Answer pred_is_tensor(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	if (!is_value(a))
		return tri(TRI_NO);
	TypeKind k = type_of(e, a)->kind;
	return tri(k == TK_TENSOR ? TRI_MUST : k == TK_NONE ? TRI_MAY : TRI_NO);
}

static Answer pred_same(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const Bind *x = a[0].b, *y = a[1].b;
	if (x->kind == BIND_VALUE && y->kind == BIND_VALUE)
		return yes(world_same(e->w, x->v, y->v));
	return yes(x->kind == BIND_ARG && y->kind == BIND_ARG && pattern_same_arg(graph_of(e, &a[0]), x->arg, graph_of(e, &a[1]), y->arg));
}

static Answer pred_same_graph(Eval *e, const Answer *a, uint32_t n)
{
	(void)e, (void)n;
	return yes(is_value(&a[0]) && is_value(&a[1]) && a[0].b->v.g == a[1].b->v.g);
}

static Answer pred_before(Eval *e, const Answer *a, uint32_t n)
{
	return yes(pred_same_graph(e, a, n).t == TRI_MUST && a[0].b->v.n < a[1].b->v.n);
}

/* ---- memory ---- */

static Answer pred_aliases(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return is_value(&a[0]) && is_value(&a[1]) ? tri(world_aliases(e->w, a[0].b->v, a[1].b->v, e->why)) : tri(TRI_NO);
}

static Answer pred_may_alias(Eval *e, const Answer *a, uint32_t n)
{
	Answer t = pred_aliases(e, a, n);
	return pred_may(e, &t, 1);
}

typedef enum WriteKind { WRITE_DATA, WRITE_LAYOUT } WriteKind;

/* Writes by one node, into anything or into the memory of `into`. */
static Tri node_writes(Eval *e, Val by, const Val *into, WriteKind kind)
{
	const CheckGraph *g = world_graph(e->w, by.g);
	Tri t = TRI_NO;
	uint32_t lo = 0, hi = g ? g->s->nnode_writes : 0;
	while (lo < hi) { /* they are in the order of the nodes */
		uint32_t mid = lo + (hi - lo) / 2;
		if (g->s->node_writes[mid].node.i < by.n)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (uint32_t i = lo; g && i < g->s->nnode_writes && g->s->node_writes[i].node.i == by.n; i++) {
		const NodeWrite *x = &g->s->node_writes[i];
		if (x->metadata != (kind == WRITE_LAYOUT) || !x->through.i)
			continue;
		Tri same = into ? world_aliases(e->w, (Val){by.g, x->through.i}, *into, e->why) : TRI_MUST;
		t = tri_or(t, tri_and(x->certainty, same));
	}
	return t;
}

static Answer pred_writes(Eval *e, const Answer *a, uint32_t n)
{
	if (!is_value(a) || (n > 1 && !is_value(&a[1])))
		return tri(TRI_NO);
	return tri(node_writes(e, a[0].b->v, n > 1 ? &a[1].b->v : NULL, WRITE_DATA));
}

/* The part of a graph in which writes and reads are looked for. */
typedef enum Where { ANYWHERE, BEHIND, BEFORE } Where;

static bool is_there(Where where, Val mark, Val v)
{
	if (where == ANYWHERE)
		return true;
	if (v.g != mark.g) /* the graphs that it goes to run later */
		return where == BEHIND;
	return where == BEHIND ? v.n > mark.n : v.n < mark.n;
}

/* Is something done with the memory of a value by a node that `test` is asked about? */
typedef Tri TouchFn(Eval *e, const CheckGraph *g, Val by, Val holder);

/* Memory that no other value is the base of. */
static bool is_root(Eval *e, Val v)
{
	const CheckGraph *g = world_graph(e->w, v.g);
	bool view = g && g->s->from[v.n].node.i && g->s->from[v.n].shares != TRI_NO;
	return !view && !map_get(&e->w->to, val_key(v));
}

/* Users of one holder. */
static Tri touched_here(Eval *e, Val v, Val mark, Where where, TouchFn *test, Val holder)
{
	const CheckGraph *g = world_graph(e->w, holder.g);
	Tri t = TRI_NO;
	for (uint32_t u = g ? g->user_at[holder.n] : 0; g && u < g->user_at[holder.n + 1] && t != TRI_MUST; u++) {
		Val by = {holder.g, g->users[u].i};
		if (!is_there(where, mark, by) || !world_work(e->w, 1))
			continue;
		Tri does = test(e, g, by, holder);
		t = does == TRI_NO ? t : tri_or(t, tri_and(does, world_aliases(e->w, holder, v, e->why)));
	}
	return t;
}

/* All holders of the memory: the bases of the value, and what is a view of them. Users of each are asked. */
static Tri touched(Eval *e, Val v, Val mark, Where where, TouchFn *test)
{
	Arena *a = e->w->c->scratch;
	ArenaMark m = arena_mark(a);
	Vals bases = {0};
	Tri t = TRI_NO;
	world_bases(e->w, v, a, &bases, NULL);
	for (uint32_t b = 0; b < bases.n && t != TRI_MUST; b++) {
		Vals views = {0};
		if (!is_root(e, bases.v[b]))
			continue;
		world_views(e->w, bases.v[b], a, &views);
		for (uint32_t i = 0; i < views.n && t != TRI_MUST; i++)
			t = tri_or(t, touched_here(e, v, mark, where, test, views.v[i]));
	}
	arena_rewind(a, m);
	return t;
}

static Tri writes_through(const CheckGraph *g, Val by, Val holder, bool layout)
{
	Tri t = TRI_NO;
	uint32_t lo = 0, hi = g->s->nnode_writes;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (g->s->node_writes[mid].node.i < by.n)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < g->s->nnode_writes && g->s->node_writes[lo].node.i == by.n; lo++) {
		const NodeWrite *x = &g->s->node_writes[lo];
		if (x->metadata == layout && x->through.i == holder.n)
			t = tri_or(t, x->certainty);
	}
	return t;
}

static Tri is_write(Eval *e, const CheckGraph *g, Val by, Val holder)
{
	(void)e;
	return writes_through(g, by, holder, false);
}

static Tri is_layout_write(Eval *e, const CheckGraph *g, Val by, Val holder)
{
	(void)e;
	return writes_through(g, by, holder, true);
}

/* A call that makes something new of it; a view of it reads nothing. */
static Tri is_read(Eval *e, const CheckGraph *g, Val by, Val holder)
{
	const Node *n = graph_node(g->g, (NodeId){by.n});
	const NodeFrom *from = &g->s->from[by.n];
	(void)e;
	if (n->kind == NK_UNREAD)
		return TRI_MAY;
	if (from->node.i == holder.n && from->shares == TRI_MUST && writes_through(g, by, holder, false) == TRI_NO)
		return TRI_NO;
	return n->kind == NK_CALL ? TRI_MUST : TRI_NO;
}

static Answer touch(Eval *e, const Answer *a, uint32_t n, Where where, TouchFn *test)
{
	if (!is_value(a) || (n > 1 && !is_value(&a[1])))
		return tri(TRI_NO);
	return tri(touched(e, a[0].b->v, n > 1 ? a[1].b->v : a[0].b->v, where, test));
}

static Answer pred_written(Eval *e, const Answer *a, uint32_t n)
{
	return touch(e, a, n, ANYWHERE, is_write);
}

static Answer pred_written_after(Eval *e, const Answer *a, uint32_t n)
{
	return touch(e, a, n, BEHIND, is_write);
}

static Answer pred_written_before(Eval *e, const Answer *a, uint32_t n)
{
	return touch(e, a, n, BEFORE, is_write);
}

static Answer pred_read_after(Eval *e, const Answer *a, uint32_t n)
{
	return touch(e, a, n, BEHIND, is_read);
}

static Answer pred_layout_written(Eval *e, const Answer *a, uint32_t n)
{
	return touch(e, a, n, ANYWHERE, is_layout_write);
}

/* Without bytecode nobody knows where outputs go. */
static Answer pred_crosses(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	if (!is_value(a))
		return tri(TRI_NO);
	uint64_t key = val_key(a->b->v);
	if (map_get(&e->w->from, key) || map_get(&e->w->to, key))
		return tri(TRI_MUST);
	bool linked = e->w->c->verdicts && e->w->c->verdicts[a->b->v.g].outputs;
	bool leaves = pred_is_output(e, a, n).t == TRI_MUST || node_of(e, a)->kind == NK_PLACEHOLDER;
	return tri(leaves && !linked ? TRI_MAY : TRI_NO);
}

/* ---- layout ---- */

static Tri layout_answer(Eval *e, const Answer *a, Tri (*ask)(Types *, const Type *))
{
	const Type *t = type_of(e, a);
	return !is_value(a) || t->kind == TK_SYM || t->kind == TK_OTHER ? TRI_NO : ask(e->w->c->t, t);
}

static Answer pred_contiguous(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return tri(layout_answer(e, a, type_is_contiguous));
}

static Tri is_channels_last(Types *t, const Type *v)
{
	if (!v->has_shape)
		return TRI_MAY;
	return v->ndim == 4 || v->ndim == 5 ? type_is_channels_last(t, v, v->ndim) : TRI_NO;
}

static Answer pred_channels_last(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return tri(layout_answer(e, a, is_channels_last));
}

static Answer pred_overlapping(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return tri(layout_answer(e, a, type_overlaps_itself));
}

static Answer pred_ndim(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const Type *t = type_of(e, a);
	return t->kind == TK_TENSOR && t->has_shape ? count(e, t->ndim) : number((ExprId){0});
}

static ExprId dim_of(Eval *e, const Answer *a, bool stride)
{
	const Type *t = type_of(e, &a[0]);
	int64_t k;
	if (t->kind != TK_TENSOR || !t->has_shape || (stride && !t->has_stride) || !expr_value(e->w->c->t, a[1].e, &k))
		return (ExprId){0};
	k += k < 0 ? t->ndim : 0;
	return k >= 0 && k < t->ndim ? (stride ? t->stride : t->size)[k] : (ExprId){0};
}

static Answer pred_size(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return number(dim_of(e, a, false));
}

static Answer pred_stride(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return number(dim_of(e, a, true));
}

static Answer pred_numel(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const Type *t = type_of(e, a);
	return number(t->kind == TK_TENSOR && t->has_shape ? type_numel(e->w->c->t, t) : (ExprId){0});
}

static Answer pred_dtype(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return text_or_unknown(dtype_shown(type_of(e, a)->dtype));
}

static Answer pred_device(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return text_or_unknown(str_of(e, type_of(e, a)->device));
}

/* ---- the graph ---- */

static Answer pred_users(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const CheckGraph *g = is_value(a) ? world_graph(e->w, a->b->v.g) : NULL;
	int64_t k = 0;
	for (uint32_t u = g ? g->user_at[a->b->v.n] : 0; g && u < g->user_at[a->b->v.n + 1]; u++)
		k += u == g->user_at[a->b->v.n] || g->users[u].i != g->users[u - 1].i;
	return count(e, k);
}

static Answer pred_graph_size(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const Graph *g = graph_of(e, a);
	int64_t k = 0;
	for (uint32_t i = 1; g && i < g->nodes.n; i++)
		k += g->nodes.v[i].kind == NK_CALL;
	world_work(e->w, g ? g->nodes.n / 64 : 0);
	return count(e, k);
}

static Answer pred_number(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const CheckCtx *c = e->w->c;
	if (a->b->kind == BIND_ARG && a->b->arg->kind == AR_FLOAT)
		return (Answer){.kind = 'N', .is_real = true, .known = true, .real = a->b->arg->u.real};
	if (a->b->kind == BIND_ARG && (a->b->arg->kind == AR_INT || a->b->arg->kind == AR_BOOL))
		return count(e, a->b->arg->u.num);
	const Type *t = type_of(e, a);
	(void)c;
	return number(t->kind == TK_SYM ? t->sym : (ExprId){0});
}

static Answer pred_name(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return is_value(a) ? text(node_shown(e->w->c->p, graph_of(e, a), (NodeId){a->b->v.n})) : text((Str){0});
}

static Answer pred_text(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return text(match_bind_text(e->w, a->b, e->w->c->scratch));
}

static bool operator_of(Eval *e, const Answer *a, Callee *callee, Sym *target)
{
	if (a->b->kind == BIND_OP) {
		*callee = (Callee)a->b->callee;
		*target = a->b->op;
		return true;
	}
	if (!is_value(a) || node_of(e, a)->kind != NK_CALL)
		return false;
	*callee = (Callee)node_of(e, a)->callee;
	*target = node_of(e, a)->target;
	return true;
}

static Answer pred_target(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	Callee callee;
	Sym target;
	return text(operator_of(e, a, &callee, &target) ? str_of(e, target) : (Str){0});
}

static Answer pred_operator(Eval *e, const Answer *a, uint32_t n)
{
	Callee callee;
	Sym target;
	if (!operator_of(e, a, &callee, &target))
		return text((Str){0});
	Sym packet = world_packet(e->w, callee, target);
	return packet.i ? text(str_of(e, packet)) : pred_target(e, a, n);
}

static Answer pred_has_tag(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	Callee callee;
	Sym target;
	if (!operator_of(e, a, &callee, &target))
		return tri(TRI_NO);
	const Fact *f = facts_find(e->w->c->f, callee, str_of(e, target), (VersionSpan){0, 0});
	for (int i = 0; f && i < FT_N; i++)
		if (str_eq(fact_tag_name((FactTag)i), a[1].s))
			return yes(fact_has(f, (FactTag)i));
	return tri(f ? TRI_NO : TRI_MAY);
}

static Answer pred_graph(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const Graph *g = graph_of(e, a);
	return text(g ? str_of(e, g->name) : (Str){0});
}

static Answer pred_stage(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const Graph *g = graph_of(e, a);
	return text(g ? stage_name(g->stage) : (Str){0});
}

static Answer pred_contract(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const Graph *g = graph_of(e, a);
	return text(g ? contract_name(contract_of(&e->w->c->cfg->contract, link_captured_by_2x(e->w->c->p, g))) : (Str){0});
}

/* Of several outputs that are one value the worst. */
static Answer pred_noticed(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const Graph *g = graph_of(e, a);
	const GraphVerdicts *v = g && is_value(a) && e->w->c->verdicts ? &e->w->c->verdicts[g->id.i] : NULL;
	Observable worst = OBS_NONE;
	for (uint32_t j = 0; v && v->outputs && j < g->outputs.n; j++)
		if (g->outputs.v[j].arg.kind == AR_NODE && g->outputs.v[j].arg.u.node.i == a->b->v.n && v->outputs[j].observable > worst)
			worst = v->outputs[j].observable;
	for (uint32_t i = 0; v && v->inputs && i < g->inputs.n; i++)
		if (g->inputs.v[i].i == a->b->v.n && v->inputs[i].observable > worst)
			worst = v->inputs[i].observable;
	return text(worst == OBS_NONE ? S("unknown") : observable_name(worst));
}

static UserSource source_of(Eval *e, const Answer *a)
{
	const Graph *g = graph_of(e, a);
	return g && is_value(a) ? node_source(e->w->c->p, e->w->c->src, g, (NodeId){a->b->v.n}) : (UserSource){0};
}

static Answer pred_source_file(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return text(source_of(e, a).file);
}

static Answer pred_source_function(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return text(source_of(e, a).function);
}

static Answer pred_source_code(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	return text(source_of(e, a).code);
}

/* ---- regions ---- */

typedef enum RegionAct { ACT_SET, ACT_ENTER, ACT_EXIT } RegionAct;

static const struct {
	Str name;
	RegionAct act;
	Str state;
} region_ops[] = {
#define STATE_SET(name, state) {STR_INIT(name), ACT_SET, STR_INIT(state)},
#define STATE_ENTER(name, state) {STR_INIT(name), ACT_ENTER, STR_INIT(state)},
#define STATE_EXIT(name, state) {STR_INIT(name), ACT_EXIT, STR_INIT(state)},
#include "state_ops.def"
#undef STATE_SET
#undef STATE_ENTER
#undef STATE_EXIT
};

static Str region_state(Str word)
{
	static const Str rows[][2] = {
#define REGION(word, state) {STR_INIT(word), STR_INIT(state)},
#include "regions.def"
#undef REGION
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (str_eq(rows[i][0], word))
			return rows[i][1];
	return (Str){0};
}

/* What a call does to a state: -1 nothing, 0 leaves the region or switches on, 1 enters it or switches off. */
static int region_act(const Eval *e, const Graph *g, const Node *n, Str state)
{
	if (n->kind != NK_CALL || n->callee != CALLEE_FUNCTION)
		return -1;
	Str name = operator_short(e->w->c->p, n);
	for (size_t i = 0; i < sizeof region_ops / sizeof *region_ops; i++) {
		if (!str_eq(region_ops[i].name, name) || !str_eq(region_ops[i].state, state))
			continue;
		if (region_ops[i].act != ACT_SET)
			return region_ops[i].act == ACT_ENTER;
		const Arg *a = node_args(g, n);
		return n->nargs && (a->kind == AR_BOOL || a->kind == AR_INT) ? !a->u.num : -1;
	}
	return -1;
}

/* What the graph shows: who called it may be in a region too. */
static Answer pred_in_region(Eval *e, const Answer *a, uint32_t n)
{
	(void)n;
	const Graph *g = graph_of(e, a);
	Str state = region_state(a[1].s);
	if (!g || !is_value(a))
		return tri(TRI_NO);
	int depth = 0;
	bool set = str_eq(state, S("grad mode"));
	world_work(e->w, a->b->v.n / 64);
	for (uint32_t i = 1; i < a->b->v.n; i++) {
		int act = region_act(e, g, &g->nodes.v[i], state);
		if (act >= 0)
			depth = set ? act : depth + (act ? 1 : -1);
	}
	return yes(depth > 0);
}

/* ---- texts ---- */

static Answer pred_matches(Eval *e, const Answer *a, uint32_t n)
{
	const Regex *re = &e->c->regexes.v[a[1].n];
	(void)n;
	if (!a[0].known)
		return tri(TRI_MAY);
	pcre2_match_context *mc = pcre2_match_context_create(NULL);
	pcre2_match_data *md = pcre2_match_data_create(1, NULL);
	if (!mc || !md) {
		pcre2_match_data_free(md);
		pcre2_match_context_free(mc);
		e->w->trouble = S("there is no memory for a regular expression");
		return tri(TRI_MAY);
	}
	pcre2_set_match_limit(mc, REGEX_STEPS);
	pcre2_set_depth_limit(mc, REGEX_DEPTH);
	pcre2_set_heap_limit(mc, REGEX_HEAP_KIB);
	int rc = pcre2_match(re->code, (PCRE2_SPTR)(a[0].s.n ? a[0].s.p : ""), a[0].s.n, 0, 0, md, mc);
	pcre2_match_data_free(md);
	pcre2_match_context_free(mc);
	world_work(e->w, 4);
	if (rc >= 0 || rc == PCRE2_ERROR_NOMATCH)
		return yes(rc >= 0);
	e->w->trouble = str_printf(e->w->a, "the regular expression '" STR_FMT "' needs more steps than it may take", STR_ARG(str_sub(re->text, 0, 80)));
	return tri(TRI_MAY);
}

/* ---- the machine ---- */

static PredFn *const functions[PRED_N] = {
#define PREDICATE(name, result, args, fn, meaning) fn,
#include "predicates.def"
#undef PREDICATE
};

static bool real_of(const Eval *e, const Answer *a, double *out)
{
	int64_t v;
	if (a->is_real) {
		*out = a->real;
		return a->known;
	}
	if (!a->e.i || !expr_value(e->w->c->t, a->e, &v))
		return false;
	*out = (double)v;
	return true;
}

static Tri compare_numbers(const Eval *e, CondOpKind op, const Answer *x, const Answer *y)
{
	Types *t = e->w->c->t;
	double a, b;
	if (x->is_real || y->is_real) {
		if (!real_of(e, x, &a) || !real_of(e, y, &b))
			return TRI_MAY;
		bool r = op == CO_EQ ? a == b : op == CO_NE ? a != b : op == CO_LT ? a < b : op == CO_LE ? a <= b : op == CO_GT ? a > b : a >= b;
		return r ? TRI_MUST : TRI_NO;
	}
	if (!x->e.i || !y->e.i)
		return TRI_MAY;
	switch (op) {
	case CO_EQ: return expr_eq(t, x->e, y->e);
	case CO_NE: return tri_not(expr_eq(t, x->e, y->e));
	case CO_GE: return expr_ge(t, x->e, y->e);
	case CO_LE: return expr_ge(t, y->e, x->e);
	case CO_LT: return tri_not(expr_ge(t, x->e, y->e));
	default: return tri_not(expr_ge(t, y->e, x->e));
	}
}

static Tri compare(const Eval *e, CondOpKind op, const Answer *x, const Answer *y)
{
	if (x->kind == 'N')
		return compare_numbers(e, op, x, y);
	if (!x->known || !y->known)
		return TRI_MAY;
	bool same = str_eq(x->s, y->s);
	return same == (op == CO_EQ) ? TRI_MUST : TRI_NO;
}

static Tri is_in(const Eval *e, const Answer *x, const Answer *list)
{
	Tri t = TRI_NO;
	for (uint32_t i = 0; i < list->n; i++)
		if (e->list[list->at + i].kind == x->kind)
			t = tri_or(t, compare(e, CO_EQ, x, &e->list[list->at + i]));
	return t;
}

static Answer make_list(Eval *e, uint32_t n)
{
	Answer list = {.kind = 'L', .at = e->nlist};
	for (uint32_t i = 0; i < n && e->nlist < sizeof e->list / sizeof *e->list; i++, list.n++)
		e->list[e->nlist++] = e->stack[e->n - n + i];
	return list;
}

static uint32_t takes(const CondOp *op)
{
	switch ((CondOpKind)op->kind) {
	case CO_LIST: return op->u.n;
	case CO_CALL: return op->n;
	case CO_NOT: return 1;
	case CO_VAR:
	case CO_NUMBER:
	case CO_REAL:
	case CO_STRING:
	case CO_REGEX: return 0;
	default: return 2;
	}
}

static Answer step(Eval *e, const CondOp *op)
{
	const Answer *a = e->stack + e->n - takes(op);
	switch ((CondOpKind)op->kind) {
	case CO_VAR: return (Answer){.kind = 'V', .b = &e->binds[op->u.var]};
	case CO_NUMBER: return count(e, op->u.num);
	case CO_REAL: return (Answer){.kind = 'N', .is_real = true, .known = true, .real = op->u.real};
	case CO_STRING: return text(op->str);
	case CO_REGEX: return (Answer){.kind = 'R', .n = op->u.n};
	case CO_LIST: return make_list(e, op->u.n);
	case CO_CALL: return functions[op->u.pred](e, a, op->n);
	case CO_NOT: return tri(tri_not(a[0].t));
	case CO_AND: return tri(tri_and(a[0].t, a[1].t));
	case CO_OR: return tri(tri_or(a[0].t, a[1].t));
	case CO_IN: return tri(is_in(e, &a[0], &a[1]));
	default: return tri(compare(e, (CondOpKind)op->kind, &a[0], &a[1]));
	}
}

Tri match_cond(World *w, const Cond *c, const Bind *binds, bool *perhaps, Str *why)
{
	Eval e;
	e.w = w;
	e.c = c;
	e.binds = binds;
	e.perhaps = perhaps;
	e.why = why;
	e.n = e.nlist = 0;
	ArenaMark mark = arena_mark(w->c->scratch);
	for (uint32_t i = 0; i < c->ops.n; i++) {
		const CondOp *op = &c->ops.v[i];
		Answer a = step(&e, op);
		e.n -= takes(op);
		e.stack[e.n++] = a;
	}
	ASSERT(e.n == 1 && e.stack[0].kind == 'T');
	if (why->n)
		*why = str_copy(w->a, *why);
	arena_rewind(w->c->scratch, mark);
	return e.stack[0].t;
}

Str match_bind_text(World *w, const Bind *b, Arena *a)
{
	const Program *p = w->c->p;
	const Graph *g = graph_get(p, (GraphId){b->v.g});
	Buf out = {.a = a};
	switch ((BindKind)b->kind) {
	case BIND_VALUE: return node_shown(p, g, (NodeId){b->v.n});
	case BIND_OP: return sym_str(p->names, b->op);
	case BIND_ARG: arg_text(p, g, b->arg, &out); break;
	case BIND_NONE: break;
	}
	return buf_str(&out);
}
