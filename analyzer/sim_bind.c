/* SPDX-License-Identifier: MIT
 * sim_bind: which record of a function a call runs. Records stand in the order in which they first ran. */
#include "sim_args.h"
#include "sim_fit.h"
#include "sim_host.h"
#include "sim_run_priv.h"

/* Sizes, strides and numbers of arguments: what guards look at. */
static uint64_t signature(ProgramRun *r, const Ref *args, uint32_t n)
{
	Sim *s = &r->s;
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++) {
		const HeapObj o = *sim_obj(s, args[i]);
		h = run_mix(h, o.kind == HK_UNKNOWN ? HK_OBJECT : o.kind);
		if (o.kind == HK_NUMBER)
			h = run_mix(h, o.known ? (uint64_t)o.num : 1);
		if (o.kind == HK_ITER && o.a && !sim_obj(s, o.a)->opened) /* what is left of it */
			h = run_mix(h, sim_obj(s, o.a)->items.n - (uint64_t)o.num);
		if (o.kind != HK_TENSOR)
			continue;
		const SimTensor *t = sim_tensor_of(s, args[i]);
		for (uint32_t d = 0; t->sized && d < t->ndim; d++)
			h = run_mix(run_mix(h, (uint64_t)t->size[d]), (uint64_t)t->stride[d]);
	}
	return h;
}

static bool compiled_for(ProgramRun *r, uint32_t entry, uint64_t sig)
{
	return r->first[entry].args && signature(r, r->first[entry].args, r->first[entry].n) == sig;
}

/* The call as the link pass saw it, to ask it for the records that fit. */
static const LinkEvent *link_event(const ProgramRun *r, const Activation *a, FrameRef *frame)
{
	const Entry *e = run_entry(r, a->entry);
	*frame = a->m.code == e->modified ? e->modified_frame : e->original_frame;
	const FrameLinks *l = r->plan->frames && *frame ? r->plan->frames->links[*frame - 1] : NULL;
	for (uint32_t i = 0; l && i < l->events.n; i++) {
		const LinkEvent *ev = &l->events.v[i];
		if (ev->kind == LINK_CALL && ev->callee == CALLEE_RESUME && !ev->factory && ev->ins == a->m.at)
			return ev;
	}
	return NULL;
}

/* Marks the entries that a resume call may run. False: the link pass knows nothing of this call. */
static bool resume_fits(ProgramRun *r, const Activation *a, uint8_t *fits)
{
	FrameRef frame;
	FrameRefs found = {0};
	const LinkEvent *ev = link_event(r, a, &frame);
	if (!ev)
		return false;
	frame_resume_candidates(r->plan->frames, frame, ev, r->s.scratch, &found);
	for (uint32_t i = 0; i < r->plan->entries->v.n; i++)
		for (uint32_t k = 0; k < found.n; k++)
			fits[i] |= run_entry(r, i)->original_frame == found.v[k] || run_entry(r, i)->modified_frame == found.v[k];
	return true;
}

uint32_t bind_next(const ProgramRun *r)
{
	uint32_t n = r->plan->entries->v.n, next = 0;
	while (next < n && r->bound[next])
		next++;
	return next;
}

void bind_mark(ProgramRun *r, uint32_t entry)
{
	r->bound[entry] = 1;
	uint32_t next = bind_next(r);
	r->s.next_name = next < r->plan->entries->v.n ? run_entry(r, next)->name : (Sym){0};
}

void bind_enter(ProgramRun *r, uint32_t caller, uint32_t entry, const Ref *args, uint32_t n)
{
	if (r->bound[entry])
		return;
	bind_mark(r, entry);
	r->parent[entry] = caller + 1;
	r->first[entry] = (FirstCall){args, n};
	r->nbound++;
	r->last_bound = entry > r->last_bound ? entry : r->last_bound;
}

/* ---- guesses ---- */

static void mention(ProgramRun *r, const Code *c)
{
	Str name, file;
	uint32_t line;
	for (uint32_t i = 0; c && i < c->n; i++) {
		const Ins *in = &c->ins[i];
		Act act = (Act)in->row->act;
		if (act == ACT_ATTR || act == ACT_GLOBAL || act == ACT_SUPER_ATTR || act == ACT_IMPORT_FROM)
			map_put(&r->mentioned, in->name.i, 1);
		else if (act == ACT_CONST && code_object_parse(ins_repr(c, in), &name, &file, &line))
			map_put(&r->mentioned, sym_intern(r->s.names, name).i, 1);
	}
}

