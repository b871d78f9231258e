/* SPDX-License-Identifier: MIT */
#include "frame_graph.h"

static const Frame *frame_at(const ProgramFrames *f, FrameRef r)
{
	return &f->p->frames.v[r - 1];
}

/* ---- versions ---- */

typedef struct Span2 {
	PyVersion lo, hi;
} Span2;

static uint64_t process_key(const Frame *f)
{
	return (uint64_t)f->unit.i << 32 | f->process.i;
}

/* Listings of one process come from one Python: what one shows decides for those that could be of several. */
static void agree_on_python(Program *p, Arena *scratch)
{
	Map by_process = {.a = scratch};
	VEC(Span2) spans = {0};
	for (uint32_t i = 0; i < p->frames.n; i++) {
		const Frame *f = &p->frames.v[i];
		if (!f->code)
			continue;
		uint32_t at = map_get(&by_process, process_key(f));
		if (!at) {
			VEC_PUSH(scratch, &spans, ((Span2){f->code->lo, f->code->hi}));
			map_put(&by_process, process_key(f), at = spans.n);
		}
		Span2 *s = &spans.v[at - 1];
		PyVersion lo = s->lo > f->code->lo ? s->lo : f->code->lo,
				  hi = s->hi < f->code->hi ? s->hi : f->code->hi;
		if (lo <= hi)
			*s = (Span2){lo, hi};
	}
	for (uint32_t i = 0; i < p->frames.n; i++) {
		Frame *f = &p->frames.v[i];
		uint32_t at = f->code ? map_get(&by_process, process_key(f)) : 0;
		if (at)
			code_set_python(f->code, spans.v[at - 1].lo, spans.v[at - 1].hi);
	}
}

/* ---- places ---- */

static bool is_jump(const Ins *i)
{
	return i->row->op == OP_JUMP_FORWARD || i->row->op == OP_JUMP_ABSOLUTE;
}

/* Where the dead copy begins: its own RESUME, the second one; up to 3.10 behind the jump, or behind the raise of the
 * template where a context manager is entered again. */
static uint32_t dead_copy(const Code *c, uint32_t jump, uint32_t target)
{
	if (c->python >= 311) {
		bool seen = false;
		for (uint32_t i = 0; i < c->n; i++)
			if (c->ins[i].row->op == OP_RESUME) {
				if (seen)
					return i;
				seen = true;
			}
		return INS_NONE;
	}
	uint32_t start = jump + 1;
	for (uint32_t i = 0; i < c->n && i < jump; i++)
		if (c->ins[i].row->op == OP_SETUP_WITH || c->ins[i].row->op == OP_SETUP_FINALLY) {
			for (uint32_t k = jump; k < target; k++)
				if (c->ins[k].row->op == OP_RAISE_VARARGS)
					return k + 1;
		}
	return start;
}

static bool is_conditional(const Ins *i)
{
	return i->row->act == ACT_JUMP_IF || i->row->act == ACT_JUMP_OR_POP;
}

ResumePlace resume_place(const Code *c)
{
	ResumePlace p = {0};
	uint32_t jump = 0;
	while (jump < c->n && !is_jump(&c->ins[jump]))
		jump++;
	if (jump == c->n || c->ins[jump].target == INS_NONE)
		return p;
	uint32_t target = c->ins[jump].target, start = dead_copy(c, jump, target);
	if (start == INS_NONE || start >= c->n || c->ins[start].offset > c->ins[target].offset)
		return p;
	p.known = true;
	p.start = c->ins[start].offset;
	p.distance = c->ins[target].offset - p.start;
	for (uint32_t i = jump + 1; i < target; i++) {
		p.cells += c->ins[i].row->op == OP_MAKE_CELL || c->ins[i].row->op == OP_COPY_FREE_VARS;
		p.jumped |= is_conditional(&c->ins[i]) && c->ins[i].target == target;
	}
	return p;
}

/* ---- partners ---- */

static bool same_frame(const Frame *a, const Frame *b)
{
	return sym_eq(a->name, b->name) && sym_eq(a->file, b->file) && a->first_line == b->first_line &&
	       sym_eq(a->process, b->process) && a->unit.i == b->unit.i;
}

static uint64_t frame_key(const Frame *f)
{
	uint64_t h = hash_u64((uint64_t)f->name.i << 32 | f->file.i);
	h = hash_u64(h ^ ((uint64_t)f->first_line << 32 | f->process.i));
	return hash_u64(h ^ f->unit.i) | 1;
}

