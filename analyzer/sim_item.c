/* SPDX-License-Identifier: MIT
 * sim_item: items of containers, read, written and deleted. A list or dict that existed before the run is opened: it
 * has items that are not known; those asked for are made by their key and kept as attributes "[key]", those added
 * since stand in its items. */
#include "sim_host.h"

/* ---- keys ---- */

/* Name under which an item that existed before is kept. */
static Sym item_name(Sim *s, Ref key)
{
	int64_t k;
	Str text;
	if (host_int(s, key, &k))
		return host_sym(s, str_printf(s->scratch, "%lld", (long long)k));
	if (host_text(s, key, &text))
		return host_sym(s, text.n ? text : S("''"));
	if (host_kind(s, key) == HK_CONST || host_kind(s, key) == HK_NAME)
		return sim_obj(s, key)->name;
	return (Sym){0};
}

uint32_t host_find_key(Sim *s, Ref dict, Ref key, bool *sure)
{
	*sure = true;
	uint32_t n = sim_obj(s, dict)->items.n;
	host_charge(s, 4 * (uint64_t)n);
	for (uint32_t i = 0; i + 1 < n; i += 2) {
		Tri same = host_equal(s, sim_obj(s, dict)->items.v[i], key);
		if (same == TRI_MUST)
			return i;
		if (same == TRI_MAY)
			*sure = false;
	}
	return UINT32_MAX;
}

void host_dict_put(Sim *s, Ref dict, Ref key, Ref v)
{
	bool sure;
	uint32_t i = host_find_key(s, dict, key, &sure);
	HeapObj *o = sim_obj(s, dict);
	if (i != UINT32_MAX) {
		o->items.v[i + 1] = v;
		return;
	}
	if (!sure)
		sim_unsure(s, S("an item of a container that is not all known"));
	if (o->items.n >= 2 * HOST_ITEMS_MOST) {
		sim_stop(s, S("a container with too many items"));
		return;
	}
	VEC_PUSH(s->a, &o->items, key);
	VEC_PUSH(s->a, &o->items, v);
}

static void dict_delete(Sim *s, Machine *m, Ref dict, Ref key)
{
	bool sure;
	uint32_t i = host_find_key(s, dict, key, &sure);
	HeapObj *o = sim_obj(s, dict);
	if (i != UINT32_MAX) {
		memmove(o->items.v + i, o->items.v + i + 2, (o->items.n - i - 2) * sizeof *o->items.v);
		o->items.n -= 2;
		host_charge(s, o->items.n);
		return;
	}
	if (o->opened || !sure)
		sim_unsure(s, S("an item of a container that is not all known"));
	else
		host_raise(s, m, S("KeyError"));
}

static Ref dict_get(Sim *s, Machine *m, Ref dict, Ref key)
{
	bool sure;
	uint32_t i = host_find_key(s, dict, key, &sure);
	const HeapObj *o = sim_obj(s, dict);
	if (i != UINT32_MAX)
		return o->items.v[i + 1];
	if (!sure)
		return host_hidden(s, S("an item of a dict"), &dict, 1);
	if (!o->opened)
		return host_raise(s, m, S("KeyError"));
	Sym name = item_name(s, key);
	if (sym_none(name))
		return host_hidden(s, S("an item of a dict"), (Ref[]){dict, key}, 2);
	return sim_get_attr(s, dict, name);
}

/* ---- lists and tuples ---- */

static bool bound(Sim *s, Ref r, int64_t dflt, int64_t *out)
{
	*out = dflt;
	return host_is_none(s, r) || host_int(s, r, out);
}

bool host_slice_range(Sim *s, Ref slice, int64_t n, int64_t *first, int64_t *step, int64_t *count)
{
	Ref parts[3];
	memcpy(parts, sim_obj(s, slice)->items.v, sizeof parts);
	int64_t stop;
	if (!bound(s, parts[2], 1, step) || !*step || *step > HOST_ITEMS_MOST || *step < -HOST_ITEMS_MOST)
		return false;
	bool back = *step < 0;
	if (!bound(s, parts[0], back ? n - 1 : 0, first) || !bound(s, parts[1], back ? -1 : n, &stop))
		return false;
	int64_t lo = back ? -1 : 0, hi = back ? n - 1 : n;
	if (*first < 0)
		*first += n;
	if (stop < 0 && !host_is_none(s, parts[1]))
		stop += n;
	*first = *first < lo ? lo : *first > hi ? hi : *first;
	stop = stop < lo ? lo : stop > hi ? hi : stop;
	int64_t way = back ? *first - stop : stop - *first, unit = back ? -*step : *step;
	*count = way > 0 ? (way + unit - 1) / unit : 0;
	return true;
}

