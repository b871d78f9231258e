/* SPDX-License-Identifier: MIT
 * print(gm.graph): Graph.__str__ and Node.format_node in torch/fx/graph.py and torch/fx/node.py,
 * PyTorch 1.7 to 2.15.
 *
 *  graph():
 *      %x : torch.Tensor [num_users=2] = placeholder[target=L_x_]
 *      %add : [num_users=1] = call_function[target=operator.add](args = (%x, 1), kwargs = {})
 *      %w : [num_users=1] = get_attr[target=lin.weight]
 *      return (add,)
 * / */
#include "read.h"

#include "read_fx.h"

enum { MOST_LINES = 20 }; /* of a statement that was wrapped */

/* A statement: one line, or, when that does not parse alone, several joined. */
typedef struct Statement {
	Str s;
	uint32_t at, end; /* bytes of the text that it covers */
	uint32_t base; /* where s stands in the text; UINT32_MAX: s was joined */
	uint32_t fault; /* byte of s where reading stopped */
	const char *why;
} Statement;

static bool fail(Statement *st, uint32_t at, const char *why)
{
	st->fault = at;
	st->why = why;
	return false;
}

static uint32_t skip_blanks(Str s, uint32_t i)
{
	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t'))
		i++;
	return i;
}

/* Moves *at behind `word` and the blanks before it. */
static bool take(Str s, uint32_t *at, Str word)
{
	uint32_t i = skip_blanks(s, *at);
	if (!str_starts(str_sub(s, i, s.n), word))
		return false;
	*at = i + word.n;
	return true;
}

/* ---- one node ---- */

/* `[num_users=2]`, `[#users=2]` up to 2.0: the place where it begins, behind it in *end; s.n when
 * there is none. */
static uint32_t find_users(Str s, uint32_t from, uint32_t *end, bool *hash)
{
	for (uint32_t at = str_find_char(s, '[', from); at < s.n; at = str_find_char(s, '[', at + 1)) {
		uint32_t i = at + 1;
		*hash = take(s, &i, S("#users="));
		if (!*hash && !take(s, &i, S("num_users=")))
			continue;
		uint32_t digits = i;
		while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
			i++;
		if (i == digits || i == s.n || s.p[i] != ']')
			continue;
		*end = i + 1;
		return at;
	}
	return s.n;
}

/* [#users=N] was printed up to 2.0, [num_users=N] from 2.1 on. */
static void narrow_version(Graph *g, bool hash)
{
	if (hash && (!g->torch.hi || g->torch.hi > 200) && g->torch.lo <= 200)
		g->torch.hi = 200;
	if (!hash && g->torch.lo < 201 && (!g->torch.hi || g->torch.hi >= 201))
		g->torch.lo = 201;
}

/* What prints without quotes and yet is no string: a device, str() of which is cuda:0, and the
 * operator that a higher-order operator calls, str() of which leaves torch.ops out. The code form
 * has device(type='cuda', index=0) and torch.ops.aten.add.Tensor. */
static void restore_device(FxReader *f, Arg *a)
{
	Names *names = f->r->program->names;
	Str s = sym_str(names, a->u.sym);
	uint32_t colon = str_find_char(s, ':', 0);
	Arg kids[2] = {{.kind = AR_STR,
	                .key = sym_intern(names, S("type")),
	                .u.sym = sym_intern(names, str_sub(s, 0, colon))},
	               {.kind = AR_INT, .key = sym_intern(names, S("index"))}};
	bool index = colon < s.n && str_to_i64(str_sub(s, colon + 1, s.n), &kids[1].u.num);
	if (colon < s.n && !index)
		return;
	Sym key = a->key;
	*a = graph_compound(f->g, AR_CALL, sym_intern(names, S("device")), kids, 1 + index);
	a->key = key;
}

