/* SPDX-License-Identifier: MIT
 * split_fx: does a line look like what FX prints, or like something else? Looks at the form of
 * the line only, so that user source, prose and foreign output are not taken for a graph. */
#ifndef GRAPHLINT_SPLIT_FX_H
#define GRAPHLINT_SPLIT_FX_H

#include "base.h"

typedef enum FxKind {
	FX_STATEMENT, /* assignment, subscript store, augmented assignment, annotation, call */
	FX_RETURN,
	FX_PASS,
	FX_COMMENT,
	FX_BLOCK, /* """ alone: begins or ends the metadata that FX_GRAPH_SHOW_META prints */
	FX_ELISION, /* "..." or "[... 37 lines omitted ...]": somebody shortened the text */
	FX_USER, /* Python that FX never prints */
	FX_OTHER /* no Python statement */
} FxKind;

typedef struct FxLine {
	FxKind kind;
	bool strong; /* only FX prints this: deletions, quoted annotations, "# File: " comments ... */
	bool weak; /* FX would hardly print this: nested calls, attribute stores, computed returns */
	Str name; /* what an assignment binds */
} FxLine;

/* `line` has no indentation and no blanks at its end, and is not empty. */
FxLine fx_line(Str line);

/* "class NAME(torch.nn.Module):", also behind a file and in the form of a log. `before`: what
 * stands before the word class, trimmed; `at`: where that word begins. */
bool fx_class_line(Str line, Str *before, Str *name, uint32_t *at);
/* Does the class name alone say that FX or Dynamo wrote the class? */
bool fx_class_known(Str name);
/* "def forward(" at the start. `open`: the parameters go on in the next lines. */
bool fx_def_line(Str line, bool *open);
/* Are brackets left open at the end of the line? Strings, and in code comments, are passed over. */
bool fx_line_open(Str line, bool code);

#endif
