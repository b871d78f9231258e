/* SPDX-License-Identifier: MIT
 * lsp: the language server on standard input and output. */
#ifndef GRAPHLINT_LSP_H
#define GRAPHLINT_LSP_H

/* Serves until `exit` or the end of the input; the status of the process: 0 after shutdown, 1 without, 4 when the machine
 * fails. */
int lsp_main(void);

#endif
