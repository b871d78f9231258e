/* SPDX-License-Identifier: MIT
 * What AOTAutograd does not keep: for each cause a program that has its condition and one that lacks it by little. Each is a
 * function of two graphs with a break between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "run.h"

enum { MAX_PORTS = 8 };

/* A graph: "x: f32[4][1]cpu; y: f32[4][1]cpu", its statements, what it returns. */
typedef struct TestGraph {
	const char *inputs, *body, *outputs;
} TestGraph;

typedef struct TwoGraphs {
	const char *name;
	unsigned torch;       /* 206: of --torch; 0 not given */
	TestGraph first, second;
	const char *calls;    /* arguments of the second graph, "a b"; of a second call behind ';'. NULL: by the names of its inputs.
	                       * "numpy:h" goes by way of an array. */
	const char *rule, *variant; /* that fires as a warning or an error; NULL: none of GL105, GL106 does, no copy is traced */
	const char *graph;    /* that it is about: "2" or "5" */
} TwoGraphs;

#define X4 "x: f32[4][1]cpu"
#define X44 "x: f32[4, 4][4, 1]cpu"

/* An initializer: a constant of C11 is no other object. */
#define DOUBLED {X44, "g: \"f32[4, 4][4, 1]cpu\" = l_x_ * 2;  l_x_ = None\n" \
	"t: \"f32[2, 4][8, 1]cpu\" = g[slice(None, None, 2)]", "g t"}
#define BLOCKS {"x: f32[5, 6][6, 1]cpu", "b: \"f32[5, 6][6, 1]cpu\" = l_x_ * 2;  l_x_ = None\n" \
	"left: \"f32[5, 3][6, 1]cpu\" = b[(slice(None, None, None), slice(None, 3, None))]\n" \
	"inner: \"f32[3, 4][6, 1]cpu\" = b[(slice(1, -1, None), slice(1, -1, None))];  b = None", "left inner"}
#define ROWS {"x: f32[6, 3][3, 1]cpu", "b: \"f32[6, 3][3, 1]cpu\" = l_x_ * 2;  l_x_ = None\n" \
	"a: \"f32[5, 3][3, 1]cpu\" = b[slice(1, None, None)]\n" \
	"c: \"f32[2, 3][3, 1]cpu\" = b[slice(2, 4, None)];  b = None", "a c"}

