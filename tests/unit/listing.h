/* SPDX-License-Identifier: MIT
 * listing: bytecode listings for tests, read by the reader of the program. */
#ifndef GRAPHLINT_TEST_LISTING_H
#define GRAPHLINT_TEST_LISTING_H

#include "bytecode.h"
#include "read.h"

typedef struct Env {
	Arena a, scratch;
	Names names;
	Diags diags;
	Program program;
	Config cfg;
	Reader reader;
	Seg seg;
	Text text;
	Artifact art;
} Env;

static inline int setup(void **state)
{
	Arena a = arena_new(NULL);
	Env *e = NEW(&a, Env);
	e->a = a;
	e->scratch = arena_new(NULL);
	names_init(&e->names, &e->a);
	diags_init(&e->diags, &e->a);
	program_init(&e->program, &e->a, &e->names);
	e->cfg = config_default();
	e->reader = reader_new(&e->program, NULL, &e->diags, &e->cfg, &e->a, &e->scratch);
	*state = e;
	return 0;
}

static inline int teardown(void **state)
{
	Env *e = *state;
	Arena a = e->a;
	arena_free(&e->scratch);
	reader_free(&e->reader);
	arena_free(&a);
	return 0;
}

/* The code of the first frame in a listing; NULL when there is none. */
static inline Code *read_code_of(Env *e, const char *listing)
{
	Str s = str_from_c(listing);
	uint32_t first = e->program.frames.n;
	e->seg = (Seg){0, 0};
	e->text = (Text){.file = {1}, .s = s, .seg = &e->seg, .nseg = s.n ? 1 : 0};
	e->art = (Artifact){.kind = ART_BYTECODE_ORIGINAL, .file = {1}, .name = S("f")};
	read_bytecode(&e->reader, (ArtifactId){1}, &e->art, &e->text);
	return e->program.frames.v[first].code;
}

#endif
