/* SPDX-License-Identifier: MIT
 * rule_files: the rule files that a path of --rules stands for. */
#ifndef GRAPHLINT_RULE_FILES_H
#define GRAPHLINT_RULE_FILES_H

#include "base.h"
#include "rules.h"

/* The file itself, or the files *.yaml and *.yml of a folder, in order of their names. False and a line in *errors when the
 * path cannot be read. */
bool rule_files_list(Arena *a, Str path, StrList *out, Buf *errors);
/* Adds the rules of all of them. False, and lines in *errors, when one cannot be read, has faults, or there is none. */
bool rule_files_load(Rules *r, Arena *a, Str path, Buf *errors);

#endif
