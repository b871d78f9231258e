/* SPDX-License-Identifier: MIT
 * Rules 8 and 14 of the operator facts, and conversions between storage forms: what a dtype or a
 * position decides. */
#include "decide_query.h"

static DTypeClass src_class(const Query *k)
{
	return k->type.dtype ? dtype_class(k->type.dtype) : DC_NONE;
}

static Str src_is_dtype(const Query *k)
{
	return say(k, STR_FMT " is " STR_FMT, STR_ARG(k->x), STR_ARG(dtype_torch(k->type.dtype)));
}

static bool is_op(const Query *k, const char *a, const char *b)
{
	return str_eq(k->op, str_from_c(a)) || (b && str_eq(k->op, str_from_c(b)));
}

/* ---- rule 8: conjugates ---- */

/* Operators that set the lazy bit, or clear it when it is set. */
static bool flips_bit(Str name, bool neg)
{
	static const Str words[] = {STR_INIT("conj"), STR_INIT("_conj"), STR_INIT("adjoint"),
	                            STR_INIT("mH"), STR_INIT("H")};
	if (neg)
		return str_eq(name, S("_neg_view"));
	for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (str_eq(name, words[i]))
			return true;
	return false;
}

static Str callee_word(const DecideCtx *c, const Node *n)
{
	static const Str ops = STR_INIT("torch.ops.");
	Str t = sym_str(c->p->names, n->target), ns = {0}, packet = {0};
	if (!str_starts(t, ops))
		return str_last(t);
	t = str_sub(t, ops.n, t.n);
	str_cut(&t, '.', &ns);
	return str_cut(&t, '.', &packet) ? packet : t;
}

/* Is src lazily conjugated or negated? New memory never is; a view hands the bit on. What comes
 * into the graph may be. The walk back over views is short on purpose. */
static Tri lazy_bit(const Query *k, bool neg)
{
	const DecideCtx *c = k->c;
	const Arg *a = k->src;
	bool flipped = false;
	for (int steps = 0; steps < 16 && a && a->kind == AR_NODE; steps++) {
		const Node *n = graph_node(c->g, a->u.node);
		if (n->kind != NK_CALL || n->callee == CALLEE_MODULE)
			return TRI_MAY;
		Str word = callee_word(c, n), target = sym_str(c->p->names, n->target);
		const Fact *f = facts_find(c->f, (Callee)n->callee, target, c->torch);
		if (!f || f->joined || (neg && str_eq(word, S("imag"))))
			return TRI_MAY;
		if (f->kind == FK_FRESH || str_eq(word, neg ? S("resolve_neg") : S("resolve_conj")))
			return flipped ? TRI_MUST : TRI_NO;
		if (f->kind != FK_VIEW || f->nalias != 1)
			return TRI_MAY;
		flipped ^= flips_bit(word, neg);
		a = call_arg(c->f, c->g, n, f->alias[0].index, sym_str(c->p->names, f->alias[0].name));
	}
	return TRI_MAY;
}

/* Of real tensors only the imaginary part of a conjugate can be lazily negative. */
static bool may_be_lazy(const Query *k, bool neg)
{
	DTypeClass dc = src_class(k);
	if (dc == DC_COMPLEX || dc == DC_NONE)
		return true;
	return neg && k->src->kind == AR_NODE &&
	       str_eq(callee_word(k->c, graph_node(k->c->g, k->src->u.node)), S("imag"));
}

static Decision resolve(const Query *k)
{
	bool neg = str_eq(k->op, S("resolve_neg"));
	if (!may_be_lazy(k, neg))
		return answer_yes(TRI_MUST, src_is_dtype(k));
	Tri t = tri_not(lazy_bit(k, neg));
	Str clear = x_says(k, neg ? "is not lazily negated" : "is not lazily conjugated");
	Str set = x_says(k, neg ? "is lazily negated" : "is lazily conjugated");
	return answer(t, TRI_MUST, t == TRI_NO ? set : clear, clear);
}

/* An `out` argument is the result; the other arguments are not. */
static bool goes_to_out(const Query *k, int index, Decision *d)
{
	const Arg *out =
		fact_has(k->fact, FT_OUT_KW) || index >= 0 ? query_at(k, index, S("out")) : NULL;
	if (!out || out->kind == AR_NONE)
		return false;
	*d = out == k->src ? answer_yes(TRI_MUST, S("it is the out argument"))
	                   : answer_no(S("the result goes to the out argument"));
	return true;
}

