/* SPDX-License-Identifier: MIT
 * SARIF 2.1.0 (OASIS), with what GitHub's code scanning needs and within its limits: docs.github.com, "SARIF support for
 * code scanning" of 2026. Text of a dump is made visible first: readers of SARIF show what JSON escapes decode to. */
#include "report.h"

#include <stdlib.h>

#include "json.h"
#include "line_hash.h"
#include "report_ci.h"
#include "report_common.h"
#include "report_place.h"
#include "utf8.h"
#include "version.h"
#include "where.h"

enum {
	RESULTS_MOST = 25000,  /* more are refused */
	STEPS_MOST = 1000,     /* of a path: more are not shown */
	NOTIFICATIONS_MOST = 1000,
	SNIPPET_MOST = 2000,   /* bytes */
	DESCRIPTION_MOST = 1000 /* code points; more are cut */
};

typedef struct Out {
	const Run *r;
	const ReportOptions *o;
	Json j;
	Arena a, scratch;
	Places places;
	WhereIndex where;
	LineHashes *hashes; /* by FileId; made when asked for */
	bool *hashed;
	bool baseline;      /* findings were compared with a baseline */
	uint32_t *order, nresults, left_out;
} Out;

/* ---- pieces ---- */

static void member_str(Out *o, const char *key, Str value)
{
	json_key(&o->j, str_from_c(key));
	json_str(&o->j, value);
}

static void member_int(Out *o, const char *key, int64_t value)
{
	json_key(&o->j, str_from_c(key));
	json_int(&o->j, value);
}

static void begin_object(Out *o, const char *key)
{
	json_key(&o->j, str_from_c(key));
	json_object(&o->j);
}

static void begin_array(Out *o, const char *key)
{
	json_key(&o->j, str_from_c(key));
	json_array(&o->j);
}

static Str visible(Out *o, Str s)
{
	Buf b = {.a = &o->scratch};
	report_words(&b, s, true);
	return buf_str(&b);
}

static void member_visible(Out *o, const char *key, Str value)
{
	ArenaMark mark = arena_mark(&o->scratch);
	member_str(o, key, visible(o, value));
	arena_rewind(&o->scratch, mark);
}

/* A message: { "text": ... }. */
static void member_text(Out *o, const char *key, Str value)
{
	begin_object(o, key);
	member_visible(o, "text", value);
	json_end(&o->j);
}

/* ---- rules ---- */

static Str problem_severity(Severity s)
{
	return s == SEV_ERROR ? S("error") : s == SEV_WARNING ? S("warning") : S("recommendation");
}

/* Up to the first blank line, on one line. */
static Str first_paragraph(Out *o, Str text)
{
	Buf b = {.a = &o->scratch};
	Str head = str_sub(text, 0, str_find(text, S("\n\n"), 0)), line;
	while (str_cut(&head, '\n', &line)) {
		if (b.n)
			buf_char(&b, ' ');
		buf_add(&b, str_trim(line));
	}
	return utf8_head(buf_str(&b), DESCRIPTION_MOST);
}

static void rule_properties(Out *o, const Rule *rule)
{
	bool boundary = str_starts(rule->id, S("GL10"));
	begin_object(o, "properties");
	begin_array(o, "tags");
	json_str(&o->j, S("pytorch"));
	json_str(&o->j, boundary ? S("correctness") : str_starts(rule->id, S("GL9")) ? S("input") : S("quality"));
	json_end(&o->j);
	member_str(o, "precision", boundary ? S("high") : S("medium"));
	member_str(o, "problem.severity", problem_severity(rule->level));
	if (boundary)
		member_str(o, "kind", S("path-problem"));
	json_end(&o->j);
}

static void add_rule(Out *o, const Rule *rule)
{
	ArenaMark mark = arena_mark(&o->scratch);
	json_object(&o->j);
	member_str(o, "id", rule->id);
	member_str(o, "name", rule->name);
	member_text(o, "shortDescription", rule->summary);
	member_text(o, "fullDescription", first_paragraph(o, rule->help.n ? rule->help : rule->summary));
	begin_object(o, "help");
	member_str(o, "text", rule->help.n ? rule->help : rule->summary);
	member_str(o, "markdown", rule->help.n ? rule->help : rule->summary);
	json_end(&o->j);
	if (rule->references.n)
		member_str(o, "helpUri", rule->references.v[0]);
	begin_object(o, "defaultConfiguration");
	member_str(o, "level", severity_name(rule->level));
	json_end(&o->j);
	rule_properties(o, rule);
	json_end(&o->j);
	arena_rewind(&o->scratch, mark);
}

