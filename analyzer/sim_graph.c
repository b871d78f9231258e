/* SPDX-License-Identifier: MIT
 * Graphs and single operators of a run. What is shared and written is taken from the graph's summary; what happens to
 * elements from sem.h; sizes from the types, under the sizes that the arguments have. */
#include "sim.h"

#include "sem.h"

enum { MAX_BODY_DEPTH = 16 };

typedef struct GraphRun {
	Sim *s;
	const Program *p;
	const Graph *g;
	const NodeTypes *nt;
	const Summary *sum;
	Ref *v;            /* by NodeId; 0: no value yet, or a body */
	uint32_t write_at; /* next of sum->node_writes */
	uint64_t site;
	NodeId node;
	uint32_t depth;
	bool eager;        /* one operator of a frame */
} GraphRun;

static uint64_t mix(uint64_t h, uint64_t x)
{
	return hash_u64(h * 0x9e3779b97f4a7c15u ^ x);
}

static Str target_of(const GraphRun *r, const Node *n)
{
	return sym_str(r->s->names, n->target);
}

static Ref arg_ref(GraphRun *r, const Arg *a);

static Ref list_ref(GraphRun *r, const Arg *a, HeapKind kind)
{
	Ref *v = NEW_N(r->s->scratch, Ref, a->n + 1);
	for (uint32_t i = 0; i < a->n; i++)
		v[i] = arg_ref(r, &arg_kids(r->g, a)[i]);
	return sim_list(r->s, kind, v, a->n);
}

/* An argument as a heap value; constants as they are printed. Readers cap the depth of arguments. */
static Ref arg_ref(GraphRun *r, const Arg *a)
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
	default: {
		Buf b = {.a = s->a};
		arg_text(r->p, r->g, a, &b);
		return sim_const(s, buf_str(&b));
	}
	}
}

/* ---- what sem.h asks ---- */

static bool tensor_operand(GraphRun *r, Ref v, SemTensor *out)
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
	return a->kind == AR_NODE && tensor_operand(r, r->v[a->u.node.i], out);
}

static bool sem_number(void *ctx, const Arg *a, TermId *term, int64_t *value, bool *known)
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

static void operand_terms(GraphRun *r, Ref v, TermId *out, uint32_t *n, uint32_t most, uint32_t depth);

static TermId sem_whole(void *ctx, const Arg *a)
{
	enum { MOST = 64 };
	GraphRun *r = ctx;
	TermId terms[MOST];
	uint32_t n = 0;
	operand_terms(r, arg_ref(r, a), terms, &n, MOST, 0);
	return n == 1 ? terms[0] : n ? term_op(r->s->terms, sym_intern(r->s->names, S("all")), terms, n, 1) : (TermId){0};
}

static SemCall sem_call(GraphRun *r)
{
	const Node *n = graph_node(r->g, r->node);
	return (SemCall){.p = r->p, .g = r->g, .node = r->node, .facts = r->s->f,
	                 .fact = n->callee == CALLEE_MODULE ? NULL : facts_find(r->s->f, (Callee)n->callee, target_of(r, n), r->g->torch),
	                 .table = r->s->sem, .terms = r->s->terms, .tensor = sem_tensor, .number = sem_number, .whole = sem_whole, .ctx = r,
	                 .site = mix(r->site, r->node.i), .scratch = r->s->scratch};
}

/* ---- evidence ---- */

static void touch(GraphRun *r, Ref tensor, bool write)
{
	Sim *s = r->s;
	if (!s->cut_made || !tensor || !sim_is_tensor(s, tensor))
		return;
	uint32_t store = sim_tensor_of(s, tensor)->store;
	if ((store != s->cut_old && store != s->cut_new) || s->touches.n > 4096)
		return;
	SimTouch t = {.store = store, .write = write, .cut_side = store == s->cut_new, .graph = r->eager ? (GraphId){0} : r->g->id,
	              .node = r->node, .where = r->eager ? s->here : node_span(r->g, r->node),
	              .what = target_of(r, graph_node(r->g, r->node))};
	VEC_PUSH(s->a, &s->touches, t);
}

typedef struct TouchArgs {
	GraphRun *r;
} TouchArgs;

static void touch_arg(void *ctx, NodeId id)
{
	GraphRun *r = ctx;
	touch(r, r->v[id.i], false);
}

static void touch_args(GraphRun *r)
{
	const Node *n = graph_node(r->g, r->node);
	if (!r->s->cut_made)
		return;
	for (uint32_t i = 0; i < n->nargs; i++)
		arg_each_node(r->g, &node_args(r->g, n)[i], touch_arg, r);
}

/* ---- large tensors: one term for all ---- */

static void operand_terms(GraphRun *r, Ref v, TermId *out, uint32_t *n, uint32_t most, uint32_t depth)
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
			operand_terms(r, o.items.v[i], out, n, most, depth + 1);
}

static uint64_t literal_hash(GraphRun *r)
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
		h = mix(h, has_node ? i : hash_bytes(3, b.p, b.n));
	}
	return h;
}

/* The operator's name in terms: without overload, module prefix and trailing underscore, so that forms agree. */
static Sym op_name(GraphRun *r)
{
	const Node *n = graph_node(r->g, r->node);
	const Fact *f = n->callee == CALLEE_MODULE ? NULL : facts_find(r->s->f, (Callee)n->callee, target_of(r, n), r->g->torch);
	Str t = f && f->aten.i ? sym_str(r->s->names, f->aten) : target_of(r, n);
	while (t.n && t.p[t.n - 1] == '_')
		t.n--;
	return sym_intern(r->s->names, t);
}

static TermId whole_term(GraphRun *r, int member)
{
	enum { MOST = 256 };
	TermId args[MOST];
	uint32_t n = 0;
	const Node *node = graph_node(r->g, r->node);
	const Fact *f = node->callee == CALLEE_MODULE ? NULL : facts_find(r->s->f, (Callee)node->callee, target_of(r, node), r->g->torch);
	r->s->mixed = false;
	for (uint32_t i = 0; i < node->nargs; i++)
		operand_terms(r, arg_ref(r, &node_args(r->g, node)[i]), args, &n, MOST, 0);
	if (f && fact_has(f, FT_RNG) && n < MOST)
		args[n++] = term_fresh(r->s->terms, mix(mix(r->site, r->node.i), 77));
	return term_op(r->s->terms, op_name(r), args, n, mix(literal_hash(r), (uint64_t)(member + 1)) | 1);
}

/* ---- results ---- */

