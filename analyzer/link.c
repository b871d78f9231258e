/* SPDX-License-Identifier: MIT */
#include "link.h"

#include "link_export.h"

/* "__compiled_fn_3" within "pre insert_deferred_runtime_asserts __compiled_fn_3"; empty when there is none */
static Str compiled_name(Str name)
{
	uint32_t at = str_find(name, S("compiled_fn_"), 0);
	if (at == name.n)
		return (Str){0};
	while (at && name.p[at - 1] == '_')
		at--;
	uint32_t end = at;
	while (end < name.n && char_is_ident((unsigned char)name.p[end]))
		end++;
	return str_sub(name, at, end);
}

static bool is_top(const Graph *g)
{
	return g && !g->parent.i;
}

static bool is_aot(const Graph *g)
{
	return g->stage == STAGE_AOT_FORWARD || g->stage == STAGE_AOT_BACKWARD || g->stage == STAGE_AOT_JOINT ||
	       g->stage == STAGE_POST_GRAD || g->stage == STAGE_PRE_GRAD || g->stage == STAGE_INDUCTOR;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	return hash_u64(h ^ (x + 0x9e3779b97f4a7c15u));
}

static uint64_t hash_args(const Graph *g, uint64_t h)
{
	for (uint32_t i = 0; i < g->args.n; i++) {
		const Arg *a = &g->args.v[i];
		h = mix(h, (uint64_t)a->kind << 32 | a->key.i);
		switch ((ArgKind)a->kind) {
		case AR_NODE: h = mix(h, a->u.node.i); break;
		case AR_BOOL:
		case AR_INT: h = mix(h, (uint64_t)a->u.num); break;
		case AR_FLOAT: h = mix(h, hash_bytes(1, &a->u.real, sizeof a->u.real)); break;
		default: h = mix(h, a->u.sym.i); break;
		}
		h = mix(h, a->n);
	}
	return h;
}

/* What the graph computes, without types, names and places. */
static uint64_t structure_hash(const Graph *g)
{
	uint64_t h = mix(g->inputs.n, g->outputs.n);
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		h = mix(h, (uint64_t)n->kind << 40 | (uint64_t)n->callee << 32 | (n->kind == NK_PLACEHOLDER ? 0 : n->target.i));
		h = mix(h, n->nargs);
	}
	for (uint32_t i = 0; i < g->outputs.n; i++)
		h = mix(h, (uint64_t)g->outputs.v[i].arg.kind << 32 | g->outputs.v[i].arg.u.node.i);
	return hash_args(g, h) | 1;
}

/* How much a printing tells: annotations with strides beat those without, those beat none. */
static uint32_t detail(const Graph *g)
{
	uint32_t typed = 0;
	for (uint32_t i = 1; i < g->nodes.n; i++)
		typed += g->nodes.v[i].type.i != 0;
	return typed;
}

static uint64_t key_of(const Graph *g, Sym name)
{
	return mix(mix((uint64_t)g->unit.i << 32 | g->process.i, name.i), 1) | 1;
}

static void join(Graph *keep, Graph *drop)
{
	drop->printing_of = keep->id;
	if (keep->stage == STAGE_FX && drop->stage != STAGE_FX)
		keep->stage = drop->stage;
}

/* Takes the later of two printings of one graph as the one to analyse when it says more. */
static uint32_t prefer(const Program *p, Graph *first, Graph *later, bool later_is_variant)
{
	bool first_is_variant = !str_eq(compiled_name(sym_str(p->names, first->name)), sym_str(p->names, first->name)) &&
	                        compiled_name(sym_str(p->names, first->name)).n;
	bool take = first_is_variant != later_is_variant ? first_is_variant : detail(later) > detail(first);
	if (first->incomplete != later->incomplete)
		take = first->incomplete;
	join(take ? later : first, take ? first : later);
	return take ? later->id.i : first->id.i;
}

/* Printings with one name in one process: `__compiled_fn_3` and its variants before or after a pass. A repeated name with
 * another structure is another process whose rank was not printed: not joined. */
