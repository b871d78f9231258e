/* SPDX-License-Identifier: MIT */
#include "observe.h"

#include "graph_words.h"
#include "link_export.h"
#include "observe_priv.h"

Severity observe_severity(Tri certainty, Observable o, bool kept)
{
	if (certainty == TRI_NO || (certainty == TRI_MAY && o == OBS_NO))
		return SEV_NONE;
	if (kept || o == OBS_NO)
		return SEV_NOTE;
	if (certainty == TRI_MUST && o == OBS_YES)
		return SEV_ERROR;
	return SEV_WARNING;
}

static Str name_of(const Observe *o, Sym s)
{
	return sym_str(o->p->names, s);
}

Str observe_node_name(const Observe *o, NodeId id)
{
	return node_shown(o->p, o->g, id);
}

Str observe_operator(const Observe *o, const Node *n)
{
	return operator_shown(o->d->a, o->p, n);
}

Finding *observe_finding(Observe *o, Str rule, Severity sev, Span at, NodeId node)
{
	Finding *f = diag_add(o->d, rule, sev, at);
	f->graph = name_of(o, o->g->name);
	f->graph_id = o->g->id;
	f->compile_id = name_of(o, o->g->compile_id);
	f->source = node_source(o->p, o->src, o->g, node);
	if (node.i)
		f->group = observe_operator(o, graph_node(o->g, node));
	diag_var(o->d, f, S("operator"), f->group);
	return f;
}

Span observe_input_span(const Observe *o, uint32_t i)
{
	return node_span(o->g, o->g->inputs.v[i]);
}

Span observe_output_span(const Observe *o, uint32_t j)
{
	const Output *out = &o->g->outputs.v[j];
	return (Span){o->g->file, out->at, out->end};
}

/* "`contiguous`, `view`": the operators that lead from the shared memory to the value */
static Str through(const Observe *o, const Hop *chain, uint32_t n)
{
	enum { SHOWN = 6 };
	Buf b = {.a = o->d->a};
	uint32_t said = 0;
	for (uint32_t i = 0; i < n; i++) {
		const Node *m = chain[i].node.i ? graph_node(o->g, chain[i].node) : NULL;
		Str t = m ? observe_operator(o, m) : (Str){0};
		if (!t.n)
			continue;
		if (said == SHOWN) {
			buf_add(&b, S(", ..."));
			break;
		}
		buf_printf(&b, "%s`" STR_FMT "`", said++ ? ", " : "", STR_ARG(t));
	}
	return buf_str(&b);
}

/* Evidence: one step per operator on the way. */
static void chain_steps(Observe *o, Finding *f, const Hop *chain, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const Hop *h = &chain[i];
		if (!h->node.i)
			continue;
		const Node *m = graph_node(o->g, h->node);
		Span at = node_span(o->g, h->node);
		Str name = observe_node_name(o, h->node), op = observe_operator(o, m), why = h->why;
		if (m->kind == NK_PLACEHOLDER) {
			diag_stepf(o->d, f, ROLE_BOUNDARY, at, "`" STR_FMT "` enters the graph", STR_ARG(name));
		} else if (m->kind == NK_GET_ATTR) {
			diag_stepf(o->d, f, ROLE_PLACE, at, "`self." STR_FMT "` belongs to the module", STR_ARG(name_of(o, m->target)));
		} else if (h->shares == TRI_MAY) {
			diag_stepf(o->d, f, ROLE_ALIAS, at, "`" STR_FMT "` is in the same memory if " STR_FMT, STR_ARG(name), STR_ARG(why));
		} else if (!i) {
			diag_stepf(o->d, f, ROLE_PLACE, at, "`" STR_FMT "` is made here by `" STR_FMT "`", STR_ARG(name), STR_ARG(op));
		} else if (h->same_object) {
			diag_stepf(o->d, f, ROLE_ALIAS, at, "`" STR_FMT "` is the very same tensor: `" STR_FMT "` hands it back%s" STR_FMT,
			           STR_ARG(name), STR_ARG(op), why.n ? ", since " : "", STR_ARG(why));
		} else {
			diag_stepf(o->d, f, ROLE_ALIAS, at, "`" STR_FMT "` is in the same memory: `" STR_FMT "` does not copy%s" STR_FMT,
			           STR_ARG(name), STR_ARG(op), why.n ? ", since " : "", STR_ARG(why));
		}
	}
}

