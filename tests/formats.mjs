// SPDX-License-Identifier: MIT
// See formats.t.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { done, graphlint, ok, root, shared, tmp } from './tap.mjs';

const require = createRequire(import.meta.url);
const Ajv2020 = require('ajv/dist/2020');
const MarkdownIt = require('markdown-it');
const ts = require('typescript');
const { parse } = require('test-results-parser');
const multitool = join(root, 'tests/node_modules/@microsoft/sarif-multitool-linux');

// ---- inputs: a healthy log, the samples, damage, markup, a corpus where it is there ----

const HOSTILE = join(root, 'tests/hostile/report.txt');
const inputs = [
	['samples', ['--contract=fresh', 'samples']],
	['hostile', ['--show=note', HOSTILE]],
	['no graph', ['tests/package.json']],
	['damage', ['tests/cases/GL901-fires', 'tests/cases/GL902-fires']],
];
const story = join(shared, 'corpus/models/bigbird_like/hazard_aot_infer/log.txt');
if (existsSync(story)) inputs.push(['a model', ['--contract=fresh', story]]);

const report = (format, args) => graphlint([`--format=${format}`, '--fail-on=never', ...args]).stdout;

// ---- JSON ----

const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, strictRequired: false });
const schema = JSON.parse(readFileSync('analyzer/report.schema.json', 'utf8'));
const isReport = ajv.compile(schema);
const isLine = ajv.getSchema(schema.$id + '#/$defs/line%20of%20ndjson') ?? ajv.compile({ $ref: schema.$id + '#/$defs/line%20of%20ndjson' });
for (const [name, args] of inputs) {
	const json = JSON.parse(report('json', args));
	ok(isReport(json), `json fits the schema: ${name}`, ajv.errorsText(isReport.errors));
	const lines = report('ndjson', args).trim().split('\n').map((l) => JSON.parse(l));
	ok(lines.every((l) => isLine(l)), `ndjson fits the schema: ${name}`, ajv.errorsText(isLine.errors));
	const back = { findings: [], graphs: [], frames: [], unread: [] };
	for (const { type, ...rest } of lines.slice(1)) back[type === 'unread' ? type : type + 's'].push(rest);
	const { findings, graphs, frames, unread } = json;
	ok(JSON.stringify(back) === JSON.stringify({ findings, graphs, frames, unread }), `ndjson says the same: ${name}`);
}
{
	const json = JSON.parse(report('json', inputs[0][1]));
	const broken = [(j) => delete j.findings[0].rule, (j) => (j.findings[0].line = 0), (j) => (j.graphs[0].outputs[0].alias = 'x'), (j) => (j.schema = 2)];
	ok(broken.every((f) => { const j = structuredClone(json); f(j); return !isReport(j); }), 'the schema refuses what is broken');
}

// ---- SARIF ----

const isSarif = new Ajv2020({ strict: false, allErrors: true, validateFormats: false }).compile(JSON.parse(readFileSync(join(multitool, 'sarif-2.1.0.json'), 'utf8')));
const tool = join(multitool, 'Sarif.Multitool');
chmodSync(tool, 0o755);
const env = { ...process.env, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1' };
const run = (...args) => spawnSync(tool, args, { encoding: 'utf8', env, timeout: 120000 });
// A page of the project on the web does not exist.
const PERMITTED = new Set(['SARIF2005']);

function validate(name, file) {
	const out = `${file}.checked`;
	const r = run('validate', file, '-o', out, '--log', 'ForceOverwrite', '--rule-kind', 'Sarif;GHAS', '--level', 'Error;Warning');
	if (!ok(r.status === 0 && existsSync(out), `Microsoft's validator runs: ${name}`, r.stdout + r.stderr)) return;
	const results = JSON.parse(readFileSync(out, 'utf8')).runs[0].results.filter((x) => !PERMITTED.has(x.ruleId));
	ok(results.length === 0, `Microsoft's validator has nothing to say: ${name}`, results.map((x) => `${x.ruleId} ${JSON.stringify(x.message)}`).join('\n'));
}

// What GitHub needs of a file and the schema does not say.
function accepted(run) {
	const faults = [];
	const rules = run.tool.driver.rules;
	for (const r of rules)
		for (const text of [r.shortDescription.text, r.fullDescription.text, r.help.text, r.help.markdown])
			if (!text || (text !== r.help.text && text.length > 1024)) faults.push(`${r.id}: ${text}`);
	for (const r of run.results) {
		const ids = new Set(r.relatedLocations.map((l) => l.id));
		if (rules[r.ruleIndex].id !== r.ruleId) faults.push(`index of ${r.ruleId}`);
		for (const [, id] of r.message.text.matchAll(/\]\((\d+)\)/g)) if (!ids.has(+id)) faults.push(`link to ${id}`);
		if (r.relatedLocations.length && !r.message.text.includes('](1)')) faults.push('no link');
		if (r.locations.length !== 1) faults.push('one location');
		for (const flow of r.codeFlows ?? [])
			for (const [i, l] of flow.threadFlows[0].locations.entries())
				if (l.executionOrder !== i + 1 || l.nestingLevel === undefined || !l.kinds.length || !l.location.message.text) faults.push('step of a flow');
	}
	return faults;
}

