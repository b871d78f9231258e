/* SPDX-License-Identifier: MIT
 * Tensors of a run: small ones have a term for each element, large ones a term for the whole and for the parts
 * written since. */
#include "sim.h"

#include "sim_learn.h"

static bool symbol_value(void *ctx, Str name, int64_t *out)
{
	Sim *s = ctx;
	Sym sym = sym_find(s->names, name);
	uint32_t v = sym.i ? map_get(&s->symbols, sym.i) : 0;
	*out = (int64_t)v - 1;
	s->assumes |= v && map_get(&s->assumed, sym.i);
	return v != 0;
}

bool sim_expr(Sim *s, ExprId e, int64_t *out)
{
	return e.i && expr_eval(s->t, e, symbol_value, s, out);
}

bool sim_sizes(Sim *s, TypeId id, int64_t *size, int64_t *stride, bool *strided, uint32_t *ndim)
{
	const Type *t = type_get(s->t, id);
	*strided = t->has_stride;
	if (t->kind != TK_TENSOR || !t->has_shape || t->ndim > SIM_DIMS)
		return false;
	*ndim = t->ndim;
	for (uint32_t i = 0; i < t->ndim; i++) {
		if (!expr_eval(s->t, t->size[i], symbol_value, s, &size[i]) || size[i] < 0)
			return false;
		if (t->has_stride && (!expr_eval(s->t, t->stride[i], symbol_value, s, &stride[i]) || stride[i] < 0))
			*strided = false;
	}
	if (*strided)
		return true;
	int64_t n = 1;
	for (uint32_t i = t->ndim; i-- > 0;) {
		stride[i] = n;
		if (size[i] && n <= INT64_MAX / (size[i] > 1 ? size[i] : 1))
			n *= size[i] > 1 ? size[i] : 1;
	}
	return true;
}

/* Elements, or UINT32_MAX when there are more than a small tensor has. */
static uint32_t numel_of(const Sim *s, const int64_t *size, uint32_t ndim)
{
	uint64_t n = 1;
	for (uint32_t i = 0; i < ndim; i++) {
		if (!size[i])
			return 0;
		if (n > s->small || (uint64_t)size[i] > s->small)
			n = (uint64_t)s->small + 1;
		else
			n *= (uint64_t)size[i];
	}
	return n > s->small ? UINT32_MAX : (uint32_t)n;
}

/* Elements of memory that the tensor spans. */
static uint64_t span_of(const int64_t *size, const int64_t *stride, uint32_t ndim)
{
	uint64_t n = 1;
	for (uint32_t i = 0; i < ndim; i++) {
		if (!size[i])
			return 0;
		if ((uint64_t)stride[i] > (1u << 30) || (uint64_t)size[i] > (1u << 30))
			return UINT64_MAX;
		n += (uint64_t)(size[i] - 1) * (uint64_t)stride[i];
	}
	return n;
}

static void fill_index(const SimTensor *t, uint32_t *idx, int64_t offset)
{
	int64_t at[SIM_DIMS] = {0};
	for (uint32_t k = 0; k < t->numel; k++) {
		int64_t i = offset;
		for (uint32_t d = 0; d < t->ndim; d++)
			i += at[d] * t->stride[d];
		idx[k] = (uint32_t)i;
		for (uint32_t d = t->ndim; d-- > 0;) {
			if (++at[d] < t->size[d])
				break;
			at[d] = 0;
		}
	}
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	return hash_u64(h * 0x9e3779b97f4a7c15u ^ x);
}

static uint64_t place_hash(const SimTensor *t)
{
	uint64_t h = mix(7, (uint64_t)t->offset);
	for (uint32_t d = 0; d < t->ndim; d++)
		if (t->size[d] != 1)
			h = mix(mix(h, (uint64_t)t->size[d]), (uint64_t)t->stride[d]);
	return h;
}

bool sim_is_placed(const SimTensor *t)
{
	int64_t at[SIM_DIMS] = {0};
	if (!t->idx || !t->sized)
		return t->placed && t->sized;
	for (uint32_t k = 0; k < t->numel; k++) {
		int64_t i = t->offset;
		for (uint32_t d = 0; d < t->ndim; d++)
			i += at[d] * t->stride[d];
		if (i != t->idx[k])
			return false;
		for (uint32_t d = t->ndim; d-- > 0;) {
			if (++at[d] < t->size[d])
				break;
			at[d] = 0;
		}
	}
	return true;
}

