/* SPDX-License-Identifier: MIT
 * sim_value: small things that all parts of the host need: texts, numbers, what a value shows and reaches. */
#include "sim_host.h"

Sym host_sym(Sim *s, Str text)
{
	return sym_intern(s->names, text);
}

uint64_t host_site(Sim *s, Machine *m)
{
	return sim_site(s, m->at);
}

Ref host_opaque(Sim *s, TermId term)
{
	Ref r = sim_new(s, HK_UNKNOWN);
	sim_obj(s, r)->known = true;
	sim_obj(s, r)->term = term;
	const Term *t = term_get(s->terms, term);
	sim_obj(s, r)->origin = host_mix(t->extra, term.i);
	return r;
}

Ref host_fresh(Sim *s, Machine *m)
{
	return sim_unknown(s, host_site(s, m));
}

Ref host_plain(Sim *s, Machine *m)
{
	Ref r = host_fresh(s, m);
	sim_obj(s, r)->known = true;
	return r;
}

/* ---- texts ---- */

/* Python's repr: single quotes unless only they occur in it. */
Ref host_string(Sim *s, Str c)
{
	Buf b = {.a = s->scratch};
	char quote = memchr(c.n ? c.p : "", '\'', c.n) && !memchr(c.p, '"', c.n) ? '"' : '\'';
	buf_char(&b, quote);
	for (uint32_t i = 0; i < c.n; i++) {
		unsigned char ch = (unsigned char)c.p[i];
		if (ch == (unsigned char)quote || ch == '\\')
			buf_char(&b, '\\'), buf_char(&b, (char)ch);
		else if (ch == '\n')
			buf_add(&b, S("\\n"));
		else if (ch == '\t')
			buf_add(&b, S("\\t"));
		else if (ch == '\r')
			buf_add(&b, S("\\r"));
		else if (ch < ' ' || ch == 127)
			buf_printf(&b, "\\x%02x", ch);
		else
			buf_char(&b, (char)ch);
	}
	buf_char(&b, quote);
	return sim_const(s, buf_str(&b));
}

static int hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The escapes that repr writes below 128; others stay as they are. */
static Str unescape(Sim *s, Str t)
{
	Buf b = {.a = s->scratch};
	for (uint32_t i = 0; i < t.n; i++) {
		char c = t.p[i];
		if (c != '\\' || i + 1 >= t.n) {
			buf_char(&b, c);
			continue;
		}
		c = t.p[++i];
		if (c == 'n' || c == 't' || c == 'r')
			buf_char(&b, c == 'n' ? '\n' : c == 't' ? '\t' : '\r');
		else if (c == 'x' && i + 2 < t.n && hex_of(t.p[i + 1]) >= 0 && hex_of(t.p[i + 2]) >= 0 && hex_of(t.p[i + 1]) < 8)
			buf_char(&b, (char)(hex_of(t.p[i + 1]) * 16 + hex_of(t.p[i + 2]))), i += 2;
		else if (c == '\\' || c == '\'' || c == '"')
			buf_char(&b, c);
		else
			buf_char(&b, '\\'), buf_char(&b, c);
	}
	return buf_str(&b);
}

bool host_text(Sim *s, Ref r, Str *out)
{
	if (!r || host_kind(s, r) != HK_CONST)
		return false;
	Str t = host_name(s, r);
	if (t.n < 2 || (t.p[0] != '\'' && t.p[0] != '"') || t.p[t.n - 1] != t.p[0])
		return false;
	t = str_sub(t, 1, t.n - 1);
	*out = memchr(t.n ? t.p : "", '\\', t.n) ? unescape(s, t) : t;
	return true;
}

/* ---- questions ---- */

bool host_int(Sim *s, Ref r, int64_t *v)
{
	if (!r)
		return false;
	const HeapObj *o = sim_obj(s, r);
	if (o->kind != HK_NUMBER || !o->known)
		return false;
	*v = o->num;
	return true;
}

bool host_is_none(Sim *s, Ref r)
{
	return r && host_kind(s, r) == HK_CONST && str_eq(host_name(s, r), S("None"));
}

bool host_is_number(Sim *s, Ref r)
{
	return host_kind(s, r) == HK_NUMBER;
}

bool host_is_sequence(Sim *s, Ref r)
{
	const HeapObj *o = sim_obj(s, r);
	return (o->kind == HK_LIST || o->kind == HK_TUPLE) && !o->opened;
}

Ref host_exception(Sim *s, Str cls, const Ref *args, uint32_t n)
{
	Ref r = sim_list(s, HK_EXCEPTION, args, n);
	sim_obj(s, r)->name = host_sym(s, cls);
	return r;
}

/* What is known of a container may be wrong by then: a program that was captured finds what it looks for. */
static bool may_find(Sim *s, Str cls)
{
	return s->unsure && (str_eq(cls, S("IndexError")) || str_eq(cls, S("KeyError")));
}

