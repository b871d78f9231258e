/* SPDX-License-Identifier: MIT
 * sim_method: methods of tensors, lists, dicts, sets, texts. */
#include "sim_grad.h"
#include "sim_host.h"

/* Elements of a tensor that tolist() takes apart; larger ones give a value of which only the contents are known. */
enum { TOLIST_MOST = 1024 };

/* ---- tensors ---- */

static Ref tolist(Sim *s, Machine *m, Ref self)
{
	SimTensor t = s->tensors.v[sim_obj(s, self)->tensor];
	int64_t n = 1;
	for (uint32_t i = 0; t.sized && i < t.ndim && n <= TOLIST_MOST; i++)
		n *= t.size[i] < TOLIST_MOST ? t.size[i] : TOLIST_MOST + 1;
	if (t.sized && t.ndim == 0)
		return sim_item(s, self);
	if (!t.sized || n > TOLIST_MOST) {
		Ref r = host_plain(s, m);
		sim_obj(s, r)->term = term_op(s->terms, host_sym(s, S("tolist")), (TermId[]){sim_content(s, self)}, 1, 0);
		return r;
	}
	Ref *v = NEW_N(s->scratch, Ref, (size_t)n + 1);
	for (int64_t k = 0; k < n; k++) {
		Ref at[SIM_DIMS];
		int64_t rest = k;
		for (uint32_t d = t.ndim; d-- > 0; rest /= t.size[d])
			at[d] = sim_int(s, rest % t.size[d]);
		Ref key = sim_list(s, HK_TUPLE, at, t.ndim);
		v[k] = sim_item(s, host_op(s, CALLEE_OPERATOR, S("getitem"), (Ref[]){self, key}, 2));
	}
	/* Rows of rows, from the innermost dim outwards. */
	for (uint32_t d = t.ndim; d-- > 0 && n;) {
		int64_t rows = n / t.size[d];
		for (int64_t k = 0; k < rows; k++)
			v[k] = sim_list(s, HK_LIST, v + k * t.size[d], (uint32_t)t.size[d]);
		n = rows;
	}
	return n ? v[0] : sim_list(s, HK_LIST, NULL, 0);
}

static Ref tensor_sizes(HostCall *c, Ref self, bool strides)
{
	Sim *s = c->s;
	SimTensor t = s->tensors.v[sim_obj(s, self)->tensor];
	Ref dims[SIM_DIMS];
	if (!t.sized || (strides && !t.placed)) {
		Ref r = host_plain(s, c->m);
		sim_obj(s, r)->term = term_unsure(s->terms, sim_obj(s, r)->origin);
		return r;
	}
	for (uint32_t i = 0; i < t.ndim && i < SIM_DIMS; i++)
		dims[i] = sim_int(s, strides ? t.stride[i] : t.size[i]);
	Ref all = sim_list(s, HK_TUPLE, dims, t.ndim < SIM_DIMS ? t.ndim : SIM_DIMS);
	return c->n ? host_get_item(s, c->m, all, c->args[0]) : all;
}

static bool is_one_of(Str name, const Str *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(v[i], name))
			return true;
	return false;
}

#define ONE_OF(name, ...) is_one_of((name), (const Str[]){__VA_ARGS__}, sizeof((const Str[]){__VA_ARGS__}) / sizeof(Str))

