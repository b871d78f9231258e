/* SPDX-License-Identifier: MIT
 * The nn.Module repr at the top of print(gm): Module.__repr__ in torch/nn/modules/module.py, the
 * same in PyTorch 1.8 to 2.15; since 2.0 equal neighbours of a ModuleList stand in one line.
 *
 *  GraphModule(
 *    (lin): Linear(in_features=4, out_features=4, bias=True)
 *    (seq): Module(
 *      (0-1): 2 x Conv2d(3, 4, kernel_size=(1, 1), stride=(1, 1))
 *    )
 *  )
 * / */
#include "read.h"

enum {
	DEEPEST = 256,
	LONGEST_PATH = 512, /* bytes */
	MOST_COPIES = 1 << 17 /* paths beyond one a line that all lines of a tree may stand for */
};

/* A module whose children are being read. */
typedef struct Level {
	Sym *paths; /* where it stands; several for equal neighbours, none at the root */
	uint32_t n;
} Level;

typedef struct TreeReader {
	Reader *r;
	ArtifactId id;
	const Text *text;
	Level open[DEEPEST];
	uint32_t depth;
	uint32_t lost; /* levels open whose modules are not taken: too deep or too many */
	uint32_t nesting;
	uint32_t copies; /* paths made so far beyond one a line */
	bool begun; /* the root was seen */
} TreeReader;

/* `(name): Class(constructor`, `(0-3): 4 x Class(` */
typedef struct TreeLine {
	Str name, cls, ctor;
	uint32_t first, copies; /* of `0-3`; copies 0: one module */
	bool opens; /* children follow, or the constructor goes on */
} TreeLine;

static uint32_t digits_end(Str s, uint32_t i)
{
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i;
}

/* `0-3` behind which `4 x ` stands: first and number; false for an ordinary name. */
static bool read_range(Str name, Str *rest, TreeLine *l)
{
	uint32_t x = digits_end(*rest, 0), dash = digits_end(name, 0), last;
	if (!x || !dash || dash == name.n || name.p[dash] != '-' ||
	    !str_starts(str_sub(*rest, x, rest->n), S(" x ")))
		return false;
	if (!str_to_u32(str_sub(*rest, 0, x), &l->copies) ||
	    !str_to_u32(str_sub(name, 0, dash), &l->first) ||
	    !str_to_u32(str_sub(name, dash + 1, name.n), &last) || last < l->first ||
	    last - l->first + 1 != l->copies)
		return false;
	*rest = str_sub(*rest, x + 3, rest->n);
	return true;
}

/* Is the bracket that s begins inside of closed at its end? Quotes hide brackets. */
static bool closes_at_end(Str s)
{
	uint32_t depth = 1;
	for (uint32_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '\'' || c == '"') {
			uint32_t end = str_find_char(s, c, i + 1);
			i = end < s.n ? end : i;
		} else if (c == '(') {
			depth++;
		} else if (c == ')' && --depth == 0) {
			return i + 1 == s.n;
		}
	}
	return false;
}

static uint32_t class_end(Str s)
{
	uint32_t i = 0;
	while (i < s.n && (char_is_ident((unsigned char)s.p[i]) || s.p[i] == '.' || s.p[i] == '<' ||
	                   s.p[i] == '>'))
		i++;
	return i;
}

static bool read_class(Str rest, TreeLine *l)
{
	uint32_t end = class_end(rest);
	if (!end || end == rest.n || rest.p[end] != '(')
		return false;
	l->cls = str_sub(rest, 0, end);
	l->ctor = str_sub(rest, end + 1, rest.n);
	l->opens = !closes_at_end(l->ctor);
	if (!l->opens)
		l->ctor.n--;
	return true;
}

static bool read_child(Str line, TreeLine *l)
{
	if (!str_starts(line, S("(")))
		return false;
	uint32_t close = str_find(line, S("): "), 1);
	if (close == line.n || close == 1)
		return false;
	l->name = str_sub(line, 1, close);
	Str rest = str_sub(line, close + 3, line.n);
	if (!read_range(l->name, &rest, l))
		l->copies = 0;
	return read_class(rest, l);
}

