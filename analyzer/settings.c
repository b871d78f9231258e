/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "glob.h"
#include "source.h"
#include "json.h"

static const char NAME[] = ".graphlint.yaml";
static const uint64_t FILE_MOST = 1 << 20;

/* ---- finding the file ---- */

static Str working_folder(Arena *a)
{
	char folder[PATH_MAX];
	return getcwd(folder, sizeof folder) ? str_copy(a, str_from_c(folder)) : S(".");
}

/* Only a regular file: a pipe would be waited for. */
static bool is_file(Arena *a, Str path)
{
	struct stat st;
	return stat(str_to_c(a, path), &st) == 0 && S_ISREG(st.st_mode);
}

/* The nearest file upward from a folder, or from the folder of a file; empty when there is none. */
static Str find_upward(Arena *a, Str from)
{
	for (Str folder = from;; folder = path_folder(folder)) {
		Str path = path_join(a, folder, str_from_c(NAME));
		if (is_file(a, path))
			return path;
		if (folder.n <= 1)
			return (Str){0};
	}
}

/* One configuration holds for a run: a second one is told of, not mixed in. */
static Str find_file(const Options *o, Str cwd, Arena *a, Buf *notes)
{
	Str found = {0};
	for (uint32_t i = 0; i < o->paths.n; i++) {
		Str path = o->paths.v[i];
		Str one = str_eq(path, S("-")) ? (Str){0} : find_upward(a, path_join(a, cwd, path));
		if (!found.n)
			found = one;
		else if (one.n && !str_eq(one, found)) {
			buf_printf(notes, STR_FMT " is not used: " STR_FMT " holds for this run (--config chooses)\n",
				STR_ARG(path_below(a, cwd, one)), STR_ARG(path_below(a, cwd, found)));
			break;
		}
	}
	return found.n ? found : find_upward(a, cwd);
}

static bool read_file(Options *o, Arena *a, Str path, Str shown, Buf *errors)
{
	Sources files;
	Str why;
	sources_init(&files, a);
	FileId f = sources_add_file(&files, path, shown, FILE_MOST, &why);
	if (!f.i) {
		buf_printf(errors, STR_FMT ": " STR_FMT "\n", STR_ARG(shown), STR_ARG(why));
		return false;
	}
	return config_file_load(&o->file, a, shown, source_get(&files, f)->text, errors);
}

/* ---- the file below the command line ---- */

static bool is_given(const Options *o, const char *option)
{
	for (uint32_t i = 0; i < o->given.n; i++)
		if (str_eq(o->given.v[i], str_from_c(option)))
			return true;
	return false;
}

/* --contract stands for the whole of it; switches of --keep go on top of the file's. */
static void merge_contract(Options *o)
{
	Contract *c = &o->cfg.contract;
	const Contract *f = &o->file.contract;
	if (o->cfg.contract_given)
		return;
	c->name = f->name;
	c->keep_value = (c->keep_value & c->keep_set) | (f->keep_value & f->keep_set & ~c->keep_set);
	c->keep_set |= f->keep_set;
}

static void merge_rules(Options *o, Arena *a)
{
	Config *c = &o->cfg;
	uint32_t n = c->asks.n;
	const RuleAsk *command = c->asks.v;
	c->asks.v = NULL;
	c->asks.n = c->asks.cap = 0;
	for (uint32_t i = 0; i < o->file.asks.n; i++)
		VEC_PUSH(a, &c->asks, o->file.asks.v[i]);
	for (uint32_t i = 0; i < n; i++)
		VEC_PUSH(a, &c->asks, command[i]);
	for (uint32_t i = 0; i < o->file.paths.n; i++)
		VEC_PUSH(a, &c->paths, o->file.paths.v[i]);
	for (uint32_t i = 0; i < o->file.suppressions.n; i++)
		VEC_PUSH(a, &c->suppressions, o->file.suppressions.v[i]);
}

/* A path of the file, as it can be opened from the working directory. */
static Str own_path(const Options *o, Arena *a, Str path)
{
	return path_below(a, o->cfg.working_folder, path_join(a, o->cfg.folder, path));
}

/* Files of the configuration before those of the command line: what is read later wins. */
static StrList with_own(const Options *o, Arena *a, const ConfigItems *own, const StrList *given)
{
	StrList all = {0};
	for (uint32_t i = 0; i < own->n; i++)
		VEC_PUSH(a, &all, own_path(o, a, own->v[i].text));
	for (uint32_t i = 0; i < given->n; i++)
		VEC_PUSH(a, &all, given->v[i]);
	return all;
}

