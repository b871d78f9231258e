/* SPDX-License-Identifier: MIT
 * frame_keep: what is kept of the symbolic run of a frame. A run makes a term for each step of each path; events name few
 * of them, and many of these are equal. */
#include "frame_links_priv.h"

typedef struct Keep {
	const FrameLinks *run;
	FrameLinks *out;
	LTermId *to;    /* by term of the run: 0 not needed, else MARKED, then its id in `out` */
	VEC(LTerm) kept; /* slot 0 unused */
	Map same;       /* hash of a kept term -> its id */
	Names *texts;
	Arena *keep, *scratch;
} Keep;

enum { MARKED = 1 };

static void mark(Keep *k, LTermId id)
{
	k->to[id] = MARKED;
}

static void mark_event(Keep *k, const LinkEvent *e)
{
	mark(k, e->what);
	mark(k, e->key);
	mark(k, e->value);
	mark(k, e->result);
	for (uint32_t i = 0; i < e->nargs; i++)
		mark(k, e->args[i]);
}

/* A term is made after those that it holds, so one walk back finds all. */
static void mark_all(Keep *k)
{
	const LTerms *t = &k->run->terms;
	for (uint32_t i = 0; i < k->run->events.n; i++)
		mark_event(k, &k->run->events.v[i]);
	for (LTermId id = t->v.n; id-- > 1;) {
		const LTerm *x = lterm_get(t, id);
		if (!k->to[id])
			continue;
		ASSERT(x->of < id);
		mark(k, x->of);
		for (uint32_t i = 0; i < x->nkids; i++)
			mark(k, x->kids[i]);
	}
}

static uint64_t hash_of(const LTerm *x)
{
	uint64_t h = hash_u64((uint64_t)x->kind << 56 ^ (uint64_t)x->name.i << 24 ^ x->of);
	h = hash_u64(h ^ (uint64_t)(uint32_t)x->index << 32 ^ x->call ^ (uint64_t)x->box << 60);
	h = hash_u64(h ^ (uintptr_t)x->text.p);
	return hash_bytes(h, x->kids, x->nkids * sizeof *x->kids) | 1;
}

/* Texts stand in one pool: equal ones are at one place. */
static bool is_same(const LTerm *x, const LTerm *y)
{
	return x->kind == y->kind && sym_eq(x->name, y->name) && x->of == y->of && x->index == y->index && x->call == y->call &&
	       x->box == y->box && x->text.p == y->text.p && x->repr.p == y->repr.p && x->nkids == y->nkids &&
	       (!x->nkids || memcmp(x->kids, y->kids, x->nkids * sizeof *x->kids) == 0);
}

static LTermId *keep_list(Keep *k, const LTermId *v, uint32_t n, Arena *a)
{
	LTermId *out = n ? NEW_N(a, LTermId, n) : NULL;
	for (uint32_t i = 0; i < n; i++)
		out[i] = k->to[v[i]];
	return out;
}

static LTermId keep_term(Keep *k, LTerm x)
{
	x.of = k->to[x.of];
	x.box = x.box != 0; /* the heap of its path is gone */
	x.text = sym_str(k->texts, sym_intern(k->texts, x.text));
	x.repr = sym_str(k->texts, sym_intern(k->texts, x.repr));
	x.kids = keep_list(k, x.kids, x.nkids, k->scratch);
	uint64_t hash = hash_of(&x);
	LTermId same = map_get(&k->same, hash);
	if (same && is_same(&k->kept.v[same], &x))
		return same;
	if (!same)
		map_put(&k->same, hash, k->kept.n);
	VEC_PUSH(k->scratch, &k->kept, x);
	return k->kept.n - 1;
}

static void keep_terms(Keep *k)
{
	const LTerms *t = &k->run->terms;
	VEC_PUSH(k->scratch, &k->kept, (LTerm){.kind = LT_NONE});
	k->to[0] = 0;
	for (LTermId id = 1; id < t->v.n; id++)
		if (k->to[id])
			k->to[id] = keep_term(k, *lterm_get(t, id));
	LTerm *v = NEW_N(k->keep, LTerm, k->kept.n);
	memcpy(v, k->kept.v, k->kept.n * sizeof *v);
	for (uint32_t i = 1; i < k->kept.n; i++)
		if (v[i].nkids) {
			LTermId *kids = NEW_N(k->keep, LTermId, v[i].nkids);
			v[i].kids = memcpy(kids, v[i].kids, v[i].nkids * sizeof *kids);
		}
	k->out->terms.a = k->keep;
	k->out->terms.v.v = v;
	k->out->terms.v.n = k->out->terms.v.cap = k->kept.n;
}

static void keep_events(Keep *k)
{
	uint32_t n = k->run->events.n;
	LinkEvent *v = NEW_N(k->keep, LinkEvent, n);
	for (uint32_t i = 0; i < n; i++) {
		LinkEvent e = k->run->events.v[i];
		e.what = k->to[e.what];
		e.key = k->to[e.key];
		e.value = k->to[e.value];
		e.result = k->to[e.result];
		e.args = keep_list(k, e.args, e.nargs, k->keep);
		e.line = str_copy(k->keep, e.line);
		v[i] = e;
	}
	k->out->events.v = v;
	k->out->events.n = k->out->events.cap = n;
}

FrameLinks *links_keep(const FrameLinks *run, Names *texts, Arena *keep, Arena *scratch)
{
	FrameLinks *out = NEW(keep, FrameLinks);
	Keep k = {.run = run, .out = out, .texts = texts, .keep = keep, .scratch = scratch, .same = {.a = scratch}};
	*out = *run;
	out->a = keep;
	out->stopped = str_copy(keep, run->stopped);
	k.to = NEW_N(scratch, LTermId, run->terms.v.n);
	mark_all(&k);
	keep_terms(&k);
	keep_events(&k);
	return out;
}
