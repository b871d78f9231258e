/* SPDX-License-Identifier: MIT
 * Frames of the protocol, lines and positions in the three encodings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "lsp_text.h"

static void feed(RpcIn *r, Str s)
{
	char *p = rpc_space(r, s.n);
	assert_non_null(p);
	memcpy(p, s.p, s.n);
	rpc_added(r, s.n);
}

static void want(RpcIn *r, RpcResult result, Str body)
{
	Str got = {0};
	const char *why = NULL;
	assert_int_equal(rpc_next(r, &got, &why), result);
	if (result == RPC_BODY)
		assert_true(str_eq(got, body));
	if (result == RPC_FAULT)
		assert_non_null(why);
}

static void frames(void **state)
{
	(void)state;
	RpcIn r;
	Str s = S("Content-Length: 2\r\n\r\n{}content-length:3\r\nContent-Type: x\r\n\r\n[1]");
	rpc_init(&r, 100);
	for (uint32_t i = 0; i < s.n; i++) { /* byte by byte */
		Str body;
		const char *why;
		feed(&r, str_sub(s, i, i + 1));
		RpcResult got = rpc_next(&r, &body, &why);
		assert_int_equal(got, i == 22 || i == s.n - 1 ? RPC_BODY : RPC_MORE);
	}
	feed(&r, s);
	want(&r, RPC_BODY, S("{}"));
	want(&r, RPC_BODY, S("[1]"));
	want(&r, RPC_MORE, (Str){0});
	rpc_free(&r);
}

static void damaged_frames(void **state)
{
	(void)state;
	static const Str bad[] = {
		STR_INIT("Content-Length: x\r\n\r\n"), STR_INIT("Length: 2\r\n\r\n"), STR_INIT("Content-Length: -1\r\n\r\n"),
		STR_INIT("Content-Length: 99999999999999999999\r\n\r\n"), STR_INIT("Content-Length: 101\r\n\r\n"),
		STR_INIT("Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), STR_INIT("\r\n\r\n"), STR_INIT("{}\n\n"),
	};
	for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		RpcIn r;
		rpc_init(&r, 100);
		feed(&r, bad[i]);
		want(&r, RPC_FAULT, (Str){0});
		while (r.skip) /* a body that is too large is passed over to its end */
			feed(&r, S("x"));
		feed(&r, r.lost ? S("rubbish Content-Length: 2\r\n\r\n{}") : S("Content-Length: 2\r\n\r\n{}"));
		want(&r, RPC_BODY, S("{}"));
		rpc_free(&r);
	}
}

static void long_header(void **state)
{
	(void)state;
	RpcIn r;
	rpc_init(&r, 100);
	for (int i = 0; i < 9000; i++)
		feed(&r, S("x"));
	want(&r, RPC_FAULT, (Str){0});
	want(&r, RPC_MORE, (Str){0});
	feed(&r, S("Content-Length: 1\r\n\r\n1"));
	want(&r, RPC_BODY, S("1"));
	rpc_free(&r);
}

static void same_lines(const LineIndex *x, Str text)
{
	LineIndex y = {0};
	lines_build(&y, text);
	assert_int_equal(lines_count(x), lines_count(&y));
	for (uint32_t i = 0; i < lines_count(x); i++)
		assert_int_equal(lines_start(x, i), lines_start(&y, i));
	lines_free(&y);
}

/* Lines after any edit are those of the new text. */
static void edits(void **state)
{
	(void)state;
	static const Str pieces[] = {STR_INIT(""), STR_INIT("\n"), STR_INIT("\r"), STR_INIT("\r\n"), STR_INIT("a"),
	                             STR_INIT("\n\r"), STR_INIT("ab\r\ncd"), STR_INIT("\xf0\x9f\x98\x80")};
	DocText d = {0};
	uint64_t x = 1;
	assert_true(doc_set(&d, S("one\r\ntwo\rthree\n\n")));
	for (uint32_t i = 0; i < 4000; i++) {
		x = hash_u64(x + i);
		uint32_t at = (uint32_t)(x % (d.b.n + 1)), end = at + (uint32_t)(x >> 32) % 4;
		if (end > d.b.n)
			end = d.b.n;
		assert_true(doc_edit(&d, at, end, pieces[(x >> 50) % 8]));
		same_lines(&d.lines, doc_str(&d));
		if (d.b.n > 60)
			assert_true(doc_edit(&d, 10, 50, S("")));
		same_lines(&d.lines, doc_str(&d));
	}
	doc_free(&d);
}

static void positions(void **state)
{
	(void)state;
	DocText d = {0};
	assert_true(doc_set(&d, S("a\xc3\xa4\xf0\x9f\x98\x80z\r\n\xff\rq")));
	static const struct {
		PosEncoding enc;
		uint32_t line, character, offset;
	} rows[] = {
		{POS_UTF16, 0, 0, 0}, {POS_UTF16, 0, 2, 3}, {POS_UTF16, 0, 4, 7}, {POS_UTF16, 0, 5, 8},
		{POS_UTF8, 0, 3, 3}, {POS_UTF8, 0, 7, 7}, {POS_UTF32, 0, 2, 3}, {POS_UTF32, 0, 3, 7},
		{POS_UTF16, 1, 0, 10}, {POS_UTF16, 1, 1, 11}, {POS_UTF16, 2, 0, 12}, {POS_UTF16, 2, 1, 13},
	};
	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		PosMap m = posmap(doc_str(&d), &d.lines, rows[i].enc);
		assert_int_equal(pos_offset(&m, (LspPos){rows[i].line, rows[i].character}), rows[i].offset);
		LspPos p = pos_of(&m, rows[i].offset);
		assert_int_equal(p.line, rows[i].line);
		assert_int_equal(p.character, rows[i].character);
	}
	PosMap m = posmap(doc_str(&d), &d.lines, POS_UTF16);
	assert_int_equal(pos_offset(&m, (LspPos){0, 3}), 3); /* half of a pair: the character's beginning */
	assert_int_equal(pos_offset(&m, (LspPos){0, 99}), 8);
	assert_int_equal(pos_offset(&m, (LspPos){99, 0}), 13);
	assert_int_equal(pos_of(&m, 5).character, 2); /* inside it */
	doc_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames), cmocka_unit_test(damaged_frames), cmocka_unit_test(long_header),
		cmocka_unit_test(edits), cmocka_unit_test(positions),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
