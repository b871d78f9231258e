/* SPDX-License-Identifier: MIT */
#include "pattern.h"

#include "source.h"
#include "diag.h"
#include "config.h"
#include "read.h"

/* What a metavariable is called in the code that the reader is given. */
static const Str PREFIX = STR_INIT("__mv_");

typedef struct Parser {
	Pattern *p;
	Arena *a;
	Names *names;
	Str text;
	Buf *why;
	uint32_t *at;
	Buf clean;        /* the code that is read */
	VEC(Seg) segs;
	uint32_t unnamed; /* statements without a variable so far */
	uint64_t assigned; /* by variable */
	bool returns;
} Parser;

static bool fault(Parser *ps, uint32_t at, const char *text, Str word)
{
	if (!ps->why->n) {
		buf_printf(ps->why, "%s", text);
		if (word.n)
			buf_printf(ps->why, " '" STR_FMT "'", STR_ARG(str_sub(word, 0, 80)));
		*ps->at = at;
	}
	return false;
}

int pattern_var(const Pattern *p, Str name)
{
	for (uint32_t i = 0; i < p->nvars; i++)
		if (name.n && str_eq(p->var[i].name, name))
			return (int)i;
	return -1;
}

/* ---- from metavariables to Python ---- */

static bool is_operator_name(Str s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (s.p[i] >= 'a' && s.p[i] <= 'z')
			return false;
	return s.n && s.p[0] >= 'A' && s.p[0] <= 'Z';
}

static int add_var(Parser *ps, Str name, uint32_t at)
{
	Pattern *p = ps->p;
	int known = pattern_var(p, name);
	if (known >= 0)
		return known;
	if (p->nvars == PATTERN_VARS) {
		fault(ps, at, "a pattern has at most 48 metavariables and statements", (Str){0});
		return -1;
	}
	p->var[p->nvars] = (PatVar){.name = str_copy(ps->a, name), .op = is_operator_name(name), .node = -1, .at = at};
	return (int)p->nvars++;
}

/* Adds text that stands in the pattern, so that places in the code lead back to it. */
static void add_own(Parser *ps, uint32_t from, uint32_t to)
{
	VEC_PUSH(ps->a, &ps->segs, ((Seg){ps->clean.n, from}));
	buf_add(&ps->clean, str_sub(ps->text, from, to));
}

static uint32_t ident_end(Str s, uint32_t at)
{
	while (at < s.n && char_is_ident((unsigned char)s.p[at]))
		at++;
	return at;
}

/* End of the string that begins at `at`. */
static uint32_t string_end(Str s, uint32_t at)
{
	char q = s.p[at++];
	for (; at < s.n && s.p[at] != q && s.p[at] != '\n'; at++)
		at += s.p[at] == '\\';
	return at < s.n ? at + 1 : s.n;
}

static bool is_assignment(Str s, uint32_t at)
{
	return s.p[at] == '=' && !(at + 1 < s.n && s.p[at + 1] == '=') && !(at && memchr("=!<>", s.p[at - 1], 4));
}

/* End of the statement that begins at `at`, and whether it assigns. */
static uint32_t statement_end(Str s, uint32_t at, bool *assigns)
{
	int depth = 0;
	*assigns = false;
	for (; at < s.n && (s.p[at] != '\n' || depth > 0); at++) {
		char c = s.p[at];
		if (c == '"' || c == '\'') {
			at = string_end(s, at) - 1;
		} else if (c == '#') {
			at = str_find_char(s, '\n', at) - 1;
		} else {
			depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
			*assigns |= depth == 0 && is_assignment(s, at);
		}
	}
	return at;
}

static bool add_metavar(Parser *ps, uint32_t at, uint32_t *end)
{
	*end = ident_end(ps->text, at + 1);
	Str name = str_sub(ps->text, at + 1, *end);
	if (!str_is_ident(name))
		return fault(ps, at, "a metavariable looks like $x", (Str){0});
	if (!is_operator_name(name) && *end < ps->text.n && ps->text.p[*end] == '(')
		return fault(ps, at, "a metavariable for an operator is written in capitals:", name);
	if (add_var(ps, name, at) < 0)
		return false;
	add_own(ps, at, at); /* places inside the name are those of the `$` */
	buf_add(&ps->clean, PREFIX);
	add_own(ps, at + 1, *end);
	return true;
}

