/* SPDX-License-Identifier: MIT */
#include "read_words.h"

static bool digits_at(Str s, uint32_t at, uint32_t *end)
{
	uint32_t i = at;
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	*end = i;
	return i > at;
}

bool words_file_comment(Str s, SrcLoc *loc, Names *names, uint32_t *code_at)
{
	uint32_t last = str_rfind(s, S(", code: "));
	if (last == s.n)
		return false;
	for (uint32_t i = str_find_char(s, ':', 0); i < last; i = str_find_char(s, ':', i + 1)) {
		uint32_t e, line;
		if (!digits_at(s, i + 1, &e) || !str_to_u32(str_sub(s, i + 1, e), &line))
			continue;
		Str rest = str_sub(s, e, s.n);
		bool in = str_starts(rest, S(" in "));
		if (!in && !str_starts(rest, S(", code: ")))
			continue;
		uint32_t code = str_find(rest, S(", code: "), 0);
		loc->file = sym_intern(names, str_sub(s, 0, i));
		loc->line = line;
		loc->function = in ? sym_intern(names, str_sub(rest, 4, code)) : (Sym){0};
		*code_at = e + code + 8;
		return true;
	}
	return false;
}

bool words_is_known(Str s)
{
	static const Str known[] = {
		STR_INIT("inf"), STR_INIT("nan"), STR_INIT("NoneType"), STR_INIT("torch"), STR_INIT("device"),
		STR_INIT("fx_pytree"), STR_INIT("pytree"), STR_INIT("math"), STR_INIT("operator"), STR_INIT("builtins"),
		STR_INIT("_operator"), STR_INIT("Ellipsis"), STR_INIT("NotImplemented"), STR_INIT("numpy"), STR_INIT("np"),
		STR_INIT("torchvision"), STR_INIT("torchaudio"), STR_INIT("collections"), STR_INIT("einops"),
		STR_INIT("transformers"), STR_INIT("int"), STR_INIT("float"), STR_INIT("bool"), STR_INIT("str"),
		STR_INIT("object"), STR_INIT("complex"), STR_INIT("aten"), STR_INIT("prims")};
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(s, known[i]))
			return true;
	return s.n && s.p[0] == '<';
}

/* A name without the number at its end. */
static Str unnumbered(Str s)
{
	uint32_t i = s.n;
	while (i && s.p[i - 1] >= '0' && s.p[i - 1] <= '9')
		i--;
	return i < s.n && i > 1 && s.p[i - 1] == '_' ? str_sub(s, 0, i - 1) : s;
}

bool words_is_snake_case(Str name, Str target)
{
	uint32_t i = 0, k = 0;
	name = unnumbered(name);
	target = unnumbered(target);
	for (;; i++, k++) {
		while (i < name.n && name.p[i] == '_')
			i++;
		while (k < target.n && target.p[k] == '_')
			k++;
		if (i == name.n || k == target.n)
			return i == name.n && k == target.n;
		char t = target.p[k];
		if (name.p[i] != t && !(t >= 'A' && t <= 'Z' && name.p[i] == t - 'A' + 'a'))
			return false;
	}
}

uint32_t words_bare_type_end(Str s, uint32_t at)
{
	uint32_t depth = 0;
	for (; at < s.n; at++) {
		depth += s.p[at] == '[' || s.p[at] == '(';
		depth -= depth && (s.p[at] == ']' || s.p[at] == ')');
		if (!depth && (s.p[at] == ',' || s.p[at] == '=' || s.p[at] == ';'))
			break;
	}
	return at;
}

void words_mask_reprs(char *p, uint32_t n)
{
	char before = '(';
	for (uint32_t i = 0; i < n; i++) {
		if (p[i] == '\'' || p[i] == '"') {
			char q = p[i];
			for (i++; i < n && p[i] != q; i++)
				if (p[i] == '\\')
					i++;
			before = q;
			continue;
		}
		bool operand = before == '(' || before == ',' || before == '=' || before == '[' || before == ':';
		if (p[i] == '<' && operand && i + 1 < n && char_is_ident((unsigned char)p[i + 1])) {
			uint32_t e = i, depth = 0;
			for (; e < n && p[e] != '\n'; e++) {
				depth += p[e] == '<';
				if (p[e] == '>' && --depth == 0)
					break;
			}
			if (e < n && p[e] == '>') {
				p[i] = 'g';
				for (uint32_t k = i + 1; k <= e; k++)
					if (!char_is_ident((unsigned char)p[k]))
						p[k] = '_';
				i = e;
			}
		}
		if (i < n && p[i] != ' ')
			before = p[i];
	}
}
