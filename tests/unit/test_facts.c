/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "embedded.h"
#include "facts.h"

typedef struct Fixture {
	Arena a;
	Names names;
	Facts *f;
	Buf errors;
} Fixture;

static const VersionSpan ANY = {0, 0};

static int setup_empty(void **state)
{
	Fixture *x = calloc(1, sizeof *x);
	x->a = arena_new(NULL);
	names_init(&x->names, &x->a);
	x->f = facts_new(&x->a, &x->names);
	x->errors.a = &x->a;
	*state = x;
	return 0;
}

static int setup_builtin(void **state)
{
	setup_empty(state);
	Fixture *x = *state;
	clock_t t = clock();
	x->f = facts_builtin(&x->a, &x->names);
	print_message("# %u rows in %.1f ms\n", facts_count(x->f), (double)(clock() - t) * 1e3 / CLOCKS_PER_SEC);
	return 0;
}

static int teardown(void **state)
{
	Fixture *x = *state;
	arena_free(&x->a);
	free(x);
	return 0;
}

static const char *text_of(Fixture *x, const Fact *f)
{
	Buf b = {.a = &x->a};
	if (!f)
		return "(none)";
	fact_text(x->f, f, &b);
	buf_char(&b, '\0');
	return b.p;
}

static Callee callee_of(Family f)
{
	switch (f) {
	case FAM_METHOD: return CALLEE_METHOD;
	case FAM_ATTR: return CALLEE_ATTR;
	case FAM_OPERATOR: return CALLEE_OPERATOR;
	case FAM_MODULE: return CALLEE_MODULE;
	default: return CALLEE_FUNCTION;
	}
}

static const Fact *find(Fixture *x, Callee c, const char *name)
{
	return facts_find(x->f, c, str_from_c(name), ANY);
}

static const Fact *find_in(Fixture *x, Callee c, const char *name, Version v)
{
	return facts_find(x->f, c, str_from_c(name), (VersionSpan){v, v});
}

static Str file_text(const char *name)
{
	for (const EmbeddedFile *e = embedded_files; e->name; e++)
		if (strcmp(e->name, name) == 0)
			return (Str){e->data, e->size};
	return (Str){0};
}

/* ---- the tables ---- */

/* Every spelling once, with the callee form of its own family, in the versions of its row and in any. */
static void every_row_is_found(void **state)
{
	Fixture *x = *state;
	uint32_t n = facts_count(x->f);
	assert_true(n > 9400);
	for (uint32_t i = 0; i < n; i++) {
		const Fact *row = facts_at(x->f, i);
		Str name = sym_str(&x->names, row->name);
		const Fact *got = facts_find(x->f, callee_of(row->family), name, row->span);
		const Fact *any = facts_find(x->f, callee_of(row->family), name, ANY);
		if (got != row || !any || any->family != row->family || !sym_eq(any->name, row->name))
			fail_msg("%s\nis found as\n%s", text_of(x, row), text_of(x, got));
	}
}

/* A row and its text are the same thing, but for the order and the `?` of tags. */
/* Does a table have a row of the same family and name? */
static bool is_in(Fixture *x, Str table, Str row)
{
	Str family, name;
	Buf cell = {.a = &x->a};
	assert_true(str_cut(&row, '\t', &family) && str_cut(&row, '\t', &name));
	buf_printf(&cell, "\n" STR_FMT "\t" STR_FMT "\t", STR_ARG(family), STR_ARG(name));
	return str_has(table, buf_str(&cell));
}

static void every_line_is_kept(void **state)
{
	Fixture *x = *state;
	Str text = file_text("ops.tsv"), overlay = file_text("ops-overlay.tsv"), line;
	uint32_t i = 0;
	while (str_cut(&text, '\n', &line)) {
		if (!line.n || line.p[0] == '#' || str_starts(line, S("family\t")))
			continue;
		Buf want = {.a = &x->a};
		Str cell;
		for (uint32_t col = 0; str_cut(&line, '\t', &cell); col++) {
			if (col)
				buf_char(&want, '\t');
			for (uint32_t k = 0; k < cell.n; k++)
				if (col != 7 || cell.p[k] != '?')
					buf_char(&want, cell.p[k]);
		}
		buf_char(&want, '\0');
		assert_true(i < facts_count(x->f));
		if (is_in(x, overlay, buf_str(&want))) /* the overlay's row comes behind all of these */
			continue;
		assert_string_equal(text_of(x, facts_at(x->f, i)), want.p);
		i++;
	}
	while (str_cut(&overlay, '\n', &line))
		i += line.n && line.p[0] != '#' && !str_starts(line, S("family\t"));
	assert_int_equal(i, facts_count(x->f));
}

static void every_parameter_list_is_found(void **state)
{
	Fixture *x = *state;
	Str text = file_text("params.tsv"), line, family, name;
	uint32_t n = 0;
	while (str_cut(&text, '\n', &line)) {
		if (!line.n || line.p[0] == '#' || str_starts(line, S("family\t")))
			continue;
		assert_true(str_cut(&line, '\t', &family) && str_cut(&line, '\t', &name));
		const Overload *o;
		Callee c = str_eq(family, S("method")) ? CALLEE_METHOD : CALLEE_FUNCTION;
		uint32_t count = facts_params(x->f, c, name, &o), bars = 1;
		for (uint32_t i = 0; i < line.n; i++)
			bars += line.p[i] == '|';
		assert_int_equal(count, bars);
		assert_true(o[0].n > 0);
		n++;
	}
	assert_true(n > 200);
}

/* ---- spellings ---- */

