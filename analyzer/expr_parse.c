/* SPDX-License-Identifier: MIT */
#include "expr.h"

/* Reads sympy text as the printers of dumps write it: Python operators with Python's precedence,
 * calls of the functions in exprfuncs.def. Operator precedence parsing with two stacks of fixed
 * size; no recursion.
 *
 * What is well formed but has no value here (floating numbers, comparisons, other functions,
 * results beyond the caps) sets Reader.unknown; reading goes on, as damaged text must still be
 * told from text that is whole. */

enum { OPERANDS = 24, OPERATORS = 160 };

typedef enum Func {
	FUNC_NONE,
	FUNC_FLOORDIV,
	FUNC_CEILDIV,
	FUNC_MOD,
	FUNC_MAX,
	FUNC_MIN,
	FUNC_MODULAR,
	FUNC_IDENTITY,
	FUNC_OPAQUE,
	FUNC_FLOAT,
	FUNC_RELATION
} Func;

static const struct {
	const char *name;
	Func func;
} funcs[] = {
#define EXPRFUNC(text, op) {text, FUNC_##op},
#include "exprfuncs.def"
#undef EXPRFUNC
};

typedef enum Op {
	OP_OPEN,
	OP_CALL,
	OP_RELATION, /* < <= == != >= > & | */
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_FLOORDIV,
	OP_MOD,
	OP_NEG,
	OP_NOT,
	OP_POW
} Op;

static const uint8_t precedence[] = {
	[OP_RELATION] = 1, [OP_ADD] = 2, [OP_SUB] = 2, [OP_MUL] = 3, [OP_DIV] = 3,
	[OP_FLOORDIV] = 3, [OP_MOD] = 3, [OP_NEG] = 4, [OP_NOT] = 4, [OP_POW] = 5,
};

typedef struct Pending {
	uint8_t op, func; /* Op; Func of OP_CALL */
	uint32_t args; /* arguments of OP_CALL that are complete */
} Pending;

typedef struct Reader {
	Types *t;
	Str s;
	uint32_t at;
	bool unknown; /* well formed so far, but without a value */
	bool floating, relation;
	uint32_t nval, nop;
	Poly val[OPERANDS];
	Pending op[OPERATORS];
} Reader;

static bool push_op(Reader *r, Op op, Func func)
{
	if (r->nop == OPERATORS)
		return false;
	r->op[r->nop++] = (Pending){(uint8_t)op, (uint8_t)func, 0};
	return true;
}

/* The result of an operation: when it has none, the expression is unknown from here on. */
static void settle(Reader *r, Poly *p, bool known)
{
	if (known && !r->unknown)
		return;
	r->unknown = true;
	poly_int(p, 0);
}

static bool apply_pow(Reader *r, Poly *a, const Poly *b)
{
	int64_t n;
	return poly_value(b, &n) && n >= 0 && n <= UINT32_MAX && poly_pow(r->t, a, (uint32_t)n, a);
}

static bool binary_value(Reader *r, Op op, Poly *a, const Poly *b)
{
	switch (op) {
	case OP_ADD: return poly_add(a, b, 1);
	case OP_SUB: return poly_add(a, b, -1);
	case OP_MUL: return poly_mul(r->t, a, b, a);
	case OP_DIV: return poly_div_exact(r->t, a, b, a);
	case OP_FLOORDIV: return poly_floordiv(r->t, a, b, a);
	case OP_MOD: return poly_mod(r->t, a, b, a);
	case OP_POW: return apply_pow(r, a, b);
	default: return false;
	}
}

static bool apply_binary(Reader *r, Op op)
{
	if (r->nval < 2)
		return false;
	r->nval--;
	Poly *a = &r->val[r->nval - 1];
	settle(r, a, !r->unknown && binary_value(r, op, a, a + 1));
	return true;
}

static bool negate(Poly *p)
{
	Poly zero = {.n = 0};
	if (!poly_add(&zero, p, -1))
		return false;
	poly_copy(p, &zero);
	return true;
}

/* Applies the operators on top that bind at least as strongly as `least`. */
static bool reduce(Reader *r, uint8_t least)
{
	while (r->nop) {
		Op op = (Op)r->op[r->nop - 1].op;
		if (op <= OP_CALL || precedence[op] < least)
			break;
		r->nop--;
		if (op != OP_NEG && op != OP_NOT) {
			if (!apply_binary(r, op))
				return false;
			continue;
		}
		if (!r->nval)
			return false;
		settle(r, &r->val[r->nval - 1], op == OP_NEG && negate(&r->val[r->nval - 1]));
	}
	return true;
}

