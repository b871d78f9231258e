/* SPDX-License-Identifier: MIT
 * Layouts: random concrete ones against element addresses that are counted out one by one, random
 * symbolic ones against all small values of their symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "layout.h"
#include "expr_eval.h"

enum { DIMS = 6, ELEMENTS = 4096 };

typedef struct World {
	Arena a;
	Names names;
	Types *t;
	uint64_t rng;
} World;

static int world_make(void **state)
{
	static World w;
	w.a = arena_new(NULL);
	names_init(&w.names, &w.a);
	w.t = types_new(&w.a, &w.names);
	w.rng = 7;
	*state = &w;
	return 0;
}

static int world_end(void **state)
{
	World *w = *state;
	arena_free(&w->a);
	return 0;
}

static uint32_t draw(World *w, uint32_t below)
{
	w->rng = w->rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->rng >> 33) % below;
}

/* ---- concrete layouts ---- */

typedef struct Lay {
	uint32_t n;
	int64_t size[DIMS], stride[DIMS];
} Lay;

static int64_t lay_numel(const Lay *l)
{
	int64_t n = 1;
	for (uint32_t d = 0; d < l->n; d++)
		n *= l->size[d];
	return n;
}

static int64_t lay_at(const Lay *l, const int64_t *index)
{
	int64_t at = 0;
	for (uint32_t d = 0; d < l->n; d++)
		at += index[d] * l->stride[d];
	return at;
}

/* Next index, last dim fastest. False after the last. */
static bool lay_next(const Lay *l, int64_t *index)
{
	for (uint32_t d = l->n; d-- > 0;) {
		if (++index[d] < l->size[d])
			return true;
		index[d] = 0;
	}
	return false;
}

/* Addresses in row-major order of the indices. */
static int64_t lay_walk(const Lay *l, int64_t *at)
{
	int64_t index[DIMS] = {0}, n = 0;
	if (!lay_numel(l))
		return 0;
	do
		at[n++] = lay_at(l, index);
	while (lay_next(l, index));
	return n;
}

static Lay lay_permuted(const Lay *l, const uint32_t *order)
{
	Lay r = {.n = l->n};
	for (uint32_t d = 0; d < l->n; d++) {
		r.size[d] = l->size[order[d]];
		r.stride[d] = l->stride[order[d]];
	}
	return r;
}

static void shuffle(World *w, uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = draw(w, i), o = order[i - 1];
		order[i - 1] = order[k];
		order[k] = o;
	}
}

/* Packed, permuted, padded, stepped, expanded, overlapping or with odd strides in size-1 dims. */
static Lay lay_random(World *w, uint32_t n, uint32_t most)
{
	Lay l = {.n = n};
	uint32_t order[DIMS];
	int64_t step = 1;
	for (uint32_t d = 0; d < n; d++)
		l.size[d] = draw(w, 12) ? 1 + draw(w, most) : 0;
	for (uint32_t d = n; d-- > 0;) {
		l.stride[d] = step;
		step *= l.size[d] ? l.size[d] : 1;
		if (!draw(w, 8))
			step += draw(w, 3);
		if (!draw(w, 10))
			step *= 2;
	}
	if (draw(w, 2)) {
		shuffle(w, order, n);
		l = lay_permuted(&l, order);
	}
	for (uint32_t d = 0; d < n; d++) {
		if (l.size[d] == 1 && !draw(w, 3))
			l.stride[d] = draw(w, 20);
		if (!draw(w, 15))
			l.stride[d] = draw(w, 9);
	}
	return l;
}

static TypeId lay_type(World *w, const Lay *l)
{
	ExprId size[DIMS], stride[DIMS];
	Type v = {.kind = TK_TENSOR,
	          .dtype = DT_F32,
	          .has_shape = true,
	          .has_stride = true,
	          .ndim = l->n,
	          .size = size,
	          .stride = stride};
	for (uint32_t d = 0; d < l->n; d++) {
		size[d] = expr_int(w->t, l->size[d]);
		stride[d] = expr_int(w->t, l->stride[d]);
	}
	return type_intern(w->t, &v);
}

static const char *lay_text(World *w, const Lay *l)
{
	return str_to_c(&w->a, type_text(w->t, lay_type(w, l), &w->a));
}

#define CHECK(w, l, cond)                                                                          \
	do {                                                                                           \
		if (!(cond))                                                                               \
			fail_msg("%s: %s", lay_text(w, l), #cond);                                             \
	} while (0)

/* ---- answers by counting ---- */

static bool counts_up(const Lay *l)
{
	static int64_t at[ELEMENTS];
	int64_t n = lay_walk(l, at);
	for (int64_t i = 0; i < n; i++)
		if (at[i] != i)
			return false;
	return true;
}

/* *dense: the addresses are 0..n-1; *twice: some address occurs twice. */
static void count_addresses(const Lay *l, bool *dense, bool *twice)
{
	static int64_t at[ELEMENTS];
	static uint8_t seen[1 << 20];
	int64_t n = lay_walk(l, at), beyond = 0;
	*twice = false;
	for (int64_t i = 0; i < n; i++) {
		*twice |= seen[at[i]];
		seen[at[i]] = 1;
		beyond += at[i] >= n;
	}
	for (int64_t i = 0; i < n; i++)
		seen[at[i]] = 0;
	*dense = !*twice && !beyond;
}

/* An empty tensor has no addresses: the walk of the rule itself. */
static bool walk_channels_last(const Lay *l)
{
	static const uint32_t four[] = {1, 3, 2, 0}, five[] = {1, 4, 3, 2, 0};
	int64_t want = 1;
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t d = l->n == 4 ? four[i] : five[i];
		if (l->size[d] != 1 && l->stride[d] != want)
			return false;
		want *= l->size[d];
	}
	return true;
}

static bool counts_up_channels_last(const Lay *l)
{
	static const uint32_t four[] = {0, 2, 3, 1}, five[] = {0, 2, 3, 4, 1};
	Lay p;
	if (l->n != 4 && l->n != 5)
		return false;
	if (!lay_numel(l))
		return walk_channels_last(l);
	p = lay_permuted(l, l->n == 4 ? four : five);
	return counts_up(&p);
}

static MemoryFormat format_of(const Lay *l)
{
	static const uint32_t four[] = {1, 3, 2, 0}, five[] = {1, 4, 3, 2, 0};
	int64_t bound = 0;
	if ((l->n != 4 && l->n != 5) || l->stride[1] == 0)
		return MF_CONTIGUOUS;
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t d = l->n == 4 ? four[i] : five[i];
		if (l->size[d] == 0 || l->stride[d] < bound || (d == 0 && bound == l->stride[1]))
			return MF_CONTIGUOUS;
		bound = l->size[d] > 1 ? l->stride[d] * l->size[d] : l->stride[d];
	}
	return l->n == 4 ? MF_CHANNELS_LAST : MF_CHANNELS_LAST_3D;
}

/* Can the addresses, taken in order, be reached with the target's sizes? Strides of its dims above
 * 1 are forced. */
static bool view_by_counting(const Lay *l, Lay *target)
{
	static int64_t at[ELEMENTS], to[ELEMENTS];
	int64_t n = lay_walk(l, at), inner = 1;
	for (uint32_t d = target->n; d-- > 0;) {
		target->stride[d] = n && target->size[d] > 1 ? at[inner] - at[0] : 0;
		inner *= target->size[d];
	}
	lay_walk(target, to);
	for (int64_t i = 0; i < n; i++)
		if (to[i] != at[i])
			return false;
	return true;
}

