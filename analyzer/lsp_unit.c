/* SPDX-License-Identifier: MIT
 * Documents, what is analysed together, and the analysis itself. */
#include "lsp_priv.h"

#include "options.h"
#include "prepare.h"
#include "walk.h"

/* ---- URIs: RFC 3986, file scheme RFC 8089 ---- */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

Str lsp_percent_decode(Str s, Arena *a)
{
	Buf b = {.a = a};
	for (uint32_t i = 0; i < s.n; i++) {
		int hi = s.p[i] == '%' && i + 2 < s.n ? hex(s.p[i + 1]) : -1, lo = hi >= 0 ? hex(s.p[i + 2]) : -1;
		if (lo >= 0) {
			buf_char(&b, (char)(hi * 16 + lo));
			i += 2;
		} else {
			buf_char(&b, s.p[i]);
		}
	}
	return buf_str(&b);
}

Str lsp_path_of(Str uri, Arena *a)
{
	Str scheme = S("file://");
	if (!str_starts(uri, scheme))
		return str_copy(a, uri);
	Str rest = str_sub(uri, scheme.n, uri.n);
	return lsp_percent_decode(str_sub(rest, str_find_char(rest, '/', 0), rest.n), a);
}

Str lsp_uri_of(Str path, Arena *a)
{
	static const char plain[] = "-._~/!$&'()*+,;=:@";
	if (!path.n || path.p[0] != '/')
		return path;
	Buf b = {.a = a};
	buf_add(&b, S("file://"));
	for (uint32_t i = 0; i < path.n; i++) {
		unsigned char c = (unsigned char)path.p[i];
		if (char_is_ident(c) || (c && strchr(plain, c)))
			buf_char(&b, (char)c);
		else
			buf_printf(&b, "%%%02X", c);
	}
	return buf_str(&b);
}

/* ---- documents ---- */

LspDoc *lsp_doc(LspServer *l, Str uri)
{
	for (uint32_t i = 0; i < l->docs.n; i++)
		if (l->docs.v[i].open && str_eq(l->docs.v[i].uri, uri))
			return &l->docs.v[i];
	return NULL;
}

static uint32_t doc_ref(const LspServer *l, const LspDoc *d)
{
	return (uint32_t)(d - l->docs.v) + 1;
}

