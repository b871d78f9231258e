/* SPDX-License-Identifier: MIT
 * link_places: where the inputs of a graph lay when it was captured, from what a trace says of the tensors,
 * or from the code that AOTAutograd put around the graph.
 * Facts: torch/_subclasses/meta_utils.py (MetaTensorDescriber), torch/_dynamo/output_graph.py (names of placeholders) of
 * PyTorch 2.3 to 2.15. */
#ifndef GRAPHLINT_LINK_PLACES_H
#define GRAPHLINT_LINK_PLACES_H

#include "base.h"
#include "source.h"
#include "types.h"
#include "ir.h"
#include "split.h"

/* Fills Graph.places of the graphs of Dynamo whose compilation a trace describes. */
void link_places(Program *p, const Types *types, const Artifacts *artifacts, const Sources *sources, Arena *scratch);

#endif
