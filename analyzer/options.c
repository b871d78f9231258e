/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <inttypes.h>

#include "jobs.h"
#include "nearest.h"

typedef struct Parse {
	Options *o;
	Arena *a;
	Buf *why;
	Str format; /* of --format; it is looked up when the command is known */
	VEC(Str) outputs; /* of --output, likewise */
} Parse;

typedef struct Option Option;

/* Reads the value; false and a sentence in p->why when it is none. */
typedef bool SetFn(Parse *p, const Option *opt, Str value);

struct Option {
	const char *name;
	char letter;      /* 0: none */
	const char *arg;  /* what --help calls the value; NULL: takes none */
	const char *group; /* heading in --help, at the first of each group */
	SetFn *set;
	size_t field;     /* set_flag, set_file, set_limit: offset of the field in Options, in Limits */
	const char *help;
};

/* ---- values ---- */

static bool fault(Parse *p, const Option *opt, Str value, const Nearest *near, const char *what)
{
	buf_printf(p->why, "--%s: %s '" STR_FMT "'", opt->name, what, STR_ARG(value));
	if (near)
		nearest_say(near, p->why);
	return false;
}

static bool set_flag(Parse *p, const Option *opt, Str value)
{
	(void)value;
	*(bool *)((char *)p->o + opt->field) = true;
	return true;
}

static bool set_format(Parse *p, const Option *opt, Str value)
{
	(void)opt;
	p->format = value;
	return true;
}

static bool set_output(Parse *p, const Option *opt, Str value)
{
	uint32_t colon = str_find_char(value, ':', 0);
	if (!colon || colon + 1 >= value.n)
		return fault(p, opt, value, NULL, "a format and a file are needed, as sarif:out.sarif, not");
	VEC_PUSH(p->a, &p->outputs, value);
	return true;
}

static bool set_primary(Parse *p, const Option *opt, Str value)
{
	Nearest near = nearest_to(value);
	nearest_try(&near, S("dump"));
	nearest_try(&near, S("source"));
	p->o->at_source = str_eq(value, S("source"));
	return p->o->at_source || str_eq(value, S("dump")) || fault(p, opt, value, &near, "it is dump or source, not");
}

static bool set_jobs(Parse *p, const Option *opt, Str value)
{
	uint32_t n;
	if (!str_to_u32(value, &n) || !n)
		return fault(p, opt, value, NULL, "a number above 0 is needed, not");
	p->o->cfg.jobs = n;
	return true;
}

static bool set_source_root(Parse *p, const Option *opt, Str value)
{
	(void)opt;
	p->o->source_root = value;
	return true;
}

static bool set_contract(Parse *p, const Option *opt, Str value)
{
	Nearest near = nearest_to(value);
	for (int i = 0; i < CONTRACT_N; i++)
		nearest_try(&near, contract_name((ContractName)i));
	return contract_parse(value, &p->o->cfg.contract.name) ||
		fault(p, opt, value, &near, "unknown contract");
}

static bool set_keep(Parse *p, const Option *opt, Str value)
{
	Str why;
	if (contract_keep_parse(value, &p->o->cfg.contract, p->a, &why))
		return true;
	buf_printf(p->why, "--%s: " STR_FMT, opt->name, STR_ARG(why));
	return false;
}

static bool set_torch(Parse *p, const Option *opt, Str value)
{
	Version v;
	if (!version_parse(value, &v))
		return fault(p, opt, value, NULL, "a version looks like 2.13, not like");
	p->o->cfg.torch = (VersionSpan){v, v};
	return true;
}

static bool parse_level(Str value, bool never, Severity *out)
{
	if (never && str_eq(value, S("never"))) {
		*out = SEV_NONE;
		return true;
	}
	Severity s;
	if (!severity_parse(value, &s) || s == SEV_NONE)
		return false;
	*out = s;
	return true;
}

static bool set_level(Parse *p, const Option *opt, Str value, bool never, Severity *out)
{
	Nearest near = nearest_to(value);
	for (int i = SEV_NOTE; i <= SEV_ERROR; i++)
		nearest_try(&near, severity_name((Severity)i));
	if (never)
		nearest_try(&near, S("never"));
	return parse_level(value, never, out) || fault(p, opt, value, &near, "unknown level");
}

