/* SPDX-License-Identifier: MIT */
#include "sim_aot.h"

#include "sim_grad.h"

enum { MAX_CALLS = 4096, MAX_MEMBERS = 256, MAX_PAIRS = 1 << 20, MAX_MEMBERS_IN_ALL = 1 << 16, MAX_VIEWS = 256 };

/* ---- places ---- */

AotLayout aot_layout(const SimTensor *t)
{
	AotLayout at = {.known = sim_is_placed(t), .ndim = t->ndim, .offset = t->offset};
	memcpy(at.size, t->size, sizeof at.size);
	memcpy(at.stride, t->stride, sizeof at.stride);
	return at;
}

static bool is_empty(const AotLayout *at)
{
	for (uint32_t d = 0; d < at->ndim; d++)
		if (!at->size[d])
			return true;
	return false;
}

static bool is_row_major(const AotLayout *at)
{
	int64_t step = 1;
	for (uint32_t d = at->ndim; d-- > 0;) {
		if (at->size[d] != 1 && at->stride[d] != step)
			return false;
		step *= at->size[d];
	}
	return true;
}

static int64_t last_element(const AotLayout *at)
{
	int64_t last = at->offset;
	for (uint32_t d = 0; d < at->ndim; d++)
		last += (at->size[d] - 1) * at->stride[d];
	return last;
}

/* Rows of one matrix, each without gaps. */
static bool are_row_blocks(const AotLayout *a, const AotLayout *b)
{
	return a->ndim == 2 && b->ndim == 2 && a->stride[1] == 1 && b->stride[1] == 1 && a->stride[0] == b->stride[0] &&
	       a->stride[0] > 0;
}

/* `low` does not start behind `high`. Of blocks that start in different rows AOTAutograd looks at one thing only: whether a row
 * of `high` ends before the row of the matrix does. */
static bool taken_as_apart(const AotLayout *low, const AotLayout *high)
{
	if (is_row_major(low) && is_row_major(high))
		return last_element(low) < high->offset;
	if (last_element(low) < high->offset)
		return true;
	if (!are_row_blocks(low, high))
		return false;
	int64_t step = high->offset - low->offset, row = low->stride[0];
	if (step < low->size[1])
		return false;
	return step % row + high->size[1] <= row;
}

AotRelation aot_relation(const AotLayout *a, const AotLayout *b, Tri meet)
{
	if (!a->known || !b->known)
		return meet == TRI_MUST ? AOT_MEET : meet == TRI_NO ? AOT_APART : AOT_UNSURE;
	if (is_empty(a) || is_empty(b))
		return AOT_APART;
	bool swap = a->offset > b->offset;
	if (!taken_as_apart(swap ? b : a, swap ? a : b))
		return AOT_MEET;
	return meet == TRI_MUST ? AOT_MISSED : AOT_APART;
}

/* ---- inputs of a call ---- */

AotCall *aot_current(Sim *s)
{
	AotLog *log = s->aot;
	return log && log->current ? &log->calls.v[log->current - 1] : NULL;
}

static void add_member(Sim *s, AotCall *c, Ref v, uint32_t input, bool written)
{
	const SimTensor *t = sim_tensor_of(s, v);
	AotMember m = {.input = input, .tensor = sim_obj(s, v)->tensor, .wrapper = t->wrapper, .written = written, .dtype = t->dtype,
	               .at = aot_layout(t)};
	m.root = t->base ? t->base : m.tensor;
	m.root_dtype = s->tensors.v[m.root].dtype;
	m.need = grad_need(s, m.tensor);
	m.guessed = t->guessed;
	m.given = s->tensors.v[m.root].whence == WHENCE_GIVEN;
	VEC_PUSH(s->aot->a, &c->members, m);
}

static void relate(Sim *s, AotCall *c, AotSet *set, const Ref *args, uint32_t i, uint32_t k)
{
	const AotMember *a = &c->members.v[i], *b = &c->members.v[k];
	Tri meet = sim_overlap(s, args[a->input], args[b->input]);
	if ((a->written || b->written) && meet > set->meet) {
		set->meet = meet;
		set->pair[0] = i, set->pair[1] = k;
	}
	if (a->wrapper != b->wrapper) {
		if (meet == TRI_MUST && (a->written || b->written) && set->foreign[0] == set->foreign[1])
			set->foreign[0] = i, set->foreign[1] = k;
		return;
	}
	switch (aot_relation(&a->at, &b->at, meet)) {
	case AOT_APART: break;
	case AOT_MEET: set->merged = TRI_MUST; break;
	case AOT_UNSURE: set->merged = tri_or(set->merged, TRI_MAY); break;
	case AOT_MISSED:
		if ((a->written || b->written) && set->missed[0] == set->missed[1])
			set->missed[0] = i, set->missed[1] = k;
		break;
	}
}

