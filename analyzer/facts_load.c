/* SPDX-License-Identifier: MIT
 * Tables of operator facts: checked whole, then taken over. */
#include "embedded.h"
#include "nearest.h"
#include "facts_priv.h"

enum {
	MOST_FAULTS_SHOWN = 50,
	MOST_QUOTED = 60,
	MOST_INDEX = 999 /* of an argument or a result */
};

enum Column {
	COL_FAMILY,
	COL_NAME,
	COL_KIND,
	COL_ALIAS,
	COL_MUTATES,
	COL_OUTS, /* a row has these */
	COL_COND,
	COL_TAGS,
	COL_ATEN,
	COL_SINCE,
	COL_UNTIL,
	COL_REASON, /* and maybe these; the last is for people */
	COL_N
};

/* ---- faults ---- */

static uint32_t column_of(Str line, Str where)
{
	uint32_t col = 1;
	if (!where.p || where.p < line.p || where.p > line.p + line.n)
		return 1;
	for (const char *p = line.p; p < where.p; p++)
		col += ((unsigned char)*p & 0xC0) != 0x80;
	return col;
}

void load_fault(Load *l, Str where, const char *fmt, ...)
{
	if (l->faults++ >= MOST_FAULTS_SHOWN)
		return;
	va_list ap;
	va_start(ap, fmt);
	Str text = str_vprintf(l->f->a, fmt, ap);
	va_end(ap);
	buf_printf(l->errors, STR_FMT ":%u:%u: " STR_FMT "\n", STR_ARG(l->path), l->line_no,
	           column_of(l->line, where), STR_ARG(text));
}

