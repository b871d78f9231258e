/* SPDX-License-Identifier: MIT
 * Findings as diagnostics: pushed, or handed out when the client asks. */
#include "lsp_priv.h"

#include "rules.h"

bool finding_shown(const Run *r, const Finding *f)
{
	return f->severity >= r->cfg->show && !f->suppressed.n;
}

/* ---- which findings are at a document ---- */

static Str base_name(Str path)
{
	uint32_t slash = str_rfind(path, S("/"));
	return slash < path.n ? str_sub(path, slash + 1, path.n) : path;
}

/* The dump names a file of the machine that ran the program; the open one is that file if its path ends alike and the line
 * says what the dump quotes. */
static bool names_line(const LspDoc *d, const UserSource *u, Span *at)
{
	if (!u->file.n || !u->line || !str_eq(base_name(d->path), base_name(u->file)) || u->line > lines_count(&d->text.lines))
		return false;
	PosMap m = posmap(doc_str(&d->text), &d->text.lines, POS_UTF8);
	Str line = pos_line(&m, u->line - 1), text = str_trim(line);
	if (u->code.n && !str_starts(text, str_trim(u->code)))
		return false;
	if (!u->code.n && !str_eq(d->path, u->file))
		return false;
	at->at = (uint32_t)(text.n ? text.p - m.text.p : line.p - m.text.p);
	at->end = at->at + text.n;
	return true;
}

static void of_snapshot(LspServer *l, const LspDoc *d, Snapshot *s, FindingFn *fn, void *ctx)
{
	const Run *r = &s->run;
	for (uint32_t i = 0; i < r->diags.v.n; i++) {
		const Finding *f = &r->diags.v.v[i];
		Span at = f->span;
		if (!finding_shown(r, f))
			continue;
		if (str_eq(span_uri(s, f->span), d->uri))
			fn(ctx, s, f, at, false);
		else if (l->settings.sources && d->python && names_line(d, &f->source, &at))
			fn(ctx, s, f, at, true);
	}
}

void findings_at(LspServer *l, const LspDoc *d, FindingFn *fn, void *ctx)
{
	for (uint32_t i = 0; i < l->units.n; i++) {
		Unit *u = l->units.v[i];
		bool own = i + 1 == d->unit;
		Snapshot *s = u->used ? unit_snapshot(u) : NULL;
		if (s && !s->run.out_of_memory && (own || (d->python && l->settings.sources)))
			of_snapshot(l, d, s, fn, ctx);
	}
}

/* ---- one diagnostic ---- */

typedef struct Out {
	LspServer *l;
	const LspDoc *d;
	Json *j;
	PosMap map;
	uint32_t n;
} Out;

static int severity_number(Severity s)
{
	return s == SEV_ERROR ? 1 : s == SEV_WARNING ? 2 : 3;
}

static void put_doc_range(Out *o, Span at)
{
	LspPos from = pos_of(&o->map, at.at);
	put_positions(o->j, from, pos_of(&o->map, at.end));
}

static void put_related(Out *o, Snapshot *s, const Finding *f, bool source)
{
	json_key(o->j, S("relatedInformation"));
	json_array(o->j);
	if (source) {
		json_object(o->j);
		json_key(o->j, S("location"));
		put_location(o->l, s, o->j, f->span);
		put_str(o->j, S("message"), S("the finding in the dump"));
		json_end(o->j);
	}
	for (uint32_t i = 0; i < f->steps.n; i++) {
		const Step *st = &f->steps.v[i];
		json_object(o->j);
		json_key(o->j, S("location"));
		put_location(o->l, s, o->j, st->span.file.i ? st->span : f->span);
		put_str(o->j, S("message"), str_printf(&o->l->scratch, "%u. " STR_FMT ": " STR_FMT, i + 1,
		                                       STR_ARG(role_name(st->role)), STR_ARG(st->text)));
		json_end(o->j);
	}
	json_end(o->j);
}

static void put_description(Out *o, Snapshot *s, const Finding *f)
{
	const Rule *rule = rules_find(s->run.tables->rules, f->rule);
	if (!rule || !rule->references.n || !str_starts(rule->references.v[0], S("https://")))
		return;
	json_key(o->j, S("codeDescription"));
	json_object(o->j);
	put_str(o->j, S("href"), rule->references.v[0]);
	json_end(o->j);
}

static void put_data(Out *o, const Finding *f)
{
	json_key(o->j, S("data"));
	json_object(o->j);
	put_str(o->j, S("rule"), f->rule);
	put_str(o->j, S("graph"), f->graph);
	put_str(o->j, S("suggestion"), f->suggestion);
	json_end(o->j);
}

static void put_diagnostic(void *ctx, Snapshot *s, const Finding *f, Span at, bool source)
{
	Out *o = ctx;
	json_object(o->j);
	json_key(o->j, S("range"));
	if (source)
		put_doc_range(o, at);
	else
		put_range(o->l, s, o->j, at);
	put_int(o->j, S("severity"), severity_number(f->severity));
	put_str(o->j, S("code"), f->rule);
	if (o->l->client.code_description)
		put_description(o, s, f);
	put_str(o->j, S("source"), S("graphlint"));
	Str help = f->suggestion.n ? str_printf(&o->l->scratch, "\nhelp: " STR_FMT, STR_ARG(f->suggestion)) : (Str){0};
	put_str(o->j, S("message"), str_printf(&o->l->scratch, STR_FMT ": " STR_FMT STR_FMT, STR_ARG(f->name),
	                                       STR_ARG(f->message), STR_ARG(help)));
	if (str_eq(f->rule, S("GL602")) || str_eq(f->rule, S("GL204"))) { /* without effect: shown faded */
		json_key(o->j, S("tags"));
		json_array(o->j);
		json_int(o->j, 1);
		json_end(o->j);
	}
	if (o->l->client.related)
		put_related(o, s, f, source);
	if (o->l->client.diagnostic_data)
		put_data(o, f);
	json_end(o->j);
	o->n++;
}

