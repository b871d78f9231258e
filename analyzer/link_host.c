/* SPDX-License-Identifier: MIT
 * link_host: the host of the machine for symbolic runs: every value is a term. */
#include "utf8.h"
#include "frame_links_priv.h"

static LinkRun *run_of(void *ctx)
{
	return ctx;
}

/* ---- text ---- */

Str link_text(LinkRun *r, LTermId v)
{
	return lterm_str(r->t, &r->path->heap, v, r->scratch, LT_MOST);
}

Str link_value(LinkRun *r, LTermId v)
{
	return utf8_head(link_text(r, v), VALUE_MOST);
}

#define TEXT(v) STR_ARG(link_text(r, (v)))
#define VALUE(v) STR_ARG(link_value(r, (v)))

static Str sym(LinkRun *r, Sym s)
{
	return sym_str(r->names, s);
}

/* ---- constants and names ---- */

static Value constant(void *ctx, Machine *m, Str repr)
{
	LinkRun *r = run_of(ctx);
	LTermId id = lterm_const(r->t, repr);
	if (machine_ins(m)->row->act == ACT_RETURN)
		r->t->v.v[id].text = str_sub(repr, 0, LT_MOST);
	return id;
}

static Value integer(void *ctx, Machine *m, int64_t number)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	return lterm_const(r->t, str_printf(r->t->a, "%lld", (long long)number));
}

static Value unbound(void *ctx, Machine *m, Unbound kind, Sym name)
{
	LinkRun *r = run_of(ctx);
	(void)m, (void)kind;
	LTermId id = lterm_text(r->t, LT_LOCAL, "local:" STR_FMT, STR_ARG(sym(r, name)));
	r->t->v.v[id].name = name;
	return id;
}

static Value load_global(void *ctx, Machine *m, Sym name)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	return lterm_add(
		r->t, (LTerm){.kind = LT_GLOBAL, .name = name, .text = str_sub(sym(r, name), 0, LT_MOST)});
}

static void store_global(void *ctx, Machine *m, Sym name, Value v)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	if (!v)
		return;
	LinkEvent *e = link_add(r, LINK_SETGLOBAL);
	e->name = name;
	e->value = v;
	link_line(r, e, STR_FMT " " STR_FMT, STR_ARG(sym(r, name)), VALUE(v));
}

/* ---- cells ---- */

static Value cell_new(void *ctx, Machine *m, Sym name, Value content)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	LTermId id = lterm_text(r->t, LT_CELL, "cell:" STR_FMT, STR_ARG(sym(r, name)));
	r->t->v.v[id].name = name;
	r->t->v.v[id].index = (int32_t)r->path->cells.n;
	VEC_PUSH(r->scratch, &r->path->cells, content);
	return id;
}

/* The content of a cell that this frame made; NULL of anything else. */
static LTermId *content_of(LinkRun *r, LTermId cell)
{
	const LTerm *x = lterm_get(r->t, cell);
	return x->kind == LT_CELL && (uint32_t)x->index < r->path->cells.n ? &r->path->cells.v[x->index]
	                                                                   : NULL;
}

static Value cell_get(void *ctx, Machine *m, Value cell)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	LTermId *content = content_of(r, cell);
	return content ? *content : 0;
}

static void cell_set(void *ctx, Machine *m, Value cell, Value v)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	LTermId *content = content_of(r, cell);
	if (content)
		*content = v;
	if (!v)
		return;
	LinkEvent *e = link_add(r, LINK_SETCELL);
	e->what = cell;
	e->name = lterm_get(r->t, cell)->name;
	e->value = v;
	link_line(r, e, STR_FMT " " STR_FMT, STR_ARG(sym(r, e->name)), VALUE(v));
}

/* ---- attributes ---- */

