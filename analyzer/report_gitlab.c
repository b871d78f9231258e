/* SPDX-License-Identifier: MIT
 * GitLab's code quality report: an array of issues as Code Climate defined them. Of issues with one fingerprint GitLab shows the first, so each gets its own. */
#include "report.h"

#include <inttypes.h>

#include "json.h"
#include "report_ci.h"
#include "report_place.h"

typedef struct Out {
	const Run *r;
	const ReportOptions *o;
	Json j;
	Arena a, scratch;
	Places places;
	Groups groups;
	Map used; /* fingerprints that were given out */
} Out;

static void member_str(Out *o, const char *key, Str value)
{
	json_key(&o->j, str_from_c(key));
	json_str(&o->j, value);
}

static Str severity_word(Severity s)
{
	return s == SEV_ERROR ? S("critical") : s == SEV_WARNING ? S("minor") : S("info");
}

static uint64_t mix(uint64_t h, Str s)
{
	return hash_bytes(h, s.p ? s.p : "", s.n);
}

/* Ours where there is one; else of what the finding says and where. Salted until no other issue has it. */
static Str fingerprint(Out *o, const Finding *f, const Region *at)
{
	uint64_t h = mix(0, f->rule);
	if (f->fingerprint.n) {
		h = mix(h, f->fingerprint);
	} else {
		h = mix(mix(mix(h, at->path), f->graph), f->message);
	}
	while (!h || map_get(&o->used, h))
		h = hash_u64(h + 1);
	map_put(&o->used, h, 1);
	return str_printf(&o->scratch, "%016" PRIx64 "%016" PRIx64, h, hash_u64(h));
}

static void position(Out *o, const char *key, uint32_t line, uint32_t col)
{
	json_key(&o->j, str_from_c(key));
	json_object(&o->j);
	json_key(&o->j, S("line"));
	json_int(&o->j, line);
	json_key(&o->j, S("column"));
	json_int(&o->j, col);
	json_end(&o->j);
}

static void location(Out *o, const Region *at)
{
	bool columns = at->col != 0;
	json_key(&o->j, S("location"));
	json_object(&o->j);
	member_str(o, "path", at->path);
	json_key(&o->j, columns ? S("positions") : S("lines"));
	json_object(&o->j);
	if (columns) {
		position(o, "begin", at->line, at->col);
		position(o, "end", at->end_line, at->end_col);
	} else {
		json_key(&o->j, S("begin"));
		json_int(&o->j, at->line);
	}
	json_end(&o->j);
	json_end(&o->j);
}

static void issue(Out *o, uint32_t i)
{
	ArenaMark mark = arena_mark(&o->scratch);
	const Finding *f = &o->r->diags.v.v[i];
	Region at = region_primary(o->o, &o->places, f);
	Buf text = {.a = &o->scratch};
	report_words(&text, f->message, true);
	if (o->groups.count[i] > 1)
		buf_add(&text, S("; "));
	report_more(&o->groups, i, &text);
	json_object(&o->j);
	o->j.pretty = false;
	member_str(o, "type", S("issue"));
	member_str(o, "description", buf_str(&text));
	json_key(&o->j, S("categories"));
	json_array(&o->j);
	json_str(&o->j, S("Bug Risk"));
	json_end(&o->j);
	member_str(o, "check_name", f->rule);
	member_str(o, "fingerprint", fingerprint(o, f, &at));
	member_str(o, "severity", severity_word(f->severity));
	location(o, &at);
	json_end(&o->j);
	o->j.pretty = true;
	arena_rewind(&o->scratch, mark);
}

void report_write_gitlab(const Run *r, const ReportOptions *options, Buf *out)
{
	Out o = {.r = r, .o = options, .j = json_new(out, true), .a = arena_new(NULL), .scratch = arena_new(NULL)};
	o.places = places_new(&r->sources, &o.a);
	o.groups = groups_make(r, &o.a);
	o.used.a = &o.a;
	FindingList list = groups_shown(r, &o.groups, &o.a);
	json_array(&o.j);
	for (uint32_t k = 0; k < list.n; k++)
		issue(&o, list.v[k]);
	json_end(&o.j);
	buf_char(out, '\n');
	arena_free(&o.scratch);
	arena_free(&o.a);
}
