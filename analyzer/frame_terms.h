/* SPDX-License-Identifier: MIT
 * frame_terms: values of a symbolic run of one frame: names of locals and cells, constants, results of graphs and
 * calls, containers with known contents.
 *
 * A term never changes, except that the contents of a container are looked up in the heap of a path: each path of a
 * fork has its own. The text of a term is made with it, and cut at TERM_MOST bytes, so that nested calls stay small. */
#ifndef GRAPHLINT_FRAME_TERMS_H
#define GRAPHLINT_FRAME_TERMS_H

#include "base.h"
#include "bytecode.h"

typedef enum TermKind {
	TERM_NONE,
	TERM_OTHER,   /* a call result, an operator, an item of something unknown */
	TERM_CONST,   /* text: its repr, cut when long */
	TERM_LOCAL,   /* name: a local or the content of a cell as they were at the start */
	TERM_CELL,    /* name: the cell itself */
	TERM_GLOBAL,  /* name */
	TERM_ATTR,    /* of: object; name */
	TERM_GRAPH,   /* what a graph call returns, whole; call: its event */
	TERM_OUT,     /* of: a TERM_GRAPH; index: element, or -1 when it is no number */
	TERM_SLICE,   /* contents: start, stop, [step] */
	TERM_FUNCTION, /* text: name of the code object; contents: closure */
	TERM_TUPLE, TERM_LIST, TERM_SET, TERM_DICT, /* contents; of a dict key, value, key ... (key 0: ** of the value) */
	TERM_ITER     /* contents: what is left */
} TermKind;

typedef uint32_t TermId; /* 0 none; a Value of the machine */

typedef struct Term {
	uint8_t kind;
	bool none, truth_known, truth; /* constants whose truth is known */
	Sym name;
	TermId of;
	int32_t index;
	uint32_t call;  /* of what a call returns: its event in FrameLinks.events, plus 1; of a TERM_OUT that of its graph */
	uint32_t box;   /* containers: Heap; 0 none */
	Str text;       /* of containers empty: it follows from the contents */
	Str repr;       /* TERM_CONST: the whole of it */
	const TermId *kids; /* contents of a container in an event: as they were then; box is 0 */
	uint32_t nkids;
} Term;

/* Contents of containers on one path. A copy shares the items until one side writes them. */
typedef struct Box {
	TermId *v;
	uint32_t n, cap; /* cap 0: shared with another path */
} Box;

typedef struct Heap {
	VEC(Box) v; /* slot 0 unused */
} Heap;

enum { TERM_MOST = 2048, CONST_MOST = 120, CONST_HEAD = 48 };

typedef struct Terms {
	Arena *a;
	VEC(Term) v; /* slot 0 unused */
} Terms;

void terms_init(Terms *t, Arena *a);
static inline const Term *term_get(const Terms *t, TermId id) { return &t->v.v[id]; }
TermId term_add(Terms *t, Term term);
TermId term_text(Terms *t, TermKind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
TermId term_const(Terms *t, Str repr);
bool term_is_container(const Term *x);

void heap_init(Heap *h, Arena *a);
void heap_copy(Heap *to, const Heap *from, Arena *a);
TermId heap_new(Heap *h, Terms *t, TermKind kind, const TermId *v, uint32_t n);
static inline Box *heap_box(const Heap *h, const Term *x) { return &h->v.v[x->box]; }
void heap_push(Heap *h, Terms *t, TermId container, TermId v);
/* Replaces items [from, end) of a container by n others. */
void heap_splice(Heap *h, Terms *t, TermId container, uint32_t from, uint32_t end, const TermId *v, uint32_t n);

/* Writes a term; at most `most` bytes. */
void term_print(const Terms *t, const Heap *h, TermId id, Buf *out, uint32_t most);
Str term_str(const Terms *t, const Heap *h, TermId id, Arena *a, uint32_t most);
/* The number that an integer constant stands for. */
bool term_integer(const Terms *t, TermId id, int64_t *out);
/* Bounds of a slice term over n items, as Python clamps them; false when they are not known, or have a step. */
bool term_slice(const Terms *t, const Heap *h, TermId id, uint32_t n, uint32_t *from, uint32_t *end);

#endif
