/* SPDX-License-Identifier: MIT */
#include "verdict.h"

#include "jobs.h"
#include "sim_learn.h"
#include "sim_run.h"
#include "verdict_jobs.h"

enum {
	MAX_PATHS = 6,
	MAX_TRIES = 48,
	MAX_SPECIALISED = 8,
	MAX_TERMS = 200000,
	/* Instructions and nodes of one run; of all runs of a process, and so many more for each that the dump has of it.
	 * Beyond that boundaries stay unknown, and say so. */
	STEPS_OF_RUN = 200000,
	STEPS = 600000,
	STEPS_EACH = 10
};

typedef struct Path {
	uint8_t choices[RUN_MAX_CHOICES];
	uint32_t n;
	RunResult *ref[ASSUME_N]; /* made when asked for */
	bool paid[ASSUME_N];      /* it is not made, but counted among the steps: another process made it */
	struct {
		Originals from;
		RunResult *ref[ASSUME_N];
		bool paid[ASSUME_N];
	} special[MAX_SPECIALISED];
	uint32_t nspecial;
} Path;

typedef struct Judge {
	const VerdictCtx *c;
	Sim base;
	Entries entries;
	SimLearned learned;
	Path paths[MAX_PATHS];
	uint32_t npaths;
	bool bounded;     /* more paths than are followed */
	bool hidden;
	Str why;          /* no path could be followed */
	uint64_t steps_left;
	uint32_t most_terms, most_operands; /* at the same time, since they were last set */
	RefUses *uses;     /* gets what questions are compared with; NULL: nobody asks */
	uint64_t ref_steps; /* of such runs, as far as they were made here */
} Judge;

/* How two runs differ, in ascending order of what is concluded. */
typedef enum Difference { DIFF_NONE, DIFF_IDENTITY, DIFF_VALUE, DIFF_UNKNOWN, DIFF_NOT_ASKED, DIFF_IMPOSSIBLE } Difference;

static RunResult *run(Judge *j, const Path *p, SimCut cut, Assume assume, const Originals *from)
{
	RunPlan plan = {.entries = &j->entries, .frames = j->c->frames, .cut = cut, .assume = assume, .choices = p->choices, .nchoices = p->n,
	                .noriginal = from->n};
	memcpy(plan.original, from->at, sizeof plan.original);
	const RunResult *first = p->ref[ASSUME_NOTHING];
	if (first && !first->stopped) {
		plan.calls = first->calls.v;
		plan.ncalls = first->calls.n;
	}
	j->base.max_steps = j->steps_left < STEPS_OF_RUN ? j->steps_left : STEPS_OF_RUN;
	RunResult *r = sim_run(&j->base, &plan, j->c->runs);
	j->steps_left -= r->steps < j->steps_left ? r->steps : j->steps_left;
	return r;
}

/* Another path to follow. One that calls fewer of the frames of which there are records than another one did not run. */
static bool add_path(Judge *j, const Path *p)
{
	uint32_t unexplained = p->ref[ASSUME_NOTHING]->unexplained;
	uint32_t least = j->npaths ? j->paths[0].ref[ASSUME_NOTHING]->unexplained : UINT32_MAX;
	if (unexplained > least)
		return true;
	if (unexplained < least) {
		j->npaths = 0;
		j->bounded = j->hidden = false;
	}
	if (j->npaths == MAX_PATHS) {
		j->bounded = true;
		return unexplained > 1; /* a better one is looked for */
	}
	j->hidden |= p->ref[ASSUME_NOTHING]->hidden;
	j->paths[j->npaths++] = *p;
	return true;
}

/* Runs that differ in the arm taken at the last undecided branch, then at the one before it ... */
static void find_paths(Judge *j)
{
	uint64_t reserve = j->steps_left / 4 * 3;
	SimCut none = {.output = -1, .input = -1};
	Path next = {0};
	for (uint32_t tries = 0; tries < MAX_TRIES && (!tries || j->steps_left > reserve); tries++) {
		RunResult *r = run(j, &next, none, ASSUME_NOTHING, &(Originals){0});
		Path p = {.n = r->nchoices};
		memcpy(p.choices, r->choices, sizeof p.choices);
		p.ref[ASSUME_NOTHING] = r;
		if (r->stopped)
			j->why = r->why;
		if (!r->dead && !add_path(j, &p))
			return;
		uint32_t k = r->nchoices;
		while (k && r->other[k - 1])
			k--;
		if (!k)
			return;
		memcpy(next.choices, r->choices, sizeof next.choices);
		next.choices[k - 1] = !next.choices[k - 1];
		next.n = k;
	}
	j->bounded = true;
}

