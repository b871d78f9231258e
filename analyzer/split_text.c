/* SPDX-License-Identifier: MIT */
#include "split_text.h"

#include "split.h"

enum { STEP = 4 };

static const Str lost_reset = STR_INIT("[0m");

static bool is_nbsp(Str s, uint32_t at)
{
	return at + 1 < s.n && s.p[at] == '\xc2' && s.p[at + 1] == '\xa0';
}

uint32_t clean_control(Str s, uint32_t at)
{
	static const Str codes[] = {STR_INIT("0m"), STR_INIT("2m"), STR_INIT("31m"), STR_INIT("32m"),
	                            STR_INIT("34m")};
	uint32_t i = at;
	if (s.p[at] == '\x1b') {
		i++;
		if (i < s.n && s.p[i] == ']') { /* a hyperlink or title: up to BEL or ESC \ */
			while (i < s.n && s.p[i] != '\a' && s.p[i] != '\x1b')
				i++;
			bool two = i + 1 < s.n && s.p[i] == '\x1b' && s.p[i + 1] == '\\';
			return (i < s.n ? i + (two ? 2 : 1) : i) - at;
		}
		if (i == s.n || s.p[i] != '[')
			return 1;
		i++;
		while (i < s.n && s.p[i] >= ' ' && s.p[i] < '@')
			i++;
		return (i < s.n ? i + 1 : i) - at;
	}
	if (s.p[i] == '^' && i + 1 < s.n && s.p[i + 1] == '[')
		i += i + 2 < s.n && s.p[i + 2] == '[' ? 2 : 1;
	if (s.p[i] != '[')
		return 0;
	for (uint32_t k = 0; k < sizeof codes / sizeof *codes; k++)
		if (str_starts(str_sub(s, i + 1, s.n), codes[k]))
			return i + 1 + codes[k].n - at;
	return 0;
}

static bool has_nbsp(Str s)
{
	for (uint32_t i = 0; (i = str_find_char(s, '\xc2', i)) < s.n; i++)
		if (is_nbsp(s, i))
			return true;
	return false;
}

static bool tab_indent(Str s)
{
	uint32_t i = 0;
	while (i < s.n && s.p[i] == ' ')
		i++;
	return i < s.n && s.p[i] == '\t';
}

bool clean_needed(Str s, bool html)
{
	return s.n &&
	       (memchr(s.p, '\x1b', s.n) || memchr(s.p, '\r', s.n) || (html && memchr(s.p, '&', s.n)) ||
	        tab_indent(s) || has_nbsp(s) || str_has(s, lost_reset));
}

uint64_t clean_room(Str s, uint32_t tab)
{
	uint64_t tabs = 0;
	for (uint32_t i = 0; i < s.n && (s.p[i] == ' ' || s.p[i] == '\t' || is_nbsp(s, i));
	     i += is_nbsp(s, i) ? 2 : 1)
		tabs += s.p[i] == '\t';
	return s.n + tabs * (tab - 1);
}

void clean_place(Clean *c, uint32_t src)
{
	Seg *last = c->segs.n ? &c->segs.v[c->segs.n - 1] : NULL;
	if (last && last->src + (c->n - last->at) == src)
		return;
	if (last && last->at == c->n) /* nothing was written since: only the newest place counts */
		last->src = src;
	else
		VEC_PUSH(c->a, &c->segs, ((Seg){c->n, src}));
}

static void put(Clean *c, char byte, uint32_t src)
{
	clean_place(c, src);
	c->p[c->n++] = byte;
}

static void copy(Clean *c, Str run, uint32_t src)
{
	if (!run.n)
		return;
	clean_place(c, src);
	memcpy(c->p + c->n, run.p, run.n);
	c->n += run.n;
}

/* Indentation as blanks; gives the offset of the first byte behind it. */
static uint32_t indent_add(Clean *c, Str s, uint32_t src)
{
	uint32_t i = 0, col = 0;
	while (i < s.n) {
		if (s.p[i] == '\t') {
			do
				put(c, ' ', src + i);
			while (++col % c->tab);
			i++;
		} else if (s.p[i] == ' ' || is_nbsp(s, i)) {
			put(c, ' ', src + i);
			col++;
			i += s.p[i] == ' ' ? 1 : 2;
		} else if (clean_control(s, i)) {
			i += clean_control(s, i);
		} else {
			break;
		}
	}
	return i;
}

static uint32_t entity(Str s, uint32_t at, char *out)
{
	static const struct {
		Str text;
		char c;
	} known[] = {
		{STR_INIT("&lt;"), '<'},   {STR_INIT("&gt;"), '>'},  {STR_INIT("&quot;"), '"'},
		{STR_INIT("&#39;"), '\''}, {STR_INIT("&amp;"), '&'},
	};
	for (uint32_t k = 0; k < sizeof known / sizeof *known; k++)
		if (str_starts(str_sub(s, at, s.n), known[k].text)) {
			*out = known[k].c;
			return known[k].text.n;
		}
	return 0;
}

