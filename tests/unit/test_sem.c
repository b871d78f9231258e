/* SPDX-License-Identifier: MIT
 * What operators do to elements: every class by examples, views and products against enumerations of their own. */
#include "sem_world.h"

#include "layout.h"
#include "sem_table.h"

/* What is at hand in the examples. */
#define INPUTS                                                                                     \
	"x: f32[2, 3]; y: f32[2, 3]; v: f32[3]; m: b8[2, 3]; s: f32[]; i: i64[2] = 2 0; j: i64[2]; "   \
	"r: f32[2, 2]; "                                                                               \
	"w: f32[3, 2]; l: f32[4]; d: f64[2, 3]; n: i64[2, 3]; mm: b8[2]; k: f32[1, 2, 2]; q: f32[2]; " \
	"c: c64[2]; "                                                                                  \
	"g: i64[2, 1] = 1 0; h: i64[2, 1]; t: f32[2, 3, 2]; z: i64[2] = 1 0"

enum { FIRST = -2 };

typedef struct Case {
	const char *call, *size, *want;
	int member; /* 0: the only one; FIRST: member 0 */
	DType dtype;
} Case;

/* u: a number that the dump does not show */
static void unknown_number(World *w)
{
	static const int64_t none[1] = {0};
	Input *u = tensor_add(w, "u", DT_I64, none, 0);
	u->is_number = true;
}

static void check_all(void **state, const Case *c, size_t n)
{
	World *w = *state;
	bool failed = false;
	for (size_t i = 0; i < n; i++) {
		world_reset(w);
		inputs_read(w, INPUTS);
		unknown_number(w);
		call_read(w, c[i].call);
		Str got = apply_text(w, c[i].size,
		                     c[i].member == FIRST ? 0
		                     : c[i].member        ? c[i].member
		                                          : -1,
		                     c[i].dtype);
		if (str_eq(got, str_from_c(c[i].want)))
			continue;
		print_error("# %s: got '" STR_FMT "', want '%s'\n", c[i].call, STR_ARG(got), c[i].want);
		failed = true;
	}
	assert_false(failed);
}

#define CHECK_ALL(cases) check_all(state, cases, sizeof cases / sizeof *cases)

static void moves(void **state)
{
	static const Case cases[] = {
		{"method view(x, 3, 2)", "3, 2", "x0 x1 x2 x3 x4 x5", 0, 0},
		{"method reshape(x, [6])", "6", "x0 x1 x2 x3 x4 x5", 0, 0},
		{"function torch.flatten(x, 0, 1)", "6", "x0 x1 x2 x3 x4 x5", 0, 0},
		{"method t(x)", "3, 2", "x0 x3 x1 x4 x2 x5", 0, 0},
		{"attr T(x)", "3, 2", "x0 x3 x1 x4 x2 x5", 0, 0},
		{"attr mT(x)", "3, 2", "x0 x3 x1 x4 x2 x5", 0, 0},
		{"method transpose_(x, 0, 1)", "3, 2", "x0 x3 x1 x4 x2 x5", 0, 0},
		{"method permute(x, 1, 0)", "3, 2", "x0 x3 x1 x4 x2 x5", 0, 0},
		{"function torch.ops.aten.permute.default(x, [1, 0])", "3, 2", "x0 x3 x1 x4 x2 x5", 0, 0},
		{"method movedim(x, 0, -1)", "3, 2", "x0 x3 x1 x4 x2 x5", 0, 0},
		{"function torch.ops.aten.slice.Tensor(x, 1, 1, 9223372036854775807)", "2, 2",
	     "x1 x2 x4 x5", 0, 0},
		{"function torch.ops.aten.select.int(x, 0, -1)", "3", "x3 x4 x5", 0, 0},
		{"method narrow(x, 1, -2, 2)", "2, 2", "x1 x2 x4 x5", 0, 0},
		{"method expand(v, 2, 3)", "2, 3", "v0 v1 v2 v0 v1 v2", 0, 0},
		{"method expand_as(v, x)", "2, 3", "v0 v1 v2 v0 v1 v2", 0, 0},
		{"method chunk(l, 3)", "2", "l2 l3", 1, 0},
		{"method split(l, [1, 3])", "3", "l1 l2 l3", 1, 0},
		{"method split(l, 3)", "1", "l3", 1, 0},
		{"method tensor_split(l, 3)", "1", "l2", 1, 0},
		{"method unbind(x, 1)", "2", "x2 x5", 2, 0},
		{"method diagonal(r)", "2", "r0 r3", 0, 0},
		{"method unfold(l, 0, 2, 2)", "2, 2", "l0 l1 l2 l3", 0, 0},
		{"method flip(x, [1])", "2, 3", "x2 x1 x0 x5 x4 x3", 0, 0},
		{"function torch.roll(l, 1)", "4", "l3 l0 l1 l2", 0, 0},
		{"function torch.rot90(r)", "2, 2", "r1 r3 r0 r2", 0, 0},
		{"method repeat(v, 2)", "6", "v0 v1 v2 v0 v1 v2", 0, 0},
		{"method repeat_interleave(v, 2)", "6", "v0 v0 v1 v1 v2 v2", 0, 0},
		{"function torch.meshgrid(q, v, indexing='ij')", "2, 3", "q0 q0 q0 q1 q1 q1", FIRST, 0},
		{"function torch.meshgrid(q, v, indexing='ij')", "2, 3", "v0 v1 v2 v0 v1 v2", 1, 0},
		{"function torch.broadcast_tensors(x, v)", "2, 3", "v0 v1 v2 v0 v1 v2", 1, 0},
		{"operator getitem(x, 1)", "3", "x3 x4 x5", 0, 0},
		{"operator getitem(x, (slice(None, None, None), slice(1, None, None)))", "2, 2",
	     "x1 x2 x4 x5", 0, 0},
		{"operator getitem(x, (Ellipsis, 0))", "2", "x0 x3", 0, 0},
		{"operator getitem(l, (None, slice(None, None, 2)))", "1, 2", "l0 l2", 0, 0},
		{"operator getitem(l, None)", "1, 4", "l0 l1 l2 l3", 0, 0},
		{"operator getitem(l, i)", "2", "l2 l0", 0, 0},
		{"operator getitem(x, (slice(None, None, None), i))", "2, 2", "x2 x0 x5 x3", 0, 0},
		{"operator getitem(l, [0, 3])", "2", "l0 l3", 0, 0},
		{"operator getitem(t, (slice(None, None, None), i))", "2, 2, 2", "t4 t5 t0 t1 t10 t11 t6 t7", 0, 0},
		{"operator getitem(t, (z, slice(None, None, None), z))", "2, 3", "t7 t9 t11 t0 t2 t4", 0, 0},
		{"operator getitem(t, (0, slice(None, None, None), z))", "3, 2", "t1 t0 t3 t2 t5 t4", 0, 0},
		{"operator getitem(t, (z, i))", "2, 2", "t10 t11 t0 t1", 0, 0},
		{"operator getitem(t, (Ellipsis, None, z))", "2, 3, 1, 2", "t1 t0 t3 t2 t5 t4 t7 t6 t9 t8 t11 t10", 0, 0},
		{"function torch.ops.aten.index.Tensor(t, [None, None, z])", "2, 3, 2", "t1 t0 t3 t2 t5 t4 t7 t6 t9 t8 t11 t10", 0, 0},
		{"function torch.index_select(l, 0, i)", "2", "l2 l0", 0, 0},
		{"function torch.functional.einsum('ij->ji', x)", "3, 2", "x0 x3 x1 x4 x2 x5", 0, 0},
		{"function torch__dynamo_utils_wrapped_transpose(x)", "3, 2", "x0 x3 x1 x4 x2 x5", 0, 0},
		{"function torch__dynamo_utils_wrapped_reshape_1(x, (6,))", "6", "x0 x1 x2 x3 x4 x5", 0, 0},
		{"function torch__dynamo_utils_wrapped_tile(v, (2, 1))", "2, 3", "v0 v1 v2 v0 v1 v2", 0, 0},
		{"function torch__dynamo_utils_wrapped_getitem(x, 0)", "3", "x0 x1 x2", 0, 0},
		{"method as_strided(l, (2, 2), (1, 1))", "2, 2", "l0 l1 l1 l2", 0, 0},
		{"function torch.ops.aten.as_strided.default(l, [2], [2], 1)", "2", "l1 l3", 0, 0},
		{"method float(x)", "2, 3", "x0 x1 x2 x3 x4 x5", 0, 0},
		{"method to(x, torch.float32)", "2, 3", "x0 x1 x2 x3 x4 x5", 0, 0},
		{"method to(q, torch.float64)", "2", "f32_to_f64(q0) f32_to_f64(q1)", 0, 0},
		{"method to(q, dtype=torch.float64)", "2", "f32_to_f64(q0) f32_to_f64(q1)", 0, 0},
		{"method double(q)", "2", "f32_to_f64(q0) f32_to_f64(q1)", 0, 0},
		{"method int(q)", "2", "f32_to_i32(q0) f32_to_i32(q1)", 0, 0},
		{"method view(q, torch.int32)", "2",
	     "view_bits(q0 dtype torch.int32) view_bits(q1 dtype torch.int32)", 0, 0},
		{"method long(q)", "2", "f32_to_i64(q0) f32_to_i64(q1)", 0, 0},
		{"function torch.ops.aten.select_scatter.default(x, q, 1, 0)", "2, 3", "q0 x1 x2 q1 x4 x5",
	     0, 0},
		{"function torch.ops.aten.slice_scatter.default(l, q, 0, 1, 3)", "4", "l0 q0 q1 l3", 0, 0},
		{"function torch.ops.aten.as_strided_scatter.default(l, q, [2], [2], 0)", "4",
	     "q0 l1 q1 l3", 0, 0},
		{"function torch.ops.aten.select_backward.default(q, [2, 2], 0, 1)", "2, 2", "0 0 q0 q1", 0,
	     0},
	};
	CHECK_ALL(cases);
}

