/* SPDX-License-Identifier: MIT
 * Patterns and conditions over small programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "graph_words.h"
#include "run.h"

static Tables tables;
static int wrong; /* rows that failed: the others are tried too */

static int group_setup(void **state)
{
	(void)state;
	tables_init(&tables);
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	tables_free(&tables);
	return 0;
}

/* A graph that most rows are about. */
static const char GRAPH[] =
	"class GraphModule(torch.nn.Module):\n"
	"    def forward(self, L_x_: \"f32[4, 6][6, 1]cpu\", L_h_: \"bf16[4, 6][1, 4]cpu\", s0: \"Sym(s0)\"):\n"
	"        l_x_ = L_x_\n"
	"        l_h_ = L_h_\n"
	"        # File: /srv/model.py:7 in attend, code: a = x.contiguous()\n"
	"        a: \"f32[4, 6][6, 1]cpu\" = l_x_.contiguous()\n"
	"        # File: /srv/model.py:8 in attend, code: b = a.view(24)\n"
	"        b: \"f32[24][1]cpu\" = a.view(24)\n"
	"        c: \"bf16[24][1]cpu\" = torch.reshape(l_h_, (24,))\n"
	"        d: \"bf16[6, 4][4, 1]cpu\" = l_h_.t()\n"
	"        _set_grad_enabled = torch._C._set_grad_enabled(False)\n"
	"        e: \"f32[24][1]cpu\" = torch.nn.functional.dropout(b, 0.5, True, inplace = False)\n"
	"        _set_grad_enabled_1 = torch._C._set_grad_enabled(True)\n"
	"        f: \"f32[24][1]cpu\" = b.add_(1)\n"
	"        g: \"f32[4][1]cpu\" = l_x_[(slice(None, None, None), -1)]\n"
	"        h: \"f32[8][1]cpu\" = torch.cat([g, g], dim = 0)\n"
	"        i: \"f32[24][1]cpu\" = e + f\n"
	"        j: \"f32[24, 1][1, 1]cpu\" = i.view(24, s0)\n"
	"        return (b, c, d, h, j)\n";

static Str rule_text(Arena *a, const char *pattern, const char *where)
{
	Buf b = {.a = a};
	Str p = str_from_c(pattern), line;
	buf_add(&b, S("id: TT001\nname: test-rule\nlevel: note\nsummary: s\nmessage: m\npattern: |\n"));
	while (str_cut(&p, '\n', &line))
		buf_printf(&b, "  " STR_FMT "\n", STR_ARG(line));
	if (*where)
		buf_printf(&b, "where:\n  - >-\n    %s\n", where);
	return buf_str(&b);
}

/* Names of the nodes that the rule points at, in order: "graph.node"; the graph only where there are several. */
static void names_found(const Run *r, Arena *a, Buf *out)
{
	for (uint32_t i = 0; i < r->diags.v.n; i++) {
		const Finding *f = &r->diags.v.v[i];
		if (!str_eq(f->rule, S("TT001"))) {
			if (str_eq(f->rule, S("GL906")))
				buf_add(out, S("!limit "));
			continue;
		}
		const Graph *g = graph_get(&r->program, f->graph_id);
		for (uint32_t n = 1; n < g->nodes.n; n++)
			if (g->nodes.v[n].at == f->span.at && g->nodes.v[n].kind != NK_NONE) {
				buf_printf(out, "%s" STR_FMT "%s ", r->program.graphs.n > 3 ? str_to_c(a, str_printf(a, STR_FMT ".", STR_ARG(f->graph))) : "",
					STR_ARG(node_shown(&r->program, g, (NodeId){n})), f->certainty == TRI_MAY ? "?" : "");
				break;
			}
	}
	while (out->n && out->p[out->n - 1] == ' ')
		out->n--;
}

