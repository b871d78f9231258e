/* SPDX-License-Identifier: MIT */
#include "evidence.h"

#include "link.h"
#include "where.h"

enum {
	HOPS_MOST = 8,   /* resume functions between two steps that are looked through */
	STEPS_MOST = 64, /* of a finding that gets more */
	TRIES_MOST = 512 /* frames looked at for one way */
};

/* A frame goes on in another one. */
typedef struct Edge {
	FrameRef to;
	uint32_t ins;
	uint32_t next; /* edge of the same frame, plus 1 */
} Edge;

typedef struct Linker {
	Diags *d;
	const Program *p;
	const ProgramFrames *frames;
	Arena *scratch;
	WhereIndex where;
	FrameRef *caller;   /* by GraphId: the first frame that calls it */
	uint32_t *call;     /* by GraphId: the instruction */
	VEC(Edge) edges;
	uint32_t *first;    /* by FrameRef: edge plus 1 */
	uint32_t *seen;     /* by FrameRef: number of the search that came there */
	uint32_t *via;      /* by FrameRef: the edge by which it came */
	FrameRef *from;     /* by FrameRef: whence */
	uint32_t searches;
} Linker;

static void add_graph(Linker *k, FrameRef frame, const LinkEvent *e)
{
	const Graph *g = graph_get(k->p, frames_called_graph(k->frames, frame, e));
	if (!g)
		return;
	uint32_t id = link_principal(k->p, g)->id.i;
	if (k->caller[id])
		return;
	k->caller[id] = frame;
	k->call[id] = e->ins;
}

static void add_resume(Linker *k, FrameRef frame, const LinkEvent *e)
{
	FrameRefs to = {0};
	ArenaMark mark = arena_mark(k->scratch);
	frame_resume_candidates(k->frames, frame, e, k->scratch, &to);
	FrameRef first = to.n ? to.v[0] : 0;
	arena_rewind(k->scratch, mark);
	if (!first)
		return;
	FrameRef compiled = k->frames->partner[first - 1];
	VEC_PUSH(k->scratch, &k->edges, ((Edge){compiled ? compiled : first, e->ins, k->first[frame]}));
	k->first[frame] = k->edges.n;
}

static void read_frame(Linker *k, FrameRef frame)
{
	const FrameLinks *l = k->frames->links[frame - 1];
	for (uint32_t i = 0; l && i < l->events.n; i++) {
		const LinkEvent *e = &l->events.v[i];
		if (e->kind != LINK_CALL)
			continue;
		if (e->callee == CALLEE_GRAPH)
			add_graph(k, frame, e);
		else if (e->callee == CALLEE_RESUME && !e->factory)
			add_resume(k, frame, e);
	}
}

static Span ins_place(const Linker *k, FrameRef frame, uint32_t ins)
{
	const Code *code = k->frames->links[frame - 1]->code;
	return ins_span(code, &code->ins[ins]);
}

static Str frame_name(const Linker *k, FrameRef frame)
{
	return sym_str(k->p->names, k->p->frames.v[frame - 1].name);
}

/* The name; of a resume function also what it is, for whoever has never seen one. */
static void say_frame(const Linker *k, FrameRef frame, Buf *out)
{
	Str name = frame_name(k, frame), inner;
	buf_printf(out, "`" STR_FMT "`", STR_ARG(name));
	if (name_is_resume_code(name, &inner) && k->p->frames.v[frame - 1].first_line)
		buf_printf(out, " (the rest of `" STR_FMT "` from line %u on)", STR_ARG(inner), (unsigned)k->p->frames.v[frame - 1].first_line);
}

static Step call_step(Linker *k, const Graph *g)
{
	Buf text = {.a = k->d->a};
	FrameRef frame = k->caller[g->id.i];
	say_frame(k, frame, &text);
	buf_printf(&text, " calls `" STR_FMT "`", STR_ARG(sym_str(k->p->names, g->name)));
	return (Step){ins_place(k, frame, k->call[g->id.i]), ROLE_LINK, buf_str(&text)};
}

static Step resume_step(Linker *k, FrameRef from, const Edge *e)
{
	Buf text = {.a = k->d->a};
	buf_printf(&text, "`" STR_FMT "` goes on in ", STR_ARG(frame_name(k, from)));
	say_frame(k, e->to, &text);
	return (Step){ins_place(k, from, e->ins), ROLE_LINK, buf_str(&text)};
}

