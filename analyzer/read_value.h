/* SPDX-License-Identifier: MIT
 * read_value: argument values as print(gm.graph) and print_tabular write them -> arguments of the
 * IR.
 *
 * Two forms (torch/fx/node.py and torch/fx/graph.py, PyTorch 1.8 to 2.15):
 *  VALUE_REPR  repr() of Python: strings quoted, nodes as bare names. Tables, and `return` of
 *              print(gm.graph).
 *  VALUE_RAW   _format_arg: nodes with %, strings without quotes, so text that is no other form is
 *              a string.
 *              Inside slice(...) and range(...) it is repr again. */
#ifndef GRAPHLINT_READ_VALUE_H
#define GRAPHLINT_READ_VALUE_H

#include "base.h"
#include "ir.h"

typedef enum ValueForm { VALUE_REPR, VALUE_RAW } ValueForm;

/* Why a value was not read. */
typedef enum ValueFault { VALUE_FINE, VALUE_BAD, VALUE_TOO_DEEP } ValueFault;

/* Where a direct member of the outermost tuple or list stands. */
typedef struct ValuePart {
	uint32_t at, end;
} ValuePart;

/* A bracket that is still open. */
typedef struct ValueOpen {
	uint8_t kind; /* ArgKind of what it will be */
	char close; /* the character that closes it */
	bool comma, set; /* a comma was seen; {1, 2} */
	Sym sym, key; /* callee of a call; keyword that the whole has in the call around it */
	uint32_t base; /* its members are items[base..) */
	uint32_t at;
} ValueOpen;

typedef struct ValueReader {
	Names *names;
	Graph *g; /* compounds go to its pool */
	const Map *nodes; /* Sym of a node's name -> NodeId */
	Arena *scratch;
	uint32_t max_nesting;
	/* results of value_read: */
	ValueFault fault;
	uint32_t fault_at; /* where reading stopped */
	VEC(Sym)
	unbound; /* names that must be nodes and are not among `nodes`; their arguments are AR_NAME */
	VEC(ValuePart) parts; /* members of the outermost bracket */
	/* internal */
	VEC(Arg) items;
	VEC(ValueOpen) open;
} ValueReader;

ValueReader value_reader(Names *names, Graph *g, const Map *nodes, Arena *scratch,
                         uint32_t max_nesting);
/* Reads the value that begins at s.p[*at] and moves *at behind it. False, with fault and fault_at
 * set, when the text is no value or nests too deep. Iterative; every byte is looked at a bounded
 * number of times. */
bool value_read(ValueReader *v, ValueForm form, Str s, uint32_t *at, Arg *out);
/* The nodes that a text names, each once, in order: for statements that cannot be read. */
uint32_t value_nodes(ValueReader *v, ValueForm form, Str s, const Arg **out);
/* End of the name (letters, digits, _) that begins at s.p[at]. */
uint32_t value_name_end(Str s, uint32_t at);

#endif
