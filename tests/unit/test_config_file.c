/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "config_file.h"
#include "embedded.h"

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

static ConfigFile load(Str text)
{
	ConfigFile c;
	Buf errors = {.a = &arena};
	if (!config_file_load(&c, &arena, S("c.yaml"), text, &errors))
		fail_msg("%.*s", STR_ARG(buf_str(&errors)));
	return c;
}

static void all_settings(void **state)
{
	(void)state;
	ConfigFile c = load(S("contract: {name: fresh, identity: yes, strides: off}\n"
						  "torch: 2.13\n"
						  "select: GL1\n"
						  "ignore: [GL601, self-copy]\n"
						  "rules:\n  GL101: error\n  GL2: off\n"
						  "rule-files: r\n"
						  "operators: ['a::b(Tensor x) -> Tensor']\n"
						  "facts: [f.txt]\n"
						  "exclude: '*.bak'\n"
						  "paths: [{match: 'x/**', contract: strict, rules: {GL1: note}, ignore: GL2}]\n"
						  "suppress: [{rule: [GL1, GL2], output: 3, reason: why}]\n"
						  "baseline: b.json\n"
						  "fail-on: never\n"
						  "show: note\n"
						  "allow-incomplete: true\n"));
	for (int i = 0; i < SET_N; i++)
		if (!c.line[i])
			fail_msg("%.*s has no line", STR_ARG(setting_key((SettingId)i)));
	assert_int_equal(c.contract.name, CONTRACT_FRESH);
	assert_int_equal(c.contract.keep_set, KEEP_IDENTITY | KEEP_STRIDES);
	assert_int_equal(c.contract.keep_value, KEEP_IDENTITY);
	assert_int_equal(c.torch.lo, 213);
	assert_int_equal(c.asks.n, 5);
	assert_int_equal(c.asks.v[4].kind, ASK_LEVEL);
	assert_int_equal(c.asks.v[4].level, SEV_NONE);
	assert_string_equal(str_to_c(&arena, c.asks.v[3].from), "c.yaml:6");
	assert_int_equal(c.paths.v[0].asks.n, 2);
	assert_true(c.paths.v[0].has_contract);
	assert_string_equal(str_to_c(&arena, c.suppressions.v[0].rule), "GL1,GL2");
	assert_int_equal(c.suppressions.v[0].output, 3);
	assert_int_equal(c.suppressions.v[0].input, -1);
	assert_int_equal(c.fail_on, SEV_NONE);
	assert_int_equal(c.show, SEV_NOTE);
	assert_int_equal(c.line[SET_SHOW], 16);
}

/* What `graphlint init` writes sets nothing, and says nothing but what is true when its comment signs are taken off. */
static void template_file(void **state)
{
	(void)state;
	Buf text = {.a = &arena};
	Str all = {0}, line;
	for (const EmbeddedFile *f = embedded_files; f->name; f++)
		if (str_eq(str_from_c(f->name), S("init.txt")))
			all = (Str){f->data, f->size};
	assert_true(all.n > 0);
	ConfigFile none = load(all);
	for (int i = 0; i < SET_N; i++)
		assert_int_equal(none.line[i], 0);
	bool contract = false;
	while (str_cut(&all, '\n', &line)) {
		bool again = str_starts(line, S("#contract:")) && contract; /* two ways to say it */
		contract |= str_starts(line, S("#contract:"));
		bool prose = str_starts(line, S("# ")) && !str_starts(line, S("#  "));
		if (str_starts(line, S("#")) && !prose && !again)
			buf_printf(&text, STR_FMT "\n", STR_ARG(str_sub(line, 1, line.n)));
	}
	ConfigFile c = load(buf_str(&text));
	for (int i = 0; i < SET_N; i++)
		if (!c.line[i])
			fail_msg("init.txt has no %.*s", STR_ARG(setting_key((SettingId)i)));
}

static void faults(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"contract: frsh", "c.yaml:1:11: unknown contract 'frsh' (did you mean 'fresh'?)\n"},
		{"contract: {identiti: yes}", "c.yaml:1:12: unknown switch 'identiti' (did you mean 'identity'?)\n"},
		{"contract: {identity: maybe}", "c.yaml:1:22: yes or no is expected here\n"},
		{"contract: {'identity=yes,strides': yes}", "c.yaml:1:12: unknown switch\n"},
		{"rulse: {}", "c.yaml:1:1: unknown key 'rulse' (did you mean 'rules'?)\n"},
		{"rules: {GL101: eror}", "c.yaml:1:16: a level is error, warning, note or off, not 'eror' (did you mean 'error'?)\n"},
		{"rules: [GL101]", "c.yaml:1:8: a mapping is expected here\n"},
		{"show: never", "c.yaml:1:7: unknown level 'never'"},
		{"exclude: ['[a']", "c.yaml:1:11: [ without ]\n"},
		{"paths: [{rules: {GL1: off}}]", "c.yaml:1:9: the key 'match' is missing\n"},
		{"suppress: [{reason: x}]", "c.yaml:1:12: it has to say what is hidden: rule, path, source, graph or fingerprint\n"},
		{"suppress: [{rule: GL101}]", "c.yaml:1:12: the key 'reason' is missing\n"},
		{"suppress: [{rule: GL101, reason: x, output: -1}]", "c.yaml:1:45: a number from 0 to 2147483647 is expected here\n"},
		{"torch: soon", "c.yaml:1:8: a version looks like 2.13, not like 'soon'\n"},
		{"show: note\nshow: note", "c.yaml:2:1: the key 'show' stands here a second time\n"},
		{"show: note\n---\nshow: error", "c.yaml:3:1: a configuration has one document\n"},
		{"baseline: \"a\\eb\"", "c.yaml:1:11: the text has a control character\n"},
		{"text", "c.yaml:1:1: a mapping with the key 'contract' is expected here\n"},
		{"a: [", "c.yaml:2:1: not YAML: "},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		ConfigFile c;
		Buf errors = {.a = &arena};
		assert_false(config_file_load(&c, &arena, S("c.yaml"), str_from_c(cases[i][0]), &errors));
		if (!str_starts(buf_str(&errors), str_from_c(cases[i][1])))
			fail_msg("wanted %s, got %.*s", cases[i][1], STR_ARG(buf_str(&errors)));
	}
	load(S(""));
	load(S("# nothing\n"));
	load(S("---\n"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(all_settings), TEST(template_file), TEST(faults)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("config_file", tests, NULL, NULL);
}
