/* SPDX-License-Identifier: MIT
 * match_plan: a pattern as flat steps, each of which binds metavariables or asks something; the matcher tries the
 * possibilities of each in turn. */
#ifndef GRAPHLINT_MATCH_PLAN_H
#define GRAPHLINT_MATCH_PLAN_H

#include "base.h"
#include "rules.h"

typedef enum StepKind {
	MS_SEED,     /* node: any call (attribute, input) that fits its operator */
	MS_OUTPUT,   /* var: anything that a graph returns; for patterns without statements */
	MS_FOLLOW,   /* node: its variable has a value: that, or what it was in the graph it came from */
	MS_ARGS,     /* list: arguments against what is wanted */
	MS_BASES,    /* node (an edge): from its value to what it is a view of, or computed from */
	MS_VIEWS,    /* node (an edge): from its base to what is a view of it, or computed from it */
	MS_USERS,    /* node: any call that takes `var` and fits */
	MS_RETURNED, /* var is returned by its graph */
	MS_COND      /* condition */
} StepKind;

typedef struct MatchStep {
	uint8_t kind, node, var;
	uint16_t list, cond;
} MatchStep;

enum { PLAN_STEPS = 256 };

typedef struct Plan {
	MatchStep v[PLAN_STEPS];
	uint32_t n;
} Plan;

/* The steps that begin at a statement, by its index; -1: the pattern has none. Every statement, argument list, condition and
 * return is one step, conditions as early as they can be asked. */
void plan_make(const RulePattern *rp, int seed, Plan *out);
/* Stable text, for tests and --dump=match. */
void plan_text(const RulePattern *rp, const Plan *p, Buf *out);

#endif
