/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "compare_meta.h"

enum { INPUTS = 3, OUTPUTS = 4 };

/* One Dynamo graph of three inputs and four outputs, and one metadata of it that says that nothing
 * is shared or written. */
typedef struct Env {
	Arena a, scratch;
	Names names;
	Program program;
	Graph *g;
	NodeId dropout;
	Summary summary;
	OutputSummary outputs[OUTPUTS];
	InputSummary inputs[INPUTS];
	Summary *summaries[4];
	AotInput their_inputs[INPUTS + 1];
	AotOutput their_outputs[OUTPUTS];
	AotMeta metas[2];
	uint32_t nmetas;
} Env;

static Sym sym(Env *e, const char *s)
{
	return sym_intern(&e->names, str_from_c(s));
}

static Graph *graph(Env *e, const char *name, uint32_t artifact)
{
	Graph *g = graph_add(&e->program, &e->a);
	g->name = sym(e, name);
	g->stage = STAGE_DYNAMO;
	g->file = g->unit = (FileId){1};
	g->artifact = (ArtifactId){artifact};
	g->compile_id = sym(e, "0/0");
	return g;
}

static int setup(void **state)
{
	Arena a = arena_new(NULL);
	Env *e = NEW(&a, Env);
	e->a = a;
	e->scratch = arena_new(NULL);
	names_init(&e->names, &e->a);
	program_init(&e->program, &e->a, &e->names);
	e->g = graph(e, "__compiled_fn_1", 1);
	for (uint32_t i = 0; i < INPUTS; i++) {
		Node n = {.kind = NK_PLACEHOLDER, .name = sym(e, i == 0 ? "x" : i == 1 ? "y" : "z")};
		VEC_PUSH(&e->a, &e->g->inputs, graph_add_node(e->g, n, NULL, 0));
		e->their_inputs[i] = (AotInput){.mutates_data = META_NO, .mutates_metadata = META_NO};
	}
	e->their_inputs[INPUTS] = e->their_inputs[0];
	Node drop = {.kind = NK_CALL,
	             .callee = CALLEE_FUNCTION,
	             .target = sym(e, "torch.nn.functional.dropout")};
	e->dropout = graph_add_node(e->g, drop, NULL, 0);
	for (uint32_t k = 0; k < OUTPUTS; k++) {
		VEC_PUSH(&e->a, &e->g->outputs, ((Output){.arg = {.kind = AR_NODE, .u.node = e->dropout}}));
		e->outputs[k] = (OutputSummary){.kind = ALIAS_FRESH, .certainty = TRI_MUST};
		e->their_outputs[k] =
			(AotOutput){.type = AOT_OUTPUT_NON_ALIAS, .base_idx = -1, .requires_grad = META_NO};
	}
	e->summary = (Summary){.outputs = e->outputs, .inputs = e->inputs};
	e->summaries[1] = &e->summary;
	e->metas[0] = (AotMeta){.artifact = {2},
	                        .span = {{1}, 0, 1},
	                        .unit = {1},
	                        .compile_id = S("0/0"),
	                        .aot_id = 1,
	                        .inputs = e->their_inputs,
	                        .ninputs = INPUTS,
	                        .outputs = e->their_outputs,
	                        .noutputs = OUTPUTS};
	e->nmetas = 1;
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	Env *e = *state;
	arena_free(&e->scratch);
	Arena a = e->a;
	arena_free(&a);
	return 0;
}

static void compared_as(Env *e, const char *want)
{
	CompareMeta c = {&e->program, (const Summary *const *)e->summaries, e->metas, e->nmetas, &e->a,
	                 &e->scratch};
	Buf b = {.a = &e->a};
	compare_meta_dump(&c, compare_meta(&c), &b);
	assert_string_equal(str_to_c(&e->a, buf_str(&b)), want);
}

#define HEAD(answers) "aot-metadata id=0/0 aot=0 graph=1 __compiled_fn_1: " answers "\n"

static void agreement_is_one_line(void **state)
{
	compared_as(*state, HEAD("10 answers, 0 differ, 0 only may"));
}

static void share(Env *e, uint32_t k, AliasKind kind, uint32_t of)
{
	OutputSummary *o = &e->outputs[k];
	o->kind = kind;
	o->of = NEW(&e->a, uint32_t);
	o->of[0] = of;
	o->nof = 1;
}

static void their(Env *e, uint32_t k, AotOutputType type, int64_t base)
{
	e->their_outputs[k].type = type;
	e->their_outputs[k].base_idx = base;
}