static uint32_t store_new(Sim *s, SimStore st)
{
	VEC_PUSH(s->a, &s->stores, st);
	return s->stores.n - 1;
}

static Ref tensor_new(Sim *s, SimTensor t)
{
	Ref r = sim_new(s, HK_TENSOR);
	t.self = r;
	VEC_PUSH(s->a, &s->tensors, t);
	sim_obj(s, r)->tensor = s->tensors.n - 1;
	return r;
}

static void shape_tensor(Sim *s, SimTensor *t, TypeId id)
{
	const Type *ty = type_get(s->t, id);
	bool strided;
	t->dtype = ty->dtype;
	t->device = ty->device;
	s->assumes = false;
	t->sized = sim_sizes(s, id, t->size, t->stride, &strided, &t->ndim);
	t->placed = t->sized;
	t->assumed = s->assumes;
}

static bool is_row_major(const SimTensor *t)
{
	int64_t step = 1;
	for (uint32_t d = t->ndim; d-- > 0; step *= t->size[d])
		if (t->size[d] != 1 && t->stride[d] != step)
			return false;
	return true;
}

/* Most tensors lie in one piece: they share one index, 0, 1, 2 ... */
static uint32_t *index_of_new(Sim *s, const SimTensor *t)
{
	bool shared = t->numel && is_row_major(t);
	if (shared && s->in_order_n >= t->numel)
		return s->in_order;
	uint32_t *idx = NEW_N(s->a, uint32_t, t->numel + 1);
	fill_index(t, idx, 0);
	if (shared) {
		s->in_order = idx;
		s->in_order_n = t->numel;
	}
	return idx;
}

Ref sim_new_tensor(Sim *s, TypeId type, const TermId *terms, uint64_t origin)
{
	SimTensor t = {.origin = origin};
	SimStore st = {.origin = origin};
	shape_tensor(s, &t, sim_learned(s, origin, type));
	uint32_t n = t.sized ? numel_of(s, t.size, t.ndim) : UINT32_MAX;
	uint64_t span = t.sized ? span_of(t.size, t.stride, t.ndim) : UINT64_MAX;
	if (n != UINT32_MAX && span <= 4 * (uint64_t)s->small) {
		t.numel = n;
		t.idx = index_of_new(s, &t);
		st.n = (uint32_t)span ? (uint32_t)span : 1;
		st.e = NEW_N(s->a, TermId, st.n);
		for (uint32_t k = 0; terms && k < n; k++)
			st.e[t.idx[k]] = terms[k];
		for (uint32_t i = 0; i < st.n; i++) /* nobody knows those between the rows */
			if (!st.e[i].i)
				st.e[i] = term_fresh(s->terms, mix(origin, i));
	} else {
		st.total = t.sized && span < UINT64_MAX ? (int64_t)span : 0;
		st.whole = terms ? terms[0] : term_fresh(s->terms, origin);
		t.place = place_hash(&t);
	}
	t.store = store_new(s, st);
	return tensor_new(s, t);
}

Ref sim_root_tensor(Sim *s, TypeId type, uint64_t origin)
{
	Ref r = sim_new_tensor(s, type, NULL, origin);
	sim_obj(s, r)->root = true;
	sim_tensor_of(s, r)->whence = WHENCE_GIVEN;
	sim_obj(s, r)->origin = origin;
	return r;
}

/* Names that Dynamo makes of self.lin._parameters['weight'] and of buffers; of others nothing is known. */
void sim_note_origin(Sim *s, Ref v, Str name, bool attribute)
{
	SimTensor *t = sim_tensor_of(s, v);
	if (str_has(name, S("_parameters_")))
		t->whence = WHENCE_PARAMETER;
	else if (str_has(name, S("_buffers_")))
		t->whence = WHENCE_BUFFER;
	else if (attribute)
		t->whence = WHENCE_ATTRIBUTE;
}

static void derive(Sim *s, SimTensor *t, Ref from)
{
	const SimTensor *b = sim_tensor_of(s, from);
	t->store = b->store;
	t->wrapper = b->wrapper;
	t->parent = sim_obj(s, from)->tensor;
	t->base = b->base ? b->base : t->parent;
}

void sim_make_root(Sim *s, Ref view)
{
	SimTensor *t = sim_tensor_of(s, view);
	t->parent = t->base = 0;
}

