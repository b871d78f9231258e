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
	Str rule;                        /* explain: id or name of a rule that there is */
	bool at_source;                  /* sarif, github, gitlab: a finding is at the line of the user's program
	                                  * where the dump names one, not at the dump's */
	bool show_given;                 /* --show is heeded by formats for programs too */
	Str folder;                      /* working directory: paths below it are shown relative to it */
	Str source_root;                 /* where the program stood when it was captured; taken off the names of its files */
	Str host;                        /* for links of a terminal */
} ReportOptions;

typedef struct Writer {
	const char *name, *summary;
	void (*write)(const Run *r, const ReportOptions *o, Buf *out);
	bool findings_only; /* says nothing of the program around the graphs unless a finding does */
} Writer;

extern const Writer report_writers[]; /* ends with a NULL name; the first is the default */
const Writer *report_find(Str name);
extern const Writer graph_writers[];    /* of the command graph: text, dot */
extern const Writer suspects_writers[]; /* of the command suspects: text, json */
extern const Writer inventory_writers[]; /* of the command inventory: text, json */
extern const Writer rules_writers[];    /* of the command rules: text, json; they need tables and levels only */
extern const Writer explain_writers[];  /* of the command explain: text, json; the same */

void report_write_text(const Run *r, const ReportOptions *o, Buf *out);
void report_write_concise(const Run *r, const ReportOptions *o, Buf *out);
/* These are always UTF-8: */
void report_write_json(const Run *r, const ReportOptions *o, Buf *out);
void report_write_ndjson(const Run *r, const ReportOptions *o, Buf *out);
void report_write_sarif(const Run *r, const ReportOptions *o, Buf *out);
void report_write_github(const Run *r, const ReportOptions *o, Buf *out);
void report_write_gitlab(const Run *r, const ReportOptions *o, Buf *out);
void report_write_junit(const Run *r, const ReportOptions *o, Buf *out);
void report_write_html(const Run *r, const ReportOptions *o, Buf *out);
void report_write_markdown(const Run *r, const ReportOptions *o, Buf *out);

void report_inventory_text(const Run *r, const ReportOptions *o, Buf *out);
void report_inventory_json(const Run *r, const ReportOptions *o, Buf *out);
void report_graph_text(const Run *r, const ReportOptions *o, Buf *out);
void report_graph_svg(const Run *r, const ReportOptions *o, Buf *out);
void report_graph_dot(const Run *r, const ReportOptions *o, Buf *out);
void report_suspects_text(const Run *r, const ReportOptions *o, Buf *out);
void report_suspects_json(const Run *r, const ReportOptions *o, Buf *out);
void report_rules_text(const Run *r, const ReportOptions *o, Buf *out);
void report_rules_json(const Run *r, const ReportOptions *o, Buf *out);
void report_explain_text(const Run *r, const ReportOptions *o, Buf *out);
void report_explain_json(const Run *r, const ReportOptions *o, Buf *out);

/* Untrusted text for a terminal: control and bidi characters become visible escapes. */
void report_escape(Buf *out, Str s);

#endif
