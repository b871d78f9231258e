/* SPDX-License-Identifier: MIT */
#include "link_places.h"

enum { NAME_MOST = 1 << 12, SAME_NAMES_MOST = 64 };

static uint64_t key_of(FileId unit, Str process, Str compile_id, uint32_t attempt)
{
	uint64_t h = hash_bytes(unit.i, process.p, process.n);
	return hash_u64(hash_bytes(h, compile_id.p, compile_id.n) + attempt) | 1;
}

static uint64_t key_of_tensor(const CapturedTensor *t)
{
	return key_of(t->id.unit, t->id.process, t->id.compile_id, t->id.attempt);
}

/* L['self']._modules['lin'] is the placeholder L_self_modules_lin_: whatever is no letter or digit becomes one
 * underscore; letters are those of ASCII. */
static Str placeholder_of(Str source, Arena *a)
{
	Buf b = {.a = a};
	bool gap = false;
	for (uint32_t i = 0; i < source.n && i < NAME_MOST; i++) {
		char c = source.p[i];
		bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (word || !gap)
			buf_char(&b, word ? c : '_');
		gap = !word;
	}
	return buf_str(&b);
}

typedef struct Places {
	Program *p;
	const Types *t;
	Graph *g;
	Map inputs;   /* Sym of a placeholder's target -> its index, plus 1 */
	Map storages; /* describer and storage -> number */
	uint32_t nstorages;
	Arena *scratch;
} Places;

static void index_inputs(Places *l)
{
	l->inputs = (Map){.a = l->scratch};
	l->storages = (Map){.a = l->scratch};
	l->nstorages = 0;
	for (uint32_t i = l->g->inputs.n; i-- > 0;)
		map_put(&l->inputs, graph_node(l->g, l->g->inputs.v[i])->target.i, i + 1);
}

static bool is_placed(const Graph *g, uint32_t i)
{
	return i < g->places.n && g->places.v[i].storage;
}

/* Sources that are mangled to one name are told apart by _1, _2 ... in the order in which they came. */
static uint32_t input_of(Places *l, Str source)
{
	Str name = placeholder_of(source, l->scratch);
	for (uint32_t k = 0; k < SAME_NAMES_MOST; k++) {
		Str with = k ? str_printf(l->scratch, STR_FMT "_%u", STR_ARG(name), k) : name;
		Sym s = sym_find(l->p->names, with);
		uint32_t i = sym_none(s) ? 0 : map_get(&l->inputs, s.i);
		if (!i || !is_placed(l->g, i - 1))
			return i;
	}
	return 0;
}

static uint32_t storage_of(Places *l, const CapturedTensor *t)
{
	uint64_t key = ((uint64_t)t->describer << 32 | t->storage) + 1;
	uint32_t n = t->storage ? map_get(&l->storages, key) : 0;
	if (t->storage && !n)
		map_put(&l->storages, key, n = ++l->nstorages);
	return n;
}

static void put(Places *l, uint32_t i, const CapturedTensor *t)
{
	Graph *g = l->g;
	while (g->places.n < g->inputs.n)
		VEC_PUSH(g->a, &g->places, ((InputPlace){0}));
	g->places.v[i] = (InputPlace){
		.storage = storage_of(l, t),
		.ndim = t->ndim,
		.size = t->size,
		.stride = t->stride,
		.offset = t->offset,
		.bytes = dtype_bytes(dtype_parse(t->dtype)),
		.said = t->id.at,
	};
}

static void place(Places *l, const CapturedTensor *t)
{
	uint32_t i = t->source.n ? input_of(l, t->source) : 0;
	if (i)
		put(l, i - 1, t);
}

/* ---- bases ---- */

static bool equals(const Places *l, const ExprId *printed, const int64_t *said, uint32_t n)
{
	int64_t v;
	for (uint32_t i = 0; i < n; i++)
		if (!expr_value(l->t, printed[i], &v) || v != said[i])
			return false;
	return true;
}

static bool looks_like(const Places *l, const Type *type, const CapturedTensor *t)
{
	return type->kind == TK_TENSOR && type->has_shape && type->has_stride && t->size && type->ndim == t->ndim &&
	       dtype_parse(t->dtype) == type->dtype && equals(l, type->size, t->size, t->ndim) &&
	       equals(l, type->stride, t->stride, t->ndim);
}

/* A tensor that was described as the base of a view before it became an input itself gets no source: it is the only one
 * without that looks like the input. */
