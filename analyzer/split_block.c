/* SPDX-License-Identifier: MIT */
#include "split_block.h"

#include "split_fx.h"
#include "split_text.h"

enum {
	BREAK_MOST = 400, /* lines of a graph break's text */
	GUARDS_MOST = 1 << 20,
	SIGNATURE_MOST = 1 << 16
};

/* ---- lines ---- */

static uint32_t piece_at(const Block *b, uint32_t line)
{
	return b->start ? b->start[line] : line;
}

static uint32_t piece_end(const Block *b, uint32_t line)
{
	return b->start ? b->start[line + 1] : line + 1;
}

static Str piece_text(const Block *b, uint32_t i)
{
	return str_sub(b->src->text, b->piece[i].src, b->piece[i].src + b->piece[i].n);
}

/* Joins and cleans a line. The text is in c->p. */
static void clean_line(Block *b, uint32_t line, Clean *c, View *v)
{
	uint64_t room = 1;
	for (uint32_t i = piece_at(b, line); i < piece_end(b, line); i++)
		room += clean_room(piece_text(b, i), c->tab);
	if (v && room <= v->cap) {
		c->p = v->buf;
	} else {
		c->p = arena_alloc(b->scratch, room);
		if (v && room < UINT32_MAX) {
			v->buf = c->p;
			v->cap = (uint32_t)room;
		}
	}
	for (uint32_t i = piece_at(b, line); i < piece_end(b, line); i++)
		clean_add(c, piece_text(b, i), b->piece[i].src, i > piece_at(b, line));
}

Str block_line(Block *b, uint32_t i)
{
	Str s = piece_text(b, piece_at(b, i));
	if (piece_end(b, i) - piece_at(b, i) == 1 && !(b->special && clean_needed(s, false)))
		return s;
	for (uint32_t k = 0; k < VIEWS; k++)
		if (b->view[k].line == i + 1)
			return b->view[k].s;
	View *v = &b->view[b->next_view++ % VIEWS];
	ArenaMark mark = arena_mark(b->scratch);
	Clean c = {.tab = CLEAN_TAB, .a = b->scratch};
	char *had = v->buf;
	clean_line(b, i, &c, v);
	if (c.p == had) /* then the segments are all that was taken */
		arena_rewind(b->scratch, mark);
	v->line = i + 1;
	v->s = (Str){c.p, c.n};
	return v->s;
}

uint32_t block_offset(Block *b, uint32_t i, uint32_t at)
{
	Str s = piece_text(b, piece_at(b, i));
	if (piece_end(b, i) - piece_at(b, i) == 1 && !(b->special && clean_needed(s, false)))
		return b->piece[piece_at(b, i)].src + (at < s.n ? at : s.n);
	Clean c = {.tab = CLEAN_TAB, .a = b->scratch};
	clean_line(b, i, &c, NULL);
	Text t = {.s = {c.p, c.n}, .seg = c.segs.v, .nseg = c.segs.n};
	return c.n ? text_offset(&t, at) : b->piece[piece_at(b, i)].src;
}

uint32_t line_indent(Str s, Str *text)
{
	uint32_t i = 0, col = 0;
	for (; i < s.n; i++) {
		if (s.p[i] == ' ')
			col++;
		else if (s.p[i] == '\t')
			col += CLEAN_TAB - col % CLEAN_TAB;
		else
			break;
	}
	if (text)
		*text = str_rtrim(str_sub(s, i, s.n));
	return col;
}

Str block_keep(Block *b, Str s)
{
	Str t = b->src->text;
	bool own = !s.n || (s.p >= t.p && s.p + s.n <= t.p + t.n);
	return own ? s : str_copy(b->out->a, s);
}

/* ---- artifacts ---- */

static bool in_gap(const Extent *e, uint32_t *gap, uint32_t line)
{
	while (*gap < e->gaps.n && e->gaps.v[*gap].end <= line)
		++*gap;
	return *gap < e->gaps.n && e->gaps.v[*gap].from <= line;
}

static bool is_empty_line(Block *b, uint32_t i)
{
	return !str_trim(block_line(b, i)).n;
}

