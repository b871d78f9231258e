/* SPDX-License-Identifier: MIT
 * One walk over the nodes of a graph: each operator's facts say which objects its results are or view and which
 * it writes. What is conditional is decided by decide.h or becomes an edge of memory.h. */
#include "alias_flow.h"

#include "decide.h"

static Str sstr(const Flow *f, Sym s)
{
	return sym_str(f->c->p->names, s);
}

Str flow_name(const Flow *f, NodeId id)
{
	const Node *n = graph_node(f->g, id);
	return sstr(f, sym_none(n->name) ? n->target : n->name);
}

void flow_note(Flow *f, Str rule, Severity sev, NodeId node, Sym what, Str text)
{
	LocalNote note = {.rule = rule, .severity = sev, .node = node, .what = what, .text = text};
	VEC_PUSH(f->keep, &f->s->notes, note);
}

/* ---- values ---- */

Value flow_tensor(uint32_t obj)
{
	return (Value){.kind = VALUE_TENSOR, .obj = obj};
}

Value flow_members(Flow *f, const Value *v, uint32_t n)
{
	uint32_t at = f->members.n;
	for (uint32_t i = 0; i < n; i++)
		VEC_PUSH(f->scratch, &f->members, v[i]);
	return (Value){.kind = VALUE_MEMBERS, .at = at, .n = n};
}

Value flow_element(Flow *f, const Value *list, uint32_t k)
{
	if (list->kind == VALUE_MEMBERS)
		return k < list->n ? f->members.v[list->at + k] : (Value){0};
	ASSERT(list->kind == VALUE_EACH);
	uint64_t key = (uint64_t)list->node.i << 32 | k;
	f->each_obj.a = f->scratch;
	uint32_t obj = map_get(&f->each_obj, key);
	if (!obj) {
		obj = list->obj ? memory_object(&f->m, f->m.objs.v[list->obj].store, list->obj, list->node, list->why)
		                : memory_fresh(&f->m, list->node);
		map_put(&f->each_obj, key, obj);
	}
	return flow_tensor(obj);
}

static void add_value_objects(Flow *f, const Value *v, ObjList *out)
{
	if (v->kind == VALUE_TENSOR || (v->kind == VALUE_EACH && v->obj))
		VEC_PUSH(f->scratch, &out->v, v->obj);
	for (uint32_t i = 0; v->kind == VALUE_MEMBERS && i < v->n; i++) {
		const Value *m = &f->members.v[v->at + i];
		if (m->kind == VALUE_TENSOR || (m->kind == VALUE_EACH && m->obj))
			VEC_PUSH(f->scratch, &out->v, m->obj);
	}
}

typedef struct Collect {
	Flow *f;
	ObjList *out;
} Collect;

static void collect_node(void *ctx, NodeId id)
{
	Collect *c = ctx;
	add_value_objects(c->f, &c->f->values[id.i], c->out);
}

void flow_objects(Flow *f, const Arg *a, ObjList *out)
{
	Collect c = {f, out};
	arg_each_node(f->g, a, collect_node, &c);
}

Value flow_value_of_arg(Flow *f, const Arg *a)
{
	if (a->kind == AR_NODE)
		return f->values[a->u.node.i];
	if (a->kind != AR_TUPLE && a->kind != AR_LIST)
		return (Value){0};
	Value *v = NEW_N(f->scratch, Value, a->n + 1);
	for (uint32_t i = 0; i < a->n; i++) {
		const Arg *e = &arg_kids(f->g, a)[i];
		if (e->kind == AR_NODE)
			v[i] = f->values[e->u.node.i];
	}
	return flow_members(f, v, a->n);
}

void flow_from(Flow *f, NodeId node, NodeId from, Tri shares, bool same_object, Str why)
{
	if (f->from[node.i].node.i || !from.i || from.i >= node.i || shares == TRI_NO)
		return;
	f->from[node.i].node = from;
	f->from[node.i].shares = shares;
	f->from[node.i].same_object = same_object;
	f->from[node.i].why = why;
}

void flow_write(Flow *f, NodeId node, uint32_t obj, NodeId through, Tri certainty, bool metadata, Str cond)
{
	if (certainty == TRI_NO || !obj)
		return;
	WriteEvent w = {.node = node, .through = through, .obj = obj, .store = f->m.objs.v[obj].store, .certainty = certainty,
	                .metadata = metadata, .cond = certainty == TRI_MAY ? cond : (Str){0}};
	VEC_PUSH(f->scratch, &f->m.writes, w);
}

