/* SPDX-License-Identifier: MIT */
#include "read_expr.h"

#include <stdlib.h>

const TSLanguage *tree_sitter_python(void);

static const char *const kind_names[] = {
	"",
#define PY(id, name) name,
#include "py_nodes.def"
#undef PY
};

PyParser *py_parser_new(Arena *a)
{
	PyParser *p = NEW(a, PyParser);
	const TSLanguage *lang = tree_sitter_python();
	p->nsymbols = ts_language_symbol_count(lang);
	p->kind_of = NEW_N(a, uint8_t, p->nsymbols);
	p->ts = ts_parser_new(); /* nothing is taken from an arena any more, which may not return */
	if (!ts_parser_set_language(p->ts, lang)) {
		ts_parser_delete(p->ts);
		return NULL;
	}
	for (uint32_t s = 0; s < p->nsymbols; s++) {
		if (ts_language_symbol_type(lang, (TSSymbol)s) != TSSymbolTypeRegular)
			continue;
		const char *name = ts_language_symbol_name(lang, (TSSymbol)s);
		for (uint32_t k = 1; k < PY_ERROR; k++)
			if (strcmp(name, kind_names[k]) == 0)
				p->kind_of[s] = (uint8_t)k;
	}
	p->f_left = ts_language_field_id_for_name(lang, "left", 4);
	p->f_right = ts_language_field_id_for_name(lang, "right", 5);
	p->f_type = ts_language_field_id_for_name(lang, "type", 4);
	p->f_value = ts_language_field_id_for_name(lang, "value", 5);
	p->f_operator = ts_language_field_id_for_name(lang, "operator", 8);
	p->f_function = ts_language_field_id_for_name(lang, "function", 8);
	p->f_object = ts_language_field_id_for_name(lang, "object", 6);
	p->f_name = ts_language_field_id_for_name(lang, "name", 4);
	return p;
}

void py_parser_free(PyParser *p)
{
	if (!p)
		return;
	if (p->cursor_made)
		ts_tree_cursor_delete(&p->cursor);
	ts_tree_delete(p->tree);
	ts_parser_delete(p->ts);
}

TSTree *py_parse(PyParser *p, Str s)
{
	ts_tree_delete(p->tree);
	p->tree = NULL;
	ts_parser_reset(p->ts);
	p->tree = ts_parser_parse_string(p->ts, NULL, s.n ? s.p : "", s.n);
	return p->tree;
}

void py_parser_memory(void)
{
	ts_set_allocator(base_malloc, base_calloc, base_realloc, free);
}

void env_bind(Env *e, Arena *a, Sym name, Arg value)
{
	uint32_t i = map_get(&e->map, name.i);
	if (i) {
		e->bound.v[i - 1] = value;
		return;
	}
	e->map.a = a;
	VEC_PUSH(a, &e->bound, value);
	map_put(&e->map, name.i, e->bound.n);
}

const Arg *env_find(const Env *e, Sym name)
{
	uint32_t i = map_get(&e->map, name.i);
	return i ? &e->bound.v[i - 1] : NULL;
}

/* ---- values ---- */

static Str val_text(const ExprCtx *x, const Val *v)
{
	return str_sub(x->buf, v->at, v->end);
}

static Str val_orig(const ExprCtx *x, const Val *v)
{
	return str_sub(x->orig, v->at, v->end);
}

static Sym sym_of(ExprCtx *x, Str s)
{
	return sym_intern(x->names, s);
}

static Sym sym_join(ExprCtx *x, Sym path, Sym name)
{
	if (sym_none(path))
		return name;
	return sym_of(x, str_printf(x->scratch, STR_FMT "." STR_FMT, STR_ARG(sym_str(x->names, path)),
	                            STR_ARG(sym_str(x->names, name))));
}

