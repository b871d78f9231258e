/* SPDX-License-Identifier: MIT */
#include "report_state.h"

#include "report_common.h"

static const struct {
	StateKind kind;
	Str last;
} words[] = {
#define STATE_WORD(kind, last) {STATE_##kind, STR_INIT(last)},
#define PLAIN_CALL(name)
#include "state_words.def"
#undef STATE_WORD
#undef PLAIN_CALL
};

/* Calls that touch none of it. */
static const Str plain[] = {
#define STATE_WORD(kind, last)
#define PLAIN_CALL(name) STR_INIT(name),
#define HOST_NAME(dotted, answer) STR_INIT(dotted),
#include "state_words.def"
#include "host_names.def"
#undef STATE_WORD
#undef PLAIN_CALL
#undef HOST_NAME
};

typedef struct Scan {
	const Run *r;
	StateScan *s;
	Arena *a;
	Map hidden;  /* names that were said, by hash */
	Map classes; /* file and path of a module -> index in Program.modules, plus 1 */
} Scan;

Str state_kind_name(StateKind k)
{
	static const Str names[STATE_N] = {
		[STATE_RANDOM] = STR_INIT("random state"),
		[STATE_GRAD] = STR_INIT("grad mode"),
		[STATE_AUTOCAST] = STR_INIT("autocast"),
	};
	return names[k];
}

static Str last_part(Str dotted)
{
	uint32_t at = dotted.n;
	while (at && dotted.p[at - 1] != '.' && dotted.p[at - 1] != ':')
		at--;
	return str_sub(dotted, at, dotted.n);
}

/* np.random.rand, random.shuffle, torch.random.fork_rng */
static bool in_random_module(Str dotted)
{
	return str_starts(dotted, S("random.")) || str_has(dotted, S(".random."));
}

static bool word_kind(Str dotted, StateKind *kind)
{
	Str last = last_part(dotted);
	for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(words[i].last, last)) {
			*kind = words[i].kind;
			return true;
		}
	*kind = STATE_RANDOM;
	return in_random_module(dotted);
}

static void add_use(Scan *c, StateKind kind, Str what, Str where, Span span, bool between)
{
	VEC_PUSH(c->a, &c->s->uses[kind], ((StateUse){what, where, span, between}));
}

static void add_once(Scan *c, Str name)
{
	uint64_t key = hash_bytes(1, name.p, name.n) | 1;
	if (map_get(&c->hidden, key))
		return;
	map_put(&c->hidden, key, 1);
	VEC_PUSH(c->a, &c->s->hidden, name);
}

/* ---- graphs ---- */

/* A parameter as the call gives it, or else by its default. */
static bool param_is(const Scan *c, const Graph *g, const Node *n, Str name, bool (*is)(const Arg *), Str dflt)
{
	const Arg *given = call_param(c->r->tables->facts, g, n, name);
	if (given)
		return is(given);
	const Overload *o = NULL;
	Str target = sym_str(c->r->program.names, n->target);
	uint32_t overloads = facts_params(c->r->tables->facts, (Callee)n->callee, target, &o);
	for (uint32_t i = 0; i < overloads; i++)
		for (uint32_t k = 0; k < o[i].n; k++)
			if (str_eq(sym_str(c->r->program.names, o[i].v[k].name), name))
				return str_eq(o[i].v[k].dflt, dflt);
	return false;
}

static bool is_false(const Arg *a)
{
	return a->kind == AR_BOOL && !a->u.num;
}

static bool is_zero(const Arg *a)
{
	return (a->kind == AR_FLOAT && a->u.real == 0) || (a->kind == AR_INT && a->u.num == 0);
}

/* A dropout that drops nothing draws no number. */
static bool is_inactive(const Scan *c, const Graph *g, const Node *n)
{
	return param_is(c, g, n, S("training"), is_false, S("False")) || param_is(c, g, n, S("train"), is_false, S("False")) ||
	       param_is(c, g, n, S("p"), is_zero, S("0.0")) || param_is(c, g, n, S("dropout_p"), is_zero, S("0.0"));
}

static uint64_t module_key(FileId file, Sym path)
{
	return ((uint64_t)file.i << 32 | path.i) + 1;
}

static Str module_class(const Scan *c, const Graph *g, Sym path)
{
	const Program *p = &c->r->program;
	uint32_t i = map_get(&c->classes, module_key(g->file, path));
	return i ? sym_str(p->names, p->modules.v[i - 1].cls) : (Str){0};
}

static void scan_call(Scan *c, const Graph *g, NodeId id)
{
	const Node *n = graph_node(g, id);
	Names *names = c->r->program.names;
	Str target = sym_str(names, n->target), where = sym_str(names, g->name);
	Facts *facts = c->r->tables->facts;
	const Fact *fact = NULL;
	if (n->callee == CALLEE_MODULE) {
		Str cls = module_class(c, g, n->target);
		if (!cls.n) {
			VEC_PUSH(c->a, &c->s->modules, target);
			return;
		}
		fact = facts_find_module(facts, cls, 0, false, g->torch);
	} else {
		fact = facts_find(facts, (Callee)n->callee, target, g->torch);
	}
	StateKind kind;
	if (fact && fact_has(fact, FT_RNG)) {
		if (n->callee == CALLEE_MODULE || !is_inactive(c, g, n))
			add_use(c, STATE_RANDOM, target, where, node_span(g, id), false);
	} else if (n->callee == CALLEE_FUNCTION && word_kind(target, &kind)) {
		add_use(c, kind, target, where, node_span(g, id), false);
	} else if (!fact && n->callee != CALLEE_OPERATOR && !graph_child(g, n->target).i) {
		add_once(c, target);
	}
}

