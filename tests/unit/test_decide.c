/* SPDX-License-Identifier: MIT
 * The condition classes, one table of calls for each. The expected answers are those of the tables
 * of the operator facts (rules 1 to 14, verify.tsv). */
#include "decide_world.h"

/* ---- tables of calls ---- */

/* MUST with and without the same object; NO; MAY likewise. */
enum { SAME, VIEW, VIEW_OR_SAME, COPY, MAY_SAME, MAY_VIEW, MAY_EITHER };

typedef struct Case {
	const char *code;
	int want;
	const char *words; /* condition or reason; NULL: not compared */
	const char *mode, *ctor;
} Case;

static int got(const Decision *d)
{
	if (d->shares == TRI_NO)
		return COPY;
	if (d->shares == TRI_MUST)
		return d->same_object == TRI_MUST ? SAME : d->same_object == TRI_NO ? VIEW : VIEW_OR_SAME;
	return d->same_object == TRI_NO ? MAY_VIEW : MAY_SAME;
}

static void check_words(const Case *c, const Decision *d)
{
	Str words = d->condition.n ? d->condition : d->because;
	if (c->words && !str_eq(words, str_from_c(c->words)))
		fail_msg("%s: '" STR_FMT "'", c->code, STR_ARG(words));
	if ((d->shares == TRI_MAY || d->writes == TRI_MAY) && !d->condition.n)
		fail_msg("%s: may without a condition", c->code);
}

static void check_alias(World *w, const Case *cases, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const Case *c = &cases[i];
		Made m = graph_make(w, c->code);
		m.mode = c->mode;
		m.ctor = c->ctor;
		graph_types(w, &m);
		const Fact *f = fact_of(w, &m, (VersionSpan){0});
		if (!f || !(f->nalias || f->nmutates))
			fail_msg("%s: no fact", c->code);
		const FactArg *fa = f->nalias ? &f->alias[0] : &f->mutates[0];
		const Node *node = graph_node(m.g, m.last);
		const Arg *src = call_arg(w->facts, m.g, node, fa->index, sym_str(&w->names, fa->name));
		for (uint32_t i = 1; i < f->nalias && src && src->kind == AR_STR; i++) { /* einsum: a text or an operand comes first */
			fa = &f->alias[i];
			src = call_arg(w->facts, m.g, node, fa->index, sym_str(&w->names, fa->name));
		}
		if (src && fa->each && (src->kind == AR_LIST || src->kind == AR_TUPLE) && src->n)
			src = arg_kids(m.g, src);
		DecideCtx ctx = ctx_of(w, &m, (VersionSpan){0});
		Decision d = decide_alias(&ctx, m.last, f, src);
		int want = c->want == MAY_EITHER ? MAY_SAME : c->want;
		if (got(&d) != want)
			fail_msg("%s: got %d, want %d ('" STR_FMT "' '" STR_FMT "')", c->code, got(&d), want,
			         STR_ARG(d.condition), STR_ARG(d.because));
		assert_true(d.same_object <= d.shares);
		assert_int_equal(d.writes, TRI_NO);
		check_words(c, &d);
	}
}

#define CHECK_ALIAS(state, cases) check_alias(*(state), cases, sizeof cases / sizeof cases[0])

