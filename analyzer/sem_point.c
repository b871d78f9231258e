/* SPDX-License-Identifier: MIT
 * sem: element-wise operators with broadcasting, copies, joins and other operators that put elements or
 * constants at given places. */
#include "sem_call.h"

enum { OPERANDS_MOST = 16 };

typedef struct Operand {
	SemTensor x;
	bool number;
} Operand;

/* Operands broadcast to what is asked, converted to the dtype in which the operator computes. */
typedef struct Point {
	Operand in[OPERANDS_MOST];
	const TermId *e[OPERANDS_MOST];
	uint32_t n;
	DType common, self;
	TermList more;
} Point;

static void point_add(Sem *s, Point *p, const Arg *a)
{
	if (a && p->n < OPERANDS_MOST) {
		p->in[p->n].x = sem_operand_of(s, a, &p->in[p->n].number);
		p->n++;
	} else if (a) {
		sem_push_arg(s, &p->more, a);
	}
}

/* Tensors with dims before those without before numbers; a later group only counts when its class is higher. */
static DType common_dtype(const Point *p)
{
	DType by[3] = {DT_NONE, DT_NONE, DT_NONE};
	for (uint32_t i = 0; i < p->n; i++) {
		const Operand *o = &p->in[i];
		uint32_t group = o->number ? 2 : o->x.ndim ? 0 : 1;
		if (o->x.dtype == DT_NONE && !o->number)
			return DT_NONE;
		if (o->x.dtype != DT_NONE)
			by[group] = by[group] == DT_NONE ? o->x.dtype : dtype_promote(by[group], o->x.dtype);
	}
	if (by[2] == DT_F64 && (by[0] != DT_NONE || by[1] != DT_NONE))
		by[2] = DT_F32; /* a Python float among integers gives the default dtype */
	DType d = by[0];
	for (uint32_t g = 1; g < 3; g++)
		if (d == DT_NONE || dtype_class(by[g]) > dtype_class(d))
			d = by[g];
	return d;
}

static bool class_at_most(DType d, DTypeClass c)
{
	return d != DT_NONE && dtype_class(d) <= c;
}

/* Do all operands broadcast to what is asked? */
static bool point_fits(const Sem *s, const Point *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		Walk w = walk_of_tensor(&p->in[i].x);
		if (!walk_expand(&w, s->size, s->ndim))
			return false;
	}
	return true;
}

static void point_spread(Sem *s, Point *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		SemTensor *x = &p->in[i].x;
		DType from = x->dtype;
		TermId *e = NEW_N(s->a, TermId, (size_t)x->numel + 1);
		for (uint32_t k = 0; k < x->numel; k++)
			e[k] = p->common == DT_NONE ? x->e[k] : sem_convert(s, x->e[k], from, p->common);
		x->e = e;
		p->e[i] = sem_spread(s, x, s->size, s->ndim);
	}
}

/* What goes into existing elements takes their dtype. */
static DType stored_dtype(Sem *s, const Point *p)
{
	SemTensor out;
	if (s->out)
		return sem_tensor_of(s, s->out, &out) ? out.dtype : DT_NONE;
	return s->inplace && p->n ? p->self : DT_NONE;
}

static Point point_of(Sem *s, const Arg *const *args, uint32_t n)
{
	Point p = {.more.a = s->a};
	for (uint32_t i = 0; i < n; i++)
		point_add(s, &p, args[i]);
	p.self = p.n ? p.in[0].x.dtype : DT_NONE;
	p.common = common_dtype(&p);
	return p;
}

/* A folded number is an element of the dtype computed in; what is stored takes the dtype there. */
static TermId stored(Sem *s, TermId x, DType common, DType to)
{
	const Term *t = term_get(s->t, x);
	if (t->kind == TERM_NUM && t->cls != 'b')
		x = sem_convert(s, x, common, common);
	else if (t->kind == TERM_NUM)
		common = DT_B8;
	return common == DT_NONE ? x : sem_convert(s, x, common, to);
}

