/* SPDX-License-Identifier: MIT
 * report: findings and graphs for people and programs. A table of writers; each turns a finished run into text. */
#ifndef GRAPHLINT_REPORT_H
#define GRAPHLINT_REPORT_H

#include "base.h"
#include "run.h"

typedef struct ReportOptions {
	bool color, hyperlinks, unicode; /* of the terminal it goes to */
	uint32_t width;                  /* columns; 0 no terminal: sentences are not wrapped, and lines of
	                                  * a dump are cut at 160 */
	bool quiet;                      /* findings only, no summary */
} ReportOptions;

typedef struct Writer {
	const char *name, *summary;
	void (*write)(const Run *r, const ReportOptions *o, Buf *out);
} Writer;

extern const Writer report_writers[]; /* ends with a NULL name; text, concise, json */
const Writer *report_find(Str name);
extern const Writer graph_writers[];    /* of the command graph: text, dot */
extern const Writer suspects_writers[]; /* of the command suspects: text, json */

void report_write_text(const Run *r, const ReportOptions *o, Buf *out);
void report_write_concise(const Run *r, const ReportOptions *o, Buf *out);
void report_write_json(const Run *r, const ReportOptions *o, Buf *out); /* always UTF-8 */

void report_graph_text(const Run *r, const ReportOptions *o, Buf *out);
void report_graph_dot(const Run *r, const ReportOptions *o, Buf *out);
void report_suspects_text(const Run *r, const ReportOptions *o, Buf *out);
void report_suspects_json(const Run *r, const ReportOptions *o, Buf *out);

/* Untrusted text for a terminal: control and bidi characters become visible escapes. */
void report_escape(Buf *out, Str s);

#endif
