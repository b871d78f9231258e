/* SPDX-License-Identifier: MIT
 * Value numbers: what folds because it is equal for all values, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <cmocka.h>

#include "term.h"

typedef struct World {
	Arena a;
	Names names;
	Terms *t;
	TermId x, y, c, d;
} World;

static int world_make(void **state)
{
	static World w;
	w.a = arena_new(NULL);
	names_init(&w.names, &w.a);
	w.t = terms_new(&w.a, &w.names, 0);
	w.x = term_fresh(w.t, 1);
	w.y = term_fresh(w.t, 2);
	w.c = term_fresh(w.t, 3);
	w.d = term_fresh(w.t, 4);
	*state = &w;
	return 0;
}

static int world_free(void **state)
{
	World *w = *state;
	arena_free(&w->a);
	return 0;
}

static TermId num(World *w, double v)
{
	return term_num(w->t, v, 'f');
}

static TermId op(World *w, const char *name, const TermId *v, uint32_t n)
{
	return term_op(w->t, sym_intern(&w->names, str_from_c(name)), v, n, 0);
}

static TermId op1(World *w, const char *name, TermId a)
{
	return op(w, name, &a, 1);
}

static TermId op2(World *w, const char *name, TermId a, TermId b)
{
	return op(w, name, (TermId[]){a, b}, 2);
}

static TermId where(World *w, TermId c, TermId a, TermId b)
{
	return op(w, "where", (TermId[]){c, a, b}, 3);
}

#define SAME(a, b) assert_int_equal((a).i, (b).i)
#define DIFFER(a, b) assert_int_not_equal((a).i, (b).i)

static void equal_terms_are_one(void **state)
{
	World *w = *state;
	SAME(op2(w, "add", w->x, w->y), op2(w, "add", w->x, w->y));
	DIFFER(op2(w, "add", w->x, w->y), op2(w, "add", w->y, w->x));
	DIFFER(op2(w, "add", w->x, w->y), op2(w, "sub", w->x, w->y));
	SAME(term_fresh(w->t, 1), w->x);
	DIFFER(term_unsure(w->t, 1), w->x);
	DIFFER(term_num(w->t, 1, 'i'), term_num(w->t, 1, 'f'));
	SAME(num(w, -0.0), num(w, 0.0));
	SAME(num(w, NAN), num(w, -NAN));
	DIFFER(term_op(w->t, sym_intern(&w->names, S("f")), &w->x, 1, 1),
	       term_op(w->t, sym_intern(&w->names, S("f")), &w->x, 1, 2));
}

static void what_changes_nothing(void **state)
{
	World *w = *state;
	SAME(op2(w, "mul", w->x, num(w, 1)), w->x);
	SAME(op2(w, "mul", num(w, 1), w->x), w->x);
	SAME(op2(w, "add", w->x, num(w, 0)), w->x);
	SAME(op2(w, "add", num(w, 0), w->x), w->x);
	SAME(op2(w, "sub", w->x, num(w, 0)), w->x);
	SAME(op2(w, "div", w->x, num(w, 1)), w->x);
	SAME(op2(w, "pow", w->x, num(w, 1)), w->x);
	SAME(op2(w, "maximum", w->x, w->x), w->x);
	SAME(op1(w, "neg", op1(w, "neg", w->x)), w->x);
	TermId r = op1(w, "relu", w->x);
	SAME(op1(w, "relu", r), r);
	TermId a = op1(w, "abs", w->x);
	SAME(op1(w, "abs", a), a);
}

static void what_is_not_the_same(void **state)
{
	World *w = *state;
	DIFFER(op2(w, "sub", num(w, 0), w->x), w->x);
	DIFFER(op2(w, "div", num(w, 1), w->x), w->x);
	DIFFER(op2(w, "pow", num(w, 1), w->x), w->x);
	DIFFER(op2(w, "add", op2(w, "sub", w->x, num(w, 1)), num(w, 1)), w->x);
	DIFFER(op2(w, "mul", w->x, num(w, 0)), num(w, 0)); /* NaN, infinity */
	DIFFER(op2(w, "sub", w->x, w->x), num(w, 0));
	DIFFER(op1(w, "exp", op1(w, "exp", w->x)), op1(w, "exp", w->x));
	DIFFER(op1(w, "relu", op1(w, "abs", w->x)), op1(w, "relu", w->x));
	DIFFER(op1(w, "sigmoid", op1(w, "sigmoid", w->x)), w->x);
	DIFFER(op(w, "relu", (TermId[]){op1(w, "relu", w->x), w->y}, 2), op1(w, "relu", w->x));
	DIFFER(term_op(w->t, sym_intern(&w->names, S("mul")), (TermId[]){w->x, num(w, 1)}, 2, 5), w->x);
}

