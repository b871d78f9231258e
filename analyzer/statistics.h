/* SPDX-License-Identifier: MIT
 * statistics: what a run found, by rule and by file, and how long each pass took. */
#ifndef GRAPHLINT_STATISTICS_H
#define GRAPHLINT_STATISTICS_H

#include "base.h"
#include "run.h"
#include "progress.h"

/* For people; `unicode`: as of the terminal. */
void statistics_write(const Run *r, const Progress *p, bool unicode, Buf *out);
/* A line for each input file: what was seen in it. */
void statistics_files(const Run *r, bool unicode, Buf *out);

#endif
