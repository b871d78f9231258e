/* SPDX-License-Identifier: MIT */
#include "decide_query.h"

/* Longer pieces of a dump are not repeated in sentences: many calls may use the same text. */
enum { WORDS_MOST = 160, DIMS_SHOWN = 16 };

/* More arguments than this are not counted: each operand of a call asks again. */
enum { COUNT_MOST = 64 };

/* ---- the call ---- */

Str str_last(Str dotted)
{
	uint32_t dot = str_rfind(dotted, S("."));
	return dot < dotted.n ? str_sub(dotted, dot + 1, dotted.n) : dotted;
}

/* torch.ops.aten.to.dtype -> to */
static Str packet_name(Str name)
{
	static const Str prefix = STR_INIT("torch.ops.");
	Str part = {0};
	if (str_starts(name, prefix))
		name = str_sub(name, prefix.n, name.n);
	if (!str_cut(&name, '.', &part)) /* the namespace */
		return name;
	return str_cut(&name, '.', &part) ? part : name;
}

/* Flatten[train], Dropout(inplace=True)[eval] -> Flatten, Dropout */
static Str class_name(Str name)
{
	uint32_t end = str_find_char(name, '[', 0), paren = str_find_char(name, '(', 0);
	return str_sub(name, 0, end < paren ? end : paren);
}

static Str short_name(const Fact *fact, Str name)
{
	static const Str utils = STR_INIT("torch__dynamo_utils_");
	switch (fact->family) {
	case FAM_DISPATCH: return packet_name(name);
	case FAM_MODULE: return class_name(name);
	case FAM_NUMPY: return str_starts(name, utils) ? str_sub(name, utils.n, name.n) : name;
	default: return str_last(name);
	}
}

Query query_make(const DecideCtx *c, NodeId n, const Fact *fact, const Arg *src)
{
	Query k = {.c = c, .id = n, .n = graph_node(c->g, n), .fact = fact, .src = src};
	k.op = short_name(fact, sym_str(c->p->names, fact->name));
	if (src) {
		k.tid = infer_arg(c->nt, c->g, c->t, src);
		k.type = *type_get(c->t, k.tid);
		k.x = arg_words(&k, src);
	} else {
		k.x = S("its argument");
	}
	return k;
}

/* ---- arguments ---- */

const Arg *query_at(const Query *k, int index, Str name)
{
	return call_arg(k->c->f, k->c->g, k->n, index, name);
}

const Arg *query_param(const Query *k, Str name)
{
	return call_param(k->c->f, k->c->g, k->n, name);
}

static const Param *param_find(const Query *k, Str target, Str name)
{
	const Overload *ov = NULL;
	uint32_t n = facts_params(k->c->f, (Callee)k->n->callee, target, &ov);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < ov[i].n; j++)
			if (str_eq(sym_str(k->c->p->names, ov[i].v[j].name), name))
				return &ov[i].v[j];
	return NULL;
}

Str query_default(const Query *k, Str name)
{
	const Param *p = param_find(k, sym_str(k->c->p->names, k->n->target), name);
	return p ? p->dflt : (Str){0};
}

int query_mode(const Query *k)
{
	Str name = sym_str(k->c->p->names, k->fact->name);
	if (k->c->training || k->fact->joined)
		return k->c->training;
	if (str_ends(name, S("[train]")))
		return 1;
	return str_ends(name, S("[eval]")) ? 2 : 0;
}

bool query_has(const Query *k, int index, Str name)
{
	const Arg *a = query_at(k, index, name);
	return a && a->kind != AR_NONE;
}

uint32_t query_positional(const Query *k, uint32_t from)
{
	const Arg *a = node_args(k->c->g, k->n);
	uint32_t n = 0;
	while (n < k->n->nargs && n < from + COUNT_MOST && sym_none(a[n].key))
		n++;
	return n > from ? n - from : 0;
}

Type arg_type(const Query *k, const Arg *a)
{
	return *type_get(k->c->t, infer_arg(k->c->nt, k->c->g, k->c->t, a));
}

bool arg_int(const Query *k, const Arg *a, int64_t *out)
{
	if (!a)
		return false;
	if (a->kind == AR_INT || a->kind == AR_BOOL) {
		*out = a->u.num;
		return true;
	}
	if (a->kind != AR_NODE && a->kind != AR_EXPR)
		return false;
	ExprId e = infer_expr(k->c->nt, k->c->g, k->c->t, k->c->p->names, a);
	return e.i && expr_value(k->c->t, e, out);
}

Tri text_truth(Str s)
{
	s = str_trim(s);
	if (str_eq(s, S("True")))
		return TRI_MUST;
	if (str_eq(s, S("False")) || str_eq(s, S("None")))
		return TRI_NO;
	bool digits = false, nonzero = false;
	for (uint32_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (digits && (c == 'e' || c == 'E')) /* an exponent does not make 0 another number */
			break;
		if (c >= '0' && c <= '9') {
			digits = true;
			nonzero |= c != '0';
		} else if (c != '.' && !(i == 0 && c == '-')) {
			return TRI_MAY;
		}
	}
	if (!digits)
		return TRI_MAY;
	return nonzero ? TRI_MUST : TRI_NO;
}

Tri arg_truth(const Query *k, const Arg *a)
{
	int64_t v;
	if (a->kind == AR_NONE)
		return TRI_NO;
	if (a->kind == AR_FLOAT)
		return a->u.real != 0.0 ? TRI_MUST : TRI_NO;
	if (arg_int(k, a, &v))
		return v ? TRI_MUST : TRI_NO;
	return TRI_MAY;
}

Tri query_truth(const Query *k, Str name)
{
	const Arg *a = query_param(k, name);
	return a ? arg_truth(k, a) : text_truth(query_default(k, name));
}

