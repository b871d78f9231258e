/* SPDX-License-Identifier: MIT */
#include "bytecode.h"

/* ---- the table ---- */

#define NAME_(name) #name
#define ROW_(nm, lo, hi, act, k, text, pop, pop_a, push, push_a, flags, cache)                     \
	{STR_INIT(NAME_(nm)), OP_##nm, ACT_##act, lo, hi, flags, k, pop, pop_a, push, push_a, cache,   \
	 STR_INIT(text)},
static const OpRow table[] = {
#define OPCODE ROW_
#define OPCODE_SPAN ROW_
#include "opcodes.def"
#undef OPCODE
#undef OPCODE_SPAN
};
#undef ROW_
#undef NAME_
enum { ROWS = sizeof table / sizeof *table };

static const OpRow unknown_row = {.op = OP_UNKNOWN, .act = ACT_UNKNOWN, .lo = 308, .hi = 314};
static const OpRow gap_row = {.op = OP_GAP, .act = ACT_UNKNOWN, .lo = 308, .hi = 314};

const OpRow *op_table(uint32_t *n)
{
	*n = ROWS;
	return table;
}

/* The table is in the order of str_cmp. */
const OpRow *op_rows(Str name, uint32_t *n)
{
	uint32_t lo = 0, hi = ROWS;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (str_cmp(table[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (hi = lo; hi < ROWS && str_eq(table[hi].name, name);)
		hi++;
	*n = hi - lo;
	return *n ? &table[lo] : NULL;
}

/* ---- effects ---- */

static uint32_t low_bits(uint32_t arg)
{
	return (arg & 1) + (arg >> 1 & 1) + (arg >> 2 & 1) + (arg >> 3 & 1);
}

Effect ins_effect(const Ins *i)
{
	const OpRow *r = i->row;
	Effect e = {.pop = r->pop + (uint64_t)r->pop_a * i->arg,
	            .push = r->push + (uint64_t)r->push_a * i->arg};
	if (r->flags & OF_BITS)
		e.pop += low_bits(i->arg);
	if (r->flags & OF_BIT0)
		e.pop += i->arg & 1;
	if (r->flags & OF_SPEC)
		e.pop += i->arg >> 2 & 1;
	if (r->flags & OF_EX)
		e.push += (i->arg & 255) + (i->arg >> 8);
	if (r->flags & OF_NULL)
		e.push += i->null != NULL_NONE;
	if (r->flags & OF_DEEP)
		e.deep = i->arg;
	return e;
}

/* ---- names ---- */

/* Takes "NULL + x", "x + NULL|self" apart. */
static Str name_without_null(Str s, uint8_t *shown)
{
	static const struct {
		Str text;
		NullShown shown;
	} forms[] = {{STR_INIT("NULL|self"), NULL_SELF}, {STR_INIT("NULL"), NULL_PLAIN}};
	static const Str plus = STR_INIT(" + ");
	for (uint32_t k = 0; k < 2; k++) {
		Str f = forms[k].text;
		if (s.n <= f.n + plus.n)
			continue;
		if (str_starts(s, f) && str_starts(str_sub(s, f.n, s.n), plus)) {
			*shown = (uint8_t)forms[k].shown;
			return str_sub(s, f.n + plus.n, s.n);
		}
		if (str_ends(s, f) && str_ends(str_sub(s, 0, s.n - f.n), plus)) {
			*shown = (uint8_t)forms[k].shown;
			return str_sub(s, 0, s.n - f.n - plus.n);
		}
	}
	return s;
}

static bool names_something(Act act)
{
	switch (act) {
	case ACT_GLOBAL:
	case ACT_STORE_GLOBAL:
	case ACT_DELETE_GLOBAL:
	case ACT_ATTR:
	case ACT_STORE_ATTR:
	case ACT_DELETE_ATTR:
	case ACT_SUPER_ATTR:
	case ACT_SPECIAL:
	case ACT_IMPORT:
	case ACT_IMPORT_FROM: return true;
	default: return false;
	}
}

/* ---- versions: a set of 3.8 to 3.14 ---- */

enum { V_FIRST = 308, V_LAST = 314, V_ALL = (1 << (V_LAST - V_FIRST + 1)) - 1 };
#define V_SPAN(lo, hi) ((uint32_t)(((1 << ((hi) - (lo) + 1)) - 1) << ((lo)-V_FIRST)))

/* Jumps whose argument is a place, not a distance, up to 3.9: only those print no "(to N)" there. */
static bool is_absolute_jump(Op op)
{
	return op == OP_JUMP_ABSOLUTE || op == OP_POP_JUMP_IF_TRUE || op == OP_POP_JUMP_IF_FALSE ||
	       op == OP_JUMP_IF_TRUE_OR_POP || op == OP_JUMP_IF_FALSE_OR_POP ||
	       op == OP_JUMP_IF_NOT_EXC_MATCH;
}

/* Comparisons that were instructions of their own from 3.9 on. */
static bool is_old_comparison(Str s)
{
	return str_eq(s, S("in")) || str_eq(s, S("not in")) || str_eq(s, S("is")) ||
	       str_eq(s, S("is not")) || str_eq(s, S("exception match"));
}

/* Versions that can have printed this line. */
static uint32_t versions_of(const RawIns *r, const OpRow *rows, uint32_t n)
{
	uint32_t set = 0;
	bool flagged = false;
	for (uint32_t k = 0; k < n; k++)
		flagged |= rows[k].flags & OF_NO_ARG;
	for (uint32_t k = 0; k < n; k++)
		if (!flagged || (bool)(rows[k].flags & OF_NO_ARG) == !r->has_arg)
			set |= V_SPAN(rows[k].lo, rows[k].hi);
	Op op = (Op)rows->op;
	if (is_absolute_jump(op))
		set &= r->to ? V_SPAN(310, 314) : V_SPAN(308, 309);
	if (op == OP_LOAD_ATTR && str_has(r->repr, S("NULL|self")))
		set &= V_SPAN(312, 314);
	if (op == OP_BINARY_OP && str_eq(r->repr, S("[]")))
		set &= V_SPAN(314, 314);
	if (op == OP_COMPARE_OP && is_old_comparison(r->repr))
		set &= V_SPAN(308, 308);
	return set;
}

static void narrow(uint32_t *set, uint32_t by)
{
	if (*set & by)
		*set &= by;
}

static uint32_t versions_of_all(const RawIns *ins, uint32_t n, bool labels)
{
	uint32_t set = labels ? V_SPAN(313, 314) : V_SPAN(308, 312), count;
	bool calls = false, precalls = false;
	for (uint32_t i = 0; i < n; i++) {
		const OpRow *rows = op_rows(ins[i].op, &count);
		if (!rows)
			continue;
		calls |= rows->op == OP_CALL;
		precalls |= rows->op == OP_PRECALL;
		narrow(&set, versions_of(&ins[i], rows, count));
	}
	if (calls && !precalls) /* in 3.11 every CALL has a PRECALL */
		narrow(&set, V_SPAN(312, 314));
	return set;
}

static void set_versions(Code *c, uint32_t set)
{
	for (uint32_t v = V_FIRST; v <= V_LAST; v++)
		if (set & V_SPAN(v, v)) {
			c->hi = v;
			if (!c->lo)
				c->lo = v;
		}
	c->python = c->lo;
}

static const OpRow *row_for(const OpRow *rows, uint32_t n, PyVersion v)
{
	for (uint32_t k = 0; k < n; k++)
		if (rows[k].lo <= v && v <= rows[k].hi)
			return &rows[k];
	return rows->lo > v ? rows : &rows[n - 1];
}

void code_set_python(Code *c, PyVersion lo, PyVersion hi)
{
	PyVersion v = lo > c->lo ? lo : c->lo;
	if (v > c->hi || v > hi || v == c->python)
		return;
	Ins *ins = NEW_N(c->a, Ins, c->n); /* the others keep theirs */
	if (c->n)
		memcpy(ins, c->ins, c->n * sizeof *ins);
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t n;
		const OpRow *rows = op_rows(ins[i].row->name, &n);
		if (rows)
			ins[i].row = row_for(rows, n, v);
	}
	c->python = v;
	c->ins = ins;
}

/* ---- variables ---- */

typedef struct VarTable {
	Code *c;
	Ins *ins;
	Names *names, *texts;
	Arena *scratch;
	VEC(CodeVar) v;
	Map by_index; /* index * 2 + deref + 1 -> position + 1 */
} VarTable;

static uint32_t var_at(VarTable *t, uint32_t index, bool deref, Str text)
{
	uint64_t key = (uint64_t)index * 2 + deref + 1;
	uint32_t at = map_get(&t->by_index, key);
	if (!at) {
		Str name = text.n ? text : str_printf(t->scratch, "#%u", index);
		VEC_PUSH(t->scratch, &t->v,
		         ((CodeVar){.name = sym_intern(t->names, name), .index = index, .deref = deref}));
		at = t->v.n;
		map_put(&t->by_index, key, at);
	}
	return at - 1;
}

static void two_names(Str s, Str *a, Str *b)
{
	uint32_t comma = str_find(s, S(", "), 0);
	*a = str_sub(s, 0, comma);
	*b = str_sub(s, comma < s.n ? comma + 2 : s.n, s.n);
}

static void bind_vars(VarTable *t, Ins *i)
{
	uint16_t flags = i->row->flags;
	if (flags & OF_VAR2) {
		Str a, b;
		two_names(ins_repr(t->c, i), &a, &b);
		i->var = var_at(t, i->arg >> 4, false, a);
		i->var2 = var_at(t, i->arg & 15, false, b);
	} else if (flags & OF_VAR) {
		i->var = var_at(t, i->arg, false, ins_repr(t->c, i));
	} else if (flags & OF_DEREF) {
		i->var = var_at(t, i->arg, t->c->python <= 310, ins_repr(t->c, i));
		t->v.v[i->var].cell = true;
		t->v.v[i->var].made |= i->row->act == ACT_MAKE_CELL;
	}
}

/* Free variables are the last ones. Without COPY_FREE_VARS it cannot be told. */
static void mark_free(Code *c)
{
	uint32_t end = 0;
	for (uint32_t i = 0; i < c->nvars; i++)
		if (c->vars[i].index >= end)
			end = c->vars[i].index + 1;
	for (uint32_t i = 0; i < c->nvars; i++)
		c->vars[i].free = c->python >= 311 && c->vars[i].cell && !c->vars[i].made &&
		                  c->vars[i].index + c->nfree >= end;
}

uint32_t code_var(const Code *c, Sym name)
{
	uint32_t found = INS_NONE;
	for (uint32_t i = 0; i < c->nvars; i++)
		if (sym_eq(c->vars[i].name, name) && (found == INS_NONE || c->vars[i].cell))
			found = i;
	return found;
}

uint32_t code_local(const Code *c, uint32_t index)
{
	for (uint32_t i = 0; i < c->nvars; i++)
		if (c->vars[i].index == index && !c->vars[i].deref)
			return i;
	return INS_NONE;
}

/* ---- instructions ---- */

static void set_name(const VarTable *t, Ins *i)
{
	Str repr = ins_repr(t->c, i), s = i->row->flags & OF_NULL ? name_without_null(repr, &i->null) : repr;
	if (i->row->act == ACT_ATTR && i->row->k) /* LOAD_METHOD always makes two values */
		i->null = NULL_NONE;
	if (names_something((Act)i->row->act))
		i->name = sym_intern(t->names, s.n ? s : str_printf(t->scratch, "#%u", i->arg));
}

static void add_instruction(VarTable *t, const RawIns *r)
{
	Code *c = t->c;
	Ins *i = &t->ins[c->n];
	c->places[c->n++] = (InsPlace){r->at, r->end};
	uint32_t n;
	const OpRow *rows = op_rows(r->op, &n);
	*i = (Ins){.row = rows     ? row_for(rows, n, c->python)
	                  : r->gap ? &gap_row
	                           : &unknown_row,
	           .arg = r->arg,
	           .has_arg = r->has_arg,
	           .repr = sym_intern(t->texts, r->repr),
	           .var = INS_NONE,
	           .var2 = INS_NONE,
	           .target = INS_NONE,
	           .offset = r->offset,
	           .line = r->line};
	if (!rows) {
		i->name = sym_intern(t->names, r->op);
		c->incomplete = true;
		return;
	}
	set_name(t, i);
	bind_vars(t, i);
	if (i->row->op == OP_COPY_FREE_VARS)
		c->nfree = i->arg;
}

static void count_offsets(Ins *ins, uint32_t n)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < n; i++) {
		ins[i].offset = at;
		at += 2 + 2u * ins[i].row->cache;
	}
}

