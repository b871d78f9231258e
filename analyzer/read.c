/* SPDX-License-Identifier: MIT */
#include "read.h"

#include "read_expr.h"

Reader reader_new(Program *p, Types *t, Diags *d, const Config *cfg, Arena *keep, Arena *scratch)
{
	return (Reader){.program = p, .types = t, .diags = d, .cfg = cfg, .keep = keep, .life = keep, .scratch = scratch,
	                .tmp = arena_new(scratch->budget)};
}

void reader_free(Reader *r)
{
	py_parser_free(r->parser);
	arena_free(&r->tmp);
	r->parser = NULL;
}

/* Header names of AOT and Inductor graphs: torch/_functorch/_aot_autograd, torch/_inductor/compile_fx.py of
 * PyTorch 2.0 to 2.15, and functorch of 1.13 ("Forward (only) graph"). */
static Stage stage_of_name(Str name, Str tag)
{
	static const struct {
		Str start;
		Stage stage;
	} starts[] = {
		{STR_INIT("Forward"), STAGE_AOT_FORWARD},
		{STR_INIT("Backward"), STAGE_AOT_BACKWARD},
		{STR_INIT("Joint"), STAGE_AOT_JOINT},
		{STR_INIT("tensorify_python_scalars"), STAGE_AOT_FORWARD},
		{STR_INIT("AFTER POST GRAD"), STAGE_POST_GRAD},
		{STR_INIT("BEFORE POST GRAD"), STAGE_POST_GRAD},
		{STR_INIT("FROZEN GRAPH"), STAGE_POST_GRAD},
		{STR_INIT("BEFORE PRE GRAD"), STAGE_PRE_GRAD},
		{STR_INIT("AFTER PRE GRAD"), STAGE_PRE_GRAD},
		{STR_INIT("Compiled autograd graph"), STAGE_COMPILED_AUTOGRAD},
	};
	for (uint32_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (str_starts(name, starts[i].start))
			return starts[i].stage;
	if (str_eq(tag, S("aot_graphs")))
		return STAGE_AOT_FORWARD;
	if (str_eq(tag, S("ExportedProgram")))
		return STAGE_EXPORT;
	if (str_eq(tag, S("compiled_autograd")))
		return STAGE_COMPILED_AUTOGRAD;
	return str_has(name, S("compiled_fn_")) ? STAGE_DYNAMO : STAGE_FX;
}

/* A payload of a trace says what it is. */
static bool stage_of_kind(Str kind, Stage *out)
{
	static const struct {
		Str kind;
		Stage stage;
	} kinds[] = {
#define TRACE_KIND(kind, role, stage) {STR_INIT(kind), STAGE_##stage},
#include "trace_kinds.def"
#undef TRACE_KIND
	};
	for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (str_eq(kinds[i].kind, kind)) {
			*out = kinds[i].stage;
			return true;
		}
	return false;
}

void reader_graph_from(Reader *r, Graph *g, ArtifactId id, const Artifact *art)
{
	Names *names = r->program->names;
	Str name = art->name_line.n ? art->name_line : art->name;
	g->artifact = id;
	g->file = art->file;
	g->unit = art->unit;
	g->at = art->at;
	g->end = art->end;
	/* code finds its name in its class line; the other prints have none */
	g->name = sym_intern(names, name.n || art->kind == ART_GRAPH_CODE ? name : S("forward"));
	if (art->prefix != PREFIX_TRACE || !stage_of_kind(art->tag, &g->stage)) {
		g->stage = stage_of_name(name, art->tag);
		if (g->stage == STAGE_FX && art->prefix != PREFIX_NONE)
			g->stage = STAGE_DYNAMO;
	}
	g->compile_id = sym_intern(names, art->compile_id);
	g->attempt = art->attempt;
	g->aot_id = art->aot_id;
	g->process = sym_intern(names, art->process);
	g->torch = art->torch;
}

void read_frame_header(Reader *r, ArtifactId id, const Artifact *art)
{
	Names *names = r->program->names;
	Frame f = {
		.name = sym_intern(names, art->name),
		.file = sym_intern(names, art->code_file),
		.first_line = art->code_line,
		.alias = sym_intern(names, art->alias),
		.modified = art->kind == ART_BYTECODE_MODIFIED || art->kind == ART_PYTHON_MODIFIED,
		.compile_id = sym_intern(names, art->compile_id),
		.process = sym_intern(names, art->process),
		.attempt = art->attempt,
		.dump = art->file,
		.unit = art->unit,
		.at = art->at,
		.end = art->end,
		.artifact = id,
	};
	VEC_PUSH(r->program->a, &r->program->frames, f);
}
