/* SPDX-License-Identifier: MIT
 * read_break: why a frame broke, from the records of TORCH_LOGS=graph_breaks and the warnings before it.
 *
 * Facts: torch/_dynamo/symbolic_convert.py of torchdynamo 2022 and PyTorch 2.0 to 2.15. The user's stack is printed with
 * the innermost call last; since 2.9 it begins at the program's start. */
#ifndef GRAPHLINT_READ_BREAK_H
#define GRAPHLINT_READ_BREAK_H

#include "base.h"
#include "source.h"
#include "split.h"

/* What Dynamo did about it; printed since 2.13. */
typedef enum BreakOutcome { BREAK_UNKNOWN, BREAK_RESUMES, BREAK_SKIPS_REST, BREAK_SKIPS_FRAME } BreakOutcome;

typedef struct BreakPlace {
	Str file, function, code; /* function and code may be empty */
	uint32_t line;
} BreakPlace;

typedef struct BreakRecord {
	Str reason;       /* as printed, without "Unsupported: "; empty: the record does not say */
	Str explanation;  /* since 2.8 */
	Str second;       /* of the break that happened while this one was handled (2.13) */
	BreakOutcome outcome;
	BreakPlace place; /* in the user's code; file empty: not printed */
	BreakPlace *stack; /* outermost first */
	uint32_t nstack;
} BreakRecord;

/* Reads a record; texts live in `keep`. False when there is neither a reason nor a place. */
bool read_break(const Text *text, Arena *keep, BreakRecord *out);

#endif
