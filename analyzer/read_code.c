/* SPDX-License-Identifier: MIT
 * Printed forward code -> graphs. The text is that of torch/fx/graph.py (PythonCode) and
 * torch/fx/graph_module.py (print_readable), PyTorch 1.12 to 2.15. Bodies are flat: statements are handed to the
 * parser in groups, so that the tree of one group at a time is in memory. */
#include "read.h"

#include "read_expr.h"
#include "read_life.h"
#include "read_scan.h"
#include "read_words.h"

enum { GROUP_STATEMENTS = 64, GROUP_BYTES = 32 * 1024, INDENT = 4 };

/* A statement that waits in the group. */
typedef struct Pending {
	uint32_t at, end;    /* clean text */
	uint32_t tail_at, tail_end; /* what it drops */
	uint32_t buf;        /* where it starts in the parse buffer */
	uint32_t loc;
	uint32_t ncomments;
	CommentAt *comments;
} Pending;

typedef struct CodeReader {
	Reader *r;
	Graph *root, *g;     /* g: the class being read */
	const Text *text;
	Env env;
	struct {
		Graph *g;
		uint32_t indent;
	} open[64];          /* classes around, outermost first */
	uint32_t nopen;
	bool in_forward;     /* a def forward was seen for g */
	bool in_other_def;   /* inside __init__ or another method */
	uint32_t other_indent;
	bool returned;
	bool calls;          /* an operation of g was read */
	bool no_def;         /* the def line is missing: inputs are the names that nothing makes */
	uint32_t loc;
	Map loc_of;          /* hash of a source comment -> loc, per graph */
	NodeId unnamed;      /* setitem or iadd that the next statement names */
	Map declared;        /* Sym -> TypeId of bare annotations */
	Lives lives;
	VEC(Life) used;      /* values that the statement names */
	bool cut;            /* a statement could not be read: what it dropped is not known */
	Buf buf, orig;
	VEC(Pending) group;
	ArtifactId id;
	const Artifact *art;
	uint32_t last_at, last_end; /* the last statement: where a graph that ends early ends */
} CodeReader;

static Span at_clean(const CodeReader *c, uint32_t at, uint32_t end)
{
	return text_span(c->text, at, end);
}

static Sym sym(CodeReader *c, Str s)
{
	return sym_intern(c->r->program->names, s);
}

static Arg node_arg(NodeId id)
{
	return (Arg){.kind = AR_NODE, .u.node = id};
}

/* ---- source comments ---- */

static void read_comment(CodeReader *c, const Stmt *st)
{
	Str s = str_sub(c->text->s, st->at, st->end);
	uint32_t f = str_find(s, S("File: "), 0), code_at;
	if (f == s.n) {
		if (str_has(s, S("No stacktrace found")))
			c->loc = 0;
		return;
	}
	uint64_t key = hash_bytes(1, s.p, s.n) | 1;
	c->loc_of.a = c->r->scratch;
	c->loc = map_get(&c->loc_of, key);
	if (c->loc)
		return;
	SrcLoc loc = {0};
	if (!words_file_comment(str_sub(s, f + 6, s.n), &loc, c->r->program->names, &code_at))
		return;
	loc.code = at_clean(c, st->at + f + 6 + code_at, st->end);
	VEC_PUSH(c->g->a, &c->g->locs, loc);
	c->loc = c->g->locs.n - 1;
	map_put(&c->loc_of, key, c->loc);
}

/* ---- inputs ---- */

static NodeId add_input(CodeReader *c, Sym name, TypeId type, bool typed, Span at, Sym descriptor)
{
	Graph *g = c->g;
	Node n = {.kind = NK_PLACEHOLDER, .flags = typed ? NF_TYPED : 0, .name = name, .target = name, .type = type,
	          .at = at.at, .end = at.end};
	NodeId id = graph_add_node(g, n, NULL, 0);
	VEC_PUSH(g->a, &g->inputs, id);
	if (descriptor.i || g->input_descriptors.n) {
		while (g->input_descriptors.n + 1 < g->inputs.n)
			VEC_PUSH(g->a, &g->input_descriptors, (Sym){0});
		VEC_PUSH(g->a, &g->input_descriptors, descriptor);
	}
	env_bind(&c->env, c->r->scratch, name, node_arg(id));
	return id;
}

static Str unquote(Str s)
{
	s = str_trim(s);
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
		return str_sub(s, 1, s.n - 1);
	return s;
}

/* NAME, NAME : type = default, NAME: "type", *NAME, with a comment possibly before it (that of the part before) */
static void read_parameter(CodeReader *c, uint32_t at, uint32_t end, Sym descriptor)
{
	Str s = str_sub(c->text->s, 0, end);
	while (at < end && (s.p[at] == ' ' || s.p[at] == '\n' || s.p[at] == '*' || s.p[at] == '\r' || s.p[at] == '\t'))
		at++;
	if (at < end && s.p[at] == '#') {
		at = str_find_char(s, '\n', at);
		if (at < end)
			read_parameter(c, at, end, descriptor);
		return;
	}
	uint32_t e = at;
	while (e < end && char_is_ident((unsigned char)s.p[e]))
		e++;
	Str name = str_sub(s, at, e);
	if (!name.n || str_eq(name, S("self")))
		return;
	uint32_t i = e, stop = str_find_char(s, '#', e);
	Str rest = str_trim(str_sub(s, i, end));
	TypeId type = {0};
	bool typed = rest.n && rest.p[0] == ':';
	if (typed) {
		i = str_find_char(s, ':', e) + 1;
		/* the default stands behind the first = outside quotes and brackets; annotations hold none */
		Str ann = str_sub(s, i, stop > i ? stop : end);
		uint32_t eq = str_find(ann, S(" = "), 0);
		Str t = unquote(str_sub(ann, 0, eq));
		if (t.n && str_trim(ann).p[0] != '"')
			t = unquote(str_sub(ann, 0, eq));
		type = type_parse(c->r->types, t);
	}
	add_input(c, sym(c, name), type, typed, at_clean(c, at, e), descriptor);
}

