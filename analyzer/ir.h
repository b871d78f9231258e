/* SPDX-License-Identifier: MIT
 * ir: captured graphs. One form for every printout; readers build it, passes read it.
 *
 * A graph owns its nodes and arguments (artifact lifetime). Results of passes are arrays of their own,
 * indexed by NodeId. NodeId 0 is none; node ids are in program order. */
#ifndef GRAPHLINT_IR_H
#define GRAPHLINT_IR_H

#include "base.h"
#include "types.h"

typedef enum Stage {
#define STAGE(id, word) STAGE_##id,
#include "stages.def"
#undef STAGE
	STAGE_N
} Stage;
Str stage_name(Stage s);

typedef enum NodeKind {
	NK_NONE,
	NK_PLACEHOLDER,
	NK_GET_ATTR,   /* target: path below self, "lin.weight" */
	NK_CALL,       /* see Callee */
	NK_UNREAD      /* a statement that could not be read: may do anything with the nodes in its arguments */
} NodeKind;

/* How the target of an NK_CALL was written; with the target it is the key into the operator facts. */
typedef enum Callee {
	CALLEE_NONE,
	CALLEE_METHOD,   /* x.view(...): target "view", args[0] is x */
	CALLEE_ATTR,     /* x.T, getattr(x, "T"): target "T", args[0] is x */
	CALLEE_OPERATOR, /* Python syntax: target "add", "getitem", "setitem", "iadd", "neg" ... */
	CALLEE_FUNCTION, /* dotted path or plain name: "torch.relu", "len", "torch.ops.aten.view.default" */
	CALLEE_MODULE    /* self.lin(x): target is the path "lin" */
} Callee;

typedef enum ArgKind {
	AR_NONE,     /* Python None */
	AR_NODE,     /* node */
	AR_BOOL,     /* num 0 or 1 */
	AR_INT,      /* num */
	AR_FLOAT,    /* real */
	AR_STR,      /* sym: contents */
	AR_NAME,     /* sym: dotted constant: torch.float32, inf, torch.contiguous_format; an unbound name too */
	AR_TUPLE,    /* children */
	AR_LIST,     /* children */
	AR_DICT,     /* children: key, value, key, value ... */
	AR_SLICE,    /* three children: start, stop, step */
	AR_ELLIPSIS,
	AR_CALL,     /* sym: callee text; children: arguments. device(type='cpu'), range(0, 3), torch.Size([2]) */
	AR_EXPR,     /* sym: operator ("add", "floordiv", ...); children: operands. Nested arithmetic */
	AR_STARRED,  /* one child: *args */
	AR_UNKNOWN   /* text that is no argument form known; children are the nodes named in it */
} ArgKind;

typedef struct Arg {
	uint8_t kind; /* ArgKind */
	Sym key;      /* keyword, for arguments of a call; 0 positional */
	union {
		NodeId node;
		Sym sym;
		int64_t num;
		double real;
	} u;
	uint32_t at, n; /* children: Graph.args[at .. at+n) */
} Arg;

/* Where the user's program made a node, from the comment above it. */
typedef struct SrcLoc {
	Sym file, function;
	uint32_t line;
	Span code; /* the quoted source line within the dump */
} SrcLoc;

typedef enum NodeFlag {
	NF_AUGMENTED = 1, /* x += y: the name on the left was rebound to this node */
	NF_TYPED = 2,     /* an annotation stood at the statement (also one that is no tensor) */
	NF_PARTIAL = 4    /* some argument is AR_UNKNOWN */
} NodeFlag;

typedef struct Node {
	uint8_t kind, callee; /* NodeKind, Callee */
	uint16_t flags;       /* NodeFlag */
	Sym name;             /* unique in the graph where the printer names it; the renamed one for placeholders */
	Sym target;           /* placeholder: the name in the signature; see Callee */
	uint32_t arg_at, nargs; /* Graph.args, positional ones first */
	TypeId type;          /* as printed; 0 none */
	uint32_t loc;         /* Graph.locs; 0 none */
	uint32_t at, end;     /* bytes of the statement in the source file, without deletions */
} Node;

