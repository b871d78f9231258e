/* SPDX-License-Identifier: MIT */
#include "sim_grad.h"

#include "sim_aot.h"

enum { MAX_NODES = 1 << 18, MAX_OPERANDS = 64, MAX_VIEWS = 256, MAX_PORTS = 1 << 16 };

typedef enum Saves { SAVES_NOTHING, SAVES_NONE, SAVES_SELF, SAVES_SELF_MASK, SAVES_RESULT, SAVES_BOTH, SAVES_PRODUCT, SAVES_ALL } Saves;
typedef enum OldValue { OLD_NO, OLD_OTHER, OLD_SELF, OLD_ANY, OLD_DIVISOR, OLD_THIRD } OldValue;

static const struct {
	Str name;
	uint8_t saves, old;
} rows[] = {
#define GRAD_OP(name, saves, old) {STR_INIT(name), SAVES_##saves, OLD_##old},
#include "grad_ops.def"
#undef GRAD_OP
};

void grad_tape_init(GradTape *t, Names *names, Arena *a)
{
	*t = (GradTape){.a = a};
	t->rows.a = t->written.a = t->contexts.a = t->poisoned.a = t->dirty.a = a;
	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
		map_put(&t->rows, sym_intern(names, rows[i].name).i, i + 1);
}

static GradTape *tape_of(Sim *s)
{
	return s->aot && s->aot->tape && !s->aot->tape->full ? s->aot->tape : NULL;
}

/* ---- state of tensors ---- */

static uint32_t root_of(const Sim *s, uint32_t tensor)
{
	return s->tensors.v[tensor].base ? s->tensors.v[tensor].base : tensor;
}

static bool may_need(DType d)
{
	return d == DT_NONE || dtype_class(d) == DC_FLOAT || dtype_class(d) == DC_COMPLEX;
}

static GradTensor *slot(GradTape *t, uint32_t tensor)
{
	while (t->tensors.n <= tensor)
		VEC_PUSH(t->a, &t->tensors, ((GradTensor){0}));
	return &t->tensors.v[tensor];
}

static GradMask leaf_bit(uint32_t leaf)
{
	return (GradMask)1 << (leaf < GRAD_LEAVES ? leaf : GRAD_LEAVES - 1);
}

static bool is_argument(Sim *s, const SimTensor *x)
{
	return x->whence == WHENCE_GIVEN && x->self && sim_obj(s, x->self)->root;
}

/* A tensor that the program did not make may be a leaf that needs a gradient. */
static GradTensor *root_state(Sim *s, GradTape *t, uint32_t root)
{
	GradTensor *g = slot(t, root);
	const SimTensor *x = &s->tensors.v[root];
	if (g->known)
		return g;
	g->known = true;
	bool attribute = x->whence == WHENCE_ATTRIBUTE;
	if ((x->whence == WHENCE_GIVEN || x->whence == WHENCE_PARAMETER || attribute) && may_need(x->dtype)) {
		g->need = leaf_bit(t->leaves.n);
		VEC_PUSH(t->a, &t->leaves, ((GradLeaf){.parameter = attribute || x->whence == WHENCE_PARAMETER, .buffer = attribute, .argument = is_argument(s, x), .tensor = root}));
	}
	return g;
}

static GradMask need_of(Sim *s, GradTape *t, uint32_t tensor)
{
	for (uint32_t at = tensor, steps = 0; at && steps < MAX_VIEWS; at = s->tensors.v[at].parent, steps++)
		if (slot(t, at)->no_grad_view)
			return 0;
	return may_need(s->tensors.v[tensor].dtype) ? root_state(s, t, root_of(s, tensor))->need : 0;
}

GradMask grad_need(Sim *s, uint32_t tensor)
{
	GradTape *t = tape_of(s);
	return t ? need_of(s, t, tensor) : 0;
}

static uint32_t fn_of(Sim *s, GradTape *t, uint32_t tensor)
{
	return root_state(s, t, root_of(s, tensor))->fn;
}

static uint64_t elements_of(const SimTensor *x)
{
	uint64_t n = 1;
	for (uint32_t d = 0; d < x->ndim; d++)
		n = x->size[d] >= 0 && x->size[d] < (1 << 30) && n < (1u << 30) ? n * (uint64_t)x->size[d] : UINT64_MAX;
	return x->sized ? n : UINT64_MAX;
}

/* ---- one operator ---- */

