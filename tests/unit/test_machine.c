/* SPDX-License-Identifier: MIT
 * The machine executes real listings of six CPythons over a host that computes: integers, lists, exceptions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>

#include "listing.h"
#include "machine.h"

/* ---- a host that computes ---- */

typedef enum Kind { K_INT, K_NONE, K_LIST, K_NAME, K_CELL, K_OTHER } Kind;

typedef struct Val {
	Kind kind;
	int64_t num;
	Value items[16];
	uint32_t n;
	Str name;
} Val;

typedef struct World {
	Env *e;
	VEC(Val) v;
	Buf log;           /* what was called */
	bool unknown;      /* truths of names are not known */
	bool later;        /* calls of `call` are for the driver */
	bool fails;        /* `call` raises */
	bool swallow;      /* what __exit__ says of an exception */
	bool no_entry;     /* __enter__ raises */
} World;

static Value add_val(World *w, Val v)
{
	VEC_PUSH(&w->e->a, &w->v, v);
	return w->v.n - 1;
}

static Value num(World *w, int64_t k)
{
	return add_val(w, (Val){.kind = K_INT, .num = k});
}

static Value list_of(World *w, const Value *v, uint32_t n)
{
	Val x = {.kind = K_LIST, .n = n};
	assert_true(n <= 16);
	for (uint32_t i = 0; i < n; i++)
		x.items[i] = v[i];
	return add_val(w, x);
}

static Val *val(World *w, Value v)
{
	assert_true(v > 0 && v < w->v.n);
	return &w->v.v[v];
}

static Value constant(void *ctx, Machine *m, Str s)
{
	World *w = ctx;
	int64_t k;
	(void)m;
	if (str_eq(s, S("None")))
		return add_val(w, (Val){.kind = K_NONE});
	if (str_to_i64(s, &k))
		return num(w, k);
	if (!str_starts(s, S("(")))
		return add_val(w, (Val){.kind = K_NAME, .name = s});
	Str rest = str_sub(s, 1, s.n - 1), part;
	Value items[16];
	uint32_t n = 0;
	while (str_cut(&rest, ',', &part))
		items[n++] = constant(ctx, m, str_trim(part));
	return list_of(w, items, n);
}

static Value integer(void *ctx, Machine *m, int64_t k)
{
	(void)m;
	return num(ctx, k);
}

static Value unbound(void *ctx, Machine *m, Unbound kind, Sym name)
{
	(void)ctx, (void)kind, (void)name;
	machine_give_up(m, S("unbound"));
	return VALUE_NULL;
}

static Value load_global(void *ctx, Machine *m, Sym name)
{
	World *w = ctx;
	(void)m;
	return add_val(w, (Val){.kind = K_NAME, .name = sym_str(&w->e->names, name)});
}

static Value cell_new(void *ctx, Machine *m, Sym name, Value content)
{
	World *w = ctx;
	(void)m;
	return add_val(w, (Val){.kind = K_CELL, .items = {content}, .name = sym_str(&w->e->names, name)});
}

static Value cell_get(void *ctx, Machine *m, Value cell)
{
	(void)m;
	return val(ctx, cell)->items[0];
}

static void cell_set(void *ctx, Machine *m, Value cell, Value v)
{
	(void)m;
	val(ctx, cell)->items[0] = v;
}

static Value get_attr(void *ctx, Machine *m, Value o, Sym name)
{
	World *w = ctx;
	(void)m, (void)o;
	return add_val(w, (Val){.kind = K_NAME, .name = sym_str(&w->e->names, name)});
}

static Value binary(void *ctx, Machine *m, Str op, Value x, Value y)
{
	World *w = ctx;
	(void)m;
	Val a = *val(w, x), b = *val(w, y);
	if (a.kind == K_LIST) {
		for (uint32_t i = 0; i < b.n; i++)
			a.items[a.n++] = b.items[i];
		return add_val(w, a);
	}
	switch (op.p[0]) {
	case '+': return num(w, a.num + b.num);
	case '-': return num(w, a.num - b.num);
	default: return num(w, a.num * b.num);
	}
}

static Value unary(void *ctx, Machine *m, Str op, Value x)
{
	World *w = ctx;
	(void)m;
	bool no = str_eq(op, S("not"));
	return num(w, val(w, x)->kind == K_INT ? (val(w, x)->num != 0) != no : !no);
}

