/* SPDX-License-Identifier: MIT */
#include "split_units.h"

#include <jansson.h>
#include <stdlib.h>

#include "split_debug.h"
#include "split_depyf.h"
#include "split_trace.h"

enum {
	INDEX_MOST = 1 << 26, /* bytes of a compile_directory.json */
	DEPTH_MOST = 64,      /* folders above a file in which an index is looked for */
	FIRST_LINES = 16
};

typedef struct Units {
	Sources *t;
	Arena *scratch;
	Map by_path;  /* path -> FileId */
	Map by_index; /* folder -> FileId of the index in it */
} Units;

static uint64_t key_of(Str path)
{
	return hash_bytes(0x70617468, path.p, path.n) | 1;
}

/* "a/b" of "a/b/c"; empty for "c". */
static Str folder_of(Str path)
{
	uint32_t at = path.n;
	while (at && path.p[at - 1] != '/')
		at--;
	return str_sub(path, 0, at ? at - 1 : 0);
}

static Str name_of(Str path)
{
	Str folder = folder_of(path);
	return folder.n || (path.n && path.p[0] == '/') ? str_sub(path, folder.n + 1, path.n) : path;
}

static Source *source_at(Units *u, Str path)
{
	uint32_t i = map_get(&u->by_path, key_of(path));
	return i && str_eq(u->t->v.v[i].path, path) ? &u->t->v.v[i] : NULL;
}

static Source *source_below(Units *u, Str folder, Str rest)
{
	ArenaMark mark = arena_mark(u->scratch);
	Source *s = source_at(u, folder.n ? str_printf(u->scratch, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(rest)) : rest);
	arena_rewind(u->scratch, mark);
	return s;
}

/* ---- does the text bear out what is said of it? ---- */

static Str first_line(Str text)
{
	Str line = {0};
	for (uint32_t i = 0; i < FIRST_LINES && !line.n && str_cut(&text, '\n', &line); i++)
		line = str_trim(line);
	return line;
}

static bool bears_out(const Source *s, Str kind)
{
	Str line = first_line(s->text), op;
	switch (trace_role(kind)) {
	case TRACE_GRAPH: return head_of(line) == HEAD_CLASS || head_of(line) == HEAD_DEF;
	case TRACE_BYTECODE: return code_is_instruction(line, &op);
	case TRACE_META: return str_has(line, S("ViewAndMutationMeta("));
	case TRACE_OUTPUT: return str_has(s->text, S("def call("));
	default: return line.n && line.p[0] != '<'; /* tlparse makes pages of some */
	}
}

static void give(Units *u, Source *s, FileId unit, uint32_t order, const FileRole *role)
{
	if (s->role || !bears_out(s, role->kind))
		return;
	FileRole *r = NEW(u->t->a, FileRole);
	*r = *role;
	r->kind = str_copy(u->t->a, role->kind);
	r->compile_id = str_copy(u->t->a, role->compile_id);
	r->process = str_copy(u->t->a, role->process);
	r->hash = str_copy(u->t->a, role->hash);
	s->role = r;
	s->unit = unit;
	s->order = order + 1;
}

/* ---- raw.jsonl: a record a line, as it was written ---- */

static void read_raw(Units *u, FileId index, FileId unit)
{
	Str rest = u->t->v.v[index.i].text, line, all = rest, folder = folder_of(u->t->v.v[index.i].path);
	for (uint32_t n = 0; str_cut(&rest, '\n', &line); n++) {
		TraceRecord r;
		ArenaMark mark = arena_mark(u->scratch);
		if (str_has(line, S("\"payload_filename\"")) && trace_parse(line, u->scratch, &r) == TRACE_OK && r.payload_file.n) {
			Source *s = source_below(u, folder, r.payload_file);
			uint32_t at = (uint32_t)(line.p - all.p);
			FileRole role = {.kind = r.kind, .compile_id = r.compile_id, .attempt = r.attempt, .said = {index, at, at + line.n}};
			role.process = trace_process(&r, u->scratch);
			if (!str_ends(r.payload_file, S(".json"))) /* those were printed anew */
				role.hash = r.hash;
			if (s)
				give(u, s, unit, n, &role);
		}
		arena_rewind(u->scratch, mark);
	}
}

