/* SPDX-License-Identifier: MIT
 * Expressions: random trees are built through the interface, through text and back, and every
 * answer is compared with values computed from the tree for small sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "types.h"
#include "expr_eval.h"

typedef struct World {
	Arena a;
	Names names;
	Types *t;
	uint64_t rng;
} World;

static int world_make(void **state)
{
	static World w;
	w.a = arena_new(NULL);
	names_init(&w.names, &w.a);
	w.t = types_new(&w.a, &w.names);
	w.rng = 1;
	*state = &w;
	return 0;
}

static int world_end(void **state)
{
	World *w = *state;
	arena_free(&w->a);
	return 0;
}

static uint32_t draw(World *w, uint32_t below)
{
	w->rng = w->rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->rng >> 33) % below;
}

/* ---- random trees ---- */

typedef struct Tree {
	char op; /* n number, s symbol, + - * / % M m */
	int64_t num;
	struct Tree *a, *b;
} Tree;

static Tree *tree_grow(World *w, int depth)
{
	Tree *t = NEW(&w->a, Tree);
	if (depth == 0 || draw(w, 4) == 0) {
		t->op = draw(w, 3) ? 's' : 'n';
		t->num = t->op == 's' ? draw(w, SYMBOLS) : (int64_t)draw(w, 9) - 2;
		return t;
	}
	t->op = "+-**//%Mm+"[draw(w, 10)];
	t->a = tree_grow(w, depth - 1);
	t->b = tree_grow(w, depth - 1);
	if ((t->op == '/' || t->op == '%') && draw(w, 2)) {
		t->b->op = 'n';
		t->b->num = 1 + draw(w, 6);
	}
	return t;
}

/* False: a division by 0 in it. */
static bool tree_value(const Tree *t, const int64_t *value, int64_t *out)
{
	int64_t a, b;
	if (t->op == 'n' || t->op == 's') {
		*out = t->op == 'n' ? t->num : value[t->num];
		return true;
	}
	if (!tree_value(t->a, value, &a) || !tree_value(t->b, value, &b))
		return false;
	switch (t->op) {
	case '+': *out = a + b; return true;
	case '-': *out = a - b; return true;
	case '*': *out = a * b; return true;
	case 'M': *out = a > b ? a : b; return true;
	case 'm': *out = a < b ? a : b; return true;
	default: break;
	}
	if (b == 0)
		return false;
	*out = t->op == '/' ? floor_of(a, b) : a - floor_of(a, b) * b;
	return true;
}

static ExprId tree_expr(World *w, const Tree *t)
{
	if (t->op == 'n')
		return expr_int(w->t, t->num);
	if (t->op == 's')
		return expr_symbol(w->t, str_from_c(symbol_names[t->num]));
	ExprId a = tree_expr(w, t->a), b = tree_expr(w, t->b);
	switch (t->op) {
	case '+': return expr_add(w->t, a, b);
	case '-': return expr_sub(w->t, a, b);
	case '*': return expr_mul(w->t, a, b);
	case '/': return expr_floordiv(w->t, a, b);
	case '%': return expr_mod(w->t, a, b);
	case 'M': return expr_max(w->t, a, b);
	default: return expr_min(w->t, a, b);
	}
}

static void tree_text(const Tree *t, Buf *out)
{
	if (t->op == 'n' || t->op == 's') {
		if (t->op == 's')
			buf_add(out, str_from_c(symbol_names[t->num]));
		else
			buf_printf(out, "%lld", (long long)t->num);
		return;
	}
	bool call = strchr("%Mm", t->op) != NULL;
	buf_add(out, t->op == '%'   ? S("Mod")
	             : t->op == 'M' ? S("Max")
	             : t->op == 'm' ? S("Min")
	                            : S(""));
	buf_char(out, '(');
	tree_text(t->a, out);
	if (call)
		buf_add(out, S(", "));
	else
		buf_printf(out, " %s ", t->op == '/' ? "//" : (char[]){t->op, 0});
	tree_text(t->b, out);
	buf_char(out, ')');
}

