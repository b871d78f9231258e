/* SPDX-License-Identifier: MIT
 * memory: the abstract memory of one graph. A tensor object has exactly one storage at a time. What a dump does not
 * decide is an edge: "this storage may be that one", "this object may be that one", each with its condition. */
#ifndef GRAPHLINT_MEMORY_H
#define GRAPHLINT_MEMORY_H

#include "base.h"
#include "ir.h"

typedef enum StoreKind { STORE_NEW, STORE_INPUT, STORE_ATTR, STORE_UNKNOWN } StoreKind;

/* Storage or object `from` may be `to`; found by way of object `via`, at `node`, if `cond` holds. */
typedef struct MayEdge {
	uint32_t to, via;
	NodeId node;
	Str cond;
	uint32_t next; /* next edge of the same start; 0 none */
} MayEdge;

typedef struct Store {
	StoreKind kind;
	uint32_t index;  /* of the input or attribute */
	NodeId node;     /* who made it */
	uint32_t edges;  /* first MayEdge; 0: certainly a storage of its own */
} Store;

typedef struct Obj {
	uint32_t store, first_store;
	uint32_t parent; /* object it is a view of; 0: owner of its first storage */
	NodeId node;     /* who made it */
	Str why;         /* what decided it, may be empty */
	uint32_t edges;  /* objects that it may be */
	uint32_t input, attr; /* index plus 1 when it is an input or attribute itself */
} Obj;

/* Something was written. */
typedef struct WriteEvent {
	NodeId node;
	NodeId through;  /* whose value was written; 0 none */
	uint32_t obj, store;
	Tri certainty;
	bool metadata;
	Str cond;
} WriteEvent;

typedef struct Memory {
	Arena *a;
	VEC(Store) stores;  /* slot 0 unused, like objs and edges */
	VEC(Obj) objs;
	VEC(MayEdge) edges;
	VEC(WriteEvent) writes;
	uint32_t *seen;     /* stamps of the walk over edges, by storage */
	uint32_t nseen, stamp;
} Memory;

void memory_init(Memory *m, Arena *a);
uint32_t memory_store(Memory *m, StoreKind kind, uint32_t index, NodeId node);
uint32_t memory_object(Memory *m, uint32_t store, uint32_t parent, NodeId node, Str why);
/* A new object with a storage of its own. */
uint32_t memory_fresh(Memory *m, NodeId node);
void memory_store_may_be(Memory *m, uint32_t store, uint32_t via, NodeId node, Str cond);
void memory_object_may_be(Memory *m, uint32_t obj, uint32_t other, NodeId node, Str cond);

/* A storage that may be reached, and by which edges. */
typedef struct Reach {
	uint32_t store;
	uint32_t edge;   /* last edge taken; 0 for the start */
	uint32_t from;   /* index of the Reach before; UINT32_MAX for the start */
} Reach;

typedef struct Reached {
	VEC(Reach) v;
	bool cut;        /* the work limit was reached: the answer is not complete */
} Reached;

/* Makes room for walks over the storages there are now, so that memory_reach takes nothing from the memory's arena. */
void memory_ready(Memory *m);
/* All storages that `store` is (the first entry) or may be, nearest first; from the scratch arena. */
Reached memory_reach(Memory *m, uint32_t store, Arena *scratch);
/* Conditions along the way to entry i, joined with " and ". */
Str memory_condition(const Memory *m, const Reached *r, uint32_t i, Arena *a);

#endif
