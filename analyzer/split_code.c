/* SPDX-License-Identifier: MIT
 * Bytecode listings: `dis` of CPython 3.8 to 3.14 below a header of
 * torch/_dynamo/convert_frame.py. */
#include "split_block.h"

enum { LOOK_AHEAD = 20, OPEN_MOST = 256, RUN_LEAST = 3 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static uint32_t skip_blanks(Str s, uint32_t i)
{
	while (i < s.n && s.p[i] == ' ')
		i++;
	return i;
}

/* Line number, "--", current mark, jump mark, label, offset: what may stand before the name. */
static uint32_t skip_column(Str s, uint32_t i)
{
	uint32_t from = i;
	while (i < s.n && is_digit(s.p[i]))
		i++;
	if (i == from && str_starts(str_sub(s, i, s.n), S("-->")))
		i += 3;
	else if (i == from &&
	         (str_starts(str_sub(s, i, s.n), S("--")) || str_starts(str_sub(s, i, s.n), S(">>"))))
		i += 2;
	else if (i + 1 < s.n && i == from && s.p[i] == 'L' && is_digit(s.p[i + 1])) {
		i++;
		while (i < s.n && is_digit(s.p[i]))
			i++;
		if (i == s.n || s.p[i] != ':')
			return from;
		i++;
	}
	return i > from && (i == s.n || s.p[i] == ' ') ? skip_blanks(s, i) : from;
}

bool code_is_instruction(Str s, Str *op)
{
	uint32_t i = 0;
	for (uint32_t k = 0; k < 4; k++)
		i = skip_column(s, i);
	uint32_t from = i;
	while (i < s.n &&
	       ((s.p[i] >= 'A' && s.p[i] <= 'Z') || s.p[i] == '_' || (i > from && is_digit(s.p[i]))))
		i++;
	*op = str_sub(s, from, i);
	if (op->n < 3 || s.p[from] == '_' || (i < s.n && s.p[i] != ' '))
		return false;
	i = skip_blanks(s, i);
	from = i;
	while (i < s.n && is_digit(s.p[i]))
		i++;
	if (i == s.n)
		return true;
	i = i > from ? skip_blanks(s, i) : s.n;
	return i < s.n && s.p[i] == '(';
}

/* ---- headers ---- */

/* "bigbird /srv/scenarios.py line 12", in August 2022 without the word. Only names in <> hold
 * blanks. */
static bool split_header(Str s, Str *name, Str *file, uint32_t *line)
{
	s = str_trim(s);
	uint32_t end = s.n;
	while (end && is_digit(s.p[end - 1]))
		end--;
	if (end == s.n || !end || s.p[end - 1] != ' ' || !str_to_u32(str_sub(s, end, s.n), line))
		return false;
	s = str_rtrim(str_sub(s, 0, end));
	if (str_ends(s, S(" line")))
		s = str_rtrim(str_sub(s, 0, s.n - 5));
	uint32_t at = str_find_char(s, ' ', 0);
	if (s.n && s.p[0] == '<') {
		uint32_t depth = 0, i = 0;
		do
			depth += (s.p[i] == '<') - (s.p[i] == '>');
		while (++i < s.n && depth);
		at = i;
	}
	*name = str_sub(s, 0, at);
	*file = str_trim(str_sub(s, at, s.n));
	return name->n && file->n;
}

static const Str original = STR_INIT("ORIGINAL BYTECODE"), modified = STR_INIT("MODIFIED BYTECODE"),
				 wont = STR_INIT("WON'T CONVERT");

static Str header_rest(Str s)
{
	Str word = str_starts(s, wont) ? wont : original;
	return str_trim(str_sub(s, word.n, s.n));
}

bool code_is_header(Str s)
{
	Str name, file;
	uint32_t line;
	if (!str_starts(s, original) && !str_starts(s, modified) && !str_starts(s, wont))
		return false;
	Str rest = header_rest(s);
	return split_header(rest, &name, &file, &line) || (!rest.n && !str_starts(s, wont));
}

/* ---- listings ---- */

static bool is_instruction_line(Block *b, uint32_t i)
{
	Str t, op;
	line_indent(block_line(b, i), &t);
	return t.n && code_is_instruction(t, &op);
}

/* The next instruction within `most` lines, before anything else begins. */
static bool comes_again(Block *b, uint32_t i, uint32_t most)
{
	for (uint32_t k = i; k < b->n && k < i + most; k++) {
		Str t;
		line_indent(block_line(b, k), &t);
		if (head_is_hard(head_of(t)))
			return false;
		if (is_instruction_line(b, k))
			return true;
	}
	return false;
}

/* Rows of the exception table: "  4 to 20 -> 30 [1] lasti". */
static bool is_exception_row(Str t)
{
	return str_eq(t, S("ExceptionTable:")) ||
	       (str_has(t, S(" to ")) && str_has(t, S(" -> ")) && str_has(t, S("[")));
}

static bool is_elision(Str t)
{
	return str_starts(t, S("...")) || str_starts(t, S("[..."));
}

typedef struct Listing {
	Extent e;
	bool ends; /* its last instruction may be the last of a frame */
	bool compiled; /* calls what Dynamo makes */
	uint32_t instructions;
	uint32_t usual; /* of them, with names that most instructions of any listing have */
} Listing;

static bool starts_any(Str s, const Str *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_starts(s, v[i]))
			return true;
	return false;
}

