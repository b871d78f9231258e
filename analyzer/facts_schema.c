/* SPDX-License-Identifier: MIT
 * Operator schemas as torch.library and op._schema write them
 * (torch/csrc/jit/frontend/function_schema_parser.cpp, schema_type_parser.cpp; PyTorch 2.6):
 *
 *     NAMESPACE::NAME[.OVERLOAD](TYPE NAME[=DEFAULT], ..., *, ...) -> TYPE | (TYPE [NAME], ...)
 *
 * (a) behind a tensor type names the memory it may share, (a!) says that it is written. */
#include "facts_priv.h"

enum {
	MOST_RESULTS = sizeof((FactOuts *)0)->member[0],
	MAX_ARGS = 128,
	MAX_OVERLOADS = 64, /* of one packet */
	MAX_DEPTH = 16, /* of brackets in a type or a default */
	WILDCARD = 26   /* bit of the alias set `*`; the sets a to z are bits 0 to 25 */
};

/* What a type says about memory. */
typedef struct SchemaType {
	bool tensor;            /* a tensor, or something that holds tensors */
	bool list, optional;
	bool write;             /* ! */
	uint32_t before;        /* alias sets, one bit each */
	uint32_t after;         /* behind -> in (a -> *), else as before */
} SchemaType;

typedef struct SchemaArg {
	SchemaType type;
	Sym name;
	bool keyword_only;
} SchemaArg;

typedef struct Schema {
	Str name;               /* torch.ops.NAMESPACE.NAME.OVERLOAD */
	VEC(SchemaArg) args;
	VEC(Param) params;
	SchemaType results[MOST_RESULTS];
	Str result_at[MOST_RESULTS]; /* where each stands */
	uint32_t nresults;
	bool any_results;       /* `...` */
} Schema;

static const Str type_words[] = {
#define TYPE_WORD(word) STR_INIT(word),
#include "schema_types.def"
#undef TYPE_WORD
};

enum { N_TYPE_WORDS = sizeof type_words / sizeof *type_words };

/* ---- reading ---- */

static void skip_blanks(Str *s)
{
	*s = str_ltrim(*s);
}

static bool take(Str *s, char c)
{
	skip_blanks(s);
	if (!s->n || s->p[0] != c)
		return false;
	*s = str_sub(*s, 1, s->n);
	return true;
}

static bool take_word(Str *s, Str word)
{
	skip_blanks(s);
	if (!str_starts(*s, word))
		return false;
	*s = str_sub(*s, word.n, s->n);
	return true;
}

static Str take_ident(Str *s)
{
	uint32_t n = 0;
	skip_blanks(s);
	while (n < s->n && char_is_ident((unsigned char)s->p[n]))
		n++;
	Str out = str_sub(*s, 0, n);
	if (!str_is_ident(out))
		return (Str){s->p, 0};
	*s = str_sub(*s, n, s->n);
	return out;
}

static bool expected(Load *l, Str at, const char *what)
{
	load_fault(l, at, "expected %s%s" STR_FMT, what, at.n ? " before " : " at the end",
	           STR_ARG(load_quote(l, at)));
	return false;
}

/* The letters of one side of an alias annotation: a, a|b, *. */
static bool parse_set(Load *l, Str *s, uint32_t *bits)
{
	do {
		skip_blanks(s);
		if (!s->n || !(s->p[0] == '*' || (s->p[0] >= 'a' && s->p[0] <= 'z')))
			return expected(l, *s, "an alias set, one letter or *,");
		*bits |= 1u << (s->p[0] == '*' ? WILDCARD : s->p[0] - 'a');
		*s = str_sub(*s, 1, s->n);
	} while (take(s, '|'));
	return true;
}

/* The annotation behind "(": a), a!), a -> *), a! -> b). Adds to what the type has already. */
static bool parse_alias(Load *l, Str *s, SchemaType *t)
{
	uint32_t before = 0, after = 0;
	if (take(s, '!')) {
		t->write = true;
		return take(s, ')') || expected(l, *s, ")");
	}
	if (!parse_set(l, s, &before))
		return false;
	if (take(s, '!'))
		t->write = true;
	if (take_word(s, S("->"))) {
		if (!parse_set(l, s, &after))
			return false;
		if (take(s, '!'))
			t->write = true;
	} else {
		after = before;
	}
	t->before |= before;
	t->after |= after;
	return take(s, ')') || expected(l, *s, ")");
}

