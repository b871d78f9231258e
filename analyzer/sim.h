/* SPDX-License-Identifier: MIT
 * sim: one run of a captured program over value numbers: frames by the machine, graphs by their summaries,
 * tensors by storages whose elements carry terms, Python objects by a heap. Two runs that differ in one cut are
 * compared by what they observe (verdict.h). Everything of a run lives in its arena. */
#ifndef GRAPHLINT_SIM_H
#define GRAPHLINT_SIM_H

#include "base.h"
#include "config.h"
#include "types.h"
#include "ir.h"
#include "facts.h"
#include "shapes.h"
#include "infer.h"
#include "bytecode.h"
#include "machine.h"
#include "term.h"
#include "sem.h"
#include "alias.h"

/* A value of the heap; what the machine moves. 0 is none. */
typedef uint32_t Ref;

typedef enum HeapKind {
	HK_NONE,
	HK_UNKNOWN,  /* anything: of hidden code, or not understood. term: its value number */
	HK_CONST,    /* None, Ellipsis, strings, bytes, True and False are numbers. name: its text as printed */
	HK_NUMBER,   /* int, float, bool. term; known and num where it is a plain integer */
	HK_TENSOR,   /* tensor: index into Sim.tensors. The Ref is the Python object: two Refs may name one tensor only if they are one */
	HK_LIST, HK_TUPLE, HK_SET, /* items */
	HK_DICT,     /* items: key, value, key, value ... in order of insertion */
	HK_SLICE,    /* items: start, stop, step */
	HK_RANGE,    /* items: start, stop, step (numbers) */
	HK_OBJECT,   /* attributes made when first asked for: self, modules, user objects. name: origin for messages */
	HK_NAME,     /* a global or dotted name that is no value of its own: torch.relu, print, __compiled_fn_3. name */
	HK_METHOD,   /* a: self, name: method */
	HK_FUNCTION, /* made by MAKE_FUNCTION or found as a code constant: name: its code's name; a: code, b: closure tuple, c: defaults */
	HK_CODE,     /* name: code's name; num: first line; text in repr */
	HK_CELL,     /* a: content, 0 empty */
	HK_ITER,     /* a: container, num: next position */
	HK_EXCEPTION /* name: class; items: arguments */
} HeapKind;

typedef struct HeapAttr {
	Sym name;
	Ref value; /* 0: deleted */
} HeapAttr;

typedef struct HeapObj {
	uint8_t kind;     /* HeapKind */
	bool known;       /* HK_NUMBER: num is its value. HK_UNKNOWN: surely no tensor and holds none */
	bool argument;    /* of the outermost frame: others reach it only where it is handed to them */
	bool root;        /* existed before the run: argument, module, global: observed at the end */
	bool opened;      /* an unknown list or dict: its items are not all known */
	bool fields;      /* HK_OBJECT: a named tuple, its items are all it holds */
	bool bare;        /* HK_OBJECT made by __new__: no constructor ran, its attributes are those set since */
	bool decorated;   /* HK_OBJECT: content of a cell of a closure of which nothing is known; a function, when called */
	Sym name;
	Str repr;
	TermId term;
	int64_t num;
	uint32_t tensor;
	Ref a, b, c;      /* of an opened HK_LIST or HK_TUPLE, c: the sequence of which the items follow; 0: unknown ones go before */
	VEC(Ref) items;
	VEC(HeapAttr) attrs;
	uint64_t origin;  /* stable name, equal in compared runs: for fresh terms of what is found in it */
} HeapObj;

/* Elements in memory. Up to Sim.small of them each has its term; larger ones are a whole and parts written since. */
enum { SIM_SMALL = 4096, SIM_DIMS = 12 };

typedef struct SimPart {
	uint64_t place;   /* hash of offset, sizes, strides, or of the way a view was made */
	bool known;       /* offset, sizes and strides are known */
	int64_t offset;
	uint32_t ndim;
	int64_t size[SIM_DIMS], stride[SIM_DIMS];
	TermId term;
} SimPart;

