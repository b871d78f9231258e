/* SPDX-License-Identifier: MIT */
#include "infer_call.h"

/* ---- arguments ---- */

static Str arg_word(const Infer *in, const Arg *a)
{
	return sym_str(in->names, a->u.sym);
}

TypeId call_arg_type(Call *c, const Arg *a)
{
	if (a->kind == AR_NODE)
		return infer_type_at(&c->in->nt, c->t, a->u.node, c->id);
	return infer_arg(&c->in->nt, c->g, c->t, a);
}

TypeId call_type(Call *c, ShapeRole role)
{
	return c->arg[role] ? call_arg_type(c, c->arg[role]) : (TypeId){0};
}

TypeId call_input(Call *c)
{
	return call_type(c, SR_INPUT);
}

const Type *call_tensor(Call *c, ShapeRole role)
{
	const Type *x = type_get(c->t, call_type(c, role));
	return x->kind == TK_TENSOR && x->has_shape ? x : NULL;
}

bool call_given(const Call *c, ShapeRole role)
{
	return c->arg[role] != NULL;
}

static ExprId arg_expr(Call *c, const Arg *a)
{
	return infer_expr(&c->in->nt, c->g, c->t, c->in->names, a);
}

ExprId call_expr(Call *c, ShapeRole role)
{
	return c->arg[role] ? arg_expr(c, c->arg[role]) : (ExprId){0};
}

bool call_int(Call *c, ShapeRole role, int64_t *out)
{
	return c->arg[role] && expr_value(c->t, arg_expr(c, c->arg[role]), out);
}

bool dim_wrap(int64_t dim, uint32_t ndim, uint32_t *out)
{
	int64_t most = ndim ? (int64_t)ndim : 1; /* a 0-d tensor takes 0 and -1 */
	if (dim < -most || dim >= most)
		return false;
	*out = (uint32_t)(dim < 0 ? dim + most : dim);
	return true;
}

bool call_dim(Call *c, ShapeRole role, int64_t dflt, uint32_t ndim, uint32_t *out)
{
	int64_t v = dflt;
	if (c->arg[role] && !call_int(c, role, &v))
		return false;
	return dim_wrap(v, ndim, out);
}

bool call_bool(Call *c, ShapeRole role, bool dflt, bool *out)
{
	const Arg *a = c->arg[role];
	*out = dflt;
	if (!a)
		return true;
	if (a->kind != AR_BOOL && a->kind != AR_INT)
		return false;
	*out = a->u.num != 0;
	return true;
}

static bool is_list(const Infer *in, const Arg *a)
{
	return a->kind == AR_LIST || a->kind == AR_TUPLE ||
	       (a->kind == AR_CALL && str_ends(arg_word(in, a), S("Size")) && a->n == 1);
}

/* The members of [..], (..) or torch.Size([..]). */
static void list_members(Call *c, const Arg *a, const Arg **v, uint32_t *n)
{
	if (a->kind == AR_CALL)
		a = arg_kids(c->g, a);
	*v = arg_kids(c->g, a);
	*n = a->n;
}

/* A node that returned a tuple of numbers: x.shape, x.size(). */
static bool node_exprs(Call *c, const Arg *a, ExprId *v, uint32_t *n)
{
	const NodeTypes *nt = &c->in->nt;
	uint32_t node = a->u.node.i;
	if (!nt->nelems[node] || nt->nelems[node] > TYPE_DIMS_MOST)
		return false;
	*n = nt->nelems[node];
	for (uint32_t i = 0; i < *n; i++) {
		const Type *e = type_get(c->t, nt->elems.v[nt->elem_at[node] + i]);
		if (e->kind != TK_SYM)
			return false;
		v[i] = e->sym;
	}
	return true;
}