static const TwoGraphs programs[] = {
	{"dropout leaves the graph", 206,
	 {X4, "y: \"f32[4][1]cpu\" = torch.nn.functional.dropout(l_x_, 0.1, False, False);  l_x_ = None", "y"},
	 {"x: f32[4][1]cpu; y: f32[4][1]cpu", "add_: \"f32[4][1]cpu\" = l_x_.add_(1);  l_x_ = add_ = None\n"
	  "m: \"f32[4][1]cpu\" = l_y_ * 2;  l_y_ = None", "m"}, NULL, "GL101", "traced-yes", "2"},
	{"dropout2d stays the operand", 206,
	 {"x: f32[1, 2, 2, 2][8, 4, 2, 1]cpu", "y: \"f32[1, 2, 2, 2][8, 4, 2, 1]cpu\" = torch.nn.functional.dropout2d(l_x_, 0.1, False, False);  l_x_ = None", "y"},
	 {"x: f32[1, 2, 2, 2][8, 4, 2, 1]cpu; y: f32[1, 2, 2, 2][8, 4, 2, 1]cpu",
	  "add_: \"f32[1, 2, 2, 2][8, 4, 2, 1]cpu\" = l_x_.add_(1);  l_x_ = add_ = None\n"
	  "m: \"f32[1, 2, 2, 2][8, 4, 2, 1]cpu\" = l_y_ * 2;  l_y_ = None", "m"}, NULL, NULL, NULL, NULL},
	{"dropout, kept since 2.14", 215,
	 {X4, "y: \"f32[4][1]cpu\" = torch.nn.functional.dropout(l_x_, 0.1, False, False);  l_x_ = None", "y"},
	 {"x: f32[4][1]cpu; y: f32[4][1]cpu", "add_: \"f32[4][1]cpu\" = l_x_.add_(1);  l_x_ = add_ = None\n"
	  "m: \"f32[4][1]cpu\" = l_y_ * 2;  l_y_ = None", "m"}, NULL, NULL, NULL, NULL},
	{"a detached tensor and a view", 0,
	 {"x: f32[8][1]cpu", "v: \"f32[8][1]cpu\" = l_x_ * 2;  l_x_ = None\nd: \"f32[8][1]cpu\" = v.detach()\n"
	  "q: \"f32[4][2]cpu\" = v[slice(1, None, 2)];  v = None", "d q"},
	 {"d: f32[8][1]cpu; q: f32[4][2]cpu", "add_: \"f32[8][1]cpu\" = l_d_.add_(1);  l_d_ = add_ = None\n"
	  "m: \"f32[4][1]cpu\" = l_q_ + 1;  l_q_ = None", "m"}, NULL, "GL105", "bases", "5"},
	{"a view in its place", 0,
	 {"x: f32[8][1]cpu", "v: \"f32[8][1]cpu\" = l_x_ * 2;  l_x_ = None\nd: \"f32[8][1]cpu\" = v.view(8)\n"
	  "q: \"f32[4][2]cpu\" = v[slice(1, None, 2)];  v = None", "d q"},
	 {"d: f32[8][1]cpu; q: f32[4][2]cpu", "add_: \"f32[8][1]cpu\" = l_d_.add_(1);  l_d_ = add_ = None\n"
	  "m: \"f32[4][1]cpu\" = l_q_ + 1;  l_q_ = None", "m"}, NULL, NULL, NULL, NULL},
	{"other dtypes", 0,
	 {X4, "f: \"f32[4][1]cpu\" = l_x_ * 4;  l_x_ = None\ni: \"i32[4][1]cpu\" = f.view(torch.int32)", "f i"},
	 {"f: f32[4][1]cpu; i: i32[4][1]cpu", "w: \"i32[4][1]cpu\" = l_i_.bitwise_and_(7);  l_i_ = w = None\n"
	  "m: \"f32[4][1]cpu\" = l_f_ + 1;  l_f_ = None", "m"}, NULL, "GL105", "bases", "5"},
	{"two members written, with gradient", 0, DOUBLED,
	 {"g: f32[4, 4][4, 1]cpu; t: f32[2, 4][8, 1]cpu", "mul_: \"f32[2, 4][8, 1]cpu\" = l_t_.mul_(0.5);  l_t_ = mul_ = None\n"
	  "add_: \"f32[4, 4][4, 1]cpu\" = l_g_.add_(1);  add_ = None\nm: \"f32[4, 4][4, 1]cpu\" = l_g_ * 3;  l_g_ = None", "m"},
	 NULL, "GL105", "tangents", "5"},
	{"one member written", 0, DOUBLED,
	 {"g: f32[4, 4][4, 1]cpu; t: f32[2, 4][8, 1]cpu", "mul_: \"f32[2, 4][8, 1]cpu\" = l_t_.mul_(0.5);  l_t_ = mul_ = None\n"
	  "m: \"f32[4, 4][4, 1]cpu\" = l_g_ * 3;  l_g_ = None", "m"}, NULL, NULL, NULL, NULL},
	{"written under no_grad", 0, DOUBLED,
	 {"g: f32[4, 4][4, 1]cpu; t: f32[2, 4][8, 1]cpu", "off = torch._C._set_grad_enabled(False);  off = None\n"
	  "add_: \"f32[2, 4][8, 1]cpu\" = l_t_.add_(1);  l_t_ = add_ = None\non = torch._C._set_grad_enabled(True);  on = None\n"
	  "m: \"f32[4, 4][4, 1]cpu\" = l_g_ * 3;  l_g_ = None", "m"}, NULL, "GL105", "no-grad-write", "5"},
	{"a value with gradient into a group without", 0,
	 {"p: f32[4][1]cpu; x: f32[4, 4][4, 1]cpu", "d: \"f32[4, 4][4, 1]cpu\" = l_x_.detach();  l_x_ = None\n"
	  "g: \"f32[4, 4][4, 1]cpu\" = d * 2;  d = None\nh: \"f32[4][1]cpu\" = l_p_.tanh();  l_p_ = None", "g h"},
	 {"g: f32[4, 4][4, 1]cpu; t: f32[2, 4][8, 1]cpu; h: f32[4][1]cpu",
	  "add_: \"f32[2, 4][8, 1]cpu\" = l_t_.add_(l_h_);  l_t_ = l_h_ = add_ = None\n"
	  "m: \"f32[4, 4][4, 1]cpu\" = l_g_ * 3;  l_g_ = None", "m"}, "g view:g h", "GL105", "lost-gradient", "5"},
	{"the view made within the graph", 0,
	 {"p: f32[4][1]cpu; x: f32[4, 4][4, 1]cpu", "d: \"f32[4, 4][4, 1]cpu\" = l_x_.detach();  l_x_ = None\n"
	  "g: \"f32[4, 4][4, 1]cpu\" = d * 2;  d = None\nh: \"f32[4][1]cpu\" = l_p_.tanh();  l_p_ = None", "g h"},
	 {"g: f32[4, 4][4, 1]cpu; h: f32[4][1]cpu", "t: \"f32[2, 4][8, 1]cpu\" = l_g_[slice(None, None, 2)]\n"
	  "add_: \"f32[2, 4][8, 1]cpu\" = t.add_(l_h_);  t = l_h_ = add_ = None\n"
	  "m: \"f32[4, 4][4, 1]cpu\" = l_g_ * 3;  l_g_ = None", "m"}, NULL, NULL, NULL, NULL},
	{"a view of a member", 0, ROWS,
	 {"a: f32[5, 3][3, 1]cpu; c: f32[2, 3][3, 1]cpu", "add_: \"f32[5, 3][3, 1]cpu\" = l_a_.add_(1);  l_a_ = add_ = None\n"
	  "v: \"f32[1, 3][3, 1]cpu\" = l_c_[slice(None, 1, None)];  l_c_ = None", "v"}, NULL, "GL105", "wrong-view", "5"},
	{"no view of a member", 0, ROWS,
	 {"a: f32[5, 3][3, 1]cpu; c: f32[2, 3][3, 1]cpu", "add_: \"f32[5, 3][3, 1]cpu\" = l_a_.add_(1);  l_a_ = add_ = None\n"
	  "v: \"f32[2, 3][3, 1]cpu\" = l_c_ + 1;  l_c_ = None", "v"}, NULL, NULL, NULL, NULL},
	{"a member handed back at the base's place", 206, ROWS,
	 {"a: f32[5, 3][3, 1]cpu; c: f32[2, 3][3, 1]cpu", "a: \"f32[5, 3][3, 1]cpu\" = l_a_.add_(1);  l_a_ = None\n"
	  "s: \"f32[][]cpu\" = l_c_.sum();  l_c_ = None", "a s"}, NULL, "GL105", "base", "5"},
	{"a member handed back, as 2.13 has it", 213, ROWS,
	 {"a: f32[5, 3][3, 1]cpu; c: f32[2, 3][3, 1]cpu", "a: \"f32[5, 3][3, 1]cpu\" = l_a_.add_(1);  l_a_ = None\n"
	  "s: \"f32[][]cpu\" = l_c_.sum();  l_c_ = None", "a s"}, NULL, NULL, NULL, NULL},
	{"the second member handed back", 206, ROWS,
	 {"a: f32[5, 3][3, 1]cpu; c: f32[2, 3][3, 1]cpu", "add_: \"f32[5, 3][3, 1]cpu\" = l_a_.add_(1);  l_a_ = add_ = None",
	  "l_c_"}, NULL, NULL, NULL, NULL},
	{"blocks taken as apart", 0, BLOCKS,
	 {"left: f32[5, 3][6, 1]cpu; inner: f32[3, 4][6, 1]cpu",
	  "clamp_: \"f32[5, 3][6, 1]cpu\" = l_left_.clamp_(min = 0.0);  l_left_ = clamp_ = None\n"
	  "m: \"f32[3, 4][4, 1]cpu\" = l_inner_ + 1;  l_inner_ = None", "m"}, NULL, "GL105", "apart", "5"},
	{"blocks that start in one row", 0,
	 {"x: f32[5, 6][6, 1]cpu", "b: \"f32[5, 6][6, 1]cpu\" = l_x_ * 2;  l_x_ = None\n"
	  "left: \"f32[5, 3][6, 1]cpu\" = b[(slice(None, None, None), slice(None, 3, None))]\n"
	  "inner: \"f32[5, 3][6, 1]cpu\" = b[(slice(None, None, None), slice(2, 5, None))];  b = None", "left inner"},
	 {"left: f32[5, 3][6, 1]cpu; inner: f32[5, 3][6, 1]cpu",
	  "clamp_: \"f32[5, 3][6, 1]cpu\" = l_left_.clamp_(min = 0.0);  l_left_ = clamp_ = None\n"
	  "m: \"f32[5, 3][3, 1]cpu\" = l_inner_ + 1;  l_inner_ = None", "m"}, NULL, NULL, NULL, NULL},
	{"one memory by way of an array", 0,
	 {X4, "h: \"f32[4][1]cpu\" = l_x_.cos();  l_x_ = None", "h"},
	 {"h: f32[4][1]cpu; arr: f32[4][1]cpu", "zero_: \"f32[4][1]cpu\" = l_h_.zero_();  l_h_ = zero_ = None\n"
	  "m: \"f32[4][1]cpu\" = l_arr_ + 1;  l_arr_ = None", "m"}, "h numpy:h", "GL105", "numpy", "5"},
	{"an array of which nothing is written", 0,
	 {X4, "h: \"f32[4][1]cpu\" = l_x_.cos();  l_x_ = None", "h"},
	 {"h: f32[4][1]cpu; arr: f32[4][1]cpu", "s: \"f32[4][1]cpu\" = l_h_.sin();  l_h_ = None\n"
	  "m: \"f32[4][1]cpu\" = l_arr_ + s;  l_arr_ = s = None", "m"}, "h numpy:h", NULL, NULL, NULL},
	{"called again with inputs that meet", 0,
	 {"x: f32[4, 4][4, 1]cpu", "b: \"f32[4, 4][4, 1]cpu\" = l_x_ * 2;  l_x_ = None\n"
	  "p: \"f32[2, 4][4, 1]cpu\" = b[slice(0, 2, None)]\nq: \"f32[2, 4][4, 1]cpu\" = b[slice(2, 4, None)]\n"
	  "r: \"f32[2, 4][4, 1]cpu\" = b[slice(1, 3, None)];  b = None", "p q r"},
	 {"u: f32[2, 4][4, 1]cpu; w: f32[2, 4][4, 1]cpu", "add_: \"f32[2, 4][4, 1]cpu\" = l_u_.add_(1);  l_u_ = add_ = None\n"
	  "m: \"f32[2, 4][4, 1]cpu\" = l_w_ * 2;  l_w_ = None", "m"}, "p q;p r", "GL105", "reuse", "5"},
	{"called again with inputs apart", 0,
	 {"x: f32[4, 4][4, 1]cpu", "b: \"f32[4, 4][4, 1]cpu\" = l_x_ * 2;  l_x_ = None\n"
	  "p: \"f32[2, 4][4, 1]cpu\" = b[slice(0, 2, None)]\nq: \"f32[2, 4][4, 1]cpu\" = b[slice(2, 4, None)];  b = None", "p q"},
	 {"u: f32[2, 4][4, 1]cpu; w: f32[2, 4][4, 1]cpu", "add_: \"f32[2, 4][4, 1]cpu\" = l_u_.add_(1);  l_u_ = add_ = None\n"
	  "m: \"f32[2, 4][4, 1]cpu\" = l_w_ * 2;  l_w_ = None", "m"}, "p q;q p", NULL, NULL, NULL},
	{"a saved result is written and dropped", 0,
	 {X4, "g: \"f32[4][1]cpu\" = torch.sigmoid(l_x_);  l_x_ = None\nc: \"f32[4][1]cpu\" = g.clamp_(min = 0.1);  c = None", "g"},
	 {"x: f32[4][1]cpu; g: f32[4][1]cpu", "m: \"f32[4][1]cpu\" = l_x_ * 2;  l_x_ = None\n"
	  "b: \"b8[4][1]cpu\" = l_g_ > 0.5;  l_g_ = None", "m b"}, NULL, "GL106", "saved", "2"},
	{"a product needs no result", 0,
	 {X4, "g: \"f32[4][1]cpu\" = l_x_ * 0.5;  l_x_ = None\nc: \"f32[4][1]cpu\" = g.clamp_(min = 0.1);  c = None", "g"},
	 {"x: f32[4][1]cpu; g: f32[4][1]cpu", "m: \"f32[4][1]cpu\" = l_x_ * 2;  l_x_ = None\n"
	  "b: \"b8[4][1]cpu\" = l_g_ > 0.5;  l_g_ = None", "m b"}, NULL, NULL, NULL, NULL},
	{"a value kept for a number is written later", 0,
	 {X4, "h: \"f32[4][1]cpu\" = l_x_ * 2;  l_x_ = None\nn: \"f32[][]cpu\" = h.norm()", "h n"},
	 {"h: f32[4][1]cpu", "mul_: \"f32[4][1]cpu\" = l_h_.mul_(0.5);  mul_ = None\nm: \"f32[4][1]cpu\" = l_h_.sin();  l_h_ = None", "m"},
	 NULL, "GL106", "saved-later", "2"},
	{"a sum keeps nothing", 0,
	 {X4, "h: \"f32[4][1]cpu\" = l_x_ * 2;  l_x_ = None\nn: \"f32[][]cpu\" = h.sum()", "h n"},
	 {"h: f32[4][1]cpu", "mul_: \"f32[4][1]cpu\" = l_h_.mul_(0.5);  mul_ = None\nm: \"f32[4][1]cpu\" = l_h_.sin();  l_h_ = None", "m"},
	 NULL, NULL, NULL, NULL},
	{"the old value of an input", 213,
	 {"p: f32[4][1]cpu", "t: \"f32[4][1]cpu\" = l_p_ * 2;  l_p_ = None", "t"},
	 {"t: f32[4][1]cpu; p: f32[4][1]cpu", "mul_: \"f32[4][1]cpu\" = l_t_.mul_(l_p_);  l_p_ = mul_ = None\n"
	  "m: \"f32[4][1]cpu\" = l_t_ * 3;  l_t_ = None", "m"}, NULL, "GL106", "saved-input", "5"},
	{"the old value of an input, as 2.15 has it", 215,
	 {"p: f32[4][1]cpu", "t: \"f32[4][1]cpu\" = l_p_ * 2;  l_p_ = None", "t"},
	 {"t: f32[4][1]cpu; p: f32[4][1]cpu", "mul_: \"f32[4][1]cpu\" = l_t_.mul_(l_p_);  l_p_ = mul_ = None\n"
	  "m: \"f32[4][1]cpu\" = l_t_ * 3;  l_t_ = None", "m"}, NULL, NULL, NULL, NULL},
	{"added, not multiplied", 213,
	 {"p: f32[4][1]cpu", "t: \"f32[4][1]cpu\" = l_p_ * 2;  l_p_ = None", "t"},
	 {"t: f32[4][1]cpu; p: f32[4][1]cpu", "add_: \"f32[4][1]cpu\" = l_t_.add_(l_p_);  l_p_ = add_ = None\n"
	  "m: \"f32[4][1]cpu\" = l_t_ * 3;  l_t_ = None", "m"}, NULL, NULL, NULL, NULL},
	{"a view out of a graph without gradient", 215,
	 {"p: f32[4, 4][4, 1]cpu", "d: \"f32[4, 4][4, 1]cpu\" = l_p_.detach();  l_p_ = None\ng: \"f32[4, 4][4, 1]cpu\" = d * 2;  d = None\n"
	  "t: \"f32[2, 4][8, 1]cpu\" = g[slice(None, None, 2)]", "g t"},
	 {"t: f32[2, 4][8, 1]cpu; p: f32[4, 4][4, 1]cpu", "r: \"f32[4][1]cpu\" = l_p_[0];  l_p_ = None\n"
	  "add_: \"f32[2, 4][8, 1]cpu\" = l_t_.add_(r);  r = add_ = None\nm: \"f32[2, 4][4, 1]cpu\" = l_t_ * 3;  l_t_ = None", "m"},
	 NULL, "GL106", "no-grad-view", "2"},
	{"... written with a constant", 215,
	 {"p: f32[4, 4][4, 1]cpu", "d: \"f32[4, 4][4, 1]cpu\" = l_p_.detach();  l_p_ = None\ng: \"f32[4, 4][4, 1]cpu\" = d * 2;  d = None\n"
	  "t: \"f32[2, 4][8, 1]cpu\" = g[slice(None, None, 2)]", "g t"},
	 {"t: f32[2, 4][8, 1]cpu; p: f32[4, 4][4, 1]cpu", "r: \"f32[4][1]cpu\" = l_p_[0];  l_p_ = None\n"
	  "fill_: \"f32[2, 4][8, 1]cpu\" = l_t_.fill_(1);  fill_ = None\nm: \"f32[2, 4][4, 1]cpu\" = l_t_ * r;  l_t_ = r = None", "m"},
	 NULL, NULL, NULL, NULL},
	{"an input that overlaps itself", 0,
	 {X4, "e: \"f32[3, 4][0, 1]cpu\" = l_x_.expand(3, 4);  l_x_ = None", "e"},
	 {"e: f32[3, 4][0, 1]cpu", "r: \"f32[4][1]cpu\" = l_e_[1]\nadd_: \"f32[4][1]cpu\" = r.add_(1);  r = add_ = None\n"
	  "m: \"f32[3, 4][4, 1]cpu\" = l_e_ * 2;  l_e_ = None", "m"}, NULL, "GL203", "input-aot", "5"},
	{"a row of what the graph expands", 0,
	 {X4, "y: \"f32[4][1]cpu\" = l_x_ * 2;  l_x_ = None", "y"},
	 {"y: f32[4][1]cpu", "e: \"f32[3, 4][0, 1]cpu\" = l_y_.expand(3, 4)\nr: \"f32[4][1]cpu\" = e[1];  e = None\n"
	  "add_: \"f32[4][1]cpu\" = r.add_(1);  r = add_ = None\nm: \"f32[4][1]cpu\" = l_y_ * 2;  l_y_ = None", "m"}, NULL, NULL, NULL, NULL},
};

