/* SPDX-License-Identifier: MIT
 * Printed forward code -> graphs: classes and functions. The text is that of torch/fx/graph.py (PythonCode) and
 * torch/fx/graph_module.py (print_readable), PyTorch 1.12 to 2.15. */
#include "read_code_priv.h"

enum { INDENT = 4 };

/* Values that are used and never dropped: the lines that did it are missing, and may have done anything with them. */
static void missing_uses(CodeReader *c)
{
	VEC(Arg) args = {0};
	if (!c->lives.drops || c->cut)
		return;
	for (uint32_t i = 0; i < c->lives.v.n; i++) {
		const Life *l = &c->lives.v.v[i];
		const Arg *value = l->ended ? NULL : env_find(&c->env, l->name);
		if (!value || value->kind != AR_NODE)
			continue;
		VEC_PUSH(c->r->scratch, &args, *value);
		diag_unread(c->r->diags, code_span(c, l->at, l->end), STR_FMT " is not dropped behind its last use: a later line is missing",
		            STR_ARG(sym_str(c->r->program->names, l->name)));
	}
	if (args.n)
		graph_add_node(c->g, (Node){.kind = NK_UNREAD, .at = c->g->at, .end = c->g->end}, args.v, args.n);
}

static void end_graph(CodeReader *c)
{
	Graph *g = c->g;
	code_flush(c);
	if (!g)
		return;
	if (c->returned)
		missing_uses(c);
	if (!c->returned && (g->nodes.n > 1 || c->in_forward || g->parent.i)) {
		g->truncated = true;
		g->incomplete = true;
		diag_truncated(c->r->diags, code_span(c, c->last_at, c->last_end), "graph " STR_FMT " has no return: its end is not in the dump",
		               STR_ARG(sym_str(c->r->program->names, g->name)));
	}
}

static void begin_graph(CodeReader *c, Graph *g)
{
	c->g = g;
	c->env = (Env){0};
	c->in_forward = c->returned = c->in_other_def = c->no_def = c->calls = false;
	c->loc = 0;
	c->loc_of = (Map){0};
	c->declared = (Map){0};
	c->lives = (Lives){0};
	c->cut = false;
	c->unnamed = (NodeId){0};
}

static Graph *new_body(CodeReader *c, Graph *parent, Sym name, Span span)
{
	Graph *b = graph_begin(c->r->program, c->r->keep, c->r->scratch), *root = c->root;
	b->name = b->class_name = name;
	b->stage = STAGE_BODY;
	b->artifact = root->artifact;
	b->file = root->file;
	b->unit = root->unit;
	b->at = span.at;
	b->end = span.end;
	b->compile_id = root->compile_id;
	b->attempt = root->attempt;
	b->process = root->process;
	b->torch = root->torch;
	b->parent = b->of = parent->id;
	VEC_PUSH(parent->a, &parent->children, ((Child){name, b->id}));
	return b;
}

/* A class inside the open ones, whose line is indented so far. */
static void open_body(CodeReader *c, Sym name, uint32_t indent, Span span)
{
	end_graph(c);
	while (c->nopen > 1 && c->open[c->nopen - 1].indent >= indent)
		c->nopen--;
	if (c->nopen == sizeof c->open / sizeof *c->open) {
		diag_unread(c->r->diags, span, "classes nest deeper than graphlint reads");
		c->nopen--;
	}
	Graph *b = new_body(c, c->open[c->nopen - 1].g, name, span);
	c->open[c->nopen].g = b;
	c->open[c->nopen++].indent = indent;
	begin_graph(c, b);
}

static void class_line(CodeReader *c, const Stmt *st)
{
	Str s = str_sub(c->text->s, st->at, st->end);
	Sym name = code_sym(c, str_sub(s, 0, str_find_char(s, '(', 0)));
	Span span = code_span(c, st->at, st->end);
	if (!c->nopen) { /* the artifact's own class */
		c->root->class_name = name;
		if (sym_none(c->root->name))
			c->root->name = name;
		if (!c->root->end) {
			c->root->at = span.at;
			c->root->end = span.end;
		}
		c->open[0].g = c->root;
		c->open[0].indent = st->indent;
		c->nopen = 1;
		begin_graph(c, c->root);
		return;
	}
	open_body(c, name, st->indent, span);
}

