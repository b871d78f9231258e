/* SPDX-License-Identifier: MIT
 * Texts are the forms that PyTorch 2022 to 2.15 prints, cut short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "split.h"

typedef struct Env {
	Arena a;
	Sources sources;
	Artifacts t;
	Diags diags;
} Env;

static int setup(void **state)
{
	Arena a = arena_new(NULL);
	Env *e = NEW(&a, Env);
	e->a = a;
	sources_init(&e->sources, &e->a);
	artifacts_init(&e->t, &e->a);
	diags_init(&e->diags, &e->a);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	Arena a = ((Env *)*state)->a;
	arena_free(&a);
	return 0;
}

static void split(Env *e, Str text)
{
	Str why;
	FileId f = sources_add_bytes(&e->sources, S("f"), text, 0, &why);
	assert_int_not_equal(f.i, 0);
	e->t.v.n = 1;
	split_source(&e->t, &e->sources, f, NULL, &e->diags);
	for (uint32_t i = 1; i < e->t.v.n; i++) {
		const Artifact *a = &e->t.v.v[i];
		assert_true(a->npieces > 0);
		assert_true(a->at <= a->end);
		assert_true(i == 1 || e->t.v.v[i - 1].at <= a->at);
	}
}

/* "KIND from-to name ...", an artifact after the other, with "; " between. */
static const char *found(Env *e)
{
	Buf b = {.a = &e->a};
	for (uint32_t i = 1; i < e->t.v.n; i++) {
		const Artifact *a = &e->t.v.v[i];
		const Source *s = source_get(&e->sources, a->file);
		const Piece *last = &a->pieces[a->npieces - 1];
		if (i > 1)
			buf_add(&b, S("; "));
		buf_add(&b, artifact_kind_name(a->kind));
		buf_printf(&b, " %u-%u", source_line_col(s, a->pieces[0].src).line,
		           source_line_col(s, last->src).line);
		if (a->name.n)
			buf_printf(&b, " " STR_FMT, STR_ARG(a->name));
		if (a->open_end)
			buf_add(&b, S(" open"));
		if (a->cut_head)
			buf_add(&b, S(" headless"));
		if (a->flat)
			buf_add(&b, S(" flat"));
	}
	buf_char(&b, '\0');
	return b.p;
}

#define SPLITS(text, want) (split(*state, S(text)), assert_string_equal(found(*state), want))

static const Artifact *nth(void **state, uint32_t i)
{
	Env *e = *state;
	assert_true(i < e->t.v.n);
	return &e->t.v.v[i];
}

static void assert_str(Str s, const char *want)
{
	assert_int_equal(s.n, strlen(want));
	assert_memory_equal(s.p ? s.p : "", want, s.n);
}

/* The clean text of an artifact; each byte that stands in the source must be found there. */
static void assert_text(void **state, uint32_t i, const char *want)
{
	Env *e = *state;
	Text t = artifact_text(nth(state, i), &e->sources, &e->a);
	Str src = source_get(&e->sources, t.file)->text;
	assert_str(t.s, want);
	for (uint32_t k = 0; k < t.s.n; k++)
		if (t.s.p[k] != '\n' && t.s.p[k] != ' ' && !strchr("<>&\"'", t.s.p[k]))
			assert_int_equal(src.p[text_offset(&t, k)], t.s.p[k]);
}

/* The header as a message would point at it. */
static void assert_header(void **state, uint32_t i, const char *want)
{
	const Artifact *a = nth(state, i);
	assert_str(str_sub(source_get(&((Env *)*state)->sources, a->file)->text, a->at, a->end), want);
}

#define P23 "V1201 02:00:35.778000 7842 torch/_dynamo/output_graph.py:1353] [0/0_1] [__graph_code] "
#define B23 "V1201 02:00:35.344000 7842 torch/_dynamo/convert_frame.py:734] [0/0] [__bytecode] "

/* ---- prefixes ---- */

#define GRAPH23                                                                                    \
	P23 "TRACED GRAPH\n" P23 " ===== __compiled_fn_2 =====\n" P23                                  \
		" /usr/lib/torch/fx/_lazy_graph_module.py class GraphModule(torch.nn.Module):\n" P23       \
		"    def forward(self, L_x_: \"f32[2][1]cpu\"):\n" P23 "        l_x_ = L_x_\n" P23         \
		"        h: \"f32[2][1]cpu\" = torch.relu(l_x_);  l_x_ = None\n" P23                       \
		"        return (h,)\n" P23 "        \n" P23 "\n"

static void a_record_of_2_3(void **state)
{
	SPLITS("noise\n" GRAPH23 "noise\n", "graph-code 3-8 __compiled_fn_2");
	const Artifact *a = nth(state, 1);
	assert_str(a->compile_id, "0/0");
	assert_int_equal(a->attempt, 1);
	assert_str(a->tag, "graph_code");
	assert_str(a->process, "7842");
	assert_int_equal(a->prefix, PREFIX_2_3);
	assert_int_equal(a->torch.lo, 203);
	assert_header(state, 1, "===== __compiled_fn_2 =====");
	assert_text(
		state, 1,
		" ===== __compiled_fn_2 =====\n"
		" /usr/lib/torch/fx/_lazy_graph_module.py class GraphModule(torch.nn.Module):\n"
		"    def forward(self, L_x_: \"f32[2][1]cpu\"):\n        l_x_ = L_x_\n"
		"        h: \"f32[2][1]cpu\" = torch.relu(l_x_);  l_x_ = None\n        return (h,)");
	assert_int_equal(((Env *)*state)->t.torch_lines, 9);
}

static void lines_of_others_do_not_enter_a_record(void **state)
{
	SPLITS(P23 "TRACED GRAPH\n" P23 " ===== __compiled_fn_2 =====\nstep 6 loss 0.2\n" P23
	           " f.py class GraphModule(torch.nn.Module):\n" B23
	           "ORIGINAL BYTECODE f /a.py line 3 \n" P23
	           "    def forward(self, x):\n  warnings.warn(\n" P23 "        return (x,)\n" B23
	           "  3 RETURN_VALUE\n",
	       "graph-code 2-8 __compiled_fn_2; bytecode-original 5-9 f");
	assert_text(state, 1,
	            " ===== __compiled_fn_2 =====\n f.py class GraphModule(torch.nn.Module):\n"
	            "    def forward(self, x):\n        return (x,)");
	assert_text(state, 2, "ORIGINAL BYTECODE f /a.py line 3 \n  3 RETURN_VALUE");
}

#define R(rank, body)                                                                              \
	"[rank" #rank "]:V1201 02:00:35.778000 1" #rank " torch/a.py:13] [0/0] [__graph_code] " body   \
	"\n"

static void ranks_take_turns(void **state)
{
	SPLITS(R(0, "TRACED GRAPH") R(1, "TRACED GRAPH") R(0, " ===== __compiled_fn_2 =====")
	           R(1, " ===== __compiled_fn_2 =====") R(0, " f.py class A(torch.nn.Module):")
	               R(0, "    def forward(self, x):") R(1, " f.py class A(torch.nn.Module):")
	                   R(1, "    def forward(self, y):") R(1, "        return (y,)")
	                       R(0, "        return (x,)"),
	       "graph-code 3-10 __compiled_fn_2; graph-code 4-9 __compiled_fn_2");
	assert_str(nth(state, 1)->process, "rank0:10");
	assert_str(nth(state, 2)->process, "rank1:11");
	assert_int_equal(nth(state, 1)->order, 1);
	assert_int_equal(nth(state, 2)->order, 1);
}