void sim_wrap_memory(Sim *s, Ref tensor)
{
	sim_make_root(s, tensor);
	sim_tensor_of(s, tensor)->wrapper = ++s->wrappers;
}

Ref sim_view(Sim *s, Ref base, TypeId type, const uint32_t *map, uint64_t way)
{
	SimTensor b = *sim_tensor_of(s, base), t = {0};
	shape_tensor(s, &t, type);
	derive(s, &t, base);
	if (type_get(s->t, type)->dtype == DT_NONE)
		t.dtype = b.dtype;
	uint32_t n = t.sized ? numel_of(s, t.size, t.ndim) : UINT32_MAX;
	if (map && b.idx && n != UINT32_MAX) {
		t.numel = n;
		uint32_t *own = NEW_N(s->a, uint32_t, n + 1);
		for (uint32_t k = 0; k < n; k++)
			own[k] = map[k] < b.numel ? b.idx[map[k]] : b.idx[0];
		t.idx = own;
		t.offset = n ? t.idx[0] : b.offset;
		return tensor_new(s, t);
	}
	/* where a view of unknown place stands is named by the way it was made; equal layouts over one offset are one place */
	bool same_start = b.placed && t.placed && way == 0;
	t.offset = same_start ? b.offset : 0;
	t.placed = same_start;
	t.place = same_start ? place_hash(&t) : mix(mix(b.place, way), place_hash(&t));
	return tensor_new(s, t);
}

Ref sim_view_placed(Sim *s, Ref base, TypeId type, const int64_t *size, const int64_t *stride, uint32_t ndim, int64_t offset)
{
	SimTensor b = *sim_tensor_of(s, base), t = {0};
	const Type *ty = type_get(s->t, type);
	t.dtype = ty->dtype == DT_NONE ? b.dtype : ty->dtype;
	t.device = ty->device.i ? ty->device : b.device;
	derive(s, &t, base);
	t.ndim = ndim;
	t.sized = t.placed = true;
	t.assumed = b.assumed;
	t.offset = offset;
	memcpy(t.size, size, ndim * sizeof *size);
	memcpy(t.stride, stride, ndim * sizeof *stride);
	t.place = place_hash(&t);
	return tensor_new(s, t);
}

Ref sim_view_of_store(Sim *s, Ref base, TypeId type, const uint32_t *idx, uint32_t n)
{
	SimTensor b = *sim_tensor_of(s, base), t = {0};
	shape_tensor(s, &t, type);
	derive(s, &t, base);
	t.numel = n;
	t.idx = memcpy(NEW_N(s->a, uint32_t, n + 1), idx, n * sizeof *idx);
	t.offset = n ? idx[0] : b.offset;
	return tensor_new(s, t);
}

Ref sim_clone(Sim *s, Ref r)
{
	SimTensor t = *sim_tensor_of(s, r);
	SimStore old = s->stores.v[t.store], st = old;
	st.side = SIDE_NONE;
	if (old.e) {
		st.e = NEW_N(s->a, TermId, old.n);
		memcpy(st.e, old.e, old.n * sizeof *st.e);
	}
	st.parts.v = NEW_N(s->a, SimPart, old.parts.n + 1);
	if (old.parts.n)
		memcpy(st.parts.v, old.parts.v, old.parts.n * sizeof *st.parts.v);
	st.parts.cap = old.parts.n + 1;
	t.store = store_new(s, st);
	t.origin = 0;
	t.parent = t.base = t.wrapper = 0;
	Ref c = tensor_new(s, t);
	return c;
}

/* ---- large tensors ---- */

static SimPart part_of(const SimTensor *t, TermId term)
{
	SimPart p = {.place = t->place, .known = t->placed, .offset = t->offset, .ndim = t->ndim, .term = term};
	memcpy(p.size, t->size, sizeof p.size);
	memcpy(p.stride, t->stride, sizeof p.stride);
	return p;
}

static void interval(const SimPart *p, int64_t *lo, int64_t *hi)
{
	*lo = *hi = p->offset;
	for (uint32_t d = 0; d < p->ndim; d++)
		*hi += p->size[d] ? (p->size[d] - 1) * p->stride[d] : 0;
}

