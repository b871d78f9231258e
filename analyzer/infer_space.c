/* SPDX-License-Identifier: MIT
 * infer: sizes of what works on the last dims of images: convolution, pooling, padding, resampling.
 */
#include "infer_call.h"

/* One number per spatial dim, from an int or a list (one of a single element counts for all). */
static bool per_dim(Call *c, ShapeRole role, int64_t dflt, uint32_t n, int64_t *v)
{
	uint32_t given = 0;
	if (c->arg[role] && !call_ints(c, role, v, TYPE_DIMS_MOST, &given))
		return false;
	if (given > 1 && given != n)
		return false;
	for (uint32_t i = given; i < n; i++)
		v[i] = given ? v[0] : dflt;
	for (uint32_t i = 0; i < n; i++)
		if (v[i] < INT32_MIN || v[i] > INT32_MAX) /* products below stay in 64 bits */
			return false;
	return true;
}

/* What slides over a dim. */
typedef struct Window {
	int64_t kernel, stride, padding, dilation;
	bool ceil;
} Window;

/* (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1; with ceil the last window must start
 * inside. */
static ExprId slide(Call *c, ExprId size, const Window *w)
{
	int64_t add = 2 * w->padding - w->dilation * (w->kernel - 1) - 1, n;
	if (w->stride <= 0 || w->dilation <= 0 || w->kernel <= 0)
		return (ExprId){0};
	if (!expr_value(c->t, size, &n)) {
		ExprId span = expr_add(c->t, size, expr_int(c->t, add));
		if (w->ceil)
			return (ExprId){0};
		return expr_add(c->t, expr_floordiv(c->t, span, expr_int(c->t, w->stride)),
		                expr_int(c->t, 1));
	}
	if (n < 0 || n > INT32_MAX || n + add < 0)
		return (ExprId){0};
	int64_t out = (n + add + (w->ceil ? w->stride - 1 : 0)) / w->stride + 1;
	if (w->ceil && (out - 1) * w->stride >= n + w->padding)
		out--;
	return expr_int(c->t, out);
}

/* Number of spatial dims: those after batch and channels, which the name of an operator or its
 * weight tell. */
static uint32_t spatial_by_name(const Call *c)
{
	Str name = sym_str(c->in->names, c->n->target);
	for (uint32_t i = 0; i + 1 < name.n; i++)
		if (name.p[i] >= '1' && name.p[i] <= '3' && name.p[i + 1] == 'd')
			return (uint32_t)(name.p[i] - '0');
	return 0;
}

static bool string_padding(Call *c, bool *same, bool *valid)
{
	const Arg *a = c->arg[SR_PADDING];
	Str s = a && a->kind == AR_STR ? sym_str(c->in->names, a->u.sym) : S("");
	*same = str_eq(s, S("same"));
	*valid = str_eq(s, S("valid"));
	return s.n > 0;
}

typedef struct ConvArgs {
	int64_t stride[TYPE_DIMS_MOST], padding[TYPE_DIMS_MOST], dilation[TYPE_DIMS_MOST];
	int64_t output_padding[TYPE_DIMS_MOST];
	bool same;
} ConvArgs;

static bool conv_args(Call *c, uint32_t n, ConvArgs *v)
{
	bool valid, by_word = string_padding(c, &v->same, &valid);
	if (by_word && !v->same && !valid)
		return false;
	if (by_word)
		memset(v->padding, 0, sizeof v->padding);
	else if (!per_dim(c, SR_PADDING, 0, n, v->padding))
		return false;
	return per_dim(c, SR_STRIDE, 1, n, v->stride) && per_dim(c, SR_DILATION, 1, n, v->dilation) &&
	       per_dim(c, SR_OUTPUT_PADDING, 0, n, v->output_padding);
}

static ExprId unslide(Call *c, ExprId size, const ConvArgs *v, uint32_t i, int64_t kernel)
{
	ExprId before = expr_sub(c->t, size, expr_int(c->t, 1));
	int64_t add = -2 * v->padding[i] + v->dilation[i] * (kernel - 1) + v->output_padding[i] + 1;
	return expr_add(c->t, expr_mul(c->t, before, expr_int(c->t, v->stride[i])),
	                expr_int(c->t, add));
}

