/* SPDX-License-Identifier: MIT */
#include "sim_rest.h"

enum { REST_WORK_MOST = 4000000 }; /* instructions times variables */

typedef struct Flow {
	const Code *c;
	Arena *a;
	uint32_t *depth;   /* of the stack before an instruction; INS_NONE: not reached */
	uint8_t *reads;    /* by instruction and variable: read before it is written, from there on */
	uint32_t *todo, n;
} Flow;

static bool ends(const Ins *in)
{
	return (in->row->flags & OF_END) != 0;
}

static void reach(Flow *f, uint32_t to, uint64_t depth)
{
	if (to >= f->c->n || f->depth[to] != INS_NONE || depth > MACHINE_MAX_STACK)
		return;
	f->depth[to] = (uint32_t)depth;
	f->todo[f->n++] = to;
}

/* Along jumps the same effect is taken; FOR_ITER leaves one less, and two where the loop's end takes the iterator. */
static void find_depths(Flow *f)
{
	reach(f, 0, 0);
	while (f->n) {
		uint32_t i = f->todo[--f->n];
		const Ins *in = &f->c->ins[i];
		Effect e = ins_effect(in);
		uint64_t before = f->depth[i], after = before < e.pop ? 0 : before - e.pop + e.push;
		if (!ends(in))
			reach(f, i + 1, after);
		if (in->row->act == ACT_FOR)
			continue; /* the body leads back; behind it the depth is that of the jump's target, found from elsewhere */
		if (in->target != INS_NONE)
			reach(f, in->target, after);
	}
	for (uint32_t i = 0; i < f->c->n; i++) { /* behind loops */
		const Ins *in = &f->c->ins[i];
		if (in->row->act != ACT_FOR || f->depth[i] == INS_NONE || in->target == INS_NONE || f->depth[in->target] != INS_NONE)
			continue;
		bool ends_for = in->target < f->c->n && str_eq(f->c->ins[in->target].row->name, S("END_FOR"));
		uint32_t left = ends_for ? f->depth[i] + 1 : f->depth[i] - 1;
		reach(f, in->target, left);
		while (f->n) {
			uint32_t k = f->todo[--f->n];
			const Ins *x = &f->c->ins[k];
			Effect e = ins_effect(x);
			uint64_t before = f->depth[k], after = before < e.pop ? 0 : before - e.pop + e.push;
			if (!ends(x))
				reach(f, k + 1, after);
			if (x->target != INS_NONE && x->row->act != ACT_FOR)
				reach(f, x->target, after);
		}
	}
}

/* A load that does not ask for a value (of a comprehension's variable), or that checks for one. */
static bool may_be_unbound(const Ins *in)
{
	return in->row->act == ACT_LOAD && (str_eq(in->row->name, S("LOAD_FAST_AND_CLEAR")) || str_eq(in->row->name, S("LOAD_FAST_CHECK")));
}

static bool reads_var(const Ins *in, uint32_t k)
{
	switch ((Act)in->row->act) {
	case ACT_LOAD:
	case ACT_DELETE: return in->var == k;
	case ACT_LOAD_LOAD: return in->var == k || in->var2 == k;
	case ACT_STORE_LOAD: return in->var2 == k && in->var != k;
	default: return false;
	}
}

static bool writes_var(const Ins *in, uint32_t k)
{
	switch ((Act)in->row->act) {
	case ACT_STORE:
	case ACT_STORE_LOAD: return in->var == k;
	case ACT_STORE_STORE: return in->var == k || in->var2 == k;
	default: return false;
	}
}

static bool pass(Flow *f, uint32_t i, const uint32_t *handler)
{
	const Code *c = f->c;
	const Ins *in = &c->ins[i];
	uint8_t *now = f->reads + (size_t)i * c->nvars;
	bool changed = false;
	for (uint32_t k = 0; k < c->nvars; k++) {
		bool behind = !ends(in) && i + 1 < c->n && f->reads[((size_t)i + 1) * c->nvars + k];
		behind |= in->target != INS_NONE && in->target < c->n && f->reads[(size_t)in->target * c->nvars + k];
		bool any = reads_var(in, k) || (behind && !writes_var(in, k));
		any |= handler[i] != INS_NONE && f->reads[(size_t)handler[i] * c->nvars + k];
		changed |= any && !now[k];
		now[k] |= any;
	}
	return changed;
}