static void equal_prefixes_are_cut_at_headers(void **state)
{
	SPLITS(B23 "ORIGINAL BYTECODE f /a.py line 3 \n" B23 "  3 RETURN_VALUE\n" B23 "\n" B23
	           "MODIFIED BYTECODE f /a.py line 3 \n" B23 "  3 RETURN_VALUE\n",
	       "bytecode-original 1-2 f; bytecode-modified 4-5 f");
}

static void a_thread_id_is_no_process(void **state)
{
#define T(body) "V1201 02:00:35.778000 140234567890123 torch/a.py:13] [0/0] [__bytecode] " body "\n"
	SPLITS(T("ORIGINAL BYTECODE f /a.py line 3") T("  3 RETURN_VALUE"), "bytecode-original 1-2 f");
	assert_str(nth(state, 1)->process, "");
	assert_int_equal(nth(state, 1)->torch.lo, 203);
	assert_int_equal(nth(state, 1)->torch.hi, 205);
}

static void trace_ids_of_compiled_autograd(void **state)
{
	SPLITS("V1201 02:00:35.778000 7 a.py:13] [!0/1/0] [__graph_code]  ===== __compiled_fn_2 =====\n"
	       "V1201 02:00:35.778000 7 a.py:13] [!0/1/0] [__graph_code]     def forward(self, x):\n"
	       "V1201 02:00:36.778000 7 a.py:13] [!0] [__compiled_autograd]     def forward(self, "
	       "inputs):\n",
	       "graph-code 1-2 __compiled_fn_2 open; graph-code 3-3 open");
	assert_str(nth(state, 1)->compile_id, "!0/1/0");
	assert_str(nth(state, 2)->compile_id, "!0");
}

#define P22 "[2023-12-14 10:02:03,456] [0/0_1] torch._dynamo.output_graph.__graph_code: [DEBUG] "
#define P21 "[2023-12-14 10:02:03,456] [0/0] torch._dynamo.output_graph.__graph_code: [DEBUG] "

static void records_of_2_1_and_2_2(void **state)
{
	SPLITS(P22 "TRACED GRAPH\n" P22 " ===== __compiled_fn_0 =====\n" P22
	           " <eval_with_key>.0 class GraphModule(torch.nn.Module):\n" P22
	           "    def forward(self, L_x_ : torch.Tensor):\n" P22 "        return (x,)\n",
	       "graph-code 2-5 __compiled_fn_0");
	assert_int_equal(nth(state, 1)->torch.lo, 202);
	assert_int_equal(nth(state, 1)->torch.hi, 202);
	assert_str(nth(state, 1)->process, "");
	SPLITS(P21 "TRACED GRAPH\n" P21
	           " __compiled_fn_0 <eval_with_key>.0 opcode  name  target  args  kwargs\n" P21
	           "------  ----  ------  ----  ------\n" P21 "placeholder  x  x  ()  {}\n" P21
	           "output  output  output  ((x,),)  {}\n" P21 "\n",
	       "graph-table 2-5 __compiled_fn_0");
	assert_int_equal(nth(state, 1)->torch.lo, 201);
	assert_int_equal(nth(state, 1)->torch.hi, 202);
}

static void guards_of_2_1_are_many_records(void **state)
{
	SPLITS("[2023-12-14 10:02:03,456] [0/0] torch._dynamo.guards.__guards: [DEBUG] GUARDS:\n"
	       "[2023-12-14 10:02:03,457] [0/0] torch._dynamo.guards.__guards: [DEBUG] x == 1\n"
	       "[2023-12-14 10:02:03,459] [0/0] torch._dynamo.guards.__guards: [DEBUG] y == 1\n"
	       "[2023-12-14 10:02:03,499] [1/0] torch._dynamo.guards.__guards: [DEBUG] GUARDS:\n"
	       "[2023-12-14 10:02:03,501] [1/0] torch._dynamo.guards.__guards: [DEBUG] z == 1\n",
	       "guards 1-3; guards 4-5");
}

#define BODY22                                                                                     \
	"    def forward(self, x : torch.Tensor):\n        relu = torch.relu(x);  x = None\n        "  \
	"return (relu,)\n        \n"

static void first_line_prefixes_of_2_0(void **state)
{
	SPLITS("[2023-03-16 10:02:03,456] torch._dynamo.output_graph: [INFO] Step 2: calling compiler "
	       "function f\n"
	       "====== Forward (only) graph 3 ======\nclass <lambda>(torch.nn.Module):\n" BODY22
	       "[2023-03-16 10:02:03,456] torch._dynamo.output_graph: [INFO] TRACED GRAPH\n"
	       " __compiled_fn_0 <eval_with_key>.1 class GraphModule(torch.nn.Module):\n" BODY22 "\n"
	       "[2023-03-16 10:02:03,456] torch._dynamo.convert_frame: [INFO] ORIGINAL BYTECODE <graph "
	       "break in f> /a.py line 12 \n"
	       " 13           0 LOAD_GLOBAL              0 (torch)\n              2 RETURN_VALUE\n\n \n"
	       "[2023-03-16 10:02:03,456] torch._dynamo.convert_frame: [INFO] GUARDS:\n - \n           "
	       " local 'x' TENSOR_MATCH\n",
	       "graph-code 2-6 Forward (only) graph 3; graph-code 9-12 __compiled_fn_0; "
	       "bytecode-original 15-17 <graph break in f>; "
	       "guards 20-22");
	assert_int_equal(nth(state, 1)->aot_id, 4);
	assert_int_equal(nth(state, 1)->prefix, PREFIX_NONE);
	assert_int_equal(nth(state, 1)->torch.hi, 200);
	assert_int_equal(nth(state, 2)->prefix, PREFIX_2_0);
	assert_str(nth(state, 2)->tag, "output_graph");
	assert_str(nth(state, 3)->code_file, "/a.py");
	assert_int_equal(nth(state, 3)->code_line, 12);
}

static void torchdynamo_of_2022(void **state)
{
	SPLITS("torchdynamo.output_graph: [INFO] TRACED GRAPH\n __compiled_fn_0 <eval_with_key>.1 "
	       "opcode  name  target  args  kwargs\n"
	       "---  ---\nplaceholder  x  x  ()  {}\noutput  output  output  ((x,),)  {}\n\n"
	       "[2022-10-14 10:02:03,456] torchdynamo.convert_frame: [Level 15] MODIFIED BYTECODE f "
	       "/a.py line 3\n  3 0 RETURN_VALUE\n",
	       "graph-table 2-5 __compiled_fn_0; bytecode-modified 7-8 f");
	assert_int_equal(nth(state, 1)->prefix, PREFIX_2022);
	assert_int_equal(nth(state, 2)->prefix, PREFIX_2022_TIME);
	assert_int_equal(nth(state, 1)->torch.lo, 113);
	assert_int_equal(nth(state, 1)->torch.hi, 113);
}