static Value compare(void *ctx, Machine *m, Str op, Value x, Value y)
{
	World *w = ctx;
	const Val *a = val(w, x), *b = val(w, y);
	(void)m;
	if (str_eq(op, S("exception match")))
		return num(w, str_eq(a->name, b->name));
	return num(w, str_eq(op, S("==")) ? a->num == b->num : a->num < b->num);
}

static Value build(void *ctx, Machine *m, BuildKind kind, const Value *v, uint32_t n)
{
	(void)m, (void)kind;
	return list_of(ctx, v, n);
}

static void add(void *ctx, Machine *m, AddKind kind, Value container, Value v, Value value)
{
	World *w = ctx;
	Val *c = val(w, container), x = *val(w, v);
	(void)m, (void)kind, (void)value;
	for (uint32_t i = 0; i < x.n; i++)
		c->items[c->n++] = x.items[i];
}

static void unpack(void *ctx, Machine *m, Value seq, uint32_t n, int32_t after, Value *out)
{
	World *w = ctx;
	Val x = *val(w, seq);
	(void)m;
	uint32_t head = after < 0 ? n : n - 1 - (uint32_t)after;
	for (uint32_t i = 0; i < head; i++)
		out[i] = x.items[i];
	if (after >= 0)
		out[head] = list_of(w, x.items + head, x.n - n + 1);
}

static Value iter(void *ctx, Machine *m, Value x)
{
	World *w = ctx;
	(void)m;
	return add_val(w, *val(w, x));
}

static NextItem next(void *ctx, Machine *m, Value it, Value *item)
{
	Val *x = val(ctx, it);
	(void)m;
	if ((uint32_t)x->num == x->n)
		return NEXT_END;
	*item = x->items[x->num++];
	return NEXT_ITEM;
}

static Tri truth(void *ctx, Machine *m, Value v)
{
	World *w = ctx;
	(void)m;
	const Val *x = val(w, v);
	if (x->kind == K_INT)
		return x->num ? TRI_MUST : TRI_NO;
	return w->unknown ? TRI_MAY : x->kind == K_NONE ? TRI_NO : TRI_MUST;
}

static Value call(void *ctx, Machine *m, const MachineCall *c)
{
	World *w = ctx;
	Str name = val(w, c->fn)->name;
	if (str_eq(name, S("__enter__"))) {
		if (w->no_entry)
			machine_raise(m, c->fn);
		return num(w, 42);
	}
	buf_printf(&w->log, "%s" STR_FMT "(", w->log.n ? " " : "", STR_ARG(name));
	for (uint32_t i = 0; i < c->n; i++)
		if (val(w, c->args[i])->kind == K_INT)
			buf_printf(&w->log, "%s%d", i ? "," : "", (int)val(w, c->args[i])->num);
		else
			buf_printf(&w->log, "%s%s", i ? "," : "", val(w, c->args[i])->kind == K_NONE ? "-" : "E");
	buf_char(&w->log, ')');
	if (str_eq(name, S("__exit__")))
		return num(w, w->swallow);
	if (w->fails && val(w, c->args[0])->num < 10) {
		machine_raise(m, add_val(w, (Val){.kind = K_NAME, .name = S("E")}));
		return VALUE_NULL;
	}
	return w->later ? VALUE_LATER : num(w, val(w, c->args[0])->num + 1);
}

static Value make_function(void *ctx, Machine *m, const MachineFunction *f)
{
	World *w = ctx;
	(void)m;
	return add_val(w, (Val){.kind = K_OTHER, .items = {f->closure}});
}

static Value function_part(void *ctx, Machine *m, Value fn, uint32_t part, Value v)
{
	(void)m, (void)part;
	val(ctx, fn)->items[0] = v;
	return fn;
}

static Value raised(void *ctx, Machine *m, Value x, Value cause)
{
	(void)ctx, (void)m, (void)cause;
	return x;
}

static const Host host = {
	.constant = constant, .integer = integer, .unbound = unbound, .load_global = load_global, .cell_new = cell_new,
	.cell_get = cell_get, .cell_set = cell_set, .get_attr = get_attr, .unary = unary, .binary = binary, .compare = compare,
	.build = build, .add = add, .unpack = unpack, .iter = iter, .next = next, .truth = truth, .call = call,
	.make_function = make_function, .function_part = function_part, .raised = raised,
};

/* ---- running ---- */

static const struct {
	PyVersion python;
	const char *name, *text;
} listings[] = {
#define LISTING(python, name, text) {python, #name, text},
#include "listings.def"
#undef LISTING
};
enum { LISTINGS = sizeof listings / sizeof *listings };

