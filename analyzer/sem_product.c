/* SPDX-License-Identifier: MIT
 * sem: products. All but convolutions are sums over labels, as einsum writes them; a result element is the dot product
 * of one sequence of elements of each operand, so that row i of A and column j of B alone make element (i, j). */
#include "sem_call.h"

enum { LABELS = 52, OPERANDS_MOST = 8 };

/* Elements visited; more gives up. */
static const uint64_t work_most = (uint64_t)1 << 22;

/* An operand with a label for each dim. */
typedef struct Factor {
	SemTensor x;
	uint8_t label[SEM_MAX_DIMS];
} Factor;

typedef struct Product {
	Factor f[OPERANDS_MOST];
	uint32_t n;
	uint8_t out[SEM_MAX_DIMS];
	uint32_t nout;
	int64_t size[LABELS]; /* of a label; -1: not seen */
	bool kept[LABELS];
} Product;

static Product product_new(void)
{
	Product p = {0};
	for (uint32_t i = 0; i < LABELS; i++)
		p.size[i] = -1;
	return p;
}

static bool product_label(Product *p, Factor *f, uint32_t dim, uint32_t label)
{
	int64_t size = f->x.size[dim];
	if (label >= LABELS || (p->size[label] > 1 && size > 1 && p->size[label] != size))
		return false;
	f->label[dim] = (uint8_t)label;
	if (p->size[label] < 0 || p->size[label] == 1)
		p->size[label] = size;
	return true;
}

static bool product_out(Product *p, uint32_t label)
{
	if (p->nout == SEM_MAX_DIMS || label >= LABELS || p->kept[label])
		return false;
	p->kept[label] = true;
	p->out[p->nout++] = (uint8_t)label;
	return true;
}

/* Step of each label in the operand: repeated labels add up, a size of 1 is stretched. */
static void factor_steps(const Factor *f, int64_t *step)
{
	Walk w = walk_of_tensor(&f->x);
	memset(step, 0, LABELS * sizeof *step);
	for (uint32_t d = 0; d < f->x.ndim; d++)
		step[f->label[d]] += f->x.size[d] == 1 ? 0 : w.step[d];
}

static bool has_label(const Factor *f, uint32_t label)
{
	for (uint32_t d = 0; d < f->x.ndim; d++)
		if (f->label[d] == label)
			return true;
	return false;
}

/* The sequence of the operand's elements over the labels that are summed, for each result element. */
static const TermId *factor_sequences(Sem *s, const Product *p, const Factor *f, uint64_t *work)
{
	int64_t step[LABELS];
	Walk sum = {0}, keep = {.n = p->nout}, own = {.n = p->nout};
	int64_t lanes = 1;
	factor_steps(f, step);
	for (uint32_t l = 0; l < LABELS; l++)
		if (!p->kept[l] && p->size[l] >= 0 && has_label(f, l)) {
			if (!walk_insert(&sum, sum.n, p->size[l], step[l]))
				return NULL;
		}
	for (uint32_t d = p->nout; d-- > 0;) {
		bool mine = step[p->out[d]] != 0;
		keep.size[d] = p->size[p->out[d]];
		own.size[d] = keep.size[d];
		keep.step[d] = mine ? lanes : 0;
		own.step[d] = step[p->out[d]];
		lanes *= mine ? keep.size[d] : 1;
	}
	uint32_t length = walk_numel(&sum), n = walk_numel(&own);
	if (length == UINT32_MAX || n == UINT32_MAX ||
	    (*work += (uint64_t)lanes * length + n) > work_most)
		return NULL;
	uint32_t *lane = walk_map(s, &keep), *at = walk_map(s, &own), *in = walk_map(s, &sum);
	TermId *by_lane = NEW_N(s->a, TermId, (size_t)lanes + 1),
		   *out = NEW_N(s->a, TermId, (size_t)n + 1);
	TermId *v = NEW_N(s->a, TermId, (size_t)length + 1);
	for (uint32_t k = 0; k < n; k++) {
		TermId *t = &by_lane[lane[k]];
		for (uint32_t i = 0; !t->i && i < length; i++)
			v[i] = f->x.e[at[k] + in[i]];
		if (!t->i)
			*t = sum.n ? sem_vec(s, v, length) : f->x.e[at[k]];
		out[k] = *t;
	}
	return out;
}