uint32_t flow_attr(Flow *f, Sym path, NodeId node)
{
	f->attr_of.a = f->scratch;
	uint32_t i = map_get(&f->attr_of, path.i);
	if (i)
		return f->attr_obj.v[i - 1];
	uint32_t index = f->attrs.n;
	uint32_t obj = memory_object(&f->m, memory_store(&f->m, STORE_ATTR, index, node), 0, node, (Str){0});
	f->m.objs.v[obj].attr = index + 1;
	VEC_PUSH(f->scratch, &f->attrs, ((AttrSummary){.path = path, .node = node}));
	VEC_PUSH(f->scratch, &f->attr_obj, obj);
	map_put(&f->attr_of, path.i, index + 1);
	return obj;
}

/* ---- the decision context ---- */

static DecideCtx decide_ctx(Flow *f)
{
	return (DecideCtx){.p = f->c->p, .g = f->g, .t = f->c->t, .f = f->c->f, .nt = f->nt, .torch = f->c->torch,
	                   .a = f->keep};
}

static const Type *node_type(const Flow *f, NodeId id)
{
	return type_get(f->c->t, f->nt->v[id.i]);
}

static bool typed_tensor(const Flow *f, NodeId id)
{
	TypeId t = graph_node(f->g, id)->type;
	return t.i && type_get(f->c->t, t)->kind == TK_TENSOR;
}

/* ---- results ---- */

/* One source that a result may share with. */
typedef struct Source {
	uint32_t obj;
	NodeId node;
	Tri shares, same;
	bool traced_copy;
	Str cond, why;
} Source;

/* `real`, `conj`, `atleast_1d` and their like hand back the argument itself when it already has the form asked for:
 * with a real dtype that is when sizes and strides stay. */
static Tri same_by_types(Flow *f, NodeId id, const Arg *src)
{
	const Type *r = node_type(f, id), *a = type_get(f->c->t, infer_arg(f->nt, f->g, f->c->t, src));
	if (!r->has_shape || !a->has_shape || a->dtype == DT_NONE || dtype_class(a->dtype) == DC_COMPLEX)
		return TRI_MAY;
	if (r->ndim != a->ndim)
		return TRI_NO;
	Tri same = TRI_MUST;
	for (uint32_t i = 0; i < r->ndim; i++) {
		same = tri_and(same, expr_eq(f->c->t, r->size[i], a->size[i]));
		if (r->has_stride && a->has_stride)
			same = tri_and(same, expr_eq(f->c->t, r->stride[i], a->stride[i]));
	}
	return same;
}

static bool kind_shares_always(FactKind k)
{
	return k == FK_INPLACE || k == FK_OUT || k == FK_METADATA || k == FK_VIEW || k == FK_MUTATES;
}

static NodeId arg_first_node(const Arg *a)
{
	return a->kind == AR_NODE ? a->u.node : (NodeId){0};
}

static Source source_of(Flow *f, NodeId id, const Fact *fact, const FactArg *fa, const Arg *src, uint32_t obj, Str ctor)
{
	Source s = {.obj = obj, .node = arg_first_node(src), .shares = TRI_MUST, .same = TRI_NO};
	if (fact->cond != FC_NONE && fact->cond != FC_BODY && (!kind_shares_always(fact->kind) || fact->joined)) {
		DecideCtx dc = decide_ctx(f);
		dc.ctor = ctor;
		Decision d = decide_alias(&dc, id, fact, src);
		s.shares = d.shares;
		s.same = d.same_object;
		s.traced_copy = d.traced_copy;
		s.cond = d.condition;
		s.why = d.because;
	} else if (fact->kind == FK_MAYBE_VIEW || fact->kind == FK_UNKNOWN) {
		s.shares = s.same = TRI_MAY;
	} else if (fact->kind != FK_VIEW && fact->kind != FK_FRESH) {
		s.same = TRI_MUST;
	} else if (fact_has(fact, FT_SAME_OBJECT)) {
		s.same = TRI_MUST;
		s.traced_copy = fact_has(fact, FT_TRACED_COPY);
	} else if (fact_has(fact, FT_MAYBE_SAME_OBJECT)) {
		s.same = same_by_types(f, id, src);
	}
	if (fa->maybe || fa->sometimes) {
		s.shares = tri_and(s.shares, TRI_MAY);
		s.same = tri_and(s.same, TRI_MAY);
	}
	if (s.shares == TRI_MAY && !s.cond.n)
		s.cond = str_printf(f->keep, STR_FMT " hands back its argument's memory",
		                    STR_ARG(sstr(f, graph_node(f->g, id)->target)));
	return s;
}

