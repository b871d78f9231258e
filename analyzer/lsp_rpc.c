/* SPDX-License-Identifier: MIT */
#include "lsp_rpc.h"

/* ---- buffers ---- */

bool bytes_room(Bytes *b, uint64_t more)
{
	uint64_t need = b->n + more, cap = b->cap ? b->cap : 4096;
	if (need <= b->cap)
		return true;
	if (need >= UINT32_MAX)
		return false;
	while (cap < need)
		cap += cap / 2;
	if (cap > UINT32_MAX - 1)
		cap = UINT32_MAX - 1;
	Arena bigger = arena_new(NULL);
	char *p = arena_alloc(&bigger, cap);
	if (b->n)
		memcpy(p, b->p, b->n);
	arena_free(&b->a);
	b->a = bigger;
	b->p = p;
	b->cap = (uint32_t)cap;
	return true;
}

bool bytes_add(Bytes *b, Str s)
{
	if (!bytes_room(b, s.n))
		return false;
	if (s.n)
		memcpy(b->p + b->n, s.p, s.n);
	b->n += s.n;
	return true;
}

void bytes_free(Bytes *b)
{
	arena_free(&b->a);
	*b = (Bytes){0};
}

/* ---- frames in ---- */

/* Above this an emptied buffer is given back: one large document should not be paid for ever. */
enum { KEEP_MOST = 1 << 20 };

void rpc_init(RpcIn *r, uint64_t most)
{
	*r = (RpcIn){.most = most};
}

void rpc_free(RpcIn *r)
{
	bytes_free(&r->b);
}

/* What was consumed makes room when it is all there is, or more than what remains. */
static void drop_consumed(RpcIn *r)
{
	uint32_t left = r->b.n - r->at;
	if (!r->at || (left && left > r->at))
		return;
	if (left)
		memmove(r->b.p, r->b.p + r->at, left);
	r->b.n = left;
	r->at = 0;
	if (!left && r->b.cap > KEEP_MOST)
		bytes_free(&r->b);
}

char *rpc_space(RpcIn *r, uint32_t n)
{
	drop_consumed(r);
	return bytes_room(&r->b, n) ? r->b.p + r->b.n : NULL;
}

void rpc_added(RpcIn *r, uint32_t n)
{
	r->b.n += n;
	if (r->skip) { /* of a body that nobody wants nothing is kept */
		uint32_t have = r->b.n - r->at;
		uint32_t gone = r->skip < have ? (uint32_t)r->skip : have;
		r->at += gone;
		r->skip -= gone;
	}
}

static bool is_header(Str line, Str name)
{
	if (line.n <= name.n || line.p[name.n] != ':')
		return false;
	for (uint32_t i = 0; i < name.n; i++)
		if ((line.p[i] | 0x20) != (name.p[i] | 0x20))
			return false;
	return true;
}

/* The length that a header names. Lines end with CRLF; LF alone is taken too. */
static bool length_of(Str header, uint64_t *out, const char **why)
{
	Str line, name = S("Content-Length");
	bool found = false;
	while (str_cut(&header, '\n', &line)) {
		line = str_trim(line);
		if (!is_header(line, name))
			continue;
		int64_t n;
		if (found || !str_to_i64(str_trim(str_sub(line, name.n + 1, line.n)), &n) || n < 0) {
			*why = found ? "a frame with two lengths" : "a Content-Length that is no number";
			return false;
		}
		*out = (uint64_t)n;
		found = true;
	}
	if (!found)
		*why = "a header without Content-Length";
	return found;
}

/* End of the header's empty line; 0: not there yet. */
static uint32_t header_end(Str s)
{
	for (uint32_t i = 0; i + 1 < s.n; i++) {
		if (s.p[i] != '\n')
			continue;
		if (s.p[i + 1] == '\n')
			return i + 2;
		if (i + 2 < s.n && s.p[i + 1] == '\r' && s.p[i + 2] == '\n')
			return i + 3;
	}
	return 0;
}

/* After damage: on to the next text that begins a header. */
static bool resync(RpcIn *r)
{
	Str s = {r->b.p + r->at, r->b.n - r->at}, mark = S("Content-Length:");
	if (!r->lost)
		return true;
	uint32_t at = str_find(s, mark, 0);
	if (at < s.n) {
		r->at += at;
		r->lost = false;
		return true;
	}
	if (s.n > mark.n) /* the last bytes may be the beginning of one */
		r->at += s.n - mark.n;
	return false;
}

static RpcResult fault(RpcIn *r, uint32_t past)
{
	r->at += past;
	r->lost = true;
	return RPC_FAULT;
}

RpcResult rpc_next(RpcIn *r, Str *body, const char **why)
{
	uint64_t n;
	if (r->skip || r->at == r->b.n || !resync(r))
		return RPC_MORE;
	Str s = {r->b.p + r->at, r->b.n - r->at};
	uint32_t head = header_end(str_sub(s, 0, RPC_HEADER_MOST));
	if (!head && s.n < RPC_HEADER_MOST)
		return RPC_MORE;
	if (!head) {
		*why = "a header longer than 8192 bytes";
		return fault(r, 1);
	}
	if (!length_of(str_sub(s, 0, head), &n, why))
		return fault(r, head);
	if (n > r->most) {
		uint64_t have = s.n - head;
		r->at += head + (uint32_t)(n < have ? n : have);
		r->skip = n < have ? 0 : n - have;
		*why = "a body larger than the limit of messages";
		return RPC_FAULT;
	}
	if (s.n - head < n) {
		bytes_room(&r->b, head + n); /* once, not step by step */
		return RPC_MORE;
	}
	*body = str_sub(s, head, head + (uint32_t)n);
	r->at += head + (uint32_t)n;
	return RPC_BODY;
}

void rpc_frame(Buf *out, Str body)
{
	buf_printf(out, "Content-Length: %u\r\n\r\n", (unsigned)body.n);
	buf_add(out, body);
}