/* A name of a type, with dots for classes of TorchScript. */
static bool parse_type_word(Load *l, Str *s, SchemaType *t)
{
	Str word = take_ident(s);
	if (!word.n)
		return expected(l, *s, "a type");
	if (str_eq(word, S("Tensor"))) {
		t->tensor = true;
		return true;
	}
	if (s->n && s->p[0] == '.' && str_eq(word, S("__torch__"))) {
		while (s->n && s->p[0] == '.') {
			*s = str_sub(*s, 1, s->n);
			if (!take_ident(s).n)
				return expected(l, *s, "the name of a class");
		}
		return true;
	}
	for (uint32_t i = 0; i < N_TYPE_WORDS; i++)
		if (str_eq(word, type_words[i]))
			return true;
	load_fault(l, word, "unknown type " STR_FMT STR_FMT, STR_ARG(load_quote(l, word)),
	           STR_ARG(load_hint(l, word, type_words, N_TYPE_WORDS)));
	return false;
}

static bool is_generic(Str word)
{
	static const Str words[] = {STR_INIT("Dict"),     STR_INIT("Tuple"),  STR_INIT("List"),
	                            STR_INIT("Optional"), STR_INIT("Future"), STR_INIT("Union"),
	                            STR_INIT("RRef"),     STR_INIT("Await")};
	for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(word, words[i]))
			return true;
	return false;
}

/* Suffixes of a type: (a!), [], [2], ?. Returns false on a fault. */
static bool parse_suffixes(Load *l, Str *s, SchemaType *t)
{
	for (;;) {
		/* No blanks before a suffix: what follows a blank is the name. */
		if (!s->n)
			return true;
		if (s->p[0] == '?') {
			*s = str_sub(*s, 1, s->n);
			t->optional = true;
		} else if (s->p[0] == '[') {
			*s = str_sub(*s, 1, s->n);
			skip_blanks(s);
			while (s->n && s->p[0] >= '0' && s->p[0] <= '9')
				*s = str_sub(*s, 1, s->n);
			if (!take(s, ']'))
				return expected(l, *s, "]");
			t->list = true;
			t->optional = false;
		} else if (s->p[0] == '(') {
			*s = str_sub(*s, 1, s->n);
			if (!parse_alias(l, s, t))
				return false;
		} else {
			return true;
		}
	}
}

/* A whole type. Groups, Dict(str, Tensor(a)) or (Tensor, int)[], are walked with a depth, not with
 * recursion. */
static bool parse_type(Load *l, Str *s, SchemaType *t)
{
	uint32_t depth = 0;
	*t = (SchemaType){0};
	for (;;) {
		skip_blanks(s);
		Str before = *s;
		if (take(s, '(')) {
			if (++depth > MAX_DEPTH)
				return expected(l, before, "fewer brackets");
			t->list = true;
			continue;
		}
		if (!parse_type_word(l, s, t))
			return false;
		if (s->n && s->p[0] == '(' && is_generic(str_sub(before, 0, before.n - s->n)))
			continue;
		for (;;) {
			if (!parse_suffixes(l, s, t))
				return false;
			if (!depth)
				return true;
			if (take(s, ','))
				break;
			if (!take(s, ')'))
				return expected(l, *s, ", or )");
			depth--;
		}
	}
}

/* A default, up to the comma or bracket behind it. */
static bool parse_default(Load *l, Str *s, Str *out)
{
	uint32_t depth = 0, i = 0;
	char quote = 0;
	skip_blanks(s);
	for (; i < s->n; i++) {
		char c = s->p[i];
		if (quote) {
			if (c == '\\')
				i++;
			else if (c == quote)
				quote = 0;
		} else if (c == '\'' || c == '"') {
			quote = c;
		} else if (c == '[' || c == '(') {
			if (++depth > MAX_DEPTH)
				return expected(l, str_sub(*s, i, s->n), "fewer brackets");
		} else if (c == ']' || c == ')') {
			if (!depth)
				break;
			depth--;
		} else if (c == ',' && !depth) {
			break;
		}
	}
	if (i > s->n)
		i = s->n;
	*out = str_trim(str_sub(*s, 0, i));
	if (quote || depth || !out->n)
		return expected(l, str_sub(*s, i, s->n),
		                quote   ? "the closing quote"
		                : depth ? "a closing bracket"
		                        : "a default");
	*s = str_sub(*s, i, s->n);
	return true;
}

