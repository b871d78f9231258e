/* SPDX-License-Identifier: MIT */
#include "compare_meta.h"

Str meta_reason(MetaReason r)
{
	static const Str words[] = {
#define META_REASON(id, words) STR_INIT(words),
#include "meta_reasons.def"
#undef META_REASON
	};
	ASSERT(r < META_REASON_N);
	return words[r];
}

/* ---- which graph ---- */

static uint64_t key_of(FileId unit, Str process, Str compile_id, uint32_t attempt)
{
	uint64_t h = hash_bytes(unit.i, process.p, process.n);
	h = hash_bytes(h, compile_id.p, compile_id.n);
	return hash_u64(h ^ attempt) | 1;
}

/* Dynamo's graph as bytecode calls it, or as a trace prints it, by its class. Traces of bodies are printed under its id
 * too, by other names. */
static bool is_captured(const CompareMeta *c, const Graph *g)
{
	return g->stage == STAGE_DYNAMO && !g->parent.i &&
	       (g->name.i == g->class_name.i || str_has(sym_str(c->p->names, g->name), S("compiled_fn_")));
}

/* Graphs and metadata in the order in which each process printed them: artifacts of one file keep
 * it. */
static void join_graphs(const CompareMeta *c, MetaComparison *out)
{
	Map last = {.a = c->scratch};
	uint32_t g = 1;
	for (uint32_t m = 0; m < c->nmetas; m++) {
		const AotMeta *meta = &c->metas[m];
		for (; g < c->p->graphs.n && c->p->graphs.v[g]->artifact.i < meta->artifact.i; g++) {
			const Graph *graph = c->p->graphs.v[g];
			GraphId id = graph->printing_of.i ? graph->printing_of : graph->id;
			if (is_captured(c, graph) && c->summaries[id.i])
				map_put(&last,
				        key_of(graph->unit, sym_str(c->p->names, graph->process),
				               sym_str(c->p->names, graph->compile_id), graph->attempt),
				        id.i);
		}
		out[m].meta = m;
		if (meta->compile_id.n)
			out[m].graph.i = map_get(
				&last, key_of(meta->unit, meta->process, meta->compile_id, meta->attempt));
	}
}

/* ---- answers ---- */

typedef struct Pairing {
	const CompareMeta *c;
	const AotMeta *meta;
	const Graph *g;
	const Summary *s;
	uint32_t attrs; /* entries before the inputs: parameters and buffers of a module, up to 2.4 */
	MetaComparison *out;
} Pairing;

static void add_diff(Pairing *p, int32_t input, int32_t output, MetaReason reason, Str theirs,
                     Str ours)
{
	MetaDiff d = {input, output, reason, theirs, ours};
	VEC_PUSH(p->c->keep, &p->out->diffs, d);
}

static Str tri_word(Tri t)
{
	return t == TRI_MUST ? S("must") : t == TRI_MAY ? S("may") : S("no");
}

/* Does a dropout lie on the way? */
static bool through_dropout(const Pairing *p, const Hop *chain, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const Node *node = chain[i].node.i ? graph_node(p->g, chain[i].node) : NULL;
		if (node && node->kind == NK_CALL &&
		    str_has(sym_str(p->c->p->names, node->target), S("dropout")))
			return true;
	}
	return false;
}

static MetaReason write_reason(const Pairing *p, const InputSummary *in, bool metadata,
                               MetaBool theirs)
{
	bool dropout = in->nwrites != 0, storage = !metadata && in->metadata == TRI_MUST;
	for (uint32_t i = 0; i < in->nwrites; i++) {
		dropout = dropout && through_dropout(p, in->writes[i].chain, in->writes[i].nchain);
		storage = storage && in->writes[i].metadata;
	}
	if (theirs == META_NO && dropout)
		return META_REASON_INACTIVE;
	if (theirs == META_NO && storage)
		return META_REASON_NEW_STORAGE;
	return p->meta->subclasses ? META_REASON_SUBCLASS : META_REASON_NONE;
}