/* The comment behind a parameter's comma: "  # PlainAOTInput(idx=0)" */
static Sym descriptor_after(CodeReader *c, uint32_t at, uint32_t limit)
{
	Str s = c->text->s;
	at += at < limit && s.p[at] == ',';
	while (at < limit && (s.p[at] == ' ' || s.p[at] == '\t' || s.p[at] == '\r'))
		at++;
	if (at >= limit || s.p[at] != '#')
		return (Sym){0};
	return sym(c, str_trim(str_sub(s, at + 1, str_find_char(s, '\n', at))));
}

static void read_signature(CodeReader *c, uint32_t open, uint32_t close)
{
	Str s = c->text->s;
	for (uint32_t at = open + 1; at < close;) {
		uint32_t end = scan_part(s, at, close);
		read_parameter(c, at, end, descriptor_after(c, end, close));
		at = end + 1;
	}
}

/* ---- outputs ---- */

/* Containers inside the returned tuple count as their elements, as pytrees are flattened. `like` is what all of them
 * have in common. */
static void add_outputs(CodeReader *c, const Arg *a, uint32_t at, uint32_t end, Output like)
{
	Span sp = at_clean(c, at, end);
	like.at = sp.at;
	like.end = sp.end;
	like.nested = a->kind == AR_TUPLE || a->kind == AR_LIST || a->kind == AR_DICT;
	enum { MAX = 64 };
	struct {
		uint32_t at, end;
		bool dict;
	} open[MAX];
	uint32_t depth = 0;
	for (;;) {
		bool list = a->kind == AR_TUPLE || a->kind == AR_LIST || a->kind == AR_DICT;
		if (list && depth < MAX) {
			open[depth].dict = a->kind == AR_DICT;
			open[depth].at = a->at;
			open[depth++].end = a->at + a->n;
		} else {
			like.arg = *a;
			VEC_PUSH(c->g->a, &c->g->outputs, like);
		}
		while (depth && open[depth - 1].at == open[depth - 1].end)
			depth--;
		if (!depth)
			return;
		if (open[depth - 1].dict)
			open[depth - 1].at++; /* the key */
		a = &c->g->args.v[open[depth - 1].at++];
	}
}

