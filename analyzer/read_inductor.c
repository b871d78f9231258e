/* SPDX-License-Identifier: MIT
 * The code that Inductor generates: its `call` function, a straight line of allocations, views and kernel calls. What it
 * says is which values share memory and which kernels write where; what they compute is not read.
 *
 * torch/_inductor/codegen/wrapper.py of PyTorch 2.6 (`def call(args):`) and 2.13 (a method of class Runner):
 *
 *  arg0_1, arg1_1 = args
 *  assert_size_stride(arg0_1, (3, 4), (4, 1), 'input')
 *  buf2 = empty_strided_cpu((6, 4), (4, 1), torch.float32)
 *  buf0 = reinterpret_tensor(buf2, (3, 4), (4, 1), 0)  # alias      offset: from that of buf2
 *  cpp_fused_add_0(arg0_1, buf0)
 *  extern_kernels.mm(arg0_1, arg1_1, out=buf3)
 *  buf4 = buf3; del buf3  # reuse                                   the same memory by another name
 *  return (reinterpret_tensor(arg0_1, (4, 3), (1, 4), 0), buf4, arg1_1, )
 */
#include "read.h"

#include "read_call.h"
#include "read_scan.h"
#include "read_value.h"

enum {
	ARGS_MOST = 4096, /* of one call */
	NESTED_MOST = 8,  /* views of views within one argument */
	WRITES_MOST = 512 /* arguments of a kernel */
};

/* Which arguments a kernel writes. */
typedef struct Kernel {
	uint32_t nargs;
	uint64_t writes[WRITES_MOST / 64];
} Kernel;

typedef struct CallReader {
	Reader *r;
	Graph *g;
	const Text *text;
	Map nodes;   /* Sym of a name -> NodeId */
	Map types;   /* Sym of an input -> its TypeId */
	Map kernels; /* Sym -> index in `kernel`, plus 1 */
	VEC(Kernel) kernel;
	Map lists;   /* Sym of a list of arguments -> index in `list`, plus 1 */
	VEC(Str) list; /* text between the brackets */
	ValueReader values;
	bool returned;
} CallReader;

static Sym intern(CallReader *c, Str s)
{
	return sym_intern(c->r->program->names, s);
}

static uint32_t line_end(Str s, uint32_t at)
{
	return str_find_char(s, '\n', at);
}

/* ---- kernels ---- */

static void set_write(Kernel *k, uint32_t i)
{
	if (i < WRITES_MOST)
		k->writes[i / 64] |= (uint64_t)1 << i % 64;
}

static bool is_written(const Kernel *k, uint32_t i)
{
	return i < WRITES_MOST && k->writes[i / 64] >> i % 64 & 1;
}

static void add_kernel(CallReader *c, Str name, const Kernel *k)
{
	VEC_PUSH(c->r->scratch, &c->kernel, *k);
	map_put(&c->kernels, intern(c, name).i, c->kernel.n);
}

/* ['const float*', 'float*', 'const int64_t']: a pointer that is not const is written. */
static void cpp_kernel(CallReader *c, Str name, Str list)
{
	Kernel k = {0};
	uint32_t at = 1, close = scan_close(list, 0);
	for (; at < close; at++) {
		uint32_t end = scan_part(list, at, close);
		Str type = str_trim(str_sub(list, at, end));
		if (!type.n)
			break;
		bool pointer = str_find_char(type, '*', 0) < type.n;
		if (pointer && !str_has(type, S("const ")))
			set_write(&k, k.nargs);
		k.nargs++;
		at = end;
	}
	add_kernel(c, name, &k);
}

/* def triton_poi_fused_add_0(in_ptr0, in_out_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr): */
static void triton_kernel(CallReader *c, Str name, Str parameters)
{
	Kernel k = {0};
	uint32_t close = scan_close(parameters, 0);
	for (uint32_t at = 1; at < close; at++) {
		uint32_t end = scan_part(parameters, at, close);
		Str p = str_trim(str_sub(parameters, at, end));
		if (str_starts(p, S("out_ptr")) || str_starts(p, S("in_out_ptr")))
			set_write(&k, k.nargs);
		k.nargs++;
		at = end;
	}
	add_kernel(c, name, &k);
}

