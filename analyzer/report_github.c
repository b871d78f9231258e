/* SPDX-License-Identifier: MIT
 * Annotations of GitHub Actions: a workflow command for each finding (actions/toolkit, docs/commands.md). GitHub shows the first
 * ten errors, warnings and notices of a step and drops the rest without a word, so errors come first, and what is
 * not annotated is printed as plain lines and counted. */
#include "report.h"

#include "report_ci.h"
#include "report_place.h"

enum { ANNOTATIONS_MOST = 10, STEPS_SHOWN = 12 };

typedef struct Out {
	const Run *r;
	const ReportOptions *o;
	Buf *out;
	Arena a;
	Places places;
	Groups groups;
} Out;

/* `%` and line ends, and of a property what ends it, as the toolkit encodes them. */
static void add_encoded(Out *o, Str s, bool property)
{
	for (uint32_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ',')))
			buf_printf(o->out, "%%%02X", (unsigned)(unsigned char)c);
		else
			buf_char(o->out, c);
	}
}

static Str visible(Out *o, Str s)
{
	Buf b = {.a = &o->a};
	report_words(&b, s, true);
	return buf_str(&b);
}

static void add_property(Out *o, const char *key, Str value)
{
	buf_printf(o->out, "%s=", key);
	add_encoded(o, visible(o, value), true);
}

static void add_place(Out *o, Buf *b, Span at)
{
	Region place = region_of_span(o->o, &o->places, at);
	report_text(b, place.path, true);
	buf_printf(b, ":%u:%u", (unsigned)place.line, (unsigned)place.col);
}

static void add_steps(Out *o, Buf *b, const Finding *f)
{
	uint32_t n = f->steps.n < STEPS_SHOWN ? f->steps.n : STEPS_SHOWN;
	for (uint32_t i = 0; i < n; i++) {
		const Step *s = &f->steps.v[i];
		buf_printf(b, "\n%u. " STR_FMT " ", (unsigned)(i + 1), STR_ARG(role_name(s->role)));
		add_place(o, b, s->span.file.i ? s->span : f->span);
		buf_add(b, S(": "));
		report_words(b, s->text, true);
	}
	if (f->steps.n > n)
		buf_printf(b, "\n... and %u more steps", (unsigned)(f->steps.n - n));
}

static Str message(Out *o, uint32_t i)
{
	const Finding *f = &o->r->diags.v.v[i];
	Buf b = {.a = &o->a};
	report_words(&b, f->message, true);
	add_steps(o, &b, f);
	if (f->suggestion.n) {
		buf_add(&b, S("\nhelp: "));
		report_words(&b, f->suggestion, true);
	}
	if (o->groups.count[i] > 1)
		buf_char(&b, '\n');
	report_more(&o->groups, i, &b);
	return buf_str(&b);
}

static void annotation(Out *o, uint32_t i)
{
	const Finding *f = &o->r->diags.v.v[i];
	Region at = region_primary(o->o, &o->places, f);
	Str title = str_printf(&o->a, STR_FMT " " STR_FMT, STR_ARG(f->rule), STR_ARG(f->name));
	buf_printf(o->out, "::" STR_FMT " ", STR_ARG(f->severity == SEV_NOTE ? S("notice") : severity_name(f->severity)));
	add_property(o, "title", title);
	add_property(o, ",file", at.path);
	buf_printf(o->out, ",line=%u,endLine=%u", (unsigned)at.line, (unsigned)at.end_line);
	if (at.col && at.line == at.end_line) /* columns count within one line only */
		buf_printf(o->out, ",col=%u,endColumn=%u", (unsigned)at.col, (unsigned)at.end_col);
	buf_add(o->out, S("::"));
	add_encoded(o, message(o, i), false);
	buf_char(o->out, '\n');
}

/* A line of the log that is no command: one begins with `::`. */
static void plain(Out *o, uint32_t i)
{
	const Finding *f = &o->r->diags.v.v[i];
	buf_add(o->out, S("- "));
	add_place(o, o->out, f->span);
	buf_printf(o->out, ": " STR_FMT ": ", STR_ARG(severity_name(f->severity)));
	report_words(o->out, f->message, true);
	buf_printf(o->out, " [" STR_FMT "]\n", STR_ARG(f->rule));
}

static void not_annotated(Out *o, const FindingList *list, const bool *annotated)
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < list->n; k++)
		n += !annotated[k];
	if (!n)
		return;
	buf_printf(o->out, "graphlint: %u finding%s below %s not annotated: GitHub shows %d errors, warnings and notices of a step\n",
	           (unsigned)n, report_plural(n), n == 1 ? "is" : "are", ANNOTATIONS_MOST);
	for (uint32_t k = 0; k < list->n; k++)
		if (!annotated[k])
			plain(o, list->v[k]);
}

static void summary(Out *o)
{
	Counts c = report_counts(o->r);
	uint32_t unread = report_unread(o->r);
	buf_add(o->out, S("graphlint: "));
	report_counts_text(&c, o->out);
	if (unread)
		buf_printf(o->out, "; %u place%s could not be read", (unsigned)unread, report_plural(unread));
	buf_char(o->out, '\n');
}

void report_write_github(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = {.r = r, .o = options, .out = out, .a = arena_new(NULL)};
	o.places = places_new(&r->sources, &o.a);
	o.groups = groups_make(r, &o.a);
	FindingList list = groups_shown(r, &o.groups, &o.a);
	bool *annotated = NEW_N(&o.a, bool, list.n + 1);
	uint32_t used[SEV_ERROR + 1] = {0};
	for (uint32_t k = 0; k < list.n; k++) {
		annotated[k] = used[r->diags.v.v[list.v[k]].severity]++ < ANNOTATIONS_MOST;
		if (annotated[k])
			annotation(&o, list.v[k]);
	}
	not_annotated(&o, &list, annotated);
	if (!options->quiet)
		summary(&o);
	arena_free(&o.a);
}
