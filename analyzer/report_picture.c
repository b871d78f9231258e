/* SPDX-License-Identifier: MIT */
#include "report_picture.h"

#include <stdlib.h>

#include "link.h"
#include "report_common.h"
#include "report_flow.h"

enum {
	COLUMNS_MOST = 40,   /* lanes side by side */
	ROWS_EACH = 24,      /* inputs, outputs and writes of a graph that no finding names */
	ROWS_WHOLE = 120,    /* of a picture of which no graph is folded */
	GRAPHS_WHOLE = 2000, /* of more, those without errors are a row only */
	CHILDREN_MOST = 4096 /* steps in one frame */
};

/* Something that a finding names: gets a row in any case. */
typedef struct Wanted {
	uint32_t graph;      /* GraphId, or 0 */
	FrameRef frame;
	Span span;
	NodeId node;
	uint8_t role;
	uint32_t root;       /* memory of the finding, plus 1; 0 none */
} Wanted;

typedef struct Maker {
	Picture *p;
	const Run *r;
	Arena *a, *scratch;
	bool *run;           /* by frame */
	bool *drawn;         /* by GraphId */
	VEC(Wanted) wanted;  /* by graph, frame and place; behind them those added for the graph at hand */
	uint32_t nwanted;    /* that are in order */
	Map touched;         /* graph and root of a memory in which it has an input or output */
	uint32_t *worst, *findings; /* by GraphId */
	uint32_t *lane;      /* by root of a memory: lane plus 1 */
	uint32_t *members;   /* by root of a memory: values */
	Map processes;
	uint32_t nprocesses, ngraphs;
} Maker;

static uint64_t place_key(Span s)
{
	return ((uint64_t)s.file.i << 32 | s.at) + 1;
}

static const Graph *shown_graph(const Run *r, const Graph *g)
{
	const Graph *principal = g ? link_principal(&r->program, g) : NULL;
	return principal && report_graph_captured(&r->program, principal) ? principal : NULL;
}

/* ---- what findings name ---- */

/* Memory of the boundary that a finding is about, plus 1. */
static uint32_t finding_root(const Maker *m, const Finding *f)
{
	const Graph *g = shown_graph(m->r, graph_get(&m->r->program, f->graph_id));
	if (g && f->output >= 0 && (uint32_t)f->output < g->outputs.n)
		return memory_root(&m->p->memory, memory_output(&m->p->memory, g, (uint32_t)f->output)) + 1;
	if (g && f->input >= 0 && (uint32_t)f->input < g->inputs.n)
		return memory_root(&m->p->memory, memory_input(&m->p->memory, g, (uint32_t)f->input)) + 1;
	return 0;
}

static void want(Maker *m, const Finding *f, const Step *s, uint32_t root)
{
	Span at = s->span.file.i ? s->span : f->span;
	Where w = where_of(&m->p->where, at);
	const Graph *g = shown_graph(m->r, w.graph);
	bool frame = !w.graph && w.frame && m->run[w.frame - 1] && s->role != ROLE_LINK;
	if (g && g == w.graph)
		VEC_PUSH(m->scratch, &m->wanted, ((Wanted){g->id.i, 0, at, w.node, (uint8_t)s->role, root}));
	else if (frame)
		VEC_PUSH(m->scratch, &m->wanted, ((Wanted){0, w.frame, at, w.node, (uint8_t)s->role, root}));
}

/* Of two steps at one place the one that says more: a write before a read before the rest. */
static int role_rank(uint8_t role)
{
	return role == ROLE_WRITE ? 0 : role == ROLE_READ ? 1 : role == ROLE_BOUNDARY ? 3 : 2;
}

static int by_place(const void *a, const void *b)
{
	const Wanted *x = a, *y = b;
	if (x->graph != y->graph)
		return x->graph < y->graph ? -1 : 1;
	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	if (x->span.at != y->span.at)
		return x->span.at < y->span.at ? -1 : 1;
	if (x->role != y->role)
		return role_rank(x->role) - role_rank(y->role);
	if (!x->root != !y->root) /* one that knows its memory goes first */
		return x->root ? -1 : 1;
	return x->root < y->root ? -1 : x->root > y->root;
}

/* Of all findings, those that repeat too. */
static void count_findings(Maker *m)
{
	for (uint32_t i = 0; i < m->r->diags.v.n; i++) {
		const Finding *f = &m->r->diags.v.v[i];
		const Graph *g = f->suppressed.n ? NULL : shown_graph(m->r, graph_get(&m->r->program, f->graph_id));
		uint32_t at = g ? g->id.i : 0;
		m->findings[at]++;
		if (m->worst[at] < f->severity)
			m->worst[at] = f->severity;
	}
}

