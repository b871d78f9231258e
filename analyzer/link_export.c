/* SPDX-License-Identifier: MIT */
#include "link_export.h"

typedef struct RoleRow {
	Str word, words;
	bool gives_back;
} RoleRow;

static const RoleRow roles[EXPORT_N] = {
#define EXPORT_ROLE(id, word, words, back) [EXPORT_##id] = {STR_INIT(word), STR_INIT(words), back},
#include "export_roles.def"
#undef EXPORT_ROLE
};

Str export_role_words(uint8_t role)
{
	return role < EXPORT_N ? roles[role].words : (Str){0};
}

bool export_gives_back(uint8_t role)
{
	return role < EXPORT_N && roles[role].gives_back;
}

static uint8_t role_of(Str word)
{
	for (uint8_t i = 1; i < EXPORT_N; i++)
		if (str_eq(roles[i].word, word))
			return i;
	return EXPORT_NONE;
}

typedef struct Signature {
	Program *p;
	Graph *g;
	uint32_t output; /* entries of outputs so far: they stand in the order of what the graph returns */
} Signature;

static void say_input(Signature *x, Str name, uint8_t role, Str target)
{
	Graph *g = x->g;
	Sym s = sym_find(x->p->names, name);
	for (uint32_t i = 0; s.i && i < g->inputs.n; i++) {
		const Node *n = graph_node(g, g->inputs.v[i]);
		if (n->name.i == s.i || n->target.i == s.i)
			g->input_roles[i] = (ExportRole){role, sym_intern(x->p->names, target)};
	}
}

static bool returns(const Signature *x, uint32_t k, Str name)
{
	const Arg *a = &x->g->outputs.v[k].arg;
	return a->kind != AR_NODE || str_eq(sym_str(x->p->names, graph_node(x->g, a->u.node)->name), name);
}

/* A name may be returned twice, so the place counts; the name has to agree. */
static void say_output(Signature *x, Str name, uint8_t role, Str target)
{
	uint32_t k = x->output++;
	if (k < x->g->outputs.n && returns(x, k, name))
		x->g->outputs.v[k].role = (ExportRole){role, sym_intern(x->p->names, target)};
}

/* ---- a line each (2.7 and later): b_count: BUFFER target='count' persistent=True ---- */

static Str quoted_after(Str s, Str key)
{
	uint32_t at = str_find(s, key, 0);
	if (at == s.n)
		return (Str){0};
	at += key.n;
	return str_sub(s, at, str_find_char(s, '\'', at));
}

static bool is_listing(Str s)
{
	return str_has(s, S("# inputs")) && str_has(s, S("# outputs"));
}

static void read_listing(Signature *x, Str s)
{
	Str line, name;
	bool outputs = false;
	while (str_cut(&s, '\n', &line)) {
		line = str_trim(line);
		outputs |= str_eq(line, S("# outputs"));
		Str rest = line;
		if (!str_has(line, S(": ")) || !str_cut(&rest, ':', &name))
			continue;
		rest = str_trim(rest);
		uint8_t role = role_of(str_sub(rest, 0, str_find_char(rest, ' ', 0)));
		Str target = quoted_after(rest, S("target='"));
		if (role && outputs)
			say_output(x, name, role, target);
		else if (role)
			say_input(x, name, role, target);
	}
}

/* ---- the repr: InputSpec(kind=<InputKind.BUFFER: 3>, arg=TensorArgument(name='b_count'), target='count', ...) ---- */

static void read_specs(Signature *x, Str s, Str head, void (*say)(Signature *, Str name, uint8_t role, Str target))
{
	for (uint32_t at = str_find(s, head, 0); at < s.n;) {
		uint32_t next = str_find(s, head, at + head.n);
		Str spec = str_sub(s, at, next);
		uint32_t dot = str_find_char(spec, '.', 0);
		Str word = str_sub(spec, dot + 1, str_find_char(spec, ':', dot));
		say(x, quoted_after(spec, S("(name='")), role_of(word), quoted_after(spec, S("target='")));
		at = next;
	}
}

