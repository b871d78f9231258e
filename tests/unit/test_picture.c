/* SPDX-License-Identifier: MIT
 * The picture of a program: its rows, the lanes of memory beside them, and which row a step of a finding lights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "report.h"
#include "report_common.h"
#include "report_picture.h"
#include "report_svg.h"
#include "where.h"

typedef struct World {
	Arena a;
	Tables tables;
	Config cfg;
	Run run;
	FindingList list;
	Picture *picture;
} World;

static World w;

static const char two_graphs[] =
	"def forward(self, x : torch.Tensor, y : torch.Tensor):\n"
	"    view = x.view(-1)\n"
	"    add_ = view.add_(1)\n"
	"    return (view, y)\n"
	"\n"
	"def forward(self, z : torch.Tensor):\n"
	"    sin = z.sin()\n"
	"    return (sin,)\n";

static void analyse(Str text)
{
	Str why;
	w = (World){.a = arena_new(NULL), .cfg = config_default()};
	tables_init(&w.tables);
	run_init(&w.run, &w.tables, &w.cfg);
	assert_true(sources_add_bytes(&w.run.sources, S("log.txt"), text, 0, &why).i != 0);
	run_analyse(&w.run);
	Groups groups = groups_make(&w.run, &w.a);
	w.list = groups_at_least(&w.run, &groups, SEV_NOTE, &w.a);
	w.picture = picture_make(&w.run, &w.list, &w.a);
}

static int teardown(void **state)
{
	(void)state;
	run_free(&w.run);
	tables_free(&w.tables);
	arena_free(&w.a);
	return 0;
}

static uint32_t line_of(const PicRow *row)
{
	Places places = places_new(&w.run.sources, &w.a);
	return row->span.file.i ? place_of(&places, row->span.file, row->span.at).line : 0;
}

/* The first row of a kind, from `from` on. */
static const PicRow *row_of(PicKind kind, uint32_t from)
{
	for (uint32_t i = from; i < w.picture->rows.n; i++)
		if (w.picture->rows.v[i].kind == kind)
			return &w.picture->rows.v[i];
	return NULL;
}

static void rows_and_lanes(void **state)
{
	(void)state;
	analyse(S(two_graphs));
	const PicRow *graph = row_of(PIC_GRAPH, 0), *in = row_of(PIC_INPUT, 0), *step = row_of(PIC_STEP, 0), *out = row_of(PIC_OUTPUT, 0);
	assert_non_null(graph);
	assert_int_equal(line_of(graph), 1);
	assert_true(graph->index > 0 && !graph->folded);
	assert_int_equal(in->mark, PIC_MARK_PASSES);
	assert_int_equal(line_of(out), 4);
	assert_true(in->lane != PIC_NO_LANE && in->lane == out->lane && step->lane == in->lane);
	const PicLane *lane = &w.picture->lanes.v[in->lane];
	assert_true(lane->color > 0 && lane->column != PIC_NO_LANE && lane->first < lane->last);
	bool writes = false;
	for (uint32_t i = 0; i < w.picture->rows.n; i++)
		writes |= w.picture->rows.v[i].mark == PIC_MARK_WRITES && line_of(&w.picture->rows.v[i]) == 3;
	assert_true(writes);
	const PicRow *other = row_of(PIC_GRAPH, 1 + (uint32_t)(graph - w.picture->rows.v));
	assert_int_equal(line_of(other), 6);
	assert_null(row_of(PIC_INPUT, 1 + (uint32_t)(other - w.picture->rows.v)));
}

static void rows_know_their_owner_and_are_in_order(void **state)
{
	(void)state;
	analyse(S(two_graphs));
	for (uint32_t i = 0; i < w.picture->rows.n; i++) {
		const PicRow *row = &w.picture->rows.v[i], *owner = &w.picture->rows.v[row->owner];
		assert_true(row->owner <= i);
		assert_true(owner->kind == PIC_GRAPH || row->owner == i);
		assert_true(!i || line_of(row) >= line_of(row - 1));
	}
	for (uint32_t i = 0; i < w.picture->lanes.n; i++)
		for (uint32_t k = 0; k < i; k++) {
			const PicLane *a = &w.picture->lanes.v[i], *b = &w.picture->lanes.v[k];
			assert_true(a->column != b->column || a->first > b->last || b->first > a->last);
		}
}

