/* SPDX-License-Identifier: MIT
 * GL202: writes that one printing of a graph has and a later one has not. */
#include "compare_graphs.h"
#include "compare_meta.h"

/* ---- which printings belong together ---- */

typedef struct Pairing {
	const CheckCtx *c;
	Arena *views; /* for one pair of graphs */
	Map told;     /* node and graph -> 1 */
} Pairing;

static bool is_plain(const CheckCtx *c, const Graph *g)
{
	return !g->parent.i && !g->incomplete && !g->truncated && g->nodes.n > 1 && !g->superseded && (g->stage == STAGE_FX || c->types[g->id.i]);
}

/* "after fuse" and "BEFORE fuse" are stages of one pass: what is left without that word; empty: it names no stage. */
static Str stage_of_pass(const CheckCtx *c, Str name, bool *after)
{
	static const Str words[] = {STR_INIT("before"), STR_INIT("after"), STR_INIT("BEFORE"), STR_INIT("AFTER"), STR_INIT("Before"), STR_INIT("After")};
	for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
		uint32_t at = str_find(name, words[i], 0), end = at + words[i].n;
		if (at == name.n || (at && char_is_ident((unsigned char)name.p[at - 1]) && name.p[at - 1] != '_') ||
		    (end < name.n && char_is_ident((unsigned char)name.p[end]) && name.p[end] != '_'))
			continue;
		*after = i % 2;
		return str_printf(c->scratch, STR_FMT "|" STR_FMT, STR_ARG(str_sub(name, 0, at)), STR_ARG(str_sub(name, end, name.n)));
	}
	return (Str){0};
}

static bool same_inputs(const CheckCtx *c, const Graph *a, const Graph *b)
{
	if (a->inputs.n != b->inputs.n || !a->inputs.n)
		return false;
	for (uint32_t i = 0; i < a->inputs.n; i++)
		if (!str_eq(check_name(c, a, a->inputs.v[i]), check_name(c, b, b->inputs.v[i])))
			return false;
	return true;
}

/* Two graphs without names of their own: the same class and inputs, and most calls are equal. */
static bool are_alike(const GraphMatch *m)
{
	uint32_t most = m->a_calls > m->b_calls ? m->a_calls : m->b_calls, paired = m->exact + m->near;
	return m->exact && most && paired * 2 > most;
}

/* ---- findings ---- */

static Finding *finding(Pairing *p, const Graph *g, NodeId node, const Graph *other, Str variant)
{
	uint64_t key = hash_u64((uint64_t)g->id.i << 32 | node.i) | 1;
	if (map_get(&p->told, key))
		return NULL;
	map_put(&p->told, key, 1);
	Finding *f = check_finding(p->c, CHECK_GL202, SEV_WARNING, g, node);
	f->variant = variant;
	f->certainty = TRI_MUST;
	diag_var(p->c->d, f, S("what"), sym_str(p->c->p->names, other->name));
	return f;
}

static Str memory_name(const CheckCtx *c, const CheckGraph *cg, NodeId writer)
{
	for (uint32_t i = 0; i < cg->s->nnode_writes; i++)
		if (cg->s->node_writes[i].node.i == writer.i && cg->s->node_writes[i].through.i)
			return check_name(c, cg->g, cg->root[cg->s->node_writes[i].through.i]);
	return (Str){0};
}

static void report(Pairing *p, const GraphMatch *m, const GraphChange *x)
{
	const CheckCtx *c = p->c;
	const Graph *a = m->a->g, *b = m->b->g;
	bool lost = x->kind == CHANGE_WRITE_LOST;
	Finding *f = finding(p, a, x->a, b, lost ? S("lost") : S("order"));
	if (!f)
		return;
	diag_var(c->d, f, S("text"), memory_name(c, m->a, lost ? x->a : x->by));
	if (lost) {
		check_step(c, f, ROLE_WRITE, a, x->a, "the write in the earlier printing");
		check_step(c, f, ROLE_PLACE, b, x->b, "%s", x->b.i ? "the same call writes other memory here" : "the later printing has no such write");
		return;
	}
	diag_var(c->d, f, S("why"), operator_shown(c->scratch, c->p, graph_node(a, x->by)));
	check_step(c, f, ROLE_WRITE, a, x->by, "the write in the earlier printing");
	check_step(c, f, ROLE_READ, a, x->a, "the read in the earlier printing, %s it", x->a.i > x->by.i ? "behind" : "before");
	check_step(c, f, ROLE_READ, b, x->b, "the read in the later printing");
	if (m->b_of[x->by.i].i)
		check_step(c, f, ROLE_WRITE, b, m->b_of[x->by.i], "the write in the later printing");
}

