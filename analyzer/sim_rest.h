/* SPDX-License-Identifier: MIT
 * sim_rest: the rest of a function behind a break, where Dynamo made no record of it: a resume function without
 * operators to capture runs as it is (torch/_dynamo/convert_frame.py skips code with no content). Its code is that of
 * the caller's original, from the instruction that its name gives. */
#ifndef GRAPHLINT_SIM_REST_H
#define GRAPHLINT_SIM_REST_H

#include "base.h"
#include "bytecode.h"
#include "sim.h"

typedef struct CodeRest {
	uint32_t at;       /* instruction that goes on */
	uint32_t depth;    /* values on the stack there */
	uint32_t *live;    /* variables that are read before they are written, cells aside, in the order of their binding */
	uint32_t nlive;
	bool quiet;        /* nothing in it could have been captured */
} CodeRest;

/* False: no instruction at that offset, or what stands on its stack or in its blocks cannot be told. */
bool code_rest(const Code *c, uint32_t offset, Arena *a, CodeRest *out);
/* How many arguments a frame has at least: one more than the greatest index among variables that it reads, whatever way
 * it takes, before it writes them, cells aside; 0 none, or not known. */
uint32_t code_parameters(const Code *c, Arena *scratch);
/* How many arguments stand before the values of the stack: two lists since PyTorch 2.9, else none. False: the call does
 * not fit the code. */
bool rest_fits(Sim *s, const CodeRest *rest, const Ref *args, uint32_t n, uint32_t *prefix);
/* Puts a machine that is new to the place, with the arguments of the resume call. */
void rest_start(Machine *m, const CodeRest *rest, const Ref *args);

#endif
