/* SPDX-License-Identifier: MIT
 * infer: types of views and of what is a view at times (contiguous, reshape, flatten). */
#include "infer_call.h"

bool infer_view_same(Call *c, Result *r)
{
	r->one = call_input(c);
	return true;
}

/* A view of a contiguous tensor is contiguous, also where sizes cannot be compared; so is a copy by
 * reshape. */
static TypeId packed_view(Call *c, TypeId view)
{
	const Type *x = type_get(c->t, call_input(c)), *v = type_get(c->t, view);
	if (v->has_shape && !v->has_stride && type_is_contiguous(c->t, x) == TRI_MUST)
		return type_contiguous_of(c->t, v->dtype, v->size, v->ndim, v->device);
	return view;
}

bool infer_view_view(Call *c, Result *r)
{
	ExprId size[TYPE_DIMS_MOST];
	uint32_t n = 0;
	if (c->arg[SR_SHAPE] && !call_exprs(c, SR_SHAPE, size, &n))
		return false;
	r->one = packed_view(c, layout_view(c->t, call_input(c), size, n));
	return true;
}

static bool view_like(Call *c, Result *r, bool reshape)
{
	const Type *y = call_tensor(c, SR_OTHER);
	if (!y)
		return false;
	TypeId v = reshape ? layout_reshape(c->t, call_input(c), y->size, y->ndim, NULL)
	                   : layout_view(c->t, call_input(c), y->size, y->ndim);
	r->one = packed_view(c, v);
	return true;
}

bool infer_view_view_as(Call *c, Result *r)
{
	return view_like(c, r, false);
}

bool infer_view_reshape_as(Call *c, Result *r)
{
	return view_like(c, r, true);
}

bool infer_view_dtype(Call *c, Result *r)
{
	DType d = call_dtype(c, c->arg[SR_DTYPE]);
	if (d == DT_NONE)
		return false;
	r->one = layout_view_dtype(c->t, call_input(c), d);
	return true;
}

bool infer_view_as_real(Call *c, Result *r)
{
	r->one = layout_view_as_real(c->t, call_input(c));
	return true;
}

bool infer_view_as_complex(Call *c, Result *r)
{
	r->one = layout_view_as_complex(c->t, call_input(c));
	return true;
}

bool infer_view_reshape(Call *c, Result *r)
{
	ExprId size[TYPE_DIMS_MOST];
	uint32_t n = 0;
	if (c->arg[SR_SHAPE] && !call_exprs(c, SR_SHAPE, size, &n))
		return false;
	r->one = packed_view(c, layout_reshape(c->t, call_input(c), size, n, NULL));
	return true;
}

bool infer_view_flatten(Call *c, Result *r)
{
	int64_t start = 0, end = -1;
	if ((c->arg[SR_START] && !call_int(c, SR_START, &start)) ||
	    (c->arg[SR_END] && !call_int(c, SR_END, &end)))
		return false;
	r->one = packed_view(c, layout_flatten(c->t, call_input(c), start, end, NULL, NULL));
	return true;
}

/* One dim; viewed when contiguous, copied otherwise: packed either way. */
bool infer_view_ravel(Call *c, Result *r)
{
	const Type *x = type_get(c->t, call_input(c));
	ExprId all = type_numel(c->t, x);
	r->one = type_contiguous_of(c->t, x->dtype, &all, 1, x->device);
	return true;
}

bool infer_view_unflatten(Call *c, Result *r)
{
	ExprId size[TYPE_DIMS_MOST];
	uint32_t n;
	int64_t dim;
	if (!call_int(c, SR_DIM, &dim) || !call_exprs(c, SR_SHAPE, size, &n))
		return false;
	r->one = packed_view(c, layout_unflatten(c->t, call_input(c), dim, size, n));
	return true;
}

bool infer_view_as_strided(Call *c, Result *r)
{
	ExprId size[TYPE_DIMS_MOST], stride[TYPE_DIMS_MOST];
	uint32_t n, m;
	if (!call_exprs(c, SR_SHAPE, size, &n) || !call_exprs(c, SR_STRIDES, stride, &m) || n != m)
		return false;
	r->one = layout_as_strided(c->t, call_input(c), size, stride, n);
	return true;
}

/* ---- moving dims ---- */

bool infer_view_transpose(Call *c, Result *r)
{
	int64_t a, b;
	if (!call_int(c, SR_DIM, &a) || !call_int(c, SR_DIM2, &b))
		return false;
	r->one = layout_transpose(c->t, call_input(c), a, b);
	return true;
}

bool infer_view_reverse(Call *c, Result *r)
{
	r->one = layout_reverse(c->t, call_input(c));
	return true;
}

