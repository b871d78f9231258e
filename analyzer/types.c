/* SPDX-License-Identifier: MIT */
#include "expr.h"

/* ---- dtypes ---- */

static const struct {
	const char *shown, *torch; /* torch with its prefix */
	uint8_t bytes, cls;
} dtypes[] = {
#define DTYPE(id, shown, torch, bytes, cls) [DT_##id] = {shown, "torch." torch, bytes, cls},
#include "dtypes.def"
#undef DTYPE
};

static const struct {
	const char *text;
	DType dtype;
} dtype_aliases[] = {
#define DTYPE_ALIAS(id, text) {text, DT_##id},
#include "dtype_aliases.def"
#undef DTYPE_ALIAS
};

static DType dtype_by_shown(Str s)
{
	for (int d = DT_NONE + 1; d < DT_N; d++)
		if (str_eq(s, str_from_c(dtypes[d].shown)))
			return (DType)d;
	return DT_NONE;
}

DType dtype_parse(Str s)
{
	Str prefix = S("torch.");
	DType d = dtype_by_shown(s);
	if (d != DT_NONE)
		return d;
	for (int i = DT_NONE + 1; i < DT_N; i++) {
		Str full = str_from_c(dtypes[i].torch);
		if (str_eq(s, full) || str_eq(s, str_sub(full, prefix.n, full.n)))
			return (DType)i;
	}
	for (size_t i = 0; i < sizeof dtype_aliases / sizeof *dtype_aliases; i++)
		if (str_eq(s, str_from_c(dtype_aliases[i].text)))
			return dtype_aliases[i].dtype;
	return DT_NONE;
}

Str dtype_shown(DType d)
{
	return str_from_c(dtypes[d].shown);
}

Str dtype_torch(DType d)
{
	return d == DT_NONE ? (Str){0} : str_from_c(dtypes[d].torch);
}

DTypeClass dtype_class(DType d)
{
	return (DTypeClass)dtypes[d].cls;
}

uint32_t dtype_bytes(DType d)
{
	return dtypes[d].bytes;
}

/* uint16, uint32, uint64 promote with floating dtypes only. */
static bool dtype_is_bare_unsigned(DType d)
{
	return d == DT_U16 || d == DT_U32 || d == DT_U64;
}

static bool dtype_promotes(DType d)
{
	DTypeClass c = dtype_class(d);
	return c != DC_NONE && c != DC_BITS && !(c == DC_FLOAT && dtype_bytes(d) == 1);
}

/* Complex dtype whose parts are at least as wide as those of a, which is floating. */
static DType dtype_complex_with(DType a, DType complex)
{
	uint32_t part = dtype_bytes(complex) / 2, width = dtype_bytes(a);
	if (a == DT_BF16)
		width = 4;
	if (width < part)
		width = part;
	return width <= 2 ? DT_C32 : width <= 4 ? DT_C64 : DT_C128;
}

static DType dtype_promote_integers(DType a, DType b)
{
	uint32_t x = dtype_bytes(a), y = dtype_bytes(b);
	return x == y ? DT_I16 /* of int8 and uint8 */ : x > y ? a : b;
}

/* promoteTypes in c10/core/ScalarType.cpp (2.6): DT_NONE where it refuses. */
DType dtype_promote(DType a, DType b)
{
	if (a == b || a == DT_NONE || b == DT_NONE)
		return a == b ? a : DT_NONE;
	if (!dtype_promotes(a) || !dtype_promotes(b))
		return DT_NONE;
	if (dtype_class(a) > dtype_class(b)) {
		DType swap = a;
		a = b;
		b = swap;
	}
	DTypeClass low = dtype_class(a), high = dtype_class(b);
	if (dtype_is_bare_unsigned(a) || dtype_is_bare_unsigned(b))
		return high == DC_FLOAT ? b : DT_NONE;
	if (low != high)
		return low == DC_FLOAT ? dtype_complex_with(a, b) : b;
	if (low == DC_INT)
		return dtype_promote_integers(a, b);
	if (dtype_bytes(a) == dtype_bytes(b))
		return DT_F32; /* of float16 and bfloat16 */
	return dtype_bytes(a) > dtype_bytes(b) ? a : b;
}