static void questions(void **state)
{
	World *w = *state;
	int count[5] = {0};
	for (int i = 0; i < 60000; i++) {
		Lay l = lay_random(w, draw(w, DIMS), 4);
		const Type *v = type_get(w->t, lay_type(w, &l));
		bool dense, twice, empty = lay_numel(&l) == 0;
		count_addresses(&l, &dense, &twice);
		bool rows = counts_up(&l), last = counts_up_channels_last(&l);
		CHECK(w, &l, type_is_empty(w->t, v) == (empty ? TRI_MUST : TRI_NO));
		CHECK(w, &l, type_is_contiguous(w->t, v) == (rows ? TRI_MUST : TRI_NO));
		CHECK(w, &l, type_is_channels_last(w->t, v, l.n) == (last ? TRI_MUST : TRI_NO));
		CHECK(w, &l, type_is_dense(w->t, v) == (dense || empty ? TRI_MUST : TRI_NO));
		CHECK(w, &l, type_overlaps_itself(w->t, v) == (twice ? TRI_MUST : TRI_NO));
		CHECK(w, &l, type_suggested_format(w->t, v) == format_of(&l));
		CHECK(w, &l, expr_eq(w->t, type_numel(w->t, v), expr_int(w->t, lay_numel(&l))) == TRI_MUST);
		count[0] += rows;
		count[1] += last;
		count[2] += dense;
		count[3] += twice;
		count[4] += format_of(&l) != MF_CONTIGUOUS;
	}
	print_message("# of 60000: contiguous %d, channels_last %d, dense %d, overlapping %d, "
	              "suggested channels_last %d\n",
	              count[0], count[1], count[2], count[3], count[4]);
}

/* A shape of n elements: factors in random order, with dims of 1 strewn in. */
static void random_shape(World *w, int64_t n, Lay *s)
{
	s->n = 0;
	while (n > 1 && s->n < DIMS - 1) {
		int64_t f = 2 + draw(w, 6);
		if (s->n == DIMS - 2 || n % f)
			f = draw(w, 3) ? f : n;
		if (n % f)
			continue;
		s->size[s->n++] = f;
		n /= f;
	}
	if (n != 1 && s->n < DIMS)
		s->size[s->n++] = n;
	while (s->n < DIMS && !draw(w, 3)) {
		uint32_t at = draw(w, s->n + 1);
		memmove(s->size + at + 1, s->size + at, (s->n - at) * sizeof *s->size);
		s->size[at] = 1;
		s->n++;
	}
}

/* Joins some neighbours and cuts some dims: shapes that are often views. */
static void related_shape(World *w, const Lay *l, Lay *s)
{
	s->n = 0;
	for (uint32_t d = 0; d < l->n; d++) {
		int64_t size = l->size[d];
		if (s->n && !draw(w, 3)) {
			s->size[s->n - 1] *= size;
			continue;
		}
		if (size == 4 && s->n + (l->n - d) < DIMS && draw(w, 2)) {
			s->size[s->n++] = 2;
			size = 2;
		}
		s->size[s->n++] = size;
	}
}

/* The strides that the rule of the facts gives, in plain numbers. */
static void rule_strides(const Lay *l, Lay *s)
{
	int64_t run = 1, taken = 1, base = l->n ? l->stride[l->n - 1] : 1;
	uint32_t k = s->n;
	if (!l->n)
		for (uint32_t i = 0; i < s->n; i++)
			s->stride[i] = 1;
	for (uint32_t d = l->n; d-- > 0;) {
		run *= l->size[d];
		if (d && (l->size[d - 1] == 1 || l->stride[d - 1] == run * base))
			continue;
		while (k && (taken < run || s->size[k - 1] == 1)) {
			s->stride[--k] = taken * base;
			taken *= s->size[k];
		}
		base = d ? l->stride[d - 1] : 1;
		run = taken = 1;
	}
}

static void empty_rule_strides(const Lay *l, Lay *s)
{
	int64_t step = 1;
	bool same = l->n == s->n;
	for (uint32_t d = 0; d < l->n && same; d++)
		same = l->size[d] == s->size[d];
	for (uint32_t d = s->n; d-- > 0;) {
		s->stride[d] = same ? l->stride[d] : step;
		step *= s->size[d] ? s->size[d] : 1;
	}
}

static void shape_exprs(World *w, const Lay *s, ExprId *out)
{
	for (uint32_t d = 0; d < s->n; d++)
		out[d] = expr_int(w->t, s->size[d]);
}

static void views_concrete(void **state)
{
	World *w = *state;
	int views = 0, copies = 0;
	for (int i = 0; i < 60000; i++) {
		Lay l = lay_random(w, draw(w, DIMS), 4), s = {.n = 0};
		ExprId shape[DIMS], stride[DIMS];
		int64_t n = lay_numel(&l);
		if (n && draw(w, 2))
			random_shape(w, n, &s);
		else
			related_shape(w, &l, &s);
		if (lay_numel(&s) != n)
			continue;
		bool exists = view_by_counting(&l, &s);
		shape_exprs(w, &s, shape);
		const Type *v = type_get(w->t, lay_type(w, &l));
		Tri got = type_view_exists(w->t, v, shape, s.n, stride);
		if (got != (exists ? TRI_MUST : TRI_NO))
			fail_msg("%s as %s: %d", lay_text(w, &l), lay_text(w, &s), got);
		*(exists ? &views : &copies) += 1;
		Tri shares;
		TypeId r = layout_reshape(w->t, lay_type(w, &l), shape, s.n, &shares);
		assert_int_equal(shares, got);
		if (exists && n)
			rule_strides(&l, &s);
		else
			empty_rule_strides(&(Lay){.n = l.n, .size = {0}}, &s);
		if (exists && !n)
			empty_rule_strides(&l, &s);
		if (r.i != lay_type(w, &s).i)
			fail_msg("%s as %s gives %.*s", lay_text(w, &l), lay_text(w, &s),
			         STR_ARG(type_text(w->t, r, &w->a)));
		/* without strides: never wrong */
		TypeId bare = type_without_layout(w->t, lay_type(w, &l));
		got = type_view_exists(w->t, type_get(w->t, bare), shape, s.n, NULL);
		assert_true(got == TRI_MAY || (got == TRI_MUST && exists));
	}
	print_message("# %d views, %d copies\n", views, copies);
	assert_true(views > 5000 && copies > 5000);
}

