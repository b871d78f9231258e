/* SPDX-License-Identifier: MIT
 * template: sentences with names in them. {name} or {$name} stands for a value, [[ ]] holds a part that is left out
 * when a name in it has no value (not nested), {{ and }} stand for one brace. */
#ifndef GRAPHLINT_TEMPLATE_H
#define GRAPHLINT_TEMPLATE_H

#include "base.h"

/* Says what is wrong with the template, or adds nothing and is true. `known` judges names; on an unknown one
 * *name is that name (else empty), for a "did you mean". */
bool template_check(Str t, bool (*known)(Str name), Buf *why, Str *name);
/* Adds the sentence. `value` adds the value of a name to `out`, or nothing. The template passed the check. */
void template_fill(Str t, void (*value)(void *ctx, Str name, Buf *out), void *ctx, Buf *out);

#endif
