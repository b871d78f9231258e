/* SPDX-License-Identifier: MIT */
#include "compare_graphs.h"

static uint64_t mix(uint64_t h, uint64_t x)
{
	return hash_u64(h ^ (x + 0x9e3779b97f4a7c15u));
}

static uint64_t hash_str(uint64_t h, Str s)
{
	return mix(h, hash_bytes(7, s.p, s.n));
}

static bool is_number(ArgKind k)
{
	return k == AR_INT || k == AR_FLOAT;
}

/* ---- what a call is ---- */

/* One argument tree; operands by their classes, which is NULL where they do not count. Readers cap its depth. */
static uint64_t hash_arg(const Graph *g, const Arg *a, const uint64_t *cls, bool literals, uint64_t h)
{
	h = mix(h, (uint64_t)a->key.i << 8 | (is_number((ArgKind)a->kind) && !literals ? (uint64_t)AR_INT : a->kind));
	switch ((ArgKind)a->kind) {
	case AR_NODE: return mix(h, cls ? cls[a->u.node.i] : 0);
	case AR_BOOL: return mix(h, (uint64_t)a->u.num);
	case AR_INT: return literals ? mix(h, (uint64_t)a->u.num) : h;
	case AR_FLOAT: return literals ? mix(h, hash_bytes(1, &a->u.real, sizeof a->u.real)) : h;
	case AR_NONE:
	case AR_ELLIPSIS: return h;
	default: h = mix(h, a->u.sym.i);
	}
	for (uint32_t i = 0; i < a->n; i++)
		h = hash_arg(g, &arg_kids(g, a)[i], cls, literals, h);
	return mix(h, a->n);
}

static uint64_t hash_call(const CheckCtx *c, const Graph *g, const Node *n, const uint64_t *cls, bool literals)
{
	uint64_t h = hash_str(n->kind, n->kind == NK_CALL ? operator_short(c->p, n) : sym_str(c->p->names, n->target));
	h = mix(h, n->callee == CALLEE_MODULE);
	for (uint32_t i = 0; i < n->nargs; i++)
		h = hash_arg(g, &node_args(g, n)[i], cls, literals, h);
	return h | 1;
}

uint64_t graph_structure(const CheckCtx *c, const Graph *g, bool numbers)
{
	uint64_t h = mix(g->inputs.n, g->outputs.n), *order = NEW_N(c->scratch, uint64_t, g->nodes.n + 1);
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		order[i] = i;
		h = n->kind == NK_PLACEHOLDER ? mix(h, 3) : mix(h, hash_call(c, g, n, order, numbers));
	}
	for (uint32_t j = 0; j < g->outputs.n; j++)
		h = hash_arg(g, &g->outputs.v[j].arg, order, numbers, h);
	return h;
}

/* ---- matching ---- */

/* Nodes of a with one key, in order: b takes them one by one. */
typedef struct Shelf {
	Map first;       /* key -> NodeId of the first that is not taken */
	uint32_t *next;  /* by NodeId: the next with the same key */
} Shelf;

typedef struct Matcher {
	const CheckCtx *c;
	GraphMatch *m;
	Shelf exact, loose, named;
	Map seen_a, seen_b; /* key -> how often it was made */
} Matcher;

static void shelve(Shelf *s, uint64_t key, uint32_t id, Map *last)
{
	uint32_t before = map_get(last, key);
	if (before)
		s->next[before] = id;
	else
		map_put(&s->first, key, id);
	map_put(last, key, id);
}

/* The first with this key that has no partner yet. */
static NodeId take(Shelf *s, uint64_t key, const NodeId *b_of)
{
	uint32_t id = map_get(&s->first, key);
	while (id && b_of[id].i)
		id = s->next[id];
	if (id)
		map_put(&s->first, key, id);
	return (NodeId){id};
}

