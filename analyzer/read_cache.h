/* SPDX-License-Identifier: MIT
 * read_cache: what was read from a piece of text, kept for the next run: an editor that changes one line has one
 * artifact read again. Entries are found by content (the header's data and every byte of the body), not by place;
 * what they hold is copied out with its places moved.
 *
 * What was read names interned strings and types: a cache serves runs that share Tables and Types. */
#ifndef GRAPHLINT_READ_CACHE_H
#define GRAPHLINT_READ_CACHE_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "ir.h"
#include "split.h"
#include "read.h"
#include "read_meta.h"

typedef struct ReadCache ReadCache;

/* Lives in `a`; entries take memory of their own, on `budget` (may be NULL). */
ReadCache *read_cache_new(Arena *a, Budget *budget);
void read_cache_free(ReadCache *c);
/* A new run begins; entries that neither the last finished run nor the one before it used are given up. */
void read_cache_begin(ReadCache *c);
/* The run came to its end. */
void read_cache_finish(ReadCache *c);
/* Fills the program, metas and diags of a reader with what the artifact holds: from the cache, else by `read`, which gets
 * a reader whose memory is the entry's. True when it had to be read. */
bool read_cache_artifact(ReadCache *c, Reader *r, AotMetas *metas, ArtifactId id, const Artifact *art, const Sources *sources,
                         void (*read)(void *ctx, Reader *r, AotMetas *metas, ArtifactId id), void *ctx);
/* Artifacts that the last run had to read, and all that it asked for. */
void read_cache_counts(const ReadCache *c, uint32_t *read, uint32_t *asked);

#endif
