/* SPDX-License-Identifier: MIT
 * sem_table: the table of rules/semantics.tsv: for every operator family how the elements of its result follow from
 * those of its operands.
 *
 * Columns, tab-separated: family (method, attr, operator, torch, dispatch, numpy, module, or * for the first five of
 * them), names, class (sem_classes.def), parameters, name of the operator in terms (`-`: the row's own name). Names
 * are written as in rules/shapes.tsv, without the underscore of in-place forms; modules by their class. A NumPy
 * function without a row of its own takes an element-wise row of *.
 *
 * Parameters, separated by blanks and in order: role or role=keyword; `*` before the first keyword-only one; `...`
 * after one that takes all further positional ones. `!` after it: the row only holds when it is given; `:t` given as
 * a tensor, `:n` not as a tensor, `:d` as a dtype. The first row of a name that fits the call is taken. Keywords that no parameter names
 * go into the terms, as those of role `more` do. */
#ifndef GRAPHLINT_SEM_TABLE_H
#define GRAPHLINT_SEM_TABLE_H

#include "sem.h"

typedef enum SemRole {
#define SEM_ROLE(id, word) SROLE_##id,
#include "sem_roles.def"
#undef SEM_ROLE
	SROLE_N
} SemRole;

typedef enum SemClass {
#define SEM_CLASS(id, word, fn) SEM_##id,
#include "sem_classes.def"
#undef SEM_CLASS
	SEM_N
} SemClass;

typedef enum SemNeed { SEM_NEED_NONE, SEM_NEED_TENSOR, SEM_NEED_OTHER, SEM_NEED_DTYPE } SemNeed;

typedef struct SemParam {
	uint8_t role, need; /* SemRole, SemNeed */
	bool given, keyword_only, variadic;
	Sym keyword;
} SemParam;

enum { SEM_PARAMS_MOST = 24 };

typedef struct SemRow {
	Family family; /* FAM_NONE: * */
	uint8_t cls; /* SemClass */
	Str name;
	Sym op;
	const SemParam *param;
	uint32_t nparams;
	uint32_t next; /* further row of the same family and name; 0 none */
} SemRow;

struct SemTable {
	VEC(SemRow) rows; /* slot 0 unused */
	Map first; /* hash of family and name -> row */
};

/* Reads a table. False when it has faults, each added to *errors as "FILE:LINE:COLUMN: message". */
bool sem_table_load(SemTable *s, Arena *a, Names *names, Str path, Str text, Buf *errors);
/* First row for a name of a family (* included); its further rows by `next`. NULL when there is none. */
const SemRow *sem_table_find(const SemTable *s, Family family, Str name);
Str sem_class_word(SemClass c);
/* The class of that word; SEM_N when there is none. */
SemClass sem_class_parse(Str word);

#endif
