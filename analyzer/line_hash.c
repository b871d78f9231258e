/* SPDX-License-Identifier: MIT */
#include "line_hash.h"

#include <inttypes.h>

#include "utf8.h"

enum { WINDOW = 100, FACTOR = 37, UNIT_END = 65535 };

typedef struct Roll {
	Arena *a;
	VEC(LineHash) lines;
	uint64_t hash, drop;      /* drop: FACTOR to the power of WINDOW */
	uint64_t unit[WINDOW];
	uint32_t begins[WINDOW];  /* line that begins at this unit, from 1; 0 none */
	uint32_t at;              /* oldest unit */
	bool line_starts, after_cr;
	Map counts;               /* hash -> lines of it */
} Roll;

/* The window that begins at the oldest unit is full. */
static void settle(Roll *r)
{
	uint32_t line = r->begins[r->at];
	if (!line)
		return;
	uint64_t key = r->hash ? r->hash : 1; /* the map has no key 0 */
	uint32_t n = map_get(&r->counts, key) + 1;
	map_put(&r->counts, key, n);
	r->lines.v[line - 1].hash = r->hash;
	r->lines.v[line - 1].count = n;
	r->begins[r->at] = 0;
}

static void push(Roll *r, uint64_t unit)
{
	uint64_t oldest = r->unit[r->at];
	r->unit[r->at] = unit;
	r->hash = r->hash * FACTOR + unit - r->drop * oldest;
	r->at = (r->at + 1) % WINDOW;
}

static void take(Roll *r, uint32_t unit, uint32_t offset)
{
	bool cr = unit == '\r', skip = unit == ' ' || unit == '\t' || (r->after_cr && unit == '\n');
	r->after_cr = cr;
	if (skip)
		return;
	settle(r);
	if (r->line_starts) {
		VEC_PUSH(r->a, &r->lines, ((LineHash){.at = offset}));
		r->begins[r->at] = r->lines.n;
	}
	r->line_starts = cr || unit == '\n';
	push(r, cr ? '\n' : unit);
}

static void take_code_point(Roll *r, uint32_t c, uint32_t line_at)
{
	if (c > 0xffff) {
		take(r, 0xd800 + ((c - 0x10000) >> 10), line_at);
		c = 0xdc00 + ((c - 0x10000) & 0x3ff);
	}
	take(r, c, line_at);
}

LineHashes line_hashes(Str text, Arena *a)
{
	Roll *r = NEW(a, Roll);
	*r = (Roll){.a = a, .drop = 1, .line_starts = true, .counts = {.a = a}};
	for (int i = 0; i < WINDOW; i++)
		r->drop *= FACTOR;
	uint32_t line_at = 0, n;
	for (uint32_t at = 0; at < text.n; at += n) {
		uint32_t c = utf8_decode(text, at, &n);
		if (c == UTF8_BAD)
			return (LineHashes){0};
		take_code_point(r, c, line_at);
		if (c == '\r' || c == '\n') /* blanks in front of a line belong to it */
			line_at = at + n;
	}
	take(r, UNIT_END, line_at);
	for (int i = 0; i < WINDOW; i++) {
		settle(r);
		push(r, 0);
	}
	return (LineHashes){r->lines.v, r->lines.n};
}

const LineHash *line_hash_at(const LineHashes *h, uint32_t offset)
{
	uint32_t lo = 0, hi = h->n;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (h->v[mid].at <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return &h->v[lo];
}

Str line_hash_text(const LineHash *h, Arena *a)
{
	return str_printf(a, "%" PRIx64 ":%u", h->hash, (unsigned)h->count);
}
