/* SPDX-License-Identifier: MIT
 * Suspects, the linked program and the confirming backend, on a run whose verdicts are set by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "confirm.h"
#include "link.h"
#include "report.h"
#include "report_common.h"
#include "report_flow.h"
#include "report_state.h"

typedef struct World {
	Arena a;
	Tables tables;
	Config cfg;
	Run run;
} World;

static World w;

/* Three graphs of one log: one that only views, one that hands its input back and writes it, one that draws numbers. */
static const char text[] =
	"TRACED GRAPH\n"
	" ===== __compiled_fn_1 =====\n"
	" class GraphModule(torch.nn.Module):\n"
	"    def forward(self, L_x_: \"f32[4, 4][4, 1]cpu\"):\n"
	"        l_x_ = L_x_\n"
	"        \n"
	"         # File: /srv/m.py:3 in f, code: v = x.view(-1)\n"
	"        v: \"f32[16][1]cpu\" = l_x_.view(-1);  l_x_ = None\n"
	"        return (v,)\n"
	"        \n"
	"TRACED GRAPH\n"
	" ===== __compiled_fn_2 =====\n"
	" class GraphModule(torch.nn.Module):\n"
	"    def forward(self, L_v_: \"f32[16][1]cpu\"):\n"
	"        l_v_ = L_v_\n"
	"        \n"
	"         # File: /srv/m.py:5 in f, code: v.add_(1)\n"
	"        add_: \"f32[16][1]cpu\" = l_v_.add_(1);  add_ = None\n"
	"        mul: \"f32[16][1]cpu\" = l_v_ * 2\n"
	"        return (l_v_, mul)\n"
	"        \n"
	"TRACED GRAPH\n"
	" ===== __compiled_fn_3 =====\n"
	" class GraphModule(torch.nn.Module):\n"
	"    def forward(self, L_x_: \"f32[4, 4][4, 1]cpu\"):\n"
	"        l_x_ = L_x_\n"
	"        \n"
	"        rand: \"f32[4, 4][4, 1]cpu\" = torch.rand_like(l_x_);  l_x_ = None\n"
	"        still: \"f32[4, 4][4, 1]cpu\" = torch.nn.functional.dropout(rand, 0.5, False, False);  rand = None\n"
	"        return (still,)\n";

static void analyse(const char *log)
{
	Str why;
	w.cfg = config_default();
	w.cfg.contract = (Contract){CONTRACT_FRESH, KEEP_INPUT_WRITES, KEEP_INPUT_WRITES};
	run_init(&w.run, &w.tables, &w.cfg);
	assert_true(sources_add_bytes(&w.run.sources, S("log.txt"), str_from_c(log), 0, &why).i != 0);
	run_analyse(&w.run);
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
	run_free(&w.run);
	tables_free(&w.tables);
	arena_free(&w.a);
	return 0;
}

static Str written(void (*write)(const Run *, const ReportOptions *, Buf *))
{
	Buf b = {.a = &w.a};
	ReportOptions o = {.unicode = true};
	write(&w.run, &o, &b);
	return buf_str(&b);
}

static void assert_has(Str s, const char *want)
{
	if (!str_has(s, str_from_c(want)))
		fail_msg("no '%s' in:\n%s", want, str_to_c(&w.a, s));
}

static void assert_lacks(Str s, const char *what)
{
	if (str_has(s, str_from_c(what)))
		fail_msg("'%s' in:\n%s", what, str_to_c(&w.a, s));
}

static void assert_before(Str s, const char *first, const char *second)
{
	assert_has(s, first);
	assert_has(s, second);
	assert_true(str_find(s, str_from_c(first), 0) < str_find(s, str_from_c(second), 0));
}

/* As if a run of the program had decided. */
static void decide(const char *graph, int32_t output, Observable seen)
{
	for (uint32_t i = 0; i < w.run.diags.v.n; i++) {
		Finding *f = &w.run.diags.v.v[i];
		if (str_eq(f->graph, str_from_c(graph)) && f->output == output)
			f->observable = seen;
	}
}

/* ---- suspects ---- */

static void suspects_rank(void **state)
{
	(void)state;
	analyse(text);
	decide("__compiled_fn_1", 0, OBS_UNKNOWN);
	decide("__compiled_fn_2", 0, OBS_YES);
	Str s = written(report_suspects_text);
	assert_has(s, "1. __compiled_fn_2: changes the result");
	assert_has(s, "2. __compiled_fn_1: may change the result");
	assert_has(s, "1 of 3 graphs not listed");
	assert_has(s, "check: graphlint confirm __compiled_fn_2:out0 log.txt");
	decide("__compiled_fn_1", 0, OBS_YES);
	assert_before(written(report_suspects_text), "1. __compiled_fn_1", "2. __compiled_fn_2"); /* the smaller one */
	decide("__compiled_fn_2", 0, OBS_IDENTITY);
	assert_has(written(report_suspects_text), "2. __compiled_fn_2: changes only which objects are one");
	decide("__compiled_fn_2", 0, OBS_NO);
	s = written(report_suspects_text);
	assert_lacks(s, "2. ");
	assert_has(s, "2 of 3 graphs not listed");
	decide("__compiled_fn_1", 0, OBS_NO);
	s = written(report_suspects_text);
	assert_lacks(s, "1. ");
	assert_has(s, "3 of 3 graphs not listed");
}

