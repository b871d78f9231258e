/* SPDX-License-Identifier: MIT
 * sim_keywords: names of keyword arguments that a listing of CPython 3.11 does not print, from the line of the call where
 * the dump quotes it. */
#include "sim_host.h"

#include "quoted.h"

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
