/* SPDX-License-Identifier: MIT
 * read_python: a function in Python source -> the code of a frame, as CPython 3.10 would compile it: what depyf decompiled
 * out of the bytecode that Dynamo made (depyf 0.18 to 0.20). Names and positions of arguments are shown, so that
 * what frames hand on is exact. */
#ifndef GRAPHLINT_READ_PYTHON_H
#define GRAPHLINT_READ_PYTHON_H

#include "base.h"
#include "read.h"

/* An artifact that holds one function: adds a frame. What cannot be compiled makes its code incomplete, and is told. */
void read_python(Reader *r, ArtifactId id, const Artifact *art, const Text *text);

#endif