/* The tensor that a result member is, given everything it may share with. */
static uint32_t member_object(Flow *f, NodeId id, const Source *src, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		flow_from(f, id, src[i].node, src[i].shares, src[i].same == TRI_MUST, src[i].shares == TRI_MAY ? src[i].cond : src[i].why);
		f->from[id.i].traced_copy |= src[i].traced_copy && src[i].shares != TRI_NO;
	}
	if (n == 1 && src->same == TRI_MUST)
		return src->obj;
	bool must = n == 1 && src->shares == TRI_MUST;
	uint32_t sharing = 0;
	for (uint32_t i = 0; i < n; i++)
		sharing += src[i].shares != TRI_NO;
	if (!sharing)
		return memory_fresh(&f->m, id);
	uint32_t store = must ? f->m.objs.v[src->obj].store : memory_store(&f->m, STORE_NEW, 0, id);
	uint32_t obj = memory_object(&f->m, store, must ? src->obj : 0, id, must ? src->why : src->cond);
	for (uint32_t i = 0; i < n; i++) {
		if (src[i].shares == TRI_NO)
			continue;
		if (!must)
			memory_store_may_be(&f->m, store, src[i].obj, id, src[i].cond);
		if (src[i].same != TRI_NO)
			memory_object_may_be(&f->m, obj, src[i].obj, id, src[i].cond);
	}
	return obj;
}

/* The arguments that a fact's entry names: one, the elements of a list, or all from a position on. */
typedef VEC(const Arg *) ArgRefs;

static void fact_args(Flow *f, const Node *n, const FactArg *fa, ArgRefs *out)
{
	const Arg *a = call_arg(f->c->f, f->g, n, fa->index, sstr(f, fa->name));
	if (!a)
		return;
	if (!fa->each) {
		VEC_PUSH(f->scratch, out, a);
		return;
	}
	if (a->kind == AR_TUPLE || a->kind == AR_LIST) {
		for (uint32_t i = 0; i < a->n; i++)
			VEC_PUSH(f->scratch, out, &arg_kids(f->g, a)[i]);
		return;
	}
	VEC_PUSH(f->scratch, out, a);
	for (uint32_t i = (uint32_t)fa->index + 1; fa->index >= 0 && i < n->nargs; i++)
		if (sym_none(node_args(f->g, n)[i].key) && node_args(f->g, n)[i].kind == AR_NODE)
			VEC_PUSH(f->scratch, out, &node_args(f->g, n)[i]);
}

/* Sources of result member `member` (-1: the only result). `element` >= 0: only that element of a list argument. */
static uint32_t member_sources(Flow *f, NodeId id, const Fact *fact, int member, int element, Str ctor, Source *out, uint32_t most)
{
	const Node *n = graph_node(f->g, id);
	uint32_t k = 0;
	/* F.relu(x, inplace=True): the table names the argument only as written, the result is then that argument */
	bool by_keyword = fact->cond == FC_INPLACE_KW && !fact->nalias;
	for (uint32_t e = 0; e < (by_keyword ? fact->nmutates : fact->nalias); e++) {
		const FactArg *fa = by_keyword ? &(FactArg){.index = fact->mutates[e].index, .result = -1, .name = fact->mutates[e].name}
		                               : &fact->alias[e];
		if (fa->result >= 0 && member >= 0 && fa->result != member)
			continue;
		ArgRefs args = {0};
		fact_args(f, n, fa, &args);
		for (uint32_t i = 0; i < args.n; i++) {
			if (element >= 0 && fa->each && i != (uint32_t)element)
				continue;
			ObjList objs = {0};
			flow_objects(f, args.v[i], &objs);
			for (uint32_t j = 0; j < objs.v.n && k < most; j++)
				out[k++] = source_of(f, id, fact, fa, args.v[i], objs.v.v[j], ctor);
		}
	}
	return k;
}

enum { MAX_SOURCES = 64 };

static uint32_t result_object(Flow *f, NodeId id, const Fact *fact, int member, int element, Str ctor)
{
	Source src[MAX_SOURCES];
	uint32_t n = member_sources(f, id, fact, member, element, ctor, src, MAX_SOURCES);
	return n ? member_object(f, id, src, n) : memory_fresh(&f->m, id);
}

/* Does an entry pair element k of a list argument with element k of the result? */
static const FactArg *pairing_entry(const Fact *fact)
{
	for (uint32_t e = 0; e < fact->nalias; e++)
		if (fact->alias[e].each)
			return &fact->alias[e];
	return NULL;
}

