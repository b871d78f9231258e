/* SPDX-License-Identifier: MIT
 * Types of nodes: printed graphs without annotations behind the placeholders, and what every call
 * comes out as. Expected types: those that PyTorch 2.6 prints for the same calls (corpus of real
 * dumps), and the tables of layouts of the operator facts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "run.h"
#include "infer.h"

typedef struct World {
	Arena a;
	Tables tables;
	Config cfg;
} World;

static int world_up(void **state)
{
	static World w;
	w.a = arena_new(NULL);
	tables_init(&w.tables);
	w.cfg = config_default();
	*state = &w;
	return 0;
}

static int world_down(void **state)
{
	World *w = *state;
	tables_free(&w->tables);
	arena_free(&w->a);
	return 0;
}

/* What every case can use. */
#define INPUTS                                                                                     \
	"x: \"f32[2, 3][3, 1]cpu\", xt: \"f32[3, 2][1, 3]cpu\", w: \"f32[5, 3][3, 1]cpu\", "           \
	"b: \"f32[5][1]cpu\", img: \"f32[2, 4, 6, 6][144, 36, 6, 1]cpu\", "                            \
	"nhwc: \"f32[2, 4, 6, 6][144, 1, 24, 4]cpu\", k: \"f32[8, 4, 3, 3][36, 9, 3, 1]cpu\", "        \
	"i: \"i64[5][1]cpu\", i0: \"i64[][]cpu\", m: \"b8[2, 3][3, 1]cpu\", h: \"f16[2, 3][3, "        \
	"1]cpu\", "                                                                                    \
	"c: \"c64[2, 3][3, 1]cpu\", wide: \"f32[2, 3][8, 1]cpu\", row: \"f32[2, 3][0, 1]cpu\", "       \
	"q: \"f32[2, 4, 8, 16][512, 16, 64, 1]cpu\", x3: \"f32[4, 2, 3][6, 3, 1]cpu\", "               \
	"s0: \"Sym(s0)\", dyn: \"f32[s0, 4, s1][4*s1, s1, 1]cpu\", any: \"f32[2, 3]\", "               \
	"gpu: \"f32[2, 3][3, 1]cuda:0\", t: \"f32[6, 6][6, 1]cpu\", "                                  \
	"small: \"f32[1, 8, 3, 3][72, 9, 3, 1]cpu\", what"

static Str text_of(World *w, const char *inputs, const char *body, const char *after)
{
	return str_printf(&w->a,
	                  "class GraphModule(torch.nn.Module):\n    def forward(self, %s):\n%s"
	                  "        return ()\n%s",
	                  inputs, body, after);
}

/* The type of a node of the first graph, or "(a, b)" for several values. */
static Str type_in(World *w, Run *r, const char *name)
{
	const Graph *g = r->program.graphs.v[1];
	const NodeTypes *nt = r->node_types[1];
	Buf b = {.a = &w->a};
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		if (!str_eq(sym_str(r->program.names, g->nodes.v[i].name), str_from_c(name)))
			continue;
		if (!nt->nelems[i])
			return type_text(r->types, nt->v[i], &w->a);
		for (uint32_t k = 0; k < nt->nelems[i]; k++)
			buf_printf(&b, "%s" STR_FMT, k ? ", " : "(",
			           STR_ARG(type_text(r->types, nt->elems.v[nt->elem_at[i] + k], &w->a)));
		buf_char(&b, ')');
		return buf_str(&b);
	}
	return S("no such node");
}

static void run_text(World *w, Run *r, Str text)
{
	Str why;
	run_init(r, &w->tables, &w->cfg);
	FileId f = sources_add_bytes(&r->sources, S("graph.txt"), text, 0, &why);
	assert_true(f.i != 0);
	run_analyse(r);
	assert_true(r->program.graphs.n > 1);
}

static void check(World *w, const char *inputs, const char *body, const char *after,
                  const char *name, const char *want)
{
	Run r;
	run_text(w, &r, text_of(w, inputs, body, after));
	Str got = type_in(w, &r, name);
	if (!str_eq(got, str_from_c(want)))
		fail_msg("%s: got '" STR_FMT "', want '%s'", body, STR_ARG(got), want);
	run_free(&r);
}

typedef struct Case {
	const char *expr, *want;
} Case;

static void check_all(void **state, const Case *c, size_t n)
{
	World *w = *state;
	for (size_t i = 0; i < n; i++) {
		Str body = str_printf(&w->a, "        r = %s\n", c[i].expr);
		check(w, INPUTS, str_to_c(&w->a, body), "", "r", c[i].want);
	}
}

#define CHECK_ALL(cases) check_all(state, cases, sizeof cases / sizeof *cases)

