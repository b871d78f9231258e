/* SPDX-License-Identifier: MIT
 * frame_terms: values of a symbolic run of one frame: names of locals and cells, constants, results of graphs and
 * calls, containers with known contents.
 *
 * A term never changes, except that the contents of a container are looked up in the heap of a path: each path of a
 * fork has its own. The text of a term is made with it, and cut at LT_MOST bytes, so that nested calls stay small. */
#ifndef GRAPHLINT_FRAME_TERMS_H
#define GRAPHLINT_FRAME_TERMS_H

#include "base.h"
#include "bytecode.h"

typedef enum LTermKind {
	LT_NONE,
	LT_OTHER,   /* a call result, an operator, an item of something unknown */
	LT_CONST,   /* text: its repr, cut when long */
	LT_LOCAL,   /* name: a local or the content of a cell as they were at the start */
	LT_CELL,    /* name: the cell itself */
	LT_GLOBAL,  /* name */
	LT_ATTR,    /* of: object; name */
	LT_GRAPH,   /* what a graph call returns, whole; call: its event */
	LT_OUT,     /* of: a LT_GRAPH; index: element, or -1 when it is no number */
	LT_SLICE,   /* contents: start, stop, [step] */
	LT_FUNCTION, /* text: name of the code object; contents: closure */
	LT_TUPLE, LT_LIST, LT_SET, LT_DICT, /* contents; of a dict key, value, key ... (key 0: ** of the value) */
	LT_ITER     /* contents: what is left */
} LTermKind;

typedef uint32_t LTermId; /* 0 none; a Value of the machine */

typedef struct LTerm {
	uint8_t kind;
	bool none, truth_known, truth; /* constants whose truth is known */
	Sym name;
	LTermId of;
	int32_t index;
	uint32_t call;  /* of what a call returns: its event in FrameLinks.events, plus 1; of a LT_OUT that of its graph */
	uint32_t box;   /* containers: LHeap; 0 none; once the run is over only whether it was one */
	Str text;       /* of containers empty: it follows from the contents */
	Str repr;       /* LT_CONST: the whole of it */
	const LTermId *kids; /* contents of a container in an event: as they were then; box is 0 */
	uint32_t nkids;
} LTerm;

/* Contents of containers on one path. A copy shares the items until one side writes them. */
typedef struct LBox {
	LTermId *v;
	uint32_t n, cap; /* cap 0: shared with another path */
} LBox;

typedef struct LHeap {
	VEC(LBox) v; /* slot 0 unused */
} LHeap;

enum { LT_MOST = 2048, CONST_MOST = 120, CONST_HEAD = 48 };

typedef struct LTerms {
	Arena *a;
	VEC(LTerm) v; /* slot 0 unused */
} LTerms;

void lterms_init(LTerms *t, Arena *a);
static inline const LTerm *lterm_get(const LTerms *t, LTermId id) { return &t->v.v[id]; }
LTermId lterm_add(LTerms *t, LTerm term);
LTermId lterm_text(LTerms *t, LTermKind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
LTermId lterm_const(LTerms *t, Str repr);
bool lterm_is_container(const LTerm *x);

void lheap_init(LHeap *h, Arena *a);
void lheap_copy(LHeap *to, const LHeap *from, Arena *a);
LTermId lheap_new(LHeap *h, LTerms *t, LTermKind kind, const LTermId *v, uint32_t n);
static inline LBox *lheap_box(const LHeap *h, const LTerm *x) { return &h->v.v[x->box]; }
void lheap_push(LHeap *h, LTerms *t, LTermId container, LTermId v);
/* Replaces items [from, end) of a container by n others. */
void lheap_splice(LHeap *h, LTerms *t, LTermId container, uint32_t from, uint32_t end, const LTermId *v, uint32_t n);

/* Writes a term; at most `most` bytes. */
void lterm_print(const LTerms *t, const LHeap *h, LTermId id, Buf *out, uint32_t most);
Str lterm_str(const LTerms *t, const LHeap *h, LTermId id, Arena *a, uint32_t most);
/* The number that an integer constant stands for. */
bool lterm_integer(const LTerms *t, LTermId id, int64_t *out);
/* Bounds of a slice term over n items, as Python clamps them; false when they are not known, or have a step. */
bool lterm_slice(const LTerms *t, const LHeap *h, LTermId id, uint32_t n, uint32_t *from, uint32_t *end);

#endif
