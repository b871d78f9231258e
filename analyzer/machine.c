/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include "machine_priv.h"

/* ---- state ---- */

void machine_init(Machine *m, const Code *code, const Host *host, void *ctx, Arena *a)
{
	*m = (Machine){.code = code, .host = host, .ctx = ctx, .a = a};
	m->vars = NEW_N(a, Value, code->nvars + 1);
	m->bound_cell = NEW_N(a, bool, code->nvars + 1);
}

bool machine_set_param(Machine *m, uint32_t index, Value v)
{
	uint32_t at = code_local(m->code, index);
	if (at == INS_NONE)
		return false;
	m->vars[at] = v;
	m->bound_cell[at] = false;
	return true;
}

bool machine_set_local(Machine *m, Sym name, Value v)
{
	uint32_t at = code_var(m->code, name);
	if (at == INS_NONE)
		return false;
	if (m->bound_cell[at])
		TELL(m, cell_set, m->vars[at], v);
	else
		m->vars[at] = v;
	return true;
}

static bool set_cell(Machine *m, uint32_t at, Value cell)
{
	if (at == INS_NONE || !m->code->vars[at].cell)
		return false;
	m->vars[at] = cell;
	m->bound_cell[at] = true;
	return true;
}

bool machine_set_cell(Machine *m, Sym name, Value cell)
{
	return set_cell(m, code_var(m->code, name), cell);
}

bool machine_set_free(Machine *m, uint32_t position, Value cell)
{
	const Code *c = m->code;
	uint32_t end = 0;
	for (uint32_t i = 0; i < c->nvars; i++)
		if (c->vars[i].index >= end)
			end = c->vars[i].index + 1;
	if (c->nfree > end || position >= c->nfree)
		return false;
	for (uint32_t i = 0; i < c->nvars; i++)
		if (c->vars[i].free && c->vars[i].index == end - c->nfree + position)
			return set_cell(m, i, cell);
	return false;
}

Value machine_var(const Machine *m, Sym name)
{
	uint32_t at = code_var(m->code, name);
	return at == INS_NONE ? VALUE_NULL : m->vars[at];
}

void machine_copy(Machine *to, const Machine *from, Arena *a)
{
	*to = *from;
	to->a = a;
	to->cap = from->sp + 16;
	to->stack = NEW_N(a, Value, to->cap);
	if (from->sp)
		memcpy(to->stack, from->stack, from->sp * sizeof *to->stack);
	to->vars = NEW_N(a, Value, from->code->nvars + 1);
	memcpy(to->vars, from->vars, from->code->nvars * sizeof *to->vars);
	to->bound_cell = NEW_N(a, bool, from->code->nvars + 1);
	memcpy(to->bound_cell, from->bound_cell, from->code->nvars * sizeof *to->bound_cell);
	to->blocks.v = NULL;
	to->blocks.n = to->blocks.cap = 0;
	for (uint32_t i = 0; i < from->blocks.n; i++)
		VEC_PUSH(a, &to->blocks, from->blocks.v[i]);
}

/* ---- what hosts say ---- */

void machine_raise(Machine *m, Value exception)
{
	m->raising = true;
	m->raise_value = exception;
}

void machine_give_up(Machine *m, Str why)
{
	m->gave_up = true;
	m->why = why;
}

Value machine_no_answer(Machine *m)
{
	machine_give_up(m, S("nobody knows what this instruction does here"));
	return VALUE_NULL;
}

void machine_push_answer(Machine *m, Value v)
{
	if (m->raising || m->gave_up)
		return;
	if (v == VALUE_NULL || machine_is_mark(v)) {
		machine_no_answer(m);
		return;
	}
	machine_push(m, v);
}

void machine_end(Machine *m, MachineStatus s, Value v, uint8_t pending)
{
	m->value = v;
	m->pending = (uint8_t)((pending) | (PENDING_STATUS * ((unsigned)s + 1)));
}