static Value get_attr(void *ctx, Machine *m, Value o, Sym name)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	LTermId id = lterm_text(r->t, LT_ATTR, STR_FMT "." STR_FMT, TEXT(o), STR_ARG(sym(r, name)));
	r->t->v.v[id].of = o;
	r->t->v.v[id].name = name;
	return id;
}

static void set_attr(void *ctx, Machine *m, Value o, Sym name, Value v)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	if (!v)
		return;
	LinkEvent *e = link_add(r, LINK_SETATTR);
	e->what = o;
	e->name = name;
	e->value = v;
	link_line(r, e, STR_FMT " " STR_FMT " " STR_FMT, VALUE(o), STR_ARG(sym(r, name)), VALUE(v));
}

static Value super_attr(void *ctx, Machine *m, Value super, Value cls, Value self, Sym name)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	return lterm_text(r->t, LT_OTHER, STR_FMT "(" STR_FMT ", " STR_FMT ")." STR_FMT, TEXT(super),
	                  TEXT(cls), TEXT(self), STR_ARG(sym(r, name)));
}

/* ---- items ---- */

static bool is_sequence(const LTerm *x)
{
	return x->kind == LT_LIST || x->kind == LT_TUPLE;
}

/* Element of a list or tuple with known contents; 0 when it cannot be told. */
static LTermId known_item(LinkRun *r, const LTerm *x, LTermId key)
{
	int64_t k;
	if (!is_sequence(x) || !lterm_integer(r->t, key, &k))
		return 0;
	const LBox *b = lheap_box(&r->path->heap, x);
	if (k < 0)
		k += b->n;
	return k >= 0 && k < b->n ? b->v[k] : 0;
}

static LTermId out_of(LinkRun *r, LTermId graph, Str index, int32_t number)
{
	Str whole = lterm_get(r->t, graph)->text; /* NAME() */
	LTermId id = lterm_text(r->t, LT_OUT, STR_FMT ".out[" STR_FMT "]",
	                        STR_ARG(str_sub(whole, 0, whole.n - 2)), STR_ARG(index));
	r->t->v.v[id].of = graph;
	r->t->v.v[id].index = number;
	r->t->v.v[id].call = lterm_get(r->t, graph)->call;
	return id;
}

static Value get_slice(LinkRun *r, Machine *m, LTermId o, LTermId key)
{
	LTerm x = *lterm_get(r->t, o);
	LHeap *h = &r->path->heap;
	uint32_t from, end;
	if (is_sequence(&x) && lterm_slice(r->t, h, key, lheap_box(h, &x)->n, &from, &end)) {
		const LBox *b = lheap_box(h, &x);
		return lheap_new(h, r->t, (LTermKind)x.kind, b->v + from, end - from);
	}
	if (machine_ins(m)->row->act != ACT_GETSLICE)
		return lterm_text(r->t, LT_OTHER, STR_FMT "[" STR_FMT "]", TEXT(o), TEXT(key));
	const LBox *parts = lheap_box(h, lterm_get(r->t, key));
	return lterm_text(r->t, LT_OTHER, STR_FMT "[" STR_FMT ":" STR_FMT "]", TEXT(o),
	                  TEXT(parts->v[0]), TEXT(parts->v[1]));
}

static Value get_item(void *ctx, Machine *m, Value o, Value key)
{
	LinkRun *r = run_of(ctx);
	const LTerm *x = lterm_get(r->t, o);
	LTermId item = known_item(r, x, key);
	if (item)
		return item;
	if (x->kind == LT_GRAPH) {
		int64_t k;
		bool number = lterm_integer(r->t, key, &k) && k >= 0 && k < INT32_MAX;
		return out_of(r, o, link_text(r, key), number ? (int32_t)k : -1);
	}
	if (lterm_get(r->t, key)->kind == LT_SLICE || lterm_get(r->t, key)->kind == LT_CONST)
		return get_slice(r, m, o, key);
	LTermId id = lterm_text(r->t, LT_OTHER, STR_FMT "[" STR_FMT "]", TEXT(o), TEXT(key));
	r->t->v.v[id].of = o;
	return id;
}