static int rule_index(const Out *o, Str id)
{
	const Rules *rules = o->r->tables ? o->r->tables->rules : NULL;
	for (uint32_t i = 0; rules && i < rules->v.n; i++)
		if (str_eq(rules->v.v[i].id, id))
			return (int)i;
	return -1;
}

static void tool(Out *o)
{
	const Rules *rules = o->r->tables ? o->r->tables->rules : NULL;
	begin_object(o, "tool");
	begin_object(o, "driver");
	member_str(o, "name", S("graphlint"));
	member_str(o, "semanticVersion", S(GRAPHLINT_VERSION));
	begin_array(o, "rules");
	for (uint32_t i = 0; rules && i < rules->v.n; i++)
		add_rule(o, &rules->v.v[i]);
	json_end(&o->j);
	json_end(&o->j);
	json_end(&o->j);
}

/* ---- places ---- */

static void artifact(Out *o, Str path)
{
	Buf uri = {.a = &o->scratch};
	region_uri(&uri, path);
	begin_object(o, "artifactLocation");
	member_str(o, "uri", buf_str(&uri));
	if (path.n && path.p[0] != '/')
		member_str(o, "uriBaseId", S("SRCROOT"));
	json_end(&o->j);
}

static void snippet(Out *o, Span at)
{
	if (!at.file.i || at.end <= at.at || at.end - at.at > SNIPPET_MOST)
		return;
	Buf b = {.a = &o->scratch};
	Str text = str_sub(source_get(&o->r->sources, at.file)->text, at.at, at.end), line;
	for (bool first = true; str_cut(&text, '\n', &line); first = false) {
		if (!first)
			buf_char(&b, '\n');
		report_text(&b, line, true);
	}
	begin_object(o, "snippet");
	member_str(o, "text", buf_str(&b));
	json_end(&o->j);
}

static void physical(Out *o, const Region *at)
{
	begin_object(o, "physicalLocation");
	artifact(o, at->path);
	begin_object(o, "region");
	member_int(o, "startLine", at->line);
	if (at->col)
		member_int(o, "startColumn", at->col);
	member_int(o, "endLine", at->end_line);
	if (at->end_col)
		member_int(o, "endColumn", at->end_col);
	snippet(o, at->span);
	json_end(&o->j);
	json_end(&o->j);
}

static Str name_of(const Out *o, Sym s)
{
	return sym_str(o->r->program.names, s);
}

/* The value, graph or frame: `__compiled_fn_19.flat`. */
static void logical(Out *o, const Where *w)
{
	const Node *n = w->graph && w->node.i ? graph_node(w->graph, w->node) : NULL;
	Str outer = w->graph ? name_of(o, w->graph->name) : w->frame ? name_of(o, o->r->program.frames.v[w->frame - 1].name) : (Str){0};
	Str inner = n ? name_of(o, n->name.i ? n->name : n->target) : (Str){0};
	if (!outer.n)
		return;
	begin_array(o, "logicalLocations");
	json_object(&o->j);
	member_visible(o, "name", inner.n ? inner : outer);
	member_visible(o, "fullyQualifiedName", inner.n ? str_printf(&o->scratch, STR_FMT "." STR_FMT, STR_ARG(outer), STR_ARG(inner)) : outer);
	member_str(o, "kind", !inner.n ? w->graph ? S("module") : S("function") :
	           n->kind == NK_PLACEHOLDER ? S("parameter") : S("variable"));
	json_end(&o->j);
	json_end(&o->j);
}

/* The members of a location; the caller opens and ends the object. */
static void location(Out *o, const Region *at)
{
	Where w = at->span.file.i ? where_of(&o->where, at->span) : (Where){0};
	physical(o, at);
	logical(o, &w);
}

/* ---- a result ---- */

static Span step_span(const Finding *f, const Step *s)
{
	return s->span.file.i ? s->span : f->span;
}

static uint32_t steps_of(const Finding *f)
{
	return f->steps.n < STEPS_MOST ? f->steps.n : STEPS_MOST;
}

static void step_kinds(Out *o, const Step *s, const Where *w, bool last)
{
	const Node *n = w->graph && w->node.i ? graph_node(w->graph, w->node) : NULL;
	bool enters = n && n->kind == NK_PLACEHOLDER;
	static const Str kinds[ROLE_N][2] = {
		[ROLE_ALIAS] = {STR_INIT("value"), STR_INIT("memory")},
		[ROLE_WRITE] = {STR_INIT("taint"), STR_INIT("memory")},
		[ROLE_READ] = {STR_INIT("value"), STR_INIT("memory")},
		[ROLE_LINK] = {STR_INIT("call"), STR_INIT("function")},
		[ROLE_PLACE] = {STR_INIT("value"), {0}},
	};
	begin_array(o, "kinds");
	if (s->role == ROLE_BOUNDARY)
		json_str(&o->j, enters ? S("enter") : S("return"));
	for (int i = 0; i < 2; i++)
		if (kinds[s->role][i].n)
			json_str(&o->j, kinds[s->role][i]);
	if (last)
		json_str(&o->j, S("danger"));
	json_end(&o->j);
}

