/* SPDX-License-Identifier: MIT
 * GL604: values that are read back to the host: in graphs, in the code between them, by the reasons of breaks. */
#include "check_breaks.h"

typedef enum HostWhen { HOST_ALWAYS, HOST_TENSOR_ARG, HOST_ONE_ARG, HOST_NO_CLASSES, HOST_MASK, HOST_MASK_TENSOR, HOST_NEVER } HostWhen;

static HostWhen host_read(Str op)
{
	static const struct {
		Str op;
		HostWhen when;
	} known[] = {
#define HOST_READ(op, when) {STR_INIT(op), HOST_##when},
#include "host_reads.def"
#undef HOST_READ
	};
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(known[i].op, op))
			return known[i].when;
	return HOST_NEVER;
}

/* ---- in graphs ---- */

static bool is_tensor(const CheckCtx *c, const CheckGraph *cg, const Arg *a)
{
	return a->kind == AR_NODE && check_arg_type(c, cg, a)->kind == TK_TENSOR;
}

typedef struct MaskSearch {
	const CheckCtx *c;
	const CheckGraph *cg;
	bool found;
} MaskSearch;

static void look_for_mask(void *ctx, NodeId id)
{
	MaskSearch *s = ctx;
	const Type *t = check_type(s->c, s->cg, id);
	s->found |= t->kind == TK_TENSOR && (t->dtype == DT_B8 || t->dtype == DT_U8) && (!t->has_shape || t->ndim);
}

static bool has_mask(const CheckCtx *c, const CheckGraph *cg, const Arg *index)
{
	MaskSearch s = {c, cg, false};
	arg_each_node(cg->g, index, look_for_mask, &s);
	return s.found;
}

/* A tensor of one element on the host is stored like a number: masked_fill does it. */
static bool is_stored_as_tensor(const CheckCtx *c, const CheckGraph *cg, const Arg *v)
{
	if (!is_tensor(c, cg, v))
		return false;
	const Type *t = check_arg_type(c, cg, v);
	return !(t->has_shape && !t->ndim);
}

static bool reads_back(const CheckCtx *c, const CheckGraph *cg, NodeId id, HostWhen when)
{
	const Node *n = graph_node(cg->g, id);
	const Arg *a = node_args(cg->g, n);
	switch (when) {
	case HOST_ALWAYS: return n->nargs && is_tensor(c, cg, &a[0]);
	case HOST_TENSOR_ARG: return n->nargs > 1 && is_tensor(c, cg, &a[1]) && !call_arg(c->f, cg->g, n, -1, S("output_size"));
	case HOST_ONE_ARG: return n->nargs == 1 && is_tensor(c, cg, &a[0]);
	case HOST_NO_CLASSES: return n->nargs == 1 || (a[1].kind == AR_INT && a[1].u.num < 0);
	case HOST_MASK: return n->nargs > 1 && is_tensor(c, cg, &a[0]) && has_mask(c, cg, &a[1]);
	case HOST_MASK_TENSOR: return n->nargs > 2 && has_mask(c, cg, &a[1]) && is_stored_as_tensor(c, cg, &a[2]);
	case HOST_NEVER: break;
	}
	return false;
}

static bool on_host(const CheckCtx *c, const Type *t)
{
	return str_starts(sym_str(c->p->names, t->device), S("cpu"));
}

/* A copy from another device to the host: cpu(), to('cpu'), _to_copy, copy_ into a tensor of the host. */
static bool copies_to_host(const CheckCtx *c, const CheckGraph *cg, NodeId id, Str op)
{
	const Node *n = graph_node(cg->g, id);
	const Arg *a = node_args(cg->g, n);
	bool into = str_eq(op, S("copy_")), moves = into || str_eq(op, S("cpu")) || str_eq(op, S("to")) || str_eq(op, S("_to_copy")) ||
	                                            str_eq(op, S("device_put")) || str_eq(op, S("numpy"));
	if (!moves || !n->nargs || (into && n->nargs < 2))
		return false;
	const Type *from = check_arg_type(c, cg, &a[into]), *to = into ? check_arg_type(c, cg, &a[0]) : check_type(c, cg, id);
	if (from->kind != TK_TENSOR || !from->device.i || on_host(c, from) || str_starts(sym_str(c->p->names, from->device), S("meta")))
		return false;
	return str_eq(op, S("cpu")) || str_eq(op, S("numpy")) || (to->kind == TK_TENSOR && to->device.i && on_host(c, to));
}

