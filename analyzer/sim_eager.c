/* SPDX-License-Identifier: MIT
 * Single operators of a frame, as a graph of one node, and code that the dump does not show. */
#include "sim_node.h"

typedef struct Build {
	Sim *s;
	Graph *g;
	Ref *inputs;
	uint32_t n;
} Build;

enum { MAX_EAGER_INPUTS = 256 };

static Arg build_input(Build *b, Ref v, TypeId type)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->inputs[i] == v)
			return (Arg){.kind = AR_NODE, .u.node = b->g->inputs.v[i]};
	if (b->n == MAX_EAGER_INPUTS)
		return (Arg){.kind = AR_UNKNOWN};
	Node n = {.kind = NK_PLACEHOLDER, .flags = NF_TYPED, .type = type};
	n.name = n.target = sym_intern(b->s->names, str_printf(b->s->scratch, "x%u", b->n));
	NodeId id = graph_add_node(b->g, n, NULL, 0);
	VEC_PUSH(b->g->a, &b->g->inputs, id);
	b->inputs[b->n++] = v;
	return (Arg){.kind = AR_NODE, .u.node = id};
}

static Arg build_arg(Build *b, Ref v, uint32_t depth)
{
	Sim *s = b->s;
	const HeapObj o = *sim_obj(s, v);
	switch ((HeapKind)o.kind) {
	case HK_TENSOR: return build_input(b, v, sim_type(s, v));
	case HK_NUMBER: {
		const Term *t = term_get(s->terms, o.term);
		if (o.known)
			return (Arg){.kind = t->kind == TERM_NUM && t->cls == 'b' ? AR_BOOL : AR_INT, .u.num = o.num};
		if (t->kind == TERM_NUM)
			return (Arg){.kind = AR_FLOAT, .u.real = t->num};
		return build_input(b, v, type_intern(s->t, &(Type){.kind = TK_SYM}));
	}
	case HK_LIST:
	case HK_TUPLE:
	case HK_SLICE: {
		if (depth > 8)
			return (Arg){.kind = AR_UNKNOWN};
		Arg *kids = NEW_N(s->scratch, Arg, o.items.n + 3);
		for (uint32_t i = 0; i < o.items.n; i++)
			kids[i] = build_arg(b, o.items.v[i], depth + 1);
		return graph_compound(b->g, o.kind == HK_LIST ? AR_LIST : o.kind == HK_TUPLE ? AR_TUPLE : AR_SLICE, (Sym){0}, kids, o.items.n);
	}
	case HK_CONST: {
		Str t = sym_str(s->names, o.name);
		if (str_eq(t, S("None")))
			return (Arg){.kind = AR_NONE};
		if (str_eq(t, S("Ellipsis")))
			return (Arg){.kind = AR_ELLIPSIS};
		if (t.n >= 2 && (t.p[0] == '\'' || t.p[0] == '"'))
			return (Arg){.kind = AR_STR, .u.sym = sym_intern(s->names, str_sub(t, 1, t.n - 1))};
		return (Arg){.kind = AR_NAME, .u.sym = o.name};
	}
	case HK_NAME: return (Arg){.kind = AR_NAME, .u.sym = o.name};
	case HK_UNKNOWN:
	case HK_OBJECT: return build_input(b, v, (TypeId){0});
	default: return (Arg){.kind = AR_UNKNOWN};
	}
}

/* The sizes of a tensor that an eager operator made are those of its type; a computed type replaces none. */
Ref sim_operator(Sim *s, Callee callee, Str target, const Ref *args, const Sym *names, uint32_t n)
{
	ArenaMark mark = arena_mark(s->scratch);
	Program p = *s->p;
	Graph g = {.id = {1}, .a = s->scratch};
	Ref inputs[MAX_EAGER_INPUTS];
	Build b = {.s = s, .g = &g, .inputs = inputs};
	VEC_PUSH(s->scratch, &g.nodes, ((Node){0}));
	VEC_PUSH(s->scratch, &g.locs, ((SrcLoc){0}));
	Arg *a = NEW_N(s->scratch, Arg, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		a[i] = build_arg(&b, args[i], 0);
		a[i].key = names ? names[i] : (Sym){0};
	}
	Node node = {.kind = NK_CALL, .callee = (uint8_t)callee, .target = sym_intern(s->names, target)};
	node.name = node.target;
	NodeId id = graph_add_node(&g, node, a, n);
	Output out = {.arg = {.kind = AR_NODE, .u.node = id}};
	VEC_PUSH(s->scratch, &g.outputs, out);
	g.returns_bare = g.types_at_run = true;
	Graph *graphs[2] = {NULL, &g};
	p.graphs.v = graphs;
	p.graphs.n = p.graphs.cap = 2;
	NodeTypes nt = infer_types(&p, &g, s->t, s->f, s->shapes, g.torch, NULL, s->scratch);
	const NodeTypes *types[2] = {NULL, &nt};
	const Summary *summaries[2] = {NULL, NULL};
	AliasCtx ac = {.p = &p, .t = s->t, .f = s->f, .types = types, .summaries = summaries, .keep = s->scratch, .scratch = s->inner};
	Summary *sum = alias_graph(&ac, &g);
	Ref res = step_graph(s, &p, &g, &nt, sum, inputs, b.n, sim_site(s, hash_bytes(41, target.p, target.n)), true, 0);
	arena_rewind(s->scratch, mark);
	return res;
}

