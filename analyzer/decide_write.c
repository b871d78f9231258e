/* SPDX-License-Identifier: MIT
 * Conditional writes: the word after `?` in the column `mutates` of the operator facts. */
#include "decide_query.h"

static Decision wrote(const Query *k, Tri t, Str because, Str condition)
{
	Decision d = {.writes = t};
	if (t == TRI_MAY)
		d.condition = condition.n ? condition : say(k, "the call writes " STR_FMT, STR_ARG(k->x));
	else
		d.because = because;
	return d;
}

static Decision wrote_if(const Query *k, Tri t, const char *yes, const char *no)
{
	return wrote(k, t, str_from_c(t == TRI_NO ? no : yes), str_from_c(yes));
}

static Decision wrote_clauses(const Clauses *s)
{
	Decision a = clauses_answer(s, TRI_NO, (Str){0});
	return (Decision){.writes = a.shares, .condition = a.condition, .because = a.because};
}

/* ---- parameters of functions ---- */

/* Also of an overload that params.tsv lists only without it (native_batch_norm.out). */
static Tri packet_truth(const Query *k, Str name)
{
	Str target = sym_str(k->c->p->names, k->n->target);
	const Overload *ov = NULL;
	const Arg *a = query_param(k, name);
	if (a || query_default(k, name).n)
		return query_truth(k, name);
	uint32_t dot = str_rfind(target, S("."));
	uint32_t n = facts_params(k->c->f, (Callee)k->n->callee, str_sub(target, 0, dot), &ov);
	for (uint32_t i = 0; i < n && !a; i++)
		for (uint32_t j = 0; j < ov[i].n && !a; j++)
			if (str_eq(sym_str(k->c->p->names, ov[i].v[j].name), name))
				a = query_at(k, (int)j, name);
	return a ? arg_truth(k, a) : TRI_MAY;
}

static Decision when_training(const Query *k)
{
	return wrote_if(k, packet_truth(k, S("training")), "training is True", "training is False");
}

static Decision when_input_stats(const Query *k)
{
	return wrote_if(k, packet_truth(k, S("use_input_stats")), "use_input_stats is True",
	                "use_input_stats is False");
}

static Decision when_amsgrad(const Query *k)
{
	return wrote_if(k, packet_truth(k, S("amsgrad")), "amsgrad is True", "amsgrad is False");
}

/* Is something passed for a parameter whose default is None? What a graph computes is something. */
static Tri passed(const Query *k, Str name)
{
	const Arg *a = query_param(k, name);
	return a && a->kind != AR_NONE ? TRI_MUST : TRI_NO;
}

static Decision when_max_norm(const Query *k)
{
	return wrote_if(k, passed(k, S("max_norm")), "max_norm is given", "max_norm is not given");
}

static Decision when_grad_scale(const Query *k)
{
	return wrote_if(k, passed(k, S("grad_scale")), "grad_scale is given",
	                "grad_scale is not given");
}

static Decision when_dropout(const Query *k)
{
	Clauses s = dropout_writes(k);
	return wrote_clauses(&s);
}

static Decision when_inplace(const Query *k)
{
	Tri inplace = query_inplace(k);
	Clauses s = clauses_all(k);
	if (k->fact->cond == FC_DROPOUT && inplace != TRI_NO)
		s = dropout_writes(k);
	clause_add(&s, inplace, S("inplace is True"), S("inplace is False"));
	return wrote_clauses(&s);
}

/* x.sort() and x.resize() of arrays write and return nothing; the functions return a tensor. */
static Decision when_method(const Query *k)
{
	return wrote_if(k, tri_not(query_returns_tensor(k)),
	                "it is the method of the array, which returns nothing",
	                "it is the function, which returns a tensor");
}

/* ---- cov ---- */

/* Of the copies that the NumPy function may make first, those that show at the call. */
static Tri numpy_cov_may_write(const Query *k)
{
	const Arg *rows = query_at(k, 2, S("rowvar"));
	if (query_has(k, 1, S("y")) ||
	    (k->type.dtype && k->type.dtype != DT_F64 && k->type.dtype != DT_C128))
		return TRI_NO;
	return rows && arg_truth(k, rows) != TRI_MUST ? TRI_NO : TRI_MAY;
}

