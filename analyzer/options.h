/* SPDX-License-Identifier: MIT
 * options: the command line. One table makes the parser and --help. */
#ifndef GRAPHLINT_OPTIONS_H
#define GRAPHLINT_OPTIONS_H

#include "base.h"
#include "config.h"
#include "config_file.h"
#include "report.h"
#include "terminal.h"

/* What the first word asks for. */
typedef enum Command { CMD_CHECK, CMD_GRAPH, CMD_SUSPECTS, CMD_INVENTORY, CMD_CONFIRM, CMD_CAPTURE, CMD_RULES, CMD_EXPLAIN, CMD_CONFIG, CMD_INIT, CMD_TEST, CMD_LSP, CMD_N } Command;

/* A report besides the one on standard output. */
typedef struct OutputFile {
	const Writer *writer;
	Str path;
} OutputFile;

typedef struct Options {
	Config cfg;
	Command command;
	Str target;           /* CMD_CONFIRM: GRAPH:out0 or GRAPH:in2; CMD_EXPLAIN: a rule */
	const Writer *writer; /* of standard output */
	VEC(OutputFile) outputs;
	bool at_source, show_given;
	Str source_root;
	unsigned dump;        /* DumpPass bits; not 0: the passes are printed in place of the report */
	ColorWhen color;
	bool quiet, verbose, statistics, help, version;
	Str stdin_name;
	StrList facts;       /* files of --facts */
	StrList rule_files;  /* files and folders of --rules */
	Str config;           /* file of --config; empty: it is looked for */
	bool isolated;        /* no configuration file */
	bool negate;          /* CMD_TEST: --negate */
	bool json;            /* CMD_CONFIG, CMD_TEST: --format=json */
	ConfigFile file;      /* what the configuration file says, merged into the rest by settings_load */
	bool has_file;
	StrList given;       /* names of the options on the command line */
	Str baseline, write_baseline; /* files; empty: none */
	VEC(Str) paths;
} Options;

/* Does the command take files and folders to analyse? */
bool options_command_reads(Command c);
/* False and a sentence in *why when the words cannot be understood. Strings are those of argv. */
bool options_parse(Options *o, Arena *a, int argc, char **argv, Buf *why);
/* What the command changes in the settings, once they are known. */
void options_settle(Options *o);
void options_help(Buf *out);
/* " (did you mean the command 'check'?)" where a word that is no file is near one, else nothing. */
void options_command_near(Str word, Buf *out);

#endif
