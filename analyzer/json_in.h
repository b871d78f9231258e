/* SPDX-License-Identifier: MIT
 * json_in: JSON that others wrote, through jansson. Its function names and those of json.h are the same: one file
 * includes one of them. */
#ifndef GRAPHLINT_JSON_IN_H
#define GRAPHLINT_JSON_IN_H

#include "base.h"

/* A value; NULL stands for one that is not there, and every question about it has an answer. */
typedef struct json_t JsonIn;

/* NULL, and where and why in *fault, when it is no JSON. To be freed. */
JsonIn *json_in_parse(Str text, Buf *fault);
void json_in_free(JsonIn *v);
const JsonIn *json_in_get(const JsonIn *v, const char *key);
/* json_in_path(v, "textDocument", "uri", NULL) */
const JsonIn *json_in_path(const JsonIn *v, ...) __attribute__((sentinel));
const JsonIn *json_in_at(const JsonIn *v, uint32_t i); /* of an array */
uint32_t json_in_count(const JsonIn *v);               /* of an array, else 0 */
bool json_in_is_object(const JsonIn *v);
bool json_in_is_array(const JsonIn *v);
bool json_in_is_null(const JsonIn *v);                 /* null, or not there */
bool json_in_is_str(const JsonIn *v);
Str json_in_str(const JsonIn *v);                      /* as long as the value; empty for what is no string */
bool json_in_int(const JsonIn *v, int64_t *out);
bool json_in_bool(const JsonIn *v, bool otherwise);
/* Calls f for each member. */
void json_in_each(const JsonIn *v, void (*f)(void *ctx, Str key, const JsonIn *v), void *ctx);

/* How jansson takes memory; for main, once. */
void json_in_memory(void);

#endif
