/* SPDX-License-Identifier: MIT
 * line_hash: the fingerprint of a line that GitHub's code scanning uses, partialFingerprints.primaryLocationLineHash.
 *
 * Over the UTF-16 code units of a file without blanks and tabs, with CR, LF and CRLF all as LF, and 65535 and zeros at the
 * end: a rolling hash of the 100 units from each line on, h = 37 h + unit modulo 2^64. Lines of equal hash are counted. */
#ifndef GRAPHLINT_LINE_HASH_H
#define GRAPHLINT_LINE_HASH_H

#include "base.h"

typedef struct LineHash {
	uint32_t at;    /* where the line begins: behind an LF, a CRLF or a lone CR */
	uint32_t count; /* of this hash up to here, from 1 */
	uint64_t hash;
} LineHash;

typedef struct LineHashes {
	LineHash *v;
	uint32_t n;
} LineHashes;

/* One for each line, and one for the end of a file whose last line ends; an empty file has one. None at all of a text that
 * is not UTF-8: what others make of bad bytes differs. */
LineHashes line_hashes(Str text, Arena *a);
/* The one of the line that holds an offset. */
const LineHash *line_hash_at(const LineHashes *h, uint32_t offset);
/* "5f3dd9099852a0bf:1" */
Str line_hash_text(const LineHash *h, Arena *a);

#endif
