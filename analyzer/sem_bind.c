/* SPDX-License-Identifier: MIT
 * sem: the row of a call, and its arguments by role. */
#include "sem_call.h"
#include "shapes.h"

#include <math.h>

/* ---- the name ---- */

static bool dunder(Str s)
{
	return s.n > 4 && str_starts(s, S("__")) && str_ends(s, S("__"));
}

/* add_ -> add; and_ is looked for under its own name before. */
static bool strip_underscore(Str *s)
{
	if (s->n < 2 || !str_ends(*s, S("_")) || str_ends(*s, S("__")))
		return false;
	*s = str_sub(*s, 0, s->n - 1);
	return true;
}

static const SemRow *find_plain(Sem *s, Family f, Str name)
{
	const SemTable *t = s->c->table;
	const SemRow *r = sem_table_find(t, f, name);
	if (r)
		return r;
	uint32_t dot = str_rfind(name, S("."));
	if (f == FAM_DISPATCH && dot < name.n && (r = sem_table_find(t, f, str_sub(name, 0, dot))))
		return r;
	Str base = f == FAM_DISPATCH ? str_sub(name, 0, dot) : name;
	if (!strip_underscore(&base) || !(r = sem_table_find(t, f, base)))
		return NULL;
	s->inplace = true;
	return r;
}

/* iadd is add that writes its first operand. */
static const SemRow *find_operator(Sem *s, Str name)
{
	if (dunder(name))
		name = str_sub(name, 2, name.n - 2);
	const SemRow *r = find_plain(s, FAM_OPERATOR, name);
	if (!r && str_starts(name, S("i"))) {
		r = find_plain(s, FAM_OPERATOR, str_sub(name, 1, name.n));
		s->inplace = r != NULL;
	}
	return r;
}

static bool elementwise(const SemRow *r)
{
	return r && r->cls >= SEM_POINTWISE && r->cls <= SEM_WHERE;
}

/* Rows that are meant for torch.nn.functional alone. */
static const SemRow *find_functional(Sem *s, Str target)
{
	static const Str modules[] = {STR_INIT("torch.nn.functional."), STR_INIT("torch._C._nn.")};
	for (uint32_t i = 0; i < sizeof modules / sizeof *modules; i++)
		if (str_starts(target, modules[i])) {
			Str rest = str_sub(target, modules[i].n, target.n);
			Str own = str_printf(s->a, "nn.functional." STR_FMT, STR_ARG(rest));
			return find_plain(s, FAM_TORCH, own);
		}
	return NULL;
}

/* The class of a module: ReLU of "ReLU[eval](inplace=True)". */
static Str module_class(const Fact *f, const Names *names)
{
	Str name = f && f->family == FAM_MODULE ? sym_str(names, f->name) : (Str){0};
	name = str_sub(name, 0, str_find_char(name, '[', 0));
	return str_sub(name, 0, str_find_char(name, '(', 0));
}

static const SemRow *find_named(Sem *s, Str target, Family family, Str name)
{
	const SemRow *r = NULL;
	if (family == FAM_MODULE)
		return sem_table_find(s->c->table, FAM_MODULE, module_class(s->c->fact, s->names));
	if (str_starts(name, S("_foreach_"))) {
		s->foreach = true;
		return find_plain(s, FAM_DISPATCH, str_sub(name, 9, name.n));
	}
	if (family == FAM_TORCH)
		r = find_functional(s, target);
	if (!r && (family == FAM_OPERATOR || dunder(name)))
		return find_operator(s, name);
	if (!r)
		r = find_plain(s, family, name);
	if (!r && family == FAM_NUMPY) {
		r = find_plain(s, FAM_TORCH, name);
		r = elementwise(r) ? r : NULL;
	}
	return r;
}

static const Fact *fact_of(const Sem *s)
{
	if (s->c->fact || !s->c->facts || s->n->callee == CALLEE_MODULE)
		return s->c->fact;
	return facts_find(s->c->facts, (Callee)s->n->callee, sym_str(s->names, s->n->target),
	                  (VersionSpan){0});
}

