/* SPDX-License-Identifier: MIT
 * verdict_jobs: verdicts of graphs as bytes, to hand them from the process that found them to the one that reports. */
#ifndef GRAPHLINT_VERDICT_JOBS_H
#define GRAPHLINT_VERDICT_JOBS_H

#include "base.h"
#include "sim_run.h"
#include "verdict.h"

/* Activations that run their original code, since a cut changes which of their arguments are one object. */
typedef struct Originals {
	uint32_t at[RUN_ORIGINALS], n;
} Originals;

/* A run without a cut that a question was compared with. One process makes it when it is first asked for. */
typedef struct RefUse {
	uint32_t path, assume;
	Originals from;
	uint64_t steps;
} RefUse;

/* What a graph's verdicts cost one process alone. */
typedef struct VerdictCost {
	uint64_t steps;                     /* of runs with a cut */
	uint32_t terms, operands;           /* that stay */
	uint32_t more_terms, more_operands; /* at most, on top of them */
} VerdictCost;

typedef VEC(RefUse) RefUses;

void verdict_pack(const GraphVerdicts *v, uint32_t noutputs, uint32_t ninputs, Buf *out);
/* The opposite, at the front of *data, which is moved behind it; texts are copied to `keep`. False: these are not such bytes. */
bool verdict_unpack(Str *data, uint32_t noutputs, uint32_t ninputs, GraphVerdicts *v, Arena *keep);
void verdict_pack_cost(const VerdictCost *cost, const RefUses *uses, Buf *out);
bool verdict_unpack_cost(Str *data, VerdictCost *cost, RefUses *uses, Arena *keep);
void verdict_pack_number(uint32_t n, Buf *out);
bool verdict_unpack_number(Str *data, uint32_t *n);

#endif
