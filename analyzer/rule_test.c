/* SPDX-License-Identifier: MIT */
#include "rule_test.h"

#include "utf8.h"
#include "glob.h"
#include "json.h"
#include "report_common.h"
#include "rule_files.h"
#include "walk.h"

enum { SHOWN = 5 };

typedef struct Tester {
	const Options *o;
	Tables *t;
	Arena *a;
	Buf *out;
	Json j;
	RuleTestCounts *counts;
	bool unicode;
	bool changed;     /* a condition of the rule is changed: tests are counted only */
	uint32_t failed;  /* then */
} Tester;

/* What one test came to. */
typedef struct Outcome {
	bool passed;
	Str why;          /* in words, when it failed */
	const Run *r;
	Places places;
} Outcome;

/* ---- rules ---- */

/* The rules of the files, then the embedded ones whose id and name are free. */
static bool load(const Options *o, Tables *t, Arena *a, Rules *out, uint32_t *own, Buf *faults)
{
	StrList paths = {0};
	bool ok = true;
	*out = (Rules){.names = &t->names};
	for (uint32_t i = 0; i < o->paths.n; i++)
		VEC_PUSH(a, &paths, o->paths.v[i]);
	for (uint32_t i = 0; !o->paths.n && i < o->rule_files.n; i++)
		VEC_PUSH(a, &paths, o->rule_files.v[i]);
	if (!paths.n)
		VEC_PUSH(a, &paths, S("rules"));
	for (uint32_t i = 0; i < paths.n; i++)
		ok &= rule_files_load(out, a, paths.v[i], faults);
	*own = out->v.n;
	for (uint32_t i = 0; ok && i < t->rules->v.n; i++) {
		const Rule *r = &t->rules->v.v[i];
		if (!rules_find(out, r->id) && !rules_find(out, r->name))
			VEC_PUSH(a, &out->v, *r);
	}
	return ok;
}

/* ---- one test ---- */

/* The configuration of a test: the defaults and its own options, read as the command line is. */
static bool configure(const RuleTest *test, Arena *a, Options *o, Str *why)
{
	Buf fault = {.a = a};
	char **argv = NEW_N(a, char *, test->options.n + 4);
	int argc = 0;
	argv[argc++] = str_to_c(a, S("graphlint"));
	argv[argc++] = str_to_c(a, S("check"));
	for (uint32_t i = 0; i < test->options.n; i++)
		argv[argc++] = str_to_c(a, test->options.v[i]);
	argv[argc++] = str_to_c(a, S("-"));
	if (options_parse(o, a, argc, argv, &fault))
		return true;
	*why = buf_str(&fault);
	return false;
}

static bool read_dumps(Run *r, const Rule *rule, const RuleTest *test, Arena *a, Str *why)
{
	Walk w;
	jmp_buf out;
	Buf trouble = {.a = a};
	walk_init(&w, a, r->cfg->limits.walk_depth, &trouble);
	for (uint32_t i = 0; i < test->dumps.n; i++)
		walk_add(&w, path_join(a, path_folder(rule->file), test->dumps.v[i]));
	bool ok = !w.failed;
	r->budget->fail = &out;
	if (setjmp(out)) {
		r->out_of_memory = true;
		ok = false;
	} else {
		for (uint32_t i = 0; i < w.files.n; i++) {
			Str fault, path = w.files.v[i].path;
			if (sources_add_file(&r->sources, path, path, r->cfg->limits.file_bytes, &fault).i)
				continue;
			buf_printf(&trouble, STR_FMT ": " STR_FMT, STR_ARG(path), STR_ARG(fault));
			ok = false;
		}
	}
	r->budget->fail = NULL;
	if (!ok)
		*why = trouble.n ? buf_str(&trouble) : S("the dump needs more memory than --max-memory allows");
	return ok;
}

static bool stands_at(Places *p, const Finding *f, uint32_t line)
{
	return !line || (f->span.file.i && place_of(p, f->span.file, f->span.at).line == line);
}

static void judge(const Rule *rule, const RuleTest *test, Outcome *out, Arena *a)
{
	uint32_t all = 0, there = 0;
	for (uint32_t i = 0; i < out->r->diags.v.n; i++) {
		const Finding *f = &out->r->diags.v.v[i];
		if (!str_eq(f->rule, rule->id))
			continue;
		all++;
		there += stands_at(&out->places, f, test->line);
	}
	out->passed = test->fires ? there > 0 : !all;
	if (out->passed)
		return;
	if (!test->fires)
		out->why = str_printf(a, "it has to stay silent, and has %u finding%s", (unsigned)all, report_plural(all));
	else if (all)
		out->why = str_printf(a, "it has to have a finding at line %u", (unsigned)test->line);
	else
		out->why = S("it has to fire, and is silent");
}

/* ---- reports ---- */

