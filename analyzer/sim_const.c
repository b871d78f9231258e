/* SPDX-License-Identifier: MIT
 * sim_const: constants as dis of CPython 3.8 to 3.14 prints them: the repr of the object. */
#include "sim_host.h"

#include <stdlib.h>

typedef struct Open {
	uint8_t kind;  /* HeapKind */
	bool comma;    /* a comma was seen: (1,) is a tuple, (1+2j) a number */
	uint32_t at;   /* first item in Parse.items */
} Open;

typedef struct Parse {
	Sim *s;
	Str text;
	uint32_t i;
	VEC(Open) open;
	VEC(Ref) items;
} Parse;

static char peek(const Parse *p, uint32_t k)
{
	return p->i + k < p->text.n ? p->text.p[p->i + k] : '\0';
}

static bool at(const Parse *p, Str word)
{
	return str_starts(str_sub(p->text, p->i, p->text.n), word);
}

/* Behind the string literal at p->i, which has a quote at p->i + prefix. */
static uint32_t literal_end(const Parse *p, uint32_t prefix)
{
	uint32_t i = p->i + prefix;
	char quote = p->text.p[i++];
	while (i < p->text.n && p->text.p[i] != quote)
		i += p->text.p[i] == '\\' ? 2 : 1;
	return i < p->text.n ? i + 1 : p->text.n;
}

static Ref take_literal(Parse *p, uint32_t prefix)
{
	uint32_t end = literal_end(p, prefix);
	Str t = str_sub(p->text, p->i, end);
	p->i = end;
	return sim_const(p->s, t);
}

/* Letters before a quote: b'..', or none. */
static bool literal_at(const Parse *p, uint32_t *prefix)
{
	for (*prefix = 0; *prefix < 3; ++*prefix) {
		char c = peek(p, *prefix);
		if (c == '\'' || c == '"')
			return true;
		if (c != 'b' && c != 'B' && c != 'u' && c != 'r')
			return false;
	}
	return false;
}

/* ---- <...> ---- */

static Str between_quotes(Str t)
{
	uint32_t a = str_find_char(t, '\'', 0), b = str_find_char(t, '\'', a + 1);
	return a < t.n && b < t.n ? str_sub(t, a + 1, b) : (Str){0};
}

static Ref take_name(Sim *s, Str dotted)
{
	if (str_starts(dotted, S("builtins.")))
		dotted = str_sub(dotted, 9, dotted.n);
	return sim_name(s, host_sym(s, dotted));
}

/* <bound method Stack._make of <class 'program.Stack'>>: of a class it is known what it belongs to. */
static Ref bound_method(Sim *s, Str t)
{
	Str rest = str_sub(t, 14, t.n);
	uint32_t of = str_find(rest, S(" of "), 0);
	Str name = str_sub(rest, 0, of), self = str_sub(rest, of + 4, rest.n);
	uint32_t dot = str_rfind(name, S("."));
	if (dot >= name.n)
		return sim_const(s, t);
	Ref owner;
	if (str_starts(self, S("<class '"))) {
		owner = sim_name(s, host_sym(s, str_sub(name, 0, dot)));
	} else {
		owner = sim_unknown(s, hash_bytes(5, self.p, self.n));
		sim_obj(s, owner)->root = true;
		VEC_PUSH(s->a, &s->roots, owner);
	}
	return host_method(s, owner, host_sym(s, str_sub(name, dot + 1, name.n)));
}

static Ref angle_value(Sim *s, Str t)
{
	Str name, file;
	uint32_t line;
	if (code_object_parse(t, &name, &file, &line)) {
		Ref r = sim_new(s, HK_CODE);
		HeapObj *o = sim_obj(s, r);
		o->name = host_sym(s, name);
		o->num = line;
		o->repr = str_copy(s->a, t);
		return r;
	}
	if (str_starts(t, S("<bound method ")))
		return bound_method(s, t);
	static const Str quoted[] = {STR_INIT("<class '"), STR_INIT("<module '")};
	for (uint32_t i = 0; i < 2; i++)
		if (str_starts(t, quoted[i]))
			return take_name(s, between_quotes(t));
	static const Str functions[] = {STR_INIT("<built-in function "), STR_INIT("<built-in method "),
	                                STR_INIT("<function ")};
	for (uint32_t i = 0; i < 3; i++) {
		Str rest = str_sub(t, functions[i].n, t.n ? t.n - 1 : 0);
		if (str_starts(t, functions[i]))
			return take_name(s, str_sub(rest, 0, str_find(rest, S(" "), 0)));
	}
	return sim_const(s, t); /* <Action.NOTIFY: 2> and their like */
}

static Ref take_angle(Parse *p)
{
	uint32_t depth = 0, i = p->i;
	for (; i < p->text.n; i++) {
		char c = p->text.p[i];
		bool arrow = c == '>' && i && p->text.p[i - 1] == '-';
		depth += c == '<';
		if (c == '>' && !arrow && --depth == 0)
			break;
	}
	Str t = str_sub(p->text, p->i, i + 1);
	p->i = i < p->text.n ? i + 1 : p->text.n;
	return angle_value(p->s, t);
}

/* ---- numbers and names ---- */