/* The op may be the last of a frame: what follows is not missing. */
static bool may_end(Str op)
{
	static const Str starts[] = {STR_INIT("RETURN_"), STR_INIT("RAISE"), STR_INIT("RERAISE"),
	                             STR_INIT("JUMP_"), STR_INIT("INTERPRETER_EXIT")};
	return starts_any(op, starts, sizeof starts / sizeof *starts);
}

/* Upper-case words are no listing: lists of keywords, headings. */
static bool is_usual(Str op)
{
	static const Str starts[] = {STR_INIT("LOAD_"),   STR_INIT("STORE_"), STR_INIT("CALL"),
	                             STR_INIT("POP_"),    STR_INIT("BUILD_"), STR_INIT("BINARY_"),
	                             STR_INIT("RETURN_"), STR_INIT("RESUME")};
	return starts_any(op, starts, sizeof starts / sizeof *starts);
}

static void note_instruction(Listing *l, Str t, Str op)
{
	l->instructions++;
	l->usual += is_usual(op);
	l->ends = may_end(op);
	if (!l->compiled && str_find_char(t, '_', 0) < t.n)
		l->compiled = str_has(t, S("__compiled_fn_")) || str_has(t, S("__resume_at_"));
}

/* Lines from i on. Two empty lines end a listing; text that is no instruction continues an
 * argument whose brackets are open (objects print over several lines), or is foreign. */
static void walk(Block *b, uint32_t i, Listing *l)
{
	uint32_t blanks = 0;
	bool open = false;
	for (; i < b->n; i++) {
		Str t, op;
		line_indent(block_line(b, i), &t);
		if (!t.n) {
			blanks++;
			continue;
		}
		if (code_is_instruction(t, &op)) {
			if (blanks >= 2 && !open && l->instructions)
				break;
			note_instruction(l, t, op);
			open = str_find_char(t, '(', 0) < t.n && !str_ends(t, S(")")) &&
			       comes_again(b, i + 1, OPEN_MOST);
		} else if (head_is_hard(head_of(t)) && !(b->whole && open)) {
			break;
		} else if (is_elision(t)) {
			open = false;
		} else if (!b->whole && !open && !is_exception_row(t)) {
			if (!comes_again(b, i, LOOK_AHEAD))
				break;
			VEC_PUSH(b->scratch, &l->e.gaps, ((Gap){i, i + 1}));
			continue;
		}
		blanks = 0;
		l->e.end = i + 1;
	}
}

static void set_frame(Block *b, Artifact *a, Str head)
{
	Str name, file;
	uint32_t line;
	if (split_header(header_rest(head), &name, &file, &line)) {
		a->name = b->frame_name = block_keep(b, name);
		a->code_file = b->frame_file = block_keep(b, file);
		a->code_line = b->frame_line = line;
		if (!str_starts(head, wont) && !str_has(head, S(" line ")))
			a->torch = (VersionSpan){113, 113};
		return;
	}
	a->name = b->frame_name;
	a->code_file = b->frame_file;
	a->code_line = b->frame_line;
	a->torch = (VersionSpan){113, 113};
}

/* A run of instructions without a header: of a listing whose beginning was cut off, or somebody
 * else's `dis`. */
static bool is_worth(Block *b, uint32_t i, const Listing *l)
{
	bool listing = l->instructions >= RUN_LEAST && l->usual * 2 >= l->instructions;
	return listing && (l->compiled || b->whole || i == 0);
}

uint32_t code_cut(Block *b, uint32_t i)
{
	Str head;
	line_indent(block_line(b, i), &head);
	bool has_header = code_is_header(head), is_wont = str_starts(head, wont);
	Listing l = {.e = {.from = i, .end = has_header ? i + 1 : i}};
	walk(b, has_header ? i + 1 : i, &l);
	uint32_t next = l.e.end > i ? l.e.end : i + 1;
	if (has_header ? is_wont && !l.instructions : !is_worth(b, i, &l))
		return next;
	line_indent(block_line(b, i), &head);
	bool is_modified = has_header ? str_starts(head, modified) : l.compiled;
	Artifact *a =
		block_add(b, is_modified ? ART_BYTECODE_MODIFIED : ART_BYTECODE_ORIGINAL, i, &l.e);
	a->open_end = !l.ends;
	a->cut_head = !has_header;
	if (has_header)
		set_frame(b, a, head);
	return next;
}
