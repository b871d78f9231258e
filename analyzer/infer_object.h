/* SPDX-License-Identifier: MIT
 * infer_object: which names of a graph are one object, as far as it matters for printed layouts: only in
 * graphs that write sizes, strides or storage (t_, squeeze_, resize_, set_ ...). */
#ifndef GRAPHLINT_INFER_OBJECT_H
#define GRAPHLINT_INFER_OBJECT_H

#include "infer_call.h"

/* Fills in->nt.object, cluster and the room for writes; leaves them NULL in a graph that writes no layout. */
void infer_objects(Infer *in);
/* Does this call write the layout of its first argument? */
bool infer_writes_layout(Infer *in, NodeId id);
/* Notes that it did, with the type of the object afterwards. */
void infer_layout_written(Infer *in, NodeId id, TypeId after);
/* Was the layout of a node's object written later on? Then the printed one is not that of this moment. */
bool infer_layout_later(const Infer *in, NodeId id);
/* The type of a node whose layout was written later on, back from the printed one over writes that can be undone
 * (t_, transpose_, unsqueeze_); without sizes and strides over others. */
TypeId infer_layout_before(Infer *in, NodeId id);

#endif
