/* SPDX-License-Identifier: MIT */
#include "split.h"

#include <stdlib.h>

#include "split_block.h"
#include "split_lines.h"
#include "split_depyf.h"
#include "split_trace.h"

enum {
	RECORDS_OPEN =
		64, /* records that may be open at once: threads, ranks and artifacts that take turns */
	BLOCK_LINES = 1 << 12 /* free text is cut at headers when it is longer than this */
};

Str artifact_kind_name(ArtifactKind k)
{
	static const Str names[] = {
#define ARTIFACT(id, word) STR_INIT(word),
#include "artifacts.def"
#undef ARTIFACT
	};
	return names[k];
}

typedef struct Style {
	Str name;
	VersionSpan torch;
} Style;

static const Style styles[] = {
#define STYLE(id, word, lo, hi) {STR_INIT(word), {lo, hi}},
#include "prefix_styles.def"
#undef STYLE
};

Str prefix_style_name(PrefixStyle p)
{
	return styles[p].name;
}

void artifacts_init(Artifacts *t, Arena *a)
{
	*t = (Artifacts){.a = a, .start_of = {.a = a}, .torch_of = {.a = a}};
	VEC_PUSH(a, &t->v, ((Artifact){0}));
}

/* ---- records ---- */

/* Lines that were written together, or the free text between them. */
typedef struct Record {
	Mark mark;
	Str label;
	Str process; /* where an index names it */
	uint64_t key; /* hash of what record_is compares */
	uint32_t touched; /* line number when the last line came */
	bool open, joined; /* joined: some line has several pieces */
	bool skipped; /* nothing in it can be an artifact: its lines are not kept */
	VEC(Piece) pieces;
	Str frame_name, frame_file; /* see Block */
	uint32_t frame_line;
	Title title;
} Record;

typedef struct Process {
	Str name;
	VersionSpan torch;
	uint32_t records;
} Process;

typedef struct Splitter {
	Artifacts *out;
	Arena *scratch;
	const Source *src;
	FileId file;
	bool special;
	VEC(Record) records;
	VEC(Process) processes; /* slot 0: not known */
	Map process_at;
	uint32_t last; /* record of the line before, plus 1 */
	uint32_t clock;
	uint32_t seen[sizeof styles / sizeof *styles]; /* lines of each prefix style */
	TraceSplit trace;
} Splitter;

static uint64_t record_key(const Mark *m, Str label)
{
	uint64_t h = hash_bytes(m->every, label.p, label.n);
	if (!m->every)
		return h;
	h = hash_bytes(h, m->number.p, m->number.n);
	h = hash_bytes(h, m->tag.p, m->tag.n);
	h = hash_bytes(h, m->trace.p, m->trace.n);
	return hash_bytes(h, m->rank.p, m->rank.n);
}

static bool record_is(const Record *r, const Mark *m, Str label)
{
	bool same = r->open && r->mark.every == m->every && str_eq(r->label, label);
	return same &&
	       (!m->every || (str_eq(r->mark.number, m->number) && str_eq(r->mark.tag, m->tag) &&
	                      str_eq(r->mark.trace, m->trace) && str_eq(r->mark.rank, m->rank)));
}

/* The open record that a line may belong to: by rank, process or thread, artifact and trace id;
 * free text by label. */
static Record *record_find(Splitter *s, const Mark *m, Str label)
{
	if (s->last && record_is(&s->records.v[s->last - 1], m, label))
		return &s->records.v[s->last - 1];
	uint64_t key = record_key(m, label);
	for (uint32_t i = 0; i < s->records.n; i++)
		if (s->records.v[i].key == key && record_is(&s->records.v[i], m, label)) {
			s->last = i + 1;
			return &s->records.v[i];
		}
	return NULL;
}

/* ---- processes ---- */

