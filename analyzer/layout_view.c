/* SPDX-License-Identifier: MIT */
#include "layout.h"

/* Results of views. Formulas: "Shapes and strides of views" of the operator facts. */

/* A type that is worked on: v.size and v.stride point into the arrays. */
typedef struct Work {
	Type v;
	ExprId size[TYPE_DIMS_MOST], stride[TYPE_DIMS_MOST];
} Work;

/* Copies x; false when it has no sizes. */
static bool work_open(Types *t, TypeId x, Work *w)
{
	w->v = *type_get(t, x);
	if (w->v.kind != TK_TENSOR)
		w->v = (Type){.kind = TK_TENSOR};
	for (uint32_t d = 0; d < w->v.ndim; d++) {
		w->size[d] = w->v.size[d];
		w->stride[d] = w->v.has_stride ? w->v.stride[d] : (ExprId){0};
	}
	w->v.size = w->size;
	w->v.stride = w->stride;
	return w->v.has_shape;
}

static TypeId work_close(Types *t, Work *w)
{
	w->v.size = w->size;
	w->v.stride = w->stride;
	return type_intern(t, &w->v);
}

static TypeId work_blank(Types *t, Work *w)
{
	w->v.has_shape = w->v.has_stride = false;
	return type_intern(t, &w->v);
}

static void work_drop(Work *w, uint32_t d)
{
	uint32_t more = w->v.ndim - d - 1;
	memmove(w->size + d, w->size + d + 1, more * sizeof *w->size);
	memmove(w->stride + d, w->stride + d + 1, more * sizeof *w->stride);
	w->v.ndim--;
}

static bool work_insert(Work *w, uint32_t d, ExprId size, ExprId stride)
{
	uint32_t more = w->v.ndim - d;
	if (w->v.ndim == TYPE_DIMS_MOST)
		return false;
	memmove(w->size + d + 1, w->size + d, more * sizeof *w->size);
	memmove(w->stride + d + 1, w->stride + d, more * sizeof *w->stride);
	w->size[d] = size;
	w->stride[d] = stride;
	w->v.ndim++;
	return true;
}

/* Wraps a dim of a tensor of n dims (a 0-d tensor counts as one dim). */
static bool wrap(int64_t dim, uint32_t n, uint32_t *out)
{
	int64_t most = n ? n : 1;
	if (dim < -most || dim >= most)
		return false;
	*out = (uint32_t)(dim < 0 ? dim + most : dim);
	return true;
}

static Tri is_one(Types *t, ExprId e)
{
	return expr_eq(t, e, expr_int(t, 1));
}

/* ---- dims in another order ---- */

TypeId layout_transpose(Types *t, TypeId x, int64_t a, int64_t b)
{
	Work w;
	uint32_t i, k;
	if (!work_open(t, x, &w) || !wrap(a, w.v.ndim, &i) || !wrap(b, w.v.ndim, &k))
		return work_blank(t, &w);
	if (w.v.ndim) {
		ExprId size = w.size[i], stride = w.stride[i];
		w.size[i] = w.size[k];
		w.stride[i] = w.stride[k];
		w.size[k] = size;
		w.stride[k] = stride;
	}
	return work_close(t, &w);
}

TypeId layout_permute(Types *t, TypeId x, const int64_t *dims, uint32_t n)
{
	Work w, r;
	bool seen[TYPE_DIMS_MOST] = {false};
	if (!work_open(t, x, &w) || n != w.v.ndim)
		return work_blank(t, &w);
	r.v = w.v;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t d;
		if (!wrap(dims[i], n, &d) || seen[d])
			return work_blank(t, &w);
		seen[d] = true;
		r.size[i] = w.size[d];
		r.stride[i] = w.stride[d];
	}
	return work_close(t, &r);
}

TypeId layout_reverse(Types *t, TypeId x)
{
	int64_t dims[TYPE_DIMS_MOST];
	uint32_t n = type_get(t, x)->ndim;
	for (uint32_t i = 0; i < n; i++)
		dims[i] = n - 1 - i;
	return layout_permute(t, x, dims, n);
}

