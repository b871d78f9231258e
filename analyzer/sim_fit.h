/* SPDX-License-Identifier: MIT
 * sim_fit: could a record of a function have been compiled for these arguments? Dynamo's guards are not in the dump, but
 * the sizes printed for a graph's inputs are part of them. */
#ifndef GRAPHLINT_SIM_FIT_H
#define GRAPHLINT_SIM_FIT_H

#include "base.h"
#include "sim.h"
#include "frame_graph.h"

/* `modified`: the frame of the generated code, 0 none. May: a tensor has other sizes, or another dtype, than the graph's
 * input that it becomes. No: such an argument is no tensor at all. */
Tri frame_fits(const Sim *s, const ProgramFrames *frames, FrameRef modified, const SimCall *c);

#endif
