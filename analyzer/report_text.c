/* SPDX-License-Identifier: MIT
 * The report for people: findings with place, evidence and advice, repeats folded, a summary. */
#include "report.h"

#include "link.h"
#include "report_ci.h"
#include "report_common.h"
#include "report_frame.h"
#include "report_group.h"
#include "report_place.h"

enum {
	WIDTH_WITHOUT_TERMINAL = 160,
	STEPS_FIRST = 16, STEPS_LAST = 8, /* steps shown of a long chain */
	MORE_SHOWN = 4,                   /* places shown of findings that repeat */
	INDENT = 4
};

typedef struct Out {
	const Run *r;
	const ReportOptions *o;
	Buf *out;
	Arena a;
	Places places;
	Groups groups;
	uint32_t width;
} Out;

/* ---- pieces ---- */

typedef enum Style {
	ST_PLAIN, ST_ERROR, ST_WARNING, ST_NOTE, ST_STRONG, ST_DIM, ST_MARK,
	ST_N
} Style;

static void style(Out *o, Style s)
{
	static const char *const codes[ST_N] = {
		[ST_PLAIN] = "0", [ST_ERROR] = "1;31", [ST_WARNING] = "1;33", [ST_NOTE] = "1;36",
		[ST_STRONG] = "1", [ST_DIM] = "34", [ST_MARK] = "1;32",
	};
	if (o->o->color)
		buf_printf(o->out, "\x1b[%sm", codes[s]);
}

static void styled(Out *o, Style s, Str text)
{
	style(o, s);
	report_text(o->out, text, o->o->unicode);
	style(o, ST_PLAIN);
}

static void blanks(Out *o, uint32_t n)
{
	while (n--)
		buf_char(o->out, ' ');
}

static uint32_t columns_of(Str s, bool unicode)
{
	uint32_t columns = 0, n;
	for (uint32_t at = 0; at < s.n; at += n)
		columns += report_put(NULL, s, at, &n, unicode);
	return columns;
}

/* A sentence that begins in column `at`. A terminal gets it broken at blanks; later lines begin at
 * `indent`. */
static void sentence(Out *o, Str text, uint32_t at, uint32_t indent)
{
	if (!o->o->width) {
		report_words(o->out, text, o->o->unicode);
		return;
	}
	Str word;
	for (bool first = true; str_cut(&text, ' ', &word); first = false) {
		word = report_word(&o->a, word);
		uint32_t columns = columns_of(word, o->o->unicode);
		if (!first && at + 1 + columns > o->width) {
			buf_char(o->out, '\n');
			blanks(o, indent);
			at = indent;
		} else if (!first) {
			buf_char(o->out, ' ');
			at++;
		}
		report_text(o->out, word, o->o->unicode);
		at += columns;
	}
}

static uint32_t digits_of(uint32_t n)
{
	uint32_t d = 1;
	while (n /= 10)
		d++;
	return d;
}

/* A link of OSC 8 around what follows, to the file on this machine; without a path: the end of one. */
static void link_to(Out *o, Str path)
{
	if (!o->o->hyperlinks || str_starts(path, S("<")))
		return;
	buf_add(o->out, S("\x1b]8;;"));
	if (path.n) {
		Buf full = {.a = &o->a}, uri = {.a = &o->a};
		if (path.p[0] != '/')
			buf_printf(&full, STR_FMT "/", STR_ARG(o->o->folder));
		buf_add(&full, path);
		region_uri(&uri, buf_str(&full));
		buf_printf(o->out, "file://" STR_FMT STR_FMT, STR_ARG(o->o->host), STR_ARG(str_sub(buf_str(&uri), 7, uri.n)));
	}
	buf_add(o->out, S("\x1b\\"));
}

/* path:line:column; returns its columns. */
static uint32_t place(Out *o, Span at)
{
	LineCol lc = place_of(&o->places, at.file, at.at);
	Str path = place_path(&o->places, at.file);
	link_to(o, path);
	report_text(o->out, path, o->o->unicode);
	buf_printf(o->out, ":%u:%u", (unsigned)lc.line, (unsigned)lc.col);
	link_to(o, (Str){0});
	return columns_of(path, o->o->unicode) + digits_of(lc.line) + digits_of(lc.col) + 2;
}

/* ---- code ---- */

