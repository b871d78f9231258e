/* SPDX-License-Identifier: MIT
 * read_code_priv: what the parts of the reader of printed forward code share. */
#ifndef GRAPHLINT_READ_CODE_PRIV_H
#define GRAPHLINT_READ_CODE_PRIV_H

#include "read.h"

#include "read_expr.h"
#include "read_life.h"
#include "read_scan.h"
#include "read_words.h"

/* A statement that waits in the group. */
typedef struct Pending {
	uint32_t at, end;    /* clean text */
	uint32_t tail_at, tail_end; /* what it drops */
	uint32_t buf;        /* where it starts in the parse buffer */
	uint32_t loc;
	uint32_t ncomments;
	CommentAt *comments;
} Pending;

typedef struct CodeReader {
	Reader *r;
	Graph *root, *g;     /* g: the class being read */
	const Text *text;
	Env env;
	struct {
		Graph *g;
		uint32_t indent;
	} open[64];          /* classes around, outermost first */
	uint32_t nopen;
	bool in_forward;     /* a def forward was seen for g */
	bool in_other_def;   /* inside __init__ or another method */
	uint32_t other_indent;
	bool returned;
	bool calls;          /* an operation of g was read */
	bool no_def;         /* the def line is missing: inputs are the names that nothing makes */
	uint32_t loc;
	Map loc_of;          /* hash of a source comment -> loc, per graph */
	NodeId unnamed;      /* setitem or iadd that the next statement names */
	Map declared;        /* Sym -> TypeId of bare annotations */
	Lives lives;
	VEC(Life) used;      /* values that the statement names */
	bool cut;            /* a statement could not be read: what it dropped is not known */
	Buf buf, orig;
	VEC(Pending) group;
	ArtifactId id;
	const Artifact *art;
	uint32_t last_at, last_end; /* the last statement: where a graph that ends early ends */
} CodeReader;

static inline Span code_span(const CodeReader *c, uint32_t at, uint32_t end)
{
	return text_span(c->text, at, end);
}

static inline Sym code_sym(CodeReader *c, Str s)
{
	return sym_intern(c->r->program->names, s);
}

static inline Arg code_node(NodeId id)
{
	return (Arg){.kind = AR_NODE, .u.node = id};
}

/* ---- what goes in and out (read_code_io.c) ---- */

/* # File: model.py:41 in forward, code: ... */
void code_comment(CodeReader *c, const Stmt *st);
NodeId code_input(CodeReader *c, Sym name, TypeId type, bool typed, Span at, Sym descriptor);
/* Without quotes around it. */
Str code_unquote(Str s);
/* The parameters between two brackets of the text. */
void code_signature(CodeReader *c, uint32_t open, uint32_t close);
/* return X: the top-level container's elements are the outputs, each with its own place in the text. */
void code_return(CodeReader *c, const Pending *p, const StmtVal *sv, ExprCtx *x);

/* ---- statements (read_code_stmt.c) ---- */

void code_statement(CodeReader *c, const Pending *p, const StmtVal *sv, ExprCtx *x);
/* The name and, if `type` is given, the type that a statement gives a node. */
void code_name_node(CodeReader *c, NodeId id, Sym name, const TypeId *type);
/* A statement that could not be read: the names on its left mean "unknown", made from the nodes on its right. */
void code_unread(CodeReader *c, const Pending *p, uint32_t at, uint32_t end, const char *why);
/* Looks over a statement for names that nothing makes. Only what stands where an operand can stand counts: not
 * attribute names, keywords, called functions, strings. `s` is what the parser got, `orig` the same bytes unmasked, `at`
 * where they stand in the text. */
void code_check_names(CodeReader *c, const Pending *p, Str s, Str orig, uint32_t at);
/* Joint graphs of 2.0 and 2.1 have `primals_1: f32[2, 3], tangents_1: f32[6], = fx_pytree.tree_flatten_spec(...)`, which is
 * no Python. Notes the types and masks them in `p`, the n bytes that the parser gets. */
void code_mask_flatten(CodeReader *c, char *p, uint32_t n);

/* ---- groups (read_code_group.c) ---- */

/* Appends a statement to the group, which is read when it is long enough. */
void code_queue(CodeReader *c, const Stmt *st);
/* Reads what waits. */
void code_flush(CodeReader *c);

#endif
