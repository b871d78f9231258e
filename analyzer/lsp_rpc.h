/* SPDX-License-Identifier: MIT
 * lsp_rpc: frames of the language server protocol (3.17, base protocol): a header of lines, an empty line, and a body of
 * Content-Length bytes. Bytes in, bodies out; nothing here reads or writes a file. */
#ifndef GRAPHLINT_LSP_RPC_H
#define GRAPHLINT_LSP_RPC_H

#include "base.h"

/* A buffer that gives its memory back when it grows and when it is emptied. */
typedef struct Bytes {
	Arena a;
	char *p;
	uint32_t n, cap;
} Bytes;

/* Room for `more` further bytes behind those that are there. False: it would be 4 GiB or more. */
bool bytes_room(Bytes *b, uint64_t more);
bool bytes_add(Bytes *b, Str s);
void bytes_free(Bytes *b);

enum { RPC_HEADER_MOST = 8192 };

typedef struct RpcIn {
	Bytes b;
	uint32_t at;      /* consumed so far */
	uint64_t skip;    /* bytes of a body that is not wanted */
	uint64_t most;    /* bytes of a body */
	bool lost;        /* damage: looking for the next header */
} RpcIn;

typedef enum RpcResult {
	RPC_MORE,    /* nothing whole is there */
	RPC_BODY,    /* *body is good until the next call or rpc_add */
	RPC_FAULT    /* *why says what was wrong with a frame; it was passed over */
} RpcResult;

void rpc_init(RpcIn *r, uint64_t most);
void rpc_free(RpcIn *r);
/* A place for up to `n` bytes to be read into; then rpc_added says how many came. NULL: too much is waiting. */
char *rpc_space(RpcIn *r, uint32_t n);
void rpc_added(RpcIn *r, uint32_t n);
RpcResult rpc_next(RpcIn *r, Str *body, const char **why);
/* Adds a frame around a body. */
void rpc_frame(Buf *out, Str body);

#endif
