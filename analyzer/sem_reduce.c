/* SPDX-License-Identifier: MIT
 * sem: what works along dims: reductions, running sums, softmax, sorting, normalisation, losses. One term stands for all
 * elements of a lane, so that a result has as many terms as elements and lanes, not as their product. */
#include "sem_call.h"

static bool op_is(const Sem *s, const char *name)
{
	return str_eq(sym_str(s->names, s->op), str_from_c(name));
}

/* Elements in the dtype in which the operator computes, where the call names one. */
static const TermId *elements(Sem *s, const SemTensor *x)
{
	DType to = sem_dtype_of(s, s->arg[SROLE_DTYPE]);
	if (to == DT_NONE &&
	    (op_is(s, "sum") || op_is(s, "prod") || op_is(s, "cumsum") || op_is(s, "cumprod")) &&
	    (dtype_class(x->dtype) == DC_INT || dtype_class(x->dtype) == DC_BOOL))
		to = DT_I64;
	TermId *e = NEW_N(s->a, TermId, (size_t)x->numel + 1);
	for (uint32_t k = 0; k < x->numel; k++)
		e[k] = x->dtype == DT_NONE ? x->e[k] : sem_convert(s, x->e[k], x->dtype, to);
	return e;
}

/* ---- reductions ---- */

/* Of a single element these are that element. */
static bool keeps_one(const Sem *s)
{
	static const char *const names[] = {"sum",       "mean",      "prod",    "amax",
	                                    "amin",      "nansum",    "nanmean", "median",
	                                    "nanmedian", "logsumexp", "mode",    "kthvalue"};
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (op_is(s, names[i]))
			return true;
	return false;
}

/* Number of the results, and whether dim sizes allow it: every lane gives one. */
static bool lanes_match(const Sem *s, const Lanes *l, const SemTensor *x)
{
	return x->numel && l->n == s->numel;
}

bool sem_reduce(Sem *s, TermId *out)
{
	SemTensor x;
	bool in[SEM_MAX_DIMS];
	TermList more = {.a = s->a};
	bool pair = s->cls == SEM_REDUCE_PAIR;
	if (!sem_tensor(s, SROLE_INPUT, &x) || !sem_dims(s, SROLE_DIM, x.ndim, in) || !x.numel)
		return false;
	Lanes l = sem_lanes(s, elements(s, &x), x.size, x.ndim, in);
	if (!lanes_match(s, &l, &x))
		return false;
	sem_push_more(s, &more);
	uint32_t nmore = more.v.n;
	bool one =
		l.length == 1 && nmore == 0 && keeps_one(s) && s->member <= 0 && !op_is(s, "logsumexp");
	for (uint32_t i = 0; i < l.n; i++) {
		more.v.n = nmore;
		sem_push(s, &more, l.term[i]);
		/* member 1: positions of the values, or a further number of the lane */
		uint64_t extra = pair && s->member > 0 ? (uint64_t)s->member : 0;
		out[i] = one ? l.term[i] : term_op(s->t, s->op, more.v.v, more.v.n, extra);
	}
	return true;
}

bool sem_cumulative(Sem *s, TermId *out)
{
	SemTensor x;
	uint32_t d;
	bool in[SEM_MAX_DIMS] = {0};
	if (!sem_tensor(s, SROLE_INPUT, &x) || x.numel != s->numel ||
	    !sem_dim(s, SROLE_DIM, 0, x.ndim, &d))
		return false;
	const TermId *e = elements(s, &x);
	if (x.ndim)
		in[d] = true;
	Lanes l = sem_lanes(s, e, x.size, x.ndim, in);
	TermId *last = NEW_N(s->a, TermId, (size_t)l.n + 1);
	bool places = s->member == 1;
	for (uint32_t k = 0; k < x.numel; k++) { /* row-major: along a lane in order */
		TermId *p = &last[l.of[k]];
		if (l.pos[k])
			*p = term_op(s->t, s->op, (TermId[]){*p, e[k]}, 2, 0);
		else
			*p = e[k];
		out[k] = places ? sem_op(s, "position", p, 1, 0) : *p;
	}
	return true;
}

/* ---- own element and lane ---- */