/* Labels that are summed, by operand: products that sum differently are different operators. */
static uint64_t product_pattern(const Product *p)
{
	uint64_t h = 0;
	bool alike = p->n == 2;
	for (uint32_t l = 0; l < LABELS; l++) {
		if (p->kept[l] || p->size[l] < 0)
			continue;
		for (uint32_t i = 0; i < p->n; i++) {
			alike &= has_label(&p->f[i], l);
			h = hash_u64(h * 2 + has_label(&p->f[i], l));
		}
	}
	return alike ? 0 : h | 1;
}

static bool product_sizes(const Sem *s, const Product *p)
{
	if (p->nout != s->ndim)
		return false;
	for (uint32_t d = 0; d < p->nout; d++)
		if (p->size[p->out[d]] != s->size[d])
			return false;
	return true;
}

static bool product_terms(Sem *s, const Product *p, TermId *out)
{
	const TermId *v[OPERANDS_MOST];
	uint64_t work = 0, pattern = product_pattern(p);
	bool sums = false;
	if (!product_sizes(s, p) || p->n == 0)
		return false;
	for (uint32_t i = 0; i < p->n; i++)
		if (!(v[i] = factor_sequences(s, p, &p->f[i], &work)))
			return false;
	for (uint32_t l = 0; l < LABELS; l++)
		sums |= !p->kept[l] && p->size[l] >= 0 && p->size[l] != 1;
	for (uint32_t k = 0; k < s->numel; k++) {
		TermId t = v[0][k], all[OPERANDS_MOST];
		for (uint32_t i = 0; i < p->n; i++)
			all[i] = v[i][k];
		if (p->n == 1)
			t = sums ? sem_op(s, "sum", &t, 1, 0) : t;
		else if (sums && p->n == 2 && !pattern)
			t = sem_dot(s, t, all[1]);
		else if (sums)
			t = sem_op(s, "einsum", all, p->n, pattern);
		for (uint32_t i = 1; !sums && i < p->n; i++)
			t = sem_op2(s, "mul", t, all[i]);
		out[k] = t;
	}
	return true;
}

static bool add_factor(Sem *s, Product *p, const Arg *a)
{
	return a && p->n < OPERANDS_MOST && sem_tensor_of(s, a, &p->f[p->n++].x);
}

/* ---- matmul and its like ---- */

/* Batch dims have the labels 0.. counted from the last one; then row, inner, column. */
enum { L_BATCH = 0, L_ROW = 20, L_INNER, L_COLUMN };

static bool matmul_labels(Product *p)
{
	Factor *a = &p->f[0], *b = &p->f[1];
	uint32_t na = a->x.ndim, nb = b->x.ndim;
	bool ok = na && nb && product_label(p, a, na - 1, L_INNER) &&
	          product_label(p, b, nb > 1 ? nb - 2 : 0, L_INNER) &&
	          a->x.size[na - 1] == b->x.size[nb > 1 ? nb - 2 : 0];
	uint32_t batch_a = na > 2 ? na - 2 : 0, batch_b = nb > 2 ? nb - 2 : 0;
	uint32_t batch = batch_a > batch_b ? batch_a : batch_b;
	for (uint32_t d = 0; ok && d < batch_a; d++)
		ok = product_label(p, a, d, L_BATCH + batch_a - 1 - d);
	for (uint32_t d = 0; ok && d < batch_b; d++)
		ok = product_label(p, b, d, L_BATCH + batch_b - 1 - d);
	for (uint32_t d = batch; ok && d-- > 0;)
		ok = product_out(p, L_BATCH + d);
	if (ok && na > 1)
		ok = product_label(p, a, na - 2, L_ROW) && product_out(p, L_ROW);
	if (ok && nb > 1)
		ok = product_label(p, b, nb - 1, L_COLUMN) && product_out(p, L_COLUMN);
	return ok;
}