static void add_setitem(LinkRun *r, LTermId o, LTermId key, LTermId v)
{
	LinkEvent *e = link_add(r, LINK_SETITEM);
	e->what = o;
	e->key = key;
	e->value = v;
	link_line(r, e, STR_FMT " " STR_FMT " " STR_FMT, VALUE(o), VALUE(key), VALUE(v));
}

/* The item that stands for a sequence whose elements are not known. */
static LTermId starred(LinkRun *r, LTermId seq)
{
	LTermId id = lterm_text(r->t, LT_OTHER, "*" STR_FMT, TEXT(seq));
	r->t->v.v[id].of = seq;
	return id;
}

/* What iterating gives: contents where they are known, else one starred term. */
static void items_of(LinkRun *r, LTermId seq, const LTermId **v, uint32_t *n, LTermId *one)
{
	const LTerm *x = lterm_get(r->t, seq);
	if (is_sequence(x) || x->kind == LT_SET) {
		const LBox *b = lheap_box(&r->path->heap, x);
		*v = b->v;
		*n = b->n;
		return;
	}
	*one = starred(r, seq);
	*v = one;
	*n = 1;
}

static bool store_known(LinkRun *r, LTermId o, LTermId key, LTermId v)
{
	LHeap *h = &r->path->heap;
	const LTerm *x = lterm_get(r->t, o);
	uint32_t n, from, end;
	int64_t k;
	if (x->kind != LT_LIST)
		return false;
	n = lheap_box(h, x)->n;
	if (lterm_slice(r->t, h, key, n, &from, &end)) {
		const LTermId *items;
		uint32_t count;
		LTermId one;
		items_of(r, v, &items, &count, &one);
		lheap_splice(h, r->t, o, from, end, items, count);
		return true;
	}
	if (!lterm_integer(r->t, key, &k))
		return false;
	k += k < 0 ? n : 0;
	if (k < 0 || k >= n)
		return false;
	lheap_splice(h, r->t, o, (uint32_t)k, (uint32_t)k + 1, &v, 1);
	return true;
}

static void delete_known(LinkRun *r, LTermId o, LTermId key)
{
	LHeap *h = &r->path->heap;
	const LTerm *x = lterm_get(r->t, o);
	uint32_t from, end;
	int64_t k;
	if (x->kind != LT_LIST)
		return;
	uint32_t n = lheap_box(h, x)->n;
	if (!lterm_slice(r->t, h, key, n, &from, &end)) {
		if (!lterm_integer(r->t, key, &k))
			return;
		k += k < 0 ? n : 0;
		if (k < 0 || k >= n)
			return;
		from = (uint32_t)k;
		end = from + 1;
	}
	lheap_splice(h, r->t, o, from, end, NULL, 0);
}

static void set_item(void *ctx, Machine *m, Value o, Value key, Value v)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	if (!v)
		delete_known(r, o, key);
	else if (!store_known(r, o, key, v))
		add_setitem(r, o, key, v);
}

/* ---- operators ---- */

/* "UNARY_NOT" -> "unary_not", as the instruction is called. */
static Str lower(LinkRun *r, Str s)
{
	Str t = str_copy(r->scratch, s);
	for (uint32_t i = 0; i < t.n; i++)
		if (t.p[i] >= 'A' && t.p[i] <= 'Z')
			((char *)t.p)[i] += 'a' - 'A';
	return t;
}

static Value unary(void *ctx, Machine *m, Str op, Value x)
{
	LinkRun *r = run_of(ctx);
	(void)op;
	LTerm of = *lterm_get(r->t, x);
	LTermId id = lterm_text(r->t, LT_OTHER, STR_FMT "(" STR_FMT ")",
	                        STR_ARG(lower(r, machine_ins(m)->row->name)), TEXT(x));
	if (machine_ins(m)->row->op == OP_TO_BOOL) {
		r->t->v.v[id].truth_known = of.truth_known;
		r->t->v.v[id].truth = of.truth;
	}
	return id;
}

