/* SPDX-License-Identifier: MIT
 * Loaded before the C library (LD_PRELOAD): allocation number FAIL_AT of the process fails, whoever asks for it. With
 * FAIL_COUNT the number of allocations goes to the file of that name at the end. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static unsigned long calls, fail_at;

static int fails(void)
{
	if (!calls++) {
		const char *s = getenv("FAIL_AT");
		fail_at = s ? strtoul(s, NULL, 10) : 0;
	}
	if (calls != fail_at)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("FAIL_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;
	if (!f)
		return;
	fprintf(f, "%lu\n", calls);
	fclose(f);
}
