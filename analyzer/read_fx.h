/* SPDX-License-Identifier: MIT
 * read_fx: nodes of an fx graph that is printed node by node, with opcodes: what print(gm.graph)
 * and print_tabular have in common. */
#ifndef GRAPHLINT_READ_FX_H
#define GRAPHLINT_READ_FX_H

#include "base.h"
#include "source.h"
#include "ir.h"
#include "split.h"
#include "read.h"
#include "read_target.h"
#include "read_value.h"

typedef enum FxOp {
	FX_NONE,
	FX_PLACEHOLDER,
	FX_GET_ATTR,
	FX_CALL_FUNCTION,
	FX_CALL_METHOD,
	FX_CALL_MODULE,
	FX_OUTPUT
} FxOp;
FxOp fx_op(Str word);

/* One graph while it is read. */
typedef struct FxReader {
	Reader *r;
	Graph *g;
	const Text *text;
	Map nodes; /* Sym of a name -> NodeId */
	ValueReader values;
	VEC(Sym) unbound; /* of the statement that is being read: names that no line above defines */
	uint32_t pool; /* arguments of this statement are in g->args[pool..) */
	bool returned; /* the output was read */
	bool full; /* the limit on nodes is reached */
} FxReader;

/* One printed node. Positions are bytes of the text. */
typedef struct FxRow {
	FxOp op;
	Str name;
	Str type; /* as printed; empty none */
	Target target;
	Arg *args;
	uint32_t nargs;
	uint32_t at, end;
} FxRow;

/* Adds an empty graph of the artifact; *f must not move afterwards. */
void fx_begin(FxReader *f, Reader *r, ArtifactId id, const Artifact *art, const Text *text);
/* Before each attempt to read a statement. */
void fx_statement(FxReader *f);
/* Reads a value of the statement and collects the names in it that no line defines. */
bool fx_value(FxReader *f, ValueForm form, Str s, uint32_t *at, Arg *out);
/* The words for a value that could not be read. */
const char *fx_fault(const FxReader *f);
/* Positional arguments and the members of a kwargs dict (NULL: none) as the arguments of a call. */
Arg *fx_join_args(FxReader *f, const Arg *args, const Arg *kwargs, uint32_t *n);
/* Adds the node and binds its name. `getattr` with a literal name becomes an attribute read. Names
 * that no line defines become NK_UNREAD nodes of their own: their line is missing. */
void fx_add(FxReader *f, FxRow *row);
/* Text [at, end) that is no node that could be read: GL901 at [fault, end), and an NK_UNREAD node
 * that holds the nodes named in `s`, when there are any or the text defines a name. */
void fx_unread(FxReader *f, ValueForm form, Str s, Str name, uint32_t at, uint32_t end,
               uint32_t fault, const char *why);
/* An output over [at, end) that could not be read: GL901 at [fault, end); the nodes named in `s`
 * are returned. */
void fx_unread_output(FxReader *f, Str s, uint32_t at, uint32_t end, uint32_t fault,
                      const char *why);
/* The returned value. Places of the members of a tuple or list are the parts of the value read
 * last, which was read from text that begins at byte `base` (UINT32_MAX: from no part of the text;
 * members get the place [at, end)). */
void fx_output(FxReader *f, Arg value, uint32_t base, uint32_t at, uint32_t end);
/* The graph's text ends: without an output it is truncated, which is told. */
void fx_end(FxReader *f);

#endif