/* Sizes and strides of the value that a step is about. */
static void step_state(Out *o, const Where *w)
{
	const Node *n = w->graph && w->node.i ? graph_node(w->graph, w->node) : NULL;
	if (!n || !n->type.i || !o->r->types || !n->name.i)
		return;
	begin_object(o, "state");
	json_key(&o->j, visible(o, name_of(o, n->name)));
	json_object(&o->j);
	member_visible(o, "text", type_text(o->r->types, n->type, &o->scratch));
	json_end(&o->j);
	json_end(&o->j);
}

static void flow_step(Out *o, const Finding *f, uint32_t i)
{
	ArenaMark mark = arena_mark(&o->scratch);
	const Step *s = &f->steps.v[i];
	Region at = region_of_span(o->o, &o->places, step_span(f, s));
	Where w = where_of(&o->where, at.span);
	bool last = i + 1 == f->steps.n && (s->role == ROLE_READ || s->role == ROLE_WRITE);
	json_object(&o->j);
	begin_object(o, "location");
	location(o, &at);
	member_text(o, "message", s->text);
	json_end(&o->j);
	step_kinds(o, s, &w, last);
	step_state(o, &w);
	member_int(o, "nestingLevel", w.depth);
	member_int(o, "executionOrder", (int64_t)i + 1);
	member_str(o, "importance", s->role == ROLE_WRITE || s->role == ROLE_READ || last ? S("essential") :
	           s->role == ROLE_LINK ? S("unimportant") : S("important"));
	json_end(&o->j);
	arena_rewind(&o->scratch, mark);
}

static void code_flow(Out *o, const Finding *f)
{
	if (f->steps.n < 2)
		return;
	begin_array(o, "codeFlows");
	json_object(&o->j);
	begin_array(o, "threadFlows");
	json_object(&o->j);
	begin_array(o, "locations");
	for (uint32_t i = 0; i < steps_of(f); i++)
		flow_step(o, f, i);
	json_end(&o->j);
	json_end(&o->j);
	json_end(&o->j);
	json_end(&o->j);
	json_end(&o->j);
}

enum { RELATED_MOST = 24 };

static uint32_t related_of(const Finding *f)
{
	return f->steps.n < RELATED_MOST ? f->steps.n : RELATED_MOST;
}

/* Links of the message point here by id. */
static void related(Out *o, const Finding *f)
{
	begin_array(o, "relatedLocations");
	for (uint32_t i = 0; i < related_of(f); i++) {
		ArenaMark mark = arena_mark(&o->scratch);
		Region at = region_of_span(o->o, &o->places, step_span(f, &f->steps.v[i]));
		json_object(&o->j);
		member_int(o, "id", (int64_t)i + 1);
		location(o, &at);
		member_text(o, "message", f->steps.v[i].text);
		json_end(&o->j);
		arena_rewind(&o->scratch, mark);
	}
	json_end(&o->j);
}

/* Text of which nothing is taken for a link: `](` is parted, since not all readers know the escapes of the standard. */
static void add_message_text(Out *o, Buf *out, Str text)
{
	Str s = visible(o, text);
	for (uint32_t i = 0; i < s.n; i++) {
		buf_char(out, s.p[i]);
		if (s.p[i] == ']' && i + 1 < s.n && s.p[i + 1] == '(')
			buf_char(out, ' ');
	}
}

/* The first sentence is the title that GitHub shows; then the path, each step a link. */
static void message(Out *o, const Finding *f)
{
	Buf text = {.a = &o->scratch};
	add_message_text(o, &text, f->message);
	buf_char(&text, '.');
	for (uint32_t i = 0; i < related_of(f); i++) {
		buf_printf(&text, "\n%u. [" STR_FMT "](%u): ", (unsigned)(i + 1), STR_ARG(role_name(f->steps.v[i].role)), (unsigned)(i + 1));
		add_message_text(o, &text, f->steps.v[i].text);
	}
	if (f->steps.n > related_of(f))
		buf_printf(&text, "\n%u steps are in the code flow alone.", (unsigned)(f->steps.n - related_of(f)));
	if (f->suggestion.n) {
		buf_add(&text, S("\nHelp: "));
		add_message_text(o, &text, f->suggestion);
	}
	begin_object(o, "message");
	member_str(o, "text", buf_str(&text));
	json_end(&o->j);
}

