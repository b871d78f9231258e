/* SPDX-License-Identifier: MIT */
#include "sim_args.h"

#include "sim_host.h"
#include "sim_rest.h"

/* One more than the greatest index among the variables that are read before they are written; *local: the least index
 * among the others. False: it cannot be told. */
static bool find_parameters(const Code *c, Arena *scratch, uint32_t *n, uint32_t *local)
{
	CodeRest all;
	ArenaMark mark = arena_mark(scratch);
	bool known = c && c->n && code_rest(c, c->ins[0].offset, scratch, &all);
	*n = 0;
	*local = INS_NONE;
	if (known) {
		uint8_t *read = NEW_N(scratch, uint8_t, c->nvars + 1);
		for (uint32_t i = 0; i < all.nlive; i++) {
			read[all.live[i]] = 1;
			*n = c->vars[all.live[i]].index >= *n ? c->vars[all.live[i]].index + 1 : *n;
		}
		for (uint32_t i = 0; i < c->nvars; i++)
			if (!read[i] && !c->vars[i].cell && !c->vars[i].free && c->vars[i].index < *local)
				*local = c->vars[i].index;
	}
	arena_rewind(scratch, mark);
	return known;
}

static uint32_t index_named(const Code *c, const Names *names, Str name)
{
	for (uint32_t i = 0; i < c->nvars; i++)
		if (!c->vars[i].free && !c->vars[i].deref && str_eq(sym_str(names, c->vars[i].name), name))
			return c->vars[i].index;
	return UINT32_MAX;
}

/* Variables stand in the order of their indices, parameters first, and of these *args and **kwargs last: the first local
 * says how many there are, those that are never used too. */
uint32_t code_takes(const Code *c, const Names *names, Arena *scratch)
{
	uint32_t n, local;
	uint32_t kwargs = index_named(c, names, S("kwargs")), args = index_named(c, names, S("args"));
	if (kwargs != UINT32_MAX && (args == UINT32_MAX || args + 1 == kwargs))
		return kwargs + 1;
	bool known = find_parameters(c, scratch, &n, &local) && local != INS_NONE && local >= n;
	return known ? local : UINT32_MAX;
}

static bool one_of(Str name, const Str *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(v[i], name))
			return true;
	return false;
}

static bool loads(const Code *c, uint32_t i, uint32_t index)
{
	const Ins *in = &c->ins[i];
	return in->row->act == ACT_LOAD && in->var != INS_NONE && c->vars[in->var].index == index && !c->vars[in->var].cell;
}

/* len(v), v as something to iterate over, f(*v): of a tensor too, but rarely. */
static bool is_counted(Sim *s, const Code *c, uint32_t index)
{
	static const Str names[] = {STR_INIT("len"),       STR_INIT("list"),     STR_INIT("tuple"), STR_INIT("zip"),
	                            STR_INIT("enumerate"), STR_INIT("reversed"), STR_INIT("map"),   STR_INIT("iter")};
	for (uint32_t i = 0; c && i + 1 < c->n; i++) {
		if (!loads(c, i, index))
			continue;
		Act next = (Act)c->ins[i + 1].row->act;
		if (next == ACT_ITER || next == ACT_UNPACK || next == ACT_CALL_EX || next == ACT_ADD || next == ACT_TO_TUPLE)
			return true;
		if (i && c->ins[i - 1].row->act == ACT_GLOBAL && one_of(sym_str(s->names, c->ins[i - 1].name), names, sizeof names / sizeof *names))
			return true;
	}
	return false;
}

/* Code that Dynamo made names items of a parameter only where it is a container: what tensors hold is in graphs. */
static bool takes_items(const Code *modified, uint32_t index)
{
	for (uint32_t i = 0; modified && i + 2 < modified->n; i++) {
		uint32_t k = i + 1;
		if (!loads(modified, i, index))
			continue;
		if (k + 3 < modified->n && modified->ins[k].row->act == ACT_COPY && modified->ins[k + 1].row->act == ACT_STORE)
			k += 2;
		if (modified->ins[k].row->act == ACT_CONST && modified->ins[k + 1].row->act == ACT_GETITEM)
			return true;
	}
	return false;
}

