/* SPDX-License-Identifier: MIT
 * cond: conditions of rules, from their text to steps of a stack machine.
 *
 *     not is_output($v) and (size($x, 0) > 1 or matches(name($x), "^cache"))
 *
 * Answers are three-valued: a condition holds where its answer is certain. */
#ifndef GRAPHLINT_COND_H
#define GRAPHLINT_COND_H

#include "base.h"
#include "pattern.h"

typedef enum PredId {
#define PREDICATE(name, result, args, fn, meaning) PRED_##name,
#include "predicates.def"
#undef PREDICATE
	PRED_N
} PredId;

typedef enum CondOpKind {
	CO_VAR,     /* metavariable u.var */
	CO_NUMBER,  /* u.num */
	CO_REAL,    /* u.real */
	CO_STRING,  /* str */
	CO_LIST,    /* the u.n texts or numbers above */
	CO_CALL,    /* predicate u.pred, n arguments */
	CO_REGEX,   /* regular expression Cond.regex[u.n] */
	CO_NOT, CO_AND, CO_OR,
	CO_EQ, CO_NE, CO_LT, CO_LE, CO_GT, CO_GE, CO_IN
} CondOpKind;

typedef struct CondOp {
	uint8_t kind, n;
	union {
		uint8_t var;
		int64_t num;
		double real;
		uint32_t pred, n;
	} u;
	Str str;
} CondOp;

enum { COND_STACK = 32, COND_TEXT = 2000 };

typedef struct Regex {
	Str text;
	void *code; /* pcre2_code; freed by rules_free */
} Regex;

typedef struct Cond {
	Str text;
	VEC(CondOp) ops;
	VEC(Regex) regexes;
	uint64_t vars; /* metavariables that it asks about */
} Cond;

/* Reads a condition about the metavariables of a pattern. False, what is wrong in *why, and where in the text in *at. */
bool cond_parse(Cond *c, Arena *a, const Pattern *p, Str text, Buf *why, uint32_t *at);
Str pred_name_of(PredId p);
/* Frees what its regular expressions hold. */
void cond_free(Cond *c);

#endif
