/* SPDX-License-Identifier: MIT
 * report_ci: what the formats for CI systems share. */
#ifndef GRAPHLINT_REPORT_CI_H
#define GRAPHLINT_REPORT_CI_H

#include "base.h"
#include "report.h"
#include "report_common.h"
#include "report_group.h"

/* Were findings compared with a baseline? */
bool report_has_baseline(const Run *r);
/* "and 3 more like this", or nothing. */
void report_more(const Groups *g, uint32_t first, Buf *out);
/* Findings of each severity that are not suppressed. */
typedef struct Counts {
	uint32_t of[SEV_ERROR + 1];
	uint32_t suppressed;
} Counts;
Counts report_counts(const Run *r);
/* "1 error, 2 warnings, 0 notes" */
void report_counts_text(const Counts *c, Buf *out);
/* Places that could not be read and make the input count as incomplete. */
uint32_t report_unread(const Run *r);

#endif
