/* SPDX-License-Identifier: MIT
 * sim_heap: the Python objects of one run. Constants, numbers and dotted names are one object each: what is
 * equal and cannot change has one Ref. */
#include "sim.h"

#include "sim_host.h"
#include "sim_learn.h"

/* Objects of one run; a listing that makes more is given up. */
enum { HEAP_MOST = 1u << 24 };

/* Interned objects stand in Sim.globals under keys that no Sym has, so that whoever copies a run copies them too. */
enum { KEY_CONST = 1, KEY_NAME = 2, KEY_NUMBER = 3 };

static uint64_t intern_key(uint32_t kind, uint32_t id)
{
	return (uint64_t)kind << 60 | id;
}

uint64_t host_mix(uint64_t a, uint64_t b)
{
	return hash_u64(hash_u64(a) + 3 * b + 1);
}

static Map *globals(Sim *s)
{
	if (!s->globals.a)
		s->globals.a = s->a;
	return &s->globals;
}

Ref sim_new(Sim *s, HeapKind kind)
{
	if (!s->heap.n)
		VEC_PUSH(s->a, &s->heap, ((HeapObj){0}));
	if (s->heap.n >= HEAP_MOST)
		sim_stop(s, S("too many objects"));
	ASSERT(s->heap.n < VALUE_LIMIT);
	VEC_PUSH(s->a, &s->heap, ((HeapObj){.kind = (uint8_t)kind}));
	return s->heap.n - 1;
}

HeapObj *sim_obj(Sim *s, Ref r)
{
	ASSERT(r && r < s->heap.n);
	return &s->heap.v[r];
}

Ref sim_const(Sim *s, Str text)
{
	if (str_eq(text, S("True")) || str_eq(text, S("False")))
		return sim_bool(s, text.p[0] == 'T');
	Sym name = sym_intern(s->names, text);
	uint64_t key = intern_key(KEY_CONST, name.i);
	Ref r = map_get(globals(s), key);
	if (!r) {
		r = sim_new(s, HK_CONST);
		sim_obj(s, r)->name = name;
		sim_obj(s, r)->known = true;
		map_put(globals(s), key, r);
	}
	return r;
}

Ref sim_none(Sim *s)
{
	return sim_const(s, S("None"));
}

Ref sim_number(Sim *s, TermId term)
{
	uint64_t key = intern_key(KEY_NUMBER, term.i);
	Ref r = map_get(globals(s), key);
	if (r)
		return r;
	const double most = 9007199254740992.0; /* 2^53: integers below are exact */
	const Term *t = term_get(s->terms, term);
	r = sim_new(s, HK_NUMBER);
	HeapObj *o = sim_obj(s, r);
	o->term = term;
	if (t->kind == TERM_NUM && (t->cls == 'i' || t->cls == 'b') && t->num > -most && t->num < most) {
		o->known = true;
		o->num = (int64_t)t->num;
	}
	map_put(globals(s), key, r);
	return r;
}

Ref sim_int(Sim *s, int64_t v)
{
	const int64_t most = INT64_C(1) << 53;
	if (v > -most && v < most)
		return sim_number(s, term_num(s->terms, (double)v, 'i'));
	/* A double would round it: its own text is its value number. */
	Str text = str_printf(s->scratch, "%lld", (long long)v);
	return sim_number(s, term_text(s->terms, sym_intern(s->names, text)));
}

Ref sim_bool(Sim *s, bool v)
{
	return sim_number(s, term_num(s->terms, v, 'b'));
}

Ref sim_name(Sim *s, Sym dotted)
{
	uint64_t key = intern_key(KEY_NAME, dotted.i);
	Ref r = map_get(globals(s), key);
	if (!r) {
		r = sim_new(s, HK_NAME);
		sim_obj(s, r)->name = dotted;
		map_put(globals(s), key, r);
	}
	return r;
}