/* Up to 3.10 the operator is the name of the instruction. */
static Value binary(void *ctx, Machine *m, Str op, Value x, Value y)
{
	LinkRun *r = run_of(ctx);
	Str shown = machine_ins(m)->row->act == ACT_BINARY ? machine_ins(m)->row->name : op;
	if (str_ends(op, S("="))) {
		LinkEvent *e = link_add(r, LINK_INPLACE);
		e->what = x;
		e->value = y;
		link_line(r, e, STR_FMT " " STR_FMT " " STR_FMT, VALUE(x), STR_ARG(op), VALUE(y));
	}
	return lterm_text(r->t, LT_OTHER, "(" STR_FMT " " STR_FMT " " STR_FMT ")", TEXT(x),
	                  STR_ARG(shown), TEXT(y));
}

static Value compare(void *ctx, Machine *m, Str op, Value x, Value y)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	bool is = str_eq(op, S("is")), is_not = str_eq(op, S("is not"));
	if ((is || is_not) && lterm_get(r->t, x)->none && lterm_get(r->t, y)->none)
		return lterm_const(r->t, is ? S("True") : S("False"));
	return lterm_text(r->t, LT_OTHER, "(" STR_FMT " " STR_FMT " " STR_FMT ")", TEXT(x), STR_ARG(op),
	                  TEXT(y));
}

static Value opaque(void *ctx, Machine *m, Str what, const Value *v, uint32_t n, uint32_t k)
{
	LinkRun *r = run_of(ctx);
	(void)m, (void)k;
	return lterm_text(r->t, LT_OTHER, STR_FMT "(" STR_FMT ")", STR_ARG(what),
	                  STR_ARG(n ? link_text(r, v[0]) : S("")));
}

static Value intrinsic(void *ctx, Machine *m, uint32_t number, Value x, Value y)
{
	LinkRun *r = run_of(ctx);
	(void)m, (void)y;
	return lterm_text(r->t, LT_OTHER, "intrinsic_%u(" STR_FMT ")", number, TEXT(x));
}

static Value format(void *ctx, Machine *m, Value v, uint32_t conversion, Value spec)
{
	LinkRun *r = run_of(ctx);
	(void)m, (void)conversion, (void)spec;
	return lterm_text(r->t, LT_OTHER, "format(" STR_FMT ")", TEXT(v));
}

/* ---- containers ---- */

static Value build(void *ctx, Machine *m, BuildKind kind, const Value *v, uint32_t n)
{
	static const LTermKind kinds[] = {[BUILD_TUPLE] = LT_TUPLE,
	                                  [BUILD_LIST] = LT_LIST,
	                                  [BUILD_SET] = LT_SET,
	                                  [BUILD_MAP] = LT_DICT,
	                                  [BUILD_SLICE] = LT_SLICE};
	LinkRun *r = run_of(ctx);
	(void)m;
	if (kind == BUILD_STRING)
		return lterm_text(r->t, LT_OTHER, "string(" STR_FMT ")",
		                  STR_ARG(n ? link_text(r, v[0]) : S("")));
	return lheap_new(&r->path->heap, r->t, kinds[kind], v, n);
}

static Value build_joined(void *ctx, Machine *m, BuildKind kind, const Value *v, uint32_t n)
{
	LinkRun *r = run_of(ctx);
	LTermId out = build(ctx, m, kind, NULL, 0);
	for (uint32_t i = 0; i < n; i++) {
		const LTermId *items;
		uint32_t count;
		LTermId one;
		if (kind == BUILD_MAP) {
			lheap_push(&r->path->heap, r->t, out, 0);
			lheap_push(&r->path->heap, r->t, out, v[i]);
			continue;
		}
		items_of(r, v[i], &items, &count, &one);
		for (uint32_t k = 0; k < count; k++)
			lheap_push(&r->path->heap, r->t, out, items[k]);
	}
	return out;
}

