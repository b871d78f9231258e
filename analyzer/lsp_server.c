/* SPDX-License-Identifier: MIT
 * Messages: lifecycle, dispatch, settings, synchronisation of text. */
#include "lsp_priv.h"

#include "version.h"

/* ---- out ---- */

void message_new(LspServer *l, Message *m)
{
	m->text = (Buf){.a = &l->scratch};
	m->j = json_new(&m->text, false);
	json_object(&m->j);
	put_str(&m->j, S("jsonrpc"), S("2.0"));
}

void message_send(LspServer *l, Message *m)
{
	Buf frame = {.a = &l->scratch};
	json_end(&m->j);
	rpc_frame(&frame, buf_str(&m->text));
	bytes_add(&l->out, buf_str(&frame));
}

void notify_begin(LspServer *l, Message *m, Str method)
{
	message_new(l, m);
	put_str(&m->j, S("method"), method);
	json_key(&m->j, S("params"));
}

void request_begin(LspServer *l, Message *m, Str method)
{
	message_new(l, m);
	put_str(&m->j, S("id"), str_printf(&l->scratch, "graphlint-%u", (unsigned)++l->next_id));
	put_str(&m->j, S("method"), method);
	json_key(&m->j, S("params"));
}

void lsp_reply_error(LspServer *l, Str id, int code, Str why)
{
	Message m;
	message_new(l, &m);
	json_key(&m.j, S("id"));
	json_raw(&m.j, id.n ? id : S("null"));
	json_key(&m.j, S("error"));
	json_object(&m.j);
	put_int(&m.j, S("code"), code);
	put_str(&m.j, S("message"), why);
	json_end(&m.j);
	message_send(l, &m);
}

void lsp_show(LspServer *l, int type, Str text)
{
	Message m;
	notify_begin(l, &m, S("window/showMessage"));
	json_object(&m.j);
	put_int(&m.j, S("type"), type);
	put_str(&m.j, S("message"), text);
	json_end(&m.j);
	message_send(l, &m);
}

/* ---- settings ---- */

typedef struct Shorthand {
	const char *key, *flag;
} Shorthand;

/* Settings that are options of the command line under a name of their own. */
static const Shorthand shorthands[] = {
	{"contract", "contract"}, {"keep", "keep"}, {"torch", "torch"}, {"show", "show"}, {"select", "select"},
	{"ignore", "ignore"}, {"level", "level"}, {"facts", "facts"}, {"rules", "rules"}, {"config", "config"},
	{"baseline", "baseline"},
};

static void add_arg(LspSettings *s, const char *flag, Str value)
{
	if (value.n)
		VEC_PUSH(&s->a, &s->args, str_printf(&s->a, "--%s=" STR_FMT, flag, STR_ARG(value)));
}

static void add_args(LspSettings *s, const char *flag, const JsonIn *v)
{
	add_arg(s, flag, json_in_str(v));
	for (uint32_t i = 0; i < json_in_count(v); i++)
		add_arg(s, flag, json_in_str(json_in_at(v, i)));
}


static void add_level(void *ctx, Str key, const JsonIn *v)
{
	LspSettings *s = ctx;
	add_arg(s, "level", str_printf(&s->a, STR_FMT "=" STR_FMT, STR_ARG(key), STR_ARG(json_in_str(v))));
}

static Str absolute(const LspServer *l, Str path, Arena *a)
{
	if (!path.n || path.p[0] == '/' || !l->root.n)
		return str_copy(a, path);
	return str_printf(a, STR_FMT "/" STR_FMT, STR_ARG(l->root), STR_ARG(path));
}

