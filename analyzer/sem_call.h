/* SPDX-License-Identifier: MIT
 * sem_call: one call under the semantics table: its arguments by role, and what the functions of sem_classes.def
 * share. Everything here lives in the scratch arena of the call. */
#ifndef GRAPHLINT_SEM_CALL_H
#define GRAPHLINT_SEM_CALL_H

#include "sem_table.h"

enum { SEM_MORE_MOST = 24 };

typedef struct Sem {
	const SemCall *c;
	const Graph *g;
	const Node *n;
	Names *names;
	Terms *t;
	Arena *a;
	const SemRow *row; /* NULL: nothing known */
	Sym op;
	SemClass cls;
	bool inplace; /* the result goes into the input's elements: its dtype */
	bool foreach; /* lists stand for their element `member` */
	const Arg *arg[SROLE_N]; /* NULL: not given, or None */
	const Arg *rest; /* positional ones from a variadic parameter on */
	uint32_t nrest;
	uint8_t rest_role;
	const Arg *out; /* out= */
	const Arg *more[SEM_MORE_MOST]; /* of role `more`, and keywords that the row does not name */
	Sym more_key[SEM_MORE_MOST];
	uint32_t nmore;
	/* What is asked. */
	int member;
	const int64_t *size;
	uint32_t ndim, numel;
} Sem;

typedef struct TermList {
	Arena *a;
	VEC(TermId) v;
} TermList;

/* Binds the call to its row. False when the sizes asked for are no sizes (negative, too many, not `numel`). */
bool sem_bind(Sem *s, const SemCall *c, int member, const int64_t *size, uint32_t ndim,
              uint32_t numel);

/* ---- arguments (sem_bind.c) ---- */
bool sem_given(const Sem *s, SemRole r);
bool sem_int_of(Sem *s, const Arg *a, int64_t *out);
bool sem_int(Sem *s, SemRole r, int64_t *out); /* false when not given or not known */
bool sem_int_or(Sem *s, SemRole r, int64_t dflt, int64_t *out); /* false when given and not known */
bool sem_bool_or(Sem *s, SemRole r, bool dflt, bool *out);
/* An int, or a list of ints, or those from a variadic parameter on. False when not given or not known. */
bool sem_ints(Sem *s, SemRole r, int64_t *v, uint32_t most, uint32_t *n);
/* dims of an operand of ndim dims, wrapped; all of them when not given or empty. Each at most once. */
bool sem_dims(Sem *s, SemRole r, uint32_t ndim, bool *in);
bool sem_dim(Sem *s, SemRole r, int64_t dflt, uint32_t ndim, uint32_t *out);
bool sem_wrap(int64_t dim, uint32_t ndim, uint32_t *out);
/* The members of a list argument, or the arguments of a variadic parameter. */
bool sem_list(Sem *s, SemRole r, const Arg **v, uint32_t *n);
Str sem_word(const Sem *s, const Arg *a); /* text of a name or string; empty for others */
DType sem_dtype_of(Sem *s, const Arg *a); /* torch.float32, "float32"; DT_NONE when it is none */
/* A tensor with a valid shape. */
bool sem_tensor_of(Sem *s, const Arg *a, SemTensor *out);
bool sem_tensor(Sem *s, SemRole r, SemTensor *out);
/* A number as term, with the dtype of its Python type (DT_NONE unknown). False when the argument is no number. */
bool sem_number_of(Sem *s, const Arg *a, TermId *out, DType *dtype);
/* A tensor, or a number as a tensor without dims (*number), or an unknown as an unsure one. */
SemTensor sem_operand_of(Sem *s, const Arg *a, bool *number);
DType sem_result_dtype(Sem *s); /* argument dtype, else that of the result, else DT_NONE */