/* ---- words ---- */

Str say(const Query *k, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	Str s = str_vprintf(k->c->a, fmt, ap);
	va_end(ap);
	return s;
}

Str x_says(const Query *k, const char *what)
{
	return say(k, STR_FMT " %s", STR_ARG(k->x), what);
}

static Str words_cut(const Query *k, Str s)
{
	if (s.n <= WORDS_MOST)
		return s;
	uint32_t end = WORDS_MOST;
	while (end && ((unsigned char)s.p[end] & 0xC0) == 0x80) /* not inside a UTF-8 sequence */
		end--;
	return say(k, STR_FMT "...", STR_ARG(str_sub(s, 0, end)));
}

Str arg_words(const Query *k, const Arg *a)
{
	const DecideCtx *c = k->c;
	if (a->kind == AR_NODE) {
		Sym name = graph_node(c->g, a->u.node)->name;
		return sym_none(name) ? S("its argument") : words_cut(k, sym_str(c->p->names, name));
	}
	if (a->kind == AR_NAME)
		return words_cut(k, sym_str(c->p->names, a->u.sym));
	Arg bare = *a;
	bare.key = (Sym){0};
	Buf b = {.a = c->a};
	arg_text(c->p, c->g, &bare, &b);
	return words_cut(k, buf_str(&b));
}

Str query_layout(const Query *k)
{
	if (k->type.kind != TK_TENSOR || !k->type.has_shape)
		return S("its layout");
	if (k->type.ndim > DIMS_SHOWN)
		return S("its printed layout");
	Type bare = k->type;
	bare.device = (Sym){0};
	Str s = type_text(k->c->t, type_intern(k->c->t, &bare), k->c->a);
	return s.n <= WORDS_MOST ? s : S("its printed layout");
}

Str shape_words(const Query *k, const ExprId *size, uint32_t n)
{
	if (n > DIMS_SHOWN)
		return S("the new shape");
	Buf b = {.a = k->c->a};
	buf_char(&b, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (!size[i].i)
			return S("the new shape");
		if (i)
			buf_add(&b, S(", "));
		buf_add(&b, expr_text(k->c->t, size[i], k->c->a));
	}
	buf_char(&b, ']');
	return b.n <= WORDS_MOST ? buf_str(&b) : S("the new shape");
}

bool ctor_value(Str ctor, Str name, Str *value)
{
	uint32_t depth = 0, at = 0;
	for (uint32_t i = 0; i <= ctor.n; i++) {
		char c = i < ctor.n ? ctor.p[i] : ',';
		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if ((c == ')' || c == ']' || c == '}') && depth)
			depth--;
		if (i < ctor.n && (c != ',' || depth))
			continue;
		Str part = str_trim(str_sub(ctor, at, i));
		uint32_t eq = str_find_char(part, '=', 0);
		if (eq < part.n && str_eq(str_sub(part, 0, eq), name)) {
			*value = str_sub(part, eq + 1, part.n);
			return true;
		}
		at = i + 1;
	}
	return false;
}

/* ---- answers ---- */

Decision answer_yes(Tri same, Str because)
{
	return (Decision){.shares = TRI_MUST, .same_object = same, .because = because};
}

Decision answer_no(Str because)
{
	return (Decision){.because = because};
}

Decision answer_maybe(Tri same, Str condition)
{
	return (Decision){
		.shares = TRI_MAY, .same_object = tri_and(same, TRI_MAY), .condition = condition};
}

Decision answer(Tri shares, Tri same, Str because, Str condition)
{
	if (shares == TRI_MAY)
		return answer_maybe(same, condition);
	return shares == TRI_MUST ? answer_yes(same, because) : answer_no(because);
}

Tri fact_same_object(const Fact *f)
{
	if (fact_has(f, FT_SAME_OBJECT))
		return TRI_MUST;
	return fact_has(f, FT_MAYBE_SAME_OBJECT) ? TRI_MAY : TRI_NO;
}

Clauses clauses_all(const Query *k)
{
	return (Clauses){.a = k->c->a, .x = k->x, .all = TRI_MUST};
}

Clauses clauses_any(const Query *k)
{
	return (Clauses){.a = k->c->a, .x = k->x, .any = true, .all = TRI_NO};
}

static bool is_about(Str sentence, Str x)
{
	return x.n && sentence.n > x.n && sentence.p[x.n] == ' ' && str_starts(sentence, x);
}

static void clause_join(const Clauses *s, Said *to, Str more, Str by)
{
	if (!more.n)
		return;
	bool about_x = is_about(more, s->x);
	if (to->about_x && about_x)
		more = str_sub(more, s->x.n + 1, more.n);
	if (to->text.n)
		more = str_printf(s->a, STR_FMT STR_FMT STR_FMT, STR_ARG(to->text), STR_ARG(by),
		                  STR_ARG(more));
	*to = (Said){more, about_x};
}

void clause_add(Clauses *s, Tri t, Str yes, Str no)
{
	Tri settles = s->any ? TRI_MUST : TRI_NO;
	s->all = s->any ? tri_or(s->all, t) : tri_and(s->all, t);
	if (t == TRI_MAY)
		clause_join(s, &s->open, yes, s->any ? S(" or ") : S(" and "));
	else if (t == settles)
		clause_join(s, &s->settled, s->any ? yes : no, S(" and "));
	else
		clause_join(s, &s->held, s->any ? no : yes, S(" and "));
}

Decision clauses_answer(const Clauses *s, Tri same, Str when_nothing)
{
	Str because = s->all == (s->any ? TRI_MUST : TRI_NO) ? s->settled.text : s->held.text;
	return answer(s->all, same, because.n ? because : when_nothing, s->open.text);
}