static void plain_prints_of_august_2022(void **state)
{
	SPLITS("Unimplemented - causing graph break: call\n\n__compiled_fn_0 <eval_with_key>.1\nopcode "
	       " name  target  args  kwargs\n---  ---\n"
	       "placeholder  x  x  ()  {}\noutput  output  output  ((x,),)  {}\n\nORIGINAL BYTECODE f "
	       "/a.py 12\n 13  0 RETURN_VALUE\n\n"
	       "MODIFIED BYTECODE\n 12  0 RETURN_VALUE\n",
	       "graph-break 1-1; graph-table 3-7 __compiled_fn_0; bytecode-original 9-10 f; "
	       "bytecode-modified 12-13 f");
	assert_str(nth(state, 4)->code_file, "/a.py");
	assert_int_equal(nth(state, 2)->torch.hi, 113);
}

static void formats_of_the_user(void **state)
{
	SPLITS("DEBUG:torch.fx.passes.runtime_assert.__graph_code:TRACED GRAPH\n ===== __compiled_fn_2 "
	       "=====\n"
	       " a.py class GraphModule(torch.nn.Module):\n" BODY22 "\n"
	       "DEBUG | torch._dynamo.output_graph.__graph_code | TRACED GRAPH\n ===== __compiled_fn_4 "
	       "=====\n"
	       " a.py class GraphModule(torch.nn.Module):\n" BODY22 "\n"
	       "10:02 torch._dynamo.convert_frame.__bytecode >> ORIGINAL BYTECODE f /a.py line 3 \n  3 "
	       "RETURN_VALUE\n",
	       "graph-code 2-6 __compiled_fn_2; graph-code 10-14 __compiled_fn_4; bytecode-original "
	       "17-18 f");
	for (uint32_t i = 1; i <= 3; i++)
		assert_int_equal(nth(state, i)->prefix, PREFIX_FORMAT);
	assert_str(nth(state, 1)->tag, "graph_code");
	assert_str(nth(state, 3)->tag, "bytecode");
}

static void captured_log_of_pytest(void **state)
{
	SPLITS("DEBUG    torch._dynamo.output_graph.__bytecode:output_graph.py:1346 " B23
	       "ORIGINAL BYTECODE f /a.py line 3\n  3 RETURN_VALUE\n",
	       "bytecode-original 1-2 f");
	assert_str(nth(state, 1)->process, "7842");
	assert_str(nth(state, 1)->compile_id, "0/0");
}

static void debug_log_of_aot(void **state)
{
	SPLITS("[aot_autograd.py:1321 DEBUG] ====== Forward (only) graph 1 "
	       "======\n[aot_autograd.py:1322 DEBUG] class <lambda>(torch.nn.Module):\n" BODY22,
	       "graph-code 2-5 Forward (only) graph 1");
	assert_int_equal(nth(state, 1)->aot_id, 2);
}

static void messages_of_others_are_no_records(void **state)
{
	SPLITS("[W1201 02:01:38.794278657 File.cpp:727] TRACED GRAPH\n2026-12-01 01:41:33,101 INFO "
	       "trainer: saved\n"
	       "V1201 02:00:35.778 7842 a.py:1] TRACED GRAPH\nV1201 02:00:35.778000 7842 no file] x\n",
	       "");
	assert_int_equal(((Env *)*state)->t.torch_lines, 0);
	SPLITS(
		P23
		"Compiling took 3 s\nI1201 02:00:35.778000 7842 train.py:1] class Net(torch.nn.Module):\n",
		"");
}

/* ---- prefixes of other programs ---- */

#define F(p, a, b, c, d) p a "\n" p b "\n" p c "\n" p d "\n"
#define BYTES(p)                                                                                   \
	F(p, "ORIGINAL BYTECODE f /a.py line 3 ", "  3           RESUME                   0",          \
	  "              LOAD_CONST               0 (None)", "              RETURN_VALUE")

static void foreign_prefixes(void **state)
{
	static const char *const prefixes[] = {
		"2026-12-01T01:41:10.0000000Z ",
		"2026-12-01T01:41:10.000000000Z stderr F ",
		"trainer-1  | ",
		"[default0]:",
		"[1,0]<stderr>:",
		"0: ",
		"> ",
		"> > ",
		"+",
		"-",
		"2026-12-01T01:41:10.000Z trainer.0 | [default7]:> ",
	};
	Env *e = *state;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		for (int marked = 0; marked < 2; marked++) {
			const char *p = prefixes[i], *m = marked ? B23 : "";
			Str s = str_printf(&e->a,
			                   "%s%sORIGINAL BYTECODE f /a.py line 3 \n%s%s  3           RESUME    "
			                   "               0\n%s%s         >>   RETURN_VALUE\n%s%s\n",
			                   p, m, p, m, p, m, p, m);
			split(e, s);
			assert_string_equal(found(e), "bytecode-original 1-3 f");
			assert_text(state, 1,
			            "ORIGINAL BYTECODE f /a.py line 3 \n  3           RESUME                   "
			            "0\n         >>   RETURN_VALUE");
		}
	}
	assert_str(nth(state, 1)->process, "default7:7842");
}

static void labels_tell_processes_apart(void **state)
{
	SPLITS("a-1  | ORIGINAL BYTECODE f /a.py line 3\nb-2  | ORIGINAL BYTECODE g /a.py line 3\na-1  "
	       "|   3 RETURN_VALUE\n"
	       "b-2  |   3 LOAD_FAST 0 (x)\nb-2  |     RETURN_VALUE\n",
	       "bytecode-original 1-3 f; bytecode-original 2-5 g");
	assert_str(nth(state, 1)->process, "a-1");
	assert_str(nth(state, 2)->process, "b-2");
}

static void one_match_is_data(void **state)
{
	SPLITS("def forward(self, x):\n    y = x + 1;  x = None\n> quoted\n3: three\n    return y\n",
	       "graph-code 1-5");
	assert_text(state, 1, "def forward(self, x):\n    y = x + 1;  x = None\n    return y");
	SPLITS("GUARDS:\n\nTREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- GuardManager\n| | +- "
	       "TYPE_MATCH\n\nx\n",
	       "guards 1-6");
}

static void partial_lines_are_joined(void **state)
{
#define C(flag, body) "2026-12-01T01:41:10.0Z stderr " flag " " body "\n"
	SPLITS("2026-12-01T01:41:10.000Z stderr P ORIGINAL BYTE\n2026-12-01T01:41:10.000Z stderr F "
	       "CODE f /a.py line 3\n"
	       "2026-12-01T01:41:10.000Z stderr F   3 RETURN_VALUE\n",
	       "bytecode-original 1-3 f");
	assert_text(state, 1, "ORIGINAL BYTECODE f /a.py line 3\n  3 RETURN_VALUE");
	assert_int_equal(nth(state, 1)->pieces[1].joins, 1);
}

/* ---- free text ---- */

#define GM                                                                                         \
	"class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2]\"):\n         # "      \
	"File: a.py:3 in f, code: y = x + 1\n        y: \"f32[2]\" = x + 1;  x = None\n        "       \
	"return (y,)\n        "

static void printed_modules(void **state)
{
	SPLITS(GM "\n", "graph-code 1-5 GraphModule");
	assert_header(state, 1, "class GraphModule(torch.nn.Module):");
	SPLITS("\n\n\ndef forward(self, x):\n    y = x + 1;  x = None\n    return y\n    \n",
	       "graph-code 4-6");
	SPLITS("Net(\n  (lin): Linear(in_features=4, out_features=4, bias=True)\n  (act): "
	       "Sequential(\n    (0): ReLU()\n  )\n)\n\n\n"
	       "torch.fx._symbolic_trace.wrap(\"helper\")\n\ndef forward(self, x):\n    y = helper(x); "
	       " x = None\n    return y\n    \n"
	       "# To see more debug info, please use `graph_module.print_readable()`\nx = 3\n",
	       "module-tree 1-6 Net; graph-code 11-13");
	SPLITS("GraphModule()\n\n\n\ndef forward(self, x):\n    y = x + 1;  x = None\n    return y\n",
	       "module-tree 1-1 GraphModule; graph-code 5-7");
}

