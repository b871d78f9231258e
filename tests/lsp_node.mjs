// SPDX-License-Identifier: MIT
// The server under Microsoft's own client libraries. Run by lsp-clients.t.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { done, ok, program } from './tap.mjs';

const require = createRequire(import.meta.url);
const rpc = require('vscode-jsonrpc/node');
const lsp = require('vscode-languageserver-protocol');

const URI = 'file:///srv/dump.log';
const text = readFileSync('samples/bigbird/bigbird.aot_eager.log', 'utf8');
const lines = text.split('\n');

function place(marker, within = '', after = 0) {
	for (let line = after; line < lines.length; line++)
		if (lines[line].includes(marker) && lines[line].includes(within))
			return { line, character: lines[line].indexOf(marker) };
	throw new Error(marker);
}

async function connect(capabilities, options) {
	const server = spawn(program, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
	const connection = rpc.createMessageConnection(new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));
	const ended = new Promise((resolve) => server.on('exit', resolve));
	const seen = { diagnostics: [], progress: [], registered: [], refreshed: 0, shown: [] };
	const waiters = [];
	const wake = () => waiters.splice(0).forEach((w) => w());
	connection.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => { seen.diagnostics.push(p); wake(); });
	connection.onNotification('$/progress', (p) => { seen.progress.push(p); wake(); });
	connection.onNotification(lsp.ShowMessageNotification.type, (p) => { seen.shown.push(p); wake(); });
	connection.onRequest(lsp.WorkDoneProgressCreateRequest.type, () => null);
	connection.onRequest(lsp.RegistrationRequest.type, (p) => { seen.registered.push(...p.registrations); wake(); });
	connection.onRequest(lsp.ConfigurationRequest.type, () => [options.later ?? null]);
	connection.onRequest(lsp.DiagnosticRefreshRequest.type, () => { seen.refreshed++; wake(); });
	connection.listen();
	const result = await connection.sendRequest(lsp.InitializeRequest.type, {
		processId: process.pid, rootUri: null, workspaceFolders: null, capabilities, initializationOptions: options,
	});
	await connection.sendNotification(lsp.InitializedNotification.type, {});
	const until = async (f) => {
		for (let v; ;) {
			if ((v = f())) return v;
			await new Promise((resolve) => waiters.push(resolve));
		}
	};
	const open = (content, version = 1) => connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
		textDocument: { uri: URI, languageId: 'log', version, text: content } });
	const stop = async () => {
		await connection.sendRequest(lsp.ShutdownRequest.type);
		await connection.sendNotification(lsp.ExitNotification.type);
		return ended;
	};
	return { connection, result, seen, until, open, stop };
}

const everything = {
	textDocument: {
		diagnostic: {}, callHierarchy: {}, inlayHint: {}, foldingRange: {},
		documentSymbol: { hierarchicalDocumentSymbolSupport: true }, publishDiagnostics: { relatedInformation: true },
	},
	workspace: { diagnostics: { refreshSupport: true }, didChangeWatchedFiles: { dynamicRegistration: true }, configuration: true },
	window: { workDoneProgress: true },
	general: { positionEncodings: ['utf-8', 'utf-16'] },
};