/* A MODIFIED record belongs to the last ORIGINAL of the same frame before it that has none yet, of the same compile id. */
static void find_partners(ProgramFrames *f, Arena *scratch)
{
	Map open = {.a = scratch};
	for (uint32_t i = 0; i < f->p->frames.n; i++) {
		const Frame *me = &f->p->frames.v[i];
		if (!me->modified) {
			map_put(&open, frame_key(me), i + 1);
			continue;
		}
		FrameRef original = map_get(&open, frame_key(me));
		if (!original || !same_frame(me, frame_at(f, original)) ||
		    !sym_eq(me->compile_id, frame_at(f, original)->compile_id))
			continue;
		f->partner[i] = original;
		if (!f->partner[original - 1])
			f->partner[original - 1] = i + 1;
	}
}

/* ---- graphs ---- */

static uint64_t graph_key(Sym name, FileId unit, Sym process)
{
	return hash_u64(hash_u64((uint64_t)name.i << 32 | process.i) ^ unit.i) | 1;
}

/* The graph's own name within "pre insert_deferred_runtime_asserts __compiled_fn_2". */
static Str last_word(Str s)
{
	uint32_t at = s.n;
	while (at && s.p[at - 1] != ' ')
		at--;
	return str_sub(s, at, s.n);
}

static void index_graphs(ProgramFrames *f)
{
	f->graphs = (Map){.a = f->a};
	f->next_graph = NEW_N(f->a, uint32_t, f->p->graphs.n + 1);
	for (uint32_t i = f->p->graphs.n; i-- > 1;) {
		const Graph *g = f->p->graphs.v[i];
		Sym name = sym_find(f->p->names, last_word(sym_str(f->p->names, g->name)));
		if (sym_none(name) || g->parent.i || !name_is_graph(sym_str(f->p->names, name)))
			continue;
		uint64_t key = graph_key(name, g->unit, g->process);
		f->next_graph[i] = map_get(&f->graphs, key);
		map_put(&f->graphs, key, i);
	}
}

GraphId frames_called_graph(const ProgramFrames *f, FrameRef caller, const LinkEvent *call)
{
	GraphId found = {0};
	if (call->callee != CALLEE_GRAPH)
		return found;
	const Frame *me = frame_at(f, caller);
	for (uint32_t i = map_get(&f->graphs, graph_key(call->name, me->unit, me->process)); i; i = f->next_graph[i]) {
		const Graph *g = f->p->graphs.v[i];
		bool fits = call->starred || g->inputs.n == call->nargs;
		if (fits && !g->printing_of.i && (!found.i || f->p->graphs.v[found.i]->superseded))
			found = (GraphId){i};
	}
	return found;
}

/* ---- resume frames ---- */

Str frame_function(const ProgramFrames *f, FrameRef frame)
{
	return sym_str(f->p->names, f->function[frame - 1]);
}

/* Frames of one function in one process of one dump. */
static uint64_t function_key(const Frame *f, Sym function)
{
	return hash_u64(hash_u64((uint64_t)function.i << 32 | f->process.i) ^ f->unit.i) | 1;
}

/* Keys can collide: whoever follows a chain compares. */
static bool is_of(const ProgramFrames *f, FrameRef candidate, const Frame *caller, Sym function)
{
	const Frame *c = frame_at(f, candidate);
	return sym_eq(f->function[candidate - 1], function) && sym_eq(c->process, caller->process) &&
	       c->unit.i == caller->unit.i;
}

static void index_frames(ProgramFrames *f)
{
	uint32_t n = f->p->frames.n;
	f->resumes = f->named = f->aliases = (Map){.a = f->a};
	f->next_alias = NEW_N(f->a, FrameRef, n);
	f->function = NEW_N(f->a, Sym, n);
	f->next_frame = NEW_N(f->a, FrameRef, n);
	for (uint32_t i = n; i-- > 0;) {
		const Frame *me = &f->p->frames.v[i];
		Str inner;
		bool resumes = name_is_resume_code(sym_str(f->p->names, me->name), &inner);
		f->function[i] = resumes ? sym_intern(f->p->names, inner) : me->name;
		if (me->modified)
			continue;
		if (me->alias.i) {
			uint64_t key = function_key(me, me->alias);
			f->next_alias[i] = map_get(&f->aliases, key);
			map_put(&f->aliases, key, i + 1);
		}
		Map *chains = resumes ? &f->resumes : &f->named;
		uint64_t key = function_key(me, f->function[i]);
		f->next_frame[i] = map_get(chains, key);
		map_put(chains, key, i + 1);
	}
}

