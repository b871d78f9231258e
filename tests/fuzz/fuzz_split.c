/* SPDX-License-Identifier: MIT
 * Bytes of a file -> source -> artifacts and their clean text, and back to places in the source. */
#include "fuzz.h"

static void check_artifact(const Artifact *art, const Sources *sources, Arena *a)
{
	uint32_t size = source_get(sources, art->file)->text.n;
	ASSERT(art->at <= art->end && art->end <= size);
	for (uint32_t i = 0; i < art->npieces; i++)
		ASSERT(art->pieces[i].src <= size && art->pieces[i].n <= size - art->pieces[i].src);
	Text text = artifact_text(art, sources, a);
	for (uint32_t at = 0; at <= text.s.n; at++) /* not ascending: the rest of a torn line stands behind another line */
		ASSERT(text_offset(&text, at) <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena a = arena_new(NULL);
	Sources sources;
	Artifacts artifacts;
	Diags diags;
	Config cfg = config_default();
	Str why = {0};
	sources_init(&sources, &a);
	artifacts_init(&artifacts, &a);
	diags_init(&diags, &a);
	FileId f = sources_add_bytes(&sources, S("fuzz.log"), fuzz_str(data, size), 1 << 24, &why);
	if (f.i) {
		split_source(&artifacts, &sources, f, &cfg, &diags);
		for (uint32_t i = 1; i < artifacts.v.n; i++)
			check_artifact(&artifacts.v.v[i], &sources, &a);
		fuzz_check_places(&diags, source_get(&sources, f)->text.n);
		Buf out = {.a = &a};
		split_dump(&artifacts, &sources, &out);
	}
	arena_free(&a);
	return 0;
}