/* NAME = async_compile.cpp_pybinding([...], '''...''') and NAME = async_compile.triton('NAME', '''...''') */
static void find_kernels(CallReader *c)
{
	static const Str compile = STR_INIT(" = async_compile."), cpp = STR_INIT("cpp_pybinding("), triton = STR_INIT("triton(");
	Str s = c->text->s, name = {0};
	for (uint32_t at = 0; at < s.n;) {
		uint32_t end = line_end(s, at);
		Str line = str_sub(s, at, end);
		uint32_t eq = str_find(line, compile, 0);
		Str rest = str_sub(line, eq + compile.n, line.n);
		if (eq < line.n && str_is_ident(str_sub(line, 0, eq))) {
			name = str_sub(line, 0, eq);
			if (str_starts(rest, cpp) && rest.n > cpp.n && rest.p[cpp.n] == '[') {
				uint32_t list = at + eq + compile.n + cpp.n;
				cpp_kernel(c, name, str_sub(s, list, s.n));
			} else if (!str_starts(rest, triton)) {
				name = (Str){0};
			}
		}
		uint32_t open = str_find_char(line, '(', 0);
		if (name.n && str_starts(line, S("def ")) && open < line.n && !map_get(&c->kernels, intern(c, name).i))
			triton_kernel(c, name, str_sub(s, at + open, s.n));
		at = end + 1;
	}
}

/* ---- nodes ---- */

static NodeId node_of(CallReader *c, Str name)
{
	Sym s = sym_find(c->r->program->names, name);
	return (NodeId){sym_none(s) ? 0 : map_get(&c->nodes, s.i)};
}

static NodeId add_node(CallReader *c, Node n, const Arg *args, uint32_t nargs, Str at)
{
	uint32_t from = (uint32_t)(at.p - c->text->s.p);
	Span where = text_span(c->text, from, from + at.n);
	n.at = where.at;
	n.end = where.end;
	for (uint32_t i = 0; i < nargs; i++)
		if (args[i].kind == AR_UNKNOWN)
			n.flags |= NF_PARTIAL;
	return graph_add_node(c->g, n, args, nargs);
}

static NodeId add_call(CallReader *c, Str target, TypeId type, const Arg *args, uint32_t nargs, Str at)
{
	Node n = {.kind = NK_CALL, .callee = CALLEE_FUNCTION, .target = intern(c, target), .type = type};
	return add_node(c, n, args, nargs, at);
}

static void bind(CallReader *c, Str name, NodeId id)
{
	Sym s = intern(c, name);
	map_put(&c->nodes, s.i, id.i);
	if (sym_none(c->g->nodes.v[id.i].name))
		c->g->nodes.v[id.i].name = s;
}

/* A statement of no known form may do anything with what it names. */
static NodeId add_unread(CallReader *c, Str statement, const char *why)
{
	const Arg *nodes;
	uint32_t n = value_nodes(&c->values, VALUE_REPR, statement, &nodes), at = (uint32_t)(statement.p - c->text->s.p);
	diag_unread(c->r->diags, text_span(c->text, at, at + statement.n), "%s", why);
	return add_node(c, (Node){.kind = NK_UNREAD}, nodes, n, statement);
}

/* ---- expressions ---- */

static NodeId read_view(CallReader *c, Str callee, Str inside, Str at, uint32_t depth);

static bool is_view(Str callee)
{
	return str_ends(callee, S("reinterpret_tensor")) || str_ends(callee, S("alloc_from_pool"));
}

/* A name, a view that is made in place, or a plain value. */
static Arg read_arg(CallReader *c, Str value, uint32_t depth)
{
	Arg arg = {.kind = AR_UNKNOWN};
	Str callee, inside;
	NodeId id = node_of(c, value);
	if (id.i)
		return (Arg){.kind = AR_NODE, .u.node = id};
	if (depth < NESTED_MOST && pycall_is(value, &callee, &inside) && is_view(callee)) {
		id = read_view(c, callee, inside, value, depth + 1);
		if (id.i)
			return (Arg){.kind = AR_NODE, .u.node = id};
	}
	uint32_t at = 0;
	if (value_read(&c->values, VALUE_REPR, value, &at, &arg) && at == value.n)
		return arg;
	const Arg *nodes;
	uint32_t n = value_nodes(&c->values, VALUE_REPR, value, &nodes);
	return graph_compound(c->g, AR_UNKNOWN, (Sym){0}, nodes, n);
}