/* By the ATen packet behind the spelling; without a row, by the facts' word that it is element-wise. */
static void find_by_fact(Sem *s, Family family, Str name)
{
	const Fact *f = fact_of(s);
	Str aten = f ? sym_str(s->names, f->aten) : (Str){0};
	if (str_starts(aten, S("aten.")) &&
	    (s->row = find_plain(s, FAM_DISPATCH, str_sub(aten, 5, aten.n))))
		return;
	Str base = family == FAM_DISPATCH ? str_sub(name, 0, str_find_char(name, '.', 0)) : name;
	if ((!f || family == FAM_NUMPY) && s->c->facts) {
		Str packet = str_printf(s->a, "torch.ops.aten." STR_FMT, STR_ARG(base));
		f = facts_find(s->c->facts, CALLEE_FUNCTION, packet, (VersionSpan){0});
	}
	if (!f || !fact_has(f, FT_POINTWISE) || fact_has(f, FT_RNG))
		return;
	s->inplace |= strip_underscore(&base);
	s->cls = SEM_POINTWISE;
	s->op = sym_intern(s->names, base);
}

/* ---- parameters ---- */

static bool takes(Sem *s, const SemParam *p, const Arg *a)
{
	SemTensor x;
	if (!a || a->kind == AR_NONE)
		return !p->given;
	if (p->need == SEM_NEED_DTYPE)
		return sem_dtype_of(s, a) != DT_NONE;
	return p->need == SEM_NEED_NONE || sem_tensor_of(s, a, &x) == (p->need == SEM_NEED_TENSOR);
}

static uint32_t positional(const Sem *s, const Arg *v)
{
	uint32_t n = 0;
	while (n < s->n->nargs && sym_none(v[n].key))
		n++;
	return n;
}

static bool same_keyword(Str a, Str b)
{
	return str_eq(a, b) || (str_eq(a, S("self")) && str_eq(b, S("input"))) ||
	       (str_eq(a, S("a")) && str_eq(b, S("input"))) ||
	       (str_eq(a, S("axis")) && str_eq(b, S("dim"))) ||
	       (str_eq(a, S("keepdims")) && str_eq(b, S("keepdim")));
}

static void add_more(Sem *s, const Arg *a, Sym key)
{
	/* They change where a result stands, not what it is. */
	static const Str idle[] = {
		STR_INIT("inplace"),      STR_INIT("memory_format"), STR_INIT("layout"),
		STR_INIT("device"),       STR_INIT("pin_memory"),    STR_INIT("requires_grad"),
		STR_INIT("non_blocking"), STR_INIT("_stacklevel"),   STR_INIT("stable")};
	for (uint32_t i = 0; i < sizeof idle / sizeof *idle; i++)
		if (str_eq(sym_str(s->names, key), idle[i]))
			return;
	if (a->kind == AR_NONE || s->nmore == SEM_MORE_MOST)
		return;
	s->more[s->nmore] = a;
	s->more_key[s->nmore++] = key;
}

/* x[None] is an index, not the absence of one. */
static bool takes_none(const Sem *s, const SemParam *p)
{
	return p->role == SROLE_INDEX && (s->cls == SEM_INDEX || s->cls == SEM_SETITEM);
}

static void bind_one(Sem *s, const SemParam *p, const Arg *a)
{
	if (p->role == SROLE_MORE)
		add_more(s, a, p->keyword);
	else if (p->role != SROLE_NONE && (a->kind != AR_NONE || takes_none(s, p)))
		s->arg[p->role] = a;
}

static const SemParam *param_named(const SemRow *r, const Names *names, Str key)
{
	for (uint32_t i = 0; i < r->nparams; i++)
		if (same_keyword(key, sym_str(names, r->param[i].keyword)))
			return &r->param[i];
	return NULL;
}

static void clear_args(Sem *s)
{
	memset(s->arg, 0, sizeof s->arg);
	s->rest = NULL;
	s->nrest = s->nmore = 0;
	s->rest_role = SROLE_NONE;
	s->out = NULL;
}