static void expect(const char *program, const char *pattern, const char *where, const char *want, uint64_t most)
{
	Arena a = arena_new(NULL);
	Rules *before = tables.rules, all = *before, own;
	Buf errors = {.a = &a}, got = {.a = &a};
	Config cfg = config_default();
	Str why;
	RuleAsk asks[] = {{ASK_SELECT, S("TT001"), SEV_NONE, true, {0}}, {ASK_SELECT, S("GL906"), SEV_NONE, true, {0}}};
	for (int i = 0; i < 2; i++)
		VEC_PUSH(&a, &cfg.asks, asks[i]);
	if (most)
		cfg.limits.match_steps = most;
	if (!rules_load(&all, &a, S("t.yaml"), rule_text(&a, pattern, where), &errors))
		fail_msg("%s [%s]: %.*s", pattern, where, STR_ARG(buf_str(&errors)));
	tables.rules = &all;
	Run *r = NEW(&a, Run);
	run_init(r, &tables, &cfg);
	sources_add_bytes(&r->sources, S("input.txt"), str_from_c(program), 0, &why);
	run_analyse(r);
	names_found(r, &a, &got);
	run_free(r);
	tables.rules = before;
	if (!str_eq(buf_str(&got), str_from_c(want)))
		print_error("%s [%s]: wanted %s, got %.*s\n", pattern, where, want, STR_ARG(buf_str(&got))), wrong++;
	own = (Rules){.v = {all.v.v + before->v.n, 1, 0}};
	rules_free(&own);
	arena_free(&a);
}

typedef struct Row {
	const char *pattern, *where, *want;
} Row;

static void rows(const Row *r, size_t n)
{
	wrong = 0;
	for (size_t i = 0; i < n; i++)
		expect(GRAPH, r[i].pattern, r[i].where, r[i].want, 0);
	assert_int_equal(wrong, 0);
}

#define ROWS(table) rows(table, sizeof table / sizeof *table)

static void operators(void **state)
{
	(void)state;
	static const Row table[] = {
		{"$c = $x.contiguous()", "", "a"},
		{"$c = torch.contiguous($x)", "", ""},
		{"$v = aten.view($x, ...)", "", "b j"},
		{"$v = aten.reshape($x, ...)", "", "c"},
		{"$v = torch.reshape($x, ...)", "", "c"},
		{"$v = $x.reshape(...)", "", ""},
		{"$v = $x.$OP(...)", "", "a b d f j"},
		{"$v = $OP($x, ...)", "operator($OP) in [\"aten.view\", \"aten.reshape\"]", "b c j"},
		{"$v = $OP(...)", "target($OP) == \"torch.cat\"", "h"},
		{"$i = $a + $b", "", "i"},
		{"$i = aten.add($a, $b)", "", "i"},
		{"$f = aten.add_($x, 1)", "", "f"},
		{"$x = input()", "", "l_x_ l_h_ s0"},
		{"return $x", "", "b c d h j"},
		{"$x.add_(1)", "", "f"},
		{"$v = $OP($x, ...)\n$w = $OP($y, ...)", "before($v, $w)", "h f j"},
	};
	/* The last: two operators that are one; which pairs there are is another question. */
	rows(table, sizeof table / sizeof *table - 1);
}