static void relate_all(Sim *s, AotCall *c, AotSet *set, const Ref *args)
{
	uint32_t end = set->at + set->n;
	for (uint32_t i = set->at; i < end; i++)
		for (uint32_t k = i + 1; k < end; k++) {
			ArenaMark mark = arena_mark(s->scratch);
			if (s->aot->pairs++ < MAX_PAIRS)
				relate(s, c, set, args, i, k);
			else
				set->merged = tri_or(set->merged, TRI_MAY);
			arena_rewind(s->scratch, mark);
		}
}

/* The common base of the members, as far as they have one; else a flat tensor over the memory. */
static AotLayout base_layout(Sim *s, const AotCall *c, const AotSet *set, uint32_t store)
{
	for (uint32_t i = set->at; i < set->at + set->n; i++) {
		const AotMember *m = &c->members.v[i];
		if (m->root != m->tensor)
			return aot_layout(&s->tensors.v[m->root]);
	}
	const SimStore *st = &s->stores.v[store];
	AotLayout flat = {.ndim = 1, .size = {st->n ? st->n : st->total}, .stride = {1}};
	flat.known = flat.size[0] > 0;
	return flat;
}

/* Inputs of one memory: `first`, next[first] - 1, ... */
static void add_set(Sim *s, AotCall *c, const Summary *sum, const Ref *args, const uint32_t *next, uint32_t first)
{
	AotLog *log = s->aot;
	AotSet set = {.at = c->members.n};
	bool written = false;
	for (uint32_t i = first + 1; i; i = next[i - 1])
		written |= sum->inputs[i - 1].data != TRI_NO;
	if (!written)
		return;
	for (uint32_t i = first + 1; i && set.n < MAX_MEMBERS; i = next[i - 1]) {
		add_member(s, c, args[i - 1], i - 1, sum->inputs[i - 1].data != TRI_NO);
		map_put(&log->member_of, c->members.v[c->members.n - 1].tensor, c->members.n);
		set.n++;
	}
	log->members += set.n;
	set.pair[0] = set.at, set.pair[1] = set.at + 1;
	relate_all(s, c, &set, args);
	set.base = base_layout(s, c, &set, sim_tensor_of(s, args[first])->store);
	VEC_PUSH(log->a, &c->sets, set);
}

/* ---- arguments that look like views of another one ---- */

static bool is_dense_layout(const AotLayout *at)
{
	int64_t n = 1, span = 1;
	for (uint32_t d = 0; d < at->ndim; d++) {
		n *= at->size[d];
		span += (at->size[d] - 1) * at->stride[d];
	}
	return n == span;
}

/* Is `part` a slice of `whole`, dim by dim? */
static bool fits_in(const AotLayout *part, const AotLayout *whole)
{
	if (part->ndim != whole->ndim || !is_row_major(whole))
		return false;
	for (uint32_t d = 0; d < part->ndim; d++) {
		int64_t step = whole->stride[d];
		if (step <= 0 || part->stride[d] % step || (part->size[d] - 1) * (part->stride[d] / step) >= whole->size[d])
			return false;
	}
	return true;
}

static bool is_lone_argument(Sim *s, Ref v)
{
	const SimTensor *t = sim_is_tensor(s, v) ? sim_tensor_of(s, v) : NULL;
	return t && t->whence == WHENCE_GIVEN && !t->base && sim_obj(s, v)->root && t->idx && sim_is_placed(t) && !t->offset;
}

/* Takes `part` for a view of `whole` from here on. */
static void take_as_view(Sim *s, Ref part, Ref whole)
{
	SimTensor *t = sim_tensor_of(s, part);
	t->store = sim_tensor_of(s, whole)->store;
	t->parent = t->base = sim_obj(s, whole)->tensor;
	t->guessed = true;
}