static bool conv(Call *c, bool transposed)
{
	const Type *w = call_tensor(c, SR_WEIGHT);
	ConvArgs v;
	int64_t groups = 1, kernel;
	if (!w || w->ndim < 3 || !call_sizes_like(c, call_input(c)) ||
	    (c->ndim != w->ndim && c->ndim + 1 != w->ndim))
		return false;
	uint32_t spatial = w->ndim - 2, first = c->ndim - spatial;
	if (!conv_args(c, spatial, &v) || (c->arg[SR_GROUPS] && !call_int(c, SR_GROUPS, &groups)))
		return false;
	c->size[first - 1] =
		transposed ? expr_mul(c->t, w->size[1], expr_int(c->t, groups)) : w->size[0];
	for (uint32_t i = 0; i < spatial; i++) {
		if (!expr_value(c->t, w->size[2 + i], &kernel) || kernel > INT32_MAX)
			return false;
		Window win = {kernel, v.stride[i], v.padding[i], v.dilation[i], false};
		if (transposed)
			c->size[first + i] = unslide(c, c->size[first + i], &v, i, kernel);
		else if (!v.same)
			c->size[first + i] = slide(c, c->size[first + i], &win);
	}
	return true;
}

bool infer_size_conv(Call *c, Result *r)
{
	bool transposed;
	(void)r;
	return call_bool(c, SR_TRANSPOSED, false, &transposed) && conv(c, transposed);
}

bool infer_size_conv_transpose(Call *c, Result *r)
{
	(void)r;
	return conv(c, true);
}

bool infer_size_pool(Call *c, Result *r)
{
	int64_t kernel[TYPE_DIMS_MOST], stride[TYPE_DIMS_MOST], padding[TYPE_DIMS_MOST],
		dilation[TYPE_DIMS_MOST];
	uint32_t n = spatial_by_name(c);
	bool ceil;
	(void)r;
	if (!n || !call_sizes_like(c, call_input(c)) || c->ndim <= n ||
	    !call_bool(c, SR_CEIL, false, &ceil) || !per_dim(c, SR_KERNEL, 0, n, kernel) ||
	    !per_dim(c, SR_STRIDE, 0, n, stride) || !per_dim(c, SR_PADDING, 0, n, padding) ||
	    !per_dim(c, SR_DILATION, 1, n, dilation))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		Window w = {kernel[i], stride[i] ? stride[i] : kernel[i], padding[i], dilation[i], ceil};
		ExprId *size = &c->size[c->ndim - n + i];
		*size = slide(c, *size, &w);
	}
	return true;
}

/* The last n sizes from a number or list; None in it keeps the input's. */
static bool last_sizes(Call *c, uint32_t n)
{
	ExprId v[TYPE_DIMS_MOST];
	const Arg *kids;
	uint32_t given, listed = 0;
	if (!call_exprs(c, SR_SHAPE, v, &given) || (given != 1 && given != n) || c->ndim < n)
		return false;
	if (!call_list(c, SR_SHAPE, &kids, &listed) || listed != given)
		listed = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = given == 1 ? 0 : i;
		if (listed && kids[from].kind == AR_NONE)
			continue;
		c->size[c->ndim - n + i] = v[from];
	}
	return true;
}

bool infer_size_adaptive(Call *c, Result *r)
{
	uint32_t n = spatial_by_name(c);
	(void)r;
	return n && call_sizes_like(c, call_input(c)) && last_sizes(c, n);
}

static bool scales(Call *c, uint32_t n, double *v)
{
	const Arg *a = c->arg[SR_SCALE], *kids = a;
	uint32_t given = 1;
	if (!a)
		return false;
	if (a->kind == AR_LIST || a->kind == AR_TUPLE) {
		kids = arg_kids(c->g, a);
		given = a->n;
	}
	if (given != 1 && given != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const Arg *k = &kids[given == 1 ? 0 : i];
		if (k->kind != AR_FLOAT && k->kind != AR_INT)
			return false;
		v[i] = k->kind == AR_INT ? (double)k->u.num : k->u.real;
	}
	return true;
}