bool infer_view_mt(Call *c, Result *r)
{
	const Type *x = call_tensor(c, SR_INPUT);
	r->one = call_input(c);
	if (!x || x->ndim) /* of a 0-d tensor: itself */
		r->one = layout_transpose(c->t, r->one, -2, -1);
	return true;
}

bool infer_view_permute(Call *c, Result *r)
{
	int64_t dims[TYPE_DIMS_MOST];
	uint32_t n;
	if (!call_ints(c, SR_DIM, dims, TYPE_DIMS_MOST, &n))
		return false;
	r->one = layout_permute(c->t, call_input(c), dims, n);
	return true;
}

bool infer_view_movedim(Call *c, Result *r)
{
	int64_t from[TYPE_DIMS_MOST], to[TYPE_DIMS_MOST];
	uint32_t n, m;
	if (!call_ints(c, SR_DIM, from, TYPE_DIMS_MOST, &n) ||
	    !call_ints(c, SR_DIM2, to, TYPE_DIMS_MOST, &m) || n != m)
		return false;
	r->one = layout_movedim(c->t, call_input(c), from, to, n);
	return true;
}

bool infer_view_squeeze(Call *c, Result *r)
{
	int64_t dims[TYPE_DIMS_MOST];
	uint32_t n = 0;
	bool named = call_given(c, SR_DIM);
	if (named && !call_ints(c, SR_DIM, dims, TYPE_DIMS_MOST, &n))
		return false;
	r->one = layout_squeeze(c->t, call_input(c), named ? dims : NULL, n);
	return true;
}

bool infer_view_unsqueeze(Call *c, Result *r)
{
	int64_t dim;
	if (!call_int(c, SR_DIM, &dim))
		return false;
	r->one = layout_unsqueeze(c->t, call_input(c), dim);
	return true;
}

/* ---- stretching and cutting ---- */

bool infer_view_expand(Call *c, Result *r)
{
	ExprId size[TYPE_DIMS_MOST];
	uint32_t n;
	if (!call_exprs(c, SR_SHAPE, size, &n))
		return false;
	r->one = layout_expand(c->t, call_input(c), size, n);
	return true;
}

bool infer_view_expand_as(Call *c, Result *r)
{
	const Type *y = call_tensor(c, SR_OTHER);
	if (!y)
		return false;
	r->one = layout_expand(c->t, call_input(c), y->size, y->ndim);
	return true;
}

bool infer_view_select(Call *c, Result *r)
{
	int64_t dim;
	if (!call_int(c, SR_DIM, &dim))
		return false;
	r->one = layout_select(c->t, call_input(c), dim);
	return true;
}

bool infer_view_slice(Call *c, Result *r)
{
	int64_t dim = 0;
	ExprId start = call_expr(c, SR_START), end = call_expr(c, SR_END), step = call_expr(c, SR_STEP);
	if (c->arg[SR_DIM] && !call_int(c, SR_DIM, &dim))
		return false;
	r->one = layout_slice(c->t, call_input(c), dim, c->arg[SR_START] ? &start : NULL,
	                      c->arg[SR_END] ? &end : NULL, c->arg[SR_STEP] ? &step : NULL);
	return true;
}

bool infer_view_narrow(Call *c, Result *r)
{
	int64_t dim;
	if (!call_int(c, SR_DIM, &dim))
		return false;
	r->one = layout_narrow(c->t, call_input(c), dim, call_expr(c, SR_COUNT));
	return true;
}

bool infer_view_diagonal(Call *c, Result *r)
{
	int64_t offset = 0, a = 0, b = 1;
	if ((c->arg[SR_COUNT] && !call_int(c, SR_COUNT, &offset)) ||
	    (c->arg[SR_DIM] && !call_int(c, SR_DIM, &a)) ||
	    (c->arg[SR_DIM2] && !call_int(c, SR_DIM2, &b)))
		return false;
	r->one = layout_diagonal(c->t, call_input(c), offset, a, b);
	return true;
}

bool infer_view_unfold(Call *c, Result *r)
{
	int64_t dim;
	if (!call_int(c, SR_DIM, &dim))
		return false;
	r->one = layout_unfold(c->t, call_input(c), dim, call_expr(c, SR_COUNT), call_expr(c, SR_STEP));
	return true;
}

/* ---- several views ---- */

bool infer_many_chunk(Call *c, Result *r)
{
	int64_t chunks, dim = 0;
	TypeId *v;
	uint32_t n;
	if (!call_int(c, SR_COUNT, &chunks) || (c->arg[SR_DIM] && !call_int(c, SR_DIM, &dim)) ||
	    !layout_chunk(c->t, call_input(c), chunks, dim, c->in->a, &v, &n))
		return false;
	return call_result_many(c, r, v, n);
}

static bool is_list_arg(const Arg *a)
{
	return a && (a->kind == AR_LIST || a->kind == AR_TUPLE);
}

