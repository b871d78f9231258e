/* SPDX-License-Identifier: MIT
 * sem: reading and writing by indices: x[...], index_put_, index_copy_, gather, scatter_, embedding. Rules of
 * x[...]: torch/csrc/autograd/python_variable_indexing.cpp (PyTorch 2.6): ints and tensors without dims select
 * first, then the index tensors take their dims, at the first of them if they stand side by side, else in front. */
#include "sem_call.h"

/* What x[index] names: a strided view in which some dims are still to be picked from by index tensors. */
typedef struct Place {
	Walk w;
	uint32_t nadv;
	uint32_t dim[SEM_MAX_DIMS]; /* of w, by index tensor */
	SemTensor idx[SEM_MAX_DIMS];
	const TermId *term[SEM_MAX_DIMS]; /* broadcast to isize */
	int64_t isize[SEM_MAX_DIMS];
	uint32_t indim, inumel;
	bool known; /* all index terms are numbers in range */
	bool masked; /* w's dims from mdim on are picked from by a bool tensor */
	uint32_t mdim;
	SemTensor mask;
	int64_t size[SEM_MAX_DIMS]; /* of what is named; not with a mask */
	uint32_t ndim;
	uint32_t at; /* where the index dims stand in it */
} Place;

/* ---- reading an index ---- */

/* [0, 2] as an index tensor */
static bool list_tensor(Sem *s, const Arg *a, SemTensor *out)
{
	const Arg *v = arg_kids(s->g, a);
	if (a->n > SEM_NUMEL_MOST)
		return false;
	TermId *e = NEW_N(s->a, TermId, (size_t)a->n + 1);
	DType d;
	for (uint32_t i = 0; i < a->n; i++)
		if (v[i].kind == AR_BOOL || !sem_number_of(s, &v[i], &e[i], &d))
			return false;
	*out = (SemTensor){.e = e, .numel = a->n, .ndim = 1, .dtype = DT_I64, .size = {a->n}};
	return true;
}

/* Dims of x that an item takes; false when the item is not understood. */
static bool item_dims(Sem *s, const Arg *a, bool none_is_whole, uint32_t *n)
{
	SemTensor x;
	*n = 1;
	if (a->kind == AR_NONE)
		*n = none_is_whole;
	else if (a->kind == AR_ELLIPSIS)
		*n = 0;
	else if (sem_tensor_of(s, a, &x) && (x.dtype == DT_B8 || x.dtype == DT_U8))
		*n = x.ndim;
	return true;
}

static bool add_index(Place *p, uint32_t *d, const SemTensor *idx)
{
	if (p->nadv == SEM_MAX_DIMS || *d >= p->w.n)
		return false;
	p->dim[p->nadv] = (*d)++;
	p->idx[p->nadv++] = *idx;
	return true;
}

static bool add_mask(Place *p, uint32_t *d, const SemTensor *m)
{
	if (p->masked || m->ndim == 0 || m->ndim > p->w.n - *d)
		return false;
	if (memcmp(m->size, p->w.size + *d, m->ndim * sizeof *m->size) != 0)
		return false;
	p->masked = true;
	p->mask = *m;
	p->mdim = *d;
	*d += m->ndim;
	return true;
}

static bool add_select(Sem *s, Place *p, uint32_t d, TermId at)
{
	double v;
	if (d >= p->w.n || !sem_known(s, at, &v))
		return false;
	int64_t size = p->w.size[d];
	if (v < (double)-size || v >= (double)size)
		return false;
	p->w.at += ((int64_t)v < 0 ? (int64_t)v + size : (int64_t)v) * p->w.step[d];
	walk_drop(&p->w, d);
	return true;
}

static bool add_scalar(Sem *s, Place *p, uint32_t *d, TermId at)
{
	double v;
	if (sem_known(s, at, &v))
		return add_select(s, p, *d, at);
	TermId *e = NEW(s->a, TermId);
	*e = at;
	return add_index(p, d, &(SemTensor){.e = e, .numel = 1, .dtype = DT_I64});
}