bool call_exprs(Call *c, ShapeRole role, ExprId *v, uint32_t *n)
{
	const Arg *a = c->arg[role], *kids;
	bool variadic = c->rest_role == role && c->nrest;
	if (!a)
		return false;
	if (is_list(c->in, a)) {
		list_members(c, a, &kids, n);
	} else if (a->kind == AR_NODE && node_exprs(c, a, v, n)) {
		return true;
	} else if (a->kind == AR_NODE && type_get(c->t, call_arg_type(c, a))->kind != TK_SYM) {
		return false;
	} else {
		kids = variadic ? c->rest : a;
		*n = variadic ? c->nrest : 1;
	}
	if (*n > TYPE_DIMS_MOST)
		return false;
	for (uint32_t i = 0; i < *n; i++) {
		if (kids[i].kind == AR_STARRED)
			return false;
		v[i] = arg_expr(c, &kids[i]);
	}
	return true;
}

bool call_ints(Call *c, ShapeRole role, int64_t *v, uint32_t most, uint32_t *n)
{
	ExprId e[TYPE_DIMS_MOST];
	if (!call_exprs(c, role, e, n) || *n > most)
		return false;
	for (uint32_t i = 0; i < *n; i++)
		if (!expr_value(c->t, e[i], &v[i]))
			return false;
	return true;
}

bool call_list(Call *c, ShapeRole role, const Arg **v, uint32_t *n)
{
	const Arg *a = c->arg[role];
	if (!a)
		return false;
	if (is_list(c->in, a) && (c->rest_role != role || c->nrest == 1)) {
		list_members(c, a, v, n);
	} else if (c->rest_role == role) {
		*v = c->rest;
		*n = c->nrest;
	} else {
		return false;
	}
	for (uint32_t i = 0; i < *n; i++)
		if ((*v)[i].kind == AR_STARRED)
			return false;
	return true;
}

bool call_list_types(Call *c, ShapeRole role, TypeId **v, uint32_t *n)
{
	const Arg *kids, *a = c->arg[role];
	const NodeTypes *nt = &c->in->nt;
	if (a && a->kind == AR_NODE && nt->nelems[a->u.node.i]) { /* cat(x.chunk(2)) */
		*n = nt->nelems[a->u.node.i];
		*v = NEW_N(c->in->a, TypeId, *n);
		memcpy(*v, nt->elems.v + nt->elem_at[a->u.node.i], *n * sizeof **v);
		return true;
	}
	if (!call_list(c, role, &kids, n) || !*n)
		return false;
	*v = NEW_N(c->in->a, TypeId, *n);
	for (uint32_t i = 0; i < *n; i++)
		(*v)[i] = call_arg_type(c, &kids[i]);
	return true;
}

DType call_dtype(Call *c, const Arg *a)
{
	return a && (a->kind == AR_NAME || a->kind == AR_STR) ? dtype_parse(arg_word(c->in, a)) : DT_NONE;
}

static Sym device_call(Infer *in, const Arg *a)
{
	const Arg *kid = arg_kids(in->g, a);
	Str type = {0};
	int64_t index = -1;
	for (uint32_t i = 0; i < a->n; i++) {
		if (kid[i].kind == AR_STR)
			type = arg_word(in, &kid[i]);
		else if (kid[i].kind == AR_INT)
			index = kid[i].u.num;
		else
			return (Sym){0};
	}
	char text[48];
	if (!type.n || type.n > 32)
		return (Sym){0};
	memcpy(text, type.p, type.n);
	if (index < 0 || index > 9999)
		return sym_intern(in->names, type);
	uint32_t n = type.n, digits = index > 999 ? 4 : index > 99 ? 3 : index > 9 ? 2 : 1;
	text[n++] = ':';
	for (uint32_t i = digits; i--; index /= 10)
		text[n + i] = (char)('0' + index % 10);
	return sym_intern(in->names, (Str){text, n + digits});
}

static bool is_device_word(Str s)
{
	static const Str words[] = {STR_INIT("cpu"), STR_INIT("cuda"), STR_INIT("meta"), STR_INIT("mps"), STR_INIT("xpu"),
	                            STR_INIT("hpu"), STR_INIT("mtia"), STR_INIT("privateuseone")};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(s, words[i]) || (str_starts(s, words[i]) && s.p[words[i].n] == ':'))
			return true;
	return false;
}