/* Does a listing use this name, so that its function is called by it? */
static bool is_mentioned(ProgramRun *r, Sym name)
{
	if (!r->mentioned.a) {
		r->mentioned.a = r->s.a;
		for (uint32_t i = 0; i < r->plan->entries->v.n; i++) {
			mention(r, run_entry(r, i)->original);
			mention(r, run_entry(r, i)->modified);
		}
	}
	return map_get(&r->mentioned, name.i) != 0;
}

static bool is_forward(const ProgramRun *r, const Entry *e)
{
	Str name = sym_str(r->s.names, e->name);
	return str_eq(name, S("forward")) || str_eq(name, S("__call__"));
}

/* A function within another one: it comes with cells, as what a decorator puts in the place of a function does. */
static bool is_closure(const Entry *e)
{
	const Code *c = e->original ? e->original : e->modified;
	for (uint32_t i = 0; i < c->nvars; i++)
		if (c->vars[i].free || (c->vars[i].deref && c->python < 311))
			return true;
	return c->nfree != 0;
}

static bool has_parameter(const ProgramRun *r, const Entry *e, uint32_t index, Str name)
{
	const Code *c = e->original ? e->original : e->modified;
	for (uint32_t i = 0; i < c->nvars; i++)
		if (c->vars[i].index == index && !c->vars[i].free && str_eq(sym_str(r->s.names, c->vars[i].name), name))
			return true;
	return false;
}

static bool may_be_guessed(ProgramRun *r, const Entry *e, const SimCall *c)
{
	if (e->resume)
		return false;
	switch ((CallGuess)c->guess) {
	case GUESS_INIT: return str_eq(sym_str(r->s.names, e->name), S("__init__"));
	case GUESS_FORWARD: return is_forward(r, e);
	case GUESS_MODULE: return is_forward(r, e) || (is_closure(e) && !is_mentioned(r, e->name));
	case GUESS_CLOSURE: return is_closure(e) && !is_mentioned(r, e->name) && !has_parameter(r, e, 0, S("self"));
	case GUESS_ANY: return is_forward(r, e) || is_closure(e) || !is_mentioned(r, e->name);
	default: return false;
	}
}

/* Did a function run within another one, when each ran first? */
static bool ran_within(const ProgramRun *r, uint32_t entry, uint32_t outer)
{
	for (uint32_t i = entry, n = 0; i != UINT32_MAX && n < r->plan->entries->v.n; i = r->parent[i] - 1, n++)
		if (i == outer)
			return true;
	return false;
}

/* ---- candidates ---- */

/* A function that was made in a frame has the lines of its code. */
static bool is_code_of(ProgramRun *r, const Entry *e, Ref fn)
{
	Ref code = fn && sim_obj(&r->s, fn)->kind == HK_FUNCTION ? sim_obj(&r->s, fn)->a : 0;
	if (!code || sim_obj(&r->s, code)->kind != HK_CODE || !sim_obj(&r->s, code)->num)
		return true;
	return sim_obj(&r->s, code)->num == e->first_line;
}

static bool is_candidate(ProgramRun *r, const Entry *caller, const Entry *e, const SimCall *c)
{
	Str name = sym_str(r->s.names, c->name);
	if (c->guess)
		return may_be_guessed(r, e, c);
	if (!c->resume)
		return !e->resume && sym_eq(e->name, c->name) && is_code_of(r, e, c->fn);
	if (!e->resume)
		return false;
	if (str_starts(name, S("__resume_at_")) || str_starts(name, S("___resume_at_")))
		return str_eq(e->base, caller->base) && sym_eq(e->file, caller->file);
	return sym_eq(e->name, c->name);
}

/* A call by name alone never leads back into a frame that is running: many methods are called forward. */
static bool is_running(const ProgramRun *r, uint32_t entry)
{
	for (uint32_t i = 0; i < r->stack.n; i++)
		if (r->stack.v[i]->entry == entry)
			return true;
	return false;
}

static bool same_function(const Entry *a, const Entry *b)
{
	return sym_eq(a->name, b->name) && sym_eq(a->file, b->file) && a->first_line == b->first_line;
}

/* What a call has led to before leads to it again when the arguments are alike; else to a record of the same function
 * that has not run yet. */