static void fill_in(void **state)
{
	World *w = *state;
	for (int i = 0; i < 20000; i++) {
		Lay l = lay_random(w, draw(w, DIMS), 4), s = {.n = 0};
		ExprId shape[DIMS];
		related_shape(w, &l, &s);
		if (!s.n)
			continue;
		shape_exprs(w, &s, shape);
		uint32_t hole = draw(w, s.n);
		int64_t rest = 1, v;
		for (uint32_t d = 0; d < s.n; d++)
			rest *= d == hole ? 1 : s.size[d];
		shape[hole] = expr_int(w->t, -1);
		bool ok = type_fill_shape(w->t, type_get(w->t, lay_type(w, &l)), shape, s.n);
		assert_int_equal(ok, rest != 0);
		if (ok) {
			assert_true(expr_value(w->t, shape[hole], &v));
			assert_int_equal(v, s.size[hole]);
		}
	}
	TypeId x = type_parse(w->t, S("f32[4, 6]"));
	ExprId two[] = {expr_int(w->t, -1), expr_int(w->t, -1)},
		   bad[] = {expr_int(w->t, 5), expr_int(w->t, -1)};
	ExprId wrong[] = {expr_int(w->t, 5), expr_int(w->t, 5)};
	assert_false(type_fill_shape(w->t, type_get(w->t, x), two, 2));
	assert_false(type_fill_shape(w->t, type_get(w->t, x), bad, 2));
	assert_false(type_fill_shape(w->t, type_get(w->t, x), wrong, 2));
	x = type_parse(w->t, S("f32[s0, 6, s1]"));
	ExprId sym[] = {expr_symbol(w->t, S("s1")), expr_int(w->t, -1), expr_int(w->t, 3)};
	assert_true(type_fill_shape(w->t, type_get(w->t, x), sym, 3));
	assert_int_equal(sym[1].i, expr_parse(w->t, S("2*s0")).i);
}

/* ---- symbolic layouts ---- */

/* A layout over s0, s1, s2 and u0: made like the concrete ones, of sizes drawn from these texts. */
static TypeId symbolic_random(World *w, ExprId *size, uint32_t *count)
{
	static const char *const sizes[] = {"s0",
	                                    "s1",
	                                    "2",
	                                    "1",
	                                    "3",
	                                    "u0",
	                                    "(s0//2)",
	                                    "s0*s1",
	                                    "s0 + 1",
	                                    "2*s1",
	                                    "s2",
	                                    "4",
	                                    "(s0//2) + (s1//2)",
	                                    "((s1 + 1)//2)"};
	static const char *const steps[] = {"0",     "1",          "s0", "2",     "s1",
	                                    "s0*s1", "Max(1, u0)", "u0", "s0 + 1"};
	ExprId stride[DIMS], step = expr_int(w->t, 1);
	uint32_t n = draw(w, 5), order[DIMS];
	Type v = {.kind = TK_TENSOR,
	          .dtype = DT_F32,
	          .has_shape = true,
	          .has_stride = true,
	          .ndim = n,
	          .size = size,
	          .stride = stride};
	shuffle(w, order, n);
	if (draw(w, 2))
		for (uint32_t d = 0; d < n; d++)
			order[d] = n - 1 - d;
	for (uint32_t d = 0; d < n; d++)
		size[d] = expr_parse(w->t, str_from_c(sizes[draw(w, sizeof sizes / sizeof *sizes)]));
	for (uint32_t i = 0; i < n; i++) {
		ExprId s = size[order[i]];
		stride[order[i]] = step;
		step = expr_mul(w->t, step, draw(w, 4) ? expr_max(w->t, expr_int(w->t, 1), s) : s);
		if (!draw(w, 10))
			step = expr_add(w->t, step, expr_int(w->t, 1));
		if (!draw(w, 10))
			step = expr_mul(w->t, step, expr_symbol(w->t, S("s0")));
	}
	for (uint32_t d = 0; d < n; d++) {
		if (!draw(w, 12))
			stride[d] = expr_parse(w->t, str_from_c(steps[draw(w, sizeof steps / sizeof *steps)]));
		if (!draw(w, 12))
			size[d] = expr_parse(w->t, str_from_c(sizes[draw(w, sizeof sizes / sizeof *sizes)]));
	}
	*count = n;
	return type_intern(w->t, &v);
}

static int64_t expr_at(World *w, ExprId e, const int64_t *values)
{
	int64_t v;
	if (expr_value(w->t, e, &v))
		return v;
	ArenaMark m = arena_mark(&w->a);
	Str text = expr_text(w->t, e, &w->a);
	if (!eval_text(&w->a, text, values, &v))
		fail_msg("no value: %.*s", STR_ARG(text));
	arena_rewind(&w->a, m);
	return v;
}

static Lay lay_of(World *w, TypeId id, const int64_t *values)
{
	const Type *v = type_get(w->t, id);
	Lay l = {.n = v->ndim};
	for (uint32_t d = 0; d < v->ndim; d++) {
		l.size[d] = expr_at(w, v->size[d], values);
		l.stride[d] = v->has_stride ? expr_at(w, v->stride[d], values) : 0;
	}
	return l;
}

/* What all values say together: MUST, NO, or MAY where they differ. */
typedef struct Poll {
	bool yes, no;
} Poll;

static Tri poll(const Poll *p)
{
	return p->yes && p->no ? TRI_MAY : p->yes ? TRI_MUST : TRI_NO;
}

static void poll_add(Poll *p, Tri t)
{
	p->yes |= t == TRI_MUST;
	p->no |= t == TRI_NO;
}

typedef struct Tally {
	int decided, open; /* of questions that the values answer alike */
} Tally;

static void agrees(World *w, TypeId id, Tri got, const Poll *p, const char *what, Tally *tally)
{
	Tri want = poll(p);
	if (got != TRI_MAY && got != want)
		fail_msg("%.*s %s: %d, but %d", STR_ARG(type_text(w->t, id, &w->a)), what, got, want);
	if (want != TRI_MAY)
		*(got == want ? &tally->decided : &tally->open) += 1;
}

static bool small_enough(const Lay *l)
{
	int64_t reach = 1;
	for (uint32_t d = 0; d < l->n; d++)
		reach += l->size[d] * l->stride[d];
	return lay_numel(l) <= ELEMENTS && reach < 1 << 20;
}

static void questions_symbolic(void **state)
{
	World *w = *state;
	Tally tally[6] = {{0}};
	for (int i = 0; i < 1500; i++) {
		ExprId size[DIMS];
		uint32_t n;
		TypeId id = symbolic_random(w, size, &n);
		const Type *v = type_get(w->t, id);
		int64_t values[SYMBOLS] = FIRST_VALUES;
		Poll empty = {0}, rows = {0}, last = {0}, dense = {0}, twice = {0}, format = {0};
		bool fits = true;
		do {
			Lay l = lay_of(w, id, values);
			bool d, t;
			fits = small_enough(&l);
			if (!fits)
				break;
			count_addresses(&l, &d, &t);
			bool none = lay_numel(&l) == 0;
			poll_add(&empty, none ? TRI_MUST : TRI_NO);
			poll_add(&rows, counts_up(&l) ? TRI_MUST : TRI_NO);
			poll_add(&last, counts_up_channels_last(&l) ? TRI_MUST : TRI_NO);
			poll_add(&dense, d || none ? TRI_MUST : TRI_NO);
			poll_add(&twice, t ? TRI_MUST : TRI_NO);
			poll_add(&format, format_of(&l) != MF_CONTIGUOUS ? TRI_MUST : TRI_NO);
		} while (next_values(values));
		if (!fits)
			continue;
		MemoryFormat f = type_suggested_format(w->t, v);
		agrees(w, id, type_is_empty(w->t, v), &empty, "empty", &tally[0]);
		agrees(w, id, type_is_contiguous(w->t, v), &rows, "contiguous", &tally[1]);
		agrees(w, id, type_is_channels_last(w->t, v, n), &last, "channels_last", &tally[2]);
		agrees(w, id, type_is_dense(w->t, v), &dense, "dense", &tally[3]);
		agrees(w, id, type_overlaps_itself(w->t, v), &twice, "overlaps", &tally[4]);
		agrees(w, id,
		       f == MF_UNKNOWN      ? TRI_MAY
		       : f == MF_CONTIGUOUS ? TRI_NO
		                            : TRI_MUST,
		       &format, "suggested channels_last", &tally[5]);
	}
	static const char *const names[] = {"empty", "contiguous", "channels_last",
	                                    "dense", "overlaps",   "suggested"};
	for (int i = 0; i < 6; i++) {
		print_message("# %s: %d decided, %d open that small values answer alike\n", names[i],
		              tally[i].decided, tally[i].open);
		assert_true(tally[i].decided > 20 * tally[i].open / 2 || i == 4);
	}
}