/* The line at which a span begins, and the span within that line. */
static Str line_at(Out *o, Span span, uint32_t *number, uint32_t *at, uint32_t *end)
{
	*number = *at = *end = 0;
	if (!span.file.i)
		return (Str){0};
	const Source *s = source_get(&o->r->sources, span.file);
	if (!s->nlines)
		return (Str){0};
	uint32_t start;
	*number = source_line_index(s, span.at, &start) + 1;
	*at = span.at - start;
	*end = span.end - start;
	return source_line(s, *number);
}

static void gutter(Out *o, uint32_t columns, uint32_t number)
{
	style(o, ST_DIM);
	blanks(o, 1);
	if (number)
		buf_printf(o->out, "%*u", (int)columns, (unsigned)number);
	else
		blanks(o, columns);
	buf_add(o->out, S(" |"));
	style(o, ST_PLAIN);
}

static void frame(Out *o, Span span)
{
	uint32_t number, at, end;
	Str line = line_at(o, span, &number, &at, &end);
	uint32_t columns = digits_of(number);
	style(o, ST_DIM);
	blanks(o, columns + 1);
	buf_add(o->out, S("--> "));
	style(o, ST_PLAIN);
	place(o, span);
	buf_char(o->out, '\n');
	if (!line.n)
		return;
	Excerpt x = excerpt_of(line, at, end, o->width - columns - 5, o->o->unicode);
	gutter(o, columns, 0);
	buf_char(o->out, '\n');
	gutter(o, columns, number);
	buf_char(o->out, ' ');
	excerpt_add_text(&x, o->out);
	buf_char(o->out, '\n');
	gutter(o, columns, 0);
	buf_char(o->out, ' ');
	style(o, ST_MARK);
	excerpt_add_carets(&x, o->out);
	style(o, ST_PLAIN);
	buf_char(o->out, '\n');
}

/* What the dump says at a step, without the rest of its line. */
static void quote(Out *o, Span span, uint32_t indent)
{
	uint32_t number, at, end;
	Str line = line_at(o, span, &number, &at, &end);
	Str text = str_trim(end > at ? str_sub(line, at, end) : line);
	if (!text.n)
		return;
	Excerpt x = excerpt_of(text, 0, 0, o->width - indent - 3, o->o->unicode);
	blanks(o, indent);
	style(o, ST_DIM);
	buf_add(o->out, S("| "));
	style(o, ST_PLAIN);
	excerpt_add_text(&x, o->out);
	buf_char(o->out, '\n');
}

/* ---- evidence ---- */

static bool same_span(Span a, Span b)
{
	return a.file.i == b.file.i && a.at == b.at && a.end == b.end;
}

/* Widest role word, so that the places stand below each other. */
enum { ROLE_COLUMNS = 8 };

static void step(Out *o, const Finding *f, uint32_t i)
{
	const Step *s = &f->steps.v[i];
	Span at = s->span.file.i ? s->span : f->span;
	Span before = i ? f->steps.v[i - 1].span : f->span;
	uint32_t number = digits_of(f->steps.n), indent = INDENT + number + 2;
	blanks(o, INDENT);
	buf_printf(o->out, "%*u. ", (int)number, (unsigned)(i + 1));
	styled(o, ST_STRONG, role_name(s->role));
	blanks(o, ROLE_COLUMNS - role_name(s->role).n + 1);
	uint32_t used = place(o, at) + 2;
	buf_add(o->out, S(": "));
	sentence(o, s->text, indent + ROLE_COLUMNS + 1 + used, indent + 2);
	buf_char(o->out, '\n');
	if (!same_span(at, f->span) && !same_span(at, before))
		quote(o, at, indent);
}

static void evidence(Out *o, const Finding *f)
{
	for (uint32_t i = 0; i < f->steps.n; i++) {
		if (f->steps.n > STEPS_FIRST + STEPS_LAST + 1 && i == STEPS_FIRST) {
			uint32_t left_out = f->steps.n - STEPS_FIRST - STEPS_LAST;
			blanks(o, INDENT);
			buf_printf(o->out, "... %u steps not shown here: --format json has them\n",
				(unsigned)left_out);
			i += left_out;
		}
		step(o, f, i);
	}
}

/* ---- a finding ---- */

static Style severity_style(Severity s)
{
	return s == SEV_ERROR ? ST_ERROR : s == SEV_WARNING ? ST_WARNING : ST_NOTE;
}

