/* SPDX-License-Identifier: MIT
 * sim_host: the functions that a machine asks. Each begins by noting where it is and by counting the step; what a
 * function needs for itself is given back at its end. */
#include "sim_host.h"

/* ---- entering and leaving ---- */

/* An argument of the outermost frame of which nothing is known may be a tensor or a container as well as an object;
 * only self is surely one. */
static Ref loosen(Sim *s, Ref r)
{
	if (!r || r >= VALUE_LIMIT)
		return r;
	HeapObj *o = sim_obj(s, r);
	if (o->kind == HK_OBJECT && o->root && !o->a && !o->items.n && !str_eq(sym_str(s->names, o->name), S("self")))
		o->kind = HK_UNKNOWN;
	return r;
}

static bool begin(Sim *s, Machine *m)
{
	if (!(s->steps & 255))
		budget_pulse(s->a->budget);
	if (++s->steps > s->max_steps)
		sim_stop(s, S("too many steps"));
	if (s->stopped) {
		machine_give_up(m, s->why);
		return false;
	}
	s->here = ins_span(m->code, machine_ins(m));
	return true;
}

/* What is not understood gives something unknown, and the run goes on: whom its values reach is still worth knowing. */
static Value end(Sim *s, Machine *m, ArenaMark mark, Ref r)
{
	arena_rewind(s->scratch, mark);
	if (s->stopped) {
		machine_give_up(m, s->why);
		return r;
	}
	if (m->gave_up)
		sim_unsure(s, m->why);
	else if (!r && !m->raising)
		sim_unsure(s, S("an operation on values that is not understood"));
	m->gave_up = false;
	return r || m->raising ? r : host_fresh(s, m);
}

#define ENTER(ctx, m)                                                                                      \
	Sim *s = (ctx);                                                                                        \
	if (!begin(s, (m)))                                                                                    \
		return VALUE_NULL;                                                                                 \
	ArenaMark mark = arena_mark(s->scratch)
#define LEAVE(m, value) return end(s, (m), mark, (value))
#define ENTER_VOID(ctx, m)                                                                                 \
	Sim *s = (ctx);                                                                                        \
	if (!begin(s, (m)))                                                                                    \
		return;                                                                                            \
	ArenaMark mark = arena_mark(s->scratch)
#define LEAVE_VOID(m) (void)end(s, (m), mark, VALUE_LIMIT)

/* ---- constants, names, cells ---- */

static Value on_constant(void *ctx, Machine *m, Str repr)
{
	ENTER(ctx, m);
	LEAVE(m, host_constant(s, m, repr));
}

static Value on_integer(void *ctx, Machine *m, int64_t number)
{
	ENTER(ctx, m);
	LEAVE(m, sim_int(s, number));
}

/* A local without a value: the frame began in the middle, or the listing binds it in a way that is not seen. */
static Value on_unbound(void *ctx, Machine *m, Unbound kind, Sym name)
{
	ENTER(ctx, m);
	(void)kind, (void)name;
	LEAVE(m, host_give_up(m, S("a variable is read that has no value")));
}

static Value on_load_global(void *ctx, Machine *m, Sym name)
{
	ENTER(ctx, m);
	LEAVE(m, host_global(s, name));
}

static void on_store_global(void *ctx, Machine *m, Sym name, Value v)
{
	ENTER_VOID(ctx, m);
	if (!s->globals.a)
		s->globals.a = s->a;
	Ref was = map_get(&s->globals, name.i);
	Ref now = v ? v : host_plain(s, m);
	map_put(&s->globals, name.i, now);
	/* What stands in a global at the end is observed: through one object for each global. */
	Ref holder = sim_name(s, host_sym(s, S("globals of the program")));
	if (host_kind(s, holder) == HK_NAME) {
		HeapObj *o = sim_obj(s, holder);
		o->kind = HK_OBJECT;
		o->root = true;
		o->origin = host_mix(11, 11);
		o->term = term_fresh(s->terms, o->origin);
		o->a = 0;
		VEC_PUSH(s->a, &s->roots, holder);
	}
	(void)was;
	sim_set_attr(s, holder, name, now);
	LEAVE_VOID(m);
}

static Value on_cell_new(void *ctx, Machine *m, Sym name, Value content)
{
	ENTER(ctx, m);
	Ref r = sim_new(s, HK_CELL);
	sim_obj(s, r)->name = name;
	sim_obj(s, r)->a = content;
	LEAVE(m, r);
}

