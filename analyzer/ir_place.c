/* SPDX-License-Identifier: MIT
 * Where inputs lay at capture: which of them share memory. */
#include "ir.h"

enum {
	PLACE_DIMS = 64,
	ELEMENTS_MOST = 1 << 16 /* elements that are looked for one by one */
};

Tri graph_inputs_share(const Graph *g, uint32_t i, uint32_t j)
{
	if (i == j)
		return TRI_MUST;
	if (i >= g->places.n || j >= g->places.n || !g->places.v[i].storage || !g->places.v[j].storage)
		return TRI_MAY;
	return g->places.v[i].storage == g->places.v[j].storage ? TRI_MUST : TRI_NO;
}

/* The dimensions that move, the widest stride first. */
typedef struct Grid {
	uint32_t n;
	int64_t size[PLACE_DIMS], stride[PLACE_DIMS];
	int64_t first, last; /* of its elements */
	int64_t count;
	bool nested; /* the elements below an index of a dimension end before those below the next one */
} Grid;

static void insert(Grid *g, int64_t size, int64_t stride)
{
	uint32_t k = g->n++;
	for (; k && g->stride[k - 1] < stride; k--) {
		g->size[k] = g->size[k - 1];
		g->stride[k] = g->stride[k - 1];
	}
	g->size[k] = size;
	g->stride[k] = stride;
}

/* False when it has no elements that could be counted: negative or huge numbers. */
static bool grid_of(const InputPlace *p, Grid *g)
{
	*g = (Grid){.first = p->offset, .last = p->offset, .count = 1, .nested = true};
	if (!p->size || !p->stride || p->ndim > PLACE_DIMS || p->offset < 0)
		return false;
	for (uint32_t k = 0; k < p->ndim; k++) {
		int64_t reach, size = p->size[k], stride = p->stride[k];
		if (size < 0 || stride < 0 || stride == INT64_MAX || __builtin_mul_overflow(g->count, size, &g->count) ||
		    __builtin_mul_overflow(size ? size - 1 : 0, stride, &reach) || __builtin_add_overflow(g->last, reach, &g->last))
			return false;
		if (size > 1)
			insert(g, size, stride);
	}
	int64_t below = 0;
	for (uint32_t k = g->n; k-- > 0;) {
		g->nested &= g->stride[k] > below;
		below += (g->size[k] - 1) * g->stride[k];
	}
	return true;
}

static bool is_dense(const Grid *g)
{
	return g->nested && g->count == g->last - g->first + 1;
}

/* Exact where the grid is nested; else it may miss one. */
static bool holds(const Grid *g, int64_t element)
{
	int64_t rest = element - g->first;
	for (uint32_t k = 0; k < g->n && rest > 0; k++) {
		int64_t index = g->stride[k] ? rest / g->stride[k] : 0;
		rest -= (index < g->size[k] ? index : g->size[k] - 1) * g->stride[k];
	}
	return rest == 0;
}

static bool any_in(const Grid *a, const Grid *b)
{
	int64_t index[PLACE_DIMS] = {0}, at = a->first;
	for (;;) {
		if (holds(b, at))
			return true;
		uint32_t k = a->n;
		for (; k && ++index[k - 1] == a->size[k - 1]; k--) {
			at -= (a->size[k - 1] - 1) * a->stride[k - 1];
			index[k - 1] = 0;
		}
		if (!k)
			return false;
		at += a->stride[k - 1];
	}
}

static bool apart_in_bytes(const Grid *a, uint32_t bytes_a, const Grid *b, uint32_t bytes_b)
{
	int64_t end_a, end_b, from_a, from_b;
	if (__builtin_mul_overflow(a->last + 1, (int64_t)bytes_a, &end_a) || __builtin_mul_overflow(b->last + 1, (int64_t)bytes_b, &end_b) ||
	    __builtin_mul_overflow(a->first, (int64_t)bytes_a, &from_a) || __builtin_mul_overflow(b->first, (int64_t)bytes_b, &from_b))
		return false;
	return end_a <= from_b || end_b <= from_a;
}

Tri graph_inputs_overlap(const Graph *g, uint32_t i, uint32_t j)
{
	Tri share = graph_inputs_share(g, i, j);
	Grid a, b;
	if (share != TRI_MUST || i >= g->places.n || j >= g->places.n)
		return share;
	if (!grid_of(&g->places.v[i], &a) || !grid_of(&g->places.v[j], &b))
		return TRI_MAY;
	if (!a.count || !b.count)
		return TRI_NO;
	uint32_t bytes_a = g->places.v[i].bytes, bytes_b = g->places.v[j].bytes;
	if (bytes_a != bytes_b) /* one memory as two dtypes */
		return bytes_a && bytes_b && apart_in_bytes(&a, bytes_a, &b, bytes_b) ? TRI_NO : TRI_MAY;
	if (a.last < b.first || b.last < a.first)
		return TRI_NO;
	if (is_dense(&a) && is_dense(&b))
		return TRI_MUST;
	const Grid *few = a.count < b.count ? &a : &b, *many = few == &a ? &b : &a;
	if (few->count > ELEMENTS_MOST)
		return TRI_MAY;
	if (any_in(few, many))
		return TRI_MUST;
	return many->nested ? TRI_NO : TRI_MAY;
}
