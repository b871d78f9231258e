/* SPDX-License-Identifier: MIT */
#include "types.h"

/* The questions of types.h about sizes and strides. Sizes may be symbolic: MUST and NO hold for
 * all values of the symbols, all else is MAY. A tensor without printed strides has unknown ones. */

static bool has_sizes(const Type *v)
{
	return v->kind == TK_TENSOR && v->has_shape;
}

static ExprId stride_of(const Type *v, uint32_t d)
{
	return v->has_stride ? v->stride[d] : (ExprId){0};
}

static Tri is_number(Types *t, ExprId e, int64_t v)
{
	int64_t x;
	if (expr_value(t, e, &x))
		return x == v ? TRI_MUST : TRI_NO;
	return expr_eq(t, e, expr_int(t, v));
}

/* A product of sizes, as it is and with each size at least 1 (as PyTorch makes strides: Max(1,
 * u0)). The two are equal unless the tensor is empty, and no question that asks for strides cares
 * then. */
typedef struct Extent {
	ExprId plain, least1;
} Extent;

static Extent extent_one(Types *t)
{
	ExprId one = expr_int(t, 1);
	return (Extent){one, one};
}

static Extent extent_mul(Types *t, Extent e, ExprId size)
{
	int64_t v;
	ExprId least1 = expr_value(t, size, &v) && v > 0 ? size : expr_max(t, expr_int(t, 1), size);
	ExprId plain = expr_mul(t, e.plain, size);
	return (Extent){plain, e.plain.i == e.least1.i && least1.i == size.i
	                           ? plain
	                           : expr_mul(t, e.least1, least1)};
}

static Extent extent_scale(Types *t, Extent e, ExprId by)
{
	ExprId plain = expr_mul(t, e.plain, by);
	return (Extent){plain, e.plain.i == e.least1.i ? plain : expr_mul(t, e.least1, by)};
}

static Tri extent_is(Types *t, Extent e, ExprId v)
{
	Tri a = expr_eq(t, v, e.plain), b = e.least1.i == e.plain.i ? a : expr_eq(t, v, e.least1);
	return a == b ? a : a == TRI_MUST || b == TRI_MUST ? TRI_MUST : TRI_MAY;
}

ExprId type_numel(Types *t, const Type *v)
{
	ExprId n = expr_int(t, 1);
	if (!has_sizes(v))
		return (ExprId){0};
	for (uint32_t d = 0; d < v->ndim; d++)
		n = expr_mul(t, n, v->size[d]);
	return n;
}

Tri type_is_empty(Types *t, const Type *v)
{
	Tri empty = TRI_NO;
	if (!has_sizes(v))
		return TRI_MAY;
	for (uint32_t d = 0; d < v->ndim; d++)
		empty = tri_or(empty, is_number(t, v->size[d], 0));
	return empty;
}

/* Are the dims, taken from order[0] on, packed, size-1 dims passed over? `plain`: a size of 0
 * counts as it is. */
static Tri is_packed(Types *t, const Type *v, const uint32_t *order, bool plain)
{
	Extent e = extent_one(t);
	Tri packed = TRI_MUST;
	for (uint32_t i = 0; i < v->ndim && packed != TRI_NO; i++) {
		uint32_t d = order[i];
		Tri one = is_number(t, v->size[d], 1);
		if (one == TRI_MUST)
			continue;
		packed = tri_and(packed, tri_or(one, extent_is(t, e, stride_of(v, d))));
		e = extent_mul(t, e, v->size[d]);
		if (plain)
			e.least1 = e.plain;
	}
	return packed;
}

Tri type_is_contiguous(Types *t, const Type *v)
{
	uint32_t order[TYPE_DIMS_MOST];
	Tri empty = type_is_empty(t, v);
	if (!has_sizes(v) || empty == TRI_MUST)
		return empty;
	for (uint32_t i = 0; i < v->ndim; i++)
		order[i] = v->ndim - 1 - i;
	return tri_or(empty, is_packed(t, v, order, false));
}

/* C, W, H, N and C, W, H, D, N. */
static const uint32_t *channels_last_order(uint32_t dims)
{
	static const uint32_t four[] = {1, 3, 2, 0}, five[] = {1, 4, 3, 2, 0};
	return dims == 4 ? four : five;
}

Tri type_is_channels_last(Types *t, const Type *v, uint32_t dims)
{
	if (!has_sizes(v))
		return v->kind == TK_TENSOR || v->kind == TK_NONE ? TRI_MAY : TRI_NO;
	if (v->ndim != dims || (dims != 4 && dims != 5))
		return TRI_NO;
	return is_packed(t, v, channels_last_order(dims), true);
}

