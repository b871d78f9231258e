/* SPDX-License-Identifier: MIT
 * facts_priv: what the files of the operator facts share. Nobody else includes it. */
#ifndef GRAPHLINT_FACTS_PRIV_H
#define GRAPHLINT_FACTS_PRIV_H

#include "base.h"
#include "ir.h"
#include "facts.h"

enum {
	MAX_ROWS_OF_NAME = 32, /* rows of one spelling, for as many spans of versions */
	MAX_NAME = 512         /* longest spelling that is looked up */
};

typedef struct Row Row;
struct Row {
	Fact fact;
	Row *next;     /* further row of the same spelling, for other versions */
	bool replaced; /* by a table that was loaded later */
};

/* A join that was asked for before. */
typedef struct Joined Joined;
struct Joined {
	const Fact **rows;
	uint32_t n;
	Fact fact;
	Joined *next;
};

/* All rows of one spelling. */
typedef struct Group {
	Family family;
	Sym name;
	Row *first, *last;
	uint32_t n;
	Joined *joined;        /* joins that start with a row of this group */
	const Overload *params;
	uint32_t nparams;
	uint64_t letters;      /* which bytes the name has, for facts_nearest */
} Group;

typedef struct Groups {
	Group *v;              /* slot 0 unused */
	uint32_t n, cap;
} Groups;

struct Facts {
	Arena *a;
	Names *names;
	Groups groups;
	Map by_name;           /* name_key -> group */
	Map by_mangled;        /* Sym of a dotted Python function as code prints it -> group */
	VEC(const Row *) rows; /* in the order of the tables */
	Map resolved;          /* callee and Sym -> group, NO_GROUP when there is none */
	/* for facts_nearest, made when first asked */
	uint32_t *by_length;   /* groups by the length of their names */
	uint32_t *length_at;   /* by_length[length_at[n] .. length_at[n + 1]): names of n bytes */
	uint32_t indexed;      /* groups that were there then */
	Map nearest;           /* callee and Sym -> Sym of the nearest name, or NO_GROUP */
};

#define NO_GROUP UINT32_MAX

static inline uint64_t name_key(Family f, Sym name) { return (uint64_t)f << 32 | name.i; }

/* The group of a spelling as a dump writes it; 0 when there is none. */
uint32_t facts_resolve(Facts *f, Callee callee, Str target);
/* Group of a name of the tables; 0 when there is none. */
uint32_t facts_group(const Facts *f, Family family, Str name);
/* `name` with each dot replaced by '_', in `buf`; empty when it does not fit. */
Str facts_mangle(Str name, char buf[MAX_NAME]);
/* Joins rows: an effect on which they differ becomes maybe. n is 1 or more. */
Fact facts_join(Arena *a, const Fact *const *rows, uint32_t n);

/* A file of facts on its way in. Rows are collected, and taken over when the whole file has no
 * fault. */
typedef struct Load {
	Facts *f;
	Str path;
	Buf *errors;
	uint32_t faults;
	bool user;
	Str line;          /* the one at hand */
	uint32_t line_no;  /* from 1 */
	Groups staged;
	Map by_name;       /* name_key -> staged group */
	VEC(Sym) schemas;  /* names of the rows that came from schemas */
} Load;

/* Adds a fault of the line at hand, at the first byte of `where` (a slice of the line). */
void load_fault(Load *l, Str where, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* " (did you mean 'x'?)" for the nearest of n words; empty when none is near. */
Str load_hint(Load *l, Str word, const Str *words, uint32_t n);
/* `s` fit for a message: control characters replaced, shortened. */
Str load_quote(Load *l, Str s);
/* Takes a copy of a row in; a fault when its name already has a row for some of its versions. */
void load_add(Load *l, const Fact *fact, Str where);
/* Parameters of a spelling that is loaded too. */
void load_params(Load *l, Family family, Sym name, const Overload *ov, uint32_t n);
/* The line at hand, which has no tab, as an operator schema. */
void load_schema(Load *l);
/* Rows for the packets of the operators whose schemas were read: their overloads joined. */
void load_packets(Load *l);

bool facts_load_as(Facts *f, Str path, Str text, bool user, Buf *errors);
bool facts_load_params(Facts *f, Str path, Str text, Buf *errors);

#endif
