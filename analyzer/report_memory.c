/* SPDX-License-Identifier: MIT */
#include "report_memory.h"

#include "report_common.h"
#include "report_flow.h"

uint32_t memory_root(const MemoryMap *m, uint32_t v)
{
	while (m->root[v] != v) {
		m->root[v] = m->root[m->root[v]];
		v = m->root[v];
	}
	return v;
}

static void join(const MemoryMap *m, uint32_t a, uint32_t b)
{
	a = memory_root(m, a);
	b = memory_root(m, b);
	m->root[a > b ? a : b] = a > b ? b : a;
}

uint32_t memory_input(const MemoryMap *m, const Graph *g, uint32_t i)
{
	return m->first[g->id.i] + i;
}

uint32_t memory_output(const MemoryMap *m, const Graph *g, uint32_t j)
{
	return m->first[g->id.i] + g->inputs.n + j;
}

uint32_t memory_color(const MemoryMap *m, uint32_t value)
{
	return m->color[memory_root(m, value)];
}

static void number_values(MemoryMap *m, Arena *a)
{
	const Program *p = &m->r->program;
	m->first = NEW_N(a, uint32_t, p->graphs.n + 1);
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		m->first[i] = m->n;
		if (report_graph_captured(p, p->graphs.v[i]))
			m->n += p->graphs.v[i]->inputs.n + p->graphs.v[i]->outputs.n;
	}
	m->root = NEW_N(a, uint32_t, m->n + 1);
	m->color = NEW_N(a, uint32_t, m->n + 1);
	for (uint32_t i = 0; i < m->n; i++)
		m->root[i] = i;
}

static void join_graph(MemoryMap *m, const Graph *g, bool *shared)
{
	const Summary *s = m->r->summaries ? m->r->summaries[g->id.i] : NULL;
	const GraphVerdicts *v = report_verdicts(m->r, g);
	for (uint32_t j = 0; s && j < g->outputs.n; j++) {
		AliasKind k = s->outputs[j].kind;
		bool input = k == ALIAS_INPUT || k == ALIAS_VIEW_OF_INPUT, other = k == ALIAS_OUTPUT || k == ALIAS_VIEW_OF_OUTPUT;
		for (uint32_t i = 0; (input || other) && i < s->outputs[j].nof; i++) {
			uint32_t of = s->outputs[j].of[i];
			join(m, memory_output(m, g, j), input ? memory_input(m, g, of) : memory_output(m, g, of));
			shared[memory_output(m, g, j)] = true;
		}
	}
	for (uint32_t i = 0; v && i < v->flows.n; i++) {
		const Graph *to = graph_get(&m->r->program, v->flows.v[i].to);
		if (to && report_graph_captured(&m->r->program, to) && v->flows.v[i].input < to->inputs.n)
			join(m, memory_output(m, g, v->flows.v[i].output), memory_input(m, to, v->flows.v[i].input));
	}
}

MemoryMap memory_map(const Run *r, Arena *a)
{
	const Program *p = &r->program;
	MemoryMap m = {.r = r};
	number_values(&m, a);
	bool *shared = NEW_N(a, bool, m.n + 1);
	for (uint32_t i = 1; i < p->graphs.n; i++)
		if (report_graph_captured(p, p->graphs.v[i]))
			join_graph(&m, p->graphs.v[i], shared);
	for (uint32_t v = 0; v < m.n; v++)
		if (shared[v] && !m.color[memory_root(&m, v)])
			m.color[memory_root(&m, v)] = ++m.ncolors;
	return m;
}
