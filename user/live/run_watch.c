// SPDX-License-Identifier: BSD-2-Clause
/* Collects everything that can end a run behind one pollable descriptor. */
#include "live/run_watch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "process/cgroup/cgroup.h"

struct watched {
	uint32_t id;
	int pidfd; /* -1: asked for by number */
	bool has_ended;
};

struct run_watch {
	int epoll_fd;
	ARRAY_OF(struct watched) targets;
	size_t ended_count;
	const struct cgroup_paths *cgroups; /* NULL: none, or more are awaited */
};

/* epoll data of the stop descriptor, and of those of others; the rest carry their index in
 * targets. */
#define STOP_INDEX  UINT64_MAX
#define OTHER_INDEX (UINT64_MAX - 1)

static int watch_events(struct run_watch *watch, int fd, uint32_t events, uint64_t index,
			struct error *error)
{
	struct epoll_event event = {.events = events, .data.u64 = index};

	if (epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_set(error, errno, "cannot watch the targets: %s", strerror(errno));
	return 0;
}

static int watch_fd(struct run_watch *watch, int fd, uint64_t index, struct error *error)
{
	return watch_events(watch, fd, EPOLLIN, index, error);
}

struct run_watch *run_watch_new(struct error *error)
{
	struct run_watch *watch = calloc(1, sizeof(*watch));

	if (!watch) {
		error_set(error, ENOMEM, "cannot watch the targets: out of memory");
		return NULL;
	}
	watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (watch->epoll_fd < 0) {
		error_set(error, errno, "cannot watch the targets: %s", strerror(errno));
		free(watch);
		return NULL;
	}
	return watch;
}

int run_watch_set_stop(struct run_watch *watch, int fd, struct error *error)
{
	return watch_fd(watch, fd, STOP_INDEX, error);
}

int run_watch_set_output(struct run_watch *watch, int fd, struct error *error)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
		return 0;
	/* Without events: errors and ends are reported all the same. */
	return watch_events(watch, fd, 0, STOP_INDEX, error);
}

int run_watch_add_process(struct run_watch *watch, uint32_t pid, int pidfd, struct error *error)
{
	struct watched *target = array_add(&watch->targets);

	if (!target) {
		if (pidfd >= 0)
			close(pidfd);
		return error_set(error, ENOMEM, "cannot watch the targets: out of memory");
	}
	target->id = pid;
	target->pidfd = pidfd;
	return pidfd < 0 ? 0 : watch_fd(watch, pidfd, watch->targets.count - 1, error);
}

int run_watch_add_thread(struct run_watch *watch, uint32_t tid, struct error *error)
{
	return run_watch_add_process(watch, tid, -1, error);
}

void run_watch_set_cgroups(struct run_watch *watch, const struct cgroup_paths *cgroups,
			   bool awaits_more)
{
	watch->cgroups = awaits_more || !cgroups->count ? NULL : cgroups;
}

int run_watch_add_fd(struct run_watch *watch, int fd, struct error *error)
{
	return watch_fd(watch, fd, OTHER_INDEX, error);
}

int run_watch_fd(const struct run_watch *watch)
{
	return watch->epoll_fd;
}

static void mark_ended(struct run_watch *watch, struct watched *target)
{
	if (target->has_ended)
		return;
	target->has_ended = true;
	watch->ended_count++;
	if (target->pidfd >= 0) {
		/* It stays readable for ever: leave the epoll set, or every wait would return at
		 * once. Closing is not enough while a child holds a copy. */
		epoll_ctl(watch->epoll_fd, EPOLL_CTL_DEL, target->pidfd, NULL);
		close(target->pidfd);
		target->pidfd = -1;
	}
}

/* They can be removed when nothing is left in them. */
static bool are_removed(const struct cgroup_paths *cgroups)
{
	array_foreach(cgroups, path)
		if (access(*path, F_OK) == 0 || errno != ENOENT)
			return false;
	return true;
}

enum run_end run_watch_check(struct run_watch *watch, uint64_t now_ns, uint64_t deadline_ns)
{
	struct epoll_event events[16];
	int count;

	do {
		count = epoll_wait(watch->epoll_fd, events, ARRAY_SIZE(events), 0);
		for (int i = 0; i < count; i++) {
			if (events[i].data.u64 == STOP_INDEX)
				return RUN_STOPPED;
			if (events[i].data.u64 != OTHER_INDEX)
				mark_ended(watch, &watch->targets.items[events[i].data.u64]);
		}
	} while (count == (int)ARRAY_SIZE(events));
	array_foreach(&watch->targets, target) {
		if (!target->has_ended && target->pidfd < 0 &&
		    syscall(SYS_tkill, (pid_t)target->id, 0) < 0 && errno == ESRCH)
			mark_ended(watch, target);
	}
	if (watch->targets.count > 0 && watch->ended_count == watch->targets.count)
		return RUN_TARGETS_ENDED;
	if (watch->cgroups && are_removed(watch->cgroups))
		return RUN_TARGETS_ENDED;
	if (deadline_ns && now_ns >= deadline_ns)
		return RUN_TIME_IS_UP;
	return RUN_GOES_ON;
}

void run_watch_free(struct run_watch *watch)
{
	if (!watch)
		return;
	array_foreach(&watch->targets, target) {
		if (target->pidfd >= 0)
			close(target->pidfd);
	}
	array_free(&watch->targets);
	close(watch->epoll_fd);
	free(watch);
}
