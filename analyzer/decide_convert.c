/* SPDX-License-Identifier: MIT
 * Rule 5 of the operator facts: to() and everything that converts like it returns its argument
 * when that is already all that is asked for. */
#include "decide_query.h"

/* A device as printed: cuda:0, cpu. */
typedef struct Device {
	bool known;
	bool any_index; /* only the kind is compared */
	Str kind; /* empty: an accelerator of which only the number is given */
	int64_t index; /* -1: none */
} Device;

/* What a conversion asks for. */
typedef struct Asked {
	const Query *k;
	Clauses all;
	uint32_t bools; /* positional ones so far: non_blocking, then copy */
} Asked;

static Names *names_of(const Query *k)
{
	return k->c->p->names;
}

static Str arg_str(const Query *k, const Arg *a)
{
	bool text = a->kind == AR_STR || a->kind == AR_NAME || a->kind == AR_CALL;
	return text ? sym_str(names_of(k), a->u.sym) : (Str){0};
}

static bool is_src(const Query *k, const Arg *a)
{
	return k->src && a->kind == AR_NODE && k->src->kind == AR_NODE &&
	       a->u.node.i == k->src->u.node.i;
}

/* y.dtype, y.device given as an argument: y; else NULL. */
static const Arg *property_of(const Query *k, const Arg *a, Str property)
{
	if (a->kind != AR_NODE)
		return NULL;
	const Node *n = graph_node(k->c->g, a->u.node);
	bool is = n->kind == NK_CALL && n->callee == CALLEE_ATTR && n->nargs &&
	          str_eq(sym_str(names_of(k), n->target), property);
	return is ? node_args(k->c->g, n) : NULL;
}

/* ---- dtypes ---- */

static DType cast_dtype(Str word, bool method)
{
	static const struct {
		Str method, word;
		DType dtype;
	} casts[] = {
#define CAST(m, w, id) {STR_INIT(m), STR_INIT(w), DT_##id},
#include "decide_casts.def"
#undef CAST
	};
	for (uint32_t i = 0; i < sizeof casts / sizeof casts[0]; i++)
		if (str_eq(word, method ? casts[i].method : casts[i].word))
			return casts[i].dtype;
	return DT_NONE;
}

static DType numpy_dtype(Str s)
{
	static const struct {
		Str word;
		DType dtype;
	} words[] = {
#define NP_DTYPE(w, id) {STR_INIT(w), DT_##id},
#include "decide_numpy_dtypes.def"
#undef NP_DTYPE
	};
	s = str_last(s);
	for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (str_eq(s, words[i].word))
			return words[i].dtype;
	return s.n > 3 ? dtype_parse(s) : DT_NONE; /* i8 is int64 to NumPy and int8 to torch */
}

static DType arg_dtype(const Query *k, const Arg *a)
{
	if (a->kind != AR_NAME && a->kind != AR_STR)
		return DT_NONE;
	Str s = arg_str(k, a);
	if (k->fact->family == FAM_NUMPY && !str_starts(s, S("torch.")))
		return numpy_dtype(s);
	return str_starts(s, S("torch.")) ? dtype_parse(s) : DT_NONE;
}

static void dtype_clause(Asked *q, Tri t, DType want, Str of)
{
	const Query *k = q->k;
	Str have = dtype_torch(k->type.dtype), w = want ? dtype_torch(want) : of;
	Str no =
		say(k, STR_FMT " is " STR_FMT ", not " STR_FMT, STR_ARG(k->x), STR_ARG(have), STR_ARG(w));
	Str yes = say(k, STR_FMT " %s " STR_FMT, STR_ARG(k->x), want ? "is already" : "already has",
	              STR_ARG(w));
	clause_add(&q->all, t, yes, no);
}

static void ask_dtype_id(Asked *q, DType want, Str of)
{
	DType have = q->k->type.dtype;
	Tri t = TRI_MAY;
	if (have && want)
		t = have == want ? TRI_MUST : TRI_NO;
	dtype_clause(q, t, want, of);
}

static Str of_words(const Query *k, const char *what, const Arg *y)
{
	return say(k, "the %s of " STR_FMT, what, STR_ARG(arg_words(k, y)));
}

