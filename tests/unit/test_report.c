/* SPDX-License-Identifier: MIT
 * The writers on a run made by hand: no pass has to work for them to be right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "report.h"
#include "report_common.h"
#include "report_frame.h"
#include "report_group.h"

typedef struct Fake {
	Arena a;
	Names names;
	Config cfg;
	Run run;
	FileId file;
} Fake;

static Fake fake;

static const char two_ops[] =
	"def forward(self, _stack0_0_ : torch.Tensor):\n"
	"    contiguous = _stack0_0_.contiguous();  _stack0_0_ = None\n"
	"    view = contiguous.view(1, 1024, -1);  contiguous = None\n"
	"    return (view,)\n";

static int setup(void **state)
{
	(void)state;
	Str why;
	fake = (Fake){.a = arena_new(NULL), .cfg = config_default()};
	Run *r = &fake.run;
	names_init(&fake.names, &fake.a);
	r->cfg = &fake.cfg;
	sources_init(&r->sources, &fake.a);
	program_init(&r->program, &fake.a, &fake.names);
	diags_init(&r->diags, &fake.a);
	fake.file = sources_add_bytes(&r->sources, S("d/two.txt"), S(two_ops), 0, &why);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(&fake.a);
	return 0;
}

static FileId add_file(const char *path, Str text)
{
	Str why;
	FileId f = sources_add_bytes(&fake.run.sources, str_from_c(path), text, 0, &why);
	assert_true(f.i != 0);
	return f;
}

/* The span of the first `what` in a file. */
static Span span_of(FileId f, const char *what)
{
	Str s = source_get(&fake.run.sources, f)->text, w = str_from_c(what);
	uint32_t at = str_find(s, w, 0);
	assert_true(at < s.n);
	return (Span){f, at, at + w.n};
}

static Str written(void (*write)(const Run *, const ReportOptions *, Buf *), ReportOptions o)
{
	Buf b = {.a = &fake.a};
	write(&fake.run, &o, &b);
	return buf_str(&b);
}

static void assert_text(Str got, const char *want)
{
	assert_string_equal(str_to_c(&fake.a, got), want);
}

static void assert_has(Str got, const char *want)
{
	if (!str_has(got, str_from_c(want)))
		fail_msg("no '%s' in:\n%s", want, str_to_c(&fake.a, got));
}

static void assert_lacks(Str got, const char *what)
{
	if (str_has(got, str_from_c(what)))
		fail_msg("'%s' in:\n%s", what, str_to_c(&fake.a, got));
}

static Finding *add(Severity sev, const char *rule, Span at, const char *message)
{
	Finding *f = diag_add(&fake.run.diags, str_from_c(rule), sev, at);
	f->name = S("some-rule");
	f->message = str_from_c(message);
	f->graph = S("forward");
	return f;
}

static Finding *founding(void)
{
	Finding *f = add(SEV_WARNING, "GL101", span_of(fake.file, "view = contiguous.view(1, 1024, -1)"), "output 0 is a view");
	Diags *d = &fake.run.diags;
	f->name = S("output-aliases-input");
	f->output = f->input = 0;
	f->certainty = TRI_MAY;
	f->condition = S("`x` is contiguous");
	f->observable = OBS_UNKNOWN;
	f->contracts = CONTRACT_BIT(CONTRACT_FRESH) | CONTRACT_BIT(CONTRACT_STRICT);
	f->suggestion = S("clone it");
	f->source = (UserSource){S("m.py"), S("attend"), S("y = x.contiguous().view(1, 1024, -1)"), 41};
	diag_step(d, f, ROLE_BOUNDARY, span_of(fake.file, "_stack0_0_ : torch.Tensor"), S("enters the graph"));
	diag_step(d, f, ROLE_ALIAS, f->span, S("same memory"));
	return f;
}

/* ---- text ---- */