/* Since 2.11 the mean is subtracted in place from a single observation. */
static Decision when_weights(const Query *k)
{
	bool numpy = k->fact->family == FAM_NUMPY;
	bool f = query_has(k, numpy ? 5 : -1, S("fweights")),
		 a = query_has(k, numpy ? 6 : -1, S("aweights"));
	const Type *v = &k->type;
	Tri one = TRI_MAY;
	if (v->kind == TK_TENSOR && v->has_shape)
		one = v->ndim ? expr_eq(k->c->t, v->size[v->ndim - 1], expr_int(k->c->t, 1)) : TRI_MUST;
	Clauses s = clauses_all(k);
	clause_add(&s, f != a ? TRI_MUST : TRI_NO, S("one of fweights and aweights is given"),
	           S("it is not the case that one of fweights and aweights is given"));
	clause_add(&s, one, x_says(k, "holds a single observation"),
	           x_says(k, "holds more than one observation"));
	if (numpy)
		clause_add(&s, numpy_cov_may_write(k), x_says(k, "is not copied first"),
		           x_says(k, "is copied first"));
	if (k->fact->joined)
		clause_add(&s, TRI_MAY, S("PyTorch is 2.11 or later"), (Str){0});
	return wrote_clauses(&s);
}

/* ---- point-to-point collectives ---- */

/* batch_p2p_ops(op_list, ...): what is received is written. */
static Decision when_received(const Query *k)
{
	const Arg *list = query_at(k, 0, S("op_list"));
	bool send = false, receive = false,
		 odd = !list || (list->kind != AR_LIST && list->kind != AR_TUPLE);
	for (uint32_t i = 0; !odd && i < list->n; i++) {
		const Arg *a = &arg_kids(k->c->g, list)[i];
		bool text = a->kind == AR_STR || a->kind == AR_NAME;
		Str s = text ? str_last(sym_str(k->c->p->names, a->u.sym)) : (Str){0};
		bool s_send = str_eq(s, S("isend")), s_recv = str_eq(s, S("irecv"));
		send |= s_send;
		receive |= s_recv;
		odd = !s_send && !s_recv;
	}
	Tri t = TRI_MAY;
	if (!odd && send != receive)
		t = receive ? TRI_MUST : TRI_NO;
	return wrote_if(k, t, "its entry in op_list is 'irecv'", "every entry in op_list is 'isend'");
}

/* ---- buffers and parameters of modules ---- */

static bool op_starts(const Query *k, const char *s)
{
	return str_starts(k->op, str_from_c(s));
}

static void mode_clause(const Query *k, Clauses *s)
{
	Tri train = TRI_MAY;
	if (query_mode(k))
		train = query_mode(k) == 1 ? TRI_MUST : TRI_NO;
	clause_add(s, train, S("the module is in train mode"), S("the module is in eval mode"));
}

static void stats_clause(const Query *k, Clauses *s)
{
	Str v;
	Tri t = ctor_value(k->c->ctor, S("track_running_stats"), &v) ? text_truth(v) : TRI_MAY;
	clause_add(s, t, S("the module tracks running statistics"),
	           S("the module tracks no running statistics"));
}

/* Until 2.10 an InstanceNorm in eval mode writes its statistics back with equal values. */
static Decision instance_norm_eval(const Query *k)
{
	Clauses s = clauses_all(k);
	stats_clause(k, &s);
	clause_add(&s, TRI_MAY, S("statistics that are written back unchanged count as written"),
	           (Str){0});
	return wrote_clauses(&s);
}

