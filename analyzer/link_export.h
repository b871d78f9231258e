/* SPDX-License-Identifier: MIT
 * link_export: what the signature of an exported program says of its graph's inputs and outputs.
 * Facts: torch/export/graph_signature.py of PyTorch 2.1 to 2.15 (ExportGraphSignature, its listing by line since 2.7),
 * torch/_functorch/_aot_autograd/schemas.py (GraphSignature of aot_export_module). */
#ifndef GRAPHLINT_LINK_EXPORT_H
#define GRAPHLINT_LINK_EXPORT_H

#include "base.h"
#include "source.h"
#include "ir.h"
#include "split.h"

/* Sets input_roles, and role and target of the outputs, of the graph that stands before each signature. Lines of a signature
 * that no graph fits change nothing. */
void link_export(Program *p, const Artifacts *artifacts, const Sources *sources, Arena *scratch);
/* "the buffer `count`" in plain words; empty: nobody's. Text of the name is the dump's. */
Str export_role_words(uint8_t role);
/* Is the output not handed to the caller but copied into what its target names? */
bool export_gives_back(uint8_t role);

#endif