static void elementwise(void **state)
{
	static const Case cases[] = {
		{"x + 1", "f32[2, 3][3, 1]cpu"},
		{"x + 1.5", "f32[2, 3][3, 1]cpu"},
		{"i + 1.5", "f32[5][1]cpu"},
		{"i / 2", "f32[5][1]cpu"},
		{"i // 2", "i64[5][1]cpu"},
		{"h + x", "f32[2, 3][3, 1]cpu"},
		{"h * 2.0", "f16[2, 3][3, 1]cpu"},
		{"m + 1", "i64[2, 3][3, 1]cpu"},
		{"x > 0", "b8[2, 3][3, 1]cpu"},
		{"xt + xt", "f32[3, 2][1, 3]cpu"},
		{"xt.relu()", "f32[3, 2][1, 3]cpu"},
		{"x + x3", "f32[4, 2, 3][6, 3, 1]cpu"},
		{"wide * 2", "f32[2, 3][3, 1]cpu"},
		{"row.exp()", "f32[2, 3][3, 1]cpu"},
		{"i.exp()", "f32[5][1]cpu"},
		{"c.abs()", "f32[2, 3][3, 1]cpu"},
		{"torch.complex(x, x)", "c64[2, 3][3, 1]cpu"},
		{"torch.where(m, x, 0.5)", "f32[2, 3][3, 1]cpu"},
		{"torch._C._nn.gelu(nhwc)", "f32[2, 4, 6, 6][144, 1, 24, 4]cpu"},
		{"torch.nn.functional.relu(wide, inplace = True)", "f32[2, 3][8, 1]cpu"},
		{"torch.nn.functional.relu(wide)", "f32[2, 3][3, 1]cpu"},
		{"torch.nn.functional.softmax(xt, -1, _stacklevel = 3)", "f32[3, 2][2, 1]cpu"},
		{"xt.softmax(dim = 0, dtype = torch.float64)", "f64[3, 2][2, 1]cpu"},
		{"x.masked_fill(m, 0)", "f32[2, 3][3, 1]cpu"},
		{"wide.clone()", "f32[2, 3][3, 1]cpu"},
		{"xt.clone()", "f32[3, 2][1, 3]cpu"},
		{"xt.clone(memory_format = torch.contiguous_format)", "f32[3, 2][2, 1]cpu"},
		{"x.clamp(min = 0, max = 1)", "f32[2, 3][3, 1]cpu"},
		{"x.add_(1)", "f32[2, 3][3, 1]cpu"},
		{"gpu * 2", "f32[2, 3][3, 1]cuda:0"},
		{"any * 2", "f32[2, 3]"},
		{"torch.ops.aten.add.Tensor(xt, 1)", "f32[3, 2][1, 3]cpu"},
		{"torch.ops.aten.native_dropout.default(x, 0.5, True)",
	     "(f32[2, 3][3, 1]cpu, b8[2, 3][3, 1]cpu)"},
		{"torch.nn.functional.dropout(x, 0.5, True, False)", "f32[2, 3][3, 1]cpu"},
		/* itself in eager code, a copy where AOTAutograd traced it */
		{"torch.nn.functional.dropout(wide, 0.0, True, False)", "f32[2, 3]cpu"},
	};
	CHECK_ALL(cases);
}

static void reductions(void **state)
{
	static const Case cases[] = {
		{"x.sum()", "f32[][]cpu"},
		{"x.sum(-1)", "f32[2][1]cpu"},
		{"x.sum(-1, keepdim = True)", "f32[2, 1][1, 1]cpu"},
		{"m.sum(0)", "i64[3][1]cpu"},
		{"h.sum(dtype = torch.float32)", "f32[][]cpu"},
		{"x3.mean([0, -1])", "f32[2][1]cpu"},
		{"x.any()", "b8[][]cpu"},
		{"x.argmax(1)", "i64[2][1]cpu"},
		{"x.max()", "f32[][]cpu"},
		{"x.max(0)", "(f32[3][1]cpu, i64[3][1]cpu)"},
		{"torch.max(x, dim = 1)", "(f32[2][1]cpu, i64[2][1]cpu)"},
		{"torch.max(x, x)", "f32[2, 3][3, 1]cpu"},
		{"x.topk(2, dim = -1)", "(f32[2, 2][2, 1]cpu, i64[2, 2][2, 1]cpu)"},
		{"xt.sort(0)", "(f32[3, 2][1, 3]cpu, i64[3, 2][1, 3]cpu)"},
		{"x.var(1, unbiased = False)", "f32[2][1]cpu"},
		{"x.var(False)", "f32[][]cpu"},
		{"c.norm()", "f32[][]cpu"},
		{"x.sum(5)", "f32 cpu"},
		{"x.sum(what)", "f32 cpu"},
		{"torch.nn.functional.mse_loss(x, x)", "f32[][]cpu"},
		{"torch.nn.functional.mse_loss(x, x, reduction = 'none')", "f32 cpu"},
		{"torch.ops.aten.native_layer_norm.default(x, [3], None, None, 1e-05)",
	     "(f32[2, 3][3, 1]cpu, f32[2, 1][1, 1]cpu, f32[2, 1][1, 1]cpu)"},
	};
	CHECK_ALL(cases);
}

