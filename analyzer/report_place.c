/* SPDX-License-Identifier: MIT */
#include "report_place.h"

static bool below(Str path, Str folder, Str *rest)
{
	folder = str_ends(folder, S("/")) ? str_sub(folder, 0, folder.n - 1) : folder;
	if (!folder.n || !str_starts(path, folder) || path.n <= folder.n + 1 || path.p[folder.n] != '/')
		return false;
	*rest = str_sub(path, folder.n + 1, path.n);
	return true;
}

Str region_path(const ReportOptions *o, Str path)
{
	Str rest = path;
	while (str_starts(rest, S("./")) && rest.n > 2)
		rest = str_sub(rest, 2, rest.n);
	if (below(rest, o->source_root, &rest) || below(rest, o->folder, &rest))
		return rest;
	return rest;
}

Region region_of_span(const ReportOptions *o, Places *p, Span at)
{
	LineCol from = place_of(p, at.file, at.at), to = place_of(p, at.file, at.end > at.at ? at.end : at.at);
	return (Region){region_path(o, place_path(p, at.file)), from.line, from.col, to.line, to.col, at};
}

Region region_of_source(const ReportOptions *o, const UserSource *s)
{
	uint32_t line = s->line ? s->line : 1;
	return (Region){.path = region_path(o, s->file), .line = line, .end_line = line};
}

Region region_primary(const ReportOptions *o, Places *p, const Finding *f)
{
	if (o->at_source && f->source.file.n)
		return region_of_source(o, &f->source);
	return region_of_span(o, p, f->span);
}

static bool is_unreserved(unsigned char c)
{
	return char_is_ident(c) || c == '-' || c == '.' || c == '~' || c == '/';
}

void region_uri(Buf *out, Str path)
{
	if (path.n && path.p[0] == '/')
		buf_add(out, S("file://"));
	for (uint32_t i = 0; i < path.n; i++) {
		unsigned char c = (unsigned char)path.p[i];
		if (is_unreserved(c))
			buf_char(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
}
