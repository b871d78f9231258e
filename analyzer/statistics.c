/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include "report_common.h"

enum { PATH_COLUMNS = 48 };

static const char *const words[] = {
#define PASS(id, word, text, share, unit) [RUN_##id] = word,
#include "passes.def"
#undef PASS
};

static void counted(Buf *out, uint32_t n, const char *what)
{
	buf_printf(out, "%u %s%s", (unsigned)n, what, report_plural(n));
}

static void severities(const uint32_t *of, uint32_t suppressed, Buf *out)
{
	counted(out, of[SEV_ERROR], "error");
	buf_add(out, S(", "));
	counted(out, of[SEV_WARNING], "warning");
	buf_add(out, S(", "));
	counted(out, of[SEV_NOTE], "note");
	if (suppressed)
		buf_printf(out, ", %u suppressed", (unsigned)suppressed);
	buf_char(out, '\n');
}

/* ---- by rule ---- */

typedef struct RuleCount {
	const Finding *first;
	uint32_t of[SEV_ERROR + 1], suppressed;
} RuleCount;

static void by_rule(const Run *r, Buf *out)
{
	Arena a = arena_new(NULL);
	Names names;
	names_init(&names, &a);
	RuleCount *counts = NEW_N(&a, RuleCount, r->diags.v.n + 2);
	for (uint32_t i = 0; i < r->diags.v.n; i++) {
		const Finding *f = &r->diags.v.v[i];
		RuleCount *c = &counts[sym_intern(&names, f->rule).i];
		c->first = c->first ? c->first : f;
		if (f->suppressed.n)
			c->suppressed++;
		else
			c->of[f->severity]++;
	}
	buf_add(out, S("findings by rule:\n"));
	for (const Rule *rule = r->tables->rules->v.v; rule < r->tables->rules->v.v + r->tables->rules->v.n; rule++) {
		const RuleCount *c = &counts[sym_find(&names, rule->id).i];
		if (!c->first)
			continue;
		buf_printf(out, "  " STR_FMT " %-26.*s ", STR_ARG(rule->id), STR_ARG(rule->name));
		severities(c->of, c->suppressed, out);
	}
	if (!r->diags.v.n)
		buf_add(out, S("  none\n"));
	arena_free(&a);
}

/* ---- by file ---- */

typedef struct FileCount {
	uint32_t graphs, frames, of[SEV_ERROR + 1], suppressed;
} FileCount;

static FileCount *count_files(const Run *r, Arena *a)
{
	const Program *p = &r->program;
	FileCount *c = NEW_N(a, FileCount, r->sources.v.n + 1);
	for (uint32_t i = 1; i < p->graphs.n; i++)
		c[p->graphs.v[i]->file.i].graphs += report_graph_captured(p, p->graphs.v[i]);
	for (uint32_t i = 0; i < p->frames.n; i++)
		c[p->frames.v[i].dump.i].frames++;
	for (uint32_t i = 0; i < r->diags.v.n; i++) {
		const Finding *f = &r->diags.v.v[i];
		FileCount *of = &c[f->span.file.i];
		if (f->suppressed.n)
			of->suppressed++;
		else
			of->of[f->severity]++;
	}
	return c;
}

static void file_line(const Run *r, uint32_t i, const FileCount *c, bool unicode, Buf *out)
{
	const Source *s = &r->sources.v.v[i];
	uint32_t at = out->n;
	buf_add(out, S("  "));
	report_words(out, s->path, unicode);
	while (out->n - at < PATH_COLUMNS)
		buf_char(out, ' ');
	buf_printf(out, " %.1f MB, ", (double)s->text.n / 1e6);
	counted(out, s->nlines, "line");
	buf_add(out, S(", "));
	counted(out, c->graphs, "graph");
	buf_add(out, S(", "));
	counted(out, c->frames, "listing");
	if (s->was_gzip)
		buf_add(out, S(", gzip"));
	if (s->was_utf16)
		buf_add(out, S(", UTF-16"));
}

void statistics_files(const Run *r, bool unicode, Buf *out)
{
	Arena a = arena_new(NULL);
	FileCount *c = count_files(r, &a);
	for (uint32_t i = 1; i < r->sources.v.n; i++) {
		file_line(r, i, &c[i], unicode, out);
		buf_char(out, '\n');
	}
	arena_free(&a);
}

static void by_file(const Run *r, bool unicode, Buf *out)
{
	Arena a = arena_new(NULL);
	FileCount *c = count_files(r, &a);
	buf_add(out, S("by file:\n"));
	for (uint32_t i = 1; i < r->sources.v.n; i++) {
		file_line(r, i, &c[i], unicode, out);
		buf_add(out, S("; "));
		severities(c[i].of, c[i].suppressed, out);
	}
	arena_free(&a);
}

/* ---- by pass ---- */

static void by_pass(const Run *r, const Progress *p, Buf *out)
{
	uint64_t all = 0;
	buf_add(out, S("time by pass:\n"));
	for (int i = 0; i < RUN_PASSES; i++) {
		all += p->ns[i];
		buf_printf(out, "  %-10s %8.3f s\n", words[i], (double)p->ns[i] / 1e9);
	}
	buf_printf(out, "  %-10s %8.3f s, %.1f MB of input, %.1f MB of memory\n", "all", (double)all / 1e9, (double)p->bytes / 1e6,
	           (double)r->budget->used / 1e6);
}

void statistics_write(const Run *r, const Progress *p, bool unicode, Buf *out)
{
	by_rule(r, out);
	by_file(r, unicode, out);
	by_pass(r, p, out);
}