/* A shortest way over resume functions; its edges from behind are in via and from. */
static bool find_way(Linker *k, FrameRef from, FrameRef to)
{
	FrameRef queue[TRIES_MOST];
	uint32_t n = 0, search = ++k->searches;
	queue[n++] = from;
	k->seen[from] = search;
	for (uint32_t i = 0; i < n && from != to; i++)
		for (uint32_t e = k->first[queue[i]]; e; e = k->edges.v[e - 1].next) {
			FrameRef next = k->edges.v[e - 1].to;
			if (k->seen[next] == search || n == TRIES_MOST)
				continue;
			k->seen[next] = search;
			k->via[next] = e - 1;
			k->from[next] = queue[i];
			if (next == to)
				return true;
			queue[n++] = next;
		}
	return false;
}

typedef VEC(Step) Steps;

static void add_way(Linker *k, FrameRef from, FrameRef to, Steps *out)
{
	FrameRef way[HOPS_MOST + 1];
	uint32_t n = 0;
	if (!from || from == to || !find_way(k, from, to))
		return;
	for (FrameRef f = to; f != from; f = k->from[f]) {
		if (n == HOPS_MOST)
			return;
		way[n++] = f;
	}
	while (n--)
		VEC_PUSH(k->d->a, out, resume_step(k, k->from[way[n]], &k->edges.v[k->via[way[n]]]));
}

/* The frame and graph that the last step was in. */
typedef struct At {
	const Graph *graph;
	FrameRef frame;
} At;

static const Graph *called_graph(const Linker *k, const Graph *g)
{
	g = g ? link_principal(k->p, g) : NULL;
	return g && k->caller[g->id.i] ? g : NULL;
}

static void add_step(Linker *k, const Finding *f, const Step *s, At *at, Steps *out)
{
	Where w = where_of(&k->where, s->span.file.i ? s->span : f->span);
	const Graph *g = called_graph(k, w.graph);
	if (g && g != at->graph) {
		FrameRef caller = k->caller[g->id.i];
		add_way(k, at->frame, caller, out);
		VEC_PUSH(k->d->a, out, call_step(k, g));
		*at = (At){g, caller};
	} else if (w.frame) {
		add_way(k, at->frame, w.frame, out);
		*at = (At){NULL, w.frame};
	}
	VEC_PUSH(k->d->a, out, *s);
}

static void link_finding(Linker *k, Finding *f)
{
	Steps out = {0};
	At at = {0};
	for (uint32_t i = 0; i < f->steps.n; i++)
		add_step(k, f, &f->steps.v[i], &at, &out);
	f->steps.v = out.v;
	f->steps.n = out.n;
	f->steps.cap = out.cap;
}

static void prepare(Linker *k)
{
	Arena *a = k->scratch;
	k->where = where_index(k->p, a);
	k->caller = NEW_N(a, FrameRef, k->p->graphs.n + 1);
	k->call = NEW_N(a, uint32_t, k->p->graphs.n + 1);
	k->first = NEW_N(a, uint32_t, k->p->frames.n + 1);
	k->seen = NEW_N(a, uint32_t, k->p->frames.n + 1);
	k->via = NEW_N(a, uint32_t, k->p->frames.n + 1);
	k->from = NEW_N(a, FrameRef, k->p->frames.n + 1);
	for (uint32_t i = 0; i < k->p->frames.n; i++)
		read_frame(k, i + 1);
}

static bool is_about_boundary(const Finding *f)
{
	return str_starts(f->rule, S("GL10")) && f->steps.n && f->steps.n <= STEPS_MOST;
}

void evidence_link(Diags *d, const Program *p, const ProgramFrames *frames, Arena *scratch)
{
	ArenaMark mark = arena_mark(scratch);
	Linker k = {.d = d, .p = p, .frames = frames, .scratch = scratch};
	bool ready = false;
	for (uint32_t i = 0; frames && p->frames.n && i < d->v.n; i++) {
		Finding *f = &d->v.v[i];
		if (!is_about_boundary(f))
			continue;
		if (!ready)
			prepare(&k);
		ready = true;
		link_finding(&k, f);
	}
	arena_rewind(scratch, mark);
}