Str load_quote(Load *l, Str s)
{
	Buf b = {.a = l->f->a};
	for (uint32_t i = 0; i < s.n && i < MOST_QUOTED; i++)
		buf_char(&b, (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f ? '?' : s.p[i]);
	if (s.n > MOST_QUOTED)
		buf_add(&b, S("..."));
	return buf_str(&b);
}

Str load_hint(Load *l, Str word, const Str *words, uint32_t n)
{
	Nearest near = nearest_to(word);
	Buf b = {.a = l->f->a};
	for (uint32_t i = 0; i < n; i++)
		if (words[i].n)
			nearest_try(&near, words[i]);
	nearest_say(&near, &b);
	return buf_str(&b);
}

/* ---- words ---- */

/* Index of a word of a closed set; -1 and a fault when it is none. The one at `skip` is no word for
 * tables. */
static int word_index(Load *l, Str cell, const char *what, Str (*name)(int), int n, int skip)
{
	Str words[64];
	ASSERT(n <= 64);
	for (int i = 0; i < n; i++)
		if (i != skip && str_eq(cell, name(i)))
			return i;
	for (int i = 0; i < n; i++)
		words[i] = i == skip ? (Str){0} : name(i);
	if (!cell.n)
		load_fault(l, cell, "column %s is empty", what);
	else
		load_fault(l, cell, "unknown %s " STR_FMT STR_FMT, what, STR_ARG(load_quote(l, cell)),
		           STR_ARG(load_hint(l, cell, words, (uint32_t)n)));
	return -1;
}

static Str kind_word(int i) { return fact_kind_name((FactKind)i); }
static Str cond_word(int i) { return fact_cond_name((FactCond)i); }
static Str tag_word(int i) { return fact_tag_name((FactTag)i); }
static Str family_word(int i) { return family_name((Family)i); }

static bool cell_is_none(Str cell)
{
	return cell.n == 0 || (cell.n == 1 && cell.p[0] == '-');
}

/* ---- cells ---- */

/* The family may be written as the dispatcher namespace of the name. */
static Family parse_family(Load *l, Str word, Str name)
{
	static const Str ops = STR_INIT("torch.ops.");
	Str rest = str_starts(name, ops) ? str_sub(name, ops.n, name.n) : (Str){0};
	for (int i = FAM_NONE + 1; i < FAM_N; i++)
		if (str_eq(word, family_name((Family)i)))
			return (Family)i;
	if (str_is_ident(word) && str_starts(rest, word) && rest.n > word.n && rest.p[word.n] == '.')
		return FAM_DISPATCH;
	int i = word_index(l, word, "family", family_word, FAM_N, FAM_NONE);
	return i < 0 ? FAM_NONE : (Family)i;
}

/* Identifiers with dots between them; how many, 0 when it is something else. */
static uint32_t count_idents(Str s)
{
	Str part;
	uint32_t n = 0;
	while (str_cut(&s, '.', &part)) {
		if (!str_is_ident(part))
			return 0;
		n++;
	}
	return n;
}

static void check_name(Load *l, Family family, Str name)
{
	Str hop = S("torch.ops.higher_order.");
	const char *want = NULL;
	bool good = true;
	switch (family) {
	case FAM_METHOD:
	case FAM_OPERATOR:
		good = str_is_ident(name);
		want = "a name without dots";
		break;
	case FAM_ATTR:
		good = str_is_ident(str_ends(name, S("=")) ? str_sub(name, 0, name.n - 1) : name);
		want = "an attribute, or attribute= for storing to it";
		break;
	case FAM_TORCH:
		good = str_starts(name, S("torch.")) && count_idents(name) > 1;
		want = "torch.NAME, with modules between as printed";
		break;
	case FAM_DISPATCH:
		good = str_starts(name, S("torch.ops.")) && !str_starts(name, hop) &&
		       (count_idents(name) == 4 || count_idents(name) == 5);
		want = "torch.ops.NAMESPACE.NAME or torch.ops.NAMESPACE.NAME.OVERLOAD";
		break;
	case FAM_HOP:
		good = str_starts(name, hop) && count_idents(name) == 4;
		want = "torch.ops.higher_order.NAME";
		break;
	case FAM_BUILTIN:
	case FAM_NUMPY:
		good = count_idents(name) > 0;
		want = "a function as printed";
		break;
	case FAM_MODULE:
		good = name.n > 0 && name.p[0] != '[';
		want = "a class, or class[train], or class[eval]";
		break;
	case FAM_NONE:
	case FAM_N: return;
	}
	if (!good)
		load_fault(l, name, "a name of family " STR_FMT " is %s, not " STR_FMT,
		           STR_ARG(family_name(family)), want, STR_ARG(load_quote(l, name)));
	else if (name.n > MAX_NAME)
		load_fault(l, name, "a name is at most %d bytes long", MAX_NAME);
}

/* Digits at the start of *s, followed by `end`; consumed when there. */
static bool take_number(Str *s, char end, int16_t *out)
{
	uint32_t i = 0, v = 0;
	while (i < s->n && i < 4 && s->p[i] >= '0' && s->p[i] <= '9')
		v = v * 10 + (uint32_t)(s->p[i++] - '0');
	if (!i || i >= s->n || s->p[i] != end || v > MOST_INDEX)
		return false;
	*out = (int16_t)v;
	*s = str_sub(*s, i + 1, s->n);
	return true;
}

static bool take(Str *s, Str prefix)
{
	if (!str_starts(*s, prefix))
		return false;
	*s = str_sub(*s, prefix.n, s->n);
	return true;
}

static Str take_ident(Str *s)
{
	uint32_t n = 0;
	while (n < s->n && char_is_ident((unsigned char)s->p[n]))
		n++;
	Str out = str_sub(*s, 0, n);
	*s = str_sub(*s, n, s->n);
	return out;
}

/* One entry: [rN=][N:][buf.|par.]NAME[[*]][.grad][?[PARAMETER]] */
static bool parse_entry(Load *l, Str entry, FactArg *out)
{
	Str s = entry;
	*out = (FactArg){.index = -1, .result = -1};
	if (s.n > 1 && s.p[0] == 'r' && s.p[1] >= '0' && s.p[1] <= '9') {
		Str t = str_sub(s, 1, s.n);
		if (take_number(&t, '=', &out->result))
			s = t;
	}
	take_number(&s, ':', &out->index);
	out->buffer = take(&s, S("buf."));
	out->parameter = !out->buffer && take(&s, S("par."));
	Str name = {s.p, 0};
	for (;;) {
		Str part = take_ident(&s);
		if (!part.n)
			break;
		name.n = (uint32_t)(s.p - name.p);
		if (!(out->buffer || out->parameter) ||
		    !(s.n > 1 && s.p[0] == '.' && char_is_ident((unsigned char)s.p[1])))
			break;
		s = str_sub(s, 1, s.n);
	}
	out->each = take(&s, S("[*]"));
	out->grad = take(&s, S(".grad"));
	out->maybe = take(&s, S("?"));
	Str when = out->maybe ? take_ident(&s) : (Str){0};
	if (!name.n || s.n) {
		load_fault(l, s.n ? s : entry,
		           "an argument is written INDEX:NAME, with r0= before and [*] or ? after it, "
		           "not " STR_FMT,
		           STR_ARG(load_quote(l, entry)));
		return false;
	}
	out->name = sym_intern(l->f->names, name);
	out->when = sym_intern(l->f->names, when);
	return true;
}

static void parse_entries(Load *l, Str cell, FactArg **v, uint32_t *n)
{
	Str part;
	uint32_t most = 1;
	*n = 0;
	if (cell_is_none(cell))
		return;
	for (uint32_t i = 0; i < cell.n; i++)
		most += cell.p[i] == ',';
	*v = NEW_N(l->f->a, FactArg, most);
	while (str_cut(&cell, ',', &part))
		if (parse_entry(l, str_trim(part), &(*v)[*n]))
			++*n;
}

static char outs_member(Str s)
{
	if (s.n == 1 && (s.p[0] == 't' || s.p[0] == 'v'))
		return s.p[0];
	return str_eq(s, S("t?")) ? 'o' : str_eq(s, S("t[]")) ? 'L' : 0;
}

static FactOuts parse_outs(Load *l, Str cell)
{
	FactOuts o = {0};
	Str alt, part;
	if (cell.n == 1 && cell.p[0] == 't') /* nearly every row */
		return (FactOuts){.nalts = 1, .n = {1, 0}, .member = {"t", ""}};
	if (!cell.n)
		cell = S("-");
	while (str_cut(&cell, '|', &alt)) {
		if (o.nalts == 2) {
			load_fault(l, alt, "a result has at most two forms");
			return o;
		}
		uint32_t k = o.nalts++;
		while (!cell_is_none(alt) && str_cut(&alt, ',', &part)) {
			char m = outs_member(str_trim(part));
			if (!m || o.n[k] == sizeof o.member[k]) {
				load_fault(l, part, m ? "a result has at most %d members"
				                      : "a result has the members t, t?, t[] and v; - is no result",
				           (int)sizeof o.member[k]);
				return o;
			}
			o.member[k][o.n[k]++] = m;
		}
	}
	return o;
}

static uint64_t parse_tags(Load *l, Str cell)
{
	uint64_t tags = 0;
	Str part;
	while (!cell_is_none(cell) && str_cut(&cell, ',', &part)) {
		part = str_trim(part);
		if (str_ends(part, S("?")))
			part.n--;
		int t = word_index(l, part, "tag", tag_word, FT_N, -1);
		if (t >= 0)
			tags |= (uint64_t)1 << t;
	}
	return tags;
}

static Version parse_version(Load *l, Str cell)
{
	uint32_t major, minor, dot = str_find_char(cell, '.', 0);
	if (cell_is_none(cell))
		return 0;
	if (dot > 0 && dot < 3 && cell.n - dot <= 3 && str_to_u32(str_sub(cell, 0, dot), &major) &&
	    str_to_u32(str_sub(cell, dot + 1, cell.n), &minor))
		return major * 100 + minor;
	load_fault(l, cell, "a version is MAJOR.MINOR or -, not " STR_FMT,
	           STR_ARG(load_quote(l, cell)));
	return 0;
}

/* ---- rows ---- */

/* What a kind promises about the other columns. */
static void check_kind(Load *l, const Fact *f, Str kind, Str alias, Str mutates)
{
	enum { NEEDS_ALIAS = 1, NO_ALIAS = 2, NEEDS_WRITE = 4, NO_WRITE = 8 };
	static const uint8_t want[FK_N] = {
		[FK_FRESH] = NO_ALIAS,
		[FK_VIEW] = NEEDS_ALIAS,
		[FK_MAYBE_VIEW] = NEEDS_ALIAS,
		[FK_INPLACE] = NEEDS_ALIAS | NEEDS_WRITE,
		[FK_MUTATES] = NEEDS_WRITE,
		[FK_OUT] = NEEDS_WRITE,
		[FK_METADATA] = NEEDS_WRITE,
		[FK_SCALAR] = NO_ALIAS | NO_WRITE,
		[FK_EFFECT] = NO_ALIAS | NO_WRITE,
		[FK_ATTRIBUTE] = NO_ALIAS | NO_WRITE,
	};
	if (want[f->kind] & NEEDS_ALIAS && !f->nalias)
		load_fault(l, alias, "kind " STR_FMT " needs an argument in column alias", STR_ARG(kind));
	if (want[f->kind] & NO_ALIAS && f->nalias)
		load_fault(l, alias, "kind " STR_FMT " has no argument in column alias", STR_ARG(kind));
	if (want[f->kind] & NEEDS_WRITE && !f->nmutates)
		load_fault(l, mutates, "kind " STR_FMT " needs an argument in column mutates",
		           STR_ARG(kind));
	if (want[f->kind] & NO_WRITE && f->nmutates)
		load_fault(l, mutates, "kind " STR_FMT " has no argument in column mutates", STR_ARG(kind));
}

static bool spans_meet(VersionSpan a, VersionSpan b)
{
	return !(a.hi && b.lo && b.lo > a.hi) && !(a.lo && b.hi && b.hi < a.lo);
}

static Group *staged_group(Load *l, Family family, Sym name)
{
	uint64_t key = name_key(family, name);
	uint32_t i = map_get(&l->by_name, key);
	if (!i) {
		i = l->staged.n;
		VEC_PUSH(l->f->a, &l->staged, ((Group){.family = family, .name = name}));
		map_put(&l->by_name, key, i);
	}
	return &l->staged.v[i];
}

void load_add(Load *l, const Fact *fact, Str where)
{
	Group *g = staged_group(l, fact->family, fact->name);
	for (const Row *r = g->first; r; r = r->next)
		if (spans_meet(r->fact.span, fact->span)) {
			load_fault(l, where, STR_FMT " has a row for these versions already, in line %u",
			           STR_ARG(load_quote(l, sym_str(l->f->names, fact->name))), r->fact.line);
			return;
		}
	if (g->n == MAX_ROWS_OF_NAME) {
		load_fault(l, where, "a name has at most %d rows", MAX_ROWS_OF_NAME);
		return;
	}
	Row *row = NEW(l->f->a, Row);
	row->fact = *fact;
	row->fact.user = l->user;
	row->fact.source = l->path;
	row->fact.line = l->line_no;
	*(g->first ? &g->last->next : &g->first) = row;
	g->last = row;
	g->n++;
}

void load_params(Load *l, Family family, Sym name, const Overload *ov, uint32_t n)
{
	Group *g = staged_group(l, family, name);
	g->params = ov;
	g->nparams = n;
}

/* A class without a mode stands for both. */
static void add_module(Load *l, Fact *fact, Str name)
{
	static const Str modes[] = {STR_INIT("[train]"), STR_INIT("[eval]")};
	for (uint32_t i = 0; i < 2; i++) {
		bool whole = str_ends(name, modes[0]) || str_ends(name, modes[1]);
		Str full =
			whole ? name : str_printf(l->f->a, STR_FMT STR_FMT, STR_ARG(name), STR_ARG(modes[i]));
		fact->name = sym_intern(l->f->names, full);
		load_add(l, fact, name);
		if (whole)
			return;
	}
}

static void load_row(Load *l)
{
	Str cell[COL_N], rest = l->line, part;
	uint32_t n = 0, faults = l->faults;
	while (n < COL_N && str_cut(&rest, '\t', &part))
		cell[n++] =
			part.n && (part.p[0] == ' ' || part.p[part.n - 1] == ' ') ? str_trim(part) : part;
	if (n <= COL_OUTS || rest.p) {
		load_fault(l, l->line,
		           "a row has %d to %d columns with tabs between: family, name, kind, alias, "
		           "mutates, outs, cond, tags, aten, since, until, reason",
		           COL_OUTS + 1, COL_N);
		return;
	}
	while (n < COL_N)
		cell[n++] = (Str){0};
	if (str_eq(cell[COL_FAMILY], S("family")) && str_eq(cell[COL_NAME], S("name")))
		return;
	Fact f = {.family = parse_family(l, cell[COL_FAMILY], cell[COL_NAME])};
	check_name(l, f.family, cell[COL_NAME]);
	int kind = word_index(l, cell[COL_KIND], "kind", kind_word, FK_N, FK_UNKNOWN);
	f.kind = kind < 0 ? FK_UNKNOWN : (FactKind)kind;
	parse_entries(l, cell[COL_ALIAS], &f.alias, &f.nalias);
	parse_entries(l, cell[COL_MUTATES], &f.mutates, &f.nmutates);
	f.outs = parse_outs(l, cell[COL_OUTS]);
	if (!cell_is_none(cell[COL_COND])) {
		int cond = word_index(l, cell[COL_COND], "condition", cond_word, FC_N, FC_NONE);
		f.cond = cond < 0 ? FC_NONE : (FactCond)cond;
	}
	f.tags = parse_tags(l, cell[COL_TAGS]);
	if (!cell_is_none(cell[COL_ATEN]))
		f.aten = sym_intern(l->f->names, cell[COL_ATEN]);
	f.span = (VersionSpan){parse_version(l, cell[COL_SINCE]), parse_version(l, cell[COL_UNTIL])};
	if (f.span.lo && f.span.hi && f.span.lo > f.span.hi)
		load_fault(l, cell[COL_UNTIL], "until is before since");
	if (l->faults == faults)
		check_kind(l, &f, cell[COL_KIND], cell[COL_ALIAS], cell[COL_MUTATES]);
	if (l->faults > faults)
		return;
	if (f.family == FAM_MODULE) {
		add_module(l, &f, cell[COL_NAME]);
		return;
	}
	f.name = sym_intern(l->f->names, cell[COL_NAME]);
	load_add(l, &f, cell[COL_NAME]);
}

/* ---- files ---- */

/* The next line that says something, without its end. */
static bool next_line(Load *l, Str *rest)
{
	while (str_cut(rest, '\n', &l->line)) {
		if (l->line_no++ == 0)
			take(&l->line, S("\xEF\xBB\xBF"));
		l->line = str_rtrim(l->line);
		Str t = str_ltrim(l->line);
		if (t.n && t.p[0] != '#')
			return true;
	}
	return false;
}

static void drop_replaced(Facts *f)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < f->rows.n; i++)
		if (!f->rows.v[i]->replaced)
			f->rows.v[n++] = f->rows.v[i];
	f->rows.n = n;
}