typedef struct GradStep {
	GraphRun *r;
	Sim *s;
	GradTape *t;
	const Node *n;
	uint32_t v[MAX_OPERANDS]; /* tensors among the operands */
	uint32_t nv;
	GradMask need[MAX_OPERANDS], all;
	uint32_t target;          /* the first operand, when it is written in place; 0 */
	Sym op;
	const uint8_t *saves, *old;
} GradStep;

static Sym short_name(GraphRun *r)
{
	Str t = sym_str(r->s->names, step_op(r));
	uint32_t ns = str_find(t, S("aten."), 0);
	if (ns < t.n) {
		t = str_sub(t, ns + 5, t.n);
		t = str_sub(t, 0, str_find_char(t, '.', 0));
	} else {
		uint32_t dot = str_rfind(t, S("."));
		t = dot < t.n ? str_sub(t, dot + 1, t.n) : t;
	}
	while (t.n > 1 && t.p[t.n - 1] == '_')
		t.n--;
	while (t.n > 1 && t.p[0] == '_')
		t = str_sub(t, 1, t.n);
	return sym_intern(r->s->names, t);
}

static void add_operand(void *ctx, NodeId id)
{
	GradStep *p = ctx;
	Ref v = p->r->v[id.i];
	if (!v || p->nv == MAX_OPERANDS || !sim_is_tensor(p->s, v))
		return;
	p->v[p->nv] = sim_obj(p->s, v)->tensor;
	p->need[p->nv] = need_of(p->s, p->t, p->v[p->nv]);
	p->all |= p->need[p->nv++];
}

static bool is_operand(const GradStep *p, uint32_t tensor)
{
	for (uint32_t i = 0; i < p->nv; i++)
		if (p->v[i] == tensor)
			return true;
	return false;
}

static Span where_of(const GraphRun *r)
{
	return r->eager ? r->s->here : node_span(r->g, r->node);
}

static void save(GradStep *p, uint32_t tensor, GradMask need, bool mask)
{
	if (!need || p->r->depth) /* checkpointed bodies run again */
		return;
	uint32_t store = p->s->tensors.v[tensor].store;
	GradSaved x = {.store = store, .version = p->s->stores.v[store].touched, .tensor = tensor, .need = need, .mask = mask};
	x.elements = elements_of(&p->s->tensors.v[tensor]);
	VEC_PUSH(p->t->a, &p->t->saved, x);
}

static void save_operands(GradStep *p, bool others)
{
	for (uint32_t i = 0; i < p->nv; i++) {
		GradMask need = 0;
		for (uint32_t k = 0; k < p->nv && others; k++)
			need |= k == i ? 0 : p->need[k];
		if (p->v[i] != p->target) /* of what is written in place a copy is kept */
			save(p, p->v[i], others ? need : p->all, false);
	}
}

/* max(x, 0) over a dim keeps indices. */
static bool over_a_dim(const GradStep *p)
{
	return p->nv == 1 && p->n->nargs > 1;
}

static void save_values(GradStep *p, uint32_t result)
{
	uint32_t self = p->nv && p->v[0] != p->target ? p->v[0] : 0;
	switch (p->saves ? (Saves)*p->saves : SAVES_NOTHING) {
	case SAVES_NOTHING:
	case SAVES_NONE: break;
	case SAVES_SELF_MASK:
		if (self && !over_a_dim(p))
			save(p, self, p->need[0], true);
		break;
	case SAVES_BOTH:
		if (result)
			save(p, result, p->all, false);
		/* fall through */
	case SAVES_SELF:
		if (self)
			save(p, self, p->need[0], false);
		break;
	case SAVES_RESULT:
		if (result)
			save(p, result, p->all, false);
		break;
	case SAVES_PRODUCT: save_operands(p, true); break;
	case SAVES_ALL: save_operands(p, false); break;
	}
}

static uint32_t new_node(GradStep *p, GradMask need, uint32_t result)
{
	GradTape *t = p->t;
	GradNode g = {.need = need, .edge = t->edges.n, .saved = t->saved.n, .call = p->r->eager ? 0 : t->current, .node = p->r->node,
	              .where = where_of(p->r), .op = p->op};
	for (uint32_t i = 0; i < p->nv; i++) {
		uint32_t fn = p->need[i] ? fn_of(p->s, t, p->v[i]) : 0;
		if (fn)
			VEC_PUSH(t->a, &t->edges, fn);
	}
	save_values(p, result);
	g.nedges = t->edges.n - g.edge;
	g.nsaved = t->saved.n - g.saved;
	VEC_PUSH(t->a, &t->nodes, g);
	t->full |= t->nodes.n >= MAX_NODES;
	return t->nodes.n;
}

