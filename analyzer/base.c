/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <stdio.h>
#include <stdlib.h>

/* Allocations from LARGE bytes on are blocks of their own, which can grow and be given back. A sanitizer sees the more of
 * what goes on in an arena the more of it is. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#endif
#ifdef SANITIZED
enum { BLOCK_FIRST = 4096, BLOCK_MOST = 1 << 18, LARGE = 256 };
#else
enum { BLOCK_FIRST = 4096, BLOCK_MOST = 1 << 18, LARGE = 1 << 15 };
#endif

static _Thread_local struct {
	const char *pass, *path;
	uint32_t offset;
} where;

void crash_note(const char *pass, const char *path, uint32_t offset)
{
	where.pass = pass;
	where.path = path;
	where.offset = offset;
}

_Noreturn void base_assert_failed(const char *expr, const char *file, int line)
{
	fprintf(stderr, "graphlint: internal error: %s (%s:%d)", expr, file, line);
	if (where.pass)
		fprintf(stderr, ", in pass %s at byte %u of %s", where.pass, where.offset, where.path ? where.path : "?");
	fputs("\ngraphlint: this is a fault of graphlint, not of the dump; please report it with the input\n", stderr);
	fflush(stderr);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	abort(); /* a fuzzer keeps the input only of what ends by a signal */
#endif
	_Exit(4);
}

/* ---- libraries ---- */

_Noreturn void base_out_of_memory(void)
{
	fputs("graphlint: out of memory\n", stderr);
	_Exit(4);
}

static void *or_end(void *p, size_t size)
{
	if (!p && size)
		base_out_of_memory();
	return p;
}

void *base_malloc(size_t size)
{
	return or_end(malloc(size), size);
}

void *base_calloc(size_t n, size_t size)
{
	return or_end(calloc(n, size), n && size);
}

void *base_realloc(void *p, size_t size)
{
	return or_end(realloc(p, size), size);
}

/* ---- strings ---- */

Str str_from_c(const char *c)
{
	return (Str){c, c ? (uint32_t)strlen(c) : 0};
}