typedef enum ExportKind {
	EXPORT_NONE,
#define EXPORT_ROLE(id, word, words, back) EXPORT_##id,
#include "export_roles.def"
#undef EXPORT_ROLE
	EXPORT_N
} ExportKind;

/* What the signature of an exported program says of an input or output. */
typedef struct ExportRole {
	uint8_t kind; /* ExportKind */
	Sym target;   /* "lin.weight"; 0 none */
} ExportRole;

/* One element of what the graph returns. */
typedef struct Output {
	Arg arg;
	uint32_t at, end; /* bytes in the source file */
	Sym descriptor;   /* "PlainAOTOutput(idx=0)" of expanded prints; 0 none */
	uint32_t top;     /* element of the returned tuple that it stands in */
	bool nested;      /* that element is a tuple, list or dict itself */
	ExportRole role;
} Output;

/* Where the memory of an input lay when its graph was captured: describe_tensor of a trace, the arguments of a
 * repro. It tells of that one call: a graph is called again with inputs that lie otherwise. */
typedef struct InputPlace {
	uint32_t storage; /* inputs with one number are in one storage, with two in two; 0 not told */
	uint32_t ndim;
	const int64_t *size, *stride; /* NULL: not told. Then offset is not either */
	int64_t offset;   /* elements from the beginning of the storage */
	uint32_t bytes;   /* of an element; 0 not told */
	Span said;        /* the text that says so */
} InputPlace;

/* A nested class: the body of a higher-order operator or a submodule. */
typedef struct Child {
	Sym attr;       /* name of the class = attribute of the parent */
	GraphId graph;
} Child;

typedef struct Graph {
	GraphId id;
	Arena *a;
	Sym name;          /* header line name, else class name, else "forward" */
	Sym class_name;
	Stage stage;
	bool tabular;      /* printed as graph() text or table, not as code */
	ArtifactId artifact;
	FileId file, unit; /* unit: the files of the run that printed it, by one of them; graphs of two units never join */
	uint32_t at, end;  /* header (class or def line, or the `===== name =====` line) in the source file */
	Sym compile_id;    /* "1/0"; 0 none */
	uint32_t attempt;  /* of "[0/0_1]" */
	uint32_t aot_id;   /* N of "Forward graph N", plus 1; 0 none */
	Sym process;       /* rank and process it was printed by; graphs of two processes never join */
	VersionSpan torch; /* versions that could have printed it */
	GraphId parent;      /* body of that graph; 0 top level */
	GraphId printing_of; /* a further printing of that graph; 0 this is the one to analyse */
	GraphId of;          /* AOT graph: its Dynamo graph; body: the graph that holds it */
	bool superseded;     /* of an attempt that was given up: no bytecode calls it */
	bool truncated;      /* no return was seen */
	bool incomplete;     /* some statement could not be read */
	bool returns_bare;   /* return x, not return (x,) */
	bool types_at_run;   /* types are those of the moment when each node runs, not of the end of a trace */
	VEC(Node) nodes;     /* slot 0 unused */
	VEC(Arg) args;
	VEC(SrcLoc) locs;    /* slot 0 unused */
	VEC(NodeId) inputs;
	VEC(Sym) input_descriptors; /* parallel to inputs when the print has them, else empty */
	VEC(InputPlace) places; /* parallel to inputs when the dump tells of any, else empty */
	ExportRole *input_roles; /* parallel to inputs, of exported programs with a signature, else NULL */
	VEC(Output) outputs;
	VEC(Child) children;
	Map child_at;        /* Sym of a child -> its index + 1 in children, the first of equal ones; see graph_index_children */
	uint32_t nchild_at;  /* children that it knows */
	VEC(NodeId) unread;  /* NK_UNREAD nodes */
	bool settled;        /* args may be those of another graph, too */
} Graph;