/* Named contracts under which a boundary that needs `keep` is not kept, or not allowed. */
static unsigned contracts_of(Keep keep, bool blocks_replay)
{
	unsigned c = CONTRACT_BIT(CONTRACT_STRICT);
	Contract fresh = {.name = CONTRACT_FRESH};
	if (!(contract_keeps(&fresh, false) & keep))
		c |= CONTRACT_BIT(CONTRACT_FRESH);
	if (blocks_replay)
		c |= CONTRACT_BIT(CONTRACT_CUDAGRAPHS);
	return c;
}

/* Does the answer rest on a line that could not be read? GL901 tells of that; here it is worth a note. */
static bool through_unread(const Observe *o, const Hop *chain, uint32_t n, NodeId by)
{
	for (uint32_t i = 0; i < n; i++)
		if (chain[i].node.i && graph_node(o->g, chain[i].node)->kind == NK_UNREAD)
			return true;
	return by.i && graph_node(o->g, by)->kind == NK_UNREAD;
}

/* What a boundary's verdict is; without frames in the dump it cannot be told. */
static const Verdict *verdict_of(const Observe *o, int32_t output, int32_t input)
{
	static const Verdict unknown = {.observable = OBS_UNKNOWN};
	const Verdict *all = !o->v ? NULL : output >= 0 ? o->v->outputs : o->v->inputs;
	int32_t i = output >= 0 ? output : input;
	return all && i >= 0 && all[i].observable != OBS_NONE ? &all[i] : &unknown;
}

/* By the tables of the design. Where frames are shown and hidden code decides, what is only perhaps an alias is a note. */
static Severity plain_severity(const Observe *o, Tri certainty, const Verdict *v, bool kept)
{
	Severity s = observe_severity(certainty, v->observable, kept);
	bool shown = o->v && o->v->outputs;
	return s == SEV_WARNING && certainty == TRI_MAY && v->observable == OBS_UNKNOWN && shown ? SEV_NOTE : s;
}

static Severity severity(const Observe *o, Tri certainty, const Verdict *v, Keep keep, bool blocks_replay, bool unread, bool *quiet)
{
	*quiet = false;
	if (unread)
		return SEV_NOTE;
	if (o->contract == CONTRACT_STRICT)
		return certainty == TRI_MUST ? SEV_ERROR : SEV_WARNING;
	if (o->contract == CONTRACT_CUDAGRAPHS && blocks_replay)
		return SEV_WARNING;
	bool kept = o->keeps & keep;
	Severity s = plain_severity(o, certainty, v, kept);
	*quiet = kept && plain_severity(o, certainty, v, false) > SEV_NOTE;
	return s;
}

static void certainty_of(const Observe *o, Finding *f, Tri certainty, Str condition, const Verdict *v)
{
	f->certainty = certainty;
	f->observable = v->observable;
	if (certainty == TRI_MAY)
		f->condition = condition.n ? condition : S("an operator that copies only sometimes does not copy");
	if (v->observable == OBS_YES)
		f->variant = str_printf(o->d->a, STR_FMT "-yes", STR_ARG(f->variant));
}

/* The node whose line makes the alias: the last operator of the chain, else the returned value itself. */
static NodeId alias_node(const Observe *o, const OutputSummary *s)
{
	for (uint32_t i = s->nchain; i-- > 0;) {
		NodeId id = s->chain[i].node;
		if (id.i && graph_node(o->g, id)->kind != NK_PLACEHOLDER)
			return id;
	}
	return (NodeId){0};
}

static Span alias_span(const Observe *o, const OutputSummary *s, uint32_t j)
{
	NodeId id = alias_node(o, s);
	return id.i ? node_span(o->g, id) : observe_output_span(o, j);
}

/* What would decide where nothing could be asked. */
static Str not_asked(const Observe *o)
{
	if (!o->p->frames.n)
		return S("the dump has no bytecode; capture it with TORCH_LOGS=\"graph_code,bytecode\"");
	return S("no bytecode in the dump calls this graph; capture the whole run with TORCH_LOGS=\"graph_code,bytecode\"");
}

