/* SPDX-License-Identifier: MIT
 * sim_learn: types that values turn out to have. Code that runs before a graph takes a tensor, or that no graph shows,
 * has no types of its own; what the graph prints of its input holds there too. A run notes them by the origin of the
 * value, the next run has them from the start. */
#ifndef GRAPHLINT_SIM_LEARN_H
#define GRAPHLINT_SIM_LEARN_H

#include "sim.h"

typedef struct SimLearned {
	Map tuples;  /* classes of which a listing shows that they are named tuples: Sym -> 1 */
	Map types;   /* origin -> TypeId + 1; LEARNED_TWO where runs or arms disagree */
	bool news;   /* something was noted since this was reset */
	bool closed; /* nothing more is noted: runs that are compared know the same */
} SimLearned;

/* Finds the classes of named tuples: Dynamo makes their objects anew by _make. */
void sim_learn_classes(SimLearned *l, const Program *p);
/* A tensor of this origin, or a value that becomes one, has the type, under the sizes that symbols have now. */
void sim_learn(Sim *s, uint64_t origin, TypeId type);
/* The type, or what is known of the origin where it says no sizes. 0: it is not known to be a tensor. */
TypeId sim_learned(const Sim *s, uint64_t origin, TypeId type);

#endif