/* ---- stack ---- */

static bool make_room(Machine *m, uint64_t more)
{
	uint64_t need =
		m->sp + more + 8; /* handlers and with blocks push a few more than the table says */
	if (need > MACHINE_MAX_STACK) {
		machine_give_up(m, S("the stack is deeper than any frame needs"));
		return false;
	}
	while (m->cap < need)
		m->stack = vec_grow(m->a, m->stack, m->cap, &m->cap, sizeof *m->stack);
	return true;
}

static void act_pop(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)m, (void)i, (void)in, (void)n;
}

static void act_nil(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)in, (void)n;
	machine_push(m, VALUE_NULL);
}

static void act_copy(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	uint32_t deep = n ? i->row->k : i->arg;
	(void)in;
	m->sp += n;
	if (!deep) {
		machine_give_up(m, S("a copy of nothing"));
		return;
	}
	uint32_t from = m->sp - deep;
	for (uint32_t k = 0; k < (n ? deep : 1); k++)
		machine_push(m, m->stack[from + k]);
}

static void act_swap(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	if (!i->arg) {
		machine_give_up(m, S("a swap with nothing"));
		return;
	}
	Value *a = &m->stack[m->sp - 1], *b = &m->stack[m->sp - i->arg], t = *a;
	*a = *b;
	*b = t;
}

/* The top value goes below the other n - 1. */
static void act_rot(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i;
	m->sp += n;
	if (n < 2)
		return;
	Value top = in[n - 1];
	memmove(in + 1, in, (n - 1) * sizeof *in);
	in[0] = top;
}

/* ---- constants ---- */

static void act_none(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)m, (void)i, (void)in, (void)n;
}

static void act_const(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	machine_push_answer(m, ASK(m, constant, ins_repr(m->code, i)));
}

static void act_small_int(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	machine_push_answer(m, ASK(m, integer, i->arg));
}

static void act_named_const(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	machine_push_answer(m, ASK(m, constant, i->row->text));
}

/* ---- jumps ---- */

static void jump(Machine *m, const Ins *i)
{
	if (i->target == INS_NONE)
		machine_give_up(m, S("a jump to a place that the listing does not show"));
	else
		m->pc = i->target;
}

static void act_jump(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	jump(m, i);
}

static Tri asked(Machine *m, JumpIf what, Value v)
{
	bool none = what == JUMP_NONE || what == JUMP_NOT_NONE;
	Tri (*f)(void *, Machine *, Value) = none ? m->host->is_none : m->host->truth;
	Tri t = f ? f(m->ctx, m, v) : TRI_MAY;
	return what == JUMP_TRUE || what == JUMP_NONE ? t : tri_not(t);
}

static void decide(Machine *m, JumpIf what, Value v, uint8_t pending)
{
	Tri t = asked(m, what, v);
	if (m->raising || m->gave_up)
		return;
	m->value = v;
	m->pending = pending;
	if (t == TRI_MAY)
		machine_end(m, MS_BRANCH, v, pending);
	else
		machine_choose(m, t == TRI_MUST);
}

static void act_jump_if(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	decide(m, (JumpIf)i->row->k, in[0], PENDING_JUMP);
}

static void act_jump_or_pop(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	decide(m, (JumpIf)i->row->k, in[0], PENDING_OR_POP);
}

static void act_jump_no_match(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	Value match = ASK(m, compare, S("exception match"), in[0], in[1]);
	if (!m->raising && !m->gave_up)
		decide(m, JUMP_FALSE, match, PENDING_JUMP);
}

bool machine_jumps_if(const Machine *m)
{
	const OpRow *r = machine_ins(m)->row;
	return r->act != ACT_JUMP_NO_MATCH && (r->k == JUMP_TRUE || r->k == JUMP_NONE);
}

/* ---- loops ---- */

static void act_iter(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	machine_push_answer(m, ASK(m, iter, in[0]));
}

