/* SPDX-License-Identifier: MIT */
#include "read_target.h"

static bool is_operator(Str name)
{
	static const Str names[] = {
#define OPERATOR(word) STR_INIT(word),
#include "operators.def"
#undef OPERATOR
	};
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

typedef struct FunctionPath {
	Str name, path;
} FunctionPath;

static Str path_in(const FunctionPath *table, uint32_t n, Str name)
{
	for (uint32_t i = 0; i < n; i++)
		if (str_eq(table[i].name, name))
			return table[i].path;
	return (Str){0};
}

static Str builtin_path(Str name)
{
	static const FunctionPath table[] = {
#define BUILTIN_FUNCTION(name, path) {STR_INIT(name), STR_INIT(path)},
#define PYTHON_FUNCTION(name, path)
#include "functions.def"
#undef BUILTIN_FUNCTION
#undef PYTHON_FUNCTION
	};
	return path_in(table, sizeof table / sizeof *table, name);
}

static Str python_path(Str name)
{
	static const FunctionPath table[] = {
#define BUILTIN_FUNCTION(name, path)
#define PYTHON_FUNCTION(name, path) {STR_INIT(name), STR_INIT(path)},
#include "functions.def"
#undef BUILTIN_FUNCTION
#undef PYTHON_FUNCTION
	};
	return path_in(table, sizeof table / sizeof *table, name);
}

static Target target(Callee callee, Str name)
{
	return (Target){callee, name};
}

Target target_of_path(Str path)
{
	static const Str operators[] = {STR_INIT("operator."), STR_INIT("_operator.")};
	for (uint32_t i = 0; i < 2; i++)
		if (str_starts(path, operators[i]))
			return target(CALLEE_OPERATOR, str_sub(path, operators[i].n, path.n));
	if (str_starts(path, S("builtins.")))
		return target(CALLEE_FUNCTION, str_sub(path, S("builtins.").n, path.n));
	return target(CALLEE_FUNCTION, path);
}

uint32_t target_object_end(Str s, uint32_t at)
{
	uint32_t depth = 0;
	for (uint32_t i = at; i < s.n; i++) {
		if (s.p[i] == '<')
			depth++;
		else if (s.p[i] == '>' && s.p[i - 1] != '-' && --depth == 0)
			return i + 1;
	}
	return s.n;
}

/* What stands between `before` and the first `after` behind it; empty when the text has another
 * form. */
static Str between(Str s, Str before, Str after)
{
	if (!str_starts(s, before))
		return (Str){0};
	uint32_t end = str_find(s, after, before.n);
	return end == s.n ? (Str){0} : str_sub(s, before.n, end);
}

static Str dotted(Arena *a, Str head, Str tail)
{
	return str_printf(a, STR_FMT "." STR_FMT, STR_ARG(head), STR_ARG(tail));
}

/* <OpOverload(op='aten.add', overload='Tensor')>, <OpOverloadPacket(op='aten.add')>: repr in
 * torch/_ops.py. */
static Str operator_object(Str object, Arena *scratch)
{
	Str op = between(object, S("<OpOverload(op='"), S("'"));
	if (!op.n)
		op = between(object, S("<OpOverloadPacket(op='"), S("'"));
	if (!op.n)
		return op;
	Str path = dotted(scratch, S("torch.ops"), op);
	uint32_t at = str_find(object, S("overload='"), 0);
	Str overload = between(str_sub(object, at, object.n), S("overload='"), S("'"));
	return overload.n ? dotted(scratch, path, overload) : path;
}

/* Methods of the tensor class itself: <method 'add_' of 'torch._C._TensorBase' objects>, and slot
 * wrappers. */
static Str tensor_method(Str object)
{
	Str name = between(object, S("<method '"), S("'"));
	if (!name.n)
		name = between(object, S("<slot wrapper '"), S("'"));
	bool tensor = str_has(object, S("TensorBase' objects>")) ||
	              str_has(object, S("'Tensor' objects>")) ||
	              str_has(object, S(".Tensor' objects>"));
	return tensor ? name : (Str){0};
}

/* <function f.<locals>.g at 0x7f..>: the address differs from run to run and says nothing. */
static Str without_address(Str object)
{
	uint32_t at = str_rfind(object, S(" at 0x"));
	return str_sub(object, object.n && object.p[0] == '<' ? 1 : 0,
	               at < object.n ? at : object.n - 1);
}

static Str function_object(Str object, Arena *scratch)
{
	Str name = between(object, S("<built-in method "), S(" of type object"));
	if (name.n) /* torch._C._VariableFunctions */
		return dotted(scratch, S("torch"), name);
	name = between(object, S("<function "), S(" at 0x"));
	if (!name.n)
		name = between(object, S("<built-in function "), S(">"));
	if (!name.n)
		name = between(object, S("<class '"), S("'"));
	return str_starts(name, S("builtins.")) ? str_sub(name, S("builtins.").n, name.n) : name;
}

Str target_object_name(Str object, Arena *scratch)
{
	Str name = operator_object(object, scratch);
	if (!name.n)
		name = function_object(object, scratch);
	if (!name.n) { /* an enumeration: <Reduction.MEAN: 1> */
		uint32_t colon = str_find(object, S(": "), 0);
		if (colon < object.n && colon > 1)
			name = str_sub(object, 1, colon);
	}
	if (!name.n)
		name = without_address(object);
	return name.n ? name : object;
}

/* Names without angle brackets: operators of a dispatcher print as aten.add.Tensor
 * (OpOverload.__str__ in torch/_ops.py), higher-order operators by their bare name. */
static Target plain_target(Str object, Arena *scratch)
{
	if (str_find_char(object, '.', 0) == object.n)
		return target(CALLEE_FUNCTION, dotted(scratch, S("torch.ops.higher_order"), object));
	if (str_starts(object, S("torch.")))
		return target(CALLEE_FUNCTION, object);
	return target(CALLEE_FUNCTION, dotted(scratch, S("torch.ops"), object));
}

/* add_1 -> add: node names are the function's name with a number. */
static Str without_number(Str s)
{
	uint32_t n = s.n;
	while (n && s.p[n - 1] >= '0' && s.p[n - 1] <= '9')
		n--;
	return n < s.n && n > 1 && s.p[n - 1] == '_' ? str_sub(s, 0, n - 1) : s;
}

/* <function NAME at 0x...>. Functions of torch.nn.functional that choose between two print the
 * chooser's name (torch/_jit_internal.py: boolean_dispatch); there the node's name tells which one
 * it is. */
static Target python_target(Str name, Str node)
{
	Str method = S("Tensor.");
	if (str_starts(name, method))
		return target(CALLEE_METHOD, str_sub(name, method.n, name.n));
	Str path =
		python_path(str_eq(name, S("boolean_dispatch.<locals>.fn")) ? without_number(node) : name);
	return target(CALLEE_FUNCTION, path.n ? path : name);
}

static Target builtin_target(Str name, Arena *scratch)
{
	if (is_operator(name))
		return target(CALLEE_OPERATOR, name);
	Str path = builtin_path(name);
	return target(CALLEE_FUNCTION, path.n ? path : dotted(scratch, S("torch._C._nn"), name));
}

Target target_of_object(Str object, Str node, Arena *scratch)
{
	if (!object.n || object.p[0] != '<')
		return plain_target(object, scratch);
	Str method = tensor_method(object);
	if (method.n)
		return target(CALLEE_METHOD, method);
	Str name = target_object_name(object, scratch);
	if (str_starts(object, S("<built-in function ")))
		return builtin_target(name, scratch);
	if (str_starts(object, S("<function ")))
		return python_target(name, node);
	return target(CALLEE_FUNCTION, name);
}
