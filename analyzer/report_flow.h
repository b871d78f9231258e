/* SPDX-License-Identifier: MIT
 * report_flow: what reports say of the program around the graphs: which frames run, whom they call, where outputs go. */
#ifndef GRAPHLINT_REPORT_FLOW_H
#define GRAPHLINT_REPORT_FLOW_H

#include "base.h"
#include "run.h"
#include "verdict.h"

/* Verdicts and flows of a graph; NULL: none was asked. */
const GraphVerdicts *report_verdicts(const Run *r, const Graph *g);
/* OBS_UNKNOWN where nothing was asked. */
Observable report_noticed_output(const Run *r, const Graph *g, uint32_t output);
Observable report_noticed_input(const Run *r, const Graph *g, uint32_t input);

/* A call that a frame makes. */
typedef struct FrameCall {
	Str name;       /* of the graph, or of the frame that is called */
	GraphId graph;  /* the graph as reports list it; 0: a frame, or a graph that is not in the dump */
	FrameRef frame; /* the frame called, its modified form if there is one; 0: a graph, or a frame without a record */
	bool resume;
	uint32_t ins;
} FrameCall;

typedef VEC(FrameCall) FrameCalls;

/* By frame: it ran as it is printed: its modified form, or, where there is none, its original one; attempts that were
 * given up did not. */
bool *report_frames_run(const Run *r, Arena *a);
/* Calls of graphs, of resume functions and of other frames of the dump, in the order of the listing. */
void report_frame_calls(const Run *r, FrameRef frame, Arena *a, FrameCalls *out);
/* Where a call stands in the dump. */
Span report_call_span(const Run *r, FrameRef frame, const FrameCall *call);

#endif