static DType dtype_of_base(CallReader *c, const Arg *base)
{
	return base->kind == AR_NODE ? type_get(c->r->types, graph_node(c->g, base->u.node)->type)->dtype : DT_NONE;
}

/* reinterpret_tensor(base, sizes, strides, offset), alloc_from_pool(pool, offset, dtype, sizes, strides): memory of the
 * first argument. */
static NodeId read_view(CallReader *c, Str callee, Str inside, Str at, uint32_t depth)
{
	PyCallPart part[8];
	uint32_t n = pycall_parts(inside, part, 8);
	bool pool = str_ends(callee, S("alloc_from_pool"));
	if (n < (pool ? 5u : 3u))
		return (NodeId){0};
	Arg args[8];
	for (uint32_t i = 0; i < n; i++)
		args[i] = read_arg(c, part[i].value, depth);
	if (args[0].kind != AR_NODE)
		return (NodeId){0};
	DType dtype = pool ? dtype_parse(part[2].value) : dtype_of_base(c, &args[0]);
	TypeId type = pool ? pycall_type(c->r->types, part[3].value, part[4].value, dtype, (Sym){0})
	                   : pycall_type(c->r->types, part[1].value, part[2].value, dtype, (Sym){0});
	return add_call(c, pool ? S("torch.ops.inductor._alloc_from_pool") : S("torch.ops.inductor._reinterpret_tensor"), type, args, n, at);
}

/* empty_strided_cpu((6, 4), (4, 1), torch.float32), empty_strided_cuda(...) */
static NodeId read_empty(CallReader *c, Str callee, Str inside, Str at)
{
	PyCallPart part[8];
	Arg args[8];
	uint32_t n = pycall_parts(inside, part, 8), dash = str_rfind(callee, S("_"));
	Str device = str_eq(str_sub(callee, dash + 1, callee.n), S("strided")) ? (Str){0} : str_sub(callee, dash + 1, callee.n);
	for (uint32_t i = 0; i < n; i++)
		args[i] = read_arg(c, part[i].value, NESTED_MOST);
	Str dtype = pycall_part(part, n, S("dtype"));
	if (!dtype.n && n > 2)
		dtype = part[2].value;
	TypeId type = n > 1 ? pycall_type(c->r->types, part[0].value, part[1].value, dtype_parse(dtype), intern(c, device)) : (TypeId){0};
	return add_call(c, S("torch.empty_strided"), type, args, n < 2 ? n : 2, at);
}

/* A write into memory that a name stands for. */
static NodeId add_write(CallReader *c, NodeId into, Str at)
{
	Arg arg = {.kind = AR_NODE, .u.node = into};
	TypeId type = graph_node(c->g, into)->type;
	return add_call(c, S("torch.ops.inductor._kernel_write"), type, &arg, 1, at);
}

/* The arguments of a kernel that it writes, each once. */
static void read_kernel(CallReader *c, const Kernel *k, Str inside, Str at)
{
	PyCallPart *part = NEW_N(c->r->scratch, PyCallPart, WRITES_MOST);
	uint32_t n = pycall_parts(inside, part, WRITES_MOST);
	for (uint32_t i = 0; i < n && i < k->nargs; i++) {
		if (!is_written(k, i))
			continue;
		Arg into = read_arg(c, part[i].value, 0);
		if (into.kind == AR_NODE)
			add_write(c, into.u.node, at);
	}
}

