/* SPDX-License-Identifier: MIT */
#include "sim_run_priv.h"

#include "sim_args.h"
#include "sim_aot.h"
#include "sim_grad.h"
#include "sim_host.h"
#include "sim_rest.h"

enum { MAX_DEPTH = 64, MAX_ENTRIES = 4096, LOOP_ITEMS = 2, LOOP_MOST = 16, MAX_SEEN = 200000, MAX_ACTIVATIONS = 20000 };

/* ---- entries ---- */

/* "f" of torch_dynamo_resume_in_f_at_14, <resume in f>, <graph break in f>, resume_in_f */
Str run_base(Str name, bool *resume)
{
	static const Str marks[] = {STR_INIT("torch_dynamo_resume_in_"), STR_INIT("<resume in "), STR_INIT("<graph break in "),
	                            STR_INIT("resume_in_")};
	for (uint32_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		if (!str_starts(name, marks[i]))
			continue;
		*resume = true;
		Str b = str_sub(name, marks[i].n, name.n);
		uint32_t at = i == 0 ? str_rfind(b, S("_at_")) : str_find_char(b, '>', 0);
		return str_sub(b, 0, at);
	}
	*resume = false;
	return name;
}

static Entry *entry_for(Entries *e, const Frame *f)
{
	for (uint32_t i = e->v.n; f->modified && i-- > 0;) {
		Entry *x = &e->v.v[i];
		bool same = sym_eq(x->name, f->name) && sym_eq(x->file, f->file) && x->first_line == f->first_line &&
		            sym_eq(x->compile_id, f->compile_id);
		if (same && (!x->modified || f->compile_id.i))
			return x;
	}
	return NULL;
}

Entries entries_of(const Program *p, FileId unit, Sym process, Arena *a)
{
	Entries e = {.unit = unit, .process = process};
	for (uint32_t i = 0; i < p->frames.n; i++) {
		const Frame *f = &p->frames.v[i];
		if (f->unit.i != unit.i || !sym_eq(f->process, process) || !f->code || e.v.n == MAX_ENTRIES)
			continue;
		Entry *x = entry_for(&e, f);
		if (!x) {
			Entry n = {.name = f->name, .file = f->file, .first_line = f->first_line, .compile_id = f->compile_id};
			n.base = run_base(sym_str(p->names, f->name), &n.resume);
			VEC_PUSH(a, &e.v, n);
			x = &e.v.v[e.v.n - 1];
		}
		if (f->modified) {
			x->modified = f->code;
			x->modified_frame = i + 1;
			x->parameters = x->resume ? x->parameters : code_parameters(f->code, a);
		} else if (!x->original) {
			x->original = f->code;
			x->original_frame = i + 1;
			x->parameters = code_parameters(f->code, a);
		}
		if (!x->resume && (!f->modified || !x->original))
			x->takes = code_takes(f->code, p->names, a);
	}
	arms_collect(&e, p, a);
	return e;
}

static void die(ProgramRun *r, Str why)
{
	r->out->dead = true;
	r->out->why = why;
	sim_stop(&r->s, why);
}

static Activation *enter(ProgramRun *r, uint32_t entry, const Ref *args, uint32_t n, Ref fn)
{
	Sim *s = &r->s;
	const Entry *e = run_entry(r, entry);
	bool original = false;
	for (uint32_t i = 0; i < r->plan->noriginal; i++)
		original |= r->plan->original[i] == r->activations;
	const Code *code = original ? e->original : e->modified ? e->modified : e->original;
	if (!code)
		code = e->modified;
	if (r->stack.n >= MAX_DEPTH || r->activations >= MAX_ACTIVATIONS || !code) {
		sim_stop(s, S("calls nest too deep"));
		return NULL;
	}
	if (code->incomplete || code->truncated)
		sim_unsure(s, S("a listing that is not complete"));
	VEC_PUSH(r->keep, &r->out->patterns, pattern_of(r, e, args, n, fn)); /* 0: not given */
	VEC_PUSH(r->keep, &r->out->entered, entry);
	Activation *a = NEW(s->a, Activation);
	machine_init(&a->m, code, &sim_host, s, s->a);
	a->entry = entry;
	r->activations++;
	VEC_PUSH(s->a, &r->stack, a);
	s->frame_site = run_mix(entry, r->activations);
	for (uint32_t i = 0; i < n; i++)
		if (args[i])
			machine_set_param(&a->m, i, args[i]);
	return a;
}