static void restore_operator(FxReader *f, Arg *a)
{
	Names *names = f->r->program->names;
	Str s = sym_str(names, a->u.sym);
	uint32_t dot = str_find_char(s, '.', 0), second = str_find_char(s, '.', dot + 1);
	if (!str_is_ident(str_sub(s, 0, dot)) || !str_is_ident(str_sub(s, dot + 1, second)) ||
	    !str_is_ident(str_sub(s, second + 1, s.n)))
		return;
	a->kind = AR_NAME;
	a->u.sym = sym_intern(names, str_printf(f->r->scratch, "torch.ops." STR_FMT, STR_ARG(s)));
}

static void restore_objects(FxReader *f, FxRow *row)
{
	bool higher = str_starts(row->target.name, S("torch.ops.higher_order."));
	Sym device = sym_intern(f->r->program->names, S("device"));
	for (uint32_t i = 0; i < row->nargs; i++) {
		if (row->args[i].kind != AR_STR)
			continue;
		if (sym_eq(row->args[i].key, device))
			restore_device(f, &row->args[i]);
		else if (higher)
			restore_operator(f, &row->args[i]);
	}
}

/* (args = (...), kwargs = {...}) */
static bool read_call_args(FxReader *f, Statement *st, uint32_t at, FxRow *row)
{
	Arg args, kwargs;
	if (!take(st->s, &at, S("(")) || !take(st->s, &at, S("args")) || !take(st->s, &at, S("=")))
		return fail(st, at, "no args after the target");
	at = skip_blanks(st->s, at);
	if (at == st->s.n || st->s.p[at] != '(')
		return fail(st, at, "args of no known form");
	if (!fx_value(f, VALUE_RAW, st->s, &at, &args))
		return fail(st, f->values.fault_at, fx_fault(f));
	if (!take(st->s, &at, S(",")) || !take(st->s, &at, S("kwargs")) || !take(st->s, &at, S("=")))
		return fail(st, at, "no kwargs after the args");
	at = skip_blanks(st->s, at);
	if (at == st->s.n || st->s.p[at] != '{')
		return fail(st, at, "kwargs of no known form");
	if (!fx_value(f, VALUE_RAW, st->s, &at, &kwargs))
		return fail(st, f->values.fault_at, fx_fault(f));
	if (!take(st->s, &at, S(")")) || skip_blanks(st->s, at) != st->s.n)
		return fail(st, at, "text behind the kwargs");
	row->args = fx_join_args(f, &args, &kwargs, &row->nargs);
	restore_objects(f, row);
	return true;
}

static Str without_stars(Str s)
{
	while (s.n && s.p[0] == '*')
		s = str_sub(s, 1, s.n);
	return s;
}

/* OP[target=T](args = ..., kwargs = ...), placeholder[target=T](default=V), get_attr[target=T] */
static bool read_operation(FxReader *f, Statement *st, uint32_t at, FxRow *row)
{
	Str s = st->s;
	uint32_t word = skip_blanks(s, at), open = value_name_end(s, word);
	if (take(s, &word, S("self."))) { /* get_attr of 1.7 */
		row->op = FX_GET_ATTR;
		row->target.name = str_sub(s, word, s.n);
		return row->target.name.n || fail(st, at, "no attribute behind self");
	}
	row->op = fx_op(str_sub(s, word, open));
	if (row->op == FX_NONE || row->op == FX_OUTPUT)
		return fail(st, word, "no opcode of a graph");
	uint32_t start = open;
	if (!take(s, &start, S("[target=")))
		return fail(st, open, "no target after the opcode");
	bool call = row->op != FX_PLACEHOLDER && row->op != FX_GET_ATTR;
	Str behind = call ? S("](args") : S("](default=");
	uint32_t close = str_find(s, behind, start);
	if (close == s.n) {
		if (call)
			return fail(st, start, "the target or the args are cut off");
		if (s.p[s.n - 1] != ']' || s.n - 1 < start)
			return fail(st, start, "the target is cut off");
		close = s.n - 1;
	}
	Str name = str_sub(s, start, close);
	row->target =
		row->op == FX_CALL_FUNCTION ? target_of_path(name) : (Target){.name = without_stars(name)};
	if (row->op == FX_CALL_METHOD)
		row->target.callee = CALLEE_METHOD;
	if (row->op == FX_CALL_MODULE)
		row->target.callee = CALLEE_MODULE;
	return !call || read_call_args(f, st, close + 1, row);
}

