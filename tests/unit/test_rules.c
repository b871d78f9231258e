/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "embedded.h"
#include "rules.h"
#include "template.h"

static Arena arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&arena);
	return 0;
}

static void assert_str(Str got, const char *want)
{
	assert_string_equal(str_to_c(&arena, got), want);
}

/* A rule file in which one line can be exchanged for another. */
static Str file_with(const char *line, const char *other)
{
	static const char *const lines[] = {
		"id: GL777",
		"name: some-name",
		"level: note",
		"since: '0.1'",
		"summary: short",
		"contracts: [fresh]",
		"references: [https://example.org/1]",
		"wordings:",
		"  - message: plain {graph}",
		"help: long",
		"builtin: boundaries",
		"fires: [a.txt]",
	};
	Buf b = {.a = &arena};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const char *l = line && !strcmp(lines[i], line) ? other : lines[i];
		buf_printf(&b, "%s%s", l, *l ? "\n" : "");
	}
	return buf_str(&b);
}

static void embedded_rules_load(void **state)
{
	(void)state;
	Rules r = {0};
	Buf errors = {.a = &arena};
	for (const EmbeddedFile *f = embedded_files; f->name; f++)
		if (str_ends(str_from_c(f->name), S(".yaml")))
			rules_load(&r, &arena, str_from_c(f->name), (Str){f->data, f->size}, &errors);
	assert_str(buf_str(&errors), "");
	static const char *const wanted[][2] = {
		{"GL101", "output-aliases-input"}, {"GL102", "outputs-share-storage"}, {"GL103", "input-mutated"},
		{"GL104", "metadata-write"}, {"GL203", "overlapping-write"}, {"GL204", "self-copy"},
		{"GL801", "body-effect"}, {"GL901", "unreadable"}, {"GL902", "truncated"}, {"GL903", "unknown-operator"},
	};
	const Rules *built = rules_builtin(&arena, NULL);
	assert_int_equal(built->v.n, r.v.n);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		const Rule *rule = rules_find(built, str_from_c(wanted[i][0]));
		assert_non_null(rule);
		assert_str(rule->name, wanted[i][1]);
		assert_ptr_equal(rules_find(built, rule->name), rule);
		for (uint32_t k = 0; k < rule->wordings.n; k++)
			assert_false(str_has(rule->wordings.v[k].message, S("wrong")));
	}
	assert_null(rules_find(built, S("GL000")));
	assert_null(rules_find(built, S("")));
}

/* Every wording must read well without any value but the few that are always there. */
static void sentences_without_values(void **state)
{
	(void)state;
	const Rules *built = rules_builtin(&arena, NULL);
	for (uint32_t i = 0; i < built->v.n; i++)
		for (uint32_t k = 0; k < built->v.v[i].wordings.n; k++) {
			const Rule *rule = &built->v.v[i];
			Diags d;
			diags_init(&d, &arena);
			Finding *f = diag_add(&d, rule->id, SEV_NOTE, (Span){0});
			f->variant = rule->wordings.v[k].variant;
			f->graph = S("g");
			f->output = f->input = 0;
			f->other_output = 1;
			f->attribute = S("self.buf");
			diag_var(&d, f, S("operator"), S("op"));
			diag_var(&d, f, S("why"), S("reason"));
			/* rules of the analyses beyond boundaries, and what signatures say, always have these */
			static const char *const always[] = {"other", "what", "text", "versions", "owner", "output_name", "input_name",
			                                     "source", "code", "version", "known"};
			bool more = str_cmp(rule->id, S("GL104")) > 0 || str_eq(f->variant, S("signature"));
			for (size_t v = 0; more && str_cmp(rule->id, S("GL901")) != 0 && v < sizeof always / sizeof *always; v++)
				diag_var(&d, f, str_from_c(always[v]), S("value"));
			rules_render(built, &d);
			Str texts[] = {f->message, f->suggestion};
			for (int t = 0; t < 2; t++) {
				static const char *const faults[] = {"  ", " ,", " :", " ()", "``", "{", "}", "[[", "]]", " ;", "( ", " )"};
				assert_true(texts[t].n > 0);
				for (size_t n = 0; n < sizeof faults / sizeof *faults; n++)
					if (str_has(texts[t], str_from_c(faults[n])))
						fail_msg("%s: '%s' in: %.*s", str_to_c(&arena, rule->id), faults[n], STR_ARG(texts[t]));
				assert_false(str_ends(texts[t], S(" ")) || str_ends(texts[t], S(":")));
			}
		}
}

