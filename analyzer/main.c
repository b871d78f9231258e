/* SPDX-License-Identifier: MIT
 * The command line. Only this file prints and exits. */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "baseline.h"
#include "confirm.h"
#include "embedded.h"
#include "facts.h"
#include "lsp.h"
#include "options.h"
#include "output.h"
#include "prepare.h"
#include "progress.h"
#include "report.h"
#include "report_common.h"
#include "rule_test.h"
#include "run.h"
#include "settings.h"
#include "statistics.h"
#include "version.h"
#include "walk.h"

/* The others, 1 and 3, come from run_status. */
enum { STATUS_CLEAN = 0, STATUS_FOUND = 1, STATUS_USAGE = 2, STATUS_FAILURE = 4 };

/* ---- printing ---- */

/* A line for people on standard error: "graphlint: TEXT". */
__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	Arena a = arena_new(NULL);
	Buf safe = {.a = &a};
	va_list ap;
	va_start(ap, fmt);
	report_text(&safe, str_vprintf(&a, fmt, ap), terminal_unicode());
	va_end(ap);
	fprintf(stderr, "graphlint: " STR_FMT "\n", STR_ARG(buf_str(&safe)));
	arena_free(&a);
}

/* Several lines. */
static void say_lines(Str text)
{
	Str line;
	while (str_cut(&text, '\n', &line))
		if (line.n)
			say(STR_FMT, STR_ARG(line));
}

/* All of a text to standard output. Nobody who stopped reading needs to be told. */
static int put(Str s, int status)
{
	while (s.n) {
		ssize_t n = write(STDOUT_FILENO, s.p, s.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EPIPE)
			return status;
		if (n <= 0) {
			say("standard output: %s", n < 0 ? strerror(errno) : "nothing more can be written");
			return STATUS_FAILURE;
		}
		s = str_sub(s, (uint32_t)n, s.n);
	}
	return status;
}

/* ---- input ---- */

static bool write_baseline(Run *r, const Options *o, Arena *a)
{
	Buf text = {.a = a};
	Str why;
	if (!o->write_baseline.n || r->out_of_memory)
		return true;
	baseline_write(&r->diags, contract_text(&r->cfg->contract, a), a, &text);
	if (!output_write(o->write_baseline, buf_str(&text), a, &why)) {
		say(STR_FMT ": " STR_FMT, STR_ARG(o->write_baseline), STR_ARG(why));
		return false;
	}
	uint32_t n = baseline_mark(&r->diags);
	r->quiet_by_contract = 0;
	say("%u finding%s written to " STR_FMT, (unsigned)n, report_plural(n), STR_ARG(o->write_baseline));
	return true;
}

/* What goes wrong is added to `trouble`: a line of progress may be on the terminal. */
static void read_file(Run *r, const Options *o, const WalkFile *f, Progress *progress, Buf *trouble)
{
	Str why, shown = str_eq(f->path, S("-")) ? o->stdin_name : f->path;
	FileId id = sources_add_file(&r->sources, f->path, shown, r->cfg->limits.file_bytes, &why);
	if (id.i) {
		r->sources.v.v[id.i].named = f->named;
		progress_bytes(progress, r->sources.v.v[id.i].text.n);
		return;
	}
	buf_printf(trouble, STR_FMT ": " STR_FMT, STR_ARG(shown), STR_ARG(why));
	if (str_eq(f->path, o->paths.v[0]) && o->paths.n > 1)
		options_command_near(f->path, trouble);
	buf_char(trouble, '\n');
	r->files_failed++;
}

static void read_files(Run *r, const Options *o, const Walk *w, Progress *progress, Buf *trouble)
{
	run_enter(r, RUN_INPUT, w->files.n);
	for (uint32_t i = 0; i < w->passed.n; i++)
		VEC_PUSH(&r->a, &r->passed, ((PassedFile){w->passed.v[i], S("it begins as no text does")}));
	for (uint32_t i = 0; i < w->files.n; i++, r->done++)
		if (w->files.v[i].named || !settings_excluded(o, w->files.v[i].path, trouble->a))
			read_file(r, o, &w->files.v[i], progress, trouble);
		else
			VEC_PUSH(&r->a, &r->passed, ((PassedFile){w->files.v[i].path, S("excluded by the configuration")}));
}