static void world_init(World *w, Env *e)
{
	*w = (World){.e = e, .log = {.a = &e->a}};
	add_val(w, (Val){0});
}

static bool is_named(size_t i, const char *name)
{
	return strcmp(listings[i].name, name) == 0;
}

static void machine_of(World *w, Machine *m, size_t i, const Value *args, uint32_t n)
{
	Code *c = read_code_of(w->e, listings[i].text);
	assert_non_null(c);
	if (!(c->lo <= listings[i].python && listings[i].python <= c->hi))
		fail_msg("%s: read as %u to %u, is %u", listings[i].name, c->lo, c->hi, listings[i].python);
	code_set_python(c, listings[i].python, listings[i].python);
	machine_init(m, c, &host, w, &w->e->a);
	for (uint32_t k = 0; k < n; k++)
		if (!machine_set_param(m, k, args[k]))
			assert_true(machine_set_local(m, c->vars[0].name, args[k]));
}

static int64_t result_of(World *w, Machine *m, size_t i)
{
	MachineStatus s = machine_run(m, 10000);
	if (s != MS_RETURN)
		fail_msg("%s of %u: status %d at %u, %s", listings[i].name, listings[i].python, s, m->at,
		         m->why.n ? str_to_c(&w->e->a, m->why) : "");
	assert_int_equal(m->sp, 0);
	assert_int_equal(m->blocks.n, 0);
	return val(w, m->value)->num;
}

static int64_t run1(World *w, size_t i, int64_t x)
{
	Machine m;
	Value arg = num(w, x);
	machine_of(w, &m, i, &arg, 1);
	return result_of(w, &m, i);
}

static void loops_handlers_and_finally(void **state)
{
	World w;
	world_init(&w, *state);
	for (size_t i = 0; i < LISTINGS; i++)
		if (is_named(i, "loop")) {
			assert_int_equal(run1(&w, i, 2), 3104);
			assert_int_equal(run1(&w, i, 3), 1001 + 1002 + 1100 + 1004 + 50000);
			assert_int_equal(run1(&w, i, 9), 3006);
		}
}

static void while_loops(void **state)
{
	World w;
	world_init(&w, *state);
	for (size_t i = 0; i < LISTINGS; i++)
		if (is_named(i, "count"))
			assert_int_equal(run1(&w, i, 4), 310);
}

static void log_is(World *w, const char *want)
{
	assert_string_equal(str_to_c(&w->e->a, buf_str(&w->log)), want);
	w->log.n = 0;
}

static void context_managers(void **state)
{
	World w;
	Machine m;
	world_init(&w, *state);
	for (size_t i = 0; i < LISTINGS; i++) {
		if (!is_named(i, "manager"))
			continue;
		Value args[2] = {num(&w, 1), num(&w, 1)};
		machine_of(&w, &m, i, args, 2);
		assert_int_equal(result_of(&w, &m, i), 42);
		log_is(&w, "__exit__(-,-,-)");
		args[1] = num(&w, 0);
		w.swallow = true;
		machine_of(&w, &m, i, args, 2);
		assert_int_equal(result_of(&w, &m, i), 7);
		log_is(&w, "__exit__(E,E,E)");
		w.swallow = false;
		machine_of(&w, &m, i, args, 2);
		assert_int_equal(machine_run(&m, 1000), MS_RAISE);
		log_is(&w, "__exit__(E,E,E)");
		w.no_entry = true;
		machine_of(&w, &m, i, args, 2);
		assert_int_equal(machine_run(&m, 1000), MS_RAISE);
		log_is(&w, "");
		w.no_entry = false;
	}
}

static void what_a_callee_raises(void **state)
{
	World w;
	Machine m;
	world_init(&w, *state);
	for (size_t i = 0; i < LISTINGS; i++) {
		if (!is_named(i, "leave"))
			continue;
		w.fails = w.later = false;
		assert_int_equal(run1(&w, i, 3), 4);
		log_is(&w, "call(3) call(13)");
		w.fails = true;
		assert_int_equal(run1(&w, i, 3), 5);
		log_is(&w, "call(3) call(13)");
		w.fails = false;
		w.later = true;
		Value arg = num(&w, 3);
		machine_of(&w, &m, i, &arg, 1);
		assert_int_equal(machine_run(&m, 1000), MS_CALL);
		machine_throw(&m, add_val(&w, (Val){.kind = K_NAME, .name = S("E")}));
		assert_int_equal(machine_run(&m, 1000), MS_CALL);
		machine_deliver(&m, num(&w, 8));
		assert_int_equal(machine_run(&m, 1000), MS_RETURN);
		assert_int_equal(val(&w, m.value)->num, 5);
		log_is(&w, "call(3) call(13)");
	}
}