static void compare_write(Pairing *p, uint32_t input, bool metadata, MetaBool theirs)
{
	const InputSummary *in = &p->s->inputs[input];
	Tri ours = metadata ? in->metadata : in->data;
	const char *what = metadata ? "metadata" : "data";
	if (theirs == META_UNKNOWN)
		return;
	p->out->compared++;
	if (ours == TRI_MAY)
		p->out->open++;
	else if ((theirs == META_YES) != (ours == TRI_MUST))
		add_diff(p, (int32_t)input, -1, write_reason(p, in, metadata, theirs),
		         str_printf(p->c->keep, "%s %s", what, theirs == META_YES ? "yes" : "no"),
		         str_printf(p->c->keep, "%s " STR_FMT, what, STR_ARG(tri_word(ours))));
}

static MetaBool either(MetaBool a, MetaBool b)
{
	return a > b ? a : b;
}

static void compare_input(Pairing *p, uint32_t i)
{
	const AotInput *theirs = &p->meta->inputs[p->attrs + i];
	MetaBool layout =
		either(theirs->mutates_metadata,
	           either(theirs->mutates_storage_metadata, theirs->mutation_inductor_storage_resize));
	compare_write(p, i, false, theirs->mutates_data);
	compare_write(p, i, true, layout);
}

static bool lists(const OutputSummary *o, uint32_t index)
{
	for (uint32_t i = 0; i < o->nof; i++)
		if (o->of[i] == index)
			return true;
	return false;
}

static bool shares_with_input(const OutputSummary *o)
{
	return o->kind == ALIAS_INPUT || o->kind == ALIAS_VIEW_OF_INPUT;
}

static bool shares_with_output(const OutputSummary *o)
{
	return o->kind == ALIAS_OUTPUT || o->kind == ALIAS_VIEW_OF_OUTPUT;
}

static Str our_words(const Pairing *p, const OutputSummary *o)
{
	Buf b = {.a = p->c->keep};
	if (o->certainty == TRI_MAY)
		buf_add(&b, S("maybe_"));
	buf_add(&b, alias_name(o->kind));
	if (o->kind == ALIAS_VIEW_OF_ATTR)
		buf_printf(&b, " " STR_FMT, STR_ARG(sym_str(p->c->p->names, o->attribute)));
	for (uint32_t i = 0; i < o->nof; i++)
		buf_printf(&b, " %u", o->of[i]);
	return buf_str(&b);
}

static Str their_words(const Pairing *p, const AotOutput *o)
{
	if (o->base_idx < 0)
		return aot_output_name(o->type);
	return str_printf(p->c->keep, STR_FMT " %lld", STR_ARG(aot_output_name(o->type)),
	                  (long long)o->base_idx);
}

/* Was some input of those that the output shares with given other memory (x.data = y, set_)? */
static bool of_new_storage(const Pairing *p, const OutputSummary *o)
{
	for (uint32_t i = 0; i < o->nof; i++)
		if (o->of[i] < p->g->inputs.n && p->s->inputs[o->of[i]].metadata != TRI_NO)
			return true;
	return false;
}

/* non_alias and unsafe_view_alias: no memory of an input, and of no other output as far as AOT
 * looks. */
static MetaReason fresh_reason(const Pairing *p, const OutputSummary *o, MetaBool requires_grad)
{
	if (through_dropout(p, o->chain, o->nchain))
		return META_REASON_INACTIVE;
	if (o->kind == ALIAS_OUTPUT)
		return META_REASON_TWICE;
	if (shares_with_output(o) && requires_grad != META_YES)
		return META_REASON_HIDDEN_BASE;
	return shares_with_input(o) && of_new_storage(p, o) ? META_REASON_NEW_STORAGE
	                                                    : META_REASON_NONE;
}

/* Do the two outputs share, by our answer? */
static bool outputs_share(const Summary *s, uint32_t a, uint32_t b)
{
	const OutputSummary *x = &s->outputs[a], *y = &s->outputs[b];
	if (shares_with_output(x) && (lists(x, b) || (shares_with_output(y) && x->root.i == y->root.i)))
		return true;
	return shares_with_output(y) && lists(y, a);
}

/* Another output that AOT derives from the same intermediate base as output k; UINT32_MAX when
 * there is none. */