static bool add_statement(Parser *ps, uint32_t at, uint32_t end)
{
	Str s = ps->text;
	for (uint32_t i = at; i < end;) {
		uint32_t next = i + 1;
		if (s.p[i] == '$') {
			if (!add_metavar(ps, i, &next))
				return false;
		} else {
			if (s.p[i] == '"' || s.p[i] == '\'')
				next = string_end(s, i);
			while (next < end && !memchr("$\"'", s.p[next], 3))
				next++;
			add_own(ps, i, next);
		}
		i = next;
	}
	buf_char(&ps->clean, '\n');
	return true;
}

/* The variable that a statement gives a value; -1 when it begins otherwise. */
static bool note_assigned(Parser *ps, uint32_t at)
{
	if (ps->text.p[at] != '$')
		return true;
	uint32_t end = ident_end(ps->text, at + 1), eq = end;
	while (eq < ps->text.n && ps->text.p[eq] == ' ')
		eq++;
	if (eq >= ps->text.n || !is_assignment(ps->text, eq))
		return true;
	int v = add_var(ps, str_sub(ps->text, at + 1, end), at);
	if (v < 0)
		return false;
	if (ps->p->var[v].op)
		return fault(ps, at, "a metavariable in capitals stands for an operator and takes no value:", ps->p->var[v].name);
	if (ps->assigned >> v & 1)
		return fault(ps, at, "the metavariable has a value already:", ps->p->var[v].name);
	ps->assigned |= (uint64_t)1 << v;
	return true;
}

static bool add_line(Parser *ps, uint32_t *at)
{
	bool assigns;
	uint32_t from = *at;
	while (from < ps->text.n && (ps->text.p[from] == ' ' || ps->text.p[from] == '\t'))
		from++;
	uint32_t end = statement_end(ps->text, from, &assigns);
	Str line = str_rtrim(str_sub(ps->text, from, end));
	*at = end + 1;
	if (!line.n || line.p[0] == '#')
		return true;
	if (!note_assigned(ps, from))
		return false;
	bool returns = str_starts(line, S("return")) && !(line.n > 6 && char_is_ident((unsigned char)line.p[6]));
	if (ps->returns)
		return fault(ps, from, "nothing stands behind return", (Str){0});
	ps->returns = returns;
	buf_add(&ps->clean, S("    "));
	if (!returns && !assigns)
		buf_printf(&ps->clean, STR_FMT "_%u = ", STR_ARG(PREFIX), (unsigned)ps->unnamed++);
	return add_statement(ps, from, from + line.n);
}

/* The variables without a value of their own are what the code is given. */
static void add_header(Parser *ps, Buf *out)
{
	buf_add(out, S("def forward(self"));
	for (uint32_t i = 0; i < ps->p->nvars; i++)
		if (!ps->p->var[i].op && !(ps->assigned >> i & 1))
			buf_printf(out, ", " STR_FMT STR_FMT, STR_ARG(PREFIX), STR_ARG(ps->p->var[i].name));
	buf_add(out, S("):\n"));
}

static bool make_code(Parser *ps, Text *code)
{
	for (uint32_t at = 0; at < ps->text.n;)
		if (!add_line(ps, &at))
			return false;
	if (!ps->clean.n)
		return fault(ps, 0, "the pattern is empty", (Str){0});
	if (!ps->returns)
		buf_add(&ps->clean, S("    return ()\n"));
	Buf all = {.a = ps->a};
	add_header(ps, &all);
	uint32_t shift = all.n;
	buf_add(&all, buf_str(&ps->clean));
	for (uint32_t i = 0; i < ps->segs.n; i++)
		ps->segs.v[i].at += shift;
	Seg *segs = NEW_N(ps->a, Seg, ps->segs.n + 1);
	if (ps->segs.n)
		memcpy(segs + 1, ps->segs.v, ps->segs.n * sizeof *segs);
	*code = (Text){.file = {1}, .s = buf_str(&all), .seg = segs, .nseg = ps->segs.n + 1};
	return true;
}

/* ---- reading ---- */

