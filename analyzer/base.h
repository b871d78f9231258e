/* SPDX-License-Identifier: MIT
 * base: arenas, string slices, vectors, interned names, integer maps, three-valued logic.
 *
 * Memory comes from arenas only. There are four lifetimes: process (facts, rules), artifact
 * (what was read from one piece of text), run (links, findings), scratch (mark and rewind).
 * When the machine has no memory left, or the run's budget is spent, arena_alloc does not
 * return: it calls Budget.fail, which unwinds to the function that started the run. */
#ifndef GRAPHLINT_BASE_H
#define GRAPHLINT_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- assertions: on in every build ---- */

/* Ends the process with status 4 and names the pass and input position (see crash_note). */
_Noreturn void base_assert_failed(const char *expr, const char *file, int line);
#define ASSERT(x) ((x) ? (void)0 : base_assert_failed(#x, __FILE__, __LINE__))

/* Where the analysis is, for the message of a failed assertion. Thread-local; not analysis state. */
void crash_note(const char *pass, const char *path, uint32_t offset);

/* ---- libraries ---- */

/* For libraries that do not outlive an allocation that fails: the process ends with status 4 and says so. */
_Noreturn void base_out_of_memory(void);
void *base_malloc(size_t size);
void *base_calloc(size_t n, size_t size);
void *base_realloc(void *p, size_t size);

/* ---- strings ---- */

/* A slice of bytes; not NUL-terminated. The zero value is the empty string. */
typedef struct Str {
	const char *p;
	uint32_t n;
} Str;

#define S(lit) ((Str){(lit), (uint32_t)(sizeof(lit) - 1)})
#define STR_INIT(lit) {(lit), (uint32_t)(sizeof(lit) - 1)} /* the same where a constant initializer is needed */
#define STR_ARG(s) (int)(s).n, (s).n ? (s).p : ""
#define STR_FMT "%.*s"

Str str_from_c(const char *c);
bool str_eq(Str a, Str b);
int str_cmp(Str a, Str b); /* bytewise, shorter first */
bool str_starts(Str s, Str prefix);
bool str_ends(Str s, Str suffix);
Str str_sub(Str s, uint32_t at, uint32_t end); /* clamps to s */
Str str_trim(Str s);                           /* blanks, tabs, CR, LF at both ends */
Str str_ltrim(Str s);
Str str_rtrim(Str s);
/* Index of the first c at or after `from`; s.n when there is none. */
uint32_t str_find_char(Str s, char c, uint32_t from);
/* Index of the first occurrence of needle at or after `from`; s.n when there is none. */
uint32_t str_find(Str s, Str needle, uint32_t from);
uint32_t str_rfind(Str s, Str needle); /* last occurrence; s.n when there is none */
bool str_has(Str s, Str needle);
/* Splits off what stands before the first `sep`, and moves *rest behind it. False at the end. */
bool str_cut(Str *rest, char sep, Str *part);
/* Decimal digits with optional '-'; false when not exactly that or out of range. */
bool str_to_i64(Str s, int64_t *out);
bool str_to_u32(Str s, uint32_t *out);
/* Levenshtein distance, at most `limit` + 1. For "did you mean". */
uint32_t str_distance(Str a, Str b, uint32_t limit);
bool char_is_ident(unsigned char c); /* [A-Za-z0-9_] */
bool str_is_ident(Str s);            /* a Python identifier in ASCII */

/* ---- arenas ---- */

/* What one run may take from the machine. Shared by its arenas. */
typedef struct Budget {
	size_t used, limit; /* bytes; limit 0: no limit */
	uint32_t calls;     /* block requests so far */
	uint32_t fail_at;   /* tests: request number that fails, 0 never */
	jmp_buf *fail;      /* taken when memory is out; NULL: the process ends with status 4 */
	void (*pulse)(void *ctx); /* called now and then while work goes on; may set `stop`, and touches nothing that
	                           * is being built. NULL: nobody waits */
	void *pulse_ctx;
	bool stop;          /* nobody wants the result any more: the run ends as if memory were out */
} Budget;

/* Small allocations share blocks; a large one is a block of its own, which can grow in place and be given back. */
typedef struct Block Block;
typedef struct Large Large;
typedef struct Arena {
	Block *head;     /* newest block */
	size_t used;     /* bytes used in head */
	Block *spare;    /* a free one, for the next that is needed */
	Large *large;    /* newest large allocation */
	uint32_t serial; /* of the newest */
	Budget *budget;  /* may be NULL */
} Arena;

typedef struct ArenaMark {
	Block *head;
	size_t used;
	uint32_t serial;
} ArenaMark;

/* For work that goes long without asking for memory: see Budget.pulse. */
void budget_pulse(Budget *b);

Arena arena_new(Budget *budget);
void *arena_alloc(Arena *a, size_t size); /* zeroed, aligned for any type */
/* Room for n items of `size` bytes; overflow of the product is treated as no memory. */
void *arena_array(Arena *a, size_t n, size_t size);
/* An allocation of `had` bytes, or NULL and 0, made longer; what is new is not zeroed. The old one is gone: no pointer
 * into it may be used again. */
void *arena_grow(Arena *a, void *p, size_t had, size_t size);
/* Gives an allocation of `size` bytes back where that is possible: it is large, or the last one. It is gone either way. */
void arena_drop(Arena *a, void *p, size_t size);
/* The first `size` of an allocation of `had` bytes of one arena, kept in another: a copy, or where it is large the
 * allocation itself, which is then gone from the first. */