/* ---- views that a graph without gradient handed out ---- */

static GradPort *poisoned_port(Sim *s, GradTape *t, uint32_t tensor)
{
	for (uint32_t at = tensor, steps = 0; at && t->poisoned.n && steps < MAX_VIEWS; at = s->tensors.v[at].parent, steps++) {
		uint32_t k = map_get(&t->poisoned, at);
		if (k)
			return &t->calls.v[(k - 1) >> 16].outputs.v[(k - 1) & 0xffff];
	}
	return NULL;
}

static void poison(GradPort *port, GradMask need, Span where)
{
	if (!port->poison)
		port->poisoned = where;
	port->poison |= need;
}

/* Used after its memory was written with a gradient. */
static void poisoned_read(GradStep *p, uint32_t tensor)
{
	uint32_t spill = map_get(&p->t->dirty, root_of(p->s, tensor));
	GradPort *port = spill ? poisoned_port(p->s, p->t, tensor) : NULL;
	if (port && p->t->spills.v[spill - 1])
		poison(port, p->t->spills.v[spill - 1], where_of(p->r));
}

static void poisoned_write(GradStep *p, uint32_t tensor, GradMask need)
{
	GradPort *port = poisoned_port(p->s, p->t, tensor);
	if (port)
		poison(port, need, where_of(p->r));
	uint32_t spill = map_get(&p->t->dirty, root_of(p->s, tensor));
	if (spill)
		p->t->spills.v[spill - 1] |= need;
}

/* ---- old values of inputs ---- */

static bool same_sizes(const SimTensor *a, const SimTensor *b)
{
	return a->ndim == b->ndim && memcmp(a->size, b->size, a->ndim * sizeof *a->size) == 0;
}

static GradMask others_of(const GradStep *p)
{
	GradMask need = 0;
	for (uint32_t i = 0; i < p->nv; i++)
		need |= p->v[i] != p->target ? p->need[i] : 0;
	return need;
}

/* Whose gradient needs what the written tensor held before. */
static GradMask old_needed_by(const GradStep *p)
{
	if (p->nv < 2 && p->old && (*p->old == OLD_OTHER || *p->old == OLD_DIVISOR))
		return 0;
	const SimTensor *x = p->s->tensors.v;
	GradMask others = others_of(p), self = p->need[0];
	switch (p->old ? (OldValue)*p->old : OLD_NO) {
	case OLD_NO: return 0;
	case OLD_OTHER: return others;
	case OLD_THIRD: return p->nv > 2 ? p->need[2] : 0;
	case OLD_SELF: return self;
	case OLD_ANY: return others | self;
	case OLD_DIVISOR: return others && (self || (p->nv > 1 && !same_sizes(&x[p->v[0]], &x[p->v[1]]))) ? others : 0;
	}
	return 0;
}

/* Only a write to all of an input that nothing has written yet. */
static void note_old(GradStep *p)
{
	GradMask need = old_needed_by(p);
	const SimTensor *x = &p->s->tensors.v[p->target];
	if (!need || !p->t->current || p->r->eager || map_get(&p->t->written, (uint64_t)p->t->current << 32 | x->store))
		return;
	GradCall *c = &p->t->calls.v[p->t->current - 1];
	for (uint32_t at = p->target, steps = 0; at && steps < MAX_VIEWS; at = p->s->tensors.v[at].parent, steps++) {
		uint32_t k = map_get(&p->t->input_of, at);
		if (!k)
			continue;
		if (c->inputs.v[k - 1].elements == elements_of(x))
			VEC_PUSH(p->t->a, &c->old, ((GradOld){.input = c->inputs.v[k - 1].index, .need = need, .node = p->r->node}));
		return;
	}
}

/* ---- writes ---- */

static void note_write(GradStep *p, uint32_t tensor)
{
	uint32_t store = p->s->tensors.v[tensor].store;
	GradWrite w = {.store = store, .version = p->s->stores.v[store].touched, .call = p->r->eager ? 0 : p->t->current,
	               .node = p->r->node, .where = where_of(p->r), .op = p->op};
	if (p->t->writes.n < MAX_NODES)
		VEC_PUSH(p->t->a, &p->t->writes, w);
	if (p->t->current)
		map_put(&p->t->written, (uint64_t)p->t->current << 32 | store, 1);
}

