/* SPDX-License-Identifier: MIT
 * machine_var: locals, cells, globals. */
#include "machine_priv.h"

/* The cell of a variable; made when it is first needed, since up to 3.10 frames begin with their cells. */
static Value cell_of(Machine *m, uint32_t var)
{
	if (!m->bound_cell[var]) {
		Value cell = ASK(m, cell_new, m->code->vars[var].name, m->vars[var]);
		if (m->gave_up || m->raising)
			return VALUE_NULL;
		m->vars[var] = cell;
		m->bound_cell[var] = true;
	}
	return m->vars[var];
}

/* What LOAD_FAST gives: of a variable that lives in a cell, the cell itself. */
static Value load(Machine *m, uint32_t var, bool clear)
{
	const CodeVar *v = &m->code->vars[var];
	Value got = v->cell && !clear ? cell_of(m, var) : m->vars[var];
	if (clear) {
		m->vars[var] = VALUE_NULL;
		m->bound_cell[var] = false;
	} else if (got == VALUE_NULL && !m->gave_up && !m->raising) {
		got = ASK(m, unbound, UNBOUND_LOCAL, v->name);
	}
	return got;
}

static void store(Machine *m, uint32_t var, Value v)
{
	m->vars[var] = v;
	m->bound_cell[var] = m->code->vars[var].cell && v != VALUE_NULL;
}

void machine_load(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	Value v = load(m, i->var, i->row->k != 0);
	if (i->row->k)
		machine_push(m, v);
	else
		machine_push_answer(m, v);
}

void machine_load_load(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	machine_push_answer(m, load(m, i->var, false));
	if (!m->gave_up && !m->raising)
		machine_push_answer(m, load(m, i->var2, false));
}

void machine_store(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	store(m, i->var, in[0]);
}

void machine_store_store(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	store(m, i->var, in[1]);
	store(m, i->var2, in[0]);
}

void machine_store_load(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	store(m, i->var, in[0]);
	machine_push_answer(m, load(m, i->var2, false));
}

void machine_delete(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	store(m, i->var, VALUE_NULL);
}

void machine_make_cell(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	cell_of(m, i->var);
}

void machine_closure(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	machine_push_answer(m, cell_of(m, i->var));
}

void machine_deref(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	Value cell = cell_of(m, i->var);
	if (m->gave_up || m->raising)
		return;
	Value v = ASK(m, cell_get, cell);
	if (v == VALUE_NULL && !m->gave_up && !m->raising)
		v = ASK(m, unbound, UNBOUND_CELL, m->code->vars[i->var].name);
	machine_push_answer(m, v);
}

void machine_store_deref(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	Value v = in[0], cell = cell_of(m, i->var);
	if (!m->gave_up && !m->raising)
		TELL(m, cell_set, cell, v);
}

void machine_delete_deref(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	Value cell = cell_of(m, i->var);
	if (!m->gave_up && !m->raising)
		TELL(m, cell_set, cell, VALUE_NULL);
}

void machine_global(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	Value v = ASK(m, load_global, i->name);
	bool before = i->null != NULL_NONE && m->code->python < 313;
	if (before)
		machine_push(m, VALUE_NULL);
	machine_push_answer(m, v);
	if (i->null != NULL_NONE && !before)
		machine_push(m, VALUE_NULL);
}

void machine_store_global(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)n;
	TELL(m, store_global, i->name, in[0]);
}

void machine_delete_global(Machine *m, const Ins *i, Value *in, uint32_t n)
{
	(void)in, (void)n;
	TELL(m, store_global, i->name, VALUE_NULL);
}