static void spellings(void **state)
{
	static const struct {
		Callee callee;
		const char *as, *name; /* as printed; name of the row */
	} t[] = {
		{CALLEE_METHOD, "view", "view"},
		{CALLEE_ATTR, "T", "T"},
		{CALLEE_OPERATOR, "getitem", "getitem"},
		{CALLEE_OPERATOR, "and_", "and_"},
		{CALLEE_OPERATOR, "and", "and_"},
		{CALLEE_OPERATOR, "iadd", "iadd"},
		{CALLEE_FUNCTION, "operator.add", "add"},
		{CALLEE_FUNCTION, "_operator.getitem", "getitem"},
		{CALLEE_FUNCTION, "_operator_contains", "contains"},
		{CALLEE_FUNCTION, "torch.relu", "torch.relu"},
		{CALLEE_FUNCTION, "len", "len"},
		{CALLEE_FUNCTION, "getattr", "getattr"},
		{CALLEE_FUNCTION, "builtins.getattr", "getattr"},
		{CALLEE_FUNCTION, "math.floor", "math.floor"},
		{CALLEE_FUNCTION, "math_floor", "math.floor"},
		{CALLEE_FUNCTION, "math_floor_2", "math.floor"},
		{CALLEE_FUNCTION, "math_log1p", "math.log1p"},
		{CALLEE_FUNCTION, "torch.ops.aten.view.default", "torch.ops.aten.view.default"},
		{CALLEE_FUNCTION, "torch.ops.aten.view", "torch.ops.aten.view"},
		{CALLEE_FUNCTION, "aten.view.default", "torch.ops.aten.view.default"},
		{CALLEE_FUNCTION, "aten.view", "torch.ops.aten.view"},
		{CALLEE_FUNCTION, "prims.convert_element_type.default", "torch.ops.prims.convert_element_type.default"},
		{CALLEE_FUNCTION, "torch.ops.higher_order.cond", "torch.ops.higher_order.cond"},
		{CALLEE_FUNCTION, "higher_order.cond", "torch.ops.higher_order.cond"},
		{CALLEE_FUNCTION, "cond", "torch.ops.higher_order.cond"},
		{CALLEE_FUNCTION, "torch.ops.wrap", "torch.ops.higher_order.wrap"},
		{CALLEE_FUNCTION, "torch._functorch.autograd_function.autograd_function_apply",
		 "torch.ops.higher_order.autograd_function_apply"},
		{CALLEE_FUNCTION, "torch.Tensor.view", "view"},
		{CALLEE_FUNCTION, "torch_Tensor_view", "view"},
		{CALLEE_FUNCTION, "torch_Tensor_set_", "set_"},
		{CALLEE_FUNCTION, "torch_Tensor_set__1", "set_"},
		{CALLEE_FUNCTION, "torch._tensor.split", "split"},
		{CALLEE_FUNCTION, "torch._C.TensorBase.add_", "add_"},
		{CALLEE_FUNCTION, "torch._C._autograd._get_data_attr", "torch._C._autograd._get_data_attr"},
		{CALLEE_FUNCTION, "torch__dynamo_utils_wrapped_astype_1", "torch__dynamo_utils_wrapped_astype"},
		{CALLEE_FUNCTION, "torch__dynamo_utils_wrapped_log2", "torch__dynamo_utils_wrapped_log2"},
		{CALLEE_FUNCTION, "torch._dynamo.utils.wrapped_astype", "torch__dynamo_utils_wrapped_astype"},
		{CALLEE_FUNCTION, "torch__dynamo_utils_wrapped_round_", "torch__dynamo_utils_wrapped_round"},
		{CALLEE_FUNCTION, "torch.linalg.inv", "torch.linalg.inv"},
		{CALLEE_FUNCTION, "torch._C._linalg.linalg_inv", "torch._C._linalg.linalg_inv"},
		{CALLEE_FUNCTION, "torch._VF.split", "torch.split"},
		{CALLEE_FUNCTION, "torch.ops.torchvision.nms.default", "torch.ops.torchvision.nms.default"},
		{CALLEE_MODULE, "Linear[train]", "Linear[train]"},
	};
	Fixture *x = *state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		for (int again = 0; again < 2; again++) { /* the second answer comes from the cache once the name is known */
			const Fact *f = find(x, t[i].callee, t[i].as);
			if (!f || !str_eq(sym_str(&x->names, f->name), str_from_c(t[i].name)))
				fail_msg("%s is %s", t[i].as, text_of(x, f));
			sym_intern(&x->names, str_from_c(t[i].as));
		}
}

static void unknown_spellings(void **state)
{
	static const struct {
		Callee callee;
		const char *name;
	} t[] = {
		{CALLEE_METHOD, "no_such_method"},
		{CALLEE_METHOD, ""},
		{CALLEE_METHOD, "torch.relu"},
		{CALLEE_ATTR, "view"},
		{CALLEE_OPERATOR, "view"},
		{CALLEE_FUNCTION, "view"},
		{CALLEE_FUNCTION, "relu"}, /* a user's function: torch.relu is never printed so */
		{CALLEE_FUNCTION, "__main___helper"},
		{CALLEE_FUNCTION, "_1"},
		{CALLEE_FUNCTION, "7"},
		{CALLEE_FUNCTION, "torch."},
		{CALLEE_FUNCTION, "torch.ops."},
		{CALLEE_FUNCTION, "torch.ops.aten."},
		{CALLEE_FUNCTION, "torch.ops.aten.view.no_such_overload"},
		{CALLEE_FUNCTION, "torch.ops.aten.view.default.default"},
		{CALLEE_FUNCTION, "torch.ops.mylib.foo.default"},
		{CALLEE_FUNCTION, "....."},
		{CALLEE_MODULE, "NoSuchModule"},
		{CALLEE_MODULE, "[train]"},
		{CALLEE_MODULE, ""},
		{CALLEE_NONE, "view"},
	};
	Fixture *x = *state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		const Fact *f = find(x, t[i].callee, t[i].name);
		if (f)
			fail_msg("%s is %s", t[i].name, text_of(x, f));
	}
	char *big = malloc(100000);
	memset(big, 'a', 100000);
	assert_null(facts_find(x->f, CALLEE_FUNCTION, (Str){big, 100000}, ANY));
	memset(big, '.', 100000);
	assert_null(facts_find(x->f, CALLEE_FUNCTION, (Str){big, 100000}, ANY));
	for (uint32_t n = 490; n < 530; n++)
		for (int c = CALLEE_METHOD; c <= CALLEE_MODULE; c++)
			assert_null(facts_find(x->f, (Callee)c, (Str){big, n}, ANY));
	free(big);
}

static void nearest_spelling(void **state)
{
	static const struct {
		Callee callee;
		const char *as, *near;
	} t[] = {
		{CALLEE_METHOD, "contiguos", "contiguous"},
		{CALLEE_FUNCTION, "torch.ops.aten.viev.default", "torch.ops.aten.view.default"},
		{CALLEE_FUNCTION, "torch.ops.aten._unsafe_view.defaul", "torch.ops.aten._unsafe_view.default"},
		{CALLEE_FUNCTION, "torch.nn.functional.no_such_function", ""},
		{CALLEE_FUNCTION, "", ""},
		{CALLEE_FUNCTION, "x", ""},
		{CALLEE_OPERATOR, "getitm", "getitem"},
		{CALLEE_FUNCTION, "torch.relu", "torch.relu"},
		{CALLEE_NONE, "view", ""},
	};
	Fixture *x = *state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		for (int again = 0; again < 3; again++) {
			Str near = facts_nearest(x->f, t[i].callee, str_from_c(t[i].as));
			if (!str_eq(near, str_from_c(t[i].near)))
				fail_msg("%s is near " STR_FMT, t[i].as, STR_ARG(near));
			sym_intern(&x->names, str_from_c(t[i].as));
		}
}