bool sem_lane(Sem *s, TermId *out)
{
	SemTensor x;
	uint32_t d;
	bool in[SEM_MAX_DIMS] = {0};
	TermList more = {.a = s->a};
	if (!sem_tensor(s, SROLE_INPUT, &x) || x.numel != s->numel || !sem_given(s, SROLE_DIM) ||
	    !sem_dim(s, SROLE_DIM, 0, x.ndim, &d))
		return false;
	const TermId *e = elements(s, &x);
	if (x.ndim)
		in[d] = true;
	Lanes l = sem_lanes(s, e, x.size, x.ndim, in);
	sem_push_more(s, &more);
	uint32_t nmore = more.v.n;
	for (uint32_t k = 0; k < s->numel; k++) {
		more.v.n = nmore;
		sem_push(s, &more, e[k]);
		sem_push(s, &more, l.term[l.of[k]]);
		out[k] = term_op(s->t, s->op, more.v.v, more.v.n, 0);
	}
	return true;
}

/* sort, topk, argsort: position in the order of the lane. topk's results are shorter. */
bool sem_sort(Sem *s, TermId *out)
{
	SemTensor x;
	uint32_t d;
	bool in[SEM_MAX_DIMS] = {0};
	TermList more = {.a = s->a};
	if (!sem_tensor(s, SROLE_INPUT, &x) || !sem_dim(s, SROLE_DIM, -1, x.ndim, &d) ||
	    x.ndim != s->ndim || !x.numel)
		return false;
	if (x.ndim)
		in[d] = true;
	for (uint32_t i = 0; i < x.ndim; i++)
		if (i == d ? s->size[i] > x.size[i] : s->size[i] != x.size[i])
			return false;
	Lanes l = sem_lanes(s, x.e, x.size, x.ndim, in);
	Walk lane = {.n = s->ndim}, pos = {.n = s->ndim};
	int64_t lanes = 1;
	for (uint32_t i = s->ndim; i-- > 0;) {
		lane.size[i] = pos.size[i] = s->size[i];
		lane.step[i] = i == d ? 0 : lanes;
		pos.step[i] = i == d;
		lanes *= i == d ? 1 : s->size[i];
	}
	uint32_t *of = walk_map(s, &lane), *at = walk_map(s, &pos);
	sem_push_more(s, &more);
	uint32_t nmore = more.v.n;
	bool places = s->member == 1 || op_is(s, "argsort");
	for (uint32_t k = 0; k < s->numel; k++) {
		more.v.n = nmore;
		sem_push(s, &more, l.term[of[k]]);
		out[k] = sem_list_op(s, places ? "argsort" : "sort", &more, (uint64_t)at[k] + 1);
	}
	return true;
}

/* ---- losses ---- */

/* Element-wise ones, then their mean or sum. Others depend on everything (sem_opaque). */
bool sem_loss(Sem *s, TermId *out)
{
	SemTensor x, y;
	TermList more = {.a = s->a};
	if (!sem_tensor(s, SROLE_INPUT, &x) || !sem_tensor(s, SROLE_OTHER, &y) || x.numel != y.numel ||
	    !x.numel)
		return false;
	Str how = sem_word(s, s->arg[SROLE_MODE]);
	bool none = str_eq(how, S("none"));
	if ((sem_given(s, SROLE_MODE) && !how.n) || s->numel != (none ? x.numel : 1))
		return false;
	TermId *e = NEW_N(s->a, TermId, (size_t)x.numel + 1);
	sem_push_more(s, &more);
	uint32_t nmore = more.v.n;
	for (uint32_t k = 0; k < x.numel; k++) {
		more.v.n = nmore;
		sem_push(s, &more, x.e[k]);
		sem_push(s, &more, sem_convert(s, y.e[k], y.dtype, x.dtype));
		e[k] = term_op(s->t, s->op, more.v.v, more.v.n, 0);
	}
	if (none)
		memcpy(out, e, x.numel * sizeof *out);
	else if (x.numel == 1)
		out[0] = e[0];
	else
		out[0] = sem_op(s, str_eq(how, S("sum")) ? "sum" : "mean",
		                (TermId[]){sem_vec(s, e, x.numel)}, 1, 0);
	return true;
}

/* ---- normalisation ---- */

/* own element, lane, then weight and bias by position */
static void normalise(Sem *s, const SemTensor *x, const Lanes *l, const TermId *weight,
                      const TermId *bias, TermId *out)
{
	TermList more = {.a = s->a};
	sem_push_more(s, &more);
	TermId params = more.v.n ? sem_list_op(s, "params", &more, 0) : (TermId){0};
	for (uint32_t k = 0; k < x->numel; k++) {
		TermId v[3] = {x->e[k], l->term[l->of[k]], params};
		TermId y = sem_op(s, "normalize", v, params.i ? 3 : 2, 0);
		if (weight)
			y = sem_op2(s, "mul", y, weight[k]);
		out[k] = bias ? sem_op2(s, "add", y, bias[k]) : y;
	}
}

