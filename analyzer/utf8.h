/* SPDX-License-Identifier: MIT
 * utf8: code points of text that may not be UTF-8, and what a terminal makes of them. */
#ifndef GRAPHLINT_UTF8_H
#define GRAPHLINT_UTF8_H

#include "base.h"

/* A byte that begins no well-formed sequence (overlong forms, surrogates and cut ones included). */
enum { UTF8_BAD = 0x7fffffff };

/* The code point at s.p[at], at < s.n; *n: its bytes. UTF8_BAD with *n = 1 for a bad byte. */
uint32_t utf8_decode(Str s, uint32_t at, uint32_t *n);
/* Start of the code point that ends before `at`, 0 < at <= s.n. */
uint32_t utf8_before(Str s, uint32_t at);
/* Columns on a terminal: 0, 1 or 2. Of controls and bad bytes: 0. */
uint32_t utf8_width(uint32_t c);
/* Would the reader of a terminal not see it, or be misled by it: controls, bidirectional marks, joiners,
 * separators of lines, bad bytes? */
bool utf8_hidden(uint32_t c);
/* The first `most` code points of s. */
Str utf8_head(Str s, uint32_t most);

#endif
