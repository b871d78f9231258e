/* SPDX-License-Identifier: MIT
 * read_call: a call of plain Python, as generated code has them: its name, its arguments as text, sizes among them. */
#ifndef GRAPHLINT_READ_CALL_H
#define GRAPHLINT_READ_CALL_H

#include "base.h"
#include "types.h"

/* An argument; both are slices of the call. */
typedef struct PyCallPart {
	Str keyword, value; /* keyword empty: positional */
} PyCallPart;

/* "a.f(x, k=y)", whole: the name, and what stands between the brackets. */
bool pycall_is(Str s, Str *callee, Str *inside);
/* Cuts what stands between brackets at commas; gives at most `most` parts. */
uint32_t pycall_parts(Str inside, PyCallPart *out, uint32_t most);
Str pycall_part(const PyCallPart *v, uint32_t n, Str keyword); /* its value; empty when there is none */
/* "(3, s0)" or "[3, s0]": at most TYPE_DIMS_MOST sizes; those that cannot be read are 0. False when it is no list. */
bool pycall_dims(Types *t, Str list, ExprId *out, uint32_t *n);
/* A tensor of these sizes and strides; 0 when they are no lists of one length. Without text for the strides it is packed. */
TypeId pycall_type(Types *t, Str size, Str stride, DType dtype, Sym device);

#endif
