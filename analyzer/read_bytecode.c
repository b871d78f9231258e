/* SPDX-License-Identifier: MIT
 * read_bytecode: a listing of `dis`, CPython 3.8 to 3.14 (Lib/dis.py), as torch/_dynamo/convert_frame.py logs it
 * below a header, as traces hold it without one, and as dis.dis prints it with nested code objects. */
#include "read.h"

#include "bytecode.h"

/* A line taken apart. */
typedef struct Line {
	Str op, repr;
	uint32_t num[2], nnum; /* numbers before the opcode */
	bool beside; /* one blank between the last number and the opcode */
	bool marked; /* a label or "--" stands before the opcode */
	uint32_t label, arg;
	bool has_arg, open; /* open: the argument goes on in the next lines */
} Line;

typedef struct Cursor {
	Str s;
	uint32_t at;
} Cursor;

static bool at_end(const Cursor *c)
{
	return c->at >= c->s.n;
}

static char peek(const Cursor *c)
{
	return at_end(c) ? '\0' : c->s.p[c->at];
}

static uint32_t skip_blanks(Cursor *c)
{
	uint32_t from = c->at;
	while (peek(c) == ' ' || peek(c) == '\t')
		c->at++;
	return c->at - from;
}

static bool take(Cursor *c, Str word)
{
	if (!str_starts(str_sub(c->s, c->at, c->s.n), word))
		return false;
	c->at += word.n;
	return true;
}

static bool take_number(Cursor *c, uint32_t *out)
{
	uint32_t from = c->at;
	while (peek(c) >= '0' && peek(c) <= '9')
		c->at++;
	if (from == c->at || !str_to_u32(str_sub(c->s, from, c->at), out)) {
		c->at = from;
		return false;
	}
	return true;
}

/* "L12:" before an instruction; labels count from 1. */
static bool take_label(Cursor *c, uint32_t *out)
{
	uint32_t from = c->at;
	if (take(c, S("L")) && take_number(c, out) && take(c, S(":")))
		return true;
	c->at = from;
	return false;
}

static Str take_opcode(Cursor *c)
{
	uint32_t from = c->at;
	while ((peek(c) >= 'A' && peek(c) <= 'Z') ||
	       (c->at > from && (peek(c) == '_' || (peek(c) >= '0' && peek(c) <= '9'))))
		c->at++;
	return str_sub(c->s, from, c->at);
}

/* What stands before the opcode: line number or "--", "-->", ">>", label, offset, in the order of their columns. */
static bool take_columns(Cursor *c, Line *l)
{
	for (;;) {
		uint32_t blanks = skip_blanks(c), number;
		l->beside = l->nnum && blanks == 1;
		if (take(c, S("-->")) || take(c, S(">>")))
			continue;
		if (take(c, S("--"))) {
			l->marked = true;
		} else if (take_label(c, &l->label)) {
			l->marked = true;
		} else if (take_number(c, &number)) {
			if (l->nnum == 2)
				return false;
			l->num[l->nnum++] = number;
		} else {
			return true;
		}
	}
}

/* Is this an instruction? A line whose parenthesis does not close is one, too. */
static bool parse_line(Str s, Line *l)
{
	Cursor c = {.s = str_rtrim(s)};
	*l = (Line){0};
	if (!take_columns(&c, l))
		return false;
	l->op = take_opcode(&c);
	if (l->op.n < 2 || (!at_end(&c) && !skip_blanks(&c)))
		return false;
	if (at_end(&c))
		return true;
	l->has_arg = take_number(&c, &l->arg);
	if (!l->has_arg || at_end(&c))
		return l->has_arg;
	if (!skip_blanks(&c) || !take(&c, S("(")))
		return false;
	l->repr = str_sub(c.s, c.at, c.s.n);
	l->open = !str_ends(l->repr, S(")"));
	if (!l->open)
		l->repr.n--;
	return true;
}

static bool take_place(Cursor *c, uint32_t *out)
{
	take(c, S("L"));
	return take_number(c, out);
}

/* "  4 to 20 -> 30 [1] lasti", with labels from 3.13 on. */
static bool parse_guard(Str s, RawGuard *g)
{
	Cursor c = {.s = str_trim(s)};
	*g = (RawGuard){0};
	if (!take_place(&c, &g->from) || !take(&c, S(" to ")) || !take_place(&c, &g->to) ||
	    !take(&c, S(" -> ")) || !take_place(&c, &g->target) || !take(&c, S(" [")) ||
	    !take_number(&c, &g->depth) || !take(&c, S("]")))
		return false;
	g->lasti = str_ends(c.s, S(" lasti"));
	return g->lasti || at_end(&c);
}