Ref sim_list(Sim *s, HeapKind kind, const Ref *v, uint32_t n)
{
	Ref r = sim_new(s, kind);
	HeapObj *o = sim_obj(s, r);
	for (uint32_t i = 0; i < n; i++)
		VEC_PUSH(s->a, &o->items, v[i]);
	return r;
}

Ref sim_unknown(Sim *s, uint64_t origin)
{
	TypeId learned = sim_learned(s, origin, (TypeId){0});
	if (learned.i) {
		Ref t = sim_new_tensor(s, learned, NULL, origin);
		sim_tensor_of(s, t)->whence = WHENCE_GIVEN;
		sim_obj(s, t)->origin = origin;
		return t;
	}
	Ref r = sim_new(s, HK_UNKNOWN);
	sim_obj(s, r)->origin = origin;
	sim_obj(s, r)->term = term_fresh(s->terms, origin);
	return r;
}

Ref sim_object(Sim *s, Sym name, uint64_t origin)
{
	Ref r = sim_new(s, HK_OBJECT);
	HeapObj *o = sim_obj(s, r);
	o->name = name;
	o->origin = origin;
	o->term = term_fresh(s->terms, origin);
	return r;
}

/* Looking for something among many costs steps, so that no listing makes it quadratic. */
void host_charge(Sim *s, uint64_t n)
{
	s->steps += n / 16;
}

HeapAttr *host_find_attr(Sim *s, Ref o, Sym name)
{
	HeapObj *p = sim_obj(s, o);
	host_charge(s, p->attrs.n);
	for (uint32_t i = 0; i < p->attrs.n; i++)
		if (sym_eq(p->attrs.v[i].name, name))
			return &p->attrs.v[i];
	return NULL;
}

void sim_set_attr(Sim *s, Ref o, Sym name, Ref v)
{
	HeapAttr *at = host_find_attr(s, o, name);
	if (at)
		at->value = v;
	else if (sim_obj(s, o)->attrs.n >= HOST_ITEMS_MOST)
		sim_stop(s, S("too many attributes"));
	else
		VEC_PUSH(s->a, &sim_obj(s, o)->attrs, ((HeapAttr){name, v}));
}

Ref sim_get_attr(Sim *s, Ref o, Sym name)
{
	HeapAttr *at = host_find_attr(s, o, name);
	if (at && at->value)
		return at->value;
	HeapObj owner = *sim_obj(s, o);
	Ref v = sim_unknown(s, host_mix(owner.origin, hash_bytes(1, sym_str(s->names, name).p, sym_str(s->names, name).n)));
	HeapObj *p = sim_obj(s, v);
	p->root = owner.root;
	p->known = owner.kind == HK_UNKNOWN && owner.known;
	p->a = o;
	p->name = name;
	if (!at)
		sim_set_attr(s, o, name, v);
	return v;
}

bool sim_is_tensor(const Sim *s, Ref r)
{
	return r && r < s->heap.n && s->heap.v[r].kind == HK_TENSOR;
}

uint64_t sim_site(Sim *s, uint64_t instruction)
{
	if (!s->site_count.a)
		s->site_count.a = s->a;
	uint64_t site = host_mix(s->frame_site, instruction);
	if (!site)
		site = 1;
	uint32_t seen = map_get(&s->site_count, site) + 1;
	map_put(&s->site_count, site, seen);
	return host_mix(site, seen);
}

bool sim_choose(Sim *s, bool first)
{
	SimChoices *c = &s->choices;
	bool way = c->asked < c->ngiven ? c->given[c->asked] : first;
	if (c->asked == SIM_CHOICES_MOST) {
		sim_stop(s, S("more undecided branches than are followed"));
		return way;
	}
	c->other[c->asked] = way != first;
	c->taken[c->asked++] = way;
	c->ntaken = c->asked;
	return way;
}

void sim_unsure(Sim *s, Str why)
{
	s->unsure = true;
	if (s->unsure_why.n)
		return;
	s->unsure_why = why;
	s->unsure_at = s->here;
}

void sim_stop(Sim *s, Str why)
{
	if (!s->stopped)
		s->why = str_copy(s->a, why);
	s->stopped = true;
}
