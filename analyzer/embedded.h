/* SPDX-License-Identifier: MIT
 * embedded: the files of rules/ inside the program. The table is generated at build (rules/embed.awk). */
#ifndef GRAPHLINT_EMBEDDED_H
#define GRAPHLINT_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

typedef struct EmbeddedFile {
	const char *name; /* without folder: "ops.tsv" */
	const char *data; /* text; every line, the last one too, ends with '\n' */
	uint32_t size;    /* bytes, without the NUL that follows them */
} EmbeddedFile;

/* In order of their names; ends with a NULL name. */
extern const EmbeddedFile embedded_files[];

#endif
