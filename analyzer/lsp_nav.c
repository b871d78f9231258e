/* SPDX-License-Identifier: MIT
 * Ways through a dump: definitions, uses, symbols, who calls whom. */
#include "lsp_priv.h"

#include "report_common.h"
#include "report_flow.h"

enum { SYMBOLS_MOST = 2000, VALUES_MOST = 20000 };

/* Locations that are written once each. */
typedef struct List {
	LspServer *l;
	Snapshot *s;
	Json *j;
	VEC(Span) seen;
} List;

static void list_add(List *x, Span span)
{
	for (uint32_t i = 0; i < x->seen.n; i++)
		if (x->seen.v[i].file.i == span.file.i && x->seen.v[i].at == span.at)
			return;
	if (!span.file.i || x->seen.n >= SYMBOLS_MOST)
		return;
	VEC_PUSH(&x->l->scratch, &x->seen, span);
	put_location(x->l, x->s, x->j, span);
}

static List list_new(Call *c, const Place *p)
{
	json_array(c->j);
	return (List){.l = c->l, .s = p->snap, .j = c->j};
}

static Str name_of(const Run *r, Sym s)
{
	return sym_str(r->program.names, s);
}

/* The graph as reports list it. */
static const Graph *principal(const Run *r, const Graph *g)
{
	return g && g->printing_of.i ? graph_get(&r->program, g->printing_of) : g;
}

/* ---- values ---- */

/* Inputs of other graphs that an output becomes. */
static void add_consumers(List *x, const Graph *g, uint32_t output)
{
	const Run *r = &x->s->run;
	const GraphVerdicts *v = report_verdicts(r, principal(r, g));
	for (uint32_t i = 0; v && i < v->flows.n; i++) {
		const Graph *to = graph_get(&r->program, v->flows.v[i].to);
		if (v->flows.v[i].output == output && to && v->flows.v[i].input < to->inputs.n)
			list_add(x, node_name_span(r, to, to->inputs.v[v->flows.v[i].input]));
	}
}

/* Outputs of other graphs that an input was. */
static void add_producers(List *x, const Graph *g, uint32_t input)
{
	const Run *r = &x->s->run;
	g = principal(r, g);
	for (uint32_t i = 1; i < r->program.graphs.n; i++) {
		const Graph *from = r->program.graphs.v[i];
		const GraphVerdicts *v = report_verdicts(r, from);
		for (uint32_t k = 0; v && k < v->flows.n; k++) {
			const GraphFlow *f = &v->flows.v[k];
			if (f->to.i == g->id.i && f->input == input && f->output < from->outputs.n)
				list_add(x, (Span){from->file, from->outputs.v[f->output].at, from->outputs.v[f->output].end});
		}
	}
}

static bool output_at(const Graph *g, uint32_t at, uint32_t *output)
{
	for (uint32_t i = 0; i < g->outputs.n; i++)
		if (g->outputs.v[i].at <= at && at <= g->outputs.v[i].end) {
			*output = i;
			return true;
		}
	return false;
}

static bool input_of(const Graph *g, NodeId id, uint32_t *input)
{
	for (uint32_t i = 0; i < g->inputs.n; i++)
		if (g->inputs.v[i].i == id.i) {
			*input = i;
			return true;
		}
	return false;
}

/* ---- graphs and frames by name ---- */

static bool same_process(const Place *p, FileId file, Sym process)
{
	const Run *r = &p->snap->run;
	if (p->frame) {
		const Frame *f = &r->program.frames.v[p->frame - 1];
		return f->dump.i == file.i && f->process.i == process.i;
	}
	return !p->graph || (p->graph->file.i == file.i && p->graph->process.i == process.i);
}

static void add_graphs_named(List *x, const Place *p)
{
	const Program *prog = &x->s->run.program;
	Sym s = sym_find(prog->names, p->word);
	for (uint32_t i = 1; s.i && i < prog->graphs.n; i++) {
		const Graph *g = prog->graphs.v[i];
		if (g->name.i == s.i && !g->printing_of.i && same_process(p, g->file, g->process))
			list_add(x, graph_span(g));
	}
}

