/* SPDX-License-Identifier: MIT
 * json: a streaming writer. Text that is not UTF-8 becomes U+FFFD; output bytes depend on the calls alone. */
#ifndef GRAPHLINT_JSON_H
#define GRAPHLINT_JSON_H

#include "base.h"

typedef struct Json {
	Buf *out;
	uint32_t depth;
	bool pretty;          /* one member a line */
	bool first[64];       /* nothing written yet at this depth */
	bool array[64];       /* what is open at this depth is an array */
	bool after_key;
} Json;

Json json_new(Buf *out, bool pretty);
void json_object(Json *j);
void json_array(Json *j);
void json_end(Json *j);       /* closes the innermost object or array */
void json_key(Json *j, Str k);
void json_str(Json *j, Str s);
void json_str_or_null(Json *j, Str s); /* empty gives null */
void json_int(Json *j, int64_t v);
void json_bool(Json *j, bool v);
void json_null(Json *j);
void json_raw(Json *j, Str value); /* a value that is JSON already */

#endif