static void find_reads(Flow *f)
{
	const Code *c = f->c;
	uint32_t *handler = NEW_N(f->a, uint32_t, c->n + 1);
	for (uint32_t i = 0; i < c->n; i++)
		handler[i] = INS_NONE;
	for (uint32_t g = c->nguards; g-- > 0;)
		for (uint32_t i = c->guards[g].from; i < c->guards[g].end && i < c->n; i++)
			handler[i] = c->guards[g].target < c->n ? c->guards[g].target : INS_NONE;
	bool changed = true;
	for (uint32_t round = 0; changed && round < 16; round++) {
		changed = false;
		for (uint32_t i = c->n; i-- > 0;)
			changed |= pass(f, i, handler);
	}
}

/* Operators and calls are captured, or break; loads, stores and containers are not worth a graph. */
static bool is_quiet(const Ins *in)
{
	switch ((Act)in->row->act) {
	case ACT_UNARY:
	case ACT_BINARY:
	case ACT_BINARY_OP:
	case ACT_COMPARE:
	case ACT_GETITEM:
	case ACT_SETITEM:
	case ACT_GETSLICE:
	case ACT_SETSLICE:
	case ACT_CALL:
	case ACT_CALL_PLAIN:
	case ACT_CALL_EX:
	case ACT_ITER: return false;
	default: return true;
	}
}

static bool rest_quiet(Flow *f, uint32_t at)
{
	const Code *c = f->c;
	uint8_t *seen = NEW_N(f->a, uint8_t, c->n + 1);
	f->todo[f->n++] = at;
	seen[at] = 1;
	bool quiet = true;
	while (f->n) {
		uint32_t i = f->todo[--f->n], next[2] = {INS_NONE, c->ins[i].target};
		quiet &= is_quiet(&c->ins[i]);
		if (!ends(&c->ins[i]))
			next[0] = i + 1;
		for (uint32_t k = 0; k < 2; k++)
			if (next[k] < c->n && !seen[next[k]]) {
				seen[next[k]] = 1;
				f->todo[f->n++] = next[k];
			}
	}
	return quiet;
}

/* Parameters by their index, then locals by the place of their first binding. */
static uint64_t binding(const Code *c, uint32_t var)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const Ins *in = &c->ins[i];
		if (in->var == var && reads_var(in, var) && in->row->act != ACT_STORE_LOAD)
			return c->vars[var].index;
		if (writes_var(in, var))
			return ((uint64_t)i + 1) << 32 | c->vars[var].index;
	}
	return c->vars[var].index;
}

static void sort_live(const Code *c, CodeRest *r, Arena *a)
{
	uint64_t *key = NEW_N(a, uint64_t, r->nlive + 1);
	for (uint32_t i = 0; i < r->nlive; i++)
		key[i] = binding(c, r->live[i]);
	for (uint32_t i = 1; i < r->nlive; i++)
		for (uint32_t k = i; k > 0 && key[k - 1] > key[k]; k--) {
			uint64_t t = key[k];
			key[k] = key[k - 1];
			key[k - 1] = t;
			uint32_t v = r->live[k];
			r->live[k] = r->live[k - 1];
			r->live[k - 1] = v;
		}
}

/* Up to 3.10 a block that is open at the place would have to be open in the machine. */
static bool in_block(const Code *c, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if ((c->ins[i].row->act == ACT_SETUP || c->ins[i].row->act == ACT_WITH) && c->ins[i].target != INS_NONE &&
		    c->ins[i].target > at)
			return true;
	return false;
}

