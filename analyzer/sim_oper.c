/* SPDX-License-Identifier: MIT
 * sim_oper: operators, comparisons, truth, formatting. */
#include "sim_host.h"

/* ---- names of operators ---- */

/* "+" of arity 2 is "add"; empty: none. */
static Str operator_name(Str token, uint32_t arity)
{
	static const struct {
		Str token, name;
		uint32_t arity;
	} rows[] = {
#define PY_OPERATOR(token, name, arity) {STR_INIT(token), STR_INIT(name), arity},
#include "py_operators.def"
#undef PY_OPERATOR
	};
	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].arity == arity && str_eq(rows[i].token, token))
			return rows[i].name;
	return (Str){0};
}

static bool is_parent(Str cls, Str of, bool *known)
{
	static const struct {
		Str name, parent;
	} rows[] = {
#define EXCEPTION(name, parent) {STR_INIT(name), STR_INIT(parent)},
#include "exceptions.def"
#undef EXCEPTION
	};
	*known = false;
	for (uint32_t guard = 0; guard < 8; guard++) {
		if (str_eq(of, cls))
			return *known = true;
		uint32_t i = 0;
		while (i < sizeof rows / sizeof *rows && !str_eq(rows[i].name, of))
			i++;
		if (i == sizeof rows / sizeof *rows)
			return false;
		*known = true;
		of = rows[i].parent;
	}
	return false;
}

/* ---- truth ---- */

Ref host_as_number(Sim *s, Ref r)
{
	if (sim_is_tensor(s, r))
		r = sim_item(s, r);
	return r && host_kind(s, r) == HK_NUMBER ? r : 0;
}

static Tri number_truth(Sim *s, Ref r)
{
	const Term *t = term_get(s->terms, sim_obj(s, r)->term);
	if (t->kind == TERM_NUM)
		return t->num != 0 ? TRI_MUST : TRI_NO;
	return t->kind == TERM_TEXT ? TRI_MUST : TRI_MAY;
}

static Tri name_truth(Sim *s, Ref r)
{
	Str t = host_name(s, r);
	return host_is_module(t) || host_is_class(t) || host_has_frame(s, sim_obj(s, r)->name) ? TRI_MUST : TRI_MAY;
}

Tri host_truth(Sim *s, Ref r)
{
	const HeapObj *o = sim_obj(s, r);
	int64_t n;
	Str t;
	switch ((HeapKind)o->kind) {
	case HK_NUMBER: return number_truth(s, r);
	case HK_TENSOR: {
		Ref item = host_as_number(s, r);
		return item ? number_truth(s, item) : TRI_MAY;
	}
	case HK_CONST:
		if (host_is_none(s, r) || str_eq(host_name(s, r), S("b''")))
			return TRI_NO;
		return host_text(s, r, &t) && !t.n ? TRI_NO : TRI_MUST;
	case HK_LIST:
	case HK_TUPLE:
	case HK_SET:
	case HK_DICT: return o->items.n ? TRI_MUST : o->opened ? TRI_MAY : TRI_NO;
	case HK_RANGE:
		n = host_range_count(s, r);
		return n < 0 ? TRI_MAY : n ? TRI_MUST : TRI_NO;
	case HK_UNKNOWN: return TRI_MAY;
	case HK_NAME: return name_truth(s, r);
	default: return TRI_MUST;
	}
}

/* A condition that nothing decides, as a value: equal operands, equal value. */
static Ref undecided(Sim *s, Str op, Ref x, Ref y)
{
	TermId t[2] = {host_term(s, x), host_term(s, y)};
	return sim_number(s, term_op(s->terms, host_sym(s, op), t, 2, 0));
}

static Ref answer(Sim *s, Tri t, bool negate, Str op, Ref x, Ref y)
{
	if (t == TRI_MAY) {
		Ref r = undecided(s, op, x, y);
		return negate ? host_number_op(s, S("logical_not"), &r, 1) : r;
	}
	return sim_bool(s, (t == TRI_MUST) != negate);
}

