/* SPDX-License-Identifier: MIT
 * Records of TORCH_TRACE as PyTorch 2.6 to 2.15 write them, cut short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "split.h"
#include "trace.h"

#define P "V1201 11:09:56.119000 21067 site-packages/torch/_dynamo/a.py:1] "
#define GRAPH_MD5 "e6ad9a08f9ea9ffec328bc542f3dfb76"
#define GRAPH_TEXT "	class GraphModule(torch.nn.Module):\n	    def forward(self, x: \"f32[2]\"):\n	        return (x,)\n	\n"
#define CODE_MD5 "bc5adc043932a8e907b94268d40e2fa5"
#define CODE_TEXT "	 14           0 RESUME                   0\n	              2 LOAD_FAST                0 (h)\n	              4 RETURN_VALUE\n	\n"
#define VERSION_MD5 "2304edc629cea2f29df3e81522bc75a5"
#define VERSION_TEXT "	{\n	\"pytorch_version\": \"2.13.0+cpu\",\n	\"oss\": true\n	}\n"
#define FRAME ", \"frame_id\": 1, \"frame_compile_id\": 0, \"attempt\": 2"
#define HASH(sum) ", \"has_payload\": \"" sum "\"}\n"

typedef struct Env {
	Arena a;
	Sources sources;
	Artifacts t;
	Diags diags;
} Env;

static int setup(void **state)
{
	Arena a = arena_new(NULL);
	Env *e = NEW(&a, Env);
	e->a = a;
	sources_init(&e->sources, &e->a);
	artifacts_init(&e->t, &e->a);
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

static void split(Env *e, Str text)
{
	Str why;
	FileId f = sources_add_bytes(&e->sources, S("f"), text, 0, &why);
	assert_int_not_equal(f.i, 0);
	split_source(&e->t, &e->sources, f, NULL, &e->diags);
}

static const Artifact *only(Env *e)
{
	assert_int_equal(e->t.v.n, 2);
	return &e->t.v.v[1];
}

#define assert_str(s, c) assert_true(str_eq((s), str_from_c(c)))

/* ---- records ---- */

static TraceRecord parsed(Env *e, const char *json)
{
	TraceRecord r;
	assert_int_equal(trace_parse(str_from_c(json), &e->a, &r), TRACE_OK);
	return r;
}

static void ids_of_compilations(void **state)
{
	TraceRecord r = parsed(*state, "{\"dynamo_output_graph\": {}, \"frame_id\": 3, \"frame_compile_id\": 1, \"attempt\": 2}");
	assert_str(r.kind, "dynamo_output_graph");
	assert_str(r.compile_id, "3/1");
	assert_int_equal(r.attempt, 2);
	assert_int_equal(r.rank, -1);
	r = parsed(*state, "{\"compiled_autograd_graph\": {}, \"compiled_autograd_id\": 0}");
	assert_str(r.compile_id, "!0");
	r = parsed(*state, "{\"rank\": 1, \"artifact\": {\"name\": \"x\"}, \"compiled_autograd_id\": 0, \"frame_id\": 1, \"frame_compile_id\": 0}");
	assert_str(r.compile_id, "!0/1/0");
	assert_str(r.kind, "x");
	assert_int_equal(r.rank, 1);
	r = parsed(*state, "{\"str\": [\"/a.py\", 7]}");
	assert_str(r.compile_id, "");
	assert_str(r.text, "/a.py");
	assert_int_equal(r.id, 7);
}

static void keys_in_any_order(void **state)
{
	TraceRecord r = parsed(*state, "{\"attempt\": 0, \"has_payload\": \"ab\", \"frame_id\": 0, \"stack\": [], \"zzz\": 1}");
	assert_str(r.kind, "zzz");
	assert_str(r.hash, "ab");
}

static void tensors(void **state)
{
	TraceRecord r = parsed(*state, "{\"describe_tensor\": {\"id\": 5, \"ndim\": 2, \"dtype\": \"torch.float32\", \"size\": [3, 4], "
	                               "\"is_view\": true, \"stride\": [4, 1], \"storage_offset\": 12, \"storage\": 0, \"base\": 1, "
	                               "\"describer_id\": 7}}");
	assert_int_equal(r.id, 5);
	assert_int_equal(r.describer, 7);
	assert_int_equal(r.storage, 0);
	assert_int_equal(r.base, 1);
	assert_int_equal(r.offset, 12);
	assert_true(r.sized && r.is_view && !r.requires_grad);
	assert_int_equal(r.size[1], 4);
	assert_int_equal(r.stride[0], 4);
}