static uint32_t base_partner(const Pairing *p, uint32_t k)
{
	const AotMeta *m = p->meta;
	for (uint32_t j = 0; j < m->noutputs && j < k; j++)
		if (m->outputs[j].base_idx == m->outputs[k].base_idx &&
		    (m->outputs[j].type == AOT_OUTPUT_BASE || m->outputs[j].type == AOT_OUTPUT_BASE_SAVED))
			return j;
	return UINT32_MAX;
}

/* Does AOT say of an output that it views output k, which is then the base and itself non_alias? */
static bool is_base(const Pairing *p, uint32_t k)
{
	const OutputSummary *o = &p->s->outputs[k];
	for (uint32_t i = 0; shares_with_output(o) && i < o->nof; i++) {
		const AotOutput *other = o->of[i] < p->meta->noutputs ? &p->meta->outputs[o->of[i]] : NULL;
		if (other && other->type == AOT_OUTPUT_BASE_IS_OUTPUT && other->base_idx == k)
			return true;
	}
	return false;
}

/* Does our answer for output k agree with AOT's? */
static bool agrees(const Pairing *p, uint32_t k, const AotOutput *theirs)
{
	const OutputSummary *ours = &p->s->outputs[k];
	uint32_t partner;
	switch (theirs->type) {
	case AOT_OUTPUT_NON_ALIAS:
	case AOT_OUTPUT_UNSAFE_VIEW:
		return ours->kind == ALIAS_FRESH || ours->kind == ALIAS_NON_TENSOR || is_base(p, k);
	case AOT_OUTPUT_ALIAS_OF_INPUT:
	case AOT_OUTPUT_IS_INPUT:
		if (theirs->base_idx < p->attrs)
			return ours->kind == ALIAS_VIEW_OF_ATTR;
		return shares_with_input(ours) && lists(ours, (uint32_t)(theirs->base_idx - p->attrs));
	case AOT_OUTPUT_BASE:
	case AOT_OUTPUT_BASE_SAVED:
		partner = base_partner(p, k);
		return !shares_with_input(ours) &&
		       (partner == UINT32_MAX || outputs_share(p->s, k, partner));
	case AOT_OUTPUT_BASE_IS_OUTPUT:
		return theirs->base_idx >= 0 && theirs->base_idx < p->meta->noutputs &&
		       outputs_share(p->s, k, (uint32_t)theirs->base_idx);
	default: return true;
	}
}

static void compare_output(Pairing *p, uint32_t k)
{
	const AotOutput *theirs = &p->meta->outputs[k];
	const OutputSummary *ours = &p->s->outputs[k];
	if (theirs->type == AOT_OUTPUT_UNKNOWN || theirs->type == AOT_OUTPUT_CUSTOM_FUNCTION_VIEW)
		return;
	p->out->compared++;
	if (ours->certainty == TRI_MAY || ours->kind == ALIAS_UNKNOWN) {
		p->out->open++;
		return;
	}
	if (agrees(p, k, theirs))
		return;
	bool fresh = theirs->type == AOT_OUTPUT_NON_ALIAS || theirs->type == AOT_OUTPUT_UNSAFE_VIEW;
	MetaReason reason = fresh ? fresh_reason(p, ours, theirs->requires_grad) : META_REASON_NONE;
	if (reason == META_REASON_NONE && p->meta->subclasses)
		reason = META_REASON_SUBCLASS;
	add_diff(p, -1, (int32_t)k, reason, their_words(p, theirs), our_words(p, ours));
}

/* ---- one graph ---- */

static void compare_counts(Pairing *p, MetaReason reason)
{
	Arena *a = p->c->keep;
	add_diff(p, -1, -1, reason,
	         str_printf(a, "%u inputs, %u outputs", p->meta->ninputs, p->meta->noutputs),
	         str_printf(a, "%u inputs, %u outputs", p->g->inputs.n, p->g->outputs.n));
}

static bool writes_an_input(const Graph *g, const Summary *s)
{
	for (uint32_t i = 0; i < g->inputs.n; i++)
		if (s->inputs[i].data != TRI_NO || s->inputs[i].metadata != TRI_NO)
			return true;
	return false;
}

