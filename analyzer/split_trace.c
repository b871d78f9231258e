/* SPDX-License-Identifier: MIT */
#include "split_trace.h"

#include "config.h"

/* ---- facts of records ---- */

static Str keep(TraceSplit *t, Str s)
{
	return s.n ? str_copy(t->out->a, s) : s;
}

/* Records of a file are of few processes: the name of the last one is kept. */
static void set_process(TraceSplit *t, Payload *p, int64_t rank)
{
	if (!p->mark.rank.n && rank >= 0) {
		if (rank != t->rank || !t->rank_text.n)
			t->rank_text = str_printf(t->out->a, "%lld", (long long)rank);
		t->rank = rank;
		p->mark.rank = t->rank_text;
	}
	if (t->process.n && str_eq(t->of.number, p->mark.number) && str_eq(t->of.rank, p->mark.rank) && str_eq(t->label, p->label))
		return;
	t->of = p->mark;
	t->label = p->label;
	t->process = mark_process(&p->mark, p->label, t->out->a);
}

static CaptureId capture_id(const TraceSplit *t, const TraceRecord *r, const Payload *p)
{
	return (CaptureId){
		.unit = source_get(t->sources, t->file)->unit,
		.at = {t->file, p->at, p->end},
		.process = t->process,
		.compile_id = p->compile_id,
		.attempt = r->attempt,
	};
}

static Str string_at(const TraceSplit *t, int64_t id)
{
	uint32_t i = id < 0 ? 0 : map_get(&t->strings, (uint64_t)id + 1);
	return i ? t->string.v[i - 1] : (Str){0};
}

static void add_string(TraceSplit *t, const TraceRecord *r)
{
	if (r->id < 0)
		return;
	VEC_PUSH(t->scratch, &t->string, keep(t, r->text));
	map_put(&t->strings, (uint64_t)r->id + 1, t->string.n);
}

static uint64_t start_key(FileId unit, Str process, Str compile_id)
{
	uint64_t h = hash_bytes(unit.i, process.p, process.n);
	return hash_bytes(hash_u64(h), compile_id.p, compile_id.n) | 1;
}

static void add_start(TraceSplit *t, const TraceRecord *r, const Payload *p)
{
	FrameStart s = {
		.id = capture_id(t, r, p),
		.function = keep(t, r->name),
		.file = r->file.n ? keep(t, r->file) : string_at(t, r->file_id),
		.line = r->line,
	};
	VEC_PUSH(t->out->a, &t->out->starts, s);
	map_put(&t->out->start_of, start_key(s.id.unit, s.id.process, s.id.compile_id), t->out->starts.n);
}

static const int64_t *keep_dims(TraceSplit *t, const int64_t *v, uint32_t n)
{
	int64_t *kept = NEW_N(t->out->a, int64_t, n + 1);
	if (n)
		memcpy(kept, v, n * sizeof *v);
	return kept;
}

static uint64_t tensor_key(const TraceRecord *r)
{
	return hash_u64((uint64_t)r->describer << 32 | (uint64_t)r->id) | 1;
}

static void add_tensor(TraceSplit *t, const TraceRecord *r, const Payload *p)
{
	if (r->id < 0 || r->describer < 0)
		return;
	CapturedTensor c = {
		.id = capture_id(t, r, p),
		.describer = (uint32_t)r->describer,
		.storage = (uint32_t)(r->storage + 1),
		.is_view = r->is_view,
		.requires_grad = r->requires_grad,
		.ndim = r->ndim,
		.offset = r->offset,
	};
	if (!str_eq(t->dtype, r->dtype))
		t->dtype = keep(t, r->dtype);
	c.dtype = t->dtype;
	if (r->sized) {
		c.size = keep_dims(t, r->size, r->ndim);
		c.stride = keep_dims(t, r->stride, r->ndim);
	}
	VEC_PUSH(t->out->a, &t->out->tensors, c);
	map_put(&t->tensors, tensor_key(r), t->out->tensors.n);
}

