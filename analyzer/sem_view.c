/* SPDX-License-Identifier: MIT
 * sem: operators that only move elements, as maps into the row-major order of their operand. Formulas of
 * sizes: those of the verified operator facts (PyTorch 2.6, 2.13). */
#include "sem_call.h"

bool sem_is_move(SemClass cls)
{
	return cls >= SEM_SAME && cls <= SEM_INDEX_SELECT;
}

/* ---- one tensor, strided ---- */

static void swap_dims(Walk *w, uint32_t a, uint32_t b)
{
	int64_t size = w->size[a], step = w->step[a];
	w->size[a] = w->size[b];
	w->step[a] = w->step[b];
	w->size[b] = size;
	w->step[b] = step;
}

static bool view_transpose(Sem *s, Walk *w)
{
	uint32_t a, b;
	if (!sem_dim(s, SROLE_DIM, 0, w->n, &a) || !sem_dim(s, SROLE_DIM2, 1, w->n, &b))
		return false;
	if (w->n)
		swap_dims(w, a, b);
	return true;
}

static bool view_reverse(Walk *w)
{
	for (uint32_t i = 0; i < w->n / 2; i++)
		swap_dims(w, i, w->n - 1 - i);
	return true;
}

static bool take_order(Walk *w, const uint32_t *order)
{
	Walk from = *w;
	for (uint32_t i = 0; i < w->n; i++) {
		w->size[i] = from.size[order[i]];
		w->step[i] = from.step[order[i]];
	}
	return true;
}

static bool view_permute(Sem *s, Walk *w)
{
	int64_t dims[SEM_MAX_DIMS];
	uint32_t n, order[SEM_MAX_DIMS];
	bool seen[SEM_MAX_DIMS] = {0};
	if (!sem_given(s, SROLE_DIM))
		return view_reverse(w); /* NumPy's transpose */
	if (!sem_ints(s, SROLE_DIM, dims, SEM_MAX_DIMS, &n) || n != w->n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!sem_wrap(dims[i], n, &order[i]) || seen[order[i]])
			return false;
		seen[order[i]] = true;
	}
	return take_order(w, order);
}

static bool view_movedim(Sem *s, Walk *w)
{
	int64_t from[SEM_MAX_DIMS], to[SEM_MAX_DIMS];
	uint32_t n, m, a, b, order[SEM_MAX_DIMS];
	bool placed[SEM_MAX_DIMS] = {0}, moved[SEM_MAX_DIMS] = {0};
	if (!sem_ints(s, SROLE_DIM, from, SEM_MAX_DIMS, &n) ||
	    !sem_ints(s, SROLE_DIM2, to, SEM_MAX_DIMS, &m) || n != m)
		return false;
	for (uint32_t i = 0; i < n && w->n; i++) {
		if (!sem_wrap(from[i], w->n, &a) || !sem_wrap(to[i], w->n, &b) || moved[a] || placed[b])
			return false;
		order[b] = a;
		moved[a] = placed[b] = true;
	}
	for (uint32_t i = 0, k = 0; i < w->n; i++) {
		if (placed[i])
			continue;
		while (moved[k])
			k++;
		order[i] = k++;
	}
	return take_order(w, order);
}

static bool narrow_to(Walk *w, uint32_t d, int64_t from, int64_t count, int64_t step)
{
	w->at += count ? from * w->step[d] : 0;
	w->size[d] = count;
	w->step[d] *= step <= SEM_NUMEL_MOST ? step : 0;
	return count <= 1 || step <= SEM_NUMEL_MOST;
}

static bool view_slice(Sem *s, Walk *w)
{
	uint32_t d;
	int64_t start, end, step, from, count;
	if (!w->n || !sem_dim(s, SROLE_DIM, 0, w->n, &d) || !sem_int_or(s, SROLE_START, 0, &start) ||
	    !sem_int_or(s, SROLE_END, 0, &end) || !sem_int_or(s, SROLE_STEP, 1, &step))
		return false;
	return sem_slice_bounds(w->size[d], true, start, sem_given(s, SROLE_END), end, step, &from,
	                        &count) &&
	       narrow_to(w, d, from, count, step);
}

