/* SPDX-License-Identifier: MIT
 * machine_call: calls and functions. */
#include "machine_priv.h"

static void make_call(Machine *m, const MachineCall *c)
{
	m->kw_names = VALUE_NULL;
	m->kw_hidden = false;
	if (c->fn == VALUE_NULL || machine_is_mark(c->fn)) {
		machine_give_up(m, S("NULL is called"));
		return;
	}
	for (uint32_t i = 0; i < c->n; i++)
		if (c->args[i] == VALUE_NULL || machine_is_mark(c->args[i])) {
			machine_give_up(m, S("NULL is an argument"));
			return;
		}
	Value v = ASK(m, call, c);
	if (v == VALUE_LATER && !m->gave_up && !m->raising)
		machine_end(m, MS_CALL, VALUE_NULL, PENDING_PUSH);
	else
		machine_push_answer(m, v);
}

void machine_call_values(Machine *m, Value fn, const Value *v, uint32_t n)
{
	MachineCall c = {.fn = fn, .args = v, .n = n};
	make_call(m, &c);
}

/* Two places under the arguments: the one that is not NULL is called; both: a method and its self. */
void machine_call(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	MachineCall c = {.names = m->kw_names, .names_hidden = m->kw_hidden, .names_at = m->kw_at};
	if (i->row->k)
		c.names = in[--n];
	bool has_self = in[0] != VALUE_NULL && in[1] != VALUE_NULL;
	c.fn = in[0] != VALUE_NULL ? in[0] : in[1];
	c.args = has_self ? in + 1 : in + 2;
	c.n = has_self ? n - 1 : n - 2;
	make_call(m, &c);
}

void machine_call_plain(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	MachineCall c = {.fn = in[0], .args = in + 1};
	if (i->row->k)
		c.names = in[--n];
	c.n = n - 1;
	make_call(m, &c);
}

/* k: 0 callable alone, 1 callable and NULL, 2 the same with a mapping or NULL always. */
void machine_call_ex(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	uint32_t at = 0;
	MachineCall c = {.ex = true, .fn = in[at++]};
	if (i->row->k) {
		if (c.fn == VALUE_NULL)
			c.fn = in[at];
		at++;
	}
	c.seq = in[at++];
	c.map = at < n ? in[at] : VALUE_NULL;
	if (c.seq == VALUE_NULL || machine_is_mark(c.seq) || machine_is_mark(c.map)) {
		machine_give_up(m, S("NULL is an argument"));
		return;
	}
	make_call(m, &c);
}

void machine_kw_names(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	if (i->repr.i) {
		m->kw_names = ASK(m, constant, ins_repr(m->code, i));
	} else {
		m->kw_hidden = true;
		m->kw_at = i->arg;
	}
}

/* Parts in the order of their bits, then the code, then (up to 3.10) the qualified name. */
void machine_function(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	MachineFunction f = {0};
	Value *parts[] = {&f.defaults, &f.kwdefaults, &f.annotations, &f.closure};
	uint32_t at = 0, flags = i->row->flags & OF_BITS ? i->arg : 0;
	for (uint32_t k = 0; k < 4; k++)
		if (flags >> k & 1)
			*parts[k] = in[at++];
	f.code = in[at++];
	f.name = at < n ? in[at] : VALUE_NULL;
	machine_push_answer(m, ASK(m, make_function, &f));
}

void machine_function_attr(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	machine_push_answer(m, ASK(m, function_part, in[1], i->arg, in[0]));
}
