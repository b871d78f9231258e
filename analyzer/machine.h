/* SPDX-License-Identifier: MIT
 * machine: runs the code of one frame, instruction by instruction, over values it does not understand.
 *
 * The machine knows control flow, the stack, locals, blocks and handlers, of CPython 3.8 to 3.14. What a value is, what
 * an operator does and what a call does is asked of a Host. A driver owns the loop:
 *
 *     machine_init(&m, code, &host, ctx, arena);
 *     machine_set_param(&m, 0, value) ...
 *     for (;;)
 *         switch (machine_run(&m, steps)) {
 *         case MS_RETURN: ... m.value ...
 *         case MS_BRANCH: machine_copy(&other, &m, arena), fork what ctx holds, machine_choose(&other, ...) ...
 *         case MS_CALL:   run the callee's machine, then machine_deliver(&m, result) or machine_throw(&m, exception)
 *         ...
 *         }
 *
 * Nothing recurses over input: calls into other frames are made by the driver, on a stack of machines that it owns and
 * limits. Memory of a machine comes from the arena given; all of it may be dropped with that arena. */
#ifndef GRAPHLINT_MACHINE_H
#define GRAPHLINT_MACHINE_H

#include "base.h"
#include "bytecode.h"

/* A value of the host; the machine only moves it. 0 is the NULL that call instructions keep under callables, and the
 * content of an unbound variable: no host value is 0. Hosts use ids below VALUE_LIMIT; those above are the machine's. */
typedef uint32_t Value;
#define VALUE_NULL ((Value)0)
#define VALUE_LIMIT ((Value)0xC0000000u)
/* A host function hands this back when the driver has to supply the result: only Host.call may (see MS_CALL). */
#define VALUE_LATER ((Value)0xFFFFFFFFu)

typedef struct Machine Machine;

/* What a call gets. Exactly one of two forms: positional and keyword values, or (ex) one sequence and one mapping. */
typedef struct MachineCall {
	Value fn;
	const Value *args; /* n values, positional ones first; good during the call */
	uint32_t n;
	Value names;       /* tuple constant with the names of the last arguments; 0: none, or not printed */
	bool names_hidden; /* 3.11: the last arguments have names that the listing does not print: an unknown number of them */
	uint32_t names_at; /* index of that constant */
	bool ex;           /* CALL_FUNCTION_EX: seq, and map where not 0; args is empty */
	Value seq, map;
} MachineCall;

/* What a function is made of; 0 what it has not. */
typedef struct MachineFunction {
	Value code, name, defaults, kwdefaults, annotations, closure;
} MachineFunction;

typedef enum NextItem { NEXT_ITEM, NEXT_END, NEXT_UNKNOWN } NextItem;

/* Which variable was read before it was bound. */
typedef enum Unbound { UNBOUND_LOCAL, UNBOUND_CELL } Unbound;

/* Answers of a host. Every function gets the host's ctx and the machine, whose instruction is machine_ins(m), and gives
 * a value that is not 0. Within any of them the host may say, instead of giving an answer,
 *     machine_raise(m, exception)  the operation raises: the answer is dropped, the handler is entered
 *     machine_give_up(m, why)      this path cannot be followed: machine_run gives MS_STOPPED
 * Functions left NULL are never called by listings that do not need them; where one does, the path stops. */
