/* SPDX-License-Identifier: MIT
 * Rule 9 of the operator facts: einsum of one operand that keeps every label is a view. */
#include "decide_query.h"

enum { LABELS = 52 }; /* letters, or the numbers of the form einsum(x, [0, 1], [1, 0]) */

/* Labels of one side of an equation. */
typedef struct Labels {
	uint32_t count[LABELS];
	uint32_t n; /* labels, repeats included */
	bool ellipsis;
	bool bad;
} Labels;

static int letter_label(char c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	return c >= 'A' && c <= 'Z' ? 26 + (c - 'A') : -1;
}

static void label_add(Labels *l, int64_t label)
{
	if (label < 0 || label >= LABELS) {
		l->bad = true;
		return;
	}
	l->count[label]++;
	l->n++;
}

static Labels labels_read(Str s)
{
	Labels l = {0};
	for (uint32_t i = 0; i < s.n && !l.bad; i++) {
		if (s.p[i] == ' ')
			continue;
		if (s.p[i] == '.' && !l.ellipsis && str_starts(str_sub(s, i, s.n), S("..."))) {
			l.ellipsis = true;
			i += 2;
		} else {
			label_add(&l, letter_label(s.p[i]));
		}
	}
	return l;
}

static Labels labels_listed(const Query *k, const Arg *list)
{
	Labels l = {.bad = list->kind != AR_LIST && list->kind != AR_TUPLE};
	for (uint32_t i = 0; i < list->n && !l.bad; i++) {
		const Arg *a = &arg_kids(k->c->g, list)[i];
		if (a->kind == AR_ELLIPSIS && !l.ellipsis)
			l.ellipsis = true;
		else
			label_add(&l, a->kind == AR_INT ? a->u.num : -1);
	}
	return l;
}

/* Is every label of the only operand kept? `out` NULL: not given; it has those that occur once. */
static Tri keeps_labels(const Query *k, const Labels *in, const Labels *out)
{
	if (in->bad || (out && out->bad))
		return TRI_MAY;
	for (uint32_t i = 0; i < LABELS; i++)
		if (in->count[i] && (out ? !out->count[i] : in->count[i] > 1))
			return TRI_NO;
	if (!in->ellipsis || !out || out->ellipsis)
		return TRI_MUST;
	if (k->type.kind != TK_TENSOR || !k->type.has_shape) /* `...` may stand for no dim */
		return TRI_MAY;
	return k->type.ndim > in->n ? TRI_NO : TRI_MUST;
}

static Decision answer_kept(Tri t, Str condition)
{
	return answer(t, TRI_NO, t == TRI_NO ? S("a label is summed") : S("every label is kept"),
	              condition);
}

static Decision einsum_equation(const Query *k, Str eq)
{
	uint32_t arrow = str_find(eq, S("->"), 0);
	Labels in = labels_read(str_sub(eq, 0, arrow)), out = {0};
	if (arrow == eq.n)
		return answer_kept(keeps_labels(k, &in, NULL), S("every label is kept"));
	out = labels_read(str_sub(eq, arrow + 2, eq.n));
	return answer_kept(keeps_labels(k, &in, &out), S("every label is kept"));
}

/* Number of operands after an equation; 0: not shown. */
static uint32_t operands_after(const Query *k)
{
	uint32_t n = query_positional(k, 1);
	const Arg *first = query_at(k, 1, S("tensors"));
	if (!first)
		return 0;
	if (first->kind == AR_LIST || first->kind == AR_TUPLE)
		return first->n;
	return n > 1 || arg_type(k, first).kind == TK_TENSOR || k->src == first ? n : 0;
}

/* einsum(x, [0, 1], [1, 0]): operands and labels by turns, then perhaps those of the result. */
static Decision einsum_listed(const Query *k)
{
	uint32_t n = query_positional(k, 0);
	if (n == 4 || n == 5)
		return answer_no(S("it multiplies two operands"));
	if (n != 2 && n != 3)
		return answer_maybe(TRI_NO, S("every label of a single operand is kept"));
	Labels in = labels_listed(k, query_at(k, 1, (Str){0})), out = {0};
	if (n == 2)
		return answer_kept(keeps_labels(k, &in, NULL), S("every label is kept"));
	out = labels_listed(k, query_at(k, 2, (Str){0}));
	return answer_kept(keeps_labels(k, &in, &out), S("every label is kept"));
}

Decision decide_einsum(const Query *k)
{
	const Arg *eq = query_at(k, 0, S("equation"));
	if (eq && eq == k->src && eq->kind == AR_NODE)
		return einsum_listed(k);
	uint32_t n = operands_after(k);
	if (n == 2)
		return answer_no(S("it multiplies two operands"));
	if (n != 1 || !eq || (eq->kind != AR_STR && eq->kind != AR_NAME))
		return answer_maybe(TRI_NO, S("every label of a single operand is kept"));
	return einsum_equation(k, sym_str(k->c->p->names, eq->u.sym));
}
