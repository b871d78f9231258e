/* SPDX-License-Identifier: MIT
 * Rules 1 to 4, 10 and 11 of the operator facts: what sizes and strides decide. */
#include "decide_query.h"
#include "layout.h"

/* Lists of sizes longer than any tensor has dims are not followed. */
enum { SIZES_MOST = 64 };

static bool has_shape(const Type *v)
{
	return v->kind == TK_TENSOR && v->has_shape;
}

/* ---- memory formats ---- */

MemoryFormat arg_format(const Query *k, const Arg *a, MemoryFormat dflt)
{
	static const struct {
		Str word;
		MemoryFormat format;
	} words[] = {
		{STR_INIT("contiguous_format"), MF_CONTIGUOUS}, /* numbers: c10/core/MemoryFormat.h */
		{STR_INIT("preserve_format"), MF_PRESERVE},
		{STR_INIT("channels_last"), MF_CHANNELS_LAST},
		{STR_INIT("channels_last_3d"), MF_CHANNELS_LAST_3D},
	};
	enum { N = sizeof words / sizeof words[0] };
	if (!a || a->kind == AR_NONE)
		return dflt;
	if (a->kind == AR_INT && a->u.num >= 0 && a->u.num < N)
		return words[a->u.num].format;
	if (a->kind == AR_NAME || a->kind == AR_STR)
		for (uint32_t i = 0; i < N; i++)
			if (str_eq(str_last(sym_str(k->c->p->names, a->u.sym)), words[i].word))
				return words[i].format;
	return MF_UNKNOWN;
}

Str format_words(MemoryFormat f)
{
	switch (f) {
	case MF_CONTIGUOUS: return S("torch.contiguous_format");
	case MF_CHANNELS_LAST: return S("torch.channels_last");
	case MF_CHANNELS_LAST_3D: return S("torch.channels_last_3d");
	case MF_PRESERVE: return S("torch.preserve_format");
	default: return S("the memory format asked for");
	}
}

Tri query_is_packed(const Query *k, MemoryFormat f)
{
	uint32_t dims = f == MF_CHANNELS_LAST_3D ? 5 : 4;
	switch (f) {
	case MF_PRESERVE: return TRI_MUST; /* contiguous() refuses anything but a contiguous input */
	case MF_UNKNOWN: return TRI_MAY;
	case MF_CONTIGUOUS:
		return has_shape(&k->type) ? type_is_contiguous(k->c->t, &k->type) : TRI_MAY;
	default:
		if (!has_shape(&k->type))
			return TRI_MAY;
		return k->type.ndim == dims ? type_is_channels_last(k->c->t, &k->type, dims) : TRI_NO;
	}
}

static Str packed_words(const Query *k, MemoryFormat f, Str x, const char *is)
{
	if (f == MF_CONTIGUOUS)
		return say(k, STR_FMT " %s contiguous", STR_ARG(x), is);
	return say(k, STR_FMT " %s contiguous in " STR_FMT, STR_ARG(x), is, STR_ARG(format_words(f)));
}

/* Do two printed layouts differ for sure? */
static bool differ(Types *t, const Type *a, const Type *b, bool strides)
{
	bool d = a->ndim != b->ndim;
	for (uint32_t i = 0; !d && i < a->ndim; i++)
		d = expr_eq(t, a->size[i], b->size[i]) == TRI_NO ||
		    (strides && expr_eq(t, a->stride[i], b->stride[i]) == TRI_NO);
	return d;
}

/* Is src the very object that the call returns, of which a later call writes the layout? One object prints with one
 * layout, so names that print differently are two. And a copy has the sizes of src: where the result was given its
 * printed ones later, and src prints with those, they are one. */
static Tri is_written_object(const Query *k)
{
	const NodeTypes *nt = k->c->nt;
	if (!nt->object || k->src->kind != AR_NODE || nt->cluster[k->src->u.node.i] != nt->cluster[k->id.i])
		return TRI_MAY;
	const LayoutWrite *w = nt->writes + nt->write_at[nt->cluster[k->id.i]];
	uint32_t n = nt->nwrites[nt->cluster[k->id.i]];
	for (uint32_t i = 0; i < n; i++)
		if (w[i].node.i < k->id.i || w[i].object != nt->object[k->id.i])
			return TRI_MAY;
	Type src = *type_get(k->c->t, graph_node(k->c->g, k->src->u.node)->type), out = *type_get(k->c->t, k->n->type),
		 made = *type_get(k->c->t, nt->v[k->id.i]);
	if (!n || !has_shape(&src) || !has_shape(&out) || !src.has_stride || !out.has_stride)
		return TRI_MAY;
	if (differ(k->c->t, &src, &out, true))
		return TRI_NO;
	return has_shape(&made) && differ(k->c->t, &src, &made, false) ? TRI_MUST : TRI_MAY;
}