static Difference compare(const Judge *j, const RunResult *a, const RunResult *b)
{
	bool value = false, identity = false, unsure = a->unsure || b->unsure, branch = false;
	const Terms *t = j->base.terms;
	if (a->stopped || b->stopped || a->dead || b->dead)
		return DIFF_UNKNOWN;
	if (!b->cut_made)
		return DIFF_NOT_ASKED;
	for (uint32_t i = 0; i < a->branch_terms.n && i < b->branch_terms.n; i++)
		branch |= a->branch_terms.v[i].i != b->branch_terms.v[i].i;
	branch |= a->branch_terms.n != b->branch_terms.n;
	if (a->seen.n != b->seen.n)
		return branch || unsure ? DIFF_UNKNOWN : DIFF_VALUE;
	for (uint32_t i = 0; i < a->seen.n; i++) {
		const Seen *x = &a->seen.v[i], *y = &b->seen.v[i];
		if (x->tag != y->tag) {
			value = true;
		} else if (x->term.i != y->term.i) {
			if (term_surely_differs(t, x->term, y->term))
				value = true;
			else
				unsure = true;
		}
		identity |= x->object != y->object || x->store != y->store;
	}
	if (value && !a->unsure && !b->unsure)
		return DIFF_VALUE;
	if (value || unsure || branch)
		return DIFF_UNKNOWN;
	return identity ? DIFF_IDENTITY : DIFF_NONE;
}

/* The first activation whose arguments have another pattern of objects and constants, and that does not run original
 * code already; UINT32_MAX when there is none. */
static uint32_t first_other_pattern(const RunResult *a, const RunResult *b, const Originals *from)
{
	uint32_t n = a->patterns.n < b->patterns.n ? a->patterns.n : b->patterns.n;
	for (uint32_t i = 0; i < n; i++) {
		bool done = false;
		for (uint32_t k = 0; k < from->n; k++)
			done |= from->at[k] == i;
		if (!done && a->patterns.v[i] != b->patterns.v[i])
			return i;
	}
	return UINT32_MAX;
}

/* The slot that keeps the run without a cut under these assumptions; NULL when there are too many of them. */
/* NULL: there are too many of them to keep. *paid: see Path. */
static RunResult **reference(Path *p, Assume assume, const Originals *from, bool **paid)
{
	*paid = &p->paid[assume];
	if (!from->n)
		return &p->ref[assume];
	uint32_t k = 0;
	while (k < p->nspecial && memcmp(&p->special[k].from, from, sizeof *from) != 0)
		k++;
	if (k == MAX_SPECIALISED)
		return NULL;
	if (k == p->nspecial)
		p->special[p->nspecial++].from = *from;
	*paid = &p->special[k].paid[assume];
	return &p->special[k].ref[assume];
}

static RunResult *run_reference(Judge *j, const Path *p, Assume assume, const Originals *from, bool paid)
{
	const SimCut none = {.output = -1, .input = -1};
	uint64_t left = j->steps_left;
	if (paid) /* it costs nothing, and was not cut short */
		j->steps_left = STEPS_OF_RUN;
	uint64_t before = j->steps_left;
	RunResult *r = run(j, p, none, assume, from);
	j->ref_steps += before - j->steps_left;
	if (paid)
		j->steps_left = left;
	return r;
}


/* A write on one side of the cut and a later read on the other. */
static void evidence(Arena *keep, const RunResult *cut, Verdict *v)
{
	if (v->nsteps)
		return;
	for (uint32_t i = 0; i < cut->touches.n; i++) {
		const SimTouch *w = &cut->touches.v[i];
		if (!w->write)
			continue;
		for (uint32_t k = i + 1; k < cut->touches.n; k++) {
			const SimTouch *r = &cut->touches.v[k];
			if (r->write || r->cut_side == w->cut_side)
				continue;
			v->steps[v->nsteps++] = (NoticeStep){ROLE_WRITE, w->where, str_copy(keep, w->what)};
			v->steps[v->nsteps++] = (NoticeStep){ROLE_READ, r->where, str_copy(keep, r->what)};
			return;
		}
	}
	for (uint32_t i = 0; i < cut->touches.n; i++)
		if (cut->touches.v[i].write) { /* read by whoever gets what is returned */
			v->steps[v->nsteps++] = (NoticeStep){ROLE_WRITE, cut->touches.v[i].where, str_copy(keep, cut->touches.v[i].what)};
			return;
		}
}

static Str unknown_why(const RunResult *ref, const RunResult *with)
{
	if (with->dead)
		return S("with the cut, code would run of which the dump has no record");
	if (with->why.n)
		return with->why;
	if (ref->why.n)
		return ref->why;
	return S("a branch on a value decides");
}

/* What is asked of a pair of runs. */
typedef struct Question {
	SimCut cut;
	Assume assume;
	Verdict *v;    /* gets evidence and reasons */
	bool *hidden;  /* set where hidden code got something */
	bool keep;     /* runs without the cut are kept with the path */
} Question;

/* What came of it: choices that the runs took, beyond those of the path where original code asks for more. */
typedef struct Answer {
	Difference d;
	bool possible; /* the program can run so */
	uint8_t choices[RUN_MAX_CHOICES], other[RUN_MAX_CHOICES];
	uint32_t n;
} Answer;