static void copy_pieces(Block *b, Artifact *a, const Extent *e, uint32_t end)
{
	uint32_t n = 0, gap = 0;
	for (uint32_t i = e->from; i < end; i++)
		n += in_gap(e, &gap, i) ? 0 : piece_end(b, i) - piece_at(b, i);
	a->pieces = NEW_N(b->out->a, Piece, n);
	gap = 0;
	for (uint32_t i = e->from; i < end; i++) {
		if (in_gap(e, &gap, i))
			continue;
		for (uint32_t k = piece_at(b, i); k < piece_end(b, i); k++) {
			a->pieces[a->npieces] = b->piece[k];
			a->pieces[a->npieces++].joins = k > piece_at(b, i);
		}
	}
}

/* The text of a line in the source, without blanks around it. */
static void set_place(Block *b, Artifact *a, uint32_t line)
{
	Str s = block_line(b, line), t = str_trim(s);
	uint32_t at = t.n ? (uint32_t)(t.p - s.p) : 0;
	a->at = block_offset(b, line, at);
	a->end = t.n ? block_offset(b, line, at + t.n - 1) + 1 : a->at;
	if (a->end < a->at)
		a->end = a->at;
}

Artifact *block_add(Block *b, ArtifactKind kind, uint32_t header, const Extent *e)
{
	Artifact a = {.kind = kind, .file = b->file, .unit = b->src->unit};
	uint32_t end = e->end;
	while (end > e->from + 1 && is_empty_line(b, end - 1))
		end--;
	/* the prefix of a first line belongs to what begins there, or one line on: TRACED GRAPH
	 * stands before its graph */
	Str first;
	line_indent(block_line(b, 0), &first);
	bool own = b->whole || header == 0 || (header <= 2 && head_of(first) == HEAD_TRACED);
	a.prefix = own ? b->mark.style : PREFIX_NONE;
	if (own) {
		a.tag = block_keep(b, b->mark.tag);
		Str trace = b->mark.trace;
		uint32_t cut = str_find_char(trace, '_', 0);
		str_to_u32(str_sub(trace, cut + 1, trace.n), &a.attempt);
		a.compile_id = block_keep(b, str_sub(trace, 0, cut));
	}
	set_place(b, &a, header);
	copy_pieces(b, &a, e, end);
	VEC_PUSH(b->out->a, &b->out->v, a);
	return &b->out->v.v[b->out->v.n - 1];
}

/* ---- heads ---- */

static Head head_by_word(Str s)
{
	static const struct {
		Head head;
		Str text;
		bool whole;
	} heads[] = {
#define HEAD(id, text, whole) {HEAD_##id, STR_INIT(text), whole},
#include "heads.def"
#undef HEAD
	};
	for (uint32_t i = 0; i < sizeof heads / sizeof *heads; i++)
		if (s.p[0] == heads[i].text.p[0] &&
		    (heads[i].whole ? str_eq(s, heads[i].text) : str_starts(s, heads[i].text)))
			return heads[i].head;
	return HEAD_NONE;
}

Str head_name(Str s)
{
	char c = s.p[0];
	while (s.n && s.p[0] == c)
		s = str_sub(s, 1, s.n);
	while (s.n && s.p[s.n - 1] == c)
		s.n--;
	return str_trim(s);
}

