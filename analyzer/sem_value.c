/* SPDX-License-Identifier: MIT
 * sem: terms and strided maps that its parts share. */
#include "sem_call.h"

#include <math.h>

/* ---- terms ---- */

Sym sem_sym(Sem *s, const char *text)
{
	return sym_intern(s->names, str_from_c(text));
}

TermId sem_op(Sem *s, const char *op, const TermId *v, uint32_t n, uint64_t extra)
{
	return term_op(s->t, sem_sym(s, op), v, n, extra);
}

TermId sem_op2(Sem *s, const char *op, TermId a, TermId b)
{
	return sem_op(s, op, (TermId[]){a, b}, 2, 0);
}

static uint64_t site_name(const Sem *s, uint64_t k)
{
	return hash_u64(hash_u64(s->c->site ^ (uint64_t)(uint32_t)s->member << 32) + k);
}

TermId sem_unknown(Sem *s, uint64_t k)
{
	return term_unsure(s->t, site_name(s, k));
}

TermId sem_fresh(Sem *s, uint64_t k)
{
	return term_fresh(s->t, site_name(s, k));
}

TermId sem_float(Sem *s, double v)
{
	return term_num(s->t, v, 'f');
}

void sem_push(Sem *s, TermList *l, TermId x)
{
	l->a = s->a;
	VEC_PUSH(s->a, &l->v, x);
}

TermId sem_list_op(Sem *s, const char *op, const TermList *l, uint64_t extra)
{
	return sem_op(s, op, l->v.v, l->v.n, extra);
}

TermId sem_vec(Sem *s, const TermId *v, uint32_t n)
{
	return n == 1 ? v[0] : sem_op(s, "vec", v, n, 0);
}

TermId sem_dot(Sem *s, TermId a, TermId b)
{
	const Term *x = term_get(s->t, a);
	Sym vec = sem_sym(s, "vec");
	bool many = x->kind == TERM_OP && sym_eq(x->op, vec);
	return sem_op2(s, many ? "dot" : "mul", a, b);
}

bool sem_known(Sem *s, TermId x, double *v)
{
	const Term *t = term_get(s->t, x);
	*v = t->num;
	return t->kind == TERM_NUM;
}

/* ---- everything of an argument ---- */

enum { NESTING_MOST = 64 };

/* What an argument is whose elements are not given. */
static TermId whole_of(Sem *s, const Arg *a)
{
	bool node = a->kind == AR_NODE;
	TermId t = node && s->c->whole ? s->c->whole(s->c->ctx, a) : (TermId){0};
	return t.i ? t : sem_unknown(s, node ? a->u.node.i : 0);
}

static void push_leaf(Sem *s, TermList *l, const Arg *a)
{
	SemTensor x;
	TermId t;
	DType d;
	if (sem_tensor_of(s, a, &x)) {
		for (uint32_t i = 0; i < x.numel; i++)
			sem_push(s, l, x.e[i]);
	} else if (sem_number_of(s, a, &t, &d)) {
		sem_push(s, l, t);
	} else if (a->kind == AR_NAME || a->kind == AR_STR || a->kind == AR_CALL) {
		sem_push(s, l, term_text(s->t, a->u.sym));
	} else if (a->kind == AR_NONE) {
		sem_push(s, l, term_text(s->t, sem_sym(s, "None")));
	} else if (a->kind == AR_NODE || a->kind == AR_UNKNOWN || a->kind == AR_STARRED) {
		sem_push(s, l, whole_of(s, a));
	} else {
		sem_push(s, l, term_num(s->t, a->n, 'i')); /* how many follow */
	}
}

/* Arguments whose children hold what they hold. */
static bool has_kids(Sem *s, const Arg *a)
{
	TermId t;
	DType d;
	if (a->kind < AR_TUPLE || a->kind == AR_ELLIPSIS || !a->n)
		return false;
	return (a->kind != AR_EXPR && a->kind != AR_CALL) || !sem_number_of(s, a, &t, &d);
}

typedef struct Level {
	const Arg *v;
	uint32_t n, i;
} Level;

void sem_push_arg(Sem *s, TermList *l, const Arg *a)
{
	Level stack[NESTING_MOST];
	uint32_t n = 1;
	stack[0] = (Level){a, 1, 0};
	while (n) {
		Level *top = &stack[n - 1];
		if (top->i == top->n) {
			n--;
			continue;
		}
		const Arg *x = &top->v[top->i++];
		push_leaf(s, l, x);
		if (!has_kids(s, x))
			continue;
		if (n == NESTING_MOST)
			sem_push(s, l, sem_unknown(s, x->at));
		else
			stack[n++] = (Level){arg_kids(s->g, x), x->n, 0};
	}
}

void sem_push_more(Sem *s, TermList *l)
{
	for (uint32_t i = 0; i < s->nmore; i++) {
		if (!sym_none(s->more_key[i]))
			sem_push(s, l, term_text(s->t, s->more_key[i]));
		sem_push_arg(s, l, s->more[i]);
	}
}

/* ---- dtypes ---- */