static bool parse_arg(Load *l, Str *s, Schema *out, bool keyword_only)
{
	SchemaArg arg = {.keyword_only = keyword_only};
	Param p = {.keyword_only = keyword_only};
	if (!parse_type(l, s, &arg.type))
		return false;
	Str at = *s, name = take_ident(s);
	if (!name.n)
		return expected(l, *s, "the name of the argument");
	arg.name = p.name = sym_intern(l->f->names, name);
	for (uint32_t i = 0; i < out->args.n; i++)
		if (sym_eq(out->args.v[i].name, arg.name)) {
			load_fault(l, str_ltrim(at), "a second argument " STR_FMT,
			           STR_ARG(load_quote(l, name)));
			return false;
		}
	if (take(s, '=')) {
		if (!parse_default(l, s, &p.dflt))
			return false;
		p.dflt = str_copy(l->f->a, p.dflt);
	}
	VEC_PUSH(l->f->a, &out->args, arg);
	VEC_PUSH(l->f->a, &out->params, p);
	if (out->args.n > MAX_ARGS)
		return expected(l, *s, "fewer arguments");
	return true;
}

static bool parse_args(Load *l, Str *s, Schema *out)
{
	bool keyword_only = false;
	if (!take(s, '('))
		return expected(l, *s, "(");
	if (take(s, ')'))
		return true;
	do {
		if (take_word(s, S("..."))) {
			Param rest = {.name = sym_intern(l->f->names, S("args")), .variadic = true};
			VEC_PUSH(l->f->a, &out->params, rest);
		} else if (!keyword_only && take(s, '*')) {
			keyword_only = true;
		} else if (!parse_arg(l, s, out, keyword_only)) {
			return false;
		}
	} while (take(s, ','));
	return take(s, ')') || expected(l, *s, ", or )");
}

static bool parse_result(Load *l, Str *s, Schema *out)
{
	Str at = str_ltrim(*s);
	if (take_word(s, S("..."))) {
		out->any_results = true;
		return true;
	}
	SchemaType t;
	if (!parse_type(l, s, &t))
		return false;
	if (out->nresults == MOST_RESULTS) {
		load_fault(l, at, "more than %d results", (int)MOST_RESULTS);
		return false;
	}
	out->result_at[out->nresults] = at;
	out->results[out->nresults++] = t;
	take_ident(s); /* a result may have a name */
	return true;
}

static bool parse_results(Load *l, Str *s, Schema *out)
{
	if (!take_word(s, S("->")))
		return expected(l, *s, "->");
	if (!take(s, '('))
		return parse_result(l, s, out);
	if (take(s, ')'))
		return true;
	do {
		if (!parse_result(l, s, out))
			return false;
	} while (take(s, ','));
	return take(s, ')') || expected(l, *s, ", or )");
}

/* The line may be a row whose tabs became blanks. */
static bool looks_like_row(Str line)
{
	Str word = take_ident(&line);
	for (int i = FAM_NONE + 1; i < FAM_N; i++)
		if (str_eq(word, family_name((Family)i)) && line.n && line.p[0] == ' ')
			return true;
	return false;
}

static bool parse_name(Load *l, Str *s, Schema *out)
{
	Str start = *s, space = take_ident(s);
	if (looks_like_row(l->line)) {
		load_fault(l, start, "the columns of a row have tabs between them");
		return false;
	}
	if (!space.n || !take_word(s, S("::"))) {
		load_fault(l, start,
		           "expected a row with tabs between its columns, or a schema "
		           "NAMESPACE::NAME(TYPE NAME, ...) -> TYPE");
		return false;
	}
	Str name = take_ident(s), overload = S("default");
	if (!name.n)
		return expected(l, *s, "the name of the operator");
	if (take(s, '.')) {
		overload = take_ident(s);
		if (!overload.n)
			return expected(l, *s, "the name of the overload");
	}
	out->name = str_printf(l->f->a, "torch.ops." STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(space),
	                       STR_ARG(name), STR_ARG(overload));
	if (out->name.n > MAX_NAME || str_eq(space, S("higher_order"))) {
		load_fault(l, start,
		           out->name.n > MAX_NAME ? "a name is at most %d bytes long"
		                                  : "higher-order operators have no schema",
		           MAX_NAME);
		return false;
	}
	return true;
}

/* A set on a result is that of an argument or of another result, or else a slip. */
static bool check_sets(Load *l, const Schema *s)
{
	for (uint32_t r = 0; r < s->nresults; r++) {
		uint32_t known = 1u << WILDCARD;
		for (uint32_t i = 0; i < s->args.n; i++)
			known |= s->args.v[i].type.before | s->args.v[i].type.after;
		for (uint32_t i = 0; i < s->nresults; i++)
			known |= i == r ? 0 : s->results[i].before;
		if (s->results[r].before & ~known) {
			load_fault(l, s->result_at[r],
			           "the alias set of this result is not that of an argument");
			return false;
		}
	}
	return true;
}

