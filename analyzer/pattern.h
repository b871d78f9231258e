/* SPDX-License-Identifier: MIT
 * pattern: FX code with metavariables, read by the reader of printed graphs into a little graph of its own.
 *
 *     $c = $x.contiguous()
 *     $v = $c.view(...)
 *     return $v
 *
 * $x stands for a value or an argument, $OP (capitals) for an operator or the path of an attribute, `...` for any arguments.
 * Operators match as they are spelled; aten.view is the operator in whatever spelling. Edges: `$v = views($c)` through any
 * number of views, `$v = depends($c)` through any operators; `$x = input()` is a placeholder. */
#ifndef GRAPHLINT_PATTERN_H
#define GRAPHLINT_PATTERN_H

#include "base.h"
#include "types.h"
#include "ir.h"

enum { PATTERN_VARS = 48, PATTERN_NODES = 32, PATTERN_ELEMS = 256, PATTERN_LISTS = 64, PATTERN_TEXT = 8192 };

typedef enum PatOp {
	PO_SPELLED,  /* callee and target as printed */
	PO_PACKET,   /* the operator, whatever its spelling: "aten.view" */
	PO_VAR,      /* $OP: var `op`; callee CALLEE_FUNCTION: written in any way */
	PO_ATTR,     /* self.path */
	PO_ATTR_VAR, /* self.$P */
	PO_INPUT,    /* input() */
	PO_VIEWS,    /* views($c) */
	PO_DEPENDS   /* depends($c) */
} PatOp;

typedef enum PatElemKind {
	PE_VAR,
	PE_LITERAL, /* equal to `arg` */
	PE_LIST,    /* tuple, list or slice whose members match `list` */
	PE_REST     /* any number of arguments */
} PatElemKind;

typedef struct PatElem {
	uint8_t kind;    /* PatElemKind */
	uint8_t var;     /* PE_VAR */
	uint8_t slice;   /* PE_LIST: the members of a slice */
	uint16_t list;   /* PE_LIST */
	Sym key;         /* keyword; 0 positional */
	const Arg *arg;  /* PE_LITERAL, in Pattern.graph */
} PatElem;

/* An argument list, or the members of a tuple, list or slice. */
typedef struct PatList {
	uint16_t at, n;   /* Pattern.elems */
	uint8_t node;     /* whose arguments they are; nested: within whose */
	bool top;         /* of the call itself */
	uint8_t rests;    /* `...` in it */
} PatList;

typedef struct PatNode {
	uint8_t op, callee; /* PatOp, Callee */
	uint8_t var;        /* the metavariable on its left, or a nameless one */
	uint8_t op_var;     /* PO_VAR, PO_ATTR_VAR */
	Sym target;         /* PO_SPELLED, PO_ATTR; PO_PACKET: "aten.view" */
	uint16_t list;      /* arguments; of PO_VIEWS, PO_DEPENDS: one variable */
	bool has_list;
} PatNode;

typedef struct PatVar {
	Str name;     /* without the $; empty: nameless */
	bool op;      /* of operators */
	int8_t node;  /* the node that defines it; -1: free */
	bool returned;
	uint32_t at;  /* first place in the text */
} PatVar;

typedef struct Pattern {
	PatNode node[PATTERN_NODES];
	PatVar var[PATTERN_VARS];
	PatElem elem[PATTERN_ELEMS];
	PatList list[PATTERN_LISTS];
	uint32_t nnodes, nvars, nelems, nlists;
	const Graph *graph; /* as it was read */
} Pattern;

/* Reads a pattern. False, what is wrong in *why, and where in the text in *at. */
bool pattern_parse(Pattern *p, Arena *a, Names *names, Str text, Buf *why, uint32_t *at);
/* Index of a metavariable; -1: none of that name. */
int pattern_var(const Pattern *p, Str name);
/* Are two arguments equal as they are printed? */
bool pattern_same_arg(const Graph *ga, const Arg *a, const Graph *gb, const Arg *b);

#endif
