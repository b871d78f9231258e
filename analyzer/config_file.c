/* SPDX-License-Identifier: MIT */
#include "config_file.h"

#include "utf8.h"
#include "glob.h"
#include "keys.h"

static uint32_t line_of(const yaml_node_t *node)
{
	return (uint32_t)node->start_mark.line + 1;
}

static Str from_of(const KeysFile *k, const yaml_node_t *node)
{
	return str_printf(k->a, STR_FMT ":%u", STR_ARG(k->path), (unsigned)line_of(node));
}

/* ---- single values ---- */

/* One of the words that `near` was tried with, or a fault. */
static bool want(KeysFile *k, const yaml_node_t *node, bool known, const char *what, const Nearest *near)
{
	if (!known)
		keys_fault_word(k, node, what, keys_scalar(node), near);
	return known;
}

static void read_contract_name(KeysFile *k, yaml_node_t *node, void *into)
{
	Str s = keys_text(k, node, false);
	Nearest near = nearest_to(s);
	for (int i = 0; i < CONTRACT_N; i++)
		nearest_try(&near, contract_name((ContractName)i));
	if (s.n)
		want(k, node, contract_parse(s, &((Contract *)into)->name), "unknown contract", &near);
}

/* One member of the mapping: `name`, or a switch. */
static void read_contract_pair(KeysFile *k, yaml_node_t *key, yaml_node_t *value, void *into)
{
	Contract *c = into;
	bool yes;
	Str why;
	if (str_eq(keys_scalar(key), S("name"))) {
		read_contract_name(k, value, c);
		return;
	}
	if (!keys_bool(k, value, &yes))
		return;
	Str one = str_printf(k->a, STR_FMT "=%s", STR_ARG(keys_scalar(key)), yes ? "yes" : "no");
	if (str_has(keys_scalar(key), S(",")) || str_has(keys_scalar(key), S("=")))
		keys_fault(k, key, "unknown switch");
	else if (!contract_keep_parse(one, c, k->a, &why))
		keys_fault(k, key, STR_FMT, STR_ARG(why));
}

static void read_contract_of(KeysFile *k, yaml_node_t *node, Contract *c)
{
	if (node->type == YAML_MAPPING_NODE)
		keys_each(k, node, read_contract_pair, c);
	else
		read_contract_name(k, node, c);
}

static void read_contract(KeysFile *k, yaml_node_t *node, void *into)
{
	read_contract_of(k, node, &((ConfigFile *)into)->contract);
}

static void read_torch(KeysFile *k, yaml_node_t *node, void *into)
{
	Version v = 0;
	Str s = keys_text(k, node, false);
	if (s.n && !version_parse(s, &v))
		keys_fault(k, node, "a version looks like 2.13, not like '" STR_FMT "'", STR_ARG(utf8_head(s, 40)));
	((ConfigFile *)into)->torch = (VersionSpan){v, v};
}

static void read_severity(KeysFile *k, yaml_node_t *node, bool never, Severity *out)
{
	Str s = keys_text(k, node, false);
	Severity got = SEV_NONE;
	Nearest near = nearest_to(s);
	for (int i = SEV_NOTE; i <= SEV_ERROR; i++)
		nearest_try(&near, severity_name((Severity)i));
	if (never)
		nearest_try(&near, S("never"));
	bool known = (never && str_eq(s, S("never"))) || (severity_parse(s, &got) && got != SEV_NONE);
	if (s.n && want(k, node, known, "unknown level", &near))
		*out = got;
}

static void read_fail_on(KeysFile *k, yaml_node_t *node, void *into)
{
	read_severity(k, node, true, &((ConfigFile *)into)->fail_on);
}

static void read_show(KeysFile *k, yaml_node_t *node, void *into)
{
	read_severity(k, node, false, &((ConfigFile *)into)->show);
}

static void read_incomplete(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_bool(k, node, &((ConfigFile *)into)->allow_incomplete);
}

static void read_baseline(KeysFile *k, yaml_node_t *node, void *into)
{
	((ConfigFile *)into)->baseline = keys_text(k, node, false);
}

/* ---- lists of texts ---- */

static void read_item(KeysFile *k, yaml_node_t *node, void *into)
{
	Str s = keys_text(k, node, false);
	VEC_PUSH(k->a, (ConfigItems *)into, ((ConfigItem){s, line_of(node)}));
}

static Str read_glob(KeysFile *k, yaml_node_t *node)
{
	Str s = keys_text(k, node, false), why = glob_fault(s);
	if (why.n)
		keys_fault(k, node, STR_FMT, STR_ARG(why));
	return s;
}