/* From 3.12 on the jump leads to END_FOR, which pops the place of an item; the iterator is popped there or behind it. */
static void end_loop(Machine *m, const Ins *i)
{
	bool pops_itself = i->target != INS_NONE && ins_op(&m->code->ins[i->target]) == OP_END_FOR;
	if (pops_itself)
		machine_push(m, machine_mark(m->at));
	else
		m->sp--;
	jump(m, i);
}

/* Ends `yield from` and `await`: what the iterator returns is not followed. */
static void end_send(Machine *m, const Ins *i)
{
	m->sp -= i->row->k ? 0 : 1;
	machine_push_answer(m, ASK(m, constant, S("None")));
	if (i->row->flags & OF_JUMP)
		jump(m, i);
}

static void next_of(Machine *m, Value iter, uint8_t pending)
{
	m->item = VALUE_NULL;
	NextItem got = m->host->next ? m->host->next(m->ctx, m, iter, &m->item) : NEXT_UNKNOWN;
	if (m->raising || m->gave_up)
		return;
	if (got != NEXT_END && (m->item == VALUE_NULL || machine_is_mark(m->item))) {
		machine_no_answer(m);
		return;
	}
	m->pending = pending;
	if (got == NEXT_UNKNOWN)
		machine_end(m, MS_LOOP, iter, pending);
	else
		machine_choose(m, got == NEXT_END);
}

static void act_for(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	m->sp++;
	next_of(m, in[0], PENDING_FOR);
}

static void act_send(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	m->sp++; /* the iterator stays, what is sent goes */
	next_of(m, in[0], PENDING_SEND);
}

static void act_end_send(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	machine_push(m, in[1]);
}

static void act_generator(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)in, (void)n;
	m->generator = true;
	machine_push_answer(m, ASK(m, constant, S("None")));
}

static void act_yield(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	m->generator = true;
	machine_end(m, MS_YIELD, in[0], PENDING_PUSH);
}

/* Hands out an item and comes back to this instruction. */
static void send_item(Machine *m)
{
	if (machine_ins(m)->row->act == ACT_YIELD_FROM) {
		m->generator = true;
		m->pc = m->at;
		machine_end(m, MS_YIELD, m->item, PENDING_PUSH);
	} else {
		machine_push(m, m->item);
	}
}

static void act_return(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	Value v = i->row->k ? ASK(m, constant, ins_repr(m->code, i)) : in[0];
	if (!m->raising && !m->gave_up)
		machine_end(m, MS_RETURN, v, PENDING_NONE);
}

static void act_unknown(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	machine_give_up(m, i->row->op == OP_GAP ? S("instructions are left out here")
	                                        : S("an instruction that is not known"));
}

static void act_stop(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)in, (void)n;
	machine_give_up(m, S("an instruction that is not followed"));
}

/* ---- answers of the driver ---- */

static uint8_t take_pending(Machine *m)
{
	uint8_t p = m->pending % PENDING_STATUS;
	m->pending = PENDING_NONE;
	return p;
}

void machine_choose(Machine *m, bool yes)
{
	const Ins *i = machine_ins(m);
	switch (take_pending(m)) {
	case PENDING_JUMP:
		if (yes)
			jump(m, i);
		break;
	case PENDING_OR_POP:
		if (yes) {
			machine_push(m, m->value);
			jump(m, i);
		}
		break;
	case PENDING_FOR:
		if (yes)
			end_loop(m, i);
		else
			machine_push(m, m->item);
		break;
	case PENDING_SEND:
		if (yes)
			end_send(m, i);
		else
			send_item(m);
		break;
	case PENDING_SWALLOW: machine_swallow(m, yes); break;
	default: break;
	}
}

void machine_deliver(Machine *m, Value result)
{
	if (take_pending(m) == PENDING_PUSH)
		machine_push(m, result);
}