/* ---- the repr of aot_export_module: buffers_to_mutate={'add': 'n'} ---- */

typedef struct Pairs {
	Str rest;
} Pairs;

static Pairs pairs_of(Str s, Str key)
{
	uint32_t at = str_find(s, key, 0);
	return (Pairs){at < s.n ? str_sub(s, at + key.n, str_find_char(s, '}', at)) : (Str){0}};
}

static bool next_string(Str *s, Str *out)
{
	uint32_t at = str_find_char(*s, '\'', 0), end = str_find_char(*s, '\'', at + 1);
	if (at == s->n || end >= s->n)
		return false;
	*out = str_sub(*s, at + 1, end);
	*s = str_sub(*s, end + 1, s->n);
	return true;
}

static bool next_pair(Pairs *p, Str *key, Str *value)
{
	return next_string(&p->rest, key) && next_string(&p->rest, value);
}

/* Mutations are returned first, in the order of the dictionaries. */
static void read_maps(Signature *x, Str s)
{
	static const struct {
		Str key;
		uint8_t role;
	} inputs[] = {{STR_INIT("inputs_to_parameters={"), EXPORT_PARAMETER}, {STR_INIT("inputs_to_buffers={"), EXPORT_BUFFER}},
	  outputs[] = {{STR_INIT("parameters_to_mutate={"), EXPORT_PARAMETER_MUTATION}, {STR_INIT("buffers_to_mutate={"), EXPORT_BUFFER_MUTATION},
	               {STR_INIT("user_inputs_to_mutate={"), EXPORT_INPUT_MUTATION}};
	Str key, value;
	for (uint32_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
		for (Pairs p = pairs_of(s, inputs[i].key); next_pair(&p, &key, &value);)
			say_input(x, key, inputs[i].role, value);
	for (uint32_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
		for (Pairs p = pairs_of(s, outputs[i].key); next_pair(&p, &key, &value);)
			say_output(x, key, outputs[i].role, value);
}

/* ---- all ---- */

static Graph *graph_before(Program *p, const Map *of_artifact, const Artifacts *arts, uint32_t i)
{
	for (uint32_t k = i; k-- > 1 && arts->v.v[k].file.i == arts->v.v[i].file.i;) {
		uint32_t g = map_get(of_artifact, k);
		if (g)
			return p->graphs.v[g];
		if (arts->v.v[k].kind == ART_EXPORT_SIGNATURE)
			return NULL;
	}
	return NULL;
}

void link_export(Program *p, const Artifacts *arts, const Sources *sources, Arena *scratch)
{
	ArenaMark start = arena_mark(scratch);
	Map of_artifact = {.a = scratch};
	for (uint32_t i = p->graphs.n; i-- > 1;)
		if (!p->graphs.v[i]->parent.i && p->graphs.v[i]->artifact.i)
			map_put(&of_artifact, p->graphs.v[i]->artifact.i, i);
	for (uint32_t i = 1; i < arts->v.n; i++) {
		const Artifact *art = &arts->v.v[i];
		Signature x = {.p = p, .g = art->kind == ART_EXPORT_SIGNATURE ? graph_before(p, &of_artifact, arts, i) : NULL};
		if (!x.g)
			continue;
		ArenaMark mark = arena_mark(scratch);
		Str s = artifact_text(art, sources, scratch).s;
		x.g->input_roles = NEW_N(x.g->a, ExportRole, x.g->inputs.n);
		if (is_listing(s)) {
			read_listing(&x, s);
		} else if (str_has(s, S("InputSpec("))) {
			read_specs(&x, s, S("InputSpec("), say_input);
			read_specs(&x, s, S("OutputSpec("), say_output);
		} else {
			read_maps(&x, s);
		}
		arena_rewind(scratch, mark);
	}
	arena_rewind(scratch, start);
}
