/* SPDX-License-Identifier: MIT
 * What a node of a run gives: new tensors, views of its operands, numbers, sizes. */
#include "sim_node.h"

#include "sim_learn.h"

static TypeId member_type(const GraphRun *r, int member)
{
	const NodeTypes *nt = r->nt;
	uint32_t id = r->node.i;
	if (member >= 0 && nt->nelems[id])
		return (uint32_t)member < nt->nelems[id] ? nt->elems.v[nt->elem_at[id] + (uint32_t)member] : (TypeId){0};
	return nt->v[id];
}

TypeId step_tensor_type(Sim *s, TypeId t)
{
	return type_get(s->t, t)->kind == TK_TENSOR ? t : type_tensor_unknown(s->t);
}

/* A name for what the node gives, equal in compared runs. */
static uint64_t result_origin(const GraphRun *r, int member)
{
	return step_mix(step_mix(r->site, r->node.i), (uint64_t)(member + 2));
}

Ref step_new(GraphRun *r, int member)
{
	Sim *s = r->s;
	uint64_t numel = 1, origin = result_origin(r, member);
	TypeId type = sim_learned(s, origin, step_tensor_type(s, member_type(r, member)));
	int64_t size[SIM_DIMS], stride[SIM_DIMS];
	bool strided;
	uint32_t ndim = 0;
	bool sized = sim_sizes(s, type, size, stride, &strided, &ndim);
	for (uint32_t d = 0; sized && d < ndim; d++)
		numel = numel > s->small || (uint64_t)size[d] > s->small ? (size[d] ? (uint64_t)s->small + 1 : 0) : numel * (uint64_t)size[d];
	if (sized && numel <= s->small) {
		SemCall c = step_sem(r);
		c.dtype = type_get(s->t, type)->dtype;
		TermId *e = NEW_N(s->scratch, TermId, numel + 1);
		sem_apply(&c, member, size, ndim, (uint32_t)numel, e);
		return sim_new_tensor(s, type, e, origin);
	}
	SemCall call = step_sem(r);
	TermId whole;
	if (!sem_fills(&call, member, &whole))
		whole = step_whole(r, member);
	Ref t = sim_new_tensor(s, type, &whole, origin);
	s->stores.v[sim_tensor_of(s, t)->store].coarse = s->mixed;
	return t;
}

Ref step_source(GraphRun *r, NodeId from, int member)
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
	SemCall c = step_sem(r);
	if (b.idx || !b.placed || !sem_strided(&c, asked, stride, &n, &offset, &has_offset))
		return 0;
	offset = has_offset ? offset : b.offset;
	bool known = n == ndim && memcmp(asked, size, n * sizeof *size) == 0 && offset >= 0 && offset <= most;
	for (uint32_t d = 0; known && d < n; d++)
		known = asked[d] <= most && stride[d] >= 0 && stride[d] <= most;
	return known ? sim_view_placed(r->s, base, type, size, stride, n, offset) : 0;
}

bool step_place(GraphRun *r, Ref base, int member, const int64_t *size, uint32_t ndim, SemTensor *out)
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
	SemCall c = step_sem(r);
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

