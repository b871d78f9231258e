/* SPDX-License-Identifier: MIT
 * sim_attr: globals, dotted names, attributes. A name that is no library's and no function is a value of the program
 * as soon as it is used like one. */
#include "sim_host.h"

#include <math.h>

/* ---- names ---- */

static Str known_module(Str global)
{
	static const struct {
		Str global, dotted;
	} modules[] = {
#define MODULE_NAME(global, dotted) {STR_INIT(global), STR_INIT(dotted)},
#include "module_names.def"
#undef MODULE_NAME
	};
	for (uint32_t i = 0; i < sizeof modules / sizeof *modules; i++)
		if (str_eq(modules[i].global, global))
			return modules[i].dotted;
	return (Str){0};
}

/* __import_torch_dot__dynamo_dot_utils: Dynamo's own names for modules (codegen of 2.0 to 2.15). */
static Str import_path(Sim *s, Str global)
{
	static const Str dot = STR_INIT("_dot_");
	Str rest = str_sub(global, 9, global.n);
	Buf b = {.a = s->scratch};
	for (;;) {
		uint32_t i = str_find(rest, dot, 0);
		buf_add(&b, str_sub(rest, 0, i));
		if (i >= rest.n)
			break;
		buf_char(&b, '.');
		rest = str_sub(rest, i + dot.n, rest.n);
	}
	return buf_str(&b);
}

/* ___module_collections_140625363315312_c1: a global that Dynamo installs under the id of what it names (2.2 to 2.15). */
static Str installed_name(Str global)
{
	static const Str start = STR_INIT("___module_");
	uint32_t c = str_rfind(global, S("_c")), id = str_rfind(str_sub(global, 0, c), S("_"));
	bool digits = str_starts(global, start) && c < global.n && id > start.n && id + 1 < c;
	for (uint32_t i = id + 1; digits && i < global.n; i++)
		digits = (global.p[i] >= '0' && global.p[i] <= '9') || i == c || i == c + 1;
	return digits ? str_sub(global, start.n, id) : global;
}

Sym host_dotted(Sim *s, Str global)
{
	global = installed_name(global);
	Str path = known_module(global);
	if (str_starts(global, S("__import_")))
		path = import_path(s, global);
	if (str_starts(path, S("torchdynamo")))
		path = str_printf(s->scratch, "torch._dynamo" STR_FMT, STR_ARG(str_sub(path, 11, path.n)));
	return host_sym(s, path.n ? path : global);
}

static Str first_part(Str dotted)
{
	return str_sub(dotted, 0, str_find_char(dotted, '.', 0));
}

static Str last_part(Str dotted)
{
	uint32_t i = str_rfind(dotted, S("."));
	return i < dotted.n ? str_sub(dotted, i + 1, dotted.n) : dotted;
}

bool host_is_module(Str dotted)
{
	return known_module(first_part(dotted)).n != 0;
}

/* Recorder, LSTMCell: a class. MAX_LEN: a constant. */
bool host_is_class(Str dotted)
{
	Str t = last_part(dotted);
	if (t.n && t.p[0] == '_')
		t = str_sub(t, 1, t.n);
	if (!t.n || t.p[0] < 'A' || t.p[0] > 'Z')
		return false;
	for (uint32_t i = 0; i < t.n; i++)
		if (t.p[i] >= 'a' && t.p[i] <= 'z')
			return true;
	return false;
}

Ref host_global(Sim *s, Sym name)
{
	Ref r = map_get(&s->globals, name.i);
	return r ? r : sim_name(s, host_dotted(s, sym_str(s->names, name)));
}

void host_promote(Sim *s, Ref r)
{
	HeapObj *o = sim_obj(s, r);
	if (o->kind != HK_NAME)
		return;
	Str name = sym_str(s->names, o->name);
	o->kind = HK_UNKNOWN;
	o->root = true;
	o->origin = host_mix(hash_bytes(2, name.p, name.n), 0);
	o->term = term_fresh(s->terms, o->origin);
	if (!map_get(&s->globals, o->name.i))
		map_put(&s->globals, o->name.i, r);
	VEC_PUSH(s->a, &s->roots, r);
}