/* ---- versions ---- */

static void versions_cov(void **state)
{
	Fixture *x = *state;
	assert_string_equal(text_of(x, find_in(x, CALLEE_METHOD, "cov", 206)),
	                    "method\tcov\tfresh\t-\t-\tt\t-\tcomposite,datadep\taten.cov\t-\t2.10");
	assert_string_equal(text_of(x, find_in(x, CALLEE_METHOD, "cov", 210)),
	                    text_of(x, find_in(x, CALLEE_METHOD, "cov", 206)));
	assert_string_equal(text_of(x, find_in(x, CALLEE_METHOD, "cov", 211)),
	                    "method\tcov\tfresh\t-\t0:self?weights\tt\tweights\tcomposite,datadep\taten.cov\t2.11\t-");
	const Fact *any = find(x, CALLEE_METHOD, "cov");
	assert_string_equal(text_of(x, any), "method\tcov\tfresh\t-\t0:self?weights~\tt\tweights\tcomposite,datadep\t"
	                                     "aten.cov\t-\t-\tjoined");
	assert_true(any->joined && any->mutates[0].sometimes && any->mutates[0].maybe);
	/* one join, whatever the span that asks for it */
	assert_ptr_equal(any, facts_find(x->f, CALLEE_METHOD, S("cov"), (VersionSpan){206, 211}));
	assert_ptr_equal(any, facts_find(x->f, CALLEE_METHOD, S("cov"), (VersionSpan){0, 213}));
	assert_ptr_equal(find_in(x, CALLEE_METHOD, "cov", 206),
	                 facts_find(x->f, CALLEE_METHOD, S("cov"), (VersionSpan){0, 210}));
}

/* Until 2.2 nothing was returned: where a result is used, it is the written list, so nothing is in doubt. */
static void versions_foreach(void **state)
{
	Fixture *x = *state;
	const char *name = "torch._foreach_add_";
	assert_string_equal(text_of(x, find_in(x, CALLEE_FUNCTION, name, 202)),
	                    "torch\ttorch._foreach_add_\tmutates\t-\t0:self[*]\t-\t-\t-\taten._foreach_add_\t-\t2.2");
	assert_string_equal(text_of(x, find_in(x, CALLEE_FUNCTION, name, 203)),
	                    "torch\ttorch._foreach_add_\tinplace\t0:self[*]\t0:self[*]\tt[]\t-\t-\taten._foreach_add_\t2.3\t-");
	assert_string_equal(text_of(x, find(x, CALLEE_FUNCTION, name)),
	                    "torch\ttorch._foreach_add_\tinplace\t0:self[*]\t0:self[*]\t-|t[]\t-\t-\taten._foreach_add_\t-\t-");
}

static void versions_others(void **state)
{
	Fixture *x = *state;
	/* a fresh result, later a written argument that both results share */
	const Fact *f = find(x, CALLEE_FUNCTION, "torch.ops.fsdp.all_gather_copy_in.default");
	assert_true(f->joined && f->kind == FK_MAYBE_VIEW && f->alias[0].sometimes && f->mutates[0].sometimes);
	/* a name that came later or went away is still looked up: a dump's version can be misread */
	assert_non_null(find_in(x, CALLEE_METHOD, "align_as", 215));
	assert_non_null(find_in(x, CALLEE_FUNCTION, "torch.ops.higher_order.control_deps", 206));
	/* tags alone are no effect */
	f = find(x, CALLEE_FUNCTION, "torch.nn.functional.dropout");
	assert_true(!f->joined && fact_has(f, FT_TRACED_COPY) && f->cond == FC_DROPOUT);
	assert_true(fact_has(find_in(x, CALLEE_FUNCTION, "torch.nn.functional.dropout", 206), FT_TRACED_COPY));
	assert_false(fact_has(find_in(x, CALLEE_FUNCTION, "torch.nn.functional.dropout", 200), FT_TRACED_COPY));
	assert_false(fact_has(find_in(x, CALLEE_FUNCTION, "torch.nn.functional.dropout", 214), FT_TRACED_COPY));
	f = find(x, CALLEE_FUNCTION, "torch.ops._c10d_functional.wait_tensor");
	assert_true(!f->joined && f->kind == FK_VIEW && !fact_has(f, FT_SAME_OBJECT) && fact_has(f, FT_MAYBE_SAME_OBJECT));
}

static const Fact *module(Fixture *x, const char *cls, int mode, bool inplace, Version v)
{
	return facts_find_module(x->f, str_from_c(cls), mode, inplace, (VersionSpan){v, v});
}

static void modules(void **state)
{
	Fixture *x = *state;
	assert_int_equal(module(x, "Dropout", 1, false, 206)->kind, FK_MAYBE_VIEW);
	assert_int_equal(module(x, "Dropout", 2, false, 206)->kind, FK_VIEW);
	assert_int_equal(module(x, "Dropout", 1, true, 206)->kind, FK_INPLACE);
	const Fact *f = module(x, "Dropout", 0, false, 206);
	assert_true(f->joined && f->kind == FK_MAYBE_VIEW && f->cond == FC_DROPOUT && !f->alias[0].sometimes);
	assert_ptr_equal(f, find_in(x, CALLEE_MODULE, "Dropout", 206));
	f = module(x, "torch.nn.modules.dropout.Dropout", 0, true, 206);
	assert_true(f->joined && f->kind == FK_VIEW && f->nmutates == 1 && f->mutates[0].sometimes);
	/* modes that agree are no join, inplace means nothing to a class without it */
	assert_true(!module(x, "ReLU", 0, true, 206)->joined && module(x, "ReLU", 0, true, 206)->kind == FK_INPLACE);
	assert_true(!module(x, "Linear", 0, true, 206)->joined && module(x, "Linear", 0, true, 206)->kind == FK_FRESH);
	f = module(x, "BatchNorm2d", 0, false, 206);
	assert_true(f->joined && f->kind == FK_FRESH && f->nmutates == 3 && f->mutates[0].sometimes && f->mutates[0].buffer);
	assert_int_equal(module(x, "InstanceNorm1d", 2, false, 206)->nmutates, 2);
	assert_int_equal(module(x, "InstanceNorm1d", 2, false, 211)->nmutates, 0);
	f = module(x, "InstanceNorm1d", 0, false, 0);
	assert_true(f->joined && f->nmutates == 2 && f->mutates[0].sometimes);
	assert_null(module(x, "NoSuchModule", 0, false, 206));
	assert_null(module(x, "", 0, false, 206));
	assert_null(module(x, "torch.", 0, false, 206));
}