static void set_closure(ProgramRun *r, Activation *a, Ref fn)
{
	Sim *s = &r->s;
	if (!fn || sim_obj(s, fn)->kind != HK_FUNCTION || !sim_obj(s, fn)->b)
		return;
	const HeapObj closure = *sim_obj(s, sim_obj(s, fn)->b);
	for (uint32_t i = 0; i < closure.items.n; i++) {
		Ref cell = closure.items.v[i];
		Sym name = sim_obj(s, cell)->name;
		if (!name.i) /* a listing that does not name the last ones does not tell their positions */
			machine_set_free(&a->m, i, cell);
		else if (!machine_set_cell(&a->m, name, cell) && a->m.code->nfree && a->m.code->python >= 313)
			machine_set_local(&a->m, name, cell); /* 3.13: LOAD_FAST of one that is only handed on */
	}
}

/* Of a function that was guessed nothing is known of what stands in its cells; at one place it is the same each time. */
static void guess_cells(ProgramRun *r, Activation *a, const Activation *from)
{
	Sim *s = &r->s;
	const Code *code = a->m.code;
	for (uint32_t i = 0; i < code->nvars; i++) {
		Sym name = code->vars[i].name;
		if (!code->vars[i].free || machine_var(&a->m, name))
			continue;
		uint64_t key = run_mix(run_mix(a->entry, from->entry), run_mix(from->m.at, name.i)) | 1ull << 63;
		Ref cell = map_get(&s->globals, key);
		if (!cell) {
			Ref content = sim_object(s, name, key);
			sim_obj(s, content)->root = sim_obj(s, content)->decorated = true;
			cell = sim_new(s, HK_CELL);
			sim_obj(s, cell)->name = name;
			sim_obj(s, cell)->a = content;
			s->globals.a = s->a;
			map_put(&s->globals, key, cell);
		}
		machine_set_cell(&a->m, name, cell);
	}
}

static void bind_names(ProgramRun *r, Activation *a, const SimCall *c, const FrameArgs *args)
{
	Sim *s = &r->s;
	for (uint32_t i = 0; i < args->nnamed; i++)
		machine_set_local(&a->m, args->names[i], args->named[i]);
	if (args->keywords)
		machine_set_param(&a->m, args->keywords_at, args->keywords);
	if (!c->fn || sim_obj(s, c->fn)->kind != HK_FUNCTION || !sim_obj(s, c->fn)->c)
		return;
	const HeapObj d = *sim_obj(s, sim_obj(s, c->fn)->c); /* defaults of the last parameters: which is not printed */
	if (d.kind == HK_TUPLE && d.items.n && args->n == 0)
		for (uint32_t i = 0; i < d.items.n; i++)
			machine_set_param(&a->m, i, d.items.v[i]);
}

/* Where the original code goes on. Names count in a copy that Dynamo has edited, where some instructions take up to two units
 * more or less: the place takes what the call gives. */
static bool find_rest(ProgramRun *r, const Code *original, uint32_t offset, const SimCall *c, CodeRest *rest, uint32_t *prefix)
{
	static const int32_t shifts[] = {0, -2, 2, -4, 4};
	for (uint32_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
		int64_t at = (int64_t)offset + shifts[i];
		if (at >= 0 && code_rest(original, (uint32_t)at, r->s.a, rest) && rest_fits(&r->s, rest, c->args, c->nargs, prefix))
			return true;
	}
	return false;
}

/* A resume function without a record: Dynamo keeps none of code in which there is nothing to capture. It ran where
 * nothing decided a branch before it, or where all that is left of it is such code. */
static bool run_rest(ProgramRun *r, const Activation *from, const SimCall *c)
{
	Sim *s = &r->s;
	const Entry *e = run_entry(r, from->entry);
	uint32_t offset, prefix;
	CodeRest rest;
	if (!e->original || !name_is_resume(sym_str(s->names, c->name), &offset) || c->nnames ||
	    !find_rest(r, e->original, offset, c, &rest, &prefix) || (from->branched && !rest.quiet))
		return false;
	Activation *a = enter(r, from->entry, c->args, c->nargs, c->fn);
	if (!a)
		return true;
	machine_init(&a->m, e->original, &sim_host, s, s->a);
	rest_start(&a->m, &rest, c->args + prefix);
	set_closure(r, a, c->fn);
	return true;
}

