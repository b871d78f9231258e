/* SPDX-License-Identifier: MIT
 * Statements of a printed graph: operations, renames, what cannot be read, names that nothing makes. */
#include "read_code_priv.h"

void code_name_node(CodeReader *c, NodeId id, Sym name, const TypeId *type)
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

void code_unread(CodeReader *c, const Pending *p, uint32_t at, uint32_t end, const char *why)
{
	Str s = str_sub(c->text->s, p->at, p->end);
	Span span = code_span(c, p->at, p->end);
	Arena *a = c->r->scratch;
	VEC(Arg) used = {0};
	uint32_t eq = str_find(s, S(" = "), 0), i = 0;
	Sym left = {0};
	while (i < s.n && char_is_ident((unsigned char)s.p[i]))
		i++;
	if (i && (eq < s.n || (i < s.n && s.p[i] == ':')))
		left = code_sym(c, str_sub(s, 0, i));
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
		env_bind(&c->env, a, left, code_node(id));
	diag_unread(c->r->diags, code_span(c, at, end), "%s", why);
}

/* A name that nothing in the text makes stands for a statement that is missing: bind it to an unread node once. */
static void bind_missing(CodeReader *c, const Pending *p, Str name, uint32_t at)
{
	Sym s = code_sym(c, name);
	Span span = code_span(c, p->at, p->end);
	if (c->no_def) {
		code_input(c, s, (TypeId){0}, false, span, (Sym){0});
		return;
	}
	Node n = {.kind = NK_UNREAD, .name = s, .loc = p->loc, .at = span.at, .end = span.end};
	NodeId id = graph_add_node(c->g, n, NULL, 0);
	env_bind(&c->env, c->r->scratch, s, code_node(id));
	diag_unread(c->r->diags, code_span(c, at, at + name.n),
	            STR_FMT " is used here, but the line that makes it is not in the dump", STR_ARG(name));
}

static bool word_before(Str s, uint32_t at)
{
	return at && (char_is_ident((unsigned char)s.p[at - 1]) || s.p[at - 1] == '.');
}

void code_check_names(CodeReader *c, const Pending *p, Str s, Str orig, uint32_t at)
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
		    !words_is_known(str_sub(orig, i, e)) && !env_find(&c->env, code_sym(c, name)))
			bind_missing(c, p, name, at + i);
		if (!called && !assigned && !annotated && (sym_find(c->r->program->names, name)).i)
			VEC_PUSH(c->r->scratch, &c->used, ((Life){code_sym(c, name), at + i, at + e, false}));
		i = e;
		if (annotated) {
			i += s.n - e - rest.n + 1;
			uint32_t text = s.n - str_ltrim(str_sub(s, i, s.n)).n;
			if (text < s.n && s.p[text] != '"' && s.p[text] != '\'')
				i = words_bare_type_end(s, text);
		}
	}
}

void code_mask_flatten(CodeReader *c, char *p, uint32_t n)
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
		map_put(&c->declared, code_sym(c, str_sub(s, i, e)).i, type.i + 1);
		memset(p + e, ' ', to - e);
		i = to;
	}
}

