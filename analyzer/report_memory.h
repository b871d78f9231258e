/* SPDX-License-Identifier: MIT
 * report_memory: which inputs and outputs of the captured graphs are in one memory, within a graph or on the way to the next
 * one. For pictures: what may be one memory counts too. */
#ifndef GRAPHLINT_REPORT_MEMORY_H
#define GRAPHLINT_REPORT_MEMORY_H

#include "base.h"
#include "run.h"

typedef struct MemoryMap {
	const Run *r;
	uint32_t *first; /* by GraphId: first of its values; inputs, then outputs */
	uint32_t *root;  /* by value: another one of its memory, itself at last */
	uint32_t *color; /* by value that is its own root: colour from 1; 0: no graph shares it */
	uint32_t n, ncolors;
} MemoryMap;

MemoryMap memory_map(const Run *r, Arena *a);
uint32_t memory_input(const MemoryMap *m, const Graph *g, uint32_t i);
uint32_t memory_output(const MemoryMap *m, const Graph *g, uint32_t j);
/* One number for all values of one memory. */
uint32_t memory_root(const MemoryMap *m, uint32_t value);
/* From 1; 0 for memory that only moves on from graph to graph. */
uint32_t memory_color(const MemoryMap *m, uint32_t value);

#endif