/* Joins and cuts sizes as text would: products of neighbours, s0*s1 cut in two. */
static uint32_t symbolic_shape(World *w, const ExprId *size, uint32_t n, ExprId *out)
{
	uint32_t k = 0;
	for (uint32_t d = 0; d < n; d++) {
		ExprId s = size[d];
		if (k && !draw(w, 3)) {
			out[k - 1] = expr_mul(w->t, out[k - 1], s);
			continue;
		}
		if (s.i == expr_parse(w->t, S("s0*s1")).i && draw(w, 2)) {
			out[k++] = expr_symbol(w->t, S("s0"));
			s = expr_symbol(w->t, S("s1"));
		}
		if (!draw(w, 8))
			out[k++] = expr_int(w->t, 1);
		out[k++] = s;
		if (k > DIMS - 3)
			break;
	}
	return k;
}

static void views_symbolic(void **state)
{
	World *w = *state;
	Tally tally = {0};
	int strides = 0, unknown = 0;
	for (int i = 0; i < 3000; i++) {
		ExprId size[DIMS], shape[DIMS + 3], stride[DIMS + 3];
		uint32_t n, k;
		TypeId id = symbolic_random(w, size, &n);
		const Type *v = type_get(w->t, id);
		int64_t values[SYMBOLS] = FIRST_VALUES;
		Poll p = {0};
		k = symbolic_shape(w, size, n, shape);
		if (k > DIMS)
			continue;
		Tri got = type_view_exists(w->t, v, shape, k, stride);
		bool fits = true;
		do {
			Lay l = lay_of(w, id, values), s = {.n = k};
			for (uint32_t d = 0; d < k; d++)
				s.size[d] = expr_at(w, shape[d], values);
			fits = small_enough(&l) && lay_numel(&s) == lay_numel(&l);
			if (!fits)
				break;
			poll_add(&p, view_by_counting(&l, &s) ? TRI_MUST : TRI_NO);
			for (uint32_t d = 0; d < k && got == TRI_MUST && lay_numel(&s); d++)
				if (stride[d].i && s.size[d] > 1 && expr_at(w, stride[d], values) != s.stride[d])
					fail_msg("%.*s dim %u", STR_ARG(type_text(w->t, id, &w->a)), d);
		} while (next_values(values));
		if (!fits)
			continue;
		agrees(w, id, got, &p, "view", &tally);
		for (uint32_t d = 0; d < k && got == TRI_MUST; d++)
			*(stride[d].i ? &strides : &unknown) += 1;
	}
	print_message(
		"# views: %d decided, %d open that small values answer alike; strides %d known, %d not\n",
		tally.decided, tally.open, strides, unknown);
	assert_true(tally.decided > 10 * tally.open);
	assert_true(strides > 50 * unknown);
}

/* ---- results of views: each element must be the one that the operator names ---- */

typedef struct Picked {
	Lay from, to;
	uint32_t map[DIMS]; /* dim of `to` -> dim of `from` + 1, 0 none */
	int64_t scale[DIMS], start[DIMS]; /* index of `from` = start + scale * index of `to`, summed */
} Picked;

static void picks(World *w, const Picked *p, TypeId got, const char *what)
{
	int64_t index[DIMS] = {0}, base = 0;
	const Type *v = type_get(w->t, got);
	Lay l = {.n = v->ndim};
	if (v->ndim != p->to.n || !v->has_stride)
		fail_msg("%s of %s: %.*s", what, lay_text(w, &p->from),
		         STR_ARG(type_text(w->t, got, &w->a)));
	l = lay_of(w, got, (int64_t[SYMBOLS]){0});
	for (uint32_t d = 0; d < l.n; d++)
		if (l.size[d] != p->to.size[d])
			fail_msg("%s of %s: %s", what, lay_text(w, &p->from), lay_text(w, &l));
	if (!lay_numel(&l))
		return;
	for (uint32_t d = 0; d < p->from.n; d++)
		base += p->start[d] * p->from.stride[d];
	do {
		int64_t at = base;
		for (uint32_t d = 0; d < l.n; d++)
			if (p->map[d])
				at += index[d] * p->scale[d] * p->from.stride[p->map[d] - 1];
		if (at - base != lay_at(&l, index))
			fail_msg("%s of %s: %s", what, lay_text(w, &p->from), lay_text(w, &l));
	} while (lay_next(&l, index));
}

static Picked pick_all(const Lay *l)
{
	Picked p = {.from = *l, .to = *l};
	for (uint32_t d = 0; d < l->n; d++) {
		p.map[d] = d + 1;
		p.scale[d] = 1;
	}
	return p;
}

static void pick_drop(Picked *p, uint32_t d)
{
	for (uint32_t k = d; k + 1 < p->to.n; k++) {
		p->to.size[k] = p->to.size[k + 1];
		p->map[k] = p->map[k + 1];
		p->scale[k] = p->scale[k + 1];
	}
	p->to.n--;
}

static void reordered(void **state)
{
	World *w = *state;
	for (int i = 0; i < 5000; i++) {
		Lay l = lay_random(w, 1 + draw(w, DIMS - 1), 4);
		TypeId x = lay_type(w, &l);
		Picked p = pick_all(&l);
		uint32_t order[DIMS], a = draw(w, l.n), b = draw(w, l.n);
		int64_t dims[DIMS];
		shuffle(w, order, l.n);
		for (uint32_t d = 0; d < l.n; d++) {
			p.to.size[d] = l.size[order[d]];
			p.map[d] = order[d] + 1;
			dims[d] = (int64_t)order[d] - (draw(w, 2) ? l.n : 0);
		}
		picks(w, &p, layout_permute(w->t, x, dims, l.n), "permute");
		p = pick_all(&l);
		p.to.size[a] = l.size[b];
		p.to.size[b] = l.size[a];
		p.map[a] = b + 1;
		p.map[b] = a + 1;
		picks(w, &p, layout_transpose(w->t, x, (int64_t)a - l.n, b), "transpose");
		/* movedim: take the dim out, put it in again */
		p = pick_all(&l);
		for (uint32_t d = a; d + 1 < l.n; d++)
			order[d] = p.map[d + 1];
		for (uint32_t d = 0, k = 0; d < l.n; d++) {
			if (d == b)
				p.map[d] = a + 1;
			else
				p.map[d] = k + 1 + (k >= a), k++;
			p.to.size[d] = l.size[p.map[d] - 1];
		}
		picks(w, &p, layout_movedim(w->t, x, &(int64_t){a}, &(int64_t){b}, 1), "movedim");
		p = pick_all(&l);
		for (uint32_t d = 0; d < l.n; d++) {
			p.map[d] = l.n - d;
			p.to.size[d] = l.size[l.n - 1 - d];
		}
		picks(w, &p, layout_reverse(w->t, x), "reverse");
	}
}