static void collect_wanted(Maker *m, const FindingList *list)
{
	for (uint32_t k = 0; k < list->n; k++) {
		const Finding *f = &m->r->diags.v.v[list->v[k]];
		uint32_t root = finding_root(m, f);
		for (uint32_t i = 0; i < f->steps.n; i++)
			want(m, f, &f->steps.v[i], root);
	}
	if (m->wanted.n)
		qsort(m->wanted.v, m->wanted.n, sizeof *m->wanted.v, by_place);
	m->nwanted = m->wanted.n;
}

/* The first that is of this graph or frame from a place on, or behind. */
static uint32_t first_wanted(const Maker *m, uint32_t graph, FrameRef frame, uint32_t at)
{
	uint32_t lo = 0, hi = m->nwanted;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const Wanted *w = &m->wanted.v[mid];
		bool before = w->graph != graph ? w->graph < graph : w->frame != frame ? w->frame < frame : w->span.at < at;
		lo = before ? mid + 1 : lo;
		hi = before ? hi : mid;
	}
	return lo;
}

/* ---- rows ---- */

static uint32_t add_row(Maker *m, PicRow row)
{
	VEC_PUSH(m->a, &m->p->rows, row);
	uint32_t i = m->p->rows.n - 1;
	if (row.span.file.i && !map_get(&m->p->row_at, place_key(row.span)))
		map_put(&m->p->row_at, place_key(row.span), i + 1);
	return i;
}

/* The lane of a memory that more than one value has. */
static uint32_t lane_of(Maker *m, uint32_t root)
{
	if (m->members[root] < 2)
		return PIC_NO_LANE;
	if (!m->lane[root]) {
		VEC_PUSH(m->a, &m->p->lanes, ((PicLane){m->p->memory.color[root], PIC_NO_LANE, m->p->rows.n, m->p->rows.n}));
		m->lane[root] = m->p->lanes.n;
	}
	uint32_t lane = m->lane[root] - 1;
	m->p->lanes.v[lane].last = m->p->rows.n;
	return lane;
}

static uint32_t value_lane(Maker *m, uint32_t value)
{
	return lane_of(m, memory_root(&m->p->memory, value));
}

static bool is_wanted(const Maker *m, const Graph *g, uint32_t at)
{
	uint32_t i = first_wanted(m, g->id.i, 0, at);
	return i < m->nwanted && m->wanted.v[i].graph == g->id.i && m->wanted.v[i].span.at == at;
}

/* Rows of one kind beyond those that a finding names are counted, not drawn. */
typedef struct Room {
	uint32_t used, left_out;
} Room;

static bool has_room(Room *room, bool wanted)
{
	if (wanted || room->used < ROWS_EACH) {
		room->used += !wanted;
		return true;
	}
	room->left_out++;
	return false;
}

static void input_rows(Maker *m, const Graph *g, uint32_t owner, Room *room)
{
	const Summary *s = m->r->summaries ? m->r->summaries[g->id.i] : NULL;
	for (uint32_t i = 0; i < g->inputs.n; i++) {
		uint32_t value = memory_input(&m->p->memory, g, i);
		Span at = node_span(g, g->inputs.v[i]);
		bool crosses = m->members[memory_root(&m->p->memory, value)] > 1;
		bool written = s && tri_or(s->inputs[i].data, s->inputs[i].metadata) != TRI_NO;
		bool wanted = is_wanted(m, g, at.at);
		if (!(crosses || written || wanted) || !has_room(room, wanted))
			continue;
		PicRow row = {.kind = PIC_INPUT, .graph = g, .index = i, .node = g->inputs.v[i], .span = at, .owner = owner};
		row.lane = value_lane(m, value);
		row.mark = row.lane == PIC_NO_LANE ? PIC_MARK_NONE : PIC_MARK_PASSES;
		row.noticed = written && report_noticed_input(m->r, g, i) == OBS_YES;
		add_row(m, row);
	}
}

