/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "read.h"

/* A reader over one text that stands at byte 1000 of its file. */
typedef struct Env {
	Arena a, scratch;
	Names names;
	Program program;
	Diags diags;
	Config cfg;
	Reader r;
	Seg seg;
	Text text;
	Artifact art;
} Env;

enum { PLACE = 1000 };

static int setup(void **state)
{
	Arena a = arena_new(NULL);
	Env *e = NEW(&a, Env);
	e->a = a;
	e->scratch = arena_new(NULL);
	names_init(&e->names, &e->a);
	program_init(&e->program, &e->a, &e->names);
	diags_init(&e->diags, &e->a);
	e->cfg = config_default();
	e->r = reader_new(&e->program, types_new(&e->a, &e->names), &e->diags, &e->cfg, &e->a,
	                  &e->scratch);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	Env *e = *state;
	reader_free(&e->r);
	arena_free(&e->scratch);
	Arena a = e->a;
	arena_free(&a);
	return 0;
}

typedef void Read(Reader *, ArtifactId, const Artifact *, const Text *);

static const Graph *read(Env *e, Read *reader, Str s)
{
	e->seg = (Seg){0, PLACE};
	e->text = (Text){.file = {1}, .s = s, .seg = &e->seg, .nseg = s.n ? 1 : 0};
	e->art = (Artifact){.file = {1}, .at = 5, .end = 10};
	reader(&e->r, (ArtifactId){1}, &e->art, &e->text);
	Str fault = ir_check(&e->program, &e->a);
	assert_int_equal(fault.n, 0);
	return e->program.graphs.n > 1 ? e->program.graphs.v[e->program.graphs.n - 1] : NULL;
}

/* The lines of a graph's dump without its first. */
static const char *body(Env *e, const Graph *g)
{
	Program one = {.a = &e->a, .names = &e->names};
	VEC_PUSH(&e->a, &one.graphs, NULL);
	VEC_PUSH(&e->a, &one.graphs, (Graph *)g);
	Buf b = {.a = &e->a};
	ir_dump(&one, e->r.types, &b);
	Str s = buf_str(&b);
	return str_to_c(&e->a, str_sub(s, str_find_char(s, '\n', 0) + 1, s.n));
}

static void graph_is(Env *e, const char *text, const char *want)
{
	assert_string_equal(body(e, read(e, read_graph_text, str_from_c(text))), want);
}

static void table_is(Env *e, const char *text, const char *want)
{
	assert_string_equal(body(e, read(e, read_graph_table, str_from_c(text))), want);
}

static void complaint_is(Env *e, uint32_t i, const char *place, const char *why)
{
	assert_true(i < e->diags.unread.n);
	const Unread *u = &e->diags.unread.v[i];
	assert_string_equal(
		str_to_c(&e->a, str_sub(e->text.s, u->span.at - PLACE, u->span.end - PLACE)), place);
	if (why)
		assert_string_equal(str_to_c(&e->a, u->why), why);
}

#define NODE "    %x : [num_users=1] = placeholder[target=x]\n"

static void every_opcode_is_read(void **state)
{
	graph_is(
		*state,
		"graph():\n"
		"    %l_x_ : torch.Tensor [num_users=2] = placeholder[target=L_x_]\n"
		"    %flag : bool [num_users=0] = placeholder[target=flag](default=True)\n"
		"    %_args : [num_users=0] = placeholder[target=*args]\n"
		"    %w : [num_users=1] = get_attr[target=lin.weight]\n"
		"    %lin : [num_users=1] = call_module[target=seq.0](args = (%l_x_,), kwargs = {})\n"
		"    %add : [num_users=1] = call_function[target=operator.add](args = (%l_x_, 1), kwargs = "
		"{})\n"
		"    %view : [num_users=1] = call_method[target=view](args = (%add, -1), kwargs = {})\n"
		"    %sum_1 : [num_users=1] = call_function[target=torch.sum](args = (%view,), kwargs = "
		"{dim: 0, keepdim: True})\n"
		"    %op : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%sum_1, "
		"%w), kwargs = {})\n"
		"    return (op, lin)\n",
		"  %l_x_ = placeholder L_x_ : tensor\n"
		"  %flag = placeholder flag : Sym(?)\n"
		"  %_args = placeholder args\n"
		"  %w = get_attr lin.weight\n"
		"  %lin = call module seq.0(%l_x_)\n"
		"  %add = call operator add(%l_x_, 1)\n"
		"  %view = call method view(%add, -1)\n"
		"  %sum_1 = call function torch.sum(%view, dim=0, keepdim=True)\n"
		"  %op = call function torch.ops.aten.add.Tensor(%sum_1, %w)\n"
		"  return %op, %lin\n");
	Env *e = *state;
	assert_int_equal(e->diags.unread.n, 0);
	const Graph *g = e->program.graphs.v[1];
	assert_int_equal(g->inputs.n, 3);
	assert_true(g->tabular && !g->returns_bare && !g->truncated && !g->incomplete);
	assert_int_equal(g->torch.lo, 201);
}