/* Parameters that the call does not give have defaults: numbers, None and the like. */
static void bind_defaults(ProgramRun *r, Activation *a)
{
	Sim *s = &r->s;
	const Code *code = a->m.code;
	CodeRest all;
	if (!code->n || !code_rest(code, code->ins[0].offset, s->scratch, &all))
		return;
	for (uint32_t i = 0; i < all.nlive; i++) {
		Sym name = code->vars[all.live[i]].name;
		if (machine_var(&a->m, name))
			continue;
		Ref v = sim_unknown(s, run_mix(s->frame_site, name.i));
		sim_obj(s, v)->known = true;
		machine_set_local(&a->m, name, v);
	}
}

/* None of the records is what runs. */
static void call_hidden(ProgramRun *r, Activation *caller, const SimCall *c)
{
	Sim *s = &r->s;
	const Ref more[] = {c->fn, c->holder[0], c->holder[1], c->rest, c->map};
	Ref owner = c->keeps_owner ? c->holder[1] : 0, *args = NEW_N(s->scratch, Ref, c->nargs + 6);
	uint32_t n = 0;
	for (uint32_t i = guess_is_module(c); i < c->nargs; i++)
		args[n++] = c->args[i];
	if (guess_is_module(c))
		args[n++] = c->args[0];
	for (uint32_t i = 0; i < sizeof more / sizeof *more; i++)
		if (more[i])
			args[n++] = more[i];
	s->spared = owner;
	Ref result = host_hidden(s, sym_str(s->names, c->name), args, n);
	s->spared = 0;
	machine_deliver(&caller->m, result);
}

/* A constructor that is not shown: the object holds what it got, under the names of keywords as dataclasses do. */
static Ref keep_arguments(Sim *s, const SimCall *c)
{
	Ref made = c->args[0];
	for (uint32_t i = 1; i < c->nargs; i++)
		VEC_PUSH(s->a, &sim_obj(s, made)->items, c->args[i]);
	for (uint32_t i = 0; i < c->nnames; i++)
		sim_set_attr(s, made, c->names[i], c->args[c->nargs - c->nnames + i]);
	return made;
}

static void call_frame(ProgramRun *r)
{
	Sim *s = &r->s;
	SimCall c = s->call;
	Activation *caller = r->stack.v[r->stack.n - 1];
	uint32_t entry;
	if (!bind_call(r, caller, &c, &entry)) {
		if (c.resume && run_rest(r, caller, &c))
			return;
		if (c.resume) {
			die(r, S("a resume function without a record: this arm did not run"));
			return;
		}
		if (c.guess == GUESS_INIT)
			machine_deliver(&caller->m, keep_arguments(s, &c));
		else
			call_hidden(r, caller, &c);
		return;
	}
	bind_enter(r, caller->entry, entry, c.args, c.nargs);
	const Entry *e = run_entry(r, entry);
	FrameArgs args = {.v = c.args, .n = c.nargs - c.nnames};
	if (!c.resume)
		args = frame_args(s, &caller->m, e->original, e->modified, e->takes, &c);
	Activation *a = enter(r, entry, args.v, args.n, c.fn);
	if (!a)
		return;
	a->guess = c.guess;
	a->self = guess_is_module(&c) ? c.args[0] : 0;
	a->output = c.guess == GUESS_INIT ? c.args[0] : 0;
	set_closure(r, a, c.fn);
	if (!c.resume)
		guess_cells(r, a, caller);
	bind_names(r, a, &c, &args);
	if (!c.resume)
		bind_defaults(r, a);
}

/* A forward hook of a module sees what its call returned. False: there is none. */
static bool call_hook(ProgramRun *r, const Activation *module, Ref output)
{
	Sim *s = &r->s;
	uint32_t entry, n = 0;
	if ((module->guess != GUESS_MODULE && module->guess != GUESS_FORWARD) || !bind_hook(r, module, output, &entry))
		return false;
	const Entry *e = run_entry(r, entry);
	Ref *args = NEW_N(s->a, Ref, 5), *shown = NEW_N(s->a, Ref, 2);
	if (entry_takes(e) == 4)
		args[n++] = r->self ? r->self : module->self;
	args[n++] = module->self;
	args[n++] = sim_unknown(s, run_mix(s->frame_site, 61));
	args[n++] = output;
	shown[0] = module->self;
	shown[1] = output;
	bind_enter(r, module->entry, entry, shown, 2);
	Activation *a = enter(r, entry, args, n, 0);
	if (!a)
		return true;
	a->guess = GUESS_MODULE;
	a->self = module->self;
	a->output = output;
	guess_cells(r, a, module);
	return true;
}

