/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "report_common.h"

const Writer report_writers[] = {
	{"text", "for people: places, evidence, what to do (default)", report_write_text},
	{"concise", "a line for each: file:line:column: severity: message [rule]",
		report_write_concise},
	{"json", "all findings, graphs and frames for programs", report_write_json},
	{NULL, NULL, NULL},
};

const Writer graph_writers[] = {
	{"text", "for people", report_graph_text},
	{"dot", "for Graphviz: a box a frame, one colour for all that shares memory", report_graph_dot},
	{NULL, NULL, NULL},
};

const Writer suspects_writers[] = {
	{"text", "for people", report_suspects_text},
	{"json", "for programs", report_suspects_json},
	{NULL, NULL, NULL},
};

const Writer *report_find(Str name)
{
	for (const Writer *w = report_writers; w->name; w++)
		if (str_eq(str_from_c(w->name), name))
			return w;
	return NULL;
}

void report_escape(Buf *out, Str s)
{
	report_text(out, s, true);
}
