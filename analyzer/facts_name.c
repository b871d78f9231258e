/* SPDX-License-Identifier: MIT
 * From the spelling in a dump to the name in the tables. Spellings as in torch/fx/graph.py and
 * torch/fx/node.py (PyTorch 2.6): _get_qualified_name, add_global, _pretty_print_target; rows of
 * print_tabular as torch.ops prints them. */
#include "facts_priv.h"

static bool take(Str *s, Str prefix)
{
	if (!str_starts(*s, prefix))
		return false;
	*s = str_sub(*s, prefix.n, s->n);
	return true;
}

static bool has_dot(Str s)
{
	return str_find_char(s, '.', 0) < s.n;
}

/* Group of prefix + name + suffix. */
static uint32_t group_of(const Facts *f, Family family, Str prefix, Str name, Str suffix)
{
	char buf[MAX_NAME];
	if (!prefix.n && !suffix.n)
		return facts_group(f, family, name);
	if ((uint64_t)prefix.n + name.n + suffix.n > sizeof buf)
		return 0;
	if (prefix.n)
		memcpy(buf, prefix.p, prefix.n);
	if (name.n)
		memcpy(buf + prefix.n, name.p, name.n);
	if (suffix.n)
		memcpy(buf + prefix.n + name.n, suffix.p, suffix.n);
	return facts_group(f, family, (Str){buf, prefix.n + name.n + suffix.n});
}

Str facts_mangle(Str name, char buf[MAX_NAME])
{
	if (name.n > MAX_NAME)
		return (Str){0};
	for (uint32_t i = 0; i < name.n; i++)
		buf[i] = name.p[i] == '.' ? '_' : name.p[i];
	return (Str){buf, name.n};
}

/* and_ is printed by its function, `and` may come from the syntax. */
static uint32_t operator_group(const Facts *f, Str name)
{
	uint32_t g = facts_group(f, FAM_OPERATOR, name);
	return g ? g : group_of(f, FAM_OPERATOR, (Str){0}, name, S("_"));
}

/* torch.ops.NAMESPACE.NAME.OVERLOAD, whole. A user's row for the packet speaks for overloads it
 * does not list. */
static uint32_t dispatch_group(const Facts *f, Str name)
{
	static const Str hop = STR_INIT("torch.ops.higher_order.");
	Str rest = name;
	if (str_starts(name, hop))
		return facts_group(f, FAM_HOP, name);
	uint32_t g = facts_group(f, FAM_DISPATCH, name);
	if (g || !take(&rest, S("torch.ops.")))
		return g;
	uint32_t dot = str_find_char(rest, '.', 0);
	uint32_t last = str_find_char(rest, '.', dot + 1);
	if (dot == rest.n) /* torch.ops.wrap: a higher-order operator of 2.0 (torch/_ops.py) */
		return group_of(f, FAM_HOP, hop, rest, (Str){0});
	if (last == rest.n) {
		g = group_of(f, FAM_DISPATCH, (Str){0}, name, S(".default"));
	} else {
		g = facts_group(f, FAM_DISPATCH, str_sub(name, 0, name.n - (rest.n - last)));
	}
	return g && f->groups.v[g].first->fact.user ? g : 0;
}

/* Names that stand in the tables as they are. */
static uint32_t exact_function(const Facts *f, Str t)
{
	uint32_t g = 0;
	Str rest = t;
	if (str_starts(t, S("torch.ops.")))
		g = dispatch_group(f, t);
	if (!g && str_starts(t, S("torch.")))
		g = facts_group(f, FAM_TORCH, t);
	if (!g && (take(&rest, S("operator.")) || take(&rest, S("_operator."))))
		g = operator_group(f, rest);
	if (!g)
		g = facts_group(f, FAM_BUILTIN, t);
	if (!g)
		g = facts_group(f, FAM_NUMPY, t);
	return g;
}

/* A function whose module is not torch, or that belongs to the tensor class, becomes one
 * identifier. */