/* A call of which the operator is known by name, or not at all: facts tell. */
static NodeId read_operator(CallReader *c, Str callee, Str inside, Str at)
{
	PyCallPart *part = NEW_N(c->r->scratch, PyCallPart, ARGS_MOST);
	Arg *args = NEW_N(c->r->scratch, Arg, ARGS_MOST);
	uint32_t n = pycall_parts(inside, part, ARGS_MOST);
	Str out = pycall_part(part, n, S("out"));
	NodeId into = out.n && !str_eq(out, S("None")) ? read_arg(c, out, 0).u.node : (NodeId){0};
	if (out.n && into.i && into.i < c->g->nodes.n && str_starts(callee, S("extern_kernels.")))
		return add_write(c, into, at);
	for (uint32_t i = 0; i < n; i++) {
		args[i] = read_arg(c, part[i].value, 0);
		args[i].key = intern(c, part[i].keyword);
	}
	Arena *a = c->r->scratch;
	if (str_starts(callee, S("extern_kernels.")))
		callee = str_printf(a, "torch.ops.aten." STR_FMT, STR_ARG(str_sub(callee, 15, callee.n)));
	else if (str_starts(callee, S("aten.")))
		callee = str_printf(a, "torch.ops." STR_FMT, STR_ARG(callee));
	return add_call(c, callee, (TypeId){0}, args, n, at);
}

/* ---- statements ---- */

static bool is_one_of(Str s, const Str *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(s, v[i]))
			return true;
	return false;
}

/* Calls that neither make nor write a tensor. */
static bool is_quiet(Str callee)
{
	static const Str quiet[] = {STR_INIT("args.clear"),       STR_INIT("assert_alignment"), STR_INIT("get_raw_stream"),
	                            STR_INIT("torch.cuda.set_device"), STR_INIT("torch._check"),     STR_INIT("run_intermediate_hooks"),
	                            STR_INIT("print"),            STR_INIT("gc.collect")};
	return is_one_of(callee, quiet, sizeof quiet / sizeof *quiet) || str_starts(callee, S("get_"));
}

/* assert_size_stride(arg0_1, (3, 4), (4, 1), 'input') */
static void read_assert(CallReader *c, Str inside)
{
	PyCallPart part[8];
	uint32_t n = pycall_parts(inside, part, 8);
	NodeId id = n > 2 ? node_of(c, part[0].value) : (NodeId){0};
	if (!id.i)
		return;
	Node *node = &c->g->nodes.v[id.i];
	const Type *had = type_get(c->r->types, node->type);
	if (!had->has_stride)
		node->type = pycall_type(c->r->types, part[1].value, part[2].value, had->dtype, had->device);
}

/* What a call gives; 0: nothing that is a tensor. */
static NodeId read_call(CallReader *c, Str callee, Str inside, Str at)
{
	Str name = callee, run = S(".run");
	if (str_ends(name, run))
		name = str_sub(name, 0, name.n - run.n);
	Sym s = sym_find(c->r->program->names, name);
	uint32_t k = sym_none(s) ? 0 : map_get(&c->kernels, s.i);
	if (k) {
		read_kernel(c, &c->kernel.v[k - 1], inside, at);
		return (NodeId){0};
	}
	if (str_eq(callee, S("assert_size_stride"))) {
		read_assert(c, inside);
		return (NodeId){0};
	}
	if (is_quiet(callee))
		return (NodeId){0};
	if (str_starts(callee, S("empty_strided")))
		return read_empty(c, callee, inside, at);
	NodeId view = is_view(callee) ? read_view(c, callee, inside, at, 0) : (NodeId){0};
	return view.i ? view : read_operator(c, callee, inside, at);
}

/* arg0_1 = rand_strided((3, 4), (4, 1), device='cpu', dtype=torch.float32), of the code that runs it alone. */
static void type_input(CallReader *c, Str name, Str inside)
{
	PyCallPart part[8];
	uint32_t n = pycall_parts(inside, part, 8);
	if (n < 2)
		return;
	Str device = pycall_part(part, n, S("device"));
	if (device.n > 2)
		device = str_sub(device, 1, device.n - 1);
	TypeId type = pycall_type(c->r->types, part[0].value, part[1].value, dtype_parse(pycall_part(part, n, S("dtype"))), intern(c, device));
	if (type.i)
		map_put(&c->types, intern(c, name).i, type.i);
}

