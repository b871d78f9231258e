/* SPDX-License-Identifier: MIT
 * infer_call: one call under the shape rules: its arguments by role, and the result that the words
 * of its row give. The functions named in shape_rules.def are declared here; infer_view.c,
 * infer_new.c, infer_space.c and infer_number.c hold them. */
#ifndef GRAPHLINT_INFER_CALL_H
#define GRAPHLINT_INFER_CALL_H

#include "base.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "shapes.h"
#include "layout.h"
#include "infer.h"

/* torch.amp regions: what products come out as. */
typedef enum AutocastState { AUTOCAST_OFF, AUTOCAST_ON, AUTOCAST_UNKNOWN } AutocastState;

typedef struct Autocast {
	NodeId enter;
	AutocastState state;
	DType dtype;
	Str device; /* "cpu" */
} Autocast;

/* One graph on the way. */
/* What an object was before each write of a layout in its cluster, from the last write on. */
typedef struct Undo {
	TypeId end;     /* its layout at the end, from which the way goes back */
	TypeId *before; /* before[k]: before write k; known from `done` on */
	uint32_t done;
	bool stuck;     /* write done - 1 cannot be undone */
} Undo;

typedef struct Infer {
	const Program *p;
	const Graph *g;
	Types *t;
	Names *names;
	Facts *f;
	const Shapes *rules;
	VersionSpan torch;
	NodeTypes nt;
	Arena *a;
	uint32_t vmap; /* open _vmap_increment_nesting regions */
	VEC(Autocast) autocast; /* open regions, innermost last */
	VEC(Undo) undos;
	Map undos_of; /* cluster and layout at the end -> index + 1 */
	uint64_t undo_room; /* steps that may still be kept */
	uint32_t *nlayout; /* by cluster: how many nodes write layouts; NULL as nt.object */
	uint32_t members_left; /* how many members of tuples may still be kept */
	Map child; /* bodies of the graph, by the Sym of their attribute */
} Infer;

typedef struct Call {
	Infer *in;
	Types *t;
	const Graph *g;
	NodeId id;
	const Node *n;
	const ShapeRow *row;
	const Arg *arg[SR_N]; /* by role; NULL: not given, or None */
	const Arg *rest; /* positional ones from a variadic parameter on */
	uint32_t nrest;
	uint8_t rest_role; /* SR_NONE: no variadic parameter was reached */
	ExprId size[TYPE_DIMS_MOST]; /* what a SK_SIZE rule gives */
	uint32_t ndim;
} Call;

/* What a call returns: one value, or several. */
typedef struct Result {
	TypeId one;
	bool many;
	const TypeId *v;
	uint32_t n;
} Result;

/* The result of a call by the first row that fits it; false when none does. */
bool infer_call(Infer *in, NodeId id, Result *r);
/* What the first argument was before a call that wrote its layout (t_, transpose_, unsqueeze_),
 * from what it is afterwards. False when that does not tell. */
bool infer_call_undo(Infer *in, NodeId id, TypeId after, TypeId *before);
/* Body graph that an attribute of the graph names; 0 none. */
GraphId infer_child(const Infer *in, Sym attr);

/* Binds the call to the first row that fits it; false when none does. */
bool call_bind(Call *c, Infer *in, NodeId id);

/* ---- arguments ---- */
TypeId call_type(Call *c, ShapeRole role); /* as the call finds it; 0 unknown or not given */
const Type *call_tensor(Call *c, ShapeRole role); /* the same with dims known, else NULL */
TypeId call_input(Call *c);
/* Values; false when not given or not known. */
bool call_int(Call *c, ShapeRole role, int64_t *out);
bool call_dim(Call *c, ShapeRole role, int64_t dflt, uint32_t ndim,
              uint32_t *out); /* wrapped; dflt when not given */
bool call_bool(Call *c, ShapeRole role, bool dflt,
               bool *out); /* false only when given and not known */
