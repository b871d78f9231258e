/* SPDX-License-Identifier: MIT
 * decide_query: what the files of decide share: the call in question, arguments, answers. */
#ifndef GRAPHLINT_DECIDE_QUERY_H
#define GRAPHLINT_DECIDE_QUERY_H

#include "base.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "infer.h"
#include "decide.h"

/* One call and the argument that is asked about. */
typedef struct Query {
	const DecideCtx *c;
	NodeId id;
	const Node *n;
	const Fact *fact;
	const Arg *src; /* NULL: the argument is not given */
	Type type; /* of src when the call runs; kind TK_NONE: nothing known */
	TypeId tid;
	Str op; /* short name of what is called: "reshape", "dropout1d", "wrapped_take", "Flatten" */
	Str x; /* src as the dump names it */
} Query;

Query query_make(const DecideCtx *c, NodeId n, const Fact *fact, const Arg *src);

/* ---- arguments ---- */

/* The argument at a position or with a keyword; NULL when neither is given. */
const Arg *query_at(const Query *k, int index, Str name);
/* The argument of a parameter of params.tsv; NULL when it is not given. */
const Arg *query_param(const Query *k, Str name);
/* The default of a parameter in params.tsv; empty when the table does not know the parameter. */
Str query_default(const Query *k, Str name);
/* Python's bool() of a parameter: as given, else its default. MAY when it is no literal. */
Tri query_truth(const Query *k, Str name);
Tri arg_truth(const Query *k, const Arg *a);
/* True when a parameter is given and is not None. */
bool query_has(const Query *k, int index, Str name);
/* Mode of a called module: 0 unknown, 1 train, 2 eval. */
int query_mode(const Query *k);
bool arg_int(const Query *k, const Arg *a, int64_t *out);
/* Number of positional arguments from position `from` on, at most 64. */
uint32_t query_positional(const Query *k, uint32_t from);
Type arg_type(const Query *k, const Arg *a);
/* An argument, or an operator's name, as the dump writes it; long ones are cut. */
Str arg_words(const Query *k, const Arg *a);
/* A sentence in the memory for texts. */
Str say(const Query *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A sentence about src: "l_x_ is empty". */
Str x_says(const Query *k, const char *what);
/* Sizes and strides of src as an annotation says them, without device; "its layout" when they are
 * long or not known. */
Str query_layout(const Query *k);
Str shape_words(const Query *k, const ExprId *size, uint32_t n);
/* One setting in the printed constructor of a module: "0.5" for p in "p=0.5, inplace=False". */
bool ctor_value(Str ctor, Str name, Str *value);
/* Whether a printed Python constant is true: "False", "0", "0.0", "None" are not. */
Tri text_truth(Str s);
/* The last word of a dotted name. */
Str str_last(Str dotted);

/* ---- answers ---- */

Decision answer_yes(Tri same, Str because); /* shares certainly */
Decision answer_no(Str because); /* new memory certainly */
/* Shares on a condition, and then is the same object (MUST), never (NO) or sometimes (MAY). */
Decision answer_maybe(Tri same, Str condition);
/* By three-valued answer; the texts that it does not need are not looked at. */
Decision answer(Tri shares, Tri same, Str because, Str condition);
/* What the tags of the fact say about an aliasing result. */
Tri fact_same_object(const Fact *f);

/* Joined sentences; the last one is about src. */
typedef struct Said {
	Str text;
	bool about_x;
} Said;

/* Several conditions that all must hold, or, with `any`, of which one must. */
typedef struct Clauses {
	Arena *a;
	Str x; /* subject of sentences: said once where several are joined */
	bool any;
	Tri all;
	Said settled; /* reasons that settle it */
	Said open; /* conditions that are not known */
	Said held; /* reasons that hold but do not settle it alone */
} Clauses;

Clauses clauses_all(const Query *k);
Clauses clauses_any(const Query *k);
/* `yes`: the condition, also said when it holds; `no`: said when it does not. Empty: not said. */
void clause_add(Clauses *s, Tri t, Str yes, Str no);
Decision clauses_answer(const Clauses *s, Tri same, Str when_nothing);

/* ---- condition classes ---- */

Decision decide_contiguous(const Query *k);
Decision decide_reshape(const Query *k);
Decision decide_flatten(const Query *k);
Decision decide_ravel(const Query *k);
Decision decide_size(const Query *k);
Decision decide_empty(const Query *k);
Decision decide_small(const Query *k);
Decision decide_one(const Query *k);
Decision decide_convert(const Query *k);
Decision decide_dropout(const Query *k);
/* Whether a call of the dropout family that is in place writes its argument. */
Clauses dropout_writes(const Query *k);
Decision decide_item(const Query *k);
Decision decide_conj(const Query *k);
Decision decide_einsum(const Query *k);
Decision decide_numpy(const Query *k);
Decision decide_array_resize(const Query *k);
Decision decide_storage_form(const Query *k);
/* Whether an `inplace` argument is set; MAY when it is no literal. */
Tri query_inplace(const Query *k);
/* Whether the node returns a tensor, as far as the dump prints annotations: np.sort or x.sort(). */
Tri query_returns_tensor(const Query *k);
/* What a memory format argument says; MF_UNKNOWN when it is no literal. NULL: `dflt`. */
MemoryFormat arg_format(const Query *k, const Arg *a, MemoryFormat dflt);
/* Is src in that format, exactly as contiguous(memory_format=) asks? */
Tri query_is_packed(const Query *k, MemoryFormat f);
Str format_words(MemoryFormat f);

#endif