Ref sim_item(Sim *s, Ref tensor)
{
	SemTensor x = {0};
	GraphRun r = {.s = s};
	if (step_operand(&r, tensor, &x) && x.numel == 1) {
		SemCall c = {.terms = s->terms, .table = s->sem, .scratch = s->scratch};
		return sim_number(s, sem_item(&c, &x));
	}
	TermId content = sim_content(s, tensor);
	return sim_number(s, term_op(s->terms, sym_intern(s->names, S("item")), &content, 1, 0));
}

/* ---- hidden code ---- */

enum { MAX_HIDDEN = 4096 };

typedef struct Reachable {
	Ref v[MAX_HIDDEN];
	uint32_t n;
} Reachable;

/* Tensors within containers and objects, each once, in order. */
static void reachable(Sim *s, const Ref *args, uint32_t n, Reachable *out)
{
	VEC(Ref) todo = {0};
	Map seen = {.a = s->scratch};
	for (uint32_t i = n; i-- > 0;)
		VEC_PUSH(s->scratch, &todo, args[i]);
	while (todo.n && out->n < MAX_HIDDEN) {
		Ref v = todo.v[--todo.n];
		if (!v || map_get(&seen, v))
			continue;
		map_put(&seen, v, 1);
		HeapObj *o = sim_obj(s, v);
		if (o->kind == HK_TENSOR)
			out->v[out->n++] = v;
		for (uint32_t i = o->items.n; i-- > 0;)
			VEC_PUSH(s->scratch, &todo, o->items.v[i]);
		for (uint32_t i = o->attrs.n; i-- > 0;)
			VEC_PUSH(s->scratch, &todo, o->attrs.v[i].value);
		if (o->kind == HK_CELL || o->kind == HK_METHOD || o->kind == HK_FUNCTION || o->kind == HK_ITER) {
			VEC_PUSH(s->scratch, &todo, o->a);
			VEC_PUSH(s->scratch, &todo, o->b);
		}
	}
}

static void hidden_write(Sim *s, Ref v, uint64_t site, bool modifies)
{
	const TermId *e, zero = term_num(s->terms, 0, 'f');
	bool zeroes = s->assume == ASSUME_ZEROES;
	Sym op = sym_intern(s->names, S("hidden"));
	if (!sim_elements(s, v, &e)) {
		TermId c = sim_content(s, v);
		sim_write_whole(s, v, zeroes ? zero : modifies ? term_op(s->terms, op, &c, 1, site | 1) : term_fresh(s->terms, site));
		return;
	}
	uint32_t n = sim_tensor_of(s, v)->numel;
	TermId *out = NEW_N(s->scratch, TermId, n + 1);
	for (uint32_t k = 0; k < n; k++)
		out[k] = zeroes ? zero : modifies ? term_op(s->terms, op, &e[k], 1, step_mix(site, k) | 1) : term_fresh(s->terms, step_mix(site, k));
	sim_write_elements(s, v, NULL, n, out);
}

Ref sim_hidden(Sim *s, Str what, const Ref *args, uint32_t n)
{
	ArenaMark mark = arena_mark(s->scratch);
	Reachable *r = NEW(s->scratch, Reachable);
	uint64_t site = sim_site(s, hash_bytes(42, what.p, what.n));
	reachable(s, args, n, r);
	s->hidden_seen |= r->n != 0;
	bool reads = s->assume == ASSUME_READS || s->assume == ASSUME_MODIFIES || s->assume == ASSUME_ALL;
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t store = sim_tensor_of(s, r->v[i])->store;
		uint8_t side = s->stores.v[store].side;
		if (side != SIDE_NONE && s->touches.n < 4096 && s->assume != ASSUME_NOTHING) {
			SimTouch t = {.store = store, .write = s->assume != ASSUME_READS, .cut_side = side == SIDE_NEW, .where = s->here, .what = what};
			VEC_PUSH(s->a, &s->touches, t);
		}
		if (reads)
			VEC_PUSH(s->a, &s->printed, ((SimPrinted){sim_content(s, r->v[i])}));
	}
	for (uint32_t i = 0; i < r->n; i++) {
		if (s->assume == ASSUME_MODIFIES || s->assume == ASSUME_ALL)
			hidden_write(s, r->v[i], step_mix(site, i), true);
		else if (s->assume == ASSUME_OVERWRITES || s->assume == ASSUME_ZEROES)
			hidden_write(s, r->v[i], step_mix(site, i), false);
	}
	Ref first = r->n ? r->v[0] : 0;
	arena_rewind(s->scratch, mark);
	if (first && (s->assume == ASSUME_RETURNS || s->assume == ASSUME_ALL))
		return first;
	return sim_unknown(s, step_mix(site, 99));
}
