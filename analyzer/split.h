/* SPDX-License-Identifier: MIT
 * split: one input -> artifacts. Knows log prefixes of every generation, records, foreign lines
 * and the headers by which each kind of artifact begins; knows nothing of what is inside. */
#ifndef GRAPHLINT_SPLIT_H
#define GRAPHLINT_SPLIT_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "config.h"

typedef enum ArtifactKind {
#define ARTIFACT(id, word) ART_##id,
#include "artifacts.def"
#undef ARTIFACT
	ART_N
} ArtifactKind;
Str artifact_kind_name(ArtifactKind k);

/* Which prefix the lines of an artifact had. */
typedef enum PrefixStyle {
	PREFIX_NONE,      /* free text, a file of its own, debug.log */
	PREFIX_2022,      /* torchdynamo.convert_frame: [INFO], first line only */
	PREFIX_2022_TIME, /* [2022-10-14 10:02:03,456] torchdynamo...: [Level 15], first line only */
	PREFIX_2_0,       /* [date] torch._dynamo...: [INFO], first line only */
	PREFIX_2_1,       /* [date] [0/0] torch._dynamo....__graph_code: [DEBUG], every line; also 2.2 */
	PREFIX_2_3,       /* V1201 02:01:38.906000 8725 file:line] [0/0_1] [__graph_code], every line */
	PREFIX_FORMAT,    /* TORCH_LOGS_FORMAT, pytest's captured log: first line only */
	PREFIX_DEBUG_LOG, /* [aot_autograd.py:1321 DEBUG], first line only: debug logs of 2.0 to 2.2 */
	PREFIX_TRACE,     /* payload of a record of TORCH_TRACE, behind tabs; tag is the kind of the record */
	PREFIX_N
} PrefixStyle;
Str prefix_style_name(PrefixStyle p);

/* A run of bytes of the source, without the line end; one or more per line of the artifact. */
typedef struct Piece {
	uint32_t src;
	uint32_t n : 31;
	uint32_t joins : 1; /* goes on with the line of the piece before: it was wrapped or torn */
} Piece;

typedef struct Artifact {
	ArtifactKind kind;
	FileId file, unit;   /* unit: Source.unit */
	uint32_t at, end;    /* header line in the source: what a message points at */
	Str name;            /* between `=====`, or code object's name, or class name, or "" */
	Str alias;           /* another name by which it is called: __resume_at_100_3; of AOT's forms the Dynamo graph */
	Str name_line;       /* the whole name line where it says more ("pre insert_deferred_runtime_asserts __compiled_fn_2") */
	Str tag;             /* "graph_code", "aot_graphs", "bytecode": artifact tag or last part of the logger name */
	Str compile_id;      /* "0/0", "!0/1/0"; empty none */
	uint32_t attempt;
	Str process;         /* "rank1", "8725", "rank1:8725"; empty none. Equal text: same process */
	Str code_file;       /* bytecode: file of the code object */
	uint32_t code_line;  /* bytecode: its first line */
	uint32_t aot_id;     /* number in "Forward graph 3", "aot_config id: 3", plus 1; 0 none */
	PrefixStyle prefix;
	VersionSpan torch;   /* versions that print this form */
	Piece *pieces;       /* lines of the body, prefix removed, header lines included */
	uint32_t npieces;
	uint32_t order;      /* position among the records of its process: when it was printed */
	bool open_end;       /* the file or the record ends inside it */
	bool torn_end;       /* its last line is the file's last and has no line end: it may be cut */
	bool cut_head;       /* its first lines are missing: no header by which it could be named */
	bool flat;           /* all indentation was lost: artifact_text puts it back by keyword */
} Artifact;

/* Which compilation a record of a trace tells of. */
typedef struct CaptureId {
	FileId unit;
	Span at;        /* the record */
	Str process, compile_id;
	uint32_t attempt;
} CaptureId;

/* A frame whose compilation began. */
typedef struct FrameStart {
	CaptureId id;
	Str function, file; /* of the code object */
	uint32_t line;
} FrameStart;

/* A tensor as it was when a graph's inputs were made: describe_tensor. */
typedef struct CapturedTensor {
	CaptureId id;
	Str source;         /* "L['x']"; empty: it is only the base of others */
	uint32_t describer, storage; /* equal describers and storages: one storage. 0 not told */
	bool is_view, requires_grad;
	uint32_t ndim;
	const int64_t *size, *stride; /* NULL: symbolic, or not told */
	int64_t offset;
	Str dtype;          /* "torch.float32"; empty not told */
} CapturedTensor;

/* The version of PyTorch that wrote the files of a unit, as it says itself. */
typedef struct UnitTorch {
	FileId unit;
	Version torch;
	Span said;
} UnitTorch;

enum { TORCH_NEWEST = 215 }; /* that the readers were tested on */

typedef struct Artifacts {
	Arena *a;
	VEC(Artifact) v;     /* slot 0 unused; per file in order of their first line */
	VEC(FrameStart) starts;       /* in order of their records */
	Map start_of;                 /* unit, process and compile id -> the last of `starts`, plus 1 */
	VEC(CapturedTensor) tensors;
	VEC(UnitTorch) torch;
	Map torch_of;                 /* unit -> the first of `torch`, plus 1 */
	uint32_t torch_lines; /* lines that carried a torch prefix */
} Artifacts;

void artifacts_init(Artifacts *t, Arena *a);
/* Cuts one source into artifacts and appends them. Text that belongs to no artifact is foreign
 * and not an error. Damage inside a recognised artifact is told through diags. */
void split_source(Artifacts *t, const Sources *sources, FileId file, const Config *cfg, Diags *diags);
/* After all sources: what one file of a unit says of PyTorch's version holds for all of its traces. A newer one than
 * TORCH_NEWEST is told. */
void split_settle(Artifacts *t, Diags *diags);
/* Some text says which version wrote it; the first to say so counts. */
void split_torch(Artifacts *t, FileId unit, Version torch, Span said);
/* The body of an artifact as clean text: its lines joined with '\n', ANSI codes (whole, or with
 * the ESC lost) dropped, no-break spaces, tabs in the indentation and HTML entities replaced,
 * lost indentation put back, with the way back to the source. */
Text artifact_text(const Artifact *art, const Sources *sources, Arena *scratch);
/* The stable text of --dump=split: a line per artifact. */
void split_dump(const Artifacts *t, const Sources *sources, Buf *out);

#endif