/* ---- a dump of such a program ---- */

typedef struct World {
	Arena a;
	Tables tables;
} World;

static World w;

static void ins(Buf *b, const char *op, const char *arg)
{
	buf_printf(b, "              %s%s%s\n", op, *arg ? "                 " : "", arg);
}

static uint32_t words(const char *text, char sep, Str *out)
{
	Str rest = str_from_c(text), part;
	uint32_t n = 0;
	while (n < MAX_PORTS && str_cut(&rest, sep, &part))
		if (str_trim(part).n)
			out[n++] = str_trim(part);
	return n;
}

static Str input_name(Str input)
{
	return str_sub(input, 0, str_find_char(input, ':', 0));
}

static void graph(Buf *b, unsigned number, const TestGraph *g)
{
	Str in[MAX_PORTS], out[MAX_PORTS], rest = str_from_c(g->body), line;
	uint32_t n = words(g->inputs, ';', in), m = words(g->outputs, ' ', out);
	buf_printf(b, "TRACED GRAPH\n ===== __compiled_fn_%u =====\n class GraphModule(torch.nn.Module):\n    def forward(self", number);
	for (uint32_t i = 0; i < n; i++) {
		Str name = input_name(in[i]), type = str_trim(str_sub(in[i], name.n + 1, in[i].n));
		buf_printf(b, ", L_" STR_FMT "_: \"" STR_FMT "\"", STR_ARG(name), STR_ARG(type));
	}
	buf_add(b, S("):\n"));
	for (uint32_t i = 0; i < n; i++) {
		Str name = input_name(in[i]);
		buf_printf(b, "        l_" STR_FMT "_ = L_" STR_FMT "_\n", STR_ARG(name), STR_ARG(name));
	}
	buf_add(b, S("        \n"));
	while (str_cut(&rest, '\n', &line))
		buf_printf(b, "        " STR_FMT "\n", STR_ARG(line));
	buf_add(b, S("        return ("));
	for (uint32_t i = 0; i < m; i++)
		buf_printf(b, STR_FMT "%s", STR_ARG(out[i]), i + 1 < m ? ", " : ",");
	buf_add(b, S(")\n        \n"));
}

