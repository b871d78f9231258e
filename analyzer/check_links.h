/* SPDX-License-Identifier: MIT
 * check_links: values that leave one graph and enter another, as frames, parents of split modules, or names and order of
 * graphs that were printed one by one show it. */
#ifndef GRAPHLINT_CHECK_LINKS_H
#define GRAPHLINT_CHECK_LINKS_H

#include "check.h"

typedef struct Crossing {
	GraphId from, to;
	uint32_t output, input;
	bool same;       /* the very value; else a view of it */
	bool inferred;   /* the parts were printed one by one: by their number of inputs and their order */
	GraphId parent;  /* who calls both; 0: frames do */
	NodeId call;     /* its call of `to` */
} Crossing;

typedef struct Crossings {
	VEC(Crossing) v;
} Crossings;

/* All crossings, in the order of the graphs that the values leave, as far as the dump shows them. */
void check_crossings(const CheckCtx *c, Crossings *out, Arena *a);
/* The node that is output `output` of a graph; 0: a literal. */
NodeId check_output_node(const Graph *g, uint32_t output);
/* The graph that a call of a part runs: a body printed within its parent, else one printed behind it (*inferred). */
GraphId check_part_of_call(const CheckCtx *c, const Graph *parent, const Node *call, bool *inferred);

#endif