static void equal_memory_agrees(void **state)
{
	Env *e = *state;
	share(e, 0, ALIAS_VIEW_OF_INPUT, 1);
	their(e, 0, AOT_OUTPUT_ALIAS_OF_INPUT, 1);
	share(e, 1, ALIAS_INPUT, 0);
	their(e, 1, AOT_OUTPUT_IS_INPUT, 0);
	share(e, 2, ALIAS_VIEW_OF_OUTPUT, 3); /* the base is output 3, which is itself non_alias */
	their(e, 2, AOT_OUTPUT_BASE_IS_OUTPUT, 3);
	share(e, 3, ALIAS_VIEW_OF_OUTPUT, 2);
	e->their_outputs[3].requires_grad = META_YES;
	compared_as(e, HEAD("10 answers, 0 differ, 0 only may"));
	their(e, 2, AOT_OUTPUT_BASE, 0); /* both from one hidden base */
	their(e, 3, AOT_OUTPUT_BASE_SAVED, 0);
	compared_as(e, HEAD("10 answers, 0 differ, 0 only may"));
	e->inputs[2].data = TRI_MUST;
	e->inputs[1].metadata = TRI_MUST;
	e->their_inputs[2].mutates_data = META_YES;
	e->their_inputs[1].mutates_storage_metadata = META_YES;
	compared_as(e, HEAD("10 answers, 0 differ, 0 only may"));
}

static void differences_are_lines(void **state)
{
	Env *e = *state;
	share(e, 0, ALIAS_VIEW_OF_INPUT, 1);
	their(e, 1, AOT_OUTPUT_ALIAS_OF_INPUT, 2);
	share(e, 2, ALIAS_VIEW_OF_INPUT, 1);
	their(e, 2, AOT_OUTPUT_IS_INPUT, 0);
	their(e, 3, AOT_OUTPUT_BASE_IS_OUTPUT, 0);
	e->inputs[0].data = TRI_MUST;
	e->their_inputs[1].mutates_metadata = META_YES;
	compared_as(e,
	            HEAD("10 answers, 6 differ, 0 only may") "  input 0 x: AOT data no, here data must "
	                                                     "(not explained)\n"
	                                                     "  input 1 y: AOT metadata yes, here "
	                                                     "metadata no (not explained)\n"
	                                                     "  output 0: AOT non_alias, here "
	                                                     "view_of_input 1 (not explained)\n"
	                                                     "  output 1: AOT alias_of_input 2, here "
	                                                     "fresh (not explained)\n"
	                                                     "  output 2: AOT is_input 0, here "
	                                                     "view_of_input 1 (not explained)\n"
	                                                     "  output 3: AOT "
	                                                     "alias_of_intermediate_base_is_user_"
	                                                     "output 0, here fresh (not explained)\n");
}

static void what_only_may_be_is_open(void **state)
{
	Env *e = *state;
	share(e, 0, ALIAS_VIEW_OF_INPUT, 1);
	e->outputs[0].certainty = TRI_MAY;
	e->outputs[1].kind = ALIAS_UNKNOWN;
	e->inputs[0].data = TRI_MAY;
	e->their_inputs[1].mutates_data = META_UNKNOWN;
	their(e, 2, AOT_OUTPUT_CUSTOM_FUNCTION_VIEW, -1);
	their(e, 3, AOT_OUTPUT_UNKNOWN, -1);
	compared_as(e, HEAD("7 answers, 0 differ, 3 only may"));
}

static void known_reasons(void **state)
{
	Env *e = *state;
	Hop chain[] = {{.node = {1}}, {.node = e->dropout}};
	Write drop = {.node = e->dropout, .certainty = TRI_MUST, .chain = chain, .nchain = 2};
	Write set = {.node = e->dropout, .certainty = TRI_MUST, .metadata = true};
	share(e, 0, ALIAS_INPUT, 0);
	e->outputs[0].chain = chain;
	e->outputs[0].nchain = 2;
	share(e, 1, ALIAS_OUTPUT, 2);
	share(e, 2, ALIAS_VIEW_OF_OUTPUT, 3);
	share(e, 3, ALIAS_VIEW_OF_OUTPUT, 2);
	e->their_outputs[3].requires_grad = META_YES;
	e->inputs[0] = (InputSummary){.data = TRI_MUST, .writes = &drop, .nwrites = 1};
	e->inputs[1] =
		(InputSummary){.data = TRI_MUST, .metadata = TRI_MUST, .writes = &set, .nwrites = 1};
	e->their_inputs[1].mutates_metadata = META_YES;
	compared_as(
		e,
		HEAD("10 answers, 6 differ, 0 only may") "  input 0 x: AOT data no, here data must (AOT "
												 "copies the result of an inactive dropout, the "
												 "captured program returns its argument)\n"
												 "  input 1 y: AOT data no, here data must (an "
												 "input is given other memory, which AOT counts as "
												 "a write of metadata alone)\n"
												 "  output 0: AOT non_alias, here input 0 (AOT "
												 "copies the result of an inactive dropout, the "
												 "captured program returns its argument)\n"
												 "  output 1: AOT non_alias, here output 2 (AOT "
												 "says non_alias of one object that is returned "
												 "twice)\n"
												 "  output 2: AOT non_alias, here view_of_output 3 "
												 "(AOT says non_alias of outputs that share memory "
												 "only with one another and need no gradients)\n"
												 "  output 3: AOT non_alias, here view_of_output 2 "
												 "(not explained)\n");
}

