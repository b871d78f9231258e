/* SPDX-License-Identifier: MIT
 * report_state: what else could make two runs of a program differ: random state, grad mode, autocast; where graphs and the
 * code between them touch it, and what of that code is not shown. */
#ifndef GRAPHLINT_REPORT_STATE_H
#define GRAPHLINT_REPORT_STATE_H

#include "base.h"
#include "run.h"

typedef enum StateKind { STATE_RANDOM, STATE_GRAD, STATE_AUTOCAST, STATE_N } StateKind;

typedef struct StateUse {
	Str what;     /* operator or call */
	Str where;    /* graph or frame */
	Span span;
	bool between; /* in a frame */
} StateUse;

typedef struct StateScan {
	VEC(StateUse) uses[STATE_N]; /* graphs first, each in order of printing */
	VEC(Str) hidden;             /* calls of code that the dump does not show, each name once */
	VEC(Str) modules;            /* modules that graphs call and of which the dump does not show the class */
	bool unread;                 /* some statement of a graph could not be read, or some frame was not followed to its end */
	bool frames;                 /* some bytecode is there */
} StateScan;

/* Of all graphs that reports list and all frames that run. Strings live in `a`, or as long as the run. */
StateScan state_scan(const Run *r, Arena *a);
Str state_kind_name(StateKind k); /* "random state" */

#endif