/* The write of a written input is the finding's own already. */
static bool is_said(const Finding *f, const NoticeStep *s)
{
	const Step *last = f->steps.n ? &f->steps.v[f->steps.n - 1] : NULL;
	return last && last->role == s->role && last->span.file.i == s->where.file.i && last->span.at == s->where.at;
}

/* Where the cut would be noticed. */
void observe_verdict_steps(Observe *o, Finding *f, const Verdict *v)
{
	for (uint32_t i = 0; i < v->nsteps; i++) {
		const NoticeStep *s = &v->steps[i];
		if (s->where.file.i && !is_said(f, s))
			diag_stepf(o->d, f, s->role, s->where, "`" STR_FMT "` %s", STR_ARG(s->what),
			           s->role == ROLE_WRITE ? "writes that memory afterwards" : "reads it through another holder");
	}
	diag_var(o->d, f, S("why"), v->why.n || v->observable != OBS_UNKNOWN ? v->why : not_asked(o));
}

/* "the buffer `count`", where an exported program says so */
static void owner_of(const Observe *o, Finding *f, int32_t input)
{
	const ExportRole *r = o->g->input_roles && input >= 0 ? &o->g->input_roles[input] : NULL;
	Str words = r ? export_role_words(r->kind) : (Str){0};
	if (words.n && r->target.i)
		diag_varf(o->d, f, S("owner"), STR_FMT " `" STR_FMT "`", STR_ARG(words), STR_ARG(name_of(o, r->target)));
}

static bool gives_back(const Observe *o, uint32_t output)
{
	return export_gives_back(o->g->outputs.v[output].role.kind);
}

static void boundary_step(Observe *o, Finding *f, uint32_t j)
{
	diag_stepf(o->d, f, ROLE_BOUNDARY, observe_output_span(o, j), "output %u leaves the graph", j);
}

static void output_aliases_input(Observe *o, uint32_t j, const OutputSummary *s)
{
	bool attr = s->kind == ALIAS_VIEW_OF_ATTR, may = s->certainty == TRI_MAY, quiet;
	const Verdict *traced = observe_traced(o, s->chain, s->nchain), *v = traced ? traced : verdict_of(o, (int32_t)j, -1);
	Severity sev = severity(o, s->certainty, v, KEEP_OUTPUT_INPUT, !attr, through_unread(o, s->chain, s->nchain, s->node),
	                        &quiet);
	if (traced && (sev = observe_traced_severity(s->certainty, v)) > SEV_NOTE)
		quiet = false;
	if (sev == SEV_NONE)
		return;
	Finding *f = observe_finding(o, S("GL101"), sev, alias_span(o, s, j), alias_node(o, s));
	const char *kind = attr ? "attribute" : s->kind == ALIAS_INPUT ? "object" : "view";
	f->variant = traced ? S("traced") : str_printf(o->d->a, "%s-%s", may ? "may" : "must", kind);
	f->output = (int32_t)j;
	f->input = attr || !s->nof ? -1 : (int32_t)s->of[0];
	f->attribute = attr ? str_printf(o->d->a, "self." STR_FMT, STR_ARG(name_of(o, s->attribute))) : (Str){0};
	f->contracts = contracts_of(KEEP_OUTPUT_INPUT, !attr) | (traced ? CONTRACT_BIT(CONTRACT_AOT) : 0);
	f->quiet_by_contract = quiet;
	certainty_of(o, f, s->certainty, s->condition, v);
	diag_var(o->d, f, S("output_name"), s->node.i ? observe_node_name(o, s->node) : (Str){0});
	if (f->input >= 0)
		diag_var(o->d, f, S("input_name"), observe_node_name(o, o->g->inputs.v[f->input]));
	owner_of(o, f, f->input);
	diag_var(o->d, f, S("through"), through(o, s->chain, s->nchain));
	chain_steps(o, f, s->chain, s->nchain);
	boundary_step(o, f, j);
	observe_verdict_steps(o, f, v);
}