Ref host_method(Sim *s, Ref self, Sym name)
{
	Ref r = sim_new(s, HK_METHOD);
	sim_obj(s, r)->a = self;
	sim_obj(s, r)->name = name;
	return r;
}

static bool is_dunder(Str t)
{
	return t.n > 4 && str_starts(t, S("__")) && str_ends(t, S("__"));
}

static bool number_name(Str dotted, double *v)
{
	Str t = last_part(dotted);
	if (!str_eq(first_part(dotted), S("math")) && !str_eq(first_part(dotted), S("numpy")) &&
	    !str_eq(first_part(dotted), S("torch")))
		return false;
	*v = str_eq(t, S("pi")) ? 3.14159265358979323846 : str_eq(t, S("e")) ? 2.71828182845904523536 : 0;
	if (str_eq(t, S("inf")))
		*v = INFINITY;
	return *v != 0;
}

/* ---- attributes of names ---- */

static Ref name_attr(Sim *s, Machine *m, Ref o, Sym name)
{
	Str dotted = host_name(s, o), attr = sym_str(s->names, name);
	if (str_eq(attr, S("__name__")) || str_eq(attr, S("__qualname__")) || str_eq(attr, S("__module__")))
		return host_string(s, last_part(dotted));
	if (str_eq(attr, S("__doc__")) || str_eq(attr, S("__mro__")) || str_eq(attr, S("__annotations__")))
		return host_plain(s, m);
	if (host_is_module(dotted)) {
		Str path = str_printf(s->scratch, STR_FMT "." STR_FMT, STR_ARG(dotted), STR_ARG(attr));
		if (str_starts(path, S("builtins.")))
			path = str_sub(path, 9, path.n);
		double v;
		if (number_name(path, &v))
			return sim_number(s, term_num(s->terms, v, 'f'));
		return sim_name(s, host_sym(s, path));
	}
	if (str_eq(attr, S("_is_profiler_enabled")))
		return sim_bool(s, false);
	if (str_eq(attr, S("__func__")))
		return o;
	if (is_dunder(attr))
		return host_method(s, o, name);
	/* A class keeps its name: it is still called to make objects. */
	host_promote(s, o);
	return host_get_attr(s, m, o, name);
}

/* ---- attributes of tensors ---- */

static Ref shape_of(Sim *s, Machine *m, Ref o)
{
	SimTensor t = s->tensors.v[sim_obj(s, o)->tensor];
	if (!t.sized) {
		Ref r = host_plain(s, m);
		sim_obj(s, r)->term = term_unsure(s->terms, sim_obj(s, r)->origin);
		return r;
	}
	Ref dims[SIM_DIMS];
	for (uint32_t i = 0; i < t.ndim && i < SIM_DIMS; i++)
		dims[i] = sim_int(s, t.size[i]);
	return sim_list(s, HK_TUPLE, dims, t.ndim < SIM_DIMS ? t.ndim : SIM_DIMS);
}

static Ref tensor_attr(Sim *s, Machine *m, Ref o, Sym name)
{
	Str attr = sym_str(s->names, name);
	HeapAttr *set = host_find_attr(s, o, name);
	if (set && set->value)
		return set->value;
	SimTensor t = s->tensors.v[sim_obj(s, o)->tensor];
	if (str_eq(attr, S("shape")))
		return shape_of(s, m, o);
	if (str_eq(attr, S("ndim")) && t.sized)
		return sim_int(s, t.ndim);
	if (str_eq(attr, S("dtype")) && t.dtype != DT_NONE)
		return sim_name(s, host_sym(s, dtype_torch(t.dtype)));
	if (str_eq(attr, S("device")) && !sym_none(t.device))
		return host_opaque(s, term_text(s->terms, t.device));
	static const Str views[] = {STR_INIT("T"), STR_INIT("mT"), STR_INIT("H"), STR_INIT("mH"), STR_INIT("data"),
	                            STR_INIT("real"), STR_INIT("imag"), STR_INIT("grad")};
	for (uint32_t i = 0; i < sizeof views / sizeof *views; i++)
		if (str_eq(attr, views[i]))
			return host_op(s, CALLEE_ATTR, attr, &o, 1);
	bool attribute;
	if (str_eq(attr, S("requires_grad")) || str_eq(attr, S("is_leaf")))
		return host_opaque(s, term_text(s->terms, host_sym(s, S("flag of a tensor"))));
	if (host_tensor_member(s, attr, &attribute) && attribute)
		return host_plain(s, m);
	if (str_starts(attr, S("is_")) && !facts_find(s->f, CALLEE_METHOD, attr, (VersionSpan){0, 0}))
		return host_plain(s, m);
	if (str_eq(attr, S("nbytes")) || str_eq(attr, S("itemsize")) || str_eq(attr, S("names")) ||
	    str_eq(attr, S("_version")) || str_eq(attr, S("__class__")) || str_eq(attr, S("strides")))
		return shape_of(s, m, o) ? host_plain(s, m) : 0;
	return host_method(s, o, name);
}

