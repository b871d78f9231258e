/* SPDX-License-Identifier: MIT
 * What the user asks of rules: --select, --ignore, --level, and the same in configuration files. */
#include "nearest.h"
#include "rules.h"

/* How closely a word names a rule: 0 not at all, 1 `all`, 2 + n the first n characters of its id, most the whole id
 * or the name. */
enum { CLOSE_NOT = 0, CLOSE_ALL = 1, CLOSE_WHOLE = UINT16_MAX };

static uint32_t closeness(const Rule *r, Str word)
{
	if (str_eq(word, r->id) || str_eq(word, r->name))
		return CLOSE_WHOLE;
	if (str_eq(word, S("all")))
		return CLOSE_ALL;
	return word.n && str_starts(r->id, word) ? 2 + word.n : CLOSE_NOT;
}

void rules_say_unknown(const Rules *r, Str word, Buf *out)
{
	Nearest near = nearest_to(word);
	for (uint32_t i = 0; i < r->v.n; i++) {
		nearest_try(&near, r->v.v[i].id);
		nearest_try(&near, r->v.v[i].name);
	}
	buf_printf(out, "no rule is called '" STR_FMT "'", STR_ARG(word));
	nearest_say(&near, out);
}

bool rules_word_fits(const Rule *r, Str word)
{
	return closeness(r, word) != CLOSE_NOT;
}

static bool names_a_rule(const Rules *r, Str word)
{
	for (uint32_t i = 0; i < r->v.n; i++)
		if (closeness(&r->v.v[i], word))
			return true;
	return false;
}

bool rules_check_asks(const Rules *r, const RuleAsk *asks, uint32_t n, Buf *why)
{
	uint32_t before = why->n;
	for (uint32_t i = 0; i < n; i++) {
		if (names_a_rule(r, asks[i].word))
			continue;
		buf_printf(why, STR_FMT ": ", STR_ARG(asks[i].from));
		rules_say_unknown(r, asks[i].word, why);
		buf_char(why, '\n');
	}
	return why->n == before;
}

/* The weight of a word for a rule: command line before files, then the closer word; 0 when it is about others. */
static uint32_t weight(const Rule *r, const RuleAsk *ask)
{
	uint32_t close = closeness(r, ask->word);
	return close ? close + (ask->command ? UINT16_MAX + 1u : 0) : 0;
}

static RuleLevel settle(const Rule *r, const RuleAsk *asks, uint32_t n, bool command_selects)
{
	RuleLevel level = {.on = true};
	uint32_t select = 0, turn = 0, set = 0; /* weights of the words that decide */
	bool off = false, selects = false;
	for (uint32_t i = 0; i < n; i++) {
		const RuleAsk *ask = &asks[i];
		uint32_t w = weight(r, ask);
		if (ask->kind == ASK_SELECT) {
			bool counts = ask->command || !command_selects;
			selects |= counts;
			select = counts && w > select ? w : select;
			continue;
		}
		bool turns_off = ask->kind == ASK_IGNORE || ask->level == SEV_NONE;
		if (w && w >= turn) {
			turn = w;
			off = turns_off;
		}
		if (w && w >= set && !turns_off) {
			set = w;
			level.level = ask->level;
		}
	}
	level.on = (!selects || select) && !(off && turn >= select);
	return level;
}

RuleLevel *rules_settle(const Rules *r, const RuleAsk *asks, uint32_t n, Arena *a)
{
	bool command_selects = false;
	for (uint32_t i = 0; i < n; i++)
		command_selects |= asks[i].command && asks[i].kind == ASK_SELECT;
	RuleLevel *levels = NEW_N(a, RuleLevel, r->v.n);
	for (uint32_t i = 0; i < r->v.n; i++)
		levels[i] = settle(&r->v.v[i], asks, n, command_selects);
	return levels;
}

bool rules_on(const Rules *r, const RuleLevel *levels, Str id)
{
	const Rule *rule = rules_find(r, id);
	return rule && levels[rule - r->v.v].on;
}

bool rules_need_builtin(const Rules *r, const RuleLevel *levels, int32_t builtin)
{
	for (uint32_t i = 0; i < r->v.n; i++)
		if (levels[i].on && r->v.v[i].builtin == builtin)
			return true;
	return false;
}

void rules_apply_levels(const Rules *r, const RuleLevel *const *levels, Diags *d)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < d->v.n; i++) {
		Finding *f = &d->v.v[i];
		const Rule *rule = rules_find(r, f->rule);
		ASSERT(rule);
		RuleLevel level = levels[f->span.file.i][rule - r->v.v];
		if (!level.on)
			continue;
		if (level.level != SEV_NONE && !f->quiet_by_contract)
			f->severity = level.level;
		if (kept != i)
			d->v.v[kept] = *f;
		kept++;
	}
	d->v.n = kept;
}
