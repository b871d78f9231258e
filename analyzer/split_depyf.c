/* SPDX-License-Identifier: MIT */
#include "split_depyf.h"

static const Str CODE = STR_INIT("__transformed_code_"), DISPATCH = STR_INIT("transformed_"), GUARD = STR_INIT("__guard_"),
                 COMPILED = STR_INIT("__compiled_fn_"), RESUME = STR_INIT("__resume_at_"), END = STR_INIT("#============ end of ");

/* ---- functions ---- */

typedef struct Function {
	Str name;
	uint32_t at, end; /* from `def` to its last line */
} Function;

typedef VEC(Function) Functions;

static bool starts_line(Str s, uint32_t at)
{
	return !at || s.p[at - 1] == '\n';
}

/* First `def` at the beginning of a line at or behind `at`; s.n when there is none. */
static uint32_t next_def(Str s, uint32_t at)
{
	for (at = str_find(s, S("def "), at); at < s.n; at = str_find(s, S("def "), at + 1))
		if (starts_line(s, at))
			return at;
	return s.n;
}

/* Up to the next line that begins with something else than a blank or a closing bracket. */
static uint32_t function_end(Str s, uint32_t at)
{
	uint32_t end = at;
	while (end < s.n) {
		uint32_t line = str_find_char(s, '\n', end);
		Str text = str_sub(s, end, line);
		bool inside = end == at || !str_trim(text).n || text.p[0] == ' ' || text.p[0] == '\t' || text.p[0] == ')';
		if (!inside)
			break;
		end = line < s.n ? line + 1 : line;
	}
	return at + str_rtrim(str_sub(s, at, end)).n;
}

static void find_functions(Str s, Arena *a, Functions *out)
{
	for (uint32_t at = next_def(s, 0); at < s.n;) {
		uint32_t from = at + 4, to = from;
		while (to < s.n && char_is_ident((unsigned char)s.p[to]))
			to++;
		Function f = {str_sub(s, from, to), at, function_end(s, at)};
		if (f.name.n)
			VEC_PUSH(a, out, f);
		at = next_def(s, f.end > at ? f.end : at + 1);
	}
}

/* NAME of "__transformed_code_0_for_NAME". */
static Str transformed_name(Str s)
{
	uint32_t at = str_find(s, S("_for_"), 0);
	return str_starts(s, CODE) && at < s.n ? str_sub(s, at + 5, s.n) : (Str){0};
}

/* ---- names of files ---- */

static Str base_name(Str path)
{
	uint32_t at = path.n;
	while (at && path.p[at - 1] != '/')
		at--;
	return str_sub(path, at, path.n);
}

/* "__compiled_fn_2" and "Captured_Graph" of "__compiled_fn_2.Captured_Graph.0.py" */
static bool graph_file(Str path, Str *graph, Str *what)
{
	Str name = base_name(path), number;
	uint32_t n;
	return str_starts(name, COMPILED) && str_ends(name, S(".py")) && str_cut(&name, '.', graph) && str_cut(&name, '.', what) &&
	       what->n && str_cut(&name, '.', &number) && str_to_u32(number, &n) && str_eq(name, S("py"));
}

static bool has_functions(Str text)
{
	uint32_t at = str_find(text, CODE, 0);
	while (at < text.n && !(at >= 4 && str_eq(str_sub(text, at - 4, at), S("def ")) && starts_line(text, at - 4)))
		at = str_find(text, CODE, at + 1);
	return at < text.n || str_has(text, END);
}

bool depyf_is_file(const Source *s)
{
	Str graph, what;
	return (graph_file(s->path, &graph, &what) && str_has(s->text, S("(torch.nn.Module):"))) || has_functions(s->text);
}

/* As the log of the same run names it. */
static void name_graph(Artifact *a, Str graph, Str what, Arena *keep)
{
	if (str_eq(what, S("Captured_Graph"))) {
		a->name = graph;
	} else if (str_starts(what, COMPILED)) {
		a->name = what;
	} else if (str_has(what, COMPILED)) { /* pre_insert_deferred_runtime_asserts___compiled_fn_2 */
		uint32_t at = str_find(what, COMPILED, 0);
		Str pass = str_sub(what, 0, at ? at - 1 : 0);
		a->name_line = str_starts(pass, S("pre_")) ? str_printf(keep, "pre " STR_FMT " " STR_FMT, STR_ARG(str_sub(pass, 4, pass.n)),
		                                                        STR_ARG(str_sub(what, at, what.n)))
		                                           : str_printf(keep, STR_FMT " " STR_FMT, STR_ARG(pass), STR_ARG(str_sub(what, at, what.n)));
		a->name = a->name_line;
	} else {
		Buf b = {.a = keep};
		for (uint32_t i = 0; i < what.n; i++)
			buf_char(&b, what.p[i] == '_' ? ' ' : what.p[i]);
		a->name = a->name_line = str_eq(what, S("tensorify_python_scalars")) ? what : buf_str(&b);
		a->alias = graph;
	}
}

/* ---- artifacts ---- */