static void settings_read(LspServer *l, const JsonIn *v)
{
	LspSettings *s = &l->settings;
	arena_free(&s->a);
	*s = (LspSettings){.a = arena_new(NULL)};
	s->sources = json_in_bool(json_in_get(v, "sources"), true);
	s->hints = json_in_bool(json_in_get(v, "hints"), true);
	for (uint32_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++)
		add_args(s, shorthands[i].flag, json_in_get(v, shorthands[i].key));
	json_in_each(json_in_get(v, "levels"), add_level, s);
	const JsonIn *args = json_in_get(v, "args"), *paths = json_in_get(v, "paths");
	for (uint32_t i = 0; i < json_in_count(args); i++)
		VEC_PUSH(&s->a, &s->args, str_copy(&s->a, json_in_str(json_in_at(args, i))));
	for (uint32_t i = 0; i < json_in_count(paths); i++) {
		Str p = absolute(l, json_in_str(json_in_at(paths, i)), &s->a);
		if (p.n)
			VEC_PUSH(&s->a, &s->paths, p);
	}
}

/* Editors send the settings bare, or below the name of the server. */
static const JsonIn *own_settings(const JsonIn *v)
{
	const JsonIn *own = json_in_get(v, "graphlint");
	return own ? own : v;
}

static void ask_configuration(LspServer *l)
{
	Message m;
	message_new(l, &m);
	put_str(&m.j, S("id"), S("graphlint-configuration"));
	put_str(&m.j, S("method"), S("workspace/configuration"));
	json_key(&m.j, S("params"));
	json_object(&m.j);
	json_key(&m.j, S("items"));
	json_array(&m.j);
	json_object(&m.j);
	put_str(&m.j, S("section"), S("graphlint"));
	json_end(&m.j);
	json_end(&m.j);
	json_end(&m.j);
	message_send(l, &m);
}

/* ---- lifecycle ---- */

static PosEncoding choose_encoding(const JsonIn *offered)
{
	static const struct {
		Str name;
		PosEncoding enc;
	} known[] = {{STR_INIT("utf-8"), POS_UTF8}, {STR_INIT("utf-16"), POS_UTF16}, {STR_INIT("utf-32"), POS_UTF32}};
	for (uint32_t i = 0; i < json_in_count(offered); i++) /* the client's order of preference */
		for (uint32_t k = 0; k < sizeof known / sizeof *known; k++)
			if (str_eq(json_in_str(json_in_at(offered, i)), known[k].name))
				return known[k].enc;
	return POS_UTF16;
}

static Str encoding_name(PosEncoding e)
{
	return e == POS_UTF8 ? S("utf-8") : e == POS_UTF32 ? S("utf-32") : S("utf-16");
}

static void read_client(LspClient *c, const JsonIn *caps)
{
	const JsonIn *text = json_in_get(caps, "textDocument"), *work = json_in_get(caps, "workspace"),
	             *window = json_in_get(caps, "window");
	const JsonIn *push = json_in_get(text, "publishDiagnostics");
	c->encoding = choose_encoding(json_in_path(caps, "general", "positionEncodings", NULL));
	c->pull = json_in_get(text, "diagnostic") != NULL;
	c->related = json_in_bool(json_in_get(push, "relatedInformation"), false) ||
	             json_in_bool(json_in_path(text, "diagnostic", "relatedInformation", NULL), c->pull);
	c->code_description = json_in_bool(json_in_get(push, "codeDescriptionSupport"), c->pull);
	c->diagnostic_data = json_in_bool(json_in_get(push, "dataSupport"), c->pull);
	c->hierarchical = json_in_bool(json_in_path(text, "documentSymbol", "hierarchicalDocumentSymbolSupport", NULL), false);
	c->refresh = json_in_bool(json_in_path(work, "diagnostics", "refreshSupport", NULL), false);
	c->inlay_refresh = json_in_bool(json_in_path(work, "inlayHint", "refreshSupport", NULL), false);
	c->configuration = json_in_bool(json_in_get(work, "configuration"), false);
	const JsonIn *kinds = json_in_path(work, "workspaceEdit", "resourceOperations", NULL);
	for (uint32_t i = 0; i < json_in_count(kinds); i++)
		c->creates |= str_eq(json_in_str(json_in_at(kinds, i)), S("create"));
	c->watch = json_in_bool(json_in_path(work, "didChangeWatchedFiles", "dynamicRegistration", NULL), false);
	c->progress = json_in_bool(json_in_get(window, "workDoneProgress"), false);
}

