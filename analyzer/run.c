/* SPDX-License-Identifier: MIT */
#include "run.h"

#include "baseline.h"
#include "check.h"
#include "compare_meta.h"
#include "evidence.h"
#include "fingerprint.h"
#include "json_in.h"
#include "link.h"
#include "match.h"
#include "link_places.h"
#include "link_repro.h"
#include "observe.h"
#include "quoted.h"
#include "read.h"
#include "sim_names.h"
#include "read_python.h"
#include "read_expr.h"
#include "split_units.h"
#include "suppress.h"

void tables_init(Tables *t)
{
	t->a = arena_new(NULL);
	names_init(&t->names, &t->a);
	t->facts = facts_builtin(&t->a, &t->names);
	t->shapes = shapes_builtin(&t->a, &t->names);
	t->sem = sem_table_builtin(&t->a, &t->names);
	t->rules = rules_builtin(&t->a, &t->names);
}

void tables_free(Tables *t)
{
	rules_free(t->rules);
	arena_free(&t->a);
}

bool dump_parse(Str list, unsigned *passes, Str *bad)
{
	static const struct {
		Str name;
		unsigned bit;
	} known[] = {{STR_INIT("split"), DUMP_SPLIT}, {STR_INIT("ir"), DUMP_IR}, {STR_INIT("types"), DUMP_TYPES},
	             {STR_INIT("alias"), DUMP_ALIAS}, {STR_INIT("link"), DUMP_LINK}, {STR_INIT("verdict"), DUMP_VERDICT},
	             {STR_INIT("match"), DUMP_MATCH}};
	Str part;
	while (str_cut(&list, ',', &part)) {
		unsigned bit = 0;
		for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
			if (str_eq(known[i].name, part))
				bit = known[i].bit;
		if (!bit) {
			*bad = part;
			return false;
		}
		*passes |= bit;
	}
	return true;
}

void run_libraries(void)
{
	py_parser_memory();
	json_in_memory();
}

static void make(Run *r, Tables *t, const Config *cfg)
{
	r->cfg = cfg;
	r->tables = t;
	r->a = arena_new(r->budget);
	r->scratch = arena_new(r->budget);
	for (uint32_t i = 0; i < RUN_SIM_ARENAS; i++)
		r->sim[i] = arena_new(r->budget);
	sources_init(&r->sources, &r->a);
	artifacts_init(&r->artifacts, &r->a);
	program_init(&r->program, &r->a, &t->names);
	diags_init(&r->diags, &r->a);
	r->levels = rules_settle(t->rules, cfg->asks.v, cfg->asks.n, &r->a);
	r->dump_out.a = &r->a;
	if (!r->types)
		r->types = types_new(&r->a, &t->names);
}

/* The budget may not allow what every run begins with. */
static void begin(Run *r, Tables *t, const Config *cfg)
{
	jmp_buf out;
	r->budget->fail = &out;
	if (setjmp(out))
		r->out_of_memory = true;
	else
		make(r, t, cfg);
	r->budget->fail = NULL;
}

void run_init(Run *r, Tables *t, const Config *cfg)
{
	*r = (Run){.own_budget = {.limit = cfg->limits.memory_bytes}};
	r->budget = &r->own_budget;
	t->a.budget = r->budget;
	begin(r, t, cfg);
}

void run_init_next(Run *r, Tables *t, const Config *cfg, Budget *budget, Types *types, ReadCache *cache)
{
	*r = (Run){.budget = budget, .types = types, .cache = cache};
	begin(r, t, cfg);
}

void run_enter(Run *r, RunPass pass, uint32_t total)
{
	r->pass = pass;
	r->done = 0;
	r->total = total;
	if (r->watch.enter)
		r->watch.enter(r->watch.ctx, pass);
}

bool run_is_index(const Run *r, FileId f)
{
	return units_is_index(source_get(&r->sources, f)->text);
}

