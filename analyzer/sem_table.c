/* SPDX-License-Identifier: MIT */
#include "embedded.h"
#include "nearest.h"
#include "sem_table.h"

static const Str role_words[] = {
#define SEM_ROLE(id, word) STR_INIT(word),
#include "sem_roles.def"
#undef SEM_ROLE
};
static const Str class_words[] = {
#define SEM_CLASS(id, word, fn) STR_INIT(word),
#include "sem_classes.def"
#undef SEM_CLASS
};

Str sem_class_word(SemClass c)
{
	ASSERT(c < SEM_N);
	return class_words[c];
}

SemClass sem_class_parse(Str word)
{
	uint32_t i = 0;
	while (i < SEM_N && !str_eq(class_words[i], word))
		i++;
	return (SemClass)i;
}

/* ---- looking up ---- */

static uint64_t row_key(Family family, Str name)
{
	return hash_bytes(hash_u64((uint64_t)family + 1), name.p, name.n);
}

static const SemRow *find_in(const SemTable *s, Family family, Str name)
{
	uint32_t i = map_get(&s->first, row_key(family, name));
	return i && str_eq(s->rows.v[i].name, name) ? &s->rows.v[i] : NULL;
}

const SemRow *sem_table_find(const SemTable *s, Family family, Str name)
{
	const SemRow *r = find_in(s, family, name);
	bool joins = family == FAM_METHOD || family == FAM_ATTR || family == FAM_OPERATOR ||
	             family == FAM_TORCH || family == FAM_DISPATCH;
	return r || !joins ? r : find_in(s, FAM_NONE, name);
}

/* ---- reading ---- */

typedef struct Loader {
	SemTable *s;
	Arena *a;
	Names *names;
	Str path, line;
	uint32_t lineno;
	Buf *errors;
	bool failed;
} Loader;

static void fault(Loader *l, Str at, const char *what, const Nearest *near)
{
	bool inside = at.p >= l->line.p && at.p <= l->line.p + l->line.n;
	uint32_t col = inside ? (uint32_t)(at.p - l->line.p) : 0;
	buf_printf(l->errors, STR_FMT ":%u:%u: %s '" STR_FMT "'", STR_ARG(l->path), l->lineno, col + 1,
	           what, STR_ARG(at));
	if (near)
		nearest_say(near, l->errors);
	buf_char(l->errors, '\n');
	l->failed = true;
}

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

static bool drop_end(Str *s, Str end)
{
	if (!str_ends(*s, end))
		return false;
	*s = str_sub(*s, 0, s->n - end.n);
	return true;
}

/* role=keyword:need!... */
static SemParam param_of(Loader *l, Str word, bool keyword_only)
{
	SemParam p = {.keyword_only = keyword_only};
	p.variadic = drop_end(&word, S("..."));
	p.given = drop_end(&word, S("!"));
	if (drop_end(&word, S(":t")))
		p.need = SEM_NEED_TENSOR;
	else if (drop_end(&word, S(":n")))
		p.need = SEM_NEED_OTHER;
	else if (drop_end(&word, S(":d")))
		p.need = SEM_NEED_DTYPE;
	uint32_t eq = str_find_char(word, '=', 0);
	Str role = str_sub(word, 0, eq);
	p.role = (uint8_t)word_index(l, role, role_words, SROLE_N, "unknown role");
	Str keyword = eq < word.n ? str_sub(word, eq + 1, word.n) : role;
	if (!str_eq(keyword, role_words[SROLE_NONE]) && !str_eq(keyword, role_words[SROLE_MORE]))
		p.keyword = sym_intern(l->names, keyword);
	return p;
}

static void params_of(Loader *l, Str list, SemRow *row)
{
	SemParam p[SEM_PARAMS_MOST];
	uint32_t n = 0;
	bool keyword_only = false;
	Str word;
	while (str_cut(&list, ' ', &word)) {
		if (str_starts(word, S("*"))) {
			keyword_only = true;
			word = str_sub(word, 1, word.n);
		}
		if (n == SEM_PARAMS_MOST) {
			fault(l, word, "too many parameters at", NULL);
			break;
		}
		p[n++] = param_of(l, word, keyword_only);
	}
	SemParam *keep = NEW_N(l->a, SemParam, n);
	if (n)
		memcpy(keep, p, n * sizeof *p);
	row->param = keep;
	row->nparams = n;
}

static void row_add(Loader *l, SemRow row)
{
	SemTable *s = l->s;
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
	enum { COLUMNS = 5 };
	Str col[COLUMNS], rest = l->line, name, names;
	uint32_t n = 0;
	while (n < COLUMNS && str_cut(&rest, '\t', &col[n]))
		n++;
	if (n < COLUMNS || rest.n) {
		fault(l, l->line, "not five columns in", NULL);
		return;
	}
	SemRow row = {.family = family_of(l, col[0])};
	row.cls = (uint8_t)word_index(l, col[2], class_words, SEM_N, "unknown class");
	params_of(l, col[3], &row);
	for (names = col[1]; !l->failed && str_cut(&names, ' ', &name);) {
		row.name = str_copy(l->a, name);
		row.op = sym_intern(l->names, str_eq(col[4], S("-")) ? name : col[4]);
		row_add(l, row);
	}
}

bool sem_table_load(SemTable *s, Arena *a, Names *names, Str path, Str text, Buf *errors)
{
	Loader l = {.s = s, .a = a, .names = names, .path = path, .errors = errors};
	bool faults = false, header = false;
	*s = (SemTable){.first = {.a = a}};
	VEC_PUSH(a, &s->rows, ((SemRow){0}));
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

const SemTable *sem_table_builtin(Arena *a, Names *names)
{
	SemTable *s = NEW(a, SemTable);
	Buf errors = {.a = a};
	for (const EmbeddedFile *f = embedded_files; f->name; f++)
		if (strcmp(f->name, "semantics.tsv") == 0) {
			Str text = {f->data, f->size};
			ASSERT(sem_table_load(s, a, names, S("semantics.tsv"), text, &errors));
		}
	ASSERT(s->rows.n > 1);
	return s;
}