/* v['name'], v.get(...), v.items() */
static bool takes_keys(Sim *s, const Code *c, uint32_t index)
{
	static const Str names[] = {STR_INIT("get"), STR_INIT("items"), STR_INIT("keys"), STR_INIT("values"), STR_INIT("setdefault")};
	for (uint32_t i = 0; c && i + 2 < c->n; i++) {
		const Ins *next = &c->ins[i + 1];
		if (!loads(c, i, index))
			continue;
		Str repr = ins_repr(c, next);
		bool text = repr.n && (repr.p[0] == '\'' || repr.p[0] == '"');
		if (next->row->act == ACT_CONST && text && c->ins[i + 2].row->act == ACT_GETITEM)
			return true;
		if (next->row->act == ACT_ATTR && one_of(sym_str(s->names, next->name), names, sizeof names / sizeof *names))
			return true;
	}
	return false;
}

/* Keywords that name a variable go to it, the others into a dict; true when there are such. */
static bool split_names(Sim *s, const Code *c, const SimCall *call, FrameArgs *out)
{
	uint32_t positional = call->nargs - call->nnames;
	Ref *named = NEW_N(s->scratch, Ref, call->nnames + 1), *rest = NEW_N(s->scratch, Ref, 2 * (size_t)call->nnames + 1);
	Sym *names = NEW_N(s->scratch, Sym, call->nnames + 1);
	uint32_t nrest = 0;
	for (uint32_t i = 0; i < call->nnames; i++) {
		if (code_var(c, call->names[i]) != INS_NONE) {
			names[out->nnamed] = call->names[i];
			named[out->nnamed++] = call->args[positional + i];
			continue;
		}
		rest[nrest++] = host_string(s, sym_str(s->names, call->names[i]));
		rest[nrest++] = call->args[positional + i];
	}
	out->named = named;
	out->names = names;
	if (nrest)
		out->keywords = sim_list(s, HK_DICT, rest, nrest);
	return nrest != 0;
}

/* Where **kwargs stands: the last parameter, which the first local says, or that is used as a dict. */
static bool place_keywords(Sim *s, const Code *code, uint32_t *takes)
{
	uint32_t n, local;
	if (*takes == UINT32_MAX && find_parameters(code, s->scratch, &n, &local) && n && takes_keys(s, code, n - 1))
		*takes = n;
	return *takes != UINT32_MAX && *takes;
}

/* Is the dict of a parameter merged into that of a call: f(**v)? */
static bool is_merged(const Code *c, uint32_t index)
{
	for (uint32_t i = 0; c && i + 1 < c->n; i++) {
		const Ins *next = &c->ins[i + 1];
		bool loaded = c->ins[i].var != INS_NONE && c->vars[c->ins[i].var].index == index &&
		              (c->ins[i].row->act == ACT_LOAD || c->ins[i].row->act == ACT_DEREF);
		bool merges = next->row->act == ACT_ADD && (next->row->k == ADD_DICT_MERGE || next->row->k == ADD_DICT_UPDATE);
		if (loaded && (merges || (next->row->act == ACT_CALL_EX && next->arg & 1)))
			return true;
	}
	return false;
}

static bool is_named(Sim *s, const Code *c, uint32_t index, Str name)
{
	uint32_t var = code_local(c, index);
	for (uint32_t i = 0; var == INS_NONE && i < c->nvars; i++) /* it lives in a cell */
		var = c->vars[i].cell && !c->vars[i].free && c->vars[i].index == index ? i : var;
	return var != INS_NONE && str_eq(sym_str(s->names, c->vars[var].name), name);
}

/* Which parameters are *args and **kwargs; UINT32_MAX: there is none. */
typedef struct Stars {
	uint32_t args, keywords, fixed;
} Stars;

/* `sure`: only by the names that everybody gives them. */
static Stars find_stars(Sim *s, const Code *original, const Code *modified, uint32_t takes, bool sure)
{
	const Code *c = original ? original : modified;
	Stars st = {UINT32_MAX, UINT32_MAX, takes};
	uint32_t last = takes - 1;
	if (takes && takes != UINT32_MAX && (is_named(s, c, last, S("kwargs")) || (!sure && (takes_keys(s, c, last) || is_merged(c, last)))))
		st.keywords = --st.fixed;
	last = st.fixed - 1;
	if (st.fixed && st.fixed != UINT32_MAX &&
	    (is_named(s, c, last, S("args")) || (!sure && (takes_items(modified, last) || is_counted(s, c, last)))))
		st.args = --st.fixed;
	return st;
}