static void arguments(void **state)
{
	(void)state;
	static const Row table[] = {
		{"$v = $x.view(24)", "", "b"},
		{"$v = $x.view($n)", "", "b"},
		{"$v = $x.view($n, $m)", "", "j"},
		{"$v = $x.view()", "", ""},
		{"$v = $x.view(..., $n)", "", "b j"},
		{"$v = $x.view(24, ...)", "", "b j"},
		{"$v = $x.view(..., 24, ...)", "", "b j"},
		{"$v = $x.view(..., 25, ...)", "", ""},
		{"$c = torch.reshape($x, (24,))", "", "c"},
		{"$c = torch.reshape($x, [24])", "", "c"},
		{"$c = torch.reshape($x, ($n,))", "", "c"},
		{"$c = torch.reshape($x, ($n, $m))", "", ""},
		{"$c = torch.reshape($x, (...))", "", "c"},
		{"$h = torch.cat([$g, $g], dim=0)", "", "h"},
		{"$e = torch.nn.functional.dropout($x, $p, $t, False)", "", "e"},
		{"$h = torch.cat([$g], ...)", "", ""},
		{"$h = torch.cat([..., $g], ...)", "", "h"},
		{"$h = torch.cat($gs, dim=$d)", "number($d) == 0", "h"},
		{"$h = torch.cat($gs, dim=1)", "", ""},
		{"$e = torch.nn.functional.dropout($x, ..., inplace=False)", "", "e"},
		{"$e = torch.nn.functional.dropout($x, p=$p, ...)", "number($p) > 0.4", "e"},
		{"$e = torch.nn.functional.dropout($x, $p, $t)", "", ""},
		{"$g = $x[..., -1]", "", "g"},
		{"$g = $x[$a:$b, $c]", "", "g"},
		{"$g = $x[0, $c]", "", ""},
		{"$h = torch.cat([$g, $g], dim=0)\n$g = $x[...]", "is_input($x)", ""},
	};
	rows(table, sizeof table / sizeof *table - 1);
	expect(GRAPH, "$g = $x[...]\n$h = torch.cat([$g, $g], dim=0)", "is_input($x)", "h", 0);
}

static void dataflow(void **state)
{
	(void)state;
	static const Row table[] = {
		{"$c = $x.contiguous()\n$v = $c.view(...)", "", "b"},
		{"$c = $x.contiguous()\n$v = $c.view(...)\nreturn $v", "", "b"},
		{"$c = $x.contiguous()\nreturn $c", "", ""},
		{"$f = $b.add_(1)\n$i = $e + $f\n$j = $i.view(...)", "", "j"},
		{"$i = $e + $f\n$j = $i.view(...)\n$k = $i.sum()", "", ""},
		/* two users of one value, and two statements that nothing joins */
		{"$e = torch.nn.functional.dropout($b, ...)\n$f = $b.add_(1)", "", "f"},
		{"$c = torch.reshape($h, ...)\n$t = $k.t()", "same($h, $k)", "d"},
		{"$c = torch.reshape($h, ...)\n$t = $k.t()", "not same($h, $k)", ""},
		/* edges */
		{"$v = views($x)\n$f = $v.add_(1)", "is_input($x)", "f"},
		{"$x = input()\n$v = views($x)\nreturn $v", "name($x) == \"l_x_\"", "b"},
		{"$v = views($x)\nreturn $v", "is_input($x) and name($x) == \"l_h_\"", "d"},
		{"$i = torch.nn.functional.dropout($b, ...) + $f", "", "i"},
		{"$h = torch.cat([$x[..., -1], $y], ...)", "", "h"},
		{"$h = torch.cat([$x[..., -2], $y], ...)", "", ""},
		{"$c = $x.contiguous()\n$r = depends($c)\n$j = $r.view(24, ...)", "", "b j"},
		{"$h = depends($x)\nreturn $h", "is_input($x) and operator($h) == \"aten.cat\"", "h"},
	};
	ROWS(table);
}