NodeId expr_emit(ExprCtx *x, NodeKind kind, Callee callee, Sym target, const Arg *args, uint32_t n)
{
	Node node = x->proto;
	node.kind = (uint8_t)kind;
	node.callee = (uint8_t)callee;
	node.target = target;
	for (uint32_t i = 0; i < n; i++)
		if (args[i].kind == AR_UNKNOWN)
			node.flags |= NF_PARTIAL;
	return graph_add_node(x->g, node, args, n);
}

static Arg arg_node(NodeId id)
{
	return (Arg){.kind = AR_NODE, .u.node = id};
}

static Arg arg_sym(ArgKind kind, Sym s)
{
	return (Arg){.kind = (uint8_t)kind, .u.sym = s};
}

static Arg emit_call(ExprCtx *x, Callee callee, Sym target, const Arg *args, uint32_t n)
{
	return arg_node(expr_emit(x, NK_CALL, callee, target, args, n));
}

/* A name that is no node: a constant, or text that the printer did not quote. */
static Arg ident_arg(ExprCtx *x, const Val *v)
{
	const Arg *bound = env_find(x->env, v->sym);
	if (bound)
		return *bound;
	if (str_eq(sym_str(x->names, v->sym), S("Ellipsis")))
		return (Arg){.kind = AR_ELLIPSIS};
	return arg_sym(AR_NAME, v->sym);
}

Arg expr_arg(ExprCtx *x, const Val *v)
{
	switch ((ValKind)v->kind) {
	case V_ARG: return v->arg;
	case V_IDENT: return ident_arg(x, v);
	case V_DOTTED: return arg_sym(AR_NAME, v->sym);
	case V_SELF: return arg_node(expr_emit(x, NK_GET_ATTR, CALLEE_NONE, v->sym, NULL, 0));
	case V_ATTR: return emit_call(x, CALLEE_ATTR, v->sym, &v->base, 1);
	case V_SUBSCRIPT: return emit_call(x, CALLEE_OPERATOR, sym_of(x, S("getitem")), (Arg[]){v->base, v->arg}, 2);
	case V_UNFLATTEN: return v->arg;
	case V_KEYWORD: {
		Arg a = v->arg;
		a.key = v->sym;
		return a;
	}
	default: return (Arg){.kind = AR_UNKNOWN};
	}
}

/* Several values as children of one argument, all made before the first is stored. */
static Arg compound(ExprCtx *x, ArgKind kind, Sym sym, const Val *v, uint32_t n)
{
	Arg *kids = NEW_N(x->scratch, Arg, n ? n : 1);
	for (uint32_t i = 0; i < n; i++)
		kids[i] = expr_arg(x, &v[i]);
	return graph_compound(x->g, kind, sym, kids, n);
}

/* ---- leaves ---- */

static Arg number_arg(ExprCtx *x, Str s, bool is_float)
{
	int64_t i;
	if (!is_float && str_to_i64(s, &i))
		return (Arg){.kind = AR_INT, .u.num = i};
	char c[64], *end;
	if (is_float && s.n < sizeof c) {
		memcpy(c, s.p, s.n);
		c[s.n] = 0;
		double d = strtod(c, &end);
		if (end == c + s.n)
			return (Arg){.kind = AR_FLOAT, .u.real = d};
	}
	return arg_sym(AR_NAME, sym_of(x, s)); /* too large, imaginary, hexadecimal */
}

static Arg string_arg(ExprCtx *x, Str s)
{
	uint32_t i = 0;
	while (i < s.n && s.p[i] != '\'' && s.p[i] != '"') /* prefix: b, r */
		i++;
	uint32_t q = s.n - i >= 6 && s.p[i] == s.p[i + 1] && s.p[i] == s.p[i + 2] ? 3 : 1;
	if (s.n < i + 2 * q)
		return arg_sym(AR_STR, sym_of(x, s));
	return arg_sym(AR_STR, sym_of(x, str_sub(s, i + q, s.n - q)));
}

