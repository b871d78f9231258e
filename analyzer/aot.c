/* SPDX-License-Identifier: MIT */
#include "aot.h"

static const struct {
	Str word;
	Version last;
	AotEffect effect;
} causes[] = {
#define AOT_CAUSE(id, word, last, effect) {STR_INIT(word), last, AOT_EFFECT_##effect},
#include "aot_causes.def"
#undef AOT_CAUSE
};

Str aot_cause_name(AotCause c)
{
	ASSERT(c < AOT_CAUSE_N);
	return causes[c].word;
}

AotEffect aot_cause_effect(AotCause c)
{
	ASSERT(c < AOT_CAUSE_N);
	return causes[c].effect;
}

bool aot_cause_in(AotCause c, VersionSpan torch)
{
	ASSERT(c < AOT_CAUSE_N);
	return !causes[c].last || torch.lo <= causes[c].last;
}

Str aot_cause_versions(AotCause c, Arena *a)
{
	ASSERT(c < AOT_CAUSE_N);
	Version last = causes[c].last;
	return last ? str_printf(a, "up to %u.%u", (unsigned)(last / 100), (unsigned)(last % 100)) : (Str){0};
}

/* ---- conditions ---- */

typedef struct Test {
	const AotLog *log;
	const AotCall *call;
	const AotSet *set;
	const Graph *g;
	const Names *names;
	VersionSpan torch;
	Arena *keep;
	AotGroup found;
} Test;

static const AotMember *member(const Test *t, uint32_t i)
{
	return &t->call->members.v[i];
}

static Str input_name(const Test *t, uint32_t i)
{
	const Node *n = graph_node(t->g, t->g->inputs.v[member(t, i)->input]);
	return sym_str(t->names, n->name.i ? n->name : n->target);
}

static bool is_view(const AotMember *m)
{
	return m->root != m->tensor;
}

/* A written member, and another one: those of a pair where there is one. */
static void name_pair(Test *t, uint32_t a, uint32_t b)
{
	bool swap = !member(t, a)->written && member(t, b)->written;
	t->found.input = member(t, swap ? b : a)->input;
	t->found.other = member(t, swap ? a : b)->input;
}

static void holds(Test *t, AotCause cause, Tri certainty, Str why)
{
	bool merged_for_sure = t->set->merged == TRI_MUST || cause == AOT_CAUSE_MISSED || cause == AOT_CAUSE_FOREIGN;
	t->found.cause = cause;
	t->found.certainty = merged_for_sure ? certainty : tri_and(certainty, TRI_MAY);
	t->found.why = why;
	for (uint32_t i = t->set->at; i < t->set->at + t->set->n; i++) {
		if (!member(t, i)->guessed)
			continue;
		t->found.certainty = TRI_MAY;
		t->found.why = str_printf(t->keep, "`" STR_FMT "` is a view of the other one, as its strides suggest%s" STR_FMT,
		                          STR_ARG(input_name(t, i)), why.n ? ", and " : "", STR_ARG(why));
		break;
	}
}

static void name_written(Test *t, uint32_t other)
{
	uint32_t end = t->set->at + t->set->n, w = t->set->at;
	while (w < end && (!member(t, w)->written || w == other))
		w++;
	if (w == end) /* the only written one is `other` itself */
		w = other, other = other == t->set->at ? t->set->at + 1 : t->set->at;
	name_pair(t, w, other);
}

static bool dtypes_differ(DType a, DType b)
{
	return a != b && a != DT_NONE && b != DT_NONE;
}

/* Two roots: one of them may be a view of something that is not shown. */
static bool roots_differ(Test *t)
{
	const AotMember *first = member(t, t->set->at);
	for (uint32_t i = t->set->at + 1; i < t->set->at + t->set->n; i++) {
		const AotMember *m = member(t, i);
		if (m->root == first->root || !(m->given || first->given))
			continue;
		name_written(t, i);
		holds(t, AOT_CAUSE_BASES, TRI_MAY,
		      str_printf(t->keep, "`" STR_FMT "` is a view of a tensor that the dump does not show",
		                 STR_ARG(input_name(t, m->given ? i : t->set->at))));
		return true;
	}
	return false;
}