Ref host_raise(Sim *s, Machine *m, Str cls)
{
	if (may_find(s, cls))
		return host_fresh(s, m);
	machine_raise(m, host_exception(s, cls, NULL, 0));
	return 0;
}

Ref host_give_up(Machine *m, Str why)
{
	machine_give_up(m, why);
	return 0;
}

/* ---- what a value shows ---- */

/* Parts of a value: items, attributes, and what a, b, c name. */
static void push_parts(Sim *s, Ref r, bool shown, RefList *todo)
{
	const HeapObj *o = sim_obj(s, r);
	if (o->kind == HK_UNKNOWN && o->known)
		return;
	if (!shown || !(o->root && o->kind == HK_OBJECT))
		for (uint32_t i = o->attrs.n; i-- > 0;)
			if (o->attrs.v[i].value)
				VEC_PUSH(todo->a, &todo->v, o->attrs.v[i].value);
	for (uint32_t i = o->items.n; i-- > 0;)
		if (o->items.v[i])
			VEC_PUSH(todo->a, &todo->v, o->items.v[i]);
	if (shown || o->kind == HK_UNKNOWN || o->kind == HK_TENSOR)
		return;
	const Ref refs[] = {o->c, o->b, o->a};
	for (uint32_t i = 0; i < 3; i++)
		if (refs[i])
			VEC_PUSH(todo->a, &todo->v, refs[i]);
}

static TermId own_term(Sim *s, Ref r)
{
	HeapObj o = *sim_obj(s, r);
	if (o.kind == HK_TENSOR)
		return sim_content(s, r);
	if (o.term.i)
		return o.term;
	return term_text(s->terms, o.name);
}

static bool is_compound(HeapKind k)
{
	return k == HK_LIST || k == HK_TUPLE || k == HK_SET || k == HK_DICT || k == HK_SLICE || k == HK_RANGE ||
	       k == HK_OBJECT || k == HK_EXCEPTION;
}

TermId host_term(Sim *s, Ref r)
{
	if (!is_compound(host_kind(s, r)))
		return own_term(s, r);
	RefList todo = {.a = s->scratch};
	struct {
		TermId *v;
		uint32_t n, cap;
	} terms = {0};
	VEC_PUSH(todo.a, &todo.v, r);
	for (uint32_t seen = 0; todo.v.n; seen++) {
		Ref x = todo.v.v[--todo.v.n];
		if (seen >= HOST_WALK_MOST || todo.v.n >= HOST_ITEMS_MOST)
			return term_unsure(s->terms, host_mix(sim_obj(s, r)->origin, seen));
		const HeapObj o = *sim_obj(s, x);
		if (!is_compound((HeapKind)o.kind)) {
			VEC_PUSH(s->scratch, &terms, own_term(s, x));
			continue;
		}
		/* How many there are, and in what, is seen too. */
		uint64_t shape = host_mix(o.kind, o.items.n);
		TermId mark = o.kind == HK_OBJECT && o.root ? o.term : term_num(s->terms, (double)(shape >> 20), 'i');
		VEC_PUSH(s->scratch, &terms, mark);
		push_parts(s, x, true, &todo);
	}
	return term_op(s->terms, host_sym(s, S("shown")), terms.v, terms.n, 0);
}

/* ---- what hidden code could use ---- */

static bool is_seen(Map *seen, Ref r)
{
	if (map_get(seen, r))
		return true;
	map_put(seen, r, 1);
	return false;
}

static bool is_usable(Sim *s, Ref r)
{
	const HeapObj *o = sim_obj(s, r);
	switch ((HeapKind)o->kind) {
	case HK_UNKNOWN:
	case HK_TENSOR:
	case HK_LIST:
	case HK_SET:
	case HK_DICT:
	case HK_OBJECT: return true;
	case HK_NUMBER: return term_get(s->terms, o->term)->kind != TERM_NUM;
	default: return false;
	}
}

static void reach(Sim *s, const Ref *args, uint32_t n, RefList *out)
{
	RefList todo = {.a = s->scratch};
	Map seen = {.a = s->scratch};
	for (uint32_t i = n; i-- > 0;)
		if (args[i])
			VEC_PUSH(todo.a, &todo.v, args[i]);
	for (uint32_t count = 0; todo.v.n; count++) {
		if (count >= HOST_ITEMS_MOST * 2) {
			sim_stop(s, S("hidden code gets too much"));
			return;
		}
		Ref x = todo.v.v[--todo.v.n];
		if (is_seen(&seen, x))
			continue;
		if (is_usable(s, x))
			VEC_PUSH(out->a, &out->v, x);
		push_parts(s, x, false, &todo);
	}
	host_charge(s, seen.n);
}

