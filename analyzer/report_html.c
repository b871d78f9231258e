/* SPDX-License-Identifier: MIT
 * One page for a browser: the picture of the program, the findings, and of each its path, its lines of the dump and of the
 * user's program. Everything is in the file; nothing is loaded from elsewhere. */
#include "report.h"

#include "graph_words.h"
#include "report_ci.h"
#include "report_common.h"
#include "report_flow.h"
#include "report_picture.h"
#include "report_place.h"
#include "report_svg.h"

enum {
	FINDINGS_MOST = 1000, /* groups with details */
	STEPS_MOST = 64,
	SQUARES_MOST = 5000,  /* graphs in the overview */
	BEFORE = 64, CODE_MOST = 260, /* bytes of a line before and from the marked part on */
	LIKE_MOST = 8
};

typedef struct Out {
	const Run *r;
	const ReportOptions *o;
	Buf *out;
	Arena a;
	Places places;
	Groups groups;
	FindingList list;
	uint32_t left_out;
	const Picture *picture;
} Out;

static void add(Out *o, const char *html)
{
	buf_add(o->out, str_from_c(html));
}

static void text(Out *o, Str s)
{
	Str word;
	for (bool first = true; str_cut(&s, ' ', &word); first = false) {
		if (!first)
			buf_char(o->out, ' ');
		svg_text(o->out, report_word(&o->a, word));
	}
}

/* A sentence of ours, in which names of the dump stand between back quotes. */
static void sentence(Out *o, Str s)
{
	while (s.n) {
		uint32_t open = str_find_char(s, '`', 0), close = str_find_char(s, '`', open + 1);
		bool code = close < s.n && close > open + 1;
		text(o, str_sub(s, 0, code ? open : s.n));
		if (!code)
			return;
		add(o, "<code>");
		text(o, str_sub(s, open + 1, close));
		add(o, "</code>");
		s = str_sub(s, close + 1, s.n);
	}
}

static Str severity_of(const Finding *f)
{
	return severity_name(f->severity);
}

static void place(Out *o, Span at)
{
	Region r = region_of_span(o->o, &o->places, at);
	svg_text(o->out, r.path);
	buf_printf(o->out, ", line %u", (unsigned)r.line);
}

/* ---- lines of the dump ---- */

static uint32_t forward_to_boundary(Str s, uint32_t at)
{
	while (at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80)
		at++;
	return at;
}

/* Where the text of a line begins that is worth showing: behind the prefix of a log, at the blanks of the indentation. */
static uint32_t shown_from(Str line, uint32_t at)
{
	uint32_t from = at;
	while (from && (line.p[from - 1] == ' ' || line.p[from - 1] == '\t'))
		from--;
	if (from < at)
		return from;
	for (uint32_t back = at; back > 3 && at - back < 2 * BEFORE; back--) /* behind the indentation of the statement */
		if (memcmp(line.p + back - 4, "    ", 4) == 0)
			return back;
	return at > BEFORE ? forward_to_boundary(line, at - BEFORE) : 0;
}

static void excerpt(Out *o, Span at)
{
	if (!at.file.i)
		return;
	const Source *s = source_get(&o->r->sources, at.file);
	LineCol lc = place_of(&o->places, at.file, at.at);
	Str line = source_line(s, lc.line);
	uint32_t start = s->nlines ? source_line_start(s, lc.line - 1) : 0, begin = at.at - start, end = at.end - start;
	if (!line.n)
		return;
	begin = begin < line.n ? begin : line.n;
	end = end < line.n ? end : line.n;
	uint32_t from = shown_from(line, begin), mark = end - begin > CODE_MOST ? forward_to_boundary(line, begin + CODE_MOST) : end;
	uint32_t to = line.n - from > CODE_MOST && mark - from < CODE_MOST ? forward_to_boundary(line, from + CODE_MOST) : mark > line.n ? line.n : line.n - from > CODE_MOST ? mark : line.n;
	buf_printf(o->out, "<pre><span class=\"ln\">%u </span>", (unsigned)lc.line);
	add(o, from && line.p[from] != ' ' && line.p[from] != '\t' && line.p[from - 1] != ' ' ? "…" : "");
	svg_text(o->out, str_ltrim(str_sub(line, from, begin)));
	add(o, "<mark>");
	svg_text(o->out, str_sub(line, begin, mark));
	add(o, "</mark>");
	svg_text(o->out, str_sub(line, mark, to));
	add(o, to < line.n ? "…</pre>\n" : "</pre>\n");
}

