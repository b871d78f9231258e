/* SPDX-License-Identifier: MIT
 *
 *  def load_args(reader):                                                    2.1 and later
 *      buf0 = reader.storage('c17fd9...', 48, dtype_hint=torch.int64)
 *      reader.tensor(buf0, (4,), storage_offset=4, is_leaf=True)  # L_row_
 *      reader.tensor(buf0, (3, 4), (1, 3), dtype=torch.int64)  # L_cache_
 *      reader.symint(6, expr='s77')  # s77
 *
 *  args = [((3, 4), (4, 1), torch.float32, 'cpu', False), ...]               2022, 2.0
 */
#include "link_repro.h"

#include "read_call.h"
#include "read_scan.h"

enum { PARTS_MOST = 16, ARGS_MOST = 1 << 16 };

typedef struct Storage {
	Str name;
	Sym device;
} Storage;

/* An argument as the text has it; sizes empty: no tensor. */
typedef struct ReproArg {
	Str name;           /* of the comment behind it */
	TypeId type;
	uint32_t storage;   /* number; 0 not told */
	int64_t offset;
	uint32_t at, end;   /* of the text */
} ReproArg;

typedef struct Repro {
	Program *p;
	Types *t;
	const Text *text;
	Arena *scratch;
	VEC(Storage) storages;
	Map storage_of;     /* Sym of "buf0" -> index, plus 1 */
	VEC(ReproArg) args;
} Repro;

static uint32_t at_of(const Repro *r, Str s)
{
	return (uint32_t)(s.p - r->text->s.p);
}

static Sym intern(Repro *r, Str s)
{
	return sym_intern(r->p->names, s);
}

/* "'cpu'" without quotes; device(type='cuda', index=0) as cuda:0 */
static Sym device_of(Repro *r, Str value)
{
	PyCallPart part[4];
	Str callee, inside;
	if (value.n > 2 && (value.p[0] == '\'' || value.p[0] == '"'))
		return intern(r, str_sub(value, 1, value.n - 1));
	if (!pycall_is(value, &callee, &inside))
		return intern(r, S("cpu"));
	uint32_t n = pycall_parts(inside, part, 4);
	Str type = pycall_part(part, n, S("type")), index = pycall_part(part, n, S("index"));
	type = str_sub(type, 1, type.n ? type.n - 1 : 0);
	return intern(r, index.n ? str_printf(r->scratch, STR_FMT ":" STR_FMT, STR_ARG(type), STR_ARG(index)) : type);
}

/* ---- 2.1 and later ---- */

static void add_storage(Repro *r, Str name, Str inside)
{
	PyCallPart part[PARTS_MOST];
	uint32_t n = pycall_parts(inside, part, PARTS_MOST);
	VEC_PUSH(r->scratch, &r->storages, ((Storage){name, device_of(r, pycall_part(part, n, S("device")))}));
	map_put(&r->storage_of, intern(r, name).i, r->storages.n);
}

static void add_tensor(Repro *r, Str inside, Str name, Str at)
{
	PyCallPart part[PARTS_MOST];
	uint32_t n = pycall_parts(inside, part, PARTS_MOST);
	ReproArg a = {.name = name, .at = at_of(r, at), .end = at_of(r, at) + at.n};
	if (n < 2)
		return;
	Sym s = sym_find(r->p->names, part[0].value);
	a.storage = sym_none(s) ? 0 : map_get(&r->storage_of, s.i);
	Str dtype = pycall_part(part, n, S("dtype")), stride = n > 2 && !part[2].keyword.n ? part[2].value : (Str){0};
	Str offset = pycall_part(part, n, S("storage_offset"));
	Sym device = a.storage ? r->storages.v[a.storage - 1].device : intern(r, S("cpu"));
	a.type = pycall_type(r->t, part[1].value, stride, dtype.n ? dtype_parse(dtype) : DT_F32, device);
	if (offset.n && !str_to_i64(offset, &a.offset))
		a.offset = -1;
	VEC_PUSH(r->scratch, &r->args, a);
}

