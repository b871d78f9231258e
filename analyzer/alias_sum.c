/* SPDX-License-Identifier: MIT
 * From the memory at the end of a graph to its summary: what outputs share, what was written, and why. */
#include "alias_flow.h"

Str alias_name(AliasKind k)
{
	static const Str words[] = {
#define ALIAS(id, word) STR_INIT(word),
#include "aliases.def"
#undef ALIAS
	};
	ASSERT(k < ALIAS_N);
	return words[k];
}

/* ---- chains ---- */

/* The chain as the nodes tell it: from `at` back over the arguments whose memory each result is in. False when it does not
 * end at `root`, because a value has several sources. */
static bool chain_by_nodes(Flow *f, NodeId at, NodeId root, Hop **out, uint32_t *n)
{
	VEC(Hop) up = {0};
	while (at.i) {
		const NodeFrom *w = &f->from[at.i];
		VEC_PUSH(f->scratch, &up, ((Hop){.node = at, .shares = w->node.i ? w->shares : TRI_MUST, .same_object = w->same_object, .why = w->why}));
		if (at.i == root.i)
			break;
		at = w->node;
	}
	if (!at.i || at.i != root.i)
		return false;
	*n = up.n;
	*out = NEW_N(f->keep, Hop, up.n);
	for (uint32_t i = 0; i < up.n; i++)
		(*out)[i] = up.v[up.n - 1 - i];
	return true;
}

/* Objects from `obj` up to the one that owns the storage, then over the may-edges to `target` (index into r), each
 * the way the value took. Written from the far end to the near one. */
static void chain_of(Flow *f, uint32_t obj, const Reached *r, uint32_t target, Hop **out, uint32_t *n)
{
	VEC(Hop) up = {0};
	VEC(uint32_t) path = {0};
	for (uint32_t i = target; i != UINT32_MAX && r->v.v[i].edge; i = r->v.v[i].from)
		VEC_PUSH(f->scratch, &path, r->v.v[i].edge);
	uint32_t at = obj, left = path.n, guard = 0;
	while (at && guard++ < 100000) {
		const Obj *o = &f->m.objs.v[at];
		bool crosses = !o->parent && left;
		const MayEdge *e = crosses ? &f->m.edges.v[path.v[left - 1]] : NULL;
		Hop h = {.node = o->node, .shares = crosses ? TRI_MAY : TRI_MUST, .why = crosses ? e->cond : o->why};
		VEC_PUSH(f->scratch, &up, h);
		if (crosses) {
			left--;
			at = e->via;
		} else {
			at = o->parent;
		}
	}
	*n = up.n;
	*out = NEW_N(f->keep, Hop, up.n ? up.n : 1);
	for (uint32_t i = 0; i < up.n; i++)
		(*out)[i] = up.v[up.n - 1 - i];
}

/* ---- outputs ---- */

typedef struct OutVal {
	uint32_t obj;
	uint32_t store;
	Reached reach;
	bool tensor, unknown;
} OutVal;

static OutVal out_value(Flow *f, const Arg *a)
{
	OutVal v = {0};
	if (a->kind == AR_UNKNOWN || (a->kind == AR_NAME && !str_eq(sym_str(f->c->p->names, a->u.sym), S("inf")))) {
		v.unknown = a->kind == AR_UNKNOWN;
		return v;
	}
	if (a->kind != AR_NODE)
		return v;
	Value val = f->values[a->u.node.i];
	if (val.kind == VALUE_MEMBERS && val.n) {
		for (uint32_t i = 0; i < val.n && !v.obj; i++)
			if (f->members.v[val.at + i].kind == VALUE_TENSOR)
				v.obj = f->members.v[val.at + i].obj;
	} else if (val.kind == VALUE_TENSOR || val.kind == VALUE_EACH) {
		v.obj = val.kind == VALUE_EACH ? flow_element(f, &val, 0).obj : val.obj;
	}
	v.tensor = v.obj != 0;
	if (v.tensor) {
		v.store = f->m.objs.v[v.obj].store;
		v.reach = memory_reach(&f->m, v.store, f->scratch);
	}
	return v;
}

