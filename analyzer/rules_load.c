/* SPDX-License-Identifier: MIT
 * Rule files: YAML, one rule a document. A file is checked as a whole, and adds all or nothing. */
#include "rules_priv.h"

#include "utf8.h"
#include "template.h"

/* Rules of other files, and those of this one so far. */
static const Rules *known(const KeysFile *k)
{
	return k->user;
}

/* ---- wordings ---- */

static const Str var_names[] = {
#define RULE_VAR(name, meaning) STR_INIT(#name),
#include "rule_vars.def"
#undef RULE_VAR
};

enum { NVARS = sizeof var_names / sizeof *var_names };

/* Metavariables are checked when the patterns are known. */
static bool var_known(Str name)
{
	if (str_starts(name, S("$")))
		return true;
	for (uint32_t i = 0; i < NVARS; i++)
		if (str_eq(name, var_names[i]))
			return true;
	return false;
}

Str rules_read_template(KeysFile *k, yaml_node_t *node)
{
	Str t = keys_text(k, node, false), name;
	Buf why = {.a = k->a};
	if (template_check(t, var_known, &why, &name))
		return t;
	Nearest near = nearest_to(name);
	for (uint32_t i = 0; name.n && i < NVARS; i++)
		nearest_try(&near, var_names[i]);
	nearest_say(&near, &why);
	keys_fault_at(k, node->start_mark.line, node->start_mark.column, buf_str(&why));
	return (Str){0};
}

static Str read_kebab(KeysFile *k, yaml_node_t *node)
{
	Str s = keys_text(k, node, false);
	if (s.n && !keys_is_kebab(s))
		keys_fault(k, node, "'" STR_FMT "' is not made of lower-case words joined by '-'",
			STR_ARG(utf8_head(s, 80)));
	return s;
}

static void read_variant(KeysFile *k, yaml_node_t *node, void *into)
{
	((Wording *)into)->variant = read_kebab(k, node);
}

static void read_message(KeysFile *k, yaml_node_t *node, void *into)
{
	((Wording *)into)->message = rules_read_template(k, node);
}

static void read_suggestion(KeysFile *k, yaml_node_t *node, void *into)
{
	((Wording *)into)->suggestion = rules_read_template(k, node);
}

