/* SPDX-License-Identifier: MIT
 * Printed graphs: code (class and def), graph() texts and tables. Where code ends, and whether
 * it is FX's at all, is decided by its form: torch/fx/graph.py and graph_module.py of PyTorch
 * 1.12 to 2.15 print flat bodies. */
#include "split_block.h"
#include "split_fx.h"

enum {
	LOOK_AHEAD = 20, /* foreign lines inside a body */
	CONTINUED_MOST = 64,
	NAMES_MOST = 32 /* values in a body without any sign of FX: more than that is no graph */
};

typedef enum Where { IN_CLASS, IN_SIGNATURE, IN_BODY, IN_META, IN_RETURN, AFTER_RETURN } Where;
typedef enum Move { MOVE_TAKE, MOVE_GAP, MOVE_STOP, MOVE_REJECT } Move;

typedef struct Walk {
	Block *b;
	Extent e;
	Where where;
	bool class_form, nested,
		first_line; /* first_line: nothing but the class line was seen of the class */
	uint32_t class_col, def_top, def, body;
	bool has_def, has_body, returned, top_returned, flat, headless, midline;
	bool other_methods, known_class;
	bool annotated; /* the parameters are written as FX does: x : torch.Tensor, x: "f32[2]" */
	uint32_t strong, weak, continued;
	Str names[NAMES_MOST]; /* parameters, then what statements bind, as long as nothing says FX */
	uint32_t nnames, nparams, first_def, first_return;
	bool rebound;
	uint32_t before_nested; /* end of the extent before the nested class line */
	uint64_t search; /* bytes that may still be searched for references to nested classes */
} Walk;

static uint32_t line_at(Walk *w, uint32_t i, Str *t)
{
	return line_indent(block_line(w->b, i), t);
}

static bool next_line(Block *b, uint32_t i, uint32_t *at)
{
	Str t;
	for (; i < b->n; i++) {
		line_indent(block_line(b, i), &t);
		if (t.n) {
			*at = i;
			return true;
		}
	}
	return false;
}

/* Does the body go on behind foreign lines? */
static bool comes_again(Walk *w, uint32_t i, bool surely)
{
	for (uint32_t k = i; k < w->b->n && k < i + LOOK_AHEAD; k++) {
		Str t;
		uint32_t col = line_at(w, k, &t);
		if (!t.n)
			continue;
		Head h = head_of(t);
		if (head_is_hard(h) || h == HEAD_CLASS || h == HEAD_DEF)
			return false;
		FxLine l = fx_line(t);
		if (w->has_body ? col == w->body : col > w->def) {
			bool own = l.kind == FX_RETURN || (l.kind == FX_STATEMENT && !l.weak);
			if (surely ? l.strong : own || l.strong)
				return true;
		}
	}
	return false;
}

/* ---- bodies without any sign of FX: every name is bound once, and a value is used last in the
 * return, since FX prints "x = None" behind any other last use ---- */

static void note_name(Walk *w, Str name)
{
	if (w->strong || w->rebound || !name.n)
		return;
	for (uint32_t i = 0; i < w->nnames; i++)
		if (str_eq(w->names[i], name)) {
			w->rebound = true;
			return;
		}
	if (w->nnames == NAMES_MOST)
		w->rebound = true;
	else
		w->names[w->nnames++] = block_keep(w->b, name);
}

static void note_parameters(Walk *w, Str def)
{
	uint32_t at = str_find_char(def, '(', 0) + 1;
	if (def.n > 4096)
		return;
	while (at < def.n) {
		while (at < def.n && !char_is_ident((unsigned char)def.p[at]))
			at++;
		uint32_t from = at;
		while (at < def.n && char_is_ident((unsigned char)def.p[at]))
			at++;
		if (!str_eq(str_sub(def, from, at), S("self")))
			note_name(w, str_sub(def, from, at));
		at = str_find_char(def, ',', at); /* annotations with commas give names that nobody binds */
	}
	w->rebound = false;
	w->nparams = w->nnames;
}