static void stack_orders(void **state)
{
	static const int64_t want[] = {3, 1, 1, 2, 4, 9};
	World w;
	Machine m;
	world_init(&w, *state);
	for (size_t i = 0; i < LISTINGS; i++) {
		if (!is_named(i, "shuffle"))
			continue;
		Value args[3] = {num(&w, 1), num(&w, 2), num(&w, 3)};
		machine_of(&w, &m, i, args, 3);
		result_of(&w, &m, i);
		const Val *got = val(&w, m.value);
		assert_int_equal(got->n, 6);
		for (uint32_t k = 0; k < 6; k++)
			assert_int_equal(val(&w, got->items[k])->num, want[k]);
	}
}

static void cells_are_shared(void **state)
{
	World w;
	world_init(&w, *state);
	for (size_t i = 0; i < LISTINGS; i++)
		if (is_named(i, "cells"))
			assert_int_equal(run1(&w, i, 6), 8);
}

static void generators(void **state)
{
	World w;
	Machine m;
	world_init(&w, *state);
	for (size_t i = 0; i < LISTINGS; i++) {
		if (!is_named(i, "many"))
			continue;
		w.later = true;
		Value arg = num(&w, 3), items[2] = {num(&w, 5), num(&w, 6)};
		machine_of(&w, &m, i, &arg, 1);
		assert_int_equal(machine_run(&m, 1000), MS_YIELD);
		assert_int_equal(val(&w, m.value)->num, 3);
		assert_true(m.generator);
		machine_deliver(&m, num(&w, 0));
		assert_int_equal(machine_run(&m, 1000), MS_CALL);
		machine_deliver(&m, list_of(&w, items, 2));
		for (int k = 5; k < 7; k++) {
			assert_int_equal(machine_run(&m, 1000), MS_YIELD);
			assert_int_equal(val(&w, m.value)->num, k);
			machine_deliver(&m, num(&w, 0));
		}
		assert_int_equal(machine_run(&m, 1000), MS_RETURN);
		assert_int_equal(val(&w, m.value)->kind, K_NONE);
	}
}

/* ---- drivers ---- */

static void branches_are_the_drivers(void **state)
{
	World w;
	Machine m, other;
	world_init(&w, *state);
	w.unknown = true;
	Code *c = read_code_of(*state, "  1           0 LOAD_CONST               1 (1)\n"
	                               "              2 LOAD_GLOBAL              0 (x)\n"
	                               "              4 POP_JUMP_IF_FALSE       10\n"
	                               "              6 LOAD_CONST               1 (2)\n"
	                               "              8 RETURN_VALUE\n"
	                               "        >>   10 STORE_FAST               0 (a)\n"
	                               "             12 LOAD_FAST                0 (a)\n"
	                               "             14 RETURN_VALUE\n");
	machine_init(&m, c, &host, &w, &w.e->a);
	assert_int_equal(machine_run(&m, 100), MS_BRANCH);
	assert_false(machine_jumps_if(&m));
	machine_copy(&other, &m, &w.e->a);
	machine_choose(&m, true);
	assert_int_equal(machine_run(&m, 100), MS_RETURN);
	assert_int_equal(val(&w, m.value)->num, 1);
	machine_choose(&other, false);
	assert_int_equal(machine_run(&other, 100), MS_RETURN);
	assert_int_equal(val(&w, other.value)->num, 2);
	assert_int_equal(machine_var(&other, c->vars[0].name), 0);
}

static void steps_are_limited(void **state)
{
	World w;
	Machine m;
	world_init(&w, *state);
	Code *c = read_code_of(*state, "  1     >>    0 NOP\n              2 JUMP_ABSOLUTE            0\n");
	machine_init(&m, c, &host, &w, &w.e->a);
	assert_int_equal(machine_run(&m, 1001), MS_LIMIT);
	assert_int_equal(m.steps, 1001);
	assert_int_equal(machine_run(&m, 0), MS_LIMIT);
}