/* Autograd refuses writes to one of several views that one operator made. */
static bool is_one_of_many(Sim *s, GradTape *t, uint32_t tensor)
{
	for (uint32_t at = tensor, steps = 0; at && steps < MAX_VIEWS; at = s->tensors.v[at].parent, steps++)
		if (slot(t, at)->one_of_many)
			return true;
	return false;
}

/* With grad mode on. A leaf that needs a gradient cannot be written so, nor a view of one. */
static void write_in_place(GradStep *p)
{
	uint32_t root = root_of(p->s, p->target);
	GradTensor *g = root_state(p->s, p->t, root);
	if (!g->fn && g->need) {
		p->t->never |= g->need;
		g->need = 0;
	}
	if (is_one_of_many(p->s, p->t, p->target)) {
		p->t->never |= g->need;
		g = root_state(p->s, p->t, root);
	}
	GradMask others = may_need(p->s->tensors.v[p->target].dtype) ? others_of(p) : 0;
	note_old(p);
	poisoned_write(p, p->target, others);
	aot_note_write(p->s, p->target, false, others);
	GradMask need = g->need | others;
	p->need[0] = need_of(p->s, p->t, p->target);
	uint32_t fn = need ? new_node(p, need, p->target) : 0;
	g = root_state(p->s, p->t, root);
	g->need = need;
	g->fn = fn ? fn : g->fn;
}

static bool is_out(const GradStep *p, Ref target)
{
	for (uint32_t i = 0; i < p->n->nargs; i++) {
		const Arg *a = &node_args(p->r->g, p->n)[i];
		if (a->kind == AR_NODE && a->key.i && p->r->v[a->u.node.i] == target && str_eq(sym_str(p->s->names, a->key), S("out")))
			return true;
	}
	return false;
}

static void write_targets(GradStep *p, const Ref *targets, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t tensor = sim_obj(p->s, targets[i])->tensor;
		if (p->t->no_grad)
			aot_note_write(p->s, tensor, true, 0);
		else if (is_out(p, targets[i]))
			p->t->never |= p->all; /* refused where an operand needs a gradient */
		else if (p->nv && tensor == p->v[0]) {
			p->target = tensor;
			write_in_place(p);
		}
		note_write(p, tensor);
	}
}

/* ---- results ---- */

static void set_result(GradStep *p, uint32_t tensor, uint32_t *fn, GradMask need)
{
	const SimTensor *x = &p->s->tensors.v[tensor];
	if (is_operand(p, tensor))
		return;
	GradTensor *g = slot(p->t, tensor);
	if (x->base) {
		g->no_grad_view |= p->t->no_grad && !g->known;
		g->known = true;
		return;
	}
	if (g->known || x->whence != WHENCE_MADE)
		return;
	g->known = true;
	if (!need || !may_need(x->dtype))
		return;
	if (!*fn)
		*fn = new_node(p, need, tensor);
	g = slot(p->t, tensor);
	g->need = need;
	g->fn = *fn;
}

static void set_results(GradStep *p)
{
	Ref v = p->r->v[p->r->node.i];
	bool none = p->t->no_grad || (p->saves && *p->saves == SAVES_NONE);
	/* detach makes a root of its own */
	bool hidden = str_has(sym_str(p->s->names, p->op), S("detach")) || str_eq(sym_str(p->s->names, p->op), S("data"));
	GradMask need = none || hidden ? 0 : p->all;
	uint32_t fn = 0;
	if (!v)
		return;
	const HeapObj o = *sim_obj(p->s, v);
	if (o.kind == HK_TENSOR)
		set_result(p, o.tensor, &fn, need);
	for (uint32_t i = 0; (o.kind == HK_TUPLE || o.kind == HK_LIST) && i < o.items.n; i++) {
		if (!sim_is_tensor(p->s, o.items.v[i]))
			continue;
		uint32_t tensor = sim_obj(p->s, o.items.v[i])->tensor;
		set_result(p, tensor, &fn, need);
		slot(p->t, tensor)->one_of_many |= p->s->tensors.v[tensor].base && o.items.n > 1 && !is_operand(p, tensor);
	}
}

/* `x /= y` is printed as itruediv. */
static uint32_t row_of(GradStep *p)
{
	uint32_t row = p->op.i ? map_get(&p->t->rows, p->op.i) : 0;
	Str t = sym_str(p->s->names, p->op);
	if (row || p->n->callee != CALLEE_OPERATOR || t.n < 3 || t.p[0] != 'i')
		return row;
	Sym rest = sym_find(p->s->names, str_sub(t, 1, t.n));
	return rest.i ? map_get(&p->t->rows, rest.i) : 0;
}

