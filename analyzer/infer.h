/* SPDX-License-Identifier: MIT
 * infer: the type of every node: the printed one where there is one and it can be trusted at that
 * point, else computed by the rules of rules/shapes.tsv (see shapes.h).
 *
 * A computed type says what is certain. Two things are taken for granted, as a dump cannot show
 * them: a new tensor without dtype is float32 and one without device is on the CPU (PyTorch's own
 * defaults). */
#ifndef GRAPHLINT_INFER_H
#define GRAPHLINT_INFER_H

#include "base.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "shapes.h"

/* A statement that changed sizes, strides or storage of an object (t_, resize_, set_ ...). */
typedef struct LayoutWrite {
	NodeId node;
	uint32_t object; /* of which it is certain */
	TypeId type; /* of the object afterwards */
} LayoutWrite;

typedef struct NodeTypes {
	TypeId
		*v; /* indexed by NodeId: type when the node has just run; 0 unknown, or several values */
	/* For nodes that return several values (tensors of chunk, sizes of x.shape):
	 * members at elems.v[elem_at[node] .. +nelems[node]). */
	struct {
		TypeId *v;
		uint32_t n, cap;
	} elems;
	uint32_t *elem_at, *nelems;
	uint32_t n; /* nodes, slot 0 included */
	Names *names;
	/* Only of graphs that write layouts, else NULL: */
	uint32_t *object; /* by NodeId: equal number, surely the same object */
	uint32_t *cluster; /* by NodeId: equal number, perhaps the same object */
	LayoutWrite *writes; /* by cluster: writes[write_at[c] .. +nwrites[c]), in program order */
	uint32_t *write_at, *nwrites;
} NodeTypes;

/* Types of the nodes of all graphs of the program, indexed by GraphId (slot 0 NULL). Bodies of
 * higher-order operators and submodules get the types of their operands; called more than once,
 * what those have in common. `torch`: versions asked for; 0,0: those of each graph. */
NodeTypes **infer_program(const Program *p, Types *t, Facts *f, const Shapes *rules,
                          VersionSpan torch, Arena *a);
/* Types of one graph's nodes. `child` may be NULL; otherwise it gives the NodeTypes of nested
 * bodies done before, by GraphId. Annotations show the end of the trace: for objects whose layout
 * the graph writes, the printed layout is not used before the last such write. */
NodeTypes infer_types(const Program *p, const Graph *g, Types *t, Facts *f, const Shapes *rules,
                      VersionSpan torch, const NodeTypes *const *child, Arena *a);
/* The dtype that the rules give a call from the types that its operands have in `nt`, whatever is printed for the call
 * itself; by NodeId, DT_NONE where they do not tell, and for nodes that are not in `want`. */
DType *infer_dtypes(const Program *p, const Graph *g, Types *t, Facts *f, const Shapes *rules,
                    VersionSpan torch, const NodeTypes *nt, const bool *want, Arena *a);
/* Type of a node as the statement `user` finds it: the layout of an object that was written in
 * between is that of the write. user 0: at the end of the graph. */
TypeId infer_type_at(const NodeTypes *nt, Types *t, NodeId node, NodeId user);
/* Type of an argument at its use (literal numbers give TK_SYM). `arg` must lie in g->args for that;
 * another one is taken to be used at the end of the graph. */
TypeId infer_arg(const NodeTypes *nt, const Graph *g, Types *t, const Arg *arg);
/* An argument as a size expression: an int, a symbolic node, nested arithmetic; 0 when unknown. */
ExprId infer_expr(const NodeTypes *nt, const Graph *g, Types *t, Names *names, const Arg *arg);
/* Sizes given as one list/tuple/torch.Size/x.shape or as separate positional arguments from
 * position `from` on (view(2, 3), view((2, 3))); -1 stays -1. Their number and values into *size,
 * from `a`. False when something is not known. */
bool infer_shape(const NodeTypes *nt, const Graph *g, Types *t, Names *names, const Node *n,
                 uint32_t from, const ExprId **size, uint32_t *count, Arena *a);
/* The stable text of --dump=types: a line per node: name, type, "printed" or "inferred". */
void types_dump(const Program *p, const Graph *g, Types *t, const NodeTypes *nt, Buf *out);

#endif
