/* SPDX-License-Identifier: MIT */
#include "split_lines.h"

#include "split_text.h"
#include "utf8.h"

enum {
	WINDOW = 24, /* lines that are looked at before a foreign prefix is believed */
	MISSES_MOST = 8, /* lines without it after which it is forgotten */
	WRAP_LINES = 4000, /* lines looked at to see whether a terminal wrapped them */
	WRAP_LEAST = 40,
	WRAP_WIDEST = 400,
	WRAP_FULL = 4 /* different lines of the greatest width */
};

/* A physical line and what stands before its text. */
typedef struct Phys {
	Str text, label;
	bool partial;
} Phys;

static uint32_t src_at(const LineReader *r, const char *p)
{
	return (uint32_t)(p - r->src->text.p);
}

/* Lines are asked for in order. */
static Str raw_line(LineReader *r, uint32_t line)
{
	if (line >= r->src->nlines)
		return (Str){0};
	if (line != r->at_line)
		r->at = line == r->at_line + 1 ? str_find_char(r->src->text, '\n', r->at) + 1 : source_line_start(r->src, line);
	r->at_line = line;
	return source_line_at(r->src, r->at);
}

static bool is_blank(Str s)
{
	return str_ltrim(s).n == 0;
}

/* ---- foreign prefixes ---- */

static bool stack_match(const LineReader *r, uint32_t k, Str s, ForeignMatch *m)
{
	return foreign_match(r->stack[k], s, m) && (r->stack[k] != FOREIGN_DIFF || m->mark == r->diff);
}

/* Takes off the prefixes stack[0..depth); false when one is not there. */
static bool strip(const LineReader *r, uint32_t depth, Phys *p)
{
	for (uint32_t k = 0; k < depth; k++) {
		ForeignMatch m;
		if (!stack_match(r, k, p->text, &m))
			return false;
		p->text = str_sub(p->text, m.n, p->text.n);
		p->partial |= m.partial;
		if (m.label.n)
			p->label = m.label;
	}
	return true;
}

/* Do (nearly) all lines from here on have the prefix `kind`, behind those already in the stack? */
static bool on_most_lines(LineReader *r, uint32_t line, uint32_t depth, Foreign kind, char sign)
{
	uint32_t lines = 0, has = 0;
	for (uint32_t i = line; i < r->src->nlines && i < line + WINDOW; i++) {
		Phys p = {.text = raw_line(r, i)};
		ForeignMatch m;
		if (is_blank(p.text))
			continue;
		lines++;
		has += strip(r, depth, &p) && foreign_match(kind, p.text, &m) && m.mark == sign;
		if (foreign_strict(kind) && has < lines)
			return has >= 4; /* the block ends */
	}
	return has >= 2 && has * 5 >= lines * 4;
}

/* Finds the prefixes of a line; fills the stack from `depth` on. */
static uint32_t detect(LineReader *r, uint32_t line, uint32_t depth, Str s)
{
	while (depth < FOREIGN_DEPTH) {
		Foreign kind = 0;
		ForeignMatch m = {0};
		Mark mark;
		uint32_t body;
		for (; kind < FOREIGN_N; kind++) {
			if (!foreign_match(kind, s, &m))
				continue;
			bool before_torch =
				!foreign_strict(kind) && mark_parse(str_sub(s, m.n, s.n), &mark, &body);
			if (before_torch || on_most_lines(r, line, depth, kind, m.mark))
				break;
		}
		if (kind == FOREIGN_N)
			break;
		r->stack[depth++] = kind;
		if (m.mark)
			r->diff = m.mark;
		s = str_sub(s, m.n, s.n);
	}
	return depth;
}

/* First bytes of foreign prefixes, to leave ordinary lines alone. */
static bool may_be_foreign(Str s)
{
	if (!s.n)
		return false;
	char c = s.p[0];
	return c != '\t' && c != '#' && c != '%' && c != '|' &&
	       (c != ' ' || (s.n > 1 && s.p[1] != ' ') || str_find_char(s, ':', 0) < 12);
}

