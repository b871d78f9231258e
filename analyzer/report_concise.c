/* SPDX-License-Identifier: MIT
 * One line a finding, as gcc prints them: editors and CI systems have matchers for it. Repeats are counted on the first one's. */
#include "report.h"

#include "report_ci.h"

void report_write_concise(const Run *r, const ReportOptions *o, Buf *out)
{
	Arena a = arena_new(NULL);
	Places places = places_new(&r->sources, &a);
	Groups groups = groups_make(r, &a);
	for (uint32_t i = 0; i < r->diags.v.n; i++) {
		const Finding *f = &r->diags.v.v[i];
		if (f->severity < r->cfg->show || f->suppressed.n || groups.first[i] != i)
			continue;
		LineCol at = place_of(&places, f->span.file, f->span.at);
		report_text(out, place_path(&places, f->span.file), o->unicode);
		buf_printf(out, ":%u:%u: " STR_FMT ": ", (unsigned)at.line, (unsigned)at.col,
			STR_ARG(severity_name(f->severity)));
		report_words(out, f->message, o->unicode);
		buf_printf(out, " [" STR_FMT "]", STR_ARG(f->rule));
		if (groups.count[i] > 1)
			buf_char(out, ' ');
		report_more(&groups, i, out);
		buf_char(out, '\n');
	}
	arena_free(&a);
}