/* x, extra, = fx_pytree.tree_flatten_spec(...): what stands on the left are the inputs, in order */
static void flatten_inputs(CodeReader *c, const StmtVal *sv, const Pending *p)
{
	Graph *g = c->g;
	Span span = code_span(c, p->at, p->end);
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
			same = code_input(c, name, (TypeId){0}, false, span, (Sym){0});
		if (declared > 1)
			code_name_node(c, same, name, &(TypeId){declared - 1});
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
			value = code_node(expr_emit(x, NK_CALL, CALLEE_OPERATOR, code_sym(c, S("getitem")), (Arg[]){right, index}, 2));
		}
		if (value.kind == AR_NODE)
			code_name_node(c, value.u.node, sv->targets[i].sym, NULL);
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
			code_input(c, name, type ? *type : (TypeId){0}, type, (Span){c->g->file, x->proto.at, x->proto.end}, (Sym){0});
		return;
	}
	if (sv->right.kind == V_PROFILER || sv->right.kind == V_FLATTEN) {
		env_bind(&c->env, c->r->scratch, name, (Arg){.kind = AR_NONE});
		return;
	}
	Arg value = expr_arg(x, &sv->right);
	if (value.kind == AR_NAME || value.kind == AR_INT || value.kind == AR_FLOAT || value.kind == AR_STR) {
		/* no node is a constant: x = torch.ops.aten, x = 2 */
		code_unread(c, p, p->at, p->end, "a constant where an operation belongs: the statement may be cut off");
		return;
	}
	bool made = value.kind == AR_NODE && value.u.node.i >= sv->first_new.i;
	c->calls |= made && graph_node(c->g, value.u.node)->kind == NK_CALL;
	if (!made && value.kind == AR_NODE && !c->unnamed.i &&
	    !is_rename(c, graph_node(c->g, value.u.node), name, type)) {
		code_unread(c, p, p->at, p->end, "a name where an operation belongs: the statement may be cut off");
		return;
	}
	if (!made && value.kind == AR_NODE && c->unnamed.i) {
		/* x[...] = v;  setitem = x   and   x += 1;  iadd = x: the second statement names the node of the first */
		const Node *u = graph_node(c->g, c->unnamed);
		const Arg *base = node_args(c->g, u);
		if (value.u.node.i == c->unnamed.i || (base->kind == AR_NODE && base->u.node.i == value.u.node.i))
			value = code_node(c->unnamed);
	}
	c->unnamed = (NodeId){0};
	if (value.kind == AR_NODE) {
		const Node *n = graph_node(c->g, value.u.node);
		if (made || sym_none(n->name) || n->kind == NK_PLACEHOLDER)
			code_name_node(c, value.u.node, name, type);
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
		c->unnamed = expr_emit(x, NK_CALL, CALLEE_OPERATOR, code_sym(c, S("setitem")), args, 3);
	} else if (sv->left.kind == V_ATTR || sv->left.kind == V_SELF) {
		Arg base = sv->left.kind == V_ATTR ? sv->left.base : expr_arg(x, &sv->left);
		Arg args[3] = {base, {.kind = AR_STR, .u.sym = sv->left.sym}, expr_arg(x, &sv->right)};
		expr_emit(x, NK_CALL, CALLEE_FUNCTION, code_sym(c, S("setattr")), args, 3);
	} else {
		code_unread(c, p, p->at, p->end, "an assignment that printed forward code does not have");
	}
}

static void augmented(CodeReader *c, const Pending *p, const StmtVal *sv, ExprCtx *x)
{
	Arg left = expr_arg(x, &sv->left), args[2] = {left, expr_arg(x, &sv->right)};
	if (sym_none(sv->op) || left.kind != AR_NODE) {
		code_unread(c, p, p->at, p->end, "an augmented assignment that printed forward code does not have");
		return;
	}
	x->proto.flags |= NF_AUGMENTED;
	c->unnamed = expr_emit(x, NK_CALL, CALLEE_OPERATOR, sv->op, args, 2);
	x->proto.flags &= (uint16_t)~NF_AUGMENTED;
	if (sv->left.kind == V_IDENT)
		env_bind(&c->env, c->r->scratch, sv->left.sym, code_node(c->unnamed));
}

void code_statement(CodeReader *c, const Pending *p, const StmtVal *sv, ExprCtx *x)
{
	TypeId type = {0};
	if (sv->has_type)
		type = type_parse(c->r->types, code_unquote(str_sub(x->orig, sv->type_at, sv->type_end)));
	const TypeId *typed = sv->has_type ? &type : NULL;
	switch (sv->form) {
	case SF_BAD:
		code_unread(c, p, p->at + (sv->bad_at - p->buf), p->at + (sv->bad_end - p->buf), sv->why);
		break;
	case SF_DECLARE:
		if (c->calls) { /* joint graphs declare at their top */
			code_unread(c, p, p->at, p->end, "an annotation alone: the statement may be cut off");
			break;
		}
		c->declared.a = c->r->scratch;
		if (sv->left.kind == V_IDENT)
			map_put(&c->declared, sv->left.sym.i, type.i + 1);
		break;
	case SF_ASSIGN: assign(c, p, sv, x, typed); break;
	case SF_AUGMENTED: augmented(c, p, sv, x); break;
	case SF_RETURN: code_return(c, p, sv, x); break;
	case SF_EXPR:
		if (sv->right.kind != V_PROFILER)
			expr_arg(x, &sv->right);
		break;
	case SF_PASS: c->returned = true; break; /* a container of submodules */
	}
}