static bool bases_differ(Test *t)
{
	uint32_t end = t->set->at + t->set->n, view = end;
	for (uint32_t i = t->set->at; i < end; i++) {
		const AotMember *m = member(t, i), *first = member(t, t->set->at);
		if (dtypes_differ(m->dtype, first->dtype) || (is_view(m) && dtypes_differ(m->dtype, m->root_dtype))) {
			name_written(t, i);
			holds(t, AOT_CAUSE_BASES, TRI_MUST, S("they have different dtypes"));
			return true;
		}
		view = view == end && is_view(m) ? i : view;
	}
	if (view == end)
		return roots_differ(t);
	for (uint32_t i = t->set->at; i < end; i++) {
		if (member(t, i)->root == member(t, view)->root)
			continue;
		name_pair(t, view, i);
		if (!member(t, view)->written && !member(t, i)->written)
			name_written(t, i);
		holds(t, AOT_CAUSE_BASES, TRI_MUST,
		      str_printf(t->keep, "`" STR_FMT "` is a view and `" STR_FMT "` does not belong to its base: a detach or .data lies between",
		                 STR_ARG(input_name(t, view)), STR_ARG(input_name(t, i))));
		return true;
	}
	return false;
}

/* Of the sets of leaves that may need a gradient: the first for which a condition holds. */
static bool with_leaves(Test *t, bool (*condition)(Test *t, GradMask leaves))
{
	for (uint32_t k = 0; k < AOT_TRIALS; k++)
		if (t->call->outputs_need & t->call->leaves[k] && condition(t, t->call->leaves[k])) {
			t->found.faint |= k == TRIAL_SOME && t->found.cause != AOT_CAUSE_LOST_GRADIENT;
			return true;
		}
	return false;
}

static void holds_if(Test *t, AotCause cause, GradMask leaves, Str why)
{
	t->found.faint |= aot_is_faint(t->call->tape, leaves);
	holds(t, cause, TRI_MAY, str_printf(t->keep, STR_FMT "%s" STR_FMT, STR_ARG(aot_needs(t->call->tape, leaves, t->names, t->keep)),
	                                    why.n ? ", and " : "", STR_ARG(why)));
}

/* In a joint graph neighbours have to be one tensor's views, or a view and that tensor. */
static bool neighbours_differ(Test *t, GradMask leaves)
{
	for (uint32_t i = t->set->at; i + 1 < t->set->at + t->set->n; i++) {
		if (member(t, i)->root == member(t, i + 1)->root)
			continue;
		name_pair(t, i, i + 1);
		if (!member(t, i)->written && !member(t, i + 1)->written)
			name_written(t, i);
		holds_if(t, AOT_CAUSE_BASES, t->call->outputs_need & leaves, (Str){0});
		return true;
	}
	return false;
}

static bool bases_in_training(Test *t)
{
	return with_leaves(t, neighbours_differ);
}

static bool two_tangents(Test *t, GradMask leaves)
{
	uint32_t n = 0, at[2] = {0};
	for (uint32_t i = t->set->at; i < t->set->at + t->set->n && n < 2; i++)
		if (member(t, i)->written && member(t, i)->need_after & leaves)
			at[n++] = i;
	if (n < 2)
		return false;
	name_pair(t, at[0], at[1]);
	holds_if(t, AOT_CAUSE_TANGENTS, member(t, at[0])->need_after & leaves, (Str){0});
	return true;
}

static bool tangents_missing(Test *t)
{
	return with_leaves(t, two_tangents);
}

static GradMask members_need(const Test *t)
{
	GradMask need = 0;
	for (uint32_t i = t->set->at; i < t->set->at + t->set->n; i++)
		need |= member(t, i)->need;
	return need;
}