bool infer_size_interpolate(Call *c, Result *r)
{
	double by[TYPE_DIMS_MOST];
	(void)r;
	if (!call_sizes_like(c, call_input(c)) || c->ndim < 3)
		return false;
	uint32_t n = c->ndim - 2;
	if (c->arg[SR_SHAPE])
		return last_sizes(c, n);
	if (!scales(c, n, by))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		int64_t size;
		double out;
		if (!expr_value(c->t, c->size[2 + i], &size))
			return false;
		out = (double)size * by[i];
		if (!(out >= 0 && out < INT32_MAX))
			return false;
		c->size[2 + i] = expr_int(c->t, (int64_t)out);
	}
	return true;
}

bool infer_size_grid_sample(Call *c, Result *r)
{
	const Type *grid = call_tensor(c, SR_OTHER);
	(void)r;
	if (!grid || !call_sizes_like(c, call_input(c)) || c->ndim != grid->ndim || c->ndim < 3)
		return false;
	for (uint32_t i = 2; i < c->ndim; i++)
		c->size[i] = grid->size[i - 1];
	return true;
}

/* Cutting on every side, which keeps the strides of the input where it is dense. */
static bool only_cuts(Call *c, const ExprId *by, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (expr_ge(c->t, expr_int(c->t, 0), by[i]) != TRI_MUST)
			return false;
	const Arg *mode = c->arg[SR_VALUE];
	return !mode ||
	       (mode->kind == AR_STR && str_eq(sym_str(c->in->names, mode->u.sym), S("constant")));
}

/* Pairs (before, after) from the last dim on; negative ones cut. */
bool infer_view_pad(Call *c, Result *r)
{
	ExprId by[TYPE_DIMS_MOST];
	TypeId x = call_input(c);
	uint32_t n;
	if (!call_exprs(c, SR_SHAPE, by, &n) || n % 2 || !call_sizes_like(c, x) || n / 2 > c->ndim)
		return false;
	TypeId cut = x;
	for (uint32_t i = 0; i < n; i += 2) {
		uint32_t d = c->ndim - 1 - i / 2;
		c->size[d] = expr_add(c->t, c->size[d], expr_add(c->t, by[i], by[i + 1]));
		cut = layout_narrow(c->t, cut, d, c->size[d]);
	}
	bool cuts = only_cuts(c, by, n);
	r->one = call_new(c, cuts ? LAYOUT_PRESERVE : LAYOUT_SUGGESTED, type_dtype(c->t, x),
	                  cuts ? &cut : &x, 1, c->size, c->ndim);
	return true;
}

/* torchvision.roi_align: one window per box, the channels of the input. */
bool infer_size_roi(Call *c, Result *r)
{
	const Type *x = call_tensor(c, SR_INPUT), *boxes = call_tensor(c, SR_OTHER);
	(void)r;
	if (!x || !boxes || x->ndim != 4 || !boxes->ndim)
		return false;
	c->ndim = 4;
	c->size[0] = boxes->size[0];
	c->size[1] = x->size[1];
	c->size[2] = call_expr(c, SR_START);
	c->size[3] = call_expr(c, SR_END);
	return true;
}

/* [.., C*k*k, H, W] and [.., C, H*k, W*k]. */
static bool pixel_shuffle(Call *c, bool back)
{
	ExprId k = call_expr(c, SR_COUNT), square = expr_mul(c->t, k, k);
	if (!call_sizes_like(c, call_input(c)) || c->ndim < 3)
		return false;
	for (uint32_t i = 1; i <= 3; i++) {
		ExprId *size = &c->size[c->ndim - i];
		ExprId by = i == 3 ? square : k;
		*size = (i == 3) != back ? expr_floordiv(c->t, *size, by) : expr_mul(c->t, *size, by);
	}
	return true;
}

bool infer_size_pixel_shuffle(Call *c, Result *r)
{
	(void)r;
	return pixel_shuffle(c, false);
}

bool infer_size_pixel_unshuffle(Call *c, Result *r)
{
	(void)r;
	return pixel_shuffle(c, true);
}