static Phys read_phys(LineReader *r, uint32_t line)
{
	Phys p = {.text = raw_line(r, line)}, raw = p;
	if (is_blank(p.text))
		return p;
	if (r->depth) {
		if (strip(r, r->depth, &p)) {
			r->misses = 0;
		} else {
			p = raw;
			if (++r->misses > MISSES_MOST)
				r->depth = r->misses = 0;
		}
	}
	bool stripped = p.text.p != raw.text.p;
	if ((r->depth == FOREIGN_DEPTH && stripped) || !may_be_foreign(p.text) || mark_begins(p.text))
		return p;
	uint32_t had = stripped ? r->depth : 0, depth = detect(r, line, had, p.text);
	if (depth > had) {
		r->depth = depth;
		r->misses = 0;
		p = raw;
		if (!strip(r, depth, &p))
			p = raw;
	}
	return p;
}

/* ---- lines that a terminal wrapped ---- */

static uint32_t width_of(Str s)
{
	uint32_t w = 0;
	if (s.n > 4 * WRAP_WIDEST)
		return UINT32_MAX;
	for (uint32_t i = 0, n; i < s.n; i += n, w++) {
		n = 1;
		if ((unsigned char)s.p[i] >= 0x80)
			utf8_decode(s, i, &n);
	}
	return w;
}

/* Begins nothing of its own: the rest of a word, a bracket, an operator. */
static bool goes_on(Str s)
{
	static const Str starts[] = {STR_INIT("def "),   STR_INIT("class "),    STR_INIT("TRACED "),
	                             STR_INIT("====="),  STR_INIT("ORIGINAL "), STR_INIT("MODIFIED "),
	                             STR_INIT("graph("), STR_INIT("opcode "),   STR_INIT("# "),
	                             STR_INIT("return ")};
	if (!s.n || s.p[0] == ' ' || s.p[0] == '\t' || mark_begins(s))
		return false;
	for (uint32_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (str_starts(s, starts[i]))
			return false;
	return true;
}

static bool is_among(Str s, const Str *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(s, v[i]))
			return true;
	return false;
}

/* Lines were wrapped when several different ones have exactly the greatest width and what
 * follows them goes on in the middle. In a log with prefixes, what follows has none, and nothing
 * else has none. */
static uint32_t find_wrap(const Source *s)
{
	uint32_t widest = 0, full = 0, on = 0, marked = 0, bare = 0,
			 n = s->nlines < WRAP_LINES ? s->nlines : WRAP_LINES;
	Str seen[WRAP_FULL];
	uint32_t nseen = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t w = width_of(source_line(s, i + 1));
		if (w > WRAP_WIDEST)
			return 0;
		widest = w > widest ? w : widest;
	}
	if (widest < WRAP_LEAST)
		return 0;
	bool after_full = false;
	for (uint32_t i = 0; i < n; i++) {
		Str l = source_line(s, i + 1);
		bool begins = mark_begins(l), is_full = width_of(l) == widest;
		marked += begins;
		bare += !begins && l.n && !after_full;
		if (after_full)
			on += !begins && goes_on(l);
		full += is_full && i + 1 < n;
		after_full = is_full;
		if (is_full && nseen < WRAP_FULL && !is_among(l, seen, nseen))
			seen[nseen++] = l;
	}
	bool log = marked > n / 4; /* where the prefix alone fills the width, full lines are equal */
	bool wrapped = log ? full >= WRAP_FULL && bare * 10 <= marked && on * 2 >= full
	                   : nseen == WRAP_FULL && on * 5 >= full * 4;
	return wrapped ? widest : 0;
}

/* ---- one line ---- */

static void add_piece(const LineReader *r, LogLine *l, Str s)
{
	uint32_t most = INT32_MAX;
	if (l->npieces == JOIN_MOST)
		return;
	l->piece[l->npieces] = (Piece){src_at(r, s.p), s.n < most ? s.n : most, l->npieces > 0};
	l->npieces++;
}

/* The text of the pieces, without a copy where there is one. */
static Str pieces_text(const LineReader *r, const LogLine *l)
{
	Buf b = {.a = r->scratch};
	if (l->npieces == 1)
		return str_sub(r->src->text, l->piece[0].src, l->piece[0].src + l->piece[0].n);
	for (uint32_t i = 0; i < l->npieces; i++)
		buf_add(&b, str_sub(r->src->text, l->piece[i].src, l->piece[i].src + l->piece[i].n));
	return buf_str(&b);
}

