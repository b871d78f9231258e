/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "report_common.h"

const Writer report_writers[] = {
	{"text", "for people: places, evidence, what to do (default)", report_write_text, true},
	{"concise", "a line for each: file:line:column: severity: message [rule]",
		report_write_concise, true},
	{"json", "all findings, graphs and frames for programs", report_write_json, false},
	{NULL, NULL, NULL, false},
};

const Writer graph_writers[] = {
	{"text", "for people", report_graph_text, false},
	{"dot", "for Graphviz: a box a frame, one colour for all that shares memory", report_graph_dot, false},
	{NULL, NULL, NULL, false},
};

const Writer suspects_writers[] = {
	{"text", "for people", report_suspects_text, false},
	{"json", "for programs", report_suspects_json, false},
	{NULL, NULL, NULL, false},
};

const Writer rules_writers[] = {
	{"text", "a line for each, the id first", report_rules_text, true},
	{"json", "for programs", report_rules_json, true},
	{NULL, NULL, NULL, false},
};

const Writer explain_writers[] = {
	{"text", "for people, in Markdown", report_explain_text, true},
	{"json", "for programs", report_explain_json, true},
	{NULL, NULL, NULL, false},
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