TypeId layout_movedim(Types *t, TypeId x, const int64_t *src, const int64_t *dst, uint32_t n)
{
	Work w;
	int64_t dims[TYPE_DIMS_MOST];
	bool moved[TYPE_DIMS_MOST] = {false}, set[TYPE_DIMS_MOST] = {false};
	if (!work_open(t, x, &w) || n > w.v.ndim)
		return w.v.has_shape && !w.v.ndim && n == 1 ? work_close(t, &w) : work_blank(t, &w);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from, to;
		if (!wrap(src[i], w.v.ndim, &from) || !wrap(dst[i], w.v.ndim, &to) || moved[from] ||
		    set[to])
			return work_blank(t, &w);
		moved[from] = set[to] = true;
		dims[to] = from;
	}
	for (uint32_t to = 0, from = 0; to < w.v.ndim; to++) {
		if (set[to])
			continue;
		while (moved[from])
			from++;
		dims[to] = from++;
	}
	return layout_permute(t, x, dims, w.v.ndim);
}

/* ---- parts ---- */

/* A bound of a slice as a position in 0..size; 0 when it cannot be told. */
static ExprId slice_bound(Types *t, ExprId e, ExprId size)
{
	const int64_t beyond = (int64_t)1
	                       << 62; /* no tensor is as large: the printers write 2**63 - 1 */
	ExprId zero = expr_int(t, 0);
	int64_t v;
	if (expr_value(t, e, &v)) {
		if (v >= beyond)
			return size;
		if (v < 0)
			return expr_max(t, zero, expr_add(t, size, e));
		return expr_min(t, e, size);
	}
	return expr_ge(t, e, zero) == TRI_MUST ? expr_min(t, e, size) : (ExprId){0};
}

TypeId layout_slice(Types *t, TypeId x, int64_t dim, const ExprId *start, const ExprId *stop,
                    const ExprId *step)
{
	Work w;
	uint32_t d;
	ExprId one = expr_int(t, 1), by = step ? *step : one;
	if (!work_open(t, x, &w) || !w.v.ndim || !wrap(dim, w.v.ndim, &d))
		return work_blank(t, &w);
	ExprId a = start ? slice_bound(t, *start, w.size[d]) : expr_int(t, 0);
	ExprId b = stop ? slice_bound(t, *stop, w.size[d]) : w.size[d];
	ExprId length = expr_max(t, expr_int(t, 0), expr_sub(t, b, a));
	if (by.i != one.i)
		length = expr_floordiv(t, expr_add(t, length, expr_sub(t, by, one)), by);
	w.size[d] = length;
	w.stride[d] = expr_mul(t, w.stride[d], by);
	return work_close(t, &w);
}

TypeId layout_select(Types *t, TypeId x, int64_t dim)
{
	Work w;
	uint32_t d;
	if (!work_open(t, x, &w) || !w.v.ndim || !wrap(dim, w.v.ndim, &d))
		return work_blank(t, &w);
	work_drop(&w, d);
	return work_close(t, &w);
}

TypeId layout_narrow(Types *t, TypeId x, int64_t dim, ExprId length)
{
	Work w;
	uint32_t d;
	if (!work_open(t, x, &w) || !w.v.ndim || !wrap(dim, w.v.ndim, &d))
		return work_blank(t, &w);
	w.size[d] = length;
	return work_close(t, &w);
}

TypeId layout_diagonal(Types *t, TypeId x, int64_t offset, int64_t a, int64_t b)
{
	Work w;
	uint32_t i, k;
	if (!work_open(t, x, &w) || !wrap(a, w.v.ndim, &i) || !wrap(b, w.v.ndim, &k) || i == k)
		return work_blank(t, &w);
	if (offset == INT64_MIN)
		return work_blank(t, &w);
	ExprId rows = w.size[i], cols = w.size[k], stride = expr_add(t, w.stride[i], w.stride[k]);
	if (offset >= 0)
		cols = expr_sub(t, cols, expr_int(t, offset));
	else
		rows = expr_sub(t, rows, expr_int(t, -offset));
	ExprId size = expr_max(t, expr_int(t, 0), expr_min(t, rows, cols));
	work_drop(&w, i > k ? i : k);
	work_drop(&w, i > k ? k : i);
	work_insert(&w, w.v.ndim, size, stride);
	return work_close(t, &w);
}

TypeId layout_unfold(Types *t, TypeId x, int64_t dim, ExprId size, ExprId step)
{
	Work w;
	uint32_t d;
	ExprId one = expr_int(t, 1), stride = one;
	if (!work_open(t, x, &w) || !wrap(dim, w.v.ndim, &d))
		return work_blank(t, &w);
	if (w.v.ndim) {
		stride = w.stride[d];
		w.size[d] = expr_add(t, expr_floordiv(t, expr_sub(t, w.size[d], size), step), one);
		w.stride[d] = expr_mul(t, stride, step);
	} else {
		w.v.has_stride = true;
	}
	return work_insert(&w, w.v.ndim, size, stride) ? work_close(t, &w) : work_blank(t, &w);
}