/* A file that was asked for and holds nothing known, beside others that do. */
static void tell_empty(Run *r)
{
	const Artifacts *t = &r->artifacts;
	bool *used = NEW_N(&r->scratch, bool, r->sources.v.n);
	for (uint32_t i = 1; i < t->v.n; i++)
		used[t->v.v[i].file.i] = true;
	for (uint32_t i = 0; i < t->starts.n; i++)
		used[t->starts.v[i].id.at.file.i] = true;
	for (uint32_t i = 0; i < t->tensors.n; i++)
		used[t->tensors.v[i].id.at.file.i] = true;
	for (uint32_t i = 1; i < r->sources.v.n && t->v.n > 1; i++)
		if (!used[i] && r->sources.v.v[i].named && !run_is_index(r, (FileId){i})) {
			Unread u = {.span = {{i}, 0, 0}, .why = S("the file holds no graph, no bytecode and nothing else that is known"), .incomplete = true};
			VEC_PUSH(r->diags.a, &r->diags.unread, u);
		}
}

static void split(Run *r)
{
	run_enter(r, RUN_SPLIT, r->sources.v.n ? r->sources.v.n - 1 : 0);
	FileOrder order = {0};
	crash_note("units", NULL, 0);
	units_find(&r->sources, &r->scratch, &order);
	for (uint32_t i = 0; i < order.n; i++) {
		crash_note("split", NULL, 0);
		split_source(&r->artifacts, &r->sources, order.v[i], r->cfg, &r->diags);
	}
	split_settle(&r->artifacts, &r->diags);
	tell_empty(r);
	if (r->dump & DUMP_SPLIT)
		split_dump(&r->artifacts, &r->sources, &r->dump_out);
}

static void read_metadata(Reader *rd, AotMetas *metas, ArtifactId id, const Artifact *art, const Text *text)
{
	AotMeta meta;
	if (!read_meta(art, text, rd->keep, rd->diags, &meta))
		return;
	meta.artifact = id;
	VEC_PUSH(rd->keep, metas, meta);
}

typedef void ReadFn(Reader *, ArtifactId, const Artifact *, const Text *);

static ReadFn *const readers[ART_N] = {
	[ART_GRAPH_CODE] = read_code,
	[ART_GRAPH_TEXT] = read_graph_text,
	[ART_GRAPH_TABLE] = read_graph_table,
	[ART_MODULE_TREE] = read_module_tree,
	[ART_BYTECODE_ORIGINAL] = read_bytecode,
	[ART_BYTECODE_MODIFIED] = read_bytecode,
	[ART_OUTPUT_CODE] = read_output_code,
	[ART_PYTHON_ORIGINAL] = read_python,
	[ART_PYTHON_MODIFIED] = read_python,
};

static void read_artifact(void *ctx, Reader *rd, AotMetas *metas, ArtifactId id)
{
	Run *r = ctx;
	const Artifact *art = &r->artifacts.v.v[id.i];
	ArenaMark mark = arena_mark(&r->scratch);
	Text text = artifact_text(art, &r->sources, &r->scratch);
	if (art->kind == ART_AOT_METADATA)
		read_metadata(rd, metas, id, art, &text);
	else
		readers[art->kind](rd, id, art, &text);
	arena_rewind(&r->scratch, mark);
}

static void read_all(Run *r)
{
	Reader *rd = &r->reader;
	run_enter(r, RUN_READ, r->artifacts.v.n ? r->artifacts.v.n - 1 : 0);
	*rd = reader_new(&r->program, r->types, &r->diags, r->cfg, &r->a, &r->scratch);
	for (uint32_t i = 1; i < r->artifacts.v.n; i++) {
		const Artifact *art = &r->artifacts.v.v[i];
		ArtifactId id = {i};
		if (!readers[art->kind] && art->kind != ART_AOT_METADATA)
			continue;
		crash_note("read", NULL, art->at);
		r->done = i;
		budget_pulse(r->budget);
		if (r->cache)
			read_cache_artifact(r->cache, rd, &r->metas, id, art, &r->sources, read_artifact, r);
		else
			read_artifact(r, rd, &r->metas, id);
	}
	Str fault = ir_check(&r->program, &r->scratch);
	if (fault.n)
		base_assert_failed(str_to_c(&r->scratch, fault), "ir_check", 0);
}

