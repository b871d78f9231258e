/* SPDX-License-Identifier: MIT
 * sim_call: who is called: a captured graph, a frame of the dump, an operator, a builtin, or code that is not shown. */
#include "sim_grad.h"
#include "sim_host.h"

/* ---- frames and graphs of the dump ---- */

enum { KEY_FRAME = 4, KEY_FRAMES_READ = 5, KEY_FRAME_LINE = 6 };

static uint64_t frame_key(uint32_t kind, Sym name)
{
	return (uint64_t)kind << 60 | name.i;
}

/* How many functions of a name have bytecode in the dump, counted once a run. */
static uint32_t frames_named(Sim *s, Sym name)
{
	if (!s->globals.a)
		s->globals.a = s->a;
	if (!map_get(&s->globals, frame_key(KEY_FRAMES_READ, (Sym){0}))) {
		for (uint32_t i = 0; i < s->p->frames.n; i++) {
			const Frame *f = &s->p->frames.v[i];
			uint64_t line = frame_key(KEY_FRAME_LINE, f->name);
			if (map_get(&s->globals, line) == f->first_line + 1)
				continue;
			map_put(&s->globals, line, f->first_line + 1);
			map_put(&s->globals, frame_key(KEY_FRAME, f->name), map_get(&s->globals, frame_key(KEY_FRAME, f->name)) + 1);
		}
		map_put(&s->globals, frame_key(KEY_FRAMES_READ, (Sym){0}), 1);
	}
	return map_get(&s->globals, frame_key(KEY_FRAME, name));
}

bool host_has_frame(Sim *s, Sym name)
{
	return !sym_none(name) && frames_named(s, name) != 0;
}

static const Frame *frame_of(Sim *s, const Code *code)
{
	static const Frame none = {0};
	for (uint32_t i = 0; i < s->p->frames.n; i++)
		if (s->p->frames.v[i].code == code)
			return &s->p->frames.v[i];
	return &none;
}

/* The graph of that name that the running frame means: of its own unit and process, with as many inputs. */
static GraphId graph_named(Sim *s, Machine *m, Sym name, uint32_t nargs)
{
	GraphId best = {0};
	uint32_t best_rank = 0;
	const Frame *frame = frame_of(s, m->code);
	host_charge(s, s->p->graphs.n);
	for (uint32_t i = 1; i < s->p->graphs.n; i++) {
		const Graph *g = s->p->graphs.v[i];
		if (!g || !sym_eq(g->name, name) || g->parent.i)
			continue;
		GraphId id = g->printing_of.i ? g->printing_of : g->id;
		const Graph *principal = graph_get(s->p, id);
		if (!principal)
			continue;
		uint32_t rank = 1 + (uint32_t)(principal->inputs.n == nargs) * 8 + (uint32_t)(g->unit.i == frame->unit.i) * 4 +
		                (uint32_t)sym_eq(g->process, frame->process) * 2 + !principal->superseded;
		if (rank >= best_rank) {
			best_rank = rank;
			best = id;
		}
	}
	return best;
}

static Ref call_graph(HostCall *c, Sym name)
{
	Sim *s = c->s;
	GraphId id = graph_named(s, c->m, name, c->n);
	const Graph *g = graph_get(s->p, id);
	if (!g)
		return host_give_up(c->m, S("a graph is called that is not in the dump"));
	if (g->inputs.n != c->n)
		return host_give_up(c->m, S("a graph is called with another number of arguments than it has inputs"));
	for (uint32_t i = 0; i < c->n; i++)
		if (host_kind(s, c->args[i]) == HK_NAME && !host_is_module(host_name(s, c->args[i])))
			host_promote(s, c->args[i]);
	return sim_graph(s, id, c->args, c->n);
}