static void texts_without_a_line_end_between(void **state)
{
	SPLITS(GM GM GM,
	       "graph-code 1-5 GraphModule; graph-code 6-10 GraphModule; graph-code 11-15 GraphModule");
	assert_text(state, 2,
	            "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2]\"):\n      "
	            "   # File: a.py:3 in f, code: y = x + 1\n"
	            "        y: \"f32[2]\" = x + 1;  x = None\n        return (y,)");
	assert_header(state, 2, "class GraphModule(torch.nn.Module):");
}

static void nested_classes_belong_to_the_first(void **state)
{
	SPLITS("class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        a = self.a;  x "
	       "= a = None\n        return a\n        \n"
	       "    class a(torch.nn.Module):\n        def forward(self): pass\n\n        class "
	       "0(torch.nn.Module):\n            def forward(self, y):\n"
	       "                # No stacktrace found for following nodes\n                return y\n  "
	       "              \n"
	       "    class <lambda>(torch.nn.Module):\n        def forward(self):\n            pass\n"
	       "class Other(torch.nn.Module):\n    def forward(self, x):\n        z = x + 1;  x = "
	       "None\n        return z\n",
	       "graph-code 1-16 GraphModule; graph-code 17-20 Other");
}

static void expanded_signatures(void **state)
{
	SPLITS("class inner_f(torch.nn.Module):\n    def forward(\n        self,\n        primals_1: "
	       "\"f32[4]\",  # PlainAOTInput(idx=0)\n        s: \"Sym(s0)\",\n    ):\n"
	       "        relu: \"f32[4]\" = torch.ops.aten.relu.default(primals_1);  primals_1 = None\n "
	       "       return pytree.tree_unflatten([\n"
	       "            relu,  # PlainAOTOutput(idx=0)\n            None,  # None\n        ], "
	       "self._out_spec)\nx = 1\n",
	       "graph-code 1-11 inner_f");
	SPLITS("def forward(\n    self,\n    x: \"f32[4]\",  # PlainAOTInput(idx=0)\n):\n    return "
	       "(\n        x,  # PlainAOTOutput(idx=0)\n    )\nx = 1\n",
	       "graph-code 1-7");
}

static void options_that_print_more(void **state)
{
	SPLITS(
		"class <lambda>(torch.nn.Module):\n    def forward(self, x: \"f32[3]\"):\n        \"\"\"\n "
		"       val: 'FakeTensor(..., size=(3,))'\n        stack_trace: ('  File \"a.py\"\\n'\n"
		"         'for x in y:\\n')\n        \"\"\"\n\n        return x\n",
		"graph-code 1-9 <lambda>");
	SPLITS("def forward(self, x):\n    _rf = torch._C._profiler._RecordFunctionFast('## K ##'); "
	       "_rf.__enter__()\n    y = x + 1;  x = None\n    return (y,)\n"
	       "    _rf.__exit__(None, None, None)\n",
	       "graph-code 1-5");
}

static void user_source_is_no_graph(void **state)
{
	SPLITS("import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        "
	       "super().__init__()\n        self.lin = torch.nn.Linear(2, 2)\n\n"
	       "    def forward(self, x):\n        if x.sum() > 0:\n            x = self.lin(x)\n      "
	       "  return x\n",
	       "");
	SPLITS("class Net(nn.Module):\n    def forward(self, x):\n        \"\"\"Adds.\"\"\"\n        "
	       "return x\n",
	       "");
	SPLITS("class Net(nn.Module):\n    def forward(self, x):\n        x = self.conv(x)\n        x "
	       "= x.relu()\n        return x\n",
	       "");
	SPLITS("class Net(nn.Module):\n    def forward(self, x):\n        y = self.conv(x)\n        "
	       "return y\n",
	       "");
	SPLITS("class Net(nn.Module):\n    def forward(self, x):\n        return self.b(self.a(x))\n",
	       "");
	SPLITS("class Net(nn.Module):\n    def forward(self, x):\n        y = x.relu().view(-1)\n      "
	       "  return (x, y)\n",
	       "");
	SPLITS("class Net(nn.Module):\n    def helper(self):\n        return 1\n    def forward(self, "
	       "x):\n        return x\n",
	       "");
	SPLITS("    def forward(self, x):\n        with torch.no_grad():\n            y = x + 1;  x = "
	       "None\n",
	       "");
	SPLITS("Traceback:\n  File \"a.py\", line 3, in g\n    def forward(self, x):\n  File \"b.py\", "
	       "line 3\n    return fn(*args)\n",
	       "");
	/* a helper before, user code behind: neither is taken along */
	SPLITS("def helper(x):\n    return x\n" GM "\nclass Net(nn.Module):\n    def forward(self, "
	       "x):\n        for i in x:\n            pass\n",
	       "graph-code 3-7 GraphModule");
}

static void repro_files(void **state)
{
	SPLITS("import torch\nfrom torch.nn import *\nclass Repro(torch.nn.Module):\n    def "
	       "__init__(self) -> None:\n        super().__init__()\n        self.lin = Linear(2, "
	       "2).cuda()\n\n    \n    \n"
	       "    def forward(self, primals_1):\n        add = torch.ops.aten.add.Tensor(primals_1, "
	       "1);  primals_1 = None\n        return (add,)\n        \n"
	       "def load_args(reader):\n    buf0 = reader.storage(None, 16)\nmod = Repro()\n",
	       "graph-code 3-12 Repro; repro-args 14-15");
	SPLITS("class Repro(torch.nn.Module):\n    def __init__(self) -> None:\n        "
	       "super().__init__()\n\n    def forward(self, relu):\n        return (relu,)\n",
	       "graph-code 1-6 Repro");
}

static void quoted_source_begins_nothing(void **state)
{
	SPLITS("class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        # File: a.py:3 "
	       "in f, code: class Net(torch.nn.Module):\n        a = x + 1;  x = None\n"
	       "        # File: a.py:4 in f, code: def forward(self, x):\n        # File: a.py:5 in f, "
	       "code: TRACED GRAPH\n        return (a,)\n",
	       "graph-code 1-7 GraphModule");
	SPLITS(
		"        # File: a.py:3 in f, code: class Net(torch.nn.Module):\n        # File: a.py:4 in "
		"f, code: graph():\n[stage: 1]# File: a.py:3 in f, code: class Net(torch.nn.Module):\n",
		"");
	SPLITS(
		"V1201 02:00:35.778000 7 a.py:13] [0/0] [__trace_source]     def forward(self, x):\nV1201 "
		"02:00:35.779000 7 a.py:13] [0/0] [__trace_source] ORIGINAL BYTECODE f /a.py line 3\n",
		"");
}

