/* SPDX-License-Identifier: MIT
 * Types: annotations of every printer generation, text and back, dtypes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "types.h"

typedef struct World {
	Arena a;
	Names names;
	Types *t;
} World;

static int world_make(void **state)
{
	static World w;
	w.a = arena_new(NULL);
	names_init(&w.names, &w.a);
	w.t = types_new(&w.a, &w.names);
	*state = &w;
	return 0;
}

static int world_end(void **state)
{
	World *w = *state;
	arena_free(&w->a);
	return 0;
}

static void annotations(void **state)
{
	World *w = *state;
	static const char *const cases[][2] = {
		{"f32[2, 3]", "f32[2, 3]"},
		{"f32[2, 3][3, 1]cpu", "f32[2, 3][3, 1]cpu"},
		{"f32[2, 3][3, 1]", "f32[2, 3][3, 1]"},
		{"f32[2, 3]cuda:0", "f32[2, 3]cuda:0"},
		{"f32[]", "f32[]"},
		{"f32[][]cpu", "f32[][]cpu"},
		{"b8[][]cuda:12", "b8[][]cuda:12"},
		{"i64[1][1]privateuseone:0", "i64[1][1]privateuseone:0"},
		{"f8e4m3fn[4]", "f8e4m3fn[4]"},
		{"f4e2m1fnx2[4]", "f4e2m1fnx2[4]"},
		{"f32[2*s0, s1//2]", "f32[2*s0, (s1//2)]"},
		{"f32[s0, ((((s1//2)) + 1)//2)][((((s1//2)) + 1)//2), 1]cpu",
	     "f32[s0, ((s1 + 2)//4)][((s1 + 2)//4), 1]cpu"},
		{"i64[u0, 3][Max(1, u0), 1]cpu", "i64[u0, 3][Max(1, u0), 1]cpu"},
		{"f32[Max(1, u0, u1), Mod(s0, 8)]", "f32[Max(1, u0, u1), Mod(s0, 8)]"},
		{"f32[s77, 4][4*s27, 1]cpu", "f32[s77, 4][4*s27, 1]cpu"},
		{"f32[1, TruncToInt(2.0*s0)]", "f32[1, TruncToInt(2.0*s0)]"},
		{"f32[zf0, 2]", NULL},
		{"f32[2, Unheard(s0)]", "f32[2, ?]"},
		{"  f32[ 2 ,3 ]  ", "f32[2, 3]"},
		{"Sym(2*s0)", "Sym(2*s0)"},
		{"Sym(2)", "Sym(2)"},
		{"Sym(s0 + 1)", "Sym(s0 + 1)"},
		{"Sym(u0 >= 0)", "Sym(?)"},
		{"Sym(0.25)", "Sym(?)"},
		{"Sym(True)", "Sym(?)"},
		{"DTensor(f32[8, 4][4, 1]cpu, S(0))", "Subclass(f32[8, 4][4, 1]cpu)"},
		{"DTensor(f32[8, 4], S(0)R)", "Subclass(f32[8, 4])"},
		{"TwoTensor(f32[2, 3][3, 1]cpu)", "Subclass(f32[2, 3][3, 1]cpu)"},
		{"TwoTensor(DTensor(f32[2], R))", "Subclass(f32[2])"},
		{"torch.Tensor", "tensor"},
		{"torch.nn.parameter.Parameter", "tensor"},
		{"torch.nn.parameter.Buffer", "tensor"},
		{"torch.distributed.tensor.DTensor", "tensor"},
		{"torch.SymInt", "Sym(?)"},
		{"int", "Sym(?)"},
		{"str", "other"},
		{"torch.dtype", "other"},
		/* damage, and what is no annotation */
		{"", NULL},
		{"f32", NULL},
		{"f32[", NULL},
		{"f32[2, 3", NULL},
		{"f32[2, 3]]", NULL},
		{"f32[2,, 3]", NULL},
		{"f32[2, 3,]", NULL},
		{"f32[2 3]", NULL},
		{"f32[2, 3][3, 1", NULL},
		{"f32[2, 3][1]", NULL},
		{"f32[2, 3][3, 1]cpu:", NULL},
		{"f32[2, 3][3, 1]cpu:x", NULL},
		{"f32[2, 3][3, 1]cpu cpu", NULL},
		{"f32[2, 3][3, 1][1]", NULL},
		{"f32[2, 3]CPU", NULL},
		{"f33[2, 3]", NULL},
		{"F32[2]", NULL},
		{"[2, 3]", NULL},
		{"f32[2, \x1b[0m3]", NULL},
		{"f32[x > 0]", NULL},
		{"f32[(2, 3)]", NULL},
		{"f32[[2]]", NULL},
		{"Sym(", NULL},
		{"Sym()", NULL},
		{"Sym(s0", NULL},
		{"Sym(s0))", NULL},
		{"Sym(s0)x", NULL},
		{"Sym(s0 s1)", NULL},
		{"DTensor(f32[8, 4][4, 1]cpu, S(0)", NULL},
		{"DTensor()", NULL},
		{"DTensor(Sym(s0))", NULL},
		{"DTensor(8)", NULL},
		{"torch.Tensor.", NULL},
		{".Tensor", NULL},
		{"torch..Tensor", NULL},
		{"a b.Tensor", NULL},
		{"torch.nn.Linear", NULL},
		{"List[torch.Tensor]", NULL},
		{"None of these", NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		TypeId id = type_parse(w->t, str_from_c(cases[i][0]));
		if (!cases[i][1]) {
			if (id.i)
				fail_msg("'%s' was read as %.*s", cases[i][0], STR_ARG(type_text(w->t, id, &w->a)));
			continue;
		}
		Str text = type_text(w->t, id, &w->a);
		if (!id.i || !str_eq(text, str_from_c(cases[i][1])))
			fail_msg("'%s' gives %.*s", cases[i][0], STR_ARG(text));
		if (!str_has(text, S("?")) && !str_eq(text, S("tensor")) && !str_eq(text, S("other")))
			assert_int_equal(type_parse(w->t, text).i, id.i);
	}
}