static void entries_of_attributes_stand_before(void **state)
{
	Env *e = *state;
	e->metas[0].ninputs = INPUTS + 1; /* 2.4: the module's parameters first */
	their(e, 0, AOT_OUTPUT_ALIAS_OF_INPUT, 0);
	e->outputs[0].kind = ALIAS_VIEW_OF_ATTR;
	e->outputs[0].attribute = sym(e, "w");
	their(e, 1, AOT_OUTPUT_ALIAS_OF_INPUT, 3);
	share(e, 1, ALIAS_VIEW_OF_INPUT, 2);
	compared_as(e, HEAD("10 answers, 0 differ, 0 only may"));
}

static void entries_that_cannot_be_paired(void **state)
{
	Env *e = *state;
	e->metas[0].ninputs = INPUTS - 1;
	compared_as(e, HEAD("0 answers, 1 differ, 0 only may") "  all: AOT 2 inputs, 4 outputs, here 3 "
	                                                       "inputs, 4 outputs (not explained)\n");
	e->inputs[1].data = TRI_MUST;
	compared_as(e,
	            HEAD("0 answers, 1 differ, 0 only may") "  all: AOT 2 inputs, 4 outputs, here 3 "
	                                                    "inputs, 4 outputs (AOT merged inputs that "
	                                                    "share storage, one of them written, "
	                                                    "so its entries have other positions)\n");
	e->metas[1] = e->metas[0];
	e->metas[1].aot_id = 2;
	e->nmetas = 2;
	CompareMeta c = {&e->program, (const Summary *const *)e->summaries, e->metas, 2, &e->a,
	                 &e->scratch};
	MetaComparison *all = compare_meta(&c);
	assert_int_equal(all[0].diffs.v[0].reason, META_REASON_SPLIT);
	assert_int_equal(all[1].diffs.v[0].reason, META_REASON_SPLIT);
}

/* The Dynamo graph printed last before the metadata, with its id and attempt, in its process and
 * file. */
static void the_right_graph(void **state)
{
	Env *e = *state;
	e->summaries[2] = e->summaries[3] = &e->summary;
	graph(e, "invoke_subgraph trace", 1);
	Graph *later = graph(e, "__compiled_fn_2", 3);
	compared_as(e, HEAD("10 answers, 0 differ, 0 only may"));
	later->artifact.i = 2; /* not before it: the artifact of the metadata is 2 */
	compared_as(e, HEAD("10 answers, 0 differ, 0 only may"));
	e->metas[0].attempt = 1;
	compared_as(e, "aot-metadata id=0/0_1 aot=0: no graph\n");
	e->g->attempt = 1;
	e->metas[0].process = S("rank1");
	compared_as(e, "aot-metadata id=0/0_1 aot=0: no graph\n");
	e->g->process = sym(e, "rank1");
	compared_as(
		e,
		"aot-metadata id=0/0_1 aot=0 graph=1 __compiled_fn_1: 10 answers, 0 differ, 0 only may\n");
	e->metas[0].span.file.i = e->metas[0].unit.i = 2;
	compared_as(e, "aot-metadata id=0/0_1 aot=0: no graph\n");
	e->metas[0].compile_id = (Str){0};
	e->metas[0].attempt = 0;
	compared_as(e, "aot-metadata id= aot=0: no graph\n");
	e->nmetas = 0;
	compared_as(e, "");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(agreement_is_one_line),
		T(equal_memory_agrees),
		T(differences_are_lines),
		T(what_only_may_be_is_open),
		T(known_reasons),
		T(entries_of_attributes_stand_before),
		T(entries_that_cannot_be_paired),
		T(the_right_graph),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