static bool add_slice(Sem *s, Place *p, uint32_t *d, const Arg *a)
{
	const Arg *v = arg_kids(s->g, a);
	int64_t part[3] = {0, 0, 1}, from, count;
	if (a->n != 3 || *d >= p->w.n)
		return false;
	for (uint32_t i = 0; i < 3; i++)
		if (v[i].kind != AR_NONE && !sem_int_of(s, &v[i], &part[i]))
			return false;
	int64_t size = p->w.size[*d];
	if (!sem_slice_bounds(size, v[0].kind != AR_NONE, part[0], v[1].kind != AR_NONE, part[1],
	                      part[2], &from, &count))
		return false;
	p->w.at += count ? from * p->w.step[*d] : 0;
	p->w.step[*d] *= count > 1 ? part[2] : 1;
	p->w.size[(*d)++] = count;
	return true;
}

static bool add_item(Sem *s, Place *p, uint32_t *d, const Arg *a, bool none_is_whole)
{
	SemTensor x;
	TermId t;
	DType type;
	switch ((ArgKind)a->kind) {
	case AR_NONE:
		if (!none_is_whole && !walk_insert(&p->w, *d, 1, 0))
			return false;
		return ++*d <= p->w.n;
	case AR_SLICE: return add_slice(s, p, d, a);
	case AR_LIST:
	case AR_TUPLE: return list_tensor(s, a, &x) && add_index(p, d, &x);
	case AR_INT:
	case AR_EXPR:
	case AR_NODE: break;
	default: return false;
	}
	if (!sem_tensor_of(s, a, &x))
		return sem_number_of(s, a, &t, &type) && add_scalar(s, p, d, t);
	if (x.dtype == DT_B8 || x.dtype == DT_U8)
		return add_mask(p, d, &x);
	if (x.dtype == DT_NONE || dtype_class(x.dtype) != DC_INT)
		return false;
	return x.ndim ? add_index(p, d, &x) : add_scalar(s, p, d, x.e[0]);
}

/* ---- what is named ---- */

/* Broadcasts the index tensors, and says whether all of them are numbers in range. */
static bool join_indices(Sem *s, Place *p)
{
	p->indim = 0;
	for (uint32_t i = 0; i < p->nadv; i++)
		p->indim = p->idx[i].ndim > p->indim ? p->idx[i].ndim : p->indim;
	for (uint32_t d = 0; d < p->indim; d++)
		p->isize[d] = 1;
	for (uint32_t i = 0; i < p->nadv; i++)
		for (uint32_t d = 0; d < p->idx[i].ndim; d++) {
			int64_t *at = &p->isize[p->indim - p->idx[i].ndim + d], size = p->idx[i].size[d];
			if (*at != size && *at != 1 && size != 1)
				return false;
			*at = size == 1 ? *at : size;
		}
	uint64_t n = sem_numel(p->isize, p->indim);
	if (n > SEM_NUMEL_MOST)
		return false;
	p->inumel = (uint32_t)n;
	p->known = !p->masked;
	for (uint32_t i = 0; i < p->nadv; i++) {
		double v, size = (double)p->w.size[p->dim[i]];
		p->term[i] = sem_spread(s, &p->idx[i], p->isize, p->indim);
		for (uint32_t k = 0; k < p->inumel; k++)
			p->known &= sem_known(s, p->term[i][k], &v) && v >= -size && v < size;
	}
	return true;
}

static bool is_adv(const Place *p, uint32_t d)
{
	for (uint32_t i = 0; i < p->nadv; i++)
		if (p->dim[i] == d)
			return true;
	return false;
}

static bool place_sizes(Place *p)
{
	uint32_t before = 0;
	bool side_by_side = true;
	for (uint32_t i = 1; i < p->nadv; i++)
		side_by_side &= p->dim[i] == p->dim[i - 1] + 1;
	if (p->w.n - p->nadv + p->indim > SEM_MAX_DIMS)
		return false;
	for (uint32_t d = 0; p->nadv && d < p->dim[0]; d++)
		before++;
	p->at = p->nadv && side_by_side ? before : 0;
	p->ndim = 0;
	for (uint32_t d = 0, rest = 0; d <= p->w.n; d++) {
		if (rest == p->at && p->ndim == p->at)
			for (uint32_t i = 0; i < p->indim; i++)
				p->size[p->ndim++] = p->isize[i];
		if (d == p->w.n || is_adv(p, d))
			continue;
		p->size[p->ndim++] = p->w.size[d];
		rest++;
	}
	return sem_numel(p->size, p->ndim) <= SEM_NUMEL_MOST;
}

