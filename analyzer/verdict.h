/* SPDX-License-Identifier: MIT
 * verdict: would anybody notice? Runs the captured program as it is and once for each cut, and compares what is
 * observed: what outermost frames return or raise, their arguments and the state they reach, what is printed, what
 * hidden code reads. */
#ifndef GRAPHLINT_VERDICT_H
#define GRAPHLINT_VERDICT_H

#include "base.h"
#include "diag.h"
#include "config.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "shapes.h"
#include "infer.h"
#include "term.h"
#include "sem.h"
#include "alias.h"
#include "aot.h"
#include "aot_grad.h"

/* A step of the way from the cut to where it is noticed. */
typedef struct NoticeStep {
	StepRole role;
	Span where;
	Str what;      /* operator or call, in the dump's words */
} NoticeStep;

typedef struct Verdict {
	Observable observable; /* OBS_NONE: not asked */
	Str why;               /* unknown: what decides */
	NoticeStep steps[4];   /* the write and the read on the other side, where they were found */
	uint32_t nsteps;
	bool written;          /* code that the dump shows writes on one side of the cut, once it is made */
} Verdict;

/* An output that enters another graph. */
typedef struct GraphFlow {
	uint32_t output, input;
	GraphId to;
	bool same; /* the very object; else a view of it */
	bool inferred; /* from order, names and types (sim_names.h), not from bytecode */
} GraphFlow;

/* An operator of which AOTAutograd traces a copy. */
typedef struct TracedCopy {
	NodeId node;
	Verdict v;
} TracedCopy;

/* A frame changes sizes, strides or storage of the object that an output is. */
typedef struct GraphReshape {
	uint32_t output;
	Span where;
	Sym op;
} GraphReshape;

/* Verdicts of the boundaries of one graph; NULL arrays: none was asked. */
typedef struct GraphVerdicts {
	Verdict *outputs; /* parallel to Graph.outputs */
	Verdict *inputs;  /* parallel to Graph.inputs: for written ones */
	VEC(TracedCopy) traced; /* where AOTAutograd traces a copy and it is noticed, or cannot be told */
	AotGroups groups; /* inputs that share storage */
	AotSaveds saved;  /* values that the backward cannot use */
	VEC(GraphFlow) flows; /* where its outputs go, as the frames show it */
	VEC(GraphReshape) reshapes;
	VEC(GraphFlow) plain_flows; /* the same of outputs that are no tensors */
} GraphVerdicts;

typedef struct VerdictCtx {
	const Program *p;
	Types *t;
	Facts *f;
	const Shapes *shapes;
	const SemTable *sem;
	const struct ProgramFrames *frames; /* frame_graph.h */
	const struct Quoted *quoted;        /* quoted.h: lines of the user's program; may be NULL */
	const NodeTypes *const *types;
	const Summary *const *summaries;
	VersionSpan torch;  /* of --torch */
	const uint8_t *aot; /* by GraphId: what AOTAutograd does with it is asked too */
	Names *names;
	Arena *keep;
	Arena *a, *scratch, *inner, *terms, *runs; /* working memory, empty before and after */
	uint32_t jobs;  /* processes that may work at once; 0, 1: this one alone. The answers are the same */
	uint32_t *done; /* counts graphs that are judged; may be NULL */
	Buf *dump; /* NULL, or gets the text of --dump=verdict */
} VerdictCtx;

/* Verdicts of all graphs that frames call, indexed by GraphId. */
GraphVerdicts *verdict_program(const VerdictCtx *c);

#endif
