/* SPDX-License-Identifier: MIT
 * What the fuzz targets share. libFuzzer gives each input in a block of its very size, so that AddressSanitizer sees a
 * read past its end; nothing here copies it. */
#ifndef GRAPHLINT_FUZZ_H
#define GRAPHLINT_FUZZ_H

#include <stdint.h>

#include "read.h"
#include "run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline Str fuzz_str(const uint8_t *data, size_t size)
{
	return (Str){(const char *)data, (uint32_t)size};
}

typedef void FuzzReader(Reader *r, ArtifactId id, const Artifact *art, const Text *text);

/* Every place that is told lies in the text. */
static inline void fuzz_check_places(const Diags *d, uint32_t size)
{
	for (uint32_t i = 0; i < d->v.n; i++)
		ASSERT(d->v.v[i].span.at <= d->v.v[i].span.end && d->v.v[i].span.end <= size);
	for (uint32_t i = 0; i < d->unread.n; i++)
		ASSERT(d->unread.v[i].span.at <= d->unread.v[i].span.end && d->unread.v[i].span.end <= size);
}

/* One reader over the input as the clean text of one artifact. */
static inline int fuzz_read(FuzzReader *reader, const uint8_t *data, size_t size)
{
	Arena a = arena_new(NULL), scratch = arena_new(NULL);
	Names names;
	Program program;
	Diags diags;
	Config cfg = config_default();
	names_init(&names, &a);
	program_init(&program, &a, &names);
	diags_init(&diags, &a);
	Types *types = types_new(&a, &names);
	Reader r = reader_new(&program, types, &diags, &cfg, &a, &scratch);
	Seg seg = {0, 0};
	Text text = {.file = {1}, .s = fuzz_str(data, size), .seg = &seg, .nseg = size ? 1 : 0};
	bool ends = size && data[size - 1] != '\n';
	Artifact art = {.file = {1}, .end = (uint32_t)size, .open_end = ends, .torn_end = ends, .cut_head = size % 2};
	reader(&r, (ArtifactId){1}, &art, &text);
	ASSERT(ir_check(&program, &scratch).n == 0);
	fuzz_check_places(&diags, (uint32_t)size);
	Buf out = {.a = &a};
	ir_dump(&program, types, &out);
	reader_free(&r);
	arena_free(&scratch);
	arena_free(&a);
	return 0;
}

/* A target of one reader. */
#define FUZZ_READER(reader)                                                                        \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                   \
	{                                                                                              \
		return fuzz_read(reader, data, size);                                                      \
	}

#endif
