/* SPDX-License-Identifier: MIT
 * machine_exc: with, try, finally, raise.
 *
 * An exception is one value of the host: where CPython keeps type, value and traceback, this value stands three times.
 * Up to 3.10 handlers are on a block stack and find six values (what was handled before, and what is handled now);
 * from 3.11 on the exception table names handler and depth. */
#include "machine_priv.h"

/* ---- unwinding ---- */

static void push_three(Machine *m, Value v)
{
	machine_push(m, v);
	machine_push(m, v);
	machine_push(m, v);
}

static void enter_handler(Machine *m, MachineBlock b, Value exception)
{
	m->sp = b.depth;
	VEC_PUSH(m->a, &m->blocks, ((MachineBlock){.target = INS_NONE, .depth = b.depth}));
	push_three(m, m->handled);
	push_three(m, exception);
	m->handled = exception;
	m->pc = b.target;
}

/* Leaves a handler: what was handled before is handled again. */
static void leave_handler(Machine *m, MachineBlock b)
{
	if (m->sp < b.depth + 3) {
		machine_give_up(m, S("the stack has fewer values than a handler needs"));
		return;
	}
	m->handled = m->stack[b.depth];
	m->sp = b.depth;
}

/* A manager that cannot be entered is not left: its block begins behind the call of __enter__. */
static void drop_unentered(Machine *m)
{
	const Ins *i = machine_ins(m);
	if (i->row->act == ACT_WITH && m->blocks.n && m->blocks.v[m->blocks.n - 1].target == i->target)
		m->blocks.n--;
}

static void unwind_blocks(Machine *m, Value exception)
{
	drop_unentered(m);
	while (m->blocks.n) {
		MachineBlock b = m->blocks.v[--m->blocks.n];
		if (b.target != INS_NONE) {
			if (b.depth > m->sp)
				break;
			enter_handler(m, b, exception);
			return;
		}
		leave_handler(m, b);
		if (m->gave_up)
			return;
	}
	machine_end(m, MS_RAISE, exception, PENDING_NONE);
}

static const Guard *guard_of(const Code *c, uint32_t at)
{
	for (uint32_t i = 0; i < c->nguards; i++)
		if (c->guards[i].from <= at && at < c->guards[i].end)
			return &c->guards[i];
	return NULL;
}

void machine_unwind(Machine *m, Value exception)
{
	if (m->code->python < 311) {
		unwind_blocks(m, exception);
		return;
	}
	const Guard *g = guard_of(m->code, m->at);
	if (!g) {
		machine_end(m, MS_RAISE, exception, PENDING_NONE);
		return;
	}
	if (g->depth > m->sp) {
		machine_give_up(m, S("the stack has fewer values than a handler needs"));
		return;
	}
	m->sp = g->depth;
	if (g->lasti)
		machine_push(m, machine_mark(m->at));
	machine_push(m, exception);
	m->pc = g->target;
}

void machine_raise_act(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i;
	if (n > 2) {
		machine_give_up(m, S("a raise with more than two values"));
		return;
	}
	if (!n && m->handled != VALUE_NULL) {
		machine_raise(m, m->handled);
		return;
	}
	Value v = ASK(m, raised, n ? in[0] : VALUE_NULL, n > 1 ? in[1] : VALUE_NULL);
	if (m->gave_up || m->raising)
		return;
	if (v == VALUE_NULL || machine_is_mark(v))
		machine_no_answer(m);
	else
		machine_raise(m, v);
}

static void reraise(Machine *m, Value v)
{
	if (v == VALUE_NULL || machine_is_mark(v))
		machine_give_up(m, S("NULL is raised"));
	else
		machine_raise(m, v);
}

void machine_reraise(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i;
	reraise(m, in[n - 1]);
}

void machine_push_exc(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	Value exception = in[0];
	machine_push(m, m->handled);
	machine_push(m, exception);
	m->handled = exception;
}

static bool in_handler(const Machine *m)
{
	return m->blocks.n && m->blocks.v[m->blocks.n - 1].target == INS_NONE;
}

void machine_pop_except(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	if (!i->row->k) {
		if (!in_handler(m)) {
			machine_give_up(m, S("a handler ends that was never entered"));
			return;
		}
		m->blocks.n--;
	}
	m->handled = machine_is_mark(in[0]) ? VALUE_NULL : in[0];
}

/* ---- blocks ---- */

enum { BLOCKS_MOST = 20 }; /* CO_MAXBLOCKS */

static void push_block(Machine *m, uint32_t target)
{
	if (m->blocks.n >= 2 * BLOCKS_MOST || target == INS_NONE)
		machine_give_up(m, S("a block without a handler, or more blocks than a frame can have"));
	else
		VEC_PUSH(m->a, &m->blocks, ((MachineBlock){.target = target, .depth = m->sp}));
}