static bool set_fail_on(Parse *p, const Option *opt, Str value)
{
	return set_level(p, opt, value, true, &p->o->cfg.fail_on);
}

static bool set_show(Parse *p, const Option *opt, Str value)
{
	p->o->show_given = true;
	return set_level(p, opt, value, false, &p->o->cfg.show);
}

static bool set_rules(Parse *p, const Option *opt, Str value)
{
	(void)opt;
	VEC_PUSH(p->a, &p->o->rule_files, value);
	return true;
}

static bool set_facts(Parse *p, const Option *opt, Str value)
{
	(void)opt;
	VEC_PUSH(p->a, &p->o->facts, value);
	return true;
}

/* A list of words about rules. */
static bool add_asks(Parse *p, const Option *opt, Str value, AskKind kind)
{
	Str word, from = str_printf(p->a, "--%s", opt->name);
	uint32_t n = 0;
	for (; str_cut(&value, ',', &word); n++) {
		word = str_trim(word);
		if (!word.n)
			return fault(p, opt, word, NULL, "an id, a name or the beginning of ids is needed, not");
		VEC_PUSH(p->a, &p->o->cfg.asks, ((RuleAsk){kind, word, SEV_NONE, true, from}));
	}
	return n || fault(p, opt, value, NULL, "an id, a name or the beginning of ids is needed, not");
}

static bool set_select(Parse *p, const Option *opt, Str value)
{
	return add_asks(p, opt, value, ASK_SELECT);
}

static bool set_ignore(Parse *p, const Option *opt, Str value)
{
	return add_asks(p, opt, value, ASK_IGNORE);
}

/* GL101=error,self-copy=off */
static bool set_rule_level(Parse *p, const Option *opt, Str value)
{
	Str part, from = str_printf(p->a, "--%s", opt->name);
	if (!value.n)
		return fault(p, opt, value, NULL, "a rule and its level look like GL101=error, not like");
	while (str_cut(&value, ',', &part)) {
		uint32_t eq = str_find_char(part, '=', 0);
		Str word = str_trim(str_sub(part, 0, eq)), level = str_trim(str_sub(part, eq + 1, part.n));
		RuleAsk ask = {ASK_LEVEL, word, SEV_NONE, true, from};
		if (!word.n || eq == part.n)
			return fault(p, opt, part, NULL, "a rule and its level look like GL101=error, not like");
		if (!rule_level_parse(level, &ask.level)) {
			Nearest near = nearest_to(level);
			rule_level_near(&near);
			return fault(p, opt, level, &near, "a level is error, warning, note or off, not");
		}
		VEC_PUSH(p->a, &p->o->cfg.asks, ask);
	}
	return true;
}

static bool set_dump(Parse *p, const Option *opt, Str value)
{
	unsigned passes = 0;
	Str bad = {0};
	if (!dump_parse(value, &passes, &bad))
		return fault(p, opt, bad, NULL, "unknown pass");
	p->o->dump |= passes;
	return true;
}

static bool set_color(Parse *p, const Option *opt, Str value)
{
	static const Str words[] = {
		[COLOR_AUTO] = STR_INIT("auto"),
		[COLOR_ALWAYS] = STR_INIT("always"),
		[COLOR_NEVER] = STR_INIT("never"),
	};
	Nearest near = nearest_to(value);
	for (int i = COLOR_AUTO; i <= COLOR_NEVER; i++) {
		nearest_try(&near, words[i]);
		if (str_eq(value, words[i])) {
			p->o->color = (ColorWhen)i;
			return true;
		}
	}
	return fault(p, opt, value, &near, "colour is auto, always or never, not");
}

static bool set_file(Parse *p, const Option *opt, Str value)
{
	if (!value.n)
		return fault(p, opt, value, NULL, "a file is needed, not");
	*(Str *)((char *)p->o + opt->field) = value;
	return true;
}

static bool set_stdin_name(Parse *p, const Option *opt, Str value)
{
	if (!value.n)
		return fault(p, opt, value, NULL, "a name is needed, not");
	p->o->stdin_name = value;
	return true;
}

