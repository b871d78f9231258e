/* SPDX-License-Identifier: MIT
 * GL601: where and why frames broke. */
#include "check_breaks.h"

static const BreakCause causes[] = {
#define BREAK_CAUSE(needle, host, words, advice) {STR_INIT(needle), host, STR_INIT(words), STR_INIT(advice)},
#include "break_causes.def"
#undef BREAK_CAUSE
};

static const BreakCause *cause_in(Str text)
{
	for (uint32_t i = 0; text.n && i < sizeof causes / sizeof *causes; i++)
		if (str_has(text, causes[i].needle))
			return &causes[i];
	return NULL;
}

static const BreakCause *cause_of(const BreakRecord *r)
{
	const BreakCause *c = cause_in(r->reason);
	c = c ? c : cause_in(r->explanation);
	return c ? c : cause_in(r->second);
}

static uint64_t place_key(FileId file, Sym process, Str path, uint32_t line)
{
	uint64_t h = hash_bytes((uint64_t)file.i << 32 | process.i, path.p, path.n);
	return hash_u64(h ^ line) | 1;
}

bool check_has_bytecode(const CheckCtx *c, FileId file, Sym process)
{
	for (uint32_t i = 0; i < c->p->frames.n; i++)
		if (c->p->frames.v[i].dump.i == file.i && sym_eq(c->p->frames.v[i].process, process))
			return true;
	return false;
}

static void add_record(const CheckCtx *c, BreaksSeen *out, Map *at, const Artifact *art, const BreakRecord *r, Arena *a)
{
	BreakSeen s = {.r = *r, .span = {art->file, art->at, art->end}, .file = art->file, .count = 1, .cause = cause_of(r),
	               .process = sym_intern(c->p->names, art->process), .compile_id = sym_intern(c->p->names, art->compile_id)};
	uint64_t key = place_key(s.file, s.process, r->place.file, r->place.line);
	uint32_t k = r->place.file.n ? map_get(at, key) : 0;
	if (!k) {
		VEC_PUSH(a, &out->v, s);
		if (r->place.file.n)
			map_put(at, key, out->v.n);
		return;
	}
	BreakSeen *first = &out->v.v[k - 1];
	bool says_more = !first->r.reason.n && r->reason.n;
	s.count = first->count + !says_more; /* 2.6 prints a record without a reason before the one with it */
	if (says_more)
		*first = s;
	first->count = s.count;
}

void check_breaks_read(const CheckCtx *c, BreaksSeen *out, Arena *a)
{
	Map at = {.a = a};
	for (uint32_t i = 1; i < c->artifacts->v.n; i++) {
		const Artifact *art = &c->artifacts->v.v[i];
		BreakRecord r;
		if (art->kind != ART_GRAPH_BREAK)
			continue;
		ArenaMark mark = arena_mark(c->scratch);
		Text text = artifact_text(art, c->src, c->scratch);
		bool read = read_break(&text, c->keep, &r);
		if (a != c->scratch)
			arena_rewind(c->scratch, mark);
		if (read)
			add_record(c, out, &at, art, &r, a);
	}
}

/* ---- what is left uncompiled ---- */

typedef struct FrameFate {
	bool listed, modified, resumes;
} FrameFate;

typedef struct Fates {
	Map at;
	VEC(FrameFate) v;
} Fates;

static uint64_t fate_key(FileId file, Sym process, Sym compile_id)
{
	return hash_u64(hash_u64((uint64_t)file.i << 32 | process.i) ^ compile_id.i) | 1;
}

static bool calls_resume(const CheckCtx *c, uint32_t frame)
{
	const FrameLinks *l = c->frames ? c->frames->links[frame] : NULL;
	for (uint32_t i = 0; l && i < l->events.n; i++)
		if (l->events.v[i].kind == LINK_CALL && l->events.v[i].callee == CALLEE_RESUME)
			return true;
	return false;
}

/* What the bytecode says of each frame that was compiled. */
static void find_fates(const CheckCtx *c, Fates *f)
{
	f->at.a = c->scratch;
	for (uint32_t i = 0; i < c->p->frames.n; i++) {
		const Frame *frame = &c->p->frames.v[i];
		uint64_t key = fate_key(frame->dump, frame->process, frame->compile_id);
		uint32_t k = map_get(&f->at, key);
		if (!k) {
			VEC_PUSH(c->scratch, &f->v, ((FrameFate){0}));
			map_put(&f->at, key, k = f->v.n);
		}
		f->v.v[k - 1].listed = true;
		f->v.v[k - 1].modified |= frame->modified;
		f->v.v[k - 1].resumes |= frame->modified && calls_resume(c, i);
	}
}

