/* SPDX-License-Identifier: MIT */
#include "read_value.h"

#include <stdlib.h>

#include "read_target.h"

enum {
	DEEPEST =
		250, /* walks over arguments have stacks of 512, and a bracket can become two levels */
	LONGEST_STRING = 4096, /* of a string that begins like a bracket */
	MOST_JOINED = 16 /* parts of an equation */
};

ValueReader value_reader(Names *names, Graph *g, const Map *nodes, Arena *scratch,
                         uint32_t max_nesting)
{
	return (ValueReader){.names = names,
	                     .g = g,
	                     .nodes = nodes,
	                     .scratch = scratch,
	                     .max_nesting = max_nesting < DEEPEST ? max_nesting : DEEPEST};
}

/* ---- characters and words ---- */

static char at_char(Str s, uint32_t i)
{
	return i < s.n ? s.p[i] : 0;
}

static uint32_t skip_blanks(Str s, uint32_t i)
{
	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\t' || s.p[i] == '\r'))
		i++;
	return i;
}

uint32_t value_name_end(Str s, uint32_t at)
{
	while (at < s.n && char_is_ident((unsigned char)s.p[at]))
		at++;
	return at;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts_name(char c)
{
	return char_is_ident((unsigned char)c) && !is_digit(c);
}

static uint32_t dotted_end(Str s, uint32_t at)
{
	at = value_name_end(s, at);
	while (at_char(s, at) == '.' && starts_name(at_char(s, at + 1)))
		at = value_name_end(s, at + 1);
	return at;
}

static char closer(char open)
{
	return open == '(' ? ')' : open == '[' ? ']' : '}';
}

static bool opens(char c)
{
	return c == '(' || c == '[' || c == '{';
}

static bool closes(char c)
{
	return c == ')' || c == ']' || c == '}';
}

/* ---- leaves ---- */

static Arg arg_sym(ArgKind kind, Sym s)
{
	return (Arg){.kind = (uint8_t)kind, .u.sym = s};
}

static Arg arg_word(ValueReader *v, ArgKind kind, Str s)
{
	return arg_sym(kind, sym_intern(v->names, s));
}

/* End of the number that begins at s.p[at]; at when there is none. */
static uint32_t number_end(Str s, uint32_t at, bool *fraction)
{
	uint32_t i = at + (at_char(s, at) == '-' || at_char(s, at) == '+'), digits = i;
	*fraction = false;
	while (is_digit(at_char(s, i)))
		i++;
	bool any = i > digits;
	if (at_char(s, i) == '.') {
		*fraction = true;
		for (i++; is_digit(at_char(s, i)); i++)
			any = true;
	}
	if (!any)
		return at;
	if (at_char(s, i) == 'e' || at_char(s, i) == 'E') {
		uint32_t e = i + 1;
		e += at_char(s, e) == '-' || at_char(s, e) == '+';
		if (is_digit(at_char(s, e))) {
			*fraction = true;
			for (i = e; is_digit(at_char(s, i));)
				i++;
		}
	}
	return i;
}

static Arg number_arg(ValueReader *v, Str s, bool fraction)
{
	int64_t i;
	if (!fraction && str_to_i64(s, &i))
		return (Arg){.kind = AR_INT, .u.num = i};
	char c[64], *end;
	if (fraction && s.n < sizeof c) {
		memcpy(c, s.p, s.n);
		c[s.n] = 0;
		double d = strtod(c, &end);
		if (end == c + s.n)
			return (Arg){.kind = AR_FLOAT, .u.real = d};
	}
	return arg_word(v, AR_NAME, s); /* too large */
}

/* Words that mean one thing in both forms. */
static bool constant_arg(ValueReader *v, Str w, Arg *out)
{
	bool fraction;
	if (str_eq(w, S("None")))
		*out = (Arg){.kind = AR_NONE};
	else if (str_eq(w, S("True")) || str_eq(w, S("False")))
		*out = (Arg){.kind = AR_BOOL, .u.num = w.p[0] == 'T'};
	else if (str_eq(w, S("Ellipsis")) || str_eq(w, S("...")))
		*out = (Arg){.kind = AR_ELLIPSIS};
	else if (str_eq(w, S("inf")) || str_eq(w, S("-inf")) || str_eq(w, S("nan")) ||
	         str_eq(w, S("NotImplemented")))
		*out = arg_word(v, AR_NAME, w);
	else if (w.n && number_end(w, 0, &fraction) == w.n)
		*out = number_arg(v, w, fraction);
	else
		return false;
	return true;
}

static bool node_arg(const ValueReader *v, Str name, Arg *out)
{
	uint32_t id = map_get(v->nodes, sym_find(v->names, name).i);
	if (id)
		*out = (Arg){.kind = AR_NODE, .u.node = {id}};
	return id != 0;
}

static Arg unbound_arg(ValueReader *v, Str name)
{
	Arg a = arg_word(v, AR_NAME, name);
	VEC_PUSH(v->scratch, &v->unbound, a.u.sym);
	return a;
}

/* A name alone. In a repr, one without a dot can only be a node. */
static Arg name_arg(ValueReader *v, Str w)
{
	Arg a;
	if (constant_arg(v, w, &a) || node_arg(v, w, &a))
		return a;
	return str_find_char(w, '.', 0) == w.n ? unbound_arg(v, w) : arg_word(v, AR_NAME, w);
}

/* (1+2j), 2j: end of the complex number at s.p[at], or at. */
static uint32_t complex_end(Str s, uint32_t at)
{
	enum { LONGEST = 80 };
	bool paren = at_char(s, at) == '(';
	uint32_t i = at + paren, start = i;
	if (!is_digit(at_char(s, i)) && at_char(s, i) != '-' && at_char(s, i) != '+')
		return at;
	for (; i < s.n && i - start < LONGEST; i++) {
		char c = s.p[i];
		if (c == 'j' &&
		    (is_digit(s.p[i - 1]) || s.p[i - 1] == 'f' || s.p[i - 1] == 'n' || s.p[i - 1] == '.'))
			break;
		if (!is_digit(c) && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'i' && c != 'n' &&
		    c != 'f' && c != 'a')
			return at;
	}
	if (at_char(s, i) != 'j' || i == start || (paren && at_char(s, i + 1) != ')'))
		return at;
	return i + 1 + paren;
}

/* (1+2j) is what Python reads it as: a sum; 2j alone is kept as its text. */
static Arg complex_arg(ValueReader *v, Str s)
{
	if (s.p[0] != '(')
		return arg_word(v, AR_NAME, s);
	s = str_sub(s, 1, s.n - 1);
	uint32_t i = s.n - 1;
	while (i && ((s.p[i] != '+' && s.p[i] != '-') || s.p[i - 1] == 'e'))
		i--;
	Arg kids[2];
	if (!i || !constant_arg(v, str_sub(s, 0, i), &kids[0]))
		return arg_word(v, AR_NAME, s);
	kids[1] = arg_word(v, AR_NAME, str_sub(s, i + 1, s.n));
	return graph_compound(v->g, AR_EXPR, sym_intern(v->names, s.p[i] == '+' ? S("add") : S("sub")),
	                      kids, 2);
}

/* End of the string literal whose opening quote is s.p[at]; 0 when it does not end. */
static uint32_t string_end(Str s, uint32_t at)
{
	for (uint32_t i = at + 1; i < s.n; i++) {
		if (s.p[i] == '\\')
			i++;
		else if (s.p[i] == s.p[at])
			return i + 1;
	}
	return 0;
}

/* ---- compounds ---- */

static bool fail(ValueReader *v, ValueFault fault, uint32_t at)
{
	v->fault = fault;
	v->fault_at = at;
	return false;
}

static bool open_bracket(ValueReader *v, ArgKind kind, char close, Sym sym, Sym key, uint32_t at)
{
	if (v->open.n >= v->max_nesting)
		return fail(v, VALUE_TOO_DEEP, at);
	ValueOpen o = {.kind = (uint8_t)kind,
	               .close = close,
	               .sym = sym,
	               .key = key,
	               .base = v->items.n,
	               .at = at};
	VEC_PUSH(v->scratch, &v->open, o);
	return true;
}

static ArgKind bracket_kind(char open)
{
	return open == '(' ? AR_TUPLE : open == '[' ? AR_LIST : AR_DICT;
}

/* slice(a), slice(a, b), slice(a, b, c) */
static Arg slice_arg(ValueReader *v, const Arg *kids, uint32_t n)
{
	Arg none = {.kind = AR_NONE}, three[3] = {none, none, none};
	if (n == 1)
		three[1] = kids[0];
	for (uint32_t i = 0; n > 1 && i < n && i < 3; i++)
		three[i] = kids[i];
	return graph_compound(v->g, AR_SLICE, (Sym){0}, three, 3);
}

/* The innermost open bracket with its members becomes an argument. */
static Arg close_bracket(ValueReader *v)
{
	ValueOpen o = v->open.v[--v->open.n];
	uint32_t n = v->items.n - o.base;
	const Arg *kids = n ? v->items.v + o.base : NULL;
	Arg a;
	if (o.kind == AR_SLICE)
		a = slice_arg(v, kids, n);
	else if (o.kind == AR_TUPLE && n == 1 && !o.comma)
		a = kids[0];
	else if (o.kind == AR_DICT && !o.set && n % 2) /* a key without a value */
		a = graph_compound(v->g, AR_UNKNOWN, (Sym){0}, kids, n);
	else
		a = graph_compound(v->g, o.set ? AR_LIST : (ArgKind)o.kind, o.sym, kids, n);
	a.key = o.key;
	v->items.n = o.base;
	return a;
}

/* ---- text that is no value: strings of the raw form, reprs of unknown objects ---- */

/* Does a value or a key end here, in this form and inside this bracket? */
static bool ends_value(const ValueReader *v, ValueForm form, Str s, uint32_t i, bool in_key)
{
	char c = at_char(s, i);
	if (!v->open.n)
		return i >= s.n;
	if (c == v->open.v[v->open.n - 1].close)
		return true;
	if (c == ',' &&
	    form ==
	        VALUE_RAW) { /* ij,kj->ik is one string, and so is what follows a comma without blank */
		char next = at_char(s, i + 1);
		return next == ' ' || next == '\n' || next == 0 || next == v->open.v[v->open.n - 1].close;
	}
	return c == ',' || (in_key && c == ':' && (form == VALUE_REPR || at_char(s, i + 1) == ' '));
}

/* End of the text that begins at `at`: where, outside its own brackets, a value ends. */
static uint32_t text_end(const ValueReader *v, ValueForm form, Str s, uint32_t at, bool in_key)
{
	uint32_t depth = 0, i = at;
	for (; i < s.n; i++) {
		char c = s.p[i];
		if (!depth && ends_value(v, form, s, i, in_key))
			break;
		if (opens(c))
			depth++;
		else if (closes(c) && depth)
			depth--;
		else if (closes(c))
			break;
		else if (form == VALUE_REPR && (c == '\'' || c == '"')) {
			uint32_t end = string_end(s, i);
			i = end ? end - 1 : i;
		}
	}
	return i;
}

static bool in_word(Str s, uint32_t i)
{
	return i && char_is_ident((unsigned char)s.p[i - 1]);
}

uint32_t value_nodes(ValueReader *v, ValueForm form, Str s, const Arg **out)
{
	Map seen = {.a = v->scratch};
	VEC(Arg) found = {0};
	for (uint32_t i = 0; i < s.n;) {
		if (form == VALUE_REPR && (s.p[i] == '\'' || s.p[i] == '"')) {
			uint32_t end = string_end(s, i);
			i = end ? end : i + 1;
			continue;
		}
		bool marked = s.p[i] == '%';
		uint32_t at = i + marked, end = value_name_end(s, at);
		Arg a;
		if (end > at && (marked || form == VALUE_REPR) && !in_word(s, at) &&
		    at_char(s, i ? i - 1 : s.n) != '.' && node_arg(v, str_sub(s, at, end), &a) &&
		    !map_get(&seen, a.u.node.i)) {
			map_put(&seen, a.u.node.i, 1);
			VEC_PUSH(v->scratch, &found, a);
		}
		i = end > i ? end : i + 1;
	}
	*out = found.v;
	return found.n;
}

/* The text s[at..end) could not be read as a value; `head` is what was read of it, NULL nothing. */
static Arg unknown_arg(ValueReader *v, Str s, uint32_t at, uint32_t end, ValueForm form,
                       const Arg *head)
{
	const Arg *named;
	uint32_t n = value_nodes(v, form, str_sub(s, at, end), &named);
	Arg *kids = NEW_N(v->scratch, Arg, n + 1);
	uint32_t k = 0;
	if (head && (head->kind == AR_NODE || head->n)) {
		kids[k] = *head;
		kids[k++].key = (Sym){0};
	}
	for (uint32_t i = 0; i < n; i++)
		kids[k++] = named[i];
	return graph_compound(v->g, AR_UNKNOWN, (Sym){0}, kids, k);
}

/* ---- the two forms ---- */

typedef enum Step { STEP_VALUE, STEP_OPENED, STEP_FAILED } Step;

/* A name, a call or an object of a repr. */
static Step repr_name(ValueReader *v, Str s, uint32_t *at, Sym key, Arg *out)
{
	uint32_t end = dotted_end(s, *at);
	Str name = str_sub(s, *at, end);
	if (at_char(s, end) == '(') {
		bool slice = str_eq(name, S("slice"));
		Sym sym = slice ? (Sym){0} : sym_intern(v->names, name);
		uint32_t start = *at;
		*at = end + 1;
		return open_bracket(v, slice ? AR_SLICE : AR_CALL, ')', sym, key, start) ? STEP_OPENED
		                                                                         : STEP_FAILED;
	}
	char q = at_char(s, end);
	if ((q == '\'' || q == '"') && name.n <= 2) { /* b'..' */
		uint32_t close = string_end(s, end);
		if (!close)
			return STEP_FAILED;
		*out = arg_word(v, AR_STR, str_sub(s, end + 1, close - 1));
		*at = close;
		return STEP_VALUE;
	}
	*out = name_arg(v, name);
	*at = end;
	return STEP_VALUE;
}

/* A leaf of a repr, or an opened bracket. Sets nothing when the text begins like no value. */
static Step repr_step(ValueReader *v, Str s, uint32_t *at, Sym key, Arg *out)
{
	uint32_t i = *at, end;
	char c = at_char(s, i);
	bool fraction;
	if ((end = complex_end(s, i)) > i) {
		*out = complex_arg(v, str_sub(s, i, end));
	} else if (opens(c)) {
		*at = i + 1;
		return open_bracket(v, bracket_kind(c), closer(c), (Sym){0}, key, i) ? STEP_OPENED
		                                                                     : STEP_FAILED;
	} else if (c == '\'' || c == '"') {
		end = string_end(s, i);
		*out = arg_word(v, AR_STR, str_sub(s, i + 1, end ? end - 1 : 0));
	} else if (c == '<') {
		end = target_object_end(s, i);
		*out = arg_word(v, AR_NAME, target_object_name(str_sub(s, i, end), v->scratch));
	} else if (starts_name(c)) {
		return repr_name(v, s, at, key, out);
	} else if (str_starts(str_sub(s, i, s.n), S("..."))) {
		end = i + 3;
		*out = (Arg){.kind = AR_ELLIPSIS};
	} else if (str_starts(str_sub(s, i, s.n), S("-inf"))) {
		end = i + 4;
		*out = arg_word(v, AR_NAME, S("-inf"));
	} else {
		end = number_end(s, i, &fraction);
		*out = number_arg(v, str_sub(s, i, end), fraction);
	}
	if (end <= i)
		return STEP_FAILED;
	*at = end;
	return STEP_VALUE;
}

/* slice(...) and range(...) inside the raw form hold a repr. */
static bool raw_call(ValueReader *v, Str w, Arg *out)
{
	if (!str_starts(w, S("slice(")) && !str_starts(w, S("range(")))
		return false;
	ValueReader inner =
		value_reader(v->names, v->g, v->nodes, v->scratch, v->max_nesting - v->open.n);
	uint32_t at = 0;
	bool ok = value_read(&inner, VALUE_REPR, w, &at, out) && at == w.n;
	for (uint32_t i = 0; ok && i < inner.unbound.n; i++)
		VEC_PUSH(v->scratch, &v->unbound, inner.unbound.v[i]);
	return ok;
}

/* What a word of the raw form means: a node, a constant, else a string. */
static Arg raw_word(ValueReader *v, Str w)
{
	Arg a;
	if (w.n > 1 && w.p[0] == '%' && value_name_end(w, 1) == w.n && starts_name(w.p[1])) {
		if (node_arg(v, str_sub(w, 1, w.n), &a))
			return a;
		return unbound_arg(v, str_sub(w, 1, w.n));
	}
	if (constant_arg(v, w, &a) || raw_call(v, w, &a))
		return a;
	if (w.n && w.p[0] == '<' && target_object_end(w, 0) == w.n)
		return arg_word(v, AR_NAME, target_object_name(w, v->scratch));
	if (w.n && complex_end(w, 0) == w.n)
		return complex_arg(v, w);
	if (str_starts(w, S("torch.")) && dotted_end(w, 0) == w.n)
		return arg_word(v, AR_NAME, w);
	return arg_word(v, AR_STR, w);
}

/* An equation with blanks, "b i d, b j d -> b i j", prints like several strings: they are joined
 * again. */
static Str join_equation(ValueReader *v, Str w, uint32_t base)
{
	if (!str_has(w, S("->")))
		return w;
	for (uint32_t i = 0; i < MOST_JOINED && v->items.n > base; i++) {
		const Arg *left = &v->items.v[v->items.n - 1];
		if (left->kind != AR_STR || !sym_none(left->key) ||
		    str_has(sym_str(v->names, left->u.sym), S("->")))
			break;
		w = str_printf(v->scratch, STR_FMT ", " STR_FMT, STR_ARG(sym_str(v->names, left->u.sym)),
		               STR_ARG(w));
		v->items.n--;
	}
	return w;
}

static Step raw_step(ValueReader *v, Str s, uint32_t *at, bool in_key, Arg *out)
{
	char c = at_char(s, *at);
	uint32_t end = complex_end(s, *at);
	if (opens(c) && end == *at) {
		uint32_t start = (*at)++;
		return open_bracket(v, bracket_kind(c), closer(c), (Sym){0}, (Sym){0}, start) ? STEP_OPENED
		                                                                              : STEP_FAILED;
	}
	end = text_end(v, VALUE_RAW, s, *at, in_key);
	Str w = str_sub(s, *at, end);
	bool list = v->open.n && v->open.v[v->open.n - 1].kind != AR_DICT;
	*out = raw_word(v, list ? join_equation(v, w, v->open.v[v->open.n - 1].base) : w);
	*at = end;
	return STEP_VALUE;
}

/* ---- the loop ---- */

/* The key before a value of a call: device(type='cpu'). */
static Sym read_key(ValueReader *v, Str s, uint32_t *at)
{
	if (!v->open.n || v->open.v[v->open.n - 1].kind != AR_CALL || !starts_name(at_char(s, *at)))
		return (Sym){0};
	uint32_t end = value_name_end(s, *at);
	if (at_char(s, end) != '=')
		return (Sym){0};
	Sym key = sym_intern(v->names, str_sub(s, *at, end));
	*at = end + 1;
	return key;
}

static bool expects_key(const ValueReader *v)
{
	const ValueOpen *o = v->open.n ? &v->open.v[v->open.n - 1] : NULL;
	return o && o->kind == AR_DICT && !o->set && (v->items.n - o->base) % 2 == 0;
}

/* Text behind a value up to where values may end: the whole is no value of a known form. */
static Arg with_tail(ValueReader *v, ValueForm form, Str s, uint32_t start, uint32_t *at, Arg value)
{
	uint32_t tail = *at;
	*at = text_end(v, form, s, tail, expects_key(v));
	Str whole = str_sub(s, start, *at);
	bool string = form == VALUE_RAW && whole.n <= LONGEST_STRING && !str_has(whole, S("%"));
	Arg a = string ? arg_word(v, AR_STR, whole) : unknown_arg(v, s, tail, *at, form, &value);
	a.key = value.key;
	return a;
}

/* A value is complete: it joins the members of the bracket around it, and what separates it from
 * the next is read. */
static bool add_value(ValueReader *v, ValueForm form, Str s, uint32_t start, uint32_t *at,
                      Arg value)
{
	ValueOpen *o = &v->open.v[v->open.n - 1];
	bool key = expects_key(v);
	*at = form == VALUE_REPR ? skip_blanks(s, *at) : *at;
	if (!ends_value(v, form, s, *at, key)) {
		value = with_tail(v, form, s, start, at, value);
		if (!ends_value(v, form, s, *at, key))
			return fail(v, VALUE_BAD, *at);
	}
	VEC_PUSH(v->scratch, &v->items, value);
	if (v->open.n == 1)
		VEC_PUSH(v->scratch, &v->parts, ((ValuePart){start, *at}));
	char c = at_char(s, *at);
	if (key && c != ':')
		o->set = true;
	if (c == ',') {
		o->comma = true;
		++*at;
	} else if (c == ':') {
		++*at;
	}
	return true;
}

/* The next leaf, or an opened bracket; a repr that begins like no value becomes an unknown one. */
static Step next_step(ValueReader *v, ValueForm form, Str s, uint32_t *at, Sym key, Arg *out)
{
	uint32_t start = *at;
	Step step =
		form == VALUE_RAW ? raw_step(v, s, at, expects_key(v), out) : repr_step(v, s, at, key, out);
	if (step == STEP_FAILED && v->fault == VALUE_FINE && v->open.n) {
		*at = text_end(v, form, s, start, expects_key(v));
		if (*at == start)
			return STEP_FAILED;
		*out = unknown_arg(v, s, start, *at, form, NULL);
		step = STEP_VALUE;
	}
	if (step == STEP_VALUE)
		out->key = key;
	return step;
}

bool value_read(ValueReader *v, ValueForm form, Str s, uint32_t *at, Arg *out)
{
	v->fault = VALUE_FINE;
	v->unbound.n = v->parts.n = v->items.n = v->open.n = 0;
	uint32_t i = *at;
	for (;;) {
		i = skip_blanks(s, i);
		uint32_t start = i;
		Arg value;
		if (v->open.n && at_char(s, i) == v->open.v[v->open.n - 1].close) {
			start = v->open.v[v->open.n - 1].at;
			value = close_bracket(v);
			i++;
		} else {
			Sym key = form == VALUE_REPR ? read_key(v, s, &i) : (Sym){0};
			Step step = next_step(v, form, s, &i, key, &value);
			if (step == STEP_FAILED)
				return v->fault == VALUE_FINE ? fail(v, VALUE_BAD, i) : false;
			if (step == STEP_OPENED)
				continue;
		}
		if (!v->open.n) {
			*out = value;
			*at = i;
			return true;
		}
		if (!add_value(v, form, s, start, &i, value))
			return false;
	}
}
