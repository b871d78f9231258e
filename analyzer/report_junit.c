/* SPDX-License-Identifier: MIT
 * JUnit's XML: a suite for each input file. A finding at or above --fail-on is a failure, one below it a passed case that
 * says so, text that could not be read an error; a file without any of them is one passed case. */
#include "report.h"

#include "report_ci.h"
#include "report_place.h"

typedef struct Out {
	const Run *r;
	const ReportOptions *o;
	Buf *out;
	Arena a, scratch;
	Places places;
	Groups groups;
} Out;

typedef struct Suite {
	uint32_t cases, failures, errors;
} Suite;

/* Text or the value of an attribute. Controls are not allowed in XML 1.0, not even as references: they are shown as escapes. */
static void add_xml(Out *o, Str s)
{
	Buf b = {.a = &o->scratch};
	report_words(&b, s, true);
	for (uint32_t i = 0; i < b.n; i++) {
		switch (b.p[i]) {
		case '&': buf_add(o->out, S("&amp;")); break;
		case '<': buf_add(o->out, S("&lt;")); break;
		case '>': buf_add(o->out, S("&gt;")); break;
		case '"': buf_add(o->out, S("&quot;")); break;
		default: buf_char(o->out, b.p[i]);
		}
	}
}

static void add_attribute(Out *o, const char *name, Str value)
{
	buf_printf(o->out, " %s=\"", name);
	add_xml(o, value);
	buf_char(o->out, '"');
}

static bool is_input_trouble(const Finding *f)
{
	return str_eq(f->rule, S("GL901")) || str_eq(f->rule, S("GL902"));
}

static bool is_failure(const Out *o, const Finding *f)
{
	Severity least = o->r->cfg->fail_on;
	return least != SEV_NONE && f->severity >= least && !str_starts(f->rule, S("GL9"));
}

static bool is_error(const Out *o, const Finding *f)
{
	return is_input_trouble(f) && !o->r->cfg->allow_incomplete;
}

static void add_place(Out *o, Span at)
{
	Region place = region_of_span(o->o, &o->places, at);
	add_xml(o, place.path);
	buf_printf(o->out, ":%u:%u", (unsigned)place.line, (unsigned)place.col);
}

static void add_body(Out *o, uint32_t i)
{
	const Finding *f = &o->r->diags.v.v[i];
	buf_add(o->out, S("\n"));
	add_place(o, f->span);
	buf_printf(o->out, ": " STR_FMT ": ", STR_ARG(severity_name(f->severity)));
	add_xml(o, f->message);
	for (uint32_t k = 0; k < f->steps.n; k++) {
		const Step *s = &f->steps.v[k];
		buf_printf(o->out, "\n%u. " STR_FMT " ", (unsigned)(k + 1), STR_ARG(role_name(s->role)));
		add_place(o, s->span.file.i ? s->span : f->span);
		buf_add(o->out, S(": "));
		add_xml(o, s->text);
	}
	if (f->suggestion.n) {
		buf_add(o->out, S("\nhelp: "));
		add_xml(o, f->suggestion);
	}
	if (o->groups.count[i] > 1)
		buf_char(o->out, '\n');
	report_more(&o->groups, i, o->out);
	buf_char(o->out, '\n');
}

/* What the case is called: rule, graph and boundary. */
static Str case_name(Out *o, const Finding *f)
{
	Buf b = {.a = &o->scratch};
	buf_printf(&b, STR_FMT " " STR_FMT, STR_ARG(f->rule), STR_ARG(f->name));
	if (f->graph.n)
		buf_printf(&b, " " STR_FMT, STR_ARG(f->graph));
	if (f->output >= 0)
		buf_printf(&b, ":out%d", (int)f->output);
	else if (f->input >= 0)
		buf_printf(&b, ":in%d", (int)f->input);
	buf_printf(&b, " line %u", (unsigned)place_of(&o->places, f->span.file, f->span.at).line);
	return buf_str(&b);
}

static void test_case(Out *o, uint32_t i, Str file)
{
	const Finding *f = &o->r->diags.v.v[i];
	ArenaMark mark = arena_mark(&o->scratch);
	const char *element = is_error(o, f) ? "error" : is_failure(o, f) ? "failure" : "system-out";
	buf_add(o->out, S("    <testcase"));
	add_attribute(o, "name", case_name(o, f));
	add_attribute(o, "classname", file);
	buf_printf(o->out, " time=\"0\">\n      <%s", element);
	if (element[0] != 's') {
		add_attribute(o, "message", f->message);
		add_attribute(o, "type", f->rule);
	}
	buf_char(o->out, '>');
	add_body(o, i);
	buf_printf(o->out, "</%s>\n    </testcase>\n", element);
	arena_rewind(&o->scratch, mark);
}