/* ---- compile_directory.json ---- */

static bool is_directory(Str text)
{
	Str head = str_sub(text, 0, 512);
	return head.n && head.p[0] == '{' && str_has(head, S("\"artifacts\"")) && str_has(head, S("\"url\""));
}

bool units_is_index(Str text)
{
	return trace_is_index(text) || is_directory(text);
}

/* [0/0_1], [!0/1/0], [!0/-/-], [-/-] */
static Str id_of_key(Str key, uint32_t *attempt)
{
	*attempt = 0;
	if (key.n < 2 || key.p[0] != '[' || key.p[key.n - 1] != ']')
		return (Str){0};
	key = str_sub(key, 1, key.n - 1);
	uint32_t at = str_find_char(key, '_', 0);
	if (at < key.n && !str_to_u32(str_sub(key, at + 1, key.n), attempt))
		*attempt = 0;
	key = str_sub(key, 0, at);
	uint32_t dash = str_find(key, S("-"), 0);
	if (dash == key.n)
		return key;
	return dash && key.p[dash - 1] == '/' ? str_sub(key, 0, dash - 1) : (Str){0};
}

/* "dynamo_output_graph" and 12 of "dynamo_output_graph_12.txt" */
static bool kind_of_name(Str name, Str *kind, uint32_t *number)
{
	uint32_t dot = str_rfind(name, S("."));
	Str stem = str_sub(name, 0, dot);
	uint32_t at = stem.n;
	while (at && stem.p[at - 1] >= '0' && stem.p[at - 1] <= '9')
		at--;
	if (at < 2 || stem.p[at - 1] != '_' || !str_to_u32(str_sub(stem, at, stem.n), number))
		return false;
	*kind = str_sub(stem, 0, at - 1);
	return true;
}

typedef struct Entry {
	Str url, id;
	uint32_t attempt;
} Entry;

typedef struct Entries {
	Entry *v;
	uint32_t n, cap;
	char *room;
	uint32_t used, size;
} Entries;

static Str keep(Entries *e, const char *p, size_t n)
{
	if (!n || n > e->size - e->used)
		return (Str){0};
	Str s = {e->room + e->used, (uint32_t)n};
	memcpy(e->room + e->used, p, n);
	e->used += s.n;
	return s;
}

static void add_entries(Entries *e, const char *key, const json_t *value)
{
	uint32_t attempt;
	Str id = id_of_key(str_from_c(key), &attempt);
	id = keep(e, id.p, id.n);
	const json_t *list = json_object_get(value, "artifacts");
	for (size_t i = 0; i < json_array_size(list) && e->n < e->cap; i++) {
		const json_t *url = json_object_get(json_array_get(list, i), "url");
		if (json_is_string(url))
			e->v[e->n++] = (Entry){keep(e, json_string_value(url), json_string_length(url)), id, attempt};
	}
}

/* Room is made before the tree is there, which memory that runs out would leave behind. */
static Entries entries_of(Str text, Arena *a)
{
	Entries e = {.size = text.n};
	for (uint32_t i = 0; (i = str_find(text, S("\"url\""), i)) < text.n; i++)
		e.cap++;
	e.v = NEW_N(a, Entry, e.cap + 1);
	e.room = arena_alloc(a, text.n + 1);
	json_error_t error;
	json_t *root = json_loadb(text.p, text.n, JSON_ALLOW_NUL, &error);
	const char *key;
	json_t *value;
	json_object_foreach(root, key, value)
		add_entries(&e, key, value);
	json_decref(root);
	return e;
}