static void put_capabilities(LspServer *l, Json *j)
{
	static const char *const plain[] = {"hoverProvider", "definitionProvider", "referencesProvider", "documentSymbolProvider",
	                                    "workspaceSymbolProvider", "callHierarchyProvider", "foldingRangeProvider",
	                                    "inlayHintProvider"};
	put_str(j, S("positionEncoding"), encoding_name(l->client.encoding));
	json_key(j, S("textDocumentSync"));
	json_object(j);
	put_bool(j, S("openClose"), true);
	put_int(j, S("change"), 2); /* incremental */
	json_end(j);
	for (uint32_t i = 0; i < sizeof plain / sizeof *plain; i++)
		put_bool(j, str_from_c(plain[i]), true);
	json_key(j, S("codeActionProvider"));
	json_object(j);
	json_key(j, S("codeActionKinds"));
	json_array(j);
	json_str(j, S("quickfix"));
	json_end(j);
	json_end(j);
	json_key(j, S("executeCommandProvider"));
	json_object(j);
	json_key(j, S("commands"));
	json_array(j);
	json_str(j, S("graphlint.explain"));
	json_str(j, S("graphlint.suggestion"));
	json_str(j, S("graphlint.baseline"));
	json_end(j);
	json_end(j);
	if (l->client.pull) {
		json_key(j, S("diagnosticProvider"));
		json_object(j);
		put_str(j, S("identifier"), S("graphlint"));
		put_bool(j, S("interFileDependencies"), true);
		put_bool(j, S("workspaceDiagnostics"), true);
		json_end(j);
	}
}

static void initialize(Call *c)
{
	LspServer *l = c->l;
	Str folder = json_in_str(json_in_get(json_in_at(json_in_get(c->params, "workspaceFolders"), 0), "uri"));
	if (!folder.n)
		folder = json_in_str(json_in_get(c->params, "rootUri"));
	l->root = lsp_path_of(folder, &l->a);
	read_client(&l->client, json_in_get(c->params, "capabilities"));
	settings_read(l, own_settings(json_in_get(c->params, "initializationOptions")));
	lsp_units_reset(l);
	l->phase = LSP_READY;
	json_object(c->j);
	json_key(c->j, S("capabilities"));
	json_object(c->j);
	put_capabilities(l, c->j);
	json_end(c->j);
	json_key(c->j, S("serverInfo"));
	json_object(c->j);
	put_str(c->j, S("name"), S("graphlint"));
	put_str(c->j, S("version"), S(GRAPHLINT_VERSION));
	json_end(c->j);
	json_end(c->j);
}

static void register_watchers(LspServer *l)
{
	static const Str globs[] = {STR_INIT("**/.graphlint.yaml"), STR_INIT("**/*.{log,txt,py,json,jsonl,gz}")};
	Message m;
	request_begin(l, &m, S("client/registerCapability"));
	json_object(&m.j);
	json_key(&m.j, S("registrations"));
	json_array(&m.j);
	json_object(&m.j);
	put_str(&m.j, S("id"), S("graphlint-files"));
	put_str(&m.j, S("method"), S("workspace/didChangeWatchedFiles"));
	json_key(&m.j, S("registerOptions"));
	json_object(&m.j);
	json_key(&m.j, S("watchers"));
	json_array(&m.j);
	for (uint32_t i = 0; i < sizeof globs / sizeof *globs; i++) {
		json_object(&m.j);
		put_str(&m.j, S("globPattern"), globs[i]);
		json_end(&m.j);
	}
	json_end(&m.j);
	json_end(&m.j);
	json_end(&m.j);
	json_end(&m.j);
	json_end(&m.j);
	message_send(l, &m);
}