static void agrees(World *w, const Tree *tree, ExprId e)
{
	int64_t v[SYMBOLS] = FIRST_VALUES, want, got;
	Str text = expr_text(w->t, e, &w->a);
	do {
		if (!tree_value(tree, v, &want))
			continue;
		if (!eval_text(&w->a, text, v, &got) || got != want) {
			Buf b = {.a = &w->a};
			tree_text(tree, &b);
			fail_msg("%.*s became %.*s: %lld, not %lld", STR_ARG(buf_str(&b)), STR_ARG(text),
			         (long long)got, (long long)want);
		}
	} while (next_values(v));
}

static void values_stay(void **state)
{
	World *w = *state;
	int known = 0;
	for (int i = 0; i < 4000; i++) {
		ArenaMark m = {0};
		(void)m;
		Tree *tree = tree_grow(w, 1 + (int)draw(w, 4));
		ExprId e = tree_expr(w, tree);
		Buf b = {.a = &w->a};
		tree_text(tree, &b);
		ExprId parsed = expr_parse(w->t, buf_str(&b));
		if (!e.i)
			continue;
		known++;
		agrees(w, tree, e);
		if (parsed.i)
			agrees(w, tree, parsed);
		Str text = expr_text(w->t, e, &w->a);
		if (expr_parse(w->t, text).i != e.i)
			fail_msg("%.*s is read back as %.*s", STR_ARG(text),
			         STR_ARG(expr_text(w->t, expr_parse(w->t, text), &w->a)));
	}
	print_message("# %d of 4000 trees have a value\n", known);
	assert_true(known > 3000);
}

static void comparisons_hold(void **state)
{
	World *w = *state;
	int decided = 0, asked = 0;
	for (int i = 0; i < 20000; i++) {
		Tree *x = tree_grow(w, 1 + (int)draw(w, 3)), *y = tree_grow(w, 1 + (int)draw(w, 2));
		ExprId a = tree_expr(w, x), b = tree_expr(w, y);
		int64_t v[SYMBOLS] = FIRST_VALUES, p, q;
		bool eq = false, ne = false, ge = false, lt = false;
		if (!a.i || !b.i)
			continue;
		do {
			if (!tree_value(x, v, &p) || !tree_value(y, v, &q))
				continue;
			*(p == q ? &eq : &ne) = true;
			*(p >= q ? &ge : &lt) = true;
		} while (next_values(v));
		Tri is_eq = expr_eq(w->t, a, b), is_ge = expr_ge(w->t, a, b);
		asked += eq != ne;
		decided += eq != ne && is_eq != TRI_MAY;
		if ((is_eq == TRI_MUST && ne) || (is_eq == TRI_NO && eq) || (is_ge == TRI_MUST && lt) ||
		    (is_ge == TRI_NO && ge))
			fail_msg("%.*s against %.*s: eq %d, ge %d", STR_ARG(expr_text(w->t, a, &w->a)),
			         STR_ARG(expr_text(w->t, b, &w->a)), is_eq, is_ge);
		assert_int_equal(expr_eq(w->t, b, a), is_eq);
	}
	print_message("# equality decided in %d of %d pairs that have one answer for small sizes\n",
	              decided, asked);
	assert_true(decided * 2 > asked);
}

/* ---- what the decision rules rest on ---- */