Sym call_device_of(Infer *in, const Arg *a)
{
	if (a->kind == AR_STR && is_device_word(arg_word(in, a)))
		return a->u.sym;
	if (a->kind == AR_CALL && str_ends(arg_word(in, a), S("device")))
		return device_call(in, a);
	return (Sym){0};
}

bool call_format(Call *c, MemoryFormat *out)
{
	static const struct {
		Str word;
		MemoryFormat f;
	} words[] = {
		{STR_INIT("torch.contiguous_format"), MF_CONTIGUOUS},
		{STR_INIT("torch.channels_last"), MF_CHANNELS_LAST},
		{STR_INIT("torch.channels_last_3d"), MF_CHANNELS_LAST_3D},
		{STR_INIT("torch.preserve_format"), MF_PRESERVE},
	};
	const Arg *a = c->arg[SR_FORMAT];
	if (!a)
		return false;
	*out = MF_UNKNOWN;
	for (size_t i = 0; a->kind == AR_NAME && i < sizeof words / sizeof *words; i++)
		if (str_eq(arg_word(c->in, a), words[i].word))
			*out = words[i].f;
	return true;
}

/* ---- binding ---- */

static bool is_operand(ShapeRole role)
{
	return role == SR_INPUT || role == SR_OTHER || role == SR_THIRD || role == SR_COND;
}

static bool need_met(Call *c, const ShapeParam *p, const Arg *a)
{
	TypeKind kind = TK_OTHER;
	if (a->kind == AR_NODE)
		kind = type_get(c->t, call_arg_type(c, a))->kind;
	switch ((ShapeNeed)p->need) {
	case SN_TENSOR: return kind == TK_TENSOR;
	case SN_NUMBER: return kind == TK_SYM || a->kind != AR_NODE;
	case SN_DTYPE: return call_dtype(c, a) != DT_NONE;
	case SN_BOOL: return a->kind == AR_BOOL;
	default: return true;
	}
}

/* Keywords that mean the same under two names, by who wrote the function. */
static Str keyword_plain(Str key)
{
	static const struct {
		Str from, to;
	} same[] = {
		{STR_INIT("self"), STR_INIT("input")}, {STR_INIT("axis"), STR_INIT("dim")}, {STR_INIT("keepdims"), STR_INIT("keepdim")},
		{STR_INIT("dims"), STR_INIT("dim")}, {STR_INIT("tensor"), STR_INIT("input")}, {STR_INIT("x"), STR_INIT("input")},
		{STR_INIT("shape"), STR_INIT("size")},
	};
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (str_eq(same[i].from, key))
			return same[i].to;
	return key;
}

static void bind_keyword(Call *c, const ShapeRow *row, const Arg *a)
{
	for (int plain = 0; plain < 2; plain++)
		for (uint32_t i = 0; i < row->nparams; i++) {
			const ShapeParam *p = &row->param[i];
			bool hit = plain ? str_eq(keyword_plain(sym_str(c->in->names, a->key)), sym_str(c->in->names, p->keyword))
			                 : sym_eq(a->key, p->keyword);
			if (!hit || !p->keyword.i)
				continue;
			if (!c->arg[p->role])
				c->arg[p->role] = a;
			return;
		}
}

/* Puts the call's arguments in their roles; false when it has more positional ones than the row. */
static bool bind_args(Call *c, const ShapeRow *row)
{
	const Arg *args = node_args(c->g, c->n);
	uint32_t at = 0;
	memset(c->arg, 0, sizeof c->arg);
	c->rest = NULL;
	c->nrest = 0;
	c->rest_role = SR_NONE;
	for (uint32_t i = 0; i < c->n->nargs; i++) {
		if (args[i].kind == AR_STARRED)
			return false;
		if (args[i].key.i) {
			bind_keyword(c, row, &args[i]);
			continue;
		}
		if (at == row->nparams || row->param[at].keyword_only)
			return false;
		const ShapeParam *p = &row->param[at];
		if (!c->arg[p->role])
			c->arg[p->role] = &args[i];
		if (p->variadic) {
			c->rest = c->nrest ? c->rest : &args[i];
			c->nrest++;
			c->rest_role = p->role;
		} else {
			at++;
		}
	}
	return true;
}

