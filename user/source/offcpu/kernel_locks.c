// SPDX-License-Identifier: BSD-2-Clause
#include "source/offcpu/kernel_locks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/kernel_lock.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/kernel/kernel_types.h"
#include "capture/tracing_program.h"
#include "event/lock_event.h"
#include "source/mapped_table.h"
#include "source/offcpu/lock_rows.h"

#include "pkbpf.skel.h"

/* Stacks of rows beside those that the programs number. */
#define STACK_IDS (1ULL << 63)

struct kernel_locks {
	struct session *session;
	struct mapped_table rows;
	struct sent_lock *sent;
	bool *has_stack; /* was sent, by row */
	char (*names)[PKBPF_LOCK_NAME_SIZE];
	bool *is_named;
	struct bpf_link *on_begin, *on_end;
};

void kernel_locks_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	struct bpf_map *const maps[] = {
		skeleton->maps.kernel_lock_waits,  skeleton->maps.kernel_lock_rows,
		skeleton->maps.kernel_lock_index,  skeleton->maps.kernel_lock_free,
		skeleton->maps.kernel_lock_stacks, skeleton->maps.kernel_lock_busy,
	};

	bpf_program__set_autoload(skeleton->progs.kernel_lock_begin, wanted);
	bpf_program__set_autoload(skeleton->progs.kernel_lock_end, wanted);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		bpf_map__set_autocreate(maps[i], wanted);
}

static int size_maps(struct pkbpf_bpf *skeleton, struct kernel_locks *locks)
{
	int err = mapped_table_configure(&locks->rows, skeleton->maps.kernel_lock_rows,
					 PKBPF_KERNEL_LOCK_ROWS);

	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.kernel_lock_index,
					     PKBPF_KERNEL_LOCK_ROWS);
	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.kernel_lock_free,
					     PKBPF_KERNEL_LOCK_ROWS);
	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.kernel_lock_waits,
					     PKBPF_KERNEL_LOCK_WAITS);
	return err ? err
		   : bpf_map__set_max_entries(skeleton->maps.kernel_lock_stacks,
					      PKBPF_KERNEL_LOCK_STACKS);
}

int kernel_locks_configure(struct session *session, struct kernel_locks **ret_locks,
			   struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	struct kernel_locks *locks;
	int err;

	if (!kernel_types_tracepoint_arguments(session_kernel_types(session), "contention_begin"))
		return error_set(
			error, ENOTSUP,
			"--kernel-locks: this kernel has no tracepoint of waits for its locks; "
			"Linux 5.19 and newer do");
	locks = calloc(1, sizeof(*locks));
	if (!locks)
		return error_set(error, ENOMEM, "cannot prepare locks: out of memory");
	locks->session = session;
	kernel_locks_choose(skeleton, true);
	err = size_maps(skeleton, locks);
	if (err) {
		kernel_locks_free(locks);
		return error_set(error, -err, "cannot size the BPF maps: %s", strerror(-err));
	}
	*ret_locks = locks;
	return 0;
}

int kernel_locks_attach(struct kernel_locks *locks, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(locks->session);
	int err = mapped_table_open(&locks->rows, error);

	if (err)
		return err;
	locks->sent = calloc(locks->rows.count, sizeof(*locks->sent));
	locks->has_stack = calloc(locks->rows.count, sizeof(*locks->has_stack));
	locks->is_named = calloc(locks->rows.count, sizeof(*locks->is_named));
	locks->names = calloc(locks->rows.count, sizeof(*locks->names));
	if (!locks->sent || !locks->has_stack || !locks->is_named || !locks->names)
		return error_set(error, ENOMEM, "cannot prepare locks: out of memory");
	err = tracing_program_attach(skeleton->progs.kernel_lock_end, &locks->on_end, error);
	return err ? err
		   : tracing_program_attach(skeleton->progs.kernel_lock_begin, &locks->on_begin,
					    error);
}

void kernel_locks_detach(struct kernel_locks *locks)
{
	if (!locks)
		return;
	bpf_link__destroy(locks->on_begin);
	bpf_link__destroy(locks->on_end);
	locks->on_begin = locks->on_end = NULL;
}

void kernel_locks_free(struct kernel_locks *locks)
{
	if (!locks)
		return;
	kernel_locks_detach(locks);
	mapped_table_close(&locks->rows);
	free(locks->sent);
	free(locks->has_stack);
	free(locks->is_named);
	free(locks->names);
	free(locks);
}

