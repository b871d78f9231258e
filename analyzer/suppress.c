/* SPDX-License-Identifier: MIT */
#include "suppress.h"

#include "glob.h"

/* Comments that one finding is compared with, at most: it stays when there are more. */
enum { COMPARED_MOST = 1000 };

static const Str MARK = STR_INIT("graphlint:");

typedef struct Comment {
	Span at;              /* from the '#' to the end of the line */
	uint32_t from, to;    /* lines of the dump that it is about, as bytes */
	Str words, reason;    /* between the brackets, behind them */
	Str fault;            /* why it says nothing */
	bool used;
	uint32_t next;        /* quoted: the next one about the same line of the program, plus 1 */
} Comment;

typedef struct Suppress {
	const SuppressCtx *c;
	Diags *d;
	VEC(Comment) here;    /* comments of dumps, by file and place */
	VEC(Comment) quoted;  /* those of the program's lines */
	Names places;         /* "file\0line" */
	Map quoted_at;        /* Sym in places -> index in quoted, plus 1 */
} Suppress;

/* ---- what a comment says ---- */

/* Reads "graphlint: ignore[A, B] reason" from the mark on. */
static void parse_comment(Str s, Comment *c)
{
	s = str_trim(str_sub(s, MARK.n, s.n));
	uint32_t open = str_find_char(s, '[', 0), close = str_find_char(s, ']', 0);
	if (!str_eq(str_rtrim(str_sub(s, 0, open)), S("ignore"))) {
		c->fault = S("a comment for graphlint looks like `graphlint: ignore[GL101] reason`");
		return;
	}
	c->words = str_trim(str_sub(s, open + 1, close));
	c->reason = str_trim(str_sub(s, close + 1, s.n));
	if (open == s.n || close == s.n || close < open || !c->words.n)
		c->fault = S("it has to name rules: `graphlint: ignore[GL101] reason`");
}

/* The comment of a line of Python, from behind its '#'; false when there is none. `quote`: the string that is open where
 * the line begins, 0 none; a string of three quotes may stay open at its end. */
static bool find_comment(Str line, char *quote, uint32_t *at)
{
	for (uint32_t i = 0; i < line.n; i++) {
		char c = line.p[i];
		bool three = i + 2 < line.n && line.p[i + 1] == c && line.p[i + 2] == c;
		if (*quote && c == *quote && three) {
			*quote = 0;
			i += 2;
		} else if (*quote) {
			i += c == '\\';
		} else if ((c == '"' || c == '\'') && three) {
			*quote = c;
			i += 2;
		} else if (c == '"' || c == '\'') {
			for (i++; i < line.n && line.p[i] != c; i++)
				i += line.p[i] == '\\';
		} else if (c == '#') {
			*at = i + 1;
			return true;
		}
	}
	return false;
}

/* ---- comments of dumps ---- */

static uint32_t line_end(Str s, uint32_t at)
{
	return str_find_char(s, '\n', at);
}

static bool is_blank_or_comment(Str line)
{
	line = str_ltrim(line);
	return !str_rtrim(line).n || line.p[0] == '#';
}

/* An artifact's clean text, and how far it was looked through. */
typedef struct Cursor {
	ArtifactId id;
	Text text;
	uint32_t at; /* start of a line */
	uint32_t below; /* line that the last comment alone on its line is about: also for those between */
	char quote;
} Cursor;

/* First clean byte at or behind a place of the source. */
static uint32_t clean_at(const Text *t, uint32_t src)
{
	uint32_t lo = 0, hi = t->nseg;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (t->seg[mid].src <= src)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return 0;
	uint32_t at = t->seg[lo - 1].at + (src - t->seg[lo - 1].src), most = lo < t->nseg ? t->seg[lo].at : t->s.n;
	return at < most ? at : most;
}

static void add_here(Suppress *s, Span at, Str text, Span about)
{
	Comment c = {.at = at, .from = about.at, .to = about.end};
	parse_comment(text, &c);
	VEC_PUSH(s->c->scratch, &s->here, c);
}