static bool parse_schema(Load *l, Schema *out)
{
	Str s = str_ltrim(l->line);
	if (!parse_name(l, &s, out) || !parse_args(l, &s, out) || !parse_results(l, &s, out))
		return false;
	skip_blanks(&s);
	if (s.n && s.p[0] != '#')
		return expected(l, s, "the end of the line");
	return check_sets(l, out);
}

/* ---- meaning ---- */

static FactArg arg_entry(const Schema *s, uint32_t i)
{
	const SchemaArg *a = &s->args.v[i];
	return (FactArg){.index = (int16_t)i, .result = -1, .each = a->type.list, .name = a->name};
}

/* Adds the arguments whose memory result r may share; how many. */
static uint32_t result_shares(const Schema *s, uint32_t r, Fact *f)
{
	uint32_t first = f->nalias, sets = s->results[r].before | s->results[r].after;
	for (uint32_t i = 0; i < s->args.n; i++) {
		const SchemaType *t = &s->args.v[i].type;
		if (!t->tensor || !((t->before | t->after) & sets))
			continue;
		f->alias[f->nalias] = arg_entry(s, i);
		if (s->nresults > 1)
			f->alias[f->nalias].result = (int16_t)r;
		f->nalias++;
	}
	/* One of several arguments, or whatever is in the wildcard set: it cannot be told which. */
	for (uint32_t i = first; i < f->nalias; i++)
		f->alias[i].maybe = f->nalias - first > 1 || sets >> WILDCARD & 1;
	return f->nalias - first;
}

/* Results that share memory with one another. */
static bool results_share(const Schema *s)
{
	for (uint32_t i = 0; i < s->nresults; i++)
		for (uint32_t k = 0; k < i; k++)
			if (s->results[i].tensor && s->results[k].tensor &&
			    s->results[i].before & s->results[k].before)
				return true;
	return false;
}

typedef struct Shares {
	uint32_t tensors;  /* results that are or hold tensors */
	uint32_t sharing;  /* of them, those that share with an argument */
	uint32_t written;  /* of them, those that are a written argument handed back */
	uint32_t by_name;  /* of them, those whose argument has to be given by name */
	bool maybe;
} Shares;

/* Is every written argument one that has to be given by name, as out= is? */
static bool written_by_name(const Schema *s)
{
	for (uint32_t i = 0; i < s->args.n; i++)
		if (s->args.v[i].type.write && !s->args.v[i].keyword_only)
			return false;
	return true;
}

static FactKind schema_kind(const Schema *s, const Fact *f, const Shares *n)
{
	if (s->any_results)
		return FK_UNKNOWN;
	if (!s->nresults && f->nmutates && written_by_name(s))
		return FK_OUT;
	if (n->sharing && n->written == s->nresults)
		return n->by_name == s->nresults ? FK_OUT : FK_INPLACE;
	if (n->sharing > n->written)
		return n->maybe ? FK_MAYBE_VIEW : FK_VIEW;
	if (f->nmutates)
		return FK_MUTATES;
	return n->tensors ? FK_FRESH : s->nresults ? FK_SCALAR : FK_EFFECT;
}

static Fact schema_fact(Load *l, const Schema *s)
{
	Fact f = {.family = FAM_DISPATCH, .name = sym_intern(l->f->names, s->name)};
	Shares n = {0};
	f.mutates = NEW_N(l->f->a, FactArg, s->args.n);
	f.alias = NEW_N(l->f->a, FactArg, (size_t)s->args.n * s->nresults);
	for (uint32_t i = 0; i < s->args.n; i++)
		if (s->args.v[i].type.write)
			f.mutates[f.nmutates++] = arg_entry(s, i);
	f.outs.nalts = s->any_results ? 0 : 1;
	for (uint32_t r = 0; r < s->nresults; r++) {
		const SchemaType *t = &s->results[r];
		uint32_t first = f.nalias;
		n.tensors += t->tensor;
		if (t->tensor && result_shares(s, r, &f)) {
			n.sharing++;
			n.maybe |= f.alias[first].maybe;
			n.written += t->write && s->args.v[f.alias[first].index].type.write;
			n.by_name += s->args.v[f.alias[first].index].keyword_only;
		}
		f.outs.member[0][f.outs.n[0]++] = !t->tensor    ? 'v'
		                                  : t->list     ? 'L'
		                                  : t->optional ? 'o'
		                                                : 't';
	}
	if (s->any_results)
		f.outs = (FactOuts){0};
	if (results_share(s))
		f.tags |= (uint64_t)1 << FT_OUTS_SHARE;
	f.kind = schema_kind(s, &f, &n);
	return f;
}