static uint32_t mangled_function(const Facts *f, Str t)
{
	static const Str methods[] = {STR_INIT("torch_Tensor_"), STR_INIT("torch__tensor_Tensor_"),
	                              STR_INIT("torch__tensor_"), STR_INIT("torch__C_TensorBase_"),
	                              STR_INIT("torch__C__TensorBase_")};
	uint32_t g = exact_function(f, t);
	if (g)
		return g;
	Sym sym = sym_find(f->names, t);
	if (!sym_none(sym) && (g = map_get(&f->by_mangled, sym.i)))
		return g;
	for (uint32_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		Str rest = t;
		if (take(&rest, methods[i]) && (g = facts_group(f, FAM_METHOD, rest)))
			return g;
	}
	Str rest = t;
	if (take(&rest, S("_operator_")) || take(&rest, S("operator_")))
		return operator_group(f, rest);
	/* np.round_ is np.round. */
	if (str_starts(t, S("torch__dynamo_utils_wrapped_")) && str_ends(t, S("_")))
		return facts_group(f, FAM_NUMPY, str_sub(t, 0, t.n - 1));
	return 0;
}

/* name_12 -> name: a second object of one name. The same string when there is no number. */
static Str without_number(Str t)
{
	uint32_t n = t.n;
	while (n && t.p[n - 1] >= '0' && t.p[n - 1] <= '9')
		n--;
	return n < t.n && n > 1 && t.p[n - 1] == '_' ? str_sub(t, 0, n - 1) : t;
}

static uint32_t plain_function(const Facts *f, Str t)
{
	uint32_t g = mangled_function(f, t);
	Str base = without_number(t);
	if (!g && base.n < t.n)
		g = mangled_function(f, base);
	/* print_tabular shows a higher-order operator by its bare name. */
	return g ? g : group_of(f, FAM_HOP, S("torch.ops.higher_order."), t, (Str){0});
}

/* Modules through which one function can be reached: the right one is tried when the left one has
 * no row. */
static const struct {
	Str from, to;
} twins[] = {
	{STR_INIT("torch._C._nn."), STR_INIT("torch.nn.functional.")},
	{STR_INIT("torch.nn.functional."), STR_INIT("torch._C._nn.")},
	{STR_INIT("torch.nn.functional."), STR_INIT("torch.")},
	{STR_INIT("torch.functional."), STR_INIT("torch.")},
	{STR_INIT("torch._VF."), STR_INIT("torch.")},
	{STR_INIT("torch._C._VariableFunctions."), STR_INIT("torch.")},
	{STR_INIT("torch._C._VariableFunctionsClass."), STR_INIT("torch.")},
	{STR_INIT("torch._C._linalg.linalg_"), STR_INIT("torch.linalg.")},
	{STR_INIT("torch.linalg."), STR_INIT("torch._C._linalg.linalg_")},
	{STR_INIT("torch._C._special.special_"), STR_INIT("torch.special.")},
	{STR_INIT("torch.special."), STR_INIT("torch._C._special.special_")},
	{STR_INIT("torch._C._fft.fft_"), STR_INIT("torch.fft.")},
	{STR_INIT("torch.fft."), STR_INIT("torch._C._fft.fft_")},
	{STR_INIT("torch.masked._ops."), STR_INIT("torch.masked.")},
	{STR_INIT("torch.masked."), STR_INIT("torch.masked._ops.")},
};