async function pull() {
	const c = await connect(everything, { contract: 'fresh', later: { contract: 'fresh' } });
	ok(c.result.capabilities.positionEncoding === 'utf-8', 'the first encoding offered is taken', JSON.stringify(c.result));
	await c.until(() => c.seen.registered.some((r) => r.method === 'workspace/didChangeWatchedFiles'));
	ok(true, 'watchers of files are registered');
	await c.open(text);
	const doc = { textDocument: { uri: URI } };
	const full = await c.connection.sendRequest(lsp.DocumentDiagnosticRequest.type, doc);
	const error = full.items.find((d) => d.severity === 1 && d.code === 'GL101');
	ok(full.kind === 'full' && error, 'diagnostics are pulled', JSON.stringify(full).slice(0, 500));
	ok(error.relatedInformation.length > 3, 'with the whole path');
	const same = await c.connection.sendRequest(lsp.DocumentDiagnosticRequest.type, { ...doc, previousResultId: full.resultId });
	ok(same.kind === 'unchanged', 'and not sent twice', JSON.stringify(same).slice(0, 300));
	ok(c.seen.diagnostics.length === 0, 'nothing is pushed to a client that pulls');
	const whole = await c.connection.sendRequest(lsp.WorkspaceDiagnosticRequest.type, { previousResultIds: [] });
	ok(whole.items.length === 1, 'diagnostics of the workspace', JSON.stringify(whole).slice(0, 300));

	const call = place('__compiled_fn_6', 'LOAD_GLOBAL');
	const items = await c.connection.sendRequest(lsp.CallHierarchyPrepareRequest.type, { ...doc, position: call });
	const incoming = await c.connection.sendRequest(lsp.CallHierarchyIncomingCallsRequest.type, { item: items[0] });
	ok(incoming.length === 1 && incoming[0].fromRanges.length === 1, 'incoming calls', JSON.stringify(incoming).slice(0, 300));
	const outgoing = await c.connection.sendRequest(lsp.CallHierarchyOutgoingCallsRequest.type, { item: incoming[0].from });
	ok(outgoing.some((o) => o.to.name === '__compiled_fn_6'), 'outgoing calls', JSON.stringify(outgoing).slice(0, 300));
	const hints = await c.connection.sendRequest(lsp.InlayHintRequest.type, {
		...doc, range: { start: { line: 0, character: 0 }, end: { line: lines.length, character: 0 } } });
	ok(hints.some((h) => h.label === "= input 0's memory"), 'hints', JSON.stringify(hints).slice(0, 300));
	const folds = await c.connection.sendRequest(lsp.FoldingRangeRequest.type, doc);
	ok(folds.length > 10 && folds.every((f) => f.endLine > f.startLine), 'folds', JSON.stringify(folds).slice(0, 300));
	const symbols = await c.connection.sendRequest(lsp.WorkspaceSymbolRequest.type, { query: 'resume' });
	ok(symbols.length > 2, 'symbols of the workspace', JSON.stringify(symbols).slice(0, 300));
	const header = place('===== __compiled_fn_6 =====');
	const input = place('l_h_', '', header.line);
	const from = await c.connection.sendRequest(lsp.DefinitionRequest.type, { ...doc, position: input });
	ok(from.length >= 1, 'where an input comes from', JSON.stringify(from));

	const version = 2, long = text.repeat(60);
	await c.connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
		textDocument: { uri: URI, version }, contentChanges: [{ text: long }] });
	const source = new rpc.CancellationTokenSource();
	const waits = c.connection.sendRequest(lsp.DocumentDiagnosticRequest.type, doc, source.token);
	const hover = await c.connection.sendRequest(lsp.HoverRequest.type, { ...doc, position: call });
	ok(hover !== undefined, 'a hover is answered while the analysis works');
	source.cancel();
	ok(await waits.then(() => false, (e) => e.code === lsp.LSPErrorCodes.RequestCancelled), 'what waits can be cancelled');
	const before = c.seen.refreshed;
	await c.until(() => c.seen.refreshed > before);
	ok(true, 'the client is asked to pull again when the analysis is done');

	await c.connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
		textDocument: { uri: URI, version: 3 }, contentChanges: [{ text }] });
	await c.connection.sendNotification(lsp.DidChangeConfigurationNotification.type, { settings: { graphlint: { contract: 'aot' } } });
	const kept = await c.connection.sendRequest(lsp.DocumentDiagnosticRequest.type, doc);
	ok(!kept.items.some((d) => d.code === 'GL101' && d.severity === 1), 'another contract, other findings', JSON.stringify(kept).slice(0, 400));
	ok((await c.stop()) === 0, 'the end');
}

async function progress() {
	const c = await connect({ window: { workDoneProgress: true } }, { contract: 'fresh' });
	await c.open(text.repeat(400));
	const kinds = await c.until(() => {
		const k = c.seen.progress.map((p) => p.value.kind);
		return c.seen.diagnostics.length && (k.length === 0 || k.includes('end')) && k;
	});
	ok(kinds.length === 0 || (kinds[0] === 'begin' && kinds.filter((k) => k === 'begin').length === kinds.filter((k) => k === 'end').length),
		'long work shows its progress, from begin to end', kinds);
	ok((await c.stop()) === 0, 'and ends');
}

await pull();
await progress();
done();
process.exit(0);