bool str_eq(Str a, Str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

int str_cmp(Str a, Str b)
{
	uint32_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;
	return c ? c : (a.n > b.n) - (a.n < b.n);
}

bool str_starts(Str s, Str prefix)
{
	return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_ends(Str s, Str suffix)
{
	return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

Str str_sub(Str s, uint32_t at, uint32_t end)
{
	if (end > s.n)
		end = s.n;
	if (at > end)
		at = end;
	return (Str){s.p ? s.p + at : NULL, end - at};
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

Str str_ltrim(Str s)
{
	while (s.n && is_blank(s.p[0]))
		s.p++, s.n--;
	return s;
}

Str str_rtrim(Str s)
{
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

Str str_trim(Str s)
{
	return str_rtrim(str_ltrim(s));
}

uint32_t str_find_char(Str s, char c, uint32_t from)
{
	if (from >= s.n)
		return s.n;
	const char *q = memchr(s.p + from, c, s.n - from);
	return q ? (uint32_t)(q - s.p) : s.n;
}

uint32_t str_find(Str s, Str needle, uint32_t from)
{
	if (needle.n == 0)
		return from < s.n ? from : s.n;
	while (from + needle.n <= s.n) {
		const char *q = memchr(s.p + from, needle.p[0], s.n - needle.n + 1 - from);
		if (!q)
			break;
		from = (uint32_t)(q - s.p);
		if (memcmp(q, needle.p, needle.n) == 0)
			return from;
		from++;
	}
	return s.n;
}

uint32_t str_rfind(Str s, Str needle)
{
	if (needle.n > s.n)
		return s.n;
	for (uint32_t i = s.n - needle.n + 1; i-- > 0;)
		if (memcmp(s.p + i, needle.p, needle.n) == 0)
			return i;
	return s.n;
}

bool str_has(Str s, Str needle)
{
	return needle.n == 0 || str_find(s, needle, 0) < s.n;
}

bool str_cut(Str *rest, char sep, Str *part)
{
	if (!rest->p)
		return false;
	uint32_t i = str_find_char(*rest, sep, 0);
	*part = str_sub(*rest, 0, i);
	if (i == rest->n)
		*rest = (Str){0};
	else
		*rest = (Str){rest->p + i + 1, rest->n - i - 1};
	return true;
}

bool str_to_i64(Str s, int64_t *out)
{
	bool neg = s.n && s.p[0] == '-';
	uint64_t v = 0, most = (uint64_t)INT64_MAX + neg;
	if (neg)
		s = str_sub(s, 1, s.n);
	if (!s.n)
		return false;
	for (uint32_t i = 0; i < s.n; i++) {
		unsigned d = (unsigned char)s.p[i] - '0';
		if (d > 9 || v > (most - d) / 10)
			return false;
		v = v * 10 + d;
	}
	*out = neg ? (v == most ? INT64_MIN : -(int64_t)v) : (int64_t)v;
	return true;
}

bool str_to_u32(Str s, uint32_t *out)
{
	int64_t v;
	if (!str_to_i64(s, &v) || v < 0 || v > UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

uint32_t str_distance(Str a, Str b, uint32_t limit)
{
	enum { MOST = 64 };
	uint32_t row[MOST + 1];
	if (a.n > MOST || b.n > MOST)
		return limit + 1;
	if ((a.n > b.n ? a.n - b.n : b.n - a.n) > limit)
		return limit + 1;
	for (uint32_t j = 0; j <= b.n; j++)
		row[j] = j;
	for (uint32_t i = 1; i <= a.n; i++) {
		uint32_t diag = row[0];
		row[0] = i;
		for (uint32_t j = 1; j <= b.n; j++) {
			uint32_t best = diag + (a.p[i - 1] != b.p[j - 1]);
			diag = row[j];
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (row[j] + 1 < best)
				best = row[j] + 1;
			row[j] = best;
		}
	}
	return row[b.n] > limit ? limit + 1 : row[b.n];
}

bool char_is_ident(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool str_is_ident(Str s)
{
	if (!s.n || (s.p[0] >= '0' && s.p[0] <= '9'))
		return false;
	for (uint32_t i = 0; i < s.n; i++)
		if (!char_is_ident((unsigned char)s.p[i]))
			return false;
	return true;
}

/* ---- arenas ---- */

struct Block {
	Block *prev;
	size_t size, used_before; /* payload bytes; how full the previous block was when this one came */
	max_align_t data[];
};

struct Large {
	Large *older, *newer;
	const Arena *owner; /* an arena that was moved since no longer knows it as its own */
	size_t size;        /* payload bytes */
	uint32_t serial;
	max_align_t data[];
};

Arena arena_new(Budget *budget)
{
	return (Arena){.budget = budget};
}

static _Noreturn void out_of_memory(Budget *b)
{
	if (b && b->fail)
		longjmp(*b->fail, 1);
	base_out_of_memory();
}

void budget_pulse(Budget *b)
{
	if (!b || !b->pulse)
		return;
	b->pulse(b->pulse_ctx);
	if (b->stop && b->fail)
		longjmp(*b->fail, 1);
}

/* Asks the budget for `more` bytes. */
static void charge(Budget *b, size_t more)
{
	if (!b)
		return;
	b->calls++;
	if (b->calls == b->fail_at || (b->limit && (more > b->limit || b->used > b->limit - more)))
		out_of_memory(b);
	b->used += more;
}

static void give_back(Budget *b, size_t size)
{
	if (b)
		b->used -= size;
}

/* What malloc or realloc gave. */
static void *got(Budget *b, void *p, size_t charged)
{
	if (p)
		return p;
	give_back(b, charged);
	out_of_memory(b);
}

static size_t aligned(size_t size)
{
	return (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

static Block *block_new(Arena *a, size_t size)
{
	Block *k = a->spare;
	a->spare = NULL;
	if (k && k->size >= size)
		return k;
	if (k) {
		give_back(a->budget, k->size);
		free(k);
	}
	charge(a->budget, size);
	k = got(a->budget, malloc(sizeof *k + size), size);
	k->size = size;
	return k;
}

static void block_add(Arena *a, size_t need)
{
	size_t size = a->head ? a->head->size * 2 : BLOCK_FIRST;
	if (size > BLOCK_MOST)
		size = BLOCK_MOST;
	if (size < need)
		size = need;
	Block *k = block_new(a, size);
	k->prev = a->head;
	k->used_before = a->used;
	a->head = k;
	a->used = 0;
}

static void large_link(Arena *a, Large *l)
{
	l->owner = a;
	l->serial = ++a->serial;
	l->older = a->large;
	l->newer = NULL;
	if (a->large)
		a->large->newer = l;
	a->large = l;
}

static void *large_new(Arena *a, size_t size)
{
	if (size > SIZE_MAX - sizeof(Large))
		out_of_memory(a->budget);
	charge(a->budget, size);
	Large *l = got(a->budget, calloc(1, sizeof *l + size), size);
	l->size = size;
	large_link(a, l);
	return l->data;
}

static void large_unlink(Arena *a, Large *l)
{
	if (l->newer)
		l->newer->older = l->older;
	else
		a->large = l->older;
	if (l->older)
		l->older->newer = l->newer;
}

static void large_free(Arena *a, Large *l)
{
	large_unlink(a, l);
	give_back(a->budget, l->size);
	free(l);
}

void *arena_alloc(Arena *a, size_t size)
{
	if (size > SIZE_MAX - sizeof(max_align_t))
		out_of_memory(a->budget);
	size = aligned(size);
	if (size >= LARGE)
		return large_new(a, size);
	if (!a->head || a->head->size - a->used < size)
		block_add(a, size);
	void *p = (char *)a->head->data + a->used;
	a->used += size;
	return memset(p, 0, size);
}

void *arena_array(Arena *a, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		out_of_memory(a->budget);
	return arena_alloc(a, n * size);
}

/* The large allocation that an address of `size` bytes is, if it is one of this arena. */
static Large *large_of(const Arena *a, void *p, size_t size)
{
	if (!p || aligned(size) < LARGE)
		return NULL;
	Large *l = (Large *)((char *)p - offsetof(Large, data));
	return l->owner == a ? l : NULL;
}

static bool is_last(const Arena *a, const void *p, size_t size)
{
	return p && a->head && (const char *)p + aligned(size) == (const char *)a->head->data + a->used &&
	       aligned(size) <= a->used;
}

void *arena_grow(Arena *a, void *p, size_t had, size_t size)
{
	Large *l = large_of(a, p, had);
	if (size > SIZE_MAX - sizeof(max_align_t) - sizeof(Large))
		out_of_memory(a->budget);
	size = aligned(size);
	if (l && size <= l->size)
		return p;
	if (l) {
		size_t more = size - l->size;
		charge(a->budget, more);
		Large *moved = got(a->budget, realloc(l, sizeof *l + size), more);
		moved->size = size;
		if (moved->newer)
			moved->newer->older = moved;
		else
			a->large = moved;
		if (moved->older)
			moved->older->newer = moved;
		return moved->data;
	}
	if (size < LARGE && is_last(a, p, had) && size - aligned(had) <= a->head->size - a->used) {
		a->used += size - aligned(had);
		return p;
	}
	void *q = arena_alloc(a, size);
	if (had)
		memcpy(q, p, had);
	return q;
}

void arena_drop(Arena *a, void *p, size_t size)
{
	Large *l = large_of(a, p, size);
	if (l)
		large_free(a, l);
	else if (is_last(a, p, size))
		a->used -= aligned(size);
}

void *arena_take(Arena *to, Arena *from, void *p, size_t had, size_t size)
{
	Large *l = large_of(from, p, had);
	if (!size)
		return NULL;
	if (!l || aligned(size) < LARGE || to->budget != from->budget)
		return memcpy(arena_alloc(to, size), p, size);
	size = aligned(size);
	large_unlink(from, l);
	Large *cut = size < l->size ? realloc(l, sizeof *l + size) : NULL;
	if (cut) {
		give_back(to->budget, cut->size - size);
		cut->size = size;
		l = cut;
	}
	large_link(to, l);
	return l->data;
}

ArenaMark arena_mark(const Arena *a)
{
	return (ArenaMark){a->head, a->used, a->serial};
}

/* One whole block is kept: what is marked and rewound again and again should not ask the system each time. */
static void block_free(Arena *a, Block *k)
{
	if (!a->spare && k->size == BLOCK_MOST) {
		a->spare = k;
		return;
	}
	give_back(a->budget, k->size);
	free(k);
}

void arena_rewind(Arena *a, ArenaMark m)
{
	while (a->large && a->large->serial > m.serial)
		large_free(a, a->large);
	a->serial = m.serial;
	while (a->head != m.head) {
		Block *k = a->head;
		ASSERT(k);
		a->head = k->prev;
		a->used = k->used_before;
		block_free(a, k);
	}
	a->used = m.used;
}

void arena_free(Arena *a)
{
	arena_rewind(a, (ArenaMark){0});
	if (!a->spare)
		return;
	give_back(a->budget, a->spare->size);
	free(a->spare);
	a->spare = NULL;
}

size_t arena_bytes(const Arena *a)
{
	size_t n = 0;
	for (const Block *k = a->head; k; k = k->prev)
		n += k->size;
	for (const Large *l = a->large; l; l = l->older)
		n += l->size;
	return n;
}

Str str_copy(Arena *a, Str s)
{
	if (!s.n)
		return (Str){0};
	char *p = arena_alloc(a, s.n);
	memcpy(p, s.p, s.n);
	return (Str){p, s.n};
}

char *str_to_c(Arena *a, Str s)
{
	char *p = arena_alloc(a, (size_t)s.n + 1);
	if (s.n)
		memcpy(p, s.p, s.n);
	return p;
}

Str str_vprintf(Arena *a, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	ASSERT(n >= 0);
	char *p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return (Str){p, (uint32_t)n};
}

Str str_printf(Arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	Str s = str_vprintf(a, fmt, ap);
	va_end(ap);
	return s;
}

/* ---- vectors ---- */

void *vec_grow(Arena *a, void *v, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 8;
	ASSERT(n <= *cap);
	if (more <= *cap || more > SIZE_MAX / size)
		out_of_memory(a->budget);
	v = arena_grow(a, v, *cap * size, more * size);
	*cap = more;
	return v;
}

static void buf_room(Buf *b, uint32_t more)
{
	uint64_t need = (uint64_t)b->n + more;
	if (need <= b->cap)
		return;
	if (need > UINT32_MAX)
		out_of_memory(b->a->budget);
	uint64_t cap = b->cap ? (uint64_t)b->cap * 2 : 256;
	if (cap < need)
		cap = need;
	if (cap > UINT32_MAX)
		cap = UINT32_MAX;
	b->p = arena_grow(b->a, b->p, b->cap, cap);
	b->cap = (uint32_t)cap;
}

void buf_add(Buf *b, Str s)
{
	if (!s.n)
		return;
	buf_room(b, s.n);
	memcpy(b->p + b->n, s.p, s.n);
	b->n += s.n;
}

void buf_char(Buf *b, char c)
{
	buf_room(b, 1);
	b->p[b->n++] = c;
}

void buf_printf(Buf *b, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	ASSERT(n >= 0);
	buf_room(b, (uint32_t)n + 1);
	vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
	b->n += (uint32_t)n;
	va_end(again);
	va_end(ap);
}

Str buf_str(const Buf *b)
{
	return (Str){b->p, b->n};
}

/* ---- interned names ---- */

uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	return x;
}

uint64_t hash_bytes(uint64_t seed, const void *p, size_t n)
{
	const unsigned char *q = p;
	uint64_t h = seed ^ (n * 0x9e3779b97f4a7c15u), w;
	for (; n >= 8; q += 8, n -= 8) {
		memcpy(&w, q, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 29;
	}
	w = 0;
	if (n)
		memcpy(&w, q, n);
	return hash_u64(h ^ w);
}

void names_init(Names *t, Arena *a)
{
	*t = (Names){.a = a};
	/* The seed only has to be unknown to whoever writes a dump; output never follows hash order. */
	t->seed = hash_u64((uint64_t)(uintptr_t)t ^ (uint64_t)(uintptr_t)a->head ^ 0x5bd1e995u);
	VEC_PUSH(a, &t->text, ((Str){0}));
}

static uint32_t *names_slot(const Names *t, Str s)
{
	uint32_t i = (uint32_t)hash_bytes(t->seed, s.p, s.n);
	for (;; i++) {
		uint32_t *slot = &t->slots[i & (t->nslots - 1)];
		if (!*slot || str_eq(t->text.v[*slot], s))
			return slot;
	}
}

/* What lives on when memory runs out must be whole: everything is there before it is linked in. */
static void names_grow(Names *t)
{
	uint32_t n = t->nslots ? t->nslots * 2 : 1024, *slots = NEW_N(t->a, uint32_t, n);
	arena_drop(t->a, t->slots, t->nslots * sizeof *t->slots);
	t->slots = slots;
	t->nslots = n;
	for (uint32_t i = 1; i < t->text.n; i++)
		*names_slot(t, t->text.v[i]) = i;
}

Sym sym_intern(Names *t, Str s)
{
	if (!s.n)
		return (Sym){0};
	if (t->text.n * 2 >= t->nslots)
		names_grow(t);
	uint32_t *slot = names_slot(t, s);
	if (!*slot) {
		VEC_PUSH(t->a, &t->text, str_copy(t->a, s));
		*slot = t->text.n - 1;
	}
	return (Sym){*slot};
}

Sym sym_find(const Names *t, Str s)
{
	return (Sym){s.n && t->nslots ? *names_slot(t, s) : 0};
}

Str sym_str(const Names *t, Sym s)
{
	ASSERT(s.i < t->text.n);
	return t->text.v[s.i];
}

/* ---- maps ---- */

static uint32_t map_slot(const Map *m, uint64_t key)
{
	uint32_t i = (uint32_t)hash_u64(key);
	for (;; i++) {
		uint32_t k = i & (m->cap - 1);
		if (!m->vals[k] || m->keys[k] == key)
			return k;
	}
}

uint32_t map_get(const Map *m, uint64_t key)
{
	return m->cap ? m->vals[map_slot(m, key)] : 0;
}

static void map_grow(Map *m)
{
	Map old = *m, now = {.a = m->a, .n = m->n, .cap = m->cap ? m->cap * 2 : 64};
	now.keys = NEW_N(m->a, uint64_t, now.cap);
	now.vals = NEW_N(m->a, uint32_t, now.cap);
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.vals[i]) {
			uint32_t k = map_slot(&now, old.keys[i]);
			now.keys[k] = old.keys[i];
			now.vals[k] = old.vals[i];
		}
	*m = now;
	arena_drop(m->a, old.vals, old.cap * sizeof *old.vals);
	arena_drop(m->a, old.keys, old.cap * sizeof *old.keys);
}

void map_put(Map *m, uint64_t key, uint32_t val)
{
	ASSERT(val != 0);
	if (m->n * 2 >= m->cap)
		map_grow(m);
	uint32_t k = map_slot(m, key);
	if (!m->vals[k])
		m->n++;
	m->keys[k] = key;
	m->vals[k] = val;
}

/* ---- pools ---- */

enum { POOLED_LEAST = 256 };

static uint64_t pool_key(const Pool *t, const void *p, size_t n)
{
	return hash_bytes(t->seed, p, n) | 1;
}

const void *pool_find(const Pool *t, const void *p, size_t n)
{
	uint32_t i = n < POOLED_LEAST ? 0 : map_get(&t->at, pool_key(t, p, n));
	if (!i || t->v.v[i - 1].n != n || memcmp(t->v.v[i - 1].p, p, n) != 0)
		return NULL;
	return t->v.v[i - 1].p;
}

void pool_add(Pool *t, const void *p, size_t n)
{
	if (n < POOLED_LEAST || map_get(&t->at, pool_key(t, p, n)))
		return;
	VEC_PUSH(t->a, &t->v, ((Pooled){p, n}));
	t->at.a = t->a;
	map_put(&t->at, pool_key(t, p, n), t->v.n);
}
