/* SPDX-License-Identifier: MIT */
#include "ir.h"

Str stage_name(Stage s)
{
	static const Str words[] = {
#define STAGE(id, word) STR_INIT(word),
#include "stages.def"
#undef STAGE
	};
	ASSERT(s < STAGE_N);
	return words[s];
}

void program_init(Program *p, Arena *a, Names *names)
{
	*p = (Program){.a = a, .names = names};
	p->texts = NEW(a, Names);
	names_init(p->texts, a);
	p->arrays = (Pool){.a = a, .seed = names->seed};
	VEC_PUSH(a, &p->graphs, NULL);
}

Graph *graph_begin(Program *p, Arena *keep, Arena *build)
{
	Graph *g = NEW(keep, Graph);
	g->a = build;
	g->id = (GraphId){p->graphs.n};
	VEC_PUSH(p->a, &p->graphs, g);
	VEC_PUSH(build, &g->nodes, ((Node){0}));
	VEC_PUSH(build, &g->locs, ((SrcLoc){0}));
	return g;
}

Graph *graph_add(Program *p, Arena *a)
{
	return graph_begin(p, a, a);
}

static void index_children(Graph *g)
{
	g->child_at = (Map){.a = g->a};
	for (uint32_t i = g->children.n; i-- > 0;)
		if (!sym_none(g->children.v[i].attr))
			map_put(&g->child_at, g->children.v[i].attr.i, i + 1);
	g->nchild_at = g->children.n;
}

static void settle_args(Program *p, Graph *g, Arena *keep)
{
	size_t n = g->args.n * sizeof *g->args.v;
	const void *same = pool_find(&p->arrays, g->args.v, n);
	if (same) {
		arena_drop(g->a, g->args.v, g->args.cap * sizeof *g->args.v);
		g->args.v = (Arg *)(uintptr_t)same;
		g->args.cap = g->args.n;
		return;
	}
	VEC_TAKE(keep, g->a, &g->args);
	pool_add(&p->arrays, g->args.v, n);
}

void graph_settle(Program *p, Graph *g, Arena *keep)
{
	Arena *build = g->a;
	settle_args(p, g, keep);
	VEC_TAKE(keep, build, &g->nodes);
	VEC_TAKE(keep, build, &g->locs);
	VEC_TAKE(keep, build, &g->inputs);
	VEC_TAKE(keep, build, &g->input_descriptors);
	VEC_TAKE(keep, build, &g->outputs);
	VEC_TAKE(keep, build, &g->children);
	VEC_TAKE(keep, build, &g->unread);
	g->a = keep;
	g->settled = true;
	index_children(g);
}

/* Without anything in the gaps between its members, so that equal ones have equal bytes. */
static Arg arg_plain(const Arg *a)
{
	Arg out;
	memset(&out, 0, sizeof out);
	out.kind = a->kind;
	out.key = a->key;
	out.at = a->at;
	out.n = a->n;
	if (a->kind == AR_BOOL || a->kind == AR_INT)
		out.u.num = a->u.num;
	else if (a->kind == AR_FLOAT)
		out.u.real = a->u.real;
	else
		out.u.sym = a->u.sym;
	return out;
}

static uint32_t args_append(Graph *g, const Arg *args, uint32_t n)
{
	uint32_t at = g->args.n;
	ASSERT(!g->settled);
	for (uint32_t i = 0; i < n; i++)
		VEC_PUSH(g->a, &g->args, arg_plain(&args[i]));
	return at;
}

NodeId graph_add_node(Graph *g, Node node, const Arg *args, uint32_t n)
{
	NodeId id = {g->nodes.n};
	node.arg_at = args_append(g, args, n);
	node.nargs = n;
	VEC_PUSH(g->a, &g->nodes, node);
	if (node.kind == NK_UNREAD) {
		VEC_PUSH(g->a, &g->unread, id);
		g->incomplete = true;
	}
	return id;
}

