/* SPDX-License-Identifier: MIT
 * What goes into a printed graph and what comes out: signatures, source comments, returns. */
#include "read_code_priv.h"

/* ---- source comments ---- */

void code_comment(CodeReader *c, const Stmt *st)
{
	Str s = str_sub(c->text->s, st->at, st->end);
	uint32_t f = str_find(s, S("File: "), 0), code_at;
	if (f == s.n) {
		if (str_has(s, S("No stacktrace found")))
			c->loc = 0;
		return;
	}
	uint64_t key = hash_bytes(1, s.p, s.n) | 1;
	c->loc_of.a = c->r->scratch;
	c->loc = map_get(&c->loc_of, key);
	if (c->loc)
		return;
	SrcLoc loc = {0};
	if (!words_file_comment(str_sub(s, f + 6, s.n), &loc, c->r->program->names, &code_at))
		return;
	loc.code = code_span(c, st->at + f + 6 + code_at, st->end);
	VEC_PUSH(c->g->a, &c->g->locs, loc);
	c->loc = c->g->locs.n - 1;
	map_put(&c->loc_of, key, c->loc);
}

/* ---- inputs ---- */

NodeId code_input(CodeReader *c, Sym name, TypeId type, bool typed, Span at, Sym descriptor)
{
	Graph *g = c->g;
	Node n = {.kind = NK_PLACEHOLDER, .flags = typed ? NF_TYPED : 0, .name = name, .target = name, .type = type,
	          .at = at.at, .end = at.end};
	NodeId id = graph_add_node(g, n, NULL, 0);
	VEC_PUSH(g->a, &g->inputs, id);
	if (descriptor.i || g->input_descriptors.n) {
		while (g->input_descriptors.n + 1 < g->inputs.n)
			VEC_PUSH(g->a, &g->input_descriptors, (Sym){0});
		VEC_PUSH(g->a, &g->input_descriptors, descriptor);
	}
	env_bind(&c->env, c->r->scratch, name, code_node(id));
	return id;
}

Str code_unquote(Str s)
{
	s = str_trim(s);
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
		return str_sub(s, 1, s.n - 1);
	return s;
}

/* NAME, NAME : type = default, NAME: "type", *NAME, with a comment possibly before it (that of the part before) */
static void read_parameter(CodeReader *c, uint32_t at, uint32_t end, Sym descriptor)
{
	Str s = str_sub(c->text->s, 0, end);
	while (at < end && (s.p[at] == ' ' || s.p[at] == '\n' || s.p[at] == '*' || s.p[at] == '\r' || s.p[at] == '\t'))
		at++;
	if (at < end && s.p[at] == '#') {
		at = str_find_char(s, '\n', at);
		if (at < end)
			read_parameter(c, at, end, descriptor);
		return;
	}
	uint32_t e = at;
	while (e < end && char_is_ident((unsigned char)s.p[e]))
		e++;
	Str name = str_sub(s, at, e);
	if (!name.n || str_eq(name, S("self")))
		return;
	uint32_t i = e, stop = str_find_char(s, '#', e);
	Str rest = str_trim(str_sub(s, i, end));
	TypeId type = {0};
	bool typed = rest.n && rest.p[0] == ':';
	if (typed) {
		i = str_find_char(s, ':', e) + 1;
		/* the default stands behind the first = outside quotes and brackets; annotations hold none */
		Str ann = str_sub(s, i, stop > i ? stop : end);
		uint32_t eq = str_find(ann, S(" = "), 0);
		Str t = code_unquote(str_sub(ann, 0, eq));
		if (t.n && str_trim(ann).p[0] != '"')
			t = code_unquote(str_sub(ann, 0, eq));
		type = type_parse(c->r->types, t);
	}
	code_input(c, code_sym(c, name), type, typed, code_span(c, at, e), descriptor);
}

/* The comment behind a parameter's comma: "  # PlainAOTInput(idx=0)" */
static Sym descriptor_after(CodeReader *c, uint32_t at, uint32_t limit)
{
	Str s = c->text->s;
	at += at < limit && s.p[at] == ',';
	while (at < limit && (s.p[at] == ' ' || s.p[at] == '\t' || s.p[at] == '\r'))
		at++;
	if (at >= limit || s.p[at] != '#')
		return (Sym){0};
	return code_sym(c, str_trim(str_sub(s, at + 1, str_find_char(s, '\n', at))));
}