/* Names in a tuple constant: ('a', 'b'). The quotes stay. */
static bool next_name(Str *rest, Str *name)
{
	*rest = str_trim(*rest);
	if (!rest->n || (rest->p[0] != '\'' && rest->p[0] != '"'))
		return false;
	uint32_t end = str_find_char(*rest, rest->p[0], 1);
	if (end == rest->n)
		return false;
	*name = str_sub(*rest, 0, end + 1);
	*rest = str_trim(str_sub(*rest, end + 1, rest->n));
	if (rest->n && rest->p[0] == ',')
		*rest = str_sub(*rest, 1, rest->n);
	return true;
}

static Value build_keyed(void *ctx, Machine *m, Value keys, const Value *v, uint32_t n)
{
	LinkRun *r = run_of(ctx);
	LTermId out = build(ctx, m, BUILD_MAP, NULL, 0);
	Str rest = lterm_get(r->t, keys)->repr, name;
	rest = str_sub(rest, 1, rest.n ? rest.n - 1 : 0);
	for (uint32_t i = 0; i < n; i++) {
		LTermId key = next_name(&rest, &name)
		                  ? lterm_const(r->t, name)
		                  : lterm_text(r->t, LT_OTHER, STR_FMT "[%u]", TEXT(keys), i);
		lheap_push(&r->path->heap, r->t, out, key);
		lheap_push(&r->path->heap, r->t, out, v[i]);
	}
	return out;
}

static void add_append(LinkRun *r, LTermId container, LTermId v)
{
	LinkEvent *e = link_add(r, LINK_APPEND);
	e->what = container;
	e->value = v;
	link_line(r, e, STR_FMT " " STR_FMT, VALUE(container), VALUE(v));
}

static void extend(LinkRun *r, LTermId container, LTermId v)
{
	const LTermId *items;
	uint32_t n;
	LTermId one;
	items_of(r, v, &items, &n, &one);
	LHeap *h = &r->path->heap;
	uint32_t at = lheap_box(h, lterm_get(r->t, container))->n;
	lheap_splice(h, r->t, container, at, at, items, n);
}

static void add(void *ctx, Machine *m, AddKind kind, Value container, Value v, Value value)
{
	LinkRun *r = run_of(ctx);
	LHeap *h = &r->path->heap;
	(void)m;
	if (!lterm_is_container(lterm_get(r->t, container))) {
		add_append(r, container, v);
		return;
	}
	switch (kind) {
	case ADD_LIST_APPEND:
	case ADD_SET_ADD: lheap_push(h, r->t, container, v); break;
	case ADD_LIST_EXTEND:
	case ADD_SET_UPDATE: extend(r, container, v); break;
	case ADD_MAP_ADD:
		lheap_push(h, r->t, container, v);
		lheap_push(h, r->t, container, value);
		break;
	case ADD_DICT_UPDATE:
	case ADD_DICT_MERGE:
		lheap_push(h, r->t, container, 0);
		lheap_push(h, r->t, container, v);
		break;
	}
}

static Value to_tuple(void *ctx, Machine *m, Value list)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	const LTerm *x = lterm_get(r->t, list);
	if (!is_sequence(x))
		return lterm_text(r->t, LT_OTHER, "tuple(" STR_FMT ")", TEXT(list));
	const LBox b = *lheap_box(&r->path->heap, x);
	return lheap_new(&r->path->heap, r->t, LT_TUPLE, b.v, b.n);
}

static LTermId element(LinkRun *r, LTermId seq, uint32_t k)
{
	if (lterm_get(r->t, seq)->kind == LT_GRAPH)
		return out_of(r, seq, str_printf(r->scratch, "%u", k), (int32_t)k);
	LTermId id = lterm_text(r->t, LT_OTHER, STR_FMT "[%u]", TEXT(seq), k);
	r->t->v.v[id].of = seq;
	return id;
}

