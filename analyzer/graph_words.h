/* SPDX-License-Identifier: MIT
 * graph_words: how messages name what stands in a graph: nodes, operators, lines of the user's program. */
#ifndef GRAPHLINT_GRAPH_WORDS_H
#define GRAPHLINT_GRAPH_WORDS_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "ir.h"

/* Name of a node, or its target where the printer names none. */
Str node_shown(const Program *p, const Graph *g, NodeId id);
/* The operator as a reader knows it: `contiguous`, `torch.reshape`, `x[...] = v`; empty for inputs and attributes. */
Str operator_shown(Arena *a, const Program *p, const Node *n);
/* The operator without namespace and overload: "view" of torch.ops.aten.view.default, of torch.view and of x.view(...). */
Str operator_short(const Program *p, const Node *n);
/* The line of the user's program that made a node; the zero value where the dump names none. */
UserSource node_source(const Program *p, const Sources *src, const Graph *g, NodeId id);

#endif