/* ---- attributes of objects ---- */

static bool is_view_name(Str attr)
{
	return str_eq(attr, S("_modules")) || str_eq(attr, S("_parameters")) || str_eq(attr, S("_buffers")) ||
	       str_eq(attr, S("__dict__"));
}

/* The dict of a module's parts: its items are the attributes of the module. a: the module. */
static Ref view_of(Sim *s, Ref o, Sym name)
{
	HeapAttr *at = host_find_attr(s, o, name);
	if (at && at->value)
		return at->value;
	Ref v = sim_object(s, name, host_mix(sim_obj(s, o)->origin, name.i));
	sim_obj(s, v)->a = o;
	sim_obj(s, v)->root = sim_obj(s, o)->root;
	sim_set_attr(s, o, name, v);
	return v;
}

static bool uses_as_tensor(Str attr)
{
	return str_eq(attr, S("shape")) || str_eq(attr, S("ndim")) || str_eq(attr, S("T")) || str_eq(attr, S("mT")) ||
	       str_eq(attr, S("H")) || str_eq(attr, S("mH"));
}

static bool views_a_tensor(Str attr)
{
	return str_eq(attr, S("data")) || str_eq(attr, S("real")) || str_eq(attr, S("imag"));
}

static Ref object_attr(Sim *s, Machine *m, Ref o, Sym name)
{
	Str attr = sym_str(s->names, name);
	HeapObj ob = *sim_obj(s, o);
	if (is_view_name(attr))
		return view_of(s, o, name);
	HeapAttr *at = host_find_attr(s, o, name);
	if (at && at->value)
		return at->value;
	if (ob.kind == HK_UNKNOWN && !ob.known && host_may_be_tensor(s, o) &&
	    (uses_as_tensor(attr) || (views_a_tensor(attr) && !ob.attrs.n))) {
		host_become_tensor(s, o);
		return tensor_attr(s, m, o, name);
	}
	if (is_dunder(attr) && !str_eq(attr, S("__class__")))
		return host_method(s, o, name);
	if (str_eq(attr, S("__class__")))
		return ob.kind == HK_OBJECT && !sym_none(ob.name) ? sim_name(s, ob.name) : host_plain(s, m);
	Ref field = ob.fields ? host_field(s, o, name) : 0;
	if (field)
		return field;
	if (ob.kind == HK_OBJECT && ob.items.n && !host_has_frame(s, name)) {
		/* The class that keeps its constructor's arguments is not shown: this may be any of them, or made from them. */
		Ref r = host_hidden(s, attr, ob.items.v, ob.items.n);
		if (r)
			sim_set_attr(s, o, name, r);
		for (uint32_t i = 0; i < ob.items.n; i++)
			if (sim_is_tensor(s, ob.items.v[i])) { /* what a write to it changes is not known either */
				sim_unsure(s, S("an attribute of an object whose constructor is not shown"));
				break;
			}
		return r;
	}
	return sim_get_attr(s, o, name);
}