/* On which side of the cut a storage is. */
typedef enum SimSide { SIDE_NONE, SIDE_OLD, SIDE_NEW } SimSide;

typedef struct SimStore {
	uint32_t n;       /* elements of a small one; 0 large or unknown */
	TermId *e;
	int64_t total;    /* elements of a large one; 0 unknown */
	TermId whole;
	bool coarse;      /* made from a mixture: a part of it may not depend on all that whole does */
	VEC(SimPart) parts; /* newest last */
	uint64_t origin;
	uint32_t touched; /* writes so far */
	uint8_t side;     /* SimSide */
} SimStore;

/* Where a tensor comes from. */
typedef enum SimWhence {
	WHENCE_MADE,  /* an operator of the program */
	WHENCE_GIVEN, /* an argument, or made by hidden code: it may be a view, and may need a gradient */
	WHENCE_PARAMETER, WHENCE_BUFFER,
	WHENCE_ATTRIBUTE /* of a module: one of the two */
} SimWhence;

/* A tensor object: a view of a store. set_ and resize_ change it in place. */
typedef struct SimTensor {
	uint32_t store;
	uint32_t ndim;
	int64_t size[SIM_DIMS], stride[SIM_DIMS], offset;
	bool sized;       /* sizes are known */
	bool placed;      /* offset and strides too */
	bool assumed;     /* ... as far as they are no numbers that were taken for unknown ones */
	uint32_t numel;   /* of a small one */
	const uint32_t *idx; /* small: element of the store of each element, row-major */
	uint64_t place;   /* large: hash of the way from the store to here */
	DType dtype;
	Sym device;
	Ref self;         /* its object */
	uint64_t version; /* metadata writes so far */
	uint64_t origin;  /* equal in compared runs; 0: a copy that a cut made */
	/* As autograd sees it: indices into Sim.tensors. */
	uint8_t whence;   /* SimWhence */
	uint32_t parent;  /* what it was made a view of; 0: nothing, or by detach */
	uint32_t base;    /* ... and what that is a view of, and so on; 0: it is a root itself */
	bool guessed;     /* an argument of which strides alone suggest that it is a view of another one (sim_aot.h) */
	uint32_t wrapper; /* storage object around the memory: 0 the one that it was made with, others by way of arrays */
} SimTensor;

/* What is cut at every call of a graph. */
typedef enum SimCutKind {
	CUT_BOUNDARY, /* it hands out a copy of one output, or gets a copy of one input */
	CUT_TRACED    /* operators of which AOTAutograd traces a copy give one (NodeFrom.traced_copy) */
} SimCutKind;

typedef struct SimCut {
	GraphId graph; /* 0: nothing is cut */
	int32_t output, input; /* CUT_BOUNDARY: the other is -1 */
	SimCutKind kind;
	NodeId node;   /* CUT_TRACED: only this operator; 0 all of them */
} SimCut;

/* What hidden code does, the same in all runs that are compared. */
typedef enum Assume {
#define ASSUME(id, word) ASSUME_##id,
#include "assumes.def"
#undef ASSUME
	ASSUME_N
} Assume;

/* Reads and writes of the memory on both sides of a cut, for the evidence. */
typedef struct SimTouch {
	uint32_t store;
	bool write;
	bool cut_side;   /* the store of the copy */
	Span where;
	Str what;        /* operator or call */
	GraphId graph;   /* 0: in a frame */
	NodeId node;
} SimTouch;

typedef struct SimPrinted {
	TermId term;
} SimPrinted;

/* A value that left a graph, to find it again where it enters another. */
typedef struct SimLeft {
	Ref value;
	uint32_t store;
	GraphId graph;
	uint32_t output;
	uint32_t call; /* ordinal of the graph call */
} SimLeft;

