/* SPDX-License-Identifier: MIT */
#include "sim_fit.h"

enum { FIT_EVENTS_MOST = 64 };

/* The argument of the call that a local of the frame is at its start; 0: none, or not known. */
static Ref argument(const SimCall *c, const Code *code, Sym name)
{
	uint32_t positional = c->nargs - c->nnames;
	for (uint32_t i = 0; i < c->nnames; i++)
		if (sym_eq(c->names[i], name))
			return c->args[positional + i];
	uint32_t var = code_var(code, name);
	if (var == INS_NONE || code->vars[var].cell || code->vars[var].free || code->vars[var].index >= positional)
		return 0;
	return c->args[code->vars[var].index];
}

static Tri tensor_fits(const Sim *s, Ref v, TypeId id)
{
	const HeapObj *o = &s->heap.v[v];
	const Type *t = type_get(s->t, id);
	if (t->kind != TK_TENSOR || o->kind == HK_UNKNOWN || o->kind == HK_OBJECT)
		return TRI_MUST;
	if (o->kind != HK_TENSOR)
		return o->kind == HK_NUMBER ? TRI_MUST : TRI_NO; /* a number may be taken for a tensor of no dimensions */
	const SimTensor *x = &s->tensors.v[o->tensor];
	if (x->dtype != DT_NONE && t->dtype != DT_NONE && x->dtype != t->dtype)
		return TRI_MAY;
	if (!x->sized || x->assumed || !t->has_shape)
		return TRI_MUST;
	if (x->ndim != t->ndim)
		return TRI_MAY;
	for (uint32_t d = 0; d < t->ndim; d++) {
		int64_t size;
		if (expr_value(s->t, t->size[d], &size) && size != x->size[d])
			return TRI_MAY;
	}
	return TRI_MUST;
}

Tri frame_fits(const Sim *s, const ProgramFrames *frames, FrameRef modified, const SimCall *c)
{
	const FrameLinks *l = frames && modified ? frames->links[modified - 1] : NULL;
	uint32_t seen = 0;
	Tri all = TRI_MUST;
	for (uint32_t i = 0; l && i < l->events.n && seen < FIT_EVENTS_MOST; i++) {
		const LinkEvent *e = &l->events.v[i];
		if (e->kind != LINK_CALL || e->callee != CALLEE_GRAPH || e->starred)
			continue;
		seen++;
		GraphId id = frames_called_graph(frames, modified, e);
		const Graph *g = id.i ? graph_get(s->p, id) : NULL;
		if (!g || !s->types[id.i])
			continue;
		for (uint32_t k = 0; k < e->nargs && k < g->inputs.n; k++) {
			const LTerm *x = lterm_get(&l->terms, e->args[k]);
			Ref v = x->kind == LT_LOCAL ? argument(c, l->code, x->name) : 0;
			Tri fits = v ? tensor_fits(s, v, s->types[id.i]->v[g->inputs.v[k].i]) : TRI_MUST;
			if (fits == TRI_NO)
				return fits;
			all = fits == TRI_MAY ? fits : all;
		}
	}
	return all;
}
