/* SPDX-License-Identifier: MIT */
#include "template.h"

typedef enum { T_END, T_TEXT, T_NAME, T_OPEN, T_CLOSE, T_BAD } Kind;

typedef struct Token {
	Kind kind;
	Str text; /* of T_TEXT and T_NAME */
} Token;

static bool at_pair(Str t, uint32_t at, char c)
{
	return at + 1 < t.n && t.p[at] == c && t.p[at + 1] == c;
}

static bool ends_text(Str t, uint32_t at)
{
	return t.p[at] == '{' || t.p[at] == '}' || at_pair(t, at, '[') || at_pair(t, at, ']');
}

static Token name_token(Str t, uint32_t *at)
{
	uint32_t end = str_find_char(t, '}', *at);
	Str name = str_sub(t, *at + 1, end);
	*at = end + 1;
	return (Token){end < t.n && str_is_ident(str_starts(name, S("$")) ? str_sub(name, 1, name.n) : name) ? T_NAME : T_BAD, name};
}

static Token next_token(Str t, uint32_t *at)
{
	if (*at >= t.n)
		return (Token){T_END, {0}};
	uint32_t from = *at;
	if (at_pair(t, from, '[') || at_pair(t, from, ']')) {
		*at += 2;
		return (Token){t.p[from] == '[' ? T_OPEN : T_CLOSE, {0}};
	}
	if (at_pair(t, from, '{') || at_pair(t, from, '}')) {
		*at += 2;
		return (Token){T_TEXT, str_sub(t, from, from + 1)};
	}
	if (t.p[from] == '{')
		return name_token(t, at);
	if (t.p[from] == '}') {
		*at += 1;
		return (Token){T_BAD, {0}};
	}
	while (*at < t.n && !ends_text(t, *at))
		++*at;
	return (Token){T_TEXT, str_sub(t, from, *at)};
}

static bool bad(Buf *why, const char *text)
{
	buf_add(why, str_from_c(text));
	return false;
}

bool template_check(Str t, bool (*known)(Str name), Buf *why, Str *name)
{
	bool open = false;
	uint32_t at = 0;
	*name = (Str){0};
	for (;;) {
		Token k = next_token(t, &at);
		switch (k.kind) {
		case T_END: return !open || bad(why, "[[ without ]]");
		case T_TEXT: break;
		case T_BAD: return bad(why, "a brace that is no {name}; write {{ or }} for a brace");
		case T_OPEN:
			if (open)
				return bad(why, "[[ inside [[ ]]");
			open = true;
			break;
		case T_CLOSE:
			if (!open)
				return bad(why, "]] without [[");
			open = false;
			break;
		case T_NAME:
			if (known(k.text))
				break;
			*name = k.text;
			buf_printf(why, "unknown name {" STR_FMT "}", STR_ARG(k.text));
			return false;
		}
	}
}

void template_fill(Str t, void (*value)(void *ctx, Str name, Buf *out), void *ctx, Buf *out)
{
	uint32_t at = 0, start = 0; /* start: where an optional part began in `out` */
	bool open = false, missing = false;
	for (;;) {
		Token k = next_token(t, &at);
		uint32_t before = out->n;
		switch (k.kind) {
		case T_END: return;
		case T_BAD: break;
		case T_TEXT: buf_add(out, k.text); break;
		case T_OPEN:
			start = before;
			open = true;
			missing = false;
			break;
		case T_CLOSE:
			if (open && missing)
				out->n = start;
			open = false;
			break;
		case T_NAME:
			value(ctx, k.text, out);
			missing |= out->n == before;
			break;
		}
	}
}