static void pointwise(void **state)
{
	static const Case cases[] = {
		{"operator add(q, 1)", "2", "add(q0 1) add(q1 1)", 0, 0},
		{"operator iadd(q, 0)", "2", "q0 q1", 0, 0},
		{"method add_(q, 1, alpha=2)", "2", "add(q0 2) add(q1 2)", 0, 0},
		{"function torch.add(q, q, alpha=2)", "2", "add(q0 mul(q0 2)) add(q1 mul(q1 2))", 0, 0},
		{"method sub_(q, 0.5)", "2", "sub(q0 0.5) sub(q1 0.5)", 0, 0},
		{"operator mul(x, v)", "2, 3",
	     "mul(x0 v0) mul(x1 v1) mul(x2 v2) mul(x3 v0) mul(x4 v1) mul(x5 v2)", 0, 0},
		{"operator imul(q, 1)", "2", "q0 q1", 0, 0},
		{"operator truediv(q, 2)", "2", "div(q0 2) div(q1 2)", 0, 0},
		{"method div(q, 2, rounding_mode='floor')", "2",
	     "div(q0 2 rounding_mode floor) div(q1 2 rounding_mode floor)", 0, 0},
		{"operator gt(q, 0)", "2", "gt(q0 0) gt(q1 0)", 0, 0},
		{"function torch.sigmoid(q)", "2", "sigmoid(q0) sigmoid(q1)", 0, 0},
		{"method relu_(q)", "2", "relu(q0) relu(q1)", 0, 0},
		{"function torch.nn.functional.relu(q, inplace=True)", "2", "relu(q0) relu(q1)", 0, 0},
		{"method clamp_(q, min=0, max=1)", "2",
	     "clamp_max(clamp_min(q0 0) 1) clamp_max(clamp_min(q1 0) 1)", 0, 0},
		{"method clamp_(q, 0)", "2", "clamp_min(q0 0) clamp_min(q1 0)", 0, 0},
		{"method lerp_(q, q, 0.5)", "2", "q0 q1", 0, 0},
		{"function torch.where(m, x, 0.0)", "2, 3",
	     "where(m0 x0 0) where(m1 x1 0) where(m2 x2 0) where(m3 x3 0) where(m4 x4 0) where(m5 x5 "
	     "0)",
	     0, 0},
		{"method masked_fill_(q, mm, 1)", "2", "where(mm0 1 q0) where(mm1 1 q1)", 0, 0},
		{"method addcmul_(q, q, q, value=1)", "2", "add(q0 mul(q0 q0)) add(q1 mul(q1 q1))", 0, 0},
		{"operator add(j, 1.0)", "2", "add(i64_to_f32(j0) 1) add(i64_to_f32(j1) 1)", 0, 0},
		{"method copy_(q, j)", "2", "i64_to_f32(j0) i64_to_f32(j1)", 0, 0},
		{"method fill_(q, 3)", "2", "3 3", 0, 0},
		{"method zero_(q)", "2", "0 0", 0, 0},
		{"method add(q, 1, out=q)", "2", "add(q0 1) add(q1 1)", 1002, 0},
		{"method conj(c)", "2", "conj(c0) conj(c1)", 0, 0},
		{"method conj(q)", "2", "q0 q1", 0, 0},
		{"method add(q, 1, out=d)", "2", "f32_to_f64(add(q0 1)) f32_to_f64(add(q1 1))", 0, 0},
		{"function torch._foreach_add_([q, l], 1)", "2", "add(q0 1) add(q1 1)", 0, 0},
		{"function torch._foreach_add_([s, q], [2, 1])", "2", "add(q0 1) add(q1 1)", 1, 0},
		{"function torch._foreach_copy_([s, q], [v, j])", "2", "i64_to_f32(j0) i64_to_f32(j1)", 1,
	     0},
		{"function torch._foreach_addcmul_([s, q], [s, q], [s, q], value=1)", "2",
	     "add(q0 mul(q0 q0)) add(q1 mul(q1 q1))", 1, 0},
		{"function torch__dynamo_utils_wrapped_sqrt(q)", "2", "sqrt(q0) sqrt(q1)", 0, 0},
		{"function torch.ops.prims.fma.default(q, q, q)", "2", "fma(q0 q0 q0) fma(q1 q1 q1)", 0, 0},
		{"function torch.nn.functional.leaky_relu(q, 0.1)", "2",
	     "leaky_relu(q0 0.1) leaky_relu(q1 0.1)", 0, 0},
		{"function torch.ops.aten.threshold_backward.default(q, q, 0)", "2",
	     "threshold_backward(q0 q0 0) threshold_backward(q1 q1 0)", 0, 0},
		{"function torch.view_as_real(c)", "2, 2", "real(c0) imag(c0) real(c1) imag(c1)", 0, 0},
		{"module ReLU(q)", "2", "relu(q0) relu(q1)", 0, 0},
	};
	CHECK_ALL(cases);
}

