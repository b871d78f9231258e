/* SPDX-License-Identifier: MIT
 * print_tabular: Graph.print_tabular in torch/fx/graph.py of PyTorch 1.13 to 2.15, and the TRACED
 * GRAPH records of torchdynamo 2022, 2.0 and the artifact `graph` of 2.1 and 2.2, which hold the
 * same table. It is made by the package tabulate in its format "simple": columns padded with
 * blanks, two blanks between them.
 *
 *  opcode         name    target                                        args        kwargs
 *  -------------  ------  --------------------------------------------  ----------  --------
 *  placeholder    x       x                                             ()          {}
 *  call_function  relu    <built-in method relu of type object at 0x7>  (x,)        {}
 *  output         output  output                                        ((relu,),)  {}
 *
 * Cells are str() of Python objects. A cell with line ends in it goes over several lines, in its
 * column. */
#include "read.h"

#include "read_fx.h"

enum { COLUMNS = 5, MOST_LINES = 20 /* of a row that was wrapped */ };

typedef struct Table {
	FxReader f;
	uint32_t start[COLUMNS]; /* first character of each column, in code points */
	bool columns; /* the line of dashes was read */
	uint32_t widest; /* code points of the longest line: where a terminal wrapped the others */
} Table;

/* A row as it is tried: one line, or several joined. */
typedef struct RowText {
	Str s;
	uint32_t at, end; /* bytes of the text that it covers */
	uint32_t base; /* where s stands in the text; UINT32_MAX: s was joined */
	uint32_t fault;
	const char *why;
} RowText;

static bool fail(RowText *t, uint32_t at, const char *why)
{
	t->fault = at;
	t->why = why;
	return false;
}

static uint32_t skip_blanks(Str s, uint32_t i)
{
	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\t'))
		i++;
	return i;
}

static uint32_t word_end(Str s, uint32_t i)
{
	while (i < s.n && s.p[i] != ' ' && s.p[i] != '\n' && s.p[i] != '\t')
		i++;
	return i;
}

static bool is_first_byte(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static uint32_t code_points(Str s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s.n; i++)
		n += is_first_byte(s.p[i]);
	return n;
}

/* Byte of the code point number n; s.n when the text is shorter. */
static uint32_t byte_of(Str s, uint32_t n)
{
	uint32_t i = 0;
	for (; i < s.n; i++)
		if (is_first_byte(s.p[i]) && n-- == 0)
			break;
	return i;
}

static Str line_at(Str s, uint32_t at, uint32_t *next)
{
	uint32_t end = str_find_char(s, '\n', at);
	*next = end < s.n ? end + 1 : s.n;
	return str_rtrim(str_sub(s, at, end));
}

/* ---- one row ---- */

/* Where the cell of the arguments begins: it opens a bracket, behind two blanks unless the row was
 * wrapped there. */
static uint32_t args_at(const Table *t, const RowText *r, uint32_t target)
{
	Str s = r->s;
	if (t->columns && r->base != UINT32_MAX) {
		uint32_t i = byte_of(s, t->start[3]);
		if (i >= target + 2 && i < s.n && s.p[i] == '(' && s.p[i - 1] == ' ' && s.p[i - 2] == ' ')
			return i;
	}
	bool object = target < s.n && s.p[target] == '<';
	uint32_t i = skip_blanks(s, object ? target_object_end(s, target) : word_end(s, target));
	if (i < s.n && s.p[i] == '(')
		return i;
	i = str_find(s, S("  ("), target);
	return i == s.n ? i : i + 2;
}

static Target row_target(Table *t, FxOp op, Str node, Str cell)
{
	static const uint8_t callees[] = {CALLEE_NONE,   CALLEE_NONE,   CALLEE_NONE, CALLEE_FUNCTION,
	                                  CALLEE_METHOD, CALLEE_MODULE, CALLEE_NONE};
	if (op == FX_CALL_FUNCTION)
		return target_of_object(cell, node, t->f.r->scratch);
	while (op == FX_PLACEHOLDER && cell.n && cell.p[0] == '*')
		cell = str_sub(cell, 1, cell.n);
	return (Target){(Callee)callees[op], cell};
}