static void products(void **state)
{
	static const Case cases[] = {
		{"torch._C._nn.linear(x, w, b)", "f32[2, 5][5, 1]cpu"},
		{"torch._C._nn.linear(x3, w)", "f32[4, 2, 5][10, 5, 1]cpu"},
		{"x @ xt", "f32[2, 2][2, 1]cpu"},
		{"x3 @ xt", "f32[4, 2, 2][4, 2, 1]cpu"},
		{"torch.matmul(b, w)", "f32[3][1]cpu"},
		{"torch.ops.aten.addmm.default(b, x, xt)", "f32[2, 2][2, 1]cpu"},
		{"torch.conv2d(img, k, None, (2, 2), (1, 1), (1, 1), 1)",
	     "f32[2, 8, 3, 3][72, 9, 3, 1]cpu"},
		{"torch.conv2d(nhwc, k, None, padding = 'same')", "f32[2, 8, 6, 6][288, 1, 48, 8]cpu"},
		{"torch.conv_transpose2d(small, k, None, 2, 0, 1)", "f32[1, 4, 8, 8][256, 64, 8, 1]cpu"},
		{"torch.functional.einsum('ij,kj->ik', x, w)", "f32[2, 5][5, 1]cpu"},
		{"torch.functional.einsum('ij->ji', x)", "f32[3, 2][1, 3]cpu"},
		{"torch.functional.einsum('bij,kj->bki', x3, w)", "f32[4, 5, 2][10, 1, 5]cpu"},
		{"torch.functional.einsum('i...->...', x)", "tensor"},
		{"torch._C._nn.scaled_dot_product_attention(q, q, q)",
	     "f32[2, 4, 8, 16][512, 16, 64, 1]cpu"},
		{"torch._C._nn.scaled_dot_product_attention(q, q, q, dropout_p = 0.5)",
	     "f32[2, 4, 8, 16][512, 128, 16, 1]cpu"},
	};
	CHECK_ALL(cases);
}

static void joins(void **state)
{
	static const Case cases[] = {
		{"torch.cat([x, x])", "f32[4, 3][3, 1]cpu"},
		{"torch.cat((x, h), dim = -1)", "f32[2, 6][6, 1]cpu"},
		{"torch.cat([nhwc, nhwc], 1)", "f32[2, 8, 6, 6][288, 1, 48, 8]cpu"},
		{"torch.cat([nhwc, img], 1)", "f32[2, 8, 6, 6][288, 36, 6, 1]cpu"},
		{"torch.stack([x, x])", "f32[2, 2, 3][6, 3, 1]cpu"},
		{"torch.stack([x, x], dim = -1)", "f32[2, 3, 2][6, 2, 1]cpu"},
		{"torch.cat([x, what])", "tensor cpu"},
		{"torch.nn.functional.embedding(i, w, None)", "f32[5, 3][3, 1]cpu"},
		{"x.index_select(0, i)", "f32[5, 3][3, 1]cpu"},
		{"x.repeat(2, 1, 1)", "f32[2, 2, 3][6, 3, 1]cpu"},
		{"torch._C._nn.pad(x, (1, 1), 'constant', None)", "f32[2, 5][5, 1]cpu"},
		{"torch._C._nn.pad(xt, (0, 0, -1, 0), 'constant', None)", "f32[2, 2][1, 2]cpu"},
		{"torch.nn.functional.max_pool2d(img, 3, 2, 1, 1, ceil_mode = False, return_indices = "
	     "False)",
	     "f32[2, 4, 3, 3][36, 9, 3, 1]cpu"},
		{"torch._C._nn.avg_pool2d(nhwc, 2)", "f32[2, 4, 3, 3][36, 1, 12, 4]cpu"},
		{"torch.nn.functional.adaptive_avg_pool2d(img, (1, None))",
	     "f32[2, 4, 1, 6][24, 6, 6, 1]cpu"},
		{"torch.nn.functional.interpolate(img, scale_factor = 1.5)",
	     "f32[2, 4, 9, 9][324, 81, 9, 1]cpu"},
		{"torch._C._nn.one_hot(i, 7)", "i64[5, 7][7, 1]cpu"},
		{"torch.nonzero(x)", "i64 cpu"},
	};
	CHECK_ALL(cases);
}

