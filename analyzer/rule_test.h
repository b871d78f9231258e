/* SPDX-License-Identifier: MIT
 * rule_test: the tests that rule files name: dumps on which a rule has to fire (`fires:`) or to stay silent (`silent:`). */
#ifndef GRAPHLINT_RULE_TEST_H
#define GRAPHLINT_RULE_TEST_H

#include "base.h"
#include "options.h"
#include "run.h"

typedef struct RuleTestCounts {
	uint32_t rules, tests, failed;
	uint32_t lacking; /* rules with no firing or no silent dump */
	uint32_t changes; /* --negate: conditions that were changed */
	uint32_t unseen;  /* and those of which no test saw that they were negated */
} RuleTestCounts;

/* Runs the tests of the rules in the files and folders of o->paths (else of --rules and the configuration, else of rules/),
 * each with all rules on, those of these files in place of embedded ones of the same id. A line for each test, what was
 * wanted and what came out for those that fail; as JSON with o->json. With o->negate the tests of a rule are run again for each of
 * its conditions, negated and left out: a condition that no test sees is told. False, and lines in *faults, when a rule file
 * cannot be read. */
bool rule_tests_run(const Options *o, Tables *t, Arena *a, Buf *out, RuleTestCounts *counts, Buf *faults);

#endif
