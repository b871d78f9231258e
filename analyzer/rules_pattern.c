/* SPDX-License-Identifier: MIT
 * Patterns and conditions of rule files: `pattern`, `where`, `alternatives`, `at`, `evidence`, `stages`. */
#include "rules_priv.h"

#include "template.h"
#include "utf8.h"

enum { CONDITIONS_MOST = 32, ALTERNATIVES_MOST = 16, STEPS_MOST = 32 };

/* ---- keys ---- */

void rules_key_pattern(KeysFile *k, yaml_node_t *node, void *into)
{
	if (keys_text(k, node, true).n)
		((RuleDraft *)into)->main.pattern = node;
}

void rules_key_where(KeysFile *k, yaml_node_t *node, void *into)
{
	(void)k;
	((RuleDraft *)into)->main.where = node;
}

static void key_other_pattern(KeysFile *k, yaml_node_t *node, void *into)
{
	if (keys_text(k, node, true).n)
		((PatternDraft *)into)->pattern = node;
}

static void key_other_where(KeysFile *k, yaml_node_t *node, void *into)
{
	(void)k;
	((PatternDraft *)into)->where = node;
}

static void read_alternative(KeysFile *k, yaml_node_t *node, void *into)
{
	static const Key keys[] = {
		{STR_INIT("pattern"), true, key_other_pattern},
		{STR_INIT("where"), false, key_other_where},
	};
	RuleDraft *d = into;
	PatternDraft other = {0};
	keys_mapping(k, node, keys, KEYS_N(keys), &other);
	if (d->others.n == ALTERNATIVES_MOST)
		keys_fault(k, node, "a rule has at most %d alternatives", ALTERNATIVES_MOST);
	else if (other.pattern)
		VEC_PUSH(k->a, &d->others, other);
}

void rules_key_alternatives(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list(k, node, read_alternative, into);
}

static Str read_metavar(KeysFile *k, yaml_node_t *node)
{
	Str s = keys_text(k, node, false);
	if (s.n && !(s.p[0] == '$' && str_is_ident(str_sub(s, 1, s.n)))) {
		keys_fault(k, node, "a metavariable looks like $x");
		return (Str){0};
	}
	return s.n ? str_sub(s, 1, s.n) : s;
}

void rules_key_at(KeysFile *k, yaml_node_t *node, void *into)
{
	RuleDraft *d = into;
	d->at = read_metavar(k, node);
	d->at_node = node;
}

static void key_step_at(KeysFile *k, yaml_node_t *node, void *into)
{
	StepDraft *s = into;
	s->var = read_metavar(k, node);
	s->at = node;
}

static void key_step_role(KeysFile *k, yaml_node_t *node, void *into)
{
	StepDraft *s = into;
	Str word = keys_text(k, node, false);
	Nearest near = nearest_to(word);
	for (int i = 0; i < ROLE_N; i++) {
		nearest_try(&near, role_name((StepRole)i));
		if (str_eq(word, role_name((StepRole)i))) {
			s->role = (StepRole)i;
			return;
		}
	}
	if (word.n)
		keys_fault_word(k, node, "unknown role", word, &near);
}

static void key_step_text(KeysFile *k, yaml_node_t *node, void *into)
{
	((StepDraft *)into)->text = rules_read_template(k, node);
}

static void read_step(KeysFile *k, yaml_node_t *node, void *into)
{
	static const Key keys[] = {
		{STR_INIT("at"), true, key_step_at},
		{STR_INIT("role"), true, key_step_role},
		{STR_INIT("text"), true, key_step_text},
	};
	RuleDraft *d = into;
	StepDraft s = {.role = ROLE_PLACE};
	keys_mapping(k, node, keys, KEYS_N(keys), &s);
	if (d->steps.n == STEPS_MOST)
		keys_fault(k, node, "a rule has at most %d steps of evidence", STEPS_MOST);
	else if (s.at)
		VEC_PUSH(k->a, &d->steps, s);
}

void rules_key_evidence(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list(k, node, read_step, into);
}

static void read_stage(KeysFile *k, yaml_node_t *node, void *into)
{
	RuleDraft *d = into;
	Str word = keys_text(k, node, false);
	Nearest near = nearest_to(word);
	for (int i = 0; i < STAGE_N; i++) {
		nearest_try(&near, stage_name((Stage)i));
		if (str_eq(word, stage_name((Stage)i))) {
			d->rule.stages |= 1u << i;
			return;
		}
	}
	if (word.n)
		keys_fault_word(k, node, "unknown stage", word, &near);
}

void rules_key_stages(KeysFile *k, yaml_node_t *node, void *into)
{
	keys_list_or_one(k, node, read_stage, into);
}