static void good_file(void **state)
{
	(void)state;
	Rules r = {0};
	Buf errors = {.a = &arena};
	assert_true(rules_load(&r, &arena, S("r.yaml"), file_with(NULL, NULL), &errors));
	assert_int_equal(r.v.n, 1);
	const Rule *rule = &r.v.v[0];
	assert_str(rule->id, "GL777");
	assert_int_equal(rule->level, SEV_NOTE);
	assert_true(rule->contracts != 0);
	assert_int_equal(rule->references.n, 1);
	assert_str(rule->wordings.v[0].message, "plain {graph}");
	assert_int_equal(rule->builtin, rules_builtin_row(S("boundaries")));
	assert_int_equal(rule->tests.n, 1);
	assert_true(rule->tests.v[0].fires);
	assert_str(rule->tests.v[0].dumps.v[0], "a.txt");
	/* a second file with the same id, and a file with two documents */
	assert_false(rules_load(&r, &arena, S("s.yaml"), file_with(NULL, NULL), &errors));
	assert_int_equal(r.v.n, 1);
	assert_str(buf_str(&errors), "s.yaml:1:5: there is a rule 'GL777' already\n"
								 "s.yaml:2:7: there is a rule 'some-name' already\n");
	Buf two = {.a = &arena};
	errors.n = 0;
	buf_printf(&two, "---\n" STR_FMT "---\n" STR_FMT, STR_ARG(file_with("id: GL777", "id: GL778")),
		STR_ARG(file_with(NULL, NULL)));
	assert_false(rules_load(&r, &arena, S("t.yaml"), buf_str(&two), &errors));
	assert_int_equal(r.v.n, 1); /* with a fault the file adds nothing */
}

