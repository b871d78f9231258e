/* SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Set to something that does not mean "off". */
static bool switched_on(const char *name)
{
	const char *v = getenv(name);
	return v && *v && strcmp(v, "0") != 0;
}

bool terminal_color(ColorWhen when)
{
	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	if (no && *no)
		return false;
	if (switched_on("CLICOLOR_FORCE") || switched_on("FORCE_COLOR"))
		return true;
	return term && *term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO);
}

bool terminal_hyperlinks(ColorWhen when)
{
	const char *no = getenv("NO_TERM_HYPERLINKS");
	return terminal_color(when) && isatty(STDOUT_FILENO) && !(no && *no);
}

Str terminal_host(Arena *a)
{
	char name[256];
	if (gethostname(name, sizeof name - 1) != 0)
		return S("localhost");
	name[sizeof name - 1] = '\0';
	return str_copy(a, str_from_c(name));
}

bool terminal_error(void)
{
	const char *term = getenv("TERM");
	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

uint32_t terminal_error_width(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

uint32_t terminal_width(void)
{
	struct winsize size;
	uint32_t columns;
	if (!isatty(STDOUT_FILENO))
		return 0;
	const char *set = getenv("COLUMNS");
	if (set && str_to_u32(str_from_c(set), &columns) && columns)
		return columns;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

bool terminal_unicode(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
