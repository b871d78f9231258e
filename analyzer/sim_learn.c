/* SPDX-License-Identifier: MIT */
#include "sim_learn.h"

static const uint32_t LEARNED_TWO = UINT32_MAX;
enum { LEARNED_MOST = 4096 };

/* The type with numbers for its sizes; none where one is not known, or was only taken for another. */
static TypeId concrete(Sim *s, TypeId id)
{
	int64_t size[SIM_DIMS], stride[SIM_DIMS];
	Type t = *type_get(s->t, id);
	ExprId sizes[SIM_DIMS], strides[SIM_DIMS];
	bool strided, before = s->assumes;
	s->assumes = false;
	bool known = sim_sizes(s, id, size, stride, &strided, &t.ndim) && !s->assumes;
	s->assumes = before;
	if (!known)
		return (TypeId){0};
	for (uint32_t d = 0; d < t.ndim; d++) {
		sizes[d] = expr_int(s->t, size[d]);
		strides[d] = expr_int(s->t, stride[d]);
	}
	t.size = sizes;
	t.stride = strides;
	t.has_stride = strided;
	return type_intern(s->t, &t);
}

void sim_learn(Sim *s, uint64_t origin, TypeId type)
{
	SimLearned *l = s->learned;
	if (!l || l->closed || !origin || l->types.n >= LEARNED_MOST)
		return;
	TypeId id = concrete(s, type);
	uint32_t was = id.i ? map_get(&l->types, origin) : 0;
	if (!id.i || was == id.i + 1 || was == LEARNED_TWO)
		return;
	map_put(&l->types, origin, was ? LEARNED_TWO : id.i + 1);
	l->news = true;
}

TypeId sim_learned(const Sim *s, uint64_t origin, TypeId type)
{
	const Type *t = type.i ? type_get(s->t, type) : NULL;
	uint32_t known = s->learned && !(t && t->has_shape) ? map_get(&s->learned->types, origin) : 0;
	return known && known != LEARNED_TWO ? (TypeId){known - 1} : type;
}

/* <bound method Pair._make of <class 'program.Pair'>> */
static Sym named_tuple(const Program *p, Str repr)
{
	static const Str head = STR_INIT("<bound method "), mark = STR_INIT("._make of <class '");
	uint32_t at = str_find(repr, mark, 0);
	return str_starts(repr, head) && at < repr.n ? sym_find(p->names, str_sub(repr, head.n, at)) : (Sym){0};
}

void sim_learn_classes(SimLearned *l, const Program *p)
{
	for (uint32_t i = 0; i < p->frames.n; i++) {
		const Code *c = p->frames.v[i].code;
		for (uint32_t k = 0; c && k < c->n; k++) {
			Sym cls = c->ins[k].row->act == ACT_CONST ? named_tuple(p, ins_repr(c, &c->ins[k])) : (Sym){0};
			if (cls.i)
				map_put(&l->tuples, cls.i, 1);
		}
	}
}