static void headline(Out *o, const Finding *f)
{
	Str severity = severity_name(f->severity);
	style(o, severity_style(f->severity));
	buf_printf(o->out, STR_FMT "[" STR_FMT "]", STR_ARG(severity), STR_ARG(f->rule));
	style(o, ST_PLAIN);
	buf_printf(o->out, " " STR_FMT ": ", STR_ARG(f->name));
	sentence(o, f->message, severity.n + f->rule.n + f->name.n + 5, INDENT);
	buf_char(o->out, '\n');
}

static void equals(Out *o)
{
	blanks(o, INDENT);
	style(o, ST_DIM);
	buf_add(o->out, S("= "));
	style(o, ST_PLAIN);
}

static void user_source(Out *o, const UserSource *s)
{
	if (!s->file.n)
		return;
	Buf b = {.a = &o->a};
	report_words(&b, s->file, o->o->unicode);
	buf_printf(&b, ":%u", (unsigned)s->line);
	if (s->function.n) {
		buf_add(&b, S(" in "));
		report_words(&b, s->function, o->o->unicode);
	}
	uint32_t used = INDENT + 2 + columns_of(buf_str(&b), true) + 2;
	equals(o);
	buf_add(o->out, buf_str(&b));
	if (s->code.n) {
		uint32_t room = o->width > used ? o->width - used : 0;
		Excerpt x = excerpt_of(str_trim(s->code), 0, 0, room, o->o->unicode);
		buf_add(o->out, S(": "));
		excerpt_add_text(&x, o->out);
	}
	buf_char(o->out, '\n');
}

static void help(Out *o, const Finding *f)
{
	if (!f->suggestion.n)
		return;
	equals(o);
	styled(o, ST_STRONG, S("help:"));
	buf_char(o->out, ' ');
	sentence(o, f->suggestion, INDENT + 8, INDENT + 2);
	buf_char(o->out, '\n');
}

/* Notes that would be more without the contract say whose promise it is. */
static void contract(Out *o, const Finding *f)
{
	if (!f->quiet_by_contract)
		return;
	equals(o);
	buf_add(o->out, S("the contract in force keeps this; without it:"));
	const char *before = " ";
	for (int c = CONTRACT_AUTO + 1; c < CONTRACT_N; c++)
		if (f->contracts & CONTRACT_BIT(c)) {
			Str name = contract_name((ContractName)c);
			buf_printf(o->out, "%s--contract " STR_FMT, before, STR_ARG(name));
			before = ", ";
		}
	buf_char(o->out, '\n');
}

static void more_like_this(Out *o, uint32_t first)
{
	const Groups *g = &o->groups;
	uint32_t more = g->count[first] - 1, shown = 0;
	if (!more)
		return;
	equals(o);
	buf_printf(o->out, "and %u more like this: ", (unsigned)more);
	for (uint32_t i = g->next[first]; i && shown < MORE_SHOWN; i = g->next[i], shown++) {
		const Finding *f = &o->r->diags.v.v[i];
		if (shown)
			buf_add(o->out, S(", "));
		if (f->graph.n) {
			report_words(o->out, f->graph, o->o->unicode);
			buf_add(o->out, S(" at "));
		}
		place(o, f->span);
	}
	if (more > shown)
		buf_add(o->out, S(", ..."));
	buf_char(o->out, '\n');
}

static void finding(Out *o, uint32_t i)
{
	const Finding *f = &o->r->diags.v.v[i];
	headline(o, f);
	frame(o, f->span);
	user_source(o, &f->source);
	evidence(o, f);
	contract(o, f);
	help(o, f);
	more_like_this(o, i);
	buf_char(o->out, '\n');
}

/* ---- summary ---- */

static void counted(Out *o, uint32_t n, const char *what)
{
	buf_printf(o->out, "%u %s%s", (unsigned)n, what, report_plural(n));
}

/* Captured graphs: neither bodies nor AOT's forms of one; and how many of them Dynamo of PyTorch
 * 2.x captured. */
static uint32_t count_graphs(const Program *p, uint32_t *captured)
{
	uint32_t graphs = 0;
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (!report_graph_captured(p, g))
			continue;
		graphs++;
		*captured += link_captured_by_2x(p, g);
	}
	return graphs;
}