Head head_of(Str s)
{
	Str before, name;
	uint32_t at;
	bool open;
	if (!s.n)
		return HEAD_NONE;
	switch (s.p[0]) {
	case '=':
		return (str_starts(s, S("===== ")) && str_ends(s, S(" ====="))) ||
		               (str_starts(s, S("====== ")) && str_ends(s, S(" ======")))
		           ? HEAD_NAME
		           : HEAD_NONE;
	case '-': return str_starts(s, S("---")) && str_ends(s, S(" graph---")) ? HEAD_DDP : HEAD_NONE;
	case '%':
	case ' ': return HEAD_NONE;
	case 'T':
	case 'G':
	case 'R':
	case '(':
	case 'a':
	case 'O':
	case 'E':
	case 'M':
	case 'W':
	case 'U':
	case '#':
	case '`':
	case '~': {
		if (code_is_header(s))
			return HEAD_BYTECODE;
		Head h = head_by_word(s);
		if (h || s.p[0] == '#')
			return h;
		break;
	}
	case 'g':
		if (str_starts(s, S("graph(")) && str_ends(s, S("):")))
			return HEAD_GRAPH;
		break;
	case 'd': return fx_def_line(s, &open) ? HEAD_DEF : head_by_word(s);
	default: break;
	}
	char last = s.p[s.n - 1];
	if (last == ':')
		return fx_class_line(s, &before, &name, &at) ? HEAD_CLASS : HEAD_NONE;
	if (last == 's' && str_ends(s, S(" kwargs"))) {
		uint32_t op = str_find(s, S("opcode "), 0);
		bool first = op < s.n && (!op || s.p[op - 1] == ' ') &&
		             str_starts(str_ltrim(str_sub(s, op + 7, s.n)), S("name "));
		return first ? HEAD_TABLE : HEAD_NONE;
	}
	return HEAD_NONE;
}

bool head_is_hard(Head h)
{
	return h != HEAD_NONE && h != HEAD_CLASS && h != HEAD_DEF && h != HEAD_SIDE &&
	       h != HEAD_OUTPUT_PATH && h != HEAD_ARGS && h != HEAD_AOT_ID;
}

TagRole tag_role(Str tag)
{
	static const struct {
		Str tag;
		TagRole role;
	} tags[] = {
#define SPLIT_TAG(tag, role) {STR_INIT(tag), TAG_##role},
#include "split_tags.def"
#undef SPLIT_TAG
	};
	for (uint32_t i = 0; i < sizeof tags / sizeof *tags; i++)
		if (str_eq(tag, tags[i].tag))
			return tags[i].role;
	return TAG_ANY;
}

const Title title_none = {NO_LINE, NO_LINE, {0}, {0}, 0, false};

void title_name(Title *t, Block *b, Str text)
{
	uint32_t blank = str_rfind(text, S(" "));
	Str last = blank < text.n ? str_sub(text, blank + 1, text.n) : text;
	bool compiled = str_starts(last, S("__compiled_fn_")) || str_starts(last, S("compiled_fn_"));
	t->name = block_keep(b, compiled ? last : text);
	t->name_line = compiled && last.n < text.n ? block_keep(b, text) : (Str){0};
	bool aot = str_starts(text, S("Forward")) || str_starts(text, S("Backward")) ||
	           str_starts(text, S("Joint"));
	if (aot && last.n < 10 && str_to_u32(last, &t->aot_id))
		t->aot_id++;
}

/* ---- small artifacts of free text ---- */

static Head head_at(Block *b, uint32_t i, Str *t, uint32_t *col)
{
	*col = line_indent(block_line(b, i), t);
	return head_of(*t);
}

/* "__compiled_fn_0 <eval_with_key>.1" alone, before a table of August 2022. */
static bool is_graph_name(Str t)
{
	uint32_t blank = str_find_char(t, ' ', 0);
	return str_starts(t, S("__compiled_fn_")) &&
	       str_starts(str_sub(t, blank + 1, t.n), S("<eval_with_key>"));
}

/* Lines up to the next header, or up to the line for which `until` says so. */
typedef struct Span2 {
	Block *b;
	uint32_t from;
	bool seen; /* of the functions below: what has to come before the end */
} Span2;

static uint32_t lines_until(Block *b, uint32_t i, uint32_t most,
                            bool (*ends)(Span2 *s, Str line, Str t, uint32_t col))
{
	Span2 s = {b, i, false};
	uint32_t k = i + 1;
	for (; k < b->n && k - i < most; k++) {
		Str t;
		uint32_t col;
		Head h = head_at(b, k, &t, &col);
		if ((head_is_hard(h) && !(h == HEAD_GUARDS && k <= i + 2)) || h == HEAD_CLASS ||
		    is_graph_name(t))
			break;
		if (ends(&s, block_line(b, k), t, col))
			break;
	}
	return k;
}

/* A record whose lines all have the prefix ends where they end. */
static uint32_t lines_of(Block *b, uint32_t i, uint32_t most,
                         bool (*ends)(Span2 *s, Str line, Str t, uint32_t col))
{
	return b->whole ? b->n : lines_until(b, i, most, ends);
}