static Process *process_of(Splitter *s, Str name)
{
	uint64_t h = hash_bytes(1, name.p, name.n);
	uint32_t i = name.n ? map_get(&s->process_at, h) : 0;
	if (name.n && !i) {
		i = s->processes.n;
		VEC_PUSH(s->scratch, &s->processes, ((Process){.name = str_copy(s->out->a, name)}));
		map_put(&s->process_at, h, i);
	}
	return &s->processes.v[i];
}

/* ---- versions ---- */

static VersionSpan span_and(VersionSpan a, VersionSpan b)
{
	VersionSpan r = {a.lo > b.lo ? a.lo : b.lo, a.hi && (!b.hi || a.hi < b.hi) ? a.hi : b.hi};
	return r.hi && r.lo > r.hi ? a : r; /* they contradict one another: the first counts */
}

/* Since 2.8 graphs have a UUID behind their number:
 * __compiled_fn_2_9dd0b50c_71a6_4de7_bed3_ffa13c188107 */
static bool has_uuid(Str name)
{
	static const Str shape = STR_INIT("_xxxxxxxx_xxxx_xxxx_xxxx_xxxxxxxxxxxx");
	if (name.n <= shape.n || !str_has(name, S("compiled_fn_")))
		return false;
	Str tail = str_sub(name, name.n - shape.n, name.n);
	for (uint32_t i = 0; i < shape.n; i++) {
		char c = tail.p[i];
		bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
		if (shape.p[i] == '_' ? c != '_' : !hex)
			return false;
	}
	return true;
}

static uint32_t indent_of(Str line)
{
	uint32_t n = 0;
	while (n < line.n && line.p[n] == ' ')
		n++;
	return n;
}

/* From 2.5 to 2.9 comments stand one blank further to the right than the code below them; in older and newer ones they do
 * not. */
static VersionSpan span_of_comments(const Splitter *s, const Artifact *a, VersionSpan v)
{
	enum { LINES_MOST = 256 };
	for (uint32_t i = 0; i + 1 < a->npieces && i < LINES_MOST; i++) {
		const Piece *p = &a->pieces[i], *q = p + 1;
		Str line = str_sub(s->src->text, p->src, p->src + p->n), next = str_sub(s->src->text, q->src, q->src + q->n);
		uint32_t at = indent_of(line), code = indent_of(next);
		if (p->joins || !at || !str_starts(str_sub(line, at, line.n), S("# File: ")) || code == next.n || next.p[code] == '#')
			continue;
		if (at == code + 1)
			return span_and(v, (VersionSpan){205, 212});
		return at == code && v.lo >= 205 ? span_and(v, (VersionSpan){210, 0}) : v;
	}
	return v;
}

typedef enum SignAt { SIGN_NAME_START, SIGN_TAG, SIGN_HEAD_START } SignAt;

static VersionSpan span_of(const Splitter *s, const Artifact *a)
{
	static const struct {
		SignAt at;
		Str text;
		VersionSpan torch;
	} signs[] = {
#define SIGN(where, text, lo, hi) {SIGN_##where, STR_INIT(text), {lo, hi}},
#include "split_signs.def"
#undef SIGN
	};
	VersionSpan v = span_and(styles[a->prefix].torch, a->torch);
	Str head = str_sub(s->src->text, a->at, a->end);
	for (uint32_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		bool has = signs[i].at == SIGN_TAG
		               ? str_eq(a->tag, signs[i].text)
		               : str_starts(signs[i].at == SIGN_HEAD_START ? head : a->name, signs[i].text);
		if (has)
			v = span_and(v, signs[i].torch);
	}
	if (has_uuid(a->name))
		v = span_and(v, (VersionSpan){208, 0});
	if (a->kind == ART_GRAPH_CODE)
		v = span_of_comments(s, a, v);
	/* one graph a compilation under graph_code since 2.9: this is one of its variants of before */
	if (str_eq(a->tag, S("graph_code")) && str_eq(a->name, S("tensorify_python_scalars")))
		v = span_and(v, (VersionSpan){0, 208});
	return v;
}

