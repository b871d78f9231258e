/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "terminal.h"

static const uint64_t FIRST_NS = 500000000, EVERY_NS = 100000000, SECOND_NS = 1000000000;

typedef struct PassWords {
	const char *text, *unit;
	uint32_t share; /* of a long run, in percent */
} PassWords;

static const PassWords passes[] = {
#define PASS(id, word, text, share, unit) [RUN_##id] = {text, unit, share},
#include "passes.def"
#undef PASS
};

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* Seconds that the run goes on, judged by what it has done; 0: too early to tell. */
static uint64_t seconds_left(const Progress *p, uint64_t elapsed)
{
	uint64_t behind = 0, percent;
	for (int i = 0; i < (int)p->r->pass; i++)
		behind += passes[i].share;
	percent = behind * 100 + (p->r->total ? (uint64_t)passes[p->r->pass].share * 100 * p->r->done / p->r->total : 0);
	if (percent < 500 || elapsed < 2 * SECOND_NS)
		return 0;
	return elapsed / SECOND_NS * (10000 - percent) / percent + 1;
}

static void draw(Progress *p, uint64_t at)
{
	const Run *r = p->r;
	const PassWords *w = &passes[r->pass];
	uint32_t columns = terminal_error_width();
	uint64_t left = seconds_left(p, at - p->began);
	char line[256];
	int n = snprintf(line, sizeof line, "graphlint: %s", w->text);
	if (r->total && *w->unit)
		n += snprintf(line + n, sizeof line - (size_t)n, ", %u of %u %s", (unsigned)r->done, (unsigned)r->total, w->unit);
	n += snprintf(line + n, sizeof line - (size_t)n, " (%.1f MB", (double)p->bytes / 1e6);
	if (r->program.graphs.n > 1)
		n += snprintf(line + n, sizeof line - (size_t)n, ", %u graphs", (unsigned)(r->program.graphs.n - 1));
	n += snprintf(line + n, sizeof line - (size_t)n, ")");
	if (left)
		n += snprintf(line + n, sizeof line - (size_t)n, ", about %llu s left", (unsigned long long)left);
	if ((uint32_t)n >= columns)
		n = columns ? (int)columns - 1 : 0;
	fprintf(stderr, "\r\x1b[K%.*s", n, line);
	fflush(stderr);
	p->shown = true;
	p->drawn = at;
}

static void pulse(void *ctx)
{
	Progress *p = ctx;
	if (!p->terminal)
		return;
	uint64_t at = now();
	if (at - p->began >= FIRST_NS && at - p->drawn >= EVERY_NS)
		draw(p, at);
}

static void enter(void *ctx, RunPass pass)
{
	Progress *p = ctx;
	uint64_t at = now();
	p->ns[p->pass] += at - p->entered;
	p->entered = at;
	p->pass = pass;
	pulse(p);
}

void progress_begin(Progress *p, Run *r, bool line)
{
	*p = (Progress){.r = r, .terminal = line && terminal_error(), .began = now()};
	p->entered = p->began;
	r->watch = (RunWatch){enter, p};
	r->budget->pulse = pulse;
	r->budget->pulse_ctx = p;
}

void progress_bytes(Progress *p, uint64_t bytes)
{
	p->bytes += bytes;
	pulse(p);
}

void progress_hide(Progress *p)
{
	if (p->shown)
		fputs("\r\x1b[K", stderr);
	p->shown = false;
}

void progress_clear(Progress *p)
{
	progress_hide(p);
	p->terminal = false;
}

void progress_end(Progress *p)
{
	p->ns[p->pass] += now() - p->entered;
	progress_clear(p);
	p->r->watch = (RunWatch){NULL, NULL};
	p->r->budget->pulse = NULL;
}