static void faults_have_place_and_nearest_word(void **state)
{
	(void)state;
	static const struct {
		const char *line, *other, *want;
	} cases[] = {
		{"summary: short", "sumary: short", "r.yaml:5:1: unknown key 'sumary' (did you mean 'summary'?)\n"
											"r.yaml:1:1: the key 'summary' is missing\n"},
		{"summary: short", "", "r.yaml:1:1: the key 'summary' is missing\n"},
		{"help: long", "help: long\nhelp: again", "r.yaml:11:1: the key 'help' stands here a second time\n"},
		{"help: long", "help: ''", "r.yaml:10:7: the text is empty\n"},
		{"help: long", "help: [a]", "r.yaml:10:7: a text is expected here\n"},
		{"help: long", "help: \"a\\eb\"", "r.yaml:10:7: the text has a control character\n"},
		{"summary: short", "summary: \"a\\0b\"", "r.yaml:5:10: the text has a control character\n"},
		{"summary: short", "summary: \"a\\nb\"", "r.yaml:5:10: the text must be one line\n"},
		{"level: note", "level: eror", "r.yaml:3:8: a level is note, warning or error, not 'eror' (did you mean 'error'?)\n"},
		{"level: note", "level: none", "r.yaml:3:8: a level is note, warning or error, not 'none' (did you mean 'note'?)\n"},
		{"id: GL777", "id: gl1", "r.yaml:1:5: 'gl1' is no rule id: capital letters, then three or more digits\n"},
		{"name: some-name", "name: Some_Name", "r.yaml:2:7: 'Some_Name' is not made of lower-case words joined by '-'\n"},
		{"since: '0.1'", "since: soon", "r.yaml:4:8: 'soon' is no version\n"},
		{"contracts: [fresh]", "contracts: [frsh]", "r.yaml:6:13: unknown contract 'frsh' (did you mean 'fresh'?)\n"},
		{"contracts: [fresh]", "contracts: [auto]", "r.yaml:6:13: unknown contract 'auto'"},
		{"contracts: [fresh]", "contracts: fresh", "r.yaml:6:12: a list is expected here\n"},
		{"contracts: [fresh]", "contracts: []", "r.yaml:6:12: the list is empty\n"},
		{"references: [https://example.org/1]", "references: ['javascript:x']", "r.yaml:7:14: a reference begins with https://\n"},
		{"  - message: plain {graph}", "  - message: plain {grahp}", "r.yaml:9:14: unknown name {grahp} (did you mean 'graph'?)\n"},
		{"  - message: plain {graph}", "  - message: 'open {graph'", "r.yaml:9:14: a brace that is no {name}; write {{ or }} for a brace\n"},
		{"  - message: plain {graph}", "  - message: 'x [[ {graph}'", "r.yaml:9:14: [[ without ]]\n"},
		{"  - message: plain {graph}", "  - suggestion: x", "r.yaml:9:5: the key 'message' is missing\n"},
		{"  - message: plain {graph}", "  - text", "r.yaml:9:5: a mapping with the key 'message' is expected here\n"},
		{"  - message: plain {graph}", "  - message: x\n  - message: y", "r.yaml:10:5: a second wording for the variant ''\n"},
		{"  - message: plain {graph}", "  - message: x\n    variant: a--b", "r.yaml:10:14: 'a--b' is not made of lower-case words joined by '-'\n"},
		{"help: long", "help: {a", "r.yaml:11:8: not YAML: did not find expected ',' or '}'\n"},
		{"help: long", "help: \xff", "r.yaml:10:7: not YAML: invalid leading UTF-8 octet\n"},
		{"builtin: boundaries", "builtin: bundaries", "r.yaml:11:10: there is no analysis 'bundaries' (did you mean 'boundaries'?)\n"},
		{"builtin: boundaries", "", "r.yaml:1:1: the key 'pattern' is missing\n"},
		{"fires: [a.txt]", "fires: a.txt", "r.yaml:12:8: a list is expected here\n"},
		{"fires: [a.txt]", "fires: [/a.txt]", "r.yaml:12:9: a dump is named relative to the rule file\n"},
		{"fires: [a.txt]", "silent: [{dump: a.txt, line: 3}]", "r.yaml:12:10: a dump on which the rule is silent has no line\n"},
		{"fires: [a.txt]", "fires: [{dump: [], line: 0}]", "r.yaml:12:16: the list is empty\nr.yaml:12:26: a number from 1 to "},
		{"fires: [a.txt]", "fires: [{dump: a, options: --contrct=fresh}]",
			"r.yaml:12:28: a test has no option '--contrct=fresh' (did you mean '--contract='?)\n"},
		{"help: long", "\xc3\xa4\xc3\xb6: x", "r.yaml:10:1: unknown key '\xc3\xa4\xc3\xb6'"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Rules r = {0};
		Buf errors = {.a = &arena};
		assert_false(rules_load(&r, &arena, S("r.yaml"), file_with(cases[i].line, cases[i].other), &errors));
		assert_int_equal(r.v.n, 0);
		if (!str_starts(buf_str(&errors), str_from_c(cases[i].want)))
			fail_msg("wanted %s, got %.*s", cases[i].want, STR_ARG(buf_str(&errors)));
	}
}

/* ---- what the user asks ---- */

static RuleLevel level_of(const Rules *r, const RuleAsk *asks, uint32_t n, const char *id)
{
	const Rule *rule = rules_find(r, str_from_c(id));
	assert_non_null(rule);
	return rules_settle(r, asks, n, &arena)[rule - r->v.v];
}

static void asks_by_weight(void **state)
{
	(void)state;
	const Rules *r = rules_builtin(&arena, NULL);
	static const struct {
		RuleAsk asks[3];
		uint32_t n;
		const char *id;
		bool on;
		Severity level;
	} cases[] = {
		{.n = 0, .id = "GL101", .on = true},
		{{{ASK_SELECT, STR_INIT("GL2"), SEV_NONE, true, {0}}}, 1, "GL204", true, SEV_NONE},
		{{{ASK_SELECT, STR_INIT("GL2"), SEV_NONE, true, {0}}}, 1, "GL101", false, SEV_NONE},
		{{{ASK_SELECT, STR_INIT("self-copy"), SEV_NONE, true, {0}}, {ASK_IGNORE, STR_INIT("GL2"), SEV_NONE, true, {0}}}, 2,
			"GL204", true, SEV_NONE},
		{{{ASK_SELECT, STR_INIT("GL2"), SEV_NONE, true, {0}}, {ASK_IGNORE, STR_INIT("GL204"), SEV_NONE, true, {0}}}, 2,
			"GL204", false, SEV_NONE},
		{{{ASK_SELECT, STR_INIT("GL204"), SEV_NONE, true, {0}}, {ASK_IGNORE, STR_INIT("GL204"), SEV_NONE, true, {0}}}, 2,
			"GL204", false, SEV_NONE},
		{{{ASK_IGNORE, STR_INIT("all"), SEV_NONE, true, {0}}, {ASK_LEVEL, STR_INIT("GL101"), SEV_ERROR, true, {0}}}, 2,
			"GL101", true, SEV_ERROR},
		{{{ASK_LEVEL, STR_INIT("GL101"), SEV_ERROR, false, {0}}, {ASK_LEVEL, STR_INIT("GL1"), SEV_NOTE, false, {0}}}, 2,
			"GL101", true, SEV_ERROR},
		/* the command line wins over files, whatever is closer */
		{{{ASK_LEVEL, STR_INIT("GL101"), SEV_ERROR, false, {0}}, {ASK_IGNORE, STR_INIT("GL1"), SEV_NONE, true, {0}}}, 2,
			"GL101", false, SEV_ERROR},
		{{{ASK_SELECT, STR_INIT("GL101"), SEV_NONE, false, {0}}, {ASK_SELECT, STR_INIT("GL2"), SEV_NONE, true, {0}}}, 2,
			"GL101", false, SEV_NONE},
		{{{ASK_LEVEL, STR_INIT("GL101"), SEV_NONE, false, {0}}, {ASK_LEVEL, STR_INIT("GL101"), SEV_NOTE, true, {0}}}, 2,
			"GL101", true, SEV_NOTE},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		RuleLevel got = level_of(r, cases[i].asks, cases[i].n, cases[i].id);
		if (got.on != cases[i].on || got.level != cases[i].level)
			fail_msg("case %zu: %s is %s, level %d", i, cases[i].id, got.on ? "on" : "off", (int)got.level);
	}
	RuleAsk bad = {ASK_IGNORE, S("self-copi"), SEV_NONE, true, S("--ignore")};
	Buf why = {.a = &arena};
	assert_false(rules_check_asks(r, &bad, 1, &why));
	assert_str(buf_str(&why), "--ignore: no rule is called 'self-copi' (did you mean 'self-copy'?)\n");
}

static void levels_of_findings(void **state)
{
	(void)state;
	const Rules *r = rules_builtin(&arena, NULL);
	RuleAsk asks[] = {{ASK_LEVEL, S("GL101"), SEV_ERROR, true, {0}}, {ASK_IGNORE, S("GL102"), SEV_NONE, true, {0}}};
	Diags d;
	diags_init(&d, &arena);
	diag_add(&d, S("GL102"), SEV_WARNING, (Span){0});
	diag_add(&d, S("GL101"), SEV_NOTE, (Span){0});
	diag_add(&d, S("GL101"), SEV_NOTE, (Span){0})->quiet_by_contract = true;
	diag_add(&d, S("GL103"), SEV_WARNING, (Span){0});
	const RuleLevel *levels = rules_settle(r, asks, 2, &arena);
	rules_apply_levels(r, &levels, &d);
	assert_int_equal(d.v.n, 3);
	assert_int_equal(d.v.v[0].severity, SEV_ERROR);
	assert_int_equal(d.v.v[1].severity, SEV_NOTE);
	assert_int_equal(d.v.v[2].severity, SEV_WARNING);
}

static void files_that_are_no_rules(void **state)
{
	(void)state;
	static const struct {
		Str text;
		const char *want;
	} cases[] = {
		{STR_INIT(""), "r.yaml:1:1: the file holds no rule\n"},
		{STR_INIT("# only a comment\n"), "r.yaml:1:1: the file holds no rule\n"},
		{STR_INIT("- a\n"), "r.yaml:1:1: a mapping with the key 'id' is expected here\n"},
		{STR_INIT("text"), "r.yaml:1:1: a mapping with the key 'id' is expected here\n"},
		{{"id: \0", 5}, "r.yaml:1:5: not YAML: control characters are not allowed\n"},
		{STR_INIT("&a [*a]"), "r.yaml:1:1: a mapping with the key 'id' is expected here\n"},
		{STR_INIT("wordings: &a [*a]"), "r.yaml:1:11: a mapping with the key 'message' is expected here\n"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Rules r = {0};
		Buf errors = {.a = &arena};
		assert_false(rules_load(&r, &arena, S("r.yaml"), cases[i].text, &errors));
		if (!str_starts(buf_str(&errors), str_from_c(cases[i].want)))
			fail_msg("wanted %s, got %.*s", cases[i].want, STR_ARG(buf_str(&errors)));
	}
}

static void hostile_files(void **state)
{
	(void)state;
	Rules r = {0};
	Buf errors = {.a = &arena}, b = {.a = &arena};
	for (int i = 0; i < 100000; i++)
		buf_char(&b, '[');
	assert_false(rules_load(&r, &arena, S("deep"), buf_str(&b), &errors));
	b.n = errors.n = 0;
	for (int i = 0; i < 60; i++)
		buf_printf(&b, "k%d: x\n", i);
	assert_false(rules_load(&r, &arena, S("many"), buf_str(&b), &errors));
	assert_true(str_ends(buf_str(&errors), S("many: more faults are not shown\n")));
	b.n = errors.n = 0;
	buf_add(&b, S("wordings:\n- &a {message: x, message: x}\n"));
	for (int i = 0; i < 900; i++)
		buf_add(&b, S("- *a\n"));
	assert_false(rules_load(&r, &arena, S("again"), buf_str(&b), &errors));
	b.n = errors.n = 0;
	for (int i = 0; i < 1 << 18; i++)
		buf_add(&b, S("#    \n"));
	assert_false(rules_load(&r, &arena, S("large"), buf_str(&b), &errors));
	assert_str(buf_str(&errors), "large:1:1: the file is larger than 1 MiB\n");
	assert_int_equal(r.v.n, 0);
}

/* ---- rendering ---- */

static void add_ab(void *ctx, Str name, Buf *out)
{
	(void)ctx;
	if (str_eq(name, S("a")))
		buf_add(out, S("A"));
}

static void templates(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"", ""},
		{"x {a} y", "x A y"},
		{"x[[ ({b})]] y", "x y"},
		{"x[[ ({a})]] y", "x (A) y"},
		{"[[{a}{b}]]", ""},
		{"[[{b}]][[{a}]]", "A"},
		{"{{a}} [0] x[1]", "{a} [0] x[1]"},
		{"{b}.", "."},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Buf b = {.a = &arena};
		template_fill(str_from_c(cases[i][0]), add_ab, NULL, &b);
		assert_str(buf_str(&b), cases[i][1]);
	}
}

