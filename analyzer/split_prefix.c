/* SPDX-License-Identifier: MIT
 * Sources of the formats: torch/_logging/_internal.py (TorchLogsFormatter) of PyTorch 2.1 to 2.15,
 * torch/_dynamo/logging.py of 2.0, torchdynamo/logging.py of 2022. */
#include "split_prefix.h"

/* A cursor over a line; `ok` goes false at the first thing that is not as expected. */
typedef struct At {
	Str s;
	uint32_t i;
	bool ok;
} At;

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char peek(const At *a)
{
	return a->i < a->s.n ? a->s.p[a->i] : '\0';
}

static bool take(At *a, Str text)
{
	bool has = a->s.n - a->i >= text.n && memcmp(a->s.p + a->i, text.p, text.n) == 0;
	if (has)
		a->i += text.n;
	return has;
}

static void need(At *a, Str text)
{
	if (!take(a, text))
		a->ok = false;
}

static Str digits(At *a, uint32_t least, uint32_t most)
{
	uint32_t from = a->i;
	while (a->i < a->s.n && is_digit(a->s.p[a->i]) && a->i - from < most)
		a->i++;
	if (a->i - from < least)
		a->ok = false;
	return str_sub(a->s, from, a->i);
}

/* `pattern`: 0 a digit, anything else itself. */
static bool shape(Str s, uint32_t at, Str pattern)
{
	if (s.n < at || s.n - at < pattern.n)
		return false;
	for (uint32_t i = 0; i < pattern.n; i++)
		if (pattern.p[i] == '0' ? !is_digit(s.p[at + i]) : s.p[at + i] != pattern.p[i])
			return false;
	return true;
}

static void need_shape(At *a, Str pattern)
{
	if (!shape(a->s, a->i, pattern))
		a->ok = false;
	else
		a->i += pattern.n;
}

/* One blank, or the end where trailing blanks were stripped. */
static void need_gap(At *a)
{
	if (a->i < a->s.n && !take(a, S(" ")))
		a->ok = false;
}

static bool is_level(char c)
{
	return c == 'V' || c == 'I' || c == 'W' || c == 'E' || c == 'C';
}

/* [0/0], [0/0_1], [!0/1/0], [!0] */
static Str take_trace(At *a)
{
	uint32_t i = a->i, from;
	if (a->s.n - i < 4 || a->s.p[i] != ' ' || a->s.p[i + 1] != '[')
		return (Str){0};
	from = i += 2;
	if (a->s.p[i] == '!')
		i++;
	if (i == a->s.n || !is_digit(a->s.p[i]))
		return (Str){0};
	while (i < a->s.n && (is_digit(a->s.p[i]) || a->s.p[i] == '/' || a->s.p[i] == '_'))
		i++;
	if (i == a->s.n || a->s.p[i] != ']')
		return (Str){0};
	a->i = i + 1;
	return str_sub(a->s, from, i);
}

static bool is_tag_char(char c)
{
	return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_';
}

static Str take_tag(At *a)
{
	At b = *a;
	if (!take(&b, S(" [__")))
		return (Str){0};
	uint32_t from = b.i;
	while (b.i < b.s.n && is_tag_char(b.s.p[b.i]))
		b.i++;
	Str tag = str_sub(b.s, from, b.i);
	if (!tag.n || !take(&b, S("]")))
		return (Str){0};
	*a = b;
	return tag;
}

static Str take_rank(At *a)
{
	At b = *a;
	b.ok = true;
	if (!take(&b, S("[rank")))
		return (Str){0};
	Str rank = digits(&b, 1, 9);
	need(&b, S("]:"));
	if (!b.ok)
		return (Str){0};
	a->i = b.i;
	return rank;
}

/* 2.3 and later: V1201 02:01:38.906000 8725 torch/_dynamo/convert_frame.py:734] [0/0_1]
 * [__bytecode] */
enum { PATH_MOST = 4096, NUMBER_MOST = 20 };

static bool has_clock(Str s)
{
	for (uint32_t i = 0; (i = str_find_char(s, ' ', i)) < s.n; i++)
		if (shape(s, i, S(" 00:00:00.")))
			return true;
	return false;
}