static void clamps(void **state)
{
	World *w = *state;
	TermId low = op2(w, "clamp_min", w->x, num(w, 0)), both = op2(w, "clamp_max", low, num(w, 1));
	SAME(op2(w, "clamp_min", low, num(w, 0)), low);
	SAME(op2(w, "clamp_min", low, num(w, -1)), low);
	DIFFER(op2(w, "clamp_min", low, num(w, 2)), low);
	SAME(op2(w, "clamp_min", both, num(w, 0)), both);
	SAME(op2(w, "clamp_max", both, num(w, 1)), both);
	SAME(op2(w, "clamp_max", both, num(w, 3)), both);
	/* below the upper bound the lower one would win */
	DIFFER(op2(w, "clamp_min", op2(w, "clamp_max", low, num(w, -5)), num(w, 0)),
	       op2(w, "clamp_max", low, num(w, -5)));
	DIFFER(op2(w, "clamp_max", low, num(w, 1)), low);
	SAME(op2(w, "clamp_min", op2(w, "clamp_min", w->x, w->y), w->y),
	     op2(w, "clamp_min", w->x, w->y));
	DIFFER(op2(w, "clamp_min", op2(w, "clamp_min", w->x, w->y), w->c),
	       op2(w, "clamp_min", w->x, w->y));
	DIFFER(op2(w, "clamp_min", op2(w, "add", w->x, num(w, 5)), num(w, 0)),
	       op2(w, "add", w->x, num(w, 5)));
	SAME(op2(w, "clamp_min", num(w, -3), num(w, 0)), num(w, 0));
	SAME(op2(w, "clamp_max", num(w, -3), num(w, 0)), num(w, -3));
	TermId nan = op2(w, "clamp_min", w->x, num(w, NAN));
	DIFFER(op2(w, "clamp_min", nan, num(w, 0)), nan);
}

static void choices(void **state)
{
	World *w = *state;
	SAME(where(w, w->c, w->x, w->x), w->x);
	SAME(where(w, num(w, 1), w->x, w->y), w->x);
	SAME(where(w, num(w, 0), w->x, w->y), w->y);
	TermId once = where(w, w->c, num(w, 0), w->x);
	SAME(where(w, w->c, num(w, 0), once), once);
	SAME(where(w, w->c, w->y, once), where(w, w->c, w->y, w->x));
	DIFFER(where(w, w->d, num(w, 0), once), once);
	DIFFER(where(w, w->c, once, num(w, 0)), once);
}

static void over_numbers(void **state)
{
	World *w = *state;
	SAME(op2(w, "add", num(w, 2), num(w, 3)), num(w, 5));
	SAME(op2(w, "mul", term_num(w->t, 2, 'i'), term_num(w->t, 3, 'i')), term_num(w->t, 6, 'i'));
	SAME(op2(w, "lt", num(w, 2), num(w, 3)), term_num(w->t, 1, 'b'));
	SAME(op2(w, "maximum", num(w, 2), num(w, 3)), num(w, 3));
	SAME(op1(w, "neg", num(w, 2)), num(w, -2));
	SAME(op1(w, "relu", num(w, -2)), num(w, 0));
	SAME(op1(w, "abs", num(w, -2)), num(w, 2));
	assert_int_equal(term_get(w->t, op2(w, "add", num(w, 0.1), num(w, 0.2)))->kind, TERM_OP);
	assert_int_equal(term_get(w->t, op2(w, "mul", num(w, 1e300), num(w, 1e300)))->kind, TERM_OP);
	assert_int_equal(term_get(w->t, op2(w, "add", num(w, INFINITY), num(w, 5)))->kind, TERM_OP);
	assert_int_equal(term_get(w->t, op2(w, "lt", num(w, NAN), num(w, 5)))->kind, TERM_OP);
	TermId yes = term_num(w->t, 1, 'b');
	assert_int_equal(term_get(w->t, op2(w, "add", yes, yes))->kind, TERM_OP);
	SAME(op1(w, "relu", num(w, NAN)), num(w, NAN));
}

