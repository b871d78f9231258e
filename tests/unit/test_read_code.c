/* SPDX-License-Identifier: MIT
 * Printed forward code -> IR, compared as the text of --dump=ir. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "read.h"
#include "read_scan.h"

typedef struct Fixture {
	Arena a, scratch;
	Names names;
	Program p;
	Types *types;
	Diags diags;
	Config cfg;
	Str dump;
} Fixture;

static Fixture read_as(Str text, bool cut)
{
	static Fixture f; /* one per test: freed by done() */
	f = (Fixture){.a = arena_new(NULL), .scratch = arena_new(NULL), .cfg = config_default()};
	names_init(&f.names, &f.a);
	program_init(&f.p, &f.a, &f.names);
	f.types = types_new(&f.a, &f.names);
	diags_init(&f.diags, &f.a);
	f.cfg.limits.nesting = 40;
	Reader r = reader_new(&f.p, f.types, &f.diags, &f.cfg, &f.a, &f.scratch);
	Seg seg = {0, 0};
	Text t = {.file = {1}, .s = text, .seg = &seg, .nseg = 1};
	Artifact art = {.kind = ART_GRAPH_CODE, .file = {1}, .open_end = cut, .torn_end = cut};
	read_code(&r, (ArtifactId){1}, &art, &t);
	Str fault = ir_check(&f.p, &f.a);
	assert_int_equal(fault.n, 0);
	Buf out = {.a = &f.a};
	ir_dump(&f.p, f.types, &out);
	f.dump = buf_str(&out);
	reader_free(&r);
	return f;
}

static Fixture read(Str text)
{
	return read_as(text, false);
}

static Fixture read_cut(Str text)
{
	return read_as(text, true);
}

static void done(Fixture *f)
{
	arena_free(&f->a);
	arena_free(&f->scratch);
}

static void has(const Fixture *f, const char *want)
{
	if (!str_has(f->dump, str_from_c(want)))
		fail_msg("no \"%s\" in:\n" STR_FMT, want, STR_ARG(f->dump));
}

static void lacks(const Fixture *f, const char *text)
{
	if (str_has(f->dump, str_from_c(text)))
		fail_msg("\"%s\" in:\n" STR_FMT, text, STR_ARG(f->dump));
}

static void founding_case(void **state)
{
	(void)state;
	Fixture f = read(S("\n\ndef forward(self, _stack0_0_ : torch.Tensor):\n"
	                   "    contiguous = _stack0_0_.contiguous();  _stack0_0_ = None\n"
	                   "    view = contiguous.view(1, 1024, -1);  contiguous = None\n"
	                   "    return (view,)\n    "));
	has(&f, "%contiguous = call method contiguous(%_stack0_0_)\n");
	has(&f, "%view = call method view(%contiguous, 1, 1024, -1)\n  return %view\n");
	lacks(&f, "None");
	assert_int_equal(f.diags.unread.n, 0);
	done(&f);
}

static void writes_are_named_by_the_second_statement(void **state)
{
	(void)state;
	Fixture f = read(S("def forward(self, x, y, L_l_):\n"
	                   "    l = L_l_\n"
	                   "    x += 1;  iadd = x;  iadd = None\n"
	                   "    y[(0, slice(None, 2, None), Ellipsis)] = x;  setitem = y;  setitem = None\n"
	                   "    l /= 4.0;  q: \"f32[2]\" = l\n"
	                   "    return (x, y, q)\n"));
	has(&f, "%iadd = call operator iadd(%x, 1) [augmented]");
	has(&f, "%setitem = call operator setitem(%y, (0, slice(None, 2, None), ...), %iadd)");
	has(&f, "%q = call operator itruediv(%l, 4) : f32[2] [augmented]");
	has(&f, "return %iadd, %y, %q");
	done(&f);
}

