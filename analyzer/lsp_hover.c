/* SPDX-License-Identifier: MIT
 * What stands under the cursor: a value, an operator, a graph or frame, a rule. Markdown. */
#include "lsp_priv.h"

#include "alias.h"
#include "report_common.h"
#include "report_flow.h"
#include "rules.h"

typedef struct Hover {
	LspServer *l;
	const Place *p;
	const Run *r;
	Buf b;
} Hover;

/* Text of a dump within Markdown: nothing of it may become markup. */
static void quoted(Buf *b, Str s)
{
	buf_char(b, '`');
	for (uint32_t i = 0; i < s.n && i < 200; i++)
		buf_char(b, s.p[i] == '`' || (unsigned char)s.p[i] < ' ' ? '\'' : s.p[i]);
	buf_add(b, s.n > 200 ? S("...`") : S("`"));
}

static void named(Hover *h, const Graph *g, NodeId id)
{
	quoted(&h->b, node_label(h->r, g, id));
}

static const Summary *summary_of(const Run *r, const Graph *g)
{
	return r->summaries ? r->summaries[g->id.i] : NULL;
}

/* ---- a value ---- */

static void say_type(Hover *h, const Graph *g, NodeId id)
{
	const NodeTypes *nt = h->r->node_types ? h->r->node_types[g->id.i] : NULL;
	TypeId t = nt && id.i < nt->n ? nt->v[id.i] : graph_node(g, id)->type;
	if (!t.i)
		return;
	buf_add(&h->b, S(": "));
	quoted(&h->b, type_text(h->r->types, t, &h->l->scratch));
}

/* The chain of what it shares memory with, back to where that was made. */
static void say_memory(Hover *h, const Graph *g, const Summary *s, NodeId id)
{
	for (uint32_t hops = 0; hops < 12 && s->from[id.i].node.i; hops++) {
		const NodeFrom *f = &s->from[id.i];
		buf_add(&h->b, S("\n- "));
		named(h, g, id);
		buf_add(&h->b, f->shares == TRI_MUST ? f->same_object ? S(" is the same tensor as ") : S(" is in the memory of ")
		                                     : S(" may be in the memory of "));
		named(h, g, f->node);
		if (f->why.n)
			buf_printf(&h->b, f->shares == TRI_MUST ? ", since " STR_FMT : ", if " STR_FMT, STR_ARG(f->why));
		id = f->node;
	}
	if (graph_node(g, id)->kind == NK_CALL && !s->from[id.i].node.i) {
		buf_add(&h->b, S("\n- "));
		named(h, g, id);
		buf_add(&h->b, S(" is memory of its own"));
	}
}

static bool shares(const Summary *s, NodeId a, NodeId b)
{
	for (uint32_t i = 0; i < 64 && a.i; i++, a = s->from[a.i].node)
		if (a.i == b.i)
			return true;
	return false;
}

static void say_writes(Hover *h, const Graph *g, const Summary *s, NodeId id)
{
	uint32_t said = 0;
	for (uint32_t i = 0; i < s->nnode_writes && said < 8; i++) {
		const NodeWrite *w = &s->node_writes[i];
		if (!w->through.i || (!shares(s, w->through, id) && !shares(s, id, w->through)))
			continue;
		said++;
		buf_add(&h->b, w->metadata ? S("\n- its sizes, strides or storage are changed by ") : S("\n- written by "));
		named(h, g, w->node);
		LineCol at = source_line_col(source_get(&h->r->sources, g->file), graph_node(g, w->node)->at);
		buf_printf(&h->b, " in line %u%s", (unsigned)at.line, w->certainty == TRI_MAY ? ", perhaps" : "");
	}
}