static void user_line(Out *o, const UserSource *u)
{
	if (!u->file.n)
		return;
	add(o, "<div class=\"place\">your program: ");
	text(o, region_path(o->o, u->file));
	buf_printf(o->out, ", line %u", (unsigned)u->line);
	if (u->function.n) {
		add(o, " in <code>");
		text(o, u->function);
		add(o, "</code>");
	}
	add(o, "</div>");
	if (u->code.n) {
		add(o, "<pre>");
		svg_head(o->out, u->code, CODE_MOST);
		add(o, "</pre>\n");
	}
}

/* ---- a finding ---- */

static Span step_span(const Finding *f, const Step *s)
{
	return s->span.file.i ? s->span : f->span;
}

static void step(Out *o, const Finding *f, const Step *s)
{
	Span at = step_span(f, s);
	Where w = where_of(&o->picture->where, at);
	uint32_t row = picture_row_of(o->picture, f, s);
	buf_printf(o->out, "<li class=\"" STR_FMT "\"", STR_ARG(role_name(s->role)));
	if (row)
		buf_printf(o->out, " data-row=\"%u\"", (unsigned)(row - 1));
	buf_printf(o->out, "><span class=\"role\">" STR_FMT "</span> ", STR_ARG(role_name(s->role)));
	sentence(o, s->text);
	add(o, "<div class=\"place\">");
	if (w.graph && s->role != ROLE_LINK) {
		add(o, "in graph <code>");
		text(o, sym_str(o->r->program.names, w.graph->name));
		add(o, "</code>, ");
	}
	place(o, at);
	if (row)
		add(o, " <button type=\"button\">show</button>");
	add(o, "</div>");
	if (s->role != ROLE_LINK)
		excerpt(o, at);
	if (w.graph && w.node.i && graph_node(w.graph, w.node)->kind != NK_PLACEHOLDER) {
		UserSource u = node_source(&o->r->program, &o->r->sources, w.graph, w.node);
		user_line(o, &u);
	}
	add(o, "</li>\n");
}

static uint32_t steps_of(const Finding *f)
{
	return f->steps.n < STEPS_MOST ? f->steps.n : STEPS_MOST;
}

/* The row of the boundary that would be cut, plus 1. */
static uint32_t cut_row(const Out *o, const Finding *f)
{
	for (uint32_t i = 0; f->observable == OBS_YES && i < f->steps.n; i++) {
		uint32_t row = f->steps.v[i].role == ROLE_BOUNDARY ? picture_row_of(o->picture, f, &f->steps.v[i]) : 0;
		PicKind kind = row ? (PicKind)o->picture->rows.v[row - 1].kind : PIC_MORE;
		if (row && kind == (f->output >= 0 ? PIC_OUTPUT : PIC_INPUT))
			return row;
	}
	return 0;
}

static void data_of(Out *o, const Finding *f)
{
	uint32_t cut = cut_row(o, f), last = 0;
	add(o, " data-rows=\"");
	for (uint32_t i = 0; i < steps_of(f); i++) {
		uint32_t row = picture_row_of(o->picture, f, &f->steps.v[i]);
		if (row && row != last)
			buf_printf(o->out, "%s%u", last ? " " : "", (unsigned)(row - 1));
		last = row ? row : last;
	}
	buf_char(o->out, '"');
	if (cut)
		buf_printf(o->out, " data-cut=\"%u\"", (unsigned)(cut - 1));
}

static void facts(Out *o, const Finding *f)
{
	static const char *const noticed[] = {
		[OBS_NO] = "the program shown does not notice", [OBS_IDENTITY] = "only which objects are the same would differ",
		[OBS_YES] = "the result of the program would differ", [OBS_UNKNOWN] = "whether the program notices cannot be told from the dump",
	};
	add(o, "<p class=\"facts\">");
	buf_printf(o->out, STR_FMT, STR_ARG(severity_of(f)));
	if (f->certainty != TRI_NO)
		add(o, f->certainty == TRI_MUST ? " · certain" : " · possible");
	if (f->observable != OBS_NONE)
		buf_printf(o->out, " · %s", noticed[f->observable]);
	if (f->compile_id.n) {
		add(o, " · compilation ");
		text(o, f->compile_id);
	}
	add(o, "</p>\n");
}

