/* SPDX-License-Identifier: MIT
 * sim_pattern: for which arguments the text of a record holds. Dynamo makes one input of arguments that are one object, and
 * constants of numbers. */
#include "frame_links.h"
#include "quoted.h"
#include "sim_host.h"
#include "sim_run_priv.h"

enum { PATTERN_MOST = 256 };

/* How the record uses a value. One of several variables that hold one object stands for all of them; one that is only handed
 * on keeps its name, and so do cells: of two whose contents are loaded, none stands for the other. */
typedef enum Use { USE_SHARED, USE_NONE, USE_CELL } Use;

typedef struct Pattern {
	ProgramRun *r;
	const Entry *e;
	uint32_t prologue, from, end; /* of the original code: instructions that put back the stack; those that the record stands for */
	RefList flat;
	struct {
		uint8_t *v;
		uint32_t n, cap;
	} use; /* parallel to flat: Use */
} Pattern;

static void add(Pattern *p, Ref v, Use use)
{
	VEC_PUSH(p->flat.a, &p->flat.v, v);
	VEC_PUSH(p->flat.a, &p->use, (uint8_t)use);
}

static bool puts_into(const Ins *in, uint32_t var)
{
	switch ((Act)in->row->act) {
	case ACT_STORE:
	case ACT_STORE_LOAD:
	case ACT_STORE_DEREF:
	case ACT_DELETE: return in->var == var;
	case ACT_STORE_STORE: return in->var == var || in->var2 == var;
	default: return false;
	}
}

static bool takes_from(const Ins *in, uint32_t var)
{
	switch ((Act)in->row->act) {
	case ACT_LOAD:
	case ACT_DEREF:
	case ACT_CLOSURE: return in->var == var;
	case ACT_LOAD_LOAD: return in->var == var || in->var2 == var;
	case ACT_STORE_LOAD: return in->var2 == var && in->var != var;
	default: return false;
	}
}

/* Is a variable read, before anything else is put there, in a part of the code? */
static bool is_read(const Code *c, uint32_t var, uint32_t from, uint32_t end)
{
	for (uint32_t i = from; var != INS_NONE && i < end && i < c->n; i++) {
		if (takes_from(&c->ins[i], var))
			return true;
		if (puts_into(&c->ins[i], var))
			return false;
	}
	return false;
}

static bool is_read_as(const Code *c, uint32_t var, Act act)
{
	for (uint32_t i = 0; var != INS_NONE && i < c->n && !puts_into(&c->ins[i], var); i++)
		if (c->ins[i].row->act == act && c->ins[i].var == var)
			return true;
	return false;
}

/* The original instructions that a record stands for: behind the prologue of a resume function, up to where the next one
 * goes on, as its name says. */
static void find_segment(Pattern *p)
{
	const Code *o = p->e->original, *m = p->e->modified;
	uint32_t offset, last = 0;
	p->end = o->n;
	for (uint32_t i = 0; p->e->resume && i < o->n; i++)
		if (o->ins[i].row->act == ACT_JUMP && o->ins[i].target != INS_NONE) {
			p->prologue = i;
			p->from = o->ins[i].target;
			break;
		}
	for (uint32_t i = 0; i < m->n; i++)
		if (m->ins[i].row->act == ACT_GLOBAL && name_is_resume(sym_str(p->r->s.names, m->ins[i].name), &offset) && offset > last)
			last = offset;
	for (uint32_t i = p->from; last && i < p->end; i++)
		if (o->ins[i].offset >= last)
			p->end = i;
}

/* Does the part of the original code that a record stands for not read a variable? */
static bool is_unread(const Pattern *p, Sym name)
{
	const Code *o = p->e->original;
	uint32_t var = o && p->e->modified ? code_var(o, name) : INS_NONE;
	if (!o || !p->e->modified || o->incomplete || o->truncated)
		return false;
	return !is_read(o, var, 0, p->prologue) && !is_read(o, var, p->from, p->end);
}

/* A variable that the record only hands on: of several that hold one object, Dynamo uses the first in place of the others. */
static bool is_unused(const Pattern *p, Sym name)
{
	const Code *m = p->e->modified;
	return is_unread(p, name) && is_read(m, code_var(m, name), 0, m->n);
}

static bool mentions(Str code, Str name)
{
	for (uint32_t at = str_find(code, name, 0); at < code.n; at = str_find(code, name, at + 1)) {
		uint32_t end = at + name.n;
		bool before = at && char_is_ident((unsigned char)code.p[at - 1]);
		if (!before && (end == code.n || !char_is_ident((unsigned char)code.p[end])))
			return true;
	}
	return false;
}