/* Two calls of new memory are two memories, however equal they are; so are values that are written. */
static bool is_own_memory(const CheckCtx *c, const CheckGraph *cg, const bool *written, uint32_t i)
{
	bool uninitialised;
	return cg->root[i].i == i && (written[i] || check_has_tag(cg, (NodeId){i}, FT_RNG) ||
	                              (graph_node(cg->g, (NodeId){i})->kind == NK_CALL &&
	                               check_is_allocation(operator_short(c->p, graph_node(cg->g, (NodeId){i})), &uninitialised)));
}

static bool *written_roots(const CheckGraph *cg, Arena *a)
{
	bool *written = NEW_N(a, bool, cg->g->nodes.n + 1);
	for (uint32_t i = 0; i < cg->s->nnode_writes; i++)
		if (cg->s->node_writes[i].through.i)
			written[cg->root[cg->s->node_writes[i].through.i].i] = true;
	return written;
}

/* The class of what a node gives, once its key is known. */
static uint64_t class_of(const CheckCtx *c, const CheckGraph *cg, const bool *written, uint32_t i, uint64_t key, const uint64_t *cls, Map *seen)
{
	const NodeFrom *from = &cg->s->from[i];
	if (from->node.i && from->node.i < i && from->same_object && from->shares == TRI_MUST && graph_node(cg->g, (NodeId){i})->kind == NK_CALL)
		return cls[from->node.i];
	if (!is_own_memory(c, cg, written, i))
		return key;
	uint32_t k = map_get(seen, key) + 1;
	map_put(seen, key, k);
	return mix(key, k);
}

static uint64_t name_key(const CheckCtx *c, const Node *n)
{
	return hash_str(hash_str(11, operator_short(c->p, n)), sym_str(c->p->names, n->name)) | 1;
}

static void prepare_a(Matcher *k, Arena *keep)
{
	GraphMatch *m = k->m;
	const CheckGraph *cg = m->a;
	const Graph *g = cg->g;
	Map last_exact = {.a = keep}, last_loose = {.a = keep}, last_named = {.a = keep};
	const bool *written = written_roots(cg, keep);
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		if (n->kind == NK_PLACEHOLDER)
			continue;
		uint64_t key = hash_call(k->c, g, n, m->a_class, true);
		m->a_class[i] = class_of(k->c, cg, written, i, key, m->a_class, &k->seen_a);
		shelve(&k->exact, key, i, &last_exact);
		if (n->kind != NK_CALL)
			continue;
		m->a_calls++;
		shelve(&k->loose, hash_call(k->c, g, n, m->a_class, false), i, &last_loose);
		shelve(&k->named, name_key(k->c, n), i, &last_named);
	}
}

static void match_b(Matcher *k, Arena *keep)
{
	GraphMatch *m = k->m;
	const CheckGraph *cg = m->b;
	const Graph *g = cg->g;
	const bool *written = written_roots(cg, keep);
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		if (n->kind == NK_PLACEHOLDER)
			continue;
		uint64_t key = hash_call(k->c, g, n, m->b_class, true);
		bool call = n->kind == NK_CALL;
		NodeId a = take(&k->exact, key, m->b_of);
		m->exact += call && a.i;
		m->b_exact[i] = a.i;
		if (!a.i && call)
			a = take(&k->loose, hash_call(k->c, g, n, m->b_class, false), m->b_of);
		if (!a.i && call && n->name.i)
			a = take(&k->named, name_key(k->c, n), m->b_of);
		m->b_class[i] = class_of(k->c, cg, written, i, key, m->b_class, &k->seen_b);
		m->b_calls += call;
		if (!a.i)
			continue;
		m->a_of[i] = a;
		m->b_of[a.i] = (NodeId){i};
		const NodeFrom *from = &cg->s->from[i];
		if (!(from->node.i && from->same_object && from->shares == TRI_MUST))
			m->b_class[i] = m->a_class[a.i]; /* what follows is compared as if they were equal */
	}
}