static void decided(void **state)
{
	World *w = *state;
	static const struct {
		const char *a, *b;
		Tri eq, ge;
	} cases[] = {
		{"s2*s3 - s3", "0", TRI_NO, TRI_MUST},
		{"s2*s3", "s3", TRI_NO, TRI_MUST},
		{"s0", "1", TRI_NO, TRI_MUST},
		{"s0", "2", TRI_MAY, TRI_MUST},
		{"s77", "0", TRI_NO, TRI_MUST},
		{"u0", "1", TRI_MAY, TRI_MAY},
		{"u0", "-1", TRI_NO, TRI_MUST},
		{"u0*s0", "u0", TRI_MAY, TRI_MUST},
		{"s0", "s1", TRI_MAY, TRI_MAY},
		{"2*s0", "2*s1 + 1", TRI_NO, TRI_MAY},
		{"s0*s1", "s1*s0", TRI_MUST, TRI_MUST},
		{"(s0 + 1)*(s0 - 1)", "s0**2 - 1", TRI_MUST, TRI_MUST},
		{"((((s1//2)) + 1)//2)", "(s1 + 2)//4", TRI_MUST, TRI_MUST},
		{"(((s0 - 1)//2)) + 1", "(s0 + 1)//2", TRI_MUST, TRI_MUST},
		{"(s0//2)", "s0", TRI_NO, TRI_NO},
		{"s0", "(s0//2)", TRI_NO, TRI_MUST},
		{"(s0 + 1)//2", "s0", TRI_NO, TRI_NO},
		{"s0 - ((s0 + 1)//2)", "1", TRI_MAY, TRI_MUST},
		{"4*(s1//2)", "1", TRI_NO, TRI_MUST},
		{"Mod(s0, 8)", "8", TRI_NO, TRI_NO},
		{"Mod(4*s0, 2)", "0", TRI_MUST, TRI_MUST},
		{"PythonMod(s0, 3)", "Mod(s0, 3)", TRI_MUST, TRI_MUST},
		{"Max(1, s0)", "s0", TRI_MUST, TRI_MUST},
		{"Max(1, u0)", "0", TRI_NO, TRI_MUST},
		{"Max(1, u0)", "Max(u0, 1)", TRI_MUST, TRI_MUST},
		{"Max(3, Max(u0, u1, 2))", "Max(u1, 3, u0)", TRI_MUST, TRI_MUST},
		{"Min(s0, 9223372036854775807)", "s0", TRI_MAY, TRI_MAY},
		{"FloorDiv(s0*s1, s1)", "s0", TRI_MUST, TRI_MUST},
		{"(2*s0*s1 - 2*s0)//(s1 - 1)", "2*s0", TRI_MUST, TRI_MUST},
		{"(s0*s1 - s0)//(2*s1 - 2)", "s0//2", TRI_MUST, TRI_MUST},
		{"CeilDiv(s0, 2)", "(s0 + 1)//2", TRI_MUST, TRI_MUST},
		{"-s0 + 4", "4 - s0", TRI_MUST, TRI_MUST},
		{"-(-7//2)", "4", TRI_MUST, TRI_MUST},
		{"-2**2", "-4", TRI_MUST, TRI_MUST},
		{"2**3**2", "512", TRI_MUST, TRI_MUST},
		{"7 - 2 - 1", "4", TRI_MUST, TRI_MUST},
		{"100//7*7", "98", TRI_MUST, TRI_MUST},
		{"s0*s1/s1", "s0", TRI_MUST, TRI_MUST},
		{"TruncToInt(2.5*s0)", "TruncToInt(2.5 * s0)", TRI_MUST, TRI_MUST},
		{"ModularIndexing(s0, 2, 4)", "Mod(s0//2, 4)", TRI_MUST, TRI_MUST},
		{"Identity(s0)", "s0", TRI_MUST, TRI_MUST},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		ExprId a = expr_parse(w->t, str_from_c(cases[i].a)),
			   b = expr_parse(w->t, str_from_c(cases[i].b));
		if (!a.i || !b.i || expr_eq(w->t, a, b) != cases[i].eq ||
		    expr_ge(w->t, a, b) != cases[i].ge)
			fail_msg("%s (%.*s) against %s (%.*s): eq %d, ge %d", cases[i].a,
			         STR_ARG(expr_text(w->t, a, &w->a)), cases[i].b,
			         STR_ARG(expr_text(w->t, b, &w->a)), expr_eq(w->t, a, b), expr_ge(w->t, a, b));
	}
}