static bool is_dense(const SimPart *p)
{
	int64_t lo, hi, n = 1;
	interval(p, &lo, &hi);
	for (uint32_t d = 0; d < p->ndim; d++) {
		if (p->size[d] && n > INT64_MAX / p->size[d])
			return false;
		n *= p->size[d];
	}
	return n == hi - lo + 1;
}

enum { MEET_ELEMENTS_MOST = 1 << 16, MEET_SPAN_MOST = 1 << 20 };

static uint64_t part_numel(const SimPart *p)
{
	uint64_t n = 1;
	for (uint32_t d = 0; d < p->ndim; d++)
		n = n > MEET_ELEMENTS_MOST || (uint64_t)p->size[d] > MEET_ELEMENTS_MOST ? MEET_ELEMENTS_MOST + 1 : n * (uint64_t)p->size[d];
	return n;
}

/* Marks the elements of a part, or asks whether one is marked. */
static bool part_walk(const SimPart *p, int64_t from, uint8_t *in, bool mark)
{
	int64_t at[SIM_DIMS] = {0};
	for (uint64_t k = part_numel(p); k-- > 0;) {
		int64_t i = p->offset - from;
		for (uint32_t d = 0; d < p->ndim; d++)
			i += at[d] * p->stride[d];
		if (mark)
			in[i] = 1;
		else if (in[i])
			return true;
		for (uint32_t d = p->ndim; d-- > 0;) {
			if (++at[d] < p->size[d])
				break;
			at[d] = 0;
		}
	}
	return false;
}

/* Element by element, for places of moderate size. */
static Tri parts_meet_exactly(Sim *s, const SimPart *a, const SimPart *b)
{
	int64_t alo, ahi, blo, bhi;
	uint64_t na = part_numel(a), nb = part_numel(b);
	interval(a, &alo, &ahi);
	interval(b, &blo, &bhi);
	int64_t lo = alo < blo ? alo : blo, hi = ahi > bhi ? ahi : bhi;
	bool forward = true;
	for (uint32_t d = 0; d < SIM_DIMS; d++)
		forward &= (d >= a->ndim || a->stride[d] >= 0) && (d >= b->ndim || b->stride[d] >= 0);
	if (!forward || na > MEET_ELEMENTS_MOST || nb > MEET_ELEMENTS_MOST || hi - lo >= MEET_SPAN_MOST)
		return TRI_MAY;
	ArenaMark mark = arena_mark(s->scratch);
	uint8_t *in = NEW_N(s->scratch, uint8_t, (size_t)(hi - lo) + 1);
	part_walk(a, lo, in, true);
	bool meet = part_walk(b, lo, in, false);
	arena_rewind(s->scratch, mark);
	s->steps += (na + nb + (uint64_t)(hi - lo)) / 64;
	return meet ? TRI_MUST : TRI_NO;
}

/* Do two places have elements in common? */
static Tri parts_meet(Sim *s, const SimPart *a, const SimPart *b)
{
	int64_t alo, ahi, blo, bhi;
	if (a->place == b->place)
		return TRI_MUST;
	if (!a->known || !b->known)
		return TRI_MAY;
	interval(a, &alo, &ahi);
	interval(b, &blo, &bhi);
	if (ahi < blo || bhi < alo)
		return TRI_NO;
	if (is_dense(a) || is_dense(b)) /* an interval meets whatever begins or ends in it, or lies around with gaps */
		return (is_dense(a) && blo >= alo && blo <= ahi) || (is_dense(b) && alo >= blo && alo <= bhi) ||
		               (is_dense(a) && is_dense(b))
		           ? TRI_MUST
		           : parts_meet_exactly(s, a, b);
	if (a->ndim == b->ndim) { /* blocks of one matrix: apart in some dim of equal stride */
		int64_t rest = a->offset - b->offset;
		bool same = true;
		for (uint32_t d = 0; d < a->ndim; d++)
			same &= a->stride[d] == b->stride[d] && a->stride[d] > 0;
		for (uint32_t d = 0; same && d < a->ndim; d++) {
			int64_t q = rest / a->stride[d];
			rest -= q * a->stride[d];
			if (q >= b->size[d] || -q >= a->size[d])
				return TRI_NO;
		}
	}
	return parts_meet_exactly(s, a, b);
}