/* What the reader says, with the names that the pattern has. */
static Str own_words(const Parser *ps, Str s)
{
	Buf b = {.a = ps->a};
	for (uint32_t at = 0; at < s.n;) {
		uint32_t next = str_find(s, PREFIX, at);
		buf_add(&b, str_sub(s, at, next));
		if (next < s.n)
			buf_char(&b, '$');
		at = next + PREFIX.n;
	}
	return buf_str(&b);
}

/* The graph of the code; NULL when the reader says that it does not understand something. */
static const Graph *read_graph(Parser *ps, const Text *code)
{
	Arena scratch = arena_new(ps->a->budget);
	Program program;
	Diags diags;
	Config cfg = config_default();
	program_init(&program, ps->a, ps->names);
	diags_init(&diags, &scratch);
	Types *types = types_new(&scratch, ps->names);
	Reader r = reader_new(&program, types, &diags, &cfg, ps->a, &scratch);
	Artifact art = {.kind = ART_GRAPH_CODE, .file = {1}, .end = ps->text.n};
	read_code(&r, (ArtifactId){1}, &art, code);
	reader_free(&r);
	const Graph *g = program.graphs.n > 1 ? program.graphs.v[1] : NULL;
	if (diags.unread.n)
		fault(ps, diags.unread.v[0].span.at, str_to_c(ps->a, own_words(ps, diags.unread.v[0].why)), (Str){0});
	else if (!g || program.graphs.n > 2)
		fault(ps, 0, "a pattern is a list of statements", (Str){0});
	arena_free(&scratch);
	return ps->why->n ? NULL : g;
}

static Str name_of(const Parser *ps, Sym s)
{
	return sym_str(ps->names, s);
}

/* The metavariable that a name of the code stands for; -1: none. */
static int var_of(const Parser *ps, Str name)
{
	return str_starts(name, PREFIX) ? pattern_var(ps->p, str_sub(name, PREFIX.n, name.n)) : -1;
}

/* ---- from the graph to the pattern ---- */

static bool read_elems(Parser *ps, const Graph *g, const Arg *args, uint32_t n, uint16_t list, const uint8_t *var_at,
	uint32_t src, int depth);

static bool has_nodes(const Graph *g, const Arg *a)
{
	if (a->kind == AR_NODE)
		return true;
	bool kids = a->kind == AR_TUPLE || a->kind == AR_LIST || a->kind == AR_DICT || a->kind == AR_SLICE || a->kind == AR_CALL ||
		a->kind == AR_EXPR || a->kind == AR_STARRED || a->kind == AR_UNKNOWN;
	for (uint32_t i = 0; kids && i < a->n; i++)
		if (has_nodes(g, &arg_kids(g, a)[i]))
			return true;
	return false;
}

static int new_list(Parser *ps, uint32_t n, uint8_t node, bool top, uint32_t src)
{
	Pattern *p = ps->p;
	if (p->nlists == PATTERN_LISTS || p->nelems + n > PATTERN_ELEMS) {
		fault(ps, src, "the pattern is too large", (Str){0});
		return -1;
	}
	p->list[p->nlists] = (PatList){(uint16_t)p->nelems, (uint16_t)n, node, top, 0};
	p->nelems += n;
	return (int)p->nlists++;
}

static bool read_elem(Parser *ps, const Graph *g, const Arg *a, PatElem *e, uint16_t list, const uint8_t *var_at, uint32_t src,
	int depth)
{
	static const Str nested = STR_INIT("write what is nested as a statement of its own");
	*e = (PatElem){.key = a->key};
	switch ((ArgKind)a->kind) {
	case AR_NODE:
		e->kind = PE_VAR;
		e->var = var_at[a->u.node.i];
		return true;
	case AR_ELLIPSIS:
		e->kind = PE_REST;
		if (++ps->p->list[list].rests > 2)
			return fault(ps, src, "at most two ... in one list of arguments", (Str){0});
		return true;
	case AR_TUPLE:
	case AR_LIST:
	case AR_SLICE: {
		int l = new_list(ps, a->n, ps->p->list[list].node, false, src);
		e->kind = PE_LIST;
		e->list = (uint16_t)l;
		e->slice = a->kind == AR_SLICE;
		return l >= 0 && read_elems(ps, g, arg_kids(g, a), a->n, e->list, var_at, src, depth + 1);
	}
	case AR_NAME:
		if (var_of(ps, name_of(ps, a->u.sym)) >= 0)
			return fault(ps, src, "a metavariable has no value here, or stands for an operator:",
				ps->p->var[var_of(ps, name_of(ps, a->u.sym))].name);
		break;
	default:
		if (has_nodes(g, a))
			return fault(ps, src, nested.p, (Str){0});
		break;
	}
	e->kind = PE_LITERAL;
	e->arg = a;
	return true;
}

