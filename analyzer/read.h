/* SPDX-License-Identifier: MIT
 * read: artifacts -> IR. One function per printed form; each adds graphs to the program and tells through
 * diags what it could not read. */
#ifndef GRAPHLINT_READ_H
#define GRAPHLINT_READ_H

#include "base.h"
#include "source.h"
#include "diag.h"
#include "config.h"
#include "types.h"
#include "ir.h"
#include "split.h"

/* What every reader works with. */
typedef struct Reader {
	Program *program;
	Types *types;
	Diags *diags;
	const Config *cfg;
	Arena *keep;    /* artifact lifetime: graphs go here */
	Arena *life;    /* as long as the reader: its parser */
	Arena *scratch; /* rewound by the caller after each artifact */
	Arena tmp;      /* what one parsed group of statements needs */
	void *parser;   /* PyParser, reused over all artifacts; made by the first reader that needs it */
} Reader;

Reader reader_new(Program *p, Types *t, Diags *d, const Config *cfg, Arena *keep, Arena *scratch);
void reader_free(Reader *r);

/* Printed forward code: class and def forms, nested classes. Adds one graph and its nested bodies. */
void read_code(Reader *r, ArtifactId id, const Artifact *art, const Text *text);
/* print(gm.graph) text: graph(): and %name lines, [num_users=N] and [#users=N]. */
void read_graph_text(Reader *r, ArtifactId id, const Artifact *art, const Text *text);
/* print_tabular tables, as in logs of 2022, 2.0 to 2.2. */
void read_graph_table(Reader *r, ArtifactId id, const Artifact *art, const Text *text);
/* The nn.Module repr of print(gm): classes of child modules. */
void read_module_tree(Reader *r, ArtifactId id, const Artifact *art, const Text *text);
/* Header of a bytecode listing: a frame. */
void read_frame_header(Reader *r, ArtifactId id, const Artifact *art);
/* A bytecode listing: a frame with its code, and one for each nested code object that dis.dis printed below it. */
void read_bytecode(Reader *r, ArtifactId id, const Artifact *art, const Text *text);

/* Inductor's generated code: its `call` function as a graph of stage inductor. Text without one adds nothing. */
void read_output_code(Reader *r, ArtifactId id, const Artifact *art, const Text *text);

/* Sets what a graph inherits from its artifact: name, stage, compile id, process, versions, header place. */
void reader_graph_from(Reader *r, Graph *g, ArtifactId id, const Artifact *art);

#endif