static bool parse_glog(Str line, Mark *m, uint32_t *body)
{
	At a = {line, 0, true};
	*m = (Mark){.style = PREFIX_2_3, .every = true};
	if (peek(&a) == '[')
		m->rank = take_rank(&a);
	if (!is_level(peek(&a)))
		return false;
	a.i++;
	need_shape(&a, S("0000 00:00:00.000000 "));
	if (!a.ok)
		return false;
	m->number = digits(&a, 1, NUMBER_MOST);
	need(&a, S(" "));
	Str rest = str_sub(line, a.i, line.n < a.i + PATH_MOST ? line.n : a.i + PATH_MOST);
	uint32_t close = str_find_char(rest, ']', 0), n = close;
	if (!a.ok || close == rest.n)
		return false;
	while (n && is_digit(rest.p[n - 1]))
		n--;
	if (n == close || !n || rest.p[n - 1] != ':')
		return false;
	if (has_clock(str_sub(rest, 0, close))) /* another prefix was written into this one */
		return false;
	a.i += close + 1;
	m->trace = take_trace(&a);
	m->tag = take_tag(&a);
	m->artifact = m->tag.n > 0;
	m->text = str_sub(line, 0, a.i);
	need_gap(&a);
	*body = a.i;
	m->structured = !m->trace.n && !m->tag.n && take(&a, S("{\""));
	return a.ok;
}

/* [rank1]:[2023-12-14 10:02:03,456] [0/0_1] torch._dynamo.output_graph.__graph_code: [DEBUG] */
static Str take_logger(At *a)
{
	uint32_t from = a->i;
	while (a->i < a->s.n && (char_is_ident((unsigned char)a->s.p[a->i]) || a->s.p[a->i] == '.'))
		a->i++;
	return str_sub(a->s, from, a->i);
}

/* "[INFO]", "[Level 15]" of torchdynamo */
static void need_level(At *a)
{
	need(a, S(": ["));
	uint32_t from = a->i;
	if (take(a, S("Level ")))
		digits(a, 1, 3);
	else
		while (a->i < a->s.n && a->s.p[a->i] >= 'A' && a->s.p[a->i] <= 'Z')
			a->i++;
	if (a->i == from)
		a->ok = false;
	need(a, S("]"));
}

static bool is_torchdynamo(Str logger)
{
	return str_starts(logger, S("torchdynamo")) || str_starts(logger, S("torchinductor"));
}

/* The last part of a logger's name is that of the artifact, behind "__". */
static void set_tag(Mark *m, Str logger)
{
	uint32_t dot = str_rfind(logger, S("."));
	m->tag = dot < logger.n ? str_sub(logger, dot + 1, logger.n) : logger;
	m->artifact = str_starts(m->tag, S("__"));
	if (m->artifact)
		m->tag = str_sub(m->tag, 2, m->tag.n);
}

static bool parse_dated(Str line, Mark *m, uint32_t *body)
{
	At a = {line, 0, true};
	*m = (Mark){0};
	m->rank = take_rank(&a);
	need_shape(&a, S("[0000-00-00 00:00:00,000]"));
	if (!a.ok)
		return false;
	m->trace = take_trace(&a);
	need(&a, S(" torch"));
	if (!a.ok)
		return false;
	a.i -= 5;
	Str logger = take_logger(&a);
	need_level(&a);
	m->text = str_sub(line, 0, a.i);
	need_gap(&a);
	*body = a.i;
	set_tag(m, logger);
	m->style = is_torchdynamo(logger)      ? PREFIX_2022_TIME
	           : m->artifact || m->trace.n ? PREFIX_2_1
	                                       : PREFIX_2_0;
	m->every = m->style == PREFIX_2_1;
	return a.ok;
}

/* torchdynamo.convert_frame: [INFO] */
static bool parse_bare_logger(Str line, Mark *m, uint32_t *body)
{
	At a = {line, 0, true};
	if (!is_torchdynamo(line))
		return false;
	Str logger = take_logger(&a);
	need_level(&a);
	*m = (Mark){.style = PREFIX_2022, .text = str_sub(line, 0, a.i)};
	set_tag(m, logger);
	need_gap(&a);
	*body = a.i;
	return a.ok;
}

static bool take_word(At *a)
{
	static const Str words[] = {STR_INIT("DEBUG"), STR_INIT("INFO"), STR_INIT("WARNING"),
	                            STR_INIT("ERROR"), STR_INIT("CRITICAL")};
	for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
		if (take(a, words[i]))
			return true;
	return false;
}

/* "aot_autograd.py:1321", as a part of a prefix. */
static bool take_place(At *a)
{
	At b = *a;
	b.ok = true;
	Str name = take_logger(&b);
	need(&b, S(":"));
	digits(&b, 1, 9);
	if (!b.ok || !str_ends(name, S(".py")))
		return false;
	*a = b;
	return true;
}

/* [aot_autograd.py:1321 DEBUG] */
static bool parse_debug_log(Str line, Mark *m, uint32_t *body)
{
	At a = {line, 0, true};
	need(&a, S("["));
	if (!a.ok || !take_place(&a) || !take(&a, S(" ")) || !take_word(&a))
		return false;
	need(&a, S("]"));
	*m = (Mark){.style = PREFIX_DEBUG_LOG, .text = str_sub(line, 0, a.i)};
	need_gap(&a);
	*body = a.i;
	return a.ok;
}

