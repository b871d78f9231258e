/* SPDX-License-Identifier: MIT
 * What an editor shows and offers in the text: folds, hints behind values, actions on findings. */
#include "lsp_priv.h"

#include "alias.h"
#include "baseline.h"
#include "output.h"
#include "rules.h"

enum { HINTS_MOST = 5000, ACTIONS_MOST = 20 };

/* ---- folds ---- */

static bool lines_of(LspServer *l, const Place *p, const Region *v, LspPos *from, LspPos *to)
{
	uint32_t at, end;
	LspDoc *d = lsp_doc(l, p->file->uri);
	PosMap m = posmap(doc_str(&d->text), &d->text.lines, l->client.encoding);
	if (!place_forward(l, p->file, v->at, &at) || !place_forward(l, p->file, v->end, &end) || end < at)
		return false;
	*from = pos_of(&m, at);
	*to = pos_of(&m, end);
	return to->line > from->line;
}

void lsp_folding(Call *c)
{
	Place p;
	const Region *v;
	json_array(c->j);
	if (place_file(c->l, c->params, &p)) {
		uint32_t n = snapshot_regions(p.snap, p.file->id, &v);
		for (uint32_t i = 0; i < n; i++) {
			LspPos from, to;
			if (!lines_of(c->l, &p, &v[i], &from, &to))
				continue;
			json_object(c->j);
			put_int(c->j, S("startLine"), from.line);
			put_int(c->j, S("endLine"), to.line);
			put_str(c->j, S("kind"), S("region"));
			json_end(c->j);
		}
	}
	json_end(c->j);
}

/* ---- hints ---- */

typedef struct Hints {
	Call *c;
	Place p;
	uint32_t at, end; /* asked for, in bytes of the source */
	uint32_t n;
} Hints;

static void put_hint(Hints *h, uint32_t at, Str label)
{
	LspServer *l = h->c->l;
	Json *j = h->c->j;
	uint32_t now;
	LspDoc *d = lsp_doc(l, h->p.file->uri);
	if (at < h->at || at > h->end || h->n >= HINTS_MOST || !place_forward(l, h->p.file, at, &now))
		return;
	PosMap m = posmap(doc_str(&d->text), &d->text.lines, l->client.encoding);
	LspPos pos = pos_of(&m, now);
	h->n++;
	json_object(j);
	put_position(j, S("position"), pos);
	put_str(j, S("label"), label);
	put_bool(j, S("paddingLeft"), true);
	json_end(j);
}

static Str shared_with(Hints *h, const Graph *g, const OutputSummary *o)
{
	Arena *a = &h->c->l->scratch;
	const char *maybe = o->certainty == TRI_MAY ? "perhaps " : "";
	switch (o->kind) {
	case ALIAS_INPUT: return o->nof ? str_printf(a, "= %sinput %u", maybe, (unsigned)o->of[0]) : (Str){0};
	case ALIAS_VIEW_OF_INPUT: return o->nof ? str_printf(a, "= %sinput %u's memory", maybe, (unsigned)o->of[0]) : (Str){0};
	case ALIAS_VIEW_OF_ATTR:
		return str_printf(a, "= %sthe memory of self." STR_FMT, maybe,
		                  STR_ARG(sym_str(h->p.snap->run.program.names, o->attribute)));
	case ALIAS_OUTPUT: return o->nof ? str_printf(a, "= %soutput %u", maybe, (unsigned)o->of[0]) : (Str){0};
	case ALIAS_VIEW_OF_OUTPUT: return o->nof ? str_printf(a, "= %soutput %u's memory", maybe, (unsigned)o->of[0]) : (Str){0};
	default: (void)g; return (Str){0};
	}
}

static void writes_of(Hints *h, const Graph *g, const InputSummary *in, Str name)
{
	for (uint32_t i = 0; i < in->nwrites; i++) {
		const Write *w = &in->writes[i];
		if (w->node.i)
			put_hint(h, graph_node(g, w->node)->end,
			         str_printf(&h->c->l->scratch, "%s%s " STR_FMT, w->certainty == TRI_MAY ? "may " : "",
			                    w->metadata ? (w->certainty == TRI_MAY ? "change the layout of" : "changes the layout of")
			                                : (w->certainty == TRI_MAY ? "write" : "writes"),
			                    STR_ARG(name)));
	}
}