/* Methods of which a number or nothing comes; false: an operator. */
static bool tensor_question(HostCall *c, Ref self, Str name, Ref *out)
{
	Sim *s = c->s;
	const SimTensor *t = &s->tensors.v[sim_obj(s, self)->tensor];
	if (ONE_OF(name, S("item"), S("__float__"), S("__int__"), S("__bool__"), S("__index__")))
		*out = sim_item(s, self);
	else if (str_eq(name, S("tolist")))
		*out = tolist(s, c->m, self);
	else if (str_eq(name, S("size")) || str_eq(name, S("stride")))
		*out = tensor_sizes(c, self, str_eq(name, S("stride")));
	else if (ONE_OF(name, S("dim"), S("ndimension")) && t->sized)
		*out = sim_int(s, t->ndim);
	else if (str_eq(name, S("__len__")))
		*out = host_length(s, c->m, self);
	else if (ONE_OF(name, S("data_ptr"), S("element_size"), S("get_device"), S("storage_offset"), S("untyped_storage"),
	                S("dim"), S("ndimension"), S("is_floating_point"), S("is_complex"), S("is_contiguous"), S("__hash__")))
		*out = host_plain(s, c->m);
	else if (str_eq(name, S("__getitem__")) && c->n == 1)
		*out = host_get_item(s, c->m, self, c->args[0]);
	else if (str_eq(name, S("__setitem__")) && c->n == 2)
		host_set_item(s, c->m, self, c->args[0], c->args[1]), *out = sim_none(s);
	else
		return false;
	return true;
}

static Ref with_self(HostCall *c, Ref self, Str name)
{
	Sim *s = c->s;
	Ref *args = NEW_N(s->scratch, Ref, c->n + 1);
	Sym *names = NEW_N(s->scratch, Sym, c->n + 1);
	args[0] = self;
	for (uint32_t i = 0; i < c->n; i++) {
		args[i + 1] = c->args[i];
		names[i + 1] = c->names[i];
	}
	HostCall all = *c;
	all.args = args;
	all.names = names;
	all.n++;
	all.npos++;
	all.name = name;
	return host_operator(&all, CALLEE_METHOD, name);
}

/* A tensor taken for an array: the same memory. */
static Ref array_of(Sim *s, Ref self)
{
	grad_refuses(s, self);
	Ref r = host_op(s, CALLEE_METHOD, S("detach"), &self, 1);
	if (r && sim_is_tensor(s, r))
		sim_wrap_memory(s, r);
	return r;
}

/* What an in-place method does is told where the frame names it, not at the call. */
static void point_at_name(HostCall *c, Str name)
{
	enum { NEAR = 64 };
	const Code *code = c->m->code;
	for (uint32_t i = c->m->at, n = 0; i-- > 0 && n < NEAR; n++) {
		const Ins *in = &code->ins[i];
		if (in->row->act == ACT_ATTR && str_eq(sym_str(c->s->names, in->name), name)) {
			c->s->here = ins_span(code, in);
			return;
		}
	}
}

Ref host_tensor_method(HostCall *c, Ref self, Str name)
{
	Sim *s = c->s;
	Ref out;
	if (name.n > 1 && str_ends(name, S("_")) && !str_ends(name, S("__")))
		point_at_name(c, name);
	if (tensor_question(c, self, name, &out))
		return out;
	if (ONE_OF(name, S("numpy"), S("__array__")))
		return array_of(s, self);
	if (ONE_OF(name, S("backward"), S("retain_grad"), S("register_hook"), S("register_post_accumulate_grad_hook"))) {
		/* Gradients of all leaves depend on it, in a way that is not followed. */
		sim_unsure(s, S("a container or gradient that is not all known"));
		return sim_none(s);
	}
	if (ONE_OF(name, S("copy"), S("astype"), S("__copy__"), S("__deepcopy__")))
		return host_op(s, CALLEE_METHOD, S("clone"), &self, 1);
	if (str_eq(name, S("fill")))
		name = S("fill_");
	return with_self(c, self, name);
}

/* ---- lists ---- */

