/* SPDX-License-Identifier: MIT
 * report_place: where CI systems show a finding: a path relative to the repository, a region in lines and columns. */
#ifndef GRAPHLINT_REPORT_PLACE_H
#define GRAPHLINT_REPORT_PLACE_H

#include "base.h"
#include "diag.h"
#include "report.h"
#include "report_common.h"

typedef struct Region {
	Str path;                            /* relative to the working directory where it is below it, else as given */
	uint32_t line, col, end_line, end_col; /* from 1; end column exclusive; col 0: the whole line */
	Span span;                           /* in the dump; file 0: a line of the user's program */
} Region;

/* Without "./" in front, and without the working directory, or the root of the program. */
Str region_path(const ReportOptions *o, Str path);
Region region_of_span(const ReportOptions *o, Places *p, Span at);
Region region_of_source(const ReportOptions *o, const UserSource *s);
/* The place that a finding is shown at: the user's line with ReportOptions.at_source and where there is one. */
Region region_primary(const ReportOptions *o, Places *p, const Finding *f);
/* A reference (RFC 3986) of a path: percent-encoded, `file://` in front of an absolute one. */
void region_uri(Buf *out, Str path);

#endif