/* Why entries and inputs or outputs of the graph cannot be paired; META_REASON_N: they can.
 * `parts`: how many metadata belong to the graph. */
static MetaReason unpaired(const Pairing *p, uint32_t parts)
{
	bool outputs = p->meta->noutputs == p->g->outputs.n, fewer = p->meta->ninputs < p->g->inputs.n;
	if (parts > 1)
		return META_REASON_SPLIT;
	if (p->meta->ninputs != p->g->inputs.n &&
	    p->meta->compile_id.p[0] == '!') /* compiled autograd */
		return META_REASON_LIST;
	if (outputs && fewer && writes_an_input(p->g, p->s))
		return META_REASON_MERGED;
	return outputs && !fewer ? META_REASON_N : META_REASON_NONE;
}

static void compare_one(const CompareMeta *c, MetaComparison *all, uint32_t m, uint32_t parts)
{
	Pairing p = {.c = c, .meta = &c->metas[m], .out = &all[m]};
	p.g = graph_get(c->p, all[m].graph);
	p.s = c->summaries[p.g->id.i];
	MetaReason why = unpaired(&p, parts);
	if (why != META_REASON_N) {
		compare_counts(&p, why);
		return;
	}
	p.attrs = p.meta->ninputs - p.g->inputs.n;
	for (uint32_t i = 0; i < p.g->inputs.n; i++)
		compare_input(&p, i);
	for (uint32_t k = 0; k < p.g->outputs.n; k++)
		compare_output(&p, k);
}

MetaComparison *compare_meta(const CompareMeta *c)
{
	MetaComparison *all = NEW_N(c->keep, MetaComparison, (size_t)c->nmetas + 1);
	ArenaMark mark = arena_mark(c->scratch);
	Map parts = {.a = c->scratch};
	join_graphs(c, all);
	for (uint32_t m = 0; m < c->nmetas; m++)
		if (all[m].graph.i)
			map_put(&parts, all[m].graph.i, map_get(&parts, all[m].graph.i) + 1);
	for (uint32_t m = 0; m < c->nmetas; m++)
		if (all[m].graph.i)
			compare_one(c, all, m, map_get(&parts, all[m].graph.i));
	arena_rewind(c->scratch, mark);
	return all;
}

/* ---- text ---- */

static void dump_diff(const CompareMeta *c, const Graph *g, const MetaDiff *d, Buf *out)
{
	if (d->input >= 0)
		buf_printf(out, "  input %d " STR_FMT, d->input,
		           STR_ARG(sym_str(c->p->names, graph_node(g, g->inputs.v[d->input])->name)));
	else if (d->output >= 0)
		buf_printf(out, "  output %d", d->output);
	else
		buf_add(out, S("  all"));
	buf_printf(out, ": AOT " STR_FMT ", here " STR_FMT " (" STR_FMT ")\n", STR_ARG(d->theirs),
	           STR_ARG(d->ours), STR_ARG(meta_reason(d->reason)));
}

void compare_meta_dump(const CompareMeta *c, const MetaComparison *found, Buf *out)
{
	for (uint32_t m = 0; m < c->nmetas; m++) {
		const Graph *g = graph_get(c->p, found[m].graph);
		buf_printf(out, "aot-metadata id=" STR_FMT, STR_ARG(c->metas[m].compile_id));
		if (c->metas[m].attempt)
			buf_printf(out, "_%u", c->metas[m].attempt);
		if (c->metas[m].aot_id)
			buf_printf(out, " aot=%u", c->metas[m].aot_id - 1);
		if (!g) {
			buf_add(out, S(": no graph\n"));
			continue;
		}
		buf_printf(out, " graph=%u " STR_FMT ": %u answers, %u differ, %u only may\n", g->id.i,
		           STR_ARG(sym_str(c->p->names, g->name)), found[m].compared, found[m].diffs.n,
		           found[m].open);
		for (uint32_t i = 0; i < found[m].diffs.n; i++)
			dump_diff(c, g, &found[m].diffs.v[i], out);
	}
}