static void unsure_spreads(void **state)
{
	World *w = *state;
	TermId u = term_unsure(w->t, 9);
	assert_true(term_is_unsure(w->t, u));
	assert_true(term_is_unsure(w->t, op2(w, "add", op1(w, "exp", u), w->x)));
	assert_false(term_is_unsure(w->t, op2(w, "add", w->x, w->y)));
	SAME(where(w, w->c, w->x, w->x), w->x);
	assert_false(term_is_unsure(w->t, where(w, u, w->x, w->x)));
}

static void what_differs_for_certain(void **state)
{
	World *w = *state;
	TermId u = term_unsure(w->t, 7), v = term_unsure(w->t, 8);
	assert_true(term_surely_differs(w->t, w->x, w->y));
	assert_false(term_surely_differs(w->t, w->x, w->x));
	assert_false(term_surely_differs(w->t, u, v));
	assert_false(term_surely_differs(w->t, u, w->x));
	/* beside one unsure value the sure ones differ as before */
	assert_true(term_surely_differs(w->t, op2(w, "sub", w->x, u), op2(w, "sub", w->y, u)));
	assert_false(term_surely_differs(w->t, op2(w, "sub", w->x, u), op2(w, "sub", w->x, v)));
	assert_false(term_surely_differs(w->t, op2(w, "sub", w->x, u), op2(w, "div", w->y, u)));
	assert_false(term_surely_differs(w->t, op2(w, "perhaps", w->x, u), op2(w, "perhaps", w->y, u)));
}

static void going_back(void **state)
{
	World *w = *state;
	TermId kept = op2(w, "sub", w->x, w->y), first = {0};
	TermsMark m = terms_mark(w->t);
	for (uint64_t i = 0; i < 20000; i++) { /* the table grows on the way */
		TermId f = term_fresh(w->t, 1000 + i);
		first = i ? first : f;
	}
	terms_rewind(w->t, m);
	SAME(op2(w, "sub", w->x, w->y), kept);
	assert_int_equal(term_fresh(w->t, 5000).i, first.i); /* nothing of it is left */
	assert_int_equal(term_fresh(w->t, 5000).i, first.i);
	assert_int_not_equal(term_fresh(w->t, 1000).i, first.i);
}

static void a_limit(void **state)
{
	World *w = *state;
	Terms *t = terms_new(&w->a, &w->names, 100);
	TermId last = {0}, many[4096];
	for (uint64_t i = 0; i < 1000; i++)
		last = term_fresh(t, i);
	assert_true(terms_limit_hit(t));
	assert_true(term_is_unsure(t, last));
	assert_int_equal(term_get(t, term_fresh(t, 5))->extra, 5); /* what is there is still found */
	t = terms_new(&w->a, &w->names, 100);
	for (uint32_t i = 0; i < 4096; i++)
		many[i] = term_fresh(t, i % 8);
	for (uint64_t i = 0; i < 90; i++)
		last = term_op(t, sym_intern(&w->names, S("vec")), many, 4096, i);
	assert_true(terms_limit_hit(t));
	assert_true(term_is_unsure(t, last));
}

static void many_terms(void **state)
{
	World *w = *state;
	TermId x = w->x, y = w->x;
	for (uint32_t i = 0; i < 50000; i++)
		x = op2(w, "add", x, num(w, 1.5));
	for (uint32_t i = 0; i < 50000; i++)
		y = op2(w, "add", y, num(w, 1.5));
	SAME(x, y);
	Buf b = {.a = &w->a};
	term_text_of(w->t, x, 2, &b);
	assert_true(str_eq(buf_str(&b), S("add(add(add(...), 1.5), 1.5)")));
}

