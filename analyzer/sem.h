/* SPDX-License-Identifier: MIT
 * sem: what operators do to the elements of tensors, as far as the comparison of two runs needs it: which
 * elements move where, which are combined, which are new. Data: rules/semantics.tsv (see sem_table.h). */
#ifndef GRAPHLINT_SEM_H
#define GRAPHLINT_SEM_H

#include "base.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "term.h"

/* SEM_NUMEL_MOST: above it, in results and operands, nothing is told (sem_move false, sem_apply unsure). */
enum { SEM_MAX_DIMS = 12, SEM_NUMEL_MOST = 65536 };

/* A tensor operand as the operator finds it: sizes and the term of each element in row-major order. */
typedef struct SemTensor {
	const TermId *e; /* numel terms */
	uint32_t numel;
	uint32_t ndim;
	int64_t size[SEM_MAX_DIMS];
	DType dtype;
	/* Only as_strided needs these: with has_stride its source elements are found in memory. */
	bool has_stride;
	int64_t stride[SEM_MAX_DIMS];
	int64_t offset; /* of the tensor in its storage, in elements */
	bool in_memory; /* walks over it are walks over its storage: for sem_strided_view */
} SemTensor;

typedef struct SemTable SemTable;
/* The table that is embedded in the program; a fault in it is an assertion. `names` must outlive it. */
const SemTable *sem_table_builtin(Arena *a, Names *names);

/* Operands of one node. Arguments that are no tensors are read from the graph; sizes and numbers that are nodes
 * come from `number`. */
typedef struct SemCall {
	const Program *p;
	const Graph *g;
	NodeId node;
	Facts *facts;
	const Fact *fact; /* may be NULL; of a module call its class is read from here */
	const SemTable *table; /* of sem_table_builtin; not needed by sem_item */
	Terms *terms;
	/* The tensor that an argument names; false when it is none. */
	bool (*tensor)(void *ctx, const Arg *a, SemTensor *out);
	/* A Python number: its term, and its value where it is known. Not asked for literal ints, floats, bools, inf and nan. */
	bool (*number)(void *ctx, const Arg *a, TermId *term, int64_t *value, bool *known);
	/* One term for all that an argument holds whose elements `tensor` does not give (a large tensor, a list); may be
	 * NULL, or return 0: then it counts as unknown, and what changes in it goes unseen. */
	TermId (*whole)(void *ctx, const Arg *a);
	void *ctx;
	/* Name of this execution, equal in the runs that are compared: for random and unknown results. */
	uint64_t site;
	/* Of the result member asked for, where it is known; DT_NONE: from the arguments. */
	DType dtype;
	Arena *scratch; /* rewound by each function; not the arena of terms, names, facts or results */
} SemCall;

/* Members beyond what an operator returns: an argument that it writes besides its result (running_mean of batch_norm),
 * by position of the argument; that of `out` stands for the result itself. */
enum { SEM_MEMBER_ARG = 1000 };

/* Views and copies that only move elements (view, transpose, slice, select, x[...], expand, permute, chunk member,
 * flip, cat has more than one source and is not one): map[k] = row-major index in operand `*source`'s tensor of element k of
 * result member `member` (-1: the only one) with sizes out. False when the operator is not of this kind or the map
 * cannot be told. For x[...] = v (setitem) it gives the elements of x that are written, for *out sizes of that place.
 * Also true for copies by known indices (index_select, x[[0, 2]]); whether a result shares memory is not said here. A conversion
 * to the operand's own dtype is a move, to another one (or an unknown one) is not. */
bool sem_move(const SemCall *c, int member, const int64_t *size, uint32_t ndim, uint32_t numel,
              const Arg **source, uint32_t *map);
/* Sizes of the place that x[index] = v writes; false when the index is not known (a tensor, a mask). */
bool sem_index_sizes(const SemCall *c, const Arg *base, const Arg *index, int64_t *size,
                     uint32_t *ndim);
/* Where the elements lie that a view of `base`, or the place that x[...] = v writes in it, takes; base's sizes, strides and
 * offset are known, it may have any number of elements. size: of the result, for what broadcasts. Fills sizes, strides and offset of
 * *out. False when the place is not known or no strided one. */
bool sem_strided_view(const SemCall *c, int member, const int64_t *size, uint32_t ndim,
                      const SemTensor *base, SemTensor *out);
/* as_strided: what it asks for, for a caller that knows the whole storage. offset: that of the operand when not given. */
bool sem_strided(const SemCall *c, int64_t *size, int64_t *stride, uint32_t *ndim, int64_t *offset,
                 bool *has_offset);
/* Terms of a new tensor, result member `member`, from the operands' elements: element-wise with broadcasting, reductions
 * over dims, products, concatenations, constants (zeros, full, arange), random (fresh by site), and for the rest every element
 * of the result from all elements of all operands (position in `extra`). In-place operators are asked like their functional
 * form: `add_` as `add`; fill_, zero_, copy_, setitem's value broadcast to the place. Always fills all numel terms.
 * setitem whose index is not known (sem_index_sizes false), and index_put_, scatter_ and their like, give all elements of x
 * anew: asked with the sizes of x. _foreach_ operators: `member` is the position in the lists. */
void sem_apply(const SemCall *c, int member, const int64_t *size, uint32_t ndim, uint32_t numel,
               TermId *out);
/* For item(), tolist() members, float(x), bool(x): the number that a one-element tensor gives. Only terms and scratch
 * of the call are needed. */
TermId sem_item(const SemCall *c, const SemTensor *x);
/* Does the in-place operator write every element that it is given, whatever was there before (fill_, zero_, copy_, normal_)?
 * Also of out= forms, for the tensor given as out. */
bool sem_overwrites(const SemCall *c);
/* Is every element of the result, or of what is written, one number that the dump prints (zeros, fill_)? */
bool sem_fills(const SemCall *c, int member, TermId *number);

#endif
