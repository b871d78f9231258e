/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <jansson.h>

#include "split_prefix.h"

/* Text of a record: every string of it, decoded, has room in as many bytes as the record has. Nothing is taken from an
 * arena while the parsed tree is alive: it would be lost if memory ran out. */
typedef struct Room {
	char *p;
	uint32_t n, cap;
} Room;

static Str keep_text(Room *r, const char *p, size_t n)
{
	if (!n || n > r->cap - r->n)
		return (Str){0};
	Str s = {r->p + r->n, (uint32_t)n};
	memcpy(r->p + r->n, p, n);
	r->n += s.n;
	return s;
}

static Str keep_string(Room *r, const json_t *v)
{
	return json_is_string(v) ? keep_text(r, json_string_value(v), json_string_length(v)) : (Str){0};
}

static int64_t number_or(const json_t *v, int64_t other)
{
	return json_is_integer(v) ? (int64_t)json_integer_value(v) : other;
}

static int64_t index_or_none(const json_t *v)
{
	int64_t n = number_or(v, -1);
	return n >= 0 && n < UINT32_MAX ? n : -1;
}

/* ---- the envelope ---- */

static bool is_envelope(const char *key)
{
	static const char *const keys[] = {"rank", "frame_id", "frame_compile_id", "attempt", "compiled_autograd_id", "has_payload", "stack",
	                                   /* added by tlparse */
	                                   "lineno", "pathname", "payload_filename", "thread", "timestamp"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* The member that says what the record is. */
static const json_t *kind_of(json_t *root, const char **kind)
{
	const char *key;
	json_t *value;
	json_object_foreach(root, key, value) {
		if (!is_envelope(key)) {
			*kind = key;
			return value;
		}
	}
	return NULL;
}

/* "1/0", "!0/1/0", "!0" */
static Str compile_id(Room *r, const json_t *root)
{
	char text[64];
	int64_t frame = index_or_none(json_object_get(root, "frame_id")), compile = index_or_none(json_object_get(root, "frame_compile_id")),
			autograd = index_or_none(json_object_get(root, "compiled_autograd_id"));
	Buf b = {.p = text, .cap = sizeof text};
	if (autograd >= 0)
		buf_printf(&b, "!%lld%s", (long long)autograd, frame >= 0 ? "/" : "");
	if (frame >= 0)
		buf_printf(&b, "%lld/%lld", (long long)frame, (long long)(compile < 0 ? 0 : compile));
	return keep_text(r, b.p, b.n);
}

static void read_envelope(Room *r, const json_t *root, TraceRecord *out)
{
	int64_t attempt = index_or_none(json_object_get(root, "attempt"));
	out->compile_id = compile_id(r, root);
	out->attempt = attempt > 0 ? (uint32_t)attempt : 0;
	out->rank = index_or_none(json_object_get(root, "rank"));
	out->pid = index_or_none(json_object_get(root, "thread"));
	out->hash = keep_string(r, json_object_get(root, "has_payload"));
	out->payload_file = keep_string(r, json_object_get(root, "payload_filename"));
}

/* ---- kinds with metadata that is read ---- */

/* Innermost last. */
static void read_start(Room *r, const json_t *start, TraceRecord *out)
{
	const json_t *stack = json_object_get(start, "stack");
	size_t n = json_array_size(stack);
	if (!n)
		return;
	const json_t *frame = json_array_get(stack, n - 1), *file = json_object_get(frame, "filename");
	int64_t line = index_or_none(json_object_get(frame, "line"));
	out->name = keep_string(r, json_object_get(frame, "name"));
	out->line = line > 0 ? (uint32_t)line : 0;
	out->file = keep_string(r, file);
	out->file_id = index_or_none(file);
}

static bool read_dims(const json_t *list, uint32_t n, int64_t *out)
{
	if (json_array_size(list) != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(list, i);
		if (!json_is_integer(v)) /* a symbolic one is a string */
			return false;
		out[i] = (int64_t)json_integer_value(v);
	}
	return true;
}

/* Keys with default values are left out. */
static void read_tensor(Room *r, const json_t *t, TraceRecord *out)
{
	int64_t ndim = index_or_none(json_object_get(t, "ndim"));
	const json_t *offset = json_object_get(t, "storage_offset");
	out->storage = index_or_none(json_object_get(t, "storage"));
	out->base = index_or_none(json_object_get(t, "base"));
	out->is_view = json_is_true(json_object_get(t, "is_view"));
	out->is_leaf = json_is_true(json_object_get(t, "is_leaf"));
	out->requires_grad = json_is_true(json_object_get(t, "requires_grad"));
	out->dtype = keep_string(r, json_object_get(t, "dtype"));
	out->offset = number_or(offset, 0);
	if (ndim < 0 || ndim > TRACE_DIMS)
		return;
	out->ndim = (uint32_t)ndim;
	out->sized = read_dims(json_object_get(t, "size"), out->ndim, out->size) &&
	             read_dims(json_object_get(t, "stride"), out->ndim, out->stride) && (!offset || json_is_integer(offset));
}

static void read_describe(Room *r, const json_t *d, TraceRecord *out)
{
	out->id = index_or_none(json_object_get(d, "id"));
	out->describer = index_or_none(json_object_get(d, "describer_id"));
	if (str_eq(out->kind, S("describe_tensor")))
		read_tensor(r, d, out);
	else if (str_eq(out->kind, S("describe_source")))
		out->text = keep_string(r, json_object_get(d, "source"));
	else
		out->size_bytes = (uint64_t)number_or(json_object_get(d, "size"), 0);
}

static void read_metadata(Room *r, const json_t *value, TraceRecord *out)
{
	if (str_eq(out->kind, S("str"))) {
		out->text = keep_string(r, json_array_get(value, 0));
		out->id = index_or_none(json_array_get(value, 1));
	} else if (str_eq(out->kind, S("dynamo_start"))) {
		read_start(r, value, out);
	} else if (str_starts(out->kind, S("describe_"))) {
		read_describe(r, value, out);
	} else {
		out->name = keep_string(r, json_object_get(value, "name"));
	}
}

/* ---- records ---- */

static bool read_root(Room *r, json_t *root, TraceRecord *out)
{
	const char *kind;
	const json_t *value = json_is_object(root) ? kind_of(root, &kind) : NULL;
	if (!value)
		return false;
	read_envelope(r, root, out);
	out->artifact = strcmp(kind, "artifact") == 0;
	out->kind = out->artifact ? keep_string(r, json_object_get(value, "name")) : keep_text(r, kind, strlen(kind));
	read_metadata(r, value, out);
	return out->kind.n > 0;
}

/* The compile id is made of digits that stand there, and of signs. */
static Room room_of(Str json, Arena *a)
{
	uint32_t cap = json.n + 64;
	return (Room){arena_alloc(a, cap), 0, cap};
}

TraceParse trace_parse(Str json, Arena *a, TraceRecord *out)
{
	*out = (TraceRecord){.rank = -1, .pid = -1, .file_id = -1, .id = -1, .describer = -1, .storage = -1, .base = -1};
	if (json.n > TRACE_RECORD_MOST)
		return TRACE_TOO_LONG;
	Room room = room_of(json, a);
	json_error_t error;
	json_t *root = json_loadb(json.n ? json.p : "", json.n, JSON_ALLOW_NUL, &error);
	if (!root)
		return TRACE_BAD;
	bool ok = read_root(&room, root, out);
	json_decref(root);
	return ok ? TRACE_OK : TRACE_BAD;
}

Str trace_process(const TraceRecord *r, Arena *a)
{
	Mark m = {0};
	if (r->rank >= 0)
		m.rank = str_printf(a, "%lld", (long long)r->rank);
	if (r->pid >= 0)
		m.number = str_printf(a, "%lld", (long long)r->pid);
	return mark_process(&m, (Str){0}, a);
}

bool trace_string_table(Str json, Arena *a, TraceStrings *out)
{
	*out = (TraceStrings){0};
	if (json.n > TRACE_RECORD_MOST || !str_starts(str_ltrim(json), S("{\"string_table\"")))
		return false;
	/* no more strings than quotes */
	uint32_t most = 0;
	for (uint32_t i = 0; (i = str_find_char(json, '"', i)) < json.n; i++)
		most++;
	Room room = room_of(json, a);
	out->v = NEW_N(a, Str, most + 1);
	out->cap = most + 1;
	json_error_t error;
	json_t *root = json_loadb(json.p, json.n, JSON_ALLOW_NUL, &error);
	const json_t *table = json_object_get(root, "string_table");
	for (size_t i = 0; i < json_array_size(table) && out->n < out->cap; i++)
		out->v[out->n++] = keep_string(&room, json_array_get(table, i));
	bool ok = json_is_array(table);
	json_decref(root);
	return ok;
}

/* ---- kinds ---- */

static const struct {
	Str kind;
	TraceRole role;
} kinds[] = {
#define TRACE_KIND(kind, role, stage) {STR_INIT(kind), TRACE_##role},
#include "trace_kinds.def"
#undef TRACE_KIND
};

static uint32_t find_kind(Str kind)
{
	uint32_t i = 0;
	while (i < sizeof kinds / sizeof *kinds && !str_eq(kinds[i].kind, kind))
		i++;
	return i;
}

bool trace_bytecode_name(Str kind, Str *function, bool *modified)
{
	static const Str endings[] = {STR_INIT("_ORIGINAL_BYTECODE"), STR_INIT("_MODIFIED_BYTECODE")};
	for (uint32_t i = 0; i < 2; i++)
		if (str_ends(kind, endings[i]) && kind.n > endings[i].n) {
			*function = str_sub(kind, 0, kind.n - endings[i].n);
			*modified = i == 1;
			return true;
		}
	return false;
}

TraceRole trace_role(Str kind)
{
	Str function;
	bool modified;
	uint32_t i = find_kind(kind);
	if (i < sizeof kinds / sizeof *kinds)
		return kinds[i].role;
	return trace_bytecode_name(kind, &function, &modified) ? TRACE_BYTECODE : TRACE_ANY;
}

bool trace_is_known(Str kind)
{
	Str function;
	bool modified;
	return find_kind(kind) < sizeof kinds / sizeof *kinds || trace_bytecode_name(kind, &function, &modified);
}