static void join_named(Program *p, Arena *scratch)
{
	Map first = {.a = scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Graph *g = p->graphs.v[i];
		Str name = sym_str(p->names, g->name), base = compiled_name(name);
		if (!is_top(g) || !base.n)
			continue;
		bool variant = !str_eq(name, base);
		uint64_t key = key_of(g, sym_intern(p->names, base));
		uint32_t k = map_get(&first, key);
		Graph *f = k ? p->graphs.v[k] : NULL;
		/* a pass may drop inputs and add asserts; two plain printings of one graph are equal but for what was lost */
		bool pass = f && (variant || f->name.i != g->name.i);
		if (pass || (f && f->inputs.n == g->inputs.n &&
		             (structure_hash(f) == structure_hash(g) || f->incomplete || g->incomplete)))
			map_put(&first, key, prefer(p, f, g, variant));
		else
			map_put(&first, key, i);
	}
	for (uint32_t i = 1; i < p->graphs.n; i++) { /* a variant that stands alone is the graph */
		Graph *g = p->graphs.v[i];
		Str base = compiled_name(sym_str(p->names, g->name));
		if (is_top(g) && base.n && !g->printing_of.i)
			g->name = sym_intern(p->names, base);
	}
}

/* Printings without a name of their own (print(gm), then print_readable) in one file: the same computation is one graph. */
static void join_unnamed(Program *p, Arena *scratch)
{
	Map first = {.a = scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Graph *g = p->graphs.v[i];
		if (!is_top(g) || g->printing_of.i || g->nodes.n < 2 || compiled_name(sym_str(p->names, g->name)).n ||
		    g->stage != STAGE_FX)
			continue;
		uint64_t key = mix(structure_hash(g), g->unit.i) | 1;
		uint32_t k = map_get(&first, key);
		map_put(&first, key, k ? prefer(p, p->graphs.v[k], g, false) : i);
	}
}

/* Graphs that say which of AOTAutograd's graphs they are, and not in which compilation (a debug folder): another part of
 * the same run (a trace) has both numbers. */
static void adopt_compile_ids(Program *p, Arena *scratch)
{
	Map of = {.a = scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (is_top(g) && is_aot(g) && g->aot_id && g->compile_id.i)
			map_put(&of, mix(key_of(g, (Sym){0}), g->aot_id) | 1, i);
	}
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Graph *g = p->graphs.v[i];
		uint32_t k = is_top(g) && g->aot_id && !g->compile_id.i ? map_get(&of, mix(key_of(g, (Sym){0}), g->aot_id) | 1) : 0;
		if (k) {
			g->compile_id = p->graphs.v[k]->compile_id;
			g->attempt = p->graphs.v[k]->attempt;
		}
	}
}

/* What a pass left as it was: printings of one compilation before and after it that compute the same. */
static void join_stages(Program *p, Arena *scratch)
{
	Map first = {.a = scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Graph *g = p->graphs.v[i];
		if (!is_top(g) || g->printing_of.i || (!g->compile_id.i && !g->aot_id) || g->nodes.n < 2 ||
		    !(g->stage == STAGE_DYNAMO || is_aot(g)))
			continue;
		uint64_t own = g->compile_id.i ? g->attempt : (uint64_t)g->aot_id << 32;
		uint64_t key = mix(mix(key_of(g, g->compile_id), own), structure_hash(g)) | 1;
		uint32_t k = map_get(&first, key);
		Graph *f = k ? p->graphs.v[k] : NULL;
		/* a graph of Dynamo is one in its own right */
		if (!f || g->stage == STAGE_DYNAMO || f->incomplete)
			map_put(&first, key, i);
		else
			join(f, g);
	}
}

/* A chain of printings ends at the graph that is analysed. */
static void settle_printings(Program *p)
{
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Graph *g = p->graphs.v[i];
		uint32_t guard = 0;
		for (const Graph *o; g->printing_of.i && (o = graph_get(p, g->printing_of))->printing_of.i && guard++ < p->graphs.n;)
			g->printing_of = o->printing_of;
	}
}