static Val leaf(ExprCtx *x, PyKind kind, uint32_t at, uint32_t end)
{
	Val v = {.kind = V_ARG, .at = at, .end = end};
	Str s = val_text(x, &v);
	switch (kind) {
	case PY_IDENTIFIER:
		if (val_orig(x, &v).n && val_orig(x, &v).p[0] == '<') {
			v.arg = arg_sym(AR_NAME, sym_of(x, val_orig(x, &v)));
			break;
		}
		v.sym = sym_of(x, s);
		v.kind = V_IDENT;
		if (str_eq(s, S("self"))) {
			v.kind = V_SELF;
			v.sym = (Sym){0};
		}
		break;
	case PY_INTEGER: v.arg = number_arg(x, s, false); break;
	case PY_FLOAT: v.arg = number_arg(x, s, true); break;
	case PY_STRING: v.arg = string_arg(x, val_orig(x, &v)); break;
	case PY_STRINGS: v.arg = arg_sym(AR_STR, sym_of(x, val_orig(x, &v))); break;
	case PY_TRUE: v.arg = (Arg){.kind = AR_BOOL, .u.num = 1}; break;
	case PY_FALSE: v.arg = (Arg){.kind = AR_BOOL}; break;
	case PY_NONE: v.arg = (Arg){.kind = AR_NONE}; break;
	case PY_ELLIPSIS: v.arg = (Arg){.kind = AR_ELLIPSIS}; break;
	default: v.kind = V_TOKEN; break;
	}
	return v;
}

/* ---- calls ---- */

static void note_node(void *ctx, NodeId id)
{
	(void)id;
	*(bool *)ctx = true;
}

static bool arg_has_node(const Graph *g, const Arg *a, uint32_t n)
{
	bool found = false;
	for (uint32_t i = 0; i < n && !found; i++)
		arg_each_node(g, &a[i], note_node, &found);
	return found;
}

static Str last_part(Str dotted)
{
	uint32_t i = str_rfind(dotted, S("."));
	return i < dotted.n ? str_sub(dotted, i + 1, dotted.n) : dotted;
}

/* Calls that print a constant: device(type='cpu'), torch.Size([2]), range(0, 3), NamedTuple and enum reprs. */
static bool is_constant_call(Str f)
{
	static const Str names[] = {STR_INIT("device"), STR_INIT("range"), STR_INIT("dtype"), STR_INIT("layout"),
	                            STR_INIT("set"), STR_INIT("frozenset"), STR_INIT("dict"), STR_INIT("list"),
	                            STR_INIT("tuple"), STR_INIT("finfo"), STR_INIT("iinfo")};
	if (str_starts(f, S("torch.ops.")))
		return false;
	Str last = last_part(f);
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(last, names[i]))
			return true;
	return last.n && last.p[0] >= 'A' && last.p[0] <= 'Z';
}

static Arg slice_arg(ExprCtx *x, const Val *v, uint32_t n)
{
	Arg none = {.kind = AR_NONE}, kids[3] = {none, none, none};
	if (n == 1)
		kids[1] = expr_arg(x, &v[0]);
	for (uint32_t i = 0; n > 1 && i < n && i < 3; i++)
		kids[i] = expr_arg(x, &v[i]);
	return graph_compound(x->g, AR_SLICE, (Sym){0}, kids, 3);
}