static Ref list_slice(Sim *s, Ref o, Ref key)
{
	int64_t at, step, count;
	uint32_t n = sim_obj(s, o)->items.n;
	if (sim_obj(s, o)->opened || !host_slice_range(s, key, n, &at, &step, &count))
		return host_hidden(s, S("a slice of a list"), &o, 1);
	Ref *v = NEW_N(s->scratch, Ref, count ? (size_t)count : 1);
	for (int64_t i = 0; i < count; i++)
		v[i] = sim_obj(s, o)->items.v[at + i * step];
	host_charge(s, (uint64_t)count);
	return sim_list(s, host_kind(s, o), v, (uint32_t)count);
}

/* An item of a list of which not all is known: from the end those added since, before them what was there. */
static Ref opened_item(Sim *s, Machine *m, Ref o, int64_t k)
{
	const HeapObj *p = sim_obj(s, o);
	if (p->c) /* (*known, *p->c) */
		return k < 0 ? host_hidden(s, S("an item of a list"), &o, 1)
		             : k < (int64_t)p->items.n ? p->items.v[k] : host_get_item(s, m, p->c, sim_int(s, k - p->items.n));
	if (k < 0 && -k <= (int64_t)p->items.n)
		return p->items.v[(int64_t)p->items.n + k];
	if (p->items.n && k >= 0) /* which of them depends on how many there were */
		return host_hidden(s, S("an item of a list"), &o, 1);
	int64_t name = k < 0 ? k + (int64_t)p->items.n : k;
	return sim_get_attr(s, o, host_sym(s, str_printf(s->scratch, "%lld", (long long)name)));
}

static Ref list_get(Sim *s, Machine *m, Ref o, Ref key)
{
	int64_t k;
	if (host_kind(s, key) == HK_SLICE)
		return list_slice(s, o, key);
	if (host_kind(s, key) == HK_TENSOR)
		key = sim_item(s, key);
	if (!host_int(s, key, &k))
		return host_hidden(s, S("an item of a list"), (Ref[]){o, key}, 2);
	const HeapObj *p = sim_obj(s, o);
	if (p->opened)
		return opened_item(s, m, o, k);
	if (k < 0)
		k += p->items.n;
	if (k < 0 || k >= (int64_t)p->items.n)
		return host_raise(s, m, S("IndexError"));
	return p->items.v[k];
}

/* list[slice] = seq, or del list[slice] with seq 0; only step 1 changes the length. */
static void list_set_slice(Sim *s, Machine *m, Ref o, Ref key, Ref seq)
{
	RefList v = {.a = s->scratch};
	if (seq && !host_items(s, m, seq, &v)) {
		machine_give_up(m, S("a slice of a list is set to items that are not known"));
		return;
	}
	HeapObj *p = sim_obj(s, o);
	const Ref *parts = sim_obj(s, key)->items.v;
	bool whole = host_is_none(s, parts[0]) && host_is_none(s, parts[1]) && host_is_none(s, parts[2]);
	int64_t at = 0, step = 1, count = p->items.n;
	if (!whole && (p->opened || !host_slice_range(s, key, p->items.n, &at, &step, &count) ||
	               (step != 1 && !(seq && (int64_t)v.v.n == count)))) {
		machine_give_up(m, S("a slice of a list that is not known"));
		return;
	}
	host_charge(s, (uint64_t)p->items.n + v.v.n);
	if (step != 1) {
		for (int64_t i = 0; i < count; i++)
			p->items.v[at + i * step] = v.v.v[i];
		return;
	}
	uint64_t n = p->items.n - (uint64_t)count + v.v.n;
	if (n > HOST_ITEMS_MOST) {
		sim_stop(s, S("a container with too many items"));
		return;
	}
	RefList all = {.a = s->a};
	for (int64_t i = 0; i < at; i++)
		VEC_PUSH(all.a, &all.v, p->items.v[i]);
	for (uint32_t i = 0; i < v.v.n; i++)
		VEC_PUSH(all.a, &all.v, v.v.v[i]);
	for (int64_t i = at + count; i < (int64_t)p->items.n; i++)
		VEC_PUSH(all.a, &all.v, p->items.v[i]);
	p->items.v = all.v.v;
	p->items.n = all.v.n;
	p->items.cap = all.v.cap;
	if (whole) {
		p->opened = false;
		p->attrs.n = 0;
	}
}

