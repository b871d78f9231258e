/* SPDX-License-Identifier: MIT
 * sem: tensors without operands: constants, ranges, data that the dump prints, random numbers. */
#include "sem_call.h"

static const Arg *fill_arg(const Sem *s)
{
	return s->arg[SROLE_VALUE];
}

static DType own_dtype(Sem *s)
{
	SemTensor x;
	DType d = sem_result_dtype(s);
	return d == DT_NONE && sem_tensor(s, SROLE_INPUT, &x) ? x.dtype : d;
}

/* zeros, ones: by name; full: by value. */
bool sem_constant(Sem *s, TermId *out)
{
	TermId v = term_num(s->t, str_eq(sym_str(s->names, s->op), S("one")), 'i');
	DType from = DT_I64, to = own_dtype(s);
	SemTensor x;
	if (fill_arg(s) && sem_tensor_of(s, fill_arg(s), &x)) {
		if (x.numel != 1)
			return false;
		v = x.e[0];
		from = x.dtype;
	} else if (fill_arg(s) && !sem_number_of(s, fill_arg(s), &v, &from)) {
		return false;
	}
	to = to != DT_NONE || !fill_arg(s) ? to : from == DT_F64 ? DT_F32 : from;
	if (to == DT_NONE && !fill_arg(s))
		to = DT_F32;
	for (uint32_t k = 0; k < s->numel; k++)
		out[k] = sem_convert(s, v, from, to);
	return true;
}

static TermId number_or(Sem *s, SemRole r, double dflt, DType *d)
{
	TermId t = term_num(s->t, dflt, 'i');
	*d = DT_I64;
	if (sem_given(s, r) && !sem_number_of(s, s->arg[r], &t, d))
		t = sem_unknown(s, r);
	return t;
}

static bool is_whole(double v)
{
	return v > -9e15 && v < 9e15 && v == (double)(int64_t)v;
}

bool sem_arange(Sem *s, TermId *out)
{
	DType ds, de;
	TermId start = number_or(s, SROLE_START, 0, &ds), step = number_or(s, SROLE_STEP, 1, &de);
	DType to = own_dtype(s);
	double a, b;
	bool known = sem_known(s, start, &a) && sem_known(s, step, &b);
	bool whole = known && is_whole(a) && is_whole(b);
	for (uint32_t k = 0; k < s->numel; k++) {
		TermId v = term_num(s->t, k, 'i');
		if (whole)
			v = term_num(s->t, a + k * b, 'i');
		else
			v = sem_op2(s, "add", start, sem_op2(s, "mul", v, step));
		out[k] = whole && to != DT_NONE ? sem_convert(s, v, DT_I64, to) : v;
	}
	return true;
}

bool sem_eye(Sem *s, TermId *out)
{
	DType to = own_dtype(s);
	if (s->ndim != 2)
		return false;
	to = to == DT_NONE ? DT_F32 : to;
	for (uint32_t k = 0; k < s->numel; k++)
		out[k] = sem_convert(s, term_num(s->t, k / s->size[1] == k % s->size[1], 'i'), DT_I64, to);
	return true;
}

typedef struct Nest {
	const Arg *v;
	uint32_t n, i;
} Nest;

/* The numbers of nested lists, in order. */
bool sem_data(Sem *s, TermId *out)
{
	Nest stack[SEM_MAX_DIMS + 1];
	uint32_t n = 1, k = 0;
	DType to = own_dtype(s);
	SemTensor x;
	if (!s->arg[SROLE_VALUE])
		return false;
	stack[0] = (Nest){s->arg[SROLE_VALUE], 1, 0};
	while (n) {
		Nest *top = &stack[n - 1];
		if (top->i == top->n) {
			n--;
			continue;
		}
		const Arg *a = &top->v[top->i++];
		if (a->kind == AR_LIST || a->kind == AR_TUPLE) {
			if (n > SEM_MAX_DIMS)
				return false;
			stack[n++] = (Nest){arg_kids(s->g, a), a->n, 0};
			continue;
		}
		TermId t;
		DType from;
		if (sem_tensor_of(s, a, &x)) {
			for (uint32_t i = 0; i < x.numel && k < s->numel; i++)
				out[k++] = sem_convert(s, x.e[i], x.dtype, to == DT_NONE ? x.dtype : to);
		} else if (sem_number_of(s, a, &t, &from) && k < s->numel) {
			out[k++] = sem_convert(s, t, from, to);
		} else {
			return false;
		}
	}
	return k == s->numel;
}

/* Fresh numbers; what the call gives (bounds, probabilities) goes into them. */
bool sem_random(Sem *s, TermId *out)
{
	TermList params = {.a = s->a};
	SemTensor x;
	/* bernoulli takes probabilities; what is written in place was not read */
	bool by_element = !s->inplace && sem_tensor(s, SROLE_INPUT, &x) && x.numel == s->numel;
	sem_push_more(s, &params);
	TermId rest = params.v.n ? sem_list_op(s, "params", &params, 0) : (TermId){0};
	for (uint32_t k = 0; k < s->numel; k++) {
		TermId v[3] = {sem_fresh(s, k)};
		uint32_t n = 1;
		if (by_element)
			v[n++] = x.e[k];
		if (rest.i)
			v[n++] = rest;
		out[k] = n == 1 ? v[0] : term_op(s->t, s->op, v, n, 0);
	}
	return true;
}

static bool is_eval(const Sem *s)
{
	const Fact *f = s->c->fact;
	return f && f->family == FAM_MODULE && str_has(sym_str(s->names, f->name), S("[eval]"));
}

/* Inactive: the argument itself. Active, or perhaps active: by chance. p == 0 is inactive. */
bool sem_dropout(Sem *s, TermId *out)
{
	SemTensor x;
	bool active;
	TermId p;
	DType d;
	double v;
	if (!sem_tensor(s, SROLE_INPUT, &x) || x.numel != s->numel)
		return false;
	bool known = sem_bool_or(s, SROLE_TRAINING, !is_eval(s), &active);
	if (!sem_given(s, SROLE_P) || !sem_number_of(s, s->arg[SROLE_P], &p, &d))
		p = sem_given(s, SROLE_P) ? sem_unknown(s, 0) : sem_float(s, 0.5);
	bool zero = sem_known(s, p, &v) && v == 0;
	for (uint32_t k = 0; k < s->numel; k++) {
		if (s->member == 1) /* native_dropout: the mask */
			out[k] = sem_fresh(s, k);
		else if (zero || (known && !active))
			out[k] = x.e[k];
		else
			out[k] = sem_op(s, "dropout", (TermId[]){x.e[k], sem_fresh(s, k), p}, 3, 0);
		if (!known && s->member != 1 && !zero)
			out[k] = sem_op2(s, "dropout_if", out[k], sem_unknown(s, k));
	}
	return true;
}
