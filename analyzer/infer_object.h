/* SPDX-License-Identifier: MIT
 * infer_object: which names of a graph are one object, as far as it matters for printed layouts:
 * only in graphs that write sizes, strides or storage (t_, squeeze_, resize_, set_ ...). */
#ifndef GRAPHLINT_INFER_OBJECT_H
#define GRAPHLINT_INFER_OBJECT_H

#include "infer_call.h"

/* Fills in->nt.object, cluster and the room for writes; leaves them NULL in a graph that writes no
 * layout. */
void infer_objects(Infer *in);
/* Does this call write the layout of its first argument? */
bool infer_writes_layout(Infer *in, NodeId id);
/* Notes that it did, with the type of the object afterwards. */
void infer_layout_written(Infer *in, NodeId id, TypeId after);
/* Was the layout of a node's object written later on? Then the printed one is not that of this
 * moment. */
bool infer_layout_later(const Infer *in, NodeId id);
/* The type of a node whose layout was written later on. Dynamo prints every name of an object as it
 * is at the end: then back from there over the writes that can be undone (t_, transpose_,
 * unsqueeze_), and without sizes and strides over others. Graphs of make_fx print each name as it
 * was when it was made; the two prints are told apart by the annotation of the last write. */
TypeId infer_layout_before(Infer *in, NodeId id);

#endif
