/* SPDX-License-Identifier: MIT
 * The language server: a line of the input is the body of a message. Between messages it works, as it would in a pause of
 * the client's. Everything that it says must be a frame around JSON. */
#include "fuzz.h"

#include <jansson.h>

#include "lsp_server.h"

enum { MESSAGES_MOST = 200 };

static void take(LspServer *l, Str bytes)
{
	char *at = rpc_space(&l->in, bytes.n + 1);
	ASSERT(at);
	memcpy(at, bytes.p, bytes.n);
	rpc_added(&l->in, bytes.n);
	lsp_handle(l);
}

static void message(LspServer *l, Arena *a, Str body)
{
	Buf frame = {.a = a};
	rpc_frame(&frame, body);
	take(l, buf_str(&frame));
}

static void check_out(LspServer *l)
{
	RpcIn in;
	Str body;
	const char *why;
	rpc_init(&in, LSP_MESSAGE_MOST);
	char *at = rpc_space(&in, l->out.n + 1);
	if (l->out.n)
		memcpy(at, l->out.p, l->out.n);
	rpc_added(&in, l->out.n);
	RpcResult r;
	while ((r = rpc_next(&in, &body, &why)) == RPC_BODY) {
		json_error_t error;
		json_t *doc = json_loadb(body.p, body.n, JSON_ALLOW_NUL, &error);
		ASSERT(doc);
		json_decref(doc);
	}
	ASSERT(r == RPC_MORE && in.at == in.b.n);
	rpc_free(&in);
	bytes_free(&l->out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena a = arena_new(NULL);
	LspServer l;
	Str rest = fuzz_str(data, size), line;
	uint32_t n = 0;
	lsp_init(&l);
	message(&l, &a,
	        S("{\"id\":0,\"method\":\"initialize\",\"params\":{\"capabilities\":{\"textDocument\":{\"publishDiagnostics\":"
	          "{\"relatedInformation\":true,\"dataSupport\":true},\"documentSymbol\":{\"hierarchicalDocumentSymbolSupport\":true}}},"
	          "\"initializationOptions\":{\"contract\":\"fresh\"}}}"));
	while (n++ < MESSAGES_MOST && l.phase != LSP_GONE && str_cut(&rest, '\n', &line)) {
		if (line.n && line.p[0] == '!') /* raw bytes */
			take(&l, str_sub(line, 1, line.n));
		else
			message(&l, &a, line);
		if (lsp_has_work(&l))
			lsp_work(&l);
		check_out(&l);
	}
	lsp_free(&l);
	arena_free(&a);
	return 0;
}