static void every_callee(void **state)
{
	(void)state;
	Fixture f = read(S("def forward(self, x):\n"
	                   "    a = torch.ops.aten.where.self(x, x, x)\n"
	                   "    b = self.seq.lin(a)\n"
	                   "    c = getattr(self.seq, \"0\")(b)\n"
	                   "    d = self.w\n"
	                   "    e = c.shape\n"
	                   "    g = getattr(c, \"T\")\n"
	                   "    h = -g\n"
	                   "    i = h @ d\n"
	                   "    j = i[(slice(None, None, None), 0)]\n"
	                   "    k = j.to(torch.float32, copy = True)\n"
	                   "    l = torch.clamp(k, -1, inf)\n"
	                   "    m = l.to(device(type='cpu', index=0))\n"
	                   "    n = math_trunc(m)\n"
	                   "    return [n, e]\n"));
	has(&f, "%a = call function torch.ops.aten.where.self(%x, %x, %x)");
	has(&f, "%b = call module seq.lin(%a)");
	has(&f, "%c = call module seq.0(%b)");
	has(&f, "%d = get_attr w");
	has(&f, "%e = call attr shape(%c)");
	has(&f, "%g = call attr T(%c)");
	has(&f, "%h = call operator neg(%g)");
	has(&f, "%i = call operator matmul(%h, %d)");
	has(&f, "%j = call operator getitem(%i, (slice(None, None, None), 0))");
	has(&f, "%k = call method to(%j, torch.float32, copy=True)");
	has(&f, "%l = call function torch.clamp(%k, -1, inf)");
	has(&f, "%m = call method to(%l, device(type='cpu', index=0))");
	has(&f, "%n = call function math_trunc(%m)");
	assert_int_equal(f.diags.unread.n, 0);
	done(&f);
}

static void nested_classes(void **state)
{
	(void)state;
	Fixture f = read(S("class GraphModule(torch.nn.Module):\n"
	                   "    def forward(self, L_x_: \"f32[2, 3][3, 1]cpu\", s0: \"Sym(s0)\"):\n"
	                   "        l_x_ = L_x_\n"
	                   "         # File: a b/m:1.py:41 in f, code: y = \"x: \" # odd: 3 in z, code: no\n"
	                   "        body = self.body\n"
	                   "        r = torch.ops.higher_order.wrap(body, l_x_);  body = l_x_ = None\n"
	                   "        return (r,)\n"
	                   "    class body(torch.nn.Module):\n"
	                   "        def forward(self, t):\n"
	                   "            return (t,)\n"));
	has(&f, "graph 1 GraphModule");
	has(&f, "%l_x_ = placeholder L_x_ : f32[2, 3][3, 1]cpu");
	has(&f, "%s0 = placeholder s0 : Sym(s0)");
	has(&f, "@a b/m:1.py:41");
	has(&f, "graph 2 body stage=body parent=1\n  %t = placeholder t\n  return %t");
	done(&f);
}

static void a_fault_takes_nothing_else_along(void **state)
{
	(void)state;
	Fixture f = read(S("def forward(self, x):\n"
	                   "    a = x.relu()\n"
	                   "    b = torch.cat([a, a\n"
	                   "    c = a.sin(;  a = None\n"
	                   "    d = b.view(-1)\n"
	                   "    e = x.cos()\n"
	                   "    return (d, e)\n"));
	has(&f, "%a = call method relu(%x)");
	has(&f, "%b = unread (%a, %a)");
	has(&f, "%d = call method view(%b, -1)");
	has(&f, "%e = call method cos(%x)");
	has(&f, "return %d, %e");
	assert_int_equal(f.diags.unread.n, 2);
	assert_true(f.p.graphs.v[1]->incomplete);
	done(&f);
}

static void a_missing_line_is_told(void **state)
{
	(void)state;
	Fixture f = read(S("def forward(self, x):\n    c = b_1.view(-1)\n    return (c,)\n"));
	has(&f, "%b_1 = unread");
	assert_int_equal(f.diags.unread.n, 1);
	done(&f);
	f = read(S("    class GraphModule(torch.nn.Module):\n        l_x_ = L_x_\n        c = l_x_.view(-1)\n        return (c,)\n"));
	has(&f, "%l_x_ = placeholder L_x_");
	has(&f, "return %c");
	assert_true(f.p.graphs.v[1]->incomplete);
	done(&f);
	f = read(S("def forward(self, x):\n    c = x.view(-1)\n"));
	assert_true(f.p.graphs.v[1]->truncated);
	done(&f);
}