static Value on_cell_get(void *ctx, Machine *m, Value cell)
{
	Sim *s = ctx;
	if (!begin(s, m))
		return VALUE_NULL;
	if (host_kind(s, cell) == HK_CELL)
		return sim_obj(s, cell)->a;
	/* A closure of which the cells are not shown: its content stands for it. */
	return cell;
}

static void on_cell_set(void *ctx, Machine *m, Value cell, Value v)
{
	ENTER_VOID(ctx, m);
	if (host_kind(s, cell) == HK_CELL)
		sim_obj(s, cell)->a = v;
	else
		machine_give_up(m, S("a cell that is none"));
	LEAVE_VOID(m);
}

/* ---- attributes and items ---- */

static Value on_get_attr(void *ctx, Machine *m, Value o, Sym name)
{
	ENTER(ctx, m);
	LEAVE(m, host_get_attr(s, m, loosen(s, o), name));
}

static void on_set_attr(void *ctx, Machine *m, Value o, Sym name, Value v)
{
	ENTER_VOID(ctx, m);
	host_set_attr(s, m, o, name, v);
	LEAVE_VOID(m);
}

/* The method of a parent class is not the one that a frame of that name shows. */
static Value on_super_attr(void *ctx, Machine *m, Value super, Value cls, Value self, Sym name)
{
	ENTER(ctx, m);
	(void)super, (void)cls;
	Ref r = sim_object(s, name, host_site(s, m));
	VEC_PUSH(s->a, &sim_obj(s, r)->items, self);
	LEAVE(m, r);
}

static Value on_get_item(void *ctx, Machine *m, Value o, Value key)
{
	ENTER(ctx, m);
	LEAVE(m, host_get_item(s, m, loosen(s, o), loosen(s, key)));
}

static void on_set_item(void *ctx, Machine *m, Value o, Value key, Value v)
{
	ENTER_VOID(ctx, m);
	host_set_item(s, m, loosen(s, o), loosen(s, key), loosen(s, v));
	LEAVE_VOID(m);
}

/* ---- operators ---- */

static Value on_unary(void *ctx, Machine *m, Str op, Value x)
{
	ENTER(ctx, m);
	LEAVE(m, host_unary(s, m, op, loosen(s, x)));
}

static Value on_binary(void *ctx, Machine *m, Str op, Value x, Value y)
{
	ENTER(ctx, m);
	LEAVE(m, host_binary(s, m, op, loosen(s, x), loosen(s, y)));
}

static Value on_compare(void *ctx, Machine *m, Str op, Value x, Value y)
{
	ENTER(ctx, m);
	LEAVE(m, host_compare(s, m, op, loosen(s, x), loosen(s, y)));
}

/* ---- containers ---- */

static Ref join_text(Sim *s, const Ref *v, uint32_t n)
{
	Buf b = {.a = s->scratch};
	Str t;
	TermId *terms = NEW_N(s->scratch, TermId, n + 1);
	bool known = true;
	for (uint32_t i = 0; i < n; i++) {
		terms[i] = host_term(s, v[i]);
		known = known && host_text(s, v[i], &t) && b.n + t.n < HOST_TEXT_MOST;
		if (known)
			buf_add(&b, t);
	}
	if (known)
		return host_string(s, buf_str(&b));
	return host_opaque(s, term_op(s->terms, host_sym(s, S("text")), terms, n, 0));
}

static Ref build(Sim *s, Machine *m, BuildKind kind, const Ref *v, uint32_t n)
{
	if (n > 2 * HOST_ITEMS_MOST)
		return host_give_up(m, S("a container with too many items"));
	Ref r, none = sim_none(s);
	switch (kind) {
	case BUILD_TUPLE: return sim_list(s, HK_TUPLE, v, n);
	case BUILD_LIST: return sim_list(s, HK_LIST, v, n);
	case BUILD_SET: {
		HostCall c = {.s = s, .m = m, .n = 1, .npos = 1, .names = NEW_N(s->scratch, Sym, 1)};
		r = sim_list(s, HK_SET, NULL, 0);
		for (uint32_t i = 0; i < n; i++) {
			Ref out;
			c.args = &v[i];
			host_container_method(&c, r, S("add"), &out);
		}
		return r;
	}
	case BUILD_MAP:
		r = sim_list(s, HK_DICT, NULL, 0);
		for (uint32_t i = 0; i + 1 < n; i += 2)
			host_dict_put(s, r, v[i], v[i + 1]);
		return r;
	case BUILD_SLICE: return sim_list(s, HK_SLICE, (Ref[]){n ? v[0] : none, n > 1 ? v[1] : none, n > 2 ? v[2] : none}, 3);
	case BUILD_STRING: return join_text(s, v, n);
	}
	return 0;
}