/* Which of the names does the line hold? */
static void mark_names(const Walk *w, Str line, bool *marks)
{
	for (uint32_t i = 0; i < line.n;) {
		uint32_t from = i;
		while (i < line.n && char_is_ident((unsigned char)line.p[i]))
			i++;
		for (uint32_t k = 0; i > from && k < w->nnames; k++)
			marks[k] |= str_eq(w->names[k], str_sub(line, from, i));
		i += i == from;
	}
}

static bool last_used_in_return(Walk *w)
{
	bool used[NAMES_MOST] = {0}, returned[NAMES_MOST] = {0};
	for (uint32_t i = w->first_def + 1; i < w->e.end; i++) {
		Str t;
		line_at(w, i, &t);
		mark_names(w, t, i < w->first_return ? used : returned);
	}
	for (uint32_t k = 0; k < w->nnames; k++)
		if ((used[k] || k >= w->nparams) && !returned[k])
			return false;
	return true;
}

/* ---- nested classes ---- */

/* In a text without indentation: does the graph before it refer to the class? */
static bool is_referenced(Walk *w, uint32_t to, Str name)
{
	Str text = str_printf(w->b->scratch, "self." STR_FMT, STR_ARG(name));
	for (uint32_t i = w->e.from; i < to; i++) {
		Str l = block_line(w->b, i);
		if (w->search < l.n)
			return false;
		w->search -= l.n;
		uint32_t at = str_find(l, text, 0);
		if (at < l.n && (at + text.n == l.n || !char_is_ident((unsigned char)l.p[at + text.n])))
			return true;
	}
	return false;
}

/* A class inside the one that is open: its function is deeper than itself. Where two texts were
 * put together without a line break, the second class stands behind the blanks that end the
 * first, and its function does not. */
static bool is_nested(Walk *w, uint32_t i, uint32_t col)
{
	Str before, name, t;
	uint32_t at, next;
	bool open;
	if (!w->class_form || !w->has_def || !fx_class_line(block_line(w->b, i), &before, &name, &at) ||
	    before.n)
		return false;
	if (w->flat)
		return is_referenced(w, i, block_keep(w->b, name));
	return col >= w->def_top && next_line(w->b, i + 1, &next) && line_at(w, next, &t) > col &&
	       fx_def_line(t, &open);
}

/* ---- steps ---- */

static Move step_def(Walk *w, uint32_t i, uint32_t col, Str t, bool open)
{
	w->def = col;
	if (!w->has_def)
		w->first_def = i;
	if (!w->has_def || !w->nested)
		w->def_top = col;
	w->has_def = true;
	w->has_body = false;
	w->returned = false;
	if (!w->nested) {
		note_parameters(w, t);
		w->annotated = str_has(t, S(" : torch.")) || str_has(t, S(": \""));
	}
	w->where = open ? IN_SIGNATURE : str_ends(t, S(": pass")) ? AFTER_RETURN : IN_BODY;
	return MOVE_TAKE;
}

static Move step_body(Walk *w, uint32_t i, uint32_t col, Str t);

/* Between a class line and its forward: other methods of a repro file or of user code. */
static Move step_class(Walk *w, uint32_t i, uint32_t col, Str t)
{
	bool open, first = w->first_line;
	Head h = head_of(t);
	if (fx_def_line(t, &open) && (col > w->class_col || first))
		return step_def(w, i, col, t, open);
	if (head_is_hard(h))
		return MOVE_STOP;
	FxLine l = fx_line(t);
	if (l.kind == FX_COMMENT && col > w->class_col) {
		w->strong += l.strong;
		return MOVE_TAKE;
	}
	if (first && t.n > 4 && str_starts(S("def forward("), t)) /* the def line was cut off */
		return MOVE_TAKE;
	w->first_line = false;
	if (w->nested) {
		w->e.end = w->before_nested;
		return MOVE_STOP;
	}
	if (first && l.kind == FX_STATEMENT && col > w->class_col &&
	    (w->strong || comes_again(w, i, true))) { /* the def line was cut out */
		w->headless = true;
		w->has_def = true;
		w->def_top = w->def = col >= 4 ? col - 4 : 0;
		w->where = IN_BODY;
		return step_body(w, i, col, t);
	}
	if (col <= w->class_col)
		return MOVE_STOP;
	if (str_starts(t, S("def ")) && !str_starts(t, S("def __init__(")))
		w->other_methods = true;
	return MOVE_TAKE;
}

