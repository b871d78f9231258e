/* SPDX-License-Identifier: MIT
 * infer: Python numbers: sizes read off tensors, and arithmetic on them. */
#include "infer_call.h"

/* ---- read off tensors ---- */

static bool many_numbers(Call *c, Result *r, const ExprId *e, uint32_t n)
{
	TypeId *v = NEW_N(c->in->a, TypeId, n ? n : 1);
	for (uint32_t i = 0; i < n; i++)
		v[i] = type_number(c->t, DT_I64, e ? e[i] : (ExprId){0});
	return call_result_many(c, r, v, n);
}

bool infer_many_shape(Call *c, Result *r)
{
	const Type *x = call_tensor(c, SR_INPUT);
	return x && many_numbers(c, r, x->size, x->ndim);
}

bool infer_many_strides(Call *c, Result *r)
{
	const Type *x = call_tensor(c, SR_INPUT);
	return x && many_numbers(c, r, x->has_stride ? x->stride : NULL, x->ndim);
}

static bool number_of_dim(Call *c, Result *r, bool stride)
{
	const Type *x = call_tensor(c, SR_INPUT);
	ExprId e = {0};
	uint32_t d;
	if (x && x->ndim && (!stride || x->has_stride) && call_dim(c, SR_DIM, 0, x->ndim, &d))
		e = stride ? x->stride[d] : x->size[d];
	r->one = type_number(c->t, DT_I64, e);
	return true;
}

bool infer_number_size(Call *c, Result *r)
{
	return number_of_dim(c, r, false);
}

bool infer_number_stride(Call *c, Result *r)
{
	return number_of_dim(c, r, true);
}

bool infer_number_numel(Call *c, Result *r)
{
	r->one = type_number(c->t, DT_I64, type_numel(c->t, type_get(c->t, call_input(c))));
	return true;
}

bool infer_number_ndim(Call *c, Result *r)
{
	const Type *x = call_tensor(c, SR_INPUT);
	r->one = type_number(c->t, DT_I64, x ? expr_int(c->t, x->ndim) : (ExprId){0});
	return true;
}

/* What item() gives: a number of the tensor's class. Without the class it is left out: a float
 * among integers would decide a dtype. */
bool infer_number_unknown(Call *c, Result *r)
{
	DType d = type_dtype(c->t, call_input(c));
	switch (dtype_class(d)) {
	case DC_BOOL: r->one = type_number(c->t, DT_B8, (ExprId){0}); break;
	case DC_INT: r->one = type_number(c->t, DT_I64, (ExprId){0}); break;
	case DC_FLOAT: r->one = type_number(c->t, DT_F64, (ExprId){0}); break;
	case DC_COMPLEX: r->one = type_number(c->t, DT_C128, (ExprId){0}); break;
	default: break;
	}
	return true;
}

/* ---- arithmetic ---- */

typedef enum NumberOp {
	NUM_NONE,
	NUM_ADD,
	NUM_SUB,
	NUM_MUL,
	NUM_FLOORDIV,
	NUM_TRUEDIV,
	NUM_MOD,
	NUM_POW,
	NUM_NEG,
	NUM_POS,
	NUM_MAX,
	NUM_MIN,
	NUM_INT,
	NUM_FLOAT,
	NUM_COMPARE,
	NUM_ABS,
	NUM_BITS
} NumberOp;

static NumberOp number_op(Str name)
{
	static const struct {
		Str word;
		NumberOp op;
	} words[] = {
#define NUMBER_OP(id, word) {STR_INIT(word), NUM_##id},
#include "number_ops.def"
#undef NUMBER_OP
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(words[i].word, name))
			return words[i].op;
	return NUM_NONE;
}

static ExprId two(Types *t, NumberOp op, ExprId a, ExprId b)
{
	switch (op) {
	case NUM_ADD: return expr_add(t, a, b);
	case NUM_SUB: return expr_sub(t, a, b);
	case NUM_MUL: return expr_mul(t, a, b);
	case NUM_FLOORDIV: return expr_floordiv(t, a, b);
	case NUM_MOD: return expr_mod(t, a, b);
	case NUM_MAX: return expr_max(t, a, b);
	case NUM_MIN: return expr_min(t, a, b);
	default: return (ExprId){0};
	}
}

