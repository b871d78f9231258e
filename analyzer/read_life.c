/* SPDX-License-Identifier: MIT */
#include "read_life.h"

void life_use(Lives *l, Arena *a, Sym name, uint32_t at, uint32_t end)
{
	uint32_t i = map_get(&l->of, name.i);
	if (!i) {
		l->of.a = a;
		VEC_PUSH(a, &l->v, ((Life){.name = name}));
		i = l->v.n;
		map_put(&l->of, name.i, i);
	}
	l->v.v[i - 1].at = at;
	l->v.v[i - 1].end = end;
	l->v.v[i - 1].ended = false;
}

void life_end(Lives *l, Sym name)
{
	uint32_t i = map_get(&l->of, name.i);
	if (i)
		l->v.v[i - 1].ended = true;
}

void life_drop(Lives *l, const Names *names, Str tail)
{
	l->drops |= tail.n != 0;
	for (uint32_t at = 0; at < tail.n;) {
		uint32_t end = at;
		while (end < tail.n && char_is_ident((unsigned char)tail.p[end]))
			end++;
		Sym name = end > at ? sym_find(names, str_sub(tail, at, end)) : (Sym){0};
		if (name.i)
			life_end(l, name);
		at = end + 1;
	}
}