for (const [name, args] of inputs) {
	const file = join(tmp, `${name}.sarif`);
	writeFileSync(file, report('sarif', args));
	const sarif = JSON.parse(readFileSync(file, 'utf8'));
	ok(isSarif(sarif), `sarif fits the OASIS schema: ${name}`, JSON.stringify(isSarif.errors?.slice(0, 4)));
	const faults = accepted(sarif.runs[0]);
	ok(faults.length === 0, `sarif has what GitHub needs: ${name}`, faults.join('\n'));
	validate(name, file);
}
{
	const unread = JSON.parse(report('sarif', inputs[3][1])).runs[0].invocations[0];
	ok(unread.toolExecutionNotifications.length >= 2 && unread.toolExecutionNotifications[0].locations[0].physicalLocation.region.startLine > 0,
		'text that was not read is a notification with its place');
	const none = JSON.parse(report('sarif', inputs[2][1])).runs[0].invocations[0];
	ok(none.toolExecutionNotifications[0].message.text.includes('no graph') && none.exitCode === 3, 'no graph is a notification, and the status is there');
}

// The line hash, beside the one that Microsoft's tool computes from the file.
{
	const text = 'def forward(self, x : torch.Tensor):\r\n    # \u00e9 \u{1F600}\r\n    view = x.view(-1)\r\n    view_1 = x.view(-1)\r\n    return (view, view_1, x)\r\n';
	writeFileSync(join(tmp, 'crlf.txt'), text);
	const file = join(tmp, 'hash.sarif'), out = join(tmp, 'hashed.sarif');
	const ours = JSON.parse(graphlint(['--format=sarif', 'crlf.txt', ...(existsSync(story) ? [story] : [])], { cwd: tmp }).stdout);
	const bare = structuredClone(ours);
	for (const r of bare.runs[0].results) delete r.partialFingerprints;
	bare.runs[0].originalUriBaseIds.SRCROOT.uri = pathToFileURL(tmp).href + '/';
	writeFileSync(file, JSON.stringify(bare));
	run('rewrite', file, '-o', out, '--insert', 'RollingHashPartialFingerprints', '--log', 'ForceOverwrite');
	const key = (s) => s.runs[0].results.map((r) => r.partialFingerprints?.primaryLocationLineHash).join(' ');
	const theirs = key(JSON.parse(readFileSync(out, 'utf8')));
	ok(theirs.length > 40 && theirs === key(ours), 'primaryLocationLineHash is what Microsoft\'s tool computes', `${theirs}\n${key(ours)}`);
}

// More results than are taken.
{
	const many = 26000;
	writeFileSync(join(tmp, 'many.txt'), `def forward(self, x : torch.Tensor, y : torch.Tensor):\n    add_ = y.add_(1)\n    return (${'x, '.repeat(many)})\n`);
	const run = JSON.parse(graphlint(['--format=sarif', '--contract=strict', join(tmp, 'many.txt')]).stdout).runs[0];
	const said = run.invocations[0].toolExecutionNotifications.map((x) => x.message.text).join(' ');
	const [, left, all] = /(\d+) of (\d+) findings are left out/.exec(said) ?? [];
	ok(run.results.length === 25000 && all >= many && all - left === 25000, 'at most 25,000 results, and what is left out is counted', `${run.results.length} ${said}`);
}

// Where a finding is.
{
	const log = join(root, 'tests/hostile/source.txt');
	const where = (...args) => JSON.parse(graphlint(['--format=sarif', ...args, log], { cwd: join(root, 'tests') }).stdout).runs[0].results[0].locations[0].physicalLocation;
	const dump = where(), source = where('--sarif-primary=source'), cut = where('--sarif-primary=source', '--source-root=/srv/app');
	ok(dump.artifactLocation.uri === 'hostile/source.txt' && dump.artifactLocation.uriBaseId === 'SRCROOT', 'a path below the working directory is relative', JSON.stringify(dump));
	ok(source.artifactLocation.uri === 'file:///srv/app/my%20model.py' && source.region.startLine === 41 && !source.region.startColumn, 'at the line of the program', JSON.stringify(source));
	ok(cut.artifactLocation.uri === 'my%20model.py', 'the root of the program is taken off', JSON.stringify(cut));
}

// ---- JUnit ----