/* The one value of an output row: args is a tuple that holds it. */
static bool read_output(Table *t, RowText *r, Arg args, FxRow *row)
{
	FxReader *f = &t->f;
	if (args.kind != AR_TUPLE || args.n != 1 || f->values.parts.n != 1)
		return fail(r, f->values.fault_at, "the output has another number of arguments than one");
	uint32_t at = f->values.parts.v[0].at;
	fx_statement(f);
	if (!fx_value(f, VALUE_REPR, r->s, &at, &args)) /* again, for the places of its members */
		return fail(r, f->values.fault_at, fx_fault(f));
	fx_output(f, args, r->base, row->at, row->end);
	return true;
}

static bool read_row(Table *t, RowText *r)
{
	FxReader *f = &t->f;
	Str s = r->s;
	FxRow row = {.at = r->at, .end = r->end};
	uint32_t op_end = word_end(s, 0), name = skip_blanks(s, op_end), name_end = word_end(s, name);
	row.op = fx_op(str_sub(s, 0, op_end));
	row.name = str_sub(s, name, name_end);
	if (!row.name.n || value_name_end(s, name) != name_end)
		return fail(r, name, "no name of a node");
	uint32_t target = skip_blanks(s, name_end), at = args_at(t, r, target);
	if (at == s.n)
		return fail(r, target, "the row is cut off before its arguments");
	row.target = row_target(t, row.op, row.name, str_trim(str_sub(s, target, at)));
	Arg args, kwargs;
	fx_statement(f);
	if (!fx_value(f, VALUE_REPR, s, &at, &args))
		return fail(r, f->values.fault_at, fx_fault(f));
	if (row.op == FX_OUTPUT)
		return read_output(t, r, args, &row);
	at = skip_blanks(s, at);
	if (at == s.n || s.p[at] != '{')
		return fail(r, at, "the row is cut off before its keyword arguments");
	if (!fx_value(f, VALUE_REPR, s, &at, &kwargs))
		return fail(r, f->values.fault_at, fx_fault(f));
	if (skip_blanks(s, at) != s.n)
		return fail(r, at, "text behind the keyword arguments");
	if (row.op != FX_PLACEHOLDER) /* its argument is a default value */
		row.args = fx_join_args(f, &args, &kwargs, &row.nargs);
	fx_add(f, &row);
	return true;
}

/* ---- rows over several lines ---- */

/* An opcode and a name. */
static bool begins_row(Str line)
{
	uint32_t end = word_end(line, 0), name = skip_blanks(line, end),
			 name_end = value_name_end(line, name);
	return fx_op(str_sub(line, 0, end)) != FX_NONE && name_end > name &&
	       (name_end == line.n || line.p[name_end] == ' ');
}

/* The lines behind a row's first that begin no other row: end of the last one. A line can be blank
 * where a wide gap between cells was cut. */
static uint32_t following_lines(Str s, uint32_t next)
{
	for (uint32_t lines = 1; lines < MOST_LINES && next < s.n; lines++) {
		uint32_t after;
		Str line = line_at(s, next, &after);
		if (begins_row(str_sub(line, skip_blanks(line, 0), line.n)))
			break;
		next = after;
	}
	return next;
}

/* A terminal cut the row at its width. A line shorter than that lost blanks at the cut: the gap
 * between two cells. */
static Str join_wrapped(Table *t, uint32_t at, uint32_t end)
{
	Buf b = {.a = t->f.r->scratch};
	uint32_t next, indent = skip_blanks(line_at(t->f.text->s, at, &next), 0);
	for (; at < end; at = next) {
		Str line = line_at(t->f.text->s, at, &next);
		uint32_t blanks = skip_blanks(line, 0), lost = t->widest - code_points(line);
		buf_add(&b, str_sub(line, blanks < indent ? blanks : indent, line.n));
		for (uint32_t i = 0; i < lost && i < 2; i++)
			buf_char(&b, ' ');
	}
	return str_trim(buf_str(&b));
}

/* tabulate's own lines: what stands in a column belongs to one cell. */
static Str join_cells(Table *t, uint32_t at, uint32_t end)
{
	Buf b = {.a = t->f.r->scratch};
	for (uint32_t c = 0; c < COLUMNS; c++) {
		for (uint32_t i = at, next; i < end; i = next) {
			Str line = line_at(t->f.text->s, i, &next);
			uint32_t from = byte_of(line, t->start[c]);
			Str cell =
				str_trim(c + 1 < COLUMNS ? str_sub(line, from, byte_of(line, t->start[c + 1]))
			                             : str_sub(line, from, line.n));
			if (cell.n && i > at)
				buf_char(&b, ' ');
			buf_add(&b, cell);
		}
		buf_add(&b, S("  "));
	}
	return str_trim(buf_str(&b));
}

