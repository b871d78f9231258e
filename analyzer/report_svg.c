/* SPDX-License-Identifier: MIT
 * The picture as SVG: rows of one height below each other, lanes of memory to their left. The page moves rows when a graph is
 * folded or unfolded, so that a row knows nothing of its neighbours, and a lane only names its first and last row. */
#include "report_svg.h"

#include "embedded.h"
#include "graph_words.h"
#include "report_common.h"
#include "report_flow.h"
#include "utf8.h"

enum { ROW = 24, LANE = 18, LEFT = 14, GUTTER = 58, INDENT = 16, WIDTH = 860, NAME_MOST = 60, CODE_MOST = 76 };

typedef struct Out {
	const Picture *p;
	const Run *r;
	const ReportOptions *o;
	Buf *out;
	Arena a;
	Places places;
	uint32_t text_at; /* x of the text of a frame */
} Out;

/* ---- text ---- */

void svg_text(Buf *out, Str s)
{
	uint32_t n;
	for (uint32_t at = 0; at < s.n; at += n) {
		switch (s.p[at]) {
		case '&': buf_add(out, S("&amp;")); n = 1; break;
		case '<': buf_add(out, S("&lt;")); n = 1; break;
		case '>': buf_add(out, S("&gt;")); n = 1; break;
		case '"': buf_add(out, S("&quot;")); n = 1; break;
		case '\'': buf_add(out, S("&#39;")); n = 1; break;
		default: report_put(out, s, at, &n, true);
		}
	}
}

void svg_head(Buf *out, Str s, uint32_t most)
{
	Str head = utf8_head(s, most);
	svg_text(out, head);
	if (head.n < s.n)
		buf_add(out, S("…"));
}

Str svg_embedded(const char *name)
{
	for (const EmbeddedFile *e = embedded_files; e->name; e++)
		if (strcmp(e->name, name) == 0)
			return (Str){e->data, e->size};
	ASSERT(!"the file is embedded");
	return (Str){0};
}

static Str name_of(const Out *o, Sym s)
{
	return sym_str(o->r->program.names, s);
}

static void span(Out *o, const char *class, Str text, uint32_t most)
{
	buf_printf(o->out, "<tspan class=\"%s\">", class);
	svg_head(o->out, text, most);
	buf_add(o->out, S("</tspan>"));
}

static void plain(Out *o, const char *text)
{
	svg_text(o->out, str_from_c(text));
}

