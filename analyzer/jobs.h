/* SPDX-License-Identifier: MIT
 * jobs: tasks that do not depend on each other, worked on by several processes. Each worker begins as a copy of this one
 * (fork), so that tasks may change whatever they like: nobody else sees it. Only the bytes that a task leaves come back. */
#ifndef GRAPHLINT_JOBS_H
#define GRAPHLINT_JOBS_H

#include "base.h"

/* Does task `i` and adds what is to be known of it to *out. False: no further task is to be begun by this worker. */
typedef bool JobFn(void *ctx, uint32_t i, Buf *out);
/* Takes what task `i` left. Called in the order of the tasks. False: it and those behind it are not wanted. */
typedef bool JobTakeFn(void *ctx, uint32_t i, Str data);

typedef struct Jobs {
	uint32_t workers;   /* most of them */
	uint32_t tasks;
	JobFn *work;        /* in a worker */
	JobTakeFn *take;    /* in this process */
	void *ctx;
	Budget *budget;     /* of the run: each worker gets its part of what is left; its pulse is called while waiting */
} Jobs;

/* How many tasks were taken: the first so many. The rest was not wanted, or could not be had (no memory, no process): the
 * caller does it itself. For processes of one thread. */
uint32_t jobs_run(const Jobs *j);
/* Processors that this process may use. */
uint32_t jobs_processors(void);

#endif
