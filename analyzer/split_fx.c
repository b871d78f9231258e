/* SPDX-License-Identifier: MIT */
#include "split_fx.h"

#include "split_text.h"

/* Lines longer than this were not written by hand; looking at every byte of them would only cost
 * time. */
enum { HAND_WRITTEN = 4096, SIGN_HEAD = 256 };

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static Str ident_at(Str s, uint32_t at)
{
	uint32_t i = at;
	while (i < s.n && char_is_ident((unsigned char)s.p[i]))
		i++;
	return str_sub(s, at, i);
}

static uint32_t skip_blanks(Str s, uint32_t i)
{
	while (i < s.n && s.p[i] == ' ')
		i++;
	return i;
}

static uint32_t skip_string(Str s, uint32_t i)
{
	char q = s.p[i++];
	while (i < s.n && s.p[i] != q)
		i += s.p[i] == '\\' ? 2 : 1;
	return i < s.n ? i + 1 : s.n;
}

bool fx_line_open(Str s, bool code)
{
	int64_t depth = 0;
	for (uint32_t i = 0; i < s.n;) {
		char c = s.p[i];
		if (c == '"' || c == '\'') {
			i = skip_string(s, i);
			continue;
		}
		if (c == '#' && code)
			break;
		depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
		i++;
	}
	return depth > 0;
}

/* ";  x = y = None" at the end: nodes whose last use this line is. */
static bool has_deletion(Str s)
{
	if (!str_ends(s, S(" = None")))
		return false;
	for (uint32_t i = s.n - 7; i-- > 0;)
		if (s.p[i] == ';')
			return s.p[i + 1] == ' ' && s.p[i + 2] == ' ';
		else if (!char_is_ident((unsigned char)s.p[i]) && s.p[i] != ' ' && s.p[i] != '=')
			return false;
	return false;
}

/* Callees that FX prints inside the arguments of another call: constants. */
static bool is_constant_call(Str s, uint32_t open)
{
	static const Str names[] = {STR_INIT("slice"), STR_INIT("device"), STR_INIT("range"),
	                            STR_INIT("Size"), STR_INIT("getattr")};
	uint32_t from = open;
	while (from && char_is_ident((unsigned char)s.p[from - 1]))
		from--;
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(str_sub(s, from, open), names[i]))
			return true;
	return false;
}

/* Would FX print this expression as the value of one node? One call, no method of a call's
 * result, no f-string, no word operators. In a `return`: no calls but those of pytrees, no
 * operators at all. */
static bool is_one_node(Str s, bool returned)
{
	static const Str words[] = {STR_INIT("if"),     STR_INIT("else"), STR_INIT("for"),
	                            STR_INIT("lambda"), STR_INIT("and"),  STR_INIT("or"),
	                            STR_INIT("not"),    STR_INIT("in"),   STR_INIT("await")};
	uint32_t calls = 0;
	if (s.n > HAND_WRITTEN)
		return true;
	for (uint32_t i = 0; i < s.n;) {
		char c = s.p[i];
		if (c == '"' || c == '\'') {
			i = skip_string(s, i);
		} else if (c == '#') {
			break;
		} else if (is_alpha(c)) {
			Str w = ident_at(s, i);
			for (uint32_t k = 0; k < sizeof words / sizeof *words; k++)
				if (str_eq(w, words[k]))
					return false;
			i += w.n;
			if (i < s.n && (s.p[i] == '"' || s.p[i] == '\'') && (w.p[0] == 'f' || w.p[0] == 'F'))
				return false;
			if (i < s.n && s.p[i] == '(' && !is_constant_call(s, i))
				calls++;
		} else if (c == ':' && i + 1 < s.n && s.p[i + 1] == '=') {
			return false;
		} else if (c == ')' && i + 1 < s.n && s.p[i + 1] == '.') {
			return false;
		} else if (returned && memchr("+*/@<>%&|^", c, 10)) {
			return false;
		} else {
			i++;
		}
	}
	return calls <= 1;
}

static bool is_plain_return(Str s)
{
	s = str_ltrim(str_sub(s, 6, s.n));
	if (str_starts(s, S("pytree.")) || str_starts(s, S("self._")))
		return true;
	return is_one_node(s, true) &&
	       !(s.n <= HAND_WRITTEN &&
	         (str_has(s, S("(self")) || (is_alpha(s.n ? s.p[0] : ' ') && str_has(s, S("(")))));
}