/* Comparisons and tests give bools. */
static bool gives_bool(Sem *s)
{
	static const Str names[] = {
		STR_INIT("eq"),          STR_INIT("ne"),          STR_INIT("lt"),
		STR_INIT("le"),          STR_INIT("gt"),          STR_INIT("ge"),
		STR_INIT("logical_not"), STR_INIT("logical_and"), STR_INIT("logical_or"),
		STR_INIT("logical_xor"), STR_INIT("isnan"),       STR_INIT("isinf"),
		STR_INIT("isfinite"),    STR_INIT("isposinf"),    STR_INIT("isneginf"),
		STR_INIT("signbit"),     STR_INIT("isclose"),     STR_INIT("isreal")};
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(sym_str(s->names, s->op), names[i]))
			return true;
	return false;
}

static void push_texts(Sem *s, Point *p)
{
	for (uint32_t i = 0; i < s->nmore; i++) {
		SemTensor x;
		bool operand = sem_tensor_of(s, s->more[i], &x);
		if (!sym_none(s->more_key[i]))
			sem_push(s, &p->more, term_text(s->t, s->more_key[i]));
		if (operand)
			point_add(s, p, s->more[i]);
		else
			sem_push_arg(s, &p->more, s->more[i]);
	}
}

/* Positional arguments that are strings, lists, None: part of the term. */
static bool is_operand(Sem *s, const Arg *a)
{
	SemTensor x;
	TermId t;
	DType d;
	return sem_tensor_of(s, a, &x) || sem_number_of(s, a, &t, &d) || a->kind == AR_NODE;
}

bool sem_pointwise(Sem *s, TermId *out)
{
	const Arg *args[OPERANDS_MOST] = {s->arg[SROLE_INPUT], s->arg[SROLE_OTHER],
	                                  s->arg[SROLE_THIRD]};
	uint32_t n = 3;
	TermList more = {.a = s->a};
	for (uint32_t i = 0; !s->row && i < s->nrest; i++) {
		if (n < OPERANDS_MOST && is_operand(s, &s->rest[i]))
			args[n++] = &s->rest[i];
		else
			sem_push_arg(s, &more, &s->rest[i]);
	}
	Point p = point_of(s, args, n);
	p.more = more;
	push_texts(s, &p);
	p.common = common_dtype(&p);
	bool divides = str_eq(sym_str(s->names, s->op), S("div")) && !s->nmore;
	if (divides && class_at_most(p.common, DC_INT))
		p.common =
			class_at_most(s->c->dtype, DC_INT) || s->c->dtype == DT_NONE ? DT_F32 : s->c->dtype;
	point_spread(s, &p);
	DType result = gives_bool(s) ? DT_B8 : p.common, to = stored_dtype(s, &p);
	if (to == DT_NONE)
		to = result;
	TermId v[OPERANDS_MOST + SEM_MORE_MOST * 2];
	if (p.n + p.more.v.n > sizeof v / sizeof *v || p.n == 0 || !point_fits(s, &p))
		return false;
	for (uint32_t k = 0; k < s->numel; k++) {
		for (uint32_t i = 0; i < p.n; i++)
			v[i] = p.e[i][k];
		for (uint32_t i = 0; i < p.more.v.n; i++)
			v[p.n + i] = p.more.v.v[i];
		out[k] = stored(s, term_op(s->t, s->op, v, p.n + p.more.v.n, 0), result, to);
	}
	return true;
}

/* ---- operators with a normal form ---- */

static TermId factor(Sem *s, SemRole r, DType to)
{
	TermId t;
	DType d;
	SemTensor x;
	if (!sem_given(s, r))
		return sem_convert(s, term_num(s->t, 1, 'i'), DT_I64, to);
	if (sem_tensor(s, r, &x) && x.numel == 1)
		return sem_convert(s, x.e[0], x.dtype, to);
	if (!sem_number_of(s, s->arg[r], &t, &d))
		return sem_unknown(s, 0);
	return sem_convert(s, t, d, to);
}

bool sem_scaled(Sem *s, TermId *out)
{
	if (!sem_given(s, SROLE_INPUT) || !sem_given(s, SROLE_OTHER))
		return false;
	Point p = point_of(s, (const Arg *[]){s->arg[SROLE_INPUT], s->arg[SROLE_OTHER]}, 2);
	bool reversed = s->cls == SEM_RSUB;
	TermId alpha = factor(s, SROLE_ALPHA, p.common);
	if (!point_fits(s, &p))
		return false;
	DType to = stored_dtype(s, &p);
	point_spread(s, &p);
	for (uint32_t k = 0; k < s->numel; k++) {
		TermId a = p.e[reversed][k], b = p.e[!reversed][k];
		b = sem_op2(s, "mul", b, alpha);
		out[k] = stored(s, term_op(s->t, s->op, (TermId[]){a, b}, 2, 0), p.common, to);
	}
	return true;
}