static bool read_elems(Parser *ps, const Graph *g, const Arg *args, uint32_t n, uint16_t list, const uint8_t *var_at,
	uint32_t src, int depth)
{
	enum { DEPTH_MOST = 16 };
	if (depth > DEPTH_MOST)
		return fault(ps, src, "brackets nest too deep", (Str){0});
	for (uint32_t i = 0; i < n; i++) {
		PatElem e;
		if (!read_elem(ps, g, &args[i], &e, list, var_at, src, depth))
			return false;
		ps->p->elem[ps->p->list[list].at + i] = e;
	}
	return true;
}

/* What a call is matched by. */
static bool read_operator(Parser *ps, const Node *n, PatNode *pn)
{
	Str target = name_of(ps, n->target);
	int v = var_of(ps, target);
	pn->callee = n->callee;
	pn->target = n->target;
	if (v >= 0) {
		pn->op = PO_VAR;
		pn->op_var = (uint8_t)v;
		return ps->p->var[v].op || fault(ps, n->at, "a metavariable for an operator is written in capitals:", ps->p->var[v].name);
	}
	if (str_has(target, PREFIX))
		return fault(ps, n->at, "a metavariable stands for a whole name", (Str){0});
	pn->op = PO_SPELLED;
	if (n->callee != CALLEE_FUNCTION)
		return true;
	if (str_starts(target, S("aten.")))
		pn->op = PO_PACKET;
	else if (str_eq(target, S("views")))
		pn->op = PO_VIEWS;
	else if (str_eq(target, S("depends")))
		pn->op = PO_DEPENDS;
	else if (str_eq(target, S("input")))
		pn->op = PO_INPUT;
	return true;
}

static bool check_edge(Parser *ps, const Node *n, const PatNode *pn)
{
	const PatList *l = &ps->p->list[pn->list];
	if (pn->op == PO_INPUT)
		return n->nargs == 0 || fault(ps, n->at, "input() takes nothing", (Str){0});
	if (pn->op != PO_VIEWS && pn->op != PO_DEPENDS)
		return true;
	if (l->n == 1 && ps->p->elem[l->at].kind == PE_VAR && !ps->p->elem[l->at].key.i)
		return true;
	return fault(ps, n->at, "views and depends take one metavariable", (Str){0});
}

static bool read_node(Parser *ps, const Graph *g, uint32_t id, uint8_t *var_at)
{
	Pattern *p = ps->p;
	const Node *n = &g->nodes.v[id];
	int v = var_of(ps, name_of(ps, n->name));
	if (n->kind == NK_PLACEHOLDER) {
		var_at[id] = (uint8_t)v;
		return v >= 0 || fault(ps, n->at, "the names of the code itself begin otherwise", (Str){0});
	}
	if (n->kind == NK_UNREAD || p->nnodes == PATTERN_NODES)
		return fault(ps, n->at, n->kind == NK_UNREAD ? "not a statement of a graph" : "a pattern has at most 32 statements", (Str){0});
	if (v < 0)
		v = add_var(ps, str_printf(ps->a, "%u", (unsigned)p->nnodes), n->at);
	if (v < 0)
		return false;
	PatNode *pn = &p->node[p->nnodes];
	*pn = (PatNode){.var = (uint8_t)v};
	p->var[v].node = (int8_t)p->nnodes;
	var_at[id] = (uint8_t)v;
	if (n->kind == NK_GET_ATTR) {
		int path = var_of(ps, name_of(ps, n->target));
		pn->op = path >= 0 ? PO_ATTR_VAR : PO_ATTR;
		pn->op_var = (uint8_t)(path >= 0 ? path : 0);
		pn->target = n->target;
	} else {
		int l = new_list(ps, n->nargs, (uint8_t)p->nnodes, true, n->at);
		if (l < 0 || !read_operator(ps, n, pn))
			return false;
		pn->list = (uint16_t)l;
		pn->has_list = pn->op != PO_INPUT;
		if (!read_elems(ps, g, node_args(g, n), n->nargs, pn->list, var_at, n->at, 0) || !check_edge(ps, n, pn))
			return false;
	}
	p->nnodes++;
	return true;
}

