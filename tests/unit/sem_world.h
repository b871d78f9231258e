/* SPDX-License-Identifier: MIT
 * sem_world: calls from a few words, their operands of terms x0, x1 ..., for the tests of sem. */
#ifndef GRAPHLINT_TESTS_SEM_WORLD_H
#define GRAPHLINT_TESTS_SEM_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "read_value.h"
#include "sem.h"

enum { INPUTS_MOST = 32, NAME_BITS = 20 };

typedef struct Input {
	const char *name;
	SemTensor x;
	NodeId node;
	bool is_number; /* x.e[0]; unknown value */
	int64_t value;
	bool known;
} Input;

typedef struct World {
	Arena a, scratch;
	Names names;
	Facts *facts;
	Terms *terms;
	const SemTable *table;
	Program p;
	Graph *g;
	Map nodes;
	Input in[INPUTS_MOST];
	uint32_t n;
	SemCall c;
	uint64_t random;
} World;

static inline int world_make(void **state)
{
	World *w = test_calloc(1, sizeof *w);
	w->a = arena_new(NULL);
	w->scratch = arena_new(NULL);
	names_init(&w->names, &w->a);
	w->facts = facts_builtin(&w->a, &w->names);
	w->table = sem_table_builtin(&w->a, &w->names);
	*state = w;
	return 0;
}

static inline int world_free(void **state)
{
	World *w = *state;
	arena_free(&w->a);
	arena_free(&w->scratch);
	test_free(w);
	return 0;
}

/* A new graph and new terms. */
static inline void world_reset(World *w)
{
	w->terms = terms_new(&w->a, &w->names, 0);
	program_init(&w->p, &w->a, &w->names);
	w->g = graph_add(&w->p, &w->a);
	w->nodes = (Map){.a = &w->a};
	w->n = 0;
}

static inline uint64_t number(const char *s)
{
	return strtoull(s, NULL, 10);
}

static inline Input *input_add(World *w, const char *name)
{
	assert_true(w->n < INPUTS_MOST);
	Input *in = &w->in[w->n++];
	*in = (Input){.name = name};
	Sym sym = sym_intern(&w->names, str_from_c(name));
	in->node =
		graph_add_node(w->g, (Node){.kind = NK_PLACEHOLDER, .name = sym, .target = sym}, NULL, 0);
	map_put(&w->nodes, sym.i, in->node.i);
	return in;
}

static inline Input *tensor_add(World *w, const char *name, DType d, const int64_t *size,
                                uint32_t n)
{
	Input *in = input_add(w, name);
	in->x = (SemTensor){.ndim = n, .numel = 1, .dtype = d};
	int64_t stride = 1;
	for (uint32_t i = n; i-- > 0;) {
		in->x.size[i] = size[i];
		in->x.stride[i] = stride;
		stride *= size[i];
	}
	in->x.numel = (uint32_t)stride;
	in->x.has_stride = true;
	TermId *e = NEW_N(&w->a, TermId, (size_t)stride + 1);
	for (uint32_t k = 0; k < in->x.numel; k++)
		e[k] = term_fresh(w->terms, (uint64_t)w->n << NAME_BITS | k);
	in->x.e = e;
	return in;
}

/* "x: f32[2, 3]; i: i64[2] = 0 2" */
static inline void inputs_read(World *w, const char *text)
{
	Str rest = str_from_c(text), part;
	while (str_cut(&rest, ';', &part)) {
		int64_t size[64];
		uint32_t n = 0;
		part = str_trim(part);
		uint32_t colon = str_find_char(part, ':', 0), open = str_find_char(part, '[', 0),
				 close = str_find_char(part, ']', 0);
		Str sizes = str_sub(part, open + 1, close), one;
		while (sizes.n && str_cut(&sizes, ',', &one))
			assert_true(str_to_i64(str_trim(one), &size[n++]));
		DType d = dtype_parse(str_trim(str_sub(part, colon + 1, open)));
		const char *name = str_to_c(&w->a, str_sub(part, 0, colon));
		Input *in = tensor_add(w, name, d, size, n);
		uint32_t eq = str_find_char(part, '=', close);
		Str values = str_trim(str_sub(part, eq + 1, part.n));
		TermId *e = (TermId *)in->x.e;
		for (uint32_t k = 0; k < in->x.numel && eq < part.n; k++) {
			assert_true(str_cut(&values, ' ', &one));
			e[k] = term_num(w->terms, strtod(str_to_c(&w->a, one), NULL), d == DT_I64 ? 'i' : 'f');
		}
	}
}

static inline bool world_tensor(void *ctx, const Arg *a, SemTensor *out)
{
	World *w = ctx;
	for (uint32_t i = 0; i < w->n; i++)
		if (a->kind == AR_NODE && w->in[i].node.i == a->u.node.i && !w->in[i].is_number) {
			*out = w->in[i].x;
			return true;
		}
	return false;
}

static inline bool world_number(void *ctx, const Arg *a, TermId *term, int64_t *value, bool *known)
{
	World *w = ctx;
	for (uint32_t i = 0; i < w->n; i++)
		if (a->kind == AR_NODE && w->in[i].node.i == a->u.node.i && w->in[i].is_number) {
			*term = w->in[i].x.e[0];
			*value = w->in[i].value;
			*known = w->in[i].known;
			return true;
		}
	return false;
}