/* ---- a listing ---- */

typedef struct Listing {
	Reader *r;
	const Text *text;
	VEC(RawIns) ins;
	VEC(RawGuard) guards;
	bool labels; /* jumps by label */
	bool open; /* the argument of the last instruction is not closed */
	bool may_go_on; /* it may go on in the next lines: a constant whose repr has newlines */
	bool in_table; /* below ExceptionTable: */
	bool damaged;
	uint32_t repr_at; /* where that argument begins in the text */
	uint32_t line; /* current source line */
} Listing;

/* Offsets stand before every opcode up to 3.12, with one blank between; later only line numbers stand there. */
static bool has_labels(Str s)
{
	uint32_t all = 0, numbered = 0, beside = 0;
	Str line;
	while (str_cut(&s, '\n', &line)) {
		Line l;
		if (!parse_line(line, &l))
			continue;
		all++;
		numbered += l.nnum && !l.marked;
		beside += l.nnum && !l.marked && l.beside;
	}
	return !(numbered > all / 2 && beside > numbered / 2);
}

/* N of "to N", "to L1". */
static uint32_t jump_target(const Listing *ls, Str repr)
{
	Cursor c = {.s = repr};
	uint32_t to;
	if (!take(&c, S("to ")))
		return 0;
	bool label = take(&c, S("L"));
	if (label != ls->labels || !take_number(&c, &to) || to == UINT32_MAX)
		return 0;
	return ls->labels ? to : to + 1;
}

static void unread(Listing *ls, uint32_t at, uint32_t end, const char *why)
{
	ls->damaged = true;
	diag_unread(ls->r->diags, text_span(ls->text, at, end), "%s", why);
}

static bool is_constant(Str op)
{
	uint32_t n;
	const OpRow *row = op_rows(op, &n);
	return row && (row->act == ACT_CONST || row->act == ACT_KW_NAMES ||
	               (row->act == ACT_RETURN && row->k));
}

static void add_instruction(Listing *ls, const Line *l, uint32_t at, uint32_t end)
{
	RawIns i = {.op = l->op,
	            .arg = l->arg,
	            .has_arg = l->has_arg,
	            .repr = l->repr,
	            .label = l->label,
	            .at = text_offset(ls->text, at),
	            .end = text_offset(ls->text, end)};
	if (ls->labels) {
		if (l->nnum)
			ls->line = l->num[0];
	} else if (l->nnum) {
		i.offset = l->num[l->nnum - 1];
		if (l->nnum == 2)
			ls->line = l->num[0];
	} else {
		unread(ls, at, end, "an instruction without its offset");
	}
	i.line = ls->line;
	i.to = jump_target(ls, l->repr);
	VEC_PUSH(ls->r->scratch, &ls->ins, i);
	ls->open = l->open;
	ls->may_go_on = l->open || (l->repr.n && is_constant(l->op));
	ls->repr_at = l->repr.n ? (uint32_t)(l->repr.p - ls->text->s.p) : 0;
	ls->in_table = false;
}

/* The argument of the last instruction reaches to the end of this line. */
static void go_on(Listing *ls, uint32_t end)
{
	RawIns *last = &ls->ins.v[ls->ins.n - 1];
	Str repr = str_rtrim(str_sub(ls->text->s, ls->repr_at, end));
	ls->open = !str_ends(repr, S(")"));
	if (!ls->open)
		repr.n--;
	last->repr = repr;
	last->end = text_offset(ls->text, end);
}

static bool is_elision(Str t)
{
	return str_starts(t, S("...")) || str_starts(t, S("[..."));
}

static void add_gap(Listing *ls, uint32_t at, uint32_t end)
{
	RawIns gap = {.gap = true,
	              .line = ls->line,
	              .at = text_offset(ls->text, at),
	              .end = text_offset(ls->text, end)};
	VEC_PUSH(ls->r->scratch, &ls->ins, gap);
	ls->open = ls->may_go_on = false;
	unread(ls, at, end, "instructions are left out here");
}

