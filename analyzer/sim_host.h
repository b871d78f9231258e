/* SPDX-License-Identifier: MIT
 * sim_host: what the parts of the host share: it runs bytecode over the heap of a run (sim.h). Functions that
 * give a Ref give 0 when they raised an exception or gave the path up, unless they say otherwise. */
#ifndef GRAPHLINT_SIM_HOST_H
#define GRAPHLINT_SIM_HOST_H

#include "sim.h"

enum {
	HOST_ITEMS_MOST = 100000, /* items of one container */
	HOST_TEXT_MOST = 1 << 16, /* bytes of a string that is computed */
	HOST_WALK_MOST = 20000    /* values looked at when everything in a value is asked for */
};

/* A call with its arguments in a row. */
typedef struct HostCall {
	Sim *s;
	Machine *m;
	Ref fn;
	Str name;          /* of what is called, for messages and operators */
	const Ref *args;   /* positional ones first */
	const Sym *names;  /* keyword of each, or 0 */
	uint32_t n, npos;
	bool names_hidden; /* some of the last arguments have names that the listing does not print */
	Ref rest, map;     /* f(..., *rest, **map) of which the items are not known; 0 none */
} HostCall;

typedef struct RefList {
	Arena *a;
	VEC(Ref) v;
} RefList;

/* ---- heap (sim_heap.c) ---- */
uint64_t host_mix(uint64_t a, uint64_t b);
void host_charge(Sim *s, uint64_t n);
HeapAttr *host_find_attr(Sim *s, Ref o, Sym name); /* NULL: neither set nor read so far */

/* ---- small things (sim_value.c) ---- */
Sym host_sym(Sim *s, Str text);
static inline HeapKind host_kind(Sim *s, Ref r) { return (HeapKind)sim_obj(s, r)->kind; }
static inline Str host_name(Sim *s, Ref r) { return sym_str(s->names, sim_obj(s, r)->name); }
uint64_t host_site(Sim *s, Machine *m);
Ref host_opaque(Sim *s, TermId term);             /* surely no tensor and holds none: its value number */
Ref host_fresh(Sim *s, Machine *m);               /* anything, made here */
Ref host_plain(Sim *s, Machine *m);               /* surely no tensor, made here; nothing follows from its value */
Ref host_string(Sim *s, Str contents);            /* a str constant of these bytes */
bool host_text(Sim *s, Ref r, Str *contents);     /* of a str constant; from the scratch arena where it has escapes */
bool host_int(Sim *s, Ref r, int64_t *v);         /* a known integer */
bool host_is_none(Sim *s, Ref r);
bool host_is_number(Sim *s, Ref r);
bool host_is_sequence(Sim *s, Ref r);             /* list or tuple of which all items are known */
Ref host_exception(Sim *s, Str cls, const Ref *args, uint32_t n);
Ref host_raise(Sim *s, Machine *m, Str cls);      /* gives 0 */
Ref host_give_up(Machine *m, Str why);            /* gives 0 */
/* What a value shows when it is printed or compared, as one term. */
TermId host_term(Sim *s, Ref r);
/* Everything reachable from r that hidden code could use, r first. Each once. */
void host_reach(Sim *s, Ref r, RefList *out);
Ref host_hidden(Sim *s, Str what, const Ref *args, uint32_t n);
Ref host_op(Sim *s, Callee callee, Str target, const Ref *args, uint32_t n);
/* A tensor is used as none can be: then no hidden code has handed one out in its place. */
void host_misuse(Sim *s, Ref r);
/* Equal as Python's == has it for keys: by value for constants and numbers, by identity for objects. */
Tri host_equal(Sim *s, Ref a, Ref b);
/* A value of which nothing is known turns out to be a tensor: the object stays the same. */
void host_become_tensor(Sim *s, Ref r);
/* An unknown value or a global name turns out to be a list or dict of the program. */
void host_become_container(Sim *s, Ref r, HeapKind kind);
bool host_may_be_tensor(Sim *s, Ref r);           /* unknown, and used as a tensor so far, if at all */
bool host_reads_nothing(Sim *s, Ref r);            /* nothing in it is or depends on a tensor */
bool host_tensor_member(Sim *s, Str name, bool *attribute);

/* ---- constants (sim_const.c) ---- */
Ref host_constant(Sim *s, Machine *m, Str repr);