static Decision when_buffers(const Query *k)
{
	Str v;
	Clauses s = clauses_all(k);
	if (op_starts(k, "Embedding")) {
		bool shown = k->c->ctor.n > 0, given = ctor_value(k->c->ctor, S("max_norm"), &v);
		Tri t = given ? text_truth(v) : shown ? TRI_NO : TRI_MAY;
		if (given && !str_eq(v, S("None")))
			t = TRI_MUST; /* a norm of 0 too */
		return wrote_if(k, t, "max_norm is given", "max_norm is not given");
	}
	bool instance = op_starts(k, "InstanceNorm");
	if (!instance && !op_starts(k, "BatchNorm") && !op_starts(k, "SyncBatchNorm"))
		return wrote_if(k, TRI_MAY, "the module updates its buffers", "");
	if (instance && query_mode(k) == 2)
		return instance_norm_eval(k);
	mode_clause(k, &s);
	stats_clause(k, &s);
	return wrote_clauses(&s);
}

/* ---- all together ---- */

static Decision by_class(const Query *k)
{
	switch (k->fact->cond) {
	case FC_DROPOUT: return when_dropout(k);
	case FC_INPLACE_KW: return when_inplace(k);
	case FC_BUFFERS: return when_buffers(k);
	case FC_WEIGHTS: return when_weights(k);
	case FC_METHOD: return when_method(k);
	case FC_KERNEL: return wrote_if(k, TRI_MAY, "the kernel stores to it", "");
	case FC_BODY: return wrote_if(k, TRI_MAY, "the called graph writes it", "");
	case FC_NODE: return wrote_if(k, TRI_MAY, "gradients are accumulated in place", "");
	default: break;
	}
	return wrote(
		k, TRI_MAY, (Str){0},
		say(k, STR_FMT " writes " STR_FMT " in some calls only", STR_ARG(k->op), STR_ARG(k->x)));
}

static Decision by_word(const Query *k, Str when)
{
	static const struct {
		Str word;
		Decision (*decide)(const Query *);
	} words[] = {
		{STR_INIT("training"), when_training}, {STR_INIT("use_input_stats"), when_input_stats},
		{STR_INIT("inplace"), when_inplace},   {STR_INIT("max_norm"), when_max_norm},
		{STR_INIT("dropout"), when_dropout},   {STR_INIT("grad_scale"), when_grad_scale},
		{STR_INIT("amsgrad"), when_amsgrad},   {STR_INIT("weights"), when_weights},
		{STR_INIT("method"), when_method},     {STR_INIT("op_list"), when_received},
	};
	for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (str_eq(when, words[i].word))
			return words[i].decide(k);
	if (!when.n)
		return by_class(k);
	/* A parameter named in a row of the user's own. */
	Tri t = packet_truth(k, when);
	return wrote(k, t, say(k, STR_FMT " is %s", STR_ARG(when), t == TRI_MUST ? "set" : "not set"),
	             say(k, STR_FMT " is set", STR_ARG(when)));
}

/* Of joined rows only some write it. That the mode of a module is not known is a condition of its
 * own. */
static Decision capped(const Query *k, const FactArg *what, Decision d)
{
	if (!what->sometimes || k->fact->family == FAM_MODULE || d.writes != TRI_MUST)
		return d;
	return wrote(k, TRI_MAY, (Str){0},
	             S("the version of PyTorch, or the overload, is one that writes it"));
}

Decision decide_write(const DecideCtx *c, NodeId n, const Fact *fact, const FactArg *what)
{
	const Node *node = graph_node(c->g, n);
	Str name = sym_str(c->p->names, what->name);
	bool held = what->buffer || what->parameter; /* by the module */
	const Arg *src = held ? NULL : call_arg(c->f, c->g, node, what->index, name);
	Query k = query_make(c, n, fact, src);
	if (held || !src)
		k.x = name;
	if (!held && what->index >= 0 && !src)
		return wrote(&k, TRI_NO, str_printf(c->a, STR_FMT " is not given", STR_ARG(name)),
		             (Str){0});
	if (src && src->kind == AR_NONE)
		return wrote(&k, TRI_NO, str_printf(c->a, STR_FMT " is None", STR_ARG(name)), (Str){0});
	if (!what->maybe && fact->cond != FC_DROPOUT)
		return capped(&k, what, wrote(&k, TRI_MUST, (Str){0}, (Str){0}));
	return capped(&k, what, by_word(&k, sym_str(c->p->names, what->when)));
}