static void factories(void **state)
{
	static const Case cases[] = {
		{"torch.zeros(2, 3)", "f32[2, 3][3, 1]cpu"},
		{"torch.zeros((2, s0), dtype = torch.bool)", "b8[2, s0][s0, 1]cpu"},
		{"torch.ones([2], device = device(type='cuda', index=1))", "f32[2][1]cuda:1"},
		{"torch.full((2,), 7)", "i64[2][1]cpu"},
		{"torch.full((), inf)", "f32[][]cpu"},
		{"torch.arange(5)", "i64[5][1]cpu"},
		{"torch.arange(1, 6, 2)", "i64[3][1]cpu"},
		{"torch.arange(0, 1, 0.25)", "f32[4][1]cpu"},
		{"torch.arange(s0, device = device(type='cpu'))", "i64[s0][1]cpu"},
		{"torch.tensor([[1, 2], [3, 4]])", "i64[2, 2][2, 1]cpu"},
		{"torch.tensor([0.5])", "f32[1][1]cpu"},
		{"torch.tensor(3, dtype = torch.float32)", "f32[][]cpu"},
		{"torch.zeros_like(xt)", "f32[3, 2][1, 3]cpu"},
		{"torch.empty_like(xt, memory_format = torch.contiguous_format)", "f32[3, 2][2, 1]cpu"},
		{"gpu.new_zeros(2, 2)", "f32[2, 2][2, 1]cuda:0"},
		{"x.new_full((2, 2), 1, dtype = torch.int64)", "i64[2, 2][2, 1]cpu"},
		{"torch.zeros(*what)", "tensor"},
	};
	CHECK_ALL(cases);
}

static void views(void **state)
{
	static const Case cases[] = {
		{"x.view(3, 2)", "f32[3, 2][2, 1]cpu"},
		{"x.view((-1,))", "f32[6][1]cpu"},
		{"x.view(torch.int32)", "i32[2, 3][3, 1]cpu"},
		{"wide.view(2, 3, 1)", "f32[2, 3, 1][8, 1, 1]cpu"},
		{"xt.reshape(-1)", "f32[6][1]cpu"},
		{"dyn.view(s0, -1)", "f32[s0, 4*s1][4*s1, 1]cpu"},
		{"dyn.flatten(1)", "f32[s0, 4*s1][4*s1, 1]cpu"},
		{"any.reshape(6)", "f32[6]"},
		{"x.t()", "f32[3, 2][1, 3]cpu"},
		{"x.T", "f32[3, 2][1, 3]cpu"},
		{"x3.transpose(0, -1)", "f32[3, 2, 4][1, 3, 6]cpu"},
		{"x3.permute(2, 0, 1)", "f32[3, 4, 2][1, 6, 3]cpu"},
		{"x3.permute([2, 0, 1])", "f32[3, 4, 2][1, 6, 3]cpu"},
		{"x.unsqueeze(1)", "f32[2, 1, 3][3, 3, 1]cpu"},
		{"x.expand(4, -1, -1)", "f32[4, 2, 3][0, 3, 1]cpu"},
		{"x.select(0, 1)", "f32[3][1]cpu"},
		{"x.narrow(1, 0, 2)", "f32[2, 2][3, 1]cpu"},
		{"x.chunk(2)", "(f32[1, 3][3, 1]cpu, f32[1, 3][3, 1]cpu)"},
		{"x.split([1, 2], dim = 1)", "(f32[2, 1][3, 1]cpu, f32[2, 2][3, 1]cpu)"},
		{"x.unbind(0)", "(f32[3][1]cpu, f32[3][1]cpu)"},
		{"torch.functional.meshgrid(b, b, indexing = 'ij')",
	     "(f32[5, 5][1, 0]cpu, f32[5, 5][0, 1]cpu)"},
		{"torch.ops.aten.slice.Tensor(x, 1, 0, 9223372036854775807, 2)", "f32[2, 2][3, 2]cpu"},
		{"torch.ops.aten.select_copy.int(x3, 2, 0)", "f32[4, 2][2, 1]cpu"},
		{"torch.ops.aten.slice_scatter.default(wide, x, 0, 0, 2)", "f32[2, 3][8, 1]cpu"},
		{"x.transpose(0, 9)", "f32 cpu"},
		{"x.view(what, 3)", "f32[?, 3][3, 1]cpu"},
		{"x.permute(0)", "f32 cpu"},
		{"torch.ops.aten.detach.default(wide)", "f32[2, 3][8, 1]cpu"},
	};
	CHECK_ALL(cases);
}