static void like_this(Out *o, uint32_t first)
{
	uint32_t more = o->groups.count[first] - 1, said = 0;
	if (!more)
		return;
	buf_printf(o->out, "<h3>And %u more like this</h3>\n<ul>", (unsigned)more);
	for (uint32_t i = o->groups.next[first]; i && said < LIKE_MOST; i = o->groups.next[i], said++) {
		add(o, "<li><code>");
		text(o, o->r->diags.v.v[i].graph);
		add(o, "</code> ");
		place(o, o->r->diags.v.v[i].span);
		add(o, "</li>\n");
	}
	add(o, said < more ? "<li>…</li></ul>\n" : "</ul>\n");
}

static void article(Out *o, uint32_t k)
{
	uint32_t i = o->list.v[k];
	const Finding *f = &o->r->diags.v.v[i];
	ArenaMark mark = arena_mark(&o->a);
	buf_printf(o->out, "<article id=\"f%u\" class=\"" STR_FMT "\"", (unsigned)k, STR_ARG(severity_of(f)));
	data_of(o, f);
	buf_printf(o->out, ">\n<h2><span class=\"sev\">" STR_FMT "</span> " STR_FMT "</h2>\n<p class=\"say\">", STR_ARG(f->rule), STR_ARG(f->name));
	sentence(o, f->message);
	add(o, "</p>\n");
	facts(o, f);
	add(o, "<h3>Where</h3>\n<div class=\"place\">");
	place(o, f->span);
	add(o, "</div>");
	excerpt(o, f->span);
	user_line(o, &f->source);
	if (f->steps.n)
		add(o, "<h3>How it follows, step by step</h3>\n<ol class=\"steps\">\n");
	for (uint32_t s = 0; s < steps_of(f); s++)
		step(o, f, &f->steps.v[s]);
	if (f->steps.n)
		add(o, "</ol>\n");
	if (f->steps.n > STEPS_MOST)
		buf_printf(o->out, "<p>%u more steps are in the JSON.</p>\n", (unsigned)(f->steps.n - STEPS_MOST));
	if (f->suggestion.n) {
		add(o, "<h3>What to do</h3>\n<p>");
		sentence(o, f->suggestion);
		add(o, "</p>\n");
	}
	like_this(o, i);
	add(o, "</article>\n");
	arena_rewind(&o->a, mark);
}

static void list_item(Out *o, uint32_t k)
{
	const Finding *f = &o->r->diags.v.v[o->list.v[k]];
	uint32_t more = o->groups.count[o->list.v[k]] - 1;
	buf_printf(o->out, "<li class=\"" STR_FMT "\" data-id=\"f%u\" data-severity=\"" STR_FMT "\" data-rule=\"" STR_FMT "\"><button type=\"button\"><span class=\"sev\">" STR_FMT " " STR_FMT
	           "</span> " STR_FMT "<span class=\"where\">", STR_ARG(severity_of(f)), (unsigned)k, STR_ARG(severity_of(f)), STR_ARG(f->rule),
	           STR_ARG(severity_of(f)), STR_ARG(f->rule), STR_ARG(f->name));
	if (f->graph.n) {
		svg_head(o->out, f->graph, 60);
		if (f->output >= 0)
			buf_printf(o->out, ", output %d", (int)f->output);
		else if (f->input >= 0)
			buf_printf(o->out, ", input %d", (int)f->input);
		add(o, ", ");
	}
	buf_printf(o->out, "line %u", (unsigned)place_of(&o->places, f->span.file, f->span.at).line);
	if (more)
		buf_printf(o->out, ", and %u more", (unsigned)more);
	add(o, "</span></button></li>\n");
}

/* ---- the page ---- */