bool sem_addc(Sem *s, TermId *out)
{
	if (!sem_given(s, SROLE_INPUT) || !sem_given(s, SROLE_OTHER) || !sem_given(s, SROLE_THIRD))
		return false;
	Point p = point_of(
		s, (const Arg *[]){s->arg[SROLE_INPUT], s->arg[SROLE_OTHER], s->arg[SROLE_THIRD]}, 3);
	TermId value = factor(s, SROLE_VALUE, p.common);
	if (!point_fits(s, &p))
		return false;
	DType to = stored_dtype(s, &p);
	point_spread(s, &p);
	for (uint32_t k = 0; k < s->numel; k++) {
		TermId v = term_op(s->t, s->op, (TermId[]){p.e[1][k], p.e[2][k]}, 2, 0);
		v = sem_op2(s, "add", p.e[0][k], sem_op2(s, "mul", v, value));
		out[k] = stored(s, v, p.common, to);
	}
	return true;
}

/* A blend of a value with itself, or by nothing, is that value. */
bool sem_lerp(Sem *s, TermId *out)
{
	if (!sem_given(s, SROLE_INPUT) || !sem_given(s, SROLE_OTHER) || !sem_given(s, SROLE_WEIGHT))
		return false;
	Point p = point_of(
		s, (const Arg *[]){s->arg[SROLE_INPUT], s->arg[SROLE_OTHER], s->arg[SROLE_WEIGHT]}, 3);
	DType to = stored_dtype(s, &p);
	if (!point_fits(s, &p))
		return false;
	point_spread(s, &p);
	for (uint32_t k = 0; k < s->numel; k++) {
		double w;
		TermId a = p.e[0][k], b = p.e[1][k];
		bool same = a.i == b.i || (sem_known(s, p.e[2][k], &w) && w == 0);
		TermId v = same ? a : sem_op(s, "lerp", (TermId[]){a, b, p.e[2][k]}, 3, 0);
		out[k] = stored(s, v, p.common, to);
	}
	return true;
}

bool sem_clamp(Sem *s, TermId *out)
{
	const Arg *args[3] = {s->arg[SROLE_INPUT]};
	bool low = sem_given(s, SROLE_OTHER), high = sem_given(s, SROLE_THIRD);
	uint32_t n = 1;
	if (low)
		args[n++] = s->arg[SROLE_OTHER];
	if (high)
		args[n++] = s->arg[SROLE_THIRD];
	if (!args[0])
		return false;
	Point p = point_of(s, args, n);
	DType to = stored_dtype(s, &p);
	if (!point_fits(s, &p))
		return false;
	point_spread(s, &p);
	for (uint32_t k = 0; k < s->numel; k++) {
		TermId v = p.e[0][k];
		if (low)
			v = sem_op2(s, "clamp_min", v, p.e[1][k]);
		if (high)
			v = sem_op2(s, "clamp_max", v, p.e[n - 1][k]);
		out[k] = stored(s, v, p.common, to);
	}
	return true;
}

/* where(condition, input, other); masked_fill: where(condition, value, input) in the input's dtype. */
bool sem_where(Sem *s, TermId *out)
{
	bool number, fill = sem_given(s, SROLE_VALUE);
	const Arg *then = s->arg[fill ? SROLE_VALUE : SROLE_INPUT];
	const Arg *otherwise = s->arg[fill ? SROLE_INPUT : SROLE_OTHER];
	if (!s->arg[SROLE_COND] || !then || !otherwise)
		return false;
	Point p = point_of(s, (const Arg *[]){then, otherwise}, 2);
	if (fill)
		p.common = p.in[1].x.dtype;
	SemTensor c = sem_operand_of(s, s->arg[SROLE_COND], &number);
	p.self = fill ? p.common : p.self;
	DType to = fill ? p.common : stored_dtype(s, &p);
	Walk cw = walk_of_tensor(&c);
	if (!point_fits(s, &p) || !walk_expand(&cw, s->size, s->ndim))
		return false;
	point_spread(s, &p);
	const TermId *cond = sem_spread(s, &c, s->size, s->ndim);
	for (uint32_t k = 0; k < s->numel; k++) {
		TermId b = sem_convert(s, cond[k], c.dtype, c.dtype == DT_NONE ? DT_NONE : DT_B8);
		TermId v = sem_op(s, "where", (TermId[]){b, p.e[0][k], p.e[1][k]}, 3, 0);
		out[k] = to == DT_NONE || to == p.common ? v : sem_convert(s, v, p.common, to);
	}
	return true;
}