bool sem_matmul(Sem *s, TermId *out)
{
	Product p = product_new();
	return add_factor(s, &p, s->arg[SROLE_INPUT]) && add_factor(s, &p, s->arg[SROLE_OTHER]) &&
	       matmul_labels(&p) && product_terms(s, &p, out);
}

/* Adds scale * what the argument broadcasts to. */
static bool add_term(Sem *s, const Arg *a, TermId scale, DType to, TermId *out)
{
	SemTensor b;
	if (!sem_tensor_of(s, a, &b))
		return false;
	Walk fit = walk_of_tensor(&b);
	if (!walk_expand(&fit, s->size, s->ndim))
		return false;
	const TermId *e = sem_spread(s, &b, s->size, s->ndim);
	for (uint32_t k = 0; k < s->numel; k++) {
		TermId v = sem_convert(s, e[k], b.dtype, to);
		out[k] = sem_op2(s, "add", out[k], scale.i ? sem_op2(s, "mul", v, scale) : v);
	}
	return true;
}

bool sem_linear(Sem *s, TermId *out)
{
	Product p = product_new();
	Factor *x = &p.f[0], *w = &p.f[1];
	if (!add_factor(s, &p, s->arg[SROLE_INPUT]) || !add_factor(s, &p, s->arg[SROLE_WEIGHT]))
		return false;
	uint32_t n = x->x.ndim;
	bool ok = n && w->x.ndim && product_label(&p, x, n - 1, L_INNER) &&
	          product_label(&p, w, w->x.ndim - 1, L_INNER) &&
	          x->x.size[n - 1] == w->x.size[w->x.ndim - 1];
	for (uint32_t d = 0; ok && d + 1 < n; d++)
		ok = product_label(&p, x, d, L_BATCH + d) && product_out(&p, L_BATCH + d);
	if (ok && w->x.ndim == 2)
		ok = product_label(&p, w, 0, L_ROW) && product_out(&p, L_ROW);
	return ok && product_terms(s, &p, out) &&
	       (!sem_given(s, SROLE_BIAS) ||
	        add_term(s, s->arg[SROLE_BIAS], (TermId){0}, x->x.dtype, out));
}

static TermId factor_of(Sem *s, SemRole r, DType to)
{
	TermId t;
	DType d;
	if (!sem_given(s, r))
		return (TermId){0};
	if (!sem_number_of(s, s->arg[r], &t, &d))
		return sem_unknown(s, r);
	return sem_convert(s, t, d, to);
}

/* beta * input + alpha * (batch1 @ batch2) */
bool sem_addmm(Sem *s, TermId *out)
{
	Product p = product_new();
	if (!sem_given(s, SROLE_BIAS) || !add_factor(s, &p, s->arg[SROLE_INPUT]) ||
	    !add_factor(s, &p, s->arg[SROLE_OTHER]) || !matmul_labels(&p) || !product_terms(s, &p, out))
		return false;
	DType to = p.f[0].x.dtype;
	TermId alpha = factor_of(s, SROLE_ALPHA, to), beta = factor_of(s, SROLE_BETA, to);
	double v;
	for (uint32_t k = 0; alpha.i && k < s->numel; k++)
		out[k] = sem_op2(s, "mul", out[k], alpha);
	if (beta.i && sem_known(s, beta, &v) && v == 0)
		return true; /* the input is not read then */
	return add_term(s, s->arg[SROLE_BIAS], beta, to, out);
}