void machine_setup(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	push_block(m, i->target);
}

void machine_pop_block(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)in, (void)n;
	if (m->blocks.n)
		m->blocks.n--;
	else
		machine_give_up(m, S("a block ends that never began"));
}

/* ---- finally of 3.8: NULL, a place to return to, or an exception is on top ---- */

void machine_call_finally(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	if (i->target == INS_NONE) {
		machine_give_up(m, S("a jump to a place that the listing does not show"));
		return;
	}
	machine_push(m, machine_mark(m->pc));
	m->pc = i->target;
}

void machine_end_finally(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	Value top = in[0];
	if (top == VALUE_NULL)
		return;
	if (machine_is_mark(top)) {
		m->pc = top & ~VALUE_LIMIT;
		return;
	}
	if (m->sp < 2) {
		machine_give_up(m, S("the stack has fewer values than a handler needs"));
		return;
	}
	m->sp -= 2;
	machine_raise(m, top);
}

void machine_pop_finally(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	Value keep = in[0], top = keep;
	if (i->arg) {
		if (!m->sp) {
			machine_give_up(m, S("the stack has fewer values than the instruction takes"));
			return;
		}
		top = m->stack[--m->sp];
	}
	if (top != VALUE_NULL && !machine_is_mark(top)) {
		if (!in_handler(m)) {
			machine_give_up(m, S("a handler ends that was never entered"));
			return;
		}
		leave_handler(m, m->blocks.v[--m->blocks.n]);
	}
	if (i->arg && !m->gave_up)
		machine_push(m, keep);
}

/* ---- with ---- */

/* k: 0 BEFORE_WITH, 1 asynchronous, 2 SETUP_WITH. */
void machine_with(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	Value manager = in[0];
	if (i->row->k == 1) {
		machine_give_up(m, S("an asynchronous context manager"));
		return;
	}
	Value leave = ASK(m, get_attr, manager, m->code->exit);
	machine_push_answer(m, leave);
	if (m->gave_up || m->raising)
		return;
	Value enter = ASK(m, get_attr, manager, m->code->enter);
	if (i->row->k == 2 && !m->gave_up)
		push_block(m, i->target);
	if (!m->gave_up && !m->raising)
		machine_call_values(m, enter, NULL, 0);
}

static void call_exit(Machine *m, Value leave, Value exception)
{
	Value v = exception ? exception : ASK(m, constant, S("None"));
	Value args[3] = {v, v, v};
	if (!m->gave_up && !m->raising)
		machine_call_values(m, leave, args, 3);
}

/* 3.8: exit NULL -> NULL NULL result; an exception keeps its six values, with a NULL in the place of what is above them. */
void machine_with_start(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	Value leave = in[0], top = in[1];
	if (top == VALUE_NULL || machine_is_mark(top)) {
		machine_push(m, top);
		machine_push(m, VALUE_NULL);
		call_exit(m, leave, VALUE_NULL);
		return;
	}
	m->sp += 2;
	if (m->sp < 7 || !in_handler(m)) {
		machine_give_up(m, S("the stack has fewer values than a handler needs"));
		return;
	}
	Value *seven = m->stack + m->sp - 7;
	leave = seven[0];
	memmove(seven, seven + 1, 3 * sizeof *seven);
	seven[3] = VALUE_NULL;
	m->blocks.v[m->blocks.n - 1].depth--;
	machine_push(m, top);
	call_exit(m, leave, top);
}

/* The exception is over: its values and its block go, and a NULL says so to END_FINALLY. */
void machine_swallow(Machine *m, bool swallow)
{
	if (!swallow)
		return;
	if (!in_handler(m)) {
		machine_give_up(m, S("a handler ends that was never entered"));
		return;
	}
	leave_handler(m, m->blocks.v[--m->blocks.n]);
	machine_push(m, VALUE_NULL);
}

void machine_with_finish(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i, (void)n;
	Value exception = in[0], result = in[1];
	if (exception == VALUE_NULL)
		return;
	Tri t = m->host->truth ? m->host->truth(m->ctx, m, result) : TRI_MAY;
	if (m->gave_up || m->raising)
		return;
	m->pending = PENDING_SWALLOW;
	if (t == TRI_MAY)
		machine_end(m, MS_BRANCH, result, PENDING_SWALLOW);
	else
		machine_choose(m, t == TRI_MUST);
}

/* The exit function lies k values deep; everything stays. */
void machine_with_except(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)i;
	Value leave = in[0], exception = in[n - 1];
	m->sp += n;
	if (exception == VALUE_NULL || machine_is_mark(exception))
		machine_give_up(m, S("NULL is raised"));
	else
		call_exit(m, leave, exception);
}