static void older_and_newer_forms(void **state)
{
	Env *e = *state;
	graph_is(
		e, /* 1.13, 2.0 */
		"graph():\n"
		"    %x : torch.Tensor [#users=1] = placeholder[target=x]\n"
		"    %relu : [#users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n"
		"    return relu\n",
		"  %x = placeholder x : tensor\n"
		"  %relu = call function torch.relu(%x)\n"
		"  return %relu\n");
	assert_int_equal(e->program.graphs.v[1]->torch.hi, 200);
	assert_true(e->program.graphs.v[1]->returns_bare);
	graph_is(
		e, /* 1.7 */
		"graph(x, y : torch.Tensor):\n"
		"    %p : [#users=1] = self.lin.weight\n"
		"    %add : [#users=1] = call_function[target=operator.add](args = (%x, %p), kwargs = {})\n"
		"    return add\n",
		"  %x = placeholder x\n"
		"  %y = placeholder y : tensor\n"
		"  %p = get_attr lin.weight\n"
		"  %add = call operator add(%x, %p)\n"
		"  return %add\n");
	graph_is(e, /* the annotation that may stand behind the type */
	         "graph():\n"
	         "    %x : Tensor \"f32[2, s0][s0, 1]cpu\"[num_users=1] = placeholder[target=x]\n"
	         "    %p : torch.nn.parameter.Parameter [num_users=0] = placeholder[target=p]\n"
	         "    %l : typing.List[torch.Tensor] [num_users=0] = placeholder[target=l]\n"
	         "    return (x,)\n",
	         "  %x = placeholder x : f32[2, s0][s0, 1]cpu\n"
	         "  %p = placeholder p : tensor\n"
	         "  %l = placeholder l\n"
	         "  return %x\n");
	const Graph *g = e->program.graphs.v[3];
	for (uint32_t i = 1; i < g->nodes.n; i++)
		assert_true(g->nodes.v[i].flags & NF_TYPED);
	assert_int_equal(type_get(e->r.types, g->nodes.v[2].type)->kind, TK_TENSOR);
	assert_int_equal(type_get(e->r.types, g->nodes.v[3].type)->kind, TK_NONE);
	assert_int_equal(e->diags.unread.n, 0);
}

#define CALL(args, kwargs)                                                                         \
	"graph():\n" NODE "    %y : [num_users=1] = placeholder[target=y]\n"                           \
	"    %f : [num_users=1] = call_function[target=torch.f](args = (" args "), kwargs = {" kwargs  \
	"})\n"                                                                                         \
	"    return (f,)\n"
#define CALLED(args)                                                                               \
	"  %x = placeholder x\n  %y = placeholder y\n  %f = call function torch.f(" args               \
	")\n  return %f\n"

static void values_without_quotes(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{CALL("%x, None, True, -3, 1e-06, -inf, nan", ""),
	     CALLED("%x, None, True, -3, 9.9999999999999995e-07, -inf, nan")},
		{CALL("(%x, (2, 3), [%y], ())", ""), CALLED("%x, (2, 3), [%y], ()")},
		{CALL("%x,", ""), CALLED("%x")},
		{CALL("", ""),
	     "  %x = placeholder x\n  %y = placeholder y\n  %f = call function torch.f\n  return %f\n"},
		{CALL("%x, (Ellipsis, None, slice(None, y, 2), 0)", ""),
	     CALLED("%x, (..., None, slice(None, %y, 2), 0)")},
		{CALL("%x, slice(y)", ""), CALLED("%x, slice(None, %y, None)")},
		{CALL("%x, range(0, 3)", ""), CALLED("%x, range(0, 3)")},
		{CALL("ij,kj->ik, %x, %y", ""), CALLED("'ij,kj->ik', %x, %y")},
		{CALL("b i d, b j d -> b i j, %x, %y", ""), CALLED("'b i d, b j d -> b i j', %x, %y")},
		{CALL("%x, (h w) c -> h w c", ""), CALLED("%x, '(h w) c -> h w c'")},
		{CALL("%x, batch {must} be 'positive', shape", ""),
	     CALLED("%x, 'batch {must} be 'positive'', 'shape'")},
		{CALL("%x, , %y", ""), CALLED("%x, '', %y")},
		{CALL("%x, %d items", ""), CALLED("%x, '%d items'")},
		{CALL("%x, torch.float32, cpu, (1+2j)", ""),
	     CALLED("%x, torch.float32, 'cpu', add(1, 2j)")},
		{CALL("%x, <class 'float'>, <function g at 0x7f1>", ""), CALLED("%x, float, g")},
		{CALL("%x, 18446744073709551615", ""), CALLED("%x, 18446744073709551615")},
		{CALL("%x", "dtype: torch.float64, device: cuda:0, dim: (0, 1), mode: nearest"),
	     CALLED("%x, dtype=torch.float64, device=device(type='cuda', index=0), dim=(0, 1), "
	            "mode='nearest'")},
		{CALL("%x", "out: {a: %y, b: [%x]}"), CALLED("%x, out={'a': %y, 'b': [%x]}")},
		{CALL("%x, {0: %y}", ""), CALLED("%x, {0: %y}")},
	};
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (i != 1) /* a tuple in a tuple */
			graph_is(*state, cases[i].text, cases[i].want);
	graph_is(*state, CALL("(%x, (2, 3), [%y], ()),", ""), CALLED("(%x, (2, 3), [%y], ())"));
	assert_int_equal(((Env *)*state)->diags.unread.n, 0);
}

