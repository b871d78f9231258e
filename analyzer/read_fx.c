/* SPDX-License-Identifier: MIT */
#include "read_fx.h"

FxOp fx_op(Str word)
{
	static const Str words[] = {STR_INIT(""),
	                            STR_INIT("placeholder"),
	                            STR_INIT("get_attr"),
	                            STR_INIT("call_function"),
	                            STR_INIT("call_method"),
	                            STR_INIT("call_module"),
	                            STR_INIT("output")};
	for (uint32_t i = 1; i < sizeof words / sizeof *words; i++)
		if (str_eq(words[i], word))
			return (FxOp)i;
	return FX_NONE;
}

void fx_begin(FxReader *f, Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	*f = (FxReader){.r = r, .text = text, .nodes = {.a = r->scratch}};
	f->g = graph_begin(r->program, r->keep, r->scratch);
	reader_graph_from(r, f->g, id, art);
	f->g->tabular = true;
	uint64_t nesting = r->cfg->limits.nesting;
	f->values = value_reader(r->program->names, f->g, &f->nodes, r->scratch,
	                         nesting < UINT32_MAX ? (uint32_t)nesting : UINT32_MAX);
}

static Sym intern(FxReader *f, Str s)
{
	return sym_intern(f->r->program->names, s);
}

static Str name_of(FxReader *f, Sym s)
{
	return sym_str(f->r->program->names, s);
}

/* ---- types ---- */

static bool one_of(Str s, const Str *words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(s, words[i]))
			return true;
	return false;
}

/* Python type names, which stand where no tensor annotation is printed. */
static TypeId python_type(FxReader *f, Str type)
{
	static const Str numbers[] = {
		STR_INIT("int"),          STR_INIT("float"),          STR_INIT("bool"),
		STR_INIT("torch.SymInt"), STR_INIT("torch.SymFloat"), STR_INIT("torch.SymBool")};
	Type sym = {.kind = TK_SYM};
	if (one_of(type, numbers, sizeof numbers / sizeof *numbers))
		return type_intern(f->r->types, &sym);
	bool dotted = str_find_char(type, '[', 0) == type.n;
	if (dotted &&
	    (str_ends(type, S("Tensor")) || str_ends(type, S(".Parameter")))) /* subclasses too */
		return type_tensor_unknown(f->r->types);
	return (TypeId){0};
}

/* `torch.Tensor`, or with a quoted annotation behind it: `Tensor "f32[2][1]cpu"`. */
static TypeId row_type(FxReader *f, Str type)
{
	uint32_t open = str_find_char(type, '"', 0), close = str_find_char(type, '"', open + 1);
	if (open < type.n && close < type.n)
		type = str_sub(type, open + 1, close);
	TypeId id = type_parse(f->r->types, type);
	return id.i ? id : python_type(f, type);
}

/* ---- nodes ---- */

static Span span(const FxReader *f, uint32_t at, uint32_t end)
{
	return text_span(f->text, at, end);
}

/* Is there room for one more node? */
static bool room(FxReader *f, uint32_t at, uint32_t end)
{
	if (f->g->nodes.n <= f->r->cfg->limits.graph_nodes)
		return true;
	if (!f->full)
		diag_unread(f->r->diags, span(f, at, end),
		            "graph has more nodes than the limit; the rest was not read");
	f->full = f->g->incomplete = true;
	return false;
}

static NodeId add_node(FxReader *f, Node n, Sym name, const Arg *args, uint32_t nargs, uint32_t at,
                       uint32_t end)
{
	Span where = span(f, at, end);
	n.name = name;
	n.at = where.at;
	n.end = where.end;
	for (uint32_t i = 0; i < nargs; i++)
		if (args[i].kind == AR_UNKNOWN)
			n.flags |= NF_PARTIAL;
	NodeId id = graph_add_node(f->g, n, args, nargs);
	if (!sym_none(name))
		map_put(&f->nodes, name.i, id.i);
	return id;
}

