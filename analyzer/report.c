/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "report_common.h"

const Writer report_writers[] = {
	{"text", "for people: places, evidence, what to do (default)", report_write_text, true},
	{"concise", "a line for each: file:line:column: severity: message [rule]",
		report_write_concise, true},
	{"json", "all findings, graphs and frames for programs", report_write_json, false},
	{"ndjson", "the same, an object a line", report_write_ndjson, false},
	{"sarif", "SARIF 2.1.0, for code scanning and viewers", report_write_sarif, true},
	{"github", "annotations of GitHub Actions", report_write_github, true},
	{"gitlab", "GitLab's code quality report", report_write_gitlab, true},
	{"junit", "JUnit's XML", report_write_junit, true},
	{"html", "a page with a picture of the program, to look at in a browser", report_write_html, false},
	{"markdown", "for the summary of a job or a comment", report_write_markdown, true},
	{NULL, NULL, NULL, false},
};

const Writer graph_writers[] = {
	{"text", "for people", report_graph_text, false},
	{"dot", "for Graphviz: a box a frame, one colour for all that shares memory", report_graph_dot, false},
	{"svg", "a picture: time runs down, shared memory is a line of one colour", report_graph_svg, false},
	{NULL, NULL, NULL, false},
};

const Writer suspects_writers[] = {
	{"text", "for people", report_suspects_text, false},
	{"json", "for programs", report_suspects_json, false},
	{NULL, NULL, NULL, false},
};

const Writer inventory_writers[] = {
	{"text", "for people", report_inventory_text, false},
	{"json", "for programs", report_inventory_json, false},
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
