/* SPDX-License-Identifier: MIT */
#include "baseline.h"

#include <stdlib.h>

#include "utf8.h"
#include "keys.h"
#include "json.h"

enum { FORMAT = 1, ENTRIES_MOST = 1000000, COUNT_MOST = 1000000000, PRINT_DIGITS = 16, TEXT_MOST = 100 };

/* ---- reading ---- */

static void read_print(KeysFile *k, yaml_node_t *node, void *into)
{
	Str s = keys_text(k, node, false);
	uint32_t i = 0;
	while (i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
		i++;
	if (s.n && (i < s.n || s.n != PRINT_DIGITS))
		keys_fault(k, node, "a fingerprint has %d hexadecimal digits", PRINT_DIGITS);
	((BaselineEntry *)into)->fingerprint = s;
}

static void read_rule(KeysFile *k, yaml_node_t *node, void *into)
{
	((BaselineEntry *)into)->rule = keys_text(k, node, false);
}

static void read_severity(KeysFile *k, yaml_node_t *node, void *into)
{
	Str s = keys_text(k, node, false);
	Severity *out = &((BaselineEntry *)into)->severity;
	if (s.n && (!severity_parse(s, out) || *out == SEV_NONE))
		keys_fault(k, node, "a severity is note, warning or error");
}

static void read_count(KeysFile *k, yaml_node_t *node, void *into)
{
	int64_t n;
	if (keys_number(k, node, 0, COUNT_MOST, &n))
		((BaselineEntry *)into)->count = (uint32_t)n;
}

/* What is there for people. */
static void skip_text(KeysFile *k, yaml_node_t *node, void *into)
{
	(void)into;
	if (node->type != YAML_SCALAR_NODE)
		keys_fault(k, node, "a text is expected here");
}

static void read_entry(KeysFile *k, yaml_node_t *node, void *into)
{
	static const Key keys[] = {
		{STR_INIT("fingerprint"), true, read_print}, {STR_INIT("rule"), true, read_rule},
		{STR_INIT("severity"), true, read_severity}, {STR_INIT("count"), true, read_count},
		{STR_INIT("function"), false, skip_text},    {STR_INIT("operator"), false, skip_text},
	};
	Baseline *b = into;
	BaselineEntry e = {0};
	keys_mapping(k, node, keys, KEYS_N(keys), &e);
	Sym s = sym_intern(&b->names, e.fingerprint);
	if (map_get(&b->by_print, s.i))
		keys_fault(k, node, "a second entry for this fingerprint");
	if (!s.i)
		return;
	VEC_PUSH(k->a, &b->v, e);
	map_put(&b->by_print, s.i, b->v.n);
}

static void read_tool(KeysFile *k, yaml_node_t *node, void *into)
{
	(void)into;
	if (!str_eq(keys_scalar(node), S("graphlint")))
		keys_fault(k, node, "not a baseline of graphlint");
}

static void read_format(KeysFile *k, yaml_node_t *node, void *into)
{
	int64_t n;
	(void)into;
	keys_number(k, node, FORMAT, FORMAT, &n);
}

static void read_contract(KeysFile *k, yaml_node_t *node, void *into)
{
	((Baseline *)into)->contract = keys_text(k, node, false);
}

static void read_entries(KeysFile *k, yaml_node_t *node, void *into)
{
	bool none = node->type == YAML_SEQUENCE_NODE &&
		node->data.sequence.items.start == node->data.sequence.items.top;
	if (!none)
		keys_list(k, node, read_entry, into);
}

static void read_root(KeysFile *k, yaml_node_t *node, void *into)
{
	static const Key keys[] = {
		{STR_INIT("tool"), true, read_tool},
		{STR_INIT("baseline"), true, read_format},
		{STR_INIT("contract"), true, read_contract},
		{STR_INIT("findings"), true, read_entries},
	};
	keys_mapping(k, node, keys, KEYS_N(keys), into);
}

Baseline *baseline_load(Arena *a, Str path, Str text, Buf *errors)
{
	Baseline *b = NEW(a, Baseline);
	KeysFile k = {.a = a, .path = path, .errors = errors, .file_most = UINT32_MAX, .list_most = ENTRIES_MOST};
	b->path = path;
	b->by_print.a = a;
	names_init(&b->names, a);
	if (keys_documents(&k, text, read_root, b) && !k.documents)
		keys_fault_at(&k, 0, 0, S("not a baseline: the file is empty"));
	return k.faults ? NULL : b;
}

/* ---- comparing ---- */

/* Whether anybody would notice is told or not told by what else was captured: a note may be a warning next time. What
 * is proven now and was not before is new. */
static bool is_worse(const BaselineEntry *e, Severity s, bool same_contract)
{
	return s > e->severity && (s == SEV_ERROR || !same_contract);
}

uint32_t baseline_apply(const Baseline *b, Str contract, Diags *d, Arena *scratch)
{
	ArenaMark mark = arena_mark(scratch);
	bool same_contract = str_eq(b->contract, contract);
	bool *met = NEW_N(scratch, bool, (size_t)b->v.n + 1);
	Map times = {.a = scratch}; /* fingerprint and graph -> findings so far */
	uint32_t nmet = 0;
	for (uint32_t i = 0; i < d->v.n; i++) {
		Finding *f = &d->v.v[i];
		uint32_t print = sym_find(&b->names, f->fingerprint).i, at = print ? map_get(&b->by_print, print) : 0;
		if (!at)
			continue;
		const BaselineEntry *e = &b->v.v[at - 1];
		uint64_t key = (uint64_t)print << 32 | f->graph_id.i;
		uint32_t n = map_get(&times, key) + 1;
		map_put(&times, key, n);
		nmet += !met[at];
		met[at] = true;
		bool more = f->graph_id.i && e->count && n > e->count;
		bool worse = is_worse(e, f->severity, same_contract);
		if (!f->suppressed.n && !more && !worse && str_eq(f->rule, e->rule))
			f->suppressed = S("baseline");
	}
	arena_rewind(scratch, mark);
	return b->v.n - nmet;
}

/* ---- writing ---- */

typedef struct Row {
	BaselineEntry e;
	Str function, operator;
} Row;

static int cmp_row(const void *x, const void *y)
{
	const Row *a = x, *b = y;
	int c = str_cmp(a->e.rule, b->e.rule);
	return c ? c : str_cmp(a->e.fingerprint, b->e.fingerprint);
}

static bool is_written(const Finding *f)
{
	return f->fingerprint.n && (!f->suppressed.n || str_eq(f->suppressed, S("baseline")));
}

uint32_t baseline_mark(Diags *d)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < d->v.n; i++)
		if (is_written(&d->v.v[i])) {
			d->v.v[i].suppressed = S("baseline");
			n++;
		}
	return n;
}