Decision decide_conj(const Query *k)
{
	Decision d;
	DTypeClass dc = src_class(k);
	if (is_op(k, "resolve_conj", "resolve_neg"))
		return resolve(k);
	if (is_op(k, "wrapped_imag", NULL)) {
		if (dc == DC_NONE)
			return answer_maybe(TRI_NO, x_says(k, "is complex"));
		return dc == DC_COMPLEX ? answer_yes(TRI_NO, src_is_dtype(k)) : answer_no(src_is_dtype(k));
	}
	if (goes_to_out(k, k->fact->family == FAM_NUMPY ? 1 : -1, &d))
		return d;
	if (dc == DC_NONE)
		return answer_maybe(TRI_MUST, x_says(k, "is not complex"));
	return dc == DC_COMPLEX ? answer_no(src_is_dtype(k)) : answer_yes(TRI_MUST, src_is_dtype(k));
}

/* ---- rule 14: NumPy ---- */

/* round and abs hand back what they cannot change. */
static Decision unchanged(const Query *k, bool ints)
{
	DTypeClass dc = src_class(k);
	if (dc == DC_NONE)
		return answer_maybe(TRI_MUST,
		                    x_says(k, ints ? "is of an integer or bool dtype" : "is bool"));
	bool same = dc == DC_BOOL || (ints && dc == DC_INT);
	return same ? answer_yes(TRI_MUST, src_is_dtype(k)) : answer_no(src_is_dtype(k));
}

/* getattr of an array: 'T', 'real', 'imag', 'ndim' ... */
static Decision array_attribute(const Query *k)
{
	const Arg *a = query_at(k, 1, S("name"));
	bool complex = src_class(k) == DC_COMPLEX, known = src_class(k) != DC_NONE;
	if (!a || (a->kind != AR_STR && a->kind != AR_NAME))
		return answer_maybe(TRI_MAY, S("the attribute is 'T' or 'real'"));
	Str name = sym_str(k->c->p->names, a->u.sym);
	if (str_eq(name, S("T")))
		return answer_yes(TRI_NO, S("'T' is a view"));
	if (str_eq(name, S("real"))) {
		Tri same = complex ? TRI_NO : TRI_MUST;
		return answer_yes(known ? same : TRI_MAY, S("'real' is a view"));
	}
	if (str_eq(name, S("imag"))) {
		if (!known)
			return answer_maybe(TRI_NO, x_says(k, "is complex"));
		return complex ? answer_yes(TRI_NO, src_is_dtype(k)) : answer_no(src_is_dtype(k));
	}
	return answer_no(S("the attribute is no array"));
}

/* One position: a number gives a view, a tensor or a list a copy. */
static Tri is_position(const Query *k, const Arg *a)
{
	if (a->kind == AR_INT)
		return TRI_MUST;
	if (a->kind != AR_NODE && a->kind != AR_EXPR)
		return a->kind == AR_NAME || a->kind == AR_UNKNOWN ? TRI_MAY : TRI_NO;
	switch (arg_type(k, a).kind) {
	case TK_SYM: return TRI_MUST;
	case TK_TENSOR: return TRI_NO;
	default: return TRI_MAY;
	}
}

/* take(i) and item(i) read one element of the flattened array: a view when flattening is one. */
static Decision element(const Query *k)
{
	bool item = str_starts(k->op, S("wrapped_item"));
	uint32_t n = query_positional(k, 1);
	const Arg *at = query_at(k, 1, S("indices"));
	Decision d;
	if (!item && goes_to_out(k, 3, &d))
		return d;
	if (!at)
		return answer_no(S("it gives a number"));
	Tri t = is_position(k, at);
	for (uint32_t i = 2; item && i <= n; i++)
		t = tri_and(t, is_position(k, query_at(k, (int)i, (Str){0})));
	if (t == TRI_NO)
		return answer_no(S("positions in a tensor or list are copied"));
	bool direct = item ? n > 1 : query_has(k, 2, S("axis"));
	if (!direct) {
		d = decide_flatten(k);
		t = tri_and(t, d.shares);
		if (t == TRI_NO)
			return answer_no(d.because);
		if (d.shares == TRI_MAY)
			return answer_maybe(TRI_NO, d.condition);
	}
	Str number = say(k, STR_FMT " is a number", STR_ARG(arg_words(k, at)));
	return answer(t, TRI_NO, number, number);
}