static void indexing(void **state)
{
	static const Case cases[] = {
		{"x[0]", "f32[3][1]cpu"},
		{"x[(slice(None, None, None), 0)]", "f32[2][3]cpu"},
		{"x[(Ellipsis, None, slice(0, 3, 2))]", "f32[2, 1, 2][3, 3, 2]cpu"},
		{"x[i0]", "f32[3][1]cpu"},
		{"x[i]", "f32[5, 3][3, 1]cpu"},
		{"x3[(slice(None, None, None), i)]", "f32[4, 5, 3][15, 3, 1]cpu"},
		{"x3[(i, slice(None, None, None), i)]", "f32[5, 2][2, 1]cpu"},
		{"x[[0, 1, 0]]", "f32[3, 3][3, 1]cpu"},
		{"x[m]", "f32[?][1]cpu"},
		{"x[()]", "f32[2, 3][3, 1]cpu"},
		{"x[what]", "f32 cpu"},
		{"x[(0, 0, 0)]", "f32 cpu"},
		{"q[i]",
	     "f32[5, 4, 8, 16]cpu"}, /* contiguous to fake tensors before 2.13, not to execution */
		{"torch.ops.aten.index.Tensor(x3, [None, i])", "f32[4, 5, 3][15, 3, 1]cpu"},
	};
	CHECK_ALL(cases);
}

static void conversions(void **state)
{
	static const Case cases[] = {
		{"x.to(torch.float64)", "f64[2, 3][3, 1]cpu"},
		{"wide.to(torch.float32)", "f32[2, 3][8, 1]cpu"},
		{"wide.to(torch.float16)", "f16[2, 3][3, 1]cpu"},
		{"wide.to(dtype = torch.float32, copy = True)", "f32[2, 3][3, 1]cpu"},
		{"x.to('cuda:0')", "f32[2, 3][3, 1]cuda:0"},
		{"x.to(device(type='cpu'))", "f32[2, 3][3, 1]cpu"},
		{"x.to(i)", "i64[2, 3][3, 1]cpu"},
		{"x.to(what)", "tensor"},
		{"img.to(memory_format = torch.channels_last)", "f32[2, 4, 6, 6][144, 1, 24, 4]cpu"},
		{"h.float()", "f32[2, 3][3, 1]cpu"},
		{"wide.float()", "f32[2, 3][8, 1]cpu"},
		{"gpu.cpu()", "f32[2, 3][3, 1]cpu"},
		{"i.type_as(x)", "f32[5][1]cpu"},
		{"xt.contiguous()", "f32[3, 2][2, 1]cpu"},
		{"any.contiguous()", "f32[2, 3][3, 1]"},
		{"img.contiguous(memory_format = torch.channels_last)",
	     "f32[2, 4, 6, 6][144, 1, 24, 4]cpu"},
		{"torch.as_tensor(wide)", "f32[2, 3][8, 1]cpu"},
		{"torch.as_tensor([1.5, 2])", "f32[2][1]cpu"},
	};
	CHECK_ALL(cases);
}

static void numbers(void **state)
{
	World *w = *state;
	static const Case cases[] = {
		{"dyn.shape", "(Sym(s0), Sym(4), Sym(s1))"},
		{"dyn.size(-1)", "Sym(s1)"},
		{"dyn.numel()", "Sym(4*s0*s1)"},
		{"s0 * 2", "Sym(2*s0)"},
		{"s0 // 2", "Sym((s0//2))"},
		{"torch.ops.aten.sym_size.int(dyn, 0)", "Sym(s0)"},
		{"x.dim()", "Sym(2)"},
	};
	CHECK_ALL(cases);
	check(w, INPUTS, "        n = s0 + 1\n        v = 2 * n\n        r = x.new_zeros(v - 2, 3)\n",
	      "", "r", "f32[2*s0, 3][3, 1]cpu");
	check(w, INPUTS,
	      "        size = dyn.size()\n        a = size[0]\n        r = torch.ones(a, 2)\n", "", "r",
	      "f32[s0, 2][2, 1]cpu");
	check(w, INPUTS, "        size = x3.size()\n        r = dyn.new_zeros(size)\n", "", "r",
	      "f32[4, 2, 3][6, 3, 1]cpu");
	/* an augmented assignment on a number is no write */
	check(w, INPUTS, "        n = s0 + 1\n        n += 2;  iadd = n\n        r = torch.zeros(n)\n",
	      "", "r", "f32[s0 + 3][1]cpu");
}

static void members(void **state)
{
	World *w = *state;
	check(w, INPUTS, "        p = x.chunk(2)\n        r = p[1]\n", "", "r", "f32[1, 3][3, 1]cpu");
	check(w, INPUTS, "        p = x.max(0)\n        r = p[-1]\n", "", "r", "i64[3][1]cpu");
	check(w, INPUTS,
	      "        p = x.unbind(1)\n        q_1 = p[slice(1, None, None)]\n        r = q_1[0]\n",
	      "", "r", "f32[2][3]cpu");
	check(w, INPUTS, "        p = x.unbind(1)\n        r = p[7]\n", "", "r", "?");
	check(w, INPUTS, "        p = dyn.unbind(0)\n        r = p[0]\n", "", "r", "tensor");
	check(w, INPUTS, "        p = x.unbind(0)\n        r = torch.stack(p, 1)\n", "", "r",
	      "f32[3, 2][2, 1]cpu");
}