/* A count with K, M or G (1024 each) behind it. */
static bool parse_amount(Str s, uint64_t *out)
{
	int64_t v;
	int shift = 0;
	if (str_ends(s, S("K")))
		shift = 10;
	else if (str_ends(s, S("M")))
		shift = 20;
	else if (str_ends(s, S("G")))
		shift = 30;
	if (!str_to_i64(str_sub(s, 0, s.n - (shift ? 1 : 0)), &v) || v <= 0 || v > INT64_MAX >> shift)
		return false;
	*out = (uint64_t)v << shift;
	return true;
}

static bool set_limit(Parse *p, const Option *opt, Str value)
{
	uint64_t *field = (uint64_t *)((char *)&p->o->cfg.limits + opt->field);
	return parse_amount(value, field) ||
		fault(p, opt, value, NULL, "a number above 0 is needed, also as 64M, not");
}

/* ---- the table ---- */

static const Option options[] = {
	{"format", 'f', "FORMAT", "Output", set_format, 0, NULL},
	{"output", 'o', "FORMAT:FILE", NULL, set_output, 0,
		"write this report to a file too; may be given again"},
	{"show", 0, "LEVEL", NULL, set_show, 0,
		"lowest level that people are shown: note, warning (default), error"},
	{"sarif-primary", 0, "PLACE", NULL, set_primary, 0,
		"where sarif, github and gitlab put a finding: dump (default), or source: your line that the dump names"},
	{"source-root", 0, "DIR", NULL, set_source_root, 0,
		"folder of your program when it was captured, taken off the names of its files there"},
	{"color", 0, "WHEN", NULL, set_color, 0,
		"auto (default), always, never; NO_COLOR and FORCE_COLOR are heeded"},
	{"quiet", 'q', NULL, NULL, set_flag, offsetof(Options, quiet), "no summary, no progress on the terminal"},
	{"verbose", 'v', NULL, NULL, set_flag, offsetof(Options, verbose), "say on standard error what was seen in each file"},
	{"statistics", 0, NULL, NULL, set_flag, offsetof(Options, statistics),
		"findings by rule and by file, and the time of each pass, on standard error"},
	{"dump", 0, "PASSES", NULL, set_dump, 0,
		"print passes in place of the report: split,ir,types,alias,link,match"},

	{"contract", 0, "NAME", "What is taken for granted", set_contract, 0,
		"what the compiler keeps: auto (default), fresh, aot, cudagraphs, strict"},
	{"keep", 0, "SWITCHES", NULL, set_keep, 0,
		"on top of it, as input_writes=no,strides=yes; also output_input, output_output, identity"},
	{"torch", 0, "VERSION", NULL, set_torch, 0,
		"PyTorch that printed the dump; else taken from the dump"},
	{"facts", 0, "FILE", NULL, set_facts, 0,
		"operators of your own: schemas, or rows as in rules/ops.tsv; may be given again"},

	{"config", 0, "FILE", "Configuration", set_file, offsetof(Options, config),
		"this file in place of .graphlint.yaml upward from the dump, then from the working directory"},
	{"isolated", 0, NULL, NULL, set_flag, offsetof(Options, isolated), "no configuration file"},

	{"rules", 0, "DIR", "Rules", set_rules, 0, "rules of your own: a file, or the .yaml files of a folder; may be given again"},
	{"select", 0, "RULES", NULL, set_select, 0,
		"only these: ids, names, beginnings of ids (GL1), all; the longer word wins over the shorter"},
	{"ignore", 0, "RULES", NULL, set_ignore, 0, "not these"},
	{"level", 0, "RULE=LEVEL", NULL, set_rule_level, 0,
		"level of all findings of a rule: error, warning, note, off; what the contract keeps stays a note"},
	{"negate", 0, NULL, NULL, set_flag, offsetof(Options, negate),
		"test: also with each condition negated and left out; one that no test sees is told"},

	{"fail-on", 0, "LEVEL", "What counts", set_fail_on, 0,
		"lowest level that gives status 1: note, warning (default), error, never"},
	{"allow-incomplete", 0, NULL, NULL, set_flag, offsetof(Options, cfg.allow_incomplete),
		"status 0 in place of 3 when input could not be read, or holds no graph"},

	{"baseline", 0, "FILE", "Findings that were there already", set_file, offsetof(Options, baseline),
		"findings in this file are suppressed; those beyond it are new"},
	{"write-baseline", 0, "FILE", NULL, set_file, offsetof(Options, write_baseline),
		"write the findings of this run to such a file"},

	{"jobs", 'j', "N", "Work", set_jobs, 0,
		"at most N processes at once (default: as many as processors); the output is the same for any N"},

	{"stdin-filename", 0, "NAME", "Input", set_stdin_name, 0,
		"what to call standard input (`-`); default <stdin>"},

#define LIMIT(field, flag, value, unit, text)                                                      \
	{flag, 0, "N", NULL, set_limit, offsetof(Limits, field), unit "; beyond: " text},
#include "limits.def"
#undef LIMIT

	{"help", 'h', NULL, "Other", set_flag, offsetof(Options, help), "this text"},
	{"version", 'V', NULL, NULL, set_flag, offsetof(Options, version), "version of graphlint"},
};