static void graph_texts(void **state)
{
	SPLITS("graph():\n    %x : [num_users=1] = placeholder[target=x]\n    %add : [num_users=1] = "
	       "call_function[target=operator.add](args = (%x, 1), kwargs = {})\n    return (add,)\n   "
	       " %y\n",
	       "graph-text 1-4");
	assert_int_equal(nth(state, 1)->torch.lo, 201);
	SPLITS("graph():\n    %x : [#users=1] = placeholder[target=x]\nloss 3\n    return x\n",
	       "graph-text 1-4");
	assert_int_equal(nth(state, 1)->torch.hi, 200);
	assert_text(state, 1, "graph():\n    %x : [#users=1] = placeholder[target=x]\n    return x");
	SPLITS("graph():\ngraph(x):\nfoo\n", "");
	/* an object that prints over two lines */
	SPLITS("graph():\n    %x : [num_users=1] = call_function[target=f](args = (tensor([1,\n 2]),), "
	       "kwargs = {})\n    return x\n",
	       "graph-text 1-4");
	assert_int_equal(nth(state, 1)->npieces, 4);
}

#define D(body) "V1201 02:00:35.778000 7 a.py:13] [4/0] [__ddp_graphs] " body "\n"

static void split_graphs_of_ddp(void **state)
{
	SPLITS(D("") D("---orig graph---") D("graph():")
	           D("    %x : [num_users=1] = placeholder[target=x]") D("    return x") D("")
	               D("---submod_0 graph---") D("graph():")
	                   D("    %x : [num_users=1] = placeholder[target=x]") D("    return x") D("")
	                       D("---------------"),
	       "graph-text 3-5 orig graph; graph-text 8-10 submod_0 graph");
}

static void exported_programs(void **state)
{
	SPLITS("ExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def forward(self, "
	       "b: \"f32[]\"):\n            add: \"f32[]\" = b + 1;  b = None\n            return "
	       "(add,)\n            \n"
	       "Graph signature: ExportGraphSignature(input_specs=[])\nRange constraints: {}\n",
	       "graph-code 2-5 GraphModule; export-signature 7-7");
	assert_str(nth(state, 1)->tag, "ExportedProgram");
	SPLITS("ExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def forward(self, "
	       "b: \"f32[]\"):\n            return (b,)\n    \n"
	       "Graph signature:\n    # inputs\n    b: BUFFER target='b' persistent=True\n    \n    # "
	       "outputs\n    b: USER_OUTPUT\n    \nRange constraints: {}\n",
	       "graph-code 2-4 GraphModule; export-signature 6-11");
	assert_str(nth(state, 2)->tag, "ExportedProgram");
	SPLITS("GraphSignature(parameters=[], in_spec=TreeSpec(tuple, None, [*,\n    *]))\nx\n",
	       "export-signature 1-2");
	SPLITS("\n# inputs\nx: USER_INPUT\n\n# outputs\ny: USER_OUTPUT\n", "export-signature 2-6");
	SPLITS("# inputs\nx = 3\n", "");
}

/* ---- everything else a log holds ---- */

static void names_of_graphs(void **state)
{
	SPLITS(P23 "TRACED GRAPH\n" P23
	           " ===== pre insert_deferred_runtime_asserts __compiled_fn_2 =====\n" P23
	           "    def forward(self, x):\n" P23 "        return (x,)\n",
	       "graph-code 2-4 __compiled_fn_2");
	assert_str(nth(state, 1)->name_line, "pre insert_deferred_runtime_asserts __compiled_fn_2");
	SPLITS(P23 "TRACED GRAPH\n" P23 " ===== AFTER POST GRAD =====\n" P23
	           "    def forward(self, x):\n" P23 "        return (x,)\n",
	       "graph-code 2-4 AFTER POST GRAD");
	assert_str(nth(state, 1)->name_line, "");
	assert_int_equal(nth(state, 1)->aot_id, 0);
	SPLITS(P23 "TRACED GRAPH\n" P23 " ===== Backward graph 12 =====\n" P23
	           "    def forward(self, x):\n" P23 "        return (x,)\n",
	       "graph-code 2-4 Backward graph 12");
	assert_int_equal(nth(state, 1)->aot_id, 13);
	SPLITS(P23 "TRACED GRAPH\n" P23
	           " ===== __compiled_fn_2_9dd0b50c_71a6_4de7_bed3_ffa13c188107 =====\n" P23
	           "    def forward(self, x):\n" P23 "        return (x,)\n",
	       "graph-code 2-4 __compiled_fn_2_9dd0b50c_71a6_4de7_bed3_ffa13c188107");
	assert_int_equal(nth(state, 1)->torch.lo, 208);
}

static void names_of_frames(void **state)
{
	SPLITS(
		"ORIGINAL BYTECODE <graph break in <lambda>> /my dir/a b.py line 12 \n 13 0 RETURN_VALUE\n",
		"bytecode-original 1-2 <graph break in <lambda>>");
	assert_str(nth(state, 1)->code_file, "/my dir/a b.py");
	SPLITS("MODIFIED BYTECODE forward C:\\x y\\a.py line 7\n 13 0 RETURN_VALUE\n",
	       "bytecode-modified 1-2 forward");
	assert_str(nth(state, 1)->code_file, "C:\\x y\\a.py");
	assert_int_equal(nth(state, 1)->code_line, 7);
	SPLITS("ORIGINAL BYTECODE is what we look at\nMODIFIED BYTECODES\n", "");
	SPLITS("WON'T CONVERT f /a.py line 3 \ndue to: \nTraceback\n", "");
	SPLITS("WON'T CONVERT f /a.py line 3 \n  4 0 RETURN_VALUE\n", "bytecode-original 1-2 f");
}

static void listings_end_by_their_grammar(void **state)
{
	SPLITS("ORIGINAL BYTECODE f /a.py line 3\n  3  0 LOAD_CONST 1 ({'a': <obj\n  more of it\n\n >, "
	       "'b': 1})\n     2 RETURN_VALUE\n\nExceptionTable:\n  4 to 20 -> 30 [1] lasti\n\n\nhello "
	       "world\n",
	       "bytecode-original 1-9 f");
	SPLITS(
		"ORIGINAL BYTECODE f /a.py line 3\n  3  0 RESUME 0\nloss 0.3\n     2 RETURN_VALUE\nbye\n",
		"bytecode-original 1-4 f");
	assert_text(state, 1, "ORIGINAL BYTECODE f /a.py line 3\n  3  0 RESUME 0\n     2 RETURN_VALUE");
	SPLITS("ORIGINAL BYTECODE f /a.py line 3\n  3  0 RESUME 0\n...\n[... 37 lines omitted "
	       "...]\n...\n     2 RETURN_VALUE\n",
	       "bytecode-original 1-6 f");
	assert_int_equal(nth(state, 1)->npieces, 6);
	SPLITS("ORIGINAL BYTECODE f /a.py line 3\n  3  0 RESUME 0\n", "bytecode-original 1-2 f open");
}

static void words_of_a_log(void **state)
{
	SPLITS("aot_config id: 3, fw_metadata=ViewAndMutationMeta(input_info=[])\nGraph break in user "
	       "code at /a b/c.py:14\nReason: x\nUser code traceback:\n  File \"a.py\", line 1, in f\n "
	       "   x\n\n"
	       "Graph break (details suppressed) in user code at /c.py:15\n\nRecompiling function rec "
	       "in /a.py:258\n    triggered by:\n    - 0/0: L['n'] == 1\n"
	       "TRACED GRAPH TENSOR SIZES\n===== __compiled_fn_0 =====\nl_x_: (s0, s1)\nl_x_ "
	       "(concrete): (6, 4)\n\nMutating object of type Box (source name: L['box'])\n\n      "
	       "File \"a.py\", line 3\n\nend\n",
	       "aot-metadata 1-1; graph-break 2-6; graph-break 8-8; recompile 10-12 rec; graph-sizes "
	       "13-16 __compiled_fn_0; side-effects 18-20");
	assert_int_equal(nth(state, 1)->aot_id, 4);
	assert_str(nth(state, 2)->code_file, "/a b/c.py");
	assert_int_equal(nth(state, 2)->code_line, 14);
	assert_int_equal(nth(state, 4)->code_line, 258);
	SPLITS("('Recompiling function rec in /a.py:258', \"triggered by the following guard failure: "
	       "L['n'] == 1\")\n",
	       "recompile 1-1 rec");
	assert_str(nth(state, 1)->code_file, "/a.py");
}

