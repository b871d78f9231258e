/* SPDX-License-Identifier: MIT */
#include "where.h"

#include <stdlib.h>

#include "bytecode.h"

static uint32_t greater(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static Extent graph_extent(const Graph *g)
{
	uint32_t end = g->end;
	for (uint32_t i = 1; i < g->nodes.n; i++)
		end = greater(end, g->nodes.v[i].end);
	for (uint32_t j = 0; j < g->outputs.n; j++)
		end = greater(end, g->outputs.v[j].end);
	return (Extent){.file = g->file.i, .at = g->at, .end = end, .graph = g};
}

static Extent frame_extent(const Frame *f, FrameRef ref)
{
	uint32_t end = f->end;
	if (f->code && f->code->n)
		end = greater(end, f->code->places[f->code->n - 1].end);
	return (Extent){.file = f->dump.i, .at = f->at, .end = end, .frame = ref};
}

static int by_place(const void *a, const void *b)
{
	const Extent *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

/* `open` is the innermost extent that has not ended. */
static void nest(WhereIndex *w)
{
	uint32_t open = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		Extent *e = &w->v[i];
		while (open && (w->v[open - 1].file != e->file || w->v[open - 1].end <= e->at))
			open = w->v[open - 1].up;
		e->up = open;
		e->depth = (open ? w->v[open - 1].depth : 0) + (e->graph != NULL);
		open = i + 1;
	}
}

WhereIndex where_index(const Program *p, Arena *a)
{
	WhereIndex w = {NEW_N(a, Extent, p->graphs.n + p->frames.n + 1), 0};
	for (uint32_t i = 1; i < p->graphs.n; i++)
		w.v[w.n++] = graph_extent(p->graphs.v[i]);
	for (uint32_t i = 0; i < p->frames.n; i++)
		w.v[w.n++] = frame_extent(&p->frames.v[i], i + 1);
	qsort(w.v, w.n, sizeof *w.v, by_place);
	nest(&w);
	return w;
}

/* Nodes stand in the order of the text. */
static NodeId node_at(const Graph *g, uint32_t at)
{
	uint32_t lo = 1, hi = g->nodes.n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (g->nodes.v[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (NodeId){lo < g->nodes.n && g->nodes.v[lo].at == at ? lo : 0};
}

Where where_of(const WhereIndex *w, Span at)
{
	uint32_t lo = 0, hi = w->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const Extent *e = &w->v[mid];
		if (e->file < at.file.i || (e->file == at.file.i && e->at <= at.at))
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo && (w->v[lo - 1].file != at.file.i || w->v[lo - 1].end <= at.at))
		lo = w->v[lo - 1].file == at.file.i ? w->v[lo - 1].up : 0;
	if (!lo)
		return (Where){0};
	const Extent *e = &w->v[lo - 1];
	return (Where){e->graph, e->frame, e->graph ? node_at(e->graph, at.at) : (NodeId){0}, e->depth};
}
