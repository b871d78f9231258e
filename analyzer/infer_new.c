/* SPDX-License-Identifier: MIT
 * infer: sizes of new tensors: elementwise, reductions, products, joins, factories. */
#include <math.h>

#include "infer_call.h"

static ExprId num(Call *c, int64_t v)
{
	return expr_int(c->t, v);
}

/* One more dim; its size may be unknown. */
static bool put(Call *c, ExprId e)
{
	if (c->ndim == TYPE_DIMS_MOST)
		return false;
	c->size[c->ndim++] = e;
	return true;
}

bool infer_size_unknown(Call *c, Result *r)
{
	(void)c;
	(void)r;
	return false;
}

bool infer_size_self(Call *c, Result *r)
{
	(void)r;
	return call_sizes_like(c, call_input(c));
}

bool infer_size_like_other(Call *c, Result *r)
{
	(void)r;
	return call_sizes_like(c, call_type(c, SR_OTHER));
}

bool infer_size_like_weight(Call *c, Result *r)
{
	(void)r;
	return call_sizes_like(c, call_type(c, SR_WEIGHT));
}

bool infer_size_like_bias(Call *c, Result *r)
{
	(void)r;
	return call_sizes_like(c, call_type(c, SR_BIAS));
}

bool infer_size_like_index(Call *c, Result *r)
{
	(void)r;
	return call_sizes_like(c, call_type(c, SR_INDEX));
}

bool infer_size_full(Call *c, Result *r)
{
	(void)r;
	c->ndim = 0;
	return true;
}

bool infer_size_broadcast(Call *c, Result *r)
{
	static const ShapeRole roles[] = {SR_COND, SR_INPUT, SR_OTHER, SR_THIRD};
	TypeId ops[4];
	uint32_t n = 0;
	(void)r;
	for (size_t i = 0; i < 4; i++)
		if (c->arg[roles[i]])
			ops[n++] = call_type(c, roles[i]);
	return layout_broadcast(c->t, ops, n, c->size, &c->ndim);
}

/* ---- reductions ---- */

static bool reduce_dims(Call *c, const int64_t *dims, uint32_t n, bool keepdim)
{
	const Type *x = call_tensor(c, SR_INPUT);
	uint64_t gone = 0;
	if (!x || x->ndim > TYPE_DIMS_MOST)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t d;
		if (!dim_wrap(dims[i], x->ndim, &d))
			return false;
		gone |= (uint64_t)1 << d;
	}
	c->ndim = 0;
	for (uint32_t d = 0; d < x->ndim; d++) {
		bool drop = n == 0 || (gone >> d & 1);
		if (drop && keepdim)
			c->size[c->ndim++] = num(c, 1);
		else if (!drop)
			c->size[c->ndim++] = x->size[d];
	}
	return true;
}

static bool reduce(Call *c, bool last_by_default)
{
	int64_t dims[TYPE_DIMS_MOST];
	uint32_t n = 0;
	bool keepdim;
	if (!call_bool(c, SR_KEEPDIM, false, &keepdim))
		return false;
	if (c->arg[SR_DIM]) {
		if (!call_ints(c, SR_DIM, dims, TYPE_DIMS_MOST, &n))
			return false;
	} else if (last_by_default) {
		dims[n++] = -1;
	}
	return reduce_dims(c, dims, n, keepdim);
}

bool infer_size_reduce(Call *c, Result *r)
{
	(void)r;
	return reduce(c, false);
}

bool infer_size_mode(Call *c, Result *r)
{
	(void)r;
	return reduce(c, true);
}

bool infer_size_topk(Call *c, Result *r)
{
	uint32_t d;
	ExprId k = call_expr(c, SR_COUNT);
	(void)r;
	if (!call_sizes_like(c, call_input(c)) || !call_dim(c, SR_DIM, -1, c->ndim, &d))
		return false;
	if (c->ndim)
		c->size[d] = k;
	return true;
}

bool infer_size_loss(Call *c, Result *r)
{
	const Arg *a = c->arg[SR_REDUCTION];
	(void)r;
	c->ndim = 0;
	if (!a)
		return true;
	if (a->kind == AR_INT) /* at::Reduction: none, mean, sum */
		return a->u.num != 0;
	return a->kind == AR_STR && !str_eq(sym_str(c->in->names, a->u.sym), S("none"));
}