static void original(Buf *b, const char *name, int line)
{
	buf_printf(b, "ORIGINAL BYTECODE %s /srv/prog.py line %d \n  %d           RESUME                   0\n", name, line, line);
	ins(b, "LOAD_CONST", "0 (None)");
	ins(b, "RETURN_VALUE", "");
	buf_add(b, S("\n"));
}

static void call_graph(Buf *b, unsigned number, const TestGraph *g, const char *name, int line)
{
	Str in[MAX_PORTS];
	uint32_t n = words(g->inputs, ';', in);
	buf_printf(b, "MODIFIED BYTECODE %s /srv/prog.py line %d \n  %d           RESUME                   0\n", name, line, line);
	buf_printf(b, "              LOAD_GLOBAL              1 (__compiled_fn_%u + NULL)\n", number);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(b, "              LOAD_FAST                %u (" STR_FMT ")\n", i, STR_ARG(input_name(in[i])));
	buf_printf(b, "              CALL                     %u\n", n);
	ins(b, "STORE_FAST", "9 (graph_out_0)");
}

static void load_output(Buf *b, uint32_t k)
{
	ins(b, "LOAD_FAST", "9 (graph_out_0)");
	buf_printf(b, "              LOAD_CONST               %u (%u)\n", k + 1, k);
	ins(b, "BINARY_SUBSCR", "");
}