/* The last part of a path. */
static Str base_name(Str path)
{
	for (uint32_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/')
			return str_sub(path, i, path.n);
	return path;
}

/* Line of the dump beside the row; the file is in the tooltip. */
static void dump_line(Out *o, const PicRow *row)
{
	if (!row->span.file.i || row->kind == PIC_PROCESS)
		return;
	unsigned line = place_of(&o->places, row->span.file, row->span.at).line;
	buf_printf(o->out, "<text class=\"ln\" x=\"%u\" y=\"%d\" text-anchor=\"end\">%u<title>", (unsigned)(o->text_at - 16), ROW / 2 + 4, line);
	svg_text(o->out, place_path(&o->places, row->span.file));
	buf_printf(o->out, ", line %u</title></text>", line);
}

/* "memory A": the letter of a lane of shared memory. */
static void lane_letter(uint32_t color, Buf *out)
{
	if (color > 26)
		lane_letter((color - 1) / 26, out);
	buf_char(out, (char)('A' + (color - 1) % 26));
}

static void memory_word(Out *o, const PicRow *row)
{
	uint32_t color = row->lane == PIC_NO_LANE ? 0 : o->p->lanes.v[row->lane].color;
	if (!color)
		return;
	Buf b = {.a = &o->a};
	buf_add(&b, S(" memory "));
	lane_letter(color, &b);
	span(o, "m", buf_str(&b), NAME_MOST);
}

/* ---- what rows say ---- */

static void frame_text(Out *o, const PicRow *row)
{
	const Frame *f = &o->r->program.frames.v[row->frame - 1];
	Str name = name_of(o, f->name), inner;
	Buf place = {.a = &o->a};
	if (name_is_resume_code(name, &inner)) {
		plain(o, "the rest of ");
		span(o, "b", inner, NAME_MOST);
		Buf from = {.a = &o->a};
		buf_printf(&from, " from line %u on ", (unsigned)f->first_line);
		span(o, "", buf_str(&from), NAME_MOST);
	} else {
		span(o, "b", name, NAME_MOST);
		plain(o, f->modified ? " " : " runs as written, not compiled ");
	}
	buf_printf(&place, STR_FMT ":%u", STR_ARG(base_name(name_of(o, f->file))), (unsigned)f->first_line);
	if (!sym_none(f->compile_id))
		buf_printf(&place, " [" STR_FMT "]", STR_ARG(name_of(o, f->compile_id)));
	span(o, "m", buf_str(&place), NAME_MOST);
}

static void graph_text(Out *o, const PicRow *row)
{
	Buf b = {.a = &o->a};
	uint32_t operators = report_operators(row->graph);
	span(o, "b", name_of(o, row->graph->name), NAME_MOST);
	buf_printf(&b, " compiled graph, %u operator%s, %u in, %u out", (unsigned)operators, report_plural(operators),
	           (unsigned)row->graph->inputs.n, (unsigned)row->graph->outputs.n);
	span(o, "m", buf_str(&b), NAME_MOST);
	if (row->index) {
		Str word = severity_name(row->worst);
		b.n = 0;
		buf_printf(&b, " %u finding%s", (unsigned)row->index, report_plural(row->index));
		span(o, str_eq(word, S("error")) ? "error" : str_eq(word, S("warning")) ? "warning" : "m", buf_str(&b), NAME_MOST);
	}
}

static void port(Out *o, const char *word, uint32_t i, Str name)
{
	Buf b = {.a = &o->a};
	buf_printf(&b, "%s %u ", word, (unsigned)i);
	span(o, "k", buf_str(&b), NAME_MOST);
	span(o, "c", name, NAME_MOST);
}

static void input_text(Out *o, const PicRow *row)
{
	port(o, "in", row->index, node_shown(&o->r->program, row->graph, row->node));
	memory_word(o, row);
	if (row->noticed)
		span(o, "cut", S(" writes that the caller has to see"), NAME_MOST);
}

static Str shares_how(const OutputSummary *s)
{
	bool may = s->certainty == TRI_MAY;
	switch (s->kind) {
	case ALIAS_INPUT: return may ? S(" may be in ") : S(" is in ");
	case ALIAS_VIEW_OF_INPUT: return may ? S(" may be a view of in ") : S(" is a view of in ");
	case ALIAS_OUTPUT: return may ? S(" may be out ") : S(" is out ");
	case ALIAS_VIEW_OF_OUTPUT: return may ? S(" may share memory with out ") : S(" shares memory with out ");
	case ALIAS_VIEW_OF_ATTR: return may ? S(" may share memory with self.") : S(" shares memory with self.");
	default: return (Str){0};
	}
}

static void output_text(Out *o, const PicRow *row)
{
	const Summary *all = o->r->summaries ? o->r->summaries[row->graph->id.i] : NULL;
	const OutputSummary *s = all ? &all->outputs[row->index] : NULL;
	const Arg *arg = &row->graph->outputs.v[row->index].arg;
	port(o, "out", row->index, arg->kind == AR_NODE ? node_shown(&o->r->program, row->graph, arg->u.node) : (Str){0});
	Str how = s ? shares_how(s) : (Str){0};
	if (how.n) {
		Buf b = {.a = &o->a};
		buf_add(&b, how);
		if (s->kind == ALIAS_VIEW_OF_ATTR)
			buf_add(&b, name_of(o, s->attribute));
		else if (s->nof)
			buf_printf(&b, "%u", (unsigned)s->of[0]);
		span(o, "", buf_str(&b), NAME_MOST);
	}
	memory_word(o, row);
	if (row->noticed)
		span(o, "cut", S(" a copy here changes the result"), NAME_MOST);
}

/* The line of the user's program where the dump quotes it, else the statement of the dump. */
static Str step_code(Out *o, const PicRow *row, bool *user)
{
	UserSource u = row->graph && row->node.i ? node_source(&o->r->program, &o->r->sources, row->graph, row->node) : (UserSource){0};
	*user = u.code.n > 0;
	if (u.code.n)
		return u.code;
	Str text = str_sub(source_get(&o->r->sources, row->span.file)->text, row->span.at, row->span.end);
	return str_trim(str_sub(text, 0, str_find_char(text, '\n', 0)));
}

static void step_text(Out *o, const PicRow *row)
{
	static const char *const words[ROLE_N] = {
		[ROLE_ALIAS] = "alias ", [ROLE_WRITE] = "writes ", [ROLE_READ] = "reads ", [ROLE_BOUNDARY] = "", [ROLE_LINK] = "", [ROLE_PLACE] = "",
	};
	bool user;
	Str code = step_code(o, row, &user);
	span(o, row->role == ROLE_WRITE || row->role == ROLE_READ ? "b" : "k", str_from_c(words[row->role]), NAME_MOST);
	memory_word(o, row);
	plain(o, " ");
	span(o, "c", code, CODE_MOST);
	if (user) {
		UserSource u = node_source(&o->r->program, &o->r->sources, row->graph, row->node);
		Buf b = {.a = &o->a};
		buf_printf(&b, " " STR_FMT ":%u", STR_ARG(base_name(u.file)), (unsigned)u.line);
		span(o, "m", buf_str(&b), NAME_MOST);
	}
}

static void process_text(Out *o, const PicRow *row)
{
	span(o, "b", place_path(&o->places, row->span.file), NAME_MOST);
}

static void row_text(Out *o, const PicRow *row)
{
	switch ((PicKind)row->kind) {
	case PIC_PROCESS: process_text(o, row); break;
	case PIC_LOOSE: plain(o, "graphs that no frame of the dump calls"); break;
	case PIC_FRAME: frame_text(o, row); break;
	case PIC_GRAPH: graph_text(o, row); break;
	case PIC_INPUT: input_text(o, row); break;
	case PIC_STEP: step_text(o, row); break;
	case PIC_OUTPUT: output_text(o, row); break;
	case PIC_MORE: buf_printf(o->out, "%u more", (unsigned)row->index); break;
	}
}

/* ---- drawing ---- */

static uint32_t lane_x(const PicLane *l)
{
	return LEFT + l->column * LANE;
}

static bool has_place(const Out *o, const PicRow *row)
{
	return row->lane != PIC_NO_LANE && o->p->lanes.v[row->lane].column != PIC_NO_LANE;
}

/* Hues far apart, by the golden angle, and none near red: that is for what is cut. */
static void lane_style(Out *o, const PicLane *l)
{
	if (l->color)
		buf_printf(o->out, " style=\"--h:%u\"", (unsigned)(40 + ((uint64_t)(l->color - 1) * 173 + 175) % 280));
}

static void mark(Out *o, const PicRow *row)
{
	static const char *const letters[] = {[PIC_MARK_WRITES] = "W", [PIC_MARK_READS] = "R"};
	const PicLane *l = &o->p->lanes.v[row->lane];
	unsigned x = lane_x(l);
	buf_printf(o->out, "<g class=\"mark %s%s\"", row->mark == PIC_MARK_WRITES ? "w" : row->mark == PIC_MARK_READS ? "rd" : "p", l->color ? "" : " grey");
	lane_style(o, l);
	buf_char(o->out, '>');
	buf_printf(o->out, "<circle cx=\"%u\" cy=\"%d\" r=\"%d\"/>", x, ROW / 2, letters[row->mark] ? 8 : 4);
	if (letters[row->mark])
		buf_printf(o->out, "<text x=\"%u\" y=\"%d\" text-anchor=\"middle\">%s</text>", x, ROW / 2 + 4, letters[row->mark]);
	buf_add(o->out, S("</g>"));
	if (row->noticed)
		buf_printf(o->out, "<path class=\"cutbar\" d=\"M%u %dh16\"/>", x - 8, row->kind == PIC_OUTPUT ? ROW - 4 : 4);
}

static const char *kind_class(const PicRow *row)
{
	static const char *const names[] = {
		[PIC_PROCESS] = "process", [PIC_LOOSE] = "process", [PIC_FRAME] = "frame", [PIC_GRAPH] = "graph",
		[PIC_INPUT] = "port", [PIC_STEP] = "step", [PIC_OUTPUT] = "port", [PIC_MORE] = "more",
	};
	return names[row->kind];
}

static uint32_t indent_of(const PicRow *row)
{
	return row->kind == PIC_GRAPH ? INDENT : row->kind >= PIC_INPUT ? 2 * INDENT + (row->graph ? INDENT / 2 : 0) : 0;
}

static bool is_hidden(const Picture *p, const PicRow *row)
{
	return row->graph && row->kind != PIC_GRAPH && p->rows.v[row->owner].folded;
}

static void draw_row(Out *o, uint32_t i, uint32_t y)
{
	const PicRow *row = &o->p->rows.v[i];
	uint32_t x = o->text_at + indent_of(row);
	bool graph = row->kind == PIC_GRAPH, inside = row->graph != NULL;
	buf_printf(o->out, "<g id=\"r%u\" class=\"row %s%s%s%s\" data-owner=\"%u\" transform=\"translate(0 %u)\"", (unsigned)i,
	           kind_class(row), row->noticed ? " noticed" : "", is_hidden(o->p, row) ? " hidden" : "", graph && row->folded ? " folded" : "",
	           (unsigned)row->owner, (unsigned)y);
	if (graph)
		buf_printf(o->out, " tabindex=\"0\" role=\"button\" aria-expanded=\"%s\"", row->folded ? "false" : "true");
	if (has_place(o, row))
		buf_printf(o->out, " data-x=\"%u\" data-lane=\"%u\"", (unsigned)lane_x(&o->p->lanes.v[row->lane]), (unsigned)row->lane);
	buf_printf(o->out, "><rect class=\"bg\" x=\"%u\" width=\"%u\" height=\"%d\"/>", (unsigned)(o->text_at + (inside ? INDENT : 0) - 8),
	           (unsigned)(WIDTH - (inside ? INDENT : 0)), ROW);
	if (graph)
		buf_printf(o->out, "<path class=\"twist\" d=\"M%u 8l5 4l-5 4z\"/>", (unsigned)(x - 2));
	if (has_place(o, row))
		mark(o, row);
	dump_line(o, row);
	buf_printf(o->out, "<text x=\"%u\" y=\"%d\">", (unsigned)(x + (graph ? 8 : 0)), ROW / 2 + 4);
	row_text(o, row);
	buf_add(o->out, S("</text></g>\n"));
}

static void draw_lanes(Out *o, const uint32_t *y)
{
	for (uint32_t i = 0; i < o->p->lanes.n; i++) {
		const PicLane *l = &o->p->lanes.v[i];
		if (l->column == PIC_NO_LANE)
			continue;
		unsigned x = lane_x(l);
		buf_printf(o->out, "<line id=\"l%u\" class=\"lane%s\" data-first=\"%u\" data-last=\"%u\" x1=\"%u\" x2=\"%u\" y1=\"%u\" y2=\"%u\"", (unsigned)i,
		           l->color ? "" : " grey", (unsigned)l->first, (unsigned)l->last, x, x, (unsigned)(y[l->first] + ROW / 2),
		           (unsigned)(y[l->last] + ROW / 2));
		lane_style(o, l);
		buf_add(o->out, S("/>\n"));
	}
}

/* Where each row is; a hidden one is where its graph is. Returns the height. */
static uint32_t place_rows(const Picture *p, uint32_t *y)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < p->rows.n; i++) {
		const PicRow *row = &p->rows.v[i];
		if (is_hidden(p, row)) {
			y[i] = y[row->owner];
			continue;
		}
		at += (row->kind == PIC_FRAME || row->kind == PIC_PROCESS || row->kind == PIC_LOOSE) && i ? ROW / 2 : 0;
		y[i] = at;
		at += ROW;
	}
	return at;
}

