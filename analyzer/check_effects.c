/* SPDX-License-Identifier: MIT
 * GL201: calls whose only effect is a write, so that whoever removes calls without users removes the write. */
#include "check.h"

/* A collective: ranks meet in it, whoever takes its result. */
static bool is_collective(const CheckCtx *c, const Graph *g, NodeId id)
{
	Str t = check_target(c, g, id);
	return graph_node(g, id)->callee == CALLEE_FUNCTION && str_has(t, S("c10d")) && !str_has(t, S("wait_tensor"));
}

/* Is there somebody who sees what was written: the caller, or a later reader? Says who. */
static bool is_live(const CheckCtx *c, const CheckGraph *cg, NodeId writer, NodeId through, Str *who)
{
	NodeId root = cg->root[through.i];
	const Node *n = graph_node(cg->g, root);
	Str name = check_name(c, cg->g, root);
	if (n->kind == NK_PLACEHOLDER)
		*who = str_printf(c->scratch, "`" STR_FMT "` belongs to the caller", STR_ARG(name));
	else if (n->kind == NK_GET_ATTR)
		*who = str_printf(c->scratch, "`self." STR_FMT "` belongs to the module", STR_ARG(sym_str(c->p->names, n->target)));
	else if (cg->root_returned[root.i])
		*who = str_printf(c->scratch, "`" STR_FMT "` is returned", STR_ARG(name));
	else if (cg->last_use[root.i].i > writer.i && !check_name(c, cg->g, cg->last_use[root.i]).n)
		*who = S("a later line uses it");
	else if (cg->last_use[root.i].i > writer.i)
		*who = str_printf(c->scratch, "`" STR_FMT "` uses it afterwards", STR_ARG(check_name(c, cg->g, cg->last_use[root.i])));
	else
		return false;
	return true;
}

/* A later printing by a pass, or a partitioner, has rewritten the graph: calls without users are the first to go. */
static bool is_rewritten(const CheckCtx *c, const Graph *g)
{
	return c->part[g->id.i];
}

static void droppable(const CheckCtx *c, const CheckGraph *cg, NodeId id, NodeId through, Str who)
{
	const Graph *g = cg->g;
	Finding *f = check_finding(c, CHECK_GL201, is_rewritten(c, g) ? SEV_WARNING : SEV_NOTE, g, id);
	f->certainty = TRI_MUST;
	diag_var(c->d, f, S("why"), who);
	if (through.i) {
		diag_var(c->d, f, S("what"), check_name(c, g, through));
		check_step(c, f, ROLE_PLACE, g, cg->root[through.i], "the memory that is written: " STR_FMT, STR_ARG(who));
		check_step(c, f, ROLE_WRITE, g, id, "nobody takes the result of this call");
	} else {
		f->variant = S("collective");
		check_step(c, f, ROLE_PLACE, g, id, "nobody takes the result of this call");
	}
}

void check_droppable_effect(const CheckCtx *c, const CheckGraph *cg)
{
	const Graph *g = cg->g;
	NodeId last = {0};
	if (check_is_repeat(g) || g->stage == STAGE_INDUCTOR)
		return;
	for (uint32_t i = 0; i < cg->s->nnode_writes; i++) {
		const NodeWrite *w = &cg->s->node_writes[i];
		const Node *n = graph_node(g, w->node);
		Str who;
		if (n->kind != NK_CALL || !cg->fact[w->node.i] || w->certainty != TRI_MUST || w->metadata || !w->through.i ||
		    w->node.i == last.i || !check_unused(cg, w->node) || !is_live(c, cg, w->node, w->through, &who))
			continue;
		last = w->node;
		droppable(c, cg, w->node, w->through, who);
	}
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		NodeId id = {i};
		bool call = graph_node(g, id)->kind == NK_CALL && cg->fact[i] && !cg->fact[i]->nmutates;
		if (call && is_collective(c, g, id) && check_unused(cg, id))
			droppable(c, cg, id, (NodeId){0}, (Str){0});
	}
}