/* Does part a cover all of b? Only what is certain counts. */
static bool part_covers(const SimPart *a, const SimPart *b, int64_t total)
{
	int64_t alo, ahi, blo, bhi;
	if (a->place == b->place)
		return true;
	if (!a->known || !is_dense(a))
		return false;
	interval(a, &alo, &ahi);
	if (total && alo == 0 && ahi == total - 1)
		return true;
	if (!b->known)
		return false;
	interval(b, &blo, &bhi);
	return alo <= blo && bhi <= ahi;
}

static bool is_whole(const SimStore *st, const SimPart *p)
{
	int64_t lo, hi;
	if (!p->known || !st->total || !is_dense(p))
		return false;
	interval(p, &lo, &hi);
	return lo == 0 && hi == st->total - 1;
}

/* Does a view of which the elements are not known reach every one of a small store? It has as many, each once. */
static bool reaches_all(const Sim *s, const SimStore *st, const SimTensor *t)
{
	for (uint32_t d = 0; d < t->ndim; d++)
		if (t->size[d] > 1 && !t->stride[d])
			return false;
	return t->sized && numel_of(s, t->size, t->ndim) == st->n;
}

static TermId perhaps(Sim *s, TermId x)
{
	return term_op(s->terms, sym_intern(s->names, S("perhaps")), (TermId[]){x, term_unsure(s->terms, 1)}, 2, 1);
}

/* A view of a small store whose elements are not known: of all of them. */
static TermId read_unplaced(Sim *s, const SimTensor *t)
{
	const SimStore *st = &s->stores.v[t->store];
	TermId r = term_op(s->terms, sym_intern(s->names, S("part")), st->e, st->n, t->place | 1);
	return reaches_all(s, st, t) ? r : perhaps(s, r);
}

static TermId read_large(Sim *s, const SimTensor *t, bool *mixed)
{
	enum { MOST = 64 };
	const SimStore *st = &s->stores.v[t->store];
	SimPart q = part_of(t, (TermId){0});
	TermId args[MOST + 1];
	uint32_t n = 0;
	bool covered = false, unsure = false;
	*mixed = st->coarse;
	if (st->e)
		return read_unplaced(s, t);
	for (uint32_t i = st->parts.n; i-- > 0 && !covered && n < MOST;) {
		const SimPart *p = &st->parts.v[i];
		Tri meet = parts_meet(s, p, &q);
		if (meet == TRI_NO)
			continue;
		unsure |= meet == TRI_MAY;
		if (p->place == q.place && !n)
			return p->term;
		args[n++] = p->term;
		covered = part_covers(p, &q, st->total);
	}
	if (!n && is_whole(st, &q))
		return st->whole;
	if (!covered)
		args[n++] = st->whole;
	*mixed |= n > 1;
	unsure |= n > MOST; /* older parts were not looked at */
	bool number = n > 0 && term_get(s->terms, args[0])->kind == TERM_NUM;
	for (uint32_t i = 1; i < n; i++)
		number &= args[i].i == args[0].i;
	if (number) /* the same everywhere */
		return args[0];
	TermId r = term_op(s->terms, sym_intern(s->names, S("part")), args, n, q.place | 1);
	bool part_of_coarse = st->coarse && !is_whole(st, &q);
	if (unsure || part_of_coarse) /* which elements differ is not known */
		r = perhaps(s, r);
	return r;
}

static void write_large(Sim *s, const SimTensor *t, TermId term)
{
	SimStore *st = &s->stores.v[t->store];
	SimPart p = part_of(t, term);
	st->touched++;
	for (uint32_t d = 0; t->sized && d < t->ndim; d++)
		if (!t->size[d])
			return;
	if (st->e) { /* a large way of writing a small store: all its elements may be it */
		for (uint32_t i = 0; i < st->n; i++)
			st->e[i] = term_op(s->terms, sym_intern(s->names, S("part")), (TermId[]){term, st->e[i]}, 2, mix(t->place, i) | 1);
		for (uint32_t i = 0; i < st->n && !reaches_all(s, st, t); i++)
			st->e[i] = perhaps(s, st->e[i]);
		return;
	}
	if (is_whole(st, &p)) {
		st->whole = term;
		st->parts.n = 0;
		st->coarse = false;
		return;
	}
	for (uint32_t i = 0; i < st->parts.n; i++)
		if (st->parts.v[i].place == p.place) { /* the newest of a place replaces it */
			memmove(&st->parts.v[i], &st->parts.v[i + 1], (st->parts.n - i - 1) * sizeof p);
			st->parts.n--;
			break;
		}
	VEC_PUSH(s->a, &st->parts, p);
}