/* ---- interning ---- */

Types *types_new(Arena *a, Names *names)
{
	Types *t = NEW(a, Types);
	t->a = a;
	t->names = names;
	exprs_init(t);
	VEC_PUSH(a, &t->types, NEW(a, Type)); /* TK_NONE */
	return t;
}

static bool exprs_same(const ExprId *a, const ExprId *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].i != b[i].i)
			return false;
	return true;
}

static bool exprs_unknown(const ExprId *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].i)
			return false;
	return n > 0;
}

static bool type_same(const Type *a, const Type *b)
{
	return a->kind == b->kind && a->dtype == b->dtype && a->has_shape == b->has_shape &&
	       a->has_stride == b->has_stride && a->wrapped == b->wrapped && a->ndim == b->ndim &&
	       sym_eq(a->device, b->device) && a->sym.i == b->sym.i &&
	       exprs_same(a->size, b->size, a->ndim) &&
	       (!a->has_stride || exprs_same(a->stride, b->stride, a->ndim));
}

static uint64_t hash_with(uint64_t h, uint64_t x)
{
	return hash_u64(h ^ (x + 0x9e3779b97f4a7c15u));
}

static uint64_t type_hash(const Types *t, const Type *v)
{
	uint64_t h =
		hash_with(t->names->seed, (uint64_t)v->kind | (uint64_t)v->dtype << 8 |
	                                  (uint64_t)v->has_shape << 16 | (uint64_t)v->has_stride << 17 |
	                                  (uint64_t)v->wrapped << 18 | (uint64_t)v->ndim << 32);
	h = hash_with(h, (uint64_t)v->device.i << 32 | v->sym.i);
	for (uint32_t i = 0; i < v->ndim; i++)
		h = hash_with(h, (uint64_t)v->size[i].i << 32 | (v->has_stride ? v->stride[i].i : 0));
	return h;
}

static const ExprId *exprs_copy(Arena *a, const ExprId *v, uint32_t n)
{
	ExprId *p = NEW_N(a, ExprId, n);
	if (n)
		memcpy(p, v, n * sizeof *p);
	return p;
}

/* Drops what means nothing, so that equal knowledge is one type. */
/* No tensor has a size below 0, whatever was printed or computed. */
static bool has_negative_size(const Types *t, const Type *v)
{
	int64_t n;
	for (uint32_t d = 0; d < v->ndim; d++)
		if (v->size[d].i && expr_value(t, v->size[d], &n) && n < 0)
			return true;
	return false;
}

static Type type_normal(const Types *t, const Type *v)
{
	Type r = *v;
	if (r.kind != TK_TENSOR || !r.has_shape || r.ndim > TYPE_DIMS_MOST || has_negative_size(t, v)) {
		r.has_shape = r.has_stride = false;
		r.ndim = 0;
	}
	if (r.has_stride && exprs_unknown(r.stride, r.ndim))
		r.has_stride = false;
	if (r.kind != TK_SYM)
		r.sym = (ExprId){0};
	if (r.kind != TK_TENSOR) {
		r.wrapped = false;
		r.device = (Sym){0};
	}
	return r;
}

TypeId type_intern(Types *t, const Type *given)
{
	Type v = type_normal(t, given);
	uint64_t h = type_hash(t, &v);
	uint32_t probe = 0, id;
	if (v.kind == TK_NONE)
		return (TypeId){0};
	while ((id = idset_next(&t->type_set, h, &probe)))
		if (type_same(t->types.v[id], &v))
			return (TypeId){id};
	v.size = exprs_copy(t->a, v.size, v.ndim);
	v.stride = v.has_stride ? exprs_copy(t->a, v.stride, v.ndim) : NULL;
	id = t->types.n;
	Type *kept = NEW(t->a, Type);
	*kept = v;
	VEC_PUSH(t->a, &t->types, kept);
	idset_add(t->a, &t->type_set, h, id);
	return (TypeId){id};
}