/* What the call on the cursor's line of bytecode leads to. */
static void add_callees(List *x, const Place *p, bool resumes)
{
	const Run *r = &x->s->run;
	FrameCalls calls = {0};
	uint32_t line = source_line_col(p->src, p->at).line;
	if (!p->frame || !r->frames)
		return;
	report_frame_calls(r, p->frame, &x->l->scratch, &calls);
	for (uint32_t i = 0; i < calls.n; i++) {
		bool here = source_line_col(p->src, report_call_span(r, p->frame, &calls.v[i]).at).line == line;
		bool by_name = p->word.n && (str_eq(calls.v[i].name, p->word) || (resumes && calls.v[i].resume));
		if (!here && !by_name)
			continue;
		if (calls.v[i].graph.i)
			list_add(x, graph_span(graph_get(&r->program, calls.v[i].graph)));
		else if (calls.v[i].frame)
			list_add(x, frame_span(r, calls.v[i].frame));
	}
}

static bool on_header(const Place *p)
{
	return p->graph && p->at >= p->graph->at && p->at <= p->graph->end;
}

static void add_callers(List *x, const Graph *g, FrameRef frame)
{
	const Run *r = &x->s->run;
	g = principal(r, g);
	for (uint32_t i = 0; r->frames && i < r->program.frames.n; i++) {
		FrameCalls calls = {0};
		report_frame_calls(r, i + 1, &x->l->scratch, &calls);
		for (uint32_t k = 0; k < calls.n; k++)
			if ((g && calls.v[k].graph.i == g->id.i) || (frame && calls.v[k].frame == frame))
				list_add(x, report_call_span(r, i + 1, &calls.v[k]));
	}
}

void lsp_definition(Call *c)
{
	Place p;
	if (!place_find(c->l, c->params, &p)) {
		json_null(c->j);
		return;
	}
	List x = list_new(c, &p);
	const Run *r = &p.snap->run;
	uint32_t k;
	NodeId id = p.graph && p.word.n ? graph_named(r, p.graph, p.word) : (NodeId){0};
	if (id.i) {
		if (output_at(p.graph, p.at, &k))
			add_consumers(&x, p.graph, k);
		if (input_of(p.graph, id, &k) && graph_statement(p.graph, p.at).i == id.i)
			add_producers(&x, p.graph, k);
		list_add(&x, node_name_span(r, p.graph, id));
	} else if (p.frame) {
		add_graphs_named(&x, &p);
		add_callees(&x, &p, str_starts(p.word, S("__resume_at_")));
	} else if (p.word.n) {
		add_graphs_named(&x, &p);
	}
	json_end(c->j);
}

static void add_uses(List *x, const Graph *g, NodeId id, bool declaration)
{
	const Run *r = &x->s->run;
	Str text = source_get(&r->sources, g->file)->text;
	Span own = node_name_span(r, g, id);
	Sym names[2] = {graph_node(g, id)->name, graph_node(g, id)->target};
	uint32_t count = graph_node(g, id)->kind == NK_PLACEHOLDER && names[0].i != names[1].i ? 2 : 1;
	if (declaration)
		list_add(x, own);
	uint32_t end = g->end;
	for (uint32_t i = 1; i < g->nodes.n; i++)
		end = g->nodes.v[i].end > end ? g->nodes.v[i].end : end;
	for (uint32_t i = 0; i < g->outputs.n; i++)
		end = g->outputs.v[i].end > end ? g->outputs.v[i].end : end;
	for (uint32_t i = 0; i < count; i++) {
		Str name = name_of(r, names[i]);
		if (!name.n)
			continue;
		for (uint32_t at = word_next(text, name, g->at, end); at < end; at = word_next(text, name, at + 1, end))
			if (at != own.at && !(at && text.p[at - 1] == '.'))
				list_add(x, (Span){g->file, at, at + name.n});
	}
}