/* ---- unary ---- */

Ref host_unary(Sim *s, Machine *m, Str op, Ref x)
{
	(void)m;
	if (str_eq(op, S("not")) || str_eq(op, S("to_bool"))) {
		Tri t = host_truth(s, x);
		bool negate = str_eq(op, S("not"));
		if (t != TRI_MAY)
			return sim_bool(s, (t == TRI_MUST) != negate);
		Ref n = host_as_number(s, x);
		if (!negate)
			return n ? n : x;
		TermId term = n ? sim_obj(s, n)->term : host_term(s, x);
		return sim_number(s, term_op(s->terms, host_sym(s, S("logical_not")), &term, 1, 0));
	}
	if (host_kind(s, x) == HK_NAME)
		host_promote(s, x);
	Str name = operator_name(op, 1);
	int64_t v;
	if (sim_is_tensor(s, x))
		return host_op(s, CALLEE_OPERATOR, name, &x, 1);
	if (host_is_number(s, x)) {
		if (str_eq(op, S("+")))
			return x;
		if (str_eq(op, S("~")) && host_int(s, x, &v))
			return sim_int(s, ~v);
		return host_number_op(s, str_eq(op, S("~")) ? S("bitwise_not") : name, &x, 1);
	}
	if (host_kind(s, x) == HK_UNKNOWN) {
		if (sim_obj(s, x)->known)
			return host_opaque(s, term_op(s->terms, host_sym(s, name), (TermId[]){sim_obj(s, x)->term}, 1, 0));
		if (host_may_be_tensor(s, x)) {
			host_become_tensor(s, x);
			return host_op(s, CALLEE_OPERATOR, name, &x, 1);
		}
	}
	return host_hidden(s, op, &x, 1);
}

/* ---- binary ---- */

static Ref text_binary(Sim *s, Str op, Ref x, Ref y)
{
	Str a, b;
	int64_t n;
	if (str_eq(op, S("add")) && host_text(s, x, &a) && host_text(s, y, &b) && a.n + b.n < HOST_TEXT_MOST)
		return host_string(s, str_printf(s->scratch, STR_FMT STR_FMT, STR_ARG(a), STR_ARG(b)));
	if (str_eq(op, S("mul")) && host_text(s, x, &a) && host_int(s, y, &n) && n <= HOST_TEXT_MOST &&
	    n * (int64_t)a.n < HOST_TEXT_MOST) {
		Buf text = {.a = s->scratch};
		for (int64_t i = 0; i < n; i++)
			buf_add(&text, a);
		return host_string(s, buf_str(&text));
	}
	TermId t[2] = {host_term(s, x), host_term(s, y)};
	return host_opaque(s, term_op(s->terms, host_sym(s, str_eq(op, S("mod")) ? S("format") : op), t, 2, 0));
}

static bool is_text(Sim *s, Ref r)
{
	Str t;
	return host_text(s, r, &t);
}

static Ref repeat(Sim *s, Ref list, int64_t times)
{
	HeapObj o = *sim_obj(s, list);
	RefList v = {.a = s->scratch};
	if (times > 0 && o.items.n && times > (int64_t)(HOST_ITEMS_MOST / o.items.n)) {
		sim_stop(s, S("a container with too many items"));
		return list;
	}
	for (int64_t k = 0; o.items.n && k < times; k++)
		for (uint32_t i = 0; i < o.items.n; i++)
			VEC_PUSH(v.a, &v.v, o.items.v[i]);
	return sim_list(s, (HeapKind)o.kind, v.v.v, v.v.n);
}