/* What the prefix itself says beyond its style. */
static VersionSpan span_of_mark(const Mark *m)
{
	VersionSpan v = styles[m->style].torch;
	if ((m->style == PREFIX_2_3 || m->style == PREFIX_TRACE) && mark_of_thread(m))
		v = span_and(v, (VersionSpan){0, 205});
	if (m->style == PREFIX_2_1 && str_find_char(m->trace, '_', 0) < m->trace.n)
		v = span_and(v, (VersionSpan){202, 202});
	return v;
}

/* ---- from records to artifacts ---- */

/* First piece of each line, where some lines have more than one. */
static uint32_t *line_starts(Splitter *s, const Record *r, uint32_t *n)
{
	*n = r->pieces.n;
	if (!r->joined)
		return NULL;
	uint32_t *start = NEW_N(s->scratch, uint32_t, r->pieces.n + 1);
	*n = 0;
	for (uint32_t i = 0; i < r->pieces.n; i++)
		if (!r->pieces.v[i].joins)
			start[(*n)++] = i;
	start[*n] = r->pieces.n;
	return start;
}

/* The input stops without a line end in the last line of the artifact. */
static bool is_torn_end(const Splitter *s, const Artifact *a)
{
	Str t = s->src->text;
	if (!a->npieces || !t.n || t.p[t.n - 1] == '\n')
		return false;
	const Piece *p = &a->pieces[a->npieces - 1];
	return p->src + p->n == t.n;
}

/* What the artifacts from index `from` on have in common: process and versions. */
static void record_finish(Splitter *s, const Record *r, uint32_t from)
{
	if (s->out->v.n == from)
		return;
	Process *p = process_of(s, r->process.n ? r->process : mark_process(&r->mark, r->label, s->scratch));
	for (uint32_t i = from; i < s->out->v.n; i++) {
		Artifact *a = &s->out->v.v[i];
		a->process = p->name;
		a->torn_end = !s->src->role && is_torn_end(s, a); /* tlparse writes payloads as they are */
		a->open_end |= a->torn_end && a->prefix != PREFIX_NONE; /* a log ends its lines */
		a->torch = span_of(s, a);
		p->torch = span_and(p->torch, a->torch);
	}
	p->torch = span_and(p->torch, span_of_mark(&r->mark));
}

/* Cuts the pieces of a record. */
static void record_cut(Splitter *s, Record *r)
{
	ArenaMark mark = arena_mark(s->scratch);
	Block b = {
		.out = s->out,
		.src = s->src,
		.file = s->file,
		.scratch = s->scratch,
		.piece = r->pieces.v,
		.special = s->special,
		.whole = r->mark.every,
		.mark = r->mark,
		.frame_name = r->frame_name,
		.frame_file = r->frame_file,
		.frame_line = r->frame_line,
		.title = r->title,
	};
	b.start = line_starts(s, r, &b.n);
	uint32_t from = s->out->v.n;
	block_cut(&b);
	arena_rewind(s->scratch, mark);
	r->frame_name = b.frame_name;
	r->frame_file = b.frame_file;
	r->frame_line = b.frame_line;
	r->title = b.title;
	if (r->mark.style == PREFIX_TRACE)
		trace_finish(&s->trace, from);
	record_finish(s, r, from);
}

static void record_close(Splitter *s, Record *r)
{
	if (!r->open)
		return;
	r->open = false;
	if (r->pieces.n)
		record_cut(s, r);
	r->pieces.n = 0;
	r->joined = false;
}

/* A slot of the table of records: a closed one, or that of the record that waited longest. */
static Record *record_slot(Splitter *s)
{
	Record *oldest = NULL;
	for (uint32_t i = 0; i < s->records.n; i++) {
		Record *r = &s->records.v[i];
		if (!r->open)
			return r;
		if (!oldest || r->touched < oldest->touched)
			oldest = r;
	}
	if (s->records.n == RECORDS_OPEN) {
		record_close(s, oldest);
		return oldest;
	}
	VEC_PUSH(s->scratch, &s->records, ((Record){0}));
	return &s->records.v[s->records.n - 1];
}