static void note_choices(Answer *a, const RunResult *r)
{
	if (r->nchoices <= a->n)
		return;
	a->n = r->nchoices;
	memcpy(a->choices, r->choices, a->n * sizeof *a->choices);
	memcpy(a->other, r->other, a->n * sizeof *a->other);
}

static void note_terms(Judge *j)
{
	TermsMark now = terms_mark(j->base.terms);
	j->most_terms = now.terms > j->most_terms ? now.terms : j->most_terms;
	j->most_operands = now.operands > j->most_operands ? now.operands : j->most_operands;
}

static void note_use(Judge *j, const Path *p, const Question *q, const Originals *from, uint64_t steps)
{
	if (j->uses && q->keep)
		VEC_PUSH(j->c->keep, j->uses, ((RefUse){(uint32_t)(p - j->paths), (uint32_t)q->assume, *from, steps}));
}

/* Compares a run with the cut to one without. What the former made is dropped again, terms too: there is one for each
 * boundary, and nothing of it is needed but the answer. */
static Answer ask(Judge *j, Path *p, const Question *q)
{
	Originals from = {0};
	Answer out = {.d = DIFF_UNKNOWN, .possible = true};
	for (;;) {
		bool *paid = NULL;
		RunResult **kept = q->keep ? reference(p, q->assume, &from, &paid) : NULL;
		if (kept && !*kept)
			*kept = run_reference(j, p, q->assume, &from, *paid);
		ArenaMark mark = arena_mark(j->c->runs);
		TermsMark terms = terms_mark(j->base.terms);
		const RunResult *ref = kept ? *kept : q->keep ? run_reference(j, p, q->assume, &from, false) : run(j, p, (SimCut){.output = -1, .input = -1}, q->assume, &from);
		const RunResult *with = NULL;
		uint32_t other = UINT32_MAX;
		note_use(j, p, q, &from, ref->steps);
		note_choices(&out, ref);
		out.possible = !ref->impossible && (!ref->dead || !from.n);
		if (!ref->stopped && out.possible) {
			with = run(j, p, q->cut, q->assume, &from);
			note_choices(&out, with);
			other = from.n < RUN_ORIGINALS ? first_other_pattern(ref, with, &from) : UINT32_MAX;
			out.possible = !with->impossible;
		}
		if (with && other == UINT32_MAX) {
			out.d = compare(j, ref, with);
			*q->hidden |= ref->hidden || with->hidden;
			for (uint32_t i = 0; i < with->touches.n; i++)
				q->v->written |= with->touches.v[i].write && with->touches.v[i].node.i;
		}
		if (out.d == DIFF_VALUE)
			evidence(j->c->keep, with, q->v);
		if (out.d == DIFF_UNKNOWN && other == UINT32_MAX && out.possible && !q->v->why.n)
			q->v->why = str_copy(j->c->keep, with ? unknown_why(ref, with) : ref->why);
		note_terms(j);
		terms_rewind(j->base.terms, terms);
		arena_rewind(j->c->runs, mark);
		if (other == UINT32_MAX)
			return out;
		from.at[from.n++] = other;
	}
}

/* Original code may ask for choices that no run of the path made: each way is asked, and all have to agree. */
static Difference ask_all(Judge *j, Path *p, Question q)
{
	enum { WAYS_MOST = 8 };
	q.keep = true;
	Answer a = ask(j, p, &q);
	Difference all = a.possible ? a.d : DIFF_IMPOSSIBLE;
	Path way = {0};
	q.keep = false;
	for (uint32_t ways = 1; a.n > p->n; ways++) {
		uint32_t k = a.n;
		while (k > p->n && a.other[k - 1])
			k--;
		if (k == p->n)
			break;
		if (ways == WAYS_MOST)
			return DIFF_UNKNOWN;
		memcpy(way.choices, a.choices, sizeof way.choices);
		way.choices[k - 1] = !way.choices[k - 1];
		way.n = k;
		a = ask(j, &way, &q);
		if (a.n < k) /* it was not asked for again */
			a = (Answer){.d = DIFF_UNKNOWN, .possible = true};
		if (!a.possible)
			continue;
		if (all != DIFF_IMPOSSIBLE && a.d != all)
			all = a.d <= DIFF_IDENTITY && all <= DIFF_IDENTITY ? DIFF_IDENTITY : DIFF_UNKNOWN;
		else
			all = a.d;
		if (all == DIFF_UNKNOWN)
			break;
	}
	return all;
}