static void read_inputs(Run *r, const Options *o, Progress *progress, Arena *a)
{
	Walk w;
	jmp_buf out, *outer = r->budget->fail;
	Buf trouble = {.a = a};
	walk_init(&w, a, o->cfg.limits.walk_depth, &trouble);
	for (uint32_t i = 0; i < o->paths.n; i++)
		walk_add(&w, o->paths.v[i]);
	r->files_failed = w.failed;
	r->budget->fail = &out;
	if (setjmp(out))
		r->out_of_memory = true;
	else
		read_files(r, o, &w, progress, &trouble);
	r->budget->fail = outer;
	if (trouble.n)
		progress_hide(progress);
	say_lines(buf_str(&trouble));
}

/* ---- what was not read ---- */

static void say_unread(const Run *r)
{
	const Diags *d = &r->diags;
	Arena a = arena_new(NULL);
	Places places = places_new(&r->sources, &a);
	const Unread *first = NULL;
	uint32_t n = 0;
	for (uint32_t i = 0; i < d->unread.n; i++)
		if (d->unread.v[i].incomplete && !n++)
			first = &d->unread.v[i];
	if (first)
		say("incomplete: %u place%s could not be read, the first at " STR_FMT ":%u: " STR_FMT,
			(unsigned)n, report_plural(n), STR_ARG(place_path(&places, first->span.file)),
			(unsigned)place_of(&places, first->span.file, first->span.at).line,
			STR_ARG(first->why));
	arena_free(&a);
}

/* Whatever leads to status 3, also where a finding or an option makes it another. */
static void say_incomplete(const Run *r)
{
	if (r->files_failed)
		say("incomplete: %u file%s or folder%s could not be read", (unsigned)r->files_failed,
			report_plural(r->files_failed), report_plural(r->files_failed));
	say_unread(r);
	if (r->baseline_gone)
		say("%u entr%s of the baseline " STR_FMT " %s not found any more: --write-baseline takes %s out", (unsigned)r->baseline_gone,
			r->baseline_gone == 1 ? "y" : "ies", STR_ARG(r->cfg->baseline->path), r->baseline_gone == 1 ? "is" : "are",
			r->baseline_gone == 1 ? "it" : "them");
	if (r->program.graphs.n <= 1 && !r->program.frames.n)
		say("no graph and no bytecode in any input; capture them with "
			"TORCH_LOGS=\"graph_code,bytecode,graph_breaks\"");
}

static int confirm(const Run *r, const Options *o, int status, Buf *out)
{
	Buf why = {.a = out->a};
	if (confirm_write(r, o->target, out, &why))
		return status;
	say(STR_FMT, STR_ARG(buf_str(&why)));
	return STATUS_USAGE;
}

static ReportOptions report_options(const Options *o, Arena *a)
{
	char folder[PATH_MAX];
	ReportOptions ro = {
		.color = terminal_color(o->color),
		.hyperlinks = terminal_hyperlinks(o->color),
		.unicode = terminal_unicode(),
		.width = terminal_width(),
		.quiet = o->quiet,
		.at_source = o->at_source,
		.show_given = o->show_given,
		.source_root = o->source_root,
		.host = terminal_host(a),
	};
	if (getcwd(folder, sizeof folder))
		ro.folder = str_copy(a, str_from_c(folder));
	return ro;
}

