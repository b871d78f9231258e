/* SPDX-License-Identifier: MIT
 * A folder of files: the input is cut at form feeds, the first line of each part is the file's name. */
#include "fuzz.h"
#include "split_units.h"

enum { FILES_MOST = 24 };

static void add_file(Sources *t, Str part, Arena *a)
{
	Str name, why;
	str_cut(&part, '\n', &name);
	sources_add_bytes(t, str_printf(a, "d/" STR_FMT, STR_ARG(str_sub(name, 0, 200))), part, 1 << 20, &why);
}

static void check(const Sources *t, const FileOrder *order, Arena *a)
{
	bool *seen = NEW_N(a, bool, t->v.n + 1);
	ASSERT(order->n == t->v.n - 1);
	for (uint32_t i = 0; i < order->n; i++) {
		uint32_t f = order->v[i].i;
		ASSERT(f && f < t->v.n && !seen[f]);
		seen[f] = true;
		ASSERT(t->v.v[f].unit.i && t->v.v[f].unit.i < t->v.n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena a = arena_new(NULL), scratch = arena_new(NULL);
	Sources sources;
	Artifacts artifacts;
	Diags diags;
	FileOrder order = {0};
	Config cfg = config_default();
	Str rest = fuzz_str(data, size), part;
	sources_init(&sources, &a);
	artifacts_init(&artifacts, &a);
	diags_init(&diags, &a);
	for (uint32_t i = 0; i < FILES_MOST && str_cut(&rest, '\f', &part); i++)
		add_file(&sources, part, &a);
	units_find(&sources, &scratch, &order);
	check(&sources, &order, &a);
	for (uint32_t i = 0; i < order.n; i++)
		split_source(&artifacts, &sources, order.v[i], &cfg, &diags);
	split_settle(&artifacts, &diags);
	Buf out = {.a = &a};
	split_dump(&artifacts, &sources, &out);
	arena_free(&scratch);
	arena_free(&a);
	return 0;
}