static int64_t python_bound(int64_t v, int64_t size)
{
	v = v < 0 ? v + size : v;
	return v < 0 ? 0 : v > size ? size : v;
}

static void cut_out(void **state)
{
	World *w = *state;
	for (int i = 0; i < 8000; i++) {
		Lay l = lay_random(w, 1 + draw(w, DIMS - 2), 5);
		TypeId x = lay_type(w, &l);
		uint32_t d = draw(w, l.n), e = draw(w, l.n);
		int64_t a = (int64_t)draw(w, 15) - 7, b = draw(w, 4) ? (int64_t)draw(w, 15) - 7 : INT64_MAX;
		int64_t k = 1 + draw(w, 3), n = 0, s = l.size[d];
		ExprId ea = expr_int(w->t, a), eb = expr_int(w->t, b), ek = expr_int(w->t, k);
		Picked p = pick_all(&l);
		p.start[d] = python_bound(a, s);
		for (int64_t at = p.start[d]; at < python_bound(b, s); at += k)
			n++;
		p.to.size[d] = n;
		p.scale[d] = k;
		picks(w, &p, layout_slice(w->t, x, d, &ea, &eb, &ek), "slice");
		p = pick_all(&l);
		pick_drop(&p, d);
		picks(w, &p, layout_select(w->t, x, (int64_t)d - l.n), "select");
		p = pick_all(&l);
		p.to.size[d] = s / 2;
		picks(w, &p, layout_narrow(w->t, x, d, expr_int(w->t, s / 2)), "narrow");
		if (s >= k) { /* windows of k, step 2 */
			p = pick_all(&l);
			p.to.size[d] = (s - k) / 2 + 1;
			p.scale[d] = 2;
			p.to.n = l.n + 1;
			p.to.size[l.n] = k;
			p.map[l.n] = d + 1;
			p.scale[l.n] = 1;
			picks(w, &p, layout_unfold(w->t, x, d, ek, expr_int(w->t, 2)), "unfold");
		}
		if (d != e) { /* diagonal: as wide as index pairs (i, i + a) are inside */
			for (n = 0;
			     n < 64 && (a < 0 ? n - a : n) < l.size[d] && (a < 0 ? n : n + a) < l.size[e];)
				n++;
			Type v = *type_get(w->t, layout_diagonal(w->t, x, a, d, e));
			int64_t size, stride;
			assert_int_equal(v.ndim, l.n - 1);
			assert_true(expr_value(w->t, v.size[v.ndim - 1], &size));
			assert_true(expr_value(w->t, v.stride[v.ndim - 1], &stride));
			assert_int_equal(size, n);
			assert_int_equal(stride, l.stride[d] + l.stride[e]);
		}
	}
}

static void ones(void **state)
{
	World *w = *state;
	for (int i = 0; i < 5000; i++) {
		Lay l = lay_random(w, draw(w, DIMS - 2), 3);
		TypeId x = lay_type(w, &l);
		uint32_t d = draw(w, l.n + 1);
		Picked p = pick_all(&l);
		for (uint32_t k = l.n; k > d; k--) {
			p.to.size[k] = l.size[k - 1];
			p.map[k] = k;
		}
		p.to.n++;
		p.to.size[d] = 1;
		p.map[d] = 0;
		for (uint32_t k = 0; k < p.to.n; k++)
			p.scale[k] = 1;
		TypeId up = layout_unsqueeze(w->t, x, draw(w, 2) ? d : (int64_t)d - l.n - 1);
		picks(w, &p, up, "unsqueeze");
		assert_int_equal(layout_squeeze(w->t, up, &(int64_t){d}, 1).i, x.i);
		p = pick_all(&l);
		for (uint32_t k = l.n; k-- > 0;)
			if (l.size[k] == 1)
				pick_drop(&p, k);
		picks(w, &p, layout_squeeze(w->t, x, NULL, 0), "squeeze");
		/* expand: stretched dims do not move */
		p = pick_all(&l);
		ExprId size[DIMS];
		uint32_t more = draw(w, 2);
		p.to.n = l.n + more;
		for (uint32_t k = 0; k < p.to.n; k++) {
			bool old = k >= more;
			p.map[k] = old ? k - more + 1 : 0;
			p.scale[k] = 1;
			p.to.size[k] = old ? l.size[k - more] : 2;
			size[k] = expr_int(w->t, old && draw(w, 2) ? -1 : p.to.size[k]);
			if (old && l.size[k - more] == 1 && draw(w, 2)) {
				p.to.size[k] = 3;
				p.scale[k] = 0;
				size[k] = expr_int(w->t, 3);
			}
		}
		picks(w, &p, layout_expand(w->t, x, size, p.to.n), "expand");
	}
}

/* Pieces must be the dim, in order, without a rest. */
static void pieces(void **state)
{
	World *w = *state;
	for (int i = 0; i < 4000; i++) {
		Lay l = lay_random(w, 1 + draw(w, 3), 7);
		TypeId x = lay_type(w, &l), *v;
		uint32_t d = draw(w, l.n), n;
		int64_t k = 1 + draw(w, 5), s = l.size[d], sum, size;
		for (int how = 0; how < 4; how++) {
			ExprId ek = expr_int(w->t, k);
			bool ok = how == 0   ? layout_chunk(w->t, x, k, d, &w->a, &v, &n)
			          : how == 1 ? layout_split(w->t, x, ek, d, &w->a, &v, &n)
			          : how == 2 ? layout_tensor_split(w->t, x, k, d, &w->a, &v, &n)
			                     : layout_tensor_split_at(w->t, x, &ek, 1, d, &w->a, &v, &n);
			assert_true(ok);
			sum = 0;
			for (uint32_t j = 0; j < n; j++) {
				const Type *piece = type_get(w->t, v[j]);
				assert_true(expr_value(w->t, piece->size[d], &size));
				sum += size;
				int64_t each = how == 0   ? (s + k - 1) / k
				               : how == 1 ? k
				               : how == 2 ? s / k + (j < s % k)
				               : j == 0   ? (s < k ? s : k)
				                          : s - (s < k ? s : k);
				if (j + 1 < n || how >= 2)
					assert_int_equal(size, each);
				assert_true(size <= each);
				if (how < 2 && s)
					assert_true(size > 0);
			}
			assert_int_equal(sum, s);
			if (how == 2 || (how == 0 && s == 0))
				assert_int_equal(n, k);
		}
		assert_true(layout_unbind(w->t, x, d, &w->a, &v, &n));
		assert_int_equal(n, s);
		if (n)
			assert_int_equal(v[0].i, layout_select(w->t, x, d).i);
	}
	TypeId x = type_parse(w->t, S("f32[s0, 3*s1][3*s1, 1]cpu")), *v;
	uint32_t n;
	assert_true(layout_chunk(w->t, x, 2, 0, &w->a, &v, &n)); /* s0 >= 2: two pieces */
	assert_int_equal(n, 2);
	assert_int_equal(v[0].i, type_parse(w->t, S("f32[(s0 + 1)//2, 3*s1][3*s1, 1]cpu")).i);
	assert_false(layout_chunk(w->t, x, 3, 0, &w->a, &v, &n));
	assert_true(layout_split(w->t, x, expr_symbol(w->t, S("s1")), 1, &w->a, &v, &n));
	assert_int_equal(n, 3);
	assert_int_equal(v[2].i, type_parse(w->t, S("f32[s0, s1][3*s1, 1]cpu")).i);
	assert_false(layout_split(w->t, x, expr_int(w->t, 2), 0, &w->a, &v, &n));
	assert_false(layout_unbind(w->t, x, 0, &w->a, &v, &n));
}