/* ---- what they say ---- */

typedef struct Conds {
	const Pattern *p;
	RulePattern *into;
} Conds;

static void read_condition(KeysFile *k, yaml_node_t *node, void *into)
{
	Conds *c = into;
	Cond cond;
	Buf why = {.a = k->a};
	uint32_t at;
	Str text = keys_text(k, node, true);
	if (!text.n)
		return;
	if (c->into->where.n == CONDITIONS_MOST)
		keys_fault(k, node, "a pattern has at most %d conditions", CONDITIONS_MOST);
	else if (cond_parse(&cond, k->a, c->p, text, &why, &at))
		VEC_PUSH(k->a, &c->into->where, cond);
	else
		keys_fault_in(k, node, at, buf_str(&why));
}

static bool read_pattern(KeysFile *k, Names *names, const PatternDraft *d, RulePattern *out)
{
	Pattern *p = NEW(k->a, Pattern);
	Buf why = {.a = k->a};
	uint32_t at;
	if (!pattern_parse(p, k->a, names, keys_text(k, d->pattern, true), &why, &at)) {
		keys_fault_in(k, d->pattern, at, buf_str(&why));
		return false;
	}
	out->pattern = p;
	out->at = p->nnodes ? p->node[p->nnodes - 1].var : 0;
	Conds c = {p, out};
	if (d->where)
		keys_list_or_one(k, d->where, read_condition, &c);
	return true;
}

/* Index of a metavariable in one alternative; all of them have to have it. */
static int find_var(KeysFile *k, const yaml_node_t *node, const Pattern *p, Str name)
{
	int v = pattern_var(p, name);
	if (v >= 0 && !p->var[v].op)
		return v;
	keys_fault(k, node, v < 0 ? "a pattern of this rule has no metavariable '$" STR_FMT "'" : "'$" STR_FMT "' is an operator",
		STR_ARG(utf8_head(name, 80)));
	return 0;
}

static void read_places(KeysFile *k, const RuleDraft *d, RulePattern *rp)
{
	if (d->at.n)
		rp->at = (uint8_t)find_var(k, d->at_node, rp->pattern, d->at);
	for (uint32_t i = 0; i < d->steps.n; i++) {
		const StepDraft *s = &d->steps.v[i];
		RuleStep step = {.role = s->role, .text = s->text};
		if (s->var.n)
			step.var = (uint8_t)find_var(k, s->at, rp->pattern, s->var);
		VEC_PUSH(k->a, &rp->steps, step);
	}
}

/* Names of metavariables in a sentence: all alternatives have them. */
static void check_sentence(KeysFile *k, const yaml_node_t *node, const Rule *r, Str t)
{
	for (uint32_t at = str_find(t, S("{$"), 0); at < t.n; at = str_find(t, S("{$"), at + 2)) {
		Str name = str_sub(t, at + 2, str_find_char(t, '}', at));
		bool everywhere = r->patterns.n > 0;
		for (uint32_t i = 0; i < r->patterns.n; i++)
			everywhere &= pattern_var(r->patterns.v[i].pattern, name) >= 0;
		if (!everywhere)
			keys_fault(k, node, "a sentence of this rule names {$" STR_FMT "}, which %s has", STR_ARG(utf8_head(name, 80)),
				r->patterns.n > 1 ? "not every pattern" : "no pattern");
	}
}

static void check_sentences(KeysFile *k, const yaml_node_t *node, const Rule *r)
{
	for (uint32_t i = 0; i < r->wordings.n; i++) {
		check_sentence(k, node, r, r->wordings.v[i].message);
		check_sentence(k, node, r, r->wordings.v[i].suggestion);
	}
	for (uint32_t i = 0; r->patterns.n && i < r->patterns.v[0].steps.n; i++)
		check_sentence(k, node, r, r->patterns.v[0].steps.v[i].text);
}

void rules_read_patterns(KeysFile *k, const yaml_node_t *node, Names *names, RuleDraft *d)
{
	bool needs = d->main.where || d->others.n || d->at_node || d->steps.n || d->rule.stages;
	if (needs && !d->main.pattern)
		keys_fault(k, node, "where, alternatives, at, evidence and stages belong to a pattern");
	for (uint32_t i = 0; d->main.pattern && i <= d->others.n; i++) {
		RulePattern rp = {0};
		if (!read_pattern(k, names, i ? &d->others.v[i - 1] : &d->main, &rp))
			continue;
		read_places(k, d, &rp);
		VEC_PUSH(k->a, &d->rule.patterns, rp);
	}
	if (!d->main.pattern || d->rule.patterns.n == d->others.n + 1)
		check_sentences(k, node, &d->rule);
}
