/* SPDX-License-Identifier: MIT
 * prepare: from the words of the command line to tables and a configuration that a run can begin with: the configuration
 * file, operators and rules of the user's own, the baseline. */
#ifndef GRAPHLINT_PREPARE_H
#define GRAPHLINT_PREPARE_H

#include "base.h"
#include "options.h"
#include "run.h"

/* Finds and reads the configuration, loads what it and the options name into the tables, and checks what is said about rules.
 * Every fault is a line in *faults, and the answer false; what is no fault and still worth a word is in *notes. Strings live in
 * `a`, which has to last as long as the tables. */
bool prepare_tables(Options *o, Tables *t, Arena *a, Buf *faults, Buf *notes);
/* Reads the baseline, if there is one, into o->cfg. */
bool prepare_baseline(Options *o, Arena *a, Buf *faults);

#endif