static void say_flow(Hover *h, const GraphFlow *f)
{
	const Graph *to = graph_get(&h->r->program, f->to);
	if (!to)
		return;
	buf_printf(&h->b, "\n- output %u enters ", (unsigned)f->output);
	quoted(&h->b, sym_str(h->r->program.names, to->name));
	buf_printf(&h->b, " as input %u%s", (unsigned)f->input, f->same ? "" : ", as a view");
}

static void say_boundary(Hover *h, const Graph *g, const Summary *s, NodeId id)
{
	const GraphVerdicts *v = report_verdicts(h->r, g);
	for (uint32_t i = 0; i < g->outputs.n; i++) {
		if (s->outputs[i].node.i != id.i)
			continue;
		const OutputSummary *o = &s->outputs[i];
		buf_printf(&h->b, "\n- leaves the graph as output %u: %s" STR_FMT, (unsigned)i,
		           o->certainty == TRI_MAY && o->condition.n ? "perhaps " : "", STR_ARG(alias_name(o->kind)));
		if (o->condition.n)
			buf_printf(&h->b, ", if " STR_FMT, STR_ARG(o->condition));
		for (uint32_t k = 0; v && k < v->flows.n; k++)
			if (v->flows.v[k].output == i)
				say_flow(h, &v->flows.v[k]);
	}
	for (uint32_t i = 0; i < g->inputs.n; i++)
		if (g->inputs.v[i].i == id.i)
			buf_printf(&h->b, "\n- input %u of the graph", (unsigned)i);
}

static void value(Hover *h, const Graph *g, NodeId id)
{
	const Summary *s = summary_of(h->r, g);
	buf_add(&h->b, S("**"));
	named(h, g, id);
	buf_add(&h->b, S("**"));
	say_type(h, g, id);
	buf_add(&h->b, S("\n"));
	if (!s)
		return;
	say_memory(h, g, s, id);
	say_writes(h, g, s, id);
	say_boundary(h, g, s, id);
}

/* ---- an operator ---- */

static bool operator_fact(Hover *h, const Graph *g, NodeId id)
{
	const Node *n = graph_node(g, id);
	Str target = sym_str(h->r->program.names, n->target);
	if (n->kind != NK_CALL || !target.n)
		return false;
	VersionSpan torch = h->r->cfg->torch.lo ? h->r->cfg->torch : g->torch;
	const Fact *f = facts_find(h->r->tables->facts, (Callee)n->callee, target, torch);
	buf_add(&h->b, S("**"));
	quoted(&h->b, target);
	buf_add(&h->b, S("**"));
	if (!f) {
		buf_add(&h->b, S("\n\nNothing is known of this operator: it may write and hand back what it gets."));
		return true;
	}
	buf_printf(&h->b, ": " STR_FMT, STR_ARG(fact_kind_name(f->kind)));
	if (f->cond != FC_NONE)
		buf_printf(&h->b, ", depending on `" STR_FMT "`", STR_ARG(fact_cond_name(f->cond)));
	buf_add(&h->b, S("\n\n"));
	Buf row = {.a = &h->l->scratch};
	fact_text(h->r->tables->facts, f, &row);
	Str text = buf_str(&row);
	for (uint32_t i = 0; i < text.n; i++)
		row.p[i] = text.p[i] == '\t' ? ' ' : text.p[i];
	quoted(&h->b, str_trim(text));
	return true;
}

static bool last_part_is(Str dotted, Str word)
{
	return str_eq(dotted, word) || (dotted.n > word.n && str_ends(dotted, word) && dotted.p[dotted.n - word.n - 1] == '.');
}

static bool part_of(Str dotted, Str word)
{
	Str part;
	while (str_cut(&dotted, '.', &part))
		if (str_eq(part, word))
			return true;
	return false;
}

/* ---- the rest ---- */

static bool rule_help(Hover *h)
{
	const Rule *r = str_starts(h->p->word, S("GL")) ? rules_find(h->r->tables->rules, h->p->word) : NULL;
	if (!r)
		return false;
	buf_printf(&h->b, "**" STR_FMT "** " STR_FMT "\n\n" STR_FMT "\n\n" STR_FMT, STR_ARG(r->id), STR_ARG(r->name),
	           STR_ARG(r->summary), STR_ARG(r->help));
	return true;
}

