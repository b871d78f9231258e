/* SPDX-License-Identifier: MIT
 * facts: what every operator aliases and writes. Rows come from rules/ops.tsv (made from verified
 * tables), corrections from the hand-kept overlay, users' rows from --facts FILE. */
#ifndef GRAPHLINT_FACTS_H
#define GRAPHLINT_FACTS_H

#include "base.h"
#include "diag.h"
#include "ir.h"

typedef enum Family {
#define FAMILY(id, word) FAM_##id,
#include "families.def"
#undef FAMILY
	FAM_N
} Family; /* method attr operator builtin torch numpy dispatch hop module */

typedef enum FactKind {
#define FACT_KIND(id, word) FK_##id,
#include "fact_kinds.def"
#undef FACT_KIND
	FK_N
} FactKind; /* unknown fresh view maybe_view inplace mutates out metadata subgraph scalar effect attribute */

typedef enum FactCond {
#define FACT_COND(id, word) FC_##id,
#include "fact_conds.def"
#undef FACT_COND
	FC_N
} FactCond; /* none contiguous reshape flatten ravel to dropout index ... */

typedef enum FactTag {
#define FACT_TAG(id, word) FT_##id,
#include "fact_tags.def"
#undef FACT_TAG
	FT_N
} FactTag;

/* One entry of the columns `alias` and `mutates`: 0:self, r1=2:x, 3:name[*], 0:variable.grad, 4:x?training. */
typedef struct FactArg {
	int16_t index;    /* position of the argument; -1: only by keyword or name (buf.NAME, par.NAME, out) */
	int16_t result;   /* r1=: only result member 1; -1: every result */
	bool each;        /* [*]: any element of a list argument (or this and all later positional ones) */
	bool maybe;       /* `?` */
	bool sometimes;   /* of a joined row: only some of the rows joined have this entry, so at most MAY */
	bool grad;        /* .grad: the gradient of that tensor, not its own memory */
	bool buffer, parameter; /* buf.NAME, par.NAME of the module */
	Sym name;
	Sym when;         /* "training", "inplace", ... after `?`; 0 none named */
} FactArg;

/* Shape of the result, one or two alternatives ("t" "t,t" "t,t?" "t[]" "t|t[]" "v" "-"). Members: 't' tensor,
 * 'o' tensor or None (t?), 'v' plain value, 'L' list or tuple of tensors of variable length (t[]). No members: "-". */
typedef struct FactOuts {
	uint8_t nalts;       /* 1 or 2; 0 in the zero value: nothing known */
	uint8_t n[2];        /* members of each alternative */
	char member[2][16];
} FactOuts;

typedef struct Fact {
	Family family;
	Sym name;
	FactKind kind;
	FactCond cond;
	uint64_t tags;           /* bits 1 << FT_x */
	FactArg *alias, *mutates;
	uint32_t nalias, nmutates;
	FactOuts outs;
	VersionSpan span;        /* versions for which the row holds */
	bool joined;             /* made from rows whose effects differ (over versions, modes of a module, overloads of a
	                          * packet): a VIEW here is one in all of them, what only some of them do is MAYBE_VIEW,
	                          * or an entry with `sometimes` */
	bool user;               /* from --facts */
	Sym aten;                /* ATen packet behind a Python spelling, "aten.view"; 0 none */
	Str source;              /* the file the row came from, for --dump and messages */
	uint32_t line;           /* and its line */
} Fact;

static inline bool fact_has(const Fact *f, FactTag t) { return f->tags >> t & 1; }

/* One parameter of a callable whose answer hangs on an argument (params.tsv). */
typedef struct Param {
	Sym name;
	Str dflt;            /* printed default; empty none */
	bool keyword_only, variadic;
} Param;

typedef struct Overload {
	const Param *v;
	uint32_t n;
} Overload;

typedef struct Facts Facts;

/* No tables: for tests. `names` must outlive it, here and below. */
Facts *facts_new(Arena *a, Names *names);
/* The tables that are embedded in the program; a fault in one of them is an assertion. */
Facts *facts_builtin(Arena *a, Names *names);
/* Loads a table (tab-separated rows as in rules/ops.tsv, or one operator schema a line such as
 * mylib::foo(Tensor(a!) x, Tensor y) -> Tensor(a!)); its rows replace those of the same name.
 * The whole file is checked first. On error nothing is changed, false is returned and every fault is added to
 * *errors as "FILE:LINE:COLUMN: message (did you mean ...?)", one a line. */
bool facts_load(Facts *f, Str path, Str text, Buf *errors);
/* The facts of a spelling, for the versions possible; NULL when there are none. Rows that differ over the span are joined.
 * Knows the printers' habits: torch.Tensor.NAME and torch_Tensor_NAME are methods, mangled names with and without _N,
 * dispatcher names with and without overload, `getattr` by name, Python operators by their operator-module name. */
const Fact *facts_find(Facts *f, Callee callee, Str target, VersionSpan torch);
/* Facts of a module class, e.g. Dropout, in train or eval mode, with inplace=True or not. Mode unknown (mode 0): rows joined. */
const Fact *facts_find_module(Facts *f, Str cls, int mode /* 0 unknown, 1 train, 2 eval */, bool inplace, VersionSpan torch);
/* Overloads of the parameters, from params.tsv; 0 when the table has none. */
uint32_t facts_params(Facts *f, Callee callee, Str target, const Overload **out);
/* Nearest known spelling for a message; empty when nothing is near. */
Str facts_nearest(Facts *f, Callee callee, Str target);

/* The argument at position `index` (counting self as 0 for methods) or, when it is absent there, with keyword `name`;
 * knows that a schema's self is `input` as a keyword of torch functions. NULL when it is not given. */
const Arg *call_arg(const Facts *f, const Graph *g, const Node *n, int index, Str name);
/* The argument of parameter `name`, its position looked up in params.tsv for the node's spelling (first overload
 * that has the name and fits the number of positional arguments). NULL when not given. */
const Arg *call_param(Facts *f, const Graph *g, const Node *n, Str name);
/* Every spelling in the tables, in order, for the generated test and for "did you mean". */
uint32_t facts_count(const Facts *f);
const Fact *facts_at(const Facts *f, uint32_t i);
/* Stable text of one row, in the columns of rules/ops.tsv; a joined row ends in "joined", its entries that only some
 * rows have in "~". */
void fact_text(const Facts *f, const Fact *row, Buf *out);
Str fact_kind_name(FactKind k);
Str fact_cond_name(FactCond c); /* FC_NONE: "-" */
Str fact_tag_name(FactTag t);
Str family_name(Family f);

#endif