void lsp_references(Call *c)
{
	Place p;
	if (!place_find(c->l, c->params, &p)) {
		json_null(c->j);
		return;
	}
	List x = list_new(c, &p);
	const Run *r = &p.snap->run;
	bool declaration = json_in_bool(json_in_path(c->params, "context", "includeDeclaration", NULL), true);
	NodeId id = p.graph && p.word.n ? graph_named(r, p.graph, p.word) : (NodeId){0};
	uint32_t k;
	if (id.i) {
		add_uses(&x, p.graph, id, declaration);
		if (input_of(p.graph, id, &k))
			add_producers(&x, p.graph, k);
		for (k = 0; k < p.graph->outputs.n; k++)
			if (p.graph->outputs.v[k].arg.kind == AR_NODE && p.graph->outputs.v[k].arg.u.node.i == id.i)
				add_consumers(&x, p.graph, k);
	} else {
		const Graph *g = on_header(&p) ? p.graph : NULL;
		Sym s = p.word.n ? sym_find(r->program.names, p.word) : (Sym){0};
		for (uint32_t i = 1; !g && s.i && i < r->program.graphs.n; i++)
			if (r->program.graphs.v[i]->name.i == s.i && same_process(&p, r->program.graphs.v[i]->file, r->program.graphs.v[i]->process))
				g = r->program.graphs.v[i];
		if (g && declaration)
			list_add(&x, graph_span(principal(r, g)));
		add_callers(&x, g, g ? 0 : p.frame);
	}
	json_end(c->j);
}

/* ---- symbols: kinds of LSP ---- */

enum { SYMBOL_MODULE = 2, SYMBOL_FUNCTION = 12, SYMBOL_VARIABLE = 13, SYMBOL_FIELD = 8 };

static void put_symbol(Call *c, Snapshot *s, Str name, Str detail, int kind, Span whole, Span at)
{
	LspServer *l = c->l;
	put_str(c->j, S("name"), name.n ? name : S("(unnamed)"));
	put_int(c->j, S("kind"), kind);
	if (l->client.hierarchical) {
		put_str(c->j, S("detail"), detail);
		json_key(c->j, S("range"));
		put_range(l, s, c->j, whole);
		json_key(c->j, S("selectionRange"));
		put_range(l, s, c->j, at);
	} else {
		json_key(c->j, S("location"));
		put_location(l, s, c->j, whole);
	}
}

static Str frame_title(Call *c, const Run *r, const Frame *f)
{
	return str_printf(&c->l->scratch, STR_FMT " (%s)", STR_ARG(name_of(r, f->name)), f->modified ? "modified" : "original");
}

static bool is_value(const Graph *g, uint32_t i)
{
	return graph_node(g, (NodeId){i})->name.i != 0;
}

static void put_values(Call *c, Snapshot *s, const Graph *g)
{
	const Run *r = &s->run;
	json_key(c->j, S("children"));
	json_array(c->j);
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		if (!is_value(g, i))
			continue;
		NodeId id = {i};
		const Node *n = graph_node(g, id);
		json_object(c->j);
		put_symbol(c, s, node_label(r, g, id), name_of(r, n->target), n->kind == NK_PLACEHOLDER ? SYMBOL_FIELD : SYMBOL_VARIABLE,
		           node_span(g, id), node_name_span(r, g, id));
		json_end(c->j);
	}
	json_end(c->j);
}

/* In a dump with very many values the outline is that of graphs and frames. */
static bool values_fit(const Run *r, const Region *v, uint32_t n)
{
	uint64_t values = 0;
	for (uint32_t i = 0; i < n; i++)
		if (v[i].graph.i)
			values += graph_get(&r->program, v[i].graph)->nodes.n;
	return values <= VALUES_MOST;
}

void lsp_document_symbols(Call *c)
{
	Place p;
	const Region *v;
	json_array(c->j);
	if (place_file(c->l, c->params, &p)) {
		const Run *r = &p.snap->run;
		uint32_t n = snapshot_regions(p.snap, p.file->id, &v);
		bool values = c->l->client.hierarchical && values_fit(r, v, n);
		for (uint32_t i = 0; i < n; i++) {
			Span whole = {p.file->id, v[i].at, v[i].end};
			json_object(c->j);
			if (v[i].graph.i) {
				const Graph *g = graph_get(&r->program, v[i].graph);
				put_symbol(c, p.snap, name_of(r, g->name), stage_name(g->stage), SYMBOL_MODULE, whole, graph_span(g));
				if (values)
					put_values(c, p.snap, g);
			} else {
				const Frame *f = &r->program.frames.v[v[i].frame - 1];
				put_symbol(c, p.snap, frame_title(c, r, f), name_of(r, f->file), SYMBOL_FUNCTION, whole,
				           frame_span(r, v[i].frame));
			}
			json_end(c->j);
		}
	}
	json_end(c->j);
}

