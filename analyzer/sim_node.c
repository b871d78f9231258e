/* SPDX-License-Identifier: MIT
 * One node of a graph in a run: calls, attributes, hidden code. */
#include "sim_grad.h"
#include "sim_node.h"

Ref step_element(GraphRun *r, Ref list, const Arg *index)
{
	Sim *s = r->s;
	const HeapObj o = *sim_obj(s, list);
	TermId term;
	int64_t k;
	bool known;
	if ((o.kind != HK_TUPLE && o.kind != HK_LIST) || !step_number(r, index, &term, &k, &known) || !known)
		return 0;
	k += k < 0 ? o.items.n : 0;
	return k >= 0 && k < o.items.n ? o.items.v[k] : 0;
}

static bool has_unknown_effect(const GraphRun *r, const NodeWrite *w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (w[i].certainty == TRI_MAY)
			return true;
	return graph_node(r->g, r->node)->kind == NK_UNREAD;
}

static uint32_t result_count(const GraphRun *r)
{
	return r->nt->nelems[r->node.i];
}

static Ref results(GraphRun *r, const Fact *fact)
{
	Sim *s = r->s;
	const NodeFrom *from = &r->sum->from[r->node.i];
	const Type *t = type_get(s->t, r->nt->v[r->node.i]);
	if (t->kind == TK_SYM || t->kind == TK_OTHER || (fact && fact->kind == FK_SCALAR))
		return step_number_result(r);
	if (fact && (fact->kind == FK_EFFECT || (fact->outs.nalts && !fact->outs.n[0] && fact->outs.nalts == 1)) && !from->node.i &&
	    t->kind != TK_TENSOR)
		return sim_none(s);
	if (t->kind == TK_TENSOR)
		return step_result(r, from, -1);
	uint32_t n = result_count(r);
	if (!n && fact && fact->outs.nalts)
		n = fact->outs.n[0];
	if (n <= 1 && !(fact && fact->outs.nalts && (fact->outs.n[0] > 1 || fact->outs.member[0][0] == 'L')))
		return step_result(r, from, -1);
	if (n > 4096)
		n = 4096;
	Ref *v = NEW_N(s->scratch, Ref, n + 1);
	for (uint32_t i = 0; i < n; i++)
		v[i] = step_result(r, from, (int)i);
	return sim_list(s, HK_TUPLE, v, n);
}

static void hidden_node(GraphRun *r)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	Ref *args = NEW_N(s->scratch, Ref, n->nargs + 1);
	for (uint32_t i = 0; i < n->nargs; i++)
		args[i] = step_arg(r, &node_args(r->g, n)[i]);
	Ref v = sim_hidden(s, step_target(r, n), args, n->nargs);
	const Type *t = type_get(s->t, r->nt->v[r->node.i]);
	if (!sim_is_tensor(s, v) && t->kind == TK_TENSOR)
		v = sim_new_tensor(s, r->nt->v[r->node.i], NULL, step_mix(step_mix(r->site, r->node.i), 31));
	r->v[r->node.i] = v;
}

static void note_gradients(GraphRun *r, const PlannedWrite *plan, uint32_t n)
{
	Ref *targets = NEW_N(r->s->scratch, Ref, n + 1);
	uint32_t k = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!plan[i].metadata)
			targets[k++] = plan[i].target;
	grad_call(r, targets, k);
}

static void call_node(GraphRun *r)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	const Arg *a = node_args(r->g, n);
	uint32_t nw;
	const NodeWrite *w = step_writes(r, &nw);
	Ref out = 0;
	if (n->callee == CALLEE_OPERATOR && str_eq(step_target(r, n), S("getitem")) && n->nargs == 2 && a[0].kind == AR_NODE &&
	    r->v[a[0].u.node.i] && !sim_is_tensor(s, r->v[a[0].u.node.i])) {
		out = step_element(r, r->v[a[0].u.node.i], &a[1]);
		r->v[r->node.i] = out ? out : step_new(r, -1);
		return;
	}
	step_touch_args(r);
	if (step_body(r, &r->v[r->node.i]) || step_sizes(r, &r->v[r->node.i]))
		return;
	if (has_unknown_effect(r, w, nw)) {
		hidden_node(r);
		return;
	}
	PlannedWrite *plan = NEW_N(s->scratch, PlannedWrite, nw + 1);
	uint32_t np = 0;
	for (uint32_t i = 0; i < nw; i++) {
		Ref t = w[i].through.i ? step_source(r, w[i].through, -1) : 0;
		if (!t || !sim_is_tensor(s, t))
			continue;
		plan[np].target = t;
		plan[np].metadata = w[i].metadata;
		if (!w[i].metadata)
			step_plan(r, w[i].through, i, &plan[np]);
		np++;
	}
	const Fact *fact = n->callee == CALLEE_MODULE ? NULL : facts_find(s->f, (Callee)n->callee, step_target(r, n), r->g->torch);
	const NodeFrom *from = &r->sum->from[r->node.i];
	bool same = from->node.i && from->same_object && step_source(r, from->node, -1);
	if (!same || result_count(r))
		out = results(r, fact);
	for (uint32_t i = 0; i < np; i++)
		step_apply(r, &plan[i]);
	r->v[r->node.i] = out ? out : step_result(r, from, -1);
	if (s->aot)
		note_gradients(r, plan, np);
}

uint64_t step_source_key(Sim *s, Str name)
{
	Buf b = {.a = s->scratch};
	uint32_t i = str_starts(name, S("L_")) ? 2 : 0;
	for (; i < name.n; i++)
		if (name.p[i] != '_' || (b.n && b.p[b.n - 1] != '_'))
			buf_char(&b, name.p[i]);
	while (b.n && b.p[b.n - 1] == '_')
		b.n--;
	return 1ull << 40 | sym_intern(s->names, buf_str(&b)).i;
}

/* A parameter or buffer that the graph holds: one object for all graphs that name it. */
static void attr_node(GraphRun *r)
{
	Sim *s = r->s;
	const Node *n = graph_node(r->g, r->node);
	if (graph_child(r->g, n->target).i)
		return;
	s->attrs.a = s->a;
	Ref v = map_get(&s->attrs, n->target.i);
	if (!v) {
		Str path = step_target(r, n);
		uint64_t key = step_source_key(s, path);
		v = map_get(&s->attrs, key); /* an input of another graph */
		if (!v) {
			v = sim_root_tensor(s, step_tensor_type(s, r->nt->v[r->node.i]), hash_bytes(21, path.p, path.n));
			sim_obj(s, v)->name = n->target;
			sim_note_origin(s, v, path, true);
			VEC_PUSH(s->a, &s->roots, v);
			map_put(&s->attrs, key, v);
		}
		map_put(&s->attrs, n->target.i, v);
	}
	r->v[r->node.i] = v;
}

void step_node(GraphRun *r)
{
	uint32_t nw;
	switch ((NodeKind)graph_node(r->g, r->node)->kind) {
	case NK_GET_ATTR: attr_node(r); break;
	case NK_CALL: call_node(r); break;
	case NK_UNREAD:
		step_writes(r, &nw);
		hidden_node(r);
		break;
	default: break;
	}
}