/* The conventions of generated code that are no operators of the graph. */
static bool convention_call(ExprCtx *x, const Val *f, const Val *v, uint32_t n, Val *out)
{
	if (f->kind != V_IDENT && f->kind != V_DOTTED && f->kind != V_SELF)
		return false;
	Str name = sym_str(x->names, f->sym);
	if (f->kind == V_SELF) {
		if (str_eq(name, S("_dynamo_bytecode_flatten")) || str_eq(name, S("_in_shuffle_graph"))) {
			out->kind = V_FLATTEN;
			return true;
		}
		if ((str_eq(name, S("_dynamo_bytecode_unflatten")) || str_eq(name, S("_out_shuffle_graph"))) && n) {
			out->kind = V_UNFLATTEN;
			out->arg = expr_arg(x, &v[0]);
			return true;
		}
		return false;
	}
	if (str_eq(name, S("fx_pytree.tree_flatten_spec")) || str_eq(name, S("pytree.tree_leaves"))) {
		out->kind = V_FLATTEN;
		return true;
	}
	if (str_eq(name, S("pytree.tree_unflatten")) && n) {
		out->kind = V_UNFLATTEN;
		out->arg = expr_arg(x, &v[0]);
		return true;
	}
	if (str_eq(name, S("torch._C._profiler._RecordFunctionFast"))) {
		out->kind = V_PROFILER;
		return true;
	}
	if ((str_eq(name, S("next")) || str_eq(name, S("iter"))) && n == 1 && v[0].kind == V_IDENT) {
		out->kind = V_NEXT;
		return true;
	}
	return false;
}

/* getattr(self.seq, "0"), getattr(x, "T") */
static bool getattr_call(ExprCtx *x, const Val *f, const Val *v, uint32_t n, Val *out)
{
	if (f->kind != V_IDENT || !str_eq(sym_str(x->names, f->sym), S("getattr")) || n < 2 ||
	    v[1].kind != V_ARG || v[1].arg.kind != AR_STR)
		return false;
	if (v[0].kind == V_SELF) {
		out->kind = V_SELF;
		out->sym = sym_join(x, v[0].sym, v[1].arg.u.sym);
		return true;
	}
	Arg base = expr_arg(x, &v[0]);
	if (base.kind != AR_NODE)
		return false;
	out->kind = V_ATTR;
	out->base = base;
	out->sym = v[1].arg.u.sym;
	return true;
}

static void call_value(ExprCtx *x, const Val *f, const Val *v, uint32_t n, Val *out)
{
	if (convention_call(x, f, v, n, out) || getattr_call(x, f, v, n, out))
		return;
	if (f->kind == V_PROFILER) {
		out->kind = V_PROFILER;
		return;
	}
	out->kind = V_ARG;
	if (f->kind == V_IDENT && str_eq(sym_str(x->names, f->sym), S("slice")) && !env_find(x->env, f->sym)) {
		out->arg = slice_arg(x, v, n);
		return;
	}
	Arg *args = NEW_N(x->scratch, Arg, n + 1);
	uint32_t self = f->kind == V_ATTR;
	if (self)
		args[0] = f->base;
	for (uint32_t i = 0; i < n; i++)
		args[self + i] = expr_arg(x, &v[i]);
	const Arg *bound = f->kind == V_IDENT ? env_find(x->env, f->sym) : f->kind == V_ARG ? &f->arg : NULL;
	if (f->kind == V_ATTR)
		out->arg = emit_call(x, CALLEE_METHOD, f->sym, args, n + 1);
	else if (f->kind == V_SELF && f->sym.i)
		out->arg = emit_call(x, CALLEE_MODULE, f->sym, args, n);
	else if (bound && bound->kind == AR_NODE && graph_node(x->g, bound->u.node)->kind == NK_GET_ATTR)
		out->arg = emit_call(x, CALLEE_MODULE, graph_node(x->g, bound->u.node)->target, args, n);
	else if ((f->kind == V_IDENT && !bound) || f->kind == V_DOTTED) {
		if (is_constant_call(sym_str(x->names, f->sym)) && !arg_has_node(x->g, args, n))
			out->arg = graph_compound(x->g, AR_CALL, f->sym, args, n);
		else
			out->arg = emit_call(x, CALLEE_FUNCTION, f->sym, args, n);
	} else {
		out->kind = V_BAD;
	}
}

/* ---- operators ---- */