static Ref list_pop(HostCall *c, Ref self)
{
	Sim *s = c->s;
	HeapObj *o = sim_obj(s, self);
	int64_t k = -1;
	if (c->n && !host_int(s, c->args[0], &k))
		return host_give_up(c->m, S("an item of a list by an index that is not known"));
	if (o->opened && (k >= 0 || -k > (int64_t)o->items.n)) {
		/* What was there before moves or goes: which item is where is not known any more. */
		sim_unsure(s, S("a container or gradient that is not all known"));
		return host_hidden(s, S("pop"), &self, 1);
	}
	if (k < 0)
		k += o->items.n;
	if (k < 0 || k >= (int64_t)o->items.n)
		return host_raise(s, c->m, S("IndexError"));
	Ref r = o->items.v[k];
	memmove(o->items.v + k, o->items.v + k + 1, (o->items.n - (size_t)k - 1) * sizeof *o->items.v);
	o->items.n--;
	host_charge(s, o->items.n);
	return r;
}

static Ref list_insert(HostCall *c, Ref self)
{
	Sim *s = c->s;
	int64_t k;
	if (c->n != 2 || !host_int(s, c->args[0], &k) || sim_obj(s, self)->opened)
		return host_give_up(c->m, S("insert into a list that is not known"));
	host_append(s, c->m, self, c->args[1]);
	HeapObj *o = sim_obj(s, self);
	int64_t n = (int64_t)o->items.n - 1;
	k = k < 0 ? (k + n < 0 ? 0 : k + n) : k > n ? n : k;
	if (s->stopped)
		return sim_none(s);
	memmove(o->items.v + k + 1, o->items.v + k, (size_t)(n - k) * sizeof *o->items.v);
	o->items.v[k] = c->args[1];
	host_charge(s, (uint64_t)n);
	return sim_none(s);
}

/* Position of the first item equal to x; false: it cannot be told. */
static bool list_find(Sim *s, Ref self, Ref x, uint32_t *at)
{
	host_charge(s, 4 * (uint64_t)sim_obj(s, self)->items.n);
	for (*at = 0; *at < sim_obj(s, self)->items.n; ++*at) {
		Ref item = sim_obj(s, self)->items.v[*at];
		Tri same = host_equal(s, item, x);
		if (same == TRI_MUST)
			return true;
		if (same == TRI_MAY || sim_is_tensor(s, item) || sim_is_tensor(s, x))
			return false;
	}
	return true;
}

static Ref list_search(HostCall *c, Ref self, Str name)
{
	Sim *s = c->s;
	uint32_t at;
	if (c->n != 1 || sim_obj(s, self)->opened || !list_find(s, self, c->args[0], &at)) {
		if (!str_eq(name, S("remove")))
			return host_plain(s, c->m);
		return host_give_up(c->m, S("an item of a list that is not known is removed"));
	}
	HeapObj *o = sim_obj(s, self);
	if (str_eq(name, S("count"))) {
		int64_t n = 0;
		for (uint32_t i = at; i < o->items.n; i++)
			n += host_equal(s, sim_obj(s, self)->items.v[i], c->args[0]) == TRI_MUST;
		return sim_int(s, n);
	}
	if (at == o->items.n)
		return host_raise(s, c->m, S("ValueError"));
	if (str_eq(name, S("index")))
		return sim_int(s, at);
	memmove(o->items.v + at, o->items.v + at + 1, (o->items.n - at - 1) * sizeof *o->items.v);
	o->items.n--;
	return sim_none(s);
}

static Ref clear(Sim *s, Ref self)
{
	HeapObj *o = sim_obj(s, self);
	o->items.n = 0;
	o->attrs.n = 0;
	o->opened = false;
	return sim_none(s);
}

static Ref shallow_copy(Sim *s, Ref self)
{
	HeapObj o = *sim_obj(s, self);
	Ref r = sim_list(s, (HeapKind)o.kind, o.items.v, o.items.n);
	HeapObj *p = sim_obj(s, r);
	p->opened = o.opened;
	p->origin = o.origin;
	for (uint32_t i = 0; i < o.attrs.n; i++)
		VEC_PUSH(s->a, &sim_obj(s, r)->attrs, o.attrs.v[i]);
	/* What is asked for later in one of the two is not found in the other. */
	if (o.opened)
		sim_unsure(s, S("a container or gradient that is not all known"));
	return r;
}

