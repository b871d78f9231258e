/* SPDX-License-Identifier: MIT
 * split_prefix: what stands before the text of a line: torch's own prefixes of every generation,
 * and those of schedulers, containers, launchers and mail. Matched by hand, in one pass over the
 * prefix. */
#ifndef GRAPHLINT_SPLIT_PREFIX_H
#define GRAPHLINT_SPLIT_PREFIX_H

#include "base.h"
#include "split.h"

/* What the torch prefix of a line says. */
typedef struct Mark {
	PrefixStyle style; /* PREFIX_NONE: the line has none */
	bool every; /* stands on every line of its record, not only on the first */
	bool structured; /* of a line of TORCH_TRACE: JSON follows */
	Str text; /* the whole prefix: lines of one record have equal ones when `every` */
	Str rank; /* digits of [rank1]: */
	Str number; /* process or thread id */
	Str trace; /* "0/0_1", "!0/1/0" */
	Str tag; /* artifact "graph_code", or the last part of the logger's name "output_graph" */
	bool artifact; /* the tag is that of an artifact */
} Mark;

/* The prefix at the start of a line; *body: where its text begins. False when there is none. */
bool mark_parse(Str line, Mark *m, uint32_t *body);
/* The first prefix of a style that stands on every line, at or after `from`: *at is its start. */
bool mark_find(Str line, uint32_t from, Mark *m, uint32_t *at, uint32_t *body);
/* What a process is called by the rank and number of its lines, and by who passed them on: "rank1:8725". Numbers that are
 * of threads (PyTorch 2.3 to 2.5) do not count. In `a`. */
Str mark_process(const Mark *m, Str label, Arena *a);
/* Is the number that of a thread, as 2.3 to 2.5 print it? */
bool mark_of_thread(const Mark *m);
/* Could the line begin with a prefix that goes on after a line break? */
bool mark_begins(Str line);
/* A record header behind a prefix that is not known: any TORCH_LOGS_FORMAT. */
bool mark_guess(Str line, Mark *m, uint32_t *body);

typedef enum Foreign {
#define FOREIGN(id, word, strict) FOREIGN_##id,
#include "foreigns.def"
#undef FOREIGN
	FOREIGN_N
} Foreign;

typedef struct ForeignMatch {
	uint32_t n; /* bytes of the prefix */
	Str label; /* who wrote the line: service, local rank; empty when it does not say */
	bool partial; /* the line goes on in the next one */
	char mark; /* diff: the sign */
} ForeignMatch;

bool foreign_match(Foreign kind, Str line, ForeignMatch *out);
/* Must every line of a block have it, without exception? */
bool foreign_strict(Foreign kind);

#endif