static void judge(Judge *j, SimCut cut, Verdict *v)
{
	bool yes = true, worse_than_no = false, unknown = false, asked = false;
	bool hidden = j->hidden; /* original code also calls what was inlined, and stands in no frame */
	for (uint32_t i = 0; i < j->npaths; i++) {
		for (Assume a = ASSUME_NOTHING; a == ASSUME_NOTHING || (hidden && a < ASSUME_N); a = (Assume)(a + 1)) {
			Difference d = ask_all(j, &j->paths[i], (Question){.cut = cut, .assume = a, .v = v, .hidden = &hidden});
			if (d == DIFF_NOT_ASKED)
				break;
			if (d == DIFF_IMPOSSIBLE)
				continue;
			asked = true;
			yes &= d == DIFF_VALUE;
			worse_than_no |= d == DIFF_IDENTITY;
			unknown |= d == DIFF_VALUE || d == DIFF_UNKNOWN;
			if (!yes && (unknown || a + 1 == ASSUME_ZEROES))
				break;
		}
	}
	if (!asked || j->bounded)
		v->observable = OBS_UNKNOWN;
	else if (yes)
		v->observable = OBS_YES;
	else if (unknown)
		v->observable = OBS_UNKNOWN;
	else
		v->observable = worse_than_no ? OBS_IDENTITY : OBS_NO;
	if (v->observable == OBS_UNKNOWN && !v->why.n)
		v->why = j->why.n ? str_copy(j->c->keep, j->why) : hidden ? S("code that the dump does not show decides") : S("the frames in the dump do not tell");
	if (v->observable == OBS_YES)
		v->why = (Str){0};
}

static bool wants_output(const OutputSummary *o)
{
	return o->kind == ALIAS_INPUT || o->kind == ALIAS_VIEW_OF_INPUT || o->kind == ALIAS_VIEW_OF_ATTR || o->kind == ALIAS_OUTPUT ||
	       o->kind == ALIAS_VIEW_OF_OUTPUT;
}

static void judge_graph(Judge *j, const Graph *g, GraphVerdicts *out)
{
	const VerdictCtx *c = j->c;
	const Summary *s = c->summaries[g->id.i];
	out->outputs = NEW_N(c->keep, Verdict, g->outputs.n + 1);
	out->inputs = NEW_N(c->keep, Verdict, g->inputs.n + 1);
	for (uint32_t k = 0; k < g->outputs.n; k++)
		if (wants_output(&s->outputs[k]))
			judge(j, (SimCut){.graph = g->id, .output = (int32_t)k, .input = -1}, &out->outputs[k]);
	for (uint32_t i = 0; i < g->inputs.n; i++)
		if (s->inputs[i].data != TRI_NO || s->inputs[i].metadata != TRI_NO)
			judge(j, (SimCut){.graph = g->id, .output = -1, .input = (int32_t)i}, &out->inputs[i]);
}

/* Graphs that AOTAutograd compiled without gradients: of its printings there is a forward one alone. */
static uint8_t *compiled_for_inference(const Judge *j)
{
	const Program *p = j->c->p;
	uint8_t *of = NEW_N(j->c->runs, uint8_t, p->graphs.n);
	for (uint32_t i = 1; i < p->graphs.n; i++)
		if (p->graphs.v[i]->stage == STAGE_AOT_FORWARD)
			of[p->graphs.v[i]->of.i] = 1;
	for (uint32_t i = 1; i < p->graphs.n; i++)
		if (p->graphs.v[i]->stage == STAGE_AOT_JOINT || p->graphs.v[i]->stage == STAGE_AOT_BACKWARD)
			of[p->graphs.v[i]->of.i] = 0;
	return of;
}

/* One more run of each path, which records what the calls of graphs look like to AOTAutograd. */
static void record_calls(Judge *j, AotLog *log, GraphVerdicts *out)
{
	const uint8_t *inference = compiled_for_inference(j);
	AotSaveds saved = {0};
	for (uint32_t i = 0; i < j->npaths; i++) {
		const Path *p = &j->paths[i];
		uint32_t from = log->calls.n;
		RunPlan plan = {.entries = &j->entries, .frames = j->c->frames, .cut = {.output = -1, .input = -1}, .choices = p->choices,
		                .nchoices = p->n, .aot = log};
		log->tape = NEW(j->c->runs, GradTape);
		grad_tape_init(log->tape, j->c->names, j->c->runs);
		j->base.max_steps = STEPS_OF_RUN;
		RunResult *r = sim_run(&j->base, &plan, j->c->runs);
		log->counts = (Map){.a = log->a};
		if (!r->stopped)
			aot_gradients(log->tape, log, from, j->c->p, inference, j->c->scratch, j->c->runs, &saved);
		arena_free(j->c->scratch);
		if (j->c->dump)
			aot_gradients_dump(log->tape, j->c->names, j->c->dump);
	}
	for (uint32_t i = 0; i < saved.n; i++) {
		AotSaved x = saved.v[i];
		const VersionSpan *asked = &j->c->torch, *seen = &graph_get(j->c->p, x.graph)->torch;
		if (!aot_cause_in(x.cause, asked->lo || asked->hi ? *asked : *seen))
			continue;
		x.writer = str_copy(j->c->keep, x.writer);
		x.needs = str_copy(j->c->keep, x.needs);
		VEC_PUSH(j->c->keep, &out[x.graph.i].saved, x);
	}
}

enum { MAX_TRACED = 8 };