/* Python that a user writes is full of functions named forward; a dump in a Python file says what it is. */
static bool python_dump(Str text)
{
	static const Str signs[] = {STR_INIT("(torch.nn.Module):"), STR_INIT("__compiled_fn_"), STR_INIT("# AOT ID:"),
	                            STR_INIT("torch._dynamo.debug_utils"), STR_INIT("torch._inductor.")};
	for (uint32_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (str_has(text, signs[i]))
			return true;
	return false;
}

static Unit *unit_add(LspServer *l, uint32_t *ref)
{
	for (*ref = 1; *ref <= l->units.n; ++*ref)
		if (!l->units.v[*ref - 1]->used && *ref != l->running)
			break;
	if (*ref > l->units.n)
		VEC_PUSH(&l->a, &l->units, NEW(&l->a, Unit));
	Unit *u = l->units.v[*ref - 1];
	arena_free(&u->a);
	*u = (Unit){.used = true, .now = -1, .dirty = true, .a = arena_new(NULL)};
	return u;
}

static bool in_group(LspServer *l, Str path, uint32_t *ref)
{
	for (uint32_t i = 0; i < l->units.n; i++) {
		Unit *u = l->units.v[i];
		if (!u->used || !u->group)
			continue;
		for (uint32_t k = 0; k < l->settings.paths.n; k++) {
			Str p = l->settings.paths.v[k];
			if (str_eq(p, path) || (str_starts(path, p) && (p.p[p.n - 1] == '/' || path.p[p.n] == '/'))) {
				*ref = i + 1;
				return true;
			}
		}
	}
	return false;
}

static void join_unit(LspServer *l, LspDoc *d)
{
	if (d->unit || (d->python && !python_dump(doc_str(&d->text))))
		return;
	if (in_group(l, d->path, &d->unit))
		lsp_unit_touch(l, l->units.v[d->unit - 1]);
	else
		unit_add(l, &d->unit)->doc = doc_ref(l, d);
}

LspDoc *lsp_doc_open(LspServer *l, Str uri, Str language, int64_t version, Str text)
{
	LspDoc *d = lsp_doc(l, uri);
	if (d)
		lsp_doc_close(l, d);
	uint32_t i = 0;
	while (i < l->docs.n && l->docs.v[i].open)
		i++;
	if (i == l->docs.n)
		VEC_PUSH(&l->a, &l->docs, ((LspDoc){0}));
	d = &l->docs.v[i];
	*d = (LspDoc){.a = arena_new(NULL), .open = true, .version = version};
	d->uri = str_copy(&d->a, uri);
	d->path = lsp_path_of(uri, &d->a);
	d->python = str_eq(language, S("python")) || str_ends(uri, S(".py"));
	doc_set(&d->text, text);
	join_unit(l, d);
	return d;
}

static void snapshot_free(Snapshot *s)
{
	if (!s->ready && !s->a.head)
		return;
	run_free(&s->run);
	for (uint32_t i = 0; i < s->files.n; i++)
		lines_free(&s->files.v[i].lines);
	arena_free(&s->a);
	*s = (Snapshot){0};
}

static void unit_empty(Unit *u)
{
	for (int i = 0; i < 2; i++)
		snapshot_free(&u->snap[i]);
	if (u->cache)
		read_cache_free(u->cache);
	if (u->tables_ready)
		tables_free(&u->tables);
	arena_free(&u->a);
	*u = (Unit){.used = u->used, .group = u->group, .doc = u->doc, .now = -1, .dirty = true, .a = arena_new(NULL)};
}

/* An analysis that runs is ended first, and then the unit can go: until that, it is only marked. */
static void stop_running(LspServer *l, const Unit *u)
{
	if (l->running && (!u || l->units.v[l->running - 1] == u))
		l->budget.stop = true;
}

void lsp_doc_close(LspServer *l, LspDoc *d)
{
	uint32_t unit = d->unit;
	Unit *u = unit ? l->units.v[unit - 1] : NULL;
	doc_free(&d->text);
	arena_free(&d->a);
	*d = (LspDoc){0};
	if (!u)
		return;
	stop_running(l, u);
	if (u->group) {
		u->dirty = true;
		return;
	}
	u->used = false;
	if (l->running != unit)
		unit_empty(u);
}

enum { EDITS_MOST = 4096 };

bool lsp_doc_change(LspServer *l, LspDoc *d, uint32_t at, uint32_t end, Str with)
{
	if (!doc_edit(&d->text, at, end, with))
		return false;
	if (d->edits.n < EDITS_MOST)
		VEC_PUSH(&d->a, &d->edits, ((DocEdit){at, end, with.n}));
	else
		d->edits_lost = true;
	if (d->unit)
		lsp_unit_touch(l, l->units.v[d->unit - 1]);
	else
		join_unit(l, d);
	return true;
}

void lsp_unit_touch(LspServer *l, Unit *u)
{
	u->dirty = true;
	stop_running(l, u);
}

bool lsp_doc_settled(LspServer *l, const LspDoc *d)
{
	Unit *u = d->unit ? l->units.v[d->unit - 1] : NULL;
	return !u || (!u->dirty && l->running != d->unit);
}

/* ---- settings ---- */

/* Which documents belong together may be another matter now. */
void lsp_units_reset(LspServer *l)
{
	uint32_t ref;
	stop_running(l, NULL);
	for (uint32_t i = 0; i < l->units.n; i++) {
		l->units.v[i]->used = false;
		if (i + 1 != l->running)
			unit_empty(l->units.v[i]);
	}
	if (l->settings.paths.n)
		unit_add(l, &ref)->group = true;
	for (uint32_t i = 0; i < l->docs.n; i++) {
		l->docs.v[i].unit = 0;
		if (l->docs.v[i].open)
			join_unit(l, &l->docs.v[i]);
	}
}

void lsp_units_free(LspServer *l)
{
	for (uint32_t i = 0; i < l->docs.n; i++) {
		doc_free(&l->docs.v[i].text);
		arena_free(&l->docs.v[i].a);
	}
	for (uint32_t i = 0; i < l->units.n; i++) {
		unit_empty(l->units.v[i]);
		arena_free(&l->units.v[i]->a);
	}
}

static void tell(LspServer *l, Str lines)
{
	Str line;
	while (str_cut(&lines, '\n', &line))
		if (line.n)
			lsp_show(l, 2, str_printf(&l->scratch, "graphlint: " STR_FMT, STR_ARG(line)));
}

/* The file that the configuration is looked for from: a document that has no file is in the workspace folder. */
static Str unit_path(const LspServer *l, const Unit *u)
{
	if (u->group)
		return l->settings.paths.v[0];
	Str path = l->docs.v[u->doc - 1].path;
	return path.n && path.p[0] == '/' ? path : l->root.n ? l->root : S(".");
}

/* The words of the settings are those of the command line, so that both know the same. */
static bool unit_options(LspServer *l, Unit *u, Options *o)
{
	Buf why = {.a = &l->scratch}, notes = {.a = &l->scratch};
	uint32_t n = l->settings.args.n;
	char **argv = NEW_N(&u->a, char *, n + 4);
	argv[0] = str_to_c(&u->a, S("graphlint"));
	argv[1] = str_to_c(&u->a, S("check"));
	for (uint32_t i = 0; i < n; i++)
		argv[i + 2] = str_to_c(&u->a, l->settings.args.v[i]);
	argv[n + 2] = str_to_c(&u->a, unit_path(l, u));
	bool ok = options_parse(o, &u->a, (int)n + 3, argv, &why) && prepare_tables(o, &u->tables, &u->a, &why, &notes) &&
	          prepare_baseline(o, &u->a, &why);
	tell(l, buf_str(&why));
	tell(l, buf_str(&notes));
	return ok;
}

static void unit_tables(Unit *u)
{
	if (u->tables_ready)
		tables_free(&u->tables);
	tables_init(&u->tables);
	u->tables_ready = true;
}

/* With settings or a configuration that have faults, which the user is told of, the analysis goes on without them. */
static void unit_prepare(LspServer *l, Unit *u)
{
	Options o;
	if (u->types)
		return;
	unit_empty(u);
	unit_tables(u);
	bool ok = unit_options(l, u, &o);
	u->cfg = ok ? o.cfg : config_default();
	u->cfg.jobs = 1; /* requests are answered from within the analysis: it stays in this process */
	u->baseline = ok ? o.baseline : (Str){0};
	u->config = ok ? o.file.path : (Str){0};
	if (!ok)
		unit_tables(u);
	u->types = types_new(&u->a, &u->tables.names);
	u->cache = read_cache_new(&u->a, NULL);
}

/* ---- analysis ---- */

static uint32_t doc_at_path(const LspServer *l, Str path)
{
	for (uint32_t i = 0; i < l->docs.n; i++)
		if (l->docs.v[i].open && str_eq(l->docs.v[i].path, path))
			return i + 1;
	return 0;
}

static void add_doc(LspServer *l, Snapshot *s, uint32_t ref)
{
	LspDoc *d = &l->docs.v[ref - 1];
	Str why, text = str_copy(&s->a, doc_str(&d->text)), mark = S("\xef\xbb\xbf");
	UnitFile f = {.doc = ref, .uri = str_copy(&s->a, d->uri), .path = str_copy(&s->a, d->path)};
	f.skip = str_starts(text, mark) ? mark.n : 0;
	f.id = sources_add_bytes(&s->run.sources, f.path, text, s->run.cfg->limits.file_bytes, &why);
	if (f.id.i)
		s->run.sources.v.v[f.id.i].named = true;
	VEC_PUSH(&s->a, &s->files, f);
	d->edits.n = 0;
	d->edits_lost = false;
}

static void add_disk(Snapshot *s, Str path)
{
	Str why;
	UnitFile f = {.path = str_copy(&s->a, path), .uri = lsp_uri_of(path, &s->a)};
	f.id = sources_add_file(&s->run.sources, f.path, f.path, s->run.cfg->limits.file_bytes, &why);
	if (f.id.i)
		VEC_PUSH(&s->a, &s->files, f);
}

static void add_group(LspServer *l, Snapshot *s)
{
	Walk w;
	Buf trouble = {.a = &s->a};
	walk_init(&w, &s->a, s->run.cfg->limits.walk_depth, &trouble);
	for (uint32_t i = 0; i < l->settings.paths.n; i++)
		walk_add(&w, l->settings.paths.v[i]);
	for (uint32_t i = 0; i < w.files.n; i++) {
		uint32_t doc = doc_at_path(l, w.files.v[i].path);
		if (doc)
			add_doc(l, s, doc);
		else
			add_disk(s, w.files.v[i].path);
	}
}

/* Called from within the analysis. */
static void pulse(void *ctx)
{
	LspServer *l = ctx;
	if (l->poll && !l->in_message)
		l->poll(l->poll_ctx);
}

static uint32_t frames_linked(const Run *r)
{
	uint32_t n = 0;
	for (uint32_t i = 0; r->frames && i < r->program.frames.n; i++)
		n += r->frames->links[i] != NULL;
	return n;
}

static void finish(Unit *u, int slot)
{
	Snapshot *s = &u->snap[slot];
	read_cache_finish(u->cache);
	if (u->now >= 0)
		snapshot_free(&u->snap[u->now]);
	s->ready = true;
	u->now = slot;
	u->runs++;
	read_cache_counts(u->cache, &u->reread, &u->artifacts);
	u->frames = frames_linked(&s->run);
}

/* False: no memory for the text itself. */
static bool add_files(LspServer *l, Unit *u, Snapshot *s)
{
	jmp_buf out;
	l->budget.fail = &out;
	if (setjmp(out)) {
		l->budget.fail = NULL;
		s->run.out_of_memory = true;
		return false;
	}
	if (u->group)
		add_group(l, s);
	else
		add_doc(l, s, u->doc);
	l->budget.fail = NULL;
	return true;
}

static void analyse(LspServer *l, Unit *u)
{
	int slot = u->now == 0 ? 1 : 0;
	Snapshot *s = &u->snap[slot];
	unit_prepare(l, u);
	s->a = arena_new(NULL);
	u->dirty = false;
	read_cache_begin(u->cache);
	l->budget = (Budget){.limit = u->cfg.limits.memory_bytes, .pulse = pulse, .pulse_ctx = l};
	run_init_next(&s->run, &u->tables, &u->cfg, &l->budget, u->types, u->cache);
	if (!s->run.out_of_memory && add_files(l, u, s))
		run_analyse(&s->run);
	if (l->budget.stop || !u->used) {
		snapshot_free(s);
		u->dirty = true;
	} else {
		if (s->run.out_of_memory)
			lsp_show(l, 1, S("graphlint: the analysis needs more memory than --max-memory allows"));
		finish(u, slot);
	}
}

bool lsp_has_work(const LspServer *l)
{
	for (uint32_t i = 0; i < l->units.n && l->phase == LSP_READY; i++)
		if (l->units.v[i]->used && l->units.v[i]->dirty)
			return true;
	return false;
}

void lsp_work(LspServer *l)
{
	for (uint32_t i = 0; i < l->units.n && l->phase == LSP_READY; i++) {
		Unit *u = l->units.v[i];
		if (!u->used || !u->dirty)
			continue;
		l->running = i + 1;
		analyse(l, u);
		l->running = 0;
		if (!u->used)
			unit_empty(u);
		else if (!u->dirty)
			lsp_publish(l);
		return;
	}
}

Snapshot *unit_snapshot(Unit *u)
{
	return u && u->now >= 0 ? &u->snap[u->now] : NULL;
}