static void read_glob_item(KeysFile *k, yaml_node_t *node, void *into)
{
	VEC_PUSH(k->a, (ConfigItems *)into, ((ConfigItem){read_glob(k, node), line_of(node)}));
}

static void read_rule_files(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list_or_one(k, node, read_item, &((ConfigFile *)into)->rule_files);
}

static void read_operators(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list_or_one(k, node, read_item, &((ConfigFile *)into)->operators);
}

static void read_facts(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list_or_one(k, node, read_item, &((ConfigFile *)into)->facts);
}

static void read_exclude(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list_or_one(k, node, read_glob_item, &((ConfigFile *)into)->exclude);
}

/* ---- rules ---- */

typedef struct Asks {
	VEC(RuleAsk) v;
	AskKind kind;
} Asks;

static void read_ask(KeysFile *k, yaml_node_t *node, void *into)
{
	Asks *asks = into;
	RuleAsk ask = {asks->kind, keys_text(k, node, false), SEV_NONE, false, from_of(k, node)};
	VEC_PUSH(k->a, &asks->v, ask);
}

static void read_level_pair(KeysFile *k, yaml_node_t *key, yaml_node_t *value, void *into)
{
	Asks *asks = into;
	RuleAsk ask = {ASK_LEVEL, keys_text(k, key, false), SEV_NONE, false, from_of(k, key)};
	Str s = keys_scalar(value);
	Nearest near = nearest_to(s);
	rule_level_near(&near);
	if (want(k, value, rule_level_parse(s, &ask.level), "a level is error, warning, note or off, not", &near))
		VEC_PUSH(k->a, &asks->v, ask);
}

static void add_asks(KeysFile *k, const Asks *from, ConfigFile *c)
{
	for (uint32_t i = 0; i < from->v.n; i++)
		VEC_PUSH(k->a, &c->asks, from->v.v[i]);
}

static void read_select(KeysFile *k, yaml_node_t *node, void *into)
{
	Asks asks = {.kind = ASK_SELECT};
	keys_list_or_one(k, node, read_ask, &asks);
	add_asks(k, &asks, into);
}

static void read_ignore(KeysFile *k, yaml_node_t *node, void *into)
{
	Asks asks = {.kind = ASK_IGNORE};
	keys_list_or_one(k, node, read_ask, &asks);
	add_asks(k, &asks, into);
}

static void read_rules(KeysFile *k, yaml_node_t *node, void *into)
{
	Asks asks = {.kind = ASK_LEVEL};
	keys_each(k, node, read_level_pair, &asks);
	add_asks(k, &asks, into);
}

/* ---- paths ---- */

static void read_path_match(KeysFile *k, yaml_node_t *node, void *into)
{
	((PathSetting *)into)->glob = read_glob(k, node);
}

static void read_path_contract(KeysFile *k, yaml_node_t *node, void *into)
{
	PathSetting *p = into;
	p->has_contract = true;
	read_contract_of(k, node, &p->contract);
}

static void add_path_asks(KeysFile *k, const Asks *from, PathSetting *p)
{
	for (uint32_t i = 0; i < from->v.n; i++)
		VEC_PUSH(k->a, &p->asks, from->v.v[i]);
}

static void read_path_rules(KeysFile *k, yaml_node_t *node, void *into)
{
	Asks asks = {.kind = ASK_LEVEL};
	keys_each(k, node, read_level_pair, &asks);
	add_path_asks(k, &asks, into);
}

static void read_path_ignore(KeysFile *k, yaml_node_t *node, void *into)
{
	Asks asks = {.kind = ASK_IGNORE};
	keys_list_or_one(k, node, read_ask, &asks);
	add_path_asks(k, &asks, into);
}

static void read_path(KeysFile *k, yaml_node_t *node, void *into)
{
	static const Key keys[] = {
		{STR_INIT("match"), true, read_path_match},
		{STR_INIT("contract"), false, read_path_contract},
		{STR_INIT("rules"), false, read_path_rules},
		{STR_INIT("ignore"), false, read_path_ignore},
	};
	PathSetting p = {.from = from_of(k, node)};
	keys_mapping(k, node, keys, KEYS_N(keys), &p);
	VEC_PUSH(k->a, &((ConfigFile *)into)->paths, p);
}

static void read_paths(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list(k, node, read_path, into);
}

/* ---- what is hidden ---- */

