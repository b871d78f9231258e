/* SPDX-License-Identifier: MIT */
#include "confirm.h"

#include "embedded.h"
#include "nearest.h"
#include "report_common.h"
#include "template.h"

typedef struct Target {
	Str graph;
	int32_t output, input; /* -1: the other one is meant */
} Target;

typedef struct Confirm {
	const Run *r;
	const Graph *g;
	Target t;
	Places places;
	Arena a;
	uint32_t number, alike; /* the graph among those that look the same, from 1; 0: there is one only */
} Confirm;

/* ---- which boundary ---- */

static bool parse_target(Str s, Target *t, Buf *why)
{
	uint32_t colon = s.n;
	while (colon && s.p[colon - 1] != ':')
		colon--;
	Str side = str_sub(s, colon, s.n);
	*t = (Target){.output = -1, .input = -1};
	uint32_t n = 0;
	bool out = str_starts(side, S("out")), in = str_starts(side, S("in"));
	if (colon > 1 && (out || in) && str_to_u32(str_sub(side, out ? 3 : 2, side.n), &n) && n <= INT32_MAX) {
		t->graph = str_sub(s, 0, colon - 1);
		*(out ? &t->output : &t->input) = (int32_t)n;
		return true;
	}
	buf_printf(why, "a boundary is written GRAPH:out0 or GRAPH:in2, not '" STR_FMT "'", STR_ARG(s));
	return false;
}

static bool has_id(const Graph *g, Str s)
{
	uint32_t n;
	return s.n > 1 && s.p[0] == 'g' && str_to_u32(str_sub(s, 1, s.n), &n) && n == g->id.i;
}

/* By id, else by name. */
static const Graph *find_graph(Confirm *c, Buf *why)
{
	const Program *p = &c->r->program;
	const Graph *found = NULL;
	uint32_t several = 0;
	Buf ids = {.a = &c->a};
	Nearest near = nearest_to(c->t.graph);
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (!report_graph_captured(p, g))
			continue;
		if (has_id(g, c->t.graph))
			return g;
		nearest_try(&near, sym_str(p->names, g->name));
		if (!str_eq(sym_str(p->names, g->name), c->t.graph))
			continue;
		found = g;
		if (several++ < 8)
			buf_printf(&ids, "%sg%u (" STR_FMT ":%u)", several > 1 ? ", " : "", (unsigned)g->id.i,
			           STR_ARG(place_path(&c->places, g->file)), (unsigned)place_of(&c->places, g->file, g->at).line);
	}
	if (several == 1)
		return found;
	if (several) {
		buf_printf(why, "%u graphs are named '" STR_FMT "': name one by its id, ", (unsigned)several, STR_ARG(c->t.graph));
		buf_add(why, buf_str(&ids));
	} else {
		buf_printf(why, "there is no graph '" STR_FMT "'", STR_ARG(c->t.graph));
		nearest_say(&near, why);
	}
	return NULL;
}

static bool check_boundary(const Confirm *c, Buf *why)
{
	bool out = c->t.output >= 0;
	uint32_t n = out ? c->g->outputs.n : c->g->inputs.n;
	if ((uint32_t)(out ? c->t.output : c->t.input) < n)
		return true;
	buf_printf(why, "`" STR_FMT "` has %u %s%s", STR_ARG(c->t.graph), (unsigned)n, out ? "output" : "input", report_plural(n));
	return false;
}

/* ---- what the graph consists of ---- */

static void add_python_str(Buf *out, Str s)
{
	buf_char(out, '"');
	for (uint32_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			buf_printf(out, "\\x%02x", c);
		else
			buf_char(out, (char)c);
	}
	buf_char(out, '"');
}

/* A list of strings in lines of bearable length. */
static void add_targets(const Confirm *c, Buf *out)
{
	enum { LINE_MOST = 100 };
	uint32_t line = out->n > 10 ? out->n - 10 : 0;
	const char *before = "";
	buf_char(out, '[');
	for (uint32_t i = 1; i < c->g->nodes.n; i++) {
		const Node *n = &c->g->nodes.v[i];
		if (n->kind != NK_CALL)
			continue;
		Str target = sym_str(c->r->program.names, n->target);
		buf_add(out, str_from_c(before));
		if (out->n - line + target.n + 4 > LINE_MOST) {
			line = out->n;
			buf_add(out, S("\n    "));
		} else if (*before) {
			buf_char(out, ' ');
		}
		add_python_str(out, target);
		before = ",";
	}
	buf_char(out, ']');
}