static void scan_graph(Scan *c, const Graph *g)
{
	c->s->unread |= g->unread.n || g->truncated;
	for (uint32_t i = 1; i < g->nodes.n; i++)
		if (g->nodes.v[i].kind == NK_CALL)
			scan_call(c, g, (NodeId){i});
}

/* ---- frames ---- */

/* "self.plan" of local:self.plan, ".item" of a method of what a call returned. */
static Str callee_name(const Scan *c, const LTerm *what)
{
	enum { NAME_MOST = 60 };
	Str text = str_starts(what->text, S("local:")) ? str_sub(what->text, 6, what->text.n) : what->text;
	Str last = sym_str(c->r->program.names, what->name);
	if (str_starts(text, S("__builtins_dict__")) && str_ends(text, S("']"))) /* __builtins_dict___1['print'] */
		return str_sub(text, str_find_char(text, '\'', 0) + 1, text.n - 2);
	if (what->kind == LT_ATTR && str_find_char(text, '(', 0) < text.n)
		return str_printf(c->a, "." STR_FMT, STR_ARG(last));
	for (uint32_t i = 0; i < text.n; i++)
		if (text.p[i] == ' ' || text.p[i] == '(' || (text.p[i] == '<' && !i))
			return S("a value without a name");
	return str_sub(text, 0, NAME_MOST);
}

/* Code that Dynamo puts there itself, and what touches no state. */
static bool is_plain(const LTerm *what, Str name)
{
	if (str_starts(what->text, S("<function PyCodegen")) || str_starts(what->text, S("__import_")))
		return true;
	for (uint32_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (str_eq(plain[i], name))
			return true;
	return false;
}

/* The operator that a call may be: a function, or a method of what is neither `self` nor an attribute. */
static const Fact *fact_of(const Scan *c, const LTerm *what, const LTerm *receiver, Str name)
{
	Facts *facts = c->r->tables->facts;
	const Fact *fact = facts_find(facts, CALLEE_FUNCTION, name, (VersionSpan){0});
	bool method = receiver && receiver->kind != LT_GLOBAL && receiver->kind != LT_ATTR &&
	              !str_eq(receiver->text, S("local:self"));
	if (fact || !method)
		return fact;
	return facts_find(facts, CALLEE_METHOD, sym_str(c->r->program.names, what->name), (VersionSpan){0});
}

static void scan_event(Scan *c, FrameRef frame, const FrameLinks *l, const LinkEvent *e)
{
	const Program *p = &c->r->program;
	if (e->kind != LINK_CALL || e->callee != CALLEE_ANYTHING)
		return;
	const LTerm *what = lterm_get(&l->terms, e->what);
	const LTerm *receiver = what->kind == LT_ATTR ? lterm_get(&l->terms, what->of) : NULL;
	Str name = callee_name(c, what), where = sym_str(p->names, p->frames.v[frame - 1].name);
	Span span = ins_span(l->code, &l->code->ins[e->ins]);
	const Fact *fact = fact_of(c, what, receiver, name);
	bool random = (fact && fact_has(fact, FT_RNG)) || in_random_module(what->text);
	StateKind kind = STATE_RANDOM;
	if (random || word_kind(name, &kind)) {
		add_use(c, random ? STATE_RANDOM : kind, name, where, span, true);
		return;
	}
	FrameRefs shown = {0};
	Sym called = sym_find(p->names, last_part(name));
	ArenaMark mark = arena_mark(c->a);
	if (called.i)
		frames_named(c->r->frames, frame, called, c->a, &shown);
	arena_rewind(c->a, mark);
	bool known = fact || shown.n || is_plain(what, name) || (receiver && lterm_is_container(receiver));
	if (!known)
		add_once(c, name);
}

static void scan_frame(Scan *c, FrameRef frame)
{
	const ProgramFrames *f = c->r->frames;
	const Frame *me = &c->r->program.frames.v[frame - 1];
	const FrameLinks *l = f->links[frame - 1];
	if (!me->modified && f->partner[frame - 1])
		return; /* its modified form runs */
	c->s->frames = true;
	if (!l || l->bounded || l->stopped.n)
		c->s->unread = true;
	uint32_t before = INS_NONE;
	for (uint32_t i = 0; l && i < l->events.n; i++) {
		if (l->events.v[i].ins != before)
			scan_event(c, frame, l, &l->events.v[i]);
		before = l->events.v[i].ins;
	}
}

StateScan state_scan(const Run *r, Arena *a)
{
	StateScan s = {0};
	Scan c = {.r = r, .s = &s, .a = a, .hidden = {.a = a}, .classes = {.a = a}};
	const Program *p = &r->program;
	for (uint32_t i = 0; i < p->modules.n; i++)
		map_put(&c.classes, module_key(p->modules.v[i].file, p->modules.v[i].path), i + 1);
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (report_graph_captured(p, g) || (g->parent.i && report_graph_shown(p, g) && g->stage != STAGE_AOT_BACKWARD))
			scan_graph(&c, g);
	}
	for (uint32_t i = 0; r->frames && i < p->frames.n; i++)
		scan_frame(&c, i + 1);
	return s;
}