/* ---- names and attributes (sim_attr.c) ---- */
Sym host_dotted(Sim *s, Str global);              /* torch._dynamo.utils of __import_torch_dot__dynamo_dot_utils */
bool host_is_module(Str dotted);                  /* of a library: names below it are names */
bool host_is_class(Str dotted);                   /* by the custom of capital letters */
void host_promote(Sim *s, Ref name);              /* a global name that is a value of the program after all */
Ref host_get_attr(Sim *s, Machine *m, Ref o, Sym name);
void host_set_attr(Sim *s, Machine *m, Ref o, Sym name, Ref v);
Ref host_method(Sim *s, Ref self, Sym name);
/* What a named tuple holds under a name; 0: no place is left for it. */
Ref host_field(Sim *s, Ref tuple, Sym name);
bool host_is_named_tuple(const Sim *s, Sym cls);
Ref host_global(Sim *s, Sym name);

/* ---- containers (sim_item.c) ---- */
Ref host_get_item(Sim *s, Machine *m, Ref o, Ref key);
void host_set_item(Sim *s, Machine *m, Ref o, Ref key, Ref v);
/* All items that iteration gives; false: they are not known. */
bool host_items(Sim *s, Machine *m, Ref r, RefList *out);
/* Position of a key in a dict's items, or UINT32_MAX; *sure false: it may be another one that is equal. */
uint32_t host_find_key(Sim *s, Ref dict, Ref key, bool *sure);
void host_dict_put(Sim *s, Ref dict, Ref key, Ref v);
void host_append(Sim *s, Machine *m, Ref list, Ref v);
void host_extend(Sim *s, Machine *m, Ref list, Ref seq);
void host_dict_update(Sim *s, Machine *m, Ref dict, Ref other);
bool host_slice_range(Sim *s, Ref slice, int64_t n, int64_t *at, int64_t *step, int64_t *count);
Ref host_iter(Sim *s, Machine *m, Ref x);
/* zip(v...) whose items are not all known, with a number before them (enumerate) that counts from `number`, 0: none. Gives 0
 * without an exception where iterators stand within iterators too deep. */
Ref host_rows(Sim *s, Machine *m, const Ref *v, uint32_t n, Ref number);
NextItem host_next(Sim *s, Machine *m, Ref it, Ref *item);
Ref host_length(Sim *s, Machine *m, Ref r);
int64_t host_range_count(Sim *s, Ref range);      /* -1: not known */

/* ---- numbers (sim_number.c): operands are HK_NUMBER ---- */
Ref host_arith(Sim *s, Machine *m, Str op, Ref x, Ref y); /* by names of the operator module: "add", "truediv" */
Ref host_number_op(Sim *s, Str op, const Ref *v, uint32_t n);
Ref host_math(Sim *s, Str f, const Ref *v, uint32_t n);
Ref host_to_int(Sim *s, Ref x);
Ref host_to_float(Sim *s, Ref x);

/* ---- operators (sim_oper.c) ---- */
Tri host_truth(Sim *s, Ref r);
Ref host_unary(Sim *s, Machine *m, Str op, Ref x);
Ref host_binary(Sim *s, Machine *m, Str op, Ref x, Ref y);
Ref host_compare(Sim *s, Machine *m, Str op, Ref x, Ref y);
Ref host_format(Sim *s, Machine *m, Ref v, uint32_t conversion, Ref spec);
Ref host_as_number(Sim *s, Ref r);                /* a tensor's item, a number itself; 0: neither */

/* ---- calls (sim_call.c, sim_builtin.c, sim_method.c) ---- */
Ref host_call(Sim *s, Machine *m, const MachineCall *c);
Ref host_call_plain(Sim *s, Machine *m, Ref fn, const Ref *args, uint32_t n); /* may give VALUE_LATER */
bool host_has_frame(Sim *s, Sym name);
/* Gives the last arguments of a call their names, where the dump quotes its line. */
bool host_keywords(HostCall *c);
/* The same for an operator (self first): by the kinds of its values, where they fit its parameters in one way. */
bool host_operator_keywords(HostCall *c, Callee callee, Str target);
Ref host_tensor_method(HostCall *c, Ref self, Str method);
Ref host_operator(HostCall *c, Callee callee, Str target); /* the call as an operator on its arguments */
bool host_is_context(Str dotted);
Ref host_arg(const HostCall *c, uint32_t position, Str keyword); /* 0: not given */
/* Give true when they know the name; *out then is the answer (0: raised or given up). */
bool host_builtin(HostCall *c, Ref *out);
bool host_container_method(HostCall *c, Ref self, Str method, Ref *out);

#endif
