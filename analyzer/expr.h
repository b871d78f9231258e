/* SPDX-License-Identifier: MIT
 * expr: the inside of the interner of expressions and types, for expr.c, expr_parse.c and types.c.
 * Everybody else uses types.h.
 *
 * An expression is a polynomial with 64-bit coefficients over atoms. Every result is capped
 * (terms, degree, text of an atom) and checked for overflow, so that no text can make it grow
 * without bound; whatever goes over a cap is unknown. */
#ifndef GRAPHLINT_EXPR_H
#define GRAPHLINT_EXPR_H

#include "base.h"
#include "types.h"

enum {
	POLY_TERMS = 32, /* terms of a polynomial */
	POLY_DEGREE = 32, /* sum of powers in one term */
	POLY_ATOMS = 24, /* atoms of a polynomial of which bounds are asked */
	ATOM_TEXT = 1024, /* bytes of the text of an atom */
	ATOM_ARGS = 8 /* operands of Max and Min */
};

typedef enum AtomOp {
	ATOM_SYMBOL,
	ATOM_FLOORDIV,
	ATOM_MOD,
	ATOM_MAX,
	ATOM_MIN,
	ATOM_OPAQUE
} AtomOp;

/* What a polynomial is made of. Equal text, equal atom: text is built from canonical operands. */
typedef struct Atom {
	Str text;
	int64_t lo, hi; /* every value is in lo..hi; INT64_MIN and INT64_MAX: not bounded */
	uint8_t op; /* AtomOp */
	uint8_t nargs;
	ExprId args[ATOM_ARGS]; /* two of floordiv and mod, two or more of Max and Min */
} Atom;

typedef struct Factor {
	uint32_t atom, power;
} Factor;

/* A product of powers, factors in ascending order of atom: Types.factors[at .. at+n). */
typedef struct Mono {
	uint32_t at, n, degree;
} Mono;

enum { MONO_NONE = 0, MONO_ONE = 1 };

typedef struct Term {
	int64_t coef; /* never 0 */
	uint32_t mono;
} Term;

/* A polynomial that is worked on; terms in ascending order of mono, n == 0 is zero. */
typedef struct Poly {
	uint32_t n;
	Term t[POLY_TERMS];
} Poly;

typedef struct Expr {
	uint32_t at, n; /* Types.terms[at .. at+n) */
	bool bounded; /* lo and hi were computed */
	uint8_t zero; /* ZERO_x: can it be 0? */
	int64_t lo, hi;
} Expr;

enum { ZERO_NOT_ASKED, ZERO_NEVER, ZERO_MAYBE };

/* A hash table of ids; what an id stands for is compared by whoever looks it up. */
typedef struct IdSlot {
	uint64_t hash;
	uint32_t id; /* 0 free */
} IdSlot;

typedef struct IdSet {
	IdSlot *v;
	uint32_t n, cap;
} IdSet;

uint32_t idset_next(const IdSet *s, uint64_t hash,
                    uint32_t *probe); /* next candidate; 0 when there is none */
void idset_add(Arena *a, IdSet *s, uint64_t hash, uint32_t id);

struct Types {
	Arena *a;
	Names *names;
	VEC(Atom) atoms; /* slot 0 unused, in all of these */
	VEC(Factor) factors;
	VEC(Mono) monos; /* MONO_ONE: no factors */
	VEC(Term) terms;
	VEC(Expr) exprs;
	VEC(Type *) types; /* they stay where they are */
	IdSet atom_set, mono_set, expr_set, type_set;
};

void exprs_init(Types *t);

int64_t int_floor_div(int64_t a, int64_t b); /* b > 0 */
uint64_t int_magnitude(int64_t v);
uint64_t int_gcd(uint64_t a, uint64_t b);

const Factor *mono_factors(const Types *t, uint32_t mono);
uint32_t mono_power(const Types *t, uint32_t mono, uint32_t atom); /* 0 when it is no factor */
uint32_t mono_div(Types *t, uint32_t a, uint32_t b); /* MONO_NONE when b does not divide a */
uint32_t mono_gcd(Types *t, uint32_t a, uint32_t b);

/* Functions below that return bool are false when a cap or the range of int64_t is exceeded. */
void poly_of(const Types *t, ExprId e, Poly *out); /* e must not be 0 */
ExprId poly_intern(Types *t, const Poly *p);
void poly_int(Poly *p, int64_t v);
void poly_atom(Types *t, uint32_t atom, Poly *out);
void poly_copy(Poly *out, const Poly *p);
bool poly_value(const Poly *p, int64_t *out); /* true when it is a plain number */
bool poly_add(Poly *p, const Poly *q, int64_t scale); /* *p += scale * *q */
bool poly_add_term(Poly *p, int64_t coef, uint32_t mono);
/* Greatest common divisor of the coefficients; that of the number among them counts only with
 * `all`. */
uint64_t poly_content(const Poly *p, bool all);
void poly_shrink(Poly *p, int64_t by); /* divides all coefficients, which must be multiples */
uint32_t poly_common(Types *t, const Poly *p); /* the product of atoms that divides every term */
void poly_div_mono(Types *t, Poly *p, uint32_t mono); /* mono must divide every term */
bool poly_has_atom(const Types *t, const Poly *p, uint32_t atom);
bool poly_atoms(const Types *t, const Poly *p, uint32_t *atoms,
                uint32_t *n); /* POLY_ATOMS of room */
/* Puts `value` in place of an atom. */
bool poly_replace(Types *t, const Poly *p, uint32_t atom, const Poly *value, Poly *out);
bool poly_mul(Types *t, const Poly *a, const Poly *b,
              Poly *out); /* out may be a or b, here and below */
bool poly_pow(Types *t, const Poly *a, uint32_t power, Poly *out);
bool poly_div_exact(Types *t, const Poly *a, const Poly *b,
                    Poly *out); /* false: not divisible, too */
bool poly_floordiv(Types *t, const Poly *a, const Poly *b, Poly *out);
bool poly_mod(Types *t, const Poly *a, const Poly *b, Poly *out);
bool poly_extreme(Types *t, const Poly *a, const Poly *b, bool max,
                  Poly *out); /* Max(a, b), Min(a, b) */
bool poly_symbol(Types *t, Str name, Poly *out);
bool poly_opaque(Types *t, Str text, Poly *out);

/* Reads sympy text; false when it is damaged. *out is 0 when it has no value here (floating, a
 * comparison, an unknown function, beyond a cap). *number: DT_I64, DT_F64 or DT_B8, the kind of
 * number that it gives. */
bool expr_read(Types *t, Str s, ExprId *out, DType *number);

#endif
