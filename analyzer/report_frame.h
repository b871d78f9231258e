/* SPDX-License-Identifier: MIT
 * report_frame: the part of a dump's line that fits a terminal, and the carets below it. */
#ifndef GRAPHLINT_REPORT_FRAME_H
#define GRAPHLINT_REPORT_FRAME_H

#include "base.h"

/* What is shown of a line, around the bytes [at, end) that a message is about. Time and size depend
 * on the columns, not on the line. */
typedef struct Excerpt {
	Str line;
	uint32_t from, to; /* bytes shown */
	uint32_t at, end;  /* bytes marked, within the line; end > at unless the line ends there */
	bool unicode;
} Excerpt;

/* `columns`: room for the text with its ellipses, at least 16. `at` and `end` are clamped. */
Excerpt excerpt_of(Str line, uint32_t at, uint32_t end, uint32_t columns, bool unicode);
/* Tabs stay, other controls are escaped, what is left out is an ellipsis. */
void excerpt_add_text(const Excerpt *x, Buf *out);
/* Blanks (and the tabs of the text) up to the marked part, then carets below it. */
void excerpt_add_carets(const Excerpt *x, Buf *out);

#endif