static void callees_in_the_words_of_the_ir(void **state)
{
#define TARGET(t)                                                                                  \
	"graph():\n" NODE "    %f : [num_users=1] = call_function[target=" t                           \
	"](args = (%x, shape), kwargs = {})\n    return (f,)\n"
#define TARGETED(w) "  %x = placeholder x\n  %f = call " w "\n  return %f\n"
	graph_is(*state, TARGET("builtins.getattr"), TARGETED("attr shape(%x)"));
	graph_is(*state, TARGET("getattr"), TARGETED("attr shape(%x)"));
	graph_is(*state, TARGET("_operator.getitem"), TARGETED("operator getitem(%x, 'shape')"));
	graph_is(*state, TARGET("builtins.len"), TARGETED("function len(%x, 'shape')"));
	graph_is(*state, TARGET("__main__.helper"), TARGETED("function __main__.helper(%x, 'shape')"));
	graph_is(*state, TARGET("torch.ops.higher_order.cond"),
	         TARGETED("function torch.ops.higher_order.cond(%x, 'shape')"));
	graph_is(
		*state,
		"graph():\n" NODE "    %f : [num_users=1] = "
		"call_function[target=torch.ops.higher_order.auto_functionalized](args = "
		"(proj.bump.default, a b.c.d), kwargs = {x: %x, device: cpu})\n    return (f,)\n",
		TARGETED("function torch.ops.higher_order.auto_functionalized(torch.ops.proj.bump.default, "
	             "'a b.c.d', x=%x, "
	             "device=device(type='cpu'))"));
}

static void outputs_are_flattened_with_their_places(void **state)
{
	Env *e = *state;
	const char *text = "graph():\n" NODE "    return ({'a': x, 't': (x, [None, 1.5])}, x)\n";
	graph_is(e, text, "  %x = placeholder x\n  return %x, %x, None, 1.5, %x\n");
	const Graph *g = e->program.graphs.v[1];
	const Output *o = g->outputs.v;
	uint32_t at = o[0].at - PLACE, last = o[4].at - PLACE;
	assert_memory_equal(text + at, "{'a': x, 't': (x, [None, 1.5])}", o[0].end - o[0].at);
	assert_int_equal(o[3].at, o[0].at);
	assert_memory_equal(text + last, "x", o[4].end - o[4].at);
	assert_int_equal(o[4].end - o[4].at, 1);
	graph_is(e, "graph():\n" NODE "    return {'a': x}\n", "  %x = placeholder x\n  return %x\n");
	assert_false(e->program.graphs.v[2]->returns_bare);
	graph_is(e, "graph():\n" NODE "    return ()\n", "  %x = placeholder x\n  return\n");
	graph_is(e, "graph():\n" NODE "    return None\n", "  %x = placeholder x\n  return None\n");
	assert_int_equal(e->diags.unread.n, 0);
}

static void places_of_statements(void **state)
{
	Env *e = *state;
	const char *text = "graph():\n" NODE "    return x\n";
	const Graph *g = read(e, read_graph_text, str_from_c(text));
	const Node *n = graph_node(g, (NodeId){1});
	assert_int_equal(n->at, PLACE + 13);
	assert_int_equal(n->end - n->at, strlen(NODE) - 5);
}

static void a_cut_graph_is_truncated(void **state)
{
	Env *e = *state;
	graph_is(e, "graph():\n" NODE, "  %x = placeholder x\n  return\n");
	assert_true(e->program.graphs.v[1]->truncated);
	assert_int_equal(e->diags.unread.n, 1);
	assert_true(e->diags.unread.v[0].incomplete);
	/* the first lines are missing: what is there is read */
	graph_is(e, NODE "    return (x,)\n", "  %x = placeholder x\n  return %x\n");
	assert_false(e->program.graphs.v[2]->truncated);
	graph_is(e, "", "  return\n");
	assert_true(e->program.graphs.v[3]->truncated);
}

