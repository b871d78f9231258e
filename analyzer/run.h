/* SPDX-License-Identifier: MIT
 * run: options in, findings out; the one place that knows the order of the passes. */
#ifndef GRAPHLINT_RUN_H
#define GRAPHLINT_RUN_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "config.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "shapes.h"
#include "infer.h"
#include "split.h"
#include "read.h"
#include "alias.h"
#include "verdict.h"
#include "read_cache.h"
#include "read_meta.h"
#include "rules.h"
#include "frame_graph.h"

/* What lives as long as the process: tables and rules. */
typedef struct Tables {
	Arena a;
	Names names;
	Facts *facts;
	Shapes *shapes;
	const SemTable *sem;
	Rules *rules;
} Tables;

typedef enum DumpPass { DUMP_SPLIT = 1, DUMP_IR = 2, DUMP_TYPES = 4, DUMP_ALIAS = 8, DUMP_LINK = 16, DUMP_VERDICT = 32, DUMP_MATCH = 64 } DumpPass;
bool dump_parse(Str list, unsigned *passes, Str *bad); /* "split,ir" */

/* The passes in their order. */
typedef enum RunPass {
#define PASS(id, word, text, share, unit) RUN_##id,
#include "passes.def"
#undef PASS
	RUN_PASSES
} RunPass;

/* Whoever wants to know where a run is: for a display of progress, for times. */
typedef struct RunWatch {
	void (*enter)(void *ctx, RunPass pass); /* NULL: nobody */
	void *ctx;
} RunWatch;

enum { RUN_SIM_ARENAS = 5 };

/* A file that walking a folder passed over. */
typedef struct PassedFile {
	Str path, why;
} PassedFile;

typedef struct Run {
	Budget *budget;         /* its own, unless the caller shares one */
	Budget own_budget;
	ReadCache *cache;       /* what earlier runs read; NULL: read everything */
	Arena a, scratch;
	const Config *cfg;
	Tables *tables;
	Sources sources;
	Artifacts artifacts;
	Types *types;
	Program program;
	ProgramFrames *frames;  /* what the bytecode says */
	Reader reader;          /* its parser is freed with the run, also when memory ran out */
	NodeTypes **node_types; /* by GraphId */
	Summary **summaries;    /* by GraphId */
	AotMetas metas;         /* what AOTAutograd says of its graphs, in order of printing */
	GraphVerdicts *verdicts; /* by GraphId */
	Arena sim[RUN_SIM_ARENAS];         /* working memory of verdicts */
	RuleLevel *levels;      /* by rule: what the user asks for; on where it is on for any file */
	const RuleLevel **file_levels; /* by FileId: the same for findings in that file; 0: those in none */
	const Config **file_cfg;       /* by FileId: cfg with that file's contract */
	uint32_t baseline_gone; /* entries of the baseline that no finding has any more */
	bool findings_only;     /* nobody asks for verdicts but rules */
	Diags diags;
	unsigned dump;          /* DumpPass bits */
	Buf dump_out;
	uint32_t quiet_by_contract; /* boundaries that a contract keeps */
	bool out_of_memory;     /* the budget ended the run: what is there is incomplete */
	uint32_t files_failed;
	VEC(PassedFile) passed; /* in the order in which they were met */
	bool until_frames;      /* nobody asks for more than what was read and how it is joined */
	RunWatch watch;
	RunPass pass;           /* the one at work */
	uint32_t done, total;   /* of what it counts; total 0: it does not */
} Run;

void tables_init(Tables *t);
void tables_free(Tables *t);
/* How libraries take memory: the process ends with status 4 where there is none. For main, once. */
void run_libraries(void);
/* Prepares a run; add inputs with sources_add_* on run->sources, then analyse. */
void run_init(Run *r, Tables *t, const Config *cfg); /* one run at a time per Tables: names are interned there */
/* A run of a row of runs, as an editor needs them: they share a budget, types and what was read. A finished one can be
 * looked at while the next one works: tables, types and cache must outlive them all. */
void run_init_next(Run *r, Tables *t, const Config *cfg, Budget *budget, Types *types, ReadCache *cache);
/* Says that a pass begins that counts to `total`. */
void run_enter(Run *r, RunPass pass, uint32_t total);
void run_analyse(Run *r);   /* fills diags, program, summaries; never fails: trouble is in diags or out_of_memory */
void run_free(Run *r);
/* Is the file a list of others, without an artifact of its own? */
bool run_is_index(const Run *r, FileId f);
/* Exit status of design: 0, 1, 3 or 4, by findings, unread input and cfg->fail_on. */
int run_status(const Run *r);

#endif