static void memory(void **state)
{
	(void)state;
	static const Row table[] = {
		{"$v = aten.view($c, ...)", "written_after($v)", "b"},
		{"$v = aten.view($c, ...)", "not written($v)", "j"},
		{"$c = $x.contiguous()", "aliases($c, $x)", "a"},
		{"$c = torch.reshape($x, ...)", "aliases($c, $x)", ""},
		{"$c = torch.reshape($x, ...)", "not may_alias($c, $x)", "c"},
		{"$t = $x.t()", "not may_alias($t, $x)", ""},
		{"$f = $OP($b, ...)", "writes($f)", "f"},
		{"$e = torch.nn.functional.dropout($b, ...)", "written_after($b, $e)", "e"},
		{"$f = $b.add_(...)", "written_after($b, $f)", ""},
		{"$f = $b.add_(...)", "written_before($b, $f)", ""},
		{"$f = $b.add_(...)", "read_after($b)", "f"},
		{"$t = $x.t()", "read_after($t)", ""},
		{"$x = input()", "written($x)", "l_x_"},
		{"$x = input()", "layout_written($x)", ""},
	};
	ROWS(table);
	/* Without a layout nobody knows whether contiguous() copies. */
	static const char unknown[] = "def forward(self, x : torch.Tensor):\n"
								  "    y = x.contiguous();  x = None\n"
								  "    z = y.view(4);  y = None\n"
								  "    return (z,)\n";
	static const Row perhaps[] = {
		{"$c = $x.contiguous()", "aliases($c, $x)", ""},
		{"$c = $x.contiguous()", "not aliases($c, $x)", ""},
		{"$c = $x.contiguous()", "may_alias($c, $x)", "y?"},
		{"$c = $x.contiguous()", "may(aliases($c, $x))", "y?"},
		{"$c = $x.contiguous()", "not may(aliases($c, $x))", ""},
		{"$c = $x.contiguous()\n$v = $c.view(...)", "aliases($v, $c)", "z"},
		{"$v = views($x)\nreturn $v", "is_input($x)", "z?"},
		{"$x = input()\n$v = views($x)\n$w = $v.view(...)", "", "z? z"},
	};
	for (size_t i = 0; i + 1 < sizeof perhaps / sizeof *perhaps; i++)
		expect(unknown, perhaps[i].pattern, perhaps[i].where, perhaps[i].want, 0);
	assert_int_equal(wrong, 0);
}

static void types_and_places(void **state)
{
	(void)state;
	static const Row table[] = {
		{"$x = input()", "dtype($x) == \"bf16\"", "l_h_"},
		{"$x = input()", "contiguous($x)", "l_x_"},
		{"$x = input()", "is_tensor($x) and not contiguous($x)", "l_h_"},
		{"$x = input()", "size($x, 0) == 4 and stride($x, -1) == 4", "l_h_"},
		{"$x = input()", "size($x, 2) == 4 or ndim($x) < 2", ""},
		{"$x = input()", "numel($x) >= 24", "l_x_ l_h_"},
		{"$x = input()", "not is_tensor($x)", "s0"},
		{"$x = input()", "device($x) != \"cpu\"", ""},
		{"$v = aten.view($x, ..., $n)", "is_constant($n)", "b"},
		{"$v = aten.view($x, ..., $n)", "text($n) == \"24\"", "b"},
		{"$v = aten.view($x, ..., $n)", "number($n) == 24", "b"},
		{"$v = aten.view($x, ..., $n)", "number($n) != 24", ""},
		{"$v = aten.view($x, ...)", "is_output($v) and users($v) == 0", "j"},
		{"$v = aten.view($x, ...)", "users($v) == 2", "b"},
		{"$v = aten.view($x, ...)", "source_file($v) == \"/srv/model.py\" and source_function($v) == \"attend\"", "b j"},
		{"$v = aten.view($x, ...)", "matches(source_code($v), \"^b = .*view\")", "b j"},
		{"$v = aten.view($x, ...)", "matches(name($x), '^i$')", "j"},
		{"$e = torch.nn.functional.dropout($x, ...)", "in_region($e, \"no_grad\") and has_tag($e, \"rng\")", "e"},
		{"$f = aten.add_($x, ...)", "in_region($f, \"no_grad\")", ""},
		{"$f = aten.add_($x, ...)", "graph_size($f) > 10 and graph($f) == \"GraphModule\" and stage($f) == \"fx\"", "f"},
		{"$f = aten.add_($x, ...)", "contract($f) == \"fresh\" and noticed($x) == \"unknown\"", "f"},
		{"$v = aten.view($x, ...)", "crosses_boundary($v)", ""},
		{"$v = aten.view($x, ...)", "may(crosses_boundary($v))", "b? j?"},
		{"$v = aten.view($x, ...)", "not (is_output($v) or is_input($x))", ""},
		{"$v = aten.view($x, ...)", "not not is_output($v)", "b j"},
	};
	ROWS(table);
}

/* ---- several graphs ---- */

