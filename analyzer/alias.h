/* SPDX-License-Identifier: MIT
 * alias: what a graph's outputs share and what it writes, with the chain of operators behind each answer. */
#ifndef GRAPHLINT_ALIAS_H
#define GRAPHLINT_ALIAS_H

#include "base.h"
#include "diag.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "infer.h"

typedef enum AliasKind {
#define ALIAS(id, word) ALIAS_##id,
#include "aliases.def"
#undef ALIAS
	ALIAS_N
} AliasKind;
Str alias_name(AliasKind k); /* without "maybe_" */

/* One operator on the way from a value to the memory it shares. */
typedef struct Hop {
	NodeId node;
	Tri shares;       /* MUST: a view or the same object; MAY: on a condition */
	bool same_object;
	Str why;          /* condition or reason, may be empty */
} Hop;

typedef struct OutputSummary {
	AliasKind kind;
	Tri certainty;        /* MAY: the word gets the prefix maybe_ */
	uint32_t *of;         /* inputs or outputs it shares with, ascending */
	uint32_t nof;
	Sym attribute;        /* of view_of_attr */
	Str condition;        /* MAY: in words */
	NodeId node;          /* the node returned; 0 for literals */
	Hop *chain;           /* from the shared memory (first) to the output (last) */
	uint32_t nchain;
	NodeId root;          /* placeholder, get_attr or node that made the shared memory */
} OutputSummary;

/* A write by the graph into memory that existed before it, or that leaves it. */
typedef struct Write {
	NodeId node;          /* who writes */
	Tri certainty;
	bool metadata;        /* sizes, strides or storage, not contents */
	Str condition;
	Hop *chain;           /* from the written input or attribute to the written value */
	uint32_t nchain;
} Write;

typedef struct InputSummary {
	Tri data, metadata;   /* written? */
	Write *writes;        /* in program order */
	uint32_t nwrites;
	bool tensor;          /* false: surely a number or other non-tensor */
} InputSummary;

typedef struct AttrSummary {
	Sym path;             /* "lin.weight" */
	NodeId node;          /* first get_attr */
	InputSummary w;
} AttrSummary;

/* A place where one graph alone shows a fault or a gap: GL105, GL203, GL204, GL801, GL903. */
typedef struct LocalNote {
	Str rule;
	Severity severity;
	Severity under_aot;   /* where AOTAutograd compiles the graph, if that is more */
	NodeId node;
	Str text;             /* what depends on what */
	Sym what;             /* operator or body name */
} LocalNote;

/* Where the memory of a node's result comes from, for passes that run the graph again. */
typedef struct NodeFrom {
	NodeId node;      /* the argument; 0: the result is new memory, or no tensor */
	Tri shares;       /* MUST, or MAY on condition `why` */
	bool same_object; /* the argument itself, not a view of it */
	bool traced_copy; /* AOTAutograd traces a copy here (an inactive dropout, PyTorch 2.1 to 2.13) */
	Str why;          /* condition or reason */
} NodeFrom;

/* A write by a node into the value of one of its arguments, in program order. */
typedef struct NodeWrite {
	NodeId node, through; /* through 0: into something that no argument names */
	Tri certainty;
	bool metadata;
} NodeWrite;

typedef struct Summary {
	NodeFrom *from;         /* by NodeId */
	NodeWrite *node_writes;
	uint32_t nnode_writes;
	OutputSummary *outputs; /* parallel to Graph.outputs */
	InputSummary *inputs;   /* parallel to Graph.inputs */
	AttrSummary *attrs;
	uint32_t nattrs;
	VEC(LocalNote) notes;
	/* values for later passes: per node the storages it may have, see alias.c */
} Summary;

typedef struct AliasCtx {
	const Program *p;
	Types *t;
	Facts *f;
	VersionSpan torch;
	const NodeTypes *const *types;    /* by GraphId */
	const Summary *const *summaries;  /* by GraphId; bodies come before their parents */
	Arena *keep, *scratch;
} AliasCtx;

Summary *alias_graph(const AliasCtx *c, const Graph *g);
/* The stable text of --dump=alias. */
void alias_dump(const Program *p, const Graph *g, const Summary *s, Buf *out);

#endif
