/* SPDX-License-Identifier: MIT
 * baseline: the findings that were there already. A file of fingerprints, made by --write-baseline, read by --baseline. */
#ifndef GRAPHLINT_BASELINE_H
#define GRAPHLINT_BASELINE_H

#include "base.h"
#include "diag.h"

typedef struct BaselineEntry {
	Str fingerprint, rule;
	Severity severity; /* an error above it is a new finding; under another contract a warning too */
	uint32_t count;    /* most findings with this fingerprint in one graph: more are new ones; 0: any number */
} BaselineEntry;

typedef struct Baseline {
	Str path;
	Str contract;  /* it was made under, see contract_text */
	VEC(BaselineEntry) v;
	Names names;   /* fingerprints */
	Map by_print;  /* Sym -> index in v, plus 1 */
} Baseline;

/* Reads the JSON of baseline_write. NULL and "FILE:LINE:COLUMN: message" lines in *errors on a fault. */
Baseline *baseline_load(Arena *a, Str path, Str text, Buf *errors);
/* Marks the findings that the baseline holds as suppressed, unless something else has; returns how many entries of the
 * baseline no finding has any more. Findings have fingerprints. */
uint32_t baseline_apply(const Baseline *b, Str contract, Diags *d, Arena *scratch);
/* The findings that nothing suppresses but perhaps an older baseline, as JSON, one fingerprint a line, in a fixed order. */
void baseline_write(const Diags *d, Str contract, Arena *scratch, Buf *out);
/* Marks those findings as suppressed by the baseline that was just written; returns how many. */
uint32_t baseline_mark(Diags *d);

#endif