static bool bind_row(Sem *s, const SemRow *r, const Arg *v)
{
	uint32_t npos = positional(s, v), k = 0;
	bool got[SEM_PARAMS_MOST] = {0};
	clear_args(s);
	for (uint32_t i = 0; i < npos; i++)
		if (v[i].kind == AR_STARRED)
			return false;
	for (; k < r->nparams && !r->param[k].keyword_only; k++) {
		const SemParam *p = &r->param[k];
		if (k >= npos)
			break;
		if (!takes(s, p, &v[k]))
			return false;
		bind_one(s, p, &v[k]);
		got[k] = v[k].kind != AR_NONE;
		if (p->variadic) {
			s->rest = &v[k];
			s->nrest = npos - k;
			s->rest_role = p->role;
			k = npos;
			break;
		}
	}
	if (k < npos)
		return false;
	for (uint32_t i = npos; i < s->n->nargs; i++) {
		Str key = sym_str(s->names, v[i].key);
		const SemParam *p = param_named(r, s->names, key);
		if (str_eq(key, S("out"))) {
			s->out = &v[i];
			continue;
		}
		if (!p) {
			add_more(s, &v[i], v[i].key);
			continue;
		}
		if (!takes(s, p, &v[i]))
			return false;
		bind_one(s, p, &v[i]);
		got[p - r->param] = v[i].kind != AR_NONE;
	}
	for (uint32_t i = 0; i < r->nparams; i++)
		if (r->param[i].given && !got[i])
			return false;
	return true;
}

/* Without a row every positional argument is an operand. */
static void bind_all(Sem *s, const Arg *v)
{
	uint32_t npos = positional(s, v);
	clear_args(s);
	s->rest = v;
	s->nrest = npos;
	for (uint32_t i = npos; i < s->n->nargs; i++) {
		if (str_eq(sym_str(s->names, v[i].key), S("out")))
			s->out = &v[i];
		else
			add_more(s, &v[i], v[i].key);
	}
}

static void bind_rows(Sem *s)
{
	const Arg *v = node_args(s->g, s->n);
	const SemTable *t = s->c->table;
	SemClass without = s->cls;
	for (const SemRow *r = s->row; r; r = r->next ? &t->rows.v[r->next] : NULL) {
		s->cls = (SemClass)r->cls; /* says what None is to a parameter */
		if (bind_row(s, r, v)) {
			s->row = r;
			s->op = r->op;
			return;
		}
	}
	s->cls = s->row ? SEM_OPAQUE : without;
	s->row = NULL;
	bind_all(s, v);
}

/* out=x takes the result itself. */
static int member_asked(const Sem *s, int member)
{
	const Arg *v = node_args(s->g, s->n);
	bool aside = member >= SEM_MEMBER_ARG && (uint32_t)member - SEM_MEMBER_ARG < s->n->nargs;
	return aside && s->out == &v[member - SEM_MEMBER_ARG] ? -1 : member;
}

bool sem_bind(Sem *s, const SemCall *c, int member, const int64_t *size, uint32_t ndim,
              uint32_t numel)
{
	ASSERT(c->table);
	*s = (Sem){
		.c = c, .g = c->g, .n = graph_node(c->g, c->node), .names = c->p->names, .t = c->terms};
	s->a = c->scratch;
	s->member = member;
	s->size = size;
	s->ndim = ndim;
	s->numel = numel;
	Family family;
	Str target = sym_str(s->names, s->n->target),
		name = shapes_name((Callee)s->n->callee, target, &family);
	s->op = s->n->target;
	if (s->n->kind == NK_CALL) {
		s->row = find_named(s, target, family, name);
		if (!s->row)
			find_by_fact(s, family, name);
	}
	bind_rows(s);
	s->member = member_asked(s, member);
	return ndim <= SEM_MAX_DIMS && numel <= SEM_NUMEL_MOST && sem_numel(size, ndim) == numel;
}

/* ---- values ---- */