static TypeId member_type(const GraphRun *r, int member)
{
	const NodeTypes *nt = r->nt;
	uint32_t id = r->node.i;
	if (member >= 0 && nt->nelems[id])
		return (uint32_t)member < nt->nelems[id] ? nt->elems.v[nt->elem_at[id] + (uint32_t)member] : (TypeId){0};
	return nt->v[id];
}

static TypeId as_tensor(Sim *s, TypeId t)
{
	return type_get(s->t, t)->kind == TK_TENSOR ? t : type_tensor_unknown(s->t);
}

static Ref new_result(GraphRun *r, int member)
{
	Sim *s = r->s;
	TypeId type = as_tensor(s, member_type(r, member));
	int64_t size[SIM_DIMS], stride[SIM_DIMS];
	bool strided;
	uint32_t ndim = 0;
	uint64_t numel = 1, origin = mix(mix(r->site, r->node.i), (uint64_t)(member + 2));
	bool sized = sim_sizes(s, type, size, stride, &strided, &ndim);
	for (uint32_t d = 0; sized && d < ndim; d++)
		numel = numel > s->small || (uint64_t)size[d] > s->small ? (size[d] ? (uint64_t)s->small + 1 : 0) : numel * (uint64_t)size[d];
	if (sized && numel <= s->small) {
		SemCall c = sem_call(r);
		c.dtype = type_get(s->t, type)->dtype;
		TermId *e = NEW_N(s->scratch, TermId, numel + 1);
		sem_apply(&c, member, size, ndim, (uint32_t)numel, e);
		return sim_new_tensor(s, type, e, origin);
	}
	SemCall call = sem_call(r);
	TermId whole;
	if (!sem_fills(&call, member, &whole))
		whole = whole_term(r, member);
	Ref t = sim_new_tensor(s, type, &whole, origin);
	s->stores.v[sim_tensor_of(s, t)->store].coarse = s->mixed;
	return t;
}

/* A member of what node `from` gives: the tensor that views and the same object come from. */
static Ref source_value(GraphRun *r, NodeId from, int member)
{
	Ref v = r->v[from.i];
	if (!v)
		return 0;
	const HeapObj o = *sim_obj(r->s, v);
	if (o.kind == HK_TENSOR)
		return v;
	if ((o.kind == HK_LIST || o.kind == HK_TUPLE) && o.items.n)
		return o.items.v[member >= 0 && (uint32_t)member < o.items.n ? (uint32_t)member : 0];
	return 0;
}

/* as_strided: elements by their place in the storage, whatever the argument's own place was. */
static Ref strided_result(GraphRun *r, const SemCall *c, Ref base, TypeId type)
{
	Sim *s = r->s;
	SimTensor b = *sim_tensor_of(s, base);
	int64_t size[SIM_DIMS], stride[SIM_DIMS], offset = b.offset;
	uint32_t ndim = 0;
	bool has_offset = false;
	if (!sem_strided(c, size, stride, &ndim, &offset, &has_offset))
		return 0;
	if (!has_offset)
		offset = b.offset;
	uint64_t numel = 1;
	for (uint32_t d = 0; d < ndim; d++)
		numel = size[d] < 0 || stride[d] < 0 || size[d] > SIM_SMALL || numel > SIM_SMALL ? SIM_SMALL + 1 : numel * (uint64_t)size[d];
	if (numel > SIM_SMALL || offset < 0)
		return 0;
	uint32_t *idx = NEW_N(s->scratch, uint32_t, numel + 1), n = s->stores.v[b.store].n;
	int64_t at[SIM_DIMS] = {0};
	for (uint64_t k = 0; k < numel; k++) {
		int64_t i = offset;
		for (uint32_t d = 0; d < ndim; d++)
			i += at[d] * (stride[d] < (1 << 30) ? stride[d] : 0);
		if (i >= n)
			return 0;
		idx[k] = (uint32_t)i;
		for (uint32_t d = ndim; d-- > 0;) {
			if (++at[d] < size[d])
				break;
			at[d] = 0;
		}
	}
	return sim_view_of_store(s, base, type, idx, (uint32_t)numel);
}

/* The same where it has too many elements, or the storage does: by its place. */
static Ref strided_place(GraphRun *r, Ref base, TypeId type, const int64_t *size, uint32_t ndim)
{
	const int64_t most = (int64_t)1 << 30;
	SimTensor b = *sim_tensor_of(r->s, base);
	int64_t asked[SIM_DIMS], stride[SIM_DIMS], offset = b.offset;
	uint32_t n = 0;
	bool has_offset = false;
	SemCall c = sem_call(r);
	if (b.idx || !b.placed || !sem_strided(&c, asked, stride, &n, &offset, &has_offset))
		return 0;
	offset = has_offset ? offset : b.offset;
	bool known = n == ndim && memcmp(asked, size, n * sizeof *size) == 0 && offset >= 0 && offset <= most;
	for (uint32_t d = 0; known && d < n; d++)
		known = asked[d] <= most && stride[d] >= 0 && stride[d] <= most;
	return known ? sim_view_placed(r->s, base, type, size, stride, n, offset) : 0;
}

/* Where a view of a large tensor lies, or what x[...] = v writes in it: known only when the tensor's own place is. */
static bool large_place(GraphRun *r, Ref base, int member, const int64_t *size, uint32_t ndim, SemTensor *out)
{
	const SimTensor b = *sim_tensor_of(r->s, base);
	const int64_t most = (int64_t)1 << 30;
	SemTensor x = {.ndim = b.ndim, .dtype = b.dtype, .has_stride = true, .offset = b.offset};
	if (!b.placed || !b.sized || b.ndim > SEM_MAX_DIMS || b.offset < 0 || b.offset > most)
		return false;
	for (uint32_t d = 0; d < b.ndim; d++)
		if (b.size[d] > most || b.stride[d] < 0 || b.stride[d] > most)
			return false;
	memcpy(x.size, b.size, b.ndim * sizeof *b.size);
	memcpy(x.stride, b.stride, b.ndim * sizeof *b.stride);
	SemCall c = sem_call(r);
	return sem_strided_view(&c, member, size, ndim, &x, out);
}

static bool row_major(const SimTensor *t)
{
	int64_t step = 1;
	for (uint32_t d = t->ndim; d-- > 0;) {
		if (t->size[d] != 1 && t->stride[d] != step)
			return false;
		step *= t->size[d] < ((int64_t)1 << 30) && step < ((int64_t)1 << 30) ? t->size[d] : 0;
	}
	return true;
}

