/* SPDX-License-Identifier: MIT
 * infer: types of conversions: to, float, contiguous, dropout and what else may hand back its
 * argument. */
#include "infer_call.h"

bool infer_view_contiguous(Call *c, Result *r)
{
	MemoryFormat f = MF_CONTIGUOUS;
	TypeId x = call_input(c);
	const Type *v = type_get(c->t, x);
	call_format(c, &f);
	Tri is = f == MF_CONTIGUOUS || f == MF_PRESERVE ? type_is_contiguous(c->t, v)
	         : f == MF_CHANNELS_LAST                ? type_is_channels_last(c->t, v, 4)
	         : f == MF_CHANNELS_LAST_3D             ? type_is_channels_last(c->t, v, 5)
	                                                : TRI_MAY;
	r->one = x;
	if (is == TRI_MUST || f == MF_PRESERVE || v->kind != TK_TENSOR)
		return true;
	if (!v->has_shape)
		return false;
	LayoutNew how = {.rule = LAYOUT_ASKED, .asked = f, .dtype = v->dtype, .ops = &x, .nops = 1};
	if (f == MF_UNKNOWN)
		how.rule = LAYOUT_UNKNOWN;
	r->one = layout_new(
		c->t,
		&how); /* packed so whether it was copied or not, but for the strides of size-1 dims */
	return true;
}

/* Does this conversion hand back its argument? */
static Tri unchanged(Call *c, const Type *x, DType d, Sym device, bool asked, MemoryFormat f)
{
	Tri same_dtype = d == x->dtype                         ? TRI_MUST
	                 : x->dtype == DT_NONE || d == DT_NONE ? TRI_MAY
	                                                       : TRI_NO;
	Tri same_device = sym_eq(device, x->device)   ? TRI_MUST
	                  : !device.i || !x->device.i ? TRI_MAY
	                                              : TRI_NO;
	Tri same_format = TRI_MUST;
	if (d == DT_NONE)
		same_dtype = TRI_MAY;
	if (asked && f != MF_PRESERVE) {
		MemoryFormat now = type_suggested_format(c->t, x);
		same_format = f == MF_UNKNOWN || now == MF_UNKNOWN ? TRI_MAY : now == f ? TRI_MUST : TRI_NO;
	}
	return tri_and(tri_and(same_dtype, same_device), same_format);
}

static TypeId converted(Call *c, DType d, Sym device, bool copy)
{
	TypeId id = call_input(c);
	const Type *x = type_get(c->t, id);
	MemoryFormat f = MF_PRESERVE;
	bool asked = call_format(c, &f);
	Tri same = copy ? TRI_NO : unchanged(c, x, d, device, asked, f);
	if (same == TRI_MUST)
		return id;
	LayoutNew how = {
		.rule = LAYOUT_PRESERVE, .dtype = d, .device = device, .asked = f, .ops = &id, .nops = 1};
	if (asked && f != MF_PRESERVE)
		how.rule = same == TRI_MAY ? LAYOUT_UNKNOWN : LAYOUT_ASKED;
	else if (same == TRI_MAY && type_is_dense(c->t, x) != TRI_MUST)
		how.rule = LAYOUT_UNKNOWN;
	return layout_new(c->t, &how);
}

/* A dtype or device that was read off a tensor: y.dtype, y.device. */
static const Type *read_off(Call *c, const Arg *a, Str what)
{
	if (a->kind != AR_NODE)
		return NULL;
	const Node *n = graph_node(c->g, a->u.node);
	if (n->kind != NK_CALL || n->callee != CALLEE_ATTR || !n->nargs ||
	    !str_eq(sym_str(c->in->names, n->target), what))
		return NULL;
	const Type *x = type_get(c->t, call_arg_type(c, node_args(c->g, n)));
	return x->kind == TK_TENSOR ? x : NULL;
}

/* One argument of to(...): a dtype, a device, a tensor, or none of these. False when it cannot be
 * told. */
static bool to_argument(Call *c, const Arg *a, DType *d, Sym *device)
{
	const Type *x;
	DType asked = call_dtype(c, a);
	Sym where = call_device_of(c->in, a);
	if (asked != DT_NONE)
		*d = asked;
	else if (where.i)
		*device = where;
	else if ((x = read_off(c, a, S("dtype"))) != NULL)
		*d = x->dtype;
	else if ((x = read_off(c, a, S("device"))) != NULL)
		*device = x->device;
	else if (a->kind == AR_NODE) {
		x = type_get(c->t, call_arg_type(c, a));
		*d = x->dtype;
		*device = x->device;
		return x->kind == TK_TENSOR;
	} else
		return a->kind == AR_BOOL || a->kind == AR_NONE;
	return true;
}

/* Positional bools of to: non_blocking, then copy. */
static bool to_arguments(Call *c, DType *d, Sym *device, bool *copy)
{
	const Arg *args = node_args(c->g, c->n);
	uint32_t bools = 0;
	for (uint32_t i = 1; i < c->n->nargs; i++) {
		Str key = sym_str(c->in->names, args[i].key);
		if (!key.n || str_eq(key, S("dtype")) || str_eq(key, S("device")) ||
		    str_eq(key, S("other"))) {
			if (!to_argument(c, &args[i], d, device))
				return false;
			if (args[i].kind == AR_BOOL && ++bools == 2)
				*copy = args[i].u.num != 0;
		} else if (str_eq(key, S("copy"))) {
			if (args[i].kind != AR_BOOL)
				return false;
			*copy = args[i].u.num != 0;
		} else if (str_eq(key, S("memory_format"))) {
			c->arg[SR_FORMAT] = args[i].kind == AR_NONE ? NULL : &args[i];
		}
	}
	return true;
}