static bool view_narrow(Sem *s, Walk *w)
{
	uint32_t d;
	int64_t start, count;
	SemTensor at;
	double v;
	if (!w->n || !sem_dim(s, SROLE_DIM, 0, w->n, &d) || !sem_int(s, SROLE_COUNT, &count))
		return false;
	if (!sem_int(s, SROLE_START, &start)) {
		if (!sem_tensor(s, SROLE_START, &at) || at.numel != 1 || !sem_known(s, at.e[0], &v))
			return false;
		start = (int64_t)v;
	}
	start += start < 0 ? w->size[d] : 0;
	if (start < 0 || count < 0 || start > w->size[d] || count > w->size[d] - start)
		return false;
	return narrow_to(w, d, start, count, 1);
}

static bool select_at(Walk *w, uint32_t d, int64_t i)
{
	if (i < -w->size[d] || i >= w->size[d])
		return false;
	w->at += (i < 0 ? i + w->size[d] : i) * w->step[d];
	walk_drop(w, d);
	return true;
}

static bool view_select(Sem *s, Walk *w)
{
	uint32_t d;
	int64_t i;
	return w->n && sem_dim(s, SROLE_DIM, 0, w->n, &d) && sem_int(s, SROLE_INDEX, &i) &&
	       select_at(w, d, i);
}

static bool view_diagonal(Sem *s, Walk *w)
{
	uint32_t a, b;
	int64_t k;
	if (w->n < 2 || !sem_int_or(s, SROLE_OFFSET, 0, &k) || !sem_dim(s, SROLE_DIM, 0, w->n, &a) ||
	    !sem_dim(s, SROLE_DIM2, 1, w->n, &b) || a == b)
		return false;
	int64_t rows = w->size[a], cols = w->size[b], step = w->step[a] + w->step[b];
	if (k < -SEM_NUMEL_MOST || k > SEM_NUMEL_MOST)
		return false;
	rows += k < 0 ? k : 0;
	cols -= k > 0 ? k : 0;
	int64_t n = rows < cols ? rows : cols;
	n = n < 0 ? 0 : n;
	w->at += n ? (k >= 0 ? k * w->step[b] : -k * w->step[a]) : 0;
	walk_drop(w, a > b ? a : b);
	walk_drop(w, a > b ? b : a);
	return walk_insert(w, w->n, n, step);
}

static bool view_unfold(Sem *s, Walk *w)
{
	uint32_t d;
	int64_t width, step;
	if (!w->n || !sem_dim(s, SROLE_DIM, 0, w->n, &d) || !sem_int(s, SROLE_SIZE, &width) ||
	    !sem_int(s, SROLE_STEP, &step) || width < 0 || step < 1 || width > w->size[d])
		return false;
	int64_t inner = w->step[d];
	w->size[d] = (w->size[d] - width) / step + 1;
	w->step[d] = step <= SEM_NUMEL_MOST ? inner * step : 0;
	return walk_insert(w, w->n, width, inner);
}

static bool view_flip(Sem *s, Walk *w)
{
	bool in[SEM_MAX_DIMS];
	Str op = sym_str(s->names, s->op);
	if (str_eq(op, S("fliplr")) || str_eq(op, S("flipud"))) {
		memset(in, 0, sizeof in);
		if (w->n < (str_eq(op, S("fliplr")) ? 2u : 1u))
			return false;
		in[str_eq(op, S("fliplr"))] = true;
	} else {
		const Arg *v;
		uint32_t n;
		if (!sem_given(s, SROLE_DIM) || (sem_list(s, SROLE_DIM, &v, &n) && n == 0))
			memset(in, 0, sizeof in);
		else if (!sem_dims(s, SROLE_DIM, w->n, in))
			return false;
	}
	for (uint32_t d = 0; d < w->n; d++)
		if (in[d] && w->size[d]) {
			w->at += (w->size[d] - 1) * w->step[d];
			w->step[d] = -w->step[d];
		}
	return true;
}

static void flip_dim(Walk *w, uint32_t d)
{
	w->at += w->size[d] ? (w->size[d] - 1) * w->step[d] : 0;
	w->step[d] = -w->step[d];
}