static bool under_no_grad(Test *t, GradMask leaves)
{
	if (!t->set->no_grad || !(members_need(t) & leaves))
		return false;
	name_written(t, t->set->at);
	holds_if(t, AOT_CAUSE_NO_GRAD_WRITE, members_need(t) & leaves, (Str){0});
	return true;
}

static bool written_under_no_grad(Test *t)
{
	return with_leaves(t, under_no_grad);
}

static bool gradient_enters(Test *t, GradMask leaves)
{
	if (!t->set->crossed || members_need(t) & leaves || !(t->set->value_need & leaves))
		return false;
	uint32_t writer = t->set->writer - 1;
	name_pair(t, writer, writer == t->set->at ? t->set->at + 1 : t->set->at);
	holds_if(t, AOT_CAUSE_LOST_GRADIENT, t->set->value_need & leaves, (Str){0});
	return true;
}

static bool gradient_is_lost(Test *t)
{
	return with_leaves(t, gradient_enters);
}

static bool view_is_wrong(Test *t)
{
	for (uint32_t k = 0; k < t->call->returns.n; k++) {
		const AotReturn *r = &t->call->returns.v[k];
		if (&t->call->sets.v[r->set] != t->set || r->same || r->of_root || r->replay == REPLAY_SAME)
			continue;
		name_written(t, r->member);
		t->found.output = (int32_t)r->output;
		holds(t, AOT_CAUSE_WRONG_VIEW, r->replay == REPLAY_UNSURE ? TRI_MAY : TRI_MUST,
		      str_printf(t->keep, "output %u is a view of `" STR_FMT "`, and is taken of the whole instead: %s", r->output,
		                 STR_ARG(input_name(t, r->member)),
		                 r->replay == REPLAY_OTHER ? "other elements come back" : "its sizes do not fit"));
		return true;
	}
	return false;
}

/* Which group this is, among those that are merged. */
static uint32_t group_ordinal(const Test *t)
{
	uint32_t n = 0;
	for (const AotSet *s = t->call->sets.v; s < t->set; s++)
		n += s->merged != TRI_NO;
	return n;
}

static bool base_comes_back(Test *t)
{
	uint32_t ordinal = group_ordinal(t);
	for (uint32_t k = 0; k < t->call->returns.n; k++) {
		const AotReturn *r = &t->call->returns.v[k];
		if (&t->call->sets.v[r->set] != t->set || !r->same || r->of_root || !t->set->base.known || member(t, r->member)->input != ordinal)
			continue;
		name_written(t, r->member);
		t->found.output = (int32_t)r->output;
		holds(t, AOT_CAUSE_BASE, TRI_MUST,
		      str_printf(t->keep, "output %u is `" STR_FMT "`, and what comes back is all of the memory that they share", r->output,
		                 STR_ARG(input_name(t, r->member))));
		return true;
	}
	return false;
}

static bool taken_as_apart(Test *t)
{
	if (t->set->merged == TRI_MUST || t->set->missed[0] == t->set->missed[1])
		return false;
	name_pair(t, t->set->missed[0], t->set->missed[1]);
	holds(t, AOT_CAUSE_MISSED, TRI_MUST, S("they are blocks of one matrix that share elements, and are taken as apart"));
	return true;
}

static bool wrapped_twice(Test *t)
{
	if (t->set->foreign[0] == t->set->foreign[1])
		return false;
	name_pair(t, t->set->foreign[0], t->set->foreign[1]);
	holds(t, AOT_CAUSE_FOREIGN, TRI_MUST, S("one of them came by way of an array: one memory, two storage objects"));
	return true;
}

static const AotCall *first_call(const Test *t)
{
	for (uint32_t i = 0; i < t->log->calls.n; i++)
		if (t->log->calls.v[i].graph.i == t->g->id.i)
			return &t->log->calls.v[i];
	return NULL;
}

