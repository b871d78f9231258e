/* SPDX-License-Identifier: MIT
 * sim_builtin: Python's builtins and the helpers that Dynamo's code calls. */
#include "sim_grad.h"
#include "sim_host.h"

#define ONE_OF(name, ...) is_one_of((name), (const Str[]){__VA_ARGS__}, sizeof((const Str[]){__VA_ARGS__}) / sizeof(Str))

static bool is_one_of(Str name, const Str *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(v[i], name))
			return true;
	return false;
}

/* ---- what does nothing with its arguments ---- */

typedef enum QuietAnswer { QUIET_NO, QUIET_NONE, QUIET_PLAIN, QUIET_FALSE, QUIET_CONTEXT } QuietAnswer;

static QuietAnswer quiet_answer(Str name)
{
	static const struct {
		Str name;
		QuietAnswer answer;
	} rows[] = {
#define HOST_NAME(name, answer) {STR_INIT(name), QUIET_##answer},
#include "host_names.def"
#undef HOST_NAME
	};
	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (str_eq(rows[i].name, name))
			return rows[i].answer;
	return QUIET_NO;
}

bool host_is_context(Str dotted)
{
	return quiet_answer(dotted) == QUIET_CONTEXT || str_eq(dotted, S("contextlib.nullcontext"));
}

static bool quiet(HostCall *c, Ref *out)
{
	Sim *s = c->s;
	switch (quiet_answer(c->name)) {
	case QUIET_NO: return false;
	case QUIET_NONE: *out = sim_none(s); break;
	case QUIET_PLAIN: *out = host_plain(s, c->m); break;
	case QUIET_FALSE: *out = sim_bool(s, false); break;
	case QUIET_CONTEXT:
		*out = sim_object(s, host_sym(s, c->name), host_site(s, c->m));
		grad_context(s, *out, c->name, c->args, c->n);
		break;
	}
	if (str_eq(c->name, S("torch._C._set_grad_enabled")))
		grad_set_mode(s, c->args, c->n);
	return true;
}

/* ---- seeing and asking ---- */

static Ref call_print(HostCall *c)
{
	Sim *s = c->s;
	for (uint32_t i = 0; i < c->n; i++) {
		if (host_kind(s, c->args[i]) == HK_NAME && !host_is_module(host_name(s, c->args[i])))
			continue;
		VEC_PUSH(s->a, &s->printed, ((SimPrinted){host_term(s, c->args[i])}));
	}
	return sim_none(s);
}

static Tri is_kind(HeapKind k, char cls, Str name)
{
	bool number = k == HK_NUMBER;
	if (ONE_OF(name, S("torch.Tensor"), S("Tensor")))
		return k == HK_TENSOR ? TRI_MUST : TRI_NO;
	if (str_eq(name, S("list")))
		return k == HK_LIST ? TRI_MUST : TRI_NO;
	if (str_eq(name, S("tuple")))
		return k == HK_TUPLE ? TRI_MUST : k == HK_OBJECT ? TRI_MAY : TRI_NO;
	if (str_eq(name, S("dict")))
		return k == HK_DICT ? TRI_MUST : k == HK_OBJECT ? TRI_MAY : TRI_NO;
	if (ONE_OF(name, S("int"), S("float"), S("bool")) && number)
		return !cls ? TRI_MAY : name.p[0] == cls || (cls == 'b' && name.p[0] == 'i') ? TRI_MUST : TRI_NO;
	if (ONE_OF(name, S("int"), S("float"), S("bool"), S("str"), S("set"), S("complex")))
		return k == HK_TENSOR || k == HK_LIST || k == HK_TUPLE || k == HK_DICT ? TRI_NO : TRI_MAY;
	return TRI_MAY;
}

static Ref call_isinstance(HostCall *c)
{
	Sim *s = c->s;
	if (c->n != 2)
		return 0;
	HeapObj x = *sim_obj(s, c->args[0]), cls = *sim_obj(s, c->args[1]);
	const Ref *v = cls.kind == HK_TUPLE ? cls.items.v : &c->args[1];
	uint32_t n = cls.kind == HK_TUPLE ? cls.items.n : 1;
	char number = x.kind == HK_NUMBER ? term_get(s->terms, x.term)->cls : 0;
	Tri any = x.kind == HK_UNKNOWN ? TRI_MAY : TRI_NO;
	for (uint32_t i = 0; i < n && any != TRI_MUST && x.kind != HK_UNKNOWN; i++) {
		if (host_kind(s, v[i]) != HK_NAME)
			any = TRI_MAY;
		else if (sym_eq(sim_obj(s, v[i])->name, x.name) && x.kind == HK_OBJECT)
			any = TRI_MUST;
		else
			any = tri_or(any, is_kind((HeapKind)x.kind, number, host_name(s, v[i])));
	}
	if (any != TRI_MAY)
		return sim_bool(s, any == TRI_MUST);
	return sim_number(s, term_fresh(s->terms, host_site(s, c->m)));
}

