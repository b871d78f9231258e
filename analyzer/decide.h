/* SPDX-License-Identifier: MIT
 * decide: whether a conditional operator (contiguous, reshape, to, dropout, x[...], ...) shares its
 * argument's memory at this call, by the decision rules of the operator facts. */
#ifndef GRAPHLINT_DECIDE_H
#define GRAPHLINT_DECIDE_H

#include "base.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "infer.h"

typedef struct Decision {
	Tri shares;      /* does the result share the argument's storage? */
	Tri same_object; /* is the result the argument itself? at most `shares` */
	bool traced_copy; /* AOTAutograd traces a copy where eager code shares */
	Tri writes;      /* for conditional writes: is the argument written? else TRI_NO */
	Str condition;   /* when something is MAY: the condition under which it shares or writes, in
	                  * words: "x is already contiguous"; names the argument as the dump does */
	Str because;     /* when decided by a layout or literal: why, in words, e.g.
	                  * "f32[1, 1024, 4, 8][32768, 32, 8, 1] is contiguous" */
} Decision;

typedef struct DecideCtx {
	const Program *p;
	const Graph *g;
	Types *t;
	Facts *f;
	const NodeTypes *nt;
	VersionSpan torch;
	int training; /* mode of modules where a dump shows it: 0 unknown, 1 train, 2 eval */
	Str ctor;     /* of a module call: ModuleClass.ctor, "p=0.5, inplace=False"; empty: not shown */
	Arena *a;     /* for texts */
} DecideCtx;

/* For a node whose fact has a condition class (cond is not FC_NONE), about argument `src` (the one
 * that the fact's alias or mutates column names, in g->args; NULL: not given). Never guesses: MAY
 * when the dump does not decide. Texts live in c->a or with the names and are short, whatever the
 * dump's names are. What only some rows of a joined fact do is for the caller to weaken. */
Decision decide_alias(const DecideCtx *c, NodeId n, const Fact *fact, const Arg *src);
/* For a `mutates` entry with a condition (training, inplace, max_norm, ...): is it written at this
 * call? Only `writes` and the texts are set. */
Decision decide_write(const DecideCtx *c, NodeId n, const Fact *fact, const FactArg *what);
/* Rule 7 alone: does x[index] give a view (MUST), a copy (NO), or cannot it be told (MAY)? */
Tri decide_index(const DecideCtx *c, const Arg *index);

#endif