/* Files of --output. All are tried. */
static bool write_files(const Run *r, const Options *o, ReportOptions ro, Arena *a)
{
	bool ok = true;
	ro.color = ro.hyperlinks = false;
	ro.width = 0;
	for (uint32_t i = 0; i < o->outputs.n; i++) {
		const OutputFile *f = &o->outputs.v[i];
		ArenaMark mark = arena_mark(a);
		Buf text = {.a = a};
		Str why;
		f->writer->write(r, &ro, &text);
		if (!output_write(f->path, buf_str(&text), a, &why)) {
			say(STR_FMT ": " STR_FMT, STR_ARG(f->path), STR_ARG(why));
			ok = false;
		}
		arena_rewind(a, mark);
	}
	return ok;
}

static int too_little_memory(const Options *o)
{
	say("the analysis needs more memory than there is, or than --max-memory allows (%llu bytes); nothing is said",
		(unsigned long long)o->cfg.limits.memory_bytes);
	return STATUS_FAILURE;
}

static int finish(const Run *r, const Options *o, Arena *a)
{
	if (r->out_of_memory)
		return too_little_memory(o);
	ReportOptions ro = report_options(o, a);
	Buf out = {.a = a};
	int status = run_status(r);
	if (o->dump)
		out = r->dump_out;
	else if (o->command == CMD_CONFIRM)
		status = confirm(r, o, status, &out);
	else
		o->writer->write(r, &ro, &out);
	if (!write_files(r, o, ro, a))
		status = STATUS_FAILURE;
	status = put(buf_str(&out), status);
	say_incomplete(r);
	return status;
}

static int show_rules(const Run *r, const Options *o, Arena *a)
{
	ReportOptions ro = {.unicode = terminal_unicode(), .width = terminal_width(), .rule = o->target};
	Buf out = {.a = a};
	o->writer->write(r, &ro, &out);
	return put(buf_str(&out), write_files(r, o, ro, a) ? STATUS_CLEAN : STATUS_FAILURE);
}

static bool needs_findings_only(const Options *o)
{
	bool only = o->writer && o->writer->findings_only;
	for (uint32_t i = 0; i < o->outputs.n; i++)
		only &= o->outputs.v[i].writer->findings_only;
	return only;
}

/* --verbose and --statistics, on standard error: reports stay as they are. */
static void tell(const Run *r, const Options *o, const Progress *p, Arena *a)
{
	Buf out = {.a = a};
	if (o->statistics)
		statistics_write(r, p, terminal_unicode(), &out);
	else if (o->verbose)
		statistics_files(r, terminal_unicode(), &out);
	if (out.n)
		fwrite(out.p, 1, out.n, stderr);
}

static int analyse(Run *r, const Options *o, Arena *a)
{
	Progress *p = NEW(a, Progress);
	progress_begin(p, r, !o->quiet);
	read_inputs(r, o, p, a);
	if (!r->out_of_memory)
		run_analyse(r);
	progress_clear(p);
	run_enter(r, RUN_REPORT, 0);
	int status = write_baseline(r, o, a) ? finish(r, o, a) : STATUS_FAILURE;
	progress_end(p);
	if (!r->out_of_memory)
		tell(r, o, p, a);
	return status;
}

static int run(const Options *o, Tables *t, Arena *a)
{
	Run *r = NEW(a, Run);
	volatile int status = STATUS_FAILURE;
	jmp_buf out;
	run_init(r, t, &o->cfg);
	r->dump = o->dump;
	r->findings_only = needs_findings_only(o);
	r->until_frames = o->command == CMD_INVENTORY;
	r->budget->fail = &out; /* reports take memory of the run, too */
	if (r->out_of_memory)
		status = too_little_memory(o);
	else if (setjmp(out))
		status = too_little_memory(o);
	else
		status = options_command_reads(o->command) ? analyse(r, o, a) : show_rules(r, o, a);
	r->budget->fail = NULL;
	run_free(r);
	return status;
}

static int show_settings(const Options *o, Arena *a)
{
	Buf out = {.a = a}, safe = {.a = a};
	if (o->json)
		settings_json(o, a, &out);
	else
		settings_text(o, a, &out);
	Str text = buf_str(&out), line;
	while (str_cut(&text, '\n', &line) && (line.n || text.n)) {
		report_text(&safe, line, o->json || terminal_unicode());
		buf_char(&safe, '\n');
	}
	return put(buf_str(&safe), STATUS_CLEAN);
}