static Value list_value(Flow *f, NodeId id, const Fact *fact, Str ctor)
{
	const FactArg *fa = pairing_entry(fact);
	if (fa) {
		ArgRefs args = {0};
		fact_args(f, graph_node(f->g, id), fa, &args);
		Value *v = NEW_N(f->scratch, Value, args.n + 1);
		for (uint32_t i = 0; i < args.n; i++)
			v[i] = flow_tensor(result_object(f, id, fact, -1, (int)i, ctor));
		if (args.n)
			return flow_members(f, v, args.n);
	}
	Source src[MAX_SOURCES];
	uint32_t n = member_sources(f, id, fact, -1, -1, ctor, src, MAX_SOURCES);
	Value v = {.kind = VALUE_EACH, .node = id};
	if (n == 1 && src->shares == TRI_MUST) {
		flow_from(f, id, src->node, TRI_MUST, false, src->why);
		v.obj = src->obj;
		v.why = src->why;
	} else if (n) {
		v.obj = member_object(f, id, src, n);
	}
	return v;
}

static Value member_value(Flow *f, NodeId id, const Fact *fact, char shape, int member, Str ctor)
{
	switch (shape) {
	case 't':
	case 'o': return flow_tensor(result_object(f, id, fact, member, -1, ctor));
	case 'L': return list_value(f, id, fact, ctor);
	default: return (Value){0};
	}
}

/* Which of two alternative result shapes this call has: its type tells, printed or computed, else how it is used. */
static uint32_t alternative(const Flow *f, NodeId id, const Fact *fact)
{
	const FactOuts *o = &fact->outs;
	if (o->nalts < 2)
		return 0;
	bool single = node_type(f, id)->kind == TK_TENSOR || (!f->annotated && !f->indexed[id.i] && !f->nt->nelems[id.i]);
	for (uint32_t i = 0; i < 2; i++)
		if ((o->n[i] == 1 && o->member[i][0] == 't') == single)
			return i;
	return 0;
}

static Value result_value(Flow *f, NodeId id, const Fact *fact, Str ctor)
{
	const FactOuts *o = &fact->outs;
	const Type *t = node_type(f, id);
	if (typed_tensor(f, id) && !(o->nalts && o->n[0] > 1 && fact->kind != FK_MUTATES))
		return flow_tensor(result_object(f, id, fact, 0, -1, ctor));
	if (t->kind == TK_SYM || t->kind == TK_OTHER || !o->nalts)
		return (Value){0};
	uint32_t alt = alternative(f, id, fact);
	if (o->n[alt] == 1)
		return member_value(f, id, fact, o->member[alt][0], -1, ctor);
	Value v[16];
	uint32_t store = 0;
	for (uint32_t i = 0; i < o->n[alt]; i++) {
		v[i] = member_value(f, id, fact, o->member[alt][i], (int)i, ctor);
		if (!fact_has(fact, FT_OUTS_SHARE) || v[i].kind != VALUE_TENSOR)
			continue;
		if (store && f->m.objs.v[v[i].obj].node.i == id.i)
			f->m.objs.v[v[i].obj].store = f->m.objs.v[v[i].obj].first_store = store;
		store = f->m.objs.v[v[i].obj].store;
	}
	return o->n[alt] ? flow_members(f, v, o->n[alt]) : (Value){0};
}

/* ---- writes ---- */

/* Writes that change autograd state alone: sizes, strides and storage stay. */
static bool is_autograd_state(Str target)
{
	static const Str names[] = {STR_INIT("detach_"), STR_INIT("requires_grad_"), STR_INIT("rename_"), STR_INIT("share_memory_")};
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_has(target, names[i]))
			return true;
	return false;
}

/* x.set_(y), x.data = y: from here on x has y's storage. */
static void rebind_storage(Flow *f, uint32_t obj, NodeId id, const Fact *fact)
{
	for (uint32_t e = 0; e < fact->nalias; e++) {
		if (fact->alias[e].index == 0)
			continue;
		ArgRefs args = {0};
		ObjList objs = {0};
		fact_args(f, graph_node(f->g, id), &fact->alias[e], &args);
		if (!args.n)
			continue;
		flow_objects(f, args.v[0], &objs);
		if (objs.v.n) {
			f->m.objs.v[obj].store = f->m.objs.v[objs.v.v[0]].store;
			f->m.objs.v[obj].parent = 0;
		}
	}
}