static void a_missing_line_is_told_once(void **state)
{
	Env *e = *state;
	graph_is(e,
	         "graph():\n" NODE "    %a : [num_users=1] = call_method[target=add](args = (%gone, "
	         "(%x, slice(gone, None, None))), kwargs = {})\n"
	         "    %b : [num_users=1] = call_method[target=add](args = (%gone, %a), kwargs = {})\n"
	         "    return (b, lost)\n",
	         "  %x = placeholder x\n"
	         "  %gone = unread \n"
	         "  %a = call method add(%gone, (%x, slice(%gone, None, None)))\n"
	         "  %b = call method add(%gone, %a)\n"
	         "  %lost = unread \n"
	         "  return %b, %lost\n");
	assert_int_equal(e->diags.unread.n, 2);
	assert_true(e->program.graphs.v[1]->incomplete);
	complaint_is(e, 0,
	             "%a : [num_users=1] = call_method[target=add](args = (%gone, (%x, slice(gone, "
	             "None, None))), kwargs = {})",
	             "gone is used here, but the line that makes it is not in the dump");
}

static void what_cannot_be_read_keeps_its_nodes(void **state)
{
	Env *e = *state;
	graph_is(e,
	         "graph():\n" NODE
	         "    %a : [num_users=1] = call_method[target=add](args = (%x, oh :-)), kwargs = {})\n"
	         "    %b : [num_users=1] = call_meth\n"
	         "    %c : [num_users=1] = call_thing[target=t](args = (%x, %a, %x), kwargs = {})\n"
	         "between 1\n"
	         "    # a comment\n"
	         "    return (c, b)\n",
	         "  %x = placeholder x\n"
	         "  %a = unread (%x)\n"
	         "  %b = unread \n"
	         "  %c = unread (%x, %a)\n"
	         "  return %c, %b\n");
	assert_int_equal(e->diags.unread.n, 4);
	complaint_is(e, 0, "), kwargs = {})", "no kwargs after the args");
	complaint_is(e, 1, "call_meth", "no opcode of a graph");
	complaint_is(e, 2, "call_thing[target=t](args = (%x, %a, %x), kwargs = {})",
	             "no opcode of a graph");
	complaint_is(e, 3, "between 1", "text between the lines of a graph");
	graph_is(e, "graph():\n" NODE "    return (x, [x\n", "  %x = placeholder x\n  return ?(%x)\n");
}

static void wrapped_lines_are_joined(void **state)
{
	Env *e = *state;
	graph_is(e,
	         "graph():\n" NODE "    %a : [num_users=1] = call_function[target=torch.fu\n"
	         "nctional.f](args = (%x,\n"
	         "%x, nea\n"
	         "rest), kwargs =\n"
	         "{dim: 0})\n"
	         "    return (a,\n"
	         "    x)\n",
	         "  %x = placeholder x\n"
	         "  %a = call function torch.functional.f(%x, %x, 'nearest', dim=0)\n"
	         "  return %a, %x\n");
	assert_int_equal(e->diags.unread.n, 0);
}

static char *repeated(Env *e, const char *head, const char *what, uint32_t n, const char *tail)
{
	Buf b = {.a = &e->a};
	buf_add(&b, str_from_c(head));
	for (uint32_t i = 0; i < n; i++)
		buf_add(&b, str_from_c(what));
	buf_add(&b, str_from_c(tail));
	return str_to_c(&e->a, buf_str(&b));
}

#define DEEP(open, inside, close)                                                                  \
	repeated(e,                                                                                    \
	         repeated(e,                                                                           \
	                  "graph():\n" NODE                                                            \
	                  "    %f : [num_users=1] = call_method[target=f](args = (%x, ",               \
	                  open, 100000, inside),                                                       \
	         close, 100000, "), kwargs = {})\n    return f\n")

static void hostile_brackets(void **state)
{
	Env *e = *state;
	static const char *const pairs[][3] = {
		{"(", "%x", ",)"},       {"[", "%x", "]"}, {"{a: ", "%x", "}"},
		{"(", "%x", ") tail,)"}, {"(", "", ""},    {"", "", ")"},
		{"slice(", "x", ")"},    {"<", "", ">"},   {"(,", "", "]"}};
	for (uint32_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		const Graph *g =
			read(e, read_graph_text, str_from_c(DEEP(pairs[i][0], pairs[i][1], pairs[i][2])));
		assert_int_equal(g->nodes.n, 3);
		assert_int_equal(g->outputs.n, 1);
	}
	/* deep, but below the limit, with text behind every bracket */
	char *deep = repeated(
		e,
		repeated(e, "graph():\n" NODE "    %f : [num_users=1] = call_method[target=f](args = (%x, ",
	             "(", 240, "%x"),
		", 1) t", 240, "), kwargs = {})\n    return f\n");
	const Graph *g = read(e, read_graph_text, str_from_c(deep));
	assert_int_equal(graph_node(g, (NodeId){2})->kind, NK_CALL);
	assert_true(graph_node(g, (NodeId){2})->flags & NF_PARTIAL);
}