/* What is not known gives nothing that is: no guess. */
static void unknown(void **state)
{
	static const Case cases[] = {
		{"what + 1", "?"},
		{"what @ x", "f32 cpu"},
		{"torch.relu(what)", "tensor"},
		{"what[0]", "?"},
		{"torch.ops.mylib.foo(x)", "?"},
		{"x.no_such_method()", "?"},
		{"x.sum(0, False, 1, 2, 3, 4, 5)", "tensor"},
		{"x.add(*what)", "tensor"},
	};
	CHECK_ALL(cases);
}

static void printed(void **state)
{
	World *w = *state;
	/* a printed type goes before a computed one; a computed one fills in what an older version
	 * leaves out */
	check(w, INPUTS, "        r: \"f32[2, 3][3, 1]cpu\" = torch.ops.mylib.foo(x)\n", "", "r",
	      "f32[2, 3][3, 1]cpu");
	check(w, INPUTS, "        r: \"f32[3, 2]\" = x.t()\n", "", "r", "f32[3, 2][1, 3]cpu");
	check(w, INPUTS, "        r: \"f32[3, 7]\" = x.t()\n", "", "r", "f32[3, 7]cpu");
}

/* Dynamo prints every name of an object as it is at the end of the trace. */
static void layout_writes(void **state)
{
	World *w = *state;
	static const char *const in = "y: \"f32[4, 3][1, 4]cpu\", z: \"f32[1, 6][6, 1]cpu\"";
	static const char *const t_ = "        a = y.view(12)\n        b = y.reshape(2, 6)\n"
								  "        t_: \"f32[4, 3][1, 4]cpu\" = y.t_()\n        d = "
								  "y.reshape(2, 6)\n        e = t_ + 1\n";
	check(w, in, t_, "", "y", "f32[3, 4][4, 1]cpu");
	check(w, in, t_, "", "b", "f32[2, 6][6, 1]cpu");
	check(w, in, t_, "", "t_", "f32[4, 3][1, 4]cpu");
	check(w, in, t_, "", "e", "f32[4, 3][1, 4]cpu");
	/* what squeeze_ took away is not shown: sizes before it are not known */
	static const char *const squeeze =
		"        s: \"f32[1, 6][6, 1]cpu\" = z.squeeze_(0)\n        r = z + 1\n";
	check(w, in, squeeze, "", "z", "f32 cpu");
	check(w, in, squeeze, "", "r", "f32[1, 6][6, 1]cpu");
	/* make_fx prints each name as it was when it was made: the annotation of the write differs */
	check(w, "y: \"f32[3, 4][4, 1]cpu\"",
	      "        u: \"f32[1, 3, 4][12, 4, 1]cpu\" = y.unsqueeze_(0)\n", "", "y",
	      "f32[3, 4][4, 1]cpu");
	check(w, "y: \"f32[3, 4][4, 1]cpu\"",
	      "        u: \"f32[1, 3, 4][12, 4, 1]cpu\" = y.unsqueeze_(0)\n        r = y * 2\n", "",
	      "r", "f32[1, 3, 4][12, 4, 1]cpu");
	/* an object made in the graph: computed forward, its views keep theirs */
	check(w, INPUTS,
	      "        a = x + 1\n        v = a.view(6)\n        t = a.t_()\n        r = a.sum(0)\n",
	      "", "r", "f32[2][1]cpu");
	check(w, INPUTS, "        a = x + 1\n        o = torch_Tensor_set_(a, x3)\n        r = a * 2\n",
	      "", "r", "f32[4, 2, 3][6, 3, 1]cpu");
}

static void regions(void **state)
{
	World *w = *state;
	static const char *const cast =
		"        on = torch.amp.autocast_mode._enter_autocast('cpu', torch.bfloat16, True, None)\n"
		"        a = torch._C._nn.linear(x, w)\n        b_1 = a + x\n"
		"        off = torch.amp.autocast_mode._exit_autocast(on)\n        d = "
		"torch._C._nn.linear(x, w)\n";
	check(w, INPUTS, cast, "", "a", "bf16[2, 5][5, 1]cpu");
	check(w, INPUTS, cast, "", "d", "f32[2, 5][5, 1]cpu");
	/* on an accelerator others of its functions go back to float32 */
	static const char *const cuda =
		"        on = torch.amp.autocast_mode._enter_autocast('cuda', torch.float16, True, None)\n"
		"        a = gpu @ gpu.t()\n        b_1 = a.softmax(-1)\n        d = x @ xt\n"
		"        off = torch.amp.autocast_mode._exit_autocast(on)\n";
	check(w, INPUTS, cuda, "", "a", "f16[2, 2][2, 1]cuda:0");
	check(w, INPUTS, cuda, "", "b_1", "?[2, 2][2, 1]cuda:0");
	check(w, INPUTS, cuda, "", "d", "f32[2, 2][2, 1]cpu");
	static const char *const vmap =
		"        n_1 = torch._functorch.predispatch._vmap_increment_nesting(2, 'error')\n"
		"        a: \"f32[3][1]cpu\" = torch._functorch.predispatch._add_batch_dim(x, 0, 1)\n"
		"        b_1: \"f32[3][1]cpu\" = a + 1\n"
		"        n_2 = torch._functorch.predispatch._vmap_decrement_nesting()\n        d = x + 1\n";
	check(w, INPUTS, vmap, "", "b_1", "f32 cpu");
	check(w, INPUTS, vmap, "", "d", "f32[2, 3][3, 1]cpu");
}