/* ---- undecided branches ---- */

enum { RAISE_NEAR = 100 };

/* Does code from here on raise, whatever happens? */
static bool surely_raises(const Code *c, uint32_t at)
{
	for (uint32_t n = 0; at < c->n && n < RAISE_NEAR; n++, at++) {
		const Ins *in = &c->ins[at];
		if (in->row->act == ACT_RAISE)
			return true;
		if ((in->row->flags & (OF_JUMP | OF_END)) || in->row->act == ACT_SETUP)
			return false;
	}
	return false;
}

/* A program that was captured does not fail where it need not: the arm that is taken first. */
static bool first_arm(const Machine *m)
{
	const Ins *in = machine_ins(m);
	return in->target != INS_NONE && surely_raises(m->code, m->at + 1) && !surely_raises(m->code, in->target);
}

/* A loop with a break in it goes on in resume functions, each within the one before: how many went before this one. */
static uint32_t rounds_before(const ProgramRun *r, const Activation *a, uint32_t *nbound)
{
	const Entry *e = run_entry(r, a->entry);
	uint32_t n = 0;
	*nbound = 0;
	for (uint32_t k = r->stack.n - 1; e->resume && k-- > 0;) {
		const Activation *outer = r->stack.v[k];
		const Entry *o = run_entry(r, outer->entry);
		if (!str_eq(o->base, e->base) || !sym_eq(o->file, e->file))
			break;
		if (outer->nloops && !n++)
			*nbound = outer->loops[outer->nloops - 1].nbound;
	}
	return n;
}

/* How often is not known: twice, and as long as each time another record ran for the first time. */
static void loop(ProgramRun *r, Activation *a)
{
	uint32_t i = 0;
	while (i < a->nloops && a->loops[i].at != a->m.at)
		i++;
	if (i == a->nloops) {
		if (a->nloops == sizeof a->loops / sizeof *a->loops) {
			machine_choose(&a->m, true);
			return;
		}
		uint32_t before, nbound;
		before = rounds_before(r, a, &nbound);
		a->loops[a->nloops].at = a->m.at;
		a->loops[a->nloops].nbound = nbound;
		a->loops[a->nloops++].taken = before;
	}
	bool more = r->nbound > a->loops[i].nbound && !a->branched;
	bool end = a->loops[i].taken++ >= (more ? LOOP_MOST : LOOP_ITEMS);
	a->loops[i].nbound = r->nbound;
	if (end)
		a->loops[i].taken = 0;
	machine_choose(&a->m, end);
}

static void branch_term(ProgramRun *r, Ref cond)
{
	Sim *s = &r->s;
	TermId t = {0};
	if (cond && cond < s->heap.n) {
		const HeapObj o = *sim_obj(s, cond);
		t = o.kind == HK_TENSOR ? sim_content(s, cond) : o.term;
	}
	VEC_PUSH(r->keep, &r->out->branch_terms, t);
}

/* ---- the loop of one outermost call ---- */

typedef struct Outcome {
	Ref value;
	bool raised;
} Outcome;

static Outcome drive(ProgramRun *r)
{
	Sim *s = &r->s;
	uint32_t floor = r->stack.n - 1;
	for (;;) {
		Activation *a = r->stack.v[r->stack.n - 1];
		const Entry *e = run_entry(r, a->entry);
		(void)e;
		s->frame_site = run_mix(a->entry, r->stack.n * 131 + r->activations);
		uint64_t before = a->m.steps;
		bool jump;
		MachineStatus st = s->stopped ? MS_STOPPED : machine_run(&a->m, 20000);
		s->steps += a->m.steps - before + 1;
		if (s->stopped || s->steps > s->max_steps) {
			if (!s->stopped)
				sim_stop(s, S("the simulation takes too many steps"));
			return (Outcome){0};
		}
		switch (st) {
		case MS_RETURN:
		case MS_RAISE:
			r->stack.n--;
			if (r->stack.n == floor)
				return (Outcome){a->m.value, st == MS_RAISE};
			if (st == MS_RETURN && a->output && host_is_none(s, a->m.value))
				a->m.value = a->output;
			if (st == MS_RETURN && call_hook(r, a, a->m.value))
				break;
			if (st == MS_RETURN)
				machine_deliver(&r->stack.v[r->stack.n - 1]->m, a->m.value);
			else
				machine_throw(&r->stack.v[r->stack.n - 1]->m, a->m.value);
			break;
		case MS_CALL: call_frame(r); break;
		case MS_BRANCH:
			branch_term(r, a->m.value);
			a->branched = true;
			if (!arms_shown(r, a, &jump))
				jump = sim_choose(s, first_arm(&a->m));
			machine_choose(&a->m, jump);
			break;
		case MS_LOOP: loop(r, a); break;
		case MS_LIMIT: break;
		case MS_YIELD: sim_stop(s, S("a generator of the program")); return (Outcome){0};
		case MS_STOPPED: sim_stop(s, a->m.why.n ? a->m.why : S("an instruction that cannot be followed")); return (Outcome){0};
		}
	}
}

