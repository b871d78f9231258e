/* SPDX-License-Identifier: MIT */
#include "layout.h"

/* Sizes and strides of new tensors. Formulas: "Layout of new results" of the operator facts; the
 * order of dims is that of TensorIterator (aten/src/ATen/TensorIterator.cpp, PyTorch 2.6). */

static const Str words[] = {
#define LAYOUT(id, word) {word, sizeof(word) - 1},
#include "layouts.def"
#undef LAYOUT
};

Str layout_word(Layout l)
{
	return words[l];
}

bool layout_parse(Str word, Layout *out)
{
	for (int i = 0; i < LAYOUT_N; i++)
		if (str_eq(word, words[i])) {
			*out = (Layout)i;
			return true;
		}
	return false;
}

/* ---- common shape ---- */

static Tri is_one(Types *t, ExprId e)
{
	return expr_eq(t, e, expr_int(t, 1));
}

/* The size of two that are broadcast together; false when they do not fit. 0 when it cannot be
 * told. */
static bool common_size(Types *t, ExprId a, ExprId b, ExprId *out)
{
	Tri one_a = is_one(t, a), one_b = is_one(t, b);
	int64_t v;
	if (one_a == TRI_MUST || one_b == TRI_MUST || (a.i == b.i && a.i)) {
		*out = one_a == TRI_MUST ? b : a;
		return true;
	}
	if (one_a == TRI_NO && one_b == TRI_NO) {
		*out = expr_value(t, b, &v) ? b : a; /* equal, since the program ran */
		return expr_eq(t, a, b) != TRI_NO;
	}
	*out = one_a == TRI_NO ? a : one_b == TRI_NO ? b : (ExprId){0};
	return true;
}

bool layout_broadcast(Types *t, const TypeId *ops, uint32_t nops, ExprId *size, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < nops; i++) {
		const Type *x = type_get(t, ops[i]);
		if (x->kind == TK_SYM || x->kind == TK_OTHER)
			continue;
		if (x->kind != TK_TENSOR || !x->has_shape)
			return false;
		if (x->ndim > *n) {
			memmove(size + (x->ndim - *n), size, *n * sizeof *size);
			for (uint32_t d = 0; d < x->ndim - *n; d++)
				size[d] = expr_int(t, 1);
			*n = x->ndim;
		}
		for (uint32_t d = 0; d < x->ndim; d++) {
			ExprId *to = &size[*n - x->ndim + d];
			if (!common_size(t, *to, x->size[d], to))
				return false;
		}
	}
	return true;
}

/* ---- packing ---- */

typedef struct Shape {
	Type v; /* what comes out; sizes are set, strides point to stride */
	ExprId size[TYPE_DIMS_MOST], stride[TYPE_DIMS_MOST];
} Shape;

/* Strides of dims taken from order[0], the innermost, outward. A size of 0 counts as 1 unless
 * `raw`. */
static void pack(Types *t, Shape *s, const uint32_t *order, bool raw)
{
	ExprId one = expr_int(t, 1), step = one;
	for (uint32_t i = 0; i < s->v.ndim; i++) {
		ExprId size = s->size[order[i]];
		s->stride[order[i]] = step;
		step = expr_mul(t, step, raw ? size : expr_max(t, one, size));
	}
	s->v.has_stride = true;
}

static void pack_rows(Types *t, Shape *s)
{
	uint32_t order[TYPE_DIMS_MOST];
	for (uint32_t i = 0; i < s->v.ndim; i++)
		order[i] = s->v.ndim - 1 - i;
	pack(t, s, order, false);
}

/* A format that does not have this number of dims is the contiguous one. */
static void pack_format(Types *t, Shape *s, MemoryFormat f)
{
	static const uint32_t four[] = {1, 3, 2, 0}, five[] = {1, 4, 3, 2, 0};
	if (f == MF_CHANNELS_LAST && s->v.ndim == 4)
		pack(t, s, four, true);
	else if (f == MF_CHANNELS_LAST_3D && s->v.ndim == 5)
		pack(t, s, five, true);
	else if (f != MF_UNKNOWN)
		pack_rows(t, s);
}

static bool copy_strides(Shape *s, const Type *x)
{
	if (!x->has_shape || !x->has_stride || x->ndim != s->v.ndim)
		return false;
	for (uint32_t d = 0; d < x->ndim; d++)
		s->stride[d] = x->stride[d];
	s->v.has_stride = true;
	return true;
}

/* ---- order of dims ---- */