/* An argument of a call is complete: Max and Min of many are taken two at a time, others unknown
 * dropped. */
static void end_argument(Reader *r)
{
	Pending *p = &r->op[r->nop - 1];
	bool fold = p->func == FUNC_MAX || p->func == FUNC_MIN;
	if (++p->args < 2 || (!fold && p->func < FUNC_OPAQUE))
		return;
	p->args--;
	r->nval--;
	Poly *a = &r->val[r->nval - 1];
	settle(r, a, fold && !r->unknown && poly_extreme(r->t, a, a + 1, p->func == FUNC_MAX, a));
}

static bool call_value(Reader *r, Func f, Poly *a)
{
	switch (f) {
	case FUNC_FLOORDIV: return poly_floordiv(r->t, a, a + 1, a);
	case FUNC_CEILDIV: /* (a + b - 1) // b, as the printers write it themselves */
		return poly_add(a, a + 1, 1) && poly_add_term(a, -1, MONO_ONE) &&
		       poly_floordiv(r->t, a, a + 1, a);
	case FUNC_MOD: return poly_mod(r->t, a, a + 1, a);
	case FUNC_MODULAR: return poly_floordiv(r->t, a, a + 1, a) && poly_mod(r->t, a, a + 2, a);
	case FUNC_MAX:
	case FUNC_MIN:
	case FUNC_IDENTITY: return true;
	default: return false;
	}
}

static bool apply_call(Reader *r, Pending p)
{
	static const uint8_t wants[] = {
		[FUNC_NONE] = 1,   [FUNC_FLOORDIV] = 2, [FUNC_CEILDIV] = 2,  [FUNC_MOD] = 2,
		[FUNC_MAX] = 1,    [FUNC_MIN] = 1,      [FUNC_MODULAR] = 3,  [FUNC_IDENTITY] = 1,
		[FUNC_OPAQUE] = 1, [FUNC_FLOAT] = 1,    [FUNC_RELATION] = 1,
	};
	if (p.args != wants[p.func] || r->nval < p.args)
		return false;
	Poly *a = &r->val[r->nval - p.args];
	r->nval -= p.args - 1;
	settle(r, a, !r->unknown && call_value(r, (Func)p.func, a));
	return true;
}

