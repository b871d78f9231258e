/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <inttypes.h>

#include "utf8.h"

Json json_new(Buf *out, bool pretty)
{
	return (Json){.out = out, .pretty = pretty, .first = {true}};
}

static void new_line(Json *j)
{
	buf_char(j->out, '\n');
	for (uint32_t i = 0; i < j->depth; i++)
		buf_add(j->out, S("  "));
}

/* What stands before a value or key: a comma, a new line. Directly behind a key neither. */
static void separate(Json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->first[j->depth])
		buf_char(j->out, ',');
	if (j->pretty && j->depth)
		new_line(j);
	j->first[j->depth] = false;
}

static void open(Json *j, char c)
{
	separate(j);
	buf_char(j->out, c);
	j->depth++;
	ASSERT(j->depth < sizeof j->first / sizeof *j->first);
	j->first[j->depth] = true;
	j->array[j->depth] = c == '[';
}

void json_object(Json *j)
{
	open(j, '{');
}

void json_array(Json *j)
{
	open(j, '[');
}

void json_end(Json *j)
{
	ASSERT(j->depth && !j->after_key);
	bool empty = j->first[j->depth];
	char c = j->array[j->depth] ? ']' : '}';
	j->depth--;
	if (j->pretty && !empty)
		new_line(j);
	buf_char(j->out, c);
}

static void add_escaped(Buf *out, uint32_t c)
{
	switch (c) {
	case UTF8_BAD: buf_add(out, S("\xef\xbf\xbd")); return;
	case '"': buf_add(out, S("\\\"")); return;
	case '\\': buf_add(out, S("\\\\")); return;
	case '\n': buf_add(out, S("\\n")); return;
	case '\r': buf_add(out, S("\\r")); return;
	case '\t': buf_add(out, S("\\t")); return;
	}
	if (c > 0xffff) {
		buf_printf(out, "\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)));
		c = 0xdc00 + ((c - 0x10000) & 0x3ff);
	}
	buf_printf(out, "\\u%04x", (unsigned)c);
}

/* Escaped is also what JSON would allow but a terminal would obey. */
static void add_string(Buf *out, Str s)
{
	buf_char(out, '"');
	uint32_t n, plain = 0; /* what stands from `plain` to here can be taken as it is */
	for (uint32_t at = 0; at < s.n; at += n) {
		uint32_t c = utf8_decode(s, at, &n);
		if (c != '"' && c != '\\' && !utf8_hidden(c))
			continue;
		buf_add(out, str_sub(s, plain, at));
		plain = at + n;
		add_escaped(out, c);
	}
	buf_add(out, str_sub(s, plain, s.n));
	buf_char(out, '"');
}

void json_key(Json *j, Str k)
{
	ASSERT(!j->after_key && j->depth && !j->array[j->depth]);
	separate(j);
	add_string(j->out, k);
	buf_add(j->out, j->pretty ? S(": ") : S(":"));
	j->after_key = true;
}

void json_str(Json *j, Str s)
{
	separate(j);
	add_string(j->out, s);
}

void json_str_or_null(Json *j, Str s)
{
	if (s.n)
		json_str(j, s);
	else
		json_null(j);
}

void json_int(Json *j, int64_t v)
{
	separate(j);
	buf_printf(j->out, "%" PRId64, v);
}

void json_bool(Json *j, bool v)
{
	separate(j);
	buf_add(j->out, v ? S("true") : S("false"));
}

void json_null(Json *j)
{
	separate(j);
	buf_add(j->out, S("null"));
}

void json_raw(Json *j, Str value)
{
	separate(j);
	buf_add(j->out, value);
}
