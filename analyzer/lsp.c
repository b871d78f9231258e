/* SPDX-License-Identifier: MIT */
#include "lsp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "lsp_priv.h"

enum { CHUNK = 1 << 16, LOOK_MS = 10, TELL_MS = 250 };

typedef struct Pipes {
	LspServer l;
	bool eof, broken;
	int64_t looked, told; /* milliseconds */
} Pipes;

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Writes what the client takes without waiting. */
static void flush(Pipes *p)
{
	Bytes *out = &p->l.out;
	uint32_t done = 0;
	while (done < out->n) {
		ssize_t n = write(STDOUT_FILENO, out->p + done, out->n - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
			p->broken = true;
		if (n <= 0)
			break;
		done += (uint32_t)n;
	}
	if (p->broken || done == out->n) {
		bytes_free(out);
	} else if (done) {
		memmove(out->p, out->p + done, out->n - done);
		out->n -= done;
	}
}

/* Waits up to `ms` (-1: for ever) until something can be read or written, and does it. */
static bool move_bytes(Pipes *p, int ms)
{
	struct pollfd fds[2] = {{.fd = p->eof ? -1 : STDIN_FILENO, .events = POLLIN},
	                        {.fd = p->l.out.n ? STDOUT_FILENO : -1, .events = POLLOUT}};
	if (poll(fds, 2, ms) <= 0)
		return false;
	if (fds[1].revents)
		flush(p);
	if (!fds[0].revents)
		return false;
	char *at = rpc_space(&p->l.in, CHUNK);
	ssize_t n = at ? read(STDIN_FILENO, at, CHUNK) : 0;
	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	p->eof = n == 0;
	rpc_added(&p->l.in, (uint32_t)n);
	return n > 0;
}

/* Everything that is there now. */
static void take(Pipes *p)
{
	while (!p->eof && move_bytes(p, 0))
		;
	lsp_handle(&p->l);
	if (p->l.out.n)
		flush(p);
}

/* ---- progress ---- */

static void tell(Pipes *p, Str kind, Str text)
{
	LspServer *l = &p->l;
	ArenaMark mark = arena_mark(&l->scratch);
	Message m;
	notify_begin(l, &m, S("$/progress"));
	json_object(&m.j);
	put_str(&m.j, S("token"), str_printf(&l->scratch, "graphlint-progress-%u", (unsigned)l->progress));
	json_key(&m.j, S("value"));
	json_object(&m.j);
	put_str(&m.j, S("kind"), kind);
	if (str_eq(kind, S("begin")))
		put_str(&m.j, S("title"), S("graphlint"));
	if (text.n)
		put_str(&m.j, S("message"), text);
	json_end(&m.j);
	json_end(&m.j);
	message_send(l, &m);
	arena_rewind(&l->scratch, mark);
}

static void progress_begin(Pipes *p)
{
	LspServer *l = &p->l;
	ArenaMark mark = arena_mark(&l->scratch);
	Message m;
	l->progress++;
	request_begin(l, &m, S("window/workDoneProgress/create"));
	json_object(&m.j);
	put_str(&m.j, S("token"), str_printf(&l->scratch, "graphlint-progress-%u", (unsigned)l->progress));
	json_end(&m.j);
	message_send(l, &m);
	arena_rewind(&l->scratch, mark);
	tell(p, S("begin"), S("analysing"));
}

static Str progress_text(LspServer *l)
{
	Unit *u = l->units.v[l->running - 1];
	const Run *r = &u->snap[u->now == 0 ? 1 : 0].run;
	if (r->artifacts.v.n <= 1)
		return S("looking for graphs");
	return str_printf(&l->scratch, "%u graphs, %u frames", (unsigned)r->program.graphs.n - (r->program.graphs.n > 0),
	                  (unsigned)r->program.frames.n);
}

/* From within an analysis. Only what takes long is told. */
static void look(void *ctx)
{
	Pipes *p = ctx;
	int64_t t = now_ms();
	if (t - p->looked < LOOK_MS)
		return;
	p->looked = t;
	take(p);
	if (p->l.client.progress && t - p->told >= TELL_MS) {
		ArenaMark mark = arena_mark(&p->l.scratch);
		if (!p->l.progress_pct)
			progress_begin(p);
		else
			tell(p, S("report"), progress_text(&p->l));
		p->l.progress_pct = 1;
		p->told = t;
		arena_rewind(&p->l.scratch, mark);
		flush(p);
	}
}

static void work(Pipes *p)
{
	LspServer *l = &p->l;
	p->looked = p->told = now_ms();
	l->progress_pct = 0;
	lsp_work(l);
	if (l->progress_pct)
		tell(p, S("end"), (Str){0});
	flush(p);
}

/* ---- the loop ---- */

static void set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags >= 0)
		(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

int lsp_main(void)
{
	Pipes p = {0};
	lsp_init(&p.l);
	p.l.poll = look;
	p.l.poll_ctx = &p;
	set_nonblocking(STDIN_FILENO);
	set_nonblocking(STDOUT_FILENO);
	while (p.l.phase != LSP_GONE && !p.eof && !p.broken) {
		move_bytes(&p, lsp_has_work(&p.l) ? 0 : -1);
		take(&p);
		if (lsp_has_work(&p.l))
			work(&p);
	}
	lsp_handle(&p.l);
	while (p.l.out.n && !p.broken && p.l.phase == LSP_GONE)
		if (!move_bytes(&p, 1000) && p.l.out.n)
			break;
	int status = p.broken ? 4 : p.l.phase == LSP_GONE ? p.l.status : 1;
	lsp_free(&p.l);
	return status;
}