typedef struct Host {
	/* ---- constants and names ---- */
	Value (*constant)(void *ctx, Machine *m, Str repr);         /* as dis prints it; code objects too */
	Value (*integer)(void *ctx, Machine *m, int64_t number);
	Value (*unbound)(void *ctx, Machine *m, Unbound kind, Sym name); /* a local without a value, or an empty cell */
	Value (*load_global)(void *ctx, Machine *m, Sym name);
	void (*store_global)(void *ctx, Machine *m, Sym name, Value v);  /* v 0: deleted */
	/* ---- cells: the contents live with the host, since frames share them ---- */
	Value (*cell_new)(void *ctx, Machine *m, Sym name, Value content); /* content 0: empty */
	Value (*cell_get)(void *ctx, Machine *m, Value cell);              /* 0: empty */
	void (*cell_set)(void *ctx, Machine *m, Value cell, Value v);      /* v 0: emptied */
	/* ---- attributes, items ---- */
	Value (*get_attr)(void *ctx, Machine *m, Value o, Sym name);       /* also of methods: gives the bound one */
	void (*set_attr)(void *ctx, Machine *m, Value o, Sym name, Value v); /* v 0: deleted */
	Value (*super_attr)(void *ctx, Machine *m, Value super, Value cls, Value self, Sym name);
	Value (*get_item)(void *ctx, Machine *m, Value o, Value key);      /* slices are values of build */
	void (*set_item)(void *ctx, Machine *m, Value o, Value key, Value v); /* v 0: deleted */
	/* ---- operators: "+", "+=" (in place), "not", "-", "to_bool" ... ---- */
	Value (*unary)(void *ctx, Machine *m, Str op, Value x);
	Value (*binary)(void *ctx, Machine *m, Str op, Value x, Value y);
	Value (*compare)(void *ctx, Machine *m, Str op, Value x, Value y); /* "<" .. "is" "is not" "in" "not in" "exception match" */
	/* ---- containers ---- */
	Value (*build)(void *ctx, Machine *m, BuildKind kind, const Value *v, uint32_t n); /* BUILD_MAP: key, value, key ... */
	Value (*build_joined)(void *ctx, Machine *m, BuildKind kind, const Value *v, uint32_t n); /* (*a, *b), {**a, **b}: 3.8 */
	Value (*build_keyed)(void *ctx, Machine *m, Value keys, const Value *v, uint32_t n); /* keys: tuple constant */
	void (*add)(void *ctx, Machine *m, AddKind kind, Value container, Value v, Value value); /* value: ADD_MAP_ADD */
	Value (*to_tuple)(void *ctx, Machine *m, Value list);
	/* out[i] gets element i, n of them, all not 0. after >= 0: the list of what is left stands before the last `after`. */
	void (*unpack)(void *ctx, Machine *m, Value seq, uint32_t n, int32_t after, Value *out);
	Value (*format)(void *ctx, Machine *m, Value v, uint32_t conversion, Value spec); /* 1 str 2 repr 3 ascii; spec or 0 */
	/* ---- loops and branches ---- */
	Value (*iter)(void *ctx, Machine *m, Value x);
	/* NEXT_UNKNOWN: *item is what an item would be, the driver decides whether there is one. */
	NextItem (*next)(void *ctx, Machine *m, Value iter, Value *item);
	Tri (*truth)(void *ctx, Machine *m, Value v);   /* TRI_MAY: the driver decides */
	Tri (*is_none)(void *ctx, Machine *m, Value v);
	/* ---- calls ---- */
	Value (*call)(void *ctx, Machine *m, const MachineCall *c);
	Value (*make_function)(void *ctx, Machine *m, const MachineFunction *f);
	/* 3.13+: 1 defaults, 2 kwdefaults, 4 annotations, 8 closure, 16 annotate. Gives the function. */
	Value (*function_part)(void *ctx, Machine *m, Value fn, uint32_t part, Value v);
	Value (*import_name)(void *ctx, Machine *m, Sym name, Value level, Value from);
	Value (*import_from)(void *ctx, Machine *m, Value module, Sym name);
	Value (*intrinsic)(void *ctx, Machine *m, uint32_t number, Value x, Value y); /* CALL_INTRINSIC_1, _2 but list to tuple */
	/* Anything rare: pattern matching, async, exception groups. `what` is its name in opcodes.def; k-th result. */
	Value (*opaque)(void *ctx, Machine *m, Str what, const Value *v, uint32_t n, uint32_t k);
	/* `raise x from cause`: the exception object of it (x may be a class). x 0: a bare raise outside of a handler. */
	Value (*raised)(void *ctx, Machine *m, Value x, Value cause);
} Host;