enum {
	MAX_OF = 64,  /* partners listed; one proves the answer, thousands would make the report quadratic */
	REACHES = 8   /* storages per output that are compared with those of other outputs */
};

static void of_one(Flow *f, OutputSummary *s, uint32_t index)
{
	if (s->nof == MAX_OF)
		return;
	if (!s->of)
		s->of = NEW_N(f->keep, uint32_t, MAX_OF);
	s->of[s->nof++] = index;
}

static bool is_input_memory(const Flow *f, uint32_t store, uint32_t index)
{
	const Obj *in = &f->m.objs.v[f->input_obj[index]];
	return store == in->first_store || store == in->store;
}

/* Inputs whose memory the storage is, now or when the graph began. */
static void shared_inputs(Flow *f, uint32_t store, OutputSummary *s)
{
	const Store *st = &f->m.stores.v[store];
	if (st->kind == STORE_INPUT) {
		of_one(f, s, st->index);
		return;
	}
	for (uint32_t i = 0; i < f->moved.n && s->nof < MAX_OF; i++)
		if (is_input_memory(f, store, f->moved.v[i]))
			of_one(f, s, f->moved.v[i]);
}

/* Inputs that set_ gave another storage. */
static void moved_inputs(Flow *f)
{
	for (uint32_t i = 0; i < f->g->inputs.n; i++) {
		const Obj *o = &f->m.objs.v[f->input_obj[i]];
		if (o->store != o->first_store)
			VEC_PUSH(f->scratch, &f->moved, i);
	}
}

static void set_root(Flow *f, OutputSummary *s, const OutVal *v, uint32_t target)
{
	s->root = f->m.stores.v[v->reach.v.v[target].store].node;
	if (!chain_by_nodes(f, s->node, s->root, &s->chain, &s->nchain))
		chain_of(f, v->obj, &v->reach, target, &s->chain, &s->nchain);
	if (v->reach.v.v[target].edge)
		s->condition = memory_condition(&f->m, &v->reach, target, f->keep);
}

static bool must_words(Flow *f, const OutVal *v, OutputSummary *s)
{
	const Obj *o = &f->m.objs.v[v->obj];
	s->certainty = TRI_MUST;
	if (o->input) {
		s->kind = ALIAS_INPUT;
		of_one(f, s, o->input - 1);
	} else {
		shared_inputs(f, v->store, s);
		s->kind = ALIAS_VIEW_OF_INPUT;
		if (!s->nof && f->m.stores.v[v->store].kind == STORE_ATTR) {
			s->kind = ALIAS_VIEW_OF_ATTR;
			s->attribute = f->attrs.v[f->m.stores.v[v->store].index].path;
		} else if (!s->nof) {
			return false;
		}
	}
	set_root(f, s, v, 0);
	return true;
}

/* Outputs by what they are: chains of indices + 1, lowest first. */
typedef struct OutChains {
	Map of;
	uint32_t *next;
} OutChains;

static OutChains out_chains(Flow *f, uint32_t n)
{
	return (OutChains){{.a = f->scratch}, NEW_N(f->scratch, uint32_t, n + 1)};
}

static void out_chain_add(OutChains *c, uint32_t key, uint32_t k)
{
	c->next[k] = map_get(&c->of, key);
	map_put(&c->of, key, k + 1);
}

static void of_chain(Flow *f, OutputSummary *s, const OutChains *c, uint32_t key, uint32_t but)
{
	for (uint32_t j = map_get(&c->of, key); j && s->nof < MAX_OF; j = c->next[j - 1])
		if (j - 1 != but)
			of_one(f, s, j - 1);
}

