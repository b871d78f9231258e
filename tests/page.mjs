// SPDX-License-Identifier: MIT
// See page.t.
import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { done, graphlint, ok, root, shared, skip, tmp } from './tap.mjs';

const require = createRequire(import.meta.url);
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });

// Writes a page and opens it. Errors of scripts and requests for anything but the file are kept.
async function open(args, options = {}) {
	const file = join(tmp, `page-${Math.random().toString(36).slice(2)}.html`);
	graphlint([`--output=html:${file}`, '--fail-on=never', ...args]);
	const context = await browser.newContext({ viewport: { width: 1500, height: 950 }, ...options });
	const page = await context.newPage();
	page.trouble = [];
	page.on('pageerror', (e) => page.trouble.push(e.message));
	page.on('console', (m) => { if (m.type() === 'error') page.trouble.push(m.text()); });
	page.on('request', (r) => { if (r.url() !== pathToFileURL(file).href && !r.url().startsWith('data:')) page.trouble.push(r.url()); });
	await page.goto(pathToFileURL(file).href);
	page.text = readFileSync(file, 'utf8');
	return page;
}

async function accessible(page, name) {
	await page.evaluate(axe);
	const { violations } = await page.evaluate(() => axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }));
	ok(violations.length === 0, `contrast and labels: ${name}`, violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120) + ' ' + n.failureSummary).join(' | ')}`).join('\n'));
}

const visible = (page) => page.locator('.list li:not([hidden])').count();

// ---- two programs of the samples: filters, keys, folding ----
{
	const page = await open(['--contract=fresh', 'samples/bigbird']);
	ok((await page.locator('article:visible').count()) === 1, 'one finding is open at first');
	ok((await page.locator('.list li:not([hidden]) button[aria-current=true]').count()) === 1, 'it is marked in the list');
	const all = await page.locator('.list li').count(), shown = await visible(page);
	await page.locator('.sevs input[value=note]').check();
	ok((await visible(page)) === all && all > shown, 'notes are shown when asked for', `${shown} ${all}`);
	await page.locator('.sevs input[value=note]').uncheck();
	await page.keyboard.press('Escape');
	await page.keyboard.press('/');
	await page.keyboard.type('no such thing anywhere');
	ok((await visible(page)) === 0 && (await page.locator('#count').textContent()) === `0 of ${all}`, 'search narrows the list, and the count says so');
	await page.locator('#search').fill('');
	await page.keyboard.press('Escape');
	await page.keyboard.press('Escape');
	ok((await page.locator('article:visible').count()) === 0 && (await page.locator('#none').isVisible()), 'Escape: nothing is chosen');
	await page.keyboard.press('j');
	const first = await page.evaluate(() => location.hash);
	await page.keyboard.press('j');
	const second = await page.evaluate(() => location.hash);
	await page.keyboard.press('k');
	ok(first === (await page.evaluate(() => location.hash)) && (shown < 2 || first !== second), 'j and k go through the list', `${first} ${second}`);
	const graph = page.locator('.picture .graph').first();
	await page.locator('#open').click();
	const before = await page.locator('.picture .row:not(.hidden)').count();
	await graph.focus();
	await page.keyboard.press('Enter');
	ok((await page.locator('.picture .row:not(.hidden)').count()) < before && (await graph.getAttribute('aria-expanded')) === 'false', 'Enter closes a graph');
	await graph.click();
	ok((await page.locator('.picture .row:not(.hidden)').count()) === before, 'a click opens it');
	await page.locator('#close').click();
	const touching = await page.evaluate(() => { const y = [...document.querySelectorAll('.picture .row:not(.hidden)')].map((r) => r.transform.baseVal[0].matrix.f); return y.every((v, i) => !i || v - y[i - 1] >= 24); });
	ok(touching, 'no row lies over another');
	const rule = await page.locator('#rule option').nth(1).getAttribute('value');
	await page.locator('#rule').selectOption(rule);
	ok((await page.locator(`.list li:not([hidden])[data-rule="${rule}"]`).count()) === (await visible(page)), 'one rule alone');
	ok(page.trouble.length === 0, 'no error, nothing loaded', page.trouble.join('\n'));
	await page.locator('#open').click();
	await accessible(page, 'light');
	await page.locator('#theme').click();
	ok((await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === 'rgb(13, 17, 23)', 'the button makes it dark');
	await accessible(page, 'dark');
	ok((await page.pdf()).length > 20000, 'it prints');
	await page.context().close();
}
{
	const page = await open(['--contract=fresh', 'samples/bigbird'], { colorScheme: 'dark' });
	ok((await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === 'rgb(13, 17, 23)', 'dark where the system is');
	await page.context().close();
	const bare = await open(['--contract=fresh', 'samples/bigbird'], { javaScriptEnabled: false });
	ok((await bare.locator('article:visible').count()) > 0, 'without scripts the findings are there');
	await bare.context().close();
	const small = await open(['--contract=fresh', 'samples/bigbird'], { viewport: { width: 420, height: 800 } });
	ok(await small.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), 'on a small screen the page is as wide as the screen');
	await small.context().close();
}

// ---- the story of a model whose graphs are right, and which is wrong ----

const story = join(shared, 'corpus/models/bigbird_like/hazard_aot_infer/log.txt');
if (existsSync(story)) {
	const page = await open(['--contract=fresh', story]);
	await page.locator('.list li.error button').first().click();
	const article = await page.locator('article:visible').innerText(), lit = await page.locator('.picture .row.lit:visible').allTextContents();
	for (const word of ['output 0', 'flat', '__compiled_fn_19', 'contiguous', 'view', '3340', '3590', '3926', 'bigbird_like.py'])
		ok(article.includes(word), `the details name ${word}`, article);
	ok(lit.some((t) => t.startsWith('3341') && t.includes('a copy here changes the result')), 'the cut lights up', lit.join('\n'));
	ok(lit.some((t) => /^W?3590.*writes/.test(t)) && lit.some((t) => /^R?3926.*reads/.test(t)), 'the write and the read light up', lit.join('\n'));
	ok((await page.locator('.picture .row.lit .mark.w').count()) > 0 && (await page.locator('.picture .row.lit .mark.rd').count()) > 0, 'they are marked on the line of the memory');
	ok((await page.locator('.picture .lane.lit').count()) === 1 && (await page.locator('.picture .twin').count()) === 1, 'one line of memory is lit, and its copy is drawn');
	const inView = await page.evaluate(() => { const b = document.querySelector('.picture .row.lit').getBoundingClientRect(), p = document.querySelector('#program').getBoundingClientRect(); return b.top >= p.top && b.bottom <= p.bottom; });
	ok(inView, 'the path is in view');
	await page.locator('.steps li.read button:visible').first().click();
	ok((await page.locator('.picture .row.lit').last().isVisible()), 'a step shows its row');
	await page.context().close();
} else skip('the story of a model', 'no corpus');

// ---- hostile text, in the dump and in the names of files ----
{
	const dir = join(tmp, '<img src=x onerror=window.pwned=1>');
	mkdirSync(dir);
	const evil = join(dir, '"><script>window.pwned=1<\u202e.txt');
	writeFileSync(evil, readFileSync(join(root, 'tests/hostile/report.txt')));
	const page = await open(['--show=note', evil, join(root, 'tests/hostile/report.txt')]);
	for (const b of await page.locator('.list li:not([hidden]) button').all()) await b.click();
	ok((await page.evaluate(() => window.pwned)) === undefined, 'no script of a dump runs');
	ok((await page.locator('img, iframe, object, embed, link, a[href^="javascript"], script').count()) === 1, 'no element of a dump: the one script is ours');
	ok((await page.evaluate(() => [...document.querySelectorAll('*')].every((e) => [...e.attributes].every((a) => !a.name.startsWith('on'))))), 'no handler in an attribute');
	ok(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/.test(page.text), 'no control and no bidi character');
	ok(page.trouble.length === 0, 'no error, nothing loaded', page.trouble.join('\n'));
	await page.context().close();
}

// ---- five hundred graphs: an overview first ----
{
	const file = join(tmp, 'many.txt');
	writeFileSync(file, Array.from({ length: 500 }, (_, i) => `def forward(self, x${i} : torch.Tensor, y${i} : torch.Tensor):\n    c = x${i}.contiguous();  x${i} = None\n    v = c.view(1, 1024, -1);  c = None\n    add_ = y${i}.add_(${i})\n    return (v, y${i})\n\n`).join(''));
	const page = await open([file]);
	ok((await page.locator('.map a').count()) === 500 && (await page.locator('.map a.warning').count()) === 500, 'a square for each graph');
	ok((await page.locator('.picture .graph').count()) === 500 && (await page.locator('.picture .row:not(.hidden)').count()) < 520, 'graphs are closed, but for the one that is looked at');
	await page.locator('.map a').nth(321).click();
	const g = page.locator('.picture .graph').nth(321);
	ok((await g.getAttribute('aria-expanded')) === 'true' && (await page.evaluate(() => document.querySelectorAll('.picture .graph')[321].getBoundingClientRect().top)) > 0, 'a click on a square opens its graph');
	ok(page.text.length < 4e6, 'the page is of a size that opens', page.text.length);
	ok(page.trouble.length === 0, 'no error, nothing loaded', page.trouble.join('\n'));
	await page.context().close();
}

// ---- nothing to show, and the picture alone ----
{
	const page = await open([join(root, 'tests/package.json')]);
	ok((await page.locator('text=No graph and no bytecode').count()) === 1 && page.trouble.length === 0, 'no graph', page.trouble.join('\n'));
	await page.context().close();
	for (const [name, input] of [['samples', 'samples/bigbird'], ['hostile', 'tests/hostile/report.txt'], ['no graph', 'tests/package.json']]) {
		const svg = graphlint(['graph', '--format=svg', '--contract=fresh', input]).stdout, file = join(tmp, 'picture.svg');
		writeFileSync(file, svg);
		const p = await (await browser.newContext()).newPage();
		let trouble = [];
		p.on('request', (r) => { if (!r.url().endsWith('picture.svg')) trouble.push(r.url()); });
		await p.goto(pathToFileURL(file).href);
		ok((await p.evaluate(() => document.documentElement.tagName === 'svg' && !document.querySelector('parsererror') && window.pwned === undefined)) && !trouble.length, `the picture alone is XML: ${name}`, svg.slice(0, 300));
		await p.context().close();
	}
}
await browser.close();
done();
