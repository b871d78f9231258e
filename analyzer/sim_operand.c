/* SPDX-License-Identifier: MIT
 * The operands of a node in a run, as heap values, as sem.h asks for them, and as terms. */
#include "sim_node.h"

Str step_target(const GraphRun *r, const Node *n)
{
	return sym_str(r->s->names, n->target);
}

static Ref list_ref(GraphRun *r, const Arg *a, HeapKind kind)
{
	Ref *v = NEW_N(r->s->scratch, Ref, a->n + 1);
	for (uint32_t i = 0; i < a->n; i++)
		v[i] = step_arg(r, &arg_kids(r->g, a)[i]);
	return sim_list(r->s, kind, v, a->n);
}

/* Readers cap the depth of arguments. */
Ref step_arg(GraphRun *r, const Arg *a)
{
	Sim *s = r->s;
	switch ((ArgKind)a->kind) {
	case AR_NONE: return sim_none(s);
	case AR_NODE: return r->v[a->u.node.i] ? r->v[a->u.node.i] : sim_none(s);
	case AR_BOOL: return sim_bool(s, a->u.num != 0);
	case AR_INT: return sim_int(s, a->u.num);
	case AR_FLOAT: return sim_number(s, term_num(s->terms, a->u.real, 'f'));
	case AR_TUPLE: return list_ref(r, a, HK_TUPLE);
	case AR_LIST: return list_ref(r, a, HK_LIST);
	case AR_SLICE: return list_ref(r, a, HK_SLICE);
	case AR_ELLIPSIS: return sim_const(s, S("Ellipsis"));
	default: {
		Buf b = {.a = s->a};
		arg_text(r->p, r->g, a, &b);
		return sim_const(s, buf_str(&b));
	}
	}
}

/* ---- what sem.h asks ---- */

bool step_operand(GraphRun *r, Ref v, SemTensor *out)
{
	Sim *s = r->s;
	if (!v || !sim_is_tensor(s, v))
		return false;
	const SimTensor *t = sim_tensor_of(s, v);
	*out = (SemTensor){.ndim = t->ndim, .dtype = t->dtype};
	if (!t->sized || t->ndim > SEM_MAX_DIMS)
		return false;
	memcpy(out->size, t->size, sizeof out->size);
	memcpy(out->stride, t->stride, sizeof out->stride);
	out->has_stride = t->placed;
	out->offset = t->offset;
	if (!sim_elements(s, v, &out->e))
		return false;
	out->numel = t->numel;
	return true;
}

static bool sem_tensor(void *ctx, const Arg *a, SemTensor *out)
{
	GraphRun *r = ctx;
	return a->kind == AR_NODE && step_operand(r, r->v[a->u.node.i], out);
}

bool step_number(void *ctx, const Arg *a, TermId *term, int64_t *value, bool *known)
{
	GraphRun *r = ctx;
	*known = false;
	if (a->kind == AR_NODE) {
		Ref v = r->v[a->u.node.i];
		if (!v || sim_obj(r->s, v)->kind != HK_NUMBER)
			return false;
		*term = sim_obj(r->s, v)->term;
		*known = sim_obj(r->s, v)->known;
		*value = sim_obj(r->s, v)->num;
		return true;
	}
	int64_t i;
	ExprId e = infer_expr(r->nt, r->g, r->s->t, r->s->names, a);
	if (a->kind == AR_INT || a->kind == AR_BOOL || (e.i && expr_value(r->s->t, e, &i))) {
		*value = a->kind == AR_INT || a->kind == AR_BOOL ? a->u.num : i;
		*known = true;
		*term = term_num(r->s->terms, (double)*value, 'i');
		return true;
	}
	if (a->kind == AR_FLOAT) {
		*term = term_num(r->s->terms, a->u.real, 'f');
		return true;
	}
	return false;
}

static TermId sem_whole(void *ctx, const Arg *a)
{
	enum { MOST = 64 };
	GraphRun *r = ctx;
	TermId terms[MOST];
	uint32_t n = 0;
	step_terms(r, step_arg(r, a), terms, &n, MOST, 0);
	return n == 1 ? terms[0] : n ? term_op(r->s->terms, sym_intern(r->s->names, S("all")), terms, n, 1) : (TermId){0};
}

