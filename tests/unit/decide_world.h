/* SPDX-License-Identifier: MIT
 * decide_world: graphs from a few words, for the tests of decide. */
#ifndef GRAPHLINT_TESTS_DECIDE_WORLD_H
#define GRAPHLINT_TESTS_DECIDE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "decide.h"
#include "read_value.h"

/* ---- a graph from a few words ---- */

/* Inputs that every case may use. */
static const struct {
	const char *name, *type; /* NULL: the dump prints none */
} inputs[] = {
	{"x", "f32[3, 4][4, 1]cpu"},
	{"xt", "f32[3, 4][1, 3]cpu"},
	{"xn", "f32[3, 4]"},
	{"x3", "f32[2, 3, 4][12, 4, 1]cpu"},
	{"x3t", "f32[2, 3, 4][1, 2, 6]cpu"},
	{"x12", "f32[12][1]cpu"},
	{"sq", "f32[3, 3][3, 1]cpu"},
	{"slice1", "f32[4][2]cpu"},
	{"wide", "f32[3, 4][8, 1]cpu"},
	{"one", "f32[3, 1][1, 7]cpu"},
	{"zero", "f32[][]cpu"},
	{"none3", "f32[0, 3][3, 1]cpu"},
	{"none4", "f32[0, 4, 2, 2][16, 4, 2, 1]cpu"},
	{"nchw", "f32[2, 4, 5, 5][100, 25, 5, 1]cpu"},
	{"nhwc", "f32[2, 4, 5, 5][100, 1, 20, 4]cpu"},
	{"ndhwc", "f32[2, 4, 3, 3, 3][108, 1, 36, 12, 4]cpu"},
	{"batch1d", "f32[2, 4, 5][20, 5, 1]cpu"},
	{"plain1d", "f32[4, 5][5, 1]cpu"},
	{"dyn", "f32[s0, 4][4, 1]cpu"},
	{"dynt", "f32[s0, 4][1, s0]cpu"},
	{"dynp", "f32[s0, 4][s1, 1]cpu"},
	{"d", "f64[3, 4][4, 1]cpu"},
	{"h", "f16[3, 4][4, 1]cpu"},
	{"i", "i64[3][1]cpu"},
	{"b", "b8[3][1]cpu"},
	{"u", "u8[3][1]cpu"},
	{"i0", "i64[][]cpu"},
	{"b0", "b8[][]cpu"},
	{"u0", "u8[][]cpu"},
	{"k", "c64[3, 4][4, 1]cpu"},
	{"g0", "f32[3, 4][4, 1]cuda:0"},
	{"g1", "f32[3, 4][4, 1]cuda:1"},
	{"n", "Sym(s0)"},
	{"any", NULL},
	{"any2", NULL},
	{"tensor", "torch.Tensor"},
};

typedef struct World {
	Arena a;
	Names names;
	Types *types;
	Facts *facts;
} World;

typedef struct Made {
	Program p;
	Graph *g;
	Map nodes;
	NodeTypes nt;
	NodeId last;
	const char *mode; /* "train", "eval" or NULL */
	const char *ctor;
	const char *cls;
} Made;

static inline int world_make(void **state)
{
	World *w = test_calloc(1, sizeof *w);
	w->a = arena_new(NULL);
	names_init(&w->names, &w->a);
	w->types = types_new(&w->a, &w->names);
	w->facts = facts_builtin(&w->a, &w->names);
	*state = w;
	return 0;
}

static inline int world_free(void **state)
{
	World *w = *state;
	arena_free(&w->a);
	test_free(w);
	return 0;
}

static inline Sym sym(World *w, const char *s)
{
	return sym_intern(&w->names, str_from_c(s));
}

static inline void add_named(World *w, Made *m, Node node, const char *type, const Arg *args,
                             uint32_t n)
{
	if (type) {
		node.type = type_parse(w->types, str_from_c(type));
		node.flags |= NF_TYPED;
	}
	m->last = graph_add_node(m->g, node, args, n);
	map_put(&m->nodes, node.name.i, m->last.i);
	if (node.kind == NK_PLACEHOLDER)
		VEC_PUSH(m->g->a, &m->g->inputs, m->last);
}