/* Every prefix of an annotation is damaged, but for those that are annotations of less. */
static void prefixes(void **state)
{
	World *w = *state;
	Str s = S("DTensor(f32[s0, (s1//2)][(s1//2), 1]cuda:0, S(0))");
	for (uint32_t n = 0; n < s.n; n++)
		assert_true(n == 7 /* a class name */ || !type_parse(w->t, str_sub(s, 0, n)).i);
	s = S("f32[s0, (s1//2)][(s1//2), 1]cuda:0");
	uint32_t read = 0;
	for (uint32_t n = 0; n < s.n; n++)
		read += type_parse(w->t, str_sub(s, 0, n)).i != 0;
	assert_int_equal(read, 6); /* ...2)], ...1], c, cu, cud, cuda */
}

static void parts(void **state)
{
	World *w = *state;
	Type v = *type_get(w->t, type_parse(w->t, S("bf16[2, s0][s0, 1]cuda:1")));
	assert_int_equal(v.kind, TK_TENSOR);
	assert_int_equal(v.dtype, DT_BF16);
	assert_true(v.has_shape && v.has_stride && !v.wrapped);
	assert_int_equal(v.ndim, 2);
	assert_true(str_eq(sym_str(&w->names, v.device), S("cuda:1")));
	assert_int_equal(v.size[1].i, v.stride[0].i);
	v = *type_get(w->t, type_parse(w->t, S("f32[2, -3, 4][4, 1, 3]")));
	assert_true(v.kind == TK_TENSOR && !v.has_shape && !v.has_stride); /* no tensor has it */
	v = *type_get(w->t, type_parse(w->t, S("f32[][]cpu")));
	assert_true(v.has_shape && v.has_stride && v.ndim == 0);
	v = *type_get(w->t, type_parse(w->t, S("f32[]")));
	assert_true(v.has_shape && !v.has_stride && v.ndim == 0);
	assert_true(type_get(w->t, type_parse(w->t, S("TwoTensor(f32[])")))->wrapped);
	static const struct {
		const char *text;
		DType number;
		bool value;
	} numbers[] = {
		{"Sym(s0)", DT_I64, true},
		{"Sym(u0 < 6)", DT_B8, false},
		{"Sym(zf0)", DT_F64, false},
		{"Sym(2.0*zf1)", DT_F64, false},
		{"Sym(FloatPow(0.9, zf1))", DT_F64, false},
		{"Sym(zf0 > 1.0)", DT_B8, false},
		{"Sym(IntTrueDiv(30, s0))", DT_F64, false},
		{"Sym(TruncToInt(100.0*zf0))", DT_I64, true},
		{"Sym(False)", DT_B8, false},
		{"Sym(Eq(s0, 3))", DT_B8, false},
		{"torch.SymFloat", DT_F64, false},
	};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		v = *type_get(w->t, type_parse(w->t, str_from_c(numbers[i].text)));
		if (v.kind != TK_SYM || v.dtype != numbers[i].number || (v.sym.i != 0) != numbers[i].value)
			fail_msg("%s: kind %d, dtype %d, sym %u", numbers[i].text, v.kind, v.dtype, v.sym.i);
	}
}