static Ref reverse(HostCall *c, Ref self)
{
	HeapObj *o = sim_obj(c->s, self);
	if (o->opened)
		return host_give_up(c->m, S("a list that is not known is reversed"));
	for (uint32_t i = 0; i < o->items.n / 2; i++) {
		Ref t = o->items.v[i];
		o->items.v[i] = o->items.v[o->items.n - 1 - i];
		o->items.v[o->items.n - 1 - i] = t;
	}
	host_charge(c->s, o->items.n);
	return sim_none(c->s);
}

static bool list_method(HostCall *c, Ref self, Str name, Ref *out)
{
	Sim *s = c->s;
	*out = sim_none(s);
	if (str_eq(name, S("append")) && c->n == 1)
		host_append(s, c->m, self, c->args[0]);
	else if (ONE_OF(name, S("extend"), S("__iadd__")) && c->n == 1)
		host_extend(s, c->m, self, c->args[0]);
	else if (str_eq(name, S("insert")))
		*out = list_insert(c, self);
	else if (str_eq(name, S("pop")))
		*out = list_pop(c, self);
	else if (ONE_OF(name, S("remove"), S("index"), S("count")))
		*out = list_search(c, self, name);
	else if (str_eq(name, S("clear")))
		*out = clear(s, self);
	else if (str_eq(name, S("copy")))
		*out = shallow_copy(s, self);
	else if (str_eq(name, S("reverse")))
		*out = reverse(c, self);
	else if (str_eq(name, S("sort")))
		*out = host_give_up(c->m, S("a list is sorted"));
	else
		return false;
	return true;
}

/* ---- dicts ---- */

static Ref dict_list(Sim *s, Ref self, Str what)
{
	HeapObj o = *sim_obj(s, self);
	if (o.opened)
		return host_hidden(s, what, &self, 1);
	Ref r = sim_list(s, HK_LIST, NULL, 0);
	for (uint32_t i = 0; i + 1 < o.items.n; i += 2) {
		Ref v = o.items.v[str_eq(what, S("values")) ? i + 1 : i];
		if (str_eq(what, S("items")))
			v = sim_list(s, HK_TUPLE, o.items.v + i, 2);
		VEC_PUSH(s->a, &sim_obj(s, r)->items, v);
	}
	host_charge(s, o.items.n);
	return r;
}

static Ref dict_lookup(HostCall *c, Ref self, Str name)
{
	Sim *s = c->s;
	bool sure, pops = str_eq(name, S("pop"));
	Ref dflt = c->n > 1 ? c->args[1] : 0;
	uint32_t at = host_find_key(s, self, c->args[0], &sure);
	HeapObj *o = sim_obj(s, self);
	if (at != UINT32_MAX) {
		Ref v = o->items.v[at + 1];
		if (pops) {
			memmove(o->items.v + at, o->items.v + at + 2, (o->items.n - at - 2) * sizeof *o->items.v);
			o->items.n -= 2;
			host_charge(s, o->items.n);
		}
		return v;
	}
	if (o->opened || !sure) {
		if (pops || str_eq(name, S("setdefault")) || !sure) {
			sim_unsure(s, S("a container or gradient that is not all known"));
			return host_hidden(s, name, (Ref[]){self, dflt}, 1 + (dflt != 0));
		}
		return host_get_item(s, c->m, self, c->args[0]);
	}
	if (pops)
		return dflt ? dflt : host_raise(s, c->m, S("KeyError"));
	dflt = dflt ? dflt : sim_none(s);
	if (str_eq(name, S("setdefault")))
		host_dict_put(s, self, c->args[0], dflt);
	return dflt;
}

static Ref dict_update(HostCall *c, Ref self)
{
	Sim *s = c->s;
	if (c->npos)
		host_dict_update(s, c->m, self, c->args[0]);
	for (uint32_t i = c->npos; i < c->n; i++)
		host_dict_put(s, self, host_string(s, sym_str(s->names, c->names[i])), c->args[i]);
	return sim_none(s);
}