static void initialized(LspServer *l, const JsonIn *params)
{
	(void)params;
	if (l->client.configuration)
		ask_configuration(l);
	if (l->client.watch)
		register_watchers(l);
}

static void shut_down(Call *c)
{
	c->l->phase = LSP_SHUT;
	c->l->budget.stop = true;
	json_null(c->j);
}

static void exit_now(LspServer *l, const JsonIn *params)
{
	(void)params;
	l->status = l->phase == LSP_SHUT ? 0 : 1;
	l->phase = LSP_GONE;
	l->budget.stop = true;
}

static void ignore(LspServer *l, const JsonIn *params)
{
	(void)l, (void)params;
}

/* ---- text ---- */

static void did_open(LspServer *l, const JsonIn *params)
{
	const JsonIn *d = json_in_get(params, "textDocument");
	int64_t version = 0;
	json_in_int(json_in_get(d, "version"), &version);
	Str uri = json_in_str(json_in_get(d, "uri"));
	if (uri.n)
		lsp_doc_open(l, uri, json_in_str(json_in_get(d, "languageId")), version, json_in_str(json_in_get(d, "text")));
}

static bool change(LspServer *l, LspDoc *d, const JsonIn *v)
{
	LspPos from, to;
	const JsonIn *range = json_in_get(v, "range");
	Str text = json_in_str(json_in_get(v, "text"));
	if (!json_in_is_str(json_in_get(v, "text")))
		return false;
	if (json_in_is_null(range)) {
		d->edits_lost = true;
		return lsp_doc_change(l, d, 0, d->text.b.n, text);
	}
	if (!lsp_position(json_in_get(range, "start"), &from) || !lsp_position(json_in_get(range, "end"), &to))
		return false;
	PosMap m = posmap(doc_str(&d->text), &d->text.lines, l->client.encoding);
	uint32_t at = pos_offset(&m, from), end = pos_offset(&m, to);
	return lsp_doc_change(l, d, at < end ? at : end, at < end ? end : at, text);
}

static void did_change(LspServer *l, const JsonIn *params)
{
	const JsonIn *changes = json_in_get(params, "contentChanges");
	LspDoc *d = lsp_doc(l, json_in_str(json_in_path(params, "textDocument", "uri", NULL)));
	if (!d)
		return;
	json_in_int(json_in_path(params, "textDocument", "version", NULL), &d->version);
	for (uint32_t i = 0; i < json_in_count(changes); i++) {
		if (!change(l, d, json_in_at(changes, i))) {
			lsp_show(l, 1, S("graphlint: a change of a document could not be understood; close and open it again"));
			return;
		}
	}
}

static void did_close(LspServer *l, const JsonIn *params)
{
	LspDoc *d = lsp_doc(l, json_in_str(json_in_path(params, "textDocument", "uri", NULL)));
	if (!d)
		return;
	if (d->published) { /* what is closed has nothing to say any more */
		Message m;
		notify_begin(l, &m, S("textDocument/publishDiagnostics"));
		json_object(&m.j);
		put_str(&m.j, S("uri"), d->uri);
		json_key(&m.j, S("diagnostics"));
		json_array(&m.j);
		json_end(&m.j);
		json_end(&m.j);
		message_send(l, &m);
	}
	lsp_doc_close(l, d);
}

static void did_configure(LspServer *l, const JsonIn *params)
{
	const JsonIn *v = json_in_get(params, "settings");
	if (json_in_is_object(v)) {
		settings_read(l, own_settings(v));
		lsp_units_reset(l);
	} else if (l->client.configuration) {
		ask_configuration(l);
	}
}

/* Rules, configuration and dumps on disk are read again; an open document wins over its file. */
static void did_change_files(LspServer *l, const JsonIn *params)
{
	const JsonIn *changes = json_in_get(params, "changes");
	for (uint32_t i = 0; i < json_in_count(changes); i++) {
		Str uri = json_in_str(json_in_get(json_in_at(changes, i), "uri"));
		if (str_ends(uri, S(".yaml")) || str_ends(uri, S(".yml")) || str_ends(uri, S(".tsv"))) {
			lsp_units_reset(l);
			return;
		}
		for (uint32_t k = 0; k < l->units.n && !lsp_doc(l, uri); k++)
			if (l->units.v[k]->used && l->units.v[k]->group)
				lsp_unit_touch(l, l->units.v[k]);
	}
}