static bool row_fits(Call *c, const ShapeRow *row)
{
	if (!bind_args(c, row))
		return false;
	for (uint32_t i = 0; i < row->nparams; i++) {
		const ShapeParam *p = &row->param[i];
		const Arg *a = c->arg[p->role];
		if (a && a->kind == AR_NONE && p->role != SR_INDEX && c->rest_role != p->role)
			a = c->arg[p->role] = NULL;
		if (p->role == SR_NONE && !p->need)
			continue;
		if (p->role == SR_NONE) /* a nameless one with a condition: by position */
			a = i < c->n->nargs && !node_args(c->g, c->n)[i].key.i ? &node_args(c->g, c->n)[i] : NULL;
		if (p->given && !a)
			return false;
		if (a && !need_met(c, p, a))
			return false;
	}
	return true;
}

/* ---- dtypes ---- */

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

/* Operands of an elementwise call, in the order of the row; a condition only when it is asked for. */
static uint32_t operands(Call *c, TypeId *ops, bool condition)
{
	uint32_t n = 0;
	static const uint8_t order[] = {SR_COND, SR_INPUT, SR_OTHER, SR_THIRD};
	for (size_t i = 0; i < sizeof order; i++)
		if (c->arg[order[i]] && is_operand(order[i]) && (condition || order[i] != SR_COND))
			ops[n++] = call_type(c, (ShapeRole)order[i]);
	return n;
}

static Sym operand_device(Call *c)
{
	TypeId ops[4];
	uint32_t n = operands(c, ops, true);
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
	return layout_result_dtype(c->t, ops, operands(c, ops, false), DT_F32);
}

static DType product_dtype(Call *c)
{
	static const ShapeRole side[] = {SR_INPUT, SR_OTHER, SR_WEIGHT};
	DType d = DT_NONE;
	for (size_t i = 0; i < 3 && d == DT_NONE; i++)
		d = type_dtype(c->t, call_type(c, side[i]));
	return call_product_dtype(c, d);
}

/* Does the region of autocast apply to this call's tensors? Those of another device it leaves alone. */
static AutocastState autocast_here(Call *c)
{
	if (!c->in->autocast.n)
		return AUTOCAST_OFF;
	const Autocast *now = &c->in->autocast.v[c->in->autocast.n - 1];
	Sym device = operand_device(c);
	if (now->state == AUTOCAST_OFF || !now->device.n || !device.i)
		return now->state == AUTOCAST_OFF ? AUTOCAST_OFF : AUTOCAST_UNKNOWN;
	return str_starts(sym_str(c->in->names, device), now->device) ? now->state : AUTOCAST_OFF;
}

DType call_product_dtype(Call *c, DType d)
{
	if (d == DT_F64 || dtype_class(d) != DC_FLOAT)
		return d;
	switch (autocast_here(c)) {
	case AUTOCAST_ON: return c->in->autocast.v[c->in->autocast.n - 1].dtype;
	case AUTOCAST_UNKNOWN: return DT_NONE;
	default: return d;
	}
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
			return best == DT_NONE && (a->kind == AR_LIST || a->kind == AR_TUPLE) ? DT_F32 : best; /* tensor([]) */
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
	return call_list_types(c, SR_TENSORS, &v, &n) ? layout_result_dtype(c->t, v, n, DT_F32) : DT_NONE;
}

/* dtype by the argument of that name; whether it decides. */
static bool dtype_argument(Call *c, DType *out)
{
	if (!c->arg[SR_DTYPE])
		return false;
	*out = call_dtype(c, c->arg[SR_DTYPE]);
	return true;
}