static void long_lines_are_linear(void **state)
{
	Env *e = *state;
	e->cfg.limits.statement_bytes = 16777216;
	char *s =
		repeated(e, "graph():\n" NODE "    %f : [num_users=1] = call_method[target=f](args = (%x",
	             ", %x, nearest, (1, 2)", 200000, "), kwargs = {})\n    return f\n");
	const Graph *g = read(e, read_graph_text, str_from_c(s));
	assert_int_equal(graph_node(g, (NodeId){2})->nargs, 600001);
	s = repeated(e, "graph():\n" NODE "    return (x", ", x", 400000, "\n");
	assert_int_equal(read(e, read_graph_text, str_from_c(s))->outputs.n, 1);
	s = repeated(e, "graph():\n" NODE, "    %y : [num_users=1] = cut_off\n", 50000, "");
	assert_int_equal(read(e, read_graph_text, str_from_c(s))->unread.n, 50000);
}

static void limits_are_told(void **state)
{
	Env *e = *state;
	e->cfg.limits.graph_nodes = 2;
	const Graph *g = read(e, read_graph_text,
	                      str_from_c(repeated(e, "graph():\n", NODE, 5, "    return (x,)\n")));
	assert_int_equal(g->nodes.n, 3);
	assert_true(g->incomplete);
	assert_int_equal(e->diags.unread.n, 1);
	e->cfg.limits.statement_bytes = 20;
	g = read(e, read_graph_text, str_from_c("graph():\n" NODE));
	complaint_is(e, 1, "%x : [num_users=1] = placeholder[target=x]",
	             "statement is longer than the limit and was not read");
}

static void every_prefix_is_survived(void **state)
{
	Env *e = *state;
	static const char graph[] =
		"graph():\n" NODE "    %f : \"f32[2]\"[num_users=1] = call_method[target=f](args = (%x, "
		"(1+2j), slice(x, None), <a: 1>, {a: b}), kwargs = {d: ([a b, 'c']) e})\n"
		"    return ({'a': f}, [x, 'b\\'c'])\n";
	static const char table[] =
		"opcode         name  target                   args                            kwargs\n"
		"-------------  ----  -----------------------  ------------------------------  ------\n"
		"placeholder    x     x                        ()                              {}\n"
		"call_function  f     <built-in function add>  (x, {'a': (1+2j), 'b': slice(x, None, "
		"None), 'c': b\"d\"})  {'e': <E.F: 1>}\n"
		"output         output  output  ((x, [f]),)  {}\n";
	for (uint32_t n = 0; n < sizeof graph; n++)
		read(e, read_graph_text, (Str){graph, n});
	for (uint32_t n = 0; n < sizeof table; n++)
		read(e, read_graph_table, (Str){table, n});
}

/* ---- tables ---- */

#define HEAD                                                                                       \
	"opcode         name    target                                                  args        "  \
	"kwargs\n"                                                                                     \
	"-------------  ------  ------------------------------------------------------  ----------  "  \
	"--------\n"

static void a_table_of_2022(void **state)
{
	Env *e = *state;
	table_is(e,
	         " __compiled_fn_0 <eval_with_key>.1 " HEAD
	         "placeholder    x       x                                                       ()    "
	         "      {}\n"
	         "call_function  relu    <built-in method relu of type object at 0x7f50e89fc420>\n"
	         "call_function  relu_1  <built-in method relu of type object at 0x7f50e89fc420>  (x,) "
	         "      {}\n"
	         "output         output  output                                                  "
	         "((relu_1,),)  {}\n"
	         "\nanything\n",
	         "  %x = placeholder x\n"
	         "  %relu = unread \n"
	         "  %relu_1 = call function torch.relu(%x)\n"
	         "  return %relu_1\n");
	complaint_is(e, 0, "<built-in method relu of type object at 0x7f50e89fc420>",
	             "the row is cut off before its arguments");
	const Graph *g = e->program.graphs.v[1];
	assert_int_equal(g->inputs.n, 1);
	const Output *o = &g->outputs.v[0];
	assert_memory_equal(e->text.s.p + (o->at - PLACE), "relu_1", o->end - o->at);
}