static Record *record_open(Splitter *s, const Mark *m, Str label)
{
	Record *r = record_slot(s);
	*r = (Record){.mark = *m,
	              .label = label,
	              .key = record_key(m, label),
	              .open = true,
	              .pieces = r->pieces,
	              .title = title_none};
	r->pieces.n = 0;
	r->skipped = m->every && m->artifact && tag_role(m->tag) == TAG_SKIP;
	s->last = (uint32_t)(r - s->records.v) + 1;
	return r;
}

static void record_add(Splitter *s, Record *r, const LogLine *l)
{
	r->touched = s->clock;
	if (r->skipped)
		return;
	for (uint32_t i = 0; i < l->npieces; i++)
		VEC_PUSH(s->scratch, &r->pieces, l->piece[i]);
	r->joined |= l->npieces > 1;
}

/* ---- lines ---- */

/* Does the text begin a record even if its prefix is that of the line before? */
static bool begins_record(Str text)
{
	if (!text.n || text.p[0] == ' ')
		return false;
	Head h = head_of(str_rtrim(text));
	switch (h) {
	case HEAD_TRACED:
	case HEAD_SIZES:
	case HEAD_BREAK:
	case HEAD_RECOMPILE:
	case HEAD_META:
	case HEAD_OUTPUT:
	case HEAD_OUTPUT_PATH:
	case HEAD_BYTECODE:
	case HEAD_SIDE: return true;
	case HEAD_GUARDS: return str_starts(text, S("GUARDS:"));
	default: return false;
	}
}

/* Guards of 2.1 and 2.2 are a record each; they follow their header with other times. */
static bool is_many(const Mark *m)
{
	return m->artifact && tag_role(m->tag) == TAG_GUARDS;
}

static void add_marked(Splitter *s, const LogLine *l)
{
	Record *r = record_find(s, &l->mark, l->label);
	bool same = r && (str_eq(r->mark.text, l->mark.text) || is_many(&l->mark));
	if (!same || begins_record(l->text)) {
		if (r)
			record_close(s, r);
		r = record_open(s, &l->mark, l->label);
	}
	record_add(s, r, l);
}

/* Free text, and records whose first line alone has a prefix: they last until the next prefix. */
static void add_free(Splitter *s, const LogLine *l)
{
	Record *r = record_find(s, &l->mark, l->label);
	bool begins = l->mark.style != PREFIX_NONE;
	if (r && !begins && r->pieces.n > BLOCK_LINES)
		begins = begins_record(l->text);
	if (r && begins) {
		record_close(s, r);
		Record old = *r;
		r = record_open(s, &l->mark, l->label);
		r->frame_name = old.frame_name;
		r->frame_file = old.frame_file;
		r->frame_line = old.frame_line;
		if (l->mark.style == PREFIX_DEBUG_LOG && old.mark.style == PREFIX_DEBUG_LOG)
			r->title = old.title;
	} else if (!r) {
		r = record_open(s, &l->mark, l->label);
	}
	record_add(s, r, l);
}

/* ---- traces ---- */

static void payload_close(Splitter *s)
{
	Payload *p = &s->trace.payload;
	if (!p->open)
		return;
	p->open = false;
	trace_check(&s->trace);
	Record r = {.mark = p->mark, .label = p->label, .process = p->process, .title = title_none};
	r.pieces.v = p->pieces.v;
	r.pieces.n = p->pieces.n;
	if (r.pieces.n)
		record_cut(s, &r);
}

/* Free text between records ends too: payloads that lost their tabs would run into one another. */
static void add_trace(Splitter *s, const LogLine *l)
{
	Mark none = {0};
	Record *r = record_find(s, &none, l->label);
	if (r)
		record_close(s, r);
	trace_record(&s->trace, l);
}

