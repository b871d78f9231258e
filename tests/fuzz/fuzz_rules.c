/* SPDX-License-Identifier: MIT
 * A rule file, over no other rules. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena a = arena_new(NULL);
	Rules rules = {0};
	Buf errors = {.a = &a};
	bool loaded = rules_load(&rules, &a, S("fuzz.yaml"), fuzz_str(data, size), &errors);
	ASSERT(loaded == (errors.n == 0));
	ASSERT(loaded || rules.v.n == 0);
	arena_free(&a);
	return 0;
}
