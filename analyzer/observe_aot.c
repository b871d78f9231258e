/* SPDX-License-Identifier: MIT
 * What AOTAutograd does not keep: GL105, GL106, and which boundaries it cuts after all. */
#include "graph_words.h"
#include "observe_priv.h"

static bool asks_aot(const Observe *o)
{
	return o->contract == CONTRACT_AOT || o->contract == CONTRACT_CUDAGRAPHS;
}

/* ---- copies that are traced ---- */

static const TracedCopy *traced_at(const Observe *o, NodeId node)
{
	for (uint32_t i = 0; o->v && i < o->v->traced.n; i++)
		if (o->v->traced.v[i].node.i == node.i)
			return &o->v->traced.v[i];
	return NULL;
}

const Verdict *observe_traced(const Observe *o, const Hop *chain, uint32_t n)
{
	for (uint32_t i = 0; i < n && asks_aot(o); i++) {
		const TracedCopy *t = chain[i].node.i ? traced_at(o, chain[i].node) : NULL;
		if (t)
			return &t->v;
	}
	return NULL;
}

/* What is not known is worth a warning where the dump shows a write to one side; that only objects differ is worth none. */
Severity observe_traced_severity(Tri certainty, const Verdict *v)
{
	Severity s = observe_severity(certainty, v->observable, false);
	bool quiet = v->observable == OBS_IDENTITY || (v->observable == OBS_UNKNOWN && !v->written);
	return quiet && s > SEV_NOTE ? SEV_NOTE : s;
}

static bool at_boundary(const Observe *o, NodeId node)
{
	for (uint32_t j = 0; j < o->g->outputs.n; j++) {
		const OutputSummary *s = &o->s->outputs[j];
		for (uint32_t i = 0; s->nof + (s->attribute.i != 0) && i < s->nchain; i++)
			if (s->chain[i].node.i == node.i)
				return true;
	}
	return false;
}

/* A copy whose both sides stay within the graph, or of which only an input leaves it. */
static void traced_inside(Observe *o, const TracedCopy *t)
{
	const NodeFrom *from = &o->s->from[t->node.i];
	Severity sev = observe_traced_severity(from->shares, &t->v);
	if (sev == SEV_NONE)
		return;
	Span at = node_span(o->g, t->node);
	Finding *f = observe_finding(o, S("GL106"), sev, at, t->node);
	f->variant = t->v.observable == OBS_YES ? S("traced-yes") : S("traced");
	f->contracts = CONTRACT_BIT(CONTRACT_AOT) | CONTRACT_BIT(CONTRACT_CUDAGRAPHS);
	f->certainty = from->shares;
	f->condition = from->shares == TRI_MAY ? from->why : (Str){0};
	f->observable = t->v.observable;
	diag_var(o->d, f, S("what"), observe_node_name(o, from->node));
	diag_step(o->d, f, ROLE_ALIAS, at, S("the argument itself in eager code, a copy when traced"));
	observe_verdict_steps(o, f, &t->v);
}

/* ---- inputs that share storage ---- */

static Severity group_severity(const Observe *o, const AotGroup *x)
{
	if (!asks_aot(o) || x->faint)
		return o->contract == CONTRACT_CUDAGRAPHS ? SEV_WARNING : SEV_NOTE;
	switch (aot_cause_effect(x->cause)) {
	case AOT_EFFECT_NONE:
	case AOT_EFFECT_IDENTITY: return o->contract == CONTRACT_CUDAGRAPHS ? SEV_WARNING : SEV_NOTE;
	case AOT_EFFECT_VALUE: return SEV_WARNING;
	case AOT_EFFECT_ERROR: return x->certainty == TRI_MUST ? SEV_ERROR : SEV_WARNING;
	}
	return SEV_NOTE;
}

static Observable group_observable(const AotGroup *x)
{
	switch (aot_cause_effect(x->cause)) {
	case AOT_EFFECT_NONE: return OBS_NO;
	case AOT_EFFECT_IDENTITY: return OBS_IDENTITY;
	case AOT_EFFECT_VALUE: return OBS_UNKNOWN;
	case AOT_EFFECT_ERROR: return x->certainty == TRI_MUST ? OBS_YES : OBS_UNKNOWN;
	}
	return OBS_UNKNOWN;
}

