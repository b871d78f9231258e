/* SPDX-License-Identifier: MIT */
#include "utf8.h"
#include "frame_terms.h"

void lterms_init(LTerms *t, Arena *a)
{
	*t = (LTerms){.a = a};
	VEC_PUSH(a, &t->v, ((LTerm){.kind = LT_NONE}));
}

LTermId lterm_add(LTerms *t, LTerm term)
{
	VEC_PUSH(t->a, &t->v, term);
	return t->v.n - 1;
}

LTermId lterm_text(LTerms *t, LTermKind kind, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	Str s = str_vprintf(t->a, fmt, ap);
	va_end(ap);
	return lterm_add(t, (LTerm){.kind = (uint8_t)kind, .text = str_sub(s, 0, LT_MOST)});
}

LTermId lterm_const(LTerms *t, Str repr)
{
	LTerm x = {.kind = LT_CONST, .repr = repr, .text = repr};
	Str head = utf8_head(repr, CONST_MOST);
	if (head.n < repr.n)
		x.text = str_printf(t->a, STR_FMT "...", STR_ARG(utf8_head(repr, CONST_HEAD)));
	x.none = str_eq(repr, S("None"));
	x.truth = str_eq(repr, S("True"));
	x.truth_known = x.truth || str_eq(repr, S("False"));
	return lterm_add(t, x);
}

bool lterm_is_container(const LTerm *x)
{
	return x->box != 0;
}

/* ---- heap ---- */

void lheap_init(LHeap *h, Arena *a)
{
	*h = (LHeap){0};
	VEC_PUSH(a, &h->v, ((LBox){0}));
}

void lheap_copy(LHeap *to, const LHeap *from, Arena *a)
{
	*to = (LHeap){0};
	to->v.v = NEW_N(a, LBox, from->v.n + 8);
	to->v.cap = from->v.n + 8;
	to->v.n = from->v.n;
	for (uint32_t i = 0; i < from->v.n; i++) {
		to->v.v[i] = from->v.v[i];
		to->v.v[i].cap = from->v.v[i].cap = 0;
	}
}

static void own(LBox *b, Arena *a, uint64_t need)
{
	if (b->cap >= need && b->cap)
		return;
	uint64_t cap = need + need / 2 + 4;
	LTermId *v = NEW_N(a, LTermId, cap);
	if (b->n)
		memcpy(v, b->v, b->n * sizeof *v);
	b->v = v;
	b->cap = (uint32_t)cap;
}

LTermId lheap_new(LHeap *h, LTerms *t, LTermKind kind, const LTermId *v, uint32_t n)
{
	LBox b = {0};
	own(&b, t->a, n);
	if (n)
		memcpy(b.v, v, n * sizeof *v);
	b.n = n;
	VEC_PUSH(t->a, &h->v, b);
	return lterm_add(t, (LTerm){.kind = (uint8_t)kind, .box = h->v.n - 1});
}

void lheap_push(LHeap *h, LTerms *t, LTermId container, LTermId v)
{
	LBox *b = lheap_box(h, lterm_get(t, container));
	own(b, t->a, (uint64_t)b->n + 1);
	b->v[b->n++] = v;
}

