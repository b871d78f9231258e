/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "read_meta.h"

typedef struct Env {
	Arena a;
	Diags diags;
	Seg seg;
	Text text;
	Artifact art;
	AotMeta meta;
} Env;

enum { PLACE = 1000 };

static int setup(void **state)
{
	Arena a = arena_new(NULL);
	Env *e = NEW(&a, Env);
	e->a = a;
	diags_init(&e->diags, &e->a);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	Arena a = ((Env *)*state)->a;
	arena_free(&a);
	return 0;
}

static bool read(Env *e, Str s)
{
	e->seg = (Seg){0, PLACE};
	e->text = (Text){.file = {1}, .s = s, .seg = &e->seg, .nseg = s.n ? 1 : 0};
	e->art.file = (FileId){1};
	return read_meta(&e->art, &e->text, &e->a, &e->diags, &e->meta);
}

static const AotMeta *good(Env *e, const char *s)
{
	assert_true(read(e, str_from_c(s)));
	assert_int_equal(e->diags.unread.n, 0);
	return &e->meta;
}

static void bad(Env *e, const char *s, const char *why)
{
	diags_init(&e->diags, &e->a);
	assert_false(read(e, str_from_c(s)));
	assert_int_equal(e->diags.unread.n, 1);
	assert_string_equal(str_to_c(&e->a, e->diags.unread.v[0].why), why);
}

static void str_is(Env *e, Str got, const char *want)
{
	assert_string_equal(str_to_c(&e->a, got), want);
}

/* 2.13, training: strings with user source, both kinds of quotes, brackets and = in them. */
static const char line_213[] =
	"aot_config id: 7, fw_metadata=ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True, "
	"mutates_data=True, "
	"mutates_metadata=False, mutations_hidden_from_autograd=False, "
	"mutations_under_no_grad_or_inference_mode=False, "
	"mutation_inductor_storage_resize=None, mutates_storage_metadata=False, requires_grad=False, "
	"keep_input_mutations=True), InputAliasInfo(is_leaf=False, mutates_data=False, "
	"mutates_metadata=True, "
	"mutations_hidden_from_autograd=True, mutations_under_no_grad_or_inference_mode=False, "
	"mutation_inductor_storage_resize=False, mutates_storage_metadata=True, requires_grad=True, "
	"keep_input_mutations=True)], "
	"output_info=[OutputAliasInfo(output_type=<OutputType.alias_of_input: 2>, "
	"raw_type=<class 'torch._subclasses.functional_tensor.FunctionalTensor'>, base_idx=1, "
	"dynamic_dims={0, 1}, "
	"requires_grad=True, requires_grad_for_backward=True, "
	"view_meta_sequence=ViewMetaSequence(slice_Tensor, detach)), "
	"OutputAliasInfo(output_type=<OutputType.non_alias: 1>, raw_type=<class 'int'>, base_idx=None, "
	"dynamic_dims=set(), "
	"requires_grad=False, functional_tensor=<torch._functorch.Eq object at 0x7f32>)], "
	"num_intermediate_bases=3, "
	"keep_input_mutations=True, traced_tangents=[FakeTensor(..., size=(4, 8))], "
	"subclass_inp_meta=[PlainTensorMeta("
	"unwrapped_idx=0, memory_format=None)], deterministic=False, tokens={}, "
	"tangent_source_stack_traces=['  File "
	"\"/srv/a.py\", line 1\\n    x = F.gelu(lin(x), ]= \\'q\\'\\n', \"it's ) not_closed=(\", "
	"None]), inner_meta="
	"ViewAndMutationMeta(input_info=[], output_info=[])";