static void callees_that_print_as_objects(void **state)
{
#define OBJECT(t)                                                                                  \
	HEAD "placeholder  x  x  ()  {}\ncall_function  f  " t                                         \
		 "  (x, 'T')  {}\noutput  output  output  (f,)  {}\n"
	static const struct {
		const char *text, *want;
	} cases[] = {
		{OBJECT("<built-in function add>"), TARGETED("operator add(%x, 'T')")},
		{OBJECT("<built-in function iadd>"), TARGETED("operator iadd(%x, 'T')")},
		{OBJECT("<built-in function getitem>"), TARGETED("operator getitem(%x, 'T')")},
		{OBJECT("<built-in function setitem>"), TARGETED("operator setitem(%x, 'T')")},
		{OBJECT("<built-in function getattr>"), TARGETED("attr T(%x)")},
		{OBJECT("<built-in function gelu>"), TARGETED("function torch._C._nn.gelu(%x, 'T')")},
		{OBJECT("<built-in function _set_grad_enabled>"),
	     TARGETED("function torch._C._set_grad_enabled(%x, 'T')")},
		{OBJECT("<built-in function linalg_inv>"),
	     TARGETED("function torch._C._linalg.linalg_inv(%x, 'T')")},
		{OBJECT("<built-in function trunc>"), TARGETED("function math.trunc(%x, 'T')")},
		{OBJECT("<built-in function len>"), TARGETED("function len(%x, 'T')")},
		{OBJECT("<function helper at 0x7f50e89fc420>"), TARGETED("function helper(%x, 'T')")},
		{OBJECT("<function einsum at 0x7f50e89fc420>"),
	     TARGETED("function torch.functional.einsum(%x, 'T')")},
		{OBJECT("<function Tensor.split at 0x7f50e89fc420>"), TARGETED("method split(%x, 'T')")},
		{OBJECT("<built-in method relu of type object at 0x7f50e89fc420>"),
	     TARGETED("function torch.relu(%x, 'T')")},
		{OBJECT("<function gelu at 0x7f50e89fc420>"),
	     TARGETED("function torch.nn.functional.gelu(%x, 'T')")},
		{OBJECT("<function f.<locals>.g at 0x7f50e89fc420>"),
	     TARGETED("function f.<locals>.g(%x, 'T')")},
		{OBJECT("aten.add.Tensor"), TARGETED("function torch.ops.aten.add.Tensor(%x, 'T')")},
		{OBJECT("<OpOverload(op='aten.add', overload='Tensor')>"),
	     TARGETED("function torch.ops.aten.add.Tensor(%x, 'T')")},
		{OBJECT("<OpOverloadPacket(op='aten.add')>"),
	     TARGETED("function torch.ops.aten.add(%x, 'T')")},
		{OBJECT("cond"), TARGETED("function torch.ops.higher_order.cond(%x, 'T')")},
		{OBJECT("<class 'float'>"), TARGETED("function float(%x, 'T')")},
		{OBJECT("<method 'add_' of 'torch._C._TensorBase' objects>"),
	     TARGETED("method add_(%x, 'T')")},
		{OBJECT("<slot wrapper '__add__' of 'torch._C.TensorBase' objects>"),
	     TARGETED("method __add__(%x, 'T')")},
		{OBJECT("<method 'append' of 'list' objects>"),
	     TARGETED("function method 'append' of 'list' objects(%x, 'T')")},
		{OBJECT("<built-in method apply of FunctionMeta object at 0x55>"),
	     TARGETED("function built-in method apply of FunctionMeta object(%x, 'T')")},
	};
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
		table_is(*state, cases[i].text, cases[i].want);
	table_is(*state,
	         HEAD "placeholder  x  x  ()  {}\ncall_function  max_pool2d_1  <function "
	              "boolean_dispatch.<locals>.fn at 0x7f>  (x,)  {}\n"
	              "output  output  output  (max_pool2d_1,)  {}\n",
	         "  %x = placeholder x\n  %max_pool2d_1 = call function "
	         "torch.nn.functional.max_pool2d(%x)\n  return %max_pool2d_1\n");
	assert_int_equal(((Env *)*state)->diags.unread.n, 0);
}

static void values_of_a_table(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"(x, 'a  (b', \"it's\", b'q', 'c\\'d')", "%x, 'a  (b', 'it's', 'q', 'c\\'d'"},
		{"(x, (1+2j), (-1.5-infj), -inf, nan, 1e-06, 2j)",
	     "%x, add(1, 2j), sub(-1.5, infj), -inf, nan, 9.9999999999999995e-07, 2j"},
		{"(x, slice(None, y, None), Ellipsis, [y, (x,)])",
	     "%x, slice(None, %y, None), ..., [%y, (%x,)]"},
		{"(x, device(type='cuda', index=0), torch.float32, torch.Size([2, 3]))",
	     "%x, device(type='cuda', index=0), torch.float32, torch.Size([2, 3])"},
		{"(x, {'a': y, 'b': {1, 2}}, <Reduction.MEAN: 1>, <class 'int'>)",
	     "%x, {'a': %y, 'b': [1, 2]}, Reduction.MEAN, int"},
		{"(x, tensor([1., 2.]), Foo(a=y))", "%x, tensor([1, 2]), Foo(a=%y)"},
		{"(x, y | x, [x > y])", "%x, ?(%y, %x), [?(%x, %y)]"},
		{"(x, {'a': })", "%x, ?('a')"},
		{"()", ""},
	};
	Env *e = *state;
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = str_to_c(
			&e->a,
			str_printf(&e->a,
		               HEAD "placeholder  x  x  ()  {}\nplaceholder  y  y  ()  {}\ncall_method  f  "
		                    "f  %s  {}\noutput  output  output  (f,)  {}\n",
		               cases[i].text));
		char *want = str_to_c(&e->a, str_printf(&e->a,
		                                        *cases[i].want
		                                            ? "  %%x = placeholder x\n  %%y = placeholder "
		                                              "y\n  %%f = call method f(%s)\n  return %%f\n"
		                                            : "  %%x = placeholder x\n  %%y = placeholder "
		                                              "y\n  %%f = call method f%s\n  return %%f\n",
		                                        cases[i].want));
		table_is(e, text, want);
	}
	assert_int_equal(e->diags.unread.n, 0);
	table_is(e,
	         HEAD "call_method  f  f  ()  {'dim': 0, 'p': -1}\noutput  output  output  (f,)  {}\n",
	         "  %f = call method f(dim=0, p=-1)\n  return %f\n");
}