static Ref call_hasattr(HostCall *c)
{
	Sim *s = c->s;
	Str name;
	if (c->n == 2 && host_text(s, c->args[1], &name)) {
		HeapAttr *at = host_find_attr(s, c->args[0], host_sym(s, name));
		if (at && host_kind(s, c->args[0]) != HK_UNKNOWN)
			return sim_bool(s, at->value != 0);
	}
	return sim_number(s, term_fresh(s->terms, host_site(s, c->m)));
}

static Ref call_callable(HostCall *c)
{
	Sim *s = c->s;
	HeapKind k = c->n ? host_kind(s, c->args[0]) : HK_NONE;
	if (k == HK_FUNCTION || k == HK_METHOD)
		return sim_bool(s, true);
	if (k == HK_TENSOR || k == HK_NUMBER || k == HK_CONST || k == HK_LIST || k == HK_TUPLE || k == HK_DICT)
		return sim_bool(s, false);
	return sim_number(s, term_fresh(s->terms, host_site(s, c->m)));
}

static Ref call_type(HostCall *c)
{
	Sim *s = c->s;
	if (c->n != 1)
		return 0;
	const HeapObj *o = sim_obj(s, c->args[0]);
	static const struct {
		HeapKind kind;
		Str name;
	} names[] = {{HK_LIST, STR_INIT("list")}, {HK_TUPLE, STR_INIT("tuple")}, {HK_DICT, STR_INIT("dict")},
	             {HK_SET, STR_INIT("set")}, {HK_TENSOR, STR_INIT("torch.Tensor")}, {HK_RANGE, STR_INIT("range")}};
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].kind == (HeapKind)o->kind)
			return sim_name(s, host_sym(s, names[i].name));
	if ((o->kind == HK_OBJECT && !o->root) || o->kind == HK_EXCEPTION)
		return sim_name(s, o->name);
	return host_plain(s, c->m);
}

static Ref call_len(HostCall *c)
{
	return c->n == 1 ? host_length(c->s, c->m, c->args[0]) : 0;
}

/* ---- containers ---- */

static Ref call_range(HostCall *c)
{
	Sim *s = c->s;
	if (!c->n || c->n > 3)
		return 0;
	Ref v[3] = {sim_int(s, 0), c->args[0], sim_int(s, 1)};
	if (c->n > 1)
		v[0] = c->args[0], v[1] = c->args[1];
	if (c->n > 2)
		v[2] = c->args[2];
	for (uint32_t i = 0; i < 3; i++) {
		Ref n = host_as_number(s, v[i]);
		v[i] = n ? n : sim_number(s, host_term(s, v[i]));
	}
	return sim_list(s, HK_RANGE, v, 3);
}

static Ref call_slice(HostCall *c)
{
	Sim *s = c->s;
	Ref none = sim_none(s), v[3] = {none, none, none};
	if (!c->n || c->n > 3)
		return 0;
	if (c->n == 1)
		v[1] = c->args[0];
	else
		memcpy(v, c->args, c->n * sizeof *v);
	return sim_list(s, HK_SLICE, v, 3);
}

/* list(x), tuple(x), set(x); an unknown x: its copy holds what x holds. */
static Ref make_list(HostCall *c, HeapKind kind)
{
	Sim *s = c->s;
	RefList v = {.a = s->scratch};
	if (c->n > 1)
		return 0;
	if (c->n && !host_items(s, c->m, c->args[0], &v))
		return 0;
	if (kind != HK_SET)
		return sim_list(s, kind, v.v.v, v.v.n);
	Ref r = sim_list(s, HK_SET, NULL, 0), out;
	for (uint32_t i = 0; i < v.v.n; i++) {
		HostCall add = *c;
		add.args = &v.v.v[i];
		add.n = add.npos = 1;
		host_container_method(&add, r, S("add"), &out);
	}
	return r;
}

static Ref call_list(HostCall *c)
{
	return make_list(c, HK_LIST);
}

static Ref call_tuple(HostCall *c)
{
	return make_list(c, HK_TUPLE);
}

static Ref call_set(HostCall *c)
{
	return make_list(c, HK_SET);
}

static Ref call_dict(HostCall *c)
{
	Sim *s = c->s;
	Ref r = sim_list(s, HK_DICT, NULL, 0);
	if (c->npos > 1)
		return 0;
	if (c->npos && host_kind(s, c->args[0]) == HK_DICT && !sim_obj(s, c->args[0])->opened) {
		host_dict_update(s, c->m, r, c->args[0]);
	} else if (c->npos) {
		RefList pairs = {.a = s->scratch};
		if (!host_items(s, c->m, c->args[0], &pairs))
			return 0;
		for (uint32_t i = 0; i < pairs.v.n; i++) {
			if (!host_is_sequence(s, pairs.v.v[i]) || sim_obj(s, pairs.v.v[i])->items.n != 2)
				return 0;
			const Ref *kv = sim_obj(s, pairs.v.v[i])->items.v;
			host_dict_put(s, r, kv[0], kv[1]);
		}
	}
	for (uint32_t i = c->npos; i < c->n; i++)
		host_dict_put(s, r, host_string(s, sym_str(s->names, c->names[i])), c->args[i]);
	return r;
}