/* copy_, fill_, zero_: the source (0 without one) in the input's dtype. */
bool sem_copy(Sem *s, TermId *out)
{
	SemTensor x = {0};
	bool number;
	SemTensor v = {.numel = 1};
	TermId zero = term_num(s->t, 0, 'i');
	v.e = &zero;
	v.dtype = DT_I64;
	if (sem_given(s, SROLE_SOURCE))
		v = sem_operand_of(s, s->arg[SROLE_SOURCE], &number);
	DType to = sem_tensor(s, SROLE_INPUT, &x) && x.dtype != DT_NONE ? x.dtype : s->c->dtype;
	while (v.ndim > s->ndim && v.size[0] == 1) {
		memmove(v.size, v.size + 1, (v.ndim - 1) * sizeof *v.size);
		v.ndim--;
	}
	Walk w = walk_of_tensor(&v);
	if (!walk_expand(&w, s->size, s->ndim))
		return false;
	const TermId *e = sem_spread(s, &v, s->size, s->ndim);
	for (uint32_t k = 0; k < s->numel; k++)
		out[k] = sem_convert(s, e[k], v.dtype, to);
	return true;
}

/* A complex element stands for two real ones. */
bool sem_complex(Sem *s, TermId *out)
{
	SemTensor x;
	if (!sem_tensor(s, SROLE_INPUT, &x))
		return false;
	bool join = str_eq(sym_str(s->names, s->op), S("view_as_complex"));
	if (join ? x.numel != s->numel * 2u : x.numel * 2u != s->numel)
		return false;
	for (uint32_t k = 0; k < s->numel; k++)
		out[k] = join ? sem_op2(s, "complex", x.e[2 * k], x.e[2 * k + 1])
		              : sem_op(s, k % 2 ? "imag" : "real", &x.e[k / 2], 1, 0);
	return true;
}

/* ---- elements or constants at places ---- */

static TermId zero_of(Sem *s, DType d)
{
	return sem_convert(s, term_num(s->t, 0, 'i'), DT_I64, d);
}

bool sem_triangle(Sem *s, TermId *out)
{
	SemTensor x;
	int64_t by;
	if (!sem_tensor(s, SROLE_INPUT, &x) || x.numel != s->numel || x.ndim < 2 ||
	    !sem_int_or(s, SROLE_OFFSET, 0, &by))
		return false;
	bool upper = str_eq(sym_str(s->names, s->op), S("triu"));
	int64_t rows = x.size[x.ndim - 2], cols = x.size[x.ndim - 1];
	for (uint32_t k = 0; k < s->numel; k++) {
		int64_t row = k / cols % rows, col = k % cols;
		bool keep = upper ? col - row >= by : col - row <= by;
		out[k] = keep ? x.e[k] : zero_of(s, x.dtype);
	}
	return true;
}

static int64_t reflect(int64_t at, int64_t size, Str mode)
{
	if (at >= 0 && at < size)
		return at;
	if (str_eq(mode, S("replicate")))
		return at < 0 ? 0 : size - 1;
	if (str_eq(mode, S("circular")))
		return (at % size + size) % size;
	at = at < 0 ? -at : 2 * (size - 1) - at;
	return at;
}