/* Output of one graph that is an input of a later call. */
typedef struct SimFlow {
	GraphId from, to;
	uint32_t output, input;
	bool same; /* the very object; else it shares the storage */
} SimFlow;

/* A frame changes sizes, strides or storage of a tensor object that a graph handed out. */
typedef struct SimReshape {
	GraphId graph;
	uint32_t output;
	Span where;
	Sym op;
} SimReshape;

/* How a call leads to a frame of the dump. */
typedef enum CallGuess {
	GUESS_NOT,     /* by its name */
	GUESS_FORWARD, /* a part of an object that a global names is called: forward or __call__ of its class */
	GUESS_MODULE,  /* another object is called: the same, perhaps decorated */
	GUESS_CLOSURE, /* a function without a record of its name: of what decorates it there may be one */
	GUESS_ANY,     /* what stands in a cell of a closure: whatever was decorated */
	GUESS_INIT     /* a class of the program is called: __init__, on the new object that the first argument is */
} CallGuess;

/* A call that the driver has to make: Host.call answered VALUE_LATER. */
typedef struct SimCall {
	uint32_t frame;       /* Program.frames index + 1; 0: by function value below */
	Sym name;             /* __resume_at_100_3, torch_dynamo_resume_in_f_at_14, or a user function's name */
	Ref fn;               /* HK_FUNCTION with its closure, HK_METHOD of a user's object, or 0 */
	const Ref *args;      /* positional */
	uint32_t nargs;
	const Sym *names;     /* of the last nnames arguments; NULL none */
	uint32_t nnames;
	bool names_hidden;    /* some of the last arguments have names that are not known */
	bool resume;
	uint8_t guess;        /* CallGuess: code without a record, such as a library's, may run as well */
	Ref holder[2];        /* of a guess: what hidden code gets besides the arguments; 0 none */
	bool keeps_owner;     /* ... holder[1] does not get to know it */
	Ref rest, map;        /* f(*rest, **map) of which the items are not known; 0 none */
} SimCall;

/* Arms of branches that nothing decides, and other things that may be one way or the other. */
enum { SIM_CHOICES_MOST = 256 };
typedef struct SimChoices {
	uint8_t given[SIM_CHOICES_MOST], taken[SIM_CHOICES_MOST];
	uint8_t other[SIM_CHOICES_MOST]; /* not the way that is taken first */
	uint32_t ngiven, ntaken, asked;
} SimChoices;

struct GraphRun; /* sim_node.h */