/* The first output in the same memory that the caller gets. */
static uint32_t partner_of(const Observe *o, const OutputSummary *s)
{
	for (uint32_t i = 0; i < s->nof; i++)
		if (!gives_back(o, s->of[i]))
			return s->of[i];
	return UINT32_MAX;
}

static void outputs_share(Observe *o, uint32_t j, const OutputSummary *s)
{
	bool may = s->certainty == TRI_MAY, quiet;
	const Verdict *traced = observe_traced(o, s->chain, s->nchain), *v = traced ? traced : verdict_of(o, (int32_t)j, -1);
	Severity sev = severity(o, s->certainty, v, KEEP_OUTPUT_OUTPUT, false, through_unread(o, s->chain, s->nchain, s->node),
	                        &quiet);
	if (traced && (sev = observe_traced_severity(s->certainty, v)) > SEV_NOTE)
		quiet = false;
	uint32_t partner = partner_of(o, s);
	if (sev == SEV_NONE || partner == UINT32_MAX)
		return;
	Finding *f = observe_finding(o, S("GL102"), sev, alias_span(o, s, j), alias_node(o, s));
	f->variant = traced ? S("traced") : str_printf(o->d->a, "%s-%s", may ? "may" : "must", s->kind == ALIAS_OUTPUT ? "object" : "view");
	f->output = (int32_t)j;
	f->other_output = (int32_t)partner;
	f->contracts = contracts_of(KEEP_OUTPUT_OUTPUT, false) | (traced ? CONTRACT_BIT(CONTRACT_AOT) : 0);
	f->quiet_by_contract = quiet;
	certainty_of(o, f, s->certainty, s->condition, v);
	const OutputSummary *p = &o->s->outputs[partner];
	diag_var(o->d, f, S("output_name"), s->node.i ? observe_node_name(o, s->node) : (Str){0});
	diag_var(o->d, f, S("partner_name"), p->node.i ? observe_node_name(o, p->node) : (Str){0});
	diag_var(o->d, f, S("through"), through(o, s->chain, s->nchain));
	chain_steps(o, f, s->chain, s->nchain);
	boundary_step(o, f, j);
	diag_stepf(o->d, f, ROLE_BOUNDARY, observe_output_span(o, partner), "output %u leaves the graph in the same memory", partner);
	observe_verdict_steps(o, f, v);
}

/* By the signature an output is the new value of a buffer or an input: whoever runs the graph copies it there. */
static void given_back(Observe *o, uint32_t j)
{
	const ExportRole *r = &o->g->outputs.v[j].role;
	NodeId node = o->s->outputs[j].node;
	Finding *f = observe_finding(o, S("GL103"), SEV_NOTE, observe_output_span(o, j), (NodeId){0});
	f->variant = S("signature");
	f->certainty = TRI_MUST;
	f->contracts = contracts_of(KEEP_INPUT_WRITES, true);
	diag_var(o->d, f, S("output_name"), node.i ? observe_node_name(o, node) : (Str){0});
	diag_varf(o->d, f, S("owner"), STR_FMT " `" STR_FMT "`", STR_ARG(export_role_words(r->kind)), STR_ARG(name_of(o, r->target)));
	for (uint32_t i = 0; o->g->input_roles && r->target.i && i < o->g->inputs.n; i++) {
		const Node *in = graph_node(o->g, o->g->inputs.v[i]);
		Sym names = r->kind == EXPORT_INPUT_MUTATION ? (in->name.i ? in->name : in->target) : o->g->input_roles[i].target;
		if (names.i == r->target.i)
			f->input = (int32_t)i;
	}
	diag_step(o->d, f, ROLE_BOUNDARY, observe_output_span(o, j), S("the new value leaves the graph here"));
}

/* A frame changes one of two outputs that name the same memory: whether the other one sees it depends on whether they are
 * one object. */
