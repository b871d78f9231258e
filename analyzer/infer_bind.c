/* SPDX-License-Identifier: MIT
 * infer: the arguments of a call by role, and the row of rules/shapes.tsv that fits it. */
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
	} else if (a->kind == AR_NODE && !(variadic && c->nrest > 1) &&
	           type_get(c->t, call_arg_type(c, a))->kind != TK_SYM) {
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
	return a && (a->kind == AR_NAME || a->kind == AR_STR) ? dtype_parse(arg_word(c->in, a))
	                                                      : DT_NONE;
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
	static const Str words[] = {STR_INIT("cpu"),  STR_INIT("cuda"),         STR_INIT("meta"),
	                            STR_INIT("mps"),  STR_INIT("xpu"),          STR_INIT("hpu"),
	                            STR_INIT("mtia"), STR_INIT("privateuseone")};
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
		{STR_INIT("self"), STR_INIT("input")},       {STR_INIT("axis"), STR_INIT("dim")},
		{STR_INIT("keepdims"), STR_INIT("keepdim")}, {STR_INIT("dims"), STR_INIT("dim")},
		{STR_INIT("tensor"), STR_INIT("input")},     {STR_INIT("x"), STR_INIT("input")},
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
			bool hit = plain ? str_eq(keyword_plain(sym_str(c->in->names, a->key)),
			                          sym_str(c->in->names, p->keyword))
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
			a = i < c->n->nargs && !node_args(c->g, c->n)[i].key.i ? &node_args(c->g, c->n)[i]
			                                                       : NULL;
		if (p->given && !a)
			return false;
		if (a && !need_met(c, p, a))
			return false;
	}
	return true;
}

bool call_bind(Call *c, Infer *in, NodeId id)
{
	const Node *n = graph_node(in->g, id);
	const ShapeRow *row = shapes_find(in->rules, (Callee)n->callee, sym_str(in->names, n->target));
	*c = (Call){.in = in, .t = in->t, .g = in->g, .id = id, .n = n};
	while (row && !row_fits(c, row))
		row = row->next ? &in->rules->rows.v[row->next] : NULL;
	c->row = row;
	return row != NULL;
}