static void load_value(Buf *b, const TwoGraphs *p, Str name)
{
	Str out[MAX_PORTS];
	uint32_t n = words(p->first.outputs, ' ', out);
	for (uint32_t k = 0; k < n; k++)
		if (str_eq(out[k], name)) {
			load_output(b, k);
			return;
		}
	buf_printf(b, "              LOAD_FAST                0 (" STR_FMT ")\n", STR_ARG(name));
}

/* "numpy:h": an array around h; "view:h": every second row of it, taken by the frame. */
static void load_argument(Buf *b, const TwoGraphs *p, Str word)
{
	if (str_starts(word, S("numpy:"))) {
		ins(b, "LOAD_GLOBAL", "3 (__import_torch_dot__dynamo_dot_utils)");
		ins(b, "LOAD_ATTR", "4 (to_numpy_helper)");
		ins(b, "PUSH_NULL", "");
		load_value(b, p, str_sub(word, 6, word.n));
		ins(b, "CALL", "1");
	} else if (str_starts(word, S("view:"))) {
		load_value(b, p, str_sub(word, 5, word.n));
		ins(b, "LOAD_CONST", "0 (None)");
		ins(b, "LOAD_CONST", "0 (None)");
		ins(b, "LOAD_CONST", "5 (2)");
		ins(b, "BUILD_SLICE", "3");
		ins(b, "BINARY_SUBSCR", "");
	} else {
		load_value(b, p, word);
	}
}