static uint32_t torch_twin(const Facts *f, Str t)
{
	static const Str methods[] = {STR_INIT("torch.Tensor."), STR_INIT("torch._tensor.Tensor."),
	                              STR_INIT("torch._tensor."), STR_INIT("torch._C.TensorBase."),
	                              STR_INIT("torch._C._TensorBase.")};
	uint32_t g;
	for (uint32_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		Str rest = t;
		if (take(&rest, methods[i]) && (g = facts_group(f, FAM_METHOD, rest)))
			return g;
	}
	for (uint32_t i = 0; i < sizeof twins / sizeof *twins; i++) {
		Str rest = t;
		if (take(&rest, twins[i].from) && !has_dot(rest) &&
		    (g = group_of(f, FAM_TORCH, twins[i].to, rest, (Str){0})))
			return g;
	}
	/* Some are printed by the module that defines them (seen in 2.4). */
	if (str_starts(t, S("torch._higher_order_ops.")) ||
	    str_starts(t, S("torch._functorch.autograd_function.")))
		return group_of(f, FAM_HOP, S("torch.ops.higher_order."),
		                str_sub(t, str_rfind(t, S(".")) + 1, t.n), (Str){0});
	return 0;
}

static uint32_t dotted_function(const Facts *f, Str t)
{
	char buf[MAX_NAME];
	uint32_t g = exact_function(f, t);
	if (!g && str_starts(t, S("torch.")))
		g = torch_twin(f, t);
	/* aten.view.default: tables and graph prints leave torch.ops out. */
	if (!g && !str_starts(t, S("torch.")) && (uint64_t)t.n + 10 <= sizeof buf) {
		memcpy(buf, "torch.ops.", 10);
		memcpy(buf + 10, t.p, t.n);
		g = dispatch_group(f, (Str){buf, t.n + 10});
	}
	/* Graph prints keep the dots that code prints replace. */
	if (!g)
		g = mangled_function(f, facts_mangle(t, buf));
	return g;
}

static uint32_t resolve(const Facts *f, Callee callee, Str t)
{
	switch (callee) {
	case CALLEE_METHOD: return facts_group(f, FAM_METHOD, t);
	case CALLEE_ATTR: return facts_group(f, FAM_ATTR, t);
	case CALLEE_OPERATOR: return operator_group(f, t);
	case CALLEE_MODULE: return facts_group(f, FAM_MODULE, t);
	case CALLEE_FUNCTION:
		take(&t, S("builtins."));
		return has_dot(t) ? dotted_function(f, t) : plain_function(f, t);
	case CALLEE_NONE: break;
	}
	return 0;
}

uint32_t facts_resolve(Facts *f, Callee callee, Str target)
{
	Sym sym = sym_find(f->names, target);
	if (sym_none(sym))
		return target.n <= MAX_NAME ? resolve(f, callee, target) : 0;
	uint64_t key = name_key((Family)callee, sym);
	uint32_t g = map_get(&f->resolved, key);
	if (!g) {
		g = target.n <= MAX_NAME ? resolve(f, callee, target) : 0;
		map_put(&f->resolved, key, g ? g : NO_GROUP);
	}
	return g == NO_GROUP ? 0 : g;
}

/* ---- did you mean ---- */

static uint64_t letters_of(Str s)
{
	uint64_t m = 0;
	for (uint32_t i = 0; i < s.n; i++)
		m |= (uint64_t)1 << (s.p[i] & 63);
	return m;
}

static bool has_more_bits(uint64_t x, uint32_t than)
{
	while (than-- && x)
		x &= x - 1;
	return x != 0;
}

static bool family_fits(Callee callee, Family f)
{
	switch (callee) {
	case CALLEE_METHOD: return f == FAM_METHOD;
	case CALLEE_ATTR: return f == FAM_ATTR;
	case CALLEE_OPERATOR: return f == FAM_OPERATOR;
	case CALLEE_MODULE: return f == FAM_MODULE;
	case CALLEE_FUNCTION:
		return f == FAM_TORCH || f == FAM_DISPATCH || f == FAM_HOP || f == FAM_BUILTIN ||
		       f == FAM_NUMPY;
	case CALLEE_NONE: break;
	}
	return false;
}

/* Levenshtein distance, at most `limit` + 1; looks only at the band of the matrix that can be
 * within the limit. */