static Sym operator_sym(ExprCtx *x, Str token, int arity)
{
	static const struct {
		Str token, name;
		int arity;
	} ops[] = {
#define PY_OPERATOR(token, name, arity) {STR_INIT(token), STR_INIT(name), arity},
#include "py_operators.def"
#undef PY_OPERATOR
	};
	for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (ops[i].arity == arity && str_eq(ops[i].token, token))
			return sym_of(x, ops[i].name);
	return (Sym){0};
}

/* "+=" -> "iadd", "&=" -> "iand" */
static Sym augmented_sym(ExprCtx *x, Str token)
{
	Sym op = operator_sym(x, str_sub(token, 0, token.n ? token.n - 1 : 0), 2);
	Str name = sym_str(x->names, op);
	if (!name.n)
		return op;
	if (name.p[name.n - 1] == '_')
		name.n--;
	return sym_of(x, str_printf(x->scratch, "i" STR_FMT, STR_ARG(name)));
}

static Arg negated(Arg a)
{
	if (a.kind == AR_INT && a.u.num != INT64_MIN)
		a.u.num = -a.u.num;
	else
		a.u.real = -a.u.real;
	return a;
}

static void operator_value(ExprCtx *x, Sym op, const Val *v, uint32_t n, Val *out)
{
	if (sym_none(op)) {
		out->kind = V_BAD;
		return;
	}
	Arg args[2];
	for (uint32_t i = 0; i < n; i++)
		args[i] = expr_arg(x, &v[i]);
	out->kind = V_ARG;
	bool number = args[0].kind == AR_INT || args[0].kind == AR_FLOAT;
	if (n == 1 && number && str_eq(sym_str(x->names, op), S("neg")))
		out->arg = negated(args[0]);
	else if (n == 1 && args[0].kind == AR_NAME && !arg_has_node(x->g, args, n))
		out->arg = arg_sym(AR_NAME, sym_of(x, val_text(x, out))); /* -inf */
	else if (arg_has_node(x->g, args, n))
		out->arg = emit_call(x, CALLEE_OPERATOR, op, args, n);
	else
		out->arg = graph_compound(x->g, AR_EXPR, op, args, n);
}

/* ---- inner nodes ---- */

static void attribute_value(ExprCtx *x, const Val *v, uint32_t n, Val *out)
{
	bool self = n == 2 && v[1].kind == V_SELF && sym_none(v[1].sym); /* torch.ops.aten.where.self */
	if (n != 2 || (v[1].kind != V_IDENT && !self)) {
		out->kind = V_BAD;
		return;
	}
	const Val *o = &v[0];
	Sym name = self ? sym_of(x, S("self")) : v[1].sym;
	out->sym = name;
	if (o->kind == V_SELF) {
		out->kind = V_SELF;
		out->sym = sym_join(x, o->sym, name);
		return;
	}
	const Arg *bound = o->kind == V_IDENT ? env_find(x->env, o->sym) : NULL;
	if ((o->kind == V_IDENT && !bound) || o->kind == V_DOTTED) {
		out->kind = V_DOTTED;
		out->sym = sym_join(x, o->sym, name);
		return;
	}
	out->base = bound ? *bound : expr_arg(x, o);
	/* names that stand for no value at all are those of profiler contexts */
	out->kind = out->base.kind == AR_NODE ? V_ATTR : out->base.kind == AR_NONE ? V_PROFILER : V_BAD;
}

static void subscript_value(ExprCtx *x, const Val *v, uint32_t n, Val *out)
{
	if (n < 2) {
		out->kind = V_BAD;
		return;
	}
	out->base = expr_arg(x, &v[0]);
	out->kind = V_SUBSCRIPT;
	out->arg = n == 2 ? expr_arg(x, &v[1]) : compound(x, AR_TUPLE, (Sym){0}, v + 1, n - 1);
}

