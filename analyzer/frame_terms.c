/* SPDX-License-Identifier: MIT */
#include "utf8.h"
#include "frame_terms.h"

void terms_init(Terms *t, Arena *a)
{
	*t = (Terms){.a = a};
	VEC_PUSH(a, &t->v, ((Term){.kind = TERM_NONE}));
}

TermId term_add(Terms *t, Term term)
{
	VEC_PUSH(t->a, &t->v, term);
	return t->v.n - 1;
}

TermId term_text(Terms *t, TermKind kind, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	Str s = str_vprintf(t->a, fmt, ap);
	va_end(ap);
	return term_add(t, (Term){.kind = (uint8_t)kind, .text = str_sub(s, 0, TERM_MOST)});
}

TermId term_const(Terms *t, Str repr)
{
	Term x = {.kind = TERM_CONST, .repr = repr, .text = repr};
	Str head = utf8_head(repr, CONST_MOST);
	if (head.n < repr.n)
		x.text = str_printf(t->a, STR_FMT "...", STR_ARG(utf8_head(repr, CONST_HEAD)));
	x.none = str_eq(repr, S("None"));
	x.truth = str_eq(repr, S("True"));
	x.truth_known = x.truth || str_eq(repr, S("False"));
	return term_add(t, x);
}

bool term_is_container(const Term *x)
{
	return x->box != 0;
}

/* ---- heap ---- */

void heap_init(Heap *h, Arena *a)
{
	*h = (Heap){0};
	VEC_PUSH(a, &h->v, ((Box){0}));
}

void heap_copy(Heap *to, const Heap *from, Arena *a)
{
	*to = (Heap){0};
	to->v.v = NEW_N(a, Box, from->v.n + 8);
	to->v.cap = from->v.n + 8;
	to->v.n = from->v.n;
	for (uint32_t i = 0; i < from->v.n; i++) {
		to->v.v[i] = from->v.v[i];
		to->v.v[i].cap = from->v.v[i].cap = 0;
	}
}

static void own(Box *b, Arena *a, uint64_t need)
{
	if (b->cap >= need && b->cap)
		return;
	uint64_t cap = need + need / 2 + 4;
	TermId *v = NEW_N(a, TermId, cap);
	if (b->n)
		memcpy(v, b->v, b->n * sizeof *v);
	b->v = v;
	b->cap = (uint32_t)cap;
}

TermId heap_new(Heap *h, Terms *t, TermKind kind, const TermId *v, uint32_t n)
{
	Box b = {0};
	own(&b, t->a, n);
	if (n)
		memcpy(b.v, v, n * sizeof *v);
	b.n = n;
	VEC_PUSH(t->a, &h->v, b);
	return term_add(t, (Term){.kind = (uint8_t)kind, .box = h->v.n - 1});
}

void heap_push(Heap *h, Terms *t, TermId container, TermId v)
{
	Box *b = heap_box(h, term_get(t, container));
	own(b, t->a, (uint64_t)b->n + 1);
	b->v[b->n++] = v;
}

void heap_splice(Heap *h, Terms *t, TermId container, uint32_t from, uint32_t end, const TermId *v, uint32_t n)
{
	Box *b = heap_box(h, term_get(t, container));
	TermId *copy = NEW_N(t->a, TermId, n); /* v may be the container's own items */
	if (n)
		memcpy(copy, v, n * sizeof *v);
	own(b, t->a, (uint64_t)b->n - (end - from) + n);
	memmove(b->v + from + n, b->v + end, (b->n - end) * sizeof *b->v);
	if (n)
		memcpy(b->v + from, copy, n * sizeof *copy);
	b->n = b->n - (end - from) + n;
}

/* ---- text ---- */

enum { DEPTH_MOST = 16 };

typedef struct Printer {
	const Terms *t;
	const Heap *h;
	Buf *out;
	uint32_t limit; /* size of out at which to stop */
} Printer;

static bool is_full(const Printer *p)
{
	return p->out->n >= p->limit;
}

