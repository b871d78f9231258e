/* SPDX-License-Identifier: MIT
 * check: the rules that are analyses of their own (GL2xx to GL8xx): what they are given, and what they share. Each is a
 * function over one graph or over the whole program, a row of checks.def; a rule that is off is not called. */
#ifndef GRAPHLINT_CHECK_H
#define GRAPHLINT_CHECK_H

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
#include "read_meta.h"
#include "frame_graph.h"
#include "alias.h"
#include "sem.h"
#include "verdict.h"
#include "graph_words.h"

typedef enum CheckRule {
#define CHECK_GRAPH(id, name, fn, flows, meaning) CHECK_##id,
#define CHECK_PROGRAM(id, name, fn, flows, meaning) CHECK_##id,
#include "checks.def"
#undef CHECK_GRAPH
#undef CHECK_PROGRAM
	CHECK_N
} CheckRule;

/* What the passes before found out. */
typedef struct CheckCtx {
	Diags *d;
	const Program *p;
	const Sources *src;
	const Artifacts *artifacts;
	const Config *cfg;
	Types *t;
	Facts *f;
	const Shapes *shapes;
	const SemTable *sem;
	const NodeTypes *const *types;    /* by GraphId; NULL: not analysed (a further printing) */
	const Summary *const *summaries;  /* by GraphId; NULL likewise */
	const GraphVerdicts *verdicts;    /* by GraphId */
	const ProgramFrames *frames;
	const AotMeta *metas;
	uint32_t nmetas;
	uint64_t off;        /* bits 1 << CHECK_x: rules that are not wanted */
	Arena *keep;         /* run lifetime */
	Arena *scratch;      /* rewound after each graph and each check */
	Arena *work[4];      /* working memory for whoever runs a graph; empty before and after */
	const bool *part;    /* by GraphId: its parent calls it as a module (split_module, partitioners); made by check_program */
} CheckCtx;

/* Adds the findings of all rules of checks.def that are not off. */
void check_program(const CheckCtx *c);
/* Number of a rule by its id or name; CHECK_N when it is none of checks.def. */
CheckRule check_rule(Str id_or_name);
Str check_rule_id(CheckRule r);
Str check_rule_name(CheckRule r);
/* Must verdicts be there before it is called (GraphVerdicts.flows)? */
bool check_needs_flows(CheckRule r);

/* ---- one graph, as checks see it ---- */

typedef struct CheckGraph {
	const Graph *g;
	const NodeTypes *nt;
	const Summary *s;
	const Fact **fact;   /* by NodeId; NULL: no facts, or no call */
	uint32_t *user_at;   /* users of node i: users[user_at[i] .. user_at[i + 1]), ascending */
	NodeId *users;
	bool *returned;      /* by NodeId: stands in what the graph returns */
	NodeId *root;        /* by NodeId: the node whose memory it is in, as far as that is known or possible; itself for new memory */
	bool *root_must;     /* by NodeId: certainly in that memory */
	NodeId *last_use;    /* by NodeId of a root: the last node that is given something of its memory; 0 none */
	bool *root_returned; /* by NodeId of a root */
} CheckGraph;

/* Of a graph that was analysed; lives in c->scratch. Also for copies of a graph with the same nodes. */
CheckGraph *check_graph_of(const CheckCtx *c, const Graph *g);

static inline uint32_t check_nusers(const CheckGraph *cg, NodeId id) { return cg->user_at[id.i + 1] - cg->user_at[id.i]; }
/* Does nobody take the result: no other node, and it is not returned? */
static inline bool check_unused(const CheckGraph *cg, NodeId id) { return !check_nusers(cg, id) && !cg->returned[id.i]; }
Str check_name(const CheckCtx *c, const Graph *g, NodeId id);
Str check_target(const CheckCtx *c, const Graph *g, NodeId id);
bool check_has_tag(const CheckGraph *cg, NodeId id, FactTag tag);
/* Type of an argument at its use, and of a node where it stands. */
const Type *check_arg_type(const CheckCtx *c, const CheckGraph *cg, const Arg *a);
const Type *check_type(const CheckCtx *c, const CheckGraph *cg, NodeId id);
/* Is it a graph to report about: analysed, and called, no attempt that was given up? */
bool check_wanted(const CheckCtx *c, const Graph *g);
/* Does AOTAutograd's own printing repeat a graph that Dynamo printed? */
static inline bool check_is_repeat(const Graph *g) { return g->of.i && !g->parent.i; }

/* An operator that makes a tensor without computing on another one (allocs.def). */
bool check_is_allocation(Str op, bool *uninitialised);

/* The instruction before `at` that names something; NULL: none near. */
const Ins *check_load_before(const Code *code, uint32_t at, Sym name);

/* ---- findings ---- */

/* A finding at a node of a graph; node 0: at the graph's header. */
Finding *check_finding(const CheckCtx *c, CheckRule rule, Severity sev, const Graph *g, NodeId node);
/* A finding about no graph. */
Finding *check_finding_at(const CheckCtx *c, CheckRule rule, Severity sev, Span at);
void check_step(const CheckCtx *c, Finding *f, StepRole role, const Graph *g, NodeId node, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* ---- the checks ---- */
#define CHECK_GRAPH(id, name, fn, flows, meaning) void fn(const CheckCtx *c, const CheckGraph *cg);
#define CHECK_PROGRAM(id, name, fn, flows, meaning) void fn(const CheckCtx *c);
#include "checks.def"
#undef CHECK_GRAPH
#undef CHECK_PROGRAM

#endif