/* a:b:c inside a subscript; the colons are tokens among the values */
static Arg colon_slice(ExprCtx *x, const Val *v, uint32_t n)
{
	Arg none = {.kind = AR_NONE}, kids[3] = {none, none, none};
	uint32_t k = 0;
	for (uint32_t i = 0; i < n && k < 3; i++) {
		if (v[i].kind == V_TOKEN)
			k++;
		else
			kids[k] = expr_arg(x, &v[i]);
	}
	return graph_compound(x->g, AR_SLICE, (Sym){0}, kids, 3);
}

static Arg dict_arg(ExprCtx *x, const Val *v, uint32_t n)
{
	Arg *kids = NEW_N(x->scratch, Arg, 2 * n + 1);
	uint32_t k = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].kind != V_PAIR)
			continue;
		kids[k++] = v[i].base;
		kids[k++] = v[i].arg;
	}
	return graph_compound(x->g, AR_DICT, (Sym){0}, kids, k);
}

/* Anything else Python has: kept as unknown, with the nodes named in it. */
static Arg unknown_arg(ExprCtx *x, const Val *v, uint32_t n)
{
	Val *kids = NEW_N(x->scratch, Val, n ? n : 1);
	uint32_t k = 0;
	for (uint32_t i = 0; i < n; i++)
		if (v[i].kind != V_TOKEN && v[i].kind != V_BAD && v[i].kind != V_PAIR)
			kids[k++] = v[i];
	return compound(x, AR_UNKNOWN, (Sym){0}, kids, k);
}

static bool any_bad(const Val *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].kind == V_BAD)
			return true;
	return false;
}

/* The value of a node from those of its children; several values stay on the stack for lists of arguments. */
static Val inner(ExprCtx *x, PyKind kind, const Val *v, uint32_t n, uint32_t at, uint32_t end)
{
	Val out = {.kind = V_ARG, .at = at, .end = end};
	if (any_bad(v, n)) {
		out.kind = V_BAD;
		return out;
	}
	switch (kind) {
	case PY_CALL:
		if (n)
			call_value(x, &v[0], v + 1, n - 1, &out);
		else
			out.kind = V_BAD;
		break;
	case PY_KEYWORD:
		out.kind = n == 2 && v[0].kind == V_IDENT ? V_KEYWORD : V_BAD;
		if (out.kind == V_KEYWORD) {
			out.sym = v[0].sym;
			out.arg = expr_arg(x, &v[1]);
		}
		break;
	case PY_PAIR:
		out.kind = n == 2 ? V_PAIR : V_BAD;
		if (n == 2) {
			out.base = expr_arg(x, &v[0]);
			out.arg = expr_arg(x, &v[1]);
		}
		break;
	case PY_ATTRIBUTE: attribute_value(x, v, n, &out); break;
	case PY_SUBSCRIPT: subscript_value(x, v, n, &out); break;
	case PY_SLICE: out.arg = colon_slice(x, v, n); break;
	case PY_TUPLE:
	case PY_EXPRESSION_LIST: out.arg = compound(x, AR_TUPLE, (Sym){0}, v, n); break;
	case PY_LIST: out.arg = compound(x, AR_LIST, (Sym){0}, v, n); break;
	case PY_DICT: out.arg = dict_arg(x, v, n); break;
	case PY_SPLAT:
	case PY_DICT_SPLAT: out.arg = compound(x, AR_STARRED, (Sym){0}, v, n); break;
	case PY_UNARY:
	case PY_NOT:
		if (kind == PY_NOT && n == 1)
			operator_value(x, sym_of(x, S("not_")), v, 1, &out);
		else if (n == 2 && v[0].kind == V_TOKEN)
			operator_value(x, operator_sym(x, val_text(x, &v[0]), 1), v + 1, 1, &out);
		else
			out.kind = V_BAD;
		break;
	case PY_BINARY:
	case PY_COMPARISON:
		if (n == 3 && v[1].kind == V_TOKEN)
			operator_value(x, operator_sym(x, val_text(x, &v[1]), 2), (Val[]){v[0], v[2]}, 2, &out);
		else
			out.arg = unknown_arg(x, v, n);
		break;
	default: out.arg = unknown_arg(x, v, n); break;
	}
	return out;
}