/* What lies at or above zero: relu keeps it, and no mask of negative values holds for it. */
static void what_lies_above_zero(void **state)
{
	World *w = *state;
	TermId zero = num(w, 0), lane[2] = {w->x, op2(w, "vec", w->x, w->y)};
	TermId p = op(w, "softmax", lane, 2), no = op2(w, "lt", p, zero);
	assert_int_equal(op1(w, "relu", p).i, p.i);
	assert_int_equal(op1(w, "abs", p).i, p.i);
	assert_int_equal(no.i, term_num(w->t, 0, 'b').i);
	assert_int_equal(op(w, "where", (TermId[]){no, num(w, 3), p}, 3).i, p.i);
	assert_int_equal(op2(w, "clamp_max", p, num(w, 1)).i, p.i);
	assert_int_not_equal(op2(w, "clamp_max", p, num(w, 0.5)).i, p.i);
	assert_int_equal(term_get(w->t, op2(w, "lt", p, num(w, 0.5)))->kind, TERM_OP);
	assert_int_equal(term_get(w->t, op2(w, "gt", p, zero))->kind, TERM_OP);
	TermId sum = op2(w, "add", p, op1(w, "exp", w->y)), less = op2(w, "sub", p, num(w, 1));
	assert_int_equal(op1(w, "relu", sum).i, sum.i);
	assert_int_not_equal(op1(w, "relu", less).i, less.i);
	assert_int_equal(op1(w, "relu", less).i, zero.i);
	TermId above = op2(w, "sub", p, num(w, -0.25));
	assert_int_equal(op2(w, "gt", above, num(w, 0.125)).i, term_num(w->t, 1, 'b').i);
	TermId square = op2(w, "mul", w->x, w->x), other = op2(w, "mul", w->x, w->y);
	assert_int_equal(op1(w, "relu", square).i, square.i);
	assert_int_not_equal(op1(w, "relu", other).i, other.i);
}

static void a_shift_that_cancels(void **state)
{
	World *w = *state;
	TermId c = num(w, -1), a = op2(w, "add", w->x, c), b = op2(w, "add", w->y, c), d = op2(w, "add", w->y, num(w, 2));
	TermId plain = op2(w, "softmax", w->x, op2(w, "vec", w->x, w->y));
	assert_int_equal(op2(w, "softmax", a, op2(w, "vec", a, b)).i, plain.i);
	assert_int_not_equal(op2(w, "softmax", a, op2(w, "vec", a, d)).i, plain.i);
	assert_int_not_equal(op2(w, "softmax", a, op2(w, "vec", a, w->y)).i, plain.i);
	TermId half = num(w, 0.5), zero = num(w, 0);
	assert_int_equal(op2(w, "softmax", half, op2(w, "vec", half, half)).i, op2(w, "softmax", zero, op2(w, "vec", zero, zero)).i);
	assert_int_not_equal(op2(w, "softmax", half, op2(w, "vec", half, zero)).i, op2(w, "softmax", zero, op2(w, "vec", zero, zero)).i);
}

/* where(x > 0, x, 3): the condition says what its arm is. */
static void what_a_condition_says(void **state)
{
	World *w = *state;
	TermId c = op2(w, "gt", w->x, num(w, 0));
	TermId kept = op(w, "where", (TermId[]){c, w->x, num(w, 3)}, 3), turned = op(w, "where", (TermId[]){c, num(w, 3), w->x}, 3);
	TermId low = op(w, "where", (TermId[]){c, w->x, num(w, -3)}, 3);
	assert_int_equal(op1(w, "relu", kept).i, kept.i);
	assert_int_not_equal(op1(w, "relu", turned).i, turned.i);
	assert_int_not_equal(op1(w, "relu", low).i, low.i);
	TermId n = op1(w, "f32_to_f64", kept);
	assert_int_equal(op1(w, "relu", n).i, n.i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_terms_are_one),
		cmocka_unit_test(what_changes_nothing),
		cmocka_unit_test(what_is_not_the_same),
		cmocka_unit_test(clamps),
		cmocka_unit_test(choices),
		cmocka_unit_test(over_numbers),
		cmocka_unit_test(unsure_spreads),
		cmocka_unit_test(a_limit),
		cmocka_unit_test(what_differs_for_certain),
		cmocka_unit_test(going_back),
		cmocka_unit_test(many_terms),
		cmocka_unit_test(what_lies_above_zero),
		cmocka_unit_test(a_shift_that_cancels),
		cmocka_unit_test(what_a_condition_says)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, world_make, world_free);
}