/* Memory with gaps belongs to something larger: to the one other argument of the call that it fits in. Only the run that records
 * takes it so, and says that it is a guess. */
static void guess_views(Sim *s, const Ref *args, uint32_t n)
{
	enum { ARGUMENTS_MOST = 64 };
	for (uint32_t i = 0; i < n && n <= ARGUMENTS_MOST; i++) {
		AotLayout part = is_lone_argument(s, args[i]) ? aot_layout(sim_tensor_of(s, args[i])) : (AotLayout){0};
		uint32_t whole = n;
		if (!part.known || is_dense_layout(&part) || is_empty(&part))
			continue;
		for (uint32_t k = 0; k < n; k++) {
			if (k == i || args[k] == args[i] || !is_lone_argument(s, args[k]) ||
			    sim_tensor_of(s, args[k])->dtype != sim_tensor_of(s, args[i])->dtype)
				continue;
			AotLayout at = aot_layout(sim_tensor_of(s, args[k]));
			if (fits_in(&part, &at))
				whole = whole == n ? k : n + 1;
		}
		if (whole < n)
			take_as_view(s, args[i], args[whole]);
	}
}

static bool writes_data(const Graph *g, const Summary *sum)
{
	for (uint32_t i = 0; i < g->inputs.n; i++)
		if (sum->inputs[i].data != TRI_NO)
			return true;
	return false;
}

void aot_enter(Sim *s, const Graph *g, const Summary *sum, const Ref *args, uint32_t n)
{
	AotLog *log = s->aot;
	if (!log)
		return;
	log->current = 0;
	if (log->calls.n == MAX_CALLS || !writes_data(g, sum))
		return;
	guess_views(s, args, n);
	uint32_t nth = map_get(&log->counts, g->id.i);
	map_put(&log->counts, g->id.i, nth + 1);
	AotCall c = {.graph = g->id, .nth = nth};
	Map last = {.a = s->scratch};
	uint32_t *next = NEW_N(s->scratch, uint32_t, n + 1);
	uint8_t *follows = NEW_N(s->scratch, uint8_t, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		if (!sim_is_tensor(s, args[i]))
			continue;
		uint64_t store = sim_tensor_of(s, args[i])->store;
		uint32_t before = map_get(&last, store);
		follows[i] = before != 0;
		if (before)
			next[before - 1] = i + 1;
		map_put(&last, store, i + 1);
	}
	log->member_of = (Map){.a = s->scratch};
	for (uint32_t i = 0; i < n && log->members < MAX_MEMBERS_IN_ALL; i++)
		if (next[i] && !follows[i])
			add_set(s, &c, sum, args, next, i);
	if (!c.sets.n)
		return;
	VEC_PUSH(log->a, &log->calls, c);
	log->current = log->calls.n;
}

/* ---- what is handed back ---- */

/* The member that a tensor is or was made a view of, plus 1; 0: none. */
static uint32_t member_below(const Sim *s, uint32_t tensor)
{
	uint32_t found = 0;
	for (uint32_t steps = 0; tensor && !found && steps < MAX_VIEWS; tensor = s->tensors.v[tensor].parent, steps++)
		found = map_get(&s->aot->member_of, tensor);
	return found;
}

static uint32_t set_of_member(const AotCall *c, uint32_t member)
{
	uint32_t k = 0;
	while (member >= c->sets.v[k].at + c->sets.v[k].n)
		k++;
	return k;
}

static bool same_layout(const AotLayout *a, const AotLayout *b)
{
	bool same = a->ndim == b->ndim && a->offset == b->offset;
	for (uint32_t d = 0; same && d < a->ndim; d++)
		same = a->size[d] == b->size[d] && (a->size[d] == 1 || a->stride[d] == b->stride[d]);
	return same;
}

static bool same_sizes(const AotLayout *a, const AotLayout *b)
{
	return a->ndim == b->ndim && memcmp(a->size, b->size, a->ndim * sizeof *a->size) == 0;
}

