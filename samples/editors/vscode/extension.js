// SPDX-License-Identifier: MIT
// A client for `graphlint lsp`: npm install, then link this folder into ~/.vscode/extensions.
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = () => {
	const settings = vscode.workspace.getConfiguration('graphlint');
	client = new LanguageClient('graphlint', 'graphlint', { command: settings.get('path'), args: ['lsp'] }, {
		documentSelector: [{ language: 'log' }, { language: 'plaintext' }, { language: 'python' }],
		initializationOptions: settings,
		synchronize: { configurationSection: 'graphlint' },
		middleware: {
			// what helps goes to the clipboard
			executeCommand: async (command, args, next) => {
				const text = await next(command, args);
				if (command === 'graphlint.suggestion' && typeof text === 'string')
					await vscode.env.clipboard.writeText(text);
				return text;
			},
		},
	});
	return client.start();
};

exports.deactivate = () => client && client.stop();