static bool view_rot90(Sem *s, Walk *w)
{
	int64_t k, dims[2] = {0, 1};
	uint32_t n = 2, a, b;
	if (!sem_int_or(s, SROLE_COUNT, 1, &k) ||
	    (sem_given(s, SROLE_DIM) && !sem_ints(s, SROLE_DIM, dims, 2, &n)) || n != 2 || w->n < 2 ||
	    !sem_wrap(dims[0], w->n, &a) || !sem_wrap(dims[1], w->n, &b) || a == b)
		return false;
	k = (k % 4 + 4) % 4;
	if (k == 2) {
		flip_dim(w, a);
		flip_dim(w, b);
	} else if (k == 1) {
		flip_dim(w, b);
		swap_dims(w, a, b);
	} else if (k == 3) {
		flip_dim(w, a);
		swap_dims(w, a, b);
	}
	return true;
}

/* ---- pieces ---- */

static int64_t ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

static bool piece_equal(Walk *w, uint32_t d, int64_t length, int64_t k)
{
	int64_t size = w->size[d];
	if (length <= 0)
		return k == 0 && length == 0 && size == 0;
	if (k > size / length)
		return false;
	int64_t from = k * length, left = size - from;
	if (left == 0 && k > 0)
		return false;
	return narrow_to(w, d, from, left < length ? left : length, 1);
}

static bool piece_listed(Sem *s, Walk *w, uint32_t d, int64_t k)
{
	const Arg *v;
	uint32_t n;
	int64_t from = 0, length = 0;
	if (!sem_list(s, SROLE_SIZE, &v, &n) || k >= n)
		return false;
	for (int64_t i = 0; i <= k; i++) {
		from += length;
		if (!sem_int_of(s, &v[i], &length) || length < 0 || length > w->size[d] - from)
			return false;
	}
	return narrow_to(w, d, from, length, 1);
}

static bool is_list(const Arg *a)
{
	return a && (a->kind == AR_LIST || a->kind == AR_TUPLE);
}

static bool view_piece(Sem *s, SemClass cls, Walk *w)
{
	uint32_t d;
	int64_t n, k = s->member;
	if (!w->n || k < 0 || !sem_dim(s, SROLE_DIM, 0, w->n, &d))
		return false;
	if (cls == SEM_UNBIND)
		return select_at(w, d, k);
	if (cls == SEM_SPLIT && is_list(s->arg[SROLE_SIZE]))
		return piece_listed(s, w, d, k);
	if (!sem_int(s, SROLE_SIZE, &n))
		return false;
	if (cls == SEM_SPLIT)
		return piece_equal(w, d, n, k);
	if (n <= 0)
		return false;
	/* chunk of an empty dim gives all its pieces, empty ones */
	if (w->size[d] == 0)
		return k < n;
	return piece_equal(w, d, ceil_div(w->size[d], n), k);
}

/* hsplit works on dim 1, or 0 of a 1-d tensor; vsplit on 0, dsplit on 2. */
static bool split_dim(Sem *s, uint32_t ndim, uint32_t *d)
{
	Str op = sym_str(s->names, s->op);
	if (str_eq(op, S("hsplit")))
		*d = ndim > 1;
	else if (str_eq(op, S("vsplit")))
		*d = 0;
	else if (str_eq(op, S("dsplit")))
		*d = 2;
	else
		return ndim && sem_dim(s, SROLE_DIM, 0, ndim, d);
	return *d < ndim;
}

static int64_t clamp_position(int64_t at, int64_t size)
{
	at = at < 0 ? (at < -size ? 0 : at + size) : at;
	return at > size ? size : at;
}

static bool view_tensor_split(Sem *s, Walk *w)
{
	uint32_t d, m;
	int64_t n, k = s->member, a = 0, b;
	const Arg *v;
	if (k < 0 || !split_dim(s, w->n, &d))
		return false;
	int64_t size = b = w->size[d];
	if (!is_list(s->arg[SROLE_SIZE])) {
		if (!sem_int(s, SROLE_SIZE, &n) || n <= 0 || k >= n)
			return false;
		int64_t longer = size % n, each = size / n;
		return narrow_to(w, d, k * each + (k < longer ? k : longer), each + (k < longer), 1);
	}
	if (!sem_list(s, SROLE_SIZE, &v, &m) || k > m || (k > 0 && !sem_int_of(s, &v[k - 1], &a)) ||
	    (k < m && !sem_int_of(s, &v[k], &b)))
		return false;
	a = clamp_position(a, size);
	b = clamp_position(b, size);
	return narrow_to(w, d, a, b > a ? b - a : 0, 1);
}