static void link(Run *r)
{
	ArenaMark mark = arena_mark(&r->scratch);
	crash_note("link", NULL, 0);
	run_enter(r, RUN_LINK, 0);
	link_repros(&r->program, r->types, &r->artifacts, &r->sources, &r->scratch);
	link_graphs(&r->program, &r->artifacts, &r->sources, &r->scratch);
	link_repro_inputs(&r->program, r->types);
	link_places(&r->program, r->types, &r->artifacts, &r->sources, &r->scratch);
	if (r->dump & DUMP_IR)
		ir_dump(&r->program, r->types, &r->dump_out);
	arena_rewind(&r->scratch, mark);
}

static void frames(Run *r)
{
	crash_note("frames", NULL, 0);
	run_enter(r, RUN_FRAMES, 0);
	LinkLimits limits = link_limits_default;
	limits.lines = r->dump & DUMP_LINK; /* nobody else reads them, and they are most of what links hold */
	r->frames = frames_link(&r->program, &limits, &r->a, &r->scratch);
	if (r->dump & DUMP_LINK)
		frames_dump(r->frames, &r->dump_out);
}

/* A graph whose answer is wanted: printings of another one and attempts that were given up are not. */
static bool is_analysed(const Graph *g)
{
	return !g->printing_of.i;
}

static void infer(Run *r)
{
	const Program *p = &r->program;
	crash_note("types", NULL, 0);
	run_enter(r, RUN_TYPES, 0);
	r->node_types = infer_program(p, r->types, r->tables->facts, r->tables->shapes, r->cfg->torch, &r->a);
	for (uint32_t i = 1; i < p->graphs.n && (r->dump & DUMP_TYPES); i++)
		if (is_analysed(p->graphs.v[i]))
			types_dump(p, p->graphs.v[i], r->types, r->node_types[i], &r->dump_out);
}

static void dump_alias(Run *r)
{
	const Program *p = &r->program;
	CompareMeta m = {p, (const Summary *const *)r->summaries, r->metas.v, r->metas.n, &r->a, &r->scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++)
		if (r->summaries[i])
			alias_dump(p, p->graphs.v[i], r->summaries[i], &r->dump_out);
	compare_meta_dump(&m, compare_meta(&m), &r->dump_out);
}

static void alias(Run *r)
{
	const Program *p = &r->program;
	AliasCtx c = {.p = p, .t = r->types, .f = r->tables->facts, .keep = &r->a, .scratch = &r->scratch};
	r->summaries = NEW_N(&r->a, Summary *, p->graphs.n);
	run_enter(r, RUN_ALIAS, p->graphs.n);
	c.types = (const NodeTypes *const *)r->node_types;
	c.summaries = (const Summary *const *)r->summaries;
	for (uint32_t i = p->graphs.n; i-- > 1;) { /* bodies are printed after their parents */
		const Graph *g = p->graphs.v[i];
		if (!is_analysed(g))
			continue;
		crash_note("alias", NULL, g->at);
		r->done = p->graphs.n - i;
		budget_pulse(r->budget);
		c.torch = r->cfg->torch.lo || r->cfg->torch.hi ? r->cfg->torch : g->torch;
		r->summaries[i] = alias_graph(&c, g);
	}
	if (r->dump & DUMP_ALIAS)
		dump_alias(r);
}

static bool rule_wanted(const Run *r, CheckRule rule)
{
	return rules_need_builtin(r->tables->rules, r->levels, rules_builtin_row(check_rule_name(rule)));
}

/* Verdicts cost most: they are made only where a rule or a report asks for them. */
static bool verdicts_wanted(const Run *r)
{
	if (!r->findings_only || r->dump & DUMP_VERDICT ||
	    match_wanted(r->tables->rules, r->levels) ||
	    rules_need_builtin(r->tables->rules, r->levels, rules_builtin_row(S("boundaries"))))
		return true;
	for (uint32_t i = 0; i < CHECK_N; i++)
		if (check_needs_flows((CheckRule)i) && rule_wanted(r, (CheckRule)i))
			return true;
	return false;
}

/* Graphs of which AOTAutograd is asked what it does with them. */
static const uint8_t *by_aot(Run *r)
{
	const Program *p = &r->program;
	uint8_t *aot = NEW_N(&r->a, uint8_t, p->graphs.n);
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		ContractName c = contract_of(&r->cfg->contract, link_captured_by_2x(p, p->graphs.v[i]));
		aot[i] = c == CONTRACT_AOT || c == CONTRACT_CUDAGRAPHS;
	}
	return aot;
}

