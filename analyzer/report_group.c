/* SPDX-License-Identifier: MIT */
#include "report_group.h"

enum { SHAPE_MOST = 256 };

/* Text with every run of digits as one `#`. */
static void add_shape(Buf *key, Str s)
{
	bool digits = false;
	for (uint32_t i = 0; i < s.n && i < SHAPE_MOST; i++) {
		bool digit = s.p[i] >= '0' && s.p[i] <= '9';
		if (!digit || !digits)
			buf_char(key, digit ? '#' : s.p[i]);
		digits = digit;
	}
	buf_char(key, '\0');
}

/* The dump from a place on, as far as it can matter. */
static Str text_at(const Run *r, Span at)
{
	if (!at.file.i)
		return (Str){0};
	Str s = source_get(&r->sources, at.file)->text;
	s = str_sub(s, at.at, s.n - at.at > SHAPE_MOST ? at.at + SHAPE_MOST : s.n);
	return str_sub(s, 0, str_find_char(s, '\n', 0));
}

static void add_key(Buf *key, const Run *r, const Finding *f)
{
	const Str parts[] = {f->rule, f->variant, f->group, f->source.file, f->suppressed};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		buf_add(key, parts[i]);
		buf_char(key, '\0');
	}
	buf_printf(key, "%d %u ", (int)f->severity, (unsigned)f->source.line);
	if (!f->group.n) /* what it is about stands in the message alone */
		add_shape(key, f->message);
	if (!f->source.file.n)
		add_shape(key, text_at(r, f->span));
}

Groups groups_make(const Run *r, Arena *a)
{
	uint32_t n = r->diags.v.n;
	Groups g = {NEW_N(a, uint32_t, n + 1), NEW_N(a, uint32_t, n + 1), NEW_N(a, uint32_t, n + 1)};
	uint32_t *last = NEW_N(a, uint32_t, n + 1);
	Names names;
	Map by_key = {.a = a};
	Buf key = {.a = a};
	names_init(&names, a);
	for (uint32_t i = 0; i < n; i++) {
		key.n = 0;
		add_key(&key, r, &r->diags.v.v[i]);
		uint64_t sym = sym_intern(&names, buf_str(&key)).i;
		uint32_t first = map_get(&by_key, sym);
		if (first) {
			g.first[i] = first - 1;
			g.next[last[first - 1]] = i;
		} else {
			g.first[i] = i;
			map_put(&by_key, sym, i + 1);
		}
		last[g.first[i]] = i;
		g.count[g.first[i]]++;
	}
	return g;
}

FindingList groups_shown(const Run *r, const Groups *g, Arena *a)
{
	return groups_at_least(r, g, r->cfg->show, a);
}

FindingList groups_at_least(const Run *r, const Groups *g, Severity least, Arena *a)
{
	FindingList list = {NEW_N(a, uint32_t, r->diags.v.n + 1), 0};
	for (Severity s = SEV_ERROR; s > SEV_NONE && s >= least; s--)
		for (uint32_t i = 0; i < r->diags.v.n; i++) {
			const Finding *f = &r->diags.v.v[i];
			if (g->first[i] == i && f->severity == s && !f->suppressed.n)
				list.v[list.n++] = i;
		}
	return list;
}
