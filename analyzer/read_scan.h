/* SPDX-License-Identifier: MIT
 * read_scan: printed forward code as logical statements: strings, brackets, comments and the deletion tail are
 * recognised here, what a statement means is not. */
#ifndef GRAPHLINT_READ_SCAN_H
#define GRAPHLINT_READ_SCAN_H

#include "base.h"

typedef enum StmtKind {
	ST_STATEMENT,
	ST_COMMENT,   /* a line of its own that starts with # */
	ST_CLASS,     /* class NAME(...Module):, also behind a file name as logs print it */
	ST_DEF,       /* def NAME(...) up to its colon */
	ST_HEADER,    /* ===== NAME =====, TRACED GRAPH */
	ST_IGNORED    /* imports, wrap() lines, decorators, the metadata blocks of FX_GRAPH_SHOW_META */
} StmtKind;

typedef struct CommentAt {
	uint32_t at, end;
} CommentAt;

/* A logical statement; offsets into the scanned text. */
typedef struct Stmt {
	StmtKind kind;
	uint32_t at, end;      /* without indentation, deletion tail and trailing comment */
	uint32_t tail_at, tail_end; /* the deletion tail without its semicolon: "x = y = None" */
	uint32_t indent;       /* blanks before it */
	bool torn;             /* a bracket or a string is still open where the line ends */
	bool too_long, too_deep;
	uint32_t ncomments;    /* comments inside a statement that spans lines: descriptors */
	CommentAt *comments;
} Stmt;

typedef struct Scan {
	Str s;
	uint32_t at;           /* next line */
	uint32_t max_nesting, max_bytes;
	uint64_t slack;        /* bytes that may still be looked at in vain beyond a line: keeps hostile text linear */
	Arena *a;              /* for comments of the current statement */
	VEC(CommentAt) found;
} Scan;

Scan scan_new(Str s, uint32_t max_nesting, uint32_t max_bytes, Arena *a);
/* The next statement; false at the end. Stmt.comments is good until the next call. */
bool scan_next(Scan *sc, Stmt *out);

/* Position of the bracket that closes the one at s.p[at]; s.n when there is none. Knows strings and comments. */
uint32_t scan_close(Str s, uint32_t at);
/* Cuts s[at..end) at commas outside brackets, strings and comments: end of the part that begins at `at`. */
uint32_t scan_part(Str s, uint32_t at, uint32_t end);

#endif