/* The first of a group, where people are shown it or where it makes the status. */
static bool is_case(const Out *o, uint32_t i)
{
	const Finding *f = &o->r->diags.v.v[i];
	return o->groups.first[i] == i && !f->suppressed.n && (f->severity >= o->r->cfg->show || is_failure(o, f));
}

/* Findings [from, to) are those of one file. */
static Suite count(const Out *o, uint32_t from, uint32_t to)
{
	Suite s = {0};
	for (uint32_t i = from; i < to; i++) {
		const Finding *f = &o->r->diags.v.v[i];
		bool is = is_case(o, i);
		s.cases += is;
		s.errors += is && is_error(o, f);
		s.failures += is && !is_error(o, f) && is_failure(o, f);
	}
	return s;
}

static void begin_suite(Out *o, const char *element, Str name, uint32_t tests, const Suite *s)
{
	buf_printf(o->out, "<%s", element);
	add_attribute(o, "name", name);
	buf_printf(o->out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" time=\"0\">\n", (unsigned)tests, (unsigned)s->failures,
	           (unsigned)s->errors);
}

static uint32_t behind_file(const Out *o, uint32_t file, uint32_t at)
{
	const Diags *d = &o->r->diags;
	while (at < d->v.n && d->v.v[at].span.file.i <= file)
		at++;
	return at;
}

static void suite(Out *o, uint32_t file, uint32_t from, uint32_t to)
{
	ArenaMark mark = arena_mark(&o->scratch);
	Str path = region_path(o->o, o->r->sources.v.v[file].path);
	Suite s = count(o, from, to);
	buf_add(o->out, S("  "));
	begin_suite(o, "testsuite", path, s.cases ? s.cases : 1, &s);
	for (uint32_t i = from; i < to; i++)
		if (is_case(o, i))
			test_case(o, i, path);
	if (!s.cases) {
		buf_add(o->out, S("    <testcase name=\"no finding\""));
		add_attribute(o, "classname", path);
		buf_add(o->out, S(" time=\"0\"/>\n"));
	}
	buf_add(o->out, S("  </testsuite>\n"));
	arena_rewind(&o->scratch, mark);
}

/* What no input file can be blamed for. */
static Str trouble_of(const Run *r)
{
	if (r->cfg->allow_incomplete)
		return (Str){0};
	if (r->files_failed)
		return S("files or folders could not be read");
	return r->program.graphs.n <= 1 && !r->program.frames.n ? S("no graph and no bytecode in any input") : (Str){0};
}

static void trouble_suite(Out *o, Str trouble)
{
	begin_suite(o, "testsuite", S("input"), 1, &(Suite){.cases = 1, .errors = 1});
	buf_add(o->out, S("    <testcase name=\"input\" classname=\"input\" time=\"0\">\n      <error"));
	add_attribute(o, "message", trouble);
	buf_add(o->out, S(" type=\"input\"/>\n    </testcase>\n  </testsuite>\n"));
}

static void suites(Out *o)
{
	Str trouble = trouble_of(o->r);
	Suite all = count(o, 0, o->r->diags.v.n);
	uint32_t passed = 0, at = 0, next;
	for (uint32_t file = 0; file < o->r->sources.v.n; file++, at = next) {
		next = behind_file(o, file, at);
		passed += file && !count(o, at, next).cases;
	}
	all.errors += trouble.n > 0;
	begin_suite(o, "testsuites", S("graphlint"), all.cases + passed + (trouble.n > 0), &all);
	at = 0;
	for (uint32_t file = 1; file < o->r->sources.v.n; file++, at = next) {
		next = behind_file(o, file, at);
		suite(o, file, at, next);
	}
	if (trouble.n)
		trouble_suite(o, trouble);
	buf_add(o->out, S("</testsuites>\n"));
}

void report_write_junit(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = {.r = r, .o = options, .out = out, .a = arena_new(NULL), .scratch = arena_new(NULL)};
	o.places = places_new(&r->sources, &o.a);
	o.groups = groups_make(r, &o.a);
	buf_add(out, S("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
	suites(&o);
	arena_free(&o.scratch);
	arena_free(&o.a);
}