static Str group_variant(const Observe *o, const AotGroup *x)
{
	Buf b = {.a = o->d->a};
	Str word = x->cause == AOT_CAUSE_GROUP || !asks_aot(o) ? S("kept") : aot_cause_name(x->cause);
	for (uint32_t i = 0; i < word.n; i++)
		buf_char(&b, word.p[i] == ' ' || word.p[i] == '_' ? '-' : word.p[i]);
	return buf_str(&b);
}

static void group_steps(Observe *o, Finding *f, const AotGroup *x)
{
	const InputSummary *in = &o->s->inputs[x->input];
	const Write *w = observe_settling_write(in, false);
	Str name = observe_node_name(o, o->g->inputs.v[x->input]), other = observe_node_name(o, o->g->inputs.v[x->other]);
	diag_stepf(o->d, f, ROLE_BOUNDARY, observe_input_span(o, x->input), "`" STR_FMT "` enters the graph", STR_ARG(name));
	diag_stepf(o->d, f, ROLE_BOUNDARY, observe_input_span(o, x->other), "`" STR_FMT "` enters it in the same memory%s", STR_ARG(other),
	           x->nth ? ", at a later call" : "");
	if (w)
		diag_stepf(o->d, f, ROLE_WRITE, node_span(o->g, w->node), "`" STR_FMT "` writes `" STR_FMT "`%s" STR_FMT,
		           STR_ARG(observe_operator(o, graph_node(o->g, w->node))), STR_ARG(name), w->condition.n ? " if " : "",
		           STR_ARG(w->condition));
	if (x->output >= 0)
		diag_stepf(o->d, f, ROLE_BOUNDARY, observe_output_span(o, (uint32_t)x->output), "output %d leaves the graph", (int)x->output);
}

static void group(Observe *o, const AotGroup *x)
{
	const Write *w = observe_settling_write(&o->s->inputs[x->input], false);
	Finding *f = observe_finding(o, S("GL105"), group_severity(o, x), observe_input_span(o, x->input), w ? w->node : (NodeId){0});
	f->variant = group_variant(o, x);
	f->input = (int32_t)x->input;
	f->contracts = CONTRACT_BIT(CONTRACT_FRESH) | CONTRACT_BIT(CONTRACT_STRICT) | CONTRACT_BIT(CONTRACT_CUDAGRAPHS);
	if (aot_cause_effect(x->cause) > AOT_EFFECT_IDENTITY)
		f->contracts |= CONTRACT_BIT(CONTRACT_AOT);
	f->certainty = x->certainty;
	f->condition = x->certainty == TRI_MAY ? (x->why.n ? x->why : S("their elements meet")) : (Str){0};
	f->observable = group_observable(x);
	diag_var(o->d, f, S("input_name"), observe_node_name(o, o->g->inputs.v[x->input]));
	diag_varf(o->d, f, S("other"), "%u", x->other);
	diag_var(o->d, f, S("other_name"), observe_node_name(o, o->g->inputs.v[x->other]));
	diag_var(o->d, f, S("text"), x->certainty == TRI_MUST ? x->why : (Str){0});
	diag_var(o->d, f, S("versions"), aot_cause_versions(x->cause, o->d->a));
	group_steps(o, f, x);
}

/* ---- values that the backward cannot use ---- */

static Str saved_variant(const Observe *o, const AotSaved *x)
{
	Buf b = {.a = o->d->a};
	Str word = aot_cause_name(x->cause);
	for (uint32_t i = 0; i < word.n; i++)
		buf_char(&b, word.p[i] == ' ' || word.p[i] == '_' ? '-' : word.p[i]);
	return buf_str(&b);
}

/* Where the finding stands: the value that is saved or the write; else the side of the boundary. */
static Span saved_span(const Observe *o, const AotSaved *x)
{
	if (x->node.i)
		return node_span(o->g, x->node);
	return x->output >= 0 ? observe_output_span(o, (uint32_t)x->output) : x->input >= 0 ? observe_input_span(o, (uint32_t)x->input) : graph_span(o->g);
}