/* ---- by memory ---- */

bool sem_strided_of(Sem *s, const SemTensor *x, Walk *w, bool *has_offset)
{
	uint32_t n, m;
	*w = (Walk){0};
	*has_offset = sem_given(s, SROLE_OFFSET);
	w->at = x ? x->offset : 0;
	if (!sem_ints(s, SROLE_SIZE, w->size, SEM_MAX_DIMS, &n) ||
	    !sem_ints(s, SROLE_STRIDE, w->step, SEM_MAX_DIMS, &m) || n != m ||
	    (*has_offset && !sem_int(s, SROLE_OFFSET, &w->at)))
		return false;
	w->n = n;
	const int64_t most = (int64_t)1 << 40;
	for (uint32_t i = 0; i < n; i++)
		if (w->size[i] < 0 || w->step[i] < 0 || w->step[i] > most)
			return false;
	return w->at >= 0 && w->at <= most && walk_numel(w) != UINT32_MAX;
}

/* First and last address, in elements, of a tensor that has some. */
static bool memory_span(const SemTensor *x, int64_t *first, int64_t *last)
{
	const int64_t most = (int64_t)1 << 40;
	*first = *last = x->offset;
	for (uint32_t i = 0; i < x->ndim; i++) {
		if (x->stride[i] < 0 || x->stride[i] > most || x->offset < 0 || x->offset > most)
			return false;
		*last += (x->size[i] - 1) * x->stride[i];
	}
	return x->numel > 0 && *last - *first < SEM_NUMEL_MOST * 4;
}

/* Elements found by address; false when some lie outside of the operand. */
static bool map_as_strided(Sem *s, const SemTensor *x, uint32_t *map)
{
	Walk w, own = {.n = x->ndim};
	bool has_offset;
	int64_t first, last;
	if (!sem_strided_of(s, x, &w, &has_offset) || walk_numel(&w) != s->numel)
		return false;
	if (s->numel == 0)
		return true;
	if (!x->has_stride || !memory_span(x, &first, &last))
		return false;
	uint32_t *index = NEW_N(s->a, uint32_t, (size_t)(last - first) + 1); /* plus 1; 0 hole */
	memcpy(own.size, x->size, sizeof own.size);
	memcpy(own.step, x->stride, sizeof own.step);
	uint32_t *at = walk_map(s, &own);
	for (uint32_t k = x->numel; k-- > 0;)
		index[at[k]] = k + 1;
	int64_t reach = w.at - first;
	for (uint32_t i = 0; i < w.n; i++)
		reach += (w.size[i] - 1) * w.step[i];
	if (w.at < first || reach > last - first)
		return false;
	w.at -= first;
	walk_fill(&w, map);
	for (uint32_t k = 0; k < s->numel; k++) {
		if (!index[map[k]])
			return false;
		map[k] = index[map[k]] - 1;
	}
	return true;
}

/* ---- maps that are not strided ---- */

static void coords(uint32_t k, const int64_t *size, uint32_t n, int64_t *at)
{
	for (uint32_t d = n; d-- > 0;) {
		at[d] = (int64_t)k % size[d];
		k /= (uint32_t)size[d];
	}
}

/* Each coordinate of the result modulo the operand's size, aligned at the last dim. */
static bool map_repeat(const Sem *s, const SemTensor *x, uint32_t *map)
{
	int64_t at[SEM_MAX_DIMS];
	Walk w = walk_of_tensor(x);
	if (s->ndim < w.n)
		return false;
	for (uint32_t d = 0; d < w.n; d++) {
		int64_t size = s->size[s->ndim - w.n + d];
		if (w.size[d] ? size % w.size[d] : size)
			return false;
	}
	for (uint32_t k = 0; k < s->numel; k++) {
		coords(k, s->size, s->ndim, at);
		int64_t pos = 0;
		for (uint32_t d = 0; d < w.n; d++)
			pos += at[s->ndim - w.n + d] % w.size[d] * w.step[d];
		map[k] = (uint32_t)pos;
	}
	return true;
}