static void joins_and_places(void **state)
{
	static const Case cases[] = {
		{"function torch.cat([q, l, v])", "9", "q0 q1 l0 l1 l2 l3 v0 v1 v2", 0, 0},
		{"function torch.cat([x, r], dim=1)", "2, 5", "x0 x1 x2 r0 r1 x3 x4 x5 r2 r3", 0, 0},
		{"function torch.stack([q, q], 1)", "2, 2", "q0 q0 q1 q1", 0, 0},
		{"method tril(r)", "2, 2", "r0 0 r2 r3", 0, 0},
		{"function torch.nn.functional.pad(q, (1, 1))", "4", "0 q0 q1 0", 0, 0},
		{"function torch._C._nn.pad(v, (2, 1), 'reflect', None)", "6", "v2 v1 v0 v1 v2 v1", 0, 0},
		{"function torch.vstack((q, q))", "2, 2", "q0 q1 q0 q1", 0, 0},
	};
	CHECK_ALL(cases);
}

static void lanes(void **state)
{
	static const Case cases[] = {
		{"method sum(r)", "", "sum(vec(r0 r1 r2 r3))", 0, 0},
		{"method sum(r, 0)", "2", "sum(vec(r0 r2)) sum(vec(r1 r3))", 0, 0},
		{"method mean(r, dim=-1, keepdim=True)", "2, 1", "mean(vec(r0 r1)) mean(vec(r2 r3))", 0, 0},
		{"method sum(k, 0)", "2, 2", "k0 k1 k2 k3", 0, 0},
		{"method sum(mm)", "", "sum(vec(b8_to_i64(mm0) b8_to_i64(mm1)))", 0, 0},
		{"method max(q)", "", "amax(vec(q0 q1))", 0, 0},
		{"function torch.max(q, q)", "2", "q0 q1", 0, 0},
		{"method max(r, 1)", "2", "amax(vec(r0 r1))#1 amax(vec(r2 r3))#1", 1, 0},
		{"method var(q)", "", "var(vec(q0 q1))", 0, 0},
		{"method norm(q, 2)", "", "norm(p 2 vec(q0 q1))", 0, 0},
		{"method cumsum(r, 1)", "2, 2", "r0 cumsum(r0 r1) r2 cumsum(r2 r3)", 0, 0},
		{"function torch.softmax(r, dim=-1)", "2, 2",
	     "softmax(r0 vec(r0 r1)) softmax(r1 vec(r0 r1)) softmax(r2 vec(r2 r3)) softmax(r3 vec(r2 "
	     "r3))",
	     0, 0},
		{"function torch.ops.aten._softmax.default(r, 0, False)", "2, 2",
	     "softmax(r0 vec(r0 r2)) softmax(r1 vec(r1 r3)) softmax(r2 vec(r0 r2)) softmax(r3 vec(r1 "
	     "r3))",
	     0, 0},
		{"method sort(q)", "2", "sort(vec(q0 q1))#1 sort(vec(q0 q1))#2", 0, 0},
		{"method topk(r, 1)", "2, 1", "argsort(vec(r0 r1))#1 argsort(vec(r2 r3))#1", 1, 0},
		{"function torch.nn.functional.mse_loss(q, q)", "",
	     "mean(vec(mse_loss(q0 q0) mse_loss(q1 q1)))", 0, 0},
		{"function torch.nn.functional.layer_norm(r, (2,), q, None, 1e-05)", "2, 2",
	     "mul(normalize(r0 vec(r0 r1) params(eps 1e-05)) q0) mul(normalize(r1 vec(r0 r1) "
	     "params(eps 1e-05)) q1) "
	     "mul(normalize(r2 vec(r2 r3) params(eps 1e-05)) q0) mul(normalize(r3 vec(r2 r3) "
	     "params(eps 1e-05)) q1)",
	     0, 0},
		{"function torch.nn.functional.batch_norm(r, q, q, None, None, False)", "2, 2",
	     "normalize_by(r0 q0 q0) normalize_by(r1 q1 q1) normalize_by(r2 q0 q0) normalize_by(r3 q1 "
	     "q1)",
	     0, 0},
		{"function torch.nn.functional.batch_norm(r, q, q, None, None, True)", "2",
	     "running_mean(q0 vec(r0 r2)) running_mean(q1 vec(r1 r3))", 1001, 0},
		{"function torch__dynamo_utils_wrapped_sum(r, axis=0)", "2",
	     "sum(vec(r0 r2)) sum(vec(r1 r3))", 0, 0},
	};
	CHECK_ALL(cases);
}

static void products(void **state)
{
	static const Case cases[] = {
		{"operator matmul(x, w)", "2, 2",
	     "dot(vec(x0 x1 x2) vec(w0 w2 w4)) dot(vec(x0 x1 x2) vec(w1 w3 w5)) "
	     "dot(vec(x3 x4 x5) vec(w0 w2 w4)) dot(vec(x3 x4 x5) vec(w1 w3 w5))",
	     0, 0},
		{"method mv(x, v)", "2",
	     "dot(vec(x0 x1 x2) vec(v0 v1 v2)) dot(vec(x3 x4 x5) vec(v0 v1 v2))", 0, 0},
		{"function torch._C._nn.linear(q, r, q)", "2",
	     "add(dot(vec(q0 q1) vec(r0 r1)) q0) add(dot(vec(q0 q1) vec(r2 r3)) q1)", 0, 0},
		{"function torch.ops.aten.addmm.default(q, r, r)", "2, 2",
	     "add(dot(vec(r0 r1) vec(r0 r2)) q0) add(dot(vec(r0 r1) vec(r1 r3)) q1) "
	     "add(dot(vec(r2 r3) vec(r0 r2)) q0) add(dot(vec(r2 r3) vec(r1 r3)) q1)",
	     0, 0},
		{"method outer(q, q)", "2, 2", "mul(q0 q0) mul(q0 q1) mul(q1 q0) mul(q1 q1)", 0, 0},
		{"function torch.functional.einsum('ij,jk->ik', r, r)", "2, 2",
	     "dot(vec(r0 r1) vec(r0 r2)) dot(vec(r0 r1) vec(r1 r3)) dot(vec(r2 r3) vec(r0 r2)) "
	     "dot(vec(r2 r3) vec(r1 r3))",
	     0, 0},
		{"function torch.functional.einsum('ij->i', r)", "2", "sum(vec(r0 r1)) sum(vec(r2 r3))", 0,
	     0},
		{"function torch.conv1d(k, k, None, 1, 1)", "1, 1, 3",
	     "dot(vec(0 k0 0 k2) vec(k0 k1 k2 k3)) dot(vec(k0 k1 k2 k3) vec(k0 k1 k2 k3)) dot(vec(k1 0 "
	     "k3 0) vec(k0 k1 k2 k3))",
	     0, 0},
		{"function torch._C._nn.scaled_dot_product_attention(r, r, r, is_causal=True)", "2, 2",
	     "weighted(attention(dot(vec(r0 r1) vec(r0 r1))) r0) weighted(attention(dot(vec(r0 r1) "
	     "vec(r0 r1))) r1) "
	     "weighted(attention(dot(vec(r2 r3) vec(r0 r1)) dot(vec(r2 r3) vec(r2 r3))) vec(r0 r2)) "
	     "weighted(attention(dot(vec(r2 r3) vec(r0 r1)) dot(vec(r2 r3) vec(r2 r3))) vec(r1 r3))",
	     0, 0},
	};
	CHECK_ALL(cases);
}