/* "y = method view(x, [3, 4]) : f32[3, 4]" */
static inline void add_statement(World *w, Made *m, Str s)
{
	static const struct {
		const char *word;
		Callee callee;
	} kinds[] = {{"method", CALLEE_METHOD},
	             {"attr", CALLEE_ATTR},
	             {"operator", CALLEE_OPERATOR},
	             {"function", CALLEE_FUNCTION},
	             {"module", CALLEE_MODULE}};
	Node node = {.kind = NK_CALL};
	Str name, kind, type = {0};
	s = str_trim(s);
	assert_true(str_cut(&s, '=', &name));
	s = str_trim(s);
	assert_true(str_cut(&s, ' ', &kind));
	uint32_t colon = str_find(s, S(" : "), 0);
	if (colon < s.n)
		type = str_sub(s, colon + 3, s.n);
	s = str_sub(s, 0, colon);
	node.name = sym_intern(&w->names, str_trim(name));
	for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (str_eq(kind, str_from_c(kinds[i].word)))
			node.callee = (uint8_t)kinds[i].callee;
	uint32_t paren = str_find_char(s, '(', 0), at = 0;
	node.target = sym_intern(&w->names, str_sub(s, 0, paren));
	/* Only the arguments are read here: targets may be no Python names. */
	Str call = str_printf(&w->a, "f" STR_FMT, STR_ARG(str_sub(s, paren, s.n)));
	ValueReader v = value_reader(&w->names, m->g, &m->nodes, &w->a, 64);
	Arg a;
	assert_true(value_read(&v, VALUE_REPR, call, &at, &a));
	assert_int_equal(a.kind, AR_CALL);
	Arg *args = NEW_N(&w->a, Arg, a.n + 1);
	for (uint32_t i = 0; i < a.n; i++)
		args[i] = arg_kids(m->g, &a)[i];
	add_named(w, m, node, type.n ? str_to_c(&w->a, type) : NULL, args, a.n);
}

/* Statements separated by ';'. */
static inline Made graph_make(World *w, const char *code)
{
	Made m = {.nodes = {.a = &w->a}};
	program_init(&m.p, &w->a, &w->names);
	m.g = graph_add(&m.p, &w->a);
	for (uint32_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
		add_named(w, &m, (Node){.kind = NK_PLACEHOLDER, .name = sym(w, inputs[i].name)},
		          inputs[i].type, NULL, 0);
	Str rest = str_from_c(code), part;
	while (str_cut(&rest, ';', &part))
		add_statement(w, &m, part);
	return m;
}

/* Types as printed; what a call returns is not needed but where it is printed. */
static inline void graph_types(World *w, Made *m)
{
	const Shapes *shapes = shapes_builtin(&w->a, &w->names);
	m->nt = infer_types(&m->p, m->g, w->types, w->facts, shapes, (VersionSpan){0}, NULL, &w->a);
}

static inline const Fact *fact_of(World *w, Made *m, VersionSpan torch)
{
	const Node *n = graph_node(m->g, m->last);
	if (n->callee != CALLEE_MODULE)
		return facts_find(w->facts, (Callee)n->callee, sym_str(&w->names, n->target), torch);
	int mode = !m->mode ? 0 : strcmp(m->mode, "train") == 0 ? 1 : 2;
	bool inplace = m->ctor && strstr(m->ctor, "inplace=True");
	return facts_find_module(w->facts, sym_str(&w->names, n->target), mode, inplace, torch);
}

static inline DecideCtx ctx_of(World *w, Made *m, VersionSpan torch)
{
	DecideCtx c = {.p = &m->p,
	               .g = m->g,
	               .t = w->types,
	               .f = w->facts,
	               .nt = &m->nt,
	               .torch = torch,
	               .a = &w->a};
	if (m->mode)
		c.training = strcmp(m->mode, "train") == 0 ? 1 : 2;
	if (m->ctor)
		c.ctor = str_from_c(m->ctor);
	return c;
}

#endif
