/* SPDX-License-Identifier: MIT
 * link_repro: what the arguments of a repro say of the inputs of its graph: sizes, strides, dtypes, and which are in one
 * storage. Facts: torch/_dynamo/debug_utils.py (InputWriter) of PyTorch 2.1 to 2.15, generate_compiler_repro_string of
 * torchdynamo 2022 and PyTorch 2.0. */
#ifndef GRAPHLINT_LINK_REPRO_H
#define GRAPHLINT_LINK_REPRO_H

#include "base.h"
#include "source.h"
#include "types.h"
#include "ir.h"
#include "split.h"

/* Fills types and places of the inputs of each graph of a class Repro that has arguments beside it. */
void link_repros(Program *p, Types *types, const Artifacts *artifacts, const Sources *sources, Arena *scratch);

/* What a repro says of its inputs goes to the graph that it is a further printing of (a debug folder prints AOTAutograd's
 * graph without strides). After link_graphs. */
void link_repro_inputs(Program *p, const Types *types);

#endif
