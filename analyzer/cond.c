/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "cond.h"

#include <pcre2.h>
#include <stdlib.h>

#include "nearest.h"

enum { DEPTH_MOST = 24 };

typedef enum CondType { TY_BAD, TY_T, TY_N, TY_S, TY_VAR, TY_LIST, TY_REGEX } CondType;

static const struct {
	Str name;
	char result;
	const char *args, *meaning;
} preds[PRED_N] = {
#define PREDICATE(name, result, args, fn, meaning) {STR_INIT(#name), #result[0], args, meaning},
#include "predicates.def"
#undef PREDICATE
};

Str pred_name_of(PredId p)
{
	ASSERT(p < PRED_N);
	return preds[p].name;
}

/* ---- words ---- */

typedef enum TokKind { TK_END, TK_BAD, TK_WORD, TK_META, TK_NUM, TK_REAL, TK_TEXT, TK_PUNCT } TokKind;

typedef struct Tok {
	TokKind kind;
	uint32_t at, end;
	Str text;   /* without $ or quotes */
	int64_t num;
	double real;
} Tok;

typedef struct Parser {
	Cond *c;
	Arena *a;
	const Pattern *p;
	Str s;
	Buf *why;
	uint32_t *at;
	Tok tok;     /* the next one */
	uint32_t stack; /* values on the machine's stack here */
	int depth;
} Parser;

static CondType fault(Parser *ps, uint32_t at, const char *text, Str word)
{
	if (!ps->why->n) {
		buf_printf(ps->why, "%s", text);
		if (word.n)
			buf_printf(ps->why, " '" STR_FMT "'", STR_ARG(str_sub(word, 0, 80)));
		*ps->at = at;
	}
	return TY_BAD;
}

static uint32_t word_end(Str s, uint32_t at)
{
	while (at < s.n && char_is_ident((unsigned char)s.p[at]))
		at++;
	return at;
}

/* A text in quotes; `\\` before a quote or a backslash is taken off, other ones stay (they are for the expression). */
static void read_text(Parser *ps, Tok *t)
{
	Buf b = {.a = ps->a};
	char q = ps->s.p[t->at];
	uint32_t i = t->at + 1;
	for (; i < ps->s.n && ps->s.p[i] != q; i++) {
		bool escape = ps->s.p[i] == '\\' && i + 1 < ps->s.n && ps->s.p[i + 1] == q;
		i += escape;
		buf_char(&b, ps->s.p[i]);
	}
	t->kind = i < ps->s.n ? TK_TEXT : TK_BAD;
	t->end = i < ps->s.n ? i + 1 : ps->s.n;
	t->text = b.n ? buf_str(&b) : S("");
}

static void read_number(Parser *ps, Tok *t)
{
	uint32_t i = t->at + (ps->s.p[t->at] == '-');
	bool real = false;
	for (; i < ps->s.n && ((ps->s.p[i] >= '0' && ps->s.p[i] <= '9') || (ps->s.p[i] == '.' && !real)); i++)
		real |= ps->s.p[i] == '.';
	t->end = i;
	t->text = str_sub(ps->s, t->at, i);
	t->kind = real ? TK_REAL : TK_NUM;
	if (real)
		t->real = strtod(str_to_c(ps->a, t->text), NULL);
	else if (!str_to_i64(t->text, &t->num))
		t->kind = TK_BAD;
}

static void next(Parser *ps)
{
	static const Str two[] = {STR_INIT("=="), STR_INIT("!="), STR_INIT("<="), STR_INIT(">=")};
	uint32_t at = ps->tok.end;
	while (at < ps->s.n && memchr(" \t\n", ps->s.p[at], 3))
		at++;
	Tok t = {.kind = TK_END, .at = at, .end = at};
	char c = at < ps->s.n ? ps->s.p[at] : 0;
	bool number = (c >= '0' && c <= '9') || (c == '-' && at + 1 < ps->s.n && ps->s.p[at + 1] >= '0' && ps->s.p[at + 1] <= '9');
	if (at == ps->s.n) {
		;
	} else if (c == '"' || c == '\'') {
		read_text(ps, &t);
	} else if (number) {
		read_number(ps, &t);
	} else if (c == '$' || char_is_ident((unsigned char)c)) {
		t.kind = c == '$' ? TK_META : TK_WORD;
		t.end = word_end(ps->s, at + (c == '$'));
		t.text = str_sub(ps->s, at + (c == '$'), t.end);
	} else {
		t.kind = memchr("()[],<>", c, 7) ? TK_PUNCT : TK_BAD;
		t.end = at + 1;
		for (size_t i = 0; i < sizeof two / sizeof *two; i++)
			if (str_starts(str_sub(ps->s, at, ps->s.n), two[i])) {
				t.kind = TK_PUNCT;
				t.end = at + 2;
			}
		t.text = str_sub(ps->s, at, t.end);
	}
	ps->tok = t;
}

