/* SPDX-License-Identifier: MIT
 * The linked program for Graphviz: a cluster for each frame, a table of inputs and outputs for each graph. What shares
 * memory, within a graph or on the way to the next one, has one colour; where the program would notice a copy, a red border. */
#include "report.h"

#include "report_common.h"
#include "report_flow.h"
#include "report_memory.h"
#include "utf8.h"

typedef struct Out {
	const Run *r;
	Buf *out;
	Arena a, scratch;
	bool *run;        /* by frame */
	bool *drawn;      /* by GraphId */
	MemoryMap memory;
} Out;

static Str name_of(const Out *o, Sym s)
{
	return sym_str(o->r->program.names, s);
}

/* ---- labels ---- */

enum { LABEL_MOST = 40 };

/* Text within an HTML-like label. Graphviz reads UTF-8; what is no text is escaped first. */
static void label(Out *o, Str s)
{
	Str head = utf8_head(s, LABEL_MOST);
	for (uint32_t at = 0, n; at < head.n; at += n) {
		Str one = str_sub(head, at, at + 1);
		if (str_eq(one, S("&")) || str_eq(one, S("<")) || str_eq(one, S(">")) || str_eq(one, S("\""))) {
			buf_printf(o->out, "&#%u;", (unsigned)(unsigned char)one.p[0]);
			n = 1;
		} else {
			report_put(o->out, head, at, &n, true);
		}
	}
	if (head.n < s.n)
		buf_add(o->out, S("..."));
}

static Str node_name(const Out *o, const Graph *g, NodeId id)
{
	const Node *n = graph_node(g, id);
	return name_of(o, n->name.i ? n->name : n->target);
}

/* ---- memory ---- */

/* Hues that lie apart, as far as they can. */
static void add_color(Out *o, uint32_t value)
{
	uint32_t c = memory_color(&o->memory, value);
	if (c)
		buf_printf(o->out, " BGCOLOR=\"0.%03u 0.%u 0.95\"", (unsigned)((uint64_t)c * 618 % 1000), c % 2 ? 45u : 25u);
}

/* ---- graphs ---- */

static void begin_cell(Out *o, char side, uint32_t i, uint32_t value, Str name, bool noticed)
{
	buf_printf(o->out, "<TR><TD PORT=\"%c%u\"%s", side, (unsigned)i, noticed ? " COLOR=\"red\"" : "");
	add_color(o, value);
	buf_printf(o->out, ">%s %u ", side == 'i' ? "in" : "out", (unsigned)i);
	label(o, name);
}

static void end_cell(Out *o)
{
	buf_add(o->out, S("</TD></TR>"));
}

static void input(Out *o, const Graph *g, uint32_t i, const InputSummary *s)
{
	Tri written = s ? tri_or(s->data, s->metadata) : TRI_MAY;
	bool noticed = written != TRI_NO && report_noticed_input(o->r, g, i) == OBS_YES;
	begin_cell(o, 'i', i, memory_input(&o->memory, g, i), node_name(o, g, g->inputs.v[i]), noticed);
	if (written != TRI_NO)
		buf_add(o->out, written == TRI_MUST ? S(" (written)") : S(" (perhaps written)"));
	end_cell(o);
}

static void output(Out *o, const Graph *g, uint32_t j, const OutputSummary *s)
{
	const Arg *arg = &g->outputs.v[j].arg;
	AliasKind k = s ? s->kind : ALIAS_UNKNOWN;
	bool object = k == ALIAS_INPUT || k == ALIAS_OUTPUT, in = k == ALIAS_INPUT || k == ALIAS_VIEW_OF_INPUT;
	bool shares = object || in || k == ALIAS_VIEW_OF_OUTPUT || k == ALIAS_VIEW_OF_ATTR;
	bool noticed = shares && report_noticed_output(o->r, g, j) == OBS_YES;
	begin_cell(o, 'o', j, memory_output(&o->memory, g, j), arg->kind == AR_NODE ? node_name(o, g, arg->u.node) : (Str){0}, noticed);
	if (shares) {
		bool may = s->certainty == TRI_MAY;
		buf_printf(o->out, " (%s ", object ? may ? "may be" : "is" : may ? "may share" : "shares");
		if (k == ALIAS_VIEW_OF_ATTR) {
			buf_add(o->out, S("self."));
			label(o, name_of(o, s->attribute));
		}
		for (uint32_t i = 0; k != ALIAS_VIEW_OF_ATTR && i < s->nof; i++)
			buf_printf(o->out, "%s%s %u", i ? ", " : "", in ? "in" : "out", (unsigned)s->of[i]);
		buf_char(o->out, ')');
	}
	end_cell(o);
}