void grad_call(GraphRun *r, const Ref *targets, uint32_t n)
{
	GradTape *t = tape_of(r->s);
	if (!t)
		return;
	GradStep *p = NEW(r->s->scratch, GradStep);
	*p = (GradStep){.r = r, .s = r->s, .t = t, .n = graph_node(r->g, r->node), .op = short_name(r)};
	if (str_eq(sym_str(r->s->names, p->op), S("set_grad_enabled"))) {
		const Arg *a = node_args(r->g, p->n);
		t->no_grad = p->n->nargs && a->kind == AR_BOOL ? !a->u.num : t->no_grad;
		return;
	}
	uint32_t row = row_of(p);
	p->saves = row ? &rows[row - 1].saves : NULL;
	p->old = row ? &rows[row - 1].old : NULL;
	for (uint32_t i = 0; i < p->n->nargs; i++)
		arg_each_node(r->g, &node_args(r->g, p->n)[i], add_operand, p);
	for (uint32_t i = 0; i < p->nv && !t->no_grad; i++) {
		poisoned_read(p, p->v[i]);
		aot_note_read(r->s, p->v[i], r->node);
	}
	write_targets(p, targets, n);
	set_results(p);
}

/* ---- calls of graphs ---- */

static GradPort port_of(Sim *s, GradTape *t, uint32_t index, Ref v)
{
	uint32_t tensor = sim_obj(s, v)->tensor, store = s->tensors.v[tensor].store;
	return (GradPort){.index = index, .tensor = tensor, .store = store, .version = s->stores.v[store].touched,
	                  .elements = elements_of(&s->tensors.v[tensor]), .need = need_of(s, t, tensor), .fn = fn_of(s, t, tensor)};
}

void grad_enter(Sim *s, const Graph *g, const Ref *args, uint32_t n, uint32_t nth)
{
	GradTape *t = tape_of(s);
	if (!t || t->calls.n >= MAX_PORTS)
		return;
	GradCall c = {.graph = g->id, .nth = nth, .first = s->tensors.n, .first_node = t->nodes.n};
	t->input_of = (Map){.a = s->scratch}; /* does not grow while nodes run */
	for (uint32_t i = 0; i < n; i++) {
		if (!sim_is_tensor(s, args[i]))
			continue;
		GradPort port = port_of(s, t, i, args[i]);
		uint32_t root = root_of(s, port.tensor);
		for (uint32_t k = 0; port.need && !port.fn && k < t->leaves.n && k < GRAD_LEAVES; k++)
			if (t->leaves.v[k].tensor == root && !t->leaves.v[k].name.i)
				t->leaves.v[k].name = graph_node(g, g->inputs.v[i])->target;
		VEC_PUSH(t->a, &c.inputs, port);
		map_put(&t->input_of, port.tensor, c.inputs.n);
	}
	VEC_PUSH(t->a, &t->calls, c);
	t->current = t->calls.n;
}

/* Does what an output was made of lead to one of the operators? */
static bool leads_to(Sim *s, GradTape *t, const GradCall *c, const AotSet *set)
{
	uint32_t n = t->nodes.n - c->first_node;
	uint8_t *seen = NEW_N(s->scratch, uint8_t, n + 1);
	VEC(uint32_t) todo = {0};
	for (uint32_t i = 0; i < c->outputs.n; i++)
		if (c->outputs.v[i].fn > c->first_node)
			VEC_PUSH(s->scratch, &todo, c->outputs.v[i].fn);
	while (todo.n) {
		uint32_t fn = todo.v[--todo.n];
		const GradNode *g = &t->nodes.v[fn - 1];
		if (fn <= c->first_node || seen[fn - 1 - c->first_node])
			continue;
		seen[fn - 1 - c->first_node] = 1;
		for (uint32_t i = 0; i < set->cross.n; i++)
			if (set->cross.v[i].i == g->node.i)
				return true;
		for (uint32_t i = 0; i < g->nedges; i++)
			VEC_PUSH(s->scratch, &todo, t->edges.v[g->edge + i]);
	}
	return false;
}