static void output_rows(Maker *m, const Graph *g, uint32_t owner, Room *room)
{
	const Summary *s = m->r->summaries ? m->r->summaries[g->id.i] : NULL;
	for (uint32_t j = 0; j < g->outputs.n; j++) {
		uint32_t value = memory_output(&m->p->memory, g, j);
		bool crosses = m->members[memory_root(&m->p->memory, value)] > 1;
		bool attr = s && s->outputs[j].kind == ALIAS_VIEW_OF_ATTR, wanted = is_wanted(m, g, g->outputs.v[j].at);
		if (!(crosses || attr || wanted) || !has_room(room, wanted))
			continue;
		PicRow row = {.kind = PIC_OUTPUT, .graph = g, .index = j, .owner = owner};
		row.span = (Span){g->file, g->outputs.v[j].at, g->outputs.v[j].end};
		row.lane = value_lane(m, value);
		row.mark = row.lane == PIC_NO_LANE ? PIC_MARK_NONE : PIC_MARK_PASSES;
		row.noticed = report_noticed_output(m->r, g, j) == OBS_YES;
		add_row(m, row);
	}
}

/* A write that no finding names. */
static void add_writes(Maker *m, const Graph *g, Room *room)
{
	const Summary *s = m->r->summaries ? m->r->summaries[g->id.i] : NULL;
	for (uint32_t i = 0; s && i < g->inputs.n; i++) {
		if (!s->inputs[i].nwrites)
			continue;
		NodeId node = s->inputs[i].writes[0].node;
		Span at = node_span(g, node);
		if (!is_wanted(m, g, at.at) && has_room(room, false))
			VEC_PUSH(m->scratch, &m->wanted, ((Wanted){g->id.i, 0, at, node, ROLE_WRITE,
				memory_root(&m->p->memory, memory_input(&m->p->memory, g, i)) + 1}));
	}
}

/* Is some input or output of the graph in that memory? */
static bool touches(const Maker *m, const Graph *g, uint32_t root)
{
	return map_get(&m->touched, ((uint64_t)g->id.i << 32 | root) + 1) != 0;
}

static PicMark mark_of(uint8_t role)
{
	return role == ROLE_WRITE ? PIC_MARK_WRITES : role == ROLE_READ ? PIC_MARK_READS : PIC_MARK_PASSES;
}

static void step_row(Maker *m, const Wanted *w, const Graph *g, uint32_t owner)
{
	PicRow row = {.kind = PIC_STEP, .graph = g, .frame = w->frame, .node = w->node, .role = w->role, .span = w->span,
	              .lane = PIC_NO_LANE, .owner = owner};
	if (w->root && (!g || touches(m, g, w->root - 1)))
		row.lane = lane_of(m, w->root - 1);
	row.mark = row.lane == PIC_NO_LANE ? PIC_MARK_NONE : mark_of(w->role);
	add_row(m, row);
}

/* Nodes between the inputs and the outputs, each place once. */
static void step_rows(Maker *m, const Graph *g, uint32_t owner)
{
	uint32_t from = first_wanted(m, g->id.i, 0, 0), end = from, last = UINT32_MAX;
	while (end < m->nwanted && m->wanted.v[end].graph == g->id.i)
		end++;
	uint32_t n = 0;
	Wanted *all = NEW_N(m->scratch, Wanted, end - from + m->wanted.n - m->nwanted + 1);
	for (uint32_t i = from; i < end; i++)
		all[n++] = m->wanted.v[i];
	for (uint32_t i = m->nwanted; i < m->wanted.n; i++)
		all[n++] = m->wanted.v[i];
	if (n > 1)
		qsort(all, n, sizeof *all, by_place);
	for (uint32_t k = 0; k < n; k++) {
		const Wanted *w = &all[k];
		bool inner = w->node.i && graph_node(g, w->node)->kind != NK_PLACEHOLDER;
		if (inner && w->span.at != last)
			step_row(m, w, g, owner);
		last = inner ? w->span.at : last;
	}
}

static void more_row(Maker *m, const Graph *g, uint32_t owner, const Room *room)
{
	if (room->left_out)
		add_row(m, (PicRow){.kind = PIC_MORE, .graph = g, .index = room->left_out, .lane = PIC_NO_LANE, .owner = owner});
}

static void graph_rows(Maker *m, const Graph *g)
{
	if (m->drawn[g->id.i])
		return;
	m->drawn[g->id.i] = true;
	PicRow head = {.kind = PIC_GRAPH, .graph = g, .span = graph_span(g), .lane = PIC_NO_LANE, .owner = m->p->rows.n};
	head.index = m->findings[g->id.i];
	head.worst = (Severity)m->worst[g->id.i];
	uint32_t owner = add_row(m, head);
	m->p->row_of_graph[g->id.i] = owner + 1;
	if (m->ngraphs > GRAPHS_WHOLE && head.worst < SEV_ERROR)
		return;
	Room in = {0}, out = {0};
	input_rows(m, g, owner, &in);
	more_row(m, g, owner, &in);
	add_writes(m, g, &out);
	step_rows(m, g, owner);
	m->wanted.n = m->nwanted;
	out.used = 0;
	output_rows(m, g, owner, &out);
	more_row(m, g, owner, &out);
}