static void opened_set(Sim *s, Machine *m, Ref o, int64_t k, Ref v)
{
	HeapObj *p = sim_obj(s, o);
	if (p->c)
		machine_give_up(m, S("an item of a list that is not known"));
	else if (k < 0 && -k <= (int64_t)p->items.n && v)
		p->items.v[(int64_t)p->items.n + k] = v;
	else if (!p->items.n && v)
		sim_set_attr(s, o, host_sym(s, str_printf(s->scratch, "%lld", (long long)k)), v);
	else
		machine_give_up(m, S("an item of a list that is not known"));
}

static void list_set(Sim *s, Machine *m, Ref o, Ref key, Ref v)
{
	int64_t k;
	if (host_kind(s, key) == HK_SLICE) {
		list_set_slice(s, m, o, key, v);
		return;
	}
	if (host_kind(s, key) == HK_TENSOR)
		key = sim_item(s, key);
	if (!host_int(s, key, &k)) {
		machine_give_up(m, S("an item of a list by an index that is not known"));
		return;
	}
	HeapObj *p = sim_obj(s, o);
	if (p->opened) {
		opened_set(s, m, o, k, v);
		return;
	}
	if (k < 0)
		k += p->items.n;
	if (k < 0 || k >= (int64_t)p->items.n) {
		host_raise(s, m, S("IndexError"));
		return;
	}
	if (v) {
		p->items.v[k] = v;
		return;
	}
	memmove(p->items.v + k, p->items.v + k + 1, (p->items.n - (size_t)k - 1) * sizeof *p->items.v);
	p->items.n--;
	host_charge(s, p->items.n);
}

void host_append(Sim *s, Machine *m, Ref list, Ref v)
{
	HeapObj *o = sim_obj(s, list);
	if (o->kind != HK_LIST && o->kind != HK_SET) {
		machine_give_up(m, S("something is added to a value that is no list"));
		return;
	}
	if (o->items.n >= HOST_ITEMS_MOST)
		sim_stop(s, S("a container with too many items"));
	else
		VEC_PUSH(s->a, &o->items, v);
}

void host_extend(Sim *s, Machine *m, Ref list, Ref seq)
{
	RefList v = {.a = s->scratch};
	HeapKind k = host_kind(s, seq);
	bool ends = host_kind(s, list) == HK_LIST && !sim_obj(s, list)->opened && (k == HK_UNKNOWN || k == HK_TUPLE || k == HK_LIST);
	if (ends && !host_items(s, m, seq, &v) && !m->raising) { /* [*known, *seq] */
		sim_obj(s, list)->opened = true;
		sim_obj(s, list)->c = seq;
		return;
	}
	if (host_kind(s, list) != HK_LIST || (!ends && !host_items(s, m, seq, &v))) {
		machine_give_up(m, S("a list is extended by items that are not known"));
		return;
	}
	for (uint32_t i = 0; i < v.v.n && !s->stopped; i++)
		host_append(s, m, list, v.v.v[i]);
	host_charge(s, v.v.n);
}

void host_dict_update(Sim *s, Machine *m, Ref dict, Ref other)
{
	if (host_kind(s, dict) != HK_DICT || host_kind(s, other) != HK_DICT || sim_obj(s, other)->opened) {
		machine_give_up(m, S("a dict is updated by items that are not known"));
		return;
	}
	for (uint32_t i = 0; i + 1 < sim_obj(s, other)->items.n && !s->stopped; i += 2) {
		HeapObj *o = sim_obj(s, other);
		host_dict_put(s, dict, o->items.v[i], o->items.v[i + 1]);
	}
}

/* ---- other values ---- */

static bool is_ellipsis(Sim *s, Ref r)
{
	return host_kind(s, r) == HK_CONST && str_eq(host_name(s, r), S("Ellipsis"));
}

/* Keys that only tensors and arrays take. */
static bool takes_tensor_key(Sim *s, Ref key)
{
	const HeapObj *k = sim_obj(s, key);
	const Ref *v = k->kind == HK_TUPLE ? k->items.v : &key;
	uint32_t n = k->kind == HK_TUPLE ? k->items.n : 1;
	for (uint32_t i = 0; i < n; i++) {
		HeapKind in = host_kind(s, v[i]);
		if (in == HK_SLICE || in == HK_TENSOR || is_ellipsis(s, v[i]) || host_is_none(s, v[i]))
			return true;
	}
	return false;
}