static bool take_separators(At *a)
{
	uint32_t from = a->i;
	while (a->i < a->s.n && (a->s.p[a->i] == ' ' || a->s.p[a->i] == ':' || a->s.p[a->i] == '|'))
		a->i++;
	return a->i > from;
}

/* DEBUG:torch._dynamo.output_graph.__graph_code:TRACED GRAPH, the same with other separators,
 * and pytest's captured log, which has file:line behind the logger and may hold a formatted
 * record. */
static bool parse_format(Str line, Mark *m, uint32_t *body)
{
	At a = {line, 0, true};
	if (!take_word(&a) || !take_separators(&a))
		return false;
	Str logger = take_logger(&a);
	if (!str_starts(logger, S("torch")) || !take_separators(&a))
		return false;
	if (take_place(&a))
		take_separators(&a);
	Mark inner;
	uint32_t at;
	Str rest = str_sub(line, a.i, line.n);
	*m = (Mark){.style = PREFIX_FORMAT};
	set_tag(m, logger);
	if (parse_glog(rest, &inner, &at) || parse_dated(rest, &inner, &at)) {
		m->rank = inner.rank;
		m->number = inner.number;
		m->trace = inner.trace;
		if (inner.artifact)
			m->tag = inner.tag;
		a.i += at;
	}
	m->text = str_sub(line, 0, a.i);
	*body = a.i;
	return true;
}

bool mark_parse(Str s, Mark *m, uint32_t *body)
{
	if (!s.n)
		return false;
	switch (s.p[0]) {
	case 'V': return parse_glog(s, m, body);
	case 'I':
	case 'W':
	case 'E':
	case 'C': return parse_glog(s, m, body) || parse_format(s, m, body);
	case '[':
		return parse_glog(s, m, body) || parse_dated(s, m, body) || parse_debug_log(s, m, body);
	case 't': return parse_bare_logger(s, m, body);
	case 'D': return parse_format(s, m, body);
	default: return false;
	}
}

bool mark_begins(Str s)
{
	At a = {s, 0, true};
	take_rank(&a);
	if (shape(s, a.i, S("[0000-00-00 00:00:00,000]")))
		return true;
	return is_level(peek(&a)) && shape(s, a.i + 1, S("0000 00:00:00."));
}

bool mark_find(Str s, uint32_t from, Mark *m, uint32_t *at, uint32_t *body)
{
	for (uint32_t i = from; i + 25 < s.n; i++) {
		char c = s.p[i];
		bool glog = is_level(c) && shape(s, i + 1, S("0000 00:00:00."));
		bool dated = c == '[' && (s.p[i + 1] == 'r' || shape(s, i + 1, S("0000-00-00 00:")));
		if (!glog && !dated)
			continue;
		Str rest = str_sub(s, i, s.n);
		if ((parse_glog(rest, m, body) || parse_dated(rest, m, body)) && m->every) {
			*at = i;
			*body += i;
			return true;
		}
	}
	return false;
}

/* The tag in "... torch._dynamo.output_graph.__graph_code ..." */
static Str guess_tag(Str prefix)
{
	uint32_t at = str_rfind(prefix, S(".__")), i = at + 3;
	if (at == prefix.n)
		return (Str){0};
	while (i < prefix.n && is_tag_char(prefix.p[i]))
		i++;
	return str_sub(prefix, at + 3, i);
}

bool mark_guess(Str s, Mark *m, uint32_t *body)
{
	static const Str traced = STR_INIT("TRACED GRAPH"), code = STR_INIT(" BYTECODE "),
					 line = STR_INIT(" line ");
	Str t = str_rtrim(s);
	uint32_t at = t.n;
	if (t.n <= traced.n)
		return false;
	if (str_ends(t, traced)) {
		at = t.n - traced.n;
	} else if (is_digit(t.p[t.n - 1])) {
		uint32_t i = str_find(t, code, 0);
		if (i == t.n || str_find(t, line, i) == t.n || i < 8)
			return false;
		Str word = str_sub(t, i - 8, i);
		at = str_eq(word, S("ORIGINAL")) || str_eq(word, S("MODIFIED")) ? i - 8 : t.n;
	}
	if (at == t.n || !at || char_is_ident((unsigned char)t.p[at - 1]) || t.p[at - 1] == '"' ||
	    t.p[at - 1] == '\'')
		return false;
	Str prefix = str_sub(t, 0, at);
	if (!str_trim(prefix).n || !str_has(prefix, S("torch")))
		return false;
	*m = (Mark){.style = PREFIX_FORMAT, .text = prefix, .tag = guess_tag(prefix)};
	m->artifact = m->tag.n > 0;
	*body = at;
	return true;
}