static bool same_sizes(const Sem *s, const SemTensor *x)
{
	return x->ndim == s->ndim && memcmp(x->size, s->size, s->ndim * sizeof *s->size) == 0;
}

static bool map_roll(Sem *s, const SemTensor *x, uint32_t *map)
{
	int64_t by[SEM_MAX_DIMS], dims[SEM_MAX_DIMS], at[SEM_MAX_DIMS], shift[SEM_MAX_DIMS] = {0};
	uint32_t n, m, d;
	if (!same_sizes(s, x) || !sem_ints(s, SROLE_COUNT, by, SEM_MAX_DIMS, &n))
		return false;
	const Arg *v;
	if (!sem_given(s, SROLE_DIM) || (sem_list(s, SROLE_DIM, &v, &m) && m == 0)) {
		if (n != 1)
			return false;
		for (uint32_t k = 0; k < s->numel; k++) {
			int64_t to = ((int64_t)k - by[0] % s->numel) % s->numel;
			map[k] = (uint32_t)(to < 0 ? to + s->numel : to);
		}
		return true;
	}
	if (!sem_ints(s, SROLE_DIM, dims, SEM_MAX_DIMS, &m) || m != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!x->ndim || !sem_wrap(dims[i], x->ndim, &d))
			return false;
		if (x->size[d])
			shift[d] = (shift[d] + by[i] % x->size[d]) % x->size[d];
	}
	Walk w = walk_of_tensor(x);
	for (uint32_t k = 0; k < s->numel; k++) {
		coords(k, s->size, s->ndim, at);
		int64_t pos = 0;
		for (d = 0; d < w.n; d++)
			pos += (at[d] - shift[d] + 2 * w.size[d]) % w.size[d] * w.step[d];
		map[k] = (uint32_t)pos;
	}
	return true;
}

/* repeat_interleave by a number */
static bool map_interleave(Sem *s, const SemTensor *x, uint32_t *map)
{
	int64_t by, at[SEM_MAX_DIMS];
	uint32_t d;
	if (!sem_int(s, SROLE_COUNT, &by) || by < 1)
		return false;
	if (!sem_given(s, SROLE_DIM)) {
		if (s->numel != x->numel * (uint64_t)by)
			return false;
		for (uint32_t k = 0; k < s->numel; k++)
			map[k] = (uint32_t)(k / by);
		return true;
	}
	if (!sem_dim(s, SROLE_DIM, 0, x->ndim, &d) || !x->ndim || x->ndim != s->ndim)
		return false;
	Walk w = walk_of_tensor(x);
	for (uint32_t i = 0; i < w.n; i++)
		if (i == d ? s->size[i] % by != 0 || s->size[i] / by != w.size[i] : s->size[i] != w.size[i])
			return false;
	for (uint32_t k = 0; k < s->numel; k++) {
		coords(k, s->size, s->ndim, at);
		int64_t pos = 0;
		at[d] /= by;
		for (uint32_t i = 0; i < w.n; i++)
			pos += at[i] * w.step[i];
		map[k] = (uint32_t)pos;
	}
	return true;
}

/* ---- several tensors ---- */

/* Member k of meshgrid runs along dim k; indexing="xy" swaps the first two. */
static bool view_mesh(Sem *s, uint32_t k, uint32_t n, Walk *w)
{
	uint32_t d = k;
	bool xy = str_eq(sem_word(s, s->arg[SROLE_MODE]), S("xy"));
	if (xy && n >= 2 && k < 2)
		d = 1 - k;
	if (s->ndim != n || d >= s->ndim || walk_numel(w) != s->size[d] || w->n > 1)
		return false;
	int64_t step = w->n ? w->step[0] : 0;
	*w = (Walk){.n = s->ndim};
	memcpy(w->size, s->size, s->ndim * sizeof *s->size);
	w->step[d] = step;
	return true;
}