void host_reach(Sim *s, Ref r, RefList *out)
{
	reach(s, &r, 1, out);
}

/* ---- what hidden code may put elsewhere ---- */

static bool same_sizes(Sim *s, Ref a, Ref b)
{
	const SimTensor *x = sim_tensor_of(s, a), *y = sim_tensor_of(s, b);
	bool same = x->sized && y->sized && x->ndim == y->ndim && x->dtype == y->dtype;
	for (uint32_t d = 0; same && d < x->ndim; d++)
		same = x->size[d] == y->size[d];
	return same;
}

/* What stands in a place of an object or container that hidden code has seen, afterwards: the same, but under the two
 * assumptions by which such code hands tensors on: another one of those it got, or something new. */
static Ref put_by_hidden(Sim *s, Ref was, const RefList *got, uint64_t site)
{
	const HeapObj *o = was ? sim_obj(s, was) : NULL;
	if (!o || (o->kind != HK_TENSOR && o->kind != HK_NUMBER && (o->kind != HK_UNKNOWN || o->known)))
		return was;
	if (o->kind == HK_NUMBER && term_get(s->terms, o->term)->kind == TERM_NUM)
		return was;
	if (s->assume == ASSUME_ALL)
		return o->kind == HK_NUMBER ? sim_number(s, term_fresh(s->terms, site)) : sim_unknown(s, site);
	for (uint32_t i = 0; i < got->v.n && o->kind == HK_TENSOR; i++)
		if (got->v.v[i] != was && sim_is_tensor(s, got->v.v[i]) && same_sizes(s, got->v.v[i], was))
			return got->v.v[i];
	return was;
}

static void rebind(Sim *s, const RefList *got, uint64_t site)
{
	for (uint32_t i = 0; i < got->v.n; i++) {
		Ref r = got->v.v[i];
		const HeapObj o = *sim_obj(s, r);
		bool object = o.kind == HK_OBJECT || o.kind == HK_UNKNOWN, list = o.kind == HK_LIST || o.kind == HK_DICT;
		if (r == s->spared || o.fields)
			continue;
		for (uint32_t k = 0; object && k < o.attrs.n; k++) {
			Ref now = put_by_hidden(s, o.attrs.v[k].value, got, host_mix(host_mix(site, i), k));
			sim_obj(s, r)->attrs.v[k].value = now;
		}
		for (uint32_t k = o.kind == HK_DICT; list && k < o.items.n; k += 1 + (o.kind == HK_DICT)) {
			Ref now = put_by_hidden(s, o.items.v[k], got, host_mix(host_mix(site, i), k));
			sim_obj(s, r)->items.v[k] = now;
		}
	}
}

Ref host_hidden(Sim *s, Str what, const Ref *args, uint32_t n)
{
	RefList all = {.a = s->scratch};
	reach(s, args, n, &all);
	Ref result = sim_hidden(s, what, all.v.v, all.v.n);
	if (s->assume == ASSUME_RETURNS || s->assume == ASSUME_ALL)
		rebind(s, &all, sim_site(s, hash_bytes(44, what.p, what.n)));
	return result;
}

void host_misuse(Sim *s, Ref r)
{
	s->impossible |= sim_is_tensor(s, r) && (s->assume == ASSUME_RETURNS || s->assume == ASSUME_ALL);
}

Ref host_op(Sim *s, Callee callee, Str target, const Ref *args, uint32_t n)
{
	return sim_operator(s, callee, target, args, NEW_N(s->scratch, Sym, n ? n : 1), n);
}

/* ---- equality ---- */

static Tri equal_numbers(Sim *s, TermId a, TermId b)
{
	const Term *p = term_get(s->terms, a), *q = term_get(s->terms, b);
	if (p->kind == TERM_NUM && q->kind == TERM_NUM)
		return p->num == q->num ? TRI_MUST : TRI_NO;
	if (p->kind == TERM_TEXT && q->kind == TERM_TEXT)
		return a.i == b.i ? TRI_MUST : TRI_NO;
	return a.i == b.i ? TRI_MUST : TRI_MAY;
}

static Tri equal_names(Sim *s, Ref a, Ref b)
{
	DType x = dtype_parse(host_name(s, a)), y = dtype_parse(host_name(s, b));
	if (x != DT_NONE || y != DT_NONE)
		return x == y ? TRI_MUST : TRI_NO;
	return TRI_MAY;
}

/* Tuples are left to the caller. */
static Tri equal_one(Sim *s, Ref a, Ref b)
{
	if (a == b)
		return TRI_MUST;
	const HeapObj *p = sim_obj(s, a), *q = sim_obj(s, b);
	if (p->kind == HK_UNKNOWN || q->kind == HK_UNKNOWN)
		return p->kind == q->kind && p->known && q->known && p->term.i == q->term.i ? TRI_MUST : TRI_MAY;
	if (p->kind == HK_NUMBER && q->kind == HK_NUMBER)
		return equal_numbers(s, p->term, q->term);
	if (p->kind == HK_NAME && q->kind == HK_NAME)
		return equal_names(s, a, b);
	if (p->kind == HK_NAME || q->kind == HK_NAME)
		return TRI_MAY;
	if (p->kind == HK_OBJECT && q->kind == HK_OBJECT)
		return TRI_MAY; /* a class may define __eq__ */
	return TRI_NO;
}