/* The line that a comment alone on its line is about: the next one that is neither blank nor a comment. */
static uint32_t line_below(Str text, uint32_t at)
{
	for (uint32_t next = line_end(text, at); next < text.n;) {
		uint32_t end = line_end(text, ++next);
		if (!is_blank_or_comment(str_sub(text, next, end)))
			return next;
		next = end;
	}
	return text.n;
}

/* A mark in the clean text of an artifact. Strings are followed from its first line on. */
static void look_at(Suppress *s, Cursor *cur, uint32_t mark, bool code)
{
	Str text = cur->text.s;
	uint32_t end, comment = 0;
	bool found = false;
	for (; cur->at <= mark && cur->at < text.n; cur->at = end + 1) {
		end = line_end(text, cur->at);
		uint32_t start = cur->at;
		found = find_comment(str_sub(text, start, end), &cur->quote, &comment);
		if (mark >= end)
			continue;
		comment += start;
		bool alone = found && is_blank_or_comment(str_sub(text, start, end));
		Str said = str_ltrim(str_sub(text, comment, end));
		if (!found || !(code || alone) || !str_starts(said, MARK))
			continue;
		if (alone && cur->below <= start)
			cur->below = line_below(text, start);
		uint32_t line = alone ? cur->below : start;
		add_here(s, text_span(&cur->text, comment - 1, end), said, text_span(&cur->text, line, line_end(text, line)));
	}
}

/* A mark outside of artifacts: only alone on its line, about the line below. `below`: as in a cursor. */
static void look_outside(Suppress *s, FileId file, uint32_t mark, uint32_t *below)
{
	Str text = source_get(s->c->sources, file)->text;
	uint32_t start = mark;
	while (start && text.p[start - 1] != '\n')
		start--;
	Str before = str_trim(str_sub(text, start, mark));
	if (!str_eq(before, S("#")))
		return;
	uint32_t end = line_end(text, mark);
	if (*below <= start)
		*below = line_below(text, start);
	add_here(s, (Span){file, start, end}, str_sub(text, mark, end), (Span){file, *below, line_end(text, *below)});
}

/* The last artifact of a file that begins at or before a place. Artifacts of a file are in its order. */
static uint32_t artifact_at(const Artifacts *t, FileId file, uint32_t at, uint32_t from)
{
	while (from + 1 < t->v.n && t->v.v[from + 1].file.i == file.i && t->v.v[from + 1].at <= at)
		from++;
	return from;
}

static bool is_in(const Artifact *art, FileId file, uint32_t at)
{
	if (art->file.i != file.i || art->at > at || !art->npieces)
		return false;
	Piece last = art->pieces[art->npieces - 1];
	return at < last.src + last.n;
}

static void read_file(Suppress *s, FileId file)
{
	const SuppressCtx *c = s->c;
	Str text = source_get(c->sources, file)->text;
	Cursor cur = {0};
	uint32_t first = 1;
	while (first < c->artifacts->v.n && c->artifacts->v.v[first].file.i < file.i)
		first++;
	uint32_t art = first ? first - 1 : 0, below = 0;
	for (uint32_t at = str_find(text, MARK, 0); at < text.n; at = str_find(text, MARK, at + 1)) {
		art = artifact_at(c->artifacts, file, at, art);
		const Artifact *x = &c->artifacts->v.v[art];
		if (!art || !is_in(x, file, at)) {
			look_outside(s, file, at, &below);
			at = line_end(text, at) - 1; /* only the first mark of a line can stand alone */
			continue;
		}
		if (cur.id.i != art)
			cur = (Cursor){.id = {art}, .text = artifact_text(x, c->sources, c->scratch)};
		look_at(s, &cur, clean_at(&cur.text, at), x->kind == ART_GRAPH_CODE);
	}
}

/* ---- comments of the program's lines ---- */

static Sym place_sym(Suppress *s, Str file, uint32_t line, bool make)
{
	Buf b = {.a = s->c->scratch};
	buf_add(&b, file);
	buf_printf(&b, ":%u", (unsigned)line);
	return make ? sym_intern(&s->places, buf_str(&b)) : sym_find(&s->places, buf_str(&b));
}

