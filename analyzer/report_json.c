/* SPDX-License-Identifier: MIT
 * The JSON that programs read. One finding, graph or frame a line: easy to compare and search. As NDJSON each of them is a
 * document of its own, with its type in front. */
#include "report.h"

#include <stdio.h>

#include "alias.h"
#include "json.h"
#include "report_common.h"
#include "report_flow.h"
#include "version.h"

typedef struct Out {
	const Run *r;
	Json j;
	Places places;
	Arena scratch;
	bool lines; /* every object is a document of its own */
} Out;

static Str name_of(const Out *o, Sym s)
{
	return sym_str(o->r->program.names, s);
}

static void member_str(Out *o, Str key, Str value)
{
	json_key(&o->j, key);
	json_str(&o->j, value);
}

/* A value that the analysis gave by name; empty when it gave none. */
static Str finding_var(const Finding *f, Str name)
{
	for (uint32_t i = 0; i < f->vars.n; i++)
		if (str_eq(f->vars.v[i].name, name))
			return f->vars.v[i].value;
	return (Str){0};
}

static void member_or_null(Out *o, Str key, Str value)
{
	json_key(&o->j, key);
	json_str_or_null(&o->j, value);
}

static void member_int(Out *o, Str key, int64_t value)
{
	json_key(&o->j, key);
	json_int(&o->j, value);
}

static void member_index(Out *o, Str key, int32_t value)
{
	json_key(&o->j, key);
	if (value >= 0)
		json_int(&o->j, value);
	else
		json_null(&o->j);
}

/* An object on a line of its own. */
static void begin_line(Out *o, const char *kind)
{
	json_object(&o->j);
	o->j.pretty = false;
	if (o->lines)
		member_str(o, S("type"), str_from_c(kind));
}

static void end_line(Out *o)
{
	json_end(&o->j);
	o->j.pretty = !o->lines;
	if (o->lines) {
		buf_char(o->j.out, '\n');
		o->j = json_new(o->j.out, false);
	}
}

static void add_file_line(Out *o, FileId file, uint32_t at)
{
	member_str(o, S("file"), place_path(&o->places, file));
	member_int(o, S("line"), place_of(&o->places, file, at).line);
}

/* ---- findings ---- */

/* Code points, and for the end the column behind the last one. */
static void add_span(Out *o, Span s)
{
	LineCol at = place_of(&o->places, s.file, s.at), end = place_of(&o->places, s.file, s.end);
	if (s.end <= s.at)
		end = at;
	member_str(o, S("file"), place_path(&o->places, s.file));
	member_int(o, S("line"), at.line);
	member_int(o, S("column"), at.col);
	member_int(o, S("endLine"), end.line);
	member_int(o, S("endColumn"), end.col);
}

static void add_contracts(Out *o, unsigned bits)
{
	json_key(&o->j, S("contracts"));
	json_array(&o->j);
	for (int c = CONTRACT_AUTO + 1; c < CONTRACT_N; c++)
		if (bits & CONTRACT_BIT(c))
			json_str(&o->j, contract_name((ContractName)c));
	json_end(&o->j);
}

static void add_source(Out *o, const UserSource *s)
{
	json_key(&o->j, S("source"));
	if (!s->file.n) {
		json_null(&o->j);
		return;
	}
	json_object(&o->j);
	member_str(o, S("file"), s->file);
	member_int(o, S("line"), s->line);
	member_or_null(o, S("function"), s->function);
	json_end(&o->j);
}

static void add_step(Out *o, const Finding *f, const Step *s)
{
	Span at = s->span.file.i ? s->span : f->span;
	LineCol place = place_of(&o->places, at.file, at.at);
	json_object(&o->j);
	member_str(o, S("file"), place_path(&o->places, at.file));
	member_int(o, S("line"), place.line);
	member_int(o, S("column"), place.col);
	member_str(o, S("text"), s->text);
	member_str(o, S("role"), role_name(s->role));
	json_end(&o->j);
}

static void add_evidence(Out *o, const Finding *f)
{
	json_key(&o->j, S("evidence"));
	json_array(&o->j);
	for (uint32_t i = 0; i < f->steps.n; i++)
		add_step(o, f, &f->steps.v[i]);
	json_end(&o->j);
}

static Str certainty_name(Tri t)
{
	return t == TRI_MUST ? S("must") : t == TRI_MAY ? S("may") : (Str){0};
}