DType call_result_dtype(Call *c, uint32_t k)
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
	case DR_DATA: return by_arg ? asked : c->arg[SR_VALUE] ? data_dtype(c, c->arg[SR_VALUE]) : DT_NONE;
	case DR_ARANGE: return by_arg ? asked : arange_dtype(c);
	case DR_CAT: return list_dtype(c);
	case DR_FIRST: return c->n->nargs ? type_dtype(c->t, call_arg_type(c, node_args(c->g, c->n))) : DT_NONE;
	case DR_STAT: return stat_dtype(own);
	default: return DT_NONE;
	}
}

/* ---- results ---- */

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

bool sizes_broadcast(Types *t, const ExprId *a, uint32_t na, const ExprId *b, uint32_t nb, ExprId *out, uint32_t *n)
{
	TypeId ops[2] = {type_contiguous_of(t, DT_F32, a, na, (Sym){0}), type_contiguous_of(t, DT_F32, b, nb, (Sym){0})};
	return layout_broadcast(t, ops, 2, out, n);
}

TypeId call_new(Call *c, Layout rule, DType dtype, const TypeId *ops, uint32_t nops, const ExprId *size, uint32_t ndim)
{
	LayoutNew how = {.rule = rule, .dtype = dtype, .ops = ops, .nops = nops, .has_size = true, .size = size, .ndim = ndim};
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

/* Strides as at::clone_preserve_strides keeps them: all of them, unless a stretched dim (stride 0) is seen. */
static Layout layout_kept(Call *c, const Type *x)
{
	ExprId zero = expr_int(c->t, 0), one = expr_int(c->t, 1);
	Tri overlaps = x->has_shape && x->has_stride ? TRI_NO : TRI_MAY;
	for (uint32_t i = 0; overlaps == TRI_NO && i < x->ndim; i++)
		overlaps = tri_and(expr_eq(c->t, x->stride[i], zero), tri_not(expr_eq(c->t, x->size[i], one)));
	return overlaps == TRI_NO ? LAYOUT_SAME : overlaps == TRI_MUST ? LAYOUT_PRESERVE : LAYOUT_UNKNOWN;
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
	case SL_IF_CONTIGUOUS: how->rule = all_contiguous(c) ? LAYOUT_CONTIGUOUS : LAYOUT_UNKNOWN; break;
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

/* The tensors that decide strides and device: all operands of an elementwise call, else the input. */
static uint32_t layout_operands(Call *c, uint32_t k, TypeId *ops)
{
	if (c->row->shape[k] == SH_BROADCAST)
		return operands(c, ops, true);
	ops[0] = call_input(c);
	return c->arg[SR_INPUT] ? 1 : 0;
}

static TypeId size_result(Call *c, uint32_t k, bool known)
{
	TypeId ops[4];
	bool from_something = c->arg[SR_INPUT] || c->arg[SR_OTHER] || c->arg[SR_WEIGHT] || c->arg[SR_TENSORS];
	DType d = call_result_dtype(c, k);
	Sym device = result_device(c, from_something);
	if (!device.i && !c->arg[SR_DEVICE])
		device = operand_device(c);
	if (!known)
		return without_sizes(c, d, device);
	LayoutNew how = {.dtype = d, .device = device, .ops = ops, .nops = layout_operands(c, k, ops),
	                 .has_size = true, .size = c->size, .ndim = c->ndim};
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
		r->one = type_without_shape(c->t, call_input(c));
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

/* Binds the call to the first row that fits; false when none does. */
static bool call_start(Call *c, Infer *in, NodeId id)
{
	const Node *n = graph_node(in->g, id);
	const ShapeRow *row = shapes_find(in->rules, (Callee)n->callee, sym_str(in->names, n->target));
	*c = (Call){.in = in, .t = in->t, .g = in->g, .id = id, .n = n};
	while (row && !row_fits(c, row))
		row = row->next ? &in->rules->rows.v[row->next] : NULL;
	c->row = row;
	return row != NULL;
}

bool infer_call(Infer *in, NodeId id, Result *r)
{
	Call c;
	*r = (Result){0};
	if (!call_start(&c, in, id))
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
	if (x->kind != TK_TENSOR || !x->has_shape || !call_start(&c, in, id))
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