static void ask_dtype_of(Asked *q, const Arg *y)
{
	if (is_src(q->k, y))
		dtype_clause(q, TRI_MUST, DT_NONE, S("its own dtype"));
	else
		ask_dtype_id(q, arg_type(q->k, y).dtype, of_words(q->k, "dtype", y));
}

static void ask_dtype(Asked *q, const Arg *a)
{
	if (a->kind == AR_NONE)
		return;
	const Arg *y = property_of(q->k, a, S("dtype"));
	if (y)
		ask_dtype_of(q, y);
	else
		ask_dtype_id(q, arg_dtype(q->k, a),
		             say(q->k, "the dtype " STR_FMT, STR_ARG(arg_words(q->k, a))));
}

/* ---- devices ---- */

static Device device_parse(Str s)
{
	uint32_t colon = str_find_char(s, ':', 0);
	Device d = {.known = s.n > 0, .kind = str_sub(s, 0, colon), .index = -1};
	if (colon < s.n && !str_to_i64(str_sub(s, colon + 1, s.n), &d.index))
		d.known = false;
	return d;
}

/* device(type='cuda', index=0), device('cuda:0'), device('cuda', 0) */
static Device device_call(const Query *k, const Arg *a)
{
	const Arg *kid = arg_kids(k->c->g, a);
	Device d = {.index = -1};
	if (!str_eq(str_last(arg_str(k, a)), S("device")))
		return d;
	for (uint32_t i = 0; i < a->n; i++) {
		if (kid[i].kind == AR_STR)
			d = device_parse(arg_str(k, &kid[i]));
		else if (kid[i].kind == AR_INT)
			d.index = kid[i].u.num;
		else if (kid[i].kind != AR_NONE)
			return (Device){.index = -1};
	}
	d.known |= d.index >= 0;
	return d;
}

static Device arg_device(const Query *k, const Arg *a)
{
	int64_t index;
	if (a->kind == AR_STR)
		return device_parse(arg_str(k, a));
	if (a->kind == AR_CALL)
		return device_call(k, a);
	if (arg_int(k, a, &index))
		return (Device){.known = true, .index = index};
	return (Device){.index = -1};
}

static bool has_no_index(Str kind)
{
	return str_eq(kind, S("cpu")) || str_eq(kind, S("meta"));
}

/* "cpu" and "cpu:0" are different devices; "cuda" is some cuda:k. */
static Tri device_eq(const Device *have, const Device *want)
{
	if (!have->known || !want->known)
		return TRI_MAY;
	if (!want->kind.n && has_no_index(have->kind))
		return TRI_NO;
	if (want->kind.n && !str_eq(have->kind, want->kind))
		return TRI_NO;
	if (want->any_index || have->index == want->index)
		return TRI_MUST;
	if (str_eq(have->kind, S("cpu")) || (have->index >= 0 && want->index >= 0))
		return TRI_NO;
	return TRI_MAY;
}

static Device src_device(const Query *k)
{
	return device_parse(sym_str(names_of(k), k->type.device));
}

static void ask_device_id(Asked *q, Device want, Str words)
{
	const Query *k = q->k;
	Device have = src_device(k);
	Str yes = say(k, STR_FMT " is already on " STR_FMT, STR_ARG(k->x), STR_ARG(words));
	Str no = say(k, STR_FMT " is on " STR_FMT ", not on " STR_FMT, STR_ARG(k->x),
	             STR_ARG(sym_str(names_of(k), k->type.device)), STR_ARG(words));
	clause_add(&q->all, device_eq(&have, &want), yes, no);
}

static void ask_device_of(Asked *q, const Arg *y)
{
	const Query *k = q->k;
	if (is_src(k, y)) {
		clause_add(&q->all, TRI_MUST, S("its own device is asked for"), (Str){0});
		return;
	}
	Device want = device_parse(sym_str(names_of(k), arg_type(k, y).device));
	ask_device_id(q, want, of_words(k, "device", y));
}

static Str device_words(const Query *k, const Device *d, const Arg *a)
{
	if (!d->known || !d->kind.n)
		return say(k, "the device " STR_FMT, STR_ARG(arg_words(k, a)));
	if (d->index < 0)
		return d->kind;
	return say(k, STR_FMT ":%lld", STR_ARG(d->kind), (long long)d->index);
}

