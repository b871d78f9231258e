/* SPDX-License-Identifier: MIT
 * link: which printings are one graph, which AOT graph belongs to which Dynamo graph, which attempts were
 * given up. Facts: record order and names of PyTorch 2.0 to 2.15 logs, and of torchdynamo 2022. */
#ifndef GRAPHLINT_LINK_H
#define GRAPHLINT_LINK_H

#include "base.h"
#include "source.h"
#include "ir.h"
#include "split.h"

/* Sets printing_of, of and superseded of all graphs. Graphs of different processes never join. */
void link_graphs(Program *p, const Artifacts *artifacts, const Sources *sources, Arena *scratch);
/* The graph that a printing stands for. */
const Graph *link_principal(const Program *p, const Graph *g);
/* Was the graph captured by Dynamo of PyTorch 2.x (or has its AOT graph in the dump)? */
bool link_captured_by_2x(const Program *p, const Graph *g);

#endif
