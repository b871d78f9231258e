/* SPDX-License-Identifier: MIT
 * What was found: files and what each holds, programs and how their parts are joined, what was not read and why. */
#include "report.h"

#include "frame_graph.h"
#include "json.h"
#include "report_common.h"
#include "version.h"

/* What one file holds. */
typedef struct FileRow {
	uint32_t artifacts, kind[ART_N];
	uint32_t graphs, bodies, analysed; /* graphs: bodies included */
	uint32_t frames, starts, tensors;  /* starts, tensors: records of a trace */
	uint32_t unread;
	bool style[PREFIX_N];
	VersionSpan torch;
} FileRow;

/* Files of one unit, lines of one process. */
typedef struct ProgramRow {
	FileId unit;
	Sym process;
	uint32_t graphs, analysed, frames, starts;
	uint32_t exact, inferred, unlinked; /* calls of graphs and of resume functions */
	VersionSpan torch;
} ProgramRow;

typedef struct Out {
	const Run *r;
	Arena a;
	Places places;
	FileRow *files;       /* by FileId */
	VEC(ProgramRow) programs;
	Map program_of;
	Buf *out;
	bool unicode;
} Out;

/* ---- counting ---- */

static VersionSpan narrowed(VersionSpan a, VersionSpan b)
{
	VersionSpan v = {a.lo > b.lo ? a.lo : b.lo, a.hi && (!b.hi || a.hi < b.hi) ? a.hi : b.hi};
	return v.hi && v.lo > v.hi ? a : v;
}

static ProgramRow *program_of(Out *o, FileId unit, Sym process)
{
	uint64_t key = ((uint64_t)unit.i << 32 | process.i) + 1;
	uint32_t i = map_get(&o->program_of, key);
	if (!i) {
		VEC_PUSH(&o->a, &o->programs, ((ProgramRow){.unit = unit, .process = process}));
		map_put(&o->program_of, key, i = o->programs.n);
	}
	return &o->programs.v[i - 1];
}

static void count_artifacts(Out *o)
{
	const Artifacts *t = &o->r->artifacts;
	for (uint32_t i = 1; i < t->v.n; i++) {
		const Artifact *a = &t->v.v[i];
		FileRow *f = &o->files[a->file.i];
		f->artifacts++;
		f->kind[a->kind]++;
		f->style[a->prefix] = true;
		f->torch = narrowed(f->torch, a->torch);
	}
	for (uint32_t i = 0; i < t->tensors.n; i++)
		o->files[t->tensors.v[i].id.at.file.i].tensors++;
	for (uint32_t i = 0; i < t->starts.n; i++) {
		const FrameStart *s = &t->starts.v[i];
		o->files[s->id.at.file.i].starts++;
		if (!s->id.attempt)
			program_of(o, s->id.unit, sym_intern(&o->r->tables->names, s->id.process))->starts++;
	}
}

static void count_graphs(Out *o)
{
	const Program *p = &o->r->program;
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		FileRow *f = &o->files[g->file.i];
		ProgramRow *row = program_of(o, g->unit, g->process);
		bool analysed = !g->printing_of.i;
		f->graphs++;
		f->bodies += g->parent.i != 0;
		f->analysed += analysed;
		row->graphs++;
		row->analysed += analysed;
		row->torch = narrowed(row->torch, g->torch);
	}
}

static void count_call(Out *o, ProgramRow *row, FrameRef frame, const LinkEvent *e)
{
	const ProgramFrames *f = o->r->frames;
	FrameRefs to = {0};
	ArenaMark mark = arena_mark(&o->a);
	bool found = e->callee == CALLEE_GRAPH ? frames_called_graph(f, frame, e).i != 0
	                                       : frame_resume_candidates(f, frame, e, &o->a, &to) != FIT_NONE;
	arena_rewind(&o->a, mark);
	row->exact += found;
	row->unlinked += !found;
}

static void count_frames(Out *o)
{
	const Program *p = &o->r->program;
	for (uint32_t i = 0; i < p->frames.n; i++) {
		const Frame *f = &p->frames.v[i];
		const FrameLinks *l = o->r->frames ? o->r->frames->links[i] : NULL;
		uint32_t row = (uint32_t)(program_of(o, f->unit, f->process) - o->programs.v);
		o->files[f->dump.i].frames++;
		o->programs.v[row].frames++;
		for (uint32_t k = 0; l && k < l->events.n; k++)
			if (l->events.v[k].kind == LINK_CALL && l->events.v[k].callee != CALLEE_ANYTHING)
				count_call(o, &o->programs.v[row], i + 1, &l->events.v[k]);
	}
}