static const char SPLIT[] =
	"class GraphModule(torch.nn.Module):\n"
	"    def forward(self, x: \"f32[4, 4][4, 1]cpu\"):\n"
	"        submod_0 = self.submod_0(x);  x = None\n"
	"        getitem: \"f32[16][1]cpu\" = submod_0[0]\n"
	"        getitem_1: \"f32[4, 4][4, 1]cpu\" = submod_0[1];  submod_0 = None\n"
	"        submod_1: \"f32[16][1]cpu\" = self.submod_1(getitem, getitem_1);  getitem = getitem_1 = None\n"
	"        return (submod_1,)\n"
	"\n"
	"    class submod_0(torch.nn.Module):\n"
	"        def forward(self, x: \"f32[4, 4][4, 1]cpu\"):\n"
	"            view: \"f32[16][1]cpu\" = x.view(16)\n"
	"            relu: \"f32[4, 4][4, 1]cpu\" = x.relu();  x = None\n"
	"            return (view, relu)\n"
	"\n"
	"    class submod_1(torch.nn.Module):\n"
	"        def forward(self, view: \"f32[16][1]cpu\", relu: \"f32[4, 4][4, 1]cpu\"):\n"
	"            add_: \"f32[16][1]cpu\" = view.add_(1);  view = None\n"
	"            return add_\n";

