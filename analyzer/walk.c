/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SNIFF = 4096 };

/* Folders that hold nothing that PyTorch printed. */
static const Str skipped_names[] = {STR_INIT("__pycache__"), STR_INIT("node_modules")};

/* First bytes of files that lie beside dumps and are none: archives and checkpoints, libraries,
 * pickles, arrays, pictures. Only files found by walking are judged by them. */
static const Str magics[] = {
	STR_INIT("PK\x03\x04"), STR_INIT("\x7f" "ELF"), STR_INIT("!<arch>\n"), STR_INIT("\x80\x02"),
	STR_INIT("\x80\x03"), STR_INIT("\x80\x04"), STR_INIT("\x80\x05"), STR_INIT("\x93NUMPY"),
	STR_INIT("GGUF"), STR_INIT("\x89PNG"), STR_INIT("\xff\xd8\xff"), STR_INIT("%PDF-"),
	STR_INIT("SQLite format 3"), STR_INIT("\x28\xb5\x2f\xfd"), STR_INIT("\xfd" "7zXZ"),
	STR_INIT("BZh9"),
};

typedef struct Folder {
	Str path;
	uint64_t depth;
} Folder;

typedef VEC(Folder) Folders;

void walk_init(Walk *w, Arena *a, uint64_t depth_most, Buf *trouble)
{
	*w = (Walk){.a = a, .depth_most = depth_most, .seen_file = {.a = a}, .trouble = trouble};
	names_init(&w->seen, a);
}

/* A machine without memory is no fault of the path. */
static const char *reason(int error)
{
	if (error == ENOMEM)
		base_out_of_memory();
	return strerror(error);
}

static void trouble(Walk *w, Str path, const char *why)
{
	buf_printf(w->trouble, STR_FMT ": %s\n", STR_ARG(path), why);
	w->failed++;
}

/* The number of what a path leads to; *known says that it was met before. */
static Sym identity(Walk *w, const struct stat *st, bool *known)
{
	uint64_t key[2] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino};
	Str s = {(const char *)key, sizeof key};
	*known = sym_find(&w->seen, s).i != 0;
	return sym_intern(&w->seen, s);
}

/* ---- files ---- */

static void take_file(Walk *w, Str path, const struct stat *st, bool named)
{
	bool known;
	Sym id = identity(w, st, &known);
	uint32_t before = map_get(&w->seen_file, id.i);
	/* pipes and devices give other bytes each time */
	if (before && S_ISREG(st->st_mode)) {
		w->files.v[before - 1].named |= named;
		return;
	}
	VEC_PUSH(w->a, &w->files, ((WalkFile){path, named, id}));
	map_put(&w->seen_file, id.i, w->files.n);
}

static bool is_binary(Str head)
{
	uint32_t zeros = 0;
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (str_starts(head, magics[i]))
			return true;
	if (str_starts(head, S("\xff\xfe")) || str_starts(head, S("\xfe\xff")))
		return false; /* UTF-16 */
	if (str_starts(head, S("\x1f\x8b")))
		return false; /* gzip, read as what it holds */
	for (uint32_t i = 0; i < head.n; i++)
		zeros += head.p[i] == '\0';
	return zeros > head.n / 10; /* a damaged log has some */
}

static bool looks_binary(Walk *w, Str path)
{
	char head[SNIFF];
	ArenaMark mark = arena_mark(w->a);
	int fd = open(str_to_c(w->a, path), O_RDONLY | O_CLOEXEC);
	arena_rewind(w->a, mark);
	if (fd < 0)
		return false; /* whoever reads it says why it cannot be read */
	ssize_t n = read(fd, head, sizeof head);
	close(fd);
	return n > 0 && is_binary((Str){head, (uint32_t)n});
}

/* ---- folders ---- */

static bool skipped(Str name)
{
	for (size_t i = 0; i < sizeof skipped_names / sizeof *skipped_names; i++)
		if (str_eq(name, skipped_names[i]))
			return true;
	return str_starts(name, S("."));
}