static void interning(void **state)
{
	World *w = *state;
	TypeId a = type_parse(w->t, S("f32[2, 3][3, 1]cpu")),
		   b = type_parse(w->t, S("f32[2,3][3,1]cpu"));
	assert_int_equal(a.i, b.i);
	assert_int_not_equal(a.i, type_parse(w->t, S("f32[2, 3][1, 2]cpu")).i);
	assert_int_not_equal(a.i, type_parse(w->t, S("f32[2, 3]cpu")).i);
	assert_int_equal(type_without_layout(w->t, a).i, type_parse(w->t, S("f32[2, 3]cpu")).i);
	assert_int_equal(type_with_dtype(w->t, a, DT_F64).i,
	                 type_parse(w->t, S("f64[2, 3][3, 1]cpu")).i);
	Type bare = *type_get(w->t, type_without_shape(w->t, a));
	assert_true(!bare.has_shape && bare.dtype == DT_F32 && bare.device.i);
	assert_int_equal(type_get(w->t, (TypeId){0})->kind, TK_NONE);
	Type nothing = {.kind = TK_NONE, .dtype = DT_F32};
	assert_int_equal(type_intern(w->t, &nothing).i, 0);
	ExprId size[] = {expr_int(w->t, 2), expr_int(w->t, 0), expr_int(w->t, 3)};
	assert_int_equal(type_contiguous_of(w->t, DT_I8, size, 3, (Sym){0}).i,
	                 type_parse(w->t, S("i8[2, 0, 3][3, 3, 1]")).i);
	size[1] = expr_symbol(w->t, S("u0"));
	assert_int_equal(type_contiguous_of(w->t, DT_I8, size, 3, (Sym){0}).i,
	                 type_parse(w->t, S("i8[2, u0, 3][3*Max(1, u0), 3, 1]")).i);
	Str text = S("f32[2, s0*3, ((s1//2) + 1)][3, (s0//4), 1]cpu");
	a = type_parse(w->t, text);
	size_t before = arena_bytes(&w->a);
	for (int i = 0; i < 20000; i++)
		assert_int_equal(type_parse(w->t, text).i, a.i);
	assert_int_equal(arena_bytes(&w->a), before);
}

static void hostile(void **state)
{
	World *w = *state;
	Buf b = {.a = &w->a};
	buf_add(&b, S("f32["));
	for (int i = 0; i < 100000; i++)
		buf_printf(&b, "%d, ", i);
	buf_add(&b, S("1]"));
	Type v = *type_get(w->t, type_parse(w->t, buf_str(&b)));
	assert_true(v.kind == TK_TENSOR && v.dtype == DT_F32 &&
	            !v.has_shape); /* too many dims: no shape */
	b.n = 0;
	for (int i = 0; i < 100000; i++)
		buf_add(&b, S("A("));
	assert_int_equal(type_parse(w->t, buf_str(&b)).i, 0);
	b.n = 0;
	buf_add(&b, S("f32["));
	for (int i = 0; i < 100000; i++)
		buf_add(&b, S("["));
	assert_int_equal(type_parse(w->t, buf_str(&b)).i, 0);
	b.n = 0;
	for (int i = 0; i < 256; i++)
		buf_char(&b, (char)i);
	for (uint32_t n = 0; n <= 256; n++)
		assert_int_equal(type_parse(w->t, str_sub(buf_str(&b), n, n + 3)).i, 0);
	assert_int_equal(type_parse(w->t, S("f32[99999999999999999999]")).i,
	                 type_parse(w->t, S("f32[Unheard(1)]")).i);
}