enum { NOPTIONS = sizeof options / sizeof *options, LONG_BASE = 256 };

/* The forms that config has; it reads no dump, so nobody writes them from a run. */
static const Writer test_writers[] = {
	{"text", "a line for each test, and what came out of those that failed", NULL, true},
	{"json", "for programs", NULL, true},
	{NULL, NULL, NULL, false},
};

static const Writer config_writers[] = {
	{"text", "YAML that can be a configuration itself", NULL, true},
	{"json", "for programs", NULL, true},
	{NULL, NULL, NULL, false},
};

static const struct {
	Str name;
	const char *args;
	const Writer *writers; /* formats, the first is the default; NULL: prints one thing only */
	bool reads;            /* takes files and folders */
	const char *statuses;  /* that it may end with */
	const char *help;
} commands[CMD_N] = {
	[CMD_CHECK] = {STR_INIT("check"), "PATH...", report_writers, true, "0 1 2 3 4",
		"say what captured graphs alias and write (also without this word)"},
	[CMD_GRAPH] = {STR_INIT("graph"), "PATH...", graph_writers, true, "0 2 3 4",
		"print the program: frames, graphs, what crosses between them, who shares and writes what"},
	[CMD_SUSPECTS] = {STR_INIT("suspects"), "PATH...", suspects_writers, true, "0 2 3 4",
		"rank the graphs that change the program's result when they alone are compiled"},
	[CMD_INVENTORY] = {STR_INIT("inventory"), "PATH...", inventory_writers, true, "0 2 3 4",
		"list files and what each holds, programs and their links, and what was not read and why"},
	[CMD_CONFIRM] = {STR_INIT("confirm"), "GRAPH:out0 PATH...", NULL, true, "0 2 3 4",
		"print a Python backend that cuts this output (GRAPH:in2: hides this write), to try it"},
	[CMD_CAPTURE] = {STR_INIT("capture"), "", NULL, false, "0 2 4",
		"print how to capture what graphlint reads, by PyTorch version"},
	[CMD_RULES] = {STR_INIT("rules"), "", rules_writers, false, "0 2 4",
		"list the rules, a line each: id, level in force, name, summary"},
	[CMD_EXPLAIN] = {STR_INIT("explain"), "RULE", explain_writers, false, "0 2 4",
		"print what a rule (id or name) says, when it is harmless, what to do"},
	[CMD_CONFIG] = {STR_INIT("config"), "[PATH...]", config_writers, false, "0 2 4",
		"print the settings in force (for these dumps) and where each comes from"},
	[CMD_TEST] = {STR_INIT("test"), "[DIR...]", test_writers, false, "0 1 2 4",
		"run the tests of rules: the dumps on which they have to fire or to stay silent (default: rules/)"},
	[CMD_INIT] = {STR_INIT("init"), "", NULL, false, "0 2 4",
		"write a commented .graphlint.yaml into the working directory"},
	[CMD_LSP] = {STR_INIT("lsp"), "", NULL, false, "0 2 4",
		"a language server on standard input and output, for editors"},
};

/* ---- parsing ---- */