static Str port_name(const Observe *o, const AotSaved *x)
{
	if (x->output >= 0) {
		const Arg *a = &o->g->outputs.v[x->output].arg;
		return a->kind == AR_NODE ? observe_node_name(o, a->u.node) : (Str){0};
	}
	return x->input >= 0 ? observe_node_name(o, o->g->inputs.v[x->input]) : (Str){0};
}

static void unusable(Observe *o, const AotSaved *x)
{
	Finding *f = observe_finding(o, S("GL106"), x->faint ? SEV_NOTE : SEV_WARNING, saved_span(o, x), x->node);
	Str name = port_name(o, x);
	f->variant = saved_variant(o, x);
	f->output = x->output;
	f->input = x->input;
	f->contracts = CONTRACT_BIT(CONTRACT_AOT) | CONTRACT_BIT(CONTRACT_CUDAGRAPHS);
	f->certainty = TRI_MAY;
	f->condition = str_printf(o->d->a, STR_FMT " and grad mode is on", STR_ARG(x->needs));
	f->observable = OBS_UNKNOWN;
	diag_var(o->d, f, S("what"), name);
	diag_var(o->d, f, S("text"), x->writer);
	diag_var(o->d, f, S("versions"), aot_cause_versions(x->cause, o->d->a));
	diag_stepf(o->d, f, ROLE_PLACE, saved_span(o, x), "%s" STR_FMT "%s", name.n ? "`" : "", STR_ARG(name),
	           name.n ? "` takes part in the backward of this graph" : "the value takes part in the backward of this graph");
	if (x->written.file.i && x->writer.n)
		diag_stepf(o->d, f, ROLE_WRITE, x->written, "`" STR_FMT "` writes it", STR_ARG(x->writer));
	else if (x->written.file.i)
		diag_step(o->d, f, ROLE_WRITE, x->written, S("a gradient reaches its memory"));
}

static Finding *shared_finding(Observe *o, uint32_t input, Str variant)
{
	const Write *w = observe_settling_write(&o->s->inputs[input], false);
	Finding *f = observe_finding(o, S("GL105"), o->contract == CONTRACT_CUDAGRAPHS ? SEV_WARNING : SEV_NOTE,
	                             observe_input_span(o, input), w ? w->node : (NodeId){0});
	f->variant = variant;
	f->input = (int32_t)input;
	f->contracts = CONTRACT_BIT(CONTRACT_FRESH) | CONTRACT_BIT(CONTRACT_STRICT) | CONTRACT_BIT(CONTRACT_CUDAGRAPHS);
	f->certainty = TRI_MUST;
	f->observable = OBS_UNKNOWN;
	diag_var(o->d, f, S("input_name"), observe_node_name(o, o->g->inputs.v[input]));
	diag_stepf(o->d, f, ROLE_BOUNDARY, observe_input_span(o, input), "`" STR_FMT "` enters the graph",
	           STR_ARG(observe_node_name(o, o->g->inputs.v[input])));
	if (w)
		diag_stepf(o->d, f, ROLE_WRITE, node_span(o->g, w->node), "`" STR_FMT "` writes it",
		           STR_ARG(observe_operator(o, graph_node(o->g, w->node))));
	return f;
}

void observe_shared_note(Finding *f)
{
	f->variant = S("body");
	f->contracts = CONTRACT_BIT(CONTRACT_FRESH) | CONTRACT_BIT(CONTRACT_STRICT) | CONTRACT_BIT(CONTRACT_CUDAGRAPHS);
	f->certainty = TRI_MUST;
	f->observable = OBS_UNKNOWN;
}

static bool is_grouped(const Observe *o, uint32_t input)
{
	for (uint32_t i = 0; o->v && i < o->v->groups.n; i++)
		if (o->v->groups.v[i].input == input)
			return true;
	return false;
}

/* The first other input that had elements in common with this one at capture; UINT32_MAX: the dump tells of none. */
static uint32_t captured_with(const Observe *o, uint32_t input)
{
	uint32_t n = o->g->places.n < o->g->inputs.n ? o->g->places.n : o->g->inputs.n;
	for (uint32_t k = 0; k < n && input < n; k++)
		if (k != input && graph_inputs_overlap(o->g, input, k) == TRI_MUST)
			return k;
	return UINT32_MAX;
}

