/* SPDX-License-Identifier: MIT
 * sim_args: arguments of a call of a frame, as its variables take them: *args and **kwargs are not marked in a listing,
 * and follow from the number of variables and from keywords that name none. */
#ifndef GRAPHLINT_SIM_ARGS_H
#define GRAPHLINT_SIM_ARGS_H

#include "base.h"
#include "bytecode.h"
#include "sim.h"

typedef struct FrameArgs {
	const Ref *v;      /* by index of the parameter */
	uint32_t n;
	const Ref *named;  /* by name */
	const Sym *names;
	uint32_t nnamed;
	Ref keywords;      /* dict for the parameter `keywords_at`; 0 none */
	uint32_t keywords_at;
} FrameArgs;

/* How many parameters a listing has; UINT32_MAX: it has no locals that would tell. */
uint32_t code_takes(const Code *c, const Names *names, Arena *scratch);
/* `m`: the caller's; `takes` of code_takes; `modified` may be NULL. Where it cannot be told which variable takes what, the run becomes unsure. */
FrameArgs frame_args(Sim *s, Machine *m, const Code *original, const Code *modified, uint32_t takes, const SimCall *c);
/* Could code that was made for a call have been made for this one? Not when most items of *args and **kwargs
 * that it reads are not given by this one. */
bool frame_gets(Sim *s, Machine *m, const Code *original, const Code *modified, uint32_t takes, const SimCall *c);

#endif
