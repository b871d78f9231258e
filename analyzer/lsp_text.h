/* SPDX-License-Identifier: MIT
 * lsp_text: text as an editor counts it: lines end at LF, CRLF or a lone CR, characters are UTF-16 units unless the
 * client agreed on bytes or code points (LSP 3.17, positionEncoding). */
#ifndef GRAPHLINT_LSP_TEXT_H
#define GRAPHLINT_LSP_TEXT_H

#include "base.h"
#include "lsp_rpc.h"

typedef enum PosEncoding { POS_UTF16, POS_UTF8, POS_UTF32 } PosEncoding;

typedef struct LspPos {
	uint32_t line, character; /* from 0 */
} LspPos;

/* Where lines begin. */
typedef struct LineIndex {
	Bytes b; /* uint32_t each; line 0 begins at 0 */
} LineIndex;

void lines_build(LineIndex *x, Str text);
/* After the bytes [at, end) of a text became `added` bytes: `text` is the new one. */
void lines_edit(LineIndex *x, Str text, uint32_t at, uint32_t end, uint32_t added);
void lines_free(LineIndex *x);
uint32_t lines_count(const LineIndex *x);
uint32_t lines_start(const LineIndex *x, uint32_t line);

/* Positions of one text, asked in any order; cheap when they are asked in the order of the text. */
typedef struct PosMap {
	Str text;
	const LineIndex *lines;
	PosEncoding enc;
	uint32_t line, at, units; /* last answer: offset and units from the start of its line */
} PosMap;

PosMap posmap(Str text, const LineIndex *lines, PosEncoding enc);
/* Offset of a position; beyond the end of a line is its end, beyond the last line the end of the text. */
uint32_t pos_offset(PosMap *m, LspPos at);
/* An offset inside a character is that of its first byte. */
LspPos pos_of(PosMap *m, uint32_t offset);
/* The line, without its end. */
Str pos_line(const PosMap *m, uint32_t line);

/* An open document. */
typedef struct DocText {
	Bytes b;
	LineIndex lines;
} DocText;

bool doc_set(DocText *d, Str text);
bool doc_edit(DocText *d, uint32_t at, uint32_t end, Str with);
void doc_free(DocText *d);
static inline Str doc_str(const DocText *d) { return (Str){d->b.p, d->b.n}; }

#endif