static Decision answer_packed(const Query *k, MemoryFormat f, Tri same)
{
	Tri t = query_is_packed(k, f), one = t == TRI_MAY && k->src ? is_written_object(k) : TRI_MAY;
	if (one == TRI_NO)
		return answer_no(say(k, STR_FMT " and the result print as two tensors", STR_ARG(k->x)));
	if (one == TRI_MUST)
		return answer_yes(same, say(k, STR_FMT " prints with the sizes that the result is given later", STR_ARG(k->x)));
	if (t == TRI_MAY)
		return answer_maybe(same, packed_words(k, f, k->x, "is already"));
	if (f == MF_PRESERVE)
		return answer_yes(same, S("torch.preserve_format accepts only what is contiguous already"));
	return answer(t, same, packed_words(k, f, query_layout(k), t == TRI_MUST ? "is" : "is not"),
	              (Str){0});
}

/* ---- rule 1 ---- */

/* Tensor.resize is contiguous().view(); the functional operators of these names always copy. */
static Decision resized(const Query *k)
{
	if (k->fact->family == FAM_DISPATCH)
		return answer_no(S("the functional form copies"));
	return answer_packed(k, MF_CONTIGUOUS, TRI_NO);
}

Decision decide_contiguous(const Query *k)
{
	Tri same = fact_same_object(k->fact);
	if (str_eq(k->op, S("resize")) || str_eq(k->op, S("resize_as")))
		return resized(k);
	if (k->fact->family != FAM_NUMPY)
		return answer_packed(k, arg_format(k, query_param(k, S("memory_format")), MF_CONTIGUOUS),
		                     same);
	Decision dtype = decide_convert(k), layout = answer_packed(k, MF_CONTIGUOUS, same);
	if (dtype.shares == TRI_MUST || layout.shares == TRI_NO)
		return layout;
	if (dtype.shares == TRI_NO || layout.shares == TRI_MUST)
		return dtype;
	return answer_maybe(
		same, say(k, STR_FMT " and " STR_FMT, STR_ARG(layout.condition), STR_ARG(dtype.condition)));
}

/* ---- rule 2 ---- */

/* A copy would be contiguous: what the dump prints as anything else is a view. Its innermost stride
 * would be printed as 1, so an expression there is none either, whatever its value. */
static bool result_is_no_copy(const Query *k)
{
	Type out = *type_get(k->c->t, k->c->nt->v[k->id.i]);
	if (!has_shape(&out) || !out.has_stride || !out.ndim)
		return false;
	ExprId one = expr_int(k->c->t, 1), size = out.size[out.ndim - 1];
	bool inner = expr_eq(k->c->t, size, one) == TRI_NO && type_is_empty(k->c->t, &out) == TRI_NO;
	return type_is_contiguous(k->c->t, &out) == TRI_NO ||
	       (inner && expr_eq(k->c->t, out.stride[out.ndim - 1], one) != TRI_MUST);
}

static Decision answer_viewed(const Query *k, Tri shares, Tri same, Str to)
{
	const char *can = shares == TRI_NO ? "cannot" : "can";
	if (shares == TRI_MAY && !k->type.wrapped && result_is_no_copy(k))
		return answer_yes(same, S("the result is not contiguous, as a copy would be"));
	if (shares == TRI_MUST && k->type.wrapped) /* a subclass decides itself what its views do */
		shares = TRI_MAY;
	Str x = shares == TRI_MAY ? k->x : query_layout(k);
	Str words = say(k, STR_FMT " %s be viewed as " STR_FMT "%s", STR_ARG(x), can, STR_ARG(to),
	                shares == TRI_MAY ? " without a copy" : "");
	return answer(shares, same, words, words);
}