static Ref view_result(GraphRun *r, Ref base, int member)
{
	Sim *s = r->s;
	TypeId type = as_tensor(s, member_type(r, member));
	int64_t size[SIM_DIMS], stride[SIM_DIMS];
	bool strided;
	uint32_t ndim = 0;
	uint64_t numel = 1;
	if (sim_sizes(s, type, size, stride, &strided, &ndim) && sim_tensor_of(s, base)->idx) {
		for (uint32_t d = 0; d < ndim; d++)
			numel = numel > SIM_SMALL ? numel : numel * (uint64_t)(size[d] <= SIM_SMALL ? size[d] : SIM_SMALL + 1);
		SemCall c = sem_call(r);
		const Arg *source;
		uint32_t *map = NEW_N(s->scratch, uint32_t, numel + 1);
		Ref strided = strided_result(r, &c, base, type);
		if (strided)
			return strided;
		if (numel <= s->small && sem_move(&c, member, size, ndim, (uint32_t)numel, &source, map))
			return sim_view(s, base, type, map, 0);
	}
	const Node *n = graph_node(r->g, r->node);
	Str t = target_of(r, n);
	SemTensor at;
	bool sized = sim_sizes(s, type, size, stride, &strided, &ndim);
	Ref placed = sized ? strided_place(r, base, type, size, ndim) : 0;
	if (placed)
		return placed;
	if (sized && !sim_tensor_of(s, base)->idx && large_place(r, base, member, size, ndim, &at) && at.ndim == ndim &&
	    memcmp(at.size, size, ndim * sizeof *size) == 0)
		return sim_view_placed(s, base, type, at.size, at.stride, at.ndim, at.offset);
	/* detach, view over the whole, transposes keep the start; anything else is known by how it was made */
	bool keeps_start = str_has(t, S("view")) || str_has(t, S("detach")) || str_has(t, S("transpose")) || str_has(t, S("permute")) ||
	                   str_has(t, S("contiguous")) || str_has(t, S("reshape")) || str_eq(t, S("t")) || str_eq(t, S("T")) ||
	                   str_has(t, S("squeeze")) || str_has(t, S("flatten")) || str_has(t, S("expand"));
	/* sizes alone do not place it */
	keeps_start &= sized && (strided || row_major(sim_tensor_of(s, base)));
	uint64_t way = keeps_start ? 0 : mix(mix(hash_bytes(9, t.p, t.n), literal_hash(r)), (uint64_t)(member + 1)) | 1;
	return sim_view(s, base, type, NULL, way);
}

static Ref one_result(GraphRun *r, const NodeFrom *from, int member)
{
	Ref src = from->node.i ? source_value(r, from->node, member) : 0;
	if (!src || !sim_is_tensor(r->s, src))
		return new_result(r, member);
	return from->same_object ? src : view_result(r, src, member);
}

/* ---- numbers ---- */

static Ref number_result(GraphRun *r)
{
	enum { MOST = 16 };
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	TermId args[MOST];
	uint32_t k = 0;
	int64_t value;
	const Type *t = type_get(s->t, r->nt->v[r->node.i]);
	TypeId id = r->nt->v[r->node.i];
	if (id.i && t->kind == TK_SYM && sim_expr(s, t->sym, &value))
		return sim_int(s, value);
	Str target = target_of(r, n);
	if ((str_eq(target, S("item")) || str_has(target, S("_local_scalar_dense"))) && n->nargs && node_args(r->g, n)->kind == AR_NODE &&
	    r->v[node_args(r->g, n)->u.node.i] && sim_is_tensor(s, r->v[node_args(r->g, n)->u.node.i]))
		return sim_item(s, r->v[node_args(r->g, n)->u.node.i]);
	bool size_read = n->callee == CALLEE_ATTR || str_eq(target, S("size")) || str_has(target, S("sym_size"));
	for (uint32_t i = 0; i < n->nargs && k < MOST; i++) {
		Ref a = arg_ref(r, &node_args(r->g, n)[i]);
		if (size_read && sim_is_tensor(s, a)) /* sizes do not depend on contents */
			continue;
		operand_terms(r, a, args, &k, MOST, 0);
	}
	return sim_number(s, term_op(s->terms, op_name(r), args, k, literal_hash(r) | 1));
}

/* x.shape, x.size(): a tuple of numbers */
static bool sizes_result(GraphRun *r, Ref *out)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	Str t = target_of(r, n);
	const Arg *a = node_args(r->g, n);
	bool shape = (n->callee == CALLEE_ATTR && str_eq(t, S("shape"))) || (n->callee == CALLEE_METHOD && str_eq(t, S("size")));
	if (!shape || !n->nargs || a->kind != AR_NODE || !r->v[a->u.node.i] || !sim_is_tensor(s, r->v[a->u.node.i]))
		return false;
	const SimTensor x = *sim_tensor_of(s, r->v[a->u.node.i]);
	if (!x.sized)
		return false;
	if (n->nargs == 2) {
		TermId term;
		int64_t d;
		bool known;
		if (!sem_number(r, &a[1], &term, &d, &known) || !known)
			return false;
		d += d < 0 ? x.ndim : 0;
		if (d < 0 || d >= x.ndim)
			return false;
		*out = sim_int(s, x.size[d]);
		return true;
	}
	Ref v[SIM_DIMS];
	for (uint32_t d = 0; d < x.ndim; d++)
		v[d] = sim_int(s, x.size[d]);
	*out = sim_list(s, HK_TUPLE, v, x.ndim);
	return true;
}

/* ---- writes ---- */

typedef struct PlannedWrite {
	Ref target;
	const uint32_t *map;
	uint32_t n;
	const TermId *terms; /* NULL: whole */
	TermId whole;
	bool metadata;
	bool mixes;          /* what was there stays in elements that are not known */
	bool part;           /* whole goes to this place only */
	SemTensor at;
} PlannedWrite;

static const NodeWrite *writes_of(GraphRun *r, uint32_t *n)
{
	uint32_t at = r->write_at, end = at;
	while (end < r->sum->nnode_writes && r->sum->node_writes[end].node.i == r->node.i)
		end++;
	r->write_at = end;
	*n = end - at;
	return &r->sum->node_writes[at];
}

/* Which argument the written value is, for operators that write several (batch norm: 1000 + its position). */
static int write_member(GraphRun *r, NodeId through, uint32_t k)
{
	const Node *n = graph_node(r->g, r->node);
	for (uint32_t i = 0; i < n->nargs; i++) {
		const Arg *a = &node_args(r->g, n)[i];
		if (a->kind == AR_NODE && a->u.node.i == through.i)
			return i ? 1000 + (int)i : -1;
		if (a->kind == AR_LIST || a->kind == AR_TUPLE)
			for (uint32_t j = 0; j < a->n; j++)
				if (arg_kids(r->g, a)[j].kind == AR_NODE && arg_kids(r->g, a)[j].u.node.i == through.i)
					return (int)j;
	}
	return k ? (int)k : -1;
}

