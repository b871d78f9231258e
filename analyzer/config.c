/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "glob.h"
#include "nearest.h"

enum {
	KEEP_ALL = KEEP_INPUT_WRITES | KEEP_OUTPUT_INPUT | KEEP_OUTPUT_OUTPUT | KEEP_IDENTITY |
		KEEP_STRIDES
};

static const struct {
	Str name;
	unsigned keeps;
} contracts[] = {
	[CONTRACT_AUTO] = {STR_INIT("auto"), 0},
	[CONTRACT_FRESH] = {STR_INIT("fresh"), KEEP_STRIDES},
	[CONTRACT_AOT] = {STR_INIT("aot"), KEEP_ALL},
	/* Asks what the graph does, not what a compiler keeps: nothing excuses an alias or a write. */
	[CONTRACT_STRICT] = {STR_INIT("strict"), KEEP_STRIDES},
	[CONTRACT_CUDAGRAPHS] = {STR_INIT("cudagraphs"), KEEP_ALL},
};

static const struct {
	Str name;
	Keep bit;
} switches[] = {
	{STR_INIT("input_writes"), KEEP_INPUT_WRITES},
	{STR_INIT("output_input"), KEEP_OUTPUT_INPUT},
	{STR_INIT("output_output"), KEEP_OUTPUT_OUTPUT},
	{STR_INIT("identity"), KEEP_IDENTITY},
	{STR_INIT("strides"), KEEP_STRIDES},
};

enum { NSWITCHES = sizeof switches / sizeof *switches };

Str contract_name(ContractName c)
{
	ASSERT(c < CONTRACT_N);
	return contracts[c].name;
}

bool contract_parse(Str s, ContractName *out)
{
	for (int i = 0; i < CONTRACT_N; i++)
		if (str_eq(s, contracts[i].name)) {
			*out = (ContractName)i;
			return true;
		}
	return false;
}

ContractName contract_of(const Contract *c, bool captured_by_2x)
{
	if (c->name != CONTRACT_AUTO)
		return c->name;
	return captured_by_2x ? CONTRACT_AOT : CONTRACT_FRESH;
}

unsigned contract_keeps(const Contract *c, bool captured_by_2x)
{
	unsigned named = contracts[contract_of(c, captured_by_2x)].keeps;
	return (named & ~c->keep_set) | (c->keep_value & c->keep_set);
}

Str contract_text(const Contract *c, Arena *a)
{
	Buf b = {.a = a};
	buf_add(&b, contract_name(c->name));
	for (int i = 0; i < NSWITCHES; i++)
		if (c->keep_set & switches[i].bit)
			buf_printf(&b, "," STR_FMT "=%s", STR_ARG(switches[i].name), c->keep_value & switches[i].bit ? "yes" : "no");
	return buf_str(&b);
}

static bool keep_fault(Arena *a, Str *why, const char *what, Str word, const Nearest *near)
{
	Buf b = {.a = a};
	buf_printf(&b, "%s '" STR_FMT "'", what, STR_ARG(word));
	nearest_say(near, &b);
	*why = buf_str(&b);
	return false;
}

static bool keep_one(Str part, Contract *c, Arena *a, Str *why)
{
	uint32_t eq = str_find_char(part, '=', 0);
	Str name = str_trim(str_sub(part, 0, eq)), value = str_trim(str_sub(part, eq + 1, part.n));
	Nearest near = nearest_to(name);
	uint32_t i = 0;
	while (i < NSWITCHES && !str_eq(name, switches[i].name))
		nearest_try(&near, switches[i++].name);
	if (i == NSWITCHES)
		return keep_fault(a, why, "unknown switch", name, &near);
	bool yes = str_eq(value, S("yes")), no = str_eq(value, S("no"));
	if (!yes && !no) {
		near = nearest_to(value);
		nearest_try(&near, S("yes"));
		nearest_try(&near, S("no"));
		return keep_fault(a, why, "a switch is yes or no, not", value, &near);
	}
	c->keep_set |= switches[i].bit;
	c->keep_value &= ~(unsigned)switches[i].bit;
	c->keep_value |= yes ? switches[i].bit : 0;
	return true;
}

bool contract_keep_parse(Str s, Contract *c, Arena *a, Str *why)
{
	Contract next = *c; /* a list with a fault changes nothing */
	Str part;
	while (str_cut(&s, ',', &part))
		if (!keep_one(str_trim(part), &next, a, why))
			return false;
	*c = next;
	return true;
}

/* Digits at the front of *s, at most three; what is left goes to *s. */
static bool take_number(Str *s, uint32_t *out)
{
	uint32_t n = 0;
	while (n < s->n && n < 4 && s->p[n] >= '0' && s->p[n] <= '9')
		n++;
	if (!n || n > 3 || !str_to_u32(str_sub(*s, 0, n), out))
		return false;
	*s = str_sub(*s, n, s->n);
	return true;
}

/* The tail of a version: patch number, pre-release and build ("0a0+git1234", ".dev20240101"). */
static bool is_version_tail(Str s)
{
	if (s.n && !memchr(".+-abr", s.p[0], 6))
		return false;
	for (uint32_t i = 0; i < s.n; i++)
		if (!char_is_ident((unsigned char)s.p[i]) && !memchr(".+-", s.p[i], 3))
			return false;
	return s.n < 64;
}

bool version_parse(Str s, Version *out)
{
	uint32_t major, minor;
	if (!take_number(&s, &major) || !s.n || s.p[0] != '.')
		return false;
	s = str_sub(s, 1, s.n);
	if (!take_number(&s, &minor) || minor > 99 || major == 0 || !is_version_tail(s))
		return false;
	*out = major * 100 + minor;
	return true;
}

bool rule_level_parse(Str s, Severity *out)
{
	bool off = str_eq(s, S("off"));
	if (off)
		*out = SEV_NONE;
	return off || (severity_parse(s, out) && *out != SEV_NONE);
}

void rule_level_near(Nearest *near)
{
	nearest_try(near, S("off"));
	for (int i = SEV_NOTE; i <= SEV_ERROR; i++)
		nearest_try(near, severity_name((Severity)i));
}

Limits limits_default(void)
{
	return (Limits){
#define LIMIT(field, flag, value, unit, text) .field = value,
#include "limits.def"
#undef LIMIT
	};
}

bool config_path_fits(const Config *c, Str glob, Str path, Arena *scratch)
{
	ArenaMark mark = arena_mark(scratch);
	Str whole = path_join(scratch, c->working_folder, path);
	bool fits = glob_path(glob, path_below(scratch, c->folder.n ? c->folder : c->working_folder, whole));
	arena_rewind(scratch, mark);
	return fits;
}

Config config_default(void)
{
	return (Config){.fail_on = SEV_WARNING, .show = SEV_WARNING, .limits = limits_default()};
}
