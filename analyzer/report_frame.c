/* SPDX-License-Identifier: MIT */
#include "report_frame.h"

#include "report_common.h"
#include "utf8.h"

enum {
	TAB_COLUMNS = 8,   /* a tab takes at most as many */
	COLUMNS_LEAST = 16,
	ZERO_MOST = 4      /* code points for each column: marks that combine take none */
};

static Str ellipsis(bool unicode)
{
	return unicode ? S("\xe2\x80\xa6") : S("...");
}

static uint32_t ellipsis_columns(bool unicode)
{
	return unicode ? 1 : 3;
}

static uint32_t columns_at(Str line, uint32_t at, bool unicode, uint32_t *n)
{
	if (line.p[at] == '\t') {
		*n = 1;
		return TAB_COLUMNS;
	}
	return report_put(NULL, line, at, n, unicode);
}

/* Moves *at to the right while `room` columns last; gives what is left of them. */
static uint32_t go_right(const Excerpt *x, uint32_t *at, uint32_t room)
{
	uint32_t n, points = room * ZERO_MOST;
	while (*at < x->line.n && points--) {
		uint32_t c = columns_at(x->line, *at, x->unicode, &n);
		if (c > room)
			break;
		room -= c;
		*at += n;
	}
	return room;
}

static uint32_t go_left(const Excerpt *x, uint32_t *at, uint32_t room)
{
	uint32_t n, points = room * ZERO_MOST;
	while (*at && points--) {
		uint32_t before = utf8_before(x->line, *at);
		uint32_t c = columns_at(x->line, before, x->unicode, &n);
		if (c > room)
			break;
		room -= c;
		*at = before;
	}
	return room;
}

Excerpt excerpt_of(Str line, uint32_t at, uint32_t end, uint32_t columns, bool unicode)
{
	Excerpt x = {.line = line, .unicode = unicode};
	if (columns < COLUMNS_LEAST)
		columns = COLUMNS_LEAST;
	x.at = at < line.n ? at : line.n;
	x.end = end < line.n ? end : line.n;
	if (x.end < x.at)
		x.end = x.at;
	uint32_t to = 0;
	go_right(&x, &to, columns);
	if (to == line.n) {
		x.to = to;
		return x;
	}
	/* A quarter for what stands before the mark; what the right does not need goes back there. */
	uint32_t room = columns - 2 * ellipsis_columns(unicode), left = room / 4;
	x.from = x.to = x.at;
	room -= left - go_left(&x, &x.from, left);
	room = go_right(&x, &x.to, room);
	if (x.to == line.n)
		go_left(&x, &x.from, room);
	return x;
}

void excerpt_add_text(const Excerpt *x, Buf *out)
{
	uint32_t n;
	if (x->from)
		buf_add(out, ellipsis(x->unicode));
	for (uint32_t at = x->from; at < x->to; at += n) {
		if (x->line.p[at] == '\t') {
			n = 1;
			buf_char(out, '\t');
		} else {
			report_put(out, x->line, at, &n, x->unicode);
		}
	}
	if (x->to < x->line.n)
		buf_add(out, ellipsis(x->unicode));
}

static void add_times(Buf *out, char c, uint32_t times)
{
	while (times--)
		buf_char(out, c);
}

void excerpt_add_carets(const Excerpt *x, Buf *out)
{
	uint32_t n, carets = 0;
	if (x->from)
		add_times(out, ' ', ellipsis_columns(x->unicode));
	for (uint32_t at = x->from; at < x->to && at < x->end; at += n) {
		uint32_t columns = columns_at(x->line, at, x->unicode, &n);
		bool marked = at >= x->at;
		if (x->line.p[at] == '\t') {
			buf_char(out, '\t'); /* stands as wide as the one above it */
		} else {
			add_times(out, marked ? '^' : ' ', columns);
			carets += marked ? columns : 0;
		}
	}
	if (!carets)
		buf_char(out, '^');
}