static void add_finding(Out *o, const Finding *f)
{
	begin_line(o, "finding");
	member_str(o, S("rule"), f->rule);
	member_str(o, S("name"), f->name);
	member_str(o, S("severity"), severity_name(f->severity));
	member_str(o, S("message"), f->message);
	add_span(o, f->span);
	member_or_null(o, S("graph"), f->graph);
	member_or_null(o, S("compile_id"), f->compile_id);
	member_index(o, S("output"), f->output);
	member_index(o, S("input"), f->input);
	member_or_null(o, S("attribute"), f->attribute);
	member_or_null(o, S("certainty"), certainty_name(f->certainty));
	member_or_null(o, S("condition"), f->condition);
	member_or_null(o, S("observable"), observable_name(f->observable));
	member_or_null(o, S("why"), finding_var(f, S("why")));
	add_contracts(o, f->contracts);
	member_index(o, S("other_output"), f->other_output);
	member_or_null(o, S("suggestion"), f->suggestion);
	add_source(o, &f->source);
	add_evidence(o, f);
	member_or_null(o, S("fingerprint"), f->fingerprint);
	member_or_null(o, S("suppressed"), f->suppressed);
	end_line(o);
}

/* ---- graphs ---- */

static void add_id(Out *o, Str key, GraphId id)
{
	char text[16];
	int n = snprintf(text, sizeof text, "g%u", (unsigned)id.i);
	member_str(o, key, (Str){text, (uint32_t)n});
}

/* The graph that this one belongs to, as far as it is listed. */
static void add_owner(Out *o, const Graph *g)
{
	const Program *p = &o->r->program;
	const Graph *owner = graph_get(p, g->parent.i ? g->parent : g->of);
	if (owner && owner->printing_of.i)
		owner = graph_get(p, owner->printing_of);
	if (owner && owner != g && report_graph_shown(p, owner))
		add_id(o, S("of"), owner->id);
	else
		member_or_null(o, S("of"), (Str){0});
}

static Str written_name(Tri t)
{
	return t == TRI_MUST ? S("must") : t == TRI_MAY ? S("may") : S("no");
}

static void add_attributes(Out *o, const Summary *s)
{
	json_key(&o->j, S("attributes"));
	json_array(&o->j);
	for (uint32_t i = 0; s && i < s->nattrs; i++) {
		ArenaMark mark = arena_mark(o->places.a);
		Str path = name_of(o, s->attrs[i].path);
		json_object(&o->j);
		member_str(o, S("name"), str_printf(o->places.a, "self." STR_FMT, STR_ARG(path)));
		arena_rewind(o->places.a, mark);
		member_str(o, S("mutated"), written_name(s->attrs[i].w.data));
		json_end(&o->j);
	}
	json_end(&o->j);
}

/* Without a summary nothing is known, and that is "may". */
static void add_inputs(Out *o, const Graph *g, const Summary *s)
{
	json_key(&o->j, S("inputs"));
	json_array(&o->j);
	for (uint32_t i = 0; i < g->inputs.n; i++) {
		json_object(&o->j);
		member_str(o, S("name"), name_of(o, graph_node(g, g->inputs.v[i])->name));
		member_str(o, S("mutated"), written_name(s ? s->inputs[i].data : TRI_MAY));
		member_str(o, S("metadata_mutated"), written_name(s ? s->inputs[i].metadata : TRI_MAY));
		json_end(&o->j);
	}
	json_end(&o->j);
}

static bool alias_takes_maybe(AliasKind k)
{
	return k != ALIAS_FRESH && k != ALIAS_NON_TENSOR && k != ALIAS_UNKNOWN;
}

static void add_output(Out *o, const Graph *g, uint32_t i, const Summary *s)
{
	const Arg *arg = &g->outputs.v[i].arg;
	const OutputSummary unknown = {.kind = ALIAS_UNKNOWN}, *os = s ? &s->outputs[i] : &unknown;
	bool maybe = os->certainty == TRI_MAY && alias_takes_maybe(os->kind);
	char word[32];
	snprintf(word, sizeof word, "%s" STR_FMT, maybe ? "maybe_" : "", STR_ARG(alias_name(os->kind)));
	json_object(&o->j);
	member_or_null(o, S("name"),
		arg->kind == AR_NODE ? name_of(o, graph_node(g, arg->u.node)->name) : (Str){0});
	member_str(o, S("alias"), str_from_c(word));
	json_key(&o->j, S("of"));
	json_array(&o->j);
	for (uint32_t k = 0; k < os->nof; k++)
		json_int(&o->j, os->of[k]);
	json_end(&o->j);
	Str condition = os->condition;
	if (maybe && !condition.n)
		condition = S("the dump does not decide it");
	member_or_null(o, S("condition"), condition);
	json_end(&o->j);
}

/* Where outputs go, as frames show it. */
static void add_flows(Out *o, const Graph *g)
{
	const GraphVerdicts *v = report_verdicts(o->r, g);
	json_key(&o->j, S("calls"));
	json_array(&o->j);
	for (uint32_t i = 0; v && i < v->flows.n; i++) {
		const GraphFlow *f = &v->flows.v[i];
		const Graph *to = graph_get(&o->r->program, f->to);
		if (!to || !report_graph_shown(&o->r->program, to))
			continue;
		json_object(&o->j);
		member_int(o, S("output"), f->output);
		member_str(o, S("to_graph"), name_of(o, to->name));
		add_id(o, S("to_id"), to->id);
		member_int(o, S("input"), f->input);
		member_str(o, S("as"), f->same ? S("same") : S("view"));
		json_end(&o->j);
	}
	json_end(&o->j);
}

