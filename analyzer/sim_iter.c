/* SPDX-License-Identifier: MIT
 * sim_iter: iteration, unpacking, lengths. */
#include "sim_host.h"

/* Rows of a tensor that a loop or an unpacking takes apart. */
enum { ROWS_MOST = 4096 };

int64_t host_range_count(Sim *s, Ref range)
{
	int64_t start, stop, step;
	const Ref *p = sim_obj(s, range)->items.v;
	if (!host_int(s, p[0], &start) || !host_int(s, p[1], &stop) || !host_int(s, p[2], &step) || !step)
		return -1;
	int64_t way = step > 0 ? stop - start : start - stop, unit = step > 0 ? step : -step;
	return way > 0 ? (way - 1) / unit + 1 : 0;
}

static bool rows_of(Sim *s, Ref r, int64_t *n)
{
	const SimTensor *t = &s->tensors.v[sim_obj(s, r)->tensor];
	*n = t->sized && t->ndim ? t->size[0] : 0;
	return t->sized && t->ndim && *n <= ROWS_MOST;
}

static Ref row_of(Sim *s, Ref r, int64_t k)
{
	return host_op(s, CALLEE_OPERATOR, S("getitem"), (Ref[]){r, sim_int(s, k)}, 2);
}

static bool add_range(Sim *s, Ref r, RefList *out)
{
	int64_t n = host_range_count(s, r), start, step;
	if (n < 0 || n > HOST_ITEMS_MOST)
		return false;
	Ref parts[3];
	memcpy(parts, sim_obj(s, r)->items.v, sizeof parts);
	if (!host_int(s, parts[0], &start) || !host_int(s, parts[2], &step))
		return false;
	for (int64_t i = 0; i < n; i++)
		VEC_PUSH(out->a, &out->v, sim_int(s, start + i * step));
	return true;
}

static bool add_text(Sim *s, Ref r, RefList *out)
{
	Str t;
	if (!host_text(s, r, &t) || t.n > HOST_ITEMS_MOST)
		return false;
	for (uint32_t i = 0; i < t.n; i++) {
		uint32_t end = i + 1;
		while (end < t.n && ((unsigned char)t.p[end] & 0xC0) == 0x80)
			end++;
		VEC_PUSH(out->a, &out->v, host_string(s, str_sub(t, i, end)));
		i = end - 1;
	}
	return true;
}

/* What is left of an iterator. */
static bool add_rest(Sim *s, Machine *m, Ref r, RefList *out)
{
	for (uint32_t n = 0; n <= HOST_ITEMS_MOST; n++) {
		Ref item = 0;
		NextItem k = host_next(s, m, r, &item);
		if (k == NEXT_END)
			return true;
		if (k == NEXT_UNKNOWN || !item)
			return false;
		VEC_PUSH(out->a, &out->v, item);
	}
	return false;
}

bool host_items(Sim *s, Machine *m, Ref r, RefList *out)
{
	const HeapObj *o = sim_obj(s, r);
	uint32_t step = o->kind == HK_DICT ? 2 : 1;
	int64_t n;
	host_charge(s, o->items.n);
	switch ((HeapKind)o->kind) {
	case HK_LIST:
	case HK_TUPLE:
	case HK_SET:
	case HK_DICT:
		if (o->opened)
			return false;
		for (uint32_t i = 0; i < o->items.n; i += step)
			VEC_PUSH(out->a, &out->v, o->items.v[i]);
		return true;
	case HK_OBJECT:
		if (!o->items.n)
			return false;
		for (uint32_t i = 0; i < o->items.n; i++)
			VEC_PUSH(out->a, &out->v, o->items.v[i]);
		return true;
	case HK_RANGE: return add_range(s, r, out);
	case HK_CONST: return add_text(s, r, out);
	case HK_ITER: return add_rest(s, m, r, out);
	case HK_TENSOR:
		if (!rows_of(s, r, &n))
			return false;
		for (int64_t i = 0; i < n; i++)
			VEC_PUSH(out->a, &out->v, row_of(s, r, i));
		return true;
	default: return false;
	}
}

Ref host_length(Sim *s, Machine *m, Ref r)
{
	const HeapObj *o = sim_obj(s, r);
	int64_t n;
	Str t;
	switch ((HeapKind)o->kind) {
	case HK_LIST:
	case HK_TUPLE:
	case HK_SET:
	case HK_DICT:
		if (!o->opened)
			return sim_int(s, o->items.n / (o->kind == HK_DICT ? 2 : 1));
		break;
	case HK_OBJECT:
		if (o->items.n)
			return sim_int(s, o->items.n);
		break;
	case HK_RANGE:
		n = host_range_count(s, r);
		if (n >= 0)
			return sim_int(s, n);
		break;
	case HK_CONST:
		if (host_text(s, r, &t) && !memchr(t.n ? t.p : "", '\\', t.n))
			return sim_int(s, t.n);
		break;
	case HK_TENSOR: {
		const SimTensor *x = &s->tensors.v[o->tensor];
		if (x->sized && x->ndim)
			return sim_int(s, x->size[0]);
		break;
	}
	case HK_NUMBER:
	case HK_SLICE: return host_raise(s, m, S("TypeError"));
	default: break;
	}
	/* How many were there before, and how many came: the same for the same value. */
	TermId before = term_fresh(s->terms, host_mix(o->origin, 7));
	TermId parts[2] = {before, term_num(s->terms, o->items.n, 'i')};
	return sim_number(s, term_op(s->terms, host_sym(s, S("add")), parts, 2, 0));
}

