/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "utf8.h"

/* Offsets are 32 bits wide; the last values stay free for "behind the end". */
enum { READ_CHUNK = 1 << 20, INFLATE_CHUNK = 1 << 16 };
static const uint64_t TEXT_MOST = UINT32_MAX - 16;

void sources_init(Sources *t, Arena *a)
{
	*t = (Sources){.a = a};
	VEC_PUSH(a, &t->v, ((Source){0}));
}

const Source *source_get(const Sources *t, FileId f)
{
	ASSERT(f.i && f.i < t->v.n);
	return &t->v.v[f.i];
}

static uint64_t limit_of(uint64_t limit)
{
	return limit && limit < TEXT_MOST ? limit : TEXT_MOST;
}

static Str too_large(Arena *a, uint64_t limit)
{
	return str_printf(a, "larger than the limit of %llu bytes, was not read",
	                  (unsigned long long)limit);
}

/* ---- gzip ---- */

static bool is_gzip(Str b)
{
	return b.n > 2 && memcmp(b.p, "\x1f\x8b\x08", 3) == 0;
}

static voidpf zalloc(voidpf a, uInt n, uInt size)
{
	return arena_array(a, n, size);
}

static void zfree(voidpf a, voidpf p)
{
	(void)a;
	(void)p;
}

typedef enum Unpacked { UNPACK_ALL, UNPACK_BROKEN, UNPACK_TOO_LARGE } Unpacked;

/* Unpacks all members. Writes to out[0..cap), or only counts when out is NULL. *n: bytes that
 * came out. Memory for the decoder is given back. */
static Unpacked unpack(Arena *a, Str packed, char *out, uint64_t cap, uint64_t *n)
{
	ArenaMark mark = arena_mark(a);
	char *chunk = out ? NULL : arena_alloc(a, INFLATE_CHUNK);
	z_stream z = {.zalloc = zalloc, .zfree = zfree, .opaque = a};
	z.next_in = (Bytef *)(uintptr_t)packed.p;
	z.avail_in = packed.n;
	int rc = inflateInit2(&z, 15 + 16);
	*n = 0;
	while (rc == Z_OK) {
		uint64_t room = cap - *n;
		uInt give = room < INFLATE_CHUNK ? (uInt)room : INFLATE_CHUNK;
		Bytef one; /* room for a byte too many, to tell "full" from "too large" */
		z.next_out = give ? (Bytef *)(out ? out + *n : chunk) : &one;
		z.avail_out = give ? give : 1;
		uInt before = z.avail_out;
		rc = inflate(&z, Z_NO_FLUSH);
		uInt got = before - z.avail_out;
		if (got && !give) {
			arena_rewind(a, mark);
			return UNPACK_TOO_LARGE;
		}
		*n += got;
		/* zeros behind the last member are padding, anything else there is not ours */
		if (rc == Z_STREAM_END && z.avail_in > 2 && memcmp(z.next_in, "\x1f\x8b\x08", 3) == 0)
			rc = inflateReset(&z);
		else if (rc == Z_OK && !got && !z.avail_in)
			rc = Z_BUF_ERROR;
	}
	arena_rewind(a, mark);
	return rc == Z_STREAM_END ? UNPACK_ALL : UNPACK_BROKEN;
}

/* Two passes, one that counts: memory is what comes out, and a bomb is refused before it is
 * written down. */
static bool gunzip(Sources *t, Str *bytes, uint64_t limit, Str *damage, Str *why)
{
	uint64_t n;
	Unpacked how = unpack(t->a, *bytes, NULL, limit, &n);
	if (how == UNPACK_TOO_LARGE) {
		*why = too_large(t->a, limit);
		return false;
	}
	if (how == UNPACK_BROKEN && !n) {
		*why = S("broken gzip data, nothing could be unpacked");
		return false;
	}
	if (how == UNPACK_BROKEN)
		*damage = S("the gzip data ends early or is broken; what follows could not be unpacked");
	char *p = arena_alloc(t->a, n + 1);
	unpack(t->a, *bytes, p, n, &n);
	*bytes = (Str){p, (uint32_t)n};
	return true;
}

/* ---- UTF-16 ---- */