static uint32_t count_captured(const Run *r)
{
	uint32_t n = 0;
	for (uint32_t i = 1; i < r->program.graphs.n; i++) {
		const Graph *g = r->program.graphs.v[i];
		n += g->stage == STAGE_DYNAMO && is_analysed(g) && !g->superseded && !g->parent.i;
	}
	return n;
}

static void judge(Run *r)
{
	if (!verdicts_wanted(r)) {
		r->verdicts = NEW_N(&r->a, GraphVerdicts, r->program.graphs.n);
		return;
	}
	Quoted quoted = quoted_collect(&r->program, &r->artifacts, &r->sources, &r->a, &r->scratch);
	VerdictCtx c = {.p = &r->program, .t = r->types, .f = r->tables->facts, .shapes = r->tables->shapes,
	                .sem = r->tables->sem, .types = (const NodeTypes *const *)r->node_types, .summaries = (const Summary *const *)r->summaries,
	                .aot = by_aot(r), .torch = r->cfg->torch, .names = &r->tables->names, .keep = &r->a, .a = &r->sim[0], .scratch = &r->sim[1], .inner = &r->sim[2],
	                .terms = &r->sim[3], .runs = &r->sim[4], .frames = r->frames, .quoted = &quoted, .jobs = r->cfg->jobs, .done = &r->done, .dump = r->dump & DUMP_VERDICT ? &r->dump_out : NULL};
	crash_note("verdict", NULL, 0);
	run_enter(r, RUN_VERDICT, count_captured(r));
	r->verdicts = verdict_program(&c);
	names_infer_flows(&c, r->verdicts);
}

static void observe(Run *r)
{
	const Program *p = &r->program;
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (r->summaries[i] && !g->superseded)
			observe_graph(&r->diags, p, &r->sources, r->file_cfg[g->file.i], g, r->summaries[i], &r->verdicts[i],
			              link_captured_by_2x(p, g));
	}
}

/* What the user wants of each rule. */
static void apply_levels(Run *r)
{
	rules_apply_levels(r->tables->rules, r->file_levels, &r->diags);
}

static void suppress(Run *r)
{
	FingerprintCtx f = {.p = &r->program, .sources = &r->sources, .t = r->types, .f = r->tables->facts,
	                    .types = (const NodeTypes *const *)r->node_types, .torch = r->cfg->torch, .scratch = &r->scratch};
	SuppressCtx s = {.p = &r->program, .sources = &r->sources, .artifacts = &r->artifacts, .rules = r->tables->rules,
	                 .levels = r->file_levels, .cfg = r->cfg, .scratch = &r->scratch};
	crash_note("suppress", NULL, 0);
	fingerprint_findings(&f, &r->diags);
	suppress_findings(&s, &r->diags);
	if (r->cfg->baseline)
		r->baseline_gone = baseline_apply(r->cfg->baseline, contract_text(&r->cfg->contract, &r->a), &r->diags,
		                                  &r->scratch);
	for (uint32_t i = 0; i < r->diags.v.n; i++)
		r->quiet_by_contract += r->diags.v.v[i].quiet_by_contract && !r->diags.v.v[i].suppressed.n;
}

static void check(Run *r)
{
	CheckCtx c = {.d = &r->diags, .p = &r->program, .src = &r->sources, .artifacts = &r->artifacts, .cfg = r->cfg,
	              .t = r->types, .f = r->tables->facts, .shapes = r->tables->shapes, .sem = r->tables->sem,
	              .types = (const NodeTypes *const *)r->node_types, .summaries = (const Summary *const *)r->summaries,
	              .verdicts = r->verdicts, .frames = r->frames, .metas = r->metas.v, .nmetas = r->metas.n, .keep = &r->a,
	              .scratch = &r->scratch, .work = {&r->sim[0], &r->sim[1], &r->sim[2], &r->sim[3]}};
	for (uint32_t i = 0; i < CHECK_N; i++)
		c.off |= (uint64_t)!rule_wanted(r, (CheckRule)i) << i;
	crash_note("check", NULL, 0);
	run_enter(r, RUN_CHECK, 0);
	check_program(&c);
	match_program(&c, r->tables->rules, r->levels, r->dump & DUMP_MATCH ? &r->dump_out : NULL);
}

