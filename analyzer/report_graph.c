/* SPDX-License-Identifier: MIT
 * The linked program for people: frames in the order of the log, the graphs they call, and of each graph what it shares
 * and writes, whether anybody would notice, and where its outputs go. */
#include "report.h"

#include <stdlib.h>

#include "report_common.h"
#include "report_flow.h"

enum {
	WORD = 8,       /* columns of the word that begins a line about a graph */
	LINES_MOST = 24 /* lines of a graph of each kind: the JSON has them all */
};

/* A frame or graph and the process that printed it, which runs apart from the others. */
typedef struct Item {
	uint32_t process, i; /* ordinal of the process; index of the frame or graph */
} Item;

typedef struct Out {
	const Run *r;
	const ReportOptions *o;
	Buf *out;
	Arena a, scratch;
	Places places;
	bool *run;         /* by frame */
	bool *called;      /* by GraphId: it was described */
	Map processes;     /* file and process -> ordinal */
	Item *frames, *graphs;
	uint32_t left_out; /* lines about the graph at hand that are beyond LINES_MOST */
	uint32_t nframes, ngraphs, nprocesses, described;
} Out;

/* ---- pieces ---- */

static Str name_of(const Out *o, Sym s)
{
	return sym_str(o->r->program.names, s);
}

static void text(Out *o, Str s)
{
	report_words(o->out, s, o->o->unicode);
}

static void quoted(Out *o, Str s)
{
	buf_char(o->out, '`');
	text(o, s);
	buf_char(o->out, '`');
}

/* The file is named where there are several. */
static void place(Out *o, FileId file, uint32_t at)
{
	unsigned line = place_of(&o->places, file, at).line;
	if (o->r->sources.v.n <= 2) {
		buf_printf(o->out, "line %u", line);
		return;
	}
	text(o, place_path(&o->places, file));
	buf_printf(o->out, ":%u", line);
}

static Str node_name(const Out *o, const Graph *g, NodeId id)
{
	const Node *n = graph_node(g, id);
	return name_of(o, n->name.i ? n->name : n->target);
}

static void side(Out *o, const char *word, uint32_t i, Str name)
{
	buf_printf(o->out, "%s %u", word, (unsigned)i);
	if (name.n) {
		buf_char(o->out, ' ');
		quoted(o, name);
	}
}

static void input(Out *o, const Graph *g, uint32_t i)
{
	side(o, "in", i, node_name(o, g, g->inputs.v[i]));
}

static void output(Out *o, const Graph *g, uint32_t j)
{
	const Arg *arg = &g->outputs.v[j].arg;
	side(o, "out", j, arg->kind == AR_NODE ? node_name(o, g, arg->u.node) : (Str){0});
}

static void begin(Out *o, const char *word)
{
	buf_printf(o->out, "    %-*s", WORD, word);
}

/* "noticed: yes": would the program notice a copy in place of this? Of a written input the line names the write already. */
static void noticed(Out *o, Observable seen, const Verdict *v, bool own_write)
{
	buf_printf(o->out, "; noticed: " STR_FMT, STR_ARG(observable_name(seen)));
	if (seen == OBS_UNKNOWN && v && v->why.n) {
		buf_add(o->out, S(" ("));
		text(o, v->why);
		buf_char(o->out, ')');
	}
	for (uint32_t i = 0; seen == OBS_YES && v && i < v->nsteps; i++) {
		if (own_write && v->steps[i].role == ROLE_WRITE)
			continue;
		buf_printf(o->out, ", %s by ", v->steps[i].role == ROLE_WRITE ? "written" : "read");
		quoted(o, v->steps[i].what);
		buf_add(o->out, S(" at "));
		place(o, v->steps[i].where.file, v->steps[i].where.at);
	}
}

/* As a reader of the dump knows it. */
static Str operator_text(const Out *o, const Node *n)
{
	Str target = name_of(o, n->target);
	if (n->kind == NK_UNREAD)
		return S("a line that could not be read");
	if (n->callee == CALLEE_OPERATOR && str_eq(target, S("setitem")))
		return S("x[...] = v");
	if (n->callee == CALLEE_OPERATOR && str_eq(target, S("getitem")))
		return S("x[...]");
	return target;
}

/* ---- a graph ---- */