/* Drops the first n bytes of the line's text. */
static void cut_front(LogLine *l, uint32_t n)
{
	uint32_t k = 0;
	l->text = str_sub(l->text, n, l->text.n);
	while (k + 1 < l->npieces && n >= l->piece[k].n)
		n -= l->piece[k++].n;
	if (n > l->piece[k].n)
		n = l->piece[k].n;
	l->piece[k].src += n;
	l->piece[k].n -= n;
	l->npieces -= k;
	memmove(l->piece, l->piece + k, l->npieces * sizeof *l->piece);
	l->piece[0].joins = 0;
}

/* Reads a physical line and those that belong to it: the rest of a wrapped or partial line. */
static void gather(LineReader *r, LogLine *l)
{
	Phys p = read_phys(r, r->next++);
	l->mark = (Mark){0};
	l->label = p.label;
	l->npieces = 0;
	add_piece(r, l, p.text);
	for (;;) {
		bool more = p.partial || (r->wrap && width_of(p.text) == r->wrap);
		if (!more || r->next == r->src->nlines || l->npieces == JOIN_MOST)
			break;
		bool partial = p.partial;
		Str raw = raw_line(r, r->next);
		if (!partial && mark_begins(raw))
			break;
		p = read_phys(r, r->next++);
		add_piece(r, l, p.text);
	}
	l->text = pieces_text(r, l);
}

/* A line that must be cleaned before its prefix can be seen: colours, no-break spaces, a
 * progress bar. */
static bool parse_cleaned(LineReader *r, LogLine *l)
{
	if (!r->special || l->npieces != 1 || !clean_needed(l->text, false))
		return false;
	ArenaMark mark = arena_mark(r->scratch);
	Clean c = {.p = arena_alloc(r->scratch, clean_room(l->text, CLEAN_TAB)),
	           .tab = CLEAN_TAB,
	           .a = r->scratch};
	clean_add(&c, l->text, l->piece[0].src, false);
	Text t = {.s = {c.p, c.n}, .seg = c.segs.v, .nseg = c.segs.n};
	uint32_t body, at;
	if (!mark_parse(t.s, &l->mark, &body) && !mark_find(t.s, 0, &l->mark, &at, &body)) {
		l->mark = (Mark){0};
		arena_rewind(r->scratch, mark);
		return false;
	}
	cut_front(l, text_offset(&t, body) - l->piece[0].src);
	return true;
}

/* Same bytes as the prefix of the line before, and nothing that would belong to the prefix
 * behind it? */
static bool parse_same(LineReader *r, LogLine *l)
{
	const Mark *m = &r->last;
	if (!m->artifact || !m->every || !str_starts(l->text, m->text) ||
	    (l->text.n > m->text.n && l->text.p[m->text.n] != ' '))
		return false;
	l->mark = *m;
	cut_front(l, m->text.n + (l->text.n > m->text.n));
	return true;
}

static bool parse_anchored(LineReader *r, LogLine *l)
{
	uint32_t body;
	if (parse_same(r, l))
		return true;
	if (!mark_parse(l->text, &l->mark, &body)) {
		l->mark = (Mark){0};
		return false;
	}
	cut_front(l, body);
	return true;
}

/* Is a prefix possible somewhere in the line? All that stand on every line name a Python file or
 * logger. */
static bool may_hold_mark(Str s)
{
	return s.n > 40 && (str_has(s, S(".py:")) || str_has(s, S("] torch")) || str_has(s, S("[20")));
}

/* `outer` was being written when another line was put into it at [at, ...); its rest is the next
 * physical line. */
static bool join_torn(LineReader *r, LogLine *outer, uint32_t at, LogLine *inner)
{
	if (r->next == r->src->nlines)
		return false;
	Phys p = read_phys(r, r->next);
	if (is_blank(p.text) || mark_begins(p.text))
		return false;
	*inner = *outer;
	inner->mark = (Mark){0};
	cut_front(inner, at);
	if (!parse_anchored(r, inner))
		return false;
	outer->npieces = 1;
	outer->piece[0].n = at;
	add_piece(r, outer, p.text);
	outer->text = pieces_text(r, outer);
	if (!outer->mark.style && !parse_anchored(r, outer))
		return false;
	r->next++;
	return true;
}

