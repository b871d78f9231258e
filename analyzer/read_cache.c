/* SPDX-License-Identifier: MIT */
#include "read_cache.h"

#include <stdlib.h>

#include "bytecode.h"

typedef struct Key {
	uint64_t a, b;
} Key;

/* What one artifact holds, as if its file held nothing else: graphs are numbered from 1. */
typedef struct Entry {
	Key key;
	Arena a;
	Program program;
	Diags diags;
	AotMetas metas;
	uint32_t base;     /* where the artifact stood */
	uint32_t last_run; /* that used it */
	bool whole;        /* reading came to its end */
	uint32_t next;     /* entry with the same hash, plus 1; also chains the free ones */
} Entry;

struct ReadCache {
	Arena *a;
	Budget *budget;
	VEC(Entry) v;
	Arena index;       /* of by_key */
	Map by_key;        /* low half of the key -> first entry, plus 1 */
	uint32_t free;     /* first free entry, plus 1 */
	uint32_t run, finished, before; /* numbers of this run, the last finished one and the one before it */
	uint32_t read, asked;
};

ReadCache *read_cache_new(Arena *a, Budget *budget)
{
	ReadCache *c = NEW(a, ReadCache);
	c->a = a;
	c->budget = budget;
	c->index = arena_new(budget);
	c->by_key.a = &c->index;
	return c;
}

void read_cache_free(ReadCache *c)
{
	for (uint32_t i = 0; i < c->v.n; i++)
		arena_free(&c->v.v[i].a);
	arena_free(&c->index);
	*c = (ReadCache){.a = c->a, .budget = c->budget};
}

static bool is_used(const ReadCache *c, const Entry *e)
{
	return e->whole && (e->last_run == c->run || e->last_run == c->finished || e->last_run == c->before);
}

static void sweep(ReadCache *c)
{
	arena_free(&c->index);
	c->by_key = (Map){.a = &c->index};
	c->free = 0;
	for (uint32_t i = 0; i < c->v.n; i++) {
		Entry *e = &c->v.v[i];
		if (is_used(c, e)) {
			e->next = map_get(&c->by_key, e->key.a);
			map_put(&c->by_key, e->key.a, i + 1);
			continue;
		}
		arena_free(&e->a);
		*e = (Entry){.next = c->free};
		c->free = i + 1;
	}
}

void read_cache_begin(ReadCache *c)
{
	c->run++;
	c->read = c->asked = 0;
}

void read_cache_finish(ReadCache *c)
{
	uint32_t unused = 0;
	c->before = c->finished;
	c->finished = c->run;
	for (uint32_t i = 0; i < c->v.n; i++)
		unused += c->v.v[i].a.head && !is_used(c, &c->v.v[i]);
	if (unused > 16 + c->v.n / 8)
		sweep(c);
}

void read_cache_counts(const ReadCache *c, uint32_t *read, uint32_t *asked)
{
	*read = c->read;
	*asked = c->asked;
}

/* ---- keys ---- */

static void mix(Key *k, const void *p, size_t n)
{
	k->a = hash_bytes(k->a, p, n);
	k->b = hash_bytes(k->b + 0x9e3779b97f4a7c15u, p, n);
}

static void mix_u64(Key *k, uint64_t x)
{
	mix(k, &x, sizeof x);
}

static void mix_str(Key *k, Str s)
{
	mix_u64(k, s.n);
	if (s.n)
		mix(k, s.p, s.n);
}

/* All that readers see of an artifact, with places counted from its own. */
static Key key_of(const Artifact *art, const Sources *sources)
{
	Key k = {0x6c696e74u, 0x67726170u};
	Str text = source_get(sources, art->file)->text;
	const Str strings[] = {art->name, art->alias, art->name_line, art->tag, art->compile_id, art->process, art->code_file};
	for (uint32_t i = 0; i < sizeof strings / sizeof *strings; i++)
		mix_str(&k, strings[i]);
	mix_u64(&k, (uint64_t)art->kind << 32 | art->attempt);
	mix_u64(&k, (uint64_t)art->code_line << 32 | art->aot_id);
	mix_u64(&k, (uint64_t)art->torch.lo << 32 | art->torch.hi);
	mix_u64(&k, (uint64_t)art->prefix << 32 | (art->end - art->at));
	mix_u64(&k, (uint64_t)art->open_end | (uint64_t)art->torn_end << 1 | (uint64_t)art->cut_head << 2 |
	                (uint64_t)art->flat << 3);
	for (uint32_t i = 0; i < art->npieces; i++) {
		const Piece *p = &art->pieces[i];
		mix_u64(&k, (uint64_t)(uint32_t)(p->src - art->at) << 32 | (uint32_t)p->n << 1 | p->joins);
		mix(&k, text.p + p->src, p->n);
	}
	k.a |= 1;
	return k;
}