static BreakOutcome outcome_of(const Fates *f, const BreakSeen *s)
{
	uint32_t k = map_get(&f->at, fate_key(s->file, s->process, s->compile_id));
	const FrameFate *fate = k && s->compile_id.i ? &f->v.v[k - 1] : NULL;
	if (s->r.outcome != BREAK_UNKNOWN || !fate)
		return s->r.outcome;
	if (!fate->modified)
		return BREAK_SKIPS_FRAME;
	return fate->resumes ? BREAK_RESUMES : BREAK_UNKNOWN;
}

static Str variant_of(BreakOutcome o)
{
	static const Str words[] = {STR_INIT("reason"), STR_INIT("resumes"), STR_INIT("rest"), STR_INIT("frame")};
	return words[o];
}

/* ---- by records ---- */

static Str last_part(Str path)
{
	uint32_t slash = str_rfind(path, S("/"));
	return slash < path.n ? str_sub(path, slash + 1, path.n) : path;
}

/* F of a function that goes on in F. */
static Str own_function(Str name)
{
	Str inner;
	return name_is_resume_code(name, &inner) ? inner : name;
}

static void place_of(Finding *f, const BreakPlace *p)
{
	f->source = (UserSource){.file = p->file, .line = p->line, .function = own_function(p->function), .code = p->code};
}

static void report_record(const CheckCtx *c, const BreakSeen *s, BreakOutcome outcome)
{
	const BreakPlace *p = &s->r.place;
	Finding *f = check_finding_at(c, CHECK_GL601, SEV_NOTE, s->span);
	Str cause = s->cause ? s->cause->words : s->r.reason;
	f->variant = variant_of(outcome);
	f->certainty = TRI_MUST;
	f->compile_id = sym_str(c->p->names, s->compile_id);
	f->group = cause;
	place_of(f, p);
	diag_var(c->d, f, S("text"), cause);
	if (s->cause)
		diag_var(c->d, f, S("why"), s->cause->advice);
	if (p->file.n)
		diag_varf(c->d, f, S("source"), STR_FMT ":%u", STR_ARG(last_part(p->file)), p->line);
	diag_var(c->d, f, S("what"), own_function(p->function));
	diag_step(c->d, f, ROLE_PLACE, s->span, s->r.reason.n ? s->r.reason : S("the record gives no reason"));
	if (s->r.second.n)
		diag_step(c->d, f, ROLE_PLACE, s->span, s->r.second);
	if (s->count > 1)
		diag_stepf(c->d, f, ROLE_PLACE, s->span, "%u records say so of this line", s->count);
}

/* ---- by bytecode ---- */

/* What records tell: lines of the user's program that their stacks name, frames by compile id, and where there are no
 * compile ids, functions. */
static void note_told(const BreaksSeen *all, Map *told)
{
	for (uint32_t i = 0; i < all->v.n; i++) {
		const BreakSeen *s = &all->v.v[i];
		map_put(told, place_key(s->file, s->process, s->r.place.file, s->r.place.line), 1);
		if (s->compile_id.i)
			map_put(told, fate_key(s->file, s->process, s->compile_id), 1);
		for (uint32_t k = 0; k < s->r.nstack; k++) {
			const BreakPlace *p = &s->r.stack[k];
			map_put(told, place_key(s->file, s->process, p->file, p->line), 1);
			if (!s->compile_id.i)
				map_put(told, place_key(s->file, s->process, own_function(p->function), 0), 1);
		}
	}
}

static bool frame_is_told(const CheckCtx *c, uint32_t frame, const Map *told)
{
	const Frame *f = &c->p->frames.v[frame];
	if (f->compile_id.i)
		return map_get(told, fate_key(f->dump, f->process, f->compile_id));
	return map_get(told, place_key(f->dump, f->process, frame_function(c->frames, frame + 1), 0));
}

/* The line at which a frame breaks: in the name of the resume function (2.4 and later), in the header of its listing (up
 * to 2.2), else that of the call. */
static uint32_t break_line(const CheckCtx *c, uint32_t frame, const LinkEvent *e)
{
	FrameRefs to = {0};
	frame_resume_candidates(c->frames, frame + 1, e, c->scratch, &to);
	for (uint32_t i = 0; i < to.n; i++) {
		const Frame *r = &c->p->frames.v[to.v[i] - 1];
		Str name = sym_str(c->p->names, r->name);
		uint32_t at = str_rfind(name, S("_at_")), line;
		if (at < name.n && str_to_u32(str_sub(name, at + 4, name.n), &line))
			return line;
		if (r->first_line)
			return r->first_line;
	}
	return c->frames->links[frame]->code->ins[e->ins].line;
}