/* ---- users' tables ---- */

static bool load(Fixture *x, const char *text)
{
	x->errors.n = 0;
	return facts_load(x->f, S("my.facts"), str_from_c(text), &x->errors);
}

static void schemas(void **state)
{
	static const struct {
		const char *schema, *name, *want; /* want: columns kind to tags */
	} t[] = {
		{"mylib::foo(Tensor(a!) x, Tensor y, *, int n=1, Tensor? z=None, Tensor[] ts) -> (Tensor(a), Tensor)", "foo",
		 "view\tr0=0:x\t0:x\tt,t\t-\t-"},
		{"mylib::f2(Tensor(a!) x, Tensor y) -> (Tensor(a!), Tensor)", "f2", "mutates\tr0=0:x\t0:x\tt,t\t-\t-"},
		{"mylib::s0(Tensor x) -> Tensor", "s0", "fresh\t-\t-\tt\t-\t-"},
		{"mylib::s1(Tensor(a!) x, Tensor y) -> Tensor(a!)", "s1", "inplace\t0:x\t0:x\tt\t-\t-"},
		{"mylib::s2(Tensor(a!) x, Tensor y) -> ()", "s2", "mutates\t-\t0:x\t-\t-\t-"},
		{"mylib::s3(Tensor(a) self, SymInt[] size) -> Tensor(a)", "s3", "view\t0:self\t-\tt\t-\t-"},
		{"mylib::s4(Tensor x) -> int", "s4", "scalar\t-\t-\tv\t-\t-"},
		{"mylib::s5(str msg) -> ()", "s5", "effect\t-\t-\t-\t-\t-"},
		{"mylib::s6(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "s6", "out\t1:out\t1:out\tt\t-\t-"},
		{"mylib::s7(Tensor(a -> *) self, int n=2, int dim=0) -> Tensor(a)[]", "s7", "view\t0:self\t-\tt[]\t-\t-"},
		{"mylib::s8(Tensor(a!)[] self, Tensor[] other) -> ()", "s8", "mutates\t-\t0:self[*]\t-\t-\t-"},
		{"mylib::s9(Tensor(a!)[] self) -> Tensor(a!)[]", "s9", "inplace\t0:self[*]\t0:self[*]\tt[]\t-\t-"},
		{"mylib::t0(Tensor(a) x, Tensor(a) y) -> Tensor(a)", "t0", "maybe_view\t0:x?,1:y?\t-\tt\t-\t-"},
		{"mylib::t1(Tensor(a) x, Tensor(b) y) -> Tensor(a|b)", "t1", "maybe_view\t0:x?,1:y?\t-\tt\t-\t-"},
		{"mylib::t2(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))", "t2",
		 "inplace\tr0=0:x,r1=1:y\t0:x,1:y\tt,t\t-\t-"},
		{"mylib::t3(Tensor(a) x) -> (Tensor(a) values, Tensor indices)", "t3", "view\tr0=0:x\t-\tt,t\t-\t-"},
		{"mylib::t4(Tensor(a!) x) -> Tensor(a)", "t4", "view\t0:x\t0:x\tt\t-\t-"},
		{"mylib::t5(Tensor x) -> (Tensor?, Tensor[], bool)", "t5", "fresh\t-\t-\tt?,t[],v\t-\t-"},
		{"mylib::t6(Dict(str, Tensor(a!)) d, (Tensor, int) p, __torch__.torch.classes.my.Box b) -> Tensor", "t6",
		 "mutates\t-\t0:d[*]\tt\t-\t-"},
		{"mylib::t7(Tensor x, str mode='a, b) \\' \"', int[2] pad=[0, 1], float f=1e-05, ScalarType d=long) -> Tensor", "t7",
		 "fresh\t-\t-\tt\t-\t-"},
		{"mylib::t8() -> Tensor", "t8", "fresh\t-\t-\tt\t-\t-"},
		{"mylib::t9(Tensor(a!)? x) -> Tensor(a!)?", "t9", "inplace\t0:x\t0:x\tt?\t-\t-"},
		{"mylib::u0(Tensor x) -> (Tensor(a), Tensor(a))", "u0", "fresh\t-\t-\tt,t\t-\touts_share"},
		{"mylib::u1(Tensor(*) x, ...) -> ...", "u1", "unknown\t-\t-\t?\t-\t-"},
		{"mylib::u2(Tensor(a! -> *) x) -> Tensor(*)", "u2", "maybe_view\t0:x?\t0:x\tt\t-\t-"},
		{"  mylib :: u3 ( Tensor(a) x , int n = 1 ) -> Tensor(a)  # a view", "u3", "view\t0:x\t-\tt\t-\t-"},
		{"mylib::u5(Tensor x) -> Tensor grid", "u5", "fresh\t-\t-\tt\t-\t-"},
		{"mylib::u4(Tensor(!) x) -> Tensor", "u4", "mutates\t-\t0:x\tt\t-\t-"},
	};
	Fixture *x = *state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		if (!load(x, t[i].schema))
			fail_msg(STR_FMT, STR_ARG(buf_str(&x->errors)));
		/* printed with and without overload, and in tables */
		for (int form = 0; form < 4; form++) {
			Str name = str_printf(&x->a, "%smylib.%s%s", form < 2 ? "torch.ops." : "", t[i].name, form % 2 ? ".default" : "");
			const Fact *f = facts_find(x->f, CALLEE_FUNCTION, name, ANY);
			Str want = str_printf(&x->a, "mylib\ttorch.ops.mylib.%s%s\t%s\t-\t-\t-", t[i].name,
			                      form % 2 ? ".default" : "", t[i].want);
			assert_non_null(f);
			assert_true(f->user && !f->joined && f->line == 1);
			assert_string_equal(text_of(x, f), str_to_c(&x->a, want));
		}
	}
}