static uint32_t distance(uint64_t a, uint64_t b)
{
	return (uint32_t)(a > b ? a - b : b - a);
}

/* P of the frames that a frame calls: where the dead copy of its own ORIGINAL begins, if it is a resume frame. */
static uint32_t base_of(const ProgramFrames *f, FrameRef caller)
{
	const Frame *me = frame_at(f, caller);
	FrameRef original = me->modified ? f->partner[caller - 1] : caller;
	Str inner;
	if (!original || !name_is_resume_code(sym_str(f->p->names, me->name), &inner))
		return 0;
	return f->places[original - 1].start;
}

static ResumeFit fit_offset(const ProgramFrames *f, FrameRef candidate, uint32_t base,
                            uint32_t offset)
{
	enum { NEAR = 4 };
	const ResumePlace *p = &f->places[candidate - 1];
	if (!p->known)
		return FIT_NAME; /* its listing is damaged */
	uint64_t plain = (uint64_t)p->distance + base, with_cells = plain + 2u * p->cells;
	if (plain == offset || with_cells == offset)
		return FIT_EXACT;
	return distance(plain, offset) <= NEAR || distance(with_cells, offset) <= NEAR ? FIT_NEAR
	                                                                               : FIT_NONE;
}

static ResumeFit fit_arm(const ProgramFrames *f, FrameRef candidate, const LinkEvent *call)
{
	const ResumePlace *p = &f->places[candidate - 1];
	if (call->arm == ARM_NONE || !p->known)
		return FIT_NAME;
	return p->jumped == (call->arm == ARM_JUMPS) ? FIT_ARM : FIT_NAME;
}

static ResumeFit fit(const ProgramFrames *f, FrameRef caller, FrameRef candidate,
                     const LinkEvent *call, uint32_t base)
{
	const Frame *c = frame_at(f, candidate), *me = frame_at(f, caller);
	Str callee = sym_str(f->p->names, call->name);
	uint32_t offset;
	if (!is_of(f, candidate, me, f->function[caller - 1]) || !sym_eq(c->file, me->file))
		return FIT_NONE;
	if (name_is_resume(callee, &offset))
		return fit_offset(f, candidate, base, offset);
	return sym_eq(c->name, call->name) ? fit_arm(f, candidate, call) : FIT_NONE;
}

ResumeFit frame_resume_candidates(const ProgramFrames *f, FrameRef caller, const LinkEvent *call,
                                  Arena *a, FrameRefs *out)
{
	uint32_t base = base_of(f, caller);
	ResumeFit best = FIT_NONE;
	const Frame *from = frame_at(f, caller);
	for (FrameRef k = map_get(&f->aliases, function_key(from, call->name)); k; k = f->next_alias[k - 1])
		if (sym_eq(frame_at(f, k)->alias, call->name) && frame_at(f, k)->unit.i == from->unit.i) {
			VEC_PUSH(a, out, k);
			best = FIT_EXACT;
		}
	if (best == FIT_EXACT)
		return best;
	FrameRef i = map_get(&f->resumes, function_key(frame_at(f, caller), f->function[caller - 1]));
	for (; i; i = f->next_frame[i - 1]) {
		ResumeFit got = fit(f, caller, i, call, base);
		if (got > best) {
			best = got;
			out->n = 0;
		}
		if (got == best && got != FIT_NONE)
			VEC_PUSH(a, out, i);
	}
	return best;
}

void frames_named(const ProgramFrames *f, FrameRef caller, Sym name, Arena *a, FrameRefs *out)
{
	const Frame *me = frame_at(f, caller);
	for (FrameRef i = map_get(&f->named, function_key(me, name)); i; i = f->next_frame[i - 1])
		if (is_of(f, i, me, name))
			VEC_PUSH(a, out, i);
}

/* ---- all ---- */

/* Does a run of one do what a run of the other does? Equal listings have the same instructions (Program.arrays). */
static bool same_code(const Code *a, const Code *b)
{
	if (a->ins != b->ins || a->n != b->n || a->nguards != b->nguards || a->nvars != b->nvars || a->nfree != b->nfree ||
	    a->python != b->python || a->incomplete != b->incomplete || a->truncated != b->truncated)
		return false;
	for (uint32_t i = 0; i < a->nguards; i++) {
		const Guard *x = &a->guards[i], *y = &b->guards[i];
		if (x->from != y->from || x->end != y->end || x->target != y->target || x->depth != y->depth || x->lasti != y->lasti)
			return false;
	}
	for (uint32_t i = 0; i < a->nvars; i++) {
		const CodeVar *x = &a->vars[i], *y = &b->vars[i];
		if (!sym_eq(x->name, y->name) || x->index != y->index || x->deref != y->deref || x->cell != y->cell ||
		    x->made != y->made || x->free != y->free)
			return false;
	}
	return true;
}