static bool read_outputs(Parser *ps, const Graph *g, const uint8_t *var_at)
{
	for (uint32_t j = 0; j < g->outputs.n; j++) {
		const Output *o = &g->outputs.v[j];
		if (o->arg.kind == AR_NODE)
			ps->p->var[var_at[o->arg.u.node.i]].returned = true;
		else if (o->arg.kind != AR_ELLIPSIS)
			return fault(ps, o->at, "return names metavariables", (Str){0});
	}
	return true;
}

bool pattern_parse(Pattern *p, Arena *a, Names *names, Str text, Buf *why, uint32_t *at)
{
	Parser ps = {.p = p, .a = a, .names = names, .text = text, .why = why, .at = at, .clean = {.a = a}};
	Text code;
	uint8_t *var_at;
	memset(p, 0, sizeof *p);
	*at = 0;
	if (text.n > PATTERN_TEXT)
		return fault(&ps, 0, "the pattern is longer than 8 KiB", (Str){0});
	if (!make_code(&ps, &code) || !(p->graph = read_graph(&ps, &code)))
		return false;
	var_at = NEW_N(a, uint8_t, p->graph->nodes.n + 1);
	for (uint32_t i = 1; i < p->graph->nodes.n; i++)
		if (!read_node(&ps, p->graph, i, var_at))
			return false;
	if (!read_outputs(&ps, p->graph, var_at))
		return false;
	for (uint32_t i = 0; i < p->nvars; i++)
		if (p->var[i].returned || p->nnodes)
			return true;
	return fault(&ps, 0, "the pattern has neither a statement nor something that is returned", (Str){0});
}

/* ---- equal arguments ---- */

static bool same_leaf(const Arg *a, const Arg *b)
{
	switch ((ArgKind)a->kind) {
	case AR_NODE: return a->u.node.i == b->u.node.i;
	case AR_BOOL:
	case AR_INT: return a->u.num == b->u.num;
	case AR_FLOAT: return memcmp(&a->u.real, &b->u.real, sizeof a->u.real) == 0;
	case AR_STR:
	case AR_NAME:
	case AR_CALL:
	case AR_EXPR: return a->u.sym.i == b->u.sym.i;
	case AR_UNKNOWN: return false;
	default: return true;
	}
}

static bool kinds_fit(const Arg *a, const Arg *b)
{
	bool lists = (a->kind == AR_TUPLE || a->kind == AR_LIST) && (b->kind == AR_TUPLE || b->kind == AR_LIST);
	return lists || a->kind == b->kind;
}

static bool has_kids(const Arg *a)
{
	return a->kind == AR_TUPLE || a->kind == AR_LIST || a->kind == AR_DICT || a->kind == AR_SLICE || a->kind == AR_CALL ||
		a->kind == AR_EXPR || a->kind == AR_STARRED;
}

bool pattern_same_arg(const Graph *ga, const Arg *a, const Graph *gb, const Arg *b)
{
	enum { STACK = 64, WORK = 4096 };
	struct {
		const Arg *a, *b;
		uint32_t n;
	} stack[STACK];
	uint32_t top = 1, work = 0;
	stack[0].a = a;
	stack[0].b = b;
	stack[0].n = 1;
	while (top) {
		if (!stack[top - 1].n) {
			top--;
			continue;
		}
		a = stack[top - 1].a++;
		b = stack[top - 1].b++;
		stack[top - 1].n--;
		if (!kinds_fit(a, b) || !same_leaf(a, b) || (a->kind == AR_NODE && ga != gb) || ++work > WORK)
			return false;
		if (!has_kids(a))
			continue;
		if (a->n != b->n || top == STACK)
			return false;
		stack[top].a = arg_kids(ga, a);
		stack[top].b = arg_kids(gb, b);
		stack[top++].n = a->n;
	}
	return true;
}
