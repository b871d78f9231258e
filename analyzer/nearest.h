/* SPDX-License-Identifier: MIT
 * nearest: "did you mean": the known word nearest to one that is not known. */
#ifndef GRAPHLINT_NEAREST_H
#define GRAPHLINT_NEAREST_H

#include "base.h"

typedef struct Nearest {
	Str word;
	Str best;      /* empty: nothing is near */
	uint32_t most; /* distance from which on a word is not near */
} Nearest;

Nearest nearest_to(Str word);
void nearest_try(Nearest *n, Str known);
/* Adds " (did you mean 'x'?)", or nothing. */
void nearest_say(const Nearest *n, Buf *out);

#endif