static void reshaped(Observe *o, const GraphReshape *w)
{
	const OutputSummary *s = w->output < o->g->outputs.n ? &o->s->outputs[w->output] : NULL;
	bool quiet;
	if (!s || s->certainty != TRI_MUST || (s->kind != ALIAS_OUTPUT && s->kind != ALIAS_VIEW_OF_OUTPUT))
		return;
	const Verdict *v = verdict_of(o, (int32_t)w->output, -1);
	Severity sev = severity(o, TRI_MUST, v, KEEP_OUTPUT_OUTPUT, false, false, &quiet);
	uint32_t partner = partner_of(o, s);
	if (sev == SEV_NONE || partner == UINT32_MAX)
		return;
	Finding *f = observe_finding(o, S("GL104"), sev, w->where, (NodeId){0});
	f->variant = S("must-output");
	f->output = (int32_t)w->output;
	f->other_output = (int32_t)partner;
	f->contracts = contracts_of(KEEP_OUTPUT_OUTPUT, false);
	f->quiet_by_contract = quiet;
	f->certainty = TRI_MUST;
	f->observable = v->observable;
	f->group = name_of(o, w->op);
	const OutputSummary *p = &o->s->outputs[partner];
	diag_var(o->d, f, S("operator"), f->group);
	diag_var(o->d, f, S("partner"), str_printf(o->d->a, "%u", partner));
	diag_var(o->d, f, S("output_name"), s->node.i ? observe_node_name(o, s->node) : (Str){0});
	diag_var(o->d, f, S("partner_name"), p->node.i ? observe_node_name(o, p->node) : (Str){0});
	chain_steps(o, f, s->chain, s->nchain);
	boundary_step(o, f, w->output);
	diag_stepf(o->d, f, ROLE_WRITE, w->where, "`" STR_FMT "` changes it between the graphs", STR_ARG(f->group));
	observe_verdict_steps(o, f, v);
}

static void observe_outputs(Observe *o)
{
	for (uint32_t i = 0; o->v && i < o->v->reshapes.n; i++)
		reshaped(o, &o->v->reshapes.v[i]);
	for (uint32_t j = 0; j < o->g->outputs.n; j++) {
		const OutputSummary *s = &o->s->outputs[j];
		if (gives_back(o, j)) {
			given_back(o, j);
			continue;
		}
		switch (s->kind) {
		case ALIAS_INPUT:
		case ALIAS_VIEW_OF_INPUT:
		case ALIAS_VIEW_OF_ATTR: output_aliases_input(o, j, s); break;
		case ALIAS_OUTPUT:
		case ALIAS_VIEW_OF_OUTPUT: outputs_share(o, j, s); break;
		default: break;
		}
	}
}

const Write *observe_settling_write(const InputSummary *in, bool metadata)
{
	Tri want = metadata ? in->metadata : in->data;
	for (uint32_t i = 0; i < in->nwrites; i++)
		if (in->writes[i].metadata == metadata && in->writes[i].certainty == want)
			return &in->writes[i];
	return NULL;
}

static void written(Observe *o, const InputSummary *in, bool metadata, int32_t input, Sym attr)
{
	Tri certainty = metadata ? in->metadata : in->data;
	const Write *w = observe_settling_write(in, metadata);
	if (certainty == TRI_NO || !w)
		return;
	bool quiet;
	const Verdict *v = verdict_of(o, -1, input);
	Severity sev = severity(o, certainty, v, KEEP_INPUT_WRITES, !attr.i, through_unread(o, w->chain, w->nchain, w->node), &quiet);
	if (sev == SEV_NONE)
		return;
	Finding *f = observe_finding(o, metadata ? S("GL104") : S("GL103"), sev, node_span(o->g, w->node), w->node);
	f->variant = str_printf(o->d->a, "%s-%s", certainty == TRI_MAY ? "may" : "must", attr.i ? "attribute" : "input");
	f->input = input;
	f->attribute = attr.i ? str_printf(o->d->a, "self." STR_FMT, STR_ARG(name_of(o, attr))) : (Str){0};
	f->contracts = contracts_of(KEEP_INPUT_WRITES, true);
	f->quiet_by_contract = quiet;
	certainty_of(o, f, certainty, w->condition, v);
	if (input >= 0)
		diag_var(o->d, f, S("input_name"), observe_node_name(o, o->g->inputs.v[input]));
	owner_of(o, f, input);
	diag_var(o->d, f, S("through"), through(o, w->chain, w->nchain));
	if (w->nchain)
		chain_steps(o, f, w->chain, w->nchain);
	else if (input >= 0)
		diag_stepf(o->d, f, ROLE_BOUNDARY, observe_input_span(o, (uint32_t)input), "`" STR_FMT "` enters the graph",
		           STR_ARG(observe_node_name(o, o->g->inputs.v[input])));
	diag_stepf(o->d, f, ROLE_WRITE, node_span(o->g, w->node), "`" STR_FMT "` %s it%s" STR_FMT,
	           STR_ARG(observe_operator(o, graph_node(o->g, w->node))), metadata ? "changes sizes, strides or storage of" : "writes",
	           w->condition.n ? " if " : "", STR_ARG(w->condition));
	observe_verdict_steps(o, f, v);
}

