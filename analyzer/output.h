/* SPDX-License-Identifier: MIT
 * output: files that are written whole or not at all. */
#ifndef GRAPHLINT_OUTPUT_H
#define GRAPHLINT_OUTPUT_H

#include "base.h"

/* Replaces the file, or makes it: writes a temporary one beside it and renames that. Signals that would end the process wait
 * until one of the two names holds the whole text, so that no half-written and no temporary file is left. What is no
 * regular file (/dev/stdout, a pipe) is written in place. False and a sentence in *why: the file is as it was. */
bool output_write(Str path, Str text, Arena *a, Str *why);

#endif