static void graph(Out *o, const Graph *g, const char *indent)
{
	const Summary *s = o->r->summaries ? o->r->summaries[g->id.i] : NULL;
	if (o->drawn[g->id.i])
		return;
	o->drawn[g->id.i] = true;
	buf_printf(o->out, "%sg%u [label=<<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\"><TR><TD><B>", indent,
	           (unsigned)g->id.i);
	label(o, name_of(o, g->name));
	uint32_t operators = report_operators(g);
	buf_printf(o->out, "</B><BR/>%u operator%s</TD></TR>", (unsigned)operators, report_plural(operators));
	for (uint32_t i = 0; i < g->inputs.n; i++)
		input(o, g, i, s ? &s->inputs[i] : NULL);
	for (uint32_t j = 0; j < g->outputs.n; j++)
		output(o, g, j, s ? &s->outputs[j] : NULL);
	buf_add(o->out, S("</TABLE>>];\n"));
}

static void flow_edges(Out *o, const Graph *g)
{
	const GraphVerdicts *v = report_verdicts(o->r, g);
	for (uint32_t i = 0; v && i < v->flows.n; i++) {
		const GraphFlow *f = &v->flows.v[i];
		const Graph *to = graph_get(&o->r->program, f->to);
		if (to && o->drawn[to->id.i])
			buf_printf(o->out, "\tg%u:o%u -> g%u:i%u%s;\n", (unsigned)g->id.i, (unsigned)f->output, (unsigned)to->id.i,
			           (unsigned)f->input, f->same ? "" : " [style=dashed]");
	}
}

/* ---- frames ---- */

static void frame(Out *o, FrameRef ref)
{
	const Frame *f = &o->r->program.frames.v[ref - 1];
	FrameCalls calls = {0};
	ArenaMark mark = arena_mark(&o->scratch);
	report_frame_calls(o->r, ref, &o->scratch, &calls);
	buf_printf(o->out, "\tsubgraph cluster_%u {\n\t\tlabel=<", (unsigned)ref);
	label(o, name_of(o, f->name));
	if (!sym_none(f->compile_id)) {
		buf_add(o->out, S(" &#91;"));
		label(o, name_of(o, f->compile_id));
		buf_add(o->out, S("&#93;"));
	}
	buf_printf(o->out, ">;\n\t\tstyle=%s;\n\t\tf%u [shape=point, style=invis];\n",
	           f->modified ? "rounded" : "\"rounded,dashed\"", (unsigned)ref);
	for (uint32_t i = 0; i < calls.n; i++)
		if (calls.v[i].graph.i)
			graph(o, graph_get(&o->r->program, calls.v[i].graph), "\t\t");
	buf_add(o->out, S("\t}\n"));
	for (uint32_t i = 0; i < calls.n; i++)
		if (calls.v[i].frame && calls.v[i].frame != ref && o->run[calls.v[i].frame - 1])
			buf_printf(o->out, "\tf%u -> f%u [ltail=cluster_%u, lhead=cluster_%u, style=dotted];\n", (unsigned)ref,
			           (unsigned)calls.v[i].frame, (unsigned)ref, (unsigned)calls.v[i].frame);
	arena_rewind(&o->scratch, mark);
}

void report_graph_dot(const Run *r, const ReportOptions *options, Buf *out)
{
	(void)options;
	const Program *p = &r->program;
	Out o = {.r = r, .out = out, .a = arena_new(NULL), .scratch = arena_new(NULL)};
	o.run = report_frames_run(r, &o.a);
	o.drawn = NEW_N(&o.a, bool, p->graphs.n + 1);
	o.memory = memory_map(r, &o.a);
	buf_add(out, S("digraph program {\n\tcompound=true;\n\tnode [shape=plain, fontname=\"monospace\"];\n"));
	for (uint32_t i = 0; i < p->frames.n; i++)
		if (o.run[i])
			frame(&o, i + 1);
	for (uint32_t i = 1; i < p->graphs.n; i++)
		if (report_graph_captured(p, p->graphs.v[i]))
			graph(&o, p->graphs.v[i], "\t");
	for (uint32_t i = 1; i < p->graphs.n; i++)
		if (o.drawn[i])
			flow_edges(&o, p->graphs.v[i]);
	buf_add(out, S("}\n"));
	arena_free(&o.scratch);
	arena_free(&o.a);
}
