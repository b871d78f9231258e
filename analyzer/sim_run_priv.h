/* SPDX-License-Identifier: MIT
 * sim_run_priv: one run of a program, shared by its driver and by what decides which record a call runs. */
#ifndef GRAPHLINT_SIM_RUN_PRIV_H
#define GRAPHLINT_SIM_RUN_PRIV_H

#include "sim_run.h"

typedef struct Activation {
	Machine m;
	uint32_t entry;
	bool outermost;
	uint8_t guess; /* CallGuess of the call */
	Ref self;      /* of a module's call */
	Ref output;    /* of a hook: what it was shown, and what stays when it returns None */
	bool branched; /* nothing decided a branch in it */
	struct {
		uint32_t at, taken, nbound;
	} loops[16];
	uint32_t nloops;
} Activation;

/* A call, and the record that it ran. */
typedef struct Binding {
	uint32_t caller, at, callee;
	Ref self; /* of a module's call */
} Binding;

/* What a value is may show only later: signatures are made when they are compared. */
typedef struct FirstCall {
	const Ref *args;
	uint32_t n;
} FirstCall;

typedef struct Run {
	Sim s;
	const RunPlan *plan;
	RunResult *out;
	Arena *keep;
	uint8_t *bound;     /* by entry */
	uint32_t last_bound;
	FirstCall *first;   /* by entry: the arguments it was compiled for */
	VEC(Activation *) stack;
	VEC(Binding) bindings;
	VEC(Ref) returned;  /* what outermost frames gave */
	uint32_t activations, nbound;
	uint32_t ncalls;    /* so far; those of the plan are followed up to `differ` */
	bool differ;
	Map params;         /* self objects by function name */
	Ref self;           /* of the outermost frame */
	Map mentioned;      /* names that listings use: Sym -> 1 */
	uint32_t *parent;   /* by entry: the one that called it first, plus 1 */
} ProgramRun;

static inline uint64_t run_mix(uint64_t h, uint64_t x)
{
	return hash_u64(h * 0x9e3779b97f4a7c15u ^ x);
}

static inline const Entry *run_entry(const ProgramRun *r, uint32_t i)
{
	return &r->plan->entries->v.v[i];
}

/* The function that a resume function belongs to, else the name itself. */
Str run_base(Str name, bool *resume);

/* Without a local that tells how many parameters there are, those that are used do. */
static inline uint32_t entry_takes(const Entry *e)
{
	return e->takes != UINT32_MAX ? e->takes : e->parameters;
}

/* ---- sim_pattern.c ---- */
/* Which values a frame reaches are one object and which are constants: equal patterns, and its record holds. */
uint64_t pattern_of(ProgramRun *r, const Entry *e, const Ref *args, uint32_t n, Ref closure);

/* ---- sim_arms.c ---- */
void arms_collect(Entries *e, const Program *p, Arena *a);
/* Does the dump show which arm of the branch ran, where the activation stands in original code? */
bool arms_shown(ProgramRun *r, const Activation *a, bool *jump);

static inline bool guess_is_module(const SimCall *c)
{
	return c->guess == GUESS_MODULE || c->guess == GUESS_FORWARD;
}

/* ---- sim_bind.c ---- */
/* The record that a call runs: the next one that has not run yet, when it fits; else one that ran with arguments alike.
 * False: it has none. */
bool bind_call(ProgramRun *r, const Activation *from, const SimCall *c, uint32_t *out);
/* The next record that has not run yet; the number of records when there is none. */
uint32_t bind_next(const ProgramRun *r);
/* The record of a forward hook that runs when a module's call, guessed, has returned. */
bool bind_hook(ProgramRun *r, const Activation *module, Ref output, uint32_t *out);
/* Notes that a record has run, or that nothing shown runs it. */
void bind_mark(ProgramRun *r, uint32_t entry);
/* Notes that a call runs a record. */
void bind_enter(ProgramRun *r, uint32_t caller, uint32_t entry, const Ref *args, uint32_t n);

#endif