static void whole_report(void **state)
{
	(void)state;
	founding();
	assert_text(written(report_write_text, (ReportOptions){0}),
		"warning[GL101] output-aliases-input: output 0 is a view\n"
		"  --> d/two.txt:3:5\n"
		"   |\n"
		" 3 |     view = contiguous.view(1, 1024, -1);  contiguous = None\n"
		"   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
		"    = m.py:41 in attend: y = x.contiguous().view(1, 1024, -1)\n"
		"    1. boundary d/two.txt:1:19: enters the graph\n"
		"       | _stack0_0_ : torch.Tensor\n"
		"    2. alias    d/two.txt:3:5: same memory\n"
		"    = help: clone it\n"
		"\n"
		"0 errors, 1 warning, 0 notes in 0 graphs of 1 file (contract auto)\n");
}

static void colours_only_where_asked(void **state)
{
	(void)state;
	founding();
	assert_lacks(written(report_write_text, (ReportOptions){0}), "\x1b");
	Str s = written(report_write_text, (ReportOptions){.color = true});
	assert_has(s, "\x1b[1;33mwarning[GL101]\x1b[0m");
	assert_has(s, "\x1b[1;32m    ^^^");
}

static void notes_are_hidden_and_counted(void **state)
{
	(void)state;
	add(SEV_NOTE, "GL204", span_of(fake.file, "return"), "first note")->quiet_by_contract = true;
	add(SEV_ERROR, "GL103", span_of(fake.file, "view"), "an error");
	fake.run.quiet_by_contract = 1;
	Str s = written(report_write_text, (ReportOptions){0});
	assert_lacks(s, "first note");
	assert_has(s, "an error");
	assert_has(s, "1 error, 0 warnings, 1 note in 0 graphs of 1 file (contract auto)\n"
				  "1 note not shown: --show=note shows it\n"
				  "1 boundary relies on what AOTAutograd keeps: --contract fresh shows it\n");
	fake.cfg.show = SEV_NOTE;
	s = written(report_write_text, (ReportOptions){0});
	assert_has(s, "first note");
	assert_lacks(s, "not shown");
	assert_has(s, "the contract in force keeps this");
	fake.cfg.show = SEV_ERROR;
	add(SEV_WARNING, "GL101", span_of(fake.file, "return"), "a warning");
	s = written(report_write_text, (ReportOptions){0});
	assert_lacks(s, "a warning");
	assert_has(s, "1 warning and 1 note not shown: --show=note shows them\n");
	assert_lacks(written(report_write_text, (ReportOptions){.quiet = true}), "not shown");
}

static void summary_names_the_contract(void **state)
{
	(void)state;
	fake.cfg.contract = (Contract){CONTRACT_FRESH, KEEP_STRIDES, 0};
	assert_text(written(report_write_text, (ReportOptions){0}),
		"0 errors, 0 warnings, 0 notes in 0 graphs of 1 file (contract fresh, switches changed)\n");
}

static void unread_places_are_counted(void **state)
{
	(void)state;
	FileId other = add_file("b.log", S("a\nb\n"));
	diag_unread(&fake.run.diags, span_of(fake.file, "view"), "why");
	diag_unread(&fake.run.diags, span_of(fake.file, "return"), "why");
	diag_truncated(&fake.run.diags, span_of(other, "b"), "why");
	fake.run.diags.unread.v[1].incomplete = false;
	assert_has(written(report_write_text, (ReportOptions){0}), "2 places in 2 files could not be read");
}

