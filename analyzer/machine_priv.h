/* SPDX-License-Identifier: MIT
 * machine_priv: what the parts of the machine share.
 *
 * An act gets the values that its instruction takes in in[0..), the lowest first; they are popped already, and pushing
 * overwrites them: an act reads what it needs before its first push. Room for what the table says it pushes is there. */
#ifndef GRAPHLINT_MACHINE_PRIV_H
#define GRAPHLINT_MACHINE_PRIV_H

#include "machine.h"

typedef void ActFn(Machine *m, const Ins *i, Value *in, uint32_t n);

/* What the driver's answer is for: Machine.pending. */
enum {
	PENDING_NONE,
	PENDING_PUSH,    /* a value, onto the stack */
	PENDING_JUMP,    /* whether to jump */
	PENDING_OR_POP,  /* the same; the condition stays on the stack when it jumps */
	PENDING_FOR,     /* whether the loop ends */
	PENDING_SEND,    /* whether the iterator of `yield from` is at its end */
	PENDING_SWALLOW, /* whether __exit__ swallows the exception: jump = it does */
	PENDING_STATUS = 16 /* and upwards: the run ends with status pending - PENDING_STATUS, nothing to answer */
};

/* Values of the machine itself. */
static inline Value machine_mark(uint32_t pc) { return VALUE_LIMIT | (pc & 0x3FFFFFFFu); }
static inline bool machine_is_mark(Value v) { return v >= VALUE_LIMIT; }

static inline void machine_push(Machine *m, Value v) { m->stack[m->sp++] = v; }
/* A host's answer onto the stack; none, or one that only calls may give, stops the path. */
void machine_push_answer(Machine *m, Value v);
/* Ends the run with a status once the act is done; pending says what will be answered. */
void machine_end(Machine *m, MachineStatus s, Value v, uint8_t pending);
Value machine_no_answer(Machine *m);
/* Asks the host; stops the path where it cannot be asked. */
#define ASK(m, f, ...) ((m)->host->f ? (m)->host->f((m)->ctx, (m), __VA_ARGS__) : machine_no_answer(m))
#define TELL(m, f, ...) ((m)->host->f ? (m)->host->f((m)->ctx, (m), __VA_ARGS__) : (void)machine_no_answer(m))

/* machine_var.c */
ActFn machine_load, machine_load_load, machine_store, machine_store_store, machine_store_load, machine_delete;
ActFn machine_make_cell, machine_closure, machine_deref, machine_store_deref, machine_delete_deref;
ActFn machine_global, machine_store_global, machine_delete_global;
/* machine_op.c */
ActFn machine_attr, machine_store_attr, machine_delete_attr, machine_super_attr, machine_special;
ActFn machine_unary, machine_binary, machine_binary_op, machine_compare, machine_identity, machine_exc_match;
ActFn machine_opaque, machine_peek, machine_getitem, machine_setitem, machine_delitem, machine_getslice, machine_setslice;
ActFn machine_build, machine_build_unpack, machine_const_key_map, machine_add, machine_to_tuple, machine_intrinsic;
ActFn machine_unpack, machine_unpack_ex, machine_format, machine_convert, machine_import, machine_import_from;
/* machine_call.c */
ActFn machine_call, machine_call_plain, machine_call_ex, machine_kw_names, machine_function, machine_function_attr;
/* Calls fn with values and pushes the result, now or when the driver has it. */
void machine_call_values(Machine *m, Value fn, const Value *v, uint32_t n);
/* machine_exc.c */
ActFn machine_with, machine_with_start, machine_with_finish, machine_with_except;
ActFn machine_setup, machine_pop_block, machine_call_finally, machine_end_finally, machine_pop_finally;
ActFn machine_push_exc, machine_pop_except, machine_raise_act, machine_reraise;
/* Enters the handler of an exception raised at m->at, or ends the run with MS_RAISE. */
void machine_unwind(Machine *m, Value exception);
void machine_swallow(Machine *m, bool swallow);

#endif