static void through(Out *o, const Graph *g, const Hop *chain, uint32_t n)
{
	enum { SHOWN = 4 };
	uint32_t said = 0;
	for (uint32_t i = 0; i < n; i++) {
		const Node *m = chain[i].node.i ? graph_node(g, chain[i].node) : NULL;
		if (!m || m->kind != NK_CALL)
			continue;
		if (said == SHOWN) {
			buf_add(o->out, S(", ..."));
			return;
		}
		buf_add(o->out, said++ ? S(", ") : S(", through "));
		quoted(o, operator_text(o, m));
	}
}

static bool shares(const OutputSummary *s)
{
	return s->kind == ALIAS_INPUT || s->kind == ALIAS_VIEW_OF_INPUT || s->kind == ALIAS_VIEW_OF_ATTR ||
	       s->kind == ALIAS_OUTPUT || s->kind == ALIAS_VIEW_OF_OUTPUT;
}

/* Is there room for one more line of a kind? */
static bool has_room(Out *o, uint32_t *lines)
{
	if (++*lines <= LINES_MOST)
		return true;
	o->left_out++;
	return false;
}

static void shared_output(Out *o, const Graph *g, uint32_t j, const OutputSummary *s)
{
	const GraphVerdicts *v = report_verdicts(o->r, g);
	bool object = s->kind == ALIAS_INPUT || s->kind == ALIAS_OUTPUT, may = s->certainty == TRI_MAY;
	begin(o, "shares");
	output(o, g, j);
	buf_printf(o->out, " %s ", may ? object ? "may be" : "may share memory with" : object ? "is" : "shares memory with");
	if (s->kind == ALIAS_VIEW_OF_ATTR) {
		buf_add(o->out, S("self."));
		text(o, name_of(o, s->attribute));
	}
	for (uint32_t i = 0; s->kind != ALIAS_VIEW_OF_ATTR && i < s->nof; i++) {
		buf_add(o->out, i ? S(", ") : S(""));
		if (s->kind == ALIAS_INPUT || s->kind == ALIAS_VIEW_OF_INPUT)
			input(o, g, s->of[i]);
		else
			output(o, g, s->of[i]);
	}
	if (object)
		buf_add(o->out, S(" itself"));
	through(o, g, s->chain, s->nchain);
	if (may && s->condition.n) {
		buf_add(o->out, S(", if "));
		text(o, s->condition);
	}
	noticed(o, report_noticed_output(o->r, g, j), v && v->outputs ? &v->outputs[j] : NULL, false);
	buf_char(o->out, '\n');
}

static void write_place(Out *o, const Graph *g, const Write *w)
{
	const Node *n = graph_node(g, w->node);
	buf_add(o->out, S(" by "));
	quoted(o, operator_text(o, n));
	buf_add(o->out, S(" at "));
	place(o, g->file, n->at);
	if (n->loc) {
		const SrcLoc *l = &g->locs.v[n->loc];
		buf_add(o->out, S(" ("));
		text(o, name_of(o, l->file));
		buf_printf(o->out, ":%u)", (unsigned)l->line);
	}
}

static void writes_of(Out *o, const Graph *g, const InputSummary *s, int32_t i, Sym attribute)
{
	const GraphVerdicts *v = report_verdicts(o->r, g);
	Tri certainty = tri_or(s->data, s->metadata);
	begin(o, "writes");
	if (i >= 0) {
		input(o, g, (uint32_t)i);
	} else {
		buf_add(o->out, S("self."));
		text(o, name_of(o, attribute));
	}
	if (certainty == TRI_MAY)
		buf_add(o->out, S(" perhaps"));
	if (s->data == TRI_NO)
		buf_add(o->out, S(" (sizes, strides or storage)"));
	if (s->nwrites)
		write_place(o, g, &s->writes[0]);
	if (s->nwrites > 1)
		buf_printf(o->out, " and %u more", (unsigned)(s->nwrites - 1));
	if (i >= 0)
		noticed(o, report_noticed_input(o->r, g, (uint32_t)i), v && v->inputs ? &v->inputs[i] : NULL, true);
	buf_char(o->out, '\n');
}