#define O(body) "V1201 02:00:35.778000 7 a.py:13] [0/0] [__output_code] " body "\n"

static void output_code_holds_nothing_else(void **state)
{
	SPLITS(O("Output code: ") O("# graph():") O("class Runner(torch.nn.Module):")
	           O("    def forward(self, x):") O("        return x")
	               O("Output code written to: /a.py"),
	       "output-code 1-5");
}

static void payloads_of_a_trace(void **state)
{
	SPLITS("V1201 02:00:35.778000 7 a.py:13] {\"dynamo_output_graph\": {}, \"has_payload\": "
	       "\"x\"}\n\tclass GraphModule(torch.nn.Module):\n\t    def forward(self, x: "
	       "\"f32[2]\"):\n\t        return (x,)\n\t        \n"
	       "V1201 02:00:35.778000 7 a.py:13] {\"dynamo_output_graph\": {}, \"has_payload\": "
	       "\"x\"}\n\tclass GraphModule(torch.nn.Module):\n\t    def forward(self, x: "
	       "\"f32[2]\"):\n\t        return (x,)\n",
	       "graph-code 2-4 GraphModule; graph-code 7-9 GraphModule");
	assert_text(state, 1,
	            "class GraphModule(torch.nn.Module):\n    def forward(self, x: "
	            "\"f32[2]\"):\n        return (x,)");
}

/* ---- damage ---- */

static void markdown(void **state)
{
	SPLITS("Text:\n```python\n f.py class GraphModule(torch.nn.Module):\n" BODY22
	       "```\nmore\n~~~\ndef forward(self, x):\n    y = x + 1;  x = None\n    return (y,)\n~~~\n"
	       "1. list\n\n   ```py\n   TRACED GRAPH\n    ===== __compiled_fn_9 =====\n    f.py class "
	       "GraphModule(torch.nn.Module):\n       def forward(self, x):\n           y = x + 1;  x "
	       "= None\n           return (y,)\n   ```\nInline `return (view,)` here\n",
	       "graph-code 3-6 GraphModule; graph-code 11-13; graph-code 19-23 __compiled_fn_9");
}

static void lost_indentation_is_put_back(void **state)
{
	SPLITS(
		"TRACED GRAPH\n===== __compiled_fn_2 =====\nf.py class GraphModule(torch.nn.Module):\ndef "
		"forward(self, L_x_: \"f32[1]\"):\nl_x_ = L_x_\n\n# File: a.py:13 in f, code: h = x\nc = "
		"self.cond_0;  l_x_ = None\nreturn (c,)\n\n"
		"class cond_0(torch.nn.Module):\ndef forward(self, a):\nreturn a\nTRACED GRAPH\nf.py class "
		"GraphModule(torch.nn.Module):\ndef forward(self, x):\ny = x + 1;  x = None\nreturn y\n",
		"graph-code 2-13 __compiled_fn_2 flat; graph-code 15-18 GraphModule flat");
	assert_text(state, 1,
	            "===== __compiled_fn_2 =====\nf.py class GraphModule(torch.nn.Module):\n    def "
	            "forward(self, L_x_: \"f32[1]\"):\n        l_x_ = L_x_\n        \n"
	            "        # File: a.py:13 in f, code: h = x\n        c = self.cond_0;  l_x_ = "
	            "None\n        return (c,)\n        \n    class cond_0(torch.nn.Module):\n        "
	            "def forward(self, a):\n            return a");
}

static void colours_are_dropped(void **state)
{
	SPLITS(
		"class GraphModule(torch.nn.Module):\n    def forward(self, x: "
		"\"\x1b[31mf32\x1b[0m\x1b[34m[2]\x1b[0m\x1b[2m\x1b[0m\"):\n        \x1b[2m# File: a.py:3 "
		"in f, code: y\x1b[0m\n        y = x[0];  \x1b[2mx = None\x1b[0m\n        return (y,)\n",
		"graph-code 1-5 GraphModule");
	assert_text(state, 1,
	            "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2]\"):\n      "
	            "  # File: a.py:3 in f, code: y\n        y = x[0];  x = None\n        return (y,)");
	SPLITS("def forward(self, x: \"[31mf32[0m^[[34m[2]^[[0m\"):\n    [2m# File: a.py:3 in f, code: "
	       "y[0m\n    y = x[0] + m[2];  [2mx = None[0m\n    return (y,)\n",
	       "graph-code 1-4");
	assert_text(state, 1,
	            "def forward(self, x: \"f32[2]\"):\n    # File: a.py:3 in f, code: y\n    y = x[0] "
	            "+ m[2];  x = None\n    return (y,)");
	/* a coloured prefix */
	SPLITS(
		"\x1b[32mV1201\x1b[0m 02:00:35.344000 7842 a.py:734] [0/0] [__bytecode] \x1b[1mORIGINAL "
		"BYTECODE f /a.py line 3\x1b[0m\n"
		"\x1b[32mV1201\x1b[0m 02:00:35.344000 7842 a.py:734] [0/0] [__bytecode]   3 RETURN_VALUE\n",
		"bytecode-original 1-2 f");
	assert_text(state, 1, "ORIGINAL BYTECODE f /a.py line 3\n  3 RETURN_VALUE");
}

static void pages_and_editors(void **state)
{
	SPLITS("class GraphModule(torch.nn.Module):\n\xc2\xa0\xc2\xa0\xc2\xa0 def forward(self, "
	       "x):\n\xc2\xa0\xc2\xa0\xc2\xa0 \xc2\xa0\xc2\xa0\xc2\xa0 y = x + 1;  x = "
	       "None\n\xc2\xa0\xc2\xa0\xc2\xa0 \xc2\xa0\xc2\xa0\xc2\xa0 return (y,)\n",
	       "graph-code 1-4 GraphModule");
	assert_text(state, 1,
	            "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        y = x + "
	            "1;  x = None\n        return (y,)");
	SPLITS(
		"class GraphModule(torch.nn.Module):\n\tdef forward(self, x):\n\t\ty = x + 1;  x = "
		"None\n\t\treturn (y,)\n\tclass a(torch.nn.Module):\n\t\tdef forward(self):\n\t\t\tpass\n",
		"graph-code 1-7 GraphModule");
	assert_text(state, 1,
	            "class GraphModule(torch.nn.Module):\n        def forward(self, x):\n              "
	            "  y = x + 1;  x = None\n                return (y,)\n"
	            "        class a(torch.nn.Module):\n                def forward(self):\n           "
	            "             pass");
	SPLITS(" &lt;eval_with_key&gt;.0 class &lt;lambda&gt;(torch.nn.Module):\n    def forward(self, "
	       "x: &quot;f32[2]&quot;):\n        y = x &amp; 1;  x = None\n        return (y,)\n",
	       "graph-code 1-4 <lambda>");
	assert_text(state, 1,
	            " <eval_with_key>.0 class <lambda>(torch.nn.Module):\n    def forward(self, x: "
	            "\"f32[2]\"):\n        y = x & 1;  x = None\n        return (y,)");
	/* a text that has the characters themselves is no page */
	SPLITS("def forward(self, x) -> int:\n    y = f(x, '&lt;');  x = None\n    return (y,)\n",
	       "graph-code 1-3");
	assert_text(state, 1,
	            "def forward(self, x) -> int:\n    y = f(x, '&lt;');  x = None\n    return (y,)");
}