static void unpack(void *ctx, Machine *m, Value seq, uint32_t n, int32_t after, Value *out)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	const LTerm x = *lterm_get(r->t, seq);
	LBox b = is_sequence(&x) ? *lheap_box(&r->path->heap, &x) : (LBox){0};
	bool known = is_sequence(&x) && (after < 0 ? b.n == n : b.n + 1 >= n);
	uint32_t head = after < 0 ? n : n - 1 - (uint32_t)after;
	for (uint32_t k = 0; k < head; k++)
		out[k] = known ? b.v[k] : element(r, seq, k);
	if (after < 0)
		return;
	out[head] = known ? lheap_new(&r->path->heap, r->t, LT_LIST, b.v + head, b.n - (n - 1))
	                  : starred(r, seq);
	for (uint32_t k = head + 1; k < n; k++)
		out[k] = known ? b.v[b.n - (n - k)]
		               : lterm_text(r->t, LT_OTHER, STR_FMT "[-%u]", TEXT(seq), n - k);
}

/* ---- loops and branches ---- */

static Value iter(void *ctx, Machine *m, Value x)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	Str text = str_sub(str_printf(r->t->a, "get_iter(" STR_FMT ")", TEXT(x)), 0, LT_MOST);
	const LTerm seq = *lterm_get(r->t, x);
	if (!is_sequence(&seq))
		return lterm_add(r->t, (LTerm){.kind = LT_OTHER, .of = x, .text = text});
	const LBox b = *lheap_box(&r->path->heap, &seq);
	LTermId id = lheap_new(&r->path->heap, r->t, LT_ITER, b.v, b.n);
	r->t->v.v[id].of = x;
	r->t->v.v[id].text = text;
	return id;
}

static NextItem next(void *ctx, Machine *m, Value it, Value *item)
{
	LinkRun *r = run_of(ctx);
	LHeap *h = &r->path->heap;
	(void)m;
	r->path->beyond = true;
	if (lterm_get(r->t, it)->kind != LT_ITER) {
		*item = lterm_text(r->t, LT_OTHER, "item of " STR_FMT, TEXT(it));
		r->t->v.v[*item].of = it;
		return NEXT_UNKNOWN;
	}
	const LBox *b = lheap_box(h, lterm_get(r->t, it));
	if (!b->n)
		return NEXT_END;
	*item = b->v[0];
	lheap_splice(h, r->t, it, 0, 1, NULL, 0);
	return NEXT_ITEM;
}

/* Profiler code of 2.15 around each graph call is taken as switched off. */
static Tri truth(void *ctx, Machine *m, Value v)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	const LTerm *x = lterm_get(r->t, v);
	if (str_has(x->text, S("_is_profiler_enabled")))
		return TRI_NO;
	return !x->truth_known ? TRI_MAY : x->truth ? TRI_MUST : TRI_NO;
}

static Tri is_none(void *ctx, Machine *m, Value v)
{
	(void)ctx, (void)m, (void)v;
	return TRI_MAY;
}

/* ---- calls ---- */

enum { FROZEN_DEEP = 4, FROZEN_MOST = 1024 };

/* A container as it is now, so that later writes do not change an event. What nests too deep, or is more than `room`
 * items, keeps its text alone. */
static LTermId frozen(LinkRun *r, LTermId v, uint32_t depth, uint32_t *room)
{
	const LTerm x = *lterm_get(r->t, v);
	if (!x.box || x.text.n)
		return v;
	LTerm out = {.kind = x.kind, .text = str_copy(r->scratch, link_text(r, v))};
	const LBox b = *lheap_box(&r->path->heap, &x);
	if (depth < FROZEN_DEEP && b.n <= *room) {
		*room -= b.n;
		LTermId *kids = NEW_N(r->scratch, LTermId, b.n);
		for (uint32_t i = 0; i < b.n; i++)
			kids[i] = b.v[i] ? frozen(r, b.v[i], depth + 1, room) : 0;
		out.kids = kids;
		out.nkids = b.n;
	}
	return lterm_add(r->t, out);
}