static uint32_t bind_again(ProgramRun *r, const Activation *from, const SimCall *c, uint64_t sig, const uint8_t *fits)
{
	uint32_t last = UINT32_MAX;
	for (uint32_t k = r->bindings.n; k-- > 0;) {
		const Binding *b = &r->bindings.v[k];
		bool same = (b->caller == from->entry && b->at == from->m.at) || (guess_is_module(c) && b->self == c->args[0]);
		if (!same || !fits[b->callee])
			continue;
		if (compiled_for(r, b->callee, sig))
			return b->callee;
		if (last == UINT32_MAX)
			last = b->callee;
	}
	for (uint32_t i = 0; last != UINT32_MAX && i < r->plan->entries->v.n; i++)
		if (!r->bound[i] && fits[i] && same_function(run_entry(r, i), run_entry(r, last)))
			return i;
	return last;
}

/* Of several records those that were compiled for such sizes. What takes tensors is not guessed where none are given. */
static void keep_fitting(ProgramRun *r, const SimCall *c, uint8_t *fits)
{
	uint32_t n = r->plan->entries->v.n, left = 0;
	uint8_t *sized = NEW_N(r->s.scratch, uint8_t, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		Tri fit = fits[i] ? frame_fits(&r->s, r->plan->frames, run_entry(r, i)->modified_frame, c) : TRI_NO;
		fits[i] &= !c->guess || fit != TRI_NO;
		sized[i] = fits[i] && fit == TRI_MUST;
		left += sized[i];
	}
	for (uint32_t i = 0; i < n && left; i++)
		fits[i] = sized[i];
}

/* Is the next record another version of what a place has called before, or of something that ran within that? */
static bool comes_again(ProgramRun *r, const Activation *from, uint32_t next)
{
	const Entry *e = run_entry(r, next);
	for (uint32_t k = r->bindings.n; k-- > 0;) {
		const Binding *b = &r->bindings.v[k];
		if (b->caller != from->entry || b->at != from->m.at)
			continue;
		if (same_function(e, run_entry(r, b->callee)))
			return false; /* it is the callee itself */
		for (uint32_t i = 0; i < next; i++)
			if (r->bound[i] && same_function(e, run_entry(r, i)) && ran_within(r, i, b->callee))
				return true;
	}
	return false;
}

/* Is anything given that a module could compute with? */
static bool gives_something(ProgramRun *r, const SimCall *c)
{
	bool any = c->rest || c->map;
	for (uint32_t i = 1; i < c->nargs && !any; i++) {
		const HeapObj *o = sim_obj(&r->s, c->args[i]);
		any = c->guess == GUESS_FORWARD ? o->kind == HK_TENSOR || (o->kind == HK_UNKNOWN && o->root)
		                                : !host_reads_nothing(&r->s, c->args[i]);
	}
	return any;
}

/* The next record, when nothing speaks against it. */
static bool takes_next(ProgramRun *r, const Activation *from, const SimCall *c, uint32_t next)
{
	if (!c->guess)
		return true;
	if (guess_is_module(c) && !gives_something(r, c))
		return false;
	const Entry *e = run_entry(r, next);
	return frame_fits(&r->s, r->plan->frames, e->modified_frame, c) == TRI_MUST && !comes_again(r, from, next) &&
	       frame_gets(&r->s, (Machine *)&from->m, e->original, e->modified, e->takes, c);
}

/* A function that is called by its name may be what a decorator made of it, and that is due. */
static bool is_decorated(ProgramRun *r, const SimCall *c, uint32_t next)
{
	const Entry *e = next < r->plan->entries->v.n ? run_entry(r, next) : NULL;
	return e && !c->resume && !c->guess && !c->fn && !e->resume && is_closure(e) && !is_mentioned(r, e->name);
}

/* A constructor that no call is known to run stands in nobody's way. */
static uint32_t next_due(const ProgramRun *r, const SimCall *c)
{
	uint32_t n = r->plan->entries->v.n, next = bind_next(r);
	while (guess_is_module(c) && next < n && (r->bound[next] || str_eq(sym_str(r->s.names, run_entry(r, next)->name), S("__init__"))))
		next++;
	return next;
}

