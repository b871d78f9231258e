/* SPDX-License-Identifier: MIT
 * report_picture: the program as a picture, before anybody draws it. Time runs down: a row for each frame, each graph, what
 * enters and leaves it and what happens in it. Memory that is shared, or handed from graph to graph, is a line beside the
 * rows (a lane) from where it first appears to where it last does. */
#ifndef GRAPHLINT_REPORT_PICTURE_H
#define GRAPHLINT_REPORT_PICTURE_H

#include "base.h"
#include "run.h"
#include "report_group.h"
#include "report_memory.h"
#include "where.h"

typedef enum PicKind {
	PIC_PROCESS, /* heading: one process of several */
	PIC_LOOSE,   /* heading: graphs that no frame calls */
	PIC_FRAME,
	PIC_GRAPH,
	PIC_INPUT,
	PIC_STEP,    /* a node of a graph, or an instruction of a frame, that the evidence of a finding names */
	PIC_OUTPUT,
	PIC_MORE     /* rows that are left out */
} PicKind;

typedef enum PicMark { PIC_MARK_NONE, PIC_MARK_PASSES, PIC_MARK_WRITES, PIC_MARK_READS } PicMark;

#define PIC_NO_LANE UINT32_MAX

typedef struct PicRow {
	uint8_t kind;         /* PicKind */
	uint8_t mark;         /* PicMark, on its lane */
	uint8_t role;         /* StepRole of PIC_STEP */
	bool noticed;         /* a copy here changes the result of the program */
	bool folded;          /* PIC_GRAPH: its rows are not shown at first */
	const Graph *graph;
	FrameRef frame;       /* PIC_FRAME, and PIC_STEP within one */
	uint32_t index;       /* of the input or output; rows left out; findings of PIC_GRAPH */
	Severity worst;       /* PIC_GRAPH: of its findings */
	NodeId node;
	Span span;            /* in the dump; file 0 for headings */
	uint32_t lane;        /* Picture.lanes; PIC_NO_LANE */
	uint32_t owner;       /* row of the graph or frame that it belongs to; itself for headings and frames */
} PicRow;

typedef struct PicLane {
	uint32_t color;       /* from 1; 0: it only moves on */
	uint32_t column;      /* from 0; PIC_NO_LANE: there is no room for it */
	uint32_t first, last; /* rows */
} PicLane;

typedef struct Picture {
	const Run *r;
	MemoryMap memory;
	WhereIndex where;
	VEC(PicRow) rows;
	VEC(PicLane) lanes;
	uint32_t ncolumns, lanes_left_out;
	uint32_t *row_of_graph; /* by GraphId: row plus 1 */
	Map row_at;             /* place in the dump -> row plus 1 */
} Picture;

/* `findings`: those whose steps get rows. */
Picture *picture_make(const Run *r, const FindingList *findings, Arena *a);
/* The row of a step of a finding: plus 1; 0 none. */
uint32_t picture_row_of(const Picture *p, const Finding *f, const Step *s);

#endif