static bool place_finish(Sem *s, Place *p)
{
	return join_indices(s, p) && (p->masked || place_sizes(p));
}

static bool place_begin(Sem *s, Place *p, const SemTensor *x, const Arg *v, uint32_t n,
                        bool none_is_whole)
{
	uint32_t taken = 0, ellipses = 0, k, d = 0;
	*p = (Place){.w = walk_of_tensor(x)};
	for (uint32_t i = 0; i < n; i++) {
		item_dims(s, &v[i], none_is_whole, &k);
		taken += k;
		ellipses += v[i].kind == AR_ELLIPSIS;
	}
	if (taken > x->ndim || ellipses > 1)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].kind == AR_ELLIPSIS)
			d += x->ndim - taken;
		else if (!add_item(s, p, &d, &v[i], none_is_whole))
			return false;
	}
	return true;
}

static bool place_items(Sem *s, Place *p, const SemTensor *x, const Arg *v, uint32_t n,
                        bool none_is_whole)
{
	return place_begin(s, p, x, v, n, none_is_whole) && place_finish(s, p);
}

bool sem_index_walk(Sem *s, const SemTensor *x, Walk *w)
{
	const Arg *index = s->arg[SROLE_INDEX];
	Place p;
	if (!index)
		return false;
	bool tuple = index->kind == AR_TUPLE;
	if (!place_begin(s, &p, x, tuple ? arg_kids(s->g, index) : index, tuple ? index->n : 1, false))
		return false;
	*w = p.w;
	return !p.nadv && !p.masked;
}

static bool place_index(Sem *s, Place *p, const SemTensor *x, const Arg *index)
{
	bool tuple = index->kind == AR_TUPLE;
	return place_items(s, p, x, tuple ? arg_kids(s->g, index) : index, tuple ? index->n : 1, false);
}

/* x.select(dim, i) with a number that is not known. */
static bool place_select(Sem *s, Place *p, const SemTensor *x)
{
	uint32_t d;
	TermId at;
	DType type;
	*p = (Place){.w = walk_of_tensor(x)};
	return x->ndim && sem_dim(s, SROLE_DIM, 0, x->ndim, &d) && s->arg[SROLE_INDEX] &&
	       sem_number_of(s, s->arg[SROLE_INDEX], &at, &type) && add_scalar(s, p, &d, at) &&
	       place_finish(s, p);
}

/* All of x, picked from along one dim. */
static bool place_along(Sem *s, Place *p, const SemTensor *x, uint32_t dim, SemTensor idx)
{
	*p = (Place){.w = walk_of_tensor(x)};
	if (!x->ndim || idx.ndim > 1 || dtype_class(idx.dtype) != DC_INT)
		return false;
	if (idx.ndim == 0) {
		idx.ndim = 1;
		idx.size[0] = 1;
	}
	return add_index(p, &dim, &idx) && place_finish(s, p);
}

static bool place_flat(Sem *s, Place *p, const SemTensor *x, const SemTensor *idx)
{
	uint32_t d = 0;
	int64_t size = x->numel;
	*p = (Place){.w = walk_of(&size, 1)};
	return dtype_class(idx->dtype) == DC_INT && add_index(p, &d, idx) && place_finish(s, p);
}

static bool index_list(Sem *s, Place *p, const SemTensor *x)
{
	const Arg *v;
	uint32_t n;
	if (!sem_list(s, SROLE_INDEX, &v, &n)) {
		v = s->arg[SROLE_INDEX];
		n = 1;
	}
	return v && place_items(s, p, x, v, n, true);
}

static bool place_of(Sem *s, Place *p, const SemTensor *x)
{
	SemTensor idx;
	uint32_t d;
	switch (s->cls) {
	case SEM_INDEX:
	case SEM_SETITEM: return s->arg[SROLE_INDEX] && place_index(s, p, x, s->arg[SROLE_INDEX]);
	case SEM_INDEX_LIST:
	case SEM_INDEX_PUT: return index_list(s, p, x);
	case SEM_SELECT:
	case SEM_PLACE: return place_select(s, p, x);
	case SEM_TAKE: return sem_tensor(s, SROLE_INDEX, &idx) && place_flat(s, p, x, &idx);
	default:
		return sem_dim(s, SROLE_DIM, 0, x->ndim, &d) && sem_tensor(s, SROLE_INDEX, &idx) &&
		       place_along(s, p, x, d, idx);
	}
}

