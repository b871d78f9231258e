/* SPDX-License-Identifier: MIT
 * GL802: ranks of one job that captured different graphs. */
#include "compare_graphs.h"

typedef struct Rank {
	uint64_t job;
	uint32_t number;
	bool doubtful;       /* two processes call themselves so */
	Sym process;
	VEC(GraphId) graphs; /* of Dynamo, in the order of the log */
} Rank;

typedef struct Ranks {
	const CheckCtx *c;
	VEC(Rank) v;
} Ranks;

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

/* The last number of "rank3" and "rank_3", and where it and what is made up behind it ("_1133unol") stand. */
static bool rank_in(Str text, uint32_t *number, uint32_t *at, uint32_t *end)
{
	bool found = false;
	for (uint32_t i = str_find(text, S("rank"), 0); i < text.n; i = str_find(text, S("rank"), i + 1)) {
		uint32_t from = i + 4 + (i + 4 < text.n && (text.p[i + 4] == '_' || text.p[i + 4] == '-')), to = from;
		while (to < text.n && is_digit(text.p[to]))
			to++;
		bool word = !i || !char_is_ident((unsigned char)text.p[i - 1]) || text.p[i - 1] == '_';
		if (!word || !str_to_u32(str_sub(text, from, to), number))
			continue;
		found = true;
		*at = from;
		while (to < text.n && char_is_ident((unsigned char)text.p[to]))
			to++;
		*end = to;
	}
	return found;
}

/* The job of a graph: its file, whatever rank that is named after. */
static bool rank_of(const CheckCtx *c, const Graph *g, uint32_t *number, uint64_t *job)
{
	Str path = source_get(c->src, g->file)->path;
	uint32_t in_path = 0, at = 0, end = 0, from, to;
	bool named = rank_in(path, &in_path, &at, &end), told = rank_in(sym_str(c->p->names, g->process), number, &from, &to);
	*job = hash_bytes(1, path.p, named ? at : path.n);
	if (named)
		*job = hash_bytes(*job, path.p + end, path.n - end);
	if (!told)
		*number = in_path;
	return told || named;
}

static Rank *rank_for(Ranks *r, Map *at, const Graph *g)
{
	uint32_t number;
	uint64_t job;
	if (!rank_of(r->c, g, &number, &job))
		return NULL;
	uint64_t key = hash_u64(job ^ hash_u64(number + 1)) | 1;
	uint32_t k = map_get(at, key);
	if (!k) {
		VEC_PUSH(r->c->scratch, &r->v, ((Rank){.job = job, .number = number, .process = g->process}));
		map_put(at, key, k = r->v.n);
	}
	Rank *rank = &r->v.v[k - 1];
	rank->doubtful |= rank->process.i != g->process.i;
	return rank;
}

static void collect(Ranks *r)
{
	Map at = {.a = r->c->scratch};
	for (uint32_t i = 1; i < r->c->p->graphs.n; i++) {
		const Graph *g = r->c->p->graphs.v[i];
		if (g->stage != STAGE_DYNAMO || g->parent.i || g->printing_of.i || g->incomplete || g->truncated)
			continue;
		Rank *rank = rank_for(r, &at, g);
		if (rank)
			VEC_PUSH(r->c->scratch, &rank->graphs, g->id);
	}
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	return hash_u64(h ^ (x + 0x9e3779b97f4a7c15u));
}

/* What a node computes from which nodes; devices, names of groups and numbers may belong to the rank. */
static uint64_t node_key(const CheckCtx *c, const Graph *g, const Node *n)
{
	Str op = n->kind == NK_CALL ? operator_short(c->p, n) : (Str){0};
	Str name = n->kind == NK_PLACEHOLDER ? sym_str(c->p->names, n->target) : (Str){0};
	uint64_t h = mix(mix(n->kind, hash_bytes(3, op.p, op.n)), hash_bytes(5, name.p, name.n));
	for (uint32_t i = 0; i < n->nargs; i++) {
		const Arg *a = &node_args(g, n)[i];
		h = mix(h, a->kind == AR_NODE ? (uint64_t)a->u.node.i << 1 | 1 : 2);
	}
	return h;
}

/* The first node in which two graphs differ; past the end of the shorter one. 0: they do not. */
static uint32_t first_difference(const CheckCtx *c, const Graph *a, const Graph *b)
{
	uint32_t n = a->nodes.n < b->nodes.n ? a->nodes.n : b->nodes.n;
	for (uint32_t i = 1; i < n; i++)
		if (node_key(c, a, &a->nodes.v[i]) != node_key(c, b, &b->nodes.v[i]))
			return i;
	return a->nodes.n != b->nodes.n ? n : 0;
}

static NodeId shown_node(const Graph *g, uint32_t at)
{
	return at < g->nodes.n && graph_node(g, (NodeId){at})->kind != NK_PLACEHOLDER ? (NodeId){at} : (NodeId){0};
}

static void report(const CheckCtx *c, const Rank *first, const Rank *other, const Graph *a, const Graph *b, uint32_t at)
{
	const Graph *g = b ? b : a;
	NodeId node = at ? shown_node(g, at) : (NodeId){0};
	Finding *f = check_finding(c, CHECK_GL802, SEV_WARNING, g, node);
	f->certainty = TRI_MUST;
	f->variant = !b ? S("fewer") : !a ? S("more") : (Str){0};
	diag_varf(c->d, f, S("what"), "rank %u", (unsigned)other->number);
	diag_varf(c->d, f, S("text"), "rank %u", (unsigned)first->number);
	if (b)
		check_step(c, f, ROLE_PLACE, b, node, "rank %u", (unsigned)other->number);
	if (a)
		check_step(c, f, ROLE_PLACE, a, at ? shown_node(a, at) : (NodeId){0}, "rank %u", (unsigned)first->number);
}

static void compare_ranks(const CheckCtx *c, const Rank *first, const Rank *other)
{
	uint32_t most = first->graphs.n > other->graphs.n ? first->graphs.n : other->graphs.n;
	for (uint32_t i = 0; i < most; i++) {
		const Graph *a = i < first->graphs.n ? graph_get(c->p, first->graphs.v[i]) : NULL;
		const Graph *b = i < other->graphs.n ? graph_get(c->p, other->graphs.v[i]) : NULL;
		uint32_t at = a && b ? first_difference(c, a, b) : 0;
		if (a && b && !at)
			continue;
		report(c, first, other, a, b, at);
		return;
	}
}

/* Each rank against the lowest of its job. */
void check_rank_divergence(const CheckCtx *c)
{
	Ranks r = {.c = c};
	Map lowest = {.a = c->scratch};
	collect(&r);
	for (uint32_t i = 0; i < r.v.n; i++) {
		uint32_t k = map_get(&lowest, r.v.v[i].job | 1);
		if (!k || r.v.v[i].number < r.v.v[k - 1].number)
			map_put(&lowest, r.v.v[i].job | 1, i + 1);
	}
	for (uint32_t i = 0; i < r.v.n; i++) {
		const Rank *other = &r.v.v[i], *first = &r.v.v[map_get(&lowest, other->job | 1) - 1];
		if (other != first && !first->doubtful && !other->doubtful)
			compare_ranks(c, first, other);
	}
}