static bool is_setitem(const GraphRun *r)
{
	const Node *n = graph_node(r->g, r->node);
	return n->callee == CALLEE_OPERATOR && str_eq(target_of(r, n), S("setitem")) && n->nargs == 3;
}

static void plan_write(GraphRun *r, NodeId through, uint32_t k, PlannedWrite *w)
{
	Sim *s = r->s;
	const SimTensor t = *sim_tensor_of(s, w->target);
	const Node *n = graph_node(r->g, r->node);
	SemCall c = sem_call(r);
	int64_t size[SIM_DIMS];
	uint32_t ndim = 0;
	if (!t.idx && is_setitem(r) && large_place(r, w->target, -1, NULL, 0, &w->at)) {
		TermId args[16];
		uint32_t nargs = 0;
		w->part = true;
		if (sem_fills(&c, -1, &w->whole))
			return;
		operand_terms(r, arg_ref(r, &node_args(r->g, n)[2]), args, &nargs, 16, 0);
		w->whole = nargs == 1 ? args[0] : whole_term(r, -1);
		return;
	}
	if (!t.idx) {
		if (!is_setitem(r) && sem_fills(&c, -1, &w->whole))
			return;
		w->whole = whole_term(r, -1);
		if (is_setitem(r)) { /* a part of it: written in the place that the index names */
			const Arg *a = node_args(r->g, n);
			Buf b = {.a = s->scratch};
			arg_text(r->p, r->g, &a[1], &b);
			TermId old = sim_content(s, w->target);
			w->whole = term_op(s->terms, sym_intern(s->names, S("put")), (TermId[]){old, w->whole}, 2, hash_bytes(4, b.p, b.n) | 1);
			w->mixes = true;
		}
		return;
	}
	if (is_setitem(r) && sem_index_sizes(&c, &node_args(r->g, n)[0], &node_args(r->g, n)[1], size, &ndim)) {
		uint64_t numel = 1;
		for (uint32_t d = 0; d < ndim; d++)
			numel = numel > SIM_SMALL ? numel : numel * (uint64_t)(size[d] <= SIM_SMALL ? size[d] : SIM_SMALL + 1);
		const Arg *source;
		uint32_t *map = NEW_N(s->scratch, uint32_t, numel + 1);
		TermId *e = NEW_N(s->scratch, TermId, numel + 1);
		if (numel <= SIM_SMALL && sem_move(&c, -1, size, ndim, (uint32_t)numel, &source, map)) {
			sem_apply(&c, -1, size, ndim, (uint32_t)numel, e);
			w->map = map;
			w->terms = e;
			w->n = (uint32_t)numel;
			return;
		}
	}
	TermId *e = NEW_N(s->scratch, TermId, t.numel + 1);
	sem_apply(&c, write_member(r, through, k), t.size, t.ndim, t.numel, e);
	w->terms = e;
	w->n = t.numel;
}

static void resize_tensor(GraphRun *r, Ref v)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	Str t = target_of(r, n);
	SimTensor *x = sim_tensor_of(s, v);
	x->version++;
	if (str_has(t, S("set_")) || str_has(t, S("data"))) {
		const Arg *a = node_args(r->g, n);
		Ref src = n->nargs > 1 && a[1].kind == AR_NODE ? r->v[a[1].u.node.i] : 0;
		if (src && sim_is_tensor(s, src)) {
			SimTensor y = *sim_tensor_of(s, src);
			Ref self = x->self;
			uint64_t version = x->version;
			*x = y;
			x->self = self;
			x->version = version;
		}
		return;
	}
	/* t_, unsqueeze_ and their like: the view that the functional form would give, put into the object */
	Ref view = view_result(r, v, -1);
	SimTensor y = *sim_tensor_of(s, view);
	x = sim_tensor_of(s, v);
	Ref self = x->self;
	uint64_t version = x->version;
	if (y.idx || !x->idx) {
		*x = y;
		x->self = self;
		x->version = version;
	} else {
		sim_unsure(s, S("sizes or strides that change in a way that is not followed")); /* resize_ to more elements, as_strided_ */
	}
}

static void apply_write(GraphRun *r, const PlannedWrite *w)
{
	touch(r, w->target, true);
	if (w->metadata)
		resize_tensor(r, w->target);
	else if (w->terms)
		sim_write_elements(r->s, w->target, w->map, w->n, w->terms);
	else if (w->part)
		sim_write_part(r->s, w->target, w->at.size, w->at.stride, w->at.ndim, w->at.offset, w->whole);
	else
		sim_write_whole(r->s, w->target, w->whole);
	if (w->mixes)
		r->s->stores.v[sim_tensor_of(r->s, w->target)->store].coarse = true;
}

/* ---- nodes ---- */

static Ref run_graph(Sim *s, const Program *p, const Graph *g, const NodeTypes *nt, const Summary *sum, const Ref *args, uint32_t n,
                     uint64_t site, bool eager, uint32_t depth);

static GraphId body_of(const GraphRun *r, const Arg *a)
{
	if (a->kind != AR_NODE)
		return (GraphId){0};
	const Node *n = graph_node(r->g, a->u.node);
	return n->kind == NK_GET_ATTR ? graph_child(r->g, n->target) : (GraphId){0};
}

/* Bodies of higher-order operators and submodules: the first body runs; where one of two runs, their results are joined
 * only if that is sure. */
static bool body_call(GraphRun *r, Ref *out)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	GraphId body = n->callee == CALLEE_MODULE ? graph_child(r->g, n->target) : (GraphId){0};
	uint32_t after = 0, bodies = body.i != 0, count = 0;
	for (uint32_t i = 0; n->callee == CALLEE_FUNCTION && i < n->nargs; i++) {
		GraphId b = body_of(r, &node_args(r->g, n)[i]);
		if (!b.i)
			continue;
		body = bodies++ ? body : b;
		after = i + 1;
	}
	if (!body.i || r->depth >= MAX_BODY_DEPTH)
		return false;
	Ref *args = NEW_N(s->scratch, Ref, 4096);
	for (uint32_t i = after; i < n->nargs && count < 4000; i++) {
		const Arg *a = &node_args(r->g, n)[i];
		if (!sym_none(a->key) || a->kind == AR_STR)
			continue;
		if (a->kind == AR_TUPLE || a->kind == AR_LIST)
			for (uint32_t j = 0; j < a->n && count < 4000; j++)
				args[count++] = arg_ref(r, &arg_kids(r->g, a)[j]);
		else
			args[count++] = arg_ref(r, a);
	}
	const Graph *g = graph_get(r->p, body);
	if (!s->summaries[body.i] || !s->types[body.i])
		return false;
	Str t = target_of(r, n);
	if (bodies > 1 && !str_has(t, S("autograd_function_apply")))
		sim_unsure(s, S("a body of which the dump does not tell whether it runs"));
	if (g->inputs.n == count + 1) { /* ctx of an autograd function */
		memmove(args + 1, args, count * sizeof *args);
		args[0] = sim_none(s);
		count++;
	}
	if (g->inputs.n != count) {
		sim_unsure(s, S("a graph of which lines are missing, or a body with other operands"));
		return false;
	}
	Ref res = run_graph(s, r->p, g, s->types[body.i], s->summaries[body.i], args, count, mix(r->site, r->node.i), false, r->depth + 1);
	const HeapObj o = *sim_obj(s, res);
	TypeId type = n->type;
	bool single = type.i && type_get(s->t, type)->kind == TK_TENSOR;
	*out = single && o.kind == HK_TUPLE && o.items.n ? o.items.v[0] : res;
	return true;
}

