/* SPDX-License-Identifier: MIT
 * read_expr: one parsed Python statement -> IR nodes and arguments. */
#ifndef GRAPHLINT_READ_EXPR_H
#define GRAPHLINT_READ_EXPR_H

#include <tree_sitter/api.h>

#include "base.h"
#include "ir.h"

typedef enum PyKind {
	PY_OTHER,
#define PY(id, name) PY_##id,
#include "py_nodes.def"
#undef PY
	PY_ERROR,
	PY_N
} PyKind;

/* The parser, its reused buffers and the numbers of the grammar's nodes. */
typedef struct PyParser {
	TSParser *ts;
	TSTree *tree;    /* of what was parsed last; here, so that py_parser_free finds it whatever ended the reading */
	TSTreeCursor cursor;
	bool cursor_made;
	uint8_t *kind_of; /* by TSSymbol */
	uint32_t nsymbols;
	TSFieldId f_left, f_right, f_type, f_value, f_operator, f_function, f_object, f_name;
} PyParser;

/* Creates the parser; NULL when the grammar's ABI is refused by the core. */
PyParser *py_parser_new(Arena *a);
void py_parser_free(PyParser *p);
/* The tree of a text; good until the next one. */
TSTree *py_parse(PyParser *p, Str s);
/* How tree-sitter takes memory; for main, once. */
void py_parser_memory(void);

/* What a name means inside one forward function. */
typedef struct Env {
	Map map;         /* Sym -> index + 1 in bound */
	VEC(Arg) bound;
} Env;

void env_bind(Env *e, Arena *a, Sym name, Arg value);
const Arg *env_find(const Env *e, Sym name); /* NULL: not bound */

typedef enum ValKind {
	V_ARG,       /* arg */
	V_IDENT,     /* sym: a name, not looked up yet */
	V_DOTTED,    /* sym: torch.float32 */
	V_SELF,      /* sym: path below self; empty for self */
	V_ATTR,      /* base.sym, base a node */
	V_SUBSCRIPT, /* base[arg] */
	V_KEYWORD,   /* sym=arg */
	V_PAIR,      /* base: arg, in a dict */
	V_TOKEN,     /* text of an operator, a colon, a type: at..end */
	V_FLATTEN,   /* fx_pytree.tree_flatten_spec(...): what is left of it are the inputs */
	V_UNFLATTEN, /* pytree.tree_unflatten(arg, ...): arg are the outputs */
	V_NEXT,      /* next(args_iter): the next input of the boxed convention */
	V_PROFILER,  /* profiler calls that stand around each node: no effect */
	V_BAD        /* could not be read */
} ValKind;

typedef struct Val {
	uint8_t kind;      /* ValKind */
	uint8_t field;     /* internal: TSFieldId */
	Sym sym;
	Arg arg, base;
	uint32_t at, end;  /* bytes of the parse buffer */
} Val;

typedef enum StmtForm { SF_EXPR, SF_ASSIGN, SF_AUGMENTED, SF_RETURN, SF_PASS, SF_DECLARE, SF_BAD } StmtForm;

typedef struct StmtVal {
	StmtForm form;
	Val left, right;       /* right: the value of SF_EXPR, SF_ASSIGN, SF_AUGMENTED, SF_RETURN */
	const Val *targets;    /* several names on the left: a, b, = ... */
	uint32_t ntargets;
	bool has_type;
	uint32_t type_at, type_end;
	Sym op;                /* SF_AUGMENTED: "iadd" */
	const Val *elements;   /* SF_RETURN of a bare list of expressions */
	uint32_t nelements;
	NodeId first_new;      /* first node that the statement made; nodes.n before it */
	uint32_t bad_at, bad_end; /* SF_BAD: the part that could not be read */
	const char *why;
} StmtVal;

typedef struct ExprCtx {
	Graph *g;
	Names *names;
	const Env *env;
	Arena *scratch;
	Str buf;           /* what was parsed */
	Str orig;          /* the same bytes before masking */
	Node proto;        /* place and source line that new nodes get */
	uint32_t max_depth;
	/* internal */
	PyParser *parser;
	VEC(Val) stack;
} ExprCtx;

/* Reads the statement at the cursor (a child of the module) and makes its nodes. */
void expr_statement(ExprCtx *x, TSTreeCursor *c, StmtVal *out);
/* Turns a value into an argument, making the nodes it needs. */
Arg expr_arg(ExprCtx *x, const Val *v);
/* Makes a node of this statement. */
NodeId expr_emit(ExprCtx *x, NodeKind kind, Callee callee, Sym target, const Arg *args, uint32_t n);

#endif
