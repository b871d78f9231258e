/* SPDX-License-Identifier: MIT
 * frame_links_priv: one symbolic run of a frame, shared by its driver and its host. */
#ifndef GRAPHLINT_FRAME_LINKS_PRIV_H
#define GRAPHLINT_FRAME_LINKS_PRIV_H

#include "frame_links.h"
#include "machine.h"

/* One path; each has its own heap and cells. */
typedef struct Path {
	Machine m;
	LHeap heap;
	VEC(LTermId) cells; /* contents by cell number; LT_CELL.index is the number; 0: as it was at the start */
	uint8_t *seen;     /* by instruction: times a branch or loop was decided here */
	uint32_t last;     /* its last event, plus 1 */
	uint8_t arm;       /* LinkArm */
	bool beyond;
} Path;

/* ctx of the host. */
typedef struct LinkRun {
	FrameLinks *out;
	LTerms *t;
	Names *names;
	Path *path; /* the one that runs */
	bool lines;
	Arena *scratch;
} LinkRun;

extern const Host link_host;

enum { VALUE_MOST = 400 }; /* characters of a value in a line */

/* An event of the current path at the current instruction; its line is what follows the word. */
LinkEvent *link_add(LinkRun *r, LinkKind kind);
Str link_text(LinkRun *r, LTermId v);              /* whole, up to LT_MOST */
Str link_value(LinkRun *r, LTermId v);             /* up to VALUE_MOST characters */
void link_line(LinkRun *r, LinkEvent *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A copy of what its events need, in `keep`; everything else of the run, in `scratch`, may go. */
FrameLinks *links_keep(const FrameLinks *run, Names *texts, Arena *keep, Arena *scratch);

#endif
