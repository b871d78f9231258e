/* SPDX-License-Identifier: MIT
 * GL301: views that sizes and strides cannot give. */
#include "check.h"

/* Operators that give a view or raise; reshape and its like copy instead. */
static bool is_strict_view(Str op)
{
	return str_eq(op, S("view")) || str_eq(op, S("_unsafe_view"));
}

/* Sizes asked for, -1 filled in; false when they are not all known, or it is a view to another dtype. */
static bool asked_sizes(const CheckCtx *c, const CheckGraph *cg, NodeId id, const Type *x, ExprId **size, uint32_t *n)
{
	const ExprId *asked;
	if (!infer_shape(cg->nt, cg->g, c->t, c->p->names, graph_node(cg->g, id), 1, &asked, n, c->scratch) || *n > TYPE_DIMS_MOST)
		return false;
	*size = NEW_N(c->scratch, ExprId, *n + 1);
	for (uint32_t i = 0; i < *n; i++) {
		(*size)[i] = asked[i];
		if (!asked[i].i)
			return false;
	}
	return type_fill_shape(c->t, x, *size, *n);
}

static void impossible_view(const CheckCtx *c, const CheckGraph *cg, NodeId id)
{
	const Graph *g = cg->g;
	const Node *n = graph_node(g, id);
	const Arg *a = node_args(g, n);
	ExprId *size;
	uint32_t ndim;
	if (!n->nargs || a[0].kind != AR_NODE)
		return;
	TypeId from = infer_type_at(cg->nt, c->t, a[0].u.node, id);
	const Type *x = type_get(c->t, from);
	if (x->kind != TK_TENSOR || !x->has_shape || !x->has_stride || x->wrapped || !asked_sizes(c, cg, id, x, &size, &ndim) ||
	    type_view_exists(c->t, x, size, ndim, NULL) != TRI_NO)
		return;
	bool printed = type_get(c->t, graph_node(g, a[0].u.node)->type)->has_stride;
	Finding *f = check_finding(c, CHECK_GL301, printed ? SEV_WARNING : SEV_NOTE, g, id);
	Str shown = type_text(c->t, from, c->scratch);
	f->certainty = TRI_MUST;
	diag_var(c->d, f, S("what"), check_name(c, g, a[0].u.node));
	diag_var(c->d, f, S("text"), shown);
	check_step(c, f, ROLE_PLACE, g, a[0].u.node, "`" STR_FMT "` is " STR_FMT, STR_ARG(check_name(c, g, a[0].u.node)), STR_ARG(shown));
	check_step(c, f, ROLE_ALIAS, g, id, "the view asked for");
}

void check_impossible_view(const CheckCtx *c, const CheckGraph *cg)
{
	for (uint32_t i = 1; i < cg->g->nodes.n; i++) {
		const Node *n = &cg->g->nodes.v[i];
		if (n->kind == NK_CALL && n->callee != CALLEE_MODULE && is_strict_view(operator_short(c->p, n)))
			impossible_view(c, cg, (NodeId){i});
	}
}