static Value on_build(void *ctx, Machine *m, BuildKind kind, const Value *v, uint32_t n)
{
	ENTER(ctx, m);
	LEAVE(m, build(s, m, kind, v, n));
}

static Value on_build_joined(void *ctx, Machine *m, BuildKind kind, const Value *v, uint32_t n)
{
	ENTER(ctx, m);
	Ref r = sim_list(s, kind == BUILD_MAP ? HK_DICT : HK_LIST, NULL, 0);
	for (uint32_t i = 0; i < n && !m->gave_up && !m->raising; i++) {
		if (kind == BUILD_MAP)
			host_dict_update(s, m, r, v[i]);
		else
			host_extend(s, m, r, v[i]);
	}
	sim_obj(s, r)->kind = kind == BUILD_TUPLE ? HK_TUPLE : kind == BUILD_SET ? HK_SET : sim_obj(s, r)->kind;
	LEAVE(m, r);
}

static Value on_build_keyed(void *ctx, Machine *m, Value keys, const Value *v, uint32_t n)
{
	ENTER(ctx, m);
	if (host_kind(s, keys) != HK_TUPLE || sim_obj(s, keys)->items.n != n)
		LEAVE(m, host_give_up(m, S("a dict whose keys are not known")));
	Ref r = sim_list(s, HK_DICT, NULL, 0);
	for (uint32_t i = 0; i < n; i++)
		host_dict_put(s, r, sim_obj(s, keys)->items.v[i], v[i]);
	LEAVE(m, r);
}

/* {**kwargs} of keywords that are not known: a dict of which not all is known, and which holds what they hold. */
static void merge(Sim *s, Machine *m, Ref dict, Ref other)
{
	if (host_kind(s, other) != HK_UNKNOWN || host_kind(s, dict) != HK_DICT || sim_obj(s, dict)->opened) {
		host_dict_update(s, m, dict, other);
		return;
	}
	if (sim_obj(s, dict)->items.n)
		sim_unsure(s, S("keywords that are not known, over others"));
	sim_obj(s, dict)->opened = true;
	sim_obj(s, dict)->origin = sim_obj(s, other)->origin;
	sim_set_attr(s, dict, host_sym(s, S("**")), other);
}

static void on_add(void *ctx, Machine *m, AddKind kind, Value container, Value v, Value value)
{
	ENTER_VOID(ctx, m);
	RefList items = {.a = s->scratch};
	HostCall c = {.s = s, .m = m, .args = &v, .n = 1, .npos = 1, .names = NEW_N(s->scratch, Sym, 1)};
	Ref out;
	switch (kind) {
	case ADD_LIST_APPEND: host_append(s, m, container, v); break;
	case ADD_LIST_EXTEND: host_extend(s, m, container, loosen(s, v)); break;
	case ADD_SET_ADD: host_container_method(&c, container, S("add"), &out); break;
	case ADD_SET_UPDATE:
		if (host_kind(s, container) != HK_SET || !host_items(s, m, loosen(s, v), &items))
			machine_give_up(m, S("a set is extended by items that are not known"));
		for (uint32_t i = 0; i < items.v.n && !m->gave_up; i++) {
			c.args = &items.v.v[i];
			host_container_method(&c, container, S("add"), &out);
		}
		break;
	case ADD_MAP_ADD:
		if (host_kind(s, container) == HK_DICT)
			host_dict_put(s, container, v, value);
		else
			machine_give_up(m, S("an item is added to a value that is no dict"));
		break;
	case ADD_DICT_UPDATE:
	case ADD_DICT_MERGE: merge(s, m, container, loosen(s, v)); break;
	}
	LEAVE_VOID(m);
}

static Value on_to_tuple(void *ctx, Machine *m, Value list)
{
	ENTER(ctx, m);
	RefList v = {.a = s->scratch};
	if (host_items(s, m, loosen(s, list), &v))
		LEAVE(m, sim_list(s, HK_TUPLE, v.v.v, v.v.n));
	const HeapObj o = *sim_obj(s, list);
	if (o.kind != HK_LIST || !o.c)
		LEAVE(m, host_give_up(m, S("a tuple of items that are not known")));
	Ref r = sim_list(s, HK_TUPLE, o.items.v, o.items.n);
	sim_obj(s, r)->opened = true;
	sim_obj(s, r)->c = o.c;
	LEAVE(m, r);
}