/* ---- size-1 dims, expansion ---- */

TypeId layout_expand(Types *t, TypeId x, const ExprId *size, uint32_t n)
{
	Work w, r;
	int64_t v;
	if (!work_open(t, x, &w) || n < w.v.ndim || n > TYPE_DIMS_MOST)
		return work_blank(t, &w);
	r.v = w.v;
	r.v.ndim = n;
	r.v.has_stride |= !w.v.ndim;
	for (uint32_t i = n; i-- > 0;) {
		bool old = i >= n - w.v.ndim;
		ExprId zero = expr_int(t, 0), from = old ? w.size[i - (n - w.v.ndim)] : (ExprId){0};
		r.size[i] = size[i];
		if (!old) {
			if (expr_value(t, size[i], &v) && v < 0)
				return work_blank(t, &w);
			r.stride[i] = zero;
			if (w.v.ndim && i + 1 < n && is_one(t, size[i]) == TRI_MUST)
				r.stride[i] = expr_mul(t, r.size[i + 1], r.stride[i + 1]);
			continue;
		}
		ExprId stride = w.stride[i - (n - w.v.ndim)];
		Tri one = is_one(t, from);
		if ((expr_value(t, size[i], &v) && v == -1) || expr_eq(t, size[i], from) == TRI_MUST) {
			r.size[i] = from;
			r.stride[i] = stride;
		} else {
			/* stretched, unless the size was not 1: then the two are equal */
			r.stride[i] = one == TRI_MUST ? zero : one == TRI_NO ? stride : (ExprId){0};
		}
	}
	return work_close(t, &r);
}

TypeId layout_squeeze(Types *t, TypeId x, const int64_t *dims, uint32_t n)
{
	Work w;
	bool named[TYPE_DIMS_MOST] = {false};
	if (!work_open(t, x, &w))
		return work_blank(t, &w);
	for (uint32_t i = 0; dims && i < n; i++) {
		uint32_t d;
		if (!wrap(dims[i], w.v.ndim, &d))
			return work_blank(t, &w);
		named[d] = true;
	}
	for (uint32_t d = w.v.ndim; d-- > 0;) {
		if (dims && !named[d])
			continue;
		Tri one = is_one(t, w.size[d]);
		if (one == TRI_MAY)
			return work_blank(t, &w);
		if (one == TRI_MUST)
			work_drop(&w, d);
	}
	return work_close(t, &w);
}

TypeId layout_unsqueeze(Types *t, TypeId x, int64_t dim)
{
	Work w;
	uint32_t d;
	ExprId one = expr_int(t, 1);
	if (!work_open(t, x, &w) || !wrap(dim, w.v.ndim + 1, &d))
		return work_blank(t, &w);
	w.v.has_stride |= !w.v.ndim;
	ExprId stride = d < w.v.ndim ? expr_mul(t, w.size[d], w.stride[d]) : one;
	if (!w.v.has_stride)
		stride = (ExprId){0};
	return work_insert(&w, d, one, stride) ? work_close(t, &w) : work_blank(t, &w);
}

TypeId layout_as_strided(Types *t, TypeId x, const ExprId *size, const ExprId *stride, uint32_t n)
{
	Work w;
	work_open(t, x, &w);
	if (n > TYPE_DIMS_MOST)
		return work_blank(t, &w);
	w.v.ndim = n;
	w.v.has_shape = w.v.has_stride = true;
	for (uint32_t i = 0; i < n; i++) {
		w.size[i] = size[i];
		w.stride[i] = stride[i];
	}
	return work_close(t, &w);
}

/* ---- other dtypes ---- */

TypeId layout_view_as_real(Types *t, TypeId x)
{
	Work w;
	ExprId two = expr_int(t, 2);
	bool sizes = work_open(t, x, &w);
	w.v.dtype = w.v.dtype == DT_C128  ? DT_F64
	            : w.v.dtype == DT_C64 ? DT_F32
	            : w.v.dtype == DT_C32 ? DT_F16
	                                  : DT_NONE;
	if (!sizes)
		return work_blank(t, &w);
	for (uint32_t d = 0; d < w.v.ndim; d++)
		w.stride[d] = expr_mul(t, w.stride[d], two);
	w.v.has_stride |= !w.v.ndim;
	ExprId one = w.v.has_stride ? expr_int(t, 1) : (ExprId){0};
	return work_insert(&w, w.v.ndim, two, one) ? work_close(t, &w) : work_blank(t, &w);
}