static void in_graph(const CheckCtx *c, const CheckGraph *cg, NodeId id, Str variant)
{
	Finding *f = check_finding(c, CHECK_GL604, SEV_NOTE, cg->g, id);
	f->variant = variant;
	f->certainty = TRI_MUST;
	check_step(c, f, ROLE_READ, cg->g, id, "values are read here");
}

static Str variant_of(HostWhen when, Str op)
{
	if (when == HOST_ALWAYS && (str_eq(op, S("item")) || str_eq(op, S("tolist")) || str_eq(op, S("_local_scalar_dense")) ||
	                            str_eq(op, S("equal")) || str_eq(op, S("allclose")) || str_eq(op, S("is_nonzero"))))
		return S("value");
	return when == HOST_MASK || when == HOST_MASK_TENSOR ? S("mask") : S("size");
}

static void check_nodes(const CheckCtx *c, const CheckGraph *cg)
{
	const Graph *g = cg->g;
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		NodeId id = {i};
		const Node *n = graph_node(g, id);
		if (n->kind != NK_CALL || n->callee == CALLEE_MODULE || !cg->fact[i])
			continue;
		Str op = operator_short(c->p, n);
		HostWhen when = host_read(op);
		if (when != HOST_NEVER && reads_back(c, cg, id, when))
			in_graph(c, cg, id, variant_of(when, op));
		else if (copies_to_host(c, cg, id, op))
			in_graph(c, cg, id, S("copy"));
	}
}

/* ---- between graphs ---- */

const Ins *check_load_before(const Code *code, uint32_t at, Sym name)
{
	enum { MOST = 512 }; /* Dynamo rotates values for long before it calls */
	for (uint32_t i = 0; name.i && i < MOST && at-- > 0; i++)
		if (code->ins[at].name.i == name.i)
			return &code->ins[at];
	return NULL;
}

typedef struct FrameReads {
	const CheckCtx *c;
	FrameRef frame; /* plus 1 */
	const FrameLinks *links;
	Map said;       /* instructions */
	bool any;
} FrameReads;

/* Is a term of a frame certainly a tensor that a graph returned? */
static bool is_graph_tensor(const FrameReads *r, LTermId id, const Type **type)
{
	const CheckCtx *c = r->c;
	const LTerm *x = lterm_get(&r->links->terms, id);
	if (x->kind != LT_OUT || x->index < 0)
		return false;
	const LTerm *graph = lterm_get(&r->links->terms, x->of);
	if (graph->kind != LT_GRAPH || !graph->call)
		return false;
	const Graph *g = graph_get(c->p, frames_called_graph(c->frames, r->frame, &r->links->events.v[graph->call - 1]));
	if (!check_wanted(c, g) || (uint32_t)x->index >= g->outputs.n || g->outputs.v[x->index].arg.kind != AR_NODE)
		return false;
	*type = type_get(c->t, c->types[g->id.i]->v[g->outputs.v[x->index].arg.u.node.i]);
	return (*type)->kind == TK_TENSOR;
}

static void between(FrameReads *r, const LinkEvent *e, Sym name, Str what)
{
	const Code *code = r->links->code;
	const Frame *frame = &r->c->p->frames.v[r->frame - 1];
	if (map_get(&r->said, e->ins + 1))
		return;
	map_put(&r->said, e->ins + 1, 1);
	r->any = true;
	Finding *f = check_finding_at(r->c, CHECK_GL604, SEV_NOTE, ins_span(code, &code->ins[e->ins]));
	f->variant = S("between");
	f->certainty = TRI_MUST;
	f->compile_id = sym_str(r->c->p->names, frame->compile_id);
	f->source = (UserSource){.file = sym_str(r->c->p->names, frame->file), .line = code->ins[e->ins].line,
	                         .function = frame_function(r->c->frames, r->frame)};
	f->group = what;
	diag_var(r->c->d, f, S("what"), what);
	diag_var(r->c->d, f, S("text"), frame_function(r->c->frames, r->frame));
	const Ins *load = check_load_before(code, e->ins, name);
	if (load)
		diag_stepf(r->c->d, f, ROLE_PLACE, ins_span(code, load), "`" STR_FMT "` is loaded", STR_ARG(sym_str(r->c->p->names, name)));
	diag_step(r->c->d, f, ROLE_READ, ins_span(code, &code->ins[e->ins]), S("a value is read here, outside the graphs"));
}