static void repeats_are_folded(void **state)
{
	(void)state;
	Buf text = {.a = &fake.a};
	for (int i = 0; i < 10; i++)
		buf_printf(&text, "    view_%d = x_%d.view(%d, -1)\n", i, i, i * 100);
	buf_printf(&text, "    view_x = x.view(-1)\n");
	FileId f = add_file("r.txt", buf_str(&text));
	for (uint32_t i = 0; i < 11; i++) {
		uint32_t at = source_line_start(source_get(&fake.run.sources, f), i) + 4;
		add(SEV_WARNING, "GL101", (Span){f, at, at + 5}, "repeats")->group = S("view");
	}
	Str s = written(report_write_text, (ReportOptions){0});
	assert_has(s, "= and 9 more like this: forward at r.txt:2:5, forward at r.txt:3:5, forward at r.txt:4:5, "
				  "forward at r.txt:5:5, ...\n");
	assert_has(s, "--> r.txt:11:5\n"); /* another shape */
	assert_has(s, "0 errors, 11 warnings, 0 notes");
	/* another line of the user's program is another group, the same line one group */
	for (uint32_t i = 0; i < 11; i++)
		fake.run.diags.v.v[i].source = (UserSource){.file = S("m.py"), .line = 7 + (i == 5)};
	s = written(report_write_text, (ReportOptions){0});
	assert_has(s, "= and 9 more like this: ");
	assert_has(s, "--> r.txt:6:5\n");
	/* an error is never folded below a warning */
	fake.run.diags.v.v[3].severity = SEV_ERROR;
	assert_has(written(report_write_text, (ReportOptions){0}), "error[GL101] some-rule: repeats\n  --> r.txt:4:5\n");
}

static void long_chains_are_cut(void **state)
{
	(void)state;
	Finding *f = add(SEV_WARNING, "GL101", span_of(fake.file, "view"), "long");
	for (int i = 0; i < 500; i++)
		diag_stepf(&fake.run.diags, f, ROLE_ALIAS, f->span, "step %d.", i + 1);
	Str s = written(report_write_text, (ReportOptions){0});
	assert_has(s, "     16. alias    d/two.txt:3:5: step 16.\n    ... 476 steps not shown here: --format json has them\n"
				  "    493. alias    d/two.txt:3:5: step 493.\n");
	assert_has(s, "step 500.\n");
	assert_lacks(s, "step 17.");
}

static void untrusted_text_is_escaped(void **state)
{
	(void)state;
	FileId f = add_file("evil\x1b.log", S("a\x1b]0;x\x07 = \xe2\x80\xae" "b\xff\x07 \xe4\xb8\xad"));
	Finding *g = add(SEV_WARNING, "GL101", (Span){f, 0, 3}, "\x1b[2J gone");
	g->graph = S("\x1b[0m");
	g->suggestion = S("\xc2\x9b" "31m");
	g->source = (UserSource){S("m\x07.py"), S("f\x1b"), S("x\x1b = 1"), 3};
	diag_step(&fake.run.diags, g, ROLE_ALIAS, (Span){f, 10, 20}, S("\xe2\x80\xae"));
	for (int unicode = 0; unicode < 2; unicode++) {
		ReportOptions o = {.unicode = unicode, .width = unicode ? 60 : 0};
		Str texts[] = {written(report_write_text, o), written(report_write_concise, o)};
		for (int t = 0; t < 2; t++)
			for (uint32_t i = 0; i < texts[t].n; i++) {
				unsigned char c = (unsigned char)texts[t].p[i];
				assert_true(c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7f) || (unicode && c >= 0x80));
			}
		assert_has(texts[0], "a\\x1b]0;x\\x07 = \\u202eb\\xff\\x07");
		assert_has(texts[0], unicode ? "\xe4\xb8\xad" : "\\u4e2d");
		assert_lacks(texts[0], "\xe2\x80\xae");
		assert_has(texts[1], "evil\\x1b.log:1:1: warning: \\x1b[2J gone [GL101]\n");
	}
	Buf b = {.a = &fake.a};
	report_escape(&b, S("a\tb\nc\xf3\xa0\x81\x81\xc3\xa9"));
	assert_text(buf_str(&b), "a\\tb\\nc\\U000e0041\xc3\xa9");
}

