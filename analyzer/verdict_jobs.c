/* SPDX-License-Identifier: MIT */
#include "verdict_jobs.h"

/* ---- writing ---- */

static void put(Buf *out, const void *p, uint32_t n)
{
	buf_add(out, (Str){p, n});
}

static void put_text(Buf *out, Str s)
{
	put(out, &s.n, sizeof s.n);
	buf_add(out, s);
}

static void put_verdict(Buf *out, const Verdict *v)
{
	put(out, v, sizeof *v); /* the texts in it are sent behind it */
	put_text(out, v->why);
	for (uint32_t i = 0; i < v->nsteps; i++)
		put_text(out, v->steps[i].what);
}

static void put_flows(Buf *out, const GraphFlow *v, uint32_t n)
{
	verdict_pack_number(n, out);
	put(out, v, n * (uint32_t)sizeof *v);
}

void verdict_pack(const GraphVerdicts *v, uint32_t noutputs, uint32_t ninputs, Buf *out)
{
	verdict_pack_number(v->outputs != NULL, out);
	for (uint32_t k = 0; v->outputs && k < noutputs; k++)
		put_verdict(out, &v->outputs[k]);
	for (uint32_t i = 0; v->outputs && i < ninputs; i++)
		put_verdict(out, &v->inputs[i]);
	verdict_pack_number(v->traced.n, out);
	for (uint32_t i = 0; i < v->traced.n; i++) {
		verdict_pack_number(v->traced.v[i].node.i, out);
		put_verdict(out, &v->traced.v[i].v);
	}
	verdict_pack_number(v->groups.n, out);
	for (uint32_t i = 0; i < v->groups.n; i++) {
		put(out, &v->groups.v[i], sizeof v->groups.v[i]);
		put_text(out, v->groups.v[i].why);
	}
	verdict_pack_number(v->saved.n, out);
	for (uint32_t i = 0; i < v->saved.n; i++) {
		put(out, &v->saved.v[i], sizeof v->saved.v[i]);
		put_text(out, v->saved.v[i].writer);
		put_text(out, v->saved.v[i].needs);
	}
	put_flows(out, v->flows.v, v->flows.n);
	put_flows(out, v->plain_flows.v, v->plain_flows.n);
	verdict_pack_number(v->reshapes.n, out);
	put(out, v->reshapes.v, v->reshapes.n * (uint32_t)sizeof *v->reshapes.v);
}

void verdict_pack_cost(const VerdictCost *cost, const RefUses *uses, Buf *out)
{
	put(out, cost, sizeof *cost);
	verdict_pack_number(uses->n, out);
	put(out, uses->v, uses->n * (uint32_t)sizeof *uses->v);
}

void verdict_pack_number(uint32_t n, Buf *out)
{
	put(out, &n, sizeof n);
}

/* ---- reading ---- */

static bool take(Str *s, void *p, uint32_t n)
{
	if (s->n < n)
		return false;
	memcpy(p, s->p, n);
	*s = str_sub(*s, n, s->n);
	return true;
}

static bool take_text(Str *s, Str *out, Arena *keep)
{
	uint32_t n;
	if (!take(s, &n, sizeof n) || s->n < n)
		return false;
	*out = n ? str_copy(keep, str_sub(*s, 0, n)) : (Str){0};
	*s = str_sub(*s, n, s->n);
	return true;
}

static bool take_verdict(Str *s, Verdict *v, Arena *keep)
{
	bool ok = take(s, v, sizeof *v) && v->nsteps <= sizeof v->steps / sizeof *v->steps && take_text(s, &v->why, keep);
	for (uint32_t i = 0; ok && i < v->nsteps; i++)
		ok = take_text(s, &v->steps[i].what, keep);
	return ok;
}

bool verdict_unpack_number(Str *data, uint32_t *n)
{
	return take(data, n, sizeof *n);
}

