/* SPDX-License-Identifier: MIT */
#include "embedded.h"
#include "nearest.h"
#include "shapes.h"

/* Modules whose functions stand in the table by their bare name. Other modules (torch.masked, ...)
 * have functions of the same names that do something else. */
static const struct {
	Str prefix,
		row; /* row: what stands before the name in rows that are meant for this module alone */
} modules[] = {
	{STR_INIT("torch.nn.functional."), STR_INIT("nn.functional.")},
	{STR_INIT("torch._C._nn."), STR_INIT("nn.functional.")},
	{STR_INIT("torch.functional."), STR_INIT("")},
	{STR_INIT("torch._C._linalg."), STR_INIT("")},
	{STR_INIT("torch._C._special."), STR_INIT("")},
	{STR_INIT("torch._C._fft."), STR_INIT("")},
	{STR_INIT("torch._C._autograd."), STR_INIT("")},
	{STR_INIT("torch._VF."), STR_INIT("")},
	{STR_INIT("torch._C._VariableFunctions."), STR_INIT("")},
	{STR_INIT("torch."), STR_INIT("")},
};

static bool has_dot(Str s)
{
	return str_find_char(s, '.', 0) < s.n;
}

static bool after_prefix(Str s, Str prefix, Str *rest)
{
	if (!str_starts(s, prefix))
		return false;
	*rest = str_sub(s, prefix.n, s.n);
	return true;
}

/* torch_Tensor_set_, torch.Tensor.set_, torch._tensor.Tensor.set_: methods printed as functions. */
static bool method_name(Str target, Str *name)
{
	return after_prefix(target, S("torch.Tensor."), name) ||
	       after_prefix(target, S("torch_Tensor_"), name) ||
	       after_prefix(target, S("torch._tensor."), name);
}

/* wrapped_getitem_1: a further function object of the same name. */
static Str without_number(Str name)
{
	uint32_t n = name.n;
	while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	return n && n < name.n && name.p[n - 1] == '_' ? str_sub(name, 0, n - 1) : name;
}

static Str function_name(Str target, Family *family)
{
	Str rest;
	if (after_prefix(target, S("torch.ops."), &rest)) {
		*family = str_starts(rest, S("higher_order.")) ? FAM_HOP : FAM_DISPATCH;
		after_prefix(rest, S("higher_order."), &rest);
		after_prefix(rest, S("aten."), &rest);
		return rest;
	}
	if (method_name(target, &rest)) {
		*family = FAM_METHOD;
		return rest;
	}
	if (after_prefix(target, S("torch__dynamo_utils_wrapped_"), &rest)) {
		*family = FAM_NUMPY;
		return without_number(rest);
	}
	*family = FAM_TORCH;
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
		if (after_prefix(target, modules[i].prefix, &rest) && !has_dot(rest))
			return rest;
	*family = FAM_BUILTIN;
	return target;
}

Str shapes_name(Callee callee, Str target, Family *family)
{
	switch (callee) {
	case CALLEE_METHOD: *family = FAM_METHOD; return target;
	case CALLEE_ATTR: *family = FAM_ATTR; return target;
	case CALLEE_OPERATOR: *family = FAM_OPERATOR; return target;
	case CALLEE_MODULE: *family = FAM_MODULE; return target;
	case CALLEE_FUNCTION: return function_name(target, family);
	default: *family = FAM_NONE; return target;
	}
}

/* ---- looking up ---- */

static uint64_t row_key(Family family, Str name)
{
	return hash_bytes(hash_u64((uint64_t)family + 1), name.p, name.n);
}

static const ShapeRow *find_in(const Shapes *s, Family family, Str name)
{
	uint32_t i = map_get(&s->first, row_key(family, name));
	return i && str_eq(s->rows.v[i].name, name) ? &s->rows.v[i] : NULL;
}

static bool family_joins(Family f)
{
	return f == FAM_METHOD || f == FAM_ATTR || f == FAM_OPERATOR || f == FAM_TORCH ||
	       f == FAM_DISPATCH;
}

static const ShapeRow *find_name(const Shapes *s, Family family, Str name)
{
	const ShapeRow *r = find_in(s, family, name);
	return r || !family_joins(family) ? r : find_in(s, FAM_NONE, name);
}

/* The row for functions of this very module, such as nn.functional.softmax. */
static const ShapeRow *find_module_row(const Shapes *s, Str target)
{
	char name[64];
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
		Str own = modules[i].row, rest;
		if (!own.n || !after_prefix(target, modules[i].prefix, &rest) ||
		    own.n + rest.n > sizeof name)
			continue;
		memcpy(name, own.p, own.n);
		memcpy(name + own.n, rest.p, rest.n);
		return find_in(s, FAM_TORCH, (Str){name, own.n + rest.n});
	}
	return NULL;
}

