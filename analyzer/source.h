/* SPDX-License-Identifier: MIT
 * source: the bytes of one input as the user sees them, and clean copies of parts of it that
 * still know where every byte stood. */
#ifndef GRAPHLINT_SOURCE_H
#define GRAPHLINT_SOURCE_H

#include "base.h"

/* What an index that stands beside a file says of it: it holds the payload of a record of a trace. */
typedef struct FileRole {
	Str kind;         /* of the record: "dynamo_output_graph" */
	Str compile_id, process, hash; /* as of a record; empty: none, or not told */
	uint32_t attempt;
	uint32_t aot_id;  /* number of AOTAutograd's graph, plus 1; 0 not told */
	Span said;        /* where the index says so */
} FileRole;

enum { SOURCE_LINES_EACH = 16 }; /* a text may be nothing but line ends */

/* One input: a file, standard input, or text given by a test or an editor. */
typedef struct Source {
	Str path;        /* as given on the command line or found by walking, with '/' */
	Str text;        /* UTF-8 as far as the input is; UTF-16 was decoded, gzip unpacked, a BOM dropped */
	uint32_t *marks; /* offset of the first byte of line i * SOURCE_LINES_EACH (0-based); a line ends at LF or CRLF */
	uint32_t nlines;
	FileId unit;     /* a file of the run of a program that wrote this one: itself, or the first of those that
	                  * were written together (units.h). Names and compile ids are those of a unit and process */
	uint32_t order;  /* among the files of the unit */
	const FileRole *role; /* NULL: what the file is, its text alone says */
	bool named;      /* named on the command line, not found by walking */
	bool was_utf16, was_gzip, has_nul;
	Str damage;      /* why the text is not all that was meant; empty: nothing known */
} Source;

typedef struct Sources {
	Arena *a;       /* process or run lifetime: texts live here */
	VEC(Source) v;  /* slot 0 unused */
} Sources;

typedef struct LineCol {
	uint32_t line, col; /* from 1; columns are Unicode code points, a tab is one; a bad byte is one */
} LineCol;

void sources_init(Sources *t, Arena *a);
/* Takes bytes that are in memory; decodes UTF-16 with BOM and gzip, drops a BOM. `bytes` must
 * live as long as the table when nothing has to be decoded. `limit`: most bytes after unpacking,
 * 0 none. Returns 0 and sets *why when the bytes cannot be taken (too large, broken gzip). What
 * could be unpacked of a gzip stream that breaks off is taken, and Source.damage says so. */
FileId sources_add_bytes(Sources *t, Str path, Str bytes, uint64_t limit, Str *why);
/* Reads a file (or standard input when path is "-", then named `shown`). Same errors, and those
 * of the system. */
FileId sources_add_file(Sources *t, Str path, Str shown, uint64_t limit, Str *why);
const Source *source_get(const Sources *t, FileId f);
LineCol source_line_col(const Source *s, uint32_t offset);
/* Index, from 0, of the line that holds an offset, and where it begins; nlines must not be 0. */
uint32_t source_line_index(const Source *s, uint32_t offset, uint32_t *start);
uint32_t source_line_start(const Source *s, uint32_t line); /* from 0, below nlines */
/* Text of the line that begins there, without its line end. */
Str source_line_at(const Source *s, uint32_t start);
/* Text of a line (from 1) without its line end. */
Str source_line(const Source *s, uint32_t line);
/* Offset of the byte that stands at a 1-based line and code-point column; clamps. */
uint32_t source_offset(const Source *s, LineCol at);

/* From this clean offset on, until the next segment, source offset = src + (clean - at). */
typedef struct Seg {
	uint32_t at, src;
} Seg;

/* A clean copy of a part of a source: prefixes, colours and damage removed. */
typedef struct Text {
	FileId file;
	Str s;
	Seg *seg; /* ascending in `at`; seg[0].at == 0 when s is not empty */
	uint32_t nseg;
} Text;

/* Source offset of the clean byte at `at` (at == s.n gives the end of the last byte). */
uint32_t text_offset(const Text *t, uint32_t at);
/* Source span of the clean bytes [at, end). */
Span text_span(const Text *t, uint32_t at, uint32_t end);

#endif