static bool fx_word(Str w, FxKind *kind)
{
	static const struct {
		Str text;
		FxKind kind;
	} words[] = {
#define FX_WORD(text, kind) {STR_INIT(text), FX_##kind},
#include "fx_words.def"
#undef FX_WORD
	};
	for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(w, words[i].text)) {
			*kind = words[i].kind;
			return true;
		}
	return false;
}

static FxLine value_line(Str s, uint32_t at, Str name, bool dotted)
{
	FxLine l = {.kind = FX_STATEMENT, .name = dotted ? (Str){0} : name};
	l.strong = has_deletion(s);
	l.weak = dotted || !is_one_node(str_sub(s, at, s.n), false);
	return l;
}

/* NAME: "f32[2]" = ..., NAME: f32[2] = ..., NAME : torch.Tensor = ..., NAME: "f32[2]"; NAME:
 * "f32[3]" */
static FxLine annotated_line(Str s, uint32_t at, Str name, bool dotted)
{
	static const Str dtypes = STR_INIT("bfiuc");
	at = skip_blanks(s, at);
	FxLine l = {.kind = FX_STATEMENT, .name = name, .strong = has_deletion(s)};
	if (at == s.n)
		return (FxLine){.kind = FX_OTHER};
	if (s.p[at] == '"' || s.p[at] == '\'') {
		l.strong |= !dotted;
		return l;
	}
	uint32_t i = at;
	Str type = ident_at(s, at);
	i += type.n;
	if (i < s.n && ((s.p[i] == '[' && type.n && memchr(dtypes.p, type.p[0], dtypes.n)) ||
	                (s.p[i] == '(' && str_eq(type, S("Sym"))))) {
		l.strong = true;
		return l;
	}
	uint32_t eq = str_find(s, S(" = "), at);
	if (eq == s.n)
		return (FxLine){.kind = FX_OTHER};
	l.weak = dotted || !is_one_node(str_sub(s, eq + 3, s.n), false);
	return l;
}

/* a, b, = fx_pytree.tree_flatten_spec(...): torch puts a comma before the sign, people do not. */
static FxLine tuple_line(Str s, uint32_t at)
{
	bool comma = false;
	for (uint32_t i = at; i < s.n; i++) {
		char c = s.p[i];
		if (c == '=')
			return (FxLine){.kind = FX_STATEMENT, .strong = comma, .weak = !comma};
		if (c == ',')
			comma = true;
		else if (char_is_ident((unsigned char)c))
			comma = false;
		else if (c != ' ')
			break;
	}
	return (FxLine){.kind = FX_OTHER};
}

static bool is_augmented(Str s, uint32_t at)
{
	uint32_t i = at;
	while (i < s.n && i < at + 2 && memchr("+-*/%&|^@<>", s.p[i], 11))
		i++;
	return i > at && i < s.n && s.p[i] == '=' &&
	       !(i == at + 1 && (s.p[at] == '<' || s.p[at] == '>'));
}

/* x[...] = v; the store may stand far behind. */
static FxLine store_line(Str s, uint32_t at)
{
	FxLine l = {.kind = FX_STATEMENT, .strong = has_deletion(s)};
	uint32_t eq = str_find(s, S("] = "), at);
	if (eq == s.n && !str_has(s, S("= ")))
		l.kind = FX_OTHER;
	l.weak = !l.strong && eq == s.n;
	return l;
}

static FxLine call_line(Str s, uint32_t at, Str path)
{
	FxLine l = {.kind = FX_STATEMENT, .strong = has_deletion(s)};
	bool profiler = str_starts(path, S("_rf")) &&
	                (str_ends(path, S("__enter__")) || str_ends(path, S("__exit__")));
	l.strong |= profiler;
	l.weak = !profiler && !str_ends(path, S(".clear"));
	if (!str_ends(s, S(")")) && !l.strong &&
	    !fx_line_open(str_sub(s, at, s.n < at + HAND_WRITTEN ? s.n : at + HAND_WRITTEN), true))
		l.kind = FX_OTHER;
	return l;
}

static FxLine comment_line(Str s)
{
	Str head = str_sub(s, 0, SIGN_HEAD);
	return (FxLine){.kind = FX_COMMENT,
	                .strong =
	                    str_has(head, S(" File: ")) || str_has(head, S("# No stacktrace found"))};
}

