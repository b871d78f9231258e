/* SPDX-License-Identifier: MIT
 * sim_arms: which arm of a branch ran, as far as the dump tells: lines of the arm that graphs quote, or at which a resume
 * function begins. Original code that is run in place of a record names all lines of the function. */
#include "sim_run_priv.h"

static uint64_t line_key(Sym file, Str function, uint32_t line)
{
	return hash_bytes(hash_u64((uint64_t)file.i << 32 | line), function.p, function.n) | 1;
}

static void add_line(Entries *e, Sym file, Str function, uint32_t line)
{
	bool resume;
	if (file.i && line)
		map_put(&e->lines, line_key(file, run_base(function, &resume), line), 1);
}

void arms_collect(Entries *e, const Program *p, Arena *a)
{
	e->lines.a = a;
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (g->unit.i != e->unit.i || !sym_eq(g->process, e->process) || g->superseded)
			continue;
		for (uint32_t k = 1; k < g->locs.n; k++)
			add_line(e, g->locs.v[k].file, sym_str(p->names, g->locs.v[k].function), g->locs.v[k].line);
	}
	for (uint32_t i = 0; i < e->v.n; i++)
		if (e->v.v[i].resume)
			add_line(e, e->v.v[i].file, e->v.v[i].base, e->v.v[i].first_line);
}

/* What follows from an instruction on, handlers aside. */
static uint8_t *reached(const Code *c, uint32_t from, Arena *a)
{
	uint8_t *in = NEW_N(a, uint8_t, c->n + 1);
	uint32_t *todo = NEW_N(a, uint32_t, (size_t)c->n + 2), n = 0;
	if (from < c->n)
		in[from] = 1, todo[n++] = from;
	while (n) {
		const Ins *i = &c->ins[todo[--n]];
		uint32_t at = (uint32_t)(i - c->ins);
		uint32_t next[2] = {i->row->flags & OF_END ? INS_NONE : at + 1, i->target};
		for (uint32_t k = 0; k < 2; k++)
			if (next[k] < c->n && !in[next[k]])
				in[next[k]] = 1, todo[n++] = next[k];
	}
	return in;
}

/* Is a line shown of which the one arm has instructions and the other has none? */
static bool is_shown(const ProgramRun *r, const Entry *e, const Code *c, const uint8_t *arm, const uint8_t *other)
{
	uint32_t line = 0;
	Arena *a = r->s.scratch;
	Map others = {.a = a};
	for (uint32_t i = 0; i < c->n; i++) {
		line = c->ins[i].line ? c->ins[i].line : line;
		if (other[i] && line)
			map_put(&others, line, 1);
	}
	line = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		line = c->ins[i].line ? c->ins[i].line : line;
		if (arm[i] && !other[i] && line && !map_get(&others, line) &&
		    map_get(&r->plan->entries->lines, line_key(e->file, e->base, line)))
			return true;
	}
	return false;
}

bool arms_shown(ProgramRun *r, const Activation *a, bool *jump)
{
	const Entry *e = run_entry(r, a->entry);
	const Code *c = a->m.code;
	const Ins *in = &c->ins[a->m.at];
	if (c != e->original || in->target == INS_NONE)
		return false;
	ArenaMark mark = arena_mark(r->s.scratch);
	uint8_t *yes = reached(c, in->target, r->s.scratch), *no = reached(c, a->m.at + 1, r->s.scratch);
	bool jumps = is_shown(r, e, c, yes, no), falls = is_shown(r, e, c, no, yes);
	arena_rewind(r->s.scratch, mark);
	r->s.steps += c->n / 8;
	*jump = jumps;
	return jumps != falls;
}