/* 2022: " - ", lines with 12 blanks; 2.1: one expression a line; 2.4 and later: "+- KIND: ..."
 * below "| ". */
static bool guards_end(Span2 *s, Str line, Str t, uint32_t col)
{
	if (!t.n)
		return s->seen && !col;
	s->seen = str_eq(t, S("TREE_GUARD_MANAGER:")) ? s->seen : true;
	return line.n && (str_starts(t, S("skipping ")) || str_starts(t, S("TRACE ")));
}

static bool break_end(Span2 *s, Str line, Str t, uint32_t col)
{
	(void)line;
	(void)col;
	if (!t.n)
		return s->seen;
	s->seen |= str_starts(t, S("File \""));
	return false;
}

static bool indented_end(Span2 *s, Str line, Str t, uint32_t col)
{
	(void)s;
	(void)line;
	return t.n && col < 4;
}

static bool sizes_end(Span2 *s, Str line, Str t, uint32_t col)
{
	(void)s;
	(void)line;
	(void)col;
	return !t.n;
}

static bool output_end(Span2 *s, Str line, Str t, uint32_t col)
{
	(void)s;
	(void)line;
	(void)col;
	return str_starts(t, S("Output code written to: "));
}

static bool signature_end(Span2 *s, Str line, Str t, uint32_t col)
{
	(void)s;
	(void)line;
	(void)col;
	return str_starts(t, S("Range constraints:")) || str_starts(t, S("Symbol to range:")) ||
	       str_starts(t, S("Equality constraints:"));
}

/* The brackets of "GraphSignature(" close where a line at the margin ends. */
static bool constructor_end(Span2 *s, Str line, Str t, uint32_t col)
{
	(void)s;
	(void)line;
	return !t.n || (!col && !str_starts(t, S(")")));
}

/* The lines of load_args stand deeper than its def; a list of arguments ends in its line. */
static uint32_t args_end(Block *b, uint32_t i)
{
	Str t;
	uint32_t col = line_indent(block_line(b, i), &t), end = i + 1;
	if (t.n && t.p[0] != 'd')
		return end;
	for (uint32_t k = i + 1; k < b->n && k - i < GUARDS_MOST; k++) {
		uint32_t deep = line_indent(block_line(b, k), &t);
		if (t.n && deep <= col)
			break;
		if (t.n)
			end = k + 1;
	}
	return end;
}

/* "FILE:12", "FILE:12, ..." behind the last "at " or "in ". */
static void set_code_place(Block *b, Artifact *a, Str text)
{
	uint32_t colon = text.n, end;
	while (colon && text.p[colon - 1] >= '0' && text.p[colon - 1] <= '9')
		colon--;
	end = text.n;
	if (colon == end || !colon || text.p[colon - 1] != ':')
		return;
	str_to_u32(str_sub(text, colon, end), &a->code_line);
	a->code_file = block_keep(b, str_sub(text, 0, colon - 1));
}

static void name_break(Block *b, Artifact *a, Str t)
{
	static const Str in_code = STR_INIT(" in user code at ");
	uint32_t at = str_find(t, in_code, 0);
	if (at < t.n)
		set_code_place(b, a, str_sub(t, at + in_code.n, t.n));
}

/* Recompiling function rec in F:L; ('Recompiling function rec in F:L', "...") */
static void name_recompile(Block *b, Artifact *a, Str t)
{
	static const Str word = STR_INIT("Recompiling function ");
	t = str_sub(t, str_find(t, word, 0) + word.n, t.n);
	uint32_t in = str_find(t, S(" in "), 0), end = str_find(t, S("'"), 0);
	a->name = block_keep(b, str_sub(t, 0, in));
	if (in < t.n)
		set_code_place(b, a, str_sub(t, in + 4, end));
}

static void name_metadata(Artifact *a, Str t)
{
	uint32_t from = (uint32_t)sizeof "aot_config id: " - 1, end = from;
	while (end < t.n && t.p[end] >= '0' && t.p[end] <= '9')
		end++;
	if (str_to_u32(str_sub(t, from, end), &a->aot_id) && a->aot_id < UINT32_MAX)
		a->aot_id++;
}