static Move step_signature(Walk *w, Str t)
{
	if (head_is_hard(head_of(t)) || str_starts(t, S("def ")))
		return MOVE_STOP;
	if (t.p[0] == ')' && str_ends(t, S(":")))
		w->where = IN_BODY;
	else
		w->strong += str_find(t, S(": \""), 0) < t.n || str_has(t, S("AOTInput("));
	return MOVE_TAKE;
}

/* Lines of others stand at the margin: one as deep as the body is its own and damaged, which the reader tells. */
static Move foreign(Walk *w, uint32_t i, bool user)
{
	if (w->strong ? comes_again(w, i + 1, false) : !user && comes_again(w, i + 1, true))
		return w->has_body && w->body >= 4 && line_indent(block_line(w->b, i), NULL) >= w->body ? MOVE_TAKE : MOVE_GAP;
	return w->strong || !user ? MOVE_STOP : MOVE_REJECT;
}

static Move step_return(Walk *w, uint32_t i, Str t, FxLine l)
{
	if (!w->top_returned)
		w->first_return = i;
	w->returned = true;
	w->top_returned |= !w->nested;
	w->weak += l.weak;
	w->where = fx_line_open(t, true) ? IN_RETURN : AFTER_RETURN;
	return MOVE_TAKE;
}

static bool is_meta(Walk *w, uint32_t i)
{
	Str t;
	if (i + 1 >= w->b->n)
		return false;
	line_at(w, i + 1, &t);
	uint32_t k = 0;
	while (k < t.n && char_is_ident((unsigned char)t.p[k]))
		k++;
	return k && k + 1 < t.n && t.p[k] == ':' && t.p[k + 1] == ' ';
}

static Move take_line(Walk *w, uint32_t i, Str t, FxLine l)
{
	switch (l.kind) {
	case FX_RETURN: w->strong += l.strong; return step_return(w, i, t, l);
	case FX_PASS:
		w->returned = true;
		w->top_returned |= !w->nested;
		w->where = AFTER_RETURN;
		return MOVE_TAKE;
	case FX_BLOCK:
		if (!is_meta(w, i))
			return foreign(w, i, true);
		w->strong++;
		w->where = IN_META;
		return MOVE_TAKE;
	case FX_COMMENT:
	case FX_ELISION:
	case FX_STATEMENT:
		w->strong += l.strong;
		w->weak += l.weak;
		note_name(w, l.name);
		return MOVE_TAKE;
	case FX_USER: return foreign(w, i, true);
	case FX_OTHER: break;
	}
	return foreign(w, i, false);
}

/* The line before is not complete: text of an object that prints over several lines. */
static bool continues(Walk *w, uint32_t i)
{
	if (!w->e.end || w->e.end != i || w->continued >= CONTINUED_MOST)
		return false;
	bool open = w->continued || fx_line_open(block_line(w->b, i - 1), true);
	w->continued = open ? w->continued + 1 : 0;
	return open;
}