typedef struct Args {
	const LTermId *v;
	uint32_t n;
	LTermId one;
} Args;

static Str keywords(LinkRun *r, const MachineCall *c)
{
	LTermId names = c->ex ? c->map : c->names;
	if (names)
		return link_text(r, names);
	if (c->names_hidden)
		return str_printf(r->scratch, "names in constant %u, not printed", c->names_at);
	return (Str){0};
}

/* A function that a factory made (2.13 and later: resume functions with cells) is called by the factory's name. */
static bool from_factory(LinkRun *r, LinkEvent *e, const LTerm *fn)
{
	LinkEvent *made = fn->call && fn->kind == LT_OTHER ? &r->out->events.v[fn->call - 1] : NULL;
	if (!made || made->callee != CALLEE_RESUME)
		return false;
	made->factory = true;
	e->name = made->name;
	e->callee = CALLEE_RESUME;
	return true;
}

static void set_callee(LinkRun *r, LinkEvent *e, LTermId fn)
{
	const LTerm *x = lterm_get(r->t, fn);
	if (from_factory(r, e, x) || (x->kind != LT_GLOBAL && x->kind != LT_FUNCTION))
		return;
	Str inner, name = sym(r, x->name);
	uint32_t offset;
	e->name = x->name;
	if (x->kind == LT_GLOBAL && name_is_graph(name))
		e->callee = CALLEE_GRAPH;
	else if (name_is_resume(name, &offset) || name_is_resume_code(name, &inner))
		e->callee = CALLEE_RESUME;
}

static LinkEvent *add_call(LinkRun *r, const MachineCall *c, const Args *args, Str kw)
{
	LinkEvent *e = link_add(r, LINK_CALL);
	Buf b = {.a = r->scratch};
	e->what = c->fn;
	e->key = c->ex ? c->map : c->names;
	set_callee(r, e, c->fn);
	e->args = NEW_N(r->scratch, LTermId, args->n);
	e->nargs = args->n;
	buf_add(&b, link_text(r, c->fn));
	buf_char(&b, '(');
	uint32_t room = FROZEN_MOST;
	for (uint32_t i = 0; i < args->n; i++) {
		if (i)
			buf_add(&b, S(", "));
		buf_add(&b, link_value(r, args->v[i]));
		e->args[i] = frozen(r, args->v[i], 0, &room);
		e->starred |= lterm_get(r->t, args->v[i])->kind == LT_OTHER &&
		              str_starts(link_text(r, args->v[i]), S("*"));
	}
	buf_char(&b, ')');
	if (kw.n) {
		buf_add(&b, S(" kw="));
		buf_add(&b, kw);
	}
	link_line(r, e, STR_FMT, STR_ARG(buf_str(&b)));
	return e;
}

static LTermId call_result(LinkRun *r, const MachineCall *c, const Args *args, const LinkEvent *e)
{
	if (e->callee == CALLEE_GRAPH) {
		LTermId id = lterm_text(r->t, LT_GRAPH, STR_FMT "()", TEXT(c->fn));
		r->t->v.v[id].name = e->name;
		r->t->v.v[id].call = r->out->events.n;
		return id;
	}
	Buf b = {.a = r->t->a};
	buf_add(&b, link_text(r, c->fn));
	buf_char(&b, '(');
	for (uint32_t i = 0; i < args->n && b.n < LT_MOST; i++) {
		if (i)
			buf_add(&b, S(", "));
		buf_add(&b, link_text(r, args->v[i]));
	}
	buf_char(&b, ')');
	return lterm_add(r->t, (LTerm){.kind = LT_OTHER,
	                               .of = c->fn,
	                               .call = r->out->events.n,
	                               .text = str_sub(buf_str(&b), 0, LT_MOST)});
}