static void type_inputs(CallReader *c, uint32_t from)
{
	static const Str rand = STR_INIT(" = rand_strided(");
	Str s = c->text->s;
	for (uint32_t at = from; at < s.n;) {
		uint32_t end = line_end(s, at);
		Str line = str_trim(str_sub(s, at, end));
		uint32_t eq = str_find(line, rand, 0);
		if (eq < line.n && line.p[line.n - 1] == ')')
			type_input(c, str_sub(line, 0, eq), str_sub(line, eq + rand.n, line.n - 1));
		at = end + 1;
	}
}

static void read_inputs(CallReader *c, Str names)
{
	for (uint32_t at = 0; at < names.n; at++) {
		uint32_t end = scan_part(names, at, names.n);
		Str name = str_trim(str_sub(names, at, end));
		at = end;
		if (!str_is_ident(name))
			continue;
		Sym target = intern(c, name);
		Node n = {.kind = NK_PLACEHOLDER, .target = target, .type = {map_get(&c->types, target.i)}};
		NodeId id = add_node(c, n, NULL, 0, name);
		bind(c, name, id);
		VEC_PUSH(c->g->a, &c->g->inputs, id);
	}
}

/* buf7 = buf6[0] */
static bool read_item(CallReader *c, Str name, Str value, Str at)
{
	uint32_t open = str_find_char(value, '[', 0);
	NodeId base = node_of(c, str_sub(value, 0, open));
	if (!base.i || open + 1 >= value.n || value.p[value.n - 1] != ']')
		return false;
	Arg args[2] = {{.kind = AR_NODE, .u.node = base}, read_arg(c, str_trim(str_sub(value, open + 1, value.n - 1)), NESTED_MOST)};
	Node n = {.kind = NK_CALL, .callee = CALLEE_OPERATOR, .target = intern(c, S("getitem"))};
	bind(c, name, add_node(c, n, args, 2, at));
	return true;
}

static void read_assign(CallReader *c, Str name, Str value, Str at)
{
	Str callee, inside;
	NodeId id = node_of(c, value);
	if (id.i) { /* another name of the same memory; what it held before is dead */
		map_put(&c->nodes, intern(c, name).i, id.i);
		return;
	}
	if (pycall_is(value, &callee, &inside)) {
		id = read_call(c, callee, inside, at);
		if (id.i)
			bind(c, name, id);
		return;
	}
	int64_t number;
	if (str_to_i64(value, &number) || str_starts(name, S("stream")) || read_item(c, name, value, at))
		return;
	bind(c, name, add_unread(c, at, "an assignment of no form that Inductor's code is known to have"));
}

static void read_return(CallReader *c, Str value, Str at)
{
	c->returned = true;
	if (value.n < 2 || value.p[0] != '(' || scan_close(value, 0) != value.n - 1) {
		add_unread(c, at, "a return of no form that Inductor's code is known to have");
		return;
	}
	for (uint32_t i = 1; i < value.n - 1; i++) {
		uint32_t end = scan_part(value, i, value.n - 1);
		Str part = str_trim(str_sub(value, i, end));
		i = end;
		if (!part.n)
			continue;
		uint32_t from = (uint32_t)(part.p - c->text->s.p);
		Span where = text_span(c->text, from, from + part.n);
		Arg arg = str_eq(part, S("None")) ? (Arg){.kind = AR_NONE} : read_arg(c, part, 0);
		VEC_PUSH(c->g->a, &c->g->outputs, ((Output){.arg = arg, .at = where.at, .end = where.end, .top = c->g->outputs.n}));
	}
}

/* NAME = VALUE, where = is no part of a keyword or a comparison. */
static bool is_assignment(Str s, Str *left, Str *value)
{
	uint32_t eq = str_find(s, S(" = "), 0);
	if (eq == s.n)
		return false;
	*left = str_trim(str_sub(s, 0, eq));
	*value = str_trim(str_sub(s, eq + 3, s.n));
	uint32_t open = str_find_char(*left, '(', 0);
	return open == left->n || (open == 0 && scan_close(*left, 0) == left->n - 1);
}