static ExprId power(Types *t, ExprId a, ExprId b)
{
	int64_t n;
	ExprId out = expr_int(t, 1);
	if (!expr_value(t, b, &n) || n < 0 || n > 8)
		return (ExprId){0};
	while (n--)
		out = expr_mul(t, out, a);
	return out;
}

/* What an operation on whole numbers gives; 0 when no expression can say it. */
static ExprId number_value(Types *t, NumberOp op, const ExprId *v, uint32_t n)
{
	if (op == NUM_NEG && n == 1)
		return expr_sub(t, expr_int(t, 0), v[0]);
	if ((op == NUM_POS || op == NUM_INT) && n == 1)
		return v[0];
	if (op == NUM_POW && n == 2)
		return power(t, v[0], v[1]);
	if (n < 2 || (n > 2 && op != NUM_MAX && op != NUM_MIN && op != NUM_ADD))
		return (ExprId){0};
	ExprId out = v[0];
	for (uint32_t i = 1; i < n; i++)
		out = two(t, op, out, v[i]);
	return out;
}

static DType number_class(NumberOp op, DType widest)
{
	if (op == NUM_COMPARE)
		return DT_B8;
	if (op == NUM_FLOAT || op == NUM_TRUEDIV)
		return widest == DT_C128 ? DT_C128 : DT_F64;
	if (op == NUM_INT)
		return DT_I64;
	return widest == DT_B8 ? DT_I64 : widest;
}

enum { NUMBER_ARGS_MOST = 16 };

static TypeId apply(Types *t, NumberOp op, const TypeId *v, uint32_t n)
{
	ExprId e[NUMBER_ARGS_MOST];
	DType widest = DT_B8;
	if (op == NUM_NONE || !n || n > NUMBER_ARGS_MOST)
		return (TypeId){0};
	for (uint32_t i = 0; i < n; i++) {
		const Type *x = type_get(t, v[i]);
		DType d = x->dtype == DT_NONE ? DT_I64 : x->dtype;
		if (x->kind != TK_SYM)
			return (TypeId){0};
		if (dtype_class(d) > dtype_class(widest))
			widest = d;
		e[i] = x->sym;
	}
	DType cls = number_class(op, widest);
	bool whole = cls == DT_I64 && dtype_class(widest) <= DC_INT;
	return type_number(t, cls, whole ? number_value(t, op, e, n) : (ExprId){0});
}

TypeId infer_number_apply(Types *t, Str op, const TypeId *v, uint32_t n)
{
	return apply(t, number_op(op), v, n);
}

static Str number_name(const Node *n, Str target)
{
	static const Str prefixes[] = {STR_INIT("torch.sym_"), STR_INIT("math_"), STR_INIT("math."),
	                               STR_INIT("torch__dynamo_external_utils_")};
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (str_starts(target, prefixes[i]))
			return str_sub(target, prefixes[i].n, target.n);
	if (n->callee == CALLEE_OPERATOR && n->flags & NF_AUGMENTED && str_starts(target, S("i")))
		return str_sub(target, 1, target.n);
	return target;
}

bool infer_number_call(Infer *in, NodeId id, Result *r)
{
	const Node *n = graph_node(in->g, id);
	if (n->callee != CALLEE_OPERATOR && n->callee != CALLEE_FUNCTION)
		return false;
	NumberOp op = number_op(number_name(n, sym_str(in->names, n->target)));
	const Arg *args = node_args(in->g, n);
	uint32_t nargs = n->nargs;
	if (nargs == 1 && (args->kind == AR_LIST || args->kind == AR_TUPLE)) { /* sym_sum([a, b]) */
		nargs = args->n;
		args = arg_kids(in->g, args);
	}
	TypeId v[NUMBER_ARGS_MOST];
	if (op == NUM_NONE || nargs > NUMBER_ARGS_MOST)
		return false;
	for (uint32_t i = 0; i < nargs; i++)
		v[i] = infer_arg(&in->nt, in->g, in->t, &args[i]);
	r->one = apply(in->t, op, v, nargs);
	return r->one.i != 0;
}