/* ---- prefixes of other programs ---- */

static bool match_stamp(At *a)
{
	need_shape(a, S("0000-00-00T00:00:00."));
	if (!a->ok)
		return false;
	digits(a, 3, 9);
	return a->ok;
}

static bool match_container(At *a, ForeignMatch *out)
{
	if (!match_stamp(a))
		return false;
	while (a->i < a->s.n && a->s.p[a->i] != ' ' && a->i < 48)
		a->i++;
	if (!take(a, S(" stdout ")) && !take(a, S(" stderr ")))
		return false;
	char flag = peek(a);
	out->partial = flag == 'P';
	a->i++;
	need_gap(a);
	return a->ok && (flag == 'P' || flag == 'F');
}

/* A level word before a bar is a log format, not a service. */
static bool match_compose(At *a, ForeignMatch *out)
{
	At word = *a;
	uint32_t from = a->i;
	while (a->i < a->s.n && (char_is_ident((unsigned char)a->s.p[a->i]) || a->s.p[a->i] == '.' ||
	                         a->s.p[a->i] == '-'))
		a->i++;
	out->label = str_sub(a->s, from, a->i);
	uint32_t blanks = a->i;
	while (peek(a) == ' ')
		a->i++;
	if (!out->label.n || a->i == blanks || !take(a, S("|")) || take_word(&word))
		return false;
	need_gap(a);
	return a->ok;
}

static bool match_elastic(At *a, ForeignMatch *out)
{
	if (take_rank(a).n || !take(a, S("[")))
		return false;
	uint32_t from = a->i;
	while (a->i < a->s.n && char_is_ident((unsigned char)a->s.p[a->i]))
		a->i++;
	out->label = str_sub(a->s, from, a->i);
	return out->label.n > 1 && !is_digit(out->label.p[0]) &&
	       is_digit(out->label.p[out->label.n - 1]) && take(a, S("]:"));
}

static bool match_mpi(At *a, ForeignMatch *out)
{
	need(a, S("["));
	uint32_t from = a->i;
	digits(a, 1, 9);
	need(a, S(","));
	digits(a, 1, 9);
	out->label = str_sub(a->s, from, a->i);
	need(a, S("]<std"));
	return a->ok && (take(a, S("out>:")) || take(a, S("err>:")));
}

static bool match_srun(At *a, ForeignMatch *out)
{
	while (peek(a) == ' ')
		a->i++;
	out->label = digits(a, 1, 6);
	need(a, S(":"));
	need_gap(a);
	return a->ok;
}

bool foreign_match(Foreign kind, Str s, ForeignMatch *out)
{
	At a = {s, 0, true};
	bool ok = false;
	*out = (ForeignMatch){0};
	switch (kind) {
	case FOREIGN_CI:
		ok = match_stamp(&a) && take(&a, S("Z"));
		need_gap(&a);
		break;
	case FOREIGN_CONTAINER: ok = match_container(&a, out); break;
	case FOREIGN_COMPOSE: ok = match_compose(&a, out); break;
	case FOREIGN_ELASTIC: ok = match_elastic(&a, out); break;
	case FOREIGN_MPI: ok = match_mpi(&a, out); break;
	case FOREIGN_SRUN: ok = match_srun(&a, out); break;
	case FOREIGN_QUOTE:
		while (take(&a, S(">"))) {
			take(&a, S(" "));
			ok = true;
		}
		break;
	case FOREIGN_DIFF:
		out->mark = peek(&a);
		ok = take(&a, S("+")) || take(&a, S("-"));
		break;
	case FOREIGN_N: break;
	}
	out->n = a.i;
	return ok && a.ok;
}

bool foreign_strict(Foreign kind)
{
	static const bool strict[] = {
#define FOREIGN(id, word, strict) strict,
#include "foreigns.def"
#undef FOREIGN
	};
	return strict[kind];
}

/* ---- processes ---- */

enum { PID_MOST = 1 << 26 }; /* larger numbers are addresses, which name threads */

static bool is_pid(Str number)
{
	uint32_t pid;
	return str_to_u32(number, &pid) && pid < PID_MOST;
}

bool mark_of_thread(const Mark *m)
{
	return m->number.n && !is_pid(m->number);
}

Str mark_process(const Mark *m, Str label, Arena *a)
{
	char text[128];
	Buf b = {.a = a, .p = text, .cap = sizeof text};
	if (label.n)
		buf_add(&b, label);
	if (m->rank.n) {
		buf_add(&b, b.n ? S(":rank") : S("rank"));
		buf_add(&b, m->rank);
	}
	if (is_pid(m->number)) {
		if (b.n)
			buf_char(&b, ':');
		buf_add(&b, m->number);
	}
	return str_copy(a, buf_str(&b));
}
