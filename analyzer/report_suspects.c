/* SPDX-License-Identifier: MIT
 * The graphs that change the program's result when they alone are compiled, most likely first. What a finding says of a
 * boundary decides; the contract in force says which boundaries the compiler keeps. */
#include "report.h"

#include <stdlib.h>

#include "json.h"
#include "link.h"
#include "report_common.h"
#include "report_state.h"

/* How likely it is, by the worst boundary. */
typedef enum Likely {
	LIKELY_NOT,
	LIKELY_MAY_IDENTITY,
	LIKELY_IDENTITY,
	LIKELY_MAY_UNKNOWN,
	LIKELY_UNKNOWN,
	LIKELY_MAY_YES,
	LIKELY_YES,
	LIKELY_N
} Likely;

typedef struct Suspect {
	const Graph *g;
	const Finding *worst; /* the boundary that decides; the first of several */
	uint32_t count[LIKELY_N];
	Likely likely;
	uint32_t operators, boundaries;
	bool written_later;   /* a graph that is printed after it writes something that it was given */
	bool view;            /* the worst boundary is a view, not the very object */
} Suspect;

typedef struct Out {
	const Run *r;
	const ReportOptions *o;
	Arena a;
	Places places;
	Map named;        /* name -> graphs of that name */
	Suspect *v;       /* those listed first, in their order */
	uint32_t n, nlisted, nkept;
	StateScan state;
} Out;

/* ---- ranking ---- */

static Likely likely_of(const Finding *f)
{
	bool must = f->certainty == TRI_MUST;
	switch (f->observable) {
	case OBS_YES: return must ? LIKELY_YES : LIKELY_MAY_YES;
	case OBS_UNKNOWN: return must ? LIKELY_UNKNOWN : LIKELY_MAY_UNKNOWN;
	case OBS_IDENTITY: return must ? LIKELY_IDENTITY : LIKELY_MAY_IDENTITY;
	default: return LIKELY_NOT;
	}
}