static bool output_words(Flow *f, const OutVal *all, uint32_t k, OutputSummary *s, const OutChains *by_store,
                         const OutChains *by_obj)
{
	const OutVal *v = &all[k];
	of_chain(f, s, by_obj, v->obj, k);
	bool same = s->nof;
	if (!same)
		of_chain(f, s, by_store, v->store, k);
	if (!s->nof)
		return false;
	s->kind = same ? ALIAS_OUTPUT : ALIAS_VIEW_OF_OUTPUT;
	s->certainty = TRI_MUST;
	set_root(f, s, v, 0);
	return true;
}

/* Is the object perhaps that input itself? */
static bool may_be_input(Flow *f, uint32_t obj, uint32_t index)
{
	for (uint32_t guard = 0; obj && guard < 4096; guard++) {
		uint32_t next = 0;
		for (uint32_t e = f->m.objs.v[obj].edges; e; e = f->m.edges.v[e].next) {
			if (f->m.objs.v[f->m.edges.v[e].to].input == index + 1)
				return true;
			next = f->m.edges.v[e].to;
		}
		obj = next;
	}
	return false;
}

static bool maybe_words(Flow *f, const OutVal *v, OutputSummary *s)
{
	uint32_t found = 0;
	s->certainty = TRI_MAY;
	for (uint32_t i = 1; i < v->reach.v.n; i++) {
		uint32_t before = s->nof;
		shared_inputs(f, v->reach.v.v[i].store, s);
		if (s->nof > before && !found)
			found = i;
	}
	if (s->nof) {
		s->kind = may_be_input(f, v->obj, s->of[0]) ? ALIAS_INPUT : ALIAS_VIEW_OF_INPUT;
		set_root(f, s, v, found);
		return true;
	}
	for (uint32_t i = 1; i < v->reach.v.n; i++) {
		const Store *st = &f->m.stores.v[v->reach.v.v[i].store];
		if (st->kind != STORE_ATTR)
			continue;
		s->kind = ALIAS_VIEW_OF_ATTR;
		s->attribute = f->attrs.v[st->index].path;
		set_root(f, s, v, i);
		return true;
	}
	return false;
}

/* Another output that this one may share with: their reaches meet. The root of the meeting is told. */
static bool maybe_output_words(Flow *f, const OutVal *all, uint32_t k, OutputSummary *s, const Map *reached, const uint32_t *next)
{
	const OutVal *v = &all[k];
	for (uint32_t i = 0; i < v->reach.v.n; i++) {
		for (uint32_t j = map_get(reached, v->reach.v.v[i].store); j; j = next[j - 1]) {
			uint32_t other = (j - 1) / REACHES;
			if (other == k || all[other].store == v->store)
				continue;
			s->kind = ALIAS_VIEW_OF_OUTPUT;
			s->certainty = TRI_MAY;
			of_one(f, s, other);
			const OutVal *w = &all[other];
			set_root(f, s, v, i);
			for (uint32_t m = 0; m < w->reach.v.n && !s->condition.n; m++)
				if (w->reach.v.v[m].store == v->reach.v.v[i].store)
					s->condition = memory_condition(&f->m, &w->reach, m, f->keep);
			if (!s->condition.n)
				s->condition = S("an operator that copies only sometimes does not copy");
			return true;
		}
	}
	return false;
}

