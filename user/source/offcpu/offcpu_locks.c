// SPDX-License-Identifier: BSD-2-Clause
/* Drains the tables of locks. */
#include "source/offcpu/offcpu_locks.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/config.h>
#include <pkbpf/lock.h>

#include "base/array.h"
#include "base/clock.h"
#include "event/lock_event.h"
#include "source/mapped_table.h"
#include "source/offcpu/lock_rows.h"

#include "pkbpf.skel.h"

/* Values of a part that have been sent. */
struct sent_part {
	uint64_t count, ns;
};

struct offcpu_locks {
	struct mapped_table rows, parts;
	struct sent_lock *sent_rows;
	struct sent_part *sent_parts;
};

void offcpu_locks_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	struct bpf_map *const maps[] = {
		skeleton->maps.lock_rows,	skeleton->maps.lock_index,
		skeleton->maps.lock_free_rows,	skeleton->maps.lock_parts,
		skeleton->maps.lock_part_index, skeleton->maps.lock_free_parts,
		skeleton->maps.lock_threads,	skeleton->maps.lock_tids,
	};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		bpf_map__set_autocreate(maps[i], wanted);
}

int offcpu_locks_configure(struct pkbpf_bpf *skeleton, uint32_t slots,
			   struct offcpu_locks **ret_locks, struct error *error)
{
	struct offcpu_locks *locks = calloc(1, sizeof(*locks));
	int err;

	if (!locks)
		return error_set(error, ENOMEM, "cannot prepare locks: out of memory");
	err = mapped_table_configure(&locks->rows, skeleton->maps.lock_rows, PKBPF_LOCK_ROWS);
	err = err ? err
		  : mapped_table_configure(&locks->parts, skeleton->maps.lock_parts,
					   PKBPF_LOCK_PARTS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.lock_free_rows, PKBPF_LOCK_ROWS);
	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.lock_free_parts, PKBPF_LOCK_PARTS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.lock_threads, slots);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.lock_tids, slots);
	if (err) {
		offcpu_locks_free(locks);
		return error_set(error, -err, "cannot size the BPF maps: %s", strerror(-err));
	}
	skeleton->rodata->offcpu_config.locks = 1;
	*ret_locks = locks;
	return 0;
}

/* Of some readings, the one that nothing has interrupted. */
void offcpu_locks_note_clock(struct pkbpf_bpf *skeleton)
{
	uint64_t least_ns = UINT64_MAX, wall_ns = 0;

	for (int i = 0; i < 3; i++) {
		uint64_t before_ns = clock_now_ns(), now_ns = clock_read_ns(CLOCK_REALTIME),
			 took_ns = clock_now_ns() - before_ns;

		if (took_ns < least_ns)
			wall_ns = now_ns - before_ns;
		if (took_ns < least_ns)
			least_ns = took_ns;
	}
	__atomic_store_n(&skeleton->bss->offcpu_control.wall_ns, wall_ns, __ATOMIC_RELAXED);
}

int offcpu_locks_open(struct offcpu_locks *locks, struct error *error)
{
	int err = mapped_table_open(&locks->rows, error);

	err = err ? err : mapped_table_open(&locks->parts, error);
	if (err)
		return err;
	locks->sent_rows = calloc(locks->rows.count, sizeof(*locks->sent_rows));
	locks->sent_parts = calloc(locks->parts.count, sizeof(*locks->sent_parts));
	if (!locks->sent_rows || !locks->sent_parts)
		return error_set(error, ENOMEM, "cannot prepare locks: out of memory");
	return 0;
}

void offcpu_locks_free(struct offcpu_locks *locks)
{
	if (!locks)
		return;
	mapped_table_close(&locks->rows);
	mapped_table_close(&locks->parts);
	free(locks->sent_rows);
	free(locks->sent_parts);
	free(locks);
}

static int drain_part(const struct offcpu_locks *locks, const volatile struct pkbpf_lock_part *part,
		      struct sent_part *sent, struct event_buffer *buffer)
{
	const volatile struct pkbpf_lock_row *rows = locks->rows.items;
	uint32_t number = part->key.row;
	struct sent_part now = {.count = part->count, .ns = part->ns};
	struct pkbpf_event_lock_part record;
	int err;

	/* What turned out to be a hand-over is taken back from a holder. */
	if ((now.count == sent->count && now.ns == sent->ns) || now.ns < sent->ns ||
	    number >= locks->rows.count)
		return 0;
	/* The time of the record is read after the part: its stack has arrived. */
	record = (struct pkbpf_event_lock_part){
		.header.time_ns = clock_now_ns(),
		.address = rows[number].address,
		.lock_pid = rows[number].pid,
		.class = rows[number].class,
		.stack_id = part->key.stack_id,
		.pid = part->pid,
		.tid = part->key.tid,
		.kind = part->key.kind,
		.state = part->key.state,
		.count = now.count - sent->count,
		.ns = now.ns - sent->ns,
	};
	memcpy(record.comm, (const void *)part->comm, sizeof(record.comm));
	err = lock_part_event_encode(buffer, &record);
	if (!err)
		*sent = now;
	return err;
}

int offcpu_locks_drain(struct offcpu_locks *locks, struct event_buffer *buffer)
{
	const volatile struct pkbpf_lock_row *rows = locks ? locks->rows.items : NULL;
	const volatile struct pkbpf_lock_part *parts = locks ? locks->parts.items : NULL;
	int err = 0;

	for (uint32_t i = 0; rows && i < locks->rows.count && !err; i++)
		if (rows[i].pid)
			err = lock_row_drain(&rows[i], &locks->sent_rows[i], "", buffer);
	for (uint32_t i = 0; parts && i < locks->parts.count && !err; i++)
		if (parts[i].used)
			err = drain_part(locks, &parts[i], &locks->sent_parts[i], buffer);
	return err;
}

int offcpu_locks_cut(struct offcpu_locks *locks, struct event_buffer *buffer)
{
	volatile struct pkbpf_lock_row *rows = locks ? locks->rows.items : NULL;
	int err = offcpu_locks_drain(locks, buffer);

	for (uint32_t i = 0; rows && i < locks->rows.count; i++) {
		if (!rows[i].pid)
			continue;
		rows[i].max_ns = 0;
		rows[i].max_waiters = rows[i].waiters;
	}
	return err;
}

void offcpu_locks_each_stack(const struct offcpu_locks *locks,
			     void (*take)(void *context, uint64_t stack_id), void *context)
{
	const volatile struct pkbpf_lock_part *parts = locks ? locks->parts.items : NULL;

	for (uint32_t i = 0; parts && i < locks->parts.count; i++)
		if (parts[i].used && parts[i].key.stack_id)
			take(context, parts[i].key.stack_id);
}