static bool is_punct(const Parser *ps, const char *text)
{
	return ps->tok.kind == TK_PUNCT && str_eq(ps->tok.text, str_from_c(text));
}

static bool is_word(const Parser *ps, const char *text)
{
	return ps->tok.kind == TK_WORD && str_eq(ps->tok.text, str_from_c(text));
}

static bool expect(Parser *ps, const char *text)
{
	if (is_punct(ps, text)) {
		next(ps);
		return true;
	}
	static const char format[] = "'%s' is expected here";
	Str say = str_printf(ps->a, format, text);
	fault(ps, ps->tok.at, str_to_c(ps->a, say), (Str){0});
	return false;
}

/* ---- steps ---- */

static bool emit(Parser *ps, CondOp op, uint32_t takes)
{
	ps->stack = ps->stack - takes + 1;
	if (ps->stack > COND_STACK || ps->c->ops.n == 1000) {
		fault(ps, ps->tok.at, "the condition is too large", (Str){0});
		return false;
	}
	VEC_PUSH(ps->a, &ps->c->ops, op);
	return true;
}

static CondType parse_or(Parser *ps);

static CondType parse_var(Parser *ps)
{
	int v = pattern_var(ps->p, ps->tok.text);
	if (v < 0)
		return fault(ps, ps->tok.at, "the pattern has no metavariable", ps->tok.text);
	ps->c->vars |= (uint64_t)1 << v;
	next(ps);
	return emit(ps, (CondOp){.kind = CO_VAR, .u.var = (uint8_t)v}, 0) ? TY_VAR : TY_BAD;
}

static CondType parse_regex(Parser *ps)
{
	int code;
	PCRE2_SIZE where;
	if (ps->tok.kind != TK_TEXT)
		return fault(ps, ps->tok.at, "a regular expression in quotes is expected here", (Str){0});
	Str s = ps->tok.text;
	pcre2_code *re = pcre2_compile((PCRE2_SPTR)(s.n ? s.p : ""), s.n, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
		&code, &where, NULL);
	if (!re) {
		PCRE2_UCHAR text[120];
		pcre2_get_error_message(code, text, sizeof text);
		return fault(ps, ps->tok.at + 1 + (uint32_t)where, str_to_c(ps->a, str_printf(ps->a, "not a regular expression: %s", (char *)text)),
			(Str){0});
	}
	VEC_PUSH(ps->a, &ps->c->regexes, ((Regex){s, re}));
	next(ps);
	return emit(ps, (CondOp){.kind = CO_REGEX, .u.n = ps->c->regexes.n - 1}, 0) ? TY_REGEX : TY_BAD;
}

static CondType parse_list(Parser *ps)
{
	uint32_t n = 0;
	uint32_t at = ps->tok.at;
	next(ps);
	while (!is_punct(ps, "]")) {
		if (n && !expect(ps, ","))
			return TY_BAD;
		CondType t = parse_or(ps);
		if (t != TY_S && t != TY_N)
			return fault(ps, at, "a list holds texts and numbers", (Str){0});
		if (++n > 20)
			return fault(ps, at, "the list is too long", (Str){0});
	}
	next(ps);
	if (!n)
		return fault(ps, at, "the list is empty", (Str){0});
	return emit(ps, (CondOp){.kind = CO_LIST, .u.n = n}, n) ? TY_LIST : TY_BAD;
}

