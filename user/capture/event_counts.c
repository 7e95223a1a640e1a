// SPDX-License-Identifier: BSD-2-Clause
#include "capture/event_counts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/perf_event.h"

/* As read() gives it, by the format asked for. */
struct reading {
	uint64_t value, enabled_ns, running_ns;
};

struct event_counts {
	size_t event_count, places; /* a descriptor per event and place */
	int *fds;		    /* by event, then by place; -1: none */
	struct reading before[EVENT_COUNTS_MAX];
};

struct place {
	int pid, cpu; /* as perf_event_open() takes them */
	unsigned long flags;
};

static struct place place_at(const struct event_scope *scope, size_t number)
{
	if (scope->tid_count)
		return (struct place){(int)scope->tids[number], -1, 0};
	if (scope->cgroup_fd >= 0)
		return (struct place){scope->cgroup_fd, (int)number, PERF_FLAG_PID_CGROUP};
	return (struct place){-1, (int)number, 0};
}

static int open_one(struct perf_event_attr *attr, const struct place *place)
{
	struct perf_event_attr copy = *attr;
	long fd = syscall(SYS_perf_event_open, &copy, place->pid, place->cpu, -1,
			  PERF_FLAG_FD_CLOEXEC | place->flags);

	return fd >= 0 ? (int)fd : -errno;
}

static void close_event(struct event_counts *counts, size_t event)
{
	for (size_t i = 0; i < counts->places; i++) {
		int *fd = &counts->fds[event * counts->places + i];

		if (*fd >= 0)
			close(*fd);
		*fd = -1;
	}
}

/* A CPU may be offline, and a thread have ended; any other error is the event's. */
static bool is_missing_place(const struct event_scope *scope, int err)
{
	return scope->tid_count ? err == -ESRCH : err == -ENODEV;
}

static int open_event(struct event_counts *counts, size_t event, const struct counted_event *wanted,
		      const struct event_scope *scope)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = wanted->type,
		.config = wanted->config,
		.inherit = scope->tid_count ? 1 : 0,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int err = -ESRCH;

	for (size_t i = 0; i < counts->places; i++) {
		struct place place = place_at(scope, i);
		int fd = open_one(&attr, &place);

		/* Other users may count their own code alone. */
		if ((fd == -EACCES || fd == -EPERM) && wanted->type != PERF_TYPE_SOFTWARE) {
			attr.exclude_kernel = attr.exclude_hv = 1;
			fd = open_one(&attr, &place);
		}
		counts->fds[event * counts->places + i] = fd < 0 ? -1 : fd;
		if (fd >= 0)
			err = 0;
		else if (err != 0 || !is_missing_place(scope, fd))
			err = fd;
		if (err < 0 && !is_missing_place(scope, err))
			break;
	}
	if (err < 0)
		close_event(counts, event);
	return err;
}

static void explain(int err, struct error *error)
{
	if (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP || err == -EINVAL)
		error_set(
			error, ENOTSUP,
			"there are none (no PMU); a virtual machine has those that its host passes "
			"on");
	else if (err == -EACCES || err == -EPERM)
		error_set(error, -err, "they may not be read: %s; run as root", strerror(-err));
	else
		error_set(error, -err, "they cannot be read: %s", strerror(-err));
}

struct event_counts *event_counts_open(const struct counted_event *events, size_t count,
				       const struct event_scope *scope, struct error *error)
{
	struct event_counts *counts = calloc(1, sizeof(*counts));
	struct event_count ignored[EVENT_COUNTS_MAX];
	int err = -ENODEV, first_err = 0;
	size_t opened = 0;

	if (!counts || count > EVENT_COUNTS_MAX)
		goto no_memory;
	counts->event_count = count;
	counts->places = scope->tid_count ? scope->tid_count : scope->cpu_count;
	counts->fds = malloc((count * counts->places + 1) * sizeof(int));
	if (!counts->fds)
		goto no_memory;
	memset(counts->fds, 0xff, (count * counts->places + 1) * sizeof(int));
	for (size_t i = 0; i < count; i++) {
		err = open_event(counts, i, &events[i], scope);
		opened += err == 0;
		first_err = first_err ? first_err : err;
	}
	if (!opened) {
		explain(first_err, error);
		event_counts_free(counts);
		return NULL;
	}
	event_counts_read(counts, ignored);
	return counts;
no_memory:
	error_set(error, ENOMEM, "they cannot be read: out of memory");
	event_counts_free(counts);
	return NULL;
}

struct event_counts *event_counts_open_process(const struct counted_event *events, size_t count,
					       uint32_t pid, struct error *error)
{
	const struct event_scope scope = {.tids = &pid, .tid_count = 1, .cgroup_fd = -1};

	return event_counts_open(events, count, &scope, error);
}

/* Threads and children that have exited are in the event that they inherited from. */
static struct reading read_event(const struct event_counts *counts, size_t event)
{
	struct reading sum = {0};

	for (size_t i = 0; i < counts->places; i++) {
		int fd = counts->fds[event * counts->places + i];
		struct reading one;

		if (fd < 0 || read(fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
			continue;
		sum.value += one.value;
		sum.enabled_ns += one.enabled_ns;
		sum.running_ns += one.running_ns;
	}
	return sum;
}

/* More events than the CPU has counters take turns: scaled up by the time each had one. */
static struct event_count difference(const struct reading *before, const struct reading *after)
{
	double value = (double)after->value - (double)before->value;
	double enabled = (double)after->enabled_ns - (double)before->enabled_ns;
	double running = (double)after->running_ns - (double)before->running_ns;

	if (running <= 0 || value < 0)
		return (struct event_count){0};
	return (struct event_count){.known = true,
				    .scaled = enabled > running,
				    .value = enabled > running ? value * enabled / running : value};
}

void event_counts_read(struct event_counts *counts, struct event_count *ret_counts)
{
	for (size_t i = 0; i < counts->event_count; i++) {
		struct reading now = read_event(counts, i);

		ret_counts[i] = difference(&counts->before[i], &now);
		counts->before[i] = now;
	}
}

void event_counts_free(struct event_counts *counts)
{
	if (!counts)
		return;
	for (size_t i = 0; i < counts->event_count && counts->fds; i++)
		close_event(counts, i);
	free(counts->fds);
	free(counts);
}