static void add_dumps(Buf *out, const RuleTest *test, bool unicode)
{
	for (uint32_t i = 0; i < test->dumps.n; i++) {
		buf_char(out, ' ');
		report_text(out, test->dumps.v[i], unicode);
	}
	for (uint32_t i = 0; i < test->options.n; i++) {
		buf_char(out, ' ');
		report_text(out, test->options.v[i], unicode);
	}
}

static void add_finding(Tester *x, Places *p, const Finding *f)
{
	LineCol at = f->span.file.i ? place_of(p, f->span.file, f->span.at) : (LineCol){0, 0};
	buf_add(x->out, S("    found  "));
	report_text(x->out, place_path(p, f->span.file), x->unicode);
	buf_printf(x->out, ":%u: " STR_FMT ": ", (unsigned)at.line, STR_ARG(severity_name(f->severity)));
	report_words(x->out, f->message, x->unicode);
	buf_printf(x->out, " [" STR_FMT "]\n", STR_ARG(f->rule));
}

/* What is there in place of what was wanted: findings of the rule, else those of other rules. */
static void add_found(Tester *x, const Rule *rule, Outcome *o)
{
	const Diags *d = &o->r->diags;
	uint32_t own = 0, n = 0, all = 0;
	for (uint32_t i = 0; i < d->v.n; i++)
		own += str_eq(d->v.v[i].rule, rule->id);
	for (uint32_t i = 0; i < d->v.n; i++) {
		if (own && !str_eq(d->v.v[i].rule, rule->id))
			continue;
		if (++all <= SHOWN) {
			add_finding(x, &o->places, &d->v.v[i]);
			n++;
		}
	}
	if (all > n)
		buf_printf(x->out, "    and %u more\n", (unsigned)(all - n));
	if (!all)
		buf_printf(x->out, "    found  nothing, in %u graph%s\n", (unsigned)(o->r->program.graphs.n - 1),
			report_plural(o->r->program.graphs.n - 1));
}

static void text_line(Tester *x, const Rule *rule, const RuleTest *test, Outcome *o)
{
	buf_printf(x->out, "%s " STR_FMT " %s", o->passed ? "ok     " : "FAILED ", STR_ARG(rule->id), test->fires ? "fires " : "silent");
	add_dumps(x->out, test, x->unicode);
	buf_char(x->out, '\n');
	if (o->passed)
		return;
	buf_add(x->out, S("    at     "));
	report_text(x->out, rule->file, x->unicode);
	buf_printf(x->out, ":%zu\n    wanted ", test->at_line);
	report_text(x->out, o->why, x->unicode);
	buf_char(x->out, '\n');
	if (o->r)
		add_found(x, rule, o);
}

static void json_test(Tester *x, const Rule *rule, const RuleTest *test, Outcome *o)
{
	Json *j = &x->j;
	json_object(j);
	j->pretty = false;
	json_key(j, S("rule"));
	json_str(j, rule->id);
	json_key(j, S("file"));
	json_str(j, rule->file);
	json_key(j, S("line"));
	json_int(j, (int64_t)test->at_line);
	json_key(j, S("wanted"));
	json_str(j, test->fires ? S("fires") : S("silent"));
	json_key(j, S("dumps"));
	json_array(j);
	for (uint32_t i = 0; i < test->dumps.n; i++)
		json_str(j, test->dumps.v[i]);
	json_end(j);
	json_key(j, S("passed"));
	json_bool(j, o->passed);
	json_key(j, S("why"));
	json_str_or_null(j, o->why);
	json_end(j);
	j->pretty = true;
}

static void tell(Tester *x, const Rule *rule, const RuleTest *test, Outcome *o)
{
	if (x->changed) {
		x->failed += !o->passed;
		return;
	}
	x->counts->tests++;
	x->counts->failed += !o->passed;
	if (x->o->json)
		json_test(x, rule, test, o);
	else if (!o->passed || !x->o->quiet)
		text_line(x, rule, test, o);
}

/* Further rules that the test names, relative to its rule file. */
static bool add_rules(const Rule *rule, const Options *o, Arena *a, Rules *all, Str *why)
{
	Buf faults = {.a = a};
	for (uint32_t i = 0; i < o->rule_files.n && !faults.n; i++)
		rule_files_load(all, a, path_join(a, path_folder(rule->file), o->rule_files.v[i]), &faults);
	*why = buf_str(&faults);
	return !faults.n;
}

static void analyse(Tester *x, const Rule *rule, const RuleTest *test, const Config *cfg, Arena *a)
{
	Run *r = NEW(a, Run);
	Outcome out = {0};
	run_init(r, x->t, cfg);
	if (read_dumps(r, rule, test, a, &out.why)) {
		run_analyse(r);
		out.r = r;
		out.places = places_new(&r->sources, a);
		if (r->out_of_memory)
			out.why = S("the analysis needs more memory than --max-memory allows");
		else
			judge(rule, test, &out, a);
	}
	tell(x, rule, test, &out);
	run_free(r);
}

