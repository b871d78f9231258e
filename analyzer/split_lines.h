/* SPDX-License-Identifier: MIT
 * split_lines: a source as the lines that programs wrote: foreign prefixes taken off, wrapped,
 * partial and torn lines put together, each with what its torch prefix says. */
#ifndef GRAPHLINT_SPLIT_LINES_H
#define GRAPHLINT_SPLIT_LINES_H

#include "base.h"
#include "source.h"
#include "split.h"
#include "split_prefix.h"

enum {
	FOREIGN_DEPTH = 4, /* prefixes before one another */
	JOIN_MOST = 20, /* physical lines that are put together to one */
	LINE_QUEUE = 2
};

/* One line as it was written. Slices point into the source, or into scratch memory of the
 * reader. */
typedef struct LogLine {
	Mark mark;
	Str label; /* of the launcher, container or rank before it */
	Str text; /* without prefixes; for a line of several pieces a copy */
	Piece piece[JOIN_MOST]; /* where `text` stands */
	uint32_t npieces;
	bool payload; /* of a record of TORCH_TRACE, as it stands behind its tab; `mark` is none */
} LogLine;

typedef struct LineReader {
	const Source *src;
	Arena *scratch;
	uint32_t next; /* physical line, from 0 */
	uint32_t at_line, at; /* the line that was asked for last, and where it begins */
	Foreign stack[FOREIGN_DEPTH];
	uint32_t depth, misses;
	char diff; /* sign of FOREIGN_DIFF in the stack */
	bool special; /* the source holds ESC, NBSP or lone CR: lines may have to be cleaned */
	uint32_t wrap; /* columns at which a terminal wrapped the lines; 0 not at all */
	bool payload; /* set by the caller: a payload goes on as long as lines begin with a tab */
	Mark last; /* of the line before, for lines with the same prefix */
	LogLine queue[LINE_QUEUE];
	uint32_t queue_n;
	uint32_t torch_lines;
} LineReader;

LineReader lines_new(const Source *src, Arena *scratch);
/* The next line, good until the next call; false at the end. */
bool lines_next(LineReader *r, LogLine **out);

#endif