/* Text for people: only what any reader of JSON and YAML takes. */
static Str plain_text(Str s)
{
	uint32_t n;
	for (uint32_t at = 0; at < s.n; at += n)
		if (utf8_hidden(utf8_decode(s, at, &n)))
			return (Str){0};
	return utf8_head(s, TEXT_MOST);
}

typedef VEC(Row) Rows;

static void collect(const Diags *d, Arena *a, Rows *rows)
{
	Names names;
	Map row_of = {.a = a}, times = {.a = a};
	names_init(&names, a);
	for (uint32_t i = 0; i < d->v.n; i++) {
		const Finding *f = &d->v.v[i];
		if (!is_written(f))
			continue;
		uint64_t print = sym_intern(&names, f->fingerprint).i, key = print << 32 | f->graph_id.i;
		uint32_t at = map_get(&row_of, print), n = map_get(&times, key) + 1;
		map_put(&times, key, n);
		if (!at) {
			VEC_PUSH(a, rows, ((Row){{f->fingerprint, f->rule, f->severity, 0},
				plain_text(f->source.function), plain_text(f->group)}));
			at = rows->n;
			map_put(&row_of, print, at);
		}
		BaselineEntry *e = &rows->v[at - 1].e;
		e->severity = f->severity > e->severity ? f->severity : e->severity;
		e->count = f->graph_id.i && n > e->count ? n : e->count;
	}
}

static void write_row(const Row *r, bool last, Buf *out)
{
	Json j = json_new(out, false);
	buf_add(out, S("    "));
	json_object(&j);
	json_key(&j, S("fingerprint"));
	json_str(&j, r->e.fingerprint);
	json_key(&j, S("rule"));
	json_str(&j, r->e.rule);
	json_key(&j, S("severity"));
	json_str(&j, severity_name(r->e.severity));
	json_key(&j, S("count"));
	json_int(&j, r->e.count);
	if (r->function.n) {
		json_key(&j, S("function"));
		json_str(&j, r->function);
	}
	if (r->operator.n) {
		json_key(&j, S("operator"));
		json_str(&j, r->operator);
	}
	json_end(&j);
	buf_add(out, last ? S("\n") : S(",\n"));
}

void baseline_write(const Diags *d, Str contract, Arena *scratch, Buf *out)
{
	Rows rows = {0};
	collect(d, scratch, &rows);
	if (rows.n)
		qsort(rows.v, rows.n, sizeof *rows.v, cmp_row);
	buf_printf(out, "{\n  \"tool\": \"graphlint\",\n  \"baseline\": %d,\n  \"contract\": \"" STR_FMT
		"\",\n  \"findings\": [\n", FORMAT, STR_ARG(contract));
	for (uint32_t i = 0; i < rows.n; i++)
		write_row(&rows.v[i], i + 1 == rows.n, out);
	buf_add(out, S("  ]\n}\n"));
}