static Ref call_zip(HostCall *c)
{
	Sim *s = c->s;
	RefList *v = NEW_N(s->scratch, RefList, c->n + 1);
	uint32_t n = UINT32_MAX;
	if (!c->npos)
		return 0;
	for (uint32_t i = 0; i < c->npos; i++) {
		v[i].a = s->scratch;
		if (host_kind(s, c->args[i]) == HK_ITER || !host_items(s, c->m, c->args[i], &v[i]))
			return c->n == c->npos ? host_rows(s, c->m, c->args, c->npos, 0) : 0;
		n = v[i].v.n < n ? v[i].v.n : n;
	}
	Ref all = sim_list(s, HK_LIST, NULL, 0), *row = NEW_N(s->scratch, Ref, c->npos);
	for (uint32_t k = 0; k < n && !s->stopped; k++) {
		for (uint32_t i = 0; i < c->npos; i++)
			row[i] = v[i].v.v[k];
		host_append(s, c->m, all, sim_list(s, HK_TUPLE, row, c->npos));
	}
	return host_iter(s, c->m, all);
}

static Ref call_enumerate(HostCall *c)
{
	Sim *s = c->s;
	RefList v = {.a = s->scratch};
	int64_t start = 0;
	Ref from = host_arg(c, 1, S("start"));
	if (!c->npos || (from && !host_int(s, from, &start)))
		return 0;
	if (host_kind(s, c->args[0]) == HK_ITER || !host_items(s, c->m, c->args[0], &v))
		return host_rows(s, c->m, c->args, 1, sim_int(s, start));
	Ref all = sim_list(s, HK_LIST, NULL, 0);
	for (uint32_t i = 0; i < v.v.n && !s->stopped; i++)
		host_append(s, c->m, all, sim_list(s, HK_TUPLE, (Ref[]){sim_int(s, start + i), v.v.v[i]}, 2));
	return host_iter(s, c->m, all);
}

static Ref call_reversed(HostCall *c)
{
	Sim *s = c->s;
	RefList v = {.a = s->scratch};
	if (c->n != 1 || !host_items(s, c->m, c->args[0], &v))
		return 0;
	for (uint32_t i = 0; i < v.v.n / 2; i++) {
		Ref t = v.v.v[i];
		v.v.v[i] = v.v.v[v.v.n - 1 - i];
		v.v.v[v.v.n - 1 - i] = t;
	}
	return host_iter(s, c->m, sim_list(s, HK_LIST, v.v.v, v.v.n));
}

/* Known integers, or texts; others: the order is not known. */
static Ref call_sorted(HostCall *c)
{
	Sim *s = c->s;
	RefList v = {.a = s->scratch};
	if (c->n != 1 || !host_items(s, c->m, c->args[0], &v) || v.v.n > 1000)
		return 0;
	bool numbers = true, texts = true;
	int64_t a, b;
	Str x, y;
	for (uint32_t i = 0; i < v.v.n; i++) {
		numbers = numbers && host_int(s, v.v.v[i], &a);
		texts = texts && host_text(s, v.v.v[i], &x);
	}
	if (!numbers && !texts)
		return 0;
	host_charge(s, (uint64_t)v.v.n * v.v.n);
	for (uint32_t i = 1; i < v.v.n; i++)
		for (uint32_t k = i; k > 0; k--) {
			Ref *p = &v.v.v[k - 1];
			bool more = numbers ? host_int(s, p[0], &a) && host_int(s, p[1], &b) && a > b
			                    : host_text(s, p[0], &x) && host_text(s, p[1], &y) && str_cmp(x, y) > 0;
			if (!more)
				break;
			Ref t = p[0];
			p[0] = p[1];
			p[1] = t;
		}
	return sim_list(s, HK_LIST, v.v.v, v.v.n);
}

static Ref call_iter(HostCall *c)
{
	return c->n == 1 ? host_iter(c->s, c->m, c->args[0]) : 0;
}

static Ref call_next(HostCall *c)
{
	Sim *s = c->s;
	Ref item = 0;
	if (!c->n)
		return 0;
	switch (host_next(s, c->m, c->args[0], &item)) {
	case NEXT_ITEM: return item;
	case NEXT_END: return c->n > 1 ? c->args[1] : host_raise(s, c->m, S("StopIteration"));
	case NEXT_UNKNOWN: break;
	}
	/* Whether there is a next one is not known: taken for certain, and nothing concluded where it is not. */
	return c->n > 1 ? host_hidden(s, S("next"), (Ref[]){item, c->args[1]}, 2) : item;
}