static void by_index(void **state)
{
	static const Case cases[] = {
		{"operator getitem(l, j)", "2", "index(vec(l0 l1 l2 l3) j0) index(vec(l0 l1 l2 l3) j1)", 0,
	     0},
		{"function torch.nn.functional.embedding(i, w)", "2, 2", "w4 w5 w0 w1", 0, 0},
		{"function torch.nn.functional.embedding(j, w)", "2, 2",
	     "index(vec(w0 w2 w4) j0) index(vec(w1 w3 w5) j0) index(vec(w0 w2 w4) j1) index(vec(w1 w3 "
	     "w5) j1)",
	     0, 0},
		{"method select(r, 0, u)", "2", "index(vec(r0 r2) u0) index(vec(r1 r3) u0)", 0, 0},
		{"function torch.ops.aten.select_scatter.default(r, q, 0, u)", "2, 2",
	     "index_put(r0 at(u0) q0)#1 index_put(r1 at(u0) q1)#1 index_put(r2 at(u0) q0)#2 "
	     "index_put(r3 at(u0) q1)#2",
	     0, 0},
		{"operator getitem(r, u)", "2", "index(vec(r0 r2) u0) index(vec(r1 r3) u0)", 0, 0},
		{"operator setitem(q, u, 1)", "2", "index_put(q0 at(u0) 1)#1 index_put(q1 at(u0) 1)#2", 0,
	     0},
		{"method gather(r, 1, g)", "2, 1", "r1 r2", 0, 0},
		{"method gather(r, 1, h)", "2, 1", "index(vec(r0 r1) h0) index(vec(r2 r3) h1)", 0, 0},
		{"operator setitem(l, slice(0, 2, None), 1)", "2", "1 1", 0, 0},
		{"operator setitem(q, mm, 1)", "2", "where(mm0 1 q0) where(mm1 1 q1)", 0, 0},
		{"operator setitem(q, mm, l)", "2",
	     "where(mm0 masked_value(masked(vec(mm0 mm1) vec(l0 l1 l2 l3)))#1 q0) "
	     "where(mm1 masked_value(masked(vec(mm0 mm1) vec(l0 l1 l2 l3)))#2 q1)",
	     0, 0},
		{"operator setitem(r, mm, q)", "2, 2",
	     "where(mm0 q0 r0) where(mm0 q1 r1) where(mm1 q0 r2) where(mm1 q1 r3)", 0, 0},
		{"method index_put_(l, (i,), q)", "4", "q1 l1 q0 l3", 0, 0},
		{"method index_put_(l, [i], q, accumulate=True)", "4", "add(l0 q1) l1 add(l2 q0) l3", 0, 0},
		{"method index_put_(q, (j,), s)", "2",
	     "index_put(q0 at(vec(j0 j1)) vec(s0 s0))#1 index_put(q1 at(vec(j0 j1)) vec(s0 s0))#2", 0,
	     0},
		{"method index_fill_(x, 1, i, 0)", "2, 3", "0 x1 0 0 x4 0", 0, 0},
		{"method index_copy_(l, 0, i, q)", "4", "q1 l1 q0 l3", 0, 0},
		{"method index_add_(l, 0, i, q, alpha=2)", "4", "add(l0 mul(q1 2)) l1 add(l2 mul(q0 2)) l3",
	     0, 0},
		{"method scatter_(r, 1, g, 5)", "2, 2", "r0 5 5 r3", 0, 0},
		{"method scatter_add_(r, 1, g, r)", "2, 2", "r0 add(r1 r0) add(r2 r2) r3", 0, 0},
		{"method scatter_(r, 1, h, 5)", "2, 2",
	     "scatter(r0 at(h0 5))#1 scatter(r1 at(h0 5))#2 scatter(r2 at(h1 5))#1 scatter(r3 at(h1 "
	     "5))#2",
	     0, 0},
		{"method masked_scatter_(q, mm, q)", "2",
	     "where(mm0 masked_value(masked(vec(mm0 mm1) vec(q0 q1)))#1 q0) "
	     "where(mm1 masked_value(masked(vec(mm0 mm1) vec(q0 q1)))#2 q1)",
	     0, 0},
	};
	CHECK_ALL(cases);
}

static void made(void **state)
{
	static const Case cases[] = {
		{"function torch.zeros(2, 2)", "2, 2", "0 0 0 0", 0, 0},
		{"function torch.ones_like(q)", "2", "1 1", 0, 0},
		{"function torch.full((2,), 7)", "2", "7 7", 0, 0},
		{"function torch.full_like(q, s)", "2", "s0 s0", 0, 0},
		{"function torch.arange(1, 4)", "3", "1 2 3", 0, 0},
		{"function torch.arange(0, 6, 2)", "3", "0 2 4", 0, 0},
		{"function torch.ops.aten.arange.start_step(0, 3, 1)", "3", "0 1 2", 0, 0},
		{"function torch.eye(2)", "2, 2", "1 0 0 1", 0, 0},
		{"function torch.tensor([[1, 2], [3, 4.5]])", "2, 2", "1 2 3 4.5", 0, 0},
		{"function torch.rand(2)", "2", "$ $", 0, 0},
		{"method normal_(q)", "2", "$ $", 0, 0},
		{"function torch.nn.functional.dropout(q, 0.5, False, False)", "2", "q0 q1", 0, 0},
		{"function torch.nn.functional.dropout(q, 0.5, True, False)", "2",
	     "dropout(q0 $ 0.5) dropout(q1 $ 0.5)", 0, 0},
		{"function torch.nn.functional.dropout(q, p=0.0)", "2", "q0 q1", 0, 0},
		{"module Dropout(q)", "2", "q0 q1", 0, 0},
		{"function torch.linalg.svdvals(r)", "2",
	     "torch.linalg.svdvals(all(r0 r1 r2 r3))#1 torch.linalg.svdvals(all(r0 r1 r2 r3))#2", 0, 0},
		{"function my.operator(q)", "2", "my.operator(all(q0 q1 ~))#1 my.operator(all(q0 q1 ~))#2",
	     0, 0},
	};
	CHECK_ALL(cases);
}

/* ---- views against the strides of layout.h ---- */

static uint32_t below(World *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % n;
}

typedef struct Viewed {
	TypeId type;
	int64_t offset;
	Str call;
} Viewed;

static TypeId random_type(World *w, Types *t, int64_t *size, int64_t *stride, uint32_t *n)
{
	ExprId e[6];
	int64_t step = 1;
	*n = 1 + below(w, 4);
	for (uint32_t i = 0; i < *n; i++)
		size[i] = below(w, 8) == 0 ? 0 : 1 + below(w, 4);
	for (uint32_t i = *n; i-- > 0;) {
		stride[i] = step;
		step *= size[i] ? size[i] : 1;
		e[i] = expr_int(t, size[i]);
	}
	return type_contiguous_of(t, DT_F32, e, *n, (Sym){0});
}