const Type *type_get(const Types *t, TypeId id)
{
	ASSERT(id.i < t->types.n);
	return t->types.v[id.i];
}

TypeId type_tensor_unknown(Types *t)
{
	Type v = {.kind = TK_TENSOR};
	return type_intern(t, &v);
}

TypeId type_with_dtype(Types *t, TypeId id, DType d)
{
	Type v = *type_get(t, id);
	v.dtype = d;
	return type_intern(t, &v);
}

TypeId type_without_layout(Types *t, TypeId id)
{
	Type v = *type_get(t, id);
	v.has_stride = false;
	return type_intern(t, &v);
}

TypeId type_without_shape(Types *t, TypeId id)
{
	Type v = *type_get(t, id);
	v.has_shape = v.has_stride = false;
	return type_intern(t, &v);
}

/* ---- reading annotations ---- */

/* The text from an opening bracket at `at` to the one that closes it, without them; *end is behind
 * that. False when it is not closed. Only one kind of bracket is counted: others are checked when
 * the inside is read. */
static bool bracket_text(Str s, uint32_t at, char open, char close, Str *inside, uint32_t *end)
{
	uint32_t depth = 0;
	for (uint32_t i = at; i < s.n; i++) {
		if (s.p[i] == open)
			depth++;
		else if (s.p[i] == close && --depth == 0) {
			*inside = str_sub(s, at + 1, i);
			*end = i + 1;
			return true;
		}
	}
	return false;
}

/* The part of *rest up to the first comma outside of brackets; *rest moves behind it. False at the
 * end. */
static bool cut_item(Str *rest, Str *item)
{
	uint32_t depth = 0, i = 0;
	if (!rest->p)
		return false;
	for (; i < rest->n; i++) {
		char c = rest->p[i];
		if (c == '(' || c == '[')
			depth++;
		else if ((c == ')' || c == ']') && depth)
			depth--;
		else if (c == ',' && !depth)
			break;
	}
	*item = str_sub(*rest, 0, i);
	*rest = i < rest->n ? str_sub(*rest, i + 1, rest->n) : (Str){0};
	return true;
}

/* Dims between brackets into out[0 .. TYPE_DIMS_MOST); *n counts all. False when one is damaged. */
static bool read_dims(Types *t, Str s, ExprId *out, uint32_t *n)
{
	Str item;
	*n = 0;
	s = str_trim(s);
	if (!s.n)
		return true;
	while (cut_item(&s, &item)) {
		ExprId e;
		DType number;
		int64_t v;
		item = str_trim(item);
		if (str_to_i64(item, &v))
			e = expr_int(t, v);
		else if (!expr_read(t, item, &e, &number) || number != DT_I64)
			return false;
		if (*n < TYPE_DIMS_MOST)
			out[*n] = e;
		++*n;
	}
	return true;
}