static void contiguous(void **state)
{
	static const Case cases[] = {
		{"r = method contiguous(x)", SAME, "f32[3, 4][4, 1] is contiguous", 0, 0},
		{"r = method contiguous(xt)", COPY, "f32[3, 4][1, 3] is not contiguous", 0, 0},
		{"r = method contiguous(xn)", MAY_SAME, "xn is already contiguous", 0, 0},
		{"r = method contiguous(any)", MAY_SAME, "any is already contiguous", 0, 0},
		{"r = method contiguous(zero)", SAME, 0, 0, 0},
		{"r = method contiguous(none3)", SAME, 0, 0, 0},
		{"r = method contiguous(slice1)", COPY, 0, 0, 0},
		{"r = method contiguous(one)", SAME, 0, 0, 0}, /* strides of size-1 dims do not count */
		{"r = method contiguous(dyn)", SAME, 0, 0, 0},
		{"r = method contiguous(dynt)", COPY, 0, 0, 0},
		{"r = method contiguous(dynp)", MAY_SAME, 0, 0, 0},
		{"r = method contiguous(nhwc, memory_format=torch.channels_last)", SAME,
	     "f32[2, 4, 5, 5][100, 1, 20, 4] is contiguous in torch.channels_last", 0, 0},
		{"r = method contiguous(nchw, memory_format=torch.channels_last)", COPY, 0, 0, 0},
		{"r = method contiguous(x3, memory_format=torch.channels_last)", COPY, 0, 0, 0},
		{"r = method contiguous(ndhwc, memory_format=torch.channels_last_3d)", SAME, 0, 0, 0},
		{"r = method contiguous(nhwc, memory_format=torch.channels_last_3d)", COPY, 0, 0, 0},
		{"r = method contiguous(xn, memory_format=torch.channels_last)", COPY, 0, 0, 0},
		{"r = method contiguous(any, memory_format=torch.channels_last)", MAY_SAME,
	     "any is already contiguous in torch.channels_last", 0, 0},
		{"r = method contiguous(xt, memory_format=any)", MAY_SAME, 0, 0, 0},
		{"r = method contiguous(x, memory_format=torch.preserve_format)", SAME, 0, 0, 0},
		{"r = function torch.ops.aten.contiguous.default(x)", SAME, 0, 0, 0},
		{"r = function torch.Tensor.contiguous(xt)", COPY, 0, 0, 0},
		{"r = method resize(x, 3, 4)", VIEW, 0, 0, 0},
		{"r = method resize(xt, 3, 4)", COPY, 0, 0, 0},
		{"r = method resize_as(any, x)", MAY_VIEW, 0, 0, 0},
		{"r = function torch.ops.aten.resize.default(x, [3, 4])", COPY, 0, 0, 0},
		{"r = function torch.ops.prims.resize.default(xt, [3, 4])", SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_ascontiguousarray(x)", SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_ascontiguousarray(xt)", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_ascontiguousarray(x, 'float64')", COPY, 0, 0, 0},
	};
	CHECK_ALIAS(state, cases);
}

static void reshape(void **state)
{
	static const Case cases[] = {
		{"r = method reshape(x, 12)", VIEW, "f32[3, 4][4, 1] can be viewed as [12]", 0, 0},
		{"r = method reshape(xt, 12)", COPY, "f32[3, 4][1, 3] cannot be viewed as [12]", 0, 0},
		{"r = method reshape(xn, 12)", MAY_VIEW, "xn can be viewed as [12] without a copy", 0, 0},
		{"r = method reshape(any, 12)", MAY_VIEW, 0, 0, 0},
		{"r = method reshape(x, 3, 4)", VIEW, 0, 0, 0}, /* a new view for the same shape too */
		{"r = method reshape(xn, 3, 2, 2)", VIEW, 0, 0, 0},
		{"r = method reshape(xn, 3, 1, 4)", VIEW, 0, 0, 0},
		{"r = method reshape(xt, 3, 2, -1)", VIEW, 0, 0, 0},
		{"r = method reshape(x, [-1])", VIEW, 0, 0, 0},
		{"r = method reshape(xt, (-1,))", COPY, 0, 0, 0},
		{"r = method reshape(zero, 1, 1)", VIEW, 0, 0, 0},
		{"r = method reshape(none3, 3, 0)", VIEW, 0, 0, 0},
		{"r = method reshape(x, any, -1)", VIEW, 0, 0, 0}, /* contiguous: whatever the shape */
		{"r = method reshape(xt, any, -1)", MAY_VIEW, 0, 0, 0},
		{"r = method reshape(xt, any, -1) : f32[12, 1]", COPY, 0, 0, 0}, /* the result is printed */
		{"r = method reshape(any, -1) : f32[12][2]cpu", VIEW,
	     "the result is not contiguous, as a copy would be", 0, 0},
		{"r = method reshape(any, -1) : f32[12][1]cpu", MAY_VIEW, 0, 0, 0},
		{"r = method reshape(any, -1) : f32[s0 + 1][(s1//2)]cpu", VIEW, 0, 0, 0},
		{"r = method reshape(any, -1) : f32[u0][(s1//2)]cpu", MAY_VIEW, 0, 0, 0},
		{"r = method reshape(dyn, -1)", VIEW, 0, 0, 0},
		{"r = method reshape(dynt, -1)", COPY, 0, 0, 0},
		{"r = method reshape_as(xt, x12)", COPY, 0, 0, 0},
		{"r = method reshape_as(x, any)", VIEW, 0, 0, 0},
		{"r = method reshape_as(xt, any)", MAY_VIEW, 0, 0, 0},
		{"r = function torch.reshape(x, (12,))", VIEW, 0, 0, 0},
		{"r = function torch.reshape(input=xt, shape=(12,))", COPY, 0, 0, 0},
		{"r = function torch.ops.aten.reshape.default(xt, [12])", COPY, 0, 0, 0},
		{"r = function torch.ops.aten._reshape_from_tensor.default(xt, i)", MAY_VIEW, 0, 0, 0},
		{"r = function torch.ops.aten._reshape_from_tensor.default(x, i)", VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_reshape(x, [2, 6])", VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_reshape(xt, -1)", COPY, 0, 0, 0},
	};
	CHECK_ALIAS(state, cases);
}

static void flatten(void **state)
{
	static const Case cases[] = {
		{"r = method flatten(x)", VIEW, "f32[3, 4][4, 1] can be viewed as [12]", 0, 0},
		{"r = method flatten(xt)", COPY, 0, 0, 0},
		{"r = method flatten(xn)", MAY_VIEW, 0, 0, 0},
		{"r = method flatten(any)", MAY_EITHER, 0, 0, 0},
		{"r = method flatten(slice1)", SAME, 0, 0, 0},
		{"r = method flatten(zero)", VIEW, 0, 0, 0},
		{"r = method flatten(xt, 1)", SAME, "it flattens a single dim", 0, 0},
		{"r = method flatten(x3, 1)", VIEW, 0, 0, 0},
		{"r = method flatten(x3t, 1)", COPY, 0, 0, 0},
		{"r = method flatten(x3t, start_dim=1, end_dim=1)", SAME, 0, 0, 0},
		{"r = method flatten(x3t, -3, 0)", SAME, 0, 0, 0},
		{"r = method flatten(any, 1, 1)", SAME, 0, 0, 0},
		{"r = method flatten(any, 0, 0)", VIEW_OR_SAME, 0, 0, 0}, /* may have no dims */
		{"r = method flatten(one)", VIEW, 0, 0, 0},
		{"r = function torch.flatten(wide)", COPY, 0, 0, 0},
		{"r = function torch.flatten(x3t, any)", MAY_EITHER, 0, 0, 0},
		{"r = function torch.flatten(x3t, any) : f32[2, 12]", COPY, 0, 0, 0},
		{"r = function torch.flatten(x3, any) : f32[6, 4]", VIEW, 0, 0, 0},
		{"r = function torch.ops.aten.flatten.using_ints(x3t, 1, -1)", COPY, 0, 0, 0},
		{"r = module Flatten(x3t)", COPY, 0, 0, "start_dim=1, end_dim=-1"},
		{"r = module Flatten(xt)", SAME, 0, 0, "start_dim=1, end_dim=-1"},
		{"r = module Flatten(xt)", MAY_EITHER, 0, 0, 0},
		{"r = module Flatten(xt) : f32[12]", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_ravel(xt)", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_flatten(slice1)", SAME, 0, 0, 0},
	};
	CHECK_ALIAS(state, cases);
}

static void ravel(void **state)
{
	static const Case cases[] = {
		{"r = method ravel(x)", VIEW, 0, 0, 0},
		{"r = method ravel(xt)", COPY, 0, 0, 0},
		{"r = method ravel(slice1)", COPY, 0, 0, 0}, /* stricter than flatten */
		{"r = method ravel(zero)", VIEW, 0, 0, 0},
		{"r = method ravel(xn)", MAY_VIEW, "xn is already contiguous", 0, 0},
		{"r = function torch.ravel(any)", MAY_VIEW, 0, 0, 0},
		{"r = function torch.ops.aten.ravel.default(xt)", COPY, 0, 0, 0},
	};
	CHECK_ALIAS(state, cases);
}

static void convert(void **state)
{
	static const Case cases[] = {
		{"r = method to(x, torch.float32)", SAME, "x is already torch.float32", 0, 0},
		{"r = method to(x, torch.float64)", COPY, "x is torch.float32, not torch.float64", 0, 0},
		{"r = method to(any, torch.float32)", MAY_SAME, "any is already torch.float32", 0, 0},
		{"r = method to(x, dtype=torch.float32, copy=True)", COPY, "copy is True", 0, 0},
		{"r = method to(x, torch.float32, False, True)", COPY, 0, 0, 0},
		{"r = method to(x, torch.float32, True, False)", SAME, 0, 0, 0},
		{"r = method to(x, torch.float32, copy=any)", MAY_SAME, "copy is False", 0, 0},
		{"r = method to(x, non_blocking=True)", SAME, 0, 0, 0},
		{"r = method to(x, 'cpu')", SAME, "x is already on cpu", 0, 0},
		{"r = method to(x, 'cpu:0')", COPY, 0, 0, 0},
		{"r = method to(x, device(type='cpu'))", SAME, 0, 0, 0},
		{"r = method to(x, device(type='cuda', index=0))", COPY, "x is on cpu, not on cuda:0", 0,
	     0},
		{"r = method to(g0, device(type='cuda', index=0))", SAME, 0, 0, 0},
		{"r = method to(g1, device(type='cuda', index=0))", COPY, 0, 0, 0},
		{"r = method to(g0, device(type='cuda'))", MAY_SAME, "g0 is already on cuda", 0, 0},
		{"r = method to(g0, 0)", SAME, 0, 0, 0},
		{"r = method to(g0, 1)", COPY, 0, 0, 0},
		{"r = method to(x, 0)", COPY, 0, 0, 0},
		{"r = method to(xn, 'cpu')", MAY_SAME, 0, 0, 0}, /* no device printed */
		{"r = method to(x, device=device(type='cpu'), dtype=torch.float32)", SAME, 0, 0, 0},
		{"r = method to(any, torch.float16, copy=any2, device='cpu')", MAY_SAME,
	     "any is already torch.float16 and copy is False and any is already on cpu", 0, 0},
		{"r = method to(x, None, torch.float64)", COPY, 0, 0, 0},
		{"r = method to(x, None)", SAME, 0, 0, 0},
		{"r = method to(any, device='cpu', dtype=torch.float16)", MAY_SAME,
	     "any is already on cpu and is already torch.float16", 0, 0},
		{"r = method to(x, xt)", SAME, 0, 0, 0}, /* like another tensor */
		{"r = method to(x, d)", COPY, 0, 0, 0},
		{"r = method to(x, g0)", COPY, 0, 0, 0},
		{"r = method to(x, any)", MAY_SAME, 0, 0, 0},
		{"r = method to(any, any)", SAME, 0, 0, 0},
		{"r = method to(x, other=d)", COPY, 0, 0, 0},
		{"q = attr dtype(d); r = method to(x, q)", COPY, 0, 0, 0},
		{"q = attr dtype(xt); r = method to(x, q)", SAME, 0, 0, 0},
		{"q = attr dtype(any); r = method to(x, q)", MAY_SAME, "x already has the dtype of any", 0,
	     0},
		{"q = attr device(g0); r = method to(x, q)", COPY, 0, 0, 0},
		{"r = method to(nhwc, memory_format=torch.channels_last)", SAME, 0, 0, 0},
		{"r = method to(nchw, memory_format=torch.channels_last)", COPY, 0, 0, 0},
		{"r = method to(nhwc, memory_format=torch.contiguous_format)", COPY, 0, 0, 0},
		{"r = method to(xt, memory_format=torch.contiguous_format)", SAME, 0, 0, 0},
		{"r = method to(xt, memory_format=torch.preserve_format)", SAME, 0, 0, 0},
		{"r = method to(any, memory_format=torch.channels_last)", MAY_SAME, 0, 0, 0},
		{"r = method to(x, dtype=torch.float32, layout=torch.strided)", SAME, 0, 0, 0},
		{"r = method to(x, layout=torch.sparse_coo)", COPY, 0, 0, 0},
		{"r = method float(x)", SAME, 0, 0, 0},
		{"r = method float(d)", COPY, 0, 0, 0},
		{"r = method float(any)", MAY_SAME, "any is already torch.float32", 0, 0},
		{"r = method float(nchw, memory_format=torch.channels_last)", COPY, 0, 0, 0},
		{"r = method half(h)", SAME, 0, 0, 0},
		{"r = method long(i)", SAME, 0, 0, 0},
		{"r = method bool(b)", SAME, 0, 0, 0},
		{"r = method byte(b)", COPY, 0, 0, 0},
		{"r = method type(x, torch.float32)", SAME, 0, 0, 0},
		{"r = method type(x, 'torch.FloatTensor')", SAME, 0, 0, 0},
		{"r = method type(x, 'torch.DoubleTensor')", COPY, 0, 0, 0},
		{"r = method type(x, 'torch.cuda.FloatTensor')", COPY, 0, 0, 0},
		{"r = method type(g1, 'torch.cuda.FloatTensor')", SAME, 0, 0, 0},
		{"r = method type_as(x, d)", COPY, 0, 0, 0},
		{"r = method type_as(x, xt)", SAME, 0, 0, 0},
		{"r = method type_as(x, any)", MAY_SAME, 0, 0, 0},
		{"r = method cpu(x)", SAME, 0, 0, 0},
		{"r = method cpu(g0)", COPY, 0, 0, 0},
		{"r = method cpu(any)", MAY_SAME, "any is already on cpu", 0, 0},
		{"r = method cpu(nchw, memory_format=torch.channels_last)", COPY, 0, 0, 0},
		{"r = method cuda(x)", COPY, 0, 0, 0},
		{"r = method cuda(g0)", MAY_VIEW, "g0 is already on the current cuda device", 0, 0},
		{"r = method cuda(g0, 1)", COPY, 0, 0, 0},
		{"r = function torch.as_tensor(x)", SAME, 0, 0, 0},
		{"r = function torch.as_tensor(x, dtype=torch.float64)", COPY, 0, 0, 0},
		{"r = function torch.as_tensor([1, 2])", COPY, 0, 0, 0},
		{"r = function torch.as_tensor(any, device='cpu')", MAY_SAME, 0, 0, 0},
		{"r = function torch.asarray(x, copy=True)", COPY, 0, 0, 0},
		{"r = function torch.asarray(x, copy=None)", SAME, 0, 0, 0},
		{"r = function torch.ops.aten.to.dtype(x, torch.float64)", COPY, 0, 0, 0},
		{"r = function torch.ops.aten.to.dtype(x, torch.float32, False, True)", COPY, 0, 0, 0},
		{"r = function torch.ops.aten.to.device(x, device(type='cpu'), torch.float32)", SAME, 0, 0,
	     0},
		{"r = function torch.ops.aten.to.dtype_layout(x, dtype=torch.float32, "
	     "layout=torch.strided, "
	     "device=device(type='cpu'))",
	     SAME, 0, 0, 0},
		{"r = function torch.ops.aten._cast_Float.default(x)", SAME, 0, 0, 0},
		{"r = function torch.ops.aten._cast_Double.default(x)", COPY, 0, 0, 0},
		{"r = function torch._cast_Long(any)", MAY_SAME, 0, 0, 0},
		{"r = function torch.ops.aten._to_cpu.default([x])", SAME, 0, 0, 0},
		{"r = function torch._to_cpu([g0])", COPY, 0, 0, 0},
		{"r = function torch._to_cpu([x, g0])", MAY_SAME, 0, 0, 0},
		{"r = function torch.ops.prims.device_put.default(x, device(type='cpu'))", VIEW_OR_SAME, 0,
	     0, 0},
		{"r = function torch.ops.prims.device_put.default(g0, device(type='cpu'))", COPY, 0, 0, 0},
		{"r = method _autocast_to_reduced_precision(x, False, True, torch.float16, torch.bfloat16)",
	     COPY, 0, 0, 0},
		{"r = method _autocast_to_reduced_precision(x, True, False, torch.float16, torch.bfloat16)",
	     SAME, 0, 0, 0},
		{"r = method _autocast_to_reduced_precision(d, True, True, torch.float16, torch.bfloat16)",
	     SAME, 0, 0, 0},
		{"r = method _autocast_to_reduced_precision(any, True, True, torch.float16, "
	     "torch.bfloat16)",
	     MAY_SAME, 0, 0, 0},
		{"r = method _autocast_to_full_precision(x, True, True)", SAME, 0, 0, 0},
		{"r = method _autocast_to_full_precision(h, True, True)", COPY, 0, 0, 0},
		{"r = function torch.nn.functional._canonical_mask(x, 'm', None, '', torch.float32)", SAME,
	     0, 0, 0},
		{"r = function torch.nn.functional._canonical_mask(b, 'm', None, '', torch.float32)", COPY,
	     0, 0, 0},
		{"r = function torch.nn.functional._canonical_mask(any, 'm', None, '', torch.float32)",
	     MAY_SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_asarray(x, 'float64')", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_asarray(d, 'float')", SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_astype(x, 'float32')", SAME, 0, 0,
	     0}, /* copy is ignored */
		{"r = function torch__dynamo_utils_wrapped_astype(i, 'i8')", MAY_SAME, 0, 0, 0},
	};
	CHECK_ALIAS(state, cases);
}

static void dropout(void **state)
{
	static const Case cases[] = {
		{"r = function torch.nn.functional.dropout(x)", COPY, "training is True and p is 0.5", 0,
	     0},
		{"r = function torch.nn.functional.dropout(x, 0.1, False, False)", SAME,
	     "training is False", 0, 0},
		{"r = function torch.nn.functional.dropout(x, p=0.0)", SAME, "p is 0", 0, 0},
		{"r = function torch.nn.functional.dropout(x, p=0)", SAME, 0, 0, 0},
		{"r = function torch.nn.functional.dropout(x, 1.0)", COPY, 0, 0, 0},
		{"r = function torch.nn.functional.dropout(x, p=0.5, training=any)", MAY_SAME,
	     "training is False", 0, 0},
		{"r = function torch.nn.functional.dropout(x, any, any2)", MAY_SAME,
	     "training is False or p is 0", 0, 0},
		{"r = function torch.nn.functional.dropout(x, any, False)", SAME, 0, 0, 0},
		{"r = function torch.nn.functional.dropout(x, 0.5, True, True)", SAME, "it is in place", 0,
	     0},
		{"r = function torch.nn.functional.dropout(x, 0.5, True, any)", MAY_SAME, "inplace is True",
	     0, 0},
		{"r = function torch.nn.functional.dropout(none3, 0.5, True)", SAME, "none3 is empty", 0,
	     0},
		{"r = function torch.nn.functional.alpha_dropout(x)", SAME, 0, 0, 0},
		{"r = function torch.nn.functional.alpha_dropout(x, 0.5, True)", COPY, 0, 0, 0},
		{"r = function torch.nn.functional.feature_alpha_dropout(x, 0.5)", SAME, 0, 0, 0},
		{"r = function torch.nn.functional.dropout1d(batch1d, 0.5, False)", SAME, 0, 0, 0},
		{"r = function torch.nn.functional.dropout1d(plain1d, 0.5, False)", VIEW, 0, 0, 0},
		{"r = function torch.nn.functional.dropout1d(any, 0.5, False)", VIEW_OR_SAME, 0, 0, 0},
		{"r = function torch.nn.functional.dropout1d(plain1d, 0.5, False, True)", SAME, 0, 0, 0},
		{"r = function torch.nn.functional.dropout2d(x3, 0.5, False)", SAME, 0, 0, 0},
		{"r = function torch.nn.functional.dropout3d(ndhwc, 0.5, False)", SAME, 0, 0, 0},
		{"r = function torch.nn.functional.dropout3d(nchw, 0.5, False)", VIEW, 0, 0, 0},
		{"r = function torch.dropout(x, 0.5, True)", COPY, 0, 0, 0},
		{"r = function torch.dropout(x, 0.5, train=False)", SAME, 0, 0, 0},
		{"r = function torch.dropout(x, any, True)", MAY_SAME, "p is 0", 0, 0},
		{"r = function torch.dropout_(x, 0.5, True)", SAME, 0, 0, 0},
		{"r = function torch.ops.aten.dropout.default(x, 0.5, False)", SAME, 0, 0, 0},
		{"r = function torch.ops.aten.feature_dropout.default(x, 0.5, True)", COPY, 0, 0, 0},
		{"r = module Dropout(x)", COPY, "the module is in train mode and p is 0.5", "train",
	     "p=0.5, inplace=False"},
		{"r = module Dropout(x)", SAME, 0, "train", "p=0.0, inplace=False"},
		{"r = module Dropout(x)", MAY_SAME, "p is 0", "train", 0},
		{"r = module Dropout(x)", SAME, 0, "eval", "p=0.5, inplace=False"},
		{"r = module Dropout(x)", MAY_SAME, "the module is in eval mode", 0,
	     "p=0.5, inplace=False"},
		{"r = module Dropout(x)", SAME, 0, 0, "p=0.5, inplace=True"},
		{"r = module Dropout(x)", SAME, 0, "train", "p=0.5, inplace=True"},
		{"r = module Dropout1d(plain1d)", VIEW, 0, "train", "p=0.0, inplace=False"},
		{"r = module StochasticDepth(x)", COPY, 0, "train", "p=0.2, mode=row"},
		{"r = module StochasticDepth(x)", SAME, 0, "train", "p=0.0, mode=row"},
	};
	CHECK_ALIAS(state, cases);
}

static void indexing(void **state)
{
	static const Case cases[] = {
		{"r = operator getitem(x, 0)", VIEW, 0, 0, 0},
		{"r = operator getitem(x, -1)", VIEW, 0, 0, 0},
		{"r = operator getitem(x, slice(None, 2, None))", VIEW, 0, 0, 0},
		{"r = operator getitem(x, (slice(None, None, None), 1))", VIEW, 0, 0, 0},
		{"r = operator getitem(x, None)", VIEW, 0, 0, 0},
		{"r = operator getitem(x, Ellipsis)", VIEW, 0, 0, 0},
		{"r = operator getitem(x, ())", VIEW, 0, 0, 0},
		{"r = operator getitem(x, (Ellipsis, None, 0))", VIEW, 0, 0, 0},
		{"r = operator getitem(x, n)", VIEW, 0, 0, 0},
		{"r = operator getitem(x, (slice(None, n, None), n))", VIEW, 0, 0, 0},
		{"r = operator getitem(x, i0)", VIEW, 0, 0, 0},
		{"r = operator getitem(x, (i0, slice(None, None, None)))", VIEW, 0, 0, 0},
		{"r = operator getitem(x, i)", COPY, "i is a tensor with dims", 0, 0},
		{"r = operator getitem(x, (slice(None, None, None), i))", COPY, 0, 0, 0},
		{"r = operator getitem(x, b)", COPY, 0, 0, 0},
		{"r = operator getitem(x, b0)", COPY, "b0 is a bool or uint8 tensor", 0, 0},
		{"r = operator getitem(x, u0)", COPY, 0, 0, 0},
		{"r = operator getitem(x, True)", COPY, "the index holds a bool", 0, 0},
		{"r = operator getitem(x, (Ellipsis, False))", COPY, 0, 0, 0},
		{"r = operator getitem(x, [0, 1])", COPY, "the index holds a list", 0, 0},
		{"r = operator getitem(x, [])", COPY, 0, 0, 0},
		{"r = operator getitem(x, (slice(None, None, None), [1, 3]))", COPY, 0, 0, 0},
		{"r = operator getitem(x, [i])", COPY, 0, 0, 0},
		{"r = operator getitem(x, [n, 1])", COPY, 0, 0, 0},
		{"r = operator getitem(x, [i0])", MAY_VIEW, 0, 0, 0},
		{"r = operator getitem(x, [slice(None, None, None), 1])", MAY_VIEW, 0, 0, 0},
		{"r = operator getitem(x, range(0, 2))", COPY, 0, 0, 0},
		{"r = operator getitem(x, any)", MAY_VIEW,
	     "any is a number or an integer tensor without dims", 0, 0},
		{"r = operator getitem(x, (0, any))", MAY_VIEW, 0, 0, 0},
		{"r = operator getitem(x, (any, i))", COPY, 0, 0, 0},
		{"r = operator getitem(x, tensor)", MAY_VIEW, 0, 0, 0},
		{"q = method flatten(any); r = operator getitem(x, q)", COPY, "q is a tensor with dims", 0,
	     0},
		{"q = function torch.nonzero(any); r = operator getitem(x, q)", COPY, 0, 0, 0},
		{"q = function f.flatten(any); r = operator getitem(x, q)", MAY_VIEW, 0, 0, 0},
		{"r = operator getitem(any, 'b')", SAME, "any holds several values", 0, 0},
		{"q = method size(any, 0); r = operator getitem(x, q)", VIEW, 0, 0, 0},
		{"q = function len(any); r = operator getitem(x, (q, 0))", VIEW, 0, 0, 0},
		{"q = attr shape(any); p = operator getitem(q, 0); r = operator getitem(x, p)", VIEW, 0, 0,
	     0},
		{"q = method item(i0); r = operator getitem(x, q)", VIEW, 0, 0, 0},
		{"q = method item(any); r = operator getitem(x, q)", MAY_VIEW, 0, 0, 0},
		{"r = operator getitem(any, 0)", VIEW_OR_SAME, 0, 0,
	     0}, /* a tensor's row or a tuple's item */
		{"r = operator getitem(any, i)", COPY, 0, 0, 0},
		{"r = operator getitem(any, any2)", MAY_EITHER, 0, 0, 0},
		{"q = method chunk(x, 2); r = operator getitem(q, 0)", SAME, 0, 0, 0},
		{"r = method __getitem__(x, 0)", VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_getitem(x, [1, 3])", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_getitem(x, 0)", VIEW, 0, 0, 0},
	};
	CHECK_ALIAS(state, cases);
	World *w = *state;
	Made m = graph_make(w, "r = operator getitem(x, (0, any))");
	graph_types(w, &m);
	DecideCtx c = ctx_of(w, &m, (VersionSpan){0});
	const Arg *index = &node_args(m.g, graph_node(m.g, m.last))[1];
	assert_int_equal(decide_index(&c, index), TRI_MAY);
	assert_int_equal(decide_index(&c, arg_kids(m.g, index)), TRI_MUST);
}

static void conjugates(void **state)
{
	static const Case cases[] = {
		{"r = method conj_physical(x)", SAME, "x is torch.float32", 0, 0},
		{"r = method conj_physical(k)", COPY, 0, 0, 0},
		{"r = method conj_physical(any)", MAY_SAME, "any is not complex", 0, 0},
		{"r = function torch.conj_physical(i)", SAME, 0, 0, 0},
		{"r = method resolve_conj(x)", SAME, 0, 0, 0},
		{"r = method resolve_conj(k)", MAY_SAME, "k is not lazily conjugated", 0, 0},
		{"r = method resolve_conj(any)", MAY_SAME, 0, 0, 0},
		{"q = method conj(k) : c64[3, 4][4, 1]cpu; r = method resolve_conj(q)", MAY_SAME, 0, 0, 0},
		{"p = operator mul(k, k) : c64[3, 4]; q = method conj(p) : c64[3, 4]; r = method "
	     "resolve_conj(q)",
	     COPY, "q is lazily conjugated", 0, 0},
		{"o = operator mul(k, k) : c64[3, 4]; p = method conj(o) : c64[3, 4]; q = attr mH(p) : "
	     "c64[4, 3]; "
	     "r = method resolve_conj(q)",
	     SAME, 0, 0, 0},
		{"q = method resolve_conj(k) : c64[3, 4]; r = method resolve_conj(q)", SAME, 0, 0, 0},
		{"q = operator mul(k, k) : c64[3, 4][4, 1]cpu; r = method resolve_conj(q)", SAME, 0, 0, 0},
		{"q = operator mul(k, k) : c64[3, 4]; p = method t(q) : c64[4, 3]; r = method "
	     "resolve_conj(p)",
	     SAME, 0, 0, 0},
		{"r = function torch.resolve_neg(x)", SAME, 0, 0, 0},
		{"r = function torch.resolve_neg(k)", MAY_SAME, 0, 0, 0},
		{"q = attr imag(k) : f32[3, 4][8, 2]cpu; r = function torch.resolve_neg(q)", MAY_SAME, 0, 0,
	     0},
		{"r = function torch__dynamo_utils_wrapped_conj(k)", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_conjugate(x)", SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_conj_physical(x, d)", COPY, 0, 0, 0}, /* out */
		{"r = function torch__dynamo_utils_wrapped_imag(k)", VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_imag(x)", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_imag(any)", MAY_VIEW, 0, 0, 0},
	};
	CHECK_ALIAS(state, cases);
}

static void einsum(void **state)
{
	static const Case cases[] = {
		{"r = function torch.functional.einsum('ij->ji', x)", VIEW, "every label is kept", 0, 0},
		{"r = function torch.functional.einsum('ij', x)", VIEW, 0, 0, 0},
		{"r = function torch.functional.einsum('ij->ij', x)", VIEW, 0, 0, 0},
		{"r = function torch.functional.einsum('ii->i', sq)", VIEW, 0, 0, 0},
		{"r = function torch.functional.einsum('ii', sq)", COPY, 0, 0, 0},
		{"r = function torch.functional.einsum('ij->i', x)", COPY, "a label is summed", 0, 0},
		{"r = function torch.functional.einsum('ij->', x)", COPY, 0, 0, 0},
		{"r = function torch.functional.einsum('B i -> i B', x)", VIEW, 0, 0, 0},
		{"r = function torch.functional.einsum('...->...', x3)", VIEW, 0, 0, 0},
		{"r = function torch.functional.einsum('...i->i...', x3)", VIEW, 0, 0, 0},
		{"r = function torch.functional.einsum('...ij->ij', x3)", COPY, 0, 0, 0},
		{"r = function torch.functional.einsum('...ij->ij', x)", VIEW, 0, 0, 0},
		{"r = function torch.functional.einsum('...ij->ij', any)", MAY_VIEW, 0, 0, 0},
		{"r = function torch.functional.einsum('ij,kj->ik', x, x)", COPY, 0, 0, 0},
		{"r = function torch.functional.einsum('ij,kj->ik', [x, x])", COPY, 0, 0, 0},
		{"r = function torch.functional.einsum('i,j,k->ijk', i, i, i)", MAY_VIEW, 0, 0, 0},
		{"r = function torch.functional.einsum(any, x)", MAY_VIEW, 0, 0, 0},
		{"r = function torch.einsum('ij->ji', (x,))", VIEW, 0, 0, 0},
		{"r = function torch.ops.aten.einsum.default('ij->ji', [x])", VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_einsum('ij->ji', x)", VIEW, 0, 0, 0},
	};
	CHECK_ALIAS(state, cases);
	static const struct {
		const char *code;
		int want;
	} listed[] = {
		{"r = function torch.functional.einsum(x, [0, 1], [1, 0])", VIEW},
		{"r = function torch.functional.einsum(x, [0, 1])", VIEW},
		{"r = function torch.functional.einsum(x, [0, 1], [1])", COPY},
		{"r = function torch.functional.einsum(x, [Ellipsis, 1], [1, Ellipsis])", VIEW},
		{"r = function torch.functional.einsum(x, [0, 1], x, [1, 2])", COPY},
		{"r = function torch.functional.einsum(x, any)", MAY_VIEW},
		{"r = function torch.functional.einsum(x, [0, 70])", MAY_VIEW},
	};
	World *w = *state;
	for (uint32_t c = 0; c < sizeof listed / sizeof listed[0]; c++) {
		Made m = graph_make(w, listed[c].code);
		graph_types(w, &m);
		DecideCtx ctx = ctx_of(w, &m, (VersionSpan){0});
		const Arg *x = node_args(m.g, graph_node(m.g, m.last));
		Decision d = decide_alias(&ctx, m.last, fact_of(w, &m, (VersionSpan){0}), x);
		if (got(&d) != listed[c].want)
			fail_msg("%s: got %d", listed[c].code, got(&d));
	}
}

static void sizes_and_counts(void **state)
{
	static const Case cases[] = {
		{"r = method sum_to_size(x, 3, 4)", SAME, 0, 0, 0},
		{"r = method sum_to_size(xt, (3, 4))", SAME, 0, 0, 0},
		{"r = method sum_to_size(x, 1, 4)", COPY, 0, 0, 0},
		{"r = method sum_to_size(zero, [])", COPY, 0, 0, 0},
		{"r = method sum_to_size(dyn, n, 4)", SAME, 0, 0, 0},
		{"r = method sum_to_size(x, any, 4)", MAY_SAME, 0, 0, 0},
		{"r = function torch.ops.aten.sum_to_size.default(any, [3])", MAY_SAME, 0, 0, 0},
		{"r = function torch.functional.cartesian_prod(i)", SAME, 0, 0, 0},
		{"r = function torch.functional.cartesian_prod(i, i)", COPY, "2 tensors are given", 0, 0},
		{"r = function torch.ops.aten.cartesian_prod.default([i])", SAME, 0, 0, 0},
		{"r = function torch.functional.cartesian_prod(any)", MAY_SAME, 0, 0, 0},
		{"r = function torch._utils._flatten_dense_tensors([x])", VIEW, 0, 0, 0},
		{"r = function torch._utils._flatten_dense_tensors([xt])", COPY, 0, 0, 0},
		{"r = function torch._utils._flatten_dense_tensors([any])", MAY_VIEW, 0, 0, 0},
		{"r = function torch._utils._flatten_dense_tensors([x, x])", COPY, 0, 0, 0},
		{"r = function torch.ops.aten.flatten_dense_tensors.default([x])", VIEW, 0, 0, 0},
		{"r = function torch.channel_shuffle(nchw, 2)", COPY, 0, 0, 0},
		{"r = function torch.channel_shuffle(none4, 2)", VIEW, "none4 has no elements", 0, 0},
		{"r = function torch.channel_shuffle(any, 2)", COPY, 0, 0, 0}, /* only a printed 0 counts */
		{"r = function torch.ops.aten.native_dropout.default(x, 0.5, False)", COPY, 0, 0, 0},
		{"r = function torch.ops.aten.native_dropout.default(none3, 0.5, True)", SAME, 0, 0, 0},
		{"r = method diff(none3, 1, 0)", SAME, 0, 0, 0},
		{"r = method diff(none3)", COPY, 0, 0, 0}, /* the last dim is not empty */
		{"r = method diff(none3, dim=0, prepend=x)", COPY, 0, 0, 0},
		{"r = method diff(x, 0)", COPY, 0, 0, 0},
		{"r = method diff(x, any)", MAY_SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_diff(x, 0)", SAME, 0, 0, 0},
		{"r = function torch.masked._ops.prod(zero)", SAME, 0, 0, 0},
		{"r = function torch.masked._ops.prod(x)", COPY, 0, 0, 0},
		{"r = function torch.masked._ops.prod(any)", MAY_SAME, 0, 0, 0},
		{"r = function torch.ops.aten.cumprod_backward.default(x, x, 0, x)", COPY, 0, 0, 0},
		{"r = function torch.ops.aten.cumprod_backward.default(x, none3, 0, x)", SAME, 0, 0, 0},
		{"r = function torch.ops.aten.cumprod_backward.default(any, any, 0, any)", MAY_SAME, 0, 0,
	     0},
	};
	CHECK_ALIAS(state, cases);
}

static void numpy(void **state)
{
	static const Case cases[] = {
		{"r = function torch__dynamo_utils_wrapped_abs(b)", SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_abs(x)", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_absolute(any)", MAY_SAME, "any is bool", 0, 0},
		{"r = function torch__dynamo_utils_wrapped_round(i)", SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_round(x)", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_around(i, 0, x)", COPY, 0, 0, 0}, /* out */
		{"r = function torch__dynamo_utils_wrapped_around(any)", MAY_SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_numpy_attr_wrapper(x, 'T')", VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_numpy_attr_wrapper(x, 'real')", SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_numpy_attr_wrapper(k, 'real')", VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_numpy_attr_wrapper(any, 'real')", VIEW_OR_SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_numpy_attr_wrapper(x, 'imag')", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_numpy_attr_wrapper(k, 'imag')", VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_numpy_attr_wrapper(any, 'imag')", MAY_VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_numpy_attr_wrapper(x, 'ndim')", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_take(x, 0)", VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_take(xt, 0)", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_take(xt, 0, axis=1)", VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_take(x, [0, 1])", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_take(x, i)", COPY, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_take(any, 0)", MAY_VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_take(x, any)", MAY_VIEW, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_resize(x) : f32[3, 4][4, 1]cpu", SAME, 0, 0, 0},
		{"r = function torch__dynamo_utils_wrapped_resize(x, (2, 6)) : f32[2, 6][6, 1]cpu", COPY, 0,
	     0, 0},
		{"r = function torch__dynamo_utils_wrapped_resize(x, (2, 6))", COPY, 0, 0,
	     0}, /* the method */
		{"r = function torch__dynamo_utils_wrapped_resize(any)", MAY_SAME, 0, 0, 0},
	};
	CHECK_ALIAS(state, cases);
	World *w = *state;
	Made m = graph_make(w, "r = function torch__dynamo_utils_wrapped_item(x, 0)");
	graph_types(w, &m);
	VersionSpan old = {206, 206}; /* plain numbers since 2.15 */
	const Fact *f = fact_of(w, &m, old);
	DecideCtx c = ctx_of(w, &m, old);
	Decision d = decide_alias(&c, m.last, f, node_args(m.g, graph_node(m.g, m.last)));
	assert_int_equal(got(&d), VIEW);
}

static void other_classes(void **state)
{
	static const Case cases[] = {
		{"r = method to_dense(x)", SAME, 0, 0, 0},
		{"r = method to_dense(x, torch.float64)", COPY, 0, 0, 0},
		{"r = method to_dense(any)", MAY_SAME, "any is already dense", 0, 0},
		{"r = method to_sparse(x)", COPY, 0, 0, 0},
		{"r = method to_sparse(x, layout=torch.strided)", SAME, 0, 0, 0},
		{"r = method to_sparse(any)", MAY_SAME, 0, 0, 0},
		{"r = method dequantize(x)", SAME, 0, 0, 0},
		{"r = method dequantize(d)", COPY, 0, 0, 0},
		{"r = method dequantize(any)", MAY_SAME, 0, 0, 0},
		{"r = method pin_memory(x)", MAY_VIEW, "x is already in pinned memory", 0, 0},
		{"r = method coalesce(any)", MAY_VIEW, "any is already coalesced", 0, 0},
		{"r = function torch.nn.functional.relu(x)", COPY, "inplace is False", 0, 0},
		{"r = function torch.nn.functional.relu(x, True)", SAME, 0, 0, 0},
		{"r = function torch.nn.functional.relu(x, inplace=any)", MAY_SAME, "inplace is True", 0,
	     0},
		{"r = function torch.nn.functional.hardtanh(x, 0.0, 6.0, True)", SAME, 0, 0, 0},
		{"r = function torch.ops.quantized.add(x, x, 0.1, 0)", COPY, 0, 0, 0},
		{"r = function torch.ops.quantized.add(x, x, d)", SAME, 0, 0, 0},
		{"r = function torch.ops.quantized.add(x, x, any)", MAY_SAME, 0, 0, 0},
		{"r = function torch.histogramdd(x, [i, i])", SAME, 0, 0, 0},
		{"r = function torch.histogramdd(x, [4, 4])", COPY, 0, 0, 0},
		{"r = function torch.histogramdd(x, any)", MAY_SAME, 0, 0, 0},
		{"r = attr _base(x)", MAY_SAME, "x is a view", 0, 0},
		{"r = method full_tensor(x)", MAY_VIEW, "x already has the placements asked for", 0, 0},
		{"r = function torch__dynamo_compiled_autograd_ops_SubBackward0([x], 1)", MAY_SAME, 0, 0,
	     0},
		{"r = function torch.ops.higher_order.wrap(any, x)", MAY_EITHER, 0, 0, 0},
	};
	CHECK_ALIAS(state, cases);
}

/* Every row with a class, called in ways that fit it or not: answers keep their promises. */
static void every_row(void **state)
{
	World *w = *state;
	uint32_t asked = 0;
	for (uint32_t i = 0; i < facts_count(w->facts); i++) {
		const Fact *f = facts_at(w->facts, i);
		if (f->cond == FC_NONE)
			continue;
		static const char *const codes[] = {"r = function f()",
		                                    "r = function f(x)",
		                                    "r = method f(any)",
		                                    "r = method f(x, any, any2, n)",
		                                    "r = function f([x, any], *any2)",
		                                    "r = function f(None, x=any)",
		                                    "r = attr f(x)"};
		for (uint32_t j = 0; j < sizeof codes / sizeof codes[0]; j++) {
			Made m = graph_make(w, codes[j]);
			graph_types(w, &m);
			DecideCtx c = ctx_of(w, &m, (VersionSpan){0});
			const Node *n = graph_node(m.g, m.last);
			Decision d = decide_alias(&c, m.last, f, n->nargs ? node_args(m.g, n) : NULL);
			assert_true(d.same_object <= d.shares);
			assert_true(d.shares != TRI_MAY || d.condition.n);
			for (uint32_t e = 0; e < f->nmutates; e++) {
				d = decide_write(&c, m.last, f, &f->mutates[e]);
				assert_true(d.writes != TRI_MAY || d.condition.n);
			}
			asked++;
		}
	}
	assert_true(asked > 1000);
}

/* Names and layouts of any length give sentences of bounded length. */
static void long_words(void **state)
{
	World *w = *state;
	Made m = graph_make(w, "r = method neg(x)");
	char name[5000];
	memset(name, 'a', sizeof name);
	Buf type = {.a = &w->a};
	buf_add(&type, S("f32["));
	for (int i = 0; i < 300; i++)
		buf_printf(&type, "%s%d", i ? ", " : "", i + 2);
	buf_add(&type, S("]"));
	add_named(
		w, &m,
		(Node){.kind = NK_PLACEHOLDER, .name = sym_intern(&w->names, (Str){name, sizeof name})},
		NULL, NULL, 0);
	Arg x = {.kind = AR_NODE, .u.node = m.last};
	add_named(w, &m,
	          (Node){.kind = NK_CALL,
	                 .callee = CALLEE_METHOD,
	                 .target = sym(w, "contiguous"),
	                 .name = sym(w, "c")},
	          NULL, &x, 1);
	graph_types(w, &m);
	DecideCtx c = ctx_of(w, &m, (VersionSpan){0});
	const Fact *f = fact_of(w, &m, (VersionSpan){0});
	Decision d = decide_alias(&c, m.last, f, node_args(m.g, graph_node(m.g, m.last)));
	assert_int_equal(d.shares, TRI_MAY);
	assert_true(d.condition.n < 400);
	add_named(w, &m, (Node){.kind = NK_PLACEHOLDER, .name = sym(w, "big")},
	          str_to_c(&w->a, buf_str(&type)), NULL, 0);
	x.u.node = m.last;
	add_named(w, &m,
	          (Node){.kind = NK_CALL,
	                 .callee = CALLEE_METHOD,
	                 .target = sym(w, "reshape"),
	                 .name = sym(w, "r2")},
	          NULL, &x, 1);
	graph_types(w, &m);
	f = fact_of(w, &m, (VersionSpan){0});
	d = decide_alias(&c, m.last, f, node_args(m.g, graph_node(m.g, m.last)));
	assert_true(d.condition.n < 400 && d.because.n < 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contiguous), cmocka_unit_test(reshape),
		cmocka_unit_test(flatten),    cmocka_unit_test(ravel),
		cmocka_unit_test(convert),    cmocka_unit_test(dropout),
		cmocka_unit_test(indexing),   cmocka_unit_test(conjugates),
		cmocka_unit_test(einsum),     cmocka_unit_test(sizes_and_counts),
		cmocka_unit_test(numpy),      cmocka_unit_test(other_classes),
		cmocka_unit_test(every_row),  cmocka_unit_test(long_words),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, world_make, world_free);
}