void code_signature(CodeReader *c, uint32_t open, uint32_t close)
{
	Str s = c->text->s;
	for (uint32_t at = open + 1; at < close;) {
		uint32_t end = scan_part(s, at, close);
		read_parameter(c, at, end, descriptor_after(c, end, close));
		at = end + 1;
	}
}

/* ---- outputs ---- */

/* Containers inside the returned tuple count as their elements, as pytrees are flattened. `like` is what all of them
 * have in common. */
static void add_outputs(CodeReader *c, const Arg *a, uint32_t at, uint32_t end, Output like)
{
	Span sp = code_span(c, at, end);
	like.at = sp.at;
	like.end = sp.end;
	like.nested = a->kind == AR_TUPLE || a->kind == AR_LIST || a->kind == AR_DICT;
	enum { MAX = 64 };
	struct {
		uint32_t at, end;
		bool dict;
	} open[MAX];
	uint32_t depth = 0;
	for (;;) {
		bool list = a->kind == AR_TUPLE || a->kind == AR_LIST || a->kind == AR_DICT;
		if (list && depth < MAX) {
			open[depth].dict = a->kind == AR_DICT;
			open[depth].at = a->at;
			open[depth++].end = a->at + a->n;
		} else {
			like.arg = *a;
			VEC_PUSH(c->g->a, &c->g->outputs, like);
		}
		while (depth && open[depth - 1].at == open[depth - 1].end)
			depth--;
		if (!depth)
			return;
		if (open[depth - 1].dict)
			open[depth - 1].at++; /* the key */
		a = &c->g->args.v[open[depth - 1].at++];
	}
}

/* Clean offsets of the elements of a returned list, for spans and descriptors. */
static bool element_range(Str s, uint32_t *at, uint32_t end, uint32_t *to)
{
	while (*at < end) {
		uint32_t e = scan_part(s, *at, end);
		uint32_t i = *at;
		while (i < e) { /* blanks and the comment of the element before */
			if (s.p[i] == '#')
				i = str_find_char(s, '\n', i);
			else if (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\r' || s.p[i] == '\t')
				i++;
			else
				break;
		}
		*at = i;
		*to = e;
		if (i < e)
			return true;
		*at = e + 1;
	}
	return false;
}

void code_return(CodeReader *c, const Pending *p, const StmtVal *sv, ExprCtx *x)
{
	Graph *g = c->g;
	Str s = c->text->s;
	c->returned = true;
	if (!sv->nelements)
		return;
	Arg a = sv->nelements == 1 ? expr_arg(x, &sv->right) : (Arg){0};
	bool list = sv->nelements > 1 || a.kind == AR_TUPLE || a.kind == AR_LIST;
	if (!list) {
		g->returns_bare = a.kind != AR_DICT;
		add_outputs(c, &a, p->at + (sv->right.at - p->buf), p->at + (sv->right.end - p->buf), (Output){0});
		return;
	}
	uint32_t from = p->at + (sv->elements[0].at - p->buf), to = p->at + (sv->elements[sv->nelements - 1].end - p->buf);
	if (sv->nelements == 1) { /* inside the brackets of the container */
		uint32_t open = from;
		while (open < to && s.p[open] != '(' && s.p[open] != '[')
			open++;
		if (sv->right.kind == V_UNFLATTEN) /* the call's own bracket stands before the list's */
			for (open++; open < to && s.p[open] != '(' && s.p[open] != '[';)
				open++;
		uint32_t close = open < to ? scan_close(str_sub(s, 0, to), open) : to;
		from = open + 1;
		to = close;
	}
	uint32_t n = sv->nelements > 1 ? sv->nelements : a.n;
	for (uint32_t i = 0; i < n; i++) {
		Arg e = sv->nelements > 1 ? expr_arg(x, &sv->elements[i]) : arg_kids(g, &a)[i];
		uint32_t at = from, end = to;
		if (element_range(s, &at, to, &end)) {
			add_outputs(c, &e, at, end, (Output){.top = i, .descriptor = descriptor_after(c, end, to)});
			from = end + 1;
		} else {
			add_outputs(c, &e, p->at, p->end, (Output){.top = i});
		}
	}
}