/* ---- what is observed ---- */

typedef struct Watch {
	ProgramRun *r;
	Map objects, stores; /* Ref, store -> number of first appearance */
	VEC(Ref) todo;
	VEC(uint64_t) todo_tag;
} Watch;

static void seen(Watch *w, uint64_t tag, TermId term, uint32_t object, uint32_t store)
{
	if (w->r->out->seen.n < MAX_SEEN)
		VEC_PUSH(w->r->keep, &w->r->out->seen, ((Seen){tag, term, object, store}));
}

static void look(Watch *w, Ref v, uint64_t tag)
{
	Sim *s = &w->r->s;
	VEC_PUSH(s->scratch, &w->todo, v);
	VEC_PUSH(s->scratch, &w->todo_tag, tag);
}

static void watch_one(Watch *w, Ref v, uint64_t tag)
{
	Sim *s = &w->r->s;
	if (!v) {
		seen(w, run_mix(tag, 1), (TermId){0}, 0, 0);
		return;
	}
	const HeapObj o = *sim_obj(s, v);
	if (o.kind == HK_NUMBER || o.kind == HK_UNKNOWN || o.kind == HK_CONST || o.kind == HK_NAME || o.kind == HK_CODE) {
		seen(w, run_mix(run_mix(tag, o.kind), o.kind == HK_CONST || o.kind == HK_NAME ? o.name.i : 0), o.term, 0, 0);
		if (o.kind != HK_UNKNOWN || !o.attrs.n)
			return;
	}
	uint32_t number = map_get(&w->objects, v);
	bool again = number != 0;
	if (!again) {
		number = w->objects.n + 1;
		map_put(&w->objects, v, number);
	}
	if (o.kind == HK_TENSOR) {
		uint32_t store = sim_tensor_of(s, v)->store, k = map_get(&w->stores, store);
		if (!k) {
			k = w->stores.n + 1;
			map_put(&w->stores, store, k);
		}
		seen(w, run_mix(tag, 2), sim_content(s, v), number, k);
		return;
	}
	seen(w, run_mix(run_mix(tag, 3), o.kind), (TermId){0}, number, 0);
	if (again)
		return;
	seen(w, run_mix(tag, 4), (TermId){0}, o.items.n, 0);
	for (uint32_t i = o.items.n; i-- > 0;)
		look(w, o.items.v[i], run_mix(tag, 100 + i));
	for (uint32_t i = o.attrs.n; i-- > 0;)
		look(w, o.attrs.v[i].value, run_mix(run_mix(tag, 5), o.attrs.v[i].name.i));
	if (o.kind == HK_CELL)
		look(w, o.a, run_mix(tag, 6));
}

static void watch(Watch *w, Ref v, uint64_t tag)
{
	look(w, v, tag);
	while (w->todo.n) {
		w->todo.n--;
		w->todo_tag.n--;
		watch_one(w, w->todo.v[w->todo.n], w->todo_tag.v[w->todo_tag.n]);
	}
}

/* ---- parameters of outermost frames ---- */

