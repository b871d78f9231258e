/* SPDX-License-Identifier: MIT */
#include "nearest.h"

Nearest nearest_to(Str word)
{
	/* One error in a short word, two from four letters on (two letters that changed places count as
	 * two), then one more for every three letters. */
	return (Nearest){.word = word, .most = (word.n < 4 ? 1 : word.n / 3 + 1) + 1};
}

void nearest_try(Nearest *n, Str known)
{
	if (!n->most)
		return;
	uint32_t d = str_distance(n->word, known, n->most - 1);
	if (d < n->most) {
		n->most = d;
		n->best = known;
	}
}

void nearest_say(const Nearest *n, Buf *out)
{
	if (n->best.n)
		buf_printf(out, " (did you mean '" STR_FMT "'?)", STR_ARG(n->best));
}