static Tri layout_changes(Flow *f, NodeId id, const Arg *a)
{
	const Type *before = type_get(f->c->t, infer_arg(f->nt, f->g, f->c->t, a)), *after = node_type(f, id);
	if (!before->has_shape || !after->has_shape || !before->has_stride || !after->has_stride)
		return TRI_MUST;
	if (before->ndim != after->ndim)
		return TRI_MUST;
	Tri same = TRI_MUST;
	for (uint32_t i = 0; i < before->ndim; i++) {
		same = tri_and(same, expr_eq(f->c->t, before->size[i], after->size[i]));
		same = tri_and(same, expr_eq(f->c->t, before->stride[i], after->stride[i]));
	}
	return same == TRI_MUST ? TRI_NO : TRI_MUST;
}

/* The object's own view parameters and those of what it is copied from are the same elements. */
static bool same_elements(Flow *f, const Arg *dst, const Arg *src)
{
	if (src->kind != AR_NODE || dst->kind != AR_NODE)
		return false;
	Value a = f->values[dst->u.node.i], b = f->values[src->u.node.i];
	return a.kind == VALUE_TENSOR && b.kind == VALUE_TENSOR && a.obj == b.obj;
}

static bool same_literal(const Flow *f, const Arg *a, const Arg *b)
{
	Buf x = {.a = f->scratch}, y = {.a = f->scratch};
	arg_text(f->c->p, f->g, a, &x);
	arg_text(f->c->p, f->g, b, &y);
	return str_eq(buf_str(&x), buf_str(&y));
}

/* x[i] = v where v is x[i] itself, as `x[i] += 1` leaves it */
static bool stores_itself(Flow *f, const Node *n)
{
	const Arg *a = node_args(f->g, n);
	if (n->nargs != 3 || a[2].kind != AR_NODE || a[0].kind != AR_NODE)
		return false;
	Value v = f->values[a[2].u.node.i], base = f->values[a[0].u.node.i];
	if (v.kind != VALUE_TENSOR || base.kind != VALUE_TENSOR)
		return false;
	const Obj *o = &f->m.objs.v[v.obj];
	if (o->parent != base.obj || o->store != f->m.objs.v[base.obj].store || !o->node.i)
		return false;
	const Node *m = graph_node(f->g, o->node);
	return m->callee == CALLEE_OPERATOR && str_eq(sstr(f, m->target), S("getitem")) && m->nargs == 2 &&
	       same_literal(f, &node_args(f->g, m)[1], &a[1]);
}

static bool is_copy(Str target)
{
	return str_eq(target, S("copy_")) || str_starts(target, S("torch.ops.aten.copy_"));
}

static bool is_self_copy(Flow *f, NodeId id)
{
	const Node *n = graph_node(f->g, id);
	const Arg *a = node_args(f->g, n);
	Str t = sstr(f, n->target);
	if (n->callee == CALLEE_OPERATOR)
		return str_eq(t, S("setitem")) && stores_itself(f, n);
	return is_copy(t) && n->nargs >= 2 && same_elements(f, &a[0], &a[1]);
}

/* The input that an object is a view of, when several of its indices reach one element; 0 none. */
static NodeId overlapping_input(Flow *f, uint32_t obj)
{
	while (obj && !f->m.objs.v[obj].input)
		obj = f->m.objs.v[obj].parent;
	NodeId in = obj ? f->g->inputs.v[f->m.objs.v[obj].input - 1] : (NodeId){0};
	return in.i && type_overlaps_itself(f->c->t, type_get(f->c->t, f->nt->v[in.i])) == TRI_MUST ? in : (NodeId){0};
}

/* AOTAutograd brings a written input back as a whole, whatever part of it was written, and PyTorch refuses that. */
static void check_overlap(Flow *f, NodeId id, const Arg *a, const Fact *fact, uint32_t obj, Tri certain)
{
	TypeId id_of = infer_arg(f->nt, f->g, f->c->t, a);
	bool itself = type_overlaps_itself(f->c->t, type_get(f->c->t, id_of)) == TRI_MUST;
	NodeId input = overlapping_input(f, obj);
	if (fact->kind == FK_METADATA || (!itself && !input.i))
		return;
	Str name = itself ? a->kind == AR_NODE ? flow_name(f, a->u.node) : S("the argument") : flow_name(f, input);
	TypeId shown = itself ? id_of : f->nt->v[input.i];
	flow_note(f, S("GL203"), itself ? SEV_WARNING : SEV_NOTE, id, graph_node(f->g, id)->target,
	          str_printf(f->keep, STR_FMT " is " STR_FMT ": several of its indices reach one element in memory",
	                     STR_ARG(name), STR_ARG(type_text(f->c->t, shown, f->scratch))));
	if (input.i)
		f->s->notes.v[f->s->notes.n - 1].under_aot = certain == TRI_MUST ? SEV_ERROR : SEV_WARNING;
}