/* ---- conditions: buf0 = [None] * 1, args = [a, b,], (buf0[0],) = true_graph_0(args) ---- */

/* A list of nothing that a subgraph fills, or the list of its arguments. */
static bool read_list(CallReader *c, Str name, Str value, Str at)
{
	uint32_t close = value.n && value.p[0] == '[' ? scan_close(value, 0) : value.n;
	if (close == value.n)
		return false;
	if (close == value.n - 1) {
		VEC_PUSH(c->r->scratch, &c->list, str_sub(value, 1, close));
		map_put(&c->lists, intern(c, name).i, c->list.n);
		return true;
	}
	if (!str_starts(value, S("[None] * ")))
		return false;
	Type other = {.kind = TK_OTHER};
	bind(c, name, add_call(c, S("list"), type_intern(c->r->types, &other), NULL, 0, at));
	return true;
}

/* What stands between the brackets of the call, lists of arguments as what they hold. */
static Str arguments_of(CallReader *c, Str inside)
{
	Sym s = sym_find(c->r->program->names, str_trim(inside));
	uint32_t i = sym_none(s) ? 0 : map_get(&c->lists, s.i);
	return i ? c->list.v[i - 1] : inside;
}

/* One arm fills the list and so does the other: what is in it afterwards may be of either. */
static bool read_subgraph(CallReader *c, Str targets, Str value, Str at)
{
	Str callee, inside;
	if (targets.n < 2 || targets.p[0] != '(' || targets.p[targets.n - 1] != ')' || !pycall_is(value, &callee, &inside))
		return false;
	PyCallPart *part = NEW_N(c->r->scratch, PyCallPart, ARGS_MOST);
	Arg *args = NEW_N(c->r->scratch, Arg, ARGS_MOST + 1);
	uint32_t n = pycall_parts(arguments_of(c, inside), part, ARGS_MOST);
	for (uint32_t i = 0; i < n; i++)
		args[i] = read_arg(c, part[i].value, 0);
	for (uint32_t i = 1; i < targets.n - 1; i++) {
		uint32_t end = scan_part(targets, i, targets.n - 1);
		Str target = str_trim(str_sub(targets, i, end));
		i = end;
		target = str_sub(target, 0, str_find_char(target, '[', 0));
		NodeId before = node_of(c, target);
		args[n] = (Arg){.kind = AR_NODE, .u.node = before};
		if (str_is_ident(target))
			bind(c, target, add_call(c, callee, (TypeId){0}, args, n + (before.i != 0), at));
	}
	return true;
}

static bool is_idle(Str s)
{
	static const Str idle[] = {STR_INIT("pass"), STR_INIT("if "), STR_INIT("elif "), STR_INIT("else:"), STR_INIT("global "), STR_INIT("import "), STR_INIT("from ")};
	for (uint32_t i = 0; i < sizeof idle / sizeof *idle; i++)
		if (str_starts(s, idle[i]))
			return true;
	return str_starts(s, S("del ")) || (str_starts(s, S("with ")) && str_ends(s, S(":")));
}

static void read_statement(CallReader *c, Str s)
{
	Str left, value, callee, inside;
	if (!s.n || is_idle(s))
		return;
	if (str_starts(s, S("return")) && (s.n == 6 || s.p[6] == ' ')) {
		read_return(c, str_trim(str_sub(s, 6, s.n)), s);
	} else if (is_assignment(s, &left, &value)) {
		if (str_eq(value, S("args")))
			read_inputs(c, left);
		else if (str_is_ident(left) && !read_list(c, left, value, s))
			read_assign(c, left, value, s);
		else if (!str_is_ident(left) && !read_subgraph(c, left, value, s))
			add_unread(c, s, "an assignment to something else than one name");
	} else if (pycall_is(s, &callee, &inside)) {
		read_call(c, callee, inside, s);
	} else {
		add_unread(c, s, "a statement of no form that Inductor's code is known to have");
	}
}

/* ---- the function ---- */