bool infer_many_split(Call *c, Result *r)
{
	ExprId size[TYPE_DIMS_MOST];
	int64_t dim = 0;
	TypeId *v;
	uint32_t n, nsizes;
	if (!call_exprs(c, SR_SHAPE, size, &nsizes) || (c->arg[SR_DIM] && !call_int(c, SR_DIM, &dim)))
		return false;
	bool cut = is_list_arg(c->arg[SR_SHAPE])
	               ? layout_split_sizes(c->t, call_input(c), size, nsizes, dim, c->in->a, &v, &n)
	               : layout_split(c->t, call_input(c), size[0], dim, c->in->a, &v, &n);
	return cut && call_result_many(c, r, v, n);
}

bool infer_many_tensor_split(Call *c, Result *r)
{
	ExprId at[TYPE_DIMS_MOST];
	int64_t dim = 0, sections;
	TypeId *v;
	uint32_t n, nat;
	if (!call_exprs(c, SR_SHAPE, at, &nat) || (c->arg[SR_DIM] && !call_int(c, SR_DIM, &dim)))
		return false;
	bool cut;
	if (is_list_arg(c->arg[SR_SHAPE]))
		cut = layout_tensor_split_at(c->t, call_input(c), at, nat, dim, c->in->a, &v, &n);
	else
		cut = expr_value(c->t, at[0], &sections) &&
		      layout_tensor_split(c->t, call_input(c), sections, dim, c->in->a, &v, &n);
	return cut && call_result_many(c, r, v, n);
}

bool infer_many_unbind(Call *c, Result *r)
{
	int64_t dim = 0;
	TypeId *v;
	uint32_t n;
	if ((c->arg[SR_DIM] && !call_int(c, SR_DIM, &dim)) ||
	    !layout_unbind(c->t, call_input(c), dim, c->in->a, &v, &n))
		return false;
	return call_result_many(c, r, v, n);
}

/* Each tensor keeps its dim and is stretched over those of the others. */
bool infer_many_meshgrid(Call *c, Result *r)
{
	TypeId *v;
	uint32_t n;
	const Arg *order = c->arg[SR_VALUE];
	bool swap =
		order && order->kind == AR_STR && str_eq(sym_str(c->in->names, order->u.sym), S("xy"));
	if (!call_list_types(c, SR_TENSORS, &v, &n) || n > TYPE_DIMS_MOST)
		return false;
	ExprId size[TYPE_DIMS_MOST];
	for (uint32_t i = 0; i < n; i++) {
		const Type *x = type_get(c->t, v[i]);
		if (!x->has_shape || x->ndim > 1)
			return false;
		size[swap && i < 2 && n > 1 ? 1 - i : i] = x->ndim ? x->size[0] : expr_int(c->t, 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t own = swap && i < 2 && n > 1 ? 1 - i : i;
		Type x = *type_get(c->t, v[i]);
		ExprId stride[TYPE_DIMS_MOST];
		for (uint32_t k = 0; k < n; k++)
			stride[k] = expr_int(c->t, 0);
		stride[own] = x.has_stride && x.ndim ? x.stride[0] : expr_int(c->t, 1);
		x.has_stride |= x.ndim == 0;
		x.size = size;
		x.stride = stride;
		x.ndim = n;
		v[i] = type_intern(c->t, &x);
	}
	return call_result_many(c, r, v, n);
}

bool infer_many_broadcast(Call *c, Result *r)
{
	ExprId size[TYPE_DIMS_MOST];
	TypeId *v;
	uint32_t n, ndim;
	if (!call_list_types(c, SR_TENSORS, &v, &n) || !layout_broadcast(c->t, v, n, size, &ndim))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const Type *x = type_get(c->t, v[i]);
		bool whole = x->ndim == ndim;
		for (uint32_t k = 0; k < x->ndim && whole; k++)
			whole = expr_eq(c->t, x->size[k], size[k]) == TRI_MUST;
		if (!whole)
			v[i] = layout_expand(c->t, v[i], size, ndim);
	}
	return call_result_many(c, r, v, n);
}

/* ---- what changes the argument itself ---- */

bool infer_view_resize(Call *c, Result *r)
{
	ExprId size[TYPE_DIMS_MOST];
	uint32_t n = 0;
	const Type *x = type_get(c->t, call_input(c));
	if (c->arg[SR_FORMAT] || (c->arg[SR_SHAPE] && !call_exprs(c, SR_SHAPE, size, &n)))
		return false;
	r->one = type_contiguous_of(c->t, x->dtype, size, n, x->device);
	return true;
}

bool infer_view_set(Call *c, Result *r)
{
	r->one = call_type(c, SR_OTHER);
	return true;
}
