/* SPDX-License-Identifier: MIT */
#include "jobs.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS_MOST = 64, READ_CHUNK = 1 << 16, PULSE_MS = 100, PROCESSORS_MOST = 16 };

/* In front of the bytes of a task. */
typedef struct Head {
	uint32_t task, n;
} Head;

typedef struct Worker {
	pid_t pid;
	int fd;      /* -1: it has ended */
	Buf got;
	uint32_t at; /* what of it is cut off */
} Worker;

/* ---- a worker ---- */

static bool write_all(int fd, const void *p, size_t n)
{
	const char *at = p;
	while (n) {
		ssize_t did = write(fd, at, n);
		if (did < 0 && errno == EINTR)
			continue;
		if (did <= 0)
			return false;
		at += did;
		n -= (size_t)did;
	}
	return true;
}

/* Seen by all workers. */
typedef struct Shared {
	atomic_uint next; /* task */
	atomic_bool stop; /* nobody wants more */
} Shared;

static bool work(const Jobs *j, Shared *shared, int fd)
{
	Arena a = arena_new(NULL);
	bool more = true;
	for (uint32_t i; more && !atomic_load(&shared->stop) && (i = atomic_fetch_add(&shared->next, 1)) < j->tasks; arena_free(&a)) {
		Buf out = {.a = &a};
		more = j->work(j->ctx, i, &out);
		Head head = {i, out.n};
		if (!write_all(fd, &head, sizeof head) || !write_all(fd, out.p, out.n))
			return false;
	}
	return true;
}

/* Ends here, whatever happens: what would come behind is for the first process alone. */
_Noreturn static void be_worker(const Jobs *j, uint32_t workers, Shared *shared, int fd)
{
	jmp_buf out;
	Budget none = {0}, *b = j->budget ? j->budget : &none;
	b->fail = &out;
	b->pulse = NULL;
	if (b->limit)
		b->limit = b->used + (b->limit > b->used ? (b->limit - b->used) / workers : 0);
	if (setjmp(out))
		_exit(1);
	_exit(work(j, shared, fd) ? 0 : 1);
}

/* ---- the first process ---- */

static uint32_t start(const Jobs *j, Worker *w, uint32_t workers, Shared *shared)
{
	uint32_t n = 0;
	for (; n < workers; n++) {
		int ends[2];
		if (pipe(ends) != 0)
			break;
		pid_t pid = fork();
		if (pid == 0) {
			close(ends[0]);
			be_worker(j, workers, shared, ends[1]);
		}
		close(ends[1]);
		if (pid < 0) {
			close(ends[0]);
			break;
		}
		w[n].pid = pid;
		w[n].fd = ends[0];
	}
	return n;
}

static void read_some(Worker *w, Arena *a)
{
	char chunk[READ_CHUNK];
	ssize_t n = read(w->fd, chunk, sizeof chunk);
	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		close(w->fd);
		w->fd = -1;
		return;
	}
	w->got.a = a;
	buf_add(&w->got, (Str){chunk, (uint32_t)n});
}

/* What came, in the order of the tasks. */
typedef struct Results {
	Str *data;      /* of each task */
	bool *have;
	uint32_t taken; /* the first so many */
	bool enough;
	Arena a;
} Results;

/* Cuts the tasks that have come whole from what a worker sent; what is left stays. */
static void cut(const Jobs *j, Worker *w, Results *r)
{
	Head head;
	while (w->got.n - w->at >= sizeof head) {
		memcpy(&head, w->got.p + w->at, sizeof head);
		if (w->got.n - w->at - sizeof head < head.n || head.task >= j->tasks)
			return;
		r->data[head.task] = str_copy(&r->a, (Str){w->got.p + w->at + sizeof head, head.n});
		r->have[head.task] = true;
		w->at += (uint32_t)sizeof head + head.n;
	}
}

static void take(const Jobs *j, Results *r, Shared *shared)
{
	while (!r->enough && r->taken < j->tasks && r->have[r->taken]) {
		r->enough = !j->take(j->ctx, r->taken, r->data[r->taken]);
		r->taken += !r->enough;
	}
	if (r->enough)
		atomic_store(&shared->stop, true);
}

static void collect(const Jobs *j, Worker *w, uint32_t n, Results *r, Shared *shared)
{
	struct pollfd fds[WORKERS_MOST];
	for (uint32_t open = n; open;) {
		for (uint32_t i = 0; i < n; i++)
			fds[i] = (struct pollfd){.fd = w[i].fd, .events = POLLIN};
		poll(fds, n, PULSE_MS);
		open = 0;
		for (uint32_t i = 0; i < n; i++) {
			if (w[i].fd >= 0 && fds[i].revents) {
				read_some(&w[i], &r->a);
				cut(j, &w[i], r);
			}
			open += w[i].fd >= 0;
		}
		take(j, r, shared);
		budget_pulse(j->budget);
	}
}

static void wait_for(const Worker *w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		while (waitpid(w[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
}

uint32_t jobs_run(const Jobs *j)
{
	uint32_t workers = j->workers < j->tasks ? j->workers : j->tasks;
	workers = workers < WORKERS_MOST ? workers : WORKERS_MOST;
	Shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 0;
	Worker w[WORKERS_MOST] = {{0}};
	Results r = {.a = arena_new(NULL)};
	r.data = NEW_N(&r.a, Str, j->tasks + 1);
	r.have = NEW_N(&r.a, bool, j->tasks + 1);
	uint32_t n = start(j, w, workers, shared);
	collect(j, w, n, &r, shared);
	wait_for(w, n);
	munmap(shared, sizeof *shared);
	arena_free(&r.a);
	return r.taken;
}

uint32_t jobs_processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		n = CPU_COUNT(&set);
#endif
	return n < 1 ? 1 : n > PROCESSORS_MOST ? PROCESSORS_MOST : (uint32_t)n;
}