static bool find_record(ProgramRun *r, const Activation *from, const SimCall *c, uint32_t *out)
{
	uint64_t sig = signature(r, c->args, c->nargs);
	uint32_t n = r->plan->entries->v.n, next = next_due(r, c), best = UINT32_MAX;
	const Entry *caller = run_entry(r, from->entry);
	uint8_t *fits = NEW_N(r->s.scratch, uint8_t, n + 1);
	if (!c->resume || !resume_fits(r, from, fits))
		for (uint32_t i = 0; i < n; i++)
			fits[i] = is_candidate(r, caller, run_entry(r, i), c) && (c->resume || !is_running(r, i));
	for (uint32_t k = r->bindings.n; k-- > 0 && !c->resume && !c->guess;) { /* decorated, the time before */
		const Binding *b = &r->bindings.v[k];
		if (b->caller == from->entry && b->at == from->m.at)
			fits[b->callee] |= !is_running(r, b->callee);
	}
	if (c->frame) { /* the link pass knows which */
		for (uint32_t i = 0; i < n; i++)
			if (run_entry(r, i)->original_frame == c->frame || run_entry(r, i)->modified_frame == c->frame)
				best = i;
	}
	keep_fitting(r, c, fits);
	for (uint32_t i = 0; c->resume && i < n; i++) /* of an arm that begins next to another one */
		fits[i] &= run_entry(r, i)->parameters <= c->nargs;
	if (best == UINT32_MAX && next < n && fits[next] && takes_next(r, from, c, next))
		best = next;
	if (best == UINT32_MAX)
		best = bind_again(r, from, c, sig, fits);
	if (best == UINT32_MAX && is_decorated(r, c, next))
		best = next;
	for (uint32_t i = 0; i < n && best == UINT32_MAX && c->guess < GUESS_CLOSURE; i++)
		if (r->bound[i] && fits[i] && compiled_for(r, i, sig))
			best = i;
	/* Records stand in the order in which they first ran: a module that none of these fits has none. */
	for (uint32_t i = 0; i < n && best == UINT32_MAX && !c->guess; i++)
		if (!r->bound[i] && fits[i])
			best = i;
	for (uint32_t i = n; i-- > 0 && best == UINT32_MAX && !c->guess;)
		if (r->bound[i] && fits[i] && !(c->resume && is_running(r, i))) /* it would go on for ever */
			best = i;
	if (best == UINT32_MAX)
		return false;
	*out = best;
	VEC_PUSH(r->s.a, &r->bindings, ((Binding){from->entry, from->m.at, best, guess_is_module(c) ? c->args[0] : 0}));
	return true;
}

/* Runs that are compared run the same records for the same calls. */
bool bind_call(ProgramRun *r, const Activation *from, const SimCall *c, uint32_t *out)
{
	const RunCall *planned = !r->differ && r->ncalls < r->plan->ncalls ? &r->plan->calls[r->ncalls] : NULL;
	r->ncalls++;
	*out = UINT32_MAX;
	if (planned && planned->caller == from->entry && planned->at == from->m.at) {
		*out = planned->callee;
		if (*out != UINT32_MAX)
			VEC_PUSH(r->s.a, &r->bindings, ((Binding){from->entry, from->m.at, *out, guess_is_module(c) ? c->args[0] : 0}));
	} else {
		r->differ = true;
		find_record(r, from, c, out);
	}
	VEC_PUSH(r->keep, &r->out->calls, ((RunCall){from->entry, from->m.at, *out}));
	return *out != UINT32_MAX;
}

/* ---- hooks ---- */

static const uint32_t AT_RETURN = UINT32_MAX; /* instruction of the binding of a hook */

/* hook(module, args, output), or a method of that form; nothing calls it by its name. */
static bool is_hook(ProgramRun *r, const Entry *e)
{
	uint32_t n = entry_takes(e);
	return !e->resume && !is_forward(r, e) && (n == 3 || n == 4) && !is_mentioned(r, e->name) && !has_parameter(r, e, n - 1, S("kwargs"));
}

bool bind_hook(ProgramRun *r, const Activation *module, Ref output, uint32_t *out)
{
	uint32_t n = r->plan->entries->v.n, next = bind_next(r), last = UINT32_MAX;
	const Ref args[] = {module->self, output};
	uint64_t sig = signature(r, args, 2);
	for (uint32_t k = r->bindings.n; k-- > 0;) {
		const Binding *b = &r->bindings.v[k];
		if (b->caller == module->entry && b->at == AT_RETURN && (last == UINT32_MAX || compiled_for(r, b->callee, sig))) {
			last = b->callee;
			if (compiled_for(r, last, sig))
				break;
		}
	}
	bool again = last != UINT32_MAX;
	if (next < n && is_hook(r, run_entry(r, next)) && (!again || same_function(run_entry(r, next), run_entry(r, last))))
		last = next;
	if (last == UINT32_MAX || module->output) /* one hook for each call */
		return false;
	*out = last;
	VEC_PUSH(r->s.a, &r->bindings, ((Binding){module->entry, AT_RETURN, last, module->self}));
	return true;
}