static void report_call(const CheckCtx *c, uint32_t frame, const LinkEvent *e, uint32_t line)
{
	const Frame *of = &c->p->frames.v[frame];
	const Code *code = c->frames->links[frame]->code;
	const Ins *call = &code->ins[e->ins], *load = check_load_before(code, e->ins, e->name);
	Finding *f = check_finding_at(c, CHECK_GL601, SEV_NOTE, ins_span(code, call));
	Str file = sym_str(c->p->names, of->file), function = frame_function(c->frames, frame + 1);
	f->variant = S("bytecode");
	f->certainty = TRI_MUST;
	f->compile_id = sym_str(c->p->names, of->compile_id);
	f->source = (UserSource){.file = file, .line = line, .function = function};
	f->group = function;
	diag_var(c->d, f, S("what"), function);
	if (line && file.n)
		diag_varf(c->d, f, S("source"), STR_FMT ":%u", STR_ARG(last_part(file)), line);
	else if (line)
		diag_varf(c->d, f, S("source"), "line %u", line);
	if (load)
		diag_stepf(c->d, f, ROLE_PLACE, ins_span(code, load), "`" STR_FMT "` goes on behind the break", STR_ARG(sym_str(c->p->names, e->name)));
	diag_step(c->d, f, ROLE_LINK, ins_span(code, call), S("it is called here"));
}

static void breaks_of_frame(const CheckCtx *c, uint32_t frame, Map *told)
{
	const FrameLinks *l = c->frames->links[frame];
	const Frame *of = &c->p->frames.v[frame];
	if (!l || frame_is_told(c, frame, told))
		return;
	for (uint32_t i = 0; i < l->events.n; i++) {
		const LinkEvent *e = &l->events.v[i];
		if (e->kind != LINK_CALL || e->callee != CALLEE_RESUME || e->factory)
			continue;
		ArenaMark mark = arena_mark(c->scratch);
		uint32_t line = break_line(c, frame, e);
		arena_rewind(c->scratch, mark);
		uint64_t key = place_key(of->dump, of->process, sym_str(c->p->names, of->file), line);
		if (map_get(told, key))
			continue;
		map_put(told, key, 1);
		report_call(c, frame, e, line);
	}
}

/* ---- by names in graphs alone ---- */

static void break_of_graph(const CheckCtx *c, const Graph *g, Map *told)
{
	for (uint32_t i = 1; i < g->locs.n; i++) {
		const SrcLoc *l = &g->locs.v[i];
		Str name = sym_str(c->p->names, l->function), inner;
		uint32_t at = str_rfind(name, S("_at_")), line = l->line;
		if (!name_is_resume_code(name, &inner))
			continue;
		if (at < name.n && !str_to_u32(str_sub(name, at + 4, name.n), &line))
			line = l->line;
		uint64_t key = place_key(g->file, g->process, sym_str(c->p->names, l->file), line);
		if (map_get(told, key))
			return;
		map_put(told, key, 1);
		Finding *f = check_finding(c, CHECK_GL601, SEV_NOTE, g, (NodeId){0});
		f->variant = S("name");
		f->certainty = TRI_MUST;
		f->source = (UserSource){.file = sym_str(c->p->names, l->file), .line = line, .function = inner};
		diag_var(c->d, f, S("what"), inner);
		diag_varf(c->d, f, S("source"), STR_FMT ":%u", STR_ARG(last_part(f->source.file)), line);
		check_step(c, f, ROLE_PLACE, g, (NodeId){0}, "the graph is of `" STR_FMT "`, which goes on behind the break", STR_ARG(name));
		return;
	}
}

void check_graph_break(const CheckCtx *c)
{
	BreaksSeen all = {0};
	Fates fates = {0};
	Map told = {.a = c->scratch}, listed = {.a = c->scratch};
	check_breaks_read(c, &all, c->scratch);
	find_fates(c, &fates);
	for (uint32_t i = 0; i < all.v.n; i++)
		report_record(c, &all.v.v[i], outcome_of(&fates, &all.v.v[i]));
	note_told(&all, &told);
	for (uint32_t i = 0; c->frames && i < c->p->frames.n; i++) {
		const Frame *f = &c->p->frames.v[i];
		map_put(&listed, fate_key(f->dump, f->process, (Sym){0}), 1);
		breaks_of_frame(c, i, &told);
	}
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (check_wanted(c, g) && g->stage == STAGE_DYNAMO && !g->parent.i && !map_get(&listed, fate_key(g->file, g->process, (Sym){0})))
			break_of_graph(c, g, &told);
	}
}