static void dtypes(void **state)
{
	World *w = *state;
	(void)w;
	for (int d = DT_NONE + 1; d < DT_N; d++) {
		assert_int_equal(dtype_parse(dtype_shown((DType)d)), d);
		assert_int_equal(dtype_parse(dtype_torch((DType)d)), d);
		assert_int_equal(dtype_parse(str_sub(dtype_torch((DType)d), 6, 99)), d);
		assert_true(dtype_bytes((DType)d) > 0);
		assert_int_not_equal(dtype_class((DType)d), DC_NONE);
		assert_int_equal(dtype_promote((DType)d, (DType)d), d);
		assert_int_equal(dtype_promote((DType)d, DT_NONE), DT_NONE);
	}
	assert_int_equal(dtype_parse(S("torch.float")), DT_F32);
	assert_int_equal(dtype_parse(S("float")), DT_F64);
	assert_int_equal(dtype_parse(S("torch.long")), DT_I64);
	assert_int_equal(dtype_parse(S("torch.")), DT_NONE);
	assert_int_equal(dtype_parse(S("")), DT_NONE);
	assert_int_equal(dtype_parse(S("torch.Tensor")), DT_NONE);
	assert_true(str_eq(dtype_shown(DT_NONE), S("")));
	assert_true(str_eq(dtype_torch(DT_NONE), S("")));
}

/* The table of c10/core/ScalarType.cpp (2.6), row by row. */
static void promotion(void **state)
{
	(void)state;
	static const DType order[] = {DT_U8,  DT_I8,  DT_I16, DT_I32,  DT_I64, DT_F16, DT_F32,
	                              DT_F64, DT_C32, DT_C64, DT_C128, DT_B8,  DT_BF16};
	static const char *const rows[] = {
		"u8 i16 i16 i32 i64 f16 f32 f64 c32 c64 c128 u8 bf16",
		"i16 i8 i16 i32 i64 f16 f32 f64 c32 c64 c128 i8 bf16",
		"i16 i16 i16 i32 i64 f16 f32 f64 c32 c64 c128 i16 bf16",
		"i32 i32 i32 i32 i64 f16 f32 f64 c32 c64 c128 i32 bf16",
		"i64 i64 i64 i64 i64 f16 f32 f64 c32 c64 c128 i64 bf16",
		"f16 f16 f16 f16 f16 f16 f32 f64 c32 c64 c128 f16 f32",
		"f32 f32 f32 f32 f32 f32 f32 f64 c64 c64 c128 f32 f32",
		"f64 f64 f64 f64 f64 f64 f64 f64 c128 c128 c128 f64 f64",
		"c32 c32 c32 c32 c32 c32 c64 c128 c32 c64 c128 c32 c64",
		"c64 c64 c64 c64 c64 c64 c64 c128 c64 c64 c128 c64 c64",
		"c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",
		"u8 i8 i16 i32 i64 f16 f32 f64 c32 c64 c128 b8 bf16",
		"bf16 bf16 bf16 bf16 bf16 f32 f32 f64 c64 c64 c128 bf16 bf16",
	};
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		Str row = str_from_c(rows[i]), word;
		for (size_t k = 0; str_cut(&row, ' ', &word); k++)
			if (!str_eq(dtype_shown(dtype_promote(order[i], order[k])), word))
				fail_msg("%s with %s", dtype_shown(order[i]).p, dtype_shown(order[k]).p);
	}
	assert_int_equal(dtype_promote(DT_U16, DT_F16), DT_F16);
	assert_int_equal(dtype_promote(DT_U16, DT_I32), DT_NONE);
	assert_int_equal(dtype_promote(DT_U64, DT_U32), DT_NONE);
	assert_int_equal(dtype_promote(DT_F8E5M2, DT_F32), DT_NONE);
	assert_int_equal(dtype_promote(DT_B16, DT_B8), DT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(annotations, world_make, world_end),
		cmocka_unit_test_setup_teardown(prefixes, world_make, world_end),
		cmocka_unit_test_setup_teardown(parts, world_make, world_end),
		cmocka_unit_test_setup_teardown(interning, world_make, world_end),
		cmocka_unit_test_setup_teardown(hostile, world_make, world_end),
		cmocka_unit_test_setup_teardown(dtypes, world_make, world_end),
		cmocka_unit_test_setup_teardown(promotion, world_make, world_end),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