/* A frame with the code of one that was run before has its events and terms, at its own place. */
static FrameLinks *links_of(ProgramFrames *f, uint32_t i, Map *by_code, const LinkLimits *limits, Arena *scratch)
{
	const Code *code = f->p->frames.v[i].code;
	uint64_t key = hash_u64((uintptr_t)code->ins) | 1;
	uint32_t before = map_get(by_code, key);
	if (before && same_code(f->links[before - 1]->code, code)) {
		FrameLinks *same = NEW(f->a, FrameLinks);
		*same = *f->links[before - 1];
		same->code = code;
		return same;
	}
	if (!before)
		map_put(by_code, key, i + 1);
	return frame_links(code, f->p->names, f->p->texts, limits, f->a, scratch);
}

ProgramFrames *frames_link(Program *p, const LinkLimits *limits, Arena *keep, Arena *scratch)
{
	ProgramFrames *f = NEW(keep, ProgramFrames);
	uint32_t n = p->frames.n;
	*f = (ProgramFrames){.a = keep,
	                     .p = p,
	                     .links = NEW_N(keep, FrameLinks *, n),
	                     .places = NEW_N(keep, ResumePlace, n),
	                     .partner = NEW_N(keep, FrameRef, n)};
	ArenaMark mark = arena_mark(scratch);
	agree_on_python(p, scratch);
	find_partners(f, scratch);
	arena_rewind(scratch, mark);
	index_graphs(f);
	index_frames(f);
	Map by_code = {.a = scratch};
	for (uint32_t i = 0; i < n; i++) {
		const Frame *me = &p->frames.v[i];
		if (!me->code)
			continue;
		budget_pulse(scratch->budget);
		if (me->modified || !f->partner[i])
			f->links[i] = links_of(f, i, &by_code, limits, scratch);
		if (!me->modified)
			f->places[i] = resume_place(me->code);
	}
	arena_rewind(scratch, mark);
	return f;
}

/* ---- dump ---- */

static void dump_heading(const ProgramFrames *f, const Frame *me, Buf *out)
{
	const Names *names = f->p->names;
	buf_printf(out, "== " STR_FMT " line %u [", STR_ARG(sym_str(names, me->name)), me->first_line);
	if (sym_none(me->compile_id))
		buf_add(out, S("None"));
	else
		buf_add(out, sym_str(names, me->compile_id));
	if (me->attempt)
		buf_printf(out, "_%u", me->attempt);
	buf_add(out, S("] vars {"));
	bool first = true;
	for (uint32_t i = 0; me->code && i < me->code->nvars; i++) {
		const CodeVar *v = &me->code->vars[i];
		if (v->deref || v->cell)
			continue;
		buf_printf(out, "%s%u: '" STR_FMT "'", first ? "" : ", ", v->index,
		           STR_ARG(sym_str(names, v->name)));
		first = false;
	}
	buf_add(out, S("}\n"));
}

/* Lines as they are printed: what the dump quotes may have newlines. */
static void dump_line(Str s, Buf *out)
{
	buf_add(out, S("   "));
	for (uint32_t i = 0; i < s.n; i++)
		if (s.p[i] == '\n')
			buf_add(out, S("\\n"));
		else
			buf_char(out, s.p[i]);
	buf_char(out, '\n');
}

static void dump_links(const FrameLinks *l, Buf *out)
{
	for (uint32_t i = 0; i < l->events.n; i++)
		if (!l->events.v[i].beyond)
			dump_line(l->events.v[i].line, out);
	if (l->stopped.n)
		buf_printf(out, "-- not followed from instruction %u on: " STR_FMT "\n", l->stopped_at,
		           STR_ARG(l->stopped));
	if (l->bounded)
		buf_printf(out, "-- bounded: %u paths, the rest was not followed\n", l->paths);
}

void frames_dump(const ProgramFrames *f, Buf *out)
{
	for (uint32_t i = 0; i < f->p->frames.n; i++) {
		const Frame *me = &f->p->frames.v[i];
		if (!me->modified)
			continue;
		dump_heading(f, me, out);
		if (f->links[i])
			dump_links(f->links[i], out);
	}
}