/* The sizes of another tensor. */
static bool sizes_of(const Type *v, const ExprId **size, uint32_t *n)
{
	*size = v->size;
	*n = v->ndim;
	return has_shape(v);
}

/* The members of a list of sizes. */
static bool sizes_listed(const Query *k, const Arg *list, const ExprId **size, uint32_t *n)
{
	const DecideCtx *c = k->c;
	if ((list->kind != AR_LIST && list->kind != AR_TUPLE) || list->n > SIZES_MOST)
		return false;
	ExprId *v = NEW_N(c->a, ExprId, list->n);
	for (uint32_t i = 0; i < list->n; i++) {
		v[i] = infer_expr(c->nt, c->g, c->t, c->p->names, &arg_kids(c->g, list)[i]);
		if (!v[i].i)
			return false;
	}
	*size = v;
	*n = list->n;
	return true;
}

/* Sizes given from position `from` on, or as the keyword `name`. */
static bool sizes_given(const Query *k, uint32_t from, Str name, const ExprId **size, uint32_t *n)
{
	const DecideCtx *c = k->c;
	const Arg *a = query_at(k, (int)from, name);
	if (!a)
		return false;
	if (!sym_none(a->key))
		return sizes_listed(k, a, size, n);
	return infer_shape(c->nt, c->g, c->t, c->p->names, k->n, from, size, n, c->a) &&
	       *n <= SIZES_MOST;
}

static bool reshape_target(const Query *k, const ExprId **size, uint32_t *n)
{
	const DecideCtx *c = k->c;
	Type out = *type_get(c->t, c->nt->v[k->id.i]);
	if (sizes_of(&out, size, n))
		return true;
	if (str_eq(k->op, S("reshape_as"))) {
		const Arg *other = query_at(k, 1, S("other"));
		Type like = other ? arg_type(k, other) : (Type){0};
		return sizes_of(&like, size, n);
	}
	if (str_eq(k->op, S("_reshape_from_tensor")))
		return false; /* the sizes are the values of a tensor */
	return sizes_given(k, 1, k->fact->family == FAM_NUMPY ? S("newshape") : S("shape"), size, n);
}

/* The target is not known: what holds for every shape. */
static Decision any_view(const Query *k, Tri same)
{
	if (has_shape(&k->type) && !k->type.wrapped) {
		if (k->type.ndim == 0 || type_is_empty(k->c->t, &k->type) == TRI_MUST ||
		    type_is_contiguous(k->c->t, &k->type) == TRI_MUST)
			return answer_yes(
				same, say(k, STR_FMT " can be viewed in every shape", STR_ARG(query_layout(k))));
	}
	return answer_viewed(k, TRI_MAY, same, S("the new shape"));
}

Decision decide_reshape(const Query *k)
{
	const ExprId *size = NULL;
	uint32_t n = 0;
	Tri shares = TRI_MAY;
	if (!reshape_target(k, &size, &n))
		return any_view(k, TRI_NO);
	if (has_shape(&k->type))
		layout_reshape(k->c->t, k->tid, size, n, &shares);
	return answer_viewed(k, shares, TRI_NO, shape_words(k, size, n));
}

/* ---- rule 3 ---- */

/* A dim of flatten: by keyword or position, or as a module prints it, else the default. */
static bool flatten_dim(const Query *k, int index, Str name, int64_t dflt, int64_t *out)
{
	Str text;
	*out = dflt;
	if (k->fact->family == FAM_NUMPY)
		return true;
	if (k->fact->family == FAM_MODULE)
		return ctor_value(k->c->ctor, name, &text) && str_to_i64(text, out);
	const Arg *a = query_at(k, index, name);
	return !a || arg_int(k, a, out);
}

/* The dims are not known; the printed result may still say what was joined. */
static Decision flatten_by_result(const Query *k)
{
	Type out = *type_get(k->c->t, k->c->nt->v[k->id.i]);
	Tri shares = TRI_MAY, same = TRI_MAY;
	if (!has_shape(&out) || !has_shape(&k->type))
		return any_view(k, TRI_MAY);
	layout_reshape(k->c->t, k->tid, out.size, out.ndim, &shares);
	if (k->type.ndim != out.ndim)
		same = TRI_NO;
	else if (k->type.ndim == 1)
		same = TRI_MUST;
	return answer_viewed(k, shares, same, shape_words(k, out.size, out.ndim));
}

