/* SPDX-License-Identifier: MIT
 * From a position to what stands there, and back. */
#include "lsp_priv.h"

#include <stdlib.h>

#include "report_common.h"

/* ---- places move with edits ---- */

/* Bytes of the text that was analysed -> of the text now. */
bool place_forward(LspServer *l, const UnitFile *f, uint32_t at, uint32_t *out)
{
	const LspDoc *d = lsp_doc(l, f->uri);
	*out = at + f->skip;
	if (!d)
		return true;
	if (d->edits_lost)
		return false;
	for (uint32_t i = 0; i < d->edits.n; i++) {
		const DocEdit *e = &d->edits.v[i];
		if (*out < e->at || (*out == e->at && e->at == e->end))
			continue;
		if (*out < e->end)
			return false;
		*out = *out - (e->end - e->at) + e->added;
	}
	return true;
}

/* And the other way. */
static bool place_back(const LspDoc *d, const UnitFile *f, uint32_t at, uint32_t *out)
{
	if (d->edits_lost)
		return false;
	for (uint32_t i = d->edits.n; i-- > 0;) {
		const DocEdit *e = &d->edits.v[i];
		if (at < e->at)
			continue;
		if (at < e->at + e->added)
			return false;
		at = at - e->added + (e->end - e->at);
	}
	if (at < f->skip)
		return false;
	*out = at - f->skip;
	return true;
}

/* ---- requests ---- */

static UnitFile *file_of(Snapshot *s, Str uri)
{
	for (uint32_t i = 0; s && i < s->files.n; i++)
		if (s->files.v[i].id.i && str_eq(s->files.v[i].uri, uri))
			return &s->files.v[i];
	return NULL;
}

bool place_file(LspServer *l, const JsonIn *params, Place *out)
{
	Str uri = json_in_str(json_in_path(params, "textDocument", "uri", NULL));
	LspDoc *d = lsp_doc(l, uri);
	*out = (Place){0};
	if (!d || !d->unit)
		return false;
	out->unit = l->units.v[d->unit - 1];
	out->snap = unit_snapshot(out->unit);
	out->file = file_of(out->snap, uri);
	if (!out->file)
		return false;
	out->src = source_get(&out->snap->run.sources, out->file->id);
	return true;
}

bool lsp_position(const JsonIn *v, LspPos *out)
{
	int64_t line, character;
	if (!json_in_int(json_in_get(v, "line"), &line) || !json_in_int(json_in_get(v, "character"), &character) || line < 0 ||
	    character < 0)
		return false;
	out->line = line > UINT32_MAX ? UINT32_MAX : (uint32_t)line;
	out->character = character > UINT32_MAX ? UINT32_MAX : (uint32_t)character;
	return true;
}

/* The identifier around an offset; a position just behind it counts too. */
static void find_word(Place *p)
{
	Str s = p->src->text;
	uint32_t at = p->at, end = p->at;
	while (at && char_is_ident((unsigned char)s.p[at - 1]))
		at--;
	while (end < s.n && char_is_ident((unsigned char)s.p[end]))
		end++;
	p->word = str_sub(s, at, end);
	p->word_at = at;
}

static void find_region(Place *p)
{
	const Region *r;
	uint32_t n = snapshot_regions(p->snap, p->file->id, &r), lo = 0, hi = n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (r[mid].at <= p->at)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (uint32_t i = lo; i; i = r[i - 1].outer) {
		if (p->at > r[i - 1].end)
			continue;
		p->graph = graph_get(&p->snap->run.program, r[i - 1].graph);
		p->frame = r[i - 1].frame;
		return;
	}
}

bool place_find(LspServer *l, const JsonIn *params, Place *out)
{
	LspPos at;
	if (!place_file(l, params, out) || !lsp_position(json_in_get(params, "position"), &at))
		return false;
	LspDoc *d = lsp_doc(l, out->file->uri);
	PosMap m = posmap(doc_str(&d->text), &d->text.lines, l->client.encoding);
	if (!place_back(d, out->file, pos_offset(&m, at), &out->at) || out->at > out->src->text.n)
		return false;
	find_word(out);
	find_region(out);
	return true;
}

