/* SPDX-License-Identifier: MIT
 * glob: patterns for paths and names: `*` any characters but '/', `**` any, `?` one but '/', [a-z] and [!a-z]. */
#ifndef GRAPHLINT_GLOB_H
#define GRAPHLINT_GLOB_H

#include "base.h"

/* Work is bounded by the product of both lengths. A slash after `**` may match nothing. */
bool glob_match(Str pattern, Str s);
/* A pattern without '/' is about the last part of the path, one with '/' about the whole of it. */
bool glob_path(Str pattern, Str path);
/* What is wrong with it, or empty. */
Str glob_fault(Str pattern);
/* `path` as seen from a folder: both absolute or relative to the same place; "." and ".." parts are resolved in the text.
 * What is not below the folder stays whole. */
Str path_below(Arena *a, Str folder, Str path);
/* Joins and resolves "." and ".." in the text; an absolute path stays. */
Str path_join(Arena *a, Str folder, Str path);
Str path_folder(Str path); /* without the last part; "." when there is none */

#endif