bool sem_outer(Sem *s, TermId *out)
{
	Product p = product_new();
	return add_factor(s, &p, s->arg[SROLE_INPUT]) && add_factor(s, &p, s->arg[SROLE_OTHER]) &&
	       p.f[0].x.ndim == 1 && p.f[1].x.ndim == 1 && product_label(&p, &p.f[0], 0, L_ROW) &&
	       product_label(&p, &p.f[1], 0, L_COLUMN) && product_out(&p, L_ROW) &&
	       product_out(&p, L_COLUMN) && product_terms(s, &p, out);
}

/* ---- einsum ---- */

static uint32_t letter(char c)
{
	if (c >= 'a' && c <= 'z')
		return (uint32_t)(c - 'a');
	return c >= 'A' && c <= 'Z' ? 26 + (uint32_t)(c - 'A') : LABELS;
}

/* Labels of one operand, without blanks. Only letters. */
static bool read_labels(Str part, uint8_t *label, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < part.n; i++) {
		if (part.p[i] == ' ')
			continue;
		uint32_t l = letter(part.p[i]);
		if (l == LABELS || *n == SEM_MAX_DIMS)
			return false;
		label[(*n)++] = (uint8_t)l;
	}
	return true;
}

/* Without an arrow the labels that occur once are kept, capitals first. */
static bool implied_out(Product *p, const uint32_t *count)
{
	for (uint32_t i = 0; i < LABELS; i++) {
		uint32_t l = (i + 26) % LABELS;
		if (count[l] == 1 && !product_out(p, l))
			return false;
	}
	return true;
}

static bool einsum_read(Sem *s, Product *p, const Arg **v)
{
	Str eq = sem_word(s, s->arg[SROLE_MODE]), part;
	uint32_t arrow = str_find(eq, S("->"), 0), n, count[LABELS] = {0};
	Str left = str_sub(eq, 0, arrow), right = str_sub(eq, arrow + 2, eq.n);
	bool given = arrow < eq.n;
	uint8_t label[SEM_MAX_DIMS];
	*p = product_new();
	if (!eq.n || !sem_list(s, SROLE_TENSORS, v, &n))
		return false;
	if (n == 1 && ((*v)->kind == AR_LIST || (*v)->kind == AR_TUPLE)) {
		n = (*v)->n;
		*v = arg_kids(s->g, *v);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t m;
		if (!str_cut(&left, ',', &part) || !add_factor(s, p, &(*v)[i]) ||
		    !read_labels(part, label, &m) || m != p->f[i].x.ndim)
			return false;
		for (uint32_t d = 0; d < m; d++) {
			if (!product_label(p, &p->f[i], d, label[d]))
				return false;
			count[label[d]]++;
		}
	}
	if (left.n)
		return false;
	if (!given)
		return implied_out(p, count);
	if (!read_labels(right, label, &n))
		return false;
	for (uint32_t d = 0; d < n; d++)
		if (p->size[label[d]] < 0 || !product_out(p, label[d]))
			return false;
	return true;
}

bool sem_einsum(Sem *s, TermId *out)
{
	Product p;
	const Arg *v;
	return einsum_read(s, &p, &v) && product_terms(s, &p, out);
}

/* One operand of which no label is summed. */
bool sem_einsum_map(Sem *s, const Arg **source, uint32_t *map)
{
	Product p;
	const Arg *v;
	int64_t step[LABELS];
	if (!einsum_read(s, &p, &v) || p.n != 1 || !product_sizes(s, &p))
		return false;
	for (uint32_t l = 0; l < LABELS; l++)
		if (p.size[l] >= 0 && !p.kept[l])
			return false;
	factor_steps(&p.f[0], step);
	Walk w = {.n = p.nout};
	for (uint32_t d = 0; d < p.nout; d++) {
		w.size[d] = p.size[p.out[d]];
		w.step[d] = step[p.out[d]];
	}
	walk_fill(&w, map);
	*source = v;
	return true;
}

/* ---- attention ---- */