static void carriage_returns(void **state)
{
	SPLITS(B23 "ORIGINAL BYTECODE f /a.py line 3 \r\n  3%|x| 3/100\r  4%|x| 4/100 [00:01]" B23
	           "  3           RESUME                   0\r\n" B23 "     RETURN_VALUE\r\n",
	       "bytecode-original 1-3 f");
	assert_text(state, 1,
	            "ORIGINAL BYTECODE f /a.py line 3 \n  3           RESUME                   0\n     "
	            "RETURN_VALUE");
	SPLITS("  4%|x| 4/100 " B23 "ORIGINAL BYTECODE f /a.py line 3\n" B23 "     RETURN_VALUE\n",
	       "bytecode-original 1-2 f");
}

static void torn_lines(void **state)
{
	/* in the prefix, and in the text */
	SPLITS(B23 "ORIGINAL BYTECODE f /a.py line 3 \nV1201 02:00:35.344000 7842 torch/_dynam" B23
	           "    POP_TOP\no/convert_frame.py:734] [0/0] [__bytecode]     LOAD_FAST 0 (x)\n" B23
	           "    LOAD_CO" B23 "    RETURN_VALUE\nNST 1 (1)\n",
	       "bytecode-original 1-4 f");
	assert_text(state, 1,
	            "ORIGINAL BYTECODE f /a.py line 3 \n    LOAD_FAST 0 (x)\n    POP_TOP\n    "
	            "LOAD_CONST 1 (1)\n    RETURN_VALUE");
}

static Str wrapped(Arena *a, Str s, uint32_t width)
{
	Buf b = {.a = a};
	for (Str line; str_cut(&s, '\n', &line);) {
		for (; line.n > width; line = str_sub(line, width, line.n)) {
			buf_add(&b, str_sub(line, 0, width));
			buf_char(&b, '\n');
		}
		buf_add(&b, line);
		buf_char(&b, '\n');
	}
	return buf_str(&b);
}

static void wrapped_lines(void **state)
{
	Env *e = *state;
	/* 80 columns cut the prefix itself */
	for (uint32_t width = 80; width <= 120; width += 20) {
		split(e, wrapped(&e->a,
		                 S(GRAPH23 B23 "ORIGINAL BYTECODE f /srv/proj/scenarios.py line 3 \n" B23
		                               "  3           RESUME                   0\n" B23
		                               "              RETURN_VALUE\n"),
		                 width));
		assert_int_equal(e->t.v.n, 3);
		assert_text(state, 1,
		            " ===== __compiled_fn_2 =====\n /usr/lib/torch/fx/_lazy_graph_module.py class "
		            "GraphModule(torch.nn.Module):\n"
		            "    def forward(self, L_x_: \"f32[2][1]cpu\"):\n        l_x_ = L_x_\n        "
		            "h: \"f32[2][1]cpu\" = torch.relu(l_x_);  l_x_ = None\n        return (h,)");
		assert_text(state, 2,
		            "ORIGINAL BYTECODE f /srv/proj/scenarios.py line 3 \n  3           RESUME      "
		            "             0\n              RETURN_VALUE");
	}
}

static void missing_lines(void **state)
{
	/* without its first lines, without def, without everything but statements */
	SPLITS(B23 "              CALL                     1\n" B23
	           "              LOAD_GLOBAL 1 (__compiled_fn_2)\n" B23 "              RETURN_VALUE\n",
	       "bytecode-modified 1-3 headless");
	SPLITS(P23 " ===== __compiled_fn_2 =====\n" P23 " f.py class A(torch.nn.Module):\n" P23
	           "        h = x + 1;  x = None\n" P23 "        return (h,)\n",
	       "graph-code 1-4 __compiled_fn_2 headless");
	SPLITS(P23 "        h = x + 1;  x = None\n" P23 "        return (h,)\n",
	       "graph-code 1-2 headless");
	SPLITS("class A(torch.nn.Module):\n        h = x + 1;  x = None\n        return (h,)\n",
	       "graph-code 1-3 A headless");
	SPLITS("class GraphModule(torch.nn.Module):\n        # File: a.py:1, code: v.add_(1)\n"
	       "        add_ = v.add_(1)\n        return (v,)\n",
	       "graph-code 1-4 GraphModule headless");
	SPLITS("class <lambda>(torch.nn.Module):\n    def forwa\n        h = x + 1;  x = None\n"
	       "        return (h,)\n",
	       "graph-code 1-4 <lambda> headless");
	/* damage stands as deep as the body, lines of the program at the margin */
	SPLITS("class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        h = x + 1;  x = None\n"
	       "        \1\2 noise\n        k = h.sin();  h = None\n        return (k,)\n",
	       "graph-code 1-6 GraphModule");
	assert_int_equal(nth(state, 1)->npieces, 6);
	SPLITS("class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        h = x + 1;  x = None\n"
	       "step 3\n        k = h.sin();  h = None\n        return (k,)\n",
	       "graph-code 1-6 GraphModule");
	assert_int_equal(nth(state, 1)->npieces, 5);
	SPLITS("class GraphModule(torch.nn.Module):\n    def forward(self, x : torch.Tensor):\n\1\2\n\3\n",
	       "graph-code 1-2 GraphModule open");
	/* a table without its header line, without that and the dashes */
	SPLITS("torchdynamo.output_graph: [INFO] TRACED GRAPH\n"
	       "-------------  ------  ------  ------  --------\n"
	       "placeholder    x       x       ()      {}\n"
	       "output         output  output  ((x,),)  {}\n",
	       "graph-table 2-4 headless");
	SPLITS("call_method  add_  add_  (x, 1)  {}\noutput  output  output  ((x,),)  {}\n",
	       "graph-table 1-2 headless");
	SPLITS("output  of the program  {}\n-----  -----\nplaceholder  none\n", "");
	SPLITS(P23 "Cache miss due to new autograd node: x\n", "");
	SPLITS("ABORT\nABSOLUTE\nACTION\nLOAD_FAST\nADD\n", "");
}

static void text_that_ends_early(void **state)
{
	SPLITS(P23 "TRACED GRAPH\n" P23 " ===== __compiled_fn_2 =====\n" P23
	           " f.py class A(torch.nn.Module):\n" P23 "    def forward(self, x):\n",
	       "graph-code 2-4 __compiled_fn_2 open");
	SPLITS(P23 "TRACED GRAPH\n" P23 "    def forward(self, x):\n" P23 "        return (x,",
	       "graph-code 2-3 open");
	SPLITS("class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        y = x + 1;  x "
	       "= None\n        z = y +",
	       "graph-code 1-4 GraphModule open");
	SPLITS("class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2]\"):\n",
	       "graph-code 1-2 GraphModule open");
	SPLITS("graph():\n    %x : [num_users=1] = placeholder[target=x]\n", "graph-text 1-2 open");
	SPLITS("opcode  name  target  args  kwargs\n---  ---\nplaceholder  x  x  ()  {}\n",
	       "graph-table 1-3 open");
}

