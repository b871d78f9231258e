/* SPDX-License-Identifier: MIT */
#include "diag.h"

static const Str severities[] = {
	[SEV_NONE] = STR_INIT("none"),
	[SEV_NOTE] = STR_INIT("note"),
	[SEV_WARNING] = STR_INIT("warning"),
	[SEV_ERROR] = STR_INIT("error"),
};

static const Str observables[] = {
	[OBS_NO] = STR_INIT("no"),
	[OBS_IDENTITY] = STR_INIT("identity"),
	[OBS_YES] = STR_INIT("yes"),
	[OBS_UNKNOWN] = STR_INIT("unknown"),
};

static const Str roles[] = {
#define ROLE(id, word) STR_INIT(word),
#include "roles.def"
#undef ROLE
};

Str severity_name(Severity s)
{
	ASSERT(s <= SEV_ERROR);
	return severities[s];
}

bool severity_parse(Str s, Severity *out)
{
	for (int i = SEV_NONE; i <= SEV_ERROR; i++)
		if (str_eq(s, severities[i])) {
			*out = (Severity)i;
			return true;
		}
	return false;
}

Str role_name(StepRole r)
{
	ASSERT(r < ROLE_N);
	return roles[r];
}

Str observable_name(Observable o)
{
	ASSERT(o <= OBS_UNKNOWN);
	return observables[o];
}

void diags_init(Diags *d, Arena *a)
{
	*d = (Diags){.a = a, .places = {.a = a}};
}

Finding *diag_add(Diags *d, Str rule, Severity sev, Span at)
{
	Finding f = {.severity = sev, .span = at, .output = -1, .input = -1, .other_output = -1};
	f.rule = str_copy(d->a, rule);
	VEC_PUSH(d->a, &d->v, f);
	return &d->v.v[d->v.n - 1];
}

static void add_var(Diags *d, Finding *f, Str name, Str value)
{
	VEC_PUSH(d->a, &f->vars, ((Var){str_copy(d->a, name), value}));
}

void diag_var(Diags *d, Finding *f, Str name, Str value)
{
	add_var(d, f, name, str_copy(d->a, value));
}

void diag_varf(Diags *d, Finding *f, Str name, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_var(d, f, name, str_vprintf(d->a, fmt, ap));
	va_end(ap);
}

static void add_step(Diags *d, Finding *f, StepRole role, Span at, Str text)
{
	VEC_PUSH(d->a, &f->steps, ((Step){at, role, text}));
}

void diag_step(Diags *d, Finding *f, StepRole role, Span at, Str text)
{
	add_step(d, f, role, at, str_copy(d->a, text));
}

void diag_stepf(Diags *d, Finding *f, StepRole role, Span at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_step(d, f, role, at, str_vprintf(d->a, fmt, ap));
	va_end(ap);
}

static uint64_t place_key(Span at, bool ends)
{
	ASSERT(at.file.i < 1u << 31);
	return (uint64_t)at.file.i << 33 | (uint64_t)at.at << 1 | ends;
}

/* GL901 and GL902 differ in the rule alone. Once per place: readers may try again. */
static void add_unread(Diags *d, Str rule, Span at, const char *fmt, va_list ap)
{
	uint64_t key = place_key(at, str_eq(rule, S("GL902")));
	if (map_get(&d->places, key))
		return;
	map_put(&d->places, key, 1);
	Str why = str_vprintf(d->a, fmt, ap);
	Finding *f = diag_add(d, rule, SEV_WARNING, at);
	add_var(d, f, S("why"), why);
	add_step(d, f, ROLE_PLACE, at, why);
	VEC_PUSH(d->a, &d->unread, ((Unread){.span = at, .why = why, .incomplete = true}));
}

void diag_unread(Diags *d, Span at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_unread(d, S("GL901"), at, fmt, ap);
	va_end(ap);
}

void diag_truncated(Diags *d, Span at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_unread(d, S("GL902"), at, fmt, ap);
	va_end(ap);
}

/* ---- the same again, elsewhere ---- */

static Span span_moved(Span s, FileId file, int64_t shift)
{
	if (!s.file.i)
		return s;
	return (Span){file, (uint32_t)(s.at + shift), (uint32_t)(s.end + shift)};
}

static bool is_unread(const Finding *f)
{
	return str_eq(f->rule, S("GL901")) || str_eq(f->rule, S("GL902"));
}

