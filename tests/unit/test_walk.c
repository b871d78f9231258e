/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "walk.h"

static Arena arena;
static char home[] = "/tmp/graphlint-walk-XXXXXX";

static void put(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

static void put_text(const char *path)
{
	put(path, "text\n", 5);
}

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(home));
	assert_int_equal(chdir(home), 0);
	mkdir("d", 0777);
	mkdir("d/sub", 0777);
	mkdir("d/sub/deep", 0777);
	mkdir("d/.git", 0777);
	mkdir("d/__pycache__", 0777);
	mkdir("elsewhere", 0777);
	put_text("d/b.log");
	put_text("d/a.log");
	put_text("d/-");
	put_text("d/.hidden");
	put_text("d/.git/config");
	put_text("d/__pycache__/x.txt");
	put_text("d/sub/c.log");
	put_text("d/sub/deep/d.log");
	put_text("elsewhere/e.log");
	put_text("top.log");
	put("d/model.pt", "PK\x03\x04zip", 7);
	put("d/zeros.bin", "\x08\0\0\0\0\0\0\0{}", 10);
	put("d/utf16.log", "\xff\xfeT\0\n\0", 6);
	put("d/packed.gz", "\x1f\x8b\x08\0\0\0\0\0", 8);
	put("d/one_nul.log", "a line with one \0 of damage\n", 28);
	put("d/empty.log", "", 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	char command[64];
	snprintf(command, sizeof command, "rm -rf %s", home);
	return chdir("/") || system(command);
}

static Walk walk(uint64_t depth, Buf *trouble, const char *const *paths)
{
	Walk w;
	*trouble = (Buf){.a = &arena};
	walk_init(&w, &arena, depth, trouble);
	for (; *paths; paths++)
		walk_add(&w, str_from_c(*paths));
	return w;
}

static void assert_files(const Walk *w, const char *want)
{
	Buf b = {.a = &arena};
	for (uint32_t i = 0; i < w->files.n; i++)
		buf_printf(&b, "%s%s" STR_FMT, i ? " " : "", w->files.v[i].named ? "*" : "", STR_ARG(w->files.v[i].path));
	assert_string_equal(str_to_c(&arena, buf_str(&b)), want);
}

#define ALL "d/- d/a.log d/b.log d/empty.log d/one_nul.log d/packed.gz d/sub/c.log d/sub/deep/d.log d/utf16.log"
#define PATHS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void folders_are_sorted_and_sifted(void **state)
{
	(void)state;
	Buf t;
	Walk w = walk(64, &t, PATHS("d"));
	assert_files(&w, ALL);
	assert_int_equal(w.failed, 0);
	w = walk(64, &t, PATHS("d//"));
	assert_files(&w, ALL);
}

static void named_files_are_taken_as_they_are(void **state)
{
	(void)state;
	Buf t;
	Walk w = walk(64, &t, PATHS("d/model.pt", "nowhere", "-", "d/.hidden", "/dev/null"));
	assert_files(&w, "*d/model.pt *nowhere *- *d/.hidden */dev/null");
}

static void a_file_is_read_once(void **state)
{
	(void)state;
	Buf t;
	Walk w = walk(64, &t, PATHS("d/sub/c.log", "d", "d/a.log", "d/sub", "d/./a.log"));
	assert_files(&w, "*d/sub/c.log d/- *d/a.log d/b.log d/empty.log d/one_nul.log d/packed.gz d/sub/deep/d.log d/utf16.log");
}

static void this_folder(void **state)
{
	(void)state;
	Buf t;
	assert_int_equal(chdir("d"), 0);
	Walk w = walk(64, &t, PATHS("."));
	assert_int_equal(chdir(".."), 0);
	assert_files(&w, "./- a.log b.log empty.log one_nul.log packed.gz sub/c.log sub/deep/d.log utf16.log");
}

static void links(void **state)
{
	(void)state;
	Buf t;
	assert_int_equal(symlink("..", "d/sub/0-loop"), 0);
	assert_int_equal(symlink("a.log", "d/0-same.log"), 0);
	assert_int_equal(symlink("../elsewhere", "d/0-elsewhere"), 0);
	assert_int_equal(symlink("nowhere", "d/0-broken"), 0);
	assert_int_equal(symlink("0-self", "d/0-self"), 0);
	Walk w = walk(64, &t, PATHS("d"));
	assert_files(&w, "d/- d/0-elsewhere/e.log d/a.log d/b.log d/empty.log d/one_nul.log d/packed.gz d/sub/c.log "
					 "d/sub/deep/d.log d/utf16.log");
	assert_int_equal(w.failed, 0);
	w = walk(64, &t, PATHS("d/0-elsewhere"));
	assert_files(&w, "d/0-elsewhere/e.log");
	unlink("d/sub/0-loop");
	unlink("d/0-same.log");
	unlink("d/0-elsewhere");
	unlink("d/0-broken");
	unlink("d/0-self");
}

static void depth_is_limited_and_said(void **state)
{
	(void)state;
	Buf t;
	Walk w = walk(2, &t, PATHS("d"));
	assert_files(&w, "d/- d/a.log d/b.log d/empty.log d/one_nul.log d/packed.gz d/sub/c.log d/utf16.log");
	assert_int_equal(w.failed, 1);
	assert_string_equal(str_to_c(&arena, buf_str(&t)), "d/sub/deep: folders nest deeper than the limit (--max-depth)\n");
}

static void closed_folders_are_said(void **state)
{
	(void)state;
	Buf t;
	if (geteuid() == 0)
		return; /* may look into closed folders too */
	chmod("d/sub/deep", 0);
	Walk w = walk(64, &t, PATHS("d"));
	chmod("d/sub/deep", 0777);
	assert_int_equal(w.failed, 1);
	assert_string_equal(str_to_c(&arena, buf_str(&t)), "d/sub/deep: Permission denied\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_are_sorted_and_sifted),
		cmocka_unit_test(named_files_are_taken_as_they_are),
		cmocka_unit_test(a_file_is_read_once),
		cmocka_unit_test(this_folder),
		cmocka_unit_test(links),
		cmocka_unit_test(depth_is_limited_and_said),
		cmocka_unit_test(closed_folders_are_said),
	};
	arena = arena_new(NULL);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	int failed = cmocka_run_group_tests_name("walk", tests, setup, teardown);
	arena_free(&arena);
	return failed;
}
