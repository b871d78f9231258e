/* SPDX-License-Identifier: MIT
 * split_debug: the tree that TORCH_COMPILE_DEBUG=1 makes: torch_compile_debug/run_..-pid_7/torchinductor/model__0_forward_1.0/.
 * Facts: torch/_inductor/debug.py of PyTorch 2.6 to 2.15. */
#ifndef GRAPHLINT_SPLIT_DEBUG_H
#define GRAPHLINT_SPLIT_DEBUG_H

#include "base.h"
#include "source.h"

/* A file of one graph of Inductor. */
typedef struct DebugFile {
	Str run;        /* path of the run's folder */
	Str process;    /* "7" of run_...-pid_7 */
	Str kind;       /* as a trace names such a payload */
	uint32_t model; /* number that AOTAutograd gave: forward and backward have one */
	uint32_t order; /* of the file among those of the run */
} DebugFile;

/* Is the file one of these, by its place, and by a text that is what the place says? */
bool debug_file(const Source *s, DebugFile *out);
/* The process number of the first line of a trace; empty: the text is none. */
Str debug_trace_process(const Source *s);

#endif