static Ref call_item_of_iterator(HostCall *c)
{
	Sim *s = c->s;
	int64_t k;
	if (c->n != 2 || !host_int(s, c->args[1], &k))
		return 0;
	const HeapObj it = *sim_obj(s, c->args[0]);
	if (it.kind != HK_ITER)
		return host_get_item(s, c->m, c->args[0], c->args[1]);
	return host_get_item(s, c->m, it.a, sim_int(s, it.num + k));
}

/* ---- numbers ---- */

static Ref fold_sum(HostCall *c)
{
	Sim *s = c->s;
	RefList v = {.a = s->scratch};
	Ref from = host_arg(c, 1, S("start")), sum = from ? from : sim_int(s, 0);
	if (!c->npos || !host_items(s, c->m, c->args[0], &v))
		return 0;
	for (uint32_t i = 0; i < v.v.n && sum; i++)
		sum = host_binary(s, c->m, S("+"), sum, v.v.v[i]);
	return sum;
}

static Ref min_or_max(HostCall *c)
{
	Sim *s = c->s;
	RefList v = {.a = s->scratch};
	if (c->n != c->npos || !c->n)
		return 0;
	for (uint32_t i = 0; c->n > 1 && i < c->n; i++)
		VEC_PUSH(v.a, &v.v, c->args[i]);
	if (c->n == 1 && !host_items(s, c->m, c->args[0], &v))
		return 0;
	if (!v.v.n)
		return host_raise(s, c->m, S("ValueError"));
	Ref best = v.v.v[0];
	for (uint32_t i = 0; i < v.v.n; i++)
		if (!host_is_number(s, v.v.v[i]))
			return 0;
	for (uint32_t i = 1; i < v.v.n; i++)
		best = host_number_op(s, str_eq(c->name, S("min")) ? S("minimum") : S("maximum"), (Ref[]){best, v.v.v[i]}, 2);
	return best;
}

static Ref any_or_all(HostCall *c)
{
	Sim *s = c->s;
	RefList v = {.a = s->scratch};
	bool any = str_eq(c->name, S("any"));
	if (c->n != 1 || !host_items(s, c->m, c->args[0], &v))
		return 0;
	Tri t = any ? TRI_NO : TRI_MUST;
	for (uint32_t i = 0; i < v.v.n; i++)
		t = any ? tri_or(t, host_truth(s, v.v.v[i])) : tri_and(t, host_truth(s, v.v.v[i]));
	if (t != TRI_MAY)
		return sim_bool(s, t == TRI_MUST);
	return sim_number(s, term_op(s->terms, host_sym(s, c->name), (TermId[]){host_term(s, c->args[0])}, 1, 0));
}

static Ref call_abs(HostCall *c)
{
	Sim *s = c->s;
	if (c->n == 1 && sim_is_tensor(s, c->args[0]))
		return host_op(s, CALLEE_METHOD, S("abs"), c->args, 1);
	if (c->n != 1 || !host_is_number(s, c->args[0]))
		return 0;
	const Term *t = term_get(s->terms, sim_obj(s, c->args[0])->term);
	if (t->kind == TERM_NUM)
		return sim_number(s, term_num(s->terms, t->num < 0 ? -t->num : t->num, t->cls == 'b' ? 'i' : t->cls));
	return host_number_op(s, S("abs"), c->args, 1);
}

static Ref call_round(HostCall *c)
{
	Sim *s = c->s;
	if (!c->n || c->n > 2)
		return 0;
	if (sim_is_tensor(s, c->args[0]))
		return host_op(s, CALLEE_METHOD, S("round"), c->args, 1);
	if (!host_is_number(s, c->args[0]) || (c->n == 2 && !host_is_number(s, c->args[1])))
		return 0;
	int64_t v;
	if (host_int(s, c->args[0], &v) && c->n == 1)
		return sim_int(s, v);
	return host_number_op(s, S("round"), c->args, c->n);
}

static Ref convert_number(HostCall *c)
{
	Sim *s = c->s;
	Str text;
	int64_t v;
	bool to_int = str_eq(c->name, S("int"));
	if (!c->n)
		return to_int ? sim_int(s, 0) : sim_number(s, term_num(s->terms, 0, 'f'));
	if (host_text(s, c->args[0], &text)) {
		if (c->n == 1 && to_int && str_to_i64(str_trim(text), &v))
			return sim_int(s, v);
		return sim_number(s, term_op(s->terms, host_sym(s, c->name), (TermId[]){host_term(s, c->args[0])}, 1, 0));
	}
	Ref n = host_as_number(s, c->args[0]);
	if (n)
		return to_int ? host_to_int(s, n) : host_to_float(s, n);
	const HeapObj *o = sim_obj(s, c->args[0]);
	if (o->kind != HK_UNKNOWN)
		return 0;
	return sim_number(s, term_op(s->terms, host_sym(s, c->name), (TermId[]){o->term}, 1, 0));
}

