/* SPDX-License-Identifier: MIT
 * infer: einsum of one or two operands. Strides as aten/src/ATen/native/Linear.cpp (einsum,
 * sumproduct_pair) makes them: two operands are multiplied as batches of matrices over (shared,
 * left, right) output labels. */
#include "infer_call.h"

enum { LABELS = 52, OPERANDS_MOST = 16 };

typedef struct Term {
	uint8_t label[TYPE_DIMS_MOST];
	uint32_t n;
	bool repeated;
	int8_t at[LABELS]; /* position of a label; -1 not there */
} Term;

typedef struct Einsum {
	Call *c;
	Term in[OPERANDS_MOST], out;
	uint32_t nin;
	TypeId *op;
	ExprId size[LABELS];
} Einsum;

static int label_of(char ch)
{
	return ch >= 'A' && ch <= 'Z' ? ch - 'A' : ch >= 'a' && ch <= 'z' ? ch - 'a' + 26 : -1;
}

static bool term_read(Str s, Term *t)
{
	memset(t->at, -1, sizeof t->at);
	t->n = 0;
	t->repeated = false;
	for (uint32_t i = 0; i < s.n; i++) {
		int l = label_of(s.p[i]);
		if (s.p[i] == ' ')
			continue;
		if (l < 0 || t->n == TYPE_DIMS_MOST) /* the ellipsis too */
			return false;
		t->repeated |= t->at[l] >= 0;
		t->at[l] = (int8_t)t->n;
		t->label[t->n++] = (uint8_t)l;
	}
	return true;
}

/* Without `->`: the labels that occur once, in order of the alphabet. */
static void implicit_output(Einsum *e)
{
	uint32_t seen[LABELS] = {0};
	memset(e->out.at, -1, sizeof e->out.at);
	for (uint32_t i = 0; i < e->nin; i++)
		for (uint32_t k = 0; k < e->in[i].n; k++)
			seen[e->in[i].label[k]]++;
	for (uint32_t l = 0; l < LABELS; l++)
		if (seen[l] == 1 && e->out.n < TYPE_DIMS_MOST) {
			e->out.at[l] = (int8_t)e->out.n;
			e->out.label[e->out.n++] = (uint8_t)l;
		}
}

static bool equation_read(Einsum *e, Str eq)
{
	uint32_t arrow = str_find(eq, S("->"), 0);
	Str left = str_sub(eq, 0, arrow), term;
	while (str_cut(&left, ',', &term))
		if (e->nin == OPERANDS_MOST || !term_read(term, &e->in[e->nin++]))
			return false;
	if (arrow == eq.n) {
		implicit_output(e);
		return true;
	}
	return term_read(str_sub(eq, arrow + 2, eq.n), &e->out) && !e->out.repeated;
}

static bool sizes_read(Einsum *e)
{
	Types *t = e->c->t;
	ExprId one = expr_int(t, 1);
	for (uint32_t i = 0; i < e->nin; i++) {
		const Type *x = type_get(t, e->op[i]);
		if (!x->has_shape || x->ndim != e->in[i].n)
			return false;
		for (uint32_t k = 0; k < x->ndim; k++) {
			ExprId *size = &e->size[e->in[i].label[k]];
			if (!size->i || expr_eq(t, *size, one) == TRI_MUST)
				*size = x->size[k];
		}
	}
	for (uint32_t k = 0; k < e->out.n; k++)
		if (!e->size[e->out.label[k]].i)
			return false;
	return true;
}

/* Is every label of the operands kept? */
static bool sums_nothing(const Einsum *e)
{
	for (uint32_t i = 0; i < e->nin; i++)
		for (uint32_t k = 0; k < e->in[i].n; k++)
			if (e->out.at[e->in[i].label[k]] < 0)
				return false;
	return true;
}

static TypeId out_type(Einsum *e, const ExprId *stride)
{
	ExprId size[TYPE_DIMS_MOST];
	Type x = {.kind = TK_TENSOR,
	          .has_shape = true,
	          .has_stride = stride != NULL,
	          .size = size,
	          .stride = stride,
	          .ndim = e->out.n,
	          .device = type_device(e->c->t, e->op[0])};
	x.dtype = call_product_dtype(e->c, type_dtype(e->c->t, e->op[0]));
	for (uint32_t k = 0; k < e->out.n; k++)
		size[k] = e->size[e->out.label[k]];
	return type_intern(e->c->t, &x);
}