/* The dims that count for density and overlap: those not surely of size 1. */
static uint32_t wide_dims(Types *t, const Type *v, uint32_t *dims)
{
	uint32_t n = 0;
	for (uint32_t d = 0; d < v->ndim; d++)
		if (is_number(t, v->size[d], 1) != TRI_MUST)
			dims[n++] = d;
	return n;
}

static bool surely_wide(Types *t, ExprId size)
{
	return expr_ge(t, size, expr_int(t, 2)) == TRI_MUST;
}

Tri type_is_dense(Types *t, const Type *v)
{
	uint32_t dims[TYPE_DIMS_MOST], n;
	Tri empty = type_is_empty(t, v);
	Extent e = extent_one(t);
	if (!has_sizes(v) || empty == TRI_MUST)
		return empty;
	n = wide_dims(t, v, dims);
	while (n) {
		/* Only one dim can come next; those that are surely wider than 1 go before the others. */
		uint32_t next = n;
		Tri most = TRI_NO;
		bool wide = false;
		for (uint32_t i = 0; i < n; i++) {
			Tri fits = extent_is(t, e, stride_of(v, dims[i]));
			most = tri_or(most, fits);
			if (fits == TRI_MUST && (next == n || surely_wide(t, v->size[dims[i]])))
				next = i;
			wide |= surely_wide(t, v->size[dims[i]]);
		}
		if (next == n)
			return tri_or(empty, most == TRI_NO && wide ? TRI_NO : TRI_MAY);
		e = extent_mul(t, e, v->size[dims[next]]);
		memmove(dims + next, dims + next + 1, (n - next - 1) * sizeof *dims);
		n--;
	}
	return TRI_MUST;
}

MemoryFormat type_suggested_format(Types *t, const Type *v)
{
	ExprId bound = expr_int(t, 0);
	if (!has_sizes(v))
		return MF_UNKNOWN;
	if (v->ndim != 4 && v->ndim != 5)
		return MF_CONTIGUOUS;
	ExprId channel = stride_of(v, 1);
	const uint32_t *order = channels_last_order(v->ndim);
	Tri last = tri_not(is_number(t, channel, 0));
	for (uint32_t i = 0; i < v->ndim && last != TRI_NO; i++) {
		uint32_t d = order[i];
		last = tri_and(last, tri_not(is_number(t, v->size[d], 0)));
		last = tri_and(last, expr_ge(t, stride_of(v, d), bound));
		if (d == 0)
			last = tri_and(last, tri_not(expr_eq(t, bound, channel)));
		/* size 0 is out, so the size as it stands is "times its size when above 1" */
		bound = expr_mul(t, stride_of(v, d), v->size[d]);
	}
	return last == TRI_NO    ? MF_CONTIGUOUS
	       : last == TRI_MAY ? MF_UNKNOWN
	       : v->ndim == 4    ? MF_CHANNELS_LAST
	                         : MF_CHANNELS_LAST_3D;
}

TypeId type_contiguous_of(Types *t, DType d, const ExprId *size, uint32_t n, Sym device)
{
	ExprId stride[TYPE_DIMS_MOST];
	Type v = {.kind = TK_TENSOR, .dtype = d, .device = device};
	Extent e = extent_one(t);
	if (n <= TYPE_DIMS_MOST) {
		v.has_shape = v.has_stride = true;
		v.ndim = n;
		v.size = size;
		v.stride = stride;
		for (uint32_t i = n; i-- > 0;) {
			stride[i] = e.least1;
			e = extent_mul(t, e, size[i]);
		}
	}
	return type_intern(t, &v);
}

/* ---- self-overlap ---- */

/* Numbers of sizes and strides; false when one is symbolic or unknown. */
static bool all_numbers(Types *t, const Type *v, const uint32_t *dims, uint32_t n, int64_t *size,
                        int64_t *stride)
{
	for (uint32_t i = 0; i < n; i++)
		if (!expr_value(t, v->size[dims[i]], &size[i]) ||
		    !expr_value(t, v->stride[dims[i]], &stride[i]) || size[i] < 0 || stride[i] < 0)
			return false;
	return true;
}

/* Marks every element that an index reaches; MAY when there are too many. */
static Tri overlaps_counted(const int64_t *size, const int64_t *stride, uint32_t n)
{
	enum { SPAN = 1 << 15 };
	uint64_t seen[SPAN / 64] = {0};
	int64_t index[TYPE_DIMS_MOST] = {0}, span = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (size[i] > SPAN || stride[i] > SPAN)
			return TRI_MAY;
		span += (size[i] - 1) * stride[i];
		if (span >= SPAN)
			return TRI_MAY;
	}
	for (;;) {
		int64_t at = 0;
		for (uint32_t i = 0; i < n; i++)
			at += index[i] * stride[i];
		if (seen[at / 64] >> (at % 64) & 1)
			return TRI_MUST;
		seen[at / 64] |= (uint64_t)1 << (at % 64);
		uint32_t d = n;
		while (d-- > 0 && ++index[d] == size[d])
			index[d] = 0;
		if (d == UINT32_MAX)
			return TRI_NO;
	}
}