static void sizes_that_are_no_numbers(void **state)
{
	assert_false(parsed(*state, "{\"describe_tensor\": {\"ndim\": 1, \"size\": [\"s0\"], \"stride\": [1]}}").sized);
	assert_false(parsed(*state, "{\"describe_tensor\": {\"ndim\": 2, \"size\": [1], \"stride\": [1]}}").sized);
	assert_false(parsed(*state, "{\"describe_tensor\": {\"ndim\": 65, \"size\": [], \"stride\": []}}").sized);
	assert_false(parsed(*state, "{\"describe_tensor\": {\"ndim\": -1, \"size\": [], \"stride\": []}}").sized);
	assert_false(parsed(*state, "{\"describe_tensor\": {\"ndim\": 0, \"size\": [], \"stride\": [], \"storage_offset\": \"s0\"}}").sized);
	assert_true(parsed(*state, "{\"describe_tensor\": {\"ndim\": 0, \"size\": [], \"stride\": []}}").sized);
	assert_int_equal(parsed(*state, "{\"describe_tensor\": {\"id\": -3, \"describer_id\": 99999999999}}").id, -1);
}

static void what_is_no_record(void **state)
{
	static const char *const bad[] = {"", "{", "[]", "7", "{}", "{\"frame_id\": 1}", "{\"artifact\": {}}", "{\"a\": 1", "{\"a\": 1}}",
	                                  "{\"a\": \"\xff\"}", "{\"artifact\": 3}"};
	Env *e = *state;
	TraceRecord r;
	for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(trace_parse(str_from_c(bad[i]), &e->a, &r), TRACE_BAD);
	char *deep = arena_alloc(&e->a, 8000);
	memset(deep, '[', 8000);
	assert_int_equal(trace_parse((Str){deep, 8000}, &e->a, &r), TRACE_BAD);
	char *long_one = arena_alloc(&e->a, TRACE_RECORD_MOST + 1);
	assert_int_equal(trace_parse((Str){long_one, TRACE_RECORD_MOST + 1}, &e->a, &r), TRACE_TOO_LONG);
}

static void string_tables(void **state)
{
	Env *e = *state;
	TraceStrings v;
	assert_true(trace_string_table(S("{\"string_table\":[\"/a.py\",\"b \\\" c\",null]}"), &e->a, &v));
	assert_int_equal(v.n, 3);
	assert_str(v.v[0], "/a.py");
	assert_str(v.v[1], "b \" c");
	assert_str(v.v[2], "");
	assert_false(trace_string_table(S("{\"string_table\":7}"), &e->a, &v));
	assert_false(trace_string_table(S("{\"str\": [\"a\", 1]}"), &e->a, &v));
	assert_false(trace_string_table(S("{\"string_table\":["), &e->a, &v));
}

/* ---- payloads ---- */

static void a_graph_of_a_compilation(void **state)
{
	Env *e = *state;
	split(e, S(P "{\"dynamo_output_graph\": {}" FRAME HASH(GRAPH_MD5) GRAPH_TEXT));
	const Artifact *a = only(e);
	assert_int_equal(a->kind, ART_GRAPH_CODE);
	assert_int_equal(a->prefix, PREFIX_TRACE);
	assert_str(a->compile_id, "1/0");
	assert_int_equal(a->attempt, 2);
	assert_str(a->tag, "dynamo_output_graph");
	assert_str(a->process, "21067");
	assert_int_equal(e->diags.v.n, 0);
	LineCol at = source_line_col(source_get(&e->sources, a->file), a->at);
	assert_int_equal(at.line, 2);
	assert_int_equal(at.col, 2); /* behind the tab */
}

static void a_listing_gets_its_name(void **state)
{
	Env *e = *state;
	split(e, S(P "{\"str\": [\"/srv/m.py\", 4]}\n" P "{\"dynamo_start\": {\"stack\": [{\"line\": 3, \"name\": \"<module>\", "
	             "\"filename\": 4}, {\"line\": 14, \"name\": \"torch_dynamo_resume_in_f_at_14\", \"filename\": 4}]}" FRAME "}\n" P
	             "{\"artifact\": {\"name\": \"torch_dynamo_resume_in_f_at_14_MODIFIED_BYTECODE\"}" FRAME HASH(CODE_MD5) CODE_TEXT));
	const Artifact *a = only(e);
	assert_int_equal(a->kind, ART_BYTECODE_MODIFIED);
	assert_str(a->name, "torch_dynamo_resume_in_f_at_14");
	assert_str(a->code_file, "/srv/m.py");
	assert_int_equal(a->code_line, 14);
	assert_false(a->cut_head);
	assert_int_equal(e->t.starts.n, 1);
	assert_int_equal(e->diags.v.n, 0);
}

static void pytorch_tells_its_version(void **state)
{
	Env *e = *state;
	split(e, S(P "{\"artifact\": {\"name\": \"torch_version\", \"encoding\": \"json\"}" HASH(VERSION_MD5) VERSION_TEXT P
	             "{\"dynamo_output_graph\": {}" FRAME HASH(GRAPH_MD5) GRAPH_TEXT));
	split_settle(&e->t, &e->diags);
	assert_int_equal(only(e)->torch.lo, 213);
	assert_int_equal(only(e)->torch.hi, 213);
}

