/* SPDX-License-Identifier: MIT
 * GL701: what a forward graph saves for its backward, in memory that others hold or write. */
#include "check_links.h"

typedef struct Saver {
	const CheckCtx *c;
	const CheckGraph *cg;
	const Graph *backward;
	uint32_t nuser; /* outputs before the saved values */
} Saver;

static bool is_tangent(const CheckCtx *c, const Graph *g, NodeId input)
{
	return str_starts(check_target(c, g, input), S("tangents"));
}

static uint32_t count_saved(const CheckCtx *c, const Graph *backward)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < backward->inputs.n; i++)
		n += !is_tangent(c, backward, backward->inputs.v[i]);
	return n;
}

/* A view of an input. Saving the input itself copies nothing either, and is what eager does: autograd counts its writes. */
static bool is_view_of_input(const CheckGraph *cg, NodeId id)
{
	NodeId root = cg->root[id.i];
	return root.i != id.i && cg->root_must[id.i] && graph_node(cg->g, root)->kind == NK_PLACEHOLDER && graph_node(cg->g, id)->kind == NK_CALL;
}

static void report_views(const Saver *s)
{
	const Graph *g = s->cg->g;
	Finding *f = NULL;
	for (uint32_t j = s->nuser; j < g->outputs.n; j++) {
		NodeId id = check_output_node(g, j);
		if (!id.i || !is_view_of_input(s->cg, id))
			continue;
		if (!f) {
			f = check_finding(s->c, CHECK_GL701, SEV_NOTE, g, id);
			f->variant = S("view");
			f->certainty = TRI_MUST;
			diag_var(s->c->d, f, S("what"), check_name(s->c, g, id));
			diag_var(s->c->d, f, S("text"), check_name(s->c, g, s->cg->root[id.i]));
			check_step(s->c, f, ROLE_PLACE, s->backward, (NodeId){0}, "it is read here, after whatever happens in between");
		} else if (f->steps.n < 8) {
			check_step(s->c, f, ROLE_PLACE, g, id, "another saved view of an input");
		}
	}
}

static void report_tangents(const CheckCtx *c, const CheckGraph *cg)
{
	const Graph *g = cg->g;
	for (uint32_t i = 0; i < g->inputs.n; i++) {
		NodeId id = g->inputs.v[i];
		if (!is_tangent(c, g, id) || check_unused(cg, id))
			continue;
		Finding *f = check_finding(c, CHECK_GL701, SEV_NOTE, g, id);
		f->variant = S("tangent");
		f->certainty = TRI_MUST;
		diag_var(c->d, f, S("what"), check_name(c, g, id));
		return;
	}
}

/* ---- written by a later graph ---- */

static const Write *sure_write(const CheckCtx *c, const Crossing *x)
{
	const Summary *s = c->summaries[x->to.i];
	if (!s || s->inputs[x->input].data != TRI_MUST)
		return NULL;
	const InputSummary *in = &s->inputs[x->input];
	for (uint32_t i = 0; i < in->nwrites; i++)
		if (!in->writes[i].metadata && in->writes[i].certainty == TRI_MUST)
			return &in->writes[i];
	return NULL;
}

static void report_written(const Saver *s, const Crossing *x)
{
	const Graph *g = s->cg->g, *dynamo = graph_get(s->c->p, g->of), *to = graph_get(s->c->p, x->to);
	const Write *w = sure_write(s->c, x);
	/* new values of written inputs come first */
	if (!w || s->nuser < dynamo->outputs.n || x->output + s->nuser - dynamo->outputs.n >= s->nuser)
		return;
	NodeId out = check_output_node(g, x->output + s->nuser - dynamo->outputs.n);
	for (uint32_t j = s->nuser; out.i && j < g->outputs.n; j++) {
		NodeId id = check_output_node(g, j);
		if (!id.i || s->cg->root[id.i].i != s->cg->root[out.i].i || !s->cg->root_must[id.i] || !s->cg->root_must[out.i])
			continue;
		Finding *f = check_finding(s->c, CHECK_GL701, SEV_WARNING, g, id);
		f->variant = S("written");
		f->certainty = TRI_MUST;
		diag_var(s->c->d, f, S("what"), check_name(s->c, g, id));
		diag_var(s->c->d, f, S("text"), sym_str(s->c->p->names, to->name));
		check_step(s->c, f, ROLE_WRITE, to, w->node, "the write");
		check_step(s->c, f, ROLE_READ, s->backward, (NodeId){0}, "it is read here");
		return;
	}
}

static uint64_t pair_key(const Graph *g)
{
	return hash_u64(hash_u64((uint64_t)g->unit.i << 32 | g->process.i) ^ hash_u64((uint64_t)g->of.i << 32 | g->aot_id) ^ g->compile_id.i) | 1;
}

static bool is_plain(const CheckCtx *c, const Graph *g, Stage stage)
{
	return g->stage == stage && !g->parent.i && !g->printing_of.i && !g->incomplete && !g->truncated && c->summaries[g->id.i];
}

static void check_pair(const CheckCtx *c, const Graph *forward, const Graph *backward, const Crossings *all)
{
	uint32_t saved = count_saved(c, backward);
	if (saved > forward->outputs.n)
		return;
	ArenaMark mark = arena_mark(c->scratch);
	Saver s = {.c = c, .cg = check_graph_of(c, forward), .backward = backward, .nuser = forward->outputs.n - saved};
	report_views(&s);
	uint32_t lo = 0, hi = all->v.n; /* in the order of the graphs that are left */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (all->v.v[mid].from.i < forward->of.i)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (uint32_t i = lo; forward->of.i && i < all->v.n && all->v.v[i].from.i == forward->of.i; i++)
		report_written(&s, &all->v.v[i]);
	arena_rewind(c->scratch, mark);
}

void check_saved_for_backward(const CheckCtx *c)
{
	Map last = {.a = c->work[0]};
	Crossings all = {0};
	check_crossings(c, &all, c->work[0]);
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (is_plain(c, g, STAGE_AOT_FORWARD)) {
			map_put(&last, pair_key(g), i);
			ArenaMark mark = arena_mark(c->scratch);
			report_tangents(c, check_graph_of(c, g));
			arena_rewind(c->scratch, mark);
		} else if (is_plain(c, g, STAGE_AOT_BACKWARD)) {
			const Graph *forward = graph_get(c->p, (GraphId){map_get(&last, pair_key(g))});
			if (forward)
				check_pair(c, forward, g, &all);
		}
	}
	arena_free(c->work[0]);
}
