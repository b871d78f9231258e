/* SPDX-License-Identifier: MIT
 * infer: the dtype column of rules/shapes.tsv. */
#include "infer_call.h"

DType type_dtype(const Types *t, TypeId id)
{
	const Type *x = type_get(t, id);
	return x->kind == TK_TENSOR ? x->dtype : DT_NONE;
}

Sym type_device(const Types *t, TypeId id)
{
	const Type *x = type_get(t, id);
	return x->kind == TK_TENSOR ? x->device : (Sym){0};
}

DType dtype_real(DType d)
{
	switch (d) {
	case DT_C32: return DT_F16;
	case DT_C64: return DT_F32;
	case DT_C128: return DT_F64;
	default: return d;
	}
}

static DType dtype_complex(DType d)
{
	switch (d) {
	case DT_F16: return DT_C32;
	case DT_F32: return DT_C64;
	case DT_F64: return DT_C128;
	default: return DT_NONE;
	}
}

static bool is_whole(DType d)
{
	return dtype_class(d) == DC_INT || dtype_class(d) == DC_BOOL;
}

/* Operands of an elementwise call, in the order of the row; a condition only when it is asked for.
 */
uint32_t call_operands(Call *c, TypeId *ops, bool condition)
{
	uint32_t n = 0;
	static const uint8_t order[] = {SR_COND, SR_INPUT, SR_OTHER, SR_THIRD};
	for (size_t i = 0; i < sizeof order; i++)
		if (c->arg[order[i]] && (condition || order[i] != SR_COND))
			ops[n++] = call_type(c, (ShapeRole)order[i]);
	return n;
}

Sym call_operand_device(Call *c)
{
	TypeId ops[4];
	uint32_t n = call_operands(c, ops, true);
	Sym device = type_device(c->t, call_type(c, SR_WEIGHT));
	const Arg *list;
	uint32_t m;
	if (c->arg[SR_TENSORS] && call_list(c, SR_TENSORS, &list, &m) && m)
		device = type_device(c->t, call_arg_type(c, list));
	for (uint32_t i = 0; i < n && !device.i; i++)
		device = type_device(c->t, ops[i]);
	return device;
}

static DType promoted(Call *c)
{
	TypeId ops[4];
	return layout_result_dtype(c->t, ops, call_operands(c, ops, false), DT_F32);
}

static DType product_dtype(Call *c)
{
	static const ShapeRole side[] = {SR_INPUT, SR_OTHER, SR_WEIGHT};
	DType d = DT_NONE;
	for (size_t i = 0; i < 3 && d == DT_NONE; i++)
		d = type_dtype(c->t, call_type(c, side[i]));
	return call_product_dtype(c, d);
}

/* The innermost open region of autocast for this call's tensors; NULL when there is none. */
static const Autocast *autocast_here(Call *c, AutocastState *state)
{
	Str device = sym_str(c->in->names, call_operand_device(c));
	*state = AUTOCAST_OFF;
	for (uint32_t i = c->in->autocast.n; i-- > 0;) {
		const Autocast *a = &c->in->autocast.v[i];
		if (!device.n || !a->device.n) {
			*state = AUTOCAST_UNKNOWN;
			return a;
		}
		if (str_starts(device, a->device)) {
			*state = a->state;
			return a;
		}
	}
	return NULL;
}

DType call_product_dtype(Call *c, DType d)
{
	AutocastState state;
	if (!c->in->autocast.n || d == DT_F64 || dtype_class(d) != DC_FLOAT)
		return d;
	const Autocast *a = autocast_here(c, &state);
	return state == AUTOCAST_ON ? a->dtype : state == AUTOCAST_UNKNOWN ? DT_NONE : d;
}

/* Inside a region some functions go back to float32; which ones differs by device and version. */
static bool autocast_may_widen(Call *c, uint32_t k, DType d)
{
	AutocastState state;
	if (!c->in->autocast.n || (d != DT_F16 && d != DT_BF16))
		return false;
	const Autocast *a = autocast_here(c, &state);
	if (state == AUTOCAST_OFF)
		return false;
	bool plain = c->row->shape[k] == SH_SELF || c->row->shape[k] == SH_BROADCAST;
	return !plain || !str_eq(a->device, S("cpu"));
}

