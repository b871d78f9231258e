/* SPDX-License-Identifier: MIT */
#include "split_debug.h"

#include "split_block.h"

/* The last part of a path, which is cut off; empty at its end. */
static Str cut_last(Str *path)
{
	uint32_t at = path->n;
	while (at && path->p[at - 1] != '/')
		at--;
	Str last = str_sub(*path, at, path->n);
	*path = str_sub(*path, 0, at ? at - 1 : 0);
	return last;
}

/* model__0_forward_1.0, model__2_inference_2.2: number of AOTAutograd, pass, number of the frame, running number */
static bool model_of(Str folder, uint32_t *number, Str *pass, uint32_t *running)
{
	static const Str start = STR_INIT("model__");
	if (!str_starts(folder, start))
		return false;
	Str rest = str_sub(folder, start.n, folder.n), digits;
	if (!str_cut(&rest, '_', &digits) || !str_to_u32(digits, number))
		return false;
	uint32_t dot = str_rfind(folder, S("."));
	return str_cut(&rest, '_', pass) && str_to_u32(str_sub(folder, dot + 1, folder.n), running);
}

static Str pid_of(Str run)
{
	static const Str mark = STR_INIT("-pid_");
	uint32_t at = str_rfind(run, mark), pid;
	Str digits = str_sub(run, at + mark.n, run.n);
	return at < run.n && str_to_u32(digits, &pid) ? digits : (Str){0};
}

/* fx_graph_readable.py is the graph that AOTAutograd handed over, fx_graph_transformed.py what the passes made of it. */
static bool kind_of(Str name, Str pass, DebugFile *out)
{
	static const struct {
		Str name, kind;
	} files[] = {{STR_INIT("fx_graph_readable.py"), {NULL, 0}},
	             {STR_INIT("fx_graph_runnable.py"), STR_INIT("fx_graph_runnable")},
	             {STR_INIT("fx_graph_transformed.py"), STR_INIT("after_post_grad_graph")},
	             {STR_INIT("output_code.py"), STR_INIT("inductor_output_code")}};
	static const struct {
		Str pass, kind;
	} passes[] = {{STR_INIT("forward"), STR_INIT("aot_forward_graph")},
	              {STR_INIT("backward"), STR_INIT("aot_backward_graph")},
	              {STR_INIT("inference"), STR_INIT("aot_inference_graph")}};
	uint32_t i = 0, k = 0;
	while (i < sizeof files / sizeof *files && !str_eq(files[i].name, name))
		i++;
	if (i == sizeof files / sizeof *files)
		return false;
	while (k < sizeof passes / sizeof *passes && !str_eq(passes[k].pass, pass))
		k++;
	if (k == sizeof passes / sizeof *passes)
		return false;
	out->order = i;
	out->kind = files[i].kind.n ? files[i].kind : passes[k].kind;
	return true;
}

bool debug_file(const Source *s, DebugFile *out)
{
	enum { FILES_OF_GRAPH = 4 };
	Str path = s->path, name = cut_last(&path), folder = cut_last(&path), pass;
	uint32_t running;
	*out = (DebugFile){0};
	if (!model_of(folder, &out->model, &pass, &running) || running > UINT32_MAX / 8 || !kind_of(name, pass, out) || !str_eq(cut_last(&path), S("torchinductor")))
		return false;
	out->order += running * FILES_OF_GRAPH;
	out->run = path;
	out->process = pid_of(cut_last(&path));
	return out->run.n > 0;
}

Str debug_trace_process(const Source *s)
{
	Mark m;
	uint32_t body;
	Str line = str_sub(s->text, 0, str_find_char(s->text, '\n', 0));
	return mark_parse(line, &m, &body) && m.structured ? m.number : (Str){0};
}