static void outputs(Flow *f)
{
	uint32_t n = f->g->outputs.n;
	OutVal *v = NEW_N(f->scratch, OutVal, n + 1);
	OutChains by_store = out_chains(f, n), by_obj = out_chains(f, n);
	Map reached = {.a = f->scratch};
	uint32_t *rnext = NEW_N(f->scratch, uint32_t, REACHES * (size_t)n + 1);
	f->s->outputs = NEW_N(f->keep, OutputSummary, n + 1);
	moved_inputs(f);
	for (uint32_t k = 0; k < n; k++)
		v[k] = out_value(f, &f->g->outputs.v[k].arg);
	for (uint32_t k = n; k-- > 0;) {
		if (!v[k].tensor)
			continue;
		out_chain_add(&by_store, v[k].store, k);
		out_chain_add(&by_obj, v[k].obj, k);
		for (uint32_t i = 0; i < v[k].reach.v.n && i < REACHES; i++) {
			uint32_t slot = k * REACHES + i, store = v[k].reach.v.v[i].store;
			rnext[slot] = map_get(&reached, store);
			map_put(&reached, store, slot + 1);
		}
	}
	for (uint32_t k = 0; k < n; k++) {
		OutputSummary *s = &f->s->outputs[k];
		const Arg *a = &f->g->outputs.v[k].arg;
		s->node = a->kind == AR_NODE ? a->u.node : (NodeId){0};
		s->certainty = TRI_MUST;
		if (!v[k].tensor) {
			s->kind = v[k].unknown ? ALIAS_UNKNOWN : ALIAS_NON_TENSOR;
			continue;
		}
		if (must_words(f, &v[k], s) || output_words(f, v, k, s, &by_store, &by_obj) || maybe_words(f, &v[k], s) ||
		    maybe_output_words(f, v, k, s, &reached, rnext))
			continue;
		s->certainty = TRI_MUST;
		s->kind = ALIAS_FRESH;
		for (uint32_t i = 0; i < v[k].reach.v.n; i++)
			if (f->m.stores.v[v[k].reach.v.v[i].store].kind == STORE_UNKNOWN || v[k].reach.cut)
				s->kind = ALIAS_UNKNOWN;
		set_root(f, s, &v[k], 0);
	}
}

/* ---- writes ---- */

static void add_write(Flow *f, InputSummary *in, const WriteEvent *w, const Reached *r, uint32_t i)
{
	Tri certainty = r->v.v[i].edge ? TRI_MAY : w->certainty;
	Write x = {.node = w->node, .certainty = certainty, .metadata = w->metadata};
	Str cond = r->v.v[i].edge ? memory_condition(&f->m, r, i, f->keep) : (Str){0};
	if (certainty == TRI_MAY)
		x.condition = cond.n && w->cond.n && !str_has(cond, w->cond)
		                  ? str_printf(f->keep, STR_FMT " and " STR_FMT, STR_ARG(cond), STR_ARG(w->cond))
		              : cond.n ? cond
		                       : w->cond;
	if (certainty == TRI_MAY && !x.condition.n)
		x.condition = S("a conditional operator on the way shares its argument's memory");
	Tri *sum = w->metadata ? &in->metadata : &in->data;
	bool first = *sum == TRI_NO || (*sum == TRI_MAY && certainty == TRI_MUST);
	*sum = tri_or(*sum, certainty);
	NodeId root = f->m.stores.v[r->v.v[i].store].node;
	if (first && !chain_by_nodes(f, w->through, root, &x.chain, &x.nchain))
		chain_of(f, w->obj, r, i, &x.chain, &x.nchain);
	/* all writes are kept as places; only those that settle the answer carry their chain */
	Write *v = NEW_N(f->keep, Write, (size_t)in->nwrites + 1);
	if (in->nwrites)
		memcpy(v, in->writes, in->nwrites * sizeof *v);
	v[in->nwrites++] = x;
	in->writes = v;
}

enum { MAX_WRITES_KEPT = 64 }; /* per input: later ones change no answer */

static void settle(Flow *f, InputSummary *in, const WriteEvent *w, const Reached *r, uint32_t i)
{
	Tri certainty = r->v.v[i].edge ? TRI_MAY : w->certainty;
	Tri *sum = w->metadata ? &in->metadata : &in->data;
	if (in->nwrites < MAX_WRITES_KEPT || certainty > *sum)
		add_write(f, in, w, r, i);
}