/* An int or a list of ints. */
bool call_ints(Call *c, ShapeRole role, int64_t *v, uint32_t most, uint32_t *n);
ExprId call_expr(Call *c, ShapeRole role);
/* A number or a list of numbers, or those from a variadic parameter on; a value may be 0 (unknown).
 * False when their number is not known. v is TYPE_DIMS_MOST long. */
bool call_exprs(Call *c, ShapeRole role, ExprId *v, uint32_t *n);
bool call_given(const Call *c, ShapeRole role);
DType call_dtype(Call *c, const Arg *a); /* torch.float32; DT_NONE when it is none */
Sym call_device_of(Infer *in,
                   const Arg *a); /* "cuda:0", device(type='cuda', index=0); 0 when it is none */
bool call_format(Call *c, MemoryFormat *out); /* false when not given; MF_UNKNOWN when not known */
/* The tensors of a list argument or of a variadic parameter; false when it is not known which. */
bool call_list(Call *c, ShapeRole role, const Arg **v, uint32_t *n);
TypeId call_arg_type(Call *c, const Arg *a);
/* The types of a list's members into memory of the pass. False when their number is not known. */
bool call_list_types(Call *c, ShapeRole role, TypeId **v, uint32_t *n);

/* Types of input, other and third, and of the condition before them if that is asked for; at
 * most 4. */
uint32_t call_operands(Call *c, TypeId *ops, bool condition);
Sym call_operand_device(Call *c);

/* ---- results ---- */
/* Several values; false, and nothing is known of them, when the graph has had more than its share.
 */
bool call_result_many(Call *c, Result *r, TypeId *v, uint32_t n);
bool call_has_room(const Call *c, uint32_t n);
bool call_sizes_like(Call *c, TypeId like); /* c->size from a tensor type */
/* A new tensor by a layout rule, sizes given. */
TypeId call_new(Call *c, Layout rule, DType dtype, const TypeId *ops, uint32_t nops,
                const ExprId *size, uint32_t ndim);
DType call_result_dtype(Call *c, uint32_t k);
Layout infer_layout_attention(Call *c); /* of the result of scaled_dot_product_attention */
DType call_product_dtype(Call *c,
                         DType d); /* of a product of operands of that dtype: autocast changes it */
DType dtype_real(DType d);
Sym type_device(const Types *t, TypeId id);
DType type_dtype(const Types *t, TypeId id);
TypeId type_number(Types *t, DType cls, ExprId value); /* a Python number */
bool dim_wrap(int64_t dim, uint32_t ndim, uint32_t *out);
/* Common shape of two size lists; out is TYPE_DIMS_MOST long. */
bool sizes_broadcast(Types *t, const ExprId *a, uint32_t na, const ExprId *b, uint32_t nb,
                     ExprId *out, uint32_t *n);
/* Dtype of nested lists of Python numbers and tensors (what torch.tensor(data) takes); DT_NONE
 * unknown. */
DType data_dtype(Call *c, const Arg *data);

/* The result of a Python operator or of a math or sym function on numbers; false when some operand
 * is none. */
bool infer_number_call(Infer *in, NodeId id, Result *r);
/* The same by the operator's name ("add", "floordiv"); 0 when it is not known or an operand is no
 * number. */
TypeId infer_number_apply(Types *t, Str op, const TypeId *v, uint32_t n);

#define SHAPE_RULE(id, word, kind, fn) SHAPE_DECLARE_##kind(fn)
#define SHAPE_DECLARE_SK_NONE(fn)
#define SHAPE_DECLARE_SK_VIEW(fn) bool fn(Call *c, Result *r);
#define SHAPE_DECLARE_SK_SIZE(fn) bool fn(Call *c, Result *r);
#define SHAPE_DECLARE_SK_MANY(fn) bool fn(Call *c, Result *r);
#define SHAPE_DECLARE_SK_NUMBER(fn) bool fn(Call *c, Result *r);
#include "shape_rules.def"
#undef SHAPE_RULE

#endif
