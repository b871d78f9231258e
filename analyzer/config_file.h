/* SPDX-License-Identifier: MIT
 * config_file: .graphlint.yaml. Paths and globs in it are seen from its folder. */
#ifndef GRAPHLINT_CONFIG_FILE_H
#define GRAPHLINT_CONFIG_FILE_H

#include "base.h"
#include "config.h"

typedef enum SettingId {
#define SETTING(id, key, reader, meaning) SET_##id,
#include "settings.def"
#undef SETTING
	SET_N
} SettingId;
Str setting_key(SettingId s);
Str setting_meaning(SettingId s);

/* An item of a list, and where it stands. */
typedef struct ConfigItem {
	Str text;
	uint32_t line;
} ConfigItem;

typedef VEC(ConfigItem) ConfigItems;

typedef struct ConfigFile {
	Str path;
	uint32_t line[SET_N]; /* of each key; 0: not given */
	Contract contract;
	VersionSpan torch;
	Severity fail_on, show;
	bool allow_incomplete;
	Str baseline;
	VEC(RuleAsk) asks;
	VEC(PathSetting) paths;
	VEC(Suppression) suppressions;
	ConfigItems rule_files, operators, facts, exclude;
} ConfigFile;

/* Reads and checks the whole file. False, and "FILE:LINE:COLUMN: message" lines in *errors, when it has faults; words about
 * rules are checked later, when all rules are known. An empty file sets nothing. */
bool config_file_load(ConfigFile *c, Arena *a, Str path, Str text, Buf *errors);

#endif