static void whole_graph(Hover *h, const Graph *g)
{
	const Summary *s = summary_of(h->r, g);
	buf_add(&h->b, S("**"));
	quoted(&h->b, sym_str(h->r->program.names, g->name));
	buf_printf(&h->b, "**: graph of %u operators, %u inputs, %u outputs\n", (unsigned)report_operators(g),
	           (unsigned)g->inputs.n, (unsigned)g->outputs.n);
	for (uint32_t i = 0; s && i < g->outputs.n && i < 16; i++) {
		buf_printf(&h->b, "\n- output %u: " STR_FMT, (unsigned)i, STR_ARG(alias_name(s->outputs[i].kind)));
		if (s->outputs[i].condition.n)
			buf_printf(&h->b, ", if " STR_FMT, STR_ARG(s->outputs[i].condition));
	}
	for (uint32_t i = 0; s && i < g->inputs.n; i++) {
		if (s->inputs[i].data == TRI_NO)
			continue;
		buf_add(&h->b, s->inputs[i].data == TRI_MUST ? S("\n- writes ") : S("\n- may write "));
		named(h, g, g->inputs.v[i]);
	}
}

static bool graph_by_name(Hover *h)
{
	const Program *p = &h->r->program;
	Sym s = sym_find(p->names, h->p->word);
	for (uint32_t i = 1; s.i && i < p->graphs.n; i++) {
		const Graph *g = p->graphs.v[i];
		if (g->name.i == s.i && !g->printing_of.i) {
			whole_graph(h, g);
			return true;
		}
	}
	return false;
}

/* Of several printings of a graph one is analysed; the others say the same by name. */
static bool in_analysed(Hover *h, const Graph *g)
{
	const Graph *main = graph_get(&h->r->program, g->printing_of);
	NodeId id = main ? graph_named(h->r, main, h->p->word) : (NodeId){0};
	if (!id.i)
		return false;
	value(h, main, id);
	return true;
}

static bool in_graph(Hover *h, const Graph *g)
{
	NodeId statement = graph_statement(g, h->p->at), id = graph_named(h->r, g, h->p->word);
	const Node *n = statement.i ? graph_node(g, statement) : NULL;
	Str target = n ? sym_str(h->r->program.names, n->target) : (Str){0};
	bool after_dot = h->p->word_at && h->p->src->text.p[h->p->word_at - 1] == '.';
	/* x.view(...): `view` is the operator even where a value has that name */
	if (n && n->kind == NK_CALL && after_dot && part_of(target, h->p->word))
		return operator_fact(h, g, statement);
	if (in_analysed(h, g))
		return true;
	if (id.i) {
		value(h, g, id);
		return true;
	}
	return n && last_part_is(target, h->p->word) && operator_fact(h, g, statement);
}

void lsp_hover(Call *c)
{
	Place p;
	if (!place_find(c->l, c->params, &p) || !p.word.n) {
		json_null(c->j);
		return;
	}
	Hover h = {.l = c->l, .p = &p, .r = &p.snap->run, .b = {.a = &c->l->scratch}};
	if (!rule_help(&h) && !(p.graph && in_graph(&h, p.graph)) && !graph_by_name(&h)) {
		json_null(c->j);
		return;
	}
	json_object(c->j);
	json_key(c->j, S("contents"));
	json_object(c->j);
	put_str(c->j, S("kind"), S("markdown"));
	put_str(c->j, S("value"), buf_str(&h.b));
	json_end(c->j);
	json_key(c->j, S("range"));
	put_range(c->l, p.snap, c->j, (Span){p.file->id, p.word_at, p.word_at + p.word.n});
	json_end(c->j);
}