static void schema_overloads(void **state)
{
	Fixture *x = *state;
	assert_true(load(x, "# two and an out form\n"
	                    "mylib::foo.a(Tensor(a) x) -> Tensor(a)\r\n"
	                    "\n"
	                    "mylib::foo.b(Tensor x, int n) -> Tensor\n"
	                    "mylib::foo.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n"
	                    "mylib::bar.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"));
	assert_int_equal(find(x, CALLEE_FUNCTION, "torch.ops.mylib.foo.a")->kind, FK_VIEW);
	assert_int_equal(find(x, CALLEE_FUNCTION, "torch.ops.mylib.foo.b")->kind, FK_FRESH);
	assert_int_equal(find(x, CALLEE_FUNCTION, "torch.ops.mylib.foo.out")->kind, FK_OUT);
	assert_int_equal(find(x, CALLEE_FUNCTION, "torch.ops.mylib.bar")->kind, FK_OUT);
	assert_string_equal(text_of(x, find(x, CALLEE_FUNCTION, "torch.ops.mylib.foo")),
	                    "mylib\ttorch.ops.mylib.foo\tmaybe_view\t0:x~\t-\tt\toverload\tout_kw\t-\t-\t-\tjoined");
	/* an argument that is written by another name is a write of the packet */
	assert_true(load(x, "mylib::fill(Tensor x) -> Tensor\nmylib::fill.into(Tensor x, *, Tensor(a!) dst) -> ()"));
	assert_int_equal(find(x, CALLEE_FUNCTION, "torch.ops.mylib.fill.into")->kind, FK_OUT);
	const Fact *f = find(x, CALLEE_FUNCTION, "torch.ops.mylib.fill");
	assert_true(f->joined && f->kind == FK_FRESH && f->nmutates == 1 && f->mutates[0].sometimes);
	const Overload *o;
	assert_int_equal(facts_params(x->f, CALLEE_FUNCTION, S("torch.ops.mylib.foo"), &o), 2);
	assert_int_equal(o[1].n, 2);
	assert_int_equal(facts_params(x->f, CALLEE_FUNCTION, S("torch.ops.mylib.foo.out"), &o), 1);
	assert_true(o[0].n == 2 && !o[0].v[0].keyword_only && o[0].v[1].keyword_only);
}

static void user_rows(void **state)
{
	Fixture *x = *state;
	uint32_t before = facts_count(x->f);
	const Overload *o;
	assert_true(load(x, "\xEF\xBB\xBF# our own\n"
	                    "family\tname\tkind\talias\tmutates\touts\tcond\ttags\taten\tsince\tuntil\n"
	                    "method\tcov\tfresh\t-\t-\tt\n"
	                    "torch\ttorch.reshape\tmaybe_view\t 0:self \t-\tt\treshape\n"
	                    "module\tMyNorm\tfresh\t-\tbuf.stats.mean?training,par.weight\tt\n"
	                    "builtin\tmypkg.ops.scale\tview\t0:x\t-\tt\n"
	                    "builtin\t__main___helper\teffect\t-\t-\t-\n"
	                    "mylib\ttorch.ops.mylib.foo\tinplace\t0:x\t0:x\tt\n"
	                    "dispatch\ttorch.ops.mylib.bar.default\tfresh\t-\t-\tt\t-\trng?,same_object\t-\t-\t2.5\n"
	                    "dispatch\ttorch.ops.mylib.bar.default\tview\tr1=0:x[*]\t-\tt,t\t-\t-\t-\t2.6\t-\tbecause"));
	/* two rows of cov became one, five names came, one of them as two modes, one with two rows */
	assert_int_equal(facts_count(x->f), before - 1 + 7);
	const Fact *f = find(x, CALLEE_METHOD, "cov");
	assert_true(f->user && !f->joined && f->line == 3 && str_eq(f->source, S("my.facts")));
	assert_ptr_equal(f, find_in(x, CALLEE_METHOD, "cov", 211));
	assert_true(find(x, CALLEE_FUNCTION, "torch.reshape")->cond == FC_RESHAPE);
	assert_int_equal(facts_params(x->f, CALLEE_FUNCTION, S("torch.reshape"), &o), 1); /* parameters stay */
	f = module(x, "MyNorm", 0, false, 206);
	assert_true(f->nmutates == 2 && f->mutates[0].buffer && f->mutates[0].maybe && f->mutates[1].parameter);
	assert_true(str_eq(sym_str(&x->names, f->mutates[0].name), S("stats.mean")));
	assert_true(str_eq(sym_str(&x->names, f->mutates[0].when), S("training")));
	static const char *const scale[] = {"mypkg.ops.scale", "mypkg_ops_scale", "mypkg_ops_scale_1"};
	for (int i = 0; i < 3; i++)
		assert_int_equal(find(x, CALLEE_FUNCTION, scale[i])->kind, FK_VIEW);
	assert_int_equal(find(x, CALLEE_FUNCTION, "__main__.helper")->kind, FK_EFFECT);
	/* a packet's row of the user's speaks for its overloads */
	assert_int_equal(find(x, CALLEE_FUNCTION, "torch.ops.mylib.foo.default")->kind, FK_INPLACE);
	assert_int_equal(find(x, CALLEE_FUNCTION, "mylib.foo.default")->kind, FK_INPLACE);
	assert_int_equal(find_in(x, CALLEE_FUNCTION, "torch.ops.mylib.bar.default", 205)->kind, FK_FRESH);
	assert_int_equal(find_in(x, CALLEE_FUNCTION, "torch.ops.mylib.bar", 206)->kind, FK_VIEW);
	/* loaded over once more */
	assert_true(load(x, "method\tcov\tview\t0:self\t-\tt\n"));
	assert_int_equal(find(x, CALLEE_METHOD, "cov")->kind, FK_VIEW);
	assert_int_equal(facts_count(x->f), before + 6);
}