static void expanded_form(void **state)
{
	(void)state;
	Fixture f = read(S("class G(torch.nn.Module):\n    def forward(\n        self,\n"
	                   "        a: \"f32[4]\",  # PlainAOTInput(idx=0)\n        b,  # ParamAOTInput(target='w')\n    ):\n"
	                   "        c = a + b\n"
	                   "        return (\n            c,  # PlainAOTOutput(idx=0)\n            None,  # None\n        )\n"));
	const Graph *g = f.p.graphs.v[1];
	assert_int_equal(g->inputs.n, 2);
	assert_int_equal(g->input_descriptors.n, 2);
	assert_true(str_eq(sym_str(&f.names, g->input_descriptors.v[1]), S("ParamAOTInput(target='w')")));
	assert_int_equal(g->outputs.n, 2);
	assert_true(str_eq(sym_str(&f.names, g->outputs.v[0].descriptor), S("PlainAOTOutput(idx=0)")));
	has(&f, "return %c, None");
	done(&f);
}

static void pytrees(void **state)
{
	(void)state;
	Fixture f = read(S("def forward(self, x, extra):\n"
	                   "    x, extra, = fx_pytree.tree_flatten_spec(([x], {'extra':extra}), self._in_spec)\n"
	                   "    y = x + extra\n"
	                   "    return pytree.tree_unflatten((y, x), self._out_spec)\n"));
	has(&f, "return %y, %x");
	lacks(&f, "_spec");
	done(&f);
	f = read(S("def forward(self, x):\n    return {'a': x, 'b': [x, x]}\n"));
	has(&f, "return %x, %x, %x");
	done(&f);
}

static void object_reprs(void **state)
{
	(void)state;
	Fixture f = read(S("def forward(self, x):\n"
	                   "    a = torch.foo(x, <function f.<locals>.<lambda> at 0x7f01>, \"<no repr\");  x = None\n"
	                   "    return a\n"));
	has(&f, "%a = call function torch.foo(%x, <function f.<locals>.<lambda> at 0x7f01>, '<no repr')");
	assert_true(f.p.graphs.v[1]->returns_bare);
	assert_int_equal(f.diags.unread.n, 0);
	done(&f);
}

/* 2.0 and 2.1 print annotations without quotes; their joint graphs have them in a list of names. */
static void types_without_quotes(void **state)
{
	(void)state;
	Fixture f = read(S("def forward(self, arg0_1: f32[s0, 3], arg1_1: Sym(s0)):\n"
	                   "    view: f32[3*s0] = torch.ops.aten.view.default(arg0_1, [-1]);  arg0_1 = None\n"
	                   "    mul: Sym(2*s0) = 2 * arg1_1;  arg1_1 = None\n"
	                   "    return (view, mul)\n"));
	has(&f, "%view = call function torch.ops.aten.view.default(%arg0_1, [-1]) : f32[3*s0]");
	has(&f, "%mul = call operator mul(2, %arg1_1) : Sym(2*s0)\n  return %view, %mul");
	assert_int_equal(f.diags.unread.n, 0);
	done(&f);
	f = read(S("class joint_helper(torch.nn.Module):\n"
	           "    def forward(self, primals, tangents):\n"
	           "        primals_1: f32[2, 3], primals_2: Sym(s0), tangents_1: f32[6], = fx_pytree.tree_flatten_spec("
	           "[primals, tangents], self._in_spec)\n"
	           "        mul: f32[2, 3] = torch.ops.aten.mul.Tensor(primals_1, primals_2);  primals_1 = primals_2 = None\n"
	           "        return pytree.tree_unflatten([mul, tangents_1], self._out_spec)\n"));
	has(&f, "%primals_1 = placeholder primals_1 : f32[2, 3]");
	has(&f, "%primals_2 = placeholder primals_2 : Sym(s0)");
	has(&f, "%tangents_1 = placeholder tangents_1 : f32[6]");
	has(&f, "return %mul, %tangents_1");
	assert_int_equal(f.diags.unread.n, 0);
	assert_int_equal(f.p.graphs.v[1]->inputs.n, 3);
	done(&f);
}