/* A local that is read before it is written is a parameter: its value is the caller's. */
static void outermost_param(ProgramRun *r, Activation *a, uint32_t call, uint8_t *stored, uint32_t var, bool loads)
{
	Sim *s = &r->s;
	const Code *code = a->m.code;
	if (var >= code->nvars || stored[var])
		return;
	stored[var] = 1;
	if (!loads || code->vars[var].free)
		return;
	Sym name = code->vars[var].name;
	Str text = sym_str(s->names, name);
	bool self = str_eq(text, S("self"));
	Ref v = self ? map_get(&r->params, name.i) : 0;
	if (!v) {
		uint64_t origin = run_mix(run_mix(hash_bytes(51, text.p, text.n), self ? 0 : call), 1);
		v = self ? sim_object(s, name, origin) : sim_unknown(s, origin); /* others are tensors more often than not */
		sim_obj(s, v)->root = sim_obj(s, v)->argument = true;
		VEC_PUSH(s->a, &s->roots, v);
		r->params.a = s->a;
		if (self)
			map_put(&r->params, name.i, v);
		if (self && !r->self)
			r->self = v;
	}
	machine_set_local(&a->m, name, v);
}

static void outermost_params(ProgramRun *r, Activation *a, uint32_t call)
{
	Sim *s = &r->s;
	const Code *code = a->m.code;
	uint8_t *stored = NEW_N(s->scratch, uint8_t, code->nvars + 1);
	for (uint32_t i = 0; i < code->n; i++) {
		const Ins *in = &code->ins[i];
		uint32_t act = in->row->act;
		bool first = act == ACT_LOAD || act == ACT_LOAD_LOAD || act == ACT_DEREF || act == ACT_CLOSURE || act == ACT_MAKE_CELL;
		outermost_param(r, a, call, stored, in->var, first);
		outermost_param(r, a, call, stored, in->var2, act == ACT_LOAD_LOAD || act == ACT_STORE_LOAD);
	}
}

/* Cells of closures that the outermost frame came with. */
static void outermost_cells(ProgramRun *r, Activation *a)
{
	Sim *s = &r->s;
	const Code *code = a->m.code;
	for (uint32_t i = 0; i < code->nvars; i++) {
		if (!code->vars[i].free)
			continue;
		Str text = sym_str(s->names, code->vars[i].name);
		uint64_t origin = hash_bytes(52, text.p, text.n);
		s->globals.a = s->a;
		uint64_t key = (1ull << 40) | code->vars[i].name.i;
		Ref cell = map_get(&s->globals, key);
		if (!cell) {
			Ref content = sim_object(s, code->vars[i].name, origin);
			sim_obj(s, content)->root = sim_obj(s, content)->decorated = true;
			cell = sim_new(s, HK_CELL);
			sim_obj(s, cell)->name = code->vars[i].name;
			sim_obj(s, cell)->a = content;
			sim_obj(s, cell)->root = true;
			map_put(&s->globals, key, cell);
			VEC_PUSH(s->a, &s->roots, cell);
		}
		machine_set_cell(&a->m, code->vars[i].name, cell);
	}
}

static void outermost(ProgramRun *r, uint32_t entry, uint32_t call, Watch *w)
{
	Sim *s = &r->s;
	bind_mark(r, entry);
	Activation *a = enter(r, entry, NULL, 0, 0);
	if (!a)
		return;
	a->outermost = true;
	outermost_params(r, a, call);
	outermost_cells(r, a);
	Outcome o = drive(r);
	if (s->stopped)
		return;
	if (o.raised) {
		const HeapObj e = *sim_obj(s, o.value);
		seen(w, run_mix(run_mix(60, call), e.name.i), (TermId){0}, 0, 0);
	}
	VEC_PUSH(s->a, &s->roots, o.value); /* stays observed to the end */
	VEC_PUSH(s->a, &r->returned, o.value);
}

static void observe_end(ProgramRun *r, Watch *w)
{
	Sim *s = &r->s;
	for (uint32_t i = 0; i < s->printed.n; i++)
		seen(w, run_mix(70, i), s->printed.v[i].term, 0, 0);
	for (uint32_t i = 0; i < s->roots.n; i++)
		watch(w, s->roots.v[i], run_mix(71, i));
}

/* What outermost frames returned, containers opened. */
static void finish_gradients(ProgramRun *r)
{
	Sim *s = &r->s;
	RefList out = {.a = s->scratch};
	for (uint32_t i = 0; i < r->returned.n; i++)
		if (r->returned.v[i])
			host_reach(s, r->returned.v[i], &out);
	for (uint32_t i = 0; i < r->plan->entries->v.n; i++) {
		const Entry *e = run_entry(r, i);
		s->aot->tape->module |= !e->resume && !r->parent[i] && str_eq(sym_str(s->names, e->name), S("forward"));
	}
	grad_finish(s, out.v.v, out.v.n);
}

