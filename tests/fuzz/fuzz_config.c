/* SPDX-License-Identifier: MIT
 * A configuration file and a baseline, of the same bytes. */
#include "fuzz.h"

#include "baseline.h"
#include "config_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena a = arena_new(NULL);
	Buf errors = {.a = &a};
	ConfigFile c;
	bool loaded = config_file_load(&c, &a, S("fuzz.yaml"), fuzz_str(data, size), &errors);
	ASSERT(loaded == (errors.n == 0));
	errors.n = 0;
	const Baseline *b = baseline_load(&a, S("fuzz.json"), fuzz_str(data, size), &errors);
	ASSERT((b != NULL) == (errors.n == 0));
	arena_free(&a);
	return 0;
}