/* A metadata write is one to the object itself: only inputs that are that very object, or may be, are concerned. */
static void metadata_write(Flow *f, const WriteEvent *w)
{
	Reached none = {0};
	VEC_PUSH(f->scratch, &none.v, ((Reach){w->store, 0, UINT32_MAX}));
	const Obj *o = &f->m.objs.v[w->obj];
	if (o->input)
		settle(f, &f->s->inputs[o->input - 1], w, &none, 0);
	else if (o->attr)
		settle(f, &f->attrs.v[o->attr - 1].w, w, &none, 0);
	uint32_t obj = w->obj;
	for (uint32_t guard = 0; obj && guard < 64; guard++) {
		uint32_t next = 0;
		for (uint32_t e = f->m.objs.v[obj].edges; e; e = f->m.edges.v[e].next) {
			const Obj *p = &f->m.objs.v[f->m.edges.v[e].to];
			WriteEvent may = *w;
			may.certainty = TRI_MAY;
			may.cond = f->m.edges.v[e].cond;
			if (p->input)
				settle(f, &f->s->inputs[p->input - 1], &may, &none, 0);
			next = f->m.edges.v[e].to;
		}
		obj = next;
	}
}

static void data_write(Flow *f, const WriteEvent *w)
{
	Reached r = memory_reach(&f->m, w->store, f->scratch);
	for (uint32_t i = 0; i < r.v.n; i++) {
		const Store *st = &f->m.stores.v[r.v.v[i].store];
		if (st->kind == STORE_INPUT)
			settle(f, &f->s->inputs[st->index], w, &r, i);
		else if (st->kind == STORE_ATTR)
			settle(f, &f->attrs.v[st->index].w, w, &r, i);
	}
}

static void keep_writes(Flow *f)
{
	f->s->nnode_writes = f->m.writes.n;
	f->s->node_writes = NEW_N(f->keep, NodeWrite, f->m.writes.n + 1);
	for (uint32_t i = 0; i < f->m.writes.n; i++) {
		const WriteEvent *w = &f->m.writes.v[i];
		f->s->node_writes[i] = (NodeWrite){w->node, w->through, w->certainty, w->metadata};
	}
}

static void writes(Flow *f)
{
	keep_writes(f);
	f->s->inputs = NEW_N(f->keep, InputSummary, f->g->inputs.n + 1);
	for (uint32_t i = 0; i < f->g->inputs.n; i++)
		f->s->inputs[i].tensor = f->values[f->g->inputs.v[i].i].kind == VALUE_TENSOR;
	memory_ready(&f->m);
	for (uint32_t i = 0; i < f->m.writes.n; i++) {
		const WriteEvent *w = &f->m.writes.v[i];
		ArenaMark mark = arena_mark(f->scratch);
		if (w->metadata)
			metadata_write(f, w);
		else
			data_write(f, w);
		arena_rewind(f->scratch, mark);
	}
	/* an input whose storage set_ replaced is another tensor for the caller */
	for (uint32_t i = 0; i < f->g->inputs.n; i++) {
		const Obj *o = &f->m.objs.v[f->input_obj[i]];
		if (o->store != o->first_store)
			f->s->inputs[i].data = TRI_MUST;
	}
	f->s->nattrs = f->attrs.n;
	f->s->attrs = NEW_N(f->keep, AttrSummary, f->attrs.n + 1);
	if (f->attrs.n)
		memcpy(f->s->attrs, f->attrs.v, f->attrs.n * sizeof *f->s->attrs);
}

Summary *alias_graph(const AliasCtx *c, const Graph *g)
{
	ArenaMark mark = arena_mark(c->scratch);
	Flow f = {.c = c, .g = g, .nt = c->types[g->id.i], .keep = c->keep, .scratch = c->scratch};
	f.s = NEW(c->keep, Summary);
	memory_init(&f.m, c->scratch);
	f.values = NEW_N(c->scratch, Value, g->nodes.n);
	f.indexed = NEW_N(c->scratch, uint8_t, g->nodes.n);
	f.from = f.s->from = NEW_N(c->keep, NodeFrom, g->nodes.n);
	f.input_obj = NEW_N(c->scratch, uint32_t, g->inputs.n + 1);
	flow_run(&f);
	outputs(&f);
	writes(&f);
	arena_rewind(c->scratch, mark);
	return f.s;
}

/* ---- dump ---- */