/* GitHub computes it over the bytes of the file: of packed and UTF-16 input it would be another one. */
static Str line_hash_of(Out *o, const Region *at)
{
	if (!at->span.file.i)
		return (Str){0};
	const Source *s = source_get(&o->r->sources, at->span.file);
	uint32_t i = at->span.file.i;
	if (!o->hashed[i]) {
		o->hashed[i] = true;
		o->hashes[i] = s->was_gzip || s->was_utf16 ? (LineHashes){0} : line_hashes(s->text, &o->a);
	}
	return o->hashes[i].n ? line_hash_text(line_hash_at(&o->hashes[i], at->span.at), &o->scratch) : (Str){0};
}

static void fingerprints(Out *o, const Finding *f, const Region *at)
{
	Str hash = line_hash_of(o, at);
	if (!hash.n && !f->fingerprint.n)
		return;
	begin_object(o, "partialFingerprints");
	if (hash.n)
		member_str(o, "primaryLocationLineHash", hash);
	if (f->fingerprint.n)
		member_str(o, "graphlintAlias/v1", f->fingerprint);
	json_end(&o->j);
}

static void suppressions(Out *o, const Finding *f)
{
	bool in_source = str_eq(f->suppressed, S("inline")), old = str_eq(f->suppressed, S("baseline"));
	begin_array(o, "suppressions");
	if (f->suppressed.n) {
		json_object(&o->j);
		member_str(o, "kind", in_source ? S("inSource") : S("external"));
		member_str(o, "justification", in_source ? S("a comment of the dump or of the program") : old ? S("in the baseline") :
		           S("the configuration"));
		json_end(&o->j);
	}
	json_end(&o->j);
	if (o->baseline)
		member_str(o, "baselineState", old ? S("unchanged") : S("new"));
}

static void member_index(Out *o, const char *key, int32_t i)
{
	if (i >= 0)
		member_int(o, key, i);
}

static void member_some(Out *o, const char *key, Str value)
{
	if (value.n)
		member_visible(o, key, value);
}

static void properties(Out *o, const Finding *f)
{
	begin_object(o, "properties");
	member_some(o, "graph", f->graph);
	member_some(o, "compile_id", f->compile_id);
	member_index(o, "output", f->output);
	member_index(o, "input", f->input);
	member_index(o, "other_output", f->other_output);
	member_some(o, "attribute", f->attribute);
	if (f->certainty != TRI_NO)
		member_str(o, "certainty", f->certainty == TRI_MUST ? S("must") : S("may"));
	member_some(o, "condition", f->condition);
	member_some(o, "observable", observable_name(f->observable));
	begin_array(o, "contracts");
	for (int c = CONTRACT_AUTO + 1; c < CONTRACT_N; c++)
		if (f->contracts & CONTRACT_BIT(c))
			json_str(&o->j, contract_name((ContractName)c));
	json_end(&o->j);
	json_end(&o->j);
}

static void result(Out *o, const Finding *f)
{
	ArenaMark mark = arena_mark(&o->scratch);
	Region at = region_primary(o->o, &o->places, f);
	int rule = rule_index(o, f->rule);
	json_object(&o->j);
	o->j.pretty = false;
	member_str(o, "ruleId", f->rule);
	if (rule >= 0)
		member_int(o, "ruleIndex", rule);
	member_str(o, "level", severity_name(f->severity));
	message(o, f);
	begin_array(o, "locations");
	json_object(&o->j);
	location(o, &at);
	json_end(&o->j);
	json_end(&o->j);
	related(o, f);
	fingerprints(o, f, &at);
	code_flow(o, f);
	suppressions(o, f);
	properties(o, f);
	json_end(&o->j);
	o->j.pretty = true;
	arena_rewind(&o->scratch, mark);
}

/* ---- the run ---- */

/* A class of its own for each severity, and within it what is certain first. */
static int rank_of(const Finding *f)
{
	return (f->suppressed.n ? 0 : 8) + 2 * (int)f->severity + (f->certainty == TRI_MUST);
}