/* ---- products ---- */

/* Last two dims multiplied, the others broadcast; one-dimensional operands as torch.matmul takes
 * them. */
bool infer_size_matmul(Call *c, Result *r)
{
	const Type *x = call_tensor(c, SR_INPUT), *y = call_tensor(c, SR_OTHER);
	(void)r;
	if (!x || !y || !x->ndim || !y->ndim)
		return false;
	uint32_t bx = x->ndim > 2 ? x->ndim - 2 : 0, by = y->ndim > 2 ? y->ndim - 2 : 0;
	if (!sizes_broadcast(c->t, x->size, bx, y->size, by, c->size, &c->ndim))
		return false;
	if (x->ndim > 1 && !put(c, x->size[x->ndim - 2]))
		return false;
	return y->ndim < 2 || put(c, y->size[y->ndim - 1]);
}

bool infer_size_linear(Call *c, Result *r)
{
	const Type *w = call_tensor(c, SR_WEIGHT);
	(void)r;
	if (!w || !w->ndim || w->ndim > 2 || !call_sizes_like(c, call_input(c)) || !c->ndim)
		return false;
	c->ndim--;
	return w->ndim == 1 || put(c, w->size[0]);
}

bool infer_size_outer(Call *c, Result *r)
{
	const Type *x = call_tensor(c, SR_INPUT), *y = call_tensor(c, SR_OTHER);
	(void)r;
	c->ndim = 0;
	return x && y && x->ndim == 1 && y->ndim == 1 && put(c, x->size[0]) && put(c, y->size[0]);
}

bool infer_size_attention(Call *c, Result *r)
{
	const Type *v = call_tensor(c, SR_THIRD);
	(void)r;
	if (!v || v->ndim < 2 || !call_sizes_like(c, call_input(c)) || c->ndim < 2)
		return false;
	c->size[c->ndim - 1] = v->size[v->ndim - 1];
	return true;
}

/* Is the flash kernel of the CPU taken? Otherwise the products themselves are computed. As in
 * aten/src/ATen/native/transformers/sdp_utils_cpp.cpp: four dims, like sizes, no dropout. */
static Tri takes_flash(Call *c)
{
	const Type *q = call_tensor(c, SR_INPUT), *k = call_tensor(c, SR_OTHER),
			   *v = call_tensor(c, SR_THIRD);
	const Arg *p = c->arg[SR_P];
	bool grouped;
	if (!q || !k || !v || !call_bool(c, SR_FLAG, false, &grouped) || grouped)
		return TRI_MAY;
	if (q->ndim != 4 || k->ndim != 4 || v->ndim != 4)
		return TRI_NO;
	Tri is = !p ? TRI_MUST : p->kind != AR_FLOAT && p->kind != AR_INT ? TRI_MAY : TRI_MUST;
	if (p && ((p->kind == AR_FLOAT && p->u.real != 0) || (p->kind == AR_INT && p->u.num != 0)))
		return TRI_NO;
	is = tri_and(
		is, tri_and(expr_eq(c->t, q->size[3], v->size[3]), expr_eq(c->t, q->size[3], k->size[3])));
	for (uint32_t i = 0; i < 2; i++)
		is = tri_and(is, tri_and(expr_eq(c->t, q->size[i], k->size[i]),
		                         expr_eq(c->t, q->size[i], v->size[i])));
	return is;
}

/* The flash kernel of the CPU lays its result out as the query from 2.5 on, before always as
 * [batch, length, heads, size]; other devices have their own ways. */
Layout infer_layout_attention(Call *c)
{
	const Type *q = type_get(c->t, call_input(c));
	bool cpu = q->device.i && str_eq(sym_str(c->in->names, q->device), S("cpu"));
	Tri flash = cpu ? takes_flash(c) : TRI_MAY;
	if (flash == TRI_NO)
		return LAYOUT_CONTIGUOUS;
	if (flash == TRI_MAY || !q->has_stride || q->ndim != 4)
		return LAYOUT_UNKNOWN;
	bool by_query = c->in->torch.lo >= 205;
	bool heads_inside = expr_ge(c->t, q->stride[2], q->stride[1]) == TRI_MUST &&
	                    expr_eq(c->t, q->stride[2], q->stride[1]) == TRI_NO;
	return by_query || heads_inside ? LAYOUT_ORDERING : LAYOUT_UNKNOWN;
}

