/* SPDX-License-Identifier: MIT
 * infer: the type of every node: the printed one where there is one and it can be trusted at that point,
 * else computed by the verified formulas. */
#ifndef GRAPHLINT_INFER_H
#define GRAPHLINT_INFER_H

#include "base.h"
#include "types.h"
#include "ir.h"
#include "facts.h"

typedef struct NodeTypes {
	TypeId *v;          /* indexed by NodeId: type when the node has just run; 0 unknown */
	/* For nodes that return several tensors: members at elems[elem_at[node] .. +nelems[node]). */
	TypeId *elems;
	uint32_t *elem_at, *nelems;
	uint32_t n;         /* nodes, slot 0 included */
} NodeTypes;

/* Types of a graph's nodes. Annotations show the end of the trace: for objects whose layout the graph writes
 * (t_, transpose_, squeeze_, unsqueeze_, resize_, as_strided_, set_, swapaxes_ ...) the printed layout is not used
 * before the last such write. `child` may be NULL; otherwise it gives the NodeTypes of nested bodies done before. */
NodeTypes infer_types(const Program *p, const Graph *g, Types *t, Facts *f, VersionSpan torch, const NodeTypes *const *child, Arena *a);
/* Type of an argument at its use by `user` (literal numbers give TK_SYM). Layout of an object that was written in
 * between is that of the write. */
TypeId infer_arg(const NodeTypes *nt, const Graph *g, Types *t, const Arg *arg);
/* An argument as a size expression: an int, a symbolic node, nested arithmetic; 0 when unknown. */
ExprId infer_expr(const NodeTypes *nt, const Graph *g, Types *t, Names *names, const Arg *arg);
/* Sizes given as one list/tuple/torch.Size or as separate arguments from position `from` on (view(2, 3), view((2, 3)));
 * -1 stays -1. False when something is not known. */
bool infer_shape(const NodeTypes *nt, const Graph *g, Types *t, Names *names, const Node *n, uint32_t from, const ExprId **size, uint32_t *count, Arena *a);
/* The stable text of --dump=types: a line per node: name, type, "printed" or "inferred". */
void types_dump(const Program *p, const Graph *g, Types *t, const NodeTypes *nt, Buf *out);

#endif