/* Nothing decides: a view that a later graph may write comes before an input that is handed back. */
static void suspects_guess(void **state)
{
	(void)state;
	analyse(text);
	decide("__compiled_fn_1", 0, OBS_UNKNOWN);
	decide("__compiled_fn_2", 0, OBS_UNKNOWN);
	assert_before(written(report_suspects_text), "1. __compiled_fn_1", "2. __compiled_fn_2");
}

static void suspects_keep(void **state)
{
	(void)state;
	analyse(text);
	w.cfg.contract.keep_value = 0; /* writes are lost too */
	Str s = written(report_suspects_json);
	assert_has(s, "\"boundaries\":2");
	w.cfg.contract.keep_set = w.cfg.contract.keep_value = KEEP_INPUT_WRITES | KEEP_OUTPUT_INPUT;
	s = written(report_suspects_json);
	assert_has(s, "\"suspects\": []");
	assert_has(s, "\"not_listed\": 3");
}

static void state_is_ruled_out_only_where_shown(void **state)
{
	(void)state;
	analyse(text);
	StateScan s = state_scan(&w.run, &w.a);
	assert_int_equal(s.uses[STATE_RANDOM].n, 1); /* dropout that is off draws nothing */
	assert_true(str_eq(s.uses[STATE_RANDOM].v[0].what, S("torch.rand_like")));
	assert_int_equal(s.uses[STATE_GRAD].n, 0);
	assert_false(s.frames);
	Str t = written(report_suspects_text);
	assert_has(t, "nothing shown changes the grad mode");
	assert_lacks(t, "in or between these graphs");
	assert_has(t, "no bytecode in the dump");
}

/* ---- the linked program ---- */

static void flow(const char *from, uint32_t output, const char *to, uint32_t input, bool same)
{
	Program *p = &w.run.program;
	GraphId a = {0}, b = {0};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Str name = sym_str(p->names, p->graphs.v[i]->name);
		a = str_eq(name, str_from_c(from)) ? p->graphs.v[i]->id : a;
		b = str_eq(name, str_from_c(to)) ? p->graphs.v[i]->id : b;
	}
	assert_true(a.i && b.i);
	w.run.verdicts[a.i].flows.n = 0; /* what was inferred without bytecode */
	VEC_PUSH(&w.a, &w.run.verdicts[a.i].flows, ((GraphFlow){.output = output, .input = input, .to = b, .same = same}));
}

static void graph_text(void **state)
{
	(void)state;
	analyse(text);
	flow("__compiled_fn_1", 0, "__compiled_fn_2", 0, true);
	Str s = written(report_graph_text);
	assert_has(s, "no bytecode: what runs between them is not shown");
	assert_has(s, "graph __compiled_fn_1: 1 operator, 1 input, 1 output  (line 2)");
	assert_has(s, "shares  out 0 `v` shares memory with in 0 `l_x_`, through `view`; noticed: unknown");
	assert_has(s, "writes  in 0 `l_v_` by `add_` at line 18 (/srv/m.py:5)");
	assert_has(s, "passes  out 0 `v` -> in 0 `l_v_` of __compiled_fn_2, the same object");
	assert_has(s, "0 frames, 3 graphs");
}

static void graph_flows_in_json(void **state)
{
	(void)state;
	analyse(text);
	flow("__compiled_fn_1", 0, "__compiled_fn_2", 0, false);
	assert_has(written(report_write_json), "\"calls\":[{\"output\":0,\"to_graph\":\"__compiled_fn_2\",\"to_id\":\"g2\",\"input\":0,\"as\":\"view\"}]");
}

static void graph_dot(void **state)
{
	(void)state;
	analyse(text);
	flow("__compiled_fn_1", 0, "__compiled_fn_2", 0, true);
	Str s = written(report_graph_dot);
	assert_has(s, "digraph program {");
	assert_has(s, "g1:o0 -> g2:i0;");
	assert_has(s, "out 0 v (shares in 0)");
	uint32_t colours = 0;
	for (uint32_t at = 0; (at = str_find(s, S("BGCOLOR"), at)) < s.n; at++)
		colours++;
	assert_int_equal(colours, 5); /* one memory: in and out of both graphs, and the third one gets the same x */
	assert_true(str_find(s, S("BGCOLOR=\"0.618"), 0) < s.n);
	assert_lacks(s, "0.236"); /* and only one colour */
}