/* Inputs by name, the others by their order. */
static void match_inputs(Matcher *k, Arena *keep)
{
	GraphMatch *m = k->m;
	const Graph *a = m->a->g, *b = m->b->g;
	Map by_name = {.a = keep};
	for (uint32_t i = 0; i < a->inputs.n; i++) {
		NodeId id = a->inputs.v[i];
		m->a_class[id.i] = mix(101, i) | 1;
		map_put(&by_name, hash_str(5, check_name(k->c, a, id)) | 1, id.i);
	}
	for (uint32_t i = 0; i < b->inputs.n; i++) {
		NodeId id = b->inputs.v[i], other = {map_get(&by_name, hash_str(5, check_name(k->c, b, id)) | 1)};
		if (other.i && !m->b_of[other.i].i) {
			m->a_of[id.i] = other;
			m->b_of[other.i] = id;
		}
	}
	uint32_t next = 0;
	for (uint32_t i = 0; i < b->inputs.n; i++) {
		NodeId id = b->inputs.v[i];
		while (next < a->inputs.n && m->b_of[a->inputs.v[next].i].i)
			next++;
		if (!m->a_of[id.i].i && next < a->inputs.n) {
			m->a_of[id.i] = a->inputs.v[next];
			m->b_of[a->inputs.v[next].i] = id;
		}
		m->b_class[id.i] = m->a_of[id.i].i ? m->a_class[m->a_of[id.i].i] : mix(102, i) | 1;
	}
}

GraphMatch *graphs_match(const CheckCtx *c, const CheckGraph *a, const CheckGraph *b, Arena *keep)
{
	GraphMatch *m = NEW(keep, GraphMatch);
	uint32_t na = a->g->nodes.n + 1, nb = b->g->nodes.n + 1;
	*m = (GraphMatch){.a = a, .b = b, .b_of = NEW_N(keep, NodeId, na), .a_of = NEW_N(keep, NodeId, nb),
	                  .a_class = NEW_N(keep, uint64_t, na), .b_class = NEW_N(keep, uint64_t, nb), .b_exact = NEW_N(keep, bool, nb)};
	Matcher k = {.c = c, .m = m, .seen_a = {.a = keep}, .seen_b = {.a = keep}};
	Shelf *shelves[] = {&k.exact, &k.loose, &k.named};
	for (uint32_t i = 0; i < 3; i++)
		*shelves[i] = (Shelf){.first = {.a = keep}, .next = NEW_N(keep, uint32_t, na)};
	match_inputs(&k, keep);
	prepare_a(&k, keep);
	match_b(&k, keep);
	for (uint32_t i = 1; i < b->g->nodes.n; i++)
		m->near += b->g->nodes.v[i].kind == NK_CALL && m->a_of[i].i;
	m->near -= m->exact;
	return m;
}

CheckGraph *graphs_view(const CheckCtx *c, const Graph *g, Arena *keep)
{
	CheckCtx own = *c;
	const NodeTypes **types;
	const Summary **summaries;
	own.scratch = keep;
	if (c->summaries[g->id.i] && c->types[g->id.i])
		return check_graph_of(&own, g);
	bool asked = c->cfg->torch.lo || c->cfg->torch.hi;
	NodeTypes *nt = NEW(keep, NodeTypes);
	*nt = infer_types(c->p, g, c->t, c->f, c->shapes, asked ? c->cfg->torch : g->torch, c->types, keep);
	types = NEW_N(keep, const NodeTypes *, c->p->graphs.n);
	summaries = NEW_N(keep, const Summary *, c->p->graphs.n);
	memcpy(types, c->types, c->p->graphs.n * sizeof *types);
	memcpy(summaries, c->summaries, c->p->graphs.n * sizeof *summaries);
	types[g->id.i] = nt;
	AliasCtx alias = {.p = c->p, .t = c->t, .f = c->f, .torch = asked ? c->cfg->torch : g->torch, .types = types, .summaries = summaries,
	                  .keep = keep, .scratch = c->scratch};
	summaries[g->id.i] = alias_graph(&alias, g);
	own.types = types;
	own.summaries = summaries;
	return check_graph_of(&own, g);
}
