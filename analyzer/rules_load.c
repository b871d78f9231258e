/* SPDX-License-Identifier: MIT
 * Rule files: YAML, one rule a document. A file is checked as a whole, and adds all or nothing. */
#include <yaml.h>

#include "config.h"
#include "nearest.h"
#include "rules.h"
#include "template.h"
#include "utf8.h"

enum { FILE_MOST = 1 << 20, FAULTS_MOST = 20, LIST_MOST = 1000, KEYS_MOST = 64 };

typedef struct Loader {
	const Rules *known; /* rules of other files, and those of this one so far */
	Arena *a;
	Str path;
	Buf *errors;
	uint32_t faults;
	yaml_document_t *doc;
} Loader;

/* Reads the value of a key into the object that the mapping describes. */
typedef void ReadFn(Loader *l, yaml_node_t *node, void *into);

typedef struct Key {
	Str name;
	bool required;
	ReadFn *read;
} Key;

/* ---- faults ---- */

static void fault_at(Loader *l, size_t line, size_t column, Str text)
{
	if (l->faults++ >= FAULTS_MOST)
		return;
	buf_printf(l->errors, STR_FMT ":%zu:%zu: " STR_FMT "\n", STR_ARG(l->path), line + 1, column + 1,
		STR_ARG(text));
}

__attribute__((format(printf, 3, 4)))
static void fault(Loader *l, const yaml_node_t *node, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fault_at(l, node->start_mark.line, node->start_mark.column, str_vprintf(l->a, fmt, ap));
	va_end(ap);
}

/* A fault about a word that is not known, with the nearest one that is. */
static void fault_word(Loader *l, const yaml_node_t *node, const char *what, Str word,
	const Nearest *near)
{
	Buf b = {.a = l->a};
	buf_printf(&b, "%s '" STR_FMT "'", what, STR_ARG(utf8_head(word, 80)));
	nearest_say(near, &b);
	fault_at(l, node->start_mark.line, node->start_mark.column, buf_str(&b));
}

/* ---- values ---- */

static Str scalar(const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE)
		return (Str){0};
	return (Str){(const char *)node->data.scalar.value, (uint32_t)node->data.scalar.length};
}

/* A non-empty text; newlines only where `lines` says so. Empty after a fault. */
static Str read_text(Loader *l, const yaml_node_t *node, bool lines)
{
	Str s = str_trim(scalar(node));
	if (node->type != YAML_SCALAR_NODE) {
		fault(l, node, "a text is expected here");
		return (Str){0};
	}
	if (!s.n)
		fault(l, node, "the text is empty");
	uint32_t n;
	for (uint32_t at = 0; at < s.n; at += n) {
		uint32_t c = utf8_decode(s, at, &n);
		if (!utf8_hidden(c) || (lines && c == '\n'))
			continue;
		fault(l, node, "the text %s", c == '\n' ? "must be one line" : "has a control character");
		return (Str){0};
	}
	return str_copy(l->a, s);
}

static void read_sequence(Loader *l, yaml_node_t *node, ReadFn *item, void *into)
{
	if (node->type != YAML_SEQUENCE_NODE) {
		fault(l, node, "a list is expected here");
		return;
	}
	yaml_node_item_t *at = node->data.sequence.items.start, *end = node->data.sequence.items.top;
	if (at == end)
		fault(l, node, "the list is empty");
	if (end - at > LIST_MOST) {
		fault(l, node, "the list has more than %d items", LIST_MOST);
		return;
	}
	for (; at < end && l->faults <= FAULTS_MOST; at++)
		item(l, yaml_document_get_node(l->doc, *at), into);
}

static const Key *find_key(Loader *l, const yaml_node_t *node, const Key *keys, uint32_t n)
{
	Str word = scalar(node);
	Nearest near = nearest_to(word);
	for (uint32_t i = 0; i < n; i++) {
		if (str_eq(keys[i].name, word))
			return &keys[i];
		nearest_try(&near, keys[i].name);
	}
	fault_word(l, node, "unknown key", word, &near);
	return NULL;
}

static void read_mapping(Loader *l, yaml_node_t *node, const Key *keys, uint32_t n, void *into)
{
	uint32_t seen = 0; /* bit i: key i was there */
	if (node->type != YAML_MAPPING_NODE) {
		fault(l, node, "a mapping with the key '" STR_FMT "' is expected here",
			STR_ARG(keys[0].name));
		return;
	}
	yaml_node_pair_t *at = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
	if (end - at > KEYS_MOST) {
		fault(l, node, "the mapping has more than %d keys", KEYS_MOST);
		return;
	}
	for (; at < end && l->faults <= FAULTS_MOST; at++) {
		yaml_node_t *name = yaml_document_get_node(l->doc, at->key);
		const Key *key = find_key(l, name, keys, n);
		if (!key)
			continue;
		uint32_t bit = 1u << (key - keys);
		if (seen & bit)
			fault(l, name, "the key '" STR_FMT "' stands here a second time", STR_ARG(key->name));
		else
			key->read(l, yaml_document_get_node(l->doc, at->value), into);
		seen |= bit;
	}
	for (uint32_t i = 0; i < n; i++)
		if (keys[i].required && !(seen >> i & 1))
			fault(l, node, "the key '" STR_FMT "' is missing", STR_ARG(keys[i].name));
}