static void run_test(Tester *x, const Rule *rule, const RuleTest *test)
{
	Arena a = arena_new(NULL);
	Options o;
	Outcome bad = {0};
	Rules *before = x->t->rules, all = *before, added;
	if (configure(test, &a, &o, &bad.why) && add_rules(rule, &o, &a, &all, &bad.why)) {
		x->t->rules = &all;
		analyse(x, rule, test, &o.cfg, &a);
		x->t->rules = before;
	} else {
		tell(x, rule, test, &bad);
	}
	added = (Rules){.v = {all.v.v + before->v.n, all.v.n - before->v.n, 0}};
	rules_free(&added);
	arena_free(&a);
}

/* ---- changed conditions ---- */

static uint32_t failed_tests(Tester *x, const Rule *rule)
{
	x->changed = true;
	x->failed = 0;
	for (uint32_t i = 0; i < rule->tests.n && !x->failed; i++)
		run_test(x, rule, &rule->tests.v[i]);
	x->changed = false;
	return x->failed;
}

static void tell_unseen(Tester *x, const Rule *rule, const Cond *c, bool negated)
{
	if (x->o->json)
		return;
	buf_printf(x->out, "%s " STR_FMT " no test %s ", negated ? "UNSEEN " : "unseen ", STR_ARG(rule->id),
		negated ? "fails when it is negated:" : "needs");
	report_text(x->out, c->text, x->unicode);
	buf_char(x->out, '\n');
}

/* Negated: a firing dump has to fall silent, or a silent one to fire. Left out: there is a near miss; that is told, not asked for. */
static void change_condition(Tester *x, const Rule *rule, RulePattern *p, uint32_t c)
{
	Cond kept = p->where.v[c], changed = kept;
	changed.ops.cap = changed.ops.n; /* a copy is made when it grows */
	VEC_PUSH(x->a, &changed.ops, ((CondOp){.kind = CO_NOT}));
	x->counts->changes++;
	p->where.v[c] = changed;
	if (!failed_tests(x, rule)) {
		x->counts->unseen++;
		tell_unseen(x, rule, &kept, true);
	}
	p->where.v[c] = p->where.v[p->where.n - 1];
	p->where.n--;
	if (!failed_tests(x, rule))
		tell_unseen(x, rule, &kept, false);
	p->where.v[p->where.n++] = p->where.v[c];
	p->where.v[c] = kept;
}

static void change_conditions(Tester *x, Rule *rule)
{
	for (uint32_t i = 0; i < rule->patterns.n; i++)
		for (uint32_t c = 0; c < rule->patterns.v[i].where.n; c++)
			change_condition(x, rule, &rule->patterns.v[i], c);
}

static void test_rule(Tester *x, Rule *rule)
{
	bool fires = false, silent = false;
	x->counts->rules++;
	for (uint32_t i = 0; i < rule->tests.n; i++) {
		fires |= rule->tests.v[i].fires;
		silent |= !rule->tests.v[i].fires;
		run_test(x, rule, &rule->tests.v[i]);
	}
	if (x->o->negate)
		change_conditions(x, rule);
	if (fires && silent)
		return;
	x->counts->lacking++;
	if (!x->o->json)
		buf_printf(x->out, "lacks   " STR_FMT " has no dump on which it %s\n", STR_ARG(rule->id),
			!fires && !silent ? "fires, and none on which it is silent" : fires ? "is silent" : "fires");
}

static void end_json(Tester *x)
{
	const RuleTestCounts *c = x->counts;
	json_end(&x->j);
	json_key(&x->j, S("tests_run"));
	json_int(&x->j, c->tests);
	json_key(&x->j, S("failed"));
	json_int(&x->j, c->failed);
	json_key(&x->j, S("rules_without_both"));
	json_int(&x->j, c->lacking);
	if (x->o->negate) {
		json_key(&x->j, S("conditions_negated"));
		json_int(&x->j, c->changes);
		json_key(&x->j, S("conditions_unseen"));
		json_int(&x->j, c->unseen);
	}
	json_end(&x->j);
	buf_char(x->out, '\n');
}

bool rule_tests_run(const Options *o, Tables *t, Arena *a, Buf *out, RuleTestCounts *counts, Buf *faults)
{
	Rules rules, *before = t->rules;
	uint32_t own = 0;
	Tester x = {.o = o, .t = t, .a = a, .out = out, .j = json_new(out, true), .counts = counts, .unicode = terminal_unicode()};
	bool ok = load(o, t, a, &rules, &own, faults);
	*counts = (RuleTestCounts){0};
	if (ok) {
		t->rules = &rules;
		if (o->json) {
			json_object(&x.j);
			json_key(&x.j, S("tests"));
			json_array(&x.j);
		}
		for (uint32_t i = 0; i < own; i++)
			test_rule(&x, &rules.v.v[i]);
		if (o->json)
			end_json(&x);
		t->rules = before;
	}
	rules.v.n = own; /* the others belong to the embedded ones */
	rules_free(&rules);
	return ok;
}