static void flows(Out *o, const Graph *g)
{
	const GraphVerdicts *v = report_verdicts(o->r, g);
	uint32_t lines = 0;
	for (uint32_t i = 0; v && i < v->flows.n; i++) {
		const GraphFlow *f = &v->flows.v[i];
		const Graph *to = graph_get(&o->r->program, f->to);
		if (!to || f->output >= g->outputs.n || f->input >= to->inputs.n || !has_room(o, &lines))
			continue;
		begin(o, "passes");
		output(o, g, f->output);
		buf_add(o->out, S(" -> "));
		input(o, to, f->input);
		buf_add(o->out, S(" of "));
		text(o, name_of(o, to->name));
		buf_add(o->out, f->same ? S(", the same object") : S(", a view of it"));
		buf_add(o->out, f->inferred ? S(" (inferred from order, names and types)\n") : S("\n"));
	}
}

static bool is_written(const InputSummary *s)
{
	return s->data != TRI_NO || s->metadata != TRI_NO;
}

/* What it shares and writes. */
static void memory(Out *o, const Graph *g, const Summary *s)
{
	uint32_t shared = 0, written = 0;
	for (uint32_t j = 0; s && j < g->outputs.n; j++)
		if (shares(&s->outputs[j]) && has_room(o, &shared))
			shared_output(o, g, j, &s->outputs[j]);
	for (uint32_t i = 0; s && i < g->inputs.n; i++)
		if (is_written(&s->inputs[i]) && has_room(o, &written))
			writes_of(o, g, &s->inputs[i], (int32_t)i, (Sym){0});
	for (uint32_t i = 0; s && i < s->nattrs; i++)
		if (is_written(&s->attrs[i].w) && has_room(o, &written))
			writes_of(o, g, &s->attrs[i].w, -1, s->attrs[i].path);
}

static void graph(Out *o, const Graph *g)
{
	const Summary *s = o->r->summaries ? o->r->summaries[g->id.i] : NULL;
	uint32_t operators = report_operators(g), before;
	buf_printf(o->out, "  graph ");
	text(o, name_of(o, g->name));
	buf_printf(o->out, ": %u operator%s, %u input%s, %u output%s  (", (unsigned)operators, report_plural(operators),
	           (unsigned)g->inputs.n, report_plural(g->inputs.n), (unsigned)g->outputs.n, report_plural(g->outputs.n));
	place(o, g->file, g->at);
	buf_add(o->out, S(")\n"));
	if (o->called[g->id.i]) {
		begin(o, "");
		buf_add(o->out, S("called again: see above\n"));
		return;
	}
	o->called[g->id.i] = true;
	o->described++;
	before = o->out->n;
	o->left_out = 0;
	memory(o, g, s);
	if (o->out->n == before) {
		begin(o, s ? "new" : "?");
		buf_add(o->out, s ? S("all outputs; nothing that was given is written\n") : S("nothing is known of it\n"));
	}
	flows(o, g);
	if (o->left_out) {
		begin(o, "...");
		buf_printf(o->out, "%u lines not shown here: check --format=json has them\n", (unsigned)o->left_out);
	}
}

/* ---- a frame ---- */

static void frame_heading(Out *o, const Frame *f)
{
	buf_add(o->out, S("\nframe "));
	text(o, name_of(o, f->name));
	if (!sym_none(f->file)) { /* what was decompiled says no more of its place */
		buf_add(o->out, S(" at "));
		text(o, name_of(o, f->file));
		buf_printf(o->out, ":%u", (unsigned)f->first_line);
	}
	if (!sym_none(f->compile_id)) {
		buf_add(o->out, S(" ["));
		text(o, name_of(o, f->compile_id));
		buf_char(o->out, ']');
	}
	buf_add(o->out, f->modified ? S("  (") : S(", not compiled: it runs as written  ("));
	place(o, f->dump, f->at);
	buf_add(o->out, S(")\n"));
}

static void frame(Out *o, FrameRef ref)
{
	const Frame *f = &o->r->program.frames.v[ref - 1];
	const FrameLinks *l = o->r->frames ? o->r->frames->links[ref - 1] : NULL;
	FrameCalls calls = {0};
	ArenaMark mark = arena_mark(&o->scratch);
	report_frame_calls(o->r, ref, &o->scratch, &calls);
	frame_heading(o, f);
	for (uint32_t i = 0; i < calls.n; i++) {
		const FrameCall *c = &calls.v[i];
		if (c->graph.i) {
			graph(o, graph_get(&o->r->program, c->graph));
			continue;
		}
		const char *how = c->resume ? "goes on in" : c->frame ? "calls" : "calls a graph that is not in the dump:";
		buf_printf(o->out, "  %s ", how);
		text(o, c->name);
		if (c->resume && !c->frame)
			buf_add(o->out, S(", of which there is no record: it did not run, or runs as written"));
		buf_char(o->out, '\n');
	}
	if (!l)
		buf_add(o->out, S("  nothing of its bytecode could be read\n"));
	else if (l->stopped.n || l->bounded)
		buf_add(o->out, S("  some of its paths could not be followed\n"));
	arena_rewind(&o->scratch, mark);
}