static void compare(Pairing *p, const GraphMatch *m, Arena *a)
{
	GraphChanges changes = {0};
	graphs_effects(p->c, m, &changes, a);
	for (uint32_t i = 0; i < changes.v.n; i++)
		report(p, m, &changes.v.v[i]);
}

static void compare_pair(Pairing *p, const Graph *a, const Graph *b, bool must_be_alike)
{
	ArenaMark mark = arena_mark(p->views), scratch = arena_mark(p->c->scratch);
	if (graph_structure(p->c, a, true) != graph_structure(p->c, b, true)) {
		const CheckGraph *was = graphs_view(p->c, a, p->views), *is = graphs_view(p->c, b, p->views);
		GraphMatch *m = graphs_match(p->c, was, is, p->views);
		if (!must_be_alike || are_alike(m))
			compare(p, m, p->views);
	}
	arena_rewind(p->c->scratch, scratch);
	arena_rewind(p->views, mark);
}

/* ---- before and after a pass ---- */

/* Graphs printed one behind the other, that name themselves stages of one pass, or are alike. */
static void compare_passes(Pairing *p)
{
	const CheckCtx *c = p->c;
	const Graph *last = NULL;
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (!is_plain(c, g) || g->stage != STAGE_FX)
			continue;
		bool after = false, before = false;
		ArenaMark mark = arena_mark(c->scratch);
		Str now = stage_of_pass(c, sym_str(c->p->names, g->name), &after);
		Str then = last ? stage_of_pass(c, sym_str(c->p->names, last->name), &before) : (Str){0};
		bool stages = now.n && then.n && str_eq(now, then) && after && !before;
		arena_rewind(c->scratch, mark);
		bool near = last && last->class_name.i == g->class_name.i && last->process.i == g->process.i && same_inputs(c, last, g);
		if (last && (stages || (near && !now.n && !then.n)))
			compare_pair(p, last, g, !stages);
		last = g;
	}
}

/* Printings that are one graph by their names: the one that was analysed, and the others. */
static void compare_printings(Pairing *p)
{
	for (uint32_t i = 1; i < p->c->p->graphs.n; i++) {
		const Graph *g = p->c->p->graphs.v[i], *main = graph_get(p->c->p, g->printing_of);
		if (!main || g->incomplete || main->incomplete || g->truncated || main->truncated || main->superseded)
			continue;
		bool later = g->id.i > main->id.i;
		compare_pair(p, later ? main : g, later ? g : main, false);
	}
}

/* ---- Dynamo and AOTAutograd ---- */

static void lost_in_aot(Pairing *p, const Graph *g, const Summary *s, uint32_t input, const Graph *aot, Span meta)
{
	const InputSummary *in = &s->inputs[input];
	const Write *w = NULL;
	for (uint32_t i = 0; i < in->nwrites && !w; i++)
		w = !in->writes[i].metadata && in->writes[i].certainty == TRI_MUST ? &in->writes[i] : NULL;
	Finding *f = w ? finding(p, g, w->node, aot ? aot : g, S("aot")) : NULL;
	if (!f)
		return;
	diag_var(p->c->d, f, S("text"), check_name(p->c, g, g->inputs.v[input]));
	check_step(p->c, f, ROLE_WRITE, g, w->node, "the write in Dynamo's graph");
	if (meta.file.i)
		diag_step(p->c->d, f, ROLE_PLACE, meta, S("AOTAutograd says that this input is not written"));
	if (aot)
		check_step(p->c, f, ROLE_PLACE, aot, (NodeId){0}, "AOTAutograd's graph does not write it");
}

static const Graph *aot_of(const CheckCtx *c, const Graph *g)
{
	for (uint32_t i = 1; i < c->p->graphs.n; i++)
		if (c->p->graphs.v[i]->of.i == g->id.i && c->p->graphs.v[i]->stage == STAGE_AOT_FORWARD && !c->p->graphs.v[i]->parent.i)
			return c->p->graphs.v[i];
	return NULL;
}

