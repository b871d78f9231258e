/* SPDX-License-Identifier: MIT
 * config: what the user asked for. Contracts, limits, levels; filled by main, read by all passes. */
#ifndef GRAPHLINT_CONFIG_H
#define GRAPHLINT_CONFIG_H

#include "base.h"
#include "nearest.h"
#include "diag.h"

/* What a compiler of single graphs is taken to preserve. */
typedef enum ContractName { CONTRACT_AUTO, CONTRACT_FRESH, CONTRACT_AOT, CONTRACT_STRICT, CONTRACT_CUDAGRAPHS, CONTRACT_N } ContractName;

typedef enum Keep {
	KEEP_INPUT_WRITES = 1,   /* writes into inputs reach the caller */
	KEEP_OUTPUT_INPUT = 2,   /* an output that views an input still does */
	KEEP_OUTPUT_OUTPUT = 4,  /* outputs that share storage still do */
	KEEP_IDENTITY = 8,       /* the same object comes back as the same object */
	KEEP_STRIDES = 16        /* an output has the printed strides */
} Keep;

typedef struct Contract {
	ContractName name;
	unsigned keep_set;   /* switches given by --keep */
	unsigned keep_value; /* their values */
} Contract;

Str contract_name(ContractName c);
bool contract_parse(Str s, ContractName *out);
/* Switches in force for a graph: those of the named set, `auto` decided by whether AOTAutograd
 * (PyTorch 2.x) captured the graph, with the single switches on top. */
unsigned contract_keeps(const Contract *c, bool captured_by_2x);
/* The named set that is in force for a graph: never CONTRACT_AUTO. */
ContractName contract_of(const Contract *c, bool captured_by_2x);
/* "fresh", "auto,input_writes=no": the name and the switches that were set. */
Str contract_text(const Contract *c, Arena *a);
/* Parses "input_writes=no,strides=yes" into *c; false and *why on error. */
bool contract_keep_parse(Str s, Contract *c, Arena *a, Str *why);

/* note, warning, error; off gives SEV_NONE. */
bool rule_level_parse(Str s, Severity *out);
void rule_level_near(Nearest *near); /* tries the words */

bool version_parse(Str s, Version *out); /* "2.13", "2.13.0", "2.6.0a0+git1234" */

/* Every work limit: name, default, flag. See limits.def. */
typedef struct Limits {
#define LIMIT(field, flag, value, unit, text) uint64_t field;
#include "limits.def"
#undef LIMIT
} Limits;
Limits limits_default(void);

/* One word that the user says about rules. */
typedef enum AskKind { ASK_SELECT, ASK_IGNORE, ASK_LEVEL } AskKind;
typedef struct RuleAsk {
	AskKind kind;
	Str word;        /* id, name, beginning of ids, "all" */
	Severity level;  /* of ASK_LEVEL; SEV_NONE: off */
	bool command;    /* said on the command line, which wins over files */
	Str from;        /* where: "--select", "FILE:LINE" */
} RuleAsk;

/* Findings that the user does not want to see: all that is given has to fit. */
typedef struct Suppression {
	Str rule;            /* words with commas */
	Str path, source;    /* globs: of the dump, of the file of the user's program */
	Str graph;           /* glob */
	int32_t output, input; /* -1: any */
	Str fingerprint;
	Str reason;
	Str from;            /* FILE:LINE */
} Suppression;

/* Other settings for the dumps that a glob fits. Later ones win. */
typedef struct PathSetting {
	Str glob;
	bool has_contract;
	Contract contract;
	VEC(RuleAsk) asks;
	Str from;
} PathSetting;

typedef struct Config {
	Contract contract;
	VersionSpan torch;   /* from --torch; 0,0 when not given */
	Severity fail_on;    /* SEV_NONE: never */
	Severity show;       /* lowest severity that text for people shows */
	bool allow_incomplete;
	uint32_t jobs;       /* processes that may work at once; 0, 1: one */
	bool contract_given; /* on the command line: it holds for every file */
	VEC(RuleAsk) asks;
	VEC(Suppression) suppressions;
	VEC(PathSetting) paths;
	Str from;            /* configuration file, as it is shown; empty: none */
	Str folder;          /* globs are seen from here: that of the configuration file */
	Str working_folder;  /* paths of dumps are */
	const struct Baseline *baseline; /* NULL: none */
	Limits limits;
} Config;
Config config_default(void);
/* Does a glob of the configuration fit the path of a dump? */
bool config_path_fits(const Config *c, Str glob, Str path, Arena *scratch);

#endif