static void observe_writes(Observe *o)
{
	for (uint32_t i = 0; i < o->g->inputs.n; i++) {
		written(o, &o->s->inputs[i], false, (int32_t)i, (Sym){0});
		written(o, &o->s->inputs[i], true, (int32_t)i, (Sym){0});
	}
	for (uint32_t i = 0; i < o->s->nattrs; i++) {
		written(o, &o->s->attrs[i].w, false, -1, o->s->attrs[i].path);
		written(o, &o->s->attrs[i].w, true, -1, o->s->attrs[i].path);
	}
}

static void observe_notes(Observe *o)
{
	for (uint32_t i = 0; i < o->s->notes.n; i++) {
		const LocalNote *n = &o->s->notes.v[i];
		Span at = node_span(o->g, n->node);
		bool aot = o->contract == CONTRACT_AOT || o->contract == CONTRACT_CUDAGRAPHS;
		Severity sev = aot && n->under_aot > n->severity ? n->under_aot : n->severity;
		Finding *f = observe_finding(o, n->rule, sev, at, n->node);
		bool unknown = str_eq(n->rule, S("GL903"));
		diag_var(o->d, f, unknown ? S("nearest") : S("text"), n->text);
		diag_var(o->d, f, S("what"), name_of(o, n->what));
		if (n->under_aot)
			f->variant = aot ? S("input-aot") : S("input");
		if (str_eq(n->rule, S("GL105")))
			observe_shared_note(f);
		diag_step(o->d, f, ROLE_PLACE, at, unknown ? S("an operator without facts") : n->text);
	}
}

/* Is the graph itself a boundary between compiled code and its caller? Bodies are told where they are called; AOT's
 * and Inductor's graphs repeat what the Dynamo graph says, and hand saved values to their own backward. */
static bool is_boundary(const Observe *o)
{
	const Graph *g = o->g;
	if (g->parent.i || g->stage == STAGE_AOT_BACKWARD || g->stage == STAGE_AOT_JOINT || g->stage == STAGE_POST_GRAD ||
	    g->stage == STAGE_PRE_GRAD)
		return false;
	if (g->stage == STAGE_INDUCTOR && str_ends(sym_str(o->p->names, g->name), S("_backward")))
		return false;
	return (g->stage != STAGE_AOT_FORWARD && g->stage != STAGE_INDUCTOR) || !g->of.i;
}

/* The forward of a training graph: some of its outputs are for its own backward, and which is not printed. */
static bool saves_values(const Observe *o)
{
	const Graph *g = o->g;
	return (g->stage == STAGE_AOT_FORWARD || g->stage == STAGE_INDUCTOR) && g->inputs.n &&
	       str_starts(observe_node_name(o, g->inputs.v[0]), S("primals"));
}

void observe_graph(Diags *d, const Program *p, const Sources *src, const Config *cfg, const Graph *g, const Summary *s,
                   const GraphVerdicts *v, bool captured_by_2x)
{
	Observe o = {.d = d, .p = p, .src = src, .cfg = cfg, .g = g, .s = s, .v = v,
	             .contract = contract_of(&cfg->contract, captured_by_2x),
	             .keeps = contract_keeps(&cfg->contract, captured_by_2x)};
	if (is_boundary(&o)) {
		if (!saves_values(&o))
			observe_outputs(&o);
		observe_writes(&o);
		observe_aot(&o);
	}
	if (g->stage != STAGE_AOT_BACKWARD && !(g->of.i && !g->parent.i))
		observe_notes(&o);
}
