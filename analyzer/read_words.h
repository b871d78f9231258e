/* SPDX-License-Identifier: MIT
 * read_words: what single words of printed forward code say: names, comments, reprs. As torch/fx/graph.py and
 * torch/fx/graph_module.py print them, PyTorch 1.12 to 2.15. */
#ifndef GRAPHLINT_READ_WORDS_H
#define GRAPHLINT_READ_WORDS_H

#include "base.h"
#include "ir.h"

/* FILE:LINE[ in FUNCTION], code: SOURCE; the file may hold blanks and colons. *code_at: where SOURCE begins in s. */
bool words_file_comment(Str s, SrcLoc *loc, Names *names, uint32_t *code_at);
/* Names that printed code uses without making them (torch/fx/graph.py: _register_custom_builtin, inf, nan ...), roots of
 * dotted names, and <reprs>. */
bool words_is_known(Str s);
/* Is `name` what torch/fx/graph.py (_snake_case, _Namespace.create_name) makes of `target`? */
bool words_is_snake_case(Str name, Str target);
/* The end of an annotation without quotes, as 2.0 and 2.1 print it, that begins at `at`: `view: f32[2*s0, 3] = `. */
uint32_t words_bare_type_end(Str s, uint32_t at);
/* <function f at 0x7f>, <lambda>: no Python; each gets the form of a name of the same width. */
void words_mask_reprs(char *p, uint32_t n);

#endif
