/* SPDX-License-Identifier: MIT */
#include "read_call.h"

#include "read_scan.h"
#include "read_value.h"

bool pycall_is(Str s, Str *callee, Str *inside)
{
	uint32_t i = 0;
	while (i < s.n && (char_is_ident((unsigned char)s.p[i]) || s.p[i] == '.'))
		i++;
	if (!i || i == s.n || s.p[i] != '(' || scan_close(s, i) != s.n - 1)
		return false;
	*callee = str_sub(s, 0, i);
	*inside = str_sub(s, i + 1, s.n - 1);
	return true;
}

uint32_t pycall_parts(Str inside, PyCallPart *out, uint32_t most)
{
	uint32_t n = 0;
	for (uint32_t at = 0; at < inside.n && n < most; at++) {
		uint32_t end = scan_part(inside, at, inside.n);
		Str part = str_trim(str_sub(inside, at, end));
		at = end;
		if (!part.n)
			continue;
		uint32_t name = value_name_end(part, 0);
		bool keyed = name && name + 1 < part.n && part.p[name] == '=' && part.p[name + 1] != '=';
		out[n++] = (PyCallPart){keyed ? str_sub(part, 0, name) : (Str){0}, keyed ? str_ltrim(str_sub(part, name + 1, part.n)) : part};
	}
	return n;
}

Str pycall_part(const PyCallPart *v, uint32_t n, Str keyword)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(v[i].keyword, keyword))
			return v[i].value;
	return (Str){0};
}

bool pycall_dims(Types *t, Str list, ExprId *out, uint32_t *n)
{
	list = str_trim(list);
	*n = 0;
	if (list.n < 2 || (list.p[0] != '(' && list.p[0] != '[') || scan_close(list, 0) != list.n - 1)
		return false;
	for (uint32_t at = 1; at < list.n - 1; at++) {
		uint32_t end = scan_part(list, at, list.n - 1);
		Str dim = str_trim(str_sub(list, at, end));
		if (!dim.n)
			break;
		if (*n == TYPE_DIMS_MOST)
			return false;
		out[(*n)++] = expr_parse(t, dim);
		at = end;
	}
	return true;
}

TypeId pycall_type(Types *t, Str size, Str stride, DType dtype, Sym device)
{
	ExprId sizes[TYPE_DIMS_MOST], strides[TYPE_DIMS_MOST];
	uint32_t n, m;
	if (!pycall_dims(t, size, sizes, &n))
		return (TypeId){0};
	if (!stride.n)
		return type_contiguous_of(t, dtype, sizes, n, device);
	if (!pycall_dims(t, stride, strides, &m) || n != m)
		return (TypeId){0};
	Type v = {.kind = TK_TENSOR, .dtype = dtype, .has_shape = true, .has_stride = true, .ndim = n, .size = sizes, .stride = strides,
	          .device = device};
	return type_intern(t, &v);
}