static Move step_body(Walk *w, uint32_t i, uint32_t col, Str t)
{
	Head h = head_of(t);
	if (h == HEAD_CLASS && is_nested(w, i, col)) {
		w->nested = w->first_line = true;
		w->before_nested = w->e.end;
		w->class_col = w->flat ? 0 : col;
		w->where = IN_CLASS;
		return MOVE_TAKE;
	}
	if (head_is_hard(h) || h == HEAD_CLASS || h == HEAD_DEF)
		return MOVE_STOP;
	FxLine l = fx_line(t);
	bool fx = l.kind != FX_OTHER && l.kind != FX_USER;
	if (!w->has_body && col <= w->def && fx && (l.strong || l.kind != FX_COMMENT))
		w->flat = true;
	if (l.kind == FX_COMMENT && (col > w->def || w->flat)) {
		w->strong += l.strong;
		return MOVE_TAKE;
	}
	if (l.kind == FX_ELISION)
		return comes_again(w, i + 1, false) ? MOVE_TAKE : MOVE_STOP;
	if (!w->has_body && (col > w->def || w->flat) && fx) {
		w->has_body = true;
		w->body = col;
	}
	if (w->has_body && col >= w->body) {
		w->continued = 0;
		return take_line(w, i, t, l);
	}
	if (!w->has_body && col > w->def && l.kind == FX_USER)
		return foreign(w, i, true);
	if (w->has_body && continues(w, i))
		return MOVE_TAKE;
	return comes_again(w, i + 1, !w->has_body) ? MOVE_GAP : MOVE_STOP;
}

/* Nested classes follow; with the profiler option, its exit call; anything deeper is no FX. */
static Move step_after(Walk *w, uint32_t i, uint32_t col, Str t)
{
	if (head_of(t) == HEAD_CLASS || head_of(t) == HEAD_REMINDER)
		return step_body(w, i, col, t);
	FxLine l = fx_line(t);
	if (!w->flat && w->has_body && col >= w->body) {
		if (l.kind == FX_STATEMENT && l.strong && str_starts(t, S("_rf")))
			return MOVE_TAKE;
		if (!w->strong && l.kind != FX_COMMENT && l.kind != FX_OTHER)
			return MOVE_REJECT;
	}
	return MOVE_STOP;
}

static Move step(Walk *w, uint32_t i, uint32_t col, Str t)
{
	switch (w->where) {
	case IN_CLASS: return step_class(w, i, col, t);
	case IN_SIGNATURE: return step_signature(w, t);
	case IN_BODY: return step_body(w, i, col, t);
	case IN_META:
		if (str_eq(t, S("\"\"\"")))
			w->where = IN_BODY;
		return head_is_hard(head_of(t)) && col < w->body ? MOVE_STOP : MOVE_TAKE;
	case IN_RETURN:
		if (head_is_hard(head_of(t)))
			return MOVE_STOP;
		if (t.p[0] == ')' || t.p[0] == ']')
			w->where = AFTER_RETURN;
		w->strong += str_has(t, S("AOTOutput("));
		return MOVE_TAKE;
	case AFTER_RETURN: break;
	}
	return step_after(w, i, col, t);
}

/* Follows the code that begins at line i; false when it is not FX's. *next: where to go on in
 * any case. */
static bool follow(Walk *w, uint32_t i, uint32_t *next)
{
	Move s = MOVE_TAKE;
	for (; i < w->b->n; i++) {
		Str t;
		uint32_t col = line_at(w, i, &t);
		if (!t.n)
			continue;
		s = step(w, i, col, t);
		if (s == MOVE_STOP || s == MOVE_REJECT)
			break;
		if (s == MOVE_GAP)
			VEC_PUSH(w->b->scratch, &w->e.gaps, ((Gap){i, i + 1}));
		else
			w->e.end = i + 1;
	}
	*next = s == MOVE_REJECT ? i + 1 : w->e.end;
	if (s == MOVE_REJECT || !w->has_def)
		return false;
	if (w->strong || (w->known_class && !w->has_body)) /* the text may stop behind the signature */
		return true;
	bool plain =
		!w->weak && !w->rebound && w->top_returned && (w->known_class || !w->other_methods);
	return plain && (w->known_class || w->annotated || last_used_in_return(w));
}

