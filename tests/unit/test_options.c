/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "options.h"

static Arena arena;
static Buf why;
static Options opts;

/* Parses words that are separated by blanks. */
static bool parse(const char *line)
{
	static char text[1024];
	char *argv[32] = {(char *)(uintptr_t)"graphlint"};
	int argc = 1;
	strncpy(text, line, sizeof text - 1);
	for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	why = (Buf){.a = &arena};
	return options_parse(&opts, &arena, argc, argv, &why);
}

static void assert_words(const char *line, const char *want)
{
	Buf b = {.a = &arena};
	assert_true(parse(line));
	for (uint32_t i = 0; i < opts.paths.n; i++)
		buf_printf(&b, "%s" STR_FMT, i ? " " : "", STR_ARG(opts.paths.v[i]));
	assert_string_equal(str_to_c(&arena, buf_str(&b)), want);
}

static void assert_fault(const char *line, const char *want)
{
	assert_false(parse(line));
	assert_string_equal(str_to_c(&arena, buf_str(&why)), want);
}

static void words(void **state)
{
	(void)state;
	assert_words("a b", "a b");
	assert_words("check a b", "a b");
	assert_words("--quiet check a", "a");
	assert_words("a check", "a check"); /* only the first word is a command */
	assert_words("check check", "check");
	assert_words("-- check", "check"); /* behind -- everything is a path */
	assert_words("check -- -q --format", "-q --format");
	assert_words("./check", "./check");
	assert_words("-", "-");
	assert_words("a -q b", "a b");
	assert_true(opts.quiet);
	assert_words("a -- -", "a -");
}

static void values(void **state)
{
	(void)state;
	assert_true(parse("a"));
	assert_string_equal(opts.writer->name, "text");
	assert_int_equal(opts.cfg.fail_on, SEV_WARNING);
	assert_true(str_eq(opts.stdin_name, S("<stdin>")));
	assert_true(parse("a --format json --contract=fresh --keep input_writes=yes --torch 2.13.0 --fail-on=never "
					  "--show note --allow-incomplete --color=always -q --facts x --facts=y --dump=split,alias "
					  "--stdin-filename n --max-file-size=64M --max-nesting 7"));
	assert_string_equal(opts.writer->name, "json");
	assert_int_equal(opts.cfg.contract.name, CONTRACT_FRESH);
	assert_int_equal(opts.cfg.contract.keep_value, KEEP_INPUT_WRITES);
	assert_int_equal(opts.cfg.torch.lo, 213);
	assert_int_equal(opts.cfg.torch.hi, 213);
	assert_int_equal(opts.cfg.fail_on, SEV_NONE);
	assert_int_equal(opts.cfg.show, SEV_NOTE);
	assert_true(opts.cfg.allow_incomplete);
	assert_int_equal(opts.color, COLOR_ALWAYS);
	assert_int_equal(opts.facts.n, 2);
	assert_int_equal(opts.dump, DUMP_SPLIT | DUMP_ALIAS);
	assert_true(str_eq(opts.stdin_name, S("n")));
	assert_int_equal(opts.cfg.limits.file_bytes, 64 << 20);
	assert_int_equal(opts.cfg.limits.nesting, 7);
	assert_true(parse("-f concise a"));
	assert_string_equal(opts.writer->name, "concise");
	assert_true(parse("--form json a")); /* a beginning that fits one option */
	assert_true(parse("--help") && opts.help);
	assert_true(parse("-V") && opts.version);
}

static void faults(void **state)
{
	(void)state;
	assert_fault("", "nothing to read: name files or folders, or - for standard input");
	assert_fault("check", "nothing to read: name files or folders, or - for standard input");
	assert_fault("--formt json a", "unknown option '--formt' (did you mean '--format'?)");
	assert_fault("--formt=json a", "unknown option '--formt' (did you mean '--format'?)");
	assert_fault("--xyzzy a", "unknown option '--xyzzy'");
	assert_fault("--f json a", "--f may be --format, --facts, --fail-on");
	assert_fault("-z a", "unknown option '-z'");
	assert_fault("a --format", "--format needs a value: FORMAT");
	assert_fault("a -f", "--format needs a value: FORMAT");
	assert_fault("--quiet=yes a", "--quiet takes no value");
	assert_fault("--format jsn a", "--format: unknown format 'jsn' (did you mean 'json'?)");
	assert_fault("--contract fersh a", "--contract: unknown contract 'fersh' (did you mean 'fresh'?)");
	assert_fault("--keep stride=yes a", "--keep: unknown switch 'stride' (did you mean 'strides'?)");
	assert_fault("--torch new a", "--torch: a version looks like 2.13, not like 'new'");
	assert_fault("--fail-on=none a", "--fail-on: unknown level 'none' (did you mean 'note'?)");
	assert_fault("--show=never a", "--show: unknown level 'never'");
	assert_fault("--color=yes a", "--color: colour is auto, always or never, not 'yes'");
	assert_fault("--dump=split,aliases a", "--dump: unknown pass 'aliases'");
	assert_fault("--max-depth=0 a", "--max-depth: a number above 0 is needed, also as 64M, not '0'");
	assert_fault("--max-depth=9999999999999G a", "--max-depth: a number above 0 is needed, also as 64M, not '9999999999999G'");
	assert_fault("--max-depth=-1 a", "--max-depth: a number above 0 is needed, also as 64M, not '-1'");
	assert_fault("--max-depth=K a", "--max-depth: a number above 0 is needed, also as 64M, not 'K'");
	assert_fault("--stdin-filename= -", "--stdin-filename: a name is needed, not ''");
	assert_fault("- -", "`-` is given twice: standard input can be read once");
}

static void help_names_every_option(void **state)
{
	(void)state;
	static const char *const names[] = {
		"format", "show", "color", "quiet", "dump", "contract", "keep", "torch", "facts", "fail-on", "allow-incomplete",
		"stdin-filename", "help", "version",
#define LIMIT(field, flag, value, unit, text) flag,
#include "limits.def"
#undef LIMIT
	};
	Buf b = {.a = &arena};
	options_help(&b);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!str_has(buf_str(&b), str_printf(&arena, " --%s", names[i])))
			fail_msg("--%s", names[i]);
	Str text = buf_str(&b), line;
	while (str_cut(&text, '\n', &line))
		assert_true(line.n <= 140 && !str_ends(line, S(" ")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(values),
		cmocka_unit_test(faults),
		cmocka_unit_test(help_names_every_option),
	};
	arena = arena_new(NULL);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	int failed = cmocka_run_group_tests_name("options", tests, NULL, NULL);
	arena_free(&arena);
	return failed;
}