/* A base that is described for the sake of its view has no source. */
static void add_source(TraceSplit *t, const TraceRecord *r)
{
	uint32_t i = r->id < 0 || r->describer < 0 ? 0 : map_get(&t->tensors, tensor_key(r));
	if (!i)
		return;
	CapturedTensor *c = &t->out->tensors.v[i - 1];
	if (!c->source.n) {
		c->source = keep(t, r->text);
		return;
	}
	CapturedTensor again = *c; /* one object by another name */
	again.source = keep(t, r->text);
	VEC_PUSH(t->out->a, &t->out->tensors, again);
}

static void add_fact(TraceSplit *t, const TraceRecord *r, const Payload *p)
{
	if (str_eq(r->kind, S("str")))
		add_string(t, r);
	else if (str_eq(r->kind, S("dynamo_start")))
		add_start(t, r, p);
	else if (str_eq(r->kind, S("describe_tensor")))
		add_tensor(t, r, p);
	else if (str_eq(r->kind, S("describe_source")))
		add_source(t, r);
}

/* ---- records ---- */

/* As a log's prefix has it: 1/0_2. Consecutive records mostly have one. */
static Str trace_id(TraceSplit *t, const TraceRecord *r)
{
	Payload *p = &t->payload;
	if (!str_eq(p->compile_id, r->compile_id))
		p->compile_id = keep(t, r->compile_id);
	if (!r->compile_id.n || !r->attempt)
		return p->compile_id;
	return str_printf(t->out->a, STR_FMT "_%u", STR_ARG(r->compile_id), r->attempt);
}

static Str number_text(TraceSplit *t, int64_t pid)
{
	if (pid != t->pid || !t->pid_text.n)
		t->pid_text = str_printf(t->out->a, "%lld", (long long)pid);
	t->pid = pid;
	return t->pid_text;
}

static void open_record(TraceSplit *t, const LogLine *l, const TraceRecord *r)
{
	Payload *p = &t->payload;
	p->mark = (Mark){.style = PREFIX_TRACE,
	                 .every = true,
	                 .artifact = true,
	                 .text = l->mark.text,
	                 .rank = l->mark.rank,
	                 .number = l->mark.number.n || r->pid < 0 ? l->mark.number : number_text(t, r->pid),
	                 .trace = r->hash.n ? trace_id(t, r) : (Str){0}};
	if (!str_eq(p->compile_id, r->compile_id))
		p->compile_id = keep(t, r->compile_id);
	p->label = l->label;
	set_process(t, p, r->rank);
	add_fact(t, r, p);
	p->open = r->hash.n > 0;
	p->pieces.n = 0;
	if (!p->open)
		return;
	p->mark.tag = keep(t, r->kind);
	p->hash = keep(t, r->hash);
	md5_init(&p->sum);
}

TraceSplit trace_split(Artifacts *out, const Sources *sources, FileId file, Diags *diags, Arena *scratch, Arena *record)
{
	return (TraceSplit){.out = out,
	                    .sources = sources,
	                    .file = file,
	                    .diags = diags,
	                    .scratch = scratch,
	                    .record = record,
	                    .strings = {.a = scratch},
	                    .tensors = {.a = scratch},
	                    .rank = -1};
}

static void take_record(TraceSplit *t, const LogLine *l)
{
	TraceRecord r;
	ArenaMark mark = arena_mark(t->record);
	Span at = {t->file, t->payload.at, t->payload.end};
	switch (trace_parse(l->text, t->record, &r)) {
	case TRACE_OK: open_record(t, l, &r); break;
	case TRACE_BAD:
		if (t->diags)
			diag_unread(t->diags, at, "a record of a trace whose JSON is damaged");
		break;
	case TRACE_TOO_LONG:
		if (t->diags)
			diag_unread(t->diags, at, "a record of a trace with more than %u bytes", (unsigned)TRACE_RECORD_MOST);
		break;
	}
	arena_rewind(t->record, mark);
}