static Str int_list(World *w, const int64_t *v, uint32_t n)
{
	Buf b = {.a = &w->a};
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&b, "%s%lld", i ? ", " : "", (long long)v[i]);
	return buf_str(&b);
}

/* A random view: its call, and where it stands. */
static Viewed random_view(World *w, Types *t, TypeId x, const int64_t *size, const int64_t *stride,
                          uint32_t n)
{
	uint32_t a = below(w, n), b = below(w, n), kind = below(w, 11);
	int64_t va = below(w, 2) ? a : (int64_t)a - n, vb = below(w, 2) ? b : (int64_t)b - n;
	int64_t from = below(w, 5), len, step = 1 + below(w, 2), dims[6];
	ExprId ef, el, es;
	Viewed v = {.type = x, .call = S("method detach(x)")};
	switch (kind) {
	case 0:
		v.type = layout_transpose(t, x, va, vb);
		v.call = str_printf(&w->a, "method transpose(x, %d, %d)", (int)va, (int)vb);
		break;
	case 1:
		for (uint32_t i = 0; i < n; i++)
			dims[i] = (i + a) % n;
		v.type = layout_permute(t, x, dims, n);
		v.call = str_printf(&w->a, "method permute(x, " STR_FMT ")", STR_ARG(int_list(w, dims, n)));
		break;
	case 2:
		v.type = layout_movedim(t, x, &va, &vb, 1);
		v.call = str_printf(&w->a, "method movedim(x, %d, %d)", (int)va, (int)vb);
		break;
	case 3: /* also beyond the end */
		len = from + below(w, 4);
		ef = expr_int(t, from), el = expr_int(t, len), es = expr_int(t, step);
		v.type = layout_slice(t, x, a, &ef, &el, &es);
		v.offset = (from < size[a] ? from : size[a]) * stride[a];
		v.call = str_printf(&w->a, "function torch.ops.aten.slice.Tensor(x, %u, %d, %d, %d)", a,
		                    (int)from, (int)len, (int)step);
		break;
	case 4:
		if (!size[a])
			break;
		from %= size[a];
		v.type = layout_select(t, x, a);
		v.offset = from * stride[a];
		v.call = str_printf(&w->a, "method select(x, %d, %d)", (int)va,
		                    (int)(below(w, 2) ? from : from - size[a]));
		break;
	case 5:
		from = size[a] ? from % size[a] : 0;
		len = below(w, (uint32_t)(size[a] - from) + 1);
		v.type = layout_narrow(t, x, a, expr_int(t, len));
		v.offset = from * stride[a];
		v.call = str_printf(&w->a, "method narrow(x, %u, %d, %d)", a, (int)from, (int)len);
		break;
	case 6:
		v.type = layout_squeeze(t, x, NULL, 0);
		v.call = S("method squeeze(x)");
		break;
	case 7:
		v.type = layout_unsqueeze(t, x, a);
		v.call = str_printf(&w->a, "method unsqueeze(x, %u)", a);
		break;
	case 8:
		if (a == b || !size[a] || !size[b])
			break;
		from -= 2;
		v.type = layout_diagonal(t, x, from, a, b);
		v.offset = from >= 0 ? from * stride[b] : -from * stride[a];
		v.call = str_printf(&w->a, "method diagonal(x, %d, %u, %u)", (int)from, a, b);
		break;
	case 9:
		if (!size[a])
			break;
		len = 1 + from % size[a];
		v.type = layout_unfold(t, x, a, expr_int(t, len), expr_int(t, step));
		v.call = str_printf(&w->a, "method unfold(x, %u, %d, %d)", a, (int)len, (int)step);
		break;
	default: {
		ExprId e[7];
		int64_t to[7];
		for (uint32_t i = 0; i < n + 1; i++)
			to[i] = i == 0 ? 2 : size[i - 1] == 1 ? 3 : size[i - 1];
		for (uint32_t i = 0; i < n + 1; i++)
			e[i] = expr_int(t, to[i]);
		v.type = layout_expand(t, x, e, n + 1);
		v.call =
			str_printf(&w->a, "method expand(x, " STR_FMT ")", STR_ARG(int_list(w, to, n + 1)));
	}
	}
	return v;
}

static void check_view(World *w, Types *t)
{
	int64_t size[6], stride[6], osize[8], ostride[8] = {0};
	uint32_t n, numel = 1, map[4096];
	const Arg *source = NULL;
	world_reset(w);
	TypeId x = random_type(w, t, size, stride, &n);
	tensor_add(w, "x", DT_F32, size, n);
	Viewed v = random_view(w, t, x, size, stride, n);
	const Type *y = type_get(t, v.type);
	assert_true(y->has_shape);
	for (uint32_t i = 0; i < y->ndim; i++) {
		assert_true(expr_value(t, y->size[i], &osize[i]));
		numel *= (uint32_t)osize[i];
	}
	for (uint32_t i = 0; numel && i < y->ndim; i++)
		assert_true(expr_value(t, y->stride[i], &ostride[i]));
	call_read(w, str_to_c(&w->a, v.call));
	if (!sem_move(&w->c, -1, osize, y->ndim, numel, &source, map))
		fail_msg("no map: " STR_FMT " of %s", STR_ARG(v.call),
		         str_to_c(&w->a, int_list(w, size, n)));
	assert_int_equal(source->u.node.i, w->in[0].node.i);
	for (uint32_t k = 0; k < numel; k++) {
		int64_t at = v.offset;
		uint32_t left = k;
		for (uint32_t d = y->ndim; d-- > 0; left /= (uint32_t)osize[d])
			at += left % osize[d] * ostride[d];
		if (map[k] != at)
			fail_msg(STR_FMT " of %s: element %u is %u, not %d", STR_ARG(v.call),
			         str_to_c(&w->a, int_list(w, size, n)), k, map[k], (int)at);
	}
}

static void views_by_strides(void **state)
{
	World *w = *state;
	Types *t = types_new(&w->a, &w->names);
	w->random = 42;
	for (uint32_t i = 0; i < 5000; i++)
		check_view(w, t);
}

/* Pieces follow each other without gaps and cover the dim. */
static void pieces_cover(void **state)
{
	World *w = *state;
	static const char *const calls[] = {"method chunk(x, %d, 1)", "method split(x, %d, 1)",
	                                    "method tensor_split(x, %d, 1)"};
	for (int kind = 0; kind < 3; kind++)
		for (int64_t size = 1; size < 9; size++)
			for (int by = 1; by < 9; by++) {
				char text[64];
				bool seen[32] = {0};
				int64_t shape[2] = {2, size}, left = size;
				world_reset(w);
				tensor_add(w, "x", DT_F32, shape, 2);
				snprintf(text, sizeof text, calls[kind], by);
				call_read(w, text);
				for (int m = 0; left > 0; m++) {
					int64_t len = kind == 0   ? (size + by - 1) / by
					              : kind == 1 ? by
					                          : size / by + (m < size % by);
					int64_t out[2] = {2, len < left ? len : left};
					uint32_t map[64];
					const Arg *source;
					assert_true(sem_move(&w->c, m, out, 2, (uint32_t)(2 * out[1]), &source, map));
					for (uint32_t k = 0; k < 2 * out[1]; k++) {
						assert_false(seen[map[k]]);
						seen[map[k]] = true;
						assert_int_equal(map[k], k / out[1] * size + (size - left) + k % out[1]);
					}
					left -= out[1];
				}
			}
}