/* Walks over what is named: the part of an element's position that the view gives, its index position, and its lane:
 * the number of its coordinates outside of the index dims. */
static void place_walks(const Place *p, Walk *base, Walk *pos, Walk *lane)
{
	uint32_t rest[SEM_MAX_DIMS], nrest = 0, k = 0;
	int64_t lanes = 1, inner = 1;
	for (uint32_t d = 0; d < p->w.n; d++)
		if (!is_adv(p, d))
			rest[nrest++] = d;
	*base = *pos = *lane = (Walk){.n = p->ndim, .at = 0};
	base->at = p->w.at;
	for (uint32_t d = 0; d < p->ndim; d++)
		base->size[d] = pos->size[d] = lane->size[d] = p->size[d];
	k = nrest;
	for (uint32_t d = p->ndim; d-- > 0;) {
		if (d >= p->at && d < p->at + p->indim) {
			pos->step[d] = inner;
			inner *= sem_numel(p->size, p->ndim) ? p->size[d] : 0;
			continue;
		}
		k--;
		base->step[d] = p->w.step[rest[k]];
		lane->step[d] = lanes;
		lanes *= sem_numel(p->size, p->ndim) ? p->size[d] : 0;
	}
}

static uint32_t index_offset(Sem *s, const Place *p, uint32_t k)
{
	int64_t at = 0;
	for (uint32_t i = 0; i < p->nadv; i++) {
		double v;
		sem_known(s, p->term[i][k], &v);
		at += ((int64_t)v < 0 ? (int64_t)v + p->w.size[p->dim[i]] : (int64_t)v) *
		      p->w.step[p->dim[i]];
	}
	return (uint32_t)at;
}

/* Positions in x of what is named, in order; the place must be known. */
static uint32_t *place_map(Sem *s, const Place *p)
{
	Walk base, pos, lane;
	place_walks(p, &base, &pos, &lane);
	uint32_t n = walk_numel(&base), *map = walk_map(s, &base), *at = walk_map(s, &pos);
	for (uint32_t k = 0; p->nadv && k < n; k++)
		map[k] += index_offset(s, p, at[k]);
	return map;
}

bool sem_index_map(Sem *s, const Arg **source, uint32_t *map)
{
	SemTensor x;
	Place p;
	if (!sem_tensor(s, SROLE_INPUT, &x) || !place_of(s, &p, &x) || !p.known)
		return false;
	if (p.ndim != s->ndim || memcmp(p.size, s->size, p.ndim * sizeof *p.size) != 0)
		return false;
	memcpy(map, place_map(s, &p), s->numel * sizeof *map);
	*source = s->arg[SROLE_INPUT];
	return true;
}

bool sem_index_sizes(const SemCall *c, const Arg *base, const Arg *index, int64_t *size,
                     uint32_t *ndim)
{
	Sem s;
	SemTensor x;
	Place p;
	sem_bind(&s, c, -1, NULL, 0, 1);
	if (!sem_tensor_of(&s, base, &x) || !place_index(&s, &p, &x, index) || !p.known)
		return false;
	memcpy(size, p.size, p.ndim * sizeof *size);
	*ndim = p.ndim;
	return true;
}

/* ---- reading by index terms ---- */

static TermId pick(Sem *s, TermId lane, const Place *p, uint32_t k)
{
	TermId v[SEM_MAX_DIMS + 1] = {lane};
	for (uint32_t i = 0; i < p->nadv; i++)
		v[i + 1] = p->term[i][k];
	return sem_op(s, "index", v, p->nadv + 1, 0);
}

/* The elements that the place's view holds, and their lanes along the dims picked from. */
static Lanes place_lanes(Sem *s, const Place *p, const SemTensor *x, uint32_t **map)
{
	bool in[SEM_MAX_DIMS] = {0};
	uint32_t n = walk_numel(&p->w);
	*map = walk_map(s, &p->w);
	TermId *e = NEW_N(s->a, TermId, (size_t)n + 1);
	for (uint32_t k = 0; k < n; k++)
		e[k] = x->e[(*map)[k]];
	for (uint32_t i = 0; i < p->nadv; i++)
		in[p->dim[i]] = true;
	return sem_lanes(s, e, p->w.size, p->w.n, in);
}

