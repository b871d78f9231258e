/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, Str s)
{
	while (s.n) {
		ssize_t n = write(fd, s.p, s.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		s = str_sub(s, (uint32_t)n, s.n);
	}
	return true;
}

/* mkstemp lets nobody else read what it makes: as open() would have made it, or as the file was before. */
static bool set_mode(int fd, const struct stat *before)
{
	mode_t mask = umask(0);
	umask(mask);
	return fchmod(fd, before ? before->st_mode & 0777 : 0666 & ~mask) == 0;
}

/* The error of the first step that fails is in errno. */
static bool replace(const char *path, const struct stat *before, Str text, Arena *a)
{
	char *temporary = str_to_c(a, str_printf(a, "%s.XXXXXX", path));
	int fd = mkstemp(temporary);
	if (fd < 0)
		return false;
	bool ok = write_all(fd, text) && set_mode(fd, before);
	int error = errno;
	if (close(fd) != 0 && ok) {
		ok = false;
		error = errno;
	}
	if (ok && rename(temporary, path) != 0) {
		ok = false;
		error = errno;
	}
	if (!ok)
		unlink(temporary);
	errno = error;
	return ok;
}

static bool write_in_place(const char *path, Str text)
{
	int fd = open(path, O_WRONLY | O_NOCTTY);
	if (fd < 0)
		return false;
	bool ok = write_all(fd, text) || errno == EPIPE;
	int error = errno;
	if (close(fd) != 0 && ok)
		return false;
	errno = error;
	return ok;
}

/* Through symbolic links, which stay. */
static bool write_path(const char *path, Str text, Arena *a)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return errno == ENOENT && replace(path, NULL, text, a);
	if (!S_ISREG(st.st_mode))
		return write_in_place(path, text);
	char real[PATH_MAX];
	return realpath(path, real) && replace(real, &st, text, a);
}

bool output_write(Str path, Str text, Arena *a, Str *why)
{
	sigset_t ending, before;
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ending, &before);
	bool ok = write_path(str_to_c(a, path), text, a);
	if (!ok)
		*why = str_from_c(strerror(errno));
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ok;
}