/* Scores of a query with the keys, as one term; then a dot product with a column of the values. */
typedef struct Attention {
	SemTensor q, k, v, mask;
	bool has_mask, causal;
	uint32_t rows, keys, width, batches;
	uint32_t *kb, *vb; /* batch of keys and values by batch of the result */
	const TermId *m; /* mask by [batch, row, key] */
	TermId chance, params; /* dropout, scale; 0 none */
} Attention;

/* Batch dims of an operand against those of the result; grouped heads repeat. */
static uint32_t *batch_map(Sem *s, const SemTensor *x, bool grouped)
{
	uint32_t n = s->ndim - 2;
	int64_t size[SEM_MAX_DIMS];
	if (x->ndim < 2)
		return NULL;
	Walk w = walk_of(x->size, x->ndim - 2);
	if (!grouped)
		return walk_expand(&w, s->size, n) ? walk_map(s, &w) : NULL;
	if (w.n != n || n == 0 || w.size[n - 1] <= 0 || s->size[n - 1] % w.size[n - 1])
		return NULL;
	/* head h uses group h / (heads / groups) */
	int64_t each = s->size[n - 1] / w.size[n - 1], step = w.step[n - 1], groups = w.size[n - 1];
	memcpy(size, s->size, n * sizeof *size);
	w.size[n - 1] = groups;
	if (!walk_insert(&w, n, each, 0))
		return NULL;
	w.step[n - 1] = step;
	for (uint32_t d = 0; d + 1 < n; d++)
		if (w.size[d] != size[d])
			return NULL;
	return walk_map(s, &w);
}

static bool attention_read(Sem *s, Attention *a)
{
	bool gqa;
	if (!sem_tensor(s, SROLE_INPUT, &a->q) || !sem_tensor(s, SROLE_OTHER, &a->k) ||
	    !sem_tensor(s, SROLE_THIRD, &a->v) || s->ndim < 2 || a->q.ndim != s->ndim ||
	    a->k.ndim < 2 || a->v.ndim < 2 || !s->numel || !a->k.numel ||
	    !sem_bool_or(s, SROLE_CAUSAL, false, &a->causal) ||
	    !sem_bool_or(s, SROLE_SHARED, false, &gqa))
		return false;
	a->rows = (uint32_t)a->q.size[a->q.ndim - 2];
	a->width = (uint32_t)a->q.size[a->q.ndim - 1];
	a->keys = (uint32_t)a->k.size[a->k.ndim - 2];
	if (a->width != a->k.size[a->k.ndim - 1] || a->keys != a->v.size[a->v.ndim - 2] ||
	    s->size[s->ndim - 2] != a->rows || s->size[s->ndim - 1] != a->v.size[a->v.ndim - 1])
		return false;
	for (uint32_t d = 0; d + 2 < s->ndim; d++)
		if (a->q.size[d] != s->size[d])
			return false;
	a->batches = (uint32_t)sem_numel(s->size, s->ndim - 2);
	a->kb = batch_map(s, &a->k, gqa);
	a->vb = batch_map(s, &a->v, gqa);
	a->has_mask = sem_given(s, SROLE_MASK);
	if (!a->kb || !a->vb || (a->has_mask && !sem_tensor(s, SROLE_MASK, &a->mask)))
		return false;
	if (!a->has_mask)
		return true;
	int64_t size[SEM_MAX_DIMS];
	memcpy(size, s->size, sizeof size[0] * s->ndim);
	size[s->ndim - 1] = a->keys;
	if (sem_numel(size, s->ndim) > SEM_NUMEL_MOST)
		return false;
	Walk fit = walk_of_tensor(&a->mask);
	a->m = sem_spread(s, &a->mask, size, s->ndim);
	return walk_expand(&fit, size, s->ndim);
}

