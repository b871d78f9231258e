/* SPDX-License-Identifier: MIT */
#include "json_in.h"

#include <jansson.h>
#include <stdlib.h>

JsonIn *json_in_parse(Str text, Buf *fault)
{
	json_error_t e;
	json_t *v = json_loadb(text.n ? text.p : "", text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
	if (!v)
		buf_printf(fault, "line %d, column %d: %s", e.line, e.column, e.text);
	return v;
}

void json_in_free(JsonIn *v)
{
	json_decref(v);
}

const JsonIn *json_in_get(const JsonIn *v, const char *key)
{
	return json_object_get(v, key);
}

const JsonIn *json_in_path(const JsonIn *v, ...)
{
	va_list ap;
	va_start(ap, v);
	for (const char *key; v && (key = va_arg(ap, const char *)) != NULL;)
		v = json_object_get(v, key);
	va_end(ap);
	return v;
}

const JsonIn *json_in_at(const JsonIn *v, uint32_t i)
{
	return json_array_get(v, i);
}

uint32_t json_in_count(const JsonIn *v)
{
	return (uint32_t)json_array_size(v);
}

bool json_in_is_object(const JsonIn *v)
{
	return json_is_object(v);
}

bool json_in_is_array(const JsonIn *v)
{
	return json_is_array(v);
}

bool json_in_is_null(const JsonIn *v)
{
	return !v || json_is_null(v);
}

bool json_in_is_str(const JsonIn *v)
{
	return json_is_string(v);
}

Str json_in_str(const JsonIn *v)
{
	if (!json_is_string(v) || json_string_length(v) >= UINT32_MAX)
		return (Str){0};
	return (Str){json_string_value(v), (uint32_t)json_string_length(v)};
}

bool json_in_int(const JsonIn *v, int64_t *out)
{
	if (!json_is_integer(v))
		return false;
	*out = json_integer_value(v);
	return true;
}

bool json_in_bool(const JsonIn *v, bool otherwise)
{
	return json_is_boolean(v) ? json_is_true(v) : otherwise;
}

void json_in_each(const JsonIn *v, void (*f)(void *ctx, Str key, const JsonIn *v), void *ctx)
{
	const char *key;
	json_t *member;
	if (!json_is_object(v))
		return;
	json_object_foreach((json_t *)(uintptr_t)v, key, member)
		f(ctx, str_from_c(key), member);
}

void json_in_memory(void)
{
	json_set_alloc_funcs(base_malloc, free);
}