/* Do two steps of one dim and some of the other surely meet? `wide`: of the stride a multiple of
 * the other. */
static bool pair_meets(Types *t, const Type *v, uint32_t wide, uint32_t narrow)
{
	ExprId a = stride_of(v, wide), b = stride_of(v, narrow), one = expr_int(t, 1);
	if (is_number(t, b, 0) != TRI_NO || is_number(t, expr_mod(t, a, b), 0) != TRI_MUST)
		return false;
	return surely_wide(t, v->size[wide]) &&
	       expr_ge(t, v->size[narrow], expr_add(t, expr_floordiv(t, a, b), one)) == TRI_MUST;
}

static bool surely_overlaps(Types *t, const Type *v, const uint32_t *dims, uint32_t n)
{
	enum { PAIRS_OF = 8 }; /* symbolic questions are not cheap */
	for (uint32_t i = 0; i < n; i++)
		if (surely_wide(t, v->size[dims[i]]) && is_number(t, stride_of(v, dims[i]), 0) == TRI_MUST)
			return true;
	for (uint32_t i = 0; i < n && n <= PAIRS_OF; i++)
		for (uint32_t k = 0; k < n; k++)
			if (i != k && pair_meets(t, v, dims[i], dims[k]))
				return true;
	return false;
}

/* In ascending order of strides, does each step go beyond all that the smaller ones reach
 * together? */
static bool surely_apart(Types *t, const Type *v, uint32_t *dims, uint32_t n)
{
	ExprId reach = expr_int(t, 0), one = expr_int(t, 1);
	while (n) {
		uint32_t least = 0;
		for (uint32_t i = 1; i < n; i++)
			if (expr_ge(t, stride_of(v, dims[i]), stride_of(v, dims[least])) != TRI_MUST)
				least = i;
		uint32_t d = dims[least];
		for (uint32_t i = 0; i < n; i++)
			if (expr_ge(t, stride_of(v, dims[i]), stride_of(v, d)) != TRI_MUST)
				return false;
		if (expr_ge(t, stride_of(v, d), expr_add(t, reach, one)) != TRI_MUST)
			return false;
		reach = expr_add(t, reach, expr_mul(t, expr_sub(t, v->size[d], one), stride_of(v, d)));
		dims[least] = dims[--n];
	}
	return true;
}

Tri type_overlaps_itself(Types *t, const Type *v)
{
	uint32_t dims[TYPE_DIMS_MOST], n;
	int64_t size[TYPE_DIMS_MOST], stride[TYPE_DIMS_MOST];
	Tri empty = type_is_empty(t, v);
	if (!has_sizes(v))
		return TRI_MAY;
	n = wide_dims(t, v, dims);
	if (empty == TRI_MUST || !n)
		return TRI_NO;
	if (!v->has_stride)
		return TRI_MAY;
	if (surely_overlaps(t, v, dims, n))
		return empty == TRI_NO ? TRI_MUST : TRI_MAY;
	bool numbers = all_numbers(t, v, dims, n, size, stride);
	if (surely_apart(t, v, dims, n))
		return TRI_NO;
	return numbers ? overlaps_counted(size, stride, n) : TRI_MAY;
}

/* ---- views of another shape ---- */

bool type_fill_shape(Types *t, const Type *v, ExprId *shape, uint32_t n)
{
	ExprId numel = type_numel(t, v), rest = expr_int(t, 1), by;
	uint32_t hole = n;
	for (uint32_t i = 0; i < n; i++) {
		if (is_number(t, shape[i], -1) != TRI_MUST) {
			rest = expr_mul(t, rest, shape[i]);
			continue;
		}
		if (hole != n)
			return false;
		hole = i;
	}
	if (hole == n)
		return expr_eq(t, numel, rest) != TRI_NO;
	if (is_number(t, rest, 0) == TRI_MUST || is_number(t, expr_mod(t, numel, rest), 0) == TRI_NO)
		return false;
	by = expr_floordiv(t, numel, rest);
	if (!by.i)
		return false;
	shape[hole] = by;
	return true;
}

static bool same_sizes(const Type *v, const ExprId *shape, uint32_t n)
{
	for (uint32_t i = 0; i < n && n == v->ndim; i++)
		if (shape[i].i != v->size[i].i || !shape[i].i)
			return false;
	return n == v->ndim;
}