static Ref call_bool(HostCall *c)
{
	Sim *s = c->s;
	if (c->n != 1)
		return c->n ? 0 : sim_bool(s, false);
	Ref r = host_unary(s, c->m, S("to_bool"), c->args[0]);
	if (!r || host_kind(s, r) == HK_NUMBER)
		return r;
	return sim_number(s, term_op(s->terms, host_sym(s, S("bool")), (TermId[]){host_term(s, r)}, 1, 0));
}

static Ref call_text(HostCall *c)
{
	uint32_t how = str_eq(c->name, S("repr")) ? 2 : str_eq(c->name, S("ascii")) ? 3 : 1;
	if (!c->n)
		return host_string(c->s, S(""));
	return host_format(c->s, c->m, c->args[0], how, str_eq(c->name, S("format")) && c->n > 1 ? c->args[1] : 0);
}

static Ref call_pow(HostCall *c)
{
	if (c->n != 2)
		return 0;
	return host_binary(c->s, c->m, S("**"), c->args[0], c->args[1]);
}

/* ---- attributes ---- */

static Ref call_getattr(HostCall *c)
{
	Sim *s = c->s;
	Str name;
	if (c->n < 2 || !host_text(s, c->args[1], &name) || !name.n)
		return 0;
	HeapKind k = host_kind(s, c->args[0]);
	Sym sym = host_sym(s, name);
	bool surely = host_find_attr(s, c->args[0], sym) || k == HK_NAME || k == HK_TENSOR;
	if (c->n > 2 && !surely) { /* the attribute, or the default */
		Ref v = host_get_attr(s, c->m, c->args[0], sym);
		if (v && !sim_obj(s, v)->known && !host_reads_nothing(s, c->args[2]))
			sim_unsure(s, S("an attribute that may be there or not"));
		return v;
	}
	return host_get_attr(s, c->m, c->args[0], sym);
}

static Ref call_setattr(HostCall *c)
{
	Sim *s = c->s;
	Str name;
	bool deletes = ONE_OF(c->name, S("delattr"), S("object.__delattr__"));
	if (c->n != (deletes ? 2u : 3u) || !host_text(s, c->args[1], &name) || !name.n)
		return 0;
	host_set_attr(s, c->m, c->args[0], host_sym(s, name), deletes ? 0 : c->args[2]);
	return sim_none(s);
}

static Ref call_new(HostCall *c)
{
	Sim *s = c->s;
	if (!c->n)
		return 0;
	return sim_object(s, sim_obj(s, c->args[0])->name, host_site(s, c->m));
}

static Ref call_super(HostCall *c)
{
	Sim *s = c->s;
	Ref self = c->n > 1 ? c->args[1] : machine_var(c->m, host_sym(s, S("self")));
	if (!self)
		return 0;
	Ref r = sim_object(s, host_sym(s, S("super")), host_site(s, c->m));
	VEC_PUSH(s->a, &sim_obj(s, r)->items, self);
	return r;
}

/* ---- Dynamo's helpers ---- */

static Ref call_size(HostCall *c)
{
	Sim *s = c->s;
	bool offset = str_ends(c->name, S("call_storage_offset"));
	if (c->n != (offset ? 1u : 2u))
		return 0;
	if (host_kind(s, c->args[0]) == HK_UNKNOWN && host_may_be_tensor(s, c->args[0]))
		host_become_tensor(s, c->args[0]);
	if (!sim_is_tensor(s, c->args[0]))
		return 0;
	HostCall size = *c;
	size.args++;
	size.names++;
	size.n = size.npos = 1;
	if (offset) {
		const SimTensor *t = &s->tensors.v[sim_obj(s, c->args[0])->tensor];
		return t->placed ? sim_int(s, t->offset) : host_plain(s, c->m);
	}
	return host_tensor_method(&size, c->args[0], str_ends(c->name, S("call_stride")) ? S("stride") : S("size"));
}

/* torch/_dynamo/variables/functions.py: (code, f_globals, name, defaults, closure, kwdefaults, annotations) */
static Ref create_nested(HostCall *c)
{
	Sim *s = c->s;
	if (c->npos < 5 || host_kind(s, c->args[0]) != HK_CODE)
		return 0;
	Ref r = sim_new(s, HK_FUNCTION);
	HeapObj *o = sim_obj(s, r);
	o->name = sim_obj(s, c->args[0])->name;
	o->a = c->args[0];
	o->b = host_is_none(s, c->args[4]) ? 0 : c->args[4];
	o->c = host_is_none(s, c->args[3]) ? 0 : c->args[3];
	return r;
}

