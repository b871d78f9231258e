/* SPDX-License-Identifier: MIT */
#include "decide.h"

#include "decide_query.h"

/* ---- classes that a dump does not decide ---- */

/* Overloads of one spelling: the one that shares takes tensors where the others take numbers. */
static Decision by_kind(const Query *k, const char *condition)
{
	Tri same = k->fact->kind == FK_INPLACE ? TRI_MUST : fact_same_object(k->fact);
	bool list = k->src && (k->src->kind == AR_LIST || k->src->kind == AR_TUPLE);
	TypeKind kind = list && k->src->n ? arg_type(k, arg_kids(k->c->g, k->src)).kind : k->type.kind;
	if (kind == TK_TENSOR)
		return answer_yes(
			same, say(k, STR_FMT " is %s", STR_ARG(k->x), list ? "a list of tensors" : "a tensor"));
	if (kind == TK_SYM || (list && !k->src->n))
		return answer_no(x_says(k, "is no tensor"));
	return answer_maybe(same, say(k, STR_FMT " %s", STR_ARG(k->x), condition));
}

static Decision decide_overload(const Query *k)
{
	if (k->fact->kind == FK_MUTATES) /* every overload has a tensor there */
		return answer_maybe(fact_same_object(k->fact),
		                    S("it is the overload that shares its argument"));
	return by_kind(k, "is a tensor, for which there is an overload");
}

/* NumPy's versions turn the bins into a common dtype first. */
static Decision decide_passed(const Query *k)
{
	Decision d = by_kind(k, "is given as a tensor");
	if (d.shares != TRI_MUST || k->fact->family != FAM_NUMPY)
		return d;
	return answer_maybe(TRI_MUST, x_says(k, "need not be converted"));
}

static Decision decide_data(const Query *k)
{
	if (str_eq(k->op, S("_base")))
		return answer_maybe(TRI_MAY, x_says(k, "is a view"));
	if (str_eq(k->op, S("_autograd_grad")))
		return answer_maybe(TRI_MAY, S("the gradient that comes in is handed on as it is"));
	return answer_maybe(fact_same_object(k->fact),
	                    say(k, "the values in " STR_FMT " allow it", STR_ARG(k->x)));
}

static Decision decide_node(const Query *k)
{
	return answer_maybe(fact_same_object(k->fact),
	                    S("the backward node hands the gradient on as it is"));
}

static Decision decide_placement(const Query *k)
{
	return answer_maybe(fact_same_object(k->fact),
	                    x_says(k, "already has the placements asked for"));
}

static Decision decide_body(const Query *k)
{
	return answer_maybe(
		TRI_MAY, say(k, "the called graph returns " STR_FMT " or a view of it", STR_ARG(k->x)));
}

static Decision decide_inplace_kw(const Query *k)
{
	Tri t = query_inplace(k);
	return answer(t, TRI_MUST, t == TRI_NO ? S("inplace is False") : S("inplace is True"),
	              S("inplace is True"));
}

/* Classes that speak of writes only: the result is new. */
static Decision decide_fresh(const Query *k)
{
	(void)k;
	return answer_no((Str){0});
}

static Decision (*const classes[FC_N])(const Query *) = {
	[FC_CONTIGUOUS] = decide_contiguous,
	[FC_RESHAPE] = decide_reshape,
	[FC_FLATTEN] = decide_flatten,
	[FC_RAVEL] = decide_ravel,
	[FC_TO] = decide_convert,
	[FC_DROPOUT] = decide_dropout,
	[FC_INDEX] = decide_item,
	[FC_CONJ] = decide_conj,
	[FC_EINSUM] = decide_einsum,
	[FC_SIZE] = decide_size,
	[FC_ONE] = decide_one,
	[FC_EMPTY] = decide_empty,
	[FC_SMALL] = decide_small,
	[FC_NUMPY] = decide_numpy,
	[FC_METHOD] = decide_array_resize,
	[FC_LAYOUT] = decide_storage_form,
	[FC_INPLACE_KW] = decide_inplace_kw,
	[FC_BUFFERS] = decide_fresh,
	[FC_OVERLOAD] = decide_overload,
	[FC_DATA] = decide_data,
	[FC_PASSED] = decide_passed,
	[FC_WEIGHTS] = decide_fresh,
	[FC_NODE] = decide_node,
	[FC_PLACEMENT] = decide_placement,
	[FC_KERNEL] = decide_fresh,
	[FC_BODY] = decide_body,
};

/* A row without a class: what its kind says. */
static Decision by_fact_kind(const Query *k)
{
	switch (k->fact->kind) {
	case FK_VIEW: return answer_yes(fact_same_object(k->fact), (Str){0});
	case FK_INPLACE:
	case FK_OUT:
	case FK_METADATA: return answer_yes(TRI_MUST, (Str){0});
	case FK_FRESH:
	case FK_SCALAR:
	case FK_EFFECT: return answer_no((Str){0});
	default: return answer_maybe(TRI_MAY, say(k, STR_FMT " shares it", STR_ARG(k->op)));
	}
}

/* Not given, or no tensor: nothing to share. What an item is taken from may be a container. */
static bool nothing_to_share(const Query *k)
{
	if (k->fact->cond == FC_BODY)
		return false;
	if (!k->src)
		return true;
	switch ((ArgKind)k->src->kind) {
	case AR_NONE:
	case AR_BOOL:
	case AR_INT:
	case AR_FLOAT:
	case AR_STR: return true;
	default: break;
	}
	return k->type.kind == TK_SYM && k->fact->cond != FC_INDEX;
}

Decision decide_alias(const DecideCtx *c, NodeId n, const Fact *fact, const Arg *src)
{
	Query k = query_make(c, n, fact, src);
	if (nothing_to_share(&k))
		return answer_no(S("no tensor is given"));
	if (!classes[fact->cond])
		return by_fact_kind(&k);
	if (fact->kind == FK_INPLACE && fact->cond != FC_OVERLOAD)
		return answer_yes(TRI_MUST, S("it is in place"));
	return classes[fact->cond](&k);
}