bool sem_index_read(Sem *s, TermId *out)
{
	SemTensor x;
	Place p;
	Walk base, pos, lane;
	uint32_t *map;
	if (!sem_tensor(s, SROLE_INPUT, &x) || !place_of(s, &p, &x) || p.masked)
		return false;
	if (p.ndim != s->ndim || memcmp(p.size, s->size, p.ndim * sizeof *p.size) != 0)
		return false;
	if (p.known) {
		map = place_map(s, &p);
		for (uint32_t k = 0; k < s->numel; k++)
			out[k] = x.e[map[k]];
		return true;
	}
	if (walk_numel(&p.w) == UINT32_MAX || walk_numel(&p.w) == 0)
		return false;
	Lanes l = place_lanes(s, &p, &x, &map);
	place_walks(&p, &base, &pos, &lane);
	uint32_t *at = walk_map(s, &pos), *of = walk_map(s, &lane);
	for (uint32_t k = 0; k < s->numel; k++)
		out[k] = pick(s, l.term[of[k]], &p, at[k]);
	return true;
}

bool sem_take(Sem *s, TermId *out)
{
	return sem_index_read(s, out);
}

/* Lane number of coordinates in other sizes: dims `in` do not count. */
static uint32_t *lanes_at(Sem *s, const SemTensor *x, const bool *in, const int64_t *size)
{
	Walk w = {.n = x->ndim};
	int64_t lanes = 1;
	for (uint32_t d = x->ndim; d-- > 0;) {
		w.size[d] = size[d];
		w.step[d] = in[d] ? 0 : lanes;
		lanes *= in[d] ? 1 : x->size[d];
	}
	return walk_map(s, &w);
}

static bool fits_in(const int64_t *a, const SemTensor *x, uint32_t but)
{
	for (uint32_t d = 0; d < x->ndim; d++)
		if (d != but && a[d] > x->size[d])
			return false;
	return true;
}

bool sem_gather(Sem *s, TermId *out)
{
	SemTensor x, idx;
	uint32_t d;
	double v;
	bool in[SEM_MAX_DIMS] = {0};
	if (!sem_tensor(s, SROLE_INPUT, &x) || !sem_tensor(s, SROLE_INDEX, &idx) || !x.numel ||
	    !x.ndim || !sem_dim(s, SROLE_DIM, 0, x.ndim, &d) || idx.ndim != x.ndim ||
	    s->ndim != x.ndim || !fits_in(s->size, &x, d) || idx.numel != s->numel)
		return false;
	in[d] = true;
	Lanes l = sem_lanes(s, x.e, x.size, x.ndim, in);
	uint32_t *of = lanes_at(s, &x, in, s->size),
			 *first = NEW_N(s->a, uint32_t, (size_t)l.n * l.length);
	for (uint32_t k = 0; k < x.numel; k++)
		first[l.of[k] * l.length + l.pos[k]] = k;
	for (uint32_t k = 0; k < s->numel; k++) {
		bool known = sem_known(s, idx.e[k], &v) && v >= 0 && v < l.length;
		out[k] = known ? x.e[first[of[k] * l.length + (uint32_t)v]]
		               : sem_op2(s, "index", l.term[of[k]], idx.e[k]);
	}
	return true;
}

bool sem_embedding(Sem *s, TermId *out)
{
	SemTensor w, idx;
	double v;
	const bool in[SEM_MAX_DIMS] = {true};
	if (!sem_tensor(s, SROLE_WEIGHT, &w) || !sem_tensor(s, SROLE_INDEX, &idx) || w.ndim != 2 ||
	    sem_given(s, SROLE_P) || s->numel != idx.numel * (uint64_t)w.size[1] || !w.numel)
		return false;
	Lanes l = sem_lanes(s, w.e, w.size, 2, in);
	uint32_t cols = (uint32_t)w.size[1];
	for (uint32_t k = 0; k < s->numel; k++) {
		TermId i = idx.e[k / cols];
		bool known = sem_known(s, i, &v) && v >= 0 && v < (double)w.size[0];
		out[k] =
			known ? w.e[(uint32_t)v * cols + k % cols] : sem_op2(s, "index", l.term[k % cols], i);
	}
	return true;
}