/* One word or a list of them; they are kept as a list with commas. */
static void read_hide_rule(KeysFile *k, yaml_node_t *node, void *into)
{
	Asks words = {.kind = ASK_IGNORE};
	Buf b = {.a = k->a};
	keys_list_or_one(k, node, read_ask, &words);
	for (uint32_t i = 0; i < words.v.n; i++)
		buf_printf(&b, "%s" STR_FMT, i ? "," : "", STR_ARG(words.v.v[i].word));
	((Suppression *)into)->rule = buf_str(&b);
}

static void read_hide_path(KeysFile *k, yaml_node_t *node, void *into)
{
	((Suppression *)into)->path = read_glob(k, node);
}

static void read_hide_source(KeysFile *k, yaml_node_t *node, void *into)
{
	((Suppression *)into)->source = read_glob(k, node);
}

static void read_hide_graph(KeysFile *k, yaml_node_t *node, void *into)
{
	((Suppression *)into)->graph = read_glob(k, node);
}

static void read_hide_output(KeysFile *k, yaml_node_t *node, void *into)
{
	int64_t n;
	if (keys_number(k, node, 0, INT32_MAX, &n))
		((Suppression *)into)->output = (int32_t)n;
}

static void read_hide_input(KeysFile *k, yaml_node_t *node, void *into)
{
	int64_t n;
	if (keys_number(k, node, 0, INT32_MAX, &n))
		((Suppression *)into)->input = (int32_t)n;
}

static void read_hide_print(KeysFile *k, yaml_node_t *node, void *into)
{
	((Suppression *)into)->fingerprint = keys_text(k, node, false);
}

static void read_hide_reason(KeysFile *k, yaml_node_t *node, void *into)
{
	((Suppression *)into)->reason = keys_text(k, node, false);
}

static void read_hidden(KeysFile *k, yaml_node_t *node, void *into)
{
	static const Key keys[] = {
		{STR_INIT("reason"), true, read_hide_reason},   {STR_INIT("rule"), false, read_hide_rule},
		{STR_INIT("path"), false, read_hide_path},      {STR_INIT("source"), false, read_hide_source},
		{STR_INIT("graph"), false, read_hide_graph},    {STR_INIT("output"), false, read_hide_output},
		{STR_INIT("input"), false, read_hide_input},    {STR_INIT("fingerprint"), false, read_hide_print},
	};
	Suppression s = {.output = -1, .input = -1, .from = from_of(k, node)};
	keys_mapping(k, node, keys, KEYS_N(keys), &s);
	if (!s.rule.n && !s.path.n && !s.source.n && !s.graph.n && !s.fingerprint.n)
		keys_fault(k, node, "it has to say what is hidden: rule, path, source, graph or fingerprint");
	VEC_PUSH(k->a, &((ConfigFile *)into)->suppressions, s);
}

static void read_suppress(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list(k, node, read_hidden, into);
}

/* ---- the file ---- */

static const Key settings[SET_N] = {
#define SETTING(id, key, reader, meaning) {STR_INIT(key), false, reader},
#include "settings.def"
#undef SETTING
};

Str setting_key(SettingId s)
{
	ASSERT(s < SET_N);
	return settings[s].name;
}

Str setting_meaning(SettingId s)
{
	static const Str meanings[SET_N] = {
#define SETTING(id, key, reader, meaning) STR_INIT(meaning),
#include "settings.def"
#undef SETTING
	};
	ASSERT(s < SET_N);
	return meanings[s];
}

/* Where each key stands. */
static void note_line(KeysFile *k, yaml_node_t *key, yaml_node_t *value, void *into)
{
	(void)k, (void)value;
	for (int i = 0; i < SET_N; i++)
		if (str_eq(keys_scalar(key), settings[i].name))
			((ConfigFile *)into)->line[i] = line_of(key);
}

static void read_root(KeysFile *k, yaml_node_t *node, void *into)
{
	bool empty = node->type == YAML_SCALAR_NODE && !keys_scalar(node).n;
	if (k->documents > 1)
		keys_fault(k, node, "a configuration has one document");
	else if (!empty)
		keys_mapping(k, node, settings, SET_N, into);
	if (node->type == YAML_MAPPING_NODE && !k->faults)
		keys_each(k, node, note_line, into);
}

bool config_file_load(ConfigFile *c, Arena *a, Str path, Str text, Buf *errors)
{
	*c = (ConfigFile){.path = path};
	KeysFile k = {.a = a, .path = path, .errors = errors};
	return keys_documents(&k, text, read_root, c);
}
