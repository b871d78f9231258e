/* SPDX-License-Identifier: MIT
 * rules: the rule files of rules/ (YAML): id, name, level, summary, help and the wording of messages. */
#ifndef GRAPHLINT_RULES_H
#define GRAPHLINT_RULES_H

#include "base.h"
#include "diag.h"

/* One wording of a rule. Templates hold {name}, filled from Finding.vars, then from the finding itself: the
 * names of rule_vars.def; any other name is a fault of the file. A part in [[ ]] is left out when a name in it has
 * no value; {{ and }} stand for one brace. Values are cut at 160 code points and stay on one line. */
typedef struct Wording {
	Str variant;     /* "" for the only or default one; words joined by "-", see wording_find */
	Str message;
	Str suggestion;  /* the help: line; may be empty */
} Wording;

typedef struct Rule {
	Str id, name, summary, help;
	Severity level;        /* default level, for rules whose severity no table decides */
	unsigned contracts;    /* CONTRACT_BITs; 0: not about a contract */
	Str since;
	VEC(Str) references;
	VEC(Wording) wordings;
} Rule;

typedef struct Rules {
	VEC(Rule) v;
} Rules;

/* The rule files embedded in the program; a fault in one of them is an assertion. */
Rules *rules_builtin(Arena *a);
/* Adds the rules of one file. False and "FILE:LINE:COLUMN: message" lines in *errors when it has faults (unknown keys
 * and names included, with the nearest known one). */
bool rules_load(Rules *r, Arena *a, Str path, Str text, Buf *errors);
const Rule *rules_find(const Rules *r, Str id_or_name);
/* The wording of a variant: that very one, else of the variant less its last words (must-view-kept, must-view,
 * must), else the one without variant, else the first. */
const Wording *wording_find(const Rule *r, Str variant);
/* Fills name, message, suggestion and help of every finding. */
void rules_render(const Rules *r, Diags *d);

#endif