/* ---- writing ---- */

/* The values written, broadcast to the place; leading dims of size 1 do not count. */
static SemTensor value_of(Sem *s, DType to)
{
	SemRole role = sem_given(s, SROLE_SOURCE) ? SROLE_SOURCE : SROLE_VALUE;
	bool number;
	SemTensor v = sem_operand_of(s, s->arg[role], &number), kept = v;
	TermId *e = NEW_N(s->a, TermId, (size_t)v.numel + 1);
	for (uint32_t k = 0; k < v.numel; k++)
		e[k] = sem_convert(s, v.e[k], v.dtype, to);
	while (kept.ndim && kept.size[0] == 1) {
		memmove(kept.size, kept.size + 1, (kept.ndim - 1) * sizeof *kept.size);
		kept.ndim--;
	}
	kept.e = e;
	kept.dtype = to;
	return kept;
}

static bool writes_nothing_known(const Sem *s)
{
	return !sem_given(s, SROLE_SOURCE) && !sem_given(s, SROLE_VALUE);
}

static void write_mask(Sem *s, const Place *p, const SemTensor *x, const SemTensor *v, bool add,
                       TermId *out)
{
	uint32_t n = walk_numel(&p->w), after = p->w.n - p->mdim - p->mask.ndim,
			 *map = walk_map(s, &p->w);
	Walk m = {.n = p->w.n}, tail = {.n = p->w.n};
	int64_t step = 1;
	for (uint32_t d = p->w.n; d-- > 0;) {
		m.size[d] = tail.size[d] = p->w.size[d];
		if (d >= p->mdim && d < p->mdim + p->mask.ndim) {
			m.step[d] = step;
			step *= n ? p->w.size[d] : 0;
		}
	}
	bool by_tail = v->ndim <= after;
	Walk values = walk_of_tensor(v);
	by_tail = by_tail && walk_expand(&values, p->w.size + p->mdim + p->mask.ndim, after);
	for (uint32_t d = 0; by_tail && d < after; d++)
		tail.step[p->mdim + p->mask.ndim + d] = values.step[d];
	TermId all = {0};
	if (!by_tail)
		all =
			sem_op2(s, "masked", sem_vec(s, p->mask.e, p->mask.numel), sem_vec(s, v->e, v->numel));
	uint32_t *mk = walk_map(s, &m), *tk = walk_map(s, &tail);
	for (uint32_t k = 0; k < n; k++) {
		TermId old = x->e[map[k]];
		TermId new = by_tail ? v->e[tk[k]] : sem_op(s, "masked_value", &all, 1, (uint64_t)k + 1);
		if (add)
			new = sem_op2(s, "add", old, new);
		TermId c = sem_convert(s, p->mask.e[mk[k]], p->mask.dtype, DT_B8);
		out[map[k]] = sem_op(s, "where", (TermId[]){c, new, old}, 3, 0);
	}
}

/* Any of the elements of a lane may be written by any value that goes to that lane. */
static void write_unknown(Sem *s, const Place *p, const SemTensor *x, const TermId *v, bool add,
                          TermId *out)
{
	bool in[SEM_MAX_DIMS] = {0};
	uint32_t *map;
	Lanes l = place_lanes(s, p, x, &map);
	for (uint32_t i = 0; i < p->indim; i++)
		in[p->at + i] = true;
	Lanes values = sem_lanes(s, v, p->size, p->ndim, in);
	TermId idx[SEM_MAX_DIMS];
	for (uint32_t i = 0; i < p->nadv; i++)
		idx[i] = sem_vec(s, p->term[i], p->inumel);
	TermId at = sem_op(s, "at", idx, p->nadv, 0);
	for (uint32_t k = 0, n = walk_numel(&p->w); k < n && values.n; k++)
		out[map[k]] =
			sem_op(s, add ? "index_add" : "index_put",
		           (TermId[]){x->e[map[k]], at, values.term[l.of[k]]}, 3, (uint64_t)l.pos[k] + 1);
}