/* ---- symbols of everything ---- */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* Letters of the query in their order, as pickers of symbols match. */
static bool fits(Str name, Str query)
{
	uint32_t q = 0;
	for (uint32_t i = 0; i < name.n && q < query.n; i++)
		if (lower(name.p[i]) == lower(query.p[q]))
			q++;
	return q == query.n;
}

static bool put_found(Call *c, Snapshot *s, Str name, int kind, Span at, Str container, uint32_t *count)
{
	if (*count >= SYMBOLS_MOST)
		return false;
	++*count;
	json_object(c->j);
	put_str(c->j, S("name"), name);
	put_int(c->j, S("kind"), kind);
	put_str(c->j, S("containerName"), container);
	json_key(c->j, S("location"));
	put_location(c->l, s, c->j, at);
	json_end(c->j);
	return true;
}

static void find_in(Call *c, Snapshot *s, Str query, bool values, uint32_t *count)
{
	const Run *r = &s->run;
	for (uint32_t i = 1; i < r->program.graphs.n; i++) {
		const Graph *g = r->program.graphs.v[i];
		Str name = name_of(r, g->name);
		if (!values && fits(name, query))
			put_found(c, s, name, SYMBOL_MODULE, graph_span(g), stage_name(g->stage), count);
		for (uint32_t k = 1; values && k < g->nodes.n && *count < SYMBOLS_MOST; k++)
			if (is_value(g, k) && fits(node_label(r, g, (NodeId){k}), query))
				put_found(c, s, node_label(r, g, (NodeId){k}), SYMBOL_VARIABLE, node_name_span(r, g, (NodeId){k}), name, count);
	}
	for (uint32_t i = 0; i < r->program.frames.n && !values; i++) {
		const Frame *f = &r->program.frames.v[i];
		if (fits(name_of(r, f->name), query))
			put_found(c, s, frame_title(c, r, f), SYMBOL_FUNCTION, frame_span(r, i + 1), name_of(r, f->file), count);
	}
}

/* Graphs and frames first: of values there may be more than are shown. */
void lsp_workspace_symbols(Call *c)
{
	Str query = json_in_str(json_in_get(c->params, "query"));
	uint32_t count = 0;
	json_array(c->j);
	for (int values = 0; values < 2; values++)
		for (uint32_t i = 0; i < c->l->units.n; i++) {
			Unit *u = c->l->units.v[i];
			Snapshot *s = u->used ? unit_snapshot(u) : NULL;
			if (s && (!values || query.n))
				find_in(c, s, query, values, &count);
		}
	json_end(c->j);
}

/* ---- calls ---- */

/* data: unit, and the number of a graph or a frame in the analysis that was answered from. */
static void put_item(Call *c, uint32_t unit, Snapshot *s, GraphId graph, FrameRef frame)
{
	const Run *r = &s->run;
	const Graph *g = graph_get(&r->program, graph);
	Span at = g ? graph_span(g) : frame_span(r, frame);
	json_object(c->j);
	put_str(c->j, S("name"), g ? name_of(r, g->name) : frame_title(c, r, &r->program.frames.v[frame - 1]));
	put_int(c->j, S("kind"), g ? SYMBOL_MODULE : SYMBOL_FUNCTION);
	put_str(c->j, S("uri"), span_uri(s, at));
	json_key(c->j, S("range"));
	put_range(c->l, s, c->j, at);
	json_key(c->j, S("selectionRange"));
	put_range(c->l, s, c->j, at);
	json_key(c->j, S("data"));
	json_object(c->j);
	put_int(c->j, S("unit"), unit);
	put_int(c->j, S("run"), c->l->units.v[unit]->runs);
	put_int(c->j, S("graph"), graph.i);
	put_int(c->j, S("frame"), frame);
	json_end(c->j);
	json_end(c->j);
}

static uint32_t unit_number(const LspServer *l, const Unit *u)
{
	uint32_t i = 0;
	while (l->units.v[i] != u)
		i++;
	return i;
}

