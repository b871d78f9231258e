/* SPDX-License-Identifier: MIT */
#include "prepare.h"

#include "baseline.h"
#include "rule_files.h"
#include "settings.h"

static const uint64_t FACTS_FILE_MOST = (uint64_t)64 << 20, BASELINE_FILE_MOST = (uint64_t)256 << 20;

/* A file of the user's own, whole. */
static bool load_text(Arena *a, Str path, uint64_t most, Str *text, Buf *faults)
{
	Sources files;
	Str why;
	sources_init(&files, a);
	FileId f = sources_add_file(&files, path, path, most, &why);
	if (f.i)
		*text = source_get(&files, f)->text;
	else
		buf_printf(faults, STR_FMT ": " STR_FMT "\n", STR_ARG(path), STR_ARG(why));
	return f.i != 0;
}

/* Every file is checked, so that all faults are seen at once; here and below. */
static bool load_facts(const Options *o, Tables *t, Arena *a, Buf *faults)
{
	bool ok = true;
	for (uint32_t i = 0; i < o->facts.n; i++) {
		Str text = {0}, path = o->facts.v[i];
		ok &= load_text(a, path, FACTS_FILE_MOST, &text, faults) && facts_load(t->facts, path, text, faults);
	}
	if (o->file.operators.n)
		ok &= facts_load(t->facts, o->file.path, settings_operators(o, a), faults);
	return ok;
}

static bool load_rules(const Options *o, Tables *t, Arena *a, Buf *faults)
{
	bool ok = true;
	for (uint32_t i = 0; i < o->rule_files.n; i++)
		ok &= rule_files_load(t->rules, a, o->rule_files.v[i], faults);
	return ok;
}

/* Words about rules, once all rules are known. */
static bool check_asks(const Options *o, const Tables *t, Buf *faults)
{
	bool ok = rules_check_asks(t->rules, o->cfg.asks.v, o->cfg.asks.n, faults);
	for (uint32_t i = 0; i < o->cfg.paths.n; i++)
		ok &= rules_check_asks(t->rules, o->cfg.paths.v[i].asks.v, o->cfg.paths.v[i].asks.n, faults);
	if (o->command == CMD_EXPLAIN && !rules_find(t->rules, o->target)) {
		buf_add(faults, S("explain: "));
		rules_say_unknown(t->rules, o->target, faults);
		ok = false;
	}
	return ok;
}

bool prepare_tables(Options *o, Tables *t, Arena *a, Buf *faults, Buf *notes)
{
	if (!settings_load(o, a, faults, notes))
		return false;
	options_settle(o);
	return load_facts(o, t, a, faults) && load_rules(o, t, a, faults) && check_asks(o, t, faults);
}

bool prepare_baseline(Options *o, Arena *a, Buf *faults)
{
	Str text;
	if (!o->baseline.n)
		return true;
	if (!load_text(a, o->baseline, BASELINE_FILE_MOST, &text, faults))
		return false;
	o->cfg.baseline = baseline_load(a, o->baseline, text, faults);
	return o->cfg.baseline != NULL;
}
