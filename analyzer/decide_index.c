/* SPDX-License-Identifier: MIT
 * Rule 7 of the operator facts: x[index] is a view for ints, slices, None and ..., a copy for
 * lists, bools and tensors with dims. */
#include "decide_query.h"

/* How a value that stands in an index is taken. */
typedef enum Item { ITEM_UNKNOWN, ITEM_VIEW, ITEM_COPY } Item;

static Str target_of(const DecideCtx *c, const Node *n)
{
	return sym_str(c->p->names, n->target);
}

static bool is_one_of(Str s, const Str *words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(s, words[i]))
			return true;
	return false;
}

/* Calls that give a Python int, or a tuple of ints, whatever they are called with. */
static bool gives_ints(const DecideCtx *c, const Node *n)
{
	static const Str words[] = {
		STR_INIT("size"),           STR_INIT("shape"),        STR_INIT("dim"),
		STR_INIT("ndim"),           STR_INIT("ndimension"),   STR_INIT("numel"),
		STR_INIT("nelement"),       STR_INIT("element_size"), STR_INIT("stride"),
		STR_INIT("storage_offset"), STR_INIT("__len__"),
	};
	static const Str functions[] = {
		STR_INIT("len"),        STR_INIT("int"),       STR_INIT("torch.sym_int"),
		STR_INIT("math.floor"), STR_INIT("math.ceil"), STR_INIT("math.trunc"),
		STR_INIT("math_floor"), STR_INIT("math_ceil"), STR_INIT("math_trunc"),
	};
	static const Str operators[] = {
		STR_INIT("torch.ops.aten.sym_size"),
		STR_INIT("torch.ops.aten.sym_numel"),
		STR_INIT("torch.ops.aten.sym_stride"),
		STR_INIT("torch.ops.aten.sym_storage_offset"),
	};
	Str t = target_of(c, n);
	if (n->callee == CALLEE_METHOD || n->callee == CALLEE_ATTR)
		return is_one_of(t, words, sizeof words / sizeof words[0]);
	if (n->callee != CALLEE_FUNCTION)
		return false;
	for (uint32_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
		if (str_starts(t, operators[i]))
			return true;
	return is_one_of(t, functions, sizeof functions / sizeof functions[0]);
}

/* Calls whose result is a tensor with one dim or more, or a tuple of such. */
static bool gives_dims(const DecideCtx *c, const Node *n)
{
	static const Str words[] = {
		STR_INIT("flatten"), STR_INIT("ravel"),  STR_INIT("unsqueeze"),  STR_INIT("nonzero"),
		STR_INIT("arange"),  STR_INIT("cat"),    STR_INIT("stack"),      STR_INIT("concat"),
		STR_INIT("hstack"),  STR_INIT("vstack"), STR_INIT("atleast_1d"),
	};
	if (n->callee != CALLEE_METHOD && n->callee != CALLEE_FUNCTION)
		return false;
	Str t = target_of(c, n);
	if (n->callee == CALLEE_FUNCTION && !str_starts(t, S("torch.")))
		return false;
	return is_one_of(str_last(t), words, sizeof words / sizeof words[0]);
}

static Type node_type(const DecideCtx *c, const Arg *a)
{
	return *type_get(c->t, infer_arg(c->nt, c->g, c->t, a));
}

static Item by_dtype(DType d)
{
	if (!d)
		return ITEM_UNKNOWN;
	return dtype_class(d) == DC_INT && d != DT_U8 ? ITEM_VIEW : ITEM_COPY;
}

/* What made a value that has no annotation. */
static Item by_producer(const DecideCtx *c, const Arg *a)
{
	const Node *n = graph_node(c->g, a->u.node);
	if (n->kind != NK_CALL || !n->nargs)
		return ITEM_UNKNOWN;
	const Arg *first = node_args(c->g, n);
	if (gives_ints(c, n))
		return ITEM_VIEW;
	if (gives_dims(c, n))
		return ITEM_COPY;
	if (n->callee == CALLEE_METHOD && str_eq(target_of(c, n), S("item")))
		return by_dtype(node_type(c, first).dtype);
	bool member = n->callee == CALLEE_OPERATOR && str_eq(target_of(c, n), S("getitem"));
	if (member && first->kind == AR_NODE && graph_node(c->g, first->u.node)->kind == NK_CALL &&
	    gives_ints(c, graph_node(c->g, first->u.node)))
		return ITEM_VIEW;
	return ITEM_UNKNOWN;
}

static Item by_tensor(const Type *v)
{
	if (v->has_shape)
		return v->ndim ? ITEM_COPY : by_dtype(v->dtype);
	return v->dtype && by_dtype(v->dtype) == ITEM_COPY ? ITEM_COPY : ITEM_UNKNOWN;
}

static Item item_of_node(const DecideCtx *c, const Arg *a)
{
	Type v = node_type(c, a);
	if (v.kind == TK_SYM)
		return ITEM_VIEW;
	Item k = v.kind == TK_TENSOR ? by_tensor(&v) : ITEM_UNKNOWN;
	return k == ITEM_UNKNOWN ? by_producer(c, a) : k;
}

/* Older versions take a list that holds slices, None or tensors for a tuple
 * (treatSequenceAsTuple in torch/csrc/autograd/python_variable_indexing.cpp, read). */
static Item item_of_list(const DecideCtx *c, const Arg *list)
{
	const Arg *kid = arg_kids(c->g, list);
	for (uint32_t i = 0; i < list->n; i++) {
		switch ((ArgKind)kid[i].kind) {
		case AR_SLICE:
		case AR_NONE:
		case AR_ELLIPSIS:
		case AR_STARRED:
		case AR_UNKNOWN: return ITEM_UNKNOWN;
		case AR_NODE:
			if (node_type(c, &kid[i]).kind != TK_SYM && item_of_node(c, &kid[i]) != ITEM_COPY)
				return ITEM_UNKNOWN;
			break;
		default: break;
		}
	}
	return ITEM_COPY;
}

static Item item_of(const DecideCtx *c, const Arg *a)
{
	switch ((ArgKind)a->kind) {
	case AR_INT:
	case AR_NONE:
	case AR_SLICE:
	case AR_ELLIPSIS: return ITEM_VIEW;
	case AR_BOOL:
	case AR_TUPLE: return ITEM_COPY; /* a tuple within the tuple is a sequence of positions */
	case AR_LIST: return item_of_list(c, a);
	case AR_NODE: return item_of_node(c, a);
	case AR_EXPR: return infer_expr(c->nt, c->g, c->t, c->p->names, a).i ? ITEM_VIEW : ITEM_UNKNOWN;
	case AR_CALL:
		return str_eq(sym_str(c->p->names, a->u.sym), S("range")) ? ITEM_COPY : ITEM_UNKNOWN;
	default: return ITEM_UNKNOWN;
	}
}

/* The answer, and the item that gave it (NULL when every item is plain). */
static Tri index_of(const DecideCtx *c, const Arg *index, const Arg **by)
{
	bool tuple = index->kind == AR_TUPLE;
	const Arg *item = tuple ? arg_kids(c->g, index) : index;
	uint32_t n = tuple ? index->n : 1;
	Tri t = TRI_MUST;
	*by = NULL;
	for (uint32_t i = 0; i < n; i++) {
		Item k = item_of(c, &item[i]);
		if (k == ITEM_COPY) {
			*by = &item[i];
			return TRI_NO;
		}
		if (k == ITEM_UNKNOWN && t == TRI_MUST) {
			*by = &item[i];
			t = TRI_MAY;
		}
	}
	return t;
}

Tri decide_index(const DecideCtx *c, const Arg *index)
{
	const Arg *by;
	return index_of(c, index, &by);
}

static Str copy_words(const Query *k, const Arg *item)
{
	switch ((ArgKind)item->kind) {
	case AR_BOOL: return S("the index holds a bool");
	case AR_LIST: return S("the index holds a list");
	case AR_TUPLE: return S("the index holds a tuple of positions");
	case AR_CALL: return S("the index holds a range");
	default: break;
	}
	Type v = arg_type(k, item);
	bool flag = v.dtype && by_dtype(v.dtype) == ITEM_COPY && !(v.has_shape && v.ndim);
	const char *what = flag ? "a bool or uint8 tensor" : "a tensor with dims";
	return say(k, STR_FMT " is %s", STR_ARG(arg_words(k, item)), what);
}

/* Several values: the item itself comes back, each time the same object. */
static bool is_container(const Query *k)
{
	const NodeTypes *nt = k->c->nt;
	if (!k->src)
		return false;
	if (k->src->kind == AR_LIST || k->src->kind == AR_TUPLE || k->type.kind == TK_OTHER)
		return true;
	return k->src->kind == AR_NODE && nt->nelems && nt->nelems[k->src->u.node.i];
}

/* A tensor or a tuple, it shares with its item; only a tuple hands the object itself back. */
static Tri item_same(const Query *k, const Arg *index)
{
	bool plain = index->kind == AR_INT || index->kind == AR_NODE || index->kind == AR_EXPR;
	return k->type.kind == TK_TENSOR || !plain ? TRI_NO : TRI_MAY;
}

Decision decide_item(const Query *k)
{
	const Arg *index = query_at(k, 1, S("index")), *by;
	bool key = index && index->kind == AR_STR && k->type.kind != TK_TENSOR;
	if (is_container(k) || key)
		return answer_yes(TRI_MUST, x_says(k, "holds several values"));
	if (!index)
		return answer_maybe(TRI_NO, S("the index is made of numbers and slices"));
	Tri t = index_of(k->c, index, &by);
	if (t == TRI_NO)
		return answer_no(copy_words(k, by));
	if (t == TRI_MUST)
		return answer_yes(item_same(k, index),
		                  S("the index holds only numbers, slices, None and ..."));
	bool list = by->kind == AR_LIST;
	return answer_maybe(item_same(k, index),
	                    say(k, STR_FMT " is %s", STR_ARG(arg_words(k, by)),
	                        list ? "taken for a tuple, as older versions do"
	                             : "a number or an integer tensor without dims"));
}