static uint32_t add_lines(Block *b, ArtifactKind kind, uint32_t i, uint32_t end, Artifact **out)
{
	Extent e = {.from = i, .end = end};
	*out = block_add(b, kind, i, &e);
	return end;
}

static uint32_t cut_signature(Block *b, uint32_t i, const Title *title, Artifact **a)
{
	Str t;
	line_indent(block_line(b, i), &t);
	bool block = str_eq(t, S("Graph signature:")) || str_eq(t, S("Graph Signature:"));
	bool inside = title->exported || str_starts(t, S("Graph "));
	uint32_t end =
		b->whole ? b->n
				 : lines_until(b, i, SIGNATURE_MOST, inside ? signature_end : constructor_end);
	if (inside && !b->whole && end == b->n && !block)
		end = i + 1;
	add_lines(b, ART_EXPORT_SIGNATURE, i, end, a);
	(*a)->tag = S("ExportedProgram");
	return end;
}

/* One that needs no look at what is inside. */
static uint32_t cut_plain(Block *b, Head h, uint32_t i, const Title *title)
{
	Artifact *a;
	uint32_t end;
	Str t;
	switch (h) {
	case HEAD_GUARDS:
		return add_lines(b, ART_GUARDS, i, lines_of(b, i, GUARDS_MOST, guards_end), &a);
	case HEAD_BREAK:
		end = add_lines(b, ART_GRAPH_BREAK, i, lines_of(b, i, BREAK_MOST, break_end), &a);
		line_indent(block_line(b, i), &t);
		name_break(b, a, t);
		return end;
	case HEAD_RECOMPILE:
		end = add_lines(b, ART_RECOMPILE, i, lines_of(b, i, BREAK_MOST, indented_end), &a);
		line_indent(block_line(b, i), &t);
		name_recompile(b, a, t);
		return end;
	case HEAD_META:
		end = add_lines(b, ART_AOT_METADATA, i, b->whole ? b->n : i + 1, &a);
		line_indent(block_line(b, i), &t);
		name_metadata(a, t);
		return end;
	case HEAD_ARGS: return add_lines(b, ART_REPRO_ARGS, i, args_end(b, i), &a);
	case HEAD_OUTPUT:
	case HEAD_AOT_ID:
		return add_lines(b, ART_OUTPUT_CODE, i, lines_of(b, i, GUARDS_MOST, output_end), &a);
	case HEAD_SIGNATURE: return cut_signature(b, i, title, &a);
	case HEAD_SIDE:
		return add_lines(b, ART_SIDE_EFFECTS, i, lines_of(b, i, BREAK_MOST, indented_end), &a);
	default: return i + 1;
	}
}

static uint32_t cut_sizes(Block *b, uint32_t i)
{
	Artifact *a;
	Str t;
	uint32_t col, name = i + 1;
	Title title = title_none;
	if (name < b->n && head_at(b, name, &t, &col) == HEAD_NAME)
		title_name(&title, b, head_name(t));
	else
		name = i;
	uint32_t end = add_lines(b, ART_GRAPH_SIZES, i, lines_of(b, name, GUARDS_MOST, sizes_end), &a);
	a->name = title.name;
	a->name_line = title.name_line;
	return end;
}

/* ---- the loop ---- */

/* "# inputs" of a printed signature, alone in a file. */
static bool is_signature_start(Block *b, uint32_t i, Str t)
{
	static const Str kinds[] = {STR_INIT("PARAMETER"),       STR_INIT("BUFFER"),
	                            STR_INIT("CONSTANT_TENSOR"), STR_INIT("USER_INPUT"),
	                            STR_INIT("CUSTOM_OBJ"),      STR_INIT("TOKEN")};
	if (!str_eq(t, S("# inputs")) || i + 1 >= b->n)
		return false;
	Str next;
	line_indent(block_line(b, i + 1), &next);
	uint32_t colon = str_find(next, S(": "), 0);
	for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (colon < next.n && str_starts(str_sub(next, colon + 2, next.n), kinds[k]))
			return true;
	return false;
}

