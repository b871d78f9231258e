/* SPDX-License-Identifier: MIT
 * report_group: findings that repeat, and which of them are shown. People see the first of each kind and how many more. */
#ifndef GRAPHLINT_REPORT_GROUP_H
#define GRAPHLINT_REPORT_GROUP_H

#include "base.h"
#include "run.h"

typedef struct Groups {
	uint32_t *first; /* by finding: the first one of its group */
	uint32_t *next;  /* by finding: the next one of its group; 0 none */
	uint32_t *count; /* by first finding: findings of the group */
} Groups;

/* Alike are findings of one rule, severity and wording about one operator, at one line of the
 * user's program. Where the dump names none, the dump's own lines must be the same but for their numbers
 * (contiguous_3 and contiguous_17). */
Groups groups_make(const Run *r, Arena *a);

typedef struct FindingList {
	uint32_t *v; /* findings of Run.diags */
	uint32_t n;
} FindingList;

/* What people are shown: the first of each group, at or above Config.show and not suppressed; errors first, else in order. */
FindingList groups_shown(const Run *r, const Groups *g, Arena *a);
FindingList groups_at_least(const Run *r, const Groups *g, Severity least, Arena *a);

#endif