/* The name of a statement that begins with %NAME; empty when it does not. */
static Str statement_name(Str s)
{
	uint32_t at = skip_blanks(s, 0);
	if (at == s.n || s.p[at] != '%')
		return (Str){0};
	return str_sub(s, at + 1, value_name_end(s, at + 1));
}

static bool read_node(FxReader *f, Statement *st)
{
	FxRow row = {.name = statement_name(st->s), .at = st->at, .end = st->end};
	uint32_t at = skip_blanks(st->s, 0) + 1 + row.name.n, users_end;
	bool hash = false;
	fx_statement(f);
	if (!row.name.n || !take(st->s, &at, S(":")))
		return fail(st, at, "no node: a name and a colon were expected");
	uint32_t users = find_users(st->s, at, &users_end, &hash);
	if (users == st->s.n)
		return fail(st, at, "no number of users");
	row.type = str_trim(str_sub(st->s, at, users));
	if (!take(st->s, &users_end, S("=")))
		return fail(st, users_end, "no = after the number of users");
	if (!read_operation(f, st, users_end, &row))
		return false;
	narrow_version(f->g, hash);
	fx_add(f, &row);
	return true;
}

static bool read_return(FxReader *f, Statement *st)
{
	uint32_t at = 0;
	Arg value;
	fx_statement(f);
	take(st->s, &at, S("return"));
	if (!fx_value(f, VALUE_REPR, st->s, &at, &value))
		return fail(st, f->values.fault_at, fx_fault(f));
	if (skip_blanks(st->s, at) != st->s.n)
		return fail(st, at, "text behind the returned value");
	fx_output(f, value, st->base, st->at, st->end);
	return true;
}

/* ---- lines ---- */

/* The line at `at`, without its end; *next is the beginning of the one behind it. */
static Str line_at(Str s, uint32_t at, uint32_t *next)
{
	uint32_t end = str_find_char(s, '\n', at);
	*next = end < s.n ? end + 1 : s.n;
	return str_rtrim(str_sub(s, at, end));
}

static bool is_return(Str line)
{
	uint32_t at = 0;
	return take(line, &at, S("return")) &&
	       (at == line.n || !char_is_ident((unsigned char)line.p[at]));
}

/* `%name : `, also when the line was cut behind the name. */
static bool is_node(Str line)
{
	Str name = statement_name(line);
	uint32_t at = skip_blanks(line, 0) + 1 + name.n;
	return name.n && take(line, &at, S(":"));
}

static bool begins_statement(Str line)
{
	return is_node(line) || is_return(line);
}

/* The lines behind a statement's first that belong to no other statement: end of the last one. */
static uint32_t following_lines(Str s, uint32_t next)
{
	for (uint32_t lines = 1; lines < MOST_LINES && next < s.n; lines++) {
		uint32_t after;
		Str line = line_at(s, next, &after);
		if (begins_statement(line) || !str_trim(line).n)
			break;
		next = after;
	}
	return next;
}

/* The lines [at, end) as one: a wrapped line lost nothing, or the blank behind a comma. */
static Str join_lines(FxReader *f, uint32_t at, uint32_t end)
{
	Buf b = {.a = f->r->scratch};
	for (uint32_t next; at < end; at = next) {
		Str line = line_at(f->text->s, at, &next);
		if (b.n && b.p[b.n - 1] == ',')
			buf_char(&b, ' ');
		buf_add(&b, b.n ? line : str_ltrim(line));
	}
	return buf_str(&b);
}