static void write_arg(Flow *f, NodeId id, const Fact *fact, const FactArg *fa, const Arg *a, Tri certain, Str cond)
{
	ObjList objs = {0};
	bool metadata = fact->kind == FK_METADATA;
	flow_objects(f, a, &objs);
	if (!objs.v.n || certain == TRI_NO)
		return;
	if (metadata) {
		if (is_autograd_state(sstr(f, graph_node(f->g, id)->target)))
			return;
		if (fact->nalias < 2) /* set_ takes another memory, whatever its layout */
			certain = tri_and(certain, layout_changes(f, id, a));
	}
	if (fa->sometimes || fact->kind == FK_UNKNOWN)
		certain = tri_and(certain, TRI_MAY);
	check_overlap(f, id, a, fact, objs.v.v[0], certain);
	for (uint32_t i = 0; i < objs.v.n; i++) {
		flow_write(f, id, objs.v.v[i], arg_first_node(a), certain, metadata, cond);
		if (metadata && fact->nalias > 1)
			rebind_storage(f, objs.v.v[i], id, fact);
	}
	if (fact->kind == FK_MUTATES && fact->nalias && fa->index == 0 && str_has(sstr(f, fact->name), S("set_data")))
		rebind_storage(f, objs.v.v[0], id, fact);
}

static Str module_ctor(Flow *f, const Node *n, Str *cls)
{
	*cls = (Str){0};
	if (n->callee != CALLEE_MODULE)
		return (Str){0};
	for (uint32_t i = 0; i < f->c->p->modules.n; i++) {
		const ModuleClass *m = &f->c->p->modules.v[i];
		if (m->file.i == f->g->file.i && sym_eq(m->path, n->target)) {
			*cls = sstr(f, m->cls);
			return sstr(f, m->ctor);
		}
	}
	return (Str){0};
}

/* buf.NAME and par.NAME: tensors of the called module, attributes of the graph below the module's path. */
static void write_module_tensor(Flow *f, NodeId id, const FactArg *fa, Tri certain, Str cond)
{
	const Node *n = graph_node(f->g, id);
	Str path = str_printf(f->scratch, STR_FMT "." STR_FMT, STR_ARG(sstr(f, n->target)), STR_ARG(sstr(f, fa->name)));
	Sym s = sym_intern(f->c->p->names, path);
	flow_write(f, id, flow_attr(f, s, id), (NodeId){0}, certain, false, cond);
}

static void apply_writes(Flow *f, NodeId id, const Fact *fact, Str ctor)
{
	const Node *n = graph_node(f->g, id);
	if (fact->nmutates && is_self_copy(f, id)) /* still a write: its version counter moves */
		flow_note(f, S("GL204"), SEV_NOTE, id, n->target, S("what is written is what stands there already"));
	for (uint32_t e = 0; e < fact->nmutates; e++) {
		const FactArg *fa = &fact->mutates[e];
		if (fa->grad)
			continue;
		Tri certain = TRI_MUST;
		Str cond = {0};
		if (fa->maybe) {
			DecideCtx dc = decide_ctx(f);
			dc.ctor = ctor;
			Decision d = decide_write(&dc, id, fact, fa);
			certain = d.writes;
			cond = d.condition;
		}
		if (fa->buffer || fa->parameter) {
			write_module_tensor(f, id, fa, certain, cond);
			continue;
		}
		ArgRefs args = {0};
		fact_args(f, n, fa, &args);
		for (uint32_t i = 0; i < args.n; i++)
			write_arg(f, id, fact, fa, args.v[i], certain, cond);
	}
}

/* f(..., out=t): written and returned. */
static bool apply_out(Flow *f, NodeId id, const Fact *fact)
{
	if (!fact_has(fact, FT_OUT_KW) && fact->kind != FK_OUT)
		return false;
	const Node *n = graph_node(f->g, id);
	const Arg *out = call_arg(f->c->f, f->g, n, -1, S("out"));
	if (!out || out->kind == AR_NONE)
		return false;
	FactArg fa = {.index = -1, .result = -1};
	Value v = flow_value_of_arg(f, out);
	flow_from(f, id, arg_first_node(out), TRI_MUST, true, (Str){0});
	write_arg(f, id, &(Fact){.kind = FK_OUT}, &fa, out, TRI_MUST, (Str){0});
	f->values[id.i] = v.kind == VALUE_TENSOR || v.kind == VALUE_MEMBERS ? v : flow_tensor(memory_fresh(&f->m, id));
	return true;
}