/* ---- single cases, as PyTorch 2.6 gives them ---- */

static TypeId typed(World *w, const char *text)
{
	TypeId id = type_parse(w->t, str_from_c(text));
	assert_true(id.i != 0);
	return id;
}

static void gives(World *w, TypeId got, const char *want)
{
	Str text = type_text(w->t, got, &w->a);
	if (!str_eq(text, str_from_c(want)))
		fail_msg("%.*s, not %s", STR_ARG(text), want);
}

static void view_cases(void **state)
{
	World *w = *state;
	Types *t = w->t;
	ExprId minus = expr_int(t, -1), two = expr_int(t, 2), six = expr_int(t, 6);
	ExprId flat[] = {minus}, pair[] = {two, minus}, one[] = {expr_int(t, 1)};
	Tri shares, same;
	gives(w, layout_view(t, typed(w, "f32[2, 3, 4][12, 4, 1]cpu"), pair, 2),
	      "f32[2, 12][12, 1]cpu");
	gives(w, layout_view(t, typed(w, "f32[s0, s1, 4][4*s1, 4, 1]cpu"), pair, 2),
	      "f32[2, 2*s0*s1][2*s0*s1, 1]cpu");
	gives(w, layout_reshape(t, typed(w, "f32[2, 3][1, 2]cpu"), flat, 1, &shares), "f32[6][1]cpu");
	assert_int_equal(shares, TRI_NO);
	gives(w, layout_reshape(t, typed(w, "f32[s0, s1][1, s0]cpu"), flat, 1, &shares),
	      "f32[s0*s1][1]cpu");
	assert_int_equal(shares, TRI_NO);
	gives(w, layout_reshape(t, typed(w, "f32[s0, s1]cpu"), flat, 1, &shares), "f32[s0*s1]cpu");
	assert_int_equal(shares, TRI_MAY);
	gives(w,
	      layout_reshape(t, typed(w, "f32[s0, 1, s1]cpu"),
	                     (ExprId[]){expr_symbol(t, S("s0")), minus}, 2, &shares),
	      "f32[s0, s1]cpu");
	assert_int_equal(shares, TRI_MUST);
	gives(w, layout_reshape(t, typed(w, "f32[]cpu"), one, 1, &shares), "f32[1][1]cpu");
	assert_int_equal(shares, TRI_MUST);
	gives(w, layout_reshape(t, typed(w, "f32[u0, 4][4, 1]cpu"), flat, 1, &shares),
	      "f32[4*u0][1]cpu");
	assert_int_equal(shares, TRI_MUST);
	gives(w, layout_reshape(t, typed(w, "f32[2, 3]"), (ExprId[]){six, six}, 2, &shares), "f32");
	gives(w, layout_reshape(t, type_tensor_unknown(t), pair, 2, &shares), "?[2, ?]");
	gives(w, layout_flatten(t, typed(w, "f32[2, 3][3, 1]cpu"), 1, -1, &shares, &same),
	      "f32[2, 3][3, 1]cpu");
	assert_true(shares == TRI_MUST && same == TRI_MUST);
	gives(w, layout_flatten(t, typed(w, "f32[][]cpu"), 0, -1, &shares, &same), "f32[1][1]cpu");
	assert_true(shares == TRI_MUST && same == TRI_NO);
	gives(w, layout_flatten(t, typed(w, "f32[2, 3, 4][3, 1, 6]cpu"), 0, 1, &shares, &same),
	      "f32[6, 4][1, 6]cpu");
	assert_true(shares == TRI_MUST && same == TRI_NO);
	gives(w, layout_flatten(t, typed(w, "f32[2, 3, 4][3, 1, 6]cpu"), 1, 2, &shares, &same),
	      "f32[2, 12][12, 1]cpu");
	assert_true(shares == TRI_NO && same == TRI_NO);
	gives(w, layout_flatten(t, typed(w, "f32[2, 1, 4]cpu"), 1, 2, &shares, &same), "f32[2, 4]cpu");
	assert_true(shares == TRI_MUST && same == TRI_NO);
	gives(w, layout_unflatten(t, typed(w, "f32[6, 4][4, 1]cpu"), 0, (ExprId[]){two, minus}, 2),
	      "f32[2, 3, 4][12, 4, 1]cpu");
	gives(w, layout_unflatten(t, typed(w, "f32[6, 4][1, 6]cpu"), -2, (ExprId[]){two, minus}, 2),
	      "f32[2, 3, 4][3, 1, 6]cpu");
	gives(w, layout_view_as_real(t, typed(w, "c64[2, 3][3, 1]cpu")), "f32[2, 3, 2][6, 2, 1]cpu");
	gives(w, layout_view_as_complex(t, typed(w, "f32[2, 3, 2][6, 2, 1]cpu")), "c64[2, 3][3, 1]cpu");
	gives(w, layout_view_dtype(t, typed(w, "f32[2, 3][3, 1]cpu"), DT_I32), "i32[2, 3][3, 1]cpu");
	gives(w, layout_view_dtype(t, typed(w, "f32[2, 3][3, 1]cpu"), DT_F16), "f16[2, 6][6, 1]cpu");
	gives(w, layout_view_dtype(t, typed(w, "f16[2, 6][6, 1]cpu"), DT_F32), "f32[2, 3][3, 1]cpu");
	gives(w,
	      layout_as_strided(t, typed(w, "f32[4][1]cpu"), (ExprId[]){two, two},
	                        (ExprId[]){expr_int(t, 1), two}, 2),
	      "f32[2, 2][1, 2]cpu");
	gives(w, layout_slice(t, typed(w, "f32[s0, 4][4, 1]cpu"), 0, NULL, &minus, NULL),
	      "f32[s0 - 1, 4][4, 1]cpu");
	gives(w, layout_slice(t, typed(w, "f32[s0, 4][4, 1]cpu"), 0, &one[0], NULL, NULL),
	      "f32[s0 - 1, 4][4, 1]cpu");
	gives(w, layout_slice(t, typed(w, "f32[s0, 4][4, 1]cpu"), 0, NULL, &two, NULL),
	      "f32[2, 4][4, 1]cpu");
	gives(w, layout_slice(t, typed(w, "f32[s0][1]"), 0, NULL, NULL, &two), "f32[((s0 + 1)//2)][2]");
	gives(w, layout_slice(t, typed(w, "f32[4, 4][4, 1]"), 0, NULL, &(ExprId){0}, NULL),
	      "f32[?, 4][4, 1]");
	gives(w, layout_squeeze(t, typed(w, "f32[u0, 4][4, 1]cpu"), NULL, 0), "f32 cpu");
	gives(w, layout_squeeze(t, typed(w, "f32[s0, 1][1, 1]cpu"), NULL, 0), "f32[s0][1]cpu");
	gives(w, layout_expand(t, typed(w, "f32[s0, 1][1, 1]cpu"), (ExprId[]){two, minus, six}, 3),
	      "f32[2, s0, 6][0, 1, 0]cpu");
	gives(w, layout_expand(t, typed(w, "f32[]cpu"), (ExprId[]){two, one[0]}, 2),
	      "f32[2, 1][0, 0]cpu");
	gives(w, layout_expand(t, typed(w, "f32[3, 2][2, 1]"), (ExprId[]){one[0], minus, minus}, 3),
	      "f32[1, 3, 2][6, 2, 1]");
	/* what PyTorch refuses, and what is not known */
	gives(w, layout_transpose(t, typed(w, "f32[2, 3]"), 0, 2), "f32");
	gives(w, layout_permute(t, typed(w, "f32[2, 3]"), (int64_t[]){0, 0}, 2), "f32");
	gives(w, layout_select(t, typed(w, "f32[]"), 0), "f32");
	gives(w, layout_transpose(t, (TypeId){0}, 0, 1), "tensor");
	gives(w, layout_transpose(t, typed(w, "f32[]"), 0, -1), "f32[]");
	gives(w, layout_reverse(t, typed(w, "f32[2, s0][s0, 1]")), "f32[s0, 2][1, s0]");
	gives(w, layout_diagonal(t, typed(w, "f32[2, 3]"), 0, 1, -1), "f32");
}