Decision decide_flatten(const Query *k)
{
	int64_t start, end;
	Tri shares = TRI_MAY, same = TRI_MAY;
	if (query_at(k, -1, S("out_dim")) || !flatten_dim(k, 1, S("start_dim"), 0, &start) ||
	    !flatten_dim(k, 2, S("end_dim"), -1, &end))
		return flatten_by_result(k);
	if (!has_shape(&k->type)) {
		if (start != end)
			return any_view(k, TRI_MAY);
		bool may_have_none = start == 0 || start == -1; /* without dims the result is a new view */
		return answer_yes(may_have_none ? TRI_MAY : TRI_MUST, S("it flattens a single dim"));
	}
	Type out = *type_get(k->c->t, layout_flatten(k->c->t, k->tid, start, end, &shares, &same));
	if (shares == TRI_MUST && same == TRI_MUST)
		return answer_yes(TRI_MUST, S("it flattens a single dim"));
	return answer_viewed(k, shares, same,
	                     has_shape(&out) ? shape_words(k, out.size, out.ndim) : S("the new shape"));
}

/* ---- rule 4 ---- */

Decision decide_ravel(const Query *k)
{
	Decision d = answer_packed(k, MF_CONTIGUOUS, TRI_NO);
	return d.shares == TRI_MUST && k->type.wrapped ? any_view(k, TRI_NO) : d;
}

/* ---- rule 10 ---- */

static Tri same_sizes(const Query *k, const ExprId *size, uint32_t n)
{
	Tri t = n == k->type.ndim ? TRI_MUST : TRI_NO;
	for (uint32_t i = 0; i < n && t != TRI_NO; i++)
		t = tri_and(t, expr_eq(k->c->t, k->type.size[i], size[i]));
	return t;
}

Decision decide_size(const Query *k)
{
	const ExprId *size = NULL;
	uint32_t n = 0;
	Str same = x_says(k, "already has the sizes asked for");
	if (!has_shape(&k->type))
		return answer_maybe(TRI_MUST, same);
	if (k->type.ndim == 0)
		return answer_no(x_says(k, "has no dims"));
	if (!sizes_given(k, 1, S("size"), &size, &n)) {
		Type out = *type_get(k->c->t, k->c->nt->v[k->id.i]);
		if (!sizes_of(&out, &size, &n))
			return answer_maybe(TRI_MUST, same);
	}
	Tri t = same_sizes(k, size, n);
	Str sum = say(k, STR_FMT " is summed to " STR_FMT, STR_ARG(query_layout(k)),
	              STR_ARG(shape_words(k, size, n)));
	return answer(t, TRI_MUST, t == TRI_NO ? sum : same, same);
}

/* ---- few or no elements ---- */

static Tri dim_is(const Query *k, int64_t dim, int64_t size)
{
	const Type *v = &k->type;
	if (!has_shape(v) || !v->ndim)
		return TRI_MAY;
	if (dim < 0)
		dim += v->ndim;
	if (dim < 0 || dim >= v->ndim)
		return TRI_MAY;
	return expr_eq(k->c->t, v->size[dim], expr_int(k->c->t, size));
}

/* diff returns its argument when there is nothing in the dim that it goes along; with n=0 it
 * copies, and only the NumPy function hands its argument back then. */
static Decision diff(const Query *k)
{
	bool numpy = k->fact->family == FAM_NUMPY;
	int64_t n = 1, dim = -1;
	const Arg *times = query_at(k, 1, S("n")),
			  *along = query_at(k, 2, numpy ? S("axis") : S("dim"));
	if (times && !arg_int(k, times, &n))
		return answer_maybe(TRI_MUST, say(k, STR_FMT " is 0", STR_ARG(arg_words(k, times))));
	if (n == 0)
		return numpy ? answer_yes(TRI_MUST, S("n is 0")) : answer_no(S("n is 0, which copies"));
	if (query_has(k, 3, S("prepend")) || query_has(k, 4, S("append")))
		return answer_no(S("something is put before or behind it first"));
	bool known = !along || arg_int(k, along, &dim);
	if (known ? dim_is(k, dim, 0) == TRI_MUST
	          : has_shape(&k->type) && type_is_empty(k->c->t, &k->type) == TRI_MUST &&
	                k->type.ndim == 1)
		return answer_yes(TRI_MUST, x_says(k, "is empty in that dim"));
	return answer_no(x_says(k, "is not shown to be empty in that dim"));
}