/* Leaves the call to the driver. `self` 0: none goes before the arguments. */
static Ref call_frame(HostCall *c, Sym name, Ref fn, Ref self, bool resume)
{
	Sim *s = c->s;
	uint32_t extra = self != 0, given = c->n;
	if (c->names_hidden)
		sim_unsure(s, S("a frame is called with keywords that the listing does not show"));
	Ref *args = NEW_N(s->a, Ref, c->n + 1);
	Sym *names = NEW_N(s->a, Sym, c->n + 1);
	args[0] = self;
	uint32_t named = given > c->npos ? given - c->npos : 0;
	for (uint32_t i = 0; i < given; i++)
		args[i + extra] = c->args[i];
	for (uint32_t i = 0; i < named; i++)
		names[i] = c->names[c->npos + i];
	s->call = (SimCall){.name = name, .fn = fn, .args = args, .nargs = given + extra, .resume = resume};
	s->call.names = named ? names : NULL;
	s->call.nnames = named;
	s->call.names_hidden = c->names_hidden;
	s->call.rest = c->rest;
	s->call.map = c->map;
	return VALUE_LATER;
}

static bool is_resume(Str name)
{
	return str_starts(name, S("__resume_at_")) || str_starts(name, S("___resume_at_")) ||
	       str_starts(name, S("torch_dynamo_resume_in_"));
}

/* ---- code that is not shown ---- */

/* It gets the arguments, and what the callable itself holds. */
static Ref call_hidden(HostCall *c, Ref holder)
{
	Ref *all = NEW_N(c->s->scratch, Ref, c->n + 1);
	memcpy(all, c->args, c->n * sizeof *all);
	all[c->n] = holder;
	return host_hidden(c->s, c->name.n ? c->name : S("a call"), all, c->n + (holder != 0));
}

/* ---- functions made in the frame ---- */

static Ref call_function(HostCall *c)
{
	Sim *s = c->s;
	HeapObj f = *sim_obj(s, c->fn);
	c->name = sym_str(s->names, f.name);
	if (is_resume(c->name))
		return call_frame(c, f.name, c->fn, 0, true);
	if (host_has_frame(s, f.name))
		return call_frame(c, f.name, c->fn, 0, false);
	return call_hidden(c, c->fn);
}

/* 2.13 and later: __resume_at_194_3((cell b, cell scale)) gives the resume function. */
static bool is_factory_call(HostCall *c)
{
	Sim *s = c->s;
	if (c->n != 1 || host_kind(s, c->args[0]) != HK_TUPLE || !sim_obj(s, c->args[0])->items.n)
		return false;
	const HeapObj *o = sim_obj(s, c->args[0]);
	for (uint32_t i = 0; i < o->items.n; i++)
		if (host_kind(s, o->items.v[i]) != HK_CELL)
			return false;
	return true;
}

static Ref call_resume(HostCall *c, Sym name)
{
	Sim *s = c->s;
	if (!is_factory_call(c))
		return call_frame(c, name, 0, 0, true);
	Ref f = sim_new(s, HK_FUNCTION);
	sim_obj(s, f)->name = name;
	sim_obj(s, f)->b = c->args[0];
	return f;
}

/* ---- classes ---- */

static bool is_exception_class(Str name)
{
	static const Str names[] = {
#define EXCEPTION(name, parent) STR_INIT(name),
#include "exceptions.def"
#undef EXCEPTION
	};
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(names[i], name))
			return true;
	return str_ends(name, S("Error")) || str_ends(name, S("Exception")) || str_ends(name, S("Warning"));
}

/* What the constructor does with its arguments is not shown: the object holds them. Those with a name are attributes
 * of that name, as in dataclasses and named tuples. */
static Ref make_object(HostCall *c, Sym cls, uint32_t skip)
{
	Sim *s = c->s;
	skip = skip < c->npos ? skip : c->npos;
	if (is_exception_class(sym_str(s->names, cls)))
		return host_exception(s, sym_str(s->names, cls), c->args + skip, c->npos - skip);
	Ref r = sim_object(s, cls, host_site(s, c->m));
	for (uint32_t i = skip; i < c->n; i++)
		VEC_PUSH(s->a, &sim_obj(s, r)->items, c->args[i]);
	for (uint32_t i = c->npos; i < c->n; i++)
		if (!sym_none(c->names[i]))
			sim_set_attr(s, r, c->names[i], c->args[i]);
	sim_obj(s, r)->fields = c->n == c->npos && host_is_named_tuple(s, cls);
	return r;
}