/* ---- the walk ---- */

typedef struct ExprFrame {
	uint8_t kind, field;
	uint32_t base, at, end;
} ExprFrame;

static PyKind kind_of(const ExprCtx *x, TSNode n)
{
	TSSymbol s = ts_node_symbol(n);
	if (ts_node_is_error(n) || ts_node_is_missing(n))
		return PY_ERROR;
	return s < x->parser->nsymbols ? (PyKind)x->parser->kind_of[s] : PY_OTHER;
}

static bool is_leaf(PyKind k)
{
	return k == PY_IDENTIFIER || k == PY_INTEGER || k == PY_FLOAT || k == PY_STRING || k == PY_STRINGS || k == PY_TRUE ||
	       k == PY_FALSE || k == PY_NONE || k == PY_ELLIPSIS || k == PY_TYPE;
}

/* Nodes whose children's values stay on the stack as they are. */
static bool is_transparent(PyKind k)
{
	return k == PY_ARGUMENTS || k == PY_PARENTHESES || k == PY_EXPRESSION_STATEMENT || k == PY_ASSIGNMENT ||
	       k == PY_AUGMENTED || k == PY_RETURN || k == PY_PATTERN_LIST || k == PY_TUPLE_PATTERN ||
	       k == PY_SPLAT_PATTERN || k == PY_PASS;
}

/* Does an unnamed token matter: an operator, a colon of a slice? */
static bool token_matters(PyKind parent)
{
	return parent == PY_BINARY || parent == PY_COMPARISON || parent == PY_UNARY || parent == PY_SLICE ||
	       parent == PY_AUGMENTED;
}

typedef struct StmtShape {
	PyKind top;          /* assignment, augmented, return, pass or an expression */
	bool typed;
	Val type;
} StmtShape;

static void fail(StmtVal *out, uint32_t at, uint32_t end, const char *why)
{
	if (out->form == SF_BAD)
		return;
	out->form = SF_BAD;
	out->bad_at = at;
	out->bad_end = end;
	out->why = why;
}

/* All children of a node are done: their values become its value, or stay as they are. */
static void finish(ExprCtx *x, ExprFrame f)
{
	if (is_transparent((PyKind)f.kind)) {
		for (uint32_t i = f.base; i < x->stack.n && f.field == x->parser->f_left; i++)
			x->stack.v[i].field = f.field;
		return;
	}
	uint32_t n = x->stack.n - f.base;
	Val v = inner(x, (PyKind)f.kind, n ? x->stack.v + f.base : NULL, n, f.at, f.end); /* no offset to a NULL stack */
	v.field = f.field;
	x->stack.n = f.base;
	VEC_PUSH(x->scratch, &x->stack, v);
}

/* Is the node one whose children have to be seen? If not, its value is on the stack already. */
static bool enter(ExprCtx *x, TSNode n, PyKind k, const ExprFrame *parent, ExprFrame *f, StmtVal *out, StmtShape *shape)
{
	const PyParser *p = x->parser;
	if (k == PY_ERROR) {
		fail(out, f->at, f->end > f->at ? f->end : f->at + 1, "not the syntax of printed forward code");
	} else if (k == PY_TYPE) {
		shape->typed = true;
		shape->type = (Val){.at = f->at, .end = f->end};
	} else if (is_leaf(k)) {
		Val v = leaf(x, k, f->at, f->end);
		v.field = f->field;
		VEC_PUSH(x->scratch, &x->stack, v);
	} else if (!ts_node_is_named(n)) {
		PyKind pk = parent ? (PyKind)parent->kind : PY_MODULE;
		if (token_matters(pk) && (pk != PY_AUGMENTED || f->field == p->f_operator))
			VEC_PUSH(x->scratch, &x->stack,
			         ((Val){.kind = V_TOKEN, .field = f->field, .at = f->at, .end = f->end}));
	} else if (k != PY_COMMENT) {
		if (k == PY_ASSIGNMENT || k == PY_AUGMENTED || k == PY_RETURN || k == PY_PASS) {
			if (shape->top != PY_OTHER)
				fail(out, f->at, f->end, "a statement inside a statement");
			shape->top = k;
		}
		return out->form != SF_BAD;
	}
	return false;
}

