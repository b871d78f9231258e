/* SPDX-License-Identifier: MIT
 * progress: how long the passes of a run take, and a line on the terminal that says how far it is. */
#ifndef GRAPHLINT_PROGRESS_H
#define GRAPHLINT_PROGRESS_H

#include "base.h"
#include "run.h"

typedef struct Progress {
	Run *r;
	RunPass pass;             /* at work */
	bool terminal;            /* a line is shown */
	bool shown;               /* it is there now */
	uint64_t began, entered;  /* nanoseconds of a steady clock: the run, the pass at work */
	uint64_t drawn;           /* when the line was last drawn */
	uint64_t ns[RUN_PASSES];
	uint64_t bytes;           /* of input, so far */
} Progress;

/* Watches a run from now on. `line`: show where it is, on standard error, if that is a terminal. */
void progress_begin(Progress *p, Run *r, bool line);
/* Bytes of another input file were read. */
void progress_bytes(Progress *p, uint64_t bytes);
/* Makes room for a message: the line is drawn again later. */
void progress_hide(Progress *p);
/* The line is taken away for good; times go on. */
void progress_clear(Progress *p);
/* Nothing is watched any more. */
void progress_end(Progress *p);

#endif