static bool unknown_option(Parse *p, Str word)
{
	Str name = str_sub(word, 2, str_find_char(word, '=', 0));
	Nearest near = nearest_to(name);
	uint32_t fits = 0;
	for (int i = 0; i < NOPTIONS; i++) {
		nearest_try(&near, str_from_c(options[i].name));
		fits += str_starts(str_from_c(options[i].name), name);
	}
	if (fits > 1) {
		buf_printf(p->why, "--" STR_FMT " may be", STR_ARG(name));
		const char *before = " ";
		for (int i = 0; i < NOPTIONS; i++)
			if (str_starts(str_from_c(options[i].name), name)) {
				buf_printf(p->why, "%s--%s", before, options[i].name);
				before = ", ";
			}
		return false;
	}
	buf_printf(p->why, "unknown option '--" STR_FMT "'", STR_ARG(name));
	if (near.best.n)
		buf_printf(p->why, " (did you mean '--" STR_FMT "'?)", STR_ARG(near.best));
	return false;
}

static const Option *option_of(int c)
{
	if (c >= LONG_BASE && c < LONG_BASE + NOPTIONS)
		return &options[c - LONG_BASE];
	for (int i = 0; i < NOPTIONS; i++)
		if (options[i].letter == c)
			return &options[i];
	return NULL;
}

/* What getopt_long could not take; it has moved behind the word. */
static bool bad_option(Parse *p, int c, char **argv)
{
	Str word = str_from_c(argv[optind - 1]);
	const Option *opt = optopt ? option_of(optopt) : NULL;
	if (opt && c == ':')
		buf_printf(p->why, "--%s needs a value: %s", opt->name, opt->arg);
	else if (opt)
		buf_printf(p->why, "--%s takes no value", opt->name);
	else if (optopt)
		buf_printf(p->why, "unknown option '-%c'", optopt > ' ' && optopt < 0x7f ? optopt : '?');
	else
		return unknown_option(p, word);
	return false;
}

static void add_word(Parse *p, Str word, bool may_be_command)
{
	for (int i = 0; may_be_command && i < CMD_N; i++)
		if (str_eq(word, commands[i].name)) {
			p->o->command = (Command)i;
			return;
		}
	bool takes_target = p->o->command == CMD_CONFIRM || p->o->command == CMD_EXPLAIN;
	if (takes_target && !p->o->target.n)
		p->o->target = word;
	else
		VEC_PUSH(p->a, &p->o->paths, word);
}

void options_command_near(Str word, Buf *out)
{
	Nearest near = nearest_to(word);
	for (int i = 0; i < CMD_N; i++)
		nearest_try(&near, commands[i].name);
	if (near.best.n)
		buf_printf(out, " (did you mean the command '" STR_FMT "'?)", STR_ARG(near.best));
}

bool options_command_reads(Command c)
{
	return commands[c].reads;
}

static bool parse_words(Parse *p, int argc, char **argv, const struct option *longs,
	const char *shorts)
{
	bool first = true; /* a command can only be the first word */
	int c;
	optind = 0;        /* the GNU way to begin anew */
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			return bad_option(p, c, argv);
		if (c == 1) {
			add_word(p, str_from_c(optarg), first);
			first = false;
			continue;
		}
		const Option *opt = option_of(c);
		ASSERT(opt);
		VEC_PUSH(p->a, &p->o->given, str_from_c(opt->name));
		if (!opt->set(p, opt, optarg ? str_from_c(optarg) : (Str){0}))
			return false;
	}
	for (; optind < argc; optind++) /* behind -- */
		add_word(p, str_from_c(argv[optind]), false);
	return true;
}

/* The format by its name, among those of the command; NULL, and a sentence in p->why. */
static const Writer *find_format(Parse *p, const char *option, Str name)
{
	const Writer *writers = commands[p->o->command].writers;
	Nearest near = nearest_to(name);
	for (const Writer *w = writers; w && w->name; w++) {
		nearest_try(&near, str_from_c(w->name));
		if (str_eq(name, str_from_c(w->name)))
			return w;
	}
	Str command = commands[p->o->command].name;
	if (writers)
		buf_printf(p->why, "--%s: unknown format '" STR_FMT "'", option, STR_ARG(name));
	else
		buf_printf(p->why, "--%s: " STR_FMT " has one form only", option, STR_ARG(command));
	if (writers && p->o->command != CMD_CHECK)
		buf_printf(p->why, " of " STR_FMT, STR_ARG(command));
	if (writers)
		nearest_say(&near, p->why);
	return NULL;
}