static bool is_builtins(Str name)
{
	return str_starts(name, S("__builtins_dict__")) || str_eq(name, S("__builtins__"));
}

static bool is_view(Sim *s, Ref o)
{
	const HeapObj *p = sim_obj(s, o);
	return p->kind == HK_OBJECT && p->a && p->name.i;
}

/* Outputs of transformers models give what they hold by number, too: the k-th of what is not None. */
static Ref output_item(Sim *s, const HeapObj *o, int64_t k)
{
	for (uint32_t i = 0; k >= 0 && i < o->attrs.n; i++) {
		Ref v = o->attrs.v[i].value;
		if (v && !host_is_none(s, v) && !k--)
			return v;
	}
	return 0;
}

/* self.layers[:n]: lists of modules by their customary names, from the first one on. */
static bool is_module_list(Sim *s, const HeapObj *o, Ref key)
{
	static const Str ends[] = {STR_INIT("layers"), STR_INIT("blocks"), STR_INIT("modules"), STR_INIT("stages"), STR_INIT("experts")};
	if (o->kind != HK_UNKNOWN || !o->a || o->known || host_kind(s, key) != HK_SLICE)
		return false;
	const Ref *parts = sim_obj(s, key)->items.v;
	int64_t first = 0;
	if ((!host_is_none(s, parts[0]) && (!host_int(s, parts[0], &first) || first)) || !host_is_none(s, parts[2]))
		return false;
	for (uint32_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (str_ends(sym_str(s->names, o->name), ends[i]))
			return true;
	return false;
}

static Ref object_item(Sim *s, Machine *m, Ref o, Ref key)
{
	HeapObj p = *sim_obj(s, o);
	int64_t k;
	Sym name = item_name(s, key);
	if (p.kind == HK_OBJECT && p.bare && !p.items.n && host_int(s, key, &k)) {
		Ref v = output_item(s, &p, k);
		if (v)
			return v;
	}
	/* type(x).__dict__['f'].__func__: how Dynamo names a static method */
	if (is_view(s, o) && !sym_none(name) && sim_obj(s, p.a)->kind == HK_UNKNOWN && sim_obj(s, p.a)->known && host_has_frame(s, name))
		return sim_name(s, name);
	if (is_view(s, o))
		return sym_none(name) ? host_hidden(s, S("a part of a module"), &p.a, 1) : host_get_attr(s, m, p.a, name);
	if (p.items.n && host_int(s, key, &k)) { /* a named tuple by position */
		if (k < 0)
			k += p.items.n;
		return k >= 0 && k < (int64_t)p.items.n ? p.items.v[k] : host_raise(s, m, S("IndexError"));
	}
	if (p.kind == HK_UNKNOWN && p.known)
		return host_opaque(s, term_op(s->terms, host_sym(s, S("getitem")), (TermId[]){p.term, host_term(s, key)}, 2, 0));
	if (is_module_list(s, &p, key))
		return o;
	if (p.kind == HK_UNKNOWN && takes_tensor_key(s, key) && host_may_be_tensor(s, o)) {
		host_become_tensor(s, o);
		return host_op(s, CALLEE_OPERATOR, S("getitem"), (Ref[]){o, key}, 2);
	}
	if (sym_none(name) || p.items.n)
		return host_hidden(s, S("an item"), (Ref[]){o, key}, 2);
	/* Item -1 may be one that was asked for by its number from the front. */
	if (host_int(s, key, &k) && k < 0 && p.attrs.n && !host_find_attr(s, o, name))
		sim_unsure(s, S("an item of a container that is not all known"));
	return sim_get_attr(s, o, name);
}

static Ref range_item(Sim *s, Machine *m, Ref o, Ref key)
{
	int64_t start, step, k, n = host_range_count(s, o);
	Ref parts[3];
	memcpy(parts, sim_obj(s, o)->items.v, sizeof parts);
	if (n < 0 || !host_int(s, parts[0], &start) || !host_int(s, parts[2], &step) || !host_int(s, key, &k))
		return host_plain(s, m);
	if (k < 0)
		k += n;
	return k >= 0 && k < n ? sim_int(s, start + k * step) : host_raise(s, m, S("IndexError"));
}

static Ref text_item(Sim *s, Machine *m, Ref o, Ref key)
{
	Str t;
	int64_t k;
	if (!host_text(s, o, &t) || !host_int(s, key, &k))
		return host_plain(s, m);
	if (k < 0)
		k += t.n;
	return k >= 0 && k < (int64_t)t.n ? host_string(s, str_sub(t, (uint32_t)k, (uint32_t)k + 1))
	                                  : host_raise(s, m, S("IndexError"));
}

Ref host_get_item(Sim *s, Machine *m, Ref o, Ref key)
{
	Str text;
	switch (host_kind(s, o)) {
	case HK_TENSOR: return host_op(s, CALLEE_OPERATOR, S("getitem"), (Ref[]){o, key}, 2);
	case HK_LIST:
	case HK_TUPLE: return list_get(s, m, o, key);
	case HK_DICT: return dict_get(s, m, o, key);
	case HK_RANGE: return range_item(s, m, o, key);
	case HK_CONST: return text_item(s, m, o, key);
	case HK_NAME:
		if (is_builtins(host_name(s, o)) && host_text(s, key, &text))
			return sim_name(s, host_sym(s, text));
		/* type(x).__mro__[k].clear(x): Dynamo replays so what was done to the dict that x is too */
		if (str_eq(host_name(s, o), S("__mro__")))
			return sim_name(s, host_sym(s, S("dict")));
		if (host_is_module(host_name(s, o)) || host_kind(s, key) == HK_NAME)
			return o; /* list[int], Callable[...]: types */
		host_promote(s, o);
		return object_item(s, m, o, key);
	case HK_OBJECT:
	case HK_UNKNOWN: return object_item(s, m, o, key);
	default: return host_give_up(m, S("an item of a value that has none"));
	}
}

static void object_set_item(Sim *s, Machine *m, Ref o, Ref key, Ref v)
{
	HeapObj p = *sim_obj(s, o);
	Sym name = item_name(s, key);
	if (is_view(s, o) && !sym_none(name)) {
		host_set_attr(s, m, p.a, name, v);
		return;
	}
	if (p.kind == HK_UNKNOWN && v && host_kind(s, key) == HK_SLICE &&
	    (host_is_sequence(s, v) || host_kind(s, v) == HK_LIST)) {
		host_become_container(s, o, HK_LIST);
		list_set_slice(s, m, o, key, v);
		return;
	}
	bool tensor = v && !p.known && p.kind == HK_UNKNOWN && host_may_be_tensor(s, o) &&
	              (takes_tensor_key(s, key) || host_kind(s, v) == HK_NUMBER);
	if (tensor) {
		host_become_tensor(s, o);
		host_op(s, CALLEE_OPERATOR, S("setitem"), (Ref[]){o, key, v}, 3);
		return;
	}
	if (p.kind == HK_UNKNOWN && !sym_none(name) && v && !sim_is_tensor(s, v)) {
		sim_set_attr(s, o, name, v);
		return;
	}
	Str text;
	if (!sym_none(name) && host_text(s, key, &text)) {
		sim_set_attr(s, o, name, v);
		return;
	}
	/* A tensor under a number: an element of a list is replaced, or a tensor is written. */
	host_hidden(s, S("an item is set"), (Ref[]){o, key, v ? v : key}, 3);
}

void host_set_item(Sim *s, Machine *m, Ref o, Ref key, Ref v)
{
	const HeapObj *p = sim_obj(s, o);
	Str text;
	if (p->kind == HK_NAME)
		host_promote(s, o);
	else if (p->kind == HK_LIST && p->root && !p->items.n && !p->opened && host_text(s, key, &text))
		sim_obj(s, o)->kind = HK_DICT; /* it was cleared, and is no list after all */
	switch (host_kind(s, o)) {
	case HK_TENSOR: host_op(s, CALLEE_OPERATOR, v ? S("setitem") : S("delitem"), (Ref[]){o, key, v}, v ? 3 : 2); return;
	case HK_LIST: list_set(s, m, o, key, v); return;
	case HK_DICT:
		if (v)
			host_dict_put(s, o, key, v);
		else
			dict_delete(s, m, o, key);
		return;
	case HK_OBJECT:
	case HK_UNKNOWN: object_set_item(s, m, o, key, v); return;
	default: machine_give_up(m, S("an item is set in a value that has none")); return;
	}
}
