/* SPDX-License-Identifier: MIT
 * infer: x[...]: of tuples, by position; of tensors, views and advanced indexing (rule 7 of the
 * operator facts; sizes and strides of advanced indexing as
 * aten/src/ATen/native/TensorAdvancedIndexing.cpp has them). */
#include "infer_call.h"

/* An index tensor, or list, that stands for dims of the indexed tensor. */
typedef struct Picker {
	uint32_t dim; /* first of the indexed dims */
	uint32_t takes; /* how many of them: those of a mask, else 1 */
	bool mask;
	const ExprId *size; /* of an index tensor */
	uint32_t ndim;
} Picker;

typedef struct Indexing {
	Call *c;
	TypeId now; /* the tensor after the views among the items */
	uint32_t dim; /* where the next item applies */
	Picker picker[TYPE_DIMS_MOST];
	uint32_t npickers;
	bool unknown; /* an item of unknown type or value */
} Indexing;

/* How many dims an item stands for; *unknown when that cannot be told. */
static uint32_t item_takes(Call *c, const Arg *a, bool *unknown)
{
	switch ((ArgKind)a->kind) {
	case AR_NONE:
	case AR_ELLIPSIS:
	case AR_BOOL: return 0;
	case AR_NODE: {
		const Type *x = type_get(c->t, call_arg_type(c, a));
		bool mask = x->dtype == DT_B8 || x->dtype == DT_U8;
		if (x->kind == TK_SYM)
			return 1;
		if (x->kind != TK_TENSOR || x->dtype == DT_NONE || (mask && !x->has_shape))
			*unknown = true;
		return mask ? x->ndim : 1;
	}
	case AR_STARRED:
	case AR_UNKNOWN: *unknown = true; return 0;
	default: return 1;
	}
}

static void add_picker(Indexing *x, const ExprId *size, uint32_t ndim, bool mask, uint32_t takes)
{
	if (x->npickers == TYPE_DIMS_MOST) {
		x->unknown = true;
		return;
	}
	x->picker[x->npickers++] = (Picker){x->dim, takes, mask, size, ndim};
	x->dim += takes;
}

static void item_tensor(Indexing *x, const Arg *a)
{
	Call *c = x->c;
	const Type *i = type_get(c->t, call_arg_type(c, a));
	bool mask = i->dtype == DT_B8 || i->dtype == DT_U8;
	if (i->kind == TK_SYM) {
		x->now = layout_select(c->t, x->now, x->dim);
	} else if (!i->has_shape) {
		x->unknown = true;
	} else if (!i->ndim && !mask) { /* its value is read */
		x->now = layout_select(c->t, x->now, x->dim);
	} else {
		add_picker(x, i->size, i->ndim, mask, mask ? i->ndim : 1);
	}
}

/* [0, 2], [[0], [1]]: an index tensor of those sizes; [True, False]: a mask. */
static void item_list(Indexing *x, const Arg *a)
{
	Call *c = x->c;
	ExprId size[TYPE_DIMS_MOST];
	uint32_t n = 0;
	DType d = data_dtype(c, a);
	const Arg *k = a;
	while ((k->kind == AR_LIST || k->kind == AR_TUPLE) && n < TYPE_DIMS_MOST) {
		size[n++] = expr_int(c->t, k->n);
		if (!k->n)
			break;
		k = arg_kids(c->g, k);
	}
	if (d == DT_NONE || (k->kind != AR_INT && k->kind != AR_BOOL && k->n)) {
		x->unknown = true;
		return;
	}
	const Type *as = type_get(c->t, type_contiguous_of(c->t, d, size, n, (Sym){0}));
	add_picker(x, as->size, n, d == DT_B8, d == DT_B8 ? n : 1);
}

static void item_slice(Indexing *x, const Arg *a)
{
	Call *c = x->c;
	const Arg *part = arg_kids(c->g, a);
	ExprId v[3] = {{0}, {0}, {0}};
	for (uint32_t i = 0; i < a->n && i < 3; i++)
		v[i] = infer_expr(&c->in->nt, c->g, c->t, c->in->names, &part[i]);
	if (a->n != 3) {
		x->unknown = true;
		return;
	}
	x->now = layout_slice(c->t, x->now, x->dim, part[0].kind == AR_NONE ? NULL : &v[0],
	                      part[1].kind == AR_NONE ? NULL : &v[1],
	                      part[2].kind == AR_NONE ? NULL : &v[2]);
	x->dim++;
}

