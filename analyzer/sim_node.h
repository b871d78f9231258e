/* SPDX-License-Identifier: MIT
 * sim_node: what the parts of a graph's run share. What is shared and written is taken from the graph's summary; what
 * happens to elements from sem.h; sizes from the types, under the sizes that the arguments have. */
#ifndef GRAPHLINT_SIM_NODE_H
#define GRAPHLINT_SIM_NODE_H

#include "sim.h"

#include "sem.h"

/* A graph that runs, at one of its nodes. */
typedef struct GraphRun {
	Sim *s;
	const Program *p;
	const Graph *g;
	const NodeTypes *nt;
	const Summary *sum;
	Ref *v;            /* by NodeId; 0: no value yet, or a body */
	uint32_t write_at; /* next of sum->node_writes */
	uint64_t site;
	NodeId node;
	uint32_t depth;
	bool eager;        /* one operator of a frame */
} GraphRun;

/* A write that is worked out before the values change. */
typedef struct PlannedWrite {
	Ref target;
	const uint32_t *map;
	uint32_t n;
	const TermId *terms; /* NULL: whole */
	TermId whole;
	bool metadata;
	bool mixes;          /* what was there stays in elements that are not known */
	bool part;           /* whole goes to this place only */
	SemTensor at;
} PlannedWrite;

static inline uint64_t step_mix(uint64_t h, uint64_t x)
{
	return hash_u64(h * 0x9e3779b97f4a7c15u ^ x);
}

/* ---- operands (sim_operand.c) ---- */
Str step_target(const GraphRun *r, const Node *n);
/* An argument as a heap value; constants as they are printed. */
Ref step_arg(GraphRun *r, const Arg *a);
/* A tensor whose elements are known one by one; false: it is none. */
bool step_operand(GraphRun *r, Ref v, SemTensor *out);
/* SemCall.number; ctx is the GraphRun. */
bool step_number(void *ctx, const Arg *a, TermId *term, int64_t *value, bool *known);
SemCall step_sem(GraphRun *r);
/* Evidence: the node reads or writes what was cut. */
void step_touch(GraphRun *r, Ref tensor, bool write);
void step_touch_args(GraphRun *r);
/* Appends one term for each tensor and number in v, up to `most`. */
void step_terms(GraphRun *r, Ref v, TermId *out, uint32_t *n, uint32_t most, uint32_t depth);
/* Of the arguments that are no values. */
uint64_t step_literals(GraphRun *r);
/* The operator's name in terms: without overload, module prefix and trailing underscore, so that forms agree. */
Sym step_op(GraphRun *r);
/* One term for all elements of a result; member -1: the only one. */
TermId step_whole(GraphRun *r, int member);

/* ---- results (sim_result.c) ---- */
TypeId step_tensor_type(Sim *s, TypeId t);
/* A member of what node `from` gives: the tensor that views and the same object come from; 0: none. */
Ref step_source(GraphRun *r, NodeId from, int member);
/* Where a view of a large tensor lies, or what x[...] = v writes in it: known only when the tensor's own place is. */
bool step_place(GraphRun *r, Ref base, int member, const int64_t *size, uint32_t ndim, SemTensor *out);
Ref step_new(GraphRun *r, int member);
Ref step_view(GraphRun *r, Ref base, int member);
/* As the summary says: the same object, a view, or new. */
Ref step_result(GraphRun *r, const NodeFrom *from, int member);
Ref step_number_result(GraphRun *r);
/* x.shape, x.size(): numbers. False: the node is something else. */
bool step_sizes(GraphRun *r, Ref *out);

/* ---- writes (sim_write.c) ---- */
/* Those of the node, n of them, in the summary. Once for each node, in order. */
const NodeWrite *step_writes(GraphRun *r, uint32_t *n);
/* The k-th write of the node, into w->target. */
void step_plan(GraphRun *r, NodeId through, uint32_t k, PlannedWrite *w);
void step_apply(GraphRun *r, const PlannedWrite *w);

/* ---- bodies (sim_body.c) ---- */
/* Runs the bodies that a higher-order operator or a submodule names. False: the node has none, or they cannot be run. */
bool step_body(GraphRun *r, Ref *out);

/* ---- nodes (sim_node.c) ---- */
void step_node(GraphRun *r);
Ref step_element(GraphRun *r, Ref list, const Arg *index); /* of a tuple or list; 0: which one is not known */
/* What Dynamo makes of a source for the name of an attribute or of an input, without its marks: L__self___bufs_0,
 * self___bufs_0 and L_self_bufs_0_ are self_bufs_0. Key of Sim.attrs beside the names themselves. */
uint64_t step_source_key(Sim *s, Str name);

/* ---- graphs (sim_graph.c) ---- */
/* A copy where eager code has the tensor itself. `marks`: reads and writes of both sides are noted. */
Ref step_cut_copy(Sim *s, Ref v, bool marks);
/* Runs a graph on n arguments, as many as it has inputs; gives what it returns. */
Ref step_graph(Sim *s, const Program *p, const Graph *g, const NodeTypes *nt, const Summary *sum, const Ref *given, uint32_t n,
               uint64_t site, bool eager, uint32_t depth);

#endif