/* A parameter along dim d of x, or as its last dims (d UINT32_MAX), by element; NULL when not given. False: unknown. */
static bool by_element(Sem *s, SemRole r, const SemTensor *x, uint32_t d, const TermId **out)
{
	SemTensor w;
	*out = NULL;
	if (!sem_given(s, r))
		return true;
	if (!sem_tensor(s, r, &w))
		return false;
	if (d != UINT32_MAX) {
		if (d >= x->ndim || w.ndim != 1 || w.numel != x->size[d])
			return false;
		w.ndim = x->ndim - d;
		for (uint32_t i = 1; i < w.ndim; i++)
			w.size[i] = 1;
	}
	Walk fit = walk_of_tensor(&w);
	*out = sem_spread(s, &w, x->size, x->ndim);
	return walk_expand(&fit, x->size, x->ndim);
}

/* Result members behind the first: numbers of the lane. */
static bool lane_numbers(Sem *s, const Lanes *l, TermId *out)
{
	if (s->numel != l->n)
		return false;
	for (uint32_t i = 0; i < l->n; i++)
		out[i] = sem_op(s, "lane_number", &l->term[i], 1, (uint64_t)s->member);
	return true;
}

bool sem_layer_norm(Sem *s, TermId *out)
{
	SemTensor x;
	int64_t dims[SEM_MAX_DIMS];
	uint32_t n;
	bool in[SEM_MAX_DIMS] = {0};
	const TermId *w, *b;
	if (!sem_tensor(s, SROLE_INPUT, &x) || !sem_ints(s, SROLE_SIZE, dims, SEM_MAX_DIMS, &n) ||
	    n > x.ndim || !x.numel || !by_element(s, SROLE_WEIGHT, &x, UINT32_MAX, &w) ||
	    !by_element(s, SROLE_BIAS, &x, UINT32_MAX, &b))
		return false;
	for (uint32_t i = 0; i < n; i++)
		in[x.ndim - 1 - i] = true;
	Lanes l = sem_lanes(s, x.e, x.size, x.ndim, in);
	if (s->member > 0)
		return lane_numbers(s, &l, out);
	if (x.numel != s->numel)
		return false;
	normalise(s, &x, &l, w, b, out);
	return true;
}

/* Per sample and group of channels; instance_norm: a group is a channel. */
bool sem_group_norm(Sem *s, TermId *out)
{
	SemTensor x, y;
	int64_t groups;
	bool in[SEM_MAX_DIMS] = {0};
	const TermId *w, *b;
	if (!sem_tensor(s, SROLE_INPUT, &x) || x.ndim < 2 || x.ndim + 1 > SEM_MAX_DIMS || !x.numel ||
	    s->member > 0 || x.numel != s->numel || sem_given(s, SROLE_MEAN) ||
	    sem_given(s, SROLE_VAR) || !by_element(s, SROLE_WEIGHT, &x, 1, &w) ||
	    !by_element(s, SROLE_BIAS, &x, 1, &b) || !sem_int_or(s, SROLE_GROUPS, x.size[1], &groups) ||
	    groups < 1 || x.size[1] % groups)
		return false;
	y = x;
	memmove(y.size + 2, y.size + 1, (x.ndim - 1) * sizeof *y.size);
	y.size[1] = groups;
	y.size[2] /= groups;
	y.ndim++;
	for (uint32_t d = 2; d < y.ndim; d++)
		in[d] = true;
	Lanes l = sem_lanes(s, x.e, y.size, y.ndim, in);
	normalise(s, &x, &l, w, b, out);
	return true;
}

/* In training the statistics are those of the batch, and the running ones are written: asked for with member
 * SEM_MEMBER_ARG + position of the argument, or as members 3 and 4 of the functional form. */