/* First all at once: most graphs have none of which anybody notices anything. */
static void judge_traced(Judge *j, const Graph *g, GraphVerdicts *out)
{
	const Summary *s = j->c->summaries[g->id.i];
	NodeId at[MAX_TRACED];
	uint32_t n = 0;
	for (uint32_t i = 1; i < g->nodes.n; i++)
		if (s->from[i].traced_copy && n++ < MAX_TRACED)
			at[n - 1] = (NodeId){i};
	if (!n)
		return;
	SimCut cut = {.graph = g->id, .output = -1, .input = -1, .kind = CUT_TRACED};
	TracedCopy all = {.node = at[0]};
	judge(j, cut, &all.v);
	if (all.v.observable == OBS_NO)
		return;
	for (uint32_t i = 0; i < n && n > 1 && n <= MAX_TRACED; i++) {
		TracedCopy one = {.node = at[i]};
		cut.node = at[i];
		judge(j, cut, &one.v);
		if (one.v.observable != OBS_NO)
			VEC_PUSH(j->c->keep, &out->traced, one);
	}
	if (!out->traced.n)
		VEC_PUSH(j->c->keep, &out->traced, all);
}

static bool flow_is_new(Map *seen, const SimFlow *f)
{
	uint64_t key = hash_u64(((uint64_t)f->from.i << 32 | f->to.i) ^ hash_u64((uint64_t)f->output << 32 | f->input)) | 1;
	if (map_get(seen, key))
		return false;
	map_put(seen, key, 1);
	return true;
}

static void keep_flows(const Judge *j, GraphVerdicts *out)
{
	Map seen = {.a = j->c->runs}, seen_plain = {.a = j->c->runs};
	for (uint32_t i = 0; i < j->npaths; i++) {
		const RunResult *r = j->paths[i].ref[ASSUME_NOTHING];
		for (uint32_t k = 0; k < r->flows.n; k++) {
			const SimFlow *f = &r->flows.v[k];
			if (flow_is_new(&seen, f))
				VEC_PUSH(j->c->keep, &out[f->from.i].flows, ((GraphFlow){f->output, f->input, f->to, f->same, false}));
		}
		for (uint32_t k = 0; k < r->reshapes.n; k++) {
			const SimReshape *w = &r->reshapes.v[k];
			uint64_t key = hash_u64((uint64_t)w->graph.i << 32 | w->output) ^ hash_u64((uint64_t)w->where.file.i << 32 | w->where.at);
			if (map_get(&seen, key | 1))
				continue;
			map_put(&seen, key | 1, 1);
			VEC_PUSH(j->c->keep, &out[w->graph.i].reshapes, ((GraphReshape){w->output, w->where, w->op}));
		}
		for (uint32_t k = 0; k < r->plain_flows.n; k++) {
			const SimFlow *f = &r->plain_flows.v[k];
			if (flow_is_new(&seen_plain, f))
				VEC_PUSH(j->c->keep, &out[f->from.i].plain_flows, ((GraphFlow){f->output, f->input, f->to, f->same, false}));
		}
	}
}

static void dump_paths(const Judge *j)
{
	Buf *out = j->c->dump;
	const Entries *e = &j->entries;
	for (uint32_t i = 0; i < e->v.n; i++)
		buf_printf(out, "frame %u " STR_FMT " line %u%s%s\n", i, STR_ARG(sym_str(j->c->names, e->v.v[i].name)), e->v.v[i].first_line,
		           e->v.v[i].original ? " original" : "", e->v.v[i].modified ? " modified" : "");
	for (uint32_t i = 0; i < j->npaths; i++) {
		const RunResult *r = j->paths[i].ref[ASSUME_NOTHING];
		buf_printf(out, "path %u: frames", i);
		for (uint32_t k = 0; k < r->entered.n; k++)
			buf_printf(out, " %u", r->entered.v[k]);
		buf_printf(out, "; arms");
		for (uint32_t k = 0; k < r->nchoices; k++)
			buf_printf(out, " %u", r->choices[k]);
		buf_printf(out, "; observed %u%s%s%s " STR_FMT "\n", r->seen.n, r->hidden ? " hidden" : "", r->unsure ? " unsure" : "",
		           r->stopped ? " stopped" : "", STR_ARG(r->why));
		if (r->why_at.file.i)
			buf_printf(out, "  at byte %u\n", r->why_at.at);
		if (r->at_code && r->at < r->at_code->n)
			buf_printf(out, "  at line %u, offset %u: " STR_FMT " " STR_FMT "\n", r->at_code->ins[r->at].line, r->at_code->ins[r->at].offset,
			           STR_ARG(r->at_code->ins[r->at].row->name), STR_ARG(ins_repr(r->at_code, &r->at_code->ins[r->at])));
	}
	if (!j->npaths)
		buf_printf(out, "no path: " STR_FMT "\n", STR_ARG(j->why));
}