static void unknown(void **state)
{
	World *w = *state;
	static const char *const texts[] = {
		"",
		" ",
		"()",
		"s0 s1",
		"2 3",
		"s0 +",
		"*s0",
		"(s0",
		"s0)",
		"s0,",
		"Max(s0",
		"Max()",
		"Mod(s0)",
		"Mod(s0, 2, 3)",
		"s0 $ 2",
		"s0//0",
		"Mod(s0, 0)",
		"s0/2",
		"2.5",
		"1e5",
		"zf0",
		"2*zf3",
		"f1",
		"zuf0",
		"s0 > 2",
		"True",
		"s0**-1",
		"s0**s1",
		"s0**1000000",
		"99999999999999999999",
		"9223372036854775807 + 1",
		"9223372036854775807*2",
		"-9223372036854775808 - 1",
		"ToFloat(s0)",
		"Unheard(s0)",
		"s0[0]",
		"s0.x",
		"\xff\xfe",
		"s0\n+1",
		"3s0",
		"s0 = 1",
		"s0 ! 1",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (expr_parse(w->t, str_from_c(texts[i])).i)
			fail_msg("'%s' is no size", texts[i]);
	assert_int_equal(expr_parse(w->t, (Str){"s\0"
	                                        "0",
	                                        3})
	                     .i,
	                 0);
	ExprId s = expr_parse(w->t, S("s0")), none = {0};
	assert_int_equal(expr_add(w->t, s, none).i, 0);
	assert_int_equal(expr_mul(w->t, none, s).i, 0);
	assert_int_equal(expr_floordiv(w->t, s, none).i, 0);
	assert_int_equal(expr_max(w->t, s, none).i, 0);
	assert_int_equal(expr_eq(w->t, none, none), TRI_MAY);
	assert_int_equal(expr_ge(w->t, s, none), TRI_MAY);
	int64_t v;
	assert_false(expr_value(w->t, none, &v));
	assert_false(expr_value(w->t, s, &v));
	assert_true(str_eq(expr_text(w->t, none, &w->a), S("?")));
}

static void extremes(void **state)
{
	World *w = *state;
	int64_t v;
	ExprId least = expr_int(w->t, INT64_MIN), most = expr_int(w->t, INT64_MAX),
		   minus = expr_int(w->t, -1);
	assert_int_equal(expr_sub(w->t, least, expr_int(w->t, 1)).i, 0);
	assert_int_equal(expr_mul(w->t, least, minus).i, 0);
	assert_int_equal(expr_floordiv(w->t, least, minus).i, 0);
	assert_true(expr_value(w->t, expr_floordiv(w->t, least, expr_int(w->t, 3)), &v));
	assert_true(v == INT64_MIN / 3 - 1);
	assert_true(expr_value(w->t, expr_mod(w->t, least, expr_int(w->t, 3)), &v));
	assert_int_equal(v, 1);
	assert_int_equal(expr_ge(w->t, most, least), TRI_MUST);
	ExprId big = expr_mul(w->t, most, expr_symbol(w->t, S("s0")));
	assert_int_equal(expr_eq(w->t, big, least), TRI_NO);
	assert_int_equal(expr_mul(w->t, big, big).i, 0);
	assert_true(str_eq(expr_text(w->t, least, &w->a), S("-9223372036854775808")));
	assert_int_equal(expr_parse(w->t, S("-9223372036854775808")).i, least.i);
}

static Str repeat(World *w, const char *head, const char *part, const char *tail, int n)
{
	Buf b = {.a = &w->a};
	buf_add(&b, str_from_c(head));
	for (int i = 0; i < n; i++)
		buf_add(&b, str_from_c(part));
	buf_add(&b, str_from_c(tail));
	return buf_str(&b);
}

/* Text that asks for depth, width or growth: an answer comes, and soon. */
static void hostile(void **state)
{
	World *w = *state;
	Buf b = {.a = &w->a};
	size_t before = arena_bytes(&w->a);
	assert_int_equal(expr_parse(w->t, repeat(w, "", "(", "s0", 100000)).i, 0);
	assert_int_equal(expr_parse(w->t, repeat(w, "", "-", "s0", 100000)).i, 0);
	assert_int_equal(expr_parse(w->t, repeat(w, "s0", "**s0", "", 100000)).i, 0);
	assert_int_equal(expr_parse(w->t, repeat(w, "", "Max(s0, ", "1", 100000)).i, 0);
	assert_int_not_equal(expr_parse(w->t, repeat(w, "s0", " + s0", "", 100000)).i, 0);
	assert_int_equal(expr_parse(w->t, repeat(w, "s0", "*s0", "", 100000)).i, 0);
	assert_int_equal(expr_parse(w->t, repeat(w, "s0", "*2", "", 100000)).i, 0);
	assert_int_equal(expr_parse(w->t, repeat(w, "(s0 + s1 + s2)", "*(s0 + s1 + s3)", "", 30)).i, 0);
	for (int i = 0; i < 20000; i++)
		buf_printf(&b, "%ss%d*s%d", i ? " + " : "", i, i + 1);
	assert_int_equal(expr_parse(w->t, buf_str(&b)).i, 0);
	b.n = 0;
	for (int i = 0; i < 5000; i++)
		buf_printf(&b, "Max(s%d, ", i);
	assert_int_equal(expr_parse(w->t, buf_str(&b)).i, 0);
	/* each step doubles the text of the one before */
	ExprId e = expr_symbol(w->t, S("s0"));
	for (int i = 0; i < 200 && e.i; i++)
		e = expr_add(w->t, expr_floordiv(w->t, expr_mul(w->t, e, e), expr_symbol(w->t, S("s1"))),
		             expr_floordiv(w->t, e, expr_symbol(w->t, S("s2"))));
	assert_int_equal(e.i, 0);
	assert_true(arena_bytes(&w->a) - before < 64u << 20);
}

/* Distinct values only cost memory once. */
static void interned_once(void **state)
{
	World *w = *state;
	Str text = S("((s5//3) + 7*s6)*s5 - Max(u9, Mod(s5, 6))");
	ExprId e = expr_parse(w->t, text);
	size_t before = arena_bytes(&w->a);
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(expr_parse(w->t, text).i, e.i);
		expr_eq(w->t, e, expr_int(w->t, 3));
	}
	assert_true(arena_bytes(&w->a) - before < 1u << 16);
}