static void read_directory(Units *u, FileId index, FileId unit)
{
	Str text = u->t->v.v[index.i].text, folder = folder_of(u->t->v.v[index.i].path);
	if (text.n > INDEX_MOST)
		return;
	ArenaMark mark = arena_mark(u->scratch);
	Entries e = entries_of(text, u->scratch);
	for (uint32_t i = 0; i < e.n; i++) {
		FileRole role = {.compile_id = e.v[i].id, .attempt = e.v[i].attempt, .said = {index, 0, 0}};
		Source *s = source_below(u, folder, e.v[i].url);
		uint32_t number;
		if (s && kind_of_name(name_of(e.v[i].url), &role.kind, &number))
			give(u, s, unit, number, &role);
	}
	arena_rewind(u->scratch, mark);
}

/* ---- no index: names of folders and files, where the text agrees ---- */

/* "-_0_0_1", "0_1_0_0", older "0_0_1": compiled autograd, frame, compile, attempt. */
static bool id_of_folder(Str name, Arena *a, Str *id, uint32_t *attempt)
{
	Str part[4] = {{0}}, rest = name;
	uint32_t n = 0, number;
	while (n < 4 && str_cut(&rest, '_', &part[n])) {
		if (!str_eq(part[n], S("-")) && !str_to_u32(part[n], &number))
			return false;
		n++;
	}
	if (n < 3 || rest.n)
		return false;
	Str none = S("-"), autograd = n == 4 ? part[0] : none, frame = part[n - 3], compile = part[n - 2];
	Buf b = {.a = a};
	if (!str_eq(autograd, none))
		buf_printf(&b, "!" STR_FMT "%s", STR_ARG(autograd), str_eq(frame, none) ? "" : "/");
	if (!str_eq(frame, none))
		buf_printf(&b, STR_FMT "/" STR_FMT, STR_ARG(frame), STR_ARG(compile));
	*id = buf_str(&b);
	*attempt = 0;
	return str_eq(part[n - 1], none) || str_to_u32(part[n - 1], attempt);
}

static void read_name(Units *u, Source *s)
{
	FileRole role = {0};
	uint32_t number;
	Str folder = folder_of(s->path);
	ArenaMark mark = arena_mark(u->scratch);
	if (!s->role && kind_of_name(name_of(s->path), &role.kind, &number) && trace_is_known(role.kind) &&
	    id_of_folder(name_of(folder), u->scratch, &role.compile_id, &role.attempt)) {
		uint64_t key = key_of(folder_of(folder));
		FileId self = {(uint32_t)(s - u->t->v.v)}, index = {map_get(&u->by_index, key)};
		if (!index.i)
			map_put(&u->by_index, key, (index = self).i);
		give(u, s, index, number, &role);
	}
	arena_rewind(u->scratch, mark);
}

/* ---- trees of TORCH_COMPILE_DEBUG ---- */

/* The trace that the same process wrote beside the runs, in torch_compile_debug/tlparse (2.13). */
static FileId trace_beside(Units *u, const Map *traces, const DebugFile *d)
{
	uint32_t i = d->process.n ? map_get(traces, key_of(d->process)) : 0;
	Str tree = folder_of(d->run), path = i ? u->t->v.v[i].path : (Str){0};
	bool beside = i && (!tree.n || (str_starts(path, tree) && path.n > tree.n && path.p[tree.n] == '/'));
	return (FileId){beside ? i : 0};
}

static void join_debug(Units *u)
{
	Map traces = {.a = u->scratch}, runs = {.a = u->scratch};
	for (uint32_t i = 1; i < u->t->v.n; i++) {
		Str process = debug_trace_process(&u->t->v.v[i]);
		if (process.n)
			map_put(&traces, key_of(process), i);
	}
	for (uint32_t i = 1; i < u->t->v.n; i++) {
		Source *s = &u->t->v.v[i];
		DebugFile d;
		if (s->role || !debug_file(s, &d))
			continue;
		uint64_t key = key_of(d.run);
		FileId unit = trace_beside(u, &traces, &d);
		if (!unit.i && !map_get(&runs, key))
			map_put(&runs, key, i);
		FileRole role = {.kind = d.kind, .process = d.process, .said = {{i}, 0, 0}};
		role.aot_id = d.model < UINT32_MAX ? d.model + 1 : 0;
		give(u, s, unit.i ? unit : (FileId){map_get(&runs, key)}, d.order, &role);
	}
}