bool infer_size_attention_lse(Call *c, Result *r)
{
	(void)r;
	if (!call_sizes_like(c, call_input(c)) || c->ndim < 2)
		return false;
	c->ndim--;
	return true;
}

bool infer_size_glu(Call *c, Result *r)
{
	uint32_t d;
	(void)r;
	if (!call_sizes_like(c, call_input(c)) || !c->ndim || !call_dim(c, SR_DIM, -1, c->ndim, &d))
		return false;
	c->size[d] = expr_floordiv(c->t, c->size[d], num(c, 2));
	return true;
}

/* all_gather_into_tensor: the shards of all ranks along the first dim. */
bool infer_size_gathered(Call *c, Result *r)
{
	(void)r;
	if (!call_sizes_like(c, call_input(c)) || !c->ndim)
		return false;
	c->size[0] = expr_mul(c->t, c->size[0], call_expr(c, SR_COUNT));
	return true;
}

/* ---- statistics of norms ---- */

bool infer_size_norm_stat(Call *c, Result *r)
{
	ExprId shape[TYPE_DIMS_MOST];
	uint32_t n;
	(void)r;
	if (!call_sizes_like(c, call_input(c)) || !call_exprs(c, SR_SHAPE, shape, &n) || n > c->ndim)
		return false;
	for (uint32_t i = c->ndim - n; i < c->ndim; i++)
		c->size[i] = num(c, 1);
	return true;
}

bool infer_size_channels(Call *c, Result *r)
{
	const Type *x = call_tensor(c, SR_INPUT);
	(void)r;
	c->ndim = 0;
	return x && x->ndim > 1 && put(c, x->size[1]);
}

/* ---- picking ---- */

bool infer_size_embedding(Call *c, Result *r)
{
	const Type *w = call_tensor(c, SR_WEIGHT);
	(void)r;
	return w && w->ndim == 2 && call_sizes_like(c, call_type(c, SR_INDEX)) && put(c, w->size[1]);
}

bool infer_size_embedding_back(Call *c, Result *r)
{
	const Type *grad = call_tensor(c, SR_INPUT);
	(void)r;
	c->ndim = 0;
	return grad && grad->ndim && put(c, call_expr(c, SR_COUNT)) &&
	       put(c, grad->size[grad->ndim - 1]);
}

bool infer_size_index_select(Call *c, Result *r)
{
	const Type *index = call_tensor(c, SR_INDEX);
	uint32_t d;
	(void)r;
	if (!index || index->ndim > 1 || !call_sizes_like(c, call_input(c)) || !c->arg[SR_DIM] ||
	    !call_dim(c, SR_DIM, 0, c->ndim, &d))
		return false;
	if (c->ndim)
		c->size[d] = index->ndim ? index->size[0] : num(c, 1);
	return true;
}

bool infer_size_repeat(Call *c, Result *r)
{
	const Type *x = call_tensor(c, SR_INPUT);
	ExprId times[TYPE_DIMS_MOST];
	uint32_t n;
	(void)r;
	if (!x || !call_exprs(c, SR_SHAPE, times, &n))
		return false;
	c->ndim =
		n > x->ndim ? n : x->ndim; /* repeat wants n >= ndim, tile pads its own list with ones */
	for (uint32_t i = 0; i < c->ndim; i++) {
		uint32_t back = c->ndim - i;
		ExprId size = back <= x->ndim ? x->size[x->ndim - back] : num(c, 1);
		c->size[i] = back <= n ? expr_mul(c->t, size, times[n - back]) : size;
	}
	return true;
}

bool infer_size_one_hot(Call *c, Result *r)
{
	int64_t v;
	ExprId classes = call_expr(c, SR_COUNT);
	(void)r;
	if (expr_value(c->t, classes, &v) && v < 0) /* -1: as many as the data need */
		classes = (ExprId){0};
	return call_sizes_like(c, call_input(c)) && put(c, classes);
}

/* ---- factories ---- */

bool infer_size_given(Call *c, Result *r)
{
	(void)r;
	return call_exprs(c, SR_SHAPE, c->size, &c->ndim);
}