static Out count(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = {.r = r, .a = arena_new(NULL), .out = out, .unicode = options->unicode};
	o.places = places_new(&r->sources, &o.a);
	o.program_of.a = &o.a;
	o.files = NEW_N(&o.a, FileRow, r->sources.v.n);
	count_artifacts(&o);
	count_graphs(&o);
	count_frames(&o);
	for (uint32_t i = 0; i < r->diags.unread.n; i++)
		o.files[r->diags.unread.v[i].span.file.i].unread++;
	return o;
}

/* ---- words ---- */

static void version_text(VersionSpan v, Buf *out)
{
	if (v.lo)
		buf_printf(out, "%u.%u", v.lo / 100, v.lo % 100);
	if (v.lo != v.hi)
		buf_add(out, v.hi && v.lo ? S(" to ") : v.hi ? S("up to ") : S(" or later"));
	if (v.hi && v.lo != v.hi)
		buf_printf(out, "%u.%u", v.hi / 100, v.hi % 100);
}

/* What the file is, by what stands in it. */
static Str form_of(const Out *o, FileId id)
{
	const FileRow *f = &o->files[id.i];
	const Source *s = source_get(&o->r->sources, id);
	if (s->role)
		return S("payload of a trace");
	if (f->style[PREFIX_TRACE] || f->starts || f->tensors)
		return S("trace");
	for (uint32_t i = PREFIX_NONE + 1; i < PREFIX_N; i++)
		if (f->style[i])
			return S("log");
	if (f->kind[ART_REPRO_ARGS])
		return S("repro");
	if (f->kind[ART_OUTPUT_CODE])
		return S("generated code");
	return f->artifacts ? S("text") : run_is_index(o->r, id) ? S("index") : S("nothing known");
}

static void add_count(Buf *out, uint32_t n, const char *one, const char *many)
{
	if (!n)
		return;
	if (out->n)
		buf_add(out, S(", "));
	buf_printf(out, "%u %s", n, n == 1 ? one : many);
}

static void counts_text(const FileRow *f, Buf *out)
{
	add_count(out, f->graphs, "graph", "graphs");
	if (f->analysed < f->graphs)
		buf_printf(out, " (%u printed again)", f->graphs - f->analysed);
	add_count(out, f->frames, "bytecode listing", "bytecode listings");
	add_count(out, f->starts, "compilation", "compilations");
	add_count(out, f->tensors, "described tensor", "described tensors");
	for (uint32_t k = 1; k < ART_N; k++) {
		ArtifactKind kind = (ArtifactKind)k;
		bool counted = kind == ART_GRAPH_CODE || kind == ART_GRAPH_TEXT || kind == ART_GRAPH_TABLE ||
		               kind == ART_BYTECODE_ORIGINAL || kind == ART_BYTECODE_MODIFIED;
		if (!counted && f->kind[k])
			buf_printf(out, "%s%u " STR_FMT, out->n ? ", " : "", f->kind[k], STR_ARG(artifact_kind_name(kind)));
	}
}

/* ---- text ---- */

static void put(Out *o, Str s)
{
	report_text(o->out, s, o->unicode);
}

static void line(Out *o, Buf *text)
{
	put(o, buf_str(text));
	buf_char(o->out, '\n');
	text->n = 0;
}

static bool is_empty(const Out *o, FileId f)
{
	return !source_get(&o->r->sources, f)->role && !o->files[f.i].artifacts && !o->files[f.i].starts && !o->files[f.i].tensors && !run_is_index(o->r, f);
}