static bool map_list(Sem *s, const Arg **source, uint32_t *map)
{
	const Arg *v;
	uint32_t n;
	SemTensor x;
	int64_t k = s->member;
	if (k < 0 || !sem_list(s, SROLE_TENSORS, &v, &n) || k >= n || !sem_tensor_of(s, &v[k], &x))
		return false;
	Walk w = walk_of_tensor(&x);
	bool ok = s->cls == SEM_MESHGRID ? view_mesh(s, (uint32_t)k, n, &w)
	                                 : walk_expand(&w, s->size, s->ndim);
	if (!ok || walk_numel(&w) != s->numel)
		return false;
	walk_fill(&w, map);
	*source = &v[k];
	return true;
}

/* ---- all ---- */

bool sem_view(Sem *s, SemClass cls, const SemTensor *x, Walk *w)
{
	*w = walk_of_tensor(x);
	switch (cls) {
	case SEM_TRANSPOSE: return view_transpose(s, w);
	case SEM_REVERSE: return view_reverse(w);
	case SEM_MT:
		if (w->n >= 2)
			swap_dims(w, w->n - 1, w->n - 2);
		return true;
	case SEM_PERMUTE: return view_permute(s, w);
	case SEM_MOVEDIM: return view_movedim(s, w);
	case SEM_SLICE: return view_slice(s, w);
	case SEM_NARROW: return view_narrow(s, w);
	case SEM_SELECT: return view_select(s, w);
	case SEM_EXPAND: return walk_expand(w, s->size, s->ndim);
	case SEM_CHUNK:
	case SEM_SPLIT:
	case SEM_UNBIND: return view_piece(s, cls, w);
	case SEM_TENSOR_SPLIT: return view_tensor_split(s, w);
	case SEM_DIAGONAL: return view_diagonal(s, w);
	case SEM_UNFOLD: return view_unfold(s, w);
	case SEM_FLIP: return view_flip(s, w);
	case SEM_ROT90: return view_rot90(s, w);
	default: return false;
	}
}

/* The dtype that a conversion gives. */
static DType target_dtype(Sem *s, DType own)
{
	SemTensor y;
	DType d = DT_NONE;
	if (sem_tensor(s, SROLE_OTHER, &y))
		return y.dtype;
	d = sem_dtype_of(s, s->arg[SROLE_DTYPE]);
	for (uint32_t i = 0; d == DT_NONE && s->rest_role == SROLE_MORE && i < s->nrest; i++) {
		if (sem_tensor_of(s, &s->rest[i], &y))
			return y.dtype;
		d = sem_dtype_of(s, &s->rest[i]);
	}
	if (d == DT_NONE)
		d = dtype_parse(
			str_printf(s->a, "torch." STR_FMT, STR_ARG(sym_str(s->names, s->op)))); /* float() */
	if (d == DT_NONE)
		d = s->c->dtype;
	if (d != DT_NONE || sem_given(s, SROLE_DTYPE))
		return d;
	/* to("cuda"), cpu(): no dtype is named; nodes might be one */
	for (uint32_t i = 0; s->rest_role == SROLE_MORE && i < s->nrest; i++)
		if (s->rest[i].kind == AR_NODE)
			return DT_NONE;
	return own;
}

static bool map_same(const Sem *s, const SemTensor *x, uint32_t *map)
{
	if (x->numel != s->numel)
		return false;
	for (uint32_t k = 0; k < s->numel; k++)
		map[k] = k;
	return true;
}

/* Sizes that the walk gives are those asked for. */
static bool map_walk(const Sem *s, const Walk *w, uint32_t *map)
{
	if (w->n != s->ndim || memcmp(w->size, s->size, w->n * sizeof *w->size) != 0)
		return false;
	walk_fill(w, map);
	return true;
}