/* Strides of an operand broadcast to the result, 0 where it is stretched. False when that cannot
 * be told. */
static bool stretched(Types *t, const Shape *s, const Type *x, ExprId *stride)
{
	if (!x->has_shape || (!x->has_stride && x->ndim) || x->ndim > s->v.ndim)
		return false;
	for (uint32_t d = 0; d < s->v.ndim; d++) {
		uint32_t k = d - (s->v.ndim - x->ndim);
		stride[d] = expr_int(t, 0);
		if (d < s->v.ndim - x->ndim)
			continue;
		/* Should the result's size turn out to be 1 too, this only moves a dim that does not
		 * count. */
		Tri one = is_one(t, x->size[k]);
		if (expr_eq(t, x->size[k], s->size[d]) == TRI_MUST || one == TRI_NO)
			stride[d] = x->stride[k];
		else if (one == TRI_MAY)
			return false;
	}
	return true;
}

typedef enum Order { ORDER_KEEP, ORDER_SWAP, ORDER_TIE, ORDER_UNKNOWN } Order;

/* Does one operand say that dim `inner` belongs outside of dim `outer`? */
static Order compare(Types *t, const Shape *s, const ExprId *stride, uint32_t inner, uint32_t outer)
{
	ExprId zero = expr_int(t, 0), one = expr_int(t, 1), a = stride[inner], b = stride[outer];
	Tri none = tri_or(expr_eq(t, a, zero), expr_eq(t, b, zero));
	if (none != TRI_NO)
		return none == TRI_MUST ? ORDER_TIE : ORDER_UNKNOWN;
	if (expr_eq(t, a, b) != TRI_MUST)
		return expr_ge(t, b, expr_add(t, a, one)) == TRI_MUST   ? ORDER_KEEP
		       : expr_ge(t, a, expr_add(t, b, one)) == TRI_MUST ? ORDER_SWAP
		                                                        : ORDER_UNKNOWN;
	a = s->size[inner];
	b = s->size[outer];
	return expr_ge(t, a, expr_add(t, b, one)) == TRI_MUST ? ORDER_SWAP
	       : expr_ge(t, b, a) == TRI_MUST                 ? ORDER_TIE
	                                                      : ORDER_UNKNOWN;
}

static Order compare_all(Types *t, const Shape *s, ExprId (*stride)[TYPE_DIMS_MOST], uint32_t n,
                         uint32_t inner, uint32_t outer)
{
	for (uint32_t i = 0; i < n; i++) {
		Order o = compare(t, s, stride[i], inner, outer);
		if (o != ORDER_TIE)
			return o;
	}
	return ORDER_TIE;
}

/* Insertion sort of the dims, innermost first, that passes over what no operand decides. */
static bool sort_dims(Types *t, const Shape *s, ExprId (*stride)[TYPE_DIMS_MOST], uint32_t n,
                      uint32_t *order)
{
	for (uint32_t i = 0; i < s->v.ndim; i++)
		order[i] = s->v.ndim - 1 - i;
	for (uint32_t i = 1; i < s->v.ndim; i++)
		for (uint32_t outer = i, inner = i; inner-- > 0;) {
			Order o = compare_all(t, s, stride, n, order[inner], order[outer]);
			if (o == ORDER_UNKNOWN)
				return false;
			if (o == ORDER_KEEP)
				break;
			if (o == ORDER_SWAP) {
				uint32_t d = order[inner];
				order[inner] = order[outer];
				order[outer] = d;
				outer = inner;
			}
		}
	return true;
}

enum { ORDERING_OPERANDS = 8 }; /* elementwise operators have at most four */

static bool order_of(Types *t, const Shape *s, const LayoutNew *how, uint32_t most, uint32_t *order)
{
	ExprId stride[ORDERING_OPERANDS][TYPE_DIMS_MOST];
	uint32_t n = 0;
	for (uint32_t i = 0; i < how->nops && n < most; i++) {
		const Type *x = type_get(t, how->ops[i]);
		if (x->kind == TK_SYM || x->kind == TK_OTHER)
			continue;
		if (n == ORDERING_OPERANDS || x->kind != TK_TENSOR || !stretched(t, s, x, stride[n]))
			return false;
		n++;
	}
	return sort_dims(t, s, stride, n, order);
}

/* As TensorIterator: dims that come out in their own order are packed as a contiguous tensor is,
 * others by the sizes as they stand. */
