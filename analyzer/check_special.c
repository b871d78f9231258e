/* SPDX-License-Identifier: MIT
 * GL603: numbers of the program that were built into graphs as constants. */
#include "compare_graphs.h"

typedef struct Differing {
	NodeId node;
	const Arg *was, *is;
} Differing;

static bool is_number(const Arg *a)
{
	return a->kind == AR_INT || a->kind == AR_FLOAT;
}

static bool same_number(const Arg *a, const Arg *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == AR_INT ? a->u.num == b->u.num : !memcmp(&a->u.real, &b->u.real, sizeof a->u.real);
}

/* The first number in which two argument trees of the same form differ. Readers cap their depth. */
static bool differing_arg(const Graph *ga, const Graph *gb, const Arg *a, const Arg *b, Differing *d)
{
	if (is_number(a) && is_number(b) && !same_number(a, b)) {
		d->was = a;
		d->is = b;
		return true;
	}
	for (uint32_t i = 0; i < a->n && i < b->n; i++)
		if (differing_arg(ga, gb, &arg_kids(ga, a)[i], &arg_kids(gb, b)[i], d))
			return true;
	return false;
}

/* Of two graphs of one structure. */
static bool differing(const Graph *a, const Graph *b, Differing *d)
{
	for (uint32_t i = 1; i < a->nodes.n && i < b->nodes.n; i++) {
		const Node *x = &a->nodes.v[i], *y = &b->nodes.v[i];
		for (uint32_t k = 0; k < x->nargs && k < y->nargs; k++)
			if (differing_arg(a, b, &node_args(a, x)[k], &node_args(b, y)[k], d)) {
				d->node = (NodeId){i};
				return true;
			}
	}
	return false;
}

static Str number_text(const CheckCtx *c, const Arg *a)
{
	return a->kind == AR_INT ? str_printf(c->scratch, "%lld", (long long)a->u.num) : str_printf(c->scratch, "%.12g", a->u.real);
}

/* ---- graphs of one frame ---- */

/* Other sizes bring other numbers: then these are no numbers of the program. */
static bool same_inputs(const Graph *a, const Graph *b)
{
	for (uint32_t i = 0; i < a->inputs.n && i < b->inputs.n; i++)
		if (graph_node(a, a->inputs.v[i])->type.i != graph_node(b, b->inputs.v[i])->type.i)
			return false;
	return a->inputs.n == b->inputs.n;
}

/* "3/" of "3/0": all compilations of a frame. */
static uint64_t frame_key(const CheckCtx *c, const Graph *g)
{
	Str id = sym_str(c->p->names, g->compile_id);
	uint32_t at = id.n;
	while (at && id.p[at - 1] != '/')
		at--;
	return hash_u64(hash_bytes((uint64_t)g->unit.i << 32 | g->process.i, id.p, at));
}

static bool is_compilation(const CheckCtx *c, const Graph *g)
{
	return g->stage == STAGE_DYNAMO && g->compile_id.i && !g->parent.i && !g->printing_of.i && !g->incomplete && !g->truncated && check_wanted(c, g);
}

typedef struct Group {
	const Graph *first;
	Finding *f;
	uint32_t members;
} Group;

enum { STEPS_MOST = 8 };

static void add_member(const CheckCtx *c, Group *k, const Graph *g)
{
	Differing d = {0};
	if (!same_inputs(k->first, g) || !differing(k->first, g, &d))
		return;
	k->members++;
	if (!k->f) {
		k->f = check_finding(c, CHECK_GL603, SEV_NOTE, g, d.node);
		k->f->certainty = TRI_MUST;
		diag_var(c->d, k->f, S("text"), number_text(c, d.is));
		diag_var(c->d, k->f, S("why"), number_text(c, d.was));
		diag_var(c->d, k->f, S("what"), sym_str(c->p->names, k->first->name));
		check_step(c, k->f, ROLE_PLACE, k->first, d.node, "%.*s in the first graph", STR_ARG(number_text(c, d.was)));
	} else if (k->f->steps.n < STEPS_MOST) {
		check_step(c, k->f, ROLE_PLACE, g, d.node, "%.*s in a further one", STR_ARG(number_text(c, d.is)));
	}
}

static void compare_compilations(const CheckCtx *c)
{
	Map at = {.a = c->work[0]};
	VEC(Group) groups = {0};
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (!is_compilation(c, g))
			continue;
		ArenaMark mark = arena_mark(c->scratch);
		uint64_t key = hash_u64(frame_key(c, g) ^ graph_structure(c, g, false)) | 1;
		uint32_t k = map_get(&at, key);
		if (k)
			add_member(c, &groups.v[k - 1], g);
		arena_rewind(c->scratch, mark);
		if (k)
			continue;
		VEC_PUSH(c->work[0], &groups, ((Group){.first = g}));
		map_put(&at, key, groups.n);
	}
	arena_free(c->work[0]);
}

/* ---- stages ---- */

static bool is_fixed(const CheckCtx *c, ExprId e)
{
	int64_t v;
	return e.i && expr_value(c->t, e, &v);
}

static bool is_symbolic(const CheckCtx *c, ExprId e)
{
	return e.i && !is_fixed(c, e);
}

/* The next input that is a tensor with a printed shape, from *at on; *at past the end: none. */
static const Type *next_tensor(const CheckCtx *c, const Graph *g, uint32_t *at)
{
	for (; *at < g->inputs.n; ++*at) {
		const Type *t = type_get(c->t, graph_node(g, g->inputs.v[*at])->type);
		if (t->kind == TK_TENSOR)
			return t;
	}
	return NULL;
}

/* Has AOTAutograd's graph a number where Dynamo's has a symbol? Only where inputs correspond one by one. */
static void compare_stages(const CheckCtx *c, const Graph *dynamo, const Graph *aot)
{
	uint32_t i = 0, k = 0, fixed_i = 0, fixed_k = 0;
	bool found = false;
	for (;; i++, k++) {
		const Type *a = next_tensor(c, dynamo, &i), *b = next_tensor(c, aot, &k);
		if (!a || !b) {
			if (a || b)
				return;
			break;
		}
		if (!a->has_shape || !b->has_shape || a->ndim != b->ndim)
			return;
		for (uint32_t j = 0; j < a->ndim; j++) {
			if (is_symbolic(c, b->size[j]))
				return; /* some of them stayed */
			if (is_symbolic(c, a->size[j]) && !found) {
				found = true;
				fixed_i = i;
				fixed_k = k;
			}
		}
	}
	if (!found)
		return;
	Finding *f = check_finding(c, CHECK_GL603, SEV_NOTE, aot, aot->inputs.v[fixed_k]);
	f->variant = S("stage");
	f->certainty = TRI_MUST;
	diag_var(c->d, f, S("text"), check_name(c, dynamo, dynamo->inputs.v[fixed_i]));
	diag_var(c->d, f, S("what"), sym_str(c->p->names, dynamo->name));
	check_step(c, f, ROLE_PLACE, dynamo, dynamo->inputs.v[fixed_i], "its size is a symbol here");
}

void check_specialised_constant(const CheckCtx *c)
{
	compare_compilations(c);
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i], *dynamo = graph_get(c->p, g->of);
		if ((g->stage == STAGE_AOT_FORWARD || g->stage == STAGE_AOT_JOINT) && !g->parent.i && !g->printing_of.i && dynamo && dynamo->stage == STAGE_DYNAMO)
			compare_stages(c, dynamo, g);
	}
}
