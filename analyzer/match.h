/* SPDX-License-Identifier: MIT
 * match: rules with patterns over the linked program. */
#ifndef GRAPHLINT_MATCH_H
#define GRAPHLINT_MATCH_H

#include "base.h"
#include "check.h"
#include "rules.h"

/* Adds the findings of all rules with patterns that are on. One finding for each place that a rule points at. Printings by
 * AOTAutograd of a graph that Dynamo printed are compared only with patterns that spell an operator as they do (torch.ops.),
 * or whose rule names stages. Limits that are reached become findings GL906. `dump` may be NULL, else gets the steps of the
 * rules and what they matched. */
void match_program(const CheckCtx *c, const Rules *rules, const RuleLevel *levels, Buf *dump);
/* Is there a rule with a pattern that is on? Then values have to be known across graphs. */
bool match_wanted(const Rules *rules, const RuleLevel *levels);

#endif
