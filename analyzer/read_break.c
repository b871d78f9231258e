/* SPDX-License-Identifier: MIT */
#include "read_break.h"

enum { STACK_MOST = 256 };

/* Whose lines of code follow. */
typedef enum Section { SECTION_NONE, SECTION_USER, SECTION_OTHER } Section;

typedef struct BreakReader {
	Arena *keep;
	BreakRecord *out;
	VEC(BreakPlace) stack;
	Section section;
	Str *next; /* gets the next line that is not empty */
} BreakReader;

static bool take(Str *line, Str prefix)
{
	if (!str_starts(*line, prefix))
		return false;
	*line = str_trim(str_sub(*line, prefix.n, line->n));
	return true;
}

/* F:L */
static void read_place(BreakReader *r, Str s)
{
	uint32_t colon = str_rfind(s, S(":")), line;
	if (colon == s.n || !str_to_u32(str_trim(str_sub(s, colon + 1, s.n)), &line))
		return;
	r->out->place.file = str_copy(r->keep, str_sub(s, 0, colon));
	r->out->place.line = line;
}

/* File "F", line N, in FN */
static bool read_frame(BreakReader *r, Str line)
{
	BreakPlace p = {0};
	if (!take(&line, S("File \"")))
		return false;
	uint32_t quote = str_find_char(line, '"', 0);
	Str rest = str_sub(line, quote, line.n);
	if (quote == line.n || !take(&rest, S("\", line ")))
		return false;
	uint32_t comma = str_find_char(rest, ',', 0);
	if (!str_to_u32(str_sub(rest, 0, comma), &p.line))
		return false;
	p.file = str_copy(r->keep, str_sub(line, 0, quote));
	rest = str_sub(rest, comma, rest.n);
	if (take(&rest, S(", in ")))
		p.function = str_copy(r->keep, rest);
	if (r->stack.n < STACK_MOST)
		VEC_PUSH(r->keep, &r->stack, p);
	return true;
}

static void take_code(BreakReader *r, Str line)
{
	BreakPlace *p = r->stack.n ? &r->stack.v[r->stack.n - 1] : NULL;
	if (p && !p->code.n && line.p[0] != '^' && line.p[0] != '~')
		p->code = str_copy(r->keep, line);
}

static Str plain_reason(BreakReader *r, Str s)
{
	s = str_trim(s);
	take(&s, S("Unsupported: "));
	return str_copy(r->keep, s);
}

/* Graph break: REASON from user code at [File "F", line N, in FN] */
static void read_old_head(BreakReader *r, Str line)
{
	static const Str at = STR_INIT("from user code at");
	uint32_t cut = str_rfind(line, at);
	Str reason = str_trim(str_sub(line, 0, cut));
	if (str_eq(reason, S("skip:"))) /* SkipFrame: its cause is the last line of Dynamo's own traceback */
		r->out->outcome = BREAK_SKIPS_FRAME;
	else
		r->out->reason = plain_reason(r, reason);
	if (cut == line.n)
		return;
	r->section = SECTION_USER;
	Str rest = str_trim(str_sub(line, cut + at.n, line.n));
	take(&rest, S(":"));
	read_frame(r, str_trim(rest));
}

/* The reason since 2.13 begins with what Dynamo did; the cause is in the next lines. */
static void read_reason(BreakReader *r, Str line)
{
	static const struct {
		Str words;
		BreakOutcome outcome;
	} did[] = {
		{STR_INIT("Encountered graph break when attempting to trace"), BREAK_RESUMES},
		{STR_INIT("Encountered graph break that we cannot resume from"), BREAK_SKIPS_REST},
		{STR_INIT("Failed to handle graph break gracefully"), BREAK_SKIPS_FRAME},
	};
	for (uint32_t i = 0; i < sizeof did / sizeof *did; i++)
		if (str_starts(line, did[i].words)) {
			r->out->outcome = did[i].outcome;
			r->next = &r->out->reason;
			return;
		}
	r->out->reason = plain_reason(r, line);
}

static bool read_head(BreakReader *r, Str line)
{
	if (take(&line, S("Graph break:"))) {
		read_old_head(r, line);
		return true;
	}
	static const Str at = STR_INIT("in user code at ");
	uint32_t cut = str_find(line, at, 0);
	if (str_starts(line, S("Graph break")) && cut < line.n) {
		read_place(r, str_sub(line, cut + at.n, line.n));
		return true;
	}
	return false;
}

static bool read_field(BreakReader *r, Str line)
{
	if (take(&line, S("Graph Break Reason:")) || take(&line, S("Reason:")))
		read_reason(r, line);
	else if (take(&line, S("Explanation:")))
		r->out->explanation = r->out->explanation.n ? r->out->explanation : str_copy(r->keep, line);
	else if (str_starts(line, S("*** While handling this graph break")))
		r->next = &r->out->second;
	else if (str_starts(line, S("User code traceback:")) || str_starts(line, S("from user code")))
		r->section = SECTION_USER;
	else if (str_starts(line, S("Traceback (most recent call last)")) || str_starts(line, S("Stack variable source attribution")))
		r->section = SECTION_OTHER;
	else if (take(&line, S("torch._dynamo.exc.Unsupported:")) || take(&line, S("torchdynamo.exc.Unsupported:")))
		r->out->reason = r->out->reason.n ? r->out->reason : plain_reason(r, line);
	else
		return false;
	return true;
}

static void read_line(BreakReader *r, Str line)
{
	line = str_trim(line);
	if (!line.n)
		return;
	if (r->next) {
		*r->next = plain_reason(r, line);
		r->next = NULL;
	} else if (!read_head(r, line) && !read_field(r, line) && r->section == SECTION_USER && !read_frame(r, line)) {
		take_code(r, line);
	}
}

bool read_break(const Text *text, Arena *keep, BreakRecord *out)
{
	BreakReader r = {.keep = keep, .out = out};
	Str rest = text->s, line;
	*out = (BreakRecord){0};
	while (str_cut(&rest, '\n', &line))
		read_line(&r, line);
	out->stack = r.stack.v;
	out->nstack = r.stack.n;
	const BreakPlace *last = r.stack.n ? &r.stack.v[r.stack.n - 1] : NULL;
	if (last && (!out->place.file.n || (out->place.line == last->line && str_eq(out->place.file, last->file))))
		out->place = *last;
	return out->reason.n || out->place.file.n;
}