static TypeId out_packed(Einsum *e)
{
	TypeId plain = out_type(e, NULL);
	const Type *x = type_get(e->c->t, plain);
	return type_contiguous_of(e->c->t, x->dtype, x->size, x->ndim, x->device);
}

static TypeId single(Einsum *e)
{
	int64_t dims[TYPE_DIMS_MOST];
	if (e->in[0].repeated)
		return out_type(e, NULL);
	if (!sums_nothing(e))
		return out_packed(e);
	for (uint32_t k = 0; k < e->out.n; k++)
		dims[k] = e->in[0].at[e->out.label[k]];
	return layout_permute(e->c->t, e->op[0], dims, e->out.n);
}

/* An operand with its dims in the order of the output, size 1 where it has no such label. */
static TypeId spread(Einsum *e, uint32_t i)
{
	const Type *x = type_get(e->c->t, e->op[i]);
	ExprId size[TYPE_DIMS_MOST], stride[TYPE_DIMS_MOST];
	Type out = *x;
	for (uint32_t k = 0; k < e->out.n; k++) {
		int8_t at = e->in[i].at[e->out.label[k]];
		size[k] = at < 0 ? expr_int(e->c->t, 1) : x->size[at];
		stride[k] = at < 0 ? expr_int(e->c->t, 1) : x->has_stride ? x->stride[at] : (ExprId){0};
	}
	out.size = size;
	out.stride = stride;
	out.ndim = e->out.n;
	return type_intern(e->c->t, &out);
}

/* Which group of output labels one belongs to: 0 in both operands, 1 in the left only, 2 the rest.
 */
static bool label_group(Einsum *e, uint32_t label, uint32_t *group)
{
	bool wide[2];
	for (uint32_t i = 0; i < 2; i++) {
		int8_t at = e->in[i].at[label];
		Tri one =
			at < 0 ? TRI_MUST
				   : expr_eq(e->c->t, type_get(e->c->t, e->op[i])->size[at], expr_int(e->c->t, 1));
		if (one == TRI_MAY)
			return false;
		wide[i] = one == TRI_NO;
	}
	*group = wide[0] && wide[1] ? 0 : wide[0] ? 1 : 2;
	return true;
}

static TypeId pair(Einsum *e)
{
	uint32_t group[TYPE_DIMS_MOST];
	ExprId stride[TYPE_DIMS_MOST], run = expr_int(e->c->t, 1);
	if (e->in[0].repeated || e->in[1].repeated)
		return out_type(e, NULL);
	if (sums_nothing(e)) {
		TypeId ops[2] = {spread(e, 0), spread(e, 1)};
		LayoutNew how = {.rule = LAYOUT_ITERATOR, .ops = ops, .nops = 2};
		how.dtype = layout_result_dtype(e->c->t, ops, 2, DT_F32);
		return layout_new(e->c->t, &how);
	}
	for (uint32_t k = 0; k < e->out.n; k++)
		if (!label_group(e, e->out.label[k], &group[k]))
			return out_type(e, NULL);
	for (uint32_t g = 3; g--;)
		for (uint32_t k = e->out.n; k--;)
			if (group[k] == g) {
				stride[k] = run;
				run = expr_mul(e->c->t, run, e->size[e->out.label[k]]);
			}
	return out_type(e, stride);
}

bool infer_view_einsum(Call *c, Result *r)
{
	const Arg *eq = c->arg[SR_EQUATION];
	Einsum e = {.c = c};
	uint32_t n;
	if (!eq || eq->kind != AR_STR || !call_list_types(c, SR_TENSORS, &e.op, &n))
		return false;
	if (!equation_read(&e, sym_str(c->in->names, eq->u.sym)) || e.nin != n || !sizes_read(&e))
		return false;
	r->one = n == 1 ? single(&e) : n == 2 ? pair(&e) : out_type(&e, NULL);
	return true;
}
