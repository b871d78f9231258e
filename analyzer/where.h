/* SPDX-License-Identifier: MIT
 * where: which graph or frame a place of a dump belongs to. */
#ifndef GRAPHLINT_WHERE_H
#define GRAPHLINT_WHERE_H

#include "base.h"
#include "ir.h"
#include "frame_graph.h"

typedef struct Where {
	const Graph *graph; /* the innermost one; NULL: none */
	FrameRef frame;     /* 0 none */
	NodeId node;        /* of the graph, that begins exactly there; 0 none */
	uint32_t depth;     /* graphs around it: 0 for a frame, 1 for a graph, more for bodies */
} Where;

/* Text of one graph or frame. */
typedef struct Extent {
	uint32_t file, at, end;
	const Graph *graph;
	FrameRef frame;
	uint32_t up; /* the extent around this one, plus 1 */
	uint32_t depth;
} Extent;

typedef struct WhereIndex {
	Extent *v;
	uint32_t n;
} WhereIndex;

WhereIndex where_index(const Program *p, Arena *a);
Where where_of(const WhereIndex *w, Span at);

#endif
