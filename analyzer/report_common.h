/* SPDX-License-Identifier: MIT
 * report_common: what several writers need: lines and columns, untrusted text, which graphs count. */
#ifndef GRAPHLINT_REPORT_COMMON_H
#define GRAPHLINT_REPORT_COMMON_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "ir.h"
#include "run.h"

/* Columns every so many bytes of one long line: one of 300,000 characters holds thousands of places. */
typedef struct LongLine {
	FileId file;
	uint32_t line; /* index; with file 0 the entry is free */
	struct Mark {
		uint32_t at, col; /* offset within the line, code points before it */
	} *marks;
	uint32_t n;
} LongLine;

enum { LONG_LINES = 8 };

typedef struct Places {
	const Sources *sources;
	Arena *a;
	LongLine lines[LONG_LINES];
	uint32_t next; /* entry that is given up next */
} Places;

Places places_new(const Sources *sources, Arena *a);
/* As source_line_col, in time that does not grow with the length of the line. */
LineCol place_of(Places *p, FileId file, uint32_t offset);
/* Path of a file; "<unknown>" for none. */
Str place_path(const Places *p, FileId file);

/* How one code point is shown: itself, or an escape of ASCII. Unless `unicode`, all that is not ASCII
 * is escaped. Returns the columns that it takes. `out` may be NULL. A tab is escaped too, and the second # of `##[`, which
 * CI runners take for a command wherever it stands in a line. */
uint32_t report_put(Buf *out, Str s, uint32_t at, uint32_t *n, bool unicode);
/* Untrusted text for a terminal. */
void report_text(Buf *out, Str s, bool unicode);
/* The same for people: of a word that nobody reads to its end, such as a name of a megabyte, the middle is left out. */
void report_words(Buf *out, Str s, bool unicode);
/* That word alone, cut. */
Str report_word(Arena *a, Str word);

/* The principal printing of a graph that ran, or of a body of one: what reports list. */
bool report_graph_shown(const Program *p, const Graph *g);
/* One of these that is neither a body nor AOTAutograd's form of another one: what a compiler is handed. */
bool report_graph_captured(const Program *p, const Graph *g);
/* Operators that it calls. */
uint32_t report_operators(const Graph *g);
/* "s" for all numbers but one. */
const char *report_plural(uint64_t n);

#endif