/* ---- the module tree before code without a class ---- */

static bool is_wrap_line(Str t)
{
	return str_starts(t, S("torch.fx._symbolic_trace.wrap(")) || str_starts(t, S("torch.fx.wrap("));
}

/* "Linear(" of the root: a class name and an opening bracket. */
static bool is_tree_start(Str t, bool whole)
{
	uint32_t i = 0;
	while (i < t.n && char_is_ident((unsigned char)t.p[i]))
		i++;
	return i && str_eq(str_sub(t, i, t.n), whole ? S("()") : S("("));
}

static void tree_cut(Block *b, uint32_t def, uint32_t floor)
{
	Str t;
	uint32_t end = def, col = 0;
	for (; end > floor; end--) {
		line_indent(block_line(b, end - 1), &t);
		if (t.n && !is_wrap_line(t))
			break;
	}
	if (end == floor)
		return;
	col = line_indent(block_line(b, end - 1), &t);
	uint32_t from = end - 1;
	if (!is_tree_start(t, true)) {
		if (!str_eq(t, S(")")))
			return;
		do {
			if (from-- == floor)
				return;
			uint32_t c = line_indent(block_line(b, from), &t);
			if (t.n && c <= col && !is_tree_start(t, false))
				return;
			if (t.n && c == col)
				break;
		} while (true);
	}
	Extent e = {.from = from, .end = end};
	line_indent(block_line(b, from), &t);
	Str name = block_keep(b, str_sub(t, 0, str_find_char(t, '(', 0)));
	Artifact *a = block_add(b, ART_MODULE_TREE, from, &e);
	a->name = name;
}

/* ---- artifacts ---- */

/* "__compiled_fn_0 <eval_with_key>.1", before the word class or opcode of a record up to 2.2. */
static Str compiled_name(Str before)
{
	Str w = str_sub(before, 0, str_find_char(before, ' ', 0));
	bool own = str_starts(w, S("__compiled_fn_")) || str_starts(w, S("compiled_fn_"));
	return own ? w : (Str){0};
}

static void set_title(Block *b, Artifact *a, const Title *t, Str before, Str name)
{
	a->aot_id = t->aot_id;
	a->name = t->name;
	a->name_line = t->name_line;
	if (!a->name.n && before.n)
		a->name = block_keep(b, compiled_name(before));
	if (!a->name.n)
		a->name = block_keep(b, name);
	if (t->exported)
		a->tag = S("ExportedProgram");
}

/* &lt;lambda&gt; of a page's source */
static Str plain_name(Block *b, Str name)
{
	if (!str_starts(name, S("&lt;")) || !str_ends(name, S("&gt;")))
		return name;
	return str_printf(b->scratch, "<" STR_FMT ">", STR_ARG(str_sub(name, 4, name.n - 4)));
}

static Artifact *add_code(Block *b, Walk *w, uint32_t i, const Title *t, Str before, Str name)
{
	uint32_t header = t->line != NO_LINE ? t->line : i;
	w->e.from = header;
	Artifact *a = block_add(b, ART_GRAPH_CODE, header, &w->e);
	set_title(b, a, t, before, plain_name(b, name));
	a->open_end = !w->top_returned || w->where == IN_RETURN || w->where == IN_SIGNATURE ||
	              w->where == IN_META;
	a->flat = w->flat;
	a->cut_head = w->headless;
	return a;
}

static void start_walk(Block *b, Walk *w, uint32_t i, Str *before, Str *name, uint32_t *class_at)
{
	Str line = block_line(b, i), t;
	w->b = b;
	w->search = 4 * (uint64_t)b->src->text.n + 4096;
	w->e.from = i;
	w->e.end = i;
	w->class_form = fx_class_line(line, before, name, class_at);
	if (!w->class_form)
		return;
	*before = block_keep(b, *before);
	*name = block_keep(b, *name);
	w->known_class =
		fx_class_known(*name) || compiled_name(*before).n || str_has(*before, S("<eval_with_key>"));
	w->class_col = before->n ? 0 : line_indent(line, &t);
	w->first_line = true;
	w->where = IN_CLASS;
	w->e.end = i + 1;
}