static Ref to_array(HostCall *c)
{
	Sim *s = c->s;
	if (c->n != 1 || !sim_is_tensor(s, c->args[0]))
		return 0;
	if (str_ends(c->name, S("to_numpy_helper")))
		grad_refuses(s, c->args[0]);
	Ref r = host_op(s, CALLEE_METHOD, S("detach"), c->args, 1);
	if (r && sim_is_tensor(s, r))
		sim_wrap_memory(s, r);
	return r;
}

static Ref as_tensor(HostCall *c)
{
	Sim *s = c->s;
	if (c->n == 1 && sim_is_tensor(s, c->args[0]))
		return c->args[0];
	if (c->n == 1 && host_is_number(s, c->args[0]))
		return host_op(s, CALLEE_FUNCTION, S("torch.tensor"), c->args, 1);
	return 0;
}

static Ref copy_array(HostCall *c)
{
	Sim *s = c->s;
	if (c->n != 1 || !sim_is_tensor(s, c->args[0]))
		return 0;
	return host_op(s, CALLEE_METHOD, S("clone"), c->args, 1);
}

static Ref call_size_class(HostCall *c)
{
	return make_list(c, HK_TUPLE);
}

static Ref is_tensor(HostCall *c)
{
	Sim *s = c->s;
	if (c->n != 1)
		return 0;
	HeapKind k = host_kind(s, c->args[0]);
	if (k == HK_UNKNOWN)
		return sim_number(s, term_fresh(s->terms, host_site(s, c->m)));
	return sim_bool(s, k == HK_TENSOR);
}

static Ref call_cell(HostCall *c)
{
	Ref r = sim_new(c->s, HK_CELL);
	sim_obj(c->s, r)->a = c->n ? c->args[0] : 0;
	return r;
}

static Ref nullcontext(HostCall *c)
{
	return sim_object(c->s, host_sym(c->s, c->name), host_site(c->s, c->m));
}

/* Copies of tensors and of containers of values that are no containers. */
static Ref deep_copy(HostCall *c)
{
	Sim *s = c->s;
	if (!c->n)
		return 0;
	if (sim_is_tensor(s, c->args[0]))
		return sim_clone(s, c->args[0]);
	HeapObj o = *sim_obj(s, c->args[0]);
	if (o.kind == HK_NUMBER || o.kind == HK_CONST)
		return c->args[0];
	bool container = o.kind == HK_LIST || o.kind == HK_TUPLE || o.kind == HK_DICT;
	if (!container || o.opened)
		return 0;
	bool deep = str_ends(c->name, S("deepcopy"));
	for (uint32_t i = 0; i < o.items.n && deep; i++) {
		HeapKind k = host_kind(s, o.items.v[i]);
		if (k != HK_TENSOR && k != HK_NUMBER && k != HK_CONST)
			return 0;
	}
	Ref r = sim_list(s, (HeapKind)o.kind, o.items.v, o.items.n);
	for (uint32_t i = 0; i < o.items.n && deep; i++)
		if (sim_is_tensor(s, o.items.v[i])) {
			Ref copy = sim_clone(s, o.items.v[i]);
			sim_obj(s, r)->items.v[i] = copy;
		}
	return r;
}

static Ref call_partial(HostCall *c)
{
	Sim *s = c->s;
	if (!c->npos)
		return 0;
	Ref r = sim_object(s, host_sym(s, S("functools.partial")), host_site(s, c->m));
	for (uint32_t i = 0; i < c->npos; i++)
		VEC_PUSH(s->a, &sim_obj(s, r)->items, c->args[i]);
	for (uint32_t i = c->npos; i < c->n; i++)
		sim_set_attr(s, r, c->names[i], c->args[i]);
	return r;
}

/* A numpy function that makes a new array, as torch's of the same name does: of what it depends is the same. */
static bool array_function(HostCall *c, Str name, Ref *out)
{
	Sim *s = c->s;
	static const Str views[] = {STR_INIT("flip"), STR_INIT("fliplr"), STR_INIT("flipud"), STR_INIT("rot90")};
	Str torch = sym_str(s->names, host_sym(s, str_printf(s->scratch, "torch." STR_FMT, STR_ARG(name))));
	const Fact *f = facts_find(s->f, CALLEE_FUNCTION, torch, (VersionSpan){0, 0});
	if (!f || f->kind != FK_FRESH || f->nmutates || is_one_of(name, views, sizeof views / sizeof *views))
		return false;
	for (uint32_t i = 0; i < c->n; i++)
		if (str_eq(sym_str(s->names, c->names[i]), S("out")))
			return false;
	*out = host_operator(c, CALLEE_FUNCTION, torch);
	return true;
}

/* ---- the table ---- */

