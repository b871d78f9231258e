/* SPDX-License-Identifier: MIT
 * match_pred: conditions of rules, asked of the analysed program. */
#ifndef GRAPHLINT_MATCH_PRED_H
#define GRAPHLINT_MATCH_PRED_H

#include "base.h"
#include "cond.h"
#include "match_world.h"

typedef enum BindKind { BIND_NONE, BIND_VALUE, BIND_ARG, BIND_OP } BindKind;

/* What a metavariable stands for. */
typedef struct Bind {
	uint8_t kind;    /* BindKind */
	uint8_t callee;  /* BIND_OP */
	Sym op;          /* BIND_OP: target, or path of an attribute */
	Val v;           /* BIND_VALUE; BIND_OP: the node; BIND_ARG: only the graph */
	const Arg *arg;  /* BIND_ARG: no single node */
} Bind;

/* Answers a condition. Where it holds only since something is possible, *perhaps is set, and *why says when, if that is known
 * and *why is empty. */
Tri match_cond(World *w, const Cond *c, const Bind *binds, bool *perhaps, Str *why);
/* As printed: name of a value, text of an argument, operator. */
Str match_bind_text(World *w, const Bind *b, Arena *a);

#endif