const ShapeRow *shapes_find(const Shapes *s, Callee callee, Str target)
{
	Family family;
	Str name = shapes_name(callee, target, &family);
	const ShapeRow *r = family == FAM_TORCH ? find_module_row(s, target) : NULL;
	if (!r)
		r = find_name(s, family, name);
	uint32_t dot = str_rfind(name, S("."));
	if (!r && family == FAM_DISPATCH && dot < name.n)
		r = find_name(s, family, str_sub(name, 0, dot));
	return r;
}

/* ---- reading ---- */

typedef struct Loader {
	Shapes *s;
	Arena *a;
	Names *names;
	Str path, line;
	uint32_t lineno;
	Buf *errors;
	bool failed;
} Loader;

static void fault(Loader *l, Str at, const char *what, const Nearest *near)
{
	uint32_t col =
		at.p >= l->line.p && at.p <= l->line.p + l->line.n ? (uint32_t)(at.p - l->line.p) : 0;
	buf_printf(l->errors, STR_FMT ":%u:%u: %s '" STR_FMT "'", STR_ARG(l->path), l->lineno, col + 1,
	           what, STR_ARG(at));
	if (near)
		nearest_say(near, l->errors);
	buf_char(l->errors, '\n');
	l->failed = true;
}

/* Index of a word in a list; a fault and 0 when it is not there. */
static uint32_t word_index(Loader *l, Str word, const Str *words, uint32_t n, const char *what)
{
	Nearest near = nearest_to(word);
	for (uint32_t i = 0; i < n; i++) {
		if (str_eq(words[i], word))
			return i;
		nearest_try(&near, words[i]);
	}
	fault(l, word, what, &near);
	return 0;
}

static const Str role_words[] = {
#define SHAPE_ROLE(id, word) STR_INIT(word),
#include "shape_roles.def"
#undef SHAPE_ROLE
};
static const Str shape_words[] = {
#define SHAPE_RULE(id, word, kind, fn) STR_INIT(word),
#include "shape_rules.def"
#undef SHAPE_RULE
};
static const Str dtype_words[] = {
#define DTYPE_RULE(id, word) STR_INIT(word),
#include "dtype_rules.def"
#undef DTYPE_RULE
};
static const Str layout_words[] = {
#define LAYOUT(id, word) STR_INIT(word),
#include "layouts.def"
#undef LAYOUT
#define SHAPE_LAYOUT(id, word) STR_INIT(word),
#include "shape_layouts.def"
#undef SHAPE_LAYOUT
};

static uint8_t need_of(Loader *l, Str word)
{
	static const Str words[] = {STR_INIT(""), STR_INIT("t"), STR_INIT("n"), STR_INIT("d"),
	                            STR_INIT("b")};
	return (uint8_t)word_index(l, word, words, sizeof words / sizeof *words, "unknown condition");
}

/* role=keyword:need!... */
static ShapeParam param_of(Loader *l, Str word, bool keyword_only)
{
	ShapeParam p = {.keyword_only = keyword_only};
	if (str_ends(word, S("..."))) {
		p.variadic = true;
		word = str_sub(word, 0, word.n - 3);
	}
	if (str_ends(word, S("!"))) {
		p.given = true;
		word = str_sub(word, 0, word.n - 1);
	}
	uint32_t colon = str_find_char(word, ':', 0);
	if (colon < word.n)
		p.need = need_of(l, str_sub(word, colon + 1, word.n));
	word = str_sub(word, 0, colon);
	uint32_t eq = str_find_char(word, '=', 0);
	Str role = str_sub(word, 0, eq);
	p.role = (uint8_t)word_index(l, role, role_words, SR_N, "unknown role");
	Str keyword = eq < word.n ? str_sub(word, eq + 1, word.n) : role;
	if (!str_eq(keyword, role_words[SR_NONE]))
		p.keyword = sym_intern(l->names, keyword);
	return p;
}