static const struct {
	Str name;
	Ref (*call)(HostCall *c); /* 0: the arguments are not those it knows: hidden code gets them */
} builtins[] = {
	{STR_INIT("print"), call_print},
	{STR_INIT("len"), call_len},
	{STR_INIT("range"), call_range},
	{STR_INIT("slice"), call_slice},
	{STR_INIT("list"), call_list},
	{STR_INIT("tuple"), call_tuple},
	{STR_INIT("set"), call_set},
	{STR_INIT("frozenset"), call_set},
	{STR_INIT("dict"), call_dict},
	{STR_INIT("collections.OrderedDict"), call_dict},
	{STR_INIT("OrderedDict"), call_dict},
	{STR_INIT("zip"), call_zip},
	{STR_INIT("enumerate"), call_enumerate},
	{STR_INIT("reversed"), call_reversed},
	{STR_INIT("sorted"), call_sorted},
	{STR_INIT("iter"), call_iter},
	{STR_INIT("next"), call_next},
	{STR_INIT("sum"), fold_sum},
	{STR_INIT("min"), min_or_max},
	{STR_INIT("max"), min_or_max},
	{STR_INIT("any"), any_or_all},
	{STR_INIT("all"), any_or_all},
	{STR_INIT("abs"), call_abs},
	{STR_INIT("round"), call_round},
	{STR_INIT("pow"), call_pow},
	{STR_INIT("int"), convert_number},
	{STR_INIT("float"), convert_number},
	{STR_INIT("bool"), call_bool},
	{STR_INIT("str"), call_text},
	{STR_INIT("repr"), call_text},
	{STR_INIT("ascii"), call_text},
	{STR_INIT("format"), call_text},
	{STR_INIT("isinstance"), call_isinstance},
	{STR_INIT("issubclass"), call_hasattr},
	{STR_INIT("hasattr"), call_hasattr},
	{STR_INIT("callable"), call_callable},
	{STR_INIT("type"), call_type},
	{STR_INIT("getattr"), call_getattr},
	{STR_INIT("setattr"), call_setattr},
	{STR_INIT("delattr"), call_setattr},
	{STR_INIT("object.__setattr__"), call_setattr},
	{STR_INIT("object.__delattr__"), call_setattr},
	{STR_INIT("object.__getattribute__"), call_getattr},
	{STR_INIT("torch._dynamo.utils.object_setattr_ignore_descriptor"), call_setattr},
	{STR_INIT("object.__new__"), call_new},
	{STR_INIT("torch._dynamo.utils.object_new"), call_new},
	{STR_INIT("torch._dynamo.side_effects.CellTypeHolder"), call_cell},
	{STR_INIT("torch._dynamo.utils.make_cell"), call_cell},
	{STR_INIT("types.CellType"), call_cell},
	{STR_INIT("super"), call_super},
	{STR_INIT("torch._dynamo.utils.call_size"), call_size},
	{STR_INIT("torch._dynamo.utils.call_stride"), call_size},
	{STR_INIT("torch._dynamo.utils.call_storage_offset"), call_size},
	{STR_INIT("torch._dynamo.utils.tuple_iterator_getitem"), call_item_of_iterator},
	{STR_INIT("torch._dynamo.variables.functions._create_nested_fn"), create_nested},
	{STR_INIT("torch._dynamo.utils.to_numpy_helper"), to_array},
	{STR_INIT("torch.from_numpy"), to_array},
	{STR_INIT("numpy.asarray"), to_array},
	{STR_INIT("numpy.ascontiguousarray"), to_array},
	{STR_INIT("numpy.array"), copy_array},
	{STR_INIT("numpy.copy"), copy_array},
	{STR_INIT("torch._as_tensor_fullprec"), as_tensor},
	{STR_INIT("torch.as_tensor"), as_tensor},
	{STR_INIT("torch.asarray"), as_tensor},
	{STR_INIT("torch.Size"), call_size_class},
	{STR_INIT("torch.is_tensor"), is_tensor},
	{STR_INIT("contextlib.nullcontext"), nullcontext},
	{STR_INIT("functools.partial"), call_partial},
	{STR_INIT("copy.copy"), deep_copy},
	{STR_INIT("copy.deepcopy"), deep_copy},
};

/* ---- modules of functions ---- */

static bool cut_prefix(Str name, Str prefix, Str *rest)
{
	*rest = str_sub(name, prefix.n, name.n);
	return str_starts(name, prefix) && rest->n;
}

static Str token_of(Str name)
{
	static const struct {
		Str token, name;
		uint32_t arity;
	} rows[] = {
#define PY_OPERATOR(token, name, arity) {STR_INIT(token), STR_INIT(name), arity},
#include "py_operators.def"
#undef PY_OPERATOR
	};
	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].arity == 2 && (str_eq(rows[i].name, name) || (str_ends(rows[i].name, S("_")) &&
		    str_eq(str_sub(rows[i].name, 0, rows[i].name.n - 1), name))))
			return rows[i].token;
	return (Str){0};
}

