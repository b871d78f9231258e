/* SPDX-License-Identifier: MIT */
#include "read_meta.h"

Str aot_output_name(AotOutputType t)
{
	static const Str names[] = {
		STR_INIT("unknown"),
#define AOT_OUTPUT(id, number, name) [number] = STR_INIT(name),
#include "aot_outputs.def"
#undef AOT_OUTPUT
	};
	ASSERT(t < AOT_OUTPUT_N);
	return names[t];
}

/* ---- the text: Name(key=value, ...), with values of any kind ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static uint32_t skip_blanks(Str s, uint32_t i)
{
	while (i < s.n && is_blank(s.p[i]))
		i++;
	return i;
}

static uint32_t skip_string(Str s, uint32_t at)
{
	uint32_t i = at + 1;
	while (i < s.n && s.p[i] != s.p[at])
		i += s.p[i] == '\\' ? 2 : 1;
	return i < s.n ? i + 1 : s.n;
}

/* End of the item that begins at `at`: the comma or closing bracket behind it, s.n when neither
 * comes. Brackets and quotes pair up inside <...> too. */
static uint32_t item_end(Str s, uint32_t at)
{
	uint32_t depth = 0;
	for (uint32_t i = at; i < s.n;) {
		char c = s.p[i];
		if (c == '\'' || c == '"') {
			i = skip_string(s, i);
			continue;
		}
		if (!depth && (c == ',' || c == ')' || c == ']' || c == '}'))
			return i;
		if (c == '(' || c == '[' || c == '{')
			depth++;
		else if (c == ')' || c == ']' || c == '}')
			depth--;
		i++;
	}
	return s.n;
}

/* The items between two brackets, one at a time. */
typedef struct Items {
	Str s;
	uint32_t at;
	bool cut; /* the text ends before the closing bracket */
} Items;

/* s.p[at] is the first byte behind the opening bracket. */
static Items items_of(Str s, uint32_t at)
{
	return (Items){s, at, false};
}

/* Is s `key` up to a "=" that is no "=="? Splits it off. */
static Str cut_key(Str *item)
{
	uint32_t i = 0;
	while (i < item->n && char_is_ident((unsigned char)item->p[i]))
		i++;
	if (!i || i + 1 >= item->n || item->p[i] != '=' || item->p[i + 1] == '=')
		return (Str){0};
	Str key = str_sub(*item, 0, i);
	*item = str_sub(*item, i + 1, item->n);
	return key;
}

static bool items_next(Items *it, Str *key, Str *value)
{
	uint32_t at = skip_blanks(it->s, it->at), end = item_end(it->s, at);
	*value = str_rtrim(str_sub(it->s, at, end));
	if (end == it->s.n) {
		it->cut = true;
		return false;
	}
	it->at = it->s.p[end] == ',' ? end + 1 : end;
	if (!value->n)
		return it->s.p[end] == ',';
	*key = cut_key(value);
	return true;
}

/* The items of Name(...) or [...]; false when the value is something else. */
static bool open_value(Str value, Str name, char bracket, Items *out)
{
	if (!str_starts(value, name) || value.n == name.n || value.p[name.n] != bracket)
		return false;
	*out = items_of(value, name.n + 1);
	return true;
}

/* ---- the structure ---- */

static MetaBool read_bool(Str value)
{
	return str_eq(value, S("True")) ? META_YES : str_eq(value, S("False")) ? META_NO : META_UNKNOWN;
}

static int64_t read_index(Str value)
{
	int64_t n;
	return str_to_i64(value, &n) && n >= 0 ? n : -1;
}

/* <OutputType.alias_of_input: 2>, OutputType.alias_of_input, 2 */
static AotOutputType read_output_type(Str value)
{
	int64_t number = read_index(value);
	if (number > 0 && number < AOT_OUTPUT_N)
		return (AotOutputType)number;
	Str head = S("OutputType.");
	if (value.n && value.p[0] == '<')
		value = str_sub(value, 1, str_find_char(value, ':', 0));
	value = str_starts(value, head) ? str_sub(value, head.n, value.n) : value;
	for (uint32_t i = 1; i < AOT_OUTPUT_N; i++)
		if (str_eq(value, aot_output_name((AotOutputType)i)))
			return (AotOutputType)i;
	return AOT_OUTPUT_UNKNOWN;
}

/* <class 'int'> */
static Str read_class(Str value)
{
	Str head = S("<class '");
	if (!str_starts(value, head) || !str_ends(value, S("'>")))
		return value;
	return str_sub(value, head.n, value.n - 2);
}

static AotInput read_input(Items it)
{
	static const struct {
		Str key;
		size_t at;
	} fields[] = {
#define AOT_INPUT(field) {STR_INIT(#field), offsetof(AotInput, field)},
#include "aot_inputs.def"
#undef AOT_INPUT
	};
	AotInput in = {0};
	for (Str key, value; key = (Str){0}, items_next(&it, &key, &value);)
		for (uint32_t i = 0; i < sizeof fields / sizeof *fields; i++)
			if (str_eq(fields[i].key, key))
				*(MetaBool *)((char *)&in + fields[i].at) = read_bool(value);
	return in;
}