/* Bits of a float's significand, 0 for others; least exponent of its last bit. */
static int float_bits(DType d, int *least)
{
	switch (d) {
	case DT_F64: *least = -1074; return 53;
	case DT_F32: *least = -149; return 24;
	case DT_F16: *least = -24; return 11;
	case DT_BF16: *least = -133; return 8;
	default: return 0;
	}
}

static double round_to(double v, DType d)
{
	int least = 0, e, bits = float_bits(d, &least);
	if (!bits || bits == 53 || !isfinite(v) || v == 0)
		return v;
	frexp(v, &e);
	int last = e - bits < least ? least : e - bits;
	v = ldexp(nearbyint(ldexp(v, -last)), last);
	double most = d == DT_F16 ? 65504 : d == DT_F32 ? 3.4028234663852886e38 : 3.3895313892515355e38;
	return fabs(v) > most ? copysign((double)INFINITY, v) : v;
}

/* A number as an element of that dtype; false when this cannot be told. */
static bool fit_number(double v, DType d, double *out, char *cls)
{
	int least;
	if (d == DT_B8) {
		*out = v != 0;
		*cls = 'b';
		return !isnan(v);
	}
	if (float_bits(d, &least)) {
		*out = round_to(v, d);
		*cls = 'f';
		return true;
	}
	if (dtype_class(d) != DC_INT || !isfinite(v) || fabs(v) > 9007199254740992.0)
		return false;
	*out = trunc(v) + 0.0;
	*cls = 'i';
	uint32_t bytes = dtype_bytes(d);
	bool is_unsigned = str_starts(dtype_shown(d), S("u"));
	if (bytes == 8 && !is_unsigned)
		return true;
	if (bytes == 0 || bytes > 4)
		return *out >= 0 && bytes == 8;
	double span = ldexp(1, (int)bytes * 8);
	double low = is_unsigned ? 0 : -span / 2;
	return *out >= low && *out < low + span;
}

/* Does a value of dtype a survive in b? */
static bool holds(DType b, DType a)
{
	int least;
	int bits_a = float_bits(a, &least), bits_b = float_bits(b, &least);
	if (a == DT_B8)
		return bits_b || dtype_class(b) == DC_INT;
	if (bits_a)
		return (bits_b == 53 && bits_a <= 53) || (bits_b == 24 && bits_a < 24);
	if (dtype_class(a) != DC_INT || dtype_bytes(a) == 0)
		return false;
	uint32_t width = dtype_bytes(a) * 8;
	bool unsigned_a = str_starts(dtype_shown(a), S("u"));
	if (bits_b)
		return (int)width <= bits_b;
	return dtype_class(b) == DC_INT && !str_starts(dtype_shown(b), S("u")) &&
	       dtype_bytes(b) * 8 >= width + unsigned_a;
}

static Str conversion(Sem *s, DType from, DType to)
{
	Str f = from == DT_NONE ? S("num") : dtype_shown(from);
	return str_printf(s->a, STR_FMT "_to_" STR_FMT, STR_ARG(f), STR_ARG(dtype_shown(to)));
}

TermId sem_convert(Sem *s, TermId x, DType from, DType to)
{
	const Term *t = term_get(s->t, x);
	double v;
	char cls;
	if (to == DT_NONE)
		return x;
	if (t->kind == TERM_NUM && fit_number(t->num, to, &v, &cls))
		return v == t->num && cls == t->cls ? x : term_num(s->t, v, cls);
	if (from == to)
		return x;
	if (t->kind == TERM_OP && t->n == 1 && holds(from, to) &&
	    str_eq(sym_str(s->names, t->op), conversion(s, to, from)))
		return term_args(s->t, t)[0];
	return term_op(s->t, sym_intern(s->names, conversion(s, from, to)), &x, 1, 0);
}

/* ---- walks ---- */

uint64_t sem_numel(const int64_t *size, uint32_t n)
{
	uint64_t total = 1;
	bool empty = false, over = false;
	for (uint32_t i = 0; i < n; i++) {
		if (size[i] < 0)
			return UINT64_MAX;
		empty |= size[i] == 0;
		if (size[i] && total > UINT32_MAX / (uint64_t)size[i])
			over = true;
		else if (size[i])
			total *= (uint64_t)size[i];
	}
	return empty ? 0 : over ? UINT64_MAX : total;
}

/* With a size of 0 the others may be anything: steps are not needed then. */
static bool has_elements(const int64_t *size, uint32_t n)
{
	uint64_t numel = sem_numel(size, n);
	return numel != 0 && numel <= SEM_NUMEL_MOST;
}

Walk walk_of(const int64_t *size, uint32_t n)
{
	Walk w = {.n = n};
	int64_t step = 1;
	bool some = has_elements(size, n);
	ASSERT(n <= SEM_MAX_DIMS);
	for (uint32_t i = n; i-- > 0;) {
		w.size[i] = size[i];
		w.step[i] = some ? step : 0;
		step = some ? step * size[i] : 0;
	}
	return w;
}

Walk walk_of_tensor(const SemTensor *x)
{
	Walk w = walk_of(x->size, x->ndim);
	if (x->in_memory) {
		memcpy(w.step, x->stride, x->ndim * sizeof *w.step);
		w.at = x->offset;
	}
	return w;
}