/* Dotted functions outside torch are printed as one identifier. */
static void add_mangled(Facts *f, const Group *g, uint32_t id)
{
	char buf[MAX_NAME];
	Str name = sym_str(f->names, g->name);
	if (g->family != FAM_BUILTIN || str_find_char(name, '.', 0) == name.n)
		return;
	Sym mangled = sym_intern(f->names, facts_mangle(name, buf));
	if (!sym_none(mangled))
		map_put(&f->by_mangled, mangled.i, id);
}

/* A staged group into the tables; true when it replaces one. */
static bool commit_group(Facts *f, Group *in)
{
	uint64_t key = name_key(in->family, in->name);
	uint32_t id = map_get(&f->by_name, key);
	if (!id) {
		id = f->groups.n;
		VEC_PUSH(f->a, &f->groups, *in);
		map_put(&f->by_name, key, id);
		return false;
	}
	Group *old = &f->groups.v[id];
	for (Row *r = old->first; r; r = r->next)
		r->replaced = true;
	if (!in->nparams) {
		in->params = old->params;
		in->nparams = old->nparams;
	}
	*old = *in;
	return true;
}

/* Takes the staged rows over; those of names that are known already replace the old ones. */
static void commit(Load *l)
{
	Facts *f = l->f;
	uint32_t replaced = 0;
	if (f->groups.n == 1) {
		/* The first table is most of all there is: not moved a second time. */
		f->groups = l->staged;
		f->by_name = l->by_name;
	} else {
		for (uint32_t i = 1; i < l->staged.n; i++)
			replaced += commit_group(f, &l->staged.v[i]);
	}
	if (replaced)
		drop_replaced(f);
	for (uint32_t i = 1; i < l->staged.n; i++) {
		const Group *g = &l->staged.v[i];
		add_mangled(f, g, map_get(&f->by_name, name_key(g->family, g->name)));
		for (const Row *r = g->first; r; r = r->next)
			VEC_PUSH(f->a, &f->rows, r);
	}
	/* A join may lean on replaced rows of another group, and a spelling may have another answer
	 * now. */
	for (uint32_t i = 1; i < f->groups.n; i++)
		f->groups.v[i].joined = NULL;
	f->resolved = f->nearest = (Map){.a = f->a};
	f->indexed = 0;
}