bool sem_map(Sem *s, const Arg **source, uint32_t *map)
{
	SemTensor x;
	Walk w;
	switch (s->cls) {
	case SEM_INDEX:
	case SEM_INDEX_LIST:
	case SEM_INDEX_SELECT:
	case SEM_SETITEM: return sem_index_map(s, source, map);
	case SEM_EINSUM: return sem_einsum_map(s, source, map);
	case SEM_MESHGRID:
	case SEM_BROADCAST: return map_list(s, source, map);
	default: break;
	}
	if (!sem_is_move(s->cls) || !sem_tensor(s, SROLE_INPUT, &x))
		return false;
	*source = s->arg[SROLE_INPUT];
	switch (s->cls) {
	case SEM_SAME: return map_same(s, &x, map);
	case SEM_TO:
		return x.dtype != DT_NONE && target_dtype(s, x.dtype) == x.dtype && map_same(s, &x, map);
	case SEM_REAL:
		return x.dtype != DT_NONE && dtype_class(x.dtype) != DC_COMPLEX && map_same(s, &x, map);
	case SEM_AS_STRIDED: return map_as_strided(s, &x, map);
	case SEM_REPEAT: return map_repeat(s, &x, map);
	case SEM_ROLL: return map_roll(s, &x, map);
	case SEM_INTERLEAVE: return map_interleave(s, &x, map);
	default: return sem_view(s, s->cls, &x, &w) && map_walk(s, &w, map);
	}
}

bool sem_moved(Sem *s, TermId *out)
{
	const Arg *source = NULL;
	SemTensor x;
	uint32_t *map = NEW_N(s->a, uint32_t, (size_t)s->numel + 1);
	if (!sem_map(s, &source, map) || !sem_tensor_of(s, source, &x))
		return false;
	for (uint32_t k = 0; k < s->numel; k++)
		out[k] = x.e[map[k]];
	return true;
}

bool sem_to(Sem *s, TermId *out)
{
	SemTensor x;
	if (!sem_tensor(s, SROLE_INPUT, &x) || x.numel != s->numel)
		return false;
	DType to = target_dtype(s, x.dtype);
	for (uint32_t k = 0; k < s->numel; k++)
		out[k] =
			to == DT_NONE ? sem_op(s, "to", &x.e[k], 1, 0) : sem_convert(s, x.e[k], x.dtype, to);
	return true;
}

bool sem_real(Sem *s, TermId *out)
{
	SemTensor x;
	if (!sem_tensor(s, SROLE_INPUT, &x) || x.numel != s->numel)
		return false;
	bool real = x.dtype != DT_NONE && dtype_class(x.dtype) != DC_COMPLEX;
	for (uint32_t k = 0; k < s->numel; k++)
		out[k] = real ? x.e[k] : term_op(s->t, s->op, &x.e[k], 1, 0);
	return true;
}

/* The input with the source's elements at a view of it, or zeros with them (backward of views). */
bool sem_place(Sem *s, TermId *out)
{
	SemTensor x = {.numel = s->numel, .ndim = s->ndim}, y;
	SemClass view = sem_class_parse(sym_str(s->names, s->op));
	uint32_t *map, n = s->numel;
	Walk w;
	if (s->cls == SEM_PLACE_ZERO)
		memcpy(x.size, s->size, s->ndim * sizeof *s->size);
	else if (!sem_tensor(s, SROLE_INPUT, &x))
		return false;
	if (!sem_tensor(s, SROLE_SOURCE, &y) || x.numel != n || view >= SEM_N)
		return false;
	if (view == SEM_AS_STRIDED) {
		Sem inner = *s;
		inner.size = y.size;
		inner.ndim = y.ndim;
		inner.numel = y.numel;
		map = NEW_N(s->a, uint32_t, (size_t)y.numel + 1);
		if (s->cls == SEM_PLACE_ZERO || !map_as_strided(&inner, &x, map))
			return false;
	} else {
		if (!sem_view(s, view, &x, &w) || walk_numel(&w) != y.numel)
			return s->cls == SEM_PLACE && view == SEM_SELECT && sem_index_write(s, out);
		map = walk_map(s, &w);
	}
	TermId zero = sem_convert(s, term_num(s->t, 0, 'i'), DT_I64, y.dtype);
	for (uint32_t k = 0; k < n; k++)
		out[k] = s->cls == SEM_PLACE_ZERO ? zero : x.e[k];
	for (uint32_t k = 0; k < y.numel; k++)
		out[map[k]] = sem_convert(s, y.e[k], y.dtype, s->cls == SEM_PLACE_ZERO ? y.dtype : x.dtype);
	return true;
}