static Sym child_path(TreeReader *t, Sym parent, Str name)
{
	Names *names = t->r->program->names;
	if (sym_none(parent))
		return sym_intern(names, name);
	return sym_intern(names, str_printf(t->r->scratch, STR_FMT "." STR_FMT,
	                                    STR_ARG(sym_str(names, parent)), STR_ARG(name)));
}

/* Paths of a line: every copy under every copy of what holds it. None when that is too much. */
static Level child_level(TreeReader *t, const TreeLine *l)
{
	const Level *up = t->depth ? &t->open[t->depth - 1] : NULL;
	uint32_t parents = up && up->n ? up->n : 1, copies = l->copies ? l->copies : 1;
	Level level = {0};
	uint32_t longest = up && up->n ? sym_str(t->r->program->names, up->paths[0]).n : 0;
	if ((uint64_t)parents * copies - 1 > MOST_COPIES - t->copies ||
	    (uint64_t)longest + l->name.n > LONGEST_PATH)
		return level;
	t->copies += parents * copies - 1;
	level.paths = NEW_N(t->r->scratch, Sym, (size_t)parents * copies);
	for (uint32_t p = 0; p < parents; p++) {
		Sym parent = up && up->n ? up->paths[p] : (Sym){0};
		for (uint32_t c = 0; c < copies; c++) {
			Str name = l->copies ? str_printf(t->r->scratch, "%u", l->first + c) : l->name;
			level.paths[level.n++] = child_path(t, parent, name);
		}
	}
	return level;
}

static void unread(TreeReader *t, uint32_t at, uint32_t end, const char *why)
{
	diag_unread(t->r->diags, text_span(t->text, at, end), "%s", why);
}

static void add_modules(TreeReader *t, const TreeLine *l, const Level *level)
{
	Program *p = t->r->program;
	for (uint32_t i = 0; i < level->n; i++) {
		ModuleClass m = {.path = level->paths[i],
		                 .cls = sym_intern(p->names, l->cls),
		                 .ctor = sym_intern(p->names, str_trim(l->ctor)),
		                 .file = t->text->file,
		                 .artifact = t->id};
		VEC_PUSH(p->a, &p->modules, m);
	}
}

static void close_level(TreeReader *t)
{
	if (t->lost)
		t->lost--;
	else if (t->depth)
		t->depth--;
}

/* A line of the repr; `at` is its place. Lines of other forms are the rest of a constructor, or no
 * part of the repr. */
static void read_line(TreeReader *t, Str line, uint32_t at)
{
	TreeLine l = {0};
	if (str_eq(line, S(")"))) {
		close_level(t);
		return;
	}
	if (t->depth ? !read_child(line, &l) : !read_class(line, &l))
		return;
	t->begun = true;
	if (t->lost) {
		t->lost += l.opens;
		return;
	}
	Level level = {0};
	const char *why = NULL;
	if (t->depth) {
		level = child_level(t, &l);
		add_modules(t, &l, &level);
		if (!level.n)
			why = "a line of the module tree with more or longer paths than graphlint reads";
	}
	if (l.opens && !why && t->depth == t->nesting)
		why = "modules nest deeper than the limit; what is inside was not read";
	if (why)
		unread(t, at, at + line.n, why);
	if (l.opens && why)
		t->lost++;
	else if (l.opens)
		t->open[t->depth++] = level;
}

void read_module_tree(Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	(void)art;
	TreeReader t = {.r = r, .id = id, .text = text};
	t.nesting = r->cfg->limits.nesting < DEEPEST ? (uint32_t)r->cfg->limits.nesting : DEEPEST;
	for (uint32_t at = 0, next; at < text->s.n; at = next) {
		uint32_t end = str_find_char(text->s, '\n', at);
		next = end < text->s.n ? end + 1 : text->s.n;
		Str line = str_sub(text->s, at, end), body = str_trim(line);
		read_line(&t, body, at + (uint32_t)(body.n ? body.p - line.p : 0));
		if (t.begun && !t.depth)
			return;
	}
}
