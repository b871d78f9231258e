/* SPDX-License-Identifier: MIT
 * frame_graph: the frames of a program and whom they call: graphs by their exact name within the process, resume
 * frames by offset, name, code object and arm, other frames by name.
 *
 * Facts: torch/_dynamo/resume_execution.py of PyTorch 2.0 to 2.15, torchdynamo 2022 (`<graph break in F>`). */
#ifndef GRAPHLINT_FRAME_GRAPH_H
#define GRAPHLINT_FRAME_GRAPH_H

#include "base.h"
#include "ir.h"
#include "frame_links.h"

/* A frame of Program.frames, plus 1; 0 none. */
typedef uint32_t FrameRef;

typedef enum ResumeFit {
	FIT_NONE,
	FIT_NAME,  /* same function, file and, where the name has one, line; arms cannot be told apart */
	FIT_ARM,   /* the same, and it is the arm of the branch from which it is called */
	FIT_NEAR,  /* the offset is up to 4 away (EXTENDED_ARG, cells) */
	FIT_EXACT  /* the offset is the one in the name */
} ResumeFit;

/* What an ORIGINAL listing of a resume function says about the place where it goes on. */
typedef struct ResumePlace {
	bool known;
	uint32_t distance; /* T - S: from the beginning of the dead copy to the instruction that goes on */
	uint32_t start;    /* S: offset of the dead copy: P of the frames that this one calls */
	uint32_t cells;    /* MAKE_CELL and COPY_FREE_VARS of the dead copy */
	bool jumped;       /* a POP_JUMP of the dead copy leads to where the prologue jumps: the arm that jumps */
} ResumePlace;

typedef VEC(FrameRef) FrameRefs;

typedef struct ProgramFrames {
	Arena *a;
	const Program *p;
	FrameLinks **links;   /* by Program.frames; NULL: nothing of the listing could be read, or it is an ORIGINAL whose
	                       * MODIFIED runs in its place */
	ResumePlace *places;  /* by Program.frames; of resume functions */
	FrameRef *partner;    /* of a MODIFIED its ORIGINAL, of an ORIGINAL its MODIFIED; 0 none: it runs eagerly, as printed */
	Map graphs;           /* name, unit and process -> first graph, plus chain in next_graph */
	uint32_t *next_graph; /* by GraphId */
	Sym *function;        /* by Program.frames: F of a resume function in F, else its own name */
	Map aliases;          /* ORIGINAL records by the name that callers use, where the dump says it */
	FrameRef *next_alias; /* by Program.frames */
	Map resumes, named;   /* ORIGINAL records of a function: its resume functions, itself; first FrameRef of a chain */
	FrameRef *next_frame; /* by Program.frames: the next in its chain, in the order of the log */
} ProgramFrames;

/* Runs every frame symbolically. Listings of one process agree on a Python version first. */
ProgramFrames *frames_link(Program *p, const LinkLimits *limits, Arena *keep, Arena *scratch);

/* The graph that a call of frame `caller` runs: of its name, unit and process, no further printing of another, with as many
 * inputs as the call has arguments (2.6 prints a graph before unused inputs are taken out, under the same name). 0: none
 * fits, the call is not linked. */
GraphId frames_called_graph(const ProgramFrames *f, FrameRef caller, const LinkEvent *call);
/* Frames that a resume call of frame `caller` may lead to: ORIGINAL records, best fits alone, in the order of the log.
 * Several are recompiles. None: an arm that never ran, or nested frames, which have no record. */
ResumeFit frame_resume_candidates(const ProgramFrames *f, FrameRef caller, const LinkEvent *call, Arena *a, FrameRefs *out);
/* Frames of a function called by name: ORIGINAL records of that name in the same process. */
void frames_named(const ProgramFrames *f, FrameRef caller, Sym name, Arena *a, FrameRefs *out);
/* The function that a frame belongs to: F of a resume function in F, else its own name. */
Str frame_function(const ProgramFrames *f, FrameRef frame);
/* Where a resume function goes on. */
ResumePlace resume_place(const Code *original);

/* --dump=link: a heading for each MODIFIED listing, and below it what it does, a line an event. */
void frames_dump(const ProgramFrames *f, Buf *out);

#endif
