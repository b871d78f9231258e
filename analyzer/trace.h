/* SPDX-License-Identifier: MIT
 * trace: one record of TORCH_TRACE, the JSON behind the prefix of its line, also as tlparse writes it into raw.jsonl.
 * Facts: torch/_logging/_internal.py (trace_structured), torch/_subclasses/meta_utils.py (describe_*) of PyTorch 2.3
 * to 2.15; tlparse 0.4.3. */
#ifndef GRAPHLINT_TRACE_H
#define GRAPHLINT_TRACE_H

#include "base.h"

enum { TRACE_DIMS = 64 };

/* Keys that a kind does not have are 0, -1 where 0 is a number that means something, or empty. */
typedef struct TraceRecord {
	Str kind;          /* "dynamo_output_graph"; of an artifact its name: "dynamo_graph_break_reason" */
	bool artifact;
	Str compile_id;    /* "1/0", "!0/1/0", "!0"; empty outside of a frame */
	uint32_t attempt;
	int64_t rank, pid; /* pid: of the process; raw.jsonl has it in the record */
	Str hash;          /* MD5 of the payload; empty: there is none */
	Str payload_file;  /* raw.jsonl: where the payload stands, below the folder of that file */
	Str name, file;    /* dynamo_start: innermost function and its file, where the record has it; else metadata "name" */
	int64_t file_id;   /* ... or its number in the string table */
	uint32_t line;
	int64_t id, describer, storage, base; /* describe_*; `id` also of a string */
	Str text;          /* the string; the source expression of describe_source */
	uint64_t size_bytes; /* describe_storage */
	bool is_view, requires_grad, is_leaf;
	uint32_t ndim;
	bool sized;        /* size and stride have ndim whole numbers each */
	int64_t size[TRACE_DIMS], stride[TRACE_DIMS], offset;
	Str dtype;         /* "torch.float32" */
} TraceRecord;

typedef enum TraceParse { TRACE_OK, TRACE_BAD, TRACE_TOO_LONG } TraceParse;

/* Longest record that is parsed. */
enum { TRACE_RECORD_MOST = 1 << 22 };

/* Parses the object. Text of *out lives in `a`. An object without a kind is TRACE_BAD. */
TraceParse trace_parse(Str json, Arena *a, TraceRecord *out);
/* What a process is called: "rank1:8725", as split_prefix.h does; empty: the record has neither rank nor pid. */
Str trace_process(const TraceRecord *r, Arena *a);
/* The strings of the first line of raw.jsonl, in order; false when it is none. */
typedef VEC(Str) TraceStrings;
bool trace_string_table(Str json, Arena *a, TraceStrings *out);

/* What a payload of a kind holds. */
typedef enum TraceRole {
	TRACE_ANY,       /* whatever its text says */
	TRACE_GRAPH,     /* a graph */
	TRACE_BYTECODE,  /* a listing without header: NAME_ORIGINAL_BYTECODE, NAME_MODIFIED_BYTECODE */
	TRACE_META,      /* ViewAndMutationMeta */
	TRACE_BREAK,     /* why a frame broke */
	TRACE_RECOMPILE, /* which guards failed */
	TRACE_SIDE,      /* Python-level writes that the modified code replays */
	TRACE_WRAPPER,   /* AOTAutograd's code around the compiled graph */
	TRACE_OUTPUT,    /* Inductor's code */
	TRACE_GUARDS,
	TRACE_VERSION,   /* of PyTorch */
	TRACE_SKIP       /* nothing to read */
} TraceRole;

TraceRole trace_role(Str kind);
/* Is the kind one of those known? */
bool trace_is_known(Str kind);
/* The function's name of NAME_ORIGINAL_BYTECODE or NAME_MODIFIED_BYTECODE; false when it is none of them. */
bool trace_bytecode_name(Str kind, Str *function, bool *modified);

#endif