static bool number_of(Sim *s, Str t, Ref *out)
{
	int64_t v;
	if (str_to_i64(t, &v)) {
		*out = sim_int(s, v);
		return true;
	}
	Str digits = str_starts(t, S("-")) ? str_sub(t, 1, t.n) : t;
	bool word = str_eq(digits, S("inf")) || str_eq(digits, S("nan"));
	bool starts = digits.n && ((digits.p[0] >= '0' && digits.p[0] <= '9') || digits.p[0] == '.');
	if ((!word && !starts) || t.n > 400)
		return false;
	for (uint32_t i = 0; i < digits.n && !word; i++)
		if (!memchr("0123456789.eE+-", digits.p[i], 15))
			return false; /* complex: a constant by its text */
	char *end, *text = str_to_c(s->scratch, t);
	double d = strtod(text, &end);
	if (*end)
		return false;
	bool integer = !word && !memchr(t.p, '.', t.n) && !memchr(t.p, 'e', t.n);
	*out = integer ? sim_number(s, term_text(s->terms, host_sym(s, t))) : sim_number(s, term_num(s->terms, d, 'f'));
	return true;
}

static bool is_dotted(Str t)
{
	for (uint32_t i = 0; i < t.n; i++)
		if (!char_is_ident((unsigned char)t.p[i]) && t.p[i] != '.')
			return false;
	return t.n && !(t.p[0] >= '0' && t.p[0] <= '9');
}

static Ref word_value(Sim *s, Str t)
{
	Ref r;
	if (str_eq(t, S("None")) || str_eq(t, S("True")) || str_eq(t, S("False")) || str_eq(t, S("Ellipsis")) ||
	    str_eq(t, S("...")))
		return sim_const(s, str_eq(t, S("...")) ? S("Ellipsis") : t);
	if (number_of(s, t, &r))
		return r;
	if (is_dotted(t))
		return sim_name(s, host_sym(s, t));
	return sim_const(s, t);
}

/* Up to a comma or a bracket that closes what is around it. */
static Ref take_word(Parse *p)
{
	uint32_t depth = 0, start = p->i, prefix;
	while (p->i < p->text.n) {
		char c = peek(p, 0);
		if (!depth && (c == ',' || c == ')' || c == '}' || c == ']'))
			break;
		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if (depth && (c == ')' || c == ']' || c == '}'))
			depth--;
		if (depth && (c == '\'' || c == '"')) {
			prefix = 0;
			p->i = literal_end(p, prefix);
			continue;
		}
		p->i++;
	}
	Str t = str_trim(str_sub(p->text, start, p->i));
	if (p->i == start)
		p->i++;
	return word_value(p->s, t);
}

/* ---- brackets ---- */

static void open_bracket(Parse *p, HeapKind kind, uint32_t skip)
{
	VEC_PUSH(p->s->scratch, &p->open, ((Open){.kind = (uint8_t)kind, .at = p->items.n}));
	p->i += skip;
}

static Ref close_bracket(Parse *p)
{
	Open o = p->open.v[--p->open.n];
	p->i += o.kind == HK_SET ? 2 : 1;
	uint32_t n = p->items.n - o.at;
	const Ref *v = n ? p->items.v + o.at : NULL; /* nothing was ever pushed: no array */
	p->items.n = o.at;
	if (o.kind == HK_TUPLE && n == 1 && !o.comma)
		return v[0];
	if (o.kind != HK_SLICE)
		return sim_list(p->s, (HeapKind)o.kind, v, n);
	Ref none = sim_none(p->s), three[3] = {n ? v[0] : none, n > 1 ? v[1] : none, n > 2 ? v[2] : none};
	return sim_list(p->s, HK_SLICE, three, 3);
}

/* The dict of a module's globals: up to its end, which is that of the text. Nothing is done with it. */
static Ref take_dict(Parse *p)
{
	uint32_t n = p->text.n < 64 ? p->text.n : 64;
	p->i = p->text.n;
	return host_opaque(p->s, term_text(p->s->terms, host_sym(p->s, str_sub(p->text, 0, n))));
}

/* Complex numbers are printed in parentheses; they are no tuples. */
static bool parenthesised_word(const Parse *p)
{
	uint32_t end = str_find_char(p->text, ')', p->i), i = p->i + 1;
	Str in = str_sub(p->text, i, end);
	return end < p->text.n && in.n && str_ends(in, S("j")) && !memchr(in.p, ',', in.n) && !memchr(in.p, '(', in.n);
}

/* False: a bracket was opened or a separator skipped, and there is no value yet. */
static bool take(Parse *p, Ref *out)
{
	char c = peek(p, 0);
	uint32_t prefix;
	bool open = p->open.n != 0;
	if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
		return p->i++, false;
	if (c == ',' && open) {
		p->open.v[p->open.n - 1].comma = true;
		return p->i++, false;
	}
	if (open && (c == ')' || c == '}'))
		*out = close_bracket(p);
	else if (c == '(' && !parenthesised_word(p))
		return open_bracket(p, HK_TUPLE, 1), false;
	else if (at(p, S("frozenset({")))
		return open_bracket(p, HK_SET, 11), false;
	else if (at(p, S("frozenset()")))
		p->i += 11, *out = sim_list(p->s, HK_SET, NULL, 0);
	else if (at(p, S("slice(")))
		return open_bracket(p, HK_SLICE, 6), false;
	else if (literal_at(p, &prefix))
		*out = take_literal(p, prefix);
	else if (c == '<')
		*out = take_angle(p);
	else if (c == '{')
		*out = take_dict(p);
	else
		*out = take_word(p);
	return true;
}

Ref host_constant(Sim *s, Machine *m, Str repr)
{
	Parse p = {.s = s, .text = str_trim(repr)};
	if (!p.text.n)
		return host_give_up(m, S("a constant that is not printed"));
	while (p.i < p.text.n) {
		Ref r;
		if (!take(&p, &r))
			continue;
		if (!p.open.n)
			return r;
		if (p.items.n >= HOST_ITEMS_MOST)
			break;
		VEC_PUSH(s->scratch, &p.items, r);
	}
	return host_give_up(m, S("a constant that is cut off"));
}