/* ---- ranges ---- */

static UnitFile *file_by_id(Snapshot *s, FileId id)
{
	for (uint32_t i = 0; i < s->files.n; i++)
		if (s->files.v[i].id.i == id.i)
			return &s->files.v[i];
	return NULL;
}

void put_position(Json *j, Str key, LspPos p)
{
	json_key(j, key);
	json_object(j);
	put_int(j, S("line"), p.line);
	put_int(j, S("character"), p.character);
	json_end(j);
}

void put_positions(Json *j, LspPos from, LspPos to)
{
	json_object(j);
	put_position(j, S("start"), from);
	put_position(j, S("end"), to);
	json_end(j);
}

/* In a file on disk, or where the place is gone, as near as can be said. */
void put_range(LspServer *l, Snapshot *s, Json *j, Span span)
{
	UnitFile *f = file_by_id(s, span.file);
	const LspDoc *d = f ? lsp_doc(l, f->uri) : NULL;
	uint32_t at = 0, end = 0;
	if (!f) {
		put_positions(j, (LspPos){0}, (LspPos){0});
	} else if (d) {
		PosMap m = posmap(doc_str(&d->text), &d->text.lines, l->client.encoding);
		if (!place_forward(l, f, span.at, &at))
			at = span.at + f->skip;
		if (!place_forward(l, f, span.end, &end) || end < at)
			end = at;
		LspPos from = pos_of(&m, at);
		put_positions(j, from, pos_of(&m, end));
	} else {
		Str text = source_get(&s->run.sources, f->id)->text;
		if (!lines_count(&f->lines))
			lines_build(&f->lines, text);
		PosMap m = posmap(text, &f->lines, l->client.encoding);
		LspPos from = pos_of(&m, span.at);
		put_positions(j, from, pos_of(&m, span.end));
	}
}

Str span_uri(Snapshot *s, Span span)
{
	const UnitFile *f = file_by_id(s, span.file);
	return f ? f->uri : S("");
}

void put_location(LspServer *l, Snapshot *s, Json *j, Span span)
{
	json_object(j);
	put_str(j, S("uri"), span_uri(s, span));
	json_key(j, S("range"));
	put_range(l, s, j, span);
	json_end(j);
}

/* ---- regions ---- */

static uint32_t artifact_end(const Run *r, ArtifactId id, FileId file, uint32_t end)
{
	if (!id.i || id.i >= r->artifacts.v.n)
		return end;
	const Artifact *a = &r->artifacts.v.v[id.i];
	if (a->file.i != file.i || !a->npieces)
		return end;
	uint32_t last = a->pieces[a->npieces - 1].src + a->pieces[a->npieces - 1].n;
	return last > end ? last : end;
}

static Region graph_region(const Run *r, const Graph *g)
{
	Region x = {.at = g->at, .end = g->end, .graph = g->id};
	for (uint32_t i = 1; i < g->nodes.n; i++)
		if (g->nodes.v[i].end > x.end)
			x.end = g->nodes.v[i].end;
	for (uint32_t i = 0; i < g->outputs.n; i++)
		if (g->outputs.v[i].end > x.end)
			x.end = g->outputs.v[i].end;
	if (!g->parent.i)
		x.end = artifact_end(r, g->artifact, g->file, x.end);
	return x;
}

static Region frame_region(const Run *r, uint32_t i)
{
	const Frame *f = &r->program.frames.v[i];
	Region x = {.at = f->at, .end = f->end, .frame = i + 1};
	if (f->code && f->code->n && f->code->places[f->code->n - 1].end > x.end)
		x.end = f->code->places[f->code->n - 1].end;
	return x;
}

static int by_place(const void *a, const void *b)
{
	const Region *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->graph.i < y->graph.i ? -1 : x->graph.i > y->graph.i;
}