/* Pairs of paddings from the last dim on. */
bool sem_pad(Sem *s, TermId *out)
{
	SemTensor x;
	int64_t pad[2 * SEM_MAX_DIMS], before[SEM_MAX_DIMS] = {0};
	uint32_t n;
	Str mode = sem_word(s, s->arg[SROLE_MODE]);
	if (!sem_tensor(s, SROLE_INPUT, &x) || !sem_ints(s, SROLE_PADDING, pad, 2 * SEM_MAX_DIMS, &n) ||
	    n % 2 || n / 2 > x.ndim || x.ndim != s->ndim || (sem_given(s, SROLE_MODE) && !mode.n))
		return false;
	bool constant = !mode.n || str_eq(mode, S("constant"));
	for (uint32_t i = 0; i < n; i++)
		if (pad[i] < -SEM_NUMEL_MOST || pad[i] > SEM_NUMEL_MOST)
			return false;
	for (uint32_t i = 0; i < n / 2; i++)
		before[x.ndim - 1 - i] = pad[2 * i];
	TermId fill = zero_of(s, x.dtype);
	if (sem_given(s, SROLE_VALUE))
		fill = factor(s, SROLE_VALUE, x.dtype);
	Walk own = walk_of_tensor(&x);
	for (uint32_t k = 0; k < s->numel; k++) {
		int64_t pos = 0;
		bool inside = x.numel != 0;
		uint32_t left = k;
		for (uint32_t d = s->ndim; d-- > 0;) {
			int64_t at = (int64_t)(left % s->size[d]) - before[d];
			left /= (uint32_t)s->size[d];
			at = !constant && x.numel ? reflect(at, x.size[d], mode) : at;
			inside &= at >= 0 && at < x.size[d];
			pos += inside ? at * own.step[d] : 0;
		}
		if (!inside && !constant)
			return false;
		out[k] = inside ? x.e[pos] : fill;
	}
	return true;
}

/* ---- joins ---- */

/* Puts x at `from` along dim d of the result. False when it does not fit. */
static bool join_one(Sem *s, const SemTensor *x, uint32_t d, int64_t *from, TermId *out)
{
	Walk to = walk_of(s->size, s->ndim);
	if (x->ndim == 1 && x->numel == 0) /* takes no part, whatever the others are */
		return true;
	if (x->ndim != s->ndim || x->size[d] > s->size[d] - *from)
		return false;
	for (uint32_t i = 0; i < s->ndim; i++)
		if (i != d && x->size[i] != s->size[i])
			return false;
	to.at = x->numel ? *from * to.step[d] : 0;
	to.size[d] = x->size[d];
	*from += x->size[d];
	uint32_t *map = walk_map(s, &to);
	for (uint32_t k = 0; k < x->numel; k++)
		out[map[k]] = sem_convert(s, x->e[k], x->dtype, s->c->dtype);
	return true;
}

static bool join_dim(Sem *s, uint32_t *d)
{
	Str op = sym_str(s->names, s->op);
	if (str_eq(op, S("vstack")))
		*d = 0;
	else if (str_eq(op, S("hstack")))
		*d = s->ndim > 1;
	else
		return sem_dim(s, SROLE_DIM, 0, s->ndim, d);
	return *d < s->ndim;
}

/* vstack and hstack take tensors with fewer dims. */
static void join_lift(const Sem *s, SemTensor *x)
{
	bool lift = str_eq(sym_str(s->names, s->op), S("vstack")) ||
	            str_eq(sym_str(s->names, s->op), S("hstack"));
	if (lift && x->ndim < s->ndim && x->ndim < 2) {
		for (; x->ndim < s->ndim; x->ndim++) {
			memmove(x->size + 1, x->size, x->ndim * sizeof *x->size);
			x->size[0] = 1;
		}
	}
}

bool sem_cat(Sem *s, TermId *out)
{
	const Arg *v;
	uint32_t n, d;
	int64_t from = 0;
	if (!s->ndim || !sem_list(s, SROLE_TENSORS, &v, &n) || !join_dim(s, &d))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		SemTensor x;
		if (!sem_tensor_of(s, &v[i], &x))
			return false;
		join_lift(s, &x);
		if (!join_one(s, &x, d, &from, out))
			return false;
	}
	return s->numel == 0 || from == s->size[d];
}

bool sem_stack(Sem *s, TermId *out)
{
	const Arg *v;
	uint32_t n, d;
	int64_t from = 0;
	if (!s->ndim || !sem_list(s, SROLE_TENSORS, &v, &n) || !sem_dim(s, SROLE_DIM, 0, s->ndim, &d))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		SemTensor x;
		if (!sem_tensor_of(s, &v[i], &x) || x.ndim + 1 != s->ndim)
			return false;
		memmove(x.size + d + 1, x.size + d, (x.ndim - d) * sizeof *x.size);
		x.size[d] = 1;
		x.ndim++;
		if (!join_one(s, &x, d, &from, out))
			return false;
	}
	return from == s->size[d];
}