Ref host_iter(Sim *s, Machine *m, Ref x)
{
	HeapKind k = host_kind(s, x);
	if (k == HK_ITER)
		return x;
	if (k == HK_NAME) {
		host_promote(s, x);
		k = HK_UNKNOWN;
	}
	if (k == HK_NUMBER || k == HK_SLICE || k == HK_CODE || k == HK_CELL || k == HK_FUNCTION || host_is_none(s, x))
		return host_raise(s, m, S("TypeError"));
	Ref r = sim_new(s, HK_ITER);
	sim_obj(s, r)->a = x;
	return r;
}

static NextItem range_next(Sim *s, Ref range, int64_t k, Ref *item)
{
	int64_t n = host_range_count(s, range), start, step;
	Ref parts[3];
	memcpy(parts, sim_obj(s, range)->items.v, sizeof parts);
	if (n >= 0 && k >= n)
		return NEXT_END;
	if (host_int(s, parts[0], &start) && host_int(s, parts[2], &step)) {
		*item = sim_int(s, start + k * step);
		return n >= 0 ? NEXT_ITEM : NEXT_UNKNOWN;
	}
	TermId from[2] = {host_term(s, range), term_num(s->terms, (double)k, 'i')};
	*item = sim_number(s, term_op(s->terms, host_sym(s, S("getitem")), from, 2, 0));
	return NEXT_UNKNOWN;
}

static bool has_rows(Sim *s, Ref it)
{
	return host_kind(s, it) == HK_ITER && sim_obj(s, it)->c;
}

Ref host_rows(Sim *s, Machine *m, const Ref *v, uint32_t n, Ref number)
{
	Ref *its = NEW_N(s->scratch, Ref, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		its[i] = host_iter(s, m, v[i]);
		if (!its[i])
			return 0;
		if (!has_rows(s, its[i]))
			continue;
		/* zip of zip of zip ... would be a way as deep as the program likes */
		const HeapObj in = *sim_obj(s, sim_obj(s, its[i])->a);
		for (uint32_t k = 0; k < in.items.n; k++)
			if (has_rows(s, in.items.v[k]))
				return 0;
	}
	Ref all = sim_list(s, HK_TUPLE, its, n), r = sim_new(s, HK_ITER);
	sim_obj(s, r)->a = all;
	sim_obj(s, r)->c = number ? number : sim_none(s);
	return r;
}

static NextItem rows_next(Sim *s, Machine *m, Ref it, Ref *item)
{
	const HeapObj o = *sim_obj(s, it), in = *sim_obj(s, o.a);
	Ref *row = NEW_N(s->scratch, Ref, in.items.n + 1);
	uint32_t n = 0;
	int64_t start;
	NextItem all = NEXT_ITEM;
	sim_obj(s, it)->num++;
	if (host_int(s, o.c, &start))
		row[n++] = sim_int(s, start + o.num);
	for (uint32_t i = 0; i < in.items.n; i++) {
		NextItem one = host_next(s, m, in.items.v[i], &row[n]);
		if (one == NEXT_END || !row[n++])
			return NEXT_END;
		all = one == NEXT_UNKNOWN ? one : all;
	}
	*item = sim_list(s, HK_TUPLE, row, n);
	return all;
}

NextItem host_next(Sim *s, Machine *m, Ref it, Ref *item)
{
	if (has_rows(s, it))
		return rows_next(s, m, it, item);
	if (host_kind(s, it) != HK_ITER) { /* a generator, or something that hidden code made */
		*item = host_hidden(s, S("next"), &it, 1);
		return NEXT_UNKNOWN;
	}
	Ref c = sim_obj(s, it)->a;
	int64_t k = sim_obj(s, it)->num++;
	HeapObj o = *sim_obj(s, c);
	int64_t n;
	switch ((HeapKind)o.kind) {
	case HK_DICT: n = o.items.n / 2; break;
	case HK_RANGE: return range_next(s, c, k, item);
	case HK_TENSOR:
		*item = rows_of(s, c, &n) && k >= n ? 0 : row_of(s, c, k);
		return !*item ? NEXT_END : rows_of(s, c, &n) ? NEXT_ITEM : NEXT_UNKNOWN;
	case HK_CONST: {
		RefList chars = {.a = s->scratch};
		if (!add_text(s, c, &chars) || k >= (int64_t)chars.v.n)
			return NEXT_END;
		*item = chars.v.v[k];
		return NEXT_ITEM;
	}
	case HK_UNKNOWN: n = 0; break;
	default: n = o.items.n; break;
	}
	if (o.kind == HK_UNKNOWN || o.opened || (o.kind == HK_OBJECT && !n)) {
		*item = o.kind == HK_DICT ? host_plain(s, m) : host_get_item(s, m, c, sim_int(s, k));
		return NEXT_UNKNOWN;
	}
	if (k >= n)
		return NEXT_END;
	*item = o.items.v[o.kind == HK_DICT ? 2 * k : k];
	return NEXT_ITEM;
}