Tri host_equal(Sim *s, Ref a, Ref b)
{
	RefList todo = {.a = s->scratch};
	Tri all = TRI_MUST;
	VEC_PUSH(todo.a, &todo.v, a);
	VEC_PUSH(todo.a, &todo.v, b);
	for (uint32_t seen = 0; todo.v.n; seen++) {
		if (seen > HOST_WALK_MOST)
			return TRI_MAY;
		Ref y = todo.v.v[--todo.v.n], x = todo.v.v[--todo.v.n];
		const HeapObj *p = sim_obj(s, x), *q = sim_obj(s, y);
		bool lists = x != y && host_is_sequence(s, x) && p->kind == q->kind && !q->opened;
		if (!lists) {
			all = tri_and(all, equal_one(s, x, y));
		} else if (p->items.n != q->items.n) {
			return TRI_NO;
		} else {
			for (uint32_t i = 0; i < p->items.n; i++) {
				VEC_PUSH(todo.a, &todo.v, p->items.v[i]);
				VEC_PUSH(todo.a, &todo.v, q->items.v[i]);
			}
		}
		if (all == TRI_NO)
			return TRI_NO;
	}
	host_charge(s, 1);
	return all;
}

/* ---- values that turn out to be something ---- */

bool host_tensor_member(Sim *s, Str name, bool *attribute)
{
	static const Str attrs[] = {STR_INIT("T"), STR_INIT("mT"), STR_INIT("H"), STR_INIT("mH"), STR_INIT("shape"),
	                            STR_INIT("ndim"), STR_INIT("data"), STR_INIT("real"), STR_INIT("imag"),
	                            STR_INIT("grad"), STR_INIT("dtype"), STR_INIT("device"), STR_INIT("requires_grad"),
	                            STR_INIT("layout"), STR_INIT("is_cuda"), STR_INIT("is_leaf"), STR_INIT("grad_fn")};
	*attribute = false;
	for (uint32_t i = 0; i < sizeof attrs / sizeof *attrs; i++)
		if (str_eq(attrs[i], name)) {
			*attribute = true;
			return true;
		}
	return facts_find(s->f, CALLEE_METHOD, name, (VersionSpan){0, 0}) != NULL;
}

bool host_may_be_tensor(Sim *s, Ref r)
{
	HeapObj o = *sim_obj(s, r);
	if (o.kind == HK_TENSOR)
		return true;
	if (o.kind != HK_UNKNOWN || o.known || o.opened || o.items.n)
		return false;
	for (uint32_t i = 0; i < o.attrs.n; i++) {
		bool attribute;
		if (!host_tensor_member(s, sym_str(s->names, o.attrs.v[i].name), &attribute))
			return false;
	}
	return true;
}

void host_become_tensor(Sim *s, Ref r)
{
	HeapObj was = *sim_obj(s, r);
	if (was.kind == HK_TENSOR)
		return;
	Ref t = sim_root_tensor(s, (TypeId){0}, was.origin);
	HeapObj *o = sim_obj(s, r);
	*o = *sim_obj(s, t);
	o->origin = was.origin;
	o->root = was.root;
	o->argument = was.argument;
	if (o->tensor && o->tensor < s->tensors.n)
		s->tensors.v[o->tensor].self = r;
	*sim_obj(s, t) = (HeapObj){.kind = HK_UNKNOWN, .known = true, .term = was.term};
	/* x.data was taken for a value of its own, and is a view of it. */
	for (uint32_t i = 0; i < was.attrs.n; i++) {
		bool attribute;
		if (!host_tensor_member(s, sym_str(s->names, was.attrs.v[i].name), &attribute) || attribute)
			sim_unsure(s, S("parts of a value that turns out to be a tensor"));
	}
}

void host_become_container(Sim *s, Ref r, HeapKind kind)
{
	HeapObj *o = sim_obj(s, r);
	o->kind = (uint8_t)kind;
	o->opened = true;
}

bool host_reads_nothing(Sim *s, Ref r)
{
	RefList all = {.a = s->scratch};
	host_reach(s, r, &all);
	for (uint32_t i = 0; i < all.v.n; i++) {
		HeapKind k = host_kind(s, all.v.v[i]);
		if (k == HK_TENSOR || k == HK_NUMBER || k == HK_OBJECT || k == HK_UNKNOWN)
			return false;
	}
	return true;
}