static void merge(Options *o, Arena *a)
{
	const ConfigFile *f = &o->file;
	Config *c = &o->cfg;
	if (f->line[SET_CONTRACT])
		merge_contract(o);
	if (f->line[SET_TORCH] && !is_given(o, "torch"))
		c->torch = f->torch;
	if (f->line[SET_FAIL_ON] && !is_given(o, "fail-on"))
		c->fail_on = f->fail_on;
	if (f->line[SET_SHOW] && !is_given(o, "show"))
		c->show = f->show;
	if (f->line[SET_BASELINE] && !is_given(o, "baseline"))
		o->baseline = own_path(o, a, f->baseline);
	c->allow_incomplete |= f->allow_incomplete;
	merge_rules(o, a);
	o->facts = with_own(o, a, &f->facts, &o->facts);
	o->rule_files = with_own(o, a, &f->rule_files, &o->rule_files);
}

bool settings_load(Options *o, Arena *a, Buf *errors, Buf *notes)
{
	Str cwd = o->cfg.working_folder = working_folder(a);
	o->cfg.contract_given = is_given(o, "contract");
	Str path = o->isolated ? (Str){0} : o->config.n ? path_join(a, cwd, o->config) : find_file(o, cwd, a, notes);
	if (!path.n)
		return true;
	Str shown = o->config.n ? o->config : path_below(a, cwd, path);
	o->cfg.folder = path_folder(path);
	o->has_file = true;
	o->cfg.from = shown;
	if (!read_file(o, a, path, shown, errors))
		return false;
	merge(o, a);
	return true;
}

Str settings_operators(const Options *o, Arena *a)
{
	Buf b = {.a = a};
	uint32_t line = 1;
	for (uint32_t i = 0; i < o->file.operators.n; i++) {
		const ConfigItem *item = &o->file.operators.v[i];
		for (; line < item->line; line++)
			buf_char(&b, '\n');
		buf_add(&b, item->text);
		buf_char(&b, '\n');
		line++;
	}
	return buf_str(&b);
}

bool settings_excluded(const Options *o, Str path, Arena *scratch)
{
	for (uint32_t i = 0; i < o->file.exclude.n; i++)
		if (config_path_fits(&o->cfg, o->file.exclude.v[i].text, path, scratch))
			return true;
	return false;
}

/* ---- what is in force ---- */

/* A setting: its value, an item of its list, or a pair of its mapping, in JSON (which is YAML too). */
typedef enum RowKind { ROW_VALUE, ROW_ITEM, ROW_PAIR } RowKind;
typedef void RowFn(void *ctx, RowKind kind, SettingId id, Str value, Str from);

typedef struct Rows {
	const Options *o;
	Arena *a;
	RowFn *row;
	void *ctx;
} Rows;

static Str quoted(Arena *a, Str s)
{
	Buf b = {.a = a};
	Json j = json_new(&b, false);
	json_str(&j, s);
	return buf_str(&b);
}

static Str level_word(Severity s, const char *none)
{
	return s == SEV_NONE ? str_from_c(none) : severity_name(s);
}

static Str line_of(const Rows *r, uint32_t line)
{
	return str_printf(r->a, STR_FMT ":%u", STR_ARG(r->o->file.path), (unsigned)line);
}

/* Where a setting is from that one option sets. */
static Str from_of(const Rows *r, SettingId id, const char *option)
{
	if (is_given(r->o, option))
		return str_printf(r->a, "--%s", option);
	return r->o->file.line[id] ? line_of(r, r->o->file.line[id]) : S("default");
}

static void value_row(const Rows *r, SettingId id, Str value, const char *option)
{
	r->row(r->ctx, ROW_VALUE, id, value, from_of(r, id, option));
}

static Str contract_value(Arena *a, const Contract *c)
{
	Buf b = {.a = a};
	Str text = contract_text(c, a), part;
	if (!c->keep_set)
		return quoted(a, text);
	for (uint32_t n = 0; str_cut(&text, ',', &part); n++) {
		uint32_t eq = str_find_char(part, '=', 0);
		if (!n)
			buf_printf(&b, "{\"name\": \"" STR_FMT "\"", STR_ARG(part));
		else
			buf_printf(&b, ", \"" STR_FMT "\": %s", STR_ARG(str_sub(part, 0, eq)),
				str_ends(part, S("=yes")) ? "true" : "false");
	}
	buf_char(&b, '}');
	return buf_str(&b);
}