/* Where AOTAutograd's own metadata says of an input that it is not written, and the graph writes it. */
static void compare_metadata(Pairing *p, Map *covered)
{
	const CheckCtx *c = p->c;
	CompareMeta m = {c->p, c->summaries, c->metas, c->nmetas, c->keep, c->scratch}; /* its answers outlive its scratch */
	const MetaComparison *all = compare_meta(&m);
	for (uint32_t i = 0; i < c->nmetas; i++) {
		const Graph *g = graph_get(c->p, all[i].graph);
		if (g)
			map_put(covered, g->id.i, 1);
		for (uint32_t k = 0; g && k < all[i].diffs.n; k++) {
			const MetaDiff *d = &all[i].diffs.v[k];
			bool known = d->reason == META_REASON_NONE || d->reason == META_REASON_INACTIVE;
			if (d->input >= 0 && known && str_eq(d->theirs, S("data no")) && str_eq(d->ours, S("data must")))
				lost_in_aot(p, g, c->summaries[g->id.i], (uint32_t)d->input, aot_of(c, g), c->metas[i].span);
		}
	}
}

/* What all AOT graphs of one Dynamo graph do. */
typedef struct AotEffects {
	const Graph *forward, *backward;
	bool writes, unknown;
} AotEffects;

/* What AOTAutograd makes of a write ends in an operator that is nothing but a write (`copy_`, `add_`), or stays a call of
 * one's own. Norms that also update their statistics come from modules that Dynamo's graph calls. */
static bool may_stand_for_write(const CheckCtx *c, const Graph *g, const InputSummary *in)
{
	for (uint32_t i = 0; i < in->nwrites; i++) {
		const Node *n = graph_node(g, in->writes[i].node);
		Str target = sym_str(c->p->names, n->target);
		bool aten = n->kind == NK_CALL && str_find(target, S("aten."), 0) < target.n;
		if (!in->writes[i].metadata && (!aten || str_ends(operator_short(c->p, n), S("_"))))
			return true;
	}
	return in->data != TRI_NO && !in->nwrites;
}

static void look_at_aot(const CheckCtx *c, const Graph *g, AotEffects *e)
{
	const Summary *s = c->summaries[g->id.i];
	e->unknown |= g->incomplete || g->truncated || !s;
	for (uint32_t i = 0; s && i < g->inputs.n; i++)
		e->writes |= may_stand_for_write(c, g, &s->inputs[i]);
	for (uint32_t i = 0; s && i < s->nattrs; i++)
		e->writes |= may_stand_for_write(c, g, &s->attrs[i].w);
	if (g->stage == STAGE_AOT_FORWARD)
		e->forward = g;
	else if (g->stage == STAGE_AOT_BACKWARD)
		e->backward = g;
	else
		e->unknown |= g->stage == STAGE_AOT_JOINT;
}

/* Outputs of a forward graph that are not handed to its backward. */
static uint32_t own_outputs(const CheckCtx *c, const AotEffects *e)
{
	uint32_t saved = 0;
	for (uint32_t i = 0; e->backward && i < e->backward->inputs.n; i++)
		saved += !str_starts(check_name(c, e->backward, e->backward->inputs.v[i]), S("tangents"));
	return e->forward->outputs.n >= saved ? e->forward->outputs.n - saved : UINT32_MAX;
}

static void all_lost(Pairing *p, const Graph *g, const AotEffects *e)
{
	const Summary *s = p->c->summaries[g->id.i];
	for (uint32_t i = 0; i < g->inputs.n; i++)
		if (s->inputs[i].data == TRI_MUST)
			lost_in_aot(p, g, s, i, e->forward, (Span){0});
	for (uint32_t i = 0; i < s->nattrs; i++) {
		const InputSummary *in = &s->attrs[i].w;
		for (uint32_t k = 0; in->data == TRI_MUST && k < in->nwrites; k++) {
			if (in->writes[k].metadata || in->writes[k].certainty != TRI_MUST)
				continue;
			Finding *f = finding(p, g, in->writes[k].node, e->forward, S("aot"));
			if (!f)
				continue;
			diag_varf(p->c->d, f, S("text"), "self." STR_FMT, STR_ARG(sym_str(p->c->p->names, s->attrs[i].path)));
			check_step(p->c, f, ROLE_WRITE, g, in->writes[k].node, "the write in Dynamo's graph");
			check_step(p->c, f, ROLE_PLACE, e->forward, (NodeId){0}, "AOTAutograd's graph writes nothing, and returns no new value of it");
		}
	}
}