static bool never(Span2 *s, Str line, Str t, uint32_t col)
{
	(void)s;
	(void)line;
	(void)t;
	(void)col;
	return false;
}

static uint32_t cut_other(Block *b, uint32_t i, Str t, Title *title)
{
	Str op;
	Artifact *a;
	bool exported = title->exported;
	if (graph_is_table_body(t)) {
		uint32_t end = graph_cut_table(b, i, title);
		*title = title_none;
		return end;
	}
	*title = title_none;
	if (is_graph_name(t)) {
		title_name(title, b, str_sub(t, 0, str_find_char(t, ' ', 0)));
		title->line = i;
		return i + 1;
	}
	if (is_signature_start(b, i, t)) {
		uint32_t end =
			add_lines(b, ART_EXPORT_SIGNATURE, i, lines_until(b, i, SIGNATURE_MOST, never), &a);
		a->tag = S("ExportedProgram");
		return end;
	}
	title->exported = exported;
	if (code_is_instruction(t, &op)) {
		uint32_t end = code_cut(b, i);
		return end;
	}
	return i + 1;
}

/* A header that names what follows, or begins it. */
static uint32_t cut_head(Block *b, Head h, uint32_t i, Str t, uint32_t floor, Title *title)
{
	uint32_t end;
	switch (h) {
	case HEAD_TRACED:
		*title = title_none;
		title->traced = i;
		return i + 1;
	case HEAD_NAME:
	case HEAD_DDP:
		title_name(title, b, head_name(t));
		title->line = h == HEAD_NAME ? i : NO_LINE;
		return i + 1;
	case HEAD_EXPORT:
		*title = title_none;
		title->exported = true;
		return i + 1;
	case HEAD_SIZES: end = cut_sizes(b, i); break;
	case HEAD_BYTECODE: end = code_cut(b, i); break;
	case HEAD_CLASS:
	case HEAD_DEF:
		end = graph_cut(b, i, floor, title);
		if (title->exported) { /* its signature follows */
			*title = title_none;
			title->exported = true;
			return end;
		}
		break;
	case HEAD_GRAPH: end = graph_cut_text(b, i, title); break;
	case HEAD_TABLE: end = graph_cut_table(b, i, title); break;
	default: end = cut_plain(b, h, i, title); break;
	}
	*title = title_none;
	return end;
}

void block_scan(Block *b)
{
	Title title = b->title;
	uint32_t floor = 0, i = 0;
	while (i < b->n) {
		Str t;
		uint32_t col;
		Head h = head_at(b, i, &t, &col);
		if (!t.n) {
			i++;
			continue;
		}
		uint32_t from = i;
		i = h ? cut_head(b, h, i, t, floor, &title) : cut_other(b, i, t, &title);
		ASSERT(i > from);
		if (h == HEAD_CLASS || h == HEAD_DEF || i > from + 1)
			floor = i;
	}
	b->title = title;
	b->title.line = b->title.traced = NO_LINE;
}

/* A record whose first lines are missing, of a kind that needs no header to be known. */
static bool cut_headless(Block *b, TagRole role)
{
	Str t = {0};
	uint32_t i = 0;
	for (; i < b->n && !t.n; i++)
		line_indent(block_line(b, i), &t);
	Head h = head_of(t);
	if (!t.n || h == HEAD_OUTPUT_PATH || h == (role == TAG_OUTPUT ? HEAD_OUTPUT : HEAD_GUARDS))
		return false;
	Artifact *a;
	add_lines(b, role == TAG_OUTPUT ? ART_OUTPUT_CODE : ART_GUARDS, i - 1, b->n, &a);
	a->cut_head = true;
	return true;
}

void block_cut(Block *b)
{
	if (b->mark.style == PREFIX_TRACE) {
		trace_cut(b);
		return;
	}
	TagRole role = b->whole && b->mark.artifact ? tag_role(b->mark.tag) : TAG_ANY;
	if (role == TAG_SKIP || (role == TAG_GRAPH && graph_cut_record(b)))
		return;
	if ((role == TAG_OUTPUT || role == TAG_GUARDS) && cut_headless(b, role))
		return;
	block_scan(b);
}
