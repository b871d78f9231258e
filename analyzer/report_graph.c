/* SPDX-License-Identifier: MIT */
#include "report.h"

void report_graph_text(const Run *r, const ReportOptions *o, Buf *out)
{
	(void)r, (void)o, (void)out;
}
