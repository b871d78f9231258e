/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include "embedded.h"
#include "template.h"
#include "utf8.h"

/* Code points of a value in a message: a source line may have 300,000. */
enum { VALUE_MOST = 160 };

const Rule *rules_find(const Rules *r, Str id_or_name)
{
	for (uint32_t i = 0; i < r->v.n; i++)
		if (str_eq(r->v.v[i].id, id_or_name) || str_eq(r->v.v[i].name, id_or_name))
			return &r->v.v[i];
	return NULL;
}

static const Wording *wording_exact(const Rule *r, Str variant)
{
	for (uint32_t i = 0; i < r->wordings.n; i++)
		if (str_eq(r->wordings.v[i].variant, variant))
			return &r->wordings.v[i];
	return NULL;
}

const Wording *wording_find(const Rule *r, Str variant)
{
	ASSERT(r->wordings.n);
	for (;;) {
		const Wording *w = wording_exact(r, variant);
		if (w)
			return w;
		if (!variant.n)
			return &r->wordings.v[0];
		uint32_t cut = str_rfind(variant, S("-"));
		variant = str_sub(variant, 0, cut < variant.n ? cut : 0);
	}
}

void rules_free(Rules *r)
{
	for (uint32_t i = 0; i < r->v.n; i++)
		for (uint32_t k = 0; k < r->v.v[i].patterns.n; k++) {
			RulePattern *p = &r->v.v[i].patterns.v[k];
			for (uint32_t c = 0; c < p->where.n; c++)
				cond_free(&p->where.v[c]);
		}
}

Rules *rules_builtin(Arena *a, Names *names)
{
	Rules *r = NEW(a, Rules);
	r->names = names;
	Buf errors = {.a = a};
	for (const EmbeddedFile *f = embedded_files; f->name; f++)
		if (str_ends(str_from_c(f->name), S(".yaml")))
			rules_load(r, a, str_from_c(f->name), (Str){f->data, f->size}, &errors);
	ASSERT(errors.n == 0);
	return r;
}

/* ---- rendering ---- */

/* Only as much of a value as a sentence can bear, on one line. */
static void add_value(Buf *out, Str s)
{
	Str head = utf8_head(s, VALUE_MOST);
	for (uint32_t i = 0; i < head.n; i++)
		buf_char(out, memchr("\n\r\t", head.p[i], 3) ? ' ' : head.p[i]);
	if (head.n < s.n)
		buf_add(out, S("..."));
}

static void add_index(Buf *out, int32_t i)
{
	if (i >= 0)
		buf_printf(out, "%d", (int)i);
}

static void add_source(Buf *out, const UserSource *s)
{
	add_value(out, s->file);
	if (s->file.n && s->line)
		buf_printf(out, ":%u", (unsigned)s->line);
}

/* Values that the finding itself holds, for names that the analysis did not set. */
static void add_standard(Buf *out, const Finding *f, Str name)
{
	if (str_eq(name, S("graph")))
		add_value(out, f->graph);
	else if (str_eq(name, S("output")))
		add_index(out, f->output);
	else if (str_eq(name, S("input")))
		add_index(out, f->input);
	else if (str_eq(name, S("partner")))
		add_index(out, f->other_output);
	else if (str_eq(name, S("attribute")))
		add_value(out, f->attribute);
	else if (str_eq(name, S("condition")))
		add_value(out, f->condition);
	else if (str_eq(name, S("code")))
		add_value(out, f->source.code);
	else if (str_eq(name, S("source")))
		add_source(out, &f->source);
}

static void add_named(void *ctx, Str name, Buf *out)
{
	const Finding *f = ctx;
	for (uint32_t i = 0; i < f->vars.n; i++)
		if (str_eq(f->vars.v[i].name, name)) {
			add_value(out, str_trim(f->vars.v[i].value));
			return;
		}
	add_standard(out, f, name);
}

static Str fill(Arena *a, Str template, Finding *f)
{
	Buf b = {.a = a};
	template_fill(template, add_named, f, &b);
	return buf_str(&b);
}

void rules_render(const Rules *r, Diags *d)
{
	for (uint32_t i = 0; i < d->v.n; i++) {
		Finding *f = &d->v.v[i];
		const Rule *rule = rules_find(r, f->rule);
		ASSERT(rule);
		const Wording *w = wording_find(rule, f->variant);
		f->name = rule->name;
		f->help = rule->help;
		f->message = fill(d->a, w->message, f);
		f->suggestion = fill(d->a, w->suggestion, f);
	}
}