static void add_pieces(Artifact *a, Str s, uint32_t at, uint32_t end, Arena *keep)
{
	uint32_t n = 1;
	for (uint32_t i = at; i < end; i++)
		n += s.p[i] == '\n';
	a->pieces = NEW_N(keep, Piece, n);
	while (at < end) {
		uint32_t line = str_find_char(str_sub(s, 0, end), '\n', at);
		uint32_t last = line > at && s.p[line - 1] == '\r' ? line - 1 : line;
		a->pieces[a->npieces++] = (Piece){.src = at, .n = last - at};
		at = line + 1;
	}
}

static void add_function(Artifacts *t, const Source *src, FileId file, const Function *f, ArtifactKind kind, Str name, Str alias)
{
	uint32_t header = str_find_char(src->text, '\n', f->at);
	Artifact a = {.kind = kind, .file = file, .unit = src->unit, .at = f->at, .end = header < f->end ? header : f->end,
	              .name = name, .alias = alias, .order = t->v.n};
	add_pieces(&a, src->text, f->at, f->end, t->a);
	VEC_PUSH(t->a, &t->v, a);
}

/* The whole of a folder may hold a function twice: alone, and among the others. */
static bool told_elsewhere(const Sources *sources, const Source *src, Str name)
{
	for (uint32_t i = 1; i < sources->v.n; i++) {
		const Source *o = &sources->v.v[i];
		if (o != src && o->unit.i == src->unit.i && str_has(o->text, END)) {
			uint32_t at = str_find(o->text, name, 0);
			while (at < o->text.n && !(at >= 4 && str_eq(str_sub(o->text, at - 4, at), S("def "))))
				at = str_find(o->text, name, at + 1);
			if (at < o->text.n)
				return true;
		}
	}
	return false;
}

/* Functions by which `name` was replaced: those that its dispatcher calls, in order. */
static void add_replacements(Artifacts *t, const Source *src, FileId file, const Functions *fs, const Function *original)
{
	Str name = original->name, inner;
	uint32_t added = 0;
	for (uint32_t d = 0; d < fs->n; d++) {
		const Function *disp = &fs->v[d];
		if (!str_starts(disp->name, DISPATCH) || !str_eq(str_sub(disp->name, DISPATCH.n, disp->name.n), name))
			continue;
		Str body = str_sub(src->text, disp->at, disp->end);
		for (uint32_t i = 0; i < fs->n; i++) {
			inner = transformed_name(fs->v[i].name);
			if (!inner.n || !str_has(body, fs->v[i].name))
				continue;
			add_function(t, src, file, original, ART_PYTHON_ORIGINAL, inner, name); /* each compilation begins with it */
			add_function(t, src, file, &fs->v[i], ART_PYTHON_MODIFIED, inner, name);
			added++;
		}
	}
	if (added)
		return;
	/* never compiled; a resume function is named after the function that the file is about */
	Str outer = fs->n ? fs->v[fs->n - 1].name : name;
	if (str_starts(outer, DISPATCH))
		outer = str_sub(outer, DISPATCH.n, outer.n);
	bool resumes = str_starts(name, RESUME);
	add_function(t, src, file, original, ART_PYTHON_ORIGINAL,
	             resumes ? str_printf(t->a, "<resume in " STR_FMT ">", STR_ARG(outer)) : name, name);
}

/* Does the file show which function it replaced? */
static bool is_dispatched(Str text, const Functions *fs, Str name)
{
	for (uint32_t i = 0; i < fs->n; i++)
		if (str_starts(fs->v[i].name, DISPATCH) && str_has(str_sub(text, fs->v[i].at, fs->v[i].end), name))
			return true;
	return false;
}

static void add_functions(Artifacts *t, const Sources *sources, FileId file)
{
	const Source *src = source_get(sources, file);
	Functions fs = {0};
	Arena scratch = arena_new(t->a->budget);
	find_functions(src->text, &scratch, &fs);
	bool whole = str_has(src->text, END);
	for (uint32_t i = fs.n; i-- > 0;) { /* inner ones are printed first */
		const Function *f = &fs.v[i];
		Str inner = transformed_name(f->name);
		bool alone = inner.n && !is_dispatched(src->text, &fs, f->name);
		if (alone && (whole || !told_elsewhere(sources, src, f->name)))
			add_function(t, src, file, f, ART_PYTHON_MODIFIED, inner, (Str){0});
		else if (whole && !inner.n && !str_starts(f->name, GUARD) && !str_starts(f->name, DISPATCH) && !str_starts(f->name, COMPILED))
			add_replacements(t, src, file, &fs, f);
	}
	arena_free(&scratch);
}

void depyf_split(Artifacts *t, uint32_t from, const Sources *sources, FileId file)
{
	const Source *src = source_get(sources, file);
	Str graph, what;
	if (graph_file(src->path, &graph, &what))
		for (uint32_t i = from; i < t->v.n; i++)
			if (t->v.v[i].kind == ART_GRAPH_CODE)
				name_graph(&t->v.v[i], graph, what, t->a);
	if (has_functions(src->text))
		add_functions(t, sources, file);
}
