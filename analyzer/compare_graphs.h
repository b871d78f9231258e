/* SPDX-License-Identifier: MIT
 * compare_graphs: two printings of one graph, matched node by node by what each node computes from what: an operator, its
 * literals and what its operands are. Says what is gone, new or changed, which writes are gone, which reads and writes
 * changed order, which outputs share memory with something else. Work is linear in the two graphs. */
#ifndef GRAPHLINT_COMPARE_GRAPHS_H
#define GRAPHLINT_COMPARE_GRAPHS_H

#include "check.h"

typedef enum ChangeKind {
	CHANGE_INPUT_GONE,   /* a */
	CHANGE_INPUT_NEW,    /* b */
	CHANGE_NODE_GONE,    /* a */
	CHANGE_NODE_NEW,     /* b */
	CHANGE_LITERAL,      /* a, b: equal but for a number or another literal; texts */
	CHANGE_OPERANDS,     /* a, b: the same call with other operands */
	CHANGE_TYPE,         /* a, b: another dtype or other sizes; texts */
	CHANGE_WRITE_LOST,   /* a: a write that is seen, and nothing in b does it */
	CHANGE_ORDER,        /* a, b: a read that stood on the other side of a write; by: that write in a */
	CHANGE_OUTPUTS,      /* another number of outputs; texts */
	CHANGE_OUTPUT,       /* output: another value is returned; a, b may be 0 */
	CHANGE_ALIAS         /* output: shares memory with something else; texts */
} ChangeKind;

typedef struct GraphChange {
	ChangeKind kind;
	NodeId a, b, by;
	uint32_t output;
	Str was, is;
} GraphChange;

typedef struct GraphMatch {
	const CheckGraph *a, *b;
	NodeId *b_of, *a_of;  /* by NodeId of the other graph; 0: none */
	uint64_t *a_class, *b_class; /* by NodeId: equal, surely the same value but for writes to its memory */
	bool *b_exact;        /* by NodeId of b: its partner is equal, literals and operands too */
	uint32_t exact, near; /* pairs of calls that are equal, and that are equal but for literals or operands */
	uint32_t a_calls, b_calls;
} GraphMatch;

typedef struct GraphChanges {
	VEC(GraphChange) v;
} GraphChanges;

/* Matches two graphs. `keep`, in all of these, is where the answer lives: not c->scratch, which is given back by parts. */
GraphMatch *graphs_match(const CheckCtx *c, const CheckGraph *a, const CheckGraph *b, Arena *keep);
/* Writes of a that nothing in b does, and reads that changed sides with a write; in program order of a. */
void graphs_effects(const CheckCtx *c, const GraphMatch *m, GraphChanges *out, Arena *keep);
/* A graph with types and summary, made anew for a further printing, which the passes before leave out. */
CheckGraph *graphs_view(const CheckCtx *c, const Graph *g, Arena *keep);
/* Equal for graphs that compute the same by the same nodes in the same order, whatever names and types they print.
 * `numbers`: literal numbers count too. */
uint64_t graph_structure(const CheckCtx *c, const Graph *g, bool numbers);

#endif
