/* SPDX-License-Identifier: MIT
 * keys: YAML files that are read by tables of keys: rules, configuration. Every fault has line and column and, for a
 * word that is not known, the nearest one that is; a file is checked as a whole. */
#ifndef GRAPHLINT_KEYS_H
#define GRAPHLINT_KEYS_H

#include <yaml.h>

#include "base.h"
#include "nearest.h"

typedef struct KeysFile {
	Arena *a;
	Str path;        /* as faults name it */
	Buf *errors;     /* "FILE:LINE:COLUMN: message" lines */
	uint32_t faults; /* how many so far; from some number on they are counted only */
	uint32_t file_most, list_most; /* bytes of a file, items of a list; 0: 1 MiB, 1000 */
	uint32_t documents; /* that were read */
	yaml_document_t *doc;
	Str text;         /* the whole file */
	void *user;       /* the reader's own */
} KeysFile;

/* Reads the value of a key, or an item of a list, into the object that the mapping describes. */
typedef void KeyFn(KeysFile *k, yaml_node_t *node, void *into);

typedef struct Key {
	Str name;
	bool required;
	KeyFn *read;
} Key;

#define KEYS_N(table) (sizeof(table) / sizeof *(table))

void keys_fault_at(KeysFile *k, size_t line, size_t column, Str text); /* both from 0 */
void keys_fault(KeysFile *k, const yaml_node_t *node, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A fault at a byte of the text that keys_text gave for a node, as far as the style of the scalar tells where that stands. */
void keys_fault_in(KeysFile *k, const yaml_node_t *node, uint32_t at, Str text);
/* "WHAT 'WORD' (did you mean 'X'?)" */
void keys_fault_word(KeysFile *k, const yaml_node_t *node, const char *what, Str word, const Nearest *near);
/* The text of a scalar; empty for anything else. */
Str keys_scalar(const yaml_node_t *node);
/* A text that is not empty; newlines only where `lines` says so. Empty after a fault. */
Str keys_text(KeysFile *k, const yaml_node_t *node, bool lines);
/* yes, true, on or no, false, off. */
bool keys_bool(KeysFile *k, const yaml_node_t *node, bool *out);
/* A number from `least` to `most`. */
bool keys_number(KeysFile *k, const yaml_node_t *node, int64_t least, int64_t most, int64_t *out);
void keys_list(KeysFile *k, yaml_node_t *node, KeyFn *item, void *into);
/* A list, or a single item that stands for a list of one. */
void keys_list_or_one(KeysFile *k, yaml_node_t *node, KeyFn *item, void *into);
void keys_mapping(KeysFile *k, yaml_node_t *node, const Key *keys, uint32_t n, void *into);
/* A mapping whose keys are the user's words. */
void keys_each(KeysFile *k, yaml_node_t *node, void (*pair)(KeysFile *, yaml_node_t *key, yaml_node_t *value, void *into),
               void *into);
/* Lower-case words joined by "-". */
bool keys_is_kebab(Str s);
/* Calls `root` for every document of the text. False when there was a fault; an empty file has no document. */
bool keys_documents(KeysFile *k, Str text, KeyFn *root, void *into);

#endif
