/* SPDX-License-Identifier: MIT
 * machine_op: attributes, items, operators, containers, imports: all asked of the host. */
#include "machine_priv.h"

/* ---- attributes ---- */

/* A callable and the empty place of its self, in the order of the version. */
static void push_callable(Machine *m, Value v, bool null_first)
{
	if (null_first)
		machine_push(m, VALUE_NULL);
	machine_push_answer(m, v);
	if (!null_first)
		machine_push(m, VALUE_NULL);
}

void machine_attr(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	Value v = ASK(m, get_attr, in[0], i->name);
	if (i->row->k || i->null != NULL_NONE)
		push_callable(m, v, m->code->python < 313);
	else
		machine_push_answer(m, v);
}

void machine_store_attr(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	TELL(m, set_attr, in[1], i->name, in[0]);
}

void machine_delete_attr(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	TELL(m, set_attr, in[0], i->name, VALUE_NULL);
}

void machine_super_attr(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	Value v = ASK(m, super_attr, in[0], in[1], in[2], i->name);
	if (i->null != NULL_NONE)
		push_callable(m, v, m->code->python < 313);
	else
		machine_push_answer(m, v);
}

void machine_special(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	push_callable(m, ASK(m, get_attr, in[0], i->name), false);
}

/* ---- operators ---- */

void machine_unary(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	machine_push_answer(m, ASK(m, unary, i->row->text, in[0]));
}

void machine_binary(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	machine_push_answer(m, ASK(m, binary, i->row->text, in[0], in[1]));
}

void machine_binary_op(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	if (str_eq(ins_repr(m->code, i), S("[]"))) /* 3.14 */
		machine_getitem(m, i, in, n);
	else if (i->repr.i)
		machine_push_answer(m, ASK(m, binary, ins_repr(m->code, i), in[0], in[1]));
	else
		machine_give_up(m, S("the listing does not show which operator this is"));
}

/* "(>)"; 3.13 and later also "(bool(>))". */
static Str comparison(Str s)
{
	static const Str with_bool = STR_INIT("bool(");
	if (str_starts(s, with_bool) && str_ends(s, S(")")))
		return str_sub(s, with_bool.n, s.n - 1);
	return s;
}

void machine_compare(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	if (i->repr.i)
		machine_push_answer(m, ASK(m, compare, comparison(ins_repr(m->code, i)), in[0], in[1]));
	else
		machine_give_up(m, S("the listing does not show which comparison this is"));
}

void machine_identity(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	static const Str ops[] = {STR_INIT("is"), STR_INIT("is not"), STR_INIT("in"),
	                          STR_INIT("not in")};
	(void)n;
	machine_push_answer(m, ASK(m, compare, ops[i->row->k + (i->arg != 0)], in[0], in[1]));
}

void machine_exc_match(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	Value v = ASK(m, compare, S("exception match"), in[0], in[1]);
	m->sp++;
	machine_push_answer(m, v);
}

/* k: the values taken stay, results go on top of them. */
void machine_opaque(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	uint32_t results = i->row->push - (i->row->k ? n : 0);
	Value out[4] = {0};
	for (uint32_t k = 0; k < results && k < 4; k++)
		out[k] = ASK(m, opaque, i->row->text, in, n, k);
	if (i->row->k)
		m->sp += n;
	for (uint32_t k = 0; k < results && k < 4; k++)
		machine_push_answer(m, out[k]);
}

void machine_peek(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	Value v = ASK(m, opaque, i->row->text, in, n, 0);
	m->sp += n;
	machine_push_answer(m, v);
}

/* ---- items ---- */

void machine_getitem(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	machine_push_answer(m, ASK(m, get_item, in[0], in[1]));
}

void machine_setitem(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	TELL(m, set_item, in[1], in[2], in[0]);
}

void machine_delitem(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	TELL(m, set_item, in[0], in[1], VALUE_NULL);
}

void machine_getslice(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	Value slice = ASK(m, build, BUILD_SLICE, in + 1, 2);
	if (!m->gave_up && !m->raising)
		machine_push_answer(m, ASK(m, get_item, in[0], slice));
}

void machine_setslice(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	Value slice = ASK(m, build, BUILD_SLICE, in + 2, 2);
	if (!m->gave_up && !m->raising)
		TELL(m, set_item, in[1], slice, in[0]);
}

/* ---- containers ---- */

