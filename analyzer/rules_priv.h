/* SPDX-License-Identifier: MIT
 * rules_priv: a rule while its file is read. */
#ifndef GRAPHLINT_RULES_PRIV_H
#define GRAPHLINT_RULES_PRIV_H

#include "base.h"
#include "keys.h"
#include "rules.h"

/* What is given as a pattern, before it can be understood: its parts may stand in any order. */
typedef struct PatternDraft {
	yaml_node_t *pattern, *where;
} PatternDraft;

typedef struct StepDraft {
	Str var;
	yaml_node_t *at;
	StepRole role;
	Str text;
} StepDraft;

typedef struct RuleDraft {
	Rule rule; /* first: readers of single keys take a Rule */
	bool has_builtin, has_wordings;
	Wording plain;            /* `message` and `suggestion` of the rule itself */
	PatternDraft main;
	VEC(PatternDraft) others; /* alternatives */
	Str at;
	yaml_node_t *at_node;
	VEC(StepDraft) steps;
} RuleDraft;

/* Reads the patterns and conditions of a draft into its rule, and checks what names their metavariables. */
void rules_read_patterns(KeysFile *k, const yaml_node_t *node, Names *names, RuleDraft *d);

/* Readers of keys; `into` is a RuleDraft. */
void rules_key_pattern(KeysFile *k, yaml_node_t *node, void *into);
void rules_key_where(KeysFile *k, yaml_node_t *node, void *into);
void rules_key_alternatives(KeysFile *k, yaml_node_t *node, void *into);
void rules_key_at(KeysFile *k, yaml_node_t *node, void *into);
void rules_key_evidence(KeysFile *k, yaml_node_t *node, void *into);
void rules_key_stages(KeysFile *k, yaml_node_t *node, void *into);
/* A template whose names are checked; those of metavariables only by rules_read_patterns. Empty after a fault. */
Str rules_read_template(KeysFile *k, yaml_node_t *node);

#endif