/* What happens in a frame, calls of graphs and steps of findings, in the order of its listing. */
static void frame_rows(Maker *m, FrameRef ref)
{
	const Frame *f = &m->r->program.frames.v[ref - 1];
	PicRow head = {.kind = PIC_FRAME, .frame = ref, .span = {f->dump, f->at, f->end}, .lane = PIC_NO_LANE, .owner = m->p->rows.n};
	uint32_t owner = add_row(m, head), w = first_wanted(m, 0, ref, 0), n = 0;
	Arena a = arena_new(NULL);
	FrameCalls calls = {0};
	report_frame_calls(m->r, ref, &a, &calls);
	for (uint32_t i = 0; i <= calls.n; i++) {
		uint32_t to = i < calls.n ? report_call_span(m->r, ref, &calls.v[i]).at : UINT32_MAX, last = UINT32_MAX;
		for (; w < m->nwanted && m->wanted.v[w].frame == ref && !m->wanted.v[w].graph && m->wanted.v[w].span.at <= to && n < CHILDREN_MOST; w++, n++) {
			Wanted step = m->wanted.v[w];
			if (step.span.at != last)
				step_row(m, &step, NULL, owner);
			last = step.span.at;
		}
		if (i < calls.n && calls.v[i].graph.i)
			graph_rows(m, graph_get(&m->r->program, calls.v[i].graph));
	}
	arena_free(&a);
}

/* ---- the order of the program ---- */

typedef struct Item {
	uint32_t process, i;
} Item;

static uint32_t process_of(Maker *m, FileId file, Sym process)
{
	uint64_t key = ((uint64_t)file.i << 32 | process.i) + 1;
	uint32_t n = map_get(&m->processes, key);
	if (!n) {
		n = ++m->nprocesses;
		map_put(&m->processes, key, n);
	}
	return n;
}