void kernel_lock_name(char *name, size_t size, const char *text)
{
	const char *plus = strchr(text, '+');
	unsigned long offset = 0;

	name[0] = '\0';
	/* A bare address has no symbol; what lies in none has a large place behind another. */
	if (!plus || plus == text || sscanf(plus, "+0x%lx/", &offset) != 1)
		return;
	if (offset)
		snprintf(name, size, "%.*s+0x%lx", (int)(plus - text), text, offset);
	else
		snprintf(name, size, "%.*s", (int)(plus - text), text);
}

static const char *name_of(struct kernel_locks *locks, uint32_t index,
			   const volatile struct pkbpf_lock_row *row)
{
	char text[256] = "";

	if (locks->is_named[index])
		return locks->names[index];
	locks->is_named[index] = true;
	if (row->hand_over)
		strcpy(locks->names[index], "mmap_lock");
	else if (session_name_kernel_address(locks->session, row->address, text, sizeof(text)))
		kernel_lock_name(locks->names[index], sizeof(locks->names[index]), text);
	return locks->names[index];
}

static uint64_t stack_id_of(uint32_t index)
{
	return STACK_IDS | (index + 1);
}

/* Sends the stack of a row, once. */
static int send_stack(struct kernel_locks *locks, uint32_t index,
		      const volatile struct pkbpf_lock_row *row, struct event_buffer *buffer)
{
	uint64_t ips[PKBPF_KERNEL_LOCK_FRAMES] = {0};
	struct stack_view stack = {.stack_id = stack_id_of(index),
				   .pid = row->pid,
				   .user_end = PKBPF_END_ROOT,
				   .kernel_ips = ips};
	uint32_t number = row->holder_slot;
	int fd = bpf_map__fd(session_skeleton(locks->session)->maps.kernel_lock_stacks), err;

	if (locks->has_stack[index] || number == PKBPF_KERNEL_LOCK_NO_STACK ||
	    bpf_map_lookup_elem(fd, &number, ips))
		return 0;
	while (stack.kernel_count < ARRAY_SIZE(ips) && ips[stack.kernel_count])
		stack.kernel_count++;
	err = event_encode_stack(buffer, clock_now_ns(), &stack);
	locks->has_stack[index] = !err;
	return err;
}

static int send_site(const struct kernel_locks *locks, uint32_t index,
		     const volatile struct pkbpf_lock_row *row, const struct sent_lock *before,
		     struct event_buffer *buffer)
{
	const struct pkbpf_event_lock_part part = {
		.header.time_ns = clock_now_ns(),
		.address = row->address,
		.lock_pid = row->pid,
		.class = row->class,
		.stack_id = locks->has_stack[index] ? stack_id_of(index) : 0,
		.kind = PKBPF_LOCK_SITE,
		.count = locks->sent[index].waits - before->waits,
		.ns = locks->sent[index].wait_ns - before->wait_ns,
	};

	return part.count ? lock_part_event_encode(buffer, &part) : 0;
}

int kernel_locks_drain(struct kernel_locks *locks, struct event_buffer *buffer)
{
	const volatile struct pkbpf_lock_row *rows = locks ? locks->rows.items : NULL;
	int err = 0;

	for (uint32_t i = 0; rows && i < locks->rows.count && !err; i++) {
		struct sent_lock before;

		if (!rows[i].pid || rows[i].waits == locks->sent[i].waits)
			continue;
		before = locks->sent[i];
		err = send_stack(locks, i, &rows[i], buffer);
		err = err ? err
			  : lock_row_drain(&rows[i], &locks->sent[i], name_of(locks, i, &rows[i]),
					   buffer);
		err = err ? err : send_site(locks, i, &rows[i], &before, buffer);
	}
	return err;
}

void kernel_locks_cut(struct kernel_locks *locks)
{
	volatile struct pkbpf_lock_row *rows = locks ? locks->rows.items : NULL;

	for (uint32_t i = 0; rows && i < locks->rows.count; i++)
		rows[i].max_ns = 0;
}

void kernel_locks_each_stack(const struct kernel_locks *locks,
			     void (*take)(void *context, uint64_t stack_id), void *context)
{
	for (uint32_t i = 0; locks && locks->has_stack && i < locks->rows.count; i++)
		if (locks->has_stack[i])
			take(context, stack_id_of(i));
}