static bool choose_formats(Parse *p)
{
	p->o->writer = p->format.n ? find_format(p, "format", p->format) : commands[p->o->command].writers;
	if (p->format.n && !p->o->writer)
		return false;
	for (uint32_t i = 0; i < p->outputs.n; i++) {
		Str value = p->outputs.v[i];
		uint32_t colon = str_find_char(value, ':', 0);
		const Writer *w = find_format(p, "output", str_sub(value, 0, colon));
		if (!w)
			return false;
		VEC_PUSH(p->a, &p->o->outputs, ((OutputFile){w, str_sub(value, colon + 1, value.n)}));
	}
	return true;
}

/* Only check ends with 1. Suspects are those of a compiler that keeps the writes and returns new outputs. */
void options_settle(Options *o)
{
	Contract *c = &o->cfg.contract;
	if (o->command != CMD_CHECK && o->command != CMD_CONFIG)
		o->cfg.fail_on = SEV_NONE;
	if (o->command == CMD_SUSPECTS && c->name == CONTRACT_AUTO) {
		c->name = CONTRACT_FRESH;
		if (!(c->keep_set & KEEP_INPUT_WRITES))
			c->keep_value |= KEEP_INPUT_WRITES;
		c->keep_set |= KEEP_INPUT_WRITES;
	}
}

static void check_paths(const Options *o, Buf *why)
{
	uint32_t standard = 0;
	for (uint32_t i = 0; i < o->paths.n; i++)
		standard += str_eq(o->paths.v[i], S("-"));
	if (standard > 1)
		buf_add(why, S("`-` is given twice: standard input can be read once"));
	else if (o->paths.n && !commands[o->command].reads && o->command != CMD_CONFIG && o->command != CMD_TEST)
		buf_printf(why, STR_FMT " takes no files: '" STR_FMT "'", STR_ARG(commands[o->command].name),
			STR_ARG(o->paths.v[0]));
	else if (o->command == CMD_CONFIRM && !o->target.n)
		buf_add(why, S("confirm needs a boundary, as __compiled_fn_3:out0 or __compiled_fn_3:in2"));
	else if ((o->command == CMD_CONFIG || o->command == CMD_TEST) && o->outputs.n)
		buf_printf(why, STR_FMT " prints to standard output only", STR_ARG(commands[o->command].name));
	else if (o->negate && o->command != CMD_TEST)
		buf_add(why, S("--negate is for test only"));
	else if (o->write_baseline.n && o->command != CMD_CHECK)
		buf_add(why, S("--write-baseline is for check only"));
	else if (o->command == CMD_EXPLAIN && !o->target.n)
		buf_add(why, S("explain needs a rule, as GL101 or output-aliases-input; graphlint rules lists them"));
	else if (!o->paths.n && commands[o->command].reads)
		buf_add(why, S("nothing to read: name files or folders, or - for standard input"));
}

bool options_parse(Options *o, Arena *a, int argc, char **argv, Buf *why)
{
	Parse p = {.o = o, .a = a, .why = why};
	Buf shorts = {.a = a};
	struct option *longs = NEW_N(a, struct option, NOPTIONS + 1);
	*o = (Options){.cfg = config_default(), .writer = report_writers, .stdin_name = S("<stdin>")};
	o->cfg.jobs = jobs_processors();
	buf_add(&shorts, S("-:")); /* words in their order, `:` for a value that is missing */
	for (int i = 0; i < NOPTIONS; i++) {
		int takes = options[i].arg ? required_argument : no_argument;
		longs[i] = (struct option){options[i].name, takes, NULL, LONG_BASE + i};
		if (options[i].letter)
			buf_printf(&shorts, "%c%s", options[i].letter, options[i].arg ? ":" : "");
	}
	if (!parse_words(&p, argc, argv, longs, str_to_c(a, buf_str(&shorts))))
		return false;
	if (o->help || o->version)
		return true;
	if (!choose_formats(&p))
		return false;
	o->json = o->writer && str_eq(str_from_c(o->writer->name), S("json"));
	check_paths(o, why);
	return why->n == 0;
}

/* ---- help ---- */

