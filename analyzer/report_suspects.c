/* SPDX-License-Identifier: MIT */
#include "report.h"

void report_suspects_text(const Run *r, const ReportOptions *o, Buf *out)
{
	(void)r, (void)o, (void)out;
}

void report_suspects_json(const Run *r, const ReportOptions *o, Buf *out)
{
	(void)r, (void)o, (void)out;
}