static void across_graphs(void **state)
{
	(void)state;
	wrong = 0;
	static const Row table[] = {
		{"$v = $x.view(...)\n$w = $v.add_(1)", "", "submod_1.add_"},
		{"$v = $x.view(...)\n$w = $v.add_(1)", "same_graph($v, $w)", ""},
		{"$r = $x.relu()\n$w = $r.add_(1)", "", ""},
		{"$v = $x.view(...)", "written_after($v) and crosses_boundary($v)", "submod_0.view"},
		{"$r = $x.relu()", "written_after($r)", ""},
		{"$v = views($x)\n$w = $v.add_(1)", "is_input($x) and graph($x) == \"GraphModule\"", "submod_1.add_"},
		{"$r = depends($x)\n$w = $r.add_(1)", "operator($x) == \"aten.view\"", "submod_1.add_"},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		expect(SPLIT, table[i].pattern, table[i].where, table[i].want, 0);
	assert_int_equal(wrong, 0);
}

static void limits(void **state)
{
	(void)state;
	wrong = 0;
	expect(GRAPH, "$v = $OP($x, ...)\n$w = $ON($y, ...)\n$z = $ANY($u, ...)", "same($v, $u) and not same($v, $v)", "!limit", 200);
	expect(GRAPH, "$v = aten.view($x, ...)", "", "!limit", 1);
	/* what is unknown neither holds nor does its negation */
	expect("def forward(self, x):\n    y = x.sin();  x = None\n    return (y,)\n", "$y = $x.sin()", "contiguous($x)", "", 0);
	expect("def forward(self, x):\n    y = x.sin();  x = None\n    return (y,)\n", "$y = $x.sin()", "not contiguous($x)", "", 0);
	expect("def forward(self, x):\n    y = x.sin();  x = None\n    return (y,)\n", "$y = $x.sin()", "dtype($x) == \"f32\"", "", 0);
	expect("def forward(self, x):\n    y = x.sin();  x = None\n    return (y,)\n", "$y = $x.sin()", "dtype($x) != \"f32\"", "", 0);
	expect("def forward(self, x):\n    y = x.sin();  x = None\n    return (y,)\n", "$y = $x.sin()", "may(size($x, 0) > 1)", "y?", 0);
	assert_int_equal(wrong, 0);
}

/* ---- files with faults ---- */

static void faults(void **state)
{
	(void)state;
	wrong = 0;
	static const struct {
		const char *pattern, *where, *want;
	} table[] = {
		{"$v = $x.view(", "", "t.yaml:7:"},
		{"$v = = 3", "", "t.yaml:7:"},
		{"$v = $x.view(...)\n$v = $x.t()", "", "t.yaml:8:3: the metavariable has a value already: 'v'"},
		{"$v = $w.view(...)\n$w = $x.t()", "", "t.yaml:7:8: $w is used here, but the line that makes it is not in the dump"},
		{"$OP = $x.t()", "", "t.yaml:7:3: a metavariable in capitals stands for an operator and takes no value: 'OP'"},
		{"$v = $op($x)", "", "t.yaml:7:8: a metavariable for an operator is written in capitals: 'op'"},
		{"$ = $x.t()", "", "t.yaml:7:3: a metavariable looks like $x"},
		{"$v = views($x, $y)", "", "t.yaml:7:3: views and depends take one metavariable"},
		{"$v = input($x)", "", "t.yaml:7:3: input() takes nothing"},
		{"$v = $x.f(..., 1, ..., 2, ...)", "", "t.yaml:7:3: at most two ... in one list of arguments"},
		{"return 3", "", "t.yaml:7:10: return names metavariables"},
		{"# nothing", "", "t.yaml:7:3: the pattern is empty"},
		{"$v = $x.t()", "is_inptu($x)", "t.yaml:10:5: there is no predicate 'is_inptu' (did you mean 'is_input'?)"},
		{"$v = $x.t()", "is_input($y)", "t.yaml:10:14: the pattern has no metavariable 'y'"},
		{"$v = $x.t()", "is_input(3)", "t.yaml:10:14: a metavariable is expected here, in 'is_input'"},
		{"$v = $x.t()", "is_input($x", "t.yaml:10:16: ')' is expected here"},
		{"$v = $x.t()", "size($x, 0)", "t.yaml:10:5: a condition asks something: compare it, or use a predicate that says yes or no"},
		{"$v = $x.t()", "size($x, 0) == \"4\"", "t.yaml:10:5: texts are compared with texts, numbers with numbers"},
		{"$v = $x.t()", "dtype($x) < \"4\"", "t.yaml:10:5: only numbers are larger or smaller"},
		{"$v = $x.t()", "matches(name($x), \"(\")", "t.yaml:10:25: not a regular expression: missing closing parenthesis"},
		{"$v = $x.t()", "in_region($x, \"no_gard\")", "t.yaml:10:19: a region in quotes is expected here, not 'no_gard' (did you mean 'no_grad'?)"},
		{"$v = $x.t()", "is_input($x) is_output($x)", "t.yaml:10:18: not understood: 'is_output'"},
		{"$v = $x.t()", "not size($x, 0)", "t.yaml:10:5: `not` stands before a question"},
		{"$v = $x.t()", "size($x, 0) and is_input($x)", "t.yaml:10:5: `and` and `or` join questions"},
		{"$v = $x.$OP()", "is_input($OP)", "t.yaml:10:14: a value is expected here, not an operator, in 'is_input'"},
		{"$v = $x.t()", "dtype($x) in []", "t.yaml:10:18: the list is empty"},
		{"$v = $x.t()", "dtype($x) in \"f32\"", "t.yaml:10:5: `in` asks for a text or number in a list"},
		{"$v = $x.t()", "&", "t.yaml:10:5: not understood: '&'"},
		{"$v = $x.t()", "((((((((((((((((((((((((((is_input($x)))))))))))))))))))))))))))", "t.yaml:10:29: brackets nest too deep"},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		Arena a = arena_new(NULL);
		Rules r = {.names = &tables.names};
		Buf errors = {.a = &a};
		if (rules_load(&r, &a, S("t.yaml"), rule_text(&a, table[i].pattern, table[i].where), &errors))
			fail_msg("%s [%s] loads", table[i].pattern, table[i].where);
		if (!str_starts(buf_str(&errors), str_from_c(table[i].want)))
			print_error("%s [%s]: wanted %s, got %.*s\n", table[i].pattern, table[i].where, table[i].want, STR_ARG(buf_str(&errors))), wrong++;
		arena_free(&a);
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators), cmocka_unit_test(arguments), cmocka_unit_test(dataflow), cmocka_unit_test(memory),
		cmocka_unit_test(types_and_places), cmocka_unit_test(across_graphs), cmocka_unit_test(limits), cmocka_unit_test(faults),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("match", tests, group_setup, group_teardown);
}