/* reader.symint(6, expr='s77') and other kinds that are no tensor. */
static void add_other(Repro *r, Str name, Str at)
{
	VEC_PUSH(r->scratch, &r->args, ((ReproArg){.name = name, .at = at_of(r, at), .end = at_of(r, at) + at.n}));
}

static void read_line(Repro *r, Str line)
{
	static const Str storage = STR_INIT("reader.storage"), tensor = STR_INIT("reader.tensor"), reader = STR_INIT("reader.");
	uint32_t eq = str_find(line, S(" = "), 0), open = str_find_char(line, '(', 0), close = open < line.n ? scan_close(line, open) : line.n;
	Str callee, inside, comment = {0}, call = line;
	if (eq < open)
		call = str_sub(line, eq + 3, line.n);
	if (close < line.n) {
		comment = str_trim(str_sub(line, close + 1, line.n));
		call = str_sub(line, (uint32_t)(call.p - line.p), close + 1);
	}
	if (comment.n && comment.p[0] == '#')
		comment = str_ltrim(str_sub(comment, 1, comment.n));
	if (!pycall_is(call, &callee, &inside))
		return;
	if (str_eq(callee, storage) && eq < open)
		add_storage(r, str_sub(line, 0, eq), inside);
	else if (str_eq(callee, tensor))
		add_tensor(r, inside, comment, call);
	else if (str_starts(callee, reader))
		add_other(r, comment, call);
}

/* ---- 2022 and 2.0 ---- */

static void add_tuple(Repro *r, Str tuple)
{
	PyCallPart part[PARTS_MOST];
	if (tuple.n < 2 || tuple.p[0] != '(' || scan_close(tuple, 0) != tuple.n - 1)
		return;
	uint32_t n = pycall_parts(str_sub(tuple, 1, tuple.n - 1), part, PARTS_MOST);
	ReproArg a = {.at = at_of(r, tuple), .end = at_of(r, tuple) + tuple.n};
	if (n > 3)
		a.type = pycall_type(r->t, part[0].value, part[1].value, dtype_parse(part[2].value), device_of(r, part[3].value));
	VEC_PUSH(r->scratch, &r->args, a);
}

static void read_list(Repro *r, Str s)
{
	uint32_t open = str_find_char(s, '[', 0), close = open < s.n ? scan_close(s, open) : s.n;
	for (uint32_t at = open + 1; at < close && r->args.n < ARGS_MOST; at++) {
		uint32_t end = scan_part(s, at, close);
		Str part = str_trim(str_sub(s, at, end));
		at = end;
		if (part.n)
			add_tuple(r, part);
	}
}

static void read_args(Repro *r)
{
	Str rest = r->text->s, line;
	if (str_starts(str_ltrim(rest), S("args = ["))) {
		read_list(r, rest);
		return;
	}
	while (str_cut(&rest, '\n', &line) && r->args.n < ARGS_MOST)
		read_line(r, str_trim(line));
}

/* ---- the graph ---- */

/* Graphs of a class Repro, in the order of their artifacts. */
typedef VEC(Graph *) Repros;

static Repros find_repros(const Program *p, Arena *scratch)
{
	Repros v = {0};
	Sym repro = sym_find(p->names, S("Repro"));
	for (uint32_t i = 1; i < p->graphs.n && !sym_none(repro); i++)
		if (!p->graphs.v[i]->parent.i && sym_eq(p->graphs.v[i]->class_name, repro))
			VEC_PUSH(scratch, &v, p->graphs.v[i]);
	return v;
}

/* The class before the arguments in the same file; where it stands behind them (2.0), the first there. */
static Graph *graph_of(const Repros *v, const Artifact *args, uint32_t id)
{
	uint32_t lo = 0, hi = v->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (v->v[mid]->artifact.i < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && v->v[lo - 1]->file.i == args->file.i)
		return v->v[lo - 1];
	return lo < v->n && v->v[lo]->file.i == args->file.i ? v->v[lo] : NULL;
}

