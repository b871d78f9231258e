/* SPDX-License-Identifier: MIT
 * A rule file; what loads is matched with a small program. */
#include "fuzz.h"

static const char PROGRAM[] =
	"class GraphModule(torch.nn.Module):\n"
	"    def forward(self, x: \"f32[4, 4][4, 1]cpu\", y : torch.Tensor):\n"
	"        # File: /srv/model.py:7 in attend, code: a = x.contiguous()\n"
	"        a: \"f32[4, 4][4, 1]cpu\" = x.contiguous()\n"
	"        b: \"f32[16][1]cpu\" = a.view(16)\n"
	"        submod_0: \"f32[16][1]cpu\" = self.submod_0(b, y)\n"
	"        c = torch.cat([b, submod_0], dim = 0)\n"
	"        d = c[(slice(None, 4, None), -1)]\n"
	"        return (b, c, d)\n"
	"\n"
	"    class submod_0(torch.nn.Module):\n"
	"        def forward(self, b: \"f32[16][1]cpu\", y):\n"
	"            add_: \"f32[16][1]cpu\" = b.add_(y)\n"
	"            return add_\n";

/* Made once: loading them takes longer than a rule. */
static Tables *tables_once(void)
{
	static Tables tables;
	static bool made;
	if (!made)
		tables_init(&tables);
	made = true;
	return &tables;
}

static void match(Tables *t, Rules *rules)
{
	Rules *before = t->rules;
	Config cfg = config_default();
	Run r;
	Str why;
	cfg.limits.match_steps = 20000;
	t->rules = rules;
	run_init(&r, t, &cfg);
	sources_add_bytes(&r.sources, S("fuzz.txt"), S(PROGRAM), 0, &why);
	run_analyse(&r);
	fuzz_check_places(&r.diags, sizeof PROGRAM);
	run_free(&r);
	t->rules = before;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Tables *t = tables_once();
	Arena a = arena_new(NULL);
	Rules rules = *t->rules, added;
	uint32_t n = rules.v.n;
	Buf errors = {.a = &a};
	bool loaded = rules_load(&rules, &a, S("fuzz.yaml"), fuzz_str(data, size), &errors);
	ASSERT(loaded == (errors.n == 0));
	ASSERT(loaded == (rules.v.n > n));
	if (loaded)
		match(t, &rules);
	added = (Rules){.v = {rules.v.v + n, rules.v.n - n, 0}};
	rules_free(&added);
	arena_free(&a);
	return 0;
}