static void legend(Out *o)
{
	add(o, "<details><summary>How to read this page</summary>\n"
		"<p><code>torch.compile</code> does not compile a program in one piece. It cuts it into <b>graphs</b>, and compiles each alone. Where it has to stop "
		"(at a print, a branch on a value, code that it cannot trace) the rest of the function becomes a function of its own, a <b>resume function</b>: "
		"“the rest of <code>f</code> from line 84 on”.</p>\n"
		"<p>In the picture time runs down. Each box is a graph; <b>in</b> and <b>out</b> are the values that enter and leave it. "
		"Each coloured line on the left is one piece of <b>memory</b> that several values share: whoever writes (<b>W</b>) into it changes what the others read (<b>R</b>). "
		"Grey lines are values that are handed on and shared with nobody.</p>\n"
		"<p>A <b>red bar</b> on a line is a place where a copy would change the result of the whole program: a compiler that sees one graph at a time may put "
		"one there, since the values are the same. Behind it, the broken red line is the memory that the copy would be.</p>\n"
		"<p>Choose a finding on the left: its path lights up, and its lines stand on the right. Keys: <kbd>j</kbd> and <kbd>k</kbd> next and previous, "
		"<kbd>/</kbd> search, <kbd>Esc</kbd> nothing chosen, <kbd>Enter</kbd> on a graph opens or closes it.</p></details>\n");
}

static void rules_of(Out *o)
{
	Map seen = {.a = &o->a};
	Names names;
	names_init(&names, &o->a);
	add(o, "<label>Rule <select id=\"rule\"><option value=\"\">all</option>");
	for (uint32_t k = 0; k < o->list.n; k++) {
		const Finding *f = &o->r->diags.v.v[o->list.v[k]];
		uint64_t sym = sym_intern(&names, f->rule).i;
		if (map_get(&seen, sym))
			continue;
		map_put(&seen, sym, 1);
		buf_printf(o->out, "<option value=\"" STR_FMT "\">" STR_FMT " " STR_FMT "</option>", STR_ARG(f->rule), STR_ARG(f->rule), STR_ARG(f->name));
	}
	add(o, "</select></label>\n");
}

static void tools(Out *o)
{
	add(o, "<div class=\"tools\">\n<label>Search <input id=\"search\" type=\"search\" placeholder=\"graph, operator, line …\"></label>\n<span class=\"sevs\" role=\"group\" aria-label=\"Severities\">");
	for (int s = SEV_ERROR; s > SEV_NONE; s--) {
		Str name = severity_name((Severity)s);
		bool on = s >= (int)o->r->cfg->show;
		buf_printf(o->out, "<label><input type=\"checkbox\" value=\"" STR_FMT "\"%s> " STR_FMT "s</label> ", STR_ARG(name), on ? " checked" : "", STR_ARG(name));
	}
	add(o, "</span>\n");
	rules_of(o);
	add(o, "<span id=\"count\" role=\"status\"></span>\n<button type=\"button\" id=\"theme\">light or dark</button>\n</div>\n");
}

static void heading(Out *o)
{
	Counts c = report_counts(o->r);
	uint32_t unread = report_unread(o->r), n = o->r->quiet_by_contract;
	add(o, "<header>\n<h1>graphlint: ");
	report_counts_text(&c, o->out);
	add(o, "</h1>\n<p>");
	if (o->r->sources.v.n == 2)
		svg_text(o->out, o->r->sources.v.v[1].path);
	else
		buf_printf(o->out, "%u files", (unsigned)(o->r->sources.v.n ? o->r->sources.v.n - 1 : 0));
	buf_printf(o->out, " · contract " STR_FMT, STR_ARG(contract_name(o->r->cfg->contract.name)));
	if (n)
		buf_printf(o->out, " · %u %s on what AOTAutograd keeps: <code>--contract fresh</code> shows %s", (unsigned)n,
		           n == 1 ? "boundary relies" : "boundaries rely", n == 1 ? "it" : "them");
	if (c.suppressed)
		buf_printf(o->out, " · %u suppressed", (unsigned)c.suppressed);
	add(o, "</p>\n");
	if (unread)
		buf_printf(o->out, "<p class=\"warning\"><span class=\"sev\">%u place%s could not be read:</span> what depends on %s is unknown</p>\n", (unsigned)unread,
		           report_plural(unread), unread == 1 ? "it" : "them");
	if (o->left_out)
		buf_printf(o->out, "<p class=\"warning\"><span class=\"sev\">%u findings are not on this page</span>, the least severe: --format json has all</p>\n", (unsigned)o->left_out);
	legend(o);
	tools(o);
	add(o, "</header>\n");
}