/* ---- terms ---- */
Sym sem_sym(Sem *s, const char *text);
TermId sem_op(Sem *s, const char *op, const TermId *v, uint32_t n, uint64_t extra);
TermId sem_op2(Sem *s, const char *op, TermId a, TermId b);
TermId sem_unknown(Sem *s, uint64_t k); /* unsure, by site */
TermId sem_fresh(Sem *s, uint64_t k); /* fresh, by site and member */
TermId sem_float(Sem *s, double v);
/* Exact: equal dtypes and what a wider one gives back leave the term as it is; numbers are rounded. */
TermId sem_convert(Sem *s, TermId x, DType from, DType to);
void sem_push(Sem *s, TermList *l, TermId x);
/* Everything an argument holds, as terms: tensors by elements, names as text. */
void sem_push_arg(Sem *s, TermList *l, const Arg *a);
void sem_push_more(Sem *s, TermList *l);
TermId sem_list_op(Sem *s, const char *op, const TermList *l, uint64_t extra);
/* One term for a sequence of elements. */
TermId sem_vec(Sem *s, const TermId *v, uint32_t n);
bool sem_known(Sem *s, TermId x, double *v); /* a number that the dump prints */

/* ---- walks: strided maps over row-major indices ---- */
typedef struct Walk {
	uint32_t n;
	int64_t size[SEM_MAX_DIMS], step[SEM_MAX_DIMS];
	int64_t at;
} Walk;

uint64_t sem_numel(const int64_t *size, uint32_t n); /* UINT64_MAX: negative or too large */
Walk walk_of(const int64_t *size, uint32_t n); /* row-major */
Walk walk_of_tensor(const SemTensor *x);
void walk_drop(Walk *w, uint32_t dim);
bool walk_insert(Walk *w, uint32_t dim, int64_t size, int64_t step);
/* Broadcasts to the sizes; false when that cannot be. */
bool walk_expand(Walk *w, const int64_t *size, uint32_t n);
uint32_t walk_numel(const Walk *w); /* UINT32_MAX: above SEM_NUMEL_MOST */
void walk_fill(const Walk *w, uint32_t *map); /* walk_numel(w) indices */
uint32_t *walk_map(Sem *s, const Walk *w);
/* Elements of a tensor broadcast to the sizes; unsure ones when it does not fit. */
const TermId *sem_spread(Sem *s, const SemTensor *x, const int64_t *size, uint32_t n);
bool sem_slice_bounds(int64_t size, bool has_start, int64_t start, bool has_stop, int64_t stop,
                      int64_t step, int64_t *from, int64_t *count);

/* ---- moves (sem_view.c, sem_index.c) ---- */
bool sem_is_move(SemClass cls);
/* Result of view class `cls` of x by the arguments of the call; false when it is not known or no strided one. */
bool sem_view(Sem *s, SemClass cls, const SemTensor *x, Walk *w);
/* map of s->numel indices into *source. */
bool sem_map(Sem *s, const Arg **source, uint32_t *map);
bool sem_index_map(Sem *s, const Arg **source, uint32_t *map);
bool sem_index_walk(Sem *s, const SemTensor *x, Walk *w); /* x[...] by ints and slices alone */
bool sem_einsum_map(Sem *s, const Arg **source, uint32_t *map);
bool sem_strided_of(Sem *s, const SemTensor *x, Walk *w, bool *has_offset);

/* The functions of sem_classes.def: fill s->numel terms. False: by everything then. */
#define SEM_CLASS(id, word, fn) bool fn(Sem *s, TermId *out);
#include "sem_classes.def"
#undef SEM_CLASS

/* Shared by the classes of lanes: lane number of every element (dims `in` are inside a lane), and one term a lane. */
typedef struct Lanes {
	uint32_t *of, *pos; /* by element: its lane, its position there */
	TermId *term; /* by lane: all its elements, in order */
	uint32_t n, length;
} Lanes;
Lanes sem_lanes(Sem *s, const TermId *e, const int64_t *size, uint32_t ndim, const bool *in);
/* dot of two sequences; `mul` of single elements. */
TermId sem_dot(Sem *s, TermId a, TermId b);

#endif