static void dot_labels_are_escaped(void **state)
{
	(void)state;
	analyse("def forward(self, a : torch.Tensor):\n    v = a.view(-1)\n    return (v,)\n");
	w.run.program.graphs.v[1]->name = sym_intern(w.run.program.names, S("<b>\"x\" & \x1b[2J</b>"));
	Str s = written(report_graph_dot);
	assert_has(s, "&#60;b&#62;&#34;x&#34; &#38; \\x1b[2J&#60;/b&#62;");
}

/* ---- confirm ---- */

static Str confirm(const char *target, bool ok)
{
	Buf out = {.a = &w.a}, why = {.a = &w.a};
	assert_int_equal(confirm_write(&w.run, str_from_c(target), &out, &why), ok);
	if (!ok)
		assert_int_equal(out.n, 0);
	return buf_str(ok ? &out : &why);
}

static void confirm_boundaries(void **state)
{
	(void)state;
	analyse(text);
	Str s = confirm("__compiled_fn_1:out0", true);
	assert_has(s, "PLACEHOLDERS = 1\nTARGETS = [\"view\"]\n");
	assert_has(s, "outputs[0] = outputs[0].clone()");
	assert_lacks(s, "args[0]");
	assert_lacks(s, "[[");
	s = confirm("g2:in0", true);
	assert_has(s, "TARGETS = [\"add_\", \"mul\"]");
	assert_has(s, "args[0] = args[0].clone()");
	assert_lacks(s, "outputs");
	assert_has(confirm("__compiled_fn_1:out1", false), "`__compiled_fn_1` has 1 output");
	assert_has(confirm("__compiled_fn_4:out0", false), "there is no graph '__compiled_fn_4' (did you mean '__compiled_fn_");
	assert_has(confirm("__compiled_fn_1", false), "a boundary is written GRAPH:out0 or GRAPH:in2");
	confirm("", false);
	confirm(":out0", false);
	confirm("__compiled_fn_1:out", false);
	confirm("__compiled_fn_1:out-1", false);
	confirm("__compiled_fn_1:out99999999999", false);
	confirm("__compiled_fn_1:in4294967295", false);
	confirm("g:out0", false);
	confirm("g99:out0", false);
}

/* Graphs that look the same are told apart by their order; names that repeat by their id. */
static void confirm_alike(void **state)
{
	(void)state;
	analyse("def forward(self, a : torch.Tensor):\n    v = a.view(-1)\n    return (v,)\n\n"
	        "def forward(self, b : torch.Tensor):\n    w = b.view(2, 2)\n    return (w,)\n");
	assert_has(confirm("forward:out0", false), "2 graphs are named 'forward': name one by its id, g1 (log.txt:1), g2 (log.txt:5)");
	Str s = confirm("g2:out0", true);
	assert_has(s, "if len(seen) != 2:");
	assert_has(s, "number 2 of the 2 of the dump that look the same");
}

static void confirm_refuses_what_was_not_read(void **state)
{
	(void)state;
	analyse("def forward(self, a : torch.Tensor):\n    y = (1\n    v = a.view(-1)\n    return (v,)\n");
	assert_has(confirm("forward:out0", false), "could not be read as a whole");
}

/* A name cannot end the comment it stands in, nor a string. */
static void confirm_hostile_names(void **state)
{
	(void)state;
	analyse("def forward(self, a : torch.Tensor):\n    v = a.view(-1)\n    return (v,)\n");
	Graph *g = w.run.program.graphs.v[1];
	g->name = sym_intern(w.run.program.names, S("x\nimport os"));
	g->nodes.v[2].target = sym_intern(w.run.program.names, S("a\"]\nimport os\\"));
	Str s = confirm("g1:out0", true);
	assert_lacks(s, "\nimport os");
	assert_has(s, "TARGETS = [\"a\\\"]\\x0aimport os\\\\\"]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(suspects_rank, setup, teardown),
		cmocka_unit_test_setup_teardown(suspects_guess, setup, teardown),
		cmocka_unit_test_setup_teardown(suspects_keep, setup, teardown),
		cmocka_unit_test_setup_teardown(state_is_ruled_out_only_where_shown, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_text, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_flows_in_json, setup, teardown),
		cmocka_unit_test_setup_teardown(graph_dot, setup, teardown),
		cmocka_unit_test_setup_teardown(dot_labels_are_escaped, setup, teardown),
		cmocka_unit_test_setup_teardown(confirm_boundaries, setup, teardown),
		cmocka_unit_test_setup_teardown(confirm_alike, setup, teardown),
		cmocka_unit_test_setup_teardown(confirm_refuses_what_was_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(confirm_hostile_names, setup, teardown),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("suspects", tests, NULL, NULL);
}