/* What a compiler has to keep so that the boundary does not matter; 0: no boundary. */
static unsigned keep_of(const Finding *f)
{
	static const struct {
		Str rule;
		Keep keep;
	} rules[] = {
		{STR_INIT("GL101"), KEEP_OUTPUT_INPUT},
		{STR_INIT("GL102"), KEEP_OUTPUT_OUTPUT},
		{STR_INIT("GL103"), KEEP_INPUT_WRITES},
		{STR_INIT("GL104"), KEEP_INPUT_WRITES},
	};
	for (uint32_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (str_eq(rules[i].rule, f->rule))
			return rules[i].keep;
	return 0;
}

static bool is_object(const Finding *f)
{
	return str_ends(f->variant, S("object")) || str_has(f->variant, S("-object-"));
}

static void add_finding(Out *o, Suspect *s, const Finding *f)
{
	unsigned keep = keep_of(f);
	if (!keep)
		return;
	if (contract_keeps(&o->r->cfg->contract, link_captured_by_2x(&o->r->program, s->g)) & keep) {
		o->nkept++;
		return;
	}
	Likely l = likely_of(f);
	s->boundaries++;
	s->count[l]++;
	bool view = !is_object(f);
	if (l > s->likely || (l == s->likely && view && !s->view)) {
		s->likely = l;
		s->worst = f;
		s->view = view;
	}
}

static bool writes(const Out *o, const Graph *g)
{
	const Summary *s = o->r->summaries ? o->r->summaries[g->id.i] : NULL;
	if (!s)
		return true;
	for (uint32_t i = 0; i < g->inputs.n; i++)
		if (s->inputs[i].data != TRI_NO)
			return true;
	for (uint32_t i = 0; i < s->nattrs; i++)
		if (s->attrs[i].w.data != TRI_NO)
			return true;
	return false;
}

/* Processes run apart; a file may hold several. */
static void find_later_writes(Out *o)
{
	Map written = {.a = &o->a};
	for (uint32_t i = o->n; i-- > 0;) {
		Suspect *s = &o->v[i];
		uint64_t process = ((uint64_t)s->g->unit.i << 32 | s->g->process.i) + 1;
		s->written_later = map_get(&written, process);
		if (writes(o, s->g))
			map_put(&written, process, 1);
	}
}

static Likely less_certain(Likely l)
{
	return l == LIKELY_UNKNOWN ? LIKELY_MAY_UNKNOWN : l;
}

/* Where nothing shown decides: a later write makes it possible at all; then a view, which somebody made to be used beside
 * the tensor, before an input that is only handed back. */
static int by_guess(const Suspect *x, const Suspect *y)
{
	if (x->written_later != y->written_later)
		return x->written_later ? -1 : 1;
	if (x->likely != y->likely)
		return x->likely > y->likely ? -1 : 1;
	if (x->view != y->view)
		return x->view ? -1 : 1;
	return x->operators < y->operators ? -1 : x->operators > y->operators;
}

/* Certain ones first, of these the one with more boundaries; then the smaller graph: one that only makes views is what
 * is found last by looking at each graph alone. */
static int by_rank(const void *a, const void *b)
{
	const Suspect *x = a, *y = b;
	Likely kind_x = less_certain(x->likely), kind_y = less_certain(y->likely);
	if (kind_x != kind_y)
		return kind_x > kind_y ? -1 : 1;
	int guess = kind_x == LIKELY_MAY_UNKNOWN ? by_guess(x, y) : 0;
	if (guess)
		return guess;
	for (int l = LIKELY_YES; l > LIKELY_NOT; l--)
		if (x->count[l] != y->count[l])
			return x->count[l] > y->count[l] ? -1 : 1;
	if (x->operators != y->operators)
		return x->operators < y->operators ? -1 : 1;
	return x->g->id.i < y->g->id.i ? -1 : x->g->id.i > y->g->id.i;
}

static void rank(Out *o)
{
	const Run *r = o->r;
	const Program *p = &r->program;
	Map at = {.a = &o->a};
	o->v = NEW_N(&o->a, Suspect, p->graphs.n);
	for (uint32_t i = 1; i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (!report_graph_captured(p, g))
			continue;
		o->v[o->n] = (Suspect){.g = g, .operators = report_operators(g)};
		map_put(&at, i, ++o->n);
		map_put(&o->named, g->name.i + 1, map_get(&o->named, g->name.i + 1) + 1);
	}
	for (uint32_t i = 0; i < r->diags.v.n; i++) {
		const Finding *f = &r->diags.v.v[i];
		uint32_t k = f->graph_id.i ? map_get(&at, f->graph_id.i) : 0;
		if (k)
			add_finding(o, &o->v[k - 1], f);
	}
	find_later_writes(o);
	qsort(o->v, o->n, sizeof *o->v, by_rank);
	while (o->nlisted < o->n && o->v[o->nlisted].likely > LIKELY_NOT)
		o->nlisted++;
}

/* ---- sentences ---- */

static Str var(const Finding *f, Str name)
{
	for (uint32_t i = 0; i < f->vars.n; i++)
		if (str_eq(f->vars.v[i].name, name))
			return f->vars.v[i].value;
	return (Str){0};
}

static void add_named(Buf *out, const char *side, int32_t index, Str name)
{
	buf_printf(out, "%s %d", side, (int)index);
	if (name.n)
		buf_printf(out, " (`" STR_FMT "`)", STR_ARG(name));
}

static void add_place(Out *o, Buf *out, Span at)
{
	buf_printf(out, " (" STR_FMT ":%u)", STR_ARG(place_path(&o->places, at.file)),
	           (unsigned)place_of(&o->places, at.file, at.at).line);
}

/* Whose memory it is. */
static void add_fact(Buf *out, const Finding *f)
{
	const char *is = f->certainty == TRI_MUST ? "is" : "may be";
	Str through = var(f, S("through"));
	bool object = is_object(f);
	if (str_eq(f->rule, S("GL103")) || str_eq(f->rule, S("GL104"))) {
		buf_printf(out, "the graph %s", f->certainty == TRI_MUST ? "writes" : "may write");
		buf_add(out, str_eq(f->rule, S("GL104")) ? S(" sizes, strides or storage of ") : S(" "));
		if (f->input >= 0)
			add_named(out, "input", f->input, var(f, S("input_name")));
		else
			buf_printf(out, "`" STR_FMT "`", STR_ARG(f->attribute));
		if (f->group.n)
			buf_printf(out, " by `" STR_FMT "`", STR_ARG(f->group));
		return;
	}
	add_named(out, "output", f->output, var(f, S("output_name")));
	if (f->other_output >= 0) {
		buf_printf(out, " %s ", f->certainty == TRI_MUST ? "shares memory with" : "may share memory with");
		add_named(out, "output", f->other_output, var(f, S("partner_name")));
	} else if (f->input >= 0) {
		buf_printf(out, " %s %s", is, object ? "" : "the memory of ");
		add_named(out, "input", f->input, var(f, S("input_name")));
		buf_add(out, object ? S(" itself") : S(""));
	} else {
		buf_printf(out, " %s the memory of `" STR_FMT "`", is, STR_ARG(f->attribute));
	}
	if (through.n)
		buf_printf(out, ", through " STR_FMT, STR_ARG(through));
	if (f->certainty == TRI_MAY && f->condition.n)
		buf_printf(out, ", if " STR_FMT, STR_ARG(f->condition));
}

static const Step *last_step(const Finding *f, StepRole role)
{
	for (uint32_t i = f->steps.n; i-- > 0;)
		if (f->steps.v[i].role == role)
			return &f->steps.v[i];
	return NULL;
}

/* Who writes afterwards, who reads; or what would decide. */
static void add_notice(Out *o, Buf *out, const Finding *f)
{
	const Step *w = last_step(f, ROLE_WRITE), *r = last_step(f, ROLE_READ);
	Str why = var(f, S("why"));
	if (f->observable == OBS_UNKNOWN) {
		buf_add(out, S("; nothing shown decides whether that is noticed"));
		if (why.n)
			buf_printf(out, ": " STR_FMT, STR_ARG(why));
		return;
	}
	if (f->observable == OBS_IDENTITY) {
		buf_add(out, S("; all values stay, but which tensors are one object or share memory does not"));
		return;
	}
	if (w && (f->output >= 0)) {
		buf_add(out, S("; it is written afterwards"));
		add_place(o, out, w->span);
	}
	if (r) {
		buf_add(out, w && f->output >= 0 ? S(" and read through the other name") : S("; it is read afterwards"));
		add_place(o, out, r->span);
	}
	if (!w && !r)
		buf_add(out, S("; the program's result hangs on it"));
}

static Str reason(Out *o, const Suspect *s)
{
	Buf b = {.a = &o->a};
	add_fact(&b, s->worst);
	add_notice(o, &b, s->worst);
	if (s->boundaries > 1)
		buf_printf(&b, "; and %u more boundar%s", (unsigned)(s->boundaries - 1), s->boundaries == 2 ? "y" : "ies");
	return buf_str(&b);
}

/* A word of a shell: quoted where it has to be. */
static void add_word(Buf *out, Str s)
{
	bool plain = s.n > 0;
	for (uint32_t i = 0; i < s.n; i++)
		plain &= char_is_ident((unsigned char)s.p[i]) || (s.p[i] && strchr("./-+:,@%=", s.p[i]));
	if (plain) {
		buf_add(out, s);
		return;
	}
	buf_char(out, '\'');
	for (uint32_t i = 0; i < s.n; i++)
		if (s.p[i] == '\'')
			buf_add(out, S("'\\''"));
		else
			buf_char(out, s.p[i]);
	buf_char(out, '\'');
}

static Str check(Out *o, const Suspect *s)
{
	const Finding *f = s->worst;
	Buf b = {.a = &o->a}, target = {.a = &o->a};
	if (f->output < 0 && f->input < 0)
		return S("let this graph run as captured (return gm.forward from the backend) and compare");
	if (map_get(&o->named, s->g->name.i + 1) == 1)
		buf_add(&target, sym_str(o->r->program.names, s->g->name));
	else
		buf_printf(&target, "g%u", (unsigned)s->g->id.i);
	buf_printf(&target, f->output >= 0 ? ":out%d" : ":in%d", (int)(f->output >= 0 ? f->output : f->input));
	buf_add(&b, S("graphlint confirm "));
	add_word(&b, buf_str(&target));
	for (uint32_t i = 1; i < o->r->sources.v.n && i <= 4; i++) {
		buf_char(&b, ' ');
		add_word(&b, o->r->sources.v.v[i].path);
	}
	return buf_str(&b);
}

/* ---- what else was looked at ---- */

static void add_uses(Out *o, Buf *out, StateKind k)
{
	enum { SHOWN = 3 };
	uint32_t n = o->state.uses[k].n;
	for (uint32_t i = 0; i < n && i < SHOWN; i++) {
		const StateUse *u = &o->state.uses[k].v[i];
		buf_printf(out, "%s`" STR_FMT "` in `" STR_FMT "`", i ? ", " : "", STR_ARG(u->what), STR_ARG(u->where));
		add_place(o, out, u->span);
	}
	if (n > SHOWN)
		buf_printf(out, " and %u more", (unsigned)(n - SHOWN));
}

static void add_names(Buf *out, const Str *v, uint32_t n)
{
	enum { SHOWN = 3 };
	for (uint32_t i = 0; i < n && i < SHOWN; i++)
		buf_printf(out, "%s`" STR_FMT "`", i ? ", " : "", STR_ARG(v[i]));
	if (n > SHOWN)
		buf_printf(out, " and %u more", (unsigned)(n - SHOWN));
}

static bool all_shown(const StateScan *s)
{
	return s->frames && !s->hidden.n && !s->modules.n && !s->unread;
}

/* "nothing random runs ..." only where all of it is shown. */
static Str state_sentence(Out *o, StateKind k)
{
	static const char *const none[STATE_N] = {
		[STATE_RANDOM] = "nothing random runs in or between these graphs",
		[STATE_GRAD] = "nothing changes the grad mode in or between these graphs",
		[STATE_AUTOCAST] = "nothing enters or leaves autocast in or between these graphs",
	};
	static const char *const none_shown[STATE_N] = {
		[STATE_RANDOM] = "nothing random is shown",
		[STATE_GRAD] = "nothing shown changes the grad mode",
		[STATE_AUTOCAST] = "nothing shown enters or leaves autocast",
	};
	const StateScan *s = &o->state;
	Buf b = {.a = &o->a};
	if (s->uses[k].n)
		add_uses(o, &b, k);
	else
		buf_add(&b, str_from_c((all_shown(s) ? none : none_shown)[k]));
	return buf_str(&b);
}

/* What could still touch it; empty when all is shown. */
static Str not_shown(Out *o)
{
	const StateScan *s = &o->state;
	Buf b = {.a = &o->a};
	if (!s->frames)
		buf_add(&b, S("what runs between the graphs: no bytecode in the dump"));
	if (s->hidden.n) {
		buf_add(&b, b.n ? S("; the code of ") : S("the code of "));
		add_names(&b, s->hidden.v, s->hidden.n);
	}
	if (s->modules.n) {
		buf_add(&b, b.n ? S("; the class of ") : S("the class of "));
		add_names(&b, s->modules.v, s->modules.n);
	}
	if (s->unread)
		buf_add(&b, b.n ? S("; what could not be followed") : S("what could not be followed"));
	return buf_str(&b);
}

/* ---- text ---- */

static void say(Out *o, Buf *out, Str text)
{
	report_text(out, text, o->o->unicode);
}

static void begin(Out *o, const Run *r, const ReportOptions *options)
{
	*o = (Out){.r = r, .o = options, .a = arena_new(NULL)};
	o->places = places_new(&r->sources, &o->a);
	o->named.a = &o->a;
	rank(o);
	o->state = state_scan(r, &o->a);
}

static void add_assumption(Out *o, Buf *out)
{
	static const char *const names[] = {"writes into inputs", "outputs that view inputs", "outputs that share memory",
	                                    "which objects are one", "strides"};
	unsigned keeps = contract_keeps(&o->r->cfg->contract, true);
	const char *before = "";
	buf_add(out, S("for a compiler of single graphs that keeps "));
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (keeps >> i & 1) {
			buf_printf(out, "%s%s", before, names[i]);
			before = ", ";
		}
	buf_add(out, *before ? S(" (--keep changes it)\n") : S("nothing (--keep changes it)\n"));
}

static void suspect_text(Out *o, Buf *out, uint32_t i)
{
	const Suspect *s = &o->v[i];
	static const char *const words[LIKELY_N] = {
		[LIKELY_YES] = "changes the result", [LIKELY_MAY_YES] = "changes the result, if it shares memory",
		[LIKELY_UNKNOWN] = "may change the result", [LIKELY_MAY_UNKNOWN] = "may change the result, if it shares memory",
		[LIKELY_IDENTITY] = "changes only which objects are one", [LIKELY_MAY_IDENTITY] = "changes only which objects are one, if at all",
	};
	buf_printf(out, "%u. ", (unsigned)(i + 1));
	say(o, out, sym_str(o->r->program.names, s->g->name));
	buf_printf(out, ": %s\n", words[s->likely]);
	buf_add(out, S("   "));
	say(o, out, place_path(&o->places, s->g->file));
	buf_printf(out, ":%u, %u operator%s\n   ", (unsigned)place_of(&o->places, s->g->file, s->g->at).line,
	           (unsigned)s->operators, report_plural(s->operators));
	say(o, out, reason(o, s));
	buf_add(out, S("\n   check: "));
	say(o, out, check(o, s));
	buf_add(out, S("\n"));
}

static void summary(Out *o, Buf *out)
{
	uint32_t left = o->n - o->nlisted;
	if (!o->n)
		return;
	buf_printf(out, "%s%u of %u graph%s not listed: no output shares memory and no input is written in a way that this compiler "
	           "would lose and the program notice\n", o->nlisted ? "\n" : "", (unsigned)left, (unsigned)o->n, report_plural(o->n));
	buf_add(out, S("\nAlso looked at:\n"));
	for (StateKind k = STATE_RANDOM; k < STATE_N; k = (StateKind)(k + 1)) {
		buf_printf(out, "  " STR_FMT ": ", STR_ARG(state_kind_name(k)));
		say(o, out, state_sentence(o, k));
		buf_char(out, '\n');
	}
	Str hidden = not_shown(o);
	if (!hidden.n)
		return;
	buf_add(out, S("  not shown, so it may touch any of them: "));
	say(o, out, hidden);
	buf_char(out, '\n');
}

static void founding_words(Out *o, Buf *out)
{
	if (!o->nlisted || o->v[0].likely < LIKELY_MAY_YES)
		return;
	buf_add(out, S("\nLeft out of compilation, such a graph hands on the caller's own memory, as eager code does, and the result is right.\n"
	               "A check of each graph alone finds nothing: alone, a copy has the same contents.\n"));
}

void report_suspects_text(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o;
	begin(&o, r, options);
	if (!options->quiet)
		add_assumption(&o, out);
	for (uint32_t i = 0; i < o.nlisted; i++) {
		buf_char(out, '\n');
		suspect_text(&o, out, i);
	}
	if (!options->quiet) {
		founding_words(&o, out);
		summary(&o, out);
	}
	arena_free(&o.a);
}

/* ---- JSON ---- */

static void member_str(Json *j, Str key, Str value)
{
	json_key(j, key);
	json_str(j, value);
}

static void member_int(Json *j, Str key, int64_t value)
{
	json_key(j, key);
	json_int(j, value);
}

static void suspect_json(Out *o, Json *j, uint32_t i)
{
	const Suspect *s = &o->v[i];
	json_object(j);
	j->pretty = false;
	member_int(j, S("rank"), i + 1);
	member_str(j, S("graph"), sym_str(o->r->program.names, s->g->name));
	member_str(j, S("reason"), reason(o, s));
	member_str(j, S("check"), check(o, s));
	member_str(j, S("id"), str_printf(&o->a, "g%u", (unsigned)s->g->id.i));
	member_str(j, S("file"), place_path(&o->places, s->g->file));
	member_int(j, S("line"), place_of(&o->places, s->g->file, s->g->at).line);
	member_int(j, S("operators"), s->operators);
	member_int(j, S("boundaries"), s->boundaries);
	member_str(j, S("certainty"), s->worst->certainty == TRI_MUST ? S("must") : S("may"));
	member_str(j, S("observable"), observable_name(s->worst->observable));
	json_end(j);
	j->pretty = true;
}

void report_suspects_json(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o;
	begin(&o, r, options);
	Json j = json_new(out, true);
	json_object(&j);
	json_key(&j, S("suspects"));
	json_array(&j);
	for (uint32_t i = 0; i < o.nlisted; i++)
		suspect_json(&o, &j, i);
	json_end(&j);
	member_int(&j, S("not_listed"), o.n - o.nlisted);
	json_key(&j, S("looked_at"));
	json_array(&j);
	for (StateKind k = STATE_RANDOM; k < STATE_N; k = (StateKind)(k + 1)) {
		json_object(&j);
		j.pretty = false;
		member_str(&j, S("what"), state_kind_name(k));
		json_key(&j, S("ruled_out"));
		json_bool(&j, !o.state.uses[k].n && all_shown(&o.state));
		member_str(&j, S("text"), state_sentence(&o, k));
		json_end(&j);
		j.pretty = true;
	}
	json_end(&j);
	json_key(&j, S("not_shown"));
	json_str_or_null(&j, not_shown(&o));
	json_end(&j);
	buf_char(out, '\n');
	arena_free(&o.a);
}
