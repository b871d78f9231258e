/* SPDX-License-Identifier: MIT
 * frame_links: what a frame does, read off its bytecode by a symbolic run: calls of graphs, of resume functions and of
 * anything else, with their arguments as terms, writes of attributes, items, globals and cells, branches, what it
 * returns; along every path, each up to where a loop or a handler begins, and beyond it, marked.
 *
 * Facts: code that torch/_dynamo (torchdynamo 2022, PyTorch 2.0 to 2.15) generates around graph calls. */
#ifndef GRAPHLINT_FRAME_LINKS_H
#define GRAPHLINT_FRAME_LINKS_H

#include "base.h"
#include "bytecode.h"
#include "frame_terms.h"

typedef enum LinkKind {
#define LINK_EVENT(id, word) LINK_##id,
#include "link_events.def"
#undef LINK_EVENT
	LINK_N
} LinkKind;

typedef enum LinkCallee {
	CALLEE_ANYTHING,
	CALLEE_GRAPH,  /* __compiled_fn_N */
	CALLEE_RESUME  /* __resume_at_OFFSET_ID, or a function made of the code object of a resume function */
} LinkCallee;

typedef enum LinkArm { ARM_NONE, ARM_FALLS, ARM_JUMPS } LinkArm;

typedef struct LinkEvent {
	uint8_t kind;    /* LinkKind */
	uint8_t callee;  /* LinkCallee, of calls */
	uint8_t arm;     /* LinkArm: which side of the last branch of its path it stands on */
	bool beyond;     /* in or behind a loop, or in a handler: not printed by links_dump */
	bool factory;    /* of a resume function: gets its cells and returns the function that is called next */
	bool starred;    /* some argument stands for a sequence of unknown length */
	uint32_t ins;    /* Code.ins */
	uint32_t before; /* the event before it on its path, plus 1; 0 none */
	LTermId what;     /* callee; object; container; cell; what is returned; condition of a branch */
	LTermId key;      /* of setitem; keyword names of a call, or its mapping */
	LTermId value;    /* what is stored */
	LTermId result;   /* of a call */
	Sym name;        /* of attribute, global, cell; of a call the name of the graph, resume function or code object */
	LTermId *args;    /* containers as they were at that moment */
	uint32_t nargs;
	Str line;        /* as links_dump prints it, with LinkLimits.lines */
} LinkEvent;

typedef struct FrameLinks {
	Arena *a;
	const Code *code;
	LTerms terms;
	VEC(LinkEvent) events;
	uint32_t paths;
	bool bounded;   /* not every path was run to its end: limits of LinkLimits */
	Str stopped;    /* why some path could not be followed; empty: all were */
	uint32_t stopped_at; /* instruction */
} FrameLinks;

typedef struct LinkLimits {
	uint32_t paths;       /* most paths of a frame */
	uint32_t steps_each;  /* most steps, for each instruction of the listing */
	bool lines;           /* events get the line that links_dump prints */
} LinkLimits;

extern const LinkLimits link_limits_default;

/* Runs a frame. Results live in `keep`, their texts in `texts`; terms that no event names are not among them. */
FrameLinks *frame_links(const Code *code, Names *names, Names *texts, const LinkLimits *limits, Arena *keep, Arena *scratch);
/* Is this the name of a compiled graph, whole? __compiled_fn_3, with a uuid since 2.9. */
bool name_is_graph(Str s);
/* __resume_at_OFFSET_ID; *offset is set. */
bool name_is_resume(Str s, uint32_t *offset);
/* The name of a code object that resumes F at line L: torch_dynamo_resume_in_F_at_L (2.4 and later), resume_in_F (2.2),
 * <resume in F> (2.1), <graph break in F> (2022, 2.0). *inner gets F. */
bool name_is_resume_code(Str s, Str *inner);

#endif
