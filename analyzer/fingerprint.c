/* SPDX-License-Identifier: MIT */
#include "fingerprint.h"

/* Edges from a node up to which others have a part in its number. Far parts of a graph may change without making every
 * finding a new one; so far nodes of the same kind are told apart by what is around them. */
enum { ROUNDS = 4, TEXT_MOST = 200 };

/* Written out here, since numbers of older versions stand in baselines: base.c may change its own. */
static uint64_t mix(uint64_t h, uint64_t v)
{
	h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
	h ^= h >> 30;
	h *= 0xbf58476d1ce4e5b9u;
	h ^= h >> 27;
	h *= 0x94d049bb133111ebu;
	return h ^ h >> 31;
}

static uint64_t mix_text(uint64_t h, Str s)
{
	uint64_t f = 0xcbf29ce484222325u;
	for (uint32_t i = 0; i < s.n; i++)
		f = (f ^ (unsigned char)s.p[i]) * 0x100000001b3u;
	return mix(mix(h, s.n), f);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Text whose runs of digits count as one each. */
static uint64_t mix_shape(uint64_t h, Str s)
{
	uint64_t f = 0xcbf29ce484222325u;
	for (uint32_t i = 0; i < s.n && i < TEXT_MOST; i++) {
		bool digit = is_digit(s.p[i]);
		if (!digit || !i || !is_digit(s.p[i - 1]))
			f = (f ^ (digit ? '#' : (unsigned char)s.p[i])) * 0x100000001b3u;
	}
	return mix(h, f);
}

/* ---- the nodes of one graph ---- */

typedef struct GraphHash {
	uint64_t *node; /* by NodeId */
	uint64_t all;
} GraphHash;

typedef struct Walk {
	const FingerprintCtx *c;
	const Graph *g;
	const uint64_t *now;
	uint64_t *up, *down; /* by NodeId: sums over arguments and over users */
	uint32_t node;
	uint64_t position;
} Walk;

/* One operator whatever its spelling. */
static uint64_t operator_hash(const FingerprintCtx *c, const Graph *g, const Node *n)
{
	const Names *names = c->p->names;
	bool asked = c->torch.lo || c->torch.hi;
	Str target = sym_str(names, n->target);
	if (n->callee == CALLEE_MODULE)
		return mix(0, n->callee);
	const Fact *f = facts_find(c->f, (Callee)n->callee, target, asked ? c->torch : g->torch);
	return mix_text(1, f && f->aten.i ? sym_str(names, f->aten) : target);
}

static uint64_t first_hash(const FingerprintCtx *c, const Graph *g, const Node *n)
{
	uint64_t h = mix(n->kind, 0);
	return n->kind == NK_CALL ? mix(h, operator_hash(c, g, n)) : h;
}

/* Sizes and other numbers are a constant in one capture and a symbol in the next. */
static bool is_number(const FingerprintCtx *c, const Graph *g, NodeId id)
{
	const NodeTypes *nt = c->types[g->id.i];
	return nt && id.i < nt->n && type_get(c->t, nt->v[id.i])->kind == TK_SYM;
}

static void edge(void *ctx, NodeId id)
{
	Walk *w = ctx;
	if (is_number(w->c, w->g, id))
		return;
	w->up[w->node] += mix(w->now[id.i], w->position);
	w->down[id.i] += mix(w->now[w->node], ~w->position);
}

static void edges_of(Walk *w, uint32_t i)
{
	const Node *n = &w->g->nodes.v[i];
	w->node = i;
	for (uint32_t k = 0; k < n->nargs; k++) {
		const Arg *a = &node_args(w->g, n)[k];
		w->position = a->key.i ? mix_text(2, sym_str(w->c->p->names, a->key)) : k + 1;
		arg_each_node(w->g, a, edge, w);
	}
}

static void returned(void *ctx, NodeId id)
{
	((uint64_t *)ctx)[id.i] |= 1;
}

/* Each round takes in what is one edge further away. */
static GraphHash hash_graph(const FingerprintCtx *c, const Graph *g)
{
	uint32_t n = g->nodes.n;
	GraphHash out = {NEW_N(c->scratch, uint64_t, (size_t)n + 1), 0};
	Walk w = {.c = c, .g = g, .now = out.node};
	w.up = NEW_N(c->scratch, uint64_t, (size_t)n + 1);
	w.down = NEW_N(c->scratch, uint64_t, (size_t)n + 1);
	for (uint32_t j = 0; j < g->outputs.n; j++)
		arg_each_node(g, &g->outputs.v[j].arg, returned, out.node);
	for (uint32_t i = 1; i < n; i++)
		out.node[i] = mix(first_hash(c, g, &g->nodes.v[i]), out.node[i]);
	for (int round = 0; round < ROUNDS; round++) {
		memset(w.up, 0, n * sizeof *w.up);
		memset(w.down, 0, n * sizeof *w.down);
		for (uint32_t i = 1; i < n; i++)
			edges_of(&w, i);
		for (uint32_t i = 1; i < n; i++)
			out.node[i] = mix(mix(out.node[i], w.up[i]), w.down[i]);
	}
	for (uint32_t i = 1; i < n; i++)
		if (!is_number(c, g, (NodeId){i}))
			out.all += mix(out.node[i], 3);
	return out;
}

/* ---- findings ---- */

typedef struct Hashes {
	const FingerprintCtx *c;
	GraphHash **graph; /* by GraphId, made when needed */
} Hashes;

static const GraphHash *graph_hash(Hashes *h, const Graph *g)
{
	GraphHash **at = &h->graph[g->id.i];
	if (!*at) {
		*at = NEW(h->c->scratch, GraphHash);
		**at = hash_graph(h->c, g);
	}
	return *at;
}

/* The node whose statement stands at a place: nodes are in the order of the text. */
static uint32_t node_at(const Graph *g, Span at)
{
	uint32_t lo = 1, hi = g->nodes.n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (g->nodes.v[mid].at < at.at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return at.file.i == g->file.i && lo < g->nodes.n && g->nodes.v[lo].at == at.at ? lo : 0;
}

static uint64_t output_hash(const Graph *g, const GraphHash *gh, int32_t j)
{
	if (j < 0 || (uint32_t)j >= g->outputs.n)
		return 5;
	const Arg *a = &g->outputs.v[j].arg;
	return a->kind == AR_NODE ? mix(6, gh->node[a->u.node.i]) : 7;
}

static uint64_t input_hash(const Graph *g, const GraphHash *gh, int32_t i)
{
	return i >= 0 && (uint32_t)i < g->inputs.n ? mix(8, gh->node[g->inputs.v[i].i]) : 9;
}

static uint64_t in_graph(Hashes *h, const Graph *g, const Finding *f)
{
	const GraphHash *gh = graph_hash(h, g);
	uint32_t node = node_at(g, f->span);
	uint64_t v = mix(g->stage, f->attribute.n != 0);
	v = mix(v, output_hash(g, gh, f->output));
	v = mix(v, output_hash(g, gh, f->other_output));
	v = mix(v, input_hash(g, gh, f->input));
	if (node)
		return mix(v, gh->node[node]);
	return f->output < 0 && f->input < 0 ? mix(v, gh->all) : v;
}

static Str line_at(const Sources *s, Span at)
{
	if (!at.file.i)
		return (Str){0};
	Str text = source_get(s, at.file)->text;
	uint32_t end = at.at + TEXT_MOST < text.n ? at.at + TEXT_MOST : text.n;
	text = str_sub(text, at.at, end);
	return str_sub(text, 0, str_find_char(text, '\n', 0));
}

static uint64_t in_text(Hashes *h, const Finding *f)
{
	uint64_t v = mix_text(10, f->group);
	v = mix_shape(v, f->source.code);
	return mix_shape(v, f->source.code.n ? (Str){0} : line_at(h->c->sources, f->span));
}

static uint64_t finding_hash(Hashes *h, const Finding *f)
{
	const Graph *g = graph_get(h->c->p, f->graph_id);
	uint64_t v = mix_text(mix_text(0, f->rule), f->source.function);
	return mix(v, g ? in_graph(h, g, f) : in_text(h, f));
}

void fingerprint_findings(const FingerprintCtx *c, Diags *d)
{
	ArenaMark mark = arena_mark(c->scratch);
	Hashes h = {c, NEW_N(c->scratch, GraphHash *, c->p->graphs.n + 1)};
	for (uint32_t i = 0; i < d->v.n; i++)
		d->v.v[i].fingerprint = str_printf(d->a, "%016llx", (unsigned long long)finding_hash(&h, &d->v.v[i]));
	arena_rewind(c->scratch, mark);
}