static TermId attention_scores(Sem *s, const Attention *a, uint32_t batch, uint32_t row,
                               const TermId *keys)
{
	TermList l = {.a = s->a};
	TermId q = sem_vec(s, a->q.e + ((size_t)batch * a->rows + row) * a->width, a->width);
	for (uint32_t j = 0; j < a->keys; j++) {
		if (a->causal && j > row)
			break;
		sem_push(s, &l, sem_dot(s, q, keys[j]));
		if (a->has_mask)
			sem_push(s, &l, a->m[((size_t)batch * a->rows + row) * a->keys + j]);
	}
	if (a->params.i)
		sem_push(s, &l, a->params);
	if (a->chance.i)
		sem_push(s, &l, a->chance);
	return sem_list_op(s, "attention", &l, 0);
}

static void attention_batch(Sem *s, const Attention *a, uint32_t batch, TermId *out)
{
	uint32_t cols = (uint32_t)s->size[s->ndim - 1];
	TermId *keys = NEW_N(s->a, TermId, (size_t)a->keys + 1),
		   *col = NEW_N(s->a, TermId, (size_t)a->keys + 1);
	TermId *scores = NEW_N(s->a, TermId, (size_t)a->rows + 1);
	for (uint32_t j = 0; j < a->keys; j++)
		keys[j] = sem_vec(s, a->k.e + ((size_t)a->kb[batch] * a->keys + j) * a->width, a->width);
	for (uint32_t i = 0; i < a->rows; i++)
		scores[i] = attention_scores(s, a, batch, i, keys);
	for (uint32_t c = 0; c < cols; c++) {
		for (uint32_t j = 0; j < a->keys; j++)
			col[j] = a->v.e[((size_t)a->vb[batch] * a->keys + j) * cols + c];
		TermId whole = sem_vec(s, col, a->keys);
		for (uint32_t i = 0; i < a->rows; i++) {
			bool part = a->causal && i + 1 < a->keys;
			TermId v = part ? sem_vec(s, col, i + 1) : whole;
			out[((size_t)batch * a->rows + i) * cols + c] = sem_op2(s, "weighted", scores[i], v);
		}
	}
}

bool sem_attention(Sem *s, TermId *out)
{
	Attention a = {0};
	TermList more = {.a = s->a};
	TermId p;
	DType d;
	double v;
	if (s->member > 0 || !attention_read(s, &a))
		return false;
	uint64_t each = (uint64_t)a.rows * a.keys;
	if (a.batches * (each + (a.causal ? each * (uint64_t)s->size[s->ndim - 1] : 0)) > work_most)
		return false;
	sem_push_more(s, &more);
	if (more.v.n)
		a.params = sem_list_op(s, "params", &more, 0);
	if (sem_given(s, SROLE_P) &&
	    !(sem_number_of(s, s->arg[SROLE_P], &p, &d) && sem_known(s, p, &v) && v == 0))
		a.chance = sem_fresh(s, 0);
	for (uint32_t b = 0; b < a.batches; b++)
		attention_batch(s, &a, b, out);
	return true;
}

/* ---- convolution ---- */

typedef struct Conv {
	SemTensor x, w;
	uint32_t spatial;
	int64_t stride[3], padding[3], dilation[3], groups;
	uint32_t window; /* elements of one filter */
} Conv;

static bool per_dim(Sem *s, SemRole r, uint32_t n, int64_t dflt, int64_t *out)
{
	uint32_t m = 0;
	for (uint32_t i = 0; i < n; i++)
		out[i] = dflt;
	if (!sem_given(s, r))
		return true;
	if (!sem_ints(s, r, out, 3, &m) || (m != 1 && m != n))
		return false;
	for (uint32_t i = 1; m == 1 && i < n; i++)
		out[i] = out[0];
	for (uint32_t i = 0; i < n; i++)
		if (out[i] < 0 || out[i] > SEM_NUMEL_MOST)
			return false;
	return true;
}

