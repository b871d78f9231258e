/* SPDX-License-Identifier: MIT
 * terminal: what standard output is: colours, columns, character set. Reads the environment. */
#ifndef GRAPHLINT_TERMINAL_H
#define GRAPHLINT_TERMINAL_H

#include "base.h"

typedef enum ColorWhen { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } ColorWhen;

/* The option wins over the environment: NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR, TERM. */
bool terminal_color(ColorWhen when);
/* Links of OSC 8: where there is colour on a terminal, unless NO_TERM_HYPERLINKS is set. */
bool terminal_hyperlinks(ColorWhen when);
/* The machine's name, for links to files; "localhost" when it has none. */
Str terminal_host(Arena *a);
/* Is standard error a terminal on which a line can be drawn anew? And its columns. */
bool terminal_error(void);
uint32_t terminal_error_width(void);
uint32_t terminal_width(void);  /* 0: no terminal */
bool terminal_unicode(void);    /* the locale is UTF-8; after setlocale */

#endif
