/* SPDX-License-Identifier: MIT
 * read_target: how print(gm.graph) and print_tabular name what a node calls, in the words of the
 * IR. */
#ifndef GRAPHLINT_READ_TARGET_H
#define GRAPHLINT_READ_TARGET_H

#include "base.h"
#include "ir.h"

typedef struct Target {
	Callee callee;
	Str name; /* part of the text it was read from, or in the scratch arena */
} Target;

/* Target of a call_function in print(gm.graph): operator.add, builtins.getattr, torch.relu,
 * __main__.helper. Spelling: _pretty_print_target in torch/fx/node.py, PyTorch 1.8 to 2.15. */
Target target_of_path(Str path);
/* Target of a call_function in a table: str() of the Python object: <built-in function add>,
 * <built-in method relu of type object at 0x...>, <function gelu at 0x...>, aten.add.Tensor,
 * <class 'float'>. These print no module: it comes from functions.def, and a function that is not
 * there keeps its plain name. `node` is the name of the node that calls it. */
Target target_of_object(Str object, Str node, Arena *scratch);
/* The same for an object that is no callee, as it stands among arguments: <class 'float'> is
 * "float", <Reduction.MEAN: 1> is "Reduction.MEAN". Never empty. */
Str target_object_name(Str object, Arena *scratch);
/* End of the <...> that begins at s.p[at]; s.n when it does not end. */
uint32_t target_object_end(Str s, uint32_t at);

#endif