/* 0: not an operation of lists and tuples that is known. */
static Ref list_binary(Sim *s, Machine *m, Str op, bool inplace, Ref x, Ref y)
{
	int64_t n;
	if (inplace && str_eq(op, S("add")) && host_kind(s, x) == HK_LIST) {
		host_extend(s, m, x, y);
		return x;
	}
	if (str_eq(op, S("add")) && host_is_sequence(s, x) && host_is_sequence(s, y) && host_kind(s, x) == host_kind(s, y)) {
		HeapObj p = *sim_obj(s, x), q = *sim_obj(s, y);
		if (p.items.n + q.items.n > HOST_ITEMS_MOST) {
			sim_stop(s, S("a container with too many items"));
			return x;
		}
		Ref r = sim_list(s, (HeapKind)p.kind, p.items.v, p.items.n);
		for (uint32_t i = 0; i < q.items.n; i++)
			VEC_PUSH(s->a, &sim_obj(s, r)->items, q.items.v[i]);
		return r;
	}
	if (str_eq(op, S("mul")) && host_is_sequence(s, x) && host_int(s, y, &n) && !inplace)
		return repeat(s, x, n);
	if (str_eq(op, S("mul")) && host_is_sequence(s, y) && host_int(s, x, &n))
		return repeat(s, y, n);
	return 0;
}

static Ref dict_binary(Sim *s, Machine *m, Str op, bool inplace, Ref x, Ref y)
{
	if (!str_eq(op, S("or_")) || host_kind(s, x) != HK_DICT || host_kind(s, y) != HK_DICT)
		return 0;
	HeapObj p = *sim_obj(s, x);
	if (!inplace && (p.opened || sim_obj(s, y)->opened))
		return 0;
	Ref r = inplace ? x : sim_list(s, HK_DICT, p.items.v, p.items.n);
	host_dict_update(s, m, r, y);
	return r;
}

/* One of the two is a value of which nothing is known, and none is a tensor. */
static Ref unknown_binary(Sim *s, Str name, bool inplace, Ref x, Ref y)
{
	HeapObj p = *sim_obj(s, x), q = *sim_obj(s, y);
	bool plain = (p.known || p.kind == HK_NUMBER) && (q.known || q.kind == HK_NUMBER);
	bool values = (p.kind == HK_UNKNOWN || p.kind == HK_NUMBER) && (q.kind == HK_UNKNOWN || q.kind == HK_NUMBER);
	if (!values || (inplace && p.kind == HK_UNKNOWN && !p.known))
		return host_hidden(s, name, (Ref[]){x, y}, 2);
	/* A number of the caller's, most likely; were it a tensor, nothing has changed its elements so far. */
	Ref r = host_opaque(s, term_op(s->terms, host_sym(s, name), (TermId[]){p.term, q.term}, 2, 0));
	sim_obj(s, r)->known = plain;
	return r;
}

Ref host_binary(Sim *s, Machine *m, Str op, Ref x, Ref y)
{
	bool inplace = op.n > 1 && op.p[op.n - 1] == '=';
	Str name = operator_name(inplace ? str_sub(op, 0, op.n - 1) : op, 2);
	if (!name.n)
		return host_give_up(m, S("an operator that Python does not have"));
	Ref two[2] = {x, y};
	for (uint32_t i = 0; i < 2; i++)
		if (host_kind(s, two[i]) == HK_NAME && !host_is_class(host_name(s, two[i])) && !host_is_module(host_name(s, two[i])))
			host_promote(s, two[i]);
	if (sim_is_tensor(s, x) || sim_is_tensor(s, y)) {
		Str stem = str_ends(name, S("_")) ? str_sub(name, 0, name.n - 1) : name;
		/* `%` of a text with a tensor formats it. */
		if (is_text(s, x))
			return text_binary(s, name, x, y);
		if (inplace && host_kind(s, x) == HK_UNKNOWN && host_may_be_tensor(s, x))
			host_become_tensor(s, x);
		if (inplace && sim_is_tensor(s, x))
			name = sym_str(s->names, host_sym(s, str_printf(s->scratch, "i" STR_FMT, STR_ARG(stem))));
		return host_op(s, CALLEE_OPERATOR, name, two, 2);
	}
	if (host_is_number(s, x) && host_is_number(s, y))
		return host_arith(s, m, name, x, y);
	if (is_text(s, x) || is_text(s, y))
		return text_binary(s, name, x, y);
	Ref r = list_binary(s, m, name, inplace, x, y);
	if (!r)
		r = dict_binary(s, m, name, inplace, x, y);
	return r ? r : unknown_binary(s, name, inplace, x, y);
}