/* A class of a child module, from a printed module tree: lin -> Linear. */
typedef struct ModuleClass {
	Sym path, cls;
	Sym ctor;       /* text between the parentheses */
	FileId file;
	ArtifactId artifact;
} ModuleClass;

/* A frame of which bytecode is shown. */
typedef struct Frame {
	Sym name, file;      /* code object's name and file */
	Sym alias;           /* the name by which its callers call it, where the dump says it; 0 none */
	uint32_t first_line; /* of the code object */
	bool modified;
	Sym compile_id, process;
	uint32_t attempt;
	FileId dump, unit;   /* unit: as of a graph */
	uint32_t at, end;    /* header line in the dump */
	ArtifactId artifact;
	struct Code *code;   /* bytecode.h; NULL when nothing of the listing could be read */
} Frame;

typedef struct Program {
	Arena *a;           /* run lifetime */
	Names *names;
	Names *texts;        /* texts that come again and again: constants of bytecode, values of frames */
	Pool arrays;         /* the same of arguments and instructions: several ranks print the same, a recompile much of it */
	VEC(Graph *) graphs; /* slot 0 unused; in order of printing */
	VEC(Frame) frames;
	VEC(ModuleClass) modules;
} Program;

void program_init(Program *p, Arena *a, Names *names);
/* A new empty graph; its memory comes from `a`. */
Graph *graph_add(Program *p, Arena *a);
/* The same for a graph of which it is not known yet how long it gets: it lives in `keep`, but what it holds in `build` until
 * graph_settle, which leaves no room to spare, and after which nothing is added any more. By then the children have their names: graph_child is fast from there on. */
Graph *graph_begin(Program *p, Arena *keep, Arena *build);
void graph_settle(Program *p, Graph *g, Arena *keep);
static inline Graph *graph_get(const Program *p, GraphId id) { return id.i && id.i < p->graphs.n ? p->graphs.v[id.i] : NULL; }
static inline const Node *graph_node(const Graph *g, NodeId id) { return &g->nodes.v[id.i]; }
/* Appends a node whose arguments are args[0..n) (their children must be in g->args already). */
NodeId graph_add_node(Graph *g, Node node, const Arg *args, uint32_t n);
/* Appends children and returns an argument of `kind` that holds them. */
Arg graph_compound(Graph *g, ArgKind kind, Sym sym, const Arg *kids, uint32_t n);
/* NULL in a graph without any arguments: NULL + 0 is not defined. */
static inline const Arg *node_args(const Graph *g, const Node *n) { return g->args.v ? g->args.v + n->arg_at : NULL; }
static inline const Arg *arg_kids(const Graph *g, const Arg *a) { return g->args.v ? g->args.v + a->at : NULL; }
/* Did two inputs lie in one storage when the graph was captured? TRI_MAY: the dump does not tell. */
Tri graph_inputs_share(const Graph *g, uint32_t i, uint32_t j);
/* Did some element belong to both? TRI_MAY: the dump does not tell, or it would take too long to say. */
Tri graph_inputs_overlap(const Graph *g, uint32_t i, uint32_t j);
GraphId graph_child(const Graph *g, Sym attr); /* 0 when there is none */
Span node_span(const Graph *g, NodeId id);
Span graph_span(const Graph *g);
/* Calls f for every node id in an argument tree, in order; iterative. */
void arg_each_node(const Graph *g, const Arg *a, void (*f)(void *ctx, NodeId id), void *ctx);

/* Checks what every reader must keep (ids in range, args before use, unique inputs ...); the fault as text, or empty. */
Str ir_check(const Program *p, Arena *a);
/* The stable text of --dump=ir. */
void ir_dump(const Program *p, const Types *t, Buf *out);
void arg_text(const Program *p, const Graph *g, const Arg *a, Buf *out);

#endif