for (const [name, args] of inputs) {
	const file = join(tmp, `${name}.xml`);
	const r = graphlint(['--format=junit', ...args]);
	writeFileSync(file, r.stdout);
	const parsed = parse({ type: 'junit', files: [file] });
	const all = parsed.suites.flatMap((s) => s.cases);
	const count = (status) => all.filter((c) => c.status === status).length;
	const [, tests, failures, errors] = /<testsuites [^>]*tests="(\d+)" failures="(\d+)" errors="(\d+)"/.exec(r.stdout).map(Number);
	ok(all.length === tests && count('FAIL') === failures + errors, `junit is read as it is meant: ${name}`, JSON.stringify([all.length, tests, count('FAIL'), failures, errors]));
	ok((failures > 0) === (r.status === 1) && (r.status !== 3 || errors > 0), `junit fails where the status says so: ${name}`, `${r.status} ${failures} ${errors}`);
	ok(spawnSync('python3', ['-c', 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])', file]).status === 0, `junit is well-formed: ${name}`);
}

// ---- GitLab ----

{
	const sources = [];
	for (const [name, args] of inputs) {
		const text = report('gitlab', args), issues = JSON.parse(text);
		ok(new Set(issues.map((i) => i.fingerprint)).size === issues.length && issues.every((i) => ['info', 'minor', 'critical'].includes(i.severity) && i.location.path && !i.description.includes('\n')),
			`gitlab: fingerprints are unique: ${name}`);
		sources.push(`{ const issues: (Issue & { fingerprint: string })[] = ${text}; void issues; }`);
	}
	mkdirSync(join(tmp, 'ts'));
	const file = join(tmp, 'ts/issues.ts');
	const check = (code) => {
		writeFileSync(file, `import type { Issue } from ${JSON.stringify(join(root, 'tests/node_modules/codeclimate-types/index.js'))};\n${code}`);
		const p = ts.createProgram([file], { noEmit: true, strict: true, types: [], module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext });
		return ts.getPreEmitDiagnostics(p).map((d) => ts.flattenDiagnosticMessageText(d.messageText, '\n'));
	};
	const faults = check(sources.join('\n'));
	ok(faults.length === 0, 'gitlab has the types of Code Climate issues', faults.join('\n'));
	ok(check('const i: Issue[] = [{ "type": "issue" }]; void i;').length > 0, 'these types refuse what is broken');
}

// ---- GitHub ----

// As the runner does: a line that begins with `::`, or has `##[` anywhere, is a command.
const COMMAND = /^\s*::([a-z]+) ([^:]*)::(.*)$/;
for (const [name, args] of inputs) {
	const lines = report('github', args).trimEnd().split('\n'), commands = lines.filter((l) => l.trimStart().startsWith('::'));
	const faults = commands.filter((l) => { const m = COMMAND.exec(l); return !m || !['error', 'warning', 'notice'].includes(m[1]) || !/title=GL\d+ [a-z-]+,file=[^,]+,line=\d+/.test(m[2]); });
	ok(faults.length === 0, `github: every command is an annotation: ${name}`, faults.join('\n'));
	ok(!lines.some((l) => l.includes('##[')), `github: no old command: ${name}`);
	const kinds = commands.map((l) => COMMAND.exec(l)[1]);
	ok(['error', 'warning', 'notice'].every((k) => kinds.filter((x) => x === k).length <= 10) && kinds.join() === [...kinds].sort().reverse().sort((a, b) => 'ewn'.indexOf(a[0]) - 'ewn'.indexOf(b[0])).join(),
		`github: errors first, at most ten of a kind: ${name}`);
}
{
	writeFileSync(join(tmp, 'dozen.txt'), Array.from({ length: 12 }, (_, i) => `def forward(self, x : torch.Tensor):\n    view_${i} = x.view(-1, ${'1, '.repeat(i)}1)\n    op${'abcdefghijkl'[i]} = view_${i}.t()\n    return (op${'abcdefghijkl'[i]},)\n\n`).join(''));
	const text = report('github', ['--contract=strict', join(tmp, 'dozen.txt')]);
	ok(text.match(/^::error/gm).length === 10 && text.includes('graphlint: 2 findings below are not annotated') && text.match(/^- .*\[GL101\]$/gm).length === 2,
		'github: what is not annotated is counted', text);
}

// ---- hostile text in what people read ----

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/;
const strings = (v) => (typeof v === 'string' ? [v] : v && typeof v === 'object' ? Object.entries(v).flatMap(([k, x]) => [k, ...strings(x)]) : []);
for (const format of ['text', 'concise', 'github', 'markdown', 'junit', 'gitlab', 'sarif']) {
	const text = report(format, ['--show=note', HOSTILE]);
	const hidden = (format === 'gitlab' || format === 'sarif' ? strings(JSON.parse(text)) : [text]).filter((t) => HIDDEN.test(t));
	ok(hidden.length === 0, `${format}: no control and no bidi character`, JSON.stringify(hidden[0]));
}
{
	const html = new MarkdownIt({ html: true, linkify: true }).render(report('markdown', ['--show=note', HOSTILE]));
	const names = [...new Set(html.match(/<[a-z][^ >]*/g))].filter((t) => !['<h2', '<h3', '<p', '<code', '<pre', '<ol', '<li', '<strong'].includes(t));
	ok(names.length === 0 && html.includes('&lt;script&gt;'), 'markdown: no markup of the dump', names.join());
	ok(!/@\w/.test(html.replace(/<code[\s\S]*?<\/code>/g, '')), 'markdown: nobody is called');
}
done();