void machine_throw(Machine *m, Value exception)
{
	Act act = (Act)machine_ins(m)->row->act;
	take_pending(m);
	/* a generator gets a value with the exception: handlers count it */
	if (act == ACT_YIELD || act == ACT_YIELD_FROM)
		machine_push(m, machine_mark(m->at));
	machine_unwind(m, exception);
}

/* ---- running ---- */

static ActFn *const acts[] = {
	[ACT_UNKNOWN] = act_unknown,
	[ACT_STOP] = act_stop,
	[ACT_NONE] = act_none,
	[ACT_CONST] = act_const,
	[ACT_SMALL_INT] = act_small_int,
	[ACT_COMMON_CONST] = act_const,
	[ACT_NAMED_CONST] = act_named_const,
	[ACT_LOAD] = machine_load,
	[ACT_LOAD_LOAD] = machine_load_load,
	[ACT_STORE] = machine_store,
	[ACT_STORE_STORE] = machine_store_store,
	[ACT_STORE_LOAD] = machine_store_load,
	[ACT_DELETE] = machine_delete,
	[ACT_MAKE_CELL] = machine_make_cell,
	[ACT_CLOSURE] = machine_closure,
	[ACT_DEREF] = machine_deref,
	[ACT_STORE_DEREF] = machine_store_deref,
	[ACT_DELETE_DEREF] = machine_delete_deref,
	[ACT_GLOBAL] = machine_global,
	[ACT_STORE_GLOBAL] = machine_store_global,
	[ACT_DELETE_GLOBAL] = machine_delete_global,
	[ACT_ATTR] = machine_attr,
	[ACT_STORE_ATTR] = machine_store_attr,
	[ACT_DELETE_ATTR] = machine_delete_attr,
	[ACT_SUPER_ATTR] = machine_super_attr,
	[ACT_SPECIAL] = machine_special,
	[ACT_POP] = act_pop,
	[ACT_COPY] = act_copy,
	[ACT_SWAP] = act_swap,
	[ACT_ROT] = act_rot,
	[ACT_NIL] = act_nil,
	[ACT_UNARY] = machine_unary,
	[ACT_BINARY] = machine_binary,
	[ACT_BINARY_OP] = machine_binary_op,
	[ACT_COMPARE] = machine_compare,
	[ACT_IDENTITY] = machine_identity,
	[ACT_EXC_MATCH] = machine_exc_match,
	[ACT_OPAQUE] = machine_opaque,
	[ACT_PEEK] = machine_peek,
	[ACT_GETITEM] = machine_getitem,
	[ACT_SETITEM] = machine_setitem,
	[ACT_DELITEM] = machine_delitem,
	[ACT_GETSLICE] = machine_getslice,
	[ACT_SETSLICE] = machine_setslice,
	[ACT_BUILD] = machine_build,
	[ACT_BUILD_UNPACK] = machine_build_unpack,
	[ACT_CONST_KEY_MAP] = machine_const_key_map,
	[ACT_ADD] = machine_add,
	[ACT_TO_TUPLE] = machine_to_tuple,
	[ACT_INTRINSIC] = machine_intrinsic,
	[ACT_UNPACK] = machine_unpack,
	[ACT_UNPACK_EX] = machine_unpack_ex,
	[ACT_FORMAT] = machine_format,
	[ACT_CONVERT] = machine_convert,
	[ACT_CALL] = machine_call,
	[ACT_CALL_PLAIN] = machine_call_plain,
	[ACT_CALL_EX] = machine_call_ex,
	[ACT_KW_NAMES] = machine_kw_names,
	[ACT_FUNCTION] = machine_function,
	[ACT_FUNCTION_ATTR] = machine_function_attr,
	[ACT_JUMP] = act_jump,
	[ACT_JUMP_IF] = act_jump_if,
	[ACT_JUMP_OR_POP] = act_jump_or_pop,
	[ACT_JUMP_NO_MATCH] = act_jump_no_match,
	[ACT_FOR] = act_for,
	[ACT_ITER] = act_iter,
	[ACT_RETURN] = act_return,
	[ACT_GENERATOR] = act_generator,
	[ACT_YIELD] = act_yield,
	[ACT_YIELD_FROM] = act_send,
	[ACT_SEND] = act_send,
	[ACT_END_SEND] = act_end_send,
	[ACT_IMPORT] = machine_import,
	[ACT_IMPORT_FROM] = machine_import_from,
	[ACT_WITH] = machine_with,
	[ACT_WITH_START] = machine_with_start,
	[ACT_WITH_FINISH] = machine_with_finish,
	[ACT_WITH_EXCEPT] = machine_with_except,
	[ACT_SETUP] = machine_setup,
	[ACT_POP_BLOCK] = machine_pop_block,
	[ACT_CALL_FINALLY] = machine_call_finally,
	[ACT_END_FINALLY] = machine_end_finally,
	[ACT_POP_FINALLY] = machine_pop_finally,
	[ACT_PUSH_EXC] = machine_push_exc,
	[ACT_POP_EXCEPT] = machine_pop_except,
	[ACT_RAISE] = machine_raise_act,
	[ACT_RERAISE] = machine_reraise,
};