static void resume(Buf *b, const TwoGraphs *p, const char *arguments)
{
	Str arg[MAX_PORTS];
	uint32_t n = words(arguments, ' ', arg);
	ins(b, "LOAD_GLOBAL", "3 (__resume_at_10_3 + NULL)");
	for (uint32_t i = 0; i < n; i++)
		load_argument(b, p, arg[i]);
	buf_printf(b, "              CALL                     %u\n", n);
}

static const char *names_of_inputs(const TestGraph *g)
{
	Str in[MAX_PORTS];
	Buf b = {.a = &w.a};
	uint32_t n = words(g->inputs, ';', in);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&b, STR_FMT " ", STR_ARG(input_name(in[i])));
	return str_to_c(&w.a, buf_str(&b));
}

static Str dump_of(const TwoGraphs *p)
{
	static const char second[] = "torch_dynamo_resume_in_fn_at_7";
	Buf b = {.a = &w.a};
	Str call[2], out[MAX_PORTS];
	uint32_t ncalls = words(p->calls ? p->calls : names_of_inputs(&p->second), ';', call);
	original(&b, "fn", 4);
	graph(&b, 2, &p->first);
	call_graph(&b, 2, &p->first, "fn", 4);
	for (uint32_t i = 0; i < ncalls; i++) {
		resume(&b, p, str_to_c(&w.a, call[i]));
		if (i + 1 < ncalls)
			ins(&b, "POP_TOP", "");
	}
	ins(&b, "RETURN_VALUE", "");
	buf_add(&b, S("\n"));
	original(&b, second, 7);
	graph(&b, 5, &p->second);
	call_graph(&b, 5, &p->second, second, 7);
	uint32_t n = words(p->second.outputs, ' ', out);
	for (uint32_t k = 0; k < n; k++)
		load_output(&b, k);
	buf_printf(&b, "              BUILD_TUPLE              %u\n", n);
	ins(&b, "RETURN_VALUE", "");
	buf_add(&b, S("\n"));
	return buf_str(&b);
}