static void run_all(ProgramRun *r)
{
	Sim *s = &r->s;
	Watch w = {.r = r, .objects = {.a = s->scratch}, .stores = {.a = s->scratch}};
	uint32_t n = r->plan->entries->v.n, call = 0;
	for (uint32_t i = 0; i < n && !s->stopped; i++) {
		if (r->bound[i])
			continue;
		if (run_entry(r, i)->resume) { /* its caller is not in the dump, or took another way */
			if (!r->plan->noriginal) /* original code runs to its end without them */
				sim_unsure(s, S("a resume function that nothing in the dump calls"));
			bind_mark(r, i);
			r->out->unexplained++;
			continue;
		}
		/* Entries stand in the order in which they first ran: one that no call led to, before one that ran within a call
		 * that came earlier, was called by something that is not shown (a hook). */
		r->out->unexplained++;
		if (i < r->last_bound) {
			sim_unsure(s, S("a function of the program that code which is not shown calls"));
			continue;
		}
		outermost(r, i, call++, &w);
	}
	if (!s->stopped)
		observe_end(r, &w);
	if (!s->stopped && s->aot)
		finish_gradients(r);
}

RunResult *sim_run(const Sim *base, const RunPlan *plan, Arena *keep)
{
	RunResult *out = NEW(keep, RunResult);
	ProgramRun *r = NEW(base->a, ProgramRun);
	r->s = *base;
	r->plan = plan;
	r->out = out;
	r->keep = keep;
	Sim *s = &r->s;
	s->cut = plan->cut;
	s->assume = plan->assume;
	s->choices.ngiven = plan->nchoices;
	memcpy(s->choices.given, plan->choices, plan->nchoices * sizeof *plan->choices);
	s->aot = plan->aot;
	VEC_PUSH(s->a, &s->heap, ((HeapObj){0}));
	VEC_PUSH(s->a, &s->tensors, ((SimTensor){0}));
	VEC_PUSH(s->a, &s->stores, ((SimStore){0}));
	r->bound = NEW_N(s->a, uint8_t, plan->entries->v.n + 1);
	r->first = NEW_N(s->a, FirstCall, plan->entries->v.n + 1);
	r->parent = NEW_N(s->a, uint32_t, plan->entries->v.n + 1);
	run_all(r);
	for (uint32_t i = 0; s->stopped && i < plan->entries->v.n; i++)
		out->unexplained += !r->bound[i];
	out->stopped = s->stopped && !out->dead;
	out->unsure = s->unsure || terms_limit_hit(s->terms);
	out->hidden = s->hidden_seen;
	out->impossible = s->impossible;
	out->nchoices = s->choices.ntaken;
	memcpy(out->choices, s->choices.taken, sizeof out->choices);
	memcpy(out->other, s->choices.other, sizeof out->other);
	if (s->misfit && s->fields_chosen && !s->stopped) {
		out->dead = true;
		out->why = S("a named tuple whose fields stand otherwise");
	}
	out->cut_made = s->cut_made;
	if (s->stopped && r->stack.n) {
		out->at_code = r->stack.v[r->stack.n - 1]->m.code;
		out->at = r->stack.v[r->stack.n - 1]->m.at;
	}
	out->steps = s->steps;
	if (!out->dead)
		out->why = str_copy(keep, s->why.n ? s->why : s->unsure_why);
	out->why_at = s->why.n ? (Span){0} : s->unsure_at;
	for (uint32_t i = 0; i < s->touches.n; i++) {
		SimTouch t = s->touches.v[i];
		t.what = str_copy(keep, t.what);
		VEC_PUSH(keep, &out->touches, t);
	}
	for (uint32_t i = 0; i < s->flows.n; i++)
		VEC_PUSH(keep, &out->flows, s->flows.v[i]);
	for (uint32_t i = 0; i < s->reshapes.n; i++)
		VEC_PUSH(keep, &out->reshapes, s->reshapes.v[i]);
	for (uint32_t i = 0; i < s->plain_flows.n; i++)
		VEC_PUSH(keep, &out->plain_flows, s->plain_flows.v[i]);
	arena_free(base->inner);
	arena_free(base->scratch);
	arena_free(base->a);
	return out;
}