static void faults(void **state)
{
	static const struct {
		const char *text, *want;
	} t[] = {
		{"method\tx\tfrehs\t-\t-\tt", "my.facts:1:10: unknown kind frehs (did you mean 'fresh'?)\n"},
		{"method\tx\tunknown\t-\t-\tt", "my.facts:1:10: unknown kind unknown\n"},
		{"metod\tx\tfresh\t-\t-\tt", "my.facts:1:1: unknown family metod (did you mean 'method'?)\n"},
		{"\n# c\nmethod\tx\tfresh\t-\t-\tt\treshap", "my.facts:3:22: unknown condition reshap (did you mean 'reshape'?)\n"},
		{"method\tx\tfresh\t-\t-\tt\t-\trng,pointwize",
		 "my.facts:1:28: unknown tag pointwize (did you mean 'pointwise'?)\n"},
		{"method\tx\tfresh\t-\t-", "my.facts:1:1: a row has 6 to 12 columns with tabs between: family, name, kind, alias, "
		                           "mutates, outs, cond, tags, aten, since, until, reason\n"},
		{"method\tx\tfresh\t-\t-\tt\t-\t-\t-\t-\t-\tr\tmore", "my.facts:1:1: a row has 6 to 12 columns with tabs between: "
		 "family, name, kind, alias, mutates, outs, cond, tags, aten, since, until, reason\n"},
		{"method\ta.b\tfresh\t-\t-\tt", "my.facts:1:8: a name of family method is a name without dots, not a.b\n"},
		{"mylib\tmylib.foo\tfresh\t-\t-\tt", "my.facts:1:1: unknown family mylib\n"
		 },
		{"dispatch\ttorch.ops.mylib\tfresh\t-\t-\tt", "my.facts:1:10: a name of family dispatch is torch.ops.NAMESPACE.NAME "
		 "or torch.ops.NAMESPACE.NAME.OVERLOAD, not torch.ops.mylib\n"},
		{"method\tx\tview\t-\t-\tt", "my.facts:1:15: kind view needs an argument in column alias\n"},
		{"method\tx\tscalar\t0:a\t1:b\tv", "my.facts:1:17: kind scalar has no argument in column alias\n"
		                                   "my.facts:1:21: kind scalar has no argument in column mutates\n"},
		{"method\t\xC3\xA9\tfresh\t-\t-\tt", "my.facts:1:8: a name of family method is a name without dots, not \xC3\xA9\n"},
		{"module\t\xC3\xA9\tfrsh\t-\t-\tt", "my.facts:1:10: unknown kind frsh (did you mean 'fresh'?)\n"},
		{"method\tx\tview\t0:se lf\t-\tt", "my.facts:1:19: an argument is written INDEX:NAME, with r0= before and [*] or ? "
		                                   "after it, not 0:se lf\n"},
		{"method\tx\tview\t0:a,,1:b\t-\tt", "my.facts:1:19: an argument is written INDEX:NAME, with r0= before and [*] or ? "
		                                    "after it, not \n"},
		{"method\tx\tview\t12345:a\t-\tt", "my.facts:1:20: an argument is written INDEX:NAME, with r0= before and [*] or ? "
		                                   "after it, not 12345:a\n"},
		{"method\tx\tfresh\t-\t-\tt,q", "my.facts:1:22: a result has the members t, t?, t[] and v; - is no result\n"},
		{"method\tx\tfresh\t-\t-\tt|v|-", "my.facts:1:24: a result has at most two forms\n"},
		{"method\tx\tfresh\t-\t-\tt\t-\t-\t-\t2.x", "my.facts:1:28: a version is MAJOR.MINOR or -, not 2.x\n"},
		{"method\tx\tfresh\t-\t-\tt\t-\t-\t-\t2.6\t2.5", "my.facts:1:32: until is before since\n"},
		{"method\tx\tfresh\t-\t-\tt\t-\t-\t-\t-\t2.6\nmethod\tx\tfresh\t-\t-\tt\t-\t-\t-\t2.6",
		 "my.facts:2:8: x has a row for these versions already, in line 1\n"},
		{"method x fresh - - t", "my.facts:1:1: the columns of a row have tabs between them\n"},
		{"foo(Tensor x) -> Tensor", "my.facts:1:1: expected a row with tabs between its columns, or a schema "
		                            "NAMESPACE::NAME(TYPE NAME, ...) -> TYPE\n"},
		{"a::b(Tensr x) -> Tensor", "my.facts:1:6: unknown type Tensr (did you mean 'Tensor'?)\n"},
		{"a::b(Tensor x) -> Tensro", "my.facts:1:19: unknown type Tensro (did you mean 'Tensor'?)\n"},
		{"a::b(Tensor) -> Tensor", "my.facts:1:12: expected the name of the argument before ) -> Tensor\n"},
		{"a::b(Tensor x -> Tensor", "my.facts:1:15: expected , or ) before -> Tensor\n"},
		{"a::b(Tensor x)", "my.facts:1:15: expected -> at the end\n"},
		{"a::b(Tensor x) ->", "my.facts:1:18: expected a type at the end\n"},
		{"a::b(Tensor x) -> Tensor y, Tensor z", "my.facts:1:27: expected the end of the line before , Tensor z\n"},
		{"a::b(Tensor(a! x) -> Tensor", "my.facts:1:16: expected ) before x) -> Tensor\n"},
		{"a::b(Tensor(A) x) -> Tensor", "my.facts:1:13: expected an alias set, one letter or *, before A) x) -> Tensor\n"},
		{"a::b(Tensor(a!) x) -> Tensor(b!)",
		 "my.facts:1:23: the alias set of this result is not that of an argument\n"},
		{"a::b(Tensor x, Tensor x) -> Tensor", "my.facts:1:23: a second argument x\n"},
		{"a::b(int n=) -> ()", "my.facts:1:12: expected a default before ) -> ()\n"},
		{"a::b(str n='x) -> ()", "my.facts:1:21: expected the closing quote at the end\n"},
		{"a::b(int[] n=[1", "my.facts:1:16: expected a closing bracket at the end\n"},
		{"a::b.(Tensor x) -> Tensor", "my.facts:1:6: expected the name of the overload before (Tensor x) -> Tensor\n"},
		{"a::b(Tensor x) -> Tensor\na::b(Tensor x) -> Tensor",
		 "my.facts:2:1: torch.ops.a.b.default has a row for these versions already, in line 1\n"},
		{"higher_order::b(Tensor x) -> Tensor", "my.facts:1:1: higher-order operators have no schema\n"},
		{"a\x01\x1b[31m", "my.facts:1:1: expected a row with tabs between its columns, or a schema "
		                  "NAMESPACE::NAME(TYPE NAME, ...) -> TYPE\n"},
	};
	Fixture *x = *state;
	uint32_t rows = facts_count(x->f);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		/* a good line beside the bad one is not taken either */
		Str text = str_printf(&x->a, "%s\nmethod\tgood\tfresh\t-\t-\tt\n", t[i].text);
		x->errors.n = 0;
		assert_false(facts_load(x->f, S("my.facts"), text, &x->errors));
		buf_char(&x->errors, '\0');
		assert_string_equal(x->errors.p, t[i].want);
		assert_int_equal(facts_count(x->f), rows);
		assert_null(find(x, CALLEE_METHOD, "good"));
	}
}