static GraphId principal_id(const Graph *g)
{
	return g->printing_of.i ? g->printing_of : g->id;
}

static bool is_variant_pass(Str name)
{
	return str_starts(name, S("tensorify_python_scalars")) || str_has(name, S("before unlifting"));
}

static uint64_t compile_key(const Graph *g)
{
	return mix(key_of(g, g->compile_id), g->attempt) | 1;
}

/* With compile ids an AOT graph belongs to the Dynamo graph printed last before it with the same id and attempt. */
static void tie_by_id(Program *p, Arena *scratch)
{
	Map dynamo = {.a = scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Graph *g = p->graphs.v[i];
		if (!is_top(g) || !g->compile_id.i)
			continue;
		if (g->stage == STAGE_DYNAMO)
			map_put(&dynamo, compile_key(g), principal_id(g).i);
		else if (is_aot(g))
			g->of = (GraphId){map_get(&dynamo, compile_key(g))};
	}
}

/* Without ids the order tells: 2.0 printed AOT graphs before the Dynamo record of their graph, 2022 (which made them at the
 * first call) and versions from 2.1 on behind it. What stands first or last in a log whose version is not known decides. */
static bool stands_before(const Graph *g, bool first_is_aot, bool last_is_aot)
{
	bool known = g->torch.lo && g->torch.hi, is_2_0 = known && g->torch.lo <= 200 && g->torch.hi >= 200;
	if (known && g->torch.hi < 200)
		return false;
	return first_is_aot || (is_2_0 && !last_is_aot);
}

static void tie_in_order(Program *p, const Map *before, bool backward, Arena *scratch)
{
	Map nearest = {.a = scratch};
	for (uint32_t k = 1; k < p->graphs.n; k++) {
		Graph *g = p->graphs.v[backward ? p->graphs.n - k : k];
		if (!is_top(g) || g->compile_id.i)
			continue;
		uint64_t key = key_of(g, (Sym){0});
		if (g->stage == STAGE_DYNAMO)
			map_put(&nearest, key, principal_id(g).i);
		else if (is_aot(g) && (map_get(before, key) != 0) == backward)
			g->of = (GraphId){map_get(&nearest, key)};
	}
}

static void tie_by_order(Program *p, Arena *scratch)
{
	Map first = {.a = scratch}, last = {.a = scratch}, before = {.a = scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (!is_top(g) || g->compile_id.i || !(g->stage == STAGE_DYNAMO || is_aot(g)))
			continue;
		uint64_t key = key_of(g, (Sym){0});
		if (!map_get(&first, key))
			map_put(&first, key, is_aot(g) ? 2 : 1);
		map_put(&last, key, is_aot(g) ? 2 : 1);
	}
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		uint64_t key = key_of(g, (Sym){0});
		if (is_top(g) && !g->compile_id.i && stands_before(g, map_get(&first, key) == 2, map_get(&last, key) == 2))
			map_put(&before, key, 1);
	}
	tie_in_order(p, &before, true, scratch);
	tie_in_order(p, &before, false, scratch);
}

/* Generated code is of AOTAutograd's graph of its number where no graph of Dynamo is there. */
static void tie_inductor(Program *p, Arena *scratch)
{
	Map aot = {.a = scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (is_top(g) && g->aot_id && (g->stage == STAGE_AOT_FORWARD || g->stage == STAGE_AOT_BACKWARD))
			map_put(&aot, mix(key_of(g, (Sym){0}), (uint64_t)g->aot_id << 1 | (g->stage == STAGE_AOT_BACKWARD)) | 1, principal_id(g).i);
	}
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Graph *g = p->graphs.v[i];
		bool backward = str_ends(sym_str(p->names, g->name), S("_backward"));
		if (is_top(g) && g->stage == STAGE_INDUCTOR && g->aot_id && !g->of.i)
			g->of = (GraphId){map_get(&aot, mix(key_of(g, (Sym){0}), (uint64_t)g->aot_id << 1 | backward) | 1)};
	}
}

