/* SPDX-License-Identifier: MIT
 * One record of a trace: what is kept of it lies in the memory that was given. */
#include "fuzz.h"
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena a = arena_new(NULL);
	TraceRecord r;
	TraceStrings strings;
	Str json = fuzz_str(data, size);
	uint64_t sum = 0;
	if (trace_parse(json, &a, &r) == TRACE_OK) {
		const Str kept[] = {r.kind, r.compile_id, r.hash, r.payload_file, r.name, r.file, r.text, r.dtype};
		for (uint32_t i = 0; i < sizeof kept / sizeof *kept; i++)
			sum += hash_bytes(sum, kept[i].p, kept[i].n);
		ASSERT(r.kind.n && r.ndim <= TRACE_DIMS);
		sum += trace_role(r.kind) + trace_is_known(r.kind);
	}
	if (trace_string_table(json, &a, &strings))
		for (uint32_t i = 0; i < strings.n; i++)
			sum += hash_bytes(sum, strings.v[i].p, strings.v[i].n);
	arena_free(&a);
	return sum == 1; /* that the sum is made */
}
