/* SPDX-License-Identifier: MIT
 * confirm: a small Python backend for torch.compile(backend=...) that cuts one boundary: the graph's output becomes a
 * copy, or the graph gets a copy of an input that it writes. The text is rules/confirm.txt. */
#ifndef GRAPHLINT_CONFIRM_H
#define GRAPHLINT_CONFIRM_H

#include "base.h"
#include "run.h"

/* `target` is GRAPH:out0 or GRAPH:in2; GRAPH is a name, or an id as in the JSON where several have the name. False
 * and a sentence in *why when there is no such boundary, or the graph cannot be told by what it consists of. */
bool confirm_write(const Run *r, Str target, Buf *out, Buf *why);

#endif
