/* SPDX-License-Identifier: MIT */
#include "read_python.h"

#include <tree_sitter/api.h>

#include "bytecode.h"
#include "read_expr.h"

/* Deeper expressions are not compiled; loops deeper than this neither. */
enum { NESTING_MOST = 100, LOOPS_MOST = 20 };

typedef struct Loop {
	uint32_t start;      /* where `continue` goes */
	VEC(uint32_t) exits; /* jumps of `break` */
	bool iterates;       /* `for`: its iterator lies on the stack */
} Loop;

typedef struct Compile {
	Reader *r;
	const Text *text;
	Str s;               /* the function, tabs and all as in the text */
	Arena *a;
	VEC(RawIns) ins;
	VEC(Str) locals;     /* parameters first */
	Map local_at;        /* Sym -> index in locals, plus 1 */
	Map global;          /* Sym: declared so */
	Loop loops[LOOPS_MOST];
	uint32_t nloops, depth;
	TSNode here;         /* statement */
	bool incomplete;
} Compile;

static void expression(Compile *c, TSNode n);
static void store(Compile *c, TSNode n);
static void block(Compile *c, TSNode n);

/* ---- nodes ---- */

static bool is(TSNode n, const char *type)
{
	return strcmp(ts_node_type(n), type) == 0;
}

static Str text_of(const Compile *c, TSNode n)
{
	return str_sub(c->s, ts_node_start_byte(n), ts_node_end_byte(n));
}

static TSNode field(TSNode n, const char *name)
{
	return ts_node_child_by_field_name(n, name, (uint32_t)strlen(name));
}

static uint32_t count(TSNode n)
{
	return ts_node_named_child_count(n);
}

static TSNode child(TSNode n, uint32_t i)
{
	return ts_node_named_child(n, i);
}

static bool is_comment(TSNode n)
{
	return is(n, "comment");
}

static void unread(Compile *c, TSNode n, const char *why)
{
	c->incomplete = true;
	diag_unread(c->r->diags, text_span(c->text, ts_node_start_byte(n), ts_node_end_byte(n)), "%s", why);
}

/* ---- instructions ---- */

static uint32_t emit(Compile *c, const char *op)
{
	RawIns i = {.op = str_from_c(op), .at = text_offset(c->text, ts_node_start_byte(c->here)),
	            .end = text_span(c->text, ts_node_start_byte(c->here), ts_node_end_byte(c->here)).end};
	i.offset = c->ins.n * 2;
	VEC_PUSH(c->a, &c->ins, i);
	return c->ins.n - 1;
}

/* What stands here may do anything. */
static void gap(Compile *c)
{
	uint32_t i = emit(c, "GAP");
	c->ins.v[i].gap = true;
}

static uint32_t emit_arg(Compile *c, const char *op, uint32_t arg, Str repr)
{
	uint32_t i = emit(c, op);
	c->ins.v[i].arg = arg;
	c->ins.v[i].has_arg = true;
	c->ins.v[i].repr = repr;
	return i;
}

static uint32_t emit_name(Compile *c, const char *op, Str name)
{
	return emit_arg(c, op, 0, name);
}

/* A jump; patched when the place is known. */
static void jump_to(Compile *c, uint32_t jump, uint32_t target)
{
	c->ins.v[jump].to = target * 2 + 1;
	c->ins.v[jump].arg = target;
}

static uint32_t emit_jump(Compile *c, const char *op)
{
	return emit_arg(c, op, 0, (Str){0});
}

static void jump_here(Compile *c, uint32_t jump)
{
	jump_to(c, jump, c->ins.n);
}

static void constant(Compile *c, Str repr)
{
	emit_name(c, "LOAD_CONST", repr);
}

/* ---- names ---- */

static Sym sym(Compile *c, Str s)
{
	return sym_intern(c->r->program->names, s);
}

static uint32_t local(Compile *c, Str name)
{
	return map_get(&c->local_at, sym(c, name).i);
}