static void def_line(CodeReader *c, const Stmt *st)
{
	Str s = c->text->s, line = str_sub(s, st->at, st->end);
	code_flush(c);
	bool cut = st->torn && line.n > 4 && str_starts(S("def forward("), line); /* "def forw" */
	if (!cut && !str_starts(line, S("def forward"))) {
		c->in_other_def = true;
		c->other_indent = st->indent;
		return;
	}
	c->in_other_def = false;
	uint32_t class_indent = st->indent > INDENT ? st->indent - INDENT : 0;
	if (c->in_forward && class_indent > c->open[0].indent) {
		Span span = code_span(c, st->at, st->end);
		open_body(c, code_sym(c, S("GraphModule")), class_indent, span);
		c->g->incomplete = true;
		diag_unread(c->r->diags, span, "the class line of this body is not in the dump");
	}
	if (c->in_forward) /* a second forward without a class: the splitter gives one a graph */
		return;
	if (!c->nopen) {
		c->open[0].g = c->root;
		c->open[0].indent = class_indent;
		c->nopen = 1;
		begin_graph(c, c->root);
		if (!c->root->end) {
			Span span = code_span(c, st->at, st->at + 11);
			c->root->at = span.at;
			c->root->end = span.end;
		}
	}
	c->in_forward = true;
	uint32_t open = str_find_char(line, '(', 0);
	if (st->torn) {
		c->no_def = true;
		c->g->incomplete = true;
		diag_unread(c->r->diags, code_span(c, st->at, st->end), "the signature of forward is cut off");
		if (open < line.n)
			code_signature(c, st->at + open, st->end);
		return;
	}
	code_signature(c, st->at + open, scan_close(s, st->at + open));
}

/* Statements without a def: the line was cut out of the dump. False: no statement either. */
static bool missing_def(CodeReader *c, const Stmt *st)
{
	Str s = str_sub(c->text->s, st->at, st->end);
	Span span = code_span(c, st->at, st->end);
	if (!str_has(s, S("= ")) && !str_has(s, S(": \"")) && !str_starts(s, S("return"))) {
		diag_unread(c->r->diags, span, "neither a header nor a statement of printed forward code");
		return false;
	}
	if (!c->nopen) {
		c->open[0].g = c->root;
		c->nopen = 1;
		begin_graph(c, c->root);
	}
	c->in_forward = c->no_def = true;
	c->g->incomplete = true;
	diag_unread(c->r->diags, span, "the def line of forward is not in the dump");
	return true;
}

/* Before 2.5 bodies print with their class, GraphModule, in place of the attribute's name. They come in the order in
 * which the parent takes them: the k-th body without a name of its own is the k-th attribute without a body. */
static void name_children(Graph *g, Arena *scratch)
{
	Map taken = {.a = scratch}, named = {.a = scratch};
	uint32_t at = 1;
	if (!g->children.n)
		return;
	for (uint32_t i = 1; i < g->nodes.n; i++)
		if (g->nodes.v[i].kind == NK_GET_ATTR && g->nodes.v[i].target.i)
			map_put(&taken, g->nodes.v[i].target.i, 1);
	for (uint32_t k = 0; k < g->children.n; k++)
		if (g->children.v[k].attr.i)
			map_put(&named, g->children.v[k].attr.i, 1);
	for (uint32_t k = 0; k < g->children.n; k++) {
		Child *c = &g->children.v[k];
		if (map_get(&taken, c->attr.i))
			continue;
		for (; at < g->nodes.n; at++) {
			const Node *n = &g->nodes.v[at];
			if (n->kind == NK_GET_ATTR && !(n->flags & NF_TYPED) && !map_get(&named, n->target.i))
				break;
		}
		if (at == g->nodes.n)
			break;
		c->attr = g->nodes.v[at++].target;
		map_put(&named, c->attr.i, 1);
	}
}

void read_code(Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	CodeReader c = {.r = r, .text = text, .id = id, .art = art};
	if (!r->parser)
		r->parser = py_parser_new(r->life);
	if (!r->parser) {
		diag_unread(r->diags, text_span(text, 0, 0), "the Python grammar does not fit the parser library");
		return;
	}
	c.buf.a = c.orig.a = r->scratch;
	c.root = graph_begin(r->program, r->keep, r->scratch);
	reader_graph_from(r, c.root, id, art);
	Scan sc = scan_new(text->s, (uint32_t)r->cfg->limits.nesting, (uint32_t)r->cfg->limits.statement_bytes, r->scratch);
	Stmt st;
	while (scan_next(&sc, &st)) {
		budget_pulse(r->scratch->budget);
		switch (st.kind) {
		case ST_CLASS: class_line(&c, &st); break;
		case ST_DEF: def_line(&c, &st); break;
		case ST_COMMENT:
			if (c.g && !c.in_other_def)
				code_comment(&c, &st);
			break;
		case ST_STATEMENT:
			if (c.in_other_def && st.indent > c.other_indent)
				break;
			if (c.returned)
				break;
			if (!c.in_forward && !missing_def(&c, &st))
				break;
			code_queue(&c, &st);
			if (c.g->nodes.n > r->cfg->limits.graph_nodes) {
				c.g->incomplete = true;
				diag_truncated(r->diags, graph_span(c.g), "graph has more nodes than --max-graph-nodes; the rest was not read");
				c.returned = c.cut = true;
			}
			break;
		case ST_HEADER:
		case ST_IGNORED: break;
		}
	}
	end_graph(&c);
	for (uint32_t i = c.root->id.i; i < r->program->graphs.n; i++) {
		name_children(r->program->graphs.v[i], r->scratch);
		graph_settle(r->program, r->program->graphs.v[i], r->keep);
	}
	if (sym_none(c.root->name))
		c.root->name = sym_intern(r->program->names, S("forward"));
}
