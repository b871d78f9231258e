/* SPDX-License-Identifier: MIT */
#include "infer_call.h"

TypeId type_number(Types *t, DType cls, ExprId value)
{
	return type_intern(t, &(Type){.kind = TK_SYM, .dtype = cls, .sym = value});
}

bool call_has_room(const Call *c, uint32_t n)
{
	return n <= c->in->members_left;
}

bool call_result_many(Call *c, Result *r, TypeId *v, uint32_t n)
{
	if (!call_has_room(c, n)) {
		c->in->members_left = 0;
		return false;
	}
	c->in->members_left -= n;
	r->many = true;
	r->v = v;
	r->n = n;
	return true;
}

bool call_sizes_like(Call *c, TypeId like)
{
	const Type *x = type_get(c->t, like);
	if (x->kind != TK_TENSOR || !x->has_shape || x->ndim > TYPE_DIMS_MOST)
		return false;
	c->ndim = x->ndim;
	if (x->ndim)
		memcpy(c->size, x->size, x->ndim * sizeof *x->size);
	return true;
}

bool sizes_broadcast(Types *t, const ExprId *a, uint32_t na, const ExprId *b, uint32_t nb,
                     ExprId *out, uint32_t *n)
{
	TypeId ops[2] = {type_contiguous_of(t, DT_F32, a, na, (Sym){0}),
	                 type_contiguous_of(t, DT_F32, b, nb, (Sym){0})};
	return layout_broadcast(t, ops, 2, out, n);
}

TypeId call_new(Call *c, Layout rule, DType dtype, const TypeId *ops, uint32_t nops,
                const ExprId *size, uint32_t ndim)
{
	LayoutNew how = {.rule = rule,
	                 .dtype = dtype,
	                 .ops = ops,
	                 .nops = nops,
	                 .has_size = true,
	                 .size = size,
	                 .ndim = ndim};
	return layout_new(c->t, &how);
}

/* Device of a result: asked for, else that of the operands, else (new from nothing) the CPU. */
static Sym result_device(Call *c, bool has_operand)
{
	if (c->arg[SR_DEVICE])
		return call_device_of(c->in, c->arg[SR_DEVICE]);
	return has_operand ? (Sym){0} : sym_intern(c->in->names, S("cpu"));
}

/* Are all tensors among the arguments contiguous? */
static bool all_contiguous(Call *c)
{
	static const ShapeRole roles[] = {SR_INPUT, SR_OTHER, SR_THIRD, SR_WEIGHT};
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
		const Type *x = type_get(c->t, call_type(c, roles[i]));
		if (x->kind == TK_TENSOR && type_is_contiguous(c->t, x) != TRI_MUST)
			return false;
	}
	return true;
}

/* Strides as at::clone_preserve_strides keeps them: all of them, unless a stretched dim (stride 0)
 * is seen. */
static Layout layout_kept(Call *c, const Type *x)
{
	ExprId zero = expr_int(c->t, 0), one = expr_int(c->t, 1);
	Tri overlaps = x->has_shape && x->has_stride ? TRI_NO : TRI_MAY;
	for (uint32_t i = 0; overlaps == TRI_NO && i < x->ndim; i++)
		overlaps =
			tri_and(expr_eq(c->t, x->stride[i], zero), tri_not(expr_eq(c->t, x->size[i], one)));
	return overlaps == TRI_NO     ? LAYOUT_SAME
	       : overlaps == TRI_MUST ? LAYOUT_PRESERVE
	                              : LAYOUT_UNKNOWN;
}

static void layout_asked(Call *c, LayoutNew *how, Layout dflt)
{
	how->rule = dflt;
	if (!call_format(c, &how->asked))
		return;
	how->rule = how->asked == MF_UNKNOWN ? LAYOUT_UNKNOWN : LAYOUT_ASKED;
	if (how->asked == MF_CONTIGUOUS || (how->asked == MF_PRESERVE && dflt == LAYOUT_CONTIGUOUS))
		how->rule = LAYOUT_CONTIGUOUS;
}

/* Convolutions come out in channels_last when input or weight are in that format. */
static void layout_conv(Call *c, LayoutNew *how)
{
	const Type *x = type_get(c->t, call_input(c)), *w = type_get(c->t, call_type(c, SR_WEIGHT));
	MemoryFormat fx = type_suggested_format(c->t, x), fw = type_suggested_format(c->t, w);
	how->rule = LAYOUT_ASKED;
	how->asked = fx != MF_CONTIGUOUS ? fx : fw;
	if (fx == MF_CONTIGUOUS && fw == MF_CONTIGUOUS)
		how->rule = LAYOUT_CONTIGUOUS;
	else if (fx == MF_UNKNOWN || (fx == MF_CONTIGUOUS && fw == MF_UNKNOWN))
		how->rule = LAYOUT_UNKNOWN;
}

static void layout_choose(Call *c, ShapeLayout word, LayoutNew *how)
{
	const Type *x = how->nops ? type_get(c->t, how->ops[0]) : type_get(c->t, (TypeId){0});
	switch (word) {
	case SL_NONE: how->rule = LAYOUT_UNKNOWN; break;
	case SL_FORMAT: layout_asked(c, how, LAYOUT_PRESERVE); break;
	case SL_PACKED: layout_asked(c, how, LAYOUT_CONTIGUOUS); break;
	case SL_IF_CONTIGUOUS:
		how->rule = all_contiguous(c) ? LAYOUT_CONTIGUOUS : LAYOUT_UNKNOWN;
		break;
	case SL_KEPT: how->rule = layout_kept(c, x); break;
	case SL_CONV: layout_conv(c, how); break;
	case SL_ATTENTION: how->rule = infer_layout_attention(c); break;
	default: how->rule = (Layout)word; break;
	}
}