void trace_record(TraceSplit *t, const LogLine *l)
{
	const Piece *last = &l->piece[l->npieces - 1];
	ASSERT(!t->payload.open);
	t->payload.at = l->piece[0].src;
	t->payload.end = last->src + last->n;
	take_record(t, l);
}

/* ---- raw.jsonl ---- */

bool trace_is_index(Str text)
{
	return str_starts(text, S("{\"string_table\""));
}

static void take_strings(TraceSplit *t, Str line)
{
	TraceStrings v;
	ArenaMark mark = arena_mark(t->record);
	if (trace_string_table(line, t->record, &v))
		for (uint32_t i = 0; i < v.n; i++)
			add_string(t, &(TraceRecord){.id = i, .text = v.v[i]});
	arena_rewind(t->record, mark);
}

void trace_index(TraceSplit *t)
{
	Str all = source_get(t->sources, t->file)->text, rest = all, line;
	bool first = true;
	while (str_cut(&rest, '\n', &line)) {
		if (first)
			take_strings(t, line);
		first = false;
		t->payload.at = (uint32_t)(line.p - all.p);
		t->payload.end = t->payload.at + line.n;
		LogLine l = {.text = str_trim(line)};
		if (l.text.n && !trace_is_index(l.text))
			take_record(t, &l);
		t->payload.open = false; /* it stands in a file of its own */
	}
}

/* ---- payloads ---- */

static void add_line(Payload *p, Arena *a, Str line, uint32_t src)
{
	if (p->pieces.n)
		md5_add(&p->sum, S("\n"));
	md5_add(&p->sum, line);
	VEC_PUSH(a, &p->pieces, ((Piece){src, line.n < INT32_MAX ? line.n : INT32_MAX, 0}));
}

void trace_line(TraceSplit *t, Str line, uint32_t src)
{
	add_line(&t->payload, t->scratch, line, src);
}

void trace_file(TraceSplit *t, const FileRole *role)
{
	Payload *p = &t->payload;
	Str text = source_get(t->sources, t->file)->text, rest = text, line;
	p->mark = (Mark){.style = PREFIX_TRACE, .every = true, .artifact = true, .tag = role->kind, .trace = role->compile_id};
	if (role->attempt)
		p->mark.trace = str_printf(t->out->a, STR_FMT "_%u", STR_ARG(role->compile_id), role->attempt);
	p->process = role->process;
	p->hash = role->hash;
	p->at = p->end = 0;
	md5_init(&p->sum);
	while (str_cut(&rest, '\n', &line))
		VEC_PUSH(t->scratch, &p->pieces, ((Piece){(uint32_t)(line.p - text.p), line.n < INT32_MAX ? line.n : INT32_MAX, 0}));
	md5_add(&p->sum, text);
	p->open = true;
}

void trace_check(TraceSplit *t)
{
	Payload *p = &t->payload;
	char hex[MD5_HEX];
	md5_hex(&p->sum, hex);
	if (!t->diags || !p->hash.n || str_eq(p->hash, (Str){hex, MD5_HEX}))
		return;
	Span at = {t->file, p->at, p->end};
	if (p->pieces.n)
		diag_truncated(t->diags, at, "the payload of this `" STR_FMT "` is not the one that was written: its MD5 is another",
		               STR_ARG(p->mark.tag));
	else
		diag_truncated(t->diags, at, "the payload of this `" STR_FMT "` is missing", STR_ARG(p->mark.tag));
}

static void add_whole(Block *b, ArtifactKind kind)
{
	Extent e = {.end = b->n};
	uint32_t head = 0;
	Str t = {0};
	for (; head < b->n && !t.n; head++)
		line_indent(block_line(b, head), &t);
	if (t.n)
		block_add(b, kind, head - 1, &e);
}