void lheap_splice(LHeap *h, LTerms *t, LTermId container, uint32_t from, uint32_t end,
                  const LTermId *v, uint32_t n)
{
	LBox *b = lheap_box(h, lterm_get(t, container));
	LTermId *copy = NEW_N(t->a, LTermId, n); /* v may be the container's own items */
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
	const LTerms *t;
	const LHeap *h;
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

static const Str opens[] = {
	[LT_SLICE] = STR_INIT("slice("), [LT_TUPLE] = STR_INIT("("), [LT_LIST] = STR_INIT("["),
	[LT_SET] = STR_INIT("{"),        [LT_DICT] = STR_INIT("{"),  [LT_ITER] = STR_INIT("get_iter(")};
static const Str closes[] = {
	[LT_SLICE] = STR_INIT(")"), [LT_TUPLE] = STR_INIT(")"), [LT_LIST] = STR_INIT("]"),
	[LT_SET] = STR_INIT("}"),   [LT_DICT] = STR_INIT("}"),  [LT_ITER] = STR_INIT(")")};

typedef struct Open {
	const LTerm *x;
	uint32_t next;
} Open;

static bool opens_container(const LTerm *x)
{
	return x->box && x->kind != LT_FUNCTION && !x->text.n;
}

/* Text before item k of a container. */
static Str separator(const LTerm *x, const LBox *b, uint32_t k)
{
	if (x->kind != LT_DICT)
		return k ? S(", ") : S("");
	if (k % 2)
		return b->v[k - 1] ? S(": ") : S("**: ");
	return k ? S(", ") : S("");
}

void lterm_print(const LTerms *t, const LHeap *h, LTermId id, Buf *out, uint32_t most)
{
	Printer p = {.t = t, .h = h, .out = out, .limit = out->n + most};
	Open stack[DEPTH_MOST];
	uint32_t depth = 0;
	const LTerm *x = lterm_get(t, id);
	if (!opens_container(x)) {
		put(&p, x->text);
		return;
	}
	put(&p, opens[x->kind]);
	stack[depth++] = (Open){.x = x};
	while (depth && !is_full(&p)) {
		Open *o = &stack[depth - 1];
		const LBox *b = lheap_box(h, o->x);
		if (o->next == b->n) {
			put(&p, closes[o->x->kind]);
			depth--;
			continue;
		}
		put(&p, separator(o->x, b, o->next));
		const LTerm *kid = lterm_get(t, b->v[o->next++]);
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

Str lterm_str(const LTerms *t, const LHeap *h, LTermId id, Arena *a, uint32_t most)
{
	const LTerm *x = lterm_get(t, id);
	if (!opens_container(x))
		return str_sub(x->text, 0, most);
	Buf b = {.a = a};
	lterm_print(t, h, id, &b, most);
	return buf_str(&b);
}

/* ---- numbers ---- */

bool lterm_integer(const LTerms *t, LTermId id, int64_t *out)
{
	const LTerm *x = lterm_get(t, id);
	return x->kind == LT_CONST && str_to_i64(x->repr, out);
}

/* A bound as dis prints it. */
static bool bound(Str repr, uint32_t n, uint32_t missing, uint32_t *out)
{
	int64_t k;
	if (str_eq(repr, S("None"))) {
		*out = missing;
		return true;
	}
	if (!str_to_i64(repr, &k))
		return false;
	if (k < 0)
		k = k < -(int64_t)n ? 0 : k + n;
	*out = k > (int64_t)n ? n : (uint32_t)k;
	return true;
}

/* Start, stop and step of a slice; of the constant slices of 3.14, too. False when it is no slice. */
static bool slice_parts(const LTerms *t, const LHeap *h, const LTerm *x, Str part[3])
{
	static const Str start = STR_INIT("slice(");
	part[2] = S("None");
	if (x->kind == LT_SLICE) {
		const LBox *b = lheap_box(h, x);
		for (uint32_t i = 0; i < b->n && i < 3; i++)
			part[i] = lterm_get(t, b->v[i])->repr;
		return b->n >= 2;
	}
	if (x->kind != LT_CONST || !str_starts(x->repr, start) || !str_ends(x->repr, S(")")))
		return false;
	Str rest = str_sub(x->repr, start.n, x->repr.n - 1), one;
	uint32_t n = 0;
	while (n < 3 && str_cut(&rest, ',', &one))
		part[n++] = str_trim(one);
	return n >= 2;
}

bool lterm_slice(const LTerms *t, const LHeap *h, LTermId id, uint32_t n, uint32_t *from,
                 uint32_t *end)
{
	Str part[3];
	if (!slice_parts(t, h, lterm_get(t, id), part) || !str_eq(part[2], S("None")))
		return false;
	if (!bound(part[0], n, 0, from) || !bound(part[1], n, n, end))
		return false;
	if (*end < *from)
		*end = *from;
	return true;
}