/* The line of `def call(`; NO when there is none. */
static bool find_call(Str s, uint32_t *def, uint32_t *indent, uint32_t *body)
{
	for (uint32_t at = 0; at < s.n;) {
		uint32_t end = line_end(s, at), i = at;
		while (i < end && s.p[i] == ' ')
			i++;
		if (str_starts(str_sub(s, i, end), S("def call("))) {
			*def = i;
			*indent = i - at;
			*body = end < s.n ? end + 1 : s.n;
			return true;
		}
		at = end + 1;
	}
	return false;
}

/* "buf4 = buf3; del buf3": at semicolons outside brackets and strings. */
static void read_line(CallReader *c, Str line)
{
	while (line.n) {
		uint32_t end = 0;
		bool open = false;
		for (; end < line.n && (line.p[end] != ';' || open); end++)
			open ^= line.p[end] == '\'' || line.p[end] == '"';
		read_statement(c, str_trim(str_sub(line, 0, end)));
		line = str_sub(line, end + 1, line.n);
	}
}

static bool has_room(CallReader *c, Str line)
{
	if (c->g->nodes.n <= c->r->cfg->limits.graph_nodes)
		return true;
	uint32_t at = (uint32_t)(line.p - c->text->s.p);
	diag_unread(c->r->diags, text_span(c->text, at, at + line.n), "graph has more nodes than the limit; the rest was not read");
	c->g->incomplete = true;
	return false;
}

static void read_body(CallReader *c, uint32_t body, uint32_t indent)
{
	Str s = str_sub(c->text->s, body, c->text->s.n);
	uint64_t nesting = c->r->cfg->limits.nesting, bytes = c->r->cfg->limits.statement_bytes;
	Scan sc = scan_new(s, nesting < UINT32_MAX ? (uint32_t)nesting : UINT32_MAX, bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX,
	                   c->r->scratch);
	Stmt st;
	while (!c->returned && scan_next(&sc, &st)) {
		Str line = str_sub(s, st.at, st.end);
		if (st.kind == ST_COMMENT)
			continue;
		if (st.indent <= indent || !has_room(c, line))
			return;
		if (st.torn || st.too_long || st.too_deep)
			add_unread(c, line, "a statement that is too long, too deep, or cut off");
		else
			read_line(c, line);
	}
}

/* # AOT ID: ['0_inference'] */
static void set_name(CallReader *c)
{
	static const Str head = STR_INIT("# AOT ID: ['");
	Str s = str_sub(c->text->s, 0, 4096);
	uint32_t at = str_find(s, head, 0) + head.n, number;
	Str id = str_sub(s, at, str_find_char(s, '\'', at));
	c->g->name = intern(c, S("call"));
	if (at >= s.n || !id.n)
		return;
	c->g->name = intern(c, id);
	if (str_to_u32(str_sub(id, 0, str_find_char(id, '_', 0)), &number) && number < UINT32_MAX)
		c->g->aot_id = number + 1;
}

void read_output_code(Reader *r, ArtifactId id, const Artifact *art, const Text *text)
{
	uint32_t def, indent, body;
	if (!find_call(text->s, &def, &indent, &body))
		return;
	CallReader c = {.r = r, .text = text, .nodes = {.a = r->scratch}, .types = {.a = r->scratch}, .kernels = {.a = r->scratch}, .lists = {.a = r->scratch}};
	c.g = graph_add(r->program, r->keep);
	reader_graph_from(r, c.g, id, art);
	c.g->stage = STAGE_INDUCTOR;
	c.g->types_at_run = true;
	set_name(&c);
	uint64_t nesting = r->cfg->limits.nesting;
	c.values = value_reader(r->program->names, c.g, &c.nodes, r->scratch, nesting < UINT32_MAX ? (uint32_t)nesting : UINT32_MAX);
	Span at = text_span(text, def, line_end(text->s, def));
	c.g->at = at.at;
	c.g->end = at.end;
	find_kernels(&c);
	type_inputs(&c, body);
	read_body(&c, body, indent);
	c.g->truncated = !c.returned;
	if (c.g->truncated)
		diag_truncated(r->diags, at, "the function ends before its return");
}