static void place_base(Places *l, uint32_t i, uint32_t first, const uint32_t *next, const CapturedTensor *tensors)
{
	const Type *type = type_get(l->t, graph_node(l->g, l->g->inputs.v[i])->type);
	const CapturedTensor *found = NULL;
	for (uint32_t k = first; k; k = next[k - 1]) {
		const CapturedTensor *t = &tensors[k - 1];
		if (t->source.n || !looks_like(l, type, t))
			continue;
		if (found && (found->describer != t->describer || found->storage != t->storage || found->offset != t->offset))
			return;
		found = t;
	}
	if (found)
		put(l, i, found);
}

/* Tensors of one compilation, in order: `first` and those that follow it in `next`, all plus 1. */
static void place_all(Places *l, uint32_t first, const uint32_t *next, const CapturedTensor *tensors)
{
	enum { WORK_MOST = 1 << 22 };
	uint32_t count = 0, missing = 0;
	index_inputs(l);
	for (uint32_t k = first; k; k = next[k - 1], count++)
		place(l, &tensors[k - 1]);
	for (uint32_t i = 0; i < l->g->inputs.n; i++)
		missing += !is_placed(l->g, i);
	if ((uint64_t)count * missing > WORK_MOST)
		return;
	for (uint32_t i = 0; i < l->g->inputs.n; i++)
		if (!is_placed(l->g, i))
			place_base(l, i, first, next, tensors);
}

/* ---- wrappers ---- */

/* Numbers of "[1, 2]", which are indices of inputs. */
static void share(Graph *g, Str list, uint32_t storage, Span said)
{
	Str number;
	while (str_cut(&list, ',', &number)) {
		uint32_t i;
		if (!str_to_u32(str_trim(number), &i) || i >= g->inputs.n || g->places.v[i].storage)
			continue;
		g->places.v[i].storage = storage;
		g->places.v[i].said = said;
	}
}

/* Inputs in one storage, one of them written, were made views of one base, by code that names them (2.13):
 *  if any(args[_i]._base is not None for _i in [1, 2]):
 * Nothing is said of the others, which may share too. */
static void read_wrapper(Graph *g, const Artifact *art, const Sources *sources)
{
	static const Str head = STR_INIT("if any(args[_i]._base is not None for _i in [");
	Str text = source_get(sources, art->file)->text;
	uint32_t storage = 0;
	for (uint32_t k = 0; k < art->npieces; k++) {
		const Piece *p = &art->pieces[k];
		Str line = str_sub(text, p->src, p->src + p->n);
		uint32_t at = str_find(line, head, 0) + head.n;
		if (at >= line.n)
			continue;
		while (g->places.n < g->inputs.n)
			VEC_PUSH(g->a, &g->places, ((InputPlace){0}));
		share(g, str_sub(line, at, str_find_char(line, ']', at)), ++storage, (Span){art->file, p->src, p->src + p->n});
	}
}

static void read_wrappers(Program *p, const Artifacts *arts, const Sources *sources, Arena *scratch)
{
	Map graphs = {.a = scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (g->stage == STAGE_DYNAMO && !g->parent.i && g->compile_id.i)
			map_put(&graphs, key_of(g->unit, sym_str(p->names, g->process), sym_str(p->names, g->compile_id), g->attempt), i);
	}
	for (uint32_t i = 1; i < arts->v.n; i++) {
		const Artifact *a = &arts->v.v[i];
		uint32_t g = a->kind == ART_AOT_WRAPPER ? map_get(&graphs, key_of(a->unit, a->process, a->compile_id, a->attempt)) : 0;
		if (g && !p->graphs.v[g]->places.n)
			read_wrapper(p->graphs.v[g], a, sources);
	}
}

void link_places(Program *p, const Types *types, const Artifacts *arts, const Sources *sources, Arena *scratch)
{
	Map first = {.a = scratch}; /* compilation -> its first tensor, plus 1 */
	uint32_t n = arts->tensors.n, *next = NEW_N(scratch, uint32_t, n + 1);
	for (uint32_t i = n; i-- > 0;) {
		uint64_t key = key_of_tensor(&arts->tensors.v[i]);
		next[i] = map_get(&first, key);
		map_put(&first, key, i + 1);
	}
	for (uint32_t i = 1; i < p->graphs.n && n; i++) {
		Places l = {.p = p, .t = types, .g = p->graphs.v[i], .scratch = scratch};
		const Graph *g = l.g;
		if (g->stage != STAGE_DYNAMO || g->parent.i || !g->compile_id.i)
			continue;
		uint32_t t = map_get(&first, key_of(g->unit, sym_str(p->names, g->process), sym_str(p->names, g->compile_id), g->attempt));
		ArenaMark mark = arena_mark(scratch);
		if (t)
			place_all(&l, t, next, arts->tensors.v);
		arena_rewind(scratch, mark);
	}
	read_wrappers(p, arts, sources, scratch);
}