static void contract_row(const Rows *r)
{
	Str from = from_of(r, SET_CONTRACT, "contract");
	if (is_given(r->o, "keep"))
		from = str_eq(from, S("default")) ? S("--keep") : str_printf(r->a, STR_FMT ", --keep", STR_ARG(from));
	r->row(r->ctx, ROW_VALUE, SET_CONTRACT, contract_value(r->a, &r->o->cfg.contract), from);
}

/* Is there a later word of the same kind that takes this one's place? */
static bool is_replaced(const Config *c, uint32_t at)
{
	const RuleAsk *ask = &c->asks.v[at];
	for (uint32_t i = at + 1; i < c->asks.n; i++) {
		const RuleAsk *later = &c->asks.v[i];
		bool selects = ask->kind == ASK_SELECT && later->command && !ask->command;
		if (later->kind == ask->kind && (selects || str_eq(later->word, ask->word)))
			return true;
	}
	return false;
}

/* Every word about rules by itself: they come from several places. */
static void ask_rows(const Rows *r, AskKind kind, SettingId id)
{
	const Config *c = &r->o->cfg;
	for (uint32_t i = 0; i < c->asks.n; i++) {
		const RuleAsk *ask = &c->asks.v[i];
		if (ask->kind != kind || is_replaced(c, i))
			continue;
		Str word = quoted(r->a, ask->word);
		if (kind == ASK_LEVEL)
			word = str_printf(r->a, STR_FMT ": " STR_FMT, STR_ARG(word), STR_ARG(quoted(r->a, level_word(ask->level, "off"))));
		r->row(r->ctx, kind == ASK_LEVEL ? ROW_PAIR : ROW_ITEM, id, word, ask->from);
	}
}

static void item_rows(const Rows *r, const ConfigItems *items, SettingId id)
{
	for (uint32_t i = 0; i < items->n; i++)
		r->row(r->ctx, ROW_ITEM, id, quoted(r->a, items->v[i].text), line_of(r, items->v[i].line));
}

/* Those of the command line, which stand behind those of the file. */
static void option_rows(const Rows *r, const StrList *all, const ConfigItems *own, SettingId id, const char *option)
{
	for (uint32_t i = own->n; i < all->n; i++)
		r->row(r->ctx, ROW_ITEM, id, quoted(r->a, all->v[i]), str_from_c(option));
}

static void add_member(Buf *b, Arena *a, const char *key, Str value)
{
	if (value.n)
		buf_printf(b, ", \"%s\": " STR_FMT, key, STR_ARG(quoted(a, value)));
}

static void add_words(Buf *b, Arena *a, const char *key, Str words)
{
	Str word;
	buf_printf(b, ", \"%s\": [", key);
	for (uint32_t n = 0; str_cut(&words, ',', &word); n++)
		buf_printf(b, "%s" STR_FMT, n ? ", " : "", STR_ARG(quoted(a, word)));
	buf_char(b, ']');
}

static void add_path_rules(Buf *b, Arena *a, const PathSetting *p)
{
	const char *before = ", \"rules\": {";
	for (uint32_t i = 0; i < p->asks.n; i++) {
		const RuleAsk *ask = &p->asks.v[i];
		Str level = ask->kind == ASK_IGNORE ? S("off") : level_word(ask->level, "off");
		buf_printf(b, "%s" STR_FMT ": " STR_FMT, before, STR_ARG(quoted(a, ask->word)), STR_ARG(quoted(a, level)));
		before = ", ";
	}
	if (p->asks.n)
		buf_char(b, '}');
}

static void path_rows(const Rows *r)
{
	for (uint32_t i = 0; i < r->o->cfg.paths.n; i++) {
		const PathSetting *p = &r->o->cfg.paths.v[i];
		Buf b = {.a = r->a};
		buf_printf(&b, "{\"match\": " STR_FMT, STR_ARG(quoted(r->a, p->glob)));
		if (p->has_contract)
			buf_printf(&b, ", \"contract\": " STR_FMT, STR_ARG(contract_value(r->a, &p->contract)));
		add_path_rules(&b, r->a, p);
		buf_char(&b, '}');
		r->row(r->ctx, ROW_ITEM, SET_PATHS, buf_str(&b), p->from);
	}
}