Decision decide_empty(const Query *k)
{
	if (str_eq(k->op, S("diff")) || str_eq(k->op, S("wrapped_diff")))
		return diff(k);
	if (has_shape(&k->type) && type_is_empty(k->c->t, &k->type) == TRI_MUST)
		return answer_yes(fact_same_object(k->fact), x_says(k, "has no elements"));
	return answer_no(x_says(k, "is not shown to be empty"));
}

/* The input of cumprod_backward decides, also by a single element in the dim that it went along
 * (torch/csrc/autograd/FunctionsManual.cpp, read). */
static Decision cumprod_backward(const Query *k)
{
	const Arg *input = query_at(k, 1, S("input")), *along = query_at(k, 2, S("dim"));
	Query of = *k;
	int64_t dim;
	of.x = S("the input");
	if (input) {
		of.type = arg_type(k, input);
		of.x = arg_words(k, input);
	}
	Str few = say(k, STR_FMT " has at most one element in that dim", STR_ARG(of.x));
	if (!has_shape(&of.type))
		return answer_maybe(TRI_MUST, few);
	ExprId two = expr_int(k->c->t, 2);
	Tri more = expr_ge(k->c->t, type_numel(k->c->t, &of.type), two);
	Tri one = arg_int(k, along, &dim) ? dim_is(&of, dim, 1) : TRI_MAY;
	Str many = say(k, STR_FMT " has more than one element in that dim", STR_ARG(of.x));
	Tri t = tri_or(tri_not(more), one);
	return answer(t, TRI_MUST, t == TRI_NO ? many : few, few);
}

Decision decide_small(const Query *k)
{
	if (str_eq(k->op, S("cumprod_backward")))
		return cumprod_backward(k);
	Str few = x_says(k, "has at most one element");
	if (!has_shape(&k->type))
		return answer_maybe(TRI_MUST, few);
	bool plain =
		!query_has(k, 1, S("dim")) && !query_has(k, -1, S("mask")) && !query_has(k, -1, S("dtype"));
	if (plain && k->type.ndim == 0)
		return answer_yes(TRI_MUST, x_says(k, "has no dims"));
	ExprId two = expr_int(k->c->t, 2);
	if (expr_ge(k->c->t, type_numel(k->c->t, &k->type), two) == TRI_MUST)
		return answer_no(x_says(k, "has more than one element"));
	return answer_maybe(TRI_MUST, few);
}

/* ---- rule 11 ---- */

/* Operands given as one list or as separate arguments; false when their number is not shown. */
static bool operands(const Query *k, uint32_t *n)
{
	const Arg *first = query_at(k, 0, S("tensors"));
	if (!first)
		return false;
	if (first->kind == AR_LIST || first->kind == AR_TUPLE) {
		*n = first->n;
		return true;
	}
	*n = query_positional(k, 0);
	return *n > 1 || arg_type(k, first).kind == TK_TENSOR;
}

/* src may be the list; then its only member is what is shared. */
static Query only_member(const Query *k)
{
	if (!k->src || (k->src->kind != AR_LIST && k->src->kind != AR_TUPLE) || k->src->n != 1)
		return *k;
	Query one = *k;
	one.src = arg_kids(k->c->g, k->src);
	one.tid = infer_arg(k->c->nt, k->c->g, k->c->t, one.src);
	one.type = *type_get(k->c->t, one.tid);
	one.x = arg_words(k, one.src);
	return one;
}

Decision decide_one(const Query *k)
{
	uint32_t n = 0;
	bool joins =
		!str_has(k->op, S("flatten")); /* else _flatten_dense_tensors: contiguous().view(-1) */
	Tri same = joins ? TRI_MUST : TRI_NO;
	if (!operands(k, &n))
		return answer_maybe(same, S("a single tensor is given"));
	if (n != 1)
		return answer_no(say(k, "%u tensors are given", n));
	Query one = only_member(k);
	return joins ? answer_yes(TRI_MUST, S("a single tensor is given")) : decide_ravel(&one);
}