static void steps_have_rows(void **state)
{
	(void)state;
	analyse(S(two_graphs));
	uint32_t steps = 0;
	for (uint32_t i = 0; i < w.run.diags.v.n; i++) {
		const Finding *f = &w.run.diags.v.v[i];
		for (uint32_t k = 0; k < f->steps.n; k++, steps++) {
			uint32_t row = picture_row_of(w.picture, f, &f->steps.v[k]);
			assert_true(row > 0 && row <= w.picture->rows.n);
			assert_int_equal(line_of(&w.picture->rows.v[row - 1]), place_of(&(Places){.sources = &w.run.sources, .a = &w.a},
				f->steps.v[k].span.file, f->steps.v[k].span.at).line);
		}
	}
	assert_true(steps > 4);
}

/* Rows of a graph are bounded, those that findings name apart; of many graphs those without errors are one row. */
static void bounded(void **state)
{
	(void)state;
	Arena a = arena_new(NULL);
	Buf b = {.a = &a};
	buf_add(&b, S("def forward(self, x : torch.Tensor):\n    sin = x.sin()\n    return ("));
	for (int i = 0; i < 3000; i++)
		buf_add(&b, S("sin, "));
	buf_add(&b, S(")\n"));
	analyse(buf_str(&b));
	assert_true(w.picture->rows.n < 200);
	assert_non_null(row_of(PIC_MORE, 0));
	teardown(NULL);
	b.n = 0;
	for (int i = 0; i < 2200; i++)
		buf_printf(&b, "def forward(self, x%d : torch.Tensor):\n    v%d = x%d.view(-1, %d)\n    return (v%d,)\n\n", i, i, i, i, i);
	analyse(buf_str(&b));
	assert_int_equal(w.picture->rows.n, 2200);
	arena_free(&a);
}

static void text_in_xml(void **state)
{
	(void)state;
	analyse(S(two_graphs));
	Buf b = {.a = &w.a};
	svg_text(&b, S("<a href=\"x\">'&\x1b\xe2\x80\xae\xff"));
	assert_string_equal(str_to_c(&w.a, buf_str(&b)), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\\x1b\\u202e\\xff");
	b.n = 0;
	svg_head(&b, S("abcdef"), 3);
	assert_string_equal(str_to_c(&w.a, buf_str(&b)), "abc\xe2\x80\xa6");
}

static void places_know_their_graph(void **state)
{
	(void)state;
	analyse(S(two_graphs));
	WhereIndex index = where_index(&w.run.program, &w.a);
	FileId file = {1};
	uint32_t add = str_find(S(two_graphs), S("add_ ="), 0), sin = str_find(S(two_graphs), S("sin ="), 0);
	Where in_first = where_of(&index, (Span){file, add, add + 1}), in_second = where_of(&index, (Span){file, sin, sin + 1});
	assert_non_null(in_first.graph);
	assert_non_null(in_second.graph);
	assert_ptr_not_equal(in_first.graph, in_second.graph);
	assert_true(in_first.node.i && in_first.depth == 1);
	assert_null(where_of(&index, (Span){file, sizeof two_graphs - 1, sizeof two_graphs - 1}).graph);
	assert_null(where_of(&index, (Span){{0}, 3, 4}).graph);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(rows_and_lanes, teardown),
		cmocka_unit_test_teardown(rows_know_their_owner_and_are_in_order, teardown),
		cmocka_unit_test_teardown(steps_have_rows, teardown),
		cmocka_unit_test_teardown(bounded, teardown),
		cmocka_unit_test_teardown(text_in_xml, teardown),
		cmocka_unit_test_teardown(places_know_their_graph, teardown),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("picture", tests, NULL, NULL);
}