/* "method view(x, [3, 4])" */
static inline const Node *call_read(World *w, const char *text)
{
	static const struct {
		const char *word;
		Callee callee;
	} kinds[] = {{"method", CALLEE_METHOD},
	             {"attr", CALLEE_ATTR},
	             {"operator", CALLEE_OPERATOR},
	             {"function", CALLEE_FUNCTION},
	             {"module", CALLEE_MODULE}};
	Str s = str_from_c(text), kind;
	Node node = {.kind = NK_CALL};
	assert_true(str_cut(&s, ' ', &kind));
	for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (str_eq(kind, str_from_c(kinds[i].word)))
			node.callee = (uint8_t)kinds[i].callee;
	uint32_t paren = str_find_char(s, '(', 0), at = 0;
	node.target = sym_intern(&w->names, str_sub(s, 0, paren));
	node.name = sym_intern(&w->names, str_printf(&w->a, "r%u", w->g->nodes.n));
	Str call = str_printf(&w->a, "f" STR_FMT, STR_ARG(str_sub(s, paren, s.n)));
	ValueReader v = value_reader(&w->names, w->g, &w->nodes, &w->a, 64);
	Arg a;
	assert_true(value_read(&v, VALUE_REPR, call, &at, &a));
	Arg *args = NEW_N(&w->a, Arg, a.n + 1);
	for (uint32_t i = 0; i < a.n; i++)
		args[i] = arg_kids(w->g, &a)[i];
	NodeId id = graph_add_node(w->g, node, args, a.n);
	const Fact *fact = node.callee == CALLEE_MODULE
	                       ? facts_find_module(w->facts, sym_str(&w->names, node.target), 2, false,
	                                           (VersionSpan){0})
	                       : facts_find(w->facts, (Callee)node.callee,
	                                    sym_str(&w->names, node.target), (VersionSpan){0});
	w->c = (SemCall){.p = &w->p,
	                 .g = w->g,
	                 .node = id,
	                 .facts = w->facts,
	                 .fact = fact,
	                 .table = w->table,
	                 .terms = w->terms,
	                 .tensor = world_tensor,
	                 .number = world_number,
	                 .ctx = w,
	                 .site = 7,
	                 .scratch = &w->scratch};
	return graph_node(w->g, id);
}

/* ---- terms as text: x0 is element 0 of input x ---- */

static inline void term_show(World *w, TermId id, Buf *out, uint32_t depth)
{
	const Term *t = term_get(w->terms, id);
	uint64_t in = t->extra >> NAME_BITS;
	switch ((TermKind)t->kind) {
	case TERM_NUM: buf_printf(out, "%g", t->num); return;
	case TERM_TEXT: buf_add(out, sym_str(&w->names, t->op)); return;
	case TERM_FRESH:
		if (!t->unsure && in >= 1 && in <= w->n)
			buf_printf(out, "%s%u", w->in[in - 1].name,
			           (unsigned)(t->extra & ((1u << NAME_BITS) - 1)));
		else
			buf_add(out, t->unsure ? S("~") : S("$"));
		return;
	default: break;
	}
	buf_printf(out, STR_FMT "(", STR_ARG(sym_str(&w->names, t->op)));
	for (uint32_t i = 0; i < t->n && depth; i++) {
		buf_add(out, i ? S(" ") : S(""));
		term_show(w, term_args(w->terms, t)[i], out, depth - 1);
	}
	buf_char(out, ')');
	if (t->extra)
		buf_printf(out, "#%u", (unsigned)(t->extra & 0xffffffff));
}

/* Which elements of an input a term depends on, or'ed into seen. */
static inline void term_leaves(World *w, TermId id, uint32_t input, bool *seen, Map *done)
{
	VEC(TermId) stack = {0};
	VEC_PUSH(&w->a, &stack, id);
	while (stack.n) {
		TermId x = stack.v[--stack.n];
		if (map_get(done, x.i))
			continue;
		map_put(done, x.i, 1);
		const Term *t = term_get(w->terms, x);
		if (t->kind == TERM_FRESH && t->extra >> NAME_BITS == input + 1)
			seen[t->extra & ((1u << NAME_BITS) - 1)] = true;
		for (uint32_t i = 0; i < t->n; i++)
			VEC_PUSH(&w->a, &stack, term_args(w->terms, t)[i]);
	}
}

/* All elements of a result, "a b c"; of sizes such as "2, 3". */
static inline Str apply_text(World *w, const char *sizes, int member, DType d)
{
	int64_t size[64];
	uint32_t n = 0, numel = 1;
	Str rest = str_from_c(sizes), one;
	while (rest.n && str_cut(&rest, ',', &one)) {
		assert_true(str_to_i64(str_trim(one), &size[n]));
		numel *= (uint32_t)size[n++];
	}
	TermId *out = NEW_N(&w->a, TermId, (size_t)numel + 1);
	w->c.dtype = d;
	sem_apply(&w->c, member, size, n, numel, out);
	Buf b = {.a = &w->a};
	for (uint32_t k = 0; k < numel; k++) {
		buf_add(&b, k ? S(" ") : S(""));
		assert_true(out[k].i != 0);
		term_show(w, out[k], &b, 8);
	}
	return buf_str(&b);
}

#endif