static uint32_t put_utf8(uint32_t c, char *out)
{
	uint32_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	if (!out)
		return n;
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (uint32_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(lead[n] | c);
	return n;
}

static uint32_t unit16(Str b, uint32_t at, bool big)
{
	unsigned char x = (unsigned char)b.p[at], y = (unsigned char)b.p[at + 1];
	return big ? (uint32_t)x << 8 | y : (uint32_t)y << 8 | x;
}

/* Decodes what follows the BOM; an unpaired surrogate or half a unit at the end becomes U+FFFD.
 * Only counts when out is NULL. */
static uint64_t decode16(Str b, bool big, char *out)
{
	uint64_t n = 0;
	for (uint32_t i = 2; i < b.n;) {
		uint32_t c = 0xfffd;
		if (i + 1 < b.n) {
			c = unit16(b, i, big);
			bool high = c >= 0xd800 && c < 0xdc00;
			uint32_t low = high && i + 3 < b.n ? unit16(b, i + 2, big) : 0;
			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i += 2;
			} else if (c >= 0xd800 && c < 0xe000) {
				c = 0xfffd;
			}
		}
		i += 2;
		n += put_utf8(c, out ? out + n : NULL);
	}
	return n;
}

static bool decode(Sources *t, Str *bytes, uint64_t limit, bool *was_utf16, Str *why)
{
	Str b = *bytes;
	if (b.n >= 3 && memcmp(b.p, "\xef\xbb\xbf", 3) == 0) {
		*bytes = str_sub(b, 3, b.n);
		return true;
	}
	bool little = b.n >= 2 && memcmp(b.p, "\xff\xfe", 2) == 0,
		 big = b.n >= 2 && memcmp(b.p, "\xfe\xff", 2) == 0;
	if (!little && !big)
		return true;
	uint64_t n = decode16(b, big, NULL);
	if (n > limit) {
		*why = too_large(t->a, limit);
		return false;
	}
	char *p = arena_alloc(t->a, n + 1);
	decode16(b, big, p);
	*bytes = (Str){p, (uint32_t)n};
	*was_utf16 = true;
	return true;
}

/* ---- lines ---- */

static uint32_t next_line(const Source *s, uint32_t at)
{
	uint32_t lf = str_find_char(s->text, '\n', at);
	return lf < s->text.n ? lf + 1 : s->text.n;
}

static void index_lines(Source *s, Arena *a)
{
	uint32_t n = 0;
	for (uint32_t at = 0; at < s->text.n; n++)
		at = next_line(s, at);
	s->marks = NEW_N(a, uint32_t, n / SOURCE_LINES_EACH + 1);
	s->nlines = n;
	for (uint32_t at = 0, i = 0; at < s->text.n; i++) {
		if (i % SOURCE_LINES_EACH == 0)
			s->marks[i / SOURCE_LINES_EACH] = at;
		at = next_line(s, at);
	}
}

FileId sources_add_bytes(Sources *t, Str path, Str bytes, uint64_t limit, Str *why)
{
	Source s = {.path = path};
	limit = limit_of(limit);
	*why = (Str){0};
	if (is_gzip(bytes)) {
		s.was_gzip = true;
		if (!gunzip(t, &bytes, limit, &s.damage, why))
			return (FileId){0};
	}
	if (bytes.n > limit) {
		*why = too_large(t->a, limit);
		return (FileId){0};
	}
	if (!decode(t, &bytes, limit, &s.was_utf16, why))
		return (FileId){0};
	s.text = bytes;
	s.has_nul = bytes.n && memchr(bytes.p, 0, bytes.n);
	index_lines(&s, t->a);
	FileId id = {t->v.n};
	s.unit = id;
	VEC_PUSH(t->a, &t->v, s);
	return id;
}

static Str system_error(Arena *a, int error)
{
	if (error == ENOMEM) /* a machine without memory is no fault of the file */
		base_out_of_memory();
	return str_printf(a, "%s", strerror(error));
}

/* Reads until the end into p[0..cap); -1 and errno on errors. */
static int64_t read_some(int fd, char *p, uint64_t cap)
{
	uint64_t n = 0;
	while (n < cap) {
		size_t want = cap - n < READ_CHUNK ? (size_t)(cap - n) : READ_CHUNK;
		ssize_t got = read(fd, p + n, want);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		n += (uint64_t)got;
	}
	return (int64_t)n;
}

/* All bytes of fd, at most `limit`. The size that the system tells is only where reading begins:
 * a log may grow, and a pipe has none. */
static bool read_all(Arena *a, int fd, uint64_t limit, Str *out, Str *why)
{
	struct stat st;
	uint64_t cap = READ_CHUNK, n = 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		if ((uint64_t)st.st_size > limit) {
			*why = too_large(a, limit);
			return false;
		}
		cap = (uint64_t)st.st_size + 1;
	}
	char *p = arena_alloc(a, cap);
	for (;;) {
		int64_t got = read_some(fd, p + n, cap - n);
		if (got < 0) {
			*why = system_error(a, errno);
			return false;
		}
		n += (uint64_t)got;
		if (n > limit) {
			*why = too_large(a, limit);
			return false;
		}
		if (n < cap)
			break;
		cap = cap * 2 > limit ? limit + 1 : cap * 2;
		char *more = arena_alloc(a, cap);
		memcpy(more, p, n);
		p = more;
	}
	*out = (Str){p, (uint32_t)n};
	return true;
}