bool infer_size_count(Call *c, Result *r)
{
	(void)r;
	c->ndim = 0;
	return put(c, call_expr(c, SR_COUNT));
}

bool infer_size_eye(Call *c, Result *r)
{
	(void)r;
	c->ndim = 0;
	return put(c, call_expr(c, SR_COUNT)) &&
	       put(c, c->arg[SR_END] ? call_expr(c, SR_END) : c->size[0]);
}

static bool float_bound(Call *c, ShapeRole role, double dflt, double *out)
{
	const Arg *a = c->arg[role];
	int64_t v;
	*out = dflt;
	if (!a)
		return true;
	if (a->kind == AR_FLOAT)
		*out = a->u.real;
	else if (call_int(c, role, &v))
		*out = (double)v;
	else
		return false;
	return true;
}

/* Number of steps between bounds that are floats. */
static ExprId float_steps(Call *c)
{
	double start, end, step;
	if (!float_bound(c, SR_START, 0, &start) || !float_bound(c, SR_END, 0, &end) ||
	    !float_bound(c, SR_STEP, 1, &step))
		return (ExprId){0};
	double n = ceil((end - start) / step);
	return n >= 0 && n < INT32_MAX ? num(c, (int64_t)n) : (ExprId){0};
}

/* (end - start) / step rounded up. */
bool infer_size_arange(Call *c, Result *r)
{
	ExprId start = c->arg[SR_START] ? call_expr(c, SR_START) : num(c, 0);
	ExprId step = c->arg[SR_STEP] ? call_expr(c, SR_STEP) : num(c, 1);
	ExprId span = expr_sub(c->t, call_expr(c, SR_END), start);
	int64_t by, n;
	(void)r;
	c->ndim = 0;
	if (!span.i || !expr_value(c->t, step, &by) || by == 0)
		return put(c, float_steps(c));
	if (by < 0) {
		span = expr_sub(c->t, num(c, 0), span);
		by = by > INT64_MIN ? -by : INT64_MAX;
	}
	if (by != 1)
		span = expr_floordiv(c->t, expr_add(c->t, span, num(c, by - 1)), num(c, by));
	if (expr_value(c->t, span, &n) && n < 0)
		return false;
	return put(c, span);
}

/* Sizes of nested lists: the length of the first list at each depth. A tensor inside ends it. */
bool infer_size_data(Call *c, Result *r)
{
	const Arg *a = c->arg[SR_VALUE];
	(void)r;
	c->ndim = 0;
	if (!a)
		return false;
	while (a->kind == AR_LIST || a->kind == AR_TUPLE) {
		if (!put(c, num(c, a->n)))
			return false;
		if (!a->n)
			return true;
		a = arg_kids(c->g, a);
	}
	const Type *x = type_get(c->t, call_arg_type(c, a));
	if (x->kind == TK_SYM)
		return true;
	return x->kind == TK_TENSOR && x->has_shape &&
	       (x->ndim == 0 || (c->ndim == 0 && call_sizes_like(c, call_arg_type(c, a))));
}

bool infer_view_strided(Call *c, Result *r)
{
	ExprId stride[TYPE_DIMS_MOST];
	uint32_t n;
	Type x = {
		.kind = TK_TENSOR, .dtype = call_result_dtype(c, 0), .has_shape = true, .has_stride = true};
	x.dtype = c->arg[SR_DTYPE]   ? call_dtype(c, c->arg[SR_DTYPE])
	          : c->arg[SR_INPUT] ? type_dtype(c->t, call_input(c))
	                             : DT_F32;
	x.device = c->arg[SR_DEVICE]  ? call_device_of(c->in, c->arg[SR_DEVICE])
	           : c->arg[SR_INPUT] ? type_device(c->t, call_input(c))
	                              : sym_intern(c->in->names, S("cpu"));
	if (!infer_size_given(c, r) || !call_exprs(c, SR_STRIDES, stride, &n) || n != c->ndim)
		return false;
	for (uint32_t i = 0; i < n; i++)
		x.has_stride &= stride[i].i != 0;
	x.size = c->size;
	x.stride = stride;
	x.ndim = n;
	r->one = type_intern(c->t, &x);
	return true;
}