/* ---- the tests ---- */

static bool is_about_aot(const Finding *f)
{
	return f->severity >= SEV_WARNING && (str_eq(f->rule, S("GL105")) || str_eq(f->rule, S("GL106")) ||
	       str_starts(f->variant, S("traced")) || str_eq(f->variant, S("input-aot")));
}

static void check(const TwoGraphs *p)
{
	Run r;
	Config cfg = config_default();
	Str why;
	bool found = false;
	Str graph_name = str_printf(&w.a, "__compiled_fn_%s", p->graph ? p->graph : "");
	cfg.contract.name = CONTRACT_AOT;
	cfg.torch = (VersionSpan){p->torch, p->torch};
	run_init(&r, &w.tables, &cfg);
	assert_true(sources_add_bytes(&r.sources, S("log.txt"), dump_of(p), 0, &why).i != 0);
	run_analyse(&r);
	for (uint32_t i = 0; i < r.diags.v.n; i++) {
		const Finding *f = &r.diags.v.v[i];
		if (p->rule)
			found |= is_about_aot(f) && str_eq(f->rule, str_from_c(p->rule)) && str_eq(f->variant, str_from_c(p->variant)) &&
			         str_eq(f->graph, graph_name);
		else if (is_about_aot(f))
			fail_msg("%s: %s %s of %s", p->name, str_to_c(&w.a, f->rule), str_to_c(&w.a, f->variant), str_to_c(&w.a, f->graph));
		assert_false(is_about_aot(f) && str_starts(f->rule, S("GL10")) && f->certainty == TRI_MAY && !f->condition.n);
	}
	if (p->rule && !found)
		fail_msg("%s: no %s %s of %s", p->name, p->rule, p->variant, str_to_c(&w.a, graph_name));
	run_free(&r);
}