/* Compiled for inputs that lay apart, and called again with inputs that do not. */
static bool used_again(Test *t)
{
	const AotCall *first = first_call(t);
	if (!t->call->nth || t->set->merged != TRI_MUST)
		return false;
	for (uint32_t k = 0; first->nth == 0 && k < first->sets.n; k++)
		if (first->sets.v[k].merged != TRI_NO)
			return false;
	name_written(t, t->set->at);
	holds(t, AOT_CAUSE_REUSE, TRI_MUST, S("they lay apart when the graph was compiled, and no guard asks for it"));
	return true;
}

/* Merging changes where every other input stands: what is handed back as it came is a new object. */
static bool object_is_lost(Test *t)
{
	for (uint32_t j = 0; j < t->g->outputs.n; j++) {
		const Arg *a = &t->g->outputs.v[j].arg;
		if (a->kind != AR_NODE || graph_node(t->g, a->u.node)->kind != NK_PLACEHOLDER)
			continue;
		name_written(t, t->set->at);
		t->found.output = (int32_t)j;
		holds(t, AOT_CAUSE_OBJECT, TRI_MAY,
		      str_printf(t->keep, "output %u is an input, and comes back as a new object in the same memory", j));
		return true;
	}
	return false;
}

static bool is_group(Test *t)
{
	bool guessed = false;
	for (uint32_t i = t->set->at; i < t->set->at + t->set->n; i++)
		guessed |= member(t, i)->guessed;
	if (t->set->meet == TRI_NO || guessed)
		return false;
	name_pair(t, t->set->pair[0], t->set->pair[1]);
	holds(t, AOT_CAUSE_GROUP, t->set->meet, (Str){0});
	t->found.certainty = t->set->meet;
	return true;
}

static const struct {
	AotCause cause;
	bool merged; /* only of inputs that are merged */
	bool (*test)(Test *t);
} tests[] = {
	{AOT_CAUSE_REUSE, true, used_again},
	{AOT_CAUSE_BASES, true, bases_differ},
	{AOT_CAUSE_BASES, true, bases_in_training},
	{AOT_CAUSE_TANGENTS, true, tangents_missing},
	{AOT_CAUSE_NO_GRAD_WRITE, true, written_under_no_grad},
	{AOT_CAUSE_WRONG_VIEW, true, view_is_wrong},
	{AOT_CAUSE_BASE, true, base_comes_back},
	{AOT_CAUSE_LOST_GRADIENT, true, gradient_is_lost},
	{AOT_CAUSE_MISSED, false, taken_as_apart},
	{AOT_CAUSE_FOREIGN, false, wrapped_twice},
	{AOT_CAUSE_OBJECT, true, object_is_lost},
	{AOT_CAUSE_GROUP, false, is_group},
};

static void keep(AotGroups *out, Arena *a, const AotGroup *found)
{
	for (uint32_t i = 0; i < out->n; i++)
		if (out->v[i].input == found->input) {
			if (found->cause < out->v[i].cause)
				out->v[i] = *found;
			return;
		}
	VEC_PUSH(a, out, *found);
}

void aot_groups(const AotLog *log, const Graph *g, const Names *names, VersionSpan torch, Arena *a, AotGroups *out)
{
	for (uint32_t i = 0; i < log->calls.n; i++) {
		const AotCall *c = &log->calls.v[i];
		for (uint32_t k = 0; k < c->sets.n && c->graph.i == g->id.i; k++) {
			Test t = {.log = log, .call = c, .set = &c->sets.v[k], .g = g, .names = names, .torch = torch, .keep = a};
			t.found = (AotGroup){.output = -1, .nth = c->nth};
			uint32_t n = 0, all = sizeof tests / sizeof *tests;
			while (n < all && !(aot_cause_in(tests[n].cause, torch) && (!tests[n].merged || t.set->merged != TRI_NO) && tests[n].test(&t)))
				n++;
			if (n < all)
				keep(out, a, &t.found);
		}
	}
}