/* ---- requests about the server itself ---- */

static void stats(Call *c)
{
	LspServer *l = c->l;
	uint32_t artifacts = 0, reread = 0, frames = 0, runs = 0;
	for (uint32_t i = 0; i < l->units.n; i++) {
		const Unit *u = l->units.v[i];
		if (!u->used)
			continue;
		artifacts += u->artifacts;
		reread += u->reread;
		frames += u->frames;
		runs += u->runs;
	}
	json_object(c->j);
	put_int(c->j, S("runs"), runs);
	put_int(c->j, S("artifacts"), artifacts);
	put_int(c->j, S("rereadArtifacts"), reread);
	put_int(c->j, S("relinkedFrames"), frames);
	put_bool(c->j, S("busy"), lsp_has_work(l) || l->running);
	json_end(c->j);
}

static void cancel(LspServer *l, const JsonIn *params)
{
	const JsonIn *v = json_in_get(params, "id");
	int64_t n;
	Str id = json_in_str(v);
	Buf b = {.a = &l->scratch};
	Json j = json_new(&b, false);
	if (json_in_int(v, &n))
		json_int(&j, n);
	else
		json_str(&j, id);
	for (uint32_t i = 0; i < l->waiting.n; i++) {
		if (!str_eq(l->waiting.v[i].id, buf_str(&b)))
			continue;
		lsp_reply_error(l, l->waiting.v[i].id, LSP_CANCELLED, S("cancelled"));
		arena_free(&l->waiting.v[i].a);
		for (uint32_t k = i + 1; k < l->waiting.n; k++)
			l->waiting.v[k - 1] = l->waiting.v[k];
		l->waiting.n--;
		return;
	}
}

/* ---- dispatch ---- */

typedef struct Method {
	Str name;
	void (*answer)(Call *c);
} Method;

typedef struct Note {
	Str name;
	void (*take)(LspServer *l, const JsonIn *params);
} Note;

static const Method methods[] = {
#define METHOD(name, function) {STR_INIT(name), function},
#include "lsp_methods.def"
#undef METHOD
};

static const Note notes[] = {
#define NOTE(name, function) {STR_INIT(name), function},
#include "lsp_notes.def"
#undef NOTE
};