static void bodies(void **state)
{
	World *w = *state;
	static const char *const after =
		"\n    class wrap_body_0(torch.nn.Module):\n        def forward(self, l_x_):\n"
		"            t = l_x_.t()\n            u = l_x_.sum(0)\n            return (t, u)\n";
	static const char *const call =
		"        wrap_body_0 = self.wrap_body_0\n"
		"        p = torch.ops.higher_order.tag_activation_checkpoint(wrap_body_0, x, "
		"use_reentrant = False)\n"
		"        r = p[0]\n";
	check(w, INPUTS, call, after, "p", "(f32[3, 2][1, 3]cpu, f32[3][1]cpu)");
	check(w, INPUTS, call, after, "r", "f32[3, 2][1, 3]cpu");
	/* called with other operands: inside, only what the calls have in common */
	static const char *const twice =
		"        wrap_body_0 = self.wrap_body_0\n"
		"        p = torch.ops.higher_order.tag_activation_checkpoint(wrap_body_0, x)\n"
		"        q_1 = torch.ops.higher_order.tag_activation_checkpoint(wrap_body_0, wide)\n       "
		" r = q_1[1]\n";
	check(w, INPUTS, twice, after, "p", "(f32[3, 2][1, 3]cpu, f32[3][1]cpu)");
	check(w, INPUTS, twice, after, "r", "f32[3][1]cpu");
	static const char *const branches =
		"\n    class cond_true_0(torch.nn.Module):\n        def forward(self, a_):\n            s "
		"= a_.t()\n"
		"            return (s,)\n\n    class cond_false_0(torch.nn.Module):\n        def "
		"forward(self, a_):\n"
		"            s = a_.t().contiguous()\n            return (s,)\n";
	static const char *const cond =
		"        cond_true_0 = self.cond_true_0\n        cond_false_0 = self.cond_false_0\n"
		"        c_1 = torch.ops.higher_order.cond(m, cond_true_0, cond_false_0, [x])\n        r = "
		"c_1[0];  c_1 = None\n";
	check(w, INPUTS, cond, branches, "r",
	      "f32[3, 2]cpu"); /* one branch returns a view, the other a copy */
}

/* Bodies that hold bodies, operands that do not fit, a body that is called by none. */
static void bodies_odd(void **state)
{
	World *w = *state;
	static const char *const after =
		"\n    class body_0(torch.nn.Module):\n        def forward(self, a, b):\n"
		"            t = a + 1\n            return (t,)\n"
		"\n    class lonely_0(torch.nn.Module):\n        def forward(self, a):\n"
		"            return (a,)\n";
	check(w, INPUTS,
	      "        body_0 = self.body_0\n        p = torch.ops.higher_order.wrap(body_0, x)\n      "
	      "  r = p[0]\n",
	      after, "r", "?");
	Run r;
	run_text(w, &r, text_of(w, INPUTS, "        y = x + 1\n", after));
	for (uint32_t i = 1; i < r.program.graphs.n; i++)
		assert_non_null(r.node_types[i]);
	run_free(&r);
}

/* A line can ask for tens of thousands of members; a graph only gets to keep so many. */
static void many_members(void **state)
{
	World *w = *state;
	Buf b = {.a = &w->a};
	for (int i = 0; i < 200; i++)
		buf_printf(&b, "        c%d = big.chunk(65536);  c%d = None\n", i, i);
	buf_char(&b, '\0');
	Run r;
	run_text(w, &r, text_of(w, "big: \"f32[65536, 2][2, 1]cpu\"", buf_str(&b).p, ""));
	assert_true(r.node_types[1]->elems.n <= 65536 + 64 * 256);
	assert_true(r.node_types[1]->elems.n >= 65536);
	run_free(&r);
}