static Ref element(GraphRun *r, Ref list, const Arg *index)
{
	Sim *s = r->s;
	const HeapObj o = *sim_obj(s, list);
	TermId term;
	int64_t k;
	bool known;
	if ((o.kind != HK_TUPLE && o.kind != HK_LIST) || !sem_number(r, index, &term, &k, &known) || !known)
		return 0;
	k += k < 0 ? o.items.n : 0;
	return k >= 0 && k < o.items.n ? o.items.v[k] : 0;
}

static bool has_unknown_effect(const GraphRun *r, const NodeWrite *w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (w[i].certainty == TRI_MAY)
			return true;
	return graph_node(r->g, r->node)->kind == NK_UNREAD;
}

static uint32_t result_count(const GraphRun *r)
{
	return r->nt->nelems[r->node.i];
}

static Ref results(GraphRun *r, const Fact *fact)
{
	Sim *s = r->s;
	const NodeFrom *from = &r->sum->from[r->node.i];
	const Type *t = type_get(s->t, r->nt->v[r->node.i]);
	if (t->kind == TK_SYM || t->kind == TK_OTHER || (fact && fact->kind == FK_SCALAR))
		return number_result(r);
	if (fact && (fact->kind == FK_EFFECT || (fact->outs.nalts && !fact->outs.n[0] && fact->outs.nalts == 1)) && !from->node.i &&
	    t->kind != TK_TENSOR)
		return sim_none(s);
	if (t->kind == TK_TENSOR)
		return one_result(r, from, -1);
	uint32_t n = result_count(r);
	if (!n && fact && fact->outs.nalts)
		n = fact->outs.n[0];
	if (n <= 1 && !(fact && fact->outs.nalts && (fact->outs.n[0] > 1 || fact->outs.member[0][0] == 'L')))
		return one_result(r, from, -1);
	if (n > 4096)
		n = 4096;
	Ref *v = NEW_N(s->scratch, Ref, n + 1);
	for (uint32_t i = 0; i < n; i++)
		v[i] = one_result(r, from, (int)i);
	return sim_list(s, HK_TUPLE, v, n);
}

static void hidden_node(GraphRun *r)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	Ref *args = NEW_N(s->scratch, Ref, n->nargs + 1);
	for (uint32_t i = 0; i < n->nargs; i++)
		args[i] = arg_ref(r, &node_args(r->g, n)[i]);
	Ref v = sim_hidden(s, target_of(r, n), args, n->nargs);
	const Type *t = type_get(s->t, r->nt->v[r->node.i]);
	if (!sim_is_tensor(s, v) && t->kind == TK_TENSOR)
		v = sim_new_tensor(s, r->nt->v[r->node.i], NULL, mix(mix(r->site, r->node.i), 31));
	r->v[r->node.i] = v;
}

static void call_node(GraphRun *r)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	const Arg *a = node_args(r->g, n);
	uint32_t nw;
	const NodeWrite *w = writes_of(r, &nw);
	Ref out = 0;
	if (n->callee == CALLEE_OPERATOR && str_eq(target_of(r, n), S("getitem")) && n->nargs == 2 && a[0].kind == AR_NODE &&
	    r->v[a[0].u.node.i] && !sim_is_tensor(s, r->v[a[0].u.node.i])) {
		out = element(r, r->v[a[0].u.node.i], &a[1]);
		r->v[r->node.i] = out ? out : new_result(r, -1);
		return;
	}
	touch_args(r);
	if (body_call(r, &r->v[r->node.i]) || sizes_result(r, &r->v[r->node.i]))
		return;
	if (has_unknown_effect(r, w, nw)) {
		hidden_node(r);
		return;
	}
	PlannedWrite *plan = NEW_N(s->scratch, PlannedWrite, nw + 1);
	uint32_t np = 0;
	for (uint32_t i = 0; i < nw; i++) {
		Ref t = w[i].through.i ? source_value(r, w[i].through, -1) : 0;
		if (!t || !sim_is_tensor(s, t))
			continue;
		plan[np].target = t;
		plan[np].metadata = w[i].metadata;
		if (!w[i].metadata)
			plan_write(r, w[i].through, i, &plan[np]);
		np++;
	}
	const Fact *fact = n->callee == CALLEE_MODULE ? NULL : facts_find(s->f, (Callee)n->callee, target_of(r, n), r->g->torch);
	const NodeFrom *from = &r->sum->from[r->node.i];
	bool same = from->node.i && from->same_object && source_value(r, from->node, -1);
	if (!same || result_count(r))
		out = results(r, fact);
	for (uint32_t i = 0; i < np; i++)
		apply_write(r, &plan[i]);
	r->v[r->node.i] = out ? out : one_result(r, from, -1);
}

/* What Dynamo makes of a source for the name of an attribute or of an input, without its marks: L__self___bufs_0,
 * self___bufs_0 and L_self_bufs_0_ are self_bufs_0. Key of Sim.attrs beside the names themselves. */
static uint64_t source_key(Sim *s, Str name)
{
	Buf b = {.a = s->scratch};
	uint32_t i = str_starts(name, S("L_")) ? 2 : 0;
	for (; i < name.n; i++)
		if (name.p[i] != '_' || (b.n && b.p[b.n - 1] != '_'))
			buf_char(&b, name.p[i]);
	while (b.n && b.p[b.n - 1] == '_')
		b.n--;
	return 1ull << 40 | sym_intern(s->names, buf_str(&b)).i;
}

