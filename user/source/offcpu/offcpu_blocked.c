// SPDX-License-Identifier: BSD-2-Clause
/* Reads the stacks of blocked threads a few at a time, so that thousands of them delay nothing
 * else. */
#include "source/offcpu/offcpu_blocked.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pkbpf/unwind_state.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "source/offcpu/offcpu_probed.h"
#include "source/offcpu/offcpu_stack.h"

/* Stack bytes read per thread: enough for the frames of nearly every waiting thread. With many
 * threads it is less, because the copies stay in memory until they are unwound. */
#define STACK_BYTES	  32768
#define CROWD_STACK_BYTES 8192
#define CROWD_THREADS	  512
/* Maximum threads and duration of one round. */
#define ROUND_THREADS 1024
#define ROUND_NS      (40 * NS_PER_MS)
/* The same for the rest at the end, when the user waits for the result. */
#define LAST_ROUND_NS (300 * NS_PER_MS)

/* A thread with uprobes of other tools. */
struct probed_thread {
	size_t thread; /* index in threads */
	struct pkbpf_probed_calls calls;
};

struct offcpu_blocked {
	ARRAY_OF(struct pkbpf_blocked_thread) threads;
	ARRAY_OF(struct probed_thread) probed; /* in the order of threads */
	size_t next_probed;
	size_t next;
	uint64_t skipped;
	uint8_t stack[STACK_BYTES];
};

/* Returns 1: a record; 0: end of file. */
static int read_record(int fd, void *record, size_t size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t got = read(fd, (char *)record + have, size - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		have += (size_t)got;
	}
	return 1;
}

static int read_records(int fd, struct offcpu_blocked *blocked)
{
	struct pkbpf_blocked_thread thread;
	struct probed_thread probed;
	int got;

	while ((got = read_record(fd, &thread, sizeof(thread))) > 0) {
		if (!array_reserve(&blocked->threads, blocked->threads.count + 1) ||
		    !array_reserve(&blocked->probed, blocked->probed.count + 1))
			return -ENOMEM;
		if (thread.is_probed) {
			probed.thread = blocked->threads.count;
			got = read_record(fd, &probed.calls, sizeof(probed.calls));
			if (got <= 0)
				return got;
			*array_add(&blocked->probed) = probed;
		}
		*array_add(&blocked->threads) = thread;
	}
	return got;
}

int offcpu_blocked_read(struct bpf_link *iterator, struct offcpu_blocked **ret_blocked,
			struct error *error)
{
	struct offcpu_blocked *blocked = calloc(1, sizeof(*blocked));
	_cleanup_close_ int fd = -1;
	int err;

	if (!blocked)
		return error_set(error, ENOMEM, "cannot list blocked threads: out of memory");
	fd = bpf_iter_create(bpf_link__fd(iterator));
	err = fd < 0 ? -errno : read_records(fd, blocked);
	if (err) {
		offcpu_blocked_free(blocked);
		return error_set(
			error, -err,
			"cannot list blocked threads through the kernel's task iterator: %s",
			strerror(-err));
	}
	*ret_blocked = blocked;
	return 0;
}

/* /proc/PID/task/TID/syscall has "NUMBER ARGUMENT… SP PC" of the system call a thread is blocked
 * in, or "running". */
static bool blocked_at_same_place(const struct pkbpf_blocked_thread *thread)
{
	_cleanup_free_ char *text = NULL;
	unsigned long long sp, pc;
	const char *at;
	char path[64];
	size_t size;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", thread->pid, thread->tid);
	if (file_read_all(AT_FDCWD, path, 4096, &text, &size))
		return false;
	at = strrchr(text, ' ');
	if (!at || at == text)
		return false;
	pc = strtoull(at + 1, NULL, 16);
	for (at--; at > text && *at != ' '; at--)
		;
	sp = strtoull(at, NULL, 16);
	return sp == thread->regs[PKBPF_REG_SP] && pc == thread->regs[PKBPF_REG_IP];
}

/* tables NULL: the tables are no longer updated. */
static bool still_waits(const struct offcpu_tables *tables,
			const struct pkbpf_blocked_thread *thread)
{
	const volatile struct pkbpf_thread *slot;

	if (!tables)
		return blocked_at_same_place(thread);
	slot = offcpu_tables_thread(tables, thread->tid);

	return slot && slot->place == PKBPF_THREAD_OFF_CPU && slot->stack_id == thread->stack_id;
}