/* What the dump says of places at capture, where no run showed the call. */
static void captured(Observe *o)
{
	enum { PAIRS_MOST = 1 << 16 };
	uint32_t n = o->g->places.n, pairs = 0;
	for (uint32_t i = 0; i < n && i < o->g->inputs.n; i++) {
		if (o->s->inputs[i].data == TRI_NO || is_grouped(o, i))
			continue;
		if ((pairs += n) > PAIRS_MOST)
			return;
		uint32_t k = captured_with(o, i);
		if (k == UINT32_MAX)
			continue;
		Finding *f = shared_finding(o, i, S("captured"));
		diag_varf(o->d, f, S("other"), "%u", k);
		diag_var(o->d, f, S("other_name"), observe_node_name(o, o->g->inputs.v[k]));
		diag_step(o->d, f, ROLE_PLACE, o->g->places.v[k].said, S("says that they are in one storage"));
	}
}

static uint32_t tensor_inputs(const Graph *g, const Summary *s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->inputs.n; i++)
		n += s->inputs[i].tensor;
	return n;
}

/* The forward graph that AOTAutograd made of this one, where it is in the dump. */
static const Graph *forward_of(const Observe *o)
{
	for (uint32_t i = 1; i < o->p->graphs.n; i++) {
		const Graph *g = o->p->graphs.v[i];
		if (g->of.i == o->g->id.i && g->stage == STAGE_AOT_FORWARD && !g->truncated && !g->incomplete)
			return g;
	}
	return NULL;
}

/* Both inputs became one, of other sizes, and the first one is handed back: the base comes in its place. */
static bool base_comes_back(const Observe *o, const Graph *aot, uint32_t *output)
{
	if (!asks_aot(o) || !aot_cause_in(AOT_CAUSE_BASE, o->g->torch) || o->g->inputs.n != 2 || aot->inputs.n != 1)
		return false;
	TypeId base = graph_node(aot, aot->inputs.v[0])->type, first = graph_node(o->g, o->g->inputs.v[0])->type;
	for (uint32_t j = 0; j < o->g->outputs.n && base.i && first.i && base.i != first.i; j++) {
		const Arg *a = &o->g->outputs.v[j].arg;
		*output = j;
		if (a->kind == AR_NODE && a->u.node.i == o->g->inputs.v[0].i)
			return true;
	}
	return false;
}

static void merged(Observe *o)
{
	const Graph *aot = o->g->stage == STAGE_DYNAMO ? forward_of(o) : NULL;
	if (!aot || aot->inputs.n >= tensor_inputs(o->g, o->s))
		return;
	for (uint32_t i = 0; i < o->g->inputs.n; i++) {
		if (o->s->inputs[i].data == TRI_NO || is_grouped(o, i))
			continue;
		uint32_t output;
		bool base = base_comes_back(o, aot, &output);
		if (!base && captured_with(o, i) != UINT32_MAX) /* told already, with the other input's name */
			return;
		Finding *f = shared_finding(o, i, base ? S("merged-base") : S("merged"));
		if (base) {
			f->severity = SEV_WARNING;
			f->contracts |= CONTRACT_BIT(CONTRACT_AOT);
			diag_varf(o->d, f, S("text"), "%u", output);
			diag_var(o->d, f, S("versions"), aot_cause_versions(AOT_CAUSE_BASE, o->d->a));
			diag_stepf(o->d, f, ROLE_BOUNDARY, observe_output_span(o, output), "output %u is handed back as the whole", output);
		}
		diag_stepf(o->d, f, ROLE_PLACE, graph_span(aot), "AOTAutograd's graph has %u inputs, this one %u", aot->inputs.n,
		           tensor_inputs(o->g, o->s));
		return;
	}
}

void observe_aot(Observe *o)
{
	captured(o);
	merged(o);
	for (uint32_t i = 0; o->v && asks_aot(o) && i < o->v->saved.n; i++)
		unusable(o, &o->v->saved.v[i]);
	for (uint32_t i = 0; o->v && i < o->v->groups.n; i++)
		group(o, &o->v->groups.v[i]);
	for (uint32_t i = 0; o->v && asks_aot(o) && i < o->v->traced.n; i++)
		if (!at_boundary(o, o->v->traced.v[i].node))
			traced_inside(o, &o->v->traced.v[i]);
}