/* A parameter or buffer that the graph holds: one object for all graphs that name it. */
static void attr_node(GraphRun *r)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	if (graph_child(r->g, n->target).i)
		return;
	s->attrs.a = s->a;
	Ref v = map_get(&s->attrs, n->target.i);
	if (!v) {
		Str path = target_of(r, n);
		uint64_t key = source_key(s, path);
		v = map_get(&s->attrs, key); /* an input of another graph */
		if (!v) {
			v = sim_root_tensor(s, as_tensor(s, r->nt->v[r->node.i]), hash_bytes(21, path.p, path.n));
			sim_obj(s, v)->name = n->target;
			VEC_PUSH(s->a, &s->roots, v);
			map_put(&s->attrs, key, v);
		}
		map_put(&s->attrs, n->target.i, v);
	}
	r->v[r->node.i] = v;
}

static void run_node(GraphRun *r)
{
	uint32_t nw;
	switch ((NodeKind)graph_node(r->g, r->node)->kind) {
	case NK_GET_ATTR: attr_node(r); break;
	case NK_CALL: call_node(r); break;
	case NK_UNREAD:
		writes_of(r, &nw);
		hidden_node(r);
		break;
	default: break;
	}
}

/* ---- graphs ---- */

/* A value of which only its origin is known becomes the tensor that the graph takes: in place, so that all its
 * holders see it. */
static void become_tensor(Sim *s, Ref v, TypeId type, Str name)
{
	HeapObj *o = sim_obj(s, v);
	if (o->kind != HK_UNKNOWN && o->kind != HK_OBJECT)
		return;
	uint64_t origin = o->origin, key = source_key(s, name);
	bool attribute = str_has(name, S("self"));
	s->attrs.a = s->a;
	Ref t = attribute ? map_get(&s->attrs, key) : 0; /* what another graph holds */
	if (!t)
		t = sim_root_tensor(s, type, origin);
	if (attribute && !map_get(&s->attrs, key))
		map_put(&s->attrs, key, v);
	o = sim_obj(s, v);
	uint32_t index = sim_obj(s, t)->tensor;
	bool root = o->root;
	o->kind = HK_TENSOR;
	o->tensor = index;
	o->root = root;
	s->tensors.v[index].self = v;
}

static void bind_symbol(Sim *s, ExprId e, int64_t value, bool assumed)
{
	Str name;
	if (value < 0 || value >= UINT32_MAX - 1 || !expr_is_symbol(s->t, e, &name))
		return;
	s->symbols.a = s->a;
	map_put(&s->symbols, sym_intern(s->names, name).i, (uint32_t)value + 1);
	s->assumed.a = s->a;
	if (assumed)
		map_put(&s->assumed, sym_intern(s->names, name).i, 1);
}

/* Size symbols that no argument decides get a small number of their own. */
static void bind_unknown_sizes(Sim *s, TypeId id)
{
	const Type *t = type_get(s->t, id);
	Str name;
	for (uint32_t d = 0; t->kind == TK_TENSOR && t->has_shape && d < t->ndim; d++) {
		if (!expr_is_symbol(s->t, t->size[d], &name))
			continue;
		uint32_t sym = sym_intern(s->names, name).i;
		s->symbols.a = s->a;
		if (map_get(&s->symbols, sym))
			continue;
		map_put(&s->symbols, sym, 4 + s->symbols.n % 4);
		s->assumed.a = s->a;
		map_put(&s->assumed, sym, 1);
	}
}

static void bind_inputs(GraphRun *r, Ref *args)
{
	Sim *s = r->s;
	for (uint32_t i = 0; i < r->g->inputs.n; i++) { /* sizes of known tensors first: they decide symbols */
		NodeId in = r->g->inputs.v[i];
		const Type *t = type_get(s->t, r->nt->v[in.i]);
		const HeapObj *o = sim_obj(s, args[i]);
		if (t->kind == TK_TENSOR && t->has_shape && o->kind == HK_TENSOR) {
			const SimTensor *x = sim_tensor_of(s, args[i]);
			for (uint32_t d = 0; x->sized && x->ndim == t->ndim && d < t->ndim; d++)
				bind_symbol(s, t->size[d], x->size[d], x->assumed);
		} else if (t->kind == TK_SYM && o->kind == HK_NUMBER && o->known) {
			bind_symbol(s, t->sym, o->num, false);
		}
	}
	for (uint32_t i = 0; i < r->g->inputs.n; i++) {
		NodeId in = r->g->inputs.v[i];
		TypeId id = r->nt->v[in.i];
		if (type_get(s->t, id)->kind == TK_TENSOR) {
			bind_unknown_sizes(s, id);
			become_tensor(s, args[i], id, sym_str(s->names, graph_node(r->g, in)->target));
		}
		r->v[in.i] = args[i];
	}
}

static void cut_input(Sim *s, Ref *args, uint32_t n)
{
	uint32_t i = (uint32_t)s->cut.input;
	if (i >= n || !sim_is_tensor(s, args[i]))
		return;
	Ref copy = sim_clone(s, args[i]);
	if (!s->cut_made) {
		s->cut_old = sim_tensor_of(s, args[i])->store;
		s->cut_new = sim_tensor_of(s, copy)->store;
		s->cut_made = true;
	}
	args[i] = copy;
}

static Ref cut_output(Sim *s, Ref v)
{
	if (!sim_is_tensor(s, v))
		return v;
	Ref copy = sim_clone(s, v);
	if (!s->cut_made) {
		s->cut_old = sim_tensor_of(s, v)->store;
		s->cut_new = sim_tensor_of(s, copy)->store;
		s->cut_made = true;
	}
	return copy;
}

static Ref run_graph(Sim *s, const Program *p, const Graph *g, const NodeTypes *nt, const Summary *sum, const Ref *given, uint32_t n,
                     uint64_t site, bool eager, uint32_t depth)
{
	ArenaMark mark = arena_mark(s->scratch);
	GraphRun r = {.s = s, .p = p, .g = g, .nt = nt, .sum = sum, .site = site, .eager = eager, .depth = depth};
	r.v = NEW_N(s->scratch, Ref, g->nodes.n);
	Ref *args = NEW_N(s->scratch, Ref, n + 1);
	if (n)
		memcpy(args, given, n * sizeof *args);
	bool cut = !eager && s->cut.graph.i && s->cut.graph.i == g->id.i;
	Map outer = s->symbols, outer_assumed = s->assumed;
	s->symbols = s->assumed = (Map){.a = s->a};
	bind_inputs(&r, args);
	if (cut && s->cut.input >= 0) {
		cut_input(s, args, n);
		r.v[g->inputs.v[s->cut.input].i] = args[s->cut.input];
	}
	for (uint32_t i = 1; i < g->nodes.n && !s->stopped; i++) {
		ArenaMark node = arena_mark(s->scratch);
		r.node = (NodeId){i};
		run_node(&r);
		arena_rewind(s->scratch, node);
		if (++s->steps > s->max_steps)
			sim_stop(s, S("the simulation takes too many steps"));
	}
	Ref *outs = NEW_N(s->scratch, Ref, g->outputs.n + 1);
	for (uint32_t j = 0; j < g->outputs.n; j++)
		outs[j] = arg_ref(&r, &g->outputs.v[j].arg);
	if (cut && s->cut.output >= 0 && (uint32_t)s->cut.output < g->outputs.n)
		outs[s->cut.output] = cut_output(s, outs[s->cut.output]);
	Ref res = g->returns_bare && g->outputs.n == 1 ? outs[0] : sim_list(s, HK_TUPLE, outs, g->outputs.n);
	s->symbols = outer;
	s->assumed = outer_assumed;
	arena_rewind(s->scratch, mark);
	return res;
}