static void dump_verdict(const Judge *j, const Graph *g, const char *side, uint32_t k, const Verdict *v)
{
	if (v->observable != OBS_NONE)
		buf_printf(j->c->dump, "verdict " STR_FMT " %s %u: " STR_FMT " " STR_FMT "\n", STR_ARG(sym_str(j->c->names, g->name)), side, k,
		           STR_ARG(observable_name(v->observable)), STR_ARG(v->why));
}

static void dump_group(const Judge *j, const Graph *g, const AotGroup *x)
{
	Str cause = aot_cause_name(x->cause);
	buf_printf(j->c->dump, "shared " STR_FMT " inputs %u %u: " STR_FMT " %s%s " STR_FMT "\n", STR_ARG(sym_str(j->c->names, g->name)),
	           x->input, x->other, STR_ARG(cause), x->certainty == TRI_MUST ? "must" : "may", x->faint ? " (unlikely)" : "", STR_ARG(x->why));
}

static void dump_saved(const Judge *j, const Graph *g, const AotSaved *x)
{
	buf_printf(j->c->dump, "backward " STR_FMT ": " STR_FMT, STR_ARG(sym_str(j->c->names, g->name)), STR_ARG(aot_cause_name(x->cause)));
	if (x->output >= 0)
		buf_printf(j->c->dump, " output %d", (int)x->output);
	if (x->input >= 0)
		buf_printf(j->c->dump, " input %d", (int)x->input);
	buf_printf(j->c->dump, " " STR_FMT " " STR_FMT "%s\n", STR_ARG(x->writer), STR_ARG(x->needs), x->faint ? " (unlikely)" : "");
}

static bool is_of(const Graph *g, FileId unit, Sym process)
{
	return g->unit.i == unit.i && sym_eq(g->process, process);
}

static uint64_t steps_of_process(const Program *p, FileId unit, Sym process)
{
	uint64_t size = 0;
	for (uint32_t i = 1; i < p->graphs.n; i++)
		size += is_of(p->graphs.v[i], unit, process) ? p->graphs.v[i]->nodes.n : 0;
	for (uint32_t i = 0; i < p->frames.n; i++) {
		const Frame *f = &p->frames.v[i];
		if (f->code && f->unit.i == unit.i && sym_eq(f->process, process))
			size += f->code->n;
	}
	return STEPS + STEPS_EACH * size;
}

/* Follows them again as long as values turn out to be tensors of types that earlier code did not know. */
static void learn_paths(Judge *j)
{
	enum { ROUNDS = 3 };
	j->learned.closed = false;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		j->learned.news = false;
		j->learned.closed = round == ROUNDS - 1;
		j->npaths = 0;
		j->bounded = j->hidden = false;
		j->why = (Str){0};
		find_paths(j);
		if (!j->learned.news)
			break;
	}
	j->learned.closed = true;
}

/* The paths of the program. One with so many elements that there would be too many terms is followed again with less
 * detail: what is only known in parts is better than what is not known. */
static void follow(Judge *j)
{
	static const uint32_t small[] = {SIM_SMALL, SIM_SMALL / 16, SIM_SMALL / 256};
	const Judge fresh = *j;
	j->learned.types.a = j->learned.tuples.a = j->c->runs;
	sim_learn_classes(&j->learned, j->c->p);
	for (uint32_t i = 0; j->entries.v.n && i < sizeof small / sizeof *small; i++) {
		uint64_t left = j->steps_left;
		SimLearned learned = j->learned;
		*j = fresh;
		j->steps_left = left;
		j->learned = learned;
		j->base.learned = &j->learned;
		j->base.small = small[i];
		arena_free(j->c->terms);
		j->base.terms = terms_new(j->c->terms, j->c->names, MAX_TERMS);
		learn_paths(j);
		if (!terms_limit_hit(j->base.terms))
			return;
	}
}

/* ---- graphs by several processes ---- */

enum {
	PARALLEL_PARTS = 4,     /* fewer are done one after the other, each by several processes */
	PARALLEL_GRAPHS = 3,    /* fewer are not worth it */
	PARALLEL_STEPS = 20000  /* of the run without a cut, likewise */
};

static bool is_asked(const VerdictCtx *c, const Graph *g, FileId unit, Sym process)
{
	return is_of(g, unit, process) && g->stage == STAGE_DYNAMO && !g->printing_of.i && !g->superseded && !g->parent.i && c->summaries[g->id.i];
}

static void note_done(const Judge *j)
{
	if (j->c->done)
		++*j->c->done;
}

static void judge_cuts(Judge *j, const Graph *g, GraphVerdicts *out)
{
	judge_graph(j, g, out);
	if (j->c->aot && j->c->aot[g->id.i])
		judge_traced(j, g, out);
}

/* Graphs of a process of which verdicts are asked. */
typedef struct Asked {
	Judge *j;
	GraphVerdicts *out;
	VEC(const Graph *) graphs;
	VerdictCost all;   /* of those that other processes judged */
	RefUses uses;
	uint64_t limit;    /* steps of one graph that another process may do */
} Asked;