static const Node *next_call(const Graph *g, uint32_t *i)
{
	while (++*i < g->nodes.n)
		if (g->nodes.v[*i].kind == NK_CALL)
			return &g->nodes.v[*i];
	return NULL;
}

static bool look_alike(const Graph *a, const Graph *b)
{
	uint32_t i = 0, k = 0;
	if (a->inputs.n != b->inputs.n || !sym_eq(a->process, b->process))
		return false;
	for (;;) {
		const Node *x = next_call(a, &i), *y = next_call(b, &k);
		if (!x || !y)
			return !x && !y;
		if (!sym_eq(x->target, y->target))
			return false;
	}
}

static void count_alike(Confirm *c)
{
	const Program *p = &c->r->program;
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (!report_graph_captured(p, g) || g->file.i != c->g->file.i || !look_alike(c->g, g))
			continue;
		c->alike++;
		if (g == c->g)
			c->number = c->alike;
	}
	if (c->alike == 1)
		c->number = c->alike = 0;
}

/* ---- the text ---- */

static void add_number(Buf *out, uint32_t n)
{
	if (n)
		buf_printf(out, "%u", (unsigned)n);
}

/* Text for a comment: one line, nothing that ends it. */
static void add_plain(Buf *out, Str s)
{
	report_text(out, s, false);
}

static void value(void *ctx, Str name, Buf *out)
{
	Confirm *c = ctx;
	const char *side = c->t.output >= 0 ? "output" : "input";
	int32_t index = c->t.output >= 0 ? c->t.output : c->t.input;
	if (str_eq(name, S("what"))) {
		buf_printf(out, c->t.output >= 0 ? "Makes a copy of output %d" : "Hides the writes into input %d", (int)index);
	} else if (str_eq(name, S("note"))) {
		buf_printf(out, "copying %s %d of a graph of %u operators", side, (int)index, (unsigned)report_operators(c->g));
	} else if (str_eq(name, S("graph"))) {
		add_plain(out, sym_str(c->r->program.names, c->g->name));
	} else if (str_eq(name, S("place"))) {
		add_plain(out, place_path(&c->places, c->g->file));
		buf_printf(out, ":%u", (unsigned)place_of(&c->places, c->g->file, c->g->at).line);
	} else if (str_eq(name, S("placeholders"))) {
		buf_printf(out, "%u", (unsigned)c->g->inputs.n);
	} else if (str_eq(name, S("targets"))) {
		add_targets(c, out);
	} else if (str_eq(name, S("number"))) {
		add_number(out, c->number);
	} else if (str_eq(name, S("alike"))) {
		add_number(out, c->alike);
	} else if (str_eq(name, S("output")) && c->t.output >= 0) {
		buf_printf(out, "%d", (int)c->t.output);
	} else if (str_eq(name, S("input")) && c->t.input >= 0) {
		buf_printf(out, "%d", (int)c->t.input);
	}
}

static Str template_text(void)
{
	for (const EmbeddedFile *e = embedded_files; e->name; e++)
		if (str_eq(str_from_c(e->name), S("confirm.txt")))
			return (Str){e->data, e->size};
	ASSERT(!"confirm.txt is embedded");
	return (Str){0};
}

static bool write(Confirm *c, Str target, Buf *out, Buf *why)
{
	if (!parse_target(target, &c->t, why) || !(c->g = find_graph(c, why)) || !check_boundary(c, why))
		return false;
	if (c->g->unread.n || c->g->truncated) {
		buf_printf(why, "`" STR_FMT "` could not be read as a whole: it cannot be told by what it consists of",
		           STR_ARG(c->t.graph));
		return false;
	}
	count_alike(c);
	template_fill(template_text(), value, c, out);
	return true;
}

bool confirm_write(const Run *r, Str target, Buf *out, Buf *why)
{
	Confirm c = {.r = r, .a = arena_new(NULL)};
	c.places = places_new(&r->sources, &c.a);
	bool ok = write(&c, target, out, why);
	arena_free(&c.a);
	return ok;
}
