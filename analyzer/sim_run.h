/* SPDX-License-Identifier: MIT
 * sim_run: replays the frames of one process in the order of the log: which record each call runs, which arm of an
 * undecided branch is taken, where a specialised frame gives way to its original code. */
#ifndef GRAPHLINT_SIM_RUN_H
#define GRAPHLINT_SIM_RUN_H

#include "frame_graph.h"
#include "sim.h"

/* A frame of the program: its listings before and after Dynamo. */
typedef struct Entry {
	Sym name, file;
	uint32_t first_line;
	const Code *original, *modified; /* NULL: not in the dump */
	uint32_t original_frame, modified_frame; /* Program.frames index + 1 */
	Sym compile_id;
	bool resume;
	uint32_t takes;      /* of another frame: code_takes */
	uint32_t parameters; /* of a resume frame: at least so many */
	Str base;        /* function that a resume frame belongs to, else the name */
} Entry;

typedef struct Entries {
	VEC(Entry) v;
	Map lines; /* of functions, that ran: graphs quote them, or a resume function begins there */
	FileId unit;
	Sym process;
} Entries;

/* Frames of one process, in the order in which they first ran. */
Entries entries_of(const Program *p, FileId unit, Sym process, Arena *a);

enum { RUN_ORIGINALS = 6 };

/* A call, and the record that it ran. */
typedef struct RunCall {
	uint32_t caller, at, callee; /* entries; UINT32_MAX: code that is not shown */
} RunCall;

/* What one run is told to do. */
typedef struct RunPlan {
	const Entries *entries;
	const ProgramFrames *frames; /* whom resume calls lead to */
	SimCut cut;
	Assume assume;
	const uint8_t *choices; /* arms of undecided branches, in order */
	uint32_t nchoices;
	uint32_t original[RUN_ORIGINALS]; /* activations (0-based) that run their ORIGINAL code, ascending */
	uint32_t noriginal;
	struct AotLog *aot; /* gets what calls of graphs look like to AOTAutograd; NULL: not asked */
	const RunCall *calls; /* of the run that this one is compared with: as long as calls are the same they run the same */
	uint32_t ncalls;
} RunPlan;

/* One observed thing. Values compare by term; objects by the number of their first appearance. */
typedef struct Seen {
	uint64_t tag;     /* what it is and where it stands */
	TermId term;
	uint32_t object, store;
} Seen;

enum { RUN_MAX_CHOICES = SIM_CHOICES_MOST };

typedef struct RunResult {
	VEC(Seen) seen;
	VEC(uint64_t) patterns;  /* of the arguments of each frame entered */
	uint8_t choices[RUN_MAX_CHOICES]; /* does it jump? */
	uint8_t other[RUN_MAX_CHOICES];   /* it is not the arm that is taken first */
	uint32_t nchoices;
	uint32_t unexplained; /* frames that ran, but that no call on this path leads to */
	bool dead;        /* the path enters an arm that never ran */
	bool stopped;     /* nothing can be concluded */
	bool unsure, hidden, cut_made;
	bool impossible;  /* hidden code does not do what this run assumes */
	Str why;
	Span why_at;      /* unsure: where in the dump; no file: not within a frame */
	VEC(SimTouch) touches;
	VEC(TermId) branch_terms;
	VEC(SimFlow) flows, plain_flows;
	VEC(SimReshape) reshapes;
	VEC(RunCall) calls;      /* in order */
	VEC(uint32_t) entered;   /* entries, in order of their activations */
	const Code *at_code;     /* stopped: where; NULL not within a frame */
	uint32_t at;             /* its instruction */
	uint64_t steps;
} RunResult;

/* Runs the program; `base` gives what is read only, and the arenas, which are emptied at the end. The result is from
 * `keep`. */
RunResult *sim_run(const Sim *base, const RunPlan *plan, Arena *keep);

#endif