static void contract_in_force(Out *o, uint32_t graphs, uint32_t captured)
{
	const Contract *c = &o->r->cfg->contract;
	buf_printf(o->out, "contract " STR_FMT, STR_ARG(contract_name(c->name)));
	if (c->name == CONTRACT_AUTO && graphs) {
		buf_add(o->out, S(": "));
		if (captured == graphs || !captured)
			buf_add(o->out, captured ? S("aot for all") : S("fresh for all"));
		else
			buf_printf(o->out, "aot for %u, fresh for %u", (unsigned)captured,
				(unsigned)(graphs - captured));
	}
	if (c->keep_set)
		buf_add(o->out, S(", switches changed"));
}

static void read_what(Out *o)
{
	const Program *p = &o->r->program;
	uint32_t captured = 0, graphs = count_graphs(p, &captured);
	buf_add(o->out, S(" in "));
	counted(o, graphs, "graph");
	if (p->frames.n) {
		buf_add(o->out, S(" and "));
		counted(o, p->frames.n, "bytecode listing");
	}
	buf_add(o->out, S(" of "));
	counted(o, o->r->sources.v.n ? o->r->sources.v.n - 1 : 0, "file");
	buf_add(o->out, S(" ("));
	contract_in_force(o, graphs, captured);
	if (o->r->cfg->from.n) {
		buf_add(o->out, S("; settings of "));
		report_text(o->out, o->r->cfg->from, o->o->unicode);
	}
	buf_add(o->out, S(")\n"));
}

static void hidden(Out *o, const uint32_t *count)
{
	uint32_t warnings = o->r->cfg->show > SEV_WARNING ? count[SEV_WARNING] : 0;
	uint32_t notes = o->r->cfg->show > SEV_NOTE ? count[SEV_NOTE] : 0;
	if (!warnings && !notes)
		return;
	if (warnings)
		counted(o, warnings, "warning");
	if (warnings && notes)
		buf_add(o->out, S(" and "));
	if (notes)
		counted(o, notes, "note");
	buf_printf(o->out, " not shown: --show=%s shows %s\n", notes ? "note" : "warning",
		warnings + notes == 1 ? "it" : "them");
}

static void incomplete(Out *o)
{
	const Diags *d = &o->r->diags;
	uint32_t places = 0, files = 0, last = 0;
	for (uint32_t i = 0; i < d->unread.n; i++) {
		const Unread *u = &d->unread.v[i];
		if (!u->incomplete)
			continue;
		files += !places || u->span.file.i != last;
		last = u->span.file.i;
		places++;
	}
	if (!places)
		return;
	counted(o, places, "place");
	buf_add(o->out, S(" in "));
	counted(o, files, "file");
	buf_printf(o->out, " could not be read: what depends on %s is unknown\n",
		places == 1 ? "it" : "them");
}

static void summary(Out *o)
{
	Counts c = report_counts(o->r);
	report_counts_text(&c, o->out);
	read_what(o);
	hidden(o, c.of);
	if (c.suppressed)
		buf_printf(o->out, "%u finding%s suppressed\n", (unsigned)c.suppressed, report_plural(c.suppressed));
	if (o->r->quiet_by_contract) {
		uint32_t n = o->r->quiet_by_contract;
		buf_printf(o->out, "%u %s on what AOTAutograd keeps: --contract fresh shows %s\n",
			(unsigned)n, n == 1 ? "boundary relies" : "boundaries rely", n == 1 ? "it" : "them");
	}
	incomplete(o);
	if (o->r->out_of_memory)
		buf_add(o->out, S("the analysis stopped early for want of memory: the rest is unknown\n"));
}

void report_write_text(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = {.r = r, .o = options, .out = out, .a = arena_new(NULL)};
	o.places = places_new(&r->sources, &o.a);
	o.width = options->width ? options->width : WIDTH_WITHOUT_TERMINAL;
	if (o.width < 40)
		o.width = 40;
	o.groups = groups_make(r, &o.a);
	for (uint32_t i = 0; i < r->diags.v.n; i++)
		if (o.groups.first[i] == i && r->diags.v.v[i].severity >= r->cfg->show && !r->diags.v.v[i].suppressed.n)
			finding(&o, i);
	if (!options->quiet)
		summary(&o);
	arena_free(&o.a);
}