/* The columns are counted in characters; "  (" can stand in a target. */
static void columns_are_characters(void **state)
{
	Env *e = *state;
	table_is(e,
	         "opcode       name  target      args    kwargs\n"
	         "-----------  ----  ----------  ------  --------\n"
	         "placeholder  x     \xd0\xba\xd0\xbb\xd1\x8e\xd1\x87        ()      {}\n"
	         "call_module  m     a  (b).c    (x,)    {}\n"
	         "output       output  output    (m,)    {}\n",
	         "  %x = placeholder \xd0\xba\xd0\xbb\xd1\x8e\xd1\x87\n"
	         "  %m = call module a  (b).c(%x)\n"
	         "  return %m\n");
	assert_int_equal(e->diags.unread.n, 0);
}

static void cells_over_several_lines(void **state)
{
	Env *e = *state;
	table_is(e,
	         "opcode       name    target    args                 kwargs\n"
	         "-----------  ------  --------  -------------------  --------\n"
	         "placeholder  x       x         ()                   {}\n"
	         "call_method  f       f         (x, tensor([[1, 2],  {'a': 1,\n"
	         "                                       [3, 4]]))     'b': 2}\n"
	         "output       output  output    (f,)                 {}\n",
	         "  %x = placeholder x\n"
	         "  %f = call method f(%x, tensor([[1, 2], [3, 4]]), a=1, b=2)\n"
	         "  return %f\n");
	assert_int_equal(e->diags.unread.n, 0);
}

/* A table pasted from a terminal of `width` columns, with or without the blanks at the cuts. */
static char *wrapped(Env *e, const char *text, uint32_t width, bool trimmed)
{
	Buf b = {.a = &e->a};
	Str rest = str_from_c(text), line;
	while (str_cut(&rest, '\n', &line)) {
		for (uint32_t at = 0; at == 0 || at < line.n; at += width) {
			Str part = str_sub(line, at, at + width);
			buf_add(&b, trimmed ? str_rtrim(part) : part);
			buf_char(&b, '\n');
		}
	}
	return str_to_c(&e->a, buf_str(&b));
}

static void wrapped_tables_are_joined(void **state)
{
	static const char text[] =
		"opcode         name       target                                                   args   "
		"                        kwargs\n"
		"-------------  ---------  -------------------------------------------------------  "
		"-----------------------------  --------------\n"
		"placeholder    x          x                                                        ()     "
		"                        {}\n"
		"call_function  relu       <built-in method relu of type object at 0x7f50e89fc420>  (x,)   "
		"                        {}\n"
		"call_function  getitem_1  <built-in function getitem>                              (relu, "
		"(slice(None, x, None),))  {}\n"
		"call_method    view       view                                                     "
		"(getitem_1, 1, 1024, -1)       {'dtype': None}\n"
		"output         output     output                                                   "
		"((view, x),)                   {}\n";
	static const char want[] =
		"  %x = placeholder x\n"
		"  %relu = call function torch.relu(%x)\n"
		"  %getitem_1 = call operator getitem(%relu, (slice(None, %x, None),))\n"
		"  %view = call method view(%getitem_1, 1, 1024, -1, dtype=None)\n"
		"  return %view, %x\n";
	Env *e = *state;
	for (uint32_t width = 30; width < 160; width++)
		table_is(e, wrapped(e, text, width, false), want);
	assert_int_equal(e->diags.unread.n, 0);
	for (uint32_t width = 30; width < 160; width++)
		table_is(e, wrapped(e, text, width, true), want);
	assert_int_equal(e->diags.unread.n, 0);
}

static void damaged_tables(void **state)
{
	Env *e = *state;
	table_is(e,
	         HEAD "placeholder    x       x       ()          {}\n"
	              "call_method    f       view    (x, -1\n"
	              "call_method    g       view    (f, 2)      {}\n"
	              "call_method    h       view    (gone, g)   {}\n"
	              "a warning\n"
	              "output         output  output  ((h, g\n",
	         "  %x = placeholder x\n"
	         "  %f = unread (%x)\n"
	         "  %g = call method view(%f, 2)\n"
	         "  %gone = unread \n"
	         "  %h = call method view(%gone, %g)\n"
	         "  return ?(%h, %g)\n");
	assert_int_equal(e->diags.unread.n, 4);
	assert_true(e->program.graphs.v[1]->incomplete);
	table_is(e, HEAD "placeholder  x  x  ()  {}\n", "  %x = placeholder x\n  return\n");
	assert_true(e->program.graphs.v[2]->truncated);
	read(e, read_graph_table,
	     str_from_c(repeated(e, HEAD "call_method  f  f  ", "(", 100000, "\n")));
	read(e, read_graph_table, str_from_c(repeated(e, HEAD, "call_method  f  f  (x\n", 20000, "")));
	read(e, read_graph_table,
	     str_from_c(repeated(e, HEAD "call_method  f  f  (x, ", "'", 100001, "\n")));
}