SemCall step_sem(GraphRun *r)
{
	const Node *n = graph_node(r->g, r->node);
	return (SemCall){.p = r->p, .g = r->g, .node = r->node, .facts = r->s->f,
	                 .fact = n->callee == CALLEE_MODULE ? NULL : facts_find(r->s->f, (Callee)n->callee, step_target(r, n), r->g->torch),
	                 .table = r->s->sem, .terms = r->s->terms, .tensor = sem_tensor, .number = step_number, .whole = sem_whole, .ctx = r,
	                 .site = step_mix(r->site, r->node.i), .scratch = r->s->scratch};
}

/* ---- evidence ---- */

void step_touch(GraphRun *r, Ref tensor, bool write)
{
	Sim *s = r->s;
	if (!s->cut_made || !tensor || !sim_is_tensor(s, tensor))
		return;
	uint32_t store = sim_tensor_of(s, tensor)->store;
	uint8_t side = s->stores.v[store].side;
	if (side == SIDE_NONE || s->touches.n > 4096)
		return;
	SimTouch t = {.store = store, .write = write, .cut_side = side == SIDE_NEW, .graph = r->eager ? (GraphId){0} : r->g->id,
	              .node = r->node, .where = r->eager ? s->here : node_span(r->g, r->node),
	              .what = step_target(r, graph_node(r->g, r->node))};
	VEC_PUSH(s->a, &s->touches, t);
}

typedef struct TouchArgs {
	GraphRun *r;
} TouchArgs;

static void touch_arg(void *ctx, NodeId id)
{
	GraphRun *r = ctx;
	step_touch(r, r->v[id.i], false);
}

void step_touch_args(GraphRun *r)
{
	const Node *n = graph_node(r->g, r->node);
	if (!r->s->cut_made)
		return;
	for (uint32_t i = 0; i < n->nargs; i++)
		arg_each_node(r->g, &node_args(r->g, n)[i], touch_arg, r);
}

/* ---- large tensors: one term for all ---- */

void step_terms(GraphRun *r, Ref v, TermId *out, uint32_t *n, uint32_t most, uint32_t depth)
{
	Sim *s = r->s;
	if (!v || *n >= most || depth > 8)
		return;
	const HeapObj o = *sim_obj(s, v);
	if (o.kind == HK_TENSOR)
		out[(*n)++] = sim_content(s, v);
	else if (o.kind == HK_NUMBER || o.kind == HK_UNKNOWN)
		out[(*n)++] = o.term;
	else if (o.kind == HK_LIST || o.kind == HK_TUPLE || o.kind == HK_SLICE)
		for (uint32_t i = 0; i < o.items.n; i++)
			step_terms(r, o.items.v[i], out, n, most, depth + 1);
}

uint64_t step_literals(GraphRun *r)
{
	const Node *n = graph_node(r->g, r->node);
	uint64_t h = 5;
	for (uint32_t i = 0; i < n->nargs; i++) {
		const Arg *a = &node_args(r->g, n)[i];
		Buf b = {.a = r->s->scratch};
		if (a->kind == AR_NODE)
			continue;
		arg_text(r->p, r->g, a, &b);
		/* names of nodes inside lists say nothing about values */
		bool has_node = memchr(b.p ? b.p : "", '%', b.n) != NULL;
		h = step_mix(h, has_node ? i : hash_bytes(3, b.p, b.n));
	}
	return h;
}

Sym step_op(GraphRun *r)
{
	const Node *n = graph_node(r->g, r->node);
	const Fact *f = n->callee == CALLEE_MODULE ? NULL : facts_find(r->s->f, (Callee)n->callee, step_target(r, n), r->g->torch);
	Str t = f && f->aten.i ? sym_str(r->s->names, f->aten) : step_target(r, n);
	while (t.n && t.p[t.n - 1] == '_')
		t.n--;
	return sym_intern(r->s->names, t);
}

TermId step_whole(GraphRun *r, int member)
{
	enum { MOST = 256 };
	TermId args[MOST];
	uint32_t n = 0;
	const Node *node = graph_node(r->g, r->node);
	const Fact *f = node->callee == CALLEE_MODULE ? NULL : facts_find(r->s->f, (Callee)node->callee, step_target(r, node), r->g->torch);
	r->s->mixed = false;
	for (uint32_t i = 0; i < node->nargs; i++)
		step_terms(r, step_arg(r, &node_args(r->g, node)[i]), args, &n, MOST, 0);
	if (f && fact_has(f, FT_RNG) && n < MOST)
		args[n++] = term_fresh(r->s->terms, step_mix(step_mix(r->site, r->node.i), 77));
	return term_op(r->s->terms, step_op(r), args, n, step_mix(step_literals(r), (uint64_t)(member + 1)) | 1);
}