static void item_apply(Indexing *x, const Arg *a, uint32_t ellipsis)
{
	Call *c = x->c;
	switch ((ArgKind)a->kind) {
	case AR_NONE:
		x->now = layout_unsqueeze(c->t, x->now, x->dim);
		x->dim++;
		break;
	case AR_ELLIPSIS: x->dim += ellipsis; break;
	case AR_SLICE: item_slice(x, a); break;
	case AR_INT:
	case AR_EXPR: x->now = layout_select(c->t, x->now, x->dim); break;
	case AR_NODE: item_tensor(x, a); break;
	case AR_LIST:
	case AR_TUPLE: item_list(x, a); break;
	default: x->unknown = true; break; /* x[True], range(...) */
	}
}

/* Common shape of the index tensors; a mask counts as one dim of as many elements as it has true
 * ones. */
static bool pickers_shape(Indexing *x, ExprId *size, uint32_t *n)
{
	ExprId one[1] = {{0}}, out[TYPE_DIMS_MOST];
	*n = 0;
	for (uint32_t i = 0; i < x->npickers; i++) {
		const Picker *p = &x->picker[i];
		uint32_t m;
		if (i == 0) {
			m = p->mask ? 1 : p->ndim;
			memcpy(out, p->mask ? one : p->size, m * sizeof *out);
		} else if (!sizes_broadcast(x->c->t, size, *n, p->mask ? one : p->size,
		                            p->mask ? 1 : p->ndim, out, &m)) {
			return false;
		}
		memcpy(size, out, m * sizeof *out);
		*n = m;
	}
	return true;
}

/* Execution orders dims by the strides of the tensor, taken as 0 where it is indexed; fake tensors
 * before 2.13 come out contiguous. Known where both are the same, and where all dims
 * (nnew of them) are those of the indices. */
static TypeId picked(Indexing *x, const ExprId *size, const ExprId *stride, uint32_t n,
                     uint32_t nnew)
{
	Call *c = x->c;
	const Type *now = type_get(c->t, x->now);
	Type source = {.kind = TK_TENSOR,
	               .dtype = now->dtype,
	               .has_shape = true,
	               .has_stride = now->has_stride,
	               .size = size,
	               .stride = stride,
	               .ndim = n,
	               .device = now->device};
	TypeId op = type_intern(c->t, &source);
	if (n == nnew)
		return call_new(c, LAYOUT_CONTIGUOUS, now->dtype, &op, 1, size, n);
	TypeId out = call_new(c, LAYOUT_ORDERING, now->dtype, &op, 1, size, n);
	return type_is_contiguous(c->t, type_get(c->t, out)) == TRI_MUST
	           ? out
	           : type_without_layout(c->t, out);
}

static TypeId pick(Indexing *x)
{
	Call *c = x->c;
	const Type *now = type_get(c->t, x->now);
	ExprId shape[TYPE_DIMS_MOST], size[TYPE_DIMS_MOST], stride[TYPE_DIMS_MOST];
	uint32_t n = 0, m, first = x->picker[0].dim, next = first;
	bool apart = false, taken[TYPE_DIMS_MOST] = {false};
	if (!now->has_shape || x->dim > now->ndim || !pickers_shape(x, shape, &m))
		return type_without_shape(c->t, x->now);
	for (uint32_t i = 0; i < x->npickers; i++) {
		apart |= x->picker[i].dim != next;
		next = x->picker[i].dim + x->picker[i].takes;
		for (uint32_t k = 0; k < x->picker[i].takes; k++)
			taken[x->picker[i].dim + k] = true;
	}
	if (now->ndim + m > TYPE_DIMS_MOST)
		return type_without_shape(c->t, x->now);
	for (uint32_t d = 0; d <= now->ndim; d++) {
		if (d == (apart ? 0 : first))
			for (uint32_t k = 0; k < m; k++) {
				size[n] = shape[k];
				stride[n++] = expr_int(c->t, 0);
			}
		if (d < now->ndim && !taken[d]) {
			size[n] = now->size[d];
			stride[n++] = now->has_stride ? now->stride[d] : (ExprId){0};
		}
	}
	return picked(x, size, stride, n, m);
}

static TypeId index_tensor(Call *c, TypeId id, const Arg *item, uint32_t n)
{
	Indexing x = {.c = c, .now = id};
	const Type *t = type_get(c->t, id);
	uint32_t taken = 0, ellipsis = 0;
	for (uint32_t i = 0; i < n; i++)
		taken += item_takes(c, &item[i], &x.unknown);
	for (uint32_t i = 0; i < n; i++)
		ellipsis += item[i].kind == AR_ELLIPSIS;
	if (!t->has_shape || taken > t->ndim || ellipsis > 1 || x.unknown)
		return type_without_shape(c->t, id);
	for (uint32_t i = 0; i < n && !x.unknown; i++)
		item_apply(&x, &item[i], t->ndim - taken);
	if (x.unknown)
		return type_without_shape(c->t, id);
	return x.npickers ? pick(&x) : x.now;
}

