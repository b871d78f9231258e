/* SPDX-License-Identifier: MIT */
#include "graph_words.h"

Str node_shown(const Program *p, const Graph *g, NodeId id)
{
	const Node *n = graph_node(g, id);
	return sym_str(p->names, n->name.i ? n->name : n->target);
}

Str operator_shown(Arena *a, const Program *p, const Node *n)
{
	Str t = sym_str(p->names, n->target);
	if (n->kind == NK_PLACEHOLDER || n->kind == NK_GET_ATTR)
		return (Str){0};
	if (n->kind == NK_UNREAD)
		return S("a line that could not be read");
	if (n->callee == CALLEE_OPERATOR && str_eq(t, S("setitem")))
		return S("x[...] = v");
	if (n->callee == CALLEE_OPERATOR && str_eq(t, S("getitem")))
		return S("x[...]");
	if (n->callee == CALLEE_MODULE)
		return str_printf(a, "self." STR_FMT, STR_ARG(t));
	return t;
}

Str operator_short(const Program *p, const Node *n)
{
	Str t = sym_str(p->names, n->target);
	static const Str ops = STR_INIT("torch.ops.");
	if (n->callee == CALLEE_FUNCTION && str_starts(t, ops)) { /* torch.ops.NAMESPACE.NAME[.OVERLOAD] */
		uint32_t name = str_find_char(t, '.', ops.n);
		if (name == t.n)
			return str_sub(t, ops.n, t.n);
		return str_sub(t, name + 1, str_find_char(t, '.', name + 1));
	}
	uint32_t dot = n->callee == CALLEE_FUNCTION ? str_rfind(t, S(".")) : t.n;
	return dot < t.n ? str_sub(t, dot + 1, t.n) : t;
}

UserSource node_source(const Program *p, const Sources *src, const Graph *g, NodeId id)
{
	UserSource u = {0};
	const Node *n = id.i ? graph_node(g, id) : NULL;
	if (!n || !n->loc)
		return u;
	const SrcLoc *l = &g->locs.v[n->loc];
	u.file = sym_str(p->names, l->file);
	u.function = sym_str(p->names, l->function);
	u.line = l->line;
	if (l->code.file.i)
		u.code = str_trim(str_sub(source_get(src, l->code.file)->text, l->code.at, l->code.end));
	return u;
}
