/* SPDX-License-Identifier: MIT
 * infer: what passes ask of the types of a graph, and their text. infer_pass.c computes them. */
#include "infer_call.h"

/* ---- types at a use ---- */

/* The last write of a cluster before `user` (0: of all); NULL when there is none. */
static const LayoutWrite *last_write(const NodeTypes *nt, uint32_t cluster, NodeId user)
{
	const LayoutWrite *w = nt->writes + nt->write_at[cluster];
	uint32_t lo = 0, hi = nt->nwrites[cluster];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (!user.i || w[mid].node.i < user.i)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &w[lo - 1] : NULL;
}

TypeId infer_type_at(const NodeTypes *nt, Types *t, NodeId node, NodeId user)
{
	if (node.i >= nt->n)
		return (TypeId){0};
	const LayoutWrite *w = nt->object ? last_write(nt, nt->cluster[node.i], user) : NULL;
	if (!w || w->node.i <= node.i)
		return nt->v[node.i];
	if (w->object == nt->object[node.i])
		return w->type;
	return type_without_shape(t, nt->v[node.i]);
}

/* The statement that an argument of the pool belongs to: arguments are appended node by node. */
static NodeId arg_user(const Graph *g, const Arg *arg)
{
	if (!g->args.n || arg < g->args.v || arg >= g->args.v + g->args.n)
		return (NodeId){0};
	uint32_t at = (uint32_t)(arg - g->args.v), lo = 1, hi = g->nodes.n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (g->nodes.v[mid].arg_at + g->nodes.v[mid].nargs <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (NodeId){lo < g->nodes.n ? lo : 0};
}

static bool is_float_name(Str s)
{
	return str_eq(s, S("inf")) || str_eq(s, S("nan")) || str_eq(s, S("math.inf")) ||
	       str_eq(s, S("math.nan"));
}

enum { EXPR_DEPTH_MOST = 32, EXPR_ARGS_MOST = 8 };

static TypeId arg_number(const NodeTypes *nt, const Graph *g, Types *t, const Arg *arg,
                         uint32_t depth);

/* Nested arithmetic; deeper than sizes ever are, it is not known. */
static TypeId expr_number(const NodeTypes *nt, const Graph *g, Types *t, const Arg *arg,
                          uint32_t depth)
{
	TypeId v[EXPR_ARGS_MOST];
	if (depth == EXPR_DEPTH_MOST || !arg->n || arg->n > EXPR_ARGS_MOST)
		return (TypeId){0};
	for (uint32_t i = 0; i < arg->n; i++)
		v[i] = arg_number(nt, g, t, &arg_kids(g, arg)[i], depth + 1);
	return infer_number_apply(t, sym_str(nt->names, arg->u.sym), v, arg->n);
}

static TypeId arg_number(const NodeTypes *nt, const Graph *g, Types *t, const Arg *arg,
                         uint32_t depth)
{
	switch ((ArgKind)arg->kind) {
	case AR_NODE: return infer_type_at(nt, t, arg->u.node, (NodeId){0});
	case AR_BOOL: return type_number(t, DT_B8, (ExprId){0});
	case AR_INT: return type_number(t, DT_I64, expr_int(t, arg->u.num));
	case AR_FLOAT: return type_number(t, DT_F64, (ExprId){0});
	case AR_NAME:
		return is_float_name(sym_str(nt->names, arg->u.sym)) ? type_number(t, DT_F64, (ExprId){0})
		                                                     : (TypeId){0};
	case AR_EXPR: return expr_number(nt, g, t, arg, depth);
	default: return (TypeId){0};
	}
}

TypeId infer_arg(const NodeTypes *nt, const Graph *g, Types *t, const Arg *arg)
{
	if (arg->kind == AR_NODE)
		return infer_type_at(nt, t, arg->u.node, nt->object ? arg_user(g, arg) : (NodeId){0});
	if (arg->kind == AR_NONE || arg->kind == AR_STR)
		return type_intern(t, &(Type){.kind = TK_OTHER});
	return arg_number(nt, g, t, arg, 0);
}

ExprId infer_expr(const NodeTypes *nt, const Graph *g, Types *t, Names *names, const Arg *arg)
{
	(void)names;
	const Type *x = type_get(t, arg_number(nt, g, t, arg, 0));
	return x->kind == TK_SYM ? x->sym : (ExprId){0};
}

/* ---- sizes ---- */

static bool node_sizes(const NodeTypes *nt, Types *t, NodeId id, const ExprId **size,
                       uint32_t *count, Arena *a)
{
	uint32_t n = nt->nelems[id.i];
	ExprId *v = NEW_N(a, ExprId, n);
	for (uint32_t i = 0; i < n; i++) {
		const Type *x = type_get(t, nt->elems.v[nt->elem_at[id.i] + i]);
		if (x->kind != TK_SYM || !x->sym.i)
			return false;
		v[i] = x->sym;
	}
	*size = v;
	*count = n;
	return n > 0;
}

bool infer_shape(const NodeTypes *nt, const Graph *g, Types *t, Names *names, const Node *n,
                 uint32_t from, const ExprId **size, uint32_t *count, Arena *a)
{
	const Arg *arg = node_args(g, n) + from;
	uint32_t m = 0;
	while (from + m < n->nargs && !arg[m].key.i)
		m++;
	if (m == 1 && arg->kind == AR_NODE && nt->nelems[arg->u.node.i])
		return node_sizes(nt, t, arg->u.node, size, count, a);
	if (m == 1 && arg->kind == AR_CALL && arg->n == 1 &&
	    str_ends(sym_str(names, arg->u.sym), S("Size")))
		arg = arg_kids(g, arg);
	if (m == 1 && (arg->kind == AR_LIST || arg->kind == AR_TUPLE)) {
		m = arg->n;
		arg = arg_kids(g, arg);
	}
	ExprId *v = NEW_N(a, ExprId, m ? m : 1);
	for (uint32_t i = 0; i < m; i++) {
		v[i] = infer_expr(nt, g, t, names, &arg[i]);
		if (!v[i].i)
			return false;
	}
	*size = v;
	*count = m;
	return true;
}

/* ---- text ---- */

static void types_dump_node(const Program *p, const Graph *g, Types *t, const NodeTypes *nt,
                            uint32_t i, Buf *out)
{
	const Node *n = graph_node(g, (NodeId){i});
	Str name = sym_str(p->names, n->name);
	if (name.n)
		buf_printf(out, "  " STR_FMT ": ", STR_ARG(name));
	else
		buf_printf(out, "  %%%u: ", i);
	if (nt->nelems[i] && !nt->v[i].i) {
		for (uint32_t k = 0; k < nt->nelems[i]; k++) {
			TypeId e = nt->elems.v[nt->elem_at[i] + k];
			buf_printf(out, "%s" STR_FMT, k ? ", " : "(", STR_ARG(type_text(t, e, out->a)));
		}
		buf_add(out, S(") inferred\n"));
		return;
	}
	TypeId id = nt->v[i];
	bool printed = id.i && id.i == n->type.i;
	buf_printf(out, STR_FMT "%s\n", STR_ARG(type_text(t, id, out->a)),
	           !id.i     ? ""
	           : printed ? " printed"
	                     : " inferred");
}

void types_dump(const Program *p, const Graph *g, Types *t, const NodeTypes *nt, Buf *out)
{
	buf_printf(out, "types %u " STR_FMT "\n", g->id.i, STR_ARG(sym_str(p->names, g->name)));
	for (uint32_t i = 1; i < nt->n; i++)
		types_dump_node(p, g, t, nt, i, out);
}