static bool conv_read(Sem *s, Conv *c)
{
	bool transposed;
	if (!sem_tensor(s, SROLE_INPUT, &c->x) || !sem_tensor(s, SROLE_WEIGHT, &c->w) ||
	    c->x.ndim < 3 || c->x.ndim > 5 || c->w.ndim != c->x.ndim || s->ndim != c->x.ndim ||
	    !c->x.numel || !c->w.numel || !s->numel || s->member > 0 ||
	    !sem_bool_or(s, SROLE_TRANSPOSED, false, &transposed) || transposed)
		return false;
	c->spatial = c->x.ndim - 2;
	c->window = c->w.numel / (uint32_t)c->w.size[0];
	return per_dim(s, SROLE_STRIDE, c->spatial, 1, c->stride) &&
	       per_dim(s, SROLE_PADDING, c->spatial, 0, c->padding) &&
	       per_dim(s, SROLE_DILATION, c->spatial, 1, c->dilation) &&
	       sem_int_or(s, SROLE_GROUPS, 1, &c->groups) && c->groups > 0 &&
	       c->x.size[0] == s->size[0] && c->w.size[0] == s->size[1] &&
	       c->x.size[1] % c->groups == 0 && c->w.size[0] % c->groups == 0 &&
	       c->w.size[1] == c->x.size[1] / c->groups;
}

/* The elements under the filter for one sample, group and place; what lies in the padding is 0. */
static TermId conv_window(Sem *s, const Conv *c, int64_t sample, int64_t group, const int64_t *at,
                          TermId *v)
{
	Walk own = walk_of_tensor(&c->x);
	TermId zero = sem_convert(s, term_num(s->t, 0, 'i'), DT_I64, c->x.dtype);
	for (uint32_t k = 0; k < c->window; k++) {
		uint32_t left = k;
		int64_t pos = 0;
		bool inside = true;
		for (uint32_t d = c->spatial; d-- > 0;) {
			int64_t i = at[d] * c->stride[d] - c->padding[d] +
			            (int64_t)(left % c->w.size[2 + d]) * c->dilation[d];
			left /= (uint32_t)c->w.size[2 + d];
			inside &= i >= 0 && i < c->x.size[2 + d];
			pos += inside ? i * own.step[2 + d] : 0;
		}
		pos += sample * own.step[0] + (group * c->w.size[1] + left) * own.step[1];
		v[k] = inside ? c->x.e[pos] : zero;
	}
	return sem_vec(s, v, c->window);
}

bool sem_conv(Sem *s, TermId *out)
{
	Conv c = {0};
	SemTensor b;
	if (!conv_read(s, &c))
		return false;
	int64_t channels = s->size[1], places = s->numel / (s->size[0] * channels), at[3] = {0};
	if ((uint64_t)s->size[0] * (uint64_t)c.groups * (uint64_t)places * c.window > work_most)
		return false;
	bool bias = sem_given(s, SROLE_BIAS);
	if (bias && (!sem_tensor(s, SROLE_BIAS, &b) || b.numel != channels))
		return false;
	TermId *filter = NEW_N(s->a, TermId, (size_t)channels + 1),
		   *v = NEW_N(s->a, TermId, (size_t)c.window + 1);
	for (int64_t o = 0; o < channels; o++)
		filter[o] = sem_vec(s, c.w.e + o * c.window, c.window);
	for (int64_t n = 0; n < s->size[0]; n++)
		for (int64_t g = 0; g < c.groups; g++)
			for (int64_t p = 0; p < places; p++) {
				int64_t left = p, each = channels / c.groups;
				for (uint32_t d = c.spatial; d-- > 0; left /= s->size[2 + d])
					at[d] = left % s->size[2 + d];
				TermId x = conv_window(s, &c, n, g, at, v);
				for (int64_t o = g * each; o < (g + 1) * each; o++) {
					TermId y = sem_dot(s, x, filter[o]);
					out[(n * channels + o) * places + p] = bias ? sem_op2(s, "add", y, b.e[o]) : y;
				}
			}
	return true;
}