static void graph_hints(Hints *h, const Graph *g)
{
	const Run *r = &h->p.snap->run;
	const Summary *s = r->summaries ? r->summaries[g->id.i] : NULL;
	if (!s)
		return;
	for (uint32_t i = 0; i < g->inputs.n; i++)
		writes_of(h, g, &s->inputs[i], node_label(r, g, g->inputs.v[i]));
	for (uint32_t i = 0; i < s->nattrs; i++)
		writes_of(h, g, &s->attrs[i].w,
		          str_printf(&h->c->l->scratch, "self." STR_FMT, STR_ARG(sym_str(r->program.names, s->attrs[i].path))));
	for (uint32_t i = 0; i < g->outputs.n; i++) {
		Str label = shared_with(h, g, &s->outputs[i]);
		if (label.n)
			put_hint(h, g->outputs.v[i].end, label);
	}
}

/* The part of the source that the range of the request covers; all of it where the text has changed since. */
static void range_asked(Hints *h)
{
	LspServer *l = h->c->l;
	LspDoc *d = lsp_doc(l, h->p.file->uri);
	int64_t first = 0, last = UINT32_MAX;
	const JsonIn *range = json_in_get(h->c->params, "range");
	json_in_int(json_in_path(range, "start", "line", NULL), &first);
	json_in_int(json_in_path(range, "end", "line", NULL), &last);
	h->at = 0;
	h->end = h->p.src->text.n;
	if (d->edits.n || d->edits_lost || first < 0 || last < 0)
		return;
	PosMap m = posmap(doc_str(&d->text), &d->text.lines, l->client.encoding);
	uint32_t at = pos_offset(&m, (LspPos){(uint32_t)first, 0});
	uint32_t end = last < UINT32_MAX ? pos_offset(&m, (LspPos){(uint32_t)last, UINT32_MAX}) : d->text.b.n;
	h->at = at > h->p.file->skip ? at - h->p.file->skip : 0;
	h->end = end > h->p.file->skip ? end - h->p.file->skip : 0;
}

void lsp_inlay_hints(Call *c)
{
	Hints h = {.c = c};
	const Region *v;
	json_array(c->j);
	if (c->l->settings.hints && place_file(c->l, c->params, &h.p)) {
		range_asked(&h);
		uint32_t n = snapshot_regions(h.p.snap, h.p.file->id, &v);
		for (uint32_t i = 0; i < n; i++)
			if (v[i].graph.i && v[i].at <= h.end && v[i].end >= h.at)
				graph_hints(&h, graph_get(&h.p.snap->run.program, v[i].graph));
	}
	json_end(c->j);
}

/* ---- actions ---- */

typedef struct Actions {
	Call *c;
	LspDoc *d;
	PosMap map;
	uint32_t first, last; /* lines asked for */
	uint32_t n;
} Actions;

static void begin_action(Actions *x, Str title)
{
	json_object(x->c->j);
	put_str(x->c->j, S("title"), title);
	put_str(x->c->j, S("kind"), S("quickfix"));
}

static void put_text_edit(Json *j, LspPos at, Str text)
{
	json_object(j);
	json_key(j, S("range"));
	put_positions(j, at, at);
	put_str(j, S("newText"), text);
	json_end(j);
}

/* A comment at the end of the line that the finding is about. */
static void put_suppress(Actions *x, const Finding *f, uint32_t line)
{
	Json *j = x->c->j;
	Arena *a = &x->c->l->scratch;
	Str text = pos_line(&x->map, line);
	uint32_t start = lines_start(&x->d->text.lines, line);
	LspPos end = pos_of(&x->map, start + text.n);
	begin_action(x, str_printf(a, "Ignore " STR_FMT " on this line", STR_ARG(f->rule)));
	json_key(j, S("edit"));
	json_object(j);
	json_key(j, S("changes"));
	json_object(j);
	json_key(j, x->d->uri);
	json_array(j);
	put_text_edit(j, end, str_printf(a, "  # graphlint: ignore[" STR_FMT "]", STR_ARG(f->rule)));
	json_end(j);
	json_end(j);
	json_end(j);
	json_end(j);
}

