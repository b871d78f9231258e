/* SPDX-License-Identifier: MIT
 * Decompiled functions, and the symbolic runs of what was read from them. */
#include "fuzz.h"

#include "frame_graph.h"
#include "read_python.h"

/* Small limits: what is slow is to be found, not waited for. */
static const LinkLimits limits = {.paths = 8, .steps_each = 8};

static void read_and_link(Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	read_python(r, id, art, text);
	ProgramFrames *f = frames_link(r->program, &limits, r->keep, r->scratch);
	Buf out = {.a = r->keep};
	frames_dump(f, &out);
	for (uint32_t i = 0; i < r->program->frames.n; i++)
		for (uint32_t k = 0; f->links[i] && k < f->links[i]->events.n; k++) {
			FrameRefs found = {0};
			frame_resume_candidates(f, i + 1, &f->links[i]->events.v[k], r->keep, &found);
		}
}

FUZZ_READER(read_and_link)