/* One of a fixed set of words, in quotes. */
static bool parse_word_of(Parser *ps, char want)
{
	static const Str regions[] = {
#define REGION(word, state) STR_INIT(word),
#include "regions.def"
#undef REGION
	};
	static const Str tags[] = {
#define FACT_TAG(id, word) STR_INIT(word),
#include "fact_tags.def"
#undef FACT_TAG
	};
	const Str *words = want == 'G' ? regions : tags;
	uint32_t n = want == 'G' ? sizeof regions / sizeof *regions : sizeof tags / sizeof *tags;
	Tok t = ps->tok;
	Nearest near = nearest_to(t.text);
	for (uint32_t i = 0; i < n; i++) {
		if (t.kind == TK_TEXT && str_eq(t.text, words[i])) {
			next(ps);
			return emit(ps, (CondOp){.kind = CO_STRING, .str = t.text}, 0);
		}
		nearest_try(&near, words[i]);
	}
	fault(ps, t.at, want == 'G' ? "a region in quotes is expected here, not" : "a tag in quotes is expected here, not", t.text);
	if (ps->why->n)
		nearest_say(&near, ps->why);
	return false;
}

static CondType type_of(char c)
{
	return c == 'T' ? TY_T : c == 'N' ? TY_N : TY_S;
}

/* One argument of a predicate: what it wants, against what is there. */
static bool parse_arg(Parser *ps, PredId id, char want)
{
	uint32_t at = ps->tok.at;
	bool wants_var = want == 'V' || want == 'A' || want == 'O';
	if (want == 'R')
		return parse_regex(ps) != TY_BAD;
	if (want == 'G' || want == 'F')
		return parse_word_of(ps, want);
	if (wants_var && ps->tok.kind != TK_META) {
		fault(ps, at, "a metavariable is expected here, in", preds[id].name);
		return false;
	}
	int v = wants_var ? pattern_var(ps->p, ps->tok.text) : -1;
	if (v >= 0 && ps->p->var[v].op && want != 'O') {
		fault(ps, at, "a value is expected here, not an operator, in", preds[id].name);
		return false;
	}
	CondType t = parse_or(ps);
	if (t == TY_BAD)
		return false;
	if (wants_var ? t == TY_VAR : t == type_of(want))
		return true;
	fault(ps, at, want == 'S' ? "a text is expected here, in" : want == 'N' ? "a number is expected here, in" :
		"a question is expected here, in", preds[id].name);
	return false;
}

static CondType parse_call(Parser *ps)
{
	Nearest near = nearest_to(ps->tok.text);
	uint32_t id = 0, n = 0, at = ps->tok.at;
	while (id < PRED_N && !str_eq(preds[id].name, ps->tok.text))
		nearest_try(&near, preds[id++].name);
	if (id == PRED_N) {
		CondType bad = fault(ps, at, "there is no predicate", ps->tok.text);
		nearest_say(&near, ps->why);
		return bad;
	}
	next(ps);
	if (!expect(ps, "("))
		return TY_BAD;
	bool optional = false;
	for (const char *want = preds[id].args; *want; want++) {
		if (*want == '?') {
			optional = true;
			continue;
		}
		if (optional && is_punct(ps, ")"))
			break;
		if ((n && !expect(ps, ",")) || !parse_arg(ps, (PredId)id, *want))
			return TY_BAD;
		n++;
	}
	if (!expect(ps, ")"))
		return TY_BAD;
	return emit(ps, (CondOp){.kind = CO_CALL, .n = (uint8_t)n, .u.pred = id}, n) ? type_of(preds[id].result) : TY_BAD;
}

static CondType parse_primary(Parser *ps)
{
	Tok t = ps->tok;
	switch (t.kind) {
	case TK_META: return parse_var(ps);
	case TK_NUM:
		next(ps);
		return emit(ps, (CondOp){.kind = CO_NUMBER, .u.num = t.num}, 0) ? TY_N : TY_BAD;
	case TK_REAL:
		next(ps);
		return emit(ps, (CondOp){.kind = CO_REAL, .u.real = t.real}, 0) ? TY_N : TY_BAD;
	case TK_TEXT:
		next(ps);
		return emit(ps, (CondOp){.kind = CO_STRING, .str = t.text}, 0) ? TY_S : TY_BAD;
	case TK_WORD: return parse_call(ps);
	case TK_END: return fault(ps, t.at, "the condition ends early", (Str){0});
	default: break;
	}
	if (is_punct(ps, "["))
		return parse_list(ps);
	if (!is_punct(ps, "("))
		return fault(ps, t.at, "not understood:", t.text);
	next(ps);
	CondType inner = parse_or(ps);
	return inner != TY_BAD && expect(ps, ")") ? inner : TY_BAD;
}