FileId sources_add_file(Sources *t, Str path, Str shown, uint64_t limit, Str *why)
{
	bool standard = str_eq(path, S("-"));
	ArenaMark mark = arena_mark(t->a);
	Str bytes;
	*why = (Str){0};
	if (path.n && memchr(path.p, 0, path.n)) {
		*why = system_error(t->a, ENOENT);
		return (FileId){0};
	}
	int fd = standard ? STDIN_FILENO : open(str_to_c(t->a, path), O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int error = errno;
		arena_rewind(t->a, mark);
		*why = system_error(t->a, error);
		return (FileId){0};
	}
	bool ok = read_all(t->a, fd, limit_of(limit), &bytes, why);
	if (!standard)
		close(fd);
	return ok ? sources_add_bytes(t, shown.n ? shown : path, bytes, limit, why) : (FileId){0};
}

/* ---- places ---- */

uint32_t source_line_index(const Source *s, uint32_t offset, uint32_t *start)
{
	uint32_t lo = 0, hi = (s->nlines - 1) / SOURCE_LINES_EACH + 1;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (s->marks[mid] <= offset)
			lo = mid;
		else
			hi = mid;
	}
	uint32_t line = lo * SOURCE_LINES_EACH, at = s->marks[lo];
	for (uint32_t next = next_line(s, at); line + 1 < s->nlines && next <= offset; next = next_line(s, at)) {
		at = next;
		line++;
	}
	*start = at;
	return line;
}

uint32_t source_line_start(const Source *s, uint32_t line)
{
	uint32_t at = s->marks[line / SOURCE_LINES_EACH];
	for (uint32_t k = line % SOURCE_LINES_EACH; k; k--)
		at = next_line(s, at);
	return at;
}

Str source_line_at(const Source *s, uint32_t at)
{
	uint32_t end = str_find_char(s->text, '\n', at);
	if (end > at && end < s->text.n && s->text.p[end - 1] == '\r')
		end--;
	return str_sub(s->text, at, end);
}

Str source_line(const Source *s, uint32_t line)
{
	return line && line <= s->nlines ? source_line_at(s, source_line_start(s, line - 1)) : (Str){0};
}

LineCol source_line_col(const Source *s, uint32_t offset)
{
	if (!s->nlines)
		return (LineCol){1, 1};
	if (offset > s->text.n)
		offset = s->text.n;
	uint32_t start, line = source_line_index(s, offset, &start), col = 1;
	Str l = source_line_at(s, start);
	uint32_t to = offset - start;
	for (uint32_t i = 0; i < to && i < l.n; col++) {
		uint32_t n = 1;
		if ((unsigned char)l.p[i] >= 0x80)
			utf8_decode(l, i, &n);
		if (i + n > to) /* inside a code point: its own column */
			break;
		i += n;
	}
	return (LineCol){line + 1, col};
}

uint32_t source_offset(const Source *s, LineCol at)
{
	if (!s->nlines || !at.line)
		return 0;
	if (at.line > s->nlines)
		return s->text.n;
	Str l = source_line(s, at.line);
	uint32_t i = 0;
	for (uint32_t col = 1; col < at.col && i < l.n; col++) {
		uint32_t n = 1;
		if ((unsigned char)l.p[i] >= 0x80)
			utf8_decode(l, i, &n);
		i += n;
	}
	return source_line_start(s, at.line - 1) + i;
}

uint32_t text_offset(const Text *t, uint32_t at)
{
	if (!t->nseg)
		return 0;
	if (at > t->s.n)
		at = t->s.n;
	/* the end of the text is behind its last byte, whatever segment begins there */
	uint32_t key = at == t->s.n && at ? at - 1 : at;
	uint32_t lo = 0, hi = t->nseg;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (t->seg[mid].at <= key)
			lo = mid;
		else
			hi = mid;
	}
	return t->seg[lo].src + (at - t->seg[lo].at);
}

Span text_span(const Text *t, uint32_t at, uint32_t end)
{
	if (at > t->s.n)
		at = t->s.n;
	if (end > t->s.n)
		end = t->s.n;
	uint32_t from = text_offset(t, at);
	/* by its last byte: the byte at `end` may stand behind a prefix of the next line */
	uint32_t to = end > at ? text_offset(t, end - 1) + 1 : from;
	return (Span){t->file, from, to > from ? to : from};
}
