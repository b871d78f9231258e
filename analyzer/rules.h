/* SPDX-License-Identifier: MIT
 * rules: the rule files of rules/ (YAML): id, name, level, summary, help and the wording of messages. */
#ifndef GRAPHLINT_RULES_H
#define GRAPHLINT_RULES_H

#include "base.h"
#include "diag.h"
#include "config.h"
#include "ir.h"
#include "pattern.h"
#include "cond.h"

/* One wording of a rule. Templates hold {name}, filled from Finding.vars, then from the finding itself: the
 * names of rule_vars.def; any other name is a fault of the file. A part in [[ ]] is left out when a name in it has
 * no value; {{ and }} stand for one brace. Values are cut at 160 code points and stay on one line. */
typedef struct Wording {
	Str variant;     /* "" for the only or default one; words joined by "-", see wording_find */
	Str message;
	Str suggestion;  /* the help: line; may be empty */
} Wording;

/* A dump on which the rule has to fire or to stay silent; paths are relative to the rule file. */
typedef struct RuleTest {
	bool fires;
	VEC(Str) dumps;        /* files and folders that are read as one run */
	VEC(Str) options;      /* of the command line: --contract=fresh */
	uint32_t line;         /* where a finding has to stand; 0: anywhere */
	size_t at_line;        /* of the rule file, from 1 */
} RuleTest;

/* A step of the evidence of a pattern's findings. */
typedef struct RuleStep {
	uint8_t var;
	StepRole role;
	Str text;  /* template */
} RuleStep;

typedef struct RulePattern {
	const Pattern *pattern;
	VEC(Cond) where;
	uint8_t at;          /* metavariable that findings point at */
	VEC(RuleStep) steps; /* none: one for each statement of the pattern */
} RulePattern;

typedef struct Rule {
	Str id, name, summary, help;
	Str file;              /* path of the rule file */
	int32_t builtin;       /* row of builtins.def; -1: patterns */
	VEC(RulePattern) patterns; /* the pattern, and its alternatives */
	unsigned stages;       /* bits 1 << STAGE_x: only in these graphs; 0: see match.h */
	Severity level;        /* default level, for rules whose severity no table decides */
	unsigned contracts;    /* CONTRACT_BITs; 0: not about a contract */
	Str since;
	VEC(Str) references;
	VEC(Wording) wordings;
	VEC(RuleTest) tests;
} Rule;

typedef struct Rules {
	VEC(Rule) v;
	Names *names; /* of the runs that patterns are matched in; NULL: made when needed */
} Rules;

/* The rule files embedded in the program; a fault in one of them is an assertion. */
Rules *rules_builtin(Arena *a, Names *names);
/* Frees what regular expressions hold; the rest is the arena's. */
void rules_free(Rules *r);
/* Adds the rules of one file. False and "FILE:LINE:COLUMN: message" lines in *errors when it has faults (unknown keys
 * and names included, with the nearest known one). */
bool rules_load(Rules *r, Arena *a, Str path, Str text, Buf *errors);
const Rule *rules_find(const Rules *r, Str id_or_name);
/* Does a word name the rule: its id, its name, the beginning of its id, `all`? */
bool rules_word_fits(const Rule *r, Str word);
/* "WHAT" and the nearest id or name, for a word that names no rule. */
void rules_say_unknown(const Rules *r, Str word, Buf *out);

/* ---- what the user asks of rules ---- */

typedef struct RuleLevel {
	bool on;
	Severity level; /* of all its findings; SEV_NONE: what the analysis says */
} RuleLevel;

/* False, and a line in *why for each, when words name no rule. A word is an id, a name, the beginning of ids, or `all`. */
bool rules_check_asks(const Rules *r, const RuleAsk *asks, uint32_t n, Buf *why);
/* What holds for every rule, parallel to r->v. The longer word wins over the shorter one, later over earlier, the
 * command line over files. */
RuleLevel *rules_settle(const Rules *r, const RuleAsk *asks, uint32_t n, Arena *a);
/* Is the rule on? Findings of others are taken away: an analysis need not make them. False for no rule. */
bool rules_on(const Rules *r, const RuleLevel *levels, Str id);
/* Is a rule on that names this row of builtins.def? */
bool rules_need_builtin(const Rules *r, const RuleLevel *levels, int32_t builtin);
int32_t rules_builtin_row(Str name); /* -1: none */
/* Takes findings of rules away that are off, and gives the others the level that the user asks for; what the
 * contract keeps stays a note. `levels` by FileId; 0: findings in no file. */
void rules_apply_levels(const Rules *r, const RuleLevel *const *levels, Diags *d);

/* ---- wording ---- */

/* The wording of a variant: that very one, else of the variant less its last words (must-view-kept, must-view,
 * must), else the one without variant, else the first. */
const Wording *wording_find(const Rule *r, Str variant);
/* Fills name, message, suggestion and help of every finding. */
void rules_render(const Rules *r, Diags *d);

#endif
