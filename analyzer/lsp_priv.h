/* SPDX-License-Identifier: MIT
 * lsp_priv: what the parts of the language server share. */
#ifndef GRAPHLINT_LSP_PRIV_H
#define GRAPHLINT_LSP_PRIV_H

#include "json.h"
#include "lsp_server.h"

/* Error codes of JSON-RPC and LSP 3.17. */
enum {
	LSP_PARSE_ERROR = -32700,
	LSP_INVALID_REQUEST = -32600,
	LSP_METHOD_NOT_FOUND = -32601,
	LSP_INVALID_PARAMS = -32602,
	LSP_INTERNAL_ERROR = -32603,
	LSP_NOT_INITIALIZED = -32002,
	LSP_CANCELLED = -32800,
	LSP_REQUEST_FAILED = -32803
};

/* ---- messages out (lsp_server.c) ---- */

/* A message is begun, filled through m->j, and sent. Text lives in l->scratch. The writer points into the message, which
 * therefore stays where it is. */
typedef struct Message {
	Buf text;
	Json j;
} Message;

void message_new(LspServer *l, Message *m);
void message_send(LspServer *l, Message *m);
/* Up to the value of "params", which the caller writes. */
void notify_begin(LspServer *l, Message *m, Str method);
void request_begin(LspServer *l, Message *m, Str method);
void lsp_reply_error(LspServer *l, Str id, int code, Str why);
void lsp_show(LspServer *l, int type, Str text); /* window/showMessage: 1 error .. 4 log */

static inline void put_str(Json *j, Str key, Str v)
{
	json_key(j, key);
	json_str(j, v);
}

static inline void put_int(Json *j, Str key, int64_t v)
{
	json_key(j, key);
	json_int(j, v);
}

static inline void put_bool(Json *j, Str key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}

/* {"line": .., "character": ..} below a key, and {"start": .., "end": ..}. */
void put_position(Json *j, Str key, LspPos p);
void put_positions(Json *j, LspPos from, LspPos to);
/* Reads a position; false when it is none. */
bool lsp_position(const JsonIn *v, LspPos *out);

/* ---- documents and units (lsp_unit.c) ---- */

LspDoc *lsp_doc(LspServer *l, Str uri); /* an open one; NULL */
LspDoc *lsp_doc_open(LspServer *l, Str uri, Str language, int64_t version, Str text);
void lsp_doc_close(LspServer *l, LspDoc *d);
/* One change of the text: of bytes [at, end). */
bool lsp_doc_change(LspServer *l, LspDoc *d, uint32_t at, uint32_t end, Str with);
/* Settings, rules or files on disk changed: everything is read again. */
void lsp_units_reset(LspServer *l);
void lsp_unit_touch(LspServer *l, Unit *u);
Str lsp_path_of(Str uri, Arena *a);
Str lsp_uri_of(Str path, Arena *a);
Str lsp_percent_decode(Str s, Arena *a);
/* The unit's finished analysis; NULL: none yet. */
Snapshot *unit_snapshot(Unit *u);
void lsp_units_free(LspServer *l);
/* The analysis is of the text as it is now. */
bool lsp_doc_settled(LspServer *l, const LspDoc *d);

/* ---- places (lsp_find.c) ---- */

/* Where a request points. */
typedef struct Place {
	Unit *unit;
	Snapshot *snap;
	UnitFile *file;
	const Source *src;
	uint32_t at;           /* offset in the source */
	Str word;              /* identifier there, with its place; may be empty */
	uint32_t word_at;
	const Graph *graph;    /* innermost; NULL none */
	FrameRef frame;        /* 0 none */
} Place;

/* A byte of the source as it stands in the document now; false: it was changed away. */
bool place_forward(LspServer *l, const UnitFile *f, uint32_t at, uint32_t *out);
/* Looks up textDocument and position of a request. False: no analysed document. */
bool place_find(LspServer *l, const JsonIn *params, Place *out);
/* The document of params.textDocument: its unit, analysis and file. */
bool place_file(LspServer *l, const JsonIn *params, Place *out);
/* Writes {"start": .., "end": ..} of a span; whole lines where the text was changed away. */
void put_range(LspServer *l, Snapshot *s, Json *j, Span span);
void put_location(LspServer *l, Snapshot *s, Json *j, Span span);
Str span_uri(Snapshot *s, Span span);
/* The regions of a file, in order, outer ones first. */
uint32_t snapshot_regions(Snapshot *s, FileId file, const Region **out);
/* Node of a name within a graph; 0 none. */
NodeId graph_named(const Run *r, const Graph *g, Str name);
/* The statement at an offset; 0 none. */
NodeId graph_statement(const Graph *g, uint32_t at);
/* Where a node's name stands in its statement; the statement when it does not. */
Span node_name_span(const Run *r, const Graph *g, NodeId id);
Str node_label(const Run *r, const Graph *g, NodeId id);
Span frame_span(const Run *r, FrameRef f);
/* Next place of a whole identifier in [at, end); `end` when there is none. */
uint32_t word_next(Str text, Str word, uint32_t at, uint32_t end);

/* ---- answers: each writes one JSON value ---- */

typedef struct Call {
	LspServer *l;
	const JsonIn *params;
	Json *j;
	Str id;        /* of the request, as JSON */
	int error;     /* set: no value was written */
	Str why;
	bool waits;    /* answered later */
} Call;

void lsp_hover(Call *c);
void lsp_definition(Call *c);
void lsp_references(Call *c);
void lsp_document_symbols(Call *c);
void lsp_workspace_symbols(Call *c);
void lsp_prepare_calls(Call *c);
void lsp_incoming_calls(Call *c);
void lsp_outgoing_calls(Call *c);
void lsp_folding(Call *c);
void lsp_inlay_hints(Call *c);
void lsp_code_actions(Call *c);
void lsp_execute(Call *c);
void lsp_pull(Call *c);
void lsp_pull_workspace(Call *c);

/* ---- diagnostics (lsp_diags.c) ---- */

/* Sends the diagnostics of all open documents that differ from what was sent last, and answers pulls that waited. */
void lsp_publish(LspServer *l);
void lsp_answer_waiting(LspServer *l);
/* Is it one that is shown: not suppressed, and of the level asked for? */
bool finding_shown(const Run *r, const Finding *f);
/* Calls f for every finding at a document: those in it, and those of dumps that name its lines. */
typedef void FindingFn(void *ctx, Snapshot *s, const Finding *f, Span at, bool source);
void findings_at(LspServer *l, const LspDoc *d, FindingFn *fn, void *ctx);

#endif