static void variants_fall_back(void **state)
{
	(void)state;
	Rule r = {0};
	VEC_PUSH(&arena, &r.wordings, ((Wording){.variant = S("must"), .message = S("1")}));
	VEC_PUSH(&arena, &r.wordings, ((Wording){.variant = S("must-view"), .message = S("2")}));
	assert_str(wording_find(&r, S("must-view-kept"))->message, "2");
	assert_str(wording_find(&r, S("must-object-kept"))->message, "1");
	assert_str(wording_find(&r, S("may-view"))->message, "1"); /* no wording without variant: the first */
	VEC_PUSH(&arena, &r.wordings, ((Wording){.message = S("3")}));
	assert_str(wording_find(&r, S("may-view"))->message, "3");
	assert_str(wording_find(&r, S(""))->message, "3");
}

static void founding_sentence(void **state)
{
	(void)state;
	Diags d;
	diags_init(&d, &arena);
	Finding *f = diag_add(&d, S("GL101"), SEV_WARNING, (Span){0});
	f->variant = S("may-view-unknown");
	f->graph = S("forward");
	f->output = f->input = 0;
	f->condition = S("`_stack0_0_` is contiguous already");
	f->source = (UserSource){.file = S("m.py"), .line = 3, .code = S("x = y.contiguous()\n\t.view(-1)")};
	diag_var(&d, f, S("output_name"), S("view"));
	diag_var(&d, f, S("input_name"), S("_stack0_0_"));
	rules_render(rules_builtin(&arena, NULL), &d);
	assert_str(f->name, "output-aliases-input");
	assert_str(f->message,
		"output 0 (`view`) of `forward` is a view of input 0 (`_stack0_0_`), if `_stack0_0_` is contiguous already: "
		"then a write to either shows in the other, unless a compiler returns a new tensor in its place");
	assert_str(f->suggestion,
		"if nobody has to see such writes, clone what leaves the graph: `x = y.contiguous()  .view(-1)` -> add "
		"`.clone()`; else the backend has to hand back the alias");
	assert_true(str_has(f->help, S("## What to do")));
}

static void values_are_cut(void **state)
{
	(void)state;
	Diags d;
	diags_init(&d, &arena);
	diag_unread(&d, (Span){0}, "%0300d", 1);
	rules_render(rules_builtin(&arena, NULL), &d);
	assert_int_equal(d.v.v[0].message.n, strlen("could not be read: ") + 160 + 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(embedded_rules_load), TEST(sentences_without_values), TEST(good_file),
		TEST(faults_have_place_and_nearest_word), TEST(files_that_are_no_rules), TEST(hostile_files),
		TEST(asks_by_weight), TEST(levels_of_findings),
		TEST(templates), TEST(variants_fall_back), TEST(founding_sentence), TEST(values_are_cut),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