static void a_line_of_2_13(void **state)
{
	Env *e = *state;
	e->art.compile_id = S("1/0");
	e->art.attempt = 1;
	e->art.process = S("rank1");
	e->art.order = 9;
	const AotMeta *m = good(e, line_213);
	str_is(e, m->compile_id, "1/0");
	str_is(e, m->process, "rank1");
	assert_int_equal(m->attempt, 1);
	assert_int_equal(m->order, 9);
	assert_int_equal(m->aot_id, 8);
	assert_int_equal(m->ninputs, 2);
	assert_int_equal(m->inputs[0].mutates_data, META_YES);
	assert_int_equal(m->inputs[0].mutates_metadata, META_NO);
	assert_int_equal(m->inputs[0].mutation_inductor_storage_resize, META_UNKNOWN);
	assert_int_equal(m->inputs[0].mutation_is_shallow_copy_data, META_UNKNOWN);
	assert_int_equal(m->inputs[1].is_leaf, META_NO);
	assert_int_equal(m->inputs[1].mutates_storage_metadata, META_YES);
	assert_int_equal(m->inputs[1].requires_grad, META_YES);
	assert_int_equal(m->noutputs, 2);
	assert_int_equal(m->outputs[0].type, AOT_OUTPUT_ALIAS_OF_INPUT);
	assert_int_equal(m->outputs[0].base_idx, 1);
	assert_int_equal(m->outputs[0].requires_grad, META_YES);
	str_is(e, m->outputs[0].raw_type, "torch._subclasses.functional_tensor.FunctionalTensor");
	assert_int_equal(m->outputs[1].type, AOT_OUTPUT_NON_ALIAS);
	assert_int_equal(m->outputs[1].base_idx, -1);
	str_is(e, m->outputs[1].raw_type, "int");
	assert_int_equal(m->num_intermediate_bases, 3);
	assert_int_equal(m->keep_input_mutations, META_YES);
	assert_int_equal(m->is_train, META_UNKNOWN);
	assert_false(m->subclasses);
	Str s = str_from_c(line_213);
	uint32_t at = str_find(s, S("ViewAnd"), 0), end = str_find(s, S(", inner_meta"), 0);
	assert_int_equal(m->span.at, PLACE + at);
	assert_int_equal(m->span.end, PLACE + end);
}

static void other_versions(void **state)
{
	Env *e = *state;
	/* 2.0 */
	const AotMeta *m = good(
		e,
		"ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True, mutates_data=True, "
		"mutates_metadata=False)], "
		"output_info=[OutputAliasInfo(output_type=<OutputType.is_input: 3>, base_idx=0)], "
		"requires_grad_info=[False, True], num_intermediate_bases=0, keep_input_mutations=False)");
	assert_int_equal(m->aot_id, 0);
	assert_int_equal(m->inputs[0].mutates_storage_metadata, META_UNKNOWN);
	assert_int_equal(m->outputs[0].type, AOT_OUTPUT_IS_INPUT);
	assert_int_equal(m->outputs[0].requires_grad, META_UNKNOWN);
	assert_int_equal(m->outputs[0].raw_type.n, 0);
	assert_int_equal(m->keep_input_mutations, META_NO);
	/* 2.6, is_train; no inputs, no outputs */
	m = good(e, "ViewAndMutationMeta(input_info=[], output_info=[], num_intermediate_bases=0, "
	            "is_train=True)");
	assert_int_equal(m->ninputs, 0);
	assert_int_equal(m->is_train, META_YES);
	assert_int_equal(m->keep_input_mutations, META_UNKNOWN);
	/* a trace: one field a line; the artifact's own number counts */
	e->art.aot_id = 4;
	m = good(e, "ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True,\n"
	            "                                              mutates_data=False,\n"
	            "                                              mutates_metadata=True)],\n"
	            "                    "
	            "output_info=[OutputAliasInfo(output_type=<OutputType.unsafe_view_alias: 7>,\n"
	            "                                                 raw_type=<class 'x.Y'>,\n"
	            "                                                 base_idx=None)],\n"
	            "                    num_intermediate_bases=0,\n"
	            "                    tangent_source_stack_traces=['a\\n'\n"
	            "                                                 '  b)\\n'])\n");
	assert_int_equal(m->aot_id, 4);
	assert_int_equal(m->inputs[0].mutates_metadata, META_YES);
	assert_int_equal(m->outputs[0].type, AOT_OUTPUT_UNSAFE_VIEW);
	/* subclasses; types as numbers and names, and one that no version has */
	m = good(e, "ViewAndMutationMeta(input_info=[], output_info=[OutputAliasInfo(output_type=6, "
	            "base_idx=1), OutputAliasInfo("
	            "output_type=OutputType.custom_function_view), "
	            "OutputAliasInfo(output_type=<OutputType.new: 12>)], "
	            "subclass_inp_meta=[SubclassCreationMeta(flat_tensor_start_idx=0, attrs={'a': "
	            "PlainTensorMeta(unwrapped_idx=1)})])");
	assert_true(m->subclasses);
	assert_int_equal(m->outputs[0].type, AOT_OUTPUT_BASE_IS_OUTPUT);
	assert_int_equal(m->outputs[1].type, AOT_OUTPUT_CUSTOM_FUNCTION_VIEW);
	assert_int_equal(m->outputs[2].type, AOT_OUTPUT_UNKNOWN);
	assert_int_equal(m->num_intermediate_bases, -1);
	str_is(e, aot_output_name(m->outputs[0].type), "alias_of_intermediate_base_is_user_output");
	str_is(e, aot_output_name(AOT_OUTPUT_UNKNOWN), "unknown");
}

