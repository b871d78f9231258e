/* SPDX-License-Identifier: MIT */
#include "report_common.h"

#include <stdio.h>

#include "utf8.h"

enum { LINE_LONG = 4096, MARK_EVERY = 1024, PARENTS_MOST = 4096 };

/* ---- places ---- */

Places places_new(const Sources *sources, Arena *a)
{
	return (Places){.sources = sources, .a = a};
}

static uint32_t step(Str l, uint32_t at)
{
	uint32_t n = 1;
	if ((unsigned char)l.p[at] >= 0x80)
		utf8_decode(l, at, &n);
	return n;
}

static void mark_line(LongLine *e, Str l, Arena *a)
{
	e->marks = NEW_N(a, struct Mark, l.n / MARK_EVERY + 1);
	e->n = 0;
	for (uint32_t at = 0, col = 0; at < l.n; at += step(l, at), col++)
		if (at >= e->n * MARK_EVERY)
			e->marks[e->n++] = (struct Mark){at, col};
}

static const LongLine *long_line(Places *p, FileId file, uint32_t line, Str l)
{
	for (uint32_t i = 0; i < LONG_LINES; i++)
		if (p->lines[i].file.i == file.i && p->lines[i].line == line)
			return &p->lines[i];
	LongLine *e = &p->lines[p->next++ % LONG_LINES];
	e->file = file;
	e->line = line;
	mark_line(e, l, p->a);
	return e;
}

LineCol place_of(Places *p, FileId file, uint32_t offset)
{
	if (!file.i)
		return (LineCol){1, 1};
	const Source *s = source_get(p->sources, file);
	if (!s->nlines)
		return (LineCol){1, 1};
	uint32_t start, line = source_line_index(s, offset, &start), to = offset - start;
	Str l = source_line(s, line + 1);
	if (l.n < LINE_LONG || to < LINE_LONG)
		return source_line_col(s, offset);
	if (to > l.n)
		to = l.n;
	const LongLine *e = long_line(p, file, line, l);
	uint32_t i = to / MARK_EVERY < e->n ? to / MARK_EVERY : e->n - 1;
	if (e->marks[i].at > to)
		i--;
	uint32_t at = e->marks[i].at, col = e->marks[i].col;
	while (at < to && at + step(l, at) <= to) {
		at += step(l, at);
		col++;
	}
	return (LineCol){line + 1, col + 1};
}

Str place_path(const Places *p, FileId file)
{
	return file.i ? source_get(p->sources, file)->path : S("<unknown>");
}

/* ---- text ---- */

static uint32_t put_escape(Buf *out, uint32_t c, unsigned char byte)
{
	char text[16];
	if (c == '\t' || c == '\n' || c == '\r')
		snprintf(text, sizeof text, "\\%c", c == '\t' ? 't' : c == '\n' ? 'n' : 'r');
	else if (c == UTF8_BAD || c < 0x80)
		snprintf(text, sizeof text, "\\x%02x", byte);
	else
		snprintf(text, sizeof text, c > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)c);
	Str s = str_from_c(text);
	if (out)
		buf_add(out, s);
	return s.n;
}

uint32_t report_put(Buf *out, Str s, uint32_t at, uint32_t *n, bool unicode)
{
	uint32_t c = utf8_decode(s, at, n);
	bool command = c == '#' && at && s.p[at - 1] == '#' && at + 1 < s.n && s.p[at + 1] == '[';
	if (utf8_hidden(c) || (c >= 0x80 && !unicode) || command)
		return put_escape(out, c, (unsigned char)s.p[at]);
	if (out)
		buf_add(out, str_sub(s, at, at + *n));
	return utf8_width(c);
}

enum { WORD_MOST = 240, WORD_HEAD = 160, WORD_TAIL = 48 };

static bool goes_on(Str s, uint32_t at)
{
	return at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80;
}

Str report_word(Arena *a, Str word)
{
	if (word.n <= WORD_MOST)
		return word;
	uint32_t head = WORD_HEAD, tail = word.n - WORD_TAIL;
	while (goes_on(word, head) && head > WORD_HEAD - 4)
		head--;
	while (goes_on(word, tail) && tail < word.n - WORD_TAIL + 4)
		tail++;
	return str_printf(a, STR_FMT "..." STR_FMT, STR_ARG(str_sub(word, 0, head)), STR_ARG(str_sub(word, tail, word.n)));
}

void report_words(Buf *out, Str s, bool unicode)
{
	Arena a = arena_new(NULL);
	Str word;
	for (bool first = true; str_cut(&s, ' ', &word); first = false) {
		if (!first)
			buf_char(out, ' ');
		report_text(out, report_word(&a, word), unicode);
		arena_rewind(&a, (ArenaMark){0});
	}
	arena_free(&a);
}

void report_text(Buf *out, Str s, bool unicode)
{
	uint32_t n;
	for (uint32_t at = 0; at < s.n; at += n)
		report_put(out, s, at, &n, unicode);
}

const char *report_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- graphs ---- */

bool report_graph_shown(const Program *p, const Graph *g)
{
	for (uint32_t up = 0; g && up < PARENTS_MOST; up++) {
		if (g->printing_of.i || g->superseded)
			return false;
		if (!g->parent.i)
			return true;
		g = graph_get(p, g->parent);
	}
	return false;
}

bool report_graph_captured(const Program *p, const Graph *g)
{
	return !g->parent.i && !g->of.i && report_graph_shown(p, g);
}

uint32_t report_operators(const Graph *g)
{
	uint32_t n = 0;
	for (uint32_t i = 1; i < g->nodes.n; i++)
		n += g->nodes.v[i].kind == NK_CALL || g->nodes.v[i].kind == NK_UNREAD;
	return n;
}