static bool read_joined(Table *t, const RowText *one, uint32_t line, uint32_t after)
{
	Str (*const join[])(Table *, uint32_t, uint32_t) = {join_wrapped, join_cells};
	for (uint32_t i = 0; i < (t->columns ? 2 : 1); i++) {
		RowText r = {.s = join[i](t, line, after), .at = one->at, .base = UINT32_MAX};
		r.end = one->at + str_rtrim(str_sub(t->f.text->s, one->at, after)).n;
		if (r.s.n <= t->f.r->cfg->limits.statement_bytes && read_row(t, &r))
			return true;
	}
	return false;
}

static void unread_row(Table *t, const RowText *r)
{
	uint32_t op = word_end(r->s, 0), name = skip_blanks(r->s, op), end = value_name_end(r->s, name);
	Str rest = str_sub(r->s, end, r->s.n);
	if (fx_op(str_sub(r->s, 0, op)) == FX_OUTPUT)
		fx_unread_output(&t->f, rest, r->at, r->end, r->at + r->fault, r->why);
	else
		fx_unread(&t->f, VALUE_REPR, rest, str_sub(r->s, name, end), r->at, r->end,
		          r->at + r->fault, r->why);
}

/* The row in the line that begins at `at`. Returns where the next one begins. */
static uint32_t read_lines(Table *t, uint32_t at)
{
	Str s = t->f.text->s;
	uint32_t next;
	Str line = line_at(s, at, &next);
	uint32_t indent = skip_blanks(line, 0);
	RowText one = {.s = str_sub(line, indent, line.n),
	               .at = at + indent,
	               .end = at + line.n,
	               .base = at + indent};
	if (one.s.n > t->f.r->cfg->limits.statement_bytes) {
		fail(&one, 0, "row is longer than the limit and was not read");
	} else {
		if (read_row(t, &one))
			return next;
		uint32_t after = following_lines(s, next);
		if (after > next && read_joined(t, &one, at, after))
			return after;
	}
	unread_row(t, &one);
	return next;
}

/* ---- the table ---- */

/* `-------------  ------  ------`: where the columns begin. */
static bool read_dashes(Table *t, Str line)
{
	uint32_t n = 0, i = skip_blanks(line, 0), indent = i;
	while (i < line.n && n < COLUMNS) {
		uint32_t end = word_end(line, i);
		for (uint32_t k = i; k < end; k++)
			if (line.p[k] != '-')
				return false;
		t->start[n++] = i - indent;
		i = skip_blanks(line, end);
	}
	return t->columns = n == COLUMNS && i == line.n;
}

static void measure(Table *t)
{
	Str s = t->f.text->s;
	for (uint32_t at = 0, next; at < s.n; at = next) {
		uint32_t n = code_points(line_at(s, at, &next));
		if (n > t->widest)
			t->widest = n;
	}
}

/* Anything that is no row: the header, blank lines, and text of others, which is told once a row
 * was read. */
static void read_other(Table *t, uint32_t at, Str line)
{
	uint32_t indent = skip_blanks(line, 0);
	bool begun = t->f.g->nodes.n > 1;
	if (indent == line.n || (!begun && (read_dashes(t, line) || !t->columns)))
		return;
	fx_unread(&t->f, VALUE_REPR, line, (Str){0}, at + indent, at + line.n, 0,
	          "text between the rows of a table");
}

void read_graph_table(Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	Table t = {0};
	fx_begin(&t.f, r, id, art, text);
	measure(&t);
	if (art->cut_head) {
		t.f.g->incomplete = true;
		diag_unread(r->diags, (Span){art->file, art->at, art->end}, "the header of this table is not in the dump");
	}
	for (uint32_t at = 0, next; at < text->s.n && !t.f.returned && !t.f.full; at = next) {
		Str line = line_at(text->s, at, &next);
		if (begins_row(str_sub(line, skip_blanks(line, 0), line.n)))
			next = read_lines(&t, at);
		else
			read_other(&t, at, line);
	}
	fx_end(&t.f);
}