static Ref call_operator(HostCall *c, Str name)
{
	Sim *s = c->s;
	static const Str compared[] = {STR_INIT("<"), STR_INIT("<="), STR_INIT("=="), STR_INIT("!="), STR_INIT(">"),
	                               STR_INIT(">="), STR_INIT("is"), STR_INIT("is not")};
	if (c->n == 1 && ONE_OF(name, S("neg"), S("not_"), S("pos"), S("invert")))
		return host_unary(s, c->m, str_eq(name, S("neg")) ? S("-") : str_eq(name, S("pos")) ? S("+") :
		                  str_eq(name, S("not_")) ? S("not") : S("~"), c->args[0]);
	if (c->n == 2 && str_eq(name, S("getitem")))
		return host_get_item(s, c->m, c->args[0], c->args[1]);
	if (c->n == 3 && str_eq(name, S("setitem")))
		return host_set_item(s, c->m, c->args[0], c->args[1], c->args[2]), sim_none(s);
	if (c->n != 2)
		return 0;
	Str token = token_of(name);
	if (!token.n && str_starts(name, S("i")) && token_of(str_sub(name, 1, name.n)).n)
		token = str_printf(s->scratch, STR_FMT "=", STR_ARG(token_of(str_sub(name, 1, name.n))));
	if (!token.n)
		return 0;
	if (is_one_of(token, compared, sizeof compared / sizeof *compared))
		return host_compare(s, c->m, token, c->args[0], c->args[1]);
	if (str_eq(token, S("in")))
		return host_compare(s, c->m, token, c->args[1], c->args[0]);
	return host_binary(s, c->m, token, c->args[0], c->args[1]);
}

static Ref call_math(HostCall *c, Str name)
{
	Sim *s = c->s;
	Ref v[4];
	if (!c->n || c->n > 4)
		return 0;
	for (uint32_t i = 0; i < c->n; i++) {
		v[i] = host_as_number(s, c->args[i]);
		if (!v[i])
			return 0;
	}
	return host_math(s, name, v, c->n);
}

/* list.append(x, v): as a method of its first argument. */
static bool class_method(HostCall *c, Str method, Ref *out)
{
	if (!c->npos || host_kind(c->s, c->args[0]) == HK_UNKNOWN)
		return false;
	HostCall rest = *c;
	rest.args++;
	rest.names++;
	rest.n--;
	rest.npos--;
	return host_container_method(&rest, c->args[0], method, out);
}

static bool by_module(HostCall *c, Ref *out)
{
	Sim *s = c->s;
	Str rest;
	*out = 0;
	if (cut_prefix(c->name, S("operator."), &rest) || cut_prefix(c->name, S("_operator."), &rest))
		*out = call_operator(c, rest);
	else if (cut_prefix(c->name, S("math."), &rest))
		*out = call_math(c, rest);
	else if (cut_prefix(c->name, S("random."), &rest) && host_reads_nothing(s, c->n ? c->args[0] : sim_none(s)))
		*out = sim_number(s, term_fresh(s->terms, host_site(s, c->m)));
	else if (str_starts(c->name, S("numpy.random.")) || str_eq(c->name, S("__gen_rand_values")))
		*out = host_fresh(s, c->m);
	else if (cut_prefix(c->name, S("torch.Tensor."), &rest) && c->npos && sim_is_tensor(s, c->args[0])) {
		HostCall method = *c;
		method.args++, method.names++, method.n--, method.npos--;
		*out = host_tensor_method(&method, c->args[0], rest);
	} else if (cut_prefix(c->name, S("list."), &rest) || cut_prefix(c->name, S("dict."), &rest) ||
	           cut_prefix(c->name, S("str."), &rest) || cut_prefix(c->name, S("tuple."), &rest) ||
	           cut_prefix(c->name, S("collections.OrderedDict."), &rest)) {
		if (str_eq(rest, S("__new__")) && c->npos)
			*out = call_new(c);
		else if (!class_method(c, rest, out))
			*out = 0;
	} else if (cut_prefix(c->name, S("numpy."), &rest) && !c->names_hidden && array_function(c, rest, out))
		;
	else if (str_starts(c->name, S("numpy.")) && facts_find(s->f, CALLEE_FUNCTION, c->name, (VersionSpan){0, 0}))
		*out = host_operator(c, CALLEE_FUNCTION, c->name);
	return *out || c->m->raising || c->m->gave_up;
}

bool host_builtin(HostCall *c, Ref *out)
{
	if (quiet(c, out))
		return true;
	for (uint32_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
		if (!str_eq(builtins[i].name, c->name))
			continue;
		*out = c->names_hidden && builtins[i].call != call_print ? 0 : builtins[i].call(c);
		if (*out || c->m->raising || c->m->gave_up)
			return true;
		bool operators = str_starts(c->name, S("torch.")) && !str_starts(c->name, S("torch._dynamo."));
		*out = operators ? host_operator(c, CALLEE_FUNCTION, c->name) : host_hidden(c->s, c->name, c->args, c->n);
		return true;
	}
	return by_module(c, out);
}
