/* SPDX-License-Identifier: MIT
 * lsp_server: the language server (LSP 3.17) without its pipes: bytes in, bytes out, work in between.
 *
 * One thread. An analysis calls back now and then (Budget.pulse) where nothing is half built; what has come in by
 * then is handled at once, and answered from the last finished analysis. A change of the text that is being analysed
 * ends that analysis. */
#ifndef GRAPHLINT_LSP_SERVER_H
#define GRAPHLINT_LSP_SERVER_H

#include "base.h"
#include "json_in.h"
#include "lsp_rpc.h"
#include "lsp_text.h"
#include "run.h"

/* Bytes of one message. */
#define LSP_MESSAGE_MOST ((uint64_t)1 << 30)

/* What the client says it can do. */
typedef struct LspClient {
	PosEncoding encoding;
	bool related, code_description, diagnostic_data, pull, refresh, hierarchical, progress, configuration, watch,
		inlay_refresh, creates;
} LspClient;

typedef struct LspSettings {
	Arena a;
	VEC(Str) args;          /* as on the command line: --contract=fresh */
	VEC(Str) paths;         /* dumps on disk, read as one program, relative to the workspace folder */
	bool sources;           /* findings on lines of open Python files too */
	bool hints;
} LspSettings;

/* A change of a document since the text that was analysed last. */
typedef struct DocEdit {
	uint32_t at, end, added; /* bytes of the text before it */
} DocEdit;

typedef struct LspDoc {
	Arena a;                /* of the strings and edits */
	Str uri, path;          /* path: of a file: URI, else the URI */
	bool open, python;
	int64_t version;
	DocText text;
	VEC(DocEdit) edits;     /* since `analysed` */
	bool edits_lost;        /* more than are kept, or the whole text was given anew */
	uint32_t unit;          /* LspServer.units, plus 1; 0 none */
	uint64_t published;     /* hash of the diagnostics last sent; 0 never */
} LspDoc;

/* A file that a unit reads. */
typedef struct UnitFile {
	Str uri, path;
	uint32_t doc;           /* open document, plus 1; 0: read from disk */
	FileId id;              /* in the run; 0: could not be read */
	uint32_t skip;          /* bytes of the document before the source's text: a byte order mark */
	LineIndex lines;        /* of a file on disk, when it was asked for */
} UnitFile;

/* A part of a file: what a graph or a frame covers. */
typedef struct Region {
	uint32_t at, end;
	uint32_t outer;         /* Snapshot.regions of the same file, plus 1; 0 none */
	GraphId graph;
	FrameRef frame;         /* of one of the two */
} Region;

/* A finished analysis; what requests are answered from. */
typedef struct Snapshot {
	bool ready;
	Arena a;
	Run run;
	VEC(UnitFile) files;
	struct {
		Region *v;
		uint32_t n;
	} *regions;             /* by FileId, made when asked for */
} Snapshot;

/* What is analysed together: an open document, or the paths of the settings. */
typedef struct Unit {
	bool used, dirty, tables_ready;
	bool group;             /* the paths of the settings */
	uint32_t doc;           /* else the document, plus 1 */
	Arena a;                /* types, options */
	Tables tables;
	Types *types;
	ReadCache *cache;
	Config cfg;
	Str baseline, config;   /* paths of the files in force; empty none */
	Snapshot snap[2];
	int now;                /* the finished one; -1 none */
	uint32_t runs, reread, artifacts, frames; /* graphlint/stats, of the last run */
} Unit;

/* A request that waits for the analysis of the text as it is. */
typedef struct Waiting {
	Str id;                 /* the JSON of the id */
	Str uri, previous;      /* document, previousResultId */
	Arena a;
} Waiting;

typedef enum LspPhase { LSP_NEW, LSP_READY, LSP_SHUT, LSP_GONE } LspPhase;

typedef struct LspServer {
	Arena a;                /* as long as the server */
	Arena scratch;          /* of one message */
	LspPhase phase;
	int status;             /* of the process, when GONE */
	RpcIn in;
	Bytes out;              /* frames to be written */
	LspClient client;
	Str root;               /* path of the workspace folder; empty none */
	LspSettings settings;
	VEC(LspDoc) docs;
	VEC(Unit *) units;
	VEC(Waiting) waiting;
	Budget budget;          /* of the analysis that runs */
	uint32_t running;       /* its unit, plus 1; 0 none */
	void (*poll)(void *ctx); /* takes in what has come: called from within an analysis; NULL: nobody listens then */
	void *poll_ctx;
	bool in_message;        /* a pulse inside a message takes no further one in */
	uint32_t next_id;       /* of our own requests */
	uint32_t progress; /* progress: number of the token in use; 0 none */
	uint32_t progress_pct;
} LspServer;

void lsp_init(LspServer *l);
void lsp_free(LspServer *l);
/* Handles the whole messages that are in l->in. */
void lsp_handle(LspServer *l);
/* Is there something to analyse? */
bool lsp_has_work(const LspServer *l);
/* Analyses one unit, or ends early when its text changed. */
void lsp_work(LspServer *l);

#endif