static void unpack(Sim *s, Machine *m, Ref seq, uint32_t n, int32_t after, Ref *out)
{
	RefList v = {.a = s->scratch};
	uint32_t fixed = after < 0 ? n : n - 1;
	if (host_kind(s, seq) == HK_NAME)
		host_promote(s, seq);
	if (!host_items(s, m, seq, &v)) {
		HeapKind k = host_kind(s, seq);
		if (m->raising || after >= 0 || (k != HK_UNKNOWN && k != HK_TENSOR && k != HK_OBJECT && k != HK_LIST)) {
			machine_give_up(m, S("a value is unpacked of which the items are not known"));
			return;
		}
		for (uint32_t i = 0; i < n; i++)
			out[i] = host_get_item(s, m, seq, sim_int(s, i));
		return;
	}
	if (v.v.n < fixed || (after < 0 && v.v.n != n)) { /* programs that were captured do not fail here */
		host_misuse(s, seq);
		machine_give_up(m, S("a call has returned another number of values than are unpacked"));
		return;
	}
	uint32_t before = after < 0 ? n : n - 1 - (uint32_t)after, rest = v.v.n - fixed;
	for (uint32_t i = 0; i < before; i++)
		out[i] = v.v.v[i];
	if (after < 0)
		return;
	out[before] = sim_list(s, HK_LIST, rest ? v.v.v + before : NULL, rest);
	for (uint32_t i = 0; i < (uint32_t)after; i++)
		out[before + 1 + i] = v.v.v[before + rest + i];
}

static void on_unpack(void *ctx, Machine *m, Value seq, uint32_t n, int32_t after, Value *out)
{
	ENTER_VOID(ctx, m);
	host_charge(s, n);
	/* The machine's stack may grow while items are made. */
	Ref *v = NEW_N(s->scratch, Ref, (size_t)n + 1);
	if (n > HOST_ITEMS_MOST || (after >= 0 && (uint32_t)after >= n))
		machine_give_up(m, S("more items than a container can have"));
	else
		unpack(s, m, loosen(s, seq), n, after, v);
	bool known = !m->gave_up;
	end(s, m, mark, VALUE_LIMIT);
	for (uint32_t i = 0; i < n && !m->gave_up && !m->raising; i++)
		out[i] = known ? v[i] : host_fresh(s, m);
}

static Value on_format(void *ctx, Machine *m, Value v, uint32_t conversion, Value spec)
{
	ENTER(ctx, m);
	LEAVE(m, host_format(s, m, loosen(s, v), conversion, spec));
}

/* ---- loops and branches ---- */

static Value on_iter(void *ctx, Machine *m, Value x)
{
	ENTER(ctx, m);
	LEAVE(m, host_iter(s, m, loosen(s, x)));
}

static NextItem on_next(void *ctx, Machine *m, Value iter, Value *item)
{
	Sim *s = ctx;
	if (!begin(s, m))
		return NEXT_END;
	ArenaMark mark = arena_mark(s->scratch);
	NextItem k = host_next(s, m, iter, item);
	if (k == NEXT_END) {
		end(s, m, mark, VALUE_LIMIT);
		return k;
	}
	bool known = *item && !m->gave_up;
	*item = end(s, m, mark, known ? *item : 0);
	return known ? k : NEXT_UNKNOWN;
}

static Tri on_truth(void *ctx, Machine *m, Value v)
{
	Sim *s = ctx;
	if (!begin(s, m))
		return TRI_MAY;
	ArenaMark mark = arena_mark(s->scratch);
	Tri t = host_truth(s, loosen(s, v));
	end(s, m, mark, v);
	return t;
}

static Tri on_is_none(void *ctx, Machine *m, Value v)
{
	Sim *s = ctx;
	if (!begin(s, m))
		return TRI_MAY;
	HeapKind k = host_kind(s, loosen(s, v));
	return host_is_none(s, v) ? TRI_MUST : k == HK_UNKNOWN || k == HK_NAME ? TRI_MAY : TRI_NO;
}

/* ---- calls ---- */

static Value on_call(void *ctx, Machine *m, const MachineCall *c)
{
	ENTER(ctx, m);
	for (uint32_t i = 0; i < c->n; i++)
		loosen(s, c->args[i]);
	if (c->ex) {
		loosen(s, c->seq);
		loosen(s, c->map);
	}
	loosen(s, c->fn);
	LEAVE(m, host_call(s, m, c));
}