static void what_cannot_be_read(void **state)
{
	Env *e = *state;
	bad(e, "", "no ViewAndMutationMeta(...) in what begins like AOT metadata");
	bad(e, "aot_config id: 0, fw_metadata=None",
	    "no ViewAndMutationMeta(...) in what begins like AOT metadata");
	bad(e, "ViewAndMutationMeta(", "the AOT metadata ends early");
	bad(e, "ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True",
	    "the AOT metadata ends early");
	bad(e, "ViewAndMutationMeta(input_info=[], output_info=[], tokens={'a",
	    "the AOT metadata ends early");
	bad(e, "ViewAndMutationMeta(input_info=[])",
	    "the AOT metadata has no list of inputs or none of outputs");
	bad(e, "ViewAndMutationMeta()", "the AOT metadata has no list of inputs or none of outputs");
	bad(e, "ViewAndMutationMeta(input_info=[Other(a=1)], output_info=[])",
	    "a list of the AOT metadata has a form of no known version");
	bad(e, "ViewAndMutationMeta(input_info=None, output_info=[])",
	    "a list of the AOT metadata has a form of no known version");
	const Unread *u = &e->diags.unread.v[0];
	assert_memory_equal(e->text.s.p + (u->span.at - PLACE), "None", u->span.end - u->span.at);
	for (uint32_t n = 0; n < sizeof line_213; n++)
		read(e, (Str){line_213, n});
}

static void hostile_lengths(void **state)
{
	Env *e = *state;
	static const char *const what[] = {
		"(", "[", "<", "'", "\"", ",", "=", "\\", ")", "a=", "InputAliasInfo(", "<a: 1>, "};
	for (uint32_t i = 0; i < sizeof what / sizeof *what; i++) {
		Buf b = {.a = &e->a};
		buf_add(&b, S("ViewAndMutationMeta(input_info=["));
		for (uint32_t k = 0; k < 200000; k++)
			buf_add(&b, str_from_c(what[i]));
		read(e, buf_str(&b));
	}
	Buf b = {.a = &e->a};
	buf_add(&b, S("ViewAndMutationMeta(output_info=[], input_info=["));
	for (uint32_t k = 0; k < 100000; k++)
		buf_add(&b, S("InputAliasInfo(is_leaf=True, mutates_data=False), "));
	buf_add(&b, S("])"));
	assert_true(read(e, buf_str(&b)));
	assert_int_equal(e->meta.ninputs, 100000);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_line_of_2_13),
		T(other_versions),
		T(what_cannot_be_read),
		T(hostile_lengths),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