static bool load_done(Load *l)
{
	if (l->faults > MOST_FAULTS_SHOWN)
		buf_printf(l->errors, STR_FMT ":%u:1: and %u more faults\n", STR_ARG(l->path), l->line_no,
		           l->faults - MOST_FAULTS_SHOWN);
	return l->faults == 0;
}

/* Room for about one name a line: growing would take the size of the table several times. */
static void stage_room(Load *l, Str text)
{
	uint32_t lines = 2;
	for (uint32_t at = 0; (at = str_find_char(text, '\n', at)) < text.n; at++)
		lines++;
	l->staged.v = NEW_N(l->f->a, Group, lines);
	l->staged.cap = lines;
	l->staged.n = 1;
}

bool facts_load_as(Facts *f, Str path, Str text, bool user, Buf *errors)
{
	Load l = {.f = f, .path = str_copy(f->a, path), .errors = errors, .user = user};
	l.by_name.a = f->a;
	stage_room(&l, text);
	while (next_line(&l, &text)) {
		if (str_find_char(l.line, '\t', 0) < l.line.n)
			load_row(&l);
		else
			load_schema(&l);
	}
	if (!l.faults)
		load_packets(&l);
	if (!load_done(&l))
		return false;
	commit(&l);
	return true;
}

bool facts_load(Facts *f, Str path, Str text, Buf *errors)
{
	return facts_load_as(f, path, text, true, errors);
}