/* ---- entries ---- */

static Entry *find(ReadCache *c, Key k)
{
	for (uint32_t i = map_get(&c->by_key, k.a); i; i = c->v.v[i - 1].next) {
		Entry *e = &c->v.v[i - 1];
		if (e->whole && e->key.a == k.a && e->key.b == k.b)
			return e;
	}
	return NULL;
}

static Entry *add(ReadCache *c, Key k)
{
	uint32_t i = c->free;
	if (i) {
		c->free = c->v.v[i - 1].next;
	} else {
		VEC_PUSH(c->a, &c->v, ((Entry){0}));
		i = c->v.n;
	}
	Entry *e = &c->v.v[i - 1];
	*e = (Entry){.key = k, .a = arena_new(c->budget), .next = map_get(&c->by_key, k.a)};
	map_put(&c->by_key, k.a, i);
	return e;
}

typedef void ReadFn(void *ctx, Reader *r, AotMetas *metas, ArtifactId id);

/* Reads into the entry alone. Entries stay where they are meanwhile: a reader knows nothing of the cache. */
static void fill(Entry *e, Reader *r, ArtifactId id, const Artifact *art, ReadFn *read, void *ctx)
{
	Program *program = r->program;
	Diags *diags = r->diags;
	Arena *keep = r->keep;
	program_init(&e->program, &e->a, program->names);
	diags_init(&e->diags, &e->a);
	e->base = art->at;
	r->program = &e->program;
	r->diags = &e->diags;
	r->keep = &e->a;
	read(ctx, r, &e->metas, id);
	r->program = program;
	r->diags = diags;
	r->keep = keep;
	e->whole = true;
}

/* ---- copies ---- */

typedef struct Move {
	Reader *r;
	const Artifact *art;
	ArtifactId id;
	int64_t shift;
	uint32_t graphs; /* added to the number of a graph */
} Move;

static uint32_t moved(const Move *m, uint32_t at)
{
	return (uint32_t)(at + m->shift);
}

static GraphId graph_moved(const Move *m, GraphId g)
{
	return (GraphId){g.i ? g.i + m->graphs : 0};
}

static void move_nodes(const Move *m, Graph *g, const Graph *from)
{
	g->nodes.v = NEW_N(m->r->keep, Node, g->nodes.n);
	memcpy(g->nodes.v, from->nodes.v, g->nodes.n * sizeof *g->nodes.v);
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		g->nodes.v[i].at = moved(m, g->nodes.v[i].at);
		g->nodes.v[i].end = moved(m, g->nodes.v[i].end);
	}
	g->nodes.cap = g->nodes.n;
}

static void move_outputs(const Move *m, Graph *g, const Graph *from)
{
	if (!g->outputs.n)
		return;
	g->outputs.v = NEW_N(m->r->keep, Output, g->outputs.n);
	memcpy(g->outputs.v, from->outputs.v, g->outputs.n * sizeof *g->outputs.v);
	for (uint32_t i = 0; i < g->outputs.n; i++) {
		g->outputs.v[i].at = moved(m, g->outputs.v[i].at);
		g->outputs.v[i].end = moved(m, g->outputs.v[i].end);
	}
	g->outputs.cap = g->outputs.n;
}

static void move_locs(const Move *m, Graph *g, const Graph *from)
{
	if (!g->locs.n)
		return;
	g->locs.v = NEW_N(m->r->keep, SrcLoc, g->locs.n);
	memcpy(g->locs.v, from->locs.v, g->locs.n * sizeof *g->locs.v);
	for (uint32_t i = 0; i < g->locs.n; i++)
		if (g->locs.v[i].code.file.i)
			g->locs.v[i].code = (Span){m->art->file, moved(m, g->locs.v[i].code.at), moved(m, g->locs.v[i].code.end)};
	g->locs.cap = g->locs.n;
}