static void suppress_rows(const Rows *r)
{
	for (uint32_t i = 0; i < r->o->cfg.suppressions.n; i++) {
		const Suppression *s = &r->o->cfg.suppressions.v[i];
		Buf b = {.a = r->a};
		buf_printf(&b, "{\"reason\": " STR_FMT, STR_ARG(quoted(r->a, s->reason)));
		if (s->rule.n)
			add_words(&b, r->a, "rule", s->rule);
		add_member(&b, r->a, "path", s->path);
		add_member(&b, r->a, "source", s->source);
		add_member(&b, r->a, "graph", s->graph);
		if (s->output >= 0)
			buf_printf(&b, ", \"output\": %d", (int)s->output);
		if (s->input >= 0)
			buf_printf(&b, ", \"input\": %d", (int)s->input);
		add_member(&b, r->a, "fingerprint", s->fingerprint);
		buf_char(&b, '}');
		r->row(r->ctx, ROW_ITEM, SET_SUPPRESS, buf_str(&b), s->from);
	}
}

static void all_rows(const Rows *r)
{
	const Options *o = r->o;
	const Config *c = &o->cfg;
	Version v = c->torch.lo;
	contract_row(r);
	if (v)
		value_row(r, SET_TORCH, str_printf(r->a, "\"%u.%u\"", (unsigned)v / 100, (unsigned)v % 100), "torch");
	ask_rows(r, ASK_SELECT, SET_SELECT);
	ask_rows(r, ASK_IGNORE, SET_IGNORE);
	ask_rows(r, ASK_LEVEL, SET_RULES);
	item_rows(r, &o->file.rule_files, SET_RULE_FILES);
	option_rows(r, &o->rule_files, &o->file.rule_files, SET_RULE_FILES, "--rules");
	item_rows(r, &o->file.operators, SET_OPERATORS);
	item_rows(r, &o->file.facts, SET_FACTS);
	option_rows(r, &o->facts, &o->file.facts, SET_FACTS, "--facts");
	item_rows(r, &o->file.exclude, SET_EXCLUDE);
	path_rows(r);
	suppress_rows(r);
	if (o->baseline.n)
		value_row(r, SET_BASELINE, quoted(r->a, o->baseline), "baseline");
	value_row(r, SET_FAIL_ON, quoted(r->a, level_word(c->fail_on, "never")), "fail-on");
	value_row(r, SET_SHOW, quoted(r->a, severity_name(c->show)), "show");
	value_row(r, SET_INCOMPLETE, c->allow_incomplete ? S("true") : S("false"), "allow-incomplete");
}

typedef struct Print {
	Buf *out;
	Arena *a;
	Json j;
	SettingId last; /* whose list or mapping is open; SET_N none */
} Print;

static void text_row(void *ctx, RowKind kind, SettingId id, Str value, Str from)
{
	Print *p = ctx;
	if (kind == ROW_VALUE)
		buf_printf(p->out, STR_FMT ": ", STR_ARG(setting_key(id)));
	else if (p->last != id)
		buf_printf(p->out, STR_FMT ":\n", STR_ARG(setting_key(id)));
	if (kind != ROW_VALUE)
		buf_add(p->out, kind == ROW_ITEM ? S("  - ") : S("  "));
	buf_printf(p->out, STR_FMT "  # ", STR_ARG(value));
	buf_printf(p->out, STR_FMT "\n", STR_ARG(from));
	p->last = id;
}

void settings_text(const Options *o, Arena *a, Buf *out)
{
	Print p = {.out = out, .last = SET_N};
	Rows r = {o, a, text_row, &p};
	buf_printf(out, "# " STR_FMT "\n", STR_ARG(o->has_file ? o->file.path : S("no configuration file")));
	all_rows(&r);
}

static void json_row(void *ctx, RowKind kind, SettingId id, Str value, Str from)
{
	Print *p = ctx;
	json_object(&p->j);
	p->j.pretty = false;
	json_key(&p->j, S("setting"));
	json_str(&p->j, setting_key(id));
	json_key(&p->j, S("value"));
	json_raw(&p->j, kind == ROW_PAIR ? str_printf(p->a, "{" STR_FMT "}", STR_ARG(value)) : value);
	json_key(&p->j, S("from"));
	json_str(&p->j, from);
	json_end(&p->j);
	p->j.pretty = true;
}

void settings_json(const Options *o, Arena *a, Buf *out)
{
	Print p = {.out = out, .a = a, .j = json_new(out, true), .last = SET_N};
	Rows r = {o, a, json_row, &p};
	json_object(&p.j);
	json_key(&p.j, S("file"));
	json_str_or_null(&p.j, o->has_file ? o->file.path : (Str){0});
	json_key(&p.j, S("settings"));
	json_array(&p.j);
	all_rows(&r);
	json_end(&p.j);
	json_end(&p.j);
	buf_char(out, '\n');
}
