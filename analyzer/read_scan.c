/* SPDX-License-Identifier: MIT
 * The text scanned is what torch/fx/graph.py (PythonCode) prints, PyTorch 1.12 to 2.15: one statement a line,
 * except signatures and returns of the expanded form (2.9 and later), which end each line in a bracket or comma. */
#include "read_scan.h"

Scan scan_new(Str s, uint32_t max_nesting, uint32_t max_bytes, Arena *a)
{
	return (Scan){.s = s, .max_nesting = max_nesting, .max_bytes = max_bytes, .slack = 4ull * s.n + 4096, .a = a};
}

/* A look ahead beyond the line ended at `to` and found nothing. */
static void slack_spend(Scan *sc, uint32_t from, uint32_t to)
{
	uint64_t n = to - from;
	sc->slack -= n < sc->slack ? n : sc->slack;
}

static uint32_t line_end(Str s, uint32_t at)
{
	return str_find_char(s, '\n', at);
}

/* Position behind the string literal that starts at `at`; *open when it does not end. A string in single quotes ends
 * with its line at the latest. */
static uint32_t skip_string(Str s, uint32_t at, uint32_t end, bool *open)
{
	char q = s.p[at];
	bool triple = at + 2 < end && s.p[at + 1] == q && s.p[at + 2] == q;
	uint32_t i = at + (triple ? 3 : 1);
	for (; i < end; i++) {
		if (s.p[i] == '\\')
			i++;
		else if (!triple && s.p[i] == '\n')
			break;
		else if (s.p[i] == q && (!triple || (i + 2 < end && s.p[i + 1] == q && s.p[i + 2] == q)))
			return i + (triple ? 3 : 1);
	}
	*open = true;
	return i < end ? i : end;
}

static bool is_open(char c)
{
	return c == '(' || c == '[' || c == '{';
}

static bool is_close(char c)
{
	return c == ')' || c == ']' || c == '}';
}

uint32_t scan_close(Str s, uint32_t at)
{
	uint32_t depth = 0;
	bool open = false;
	for (uint32_t i = at; i < s.n;) {
		char c = s.p[i];
		if (c == '\'' || c == '"') {
			i = skip_string(s, i, s.n, &open);
			continue;
		}
		if (c == '#') {
			i = line_end(s, i);
			continue;
		}
		if (is_open(c))
			depth++;
		else if (is_close(c) && --depth == 0)
			return i;
		i++;
	}
	return s.n;
}

uint32_t scan_part(Str s, uint32_t at, uint32_t end)
{
	uint32_t depth = 0;
	bool open = false;
	for (uint32_t i = at; i < end;) {
		char c = s.p[i];
		if (c == '\'' || c == '"') {
			i = skip_string(s, i, end, &open);
			continue;
		}
		if (c == '#') {
			i = line_end(s, i);
			continue;
		}
		if (is_open(c))
			depth++;
		else if (is_close(c))
			depth -= depth > 0;
		else if (c == ',' && !depth)
			return i;
		i++;
	}
	return end;
}

/* "NAME = NAME = None" */
static bool is_deletion(Str s)
{
	s = str_trim(s);
	uint32_t names = 0, i = 0;
	for (;;) {
		uint32_t from = i;
		while (i < s.n && char_is_ident((unsigned char)s.p[i]))
			i++;
		if (i == from)
			return false;
		if (i == s.n)
			return names && str_eq(str_sub(s, from, i), S("None"));
		names++;
		while (i < s.n && s.p[i] == ' ')
			i++;
		if (i == s.n || s.p[i++] != '=')
			return false;
		while (i < s.n && s.p[i] == ' ')
			i++;
	}
}

/* Inside brackets a statement goes on only behind an opening bracket or a comma: torch prints no other line ends
 * there, so anything else is a line that was cut. */
static bool goes_on(Str s, uint32_t from, uint32_t at)
{
	while (at > from && (s.p[at - 1] == ' ' || s.p[at - 1] == '\t' || s.p[at - 1] == '\r'))
		at--;
	return at > from && (is_open(s.p[at - 1]) || s.p[at - 1] == ',');
}

/* Operators, dots and calls in a row make the parser's tree deep without brackets being deep. */
static bool is_chain(char c)
{
	return memchr(".+-*/%@|&^([<>=", c, 15) != NULL;
}

enum { MAX_CHAIN = 4096 };

