/* SPDX-License-Identifier: MIT */
#include "rule_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "source.h"
#include "glob.h"

static const uint64_t FILE_MOST = 1 << 20;

static bool fault(Buf *errors, Str path, const char *why)
{
	buf_printf(errors, STR_FMT ": %s\n", STR_ARG(path), why);
	return false;
}

static int cmp_str(const void *a, const void *b)
{
	return str_cmp(*(const Str *)a, *(const Str *)b);
}

static bool is_rule_name(Str name)
{
	return !str_starts(name, S(".")) && (str_ends(name, S(".yaml")) || str_ends(name, S(".yml")));
}

bool rule_files_list(Arena *a, Str path, StrList *out, Buf *errors)
{
	struct stat st;
	const char *name = str_to_c(a, path);
	if (stat(name, &st) != 0)
		return fault(errors, path, strerror(errno));
	if (!S_ISDIR(st.st_mode)) {
		VEC_PUSH(a, out, path);
		return true;
	}
	DIR *d = opendir(name);
	if (!d)
		return fault(errors, path, strerror(errno));
	uint32_t first = out->n;
	for (const struct dirent *e; (e = readdir(d));)
		if (is_rule_name(str_from_c(e->d_name)))
			VEC_PUSH(a, out, path_join(a, path, str_copy(a, str_from_c(e->d_name))));
	closedir(d);
	if (out->n > first)
		qsort(out->v + first, out->n - first, sizeof *out->v, cmp_str);
	return true;
}

static bool load_file(Rules *r, Arena *a, Str path, Buf *errors)
{
	Sources files;
	Str why;
	sources_init(&files, a);
	FileId f = sources_add_file(&files, path, path, FILE_MOST, &why);
	if (!f.i)
		return fault(errors, path, str_to_c(a, why));
	return rules_load(r, a, path, source_get(&files, f)->text, errors);
}

bool rule_files_load(Rules *r, Arena *a, Str path, Buf *errors)
{
	StrList files = {0};
	bool ok = rule_files_list(a, path, &files, errors);
	if (ok && !files.n)
		ok = fault(errors, path, "the folder has no rule file (*.yaml)");
	for (uint32_t i = 0; i < files.n; i++)
		ok &= load_file(r, a, files.v[i], errors);
	return ok;
}