bool sem_given(const Sem *s, SemRole r)
{
	return s->arg[r] != NULL;
}

/* In a _foreach_ operator a list stands for its element. */
static const Arg *own_member(const Sem *s, const Arg *a)
{
	if (!s->foreach || (a->kind != AR_LIST && a->kind != AR_TUPLE))
		return a;
	uint32_t k = s->member > 0 ? (uint32_t)s->member : 0;
	return k < a->n ? arg_kids(s->g, a) + k : a;
}

bool sem_int_of(Sem *s, const Arg *a, int64_t *out)
{
	TermId t;
	bool known = false;
	a = own_member(s, a);
	switch ((ArgKind)a->kind) {
	case AR_INT:
	case AR_BOOL: *out = a->u.num; return true;
	case AR_NODE:
	case AR_EXPR: return s->c->number(s->c->ctx, a, &t, out, &known) && known;
	default: return false;
	}
}

bool sem_int(Sem *s, SemRole r, int64_t *out)
{
	return s->arg[r] && sem_int_of(s, s->arg[r], out);
}

bool sem_int_or(Sem *s, SemRole r, int64_t dflt, int64_t *out)
{
	*out = dflt;
	return !s->arg[r] || sem_int_of(s, s->arg[r], out);
}

bool sem_bool_or(Sem *s, SemRole r, bool dflt, bool *out)
{
	int64_t v;
	if (!sem_int_or(s, r, dflt, &v))
		return false;
	*out = v != 0;
	return true;
}

Str sem_word(const Sem *s, const Arg *a)
{
	return a && (a->kind == AR_NAME || a->kind == AR_STR) ? sym_str(s->names, a->u.sym) : (Str){0};
}

static bool is_size_call(const Sem *s, const Arg *a)
{
	return a->kind == AR_CALL && a->n == 1 && str_ends(sym_str(s->names, a->u.sym), S("Size"));
}

static bool members_of(const Sem *s, const Arg *a, const Arg **v, uint32_t *n)
{
	if (is_size_call(s, a))
		a = arg_kids(s->g, a);
	*v = arg_kids(s->g, a);
	*n = a->n;
	return a->kind == AR_LIST || a->kind == AR_TUPLE;
}

bool sem_list(Sem *s, SemRole r, const Arg **v, uint32_t *n)
{
	if (s->rest_role == r && s->nrest > 1) {
		*v = s->rest;
		*n = s->nrest;
		return true;
	}
	if (!s->arg[r])
		return false;
	if (members_of(s, s->arg[r], v, n))
		return true;
	*v = s->arg[r];
	*n = 1;
	return s->rest_role == r;
}

bool sem_ints(Sem *s, SemRole r, int64_t *v, uint32_t most, uint32_t *n)
{
	const Arg *m;
	if (!s->arg[r])
		return false;
	if (!sem_list(s, r, &m, n)) {
		m = s->arg[r];
		*n = 1;
	}
	if (*n > most)
		return false;
	for (uint32_t i = 0; i < *n; i++)
		if (!sem_int_of(s, &m[i], &v[i]))
			return false;
	return true;
}

bool sem_wrap(int64_t dim, uint32_t ndim, uint32_t *out)
{
	int64_t most = ndim ? (int64_t)ndim : 1; /* a tensor without dims takes 0 and -1 */
	if (dim < -most || dim >= most)
		return false;
	*out = (uint32_t)(dim < 0 ? dim + most : dim);
	return true;
}

bool sem_dim(Sem *s, SemRole r, int64_t dflt, uint32_t ndim, uint32_t *out)
{
	int64_t v;
	return sem_int_or(s, r, dflt, &v) && sem_wrap(v, ndim, out);
}

bool sem_dims(Sem *s, SemRole r, uint32_t ndim, bool *in)
{
	int64_t v[SEM_MAX_DIMS];
	uint32_t n = 0, d;
	memset(in, 0, SEM_MAX_DIMS * sizeof *in);
	if (sem_given(s, r) && !sem_ints(s, r, v, SEM_MAX_DIMS, &n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!sem_wrap(v[i], ndim, &d) || in[d])
			return false;
		in[d] = true;
	}
	for (uint32_t i = 0; n == 0 && i < ndim; i++)
		in[i] = true;
	return true;
}

