/* SPDX-License-Identifier: MIT
 * term_range: between which numbers the value of a term lies, and what follows: relu of a probability changes nothing,
 * and none is below zero. Data: term_ranges.def. */
#ifndef GRAPHLINT_TERM_RANGE_H
#define GRAPHLINT_TERM_RANGE_H

#include "term.h"

/* Rows by operator, for term_range. */
Map term_ranges(Arena *a, Names *names);
/* Of an operator over terms; of other kinds of terms by what they are. `rows` of term_ranges. */
TermRange term_range(const Terms *t, Map *rows, Sym op, const TermId *args, uint32_t n, uint64_t extra);

#endif
