/* SPDX-License-Identifier: MIT
 * evidence: the way of a finding through the program around the graphs: which frame calls the graph, how it goes on. */
#ifndef GRAPHLINT_EVIDENCE_H
#define GRAPHLINT_EVIDENCE_H

#include "base.h"
#include "diag.h"
#include "ir.h"
#include "frame_graph.h"

/* Adds steps of role `link` to the findings about boundaries (GL101 to GL105): before the first step in each graph the call of
 * that graph, and before it the resume functions that lead there from the frame of the step before, as far as
 * the bytecode shows them. Findings whose graphs no frame calls stay as they are. */
void evidence_link(Diags *d, const Program *p, const ProgramFrames *frames, Arena *scratch);

#endif
