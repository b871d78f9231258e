/* SPDX-License-Identifier: MIT
 * alias_flow: what flows through one graph while its nodes run in order. Shared by the parts of the alias pass. */
#ifndef GRAPHLINT_ALIAS_FLOW_H
#define GRAPHLINT_ALIAS_FLOW_H

#include "base.h"
#include "alias.h"
#include "memory.h"

typedef enum ValueKind {
	VALUE_NONE,    /* no tensor */
	VALUE_TENSOR,  /* obj */
	VALUE_MEMBERS, /* a tuple or list: members[at .. at+n) */
	VALUE_EACH,    /* a list of unknown length: views of `obj`, or new tensors when obj is 0 */
	VALUE_GRAPH,   /* a body: graph */
	VALUE_MODULE   /* self.lin and the like before it is called */
} ValueKind;

typedef struct Value {
	uint8_t kind;
	uint32_t obj;
	uint32_t at, n;
	GraphId graph;
	NodeId node;   /* VALUE_EACH: who made the list */
	Str why;
	bool taken;    /* members of a list input: sharing with the list counts, the list itself is no tensor */
} Value;

typedef struct Flow {
	const AliasCtx *c;
	const Graph *g;
	const NodeTypes *nt;
	Memory m;
	Value *values;       /* by NodeId */
	VEC(Value) members;
	Map each_obj;        /* (node, index) -> object of a list's element */
	Map attr_of;         /* Sym of a path -> index + 1 in summary attrs */
	VEC(AttrSummary) attrs;
	VEC(uint32_t) attr_obj;
	uint32_t *input_obj; /* by input */
	VEC(uint32_t) moved; /* inputs that have another storage at the end */
	uint8_t *indexed;    /* by NodeId: some later x[0] takes an element of it */
	NodeFrom *from;      /* by NodeId: becomes Summary.from */
	bool annotated;      /* the printing has annotations: a node without one is no single tensor */
	Summary *s;
	Arena *keep, *scratch;
} Flow;

/* Runs the nodes; fills memory, values, attrs, notes. */
void flow_run(Flow *f);
void flow_node(Flow *f, NodeId id);
/* Objects of all tensors in an argument tree. */
typedef struct ObjList {
	VEC(uint32_t) v;
} ObjList;
void flow_objects(Flow *f, const Arg *a, ObjList *out);
Value flow_value_of_arg(Flow *f, const Arg *a);
Value flow_tensor(uint32_t obj);
Value flow_members(Flow *f, const Value *v, uint32_t n);
/* Element k of a list value. */
Value flow_element(Flow *f, const Value *list, uint32_t k);
/* `through` is the node whose value is written; 0 when it has none. */
void flow_write(Flow *f, NodeId node, uint32_t obj, NodeId through, Tri certainty, bool metadata, Str cond);
/* Notes where a node's memory comes from; the first note stays. */
void flow_from(Flow *f, NodeId node, NodeId from, Tri shares, bool same_object, Str why);
uint32_t flow_attr(Flow *f, Sym path, NodeId node);
void flow_note(Flow *f, Str rule, Severity sev, NodeId node, Sym what, Str text);
Str flow_name(const Flow *f, NodeId id); /* name of a node, or its target */
/* Higher-order operators and submodules whose body is in the dump. False when the operands do not fit. */
bool flow_body_call(Flow *f, NodeId id);
/* A call of which nothing is known: may write its arguments, may return them. */
void flow_unknown_call(Flow *f, NodeId id, Str why);

#endif