enum { MAX_FLOWS = 20000 };

static void add_flow(Sim *s, const SimLeft *l, GraphId to, uint32_t input, bool same)
{
	uint64_t key = mix(mix((uint64_t)l->graph.i << 32 | to.i, l->output), input) | 1;
	if (s->flows.n == MAX_FLOWS || map_get(&s->flow_seen, key))
		return;
	map_put(&s->flow_seen, key, 1);
	VEC_PUSH(s->a, &s->flows, ((SimFlow){l->graph, to, l->output, input, same}));
}

/* Where an argument comes from: the last call that handed out this very object; and the last one that handed out
 * something of its memory, if that was later. What was handed out before is passed on by these. */
static void note_flow(Sim *s, GraphId to, Ref arg, uint32_t input)
{
	uint32_t store = sim_tensor_of(s, arg)->store;
	const SimLeft *same = NULL, *view = NULL;
	for (uint32_t k = s->left.n; k-- > 0 && !same;) {
		const SimLeft *l = &s->left.v[k];
		if (l->store != store)
			continue;
		if (l->value == arg)
			same = l;
		else if (!view || view->call == l->call)
			view = l;
	}
	if (same)
		add_flow(s, same, to, input, true);
	if (view && (!same || view->call > same->call))
		add_flow(s, view, to, input, false);
}

static void note_flows(Sim *s, GraphId to, const Ref *args, uint32_t n)
{
	s->flow_seen.a = s->a;
	for (uint32_t i = 0; i < n; i++)
		if (sim_is_tensor(s, args[i]))
			note_flow(s, to, args[i], i);
}

static void note_left(Sim *s, GraphId id, Ref result)
{
	const HeapObj o = *sim_obj(s, result);
	uint32_t n = o.kind == HK_TUPLE ? o.items.n : 1;
	s->left_calls++;
	for (uint32_t j = 0; j < n && s->left.n < MAX_FLOWS; j++) {
		Ref v = o.kind == HK_TUPLE ? o.items.v[j] : result;
		if (sim_is_tensor(s, v))
			VEC_PUSH(s->a, &s->left, ((SimLeft){v, sim_tensor_of(s, v)->store, id, j, s->left_calls}));
	}
}

Ref sim_graph(Sim *s, GraphId id, const Ref *args, uint32_t n)
{
	const Graph *g = graph_get(s->p, id);
	if (!g || g->inputs.n != n || !s->summaries[id.i] || !s->types[id.i]) {
		sim_stop(s, S("a graph is called with another number of arguments than it has inputs"));
		return sim_none(s);
	}
	if (g->incomplete)
		sim_unsure(s, S("a graph of which lines are missing, or a body with other operands"));
	Ref res = run_graph(s, s->p, g, s->types[id.i], s->summaries[id.i], args, n, sim_site(s, mix(40, id.i)), false, 0);
	note_flows(s, id, args, n);
	note_left(s, id, res);
	return res;
}

/* ---- one operator ---- */

typedef struct Build {
	Sim *s;
	Graph *g;
	Ref *inputs;
	uint32_t n;
} Build;

enum { MAX_EAGER_INPUTS = 256 };

static Arg build_input(Build *b, Ref v, TypeId type)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->inputs[i] == v)
			return (Arg){.kind = AR_NODE, .u.node = b->g->inputs.v[i]};
	if (b->n == MAX_EAGER_INPUTS)
		return (Arg){.kind = AR_UNKNOWN};
	Node n = {.kind = NK_PLACEHOLDER, .flags = NF_TYPED, .type = type};
	n.name = n.target = sym_intern(b->s->names, str_printf(b->s->scratch, "x%u", b->n));
	NodeId id = graph_add_node(b->g, n, NULL, 0);
	VEC_PUSH(b->g->a, &b->g->inputs, id);
	b->inputs[b->n++] = v;
	return (Arg){.kind = AR_NODE, .u.node = id};
}

static Arg build_arg(Build *b, Ref v, uint32_t depth)
{
	Sim *s = b->s;
	const HeapObj o = *sim_obj(s, v);
	switch ((HeapKind)o.kind) {
	case HK_TENSOR: return build_input(b, v, sim_type(s, v));
	case HK_NUMBER: {
		const Term *t = term_get(s->terms, o.term);
		if (o.known)
			return (Arg){.kind = t->kind == TERM_NUM && t->cls == 'b' ? AR_BOOL : AR_INT, .u.num = o.num};
		if (t->kind == TERM_NUM)
			return (Arg){.kind = AR_FLOAT, .u.real = t->num};
		return build_input(b, v, type_intern(s->t, &(Type){.kind = TK_SYM}));
	}
	case HK_LIST:
	case HK_TUPLE:
	case HK_SLICE: {
		if (depth > 8)
			return (Arg){.kind = AR_UNKNOWN};
		Arg *kids = NEW_N(s->scratch, Arg, o.items.n + 3);
		for (uint32_t i = 0; i < o.items.n; i++)
			kids[i] = build_arg(b, o.items.v[i], depth + 1);
		return graph_compound(b->g, o.kind == HK_LIST ? AR_LIST : o.kind == HK_TUPLE ? AR_TUPLE : AR_SLICE, (Sym){0}, kids, o.items.n);
	}
	case HK_CONST: {
		Str t = sym_str(s->names, o.name);
		if (str_eq(t, S("None")))
			return (Arg){.kind = AR_NONE};
		if (str_eq(t, S("Ellipsis")))
			return (Arg){.kind = AR_ELLIPSIS};
		if (t.n >= 2 && (t.p[0] == '\'' || t.p[0] == '"'))
			return (Arg){.kind = AR_STR, .u.sym = sym_intern(s->names, str_sub(t, 1, t.n - 1))};
		return (Arg){.kind = AR_NAME, .u.sym = o.name};
	}
	case HK_NAME: return (Arg){.kind = AR_NAME, .u.sym = o.name};
	case HK_UNKNOWN:
	case HK_OBJECT: return build_input(b, v, (TypeId){0});
	default: return (Arg){.kind = AR_UNKNOWN};
	}
}

