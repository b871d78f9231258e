/* SPDX-License-Identifier: MIT
 * infer_body: calls of graphs that are in the dump: higher-order operators (torch/_higher_order_ops
 * of PyTorch 2.1 to 2.15) and submodules. Which operand is which input of the body, and what the
 * body's results make of the call. */
#ifndef GRAPHLINT_INFER_BODY_H
#define GRAPHLINT_INFER_BODY_H

#include "infer_call.h"

enum { BODIES_MOST = 8 };

typedef struct BodyCall {
	GraphId body[BODIES_MOST];
	uint32_t n; /* 0: the call has no body in the dump */
	uint32_t first_result, nresults; /* which of them make the result */
	bool pair; /* the result is the first member of what the body returns (autograd functions) */
	TypeId *operand;
	uint32_t noperands;
} BodyCall;

BodyCall infer_body_call(Infer *in, NodeId id);
/* Types of a body's inputs from those of the operands; NULL when they do not fit. */
const TypeId *infer_body_inputs(const Infer *in, const BodyCall *call, const Graph *body);
/* The result of the call; nt: types of each body, by GraphId. */
bool infer_body_result(Infer *in, const BodyCall *call, const NodeTypes *const *nt, Result *r);
/* What two types have in common. */
TypeId infer_join(Types *t, TypeId a, TypeId b);

#endif