/* Where the configuration of the workspace says what becomes of rules: behind its line `rules:`. False: there is none. */
static bool rules_line(LspServer *l, Str path, LspPos *at, Str *text)
{
	Sources files;
	Str why, line, rest;
	sources_init(&files, &l->scratch);
	FileId f = sources_add_file(&files, path, path, 1 << 20, &why);
	rest = f.i ? source_get(&files, f)->text : (Str){0};
	*at = (LspPos){0};
	for (uint32_t n = 1; str_cut(&rest, '\n', &line); n++)
		if (str_eq(str_rtrim(line), S("rules:")))
			*at = (LspPos){n, 0};
	*text = at->line ? S("  ") : S("rules:\n  ");
	return f.i != 0;
}

/* The level of the rule in .graphlint.yaml of the workspace, which is made where there is none. */
static void put_configure(Actions *x, const Finding *f)
{
	LspServer *l = x->c->l;
	Json *j = x->c->j;
	LspPos at;
	Str start, path = str_printf(&l->scratch, STR_FMT "/.graphlint.yaml", STR_ARG(l->root));
	Str uri = lsp_uri_of(path, &l->scratch);
	if (!l->root.n)
		return;
	bool there = rules_line(l, path, &at, &start);
	if (!there && !l->client.creates)
		return;
	begin_action(x, str_printf(&l->scratch, "Turn " STR_FMT " off in .graphlint.yaml", STR_ARG(f->rule)));
	json_key(j, S("edit"));
	json_object(j);
	json_key(j, S("documentChanges"));
	json_array(j);
	if (!there) {
		json_object(j);
		put_str(j, S("kind"), S("create"));
		put_str(j, S("uri"), uri);
		json_end(j);
	}
	json_object(j);
	json_key(j, S("textDocument"));
	json_object(j);
	put_str(j, S("uri"), uri);
	json_key(j, S("version"));
	json_null(j);
	json_end(j);
	json_key(j, S("edits"));
	json_array(j);
	put_text_edit(j, at, str_printf(&l->scratch, STR_FMT STR_FMT ": off\n", STR_ARG(start), STR_ARG(f->rule)));
	json_end(j);
	json_end(j);
	json_end(j);
	json_end(j);
	json_end(j);
}

/* `more` may be empty. */
static void put_command(Actions *x, Str title, Str command, Str argument, Str more)
{
	Json *j = x->c->j;
	begin_action(x, title);
	json_key(j, S("command"));
	json_object(j);
	put_str(j, S("title"), title);
	put_str(j, S("command"), command);
	json_key(j, S("arguments"));
	json_array(j);
	json_str(j, argument);
	if (more.n)
		json_str(j, more);
	json_end(j);
	json_end(j);
	json_end(j);
}

static Unit *unit_of(LspServer *l, const Snapshot *s)
{
	uint32_t i = 0;
	while (unit_snapshot(l->units.v[i]) != s)
		i++;
	return l->units.v[i];
}

static void action(void *ctx, Snapshot *s, const Finding *f, Span at, bool source)
{
	Actions *x = ctx;
	LspServer *l = x->c->l;
	uint32_t now = at.at;
	Place p = {0};
	for (uint32_t i = 0; !source && i < s->files.n; i++)
		if (s->files.v[i].id.i == at.file.i)
			p.file = &s->files.v[i];
	if (!source && (!p.file || !place_forward(l, p.file, at.at, &now)))
		return;
	uint32_t line = pos_of(&x->map, now).line;
	if (line < x->first || line > x->last || x->n >= ACTIONS_MOST)
		return;
	x->n++;
	put_suppress(x, f, line);
	put_configure(x, f);
	if (f->fingerprint.n && unit_of(l, s)->baseline.n)
		put_command(x, str_printf(&l->scratch, "Add this " STR_FMT " to the baseline", STR_ARG(f->rule)), S("graphlint.baseline"),
		            f->fingerprint, x->d->uri);
	put_command(x, str_printf(&l->scratch, "Explain " STR_FMT " (" STR_FMT ")", STR_ARG(f->rule), STR_ARG(f->name)),
	            S("graphlint.explain"), f->rule, (Str){0});
	if (f->suggestion.n)
		put_command(x, str_printf(&l->scratch, "Copy what helps against " STR_FMT, STR_ARG(f->rule)),
		            S("graphlint.suggestion"), f->suggestion, (Str){0});
}