static void finish_shared(Sim *s, GradTape *t, const GradCall *c)
{
	AotCall *a = aot_current(s);
	if (!a)
		return;
	a->outputs_need = c->written;
	for (uint32_t i = 0; i < c->outputs.n; i++)
		a->outputs_need |= c->outputs.v[i].need;
	for (uint32_t i = 0; i < a->members.n; i++) {
		AotMember *m = &a->members.v[i];
		m->need_after = need_of(s, t, m->tensor);
	}
	for (uint32_t i = 0; i < a->sets.n; i++)
		a->sets.v[i].crossed = a->sets.v[i].cross.n && leads_to(s, t, c, &a->sets.v[i]);
}

void grad_leave(Sim *s, const Graph *g, const Ref *outs)
{
	GradTape *t = tape_of(s);
	if (!t || !t->current)
		return;
	GradCall *c = &t->calls.v[t->current - 1];
	for (uint32_t i = 0; i < c->inputs.n; i++) {
		GradPort *in = &c->inputs.v[i];
		if (in->version != s->stores.v[in->store].touched)
			c->written |= need_of(s, t, in->tensor);
		in->version = s->stores.v[in->store].touched;
		in->fn_after = fn_of(s, t, in->tensor);
	}
	for (uint32_t j = 0; j < g->outputs.n && j < MAX_PORTS; j++) {
		if (!sim_is_tensor(s, outs[j]))
			continue;
		GradPort port = port_of(s, t, j, outs[j]);
		uint32_t root = root_of(s, port.tensor);
		VEC_PUSH(t->a, &c->outputs, port);
		if (root == port.tensor || root < c->first || c->outputs.n >= MAX_PORTS || t->calls.n >= MAX_PORTS)
			continue;
		map_put(&t->poisoned, port.tensor, ((t->current - 1) << 16 | (c->outputs.n - 1)) + 1);
		if (!map_get(&t->dirty, root)) {
			VEC_PUSH(t->a, &t->spills, (GradMask)0);
			map_put(&t->dirty, root, t->spills.n);
		}
	}
	finish_shared(s, t, c);
	t->current = 0;
}

void grad_finish(Sim *s, const Ref *values, uint32_t n)
{
	GradTape *t = tape_of(s);
	if (!t)
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (!values[i] || !sim_is_tensor(s, values[i]))
			continue;
		uint32_t tensor = sim_obj(s, values[i])->tensor, fn = fn_of(s, t, tensor);
		if (fn && need_of(s, t, tensor))
			VEC_PUSH(t->a, &t->observed, fn);
	}
	for (uint32_t i = 0; i < s->stores.n; i++)
		VEC_PUSH(t->a, &t->versions, s->stores.v[i].touched);
}

/* ---- grad mode of frames ---- */

static bool switches_off(Str name, bool *off)
{
	*off = str_has(name, S("no_grad")) || str_has(name, S("inference_mode"));
	return *off || str_has(name, S("enable_grad"));
}

static bool mode_argument(Sim *s, const Ref *args, uint32_t n, bool *off)
{
	const HeapObj *o = n ? sim_obj(s, args[0]) : NULL;
	if (!o || o->kind != HK_NUMBER || !o->known)
		return false;
	*off = !o->num;
	return true;
}

static void remember(GradTape *t, Ref object)
{
	map_put(&t->contexts, object, t->no_grad + 1u);
}

/* set_grad_enabled(x) takes effect when it is made. */
void grad_context(Sim *s, Ref object, Str name, const Ref *args, uint32_t n)
{
	GradTape *t = tape_of(s);
	bool off;
	if (!t || !str_has(name, S("set_grad_enabled")) || !mode_argument(s, args, n, &off))
		return;
	remember(t, object);
	t->no_grad = off;
}

void grad_context_enter(Sim *s, Ref object, Str name)
{
	GradTape *t = tape_of(s);
	bool off;
	if (!t || !switches_off(name, &off))
		return;
	remember(t, object);
	t->no_grad = off;
}

void grad_context_leave(Sim *s, Ref object)
{
	GradTape *t = tape_of(s);
	uint32_t before = t ? map_get(&t->contexts, object) : 0;
	if (before)
		t->no_grad = before - 1;
}

void grad_set_mode(Sim *s, const Ref *args, uint32_t n)
{
	GradTape *t = tape_of(s);
	bool off;
	if (t && mode_argument(s, args, n, &off))
		t->no_grad = off;
}

void grad_refuses(Sim *s, Ref tensor)
{
	GradTape *t = tape_of(s);
	if (t && !t->no_grad && sim_is_tensor(s, tensor))
		t->never |= need_of(s, t, sim_obj(s, tensor)->tensor);
}