static bool comparison(const Parser *ps, CondOpKind *op)
{
	static const struct {
		const char *text;
		CondOpKind op;
	} ops[] = {{"==", CO_EQ}, {"!=", CO_NE}, {"<", CO_LT}, {"<=", CO_LE}, {">", CO_GT}, {">=", CO_GE}};
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (is_punct(ps, ops[i].text)) {
			*op = ops[i].op;
			return true;
		}
	*op = CO_IN;
	return is_word(ps, "in");
}

static CondType parse_comparison(Parser *ps)
{
	uint32_t at = ps->tok.at;
	CondType left = parse_primary(ps);
	CondOpKind op;
	if (left == TY_BAD || !comparison(ps, &op))
		return left;
	next(ps);
	CondType right = parse_primary(ps);
	if (right == TY_BAD)
		return TY_BAD;
	bool order = op != CO_EQ && op != CO_NE && op != CO_IN;
	if (op == CO_IN ? right != TY_LIST || (left != TY_S && left != TY_N) : left != right || (left != TY_S && left != TY_N))
		return fault(ps, at, op == CO_IN ? "`in` asks for a text or number in a list" : "texts are compared with texts, numbers with numbers",
			(Str){0});
	if (order && left != TY_N)
		return fault(ps, at, "only numbers are larger or smaller", (Str){0});
	return emit(ps, (CondOp){.kind = (uint8_t)op}, 2) ? TY_T : TY_BAD;
}

static CondType parse_not(Parser *ps)
{
	uint32_t at = ps->tok.at, nots = 0;
	for (; is_word(ps, "not"); next(ps))
		nots++;
	CondType t = parse_comparison(ps);
	if (nots && t != TY_T && t != TY_BAD)
		return fault(ps, at, "`not` stands before a question", (Str){0});
	if (nots % 2 && t == TY_T && !emit(ps, (CondOp){.kind = CO_NOT}, 1))
		return TY_BAD;
	return t;
}

/* Questions joined by one word. */
static CondType parse_joined(Parser *ps, const char *word, CondOpKind op, CondType (*part)(Parser *))
{
	uint32_t at = ps->tok.at;
	CondType t = part(ps);
	while (t != TY_BAD && is_word(ps, word)) {
		next(ps);
		CondType right = part(ps);
		if (right == TY_BAD)
			return TY_BAD;
		if (t != TY_T || right != TY_T)
			return fault(ps, at, "`and` and `or` join questions", (Str){0});
		if (!emit(ps, (CondOp){.kind = (uint8_t)op}, 2))
			return TY_BAD;
	}
	return t;
}

static CondType parse_and(Parser *ps)
{
	return parse_joined(ps, "and", CO_AND, parse_not);
}

static CondType parse_or(Parser *ps)
{
	if (++ps->depth > DEPTH_MOST)
		return fault(ps, ps->tok.at, "brackets nest too deep", (Str){0});
	CondType t = parse_joined(ps, "or", CO_OR, parse_and);
	ps->depth--;
	return t;
}

bool cond_parse(Cond *c, Arena *a, const Pattern *p, Str text, Buf *why, uint32_t *at)
{
	Parser ps = {.c = c, .a = a, .p = p, .s = text, .why = why, .at = at};
	*c = (Cond){.text = text};
	*at = 0;
	if (text.n > COND_TEXT)
		fault(&ps, 0, "the condition is longer than 2000 bytes", (Str){0});
	next(&ps);
	CondType t = why->n ? TY_BAD : parse_or(&ps);
	if (t != TY_BAD && ps.tok.kind != TK_END)
		fault(&ps, ps.tok.at, "not understood:", ps.tok.text.n ? ps.tok.text : str_sub(text, ps.tok.at, text.n));
	else if (t != TY_BAD && t != TY_T)
		fault(&ps, 0, "a condition asks something: compare it, or use a predicate that says yes or no", (Str){0});
	if (why->n)
		cond_free(c);
	return why->n == 0;
}

void cond_free(Cond *c)
{
	for (uint32_t i = 0; i < c->regexes.n; i++) {
		pcre2_code_free(c->regexes.v[i].code);
		c->regexes.v[i].code = NULL;
	}
	c->regexes.n = 0;
}