/* ---- wordings ---- */

static const Str var_names[] = {
#define RULE_VAR(name, meaning) STR_INIT(#name),
#include "rule_vars.def"
#undef RULE_VAR
};

enum { NVARS = sizeof var_names / sizeof *var_names };

static bool var_known(Str name)
{
	for (uint32_t i = 0; i < NVARS; i++)
		if (str_eq(name, var_names[i]))
			return true;
	return false;
}

static Str read_template(Loader *l, yaml_node_t *node)
{
	Str t = read_text(l, node, false), name;
	Buf why = {.a = l->a};
	if (template_check(t, var_known, &why, &name))
		return t;
	Nearest near = nearest_to(name);
	for (uint32_t i = 0; name.n && i < NVARS; i++)
		nearest_try(&near, var_names[i]);
	nearest_say(&near, &why);
	fault_at(l, node->start_mark.line, node->start_mark.column, buf_str(&why));
	return (Str){0};
}

/* Lower-case words joined by "-". */
static bool is_kebab(Str s)
{
	for (uint32_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool dash = c == '-' && i && i + 1 < s.n && s.p[i - 1] != '-';
		if (!dash && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
			return false;
	}
	return s.n > 0;
}

static Str read_kebab(Loader *l, yaml_node_t *node)
{
	Str s = read_text(l, node, false);
	if (s.n && !is_kebab(s))
		fault(l, node, "'" STR_FMT "' is not made of lower-case words joined by '-'",
			STR_ARG(utf8_head(s, 80)));
	return s;
}

static void read_variant(Loader *l, yaml_node_t *node, void *into)
{
	((Wording *)into)->variant = read_kebab(l, node);
}

static void read_message(Loader *l, yaml_node_t *node, void *into)
{
	((Wording *)into)->message = read_template(l, node);
}

static void read_suggestion(Loader *l, yaml_node_t *node, void *into)
{
	((Wording *)into)->suggestion = read_template(l, node);
}

static void read_wording(Loader *l, yaml_node_t *node, void *into)
{
	static const Key keys[] = {
		{STR_INIT("message"), true, read_message},
		{STR_INIT("variant"), false, read_variant},
		{STR_INIT("suggestion"), false, read_suggestion},
	};
	Rule *r = into;
	Wording w = {0};
	read_mapping(l, node, keys, sizeof keys / sizeof *keys, &w);
	for (uint32_t i = 0; i < r->wordings.n; i++)
		if (str_eq(r->wordings.v[i].variant, w.variant)) {
			fault(l, node, "a second wording for the variant '" STR_FMT "'", STR_ARG(w.variant));
			return;
		}
	VEC_PUSH(l->a, &r->wordings, w);
}

/* ---- the rule ---- */

/* Capital letters, then three or more digits: GL101. */
static bool is_rule_id(Str s)
{
	uint32_t i = 0, letters;
	while (i < s.n && s.p[i] >= 'A' && s.p[i] <= 'Z')
		i++;
	letters = i;
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return letters >= 2 && i == s.n && i - letters >= 3 && s.n <= 16;
}

static void read_id(Loader *l, yaml_node_t *node, void *into)
{
	Rule *r = into;
	r->id = read_text(l, node, false);
	if (r->id.n && !is_rule_id(r->id))
		fault(l, node, "'" STR_FMT "' is no rule id: capital letters, then three or more digits",
			STR_ARG(utf8_head(r->id, 80)));
	if (rules_find(l->known, r->id))
		fault(l, node, "there is a rule '" STR_FMT "' already", STR_ARG(r->id));
}

static void read_name(Loader *l, yaml_node_t *node, void *into)
{
	Rule *r = into;
	r->name = read_kebab(l, node);
	if (rules_find(l->known, r->name))
		fault(l, node, "there is a rule '" STR_FMT "' already", STR_ARG(r->name));
}

static void read_level(Loader *l, yaml_node_t *node, void *into)
{
	Str s = read_text(l, node, false);
	Severity level = SEV_NONE;
	if (severity_parse(s, &level) && level != SEV_NONE) {
		((Rule *)into)->level = level;
		return;
	}
	Nearest near = nearest_to(s);
	for (int i = SEV_NOTE; i <= SEV_ERROR; i++)
		nearest_try(&near, severity_name((Severity)i));
	if (s.n)
		fault_word(l, node, "a level is note, warning or error, not", s, &near);
}

static void read_summary(Loader *l, yaml_node_t *node, void *into)
{
	((Rule *)into)->summary = read_text(l, node, false);
}

static void read_help(Loader *l, yaml_node_t *node, void *into)
{
	((Rule *)into)->help = read_text(l, node, true);
}

/* Numbers joined by dots. */
static bool is_version(Str s)
{
	bool dot = false;
	for (uint32_t i = 0; i < s.n; i++) {
		if (s.p[i] == '.' && (!i || s.p[i - 1] == '.' || i + 1 == s.n))
			return false;
		dot |= s.p[i] == '.';
		if (s.p[i] != '.' && (s.p[i] < '0' || s.p[i] > '9'))
			return false;
	}
	return dot;
}

static void read_since(Loader *l, yaml_node_t *node, void *into)
{
	Str s = read_text(l, node, false);
	((Rule *)into)->since = s;
	if (s.n && !is_version(s))
		fault(l, node, "'" STR_FMT "' is no version", STR_ARG(utf8_head(s, 80)));
}

static void read_contract(Loader *l, yaml_node_t *node, void *into)
{
	Rule *r = into;
	Str s = read_text(l, node, false);
	ContractName c;
	if (contract_parse(s, &c) && c != CONTRACT_AUTO) {
		r->contracts |= CONTRACT_BIT(c);
		return;
	}
	Nearest near = nearest_to(s);
	for (int i = CONTRACT_AUTO + 1; i < CONTRACT_N; i++)
		nearest_try(&near, contract_name((ContractName)i));
	if (s.n)
		fault_word(l, node, "unknown contract", s, &near);
}

static void read_contracts(Loader *l, yaml_node_t *node, void *into)
{
	read_sequence(l, node, read_contract, into);
}

static void read_reference(Loader *l, yaml_node_t *node, void *into)
{
	Rule *r = into;
	Str s = read_text(l, node, false);
	if (s.n && !str_starts(s, S("https://")))
		fault(l, node, "a reference begins with https://");
	VEC_PUSH(l->a, &r->references, s);
}

static void read_references(Loader *l, yaml_node_t *node, void *into)
{
	read_sequence(l, node, read_reference, into);
}

static void read_wordings(Loader *l, yaml_node_t *node, void *into)
{
	read_sequence(l, node, read_wording, into);
}

static void read_rule(Loader *l, yaml_node_t *node, Rule *r)
{
	static const Key keys[] = {
		{STR_INIT("id"), true, read_id},
		{STR_INIT("name"), true, read_name},
		{STR_INIT("level"), true, read_level},
		{STR_INIT("summary"), true, read_summary},
		{STR_INIT("since"), true, read_since},
		{STR_INIT("contracts"), false, read_contracts},
		{STR_INIT("references"), false, read_references},
		{STR_INIT("wordings"), true, read_wordings},
		{STR_INIT("help"), true, read_help},
	};
	read_mapping(l, node, keys, sizeof keys / sizeof *keys, r);
}

/* ---- files ---- */

/* The reader of libyaml gives a byte offset where it gives no mark. */
static void parser_fault(Loader *l, const yaml_parser_t *p, Str text)
{
	size_t line = p->problem_mark.line, column = p->problem_mark.column;
	if (p->error == YAML_READER_ERROR) {
		line = column = 0;
		for (uint32_t i = 0; i < text.n && i < p->problem_offset; i++, column++)
			if (text.p[i] == '\n') {
				line++;
				column = (size_t)-1;
			}
	}
	Buf b = {.a = l->a};
	buf_printf(&b, "not YAML: %s", p->problem ? p->problem : "no memory");
	fault_at(l, line, column, buf_str(&b));
}

static void read_documents(Loader *l, yaml_parser_t *parser, Str text, Rules *found)
{
	for (;;) {
		yaml_document_t doc;
		if (!yaml_parser_load(parser, &doc)) {
			parser_fault(l, parser, text);
			return;
		}
		yaml_node_t *root = yaml_document_get_root_node(&doc);
		if (root) {
			Rule r = {0};
			l->doc = &doc;
			read_rule(l, root, &r);
			VEC_PUSH(l->a, &found->v, r);
		}
		yaml_document_delete(&doc);
		if (!root)
			return;
	}
}

bool rules_load(Rules *r, Arena *a, Str path, Str text, Buf *errors)
{
	Rules all = {0};
	for (uint32_t i = 0; i < r->v.n; i++)
		VEC_PUSH(a, &all.v, r->v.v[i]);
	Loader l = {.known = &all, .a = a, .path = path, .errors = errors};
	yaml_parser_t parser;
	if (text.n > FILE_MOST) {
		fault_at(&l, 0, 0, S("the file is larger than 1 MiB"));
		return false;
	}
	if (!yaml_parser_initialize(&parser)) {
		fault_at(&l, 0, 0, S("no memory"));
		return false;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	read_documents(&l, &parser, text, &all);
	yaml_parser_delete(&parser);
	if (!l.faults && all.v.n == r->v.n)
		fault_at(&l, 0, 0, S("the file holds no rule"));
	if (l.faults > FAULTS_MOST)
		buf_printf(errors, STR_FMT ": more faults are not shown\n", STR_ARG(path));
	if (!l.faults)
		*r = all;
	return l.faults == 0;
}