static void bind_name(FxReader *f, Arg *a)
{
	uint32_t id = a->kind == AR_NAME ? map_get(&f->nodes, a->u.sym.i) : 0;
	if (id) {
		a->kind = AR_NODE;
		a->u.node = (NodeId){id};
	}
}

/* Names that nothing makes stand for lines that are missing from the dump: each becomes an unread
 * node, once. */
static void bind_missing(FxReader *f, Arg *args, uint32_t nargs, uint32_t at, uint32_t end)
{
	uint32_t pool_end = f->g->args.n;
	if (!f->unbound.n)
		return;
	for (uint32_t i = 0; i < f->unbound.n; i++) {
		Sym name = f->unbound.v[i];
		if (map_get(&f->nodes, name.i))
			continue;
		add_node(f, (Node){.kind = NK_UNREAD}, name, NULL, 0, at, end);
		diag_unread(f->r->diags, span(f, at, end),
		            STR_FMT " is used here, but the line that makes it is not in the dump",
		            STR_ARG(name_of(f, name)));
	}
	for (uint32_t i = f->pool; i < pool_end; i++)
		bind_name(f, &f->g->args.v[i]);
	for (uint32_t i = 0; i < nargs; i++)
		bind_name(f, &args[i]);
}

/* getattr(x, 'shape') reads an attribute; with a default or a computed name it stays a call. */
static bool is_attribute_read(FxReader *f, const FxRow *row)
{
	return row->target.callee == CALLEE_FUNCTION && str_eq(row->target.name, S("getattr")) &&
	       row->nargs == 2 && row->args[1].kind == AR_STR &&
	       str_is_ident(name_of(f, row->args[1].u.sym));
}

void fx_add(FxReader *f, FxRow *row)
{
	static const uint8_t kinds[] = {NK_UNREAD, NK_PLACEHOLDER, NK_GET_ATTR, NK_CALL,
	                                NK_CALL,   NK_CALL,        NK_UNREAD};
	if (!room(f, row->at, row->end))
		return;
	bind_missing(f, row->args, row->nargs, row->at, row->end);
	Node n = {.kind = kinds[row->op], .target = intern(f, row->target.name)};
	uint32_t nargs = row->nargs;
	if (n.kind == NK_CALL)
		n.callee = (uint8_t)row->target.callee;
	if (n.kind == NK_CALL && is_attribute_read(f, row)) {
		n.callee = CALLEE_ATTR;
		n.target = row->args[1].u.sym;
		nargs = 1;
	}
	if (row->type.n) {
		n.flags |= NF_TYPED;
		n.type = row_type(f, row->type);
	}
	NodeId id = add_node(f, n, intern(f, row->name), row->args, nargs, row->at, row->end);
	if (n.kind == NK_PLACEHOLDER)
		VEC_PUSH(f->g->a, &f->g->inputs, id);
}

static void complain(FxReader *f, uint32_t at, uint32_t end, uint32_t fault, const char *why)
{
	f->g->incomplete = true;
	diag_unread(f->r->diags, span(f, fault > at && fault < end ? fault : at, end), "%s", why);
}

void fx_unread(FxReader *f, ValueForm form, Str s, Str name, uint32_t at, uint32_t end,
               uint32_t fault, const char *why)
{
	if (!room(f, at, end))
		return;
	const Arg *named = NULL;
	uint32_t n = value_nodes(&f->values, form, s, &named);
	if (name.n || n)
		add_node(f, (Node){.kind = NK_UNREAD}, intern(f, name), named, n, at, end);
	complain(f, at, end, fault, why);
}

/* ---- values ---- */

void fx_statement(FxReader *f)
{
	f->unbound.n = 0;
	f->pool = f->g->args.n;
}

bool fx_value(FxReader *f, ValueForm form, Str s, uint32_t *at, Arg *out)
{
	bool ok = value_read(&f->values, form, s, at, out);
	for (uint32_t i = 0; i < f->values.unbound.n; i++)
		VEC_PUSH(f->r->scratch, &f->unbound, f->values.unbound.v[i]);
	return ok;
}