/* Up to 3.9 there is no instruction that rotates more than four values: Dynamo makes a tuple of them, has a function of
 * its own put them in order, and unpacks what it gives (PyCodegen.rot_n, rot_n_helper, PyTorch 2.0 to 2.15). */
static bool is_rotation(const Code *c, uint32_t at, uint32_t n)
{
	static const Op ops[] = {OP_LOAD_CONST, OP_ROT_TWO, OP_CALL_FUNCTION_EX, OP_UNPACK_SEQUENCE};
	enum { OPS = sizeof ops / sizeof *ops };
	const Ins *i = &c->ins[at + 1];
	if (at + OPS >= c->n || n < 2)
		return false;
	for (uint32_t k = 0; k < OPS; k++)
		if (i[k].row->op != ops[k])
			return false;
	Str called = ins_repr(c, &i[0]);
	bool helper = str_starts(called, S("<function <lambda> at ")) || str_starts(called, S("<function rot_"));
	return helper && !i[2].arg && i[3].arg == n;
}

void machine_build(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	if (i->row->k == BUILD_TUPLE && is_rotation(m->code, m->at, n)) {
		Value top = in[n - 1];
		memmove(in + 1, in, (n - 1) * sizeof *in);
		in[0] = top;
		m->sp += n;
		m->pc += 4;
		return;
	}
	machine_push_answer(m, ASK(m, build, (BuildKind)i->row->k, in, n));
}

void machine_build_unpack(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	machine_push_answer(m, ASK(m, build_joined, (BuildKind)i->row->k, in, n));
}

void machine_const_key_map(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i;
	machine_push_answer(m, ASK(m, build_keyed, in[n - 1], in, n - 1));
}

void machine_add(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	if (!i->arg) {
		machine_give_up(m, S("a container that is not on the stack"));
		return;
	}
	Value container = m->stack[m->sp - i->arg];
	if (container == VALUE_NULL || machine_is_mark(container))
		machine_no_answer(m);
	else
		TELL(m, add, (AddKind)i->row->k, container, in[0], n > 1 ? in[1] : VALUE_NULL);
}

void machine_to_tuple(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	machine_push_answer(m, ASK(m, to_tuple, in[0]));
}

void machine_intrinsic(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	enum { INTRINSIC_LIST_TO_TUPLE = 6 }; /* Include/internal/pycore_intrinsics.h, 3.12 to 3.14 */
	if (i->row->k == 1 && i->arg == INTRINSIC_LIST_TO_TUPLE)
		machine_to_tuple(m, i, in, n);
	else
		machine_push_answer(m, ASK(m, intrinsic, i->arg, in[0], n > 1 ? in[1] : VALUE_NULL));
}

/* The host's elements lie on the stack in their order; the first belongs on top. */
static void unpack(Machine *m, Value seq, uint32_t n, int32_t after)
{
	Value *out = m->stack + m->sp;
	for (uint32_t k = 0; k < n; k++)
		out[k] = VALUE_NULL;
	TELL(m, unpack, seq, n, after, out);
	if (m->gave_up || m->raising)
		return;
	for (uint32_t k = 0; k < n; k++)
		if (out[k] == VALUE_NULL || machine_is_mark(out[k])) {
			machine_no_answer(m);
			return;
		}
	for (uint32_t k = 0; k < n / 2; k++) {
		Value t = out[k];
		out[k] = out[n - 1 - k];
		out[n - 1 - k] = t;
	}
	m->sp += n;
}

void machine_unpack(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	unpack(m, in[0], i->arg, -1);
}

void machine_unpack_ex(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	unpack(m, in[0], (i->arg & 255) + 1 + (i->arg >> 8), (int32_t)(i->arg >> 8));
}

void machine_format(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	uint32_t conversion = i->row->k == 1 ? i->arg & 3 : 0;
	machine_push_answer(m, ASK(m, format, in[0], conversion, n > 1 ? in[1] : VALUE_NULL));
}

void machine_convert(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	machine_push_answer(m, ASK(m, format, in[0], i->arg, VALUE_NULL));
}

/* ---- imports ---- */

void machine_import(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	machine_push_answer(m, ASK(m, import_name, i->name, in[0], in[1]));
}

void machine_import_from(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	Value v = ASK(m, import_from, in[0], i->name);
	m->sp++;
	machine_push_answer(m, v);
}