/* What is left of a statement can be one of another meaning. */
static void statements_cut_in_the_middle(void **state)
{
	(void)state;
	static const char *const cuts[] = {"b: \"f32[2]\" = torch.ops.", "b: \"f32[2]\" = torch.op", "b: \"f32[2]\" = a",
	                                   "b = a", "b = x", "b = z_1", "b: \"f32[2]\" = a.view(", "b: \"f32[2]\" = ", "b: \"f32["};
	for (uint32_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
		Arena a = arena_new(NULL);
		Fixture f = read(str_printf(&a,
		                            "def forward(self, x):\n    a = x.sin()\n    %s\n    c: \"f32[2]\" = torch.cos(b);  b = None\n"
		                            "    d = torch.tan(a)\n    return (c, d)\n",
		                            cuts[i]));
		has(&f, "%a = call method sin(%x)\n");
		has(&f, "%b = unread");
		has(&f, "%c = call function torch.cos(%b) : f32[2]\n  %d = call function torch.tan(%a)\n  return %c, %d");
		assert_true(f.diags.unread.n >= 1);
		assert_true(f.p.graphs.v[1]->incomplete);
		done(&f);
		arena_free(&a);
	}
}

static void headers_cut_or_missing(void **state)
{
	(void)state;
	Fixture f = read(S(" /usr/lib/torch/fx/_lazy_graph\n    def forward(self, L_x_: \"f32[2]\"):\n        t = L_x_\n"
	                   "        a: \"f32[2]\" = t.sin();  t = None\n        return (a,)\n"));
	has(&f, "%t = placeholder L_x_ : f32[2]\n  %a = call method sin(%t) : f32[2]\n  return %a");
	assert_int_equal(f.diags.unread.n, 1);
	assert_int_equal(f.p.graphs.v[1]->inputs.n, 1);
	done(&f);
	f = read(S("class <lambda>(torch.nn.Module):\n    def forward(self, x):\n        body = self.body\n"
	           "        r = torch.ops.higher_order.wrap(body, x);  body = x = None\n        return (r,)\n"
	           "        def forward(self, y):\n            s = y.sin();  y = None\n            return (s,)\n"));
	has(&f, "graph 2 GraphModule stage=body parent=1 incomplete\n  %y = placeholder y\n  %s = call method sin(%y)\n  return %s");
	assert_int_equal(f.diags.unread.n, 1);
	assert_true(sym_eq(f.p.graphs.v[1]->children.v[0].attr, sym_intern(&f.names, S("body"))));
	done(&f);
	f = read(S("class <lambda>(torch.nn.Module):\n    def forw\n        a = x.sin();  x = None\n        return (a,)\n"));
	has(&f, "%x = placeholder x\n  %a = call method sin(%x)\n  return %a");
	assert_true(f.p.graphs.v[1]->incomplete);
	done(&f);
}

/* The input stops in the last line that it has. */
static void the_end_of_the_input(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool whole;
	} ends[] = {{"    b = a.cos()\n    return", false}, {"    b = a.cos()\n    return (b", false}, {"    b = a.cos()\n    return (b,)", true},
	            {"    return ()", true}, {"    b = a.cos()", false}, {"    b", false}};
	for (uint32_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		Arena a = arena_new(NULL);
		Fixture f = read_cut(str_printf(&a, "def forward(self, x):\n    a = x.sin()\n%s", ends[i].text));
		assert_int_equal(f.diags.unread.n == 0, ends[i].whole);
		assert_int_equal(f.p.graphs.v[1]->incomplete, !ends[i].whole);
		done(&f);
		arena_free(&a);
	}
}

/* torch drops each value behind its last use: a value that stays was used by a line that is gone. */
static void uses_that_are_missing(void **state)
{
	(void)state;
	Fixture f = read(S("def forward(self, L_x_, y):\n    t = L_x_\n    a = t.sin()\n    b = a.view(-1)\n"
	                   "    add_ = t.add_(y);  t = y = None\n    return (b,)\n"));
	assert_int_equal(f.diags.unread.n, 1);
	assert_true(str_has(f.diags.unread.v[0].why, S("a is not dropped behind its last use")));
	has(&f, " = unread (%a)\n  return %b");
	assert_true(f.p.graphs.v[1]->incomplete);
	done(&f);
	f = read(S("def forward(self, x):\n    ;  x = None\n    return (x,)\n"));
	assert_int_equal(f.diags.unread.n, 1);
	has(&f, " = unread");
	done(&f);
	/* nothing is missing: returned, self-dropped or without any drop at all */
	f = read(S("def forward(self, L_x_, y, *args):\n    _args = args\n    t = L_x_\n    a = t.sin();  a = None\n"
	           "    t += y;  iadd = t;  t = y = None\n    b = iadd + 1\n    return (b, iadd)\n"));
	assert_int_equal(f.diags.unread.n, 0);
	done(&f);
	f = read(S("def forward(self, x):\n    a = x.sin()\n    b = a.cos()\n    return (b,)\n"));
	assert_int_equal(f.diags.unread.n, 0);
	done(&f);
}