static void nest(Region *r, uint32_t n)
{
	uint32_t open = 0; /* innermost that may still hold what follows, plus 1 */
	for (uint32_t i = 0; i < n; i++) {
		while (open && r[open - 1].end < r[i].at)
			open = r[open - 1].outer;
		r[i].outer = open;
		open = i + 1;
	}
}

static void make_regions(Snapshot *s)
{
	const Run *r = &s->run;
	uint32_t files = r->sources.v.n, total = r->program.graphs.n + r->program.frames.n;
	s->regions = arena_array(&s->a, files, sizeof *s->regions);
	uint32_t *room = NEW_N(&s->a, uint32_t, files);
	for (uint32_t i = 1; i < r->program.graphs.n; i++)
		room[r->program.graphs.v[i]->file.i]++;
	for (uint32_t i = 0; i < r->program.frames.n; i++)
		room[r->program.frames.v[i].dump.i]++;
	for (uint32_t i = 0; i < files && total; i++)
		s->regions[i].v = NEW_N(&s->a, Region, room[i]);
	for (uint32_t i = 1; i < r->program.graphs.n; i++) {
		const Graph *g = r->program.graphs.v[i];
		s->regions[g->file.i].v[s->regions[g->file.i].n++] = graph_region(r, g);
	}
	for (uint32_t i = 0; i < r->program.frames.n; i++) {
		uint32_t f = r->program.frames.v[i].dump.i;
		s->regions[f].v[s->regions[f].n++] = frame_region(r, i);
	}
	for (uint32_t i = 0; i < files; i++) {
		if (s->regions[i].n)
			qsort(s->regions[i].v, s->regions[i].n, sizeof(Region), by_place);
		nest(s->regions[i].v, s->regions[i].n);
	}
}

uint32_t snapshot_regions(Snapshot *s, FileId file, const Region **out)
{
	if (!s->regions)
		make_regions(s);
	*out = s->regions[file.i].v;
	return s->regions[file.i].n;
}

Span frame_span(const Run *r, FrameRef f)
{
	const Frame *x = &r->program.frames.v[f - 1];
	return (Span){x->dump, x->at, x->end};
}

/* ---- nodes ---- */

NodeId graph_named(const Run *r, const Graph *g, Str name)
{
	Sym s = sym_find(r->program.names, name);
	for (uint32_t i = 1; s.i && i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		if (n->name.i == s.i || (n->kind == NK_PLACEHOLDER && n->target.i == s.i))
			return (NodeId){i};
	}
	return (NodeId){0};
}

NodeId graph_statement(const Graph *g, uint32_t at)
{
	NodeId best = {0};
	uint32_t size = UINT32_MAX;
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		const Node *n = &g->nodes.v[i];
		if (n->at <= at && at <= n->end && n->end - n->at < size) {
			best = (NodeId){i};
			size = n->end - n->at;
		}
	}
	return best;
}

Str node_label(const Run *r, const Graph *g, NodeId id)
{
	const Node *n = graph_node(g, id);
	return sym_str(r->program.names, n->name.i ? n->name : n->target);
}

uint32_t word_next(Str text, Str word, uint32_t at, uint32_t end)
{
	Str s = str_sub(text, 0, end);
	for (at = str_find(s, word, at); at < s.n; at = str_find(s, word, at + 1)) {
		bool before = at && char_is_ident((unsigned char)s.p[at - 1]);
		bool after = at + word.n < text.n && char_is_ident((unsigned char)text.p[at + word.n]);
		if (!before && !after)
			return at;
	}
	return end;
}

Span node_name_span(const Run *r, const Graph *g, NodeId id)
{
	Span s = node_span(g, id);
	Str text = source_get(&r->sources, g->file)->text;
	const Node *n = graph_node(g, id);
	const Sym names[] = {n->name, n->target};
	for (uint32_t i = 0; i < 2; i++) {
		Str name = sym_str(r->program.names, names[i]);
		uint32_t at = name.n ? word_next(text, name, s.at, s.end) : s.end;
		if (at < s.end)
			return (Span){s.file, at, at + name.n};
	}
	return s;
}
