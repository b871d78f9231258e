/* SPDX-License-Identifier: MIT
 * shapes: the table of rules/shapes.tsv: for every operator family what its result's sizes, strides
 * and dtype follow from. Only words; what a word means is code of infer (shape_rules.def,
 * dtype_rules.def, layouts.def).
 *
 * Columns, tab-separated: family (method, attr, operator, torch, dispatch, numpy, hop, or * for the
 * first five of them), name, parameters, shape, layout, dtype. The last three hold one word per
 * result, with commas. A name is the printed one without the module prefixes torch. and
 * torch.nn.functional., torch._C._nn. and their like; a row that spells such a prefix out
 * (nn.functional.softmax) goes first. Dispatcher names of namespace aten stand bare, with or
 * without overload; others as prims.iota.
 *
 * Parameters, separated by blanks and in order: role, role=keyword; `*` before the first
 * keyword-only one;
 * `...` after one that takes all further positional ones. `!` after it: the row only holds when it
 * is given;
 * `:t` given as a tensor, `:n` not as a tensor, `:d` as a dtype, `:b` as a literal bool. The first
 * row of a name that fits the call is taken. */
#ifndef GRAPHLINT_SHAPES_H
#define GRAPHLINT_SHAPES_H

#include "base.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "layout.h"

typedef enum ShapeRole {
#define SHAPE_ROLE(id, word) SR_##id,
#include "shape_roles.def"
#undef SHAPE_ROLE
	SR_N
} ShapeRole;

/* How a shape rule gives its answer. */
typedef enum ShapeKind { SK_NONE, SK_VIEW, SK_SIZE, SK_MANY, SK_NUMBER } ShapeKind;

typedef enum ShapeRule {
#define SHAPE_RULE(id, word, kind, fn) SH_##id,
#include "shape_rules.def"
#undef SHAPE_RULE
	SH_N
} ShapeRule;

typedef enum DTypeRule {
#define DTYPE_RULE(id, word) DR_##id,
#include "dtype_rules.def"
#undef DTYPE_RULE
	DR_N
} DTypeRule;

/* Layout words of the table: those of layouts.def, with the same numbers, then those of
 * shape_layouts.def. */
typedef enum ShapeLayout {
#define LAYOUT(id, word) SL_##id,
#include "layouts.def"
#undef LAYOUT
#define SHAPE_LAYOUT(id, word) SL_##id,
#include "shape_layouts.def"
#undef SHAPE_LAYOUT
	SL_N
} ShapeLayout;

typedef enum ShapeNeed { SN_ANY, SN_TENSOR, SN_NUMBER, SN_DTYPE, SN_BOOL } ShapeNeed;

typedef struct ShapeParam {
	uint8_t role, need; /* ShapeRole, ShapeNeed */
	bool given, keyword_only, variadic;
	Sym keyword;
} ShapeParam;

enum { SHAPE_PARAMS_MOST = 16, SHAPE_RESULTS_MOST = 5 };

typedef struct ShapeRow {
	Family family; /* FAM_NONE: * */
	Str name;
	const ShapeParam *param;
	uint32_t nparams, nresults;
	uint8_t shape[SHAPE_RESULTS_MOST], layout[SHAPE_RESULTS_MOST];
	uint8_t dtype[SHAPE_RESULTS_MOST]; /* DTypeRule */
	uint8_t fixed[SHAPE_RESULTS_MOST]; /* DType, with DR_FIXED */
	uint32_t next; /* further row of the same family and name; 0 none */
} ShapeRow;

typedef struct Shapes {
	VEC(ShapeRow) rows; /* slot 0 unused */
	Map first; /* hash of family and name -> row */
} Shapes;

/* The table that is embedded in the program; a fault in it is an assertion. `names` must outlive
 * it. */
Shapes *shapes_builtin(Arena *a, Names *names);
/* Reads a table. False when it has faults, each added to *errors as "FILE:LINE:COLUMN: message". */
bool shapes_load(Shapes *s, Arena *a, Names *names, Str path, Str text, Buf *errors);
/* First row for a call's spelling; its further rows by `next`. NULL when there is none. */
const ShapeRow *shapes_find(const Shapes *s, Callee callee, Str target);
/* The name that the table has for a printed target, and its family (see above). */
Str shapes_name(Callee callee, Str target, Family *family);

#endif
