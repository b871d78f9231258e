/* SPDX-License-Identifier: MIT */
#include "sem.h"
#include "sem_call.h"

typedef bool (*Apply)(Sem *s, TermId *out);

static const Apply applies[] = {
#define SEM_CLASS(id, word, fn) fn,
#include "sem_classes.def"
#undef SEM_CLASS
};

/* Every element of the result from everything that the call is given, by position. */
bool sem_opaque(Sem *s, TermId *out)
{
	TermList all = {.a = s->a};
	const Arg *v = node_args(s->g, s->n);
	for (uint32_t i = 0; i < s->n->nargs; i++) {
		if (!sym_none(v[i].key))
			sem_push(s, &all, term_text(s->t, v[i].key));
		sem_push_arg(s, &all, &v[i]);
	}
	const Fact *f = s->c->fact;
	if (f && fact_has(f, FT_RNG))
		sem_push(s, &all, sem_fresh(s, 0));
	if (s->n->kind != NK_CALL || s->n->callee == CALLEE_MODULE || !f || f->kind == FK_UNKNOWN ||
	    f->kind == FK_SUBGRAPH)
		sem_push(s, &all, sem_unknown(s, 0)); /* parameters, bodies and state are not seen */
	TermId in = sem_list_op(s, "all", &all, 0);
	/* By the table's name, for what is known of its results; operands stand in the order of the call, so the spelling
	 * tells them apart. */
	uint64_t member = s->member > 0 ? (uint64_t)s->member << 32 : 0;
	uint64_t spelling = sym_eq(s->op, s->n->target) ? 0 : hash_u64(s->n->target.i) << 48;
	for (uint32_t k = 0; k < s->numel; k++)
		out[k] = term_op(s->t, s->op, &in, 1, (spelling ^ member) + k + 1);
	return true;
}

bool sem_move(const SemCall *c, int member, const int64_t *size, uint32_t ndim, uint32_t numel,
              const Arg **source, uint32_t *map)
{
	Sem s;
	ArenaMark m = arena_mark(c->scratch);
	bool ok = sem_bind(&s, c, member, size, ndim, numel) && sem_map(&s, source, map);
	arena_rewind(c->scratch, m);
	return ok;
}

bool sem_strided_view(const SemCall *c, int member, const int64_t *size, uint32_t ndim,
                      const SemTensor *base, SemTensor *out)
{
	Sem s;
	Walk w;
	SemTensor x = *base;
	ArenaMark m = arena_mark(c->scratch);
	if (ndim > SEM_MAX_DIMS)
		return false;
	sem_bind(&s, c, member, size, ndim, 0);
	x.in_memory = true;
	bool index = s.cls == SEM_INDEX || s.cls == SEM_SETITEM;
	bool ok = index ? sem_index_walk(&s, &x, &w) : sem_is_move(s.cls) && sem_view(&s, s.cls, &x, &w);
	for (uint32_t d = 0; ok && d < w.n; d++)
		ok = w.step[d] >= 0;
	arena_rewind(c->scratch, m);
	if (!ok)
		return false;
	*out = (SemTensor){.ndim = w.n, .dtype = base->dtype, .has_stride = true, .offset = w.at};
	memcpy(out->size, w.size, w.n * sizeof *w.size);
	memcpy(out->stride, w.step, w.n * sizeof *w.step);
	return true;
}

bool sem_strided(const SemCall *c, int64_t *size, int64_t *stride, uint32_t *ndim, int64_t *offset,
                 bool *has_offset)
{
	Sem s;
	Walk w;
	sem_bind(&s, c, -1, NULL, 0, 1);
	SemTensor x;
	bool known = sem_tensor(&s, SROLE_INPUT, &x);
	if (s.cls != SEM_AS_STRIDED || !sem_strided_of(&s, known ? &x : NULL, &w, has_offset))
		return false;
	memcpy(size, w.size, w.n * sizeof *size);
	memcpy(stride, w.step, w.n * sizeof *stride);
	*ndim = w.n;
	*offset = w.at;
	return true;
}

/* An argument besides the result is asked for: only some classes tell what is written there. */
static bool writes_aside(const Sem *s)
{
	return s->member >= SEM_MEMBER_ARG && s->cls != SEM_BATCH_NORM;
}

void sem_apply(const SemCall *c, int member, const int64_t *size, uint32_t ndim, uint32_t numel,
               TermId *out)
{
	Sem s;
	ArenaMark m = arena_mark(c->scratch);
	if (!sem_bind(&s, c, member, size, ndim, numel)) {
		TermId unsure = sem_unknown(&s, 0);
		for (uint32_t k = 0; k < numel; k++)
			out[k] = unsure;
	} else if (writes_aside(&s) || !applies[s.cls](&s, out)) {
		sem_opaque(&s, out);
	}
	arena_rewind(c->scratch, m);
}

/* A Python number holds what any float of at most 64 bits and any integer holds. */
TermId sem_item(const SemCall *c, const SemTensor *x)
{
	Sem s = {.c = c, .t = c->terms, .names = terms_names(c->terms), .a = c->scratch, .member = -1};
	if (x->numel != 1)
		return sem_unknown(&s, 0);
	ArenaMark m = arena_mark(c->scratch);
	DTypeClass cls = dtype_class(x->dtype);
	DType to = cls == DC_FLOAT ? DT_F64 : cls == DC_INT ? DT_I64 : cls == DC_BOOL ? DT_B8 : DT_NONE;
	TermId t = to == DT_NONE ? x->e[0] : sem_convert(&s, x->e[0], x->dtype, to);
	arena_rewind(c->scratch, m);
	return t;
}

bool sem_overwrites(const SemCall *c)
{
	Sem s;
	ArenaMark m = arena_mark(c->scratch);
	sem_bind(&s, c, -1, NULL, 0, 1);
	bool all = s.out || s.cls == SEM_COPY || s.cls == SEM_RANDOM || s.cls == SEM_SETITEM ||
	           s.cls == SEM_CONSTANT;
	arena_rewind(c->scratch, m);
	return all;
}

bool sem_fills(const SemCall *c, int member, TermId *number)
{
	Sem s;
	const int64_t none = 0;
	ArenaMark m = arena_mark(c->scratch);
	sem_bind(&s, c, member, &none, 0, 1);
	bool fills = s.cls == SEM_CONSTANT || s.cls == SEM_COPY || s.cls == SEM_SETITEM;
	arena_rewind(c->scratch, m);
	if (!fills)
		return false;
	sem_apply(c, member, &none, 0, 1, number);
	return term_get(c->terms, *number)->kind == TERM_NUM;
}