uint32_t graph_cut(Block *b, uint32_t i, uint32_t floor, const Title *title)
{
	Walk w = {0};
	Str before = {0}, name = {0};
	uint32_t class_at = 0, next;
	start_walk(b, &w, i, &before, &name, &class_at);
	if (!w.class_form)
		w.where = IN_CLASS, w.first_line = true;
	if (!follow(&w, w.class_form ? i + 1 : i, &next))
		return next > i ? next : i + 1;
	if (!w.class_form)
		tree_cut(b, i, floor);
	Artifact *a = add_code(b, &w, i, title, before, name);
	if (w.class_form && !before.n && w.class_col > w.def_top && a->npieces) {
		/* behind the blanks that end the text before it */
		uint32_t src = block_offset(b, i, class_at), cut = src - a->pieces[0].src;
		a->pieces[0].src = src;
		a->pieces[0].n -= cut;
	}
	return next;
}

static bool is_return(Str t)
{
	return str_starts(t, S("return ")) || str_eq(t, S("return")) || str_eq(t, S("pass"));
}

bool graph_cut_record(Block *b)
{
	Title t = title_none;
	Walk w = {.b = b, .e = {.end = b->n}};
	uint32_t at = NO_LINE, def = NO_LINE, body = NO_LINE;
	Str before = {0}, name = {0};
	for (uint32_t i = 0; i < b->n; i++) {
		Str s;
		bool open;
		uint32_t col = line_at(&w, i, &s), class_at;
		if (!s.n)
			continue;
		Head h = at == NO_LINE ? head_of(s) : HEAD_NONE;
		if (h == HEAD_META || h == HEAD_TABLE || h == HEAD_GRAPH || h == HEAD_SIZES)
			return false;
		if (h == HEAD_TRACED) {
			t.traced = i;
		} else if (h == HEAD_NAME) {
			title_name(&t, b, head_name(s));
			t.line = i;
		} else if (h == HEAD_CLASS && at == NO_LINE) {
			fx_class_line(block_line(b, i), &before, &name, &class_at);
			before = block_keep(b, before);
			name = block_keep(b, name);
			at = i;
		} else if (def == NO_LINE && fx_def_line(s, &open)) {
			def = i;
			w.def = col;
			at = at == NO_LINE ? i : at;
		} else if (fx_line(s).kind <= FX_COMMENT) {
			if (body == NO_LINE && fx_line(s).kind != FX_COMMENT &&
			    !(s.p[0] == ')' || (def != NO_LINE && str_ends(s, S(","))))) {
				body = i;
				w.flat = def != NO_LINE && col <= w.def;
			}
			w.top_returned |= is_return(s);
		}
	}
	bool framed = t.line != NO_LINE || t.traced != NO_LINE || at != NO_LINE;
	if (at == NO_LINE && (body == NO_LINE || (!framed && !w.top_returned && b->n < 2)))
		return false;
	w.headless = at == NO_LINE || (def == NO_LINE && body != NO_LINE);
	w.where = AFTER_RETURN;
	add_code(b, &w, at != NO_LINE ? at : body, &t, before, name);
	return true;
}

/* ---- graph() ---- */

static bool is_node_line(Str t)
{
	return t.n > 1 && t.p[0] == '%' && char_is_ident((unsigned char)t.p[1]);
}

/* A node or the return within the next lines, before anything else begins. */
static bool node_comes(Block *b, uint32_t i)
{
	for (uint32_t k = i; k < b->n && k < i + LOOK_AHEAD; k++) {
		Str t;
		line_indent(block_line(b, k), &t);
		if (head_is_hard(head_of(t)))
			return false;
		if (is_node_line(t) || is_return(t))
			return true;
	}
	return false;
}

