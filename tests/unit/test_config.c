/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "config.h"
#include "nearest.h"

enum { ALL = KEEP_INPUT_WRITES | KEEP_OUTPUT_INPUT | KEEP_OUTPUT_OUTPUT | KEEP_IDENTITY | KEEP_STRIDES };

static void contracts(void **state)
{
	(void)state;
	for (int i = 0; i < CONTRACT_N; i++) {
		ContractName c;
		assert_true(contract_parse(contract_name((ContractName)i), &c));
		assert_int_equal(c, i);
	}
	ContractName c = CONTRACT_AOT;
	assert_false(contract_parse(S("AOT"), &c));
	assert_false(contract_parse(S(""), &c));
	Contract k = {.name = CONTRACT_AUTO};
	assert_int_equal(contract_of(&k, true), CONTRACT_AOT);
	assert_int_equal(contract_of(&k, false), CONTRACT_FRESH);
	assert_int_equal(contract_keeps(&k, true), ALL);
	assert_int_equal(contract_keeps(&k, false), KEEP_STRIDES);
	k.name = CONTRACT_FRESH;
	assert_int_equal(contract_of(&k, true), CONTRACT_FRESH);
	assert_int_equal(contract_keeps(&k, true), KEEP_STRIDES);
	k.name = CONTRACT_CUDAGRAPHS;
	assert_int_equal(contract_keeps(&k, false), ALL);
}

static void single_switches(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Contract k = {.name = CONTRACT_AOT};
	Str why = {0};
	assert_true(contract_keep_parse(S("input_writes=no, strides = yes"), &k, &a, &why));
	assert_int_equal(contract_keeps(&k, false), ALL & ~KEEP_INPUT_WRITES);
	assert_true(contract_keep_parse(S("input_writes=yes"), &k, &a, &why)); /* the later one counts */
	assert_int_equal(contract_keeps(&k, false), ALL);
	k = (Contract){.name = CONTRACT_AUTO};
	assert_true(contract_keep_parse(S("output_input=yes"), &k, &a, &why));
	assert_int_equal(contract_keeps(&k, false), KEEP_STRIDES | KEEP_OUTPUT_INPUT);
	arena_free(&a);
}

static void faulty_switches(void **state)
{
	(void)state;
	static const struct {
		const char *list, *why;
	} cases[] = {
		{"strides=yes,inputwrites=no", "unknown switch 'inputwrites' (did you mean 'input_writes'?)"},
		{"strides=ye", "a switch is yes or no, not 'ye' (did you mean 'yes'?)"},
		{"strides", "a switch is yes or no, not ''"},
		{"", "unknown switch ''"},
		{"strides=yes,", "unknown switch ''"},
		{"zzz=no", "unknown switch 'zzz'"},
	};
	Arena a = arena_new(NULL);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Contract k = {.name = CONTRACT_FRESH};
		Str why = {0};
		assert_false(contract_keep_parse(str_from_c(cases[i].list), &k, &a, &why));
		assert_string_equal(str_to_c(&a, why), cases[i].why);
		assert_int_equal(k.keep_set, 0); /* a list with a fault changes nothing */
	}
	arena_free(&a);
}

static void versions(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		Version v;
	} good[] = {
		{"2.13", 213}, {"2.13.0", 213}, {"2.6.0a0+git1234", 206}, {"1.13.1+cu117", 113}, {"2.0", 200},
		{"2.9.1.dev20250101", 209}, {"2.15rc1", 215},
	};
	static const char *bad[] = {"", "2", "2.", ".13", "2.x", "2.13 ", "v2.13", "2.100", "0.4", "99999.1", "2.13/../x", "2.13z"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		Version v = 0;
		assert_true(version_parse(str_from_c(good[i].text), &v));
		assert_int_equal(v, good[i].v);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		Version v = 7;
		assert_false(version_parse(str_from_c(bad[i]), &v));
		assert_int_equal(v, 7);
	}
}

static void defaults(void **state)
{
	(void)state;
	Config c = config_default();
	assert_int_equal(c.fail_on, SEV_WARNING);
	assert_int_equal(c.show, SEV_WARNING);
	assert_int_equal(c.contract.name, CONTRACT_AUTO);
	assert_false(c.allow_incomplete);
	assert_int_equal(c.torch.lo, 0);
	const uint64_t *limit = (const uint64_t *)&c.limits;
	for (size_t i = 0; i < sizeof c.limits / sizeof *limit; i++)
		assert_true(limit[i] > 0);
}

static void nearest_words(void **state)
{
	(void)state;
	static const Str words[] = {STR_INIT("message"), STR_INIT("summary"), STR_INIT("id"), STR_INIT("help")};
	static const struct {
		const char *word, *best;
	} cases[] = {{"mesage", "message"}, {"sumary", "summary"}, {"hlep", "help"}, {"idd", "id"}, {"xyzzy", ""}, {"", ""}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Nearest n = nearest_to(str_from_c(cases[i].word));
		for (size_t k = 0; k < sizeof words / sizeof *words; k++)
			nearest_try(&n, words[k]);
		assert_true(str_eq(n.best, str_from_c(cases[i].best)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contracts),
		cmocka_unit_test(single_switches),
		cmocka_unit_test(faulty_switches),
		cmocka_unit_test(versions),
		cmocka_unit_test(defaults),
		cmocka_unit_test(nearest_words),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
