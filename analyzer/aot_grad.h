/* SPDX-License-Identifier: MIT
 * aot_grad: values that the backward needs and that are written, or cannot be: which of them eager code survives, and a graph
 * that AOTAutograd compiled as one function does not. Eager code runs the backward of what is used; that of a
 * compiled graph needs all that any of its outputs needs, and all its inputs take part. */
#ifndef GRAPHLINT_AOT_GRAD_H
#define GRAPHLINT_AOT_GRAD_H

#include "base.h"
#include "aot.h"
#include "sim_grad.h"

/* A value of a graph that its backward cannot use. */
typedef struct AotSaved {
	AotCause cause;   /* SAVED, SAVED_LATER, SAVED_INPUT, NO_GRAD_VIEW */
	GraphId graph;
	int32_t output, input; /* which is saved; -1: not this side, or none */
	NodeId node;      /* of the graph: who saves it, or who writes it */
	Span written;     /* where it is written, or cannot be */
	Str writer;       /* by which operator */
	bool faint;       /* possible, and not likely */
	Str needs;        /* whose need for a gradient it hangs on: "`l_x_` needs one" */
} AotSaved;

typedef VEC(AotSaved) AotSaveds;

/* Settles which leaves may need a gradient at all, for the calls of the log from index `from` on, and finds such values. `inference`: by
 * GraphId, graphs of which the dump shows that they were compiled without gradients. */
void aot_gradients(GradTape *t, AotLog *log, uint32_t from, const Program *p, const uint8_t *inference, Arena *scratch, Arena *keep,
                   AotSaveds *out);

/* Which leaves there are, for --dump=verdict. */
void aot_gradients_dump(const GradTape *t, const Names *names, Buf *out);

#endif