static int by_process(const void *a, const void *b)
{
	const Item *x = a, *y = b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static void heading(Maker *m, PicKind kind, FileId file, uint32_t at)
{
	add_row(m, (PicRow){.kind = (uint8_t)kind, .span = {file, at, at}, .lane = PIC_NO_LANE, .owner = m->p->rows.n});
}

static void process_rows(Maker *m, const Item *frames, uint32_t nframes, const Item *graphs, uint32_t ngraphs)
{
	const Program *p = &m->r->program;
	if (m->nprocesses > 1 && nframes)
		heading(m, PIC_PROCESS, p->frames.v[frames[0].i].dump, p->frames.v[frames[0].i].at);
	else if (m->nprocesses > 1 && ngraphs)
		heading(m, PIC_PROCESS, p->graphs.v[graphs[0].i]->file, p->graphs.v[graphs[0].i]->at);
	for (uint32_t i = 0; i < nframes; i++)
		frame_rows(m, frames[i].i + 1);
	bool said = !nframes;
	for (uint32_t i = 0; i < ngraphs; i++) {
		const Graph *g = p->graphs.v[graphs[i].i];
		if (m->drawn[g->id.i])
			continue;
		if (!said)
			heading(m, PIC_LOOSE, (FileId){0}, 0);
		said = true;
		graph_rows(m, g);
	}
}

static void all_rows(Maker *m)
{
	const Program *p = &m->r->program;
	Item *frames = NEW_N(m->scratch, Item, p->frames.n + 1), *graphs = NEW_N(m->scratch, Item, p->graphs.n + 1);
	uint32_t nframes = 0, ngraphs = 0, f = 0, g = 0;
	for (uint32_t i = 0; i < p->frames.n; i++)
		if (m->run[i])
			frames[nframes++] = (Item){process_of(m, p->frames.v[i].dump, p->frames.v[i].process), i};
	for (uint32_t i = 1; i < p->graphs.n; i++)
		if (report_graph_captured(p, p->graphs.v[i]))
			graphs[ngraphs++] = (Item){process_of(m, p->graphs.v[i]->file, p->graphs.v[i]->process), i};
	m->ngraphs = ngraphs;
	qsort(frames, nframes, sizeof *frames, by_process);
	qsort(graphs, ngraphs, sizeof *graphs, by_process);
	for (uint32_t k = 1; k <= m->nprocesses; k++) {
		uint32_t f_end = f, g_end = g;
		while (f_end < nframes && frames[f_end].process == k)
			f_end++;
		while (g_end < ngraphs && graphs[g_end].process == k)
			g_end++;
		process_rows(m, frames + f, f_end - f, graphs + g, g_end - g);
		f = f_end;
		g = g_end;
	}
}

/* ---- lanes ---- */

static int by_first(const void *a, const void *b)
{
	const PicLane *const *x = a, *const *y = b;
	bool colored_x = (*x)->color != 0, colored_y = (*y)->color != 0;
	if ((*x)->first != (*y)->first)
		return (*x)->first < (*y)->first ? -1 : 1;
	if (colored_x != colored_y)
		return colored_x ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* A lane takes the first column that is free from its first row on. */
static void place_lanes(Maker *m)
{
	Picture *p = m->p;
	uint32_t busy[COLUMNS_MOST] = {0}; /* row behind the last one of the lane in it */
	const PicLane **order = NEW_N(m->scratch, const PicLane *, p->lanes.n + 1);
	for (uint32_t i = 0; i < p->lanes.n; i++)
		order[i] = &p->lanes.v[i];
	qsort(order, p->lanes.n, sizeof *order, by_first);
	for (uint32_t i = 0; i < p->lanes.n; i++) {
		PicLane *l = &p->lanes.v[order[i] - p->lanes.v];
		uint32_t c = 0;
		while (c < COLUMNS_MOST && busy[c] > l->first)
			c++;
		if (c == COLUMNS_MOST) {
			p->lanes_left_out++;
			continue;
		}
		l->column = c;
		busy[c] = l->last + 2;
		p->ncolumns = c + 1 > p->ncolumns ? c + 1 : p->ncolumns;
	}
}

/* Of a long program only graphs with errors or warnings are open at first. */
static void fold(Picture *p)
{
	if (p->rows.n <= ROWS_WHOLE)
		return;
	for (uint32_t i = 0; i < p->rows.n; i++)
		if (p->rows.v[i].kind == PIC_GRAPH)
			p->rows.v[i].folded = p->rows.v[i].worst < SEV_ERROR;
}

static void count_members(Maker *m)
{
	const Program *p = &m->r->program;
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		uint32_t n = report_graph_captured(p, g) ? g->inputs.n + g->outputs.n : 0;
		for (uint32_t v = 0; v < n; v++) {
			uint32_t root = memory_root(&m->p->memory, m->p->memory.first[i] + v);
			m->members[root]++;
			map_put(&m->touched, ((uint64_t)i << 32 | root) + 1, 1);
		}
	}
}

Picture *picture_make(const Run *r, const FindingList *findings, Arena *a)
{
	Picture *p = NEW(a, Picture);
	Arena scratch = arena_new(NULL);
	Maker m = {.p = p, .r = r, .a = a, .scratch = &scratch};
	*p = (Picture){.r = r, .memory = memory_map(r, a), .where = where_index(&r->program, a), .row_at = {.a = a}};
	p->row_of_graph = NEW_N(a, uint32_t, r->program.graphs.n + 1);
	m.run = report_frames_run(r, &scratch);
	m.processes.a = &scratch;
	m.drawn = NEW_N(&scratch, bool, r->program.graphs.n + 1);
	m.worst = NEW_N(&scratch, uint32_t, r->program.graphs.n + 1);
	m.findings = NEW_N(&scratch, uint32_t, r->program.graphs.n + 1);
	m.lane = NEW_N(&scratch, uint32_t, p->memory.n + 1);
	m.members = NEW_N(&scratch, uint32_t, p->memory.n + 1);
	m.touched.a = &scratch;
	count_members(&m);
	count_findings(&m);
	collect_wanted(&m, findings);
	all_rows(&m);
	place_lanes(&m);
	fold(p);
	arena_free(&scratch);
	return p;
}

uint32_t picture_row_of(const Picture *p, const Finding *f, const Step *s)
{
	Span at = s->span.file.i ? s->span : f->span;
	uint32_t row = map_get(&p->row_at, place_key(at));
	if (row)
		return row;
	Where w = where_of(&p->where, at);
	if (w.graph && shown_graph(p->r, w.graph) == w.graph)
		return p->row_of_graph[w.graph->id.i];
	return w.frame ? map_get(&p->row_at, place_key((Span){p->r->program.frames.v[w.frame - 1].dump, p->r->program.frames.v[w.frame - 1].at, 0})) : 0;
}
