/* SPDX-License-Identifier: MIT
 * aot: what AOTAutograd does not keep, though its contract says so: each cause's condition, tested on what a run recorded of the
 * calls of the captured graphs (sim_aot.h). */
#ifndef GRAPHLINT_AOT_H
#define GRAPHLINT_AOT_H

#include "base.h"
#include "sim_aot.h"
#include "sim_grad.h"

typedef enum AotEffect { AOT_EFFECT_NONE, AOT_EFFECT_IDENTITY, AOT_EFFECT_VALUE, AOT_EFFECT_ERROR } AotEffect;

typedef enum AotCause {
#define AOT_CAUSE(id, word, last, effect) AOT_CAUSE_##id,
#include "aot_causes.def"
#undef AOT_CAUSE
	AOT_CAUSE_N
} AotCause;
Str aot_cause_name(AotCause c);
/* Does some version of the span have it? */
bool aot_cause_in(AotCause c, VersionSpan torch);
AotEffect aot_cause_effect(AotCause c);
Str aot_cause_versions(AotCause c, Arena *a); /* "up to 2.9"; empty: all so far */

/* Inputs of a graph that share storage at a call, one of them written, and what comes of it. */
typedef struct AotGroup {
	AotCause cause;   /* AOT_CAUSE_GROUP: nothing, as far as is known */
	Tri certainty;    /* that the cause's condition holds */
	uint32_t input, other; /* a written member, and another one */
	int32_t output;   /* handed back wrongly; -1 none */
	uint32_t nth;     /* call of the graph that has them, from 0 */
	bool faint;       /* possible, and not likely */
	Str why;          /* what holds, in words */
} AotGroup;

typedef VEC(AotGroup) AotGroups;

/* Who calls a module wants gradients of its parameters: these leaves are arguments alone. */
bool aot_is_faint(const GradTape *t, GradMask leaves);
/* "`l_x_` needs a gradient", of the first leaf of a set that has a name. */
Str aot_needs(const GradTape *t, GradMask mask, const Names *names, Arena *a);

/* What the calls of one graph have: at most one entry for each written input, the first cause of the table that holds. */
void aot_groups(const AotLog *log, const Graph *g, const Names *names, VersionSpan torch, Arena *keep, AotGroups *out);

#endif