void trace_cut(Block *b)
{
	uint32_t from = b->out->v.n;
	switch (trace_role(b->mark.tag)) {
	case TRACE_GRAPH:
		if (!graph_cut_record(b))
			block_scan(b);
		break;
	case TRACE_BREAK:
		block_scan(b);
		if (b->out->v.n == from)
			add_whole(b, ART_GRAPH_BREAK);
		break;
	case TRACE_META: add_whole(b, ART_AOT_METADATA); break;
	case TRACE_RECOMPILE: add_whole(b, ART_RECOMPILE); break;
	case TRACE_SIDE: add_whole(b, ART_SIDE_EFFECTS); break;
	case TRACE_WRAPPER: add_whole(b, ART_AOT_WRAPPER); break;
	case TRACE_OUTPUT: add_whole(b, ART_OUTPUT_CODE); break;
	case TRACE_GUARDS: add_whole(b, ART_GUARDS); break;
	case TRACE_VERSION:
	case TRACE_SKIP: break;
	case TRACE_BYTECODE:
	case TRACE_ANY: block_scan(b); break;
	}
}

static void name_listing(TraceSplit *t, Artifact *a)
{
	bool modified;
	Str function;
	if (!trace_bytecode_name(t->payload.mark.tag, &function, &modified))
		return;
	const FileRole *role = source_get(t->sources, t->file)->role;
	uint32_t i = map_get(&t->out->start_of, start_key(a->unit, role ? role->process : t->process, a->compile_id));
	a->kind = modified ? ART_BYTECODE_MODIFIED : ART_BYTECODE_ORIGINAL;
	a->name = function;
	a->cut_head = false;
	if (i && str_eq(t->out->starts.v[i - 1].function, function)) {
		a->code_file = t->out->starts.v[i - 1].file;
		a->code_line = t->out->starts.v[i - 1].line;
	} else {
		uint32_t at = str_rfind(function, S("_at_"));
		str_to_u32(str_sub(function, at + 4, function.n), &a->code_line);
	}
}

/* The version behind `key` in a text that stands at `at` of the file, up to `end`. */
static void find_version(TraceSplit *t, Str text, Str key, char end)
{
	Version v;
	const Source *src = source_get(t->sources, t->file);
	uint32_t at = str_find(text, key, 0);
	Str number = str_sub(text, at + key.n, str_find_char(text, end, at + key.n));
	if (at < text.n && version_parse(str_trim(number), &v)) {
		uint32_t from = (uint32_t)(text.p - src->text.p) + at;
		split_torch(t->out, src->unit, v, (Span){t->file, from, from + key.n + number.n});
	}
}

void trace_repro_version(TraceSplit *t)
{
	Str text = source_get(t->sources, t->file)->text;
	if (str_has(text, S("class Repro(")))
		find_version(t, text, S("# torch version: "), '\n');
}

void trace_finish(TraceSplit *t, uint32_t from)
{
	const Payload *p = &t->payload;
	const FileRole *role = source_get(t->sources, t->file)->role;
	for (uint32_t i = from; role && role->aot_id && i < t->out->v.n; i++)
		t->out->v.v[i].aot_id = role->aot_id;
	if (from < t->out->v.n && (t->out->v.v[from].kind == ART_BYTECODE_ORIGINAL || t->out->v.v[from].kind == ART_BYTECODE_MODIFIED))
		name_listing(t, &t->out->v.v[from]);
	const Piece *last = &p->pieces.v[p->pieces.n - 1];
	Str text = str_sub(source_get(t->sources, t->file)->text, p->pieces.v[0].src, last->src + last->n);
	if (trace_role(p->mark.tag) == TRACE_VERSION)
		find_version(t, text, S("\"pytorch_version\": \""), '"');
	else if (str_eq(p->mark.tag, S("fx_graph_runnable")))
		find_version(t, text, S("# torch version: "), '\n');
}
