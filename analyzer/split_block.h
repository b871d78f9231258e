/* SPDX-License-Identifier: MIT
 * split_block: finds artifacts in a run of lines: one record of a log, or the lines between two
 * records, or a file. */
#ifndef GRAPHLINT_SPLIT_BLOCK_H
#define GRAPHLINT_SPLIT_BLOCK_H

#include "base.h"
#include "source.h"
#include "split.h"
#include "split_prefix.h"

/* What the lines of a record with a certain artifact tag hold. */
typedef enum TagRole {
	TAG_ANY, /* whatever headers say */
	TAG_GRAPH, /* one graph, or words */
	TAG_BYTECODE,
	TAG_GUARDS,
	TAG_OUTPUT, /* Inductor's code: nothing in it begins anything */
	TAG_SKIP /* nothing to read: not even headers count, source lines are quoted */
} TagRole;
TagRole tag_role(Str tag);

enum { VIEWS = 8 };
#define NO_LINE UINT32_MAX

/* A line as it can be compared: one piece, without colours. */
typedef struct View {
	uint32_t line; /* plus 1; 0 free */
	Str s;
	char *buf;
	uint32_t cap;
} View;

/* What was said about the code that follows: pending until the next line that is neither blank
 * nor a header. */
typedef struct Title {
	uint32_t traced; /* line of TRACED GRAPH, or NO_LINE */
	uint32_t line; /* line of the name, or NO_LINE */
	Str name, name_line;
	uint32_t aot_id;
	bool exported; /* ExportedProgram: stands before it */
} Title;

typedef struct Block {
	Artifacts *out;
	const Source *src;
	FileId file;
	Arena *scratch;
	const Piece *piece;
	const uint32_t *start; /* line i: pieces start[i] .. start[i + 1]; NULL: one each */
	uint32_t n; /* lines */
	bool special; /* lines may have to be cleaned to be understood */
	bool whole; /* a record whose lines all have the prefix: nothing foreign is in it */
	Mark mark; /* of its first line */
	View view[VIEWS];
	uint32_t next_view;
	/* of the last ORIGINAL BYTECODE header, for MODIFIED ones that have none (2022) */
	Str frame_name, frame_file;
	uint32_t frame_line;
	/* said at the end of the block before; afterwards at the end of this one (debug.log of AOT) */
	Title title;
} Block;

/* Lines [from, end) that do not belong to an artifact although they stand in it. */
typedef struct Gap {
	uint32_t from, end;
} Gap;

typedef struct Extent {
	uint32_t from, end; /* lines */
	VEC(Gap) gaps; /* ascending */
} Extent;

void block_cut(Block *b);
/* The same for a payload of a trace, by the kind that its record names. */
void trace_cut(Block *b);
/* Looks for artifacts by their headers alone. */
void block_scan(Block *b);

/* ---- for the parts of the recogniser ---- */

/* Text of a line, good for the next VIEWS - 1 calls. */
Str block_line(Block *b, uint32_t i);
/* Columns of indentation; *text (may be NULL): what stands behind it, without blanks at the end. */
uint32_t line_indent(Str line, Str *text);
/* Source offset of byte `at` of block_line(b, i). */
uint32_t block_offset(Block *b, uint32_t i, uint32_t at);
/* Adds an artifact made of the lines of the extent; trailing blank lines are left out. */
Artifact *block_add(Block *b, ArtifactKind kind, uint32_t header, const Extent *e);
/* A copy of text of a view that lives as long as the artifact; a slice of the source where it is
 * one. */
Str block_keep(Block *b, Str s);

/* What a line begins; see heads.def. */
typedef enum Head {
	HEAD_NONE,
	HEAD_TRACED,
	HEAD_SIZES,
	HEAD_GUARDS,
	HEAD_BREAK,
	HEAD_RECOMPILE,
	HEAD_META,
	HEAD_OUTPUT,
	HEAD_ARGS,
	HEAD_AOT_ID, /* begins Inductor's code in a file of its own */
	HEAD_OUTPUT_PATH,
	HEAD_EXPORT,
	HEAD_SIGNATURE,
	HEAD_SIDE,
	HEAD_WONT,
	HEAD_REMINDER,
	HEAD_FENCE,
	HEAD_NAME, /* ===== name ===== */
	HEAD_DDP, /* ---name graph--- */
	HEAD_BYTECODE,
	HEAD_GRAPH, /* graph(): */
	HEAD_TABLE, /* opcode name target args kwargs */
	HEAD_CLASS,
	HEAD_DEF
} Head;
/* `line` is trimmed. */
Head head_of(Str line);
/* Does a line of this kind end what is open in free text? Classes and functions may be nested,
 * so they do not. */
bool head_is_hard(Head h);
/* The text between the signs of HEAD_NAME and HEAD_DDP. */
Str head_name(Str line);

extern const Title title_none;
void title_name(Title *t, Block *b, Str text);

/* An instruction as dis prints it, without the indentation of its line. *op: its name. */
bool code_is_instruction(Str line, Str *op);
/* Adds the listing whose header, or first instruction, is line i; gives the line behind it. */
uint32_t code_cut(Block *b, uint32_t i);
/* ORIGINAL BYTECODE f FILE line 12, MODIFIED BYTECODE, WON'T CONVERT f FILE line 12 */
bool code_is_header(Str line);

/* Adds the graph whose class or def line is i, if it is one; gives the line where to go on.
 * `floor`: the module tree before it begins there or later. */
uint32_t graph_cut(Block *b, uint32_t i, uint32_t floor, const Title *t);
/* The graph of a record that holds nothing else; false when it holds none. */
bool graph_cut_record(Block *b);
/* graph(): and the table of print_tabular. */
uint32_t graph_cut_text(Block *b, uint32_t i, const Title *t);
uint32_t graph_cut_table(Block *b, uint32_t i, const Title *t);
/* A line of a table that can stand first when the header line is lost: the dashes, or a whole row. */
bool graph_is_table_body(Str t);

#endif