/* ---- hostile tables ---- */

static Str repeat(Fixture *x, const char *what, uint32_t n, const char *end)
{
	Buf b = {.a = &x->a};
	for (uint32_t i = 0; i < n; i++)
		buf_add(&b, str_from_c(what));
	buf_add(&b, str_from_c(end));
	return buf_str(&b);
}

static bool load_str(Fixture *x, Str text)
{
	x->errors.n = 0;
	return facts_load(x->f, S("my.facts"), text, &x->errors);
}

static void hostile_tables(void **state)
{
	Fixture *x = *state;
	assert_true(load_str(x, (Str){0}));
	assert_true(load_str(x, S("\n\r\n  \t \n#")));
	/* the report of faults is bounded */
	assert_false(load_str(x, repeat(x, "a\tb\n", 100000, "")));
	assert_true(x->errors.n < 20000);
	assert_true(str_ends(buf_str(&x->errors), S("and 99950 more faults\n")));
	assert_false(load_str(x, repeat(x, "method\tx\tfresh\t-\t-\tt\n", 50000, "")));
	assert_false(load_str(x, repeat(x, "a::b(Tensor x) -> Tensor\n", 50000, "")));
	/* depth, length and number */
	assert_false(load_str(x, str_printf(&x->a, "a::b(" STR_FMT, STR_ARG(repeat(x, "(", 300000, "")))));
	assert_false(load_str(x, str_printf(&x->a, "a::b(" STR_FMT, STR_ARG(repeat(x, "Dict(", 100000, "")))));
	assert_false(load_str(x, str_printf(&x->a, "a::b(int n=" STR_FMT, STR_ARG(repeat(x, "[", 300000, "")))));
	assert_false(load_str(x, str_printf(&x->a, "a::b(Tensor" STR_FMT, STR_ARG(repeat(x, "[]", 300000, "")))));
	assert_false(load_str(x, repeat(x, "a", 300000, "::b() -> ()")));
	assert_false(load_str(x, str_printf(&x->a, "method\t" STR_FMT "\tfresh\t-\t-\tt", STR_ARG(repeat(x, "a", 300000, "")))));
	assert_false(load_str(x, str_printf(&x->a, "method\tx\tview\t" STR_FMT "\t-\tt", STR_ARG(repeat(x, "0:a,", 100000, "!")))));
	assert_false(load_str(x, str_printf(&x->a, "method\tx\tfresh\t-\t-\t" STR_FMT, STR_ARG(repeat(x, "t,", 17, "t")))));
	assert_false(load_str(x, str_printf(&x->a, "a::b() -> (" STR_FMT, STR_ARG(repeat(x, "Tensor,", 16, "Tensor)")))));
	Buf b = {.a = &x->a};
	buf_add(&b, S("a::b("));
	for (int i = 0; i < 100000; i++)
		buf_printf(&b, "%sTensor x%d", i ? ", " : "", i);
	buf_add(&b, S(") -> ()"));
	assert_false(load_str(x, buf_str(&b)));
	b.n = 0;
	for (int i = 0; i < 20000; i++)
		buf_printf(&b, "a::b.o%d(Tensor(a!) x) -> ()\n", i);
	assert_false(load_str(x, buf_str(&b)));
	b.n = 0;
	for (int i = 0; i < 100; i++)
		buf_printf(&b, "method\tx\tfresh\t-\t-\tt\t-\t-\t-\t2.%d\t2.%d\n", i, i);
	assert_false(load_str(x, buf_str(&b)));
	/* NUL and bytes that are no text */
	assert_false(load_str(x, (Str){"method\tx\0y\tfresh\t-\t-\tt", 21}));
	assert_false(load_str(x, (Str){"\0\xff\xfe", 3}));
	assert_int_equal(facts_count(x->f), 0);
}

/* No beginning of a good schema or row is read past its end, and none but the whole (or whole rows) is taken. */
static void cut_tables(void **state)
{
	static const char *const lines[] = {
		"a::b(Tensor(a! -> *)[] x, Dict(str, Tensor?) d, *, str s='q', int[2]? n=[1, 2]) -> (Tensor(a), Tensor(*)[])",
		"torch\ttorch.foo\tmutates\tr1=0:x[*]\t1:y.grad?training\tt,t?|t[]\treshape\trng?,core\taten.foo\t2.5\t2.6",
	};
	Fixture *x = *state;
	for (int i = 0; i < 2; i++) {
		uint32_t n = (uint32_t)strlen(lines[i]);
		for (uint32_t k = 1; k < n; k++) {
			char *part = malloc(k); /* so that the sanitizer sees a read past the end */
			memcpy(part, lines[i], k);
			bool whole_row = i == 1 && load_str(x, (Str){part, k});
			assert_true(i == 1 || !load_str(x, (Str){part, k}));
			assert_true(!whole_row || k >= strlen("torch\ttorch.foo\tmutates\tr1=0:x[*]\t1:y\tt"));
			free(part);
		}
		if (!load(x, lines[i]))
			fail_msg(STR_FMT, STR_ARG(buf_str(&x->errors)));
	}
}

/* ---- arguments of calls ---- */

typedef struct CallFixture {
	Graph g;
	Node n;
} CallFixture;

static Arg number(int v)
{
	return (Arg){.kind = AR_INT, .u.num = v};
}

static Arg keyword(Fixture *x, const char *key, int v)
{
	Arg a = number(v);
	a.key = sym_intern(&x->names, str_from_c(key));
	return a;
}

static void make_call(Fixture *x, CallFixture *c, Callee callee, const char *target, const Arg *args, uint32_t n)
{
	*c = (CallFixture){0};
	c->g.a = &x->a;
	VEC_PUSH(&x->a, &c->g.args, number(-1)); /* of another node */
	c->n = (Node){.kind = NK_CALL, .callee = (uint8_t)callee, .target = sym_intern(&x->names, str_from_c(target)),
	              .arg_at = 1, .nargs = n};
	for (uint32_t i = 0; i < n; i++)
		VEC_PUSH(&x->a, &c->g.args, args[i]);
}

static int64_t param(Fixture *x, const CallFixture *c, const char *name)
{
	const Arg *a = call_param(x->f, &c->g, &c->n, str_from_c(name));
	return a ? a->u.num : -99;
}