static const Method *method_find(Str name)
{
	for (uint32_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (str_eq(methods[i].name, name))
			return &methods[i];
	return NULL;
}

static bool is_request_id(const JsonIn *v)
{
	int64_t n;
	return json_in_is_str(v) || json_in_int(v, &n);
}

static Str id_text(LspServer *l, const JsonIn *v)
{
	Buf b = {.a = &l->scratch};
	Json j = json_new(&b, false);
	int64_t n;
	if (json_in_int(v, &n))
		json_int(&j, n);
	else
		json_str(&j, json_in_str(v));
	return buf_str(&b);
}

static void answer(LspServer *l, Str id, void (*f)(Call *c), const JsonIn *params)
{
	Message m;
	Call c = {.l = l, .params = params, .j = &m.j, .id = id};
	message_new(l, &m);
	json_key(&m.j, S("id"));
	json_raw(&m.j, id);
	json_key(&m.j, S("result"));
	f(&c);
	if (c.error)
		lsp_reply_error(l, id, c.error, c.why);
	else if (!c.waits)
		message_send(l, &m);
}

static void request(LspServer *l, Str method, Str id, const JsonIn *params)
{
	const Method *m = method_find(method);
	if (l->phase == LSP_NEW && str_eq(method, S("initialize")))
		answer(l, id, initialize, params);
	else if (l->phase == LSP_NEW)
		lsp_reply_error(l, id, LSP_NOT_INITIALIZED, S("the server waits for initialize"));
	else if (l->phase != LSP_READY)
		lsp_reply_error(l, id, LSP_INVALID_REQUEST, S("the server was shut down"));
	else if (str_eq(method, S("initialize")))
		lsp_reply_error(l, id, LSP_INVALID_REQUEST, S("initialize comes once"));
	else if (!m)
		lsp_reply_error(l, id, LSP_METHOD_NOT_FOUND,
		                str_printf(&l->scratch, "unknown method '" STR_FMT "'", STR_ARG(str_sub(method, 0, 100))));
	else if (!json_in_is_null(params) && !json_in_is_object(params) && !json_in_is_array(params))
		lsp_reply_error(l, id, LSP_INVALID_PARAMS, S("params are no object"));
	else
		answer(l, id, m->answer, params);
}

static void notification(LspServer *l, Str method, const JsonIn *params)
{
	for (uint32_t i = 0; i < sizeof notes / sizeof *notes; i++) {
		if (!str_eq(notes[i].name, method))
			continue;
		if (l->phase == LSP_READY || notes[i].take == exit_now)
			notes[i].take(l, params);
		return;
	}
}

/* An answer to a request of ours. */
static void response(LspServer *l, const JsonIn *v)
{
	if (!str_eq(json_in_str(json_in_get(v, "id")), S("graphlint-configuration")) || !json_in_get(v, "result"))
		return;
	const JsonIn *own = json_in_at(json_in_get(v, "result"), 0);
	if (json_in_is_object(own)) {
		settings_read(l, own_settings(own));
		lsp_units_reset(l);
	}
}

static void message(LspServer *l, const JsonIn *v)
{
	const JsonIn *id = json_in_get(v, "id"), *params = json_in_get(v, "params");
	Str method = json_in_str(json_in_get(v, "method"));
	if (!json_in_is_object(v) || (!method.n && !id))
		lsp_reply_error(l, (Str){0}, LSP_INVALID_REQUEST, S("neither a request nor an answer"));
	else if (!method.n)
		response(l, v);
	else if (!id)
		notification(l, method, params);
	else if (is_request_id(id))
		request(l, method, id_text(l, id), params);
	else
		lsp_reply_error(l, (Str){0}, LSP_INVALID_REQUEST, S("an id is a number or a string"));
}

static void body(LspServer *l, Str text)
{
	Buf fault = {.a = &l->scratch};
	JsonIn *v = json_in_parse(text, &fault);
	if (!v) {
		lsp_reply_error(l, (Str){0}, LSP_PARSE_ERROR, buf_str(&fault));
		return;
	}
	message(l, v);
	json_in_free(v);
}

void lsp_handle(LspServer *l)
{
	Str text;
	const char *why;
	RpcResult r;
	l->in_message = true;
	while (l->phase != LSP_GONE && (r = rpc_next(&l->in, &text, &why)) != RPC_MORE) {
		ArenaMark mark = arena_mark(&l->scratch);
		if (r == RPC_BODY)
			body(l, text);
		else
			lsp_reply_error(l, (Str){0}, LSP_PARSE_ERROR, str_from_c(why));
		arena_rewind(&l->scratch, mark);
	}
	lsp_answer_waiting(l);
	l->in_message = false;
}

void lsp_init(LspServer *l)
{
	*l = (LspServer){.a = arena_new(NULL), .scratch = arena_new(NULL)};
	rpc_init(&l->in, LSP_MESSAGE_MOST);
	l->settings.sources = l->settings.hints = true;
}

void lsp_free(LspServer *l)
{
	for (uint32_t i = 0; i < l->waiting.n; i++)
		arena_free(&l->waiting.v[i].a);
	lsp_units_free(l);
	rpc_free(&l->in);
	bytes_free(&l->out);
	arena_free(&l->settings.a);
	arena_free(&l->scratch);
	arena_free(&l->a);
}