static Ref view_of_type(GraphRun *r, Ref base, int member, TypeId type)
{
	Sim *s = r->s;
	int64_t size[SIM_DIMS], stride[SIM_DIMS];
	bool strided;
	uint32_t ndim = 0;
	uint64_t numel = 1;
	if (sim_sizes(s, type, size, stride, &strided, &ndim) && sim_tensor_of(s, base)->idx) {
		for (uint32_t d = 0; d < ndim; d++)
			numel = numel > SIM_SMALL ? numel : numel * (uint64_t)(size[d] <= SIM_SMALL ? size[d] : SIM_SMALL + 1);
		SemCall c = step_sem(r);
		const Arg *source;
		uint32_t *map = NEW_N(s->scratch, uint32_t, numel + 1);
		Ref strided = strided_result(r, &c, base, type);
		if (strided)
			return strided;
		if (numel <= s->small && sem_move(&c, member, size, ndim, (uint32_t)numel, &source, map))
			return sim_view(s, base, type, map, 0);
	}
	const Node *n = graph_node(r->g, r->node);
	Str t = step_target(r, n);
	SemTensor at;
	bool sized = sim_sizes(s, type, size, stride, &strided, &ndim);
	Ref placed = sized ? strided_place(r, base, type, size, ndim) : 0;
	if (placed)
		return placed;
	if (sized && !sim_tensor_of(s, base)->idx && step_place(r, base, member, size, ndim, &at) && at.ndim == ndim &&
	    memcmp(at.size, size, ndim * sizeof *size) == 0)
		return sim_view_placed(s, base, type, at.size, at.stride, at.ndim, at.offset);
	/* detach, view over the whole, transposes keep the start; anything else is known by how it was made */
	bool keeps_start = str_has(t, S("view")) || str_has(t, S("detach")) || str_has(t, S("transpose")) || str_has(t, S("permute")) ||
	                   str_has(t, S("contiguous")) || str_has(t, S("reshape")) || str_eq(t, S("t")) || str_eq(t, S("T")) ||
	                   str_has(t, S("squeeze")) || str_has(t, S("flatten")) || str_has(t, S("expand"));
	/* sizes alone do not place it */
	keeps_start &= sized && (strided || row_major(sim_tensor_of(s, base)));
	uint64_t way = keeps_start ? 0 : step_mix(step_mix(hash_bytes(9, t.p, t.n), step_literals(r)), (uint64_t)(member + 1)) | 1;
	return sim_view(s, base, type, NULL, way);
}

/* detach and .data share memory, and autograd knows nothing of it. */
static bool hides_base(GraphRun *r)
{
	Str op = sym_str(r->s->names, step_op(r));
	return str_has(op, S("detach")) || str_ends(op, S("data")) || str_has(op, S("_get_data_attr"));
}

Ref step_view(GraphRun *r, Ref base, int member)
{
	uint64_t origin = result_origin(r, member);
	TypeId type = sim_learned(r->s, origin, step_tensor_type(r->s, member_type(r, member)));
	Ref v = view_of_type(r, base, member, type);
	sim_tensor_of(r->s, v)->origin = origin;
	if (hides_base(r))
		sim_make_root(r->s, v);
	return v;
}

Ref step_result(GraphRun *r, const NodeFrom *from, int member)
{
	Ref src = from->node.i ? step_source(r, from->node, member) : 0;
	if (!src || !sim_is_tensor(r->s, src))
		return step_new(r, member);
	const SimCut *cut = &r->s->cut;
	bool asked = !cut->node.i || (cut->node.i == r->node.i && cut->graph.i == r->g->id.i);
	if (r->s->tracing && from->traced_copy && asked)
		return step_cut_copy(r->s, src, true);
	return from->same_object ? src : step_view(r, src, member);
}

/* ---- numbers ---- */

Ref step_number_result(GraphRun *r)
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
	Str target = step_target(r, n);
	if ((str_eq(target, S("item")) || str_has(target, S("_local_scalar_dense"))) && n->nargs && node_args(r->g, n)->kind == AR_NODE &&
	    r->v[node_args(r->g, n)->u.node.i] && sim_is_tensor(s, r->v[node_args(r->g, n)->u.node.i]))
		return sim_item(s, r->v[node_args(r->g, n)->u.node.i]);
	bool size_read = n->callee == CALLEE_ATTR || str_eq(target, S("size")) || str_has(target, S("sym_size"));
	for (uint32_t i = 0; i < n->nargs && k < MOST; i++) {
		Ref a = step_arg(r, &node_args(r->g, n)[i]);
		if (size_read && sim_is_tensor(s, a)) /* sizes do not depend on contents */
			continue;
		step_terms(r, a, args, &k, MOST, 0);
	}
	return sim_number(s, term_op(s->terms, step_op(r), args, k, step_literals(r) | 1));
}

bool step_sizes(GraphRun *r, Ref *out)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	Str t = step_target(r, n);
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
		if (!step_number(r, &a[1], &term, &d, &known) || !known)
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