TypeId layout_view_as_complex(Types *t, TypeId x)
{
	Work w;
	bool sizes = work_open(t, x, &w);
	w.v.dtype = w.v.dtype == DT_F64   ? DT_C128
	            : w.v.dtype == DT_F32 ? DT_C64
	            : w.v.dtype == DT_F16 ? DT_C32
	                                  : DT_NONE;
	if (!sizes || !w.v.ndim)
		return work_blank(t, &w);
	work_drop(&w, w.v.ndim - 1);
	for (uint32_t d = 0; d < w.v.ndim; d++)
		w.stride[d] = expr_floordiv(t, w.stride[d], expr_int(t, 2));
	return work_close(t, &w);
}

TypeId layout_view_dtype(Types *t, TypeId x, DType d)
{
	Work w;
	bool sizes = work_open(t, x, &w);
	uint32_t from = dtype_bytes(w.v.dtype), to = dtype_bytes(d);
	w.v.dtype = d;
	if (!sizes || !from || !to || (from != to && !w.v.ndim))
		return work_blank(t, &w);
	if (from == to)
		return work_close(t, &w);
	ExprId by = expr_int(t, from > to ? from / to : to / from);
	ExprId (*scale)(Types *, ExprId, ExprId) = from > to ? expr_mul : expr_floordiv;
	uint32_t last = w.v.ndim - 1;
	w.size[last] = scale(t, w.size[last], by);
	for (uint32_t i = 0; i < last; i++)
		w.stride[i] = scale(t, w.stride[i], by);
	return work_close(t, &w);
}

/* ---- other shapes ---- */

/* Copies a target shape into *w and fills in -1. False when it is none of w's; a size that cannot
 * be computed is left unknown. */
static bool target_sizes(Types *t, Work *w, const ExprId *shape, uint32_t n)
{
	Type from = w->v;
	ExprId target[TYPE_DIMS_MOST];
	uint32_t holes = 0;
	int64_t v;
	if (n > TYPE_DIMS_MOST)
		return false;
	for (uint32_t i = 0; i < n; i++)
		target[i] = shape[i];
	bool filled = from.has_shape && type_fill_shape(t, &from, target, n);
	for (uint32_t i = 0; i < n && !filled; i++)
		if (expr_value(t, target[i], &v) && v < 0) {
			target[i] = (ExprId){0};
			holes++;
		}
	if (holes > 1 || (from.has_shape && !filled && !holes))
		return false;
	w->v.ndim = n;
	w->v.has_shape = true;
	w->v.has_stride = false;
	for (uint32_t i = 0; i < n; i++)
		w->size[i] = target[i];
	return true;
}

TypeId layout_view(Types *t, TypeId x, const ExprId *shape, uint32_t n)
{
	Work w;
	Type from;
	work_open(t, x, &w);
	if (!target_sizes(t, &w, shape, n))
		return work_blank(t, &w);
	from = *type_get(t, x);
	w.v.has_stride = type_view_exists(t, &from, w.size, n, w.stride) == TRI_MUST &&
	                 (from.has_stride || !from.ndim);
	return work_close(t, &w);
}

TypeId layout_reshape(Types *t, TypeId x, const ExprId *shape, uint32_t n, Tri *shares)
{
	Work w;
	Tri ignored;
	Type from = *type_get(t, x);
	shares = shares ? shares : &ignored;
	*shares = TRI_MAY;
	work_open(t, x, &w);
	if (!target_sizes(t, &w, shape, n))
		return work_blank(t, &w);
	*shares = type_view_exists(t, &from, w.size, n, w.stride);
	if (*shares == TRI_NO)
		return type_contiguous_of(t, w.v.dtype, w.size, n, w.v.device);
	w.v.has_stride = *shares == TRI_MUST && (from.has_stride || !from.ndim);
	return work_close(t, &w);
}