/* Sends only the kernel stack; the user stack has changed or cannot be read. */
static void send_kernel_part(struct offcpu_blocked *blocked,
			     const struct pkbpf_blocked_thread *thread, bool had_user,
			     struct event_buffer *buffer)
{
	struct stack_view view = {
		.stack_id = thread->stack_id,
		.pid = thread->pid,
		.user_end = had_user ? PKBPF_END_RAN_ON : PKBPF_END_NONE,
		.kernel_ips = (const uint64_t *)thread->ips,
		.kernel_count = thread->n_kernel,
	};

	if (had_user)
		blocked->skipped++;
	event_encode_stack(buffer, clock_now_ns(), &view);
}

/* Probed calls of a thread; NULL: none. Threads must come in the order of earlier calls. */
static const struct pkbpf_probed_calls *find_probed_calls(struct offcpu_blocked *blocked,
							  const struct pkbpf_blocked_thread *thread)
{
	size_t number = (size_t)(thread - blocked->threads.items);

	if (!thread->is_probed)
		return NULL;
	while (blocked->probed.items[blocked->next_probed].thread < number)
		blocked->next_probed++;
	return &blocked->probed.items[blocked->next_probed].calls;
}

/* Sends a raw stack, which is unwound like any other. */
static void send_thread(struct offcpu_blocked *blocked, const struct offcpu_tables *tables,
			const struct pkbpf_blocked_thread *thread, bool want_user,
			struct event_buffer *buffer)
{
	const struct pkbpf_probed_calls *calls = find_probed_calls(blocked, thread);
	struct raw_stack_extent extent = {0};
	uint64_t regs[PKBPF_REGS];
	struct raw_stack_view raw = {
		.sample =
			{
				.time_ns = clock_now_ns(),
				.pid = thread->pid,
				.tid = thread->tid,
				.kind = PKBPF_PROFILE_OFFCPU,
				.user_end = PKBPF_END_RAN_ON, /* until it is unwound */
				.kernel_ips = (const uint64_t *)thread->ips,
				.kernel_count = thread->n_kernel,
				.after_syscall = thread->after_syscall,
			},
		.stack_id = thread->stack_id,
		.regs = regs,
		.stack = blocked->stack,
	};

	if (!want_user || !thread->has_regs) {
		send_kernel_part(blocked, thread, false, buffer);
		return;
	}
	memcpy(regs, thread->regs, sizeof(regs));
	if (calls)
		offcpu_probed_mend_regs(calls, &regs[PKBPF_REG_SP], &regs[PKBPF_REG_IP]);
	extent.start = regs[PKBPF_REG_SP] & ~7ULL;
	if (still_waits(tables, thread))
		raw.cut = offcpu_stack_read(
			thread->pid, thread->tid, blocked->stack,
			blocked->threads.count > CROWD_THREADS ? CROWD_STACK_BYTES : STACK_BYTES,
			&extent);
	if (calls)
		offcpu_probed_mend_stack(calls, &extent, blocked->stack);
	raw.stack_start = extent.start;
	raw.stack_size = extent.size;
	raw.holes = extent.holes;
	/* The thread may have run while its stack was read. */
	if (!raw.stack_size || !still_waits(tables, thread) || event_encode_raw_stack(buffer, &raw))
		send_kernel_part(blocked, thread, true, buffer);
}

bool offcpu_blocked_send(struct offcpu_blocked *blocked, const struct offcpu_tables *tables,
			 bool want_user, struct event_buffer *buffer)
{
	uint64_t end_ns = clock_now_ns() + ROUND_NS;

	for (size_t i = 0;
	     i < ROUND_THREADS && blocked->next < blocked->threads.count && clock_now_ns() < end_ns;
	     i++)
		send_thread(blocked, tables, &blocked->threads.items[blocked->next++], want_user,
			    buffer);
	return blocked->next < blocked->threads.count;
}

void offcpu_blocked_finish(struct offcpu_blocked *blocked, bool want_user,
			   struct event_buffer *buffer)
{
	uint64_t end_ns = clock_now_ns() + LAST_ROUND_NS;

	while (blocked->next < blocked->threads.count) {
		const struct pkbpf_blocked_thread *thread =
			&blocked->threads.items[blocked->next++];

		if (clock_now_ns() < end_ns)
			send_thread(blocked, NULL, thread, want_user, buffer);
		else
			send_kernel_part(blocked, thread, want_user && thread->has_regs, buffer);
	}
}

uint64_t offcpu_blocked_skipped(const struct offcpu_blocked *blocked)
{
	return blocked->skipped;
}

void offcpu_blocked_free(struct offcpu_blocked *blocked)
{
	if (!blocked)
		return;
	array_free(&blocked->threads);
	array_free(&blocked->probed);
	free(blocked);
}