/* Walks the subtree at the cursor in post-order with a stack of its own; leaves the values on x->stack. */
static void walk(ExprCtx *x, TSTreeCursor *c, StmtVal *out, StmtShape *shape)
{
	enum { MAX = 1024 };
	ExprFrame frames[MAX];
	uint32_t depth = 0;
	for (;;) {
		TSNode n = ts_tree_cursor_current_node(c);
		PyKind k = kind_of(x, n);
		ExprFrame f = {(uint8_t)k, (uint8_t)ts_tree_cursor_current_field_id(c), x->stack.n, ts_node_start_byte(n),
		               ts_node_end_byte(n)};
		if (enter(x, n, k, depth ? &frames[depth - 1] : NULL, &f, out, shape)) {
			if (depth == MAX || depth >= x->max_depth) {
				fail(out, f.at, f.end, "expression nests deeper than the limit");
			} else if (ts_tree_cursor_goto_first_child(c)) {
				frames[depth++] = f;
				continue;
			} else {
				finish(x, f);
			}
		}
		if (out->form == SF_BAD) {
			while (depth--) /* the caller goes on with the statement's siblings */
				ts_tree_cursor_goto_parent(c);
			return;
		}
		for (;;) {
			if (!depth)
				return;
			if (ts_tree_cursor_goto_next_sibling(c))
				break;
			ts_tree_cursor_goto_parent(c);
			finish(x, frames[--depth]);
		}
	}
}

void expr_statement(ExprCtx *x, TSTreeCursor *c, StmtVal *out)
{
	StmtShape shape = {.top = PY_OTHER};
	TSNode top = ts_tree_cursor_current_node(c);
	*out = (StmtVal){.first_new = {x->g->nodes.n}};
	x->stack.n = 0;
	walk(x, c, out, &shape);
	if (out->form == SF_BAD)
		return;
	const Val *v = x->stack.v;
	uint32_t n = x->stack.n, left = 0;
	for (uint32_t i = 0; i < n; i++)
		if (v[i].kind == V_BAD) {
			fail(out, v[i].at, v[i].end, "an expression that printed forward code does not have");
			return;
		}
	while (left < n && v[left].field == x->parser->f_left)
		left++;
	out->has_type = shape.typed;
	out->type_at = shape.type.at;
	out->type_end = shape.type.end;
	switch (shape.top) {
	case PY_PASS: out->form = SF_PASS; return;
	case PY_RETURN:
		out->form = SF_RETURN;
		out->elements = v;
		out->nelements = n;
		if (n)
			out->right = v[0];
		return;
	case PY_ASSIGNMENT:
		out->form = left == n ? SF_DECLARE : SF_ASSIGN;
		break;
	case PY_AUGMENTED:
		out->form = SF_AUGMENTED;
		if (left != 1 || n != 3 || v[1].kind != V_TOKEN) {
			fail(out, ts_node_start_byte(top), ts_node_end_byte(top), "an augmented assignment of another form");
			return;
		}
		out->op = augmented_sym(x, val_text(x, &v[1]));
		break;
	default: out->form = SF_EXPR; break;
	}
	if (n - left > 1 && out->form == SF_ASSIGN) {
		fail(out, ts_node_start_byte(top), ts_node_end_byte(top), "an assignment of another form");
		return;
	}
	out->targets = v;
	out->ntargets = left;
	if (left)
		out->left = v[0];
	if (n > left)
		out->right = v[n - 1];
}
