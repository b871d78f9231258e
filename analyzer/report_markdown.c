/* SPDX-License-Identifier: MIT
 * Markdown for the summary of a job or a comment on a pull request (GitHub, GitLab). Text of a dump stands in code
 * spans and blocks, where neither markup nor mentions work; what is outside of them is escaped. */
#include "report.h"

#include "report_ci.h"
#include "report_frame.h"
#include "report_place.h"

/* GitHub refuses a comment of more than 65,536 characters. */
enum { BYTES_MOST = 60000, STEPS_SHOWN = 16, CODE_COLUMNS = 160 };

typedef struct Out {
	const Run *r;
	const ReportOptions *o;
	Buf *out;
	Arena a;
	Places places;
	Groups groups;
} Out;

static Str visible(Out *o, Str s)
{
	Buf b = {.a = &o->a};
	report_words(&b, s, true);
	return buf_str(&b);
}

static uint32_t ticks_in(Str s)
{
	uint32_t most = 0, run = 0;
	for (uint32_t i = 0; i < s.n; i++) {
		run = s.p[i] == '`' ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return most;
}

static void add_ticks(Out *o, uint32_t n)
{
	while (n--)
		buf_char(o->out, '`');
}

/* A code span whose fence is longer than any within. */
static void add_code(Out *o, Str s)
{
	Str text = visible(o, s);
	uint32_t fence = ticks_in(text) + 1;
	add_ticks(o, fence);
	buf_add(o->out, fence > 1 ? S(" ") : S(""));
	buf_add(o->out, text);
	buf_add(o->out, fence > 1 ? S(" ") : S(""));
	add_ticks(o, fence);
}

/* Would what stands here become a link by itself? */
static bool is_address(Str s, uint32_t i)
{
	return (s.p[i] == ':' && str_starts(str_sub(s, i, s.n), S("://"))) || (s.p[i] == '.' && i && (s.p[i - 1] | 32) == 'w');
}

static void add_plain(Out *o, Str s)
{
	Str text = visible(o, s);
	for (uint32_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (c == '&' || c == '<' || c == '>')
			buf_add(o->out, c == '&' ? S("&amp;") : c == '<' ? S("&lt;") : S("&gt;"));
		else if (c == '@')
			buf_add(o->out, S("`@`")); /* within code it calls nobody */
		else if (memchr("\\*_{}[]#+!|~$", c, 13) || is_address(text, i))
			buf_printf(o->out, "\\%c", c);
		else
			buf_char(o->out, c);
	}
}

/* A sentence of ours, in which names of the dump stand between back quotes. */
static void add_sentence(Out *o, Str s)
{
	while (s.n) {
		uint32_t open = str_find_char(s, '`', 0), close = str_find_char(s, '`', open + 1);
		bool code = close < s.n && close > open + 1;
		add_plain(o, str_sub(s, 0, code ? open : s.n));
		if (!code)
			return;
		add_code(o, str_sub(s, open + 1, close));
		s = str_sub(s, close + 1, s.n);
	}
}

static void add_place(Out *o, Span at)
{
	Region place = region_of_span(o->o, &o->places, at);
	add_code(o, str_printf(&o->a, STR_FMT ":%u", STR_ARG(place.path), (unsigned)place.line));
}

/* The marked line of the dump, in a block. */
static void add_line(Out *o, Span at)
{
	if (!at.file.i || at.end <= at.at)
		return;
	Str text = str_sub(source_get(&o->r->sources, at.file)->text, at.at, at.end);
	Buf b = {.a = &o->a};
	text = str_trim(str_sub(text, 0, str_find_char(text, '\n', 0)));
	Excerpt x = excerpt_of(text, 0, 0, CODE_COLUMNS, true);
	excerpt_add_text(&x, &b);
	uint32_t fence = ticks_in(buf_str(&b)) + 1;
	fence = fence < 3 ? 3 : fence;
	buf_char(o->out, '\n');
	add_ticks(o, fence);
	buf_printf(o->out, "python\n" STR_FMT "\n", STR_ARG(buf_str(&b)));
	add_ticks(o, fence);
	buf_char(o->out, '\n');
}

static void add_steps(Out *o, const Finding *f)
{
	uint32_t n = f->steps.n < STEPS_SHOWN ? f->steps.n : STEPS_SHOWN;
	buf_char(o->out, '\n');
	for (uint32_t i = 0; i < n; i++) {
		const Step *s = &f->steps.v[i];
		buf_printf(o->out, "%u. **" STR_FMT "** ", (unsigned)(i + 1), STR_ARG(role_name(s->role)));
		add_place(o, s->span.file.i ? s->span : f->span);
		buf_add(o->out, S(" "));
		add_sentence(o, s->text);
		buf_char(o->out, '\n');
	}
	if (f->steps.n > n)
		buf_printf(o->out, "\n%u more steps.\n", (unsigned)(f->steps.n - n));
}

static void add_source(Out *o, const UserSource *s)
{
	if (!s->file.n)
		return;
	Region at = region_of_source(o->o, s);
	buf_add(o->out, S("\nIn your program: "));
	add_code(o, str_printf(&o->a, STR_FMT ":%u", STR_ARG(at.path), (unsigned)s->line));
	if (s->code.n) {
		buf_add(o->out, S(" "));
		add_code(o, str_sub(s->code, 0, s->code.n < 200 ? s->code.n : 200));
	}
	buf_char(o->out, '\n');
}

static void finding(Out *o, uint32_t i)
{
	static const Str signs[] = {[SEV_ERROR] = STR_INIT("❌"), [SEV_WARNING] = STR_INIT("⚠️"), [SEV_NOTE] = STR_INIT("ℹ️")};
	const Finding *f = &o->r->diags.v.v[i];
	buf_printf(o->out, "\n### " STR_FMT " " STR_FMT " " STR_FMT " (" STR_FMT ")\n\n", STR_ARG(signs[f->severity]),
	           STR_ARG(f->rule), STR_ARG(f->name), STR_ARG(severity_name(f->severity)));
	add_sentence(o, f->message);
	buf_add(o->out, S("\n\nAt "));
	add_place(o, f->span);
	buf_add(o->out, S(":\n"));
	add_line(o, f->span);
	add_source(o, &f->source);
	add_steps(o, f);
	if (f->suggestion.n) {
		buf_add(o->out, S("\n**Help:** "));
		add_sentence(o, f->suggestion);
		buf_char(o->out, '\n');
	}
	if (o->groups.count[i] > 1)
		buf_char(o->out, '\n');
	report_more(&o->groups, i, o->out);
	if (o->groups.count[i] > 1)
		buf_add(o->out, S(".\n"));
}

static void heading(Out *o)
{
	Counts c = report_counts(o->r);
	uint32_t unread = report_unread(o->r);
	buf_add(o->out, S("## graphlint: "));
	report_counts_text(&c, o->out);
	buf_char(o->out, '\n');
	if (unread)
		buf_printf(o->out, "\n%u place%s could not be read: what depends on %s is unknown.\n", (unsigned)unread, report_plural(unread),
		           unread == 1 ? "it" : "them");
	if (o->r->quiet_by_contract)
		buf_printf(o->out, "\n%u %s on what AOTAutograd keeps: `--contract fresh` shows %s.\n", (unsigned)o->r->quiet_by_contract,
		           o->r->quiet_by_contract == 1 ? "boundary relies" : "boundaries rely", o->r->quiet_by_contract == 1 ? "it" : "them");
}

void report_write_markdown(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = {.r = r, .o = options, .out = out, .a = arena_new(NULL)};
	o.places = places_new(&r->sources, &o.a);
	o.groups = groups_make(r, &o.a);
	FindingList list = groups_shown(r, &o.groups, &o.a);
	heading(&o);
	uint32_t k = 0;
	for (; k < list.n; k++) {
		uint32_t before = out->n;
		finding(&o, list.v[k]);
		if (out->n > BYTES_MOST) { /* the last one does not fit */
			out->n = before;
			break;
		}
	}
	if (k < list.n)
		buf_printf(out, "\n**%u more findings** are left out here for want of room.\n", (unsigned)(list.n - k));
	arena_free(&o.a);
}