static void empty_strides(Types *t, const Type *v, const ExprId *shape, uint32_t n, ExprId *out)
{
	const Type *packed;
	if (same_sizes(v, shape, n)) {
		for (uint32_t i = 0; i < n; i++)
			out[i] = stride_of(v, i);
		return;
	}
	packed = type_get(t, type_contiguous_of(t, v->dtype, shape, n, v->device));
	for (uint32_t i = 0; i < n; i++)
		out[i] = stride_of(packed, i);
}

/* Strides of a view that exists: run by run from the last dim, see the operator facts ("view
 * exists"). */
static void view_strides(Types *t, const Type *v, const ExprId *shape, uint32_t n, ExprId *out)
{
	ExprId one = expr_int(t, 1), base = v->stride[v->ndim - 1], taken = one;
	Extent run = extent_one(t);
	uint32_t k = n;
	for (uint32_t d = v->ndim; d-- > 0;) {
		run = extent_mul(t, run, v->size[d]);
		if (d && (is_number(t, v->size[d - 1], 1) == TRI_MUST ||
		          extent_is(t, extent_scale(t, run, base), v->stride[d - 1]) == TRI_MUST))
			continue;
		while (k && (taken.i != run.plain.i || is_number(t, shape[k - 1], 1) == TRI_MUST)) {
			k--;
			out[k] = expr_mul(t, taken, base);
			taken = expr_mul(t, taken, shape[k]);
		}
		if (taken.i != run.plain.i || !taken.i)
			break;
		if (!d)
			return;
		base = v->stride[d - 1];
		run = extent_one(t);
		taken = one;
	}
	for (uint32_t i = 0; i < n; i++)
		out[i] = (ExprId){0};
}

/* Is some product of the last dims of the target surely, or never, this? ends[0..n]: those
 * products. */
static Tri ends_at(Types *t, const ExprId *ends, uint32_t n, ExprId at)
{
	Tri found = TRI_NO;
	for (uint32_t k = 0; k <= n && found != TRI_MUST; k++)
		found = tri_or(found, expr_eq(t, ends[k], at));
	return found;
}

/* Joins dims `left` and `right`, with only size-1 dims between them, into one run? */
static Tri dims_join(Types *t, const Type *v, uint32_t left, uint32_t right)
{
	Extent step =
		extent_scale(t, extent_mul(t, extent_one(t), v->size[right]), stride_of(v, right));
	Tri join = extent_is(t, step, stride_of(v, left));
	bool one =
		is_number(t, v->size[left], 1) != TRI_NO || is_number(t, v->size[right], 1) != TRI_NO;
	return join == TRI_NO && one ? TRI_MAY : join;
}

/* For a tensor that is not empty and has dims: the elements right of any two dims that do not join
 * must be a product of whole target dims, else some target dim would lie across. */
static Tri borders_fit(Types *t, const Type *v, const ExprId *shape, uint32_t n)
{
	ExprId ends[TYPE_DIMS_MOST + 1], numel = expr_int(t, 1);
	uint32_t right = v->ndim;
	Tri fit = TRI_MUST;
	ends[n] = numel;
	for (uint32_t k = n; k-- > 0;)
		ends[k] = expr_mul(t, ends[k + 1], shape[k]);
	if (expr_eq(t, ends[0], type_numel(t, v)) == TRI_NO)
		return TRI_MAY; /* no shape of this tensor */
	for (uint32_t d = v->ndim; d-- > 0;) {
		if (is_number(t, v->size[d], 1) == TRI_MUST)
			continue;
		if (right < v->ndim) {
			Tri join = dims_join(t, v, d, right);
			fit = tri_and(fit, join == TRI_MUST ? join : tri_or(join, ends_at(t, ends, n, numel)));
		}
		right = d;
		numel = expr_mul(t, numel, v->size[d]);
	}
	return fit;
}

Tri type_view_exists(Types *t, const Type *v, const ExprId *shape, uint32_t n, ExprId *out)
{
	ExprId stride[TYPE_DIMS_MOST];
	Tri exists, empty = type_is_empty(t, v);
	for (uint32_t i = 0; i < n && out; i++)
		out[i] = (ExprId){0};
	if (!has_sizes(v) || n > TYPE_DIMS_MOST)
		return TRI_MAY;
	if (!v->ndim) {
		for (uint32_t i = 0; i < n && out; i++)
			out[i] = expr_int(t, 1);
		return TRI_MUST;
	}
	if (empty == TRI_MUST) {
		if (out)
			empty_strides(t, v, shape, n, out);
		return TRI_MUST;
	}
	exists = tri_or(empty, borders_fit(t, v, shape, n));
	if (exists == TRI_MUST && v->has_stride && out) {
		view_strides(t, v, shape, n, stride);
		memcpy(out, stride, n * sizeof *out);
	}
	return exists;
}