static void add_graph(Out *o, const Graph *g)
{
	const Summary *s = o->r->summaries ? o->r->summaries[g->id.i] : NULL;
	begin_line(o, "graph");
	add_id(o, S("id"), g->id);
	member_or_null(o, S("name"), name_of(o, g->name));
	member_str(o, S("stage"), stage_name(g->stage));
	add_owner(o, g);
	member_or_null(o, S("compile_id"), name_of(o, g->compile_id));
	add_file_line(o, g->file, g->at);
	add_attributes(o, s);
	add_inputs(o, g, s);
	json_key(&o->j, S("outputs"));
	json_array(&o->j);
	for (uint32_t i = 0; i < g->outputs.n; i++)
		add_output(o, g, i, s);
	json_end(&o->j);
	add_flows(o, g);
	end_line(o);
}

/* ---- the rest ---- */

static void add_frame_calls(Out *o, FrameRef frame)
{
	ArenaMark mark = arena_mark(&o->scratch);
	FrameCalls calls = {0};
	report_frame_calls(o->r, frame, &o->scratch, &calls);
	json_key(&o->j, S("calls"));
	json_array(&o->j);
	for (uint32_t i = 0; i < calls.n; i++) {
		Span at = report_call_span(o->r, frame, &calls.v[i]);
		json_object(&o->j);
		member_str(o, S("to"), calls.v[i].name);
		member_int(o, S("line"), place_of(&o->places, at.file, at.at).line);
		json_end(&o->j);
	}
	json_end(&o->j);
	arena_rewind(&o->scratch, mark);
}

static void add_frame(Out *o, FrameRef frame)
{
	const Frame *f = &o->r->program.frames.v[frame - 1];
	begin_line(o, "frame");
	member_str(o, S("name"), name_of(o, f->name));
	member_str(o, S("kind"), f->modified ? S("modified") : S("original"));
	member_or_null(o, S("compile_id"), name_of(o, f->compile_id));
	add_file_line(o, f->dump, f->at);
	add_frame_calls(o, frame);
	end_line(o);
}

static void add_unread(Out *o, const Unread *u)
{
	begin_line(o, "unread");
	add_file_line(o, u->span.file, u->span.at);
	member_str(o, S("why"), u->why);
	end_line(o);
}

static void begin_list(Out *o, Str key)
{
	if (o->lines)
		return;
	json_key(&o->j, key);
	json_array(&o->j);
}

static void end_list(Out *o)
{
	if (!o->lines)
		json_end(&o->j);
}

static void add_head(Out *o)
{
	member_str(o, S("version"), S(GRAPHLINT_VERSION));
	member_str(o, S("tool"), S("graphlint"));
	member_int(o, S("schema"), 1);
	member_str(o, S("contract"), contract_name(o->r->cfg->contract.name));
}

static void add_lists(Out *o)
{
	const Run *r = o->r;
	begin_list(o, S("findings"));
	for (uint32_t i = 0; i < r->diags.v.n; i++)
		add_finding(o, &r->diags.v.v[i]);
	end_list(o);
	begin_list(o, S("graphs"));
	for (uint32_t i = 1; i < r->program.graphs.n; i++)
		if (report_graph_shown(&r->program, r->program.graphs.v[i]))
			add_graph(o, r->program.graphs.v[i]);
	end_list(o);
	begin_list(o, S("frames"));
	for (uint32_t i = 0; i < r->program.frames.n; i++)
		add_frame(o, i + 1);
	end_list(o);
	begin_list(o, S("unread"));
	for (uint32_t i = 0; i < r->diags.unread.n; i++)
		add_unread(o, &r->diags.unread.v[i]);
	end_list(o);
}

static void write_all(const Run *r, Buf *out, bool lines)
{
	Arena a = arena_new(NULL);
	Out o = {.r = r, .j = json_new(out, !lines), .places = places_new(&r->sources, &a),
	         .scratch = arena_new(NULL), .lines = lines};
	if (lines) {
		begin_line(&o, "run");
		add_head(&o);
		end_line(&o);
		add_lists(&o);
	} else {
		json_object(&o.j);
		add_head(&o);
		add_lists(&o);
		json_end(&o.j);
		buf_char(out, '\n');
	}
	arena_free(&o.scratch);
	arena_free(&a);
}

void report_write_json(const Run *r, const ReportOptions *options, Buf *out)
{
	(void)options;
	write_all(r, out, false);
}

void report_write_ndjson(const Run *r, const ReportOptions *options, Buf *out)
{
	(void)options;
	write_all(r, out, true);
}
