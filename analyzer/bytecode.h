/* SPDX-License-Identifier: MIT
 * bytecode: the code of a frame as `dis` of CPython 3.8 to 3.14 lists it, and the table of what each
 * instruction takes from the stack and puts there. A machine (machine.h) runs it; readers build it. */
#ifndef GRAPHLINT_BYTECODE_H
#define GRAPHLINT_BYTECODE_H

#include "base.h"

/* A Python version as 100 * major + minor: 3.9 is 309. 0 unknown. */
typedef uint32_t PyVersion;

typedef enum Op {
	OP_UNKNOWN, /* a name that no version has: Ins.name */
	OP_GAP,     /* instructions that the dump leaves out stand here */
#define OPCODE(name, lo, hi, act, k, text, pop, pop_a, push, push_a, flags, cache) OP_##name,
#define OPCODE_SPAN(name, lo, hi, act, k, text, pop, pop_a, push, push_a, flags, cache)
#include "opcodes.def"
#undef OPCODE
#undef OPCODE_SPAN
	OP_N
} Op;

/* What a frame does at an instruction; machine.c has one case for each. */
typedef enum Act {
	ACT_UNKNOWN, ACT_STOP, /* the second: known, and not followed */
	ACT_NONE, ACT_CONST, ACT_SMALL_INT, ACT_COMMON_CONST, ACT_NAMED_CONST,
	ACT_LOAD, ACT_LOAD_LOAD, ACT_STORE, ACT_STORE_STORE, ACT_STORE_LOAD, ACT_DELETE,
	ACT_MAKE_CELL, ACT_CLOSURE, ACT_DEREF, ACT_STORE_DEREF, ACT_DELETE_DEREF,
	ACT_GLOBAL, ACT_STORE_GLOBAL, ACT_DELETE_GLOBAL,
	ACT_ATTR, ACT_STORE_ATTR, ACT_DELETE_ATTR, ACT_SUPER_ATTR, ACT_SPECIAL,
	ACT_POP, ACT_COPY, ACT_SWAP, ACT_ROT, ACT_NIL,
	ACT_UNARY, ACT_BINARY, ACT_BINARY_OP, ACT_COMPARE, ACT_IDENTITY, ACT_EXC_MATCH, ACT_OPAQUE, ACT_PEEK,
	ACT_GETITEM, ACT_SETITEM, ACT_DELITEM, ACT_GETSLICE, ACT_SETSLICE,
	ACT_BUILD, ACT_BUILD_UNPACK, ACT_CONST_KEY_MAP, ACT_ADD, ACT_TO_TUPLE, ACT_INTRINSIC,
	ACT_UNPACK, ACT_UNPACK_EX, ACT_FORMAT, ACT_CONVERT,
	ACT_CALL, ACT_CALL_PLAIN, ACT_CALL_EX, ACT_KW_NAMES, ACT_FUNCTION, ACT_FUNCTION_ATTR,
	ACT_JUMP, ACT_JUMP_IF, ACT_JUMP_OR_POP, ACT_JUMP_NO_MATCH, ACT_FOR, ACT_ITER, ACT_RETURN,
	ACT_GENERATOR, ACT_YIELD, ACT_YIELD_FROM, ACT_SEND, ACT_END_SEND,
	ACT_IMPORT, ACT_IMPORT_FROM,
	ACT_WITH, ACT_WITH_START, ACT_WITH_FINISH, ACT_WITH_EXCEPT,
	ACT_SETUP, ACT_POP_BLOCK, ACT_CALL_FINALLY, ACT_END_FINALLY, ACT_POP_FINALLY,
	ACT_PUSH_EXC, ACT_POP_EXCEPT, ACT_RAISE, ACT_RERAISE
} Act;

/* What BUILD_* makes. */
typedef enum BuildKind { BUILD_TUPLE, BUILD_LIST, BUILD_SET, BUILD_MAP, BUILD_SLICE, BUILD_STRING } BuildKind;
/* How an instruction changes a container that stays on the stack. */
typedef enum AddKind {
	ADD_LIST_APPEND, ADD_LIST_EXTEND, ADD_SET_ADD, ADD_SET_UPDATE, ADD_MAP_ADD, ADD_DICT_UPDATE,
	ADD_DICT_MERGE /* keyword arguments of one call */
} AddKind;
typedef enum JumpIf { JUMP_FALSE, JUMP_TRUE, JUMP_NONE, JUMP_NOT_NONE } JumpIf;

typedef enum OpFlag {
	OF_NULL = 1,     /* pushes a NULL too where the listing shows one */
	OF_BITS = 2,     /* pops one more for each of the four low bits of its argument */
	OF_BIT0 = 4,     /* pops one more when the argument is odd */
	OF_SPEC = 8,     /* pops one more when the argument has bit 2 */
	OF_EX = 16,      /* pushes (arg & 255) + (arg >> 8) more */
	OF_DEEP = 32,    /* uses the arg-th value from the top, after the pops */
	OF_JUMP = 64,
	OF_END = 128,    /* nothing goes on behind it */
	OF_NO_ARG = 256, /* printed without an argument */
	OF_VAR = 512,    /* names a local */
	OF_VAR2 = 1024,  /* names a second one */
	OF_DEREF = 2048  /* names a variable that lives in a cell */
} OpFlag;

/* An opcode in a span of versions. */
typedef struct OpRow {
	Str name;
	uint16_t op, act; /* Op, Act */
	uint16_t lo, hi;  /* PyVersion, inclusive */
	uint16_t flags;   /* OpFlag */
	uint8_t k;        /* BuildKind, AddKind, JumpIf, or a number that act knows */
	uint8_t pop, pop_a, push, push_a, cache;
	Str text;         /* operator or name */
} OpRow;