Decision decide_numpy(const Query *k)
{
	Decision d;
	if (str_has(k->op, S("attr_wrapper")))
		return array_attribute(k);
	if (str_starts(k->op, S("wrapped_take")) || str_starts(k->op, S("wrapped_item")))
		return element(k);
	bool ints = str_has(k->op, S("round")) || str_has(k->op, S("around"));
	if (goes_to_out(k, ints ? 2 : 1, &d))
		return d;
	return unchanged(k, ints);
}

Tri query_returns_tensor(const Query *k)
{
	if (k->n->type.i || (k->n->flags & NF_TYPED))
		return TRI_MUST;
	/* Whether the dump prints annotations shows at the argument. */
	bool annotated =
		k->src && k->src->kind == AR_NODE && graph_node(k->c->g, k->src->u.node)->type.i;
	return annotated ? TRI_NO : TRI_MAY;
}

/* np.resize returns an array, itself without a new shape; x.resize returns nothing and writes x. */
Decision decide_array_resize(const Query *k)
{
	Tri tensor = query_returns_tensor(k);
	const Arg *shape = query_at(k, 1, S("new_shape"));
	if (tensor == TRI_NO)
		return answer_no(S("the method returns nothing"));
	if (shape && shape->kind != AR_NONE)
		return answer_no(S("a new shape is given"));
	Str words = S("it is np.resize without a new shape");
	return answer(tensor, TRI_MUST, words, words);
}

/* ---- storage forms ---- */

/* Dense and sparse: a dump shows strides of strided tensors only. */
static Decision dense_form(const Query *k)
{
	bool strided = k->type.kind == TK_TENSOR && k->type.has_stride;
	bool to_dense = is_op(k, "to_dense", NULL);
	const Arg *layout = to_dense ? NULL : query_at(k, -1, S("layout"));
	bool stays = to_dense || (layout && layout->kind == AR_NAME &&
	                          str_eq(sym_str(k->c->p->names, layout->u.sym), S("torch.strided")));
	if (!strided)
		return answer_maybe(TRI_MUST,
		                    x_says(k, to_dense ? "is already dense" : "is already in that layout"));
	if (!stays)
		return answer_no(x_says(k, "is dense"));
	const Arg *dtype = to_dense ? query_at(k, 1, S("dtype")) : NULL;
	if (!dtype || dtype->kind == AR_NONE)
		return answer_yes(TRI_MUST, x_says(k, "is already dense"));
	DType want =
		dtype->kind == AR_NAME ? dtype_parse(sym_str(k->c->p->names, dtype->u.sym)) : DT_NONE;
	Tri same = want && k->type.dtype ? (want == k->type.dtype ? TRI_MUST : TRI_NO) : TRI_MAY;
	Str asked = say(k, STR_FMT " is already " STR_FMT, STR_ARG(k->x), STR_ARG(arg_words(k, dtype)));
	return answer(same, TRI_MUST, same == TRI_NO ? src_is_dtype(k) : asked, asked);
}

/* Not quantized: converted to float32. */
static Decision dequantize(const Query *k)
{
	if (!k->type.dtype)
		return answer_maybe(TRI_MUST, x_says(k, "is already torch.float32"));
	return k->type.dtype == DT_F32 ? answer_yes(TRI_MUST, src_is_dtype(k))
	                               : answer_no(src_is_dtype(k));
}

Decision decide_storage_form(const Query *k)
{
	if (is_op(k, "to_dense", "to_sparse"))
		return dense_form(k);
	if (is_op(k, "dequantize", NULL))
		return dequantize(k);
	if (is_op(k, "pin_memory", NULL))
		return answer_maybe(fact_same_object(k->fact), x_says(k, "is already in pinned memory"));
	if (is_op(k, "coalesce", NULL))
		return answer_maybe(fact_same_object(k->fact), x_says(k, "is already coalesced"));
	return answer_maybe(fact_same_object(k->fact), x_says(k, "is stored in that form"));
}