static void texts(void **state)
{
	World *w = *state;
	static const char *const cases[][2] = {
		{"s0", "s0"},
		{"2*s0", "2*s0"},
		{"(s1//2)", "(s1//2)"},
		{"s1//2", "(s1//2)"},
		{"((((s1//2)) + 1)//2)", "((s1 + 2)//4)"},
		{"-s0 + 4", "-s0 + 4"},
		{"4 - s0", "-s0 + 4"},
		{"s1*s0**2", "s0**2*s1"},
		{"Mod(s0, 8)", "Mod(s0, 8)"},
		{"Max(u0, 1)", "Max(1, u0)"},
		{"(30//s0)", "(30//s0)"},
		{"s0*(s1 + 1)", "s0*s1 + s0"},
		{"s0 - s0", "0"},
		{"s0//(2*s1)", "(s0//(2*s1))"},
		{"-s0//2", "((s0)//2) - s0"},
		{"u0 - 1", "u0 - 1"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Str got = expr_text(w->t, expr_parse(w->t, str_from_c(cases[i][0])), &w->a);
		ExprId same = expr_parse(w->t, str_from_c(cases[i][1]));
		Str want = expr_text(w->t, same, &w->a);
		if (!str_eq(got, want) || (i != 14 && !str_eq(got, str_from_c(cases[i][1]))))
			fail_msg("%s gives %.*s", cases[i][0], STR_ARG(got));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(values_stay, world_make, world_end),
		cmocka_unit_test_setup_teardown(comparisons_hold, world_make, world_end),
		cmocka_unit_test_setup_teardown(decided, world_make, world_end),
		cmocka_unit_test_setup_teardown(unknown, world_make, world_end),
		cmocka_unit_test_setup_teardown(extremes, world_make, world_end),
		cmocka_unit_test_setup_teardown(hostile, world_make, world_end),
		cmocka_unit_test_setup_teardown(interned_once, world_make, world_end),
		cmocka_unit_test_setup_teardown(texts, world_make, world_end),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