/* ---- members of tuples ---- */

static bool getitem_slice(Call *c, Result *r, const TypeId *v, uint32_t n, const Arg *index)
{
	const Arg *part = arg_kids(c->g, index);
	int64_t bound[3] = {0, n, 1};
	for (uint32_t i = 0; i < 3 && i < index->n; i++)
		if (part[i].kind == AR_INT)
			bound[i] = part[i].u.num;
		else if (part[i].kind != AR_NONE)
			return false;
	for (uint32_t i = 0; i < 2; i++) {
		bound[i] += bound[i] < 0 ? (int64_t)n : 0;
		bound[i] = bound[i] < 0 ? 0 : bound[i] > (int64_t)n ? (int64_t)n : bound[i];
	}
	if (bound[2] != 1 || index->n != 3 || bound[1] <= bound[0] ||
	    !call_has_room(c, (uint32_t)(bound[1] - bound[0])))
		return false;
	TypeId *copy = NEW_N(c->in->a, TypeId, (size_t)(bound[1] - bound[0]));
	memcpy(copy, v + bound[0], (size_t)(bound[1] - bound[0]) * sizeof *copy);
	return call_result_many(c, r, copy, (uint32_t)(bound[1] - bound[0]));
}

static bool getitem_member(Call *c, Result *r, uint32_t node)
{
	const NodeTypes *nt = &c->in->nt;
	const TypeId *v = nt->elems.v + nt->elem_at[node];
	int64_t i, n = nt->nelems[node];
	const Arg *index = c->arg[SR_INDEX];
	if (index && index->kind == AR_SLICE)
		return getitem_slice(c, r, v, (uint32_t)n, index);
	if (!call_int(c, SR_INDEX, &i))
		return true;
	i += i < 0 ? n : 0;
	if (i >= 0 && i < n)
		r->one = v[i];
	return true;
}

/* Does the fact of the call that made it say that it is a list or tuple of tensors? */
static bool is_tensor_list(Call *c, NodeId id)
{
	const Node *n = graph_node(c->g, id);
	if (n->kind != NK_CALL)
		return false;
	const Fact *f =
		facts_find(c->in->f, (Callee)n->callee, sym_str(c->in->names, n->target), c->in->torch);
	return f && f->outs.nalts && (f->outs.member[0][0] == 'L' || f->outs.n[0] > 1);
}

bool infer_view_getitem(Call *c, Result *r)
{
	const Arg *x = c->arg[SR_INPUT], *index = c->arg[SR_INDEX];
	if (!x || x->kind != AR_NODE || !index)
		return true;
	if (c->in->nt.nelems[x->u.node.i])
		return getitem_member(c, r, x->u.node.i);
	TypeId id = call_input(c);
	if (type_get(c->t, id)->kind != TK_TENSOR) {
		if (!id.i && is_tensor_list(c, x->u.node) && index->kind != AR_SLICE)
			r->one = type_tensor_unknown(c->t);
		return true;
	}
	if (index->kind == AR_TUPLE)
		r->one = index_tensor(c, id, arg_kids(c->g, index), index->n);
	else
		r->one = index_tensor(c, id, index, 1);
	return true;
}

/* aten.index(x, [None, i]): None takes a dim as it is. */
bool infer_view_index(Call *c, Result *r)
{
	const Arg *item;
	uint32_t n;
	Indexing x = {.c = c, .now = call_input(c)};
	if (!call_list(c, SR_INDEX, &item, &n))
		return false;
	for (uint32_t i = 0; i < n && !x.unknown; i++) {
		const Type *t = item[i].kind == AR_NODE ? type_get(c->t, call_arg_type(c, &item[i])) : NULL;
		bool mask = t && (t->dtype == DT_B8 || t->dtype == DT_U8);
		if (item[i].kind == AR_NONE)
			x.dim++;
		else if (!t || t->kind != TK_TENSOR || !t->has_shape || t->dtype == DT_NONE)
			x.unknown = true;
		else
			add_picker(&x, t->size, t->ndim, mask, mask ? t->ndim : 1);
	}
	r->one = x.unknown ? type_without_shape(c->t, x.now) : x.npickers ? pick(&x) : x.now;
	return true;
}