static void params_of(Loader *l, Str list, ShapeRow *row)
{
	ShapeParam p[SHAPE_PARAMS_MOST];
	uint32_t n = 0;
	bool keyword_only = false;
	Str word;
	while (str_cut(&list, ' ', &word)) {
		if (str_starts(word, S("*"))) {
			keyword_only = true;
			word = str_sub(word, 1, word.n);
		}
		if (n == SHAPE_PARAMS_MOST) {
			fault(l, word, "too many parameters at", NULL);
			break;
		}
		p[n++] = param_of(l, word, keyword_only);
	}
	ShapeParam *keep = NEW_N(l->a, ShapeParam, n);
	if (n)
		memcpy(keep, p, n * sizeof *p);
	row->param = keep;
	row->nparams = n;
}

static void dtype_of(Loader *l, Str word, ShapeRow *row, uint32_t k)
{
	DType fixed = dtype_parse(word);
	if (fixed != DT_NONE && str_eq(word, dtype_shown(fixed))) { /* "float" is a rule */
		row->dtype[k] = DR_FIXED;
		row->fixed[k] = (uint8_t)fixed;
		return;
	}
	row->dtype[k] = (uint8_t)word_index(l, word, dtype_words, DR_N, "unknown dtype rule");
}

static void results_of(Loader *l, const Str *col, ShapeRow *row)
{
	Str shape = col[3], layout = col[4], dtype = col[5], ws, wl, wd;
	while (str_cut(&shape, ',', &ws)) {
		if (!str_cut(&layout, ',', &wl) || !str_cut(&dtype, ',', &wd) ||
		    row->nresults == SHAPE_RESULTS_MOST) {
			fault(l, ws, "shape, layout and dtype do not have the same number of words at", NULL);
			return;
		}
		uint32_t k = row->nresults++;
		row->shape[k] = (uint8_t)word_index(l, ws, shape_words, SH_N, "unknown shape rule");
		row->layout[k] = (uint8_t)word_index(l, wl, layout_words, SL_N, "unknown layout rule");
		dtype_of(l, wd, row, k);
	}
	if (layout.n || dtype.n)
		fault(l, layout.n ? layout : dtype,
		      "shape, layout and dtype do not have the same number of words at", NULL);
}

static void row_add(Loader *l, ShapeRow row)
{
	Shapes *s = l->s;
	uint64_t key = row_key(row.family, row.name);
	uint32_t at = s->rows.n, first = map_get(&s->first, key);
	VEC_PUSH(l->a, &s->rows, row);
	if (!first) {
		map_put(&s->first, key, at);
		return;
	}
	ASSERT(str_eq(s->rows.v[first].name, row.name));
	while (s->rows.v[first].next)
		first = s->rows.v[first].next;
	s->rows.v[first].next = at;
}

static Family family_of(Loader *l, Str word)
{
	static const Str words[] = {
#define FAMILY(id, word) STR_INIT(word),
#include "families.def"
#undef FAMILY
	};
	return str_eq(word, S("*")) ? FAM_NONE
	                            : (Family)word_index(l, word, words, FAM_N, "unknown family");
}

static void line_read(Loader *l)
{
	enum { COLUMNS = 6 };
	Str col[COLUMNS], rest = l->line, name, names;
	uint32_t n = 0;
	while (n < COLUMNS && str_cut(&rest, '\t', &col[n]))
		n++;
	if (n < COLUMNS || rest.n) {
		fault(l, l->line, "not six columns in", NULL);
		return;
	}
	ShapeRow row = {.family = family_of(l, col[0])};
	params_of(l, col[2], &row);
	results_of(l, col, &row);
	for (names = col[1]; !l->failed && str_cut(&names, ' ', &name);) {
		row.name = str_copy(l->a, name);
		row_add(l, row);
	}
}

bool shapes_load(Shapes *s, Arena *a, Names *names, Str path, Str text, Buf *errors)
{
	Loader l = {.s = s, .a = a, .names = names, .path = path, .errors = errors};
	bool faults = false, header = false;
	*s = (Shapes){.first = {.a = a}};
	VEC_PUSH(a, &s->rows, ((ShapeRow){0}));
	while (str_cut(&text, '\n', &l.line)) {
		l.lineno++;
		l.failed = false;
		if (!l.line.n || str_starts(l.line, S("#")))
			continue;
		if (!header)
			header = true;
		else
			line_read(&l);
		faults |= l.failed;
	}
	return !faults;
}

Shapes *shapes_builtin(Arena *a, Names *names)
{
	Shapes *s = NEW(a, Shapes);
	Buf errors = {.a = a};
	for (const EmbeddedFile *f = embedded_files; f->name; f++)
		if (strcmp(f->name, "shapes.tsv") == 0)
			ASSERT(shapes_load(s, a, names, S("shapes.tsv"), (Str){f->data, f->size}, &errors));
	ASSERT(s->rows.n > 1);
	return s;
}