Arg graph_compound(Graph *g, ArgKind kind, Sym sym, const Arg *kids, uint32_t n)
{
	return (Arg){.kind = (uint8_t)kind, .u.sym = sym, .at = args_append(g, kids, n), .n = n};
}

GraphId graph_child(const Graph *g, Sym attr)
{
	if (g->children.n && g->nchild_at == g->children.n) {
		uint32_t i = map_get(&g->child_at, attr.i);
		return i ? g->children.v[i - 1].graph : (GraphId){0};
	}
	for (uint32_t i = 0; i < g->children.n; i++)
		if (sym_eq(g->children.v[i].attr, attr))
			return g->children.v[i].graph;
	return (GraphId){0};
}

Span node_span(const Graph *g, NodeId id)
{
	const Node *n = graph_node(g, id);
	return (Span){g->file, n->at, n->end};
}

Span graph_span(const Graph *g)
{
	return (Span){g->file, g->at, g->end};
}

enum { MAX_ARG_DEPTH = 512 }; /* readers cap nesting far below; ir_check holds them to it */

/* A walk over an argument tree: a stack of ranges still to be visited. */
typedef struct ArgWalk {
	struct {
		uint32_t at, end;
	} open[MAX_ARG_DEPTH];
	uint32_t depth;
} ArgWalk;

void arg_each_node(const Graph *g, const Arg *a, void (*f)(void *ctx, NodeId id), void *ctx)
{
	ArgWalk w;
	w.depth = 0;
	for (;;) {
		if (a->kind == AR_NODE)
			f(ctx, a->u.node);
		if (a->n) {
			ASSERT(w.depth < MAX_ARG_DEPTH);
			w.open[w.depth].at = a->at;
			w.open[w.depth++].end = a->at + a->n;
		}
		while (w.depth && w.open[w.depth - 1].at == w.open[w.depth - 1].end)
			w.depth--;
		if (!w.depth)
			return;
		a = &g->args.v[w.open[w.depth - 1].at++];
	}
}

/* ---- ir_check ---- */

typedef struct Check {
	Arena *a;
	Str fault;
	const Graph *g;
	NodeId user;
} Check;

static void check_arg_node(void *ctx, NodeId id)
{
	Check *c = ctx;
	if (!c->fault.n && (!id.i || id.i >= c->user.i))
		c->fault = str_printf(c->a, "graph %u, node %u uses node %u", c->g->id.i, c->user.i, id.i);
}

static void check_graph(Check *c)
{
	const Graph *g = c->g;
	for (uint32_t i = 0; i < g->args.n; i++) /* children lie before what holds them: depth is bounded by order */
		if (g->args.v[i].n && (uint64_t)g->args.v[i].at + g->args.v[i].n > i)
			c->fault = str_printf(c->a, "graph %u, argument %u holds later arguments", g->id.i, i);
	for (uint32_t i = 1; i < g->nodes.n && !c->fault.n; i++) {
		const Node *n = &g->nodes.v[i];
		c->user = (NodeId){i};
		if ((uint64_t)n->arg_at + n->nargs > g->args.n || n->loc >= g->locs.n || n->end < n->at)
			c->fault = str_printf(c->a, "graph %u, node %u: range", g->id.i, i);
		for (uint32_t k = 0; k < n->nargs && !c->fault.n; k++)
			arg_each_node(g, &node_args(g, n)[k], check_arg_node, c);
	}
	c->user = (NodeId){g->nodes.n};
	for (uint32_t i = 0; i < g->outputs.n && !c->fault.n; i++)
		arg_each_node(g, &g->outputs.v[i].arg, check_arg_node, c);
	for (uint32_t i = 0; i < g->inputs.n && !c->fault.n; i++)
		if (!g->inputs.v[i].i || g->inputs.v[i].i >= g->nodes.n ||
		    graph_node(g, g->inputs.v[i])->kind != NK_PLACEHOLDER)
			c->fault = str_printf(c->a, "graph %u, input %u is no placeholder", g->id.i, i);
}

