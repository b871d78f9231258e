/* SPDX-License-Identifier: MIT
 * quoted: lines of the user's program that a dump quotes: behind `code:` in the comments of graphs, and in the tracebacks of
 * graph breaks. A listing of CPython 3.11 does not print the names of keyword arguments (KW_NAMES has only the index of a
 * constant); the line of the call does. */
#ifndef GRAPHLINT_QUOTED_H
#define GRAPHLINT_QUOTED_H

#include "base.h"
#include "source.h"
#include "split.h"
#include "ir.h"

typedef struct Quoted {
	Arena *a;
	Map at;        /* hash of file and line -> text, plus 1 */
	VEC(Str) text; /* trimmed; empty: the dump quotes two different lines */
} Quoted;

/* All lines that the dumps quote. Texts are from `keep` or slices of the sources. */
Quoted quoted_collect(const Program *p, const Artifacts *artifacts, const Sources *sources, Arena *keep, Arena *scratch);
/* Empty when no dump quotes the line, or not one text. */
Str quoted_line(const Quoted *q, Str file, uint32_t line);

enum { QUOTED_KEYWORDS_MOST = 64 };

/* Keywords of a call in a line of Python. */
typedef struct QuotedCall {
	Str keywords[QUOTED_KEYWORDS_MOST];
	uint32_t n;
} QuotedCall;

/* The call of `callee` (the last part of what is called; empty: of anything) with nargs arguments, some of them with
 * keywords. False when there is none in the line, or several that differ in their keywords. */
bool quoted_call(Str code, Str callee, uint32_t nargs, QuotedCall *out);

#endif