bool infer_view_to(Call *c, Result *r)
{
	const Type *x = type_get(c->t, call_input(c));
	DType d = x->dtype;
	Sym device = x->device;
	bool copy = str_has(sym_str(c->in->names, c->n->target), S("_to_copy"));
	if (x->kind != TK_TENSOR || !to_arguments(c, &d, &device, &copy)) {
		r->one = type_tensor_unknown(c->t);
		return true;
	}
	r->one = converted(c, d, device, copy);
	return true;
}

bool infer_view_to_dtype(Call *c, Result *r)
{
	const Type *x = type_get(c->t, call_input(c));
	if (!c->arg[SR_DTYPE]) /* x.type(): a string */
		return true;
	DType d = call_dtype(c, c->arg[SR_DTYPE]);
	r->one = d == DT_NONE ? type_tensor_unknown(c->t) : converted(c, d, x->device, false);
	return true;
}

bool infer_view_type_as(Call *c, Result *r)
{
	const Type *y = type_get(c->t, call_type(c, SR_OTHER));
	r->one = converted(c, y->dtype, y->device, false);
	return true;
}

bool infer_view_to_named(Call *c, Result *r)
{
	static const struct {
		Str name;
		DType d;
	} casts[] = {
#define CAST(method, word, dtype) {STR_INIT(method), DT_##dtype},
#include "decide_casts.def"
#undef CAST
	};
	Family family;
	Str name = shapes_name((Callee)c->n->callee, sym_str(c->in->names, c->n->target), &family);
	const Type *x = type_get(c->t, call_input(c));
	DType d = x->dtype;
	Sym device = x->device;
	for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
		if (str_eq(casts[i].name, name))
			d = casts[i].d;
	if (str_eq(name, S("cpu")))
		device = sym_intern(c->in->names, name);
	else if (str_eq(name, S("cuda")))
		device = c->arg[SR_DEVICE] ? call_device_of(c->in, c->arg[SR_DEVICE]) : (Sym){0};
	r->one = converted(c, d, device, false);
	return true;
}

/* A tensor comes back itself when nothing else is asked; other data become a new tensor. */
bool infer_view_as_tensor(Call *c, Result *r)
{
	const Arg *data = c->arg[SR_VALUE];
	if (!data)
		return false;
	const Type *x = type_get(c->t, call_arg_type(c, data));
	DType d = call_dtype(c, c->arg[SR_DTYPE]);
	if (c->arg[SR_DTYPE] && d == DT_NONE)
		return false;
	if (data->kind == AR_NODE && x->kind == TK_TENSOR) {
		c->arg[SR_INPUT] = data;
		Sym device = c->arg[SR_DEVICE] ? call_device_of(c->in, c->arg[SR_DEVICE]) : x->device;
		bool copy = false;
		if (!call_bool(c, SR_COPY, false, &copy))
			return false;
		r->one = converted(c, d == DT_NONE ? x->dtype : d, device, copy);
		return true;
	}
	if (data->kind == AR_NODE && x->kind != TK_SYM)
		return false;
	if (!infer_size_data(c, r))
		return false;
	Sym device = c->arg[SR_DEVICE] ? call_device_of(c->in, c->arg[SR_DEVICE])
	                               : sym_intern(c->in->names, S("cpu"));
	r->one =
		type_contiguous_of(c->t, d == DT_NONE ? data_dtype(c, data) : d, c->size, c->ndim, device);
	return true;
}

/* The argument itself when it is switched off, a copy where AOTAutograd traced it: the strides are
 * the same only if it is dense. */
bool infer_view_dropout(Call *c, Result *r)
{
	const Arg *p = c->arg[SR_P];
	bool training, known = call_bool(c, SR_TRAINING, true, &training) && c->arg[SR_TRAINING];
	bool off =
		(p && ((p->kind == AR_FLOAT && p->u.real == 0) || (p->kind == AR_INT && p->u.num == 0))) ||
		(known && !training);
	TypeId x = call_input(c);
	LayoutNew how = {.rule = LAYOUT_ITERATOR, .dtype = type_dtype(c->t, x), .ops = &x, .nops = 1};
	if ((!known || off) && type_is_dense(c->t, type_get(c->t, x)) != TRI_MUST)
		how.rule = LAYOUT_UNKNOWN;
	r->one = layout_new(c->t, &how);
	return true;
}

bool infer_view_conj(Call *c, Result *r)
{
	r->one = call_input(c); /* lazily, or of a real dtype: strides stay */
	if (dtype_class(type_dtype(c->t, r->one)) == DC_COMPLEX &&
	    type_is_dense(c->t, type_get(c->t, r->one)) != TRI_MUST)
		r->one = type_without_layout(c->t, r->one);
	return true;
}
