/* SPDX-License-Identifier: MIT
 * read_meta: what AOTAutograd itself says about the aliases and writes of a graph:
 * ViewAndMutationMeta(...), in one line of TORCH_LOGS=aot_graphs or pretty-printed in a trace. */
#ifndef GRAPHLINT_READ_META_H
#define GRAPHLINT_READ_META_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "split.h"

/* A boolean of the structure; versions differ in which they have. */
typedef enum MetaBool { META_UNKNOWN, META_NO, META_YES } MetaBool;

typedef struct AotInput {
#define AOT_INPUT(field) MetaBool field;
#include "aot_inputs.def"
#undef AOT_INPUT
} AotInput;

typedef enum AotOutputType {
	AOT_OUTPUT_UNKNOWN,
#define AOT_OUTPUT(id, number, name) AOT_OUTPUT_##id = number,
#include "aot_outputs.def"
#undef AOT_OUTPUT
	AOT_OUTPUT_N
} AotOutputType;
Str aot_output_name(AotOutputType t); /* "non_alias"; "unknown" */

typedef struct AotOutput {
	AotOutputType type;
	int64_t base_idx; /* -1: None or not printed */
	Str raw_type; /* class of the output: "torch.Tensor", "int" */
	MetaBool requires_grad;
} AotOutput;

typedef struct AotMeta {
	ArtifactId artifact;
	Span span; /* the structure in the source */
	FileId unit; /* of the artifact, and so the next five: they say which graph it is about */
	Str compile_id;
	uint32_t attempt;
	Str process;
	uint32_t order;
	uint32_t aot_id; /* N of "aot_config id: N", plus 1; 0 not printed */
	const AotInput *inputs;
	uint32_t ninputs;
	const AotOutput *outputs;
	uint32_t noutputs;
	int64_t num_intermediate_bases; /* -1 not printed */
	MetaBool keep_input_mutations, is_train;
	bool subclasses; /* inputs are tensor subclasses: the graph has other inputs than the list */
} AotMeta;

typedef VEC(AotMeta) AotMetas;

/* Reads the first structure of the text, which for training is the outer one. Everything in *out
 * lives in `keep`. False, told through diags, when there is none or it does not end. artifact is
 * left 0 for the caller to set. */
bool read_meta(const Artifact *art, const Text *text, Arena *keep, Diags *diags, AotMeta *out);

#endif
