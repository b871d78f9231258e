/* SPDX-License-Identifier: MIT
 * sim_fields: named tuples. The dump shows what is in one, by position, and by which names it is read, but not which name
 * stands where: types that graphs print of their inputs tell, else each way is a path of its own. */
#include "sim_host.h"

#include "sim_learn.h"

enum { KEY_FIELD = 7, KEY_PLACE = 8 };

static uint64_t field_key(uint32_t kind, Sym cls, uint32_t what)
{
	return (uint64_t)kind << 60 | ((uint64_t)cls.i << 24 ^ what);
}

bool host_is_named_tuple(const Sim *s, Sym cls)
{
	return s->learned && map_get(&s->learned->tuples, cls.i);
}

/* Could what a graph took under this name be item k? */
static bool fits(Sim *s, Ref item, TypeId type)
{
	int64_t size[SIM_DIMS], stride[SIM_DIMS];
	bool strided;
	uint32_t ndim;
	if (!type.i || !sim_is_tensor(s, item) || !sim_sizes(s, type, size, stride, &strided, &ndim))
		return true;
	const SimTensor *t = sim_tensor_of(s, item);
	if (!t->sized || t->assumed)
		return true;
	if (t->ndim != ndim)
		return false;
	for (uint32_t d = 0; d < ndim; d++)
		if (t->size[d] != size[d] || (strided && t->placed && size[d] > 1 && t->stride[d] != stride[d]))
			return false;
	return true;
}

static void settle(Sim *s, Sym cls, Sym name, uint32_t k)
{
	map_put(&s->globals, field_key(KEY_FIELD, cls, name.i), k + 1);
	map_put(&s->globals, field_key(KEY_PLACE, cls, k), name.i);
}

Ref host_field(Sim *s, Ref tuple, Sym name)
{
	const HeapObj o = *sim_obj(s, tuple);
	uint32_t known = map_get(&s->globals, field_key(KEY_FIELD, o.name, name.i)), left = 0;
	if (known)
		return known <= o.items.n ? o.items.v[known - 1] : 0;
	Str text = sym_str(s->names, name);
	uint64_t origin = host_mix(o.origin, hash_bytes(1, text.p, text.n));
	TypeId type = sim_learned(s, origin, (TypeId){0});
	uint32_t *may = NEW_N(s->scratch, uint32_t, o.items.n + 1);
	for (uint32_t k = 0; k < o.items.n; k++) {
		uint32_t taken = map_get(&s->globals, field_key(KEY_PLACE, o.name, k));
		if (!taken && fits(s, o.items.v[k], type))
			may[left++] = k;
	}
	if (!left)
		return 0;
	uint32_t k = 0;
	while (k + 1 < left && sim_choose(s, false))
		k++;
	settle(s, o.name, name, may[k]);
	s->fields_chosen |= left > 1;
	return o.items.v[may[k]];
}
