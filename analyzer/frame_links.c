/* SPDX-License-Identifier: MIT */
#include "frame_links.h"

#include "frame_links_priv.h"

const LinkLimits link_limits_default = {.paths = 128, .steps_each = 64, .lines = true};

/* ---- names ---- */

static bool skip_digits(Str s, uint32_t *at)
{
	uint32_t from = *at;
	while (*at < s.n && s.p[*at] >= '0' && s.p[*at] <= '9')
		++*at;
	return *at > from;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* _8-4-4-4-12 hexadecimal digits, joined by _ */
static bool is_uuid(Str s)
{
	static const uint32_t parts[] = {8, 4, 4, 4, 12};
	uint32_t at = 0;
	for (uint32_t k = 0; k < 5; k++) {
		if (at == s.n || s.p[at++] != '_')
			return false;
		for (uint32_t i = 0; i < parts[k]; i++, at++)
			if (at >= s.n || !is_hex(s.p[at]))
				return false;
	}
	return at == s.n;
}

bool name_is_graph(Str s)
{
	static const Str start = STR_INIT("__compiled_fn_");
	uint32_t at = start.n;
	if (!str_starts(s, start) || !skip_digits(s, &at))
		return false;
	return at == s.n || is_uuid(str_sub(s, at, s.n));
}

bool name_is_resume(Str s, uint32_t *offset)
{
	static const Str start = STR_INIT("__resume_at_");
	uint32_t at = start.n;
	if (!str_starts(s, start) || !skip_digits(s, &at) || at == s.n || s.p[at] != '_')
		return false;
	if (!str_to_u32(str_sub(s, start.n, at), offset))
		return false;
	at++;
	return skip_digits(s, &at) && at == s.n;
}

static bool between(Str s, Str start, Str end, Str *inner)
{
	if (s.n <= start.n + end.n || !str_starts(s, start) || !str_ends(s, end))
		return false;
	*inner = str_sub(s, start.n, s.n - end.n);
	return true;
}

bool name_is_resume_code(Str s, Str *inner)
{
	static const Str start = STR_INIT("torch_dynamo_resume_in_"), line = STR_INIT("_at_");
	uint32_t at = str_rfind(s, line), digits = at + line.n;
	if (str_starts(s, start) && at < s.n && at > start.n && skip_digits(s, &digits) &&
	    digits == s.n) {
		*inner = str_sub(s, start.n, at);
		return true;
	}
	return between(s, S("<graph break in "), S(">"), inner) ||
	       between(s, S("<resume in "), S(">"), inner) || between(s, S("resume_in_"), S(""), inner);
}

/* ---- events ---- */

static const Str words[LINK_N] = {
#define LINK_EVENT(id, word) STR_INIT(word),
#include "link_events.def"
#undef LINK_EVENT
};

LinkEvent *link_add(LinkRun *r, LinkKind kind)
{
	Path *p = r->path;
	LinkEvent e = {.kind = (uint8_t)kind,
	               .arm = p->arm,
	               .beyond = p->beyond,
	               .ins = p->m.at,
	               .before = p->last};
	VEC_PUSH(r->scratch, &r->out->events, e);
	p->last = r->out->events.n;
	return &r->out->events.v[p->last - 1];
}

void link_line(LinkRun *r, LinkEvent *e, const char *fmt, ...)
{
	va_list ap;
	if (!r->lines)
		return;
	va_start(ap, fmt);
	Str rest = str_vprintf(r->scratch, fmt, ap);
	va_end(ap);
	e->line = str_printf(r->scratch, STR_FMT " " STR_FMT, STR_ARG(words[e->kind]), STR_ARG(rest));
}

/* ---- paths ---- */

typedef struct Driver {
	LinkRun run;
	const LinkLimits *limits;
	VEC(Path *) waiting; /* sides of branches that are still to be run; the newest first */
	uint64_t steps; /* left for the frame */
} Driver;

static Path *first_path(Driver *d, const Code *code)
{
	Path *p = NEW(d->run.scratch, Path);
	machine_init(&p->m, code, &link_host, &d->run, d->run.scratch);
	lheap_init(&p->heap, d->run.scratch);
	p->seen = NEW_N(d->run.scratch, uint8_t, code->n + 1);
	return p;
}

static Path *copy_path(Driver *d, const Path *from)
{
	Arena *a = d->run.scratch;
	Path *p = NEW(a, Path);
	*p = *from;
	machine_copy(&p->m, &from->m, a);
	lheap_copy(&p->heap, &from->heap, a);
	p->cells.v = NULL;
	p->cells.n = p->cells.cap = 0;
	for (uint32_t i = 0; i < from->cells.n; i++)
		VEC_PUSH(a, &p->cells, from->cells.v[i]);
	p->seen = NEW_N(a, uint8_t, from->m.code->n + 1);
	memcpy(p->seen, from->seen, from->m.code->n);
	return p;
}

static void note_stop(Driver *d, Str why, uint32_t at)
{
	FrameLinks *out = d->run.out;
	if (out->stopped.n)
		return;
	out->stopped = why;
	out->stopped_at = at;
}

static void bounded(Driver *d)
{
	d->run.out->bounded = true;
}

static void add_branch(Driver *d, Path *p)
{
	LinkRun *r = &d->run;
	LinkEvent *e = link_add(r, LINK_BRANCH);
	e->what = p->m.value;
	link_line(r, e, STR_FMT " " STR_FMT, STR_ARG(link_value(r, p->m.value)),
	          STR_ARG(machine_ins(&p->m)->row->name));
}

/* The jump is taken first, then what falls through. A branch that is met again on a path, in a loop, goes the other way. */
static bool branch(Driver *d, Path *p)
{
	uint8_t *seen = &p->seen[p->m.at];
	if (*seen >= 2)
		return false;
	if (*seen == 1) {
		(*seen)++;
		machine_choose(&p->m, p->arm != ARM_JUMPS);
		return true;
	}
	(*seen)++;
	add_branch(d, p);
	if (d->run.out->paths < d->limits->paths) {
		Path *other = copy_path(d, p);
		machine_choose(&other->m, false);
		other->arm = ARM_FALLS;
		VEC_PUSH(d->run.scratch, &d->waiting, other);
		d->run.out->paths++;
	} else {
		bounded(d);
	}
	p->arm = ARM_JUMPS;
	machine_choose(&p->m, true);
	return true;
}

/* A loop over something unknown runs once, then ends. */
static void loop(Path *p)
{
	uint8_t *seen = &p->seen[p->m.at];
	p->beyond = true;
	machine_choose(&p->m, *seen != 0);
	*seen = 1;
}

static void add_return(Driver *d, Path *p)
{
	LinkRun *r = &d->run;
	LinkEvent *e = link_add(r, LINK_RETURN);
	e->what = p->m.value;
	link_line(r, e, STR_FMT, STR_ARG(link_value(r, p->m.value)));
}

/* Passing a jump back means that a loop goes round: one step at a time is enough to see it. */
static MachineStatus step(Driver *d, Path *p)
{
	MachineStatus s = machine_run(&p->m, 1);
	d->steps--;
	if (s == MS_LIMIT && p->m.pc <= p->m.at && machine_ins(&p->m)->row->k == 1 &&
	    machine_ins(&p->m)->row->act == ACT_JUMP)
		p->beyond = true;
	return s;
}

static void run_path(Driver *d, Path *p)
{
	d->run.path = p;
	while (d->steps) {
		switch (step(d, p)) {
		case MS_LIMIT: break;
		case MS_BRANCH:
			if (!branch(d, p))
				return;
			break;
		case MS_LOOP: loop(p); break;
		case MS_YIELD: machine_deliver(&p->m, p->m.value); break;
		case MS_RETURN: add_return(d, p); return;
		case MS_RAISE: return;
		case MS_CALL:
		case MS_STOPPED: note_stop(d, p->m.why, p->m.at); return;
		}
	}
	bounded(d);
}

FrameLinks *frame_links(const Code *code, Names *names, Names *texts, const LinkLimits *limits, Arena *keep, Arena *scratch)
{
	ArenaMark mark = arena_mark(scratch);
	FrameLinks *run = NEW(scratch, FrameLinks);
	*run = (FrameLinks){.a = scratch, .code = code, .paths = 1};
	lterms_init(&run->terms, scratch);
	Driver d = {
		.run = {.out = run, .t = &run->terms, .names = names, .scratch = scratch, .lines = limits->lines},
		.limits = limits,
		.steps = ((uint64_t)code->n + 16) * limits->steps_each};
	VEC_PUSH(scratch, &d.waiting, first_path(&d, code));
	while (d.waiting.n)
		run_path(&d, d.waiting.v[--d.waiting.n]);
	FrameLinks *out = links_keep(run, texts, keep, scratch);
	arena_rewind(scratch, mark);
	return out;
}