/* Settings of the configuration that hold for one file only. */
static void settle_file(Run *r, FileId file)
{
	const Config *cfg = r->cfg;
	const Rules *rules = r->tables->rules;
	Config *own = NULL;
	VEC(RuleAsk) asks = {0};
	for (uint32_t i = 0; i < cfg->asks.n; i++)
		VEC_PUSH(&r->a, &asks, cfg->asks.v[i]);
	for (uint32_t i = 0; i < cfg->paths.n; i++) {
		const PathSetting *p = &cfg->paths.v[i];
		if (!config_path_fits(cfg, p->glob, source_get(&r->sources, file)->path, &r->scratch))
			continue;
		for (uint32_t k = 0; k < p->asks.n; k++)
			VEC_PUSH(&r->a, &asks, p->asks.v[k]);
		if (p->has_contract && !cfg->contract_given) {
			own = own ? own : NEW(&r->a, Config);
			*own = *cfg;
			own->contract = p->contract;
		}
	}
	RuleLevel *levels = rules_settle(rules, asks.v, asks.n, &r->a);
	for (uint32_t i = 0; i < rules->v.n; i++)
		r->levels[i].on |= levels[i].on;
	r->file_levels[file.i] = levels;
	if (own)
		r->file_cfg[file.i] = own;
}

static void settle_files(Run *r)
{
	const Rules *rules = r->tables->rules;
	uint32_t n = r->sources.v.n ? r->sources.v.n : 1;
	RuleLevel *general = NEW_N(&r->a, RuleLevel, rules->v.n);
	memcpy(general, r->levels, rules->v.n * sizeof *general);
	r->file_levels = NEW_N(&r->a, const RuleLevel *, n);
	r->file_cfg = NEW_N(&r->a, const Config *, n);
	for (uint32_t i = 0; i < n; i++) {
		r->file_levels[i] = general;
		r->file_cfg[i] = r->cfg;
		if (i && r->cfg->paths.n)
			settle_file(r, (FileId){i});
	}
}

static void judge_program(Run *r)
{
	infer(r);
	alias(r);
	judge(r);
	observe(r);
	evidence_link(&r->diags, &r->program, r->frames, &r->scratch);
	check(r);
	apply_levels(r);
	suppress(r);
	rules_render(r->tables->rules, &r->diags);
}

void run_analyse(Run *r)
{
	jmp_buf out, *outer = r->budget->fail;
	r->budget->fail = &out;
	if (setjmp(out)) {
		r->out_of_memory = true;
		r->budget->fail = outer;
		return;
	}
	settle_files(r);
	split(r);
	read_all(r);
	link(r);
	frames(r);
	if (!r->until_frames)
		judge_program(r);
	diags_sort(&r->diags);
	r->budget->fail = outer;
	crash_note(NULL, NULL, 0);
}

void run_free(Run *r)
{
	reader_free(&r->reader);
	if (r->budget == &r->own_budget)
		r->tables->a.budget = NULL;
	for (uint32_t i = 0; i < RUN_SIM_ARENAS; i++)
		arena_free(&r->sim[i]);
	arena_free(&r->scratch);
	arena_free(&r->a);
}

static Severity worst_counting(const Run *r)
{
	Severity worst = SEV_NONE;
	for (uint32_t i = 0; i < r->diags.v.n; i++) {
		const Finding *f = &r->diags.v.v[i];
		if (!str_starts(f->rule, S("GL9")) && !f->suppressed.n && f->severity > worst)
			worst = f->severity;
	}
	return worst;
}

static bool is_incomplete(const Run *r)
{
	for (uint32_t i = 0; i < r->diags.unread.n; i++)
		if (r->diags.unread.v[i].incomplete)
			return true;
	return r->files_failed || (r->program.graphs.n == 1 && r->program.frames.n == 0);
}

int run_status(const Run *r)
{
	if (r->out_of_memory)
		return 4;
	if (r->cfg->fail_on != SEV_NONE && worst_counting(r) >= r->cfg->fail_on)
		return 1;
	return is_incomplete(r) && !r->cfg->allow_incomplete ? 3 : 0;
}