/* ---- comparisons ---- */

static Tri identical(Sim *s, Ref x, Ref y)
{
	if (x == y)
		return TRI_MUST;
	HeapKind a = host_kind(s, x), b = host_kind(s, y);
	if (a == HK_UNKNOWN || b == HK_UNKNOWN)
		return TRI_MAY;
	if (a == HK_NAME && b == HK_NAME)
		return host_equal(s, x, y);
	if (a == HK_NAME || b == HK_NAME)
		return name_truth(s, a == HK_NAME ? x : y) == TRI_MUST ? TRI_NO : TRI_MAY;
	if (a == HK_NUMBER && b == HK_NUMBER)
		return host_equal(s, x, y);
	return TRI_NO;
}

static Tri contains(Sim *s, Ref x, Ref y)
{
	HeapObj o = *sim_obj(s, y);
	Str a, b;
	int64_t v, start;
	if (host_text(s, x, &a) && host_text(s, y, &b))
		return str_has(b, a) ? TRI_MUST : TRI_NO;
	if (o.kind == HK_RANGE && host_int(s, x, &v) && host_int(s, o.items.v[0], &start) && host_range_count(s, y) >= 0) {
		int64_t step = sim_obj(s, o.items.v[2])->num, k = (v - start) / step;
		return (v - start) % step == 0 && k >= 0 && k < host_range_count(s, y) ? TRI_MUST : TRI_NO;
	}
	if (o.kind != HK_LIST && o.kind != HK_TUPLE && o.kind != HK_SET && o.kind != HK_DICT)
		return TRI_MAY;
	Tri any = o.opened ? TRI_MAY : TRI_NO;
	host_charge(s, 4 * (uint64_t)o.items.n);
	for (uint32_t i = 0; i < o.items.n && any != TRI_MUST; i += o.kind == HK_DICT ? 2 : 1) {
		Tri same = host_equal(s, o.items.v[i], x);
		/* == of a tensor gives a tensor. */
		if (same == TRI_NO && o.kind != HK_DICT && o.kind != HK_SET &&
		    (sim_is_tensor(s, x) || sim_is_tensor(s, o.items.v[i])))
			same = TRI_MAY;
		any = tri_or(any, same);
	}
	return any;
}

/* One class; a class of the program itself is known by its name alone. */
static Tri matches(Sim *s, Ref exception, Ref cls)
{
	HeapObj e = *sim_obj(s, exception), c = *sim_obj(s, cls);
	if (e.kind != HK_EXCEPTION || (c.kind != HK_NAME && c.kind != HK_UNKNOWN) || sym_none(c.name) || sym_none(e.name))
		return TRI_MAY;
	bool known, known_cls;
	if (sym_eq(e.name, c.name) || is_parent(sym_str(s->names, c.name), sym_str(s->names, e.name), &known))
		return TRI_MUST;
	is_parent(S("BaseException"), sym_str(s->names, c.name), &known_cls);
	if (known)
		return TRI_NO;
	Str name = sym_str(s->names, c.name);
	return str_eq(name, S("Exception")) || str_eq(name, S("BaseException")) ? TRI_MUST : TRI_MAY;
}

static Ref exception_match(Sim *s, Ref x, Ref y)
{
	HeapObj o = *sim_obj(s, y);
	bool many = o.kind == HK_TUPLE;
	Tri any = TRI_NO;
	for (uint32_t i = 0; i < (many ? o.items.n : 1); i++)
		any = tri_or(any, matches(s, x, many ? o.items.v[i] : y));
	return answer(s, any, false, S("isinstance"), x, y);
}