static Value on_make_function(void *ctx, Machine *m, const MachineFunction *f)
{
	ENTER(ctx, m);
	Str name;
	Ref r = sim_new(s, HK_FUNCTION);
	HeapObj *o = sim_obj(s, r);
	o->a = f->code;
	o->b = f->closure;
	o->c = f->defaults;
	o->name = sim_obj(s, f->code)->name;
	/* Up to 3.10 the name says which resume function it is, where the code's name is shared by several. */
	if (f->name && host_text(s, f->name, &name) && str_starts(name, S("__resume_at_")))
		sim_obj(s, r)->name = host_sym(s, name);
	LEAVE(m, r);
}

static Value on_function_part(void *ctx, Machine *m, Value fn, uint32_t part, Value v)
{
	ENTER(ctx, m);
	if (host_kind(s, fn) != HK_FUNCTION)
		LEAVE(m, host_give_up(m, S("a part of a function that is none")));
	if (part == 8)
		sim_obj(s, fn)->b = v;
	else if (part == 1)
		sim_obj(s, fn)->c = v;
	LEAVE(m, fn);
}

static Value on_import_name(void *ctx, Machine *m, Sym name, Value level, Value from)
{
	ENTER(ctx, m);
	(void)level;
	Str dotted = sym_str(s->names, name);
	if (!from || host_is_none(s, from))
		dotted = str_sub(dotted, 0, str_find_char(dotted, '.', 0));
	LEAVE(m, sim_name(s, host_dotted(s, dotted)));
}

static Value on_import_from(void *ctx, Machine *m, Value module, Sym name)
{
	ENTER(ctx, m);
	if (host_kind(s, module) != HK_NAME)
		LEAVE(m, host_get_attr(s, m, module, name));
	Str path = str_printf(s->scratch, STR_FMT "." STR_FMT, STR_ARG(host_name(s, module)), STR_ARG(sym_str(s->names, name)));
	/* Of a module of the program the name alone: frames are known by it. */
	bool library = host_is_module(host_name(s, module));
	LEAVE(m, sim_name(s, library ? host_sym(s, path) : name));
}

/* Include/internal/pycore_intrinsics.h: 1 prints, 5 is unary plus, 3 makes StopIteration an error. */
static Value on_intrinsic(void *ctx, Machine *m, uint32_t number, Value x, Value y)
{
	ENTER(ctx, m);
	(void)y;
	if (number == 5)
		LEAVE(m, host_unary(s, m, S("+"), loosen(s, x)));
	LEAVE(m, host_give_up(m, S("an intrinsic function that is not followed")));
}

static Value on_opaque(void *ctx, Machine *m, Str what, const Value *v, uint32_t n, uint32_t k)
{
	ENTER(ctx, m);
	(void)v, (void)n, (void)k;
	LEAVE(m, host_give_up(m, str_printf(s->a, "%.*s is not followed", STR_ARG(what))));
}

static Value on_raised(void *ctx, Machine *m, Value x, Value cause)
{
	ENTER(ctx, m);
	(void)cause;
	if (!x)
		LEAVE(m, host_exception(s, S("RuntimeError"), NULL, 0));
	HeapObj o = *sim_obj(s, x);
	if (o.kind == HK_EXCEPTION)
		LEAVE(m, x);
	if (o.kind == HK_OBJECT) {
		sim_obj(s, x)->kind = HK_EXCEPTION;
		LEAVE(m, x);
	}
	Ref r = host_exception(s, sym_str(s->names, o.name), NULL, 0);
	LEAVE(m, r);
}

const Host sim_host = {
	.constant = on_constant,
	.integer = on_integer,
	.unbound = on_unbound,
	.load_global = on_load_global,
	.store_global = on_store_global,
	.cell_new = on_cell_new,
	.cell_get = on_cell_get,
	.cell_set = on_cell_set,
	.get_attr = on_get_attr,
	.set_attr = on_set_attr,
	.super_attr = on_super_attr,
	.get_item = on_get_item,
	.set_item = on_set_item,
	.unary = on_unary,
	.binary = on_binary,
	.compare = on_compare,
	.build = on_build,
	.build_joined = on_build_joined,
	.build_keyed = on_build_keyed,
	.add = on_add,
	.to_tuple = on_to_tuple,
	.unpack = on_unpack,
	.format = on_format,
	.iter = on_iter,
	.next = on_next,
	.truth = on_truth,
	.is_none = on_is_none,
	.call = on_call,
	.make_function = on_make_function,
	.function_part = on_function_part,
	.import_name = on_import_name,
	.import_from = on_import_from,
	.intrinsic = on_intrinsic,
	.opaque = on_opaque,
	.raised = on_raised,
};