void lsp_prepare_calls(Call *c)
{
	Place p;
	json_array(c->j);
	if (place_find(c->l, c->params, &p)) {
		const Program *prog = &p.snap->run.program;
		uint32_t unit = unit_number(c->l, p.unit);
		GraphId graph = {0};
		Sym s = p.word.n ? sym_find(prog->names, p.word) : (Sym){0};
		for (uint32_t i = 1; s.i && i < prog->graphs.n && !graph.i; i++)
			if (prog->graphs.v[i]->name.i == s.i && !prog->graphs.v[i]->printing_of.i &&
			    same_process(&p, prog->graphs.v[i]->file, prog->graphs.v[i]->process))
				graph = (GraphId){i};
		if (!graph.i && p.graph)
			graph = principal(&p.snap->run, p.graph)->id;
		if (graph.i || p.frame)
			put_item(c, unit, p.snap, graph, graph.i ? 0 : p.frame);
	}
	json_end(c->j);
}

/* The item of a request; false when the analysis it came from is gone. */
static bool item_of(Call *c, uint32_t *unit, Snapshot **s, GraphId *graph, FrameRef *frame)
{
	const JsonIn *d = json_in_path(c->params, "item", "data", NULL);
	int64_t u, run, g, f;
	if (!json_in_int(json_in_get(d, "unit"), &u) || !json_in_int(json_in_get(d, "run"), &run) ||
	    !json_in_int(json_in_get(d, "graph"), &g) || !json_in_int(json_in_get(d, "frame"), &f))
		return false;
	if (u < 0 || u >= c->l->units.n || !c->l->units.v[u]->used || c->l->units.v[u]->runs != run)
		return false;
	*unit = (uint32_t)u;
	*s = unit_snapshot(c->l->units.v[u]);
	if (!*s || g < 0 || g >= (*s)->run.program.graphs.n || f < 0 || f > (*s)->run.program.frames.n || (!g == !f))
		return false;
	*graph = (GraphId){(uint32_t)g};
	*frame = (FrameRef)f;
	return true;
}

static void put_call(Call *c, uint32_t unit, Snapshot *s, Str key, GraphId graph, FrameRef frame, Span at)
{
	json_object(c->j);
	json_key(c->j, key);
	put_item(c, unit, s, graph, frame);
	json_key(c->j, S("fromRanges"));
	json_array(c->j);
	put_range(c->l, s, c->j, at);
	json_end(c->j);
	json_end(c->j);
}

void lsp_incoming_calls(Call *c)
{
	uint32_t unit;
	Snapshot *s;
	GraphId graph;
	FrameRef frame;
	json_array(c->j);
	if (item_of(c, &unit, &s, &graph, &frame) && s->run.frames) {
		const Run *r = &s->run;
		for (uint32_t i = 0; i < r->program.frames.n; i++) {
			FrameCalls calls = {0};
			report_frame_calls(r, i + 1, &c->l->scratch, &calls);
			for (uint32_t k = 0; k < calls.n; k++)
				if ((graph.i && calls.v[k].graph.i == graph.i) || (frame && calls.v[k].frame == frame))
					put_call(c, unit, s, S("from"), (GraphId){0}, i + 1, report_call_span(r, i + 1, &calls.v[k]));
		}
	}
	json_end(c->j);
}

void lsp_outgoing_calls(Call *c)
{
	uint32_t unit;
	Snapshot *s;
	GraphId graph;
	FrameRef frame;
	json_array(c->j);
	if (item_of(c, &unit, &s, &graph, &frame) && s->run.frames && frame) {
		const Run *r = &s->run;
		FrameCalls calls = {0};
		report_frame_calls(r, frame, &c->l->scratch, &calls);
		for (uint32_t k = 0; k < calls.n; k++)
			if (calls.v[k].graph.i || calls.v[k].frame)
				put_call(c, unit, s, S("to"), calls.v[k].graph, calls.v[k].graph.i ? 0 : calls.v[k].frame,
				         report_call_span(r, frame, &calls.v[k]));
	} else if (graph.i) { /* bodies that it calls */
		const Graph *g = graph_get(&s->run.program, graph);
		for (uint32_t k = 0; k < g->children.n; k++)
			if (g->children.v[k].graph.i)
				put_call(c, unit, s, S("to"), g->children.v[k].graph, 0, graph_span(g));
	}
	json_end(c->j);
}
