// SPDX-License-Identifier: BSD-2-Clause
/* Reads procfs once, with few system calls per process, and encodes the running processes as
 * records. */
#include "process/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/unused.h"
#include "process/procfs_maps.h"

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD, in the flags field of stat since 2.6.27 */

struct snapshot {
	int proc_fd;
	uint64_t time_ns;
	struct event_buffer *buffer;
	struct snapshot_stats stats;
	int err; /* of the encoder, set in callbacks */
};

struct task_stat {
	char comm[PKBPF_COMM_SIZE + 1];
	char state;
	uint32_t parent_pid;
	uint64_t flags;
	uint64_t thread_count;
};

/* Parses the whole string as a decimal number; 0: not a valid pid. */
static uint32_t parse_pid(const char *text)
{
	uint64_t value = 0;

	if (!*text)
		return 0;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > INT32_MAX)
			return 0;
	}
	return (uint32_t)value;
}

/* Field `index` of the space-separated fields at `at` (0 = first), negative numbers as 0; false:
 * no such field. */
static bool stat_field(const char *at, unsigned int index, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (; index; index--) {
		at = strchr(at, ' ');
		if (!at)
			return false;
		at++;
	}
	if (*at == '-') {
		*ret_value = 0;
		return true;
	}
	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	*ret_value = value;
	return true;
}

/* text: "PID (comm) S ppid …". comm may contain anything; the last parenthesis ends it. */
static bool parse_stat(const char *text, size_t size, struct task_stat *ret_stat)
{
	const char *open = memchr(text, '(', size);
	const char *close = memrchr(text, ')', size);
	uint64_t parent_pid;
	size_t length;

	if (!open || !close || close < open || close[1] != ' ' || !close[2] || close[3] != ' ')
		return false;
	length = (size_t)(close - open - 1);
	if (length >= PKBPF_COMM_SIZE) /* kernel threads show a longer name here */
		length = PKBPF_COMM_SIZE - 1;
	memset(ret_stat->comm, 0, sizeof(ret_stat->comm));
	memcpy(ret_stat->comm, open + 1, length);
	ret_stat->state = close[2];
	/* after the state: ppid is field 0, flags 5, num_threads 16 */
	if (!stat_field(close + 4, 0, &parent_pid) || !stat_field(close + 4, 5, &ret_stat->flags) ||
	    !stat_field(close + 4, 16, &ret_stat->thread_count))
		return false;
	ret_stat->parent_pid = (uint32_t)parent_pid;
	return true;
}