void walk_drop(Walk *w, uint32_t dim)
{
	for (uint32_t i = dim; i + 1 < w->n; i++) {
		w->size[i] = w->size[i + 1];
		w->step[i] = w->step[i + 1];
	}
	w->n--;
}

bool walk_insert(Walk *w, uint32_t dim, int64_t size, int64_t step)
{
	if (w->n == SEM_MAX_DIMS || dim > w->n)
		return false;
	for (uint32_t i = w->n; i > dim; i--) {
		w->size[i] = w->size[i - 1];
		w->step[i] = w->step[i - 1];
	}
	w->size[dim] = size;
	w->step[dim] = step;
	w->n++;
	return true;
}

bool walk_expand(Walk *w, const int64_t *size, uint32_t n)
{
	if (n < w->n || n > SEM_MAX_DIMS)
		return false;
	while (w->n < n)
		walk_insert(w, 0, 1, 0);
	for (uint32_t i = 0; i < n; i++) {
		if (w->size[i] == size[i])
			continue;
		if (w->size[i] != 1)
			return false;
		w->size[i] = size[i];
		w->step[i] = 0;
	}
	return true;
}

uint32_t walk_numel(const Walk *w)
{
	uint64_t n = sem_numel(w->size, w->n);
	return n > SEM_NUMEL_MOST ? UINT32_MAX : (uint32_t)n;
}

void walk_fill(const Walk *w, uint32_t *map)
{
	int64_t at[SEM_MAX_DIMS] = {0}, pos = w->at;
	uint32_t numel = walk_numel(w);
	ASSERT(numel <= SEM_NUMEL_MOST);
	for (uint32_t k = 0; k < numel; k++) {
		map[k] = (uint32_t)pos;
		for (uint32_t d = w->n; d-- > 0;) {
			pos += w->step[d];
			if (++at[d] < w->size[d])
				break;
			pos -= w->step[d] * w->size[d];
			at[d] = 0;
		}
	}
}

uint32_t *walk_map(Sem *s, const Walk *w)
{
	uint32_t *map = NEW_N(s->a, uint32_t, (size_t)walk_numel(w) + 1);
	walk_fill(w, map);
	return map;
}

const TermId *sem_spread(Sem *s, const SemTensor *x, const int64_t *size, uint32_t n)
{
	uint64_t numel = sem_numel(size, n);
	ASSERT(numel <= SEM_NUMEL_MOST);
	if (x->numel == numel && x->ndim == n && memcmp(x->size, size, n * sizeof *size) == 0)
		return x->e;
	Walk w = walk_of_tensor(x);
	TermId *out = NEW_N(s->a, TermId, (size_t)numel + 1);
	bool fits = walk_expand(&w, size, n);
	uint32_t *map = fits ? walk_map(s, &w) : NULL;
	for (uint32_t k = 0; k < numel; k++)
		out[k] = fits ? x->e[map[k]] : sem_unknown(s, k);
	return out;
}

bool sem_slice_bounds(int64_t size, bool has_start, int64_t start, bool has_stop, int64_t stop,
                      int64_t step, int64_t *from, int64_t *count)
{
	if (step <= 0 || size < 0)
		return false;
	int64_t a = has_start ? start : 0, b = has_stop ? stop : size;
	a = a < 0 ? (a < -size ? 0 : a + size) : a > size ? size : a;
	b = b < 0 ? (b < -size ? 0 : b + size) : b > size ? size : b;
	*from = a;
	*count = b <= a ? 0 : (b - a - 1) / step + 1;
	return true;
}

/* ---- lanes ---- */

Lanes sem_lanes(Sem *s, const TermId *e, const int64_t *size, uint32_t ndim, const bool *in)
{
	/* Two walks over all elements: one counts lanes, one positions inside. */
	Walk lane = {.n = ndim}, pos = {.n = ndim};
	int64_t lanes = 1, length = 1;
	uint32_t numel = (uint32_t)sem_numel(size, ndim);
	ASSERT(numel <= SEM_NUMEL_MOST);
	for (uint32_t d = ndim; d-- > 0;) {
		lane.size[d] = pos.size[d] = size[d];
		lane.step[d] = in[d] ? 0 : lanes;
		pos.step[d] = in[d] ? length : 0;
		if (numel && in[d])
			length *= size[d];
		else if (numel)
			lanes *= size[d];
	}
	Lanes l = {.n = numel ? (uint32_t)lanes : 0, .length = numel ? (uint32_t)length : 0};
	l.of = walk_map(s, &lane);
	l.pos = walk_map(s, &pos);
	l.term = NEW_N(s->a, TermId, (size_t)l.n + 1);
	TermId *all = NEW_N(s->a, TermId, (size_t)numel + 1);
	for (uint32_t k = 0; k < numel; k++)
		all[l.of[k] * l.length + l.pos[k]] = e[k];
	for (uint32_t i = 0; i < l.n; i++)
		l.term[i] = sem_vec(s, all + (size_t)i * l.length, l.length);
	return l;
}