static void declare(Compile *c, Str name)
{
	Sym s = sym(c, name);
	if (map_get(&c->local_at, s.i) || map_get(&c->global, s.i))
		return;
	VEC_PUSH(c->a, &c->locals, name);
	map_put(&c->local_at, s.i, c->locals.n);
}

static void name_op(Compile *c, Str name, const char *fast, const char *global)
{
	uint32_t i = local(c, name);
	if (i)
		emit_arg(c, fast, i - 1, name);
	else
		emit_name(c, global, name);
}

/* Names that the function assigns are its locals, wherever that stands in it. */
static void declare_targets(Compile *c, TSNode n)
{
	if (is(n, "identifier")) {
		declare(c, text_of(c, n));
	} else if (is(n, "pattern_list") || is(n, "tuple_pattern") || is(n, "list_pattern") || is(n, "tuple") || is(n, "list") ||
	           is(n, "list_splat_pattern") || is(n, "as_pattern_target")) {
		for (uint32_t i = 0; i < count(n); i++)
			declare_targets(c, child(n, i));
	}
}

static void declare_all(Compile *c, TSNode root)
{
	TSTreeCursor cur = ts_tree_cursor_new(root);
	bool down = true;
	for (;;) {
		TSNode n = ts_tree_cursor_current_node(&cur);
		if (down) {
			if (is(n, "global_statement"))
				for (uint32_t i = 0; i < count(n); i++)
					map_put(&c->global, sym(c, text_of(c, child(n, i))).i, 1);
			else if (is(n, "assignment") || is(n, "augmented_assignment") || is(n, "for_statement"))
				declare_targets(c, field(n, "left"));
			else if (is(n, "named_expression"))
				declare_targets(c, field(n, "name"));
			else if (is(n, "as_pattern_target"))
				declare_targets(c, n);
		}
		if (down && ts_tree_cursor_goto_first_child(&cur))
			continue;
		down = ts_tree_cursor_goto_next_sibling(&cur);
		if (!down && !ts_tree_cursor_goto_parent(&cur))
			break;
	}
	ts_tree_cursor_delete(&cur);
}

/* ---- expressions ---- */

typedef struct OpName {
	const char *text, *binary, *inplace;
} OpName;

static const OpName operators[] = {
	{"+", "BINARY_ADD", "INPLACE_ADD"}, {"-", "BINARY_SUBTRACT", "INPLACE_SUBTRACT"},
	{"*", "BINARY_MULTIPLY", "INPLACE_MULTIPLY"}, {"/", "BINARY_TRUE_DIVIDE", "INPLACE_TRUE_DIVIDE"},
	{"//", "BINARY_FLOOR_DIVIDE", "INPLACE_FLOOR_DIVIDE"}, {"%", "BINARY_MODULO", "INPLACE_MODULO"},
	{"**", "BINARY_POWER", "INPLACE_POWER"}, {"@", "BINARY_MATRIX_MULTIPLY", "INPLACE_MATRIX_MULTIPLY"},
	{"&", "BINARY_AND", "INPLACE_AND"}, {"|", "BINARY_OR", "INPLACE_OR"}, {"^", "BINARY_XOR", "INPLACE_XOR"},
	{"<<", "BINARY_LSHIFT", "INPLACE_LSHIFT"}, {">>", "BINARY_RSHIFT", "INPLACE_RSHIFT"},
};