static void scan_statement(Scan *sc, uint32_t at, Stmt *st)
{
	Str s = sc->s;
	uint32_t depth = 0, last_semi = 0, i = at, code_end = at, chain = 0;
	bool open = false;
	sc->found.n = 0;
	while (i < s.n) {
		char c = s.p[i];
		if (c == '\n') {
			if (!depth || !sc->slack || !goes_on(s, at, code_end))
				break;
			i++;
			continue;
		}
		if (c == '#') {
			uint32_t e = line_end(s, i);
			VEC_PUSH(sc->a, &sc->found, ((CommentAt){i, e}));
			i = e;
			continue;
		}
		if (c == '\'' || c == '"') {
			i = code_end = skip_string(s, i, s.n, &open);
			if (open)
				break;
			continue;
		}
		if (c == ',')
			chain = 0;
		else if (is_chain(c) && ++chain > MAX_CHAIN)
			st->too_deep = true;
		if (is_open(c) && ++depth > sc->max_nesting)
			st->too_deep = true;
		else if (is_close(c))
			depth -= depth > 0;
		else if (c == ';' && !depth)
			last_semi = i;
		i++;
		if (c != ' ' && c != '\t' && c != '\r')
			code_end = i;
	}
	st->torn = depth || open;
	if (st->torn) { /* what was swallowed by an open bracket is read again, from the next line on */
		slack_spend(sc, at, i);
		i = line_end(s, at);
	}
	sc->at = i < s.n ? i + 1 : s.n;
	st->end = st->torn && code_end > i ? i : code_end;
	if (last_semi && last_semi < st->end && is_deletion(str_sub(s, last_semi + 1, st->end))) {
		st->tail_at = last_semi + 1;
		st->tail_end = st->end;
		st->end = last_semi;
		while (st->end > at && s.p[st->end - 1] == ' ')
			st->end--;
	}
	st->too_long = st->end - at > sc->max_bytes;
	while (sc->found.n && sc->found.v[sc->found.n - 1].at >= st->end)
		sc->found.n--;
	st->comments = sc->found.v;
	st->ncomments = sc->found.n;
}

static bool is_class_line(Str t, uint32_t *name_at)
{
	if (!str_ends(t, S("Module):")))
		return false;
	uint32_t at = str_starts(t, S("class ")) ? 0 : str_rfind(t, S(" class ")) + 1;
	if (at >= t.n)
		return false;
	*name_at = at + 6;
	return true;
}

static bool is_ignored(Str t)
{
	static const Str starts[] = {STR_INIT("import "), STR_INIT("from "), STR_INIT("@"),
	                             STR_INIT("torch.fx._symbolic_trace.wrap("), STR_INIT("torch.fx.wrap("),
	                             STR_INIT("wrap(\"")};
	for (uint32_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (str_starts(t, starts[i]))
			return true;
	return false;
}

static bool is_header(Str t)
{
	return (str_starts(t, S("=====")) && str_ends(t, S("====="))) || str_eq(t, S("TRACED GRAPH"));
}

/* def NAME(...) -> R: over as many lines as its brackets need; st->end is behind the colon where there is one. */
static void scan_def(Scan *sc, uint32_t at, Stmt *st)
{
	Str s = sc->s;
	uint32_t eol = line_end(s, at), open = str_find_char(s, '(', at);
	uint32_t close = open >= eol ? s.n : sc->slack ? scan_close(s, open) : scan_close(str_sub(s, 0, eol), open);
	st->kind = ST_DEF;
	if (close >= eol && !sc->slack)
		close = s.n;
	if (close == s.n) {
		slack_spend(sc, at, s.n);
		st->torn = true;
		st->end = eol;
		sc->at = eol < s.n ? eol + 1 : s.n;
		return;
	}
	uint32_t end = line_end(s, close), colon = str_find_char(s, ':', close);
	st->end = colon < end ? colon + 1 : end;
	/* def forward(self): pass */
	sc->at = str_trim(str_sub(s, st->end, end)).n && colon < end ? st->end : end < s.n ? end + 1 : s.n;
}

/* A metadata block: """ ... """ between statements, with anything in between. */
static void scan_block(Scan *sc, uint32_t at, Stmt *st)
{
	bool open = false;
	st->kind = ST_IGNORED;
	st->end = skip_string(sc->s, at, sc->slack ? sc->s.n : line_end(sc->s, at), &open);
	if (open) { /* never closed: do not lose the rest of the graph */
		slack_spend(sc, at, st->end);
		st->end = line_end(sc->s, at);
		st->kind = ST_STATEMENT;
		st->torn = true;
	}
	uint32_t e = line_end(sc->s, st->end);
	sc->at = e < sc->s.n ? e + 1 : sc->s.n;
}

bool scan_next(Scan *sc, Stmt *st)
{
	Str s = sc->s;
	for (;;) {
		if (sc->at >= s.n)
			return false;
		uint32_t at = sc->at, eol = line_end(s, at), i = at, name_at;
		while (i < eol && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '\r'))
			i++;
		if (i == eol) {
			sc->at = eol < s.n ? eol + 1 : s.n;
			continue;
		}
		*st = (Stmt){.at = i, .end = eol, .indent = i - at};
		Str t = str_rtrim(str_sub(s, i, eol));
		sc->at = eol < s.n ? eol + 1 : s.n;
		if (t.p[0] == '#')
			st->kind = ST_COMMENT;
		else if (is_header(t))
			st->kind = ST_HEADER;
		else if (is_class_line(t, &name_at)) {
			st->kind = ST_CLASS;
			st->at = i + name_at;
			st->end = i + t.n;
		} else if (str_starts(t, S("def ")))
			scan_def(sc, i, st);
		else if (is_ignored(t))
			st->kind = ST_IGNORED;
		else if (str_starts(t, S("\"\"\"")))
			scan_block(sc, i, st);
		else
			scan_statement(sc, i, st);
		return true;
	}
}