/* A word of which the middle is left out ends at whole characters. */
static void long_words_are_cut(void **state)
{
	(void)state;
	Buf long_word = {.a = &fake.a}, out = {.a = &fake.a};
	for (uint32_t i = 0; i < 50000; i++)
		buf_add(&long_word, S("\xc3\xa4"));
	buf_char(&long_word, 'z');
	Str s = report_word(&fake.a, buf_str(&long_word));
	assert_true(s.n < 240);
	assert_true(str_starts(s, S("\xc3\xa4\xc3\xa4")) && str_ends(s, S("\xc3\xa4z")));
	assert_true(str_has(s, S("\xc3\xa4...\xc3\xa4")));
	report_words(&out, str_printf(&fake.a, "a " STR_FMT "  b ", STR_ARG(buf_str(&long_word))), true);
	assert_true(str_starts(buf_str(&out), S("a \xc3\xa4")) && str_ends(buf_str(&out), S("z  b ")));
	assert_true(out.n < 260);
	assert_true(str_eq(report_word(&fake.a, S("short")), S("short")));
}

static void lines_fit_the_terminal(void **state)
{
	(void)state;
	Finding *f = founding();
	f->message = S("a rather long sentence about output 0 of the graph `forward`, which is a view of input 0 if that is "
				   "contiguous, and about what follows from it");
	for (uint32_t width = 40; width < 200; width += 13) {
		Str s = written(report_write_text, (ReportOptions){.width = width, .quiet = true}), line;
		while (str_cut(&s, '\n', &line))
			assert_true(line.n <= width || !str_has(str_trim(line), S(" ")));
	}
}

static void no_place_and_no_source(void **state)
{
	(void)state;
	FileId empty = add_file("empty", S(""));
	add(SEV_WARNING, "GL903", (Span){0}, "nowhere");
	add(SEV_WARNING, "GL902", (Span){empty, 0, 0}, "empty file");
	add(SEV_WARNING, "GL902", (Span){fake.file, sizeof two_ops - 1, sizeof two_ops - 1}, "end of the file");
	Str s = written(report_write_text, (ReportOptions){0});
	assert_has(s, "--> <unknown>:1:1\n");
	assert_has(s, "--> empty:1:1\n");
	assert_has(s, "--> d/two.txt:4:19\n");
	written(report_write_json, (ReportOptions){0});
	written(report_write_concise, (ReportOptions){0});
}

/* ---- excerpts ---- */