static bool writes_caller(const CheckCtx *c, const Graph *g)
{
	const Summary *s = c->summaries[g->id.i];
	for (uint32_t i = 0; i < g->inputs.n; i++)
		if (s->inputs[i].data == TRI_MUST)
			return true;
	for (uint32_t i = 0; i < s->nattrs; i++)
		if (s->attrs[i].w.data == TRI_MUST)
			return true;
	return false;
}

/* Without metadata: AOT graphs that write nothing and return no more than Dynamo's graph have lost its writes. */
static void compare_counts(Pairing *p, const Map *covered)
{
	const CheckCtx *c = p->c;
	AotEffects *all = NEW_N(c->scratch, AotEffects, c->p->graphs.n);
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (check_is_repeat(g) && !g->printing_of.i)
			look_at_aot(c, g, &all[g->of.i]);
	}
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		const AotEffects *e = &all[i];
		if (e->forward && !e->writes && !e->unknown && check_wanted(c, g) && !map_get(covered, i) && !g->incomplete &&
		    writes_caller(c, g) && own_outputs(c, e) == g->outputs.n)
			all_lost(p, g, e);
	}
}

/* ---- joint and its parts ---- */

static bool writes_named(const CheckCtx *c, const Graph *g, Str input, bool *has)
{
	const Summary *s = c->summaries[g->id.i];
	for (uint32_t i = 0; s && i < g->inputs.n; i++)
		if (str_eq(check_name(c, g, g->inputs.v[i]), input)) {
			*has = true;
			return s->inputs[i].data != TRI_NO;
		}
	return false;
}

static void compare_joint(Pairing *p, const Graph *joint)
{
	const CheckCtx *c = p->c;
	const Summary *s = c->summaries[joint->id.i];
	const Graph *forward = NULL;
	for (uint32_t i = 0; i < joint->inputs.n; i++) {
		bool kept = false, has = false;
		Str name = check_name(c, joint, joint->inputs.v[i]);
		if (s->inputs[i].data != TRI_MUST)
			continue;
		for (uint32_t k = joint->id.i + 1; k < c->p->graphs.n; k++) {
			const Graph *g = c->p->graphs.v[k];
			if (g->parent.i || g->file.i != joint->file.i || g->process.i != joint->process.i || g->aot_id != joint->aot_id ||
			    g->compile_id.i != joint->compile_id.i)
				continue;
			if (g->stage == STAGE_AOT_JOINT)
				break;
			forward = g->stage == STAGE_AOT_FORWARD ? g : forward;
			kept |= writes_named(c, g, name, &has);
		}
		const Write *w = NULL;
		for (uint32_t k = 0; k < s->inputs[i].nwrites && !w; k++)
			w = s->inputs[i].writes[k].metadata ? NULL : &s->inputs[i].writes[k];
		Finding *f = forward && has && !kept && w ? finding(p, joint, w->node, forward, S("lost")) : NULL;
		if (!f)
			continue;
		diag_var(c->d, f, S("text"), name);
		check_step(c, f, ROLE_WRITE, joint, w->node, "the write in the joint graph");
		check_step(c, f, ROLE_PLACE, forward, (NodeId){0}, "neither the forward nor the backward graph writes it");
	}
}

void check_mutation_lost(const CheckCtx *c)
{
	Pairing p = {.c = c, .views = c->work[0], .told = {.a = c->keep}};
	Map covered = {.a = c->scratch};
	compare_passes(&p);
	compare_printings(&p);
	compare_metadata(&p, &covered);
	compare_counts(&p, &covered);
	for (uint32_t i = 1; i < c->p->graphs.n; i++)
		if (c->p->graphs.v[i]->stage == STAGE_AOT_JOINT && check_wanted(c, c->p->graphs.v[i]) && !c->p->graphs.v[i]->parent.i)
			compare_joint(&p, c->p->graphs.v[i]);
	arena_free(c->work[0]);
}
