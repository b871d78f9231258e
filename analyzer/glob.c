/* SPDX-License-Identifier: MIT */
#include "glob.h"

/* ---- patterns ---- */

/* End of the set that begins at `at`; `at` when it never ends. */
static uint32_t set_end(Str p, uint32_t at)
{
	uint32_t i = at + 1;
	if (i < p.n && (p.p[i] == '!' || p.p[i] == '^'))
		i++;
	if (i < p.n && p.p[i] == ']')
		i++;
	while (i < p.n && p.p[i] != ']')
		i++;
	return i < p.n ? i + 1 : at;
}

static bool set_has(Str p, uint32_t at, uint32_t end, unsigned char c)
{
	uint32_t i = at + 1;
	bool not = p.p[i] == '!' || p.p[i] == '^', in = false;
	for (i += not; i + 1 < end; i++) {
		unsigned char lo = (unsigned char)p.p[i], hi = lo;
		if (i + 3 < end && p.p[i + 1] == '-') {
			hi = (unsigned char)p.p[i + 2];
			i += 2;
		}
		in |= c >= lo && c <= hi;
	}
	return in != not && c != '/';
}

/* One character of the text against what stands at *at, which moves on. */
static bool step(Str p, uint32_t *at, char c)
{
	uint32_t end;
	char k = p.p[*at];
	if (k == '[' && (end = set_end(p, *at)) > *at) {
		bool in = set_has(p, *at, end, (unsigned char)c);
		*at = end;
		return in;
	}
	++*at;
	return k == '?' ? c != '/' : k == c;
}

static bool is_double(Str p, uint32_t at)
{
	return at + 1 < p.n && p.p[at] == '*' && p.p[at + 1] == '*';
}

/* Where the last star stood and what it took so far; a `*` that fails gives way to the last `**`. */
typedef struct Star {
	uint32_t pattern, text;
	bool set;
	bool folders; /* of `**` and a slash: it takes whole parts of a path */
} Star;

static Star double_at(Str p, uint32_t at, uint32_t text)
{
	Star s = {at, text, true, false};
	while (s.pattern < p.n && p.p[s.pattern] == '*')
		s.pattern++;
	if (s.pattern < p.n && p.p[s.pattern] == '/' && (!at || p.p[at - 1] == '/')) {
		s.pattern++;
		s.folders = true;
	}
	return s;
}

/* Takes one more character, or one more part; false when there is none. */
static bool take(Star *star, Str s)
{
	if (!star->set || star->text >= s.n)
		return false;
	uint32_t next = star->folders ? str_find_char(s, '/', star->text) : star->text;
	star->text = next + 1;
	return next < s.n;
}

bool glob_match(Str p, Str s)
{
	Star one = {0}, two = {0};
	uint32_t i = 0, k = 0;
	while (k < s.n || i < p.n) {
		if (i < p.n && is_double(p, i)) {
			two = double_at(p, i, k);
			i = two.pattern;
			one.set = false;
		} else if (i < p.n && p.p[i] == '*') {
			one = (Star){++i, k, true, false};
		} else if (i < p.n && k < s.n && step(p, &i, s.p[k])) {
			k++;
		} else if (one.set && one.text < s.n && s.p[one.text] != '/') {
			k = ++one.text;
			i = one.pattern;
		} else if (take(&two, s)) {
			k = two.text;
			i = two.pattern;
			one.set = false;
		} else {
			return false;
		}
	}
	return true;
}

bool glob_path(Str pattern, Str path)
{
	if (str_has(pattern, S("/")))
		return glob_match(pattern, path);
	uint32_t cut = str_rfind(path, S("/"));
	return glob_match(pattern, cut < path.n ? str_sub(path, cut + 1, path.n) : path);
}

Str glob_fault(Str p)
{
	for (uint32_t i = 0; i < p.n; i++)
		if (p.p[i] == '[') {
			uint32_t end = set_end(p, i);
			if (end == i)
				return S("[ without ]");
			i = end - 1;
		}
	return (Str){0};
}

/* ---- paths ---- */

/* Adds the parts of `path` to `out`, which holds none or ends without '/'. */
static void add_parts(Buf *out, Str path)
{
	Str part;
	while (str_cut(&path, '/', &part)) {
		uint32_t last = str_rfind(buf_str(out), S("/"));
		Str top = last < out->n ? str_sub(buf_str(out), last + 1, out->n) : buf_str(out);
		bool root = out->n == 1 && out->p[0] == '/';
		if (!part.n || str_eq(part, S(".")))
			continue;
		if (str_eq(part, S("..")) && root)
			continue;
		if (str_eq(part, S("..")) && top.n && !str_eq(top, S(".."))) {
			out->n = last < out->n ? (last ? last : 1) : 0;
			continue;
		}
		if (out->n && !root)
			buf_char(out, '/');
		buf_add(out, part);
	}
}

Str path_join(Arena *a, Str folder, Str path)
{
	Buf b = {.a = a};
	if (path.n && path.p[0] == '/')
		folder = S("/");
	if (folder.n && folder.p[0] == '/')
		buf_char(&b, '/');
	add_parts(&b, folder);
	add_parts(&b, path);
	return b.n ? buf_str(&b) : S(".");
}

Str path_below(Arena *a, Str folder, Str path)
{
	Str base = path_join(a, folder, S(".")), whole = path_join(a, S("."), path);
	if (str_eq(base, S(".")))
		return whole;
	if (str_eq(base, S("/")))
		return str_starts(whole, base) ? str_sub(whole, 1, whole.n) : whole;
	if (str_starts(whole, base) && whole.n > base.n && whole.p[base.n] == '/')
		return str_sub(whole, base.n + 1, whole.n);
	return whole;
}

Str path_folder(Str path)
{
	uint32_t cut = str_rfind(path, S("/"));
	return cut == path.n ? S(".") : cut ? str_sub(path, 0, cut) : S("/");
}