/* A square for each graph, in order. */
static void overview(Out *o)
{
	uint32_t n = 0, all = 0;
	add(o, "<div class=\"map\" role=\"group\" aria-label=\"All graphs, in order\">");
	for (uint32_t i = 0; i < o->picture->rows.n; i++) {
		const PicRow *row = &o->picture->rows.v[i];
		if (row->kind != PIC_GRAPH || ++all > SQUARES_MOST)
			continue;
		n++;
		Str name = sym_str(o->r->program.names, row->graph->name), worst = severity_name(row->worst);
		buf_printf(o->out, "<a href=\"#r%u\" class=\"" STR_FMT "\" title=\"", (unsigned)i, STR_ARG(row->index ? worst : S("")));
		svg_head(o->out, name, 60);
		add(o, "\" aria-label=\"");
		svg_head(o->out, name, 60);
		buf_printf(o->out, ", %u findings\"></a>", (unsigned)row->index);
	}
	add(o, "</div>\n");
	if (all > n)
		buf_printf(o->out, "<p>%u more graphs</p>\n", (unsigned)(all - n));
}

static void program(Out *o)
{
	add(o, "<section id=\"program\" tabindex=\"0\" aria-label=\"The program\">\n<h2>The program, from top to bottom</h2>\n"
		"<p class=\"facts\">Boxes are compiled graphs. A coloured line is one piece of memory: <b>W</b> writes it, <b>R</b> reads it. A red bar is where a copy would change the result. "
		"The numbers are lines of the dump.</p>\n");
	overview(o);
	add(o, "<p><button type=\"button\" id=\"open\">open all graphs</button> <button type=\"button\" id=\"close\">close all graphs</button></p>\n");
	if (o->picture->lanes_left_out)
		buf_printf(o->out, "<p>%u lines of memory are not drawn for want of room</p>\n", (unsigned)o->picture->lanes_left_out);
	svg_write(o->picture, o->o, false, o->out);
	if (!o->picture->rows.n)
		add(o, "<p class=\"empty\">No graph and no bytecode in any input.</p>\n");
	add(o, "</section>\n");
}

static void page(Out *o)
{
	add(o, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>graphlint</title>\n<style>\n");
	buf_add(o->out, svg_embedded("picture.css"));
	buf_add(o->out, svg_embedded("page.css"));
	add(o, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#detail\">to the details</a>\n");
	heading(o);
	add(o, "<main>\n<nav aria-label=\"Findings\">\n<h2>Findings</h2>\n<ol class=\"list\">\n");
	for (uint32_t k = 0; k < o->list.n; k++)
		list_item(o, k);
	add(o, o->list.n ? "</ol>\n" : "</ol>\n<p class=\"empty\">None.</p>\n");
	add(o, "</nav>\n");
	program(o);
	add(o, "<section id=\"detail\" tabindex=\"0\" aria-label=\"Details of the finding\">\n<p id=\"none\" class=\"empty\">Choose a finding.</p>\n");
	for (uint32_t k = 0; k < o->list.n; k++)
		article(o, k);
	add(o, "</section>\n</main>\n<script>\n");
	buf_add(o->out, svg_embedded("page.js"));
	add(o, "</script>\n</body>\n</html>\n");
}

/* Notes are on the page too, hidden until somebody asks. */
static FindingList choose(const Run *r, const Groups *g, uint32_t *left_out, Arena *a)
{
	FindingList all = groups_at_least(r, g, SEV_NOTE, a);
	*left_out = all.n > FINDINGS_MOST ? all.n - FINDINGS_MOST : 0;
	all.n -= *left_out;
	return all;
}

void report_write_html(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = {.r = r, .o = options, .out = out, .a = arena_new(NULL)};
	o.places = places_new(&r->sources, &o.a);
	o.groups = groups_make(r, &o.a);
	o.list = choose(r, &o.groups, &o.left_out, &o.a);
	o.picture = picture_make(r, &o.list, &o.a);
	page(&o);
	arena_free(&o.a);
}