/* item() and tolist() are known by their names; whatever else takes a value needs a tensor that a graph returned. */
static void call_event(FrameReads *r, const LinkEvent *e)
{
	const LTerm *callee = lterm_get(&r->links->terms, e->what);
	const Type *t = NULL;
	Str name = sym_str(r->c->p->names, callee->name);
	if (callee->kind == LT_ATTR) {
		const LTerm *on = lterm_get(&r->links->terms, callee->of);
		bool tensor = is_graph_tensor(r, callee->of, &t), known = tensor || on->kind == LT_LOCAL || on->kind == LT_ATTR || on->kind == LT_OTHER;
		bool host = tensor && t->device.i && on_host(r->c, t);
		if ((str_eq(name, S("item")) && !e->nargs && known) || (str_eq(name, S("tolist")) && known) ||
		    (tensor && (str_eq(name, S("nonzero")) || str_eq(name, S("is_nonzero")))) ||
		    (tensor && t->device.i && !host && (str_eq(name, S("cpu")) || str_eq(name, S("numpy")))))
			between(r, e, callee->name, str_printf(r->c->keep, STR_FMT "()", STR_ARG(name)));
	} else if (callee->kind == LT_GLOBAL && e->nargs == 1 && is_graph_tensor(r, e->args[0], &t)) {
		if (str_eq(name, S("int")) || str_eq(name, S("float")) || str_eq(name, S("bool")) || str_eq(name, S("complex")))
			between(r, e, callee->name, str_printf(r->c->keep, STR_FMT "()", STR_ARG(name)));
	}
}

static bool check_frame(const CheckCtx *c, FrameRef frame)
{
	FrameReads r = {.c = c, .frame = frame, .links = c->frames->links[frame - 1]};
	const Type *t;
	if (!r.links)
		return false;
	r.said.a = c->scratch;
	for (uint32_t i = 0; i < r.links->events.n; i++) {
		const LinkEvent *e = &r.links->events.v[i];
		if (e->kind == LINK_CALL && e->callee == CALLEE_ANYTHING)
			call_event(&r, e);
		else if (e->kind == LINK_BRANCH && is_graph_tensor(&r, e->what, &t))
			between(&r, e, (Sym){0}, S("a branch"));
	}
	return r.any;
}

/* Records of breaks, where no bytecode shows the call itself. */
static void by_reasons(const CheckCtx *c)
{
	BreaksSeen all = {0};
	check_breaks_read(c, &all, c->scratch);
	for (uint32_t i = 0; i < all.v.n; i++) {
		const BreakSeen *s = &all.v.v[i];
		if (!s->cause || !s->cause->host || check_has_bytecode(c, s->file, s->process))
			continue;
		Finding *f = check_finding_at(c, CHECK_GL604, SEV_NOTE, s->span);
		f->variant = S("reason");
		f->certainty = TRI_MUST;
		f->compile_id = sym_str(c->p->names, s->compile_id);
		f->source = (UserSource){.file = s->r.place.file, .line = s->r.place.line, .function = s->r.place.function, .code = s->r.place.code};
		f->group = s->cause->words;
		diag_var(c->d, f, S("text"), s->cause->words);
		diag_step(c->d, f, ROLE_READ, s->span, s->r.reason.n ? s->r.reason : s->cause->words);
	}
}

void check_host_sync(const CheckCtx *c)
{
	for (uint32_t i = 1; i < c->p->graphs.n; i++) {
		const Graph *g = c->p->graphs.v[i];
		if (!check_wanted(c, g) || check_is_repeat(g) || g->stage == STAGE_INDUCTOR)
			continue;
		ArenaMark mark = arena_mark(c->scratch);
		check_nodes(c, check_graph_of(c, g));
		arena_rewind(c->scratch, mark);
	}
	for (uint32_t i = 0; c->frames && i < c->p->frames.n; i++) {
		ArenaMark mark = arena_mark(c->scratch);
		check_frame(c, i + 1);
		arena_rewind(c->scratch, mark);
	}
	by_reasons(c);
}