static void ask_device(Asked *q, const Arg *a)
{
	if (a->kind == AR_NONE)
		return;
	const Arg *y = property_of(q->k, a, S("device"));
	if (y) {
		ask_device_of(q, y);
		return;
	}
	Device want = arg_device(q->k, a);
	ask_device_id(q, want, device_words(q->k, &want, a));
}

/* ---- the rest of what can be asked ---- */

static void ask_like(Asked *q, const Arg *y)
{
	ask_dtype_of(q, y);
	ask_device_of(q, y);
}

static void ask_copy(Asked *q, const Arg *a)
{
	Tri copy = arg_truth(q->k, a);
	clause_add(&q->all, tri_not(copy), copy == TRI_NO ? (Str){0} : S("copy is False"),
	           S("copy is True"));
}

static void ask_format(Asked *q, const Arg *a)
{
	const Query *k = q->k;
	MemoryFormat want = arg_format(k, a, MF_PRESERVE);
	if (want == MF_PRESERVE)
		return;
	bool known = want != MF_UNKNOWN && k->type.kind == TK_TENSOR && k->type.has_shape;
	MemoryFormat have = known ? type_suggested_format(k->c->t, &k->type) : MF_UNKNOWN;
	Tri t = TRI_MAY;
	if (have != MF_UNKNOWN)
		t = have == want ? TRI_MUST : TRI_NO;
	Str yes = say(k, STR_FMT " is already in " STR_FMT, STR_ARG(k->x), STR_ARG(format_words(want)));
	Str no = say(k, STR_FMT " is not in " STR_FMT, STR_ARG(query_layout(k)),
	             STR_ARG(format_words(want)));
	clause_add(&q->all, t, yes, no);
}

/* Strides are printed for strided tensors only. */
static void ask_layout(Asked *q, const Arg *a)
{
	const Query *k = q->k;
	if (a->kind == AR_NONE)
		return;
	Str want = str_last(arg_str(k, a));
	Tri t = TRI_MAY;
	if (want.n && k->type.kind == TK_TENSOR && k->type.has_stride)
		t = str_eq(want, S("strided")) ? TRI_MUST : TRI_NO;
	Str yes = x_says(k, "already has that layout");
	clause_add(&q->all, t, yes, x_says(k, "is a strided tensor"));
}

static void ask_odd(Asked *q, const Arg *a)
{
	Str yes = say(q->k, STR_FMT " is already what " STR_FMT " asks for", STR_ARG(q->k->x),
	              STR_ARG(arg_words(q->k, a)));
	clause_add(&q->all, TRI_MAY, yes, (Str){0});
}

static void ask_node(Asked *q, const Arg *a)
{
	TypeKind kind = arg_type(q->k, a).kind;
	if (kind == TK_TENSOR || is_src(q->k, a))
		ask_like(q, a);
	else if (kind == TK_SYM || property_of(q->k, a, S("device")))
		ask_device(q, a);
	else if (property_of(q->k, a, S("dtype")))
		ask_dtype(q, a);
	else
		ask_odd(q, a);
}

/* The overloads of to() are told apart by what their positional arguments are. */
static void ask_positional(Asked *q, const Arg *a)
{
	switch ((ArgKind)a->kind) {
	case AR_NONE: break;
	case AR_BOOL:
		if (q->bools++)
			ask_copy(q, a);
		break;
	case AR_NODE: ask_node(q, a); break;
	case AR_STR:
	case AR_CALL:
	case AR_INT: ask_device(q, a); break;
	case AR_NAME:
		if (arg_dtype(q->k, a))
			ask_dtype(q, a);
		else if (arg_format(q->k, a, MF_UNKNOWN) != MF_UNKNOWN)
			ask_format(q, a);
		else if (str_eq(arg_str(q->k, a), S("torch.strided")))
			ask_layout(q, a);
		else
			ask_odd(q, a);
		break;
	default: ask_odd(q, a); break;
	}
}