/* cpu, cuda:0, privateuseone:1 */
static bool is_device(Str s)
{
	uint32_t i = 0, digits;
	while (i < s.n && ((s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '_'))
		i++;
	if (!i || i == s.n)
		return i > 0;
	if (s.p[i++] != ':')
		return false;
	for (digits = i; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		continue;
	return i == s.n && i > digits;
}

/* dtype[sizes], dtype[sizes][strides], each with or without a device. */
static TypeId read_tensor(Types *t, Str s, bool wrapped)
{
	uint32_t open = str_find_char(s, '[', 0), end, n;
	ExprId size[TYPE_DIMS_MOST], stride[TYPE_DIMS_MOST];
	Type v = {
		.kind = TK_TENSOR, .has_shape = true, .wrapped = wrapped, .size = size, .stride = stride};
	Str inside;
	v.dtype = dtype_by_shown(str_sub(s, 0, open));
	if (v.dtype == DT_NONE || !bracket_text(s, open, '[', ']', &inside, &end) ||
	    !read_dims(t, inside, size, &v.ndim))
		return (TypeId){0};
	s = str_sub(s, end, s.n);
	if (s.n && s.p[0] == '[') {
		if (!bracket_text(s, 0, '[', ']', &inside, &end) || !read_dims(t, inside, stride, &n) ||
		    n != v.ndim)
			return (TypeId){0};
		v.has_stride = true;
		s = str_sub(s, end, s.n);
	}
	if (s.n && !is_device(s))
		return (TypeId){0};
	v.device = sym_intern(t->names, s);
	return type_intern(t, &v);
}

static TypeId read_sym(Types *t, Str s)
{
	Type v = {.kind = TK_SYM};
	if (!expr_read(t, s, &v.sym, &v.dtype))
		return (TypeId){0};
	return type_intern(t, &v);
}

static bool is_dotted(Str s)
{
	Str part;
	if (!s.n)
		return false;
	while (str_cut(&s, '.', &part))
		if (!str_is_ident(part))
			return false;
	return true;
}

static TypeId read_word(Types *t, Str s)
{
	static const struct {
		const char *text;
		TypeKind kind;
		DType dtype;
	} words[] = {
#define TYPEWORD(text, kind, dtype) {text, kind, dtype},
#include "typewords.def"
#undef TYPEWORD
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(s, str_from_c(words[i].text))) {
			Type v = {.kind = words[i].kind, .dtype = words[i].dtype};
			return type_intern(t, &v);
		}
	bool tensor =
		str_ends(s, S("Tensor")) || str_ends(s, S("Parameter")) || str_ends(s, S("Buffer"));
	return tensor && is_dotted(s) ? type_tensor_unknown(t) : (TypeId){0};
}

TypeId type_parse(Types *t, Str s)
{
	enum { WRAPPERS = 8 };
	bool wrapped = false;
	s = str_trim(s);
	for (int i = 0; i < WRAPPERS; i++) {
		uint32_t open = str_find_char(s, '(', 0), end;
		Str name = str_sub(s, 0, open), inside, inner;
		/* A bracket before the parenthesis: it belongs to a size. */
		if (open == s.n || !str_is_ident(name))
			break;
		if (!bracket_text(s, open, '(', ')', &inside, &end) || end != s.n)
			return (TypeId){0};
		if (str_eq(name, S("Sym")))
			return wrapped ? (TypeId){0} : read_sym(t, inside);
		if (!cut_item(&inside, &inner))
			return (TypeId){0};
		wrapped = true;
		s = str_trim(inner);
	}
	if (str_find_char(s, '[', 0) < s.n)
		return read_tensor(t, s, wrapped);
	return wrapped ? (TypeId){0} : read_word(t, s);
}

/* ---- text ---- */

static void text_dims(Types *t, const ExprId *v, uint32_t n, Buf *out)
{
	buf_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			buf_add(out, S(", "));
		buf_add(out, expr_text(t, v[i], out->a));
	}
	buf_char(out, ']');
}

Str type_text(Types *t, TypeId id, Arena *a)
{
	const Type *v = type_get(t, id);
	Buf out = {.a = a};
	switch (v->kind) {
	case TK_NONE: return S("?");
	case TK_OTHER: return S("other");
	case TK_SYM:
		buf_add(&out, S("Sym("));
		buf_add(&out, expr_text(t, v->sym, a));
		buf_char(&out, ')');
		return buf_str(&out);
	case TK_TENSOR: break;
	}
	if (v->wrapped)
		buf_add(&out, S("Subclass("));
	if (v->dtype != DT_NONE)
		buf_add(&out, dtype_shown(v->dtype));
	else
		buf_add(&out, v->has_shape ? S("?") : S("tensor"));
	if (v->has_shape)
		text_dims(t, v->size, v->ndim, &out);
	if (v->has_stride)
		text_dims(t, v->stride, v->ndim, &out);
	if (!sym_none(v->device)) {
		if (!v->has_shape)
			buf_char(&out, ' ');
		buf_add(&out, sym_str(t->names, v->device));
	}
	if (v->wrapped)
		buf_char(&out, ')');
	return buf_str(&out);
}