static void new_ordering(Types *t, Shape *s, const LayoutNew *how)
{
	uint32_t order[TYPE_DIMS_MOST];
	bool rows = true;
	if (!order_of(t, s, how, ORDERING_OPERANDS, order))
		return;
	for (uint32_t i = 0; i < s->v.ndim; i++)
		rows &= order[i] == s->v.ndim - 1 - i;
	pack(t, s, order, !rows);
}

/* ---- rules ---- */

static void new_preserve(Types *t, Shape *s, const LayoutNew *how, const Type *x)
{
	uint32_t order[TYPE_DIMS_MOST];
	Tri dense = type_is_dense(t, x);
	if (dense == TRI_MUST)
		copy_strides(s, x);
	else if (dense == TRI_NO && order_of(t, s, how, 1, order))
		pack(t, s, order, false);
}

static void new_strict(Types *t, Shape *s, const Type *x)
{
	Tri rows = type_is_contiguous(t, x);
	if (rows == TRI_MAY)
		return;
	Tri last = rows == TRI_MUST ? TRI_NO : type_is_channels_last(t, x, x->ndim);
	if (last == TRI_NO)
		pack_rows(t, s);
	else if (last == TRI_MUST)
		pack_format(t, s, x->ndim == 4 ? MF_CHANNELS_LAST : MF_CHANNELS_LAST_3D);
}

/* Does every operand have the result's sizes? */
static bool all_alike(Types *t, const Shape *s, const LayoutNew *how)
{
	for (uint32_t i = 0; i < how->nops; i++) {
		const Type *x = type_get(t, how->ops[i]);
		if (x->kind != TK_TENSOR || x->ndim != s->v.ndim)
			return false;
		for (uint32_t d = 0; d < x->ndim; d++)
			if (expr_eq(t, x->size[d], s->size[d]) != TRI_MUST)
				return false;
	}
	return true;
}

static bool all_are(Types *t, const LayoutNew *how, Tri (*is)(Types *t, const Type *x))
{
	for (uint32_t i = 0; i < how->nops; i++)
		if (is(t, type_get(t, how->ops[i])) != TRI_MUST)
			return false;
	return how->nops > 0;
}

static Tri is_channels_last_4d(Types *t, const Type *x)
{
	return type_is_channels_last(t, x, 4);
}

static bool same_strides(Types *t, const LayoutNew *how)
{
	const Type *x = type_get(t, how->ops[0]);
	for (uint32_t i = 1; i < how->nops; i++)
		for (uint32_t d = 0; d < x->ndim; d++)
			if (expr_eq(t, x->stride[d], type_get(t, how->ops[i])->stride[d]) != TRI_MUST)
				return false;
	return true;
}

static void new_iterator(Types *t, Shape *s, const LayoutNew *how)
{
	if (!all_alike(t, s, how))
		new_ordering(t, s, how);
	else if (all_are(t, how, type_is_contiguous))
		pack_rows(t, s);
	else if (all_are(t, how, is_channels_last_4d))
		pack_format(t, s, MF_CHANNELS_LAST);
	else if (all_are(t, how, type_is_dense) && same_strides(t, how))
		copy_strides(s, type_get(t, how->ops[0]));
	else
		new_ordering(t, s, how);
}

/* The device: that of the first operand with dims, else of the first that has one. */
static Sym operand_device(Types *t, const LayoutNew *how)
{
	Sym device = {0};
	for (uint32_t i = 0; i < how->nops; i++) {
		const Type *x = type_get(t, how->ops[i]);
		if (x->kind != TK_TENSOR || sym_none(x->device))
			continue;
		if (x->has_shape && x->ndim)
			return x->device;
		if (sym_none(device))
			device = x->device;
	}
	return device;
}

static bool result_sizes(Types *t, Shape *s, const LayoutNew *how)
{
	const Type *x = type_get(t, how->nops ? how->ops[0] : (TypeId){0});
	if (!how->has_size && (how->rule == LAYOUT_ORDERING || how->rule == LAYOUT_ITERATOR))
		return layout_broadcast(t, how->ops, how->nops, s->size, &s->v.ndim);
	if (!how->has_size && !x->has_shape)
		return false;
	s->v.ndim = how->has_size ? how->ndim : x->ndim;
	if (s->v.ndim > TYPE_DIMS_MOST)
		return false;
	for (uint32_t d = 0; d < s->v.ndim; d++)
		s->size[d] = how->has_size ? how->size[d] : x->size[d];
	return true;
}