static int by_place(const void *x, const void *y)
{
	const Artifact *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* Free text is of the program that wrote the rest of the file: by the prefix style when there is
 * one, else by what any part of it says. */
static VersionSpan span_of_file(const Splitter *s)
{
	VersionSpan v = s->processes.v[0].torch;
	uint32_t kinds = 0;
	bool dated = s->seen[PREFIX_2_1] > 0; /* loggers without an artifact print in 2.1 as in 2.0 */
	for (uint32_t i = PREFIX_NONE + 1; i < sizeof styles / sizeof *styles; i++)
		if (s->seen[i] && !(i == PREFIX_2_0 && dated)) {
			kinds++;
			v = styles[i].torch;
		}
	return kinds < 2 ? v : (VersionSpan){0};
}

static void finish(Splitter *s, uint32_t from)
{
	Artifacts *t = s->out;
	if (t->v.n > from)
		qsort(t->v.v + from, t->v.n - from, sizeof *t->v.v, by_place);
	VersionSpan file = span_of_file(s);
	bool one = s->processes.n == 2; /* all free text is of the only process that has a name */
	for (uint32_t i = from; i < t->v.n; i++) {
		Artifact *a = &t->v.v[i];
		Process *p = process_of(s, a->process);
		a->order = ++p->records;
		if (a->process.n || a->prefix != PREFIX_NONE)
			a->torch = span_and(a->torch, p->torch);
		else
			a->torch = span_and(a->torch, one ? s->processes.v[1].torch : file);
	}
}

static void split_lines(Splitter *s)
{
	LineReader lines = lines_new(s->src, s->scratch);
	s->special = lines.special;
	for (LogLine *l; lines_next(&lines, &l); s->clock++) {
		if (!(s->clock & 1023))
			budget_pulse(s->out->a->budget);
		if (l->payload) {
			trace_line(&s->trace, l->text, l->piece[0].src);
			continue;
		}
		payload_close(s);
		s->seen[l->mark.structured ? PREFIX_TRACE : l->mark.style]++;
		if (l->mark.structured)
			add_trace(s, l);
		else if (l->mark.every)
			add_marked(s, l);
		else
			add_free(s, l);
		lines.payload = s->trace.payload.open;
	}
	payload_close(s);
	for (uint32_t i = 0; i < s->records.n; i++)
		record_close(s, &s->records.v[i]);
	s->out->torch_lines += lines.torch_lines;
}

static void split_all(Splitter *s)
{
	uint32_t from = s->out->v.n;
	VEC_PUSH(s->scratch, &s->processes, ((Process){0}));
	if (s->src->role) {
		trace_file(&s->trace, s->src->role);
		payload_close(s);
	} else if (trace_is_index(s->src->text)) {
		trace_index(&s->trace);
	} else {
		split_lines(s);
		trace_repro_version(&s->trace);
	}
	finish(s, from);
}

/* Calls split_all; where memory runs out, gives the scratch arena back before the unwinding goes
 * on. */
static void split_guarded(Splitter *s)
{
	Budget *budget = s->out->a->budget;
	jmp_buf *outer = budget ? budget->fail : NULL, here;
	if (!outer) {
		split_all(s);
		return;
	}
	budget->fail = &here;
	if (setjmp(here)) {
		budget->fail = outer;
		arena_free(s->trace.record);
		arena_free(s->scratch);
		longjmp(*outer, 1);
	}
	split_all(s);
	budget->fail = outer;
}

void split_source(Artifacts *t, const Sources *sources, FileId file, const Config *cfg,
                  Diags *diags)
{
	(void)cfg;
	Arena scratch = arena_new(t->a->budget), record = arena_new(t->a->budget);
	const Source *src = source_get(sources, file);
	Splitter s = {
		.out = t, .scratch = &scratch, .src = src, .file = file, .process_at = {.a = &scratch}};
	s.trace = trace_split(t, sources, file, diags, &scratch, &record);
	uint32_t from = t->v.n;
	split_guarded(&s);
	depyf_split(t, from, sources, file);
	arena_free(&record);
	arena_free(&scratch);
	if (src->damage.n && diags)
		diag_truncated(diags, (Span){file, src->text.n, src->text.n}, STR_FMT,
		               STR_ARG(src->damage));
}

void split_torch(Artifacts *t, FileId unit, Version torch, Span said)
{
	if (!torch || map_get(&t->torch_of, unit.i))
		return;
	VEC_PUSH(t->a, &t->torch, ((UnitTorch){unit, torch, said}));
	map_put(&t->torch_of, unit.i, t->torch.n);
}

static void tell_newer(Diags *d, const UnitTorch *u)
{
	Finding *f = diag_add(d, S("GL905"), SEV_NOTE, u->said);
	diag_varf(d, f, S("version"), "%u.%u", u->torch / 100, u->torch % 100);
	diag_varf(d, f, S("known"), "%u.%u", TORCH_NEWEST / 100, TORCH_NEWEST % 100);
}

void split_settle(Artifacts *t, Diags *diags)
{
	for (uint32_t i = 1; i < t->v.n; i++) {
		Artifact *a = &t->v.v[i];
		uint32_t k = map_get(&t->torch_of, a->unit.i);
		if (k && (a->prefix == PREFIX_TRACE || a->prefix == PREFIX_NONE))
			a->torch = (VersionSpan){t->torch.v[k - 1].torch, t->torch.v[k - 1].torch};
	}
	for (uint32_t i = 0; i < t->torch.n; i++)
		if (t->torch.v[i].torch > TORCH_NEWEST)
			tell_newer(diags, &t->torch.v[i]);
}

/* ---- dump ---- */

static void dump_version(Buf *out, VersionSpan v)
{
	if (!v.lo && !v.hi)
		return;
	buf_add(out, S(" torch="));
	if (v.lo)
		buf_printf(out, "%u.%u", v.lo / 100, v.lo % 100);
	if (v.lo != v.hi)
		buf_char(out, '-');
	if (v.hi && v.lo != v.hi)
		buf_printf(out, "%u.%u", v.hi / 100, v.hi % 100);
}

static void dump_field(Buf *out, const char *name, Str value)
{
	if (value.n)
		buf_printf(out, " %s=" STR_FMT, name, STR_ARG(value));
}

static uint32_t line_count(const Artifact *a)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < a->npieces; i++)
		n += !a->pieces[i].joins;
	return n;
}