static bool write_place(Sem *s, const Place *p, const SemTensor *x, const SemTensor *v, bool add,
                        TermId *out)
{
	memcpy(out, x->e, x->numel * sizeof *out);
	if (walk_numel(&p->w) == UINT32_MAX || (p->masked && p->nadv))
		return false;
	if (p->masked) {
		write_mask(s, p, x, v, add, out);
		return true;
	}
	Walk fit = walk_of_tensor(v);
	if (!walk_expand(&fit, p->size, p->ndim))
		return false;
	const TermId *e = sem_spread(s, v, p->size, p->ndim);
	if (!p->known) {
		write_unknown(s, p, x, e, add, out);
		return true;
	}
	uint32_t *map = place_map(s, p);
	for (uint32_t k = 0, n = (uint32_t)sem_numel(p->size, p->ndim); k < n; k++)
		out[map[k]] = add ? sem_op2(s, "add", out[map[k]], e[k]) : e[k];
	return true;
}

/* A known place gets the values alone: what is asked for are its elements. */
bool sem_setitem(Sem *s, TermId *out)
{
	SemTensor x;
	Place p;
	if (!sem_tensor(s, SROLE_INPUT, &x) || writes_nothing_known(s))
		return false;
	SemTensor v = value_of(s, x.dtype);
	if (!place_of(s, &p, &x))
		return false;
	if (!p.known)
		return s->numel == x.numel && write_place(s, &p, &x, &v, false, out);
	Walk w = walk_of_tensor(&v);
	if (!walk_expand(&w, s->size, s->ndim))
		return false;
	memcpy(out, sem_spread(s, &v, s->size, s->ndim), s->numel * sizeof *out);
	return true;
}

static void scale(Sem *s, SemTensor *v)
{
	TermId alpha;
	DType d;
	if (!sem_given(s, SROLE_ALPHA))
		return;
	if (!sem_number_of(s, s->arg[SROLE_ALPHA], &alpha, &d))
		alpha = sem_unknown(s, 0);
	TermId *e = NEW_N(s->a, TermId, (size_t)v->numel + 1);
	for (uint32_t k = 0; k < v->numel; k++)
		e[k] = sem_op2(s, "mul", v->e[k], sem_convert(s, alpha, d, v->dtype));
	v->e = e;
}

bool sem_index_write(Sem *s, TermId *out)
{
	SemTensor x, idx;
	Place p;
	bool add;
	if (!sem_tensor(s, SROLE_INPUT, &x) || x.numel != s->numel || writes_nothing_known(s) ||
	    s->nmore ||
	    !sem_bool_or(s, SROLE_ACCUMULATE, str_eq(sym_str(s->names, s->op), S("index_add")), &add))
		return false;
	bool flat = str_eq(sym_str(s->names, s->op), S("put"));
	if (flat ? !sem_tensor(s, SROLE_INDEX, &idx) || !place_flat(s, &p, &x, &idx)
	         : !place_of(s, &p, &x))
		return false;
	SemTensor v = value_of(s, x.dtype);
	scale(s, &v);
	if (flat && v.numel == p.inumel) { /* put takes both flat */
		v.ndim = p.ndim;
		memcpy(v.size, p.size, sizeof v.size);
	}
	return write_place(s, &p, &x, &v, add, out);
}

/* ---- scatter ---- */

typedef struct Scatter {
	SemTensor x, idx;
	uint32_t dim;
	const TermId *v; /* by element of idx */
	Lanes lanes; /* of x */
	uint32_t *of; /* lane by element of idx */
	bool known;
} Scatter;