/* The constructor's record is one of __init__, if there is one. */
static Ref construct(HostCall *c, Sym cls)
{
	Sim *s = c->s;
	Sym init = host_sym(s, S("__init__"));
	if (!host_has_frame(s, init) || is_exception_class(sym_str(s->names, cls)) || host_is_named_tuple(s, cls))
		return make_object(c, cls, 0);
	Ref made = sim_object(s, cls, host_site(s, c->m));
	Ref r = call_frame(c, init, 0, made, false);
	s->call.guess = GUESS_INIT;
	return r;
}

/* ---- methods ---- */

/* Methods that only lists, or only dicts, have. */
static HeapKind container_of(Str method)
{
	static const Str lists[] = {STR_INIT("append"), STR_INIT("extend"), STR_INIT("insert"), STR_INIT("remove"),
	                            STR_INIT("reverse"), STR_INIT("pop"), STR_INIT("clear")};
	static const Str dicts[] = {STR_INIT("items"), STR_INIT("keys"), STR_INIT("setdefault"), STR_INIT("popitem"),
	                            STR_INIT("get"), STR_INIT("update")};
	for (uint32_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (str_eq(lists[i], method))
			return HK_LIST;
	for (uint32_t i = 0; i < sizeof dicts / sizeof *dicts; i++)
		if (str_eq(dicts[i], method))
			return HK_DICT;
	return HK_NONE;
}

/* A value whose other uses do not speak against it becomes what its method belongs to. */
static bool settle_owner(HostCall *c, Ref owner, Str method)
{
	Sim *s = c->s;
	bool attribute;
	if (sim_is_tensor(s, owner))
		return true;
	if (host_kind(s, owner) != HK_UNKNOWN || sim_obj(s, owner)->known)
		return false;
	HeapKind k = container_of(method);
	Sym name = host_sym(s, method);
	/* A record of that name that is not due is of another class than this value's. */
	if (host_has_frame(s, name) && (k == HK_NONE || sym_eq(s->next_name, name)))
		return false;
	if (k != HK_NONE) {
		/* Items asked for stay; the method itself was asked for as an attribute, and is none. */
		HeapAttr *at = host_find_attr(s, owner, host_sym(s, method));
		if (at)
			at->value = 0;
		host_become_container(s, owner, k);
		return true;
	}
	if (!host_tensor_member(s, method, &attribute) || !host_may_be_tensor(s, owner))
		return false;
	host_become_tensor(s, owner);
	return true;
}

static Ref call_owned(HostCall *c, Ref owner, Sym name)
{
	Sim *s = c->s;
	Str method = sym_str(s->names, name);
	Ref out;
	c->name = method;
	if (host_kind(s, owner) == HK_TENSOR)
		return host_tensor_method(c, owner, method);
	if (host_container_method(c, owner, method, &out))
		return out;
	if (host_has_frame(s, name)) {
		/* A method found on a class gets no self. */
		bool cls = sim_obj(s, owner)->root && host_is_class(host_name(s, owner)) && !sim_obj(s, owner)->a;
		return call_frame(c, name, 0, cls ? 0 : owner, false);
	}
	return 0;
}

static Ref enter_or_leave(HostCall *c, Ref self, Str method)
{
	Sim *s = c->s;
	bool shown = host_has_frame(s, host_sym(s, method));
	bool enters = str_eq(method, S("__enter__"));
	if (host_kind(s, self) == HK_OBJECT && host_is_context(host_name(s, self))) {
		if (enters)
			grad_context_enter(s, self, host_name(s, self));
		else
			grad_context_leave(s, self);
		return enters ? self : sim_none(s);
	}
	if (shown)
		return call_frame(c, host_sym(s, method), 0, self, false);
	Ref r = call_hidden(c, self);
	return enters ? r : sim_none(s);
}

static Ref object_dunder(HostCall *c, Ref self, Str method, bool *known)
{
	Sim *s = c->s;
	Str text;
	*known = true;
	if (str_eq(method, S("__enter__")) || str_eq(method, S("__exit__")))
		return enter_or_leave(c, self, method);
	if (str_eq(method, S("__setattr__")) && c->n == 2 && host_text(s, c->args[0], &text)) {
		host_set_attr(s, c->m, self, host_sym(s, text), c->args[1]);
		return sim_none(s);
	}
	if (str_eq(method, S("__getitem__")) && c->n == 1)
		return host_get_item(s, c->m, self, c->args[0]);
	if (str_eq(method, S("__setitem__")) && c->n == 2) {
		host_set_item(s, c->m, self, c->args[0], c->args[1]);
		return sim_none(s);
	}
	if (str_eq(method, S("__len__")) && c->n == 0)
		return host_length(s, c->m, self);
	if (str_eq(method, S("__iter__")) && c->n == 0)
		return host_iter(s, c->m, self);
	if (str_eq(method, S("__new__")) && c->npos) {
		Ref r = make_object(c, sim_obj(s, c->args[0])->name, 1);
		sim_obj(s, r)->bare = true;
		return r;
	}
	if (str_eq(method, S("_make")) && c->n == 1 && host_kind(s, self) == HK_NAME) { /* of named tuples */
		RefList v = {.a = s->scratch};
		HostCall all = *c;
		if (host_items(s, c->m, c->args[0], &v)) {
			all.args = v.v.v;
			all.n = all.npos = v.v.n;
			Ref r = make_object(&all, sim_obj(s, self)->name, 0);
			sim_obj(s, r)->fields = true;
			return r;
		}
	}
	*known = false;
	return 0;
}

static Ref call_method(HostCall *c)
{
	Sim *s = c->s;
	HeapObj f = *sim_obj(s, c->fn);
	bool known;
	c->name = sym_str(s->names, f.name);
	Ref r = object_dunder(c, f.a, c->name, &known);
	if (known)
		return r;
	Ref out = call_owned(c, f.a, f.name);
	if (out || c->m->raising || c->m->gave_up)
		return out;
	return call_hidden(c, f.a);
}

/* ---- values ---- */

static Ref call_name(HostCall *c);

/* functools.partial(f, *args, **kwargs): what it holds goes first. */
static Ref call_partial(HostCall *c)
{
	Sim *s = c->s;
	HeapObj o = *sim_obj(s, c->fn);
	HostCall all = *c;
	uint32_t positional = o.items.n - 1, n = positional + o.attrs.n + c->n, at = 0;
	Ref *args = NEW_N(s->scratch, Ref, n + 1);
	Sym *names = NEW_N(s->scratch, Sym, n + 1);
	for (uint32_t i = 0; i < positional; i++)
		args[at++] = o.items.v[i + 1];
	for (uint32_t i = 0; i < c->npos; i++)
		args[at++] = c->args[i];
	all.npos = at;
	for (uint32_t i = 0; i < o.attrs.n; i++) {
		args[at] = o.attrs.v[i].value;
		names[at++] = o.attrs.v[i].name;
	}
	for (uint32_t i = c->npos; i < c->n; i++) {
		args[at] = c->args[i];
		names[at++] = c->names[i];
	}
	all.args = args;
	all.names = names;
	all.n = at;
	all.fn = o.items.v[0];
	all.name = (Str){0};
	/* A partial of a partial could go on for ever. */
	HeapKind k = host_kind(s, all.fn);
	if ((k != HK_NAME && k != HK_FUNCTION) || ++s->steps > s->max_steps)
		return call_hidden(c, c->fn);
	return k == HK_NAME ? call_name(&all) : call_function(&all);
}

/* nn.Linear, by the parameters that its graphs took from it: weight [out, in] and bias [out]. */
static Ref call_linear(HostCall *c)
{
	Sim *s = c->s;
	HeapAttr *w = host_find_attr(s, c->fn, host_sym(s, S("weight")));
	HeapAttr *b = host_find_attr(s, c->fn, host_sym(s, S("bias")));
	if (c->n != 1 || c->npos != 1 || !w || !b || !sim_is_tensor(s, c->args[0]) || !sim_is_tensor(s, w->value) ||
	    !sim_is_tensor(s, b->value))
		return 0;
	const SimTensor *x = &s->tensors.v[sim_obj(s, c->args[0])->tensor];
	const SimTensor *weight = &s->tensors.v[sim_obj(s, w->value)->tensor];
	const SimTensor *bias = &s->tensors.v[sim_obj(s, b->value)->tensor];
	bool fits = x->sized && weight->sized && bias->sized && x->ndim && weight->ndim == 2 && bias->ndim == 1 &&
	            weight->size[1] == x->size[x->ndim - 1] && weight->size[0] == bias->size[0];
	Ref args[3] = {c->args[0], w->value, b->value};
	return fits ? host_op(s, CALLEE_FUNCTION, S("torch.nn.functional.linear"), args, 3) : 0;
}

/* A call of which only the driver can tell whether a record of the dump is what it runs. */
static Ref call_guessed(HostCall *c, CallGuess guess, Ref self)
{
	Sim *s = c->s;
	Sym name = self ? host_sym(s, S("forward")) : host_sym(s, c->name.n ? c->name : S("a call"));
	Ref r = call_frame(c, name, 0, self, false);
	s->call.guess = (uint8_t)guess;
	s->call.holder[0] = self ? 0 : c->fn;
	return r;
}

/* registry.get: a part of what a global names, a method more often than a module. */
static bool is_of_global(Sim *s, Ref r)
{
	Ref owner = sim_obj(s, r)->a;
	const HeapObj *o = owner ? sim_obj(s, owner) : NULL;
	return o && o->kind == HK_UNKNOWN && o->root && !o->a && o->name.i && !o->decorated;
}

/* A module of the program, or another object that can be called. */
static Ref call_object(HostCall *c)
{
	Sim *s = c->s;
	const HeapObj *o = sim_obj(s, c->fn);
	if (o->kind == HK_OBJECT && o->items.n && str_eq(sym_str(s->names, o->name), S("functools.partial")))
		return call_partial(c);
	Ref r = call_linear(c);
	if (r)
		return r;
	if (sim_obj(s, c->fn)->decorated)
		return call_guessed(c, GUESS_ANY, 0);
	if (sim_obj(s, c->fn)->root)
		return call_guessed(c, is_of_global(s, c->fn) ? GUESS_FORWARD : GUESS_MODULE, c->fn);
	return call_hidden(c, c->fn);
}

/* logger.warning(...): it is seen like what is printed, and nothing more is done with it. */
static bool is_logging(Sim *s, Ref owner, Str method)
{
	static const Str names[] = {STR_INIT("logger"), STR_INIT("log"), STR_INIT("_logger"), STR_INIT("LOGGER"), STR_INIT("LOG")};
	static const Str methods[] = {STR_INIT("debug"),    STR_INIT("info"),      STR_INIT("warning"),      STR_INIT("warn"),     STR_INIT("error"),
	                              STR_INIT("critical"), STR_INIT("exception"), STR_INIT("warning_once"), STR_INIT("info_once")};
	bool logs = false, known = false;
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		logs |= str_eq(names[i], host_name(s, owner));
	for (uint32_t i = 0; i < sizeof methods / sizeof *methods; i++)
		known |= str_eq(methods[i], method);
	return logs && known && sim_obj(s, owner)->root;
}

static Ref call_unknown(HostCall *c)
{
	Sim *s = c->s;
	HeapObj f = *sim_obj(s, c->fn);
	c->name = sym_str(s->names, f.name);
	if (f.known)
		return call_hidden(c, 0);
	if (f.kind == HK_UNKNOWN && f.a && is_logging(s, f.a, c->name)) {
		for (uint32_t i = 0; i < c->n; i++)
			VEC_PUSH(s->a, &s->printed, ((SimPrinted){host_term(s, c->args[i])}));
		return sim_none(s);
	}
	if (f.kind == HK_UNKNOWN && f.a) {
		settle_owner(c, f.a, c->name);
		Ref r = call_owned(c, f.a, f.name);
		if (r || c->m->raising || c->m->gave_up)
			return r;
		r = call_object(c);
		if (r == VALUE_LATER && !sim_obj(s, c->fn)->attrs.n && frames_named(s, host_sym(s, S("forward"))) < 2) {
			/* A part of its owner, more likely than a method: it may share what the owner holds, but does not know it. */
			s->call.holder[1] = f.a;
			s->call.keeps_owner = true;
		}
		return r;
	}
	if (host_has_frame(s, f.name))
		return call_frame(c, f.name, 0, 0, false);
	if (f.root && !f.a && host_is_class(c->name))
		return construct(c, f.name);
	return call_object(c);
}

/* ---- names ---- */

static Str last_part(Str dotted)
{
	uint32_t i = str_rfind(dotted, S("."));
	return i < dotted.n ? str_sub(dotted, i + 1, dotted.n) : dotted;
}

static bool has_prefix(Str name, Str prefix)
{
	return str_starts(name, prefix) && name.n > prefix.n;
}

Ref host_operator(HostCall *c, Callee callee, Str target)
{
	Sim *s = c->s;
	if (c->names_hidden && !host_operator_keywords(c, callee, target))
		return call_hidden(c, 0);
	for (uint32_t i = 0; i < c->n; i++)
		if (host_kind(s, c->args[i]) == HK_ITER) { /* torch.stack(list(...)) and the like take what is left of it */
			RefList items = {.a = s->scratch};
			if (!host_items(s, c->m, c->args[i], &items))
				return call_hidden(c, 0);
			Ref *args = NEW_N(s->scratch, Ref, c->n);
			memcpy(args, c->args, c->n * sizeof *args);
			args[i] = sim_list(s, HK_LIST, items.v.v, items.v.n);
			c->args = args;
		}
	return sim_operator(s, callee, target, c->args, c->names, c->n);
}

/* checkpoint(f, *args): f runs once in the forward pass; keywords are checkpoint's own, but for f's. */
static Ref call_checkpoint(HostCall *c)
{
	Sim *s = c->s;
	HostCall inner = *c;
	Ref f = c->args[0];
	HeapKind k = host_kind(s, f);
	Sym name = sim_obj(s, f)->name;
	inner.args++;
	inner.names++;
	inner.n = --inner.npos;
	inner.fn = f;
	for (uint32_t i = c->npos; i < c->n; i++)
		if (sim_is_tensor(s, c->args[i]))
			return call_hidden(c, 0);
	if (k == HK_FUNCTION)
		return call_function(&inner);
	if (k == HK_NAME && host_has_frame(s, name))
		return call_frame(&inner, name, 0, 0, false);
	return call_hidden(c, 0);
}

static Ref call_name(HostCall *c)
{
	Sim *s = c->s;
	Sym name = sim_obj(s, c->fn)->name;
	Ref out;
	c->name = sym_str(s->names, name);
	if (str_starts(c->name, S("__compiled_fn_")) || str_starts(c->name, S("___compiled_fn_")))
		return call_graph(c, name);
	if (is_resume(c->name))
		return call_resume(c, name);
	if (host_builtin(c, &out))
		return out;
	Sym last = host_sym(s, last_part(c->name));
	bool library = host_is_module(c->name);
	if (host_has_frame(s, name) || (library && !has_prefix(c->name, S("torch.")) && host_has_frame(s, last)))
		return call_frame(c, host_has_frame(s, name) ? name : last, 0, 0, false);
	if (str_eq(c->name, S("torch.utils.checkpoint.checkpoint")) && c->npos && !c->names_hidden)
		return call_checkpoint(c);
	if (has_prefix(c->name, S("torch.")) && !host_is_class(c->name))
		return host_operator(c, CALLEE_FUNCTION, c->name);
	if (host_is_class(c->name))
		return construct(c, name);
	return library ? call_hidden(c, 0) : call_guessed(c, GUESS_CLOSURE, 0);
}

/* ---- arguments ---- */

Ref host_arg(const HostCall *c, uint32_t position, Str keyword)
{
	if (position < c->npos)
		return c->args[position];
	for (uint32_t i = c->npos; i < c->n; i++)
		if (keyword.n && str_eq(sym_str(c->s->names, c->names[i]), keyword))
			return c->args[i];
	return 0;
}

static bool keyword_of(Sim *s, Ref r, Sym *out)
{
	Str t;
	if (!host_text(s, r, &t))
		return false;
	*out = host_sym(s, t);
	return true;
}

/* f(*seq, **map): what is known of it; false when that is not all. */
static bool spread(Sim *s, Machine *m, const MachineCall *c, RefList *args, HostCall *out)
{
	if (!host_items(s, m, c->seq, args)) {
		const HeapObj seq = *sim_obj(s, c->seq);
		out->rest = seq.c && (seq.kind == HK_TUPLE || seq.kind == HK_LIST) ? seq.c : c->seq;
		for (uint32_t i = 0; out->rest == seq.c && i < seq.items.n; i++)
			VEC_PUSH(args->a, &args->v, seq.items.v[i]);
	}
	out->npos = args->v.n;
	if (!c->map)
		return !out->rest;
	const HeapObj map = *sim_obj(s, c->map);
	if (map.kind != HK_DICT || map.opened)
		out->map = c->map;
	for (uint32_t i = 0; map.kind == HK_DICT && !map.opened && i + 1 < map.items.n; i += 2)
		VEC_PUSH(args->a, &args->v, map.items.v[i + 1]);
	return !out->rest && !out->map;
}

static bool name_arguments(Sim *s, const MachineCall *c, const RefList *args, HostCall *out)
{
	Sym *names = NEW_N(s->scratch, Sym, args->v.n + 1);
	out->names = names;
	if (c->ex) {
		const HeapObj *map = c->map && !out->map ? sim_obj(s, c->map) : NULL;
		for (uint32_t i = out->npos; i < args->v.n; i++)
			if (!keyword_of(s, map->items.v[2 * (i - out->npos)], &names[i]))
				return false;
		return true;
	}
	if (!c->names)
		return true;
	const HeapObj t = *sim_obj(s, c->names);
	if (t.kind != HK_TUPLE || t.items.n > c->n)
		return false;
	out->npos = c->n - t.items.n;
	for (uint32_t i = 0; i < t.items.n; i++)
		if (!keyword_of(s, t.items.v[i], &names[out->npos + i]))
			return false;
	return true;
}

static Ref dispatch(HostCall *c)
{
	switch (host_kind(c->s, c->fn)) {
	case HK_NAME: return call_name(c);
	case HK_METHOD: return call_method(c);
	case HK_FUNCTION: return call_function(c);
	case HK_OBJECT: return call_object(c);
	case HK_UNKNOWN: return call_unknown(c);
	default: host_misuse(c->s, c->fn); return host_give_up(c->m, S("a value is called that cannot be called"));
	}
}

/* A call of which not all arguments are known: frames get those that are. */
static Ref dispatch_part(HostCall *c)
{
	Sim *s = c->s;
	HeapObj f = *sim_obj(s, c->fn);
	Str name = sym_str(s->names, f.name);
	if (f.kind == HK_NAME && (is_resume(name) || str_starts(name, S("__compiled_fn_"))))
		return host_give_up(c->m, S("a call with arguments that are not known"));
	bool named = (f.kind == HK_NAME || f.kind == HK_FUNCTION) && host_has_frame(s, f.name);
	c->name = name;
	if (named)
		return call_frame(c, f.name, f.kind == HK_FUNCTION ? c->fn : 0, 0, false);
	if (f.kind == HK_METHOD && host_has_frame(s, f.name))
		return call_frame(c, f.name, 0, f.a, false);
	if (f.kind == HK_OBJECT || (f.kind == HK_UNKNOWN && !f.known))
		return call_object(c);
	if (f.kind == HK_FUNCTION || f.kind == HK_NAME)
		return call_guessed(c, GUESS_CLOSURE, 0);
	return host_hidden(s, name, (Ref[]){c->fn, c->rest ? c->rest : c->map, c->map ? c->map : c->rest}, 3);
}

Ref host_call_plain(Sim *s, Machine *m, Ref fn, const Ref *args, uint32_t n)
{
	HostCall c = {.s = s, .m = m, .fn = fn, .args = args, .n = n, .npos = n};
	c.names = NEW_N(s->scratch, Sym, n + 1);
	return dispatch(&c);
}

Ref host_call(Sim *s, Machine *m, const MachineCall *c)
{
	RefList args = {.a = s->scratch};
	HostCall out = {.s = s, .m = m, .fn = c->fn, .names_hidden = c->names_hidden};
	bool all = true;
	if (c->ex) {
		all = spread(s, m, c, &args, &out);
		if (m->raising)
			return 0;
	} else {
		for (uint32_t i = 0; i < c->n; i++)
			VEC_PUSH(args.a, &args.v, c->args[i]);
		out.npos = c->n;
	}
	if (args.v.n > HOST_ITEMS_MOST || !name_arguments(s, c, &args, &out))
		return host_give_up(m, S("a call with keywords that are not known"));
	out.args = args.v.v ? args.v.v : NEW_N(s->scratch, Ref, 1);
	out.n = args.v.n;
	host_charge(s, out.n);
	if (out.names_hidden)
		host_keywords(&out);
	return all ? dispatch(&out) : dispatch_part(&out);
}
