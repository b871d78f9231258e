/* SPDX-License-Identifier: MIT
 * term: value numbers. A hash-consed term stands for one number: an element of a tensor, a Python number, or
 * what hidden code may have left. Equal terms, equal values; different terms may still be equal (never taken
 * as proof). Shared by all runs of one program, so that their states compare by id. */
#ifndef GRAPHLINT_TERM_H
#define GRAPHLINT_TERM_H

#include "base.h"

typedef struct TermId {
	uint32_t i; /* 0: none */
} TermId;

typedef enum TermKind {
	TERM_NONE,
	TERM_NUM,   /* a number that the dump prints */
	TERM_TEXT,  /* a constant of another kind: a string, a name */
	TERM_FRESH, /* an unknown number with a name of its own: an argument's element, what hidden code left */
	TERM_OP     /* an operator over terms */
} TermKind;

/* Between which numbers a value lies; NaN aside. */
typedef struct TermRange {
	float lo, hi;
} TermRange;

typedef struct Term {
	uint8_t kind;    /* TermKind */
	bool unsure;     /* depends on something that was approximated: a difference in it proves nothing */
	char cls;        /* TERM_NUM: 'b' 'i' 'f'; TERM_OP: class of the result where it is known, else 0 */
	Sym op;          /* TERM_OP, TERM_TEXT */
	uint32_t at, n;  /* operands: Terms.operands[at .. at+n) */
	union {
		uint64_t extra; /* TERM_FRESH: its name; TERM_OP: position in a result that is no element-wise one, ... */
		double num;     /* TERM_NUM */
	};
	TermRange range; /* TERM_OP */
} Term;

typedef struct Terms Terms;

/* `limit`: most terms; when it is reached further ones are the one unsure term (term_limit_hit says so). */
Terms *terms_new(Arena *a, Names *names, uint32_t limit);
TermId term_num(Terms *t, double v, char cls);
TermId term_text(Terms *t, Sym s);
TermId term_fresh(Terms *t, uint64_t name);
TermId term_unsure(Terms *t, uint64_t name); /* a fresh one that is unsure */
/* An operator by its ATen name without overload and trailing underscore ("add", "relu", "clamp"); folds what changes
 * nothing: x * 1, x + 0, x - 0, x / 1, x ** 1, relu of relu, abs of abs, clamp with equal bounds twice, a copy, neg of neg,
 * where with equal sides, operators over numbers alone (add, sub, mul, neg, comparisons, min, max). Never folds what is
 * only nearly equal: x - 1 + 1 stays. Unsure when an operand is. */
TermId term_op(Terms *t, Sym op, const TermId *args, uint32_t n, uint64_t extra);
const Term *term_get(const Terms *t, TermId id);
const TermId *term_args(const Terms *t, const Term *x);
bool term_is_unsure(const Terms *t, TermId id);
/* Do two values differ for certain, given that different sure terms do? Unsure ones do where operators alike get operands
 * that differ for certain; what only `perhaps` depends on an operand proves nothing. */
bool term_surely_differs(const Terms *t, TermId a, TermId b);
bool terms_limit_hit(const Terms *t);
/* Would so many terms and operands be below the limit? */
bool terms_fit(const Terms *t, uint64_t terms, uint64_t operands);
/* Where a table stands; going back drops all terms made since. */
typedef struct TermsMark {
	uint32_t terms, operands;
	bool limit_hit;
} TermsMark;

TermsMark terms_mark(const Terms *t);
void terms_rewind(Terms *t, TermsMark m);
Names *terms_names(const Terms *t); /* of the operators */
void term_text_of(const Terms *t, TermId id, uint32_t depth, Buf *out); /* for --dump and messages */

#endif
