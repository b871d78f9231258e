/* SPDX-License-Identifier: MIT
 * sim_names: where outputs go when the dump has graphs and no bytecode: inferred from the order of the graphs, from the
 * names that Dynamo gives to inputs (`L_x_` is the local x, `L_stack0_1_` item 1 of what the broken call returned,
 * `L_self_buffers_k_` an attribute; torch/_dynamo/source.py, 2.0 to 2.15) and to nodes (those of the variables that they
 * were stored in), and from dtypes, sizes and strides. Nothing certain follows from it. */
#ifndef GRAPHLINT_SIM_NAMES_H
#define GRAPHLINT_SIM_NAMES_H

#include "base.h"
#include "types.h"
#include "ir.h"
#include "infer.h"
#include "alias.h"
#include "verdict.h"

/* Adds flows to the graphs of those processes of which no frame is in the dump; `out` is by GraphId. */
void names_infer_flows(const VerdictCtx *c, GraphVerdicts *out);

#endif