Ref host_get_attr(Sim *s, Machine *m, Ref o, Sym name)
{
	Str attr = sym_str(s->names, name);
	if (str_eq(attr, S("__mro__")))
		return sim_name(s, name);
	switch (host_kind(s, o)) {
	case HK_NAME: return name_attr(s, m, o, name);
	case HK_TENSOR: return tensor_attr(s, m, o, name);
	case HK_OBJECT:
	case HK_UNKNOWN: return object_attr(s, m, o, name);
	case HK_CELL:
		if (str_eq(attr, S("cell_contents")))
			return sim_obj(s, o)->a ? sim_obj(s, o)->a : host_raise(s, m, S("ValueError"));
		break;
	case HK_FUNCTION:
		if (str_eq(attr, S("__closure__")) && sim_obj(s, o)->b)
			return sim_obj(s, o)->b;
		if (str_eq(attr, S("__code__")) && sim_obj(s, o)->a)
			return sim_obj(s, o)->a;
		if (str_eq(attr, S("__defaults__")))
			return sim_obj(s, o)->c ? sim_obj(s, o)->c : sim_none(s);
		if (str_eq(attr, S("__name__")) || str_eq(attr, S("__qualname__")))
			return host_string(s, host_name(s, o));
		if (host_find_attr(s, o, name))
			return sim_get_attr(s, o, name);
		break;
	case HK_METHOD:
		if (str_eq(attr, S("__self__")))
			return sim_obj(s, o)->a;
		if (str_eq(attr, S("__func__")))
			return sim_name(s, sim_obj(s, o)->name);
		break;
	case HK_EXCEPTION:
		if (str_eq(attr, S("args")))
			return sim_list(s, HK_TUPLE, sim_obj(s, o)->items.v, sim_obj(s, o)->items.n);
		break;
	case HK_SLICE:
	case HK_RANGE:
		for (uint32_t i = 0; i < 3; i++)
			if (str_eq(attr, (Str[]){S("start"), S("stop"), S("step")}[i]))
				return sim_obj(s, o)->items.v[i];
		break;
	case HK_NUMBER:
		if (str_eq(attr, S("real")))
			return o;
		break;
	default: break;
	}
	if (str_eq(attr, S("__doc__")) || str_eq(attr, S("__class__")) || str_eq(attr, S("__dict__")))
		return host_plain(s, m);
	return host_method(s, o, name);
}

/* x.data = y: from then on x has y's memory. */
static void set_tensor_attr(Sim *s, Ref o, Sym name, Ref v)
{
	Str attr = sym_str(s->names, name);
	if (str_eq(attr, S("data")) && v) {
		host_op(s, CALLEE_METHOD, S("set_"), (Ref[]){o, v}, 2);
		return;
	}
	if (str_eq(attr, S("requires_grad")) && v) {
		host_op(s, CALLEE_METHOD, S("requires_grad_"), (Ref[]){o, v}, 2);
		return;
	}
	sim_set_attr(s, o, name, v);
}

void host_set_attr(Sim *s, Machine *m, Ref o, Sym name, Ref v)
{
	switch (host_kind(s, o)) {
	case HK_NAME:
		if (host_is_module(host_name(s, o))) {
			/* A setting of a library: what depends on it is not known. */
			if (v && host_reads_nothing(s, v))
				return;
			host_hidden(s, sym_str(s->names, name), &v, v ? 1 : 0);
			return;
		}
		host_promote(s, o);
		sim_set_attr(s, o, name, v);
		return;
	case HK_TENSOR: set_tensor_attr(s, o, name, v); return;
	case HK_CELL:
		if (str_eq(sym_str(s->names, name), S("cell_contents"))) {
			sim_obj(s, o)->a = v;
			return;
		}
		break;
	case HK_UNKNOWN:
	case HK_OBJECT:
	case HK_FUNCTION:
	case HK_EXCEPTION:
		/* Which of what its constructor got stood there is not known, and would be seen no more. */
		if (sim_obj(s, o)->kind == HK_OBJECT && sim_obj(s, o)->items.n && !sim_obj(s, o)->bare && !host_find_attr(s, o, name))
			sim_unsure(s, S("an attribute of an object whose constructor is not shown"));
		sim_set_attr(s, o, name, v); return;
	default: break;
	}
	machine_give_up(m, S("an attribute is set on a value that has none"));
}