/* ---- calls ---- */

void flow_unknown_call(Flow *f, NodeId id, Str why)
{
	const Node *n = graph_node(f->g, id);
	ObjList objs = {0};
	for (uint32_t i = 0; i < n->nargs; i++)
		flow_objects(f, &node_args(f->g, n)[i], &objs);
	const Type *t = node_type(f, id);
	uint32_t store = memory_store(&f->m, n->kind == NK_UNREAD && !objs.v.n ? STORE_UNKNOWN : STORE_NEW, 0, id);
	uint32_t obj = memory_object(&f->m, store, 0, id, why);
	for (uint32_t i = 0; i < objs.v.n; i++) {
		flow_write(f, id, objs.v.v[i], (NodeId){0}, TRI_MAY, false, why);
		memory_store_may_be(&f->m, store, objs.v.v[i], id, why);
		memory_object_may_be(&f->m, obj, objs.v.v[i], id, why);
	}
	bool list = f->indexed[id.i] && !typed_tensor(f, id);
	if (t->kind == TK_SYM || t->kind == TK_OTHER)
		f->values[id.i] = (Value){0};
	else if (list)
		f->values[id.i] = (Value){.kind = VALUE_EACH, .obj = obj, .node = id, .why = why};
	else
		f->values[id.i] = flow_tensor(obj);
}

static void unknown_operator(Flow *f, NodeId id)
{
	const Node *n = graph_node(f->g, id);
	Str target = sstr(f, n->target);
	bool module = n->callee == CALLEE_MODULE;
	Str why = str_printf(f->keep, module ? "the module %s" STR_FMT " writes or returns its argument"
	                                     : "%s" STR_FMT ", of which nothing is known, writes or returns its argument",
	                     module ? "self." : "", STR_ARG(target));
	ObjList objs = {0};
	for (uint32_t i = 0; i < n->nargs; i++)
		flow_objects(f, &node_args(f->g, n)[i], &objs);
	if (objs.v.n)
		flow_note(f, S("GL903"), SEV_NOTE, id, n->target, facts_nearest(f->c->f, (Callee)n->callee, target));
	flow_unknown_call(f, id, why);
}

/* x[k] of a tuple or list, and x[...] of a tensor whose kind is known by now. */
static bool getitem(Flow *f, NodeId id)
{
	const Node *n = graph_node(f->g, id);
	const Arg *a = node_args(f->g, n);
	if (n->nargs != 2 || a[0].kind != AR_NODE)
		return false;
	Value v = f->values[a[0].u.node.i];
	const Type *t = node_type(f, id);
	if (t->kind == TK_SYM || t->kind == TK_OTHER) {
		f->values[id.i] = (Value){0};
		return true;
	}
	if (v.kind == VALUE_MEMBERS || v.kind == VALUE_EACH) {
		flow_from(f, id, a[0].u.node, TRI_MUST, true, (Str){0});
		if (a[1].kind == AR_INT) {
			int64_t k = a[1].u.num;
			if (k < 0 && v.kind == VALUE_MEMBERS)
				k += v.n;
			f->values[id.i] = k >= 0 && k < UINT32_MAX ? flow_element(f, &v, (uint32_t)k) : flow_element(f, &v, UINT32_MAX - 1);
		} else {
			f->values[id.i] = v; /* a slice of a list: its elements are those of the list */
		}
		return true;
	}
	if (v.kind != VALUE_TENSOR) {
		f->values[id.i] = typed_tensor(f, id) ? flow_tensor(memory_fresh(&f->m, id)) : (Value){0};
		return true;
	}
	if (v.taken && a[1].kind == AR_INT) { /* an element of a list that is an input */
		flow_from(f, id, a[0].u.node, TRI_MUST, false, (Str){0});
		f->values[id.i] = flow_tensor(memory_object(&f->m, f->m.objs.v[v.obj].store, v.obj, id, (Str){0}));
		return true;
	}
	return false;
}

static bool is_number(const Flow *f, const Arg *a)
{
	if (a->kind != AR_NODE)
		return true;
	return f->values[a->u.node.i].kind == VALUE_NONE;
}