static Ref tensor_compare(Sim *s, Str op, Ref x, Ref y)
{
	bool equality = str_eq(op, S("eq")) || str_eq(op, S("ne"));
	if (equality && (host_kind(s, x) == HK_CONST || host_kind(s, y) == HK_CONST))
		return sim_bool(s, str_eq(op, S("ne")));
	return host_op(s, CALLEE_OPERATOR, op, (Ref[]){x, y}, 2);
}

static Ref order(Sim *s, Str op, Ref x, Ref y)
{
	Str a, b;
	bool equality = str_eq(op, S("eq")) || str_eq(op, S("ne"));
	if (host_is_number(s, x) && host_is_number(s, y)) {
		int64_t i, j;
		if (host_int(s, x, &i) && host_int(s, y, &j) && equality)
			return sim_bool(s, (i == j) == str_eq(op, S("eq")));
		return host_number_op(s, op, (Ref[]){x, y}, 2);
	}
	if (equality)
		return answer(s, host_equal(s, x, y), str_eq(op, S("ne")), S("eq"), x, y);
	if (host_text(s, x, &a) && host_text(s, y, &b)) {
		int c = str_cmp(a, b);
		bool less = str_eq(op, S("lt")) || str_eq(op, S("le")), with = str_eq(op, S("le")) || str_eq(op, S("ge"));
		return sim_bool(s, (c == 0 && with) || (less ? c < 0 : c > 0));
	}
	return undecided(s, op, x, y);
}

Ref host_compare(Sim *s, Machine *m, Str op, Ref x, Ref y)
{
	bool negate = str_eq(op, S("is not")) || str_eq(op, S("not in"));
	if (str_eq(op, S("is")) || str_eq(op, S("is not")))
		return answer(s, identical(s, x, y), negate, S("is"), x, y);
	if (str_eq(op, S("exception match")))
		return exception_match(s, x, y);
	for (uint32_t i = 0; i < 2; i++) {
		Ref r = i ? y : x;
		if (host_kind(s, r) == HK_NAME && !host_is_module(host_name(s, r)) && name_truth(s, r) == TRI_MAY)
			host_promote(s, r);
	}
	if (str_eq(op, S("in")) || str_eq(op, S("not in"))) {
		if (sim_is_tensor(s, y)) {
			Ref same = host_op(s, CALLEE_OPERATOR, S("eq"), (Ref[]){y, x}, 2);
			Ref any = host_op(s, CALLEE_METHOD, S("any"), &same, 1);
			Ref n = host_as_number(s, any);
			return n && negate ? host_number_op(s, S("logical_not"), &n, 1) : n ? n : any;
		}
		return answer(s, contains(s, x, y), negate, S("contains"), x, y);
	}
	Str name = operator_name(op, 2);
	if (!name.n)
		return host_give_up(m, S("a comparison that Python does not have"));
	if (sim_is_tensor(s, x) || sim_is_tensor(s, y))
		return tensor_compare(s, name, x, y);
	return order(s, name, x, y);
}

/* ---- formatting ---- */

Ref host_format(Sim *s, Machine *m, Ref v, uint32_t conversion, Ref spec)
{
	(void)m;
	Str text;
	int64_t n;
	bool plain = !spec || (host_text(s, spec, &text) && !text.n);
	if (plain && host_text(s, v, &text) && conversion < 2)
		return v;
	if (plain && host_text(s, v, &text))
		return host_string(s, host_name(s, v));
	if (plain && host_kind(s, v) == HK_CONST)
		return host_string(s, host_name(s, v));
	if (plain && host_int(s, v, &n) && term_get(s->terms, sim_obj(s, v)->term)->cls == 'i')
		return host_string(s, str_printf(s->scratch, "%lld", (long long)n));
	/* A spec other than the empty one takes the number out of a tensor. */
	Ref item = spec && !plain && sim_is_tensor(s, v) ? host_as_number(s, v) : 0;
	TermId t[2] = {item ? sim_obj(s, item)->term : host_term(s, v), {0}};
	t[1] = plain ? term_num(s->terms, conversion, 'i') : host_term(s, spec);
	return host_opaque(s, term_op(s->terms, host_sym(s, S("format")), t, 2, 0));
}