typedef struct Sim {
	/* read only */
	const Program *p;
	Types *t;
	Facts *f;
	const Shapes *shapes;
	const SemTable *sem;
	const struct Quoted *quoted;     /* quoted.h; may be NULL */
	const NodeTypes *const *types;   /* by GraphId */
	const Summary *const *summaries; /* by GraphId */
	Names *names;
	Terms *terms;                    /* shared by compared runs */
	/* this run */
	struct SimLearned *learned;      /* shared by the runs of a program; NULL: nothing is learned */
	uint32_t small;                  /* elements of the largest small tensor: at most SIM_SMALL */
	Arena *a, *scratch, *inner; /* inner: rewound within one operator */
	SimCut cut;
	Assume assume;
	SimChoices choices;
	bool fields_chosen;    /* of a named tuple: names were given places by choice */
	bool impossible;       /* what hidden code would have returned is used as no tensor can be */
	bool misfit;           /* a graph was called with a tensor of other sizes than it takes */
	VEC(HeapObj) heap;     /* slot 0 unused */
	VEC(SimTensor) tensors; /* slot 0 unused */
	VEC(SimStore) stores;  /* slot 0 unused */
	uint32_t *in_order;    /* 0, 1, 2 ...: SimTensor.idx of many; in_order_n of them */
	uint32_t in_order_n;
	Map globals;           /* Sym -> Ref */
	Map attrs;             /* path of a graph attribute, Sym -> Ref */
	Map symbols;           /* size symbols of the graph that runs: Sym -> value + 1 */
	Map site_count;        /* site -> times seen */
	VEC(SimPrinted) printed;
	Ref spared;            /* hidden code does not get to know this object, though it may share what it holds */
	VEC(Ref) roots;        /* objects that existed before: arguments, self, modules, globals */
	VEC(SimTouch) touches;
	VEC(SimLeft) left;
	uint32_t left_calls; /* graph calls so far */
	VEC(SimFlow) flows;
	Map plain_left;        /* what a graph handed out that is no tensor: Ref -> index + 1 in plain */
	VEC(SimLeft) plain;
	VEC(SimReshape) reshapes;
	VEC(SimFlow) plain_flows; /* where it enters another graph */
	Map flow_seen;
	bool cut_made;
	bool tracing;          /* within the graph that CUT_TRACED is about */
	SimCall call;          /* with VALUE_LATER */
	Sym next_name;         /* of the next record that has not run yet; 0 none */
	uint64_t frame_site;   /* of the running frame: part of every site */
	Span here;             /* place in the dump of what runs */
	bool mixed;            /* sim_content met a large tensor of several parts since this was reset */
	Map assumed;           /* those of them for which a number was taken, since no argument decides them: Sym -> 1 */
	bool assumes;          /* such a symbol was asked for since this was reset */
	struct AotLog *aot;    /* what calls of graphs look like to AOTAutograd (sim_aot.h); NULL: not asked */
	uint32_t wrappers;     /* storage objects made around memory that had one */
	void (*watch)(void *ctx, const struct GraphRun *r); /* called behind each node of a graph, not of its bodies; NULL: nobody looks */
	void *watch_ctx;
	bool hidden_seen;      /* hidden code got a tensor on this path */
	bool unsure;           /* something was approximated so that nothing can be concluded from a difference */
	Str unsure_why;
	Span unsure_at;        /* where that was */
	bool stopped;          /* the run could not go on */
	Str why;
	uint64_t steps, max_steps;
} Sim;

/* ---- heap (sim_heap.c) ---- */
Ref sim_new(Sim *s, HeapKind kind);
HeapObj *sim_obj(Sim *s, Ref r);                 /* good until the next sim_new */
Ref sim_const(Sim *s, Str text);                 /* HK_CONST, one per text: None is None */
Ref sim_none(Sim *s);
Ref sim_int(Sim *s, int64_t v);
Ref sim_bool(Sim *s, bool v);
Ref sim_number(Sim *s, TermId term);             /* known when the term is a plain integer */
Ref sim_name(Sim *s, Sym dotted);                /* HK_NAME, one per name */
Ref sim_list(Sim *s, HeapKind kind, const Ref *v, uint32_t n);
Ref sim_unknown(Sim *s, uint64_t origin);        /* HK_UNKNOWN with a fresh term */
Ref sim_object(Sim *s, Sym name, uint64_t origin);
Ref sim_get_attr(Sim *s, Ref o, Sym name);       /* an attribute as it is, or as it was before the run: then made, by origin */
void sim_set_attr(Sim *s, Ref o, Sym name, Ref v);
bool sim_is_tensor(const Sim *s, Ref r);
/* A name for a place of execution, equal in the runs that are compared: frame, instruction, how often it was there. */
uint64_t sim_site(Sim *s, uint64_t instruction);
/* One way or the other: as this path has it, else `first`, and the other way is a path too. */
bool sim_choose(Sim *s, bool first);
/* Gives up: nothing can be concluded from this run. */
void sim_stop(Sim *s, Str why);
/* Something is only approximated from here on: neither a difference nor its absence proves anything. */
void sim_unsure(Sim *s, Str why);