/* The walk over a statement that nests too deep ends inside of it. */
static void what_is_too_deep_takes_nothing_along(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Buf b = {.a = &a};
	buf_add(&b, S("def forward(self, x):\n    a = x.sin()\n    b = a"));
	for (uint32_t i = 0; i < 500; i++)
		buf_add(&b, S(".T"));
	buf_add(&b, S("\n    c = a.cos()\n    return (b, c)\n"));
	Fixture f = read(buf_str(&b));
	has(&f, "%b = unread");
	has(&f, "%c = call method cos(%a)\n  return %b, %c");
	done(&f);
	arena_free(&a);
}

static Str repeat(Arena *a, const char *before, const char *mid, uint32_t n, const char *after)
{
	Buf b = {.a = a};
	buf_add(&b, str_from_c(before));
	for (uint32_t i = 0; i < n; i++)
		buf_add(&b, str_from_c(mid));
	buf_add(&b, str_from_c(after));
	return buf_str(&b);
}

/* Nesting, long chains, many open brackets: told, bounded, and the rest still read. */
static void hostile(void **state)
{
	(void)state;
	static const char *const mids[] = {"(", "[", "-", "a.", "x+", "~", "f(", "\"\" ", "(,", "{", "not ", "x[", "lambda:"};
	for (uint32_t i = 0; i < sizeof mids / sizeof *mids; i++) {
		Arena a = arena_new(NULL);
		Str text = repeat(&a, "def forward(self, x):\n    a = ", mids[i], 50000, "\n    b = x.relu()\n    return (b,)\n");
		Fixture f = read(text);
		has(&f, "%b = call method relu(%x)");
		has(&f, "return %b");
		done(&f);
		arena_free(&a);
	}
	static const char *const lines[] = {"def f(\n", "    return (\n", "    \"\"\"\n", "    a = (,\n", "class a(Module):\n",
	                                    "    x[\n", "    # File: a:1 in b, code: c\n", "    a = b = \n"};
	for (uint32_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		Arena a = arena_new(NULL);
		Fixture f = read(repeat(&a, "def forward(self, x):\n", lines[i], 20000, "    return (x,)\n"));
		assert_true(f.p.graphs.n > 1);
		done(&f);
		arena_free(&a);
	}
}

static void scanner(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Scan sc = scan_new(S("  x = f(\"a;  b = None\");  y = z = None\n\n# c\ng(1, # two\n  2)\nh(3\ni\n"), 10, 1000, &a);
	Stmt st;
	assert_true(scan_next(&sc, &st));
	assert_true(str_eq(str_sub(sc.s, st.at, st.end), S("x = f(\"a;  b = None\")")));
	assert_int_equal(st.indent, 2);
	assert_true(scan_next(&sc, &st));
	assert_int_equal(st.kind, ST_COMMENT);
	assert_true(scan_next(&sc, &st));
	assert_true(str_eq(str_sub(sc.s, st.at, st.end), S("g(1, # two\n  2)")));
	assert_int_equal(st.ncomments, 1);
	assert_true(scan_next(&sc, &st));
	assert_true(st.torn);
	assert_true(scan_next(&sc, &st));
	assert_true(str_eq(str_sub(sc.s, st.at, st.end), S("i")));
	assert_false(scan_next(&sc, &st));
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(founding_case), cmocka_unit_test(writes_are_named_by_the_second_statement),
		cmocka_unit_test(every_callee), cmocka_unit_test(nested_classes),
		cmocka_unit_test(a_fault_takes_nothing_else_along), cmocka_unit_test(a_missing_line_is_told),
		cmocka_unit_test(expanded_form), cmocka_unit_test(pytrees), cmocka_unit_test(object_reprs),
		cmocka_unit_test(types_without_quotes), cmocka_unit_test(statements_cut_in_the_middle),
		cmocka_unit_test(headers_cut_or_missing),
		cmocka_unit_test(uses_that_are_missing), cmocka_unit_test(the_end_of_the_input), cmocka_unit_test(what_is_too_deep_takes_nothing_along),
		cmocka_unit_test(hostile), cmocka_unit_test(scanner),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