/* ---- dependences against enumerations ---- */

static void check_leaves(World *w, TermId term, uint32_t input, const bool *want, Str what,
                         uint32_t k)
{
	bool *seen = NEW_N(&w->a, bool, (size_t)w->in[input].x.numel + 1);
	Map done = {.a = &w->a};
	term_leaves(w, term, input, seen, &done);
	for (uint32_t i = 0; i < w->in[input].x.numel; i++)
		if (seen[i] != want[i])
			fail_msg(STR_FMT ": element %u %s %s%u", STR_ARG(what), k,
			         seen[i] ? "must not depend on" : "does not depend on", w->in[input].name, i);
}

static void reductions_by_sets(void **state)
{
	World *w = *state;
	static const char *const names[] = {"sum", "amax", "var", "mean"};
	w->random = 7;
	for (uint32_t round = 0; round < 300; round++) {
		int64_t size[4], dims[4], out[4];
		uint32_t n = 1 + below(w, 4), nd = 0, nout = 0, numel = 1;
		bool in[4] = {0}, keep = below(w, 2);
		world_reset(w);
		for (uint32_t i = 0; i < n; i++) {
			size[i] = 1 + below(w, 3);
			in[i] = below(w, 2);
			if (in[i])
				dims[nd++] = below(w, 2) ? i : (int64_t)i - n;
		}
		if (!nd) {
			in[0] = true;
			dims[nd++] = 0;
		}
		for (uint32_t i = 0; i < n; i++)
			if (!in[i] || keep)
				out[nout++] = in[i] ? 1 : size[i];
		for (uint32_t i = 0; i < nout; i++)
			numel *= (uint32_t)out[i];
		tensor_add(w, "x", DT_F32, size, n);
		Str call =
			str_printf(&w->a, "method %s(x, dim=[" STR_FMT "], keepdim=%s)", names[round % 4],
		               STR_ARG(int_list(w, dims, nd)), keep ? "True" : "False");
		call_read(w, str_to_c(&w->a, call));
		TermId *e = NEW_N(&w->a, TermId, numel + 1);
		sem_apply(&w->c, -1, out, nout, numel, e);
		for (uint32_t k = 0; k < numel; k++) {
			bool *want = NEW_N(&w->a, bool, (size_t)w->in[0].x.numel + 1);
			for (uint32_t i = 0; i < w->in[0].x.numel; i++) {
				uint32_t left = i, pos = 0, mul = 1;
				for (uint32_t d = n; d-- > 0; left /= (uint32_t)size[d])
					if (!in[d]) {
						pos += left % (uint32_t)size[d] * mul;
						mul *= (uint32_t)size[d];
					}
				want[i] = pos == k;
			}
			check_leaves(w, e[k], 0, want, call, k);
		}
	}
}

static void products_by_sets(void **state)
{
	World *w = *state;
	w->random = 9;
	for (uint32_t round = 0; round < 300; round++) {
		int64_t a[4], b[4], out[4];
		uint32_t batch = below(w, 3), ab = batch ? below(w, batch + 1) : 0, rows = 1 + below(w, 3),
				 inner = 1 + below(w, 3), cols = 1 + below(w, 3), na = 0, nb = 0,
				 numel = rows * cols;
		world_reset(w);
		for (uint32_t d = 0; d < batch; d++) {
			out[d] = 1 + below(w, 3);
			numel *= (uint32_t)out[d];
			b[nb++] = out[d];
			if (d >= ab)
				a[na++] = below(w, 3) ? out[d] : 1;
		}
		a[na++] = rows;
		a[na++] = inner;
		b[nb++] = inner;
		b[nb++] = cols;
		out[batch] = rows;
		out[batch + 1] = cols;
		tensor_add(w, "x", DT_F32, a, na);
		tensor_add(w, "y", DT_F32, b, nb);
		call_read(w, "function torch.matmul(x, y)");
		TermId *e = NEW_N(&w->a, TermId, numel + 1);
		sem_apply(&w->c, -1, out, batch + 2, numel, e);
		for (uint32_t k = 0; k < numel; k++) {
			uint32_t at[4], left = k, pa = 0, pb = 0;
			for (uint32_t d = batch + 2; d-- > 0; left /= (uint32_t)out[d])
				at[d] = left % (uint32_t)out[d];
			for (uint32_t d = 0; d < batch; d++) {
				pb = pb * (uint32_t)out[d] + at[d];
				if (d >= ab)
					pa = pa * (uint32_t)a[d - ab] + (a[d - ab] == 1 ? 0 : at[d]);
			}
			bool *wa = NEW_N(&w->a, bool, w->in[0].x.numel + 1),
				 *wb = NEW_N(&w->a, bool, w->in[1].x.numel + 1);
			for (uint32_t i = 0; i < inner; i++) {
				wa[(pa * rows + at[batch]) * inner + i] = true;
				wb[(pb * inner + i) * cols + at[batch + 1]] = true;
			}
			check_leaves(w, e[k], 0, wa, S("matmul"), k);
			check_leaves(w, e[k], 1, wb, S("matmul"), k);
		}
	}
}

/* ---- the rest of the interface ---- */

static void places_of_setitem(void **state)
{
	World *w = *state;
	int64_t size[SEM_MAX_DIMS];
	uint32_t n, map[8];
	const Arg *source;
	world_reset(w);
	inputs_read(w, INPUTS);
	const Node *node = call_read(w, "operator setitem(x, (slice(None, None, None), 1), 0.5)");
	const Arg *v = node_args(w->g, node);
	assert_true(sem_index_sizes(&w->c, &v[0], &v[1], size, &n));
	assert_int_equal(n, 1);
	assert_int_equal(size[0], 2);
	assert_true(sem_move(&w->c, -1, size, 1, 2, &source, map));
	assert_int_equal(map[0], 1);
	assert_int_equal(map[1], 4);
	assert_true(sem_overwrites(&w->c));
	node = call_read(w, "operator setitem(x, m, 0.5)");
	v = node_args(w->g, node);
	assert_false(sem_index_sizes(&w->c, &v[0], &v[1], size, &n));
	node = call_read(w, "operator setitem(x, (slice(None, None, None), i), 0.5)");
	v = node_args(w->g, node);
	assert_true(sem_index_sizes(&w->c, &v[0], &v[1], size, &n));
	assert_true(sem_move(&w->c, -1, size, 2, 4, &source, map));
	assert_int_equal(map[0], 2);
	assert_int_equal(map[3], 3);
}

static void overwriting(void **state)
{
	World *w = *state;
	static const struct {
		const char *call;
		bool want;
	} cases[] = {{"method fill_(x, 1)", true},
	             {"method zero_(x)", true},
	             {"method copy_(x, y)", true},
	             {"method normal_(x)", true},
	             {"method add_(x, 1)", false},
	             {"method relu_(x)", false},
	             {"function torch.add(x, 1, out=y)", true},
	             {"method masked_fill_(x, m, 0)", false},
	             {"method index_put_(x, (i,), s)", false},
	             {"function torch._foreach_copy_([x], [y])", true}};
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		world_reset(w);
		inputs_read(w, INPUTS);
		call_read(w, cases[i].call);
		assert_int_equal(sem_overwrites(&w->c), cases[i].want);
	}
}