/* The array of a document's diagnostics, in the scratch arena. */
static Str diagnostics_of(LspServer *l, const LspDoc *d)
{
	Buf b = {.a = &l->scratch};
	Json j = json_new(&b, false);
	Out o = {.l = l, .d = d, .j = &j, .map = posmap(doc_str(&d->text), &d->text.lines, l->client.encoding)};
	json_array(&j);
	findings_at(l, d, put_diagnostic, &o);
	json_end(&j);
	return buf_str(&b);
}

/* ---- pushed ---- */

static void publish_doc(LspServer *l, LspDoc *d)
{
	ArenaMark mark = arena_mark(&l->scratch);
	Str list = diagnostics_of(l, d);
	uint64_t hash = hash_bytes((uint64_t)d->version, list.p, list.n) | 1;
	bool empty = str_eq(list, S("[]"));
	/* nothing is sent of files that are no dumps and never had anything */
	if (hash != d->published && (d->published || !empty || d->unit)) {
		Buf text = {.a = &l->scratch};
		Json j = json_new(&text, false);
		json_object(&j);
		put_str(&j, S("uri"), d->uri);
		put_int(&j, S("version"), d->version);
		json_end(&j);
		Buf body = {.a = &l->scratch};
		Str head = str_sub(buf_str(&text), 0, text.n - 1);
		buf_add(&body, S("{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\",\"params\":"));
		buf_printf(&body, STR_FMT ",\"diagnostics\":" STR_FMT "}}", STR_ARG(head), STR_ARG(list));
		Buf frame = {.a = &l->scratch};
		rpc_frame(&frame, buf_str(&body));
		bytes_add(&l->out, buf_str(&frame));
		d->published = hash;
	}
	arena_rewind(&l->scratch, mark);
}

static void refresh(LspServer *l, Str method)
{
	Message m;
	request_begin(l, &m, method);
	json_null(&m.j);
	message_send(l, &m);
}

void lsp_publish(LspServer *l)
{
	for (uint32_t i = 0; i < l->docs.n && !l->client.pull; i++)
		if (l->docs.v[i].open && lsp_doc_settled(l, &l->docs.v[i]))
			publish_doc(l, &l->docs.v[i]);
	lsp_answer_waiting(l);
	if (l->client.pull && l->client.refresh)
		refresh(l, S("workspace/diagnostic/refresh"));
	if (l->client.inlay_refresh)
		refresh(l, S("workspace/inlayHint/refresh"));
}

/* ---- pulled ---- */

static void put_report(LspServer *l, Json *j, const LspDoc *d, Str previous)
{
	Str list = d ? diagnostics_of(l, d) : S("[]");
	Str id = str_printf(&l->scratch, "%016llx", (unsigned long long)hash_bytes(0, list.p, list.n));
	bool same = str_eq(id, previous);
	put_str(j, S("kind"), same ? S("unchanged") : S("full"));
	put_str(j, S("resultId"), id);
	if (!same) {
		json_key(j, S("items"));
		json_raw(j, list);
	}
}

static void answer(LspServer *l, const Waiting *w)
{
	ArenaMark mark = arena_mark(&l->scratch);
	Message m;
	message_new(l, &m);
	json_key(&m.j, S("id"));
	json_raw(&m.j, w->id);
	json_key(&m.j, S("result"));
	json_object(&m.j);
	put_report(l, &m.j, lsp_doc(l, w->uri), w->previous);
	json_end(&m.j);
	message_send(l, &m);
	arena_rewind(&l->scratch, mark);
}

void lsp_answer_waiting(LspServer *l)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < l->waiting.n; i++) {
		Waiting *w = &l->waiting.v[i];
		const LspDoc *d = lsp_doc(l, w->uri);
		if (d && !lsp_doc_settled(l, d)) {
			l->waiting.v[kept++] = *w;
			continue;
		}
		answer(l, w);
		arena_free(&w->a);
	}
	l->waiting.n = kept;
}

/* Only the text as it is now is answered for, so the request may have to wait. */
void lsp_pull(Call *c)
{
	Str uri = json_in_str(json_in_path(c->params, "textDocument", "uri", NULL));
	Waiting w = {.a = arena_new(NULL)};
	w.id = str_copy(&w.a, c->id);
	w.uri = str_copy(&w.a, uri);
	w.previous = str_copy(&w.a, json_in_str(json_in_get(c->params, "previousResultId")));
	VEC_PUSH(&c->l->a, &c->l->waiting, w);
	c->waits = true;
}

void lsp_pull_workspace(Call *c)
{
	LspServer *l = c->l;
	json_object(c->j);
	json_key(c->j, S("items"));
	json_array(c->j);
	for (uint32_t i = 0; i < l->docs.n; i++) {
		const LspDoc *d = &l->docs.v[i];
		if (!d->open)
			continue;
		json_object(c->j);
		put_str(c->j, S("uri"), d->uri);
		put_int(c->j, S("version"), d->version);
		put_report(l, c->j, d, (Str){0});
		json_end(c->j);
	}
	json_end(c->j);
	json_end(c->j);
}