static Value call(void *ctx, Machine *m, const MachineCall *c)
{
	LinkRun *r = run_of(ctx);
	(void)m;
	/* record_pregraph_bytecode_enter and _exit tell the profiler (2.9 and later) */
	if (str_has(link_text(r, c->fn), S("record_pregraph_bytecode_")))
		return lterm_text(r->t, LT_OTHER, "pregraph");
	Args args = {.v = c->args, .n = c->n};
	if (c->ex)
		items_of(r, c->seq, &args.v, &args.n, &args.one);
	if (args.n) { /* the items of a list may move while terms are made */
		LTermId *copy = NEW_N(r->scratch, LTermId, args.n);
		memcpy(copy, args.v, args.n * sizeof *copy);
		args.v = copy;
	}
	LinkEvent *e = add_call(r, c, &args, keywords(r, c));
	LTermId result = call_result(r, c, &args, e);
	r->out->events.v[r->out->events.n - 1].result = result;
	return result;
}

/* Up to 3.10 a resume function with cells has its __resume_at name as the qualified name, and the code object's name else. */
static Sym function_name(LinkRun *r, const MachineFunction *f, Str repr)
{
	Str name, file;
	uint32_t line, offset;
	if (f->name) {
		name = lterm_get(r->t, f->name)->repr;
		name = str_sub(name, 1, name.n ? name.n - 1 : 0);
		if (name_is_resume(name, &offset))
			return sym_intern(r->names, name);
	}
	return code_object_parse(repr, &name, &file, &line) ? sym_intern(r->names, name) : (Sym){0};
}

static Value make_function(void *ctx, Machine *m, const MachineFunction *f)
{
	LinkRun *r = run_of(ctx);
	Str name, file, text = lterm_get(r->t, f->code)->text, repr = lterm_get(r->t, f->code)->repr;
	uint32_t line;
	(void)m;
	if (code_object_parse(text, &name, &file, &line))
		text = name;
	if (str_find_char(text, ' ', 0) == text.n)
		text = str_printf(r->t->a, "<" STR_FMT ">", STR_ARG(text));
	LTermId id = lterm_add(r->t, (LTerm){.kind = LT_FUNCTION, .of = f->code, .text = text});
	r->t->v.v[id].name = function_name(r, f, repr);
	return id;
}

static Value function_part(void *ctx, Machine *m, Value fn, uint32_t part, Value v)
{
	(void)ctx, (void)m, (void)part, (void)v;
	return fn;
}

static Value import_name(void *ctx, Machine *m, Sym name, Value level, Value from)
{
	(void)level, (void)from;
	return load_global(ctx, m, name);
}

static Value raised(void *ctx, Machine *m, Value x, Value cause)
{
	LinkRun *r = run_of(ctx);
	(void)m, (void)cause;
	r->path->beyond = true;
	return x ? x : lterm_text(r->t, LT_OTHER, "exception");
}

const Host link_host = {
	.constant = constant,
	.integer = integer,
	.unbound = unbound,
	.load_global = load_global,
	.store_global = store_global,
	.cell_new = cell_new,
	.cell_get = cell_get,
	.cell_set = cell_set,
	.get_attr = get_attr,
	.set_attr = set_attr,
	.super_attr = super_attr,
	.get_item = get_item,
	.set_item = set_item,
	.unary = unary,
	.binary = binary,
	.compare = compare,
	.build = build,
	.build_joined = build_joined,
	.build_keyed = build_keyed,
	.add = add,
	.to_tuple = to_tuple,
	.unpack = unpack,
	.format = format,
	.iter = iter,
	.next = next,
	.truth = truth,
	.is_none = is_none,
	.call = call,
	.make_function = make_function,
	.function_part = function_part,
	.import_name = import_name,
	.import_from = get_attr,
	.intrinsic = intrinsic,
	.opaque = opaque,
	.raised = raised,
};