static const char *const tri_words[] = {"no", "may", "must"};

static void dump_chain(const Program *p, const Graph *g, const Hop *h, uint32_t n, Buf *out)
{
	for (uint32_t i = 0; i < n; i++) {
		const Node *m = h[i].node.i ? graph_node(g, h[i].node) : NULL;
		buf_printf(out, "%s" STR_FMT "%s", i ? " > " : "", STR_ARG(m ? sym_str(p->names, m->name.i ? m->name : m->target) : S("?")),
		           h[i].shares == TRI_MAY ? "?" : "");
	}
}

static void dump_output(const Program *p, const Graph *g, const OutputSummary *o, uint32_t k, Buf *out)
{
	buf_printf(out, "  output %u ", k);
	if (o->node.i)
		buf_add(out, sym_str(p->names, graph_node(g, o->node)->name));
	buf_printf(out, ": %s" STR_FMT, o->certainty == TRI_MAY ? "maybe_" : "", STR_ARG(alias_name(o->kind)));
	for (uint32_t i = 0; i < o->nof; i++)
		buf_printf(out, "%s%u", i ? "," : " of ", o->of[i]);
	if (o->attribute.i)
		buf_printf(out, " self." STR_FMT, STR_ARG(sym_str(p->names, o->attribute)));
	if (o->condition.n)
		buf_printf(out, " if " STR_FMT, STR_ARG(o->condition));
	if (o->kind != ALIAS_FRESH && o->nchain > 1) {
		buf_add(out, S(" by "));
		dump_chain(p, g, o->chain, o->nchain, out);
	}
	buf_char(out, '\n');
}

static void dump_written(const Program *p, const Graph *g, const InputSummary *in, Buf *out)
{
	buf_printf(out, " data=%s metadata=%s", tri_words[in->data], tri_words[in->metadata]);
	for (uint32_t i = 0; i < in->nwrites; i++) {
		const Write *w = &in->writes[i];
		const Node *n = graph_node(g, w->node);
		buf_printf(out, "%s" STR_FMT "%s", i ? ", " : " by ", STR_ARG(sym_str(p->names, n->name.i ? n->name : n->target)),
		           w->certainty == TRI_MAY ? "?" : "");
		if (w->nchain > 1) {
			buf_add(out, S(" ("));
			dump_chain(p, g, w->chain, w->nchain, out);
			buf_char(out, ')');
		}
	}
	buf_char(out, '\n');
}

void alias_dump(const Program *p, const Graph *g, const Summary *s, Buf *out)
{
	buf_printf(out, "alias %u " STR_FMT "\n", g->id.i, STR_ARG(sym_str(p->names, g->name)));
	for (uint32_t k = 0; k < g->outputs.n; k++)
		dump_output(p, g, &s->outputs[k], k, out);
	for (uint32_t i = 0; i < g->inputs.n; i++) {
		const InputSummary *in = &s->inputs[i];
		if (in->data == TRI_NO && in->metadata == TRI_NO)
			continue;
		buf_printf(out, "  input %u " STR_FMT ":", i, STR_ARG(sym_str(p->names, graph_node(g, g->inputs.v[i])->name)));
		dump_written(p, g, in, out);
	}
	for (uint32_t i = 0; i < s->nattrs; i++) {
		if (s->attrs[i].w.data == TRI_NO && s->attrs[i].w.metadata == TRI_NO)
			continue;
		buf_printf(out, "  attribute self." STR_FMT ":", STR_ARG(sym_str(p->names, s->attrs[i].path)));
		dump_written(p, g, &s->attrs[i].w, out);
	}
	for (uint32_t i = 0; i < s->notes.n; i++) {
		const LocalNote *n = &s->notes.v[i];
		buf_printf(out, "  " STR_FMT " %%" STR_FMT ": " STR_FMT "\n", STR_ARG(n->rule),
		           STR_ARG(sym_str(p->names, graph_node(g, n->node)->name)), STR_ARG(n->text));
	}
}