Str ir_check(const Program *p, Arena *a)
{
	Check c = {.a = a};
	for (uint32_t i = 1; i < p->graphs.n && !c.fault.n; i++) {
		c.g = p->graphs.v[i];
		if (c.g->id.i != i)
			c.fault = str_printf(a, "graph %u has id %u", i, c.g->id.i);
		else
			check_graph(&c);
	}
	return c.fault;
}

/* ---- text ---- */

static void node_ref(const Program *p, const Graph *g, NodeId id, Buf *out)
{
	Sym name = graph_node(g, id)->name;
	if (sym_none(name))
		buf_printf(out, "%%%u", id.i);
	else
		buf_printf(out, "%%" STR_FMT, STR_ARG(sym_str(p->names, name)));
}

static void arg_leaf(const Program *p, const Graph *g, const Arg *a, Buf *out)
{
	static const char *const open[] = {[AR_TUPLE] = "(", [AR_LIST] = "[", [AR_DICT] = "{", [AR_SLICE] = "slice(",
	                                   [AR_STARRED] = "*", [AR_UNKNOWN] = "?("};
	if (!sym_none(a->key))
		buf_printf(out, STR_FMT "=", STR_ARG(sym_str(p->names, a->key)));
	switch ((ArgKind)a->kind) {
	case AR_NONE: buf_add(out, S("None")); break;
	case AR_NODE: node_ref(p, g, a->u.node, out); break;
	case AR_BOOL: buf_add(out, a->u.num ? S("True") : S("False")); break;
	case AR_INT: buf_printf(out, "%lld", (long long)a->u.num); break;
	case AR_FLOAT: buf_printf(out, "%.17g", a->u.real); break;
	case AR_STR: buf_printf(out, "'" STR_FMT "'", STR_ARG(sym_str(p->names, a->u.sym))); break;
	case AR_NAME: buf_add(out, sym_str(p->names, a->u.sym)); break;
	case AR_ELLIPSIS: buf_add(out, S("...")); break;
	case AR_CALL:
	case AR_EXPR: buf_printf(out, STR_FMT "(", STR_ARG(sym_str(p->names, a->u.sym))); break;
	default: buf_add(out, str_from_c(open[a->kind])); break;
	}
}

static const char *arg_close(const Arg *a)
{
	switch ((ArgKind)a->kind) {
	case AR_LIST: return "]";
	case AR_DICT: return "}";
	case AR_TUPLE: return a->n == 1 ? ",)" : ")";
	case AR_STARRED: return "";
	default: return ")";
	}
}

static bool arg_is_open(const Arg *a)
{
	return a->kind == AR_TUPLE || a->kind == AR_LIST || a->kind == AR_DICT || a->kind == AR_SLICE ||
	       a->kind == AR_CALL || a->kind == AR_EXPR || a->kind == AR_STARRED || a->kind == AR_UNKNOWN;
}

void arg_text(const Program *p, const Graph *g, const Arg *top, Buf *out)
{
	struct {
		const Arg *a;
		uint32_t next;
	} open[MAX_ARG_DEPTH];
	uint32_t depth = 0;
	const Arg *a = top;
	for (;;) {
		arg_leaf(p, g, a, out);
		if (arg_is_open(a)) {
			ASSERT(depth < MAX_ARG_DEPTH);
			open[depth].a = a;
			open[depth++].next = 0;
		}
		while (depth && open[depth - 1].next == open[depth - 1].a->n)
			buf_add(out, str_from_c(arg_close(open[--depth].a)));
		if (!depth)
			return;
		if (open[depth - 1].next)
			buf_add(out, open[depth - 1].a->kind == AR_DICT && open[depth - 1].next % 2 ? S(": ") : S(", "));
		a = &arg_kids(g, open[depth - 1].a)[open[depth - 1].next++];
	}
}

