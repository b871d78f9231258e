/* SPDX-License-Identifier: MIT */
#include "keys.h"

#include "utf8.h"

enum { FILE_MOST = 1 << 20, FAULTS_MOST = 20, LIST_MOST = 1000, KEYS_MOST = 64, PAIRS_MOST = 1000 };

/* ---- faults ---- */

void keys_fault_at(KeysFile *k, size_t line, size_t column, Str text)
{
	if (k->faults++ < FAULTS_MOST)
		buf_printf(k->errors, STR_FMT ":%zu:%zu: " STR_FMT "\n", STR_ARG(k->path), line + 1, column + 1,
			STR_ARG(text));
}

static void fault_node(KeysFile *k, const yaml_node_t *node, Str text)
{
	keys_fault_at(k, node->start_mark.line, node->start_mark.column, text);
}

void keys_fault(KeysFile *k, const yaml_node_t *node, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fault_node(k, node, str_vprintf(k->a, fmt, ap));
	va_end(ap);
}

/* Start of a line of the file, from 0. */
static uint32_t line_start(Str s, size_t line)
{
	uint32_t at = 0;
	for (; line && at < s.n; line--)
		at = str_find_char(s, '\n', at) + 1;
	return at < s.n ? at : s.n;
}

/* Blanks at the start of a line. */
static uint32_t indent_of(Str s, uint32_t at)
{
	uint32_t n = 0;
	while (at + n < s.n && s.p[at + n] == ' ')
		n++;
	return n;
}

void keys_fault_in(KeysFile *k, const yaml_node_t *node, uint32_t at, Str text)
{
	Str all = keys_scalar(node), before = str_sub(all, 0, all.n - str_ltrim(all).n + at);
	size_t line = node->start_mark.line, column = node->start_mark.column;
	uint32_t first = str_rfind(before, S("\n"));
	if (node->data.scalar.style == YAML_LITERAL_SCALAR_STYLE) {
		line++;
		uint32_t lines = 0;
		for (uint32_t i = 0; i < before.n; i++)
			lines += before.p[i] == '\n';
		uint32_t own = first < before.n ? first + 1 : 0, file = line_start(k->text, line + lines);
		uint32_t inner = indent_of(all, own), outer = indent_of(k->text, file);
		column = before.n - own + (outer > inner ? outer - inner : 0);
		line += lines;
	} else if (node->data.scalar.style == YAML_FOLDED_SCALAR_STYLE) { /* lines are joined: the first is counted from */
		uint32_t file = line_start(k->text, ++line);
		column = indent_of(k->text, file) + before.n;
	} else if (first == before.n) {
		column += before.n + (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE);
	}
	keys_fault_at(k, line, column, text);
}

void keys_fault_word(KeysFile *k, const yaml_node_t *node, const char *what, Str word,
	const Nearest *near)
{
	Buf b = {.a = k->a};
	buf_printf(&b, "%s '" STR_FMT "'", what, STR_ARG(utf8_head(word, 80)));
	nearest_say(near, &b);
	fault_node(k, node, buf_str(&b));
}

/* ---- values ---- */

Str keys_scalar(const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE)
		return (Str){0};
	return (Str){(const char *)node->data.scalar.value, (uint32_t)node->data.scalar.length};
}

Str keys_text(KeysFile *k, const yaml_node_t *node, bool lines)
{
	Str s = str_trim(keys_scalar(node));
	if (node->type != YAML_SCALAR_NODE) {
		keys_fault(k, node, "a text is expected here");
		return (Str){0};
	}
	if (!s.n)
		keys_fault(k, node, "the text is empty");
	uint32_t n;
	for (uint32_t at = 0; at < s.n; at += n) {
		uint32_t c = utf8_decode(s, at, &n);
		if (!utf8_hidden(c) || (lines && c == '\n'))
			continue;
		keys_fault(k, node, "the text %s", c == '\n' ? "must be one line" : "has a control character");
		return (Str){0};
	}
	return str_copy(k->a, s);
}

bool keys_bool(KeysFile *k, const yaml_node_t *node, bool *out)
{
	static const Str words[][3] = {
		{STR_INIT("no"), STR_INIT("false"), STR_INIT("off")},
		{STR_INIT("yes"), STR_INIT("true"), STR_INIT("on")},
	};
	Str s = keys_scalar(node);
	for (int value = 0; value < 2; value++)
		for (int i = 0; i < 3; i++)
			if (str_eq(s, words[value][i])) {
				*out = value;
				return true;
			}
	keys_fault(k, node, "yes or no is expected here");
	return false;
}

bool keys_number(KeysFile *k, const yaml_node_t *node, int64_t least, int64_t most, int64_t *out)
{
	if (str_to_i64(keys_scalar(node), out) && *out >= least && *out <= most)
		return true;
	keys_fault(k, node, "a number from %lld to %lld is expected here", (long long)least, (long long)most);
	return false;
}

void keys_list(KeysFile *k, yaml_node_t *node, KeyFn *item, void *into)
{
	if (node->type != YAML_SEQUENCE_NODE) {
		keys_fault(k, node, "a list is expected here");
		return;
	}
	yaml_node_item_t *at = node->data.sequence.items.start, *end = node->data.sequence.items.top;
	if (at == end)
		keys_fault(k, node, "the list is empty");
	uint32_t most = k->list_most ? k->list_most : LIST_MOST;
	if (end - at > most) {
		keys_fault(k, node, "the list has more than %u items", (unsigned)most);
		return;
	}
	for (; at < end && k->faults <= FAULTS_MOST; at++)
		item(k, yaml_document_get_node(k->doc, *at), into);
}