/* ---- joining ---- */

/* Packed in the format that all operands suggest; in order of the dims where they differ. */
static Layout join_layout(Call *c, const TypeId *v, uint32_t n, MemoryFormat *format)
{
	*format = type_suggested_format(c->t, type_get(c->t, v[0]));
	for (uint32_t i = 1; i < n; i++) {
		MemoryFormat f = type_suggested_format(c->t, type_get(c->t, v[i]));
		if (f == MF_UNKNOWN || *format == MF_UNKNOWN)
			*format = MF_UNKNOWN;
		else if (f != *format)
			*format = MF_CONTIGUOUS;
	}
	return *format == MF_UNKNOWN      ? LAYOUT_UNKNOWN
	       : *format == MF_CONTIGUOUS ? LAYOUT_CONTIGUOUS
	                                  : LAYOUT_ASKED;
}

/* cat leaves out tensors of shape [0] among others of more dims. */
static bool is_legacy_empty(Call *c, TypeId id, uint32_t ndim)
{
	const Type *x = type_get(c->t, id);
	return ndim != 1 && x->has_shape && x->ndim == 1 && type_is_empty(c->t, x) == TRI_MUST;
}

static bool join(Call *c, TypeId *v, uint32_t n, int64_t dim, TypeId *out)
{
	uint32_t d, kept = 0;
	MemoryFormat format;
	DType dtype = layout_result_dtype(c->t, v, n, DT_F32);
	for (uint32_t i = 0; i < n; i++)
		if (i + 1 == n || !is_legacy_empty(c, v[i], type_get(c->t, v[n - 1])->ndim))
			v[kept++] = v[i];
	if (!call_sizes_like(c, v[0]) || !dim_wrap(dim, c->ndim, &d) || !c->ndim)
		return false;
	for (uint32_t i = 1; i < kept; i++) {
		const Type *x = type_get(c->t, v[i]);
		if (x->kind != TK_TENSOR || !x->has_shape || x->ndim != c->ndim)
			return false;
		c->size[d] = expr_add(c->t, c->size[d], x->size[d]);
	}
	LayoutNew how = {.rule = join_layout(c, v, kept, &format),
	                 .dtype = dtype,
	                 .ops = v,
	                 .nops = 1,
	                 .has_size = true,
	                 .size = c->size,
	                 .ndim = c->ndim};
	how.asked = format;
	*out = layout_new(c->t, &how);
	return true;
}

static TypeId joined_unknown(Call *c, const TypeId *v, uint32_t n)
{
	Type x = {.kind = TK_TENSOR,
	          .dtype = layout_result_dtype(c->t, v, n, DT_F32),
	          .device = type_device(c->t, v[0])};
	return type_intern(c->t, &x);
}

bool infer_view_cat(Call *c, Result *r)
{
	TypeId *v;
	uint32_t n;
	int64_t dim = 0;
	if (!call_list_types(c, SR_TENSORS, &v, &n))
		return false;
	r->one = joined_unknown(c, v, n);
	if (c->arg[SR_DIM] && !call_int(c, SR_DIM, &dim))
		return true;
	join(c, v, n, dim, &r->one);
	return true;
}

/* As PyTorch computes it: cat along the dim and split it in two; at the end, cat of tensors with a
 * new last dim (aten/src/ATen/native/TensorShape.cpp of 2.6). */
bool infer_view_stack(Call *c, Result *r)
{
	TypeId *v, joined;
	uint32_t n, d;
	if (!call_list_types(c, SR_TENSORS, &v, &n))
		return false;
	r->one = joined_unknown(c, v, n);
	const Type *x = type_get(c->t, v[0]);
	if (!x->has_shape || x->ndim + 1 >= TYPE_DIMS_MOST || !call_dim(c, SR_DIM, 0, x->ndim + 1, &d))
		return true;
	if (d == x->ndim) {
		for (uint32_t i = 0; i < n; i++)
			v[i] = layout_unsqueeze(c->t, v[i], d);
		join(c, v, n, d, &r->one);
		return true;
	}
	ExprId parts[2] = {num(c, n), x->size[d]};
	if (join(c, v, n, d, &joined))
		r->one = layout_unflatten(c->t, joined, d, parts, 2);
	return true;
}