/* A line with the prefix of another line in its middle. */
static bool parse_inner(LineReader *r, LogLine *l, LogLine *inner, bool *torn)
{
	Mark m;
	uint32_t at, body;
	if (!may_hold_mark(l->text) || !mark_find(l->text, 1, &m, &at, &body))
		return false;
	if (l->npieces == 1 && mark_begins(l->text)) {
		LogLine outer = *l;
		if (join_torn(r, &outer, at, inner)) {
			*l = outer;
			*torn = true;
			return true;
		}
	}
	l->mark = m;
	cut_front(l, body);
	return true;
}

/* A line with a prefix that is followed by a line without one may have been cut by a line inside
 * it. */
static bool split_torn(LineReader *r, LogLine *l, LogLine *inner)
{
	Mark m;
	uint32_t at, body;
	if (!l->mark.every || l->npieces != 1 || r->next >= r->src->nlines || r->wrap)
		return false;
	uint32_t here = source_line_start(r->src, r->next - 1), there = source_line_start(r->src, r->next);
	if (there >= r->src->text.n || r->src->text.p[here] == r->src->text.p[there])
		return false;
	if (!may_hold_mark(l->text) || !mark_find(l->text, 0, &m, &at, &body))
		return false;
	LogLine outer = *l;
	if (!join_torn(r, &outer, at, inner))
		return false;
	*l = outer;
	return true;
}

static bool has_lone_cr(Str t)
{
	for (uint32_t i = 0; (i = str_find_char(t, '\r', i)) < t.n; i++)
		if (i + 1 == t.n || t.p[i + 1] != '\n')
			return true;
	return false;
}

static bool has_nbsp(Str t)
{
	for (uint32_t i = 0; (i = str_find_char(t, '\xc2', i)) + 1 < t.n; i++)
		if (t.p[i + 1] == '\xa0')
			return true;
	return false;
}

LineReader lines_new(const Source *src, Arena *scratch)
{
	Str t = src->text;
	return (LineReader){
		.src = src,
		.scratch = scratch,
		.special = str_find_char(t, '\x1b', 0) < t.n || has_nbsp(t) || has_lone_cr(t),
		.wrap = find_wrap(src),
	};
}

/* A line behind the prefixes that are known to be there. */
static Phys stripped(LineReader *r, uint32_t line)
{
	Phys p = {.text = raw_line(r, line)}, raw = p;
	return strip(r, r->depth, &p) ? p : raw;
}

/* A blank line between lines with a tab is one of which an editor took the tab. */
static bool next_payload(LineReader *r, LogLine *l)
{
	Phys p = stripped(r, r->next);
	bool tab = p.text.n && p.text.p[0] == '\t';
	if (!tab) {
		uint32_t k = r->next;
		while (k < r->src->nlines && k < r->next + WINDOW && is_blank(stripped(r, k).text))
			k++;
		Str on = k > r->next && k < r->src->nlines ? stripped(r, k).text : (Str){0};
		if (!on.n || on.p[0] != '\t')
			return false;
	}
	r->next++;
	l->mark = (Mark){0};
	l->label = p.label;
	l->npieces = 0;
	l->payload = true;
	l->text = str_sub(p.text, tab, tab ? p.text.n : 0);
	add_piece(r, l, l->text);
	return true;
}

bool lines_next(LineReader *r, LogLine **out)
{
	LogLine *l = &r->queue[0], *inner = &r->queue[1];
	if (r->queue_n) {
		r->queue_n = 0;
		*out = inner;
		return true;
	}
	if (r->next >= r->src->nlines)
		return false;
	if (r->payload && next_payload(r, l)) {
		*out = l;
		return true;
	}
	l->payload = r->payload = false;
	gather(r, l);
	bool torn = false;
	uint32_t body;
	Mark m;
	if (parse_anchored(r, l))
		torn = split_torn(r, l, inner);
	else if (is_blank(l->text))
		;
	else if (parse_cleaned(r, l) || parse_inner(r, l, inner, &torn))
		;
	else if (mark_guess(l->text, &m, &body)) {
		l->mark = m;
		cut_front(l, body);
	}
	r->queue_n = torn;
	r->torch_lines += (l->mark.style != PREFIX_NONE) + torn;
	r->last = torn ? inner->mark : l->mark;
	*out = l;
	return true;
}