/* Arguments, inputs and the map of children hold no places and are shared with the entry: nobody changes them after reading. */
static void add_graph(const Move *m, const Graph *from)
{
	Graph *g = graph_add(m->r->program, m->r->keep);
	GraphId id = g->id;
	Arena *a = g->a;
	*g = *from;
	g->a = a;
	g->id = id;
	g->artifact = m->id;
	g->file = m->art->file;
	g->unit = m->art->unit;
	g->at = moved(m, from->at);
	g->end = moved(m, from->end);
	g->parent = graph_moved(m, from->parent);
	g->printing_of = graph_moved(m, from->printing_of);
	g->of = graph_moved(m, from->of);
	move_nodes(m, g, from);
	move_outputs(m, g, from);
	move_locs(m, g, from);
	if (g->children.n) {
		g->children.v = NEW_N(m->r->keep, Child, g->children.n);
		g->children.cap = g->children.n;
		for (uint32_t i = 0; i < g->children.n; i++)
			g->children.v[i] = (Child){from->children.v[i].attr, graph_moved(m, from->children.v[i].graph)};
	}
}

static Code *copy_code(const Move *m, const Code *from)
{
	if (!from)
		return NULL;
	Code *c = NEW(m->r->keep, Code);
	*c = *from;
	c->a = m->r->keep;
	c->file = m->art->file;
	c->places = NEW_N(m->r->keep, InsPlace, c->n);
	for (uint32_t i = 0; i < c->n; i++)
		c->places[i] = (InsPlace){moved(m, from->places[i].at), moved(m, from->places[i].end)};
	return c;
}

static void add_frame(const Move *m, const Frame *from)
{
	Frame f = *from;
	f.dump = m->art->file;
	f.unit = m->art->unit;
	f.artifact = m->id;
	f.at = moved(m, from->at);
	f.end = moved(m, from->end);
	f.code = copy_code(m, from->code);
	VEC_PUSH(m->r->program->a, &m->r->program->frames, f);
}

static void add_meta(const Move *m, AotMetas *metas, const AotMeta *from)
{
	AotMeta meta = *from;
	meta.artifact = m->id;
	meta.span = (Span){m->art->file, moved(m, from->span.at), moved(m, from->span.end)};
	meta.unit = m->art->unit;
	meta.compile_id = m->art->compile_id; /* these live with the artifacts of a run */
	meta.process = m->art->process;
	meta.order = m->art->order;
	VEC_PUSH(m->r->keep, metas, meta);
}

static void replay(const Entry *e, Reader *r, AotMetas *metas, ArtifactId id, const Artifact *art)
{
	Program *p = r->program;
	Move m = {r, art, id, (int64_t)art->at - e->base, p->graphs.n - 1};
	for (uint32_t i = 1; i < e->program.graphs.n; i++)
		add_graph(&m, e->program.graphs.v[i]);
	for (uint32_t i = 0; i < e->program.frames.n; i++)
		add_frame(&m, &e->program.frames.v[i]);
	for (uint32_t i = 0; i < e->program.modules.n; i++) {
		ModuleClass c = e->program.modules.v[i];
		c.file = art->file;
		c.artifact = id;
		VEC_PUSH(p->a, &p->modules, c);
	}
	for (uint32_t i = 0; i < e->metas.n; i++)
		add_meta(&m, metas, &e->metas.v[i]);
	diag_replay(r->diags, &e->diags, art->file, m.shift);
}

bool read_cache_artifact(ReadCache *c, Reader *r, AotMetas *metas, ArtifactId id, const Artifact *art, const Sources *sources,
                         ReadFn *read, void *ctx)
{
	Key k = key_of(art, sources);
	Entry *e = find(c, k);
	bool fresh = !e;
	c->asked++;
	if (fresh) {
		c->read++;
		e = add(c, k);
		fill(e, r, id, art, read, ctx);
	}
	e->last_run = c->run;
	replay(e, r, metas, id, art);
	return fresh;
}