TypeId layout_flatten(Types *t, TypeId x, int64_t start, int64_t end, Tri *shares, Tri *same)
{
	Work w;
	uint32_t a, b;
	ExprId joined = expr_int(t, 1), shape[TYPE_DIMS_MOST];
	Tri ignored[2];
	shares = shares ? shares : &ignored[0];
	same = same ? same : &ignored[1];
	*shares = *same = TRI_MAY;
	if (!work_open(t, x, &w) || !wrap(start, w.v.ndim, &a) || !wrap(end, w.v.ndim, &b) || a > b)
		return work_blank(t, &w);
	if (w.v.ndim && a == b) {
		*shares = *same = TRI_MUST;
		return work_close(t, &w);
	}
	*same = TRI_NO;
	if (!w.v.ndim) {
		shape[0] = joined;
		return layout_reshape(t, x, shape, 1, shares);
	}
	uint32_t n = 0;
	for (uint32_t d = 0; d < w.v.ndim; d++)
		if (d < a || d > b)
			shape[n++] = w.size[d];
		else {
			joined = expr_mul(t, joined, w.size[d]);
			if (d == b)
				shape[n++] = joined;
		}
	return layout_reshape(t, x, shape, n, shares);
}

TypeId layout_unflatten(Types *t, TypeId x, int64_t dim, const ExprId *sizes, uint32_t n)
{
	Work w;
	uint32_t d, k = 0;
	ExprId parts[TYPE_DIMS_MOST], shape[TYPE_DIMS_MOST];
	if (!work_open(t, x, &w) || !w.v.ndim || !wrap(dim, w.v.ndim, &d) ||
	    (uint64_t)n + w.v.ndim - 1 > TYPE_DIMS_MOST)
		return work_blank(t, &w);
	for (uint32_t i = 0; i < n; i++)
		parts[i] = sizes[i];
	Type one = {.kind = TK_TENSOR, .has_shape = true, .ndim = 1, .size = &w.size[d]};
	if (!type_fill_shape(t, &one, parts, n))
		for (uint32_t i = 0; i < n; i++)
			if (expr_ge(t, parts[i], expr_int(t, 0)) == TRI_NO)
				parts[i] = (ExprId){0};
	for (uint32_t i = 0; i < d; i++)
		shape[k++] = w.size[i];
	for (uint32_t i = 0; i < n; i++)
		shape[k++] = parts[i];
	for (uint32_t i = d + 1; i < w.v.ndim; i++)
		shape[k++] = w.size[i];
	return layout_view(t, x, shape, k);
}

/* ---- pieces ---- */

/* Types of n pieces along dim d of *w, all of this size; single ones are changed by the caller. */
static TypeId *pieces(Types *t, Work *w, uint32_t d, ExprId size, int64_t n, Arena *a)
{
	TypeId *v = NEW_N(a, TypeId, (size_t)n);
	w->size[d] = size;
	TypeId one = work_close(t, w);
	for (int64_t i = 0; i < n; i++)
		v[i] = one;
	return v;
}

static TypeId piece(Types *t, Work *w, uint32_t d, ExprId size)
{
	w->size[d] = size;
	return work_close(t, w);
}

static bool none(TypeId **out, uint32_t *n)
{
	*out = NULL;
	*n = 0;
	return false;
}

static bool open_dim(Types *t, TypeId x, int64_t dim, Work *w, uint32_t *d)
{
	return work_open(t, x, w) && w->v.ndim && wrap(dim, w->v.ndim, d);
}

/* n pieces of `size`, the last one of what the others leave. */
static bool even_pieces(Types *t, Work *w, uint32_t d, ExprId size, int64_t n, Arena *a,
                        TypeId **out, uint32_t *count)
{
	ExprId all = w->size[d], before = expr_mul(t, size, expr_int(t, n - 1));
	if (n < 1 || n > LAYOUT_PIECES_MOST)
		return none(out, count);
	*out = pieces(t, w, d, size, n, a);
	*count = (uint32_t)n;
	(*out)[n - 1] = piece(t, w, d, expr_sub(t, all, before));
	return true;
}

bool layout_chunk(Types *t, TypeId x, int64_t chunks, int64_t dim, Arena *a, TypeId **out,
                  uint32_t *n)
{
	Work w;
	uint32_t d;
	int64_t s;
	if (!open_dim(t, x, dim, &w, &d) || chunks < 1 || chunks > LAYOUT_PIECES_MOST)
		return none(out, n);
	ExprId all = w.size[d], up = expr_add(t, all, expr_int(t, chunks - 1));
	ExprId size = expr_floordiv(t, up, expr_int(t, chunks));
	if (expr_value(t, all, &s)) {
		int64_t each = s / chunks + (s % chunks != 0);
		return even_pieces(t, &w, d, size, s > 0 ? (s + each - 1) / each : chunks, a, out, n);
	}
	/* Fewer pieces come out unless something is left for the last one. */
	ExprId before = expr_mul(t, size, expr_int(t, chunks - 1));
	if (expr_ge(t, expr_sub(t, all, before), expr_int(t, 1)) != TRI_MUST)
		return none(out, n);
	return even_pieces(t, &w, d, size, chunks, a, out, n);
}