static void files_text(Out *o)
{
	Buf b = {.a = &o->a}, counts = {.a = &o->a};
	for (uint32_t i = 1; i < o->r->sources.v.n; i++) {
		FileId id = {i};
		const Source *s = source_get(&o->r->sources, id);
		if (is_empty(o, id))
			continue;
		buf_add(&b, s->path);
		line(o, &b);
		buf_printf(&b, "    " STR_FMT "%s%s", STR_ARG(form_of(o, id)), s->was_gzip ? ", gzip" : "", s->was_utf16 ? ", UTF-16" : "");
		if (s->role && s->role->compile_id.n)
			buf_printf(&b, " (" STR_FMT " of [" STR_FMT "])", STR_ARG(s->role->kind), STR_ARG(s->role->compile_id));
		if (o->files[i].torch.lo || o->files[i].torch.hi) {
			buf_add(&b, S(", PyTorch "));
			version_text(o->files[i].torch, &b);
		}
		counts.n = 0;
		counts_text(&o->files[i], &counts);
		if (counts.n)
			buf_printf(&b, ": " STR_FMT, STR_ARG(buf_str(&counts)));
		if (o->files[i].unread)
			buf_printf(&b, "; %u place%s not read", o->files[i].unread, report_plural(o->files[i].unread));
		line(o, &b);
	}
}

static void skipped_text(Out *o)
{
	Buf b = {.a = &o->a};
	bool any = false;
	for (uint32_t i = 1; i < o->r->sources.v.n; i++) {
		if (!is_empty(o, (FileId){i}))
			continue;
		if (!any)
			buf_add(o->out, S("\nno artifact in:\n"));
		any = true;
		buf_printf(&b, "    " STR_FMT, STR_ARG(source_get(&o->r->sources, (FileId){i})->path));
		line(o, &b);
	}
	for (uint32_t i = 0; i < o->r->passed.n; i++) {
		if (!i)
			buf_add(o->out, S("\npassed over:\n"));
		buf_printf(&b, "    " STR_FMT ": " STR_FMT, STR_ARG(o->r->passed.v[i].path), STR_ARG(o->r->passed.v[i].why));
		line(o, &b);
	}
}

static void programs_text(Out *o)
{
	Buf b = {.a = &o->a}, counts = {.a = &o->a};
	for (uint32_t i = 0; i < o->programs.n; i++) {
		const ProgramRow *p = &o->programs.v[i];
		if (!i)
			buf_add(o->out, S("\nprograms:\n"));
		counts.n = 0;
		buf_printf(&b, "    " STR_FMT, STR_ARG(place_path(&o->places, p->unit)));
		if (!sym_none(p->process))
			buf_printf(&b, ", process " STR_FMT, STR_ARG(sym_str(&o->r->tables->names, p->process)));
		add_count(&counts, p->analysed, "graph", "graphs");
		add_count(&counts, p->frames, "bytecode listing", "bytecode listings");
		add_count(&counts, p->starts, "compilation", "compilations");
		add_count(&counts, p->exact, "exact link", "exact links");
		add_count(&counts, p->inferred, "inferred link", "inferred links");
		add_count(&counts, p->unlinked, "call of what the dump does not show", "calls of what the dump does not show");
		if (counts.n)
			buf_printf(&b, ": " STR_FMT, STR_ARG(buf_str(&counts)));
		line(o, &b);
	}
}

static void unread_text(Out *o)
{
	Buf b = {.a = &o->a};
	const Diags *d = &o->r->diags;
	for (uint32_t i = 0; i < d->unread.n; i++) {
		const Unread *u = &d->unread.v[i];
		if (!i)
			buf_add(o->out, S("\nnot read:\n"));
		buf_printf(&b, "    " STR_FMT ":%u: " STR_FMT, STR_ARG(place_path(&o->places, u->span.file)),
		           place_of(&o->places, u->span.file, u->span.at).line, STR_ARG(u->why));
		line(o, &b);
	}
}

void report_inventory_text(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = count(r, options, out);
	files_text(&o);
	skipped_text(&o);
	programs_text(&o);
	unread_text(&o);
	uint32_t files = 0, artifacts = 0;
	for (uint32_t i = 1; i < r->sources.v.n; i++) {
		files += !is_empty(&o, (FileId){i});
		artifacts += o.files[i].artifacts;
	}
	if (!options->quiet)
		buf_printf(out, "%s%u of %u file%s with %u artifact%s\n", out->n ? "\n" : "", files, r->sources.v.n - 1,
		           report_plural(r->sources.v.n - 1), artifacts, report_plural(artifacts));
	arena_free(&o.a);
}

/* ---- JSON ---- */

static void member_count(Json *j, Str key, uint32_t n)
{
	json_key(j, key);
	json_int(j, n);
}

static void member_str(Json *j, Str key, Str value)
{
	json_key(j, key);
	json_str_or_null(j, value);
}