static void every_cause(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof programs / sizeof *programs; i++)
		check(&programs[i]);
}

static AotLayout block(int64_t rows_, int64_t columns, int64_t stride, int64_t offset)
{
	return (AotLayout){.known = true, .ndim = 2, .size = {rows_, columns}, .stride = {stride, 1}, .offset = offset};
}

/* b[:, :3] and b[1:-1, 1:-1] of a 5 x 6 matrix meet and are taken as apart; what starts in one row is not. */
static void blocks_of_a_matrix(void **state)
{
	(void)state;
	AotLayout left = block(5, 3, 6, 0), inner = block(3, 4, 6, 7), same_row = block(5, 3, 6, 2), below = block(2, 3, 6, 30);
	assert_int_equal(aot_relation(&left, &inner, TRI_MUST), AOT_MISSED);
	assert_int_equal(aot_relation(&inner, &left, TRI_MUST), AOT_MISSED);
	assert_int_equal(aot_relation(&left, &same_row, TRI_MUST), AOT_MEET);
	assert_int_equal(aot_relation(&left, &below, TRI_NO), AOT_APART);
	AotLayout even = {.known = true, .ndim = 1, .size = {4}, .stride = {2}}, odd = even;
	odd.offset = 1;
	assert_int_equal(aot_relation(&even, &odd, TRI_NO), AOT_MEET); /* not provably apart */
	odd.known = false;
	assert_int_equal(aot_relation(&even, &odd, TRI_MAY), AOT_UNSURE);
	AotLayout empty = block(0, 3, 6, 0);
	assert_int_equal(aot_relation(&empty, &left, TRI_NO), AOT_APART);
}

static void causes_have_versions(void **state)
{
	(void)state;
	assert_true(aot_cause_in(AOT_CAUSE_BASE, (VersionSpan){206, 206}));
	assert_false(aot_cause_in(AOT_CAUSE_BASE, (VersionSpan){213, 213}));
	assert_true(aot_cause_in(AOT_CAUSE_BASE, (VersionSpan){0, 0}));
	assert_true(aot_cause_in(AOT_CAUSE_BASES, (VersionSpan){215, 215}));
	assert_true(str_eq(aot_cause_versions(AOT_CAUSE_BASE, &w.a), S("up to 2.9")));
	assert_int_equal(aot_cause_versions(AOT_CAUSE_BASES, &w.a).n, 0);
}

static int setup(void **state)
{
	(void)state;
	w = (World){.a = arena_new(NULL)};
	tables_init(&w.tables);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tables_free(&w.tables);
	arena_free(&w.a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_cause, setup, teardown),
		cmocka_unit_test_setup_teardown(blocks_of_a_matrix, setup, teardown),
		cmocka_unit_test_setup_teardown(causes_have_versions, setup, teardown),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("aot", tests, NULL, NULL);
}
