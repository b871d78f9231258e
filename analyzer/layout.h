/* SPDX-License-Identifier: MIT
 * layout: sizes and strides of what operators return: of views (layout_view.c) and of new
 * tensors (layout_new.c). Formulas: the verified ones of the operator facts (PyTorch 2.6 on CPU,
 * checked again on 2.13); storage offsets are not kept.
 *
 * Every function takes types by id and gives a tensor type that says as much as is certain: unknown
 * parts of the operands, dims out of range and arguments that PyTorch would refuse give a result
 * with single unknown sizes or strides (ExprId 0), without strides or without sizes, never a guess.
 * The dtype and device of the operand stay. An operand that is no tensor (or id 0) counts as a
 * tensor of which nothing is known.
 * Dims may be negative, as in Python. ExprId 0 is "a value, but not known". */
#ifndef GRAPHLINT_LAYOUT_H
#define GRAPHLINT_LAYOUT_H

#include "base.h"
#include "types.h"

enum { LAYOUT_DIMS_MOST = TYPE_DIMS_MOST };

/* ---- views ---- */

TypeId layout_transpose(Types *t, TypeId x, int64_t a, int64_t b); /* swapaxes; .mT: -2, -1 */
/* t(), .T of at most two dims (0-d and 1-d unchanged); .T of more: all dims reversed. */
TypeId layout_reverse(Types *t, TypeId x);
TypeId layout_permute(Types *t, TypeId x, const int64_t *dims, uint32_t n);
TypeId layout_movedim(Types *t, TypeId x, const int64_t *src, const int64_t *dst, uint32_t n);
/* x[..., start:stop:step, ...] at dim. NULL: not given (0, the size, 1). Negative values count from
 * the end; unknown or undecidable bounds give an unknown size in that dim. */
TypeId layout_slice(Types *t, TypeId x, int64_t dim, const ExprId *start, const ExprId *stop,
                    const ExprId *step);
TypeId layout_select(Types *t, TypeId x, int64_t dim); /* x[i], one element of unbind */
TypeId layout_narrow(Types *t, TypeId x, int64_t dim, ExprId length);
TypeId layout_expand(Types *t, TypeId x, const ExprId *size, uint32_t n); /* -1 keeps */
/* Drops dims of size 1: all of them when dims is NULL, else the named ones that have size 1. A
 * size of which it cannot be told whether it is 1 gives a result without sizes. */
TypeId layout_squeeze(Types *t, TypeId x, const int64_t *dims, uint32_t n);
TypeId layout_unsqueeze(Types *t, TypeId x, int64_t dim);
TypeId layout_as_strided(Types *t, TypeId x, const ExprId *size, const ExprId *stride, uint32_t n);
TypeId layout_diagonal(Types *t, TypeId x, int64_t offset, int64_t a, int64_t b);
TypeId layout_unfold(Types *t, TypeId x, int64_t dim, ExprId size, ExprId step);
TypeId layout_view_as_real(Types *t, TypeId x);
TypeId layout_view_as_complex(Types *t, TypeId x);
TypeId layout_view_dtype(Types *t, TypeId x, DType d);
/* view(shape), view_as, _unsafe_view: one -1 allowed. */
TypeId layout_view(Types *t, TypeId x, const ExprId *shape, uint32_t n);
/* reshape(shape): *shares (may be NULL) says whether the result shares memory (rule 2): MUST has
 * the view's strides, NO the contiguous ones, MAY has sizes only. */
TypeId layout_reshape(Types *t, TypeId x, const ExprId *shape, uint32_t n, Tri *shares);
/* flatten(start, end) by rule 3; *same (may be NULL): the result is the argument itself. */
TypeId layout_flatten(Types *t, TypeId x, int64_t start, int64_t end, Tri *shares, Tri *same);
TypeId layout_unflatten(Types *t, TypeId x, int64_t dim, const ExprId *sizes, uint32_t n);

/* Pieces along a dim. Each fills *out with *n types from `a`; false when the number of pieces is
 * not known (symbolic size) or above LAYOUT_PIECES_MOST: then *out has none. */
enum { LAYOUT_PIECES_MOST = 65536 };
bool layout_chunk(Types *t, TypeId x, int64_t chunks, int64_t dim, Arena *a, TypeId **out,
                  uint32_t *n);
bool layout_split(Types *t, TypeId x, ExprId size, int64_t dim, Arena *a, TypeId **out,
                  uint32_t *n);
bool layout_split_sizes(Types *t, TypeId x, const ExprId *sizes, uint32_t nsizes, int64_t dim,
                        Arena *a, TypeId **out, uint32_t *n);
bool layout_tensor_split(Types *t, TypeId x, int64_t sections, int64_t dim, Arena *a, TypeId **out,
                         uint32_t *n);
/* tensor_split at positions: pieces [0, i0), [i0, i1), ... to the end. */
bool layout_tensor_split_at(Types *t, TypeId x, const ExprId *at, uint32_t nat, int64_t dim,
                            Arena *a, TypeId **out, uint32_t *n);
bool layout_unbind(Types *t, TypeId x, int64_t dim, Arena *a, TypeId **out, uint32_t *n);

/* ---- new tensors ---- */

typedef enum Layout {
#define LAYOUT(id, word) LAYOUT_##id,
#include "layouts.def"
#undef LAYOUT
	LAYOUT_N
} Layout;
Str layout_word(Layout l);
bool layout_parse(Str word, Layout *out);

/* Common shape of tensors; numbers among them have none. False when a shape is not known or they
 * do not fit. A size that cannot be told (an unbacked one against another) is 0. `size` has
 * TYPE_DIMS_MOST of room. */
bool layout_broadcast(Types *t, const TypeId *ops, uint32_t nops, ExprId *size, uint32_t *n);

/* What a new tensor is made of. */
typedef struct LayoutNew {
	Layout rule;
	DType dtype; /* DT_NONE: unknown */
	Sym device; /* 0: that of the operands */
	MemoryFormat asked; /* LAYOUT_ASKED; MF_PRESERVE there means LAYOUT_PRESERVE */
	const TypeId
		*ops; /* operands that decide the layout; the first one for preserve, suggested, strict,
	                      * same; numbers (TK_SYM) among them are passed over */
	uint32_t nops;
	bool has_size; /* sizes given; else: the first operand's, or for ordering and iterator the
	                      * common shape of all */
	const ExprId *size;
	uint32_t ndim;
} LayoutNew;

/* contiguous: packed in the order of dims. preserve: a dense operand's strides, else ordering of
 * it. suggested: packed in the first operand's suggested format. strict: packed channels_last if
 * it is channels_last contiguous and not contiguous, else contiguous. asked: packed in `asked`.
 * same: the operand's strides. ordering, iterator: as TensorIterator does for elementwise
 * operators; a Python number as operand switches the first cases of `iterator` off, so it is
 * `ordering` then. `suggested`, `strict` and `asked` with other sizes than the operand's keep the
 * memory format only. */
TypeId layout_new(Types *t, const LayoutNew *how);

/* dtype of an elementwise result (torch.result_type): tensors with dims before 0-d tensors before
 * Python numbers; a later group only counts when its class is higher. Numbers are TK_SYM types
 * with their class in `dtype` (DT_B8, DT_I64, DT_F64, DT_C128; DT_NONE counts as an integer); a
 * float number among integers gives `float_default`. DT_NONE when some operand's dtype or ndim is
 * not known and decides. */
DType layout_result_dtype(Types *t, const TypeId *ops, uint32_t nops, DType float_default);

#endif