static Str join(Arena *a, Str folder, Str name)
{
	/* "./-" stays: a lone "-" would be standard input */
	if (str_eq(folder, S(".")) && !str_starts(name, S("-")))
		return str_copy(a, name);
	bool slash = str_ends(folder, S("/"));
	return str_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(folder), slash ? "" : "/", STR_ARG(name));
}

static int cmp_names(const void *x, const void *y)
{
	return str_cmp(*(const Str *)x, *(const Str *)y);
}

static int cmp_files(const void *x, const void *y)
{
	return str_cmp(((const WalkFile *)x)->path, ((const WalkFile *)y)->path);
}

/* One entry of a folder, or a link that was put off. */
static void visit(Walk *w, Str path, uint64_t depth, Folders *todo, Folders *links)
{
	struct stat st;
	bool known;
	ArenaMark mark = arena_mark(w->a);
	const char *c = str_to_c(w->a, path);
	int rc = links ? lstat(c, &st) : stat(c, &st), error = errno;
	arena_rewind(w->a, mark);
	if (rc < 0) {
		if (error != ENOENT && error != ELOOP && error != ENOTDIR) /* a link to nowhere */
			trouble(w, path, reason(error));
		return;
	}
	if (S_ISLNK(st.st_mode)) {
		VEC_PUSH(w->a, links, ((Folder){path, depth}));
	} else if (S_ISDIR(st.st_mode)) {
		identity(w, &st, &known);
		if (!known)
			VEC_PUSH(w->a, todo, ((Folder){path, depth}));
	} else if (S_ISREG(st.st_mode)) {
		if (looks_binary(w, path))
			VEC_PUSH(w->a, &w->passed, path);
		else
			take_file(w, path, &st, false);
	}
}

static void list_folder(Walk *w, Folder f, Folders *todo, Folders *links)
{
	VEC(Str) names = {0};
	if (f.depth > w->depth_most) {
		trouble(w, f.path, "folders nest deeper than the limit (--max-depth)");
		return;
	}
	DIR *d = opendir(str_to_c(w->a, f.path));
	if (!d) {
		trouble(w, f.path, reason(errno));
		return;
	}
	errno = 0;
	for (struct dirent *e; (e = readdir(d)); errno = 0)
		if (!skipped(str_from_c(e->d_name)))
			VEC_PUSH(w->a, &names, str_copy(w->a, str_from_c(e->d_name)));
	if (errno)
		trouble(w, f.path, reason(errno));
	closedir(d);
	if (names.n)
		qsort(names.v, names.n, sizeof *names.v, cmp_names);
	for (uint32_t i = 0; i < names.n; i++)
		visit(w, join(w->a, f.path, names.v[i]), f.depth + 1, todo, links);
}

static void walk_folder(Walk *w, Str path)
{
	Folders todo = {0}, links = {0};
	uint32_t first = w->files.n, link = 0;
	VEC_PUSH(w->a, &todo, ((Folder){path, 1}));
	while (todo.n || link < links.n) {
		if (todo.n) {
			list_folder(w, todo.v[--todo.n], &todo, &links);
		} else {
			Folder l = links.v[link++];
			visit(w, l.path, l.depth, &todo, NULL);
		}
	}
	if (w->files.n > first)
		qsort(w->files.v + first, w->files.n - first, sizeof *w->files.v, cmp_files);
	for (uint32_t i = first; i < w->files.n; i++) /* sorting moved them */
		map_put(&w->seen_file, w->files.v[i].id.i, i + 1);
}

void walk_add(Walk *w, Str path)
{
	struct stat st;
	bool known;
	if (str_eq(path, S("-")) || stat(str_to_c(w->a, path), &st) < 0) {
		VEC_PUSH(w->a, &w->files, ((WalkFile){path, true, {0}}));
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		take_file(w, path, &st, true);
		return;
	}
	while (path.n > 1 && str_ends(path, S("/")))
		path.n--;
	identity(w, &st, &known);
	if (!known)
		walk_folder(w, path);
}