static void read_wording(KeysFile *k, yaml_node_t *node, void *into)
{
	static const Key keys[] = {
		{STR_INIT("message"), true, read_message},
		{STR_INIT("variant"), false, read_variant},
		{STR_INIT("suggestion"), false, read_suggestion},
	};
	Rule *r = into;
	Wording w = {0};
	keys_mapping(k, node, keys, KEYS_N(keys), &w);
	for (uint32_t i = 0; i < r->wordings.n; i++)
		if (str_eq(r->wordings.v[i].variant, w.variant)) {
			keys_fault(k, node, "a second wording for the variant '" STR_FMT "'", STR_ARG(w.variant));
			return;
		}
	VEC_PUSH(k->a, &r->wordings, w);
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

static void read_id(KeysFile *k, yaml_node_t *node, void *into)
{
	Rule *r = into;
	r->id = keys_text(k, node, false);
	if (r->id.n && !is_rule_id(r->id))
		keys_fault(k, node, "'" STR_FMT "' is no rule id: capital letters, then three or more digits",
			STR_ARG(utf8_head(r->id, 80)));
	if (rules_find(known(k), r->id))
		keys_fault(k, node, "there is a rule '" STR_FMT "' already", STR_ARG(r->id));
}

static void read_name(KeysFile *k, yaml_node_t *node, void *into)
{
	Rule *r = into;
	r->name = read_kebab(k, node);
	if (rules_find(known(k), r->name))
		keys_fault(k, node, "there is a rule '" STR_FMT "' already", STR_ARG(r->name));
}

static void read_level(KeysFile *k, yaml_node_t *node, void *into)
{
	Str s = keys_text(k, node, false);
	Severity level = SEV_NONE;
	if (severity_parse(s, &level) && level != SEV_NONE) {
		((Rule *)into)->level = level;
		return;
	}
	Nearest near = nearest_to(s);
	for (int i = SEV_NOTE; i <= SEV_ERROR; i++)
		nearest_try(&near, severity_name((Severity)i));
	if (s.n)
		keys_fault_word(k, node, "a level is note, warning or error, not", s, &near);
}

static void read_summary(KeysFile *k, yaml_node_t *node, void *into)
{
	((Rule *)into)->summary = keys_text(k, node, false);
}

static void read_help(KeysFile *k, yaml_node_t *node, void *into)
{
	((Rule *)into)->help = keys_text(k, node, true);
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

static void read_since(KeysFile *k, yaml_node_t *node, void *into)
{
	Str s = keys_text(k, node, false);
	((Rule *)into)->since = s;
	if (s.n && !is_version(s))
		keys_fault(k, node, "'" STR_FMT "' is no version", STR_ARG(utf8_head(s, 80)));
}

static void read_contract(KeysFile *k, yaml_node_t *node, void *into)
{
	Rule *r = into;
	Str s = keys_text(k, node, false);
	ContractName c;
	if (contract_parse(s, &c) && c != CONTRACT_AUTO) {
		r->contracts |= CONTRACT_BIT(c);
		return;
	}
	Nearest near = nearest_to(s);
	for (int i = CONTRACT_AUTO + 1; i < CONTRACT_N; i++)
		nearest_try(&near, contract_name((ContractName)i));
	if (s.n)
		keys_fault_word(k, node, "unknown contract", s, &near);
}

static void read_contracts(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list(k, node, read_contract, into);
}

static void read_reference(KeysFile *k, yaml_node_t *node, void *into)
{
	Rule *r = into;
	Str s = keys_text(k, node, false);
	if (s.n && !str_starts(s, S("https://")))
		keys_fault(k, node, "a reference begins with https://");
	VEC_PUSH(k->a, &r->references, s);
}

static void read_references(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list(k, node, read_reference, into);
}

static void read_wordings(KeysFile *k, yaml_node_t *node, void *into)
{
	((RuleDraft *)into)->has_wordings = true;
	keys_list(k, node, read_wording, into);
}

/* ---- tests ---- */

static void read_dump(KeysFile *k, yaml_node_t *node, void *into)
{
	RuleTest *t = into;
	Str s = keys_text(k, node, false);
	if (str_starts(s, S("/")))
		keys_fault(k, node, "a dump is named relative to the rule file");
	VEC_PUSH(k->a, &t->dumps, s);
}

static void read_dumps(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list_or_one(k, node, read_dump, into);
}

/* Only options that say how a dump is understood; their values are judged when the test runs. */
static void read_test_option(KeysFile *k, yaml_node_t *node, void *into)
{
	static const Str known_options[] = {STR_INIT("--contract="), STR_INIT("--keep="), STR_INIT("--torch="),
		STR_INIT("--level="), STR_INIT("--rules="), STR_INIT("--max-match-steps=")};
	RuleTest *t = into;
	Str s = keys_text(k, node, false);
	Nearest near = nearest_to(str_sub(s, 0, str_find_char(s, '=', 0) + 1));
	for (uint32_t i = 0; i < KEYS_N(known_options); i++) {
		if (str_starts(s, known_options[i])) {
			VEC_PUSH(k->a, &t->options, s);
			return;
		}
		nearest_try(&near, known_options[i]);
	}
	if (s.n)
		keys_fault_word(k, node, "a test has no option", s, &near);
}

static void read_test_options(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list_or_one(k, node, read_test_option, into);
}

static void read_test_line(KeysFile *k, yaml_node_t *node, void *into)
{
	int64_t line;
	if (keys_number(k, node, 1, UINT32_MAX, &line))
		((RuleTest *)into)->line = (uint32_t)line;
}

static void read_test(KeysFile *k, yaml_node_t *node, Rule *r, bool fires)
{
	static const Key keys[] = {
		{STR_INIT("dump"), true, read_dumps},
		{STR_INIT("line"), false, read_test_line},
		{STR_INIT("options"), false, read_test_options},
	};
	RuleTest t = {.fires = fires, .at_line = node->start_mark.line + 1};
	if (node->type == YAML_MAPPING_NODE)
		keys_mapping(k, node, keys, KEYS_N(keys), &t);
	else
		read_dump(k, node, &t);
	if (t.line && !fires)
		keys_fault(k, node, "a dump on which the rule is silent has no line");
	VEC_PUSH(k->a, &r->tests, t);
}

static void read_firing(KeysFile *k, yaml_node_t *node, void *into)
{
	read_test(k, node, into, true);
}

static void read_silent(KeysFile *k, yaml_node_t *node, void *into)
{
	read_test(k, node, into, false);
}

static void read_fires(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list(k, node, read_firing, into);
}

static void read_silents(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list(k, node, read_silent, into);
}

/* ---- the whole rule ---- */

static const Str builtin_names[] = {
#define BUILTIN(name, meaning) STR_INIT(name),
#include "builtins.def"
#undef BUILTIN
};

int32_t rules_builtin_row(Str name)
{
	for (uint32_t i = 0; i < KEYS_N(builtin_names); i++)
		if (str_eq(builtin_names[i], name))
			return (int32_t)i;
	return -1;
}

static void read_builtin(KeysFile *k, yaml_node_t *node, void *into)
{
	Rule *r = into;
	((RuleDraft *)into)->has_builtin = true;
	Str s = keys_text(k, node, false);
	r->builtin = rules_builtin_row(s);
	Nearest near = nearest_to(s);
	for (uint32_t i = 0; i < KEYS_N(builtin_names); i++)
		nearest_try(&near, builtin_names[i]);
	if (s.n && r->builtin < 0)
		keys_fault_word(k, node, "there is no analysis", s, &near);
}

static void read_plain_message(KeysFile *k, yaml_node_t *node, void *into)
{
	((RuleDraft *)into)->plain.message = rules_read_template(k, node);
}

static void read_plain_suggestion(KeysFile *k, yaml_node_t *node, void *into)
{
	((RuleDraft *)into)->plain.suggestion = rules_read_template(k, node);
}

/* `message` and `suggestion` stand for a list of one wording. */
static void settle_wordings(KeysFile *k, const yaml_node_t *node, RuleDraft *d)
{
	bool plain = d->plain.message.n || d->plain.suggestion.n;
	if (plain && d->has_wordings)
		keys_fault(k, node, "a rule has either `message` or `wordings`");
	else if (!d->has_wordings && !d->plain.message.n)
		keys_fault(k, node, "the key 'message' is missing");
	else if (plain)
		VEC_PUSH(k->a, &d->rule.wordings, d->plain);
}

static void read_rule(KeysFile *k, yaml_node_t *node, RuleDraft *d)
{
	static const Key keys[] = {
		{STR_INIT("id"), true, read_id},
		{STR_INIT("name"), true, read_name},
		{STR_INIT("level"), true, read_level},
		{STR_INIT("summary"), true, read_summary},
		{STR_INIT("since"), false, read_since},
		{STR_INIT("contracts"), false, read_contracts},
		{STR_INIT("references"), false, read_references},
		{STR_INIT("builtin"), false, read_builtin},
		{STR_INIT("pattern"), false, rules_key_pattern},
		{STR_INIT("where"), false, rules_key_where},
		{STR_INIT("alternatives"), false, rules_key_alternatives},
		{STR_INIT("at"), false, rules_key_at},
		{STR_INIT("evidence"), false, rules_key_evidence},
		{STR_INIT("stages"), false, rules_key_stages},
		{STR_INIT("message"), false, read_plain_message},
		{STR_INIT("suggestion"), false, read_plain_suggestion},
		{STR_INIT("wordings"), false, read_wordings},
		{STR_INIT("help"), false, read_help},
		{STR_INIT("fires"), false, read_fires},
		{STR_INIT("silent"), false, read_silents},
	};
	keys_mapping(k, node, keys, KEYS_N(keys), d);
	if (node->type != YAML_MAPPING_NODE)
		return;
	settle_wordings(k, node, d);
	if (d->has_builtin == (d->main.pattern != NULL))
		keys_fault(k, node, d->has_builtin ? "a rule has either `builtin` or `pattern`" : "the key 'pattern' is missing");
	rules_read_patterns(k, node, known(k)->names, d);
}

/* ---- files ---- */

static void read_document(KeysFile *k, yaml_node_t *node, void *into)
{
	Rules *all = into;
	RuleDraft d = {.rule = {.builtin = -1, .file = k->path}};
	read_rule(k, node, &d);
	VEC_PUSH(k->a, &all->v, d.rule);
}

bool rules_load(Rules *r, Arena *a, Str path, Str text, Buf *errors)
{
	if (!r->names) {
		r->names = NEW(a, Names);
		names_init(r->names, a);
	}
	Rules all = {.names = r->names}, added = {0};
	for (uint32_t i = 0; i < r->v.n; i++)
		VEC_PUSH(a, &all.v, r->v.v[i]);
	KeysFile k = {.a = a, .path = path, .errors = errors, .user = &all};
	bool ok = keys_documents(&k, text, read_document, &all);
	if (ok && all.v.n == r->v.n)
		keys_fault_at(&k, 0, 0, S("the file holds no rule"));
	if (!k.faults) {
		*r = all;
		return true;
	}
	added.v.v = all.v.v + r->v.n;
	added.v.n = all.v.n - r->v.n;
	rules_free(&added);
	return false;
}