void split_dump(const Artifacts *t, const Sources *sources, Buf *out)
{
	for (uint32_t i = 1; i < t->v.n; i++) {
		const Artifact *a = &t->v.v[i];
		const Source *src = source_get(sources, a->file);
		const Piece *first = &a->pieces[0], *last = &a->pieces[a->npieces - 1];
		uint32_t from = source_line_col(src, first->src).line,
				 to = source_line_col(src, last->src).line;
		buf_add(out, src->path);
		buf_printf(out, ":%u-%u: ", from, to);
		buf_add(out, artifact_kind_name(a->kind));
		if (a->name.n)
			buf_printf(out, " \"" STR_FMT "\"", STR_ARG(a->name));
		if (a->name_line.n)
			buf_printf(out, " (" STR_FMT ")", STR_ARG(a->name_line));
		if (a->compile_id.n)
			buf_printf(out, " [" STR_FMT "]", STR_ARG(a->compile_id));
		if (a->attempt)
			buf_printf(out, " attempt=%u", a->attempt);
		if (a->aot_id)
			buf_printf(out, " aot=%u", a->aot_id - 1);
		dump_field(out, "code", a->code_file);
		if (a->code_line)
			buf_printf(out, ":%u", a->code_line);
		dump_field(out, "tag", a->tag);
		dump_field(out, "process", a->process);
		if (a->prefix != PREFIX_NONE)
			dump_field(out, "prefix", prefix_style_name(a->prefix));
		dump_version(out, a->torch);
		LineCol at = source_line_col(src, a->at);
		buf_printf(out, " at=%u:%u lines=%u order=%u", at.line, at.col, line_count(a), a->order);
		if (a->open_end)
			buf_add(out, S(" open-end"));
		if (a->cut_head)
			buf_add(out, S(" cut-head"));
		if (a->flat)
			buf_add(out, S(" flat"));
		buf_char(out, '\n');
	}
}