static void numbers(void **state)
{
	World *w = *state;
	world_reset(w);
	inputs_read(w, INPUTS "; one: f32[1]");
	Input *number = input_add(w, "num");
	call_read(w, "method item(one)");
	TermId item = sem_item(&w->c, &w->in[w->n - 2].x);
	number->is_number = true;
	number->x.e = &item;
	call_read(w, "operator mul(q, num)");
	Str got = apply_text(w, "2", -1, DT_NONE);
	assert_true(str_eq(got, S("mul(q0 one0) mul(q1 one0)")));
	call_read(w, "method fill_(d, num)");
	got = apply_text(w, "1", -1, DT_NONE);
	assert_true(str_eq(got, S("f32_to_f64(one0)")));
	assert_true(term_is_unsure(w->terms, sem_item(&w->c, &w->in[0].x)));
}

static void equal_runs(void **state)
{
	World *w = *state;
	TermId a[2], b[2];
	const int64_t size = 2;
	world_reset(w);
	inputs_read(w, INPUTS);
	call_read(w, "function torch.rand(2)");
	sem_apply(&w->c, -1, &size, 1, 2, a);
	sem_apply(&w->c, -1, &size, 1, 2, b);
	assert_memory_equal(a, b, sizeof a);
	assert_int_not_equal(a[0].i, a[1].i);
	w->c.site++;
	sem_apply(&w->c, -1, &size, 1, 2, b);
	assert_int_not_equal(a[0].i, b[0].i);
}

/* ---- hostile ---- */

static void refused(void **state)
{
	World *w = *state;
	static const char *const calls[] = {
		"method view(x, 3, 2)",
		"method expand(x, 4611686018427387904, 4, 2, 3)",
		"operator getitem(x, (slice(None, None, None), 9))",
		"method select(x, 5, 0)",
		"method permute(x, 0, 0)",
		"method narrow(x, 0, 9223372036854775807, 1)",
		"method unfold(x, 0, 1, -1)",
		"method diagonal(x, -9223372036854775808)",
		"method movedim(x, 0, 7)",
		"method chunk(x, 0)",
		"method split(x, -1)",
		"method as_strided(x, (2, 2), (9223372036854775807, 9223372036854775807))",
		"method as_strided(x, (2,), (100,))",
		"method roll(x, 9223372036854775807, 9)",
		"operator getitem(x, (0, 0, 0))",
		"operator getitem(x, (Ellipsis, Ellipsis))",
		"operator getitem(x, True)",
		"method cumsum(x, 4)",
		"function torch.cat([x, s])",
		"function torch.matmul(x, x)",
		"function torch.functional.einsum('ij,kl', x)",
		"function torch.functional.einsum('**', x)",
		"method gather(x, 0, x)",
		"function torch.nn.functional.pad(x, (9223372036854775807, 1))",
		"function torch.conv2d(x, x)",
		"method repeat_interleave(x, -1)",
		"method transpose()",
		"operator add()",
		"operator setitem(x)",
		"function torch.stack([])",
		"method sum(x, 7)",
		"method sum(x, [0, 0])"};
	static const struct {
		int64_t size[14];
		uint32_t n, numel;
	} asked[] = {{{4294967296, 4294967296}, 2, 0},
	             {{-1, 4}, 2, 4},
	             {{0}, 0, 1},
	             {{0, 7}, 2, 0},
	             {{5, 1}, 2, 5},
	             {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 14, 1},
	             {{65537}, 1, 65537},
	             {{3}, 1, 4},
	             {{INT64_MAX, 0, INT64_MAX}, 3, 0}};
	TermId *out = NEW_N(&w->a, TermId, 70000);
	uint32_t *map = NEW_N(&w->a, uint32_t, 70000);
	for (uint32_t i = 0; i < sizeof calls / sizeof *calls; i++)
		for (uint32_t k = 0; k < sizeof asked / sizeof *asked; k++) {
			const Arg *source;
			world_reset(w);
			inputs_read(w, INPUTS);
			call_read(w, calls[i]);
			memset(out, 0, sizeof *out * 70000);
			bool moved =
				sem_move(&w->c, 0, asked[k].size, asked[k].n, asked[k].numel, &source, map);
			for (uint32_t e = 0; moved && e < asked[k].numel; e++)
				assert_true(map[e] < 6);
			sem_apply(&w->c, 0, asked[k].size, asked[k].n, asked[k].numel, out);
			for (uint32_t e = 0; e < asked[k].numel; e++)
				assert_true(out[e].i != 0);
		}
}

/* Every row of the table with arguments of all kinds: any answer, but one for each element, and no index out of range. */
static void rows_with_anything(void **state)
{
	World *w = *state;
	static const char *const values[] = {"x",     "v",        "s",      "r",     "i",       "j",       "m",  "u",
	                                     "q",     "0",        "1",      "-1",    "2",       "None",    "True",
	                                     "[0]",   "[1, -1]",  "(2, 3)", "[x, q]", "[]",     "'mean'",  "0.5", "'ij->ji'",
	                                     "'none'", "slice(0, 1, None)", "9223372036854775807", "Ellipsis", "[r, r]",
	                                     "(None, i)", "torch.float64", "(slice(None, None, None), j)", "l", "c", "d"};
	static const char *const keys[] = {"dim=", "out=", "dtype=", "value=", "alpha=", "keepdim=", "input="};
	static const int64_t sizes[][3] = {{2, 3, 0}, {3, 0, 0}, {0, 0, 0}, {2, 2, 0}, {1, 2, 2}, {4, 0, 0}};
	static const uint32_t dims[] = {2, 1, 0, 2, 3, 1}, numels[] = {6, 3, 1, 4, 4, 4};
	uint32_t nvalues = sizeof values / sizeof *values;
	w->random = 1;
	for (uint32_t round = 0; round < 40; round++)
		for (uint32_t row = 1; row < w->table->rows.n; row++) {
			const SemRow *r = &w->table->rows.v[row];
			const char *how = r->family == FAM_ATTR       ? "attr "
			                  : r->family == FAM_OPERATOR ? "operator "
			                  : r->family == FAM_DISPATCH ? "function torch.ops.aten."
			                  : r->family == FAM_TORCH    ? "function torch."
			                  : r->family == FAM_NUMPY    ? "function torch__dynamo_utils_wrapped_"
			                  : r->family == FAM_MODULE   ? "module "
			                                              : "method ";
			Buf b = {.a = &w->a};
			world_reset(w);
			inputs_read(w, INPUTS);
			unknown_number(w);
			buf_printf(&b, "%s" STR_FMT "(x", how, STR_ARG(r->name));
			for (uint32_t k = below(w, 6); k > 0; k--)
				buf_printf(&b, ", %s", values[below(w, nvalues)]);
			if (below(w, 3) == 0)
				buf_printf(&b, ", %s%s", keys[below(w, 7)], values[below(w, nvalues)]);
			buf_char(&b, ')');
			call_read(w, str_to_c(&w->a, buf_str(&b)));
			uint32_t as = below(w, 6), map[8];
			int member = (int)below(w, 4) - 1;
			const Arg *source;
			TermId out[8] = {{0}};
			if (sem_move(&w->c, member, sizes[as], dims[as], numels[as], &source, map)) {
				SemTensor from;
				assert_true(world_tensor(w, source, &from));
				for (uint32_t k = 0; k < numels[as]; k++)
					assert_true(map[k] < from.numel);
			}
			sem_apply(&w->c, member, sizes[as], dims[as], numels[as], out);
			for (uint32_t k = 0; k < numels[as]; k++)
				if (!out[k].i)
					fail_msg(STR_FMT ": no term for element %u", STR_ARG(buf_str(&b)), k);
		}
}