static bool is_name_of(const Program *p, const Graph *g, uint32_t input, Str name)
{
	return !name.n || str_eq(sym_str(p->names, graph_node(g, g->inputs.v[input])->target), name);
}

static const int64_t *numbers(const Types *t, const ExprId *v, uint32_t n, Arena *a)
{
	int64_t *out = NEW_N(a, int64_t, n + 1);
	for (uint32_t i = 0; i < n; i++)
		if (!expr_value(t, v[i], &out[i]))
			return NULL;
	return out;
}

static InputPlace place_of(const Repro *r, const ReproArg *a, Arena *keep)
{
	const Type *type = type_get(r->t, a->type);
	InputPlace p = {.storage = a->storage, .ndim = type->ndim, .said = text_span(r->text, a->at, a->end)};
	p.bytes = dtype_bytes(type->dtype);
	if (!type->has_stride || a->offset < 0)
		return p;
	p.size = numbers(r->t, type->size, type->ndim, keep);
	p.stride = numbers(r->t, type->stride, type->ndim, keep);
	p.offset = a->offset;
	if (!p.size || !p.stride)
		p.size = p.stride = NULL;
	return p;
}

/* Argument i is that of placeholder i; where comments say otherwise the list is not that of this graph. */
static void attach(const Repro *r, Graph *g)
{
	for (uint32_t i = 0; i < r->args.n; i++)
		if (i >= g->inputs.n || !is_name_of(r->p, g, i, r->args.v[i].name))
			return;
	if (r->args.n != g->inputs.n)
		return;
	bool untyped = true;
	for (uint32_t i = 1; i < g->nodes.n; i++)
		untyped &= !type_get(r->t, g->nodes.v[i].type)->has_shape;
	for (uint32_t i = 0; i < g->inputs.n; i++) {
		Node *n = &g->nodes.v[g->inputs.v[i].i];
		const ReproArg *a = &r->args.v[i];
		if (a->type.i && !type_get(r->t, n->type)->has_stride)
			n->type = a->type;
		VEC_PUSH(g->a, &g->places, place_of(r, a, g->a));
	}
	g->types_at_run |= untyped; /* these are types at entry */
}

void link_repros(Program *p, Types *types, const Artifacts *arts, const Sources *sources, Arena *scratch)
{
	Repros repros = find_repros(p, scratch);
	for (uint32_t i = 1; i < arts->v.n; i++) {
		const Artifact *art = &arts->v.v[i];
		if (art->kind != ART_REPRO_ARGS)
			continue;
		ArenaMark mark = arena_mark(scratch);
		Graph *g = graph_of(&repros, art, i);
		if (g && !g->places.n && g->inputs.n) {
			Text text = artifact_text(art, sources, scratch);
			Repro r = {.p = p, .t = types, .text = &text, .scratch = scratch, .storage_of = {.a = scratch}};
			read_args(&r);
			attach(&r, g);
		}
		arena_rewind(scratch, mark);
	}
}

static void hand_over(const Types *t, const Graph *from, Graph *to)
{
	for (uint32_t i = 0; i < to->inputs.n; i++) {
		Node *n = &to->nodes.v[to->inputs.v[i].i];
		TypeId said = from->nodes.v[from->inputs.v[i].i].type;
		if (!type_get(t, n->type)->has_stride && type_get(t, said)->has_stride)
			n->type = said;
	}
	if (!to->places.n)
		to->places = from->places;
}

void link_repro_inputs(Program *p, const Types *types)
{
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		Graph *to = g->printing_of.i ? p->graphs.v[g->printing_of.i] : NULL;
		/* types of a Dynamo graph are those of the end of its trace */
		if (to && g->places.n && to->stage != STAGE_DYNAMO && to->inputs.n == g->inputs.n)
			hand_over(types, g, to);
	}
}