static void a_damaged_source_is_told(void **state)
{
	Env *e = *state;
	Str why;
	FileId f = sources_add_bytes(&e->sources, S("f"), S("x\n"), 0, &why);
	e->sources.v.v[f.i].damage = S("the data ends early");
	split_source(&e->t, &e->sources, f, NULL, &e->diags);
	assert_int_equal(e->diags.unread.n, 1);
}

static void nothing_is_no_trouble(void **state)
{
	SPLITS("", "");
	SPLITS("\n\n\n", "");
	SPLITS("\0\0\0\n", "");
	SPLITS("class", "");
	SPLITS("[rank", "");
	SPLITS("[rank0]:", "");
	SPLITS("V", "");
	SPLITS("V1201 02:00:35.344000 ", "");
	SPLITS("\xc2", "");
	SPLITS("\x1b", "");
	SPLITS("^", "");
	SPLITS("^[", "");
	assert_int_equal(((Env *)*state)->diags.unread.n, 0);
}

/* Twice the text takes about twice the memory of once, and finds twice as much. */
static void long_input_is_linear(void **state)
{
	Env *e = *state;
	uint32_t n[2];
	for (uint32_t k = 0; k < 2; k++) {
		Buf b = {.a = &e->a};
		for (uint32_t i = 0; i < 2000u << k; i++)
			buf_add(&b, S(GM "\n" GRAPH23));
		split(e, buf_str(&b));
		n[k] = e->t.v.n - 1;
	}
	assert_int_equal(n[0], 4000);
	assert_int_equal(n[1], 8000);
}

static void a_line_of_16_mb(void **state)
{
	Env *e = *state;
	Buf b = {.a = &e->a};
	buf_add(&b,
	        S("class GraphModule(torch.nn.Module):\n    def forward(self, x):\n        y = f("));
	for (uint32_t i = 0; i < 5600000; i++)
		buf_add(&b, S("x, "));
	buf_add(&b, S("x);  x = None\n        return (y,)\n"));
	split(e, buf_str(&b));
	assert_string_equal(found(e), "graph-code 1-4 GraphModule");
	assert_int_equal(artifact_text(nth(state, 1), &e->sources, &e->a).s.n, b.n - 1);
}

/* Each text would be quadratic for a splitter that looks back or ahead without bound. */
static void hostile_texts(void **state)
{
	static const char *const lines[] = {
		"class A(torch.nn.Module):\n",
		"    def forward(self, x):\n",
		"ORIGINAL BYTECODE f /a.py line 3\n  1 LOAD_CONST 1 (a\n",
		"graph():\n    %x = y\nzzz\n",
		"GUARDS:\n",
		"ExportedProgram:\n",
		"===== a =====\n",
		"> ",
		"0: a\nb\n",
		"a-1 | b\nc\n",
		"```\n",
		"return (\n",
		"\"\"\"\n",
		"  (x): B()\n)\ndef forward(self, x):\n",
		("V1201 02:00:35.344000 1 aV1201 02:00:35.344000 1 a.py:1] [0/0] [__graph_code] b\n.py:1] "
		 "x\n"),
		"\x1b[",
		"&lt;",
		"[0m",
		"\r",
		"\t",
		"class B(torch.nn.Module):\ndef forward(self, x):\ny = self.B;  x = None\nreturn y\n",
	};
	Env *e = *state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		Buf b = {.a = &e->a};
		while (b.n < 400000)
			buf_add(&b, str_from_c(lines[i]));
		split(e, buf_str(&b));
		for (uint32_t k = 1; k < e->t.v.n; k++)
			artifact_text(nth(state, k), &e->sources, &e->a);
	}
}

/* Memory that runs out at any request unwinds to the caller, and what was taken meanwhile is
 * given back. */
static void memory_runs_out(void **state)
{
	Env *e = *state;
	Str why;
	FileId f = sources_add_bytes(&e->sources, S("f"), S("x\x1b[0m\n" GM "\n" GRAPH23), 0, &why);
	uint32_t failed = 0;
	for (uint32_t at = 1; at < 20; at++) {
		Budget budget = {.fail_at = at};
		Arena a = arena_new(&budget);
		Artifacts t;
		jmp_buf out;
		budget.fail = &out;
		if (setjmp(out) == 0) {
			artifacts_init(&t, &a);
			split_source(&t, &e->sources, f, NULL, &e->diags);
		} else {
			failed++;
			assert_ptr_equal(budget.fail, &out);
		}
		arena_free(&a);
		assert_int_equal(budget.used, 0);
	}
	assert_true(failed > 1 && failed < 19);
}

static void the_dump_is_stable(void **state)
{
	Env *e = *state;
	Buf b = {.a = &e->a};
	split(e, S(GRAPH23));
	split_dump(&e->t, &e->sources, &b);
	assert_str(buf_str(&b), "f:2-7: graph-code \"__compiled_fn_2\" [0/0] attempt=1 tag=graph_code "
	                        "process=7842 prefix=2.3 torch=2.3- at=2:88 lines=6 order=1\n");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_record_of_2_3),
		TEST(lines_of_others_do_not_enter_a_record),
		TEST(ranks_take_turns),
		TEST(equal_prefixes_are_cut_at_headers),
		TEST(a_thread_id_is_no_process),
		TEST(trace_ids_of_compiled_autograd),
		TEST(records_of_2_1_and_2_2),
		TEST(guards_of_2_1_are_many_records),
		TEST(first_line_prefixes_of_2_0),
		TEST(torchdynamo_of_2022),
		TEST(plain_prints_of_august_2022),
		TEST(formats_of_the_user),
		TEST(captured_log_of_pytest),
		TEST(debug_log_of_aot),
		TEST(messages_of_others_are_no_records),
		TEST(foreign_prefixes),
		TEST(labels_tell_processes_apart),
		TEST(one_match_is_data),
		TEST(partial_lines_are_joined),
		TEST(printed_modules),
		TEST(texts_without_a_line_end_between),
		TEST(nested_classes_belong_to_the_first),
		TEST(expanded_signatures),
		TEST(options_that_print_more),
		TEST(user_source_is_no_graph),
		TEST(repro_files),
		TEST(quoted_source_begins_nothing),
		TEST(graph_texts),
		TEST(split_graphs_of_ddp),
		TEST(exported_programs),
		TEST(names_of_graphs),
		TEST(names_of_frames),
		TEST(listings_end_by_their_grammar),
		TEST(words_of_a_log),
		TEST(output_code_holds_nothing_else),
		TEST(payloads_of_a_trace),
		TEST(markdown),
		TEST(lost_indentation_is_put_back),
		TEST(colours_are_dropped),
		TEST(pages_and_editors),
		TEST(carriage_returns),
		TEST(torn_lines),
		TEST(wrapped_lines),
		TEST(missing_lines),
		TEST(text_that_ends_early),
		TEST(a_damaged_source_is_told),
		TEST(nothing_is_no_trouble),
		TEST(long_input_is_linear),
		TEST(a_line_of_16_mb),
		TEST(hostile_texts),
		TEST(memory_runs_out),
		TEST(the_dump_is_stable),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