void keys_list_or_one(KeysFile *k, yaml_node_t *node, KeyFn *item, void *into)
{
	if (node->type == YAML_SEQUENCE_NODE)
		keys_list(k, node, item, into);
	else
		item(k, node, into);
}

/* ---- mappings ---- */

static const Key *find_key(KeysFile *k, const yaml_node_t *node, const Key *keys, uint32_t n)
{
	Str word = keys_scalar(node);
	Nearest near = nearest_to(word);
	for (uint32_t i = 0; i < n; i++) {
		if (str_eq(keys[i].name, word))
			return &keys[i];
		nearest_try(&near, keys[i].name);
	}
	keys_fault_word(k, node, "unknown key", word, &near);
	return NULL;
}

void keys_mapping(KeysFile *k, yaml_node_t *node, const Key *keys, uint32_t n, void *into)
{
	uint32_t seen = 0; /* bit i: key i was there */
	if (node->type != YAML_MAPPING_NODE) {
		keys_fault(k, node, "a mapping with the key '" STR_FMT "' is expected here",
			STR_ARG(keys[0].name));
		return;
	}
	yaml_node_pair_t *at = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
	if (end - at > KEYS_MOST) {
		keys_fault(k, node, "the mapping has more than %d keys", KEYS_MOST);
		return;
	}
	for (; at < end && k->faults <= FAULTS_MOST; at++) {
		yaml_node_t *name = yaml_document_get_node(k->doc, at->key);
		const Key *key = find_key(k, name, keys, n);
		if (!key)
			continue;
		uint32_t bit = 1u << (key - keys);
		if (seen & bit)
			keys_fault(k, name, "the key '" STR_FMT "' stands here a second time", STR_ARG(key->name));
		else
			key->read(k, yaml_document_get_node(k->doc, at->value), into);
		seen |= bit;
	}
	for (uint32_t i = 0; i < n; i++)
		if (keys[i].required && !(seen >> i & 1))
			keys_fault(k, node, "the key '" STR_FMT "' is missing", STR_ARG(keys[i].name));
}

void keys_each(KeysFile *k, yaml_node_t *node, void (*pair)(KeysFile *, yaml_node_t *key, yaml_node_t *value, void *into),
	void *into)
{
	if (node->type != YAML_MAPPING_NODE) {
		keys_fault(k, node, "a mapping is expected here");
		return;
	}
	yaml_node_pair_t *at = node->data.mapping.pairs.start, *end = node->data.mapping.pairs.top;
	if (end - at > PAIRS_MOST) {
		keys_fault(k, node, "the mapping has more than %d keys", PAIRS_MOST);
		return;
	}
	for (; at < end && k->faults <= FAULTS_MOST; at++)
		pair(k, yaml_document_get_node(k->doc, at->key), yaml_document_get_node(k->doc, at->value), into);
}

bool keys_is_kebab(Str s)
{
	for (uint32_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool dash = c == '-' && i && i + 1 < s.n && s.p[i - 1] != '-';
		if (!dash && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
			return false;
	}
	return s.n > 0;
}

/* ---- files ---- */

/* The reader of libyaml gives a byte offset where it gives no mark. */
static void parser_fault(KeysFile *k, const yaml_parser_t *p, Str text)
{
	size_t line = p->problem_mark.line, column = p->problem_mark.column;
	if (p->error == YAML_MEMORY_ERROR || !p->problem)
		base_out_of_memory();
	if (p->error == YAML_READER_ERROR) {
		line = column = 0;
		for (uint32_t i = 0; i < text.n && i < p->problem_offset; i++, column++)
			if (text.p[i] == '\n') {
				line++;
				column = (size_t)-1;
			}
	}
	Buf b = {.a = k->a};
	buf_printf(&b, "not YAML: %s", p->problem);
	keys_fault_at(k, line, column, buf_str(&b));
}

static void read_documents(KeysFile *k, yaml_parser_t *parser, Str text, KeyFn *root, void *into)
{
	for (;;) {
		yaml_document_t doc;
		if (!yaml_parser_load(parser, &doc)) {
			parser_fault(k, parser, text);
			return;
		}
		yaml_node_t *node = yaml_document_get_root_node(&doc);
		if (node) {
			k->doc = &doc;
			k->documents++;
			root(k, node, into);
		}
		yaml_document_delete(&doc);
		if (!node)
			return;
	}
}

bool keys_documents(KeysFile *k, Str text, KeyFn *root, void *into)
{
	yaml_parser_t parser;
	k->text = text;
	if (text.n > (k->file_most ? k->file_most : FILE_MOST)) {
		keys_fault_at(k, 0, 0, S("the file is larger than 1 MiB"));
		return false;
	}
	if (!yaml_parser_initialize(&parser))
		base_out_of_memory();
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	read_documents(k, &parser, text, root, into);
	yaml_parser_delete(&parser);
	if (k->faults > FAULTS_MOST)
		buf_printf(k->errors, STR_FMT ": more faults are not shown\n", STR_ARG(k->path));
	return k->faults == 0;
}
