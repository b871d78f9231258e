/* SPDX-License-Identifier: MIT
 * read_life: which values of a graph are used and dropped. torch/fx/graph.py (PythonCode, delete_unused_values), PyTorch
 * 1.12 to 2.15, prints `;  x = y = None` behind the last use of x and y unless that is the return. A value that is used and
 * neither returned nor dropped was used by a line that is missing. */
#ifndef GRAPHLINT_READ_LIFE_H
#define GRAPHLINT_READ_LIFE_H

#include "base.h"

/* A name of a value; at, end: where it was used last. */
typedef struct Life {
	Sym name;
	uint32_t at, end;
	bool ended; /* dropped or returned */
} Life;

typedef struct Lives {
	Map of; /* Sym -> index + 1 */
	VEC(Life) v;
	bool drops; /* some line drops a value: the text is not one from which the drops were taken out */
} Lives;

void life_use(Lives *l, Arena *a, Sym name, uint32_t at, uint32_t end);
void life_end(Lives *l, Sym name);
/* The text `x = y = None`. Names that nothing interned are none of a value. */
void life_drop(Lives *l, const Names *names, Str tail);

#endif