static void dump_node(const Program *p, const Graph *g, const Types *t, NodeId id, Buf *out)
{
	static const char *const kinds[] = {"?", "placeholder", "get_attr", "call", "unread"};
	static const char *const callees[] = {"", "method ", "attr ", "operator ", "function ", "module "};
	const Node *n = graph_node(g, id);
	buf_add(out, S("  "));
	node_ref(p, g, id, out);
	buf_printf(out, " = %s %s" STR_FMT, kinds[n->kind], callees[n->callee], STR_ARG(sym_str(p->names, n->target)));
	if (n->nargs) {
		buf_char(out, '(');
		for (uint32_t i = 0; i < n->nargs; i++) {
			if (i)
				buf_add(out, S(", "));
			arg_text(p, g, &node_args(g, n)[i], out);
		}
		buf_char(out, ')');
	}
	if (n->type.i)
		buf_printf(out, " : " STR_FMT, STR_ARG(type_text((Types *)t, n->type, out->a)));
	if (n->flags & NF_AUGMENTED)
		buf_add(out, S(" [augmented]"));
	if (n->loc) {
		const SrcLoc *l = &g->locs.v[n->loc];
		buf_printf(out, " @" STR_FMT ":%u", STR_ARG(sym_str(p->names, l->file)), l->line);
	}
	buf_char(out, '\n');
}

static void dump_dims(const int64_t *v, uint32_t n, Buf *out)
{
	buf_char(out, '[');
	for (uint32_t i = 0; i < n; i++)
		buf_printf(out, "%s%lld", i ? ", " : "", (long long)v[i]);
	buf_char(out, ']');
}

static void dump_place(const Program *p, const Graph *g, uint32_t i, Buf *out)
{
	const InputPlace *at = &g->places.v[i];
	if (!at->storage && !at->size)
		return;
	buf_add(out, S("  place "));
	node_ref(p, g, g->inputs.v[i], out);
	if (at->storage)
		buf_printf(out, " storage %u", at->storage);
	if (at->size && at->stride) {
		buf_printf(out, " offset %lld ", (long long)at->offset);
		dump_dims(at->size, at->ndim, out);
		dump_dims(at->stride, at->ndim, out);
	}
	buf_char(out, '\n');
}

static void dump_graph(const Program *p, const Graph *g, const Types *t, Buf *out)
{
	buf_printf(out, "graph %u " STR_FMT " stage=" STR_FMT, g->id.i, STR_ARG(sym_str(p->names, g->name)),
	           STR_ARG(stage_name(g->stage)));
	if (g->compile_id.i)
		buf_printf(out, " id=" STR_FMT, STR_ARG(sym_str(p->names, g->compile_id)));
	if (g->attempt)
		buf_printf(out, "_%u", g->attempt);
	if (g->parent.i)
		buf_printf(out, " parent=%u", g->parent.i);
	if (g->printing_of.i)
		buf_printf(out, " printing_of=%u", g->printing_of.i);
	if (g->of.i && g->of.i != g->parent.i)
		buf_printf(out, " of=%u", g->of.i);
	buf_printf(out, "%s%s%s%s\n", g->tabular ? " tabular" : "", g->superseded ? " superseded" : "",
	           g->truncated ? " truncated" : "", g->incomplete ? " incomplete" : "");
	for (uint32_t i = 1; i < g->nodes.n; i++)
		dump_node(p, g, t, (NodeId){i}, out);
	for (uint32_t i = 0; i < g->places.n; i++)
		dump_place(p, g, i, out);
	buf_add(out, S("  return"));
	for (uint32_t i = 0; i < g->outputs.n; i++) {
		buf_add(out, i ? S(", ") : S(" "));
		arg_text(p, g, &g->outputs.v[i].arg, out);
	}
	buf_char(out, '\n');
}

void ir_dump(const Program *p, const Types *t, Buf *out)
{
	for (uint32_t i = 1; i < p->graphs.n; i++)
		dump_graph(p, p->graphs.v[i], t, out);
	for (uint32_t i = 0; i < p->frames.n; i++) {
		const Frame *f = &p->frames.v[i];
		buf_printf(out, "frame " STR_FMT " %s id=" STR_FMT "\n", STR_ARG(sym_str(p->names, f->name)),
		           f->modified ? "modified" : "original", STR_ARG(sym_str(p->names, f->compile_id)));
	}
}