/* torch.tensor and torch.full: of Python numbers; a tensor among them gives its own. */
DType data_dtype(Call *c, const Arg *data)
{
	enum { DEEPEST = 8 };
	const Arg *open[DEEPEST];
	uint32_t next[DEEPEST], depth = 0;
	DType best = DT_NONE;
	const Arg *a = data;
	for (;;) {
		if (a->kind == AR_LIST || a->kind == AR_TUPLE) {
			if (depth == DEEPEST)
				return DT_NONE;
			open[depth] = a;
			next[depth++] = 0;
		} else {
			const Type *x = type_get(c->t, call_arg_type(c, a));
			if (x->dtype == DT_NONE)
				return DT_NONE;
			DType d = x->dtype == DT_F64 && x->kind == TK_SYM ? DT_F32 : x->dtype;
			best = best == DT_NONE || dtype_class(d) > dtype_class(best) ? d : best;
		}
		while (depth && next[depth - 1] == open[depth - 1]->n)
			depth--;
		if (!depth)
			return best == DT_NONE && (a->kind == AR_LIST || a->kind == AR_TUPLE)
			           ? DT_F32
			           : best; /* tensor([]) */
		a = &arg_kids(c->g, open[depth - 1])[next[depth - 1]++];
	}
}

static DType arange_dtype(Call *c)
{
	static const ShapeRole bound[] = {SR_START, SR_END, SR_STEP};
	for (size_t i = 0; i < 3; i++) {
		if (!c->arg[bound[i]])
			continue;
		const Type *x = type_get(c->t, call_type(c, bound[i]));
		if (x->kind != TK_SYM || (x->dtype == DT_NONE && !x->sym.i))
			return DT_NONE;
		if (x->dtype == DT_F64)
			return DT_F32;
	}
	return DT_I64;
}

static DType stat_dtype(DType d)
{
	return d == DT_F32 || d == DT_F64 ? d : DT_NONE;
}

static DType float_of(DType d)
{
	return is_whole(d) ? DT_F32 : d;
}

static DType list_dtype(Call *c)
{
	TypeId *v;
	uint32_t n;
	return call_list_types(c, SR_TENSORS, &v, &n) ? layout_result_dtype(c->t, v, n, DT_F32)
	                                              : DT_NONE;
}

/* dtype by the argument of that name; whether it decides. */
static bool dtype_argument(Call *c, DType *out)
{
	if (!c->arg[SR_DTYPE])
		return false;
	*out = call_dtype(c, c->arg[SR_DTYPE]);
	return true;
}

static DType rule_dtype(Call *c, uint32_t k)
{
	DType asked = DT_NONE, own = type_dtype(c->t, call_input(c));
	bool by_arg = dtype_argument(c, &asked);
	switch ((DTypeRule)c->row->dtype[k]) {
	case DR_FIXED: return (DType)c->row->fixed[k];
	case DR_SAME: return own;
	case DR_REAL: return dtype_real(own);
	case DR_COMPLEX: return dtype_complex(promoted(c));
	case DR_FLOAT: return float_of(promoted(c));
	case DR_PROMOTE: return promoted(c);
	case DR_PRODUCT: return product_dtype(c);
	case DR_ARG: return by_arg ? asked : own;
	case DR_SUM: return by_arg ? asked : is_whole(own) ? DT_I64 : own;
	case DR_PREDICATE: return own == DT_U8 || own == DT_NONE ? own : DT_B8;
	case DR_WEIGHT: return type_dtype(c->t, call_type(c, SR_WEIGHT));
	case DR_FACTORY: return by_arg ? asked : DT_F32;
	case DR_INDEX: return by_arg ? asked : DT_I64;
	case DR_FILL:
	case DR_DATA:
		return by_arg ? asked : c->arg[SR_VALUE] ? data_dtype(c, c->arg[SR_VALUE]) : DT_NONE;
	case DR_ARANGE: return by_arg ? asked : arange_dtype(c);
	case DR_CAT: return list_dtype(c);
	case DR_FIRST:
		return c->n->nargs ? type_dtype(c->t, call_arg_type(c, node_args(c->g, c->n))) : DT_NONE;
	case DR_STAT: return stat_dtype(own);
	default: return DT_NONE;
	}
}

DType call_result_dtype(Call *c, uint32_t k)
{
	DType d = rule_dtype(c, k);
	uint8_t rule = c->row->dtype[k];
	bool said = rule == DR_FIXED || rule == DR_PRODUCT || c->arg[SR_DTYPE];
	return !said && autocast_may_widen(c, k, d) ? DT_NONE : d;
}
