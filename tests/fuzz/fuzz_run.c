/* SPDX-License-Identifier: MIT
 * The whole program over one input: all passes, all dumps, all reports. The JSON must be JSON. */
#include "fuzz.h"

#include <jansson.h>

#include "report.h"

static void write_all(const Run *run)
{
	for (const Writer *w = report_writers; w->name; w++) {
		Arena a = arena_new(NULL);
		Buf out = {.a = &a};
		ReportOptions options = {.width = 80};
		w->write(run, &options, &out);
		if (str_eq(str_from_c(w->name), S("json"))) {
			json_error_t error;
			json_t *doc = json_loadb(out.p, out.n, JSON_ALLOW_NUL, &error);
			ASSERT(doc);
			json_decref(doc);
		}
		arena_free(&a);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Tables tables; /* as long as the process, as in main */
	static uint32_t runs;
	if (runs++ % 1024 == 0) { /* names of all inputs gather in the tables: begin anew now and then */
		if (runs > 1)
			tables_free(&tables);
		tables_init(&tables);
	}
	Config cfg = config_default();
	cfg.limits.memory_bytes = 256 << 20;
	cfg.contract.name = size ? (ContractName)(data[0] % CONTRACT_N) : CONTRACT_AUTO;
	Run run;
	Str why = {0};
	run_init(&run, &tables, &cfg);
	run.dump = DUMP_SPLIT | DUMP_IR | DUMP_TYPES | DUMP_ALIAS;
	FileId f = sources_add_bytes(&run.sources, S("fuzz.log"), fuzz_str(data, size), 1 << 24, &why);
	if (f.i) {
		run_analyse(&run);
		if (!run.out_of_memory) {
			fuzz_check_places(&run.diags, source_get(&run.sources, f)->text.n);
			write_all(&run);
		}
		run_status(&run);
	}
	run_free(&run);
	return 0;
}
