/* SPDX-License-Identifier: MIT */
#include "lsp_text.h"

#include "utf8.h"

/* ---- lines ---- */

static uint32_t *starts(const LineIndex *x)
{
	return (uint32_t *)(void *)x->b.p;
}

uint32_t lines_count(const LineIndex *x)
{
	return x->b.n / (uint32_t)sizeof(uint32_t);
}

uint32_t lines_start(const LineIndex *x, uint32_t line)
{
	return starts(x)[line];
}

static void push(LineIndex *x, uint32_t at)
{
	bytes_add(&x->b, (Str){(const char *)&at, sizeof at});
}

/* Behind the next line end at or after `at`; 0: none before `end`. A CR and the LF behind it are one. */
static uint32_t next_start(Str text, uint32_t at, uint32_t end)
{
	for (; at < end; at++) {
		if (text.p[at] == '\n')
			return at + 1;
		if (text.p[at] == '\r')
			return at + 1 < text.n && text.p[at + 1] == '\n' ? at + 2 : at + 1;
	}
	return 0;
}

void lines_build(LineIndex *x, Str text)
{
	x->b.n = 0;
	push(x, 0);
	for (uint32_t at = 0; (at = next_start(text, at, text.n)) != 0;)
		push(x, at);
}

/* First line that begins behind `offset`. */
static uint32_t line_behind(const LineIndex *x, uint32_t offset)
{
	uint32_t lo = 0, hi = lines_count(x);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (starts(x)[mid] > offset)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

void lines_edit(LineIndex *x, Str text, uint32_t at, uint32_t end, uint32_t added)
{
	/* a CR just before the edit may have met a LF, or meet one now; one behind it, too */
	uint32_t first = line_behind(x, at ? at - 1 : 0), last = line_behind(x, end + 1);
	int64_t shift = (int64_t)added - (end - at);
	uint32_t from = first ? starts(x)[first - 1] : 0;
	uint32_t to = last < lines_count(x) ? (uint32_t)(starts(x)[last] + shift) : text.n;
	LineIndex tail = {0};
	for (uint32_t i = last; i < lines_count(x); i++)
		push(&tail, (uint32_t)(starts(x)[i] + shift));
	if (!first) { /* the first line always begins at 0 */
		first = 1;
		from = 0;
	}
	x->b.n = first * (uint32_t)sizeof(uint32_t);
	for (uint32_t k = from; (k = next_start(text, k, to)) != 0 && (k < to || (k == to && !tail.b.n));)
		push(x, k);
	bytes_add(&x->b, (Str){tail.b.p, tail.b.n});
	lines_free(&tail);
}

void lines_free(LineIndex *x)
{
	bytes_free(&x->b);
}

/* ---- positions ---- */

PosMap posmap(Str text, const LineIndex *lines, PosEncoding enc)
{
	return (PosMap){.text = text, .lines = lines, .enc = enc};
}

Str pos_line(const PosMap *m, uint32_t line)
{
	uint32_t count = lines_count(m->lines);
	if (line >= count)
		return (Str){0};
	uint32_t at = starts(m->lines)[line], end = line + 1 < count ? starts(m->lines)[line + 1] : m->text.n;
	if (line + 1 < count && end > at && m->text.p[end - 1] == '\n')
		end--;
	if (line + 1 < count && end > at && m->text.p[end - 1] == '\r')
		end--;
	return str_sub(m->text, at, end);
}

/* Bytes and units of the character at s.p[i]. A byte that is no UTF-8 counts as one. */
static uint32_t step(const PosMap *m, Str s, uint32_t i, uint32_t *units)
{
	uint32_t n = 1;
	*units = 1;
	if ((unsigned char)s.p[i] < 0x80)
		return 1;
	utf8_decode(s, i, &n);
	if (m->enc == POS_UTF8)
		*units = n;
	else if (m->enc == POS_UTF16 && n == 4)
		*units = 2;
	return n;
}

/* Goes on from the last answer where that is on the way. */
static void begin(PosMap *m, uint32_t line, uint32_t *i, uint32_t *units, bool usable)
{
	*i = *units = 0;
	if (usable && m->line == line) {
		*i = m->at;
		*units = m->units;
	}
	m->line = line;
}

uint32_t pos_offset(PosMap *m, LspPos at)
{
	if (at.line >= lines_count(m->lines))
		return m->text.n;
	Str s = pos_line(m, at.line);
	uint32_t i, units;
	begin(m, at.line, &i, &units, m->units <= at.character);
	while (i < s.n && units < at.character) {
		uint32_t u, n = step(m, s, i, &u);
		if (units + u > at.character)
			break;
		units += u;
		i += n;
	}
	m->at = i;
	m->units = units;
	return starts(m->lines)[at.line] + i;
}

LspPos pos_of(PosMap *m, uint32_t offset)
{
	if (offset > m->text.n)
		offset = m->text.n;
	uint32_t line = line_behind(m->lines, offset) - 1, to = offset - starts(m->lines)[line];
	Str s = pos_line(m, line);
	uint32_t i, units;
	begin(m, line, &i, &units, m->at <= to);
	while (i < s.n && i < to) {
		uint32_t u, n = step(m, s, i, &u);
		if (i + n > to)
			break;
		units += u;
		i += n;
	}
	m->at = i;
	m->units = units;
	return (LspPos){line, units};
}

/* ---- documents ---- */

bool doc_set(DocText *d, Str text)
{
	Bytes b = {0};
	if (!bytes_add(&b, text))
		return false;
	bytes_free(&d->b);
	d->b = b;
	lines_build(&d->lines, doc_str(d));
	return true;
}

bool doc_edit(DocText *d, uint32_t at, uint32_t end, Str with)
{
	uint32_t cut = end - at;
	if (with.n > cut && !bytes_room(&d->b, with.n - cut))
		return false;
	if (d->b.n > end)
		memmove(d->b.p + at + with.n, d->b.p + end, d->b.n - end);
	if (with.n)
		memcpy(d->b.p + at, with.p, with.n);
	d->b.n = d->b.n - cut + with.n;
	lines_edit(&d->lines, doc_str(d), at, end, with.n);
	return true;
}

void doc_free(DocText *d)
{
	bytes_free(&d->b);
	lines_free(&d->lines);
}
