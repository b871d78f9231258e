/* SPDX-License-Identifier: MIT
 * sim_grad: what autograd would record of a run if values needed gradients: which leaves a value depends on, which values
 * are saved for the backward and at which version of their memory, and what a write does to them. No dump says which
 * arguments need a gradient and whether grad mode is on: each value carries the set of leaves any of which would do. Recorded in
 * the run of sim_aot.h only. */
#ifndef GRAPHLINT_SIM_GRAD_H
#define GRAPHLINT_SIM_GRAD_H

#include "base.h"
#include "sim_node.h"

typedef uint64_t GradMask; /* of leaves: bit i is leaf i */

enum { GRAD_LEAVES = 64 }; /* the last one stands for all further ones */

typedef struct GradLeaf {
	bool parameter;   /* or an attribute of a module that may be one */
	bool buffer;      /* it may be a buffer instead */
	bool argument;    /* of an outermost frame */
	uint32_t tensor;
	Sym name;         /* of the first graph input that it is; 0 none */
} GradLeaf;

/* A value that the backward of an operator needs. */
typedef struct GradSaved {
	uint32_t store, version;
	uint32_t tensor;
	uint64_t elements;
	GradMask need;    /* for whose gradient */
	bool mask;        /* of it only a comparison */
} GradSaved;

/* An operator whose result needs a gradient where one of `need` does. */
typedef struct GradNode {
	GradMask need;
	uint32_t edge, nedges;   /* GradTape.edges: nodes that made its operands */
	uint32_t saved, nsaved;  /* GradTape.saved */
	uint32_t call;           /* GradTape.calls index + 1; 0: of a frame */
	NodeId node;
	Span where;
	Sym op;
} GradNode;

/* State of a tensor; of a view only what differs from its root. */
typedef struct GradTensor {
	bool known;
	bool no_grad_view; /* made a view under no_grad */
	bool one_of_many;  /* a view that was made together with others: unbind, split */
	GradMask need;
	uint32_t fn;       /* GradTape.nodes index + 1 of what made its present value; 0: a leaf, or no gradient */
} GradTensor;

/* An input or output of a call, or a value that a write made old. */
typedef struct GradPort {
	uint32_t index;    /* input or output */
	uint32_t tensor, store, version;
	uint64_t elements;
	GradMask need;
	uint32_t fn;
	uint32_t fn_after; /* of an input, when the call is over */
	GradMask poison;   /* output, a view without gradient: leaves of what is written into its memory later, so that it cannot be used */
	Span poisoned;     /* ... where */
} GradPort;

/* An input that the graph writes although its old value is needed. */
typedef struct GradOld {
	uint32_t input;
	GradMask need;
	NodeId node;
} GradOld;

typedef struct GradCall {
	GraphId graph;
	uint32_t nth, first;        /* first: number of tensors before it */
	uint32_t first_node;        /* of GradTape.nodes */
	VEC(GradPort) inputs, outputs;
	GradMask written;           /* leaves of inputs that it writes, as they are afterwards */
	VEC(GradOld) old;
} GradCall;

/* A write into a store. */
typedef struct GradWrite {
	uint32_t store, version; /* after it */
	uint32_t call;
	NodeId node;
	Span where;
	Sym op;
} GradWrite;

typedef struct GradTape {
	Arena *a;
	VEC(GradLeaf) leaves;
	VEC(GradTensor) tensors;  /* parallel to Sim.tensors as far as asked for */
	VEC(GradNode) nodes;
	VEC(uint32_t) edges;
	VEC(GradSaved) saved;
	VEC(GradCall) calls;
	VEC(GradWrite) writes;
	VEC(uint32_t) observed;   /* nodes + 1 that made what outermost frames return */
	VEC(uint32_t) versions;   /* of the stores at the end */
	GradMask never;           /* leaves that need no gradient: else eager code would stop */
	Map rows;                 /* name of an operator -> its row in grad_ops.def + 1 */
	Map written;              /* call << 32 | store -> 1 */
	Map input_of;             /* of the call that runs: tensor -> index of its port + 1; of the scratch arena */
	Map poisoned;             /* tensor -> (call << 16 | output) + 1 of a view that a graph without gradient handed out */
	Map dirty;                /* root of such views -> index + 1 in `spills` */
	VEC(GradMask) spills;
	Map contexts;             /* object of a context manager -> grad mode to go back to, plus 1 */
	uint32_t current;         /* call that runs + 1; 0: none */
	bool no_grad, full;
	bool module;              /* outermost frames are methods */
} GradTape;

void grad_tape_init(GradTape *t, Names *names, Arena *a);
/* A node has run: `targets` are what it wrote, contents only. */
void grad_call(GraphRun *r, const Ref *targets, uint32_t n);
void grad_enter(Sim *s, const Graph *g, const Ref *args, uint32_t n, uint32_t nth);
void grad_leave(Sim *s, const Graph *g, const Ref *outs);
/* The run is over: these values are what it returned. */
void grad_finish(Sim *s, const Ref *values, uint32_t n);
GradMask grad_need(Sim *s, uint32_t tensor);
/* Context managers of frames: made with these arguments, entered, left; and a plain call that sets the mode. */
void grad_context(Sim *s, Ref object, Str name, const Ref *args, uint32_t n);
void grad_context_enter(Sim *s, Ref object, Str name);
void grad_context_leave(Sim *s, Ref object);
void grad_set_mode(Sim *s, const Ref *args, uint32_t n);
/* x.numpy(): eager code refuses it for what needs a gradient. */
void grad_refuses(Sim *s, Ref tensor);

#endif