const char *fx_fault(const FxReader *f)
{
	return f->values.fault == VALUE_TOO_DEEP
	           ? "brackets nest deeper than the limit; the statement was not read"
	           : "arguments of no known form";
}

Arg *fx_join_args(FxReader *f, const Arg *args, const Arg *kwargs, uint32_t *n)
{
	bool several = args->kind == AR_TUPLE || args->kind == AR_LIST;
	uint32_t nargs = several ? args->n : 1;
	uint32_t nkw = kwargs && kwargs->kind == AR_DICT ? kwargs->n / 2 : 0;
	Arg *all = NEW_N(f->r->scratch, Arg, (size_t)nargs + nkw + 1);
	*n = nargs + nkw;
	for (uint32_t i = 0; i < nargs; i++)
		all[i] = several ? arg_kids(f->g, args)[i] : *args;
	for (uint32_t i = 0; i < nkw; i++) {
		const Arg *pair = arg_kids(f->g, kwargs) + 2 * i;
		all[nargs + i] = pair[1];
		if (pair[0].kind == AR_STR || pair[0].kind == AR_NAME)
			all[nargs + i].key = pair[0].u.sym;
	}
	return all;
}

/* ---- outputs ---- */

static bool holds_outputs(const Arg *a)
{
	return a->kind == AR_TUPLE || a->kind == AR_LIST || a->kind == AR_DICT;
}

/* Containers inside the returned one count as their elements, as pytrees are flattened. */
static void add_outputs(FxReader *f, const Arg *a, Span where)
{
	enum { DEEPEST = 512 };
	struct {
		uint32_t at, end;
		bool dict;
	} open[DEEPEST];
	uint32_t depth = 0;
	for (;;) {
		if (holds_outputs(a)) {
			ASSERT(depth < DEEPEST);
			open[depth].at = a->at;
			open[depth].end = a->at + a->n;
			open[depth++].dict = a->kind == AR_DICT;
		} else {
			Output o = {.arg = *a, .at = where.at, .end = where.end};
			VEC_PUSH(f->g->a, &f->g->outputs, o);
		}
		while (depth && open[depth - 1].at == open[depth - 1].end)
			depth--;
		if (!depth)
			return;
		open[depth - 1].at += open[depth - 1].dict; /* the key */
		a = &f->g->args.v[open[depth - 1].at++];
	}
}

void fx_output(FxReader *f, Arg value, uint32_t base, uint32_t at, uint32_t end)
{
	bool several = value.kind == AR_TUPLE || value.kind == AR_LIST;
	uint32_t n = several ? value.n : 1;
	bool placed = several && base != UINT32_MAX && f->values.parts.n == n;
	bind_missing(f, &value, 1, at, end);
	for (uint32_t i = 0; i < n; i++) {
		const ValuePart *p = placed ? &f->values.parts.v[i] : NULL;
		Span where = placed ? span(f, base + p->at, base + p->end) : span(f, at, end);
		Arg a = several ? arg_kids(f->g, &value)[i] : value;
		add_outputs(f, &a, where);
	}
	f->g->returns_bare = !several && value.kind != AR_DICT;
	f->returned = true;
}

void fx_unread_output(FxReader *f, Str s, uint32_t at, uint32_t end, uint32_t fault,
                      const char *why)
{
	const Arg *named;
	uint32_t n = value_nodes(&f->values, VALUE_REPR, s, &named);
	f->unbound.n = 0;
	fx_output(f, graph_compound(f->g, AR_UNKNOWN, (Sym){0}, named, n), UINT32_MAX, at, end);
	complain(f, at, end, fault, why);
}

void fx_end(FxReader *f)
{
	if (!f->returned && !f->full) {
		f->g->truncated = true;
		diag_truncated(f->r->diags, graph_span(f->g), "graph " STR_FMT " has no output: its end is not in the dump",
		               STR_ARG(name_of(f, f->g->name)));
	}
	graph_settle(f->r->program, f->g, f->r->keep);
}
