/* SPDX-License-Identifier: MIT
 * Arguments of a call by position or name. */
#include "facts_priv.h"

static uint32_t count_positional(const Arg *v, uint32_t n)
{
	uint32_t i = 0;
	while (i < n && sym_none(v[i].key))
		i++;
	return i;
}

/* A schema's self is `input` as a keyword of torch functions. */
static bool same_keyword(Str key, Str name)
{
	return str_eq(key, name) || (str_eq(name, S("self")) && str_eq(key, S("input"))) ||
	       (str_eq(name, S("input")) && str_eq(key, S("self")));
}

static const Arg *keyword_arg(const Facts *f, const Arg *v, uint32_t n, Str name)
{
	for (uint32_t i = count_positional(v, n); i < n; i++)
		if (same_keyword(sym_str(f->names, v[i].key), name))
			return &v[i];
	return NULL;
}

/* The argument that stands at a position; a starred one at or before it may cover it, and then
 * stands for it. */
static const Arg *positional_arg(const Arg *v, uint32_t n, uint32_t index)
{
	for (uint32_t i = 0; i < n && i <= index && sym_none(v[i].key); i++)
		if (i == index || v[i].kind == AR_STARRED)
			return &v[i];
	return NULL;
}

const Arg *call_arg(const Facts *f, const Graph *g, const Node *n, int index, Str name)
{
	const Arg *v = node_args(g, n);
	const Arg *a = index >= 0 ? positional_arg(v, n->nargs, (uint32_t)index) : NULL;
	return a || !name.n ? a : keyword_arg(f, v, n->nargs, name);
}

/* Position of a parameter; o->n when the overload has none of that name. */
static uint32_t find_param(const Facts *f, const Overload *o, Str name)
{
	for (uint32_t i = 0; i < o->n; i++)
		if (same_keyword(sym_str(f->names, o->v[i].name), name))
			return i;
	return o->n;
}

static bool takes_positional(const Overload *o, uint32_t positional)
{
	uint32_t most = 0;
	for (; most < o->n && !o->v[most].keyword_only; most++)
		if (o->v[most].variadic)
			return true;
	return positional <= most;
}

/* Are all keywords known, and all parameters without a default given? Types are not looked at. */
static bool takes_call(const Facts *f, const Overload *o, const Arg *v, uint32_t n)
{
	uint32_t positional = count_positional(v, n);
	bool starred = false;
	for (uint32_t i = 0; i < positional; i++)
		starred |= v[i].kind == AR_STARRED;
	for (uint32_t i = positional; i < n; i++)
		if (find_param(f, o, sym_str(f->names, v[i].key)) == o->n)
			return false;
	for (uint32_t i = 0; i < o->n && !starred; i++) {
		const Param *p = &o->v[i];
		if (p->dflt.n || p->variadic || (i < positional && !p->keyword_only))
			continue;
		if (!keyword_arg(f, v, n, sym_str(f->names, p->name)))
			return false;
	}
	return true;
}

const Arg *call_param(Facts *f, const Graph *g, const Node *n, Str name)
{
	const Arg *v = node_args(g, n);
	const Overload *o;
	uint32_t count = facts_params(f, (Callee)n->callee, sym_str(f->names, n->target), &o);
	/* Signatures change: where none takes the call as it is, one that has room for it will do. */
	for (int exact = 1; exact >= 0; exact--)
		for (uint32_t i = 0; i < count; i++) {
			uint32_t at = find_param(f, &o[i], name);
			if (at == o[i].n || !takes_positional(&o[i], count_positional(v, n->nargs)) ||
			    (exact && !takes_call(f, &o[i], v, n->nargs)))
				continue;
			return call_arg(f, g, n, o[i].v[at].keyword_only ? -1 : (int)at, name);
		}
	return keyword_arg(f, v, n->nargs, name);
}