TypeId layout_new(Types *t, const LayoutNew *how)
{
	Shape s;
	Type x = *type_get(t, how->nops ? how->ops[0] : (TypeId){0});
	s.v = (Type){.kind = TK_TENSOR, .dtype = how->dtype, .size = s.size, .stride = s.stride};
	s.v.device = sym_none(how->device) ? operand_device(t, how) : how->device;
	s.v.has_shape = result_sizes(t, &s, how);
	if (!s.v.has_shape)
		return type_intern(t, &s.v);
	switch (s.v.ndim ? how->rule : LAYOUT_CONTIGUOUS) {
	case LAYOUT_CONTIGUOUS: pack_rows(t, &s); break;
	case LAYOUT_PRESERVE: new_preserve(t, &s, how, &x); break;
	case LAYOUT_SUGGESTED: pack_format(t, &s, type_suggested_format(t, &x)); break;
	case LAYOUT_STRICT: new_strict(t, &s, &x); break;
	case LAYOUT_ASKED:
		if (how->asked == MF_PRESERVE)
			new_preserve(t, &s, how, &x);
		else
			pack_format(t, &s, how->asked);
		break;
	case LAYOUT_SAME: copy_strides(&s, &x); break;
	case LAYOUT_ORDERING: new_ordering(t, &s, how); break;
	case LAYOUT_ITERATOR: new_iterator(t, &s, how); break;
	case LAYOUT_UNKNOWN:
	case LAYOUT_N: break;
	}
	return type_intern(t, &s.v);
}

/* ---- dtype of elementwise results ---- */

/* One group of operands: tensors with dims, 0-d tensors, or numbers. */
typedef struct Group {
	bool any, refused; /* refused: dtypes that do not promote, or one unknown */
	DType dtype;
} Group;

static void group_add(Group *g, DType d)
{
	DType both = g->any ? dtype_promote(g->dtype, d) : d;
	g->refused |= both == DT_NONE;
	g->dtype = both;
	g->any = true;
}

static DType to_complex(DType d)
{
	return d == DT_F64 ? DT_C128 : d == DT_F16 ? DT_C32 : DT_C64;
}

/* A group and one that comes after it: only a higher class counts there. */
static Group group_join(Group high, Group low)
{
	DTypeClass h = dtype_class(high.dtype), l = dtype_class(low.dtype);
	Group both = {.any = true, .dtype = high.dtype};
	if (!high.any || !low.any)
		return high.any ? high : low;
	if (high.refused || low.refused)
		return (Group){.any = true, .refused = true};
	if (h == DC_COMPLEX || (h == DC_FLOAT && l != DC_COMPLEX))
		return both;
	if (h == DC_FLOAT)
		both.dtype = to_complex(high.dtype);
	else if (h == DC_BOOL || l == DC_FLOAT || l == DC_COMPLEX)
		group_add(&both, low.dtype);
	return both;
}

static DType number_dtype(DType d, DType float_default)
{
	if (dtype_class(d) == DC_FLOAT)
		return float_default;
	if (dtype_class(d) == DC_COMPLEX)
		return to_complex(float_default);
	return d == DT_B8 ? DT_B8 : DT_I64;
}

/* `flat`: count tensors of unknown shape as 0-d. *unsure: there is one. */
static Group join_groups(Types *t, const TypeId *ops, uint32_t nops, DType float_default, bool flat,
                         bool *unsure)
{
	Group dims = {0}, points = {0}, numbers = {0};
	for (uint32_t i = 0; i < nops; i++) {
		const Type *x = type_get(t, ops[i]);
		if (x->kind == TK_OTHER)
			continue;
		if (x->kind == TK_SYM)
			group_add(&numbers, number_dtype(x->dtype, float_default));
		else if (x->has_shape ? x->ndim > 0 : !flat)
			group_add(&dims, x->dtype);
		else
			group_add(&points, x->dtype);
		*unsure |= x->kind == TK_TENSOR && !x->has_shape;
	}
	return group_join(dims, group_join(points, numbers));
}

DType layout_result_dtype(Types *t, const TypeId *ops, uint32_t nops, DType float_default)
{
	bool unsure = false;
	Group g = join_groups(t, ops, nops, float_default, false, &unsure);
	if (g.refused || !g.any)
		return DT_NONE;
	if (unsure) {
		Group other = join_groups(t, ops, nops, float_default, true, &unsure);
		if (other.refused || other.dtype != g.dtype)
			return DT_NONE;
	}
	return g.dtype;
}