static void read_quoted(Suppress *s, const SrcLoc *l)
{
	if (!l->code.file.i)
		return;
	Str text = str_sub(source_get(s->c->sources, l->code.file)->text, l->code.at, l->code.end);
	char quote = 0;
	uint32_t at;
	if (!str_has(text, MARK) || !find_comment(text, &quote, &at))
		return;
	/* Not only at its beginning: programs have more comments on one line. */
	uint32_t mark = str_find(text, MARK, at);
	Sym place = place_sym(s, sym_str(s->c->p->names, l->file), l->line, true);
	if (mark == text.n || map_get(&s->quoted_at, place.i))
		return;
	Comment c = {.at = {l->code.file, l->code.at + mark, l->code.end}};
	parse_comment(str_sub(text, mark, text.n), &c);
	VEC_PUSH(s->c->scratch, &s->quoted, c);
	map_put(&s->quoted_at, place.i, s->quoted.n);
}

static void read_program(Suppress *s)
{
	const Program *p = s->c->p;
	for (uint32_t i = 1; i < p->graphs.n; i++)
		for (uint32_t k = 1; k < p->graphs.v[i]->locs.n; k++)
			read_quoted(s, &p->graphs.v[i]->locs.v[k]);
}

/* ---- comments against findings ---- */

static bool names_rule(const SuppressCtx *c, Str words, const Finding *f)
{
	const Rule *rule = rules_find(c->rules, f->rule);
	Str word;
	while (str_cut(&words, ',', &word))
		if (rule && rules_word_fits(rule, str_trim(word)))
			return true;
	return false;
}

static void try_comment(Suppress *s, Comment *c, Finding *f)
{
	if (c->fault.n || !names_rule(s->c, c->words, f))
		return;
	c->used = true;
	if (f->suppressed.n)
		return;
	f->suppressed = S("inline");
	f->suppress_reason = str_copy(s->d->a, c->reason);
}