static void deep_arithmetic(void **state)
{
	World *w = *state;
	Buf b = {.a = &w->a};
	buf_add(&b, S("        r = x.new_zeros("));
	for (int i = 0; i < 100; i++)
		buf_char(&b, '(');
	buf_add(&b, S("s0"));
	for (int i = 0; i < 100; i++)
		buf_add(&b, S(" + 1)"));
	buf_add(&b, S(", 2)\n"));
	buf_char(&b, '\0');
	check(w, INPUTS, buf_str(&b).p, "", "r", "f32[s0 + 100, 2][2, 1]cpu");
}

/* ---- the table ---- */

static void check_fault(World *w, const char *row, const char *want)
{
	Names names;
	Shapes s;
	Buf errors = {.a = &w->a};
	names_init(&names, &w->a);
	Str text = str_printf(&w->a, "family\tname\tparameters\tshape\tlayout\tdtype\n%s\n", row);
	assert_false(shapes_load(&s, &w->a, &names, S("t.tsv"), text, &errors));
	if (!str_has(buf_str(&errors), str_from_c(want)))
		fail_msg("%s: '" STR_FMT "'", row, STR_ARG(buf_str(&errors)));
}

static void table_faults(void **state)
{
	World *w = *state;
	check_fault(w, "*\tfoo\tinput\tself\titerator", "t.tsv:2:1: not six columns in");
	check_fault(w, "*\tfoo\tinput\tselv\titerator\tsame",
	            "t.tsv:2:13: unknown shape rule 'selv' (did you mean 'self'?)");
	check_fault(w, "*\tfoo\tinput\tself\titerater\tsame",
	            "unknown layout rule 'iterater' (did you mean 'iterator'?)");
	check_fault(w, "*\tfoo\tinput\tself\titerator\tsames",
	            "unknown dtype rule 'sames' (did you mean 'same'?)");
	check_fault(w, "*\tfoo\tinputs\tself\titerator\tsame",
	            "unknown role 'inputs' (did you mean 'input'?)");
	check_fault(w, "metod\tfoo\tinput\tself\titerator\tsame",
	            "unknown family 'metod' (did you mean 'method'?)");
	check_fault(w, "*\tfoo\tinput:z\tself\titerator\tsame", "unknown condition 'z'");
	check_fault(w, "*\tfoo\tinput\tself,self\titerator\tsame",
	            "do not have the same number of words");
	check_fault(w, "*\tfoo\tinput\tself\titerator,iterator\tsame",
	            "do not have the same number of words");
}

/* Every row of the table can be found under the name it stands for, and the first one of a name is
 * found first. */
static void table_names(void **state)
{
	World *w = *state;
	const Shapes *s = w->tables.shapes;
	assert_true(s->rows.n > 500);
	assert_non_null(shapes_find(s, CALLEE_METHOD, S("view")));
	assert_ptr_equal(shapes_find(s, CALLEE_FUNCTION, S("torch.relu")),
	                 shapes_find(s, CALLEE_FUNCTION, S("torch.ops.aten.relu.default")));
	assert_ptr_not_equal(shapes_find(s, CALLEE_FUNCTION, S("torch.softmax")),
	                     shapes_find(s, CALLEE_FUNCTION, S("torch.nn.functional.softmax")));
	assert_ptr_equal(shapes_find(s, CALLEE_FUNCTION, S("torch._C._nn.gelu")),
	                 shapes_find(s, CALLEE_METHOD, S("gelu")));
	assert_null(shapes_find(s, CALLEE_FUNCTION, S("torch.masked._ops.sum")));
	assert_null(shapes_find(s, CALLEE_FUNCTION, S("torch.ops.mylib.relu")));
	assert_null(shapes_find(s, CALLEE_FUNCTION, S("relu")));
	assert_null(shapes_find(s, CALLEE_FUNCTION, S("")));
	assert_ptr_equal(shapes_find(s, CALLEE_FUNCTION, S("torch_Tensor_view")),
	                 shapes_find(s, CALLEE_METHOD, S("view")));
	assert_ptr_equal(shapes_find(s, CALLEE_FUNCTION, S("torch__dynamo_utils_wrapped_getitem_1")),
	                 shapes_find(s, CALLEE_FUNCTION, S("torch__dynamo_utils_wrapped_getitem")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elementwise),   cmocka_unit_test(reductions),
		cmocka_unit_test(products),      cmocka_unit_test(joins),
		cmocka_unit_test(factories),     cmocka_unit_test(views),
		cmocka_unit_test(indexing),      cmocka_unit_test(conversions),
		cmocka_unit_test(numbers),       cmocka_unit_test(members),
		cmocka_unit_test(unknown),       cmocka_unit_test(printed),
		cmocka_unit_test(layout_writes), cmocka_unit_test(regions),
		cmocka_unit_test(bodies),        cmocka_unit_test(bodies_odd),
		cmocka_unit_test(many_members),  cmocka_unit_test(deep_arithmetic),
		cmocka_unit_test(table_faults),  cmocka_unit_test(table_names),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, world_up, world_down);
}
