/* SPDX-License-Identifier: MIT */
#include "report_flow.h"

#include <stdlib.h>

#include "link.h"
#include "report_common.h"

const GraphVerdicts *report_verdicts(const Run *r, const Graph *g)
{
	return r->verdicts ? &r->verdicts[g->id.i] : NULL;
}

static Observable noticed(const Verdict *v, uint32_t i)
{
	return v && v[i].observable != OBS_NONE ? v[i].observable : OBS_UNKNOWN;
}

Observable report_noticed_output(const Run *r, const Graph *g, uint32_t output)
{
	const GraphVerdicts *v = report_verdicts(r, g);
	return noticed(v ? v->outputs : NULL, output);
}

Observable report_noticed_input(const Run *r, const Graph *g, uint32_t input)
{
	const GraphVerdicts *v = report_verdicts(r, g);
	return noticed(v ? v->inputs : NULL, input);
}

/* ---- frames ---- */

/* One compilation of one code object, whatever the attempt. */
static uint64_t compilation(const Frame *f)
{
	uint64_t h = hash_u64((uint64_t)f->name.i << 32 | f->file.i);
	h = hash_u64(h ^ ((uint64_t)f->first_line << 32 | f->process.i));
	return hash_u64(h ^ ((uint64_t)f->compile_id.i << 32 | f->unit.i)) | 1;
}

bool *report_frames_run(const Run *r, Arena *a)
{
	const Program *p = &r->program;
	bool *run = NEW_N(a, bool, p->frames.n + 1);
	Map last = {.a = a};
	for (uint32_t i = 0; i < p->frames.n; i++)
		if (!sym_none(p->frames.v[i].compile_id))
			map_put(&last, compilation(&p->frames.v[i]), i + 1);
	for (uint32_t i = 0; i < p->frames.n; i++) {
		const Frame *f = &p->frames.v[i];
		uint32_t latest = map_get(&last, compilation(f));
		bool given_up = !f->modified && latest && latest != i + 1;
		run[i] = f->modified || (!given_up && !(r->frames && r->frames->partner[i]));
	}
	return run;
}

/* ---- calls ---- */

static int by_ins(const void *a, const void *b)
{
	const FrameCall *x = a, *y = b;
	return x->ins < y->ins ? -1 : x->ins > y->ins;
}

static Str last_name(Str text)
{
	uint32_t end = text.n, at;
	for (at = end; at && char_is_ident((unsigned char)text.p[at - 1]);)
		at--;
	return str_sub(text, at, end);
}

static bool call_of(const Run *r, FrameRef frame, const LinkEvent *e, Arena *a, FrameCall *out)
{
	const Program *p = &r->program;
	FrameRefs to = {0};
	ArenaMark mark = arena_mark(a);
	*out = (FrameCall){.ins = e->ins, .name = sym_str(p->names, e->name)};
	if (e->callee == CALLEE_GRAPH) {
		const Graph *g = graph_get(p, frames_called_graph(r->frames, frame, e));
		if (g && report_graph_captured(p, link_principal(p, g)))
			out->graph = link_principal(p, g)->id;
		return true;
	}
	if (e->callee == CALLEE_RESUME) {
		if (e->factory)
			return false;
		out->resume = true;
		frame_resume_candidates(r->frames, frame, e, a, &to);
	} else {
		Sym name = sym_find(p->names, last_name(lterm_get(&r->frames->links[frame - 1]->terms, e->what)->text));
		if (name.i)
			frames_named(r->frames, frame, name, a, &to);
	}
	FrameRef first = to.n ? to.v[0] : 0;
	arena_rewind(a, mark); /* many calls, each of many frames of one name: only the first is looked at */
	if (!first && !out->resume)
		return false;
	if (first) {
		FrameRef compiled = r->frames->partner[first - 1];
		out->frame = compiled ? compiled : first;
		out->name = sym_str(p->names, p->frames.v[first - 1].name);
	}
	return true;
}

void report_frame_calls(const Run *r, FrameRef frame, Arena *a, FrameCalls *out)
{
	const FrameLinks *l = r->frames ? r->frames->links[frame - 1] : NULL;
	Map seen = {.a = a};
	out->n = 0;
	for (uint32_t i = 0; l && i < l->events.n; i++) {
		const LinkEvent *e = &l->events.v[i];
		FrameCall call;
		if (e->kind != LINK_CALL || map_get(&seen, (uint64_t)e->ins + 1))
			continue;
		map_put(&seen, (uint64_t)e->ins + 1, 1);
		if (call_of(r, frame, e, a, &call))
			VEC_PUSH(a, out, call);
	}
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, by_ins);
}

Span report_call_span(const Run *r, FrameRef frame, const FrameCall *call)
{
	const Code *code = r->frames->links[frame - 1]->code;
	return ins_span(code, &code->ins[call->ins]);
}