/* ---- keywords of which the names are not known ---- */

enum { ITEMS_MOST = 64 };

/* Items of *args and **kwargs that code which Dynamo made reads: how many of the former, names of the latter in order. */
typedef struct ReadItems {
	uint32_t positional, n;
	Sym names[ITEMS_MOST];
} ReadItems;

static const Ins *item_read(const Code *c, uint32_t i, uint32_t index)
{
	uint32_t k = i + 1;
	if (index == UINT32_MAX || !loads(c, i, index))
		return NULL;
	if (k + 3 < c->n && c->ins[k].row->act == ACT_COPY && c->ins[k + 1].row->act == ACT_STORE)
		k += 2;
	return k + 1 < c->n && c->ins[k].row->act == ACT_CONST && c->ins[k + 1].row->act == ACT_GETITEM ? &c->ins[k] : NULL;
}

static void add_name(ReadItems *r, Sym name)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (sym_eq(r->names[i], name))
			return;
	if (r->n < ITEMS_MOST)
		r->names[r->n++] = name;
}

static ReadItems items_read(Sim *s, Machine *m, const Code *c, const Stars *st)
{
	ReadItems r = {0};
	for (uint32_t i = 0; c && i < c->n; i++) {
		const Ins *at = item_read(c, i, st->args), *named = item_read(c, i, st->keywords);
		int64_t k;
		Str name;
		if (at && host_int(s, host_constant(s, m, ins_repr(c, at)), &k) && k >= 0 && k < ITEMS_MOST && k >= r.positional)
			r.positional = (uint32_t)k + 1;
		if (named && host_text(s, host_constant(s, m, ins_repr(c, named)), &name))
			add_name(&r, host_sym(s, name));
	}
	return r;
}

/* Names that the listing does not print, of a call of f(..., *args, **kwargs): Dynamo reads the keywords of a call in their
 * order. */
static SimCall name_keywords(Sim *s, Machine *m, const Code *modified, const Stars *st, const SimCall *c)
{
	ReadItems r = items_read(s, m, modified, st);
	SimCall out = *c;
	uint32_t positional = st->fixed + r.positional;
	out.names_hidden = false;
	if (st->keywords == UINT32_MAX || positional >= c->nargs || !r.n)
		return out;
	uint32_t left = c->nargs - positional;
	Sym *names = NEW_N(s->scratch, Sym, left + 1);
	for (uint32_t i = 0; i < left; i++)
		names[i] = i < r.n ? r.names[i] : host_sym(s, str_printf(s->scratch, "keyword %u", i));
	out.names = names;
	out.nnames = left;
	return out;
}

/* Of a function without such parameters: taken in their order, as most are given. Constants stand in the code that Dynamo
 * makes. */
static uint32_t taken_in_order(Sim *s, const SimCall *c, uint32_t n)
{
	while (c->names_hidden && n && sim_obj(s, c->args[n - 1])->kind != HK_TENSOR && host_reads_nothing(s, c->args[n - 1]))
		n--;
	return n;
}

/* Is an item of *args or **kwargs given that code which was made for a call names? */
static bool gives_item(Sim *s, const SimCall *c, const Stars *st, bool keywords, Ref key)
{
	int64_t k;
	Str name;
	if (keywords) {
		bool given = c->map || c->names_hidden || !host_text(s, key, &name);
		for (uint32_t i = 0; i < c->nnames && !given; i++)
			given = str_eq(sym_str(s->names, c->names[i]), name);
		return given;
	}
	uint32_t positional = c->nargs - c->nnames;
	return c->rest || c->names_hidden || !host_int(s, key, &k) || (k >= 0 && st->fixed + k < positional);
}

bool frame_gets(Sim *s, Machine *m, const Code *original, const Code *modified, uint32_t takes, const SimCall *c)
{
	Stars st = find_stars(s, original, modified, takes, true);
	uint32_t given = 0, missing = 0;
	for (uint32_t i = 0; modified && i < modified->n; i++) {
		const Ins *at = item_read(modified, i, st.args), *named = item_read(modified, i, st.keywords);
		if (!at && !named)
			continue;
		bool gives = gives_item(s, c, &st, named != NULL, host_constant(s, m, ins_repr(modified, named ? named : at)));
		given += gives;
		missing += !gives;
	}
	return missing <= given; /* an arm that was not taken may have added some */
}

