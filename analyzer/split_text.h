/* SPDX-License-Identifier: MIT
 * split_text: what a line looked like before terminals, web pages and editors had it. */
#ifndef GRAPHLINT_SPLIT_TEXT_H
#define GRAPHLINT_SPLIT_TEXT_H

#include "base.h"
#include "source.h"

/* Where cleaned bytes go. The room at `p` must be clean_room() of what is added. */
typedef struct Clean {
	char *p;
	uint32_t n;
	bool html; /* &lt; &gt; &quot; &#39; &amp; are decoded */
	uint32_t tab; /* columns of a tab in the indentation: CLEAN_TAB, or 1 to save room */
	Arena *a; /* of the segments */
	VEC(Seg) segs; /* ascending; the way back to the source */
} Clean;

enum { CLEAN_TAB = 8 };

/* Does the line hold anything that clean_add would change? */
bool clean_needed(Str line, bool html);
/* Most bytes that a line can become. */
uint64_t clean_room(Str line, uint32_t tab);
/* Appends a line (or the rest of one: `joins`, which has no indentation) that stands at `src`. */
void clean_add(Clean *c, Str line, uint32_t src, bool joins);
/* The next byte of the clean text stands at `src`. */
void clean_place(Clean *c, uint32_t src);

/* Length of the terminal control sequence at s.p[at]; 0 when there is none. Knows torch's
 * colours also with the ESC byte lost ([31m) or written as two characters (^[[31m): digits and m
 * behind a bracket are no index. */
uint32_t clean_control(Str s, uint32_t at);

#endif