static bool scatter_read(Sem *s, Scatter *c)
{
	bool in[SEM_MAX_DIMS] = {0}, number;
	double v;
	if (!sem_tensor(s, SROLE_INPUT, &c->x) || !sem_tensor(s, SROLE_INDEX, &c->idx) || !c->x.ndim ||
	    writes_nothing_known(s) || c->x.numel != s->numel ||
	    !sem_dim(s, SROLE_DIM, 0, c->x.ndim, &c->dim) || c->idx.ndim != c->x.ndim ||
	    !fits_in(c->idx.size, &c->x, c->dim))
		return false;
	in[c->dim] = true;
	c->lanes = sem_lanes(s, c->x.e, c->x.size, c->x.ndim, in);
	c->of = lanes_at(s, &c->x, in, c->idx.size);
	const Arg *source = s->arg[sem_given(s, SROLE_SOURCE) ? SROLE_SOURCE : SROLE_VALUE];
	SemTensor src = sem_operand_of(s, source, &number);
	if (src.ndim != (src.ndim ? c->idx.ndim : 0) ||
	    (src.ndim && !fits_in(c->idx.size, &src, SEM_MAX_DIMS)))
		return false;
	Walk w = walk_of_tensor(&src);
	for (uint32_t d = 0; d < w.n; d++)
		w.size[d] = c->idx.size[d];
	uint32_t *map = src.ndim ? walk_map(s, &w) : NULL;
	TermId *e = NEW_N(s->a, TermId, (size_t)c->idx.numel + 1);
	c->known = true;
	for (uint32_t k = 0; k < c->idx.numel; k++) {
		e[k] = sem_convert(s, src.e[map ? map[k] : 0], src.dtype, c->x.dtype);
		c->known &= sem_known(s, c->idx.e[k], &v) && v >= 0 && v < c->lanes.length;
	}
	c->v = e;
	return true;
}

static void scatter_known(Sem *s, const Scatter *c, bool add, TermId *out)
{
	uint32_t *at = NEW_N(s->a, uint32_t, (size_t)c->x.numel + 1);
	for (uint32_t k = 0; k < c->x.numel; k++)
		at[c->lanes.of[k] * c->lanes.length + c->lanes.pos[k]] = k;
	for (uint32_t k = 0; k < c->idx.numel; k++) {
		double i;
		sem_known(s, c->idx.e[k], &i);
		TermId *to = &out[at[c->of[k] * c->lanes.length + (uint32_t)i]];
		*to = add ? sem_op2(s, "add", *to, c->v[k]) : c->v[k];
	}
}

bool sem_scatter(Sem *s, TermId *out)
{
	Scatter c;
	bool add = str_eq(sym_str(s->names, s->op), S("scatter_add"));
	if (!scatter_read(s, &c))
		return false;
	memcpy(out, c.x.e, c.x.numel * sizeof *out);
	bool plain = add || str_eq(sym_str(s->names, s->op), S("scatter"));
	if (plain && c.known && !s->nmore) {
		scatter_known(s, &c, add, out);
		return true;
	}
	TermList *by_lane = NEW_N(s->a, TermList, (size_t)c.lanes.n + 1);
	TermId *put = NEW_N(s->a, TermId, (size_t)c.lanes.n + 1);
	for (uint32_t k = 0; k < c.idx.numel; k++) {
		sem_push(s, &by_lane[c.of[k]], c.idx.e[k]);
		sem_push(s, &by_lane[c.of[k]], c.v[k]);
	}
	for (uint32_t i = 0; i < c.lanes.n; i++) {
		if (!by_lane[i].v.n)
			continue;
		sem_push_more(s, &by_lane[i]);
		put[i] = sem_list_op(s, "at", &by_lane[i], 0);
	}
	for (uint32_t k = 0; k < c.x.numel; k++)
		if (put[c.lanes.of[k]].i)
			out[k] = term_op(s->t, s->op, (TermId[]){c.x.e[k], put[c.lanes.of[k]]}, 2,
			                 (uint64_t)c.lanes.pos[k] + 1);
	return true;
}

bool sem_masked_scatter(Sem *s, TermId *out)
{
	SemTensor x, mask, src;
	if (!sem_tensor(s, SROLE_INPUT, &x) || !sem_tensor(s, SROLE_COND, &mask) ||
	    !sem_tensor(s, SROLE_SOURCE, &src))
		return false;
	const TermId *e = sem_spread(s, &x, s->size, s->ndim),
				 *m = sem_spread(s, &mask, s->size, s->ndim);
	TermId all = sem_op2(s, "masked", sem_vec(s, m, s->numel), sem_vec(s, src.e, src.numel));
	for (uint32_t k = 0; k < s->numel; k++) {
		TermId v = sem_op(s, "masked_value", &all, 1, (uint64_t)k + 1);
		out[k] =
			sem_op(s, "where", (TermId[]){m[k], sem_convert(s, v, src.dtype, x.dtype), e[k]}, 3, 0);
	}
	return true;
}