static void put(Printer *p, Str s)
{
	if (!is_full(p))
		buf_add(p->out, str_sub(s, 0, p->limit - p->out->n));
}

static const Str opens[] = {[TERM_SLICE] = STR_INIT("slice("), [TERM_TUPLE] = STR_INIT("("), [TERM_LIST] = STR_INIT("["),
                            [TERM_SET] = STR_INIT("{"), [TERM_DICT] = STR_INIT("{"), [TERM_ITER] = STR_INIT("get_iter(")};
static const Str closes[] = {[TERM_SLICE] = STR_INIT(")"), [TERM_TUPLE] = STR_INIT(")"), [TERM_LIST] = STR_INIT("]"),
                             [TERM_SET] = STR_INIT("}"), [TERM_DICT] = STR_INIT("}"), [TERM_ITER] = STR_INIT(")")};

typedef struct Open {
	const Term *x;
	uint32_t next;
} Open;

static bool opens_container(const Term *x)
{
	return x->box && x->kind != TERM_FUNCTION && !x->text.n;
}

/* Text before item k of a container. */
static Str separator(const Term *x, const Box *b, uint32_t k)
{
	if (x->kind != TERM_DICT)
		return k ? S(", ") : S("");
	if (k % 2)
		return b->v[k - 1] ? S(": ") : S("**: ");
	return k ? S(", ") : S("");
}

void term_print(const Terms *t, const Heap *h, TermId id, Buf *out, uint32_t most)
{
	Printer p = {.t = t, .h = h, .out = out, .limit = out->n + most};
	Open stack[DEPTH_MOST];
	uint32_t depth = 0;
	const Term *x = term_get(t, id);
	if (!opens_container(x)) {
		put(&p, x->text);
		return;
	}
	put(&p, opens[x->kind]);
	stack[depth++] = (Open){.x = x};
	while (depth && !is_full(&p)) {
		Open *o = &stack[depth - 1];
		const Box *b = heap_box(h, o->x);
		if (o->next == b->n) {
			put(&p, closes[o->x->kind]);
			depth--;
			continue;
		}
		put(&p, separator(o->x, b, o->next));
		const Term *kid = term_get(t, b->v[o->next++]);
		if (!opens_container(kid)) {
			put(&p, kid->text);
		} else if (depth == DEPTH_MOST) {
			put(&p, S("..."));
		} else {
			put(&p, opens[kid->kind]);
			stack[depth++] = (Open){.x = kid};
		}
	}
}

Str term_str(const Terms *t, const Heap *h, TermId id, Arena *a, uint32_t most)
{
	const Term *x = term_get(t, id);
	if (!opens_container(x))
		return str_sub(x->text, 0, most);
	Buf b = {.a = a};
	term_print(t, h, id, &b, most);
	return buf_str(&b);
}

/* ---- numbers ---- */

bool term_integer(const Terms *t, TermId id, int64_t *out)
{
	const Term *x = term_get(t, id);
	return x->kind == TERM_CONST && str_to_i64(x->repr, out);
}

static bool bound(const Terms *t, TermId id, uint32_t n, uint32_t missing, uint32_t *out)
{
	int64_t k;
	if (term_get(t, id)->none) {
		*out = missing;
		return true;
	}
	if (!term_integer(t, id, &k))
		return false;
	if (k < 0)
		k = k < -(int64_t)n ? 0 : k + n;
	*out = k > (int64_t)n ? n : (uint32_t)k;
	return true;
}

bool term_slice(const Terms *t, const Heap *h, TermId id, uint32_t n, uint32_t *from, uint32_t *end)
{
	const Term *x = term_get(t, id);
	if (x->kind != TERM_SLICE)
		return false;
	const Box *b = heap_box(h, x);
	if (b->n < 2 || (b->n > 2 && !term_get(t, b->v[2])->none))
		return false;
	if (!bound(t, b->v[0], n, 0, from) || !bound(t, b->v[1], n, n, end))
		return false;
	if (*end < *from)
		*end = *from;
	return true;
}