void svg_write(const Picture *p, const ReportOptions *options, bool alone, Buf *out)
{
	Out o = {.p = p, .r = p->r, .o = options, .out = out, .a = arena_new(NULL)};
	o.places = places_new(&p->r->sources, &o.a);
	o.text_at = LEFT + p->ncolumns * LANE + GUTTER;
	uint32_t *y = NEW_N(&o.a, uint32_t, p->rows.n + 1);
	uint32_t height = place_rows(p, y), width = o.text_at + WIDTH;
	if (!height)
		height = ROW;
	buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"picture\" class=\"picture%s\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" role=\"group\" "
	           "aria-label=\"The program: frames, graphs, and the memory that they share\">\n", alone ? " alone" : "", (unsigned)width, (unsigned)height,
	           (unsigned)width, (unsigned)height);
	if (alone) {
		buf_add(out, S("<style>\n"));
		buf_add(out, svg_embedded("picture.css"));
		buf_printf(out, "</style>\n<rect class=\"page\" width=\"%u\" height=\"%u\"/>\n", (unsigned)width, (unsigned)height);
	}
	buf_add(out, S("<g class=\"lanes\" aria-hidden=\"true\">\n"));
	draw_lanes(&o, y);
	buf_add(out, S("</g>\n<g class=\"rows\">\n"));
	for (uint32_t i = 0; i < p->rows.n; i++) {
		ArenaMark mark = arena_mark(&o.a);
		draw_row(&o, i, y[i]);
		arena_rewind(&o.a, mark);
	}
	buf_add(out, S("</g>\n</svg>\n"));
	arena_free(&o.a);
}

void report_graph_svg(const Run *r, const ReportOptions *options, Buf *out)
{
	Arena a = arena_new(NULL);
	Groups groups = groups_make(r, &a);
	FindingList list = groups_shown(r, &groups, &a);
	svg_write(picture_make(r, &list, &a), options, true, out);
	arena_free(&a);
}