/* Does a graph hold lines of other functions that use the variable, or of which the text is not known? They reach it through
 * its cell, which the frame's own code does not show. */
static bool used_within(const Pattern *p, const Graph *g, Str name)
{
	const Sim *s = &p->r->s;
	bool resume;
	for (uint32_t i = 1; i < g->locs.n; i++) {
		const SrcLoc *l = &g->locs.v[i];
		if (str_eq(run_base(sym_str(s->names, l->function), &resume), p->e->base))
			continue;
		Str code = quoted_line(s->quoted, sym_str(s->names, l->file), l->line);
		if (!code.n || mentions(code, name))
			return true;
	}
	return false;
}

static Use use_of_cell(const Pattern *p, Sym name)
{
	const ProgramRun *r = p->r;
	FrameRef frame = p->e->modified_frame;
	const FrameLinks *l = r->plan->frames && frame ? r->plan->frames->links[frame - 1] : NULL;
	Use used = p->e->modified && is_read_as(p->e->modified, code_var(p->e->modified, name), ACT_DEREF) ? USE_CELL : USE_SHARED;
	if (!l || !r->s.quoted || !is_unread(p, name))
		return used;
	for (uint32_t i = 0; i < l->events.n; i++) {
		const LinkEvent *e = &l->events.v[i];
		if (e->kind != LINK_CALL || e->callee != CALLEE_GRAPH)
			continue;
		const Graph *g = graph_get(r->s.p, frames_called_graph(r->plan->frames, frame, e));
		if (!g || used_within(p, g, sym_str(r->s.names, name)))
			return used;
	}
	return USE_NONE;
}

/* Parts of a value that a frame compiled for it may have named: items, attributes, the cells of a function. */
static void add_parts(Pattern *p, Ref v)
{
	Sim *s = &p->r->s;
	const HeapObj o = *sim_obj(s, v);
	if (o.kind == HK_TENSOR || o.kind == HK_CONST || o.kind == HK_NUMBER || o.kind == HK_CODE)
		return;
	for (uint32_t i = 0; i < o.items.n && p->flat.v.n < PATTERN_MOST; i++)
		add(p, o.items.v[i], USE_SHARED);
	for (uint32_t i = 0; i < o.attrs.n && p->flat.v.n < PATTERN_MOST; i++)
		add(p, o.attrs.v[i].value, USE_SHARED);
	if ((o.kind == HK_CELL || o.kind == HK_METHOD || o.kind == HK_ITER) && o.a)
		add(p, o.a, o.kind == HK_CELL && o.name.i ? use_of_cell(p, o.name) : USE_SHARED);
	if (o.kind == HK_FUNCTION && o.b)
		add(p, o.b, USE_SHARED);
}

/* It reaches its arguments, the cells of its closure, and what existed before the run; arguments of the outermost frame
 * only where they are handed to it. */
uint64_t pattern_of(ProgramRun *r, const Entry *e, const Ref *args, uint32_t n, Ref closure)
{
	Sim *s = &r->s;
	Pattern p = {.r = r, .e = e, .flat = {.a = s->scratch}};
	Map first = {.a = s->scratch};
	uint64_t h = n;
	if (e->original && e->modified)
		find_segment(&p);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t var = e->modified && i < PATTERN_MOST ? code_local(e->modified, i) : INS_NONE;
		add(&p, args[i], var != INS_NONE && is_unused(&p, e->modified->vars[var].name) ? USE_NONE : USE_SHARED);
	}
	if (closure)
		add(&p, closure, USE_SHARED);
	for (uint32_t i = 0; i < s->roots.n && i < PATTERN_MOST; i++)
		if (!sim_obj(s, s->roots.v[i])->argument)
			add(&p, s->roots.v[i], USE_SHARED);
	for (uint32_t i = 0; i < p.flat.v.n; i++) {
		Ref v = p.flat.v.v[i];
		bool used = v && p.use.v[i] != USE_NONE;
		uint32_t at = used ? map_get(&first, v) : 0;
		if (used && !at)
			map_put(&first, v, i + 1);
		const HeapObj o = v ? *sim_obj(s, v) : (HeapObj){0};
		bool same = at && !(p.use.v[i] == USE_CELL && p.use.v[at - 1] == USE_CELL);
		h = run_mix(h, o.kind == HK_TENSOR ? (same ? at : i + 1) : 1000u + o.kind);
		if (o.kind == HK_NUMBER && used)
			h = run_mix(h, o.term.i);
		if (used && !at && p.flat.v.n < PATTERN_MOST)
			add_parts(&p, v);
	}
	if (e->modified)
		s->steps += (uint64_t)(n < PATTERN_MOST ? n : PATTERN_MOST) * e->modified->n / 64;
	return h;
}