/* What a terminal shows of a line with lone CRs: what stands behind the last one. A comment
 * keeps its mark. */
static uint32_t behind_cr(Str s)
{
	uint32_t from = 0;
	while (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	if (!s.n || str_starts(str_ltrim(s), S("#")))
		return 0;
	for (uint32_t i = 0; (i = str_find_char(s, '\r', i)) < s.n; i++)
		from = i + 1;
	return from;
}

void clean_add(Clean *c, Str line, uint32_t src, bool joins)
{
	uint32_t from = joins ? 0 : behind_cr(line);
	Str s = str_sub(line, from, line.n);
	src += from;
	bool lost = str_has(s, lost_reset);
	uint32_t i = joins ? 0 : indent_add(c, s, src), start = i;
	for (; i < s.n;) {
		char ch = s.p[i], out = ' ';
		uint32_t n = 0;
		bool drop = false;
		if (ch == '\x1b' || (lost && (ch == '[' || ch == '^')))
			drop = (n = clean_control(s, i)) > 0;
		else if (ch == '\r')
			drop = (n = 1);
		else if (is_nbsp(s, i))
			n = 2;
		else if (ch == '&' && c->html)
			n = entity(s, i, &out);
		if (!n) {
			i++;
			continue;
		}
		copy(c, str_sub(s, start, i), src + start);
		if (!drop)
			put(c, out, src + i);
		start = i += n;
	}
	copy(c, str_sub(s, start, s.n), src + start);
}

/* ---- the text of an artifact ---- */

static Str piece_text(const Source *s, const Piece *p)
{
	return str_sub(s->text, p->src, p->src + p->n);
}

/* A page's source: entities, and none of the characters that they stand for. */
static bool is_html(const Artifact *art, const Source *src)
{
	bool named = false, quoted = false;
	for (uint32_t i = 0; i < art->npieces; i++) {
		Str s = piece_text(src, &art->pieces[i]);
		for (uint32_t k = 0; (k = str_find_char(s, '&', k)) < s.n; k++) {
			char c = ' ';
			if (entity(s, k, &c)) {
				quoted |= c == '"';
				named |= c != '"';
			}
		}
	}
	if (!named && !quoted)
		return false;
	for (uint32_t i = 0; i < art->npieces; i++) {
		Str s = piece_text(src, &art->pieces[i]);
		if (named && (str_find_char(s, '<', 0) < s.n || str_find_char(s, '>', 0) < s.n))
			named = false;
		if (quoted && str_find_char(s, '"', 0) < s.n)
			quoted = false;
	}
	return named || quoted;
}

/* Depth of a line of a text without indentation: class 0, def 1, what follows 2; one more below
 * a nested class. */
static uint32_t flat_depth(Str line, uint32_t *classes, bool *in_body)
{
	bool is_class = str_ends(str_rtrim(line), S("Module):")) && str_has(line, S("class "));
	bool is_def = str_starts(line, S("def "));
	if (is_class)
		++*classes;
	uint32_t nested = *classes > 1;
	if (is_class || !*in_body)
		*in_body = is_def;
	return is_class ? nested : is_def ? nested + 1 : *in_body ? nested + 2 : 0;
}

/* Bytes that the first *npieces pieces can become; gives up the last ones where offsets would
 * not do. */
static uint64_t text_room(const Artifact *art, const Source *src, uint32_t tab, uint32_t *npieces)
{
	uint64_t n = 1;
	for (uint32_t i = 0; i < art->npieces; i++) {
		uint64_t more =
			1 + (art->flat ? 3 * STEP : 0) + clean_room(piece_text(src, &art->pieces[i]), tab);
		if (n + more >= UINT32_MAX) {
			*npieces = i;
			return n;
		}
		n += more;
	}
	*npieces = art->npieces;
	return n;
}

Text artifact_text(const Artifact *art, const Sources *sources, Arena *scratch)
{
	const Source *src = source_get(sources, art->file);
	Clean c = {.html = is_html(art, src), .tab = CLEAN_TAB, .a = scratch};
	uint32_t classes = 0, n;
	bool in_body = false;
	uint64_t room = text_room(art, src, c.tab, &n);
	if (n < art->npieces)
		room = text_room(art, src, c.tab = 1, &n);
	c.segs.cap = n + 1;
	c.segs.v = NEW_N(scratch, Seg, c.segs.cap);
	c.p = arena_alloc(scratch, room);
	for (uint32_t i = 0; i < n; i++) {
		const Piece *p = &art->pieces[i];
		Str line = piece_text(src, p);
		if (!p->joins) {
			if (i) /* stands where the line ended */
				c.p[c.n++] = '\n';
			for (uint32_t d = art->flat ? STEP * flat_depth(line, &classes, &in_body) : 0; d; d--)
				put(&c, ' ', p->src);
		}
		if (clean_needed(line, c.html))
			clean_add(&c, line, p->src, p->joins);
		else
			copy(&c, line, p->src);
	}
	return (Text){.file = art->file, .s = {c.p, c.n}, .seg = c.segs.v, .nseg = c.segs.n};
}