/* ---- parameters ---- */

/* Index of the first `sep` outside brackets and quotes; s.n when there is none. */
static uint32_t find_outside(Str s, char sep)
{
	uint32_t depth = 0;
	char quote = 0;
	for (uint32_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '\'' || c == '"')
			quote = c;
		else if (c == '[' || c == '(')
			depth++;
		else if ((c == ']' || c == ')') && depth)
			depth--;
		else if (c == sep && !depth)
			return i;
	}
	return s.n;
}

static bool cut_outside(Str *rest, char sep, Str *part)
{
	if (!rest->p)
		return false;
	uint32_t i = find_outside(*rest, sep);
	*part = str_trim(str_sub(*rest, 0, i));
	*rest = i < rest->n ? str_sub(*rest, i + 1, rest->n) : (Str){0};
	return true;
}

static void parse_overload(Load *l, Str text, Overload *out)
{
	VEC(Param) v = {0};
	Str part;
	bool keyword_only = false;
	while (cut_outside(&text, ',', &part)) {
		Param p = {0};
		keyword_only |= take(&part, S("*"));
		uint32_t eq = str_find_char(part, '=', 0);
		Str name = str_sub(part, 0, eq);
		p.variadic = str_ends(name, S("..."));
		if (p.variadic)
			name.n -= 3;
		p.dflt = eq < part.n ? str_copy(l->f->a, str_sub(part, eq + 1, part.n)) : (Str){0};
		p.keyword_only = keyword_only;
		if (!str_is_ident(name))
			load_fault(l, part, "a parameter is NAME, NAME=DEFAULT, *NAME or NAME..., not " STR_FMT,
			           STR_ARG(load_quote(l, part)));
		p.name = sym_intern(l->f->names, name);
		VEC_PUSH(l->f->a, &v, p);
	}
	*out = (Overload){v.v, v.n};
}