/* May a NULL or a mark of the machine be among the values that this act takes? */
static bool takes_anything(Act act)
{
	switch (act) {
	case ACT_POP:
	case ACT_COPY:
	case ACT_ROT:
	case ACT_STORE:
	case ACT_STORE_STORE:
	case ACT_CALL:
	case ACT_CALL_EX:
	case ACT_WITH_START:
	case ACT_WITH_FINISH:
	case ACT_WITH_EXCEPT:
	case ACT_END_FINALLY:
	case ACT_POP_FINALLY:
	case ACT_POP_EXCEPT:
	case ACT_RERAISE: return true;
	default: return false;
	}
}

static bool are_values(const Value *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i] == VALUE_NULL || machine_is_mark(v[i]))
			return false;
	return true;
}

static void execute(Machine *m, const Ins *i)
{
	Effect e = ins_effect(i);
	if (m->sp < e.pop + e.deep) {
		machine_give_up(m, S("the stack has fewer values than the instruction takes"));
		return;
	}
	if (!make_room(m, e.push))
		return;
	uint32_t n = (uint32_t)e.pop;
	m->sp -= n;
	Value *in = m->stack + m->sp;
	if (!takes_anything((Act)i->row->act) && !are_values(in, n)) {
		machine_give_up(m, S("NULL stands where the instruction takes a value"));
		return;
	}
	acts[i->row->act](m, i, in, n);
}

/* MS_LIMIT: go on. */
static MachineStatus after(Machine *m)
{
	if (m->gave_up) {
		m->gave_up = m->raising = false;
		m->pending = PENDING_NONE;
		return MS_STOPPED;
	}
	if (m->raising) {
		m->raising = false;
		m->pending = PENDING_NONE;
		machine_unwind(m, m->raise_value);
		if (m->gave_up)
			return after(m);
	}
	if (m->pending < PENDING_STATUS)
		return MS_LIMIT;
	MachineStatus s = (MachineStatus)(m->pending / PENDING_STATUS - 1);
	m->pending %= PENDING_STATUS;
	return s;
}

MachineStatus machine_run(Machine *m, uint64_t steps)
{
	MachineStatus s = after(m); /* an answer may have ended the frame */
	while (s == MS_LIMIT && steps--) {
		if (m->pc >= m->code->n) {
			m->at = m->code->n ? m->code->n - 1 : 0;
			m->why = S("the listing ends here");
			return MS_STOPPED;
		}
		m->at = m->pc++;
		m->steps++;
		execute(m, &m->code->ins[m->at]);
		s = after(m);
	}
	return s;
}