static void stops(Env *e, const char *listing, const char *why)
{
	World w;
	Machine m;
	world_init(&w, e);
	Code *c = read_code_of(e, listing);
	machine_init(&m, c, &host, &w, &e->a);
	MachineStatus s = machine_run(&m, 1000);
	if (s != MS_STOPPED)
		fail_msg("status %d: %s", s, listing);
	assert_string_equal(str_to_c(&e->a, m.why), why);
}

static void paths_that_cannot_be_followed(void **state)
{
	Env *e = *state;
	static const char *const few = "the stack has fewer values than the instruction takes";
	static const char *const null = "NULL stands where the instruction takes a value";
	stops(e, "  1           0 FROBNICATE\n", "an instruction that is not known");
	stops(e, "  1           0 NOP\n...\n              2 RETURN_VALUE\n", "instructions are left out here");
	stops(e, "  1           0 NOP\n", "the listing ends here");
	stops(e, "  1           0 RETURN_VALUE\n", few);
	stops(e, "  1           0 BUILD_LIST      4294967295\n", few);
	stops(e, "  1           0 COPY                     1\n", few);
	stops(e, "  1           0 COPY                     0\n", "a copy of nothing");
	stops(e, "  1           0 SWAP                     0\n", "a swap with nothing");
	stops(e, "  1           0 PUSH_NULL\n              2 RETURN_VALUE\n", null);
	stops(e, "  1           0 PUSH_NULL\n              2 LOAD_ATTR   0 (x)\n", null);
	stops(e, "  1           0 PUSH_NULL\n              2 PUSH_NULL\n              4 CALL   0\n", "NULL is called");
	stops(e, "  1           0 LOAD_CONST  0 (1)\n              2 LIST_APPEND   0\n", "a container that is not on the stack");
	stops(e, "  1           0 LOAD_CONST  0 (1)\n              2 LIST_APPEND   9\n", few);
	stops(e, "  1           0 LOAD_CONST  0 (1)\n              2 UNPACK_SEQUENCE 4294967295\n",
	      "the stack is deeper than any frame needs");
	stops(e, "  1           0 POP_BLOCK\n", "a block ends that never began");
	stops(e, "  1           0 LOAD_FAST                0 (x)\n", "unbound");
	stops(e, "  1           0 LOAD_CONST  0 (1)\n              2 FORMAT_VALUE 0\n",
	      "nobody knows what this instruction does here");
	stops(e, "  1           0 JUMP_FORWARD             9 (to 99)\n", "a jump to a place that the listing does not show");
}

/* ---- hostile code: a host that only hands out numbers ---- */

static Value any(World *w)
{
	return num(w, 1);
}

static Value any_const(void *ctx, Machine *m, Str s) { (void)m, (void)s; return any(ctx); }
static Value any_unbound(void *ctx, Machine *m, Unbound k, Sym s) { (void)m, (void)k, (void)s; return any(ctx); }
static Value any_name(void *ctx, Machine *m, Sym s) { (void)m, (void)s; return any(ctx); }
static Value any_cell(void *ctx, Machine *m, Sym s, Value v) { (void)m, (void)s, (void)v; return any(ctx); }
static Value any_get(void *ctx, Machine *m, Value v) { (void)m, (void)v; return any(ctx); }
static void any_set(void *ctx, Machine *m, Value v, Value x) { (void)ctx, (void)m, (void)v, (void)x; }
static Value any_attr(void *ctx, Machine *m, Value v, Sym s) { (void)m, (void)v, (void)s; return any(ctx); }
static Value any_op(void *ctx, Machine *m, Str s, Value x, Value y) { (void)m, (void)s, (void)x, (void)y; return any(ctx); }
static Value any_build(void *ctx, Machine *m, BuildKind k, const Value *v, uint32_t n)
{
	(void)m, (void)k;
	for (uint32_t i = 0; i < n; i++)
		val(ctx, v[i]);
	return any(ctx);
}
static void any_add(void *ctx, Machine *m, AddKind k, Value c, Value v, Value x) { (void)m, (void)k, (void)x; val(ctx, c); val(ctx, v); }
static void any_unpack(void *ctx, Machine *m, Value s, uint32_t n, int32_t after, Value *out)
{
	(void)m, (void)s, (void)after;
	for (uint32_t i = 0; i < n; i++)
		out[i] = any(ctx);
}
static NextItem any_next(void *ctx, Machine *m, Value it, Value *item) { (void)m, (void)it; *item = any(ctx); return NEXT_UNKNOWN; }
static Value any_call(void *ctx, Machine *m, const MachineCall *c)
{
	val(ctx, c->fn);
	for (uint32_t i = 0; i < c->n; i++)
		val(ctx, c->args[i]);
	if (m->steps % 5 == 0)
		machine_raise(m, any(ctx));
	return m->steps % 3 ? any(ctx) : VALUE_LATER;
}
static Value any_function(void *ctx, Machine *m, const MachineFunction *f) { (void)m; val(ctx, f->code); return any(ctx); }
static Tri any_truth(void *ctx, Machine *m, Value v) { (void)ctx, (void)m; return (Tri)(v % 3); }