/* GitHub shows the first 5,000 results by severity, and refuses a file with more than 25,000. */
static void choose_results(Out *o)
{
	const Diags *d = &o->r->diags;
	Severity least = o->o->show_given ? o->r->cfg->show : SEV_NOTE;
	uint32_t n = 0;
	o->order = NEW_N(&o->a, uint32_t, d->v.n + 1);
	for (int rank = 8 + 2 * SEV_ERROR + 1; rank >= 0; rank--)
		for (uint32_t i = 0; i < d->v.n; i++)
			if (d->v.v[i].severity >= least && rank_of(&d->v.v[i]) == rank)
				o->order[n++] = i;
	o->nresults = n < RESULTS_MOST ? n : RESULTS_MOST;
	o->left_out = n - o->nresults;
}

static void notification(Out *o, Severity level, Str text, const Span *at)
{
	ArenaMark mark = arena_mark(&o->scratch);
	json_object(&o->j);
	member_str(o, "level", severity_name(level));
	member_text(o, "message", text);
	if (at) {
		Region region = region_of_span(o->o, &o->places, *at);
		begin_array(o, "locations");
		json_object(&o->j);
		physical(o, &region);
		json_end(&o->j);
		json_end(&o->j);
	}
	json_end(&o->j);
	arena_rewind(&o->scratch, mark);
}

static void unread(Out *o)
{
	const Diags *d = &o->r->diags;
	uint32_t said = 0, left_out = 0;
	for (uint32_t i = 0; i < d->unread.n; i++) {
		const Unread *u = &d->unread.v[i];
		if (said < NOTIFICATIONS_MOST)
			notification(o, u->incomplete ? SEV_WARNING : SEV_NOTE,
			             str_printf(&o->scratch, "could not be read: " STR_FMT, STR_ARG(u->why)), &u->span);
		else
			left_out++;
		said++;
	}
	if (left_out)
		notification(o, SEV_WARNING, str_printf(&o->scratch, "%u more places could not be read", (unsigned)left_out), NULL);
}

static void invocation(Out *o)
{
	begin_array(o, "invocations");
	json_object(&o->j);
	json_key(&o->j, S("executionSuccessful"));
	json_bool(&o->j, !o->r->out_of_memory);
	member_int(o, "exitCode", run_status(o->r));
	begin_array(o, "toolExecutionNotifications");
	unread(o);
	if (o->r->files_failed)
		notification(o, SEV_ERROR, str_printf(&o->scratch, "%u files or folders could not be read", (unsigned)o->r->files_failed), NULL);
	if (o->r->program.graphs.n <= 1 && !o->r->program.frames.n)
		notification(o, SEV_WARNING, S("no graph and no bytecode in any input"), NULL);
	if (o->r->baseline_gone)
		notification(o, SEV_NOTE, str_printf(&o->scratch, "%u findings of the baseline are gone", (unsigned)o->r->baseline_gone), NULL);
	if (o->left_out)
		notification(o, SEV_WARNING, str_printf(&o->scratch, "%u of %u findings are left out, the least severe: consumers refuse a file of more",
		                                        (unsigned)o->left_out, (unsigned)(o->left_out + o->nresults)), NULL);
	json_end(&o->j);
	json_end(&o->j);
	json_end(&o->j);
}

static void base_ids(Out *o)
{
	begin_object(o, "originalUriBaseIds");
	begin_object(o, "SRCROOT");
	member_text(o, "description", S("the folder that graphlint was started in: the root of the repository"));
	json_end(&o->j);
	json_end(&o->j);
}

static void run(Out *o)
{
	json_object(&o->j);
	tool(o);
	begin_object(o, "automationDetails");
	member_str(o, "id", S("graphlint/"));
	json_end(&o->j);
	member_str(o, "columnKind", S("unicodeCodePoints"));
	base_ids(o);
	invocation(o);
	begin_array(o, "results");
	for (uint32_t i = 0; i < o->nresults; i++)
		result(o, &o->r->diags.v.v[o->order[i]]);
	json_end(&o->j);
	json_end(&o->j);
}

void report_write_sarif(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = {.r = r, .o = options, .j = json_new(out, true), .a = arena_new(NULL), .scratch = arena_new(NULL)};
	o.places = places_new(&r->sources, &o.a);
	o.where = where_index(&r->program, &o.a);
	o.hashes = NEW_N(&o.a, LineHashes, r->sources.v.n + 1);
	o.hashed = NEW_N(&o.a, bool, r->sources.v.n + 1);
	o.baseline = report_has_baseline(r);
	choose_results(&o);
	json_object(&o.j);
	member_str(&o, "$schema", S("https://json.schemastore.org/sarif-2.1.0.json"));
	member_str(&o, "version", S("2.1.0"));
	begin_array(&o, "runs");
	run(&o);
	json_end(&o.j);
	json_end(&o.j);
	buf_char(out, '\n');
	arena_free(&o.scratch);
	arena_free(&o.a);
}
