/* SPDX-License-Identifier: MIT
 * walk: files and folders of the command line -> the files to read, in a fixed order. */
#ifndef GRAPHLINT_WALK_H
#define GRAPHLINT_WALK_H

#include "base.h"

typedef struct WalkFile {
	Str path;
	bool named; /* on the command line */
	Sym id;     /* in Walk.seen; 0 for standard input and what is not there */
} WalkFile;

typedef struct Walk {
	Arena *a;
	uint64_t depth_most;
	VEC(WalkFile) files;
	VEC(Str) passed;  /* files that are no text */
	Names seen;       /* device and inode: a file is read once, a loop of links is left */
	Map seen_file;    /* Sym in `seen` -> index in `files` + 1 */
	Buf *trouble;     /* "PATH: why", one a line */
	uint32_t failed;  /* files and folders that could not be looked at */
} Walk;

void walk_init(Walk *w, Arena *a, uint64_t depth_most, Buf *trouble);
/* A file is taken as it is, `-` and what is no folder too. Of a folder all files below it are taken, sorted by
 * path, without hidden ones, caches, and files that begin as no text does; links are followed after everything
 * else, so that the path without links is the one that is shown. */
void walk_add(Walk *w, Str path);

#endif