static const OpName *operator_of(Str text, bool inplace)
{
	if (inplace && text.n)
		text.n--; /* "+=" */
	for (uint32_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (str_eq(text, str_from_c(operators[i].text)))
			return &operators[i];
	return NULL;
}

/* Values of a list of elements; true when one of them is starred, and then they are in one list already. */
static bool elements(Compile *c, TSNode n, uint32_t *total)
{
	bool starred = false;
	uint32_t got = 0;
	for (uint32_t i = 0; i < count(n); i++)
		starred |= is(child(n, i), "list_splat");
	if (starred)
		emit_arg(c, "BUILD_LIST", 0, (Str){0});
	for (uint32_t i = 0; i < count(n); i++) {
		TSNode e = child(n, i);
		if (is_comment(e))
			continue;
		bool splat = is(e, "list_splat");
		expression(c, splat ? child(e, 0) : e);
		if (starred)
			emit_arg(c, splat ? "LIST_EXTEND" : "LIST_APPEND", 1, (Str){0});
		got++;
	}
	*total = got;
	return starred;
}

static void sequence(Compile *c, TSNode n, const char *build)
{
	uint32_t total;
	if (!elements(c, n, &total))
		emit_arg(c, build, total, (Str){0});
	else if (strcmp(build, "BUILD_TUPLE") == 0)
		emit(c, "LIST_TO_TUPLE");
}

static void dictionary(Compile *c, TSNode n)
{
	emit_arg(c, "BUILD_MAP", 0, (Str){0});
	for (uint32_t i = 0; i < count(n); i++) {
		TSNode e = child(n, i);
		if (is(e, "pair")) {
			expression(c, field(e, "key"));
			expression(c, field(e, "value"));
			emit_arg(c, "BUILD_MAP", 1, (Str){0});
			emit_arg(c, "DICT_UPDATE", 1, (Str){0});
		} else if (is(e, "dictionary_splat")) {
			expression(c, child(e, 0));
			emit_arg(c, "DICT_UPDATE", 1, (Str){0});
		}
	}
}

typedef struct Arguments {
	uint32_t plain, keywords;
	bool starred, mapping;
} Arguments;

static Arguments count_arguments(TSNode n)
{
	Arguments a = {0};
	for (uint32_t i = 0; i < count(n); i++) {
		TSNode e = child(n, i);
		a.keywords += is(e, "keyword_argument");
		a.starred |= is(e, "list_splat");
		a.mapping |= is(e, "dictionary_splat");
		a.plain += !is(e, "keyword_argument") && !is(e, "list_splat") && !is(e, "dictionary_splat") && !is_comment(e);
	}
	return a;
}

/* f(*args, **kwargs): one sequence and one mapping. */
static void call_spread(Compile *c, TSNode n, Arguments a)
{
	emit_arg(c, "BUILD_LIST", 0, (Str){0});
	for (uint32_t i = 0; i < count(n); i++) {
		TSNode e = child(n, i);
		bool splat = is(e, "list_splat");
		if (is(e, "keyword_argument") || is(e, "dictionary_splat") || is_comment(e))
			continue;
		expression(c, splat ? child(e, 0) : e);
		emit_arg(c, splat ? "LIST_EXTEND" : "LIST_APPEND", 1, (Str){0});
	}
	emit(c, "LIST_TO_TUPLE");
	if (!a.keywords && !a.mapping) {
		emit_arg(c, "CALL_FUNCTION_EX", 0, (Str){0});
		return;
	}
	emit_arg(c, "BUILD_MAP", 0, (Str){0});
	for (uint32_t i = 0; i < count(n); i++) {
		TSNode e = child(n, i);
		if (is(e, "keyword_argument")) {
			constant(c, str_printf(c->a, "'" STR_FMT "'", STR_ARG(text_of(c, field(e, "name")))));
			expression(c, field(e, "value"));
			emit_arg(c, "BUILD_MAP", 1, (Str){0});
		} else if (is(e, "dictionary_splat")) {
			expression(c, child(e, 0));
		} else {
			continue;
		}
		emit_arg(c, "DICT_MERGE", 1, (Str){0});
	}
	emit_arg(c, "CALL_FUNCTION_EX", 1, (Str){0});
}

static void call(Compile *c, TSNode n)
{
	TSNode args = field(n, "arguments");
	expression(c, field(n, "function"));
	if (!is(args, "argument_list")) { /* f(x for x in y) */
		unread(c, n, "a generator in a call is not followed");
		constant(c, S("None"));
		emit_arg(c, "CALL_FUNCTION", 1, (Str){0});
		return;
	}
	Arguments a = count_arguments(args);
	if (a.starred || a.mapping) {
		call_spread(c, args, a);
		return;
	}
	Buf names = {.a = c->a};
	buf_char(&names, '(');
	for (int keywords = 0; keywords < 2; keywords++)
		for (uint32_t i = 0; i < count(args); i++) {
			TSNode e = child(args, i);
			if (is_comment(e) || is(e, "keyword_argument") != (keywords == 1))
				continue;
			expression(c, keywords ? field(e, "value") : e);
			if (keywords)
				buf_printf(&names, "'" STR_FMT "', ", STR_ARG(text_of(c, field(e, "name"))));
		}
	buf_char(&names, ')');
	if (a.keywords)
		constant(c, buf_str(&names));
	emit_arg(c, a.keywords ? "CALL_FUNCTION_KW" : "CALL_FUNCTION", a.plain + a.keywords, (Str){0});
}

static void slice(Compile *c, TSNode n)
{
	uint32_t parts = 0, given = 0;
	for (uint32_t i = 0; i < ts_node_child_count(n); i++) { /* colons are nodes without a name */
		TSNode e = ts_node_child(n, i);
		if (is_comment(e))
			continue;
		if (!ts_node_is_named(e)) {
			if (!given)
				constant(c, S("None"));
			given = 0;
			parts++;
			continue;
		}
		expression(c, e);
		given = 1;
	}
	if (!given)
		constant(c, S("None"));
	emit_arg(c, "BUILD_SLICE", parts + 1 > 3 ? 3 : parts + 1, (Str){0});
}

/* What stands in the brackets; several values are a tuple. */
static void index_of(Compile *c, TSNode n)
{
	uint32_t values = 0;
	bool comma = false;
	for (uint32_t i = 1; i < ts_node_child_count(n); i++) {
		TSNode e = ts_node_child(n, i);
		comma |= is(e, ",");
		if (!ts_node_is_named(e) || is_comment(e))
			continue;
		expression(c, e);
		values++;
	}
	if (comma || values != 1)
		emit_arg(c, "BUILD_TUPLE", values, (Str){0});
}

static void comparison(Compile *c, TSNode n)
{
	uint32_t operands = 0;
	Buf word = {.a = c->a};
	for (uint32_t i = 0; i < ts_node_child_count(n); i++) {
		TSNode e = ts_node_child(n, i);
		if (ts_node_is_named(e) && !is_comment(e)) {
			operands++;
		} else if (!ts_node_is_named(e)) {
			buf_printf(&word, "%s" STR_FMT, word.n ? " " : "", STR_ARG(text_of(c, e)));
		}
	}
	if (operands != 2) {
		unread(c, n, "a chain of comparisons is not followed");
		constant(c, S("None"));
		return;
	}
	Str w = buf_str(&word);
	expression(c, child(n, 0));
	expression(c, child(n, count(n) - 1));
	if (str_starts(w, S("is")))
		emit_arg(c, "IS_OP", str_has(w, S("not")), (Str){0});
	else if (str_ends(w, S("in")))
		emit_arg(c, "CONTAINS_OP", str_has(w, S("not")), (Str){0});
	else
		emit_arg(c, "COMPARE_OP", 0, w);
}

static void boolean(Compile *c, TSNode n)
{
	expression(c, field(n, "left"));
	bool is_and = str_eq(text_of(c, field(n, "operator")), S("and"));
	uint32_t jump = emit_jump(c, is_and ? "JUMP_IF_FALSE_OR_POP" : "JUMP_IF_TRUE_OR_POP");
	expression(c, field(n, "right"));
	jump_here(c, jump);
}

static void conditional(Compile *c, TSNode n)
{
	expression(c, child(n, 1));
	uint32_t no = emit_jump(c, "POP_JUMP_IF_FALSE");
	expression(c, child(n, 0));
	uint32_t done = emit_jump(c, "JUMP_FORWARD");
	jump_here(c, no);
	expression(c, child(n, 2));
	jump_here(c, done);
}

static void unary(Compile *c, TSNode n)
{
	Str op = text_of(c, field(n, "operator"));
	TSNode value = field(n, "argument");
	if (is(value, "integer") || is(value, "float")) { /* -1 is one constant */
		constant(c, text_of(c, n));
		return;
	}
	expression(c, value);
	emit(c, str_eq(op, S("-")) ? "UNARY_NEGATIVE" : str_eq(op, S("~")) ? "UNARY_INVERT" : "UNARY_POSITIVE");
}

static void string(Compile *c, TSNode n)
{
	Str s = text_of(c, n);
	bool format = s.n && (s.p[0] == 'f' || s.p[0] == 'F');
	if (!format) {
		constant(c, s);
		return;
	}
	uint32_t parts = 0;
	for (uint32_t i = 0; i < count(n); i++)
		if (is(child(n, i), "interpolation")) {
			expression(c, child(child(n, i), 0));
			emit_arg(c, "FORMAT_VALUE", 0, (Str){0});
			parts++;
		}
	emit_arg(c, "BUILD_STRING", parts, (Str){0});
}

static void walrus(Compile *c, TSNode n)
{
	expression(c, field(n, "value"));
	emit(c, "DUP_TOP");
	store(c, field(n, "name"));
}

static void expression_of(Compile *c, TSNode n)
{
	static const char *const constants[] = {"integer", "float", "true", "false", "none", "ellipsis", "concatenated_string"};
	for (uint32_t i = 0; i < sizeof constants / sizeof *constants; i++)
		if (is(n, constants[i])) {
			constant(c, is(n, "ellipsis") ? S("Ellipsis") : text_of(c, n));
			return;
		}
	if (is(n, "identifier")) {
		name_op(c, text_of(c, n), "LOAD_FAST", "LOAD_GLOBAL");
	} else if (is(n, "attribute")) {
		expression(c, field(n, "object"));
		emit_name(c, "LOAD_ATTR", text_of(c, field(n, "attribute")));
	} else if (is(n, "subscript")) {
		expression(c, field(n, "value"));
		index_of(c, n);
		emit(c, "BINARY_SUBSCR");
	} else if (is(n, "call")) {
		call(c, n);
	} else if (is(n, "string")) {
		string(c, n);
	} else if (is(n, "tuple") || is(n, "expression_list")) {
		sequence(c, n, "BUILD_TUPLE");
	} else if (is(n, "list")) {
		sequence(c, n, "BUILD_LIST");
	} else if (is(n, "set")) {
		sequence(c, n, "BUILD_SET");
	} else if (is(n, "dictionary")) {
		dictionary(c, n);
	} else if (is(n, "slice")) {
		slice(c, n);
	} else if (is(n, "parenthesized_expression")) {
		expression(c, child(n, 0));
	} else if (is(n, "binary_operator")) {
		const OpName *op = operator_of(text_of(c, field(n, "operator")), false);
		expression(c, field(n, "left"));
		expression(c, field(n, "right"));
		emit(c, op ? op->binary : "BINARY_ADD");
	} else if (is(n, "unary_operator")) {
		unary(c, n);
	} else if (is(n, "not_operator")) {
		expression(c, field(n, "argument"));
		emit(c, "UNARY_NOT");
	} else if (is(n, "comparison_operator")) {
		comparison(c, n);
	} else if (is(n, "boolean_operator")) {
		boolean(c, n);
	} else if (is(n, "conditional_expression")) {
		conditional(c, n);
	} else if (is(n, "named_expression")) {
		walrus(c, n);
	} else {
		unread(c, n, "an expression of decompiled Python that is not followed");
		gap(c);
		constant(c, S("None"));
	}
}

static void expression(Compile *c, TSNode n)
{
	if (ts_node_is_null(n) || c->depth >= NESTING_MOST) {
		if (!ts_node_is_null(n))
			unread(c, n, "an expression that nests deeper than graphlint follows");
		c->incomplete = true;
		constant(c, S("None"));
		return;
	}
	c->depth++;
	expression_of(c, n);
	c->depth--;
}

/* ---- statements ---- */

static void unpack(Compile *c, TSNode n)
{
	uint32_t before = 0, after = 0, total = count(n);
	bool starred = false;
	for (uint32_t i = 0; i < total; i++) {
		bool splat = is(child(n, i), "list_splat_pattern");
		before += !starred && !splat;
		after += starred && !splat;
		starred |= splat;
	}
	if (starred)
		emit_arg(c, "UNPACK_EX", before | after << 8, (Str){0});
	else
		emit_arg(c, "UNPACK_SEQUENCE", total, (Str){0});
	for (uint32_t i = 0; i < total; i++) {
		TSNode e = child(n, i);
		store(c, is(e, "list_splat_pattern") ? child(e, 0) : e);
	}
}

/* The value lies on the stack. */
static void store(Compile *c, TSNode n)
{
	if (c->depth >= NESTING_MOST) {
		unread(c, n, "a target that nests deeper than graphlint follows");
		emit(c, "POP_TOP");
		return;
	}
	c->depth++;
	if (is(n, "identifier")) {
		name_op(c, text_of(c, n), "STORE_FAST", "STORE_GLOBAL");
	} else if (is(n, "attribute")) {
		expression(c, field(n, "object"));
		emit_name(c, "STORE_ATTR", text_of(c, field(n, "attribute")));
	} else if (is(n, "subscript")) {
		expression(c, field(n, "value"));
		index_of(c, n);
		emit(c, "STORE_SUBSCR");
	} else if (is(n, "parenthesized_expression")) {
		store(c, child(n, 0));
	} else if (is(n, "pattern_list") || is(n, "tuple_pattern") || is(n, "list_pattern") || is(n, "tuple") || is(n, "list")) {
		unpack(c, n);
	} else {
		unread(c, n, "a target of decompiled Python that is not followed");
		emit(c, "POP_TOP");
	}
	c->depth--;
}

/* a = b = value */
static void assignment(Compile *c, TSNode n)
{
	TSNode right = field(n, "right");
	if (ts_node_is_null(right)) /* x: int */
		return;
	if (is(right, "assignment")) {
		TSNode last = right;
		while (is(field(last, "right"), "assignment"))
			last = field(last, "right");
		expression(c, field(last, "right"));
		for (TSNode a = n; is(a, "assignment"); a = field(a, "right")) {
			if (is(field(a, "right"), "assignment"))
				emit(c, "DUP_TOP");
			store(c, field(a, "left"));
		}
		return;
	}
	expression(c, right);
	store(c, field(n, "left"));
}

static void augmented(Compile *c, TSNode n)
{
	TSNode left = field(n, "left");
	const OpName *op = operator_of(text_of(c, field(n, "operator")), true);
	const char *name = op ? op->inplace : "INPLACE_ADD";
	if (is(left, "subscript")) {
		expression(c, field(left, "value"));
		index_of(c, left);
		emit(c, "DUP_TOP_TWO");
		emit(c, "BINARY_SUBSCR");
		expression(c, field(n, "right"));
		emit(c, name);
		emit(c, "ROT_THREE");
		emit(c, "STORE_SUBSCR");
	} else if (is(left, "attribute")) {
		Str attr = text_of(c, field(left, "attribute"));
		expression(c, field(left, "object"));
		emit(c, "DUP_TOP");
		emit_name(c, "LOAD_ATTR", attr);
		expression(c, field(n, "right"));
		emit(c, name);
		emit(c, "ROT_TWO");
		emit_name(c, "STORE_ATTR", attr);
	} else {
		expression(c, left);
		expression(c, field(n, "right"));
		emit(c, name);
		store(c, left);
	}
}

static void delete_one(Compile *c, TSNode n)
{
	if (is(n, "identifier")) {
		name_op(c, text_of(c, n), "DELETE_FAST", "DELETE_GLOBAL");
	} else if (is(n, "attribute")) {
		expression(c, field(n, "object"));
		emit_name(c, "DELETE_ATTR", text_of(c, field(n, "attribute")));
	} else if (is(n, "subscript")) {
		expression(c, field(n, "value"));
		index_of(c, n);
		emit(c, "DELETE_SUBSCR");
	} else {
		for (uint32_t i = 0; i < count(n); i++)
			delete_one(c, child(n, i));
	}
}

static void branch(Compile *c, TSNode n)
{
	VEC(uint32_t) done = {0};
	TSNode part = n;
	for (uint32_t i = 0, next = 0; !ts_node_is_null(part); i++) {
		c->here = part;
		uint32_t no = UINT32_MAX;
		if (!is(part, "else_clause")) {
			expression(c, field(part, "condition"));
			no = emit_jump(c, "POP_JUMP_IF_FALSE");
		}
		block(c, is(part, "else_clause") ? field(part, "body") : field(part, "consequence"));
		VEC_PUSH(c->a, &done, emit_jump(c, "JUMP_FORWARD"));
		if (no != UINT32_MAX)
			jump_here(c, no);
		for (part = (TSNode){0}; next < count(n) && ts_node_is_null(part); next++)
			if (is(child(n, next), "elif_clause") || is(child(n, next), "else_clause"))
				part = child(n, next);
	}
	for (uint32_t i = 0; i < done.n; i++)
		jump_here(c, done.v[i]);
}

static bool loop_begin(Compile *c, TSNode n, bool iterates)
{
	if (c->nloops == LOOPS_MOST) {
		unread(c, n, "loops that nest deeper than graphlint follows");
		return false;
	}
	c->loops[c->nloops++] = (Loop){.start = c->ins.n, .iterates = iterates};
	return true;
}

static void loop_end(Compile *c)
{
	Loop *l = &c->loops[--c->nloops];
	for (uint32_t i = 0; i < l->exits.n; i++)
		jump_here(c, l->exits.v[i]);
}

static TSNode else_of(TSNode n)
{
	TSNode e = field(n, "alternative");
	return ts_node_is_null(e) ? e : field(e, "body");
}

static void for_loop(Compile *c, TSNode n)
{
	expression(c, field(n, "right"));
	emit(c, "GET_ITER");
	if (!loop_begin(c, n, true))
		return;
	uint32_t over = emit_jump(c, "FOR_ITER");
	store(c, field(n, "left"));
	block(c, field(n, "body"));
	jump_to(c, emit_jump(c, "JUMP_ABSOLUTE"), c->loops[c->nloops - 1].start);
	jump_here(c, over);
	if (!ts_node_is_null(else_of(n)))
		block(c, else_of(n));
	loop_end(c);
}

static void while_loop(Compile *c, TSNode n)
{
	if (!loop_begin(c, n, false))
		return;
	expression(c, field(n, "condition"));
	uint32_t over = emit_jump(c, "POP_JUMP_IF_FALSE");
	block(c, field(n, "body"));
	jump_to(c, emit_jump(c, "JUMP_ABSOLUTE"), c->loops[c->nloops - 1].start);
	jump_here(c, over);
	if (!ts_node_is_null(else_of(n)))
		block(c, else_of(n));
	loop_end(c);
}

static void leave_loop(Compile *c, TSNode n, bool goes_on)
{
	Loop *l = c->nloops ? &c->loops[c->nloops - 1] : NULL;
	if (!l) {
		unread(c, n, "a jump out of no loop");
		return;
	}
	if (!goes_on && l->iterates)
		emit(c, "POP_TOP");
	uint32_t jump = emit_jump(c, "JUMP_ABSOLUTE");
	if (goes_on)
		jump_to(c, jump, l->start);
	else
		VEC_PUSH(c->a, &l->exits, jump);
}

static void raise(Compile *c, TSNode n)
{
	if (count(n))
		expression(c, child(n, 0));
	emit_arg(c, "RAISE_VARARGS", count(n) ? 1 : 0, (Str){0});
}

static void give_back(Compile *c, TSNode n)
{
	if (count(n))
		expression(c, child(n, 0));
	else
		constant(c, S("None"));
	emit(c, "RETURN_VALUE");
}

/* What is imported is a name of code that is not shown. */
static void import(Compile *c, TSNode n)
{
	for (uint32_t i = 0; i < count(n); i++) {
		TSNode e = child(n, i), alias = is(e, "aliased_import") ? field(e, "alias") : e;
		Str name = text_of(c, alias);
		name = str_sub(name, 0, str_find_char(name, '.', 0));
		emit_name(c, "LOAD_GLOBAL", name);
		name_op(c, name, "STORE_FAST", "STORE_GLOBAL");
	}
}

static void simple(Compile *c, TSNode n)
{
	if (is(n, "assignment")) {
		assignment(c, n);
	} else if (is(n, "augmented_assignment")) {
		augmented(c, n);
	} else {
		expression(c, n);
		emit(c, "POP_TOP");
	}
}

static void statement(Compile *c, TSNode n)
{
	c->here = n;
	if (is(n, "expression_statement")) {
		if (count(n) == 1)
			simple(c, child(n, 0));
		else {
			sequence(c, n, "BUILD_TUPLE");
			emit(c, "POP_TOP");
		}
	} else if (is(n, "return_statement")) {
		give_back(c, n);
	} else if (is(n, "if_statement")) {
		branch(c, n);
	} else if (is(n, "for_statement")) {
		for_loop(c, n);
	} else if (is(n, "while_statement")) {
		while_loop(c, n);
	} else if (is(n, "delete_statement")) {
		delete_one(c, child(n, 0));
	} else if (is(n, "raise_statement")) {
		raise(c, n);
	} else if (is(n, "break_statement") || is(n, "continue_statement")) {
		leave_loop(c, n, is(n, "continue_statement"));
	} else if (is(n, "import_statement")) {
		import(c, n);
	} else if (!is(n, "pass_statement") && !is(n, "global_statement") && !is_comment(n)) {
		unread(c, n, "a statement of decompiled Python that is not followed");
		gap(c);
	}
}

static void block(Compile *c, TSNode n)
{
	if (ts_node_is_null(n))
		return;
	if (c->depth >= NESTING_MOST) {
		unread(c, n, "blocks that nest deeper than graphlint follows");
		return;
	}
	c->depth++;
	for (uint32_t i = 0; i < count(n); i++)
		statement(c, child(n, i));
	c->depth--;
}

/* ---- functions ---- */

static void parameters(Compile *c, TSNode n)
{
	for (uint32_t i = 0; i < count(n); i++) {
		TSNode p = child(n, i), name = p;
		if (is(p, "default_parameter") || is(p, "typed_default_parameter"))
			name = field(p, "name");
		else if (is(p, "typed_parameter") || is(p, "list_splat_pattern") || is(p, "dictionary_splat_pattern"))
			name = child(p, 0);
		if (is(name, "identifier"))
			declare(c, text_of(c, name));
	}
}

static TSNode function_in(TSNode root)
{
	for (uint32_t i = 0; i < count(root); i++)
		if (is(child(root, i), "function_definition"))
			return child(root, i);
	return (TSNode){0};
}

static Code *compile(Compile *c, TSNode def)
{
	uint32_t fault;
	c->here = def;
	parameters(c, field(def, "parameters"));
	declare_all(c, field(def, "body"));
	block(c, field(def, "body"));
	c->here = def;
	constant(c, S("None"));
	emit(c, "RETURN_VALUE");
	CodeArenas to = {c->r->keep, c->r->scratch, c->r->program->names, c->r->program->texts, &c->r->program->arrays};
	Code *code = code_build(&to, c->ins.v, c->ins.n, NULL, 0, false, &fault);
	code->file = c->text->file;
	code->incomplete |= c->incomplete;
	return code;
}

void read_python(Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	Compile c = {.r = r, .text = text, .s = text->s, .a = r->scratch, .local_at = {.a = r->scratch}, .global = {.a = r->scratch}};
	if (!r->parser)
		r->parser = py_parser_new(r->life);
	PyParser *py = r->parser;
	read_frame_header(r, id, art);
	Frame *f = &r->program->frames.v[r->program->frames.n - 1];
	if (!py || text->s.n > r->cfg->limits.statement_bytes) {
		diag_unread(r->diags, text_span(text, 0, text->s.n), "a function longer than graphlint reads");
		return;
	}
	TSNode root = ts_tree_root_node(py_parse(py, text->s)), def = function_in(root);
	if (ts_node_is_null(def))
		diag_unread(r->diags, text_span(text, 0, text->s.n), "a function that is no Python");
	else {
		if (ts_node_has_error(root))
			unread(&c, def, "a function of which some part is no Python");
		f->code = compile(&c, def);
	}
}
