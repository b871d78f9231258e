/* SPDX-License-Identifier: MIT
 * fingerprint: a number for what a finding is about, the same when the model is captured again. */
#ifndef GRAPHLINT_FINGERPRINT_H
#define GRAPHLINT_FINGERPRINT_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "infer.h"

typedef struct FingerprintCtx {
	const Program *p;
	const Sources *sources;
	const Types *t;
	Facts *f;
	const NodeTypes *const *types; /* by GraphId; NULL: not analysed */
	VersionSpan torch;             /* asked for; 0,0: those of each graph */
	Arena *scratch;
} FingerprintCtx;

/* Sets Finding.fingerprint of all findings: 16 hexadecimal digits made from the rule, the user's function, and the
 * operators and edges around the boundary or node that it is about. Names, lines, numbers of graphs, compile ids,
 * sizes and other numbers have no part in it. Findings about no graph: from the text, less its numbers. */
void fingerprint_findings(const FingerprintCtx *c, Diags *d);

#endif