static const char *why(Env *e)
{
	assert_int_equal(e->diags.unread.n, 1);
	return str_to_c(&e->a, e->diags.unread.v[0].why);
}

static void a_changed_payload_is_told(void **state)
{
	Env *e = *state;
	split(e, S(P "{\"dynamo_output_graph\": {}" FRAME HASH(CODE_MD5) GRAPH_TEXT));
	assert_int_equal(only(e)->kind, ART_GRAPH_CODE); /* and read all the same */
	assert_non_null(strstr(why(e), "its MD5 is another"));
	assert_str(e->diags.v.v[0].rule, "GL902");
}

static void a_lost_payload_is_told(void **state)
{
	Env *e = *state;
	split(e, S(P "{\"dynamo_output_graph\": {}" FRAME HASH(GRAPH_MD5) P "{\"str\": [\"a\", 1]}\n"));
	assert_int_equal(e->t.v.n, 1);
	assert_non_null(strstr(why(e), "is missing"));
}

/* An editor that takes blanks from the ends of lines takes lone tabs too. */
static void blank_lines_without_tab(void **state)
{
	Env *e = *state;
	split(e, S(P "{\"dynamo_output_graph\": {}" FRAME HASH("f3085cccd508e131c268385174aee259") "\ta\n\n\tb\n" P "{\"str\": [\"a\", 1]}\n"));
	assert_int_equal(e->diags.v.n, 0);
}

static void damaged_json_is_told(void **state)
{
	Env *e = *state;
	split(e, S(P "{\"dynamo_output_graph\": {\n" P "{\"dynamo_output_graph\": {}" FRAME HASH(GRAPH_MD5) GRAPH_TEXT));
	assert_int_equal(only(e)->kind, ART_GRAPH_CODE);
	assert_non_null(strstr(why(e), "JSON is damaged"));
	assert_str(e->diags.v.v[0].rule, "GL901");
}

static void tensors_and_their_sources(void **state)
{
	Env *e = *state;
	split(e, S(P "{\"describe_tensor\": {\"id\": 1, \"ndim\": 0, \"size\": [], \"stride\": [], \"storage\": 0, \"describer_id\": 3}" FRAME
	             "}\n" P "{\"describe_tensor\": {\"id\": 0, \"ndim\": 0, \"size\": [], \"stride\": [], \"storage\": 0, \"base\": 1, "
	             "\"is_view\": true, \"describer_id\": 3}" FRAME "}\n" P
	             "{\"describe_source\": {\"describer_id\": 3, \"id\": 0, \"source\": \"L['x']\"}" FRAME "}\n" P
	             "{\"describe_source\": {\"describer_id\": 3, \"id\": 9, \"source\": \"L['nobody']\"}" FRAME "}\n"));
	assert_int_equal(e->t.tensors.n, 2);
	assert_str(e->t.tensors.v[0].source, "");
	assert_str(e->t.tensors.v[1].source, "L['x']");
	assert_int_equal(e->t.tensors.v[0].storage, e->t.tensors.v[1].storage);
	assert_str(e->t.tensors.v[1].id.compile_id, "1/0");
	assert_int_equal(e->t.tensors.v[1].id.attempt, 2);
}

static void ranks_are_processes(void **state)
{
	Env *e = *state;
	split(e, S(P "{\"rank\": 1, \"dynamo_output_graph\": {}" FRAME HASH(GRAPH_MD5) GRAPH_TEXT));
	assert_str(only(e)->process, "rank1:21067");
}

static void behind_the_prefix_of_a_scheduler(void **state)
{
	Env *e = *state;
	split(e, S("0: " P "{\"str\": [\"a\", 1]}\n0: " P "{\"str\": [\"b\", 2]}\n0: " P
	           "{\"artifact\": {\"name\": \"x\"}" FRAME HASH("f3085cccd508e131c268385174aee259") "0: \ta\n0: \t\n0: \tb\n0: " P "{\"str\": [\"c\", 3]}\n"));
	assert_int_equal(e->diags.v.n, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(ids_of_compilations),
		T(keys_in_any_order),
		T(tensors),
		T(sizes_that_are_no_numbers),
		T(what_is_no_record),
		T(string_tables),
		T(a_graph_of_a_compilation),
		T(a_listing_gets_its_name),
		T(pytorch_tells_its_version),
		T(a_changed_payload_is_told),
		T(a_lost_payload_is_told),
		T(blank_lines_without_tab),
		T(damaged_json_is_told),
		T(tensors_and_their_sources),
		T(ranks_are_processes),
		T(behind_the_prefix_of_a_scheduler),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