static uint32_t name_distance(Str a, Str b, uint32_t limit)
{
	enum { MOST = 2, WIDTH = 2 * MOST + 3 };
	uint32_t row[WIDTH]; /* row[k]: distance of a[..i] and b[..i + k - 1 - limit]; both ends are out
	                        of the band */
	ASSERT(limit <= MOST);
	for (uint32_t k = 0; k < WIDTH; k++)
		row[k] = k > limit && k <= 2 * limit + 1 ? k - 1 - limit : limit + 1;
	for (uint32_t i = 0; i < a.n; i++) {
		uint32_t least = limit + 1;
		for (uint32_t k = 1; k <= 2 * limit + 1; k++) {
			uint32_t j = i + k - limit; /* of b, counted from 1; wraps below it */
			uint32_t d = row[k] + (j - 1 >= b.n || a.p[i] != b.p[j - 1]);
			if (row[k + 1] + 1 < d)
				d = row[k + 1] + 1;
			if (row[k - 1] + 1 < d)
				d = row[k - 1] + 1;
			row[k] = j == 0 ? i + 1 : j > b.n ? limit + 1 : d;
			if (row[k] < least)
				least = row[k];
		}
		if (least > limit)
			return limit + 1;
	}
	uint32_t k = b.n + 1 + limit - a.n;
	return k >= 1 && k <= 2 * limit + 1 && row[k] <= limit ? row[k] : limit + 1;
}

/* Orders the groups by the length of their names. */
static void index_lengths(Facts *f)
{
	uint32_t start[MAX_NAME + 2] = {0};
	for (uint32_t i = 1; i < f->groups.n; i++)
		start[sym_str(f->names, f->groups.v[i].name).n + 1]++;
	for (uint32_t n = 1; n < MAX_NAME + 2; n++)
		start[n] += start[n - 1];
	f->by_length = NEW_N(f->a, uint32_t, f->groups.n);
	f->length_at = NEW_N(f->a, uint32_t, MAX_NAME + 2);
	memcpy(f->length_at, start, sizeof start);
	for (uint32_t i = 1; i < f->groups.n; i++) {
		Str name = sym_str(f->names, f->groups.v[i].name);
		f->by_length[start[name.n]++] = i;
		f->groups.v[i].letters = letters_of(name);
	}
	f->indexed = f->groups.n;
}

static Str find_nearest(const Facts *f, Callee callee, Str target)
{
	uint32_t best = target.n < 4 ? 1 : target.n < 8 ? 2 : 3; /* less than this many edits away */
	uint32_t from = target.n < best ? 0 : target.n - best + 1;
	uint32_t to = target.n + best > MAX_NAME + 1 ? MAX_NAME + 1 : target.n + best;
	uint64_t letters = letters_of(target);
	Str near = {0};
	for (uint32_t i = f->length_at[from]; i < f->length_at[to] && best; i++) {
		const Group *g = &f->groups.v[f->by_length[i]];
		if (!family_fits(callee, g->family) || has_more_bits(g->letters ^ letters, 2 * (best - 1)))
			continue;
		Str name = sym_str(f->names, g->name);
		uint32_t d = name_distance(name, target, best - 1);
		if (d < best) {
			best = d;
			near = name;
		}
	}
	return near;
}

Str facts_nearest(Facts *f, Callee callee, Str target)
{
	if (target.n > MAX_NAME)
		return (Str){0};
	if (f->indexed != f->groups.n)
		index_lengths(f);
	Sym sym = sym_find(f->names, target);
	if (sym_none(sym))
		return find_nearest(f, callee, target);
	/* A graph may use one unknown operator ten thousand times. */
	uint64_t key = name_key((Family)callee, sym);
	uint32_t known = map_get(&f->nearest, key);
	if (!known) {
		Str near = find_nearest(f, callee, target);
		known = near.n ? sym_find(f->names, near).i : NO_GROUP;
		map_put(&f->nearest, key, known);
	}
	return known == NO_GROUP ? (Str){0} : sym_str(f->names, (Sym){known});
}
