/* SPDX-License-Identifier: MIT
 * What an editor shows and offers in the text: folds, hints behind values, actions on findings. */
#include "lsp_priv.h"

#include "alias.h"
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
	json_key(j, S("position"));
	json_object(j);
	put_int(j, S("line"), pos.line);
	put_int(j, S("character"), pos.character);
	json_end(j);
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

static void put_position(Json *j, Str key, LspPos p)
{
	json_key(j, key);
	json_object(j);
	put_int(j, S("line"), p.line);
	put_int(j, S("character"), p.character);
	json_end(j);
}

static void begin_action(Actions *x, Str title)
{
	json_object(x->c->j);
	put_str(x->c->j, S("title"), title);
	put_str(x->c->j, S("kind"), S("quickfix"));
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
	json_object(j);
	json_key(j, S("range"));
	json_object(j);
	put_position(j, S("start"), end);
	put_position(j, S("end"), end);
	json_end(j);
	put_str(j, S("newText"), str_printf(a, "  # graphlint: ignore[" STR_FMT "]", STR_ARG(f->rule)));
	json_end(j);
	json_end(j);
	json_end(j);
	json_end(j);
	json_end(j);
}

static void put_command(Actions *x, Str title, Str command, Str argument)
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
	json_end(j);
	json_end(j);
	json_end(j);
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
	put_command(x, str_printf(&l->scratch, "Explain " STR_FMT " (" STR_FMT ")", STR_ARG(f->rule), STR_ARG(f->name)),
	            S("graphlint.explain"), f->rule);
	if (f->suggestion.n)
		put_command(x, str_printf(&l->scratch, "Copy what helps against " STR_FMT, STR_ARG(f->rule)),
		            S("graphlint.suggestion"), f->suggestion);
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

/* Both hand the text back as the result, for clients that do more with it than show a message. */
void lsp_execute(Call *c)
{
	Str command = json_in_str(json_in_get(c->params, "command"));
	Str argument = json_in_str(json_in_at(json_in_get(c->params, "arguments"), 0));
	const Rules *rules = any_rules(c->l);
	if (str_eq(command, S("graphlint.suggestion"))) {
		lsp_show(c->l, 3, argument);
		json_str(c->j, argument);
		return;
	}
	const Rule *r = str_eq(command, S("graphlint.explain")) && rules ? rules_find(rules, argument) : NULL;
	if (!r) {
		c->error = LSP_INVALID_PARAMS;
		c->why = S("the commands are graphlint.explain RULE and graphlint.suggestion TEXT");
		return;
	}
	Str text = str_printf(&c->l->scratch, STR_FMT " " STR_FMT ": " STR_FMT "\n\n" STR_FMT, STR_ARG(r->id), STR_ARG(r->name),
	                      STR_ARG(r->summary), STR_ARG(r->help));
	lsp_show(c->l, 3, text);
	json_str(c->j, text);
}
