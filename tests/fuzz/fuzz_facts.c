/* SPDX-License-Identifier: MIT
 * A file of --facts: rows and schemas, over a table that is empty otherwise. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena a = arena_new(NULL);
	Names names;
	names_init(&names, &a);
	Facts *f = facts_new(&a, &names);
	Buf errors = {.a = &a}, out = {.a = &a};
	bool loaded = facts_load(f, S("fuzz.tsv"), fuzz_str(data, size), &errors);
	ASSERT(loaded == (errors.n == 0));
	ASSERT(loaded || facts_count(f) == 0);
	for (uint32_t i = 0; i < facts_count(f); i++)
		fact_text(f, facts_at(f, i), &out);
	arena_free(&a);
	return 0;
}
