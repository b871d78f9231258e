/* SPDX-License-Identifier: MIT
 * split_trace: records of TORCH_TRACE and their payloads, the lines behind a record that begin with a tab. */
#ifndef GRAPHLINT_SPLIT_TRACE_H
#define GRAPHLINT_SPLIT_TRACE_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "md5.h"
#include "trace.h"
#include "split.h"
#include "split_block.h"
#include "split_lines.h"

/* The payload that is open: what its record says, and its lines so far. */
typedef struct Payload {
	bool open;
	Mark mark;          /* tag: the kind */
	Str label, hash;    /* hash: MD5 that the record names; empty: it is not checked */
	Str process;        /* name of the process; empty: the mark and the label tell it */
	Str compile_id;
	uint32_t at, end;   /* the record */
	VEC(Piece) pieces;
	Md5 sum;
} Payload;

typedef struct TraceSplit {
	Artifacts *out;
	const Sources *sources;
	FileId file;
	Diags *diags;       /* may be NULL */
	Arena *scratch, *record; /* record: what is read of one record */
	Payload payload;
	Map strings;        /* number in the string table, plus 1 -> index in `string`, plus 1 */
	VEC(Str) string;
	Map tensors;        /* describer and id -> index in out->tensors, plus 1 */
	Str process, label; /* name of the process of the last record, made of its label ... */
	Mark of;            /* ... and of its number and rank */
	int64_t rank;       /* of the last record that names one in its JSON, and its digits */
	Str rank_text;
	int64_t pid;        /* the same of a process */
	Str pid_text;
	Str dtype;          /* of the last tensor */
} TraceSplit;

TraceSplit trace_split(Artifacts *out, const Sources *sources, FileId file, Diags *diags, Arena *scratch, Arena *record);
/* Is the text raw.jsonl of tlparse: a string table, then a record a line? */
bool trace_is_index(Str text);
/* Takes all records of raw.jsonl; their payloads are files of their own. */
void trace_index(TraceSplit *t);
/* Opens the file as a payload of which an index tells. */
void trace_file(TraceSplit *t, const FileRole *role);
/* Takes a record line. Opens its payload, if it has one; the one before must be closed. */
void trace_record(TraceSplit *t, const LogLine *l);
/* Adds a line to the open payload; `line` stands at `src`, without its tab. */
void trace_line(TraceSplit *t, Str line, uint32_t src);
/* Compares the payload with its hash and tells what differs. */
void trace_check(TraceSplit *t);
/* Reads the version from the comments of a repro: "# torch version: 2.13.0+cpu". */
void trace_repro_version(TraceSplit *t);
/* Names the listings among the artifacts of the payload, which begin at index `from`, and reads PyTorch's version. */
void trace_finish(TraceSplit *t, uint32_t from);

#endif