/* ---- the program ---- */

static uint32_t process_of(Out *o, FileId file, Sym process)
{
	uint64_t key = ((uint64_t)file.i << 32 | process.i) + 1;
	uint32_t n = map_get(&o->processes, key);
	if (!n) {
		n = ++o->nprocesses;
		map_put(&o->processes, key, n);
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

static void collect(Out *o)
{
	const Program *p = &o->r->program;
	o->frames = NEW_N(&o->a, Item, p->frames.n + 1);
	o->graphs = NEW_N(&o->a, Item, p->graphs.n + 1);
	for (uint32_t i = 0; i < p->frames.n; i++)
		if (o->run[i])
			o->frames[o->nframes++] = (Item){process_of(o, p->frames.v[i].unit, p->frames.v[i].process), i};
	for (uint32_t i = 1; i < p->graphs.n; i++)
		if (report_graph_captured(p, p->graphs.v[i]))
			o->graphs[o->ngraphs++] = (Item){process_of(o, p->graphs.v[i]->unit, p->graphs.v[i]->process), i};
	qsort(o->frames, o->nframes, sizeof *o->frames, by_process);
	qsort(o->graphs, o->ngraphs, sizeof *o->graphs, by_process);
}

static void process_heading(Out *o, FileId file, Sym process)
{
	if (o->nprocesses < 2)
		return;
	buf_add(o->out, o->out->n ? S("\n== ") : S("== "));
	text(o, place_path(&o->places, file));
	if (!sym_none(process)) {
		buf_add(o->out, S(", process "));
		text(o, name_of(o, process));
	}
	buf_add(o->out, S(" ==\n"));
}

static void process(Out *o, uint32_t k, uint32_t *f, uint32_t *g)
{
	const Program *p = &o->r->program;
	bool frames = *f < o->nframes && o->frames[*f].process == k, said = false;
	if (frames)
		process_heading(o, p->frames.v[o->frames[*f].i].dump, p->frames.v[o->frames[*f].i].process);
	else if (*g < o->ngraphs && o->graphs[*g].process == k)
		process_heading(o, p->graphs.v[o->graphs[*g].i]->file, p->graphs.v[o->graphs[*g].i]->process);
	for (; *f < o->nframes && o->frames[*f].process == k; ++*f)
		frame(o, o->frames[*f].i + 1);
	for (; *g < o->ngraphs && o->graphs[*g].process == k; ++*g) {
		const Graph *me = p->graphs.v[o->graphs[*g].i];
		if (o->called[me->id.i])
			continue;
		if (!said)
			buf_add(o->out, frames ? S("\ngraphs that no frame of the dump calls\n") :
			        S("\ngraphs, in the order of the dump (no bytecode: what runs between them is not shown)\n"));
		said = true;
		graph(o, me);
	}
}

static void summary(Out *o)
{
	buf_printf(o->out, "%s%u frame%s, %u graph%s", o->out->n ? "\n" : "", (unsigned)o->nframes, report_plural(o->nframes),
	           (unsigned)o->ngraphs, report_plural(o->ngraphs));
	buf_add(o->out, S("; noticed: would the program's result change if a copy stood there?\n"));
}

void report_graph_text(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = {.r = r, .o = options, .out = out, .a = arena_new(NULL), .scratch = arena_new(NULL)};
	o.places = places_new(&r->sources, &o.a);
	o.processes.a = &o.a;
	o.run = report_frames_run(r, &o.a);
	o.called = NEW_N(&o.a, bool, r->program.graphs.n + 1);
	collect(&o);
	uint32_t f = 0, g = 0;
	for (uint32_t k = 1; k <= o.nprocesses; k++)
		process(&o, k, &f, &g);
	if (!options->quiet)
		summary(&o);
	arena_free(&o.scratch);
	arena_free(&o.a);
}
