/* SPDX-License-Identifier: MIT
 * check_breaks: the graph breaks of a dump, from records and from bytecode, each once. */
#ifndef GRAPHLINT_CHECK_BREAKS_H
#define GRAPHLINT_CHECK_BREAKS_H

#include "check.h"
#include "read_break.h"

typedef struct BreakCause {
	Str needle;
	bool host;       /* a tensor's values are read there */
	Str words, advice;
} BreakCause;

/* One record; those of one place in the user's program are counted together. */
typedef struct BreakSeen {
	BreakRecord r;
	Span span;
	FileId file;
	Sym process, compile_id;
	uint32_t count;
	const BreakCause *cause; /* NULL: of no known kind */
} BreakSeen;

typedef struct BreaksSeen {
	VEC(BreakSeen) v;
} BreaksSeen;

/* All records of the dump, in the order of their places; one for each place and process. */
void check_breaks_read(const CheckCtx *c, BreaksSeen *out, Arena *a);
/* Is there bytecode of this process in this file? */
bool check_has_bytecode(const CheckCtx *c, FileId file, Sym process);

#endif