static bool is_header(Str t)
{
	static const Str starts[] = {STR_INIT("ORIGINAL BYTECODE"), STR_INIT("MODIFIED BYTECODE"),
	                             STR_INIT("WON'T CONVERT"), STR_INIT("due to:")};
	for (uint32_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (str_starts(t, starts[i]))
			return true;
	return false;
}

static void read_line(Listing *ls, uint32_t at, uint32_t end)
{
	Str s = str_sub(ls->text->s, at, end), t = str_trim(s);
	Line l;
	RawGuard g;
	if (!t.n)
		return;
	/* Within an argument that is still open, only a known opcode is one. */
	uint32_t rows;
	if (parse_line(s, &l) && (!ls->open || op_rows(l.op, &rows))) {
		add_instruction(ls, &l, at + (uint32_t)(t.p - s.p), at + (uint32_t)(t.p - s.p) + t.n);
	} else if (str_eq(t, S("ExceptionTable:"))) {
		ls->in_table = true;
		ls->open = ls->may_go_on = false;
	} else if (ls->in_table && parse_guard(t, &g)) {
		VEC_PUSH(ls->r->scratch, &ls->guards, g);
	} else if (is_elision(t) && !ls->open) {
		add_gap(ls, at, end);
	} else if (ls->may_go_on) {
		go_on(ls, end);
	} else if (ls->ins.n || !is_header(t)) {
		unread(ls, at, end,
		       ls->in_table ? "a row of the exception table"
		                    : "a line of bytecode that is no instruction");
	}
}

static void tell_faults(Listing *ls, const Code *c, uint32_t fault)
{
	Reader *r = ls->r;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->ins[i].row->op == OP_UNKNOWN)
			diag_unread(r->diags, ins_span(c, &c->ins[i]),
			            "opcode " STR_FMT " is of no CPython from 3.8 to 3.14",
			            STR_ARG(sym_str(r->program->names, c->ins[i].name)));
	if (fault != INS_NONE)
		diag_unread(r->diags, ins_span(c, &c->ins[fault]),
		            "a jump to a place that the listing does not show");
}

/* One code object: text [at, end). NULL when there is no instruction in it. */
static Code *read_listing(Reader *r, const Text *text, uint32_t at, uint32_t end)
{
	Listing ls = {.r = r, .text = text, .labels = has_labels(str_sub(text->s, at, end))};
	while (at < end) {
		uint32_t stop = str_find_char(text->s, '\n', at);
		if (stop > end)
			stop = end;
		read_line(&ls, at, stop);
		at = stop + 1;
	}
	if (!ls.ins.n)
		return NULL;
	uint32_t fault;
	CodeArenas to = {r->keep, r->scratch, r->program->names, r->program->texts, &r->program->arrays};
	Code *c = code_build(&to, ls.ins.v, ls.ins.n, ls.guards.v, ls.guards.n, ls.labels, &fault);
	c->file = text->file;
	c->incomplete |= ls.damaged;
	tell_faults(&ls, c, fault);
	return c;
}

/* ---- frames ---- */

static const Str nested = STR_INIT("Disassembly of ");

/* Start of the next nested code object of dis.dis at or behind `from`. */
static uint32_t next_nested(Str s, uint32_t from)
{
	for (uint32_t at = str_find(s, nested, from); at < s.n; at = str_find(s, nested, at + 1))
		if (at == 0 || s.p[at - 1] == '\n')
			return at;
	return s.n;
}

static void name_nested(Reader *r, Frame *f, Str head)
{
	Str name, file;
	uint32_t line;
	if (!code_object_parse(str_sub(head, nested.n, head.n), &name, &file, &line))
		return;
	f->name = sym_intern(r->program->names, name);
	f->file = sym_intern(r->program->names, file);
	f->first_line = line;
}

static bool set_code(Reader *r, Frame *f, const Text *text, uint32_t at, uint32_t end)
{
	Code *c = read_listing(r, text, at, end);
	f->code = c;
	if (c && c->truncated)
		diag_truncated(r->diags, ins_span(c, &c->ins[c->n - 1]),
		               "bytecode of " STR_FMT " ends early",
		               STR_ARG(sym_str(r->program->names, f->name)));
	return c != NULL;
}

void read_bytecode(Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	uint32_t at = next_nested(text->s, 0), first = r->program->frames.n;
	read_frame_header(r, id, art);
	set_code(r, &r->program->frames.v[first], text, 0, at);
	while (at < text->s.n) {
		uint32_t end = next_nested(text->s, at + 1), line = str_find_char(text->s, '\n', at);
		Frame f = r->program->frames.v[first];
		name_nested(r, &f, str_sub(text->s, at, line));
		f.at = text_offset(text, at);
		f.end = text_offset(text, line);
		if (set_code(r, &f, text, line, end))
			VEC_PUSH(r->program->a, &r->program->frames, f);
		at = end;
	}
}