/* Compile ids begin again when a process resets Dynamo: the Dynamo graph tells its AOT graphs from those of the same id. */
static uint64_t pass_key(const Graph *g)
{
	return mix(compile_key(g), g->of.i) | 1;
}

/* A printing of an AOT graph after or before a small pass is not a graph of its own. */
static void join_passes(Program *p, Arena *scratch)
{
	Map forward = {.a = scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (is_top(g) && g->stage == STAGE_AOT_FORWARD && !is_variant_pass(sym_str(p->names, g->name)))
			map_put(&forward, pass_key(g), i);
	}
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Graph *g = p->graphs.v[i];
		if (is_top(g) && is_aot(g) && is_variant_pass(sym_str(p->names, g->name)))
			g->printing_of = (GraphId){map_get(&forward, pass_key(g))};
	}
}

/* ---- names ---- */

/* The graph that the bytecode of a compilation calls, where it calls just one. */
static Str called_alone(const Artifact *a, Str text)
{
	Str name = {0};
	for (uint32_t k = 0; k < a->npieces; k++) {
		Str line = str_sub(text, a->pieces[k].src, a->pieces[k].src + a->pieces[k].n);
		Str found = str_has(line, S("compiled_fn_")) ? compiled_name(line) : (Str){0};
		if (found.n && name.n && !str_eq(found, name))
			return (Str){0};
		name = found.n ? found : name;
	}
	return name;
}

static uint64_t compilation_key(FileId unit, Str process, Str compile_id, uint32_t attempt)
{
	uint64_t h = hash_bytes(unit.i, process.p, process.n);
	return hash_u64(hash_bytes(h, compile_id.p, compile_id.n) + attempt) | 1;
}

/* A trace prints a graph of Dynamo by its class alone; the bytecode of the same compilation calls it by its name. */
static void name_by_bytecode(Program *p, const Artifacts *arts, const Sources *sources, Arena *scratch)
{
	Map names = {.a = scratch};
	for (uint32_t i = 1; i < arts->v.n; i++) {
		const Artifact *a = &arts->v.v[i];
		Str name = {0};
		if (a->kind == ART_BYTECODE_MODIFIED && a->prefix == PREFIX_TRACE && a->compile_id.n)
			name = called_alone(a, source_get(sources, a->file)->text);
		if (name.n)
			map_put(&names, compilation_key(a->unit, a->process, a->compile_id, a->attempt), sym_intern(p->names, name).i);
	}
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Graph *g = p->graphs.v[i];
		if (!is_top(g) || g->stage != STAGE_DYNAMO || compiled_name(sym_str(p->names, g->name)).n)
			continue;
		uint32_t name = map_get(&names, compilation_key(g->unit, sym_str(p->names, g->process), sym_str(p->names, g->compile_id), g->attempt));
		if (name)
			g->name = (Sym){name};
	}
}

/* Names that MODIFIED BYTECODE calls, per file. */
static void called_names(const Artifacts *arts, const Sources *sources, Map *called, Names *names)
{
	for (uint32_t i = 1; i < arts->v.n; i++) {
		const Artifact *a = &arts->v.v[i];
		if (a->kind != ART_BYTECODE_MODIFIED)
			continue;
		Str text = source_get(sources, a->file)->text;
		for (uint32_t k = 0; k < a->npieces; k++) {
			Str line = str_sub(text, a->pieces[k].src, a->pieces[k].src + a->pieces[k].n);
			Str name = str_has(line, S("compiled_fn_")) ? compiled_name(line) : (Str){0};
			if (name.n)
				map_put(called, ((uint64_t)a->unit.i << 32 | sym_intern(names, name).i) + 1, 1);
		}
	}
}

/* An attempt that was restarted leaves its graph in the log; a later attempt of the same compile has another. */
static void mark_superseded(Program *p, const Map *called, Arena *scratch)
{
	Map last = {.a = scratch};
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (is_top(g) && g->stage == STAGE_DYNAMO && g->compile_id.i)
			map_put(&last, key_of(g, g->compile_id), i);
	}
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		Graph *g = p->graphs.v[i];
		if (!is_top(g) || g->stage != STAGE_DYNAMO || !g->compile_id.i)
			continue;
		uint32_t k = map_get(&last, key_of(g, g->compile_id));
		bool is_called = map_get(called, ((uint64_t)g->unit.i << 32 | g->name.i) + 1);
		g->superseded = k && p->graphs.v[k]->attempt > g->attempt && !is_called;
	}
}