static uint32_t columns(Str s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

static void assert_excerpt(Str line, uint32_t at, uint32_t end, bool unicode, const char *text, const char *carets)
{
	Excerpt x = excerpt_of(line, at, end, 20, unicode);
	Buf t = {.a = &fake.a}, c = {.a = &fake.a};
	excerpt_add_text(&x, &t);
	excerpt_add_carets(&x, &c);
	assert_text(buf_str(&t), text);
	assert_text(buf_str(&c), carets);
}

static void excerpts(void **state)
{
	(void)state;
	assert_excerpt(S(""), 0, 0, true, "", "^");
	assert_excerpt(S("abc"), 1, 2, true, "abc", " ^");
	assert_excerpt(S("abc"), 3, 3, true, "abc", "   ^");
	assert_excerpt(S("abc"), 7, 9, true, "abc", "   ^");
	assert_excerpt(S("abc"), 1, 1, true, "abc", " ^");
	assert_excerpt(S("\tab"), 1, 2, true, "\tab", "\t^");
	assert_excerpt(S("\xe4\xb8\xad" "ab"), 3, 4, true, "\xe4\xb8\xad" "ab", "  ^");
	assert_excerpt(S("\xe4\xb8\xad" "ab"), 3, 4, false, "\\u4e2dab", "      ^");
	assert_excerpt(S("e\xcc\x81x"), 3, 4, true, "e\xcc\x81x", " ^");
	assert_excerpt(S("0123456789abcdefghij"), 19, 20, true, "0123456789abcdefghij", "                   ^");
	assert_excerpt(S("0123456789abcdefghijk"), 0, 1, false, "0123456789abcd...", "^");
	assert_excerpt(S("0123456789abcdefghijk"), 20, 21, false, "...789abcdefghijk", "                ^");
	assert_excerpt(S("0123456789abcdefghijklmnopqrstuvwxyz"), 15, 17, false, "...cdefghijklmnop...", "      ^^");
	assert_excerpt(S("0123456789abcdefghijklmnopqrstuvwxyz"), 15, 17, true,
		"\xe2\x80\xa6" "bcdefghijklmnopqrs\xe2\x80\xa6", "     ^^");
}

static void long_lines_are_cut(void **state)
{
	(void)state;
	enum { N = 300000 };
	char *p = arena_alloc(&fake.a, N);
	memset(p, 'x', N);
	for (uint32_t at = 0; at < N; at += 9973) {
		Excerpt x = excerpt_of((Str){p, N}, at, N, 80, true);
		Buf t = {.a = &fake.a}, c = {.a = &fake.a};
		excerpt_add_text(&x, &t);
		excerpt_add_carets(&x, &c);
		assert_true(columns(buf_str(&t)) <= 80);
		assert_true(columns(buf_str(&c)) <= 80);
		assert_true(x.from <= at && at < x.to);
	}
	/* marks that combine take no columns: they must not make the excerpt endless */
	for (uint32_t i = 0; i + 1 < N; i += 2)
		memcpy(p + i, "\xcc\x81", 2);
	Excerpt x = excerpt_of((Str){p, N}, N / 2, N / 2 + 2, 80, true);
	assert_true(x.to - x.from < 2000);
	/* the report on such a line */
	memset(p, 'x', N);
	FileId f = add_file("long", (Str){p, N});
	Finding *g = add(SEV_WARNING, "GL101", (Span){f, 150000, 290000}, "long line");
	g->source = (UserSource){S("m.py"), S("f"), (Str){p, N}, 1};
	diag_step(&fake.run.diags, g, ROLE_ALIAS, (Span){f, 10, 200000}, S("step"));
	for (uint32_t width = 0; width <= 100; width += 50) {
		Str s = written(report_write_text, (ReportOptions){.width = width, .quiet = true}), line;
		while (str_cut(&s, '\n', &line))
			assert_true(line.n < (width ? width : 160));
	}
}

static void places_on_long_lines(void **state)
{
	(void)state;
	Buf t = {.a = &fake.a};
	buf_add(&t, S("first line\n"));
	for (int i = 0; i < 20000; i++)
		buf_add(&t, i % 3 == 0 ? S("a") : i % 3 == 1 ? S("\xc3\xa9") : i % 7 ? S("\xf0\x9f\x98\x80") : S("\xff"));
	buf_add(&t, S("\r\nlast"));
	FileId f = add_file("wide", buf_str(&t));
	const Source *s = source_get(&fake.run.sources, f);
	Places p = places_new(&fake.run.sources, &fake.a);
	for (uint32_t at = 0; at <= s->text.n + 3; at += at > 4090 && at < 4110 ? 1 : 37) {
		uint32_t to = at < s->text.n ? at : s->text.n;
		LineCol got = place_of(&p, f, at), want = source_line_col(s, to);
		assert_int_equal(got.line, want.line);
		assert_int_equal(got.col, want.col);
	}
}

/* ---- the formats for programs ---- */

static void concise(void **state)
{
	(void)state;
	founding();
	add(SEV_NOTE, "GL204", span_of(fake.file, "return"), "hidden");
	assert_text(written(report_write_concise, (ReportOptions){.color = true, .width = 40}),
		"d/two.txt:3:5: warning: output 0 is a view [GL101]\n");
}

static Graph *add_graph(const char *name)
{
	Graph *g = graph_add(&fake.run.program, &fake.a);
	g->name = sym_intern(&fake.names, str_from_c(name));
	g->file = fake.file;
	return g;
}

static NodeId add_node(Graph *g, NodeKind kind, const char *name)
{
	Node n = {.kind = (uint8_t)kind, .name = sym_intern(&fake.names, str_from_c(name))};
	n.target = n.name;
	return graph_add_node(g, n, NULL, 0);
}

static void json_empty(void **state)
{
	(void)state;
	assert_text(written(report_write_json, (ReportOptions){0}),
		"{\n"
		"  \"version\": \"0.1.0\",\n"
		"  \"tool\": \"graphlint\",\n"
		"  \"schema\": 1,\n"
		"  \"contract\": \"auto\",\n"
		"  \"findings\": [],\n"
		"  \"graphs\": [],\n"
		"  \"frames\": [],\n"
		"  \"unread\": []\n"
		"}\n");
}

static void json_finding(void **state)
{
	(void)state;
	founding();
	assert_has(written(report_write_json, (ReportOptions){0}),
		"\n    {\"rule\":\"GL101\",\"name\":\"output-aliases-input\",\"severity\":\"warning\",\"message\":\"output 0 is a view\","
		"\"file\":\"d/two.txt\",\"line\":3,\"column\":5,\"endLine\":3,\"endColumn\":40,\"graph\":\"forward\",\"compile_id\":null,"
		"\"output\":0,\"input\":0,\"attribute\":null,\"certainty\":\"may\",\"condition\":\"`x` is contiguous\","
		"\"observable\":\"unknown\",\"why\":null,\"contracts\":[\"fresh\",\"strict\"],\"other_output\":null,\"suggestion\":\"clone it\","
		"\"source\":{\"file\":\"m.py\",\"line\":41,\"function\":\"attend\"},"
		"\"evidence\":[{\"file\":\"d/two.txt\",\"line\":1,\"column\":19,\"text\":\"enters the graph\",\"role\":\"boundary\"},"
		"{\"file\":\"d/two.txt\",\"line\":3,\"column\":5,\"text\":\"same memory\",\"role\":\"alias\"}],"
		"\"fingerprint\":null,\"suppressed\":null}\n");
}

static void json_notes_are_not_hidden(void **state)
{
	(void)state;
	add(SEV_NOTE, "GL903", span_of(fake.file, "view"), "a note");
	Str s = written(report_write_json, (ReportOptions){0});
	assert_has(s, "\"severity\":\"note\"");
	assert_has(s, "\"output\":null,\"input\":null,\"attribute\":null,\"certainty\":null,\"condition\":null,\"observable\":null,\"why\":null,"
				  "\"contracts\":[],");
}

static void json_graphs(void **state)
{
	(void)state;
	Graph *g = add_graph("forward"), *again = add_graph("forward"), *old = add_graph("given_up"), *body = add_graph("body");
	Graph *lost = add_graph("body_of_old"), *aot = add_graph("Forward graph 0");
	NodeId in = add_node(g, NK_PLACEHOLDER, "x");
	NodeId attr = add_node(g, NK_GET_ATTR, "w"), view = add_node(g, NK_CALL, "view");
	VEC_PUSH(&fake.a, &g->inputs, in);
	VEC_PUSH(&fake.a, &g->outputs, ((Output){.arg = {.kind = AR_NODE, .u.node = view}}));
	VEC_PUSH(&fake.a, &g->outputs, ((Output){.arg = {.kind = AR_INT, .u.num = 3}}));
	again->printing_of = g->id;
	old->superseded = true;
	body->parent = body->of = g->id;
	body->stage = STAGE_BODY;
	lost->parent = old->id;
	aot->of = again->id;
	aot->stage = STAGE_AOT_FORWARD;
	aot->compile_id = sym_intern(&fake.names, S("1/0"));

	uint32_t of[] = {0};
	OutputSummary outs[] = {
		{.kind = ALIAS_VIEW_OF_INPUT, .certainty = TRI_MAY, .of = of, .nof = 1, .condition = S("c")},
		{.kind = ALIAS_NON_TENSOR, .certainty = TRI_MUST},
	};
	InputSummary ins[] = {{.data = TRI_MUST, .metadata = TRI_MAY}};
	AttrSummary attrs[] = {{.path = sym_intern(&fake.names, S("lin.weight")), .node = attr, .w = {.data = TRI_MAY}}};
	Summary sum = {.outputs = outs, .inputs = ins, .attrs = attrs, .nattrs = 1};
	fake.run.summaries = NEW_N(&fake.a, Summary *, fake.run.program.graphs.n);
	fake.run.summaries[g->id.i] = &sum;

	Str s = written(report_write_json, (ReportOptions){0});
	assert_has(s,
		"    {\"id\":\"g1\",\"name\":\"forward\",\"stage\":\"fx\",\"of\":null,\"compile_id\":null,\"file\":\"d/two.txt\",\"line\":1,"
		"\"attributes\":[{\"name\":\"self.lin.weight\",\"mutated\":\"may\"}],"
		"\"inputs\":[{\"name\":\"x\",\"mutated\":\"must\",\"metadata_mutated\":\"may\"}],"
		"\"outputs\":[{\"name\":\"view\",\"alias\":\"maybe_view_of_input\",\"of\":[0],\"condition\":\"c\"},"
		"{\"name\":null,\"alias\":\"non_tensor\",\"of\":[],\"condition\":null}],\"calls\":[]}");
	assert_has(s, "{\"id\":\"g4\",\"name\":\"body\",\"stage\":\"body\",\"of\":\"g1\"");
	assert_has(s, "{\"id\":\"g6\",\"name\":\"Forward graph 0\",\"stage\":\"aot_forward\",\"of\":\"g1\",\"compile_id\":\"1/0\"");
	assert_lacks(s, "\"g2\"");
	assert_lacks(s, "given_up");
	assert_lacks(s, "body_of_old");
	/* without a summary nothing is known */
	fake.run.summaries = NULL;
	s = written(report_write_json, (ReportOptions){0});
	assert_has(s, "\"mutated\":\"may\",\"metadata_mutated\":\"may\"");
	assert_has(s, "{\"name\":\"view\",\"alias\":\"unknown\",\"of\":[],\"condition\":null}");
	/* the summary line counts captured graphs: no bodies, no AOT forms */
	assert_has(written(report_write_text, (ReportOptions){0}), " in 1 graph of 1 file (contract auto: ");
}

static void json_frames_and_unread(void **state)
{
	(void)state;
	Frame f = {.name = sym_intern(&fake.names, S("f")), .modified = true, .dump = fake.file, .at = span_of(fake.file, "view").at};
	VEC_PUSH(&fake.a, &fake.run.program.frames, f);
	f.modified = false;
	f.compile_id = sym_intern(&fake.names, S("0/0"));
	VEC_PUSH(&fake.a, &fake.run.program.frames, f);
	diag_unread(&fake.run.diags, span_of(fake.file, "return"), "\xff");
	Str s = written(report_write_json, (ReportOptions){0});
	assert_has(s, "{\"name\":\"f\",\"kind\":\"modified\",\"compile_id\":null,\"file\":\"d/two.txt\",\"line\":3,\"calls\":[]},");
	assert_has(s, "\"kind\":\"original\",\"compile_id\":\"0/0\"");
	assert_has(s, "{\"file\":\"d/two.txt\",\"line\":4,\"why\":\"\xef\xbf\xbd\"}");
}

static void writers(void **state)
{
	(void)state;
	assert_ptr_equal(report_find(S("text")), &report_writers[0]);
	assert_non_null(report_find(S("json")));
	assert_null(report_find(S("jso")));
	assert_null(report_find(S("")));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whole_report), TEST(colours_only_where_asked), TEST(notes_are_hidden_and_counted),
		TEST(summary_names_the_contract), TEST(unread_places_are_counted), TEST(repeats_are_folded),
		TEST(long_chains_are_cut), TEST(untrusted_text_is_escaped), TEST(long_words_are_cut),
		TEST(lines_fit_the_terminal),
		TEST(no_place_and_no_source), TEST(excerpts), TEST(long_lines_are_cut), TEST(places_on_long_lines),
		TEST(concise), TEST(json_empty), TEST(json_finding), TEST(json_notes_are_not_hidden), TEST(json_graphs),
		TEST(json_frames_and_unread), TEST(writers),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