static bool close_bracket(Reader *r)
{
	if (!reduce(r, 0) || !r->nop)
		return false;
	if (r->op[r->nop - 1].op == OP_CALL) {
		end_argument(r);
		r->nop--;
		return apply_call(r, r->op[r->nop]);
	}
	r->nop--;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* f0, zf1, zuf2 are floating symbols: no sizes. */
static bool is_float_symbol(Str s)
{
	Str digits = str_starts(s, S("zuf"))  ? str_sub(s, 3, s.n)
	             : str_starts(s, S("zf")) ? str_sub(s, 2, s.n)
	             : str_starts(s, S("f"))  ? str_sub(s, 1, s.n)
	                                      : (Str){0};
	for (uint32_t i = 0; i < digits.n; i++)
		if (!is_digit(digits.p[i]))
			return false;
	return digits.n > 0;
}

/* Takes NAME(...) as it stands, without blanks. */
static bool read_opaque(Reader *r, uint32_t from)
{
	char text[ATOM_TEXT];
	uint32_t n = 0, depth = 0, i = from;
	for (; i < r->s.n; i++) {
		char c = r->s.p[i];
		if (c == ' ')
			continue;
		if (n == ATOM_TEXT || !(char_is_ident((unsigned char)c) || (c && strchr("+-*/.,()", c))))
			return false;
		text[n++] = c;
		if (c == '(')
			depth++;
		else if (c == ')' && --depth == 0)
			break;
	}
	if (i == r->s.n || r->nval == OPERANDS)
		return false;
	r->at = i + 1;
	Poly *p = &r->val[r->nval++];
	settle(r, p, poly_opaque(r->t, (Str){text, n}, p));
	return true;
}

static bool read_symbol(Reader *r, Str name)
{
	bool truth = str_eq(name, S("True")) || str_eq(name, S("False"));
	if (r->nval == OPERANDS)
		return false;
	Poly *p = &r->val[r->nval++];
	r->relation |= truth;
	r->floating |= is_float_symbol(name);
	settle(r, p, !truth && !is_float_symbol(name) && poly_symbol(r->t, name, p));
	return true;
}

static Func find_func(Str name)
{
	for (size_t i = 0; i < sizeof funcs / sizeof *funcs; i++)
		if (str_eq(name, str_from_c(funcs[i].name)))
			return funcs[i].func;
	return FUNC_NONE;
}

/* A name: a symbol, or the beginning of a call (then an operand is still to come: *more). */
static bool read_name(Reader *r, bool *more)
{
	uint32_t from = r->at;
	while (r->at < r->s.n && char_is_ident((unsigned char)r->s.p[r->at]))
		r->at++;
	Str name = str_sub(r->s, from, r->at);
	*more = r->at < r->s.n && r->s.p[r->at] == '(';
	if (!*more)
		return read_symbol(r, name);
	Func f = find_func(name);
	if (f == FUNC_OPAQUE) {
		*more = false;
		return read_opaque(r, from);
	}
	r->at++;
	r->floating |= f == FUNC_FLOAT;
	r->relation |= f == FUNC_RELATION;
	return push_op(r, OP_CALL, f);
}

/* Digits; with a point or an exponent a floating number. */
static bool read_number(Reader *r)
{
	uint32_t from = r->at;
	bool floating = false;
	int64_t v;
	for (; r->at < r->s.n; r->at++) {
		char c = r->s.p[r->at];
		if (c == '.' || c == 'e')
			floating = true;
		else if (!is_digit(c) && !((c == '-' || c == '+') && r->s.p[r->at - 1] == 'e'))
			break;
	}
	if (r->nval == OPERANDS || (r->at < r->s.n && char_is_ident((unsigned char)r->s.p[r->at])))
		return false;
	Poly *p = &r->val[r->nval++];
	r->floating |= floating;
	settle(r, p, !floating && str_to_i64(str_sub(r->s, from, r->at), &v));
	if (!r->unknown)
		poly_int(p, v);
	return true;
}

/* Where an operand is due: a sign, bracket, number or name. *more: an operand is still due. */
static bool read_operand(Reader *r, bool *more)
{
	char c = r->s.p[r->at];
	*more = true;
	if (c == '-' || c == '+') {
		r->at++;
		return c == '+' || push_op(r, OP_NEG, FUNC_NONE);
	}
	if (c == '~') {
		r->at++;
		r->relation = true;
		return push_op(r, OP_NOT, FUNC_NONE);
	}
	if (c == '(') {
		r->at++;
		return push_op(r, OP_OPEN, FUNC_NONE);
	}
	if (is_digit(c)) {
		*more = false;
		return read_number(r);
	}
	return char_is_ident((unsigned char)c) && read_name(r, more);
}

/* Where an operator is due. *more: an operand is due after it. */
static bool read_operator(Reader *r, bool *more)
{
	char c = r->s.p[r->at++], next = r->at < r->s.n ? r->s.p[r->at] : ' ';
	Op op;
	*more = true;
	switch (c) {
	case ')': *more = false; return close_bracket(r);
	case ',':
		if (!reduce(r, 0) || !r->nop || r->op[r->nop - 1].op != OP_CALL)
			return false;
		end_argument(r);
		return true;
	case '+': op = OP_ADD; break;
	case '-': op = OP_SUB; break;
	case '%': op = OP_MOD; break;
	case '*': op = next == c ? OP_POW : OP_MUL; break;
	case '/': op = next == c ? OP_FLOORDIV : OP_DIV; break;
	case '=':
	case '!':
		if (next != '=')
			return false;
		op = OP_RELATION;
		break;
	case '<':
	case '>':
	case '&':
	case '|': op = OP_RELATION; break;
	default: return false;
	}
	if (op == OP_POW || op == OP_FLOORDIV || (op == OP_RELATION && next == '='))
		r->at++;
	r->relation |= op == OP_RELATION;
	/* ** is right associative and binds more strongly than a sign on its left */
	return reduce(r, precedence[op] + (op == OP_POW)) && push_op(r, op, FUNC_NONE);
}

bool expr_read(Types *t, Str s, ExprId *out, DType *number)
{
	Reader r;
	bool more = true;
	r.t = t;
	r.s = s = str_trim(s);
	r.at = r.nval = r.nop = 0;
	r.unknown = r.floating = r.relation = false;
	while (r.at < s.n) {
		if (s.p[r.at] == ' ')
			r.at++;
		else if (more ? !read_operand(&r, &more) : !read_operator(&r, &more))
			return false;
	}
	if (more || !reduce(&r, 0) || r.nop || r.nval != 1)
		return false;
	*out = r.unknown ? (ExprId){0} : poly_intern(t, &r.val[0]);
	*number = r.relation ? DT_B8 : r.floating ? DT_F64 : DT_I64;
	return true;
}

ExprId expr_parse(Types *t, Str s)
{
	ExprId e;
	DType number;
	int64_t v;
	if (str_to_i64(s, &v))
		return expr_int(t, v);
	return expr_read(t, s, &e, &number) ? e : (ExprId){0};
}