bool code_rest(const Code *c, uint32_t offset, Arena *a, CodeRest *out)
{
	uint32_t at = 0;
	*out = (CodeRest){0};
	while (at < c->n && c->ins[at].offset != offset)
		at++;
	if (at == c->n || c->incomplete || c->truncated || in_block(c, at) || (uint64_t)c->n * (c->nvars + 1) > REST_WORK_MOST)
		return false;
	Flow f = {.c = c, .a = a};
	f.depth = NEW_N(a, uint32_t, c->n + 1);
	f.reads = NEW_N(a, uint8_t, (size_t)(c->n + 1) * (c->nvars + 1));
	f.todo = NEW_N(a, uint32_t, (size_t)c->n * 2 + 2);
	for (uint32_t i = 0; i < c->n; i++)
		f.depth[i] = INS_NONE;
	find_depths(&f);
	if (f.depth[at] == INS_NONE)
		return false;
	find_reads(&f);
	out->at = at;
	out->depth = f.depth[at];
	out->quiet = rest_quiet(&f, at);
	out->live = NEW_N(a, uint32_t, c->nvars + 1);
	for (uint32_t k = 0; k < c->nvars; k++)
		if (f.reads[(size_t)at * c->nvars + k] && !c->vars[k].cell && !c->vars[k].free)
			out->live[out->nlive++] = k;
	sort_live(c, out, a);
	return true;
}

/* On every way on, along which nothing is raised: a variable that a loop or an arm binds may have no value before. */
static bool surely_reads(const Code *c, const uint8_t *reads, uint32_t i, uint32_t k)
{
	const Ins *in = &c->ins[i];
	if (reads_var(in, k))
		return !may_be_unbound(in);
	if (writes_var(in, k) || (ends(in) && in->target == INS_NONE))
		return false;
	bool on = ends(in) || (i + 1 < c->n && reads[((size_t)i + 1) * c->nvars + k]);
	return on && (in->target == INS_NONE || (in->target < c->n && reads[(size_t)in->target * c->nvars + k]));
}

uint32_t code_parameters(const Code *c, Arena *scratch)
{
	if (!c->n || c->incomplete || c->truncated || (uint64_t)c->n * (c->nvars + 1) > REST_WORK_MOST)
		return 0;
	ArenaMark mark = arena_mark(scratch);
	uint8_t *reads = NEW_N(scratch, uint8_t, (size_t)(c->n + 1) * (c->nvars + 1));
	memset(reads, 1, (size_t)c->n * c->nvars);
	bool changed = true;
	uint32_t round = 0, n = 0;
	for (; changed && round < 16; round++) {
		changed = false;
		for (uint32_t i = c->n; i-- > 0;)
			for (uint32_t k = 0; k < c->nvars; k++) {
				uint8_t *now = &reads[(size_t)i * c->nvars + k];
				bool sure = *now && surely_reads(c, reads, i, k);
				changed |= *now && !sure;
				*now = sure;
			}
	}
	for (uint32_t k = 0; k < c->nvars && !changed; k++)
		if (reads[k] && !c->vars[k].cell && !c->vars[k].free)
			n = c->vars[k].index >= n ? c->vars[k].index + 1 : n;
	arena_rewind(scratch, mark);
	return n;
}

static bool is_empty_list(Sim *s, Ref r)
{
	const HeapObj *o = sim_obj(s, r);
	return o->kind == HK_LIST && !o->opened && !o->items.n;
}

bool rest_fits(Sim *s, const CodeRest *rest, const Ref *args, uint32_t n, uint32_t *prefix)
{
	uint64_t need = (uint64_t)rest->depth + rest->nlive;
	*prefix = 0;
	if (n == need)
		return true;
	*prefix = 2;
	return n == need + 2 && is_empty_list(s, args[0]) && is_empty_list(s, args[1]);
}

void rest_start(Machine *m, const CodeRest *rest, const Ref *args)
{
	m->pc = rest->at;
	m->cap = rest->depth + 16;
	m->stack = NEW_N(m->a, Value, m->cap);
	for (uint32_t i = 0; i < rest->depth; i++)
		m->stack[m->sp++] = args[i];
	for (uint32_t i = 0; i < rest->nlive; i++)
		m->vars[rest->live[i]] = args[rest->depth + i];
}