static int64_t arg(Fixture *x, const CallFixture *c, int index, const char *name)
{
	const Arg *a = call_arg(x->f, &c->g, &c->n, index, str_from_c(name));
	return a ? a->u.num : -99;
}

static void arguments_by_position(void **state)
{
	Fixture *x = *state;
	CallFixture c;
	Arg v[] = {number(10), number(11), keyword(x, "dim", 12), keyword(x, "out", 13)};
	make_call(x, &c, CALLEE_FUNCTION, "torch.foo", v, 4);
	assert_int_equal(arg(x, &c, 0, "self"), 10);
	assert_int_equal(arg(x, &c, 1, "other"), 11);
	assert_int_equal(arg(x, &c, 2, "dim"), 12);
	assert_int_equal(arg(x, &c, 7, "out"), 13);
	assert_int_equal(arg(x, &c, -1, "out"), 13);
	assert_int_equal(arg(x, &c, 2, "p"), -99);
	assert_int_equal(arg(x, &c, 2, ""), -99); /* keywords have no position */
	Arg kw[] = {keyword(x, "input", 20), keyword(x, "shape", 21)};
	make_call(x, &c, CALLEE_FUNCTION, "torch.reshape", kw, 2);
	assert_int_equal(arg(x, &c, 0, "self"), 20);
	assert_int_equal(arg(x, &c, 0, "input"), 20);
	assert_int_equal(param(x, &c, "self"), 20);
	assert_int_equal(param(x, &c, "shape"), 21);
	make_call(x, &c, CALLEE_FUNCTION, "torch.foo", NULL, 0);
	assert_int_equal(arg(x, &c, 0, "self"), -99);
}

static void parameters_by_name(void **state)
{
	Fixture *x = *state;
	CallFixture c;
	Arg v[9];
	for (int i = 0; i < 9; i++)
		v[i] = number(i);
	make_call(x, &c, CALLEE_FUNCTION, "torch.nn.functional.batch_norm", v, 8);
	assert_int_equal(param(x, &c, "training"), 5);
	assert_int_equal(param(x, &c, "running_mean"), 1);
	assert_int_equal(param(x, &c, "nonsense"), -99);
	make_call(x, &c, CALLEE_FUNCTION, "torch.nn.functional.batch_norm", v, 5);
	assert_int_equal(param(x, &c, "training"), -99);
	v[5] = keyword(x, "training", 50);
	make_call(x, &c, CALLEE_FUNCTION, "torch.nn.functional.batch_norm", v, 6);
	assert_int_equal(param(x, &c, "training"), 50);
	v[5] = number(5);
	make_call(x, &c, CALLEE_FUNCTION, "torch.batch_norm", v, 9);
	assert_int_equal(param(x, &c, "training"), 5);
	make_call(x, &c, CALLEE_FUNCTION, "torch.nn.functional.hardtanh", v, 4);
	assert_int_equal(param(x, &c, "inplace"), 3);
	make_call(x, &c, CALLEE_FUNCTION, "torch.nn.functional.hardtanh", v, 1);
	assert_int_equal(param(x, &c, "inplace"), -99);
	make_call(x, &c, CALLEE_FUNCTION, "aten.native_batch_norm.default", v, 8);
	assert_int_equal(param(x, &c, "training"), 5);
	/* more arguments than any overload has: only keywords are certain */
	make_call(x, &c, CALLEE_FUNCTION, "torch.nn.functional.relu", v, 9);
	assert_int_equal(param(x, &c, "inplace"), -99);
	/* names without parameters */
	Arg kw[] = {number(1), keyword(x, "inplace", 7)};
	make_call(x, &c, CALLEE_FUNCTION, "mylib_foo", kw, 2);
	assert_int_equal(param(x, &c, "inplace"), 7);
}

static void parameters_of_overloads(void **state)
{
	Fixture *x = *state;
	CallFixture c;
	Arg v[] = {number(0), number(1), number(2)};
	make_call(x, &c, CALLEE_METHOD, "to", v, 2); /* x.to(dtype): the first overload wants a dtype too */
	assert_int_equal(param(x, &c, "dtype"), 1);
	make_call(x, &c, CALLEE_METHOD, "to", v, 3);
	assert_int_equal(param(x, &c, "device"), 1);
	assert_int_equal(param(x, &c, "dtype"), 2);
	make_call(x, &c, CALLEE_FUNCTION, "torch_Tensor_to", v, 3);
	assert_int_equal(param(x, &c, "device"), 1);
	Arg copy[] = {number(0), number(1), keyword(x, "copy", 9)};
	make_call(x, &c, CALLEE_METHOD, "to", copy, 3);
	assert_int_equal(param(x, &c, "copy"), 9);
	make_call(x, &c, CALLEE_METHOD, "flatten", v, 3);
	assert_int_equal(param(x, &c, "start_dim"), 1);
	assert_int_equal(param(x, &c, "end_dim"), 2);
	/* keyword-only parameters have no position */
	make_call(x, &c, CALLEE_METHOD, "contiguous", v, 2);
	assert_int_equal(param(x, &c, "memory_format"), -99);
	Arg mf[] = {number(0), keyword(x, "memory_format", 4)};
	make_call(x, &c, CALLEE_METHOD, "contiguous", mf, 2);
	assert_int_equal(param(x, &c, "memory_format"), 4);
	make_call(x, &c, CALLEE_FUNCTION, "torch.functional.einsum", v, 3);
	assert_int_equal(param(x, &c, "args"), 0);
	/* a starred argument may cover any position from its own on */
	Arg star[] = {number(0), {.kind = AR_STARRED}, keyword(x, "eps", 3)};
	make_call(x, &c, CALLEE_FUNCTION, "torch.nn.functional.batch_norm", star, 3);
	const Arg *a = call_param(x->f, &c.g, &c.n, S("training"));
	assert_true(a && a->kind == AR_STARRED);
}

int main(void)
{
	const struct CMUnitTest builtin[] = {
		cmocka_unit_test_setup_teardown(every_row_is_found, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(every_line_is_kept, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(every_parameter_list_is_found, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(spellings, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(unknown_spellings, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(nearest_spelling, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(versions_cov, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(versions_foreach, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(versions_others, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(modules, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(schemas, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(schema_overloads, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(user_rows, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(faults, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(hostile_tables, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(cut_tables, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(arguments_by_position, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(parameters_by_name, setup_builtin, teardown),
		cmocka_unit_test_setup_teardown(parameters_of_overloads, setup_builtin, teardown),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(builtin, NULL, NULL);
}