static FxLine named_line(Str s)
{
	Str name = ident_at(s, 0);
	uint32_t i = name.n;
	FxKind kind;
	if (fx_word(name, &kind)) {
		char next = i < s.n ? s.p[i] : ' ';
		if (next == '=' ||
		    (next == ' ' && i + 1 < s.n && s.p[i + 1] == '=')) /* not a keyword after all */
			return (FxLine){.kind = FX_USER};
		return (FxLine){.kind = kind, .weak = kind == FX_RETURN && !is_plain_return(s)};
	}
	bool dotted = false;
	while (i + 1 < s.n && s.p[i] == '.' && is_alpha(s.p[i + 1])) {
		dotted = true;
		i += 1 + ident_at(s, i + 1).n;
	}
	Str path = str_sub(s, 0, i);
	uint32_t at = skip_blanks(s, i);
	char c = at < s.n ? s.p[at] : '\0';
	if (c == '=' && at + 1 < s.n && s.p[at + 1] != '=')
		return value_line(s, at + 1, name, dotted);
	if (c == ':' && at + 1 < s.n && s.p[at + 1] == ' ')
		return annotated_line(s, at + 1, name, dotted);
	if (c == ',')
		return tuple_line(s, at);
	if (c == '[' && at == i)
		return store_line(s, at);
	if (c == '(' && at == i)
		return call_line(s, at, path);
	if (c && is_augmented(s, at))
		return (FxLine){.kind = FX_STATEMENT, .strong = has_deletion(s)};
	return (FxLine){.kind = FX_OTHER};
}

FxLine fx_line(Str s)
{
	for (uint32_t n; s.n && (n = clean_control(s, 0));)
		s = str_ltrim(str_sub(s, n, s.n));
	if (!s.n)
		return (FxLine){.kind = FX_COMMENT};
	char c = s.p[0];
	if (c == '#')
		return comment_line(s);
	if (is_alpha(c))
		return named_line(s);
	if (str_starts(s, S("...")) || str_starts(s, S("[...")))
		return (FxLine){.kind = FX_ELISION};
	if (str_eq(s, S("\"\"\"")))
		return (FxLine){.kind = FX_BLOCK};
	if (c == '[' &&
	    str_has(s, S("]# "))) /* [key: value]# File: ... of print_readable(additional_meta=...) */
		return (FxLine){.kind = FX_COMMENT, .strong = true};
	return (FxLine){.kind = c == '@' || c == '"' || c == '\'' ? FX_USER : FX_OTHER};
}

/* ---- headers ---- */

bool fx_class_line(Str line, Str *before, Str *name, uint32_t *at)
{
	Str s = str_rtrim(line);
	if (!str_ends(s, S("Module):")))
		return false;
	uint32_t open = s.n;
	while (open && s.p[open - 1] != '(')
		open--;
	Str base = str_sub(s, open, s.n - 2);
	if (!open || !(str_eq(base, S("torch.nn.Module")) || str_eq(base, S("nn.Module")) ||
	               str_eq(base, S("Module"))))
		return false;
	s = str_sub(s, 0, open - 1);
	uint32_t word = str_rfind(s, S("class "));
	if (word == s.n || (word && s.p[word - 1] != ' ' && s.p[word - 1] != '\t' &&
	                    (unsigned char)s.p[word - 1] != 0xa0))
		return false;
	*before = str_trim(str_sub(s, 0, word));
	*name = str_trim(str_sub(s, word + 6, s.n));
	*at = word;
	/* quoted source in a comment, a prompt or a string is no class */
	return name->n && str_find_char(*before, '#', 0) == before->n &&
	       !str_ends(*before, S("code:")) && str_find_char(*before, '"', 0) == before->n &&
	       !str_starts(*before, S(">>>")) && str_find_char(*name, ' ', 0) == name->n;
}

bool fx_class_known(Str name)
{
	static const Str names[] = {STR_INIT("GraphModule"),    STR_INIT("<lambda>"),
	                            STR_INIT("&lt;lambda&gt;"), STR_INIT("Repro"),
	                            STR_INIT("FxModule"),       STR_INIT("joint_helper"),
	                            STR_INIT("joint_fn"),       STR_INIT("inner_f")};
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(name, names[i]))
			return true;
	return str_starts(name, S("CompiledAutograd"));
}

bool fx_def_line(Str line, bool *open)
{
	Str s = str_trim(line);
	if (!str_starts(s, S("def forward(")))
		return false;
	*open = str_eq(s, S("def forward("));
	return true;
}