/* "__compiled_fn_2" of "__compiled_fn_2_9dd0b50c_71a6_..." */
static Str short_name(Str name)
{
	uint32_t at = str_find(name, S("compiled_fn_"), 0) + 12;
	while (at < name.n && name.p[at] >= '0' && name.p[at] <= '9')
		at++;
	return str_sub(name, 0, at);
}

/* AOT's forms stand in files that are named after the Dynamo graph. */
static void tie_by_alias(Program *p, const Artifacts *arts, Arena *scratch)
{
	Map named = {.a = scratch};
	for (int dynamo = 1; dynamo >= 0; dynamo--)
		for (uint32_t i = 1; i < p->graphs.n; i++) {
			Graph *g = p->graphs.v[i];
			Str alias = g->artifact.i ? arts->v.v[g->artifact.i].alias : (Str){0};
			if (!is_top(g) || (dynamo ? g->stage != STAGE_DYNAMO || g->printing_of.i || alias.n : !alias.n || g->of.i))
				continue;
			Str name = dynamo ? short_name(sym_str(p->names, g->name)) : alias;
			uint64_t key = key_of(g, sym_intern(p->names, name));
			if (dynamo)
				map_put(&named, key, i);
			else if (map_get(&named, key))
				g->of = (GraphId){map_get(&named, key)};
		}
}

/* depyf keeps the source of every graph module, too, under a hash: one that computes what a graph with a name computes is that
 * graph. */
static void join_sources(Program *p, Arena *scratch)
{
	Map known = {.a = scratch}, folders = {.a = scratch}; /* units of several files */
	for (uint32_t i = 1; i < p->graphs.n; i++)
		if (p->graphs.v[i]->file.i != p->graphs.v[i]->unit.i)
			map_put(&folders, p->graphs.v[i]->unit.i, 1);
	for (int named = 1; named >= 0; named--)
		for (uint32_t i = 1; i < p->graphs.n; i++) {
			Graph *g = p->graphs.v[i];
			bool plain = g->stage == STAGE_FX;
			if (!is_top(g) || g->printing_of.i || !map_get(&folders, g->unit.i) || g->nodes.n < 2 || plain == (named == 1))
				continue;
			uint64_t key = mix(structure_hash(g), g->unit.i) | 1;
			uint32_t k = map_get(&known, key);
			if (named)
				map_put(&known, key, k ? k : i);
			else if (k)
				g->printing_of = p->graphs.v[k]->id;
		}
}

void link_graphs(Program *p, const Artifacts *arts, const Sources *sources, Arena *scratch)
{
	Map called = {.a = scratch};
	name_by_bytecode(p, arts, sources, scratch);
	adopt_compile_ids(p, scratch);
	join_named(p, scratch);
	join_unnamed(p, scratch);
	join_stages(p, scratch);
	settle_printings(p);
	join_sources(p, scratch);
	tie_by_alias(p, arts, scratch);
	tie_by_id(p, scratch);
	tie_by_order(p, scratch);
	tie_inductor(p, scratch);
	join_passes(p, scratch);
	called_names(arts, sources, &called, p->names);
	mark_superseded(p, &called, scratch);
	link_export(p, arts, sources, scratch);
}

const Graph *link_principal(const Program *p, const Graph *g)
{
	return g->printing_of.i ? graph_get(p, g->printing_of) : g;
}

bool link_captured_by_2x(const Program *p, const Graph *g)
{
	if (g->parent.i)
		return link_captured_by_2x(p, graph_get(p, g->parent));
	bool old = g->torch.hi && g->torch.hi < 200;
	return !old && (g->stage == STAGE_DYNAMO || is_aot(g) || g->stage == STAGE_COMPILED_AUTOGRAD);
}
