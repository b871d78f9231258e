/* SPDX-License-Identifier: MIT
 * GL605: what is no tensor and leaves one graph to enter another. */
#include "check_links.h"

typedef enum PlainKind { PLAIN_NOT, PLAIN_NUMBER, PLAIN_SIZE, PLAIN_CONTEXT, PLAIN_OTHER } PlainKind;

/* What an output is when it is certainly no tensor. */
static PlainKind plain_kind(const CheckCtx *c, const Graph *g, NodeId id)
{
	const Node *n = graph_node(g, id);
	const NodeTypes *nt = c->types[g->id.i];
	const Type *t = type_get(c->t, nt->v[id.i]);
	if (t->kind == TK_TENSOR)
		return PLAIN_NOT;
	if (t->kind == TK_SYM)
		return PLAIN_NUMBER;
	Str target = n->kind == NK_CALL ? operator_short(c->p, n) : (Str){0};
	const Fact *fact = n->kind == NK_CALL && n->callee != CALLEE_MODULE
	                       ? facts_find(c->f, (Callee)n->callee, sym_str(c->p->names, n->target), g->torch)
	                       : NULL;
	if (fact && fact->kind == FK_EFFECT)
		return PLAIN_CONTEXT;
	if (fact && fact->kind == FK_SCALAR)
		return str_eq(target, S("size")) || str_eq(target, S("shape")) || str_eq(target, S("stride")) ? PLAIN_SIZE : PLAIN_NUMBER;
	return t->kind == TK_OTHER ? PLAIN_OTHER : PLAIN_NOT;
}

static Str kind_words(PlainKind k)
{
	static const Str words[] = {STR_INIT(""), STR_INIT("a Python number"), STR_INIT("a size"), STR_INIT("a context object"),
	                            STR_INIT("an object that is no tensor")};
	return words[k];
}

static void boundary_type(const CheckCtx *c, const Crossing *x, NodeId id, PlainKind kind)
{
	const Graph *from = graph_get(c->p, x->from), *to = graph_get(c->p, x->to);
	Finding *f = check_finding(c, CHECK_GL605, SEV_NOTE, from, id);
	f->certainty = TRI_MUST;
	diag_var(c->d, f, S("output_name"), check_name(c, from, id));
	diag_var(c->d, f, S("text"), kind_words(kind));
	diag_var(c->d, f, S("what"), sym_str(c->p->names, to->name));
	check_step(c, f, ROLE_PLACE, from, id, "`" STR_FMT "` is " STR_FMT, STR_ARG(check_name(c, from, id)), STR_ARG(kind_words(kind)));
	Span out = {from->file, from->outputs.v[x->output].at, from->outputs.v[x->output].end};
	diag_stepf(c->d, f, ROLE_BOUNDARY, out, "it leaves `" STR_FMT "` as output %u", STR_ARG(sym_str(c->p->names, from->name)), x->output);
	if (x->parent.i)
		check_step(c, f, ROLE_LINK, graph_get(c->p, x->parent), x->call, "it is handed on here%s",
		           x->inferred ? " (the graphs are printed apart: by their order)" : "");
	check_step(c, f, ROLE_BOUNDARY, to, to->inputs.v[x->input], "it enters `" STR_FMT "` as input %u",
	           STR_ARG(sym_str(c->p->names, to->name)), x->input);
}

void check_boundary_type(const CheckCtx *c)
{
	Crossings all = {0};
	Map said = {.a = c->scratch};
	check_crossings(c, &all, c->scratch);
	for (uint32_t i = 0; i < all.v.n; i++) {
		const Crossing *x = &all.v.v[i];
		const Graph *from = graph_get(c->p, x->from);
		NodeId id = check_output_node(from, x->output);
		uint64_t key = (uint64_t)x->from.i << 32 | x->output;
		PlainKind kind = id.i ? plain_kind(c, from, id) : PLAIN_NOT;
		if (kind == PLAIN_NOT || map_get(&said, key + 1))
			continue;
		map_put(&said, key + 1, 1);
		boundary_type(c, x, id, kind);
	}
}
