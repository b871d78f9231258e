/* SPDX-License-Identifier: MIT
 * observe: from summaries to findings: which boundary of which graph a compiler of single graphs has to keep, and how
 * much that matters under the contract in force. */
#ifndef GRAPHLINT_OBSERVE_H
#define GRAPHLINT_OBSERVE_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "config.h"
#include "ir.h"
#include "alias.h"
#include "verdict.h"

/* `v`: what running the program with and without each cut showed; its arrays are NULL where no frame shows a call.
 * Adds the findings of one graph. `captured_by_2x`: see link.h; decides what --contract auto means for it. */
void observe_graph(Diags *d, const Program *p, const Sources *src, const Config *cfg, const Graph *g, const Summary *s,
                   const GraphVerdicts *v, bool captured_by_2x);
/* Severity of a boundary finding by the tables of the design: certainty and observability where the contract does not
 * keep the boundary, a note where it does. SEV_NONE: nothing is said. */
Severity observe_severity(Tri certainty, Observable o, bool kept);

#endif