/* The sizes of a tensor that an eager operator made are those of its type; a computed type replaces none. */
Ref sim_operator(Sim *s, Callee callee, Str target, const Ref *args, const Sym *names, uint32_t n)
{
	ArenaMark mark = arena_mark(s->scratch);
	Program p = *s->p;
	Graph g = {.id = {1}, .a = s->scratch};
	Ref inputs[MAX_EAGER_INPUTS];
	Build b = {.s = s, .g = &g, .inputs = inputs};
	VEC_PUSH(s->scratch, &g.nodes, ((Node){0}));
	VEC_PUSH(s->scratch, &g.locs, ((SrcLoc){0}));
	Arg *a = NEW_N(s->scratch, Arg, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		a[i] = build_arg(&b, args[i], 0);
		a[i].key = names ? names[i] : (Sym){0};
	}
	Node node = {.kind = NK_CALL, .callee = (uint8_t)callee, .target = sym_intern(s->names, target)};
	node.name = node.target;
	NodeId id = graph_add_node(&g, node, a, n);
	Output out = {.arg = {.kind = AR_NODE, .u.node = id}};
	VEC_PUSH(s->scratch, &g.outputs, out);
	g.returns_bare = g.types_at_run = true;
	Graph *graphs[2] = {NULL, &g};
	p.graphs.v = graphs;
	p.graphs.n = p.graphs.cap = 2;
	NodeTypes nt = infer_types(&p, &g, s->t, s->f, s->shapes, g.torch, NULL, s->scratch);
	const NodeTypes *types[2] = {NULL, &nt};
	const Summary *summaries[2] = {NULL, NULL};
	AliasCtx ac = {.p = &p, .t = s->t, .f = s->f, .types = types, .summaries = summaries, .keep = s->scratch, .scratch = s->inner};
	Summary *sum = alias_graph(&ac, &g);
	Ref res = run_graph(s, &p, &g, &nt, sum, inputs, b.n, sim_site(s, hash_bytes(41, target.p, target.n)), true, 0);
	arena_rewind(s->scratch, mark);
	return res;
}

Ref sim_item(Sim *s, Ref tensor)
{
	SemTensor x = {0};
	GraphRun r = {.s = s};
	if (tensor_operand(&r, tensor, &x) && x.numel == 1) {
		SemCall c = {.terms = s->terms, .table = s->sem, .scratch = s->scratch};
		return sim_number(s, sem_item(&c, &x));
	}
	TermId content = sim_content(s, tensor);
	return sim_number(s, term_op(s->terms, sym_intern(s->names, S("item")), &content, 1, 0));
}

/* ---- hidden code ---- */

enum { MAX_HIDDEN = 4096 };

typedef struct Reachable {
	Ref v[MAX_HIDDEN];
	uint32_t n;
} Reachable;

/* Tensors within containers and objects, each once, in order. */
static void reachable(Sim *s, const Ref *args, uint32_t n, Reachable *out)
{
	VEC(Ref) todo = {0};
	Map seen = {.a = s->scratch};
	for (uint32_t i = n; i-- > 0;)
		VEC_PUSH(s->scratch, &todo, args[i]);
	while (todo.n && out->n < MAX_HIDDEN) {
		Ref v = todo.v[--todo.n];
		if (!v || map_get(&seen, v))
			continue;
		map_put(&seen, v, 1);
		HeapObj *o = sim_obj(s, v);
		o->escaped = true;
		if (o->kind == HK_TENSOR)
			out->v[out->n++] = v;
		for (uint32_t i = o->items.n; i-- > 0;)
			VEC_PUSH(s->scratch, &todo, o->items.v[i]);
		for (uint32_t i = o->attrs.n; i-- > 0;)
			VEC_PUSH(s->scratch, &todo, o->attrs.v[i].value);
		if (o->kind == HK_CELL || o->kind == HK_METHOD || o->kind == HK_FUNCTION || o->kind == HK_ITER) {
			VEC_PUSH(s->scratch, &todo, o->a);
			VEC_PUSH(s->scratch, &todo, o->b);
		}
	}
}

static void hidden_write(Sim *s, Ref v, uint64_t site, bool modifies)
{
	const TermId *e;
	Sym op = sym_intern(s->names, S("hidden"));
	if (!sim_elements(s, v, &e)) {
		TermId c = sim_content(s, v);
		sim_write_whole(s, v, modifies ? term_op(s->terms, op, &c, 1, site | 1) : term_fresh(s->terms, site));
		return;
	}
	uint32_t n = sim_tensor_of(s, v)->numel;
	TermId *out = NEW_N(s->scratch, TermId, n + 1);
	for (uint32_t k = 0; k < n; k++)
		out[k] = modifies ? term_op(s->terms, op, &e[k], 1, mix(site, k) | 1) : term_fresh(s->terms, mix(site, k));
	sim_write_elements(s, v, NULL, n, out);
}

Ref sim_hidden(Sim *s, Str what, const Ref *args, uint32_t n)
{
	ArenaMark mark = arena_mark(s->scratch);
	Reachable *r = NEW(s->scratch, Reachable);
	uint64_t site = sim_site(s, hash_bytes(42, what.p, what.n));
	reachable(s, args, n, r);
	s->hidden_seen |= r->n != 0;
	bool reads = s->assume == ASSUME_READS || s->assume == ASSUME_MODIFIES || s->assume == ASSUME_ALL;
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t store = sim_tensor_of(s, r->v[i])->store;
		if (s->cut_made && (store == s->cut_old || store == s->cut_new) && s->touches.n < 4096 && s->assume != ASSUME_NOTHING) {
			SimTouch t = {.store = store, .write = s->assume != ASSUME_READS, .cut_side = store == s->cut_new, .where = s->here, .what = what};
			VEC_PUSH(s->a, &s->touches, t);
		}
		if (reads)
			VEC_PUSH(s->a, &s->printed, ((SimPrinted){sim_content(s, r->v[i])}));
	}
	for (uint32_t i = 0; i < r->n; i++) {
		if (s->assume == ASSUME_MODIFIES || s->assume == ASSUME_ALL)
			hidden_write(s, r->v[i], mix(site, i), true);
		else if (s->assume == ASSUME_OVERWRITES)
			hidden_write(s, r->v[i], mix(site, i), false);
	}
	Ref first = r->n ? r->v[0] : 0;
	arena_rewind(s->scratch, mark);
	if (first && (s->assume == ASSUME_RETURNS || s->assume == ASSUME_ALL))
		return first;
	return sim_unknown(s, mix(site, 99));
}