static int test_rules(const Options *o, Tables *t, Arena *a)
{
	Buf out = {.a = a}, faults = {.a = a};
	RuleTestCounts n;
	if (!rule_tests_run(o, t, a, &out, &n, &faults)) {
		say_lines(buf_str(&faults));
		return STATUS_USAGE;
	}
	if (!o->json)
		buf_printf(&out, "%u test%s of %u rule%s: %u failed\n", (unsigned)n.tests, report_plural(n.tests), (unsigned)n.rules,
			report_plural(n.rules), (unsigned)n.failed);
	if (!o->json && o->negate)
		buf_printf(&out, "%u condition%s: %u negated without a test that fails\n", (unsigned)n.changes, report_plural(n.changes),
			(unsigned)n.unseen);
	return put(buf_str(&out), n.failed || n.unseen ? STATUS_FOUND : STATUS_CLEAN);
}

static Str embedded(Str name)
{
	for (const EmbeddedFile *e = embedded_files; e->name; e++)
		if (str_eq(str_from_c(e->name), name))
			return (Str){e->data, e->size};
	ASSERT(!"the file is embedded");
	return (Str){0};
}

static int init(Arena *a)
{
	Str path = S(".graphlint.yaml"), why;
	if (access(str_to_c(a, path), F_OK) == 0) {
		say(STR_FMT " is there already", STR_ARG(path));
		return STATUS_USAGE;
	}
	if (!output_write(path, embedded(S("init.txt")), a, &why)) {
		say(STR_FMT ": " STR_FMT, STR_ARG(path), STR_ARG(why));
		return STATUS_FAILURE;
	}
	say(STR_FMT " is written", STR_ARG(path));
	return STATUS_CLEAN;
}

static int with_tables(Options *o, Arena *a)
{
	Tables *t = NEW(a, Tables);
	Buf faults = {.a = a}, notes = {.a = a};
	int status = STATUS_USAGE;
	tables_init(t);
	bool ok = prepare_tables(o, t, a, &faults, &notes) && (o->command == CMD_CONFIG || prepare_baseline(o, a, &faults));
	say_lines(buf_str(&faults));
	say_lines(buf_str(&notes));
	if (ok)
		status = o->command == CMD_CONFIG ? show_settings(o, a) : o->command == CMD_TEST ? test_rules(o, t, a) : run(o, t, a);
	tables_free(t);
	return status;
}

static int capture(void)
{
	return put(embedded(S("capture.txt")), STATUS_CLEAN);
}

static int usage(Str why)
{
	say(STR_FMT, STR_ARG(why));
	fputs("Try 'graphlint --help'.\n", stderr);
	return STATUS_USAGE;
}

int main(int argc, char **argv)
{
	Arena a = arena_new(NULL);
	Buf text = {.a = &a};
	Options o;
	int status = STATUS_CLEAN;
	setlocale(LC_CTYPE, "");
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 1 << 16); /* large allocations of arenas: what is given back goes back to the system */
#endif
	run_libraries();
	signal(SIGPIPE, SIG_IGN); /* a reader that ends early shows as EPIPE */
	if (!options_parse(&o, &a, argc, argv, &text)) {
		status = usage(buf_str(&text));
	} else if (o.help) {
		options_help(&text);
		status = put(buf_str(&text), STATUS_CLEAN);
	} else if (o.version) {
		status = put(S("graphlint " GRAPHLINT_VERSION "\n"), STATUS_CLEAN);
	} else if (o.command == CMD_LSP) {
		status = lsp_main();
	} else if (o.command == CMD_CAPTURE) {
		status = capture();
	} else if (o.command == CMD_INIT) {
		status = init(&a);
	} else {
		status = with_tables(&o, &a);
	}
	arena_free(&a);
	return status;
}
