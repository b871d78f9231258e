/* SPDX-License-Identifier: MIT */
#include "report_ci.h"

bool report_has_baseline(const Run *r)
{
	return r->cfg->baseline != NULL;
}

void report_more(const Groups *g, uint32_t first, Buf *out)
{
	if (g->count[first] > 1)
		buf_printf(out, "and %u more like this", (unsigned)(g->count[first] - 1));
}

Counts report_counts(const Run *r)
{
	Counts c = {0};
	for (uint32_t i = 0; i < r->diags.v.n; i++) {
		const Finding *f = &r->diags.v.v[i];
		if (f->suppressed.n)
			c.suppressed++;
		else
			c.of[f->severity]++;
	}
	return c;
}

void report_counts_text(const Counts *c, Buf *out)
{
	for (int s = SEV_ERROR; s > SEV_NONE; s--)
		buf_printf(out, "%u " STR_FMT "%s%s", (unsigned)c->of[s], STR_ARG(severity_name((Severity)s)), report_plural(c->of[s]),
		           s > SEV_NOTE ? ", " : "");
}

uint32_t report_unread(const Run *r)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->diags.unread.n; i++)
		n += r->diags.unread.v[i].incomplete;
	return n;
}
