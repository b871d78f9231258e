/* SPDX-License-Identifier: MIT
 * Runs that share what was read say exactly what a fresh run says, wherever the text was changed, and read again only
 * what was changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "report.h"
#include "run.h"

static const char sample[] = "samples/bigbird/bigbird.aot_eager.log";

typedef struct Chain {
	Arena a;
	Tables tables;
	Budget budget;
	Types *types;
	ReadCache *cache;
	Config cfg;
	uint32_t pulses;
} Chain;

static void chain_begin(Chain *c)
{
	*c = (Chain){.a = arena_new(NULL), .cfg = config_default()};
	c->cfg.contract.name = CONTRACT_FRESH;
	tables_init(&c->tables);
	c->types = types_new(&c->a, &c->tables.names);
	c->cache = read_cache_new(&c->a, NULL);
}

static void chain_end(Chain *c)
{
	read_cache_free(c->cache);
	tables_free(&c->tables);
	arena_free(&c->a);
}

static Str load(Arena *a, const char *path)
{
	Sources s;
	Str why;
	sources_init(&s, a);
	FileId f = sources_add_file(&s, str_from_c(path), (Str){0}, 0, &why);
	if (!f.i)
		fail_msg("%s: " STR_FMT, path, STR_ARG(why));
	return source_get(&s, f)->text;
}

static Str report(Run *r, Str text, Arena *a)
{
	Str why;
	Buf out = {.a = a};
	ReportOptions o = {0};
	assert_true(sources_add_bytes(&r->sources, S("log.txt"), text, 0, &why).i);
	run_analyse(r);
	report_write_json(r, &o, &out);
	return buf_str(&out);
}

static Str fresh(Str text, Arena *a)
{
	Tables t;
	Run r;
	Config cfg = config_default();
	cfg.contract.name = CONTRACT_FRESH;
	tables_init(&t);
	run_init(&r, &t, &cfg);
	Str s = report(&r, text, a);
	run_free(&r);
	tables_free(&t);
	return s;
}

/* The next run of the chain, in `r`. */
static Str next(Chain *c, Run *r, Str text)
{
	read_cache_begin(c->cache);
	run_init_next(r, &c->tables, &c->cfg, &c->budget, c->types, c->cache);
	Str s = report(r, text, &c->a);
	read_cache_finish(c->cache);
	return s;
}

static Str replaced(Arena *a, Str text, uint32_t at, uint32_t end, Str with)
{
	Buf b = {.a = a};
	buf_add(&b, str_sub(text, 0, at));
	buf_add(&b, with);
	buf_add(&b, str_sub(text, end, text.n));
	return buf_str(&b);
}

static void same(Str got, Str want)
{
	uint32_t i = 0;
	while (i < got.n && i < want.n && got.p[i] == want.p[i])
		i++;
	if (got.n != want.n || i < got.n)
		fail_msg("differs from a fresh run at byte %u: \"" STR_FMT "\", not \"" STR_FMT "\"", (unsigned)i,
		         STR_ARG(str_sub(got, i, i + 120)), STR_ARG(str_sub(want, i, i + 120)));
}

static void one_line_is_one_artifact(void **state)
{
	(void)state;
	Chain c;
	Run first, second;
	uint32_t read, asked, again;
	chain_begin(&c);
	Str text = load(&c.a, sample);
	same(next(&c, &first, text), fresh(text, &c.a));
	read_cache_counts(c.cache, &read, &asked);
	assert_true(read > 4);
	uint32_t at = str_find(text, S(".contiguous()"), 0);
	assert_true(at < text.n);
	text = replaced(&c.a, text, at, at + S(".contiguous()").n, S(".clone(memory_format = torch.contiguous_format)"));
	same(next(&c, &second, text), fresh(text, &c.a));
	read_cache_counts(c.cache, &again, &asked);
	assert_int_equal(again, 1);
	run_free(&first);
	run_free(&second);
	chain_end(&c);
}

/* Cuts, inserts and repeats, each on the text that the last one left; two runs are alive at any time. */
static void any_edit(void **state)
{
	(void)state;
	static const Str inserts[] = {STR_INIT(""), STR_INIT("\n"), STR_INIT("xx"), STR_INIT("# \xf0\x9f\x98\x80\n"),
	                              STR_INIT("def forward(self, a):\n    return (a,)\n"), STR_INIT("\t"), STR_INIT("]")};
	Chain c;
	Run runs[2];
	uint64_t x = 7;
	chain_begin(&c);
	Str text = load(&c.a, sample);
	next(&c, &runs[0], text);
	for (uint32_t i = 1; i <= 60; i++) {
		x = hash_u64(x + i);
		uint32_t at = (uint32_t)(x % (text.n + 1)), cut = (uint32_t)(x >> 40) % 40;
		Str with = inserts[(x >> 32) % (sizeof inserts / sizeof *inserts)];
		text = replaced(&c.a, text, at, at + (i % 3 ? 0 : cut), with);
		same(next(&c, &runs[i % 2], text), fresh(text, &c.a));
		run_free(&runs[(i + 1) % 2]);
	}
	run_free(&runs[0]);
	chain_end(&c);
}

static void stop_soon(void *ctx)
{
	Chain *c = ctx;
	c->budget.stop = ++c->pulses > 20;
}

/* A run that nobody waits for any more ends, and the next one is as good as ever. */
static void stopped(void **state)
{
	(void)state;
	Chain c;
	Run cut, whole;
	chain_begin(&c);
	Str text = load(&c.a, sample);
	c.budget.pulse = stop_soon;
	c.budget.pulse_ctx = &c;
	read_cache_begin(c.cache);
	run_init_next(&cut, &c.tables, &c.cfg, &c.budget, c.types, c.cache);
	Str why;
	assert_true(sources_add_bytes(&cut.sources, S("log.txt"), text, 0, &why).i);
	run_analyse(&cut);
	assert_true(cut.out_of_memory);
	run_free(&cut);
	c.budget.pulse = NULL;
	c.budget.stop = false;
	same(next(&c, &whole, text), fresh(text, &c.a));
	run_free(&whole);
	chain_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_line_is_one_artifact),
		cmocka_unit_test(any_edit),
		cmocka_unit_test(stopped),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