/* ---- folders of depyf ---- */

static void join_depyf(Units *u)
{
	Map folders = {.a = u->scratch}; /* -> first file of depyf in it */
	for (uint32_t i = 1; i < u->t->v.n; i++) {
		const Source *s = &u->t->v.v[i];
		uint64_t key = key_of(folder_of(s->path));
		if (!s->role && s->unit.i == i && !map_get(&folders, key) && depyf_is_file(s))
			map_put(&folders, key, i);
	}
	for (uint32_t i = 1; i < u->t->v.n && folders.n; i++) {
		Source *s = &u->t->v.v[i];
		uint32_t first = map_get(&folders, key_of(folder_of(s->path)));
		if (first && s->unit.i == i && str_ends(s->path, S(".py")))
			s->unit = (FileId){first};
	}
}

/* ---- all ---- */

/* Other files in the folder of an index, or below it, were written with the rest. */
static void join_folder(Units *u, Source *s)
{
	Str folder = folder_of(s->path);
	for (uint32_t depth = 0; depth < DEPTH_MOST && s->unit.i == (uint32_t)(s - u->t->v.v); depth++) {
		uint32_t index = map_get(&u->by_index, key_of(folder));
		if (index && str_eq(folder_of(u->t->v.v[index].path), folder))
			s->unit = (FileId){index};
		if (!folder.n)
			return;
		folder = folder_of(folder);
	}
}

static void find_indexes(Units *u, bool (*is_index)(Str text), void (*read)(Units *, FileId, FileId unit))
{
	for (uint32_t i = 1; i < u->t->v.n; i++) {
		const Source *s = &u->t->v.v[i];
		uint64_t key = key_of(folder_of(s->path));
		if (!is_index(s->text))
			continue;
		if (!map_get(&u->by_index, key))
			map_put(&u->by_index, key, i);
		read(u, (FileId){i}, (FileId){map_get(&u->by_index, key)});
	}
}

typedef struct Place {
	uint32_t unit, order, file;
} Place;

static int by_place(const void *x, const void *y)
{
	const Place *a = x, *b = y;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->file < b->file ? -1 : a->file > b->file;
}

static void sort(const Sources *t, Arena *scratch, FileOrder *order)
{
	Place *places = NEW_N(scratch, Place, t->v.n);
	for (uint32_t i = 1; i < t->v.n; i++)
		places[i - 1] = (Place){t->v.v[i].unit.i, t->v.v[i].order, i};
	if (t->v.n > 1)
		qsort(places, t->v.n - 1, sizeof *places, by_place);
	for (uint32_t i = 1; i < t->v.n; i++)
		VEC_PUSH(t->a, order, ((FileId){places[i - 1].file}));
}

void units_find(Sources *t, Arena *scratch, FileOrder *order)
{
	Units u = {.t = t, .scratch = scratch, .by_path = {.a = scratch}, .by_index = {.a = t->a}};
	ArenaMark mark = arena_mark(scratch);
	for (uint32_t i = 1; i < t->v.n; i++) {
		Source *s = &t->v.v[i];
		s->unit = (FileId){i};
		s->order = 0;
		s->role = NULL;
		map_put(&u.by_path, key_of(s->path), i);
	}
	/* the order of a run is that of the records */
	find_indexes(&u, trace_is_index, read_raw);
	find_indexes(&u, is_directory, read_directory);
	for (uint32_t i = 1; i < t->v.n; i++)
		read_name(&u, &t->v.v[i]);
	for (uint32_t i = 1; i < t->v.n; i++)
		join_folder(&u, &t->v.v[i]);
	join_debug(&u);
	join_depyf(&u);
	sort(t, scratch, order);
	arena_rewind(scratch, mark);
}