static AotOutput read_output(Items it, Arena *keep)
{
	AotOutput out = {.base_idx = -1};
	for (Str key, value; key = (Str){0}, items_next(&it, &key, &value);) {
		if (str_eq(key, S("output_type")))
			out.type = read_output_type(value);
		else if (str_eq(key, S("base_idx")))
			out.base_idx = read_index(value);
		else if (str_eq(key, S("raw_type")))
			out.raw_type = str_copy(keep, read_class(value));
		else if (str_eq(key, S("requires_grad")))
			out.requires_grad = read_bool(value);
	}
	return out;
}

/* input_info=[InputAliasInfo(...), ...]; false when the list has another form. */
static bool read_inputs(Str value, Arena *keep, AotMeta *out)
{
	Items list, it;
	VEC(AotInput) all = {0};
	if (!open_value(value, (Str){0}, '[', &list))
		return false;
	for (Str key, item; items_next(&list, &key, &item);) {
		if (!open_value(item, S("InputAliasInfo"), '(', &it))
			return false;
		VEC_PUSH(keep, &all, read_input(it));
	}
	out->inputs = all.v;
	out->ninputs = all.n;
	return true;
}

static bool read_outputs(Str value, Arena *keep, AotMeta *out)
{
	Items list, it;
	VEC(AotOutput) all = {0};
	if (!open_value(value, (Str){0}, '[', &list))
		return false;
	for (Str key, item; items_next(&list, &key, &item);) {
		if (!open_value(item, S("OutputAliasInfo"), '(', &it))
			return false;
		VEC_PUSH(keep, &all, read_output(it, keep));
	}
	out->outputs = all.v;
	out->noutputs = all.n;
	return true;
}

static bool read_field(Str key, Str value, Arena *keep, AotMeta *out)
{
	if (str_eq(key, S("input_info")))
		return read_inputs(value, keep, out);
	if (str_eq(key, S("output_info")))
		return read_outputs(value, keep, out);
	if (str_eq(key, S("num_intermediate_bases")))
		out->num_intermediate_bases = read_index(value);
	else if (str_eq(key, S("keep_input_mutations")))
		out->keep_input_mutations = read_bool(value);
	else if (str_eq(key, S("is_train")))
		out->is_train = read_bool(value);
	else if (str_eq(key, S("subclass_inp_meta")))
		out->subclasses = str_has(value, S("SubclassCreationMeta("));
	return true;
}

static bool unread(Diags *diags, const Text *text, uint32_t at, uint32_t end, const char *why)
{
	diag_unread(diags, text_span(text, at, end), "%s", why);
	return false;
}

/* N of "aot_config id: N" */
static uint32_t read_aot_id(Str s, uint32_t before)
{
	Str head = S("aot_config id: ");
	uint32_t at = str_find(str_sub(s, 0, before), head, 0) + head.n, end = at, id;
	while (end < before && s.p[end] >= '0' && s.p[end] <= '9')
		end++;
	return str_to_u32(str_sub(s, at, end), &id) && id < UINT32_MAX ? id + 1 : 0;
}

bool read_meta(const Artifact *art, const Text *text, Arena *keep, Diags *diags, AotMeta *out)
{
	Str s = text->s, head = S("ViewAndMutationMeta(");
	uint32_t at = str_find(s, head, 0);
	*out = (AotMeta){.num_intermediate_bases = -1,
	                 .unit = art->unit,
	                 .compile_id = str_copy(keep, art->compile_id),
	                 .attempt = art->attempt,
	                 .process = str_copy(keep, art->process),
	                 .order = art->order,
	                 .aot_id = art->aot_id};
	if (at == s.n)
		return unread(diags, text, 0, s.n,
		              "no ViewAndMutationMeta(...) in what begins like AOT metadata");
	if (!out->aot_id)
		out->aot_id = read_aot_id(s, at);
	Items it = items_of(s, at + head.n);
	bool fine = true, inputs = false, outputs = false;
	for (Str key, value; key = (Str){0}, fine && items_next(&it, &key, &value);) {
		fine = read_field(key, value, keep, out);
		inputs = inputs || str_eq(key, S("input_info"));
		outputs = outputs || str_eq(key, S("output_info"));
		if (!fine)
			unread(diags, text, (uint32_t)(value.p - s.p), (uint32_t)(value.p - s.p) + value.n,
			       "a list of the AOT metadata has a form of no known version");
	}
	if (!fine)
		return false;
	if (it.cut)
		return unread(diags, text, at, s.n, "the AOT metadata ends early");
	if (!inputs || !outputs)
		return unread(diags, text, at, it.at,
		              "the AOT metadata has no list of inputs or none of outputs");
	out->span = text_span(text, at, it.at + 1);
	return true;
}