/* ---- tensors (sim_tensor.c) ---- */
/* A tensor that existed before the run: contents are fresh terms by origin. `type` may be 0 (nothing known). */
Ref sim_root_tensor(Sim *s, TypeId type, uint64_t origin);
/* A new tensor with a store of its own; terms NULL: fresh by origin. */
Ref sim_new_tensor(Sim *s, TypeId type, const TermId *terms, uint64_t origin);
Ref sim_clone(Sim *s, Ref tensor);               /* own store, same contents, sizes, strides */
TermId sim_content(Sim *s, Ref tensor);          /* one term for all it holds now, sizes included */
void sim_note_origin(Sim *s, Ref tensor, Str name, bool attribute); /* what the name of an input, or of an attribute, says */
void sim_make_root(Sim *s, Ref view);            /* detach: for autograd it is no view */
void sim_wrap_memory(Sim *s, Ref tensor);        /* by way of an array: another storage object around the same memory */
bool sim_share(const Sim *s, Ref a, Ref b);      /* one store */
Tri sim_overlap(Sim *s, Ref a, Ref b);           /* elements in common? */
TypeId sim_type(Sim *s, Ref tensor);             /* concrete type for infer */

/* Terms of a small tensor's elements, row-major; false for large ones. */
bool sim_elements(Sim *s, Ref tensor, const TermId **out);
/* Writes elements of a small tensor: terms[k] at element map[k] (map NULL: at k). */
void sim_write_elements(Sim *s, Ref tensor, const uint32_t *map, uint32_t n, const TermId *terms);
/* Writes one term over all that a large tensor views. */
void sim_write_whole(Sim *s, Ref tensor, TermId term);
/* A view: element k is element map[k] of base, sizes of `type`; map NULL: not known which (large, or not understood):
 * then `way` names how it was made. */
Ref sim_view(Sim *s, Ref base, TypeId type, const uint32_t *map, uint64_t way);
/* A view of a large tensor whose place in the storage is known. */
Ref sim_view_placed(Sim *s, Ref base, TypeId type, const int64_t *size, const int64_t *stride, uint32_t ndim, int64_t offset);
/* Writes one term over a part of a large tensor. */
void sim_write_part(Sim *s, Ref tensor, const int64_t *size, const int64_t *stride, uint32_t ndim, int64_t offset, TermId term);
/* A view whose elements are those of the store given. */
Ref sim_view_of_store(Sim *s, Ref base, TypeId type, const uint32_t *idx, uint32_t n);
/* A number under the symbols of the graph that runs; false when one is unknown. */
bool sim_expr(Sim *s, ExprId e, int64_t *out);
/* Do offset and strides of a sized tensor say where its elements are? */
bool sim_is_placed(const SimTensor *t);
/* Concrete sizes under the symbols of the graph that runs; false when one is unknown or there are too many. */
bool sim_sizes(Sim *s, TypeId type, int64_t *size, int64_t *stride, bool *strided, uint32_t *ndim);
static inline SimTensor *sim_tensor_of(Sim *s, Ref r) { return &s->tensors.v[sim_obj(s, r)->tensor]; }

/* ---- graphs and operators (sim_graph.c) ---- */
/* Runs a captured graph on values; the result is a tuple, or the bare value where the graph returns one. */
Ref sim_graph(Sim *s, GraphId id, const Ref *args, uint32_t n);
/* Runs one operator eagerly, as frames do between graphs: callee as in ir.h, arguments with self first; names[i] is
 * the keyword of argument i or 0. Gives what it returns; an operator without facts counts as hidden code. */
Ref sim_operator(Sim *s, Callee callee, Str target, const Ref *args, const Sym *names, uint32_t n);
/* item(), int(x), float(x), bool(x): the number that a tensor gives. */
Ref sim_item(Sim *s, Ref tensor);
/* Code that the dump does not show gets these values: does what the run assumes. Gives what it returns. */
Ref sim_hidden(Sim *s, Str what, const Ref *args, uint32_t n);

/* ---- frames (sim_host.c) ---- */
/* The host that runs bytecode over the heap; ctx is the Sim. */
extern const Host sim_host;

#endif