bool layout_split(Types *t, TypeId x, ExprId size, int64_t dim, Arena *a, TypeId **out, uint32_t *n)
{
	Work w;
	uint32_t d;
	int64_t s, k, count;
	if (!open_dim(t, x, dim, &w, &d) || !size.i)
		return none(out, n);
	if (expr_value(t, w.size[d], &s) && expr_value(t, size, &k)) {
		if (k < 0 || s < 0 || (k == 0 && s != 0))
			return none(out, n);
		if (s <= k)
			return even_pieces(t, &w, d, w.size[d], 1, a, out, n);
		return even_pieces(t, &w, d, size, s / k + (s % k != 0), a, out, n);
	}
	if (expr_ge(t, size, w.size[d]) == TRI_MUST)
		return even_pieces(t, &w, d, w.size[d], 1, a, out, n);
	if (expr_eq(t, expr_mod(t, w.size[d], size), expr_int(t, 0)) == TRI_MUST &&
	    expr_value(t, expr_floordiv(t, w.size[d], size), &count))
		return even_pieces(t, &w, d, size, count, a, out, n);
	return none(out, n);
}

bool layout_split_sizes(Types *t, TypeId x, const ExprId *sizes, uint32_t nsizes, int64_t dim,
                        Arena *a, TypeId **out, uint32_t *n)
{
	Work w;
	uint32_t d;
	bool open = open_dim(t, x, dim, &w, &d);
	if (nsizes > LAYOUT_PIECES_MOST)
		return none(out, n);
	*out = NEW_N(a, TypeId, nsizes);
	*n = nsizes;
	for (uint32_t i = 0; i < nsizes; i++)
		(*out)[i] = open ? piece(t, &w, d, sizes[i]) : work_blank(t, &w);
	return true;
}

bool layout_tensor_split(Types *t, TypeId x, int64_t sections, int64_t dim, Arena *a, TypeId **out,
                         uint32_t *n)
{
	Work w;
	uint32_t d;
	bool open = open_dim(t, x, dim, &w, &d);
	if (sections < 1 || sections > LAYOUT_PIECES_MOST)
		return none(out, n);
	ExprId all = open ? w.size[d] : (ExprId){0};
	*out = NEW_N(a, TypeId, (size_t)sections);
	*n = (uint32_t)sections;
	for (int64_t i = 0; i < sections; i++) {
		/* the first all % sections pieces are longer by one */
		ExprId up = expr_add(t, all, expr_int(t, sections - 1 - i));
		ExprId size = expr_floordiv(t, up, expr_int(t, sections));
		(*out)[i] = open ? piece(t, &w, d, size) : work_blank(t, &w);
	}
	return true;
}

bool layout_tensor_split_at(Types *t, TypeId x, const ExprId *at, uint32_t nat, int64_t dim,
                            Arena *a, TypeId **out, uint32_t *n)
{
	ExprId from = expr_int(t, 0);
	if (nat >= LAYOUT_PIECES_MOST)
		return none(out, n);
	*out = NEW_N(a, TypeId, (size_t)nat + 1);
	*n = nat + 1;
	for (uint32_t i = 0; i <= nat; i++) {
		(*out)[i] = layout_slice(t, x, dim, &from, i < nat ? &at[i] : NULL, NULL);
		if (i < nat)
			from = at[i];
	}
	return true;
}

bool layout_unbind(Types *t, TypeId x, int64_t dim, Arena *a, TypeId **out, uint32_t *n)
{
	Work w;
	uint32_t d;
	int64_t s;
	if (!open_dim(t, x, dim, &w, &d) || !expr_value(t, w.size[d], &s) || s < 0 ||
	    s > LAYOUT_PIECES_MOST)
		return none(out, n);
	TypeId one = layout_select(t, x, dim);
	*out = NEW_N(a, TypeId, (size_t)s);
	*n = (uint32_t)s;
	for (uint32_t i = 0; i < *n; i++)
		(*out)[i] = one;
	return true;
}