static const Host hostile_host = {
	.constant = any_const, .integer = integer, .unbound = any_unbound, .load_global = any_name, .cell_new = any_cell,
	.cell_get = any_get, .cell_set = any_set, .get_attr = any_attr, .binary = any_op, .compare = any_op, .build = any_build,
	.build_joined = any_build, .add = any_add, .to_tuple = any_get, .unpack = any_unpack, .iter = any_get, .next = any_next,
	.truth = any_truth, .is_none = any_truth, .call = any_call, .make_function = any_function, .import_from = any_attr,
};

/* Instructions that put something on the stack, so that others find it. */
static const char *const pushes[] = {"LOAD_CONST", "LOAD_FAST", "PUSH_NULL", "LOAD_GLOBAL", "BUILD_LIST", "COPY", "SETUP_FINALLY", "BEGIN_FINALLY"};

/* Any instruction in any order: an end, never a fault. */
static void hostile_code(void **state)
{
	Env *e = *state;
	uint32_t rows, count;
	const OpRow *t = op_table(&rows);
	uint64_t seed = 12345;
	for (int round = 0; round < 3000; round++) {
		Buf b = {.a = &e->scratch};
		World w;
		Machine m;
		ArenaMark mark = arena_mark(&e->scratch);
		bool labels = round % 3 == 0;
		for (uint32_t i = 0; i < 14; i++) {
			seed = hash_u64(seed + i);
			const OpRow *r = i % 2 ? &t[seed % rows] : op_rows(str_from_c(pushes[seed % 8]), &count);
			uint32_t arg = seed >> 32 & 3;
			if (labels)
				buf_printf(&b, "%s L%u: " STR_FMT " %u (%s%u)\n", i ? "   " : "  1", i + 1, STR_ARG(r->name), arg,
				           r->flags & OF_JUMP ? "to L" : "", r->flags & OF_JUMP ? (uint32_t)(seed >> 40) % 14 + 1 : arg);
			else
				buf_printf(&b, "  1 %u " STR_FMT " %u (%s%u)\n", i * 2, STR_ARG(r->name), arg,
				           r->flags & OF_JUMP ? "to " : "", r->flags & OF_JUMP ? (uint32_t)(seed >> 40) % 14 * 2 : arg);
		}
		if (labels)
			buf_add(&b, S("ExceptionTable:\n  L1 to L9 -> L5 [1] lasti\n  L9 to L14 -> L3 [0]\n"));
		Code *c = read_code_of(e, str_to_c(&e->scratch, buf_str(&b)));
		world_init(&w, e);
		machine_init(&m, c, &hostile_host, &w, &e->a);
		for (int k = 0; k < 60; k++) {
			MachineStatus s = machine_run(&m, 5);
			seed = hash_u64(seed);
			if (s == MS_RETURN || s == MS_RAISE || s == MS_STOPPED)
				break;
			if (s == MS_BRANCH || s == MS_LOOP)
				machine_choose(&m, seed & 1);
			else if (s != MS_LIMIT && seed & 4)
				machine_throw(&m, num(&w, 1));
			else if (s != MS_LIMIT)
				machine_deliver(&m, num(&w, 2));
		}
		arena_rewind(&e->scratch, mark);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(loops_handlers_and_finally, setup, teardown),
		cmocka_unit_test_setup_teardown(while_loops, setup, teardown),
		cmocka_unit_test_setup_teardown(context_managers, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_callee_raises, setup, teardown),
		cmocka_unit_test_setup_teardown(stack_orders, setup, teardown),
		cmocka_unit_test_setup_teardown(cells_are_shared, setup, teardown),
		cmocka_unit_test_setup_teardown(generators, setup, teardown),
		cmocka_unit_test_setup_teardown(branches_are_the_drivers, setup, teardown),
		cmocka_unit_test_setup_teardown(steps_are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(paths_that_cannot_be_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_code, setup, teardown),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