/* In a worker: it is not cut short by what others used up; whether that matters is seen when it comes back. */
static bool judge_task(void *ctx, uint32_t i, Buf *out)
{
	Asked *asked = ctx;
	Judge *j = asked->j;
	const Graph *g = asked->graphs.v[i];
	GraphVerdicts v = {0};
	VerdictCost cost = {0};
	TermsMark before = terms_mark(j->base.terms);
	asked->uses.n = 0;
	j->uses = &asked->uses;
	j->ref_steps = 0;
	j->steps_left = asked->limit;
	j->most_terms = j->most_operands = 0;
	judge_cuts(j, g, &v);
	TermsMark after = terms_mark(j->base.terms);
	cost.steps = asked->limit - j->steps_left - j->ref_steps;
	cost.terms = after.terms - before.terms;
	cost.operands = after.operands - before.operands;
	cost.more_terms = j->most_terms > after.terms ? j->most_terms - after.terms : 0;
	cost.more_operands = j->most_operands > after.operands ? j->most_operands - after.operands : 0;
	verdict_pack_cost(&cost, &asked->uses, out);
	verdict_pack(&v, g->outputs.n, g->inputs.n, out);
	return j->steps_left > 0;
}

/* Steps that one process alone would have spent on it, after those that were judged before. */
static uint64_t pay(Judge *j, const VerdictCost *cost, const RefUses *uses)
{
	uint64_t steps = cost->steps;
	for (uint32_t i = 0; i < uses->n; i++) {
		const RefUse *u = &uses->v[i];
		bool *paid;
		RunResult **kept = reference(&j->paths[u->path % MAX_PATHS], (Assume)(u->assume % ASSUME_N), &u->from, &paid);
		if (kept && (*kept || *paid))
			continue;
		steps += u->steps;
		if (kept)
			*paid = true;
	}
	return steps;
}

/* Would there have been room for all terms? */
static bool terms_had_room(const Judge *j, const VerdictCost *all)
{
	TermsMark now = terms_mark(j->base.terms);
	return !terms_limit_hit(j->base.terms) &&
	       terms_fit(j->base.terms, (uint64_t)now.terms + all->terms + all->more_terms, (uint64_t)now.operands + all->operands + all->more_operands);
}

/* In the order of the graphs: an answer counts when one process alone would have come to it below all limits. */
static bool take_verdicts(void *ctx, uint32_t i, Str data)
{
	Asked *asked = ctx;
	Judge *j = asked->j;
	const Graph *g = asked->graphs.v[i];
	GraphVerdicts v = {0};
	VerdictCost cost, *all = &asked->all;
	if (!verdict_unpack_cost(&data, &cost, &asked->uses, j->c->keep) ||
	    !verdict_unpack(&data, g->outputs.n, g->inputs.n, &v, j->c->keep))
		return false;
	all->terms += cost.terms;
	all->operands += cost.operands;
	all->more_terms = cost.more_terms > all->more_terms ? cost.more_terms : all->more_terms;
	all->more_operands = cost.more_operands > all->more_operands ? cost.more_operands : all->more_operands;
	uint64_t steps = pay(j, &cost, &asked->uses);
	if (steps >= j->steps_left || !terms_had_room(j, all))
		return false;
	j->steps_left -= steps;
	GraphVerdicts *out = &asked->out[g->id.i];
	out->outputs = v.outputs;
	out->inputs = v.inputs;
	out->traced.v = v.traced.v;
	out->traced.n = v.traced.n;
	out->traced.cap = v.traced.cap;
	note_done(j);
	return true;
}

/* How many of the graphs are judged behind it: the first so many. */
static uint32_t judge_in_parallel(Asked *asked)
{
	const VerdictCtx *c = asked->j->c;
	if (c->jobs < 2 || c->dump || asked->graphs.n < PARALLEL_GRAPHS || asked->j->npaths * (uint64_t)asked->graphs.n * asked->j->paths[0].ref[ASSUME_NOTHING]->steps < PARALLEL_STEPS)
		return 0;
	Jobs jobs = {.workers = c->jobs, .tasks = asked->graphs.n, .work = judge_task, .take = take_verdicts, .ctx = asked, .budget = c->runs->budget};
	asked->limit = asked->j->steps_left;
	return jobs_run(&jobs);
}

