/* SPDX-License-Identifier: MIT
 * compare_meta: what AOTAutograd says about a graph (ViewAndMutationMeta) beside our own answer
 * for the Dynamo graph that it compiled. Evidence about our answer; no finding of its own. */
#ifndef GRAPHLINT_COMPARE_META_H
#define GRAPHLINT_COMPARE_META_H

#include "base.h"
#include "ir.h"
#include "read_meta.h"
#include "alias.h"

typedef enum MetaReason {
#define META_REASON(id, words) META_REASON_##id,
#include "meta_reasons.def"
#undef META_REASON
	META_REASON_N
} MetaReason;
Str meta_reason(MetaReason r);

/* One answer in which the two differ. Where ours is only `may` nothing differs. */
typedef struct MetaDiff {
	int32_t input, output; /* of the graph; -1: about neither */
	MetaReason reason;
	Str theirs, ours; /* "non_alias", "view_of_input 1"; "data no", "data must" */
} MetaDiff;

typedef struct MetaComparison {
	uint32_t meta; /* index in CompareMeta.metas */
	GraphId graph; /* 0: its Dynamo graph is not in the dump, or was not analysed */
	uint32_t compared; /* answers that both give */
	uint32_t open; /* of those: ours is only `may` */
	VEC(MetaDiff) diffs;
} MetaComparison;

typedef struct CompareMeta {
	const Program *p;
	const Summary *const *summaries; /* by GraphId */
	const AotMeta *metas;
	uint32_t nmetas;
	Arena *keep, *scratch;
} CompareMeta;

/* Joins each metadata to the Dynamo graph printed last before it with its compile id and attempt,
 * in its process and file, and compares. One result for each metadata, in their order. */
MetaComparison *compare_meta(const CompareMeta *c);
/* The part of --dump=alias: a line for each metadata, and one for each difference. */
void compare_meta_dump(const CompareMeta *c, const MetaComparison *found, Buf *out);

#endif