/* The rows of an opcode by its printed name, *n of them; NULL: no version has it. */
const OpRow *op_rows(Str name, uint32_t *n);
/* The whole table, for tests. */
const OpRow *op_table(uint32_t *n);

/* Where the listing shows a NULL beside a name. */
typedef enum NullShown { NULL_NONE, NULL_PLAIN, NULL_SELF } NullShown;

#define INS_NONE UINT32_MAX

typedef struct Ins {
	const OpRow *row; /* never NULL */
	uint32_t arg;     /* 0 when none is printed */
	bool has_arg;
	uint8_t null;     /* NullShown */
	uint16_t gap;     /* 0: no bytes that nobody sets, so that equal ones have equal bytes */
	Sym repr;         /* what stands in the parentheses, of Code.texts; may have real newlines */
	Sym name;         /* repr without NULL, of instructions that name something; of OP_UNKNOWN the opcode */
	uint32_t var, var2; /* Code.vars */
	uint32_t target;  /* instruction to which it may jump; INS_NONE */
	uint32_t offset;  /* printed, or counted with inline caches where only labels are printed */
	uint32_t line;    /* source line; 0 none */
} Ins;

/* Bytes in the dump. */
typedef struct InsPlace {
	uint32_t at, end;
} InsPlace;

/* A variable of the frame: parameters first, then other locals, then cells and free variables. */
typedef struct CodeVar {
	Sym name;
	uint32_t index;   /* in varnames; up to 3.10 cells and free variables count from 0 again */
	bool deref;       /* of its own index space (up to 3.10) */
	bool cell;        /* lives in a cell */
	bool made;        /* MAKE_CELL makes the cell at the start (3.11 and later) */
	bool free;        /* comes with the closure (3.11 and later, where COPY_FREE_VARS says how many do) */
} CodeVar;

/* A row of the exception table (3.11 and later), in instructions. */
typedef struct Guard {
	uint32_t from, end; /* [from, end) */
	uint32_t target, depth;
	bool lasti;
} Guard;

typedef struct Code {
	Arena *a;
	const Names *texts;
	const Ins *ins;     /* another listing with the same text may have the same ones */
	InsPlace *places;   /* of ins */
	uint32_t n;
	CodeVar *vars;
	uint32_t nvars;
	Guard *guards;      /* in the order printed: the first that covers an instruction counts */
	uint32_t nguards;
	uint32_t nfree;     /* COPY_FREE_VARS */
	Sym enter, exit;    /* "__enter__", "__exit__" */
	PyVersion lo, hi;   /* versions that could have printed it */
	PyVersion python;   /* the one it is read as */
	bool labels;        /* jumps by label: 3.13 and later */
	bool incomplete;    /* something could not be read, is left out, or leads nowhere */
	bool truncated;     /* the last instruction goes on to one that is missing */
	FileId file;
} Code;

/* What an instruction takes and puts on the path behind it. `deep`: how many values must remain under those taken. */
typedef struct Effect {
	uint64_t pop, push, deep;
} Effect;
Effect ins_effect(const Ins *i);

static inline Op ins_op(const Ins *i) { return (Op)i->row->op; }
static inline Span ins_span(const Code *c, const Ins *i)
{
	const InsPlace *p = &c->places[i - c->ins];
	return (Span){c->file, p->at, p->end};
}
static inline Str ins_repr(const Code *c, const Ins *i) { return sym_str(c->texts, i->repr); }
/* Variable of a name; INS_NONE when the listing does not name it. A cell goes before a local of the same name. */
uint32_t code_var(const Code *c, Sym name);
/* Local with an index in varnames; INS_NONE. */
uint32_t code_local(const Code *c, uint32_t index);

/* ---- building ---- */

/* One instruction as read. Offsets and labels are kept apart until code_build resolves jumps. */
typedef struct RawIns {
	Str op, repr;
	uint32_t arg, offset, label, to; /* label, to: L1 is 1; 0 none. With offsets: `to` is offset + 1 */
	bool has_arg;
	uint32_t line, at, end;
	bool gap; /* stands for instructions that are left out */
} RawIns;

typedef struct RawGuard {
	uint32_t from, to, target, depth; /* offsets, or labels */
	bool lasti;
} RawGuard;

/* Where a Code goes: it lives in `keep`, names in `names`; what stands in parentheses in `texts` and instructions in
 * `arrays`, equal ones once. */
typedef struct CodeArenas {
	Arena *keep, *scratch;
	Names *names, *texts;
	Pool *arrays;
} CodeArenas;

/* Resolves names, versions, variables and jumps. `labels`: jumps by label. Text that cannot be what it says (a jump to
 * nowhere) makes the code incomplete; *fault is the instruction, INS_NONE when none. */
Code *code_build(const CodeArenas *to, const RawIns *ins, uint32_t n, const RawGuard *guards, uint32_t nguards, bool labels,
                 uint32_t *fault);
/* Chooses rows anew for a version that other listings of the same process decided. */
void code_set_python(Code *c, PyVersion lo, PyVersion hi);

/* Takes the repr of a code constant apart: <code object NAME at 0x..., file "F", line N>. Parts are slices of s. */
bool code_object_parse(Str s, Str *name, Str *file, uint32_t *line);

/* Stable text, a line an instruction. */
void code_dump(const Code *c, const Names *names, Buf *out);

#endif