static bool batch_written(Sem *s, const Lanes *l, TermId *out)
{
	SemTensor mean, var;
	bool has_mean = sem_tensor(s, SROLE_MEAN, &mean), has_var = sem_tensor(s, SROLE_VAR, &var);
	const Arg *v = node_args(s->g, s->n);
	uint32_t at = (uint32_t)s->member - SEM_MEMBER_ARG;
	const Arg *asked = s->member >= SEM_MEMBER_ARG && at < s->n->nargs ? &v[at] : NULL;
	bool is_mean = asked ? asked == s->arg[SROLE_MEAN] : s->member == 3;
	bool is_var = asked ? asked == s->arg[SROLE_VAR] : s->member == 4;
	const SemTensor *old = is_mean && has_mean ? &mean : is_var && has_var ? &var : NULL;
	TermList more = {.a = s->a};
	if (!old || old->numel != s->numel || l->n != s->numel)
		return false;
	sem_push_more(s, &more);
	uint32_t n = more.v.n;
	for (uint32_t i = 0; i < s->numel; i++) {
		more.v.n = n;
		sem_push(s, &more, old->e[i]);
		sem_push(s, &more, l->term[i]);
		out[i] = sem_list_op(s, is_mean ? "running_mean" : "running_var", &more, 0);
	}
	return true;
}

static void batch_eval(Sem *s, const SemTensor *x, const TermId *const *stat, TermId *out)
{
	TermList more = {.a = s->a};
	sem_push_more(s, &more);
	TermId params = more.v.n ? sem_list_op(s, "params", &more, 0) : (TermId){0};
	for (uint32_t k = 0; k < x->numel; k++) {
		TermId v[4] = {x->e[k], stat[0][k], stat[1][k], params};
		TermId y = sem_op(s, "normalize_by", v, params.i ? 4 : 3, 0);
		if (stat[2])
			y = sem_op2(s, "mul", y, stat[2][k]);
		out[k] = stat[3] ? sem_op2(s, "add", y, stat[3][k]) : y;
	}
}

bool sem_batch_norm(Sem *s, TermId *out)
{
	SemTensor x;
	bool training, in[SEM_MAX_DIMS] = {0};
	const TermId *stat[4]; /* mean, variance, weight, bias */
	static const SemRole roles[4] = {SROLE_MEAN, SROLE_VAR, SROLE_WEIGHT, SROLE_BIAS};
	if (!sem_tensor(s, SROLE_INPUT, &x) || x.ndim < 2 || !x.numel ||
	    !sem_bool_or(s, SROLE_TRAINING, str_has(sym_str(s->names, s->op), S("functional")),
	                 &training))
		return false;
	for (uint32_t i = 0; i < 4; i++)
		if (!by_element(s, roles[i], &x, 1, &stat[i]))
			return false;
	for (uint32_t d = 0; d < x.ndim; d++)
		in[d] = d != 1;
	Lanes l = sem_lanes(s, x.e, x.size, x.ndim, in);
	training = training || !stat[0] || !stat[1];
	if (s->member >= 3)
		return training && batch_written(s, &l, out);
	if (s->member > 0)
		return training && lane_numbers(s, &l, out);
	if (x.numel != s->numel)
		return false;
	if (training)
		normalise(s, &x, &l, stat[2], stat[3], out);
	else
		batch_eval(s, &x, stat, out);
	return true;
}

/* ---- pools and resampling ---- */

/* Each element from all of its sample and channel (the dims that are not spatial: count), by position. */
bool sem_per_channel(Sem *s, TermId *out)
{
	SemTensor x;
	TermList more = {.a = s->a};
	bool in[SEM_MAX_DIMS] = {0};
	int64_t spatial;
	if (!sem_tensor(s, SROLE_INPUT, &x) || !x.numel || !s->numel || x.ndim != s->ndim)
		return false;
	Str op = sym_str(s->names, s->op);
	spatial = str_has(op, S("1d"))   ? 1
	          : str_has(op, S("2d")) ? 2
	          : str_has(op, S("3d")) ? 3
	                                 : (int64_t)x.ndim - 2;
	if (spatial < 1 || spatial > x.ndim)
		return false;
	for (uint32_t d = 0; d < x.ndim; d++) {
		in[d] = d >= x.ndim - (uint32_t)spatial;
		if (!in[d] && x.size[d] != s->size[d])
			return false;
	}
	Lanes l = sem_lanes(s, x.e, x.size, x.ndim, in);
	uint32_t per = s->numel / l.n;
	sem_push_more(s, &more);
	TermId params = more.v.n ? sem_list_op(s, "params", &more, 0) : (TermId){0};
	for (uint32_t k = 0; k < s->numel; k++)
		out[k] = term_op(s->t, s->op, (TermId[]){l.term[k / per], params}, params.i ? 2 : 1,
		                 ((uint64_t)(s->member > 0 ? s->member : 0) << 32) + k % per + 1);
	return true;
}