DType sem_dtype_of(Sem *s, const Arg *a)
{
	Str w = sem_word(s, a);
	return w.n ? dtype_parse(w) : DT_NONE;
}

DType sem_result_dtype(Sem *s)
{
	DType d = sem_dtype_of(s, s->arg[SROLE_DTYPE]);
	return d != DT_NONE ? d : s->c->dtype;
}

/* ---- operands ---- */

bool sem_tensor_of(Sem *s, const Arg *a, SemTensor *out)
{
	memset(out, 0, sizeof *out);
	a = own_member(s, a);
	if (a->kind != AR_NODE || !s->c->tensor(s->c->ctx, a, out))
		return false;
	return out->ndim <= SEM_MAX_DIMS && out->numel <= SEM_NUMEL_MOST &&
	       sem_numel(out->size, out->ndim) == out->numel;
}

bool sem_tensor(Sem *s, SemRole r, SemTensor *out)
{
	return s->arg[r] && sem_tensor_of(s, s->arg[r], out);
}

static bool named_number(Str w, double *v)
{
	bool negative = str_starts(w, S("-"));
	w = negative ? str_sub(w, 1, w.n) : w;
	uint32_t dot = str_rfind(w, S("."));
	Str last = dot < w.n ? str_sub(w, dot + 1, w.n) : w;
	if (str_eq(last, S("inf")))
		*v = negative ? -(double)INFINITY : (double)INFINITY;
	else if (str_eq(last, S("nan")))
		*v = (double)NAN;
	else
		return false;
	return true;
}

/* What item() names its result tells the Python type of a number. */
static DType number_dtype(const Sem *s, TermId id)
{
	const Term *t = term_get(s->t, id);
	Str op = t->kind == TERM_OP ? sym_str(s->names, t->op) : (Str){0};
	switch (t->cls) {
	case 'b': return DT_B8;
	case 'i': return DT_I64;
	case 'f': return DT_F64;
	default: break;
	}
	if (str_ends(op, S("_to_f64")))
		return DT_F64;
	return str_ends(op, S("_to_i64")) ? DT_I64 : DT_NONE;
}

bool sem_number_of(Sem *s, const Arg *a, TermId *out, DType *dtype)
{
	double v;
	int64_t n;
	bool known;
	a = own_member(s, a);
	switch ((ArgKind)a->kind) {
	case AR_BOOL:
		*out = term_num(s->t, (double)a->u.num, 'b');
		*dtype = DT_B8;
		return true;
	case AR_INT:
		*out = term_num(s->t, (double)a->u.num, 'i');
		*dtype = DT_I64;
		return true;
	case AR_FLOAT:
		*out = term_num(s->t, a->u.real, 'f');
		*dtype = DT_F64;
		return true;
	case AR_NAME:
		if (!named_number(sym_str(s->names, a->u.sym), &v))
			return false;
		*out = term_num(s->t, v, 'f');
		*dtype = DT_F64;
		return true;
	case AR_NODE:
	case AR_EXPR:
	case AR_CALL:
		if (!s->c->number(s->c->ctx, a, out, &n, &known))
			return false;
		*dtype = number_dtype(s, *out);
		return true;
	default: return false;
	}
}

SemTensor sem_operand_of(Sem *s, const Arg *a, bool *number)
{
	SemTensor x;
	*number = false;
	if (sem_tensor_of(s, a, &x))
		return x;
	TermId *e = NEW(s->a, TermId);
	x = (SemTensor){.e = e, .numel = 1};
	*number = sem_number_of(s, a, e, &x.dtype);
	if (!*number) {
		TermList all = {.a = s->a};
		sem_push_arg(s, &all, a);
		*e = all.v.n == 1 ? all.v.v[0] : sem_list_op(s, "whole", &all, 0);
	}
	return x;
}
