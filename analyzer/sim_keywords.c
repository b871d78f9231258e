/* SPDX-License-Identifier: MIT
 * sim_keywords: names of keyword arguments that a listing of CPython 3.11 does not print, from the line of the call where
 * the dump quotes it. */
#include "sim_host.h"

#include "quoted.h"
#include "sem_table.h"

static const Frame *frame_of(const Sim *s, const Code *code)
{
	for (uint32_t i = 0; i < s->p->frames.n; i++)
		if (s->p->frames.v[i].code == code)
			return &s->p->frames.v[i];
	return NULL;
}

static uint32_t line_of(const Machine *m)
{
	uint32_t i = m->at;
	while (i && !m->code->ins[i].line)
		i--;
	return m->code->ins[i].line;
}

/* The name by which the line has it; empty: any. */
static Str called_as(Sim *s, Ref fn)
{
	const HeapObj *o = sim_obj(s, fn);
	Str name = sym_str(s->names, o->name);
	if (o->kind == HK_OBJECT)
		return (Str){0};
	uint32_t dot = str_rfind(name, S("."));
	return dot < name.n ? str_sub(name, dot + 1, name.n) : name;
}

/* A class, or what a local stands for, may have another name in the line: then the call is known by its arguments. */
bool host_keywords(HostCall *c)
{
	Sim *s = c->s;
	const Frame *f = s->quoted ? frame_of(s, c->m->code) : NULL;
	Str code = f ? quoted_line(s->quoted, sym_str(s->names, f->file), line_of(c->m)) : (Str){0};
	QuotedCall call;
	host_charge(s, s->p->frames.n);
	if (!code.n || (!quoted_call(code, called_as(s, c->fn), c->n, &call) && !quoted_call(code, (Str){0}, c->n, &call)))
		return false;
	Sym *names = NEW_N(s->scratch, Sym, c->n + 1);
	for (uint32_t i = 0; i < call.n; i++)
		names[c->n - call.n + i] = host_sym(s, call.keywords[i]);
	c->names = names;
	c->npos = c->n - call.n;
	c->names_hidden = false;
	return true;
}

/* ---- by the parameters of an operator ---- */

typedef enum Given { GIVEN_TENSOR, GIVEN_NUMBER, GIVEN_BOOL, GIVEN_OTHER } Given;

static Given given(Sim *s, Ref v)
{
	const HeapObj *o = sim_obj(s, v);
	switch ((HeapKind)o->kind) {
	case HK_TENSOR: return GIVEN_TENSOR;
	case HK_LIST:
	case HK_TUPLE: return GIVEN_NUMBER;
	case HK_NUMBER: return term_get(s->terms, o->term)->cls == 'b' ? GIVEN_BOOL : GIVEN_NUMBER;
	default: return GIVEN_OTHER;
	}
}

static bool is_flag(const Sim *s, const SemParam *p)
{
	static const Str words[] = {STR_INIT("inplace"), STR_INIT("keepdim"), STR_INIT("training"), STR_INIT("accumulate")};
	for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(sym_str(s->names, p->keyword), words[i]))
			return true;
	return p->role == SROLE_KEEPDIM || p->role == SROLE_TRAINING || p->role == SROLE_ACCUMULATE || p->role == SROLE_CAUSAL;
}

static bool takes_tensor(SemRole r)
{
	switch (r) {
	case SROLE_INPUT: case SROLE_OTHER: case SROLE_THIRD: case SROLE_COND: case SROLE_TENSORS: case SROLE_INDEX:
	case SROLE_SOURCE: case SROLE_VALUE: case SROLE_WEIGHT: case SROLE_BIAS: case SROLE_MEAN: case SROLE_VAR:
	case SROLE_MASK: case SROLE_MORE: return true;
	default: return false;
	}
}

static bool takes(const Sim *s, const SemParam *p, Given g)
{
	if (is_flag(s, p))
		return g == GIVEN_BOOL;
	switch (g) {
	case GIVEN_TENSOR: return takes_tensor((SemRole)p->role);
	case GIVEN_NUMBER: return p->role != SROLE_DTYPE && p->role != SROLE_COND && p->role != SROLE_NONE;
	case GIVEN_BOOL: return p->role == SROLE_MORE || p->role == SROLE_OTHER || p->role == SROLE_VALUE;
	default: return p->role == SROLE_DTYPE || p->role == SROLE_MODE || p->role == SROLE_MORE || p->role == SROLE_DIM;
	}
}

/* Values in the order of the parameters: the first ones by position, then some by name, out= last. */
typedef struct Order {
	const Sim *s;
	const SemParam *p;
	uint32_t nparams; /* the last one is out= */
	const Given *given;
	uint32_t n;
	uint32_t at[SEM_PARAMS_MOST + 1]; /* parameter of each value, of the only order found */
	uint32_t found;
} Order;

static bool fits(const Order *o, uint32_t value, uint32_t param)
{
	bool out = param == o->nparams - 1;
	return out ? o->given[value] == GIVEN_TENSOR : !o->p[param].variadic && takes(o->s, &o->p[param], o->given[value]);
}

/* All choices of which parameters are left out; there are few parameters, and two orders are too many. */
static void find_orders(Order *o)
{
	uint32_t at[SEM_PARAMS_MOST + 2], k = 0;
	if (!o->n || o->n > o->nparams)
		return;
	for (uint32_t next = 0, tries = 0; tries < 4096 && o->found < 2; tries++) {
		if (next < o->nparams && k < o->n && !fits(o, k, next)) {
			next++;
		} else if (next < o->nparams && k < o->n) {
			at[k++] = next++;
		}
		if (k == o->n) {
			memcpy(o->at, at, o->n * sizeof *at);
			o->found++;
		}
		if (k == o->n || next == o->nparams) { /* leave out the parameter of the last value */
			if (!k)
				return;
			next = at[--k] + 1;
		}
	}
}

static const SemRow *row_of(Sim *s, Callee callee, Str target)
{
	Family family;
	Str name = shapes_name(callee, target, &family);
	const SemRow *r = sem_table_find(s->sem, family, name);
	if (!r && name.n > 1 && str_ends(name, S("_")))
		r = sem_table_find(s->sem, family, str_sub(name, 0, name.n - 1));
	return r;
}

bool host_operator_keywords(HostCall *c, Callee callee, Str target)
{
	Sim *s = c->s;
	const SemRow *r = row_of(s, callee, target);
	Given kinds[SEM_PARAMS_MOST + 1];
	if (!r || r->next || r->nparams >= SEM_PARAMS_MOST || c->n > SEM_PARAMS_MOST)
		return false;
	for (uint32_t i = 0; i < c->n; i++)
		kinds[i] = given(s, c->args[i]);
	Order o = {.s = s, .p = r->param, .nparams = r->nparams + 1, .given = kinds, .n = c->n};
	find_orders(&o);
	if (o.found != 1)
		return false;
	Sym *names = NEW_N(s->scratch, Sym, c->n + 1);
	uint32_t npos = 0;
	while (npos < c->n && o.at[npos] == npos && npos < r->nparams && !r->param[npos].keyword_only)
		npos++;
	for (uint32_t i = npos; i < c->n; i++)
		names[i] = o.at[i] == r->nparams ? host_sym(s, S("out")) : r->param[o.at[i]].keyword;
	c->names = names;
	c->npos = npos;
	c->names_hidden = false;
	return true;
}