/* Inside an inplace call (F.relu(x, inplace=True)) the result is the argument. */
static bool is_inplace_call(Call *c)
{
	const Arg *a = c->arg[SR_INPLACE];
	return a && (a->kind == AR_BOOL || a->kind == AR_INT) && a->u.num;
}

static TypeId without_sizes(Call *c, DType d, Sym device)
{
	Type x = {.kind = TK_TENSOR, .dtype = d, .device = device};
	return type_intern(c->t, &x);
}

/* The tensors that decide strides and device: all operands of an elementwise call, else the input.
 */
static uint32_t layout_operands(Call *c, uint32_t k, TypeId *ops)
{
	if (c->row->shape[k] == SH_BROADCAST)
		return call_operands(c, ops, true);
	ops[0] = call_input(c);
	return c->arg[SR_INPUT] ? 1 : 0;
}

static TypeId size_result(Call *c, uint32_t k, bool known)
{
	TypeId ops[4];
	bool from_something =
		c->arg[SR_INPUT] || c->arg[SR_OTHER] || c->arg[SR_WEIGHT] || c->arg[SR_TENSORS];
	DType d = call_result_dtype(c, k);
	Sym device = result_device(c, from_something);
	if (!device.i && !c->arg[SR_DEVICE])
		device = call_operand_device(c);
	if (!known)
		return without_sizes(c, d, device);
	LayoutNew how = {.dtype = d,
	                 .device = device,
	                 .ops = ops,
	                 .nops = layout_operands(c, k, ops),
	                 .has_size = true,
	                 .size = c->size,
	                 .ndim = c->ndim};
	layout_choose(c, (ShapeLayout)c->row->layout[k], &how);
	return layout_new(c->t, &how);
}

static TypeId view_result(Call *c, uint32_t k, TypeId view)
{
	if (c->row->layout[k] == SL_NONE || type_get(c->t, view)->kind != TK_TENSOR)
		return view;
	LayoutNew how = {.dtype = type_dtype(c->t, view), .ops = &view, .nops = 1};
	layout_choose(c, (ShapeLayout)c->row->layout[k], &how);
	return layout_new(c->t, &how);
}

typedef bool ShapeFn(Call *c, Result *r);

static const struct {
	ShapeKind kind;
	ShapeFn *fn;
} rules[] = {
#define SHAPE_RULE(id, word, kind, fn) {kind, fn},
#include "shape_rules.def"
#undef SHAPE_RULE
};

static TypeId unknown_like(Call *c, TypeId x)
{
	return type_get(c->t, x)->kind == TK_TENSOR ? type_without_shape(c->t, x)
	                                            : type_tensor_unknown(c->t);
}

static bool one_result(Call *c, uint32_t k, Result *r)
{
	const ShapeKind kind = rules[c->row->shape[k]].kind;
	if (kind == SK_NONE || (kind == SK_MANY && !c->in->members_left))
		return true;
	bool known = rules[c->row->shape[k]].fn(c, r);
	if (kind == SK_SIZE)
		r->one = size_result(c, k, known);
	else if (kind == SK_VIEW && known)
		r->one = view_result(c, k, r->one);
	else if (kind == SK_VIEW)
		r->one = unknown_like(c, call_input(c));
	return true;
}

static bool several_results(Call *c, Result *r)
{
	TypeId *v = NEW_N(c->in->a, TypeId, c->row->nresults);
	for (uint32_t k = 0; k < c->row->nresults; k++) {
		Result each = {0};
		one_result(c, k, &each);
		v[k] = each.one;
	}
	return call_result_many(c, r, v, c->row->nresults);
}

bool infer_call(Infer *in, NodeId id, Result *r)
{
	Call c;
	*r = (Result){0};
	if (!call_bind(&c, in, id))
		return false;
	if (is_inplace_call(&c)) {
		r->one = call_input(&c);
		return true;
	}
	return c.row->nresults > 1 ? several_results(&c, r) : one_result(&c, 0, r);
}

bool infer_call_undo(Infer *in, NodeId id, TypeId after, TypeId *before)
{
	Call c;
	const Type *x = type_get(in->t, after);
	int64_t a, b;
	uint32_t d;
	if (x->kind != TK_TENSOR || !x->has_shape || !call_bind(&c, in, id))
		return false;
	switch ((ShapeRule)c.row->shape[0]) {
	case SH_REVERSE: *before = layout_reverse(in->t, after); return true;
	case SH_TRANSPOSE:
		if (!call_int(&c, SR_DIM, &a) || !call_int(&c, SR_DIM2, &b))
			return false;
		*before = layout_transpose(in->t, after, a, b);
		return true;
	case SH_UNSQUEEZE:
		if (!x->ndim || !call_int(&c, SR_DIM, &a) || !dim_wrap(a, x->ndim, &d))
			return false;
		*before = layout_select(in->t, after, d);
		return true;
	default: return false;
	}
}