/* Operators of Python on numbers alone: nothing is a tensor. */
static bool on_numbers(const Flow *f, const Node *n)
{
	if (n->callee != CALLEE_OPERATOR || str_eq(sym_str(f->c->p->names, n->target), S("getitem")))
		return false;
	for (uint32_t i = 0; i < n->nargs; i++)
		if (!is_number(f, &node_args(f->g, n)[i]))
			return false;
	return true;
}

static void written_value(Flow *f, NodeId id, const Node *n)
{
	const Arg *base = node_args(f->g, n);
	if (!n->nargs || base->kind != AR_NODE)
		return;
	f->values[id.i] = f->values[base->u.node.i];
	flow_from(f, id, base->u.node, TRI_MUST, true, (Str){0});
}

static void call(Flow *f, NodeId id)
{
	const Node *n = graph_node(f->g, id);
	Str target = sstr(f, n->target), cls;
	if (n->callee == CALLEE_OPERATOR && str_eq(target, S("getitem")) && getitem(f, id))
		return;
	if (on_numbers(f, n) && !typed_tensor(f, id)) {
		f->values[id.i] = (Value){0};
		return;
	}
	if (flow_body_call(f, id))
		return;
	Str ctor = module_ctor(f, n, &cls);
	const Fact *fact = n->callee == CALLEE_MODULE
	                       ? (cls.n ? facts_find_module(f->c->f, cls, 0, str_has(ctor, S("inplace=True")), f->c->torch) : NULL)
	                       : facts_find(f->c->f, (Callee)n->callee, target, f->c->torch);
	if (!fact || fact->kind == FK_UNKNOWN) {
		unknown_operator(f, id);
		return;
	}
	if (fact->kind == FK_SUBGRAPH) { /* a body that is not in the dump */
		flow_unknown_call(f, id, str_printf(f->keep, "the body that " STR_FMT " calls does so", STR_ARG(target)));
		return;
	}
	if (apply_out(f, id, fact))
		return;
	apply_writes(f, id, fact, ctor);
	if (n->callee == CALLEE_OPERATOR && str_eq(target, S("setitem"))) /* printed as `setitem = x`: the object written */
		written_value(f, id, n);
	else
		f->values[id.i] = result_value(f, id, fact, ctor);
}

static void input(Flow *f, NodeId id, uint32_t index)
{
	const Type *t = node_type(f, id);
	const Node *n = graph_node(f->g, id);
	uint32_t obj = memory_object(&f->m, memory_store(&f->m, STORE_INPUT, index, id), 0, id, (Str){0});
	f->m.objs.v[obj].input = index + 1;
	f->input_obj[index] = obj;
	if (t->kind == TK_SYM || t->kind == TK_OTHER)
		return;
	f->values[id.i] = flow_tensor(obj);
	f->values[id.i].taken = f->annotated && !(n->flags & NF_TYPED);
}

void flow_node(Flow *f, NodeId id)
{
	const Node *n = graph_node(f->g, id);
	switch ((NodeKind)n->kind) {
	case NK_PLACEHOLDER: break; /* numbered by flow_run */
	case NK_GET_ATTR: {
		GraphId child = graph_child(f->g, n->target);
		if (child.i)
			f->values[id.i] = (Value){.kind = VALUE_GRAPH, .graph = child};
		else if (node_type(f, id)->kind != TK_SYM)
			f->values[id.i] = flow_tensor(flow_attr(f, n->target, id));
		break;
	}
	case NK_CALL: call(f, id); break;
	case NK_UNREAD:
		flow_unknown_call(f, id, S("a line that could not be read writes or returns it"));
		break;
	case NK_NONE: break;
	}
}

static void note_indexed(Flow *f)
{
	for (uint32_t i = 1; i < f->g->nodes.n; i++) {
		const Node *n = &f->g->nodes.v[i];
		f->annotated |= n->kind == NK_CALL && (n->flags & NF_TYPED) && n->type.i;
		const Arg *a = node_args(f->g, n);
		if (n->kind == NK_CALL && n->callee == CALLEE_OPERATOR && n->nargs == 2 && a[0].kind == AR_NODE &&
		    a[1].kind == AR_INT && str_eq(sstr(f, n->target), S("getitem")))
			f->indexed[a[0].u.node.i] = 1;
	}
}

void flow_run(Flow *f)
{
	const Graph *g = f->g;
	note_indexed(f);
	for (uint32_t i = 0; i < g->inputs.n; i++)
		input(f, g->inputs.v[i], i);
	for (uint32_t i = 1; i < g->nodes.n; i++)
		flow_node(f, (NodeId){i});
}
