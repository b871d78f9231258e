/* SPDX-License-Identifier: MIT
 * split_depyf: folders that depyf wrote: graphs a file each, named by the file, and functions that were decompiled out of
 * bytecode. Facts: depyf 0.18 to 0.20 (depyf/explain/enhance_logging.py, depyf/code_transform.py). */
#ifndef GRAPHLINT_SPLIT_DEPYF_H
#define GRAPHLINT_SPLIT_DEPYF_H

#include "base.h"
#include "source.h"
#include "split.h"

/* Is it a file of such a folder? Text that holds decompiled functions, or a graph under a name that depyf gives. */
bool depyf_is_file(const Source *s);
/* Names the artifacts from `from` on, which were cut out of a file, after the file, and adds the functions, outermost
 * first. */
void depyf_split(Artifacts *t, uint32_t from, const Sources *sources, FileId file);

#endif