static bool read_text(FxReader *f, Statement *st)
{
	if (st->s.n > f->r->cfg->limits.statement_bytes)
		return fail(st, 0, "statement is longer than the limit and was not read");
	return is_return(st->s) ? read_return(f, st) : read_node(f, st);
}

/* The statement in the line that begins at `at`, with the lines behind it when it was wrapped.
 * Returns where the next one begins. */
static uint32_t read_statement(FxReader *f, uint32_t at)
{
	Str s = f->text->s;
	uint32_t next;
	Str line = line_at(s, at, &next);
	uint32_t indent = skip_blanks(line, 0);
	Statement one = {.s = str_sub(line, indent, line.n),
	                 .at = at + indent,
	                 .end = at + line.n,
	                 .base = at + indent};
	if (read_text(f, &one))
		return next;
	uint32_t after = following_lines(s, next);
	if (after > next) {
		Statement joined = {.s = join_lines(f, at, after), .at = one.at, .base = UINT32_MAX};
		joined.end = one.at + str_rtrim(str_sub(s, one.at, after)).n;
		if (read_text(f, &joined))
			return after;
	}
	if (is_return(one.s))
		fx_unread_output(f, one.s, one.at, one.end, one.at + one.fault, one.why);
	else
		fx_unread(f, VALUE_RAW, one.s, statement_name(one.s), one.at, one.end, one.at + one.fault,
		          one.why);
	return next;
}

/* A line inside the graph that begins no statement. Blank lines and comments say nothing. */
static void read_other(FxReader *f, uint32_t at, Str line)
{
	uint32_t indent = skip_blanks(line, 0);
	if (indent == line.n || line.p[indent] == '#')
		return;
	fx_unread(f, VALUE_RAW, line, (Str){0}, at + indent, at + line.n, 0,
	          "text between the lines of a graph");
}

/* ---- the header ---- */

/* graph(x, y : T): of 1.7 lists the inputs here. */
static void read_inputs(FxReader *f, Str line, uint32_t at, uint32_t open)
{
	uint32_t close = str_find(line, S("):"), open);
	if (close == line.n)
		close = str_find(line, S(") ->"), open);
	for (uint32_t i = skip_blanks(line, open); i < close;) {
		uint32_t end = str_find(str_sub(line, 0, close), S(", "), i);
		Str part = str_sub(line, i, end);
		uint32_t colon = str_find_char(part, ':', 0);
		Str name = str_trim(str_sub(part, 0, colon));
		if (name.n && name.p[0] == '%')
			name = str_sub(name, 1, name.n);
		FxRow row = {.op = FX_PLACEHOLDER,
		             .name = without_stars(name),
		             .target = {.name = without_stars(name)},
		             .type = str_trim(str_sub(part, colon + 1, part.n)),
		             .at = at + i,
		             .end = at + end};
		if (name.n) {
			fx_statement(f);
			fx_add(f, &row);
		}
		i = end + 2;
	}
}

/* Where the body begins: behind the line `graph():`, or at the first statement when that line is
 * missing. */
static uint32_t read_header(FxReader *f)
{
	Str s = f->text->s;
	for (uint32_t at = 0, next; at < s.n; at = next) {
		Str line = line_at(s, at, &next);
		uint32_t open = 0;
		if (take(line, &open, S("graph("))) {
			read_inputs(f, line, at, open);
			return next;
		}
		if (is_node(line))
			return at;
	}
	return s.n;
}

void read_graph_text(Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	FxReader f;
	fx_begin(&f, r, id, art, text);
	for (uint32_t at = read_header(&f), next; at < text->s.n && !f.returned && !f.full; at = next) {
		Str line = line_at(text->s, at, &next);
		if (begins_statement(line))
			next = read_statement(&f, at);
		else
			read_other(&f, at, line);
	}
	fx_end(&f);
}
