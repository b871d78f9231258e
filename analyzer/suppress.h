/* SPDX-License-Identifier: MIT
 * suppress: findings that the user has seen and does not want to see again: by a comment beside them,
 *
 *     view = x.view(-1);  x = None  # graphlint: ignore[GL101] the caller clones it
 *
 * in a dump, or in the line of the program that the dump quotes, or by the configuration. */
#ifndef GRAPHLINT_SUPPRESS_H
#define GRAPHLINT_SUPPRESS_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "config.h"
#include "ir.h"
#include "split.h"
#include "rules.h"

typedef struct SuppressCtx {
	const Program *p;
	const Sources *sources;
	const Artifacts *artifacts;
	const Rules *rules;
	const RuleLevel *const *levels; /* by FileId */
	const Config *cfg;
	Arena *scratch;
} SuppressCtx;

/* Sets Finding.suppressed. A comment counts where it is one: not inside a string, not in text that is no code; at the end
 * of the line that the finding is about, or alone on the line above. Comments and entries of the configuration that
 * no finding needs, whose rules are on, become findings GL904. Findings have fingerprints. */
void suppress_findings(const SuppressCtx *c, Diags *d);

#endif
