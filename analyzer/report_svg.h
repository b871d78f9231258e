/* SPDX-License-Identifier: MIT
 * report_svg: draws a picture of the program. */
#ifndef GRAPHLINT_REPORT_SVG_H
#define GRAPHLINT_REPORT_SVG_H

#include "base.h"
#include "report.h"
#include "report_picture.h"

/* One element <svg>. Within a page its style is the page's; alone it brings its own. */
void svg_write(const Picture *p, const ReportOptions *o, bool alone, Buf *out);
/* Untrusted text in XML or HTML, in an attribute too: markup is escaped, controls and bidi characters are visible escapes. */
void svg_text(Buf *out, Str s);
/* The same, its first `most` code points, cut with an ellipsis. */
void svg_head(Buf *out, Str s, uint32_t most);
/* A file that is embedded in the program. */
Str svg_embedded(const char *name);

#endif
