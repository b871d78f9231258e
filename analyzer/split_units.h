/* SPDX-License-Identifier: MIT
 * split_units: which files one run of a program wrote together, and what an index beside them says they are: the output
 * of tlparse. Facts: tlparse 0.4.3 (raw.jsonl, compile_directory.json, folders AUTOGRAD_FRAME_COMPILE_ATTEMPT). */
#ifndef GRAPHLINT_SPLIT_UNITS_H
#define GRAPHLINT_SPLIT_UNITS_H

#include "base.h"
#include "source.h"

typedef VEC(FileId) FileOrder;

/* Is the text a list of other files: raw.jsonl, compile_directory.json? */
bool units_is_index(Str text);

/* Sets unit, order and role of all sources, and gives the order in which they were written: files of a unit together, in
 * the place of its first. What is kept lives in the arena of the table. */
void units_find(Sources *t, Arena *scratch, FileOrder *order);

#endif