typedef struct NewCase {
	const char *word, *ops[3], *want;
} NewCase;

static void new_cases(void **state)
{
	World *w = *state;
	static const NewCase cases[] = {
		{"contiguous", {"f32[2, 3][1, 2]cpu"}, "f32[2, 3][3, 1]cpu"},
		{"preserve", {"f32[2, 3][1, 2]cpu"}, "f32[2, 3][1, 2]cpu"},
		{"preserve", {"f32[2, 3][6, 2]cpu"}, "f32[2, 3][3, 1]cpu"},
		{"preserve", {"f32[2, 3][2, 8]cpu"}, "f32[2, 3][1, 2]cpu"},
		{"preserve", {"f32[2, 3, 4][0, 4, 1]cpu"}, "f32[2, 3, 4][12, 4, 1]cpu"},
		{"preserve", {"f32[3, 4][1, 1]cpu"}, "f32[3, 4][1, 3]cpu"},
		{"preserve", {"f32[4, 3][1, 1]cpu"}, "f32[4, 3][3, 1]cpu"},
		{"preserve", {"f32[s0, s1][1, s0]cpu"}, "f32[s0, s1][1, s0]cpu"},
		{"preserve", {"f32[s0, s1][2*s1, 1]cpu"}, "f32[s0, s1][s1, 1]cpu"},
		{"preserve", {"f32[0, 3][9, 2]cpu"}, "f32[0, 3][9, 2]cpu"},
		{"preserve", {"f32[2, 3]cpu"}, "f32[2, 3]cpu"},
		{"preserve", {"f32[]cpu"}, "f32[][]cpu"},
		{"suggested", {"f32[2, 3, 4, 4][48, 1, 12, 3]cpu"}, "f32[2, 3, 4, 4][48, 1, 12, 3]cpu"},
		{"suggested", {"f32[2, 3, 4, 4][96, 1, 24, 6]cpu"}, "f32[2, 3, 4, 4][48, 1, 12, 3]cpu"},
		{"suggested", {"f32[2, 3][1, 2]cpu"}, "f32[2, 3][3, 1]cpu"},
		{"strict", {"f32[2, 3, 4, 4][96, 1, 24, 6]cpu"}, "f32[2, 3, 4, 4][48, 16, 4, 1]cpu"},
		{"strict", {"f32[2, 3, 4, 4][48, 1, 12, 3]cpu"}, "f32[2, 3, 4, 4][48, 1, 12, 3]cpu"},
		{"strict", {"f32[2, 1, 4, 4][16, 16, 4, 1]cpu"}, "f32[2, 1, 4, 4][16, 16, 4, 1]cpu"},
		{"same", {"f32[2, 3][9, 2]cpu"}, "f32[2, 3][9, 2]cpu"},
		{"ordering", {"f32[2, 3][9, 2]cpu"}, "f32[2, 3][3, 1]cpu"},
		{"iterator", {"f32[2, 3][1, 2]cpu", "f32[2, 3][3, 1]cpu"}, "f32[2, 3][1, 2]cpu"},
		{"iterator", {"f32[2, 3][3, 1]cpu", "f32[2, 3][1, 2]cpu"}, "f32[2, 3][3, 1]cpu"},
		{"iterator", {"f32[2, 3][1, 2]cpu", "f32[3][1]cpu"}, "f32[2, 3][1, 2]cpu"},
		{"iterator", {"f32[3][1]cpu", "f32[2, 3][1, 2]cpu"}, "f32[2, 3][1, 2]cpu"},
		{"iterator", {"f32[2, 1][1, 1]cpu", "f32[1, 3][3, 1]cpu"}, "f32[2, 3][3, 1]cpu"},
		{"iterator", {"f32[2, 3][0, 0]cpu"}, "f32[2, 3][3, 1]cpu"},
		{"iterator", {"f32[][]cpu", "f32[2, 3][1, 2]cuda:0"}, "f32[2, 3][1, 2]cuda:0"},
		{"iterator",
	     {"f32[2, 3, 4, 4][48, 1, 12, 3]cpu", "f32[2, 3, 4, 4][48, 1, 12, 3]cpu"},
	     "f32[2, 3, 4, 4][48, 1, 12, 3]cpu"},
		{"iterator", {"f32[s0, 3][1, s0]cpu", "f32[s0, 3][1, s0]cpu"}, "f32[s0, 3][1, s0]cpu"},
		{"iterator", {"f32[s0, s1][s1, 1]cpu", "f32[s1][1]cpu"}, "f32[s0, s1][s1, 1]cpu"},
		{"iterator", {"f32[s0, s1][1, s0]cpu", "f32[s1][1]cpu"}, "f32[s0, s1][1, s0]cpu"},
		{"iterator", {"f32[s0, 4]cpu", "f32[4][1]cpu"}, "f32[s0, 4]cpu"},
		{"iterator", {"f32[u0, 4][4, 1]cpu", "f32[1, 4][4, 1]cpu"}, "f32[u0, 4][4, 1]cpu"},
		{"iterator", {"f32[u0, 1][1, 1]cpu", "f32[5, 4][4, 1]cpu"}, "f32[5, 4]cpu"},
		{"iterator", {"f32[2, 3]cpu", "torch.Tensor"}, "f32 cpu"},
		{"iterator", {"f32[2, 3]cpu", "f32[2, 4]cpu"}, "f32 cpu"},
		{"iterator", {"f32[2, 0][0, 1]cpu"}, "f32[2, 0][1, 1]cpu"},
		{"unknown", {"f32[2, 3][3, 1]cpu"}, "f32[2, 3]cpu"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		TypeId ops[3];
		LayoutNew how = {.dtype = DT_F32, .ops = ops};
		assert_true(layout_parse(str_from_c(cases[i].word), &how.rule));
		assert_true(str_eq(layout_word(how.rule), str_from_c(cases[i].word)));
		while (how.nops < 3 && cases[i].ops[how.nops]) {
			ops[how.nops] = typed(w, cases[i].ops[how.nops]);
			how.nops++;
		}
		Str got = type_text(w->t, layout_new(w->t, &how), &w->a);
		if (!str_eq(got, str_from_c(cases[i].want)))
			fail_msg("%s of %s: %.*s, not %s", cases[i].word, cases[i].ops[0], STR_ARG(got),
			         cases[i].want);
	}
	TypeId x = typed(w, "f32[2, 3, 4, 4][48, 16, 4, 1]cpu");
	LayoutNew asked = {
		.rule = LAYOUT_ASKED, .dtype = DT_F64, .ops = &x, .nops = 1, .asked = MF_CHANNELS_LAST};
	gives(w, layout_new(w->t, &asked), "f64[2, 3, 4, 4][48, 1, 12, 3]cpu");
	asked.asked = MF_PRESERVE;
	gives(w, layout_new(w->t, &asked), "f64[2, 3, 4, 4][48, 16, 4, 1]cpu");
	ExprId pooled[] = {expr_int(w->t, 2), expr_int(w->t, 3), expr_int(w->t, 1),
	                   expr_symbol(w->t, S("s0"))};
	x = typed(w, "f32[2, 3, 4, 4][48, 1, 12, 3]cpu");
	LayoutNew pool = {.rule = LAYOUT_SUGGESTED,
	                  .dtype = DT_F32,
	                  .ops = &x,
	                  .nops = 1,
	                  .has_size = true,
	                  .size = pooled,
	                  .ndim = 4};
	gives(w, layout_new(w->t, &pool), "f32[2, 3, 1, s0][3*s0, 1, 3*s0, 3]cpu");
}

static void result_dtypes(void **state)
{
	World *w = *state;
	static const struct {
		const char *a, *b;
		DType want;
	} cases[] = {
		{"f32[2]", "f64[2]", DT_F64},   {"f32[2]", "f64[]", DT_F32},
		{"i64[2]", "f64[]", DT_F64},    {"i32[2]", "i64[]", DT_I32},
		{"b8[2]", "i32[]", DT_I32},     {"f32[2]", "c128[]", DT_C64},
		{"f64[2]", "c64[]", DT_C128},   {"f16[2]", "c64[]", DT_C32},
		{"i64[2]", "float", DT_F32},    {"i64[]", "float", DT_F32},
		{"i32[2]", "int", DT_I32},      {"b8[2]", "int", DT_I64},
		{"b8[2]", "bool", DT_B8},       {"f16[2]", "float", DT_F16},
		{"f64[2]", "complex", DT_C128}, {"i64[2]", "complex", DT_C64},
		{"i64[2]", "Sym(s0)", DT_I64},  {"f32[]", "f64[]", DT_F64},
		{"f16[]", "bf16[]", DT_F32},    {"f32[2]", "torch.Tensor", DT_NONE},
		{"f32", "f32[2]", DT_NONE},     {"u8[2]", "i8[2]", DT_I16},
		{"int", "int", DT_I64},         {"float", "int", DT_F32},
		{"f32[2]", "str", DT_F32},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		TypeId ops[] = {type_parse(w->t, str_from_c(cases[i].a)),
		                type_parse(w->t, str_from_c(cases[i].b))};
		if (layout_result_dtype(w->t, ops, 2, DT_F32) != cases[i].want)
			fail_msg("%s with %s: %s", cases[i].a, cases[i].b,
			         dtype_shown(layout_result_dtype(w->t, ops, 2, DT_F32)).p);
	}
	/* no shape: decided when it does not matter */
	TypeId x = type_without_shape(w->t, typed(w, "f64[2]")), y = typed(w, "f32[2]"),
		   z = typed(w, "i64[2]");
	assert_int_equal(layout_result_dtype(w->t, (TypeId[]){x, y}, 2, DT_F32), DT_NONE);
	assert_int_equal(layout_result_dtype(w->t, (TypeId[]){x, z}, 2, DT_F32), DT_F64);
	assert_int_equal(layout_result_dtype(w->t, (TypeId[]){x}, 1, DT_F32), DT_F64);
	assert_int_equal(layout_result_dtype(w->t, NULL, 0, DT_F32), DT_NONE);
}

/* Types of which little is known: every answer is MAY or follows from what is known. */
static void unknown(void **state)
{
	World *w = *state;
	ExprId shape[] = {expr_int(w->t, 2)}, out[1];
	static const char *const little[] = {"torch.Tensor", "int", "str"};
	for (size_t i = 0; i < sizeof little / sizeof *little; i++) {
		const Type *v = type_get(w->t, typed(w, little[i]));
		assert_int_equal(type_is_contiguous(w->t, v), TRI_MAY);
		assert_int_equal(type_is_dense(w->t, v), TRI_MAY);
		assert_int_equal(type_is_empty(w->t, v), TRI_MAY);
		assert_int_equal(type_overlaps_itself(w->t, v), TRI_MAY);
		assert_int_equal(type_suggested_format(w->t, v), MF_UNKNOWN);
		assert_int_equal(type_view_exists(w->t, v, shape, 1, out), TRI_MAY);
		assert_int_equal(type_numel(w->t, v).i, 0);
		assert_false(type_fill_shape(w->t, v, (ExprId[]){expr_int(w->t, -1)}, 1));
	}
	const Type *v = type_get(w->t, typed(w, "f32[1, 1]"));
	assert_int_equal(type_is_contiguous(w->t, v), TRI_MUST); /* size-1 strides never count */
	assert_int_equal(type_overlaps_itself(w->t, v), TRI_NO);
	v = type_get(w->t, typed(w, "f32[0, 3]"));
	assert_int_equal(type_is_contiguous(w->t, v), TRI_MUST);
	assert_int_equal(type_is_channels_last(w->t, v, 4), TRI_NO);
	v = type_get(w->t, typed(w, "f32[2, 3]"));
	assert_int_equal(type_is_contiguous(w->t, v), TRI_MAY);
	assert_int_equal(type_suggested_format(w->t, v), MF_CONTIGUOUS);
	v = type_get(w->t, typed(w, "f32[u0, 4][8, 1]"));
	assert_int_equal(type_is_contiguous(w->t, v), TRI_MAY);
	v = type_get(w->t, typed(w, "f32[u0, 4][4, 1]"));
	assert_int_equal(type_is_contiguous(w->t, v), TRI_MUST);
	v = type_get(w->t, typed(w, "f32[4, u0][Max(1, u0), 1]"));
	assert_int_equal(type_is_contiguous(w->t, v), TRI_MUST);
	v = type_get(w->t, typed(w, "f32[s0, (s1//2)][s1, 1]"));
	assert_int_equal(type_is_contiguous(w->t, v), TRI_NO);
	assert_int_equal(type_overlaps_itself(w->t, v), TRI_NO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(questions, world_make, world_end),
		cmocka_unit_test_setup_teardown(views_concrete, world_make, world_end),
		cmocka_unit_test_setup_teardown(fill_in, world_make, world_end),
		cmocka_unit_test_setup_teardown(questions_symbolic, world_make, world_end),
		cmocka_unit_test_setup_teardown(views_symbolic, world_make, world_end),
		cmocka_unit_test_setup_teardown(reordered, world_make, world_end),
		cmocka_unit_test_setup_teardown(cut_out, world_make, world_end),
		cmocka_unit_test_setup_teardown(ones, world_make, world_end),
		cmocka_unit_test_setup_teardown(pieces, world_make, world_end),
		cmocka_unit_test_setup_teardown(view_cases, world_make, world_end),
		cmocka_unit_test_setup_teardown(new_cases, world_make, world_end),
		cmocka_unit_test_setup_teardown(result_dtypes, world_make, world_end),
		cmocka_unit_test_setup_teardown(unknown, world_make, world_end),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