static bool take_boundaries(Str *data, uint32_t noutputs, uint32_t ninputs, GraphVerdicts *v, Arena *keep)
{
	uint32_t asked;
	bool ok = verdict_unpack_number(data, &asked);
	if (!ok || !asked)
		return ok;
	v->outputs = NEW_N(keep, Verdict, noutputs + 1);
	v->inputs = NEW_N(keep, Verdict, ninputs + 1);
	for (uint32_t k = 0; ok && k < noutputs; k++)
		ok = take_verdict(data, &v->outputs[k], keep);
	for (uint32_t i = 0; ok && i < ninputs; i++)
		ok = take_verdict(data, &v->inputs[i], keep);
	return ok;
}

static bool take_traced(Str *data, GraphVerdicts *v, Arena *keep)
{
	uint32_t n;
	bool ok = verdict_unpack_number(data, &n);
	for (uint32_t i = 0; ok && i < n; i++) {
		TracedCopy t = {0};
		ok = verdict_unpack_number(data, &t.node.i) && take_verdict(data, &t.v, keep);
		if (ok)
			VEC_PUSH(keep, &v->traced, t);
	}
	return ok;
}

static bool take_groups(Str *data, GraphVerdicts *v, Arena *keep)
{
	uint32_t n;
	bool ok = verdict_unpack_number(data, &n);
	for (uint32_t i = 0; ok && i < n; i++) {
		AotGroup g;
		ok = take(data, &g, sizeof g) && take_text(data, &g.why, keep);
		if (ok)
			VEC_PUSH(keep, &v->groups, g);
	}
	return ok;
}

static bool take_saved(Str *data, GraphVerdicts *v, Arena *keep)
{
	uint32_t n;
	bool ok = verdict_unpack_number(data, &n);
	for (uint32_t i = 0; ok && i < n; i++) {
		AotSaved x;
		ok = take(data, &x, sizeof x) && take_text(data, &x.writer, keep) && take_text(data, &x.needs, keep);
		if (ok)
			VEC_PUSH(keep, &v->saved, x);
	}
	return ok;
}

static bool take_flows(Str *data, GraphVerdicts *v, bool plain, Arena *keep)
{
	uint32_t n;
	bool ok = verdict_unpack_number(data, &n);
	for (uint32_t i = 0; ok && i < n; i++) {
		GraphFlow f;
		ok = take(data, &f, sizeof f);
		if (ok && plain)
			VEC_PUSH(keep, &v->plain_flows, f);
		else if (ok)
			VEC_PUSH(keep, &v->flows, f);
	}
	return ok;
}

static bool take_reshapes(Str *data, GraphVerdicts *v, Arena *keep)
{
	uint32_t n;
	bool ok = verdict_unpack_number(data, &n);
	for (uint32_t i = 0; ok && i < n; i++) {
		GraphReshape w;
		ok = take(data, &w, sizeof w);
		if (ok)
			VEC_PUSH(keep, &v->reshapes, w);
	}
	return ok;
}

bool verdict_unpack(Str *data, uint32_t noutputs, uint32_t ninputs, GraphVerdicts *v, Arena *keep)
{
	return take_boundaries(data, noutputs, ninputs, v, keep) && take_traced(data, v, keep) && take_groups(data, v, keep) &&
	       take_saved(data, v, keep) && take_flows(data, v, false, keep) && take_flows(data, v, true, keep) &&
	       take_reshapes(data, v, keep);
}

bool verdict_unpack_cost(Str *data, VerdictCost *cost, RefUses *uses, Arena *keep)
{
	uint32_t n;
	bool ok = take(data, cost, sizeof *cost) && verdict_unpack_number(data, &n);
	uses->n = 0;
	for (uint32_t i = 0; ok && i < n; i++) {
		RefUse use;
		ok = take(data, &use, sizeof use);
		if (ok)
			VEC_PUSH(keep, uses, use);
	}
	return ok;
}
