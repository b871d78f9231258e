/* SPDX-License-Identifier: MIT
 * Rule 6 of the operator facts: a dropout that drops nothing returns its argument. */
#include "decide_query.h"

/* What decides whether anything is dropped. */
typedef struct Drop {
	Tri training, p, empty;
	Str p_words;
	bool module;
} Drop;

static bool is_module(const Query *k)
{
	return k->fact->family == FAM_MODULE;
}

static void drop_of_module(const Query *k, Drop *d)
{
	Str p;
	if (query_mode(k))
		d->training = query_mode(k) == 1 ? TRI_MUST : TRI_NO;
	if (ctor_value(k->c->ctor, S("p"), &p)) {
		d->p = text_truth(p);
		d->p_words = p;
	}
}

/* F.dropout calls the switch `training`, torch.dropout and the operators `train`. */
static void drop_of_function(const Query *k, Drop *d)
{
	const Arg *p = query_param(k, S("p"));
	bool functional = query_default(k, S("training")).n || query_param(k, S("training"));
	d->training = query_truth(k, functional ? S("training") : S("train"));
	d->p = query_truth(k, S("p"));
	d->p_words = p ? arg_words(k, p) : query_default(k, S("p"));
}

static Drop drop_of(const Query *k)
{
	Drop d = {.training = TRI_MAY, .p = TRI_MAY, .empty = TRI_NO, .module = is_module(k)};
	if (d.module)
		drop_of_module(k, &d);
	else
		drop_of_function(k, &d);
	/* Only a printed 0 counts: sizes that are not shown are not taken for a possible one. */
	bool empty = k->type.kind == TK_TENSOR && k->type.has_shape &&
	             type_is_empty(k->c->t, &k->type) == TRI_MUST;
	d.empty = empty ? TRI_MUST : TRI_NO;
	return d;
}

static Str p_is(const Query *k, const Drop *d)
{
	return say(k, "p is " STR_FMT, STR_ARG(d->p_words));
}

static Clauses dropout_idle(const Query *k)
{
	Drop d = drop_of(k);
	Clauses s = clauses_any(k);
	clause_add(&s, tri_not(d.training),
	           d.module ? S("the module is in eval mode") : S("training is False"),
	           d.module ? S("the module is in train mode") : S("training is True"));
	clause_add(&s, tri_not(d.p), S("p is 0"), p_is(k, &d));
	clause_add(&s, d.empty, x_says(k, "is empty"), (Str){0});
	return s;
}

Clauses dropout_writes(const Query *k)
{
	Drop d = drop_of(k);
	Clauses s = clauses_all(k);
	clause_add(&s, d.training, d.module ? S("the module is in train mode") : S("training is True"),
	           d.module ? S("the module is in eval mode") : S("training is False"));
	clause_add(&s, d.p, d.p == TRI_MUST ? p_is(k, &d) : S("p is not 0"), S("p is 0"));
	clause_add(&s, tri_not(d.empty), (Str){0}, x_says(k, "is empty"));
	return s;
}

Tri query_inplace(const Query *k)
{
	/* A view in every mode, joined: in place in train mode, idle in eval mode. */
	if (k->fact->kind == FK_INPLACE || (is_module(k) && k->fact->kind == FK_VIEW))
		return TRI_MUST;
	if (is_module(k))
		return TRI_NO; /* rows of modules that are in place have a kind of their own */
	const Arg *a = query_param(k, S("inplace"));
	if (a)
		return arg_truth(k, a);
	return text_truth(query_default(k, S("inplace"))) == TRI_MUST ? TRI_MUST : TRI_NO;
}

/* dropout1d and dropout3d add a batch dim to an input without one and take it away again: a new
 * view. */
static Tri same_when_idle(const Query *k)
{
	uint32_t batched = 0;
	if (str_ends(k->op, S("ropout1d")))
		batched = 3;
	else if (str_ends(k->op, S("ropout3d")))
		batched = 5;
	if (!batched)
		return TRI_MUST;
	if (k->type.kind != TK_TENSOR || !k->type.has_shape)
		return TRI_MAY;
	return k->type.ndim == batched ? TRI_MUST : TRI_NO;
}

Decision decide_dropout(const Query *k)
{
	Tri inplace = query_inplace(k);
	if (inplace == TRI_MUST)
		return answer_yes(TRI_MUST, S("it is in place"));
	Clauses idle = dropout_idle(k);
	if (inplace == TRI_MAY && idle.all != TRI_MUST)
		clause_add(&idle, TRI_MAY, S("inplace is True"), (Str){0});
	Decision d = clauses_answer(&idle, same_when_idle(k), (Str){0});
	d.traced_copy = fact_has(k->fact, FT_TRACED_COPY);
	return d;
}
