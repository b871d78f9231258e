/* SPDX-License-Identifier: MIT
 * Annotations, one a line: reading, text and back, the questions about layouts, results of
 * operators on them. */
#include "fuzz.h"
#include "layout.h"

static bool whole(const Type *v)
{
	for (uint32_t d = 0; d < v->ndim; d++)
		if (!v->size[d].i || (v->has_stride && !v->stride[d].i))
			return false;
	return v->kind == TK_TENSOR && v->dtype != DT_NONE && v->has_shape;
}

/* Answers that cannot stand beside each other. */
static void questions(Types *t, TypeId id, Arena *a)
{
	const Type *v = type_get(t, id);
	Tri rows = type_is_contiguous(t, v), dense = type_is_dense(t, v),
		twice = type_overlaps_itself(t, v);
	ExprId flat = type_numel(t, v), stride;
	Str text = type_text(t, id, a);
	ASSERT(rows != TRI_MUST || dense != TRI_NO);
	ASSERT(dense != TRI_MUST || twice != TRI_MUST);
	if (v->has_shape && flat.i && type_view_exists(t, v, &flat, 1, &stride) == TRI_NO)
		ASSERT(rows != TRI_MUST);
	type_is_channels_last(t, v, 4);
	type_is_channels_last(t, v, 5);
	type_suggested_format(t, v);
	if (whole(v) && !str_has(text, S("...")))
		ASSERT(type_parse(t, text).i == id.i);
}

static void results(Types *t, TypeId x, TypeId y, Arena *a)
{
	TypeId ops[] = {x, y}, *v;
	ExprId size[TYPE_DIMS_MOST], minus = expr_int(t, -1), two = expr_int(t, 2);
	uint32_t n;
	Tri shares;
	layout_flatten(t, x, 0, -1, &shares, NULL);
	layout_reshape(t, x, (ExprId[]){two, minus}, 2, &shares);
	layout_reshape(t, x, type_get(t, y)->size, type_get(t, y)->ndim, &shares);
	layout_expand(t, x, type_get(t, y)->size, type_get(t, y)->ndim);
	layout_slice(t, x, -1, &two, &minus, &two);
	layout_squeeze(t, layout_unsqueeze(t, x, 0), NULL, 0);
	layout_chunk(t, x, 3, 0, a, &v, &n);
	layout_diagonal(t, x, 1, 0, -1);
	layout_unfold(t, x, 0, two, two);
	layout_broadcast(t, ops, 2, size, &n);
	layout_result_dtype(t, ops, 2, DT_F32);
	for (int rule = 0; rule < LAYOUT_N; rule++) {
		LayoutNew how = {.rule = (Layout)rule, .dtype = DT_F32, .ops = ops, .nops = 2};
		questions(t, layout_new(t, &how), a);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena a = arena_new(NULL);
	Names names;
	Str rest = fuzz_str(data, size), line;
	TypeId last = {0};
	names_init(&names, &a);
	Types *t = types_new(&a, &names);
	while (str_cut(&rest, '\n', &line)) {
		TypeId id = type_parse(t, line);
		expr_parse(t, line);
		dtype_parse(line);
		if (!id.i)
			continue;
		questions(t, id, &a);
		results(t, id, last, &a);
		last = id;
	}
	arena_free(&a);
	return 0;
}
