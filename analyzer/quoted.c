/* SPDX-License-Identifier: MIT */
#include "quoted.h"

enum { LINES_MOST = 1 << 18, CODE_MOST = 4096 };

static uint64_t line_key(Str file, uint32_t line)
{
	return hash_bytes(line, file.p, file.n) | 1;
}

/* Printers cut long lines: a beginning agrees with the whole. */
static void add_line(Quoted *q, Str file, uint32_t line, Str code, bool copy)
{
	code = str_trim(code);
	if (!file.n || !line || !code.n || code.n > CODE_MOST || q->text.n >= LINES_MOST)
		return;
	uint64_t key = line_key(file, line);
	uint32_t at = map_get(&q->at, key);
	Str *had = at ? &q->text.v[at - 1] : NULL;
	if (had && (str_starts(*had, code) || !had->n))
		return;
	if (had && !str_starts(code, *had)) {
		*had = (Str){0};
		return;
	}
	Str text = copy ? str_copy(q->a, code) : code;
	if (had) {
		*had = text;
		return;
	}
	VEC_PUSH(q->a, &q->text, text);
	map_put(&q->at, key, q->text.n);
}

static void add_graph(Quoted *q, const Program *p, const Sources *sources, const Graph *g)
{
	for (uint32_t i = 1; i < g->locs.n; i++) {
		const SrcLoc *l = &g->locs.v[i];
		if (l->code.file.i)
			add_line(q, sym_str(p->names, l->file), l->line,
			         str_sub(source_get(sources, l->code.file)->text, l->code.at, l->code.end), false);
	}
}

static Str next_line(Str *text)
{
	uint32_t end = str_find_char(*text, '\n', 0);
	Str line = str_sub(*text, 0, end);
	*text = str_sub(*text, end < text->n ? end + 1 : end, text->n);
	return line;
}

/* File "F", line N, in f */
static bool traceback_place(Str line, Str *file, uint32_t *number)
{
	static const Str head = STR_INIT("File \""), mid = STR_INIT("\", line ");
	line = str_trim(line);
	uint32_t quote = str_find(line, mid, 0);
	if (!str_starts(line, head) || quote >= line.n)
		return false;
	Str rest = str_sub(line, quote + mid.n, line.n);
	*file = str_sub(line, head.n, quote);
	return str_to_u32(str_sub(rest, 0, str_find_char(rest, ',', 0)), number);
}

static void add_traceback(Quoted *q, Str text)
{
	Str file = {0};
	uint32_t number = 0;
	while (text.n) {
		Str line = next_line(&text);
		if (number)
			add_line(q, file, number, line, true);
		if (!traceback_place(line, &file, &number))
			number = 0;
	}
}

Quoted quoted_collect(const Program *p, const Artifacts *artifacts, const Sources *sources, Arena *keep, Arena *scratch)
{
	Quoted q = {.a = keep, .at = {.a = keep}};
	for (uint32_t i = 1; i < p->graphs.n; i++)
		add_graph(&q, p, sources, p->graphs.v[i]);
	for (uint32_t i = 1; i < artifacts->v.n; i++) {
		if (artifacts->v.v[i].kind != ART_GRAPH_BREAK)
			continue;
		ArenaMark mark = arena_mark(scratch);
		add_traceback(&q, artifact_text(&artifacts->v.v[i], sources, scratch).s);
		arena_rewind(scratch, mark);
	}
	return q;
}

Str quoted_line(const Quoted *q, Str file, uint32_t line)
{
	uint32_t at = q ? map_get(&q->at, line_key(file, line)) : 0;
	return at ? q->text.v[at - 1] : (Str){0};
}

/* ---- calls in a line ---- */

/* Behind a string literal that begins at i. */
static uint32_t behind_literal(Str t, uint32_t i)
{
	char quote = t.p[i++];
	while (i < t.n && t.p[i] != quote)
		i += t.p[i] == '\\' ? 2 : 1;
	return i < t.n ? i + 1 : t.n;
}

/* name=value, and not name==value. */
static Str keyword_of(Str arg)
{
	uint32_t i = 0;
	arg = str_trim(arg);
	while (i < arg.n && char_is_ident((unsigned char)arg.p[i]))
		i++;
	Str name = str_sub(arg, 0, i);
	Str rest = str_trim(str_sub(arg, i, arg.n));
	return name.n && rest.n && rest.p[0] == '=' && !str_starts(rest, S("==")) ? name : (Str){0};
}

typedef struct CallText {
	QuotedCall keywords;
	uint32_t nargs;
	bool starred, closed;
} CallText;

static void take_argument(Str arg, CallText *c)
{
	arg = str_trim(arg);
	if (!arg.n)
		return;
	c->nargs++;
	c->starred |= arg.p[0] == '*';
	Str name = keyword_of(arg);
	if (name.n && c->keywords.n < QUOTED_KEYWORDS_MOST)
		c->keywords.keywords[c->keywords.n++] = name;
}

/* Arguments behind the bracket at i - 1. */
static CallText call_text(Str t, uint32_t i)
{
	CallText c = {0};
	uint32_t depth = 0, from = i;
	for (; i < t.n && !c.closed; i++) {
		char ch = t.p[i];
		if (ch == '\'' || ch == '"') {
			i = behind_literal(t, i) - 1;
		} else if (ch == '(' || ch == '[' || ch == '{') {
			depth++;
		} else if (depth && (ch == ')' || ch == ']' || ch == '}')) {
			depth--;
		} else if (!depth && (ch == ',' || ch == ')')) {
			take_argument(str_sub(t, from, i), &c);
			from = i + 1;
			c.closed = ch == ')';
		}
	}
	return c;
}

static bool same_keywords(const QuotedCall *a, const QuotedCall *b)
{
	for (uint32_t i = 0; i < a->n && i < b->n; i++)
		if (!str_eq(a->keywords[i], b->keywords[i]))
			return false;
	return a->n == b->n;
}

static bool is_callee(Str t, uint32_t bracket, Str callee)
{
	uint32_t from = bracket;
	while (from && char_is_ident((unsigned char)t.p[from - 1]))
		from--;
	bool called = from < bracket || (bracket && (t.p[bracket - 1] == ')' || t.p[bracket - 1] == ']'));
	return called && (!callee.n || str_eq(str_sub(t, from, bracket), callee));
}

bool quoted_call(Str t, Str callee, uint32_t nargs, QuotedCall *out)
{
	enum { CALLS_MOST = 64 };
	uint32_t found = 0, seen = 0;
	for (uint32_t i = 0; i < t.n && seen < CALLS_MOST; i++) {
		if (t.p[i] == '\'' || t.p[i] == '"') {
			i = behind_literal(t, i) - 1;
			continue;
		}
		if (t.p[i] == '#')
			break;
		if (t.p[i] != '(' || !is_callee(t, i, callee))
			continue;
		seen++;
		CallText c = call_text(t, i + 1);
		if (!c.closed || c.starred || c.nargs != nargs || !c.keywords.n)
			continue;
		if (found++ && !same_keywords(out, &c.keywords))
			return false;
		*out = c.keywords;
	}
	return found != 0 && seen < CALLS_MOST;
}
