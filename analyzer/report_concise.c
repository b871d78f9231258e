/* SPDX-License-Identifier: MIT
 * One line a finding, as gcc prints them: editors and CI systems have matchers for it. */
#include "report.h"

#include "report_common.h"

void report_write_concise(const Run *r, const ReportOptions *o, Buf *out)
{
	Arena a = arena_new(NULL);
	Places places = places_new(&r->sources, &a);
	for (uint32_t i = 0; i < r->diags.v.n; i++) {
		const Finding *f = &r->diags.v.v[i];
		if (f->severity < r->cfg->show)
			continue;
		LineCol at = place_of(&places, f->span.file, f->span.at);
		report_text(out, place_path(&places, f->span.file), o->unicode);
		buf_printf(out, ":%u:%u: " STR_FMT ": ", (unsigned)at.line, (unsigned)at.col,
			STR_ARG(severity_name(f->severity)));
		report_words(out, f->message, o->unicode);
		buf_printf(out, " [" STR_FMT "]\n", STR_ARG(f->rule));
	}
	arena_free(&a);
}
