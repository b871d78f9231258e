/* SPDX-License-Identifier: MIT
 * types: sizes, strides, dtypes, devices of tensors, with symbolic sizes; the layout questions that decide
 * whether an operator copies. Rules and formulas: verified ones of the project's operator facts. */
#ifndef GRAPHLINT_TYPES_H
#define GRAPHLINT_TYPES_H

#include "base.h"

/* An expression over size symbols is a polynomial in canonical form, interned: equal value, equal ExprId.
 * Atoms are symbols (s0, u0) and whatever is no polynomial ((s1//2), Mod(s0, 8), Max(1, s0)), kept as text
 * after canonicalising their own arguments. A plain sN is at least 2, any other symbol only at least 0. */

typedef enum DType {
#define DTYPE(id, shown, torch, bytes, cls) DT_##id,
#include "dtypes.def"
#undef DTYPE
	DT_N
} DType; /* DT_NONE = 0: unknown */

typedef enum DTypeClass { DC_NONE, DC_BOOL, DC_INT, DC_FLOAT, DC_COMPLEX, DC_BITS } DTypeClass;

typedef enum TypeKind {
	TK_NONE,   /* nothing known */
	TK_TENSOR,
	TK_SYM,    /* a symbolic or plain Python number; value in `sym` when known, kind of number (DT_B8, DT_I64,
	            * DT_F64, DT_C128) in `dtype` when known */
	TK_OTHER   /* surely no tensor */
} TypeKind;

typedef enum MemoryFormat { MF_CONTIGUOUS, MF_CHANNELS_LAST, MF_CHANNELS_LAST_3D, MF_PRESERVE, MF_UNKNOWN } MemoryFormat;

/* More dims than PyTorch's iterators take; a type with more has no shape. */
enum { TYPE_DIMS_MOST = 64 };

typedef struct Type {
	TypeKind kind;
	DType dtype;        /* DT_NONE: unknown */
	bool has_shape, has_stride;
	bool wrapped;       /* printed inside a subclass: DTensor(...), TwoTensor(...): layout of the outer tensor */
	uint32_t ndim;      /* valid with has_shape */
	const ExprId *size, *stride; /* ndim each; stride valid with has_stride; single ones may be 0, unknown */
	Sym device;         /* "cpu", "cuda:0"; 0 unknown */
	ExprId sym;         /* TK_SYM */
} Type;

typedef struct Types Types; /* interner of expressions and types; process or run lifetime */

Types *types_new(Arena *a, Names *names);

/* ---- expressions ---- */
ExprId expr_int(Types *t, int64_t v);
ExprId expr_parse(Types *t, Str s);  /* sympy text as dumps print it; 0 when it cannot be read */
ExprId expr_symbol(Types *t, Str name);
ExprId expr_add(Types *t, ExprId a, ExprId b); /* any operand 0 (unknown) gives 0, here and below */
ExprId expr_sub(Types *t, ExprId a, ExprId b);
ExprId expr_mul(Types *t, ExprId a, ExprId b);
ExprId expr_floordiv(Types *t, ExprId a, ExprId b); /* exact division when it cancels, else an atom (a//b) */
ExprId expr_mod(Types *t, ExprId a, ExprId b);
ExprId expr_max(Types *t, ExprId a, ExprId b);
ExprId expr_min(Types *t, ExprId a, ExprId b);
bool expr_value(const Types *t, ExprId e, int64_t *out); /* true when it is a plain number */
Tri expr_eq(Types *t, ExprId a, ExprId b);  /* MUST equal, NO differs for all values, MAY cannot be told */
Tri expr_ge(Types *t, ExprId a, ExprId b);
/* The value of an expression when `symbol` gives that of each plain symbol; false when one is not known, or on overflow. */
bool expr_eval(const Types *t, ExprId e, bool (*symbol)(void *ctx, Str name, int64_t *out), void *ctx, int64_t *out);
/* Is it one plain symbol? Its name. */
bool expr_is_symbol(const Types *t, ExprId e, Str *name);
Str expr_text(Types *t, ExprId e, Arena *a); /* stable text, for dumps */

/* ---- types ---- */
TypeId type_intern(Types *t, const Type *v);       /* copies size and stride */
const Type *type_get(const Types *t, TypeId id);   /* id 0: the type of which nothing is known */
/* Reads an annotation: f32[2, s0][s0, 1]cuda:0, Sym(2*s0), DTensor(f32[8][1]cpu, S(0)), torch.Tensor (a tensor of
 * which nothing else is known), the words of typewords.def. ANSI codes must be gone. Returns 0 when it is none of
 * these or damaged. A dim whose text has no value here (see expr_parse) is unknown, the others stay. */
TypeId type_parse(Types *t, Str annotation);
Str type_text(Types *t, TypeId id, Arena *a);      /* "f32[2, 3][3, 1]cpu"; parts unknown are left out; "?" for none */
/* "torch.float32", "float32", "f32", "torch.long", "torch.float"; DT_NONE otherwise. Bare "float", "int", "bool" and
 * "complex" are Python's (and NumPy's) types: f64, i64, b8, c128. */
DType dtype_parse(Str torch_name);
Str dtype_shown(DType d);                          /* "f32" */
Str dtype_torch(DType d);                          /* "torch.float32" */
DTypeClass dtype_class(DType d);
uint32_t dtype_bytes(DType d);                     /* 0 unknown or below one byte */
DType dtype_promote(DType a, DType b);             /* both tensors of one or more dims */
TypeId type_tensor_unknown(Types *t);              /* a tensor of which nothing is known */
TypeId type_with_dtype(Types *t, TypeId id, DType d);
TypeId type_contiguous_of(Types *t, DType d, const ExprId *size, uint32_t n, Sym device); /* packed in dim order */
TypeId type_without_layout(Types *t, TypeId id);   /* dtype, sizes, device; strides unknown */
TypeId type_without_shape(Types *t, TypeId id);    /* dtype and device */

ExprId type_numel(Types *t, const Type *v);        /* 0 when unknown */
/* The questions of the decision rules; MAY when strides or sizes do not decide. */
Tri type_is_contiguous(Types *t, const Type *v);
Tri type_is_channels_last(Types *t, const Type *v, uint32_t dims); /* dims 4 or 5 */
Tri type_is_dense(Types *t, const Type *v);
Tri type_is_empty(Types *t, const Type *v);        /* numel == 0 */
Tri type_overlaps_itself(Types *t, const Type *v); /* two indices reach one element (stride 0 on a size > 1, ...) */
MemoryFormat type_suggested_format(Types *t, const Type *v); /* MF_UNKNOWN when it cannot be told */
/* Fills in one -1 of a target shape of v's elements; false when that cannot be done. */
bool type_fill_shape(Types *t, const Type *v, ExprId *shape, uint32_t n);
/* Does v, with this full target shape, exist as a view? Without strides: MUST when the shape only cuts dims,
 * adds or drops size-1 dims or repeats v's, else MAY. When MUST and strides are known, *out gets the strides. */
Tri type_view_exists(Types *t, const Type *v, const ExprId *shape, uint32_t n, ExprId *out);

#endif