static TermId world_whole(void *ctx, const Arg *a)
{
	World *w = ctx;
	return a->kind == AR_NODE ? term_fresh(w->terms, (uint64_t)1 << NAME_BITS | 77) : (TermId){0};
}

/* What is not given by elements still makes its results. */
static void large_operands(void **state)
{
	World *w = *state;
	world_reset(w);
	inputs_read(w, "x: f32[70000]; y: f32[2]");
	call_read(w, "method sum(x)");
	w->c.whole = world_whole;
	Str got = apply_text(w, "", -1, DT_NONE);
	if (!str_eq(got, S("sum(all(x77))#1")))
		fail_msg("got '" STR_FMT "'", STR_ARG(got));
	call_read(w, "operator setitem(y, 0, x)");
	w->c.whole = world_whole;
	got = apply_text(w, "", -1, DT_NONE);
	assert_true(str_has(got, S("x77")));
}

static void empty_and_0d(void **state)
{
	World *w = *state;
	static const struct {
		const char *call, *size, *want;
	} cases[] = {
		{"method transpose(s, 0, -1)", "", "s0"},       {"method t(s)", "", "s0"},
		{"operator getitem(s, ())", "", "s0"},          {"method sum(s)", "", "s0"},
		{"method sum(z)", "", "sum(all(z?))"},          {"operator add(s, 1)", "", "add(s0 1)"},
		{"method softmax(s, 0)", "", "softmax(s0 s0)"}, {"method squeeze(s)", "", "s0"}};
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		world_reset(w);
		inputs_read(w, "s: f32[]; z: f32[0]");
		call_read(w, cases[i].call);
		Str got = apply_text(w, cases[i].size, -1, DT_NONE);
		if (strchr(cases[i].want, '?') == NULL && !str_eq(got, str_from_c(cases[i].want)))
			fail_msg("%s: got '" STR_FMT "'", cases[i].call, STR_ARG(got));
	}
}

/* Views of a tensor that is too large for terms, by its strides: [1024, 512, 8] from offset 5. */
static void places_of_large_views(void **state)
{
	World *w = *state;
	static const struct {
		const char *call, *want; /* sizes; strides; offset */
	} cases[] = {
		{"operator getitem(s, (slice(None, None, None), slice(None, 64, None)))", "1024 64 8; 4096 8 1; 5"},
		{"operator getitem(s, (slice(10, 20, 2), 3))", "5 8; 8192 1; 40989"},
		{"operator getitem(s, None)", "1 1024 512 8; 0 4096 8 1; 5"},
		{"method transpose(s, 0, 1)", "512 1024 8; 8 4096 1; 5"},
		{"method select(s, 1, -1)", "1024 8; 4096 1; 4093"},
		{"method narrow(s, 0, 1000, 24)", "24 512 8; 4096 8 1; 4096005"},
		{"operator setitem(s, slice(0, 2, None), 0)", "2 512 8; 4096 8 1; 5"},
		{"operator getitem(s, [0, 2])", ""}, /* a copy */
		{"method softmax(s, 0)", ""}};
	const SemTensor base = {.ndim = 3, .dtype = DT_F32, .size = {1024, 512, 8}, .has_stride = true, .stride = {4096, 8, 1}, .offset = 5};
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		SemTensor at;
		Buf b = {.a = &w->a};
		world_reset(w);
		inputs_read(w, "s: f32[2, 2, 2]");
		call_read(w, cases[i].call);
		if (sem_strided_view(&w->c, -1, NULL, 0, &base, &at)) {
			for (uint32_t d = 0; d < at.ndim; d++)
				buf_printf(&b, "%s%lld", d ? " " : "", (long long)at.size[d]);
			buf_printf(&b, ";");
			for (uint32_t d = 0; d < at.ndim; d++)
				buf_printf(&b, " %lld", (long long)at.stride[d]);
			buf_printf(&b, "; %lld", (long long)at.offset);
		}
		if (!str_eq(buf_str(&b), str_from_c(cases[i].want)))
			fail_msg("%s: got '" STR_FMT "'", cases[i].call, STR_ARG(buf_str(&b)));
	}
}

static void one_number_everywhere(void **state)
{
	World *w = *state;
	static const struct {
		const char *call;
		bool fills;
		double number;
	} cases[] = {{"function torch.zeros(3)", true, 0}, {"function torch.full((2,), 7)", true, 7}, {"method fill_(s, 2)", true, 2}, {"method zero_(s)", true, 0},
	             {"operator setitem(s, 0, 4)", true, 4}, {"method copy_(s, y)", false, 0}, {"function torch.arange(3)", false, 0}};
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		TermId t = {0};
		world_reset(w);
		inputs_read(w, "s: f32[2, 2]; y: f32[]");
		call_read(w, cases[i].call);
		bool fills = sem_fills(&w->c, -1, &t);
		if (fills != cases[i].fills || (fills && term_get(w->terms, t)->num != cases[i].number))
			fail_msg("%s: %d", cases[i].call, fills);
	}
}

static void table_faults(void **state)
{
	World *w = *state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"*\tx\tsame\tinput", "t:2:1: not five columns in '*\tx\tsame\tinput'\n"},
		{"*\tx\tsome\tinput\t-", "t:2:5: unknown class 'some' (did you mean 'same'?)\n"},
		{"methd\tx\tsame\tinput\t-", "t:2:1: unknown family 'methd' (did you mean 'method'?)\n"},
		{"*\tx\tsame\tinputs\t-", "t:2:10: unknown role 'inputs' (did you mean 'input'?)\n"}};
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Buf errors = {.a = &w->a};
		Str text = str_printf(&w->a, "header\n%s\n", cases[i].text);
		SemTable s;
		assert_false(sem_table_load(&s, &w->a, &w->names, S("t"), text, &errors));
		if (!str_eq(buf_str(&errors), str_from_c(cases[i].want)))
			fail_msg("got '" STR_FMT "'", STR_ARG(buf_str(&errors)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves),
		cmocka_unit_test(pointwise),
		cmocka_unit_test(joins_and_places),
		cmocka_unit_test(lanes),
		cmocka_unit_test(products),
		cmocka_unit_test(by_index),
		cmocka_unit_test(made),
		cmocka_unit_test(views_by_strides),
		cmocka_unit_test(pieces_cover),
		cmocka_unit_test(reductions_by_sets),
		cmocka_unit_test(products_by_sets),
		cmocka_unit_test(places_of_setitem),
		cmocka_unit_test(overwriting),
		cmocka_unit_test(numbers),
		cmocka_unit_test(equal_runs),
		cmocka_unit_test(refused),
		cmocka_unit_test(rows_with_anything),
		cmocka_unit_test(large_operands),
		cmocka_unit_test(empty_and_0d),
		cmocka_unit_test(places_of_large_views),
		cmocka_unit_test(one_number_everywhere),
		cmocka_unit_test(table_faults),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, world_make, world_free);
}
