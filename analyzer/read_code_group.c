/* SPDX-License-Identifier: MIT
 * Statements are handed to the parser in groups, so that the tree of one group at a time is in memory. */
#include "read_code_priv.h"

enum { GROUP_STATEMENTS = 64, GROUP_BYTES = 32 * 1024 };

static ExprCtx expr_ctx(CodeReader *c)
{
	ExprCtx x = {.g = c->g, .names = c->r->program->names, .env = &c->env, .scratch = &c->r->tmp,
	             .buf = buf_str(&c->buf), .orig = buf_str(&c->orig), .parser = c->r->parser,
	             .max_depth = c->r->cfg->limits.nesting < 400 ? (uint32_t)c->r->cfg->limits.nesting + 32 : 432};
	return x;
}

static void begin_statement(CodeReader *c, ExprCtx *x, const Pending *p)
{
	Span span = code_span(c, p->at, p->end);
	x->proto = (Node){.loc = p->loc, .at = span.at, .end = span.end};
}

static bool cursor_start(PyParser *py, TSTree *tree)
{
	TSNode root = ts_tree_root_node(tree);
	if (!py->cursor_made)
		py->cursor = ts_tree_cursor_new(root);
	else
		ts_tree_cursor_reset(&py->cursor, root);
	py->cursor_made = true;
	return ts_tree_cursor_goto_first_child(&py->cursor);
}

/* An operation uses the values that its statement names; the return ends their lives. Renames and what takes inputs apart
 * use nothing. */
static void note_lives(CodeReader *c, const Pending *p, const StmtVal *sv)
{
	bool call = false;
	for (uint32_t i = sv->first_new.i; i < c->g->nodes.n && sv->form != SF_EXPR; i++)
		call |= c->g->nodes.v[i].kind == NK_CALL;
	for (uint32_t i = 0; i < c->used.n; i++) {
		const Life *u = &c->used.v[i];
		if (sv->form == SF_RETURN)
			life_end(&c->lives, u->name);
		else if (call && env_find(&c->env, u->name))
			life_use(&c->lives, c->r->scratch, u->name, u->at, u->end);
	}
	life_drop(&c->lives, c->r->program->names, str_sub(c->text->s, p->tail_at, p->tail_end));
}

/* Reads the statements of one tree. `p` are the pending ones, in order, that the tree covers. */
static void read_tree(CodeReader *c, TSTree *tree, const Pending *p, uint32_t n)
{
	PyParser *py = c->r->parser;
	ExprCtx x = expr_ctx(c);
	if (!cursor_start(py, tree))
		return;
	uint32_t i = 0;
	bool begun = false;
	do {
		TSNode node = ts_tree_cursor_current_node(&py->cursor);
		if (!ts_node_is_named(node))
			continue;
		uint32_t at = ts_node_start_byte(node);
		while (i + 1 < n && p[i + 1].buf <= at)
			i++, begun = false;
		if (c->returned)
			break;
		if (!begun)
			begin_statement(c, &x, &p[i]);
		begun = true;
		uint32_t end = ts_node_end_byte(node);
		c->used.n = 0;
		code_check_names(c, &p[i], str_sub(x.buf, at, end), str_sub(x.orig, at, end), p[i].at + (at - p[i].buf));
		StmtVal sv;
		expr_statement(&x, &py->cursor, &sv);
		code_statement(c, &p[i], &sv, &x);
		note_lives(c, &p[i], &sv);
	} while (ts_tree_cursor_goto_next_sibling(&py->cursor));
	arena_rewind(&c->r->tmp, (ArenaMark){0});
}

/* Does the tree of the group take the end of one statement and the start of the next for one? `x = torch.` does that. */
static bool crosses(CodeReader *c, TSTree *tree)
{
	PyParser *py = c->r->parser;
	uint32_t i = 0;
	if (!cursor_start(py, tree))
		return false;
	do {
		TSNode node = ts_tree_cursor_current_node(&py->cursor);
		while (i + 1 < c->group.n && c->group.v[i + 1].buf <= ts_node_start_byte(node))
			i++;
		if (i + 1 < c->group.n && ts_node_end_byte(node) > c->group.v[i + 1].buf)
			return true;
	} while (ts_tree_cursor_goto_next_sibling(&py->cursor));
	return false;
}