static void load_params_row(Load *l)
{
	Str family, name, rest = l->line, part;
	VEC(Overload) v = {0};
	if (!str_cut(&rest, '\t', &family) || !str_cut(&rest, '\t', &name) || !rest.p) {
		load_fault(l, l->line, "a row has three columns: family, name, parameters");
		return;
	}
	if (str_eq(family, S("family")))
		return;
	uint32_t g = facts_group(l->f, parse_family(l, family, name), name);
	if (!g)
		load_fault(l, name, STR_FMT " has no facts", STR_ARG(load_quote(l, name)));
	while (cut_outside(&rest, '|', &part)) {
		Overload o;
		parse_overload(l, part, &o);
		VEC_PUSH(l->f->a, &v, o);
	}
	if (g) {
		l->f->groups.v[g].params = v.v;
		l->f->groups.v[g].nparams = v.n;
	}
}

bool facts_load_params(Facts *f, Str path, Str text, Buf *errors)
{
	Load l = {.f = f, .path = path, .errors = errors};
	while (next_line(&l, &text))
		load_params_row(&l);
	return load_done(&l);
}

/* ---- the embedded tables ---- */

static Str embedded(Str name)
{
	for (const EmbeddedFile *e = embedded_files; e->name; e++)
		if (str_eq(str_from_c(e->name), name))
			return (Str){e->data, e->size};
	return (Str){0};
}

Facts *facts_builtin(Arena *a, Names *names)
{
	static const Str tables[] = {STR_INIT("ops.tsv"), STR_INIT("ops-overlay.tsv")};
	Facts *f = facts_new(a, names);
	Buf errors = {.a = a};
	for (uint32_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		Str text = embedded(tables[i]);
		ASSERT(text.n > 0);
		bool loaded = facts_load_as(f, tables[i], text, false, &errors);
		ASSERT(loaded);
	}
	bool loaded = facts_load_params(f, S("params.tsv"), embedded(S("params.tsv")), &errors);
	ASSERT(loaded);
	return f;
}