static void member_version(Out *o, Json *j, VersionSpan v)
{
	Buf b = {.a = &o->a};
	if (v.lo || v.hi)
		version_text(v, &b);
	member_str(j, S("torch"), buf_str(&b));
}

static void file_json(Out *o, Json *j, FileId id)
{
	const FileRow *f = &o->files[id.i];
	const Source *s = source_get(&o->r->sources, id);
	json_object(j);
	member_str(j, S("path"), s->path);
	member_str(j, S("form"), form_of(o, id));
	member_str(j, S("of"), s->unit.i == id.i ? (Str){0} : source_get(&o->r->sources, s->unit)->path);
	member_str(j, S("payload"), s->role ? s->role->kind : (Str){0});
	member_str(j, S("compile_id"), s->role ? s->role->compile_id : (Str){0});
	json_key(j, S("named"));
	json_bool(j, s->named);
	member_str(j, S("packed"), s->was_gzip ? S("gzip") : (Str){0});
	member_version(o, j, f->torch);
	member_count(j, S("lines"), s->nlines);
	json_key(j, S("artifacts"));
	json_object(j);
	for (uint32_t k = 1; k < ART_N; k++)
		if (f->kind[k])
			member_count(j, artifact_kind_name((ArtifactKind)k), f->kind[k]);
	json_end(j);
	member_count(j, S("graphs"), f->graphs);
	member_count(j, S("bodies"), f->bodies);
	member_count(j, S("printed_again"), f->graphs - f->analysed);
	member_count(j, S("frames"), f->frames);
	member_count(j, S("compilations"), f->starts);
	member_count(j, S("tensors"), f->tensors);
	member_count(j, S("unread"), f->unread);
	member_str(j, S("skipped"), is_empty(o, id) ? S("no artifact in it") : (Str){0});
	json_end(j);
}

static void program_json(Out *o, Json *j, const ProgramRow *p)
{
	json_object(j);
	member_str(j, S("file"), place_path(&o->places, p->unit));
	member_str(j, S("process"), sym_str(&o->r->tables->names, p->process));
	member_version(o, j, p->torch);
	member_count(j, S("graphs"), p->analysed);
	member_count(j, S("printings"), p->graphs);
	member_count(j, S("frames"), p->frames);
	member_count(j, S("compilations"), p->starts);
	json_key(j, S("links"));
	json_object(j);
	member_count(j, S("exact"), p->exact);
	member_count(j, S("inferred"), p->inferred);
	member_count(j, S("unlinked"), p->unlinked);
	json_end(j);
	json_end(j);
}

static void passed_json(Out *o, Json *j)
{
	for (uint32_t i = 0; i < o->r->passed.n; i++) {
		json_object(j);
		member_str(j, S("path"), o->r->passed.v[i].path);
		member_str(j, S("why"), o->r->passed.v[i].why);
		json_end(j);
	}
}

static void unread_json(Out *o, Json *j)
{
	const Diags *d = &o->r->diags;
	for (uint32_t i = 0; i < d->unread.n; i++) {
		const Unread *u = &d->unread.v[i];
		json_object(j);
		member_str(j, S("file"), place_path(&o->places, u->span.file));
		member_count(j, S("line"), place_of(&o->places, u->span.file, u->span.at).line);
		member_str(j, S("why"), u->why);
		json_end(j);
	}
}

static void begin(Json *j, Str key)
{
	json_key(j, key);
	json_array(j);
}

void report_inventory_json(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = count(r, options, out);
	Json j = json_new(out, true);
	json_object(&j);
	member_str(&j, S("version"), S(GRAPHLINT_VERSION));
	member_str(&j, S("tool"), S("graphlint"));
	member_count(&j, S("schema"), 1);
	begin(&j, S("files"));
	for (uint32_t i = 1; i < r->sources.v.n; i++)
		file_json(&o, &j, (FileId){i});
	json_end(&j);
	begin(&j, S("passed_over"));
	passed_json(&o, &j);
	json_end(&j);
	begin(&j, S("programs"));
	for (uint32_t i = 0; i < o.programs.n; i++)
		program_json(&o, &j, &o.programs.v[i]);
	json_end(&j);
	begin(&j, S("unread"));
	unread_json(&o, &j);
	json_end(&j);
	json_end(&j);
	buf_char(out, '\n');
	arena_free(&o.a);
}