void *arena_take(Arena *to, Arena *from, void *p, size_t had, size_t size);
ArenaMark arena_mark(const Arena *a);
void arena_rewind(Arena *a, ArenaMark m);
void arena_free(Arena *a); /* gives everything back; the arena is empty and usable again */
size_t arena_bytes(const Arena *a);

#define NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define NEW_N(a, T, n) ((T *)arena_array((a), (n), sizeof(T)))

Str str_copy(Arena *a, Str s);
char *str_to_c(Arena *a, Str s); /* with NUL, for the system border */
Str str_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
Str str_vprintf(Arena *a, const char *fmt, va_list ap);

/* ---- vectors ----
 * VEC(T) name; then VEC_PUSH(arena, &name, item). Items move when it grows, and where they stood is given back: pointers
 * and copies of the vector from before are dead. */

#define VEC(T)                                                                                     \
	struct {                                                                                       \
		T *v;                                                                                      \
		uint32_t n, cap;                                                                           \
	}

typedef VEC(Str) StrList;

void *vec_grow(Arena *a, void *v, uint32_t n, uint32_t *cap, size_t size);

#define VEC_PUSH(a, vec, item)                                                                     \
	do {                                                                                           \
		if ((vec)->n == (vec)->cap)                                                                \
			(vec)->v = vec_grow((a), (vec)->v, (vec)->n, &(vec)->cap, sizeof *(vec)->v);           \
		(vec)->v[(vec)->n++] = (item);                                                             \
	} while (0)

/* Moves what a vector of one arena holds into another, without room to spare. */
#define VEC_TAKE(to, from, vec)                                                                    \
	do {                                                                                           \
		(vec)->v = arena_take((to), (from), (vec)->v, (size_t)(vec)->cap * sizeof *(vec)->v,       \
		                      (size_t)(vec)->n * sizeof *(vec)->v);                                \
		(vec)->cap = (vec)->n;                                                                     \
	} while (0)

/* A growing byte buffer in an arena. */
typedef struct Buf {
	Arena *a;
	char *p;
	uint32_t n, cap;
} Buf;

void buf_add(Buf *b, Str s);
void buf_char(Buf *b, char c);
void buf_printf(Buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
Str buf_str(const Buf *b);

/* ---- interned names ---- */

/* An interned string; 0 is "none". Equal text, equal Sym, within one Names. */
typedef struct Sym {
	uint32_t i;
} Sym;

typedef struct Names {
	Arena *a;
	VEC(Str) text;   /* text.v[i] is the text of Sym i; slot 0 is empty */
	uint32_t *slots; /* open addressing, 0 free */
	uint32_t nslots;
	uint64_t seed;
} Names;

void names_init(Names *t, Arena *a);
Sym sym_intern(Names *t, Str s);     /* the empty string gives Sym 0 */
Sym sym_find(const Names *t, Str s); /* 0 when it was never interned */
Str sym_str(const Names *t, Sym s);
static inline bool sym_eq(Sym a, Sym b) { return a.i == b.i; }
static inline bool sym_none(Sym a) { return a.i == 0; }

/* ---- maps from 64-bit keys to 32-bit values (0 = absent) ---- */

typedef struct Map {
	Arena *a;
	uint64_t *keys;
	uint32_t *vals;
	uint32_t n, cap;
} Map;

uint32_t map_get(const Map *m, uint64_t key);
void map_put(Map *m, uint64_t key, uint32_t val); /* val must not be 0 */
uint64_t hash_bytes(uint64_t seed, const void *p, size_t n);
uint64_t hash_u64(uint64_t x);

/* ---- arrays that come again and again: equal ones stand once ---- */

typedef struct Pooled {
	const void *p;
	size_t n;
} Pooled;

typedef struct Pool {
	Arena *a;
	uint64_t seed;
	Map at; /* hash -> index in v, plus 1 */
	VEC(Pooled) v;
} Pool;

/* An array of the same n bytes that was added before; NULL when there is none. Small ones are not worth it. */
const void *pool_find(const Pool *t, const void *p, size_t n);
void pool_add(Pool *t, const void *p, size_t n); /* must live as long as the pool, and not change */

/* ---- three-valued logic ---- */

/* The answer to a question about the program: no, may (cannot be told, or sometimes), must. */
typedef enum Tri { TRI_NO, TRI_MAY, TRI_MUST } Tri;

static inline Tri tri_and(Tri a, Tri b) { return a < b ? a : b; }
static inline Tri tri_or(Tri a, Tri b) { return a > b ? a : b; }
static inline Tri tri_not(Tri a) { return (Tri)(2 - (int)a); }

/* A PyTorch version as major * 100 + minor (2.13 -> 213; torchdynamo of 2022 -> 113). 0 unknown. */
typedef uint32_t Version;

/* Versions that are possible: lo..hi inclusive; 0 = open at that end. */
typedef struct VersionSpan {
	Version lo, hi;
} VersionSpan;

/* ---- ids: one type per kind, 0 is none ---- */

typedef struct FileId { uint32_t i; } FileId;         /* Sources.v[i] */
typedef struct ArtifactId { uint32_t i; } ArtifactId; /* Artifacts.v[i] */
typedef struct GraphId { uint32_t i; } GraphId;       /* Program.graphs.v[i] */
typedef struct NodeId { uint32_t i; } NodeId;         /* Graph.nodes[i], within one graph */
typedef struct TypeId { uint32_t i; } TypeId;         /* Types: a printed or inferred type */
typedef struct ExprId { uint32_t i; } ExprId;         /* Types: a size, stride or number, maybe symbolic */

/* Bytes [at, end) of the text of a source. The zero value is "nowhere". */
typedef struct Span {
	FileId file;
	uint32_t at, end;
} Span;

#endif