static void add_amount(Buf *out, uint64_t v)
{
	static const char units[] = "GM";
	for (int i = 0; units[i]; i++) {
		uint64_t unit = (uint64_t)1 << (30 - 10 * i);
		if (v >= unit && v % unit == 0) {
			buf_printf(out, "%" PRIu64 "%c", v / unit, units[i]);
			return;
		}
	}
	buf_printf(out, "%" PRIu64, v);
}

enum { HELP_COLUMN = 28 };

static void pad(Buf *out, uint32_t line)
{
	uint32_t used = out->n - line;
	if (used >= HELP_COLUMN) {
		buf_char(out, '\n');
		used = 0;
	}
	while (used++ < HELP_COLUMN)
		buf_char(out, ' ');
}

static void help_formats(Buf *out, uint32_t line)
{
	bool first = true;
	for (int c = 0; c < CMD_N; c++)
		for (const Writer *w = commands[c].writers; w && w->name; w++) {
			if (!first) {
				line = out->n;
				pad(out, line);
			}
			first = false;
			if (c != CMD_CHECK)
				buf_printf(out, STR_FMT ", ", STR_ARG(commands[c].name));
			buf_printf(out, "%s: %s\n", w->name, w->summary);
		}
}

static void help_option(Buf *out, const Option *opt)
{
	if (opt->group)
		buf_printf(out, "\n%s:\n", opt->group);
	uint32_t line = out->n;
	if (opt->letter)
		buf_printf(out, "  -%c, --%s", opt->letter, opt->name);
	else
		buf_printf(out, "      --%s", opt->name);
	if (opt->arg)
		buf_printf(out, "=%s", opt->arg);
	pad(out, line);
	if (opt->set == set_limit) {
		Limits l = limits_default();
		buf_add(out, S("at most N (default "));
		add_amount(out, *(const uint64_t *)((const char *)&l + opt->field));
		buf_printf(out, ") %s\n", opt->help);
	} else if (opt->set == set_format) {
		help_formats(out, line);
	} else {
		buf_printf(out, "%s\n", opt->help);
	}
}

/* What each command may end with, and whether it has JSON. */
static void help_statuses(Buf *out)
{
	buf_add(out, S("\nExit statuses and JSON of each command (README: what the JSON holds):\n"));
	for (int i = 0; i < CMD_N; i++) {
		bool json = false;
		uint32_t line = out->n;
		for (const Writer *w = commands[i].writers; w && w->name; w++)
			json |= str_eq(str_from_c(w->name), S("json"));
		buf_printf(out, "  " STR_FMT, STR_ARG(commands[i].name));
		pad(out, line);
		buf_printf(out, "%s%s\n", commands[i].statuses, json ? "  --format=json" : "");
	}
}

void options_help(Buf *out)
{
	buf_add(out, S("graphlint [COMMAND] [OPTIONS] PATH...\n"
		"Reads captured PyTorch graphs (logs, printed modules, debug folders) and says at which boundaries\n"
		"of a graph the program would notice a compiler that returns new tensors or leaves inputs alone.\n"
		"\nCommands (a first word that is one of them wins over a file of that name):\n"));
	for (int i = 0; i < CMD_N; i++) {
		uint32_t line = out->n;
		buf_printf(out, "  " STR_FMT "%s%s", STR_ARG(commands[i].name), *commands[i].args ? " " : "",
			commands[i].args);
		pad(out, line);
		buf_printf(out, "%s\n", commands[i].help);
	}
	for (int i = 0; i < NOPTIONS; i++)
		help_option(out, &options[i]);
	help_statuses(out);
	buf_add(out, S("\nExit status:\n"
		"  0  nothing at or above --fail-on\n"
		"  1  check: findings at or above --fail-on (GL901 to GL906 never count); test: a test failed\n"
		"  2  the command line, the configuration, a rule, facts or a baseline has a fault, or confirm finds no such boundary\n"
		"  3  no such finding, but input could not be read, or only in part, or holds no graph\n"
		"  4  failure of the machine or of graphlint itself\n"
		"\nTo capture (more: graphlint capture):\n"
		"  TORCH_LOGS=\"graph_code,bytecode,graph_breaks\" python model.py 2>log.txt\n"));
}
