/* SPDX-License-Identifier: MIT
 * GL602: graphs without an operator that computes. */
#include "check.h"

bool check_is_allocation(Str op, bool *uninitialised)
{
	static const struct {
		Str name;
		bool uninitialised;
	} known[] = {
#define ALLOCATION(name, uninitialised) {STR_INIT(name), uninitialised},
#include "allocs.def"
#undef ALLOCATION
	};
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(known[i].name, op)) {
			*uninitialised = known[i].uninitialised;
			return true;
		}
	return false;
}

typedef enum Work { WORK_NONE, WORK_VIEW, WORK_ALLOCATES, WORK_STATE, WORK_COMPUTES } Work;

static Work work_of_call(const CheckCtx *c, const CheckGraph *cg, NodeId id)
{
	const Fact *fact = cg->fact[id.i];
	const Type *t = check_type(c, cg, id);
	bool uninitialised;
	if (!fact || fact->nmutates || check_has_tag(cg, id, FT_DATADEP))
		return fact && fact->kind == FK_METADATA ? WORK_STATE : WORK_COMPUTES;
	if (t->kind == TK_SYM || t->kind == TK_OTHER)
		return WORK_NONE; /* sizes, and what is computed from them */
	switch (fact->kind) {
	case FK_VIEW: return WORK_VIEW;
	case FK_MAYBE_VIEW: return cg->s->from[id.i].shares == TRI_NO ? WORK_COMPUTES : WORK_VIEW;
	case FK_SCALAR:
	case FK_ATTRIBUTE: return WORK_NONE;
	case FK_EFFECT: return WORK_STATE;
	case FK_FRESH: return check_is_allocation(operator_short(c->p, graph_node(cg->g, id)), &uninitialised) ? WORK_ALLOCATES : WORK_COMPUTES;
	default: return WORK_COMPUTES;
	}
}

static Work work_of(const CheckCtx *c, const CheckGraph *cg, NodeId id)
{
	switch ((NodeKind)graph_node(cg->g, id)->kind) {
	case NK_CALL: return work_of_call(c, cg, id);
	case NK_UNREAD: return WORK_COMPUTES;
	default: return WORK_NONE;
	}
}

/* Is it called as it stands: no body of an operator, no printing of AOTAutograd beside Dynamo's? */
static bool is_own_graph(const CheckCtx *c, const Graph *g)
{
	if (g->incomplete || g->truncated || check_is_repeat(g))
		return false;
	return (!g->parent.i || c->part[g->id.i]) && g->stage != STAGE_AOT_BACKWARD && g->stage != STAGE_INDUCTOR;
}

static void list_of(Buf *b, const uint32_t *count)
{
	static const struct {
		Work work;
		const char *one, *many;
	} words[] = {{WORK_VIEW, "view", "views"}, {WORK_ALLOCATES, "allocation", "allocations"}, {WORK_STATE, "state change", "state changes"}};
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t n = count[words[i].work];
		if (n)
			buf_printf(b, "%s%u %s", b->n ? ", " : "", n, n == 1 ? words[i].one : words[i].many);
	}
}

void check_tiny_graph(const CheckCtx *c, const CheckGraph *cg)
{
	const Graph *g = cg->g;
	uint32_t count[WORK_COMPUTES + 1] = {0};
	NodeId first = {0};
	if (!is_own_graph(c, g))
		return;
	for (uint32_t i = 1; i < g->nodes.n && !count[WORK_COMPUTES]; i++) {
		Work w = work_of(c, cg, (NodeId){i});
		count[w]++;
		if (!first.i && w != WORK_NONE)
			first = (NodeId){i};
	}
	if (count[WORK_COMPUTES])
		return;
	Buf b = {.a = c->scratch};
	list_of(&b, count);
	Finding *f = check_finding(c, CHECK_GL602, SEV_NOTE, g, (NodeId){0});
	f->variant = b.n ? S("some") : S("empty");
	f->source = node_source(c->p, c->src, g, first);
	diag_var(c->d, f, S("text"), buf_str(&b));
	check_step(c, f, ROLE_PLACE, g, first, "%s", first.i ? "all that the graph does" : "the graph calls no operator");
}