static bool dict_method(HostCall *c, Ref self, Str name, Ref *out)
{
	Sim *s = c->s;
	*out = sim_none(s);
	if (ONE_OF(name, S("get"), S("pop"), S("setdefault")) && c->npos && c->npos < 3)
		*out = dict_lookup(c, self, name);
	else if (ONE_OF(name, S("items"), S("keys"), S("values")))
		*out = dict_list(s, self, name);
	else if (str_eq(name, S("update")) && c->npos < 2)
		*out = dict_update(c, self);
	else if (str_eq(name, S("clear")))
		*out = clear(s, self);
	else if (str_eq(name, S("copy")))
		*out = shallow_copy(s, self);
	else if (str_eq(name, S("popitem")) && !sim_obj(s, self)->opened && sim_obj(s, self)->items.n > 1) {
		HeapObj *o = sim_obj(s, self);
		o->items.n -= 2;
		*out = sim_list(s, HK_TUPLE, o->items.v + o->items.n, 2);
	} else
		return false;
	return true;
}

/* ---- sets ---- */

static bool set_method(HostCall *c, Ref self, Str name, Ref *out)
{
	Sim *s = c->s;
	uint32_t at;
	*out = sim_none(s);
	if (str_eq(name, S("add")) && c->n == 1) {
		if (!list_find(s, self, c->args[0], &at) && !sim_is_tensor(s, c->args[0]))
			sim_unsure(s, S("a container or gradient that is not all known"));
		if (at == sim_obj(s, self)->items.n || host_equal(s, sim_obj(s, self)->items.v[at], c->args[0]) != TRI_MUST)
			host_append(s, c->m, self, c->args[0]);
	} else if (str_eq(name, S("clear")))
		*out = clear(s, self);
	else if (str_eq(name, S("copy")))
		*out = shallow_copy(s, self);
	else if (str_eq(name, S("remove")))
		*out = list_search(c, self, name);
	else
		return false;
	return true;
}

/* ---- texts ---- */

static Ref text_join(HostCall *c, Str sep)
{
	Sim *s = c->s;
	RefList v = {.a = s->scratch};
	Buf b = {.a = s->scratch};
	Str part;
	if (c->n != 1 || !host_items(s, c->m, c->args[0], &v))
		return 0;
	for (uint32_t i = 0; i < v.v.n; i++) {
		if (!host_text(s, v.v.v[i], &part) || b.n + part.n + sep.n > HOST_TEXT_MOST)
			return 0;
		buf_add(&b, i ? sep : S(""));
		buf_add(&b, part);
	}
	return host_string(s, buf_str(&b));
}

static Ref text_split(HostCall *c, Str t)
{
	Sim *s = c->s;
	Str sep;
	if (c->n != 1 || !host_text(s, c->args[0], &sep) || sep.n != 1)
		return 0;
	Ref r = sim_list(s, HK_LIST, NULL, 0);
	uint32_t at = 0;
	for (;;) {
		uint32_t end = str_find_char(t, sep.p[0], at);
		host_append(s, c->m, r, host_string(s, str_sub(t, at, end)));
		if (end >= t.n)
			return r;
		at = end + 1;
	}
}

static bool text_method(HostCall *c, Ref self, Str name, Ref *out)
{
	Sim *s = c->s;
	Str t, with;
	if (!host_text(s, self, &t))
		return false;
	*out = 0;
	if (str_eq(name, S("join")))
		*out = text_join(c, t);
	else if (str_eq(name, S("split")))
		*out = text_split(c, t);
	else if (ONE_OF(name, S("startswith"), S("endswith")) && c->n == 1 && host_text(s, c->args[0], &with))
		*out = sim_bool(s, str_eq(name, S("startswith")) ? str_starts(t, with) : str_ends(t, with));
	else if (str_eq(name, S("strip")) && !c->n)
		*out = host_string(s, str_trim(t));
	if (*out || c->m->raising)
		return true;
	Ref all = sim_list(s, HK_TUPLE, c->args, c->n);
	TermId terms[2] = {host_term(s, self), host_term(s, all)};
	*out = host_opaque(s, term_op(s->terms, host_sym(s, name), terms, 2, 0));
	return true;
}