/* One fault must not take its neighbours along: a group with an error is parsed statement by statement. */
void code_flush(CodeReader *c)
{
	if (!c->group.n)
		return;
	PyParser *py = c->r->parser;
	TSTree *tree = py_parse(py, buf_str(&c->buf));
	if (!ts_node_has_error(ts_tree_root_node(tree)) && !crosses(c, tree)) {
		read_tree(c, tree, c->group.v, c->group.n);
	} else {
		Buf all = c->buf, orig = c->orig;
		for (uint32_t i = 0; i < c->group.n && !c->returned; i++) {
			Pending p = c->group.v[i];
			uint32_t end = i + 1 < c->group.n ? c->group.v[i + 1].buf - 1 : all.n;
			c->buf = (Buf){.a = all.a, .p = all.p + p.buf, .n = end - p.buf};
			c->orig = (Buf){.a = all.a, .p = orig.p + p.buf, .n = end - p.buf};
			p.buf = 0;
			read_tree(c, py_parse(py, buf_str(&c->buf)), &p, 1);
		}
		c->buf = all;
		c->orig = orig;
	}
	c->buf.n = c->orig.n = 0;
	c->group.n = 0;
}

/* The input ends right behind the statement, without a line end, and nothing is returned yet: half of it may be missing. */
static bool is_cut_off(const CodeReader *c, const Stmt *st)
{
	Str s = str_sub(c->text->s, st->at, st->end);
	if (!c->art->torn_end || st->end < str_rtrim(c->text->s).n)
		return false;
	return str_starts(s, S("return")) ? str_trim(s).n == 6 : c->art->open_end;
}

void code_queue(CodeReader *c, const Stmt *st)
{
	Pending p = {.at = st->at, .end = st->end, .tail_at = st->tail_at, .tail_end = st->tail_end, .loc = c->loc};
	c->last_at = st->at;
	c->last_end = st->end;
	if (is_cut_off(c, st)) {
		code_flush(c);
		code_unread(c, &p, st->at, st->end, "the dump ends inside this statement");
		return;
	}
	if (st->end == st->at) { /* ;  x = None */
		code_flush(c);
		code_unread(c, &p, st->at, st->tail_end, "the statement before what it drops is missing");
		return;
	}
	if (st->torn || st->too_long || st->too_deep) {
		code_flush(c);
		code_unread(c, &p, st->at, st->end,
		                 st->torn       ? "a bracket or string is still open where the line ends"
		                 : st->too_long ? "statement is longer than --max-statement"
		                                : "brackets nest deeper than --max-nesting");
		return;
	}
	uint32_t n = st->end - st->at;
	if (c->group.n == GROUP_STATEMENTS || (c->group.n && c->buf.n + n > GROUP_BYTES))
		code_flush(c);
	p.buf = c->buf.n;
	Str s = str_sub(c->text->s, st->at, st->end);
	buf_add(&c->orig, s);
	buf_add(&c->buf, s);
	for (uint32_t i = 0; i < st->ncomments; i++)
		memset(c->buf.p + p.buf + (st->comments[i].at - st->at), ' ', st->comments[i].end - st->comments[i].at);
	if (memchr(s.p, '<', s.n))
		words_mask_reprs(c->buf.p + p.buf, n);
	code_mask_flatten(c, c->buf.p + p.buf, n);
	for (uint32_t i = p.buf; i < c->buf.n; i++)
		if (c->buf.p[i] == 0)
			c->buf.p[i] = '?';
	buf_char(&c->orig, '\n');
	buf_char(&c->buf, '\n');
	VEC_PUSH(c->r->scratch, &c->group, p);
}
