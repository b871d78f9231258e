/* SPDX-License-Identifier: MIT
 * match_world: the analysed program as patterns see it: values across graphs, memory, users, operators by name. */
#ifndef GRAPHLINT_MATCH_WORLD_H
#define GRAPHLINT_MATCH_WORLD_H

#include "base.h"
#include "check.h"
#include "rules.h"

/* A node of a graph; g 0: none. */
typedef struct Val {
	uint32_t g, n;
} Val;

static inline bool val_eq(Val a, Val b) { return a.g == b.g && a.n == b.n; }
static inline uint64_t val_key(Val v) { return (uint64_t)v.g << 32 | v.n; }

typedef VEC(Val) Vals;

/* A value that goes from one graph into another. */
typedef struct CrossLink {
	Val from, to;
	bool same;              /* the very object; else a view of it */
	uint32_t next_from, next_to; /* further links of the same end, plus 1 */
} CrossLink;

typedef struct World {
	const CheckCtx *c;
	Arena *a;               /* as long as the world */
	CheckGraph **graphs;    /* by GraphId, made when asked for */
	VEC(CrossLink) links;
	Map from, to;           /* val_key -> index in links, plus 1 */
	Map packets;            /* callee and target -> Sym of the packet, plus 1 */
	uint64_t work, most;    /* steps of the rule that is matched */
	Str trouble;            /* why an answer was not found out: a limit of a regular expression */
} World;

void world_init(World *w, const CheckCtx *c, Arena *a);
/* Counts work; false when the limit of this rule is reached. */
bool world_work(World *w, uint64_t n);
/* A graph as checks see it; NULL when it is not analysed. */
CheckGraph *world_graph(World *w, uint32_t g);
const Node *world_node(World *w, Val v);
/* "aten.view" for every spelling of it; 0 where there is no such operator. */
Sym world_packet(World *w, Callee callee, Sym target);

/* The value itself, and what it is in the graphs that it came from: as the same object, or (`views`) as a view. */
void world_sources(World *w, Val v, bool views, Arena *a, Vals *out);
/* The value itself, and what it is in the graphs that it goes to. */
void world_sinks(World *w, Val v, bool views, Arena *a, Vals *out);
bool world_same(World *w, Val a, Val b);
/* All that the value is a view of, itself first; the certainty of each, parallel, may be NULL. */
typedef VEC(Tri) Tris;
void world_bases(World *w, Val v, Arena *a, Vals *out, Tris *certain);
/* All that is a view of the value, itself first. */
void world_views(World *w, Val v, Arena *a, Vals *out);
/* All that the value is computed from, itself first; all that is computed from it. */
void world_reasons(World *w, Val v, Arena *a, Vals *out);
void world_results(World *w, Val v, Arena *a, Vals *out);
/* Do two values share memory? *why: a condition in words where the answer is perhaps; may be NULL. */
Tri world_aliases(World *w, Val a, Val b, Str *why);
/* Calls that take a value, in all graphs that it goes to as the same object. */
void world_users(World *w, Val v, Arena *a, Vals *out);

#endif
