/* SPDX-License-Identifier: MIT
 * diag: findings. Passes add them with typed values; the wording is in the rule files. */
#ifndef GRAPHLINT_DIAG_H
#define GRAPHLINT_DIAG_H

#include "base.h"

typedef enum Severity { SEV_NONE, SEV_NOTE, SEV_WARNING, SEV_ERROR } Severity;
Str severity_name(Severity s); /* "note" "warning" "error"; "none" */
bool severity_parse(Str s, Severity *out);

typedef enum StepRole {
#define ROLE(id, word) ROLE_##id,
#include "roles.def"
#undef ROLE
	ROLE_N
} StepRole;
Str role_name(StepRole r);

/* One step of the evidence: a place in a dump and what happens there. */
typedef struct Step {
	Span span;
	StepRole role;
	Str text; /* plain words, may quote the dump: writers escape it */
} Step;

typedef enum Observable { OBS_NONE, OBS_NO, OBS_IDENTITY, OBS_YES, OBS_UNKNOWN } Observable;
Str observable_name(Observable o); /* OBS_NONE: empty */

/* A line of the user's program that the dump names. */
typedef struct UserSource {
	Str file, function, code; /* file empty: none */
	uint32_t line;
} UserSource;

/* A named value that the message template of the rule uses: {name}. */
typedef struct Var {
	Str name, value;
} Var;

/* Bits of Finding.contracts: under which named contracts the finding holds. */
#define CONTRACT_BIT(c) (1u << (c))

typedef struct Finding {
	Str rule;         /* "GL101" */
	Str variant;      /* which of the rule's messages; empty: the only one */
	Severity severity;
	Span span;
	Str graph;        /* name, empty when the finding is about no graph */
	GraphId graph_id;
	Str compile_id;   /* "1/0" */
	int32_t output, input, other_output; /* -1: none */
	Str attribute;
	Tri certainty;    /* TRI_MAY, TRI_MUST; TRI_NO: not about certainty */
	Str condition;    /* why only may, in words */
	Observable observable;
	unsigned contracts;
	UserSource source;
	Str group;        /* operator or other key that, with rule and source line, groups repeats for people */
	bool quiet_by_contract; /* would be a warning or error under `fresh`: counted in the summary line */
	Str fingerprint;  /* of the graph's structure: the same after a recapture; empty: none */
	Str suppressed;   /* "inline", "config" or "baseline"; empty: it counts */
	Str suppress_reason; /* in the user's words; may be empty */
	VEC(Var) vars;
	VEC(Step) steps;
	/* filled by rules_render: */
	Str name, message, suggestion, help;
} Finding;

/* Text that was recognised and could not be read; also makes GL901 or GL902 findings. */
typedef struct Unread {
	Span span;
	Str why;
	bool incomplete; /* counts for exit status 3 */
} Unread;

typedef struct Diags {
	Arena *a;            /* run lifetime */
	VEC(Finding) v;
	VEC(Unread) unread;
	Map places;          /* where diag_unread and diag_truncated spoke already */
} Diags;

void diags_init(Diags *d, Arena *a);
/* Adds an empty finding of a rule at a place, with input, output, other_output = -1. The pointer is good
 * until the next addition. */
Finding *diag_add(Diags *d, Str rule, Severity sev, Span at);
void diag_var(Diags *d, Finding *f, Str name, Str value);   /* value is copied */
void diag_varf(Diags *d, Finding *f, Str name, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void diag_step(Diags *d, Finding *f, StepRole role, Span at, Str text); /* text is copied */
void diag_stepf(Diags *d, Finding *f, StepRole role, Span at, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* GL901: text inside a recognised artifact that could not be read. Also an Unread entry. At most one per place. */
void diag_unread(Diags *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* GL902: an artifact ends early. Also an Unread entry. */
void diag_truncated(Diags *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Adds copies of what `from` holds, moved by `shift` bytes into `file`; of places told before, nothing. Strings stay
 * where they are: `from` must live as long. */
void diag_replay(Diags *d, const Diags *from, FileId file, int64_t shift);
/* Orders findings by file, place, rule, graph, output, input: the order of every report; equal ones stay as they
 * were added. Unread text is ordered by place. */
void diags_sort(Diags *d);

#endif
