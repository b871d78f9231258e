/* SPDX-License-Identifier: MIT */
#include "memory.h"

enum { MAX_REACH = 512 }; /* storages that one may be, before the answer is called incomplete */

void memory_init(Memory *m, Arena *a)
{
	*m = (Memory){.a = a};
	VEC_PUSH(a, &m->stores, ((Store){0}));
	VEC_PUSH(a, &m->objs, ((Obj){0}));
	VEC_PUSH(a, &m->edges, ((MayEdge){0}));
}

uint32_t memory_store(Memory *m, StoreKind kind, uint32_t index, NodeId node)
{
	VEC_PUSH(m->a, &m->stores, ((Store){.kind = kind, .index = index, .node = node}));
	return m->stores.n - 1;
}

uint32_t memory_object(Memory *m, uint32_t store, uint32_t parent, NodeId node, Str why)
{
	Obj o = {.store = store, .first_store = store, .parent = parent, .node = node, .why = why};
	VEC_PUSH(m->a, &m->objs, o);
	return m->objs.n - 1;
}

uint32_t memory_fresh(Memory *m, NodeId node)
{
	return memory_object(m, memory_store(m, STORE_NEW, 0, node), 0, node, (Str){0});
}

static uint32_t edge_add(Memory *m, uint32_t first, uint32_t to, uint32_t via, NodeId node, Str cond)
{
	VEC_PUSH(m->a, &m->edges, ((MayEdge){.to = to, .via = via, .node = node, .cond = cond, .next = first}));
	return m->edges.n - 1;
}

void memory_store_may_be(Memory *m, uint32_t store, uint32_t via, NodeId node, Str cond)
{
	Store *s = &m->stores.v[store];
	uint32_t to = m->objs.v[via].store;
	if (to != store)
		s->edges = edge_add(m, s->edges, to, via, node, cond);
}

void memory_object_may_be(Memory *m, uint32_t obj, uint32_t other, NodeId node, Str cond)
{
	Obj *o = &m->objs.v[obj];
	if (obj != other)
		o->edges = edge_add(m, o->edges, other, other, node, cond);
}

void memory_ready(Memory *m)
{
	if (m->nseen >= m->stores.n)
		return;
	m->nseen = m->stores.n * 2;
	m->seen = NEW_N(m->a, uint32_t, m->nseen);
	m->stamp = 0;
}

Reached memory_reach(Memory *m, uint32_t store, Arena *scratch)
{
	Reached r = {0};
	memory_ready(m);
	m->stamp++;
	m->seen[store] = m->stamp;
	VEC_PUSH(scratch, &r.v, ((Reach){store, 0, UINT32_MAX}));
	for (uint32_t i = 0; i < r.v.n; i++) {
		for (uint32_t e = m->stores.v[r.v.v[i].store].edges; e; e = m->edges.v[e].next) {
			uint32_t to = m->edges.v[e].to;
			if (m->seen[to] == m->stamp)
				continue;
			if (r.v.n == MAX_REACH) {
				r.cut = true;
				return r;
			}
			m->seen[to] = m->stamp;
			VEC_PUSH(scratch, &r.v, ((Reach){to, e, i}));
		}
	}
	return r;
}

Str memory_condition(const Memory *m, const Reached *r, uint32_t i, Arena *a)
{
	Buf b = {.a = a};
	uint32_t steps = 0;
	for (; r->v.v[i].edge; i = r->v.v[i].from) {
		Str c = m->edges.v[r->v.v[i].edge].cond;
		if (str_has(buf_str(&b), c))
			continue;
		if (++steps > 4) {
			buf_add(&b, S(" and further conditions"));
			break;
		}
		if (b.n && c.n)
			buf_add(&b, S(" and "));
		buf_add(&b, c);
	}
	return buf_str(&b);
}
