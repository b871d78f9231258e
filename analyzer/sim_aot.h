/* SPDX-License-Identifier: MIT
 * sim_aot: what the calls of captured graphs look like to AOTAutograd: which inputs lie in one storage, which of them it
 * merges into one synthetic base, and what the graph hands back of them. Recorded by a run of its own; the
 * conditions are tested on the records (aot.h). Of torch/_functorch/_aot_autograd, PyTorch 2.6 and 2.13:
 * runtime_wrappers.py (merge_view_inputs), input_output_analysis.py (which pairs are taken as apart). */
#ifndef GRAPHLINT_SIM_AOT_H
#define GRAPHLINT_SIM_AOT_H

#include "base.h"
#include "sim.h"

/* Two inputs in one storage. */
typedef enum AotRelation {
	AOT_APART,  /* they share no element, and are taken so */
	AOT_MEET,   /* taken as sharing elements, whether they do or not */
	AOT_MISSED, /* they share elements, and are taken as apart */
	AOT_UNSURE  /* where they lie is not known */
} AotRelation;

typedef struct AotLayout {
	bool known;
	uint32_t ndim;
	int64_t size[SIM_DIMS], stride[SIM_DIMS], offset;
} AotLayout;

typedef struct AotMember {
	uint32_t input;
	uint32_t tensor;  /* number of the object in the run */
	uint32_t root;    /* its autograd base, or itself where it is none's view */
	uint32_t wrapper; /* storage object */
	bool guessed;     /* a view of the root, as its strides suggest */
	bool given;       /* the root: nobody knows whether it is a view itself */
	bool written;     /* by the graph: its contents */
	uint64_t need, need_after; /* leaves whose need for a gradient makes it need one: before and after the call (GradMask) */
	DType dtype, root_dtype;
	AotLayout at;
} AotMember;

/* Inputs that lie in one memory, of which the graph writes one: members[at .. at+n), in the order of inputs. */
typedef struct AotSet {
	uint32_t at, n;
	Tri merged;            /* AOTAutograd replaces them by one synthetic base */
	Tri meet;              /* a written member and another one share elements */
	uint32_t pair[2];      /* ... the first such two; else the first two */
	uint32_t missed[2];    /* members of the first pair that is AOT_MISSED; equal ones: there is none */
	uint32_t foreign[2];   /* ... that share elements and not the storage object */
	bool no_grad;          /* a member is written under no_grad */
	uint64_t value_need;   /* of what is written with grad mode on */
	uint32_t writer;       /* member + 1 through which that is first done; 0 none */
	VEC(NodeId) cross;     /* operators that use another member after that */
	bool crossed;          /* ... and an output with a gradient depends on one of them */
	AotLayout base;        /* of the synthetic base, or what stands for it */
} AotSet;

/* An output in the memory of a set. */
typedef enum AotReplay {
	REPLAY_SAME,  /* the views that lead to it, taken of the base, give the same places */
	REPLAY_OTHER, /* other places of the same sizes */
	REPLAY_SHAPE, /* other sizes */
	REPLAY_UNSURE
} AotReplay;

typedef struct AotReturn {
	uint32_t output, set, member;
	bool same;        /* it is the member itself */
	bool of_root;     /* the member is the base */
	AotReplay replay; /* not same: of the views */
} AotReturn;

/* What may need a gradient: parameters alone, arguments too, and those arguments that can. The last is possible and not likely:
 * who wants gradients of some arguments wants them of all. */
enum { TRIAL_PARAMETERS, TRIAL_ALL, TRIAL_SOME, AOT_TRIALS };

typedef struct AotCall {
	GraphId graph;
	uint32_t nth;     /* of the calls of this graph, from 0 */
	VEC(AotMember) members;
	VEC(AotSet) sets;
	VEC(AotReturn) returns;
	uint64_t outputs_need; /* of outputs and written inputs */
	const struct GradTape *tape; /* names them */
	uint64_t leaves[AOT_TRIALS]; /* those that may need a gradient, less those that cannot */
} AotCall;

typedef struct AotLog {
	Arena *a;             /* of the records; outlives the run */
	VEC(AotCall) calls;   /* those in which inputs share memory */
	Map counts;           /* GraphId -> calls so far */
	uint32_t current;     /* call that runs, index + 1; 0 none */
	Map member_of;        /* of that call: tensor -> index in members + 1; of the scratch arena */
	uint32_t members;     /* so far */
	uint64_t pairs;       /* looked at so far */
	struct GradTape *tape; /* sim_grad.h; NULL: not asked */
} AotLog;

/* Before and after the nodes of a graph run: `made` are its outputs. `replay` takes the views that lead to an output of another
 * tensor; 0: it cannot be told. */
void aot_enter(Sim *s, const Graph *g, const Summary *sum, const Ref *args, uint32_t n);
typedef Ref AotReplayFn(void *ctx, uint32_t output, Ref base);
void aot_leave(Sim *s, const Graph *g, const Ref *args, const Ref *made, AotReplayFn *replay, void *ctx);
/* A write through a tensor: under no_grad, or of a value that needs a gradient; and a use of one, by a node of the graph. */
void aot_note_write(Sim *s, uint32_t tensor, bool no_grad, uint64_t need);
void aot_note_read(Sim *s, uint32_t tensor, NodeId node);
AotCall *aot_current(Sim *s); /* the call that runs, where inputs share memory; NULL else */
/* The test of AOTAutograd, and what is true. `meet`: whether they share elements. */
AotRelation aot_relation(const AotLayout *a, const AotLayout *b, Tri meet);
AotLayout aot_layout(const SimTensor *t);

#endif