static Ref opened_tuple(Sim *s, const Ref *v, uint32_t n, Ref rest)
{
	if (!n && rest)
		return rest;
	Ref r = sim_list(s, HK_TUPLE, v, n);
	sim_obj(s, r)->opened = rest != 0;
	sim_obj(s, r)->c = rest;
	return r;
}

/* f(a, b, *rest, **map), or of a function that has such parameters: those that no known argument reaches are parts of what
 * is not known, or have defaults. */
static FrameArgs star_args(Sim *s, Machine *m, const Code *original, const Code *modified, uint32_t takes, const SimCall *c, bool sure)
{
	const Code *code = original ? original : modified;
	FrameArgs out = {.v = c->args, .n = c->nargs - c->nnames};
	uint32_t n, local;
	if (takes == UINT32_MAX && find_parameters(code, s->scratch, &n, &local))
		takes = n;
	split_names(s, code, c, &out);
	if (takes == UINT32_MAX)
		return out;
	Stars st = find_stars(s, original, modified, takes, sure);
	Ref *v = NEW_N(s->scratch, Ref, takes + 1);
	for (uint32_t i = 0; i < st.fixed; i++) {
		uint32_t var = code_local(code, i);
		bool named = var != INS_NONE && c->map;
		v[i] = 0;
		if (i < out.n)
			v[i] = out.v[i];
		else if (!c->rest && !c->map)
			continue;
		else if (named && !(c->rest && st.args == UINT32_MAX))
			v[i] = host_get_item(s, m, c->map, host_string(s, sym_str(s->names, code->vars[var].name)));
		else
			v[i] = c->rest ? host_get_item(s, m, c->rest, sim_int(s, i - out.n)) : host_fresh(s, m);
	}
	uint32_t over = out.n > st.fixed ? out.n - st.fixed : 0;
	if (over && st.args == UINT32_MAX)
		sim_unsure(s, S("a function gets more arguments than its listing names"));
	if (st.args != UINT32_MAX)
		v[st.args] = opened_tuple(s, out.v + out.n - over, over, c->rest);
	if (st.keywords != UINT32_MAX)
		v[st.keywords] = c->map && !out.keywords ? c->map : out.keywords ? out.keywords : sim_list(s, HK_DICT, NULL, 0);
	out.keywords = 0;
	out.v = v;
	out.n = takes;
	return out;
}

FrameArgs frame_args(Sim *s, Machine *m, const Code *original, const Code *modified, uint32_t takes, const SimCall *c)
{
	Stars sure = find_stars(s, original, modified, takes, true);
	if (c->rest || c->map)
		return star_args(s, m, original, modified, takes, c, false);
	if (sure.args != UINT32_MAX || sure.keywords != UINT32_MAX) {
		SimCall named = c->names_hidden ? name_keywords(s, m, modified, &sure, c) : *c;
		return star_args(s, m, original, modified, takes, &named, true);
	}
	const Code *code = original ? original : modified;
	FrameArgs out = {.v = c->args, .n = taken_in_order(s, c, c->nargs - c->nnames)};
	if (split_names(s, code, c, &out)) {
		if (!place_keywords(s, code, &takes)) {
			sim_unsure(s, S("a function gets keywords that its listing does not name"));
			return out;
		}
		out.keywords_at = --takes;
	}
	if (takes == UINT32_MAX || out.n < takes || !takes)
		return out;
	bool items = takes_items(modified, takes - 1);
	if (out.n == takes && !(items && sim_is_tensor(s, out.v[takes - 1])))
		return out;
	if (out.nnamed || !(items || is_counted(s, code, takes - 1) || out.keywords)) {
		sim_unsure(s, S("a function gets more arguments than its listing names"));
		return out;
	}
	Ref *v = NEW_N(s->scratch, Ref, takes);
	memcpy(v, out.v, (takes - 1) * sizeof *v);
	v[takes - 1] = sim_list(s, HK_TUPLE, out.n >= takes ? out.v + takes - 1 : NULL, out.n - takes + 1);
	out.v = v;
	out.n = takes;
	return out;
}