/* ---- module trees ---- */

static void tree_is(Env *e, const char *text, const char *want)
{
	e->program.modules.n = 0;
	read(e, read_module_tree, str_from_c(text));
	Buf b = {.a = &e->a};
	for (uint32_t i = 0; i < e->program.modules.n; i++) {
		const ModuleClass *m = &e->program.modules.v[i];
		buf_printf(&b, STR_FMT " " STR_FMT "(" STR_FMT ")\n", STR_ARG(sym_str(&e->names, m->path)),
		           STR_ARG(sym_str(&e->names, m->cls)), STR_ARG(sym_str(&e->names, m->ctor)));
		assert_int_equal(m->artifact.i, 1);
	}
	assert_string_equal(str_to_c(&e->a, buf_str(&b)), want);
}

static void module_trees(void **state)
{
	Env *e = *state;
	tree_is(e,
	        "GraphModule(\n"
	        "  (lin): Linear(in_features=4, out_features=4, bias=True)\n"
	        "  (seq): Module(\n"
	        "    (0): Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1))\n"
	        "    (drop): Dropout(p=0.1, inplace=False)\n"
	        "  )\n"
	        "  (blocks): ModuleList(\n"
	        "    (0-1): 2 x Block(\n"
	        "      eps=1e-05, mode=')'\n"
	        "      (a): Linear(2, 2)\n"
	        "    )\n"
	        "    (2): my.Block()\n"
	        "  )\n"
	        "  (cond_true_0): GraphModule()\n"
	        ")\n"
	        "(x): Late()\n",
	        "lin Linear(in_features=4, out_features=4, bias=True)\n"
	        "seq Module()\n"
	        "seq.0 Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1))\n"
	        "seq.drop Dropout(p=0.1, inplace=False)\n"
	        "blocks ModuleList()\n"
	        "blocks.0 Block()\n"
	        "blocks.1 Block()\n"
	        "blocks.0.a Linear(2, 2)\n"
	        "blocks.1.a Linear(2, 2)\n"
	        "blocks.2 my.Block()\n"
	        "cond_true_0 GraphModule()\n");
	tree_is(e, "GraphModule()\n  (a): B()\n", "");
	tree_is(e, "", "");
	tree_is(e, "GraphModule(\n  (0-9): 7 x A()\n  (a): 'x'\n",
	        ""); /* numbers that do not agree, no class */
	assert_int_equal(e->diags.unread.n, 0);
}

static void hostile_module_trees(void **state)
{
	Env *e = *state;
	tree_is(e, "M(\n  (0-199999): 200000 x A(\n    (b): B()\n  )\n  (c): C()\n)\n", "c C()\n");
	assert_int_equal(e->diags.unread.n, 1);
	read(e, read_module_tree, str_from_c(repeated(e, "M(\n", "(a): A(\n", 100000, "")));
	assert_int_equal(e->diags.unread.n, 2);
	read(e, read_module_tree, str_from_c(repeated(e, "M(\n", "(0-3): 4 x A(\n", 1000, "")));
	assert_int_equal(e->diags.unread.n, 3);
	read(e, read_module_tree, str_from_c(repeated(e, "M(\n  (a): A", "('", 100000, "\n")));
	assert_int_equal(e->diags.unread.n, 3);
	e->program.modules.n = 0;
	read(e, read_module_tree, str_from_c(repeated(e, "M(\n", "(0-999): 1000 x A()\n", 1000, "")));
	assert_int_equal(e->program.modules.n, 131000);
	read(e, read_module_tree, str_from_c(repeated(e, "M(\n  (", "a", 600, "): A()\n")));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(every_opcode_is_read),
		T(older_and_newer_forms),
		T(values_without_quotes),
		T(callees_in_the_words_of_the_ir),
		T(outputs_are_flattened_with_their_places),
		T(places_of_statements),
		T(a_cut_graph_is_truncated),
		T(a_missing_line_is_told_once),
		T(what_cannot_be_read_keeps_its_nodes),
		T(wrapped_lines_are_joined),
		T(hostile_brackets),
		T(long_lines_are_linear),
		T(limits_are_told),
		T(every_prefix_is_survived),
		T(a_table_of_2022),
		T(callees_that_print_as_objects),
		T(values_of_a_table),
		T(columns_are_characters),
		T(cells_over_several_lines),
		T(wrapped_tables_are_joined),
		T(damaged_tables),
		T(module_trees),
		T(hostile_module_trees),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
