/* SPDX-License-Identifier: MIT
 * observe_priv: what the parts of observe share. */
#ifndef GRAPHLINT_OBSERVE_PRIV_H
#define GRAPHLINT_OBSERVE_PRIV_H

#include "base.h"
#include "observe.h"

typedef struct Observe {
	Diags *d;
	const Program *p;
	const Sources *src;
	const Config *cfg;
	const Graph *g;
	const Summary *s;
	const GraphVerdicts *v;
	ContractName contract;
	unsigned keeps;
} Observe;

/* A finding about the graph; node: who aliases or writes, 0 none. */
Finding *observe_finding(Observe *o, Str rule, Severity sev, Span at, NodeId node);
Span observe_input_span(const Observe *o, uint32_t i);
Span observe_output_span(const Observe *o, uint32_t j);
Str observe_node_name(const Observe *o, NodeId id);
Str observe_operator(const Observe *o, const Node *n);
void observe_verdict_steps(Observe *o, Finding *f, const Verdict *v);
/* The write that a finding points at: the first that is as certain as the answer; NULL none. */
const Write *observe_settling_write(const InputSummary *in, bool metadata);

/* ---- what AOTAutograd does not keep (observe_aot.c) ---- */
/* The verdict about a copy that it traces, on the way of a chain; NULL: there is none of which anybody may notice anything. */
const Verdict *observe_traced(const Observe *o, const Hop *chain, uint32_t n);
Severity observe_traced_severity(Tri certainty, const Verdict *v);
void observe_aot(Observe *o);
/* GL105 about a module that a graph calls: the rest of what such a finding says. */
void observe_shared_note(Finding *f);

#endif
