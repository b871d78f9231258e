/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "read_meta.h"

static void meta(Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	AotMeta out = {0};
	(void)id;
	read_meta(art, text, r->keep, r->diags, &out);
}

FUZZ_READER(meta)