static void ask_keyword(Asked *q, Str key, const Arg *a)
{
	static const struct {
		Str key;
		void (*ask)(Asked *, const Arg *);
	} keys[] = {
		{STR_INIT("dtype"), ask_dtype},   {STR_INIT("device"), ask_device},
		{STR_INIT("copy"), ask_copy},     {STR_INIT("memory_format"), ask_format},
		{STR_INIT("layout"), ask_layout}, {STR_INIT("other"), ask_like},
		{STR_INIT("tensor"), ask_like},
	};
	for (uint32_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (str_eq(key, keys[i].key))
			keys[i].ask(q, a);
}

/* ---- the calls ---- */

/* to(...) and the operators aten.to.* */
static void ask_to(Asked *q)
{
	const Query *k = q->k;
	const Arg *a = node_args(k->c->g, k->n);
	uint32_t from = k->src && a <= k->src && k->src < a + k->n->nargs ? (uint32_t)(k->src - a) : 0;
	for (uint32_t i = 0; i < k->n->nargs; i++) {
		if (i == from)
			continue;
		if (sym_none(a[i].key))
			ask_positional(q, &a[i]);
		else
			ask_keyword(q, sym_str(names_of(k), a[i].key), &a[i]);
	}
}

static void ask_given(Asked *q, int index, Str name, void (*ask)(Asked *, const Arg *))
{
	const Arg *a = query_at(q->k, index, name);
	if (a)
		ask(q, a);
}

/* type(torch.float32), type('torch.cuda.FloatTensor'): the second names a kind of device too. */
static void ask_type(Asked *q)
{
	const Query *k = q->k;
	const Arg *a = query_at(k, 1, S("dtype"));
	if (!a)
		return;
	Str s = arg_str(k, a), word = str_last(s);
	if (!str_starts(s, S("torch.")) || !str_ends(word, S("Tensor"))) {
		ask_dtype(q, a);
		return;
	}
	Str path = str_sub(s, 0, s.n - word.n);
	DType d = cast_dtype(str_sub(word, 0, word.n - S("Tensor").n), false);
	Device dev = {.known = true, .any_index = true, .index = -1, .kind = S("cpu")};
	if (!str_eq(path, S("torch."))) /* torch.cuda. */
		dev.kind = str_sub(path, S("torch.").n, path.n - 1);
	ask_dtype_id(q, d, say(k, "the dtype of " STR_FMT, STR_ARG(arg_words(k, a))));
	ask_device_id(q, dev, dev.kind);
}

static void ask_cuda(Asked *q)
{
	const Arg *a = query_at(q->k, 1, S("device"));
	Device d = {.known = true, .kind = S("cuda"), .index = -1};
	if (a && a->kind != AR_NONE) {
		d = arg_device(q->k, a);
		if (!d.kind.n)
			d.kind = S("cuda");
	}
	Str words = a && a->kind != AR_NONE ? device_words(q->k, &d, a) : S("the current cuda device");
	ask_device_id(q, d, words);
	ask_given(q, -1, S("memory_format"), ask_format);
}

/* Converts one dtype only, and only when autocast is on for the device of the input
 * (aten/src/ATen/native/TensorConversions.cpp of 2.6). */
static Decision autocast(const Query *k, bool reduce)
{
	Clauses s = clauses_any(k);
	DType d = k->type.dtype;
	bool low = d == DT_F16 || d == DT_BF16;
	bool converts = reduce ? d == DT_F32 : low;
	Device dev = src_device(k);
	Tri dtype_is_other = TRI_MAY, switched_off = TRI_MAY;
	if (d)
		dtype_is_other = converts ? TRI_NO : TRI_MUST;
	bool cpu = str_eq(dev.kind, S("cpu")), cuda = str_eq(dev.kind, S("cuda"));
	const Arg *on = cpu ? query_at(k, 2, S("cpu_enabled")) : query_at(k, 1, S("cuda_enabled"));
	if (dev.known && !cpu && !cuda)
		switched_off = TRI_MUST;
	else if (dev.known && on)
		switched_off = tri_not(arg_truth(k, on));
	Str other = say(k, STR_FMT " is not %s", STR_ARG(k->x),
	                reduce ? "torch.float32" : "torch.float16 or torch.bfloat16");
	Str is = say(k, STR_FMT " is " STR_FMT, STR_ARG(k->x), STR_ARG(dtype_torch(d)));
	clause_add(&s, dtype_is_other, other, is);
	clause_add(&s, switched_off, S("autocast is off for its device"),
	           S("autocast is on for its device"));
	return clauses_answer(&s, TRI_MUST, (Str){0});
}

static Decision canonical_mask(const Query *k)
{
	DTypeClass c = k->type.dtype ? dtype_class(k->type.dtype) : DC_NONE;
	Str is = x_says(k, "is a floating point mask");
	if (c == DC_NONE)
		return answer_maybe(TRI_MUST, is);
	if (c == DC_FLOAT)
		return answer_yes(TRI_MUST, is);
	return answer_no(x_says(k, "is no floating point mask"));
}

static void ask_by_name(Asked *q)
{
	const Query *k = q->k;
	Str op = k->op;
	static const Str cast = STR_INIT("_cast_");
	if (cast_dtype(op, true)) {
		ask_dtype_id(q, cast_dtype(op, true), (Str){0});
		ask_given(q, -1, S("memory_format"), ask_format);
	} else if (str_starts(op, cast)) {
		ask_dtype_id(q, cast_dtype(str_sub(op, cast.n, op.n), false), S("the dtype asked for"));
	} else if (str_eq(op, S("type"))) {
		ask_type(q);
	} else if (str_eq(op, S("type_as"))) {
		ask_given(q, 1, S("other"), ask_like);
	} else if (str_eq(op, S("cpu")) || str_eq(op, S("_to_cpu"))) {
		ask_device_id(q, (Device){.known = true, .kind = S("cpu"), .index = -1}, S("cpu"));
		ask_given(q, -1, S("memory_format"), ask_format);
	} else if (str_eq(op, S("cuda"))) {
		ask_cuda(q);
	} else if (str_eq(op, S("device_put"))) {
		ask_given(q, 1, S("device"), ask_device);
	} else if (k->fact->family == FAM_NUMPY) { /* its `copy` is not looked at */
		ask_given(q, 1, S("dtype"), ask_dtype);
	} else if (str_eq(op, S("as_tensor"))) {
		ask_given(q, 1, S("dtype"), ask_dtype);
		ask_given(q, 2, S("device"), ask_device);
	} else if (str_eq(op, S("asarray"))) {
		ask_given(q, -1, S("dtype"), ask_dtype);
		ask_given(q, -1, S("device"), ask_device);
		ask_given(q, -1, S("copy"), ask_copy);
	} else {
		ask_to(q);
	}
}

static Decision convert_one(const Query *k)
{
	Asked q = {.k = k, .all = clauses_all(k)};
	ask_by_name(&q);
	return clauses_answer(&q.all, fact_same_object(k->fact),
	                      say(k, "nothing is asked of " STR_FMT, STR_ARG(k->x)));
}

/* A list of tensors, of which each is converted alone. */
static Decision convert_list(const Query *k)
{
	Decision all = answer_no(S("no tensor is given"));
	for (uint32_t i = 0; i < k->src->n; i++) {
		Query one = *k;
		one.src = &arg_kids(k->c->g, k->src)[i];
		one.tid = infer_arg(k->c->nt, k->c->g, k->c->t, one.src);
		one.type = *type_get(k->c->t, one.tid);
		one.x = arg_words(k, one.src);
		Decision d = convert_one(&one);
		if (i && d.shares != all.shares)
			return answer_maybe(fact_same_object(k->fact),
			                    S("the tensor in question is already as asked for"));
		all = d;
	}
	return all;
}

Decision decide_convert(const Query *k)
{
	if (str_eq(k->op, S("_autocast_to_reduced_precision")))
		return autocast(k, true);
	if (str_eq(k->op, S("_autocast_to_full_precision")))
		return autocast(k, false);
	if (str_eq(k->op, S("_canonical_mask")))
		return canonical_mask(k);
	if (k->src && (k->src->kind == AR_LIST || k->src->kind == AR_TUPLE))
		return str_eq(k->op, S("_to_cpu")) ? convert_list(k)
		                                   : answer_no(S("it makes a tensor of a list"));
	return convert_one(k);
}
