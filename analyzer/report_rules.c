/* SPDX-License-Identifier: MIT
 * The catalogue: a line for each rule, and all that one rule says about itself. */
#include "report.h"

#include "json.h"
#include "report_common.h"

static Str level_word(RuleLevel level, const Rule *rule)
{
	if (!level.on)
		return S("off");
	return severity_name(level.level == SEV_NONE ? rule->level : level.level);
}

static void pad(Buf *out, uint32_t from, uint32_t width)
{
	while (out->n - from < width)
		buf_char(out, ' ');
}

void report_rules_text(const Run *r, const ReportOptions *o, Buf *out)
{
	const Rules *rules = r->tables->rules;
	uint32_t names = 0;
	for (uint32_t i = 0; i < rules->v.n; i++)
		names = rules->v.v[i].name.n > names ? rules->v.v[i].name.n : names;
	for (uint32_t i = 0; i < rules->v.n; i++) {
		const Rule *rule = &rules->v.v[i];
		uint32_t line = out->n;
		buf_add(out, rule->id);
		pad(out, line, 7);
		buf_add(out, level_word(r->levels[i], rule));
		pad(out, line, 16);
		buf_add(out, rule->name);
		pad(out, line, 16 + names + 2);
		report_text(out, rule->summary, o->unicode);
		buf_char(out, '\n');
	}
}

static void json_contracts(Json *j, const Rule *rule)
{
	json_key(j, S("contracts"));
	json_array(j);
	for (int c = 0; c < CONTRACT_N; c++)
		if (rule->contracts & CONTRACT_BIT(c))
			json_str(j, contract_name((ContractName)c));
	json_end(j);
}

static void json_rule(Json *j, const Rule *rule, RuleLevel level)
{
	json_object(j);
	json_key(j, S("id"));
	json_str(j, rule->id);
	json_key(j, S("name"));
	json_str(j, rule->name);
	json_key(j, S("level"));
	json_str(j, level_word(level, rule));
	json_key(j, S("default"));
	json_str(j, severity_name(rule->level));
	json_key(j, S("since"));
	json_str(j, rule->since);
	json_key(j, S("summary"));
	json_str(j, rule->summary);
	json_contracts(j, rule);
	json_key(j, S("help"));
	json_str(j, rule->help);
	json_key(j, S("references"));
	json_array(j);
	for (uint32_t i = 0; i < rule->references.n; i++)
		json_str(j, rule->references.v[i]);
	json_end(j);
	json_end(j);
}

void report_rules_json(const Run *r, const ReportOptions *o, Buf *out)
{
	const Rules *rules = r->tables->rules;
	Json j = json_new(out, true);
	(void)o;
	json_array(&j);
	for (uint32_t i = 0; i < rules->v.n; i++)
		json_rule(&j, &rules->v.v[i], r->levels[i]);
	json_end(&j);
	buf_char(out, '\n');
}

/* ---- one rule ---- */

static void add_lines(Buf *out, Str text, bool unicode)
{
	Str line;
	while (str_cut(&text, '\n', &line)) {
		report_text(out, line, unicode);
		buf_char(out, '\n');
	}
}

static void add_contracts(Buf *out, const Rule *rule)
{
	const char *before = "contracts: ";
	for (int c = 0; c < CONTRACT_N; c++)
		if (rule->contracts & CONTRACT_BIT(c)) {
			buf_printf(out, "%s" STR_FMT, before, STR_ARG(contract_name((ContractName)c)));
			before = ", ";
		}
	if (rule->contracts)
		buf_char(out, '\n');
}

void report_explain_text(const Run *r, const ReportOptions *o, Buf *out)
{
	const Rules *rules = r->tables->rules;
	const Rule *rule = rules_find(rules, o->rule);
	ASSERT(rule);
	buf_printf(out, STR_FMT " " STR_FMT ": ", STR_ARG(rule->id), STR_ARG(rule->name));
	report_text(out, rule->summary, o->unicode);
	buf_printf(out, "\nlevel: " STR_FMT ", since: " STR_FMT "\n",
		STR_ARG(level_word(r->levels[rule - rules->v.v], rule)), STR_ARG(rule->since));
	add_contracts(out, rule);
	buf_char(out, '\n');
	add_lines(out, rule->help, o->unicode);
	if (rule->references.n)
		buf_add(out, S("\n## References\n\n"));
	for (uint32_t i = 0; i < rule->references.n; i++) {
		buf_add(out, S("* "));
		report_text(out, rule->references.v[i], o->unicode);
		buf_char(out, '\n');
	}
}

void report_explain_json(const Run *r, const ReportOptions *o, Buf *out)
{
	const Rules *rules = r->tables->rules;
	const Rule *rule = rules_find(rules, o->rule);
	Json j = json_new(out, true);
	ASSERT(rule);
	json_rule(&j, rule, r->levels[rule - rules->v.v]);
	buf_char(out, '\n');
}