/* ---- jumps ---- */

typedef struct Places {
	Map map; /* label, or offset + 1 -> instruction + 1 */
} Places;

static void map_places(Places *p, const Code *c, const RawIns *ins)
{
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t key = c->labels ? ins[i].label : (uint64_t)ins[i].offset + 1;
		if (key && !ins[i].gap && !map_get(&p->map, key))
			map_put(&p->map, key, i + 1);
	}
}

static void resolve_jumps(Places *p, Code *c, Ins *out, const RawIns *ins, uint32_t *fault)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (!(c->ins[i].row->flags & OF_JUMP))
			continue;
		uint64_t key = ins[i].to;
		if (!key && !c->labels && c->python <= 309)
			key = (uint64_t)ins[i].arg + 1;
		uint32_t to = key ? map_get(&p->map, key) : 0;
		if (to) {
			out[i].target = to - 1;
		} else {
			c->incomplete = true;
			if (*fault == INS_NONE)
				*fault = i;
		}
	}
}

/* The first instruction at or behind an offset; `n` when there is none. Offsets ascend in a sound listing. */
static uint32_t at_or_behind(const Code *c, uint64_t offset)
{
	uint32_t lo = 0, hi = c->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (c->ins[mid].offset < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Ends are inclusive, and may lie in the caches of the last instruction, where offsets are printed; exclusive labels else. */
static bool resolve_guard(Places *p, const Code *c, const RawGuard *r, Guard *g)
{
	*g = (Guard){.depth = r->depth, .lasti = r->lasti};
	uint32_t target = map_get(&p->map, c->labels ? r->target : (uint64_t)r->target + 1);
	if (c->labels) {
		uint32_t from = map_get(&p->map, r->from), to = map_get(&p->map, r->to);
		g->from = from ? from - 1 : 0;
		g->end = to ? to - 1 : c->n;
		if (!from)
			return false;
	} else {
		g->from = at_or_behind(c, r->from);
		g->end = at_or_behind(c, (uint64_t)r->to + 1);
	}
	g->target = target ? target - 1 : 0;
	return target != 0 && g->from <= g->end;
}

static void resolve_guards(Places *p, Code *c, const RawGuard *guards, uint32_t n)
{
	c->guards = NEW_N(c->a, Guard, n);
	for (uint32_t i = 0; i < n; i++)
		if (resolve_guard(p, c, &guards[i], &c->guards[c->nguards]))
			c->nguards++;
		else
			c->incomplete = true;
}

static const Ins *keep_ins(const CodeArenas *to, const Ins *ins, uint32_t n)
{
	const Ins *same = pool_find(to->arrays, ins, n * sizeof *ins);
	if (same || !n)
		return same;
	Ins *kept = NEW_N(to->keep, Ins, n);
	memcpy(kept, ins, n * sizeof *ins);
	pool_add(to->arrays, kept, n * sizeof *ins);
	return kept;
}

Code *code_build(const CodeArenas *to, const RawIns *raw, uint32_t n, const RawGuard *guards, uint32_t nguards, bool labels,
                 uint32_t *fault)
{
	Code *c = NEW(to->keep, Code);
	Ins *ins = NEW_N(to->scratch, Ins, n);
	*c = (Code){.a = to->keep,
	            .texts = to->texts,
	            .labels = labels,
	            .ins = ins,
	            .places = NEW_N(to->keep, InsPlace, n),
	            .enter = sym_intern(to->names, S("__enter__")),
	            .exit = sym_intern(to->names, S("__exit__"))};
	*fault = INS_NONE;
	set_versions(c, versions_of_all(raw, n, labels));
	VarTable vars = {.c = c, .ins = ins, .names = to->names, .texts = to->texts, .scratch = to->scratch, .by_index = {.a = to->scratch}};
	for (uint32_t i = 0; i < n; i++)
		add_instruction(&vars, &raw[i]);
	VEC_TAKE(to->keep, to->scratch, &vars.v);
	c->vars = vars.v.v;
	c->nvars = vars.v.n;
	mark_free(c);
	if (labels)
		count_offsets(ins, n);
	Places places = {.map = {.a = to->scratch}};
	map_places(&places, c, raw);
	resolve_jumps(&places, c, ins, raw, fault);
	resolve_guards(&places, c, guards, nguards);
	c->truncated = !n || !(ins[n - 1].row->flags & OF_END);
	c->ins = keep_ins(to, ins, n);
	return c;
}

/* ---- code objects ---- */

bool code_object_parse(Str s, Str *name, Str *file, uint32_t *line)
{
	static const Str start = STR_INIT("<code object "), at_text = STR_INIT(" at 0x"),
					 file_text = STR_INIT(", file \""), line_text = STR_INIT("\", line ");
	*name = *file = (Str){0};
	*line = 0;
	if (!str_starts(s, start))
		return false;
	uint32_t at = str_find(s, at_text, start.n), f = str_find(s, file_text, at),
			 l = str_find(s, line_text, f);
	if (at >= s.n || f >= s.n || l >= s.n)
		return false;
	*name = str_sub(s, start.n, at);
	*file = str_sub(s, f + file_text.n, l);
	uint32_t from = l + line_text.n, end = from;
	while (end < s.n && s.p[end] >= '0' && s.p[end] <= '9')
		end++;
	return str_to_u32(str_sub(s, from, end), line);
}

/* ---- dump ---- */

void code_dump(const Code *c, const Names *names, Buf *out)
{
	buf_printf(out, "  python %u..%u%s%s\n", c->lo, c->hi, c->incomplete ? " incomplete" : "",
	           c->truncated ? " truncated" : "");
	for (uint32_t i = 0; i < c->n; i++) {
		const Ins *s = &c->ins[i];
		Str op = s->row->name.n         ? s->row->name
		         : s->row->op == OP_GAP ? S("...")
		                                : sym_str(names, s->name);
		buf_printf(out, "  %u %u " STR_FMT, i, s->offset, STR_ARG(op));
		if (s->has_arg)
			buf_printf(out, " %u", s->arg);
		if (s->repr.i)
			buf_printf(out, " (" STR_FMT ")", STR_ARG(ins_repr(c, s)));
		if (s->target != INS_NONE)
			buf_printf(out, " -> %u", s->target);
		buf_char(out, '\n');
	}
	for (uint32_t i = 0; i < c->nguards; i++)
		buf_printf(out, "  guard %u..%u -> %u [%u]%s\n", c->guards[i].from, c->guards[i].end,
		           c->guards[i].target, c->guards[i].depth, c->guards[i].lasti ? " lasti" : "");
}