/* Clean offsets of the elements of a returned list, for spans and descriptors. */
static bool element_range(Str s, uint32_t *at, uint32_t end, uint32_t *to)
{
	while (*at < end) {
		uint32_t e = scan_part(s, *at, end);
		uint32_t i = *at;
		while (i < e) { /* blanks and the comment of the element before */
			if (s.p[i] == '#')
				i = str_find_char(s, '\n', i);
			else if (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\r' || s.p[i] == '\t')
				i++;
			else
				break;
		}
		*at = i;
		*to = e;
		if (i < e)
			return true;
		*at = e + 1;
	}
	return false;
}

/* return X: the top-level container's elements are the outputs, each with its own place in the text */
static void read_return(CodeReader *c, const Pending *p, const StmtVal *sv, ExprCtx *x)
{
	Graph *g = c->g;
	Str s = c->text->s;
	c->returned = true;
	if (!sv->nelements)
		return;
	Arg a = sv->nelements == 1 ? expr_arg(x, &sv->right) : (Arg){0};
	bool list = sv->nelements > 1 || a.kind == AR_TUPLE || a.kind == AR_LIST;
	if (!list) {
		g->returns_bare = a.kind != AR_DICT;
		add_outputs(c, &a, p->at + (sv->right.at - p->buf), p->at + (sv->right.end - p->buf), (Output){0});
		return;
	}
	uint32_t from = p->at + (sv->elements[0].at - p->buf), to = p->at + (sv->elements[sv->nelements - 1].end - p->buf);
	if (sv->nelements == 1) { /* inside the brackets of the container */
		uint32_t open = from;
		while (open < to && s.p[open] != '(' && s.p[open] != '[')
			open++;
		if (sv->right.kind == V_UNFLATTEN) /* the call's own bracket stands before the list's */
			for (open++; open < to && s.p[open] != '(' && s.p[open] != '[';)
				open++;
		uint32_t close = open < to ? scan_close(str_sub(s, 0, to), open) : to;
		from = open + 1;
		to = close;
	}
	uint32_t n = sv->nelements > 1 ? sv->nelements : a.n;
	for (uint32_t i = 0; i < n; i++) {
		Arg e = sv->nelements > 1 ? expr_arg(x, &sv->elements[i]) : arg_kids(g, &a)[i];
		uint32_t at = from, end = to;
		if (element_range(s, &at, to, &end)) {
			add_outputs(c, &e, at, end, (Output){.top = i, .descriptor = descriptor_after(c, end, to)});
			from = end + 1;
		} else {
			add_outputs(c, &e, p->at, p->end, (Output){.top = i});
		}
	}
}

/* ---- statements ---- */

static void name_node(CodeReader *c, NodeId id, Sym name, const TypeId *type)
{
	Node *n = &c->g->nodes.v[id.i];
	if (sym_none(n->name) || (n->kind == NK_PLACEHOLDER && sym_eq(n->name, n->target)))
		n->name = name;
	if (type) {
		if (type->i)
			n->type = *type;
		n->flags |= NF_TYPED;
	}
}

/* A statement that could not be read: the names on its left mean "unknown", made from the nodes on its right. */
static void unread_statement(CodeReader *c, const Pending *p, uint32_t at, uint32_t end, const char *why)
{
	Str s = str_sub(c->text->s, p->at, p->end);
	Span span = at_clean(c, p->at, p->end);
	Arena *a = c->r->scratch;
	VEC(Arg) used = {0};
	uint32_t eq = str_find(s, S(" = "), 0), i = 0;
	Sym left = {0};
	while (i < s.n && char_is_ident((unsigned char)s.p[i]))
		i++;
	if (i && (eq < s.n || (i < s.n && s.p[i] == ':')))
		left = sym(c, str_sub(s, 0, i));
	for (uint32_t k = left.i ? i : 0; k < s.n && used.n < 4096;) {
		uint32_t e = k;
		while (e < s.n && char_is_ident((unsigned char)s.p[e]))
			e++;
		if (e > k) {
			Sym name = sym_find(c->r->program->names, str_sub(s, k, e));
			const Arg *b = name.i ? env_find(&c->env, name) : NULL;
			if (b && b->kind == AR_NODE)
				VEC_PUSH(a, &used, *b);
		}
		k = e > k ? e : k + 1;
	}
	Node n = {.kind = NK_UNREAD, .name = left, .loc = p->loc, .at = span.at, .end = span.end};
	NodeId id = graph_add_node(c->g, n, used.v, used.n);
	c->cut = true;
	if (left.i)
		env_bind(&c->env, a, left, node_arg(id));
	diag_unread(c->r->diags, at_clean(c, at, end), "%s", why);
}

/* A name that nothing in the text makes stands for a statement that is missing: bind it to an unread node once. */
static void bind_missing(CodeReader *c, const Pending *p, Str name, uint32_t at)
{
	Sym s = sym(c, name);
	Span span = at_clean(c, p->at, p->end);
	if (c->no_def) {
		add_input(c, s, (TypeId){0}, false, span, (Sym){0});
		return;
	}
	Node n = {.kind = NK_UNREAD, .name = s, .loc = p->loc, .at = span.at, .end = span.end};
	NodeId id = graph_add_node(c->g, n, NULL, 0);
	env_bind(&c->env, c->r->scratch, s, node_arg(id));
	diag_unread(c->r->diags, at_clean(c, at, at + name.n),
	            STR_FMT " is used here, but the line that makes it is not in the dump", STR_ARG(name));
}

static bool word_before(Str s, uint32_t at)
{
	return at && (char_is_ident((unsigned char)s.p[at - 1]) || s.p[at - 1] == '.');
}

/* Looks over a statement for names that nothing makes. Only what stands where an operand can stand counts: not
 * attribute names, keywords, called functions, strings. `s` is what the parser got, `orig` the same bytes unmasked, `at`
 * where they stand in the text. */
static void check_names(CodeReader *c, const Pending *p, Str s, Str orig, uint32_t at)
{
	char before = ';';
	uint32_t unpacked = str_find(s, S(" = "), 0); /* a, b, = ...: names before it are made here */
	for (uint32_t k = 0; k < unpacked && unpacked < s.n; k++)
		if (!char_is_ident((unsigned char)s.p[k]) && s.p[k] != ',' && s.p[k] != ' ')
			unpacked = 0;
	if (unpacked == s.n)
		unpacked = 0;
	for (uint32_t i = unpacked; i < s.n; before = i && s.p[i - 1] != ' ' ? s.p[i - 1] : before) {
		char ch = s.p[i];
		if (ch == '#') {
			i = str_find_char(s, '\n', i);
			continue;
		}
		if (ch == '\'' || ch == '"') {
			uint32_t e = i + 1;
			while (e < s.n && s.p[e] != ch)
				e += s.p[e] == '\\' ? 2 : 1;
			i = e < s.n ? e + 1 : s.n;
			continue;
		}
		if (!char_is_ident((unsigned char)ch) || (ch >= '0' && ch <= '9') || word_before(s, i)) {
			i++;
			continue;
		}
		uint32_t e = i;
		while (e < s.n && char_is_ident((unsigned char)s.p[e]))
			e++;
		Str name = str_sub(s, i, e);
		Str rest = str_ltrim(str_sub(s, e, s.n));
		bool called = rest.n && rest.p[0] == '(';
		bool assigned = rest.n > 1 && rest.p[0] == '=' && rest.p[1] != '=';
		bool annotated = rest.n && rest.p[0] == ':' && before == ';';
		bool dotted = rest.n && rest.p[0] == '.';
		if (dotted) { /* torch.float32, a.b.c(): module paths; x.view() with a single dot is a method */
			uint32_t k = e, dots = 0;
			while (k < s.n && (char_is_ident((unsigned char)s.p[k]) || s.p[k] == '.'))
				dots += s.p[k++] == '.';
			called = dots > 1;
		}
		if (!called && !assigned && !annotated && !words_is_known(name) && !str_eq(name, S("self")) &&
		    !str_eq(name, S("None")) && !str_eq(name, S("True")) && !str_eq(name, S("False")) &&
		    !str_eq(name, S("return")) && !str_eq(name, S("pass")) && !str_eq(name, S("in")) &&
		    !str_eq(name, S("is")) && !str_eq(name, S("not")) && !str_eq(name, S("and")) && !str_eq(name, S("or")) &&
		    !words_is_known(str_sub(orig, i, e)) && !env_find(&c->env, sym(c, name)))
			bind_missing(c, p, name, at + i);
		if (!called && !assigned && !annotated && (sym_find(c->r->program->names, name)).i)
			VEC_PUSH(c->r->scratch, &c->used, ((Life){sym(c, name), at + i, at + e, false}));
		i = e;
		if (annotated) {
			i += s.n - e - rest.n + 1;
			uint32_t text = s.n - str_ltrim(str_sub(s, i, s.n)).n;
			if (text < s.n && s.p[text] != '"' && s.p[text] != '\'')
				i = words_bare_type_end(s, text);
		}
	}
}

/* Joint graphs of 2.0 and 2.1 have `primals_1: f32[2, 3], tangents_1: f32[6], = fx_pytree.tree_flatten_spec(...)`, which is
 * no Python. Notes the types and masks them in `p`, the n bytes that the parser gets. */
static void mask_flatten_types(CodeReader *c, char *p, uint32_t n)
{
	Str s = {p, n};
	uint32_t end = str_find(s, S(", = fx_pytree."), 0);
	if (end == n)
		return;
	c->declared.a = c->r->scratch;
	for (uint32_t i = 0; i < end;) {
		uint32_t e = i;
		while (e < end && char_is_ident((unsigned char)p[e]))
			e++;
		if (e == i || e == end || p[e] != ':') {
			i = e + 1;
			continue;
		}
		uint32_t to = words_bare_type_end(s, e);
		TypeId type = type_parse(c->r->types, str_trim(str_sub(s, e + 1, to)));
		map_put(&c->declared, sym(c, str_sub(s, i, e)).i, type.i + 1);
		memset(p + e, ' ', to - e);
		i = to;
	}
}

/* x, extra, = fx_pytree.tree_flatten_spec(...): what stands on the left are the inputs, in order */
static void flatten_inputs(CodeReader *c, const StmtVal *sv, const Pending *p)
{
	Graph *g = c->g;
	Span span = at_clean(c, p->at, p->end);
	Map old = {.a = c->r->scratch};
	for (uint32_t i = g->inputs.n; i-- > 0;)
		map_put(&old, graph_node(g, g->inputs.v[i])->target.i, g->inputs.v[i].i);
	g->inputs.n = 0;
	g->input_descriptors.n = 0;
	for (uint32_t i = 0; i < sv->ntargets; i++) {
		if (sv->targets[i].kind != V_IDENT)
			continue;
		Sym name = sv->targets[i].sym;
		NodeId same = {map_get(&old, name.i)};
		uint32_t declared = map_get(&c->declared, name.i);
		if (same.i)
			VEC_PUSH(g->a, &g->inputs, same);
		else
			same = add_input(c, name, (TypeId){0}, false, span, (Sym){0});
		if (declared > 1)
			name_node(c, same, name, &(TypeId){declared - 1});
	}
}

static void unpack(CodeReader *c, const StmtVal *sv, ExprCtx *x)
{
	Arg right = expr_arg(x, &sv->right);
	for (uint32_t i = 0; i < sv->ntargets; i++) {
		if (sv->targets[i].kind != V_IDENT)
			continue;
		Arg value;
		if ((right.kind == AR_TUPLE || right.kind == AR_LIST) && i < right.n) {
			value = arg_kids(c->g, &right)[i];
		} else {
			Arg index = {.kind = AR_INT, .u.num = i};
			value = node_arg(expr_emit(x, NK_CALL, CALLEE_OPERATOR, sym(c, S("getitem")), (Arg[]){right, index}, 2));
		}
		if (value.kind == AR_NODE)
			name_node(c, value.u.node, sv->targets[i].sym, NULL);
		env_bind(&c->env, c->r->scratch, sv->targets[i].sym, value);
	}
}

/* l_x_ = L_x_: placeholders get their names, once, at the top and without types. No other name is given a second one.
 * Behind Dynamo's targets (L_, G_; 2.1 and later) may stand any name: t = L_ts_0_. */
static bool is_rename(const CodeReader *c, const Node *n, Sym name, const TypeId *type)
{
	const Names *names = c->r->program->names;
	Str target = sym_str(names, n->target);
	return n->kind == NK_PLACEHOLDER && sym_eq(n->name, n->target) && !type && !c->calls &&
	       (str_starts(target, S("L_")) || str_starts(target, S("G_")) || words_is_snake_case(sym_str(names, name), target));
}

static void assign_name(CodeReader *c, const Pending *p, const StmtVal *sv, ExprCtx *x, const TypeId *type)
{
	Sym name = sv->left.sym;
	if (sv->right.kind == V_NEXT) { /* boxed convention: x = next(args_iter); args_iter = iter(args_list) */
		Str called = str_sub(x->buf, sv->right.at, sv->right.end);
		if (str_starts(called, S("iter")))
			c->g->inputs.n = 0;
		else
			add_input(c, name, type ? *type : (TypeId){0}, type, (Span){c->g->file, x->proto.at, x->proto.end}, (Sym){0});
		return;
	}
	if (sv->right.kind == V_PROFILER || sv->right.kind == V_FLATTEN) {
		env_bind(&c->env, c->r->scratch, name, (Arg){.kind = AR_NONE});
		return;
	}
	Arg value = expr_arg(x, &sv->right);
	if (value.kind == AR_NAME || value.kind == AR_INT || value.kind == AR_FLOAT || value.kind == AR_STR) {
		/* no node is a constant: x = torch.ops.aten, x = 2 */
		unread_statement(c, p, p->at, p->end, "a constant where an operation belongs: the statement may be cut off");
		return;
	}
	bool made = value.kind == AR_NODE && value.u.node.i >= sv->first_new.i;
	c->calls |= made && graph_node(c->g, value.u.node)->kind == NK_CALL;
	if (!made && value.kind == AR_NODE && !c->unnamed.i &&
	    !is_rename(c, graph_node(c->g, value.u.node), name, type)) {
		unread_statement(c, p, p->at, p->end, "a name where an operation belongs: the statement may be cut off");
		return;
	}
	if (!made && value.kind == AR_NODE && c->unnamed.i) {
		/* x[...] = v;  setitem = x   and   x += 1;  iadd = x: the second statement names the node of the first */
		const Node *u = graph_node(c->g, c->unnamed);
		const Arg *base = node_args(c->g, u);
		if (value.u.node.i == c->unnamed.i || (base->kind == AR_NODE && base->u.node.i == value.u.node.i))
			value = node_arg(c->unnamed);
	}
	c->unnamed = (NodeId){0};
	if (value.kind == AR_NODE) {
		const Node *n = graph_node(c->g, value.u.node);
		if (made || sym_none(n->name) || n->kind == NK_PLACEHOLDER)
			name_node(c, value.u.node, name, type);
	}
	env_bind(&c->env, c->r->scratch, name, value);
}

static void assign(CodeReader *c, const Pending *p, const StmtVal *sv, ExprCtx *x, const TypeId *type)
{
	if (sv->right.kind == V_FLATTEN && sv->ntargets) {
		flatten_inputs(c, sv, p);
	} else if (sv->ntargets > 1) {
		unpack(c, sv, x);
	} else if (sv->left.kind == V_IDENT) {
		assign_name(c, p, sv, x, type);
	} else if (sv->left.kind == V_SUBSCRIPT) {
		Arg args[3] = {sv->left.base, sv->left.arg, expr_arg(x, &sv->right)};
		c->unnamed = expr_emit(x, NK_CALL, CALLEE_OPERATOR, sym(c, S("setitem")), args, 3);
	} else if (sv->left.kind == V_ATTR || sv->left.kind == V_SELF) {
		Arg base = sv->left.kind == V_ATTR ? sv->left.base : expr_arg(x, &sv->left);
		Arg args[3] = {base, {.kind = AR_STR, .u.sym = sv->left.sym}, expr_arg(x, &sv->right)};
		expr_emit(x, NK_CALL, CALLEE_FUNCTION, sym(c, S("setattr")), args, 3);
	} else {
		unread_statement(c, p, p->at, p->end, "an assignment that printed forward code does not have");
	}
}

static void augmented(CodeReader *c, const Pending *p, const StmtVal *sv, ExprCtx *x)
{
	Arg left = expr_arg(x, &sv->left), args[2] = {left, expr_arg(x, &sv->right)};
	if (sym_none(sv->op) || left.kind != AR_NODE) {
		unread_statement(c, p, p->at, p->end, "an augmented assignment that printed forward code does not have");
		return;
	}
	x->proto.flags |= NF_AUGMENTED;
	c->unnamed = expr_emit(x, NK_CALL, CALLEE_OPERATOR, sv->op, args, 2);
	x->proto.flags &= (uint16_t)~NF_AUGMENTED;
	if (sv->left.kind == V_IDENT)
		env_bind(&c->env, c->r->scratch, sv->left.sym, node_arg(c->unnamed));
}

static void statement(CodeReader *c, const Pending *p, const StmtVal *sv, ExprCtx *x)
{
	TypeId type = {0};
	if (sv->has_type)
		type = type_parse(c->r->types, unquote(str_sub(x->orig, sv->type_at, sv->type_end)));
	const TypeId *typed = sv->has_type ? &type : NULL;
	switch (sv->form) {
	case SF_BAD:
		unread_statement(c, p, p->at + (sv->bad_at - p->buf), p->at + (sv->bad_end - p->buf), sv->why);
		break;
	case SF_DECLARE:
		if (c->calls) { /* joint graphs declare at their top */
			unread_statement(c, p, p->at, p->end, "an annotation alone: the statement may be cut off");
			break;
		}
		c->declared.a = c->r->scratch;
		if (sv->left.kind == V_IDENT)
			map_put(&c->declared, sv->left.sym.i, type.i + 1);
		break;
	case SF_ASSIGN: assign(c, p, sv, x, typed); break;
	case SF_AUGMENTED: augmented(c, p, sv, x); break;
	case SF_RETURN: read_return(c, p, sv, x); break;
	case SF_EXPR:
		if (sv->right.kind != V_PROFILER)
			expr_arg(x, &sv->right);
		break;
	case SF_PASS: c->returned = true; break; /* a container of submodules */
	}
}

/* ---- groups ---- */

static TSTree *parse(CodeReader *c, Str s)
{
	PyParser *py = c->r->parser;
	ts_parser_reset(py->ts);
	return ts_parser_parse_string(py->ts, NULL, s.p, s.n);
}

static ExprCtx expr_ctx(CodeReader *c)
{
	ExprCtx x = {.g = c->g, .names = c->r->program->names, .env = &c->env, .scratch = &c->r->tmp,
	             .buf = buf_str(&c->buf), .orig = buf_str(&c->orig), .parser = c->r->parser,
	             .max_depth = c->r->cfg->limits.nesting < 400 ? (uint32_t)c->r->cfg->limits.nesting + 32 : 432};
	return x;
}

static void begin_statement(CodeReader *c, ExprCtx *x, const Pending *p)
{
	Span span = at_clean(c, p->at, p->end);
	x->proto = (Node){.loc = p->loc, .at = span.at, .end = span.end};
}

static bool cursor_start(PyParser *py, TSTree *tree)
{
	TSNode root = ts_tree_root_node(tree);
	if (!py->cursor_made)
		py->cursor = ts_tree_cursor_new(root);
	else
		ts_tree_cursor_reset(&py->cursor, root);
	py->cursor_made = true;
	return ts_tree_cursor_goto_first_child(&py->cursor);
}

/* An operation uses the values that its statement names; the return ends their lives. Renames and what takes inputs apart
 * use nothing. */
static void note_lives(CodeReader *c, const Pending *p, const StmtVal *sv)
{
	bool call = false;
	for (uint32_t i = sv->first_new.i; i < c->g->nodes.n && sv->form != SF_EXPR; i++)
		call |= c->g->nodes.v[i].kind == NK_CALL;
	for (uint32_t i = 0; i < c->used.n; i++) {
		const Life *u = &c->used.v[i];
		if (sv->form == SF_RETURN)
			life_end(&c->lives, u->name);
		else if (call && env_find(&c->env, u->name))
			life_use(&c->lives, c->r->scratch, u->name, u->at, u->end);
	}
	life_drop(&c->lives, c->r->program->names, str_sub(c->text->s, p->tail_at, p->tail_end));
}

/* Reads the statements of one tree. `p` are the pending ones, in order, that the tree covers. */
static void read_tree(CodeReader *c, TSTree *tree, const Pending *p, uint32_t n)
{
	PyParser *py = c->r->parser;
	ExprCtx x = expr_ctx(c);
	if (!cursor_start(py, tree))
		return;
	uint32_t i = 0;
	bool begun = false;
	do {
		TSNode node = ts_tree_cursor_current_node(&py->cursor);
		if (!ts_node_is_named(node))
			continue;
		uint32_t at = ts_node_start_byte(node);
		while (i + 1 < n && p[i + 1].buf <= at)
			i++, begun = false;
		if (c->returned)
			break;
		if (!begun)
			begin_statement(c, &x, &p[i]);
		begun = true;
		uint32_t end = ts_node_end_byte(node);
		c->used.n = 0;
		check_names(c, &p[i], str_sub(x.buf, at, end), str_sub(x.orig, at, end), p[i].at + (at - p[i].buf));
		StmtVal sv;
		expr_statement(&x, &py->cursor, &sv);
		statement(c, &p[i], &sv, &x);
		note_lives(c, &p[i], &sv);
	} while (ts_tree_cursor_goto_next_sibling(&py->cursor));
	arena_rewind(&c->r->tmp, (ArenaMark){0});
}

/* Does the tree of the group take the end of one statement and the start of the next for one? `x = torch.` does that. */
static bool crosses(CodeReader *c, TSTree *tree)
{
	PyParser *py = c->r->parser;
	uint32_t i = 0;
	if (!cursor_start(py, tree))
		return false;
	do {
		TSNode node = ts_tree_cursor_current_node(&py->cursor);
		while (i + 1 < c->group.n && c->group.v[i + 1].buf <= ts_node_start_byte(node))
			i++;
		if (i + 1 < c->group.n && ts_node_end_byte(node) > c->group.v[i + 1].buf)
			return true;
	} while (ts_tree_cursor_goto_next_sibling(&py->cursor));
	return false;
}

/* One fault must not take its neighbours along: a group with an error is parsed statement by statement. */
static void flush_group(CodeReader *c)
{
	if (!c->group.n)
		return;
	TSTree *tree = parse(c, buf_str(&c->buf));
	if (!ts_node_has_error(ts_tree_root_node(tree)) && !crosses(c, tree)) {
		read_tree(c, tree, c->group.v, c->group.n);
		ts_tree_delete(tree);
	} else {
		ts_tree_delete(tree);
		Buf all = c->buf, orig = c->orig;
		for (uint32_t i = 0; i < c->group.n && !c->returned; i++) {
			Pending p = c->group.v[i];
			uint32_t end = i + 1 < c->group.n ? c->group.v[i + 1].buf - 1 : all.n;
			c->buf = (Buf){.a = all.a, .p = all.p + p.buf, .n = end - p.buf};
			c->orig = (Buf){.a = all.a, .p = orig.p + p.buf, .n = end - p.buf};
			p.buf = 0;
			tree = parse(c, buf_str(&c->buf));
			read_tree(c, tree, &p, 1);
			ts_tree_delete(tree);
		}
		c->buf = all;
		c->orig = orig;
	}
	c->buf.n = c->orig.n = 0;
	c->group.n = 0;
}

/* The input ends right behind the statement, without a line end, and nothing is returned yet: half of it may be missing. */
static bool is_cut_off(const CodeReader *c, const Stmt *st)
{
	Str s = str_sub(c->text->s, st->at, st->end);
	if (!c->art->torn_end || st->end < str_rtrim(c->text->s).n)
		return false;
	return str_starts(s, S("return")) ? str_trim(s).n == 6 : c->art->open_end;
}

static void queue_statement(CodeReader *c, const Stmt *st)
{
	Pending p = {.at = st->at, .end = st->end, .tail_at = st->tail_at, .tail_end = st->tail_end, .loc = c->loc};
	c->last_at = st->at;
	c->last_end = st->end;
	if (is_cut_off(c, st)) {
		flush_group(c);
		unread_statement(c, &p, st->at, st->end, "the dump ends inside this statement");
		return;
	}
	if (st->end == st->at) { /* ;  x = None */
		flush_group(c);
		unread_statement(c, &p, st->at, st->tail_end, "the statement before what it drops is missing");
		return;
	}
	if (st->torn || st->too_long || st->too_deep) {
		flush_group(c);
		unread_statement(c, &p, st->at, st->end,
		                 st->torn       ? "a bracket or string is still open where the line ends"
		                 : st->too_long ? "statement is longer than --max-statement"
		                                : "brackets nest deeper than --max-nesting");
		return;
	}
	uint32_t n = st->end - st->at;
	if (c->group.n == GROUP_STATEMENTS || (c->group.n && c->buf.n + n > GROUP_BYTES))
		flush_group(c);
	p.buf = c->buf.n;
	Str s = str_sub(c->text->s, st->at, st->end);
	buf_add(&c->orig, s);
	buf_add(&c->buf, s);
	for (uint32_t i = 0; i < st->ncomments; i++)
		memset(c->buf.p + p.buf + (st->comments[i].at - st->at), ' ', st->comments[i].end - st->comments[i].at);
	if (memchr(s.p, '<', s.n))
		words_mask_reprs(c->buf.p + p.buf, n);
	mask_flatten_types(c, c->buf.p + p.buf, n);
	for (uint32_t i = p.buf; i < c->buf.n; i++)
		if (c->buf.p[i] == 0)
			c->buf.p[i] = '?';
	buf_char(&c->orig, '\n');
	buf_char(&c->buf, '\n');
	VEC_PUSH(c->r->scratch, &c->group, p);
}

/* ---- classes ---- */

/* Values that are used and never dropped: the lines that did it are missing, and may have done anything with them. */
static void missing_uses(CodeReader *c)
{
	VEC(Arg) args = {0};
	if (!c->lives.drops || c->cut)
		return;
	for (uint32_t i = 0; i < c->lives.v.n; i++) {
		const Life *l = &c->lives.v.v[i];
		const Arg *value = l->ended ? NULL : env_find(&c->env, l->name);
		if (!value || value->kind != AR_NODE)
			continue;
		VEC_PUSH(c->r->scratch, &args, *value);
		diag_unread(c->r->diags, at_clean(c, l->at, l->end), STR_FMT " is not dropped behind its last use: a later line is missing",
		            STR_ARG(sym_str(c->r->program->names, l->name)));
	}
	if (args.n)
		graph_add_node(c->g, (Node){.kind = NK_UNREAD, .at = c->g->at, .end = c->g->end}, args.v, args.n);
}

static void end_graph(CodeReader *c)
{
	Graph *g = c->g;
	flush_group(c);
	if (!g)
		return;
	if (c->returned)
		missing_uses(c);
	if (!c->returned && (g->nodes.n > 1 || c->in_forward || g->parent.i)) {
		g->truncated = true;
		g->incomplete = true;
		diag_truncated(c->r->diags, at_clean(c, c->last_at, c->last_end), "graph " STR_FMT " has no return: its end is not in the dump",
		               STR_ARG(sym_str(c->r->program->names, g->name)));
	}
}

static void begin_graph(CodeReader *c, Graph *g)
{
	c->g = g;
	c->env = (Env){0};
	c->in_forward = c->returned = c->in_other_def = c->no_def = c->calls = false;
	c->loc = 0;
	c->loc_of = (Map){0};
	c->declared = (Map){0};
	c->lives = (Lives){0};
	c->cut = false;
	c->unnamed = (NodeId){0};
}

static Graph *new_body(CodeReader *c, Graph *parent, Sym name, Span span)
{
	Graph *b = graph_begin(c->r->program, c->r->keep, c->r->scratch), *root = c->root;
	b->name = b->class_name = name;
	b->stage = STAGE_BODY;
	b->artifact = root->artifact;
	b->file = root->file;
	b->unit = root->unit;
	b->at = span.at;
	b->end = span.end;
	b->compile_id = root->compile_id;
	b->attempt = root->attempt;
	b->process = root->process;
	b->torch = root->torch;
	b->parent = b->of = parent->id;
	VEC_PUSH(parent->a, &parent->children, ((Child){name, b->id}));
	return b;
}

/* A class inside the open ones, whose line is indented so far. */
static void open_body(CodeReader *c, Sym name, uint32_t indent, Span span)
{
	end_graph(c);
	while (c->nopen > 1 && c->open[c->nopen - 1].indent >= indent)
		c->nopen--;
	if (c->nopen == sizeof c->open / sizeof *c->open) {
		diag_unread(c->r->diags, span, "classes nest deeper than graphlint reads");
		c->nopen--;
	}
	Graph *b = new_body(c, c->open[c->nopen - 1].g, name, span);
	c->open[c->nopen].g = b;
	c->open[c->nopen++].indent = indent;
	begin_graph(c, b);
}

static void class_line(CodeReader *c, const Stmt *st)
{
	Str s = str_sub(c->text->s, st->at, st->end);
	Sym name = sym(c, str_sub(s, 0, str_find_char(s, '(', 0)));
	Span span = at_clean(c, st->at, st->end);
	if (!c->nopen) { /* the artifact's own class */
		c->root->class_name = name;
		if (sym_none(c->root->name))
			c->root->name = name;
		if (!c->root->end) {
			c->root->at = span.at;
			c->root->end = span.end;
		}
		c->open[0].g = c->root;
		c->open[0].indent = st->indent;
		c->nopen = 1;
		begin_graph(c, c->root);
		return;
	}
	open_body(c, name, st->indent, span);
}

static void def_line(CodeReader *c, const Stmt *st)
{
	Str s = c->text->s, line = str_sub(s, st->at, st->end);
	flush_group(c);
	bool cut = st->torn && line.n > 4 && str_starts(S("def forward("), line); /* "def forw" */
	if (!cut && !str_starts(line, S("def forward"))) {
		c->in_other_def = true;
		c->other_indent = st->indent;
		return;
	}
	c->in_other_def = false;
	uint32_t class_indent = st->indent > INDENT ? st->indent - INDENT : 0;
	if (c->in_forward && class_indent > c->open[0].indent) {
		Span span = at_clean(c, st->at, st->end);
		open_body(c, sym(c, S("GraphModule")), class_indent, span);
		c->g->incomplete = true;
		diag_unread(c->r->diags, span, "the class line of this body is not in the dump");
	}
	if (c->in_forward) /* a second forward without a class: the splitter gives one a graph */
		return;
	if (!c->nopen) {
		c->open[0].g = c->root;
		c->open[0].indent = class_indent;
		c->nopen = 1;
		begin_graph(c, c->root);
		if (!c->root->end) {
			Span span = at_clean(c, st->at, st->at + 11);
			c->root->at = span.at;
			c->root->end = span.end;
		}
	}
	c->in_forward = true;
	uint32_t open = str_find_char(line, '(', 0);
	if (st->torn) {
		c->no_def = true;
		c->g->incomplete = true;
		diag_unread(c->r->diags, at_clean(c, st->at, st->end), "the signature of forward is cut off");
		if (open < line.n)
			read_signature(c, st->at + open, st->end);
		return;
	}
	read_signature(c, st->at + open, scan_close(s, st->at + open));
}

/* Statements without a def: the line was cut out of the dump. False: no statement either. */
static bool missing_def(CodeReader *c, const Stmt *st)
{
	Str s = str_sub(c->text->s, st->at, st->end);
	Span span = at_clean(c, st->at, st->end);
	if (!str_has(s, S("= ")) && !str_has(s, S(": \"")) && !str_starts(s, S("return"))) {
		diag_unread(c->r->diags, span, "neither a header nor a statement of printed forward code");
		return false;
	}
	if (!c->nopen) {
		c->open[0].g = c->root;
		c->nopen = 1;
		begin_graph(c, c->root);
	}
	c->in_forward = c->no_def = true;
	c->g->incomplete = true;
	diag_unread(c->r->diags, span, "the def line of forward is not in the dump");
	return true;
}

/* Before 2.5 bodies print with their class, GraphModule, in place of the attribute's name. They come in the order in
 * which the parent takes them: the k-th body without a name of its own is the k-th attribute without a body. */
static void name_children(Graph *g, Arena *scratch)
{
	Map taken = {.a = scratch}, named = {.a = scratch};
	uint32_t at = 1;
	if (!g->children.n)
		return;
	for (uint32_t i = 1; i < g->nodes.n; i++)
		if (g->nodes.v[i].kind == NK_GET_ATTR && g->nodes.v[i].target.i)
			map_put(&taken, g->nodes.v[i].target.i, 1);
	for (uint32_t k = 0; k < g->children.n; k++)
		if (g->children.v[k].attr.i)
			map_put(&named, g->children.v[k].attr.i, 1);
	for (uint32_t k = 0; k < g->children.n; k++) {
		Child *c = &g->children.v[k];
		if (map_get(&taken, c->attr.i))
			continue;
		for (; at < g->nodes.n; at++) {
			const Node *n = &g->nodes.v[at];
			if (n->kind == NK_GET_ATTR && !(n->flags & NF_TYPED) && !map_get(&named, n->target.i))
				break;
		}
		if (at == g->nodes.n)
			break;
		c->attr = g->nodes.v[at++].target;
		map_put(&named, c->attr.i, 1);
	}
}

void read_code(Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	CodeReader c = {.r = r, .text = text, .id = id, .art = art};
	if (!r->parser)
		r->parser = py_parser_new(r->life);
	if (!r->parser) {
		diag_unread(r->diags, text_span(text, 0, 0), "the Python grammar does not fit the parser library");
		return;
	}
	c.buf.a = c.orig.a = r->scratch;
	c.root = graph_begin(r->program, r->keep, r->scratch);
	reader_graph_from(r, c.root, id, art);
	Scan sc = scan_new(text->s, (uint32_t)r->cfg->limits.nesting, (uint32_t)r->cfg->limits.statement_bytes, r->scratch);
	Stmt st;
	while (scan_next(&sc, &st)) {
		budget_pulse(r->scratch->budget);
		switch (st.kind) {
		case ST_CLASS: class_line(&c, &st); break;
		case ST_DEF: def_line(&c, &st); break;
		case ST_COMMENT:
			if (c.g && !c.in_other_def)
				read_comment(&c, &st);
			break;
		case ST_STATEMENT:
			if (c.in_other_def && st.indent > c.other_indent)
				break;
			if (c.returned)
				break;
			if (!c.in_forward && !missing_def(&c, &st))
				break;
			queue_statement(&c, &st);
			if (c.g->nodes.n > r->cfg->limits.graph_nodes) {
				c.g->incomplete = true;
				diag_truncated(r->diags, graph_span(c.g), "graph has more nodes than --max-graph-nodes; the rest was not read");
				c.returned = c.cut = true;
			}
			break;
		case ST_HEADER:
		case ST_IGNORED: break;
		}
	}
	end_graph(&c);
	for (uint32_t i = c.root->id.i; i < r->program->graphs.n; i++) {
		name_children(r->program->graphs.v[i], r->scratch);
		graph_settle(r->program, r->program->graphs.v[i], r->keep);
	}
	if (sym_none(c.root->name))
		c.root->name = sym_intern(r->program->names, S("forward"));
}