/* A tensor that lies as the base does, to take views of. */
static Ref base_tensor(Sim *s, const AotCall *c, const AotSet *set, Ref member)
{
	for (uint32_t i = set->at; i < set->at + set->n; i++) {
		const AotMember *m = &c->members.v[i];
		if (m->root != m->tensor)
			return s->tensors.v[m->root].self;
	}
	const AotLayout *flat = &set->base;
	Type type = {.kind = TK_TENSOR, .dtype = c->members.v[set->at].dtype, .has_shape = true, .has_stride = true, .ndim = 1};
	ExprId size = expr_int(s->t, flat->size[0]), stride = expr_int(s->t, 1);
	type.size = &size;
	type.stride = &stride;
	TypeId id = type_intern(s->t, &type);
	const SimStore *st = &s->stores.v[sim_tensor_of(s, member)->store];
	if (!st->n)
		return sim_view_placed(s, member, id, flat->size, flat->stride, 1, 0);
	uint32_t *all = NEW_N(s->scratch, uint32_t, st->n);
	for (uint32_t i = 0; i < st->n; i++)
		all[i] = i;
	return sim_view_of_store(s, member, id, all, st->n);
}

static AotReplay replayed(Sim *s, const AotCall *c, const AotSet *set, Ref member, Ref out, uint32_t output, AotReplayFn *replay, void *ctx)
{
	AotLayout want = aot_layout(sim_tensor_of(s, out));
	if (!set->base.known || !want.known)
		return REPLAY_UNSURE;
	Ref got = replay(ctx, output, base_tensor(s, c, set, member));
	if (!got || !sim_is_tensor(s, got) || !sim_tensor_of(s, got)->sized)
		return REPLAY_UNSURE;
	AotLayout is = aot_layout(sim_tensor_of(s, got));
	if (!same_sizes(&is, &want))
		return REPLAY_SHAPE;
	if (!is.known)
		return REPLAY_UNSURE;
	return same_layout(&is, &want) ? REPLAY_SAME : REPLAY_OTHER;
}

/* Several inputs may be one object in this run: that which the text names. */
static uint32_t returned_member(const Graph *g, const AotCall *c, const AotReturn *r)
{
	const Arg *a = &g->outputs.v[r->output].arg;
	const AotSet *set = &c->sets.v[r->set];
	for (uint32_t i = set->at; a->kind == AR_NODE && i < set->at + set->n; i++)
		if (g->inputs.v[c->members.v[i].input].i == a->u.node.i)
			return i;
	return r->member;
}

void aot_note_write(Sim *s, uint32_t tensor, bool no_grad, uint64_t need)
{
	AotCall *c = aot_current(s);
	uint32_t m = c ? member_below(s, tensor) : 0;
	if (!m)
		return;
	AotSet *set = &c->sets.v[set_of_member(c, m - 1)];
	set->no_grad |= no_grad;
	set->value_need |= need;
	if (need && !set->writer)
		set->writer = m;
}

void aot_note_read(Sim *s, uint32_t tensor, NodeId node)
{
	enum { CROSS_MOST = 64 };
	AotCall *c = aot_current(s);
	uint32_t m = c ? member_below(s, tensor) : 0;
	AotSet *set = m ? &c->sets.v[set_of_member(c, m - 1)] : NULL;
	if (set && set->writer && set->writer != m && set->cross.n < CROSS_MOST)
		VEC_PUSH(s->aot->a, &set->cross, node);
}

void aot_leave(Sim *s, const Graph *g, const Ref *args, const Ref *made, AotReplayFn *replay, void *ctx)
{
	AotCall *c = aot_current(s);
	for (uint32_t j = 0; c && j < g->outputs.n; j++) {
		uint32_t tensor = sim_is_tensor(s, made[j]) ? sim_obj(s, made[j])->tensor : 0, i = member_below(s, tensor);
		if (!i)
			continue;
		const AotMember *m = &c->members.v[i - 1];
		AotReturn r = {.output = j, .set = set_of_member(c, i - 1), .member = i - 1, .same = m->tensor == tensor};
		r.member = r.same ? returned_member(g, c, &r) : r.member;
		const AotSet *set = &c->sets.v[r.set];
		r.of_root = set->base.known && m->at.known && same_layout(&set->base, &m->at);
		if (!r.same && !r.of_root && set->merged != TRI_NO)
			r.replay = replayed(s, c, set, args[m->input], made[j], j, replay, ctx);
		VEC_PUSH(s->aot->a, &c->returns, r);
	}
	if (s->aot)
		s->aot->current = 0;
}