void lsp_code_actions(Call *c)
{
	int64_t first = 0, last = 0;
	const JsonIn *range = json_in_get(c->params, "range");
	Actions x = {.c = c, .d = lsp_doc(c->l, json_in_str(json_in_path(c->params, "textDocument", "uri", NULL)))};
	json_in_int(json_in_path(range, "start", "line", NULL), &first);
	json_in_int(json_in_path(range, "end", "line", NULL), &last);
	json_array(c->j);
	if (x.d && first >= 0 && last >= first) {
		x.map = posmap(doc_str(&x.d->text), &x.d->text.lines, c->l->client.encoding);
		x.first = first < UINT32_MAX ? (uint32_t)first : UINT32_MAX;
		x.last = last < UINT32_MAX ? (uint32_t)last : UINT32_MAX;
		findings_at(c->l, x.d, action, &x);
	}
	json_end(c->j);
}

/* ---- commands ---- */

static const Rules *any_rules(LspServer *l)
{
	for (uint32_t i = 0; i < l->units.n; i++)
		if (l->units.v[i]->used && l->units.v[i]->tables_ready)
			return l->units.v[i]->tables.rules;
	return NULL;
}

/* What the baseline holds already, and the findings of one fingerprint. */
static bool baseline_add(LspServer *l, Unit *u, Str fingerprint, Str *why)
{
	const Run *r = &unit_snapshot(u)->run;
	Buf text = {.a = &l->scratch};
	Diags some = {.a = &l->scratch};
	bool found = false;
	for (uint32_t i = 0; i < r->diags.v.n; i++) {
		const Finding *f = &r->diags.v.v[i];
		bool this = str_eq(f->fingerprint, fingerprint);
		if (this || str_eq(f->suppressed, S("baseline")))
			VEC_PUSH(&l->scratch, &some.v, *f);
		found |= this;
	}
	*why = S("the finding is not there any more");
	if (!found)
		return false;
	baseline_write(&some, contract_text(&u->cfg.contract, &l->scratch), &l->scratch, &text);
	return output_write(u->baseline, buf_str(&text), &l->scratch, why);
}

static void execute_baseline(Call *c)
{
	const JsonIn *args = json_in_get(c->params, "arguments");
	LspDoc *d = lsp_doc(c->l, json_in_str(json_in_at(args, 1)));
	Unit *u = d && d->unit ? c->l->units.v[d->unit - 1] : NULL;
	c->why = S("there is no baseline for this document");
	if (!u || !unit_snapshot(u) || !u->baseline.n || !baseline_add(c->l, u, json_in_str(json_in_at(args, 0)), &c->why)) {
		c->error = LSP_REQUEST_FAILED;
		return;
	}
	json_null(c->j);
	lsp_units_reset(c->l);
}

/* Explanations and suggestions are also the result, for clients that do more with them than show a message. */
void lsp_execute(Call *c)
{
	Str command = json_in_str(json_in_get(c->params, "command"));
	Str argument = json_in_str(json_in_at(json_in_get(c->params, "arguments"), 0));
	const Rules *rules = any_rules(c->l);
	const Rule *r = str_eq(command, S("graphlint.explain")) && rules ? rules_find(rules, argument) : NULL;
	if (str_eq(command, S("graphlint.baseline"))) {
		execute_baseline(c);
		return;
	}
	if (!r && !str_eq(command, S("graphlint.suggestion"))) {
		c->error = LSP_INVALID_PARAMS;
		c->why = S("the commands are graphlint.explain RULE, graphlint.suggestion TEXT, graphlint.baseline FINGERPRINT URI");
		return;
	}
	Str text = !r ? argument : str_printf(&c->l->scratch, STR_FMT " " STR_FMT ": " STR_FMT "\n\n" STR_FMT, STR_ARG(r->id),
	                                      STR_ARG(r->name), STR_ARG(r->summary), STR_ARG(r->help));
	lsp_show(c->l, 3, text);
	json_str(c->j, text);
}