void load_schema(Load *l)
{
	Schema s = {0};
	if (!parse_schema(l, &s))
		return;
	Fact f = schema_fact(l, &s);
	load_add(l, &f, str_ltrim(l->line));
	Overload *o = NEW(l->f->a, Overload);
	*o = (Overload){s.params.v, s.params.n};
	load_params(l, FAM_DISPATCH, f.name, o, 1);
	VEC_PUSH(l->f->a, &l->schemas, f.name);
}

/* ---- packets ---- */

static Str packet_of(Str name)
{
	return str_sub(name, 0, str_rfind(name, S(".")));
}

/* Does it write out=, and nothing else? */
static bool is_out_overload(const Load *l, const Fact *f)
{
	return f->kind == FK_OUT && f->nmutates == 1 &&
	       str_eq(sym_str(l->f->names, f->mutates[0].name), S("out"));
}

/* A packet is printed without its overload: torch.ops.mylib.foo(x). Its row joins the overloads;
 * one that writes out= is the tag out_kw, or the row when there is no other. */
static void add_packet(Load *l, Str packet, const Sym *names, uint32_t n)
{
	const Fact **rows = NEW_N(l->f->a, const Fact *, n);
	VEC(Overload) params = {0};
	uint32_t nrows = 0;
	bool out_kw = false;
	for (int outs = 0; outs < 2 && !nrows; outs++)
		for (uint32_t i = 0; i < n; i++) {
			const Group *g = &l->staged.v[map_get(&l->by_name, name_key(FAM_DISPATCH, names[i]))];
			bool out = is_out_overload(l, &g->first->fact);
			out_kw |= out;
			if (out && !outs)
				continue;
			rows[nrows++] = &g->first->fact;
			for (uint32_t k = 0; k < g->nparams; k++)
				VEC_PUSH(l->f->a, &params, g->params[k]);
		}
	if (n > MAX_OVERLOADS) {
		load_fault(l, l->line, STR_FMT " has more than %d overloads", STR_ARG(packet),
		           MAX_OVERLOADS);
		return;
	}
	Sym name = sym_intern(l->f->names, packet);
	uint32_t own = map_get(&l->by_name, name_key(FAM_DISPATCH, name));
	if (!nrows || (own && l->staged.v[own].first))
		return; /* the file has a row of its own for the packet */
	Fact f = nrows == 1 ? *rows[0] : facts_join(l->f->a, rows, nrows);
	f.name = name;
	if (out_kw && f.kind != FK_OUT)
		f.tags |= (uint64_t)1 << FT_OUT_KW;
	if (f.joined && f.kind == FK_MAYBE_VIEW)
		f.cond = FC_OVERLOAD;
	l->line_no = rows[0]->line;
	load_add(l, &f, l->line);
	load_params(l, FAM_DISPATCH, name, params.v, params.n);
}

void load_packets(Load *l)
{
	Map chain = {.a = l->f->a}; /* packet -> last schema of it so far, plus 1 */
	uint32_t *prev = NEW_N(l->f->a, uint32_t, l->schemas.n);
	VEC(Sym) packets = {0};
	for (uint32_t i = 0; i < l->schemas.n; i++) {
		Sym packet = sym_intern(l->f->names, packet_of(sym_str(l->f->names, l->schemas.v[i])));
		prev[i] = map_get(&chain, packet.i);
		if (!prev[i])
			VEC_PUSH(l->f->a, &packets, packet);
		map_put(&chain, packet.i, i + 1);
	}
	for (uint32_t i = 0; i < packets.n; i++) {
		VEC(Sym) names = {0};
		for (uint32_t k = map_get(&chain, packets.v[i].i); k; k = prev[k - 1])
			VEC_PUSH(l->f->a, &names, l->schemas.v[k - 1]);
		for (uint32_t k = 0; k < names.n / 2; k++) {
			Sym t = names.v[k];
			names.v[k] = names.v[names.n - 1 - k];
			names.v[names.n - 1 - k] = t;
		}
		add_packet(l, sym_str(l->f->names, packets.v[i]), names.v, names.n);
	}
}