/* -ESRCH: no such process. */
static int read_stat(const struct snapshot *snapshot, uint32_t pid, struct task_stat *ret_stat)
{
	_cleanup_close_ int fd = -1;
	char buffer[2048]; /* 52 numbers of at most 20 digits and a name of at most 64 bytes */
	char path[32];
	ssize_t got;

	snprintf(path, sizeof(path), "%u/stat", pid);
	fd = openat(snapshot->proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	got = read(fd, buffer, sizeof(buffer) - 1);
	if (got < 0)
		return -errno;
	buffer[got] = '\0';
	return parse_stat(buffer, (size_t)got, ret_stat) ? 0 : -ESRCH;
}

static int add_task(struct snapshot *snapshot, enum pkbpf_event_kind kind, uint32_t pid,
		    uint32_t tid, uint32_t parent_pid, const char *comm)
{
	struct task_view task = {
		.time_ns = snapshot->time_ns,
		.kind = kind,
		.pid = pid,
		.tid = tid,
		.parent_pid = parent_pid,
		.parent_tid = parent_pid,
		.from_snapshot = true,
	};

	memcpy(task.comm, comm, strlen(comm));
	return event_encode_task(snapshot->buffer, &task);
}

typedef int (*pid_callback)(struct snapshot *snapshot, uint32_t pid, void *context);

/* Calls back for every number in the directory; an error of the callback ends the iteration. */
static int walk_pids(struct snapshot *snapshot, int directory_fd, pid_callback callback,
		     void *context)
{
	char buffer[16 * 1024] __attribute__((aligned(__alignof__(struct dirent64))));

	for (;;) {
		ssize_t got = getdents64(directory_fd, buffer, sizeof(buffer));

		if (got <= 0)
			return got < 0 ? -errno : 0;
		for (ssize_t at = 0; at < got;) {
			const struct dirent64 *entry = (const void *)(buffer + at);
			uint32_t pid = parse_pid(entry->d_name);
			int err = pid ? callback(snapshot, pid, context) : 0;

			if (err)
				return err;
			at += entry->d_reclen;
		}
	}
}

struct thread_walk {
	uint32_t pid;
	uint32_t other; /* a thread other than the leader; 0: none */
};

static int add_thread(struct snapshot *snapshot, uint32_t tid, void *context)
{
	struct thread_walk *walk = context;

	if (tid == walk->pid)
		return 0;
	walk->other = tid;
	return add_task(snapshot, PKBPF_EVENT_FORK, walk->pid, tid, walk->pid, "");
}

static int add_threads(struct snapshot *snapshot, struct thread_walk *walk)
{
	_cleanup_close_ int fd = -1;
	char path[32];
	int err;

	snprintf(path, sizeof(path), "%u/task", walk->pid);
	fd = openat(snapshot->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = walk_pids(snapshot, fd, add_thread, walk);
	return err == -ENOENT ? -ESRCH : err;
}

struct mapping_walk {
	struct snapshot *snapshot;
	uint32_t pid;
};

static void add_mapping(void *context, const struct procfs_mapping *mapping)
{
	struct mapping_walk *walk = context;
	struct snapshot *snapshot = walk->snapshot;
	struct mapping_view view;

	if (!(mapping->protection & PKBPF_PROT_EXEC) || snapshot->err)
		return;
	view = (struct mapping_view){
		.time_ns = snapshot->time_ns,
		.pid = walk->pid,
		.tid = walk->pid,
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.inode = mapping->inode,
		.device_major = mapping->device_major,
		.device_minor = mapping->device_minor,
		.protection = mapping->protection,
		.from_snapshot = true,
		.path = mapping->path,
	};
	snapshot->err = event_encode_mapping(snapshot->buffer, &view);
	snapshot->stats.mappings++;
}

/* procfs_pid: the thread whose memory map procfs still shows. */
static int add_mappings(struct snapshot *snapshot, uint32_t pid, uint32_t procfs_pid)
{
	struct mapping_walk walk = {snapshot, pid};
	int got = procfs_maps_read(snapshot->proc_fd, procfs_pid, add_mapping, &walk);

	if (snapshot->err)
		return snapshot->err;
	if (got == -EACCES || got == -EPERM) {
		snapshot->stats.unreadable++;
		return 0;
	}
	if (got == -ENOENT)
		return -ESRCH;
	return got < 0 ? got : 0;
}

static int encode_process(struct snapshot *snapshot, uint32_t pid)
{
	struct thread_walk threads = {.pid = pid};
	struct task_stat stat;
	bool leader_ended;
	int err;

	err = read_stat(snapshot, pid, &stat);
	if (err)
		return err;
	leader_ended = stat.state == 'Z' || stat.state == 'X' || stat.state == 'x';
	if (leader_ended && stat.thread_count <= 1)
		return 0;
	err = add_task(snapshot, PKBPF_EVENT_FORK, pid, pid, stat.parent_pid, "");
	if (!err)
		err = add_task(snapshot, PKBPF_EVENT_COMM, pid, pid, 0, stat.comm);
	if (!err && stat.thread_count > 1)
		err = add_threads(snapshot, &threads);
	/* The leader has already exited; no exit record will follow. */
	if (!err && leader_ended)
		err = add_task(snapshot, PKBPF_EVENT_EXIT, pid, pid, 0, "");
	if (!err && !(stat.flags & KERNEL_THREAD))
		err = add_mappings(snapshot, pid,
				   leader_ended && threads.other ? threads.other : pid);
	if (!err)
		snapshot->stats.processes++;
	return err;
}

static int add_process(struct snapshot *snapshot, uint32_t pid, _unused_ void *context)
{
	size_t size = snapshot->buffer->size;
	size_t mappings = snapshot->stats.mappings;
	int err = encode_process(snapshot, pid);

	if (err != -ESRCH)
		return err;
	/* an incomplete process would be worse than none */
	snapshot->buffer->size = size;
	snapshot->stats.mappings = mappings;
	snapshot->stats.vanished++;
	return 0;
}

int snapshot_processes(const char *proc_path, const uint32_t *pids, size_t pid_count,
		       uint64_t time_ns, struct event_buffer *buffer,
		       struct snapshot_stats *ret_stats)
{
	_cleanup_close_ int proc_fd = open(proc_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct snapshot snapshot = {.proc_fd = proc_fd, .time_ns = time_ns, .buffer = buffer};
	size_t size = buffer->size;
	int err = 0;

	if (proc_fd < 0)
		return -errno;
	if (pids) {
		for (size_t i = 0; i < pid_count && !err; i++)
			err = add_process(&snapshot, pids[i], NULL);
	} else {
		err = walk_pids(&snapshot, proc_fd, add_process, NULL);
	}
	if (err) {
		buffer->size = size;
		return err;
	}
	*ret_stats = snapshot.stats;
	return 0;
}