static bool first_at(Diags *d, const Finding *f)
{
	uint64_t key = place_key(f->span, str_eq(f->rule, S("GL902")));
	if (map_get(&d->places, key))
		return false;
	map_put(&d->places, key, 1);
	return true;
}

void diag_replay(Diags *d, const Diags *from, FileId file, int64_t shift)
{
	for (uint32_t i = 0; i < from->v.n; i++) {
		Finding f = from->v.v[i];
		f.span = span_moved(f.span, file, shift);
		if (is_unread(&f) && !first_at(d, &f))
			continue;
		f.steps.cap = f.steps.n;
		f.steps.v = NEW_N(d->a, Step, f.steps.n);
		for (uint32_t k = 0; k < f.steps.n; k++) {
			f.steps.v[k] = from->v.v[i].steps.v[k];
			f.steps.v[k].span = span_moved(f.steps.v[k].span, file, shift);
		}
		f.vars.cap = f.vars.n; /* a further one moves to this run's memory */
		VEC_PUSH(d->a, &d->v, f);
	}
	for (uint32_t i = 0; i < from->unread.n; i++) {
		Unread u = from->unread.v[i];
		u.span = span_moved(u.span, file, shift);
		VEC_PUSH(d->a, &d->unread, u);
	}
}

/* ---- order ---- */

static int cmp_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int cmp_span(Span a, Span b)
{
	int c = cmp_u32(a.file.i, b.file.i);
	if (!c)
		c = cmp_u32(a.at, b.at);
	return c ? c : cmp_u32(a.end, b.end);
}

static int cmp_finding(const void *x, const void *y)
{
	const Finding *a = x, *b = y;
	int c = cmp_span(a->span, b->span);
	if (!c)
		c = str_cmp(a->rule, b->rule);
	if (!c)
		c = cmp_u32(a->graph_id.i, b->graph_id.i);
	if (!c)
		c = (a->output > b->output) - (a->output < b->output);
	return c ? c : (a->input > b->input) - (a->input < b->input);
}

static int cmp_unread(const void *x, const void *y)
{
	const Unread *a = x, *b = y;
	return cmp_span(a->span, b->span);
}

typedef struct Sort {
	const char *base;
	size_t size;
	int (*cmp)(const void *, const void *);
} Sort;

/* Merges the runs [lo, mid) and [mid, hi) of item numbers; of equal ones the earlier is first. */
static void merge(const Sort *s, const uint32_t *from, uint32_t *to, uint64_t lo, uint64_t mid,
	uint64_t hi)
{
	uint64_t i = lo, j = mid;
	for (uint64_t k = lo; k < hi; k++) {
		bool left = j == hi;
		if (!left && i < mid)
			left = s->cmp(s->base + from[i] * s->size, s->base + from[j] * s->size) <= 0;
		to[k] = left ? from[i++] : from[j++];
	}
}

/* Stable, and n log n whatever the input. */
static void sort_stable(Arena *scratch, void *items, uint32_t n, size_t size,
	int (*cmp)(const void *, const void *))
{
	if (n < 2)
		return;
	ArenaMark mark = arena_mark(scratch);
	Sort s = {items, size, cmp};
	char *sorted = arena_array(scratch, n, size);
	uint32_t *from = NEW_N(scratch, uint32_t, n), *to = NEW_N(scratch, uint32_t, n);
	for (uint32_t i = 0; i < n; i++)
		from[i] = i;
	for (uint64_t run = 1; run < n; run *= 2) {
		for (uint64_t lo = 0; lo < n; lo += 2 * run) {
			uint64_t mid = lo + run < n ? lo + run : n;
			merge(&s, from, to, lo, mid, mid + run < n ? mid + run : n);
		}
		uint32_t *t = from;
		from = to;
		to = t;
	}
	for (uint32_t i = 0; i < n; i++)
		memcpy(sorted + i * size, s.base + from[i] * size, size);
	memcpy(items, sorted, n * size);
	arena_rewind(scratch, mark);
}

void diags_sort(Diags *d)
{
	sort_stable(d->a, d->v.v, d->v.n, sizeof *d->v.v, cmp_finding);
	sort_stable(d->a, d->unread.v, d->unread.n, sizeof *d->unread.v, cmp_unread);
}