/* First comment that is about a line that ends behind a place. */
static uint32_t first_about(const Suppress *s, Span at)
{
	uint32_t lo = 0, hi = s->here.n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const Comment *c = &s->here.v[mid];
		bool before = c->at.file.i != at.file.i ? c->at.file.i < at.file.i : c->to < at.at;
		if (before)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void compare(Suppress *s, Finding *f)
{
	uint32_t i = first_about(s, f->span), most = i + COMPARED_MOST;
	for (; i < s->here.n && i < most; i++) {
		Comment *c = &s->here.v[i];
		uint32_t end = f->span.end > f->span.at ? f->span.end : f->span.at + 1;
		if (c->at.file.i != f->span.file.i || c->from >= end)
			break;
		try_comment(s, c, f);
	}
	if (!f->source.file.n || !s->quoted.n)
		return;
	uint32_t quoted = map_get(&s->quoted_at, place_sym(s, f->source.file, f->source.line, false).i);
	if (quoted)
		try_comment(s, &s->quoted.v[quoted - 1], f);
}

/* ---- the configuration ---- */

static bool fits_index(int32_t want, int32_t got)
{
	return want < 0 || want == got;
}

static bool fits_entry(const SuppressCtx *c, const Suppression *e, const Finding *f)
{
	if (!fits_index(e->output, f->output) || !fits_index(e->input, f->input))
		return false;
	if (e->rule.n && !names_rule(c, e->rule, f))
		return false;
	if (e->fingerprint.n && !str_eq(e->fingerprint, f->fingerprint))
		return false;
	if (e->graph.n && !glob_match(e->graph, f->graph))
		return false;
	if (e->source.n && !(f->source.file.n && glob_path(e->source, f->source.file)))
		return false;
	if (!e->path.n)
		return true;
	return f->span.file.i && config_path_fits(c->cfg, e->path, source_get(c->sources, f->span.file)->path, c->scratch);
}

static void compare_entries(const Suppress *s, Finding *f, bool *used)
{
	const SuppressCtx *c = s->c;
	for (uint32_t i = 0; i < c->cfg->suppressions.n; i++) {
		const Suppression *e = &c->cfg->suppressions.v[i];
		if (!fits_entry(c, e, f))
			continue;
		used[i] = true;
		if (f->suppressed.n)
			continue;
		f->suppressed = S("config");
		f->suppress_reason = str_copy(s->d->a, e->reason);
	}
}

/* ---- those that nobody needs ---- */

/* Are all rules on that the words name? Only then can it be told that nothing is there. False for no rule. */
static bool all_on(const SuppressCtx *c, FileId file, Str words, Str *unknown)
{
	Str word;
	bool on = true;
	while (str_cut(&words, ',', &word)) {
		bool known = false;
		word = str_trim(word);
		for (uint32_t i = 0; i < c->rules->v.n; i++)
			if (rules_word_fits(&c->rules->v.v[i], word)) {
				known = true;
				on &= c->levels[file.i][i].on;
			}
		if (!known && !unknown->n)
			*unknown = word;
	}
	return on && !unknown->n;
}

/* An entry that nothing needed: of dumps that are not read here nothing is said. */
static bool is_needless(const SuppressCtx *c, const Suppression *e)
{
	Str unknown = {0};
	bool here = !e->path.n;
	for (uint32_t i = 1; i < c->sources->v.n && !here; i++)
		here = config_path_fits(c->cfg, e->path, c->sources->v.v[i].path, c->scratch);
	return here && all_on(c, (FileId){0}, e->rule.n ? e->rule : S("all"), &unknown);
}

static void tell(const Suppress *s, Span at, const char *variant, Str text)
{
	const Rule *rule = rules_find(s->c->rules, S("GL904"));
	RuleLevel level = rule ? s->c->levels[at.file.i][rule - s->c->rules->v.v] : (RuleLevel){0};
	if (!level.on)
		return;
	Finding *f = diag_add(s->d, S("GL904"), level.level == SEV_NONE ? SEV_WARNING : level.level, at);
	f->variant = str_from_c(variant);
	diag_var(s->d, f, S("text"), text);
	diag_step(s->d, f, ROLE_PLACE, at, S("this has no effect"));
}

static void tell_comment(const Suppress *s, const Comment *c)
{
	Str unknown = {0};
	if (c->fault.n)
		tell(s, c->at, "malformed", c->fault);
	else if (c->used)
		return;
	else if (all_on(s->c, c->at.file, c->words, &unknown))
		tell(s, c->at, "unused", c->words);
	else if (unknown.n)
		tell(s, c->at, "unknown", unknown);
}

static void tell_unused(const Suppress *s, const bool *used)
{
	const SuppressCtx *c = s->c;
	for (uint32_t i = 0; i < s->here.n; i++)
		tell_comment(s, &s->here.v[i]);
	for (uint32_t i = 0; i < s->quoted.n; i++)
		tell_comment(s, &s->quoted.v[i]);
	for (uint32_t i = 0; i < c->cfg->suppressions.n; i++) {
		const Suppression *e = &c->cfg->suppressions.v[i];
		if (!used[i] && is_needless(c, e))
			tell(s, (Span){0}, "entry", e->from);
	}
}

void suppress_findings(const SuppressCtx *c, Diags *d)
{
	ArenaMark mark = arena_mark(c->scratch);
	Suppress s = {.c = c, .d = d, .quoted_at = {.a = c->scratch}};
	bool *used = NEW_N(c->scratch, bool, (size_t)c->cfg->suppressions.n + 1);
	names_init(&s.places, c->scratch);
	for (uint32_t i = 1; i < c->sources->v.n; i++)
		read_file(&s, (FileId){i});
	read_program(&s);
	for (uint32_t i = 0; i < d->v.n; i++) {
		compare(&s, &d->v.v[i]);
		compare_entries(&s, &d->v.v[i], used);
	}
	tell_unused(&s, used);
	arena_rewind(c->scratch, mark);
}