static void text_version(Artifact *a, Str node)
{
	uint32_t at = str_find(node, S("users="), 0);
	if (at < node.n && at >= 2)
		a->torch = node.p[at - 1] == '#' ? (VersionSpan){0, 200} : (VersionSpan){201, 0};
}

uint32_t graph_cut_text(Block *b, uint32_t i, const Title *title)
{
	Extent e = {.from = i, .end = i + 1};
	uint32_t nodes = 0, first = NO_LINE, k = i + 1;
	bool returned = false;
	for (; k < b->n && !returned; k++) {
		Str t;
		line_indent(block_line(b, k), &t);
		if (!t.n)
			continue;
		bool node = is_node_line(t);
		returned = is_return(t);
		if (!node && !returned) {
			if (head_is_hard(head_of(t)) || !nodes || !node_comes(b, k + 1))
				break;
			if (e.end != k || !fx_line_open(block_line(b, k - 1), false)) {
				VEC_PUSH(b->scratch, &e.gaps, ((Gap){k, k + 1}));
				continue;
			}
		}
		if (node && first == NO_LINE)
			first = k;
		nodes += node;
		e.end = k + 1;
	}
	if (!nodes && !returned)
		return i + 1;
	Artifact *a = block_add(b, ART_GRAPH_TEXT, i, &e);
	set_title(b, a, title, (Str){0}, (Str){0});
	a->open_end = !returned;
	if (first != NO_LINE)
		text_version(a, block_line(b, first));
	return e.end;
}

/* ---- tables ---- */

static bool is_row(Str t)
{
	static const Str ops[] = {STR_INIT("placeholder "),   STR_INIT("get_attr "),
	                          STR_INIT("call_function "), STR_INIT("call_method "),
	                          STR_INIT("call_module "),   STR_INIT("output "),
	                          STR_INIT("root ")};
	for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (str_starts(t, ops[i]))
			return true;
	return false;
}

/* `-------------  ------  ------  ------  --------` */
static bool is_dashes(Str t)
{
	uint32_t groups = 0;
	for (uint32_t i = 0; i < t.n; i++) {
		if (t.p[i] != '-' && t.p[i] != ' ')
			return false;
		groups += t.p[i] == '-' && (!i || t.p[i - 1] == ' ');
	}
	return groups == 5;
}

bool graph_is_table_body(Str t)
{
	return is_dashes(t) || (is_row(t) && t.p[t.n - 1] == '}' && str_has(t, S("  (")));
}

uint32_t graph_cut_table(Block *b, uint32_t i, const Title *title)
{
	Extent e = {.from = i, .end = i + 1};
	uint32_t rows = 0, foreign = 0;
	Str t;
	line_indent(block_line(b, i), &t);
	bool headless = graph_is_table_body(t), output = false;
	Str before = headless ? (Str){0} : block_keep(b, str_trim(str_sub(t, 0, str_find(t, S("opcode "), 0))));
	for (uint32_t k = i + !headless; k < b->n && !output && foreign < LOOK_AHEAD; k++) {
		line_indent(block_line(b, k), &t);
		if (!t.n) {
			if (rows)
				break;
			continue;
		}
		if (head_is_hard(head_of(t)))
			break;
		bool row = is_row(t);
		if (!row && !str_starts(t, S("---"))) {
			foreign++;
			VEC_PUSH(b->scratch, &e.gaps, ((Gap){k, k + 1}));
			continue;
		}
		output = str_starts(t, S("output "));
		foreign = 0;
		rows += row;
		e.end = k + 1;
	}
	if (!rows)
		return i + 1;
	if (title->line != NO_LINE)
		e.from = title->line;
	Artifact *a = block_add(b, ART_GRAPH_TABLE, e.from, &e);
	set_title(b, a, title, before, (Str){0});
	a->open_end = !output;
	a->cut_head = headless;
	return e.end;
}