typedef enum MachineStatus {
	MS_RETURN,  /* value: what the frame returns */
	MS_RAISE,   /* value: the exception that leaves the frame */
	MS_YIELD,   /* value: what a generator hands out; machine_deliver gives what is sent back */
	MS_CALL,    /* Host.call answered VALUE_LATER: machine_deliver or machine_throw, then run again */
	MS_BRANCH,  /* value: the condition; machine_choose decides */
	MS_LOOP,    /* value: the iterator; machine_choose(true) ends the loop (jumps), false takes another item */
	MS_LIMIT,   /* the steps given are used up; run again to go on */
	MS_STOPPED  /* why: the path cannot be followed. at: where */
} MachineStatus;

/* A handler to which an exception goes, up to 3.10. */
typedef struct MachineBlock {
	uint32_t target; /* instruction; INS_NONE: an exception is being handled */
	uint32_t depth;  /* of the stack */
} MachineBlock;

struct Machine {
	const Code *code;
	const Host *host;
	void *ctx;
	Arena *a;
	uint32_t pc;         /* next instruction */
	uint32_t at;         /* the one that is, or was, executed */
	Value *stack;        /* grows in `a`, at most max_stack values */
	uint32_t sp, cap;
	Value *vars;         /* by Code.vars: locals; for cells the cell value, 0 before it is made */
	bool *bound_cell;    /* by Code.vars: vars[i] is a cell */
	VEC(MachineBlock) blocks;
	Value value;         /* see MachineStatus */
	Value item;          /* MS_LOOP: the item, if one is taken */
	Value handled;       /* exception that is handled now: of a bare raise */
	Str why;             /* MS_STOPPED */
	uint64_t steps;      /* executed so far, over all runs */
	Value kw_names;      /* of KW_NAMES for the next call */
	bool kw_hidden, generator;
	uint32_t kw_at;
	uint8_t pending;     /* what a driver has to answer; see machine.c */
	bool raising, gave_up; /* set by machine_raise, machine_give_up within a host function */
	Value raise_value;
};

enum { MACHINE_MAX_STACK = 1 << 20 };

/* A frame before its first instruction. Parameters and closure cells are unbound until they are set. */
void machine_init(Machine *m, const Code *code, const Host *host, void *ctx, Arena *a);
/* Parameter with an index in varnames. False: the listing never names that index, so that nothing can read it,
 * except (up to 3.10, and 3.11+ where MAKE_CELL is missing) a parameter that lives in a cell: bind it by name. */
bool machine_set_param(Machine *m, uint32_t index, Value v);
/* A parameter or local by name: where it lives in a cell, the content of its cell. */
bool machine_set_local(Machine *m, Sym name, Value v);
/* The cell of a free variable, by name or by its position in the closure tuple (3.11+: among the COPY_FREE_VARS). */
bool machine_set_cell(Machine *m, Sym name, Value cell);
bool machine_set_free(Machine *m, uint32_t position, Value cell);
/* The content of a variable as it is now: of a cell variable the cell. 0 unbound. */
Value machine_var(const Machine *m, Sym name);

/* Runs until something has to be decided, at most `steps` instructions. */
MachineStatus machine_run(Machine *m, uint64_t steps);
/* Answers MS_BRANCH (jump: the instruction jumps) and MS_LOOP (jump: the loop ends). */
void machine_choose(Machine *m, bool jump);
/* Does the jump of the MS_BRANCH mean that the condition is true? For POP_JUMP_IF_NONE: that it is None. */
bool machine_jumps_if(const Machine *m);
/* Answers MS_CALL and MS_YIELD: the result goes onto the stack. */
void machine_deliver(Machine *m, Value result);
/* Answers MS_CALL and MS_YIELD: the callee raised. Goes to the handler, or the next run gives MS_RAISE. */
void machine_throw(Machine *m, Value exception);
/* An independent copy: stack, variables, blocks. What the values stand for is the host's to copy; the driver gives
 * the copy its own `ctx`. */
void machine_copy(Machine *to, const Machine *from, Arena *a);

/* For hosts, within their functions. */
void machine_raise(Machine *m, Value exception);
void machine_give_up(Machine *m, Str why);
static inline const Ins *machine_ins(const Machine *m) { return &m->code->ins[m->at]; }

#endif