void sim_write_part(Sim *s, Ref r, const int64_t *size, const int64_t *stride, uint32_t ndim, int64_t offset, TermId term)
{
	SimTensor t = *sim_tensor_of(s, r);
	t.ndim = ndim;
	t.offset = offset;
	memcpy(t.size, size, ndim * sizeof *size);
	memcpy(t.stride, stride, ndim * sizeof *stride);
	t.place = place_hash(&t);
	write_large(s, &t, term);
}

void sim_write_whole(Sim *s, Ref r, TermId term)
{
	const SimTensor t = *sim_tensor_of(s, r);
	write_large(s, &t, term);
}

/* ---- contents ---- */

bool sim_elements(Sim *s, Ref r, const TermId **out)
{
	const SimTensor *t = sim_tensor_of(s, r);
	const SimStore *st = &s->stores.v[t->store];
	if (!t->idx || !st->e)
		return false;
	TermId *e = NEW_N(s->scratch, TermId, t->numel + 1);
	for (uint32_t k = 0; k < t->numel; k++)
		e[k] = st->e[t->idx[k]];
	*out = e;
	return true;
}

/* Of several indices that reach one element those that keep it change nothing. */
void sim_write_elements(Sim *s, Ref r, const uint32_t *map, uint32_t n, const TermId *terms)
{
	const SimTensor *t = sim_tensor_of(s, r);
	SimStore *st = &s->stores.v[t->store];
	ASSERT(t->idx && st->e);
	ArenaMark mark = arena_mark(s->scratch);
	TermId *old = NEW_N(s->scratch, TermId, n + 1);
	st->touched++;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = map ? map[k] : k;
		old[k] = i < t->numel ? st->e[t->idx[i]] : (TermId){0};
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = map ? map[k] : k;
		if (i < t->numel && terms[k].i != old[k].i)
			st->e[t->idx[i]] = terms[k];
	}
	arena_rewind(s->scratch, mark);
}

TermId sim_content(Sim *s, Ref r)
{
	const SimTensor t = *sim_tensor_of(s, r);
	const TermId *e;
	uint64_t h = 11;
	bool mixed;
	for (uint32_t d = 0; t.sized && d < t.ndim; d++)
		h = mix(h, (uint64_t)t.size[d]);
	if (!sim_elements(s, r, &e)) {
		TermId whole = read_large(s, &t, &mixed);
		s->mixed |= mixed;
		return whole;
	}
	return term_op(s->terms, sym_intern(s->names, S("elements")), e, t.numel, h | 1);
}

bool sim_share(const Sim *s, Ref a, Ref b)
{
	Sim *m = (Sim *)s; /* sim_obj gives no promise about const */
	return sim_tensor_of(m, a)->store == sim_tensor_of(m, b)->store;
}

Tri sim_overlap(Sim *s, Ref a, Ref b)
{
	const SimTensor *x = sim_tensor_of(s, a), *y = sim_tensor_of(s, b);
	if (x->store != y->store)
		return TRI_NO;
	if (!x->idx || !y->idx) {
		SimPart p = part_of(x, (TermId){0}), q = part_of(y, (TermId){0});
		return parts_meet(s, &p, &q);
	}
	uint32_t n = s->stores.v[x->store].n;
	uint8_t *in = NEW_N(s->scratch, uint8_t, n + 1);
	for (uint32_t k = 0; k < x->numel; k++)
		in[x->idx[k]] = 1;
	for (uint32_t k = 0; k < y->numel; k++)
		if (in[y->idx[k]])
			return TRI_MUST;
	return TRI_NO;
}

TypeId sim_type(Sim *s, Ref r)
{
	const SimTensor *t = sim_tensor_of(s, r);
	Type ty = {.kind = TK_TENSOR, .dtype = t->dtype, .device = t->device, .has_shape = t->sized, .ndim = t->ndim};
	ExprId size[SIM_DIMS], stride[SIM_DIMS];
	for (uint32_t d = 0; t->sized && d < t->ndim; d++) {
		size[d] = expr_int(s->t, t->size[d]);
		stride[d] = expr_int(s->t, t->stride[d]);
	}
	ty.size = size;
	ty.stride = stride;
	ty.has_stride = t->sized;
	return type_intern(s->t, &ty);
}
