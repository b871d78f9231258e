// SPDX-License-Identifier: MIT
// A few words of TAP, and how tests run the program.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

let n = 0;
export function ok(good, name, why) {
	console.log(`${good ? 'ok' : 'not ok'} ${++n} - ${name}`);
	if (!good && why !== undefined)
		for (const line of String(why).split('\n').slice(0, 12)) console.log(`# ${line}`);
	return good;
}
export function skip(name, why) {
	console.log(`ok ${++n} - ${name} # skip ${why}`);
}
export function done() {
	console.log(`1..${n}`);
}

export const root = process.cwd();
export const program = resolve(process.env.GRAPHLINT || 'build/graphlint');
export const shared = resolve(process.env.GRAPHLINT_SHARED || '../shared');
export const tmp = mkdtempSync(join(tmpdir(), 'graphlint-'));
process.on('exit', () => rmSync(tmp, { recursive: true, force: true }));

export function graphlint(args, options = {}) {
	const r = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 30, timeout: 240000, env: { ...process.env, LC_ALL: 'C.UTF-8', NO_COLOR: '1' }, ...options });
	if (r.error) throw r.error;
	return r;
}