/* ---- all ---- */

bool host_container_method(HostCall *c, Ref self, Str name, Ref *out)
{
	Sim *s = c->s;
	HeapObj o = *sim_obj(s, self);
	if (c->names_hidden) {
		if (o.kind != HK_LIST && o.kind != HK_DICT && o.kind != HK_SET)
			return false;
		*out = host_give_up(c->m, S("a container gets keywords that the listing does not show"));
		return true;
	}
	if (str_eq(name, S("__getitem__")) && c->n == 1)
		return *out = host_get_item(s, c->m, self, c->args[0]), true;
	if (str_eq(name, S("__setitem__")) && c->n == 2)
		return host_set_item(s, c->m, self, c->args[0], c->args[1]), *out = sim_none(s), true;
	if (str_eq(name, S("__len__")) && !c->n && o.kind != HK_OBJECT && o.kind != HK_UNKNOWN)
		return *out = host_length(s, c->m, self), true;
	/* An empty container of the program's that was taken for a list, since both kinds have clear. */
	if (o.kind == HK_LIST && o.root && !o.items.n && !o.opened &&
	    ONE_OF(name, S("update"), S("setdefault"), S("items"), S("keys"), S("values"), S("get"))) {
		sim_obj(s, self)->kind = HK_DICT;
		o.kind = HK_DICT;
	}
	switch ((HeapKind)o.kind) {
	case HK_LIST:
		if (!list_method(c, self, name, out))
			*out = host_give_up(c->m, S("a method of a list that is not understood"));
		return true;
	case HK_TUPLE:
		if (!ONE_OF(name, S("index"), S("count")))
			return false;
		*out = list_search(c, self, name);
		return true;
	case HK_DICT:
		if (!dict_method(c, self, name, out))
			*out = host_give_up(c->m, S("a method of a dict that is not understood"));
		return true;
	case HK_SET:
		if (!set_method(c, self, name, out))
			*out = host_give_up(c->m, S("a method of a set that is not understood"));
		return true;
	case HK_CONST: return text_method(c, self, name, out);
	case HK_NUMBER:
		*out = str_eq(name, S("item")) ? self : host_opaque(s, term_op(s->terms, host_sym(s, name), &o.term, 1, 0));
		return true;
	case HK_ITER:
		if (str_eq(name, S("__next__")) && !c->n) {
			NextItem k = host_next(s, c->m, self, out);
			if (k == NEXT_END)
				*out = host_raise(s, c->m, S("StopIteration"));
			return true;
		}
		return false;
	case HK_OBJECT:
		/* A dict by its class, made here: its items are its attributes. */
		if (o.bare && !o.items.n && str_eq(name, S("clear")) && !c->n)
			return *out = sim_none(s), true;
		/* The dict of a module's parts. */
		if (!o.a || !str_eq(name, S("update")) || c->n != 1 || host_kind(s, c->args[0]) != HK_DICT ||
		    sim_obj(s, c->args[0])->opened)
			return false;
		for (uint32_t i = 0; i + 1 < sim_obj(s, c->args[0])->items.n; i += 2) {
			const HeapObj *d = sim_obj(s, c->args[0]);
			host_set_item(s, c->m, self, d->items.v[i], d->items.v[i + 1]);
		}
		*out = sim_none(s);
		return true;
	case HK_UNKNOWN:
		if (!o.known || c->n)
			return false;
		*out = host_opaque(s, term_op(s->terms, host_sym(s, name), &o.term, 1, 0));
		return true;
	default: return false;
	}
}