static void judge_process(const VerdictCtx *c, FileId unit, Sym process, GraphVerdicts *out)
{
	const Program *p = c->p;
	Judge *j = NEW(c->runs, Judge);
	j->c = c;
	j->entries = entries_of(p, unit, process, c->runs);
	j->base = (Sim){.p = p, .t = c->t, .f = c->f, .shapes = c->shapes, .sem = c->sem, .quoted = c->quoted, .types = c->types, .summaries = c->summaries,
	                .names = c->names, .a = c->a, .scratch = c->scratch, .inner = c->inner};
	j->steps_left = steps_of_process(p, unit, process);
	follow(j);
	keep_flows(j, out);
	if (c->dump)
		dump_paths(j);
	AotLog log = {.a = c->runs, .counts = {.a = c->runs}};
	record_calls(j, &log, out);
	Asked asked = {.j = j, .out = out};
	for (uint32_t i = 1; i < p->graphs.n && j->npaths; i++)
		if (is_asked(c, p->graphs.v[i], unit, process))
			VEC_PUSH(c->runs, &asked.graphs, p->graphs.v[i]);
	uint32_t judged = judge_in_parallel(&asked);
	for (uint32_t n = 0; n < asked.graphs.n; n++) {
		const Graph *g = asked.graphs.v[n];
		uint32_t i = g->id.i;
		if (n >= judged) {
			judge_cuts(j, g, &out[i]);
			note_done(j);
		}
		aot_groups(&log, g, c->names, c->torch.lo || c->torch.hi ? c->torch : g->torch, c->keep, &out[i].groups);
		for (uint32_t k = 0; c->dump && k < g->outputs.n; k++)
			dump_verdict(j, g, "output", k, &out[i].outputs[k]);
		for (uint32_t k = 0; c->dump && k < g->inputs.n; k++)
			dump_verdict(j, g, "input", k, &out[i].inputs[k]);
		for (uint32_t k = 0; c->dump && k < out[i].saved.n; k++)
			dump_saved(j, g, &out[i].saved.v[k]);
		for (uint32_t k = 0; c->dump && k < out[i].groups.n; k++)
			dump_group(j, g, &out[i].groups.v[k]);
		for (uint32_t k = 0; c->dump && k < out[i].traced.n; k++)
			dump_verdict(j, g, "traced copy at node", out[i].traced.v[k].node.i, &out[i].traced.v[k].v);
	}
	arena_free(c->runs);
	arena_free(c->terms);
}

/* ---- all processes that the dump shows ---- */

typedef struct Part {
	FileId unit;
	Sym process;
} Part;

typedef struct Parts {
	const VerdictCtx *c;
	GraphVerdicts *out;
	VEC(Part) v;
} Parts;

static Parts parts_of(const VerdictCtx *c, GraphVerdicts *out)
{
	Parts parts = {.c = c, .out = out};
	Map done = {.a = c->keep};
	for (uint32_t i = 0; i < c->p->frames.n; i++) {
		const Frame *f = &c->p->frames.v[i];
		uint64_t key = ((uint64_t)f->unit.i << 32 | f->process.i) + 1;
		if (map_get(&done, key))
			continue;
		map_put(&done, key, 1);
		VEC_PUSH(c->keep, &parts.v, ((Part){f->unit, f->process}));
	}
	return parts;
}

/* In a worker: one part, with everything that is found of its graphs. */
static bool judge_part(void *ctx, uint32_t i, Buf *out)
{
	const Parts *parts = ctx;
	const Part *part = &parts->v.v[i];
	const Program *p = parts->c->p;
	VerdictCtx alone = *parts->c;
	alone.jobs = 1;
	judge_process(&alone, part->unit, part->process, parts->out);
	for (uint32_t k = 1; k < p->graphs.n; k++)
		if (is_of(p->graphs.v[k], part->unit, part->process)) {
			verdict_pack_number(k, out);
			verdict_pack(&parts->out[k], p->graphs.v[k]->outputs.n, p->graphs.v[k]->inputs.n, out);
		}
	return true;
}

static bool take_part(void *ctx, uint32_t i, Str data)
{
	const Parts *parts = ctx;
	const Program *p = parts->c->p;
	uint32_t k;
	(void)i;
	while (data.n) {
		/* a worker that broke off sends nothing of a part, one that did not sends all of it */
		bool ok = verdict_unpack_number(&data, &k) && k && k < p->graphs.n &&
		          verdict_unpack(&data, p->graphs.v[k]->outputs.n, p->graphs.v[k]->inputs.n, &parts->out[k], parts->c->keep);
		ASSERT(ok);
		if (parts->c->done && parts->out[k].outputs)
			++*parts->c->done;
	}
	return true;
}

/* How many parts are judged behind it: the first so many. Each has limits of its own. */
static uint32_t judge_parts(Parts *parts)
{
	const VerdictCtx *c = parts->c;
	if (c->jobs < 2 || c->dump || parts->v.n < PARALLEL_PARTS)
		return 0;
	Jobs jobs = {.workers = c->jobs, .tasks = parts->v.n, .work = judge_part, .take = take_part, .ctx = parts, .budget = c->runs->budget};
	return jobs_run(&jobs);
}

GraphVerdicts *verdict_program(const VerdictCtx *c)
{
	GraphVerdicts *out = NEW_N(c->keep, GraphVerdicts, c->p->graphs.n);
	Parts parts = parts_of(c, out);
	for (uint32_t i = judge_parts(&parts); i < parts.v.n; i++)
		judge_process(c, parts.v.v[i].unit, parts.v.v[i].process, out);
	return out;
}
