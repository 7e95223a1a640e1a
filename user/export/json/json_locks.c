// SPDX-License-Identifier: BSD-2-Clause
/* Writes the locks that threads waited for, their holders, and the functions that waited. */
#include "export/json/json_sections.h"
#include "profile/account/wait_state.h"
#include "rows/lock_view.h"

#define LOCKS_SHOWN  1000
#define SHARES_SHOWN 50

static const char *function_name(const struct resource_rows *rows, uint32_t function)
{
	return function_table_get(rows->functions, function)->name;
}

static const char *state_name(uint32_t state)
{
	return state == PKBPF_LOCK_HAND_OVER  ? "hand-over"
	       : state == PKBPF_LOCK_INVERTED ? "priority inversion"
					      : wait_state_name((uint8_t)state);
}

static void write_share(struct json_writer *writer, const struct resource_rows *rows,
			const struct lock_share *share, bool is_holder)
{
	json_writer_object_begin(writer, NULL);
	if (is_holder) {
		json_writer_string(writer, "state", state_name(share->state));
		if (share->pid) {
			json_writer_u64(writer, "pid", share->pid);
			json_writer_string(writer, "comm", share->comm);
		}
	}
	if (share->function != LOCK_NO_FUNCTION)
		json_writer_string(writer, "function", function_name(rows, share->function));
	if (share->leaf != LOCK_NO_FUNCTION)
		json_writer_string(writer, "leaf", function_name(rows, share->leaf));
	json_writer_u64(writer, "ns", share->ns);
	json_writer_object_end(writer);
}

static void write_shares(struct json_writer *writer, const struct resource_rows *rows,
			 const char *key, const struct lock_share *shares, size_t count)
{
	bool is_holder = key[0] == 'h';

	json_writer_array_begin(writer, key);
	for (size_t i = 0; i < count && i < SHARES_SHOWN; i++)
		write_share(writer, rows, &shares[i], is_holder);
	json_writer_array_end(writer);
}

/* Time for which others waited, by the thread that held the lock. */
static void write_threads(struct json_writer *writer, const struct resource_rows *rows,
			  const struct lock_view *view)
{
	const struct lock_list *list = profile_locks(rows->profile);

	json_writer_array_begin(writer, "threads");
	array_foreach(&list->parts, part) {
		if (part->lock != view->number || part->kind != PKBPF_LOCK_HOLDER)
			continue;
		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "state", state_name(part->state));
		json_writer_u64(writer, "tid", part->tid);
		json_writer_u64(writer, "ns", part->ns);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static void write_lock(struct json_writer *writer, const struct resource_rows *rows,
		       const struct lock_view *view)
{
	const struct lock *lock = view->lock;
	char name[LOCK_NAME_TEXT_SIZE], address[32];

	json_writer_object_begin(writer, NULL);
	json_writer_u64(writer, "pid", lock->pid);
	json_writer_string(writer, "comm", lock->comm);
	json_writer_string(writer, "class", lock_class_name(lock->class));
	json_writer_string(writer, "name", lock_view_name(name, view, rows->functions));
	if (lock->name[0])
		json_writer_string(writer, "symbol", lock->name);
	if (lock->address) {
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)lock->address);
		json_writer_string(writer, "address", address);
	}
	json_writer_u64(writer, "waits", lock->waits);
	json_writer_u64(writer, "wait_ns", lock->wait_ns);
	json_writer_u64(writer, "queue_ns", lock->queue_ns);
	json_writer_u64(writer, "p50_ns", lock_percentile_ns(lock, 500));
	json_writer_u64(writer, "p99_ns", lock_percentile_ns(lock, 990));
	json_writer_u64(writer, "max_ns", lock->max_ns);
	json_writer_u64(writer, "max_waiters", lock->max_waiters);
	json_writer_u64(writer, "held_ns", view->held_ns);
	write_shares(writer, rows, "waits_in", view->sites, view->site_count);
	write_shares(writer, rows, "holders", view->holders, view->holder_count);
	write_threads(writer, rows, view);
	json_writer_object_end(writer);
}

int json_locks(struct json_writer *writer, const struct resource_rows *rows)
{
	struct lock_views views;
	int err = lock_views_make(&views, rows->profile, rows->functions);

	if (err)
		return err;
	json_writer_object_begin(writer, "locks");
	json_writer_u64(writer, "waits", views.waits);
	json_writer_u64(writer, "wait_ns", views.wait_ns);
	json_writer_u64(writer, "signal_waits", views.signal_waits);
	json_writer_u64(writer, "signal_ns", views.signal_ns);
	json_writer_u64(writer, "count", views.count);
	json_writer_array_begin(writer, "locks");
	for (size_t i = 0; i < views.count && i < LOCKS_SHOWN; i++)
		write_lock(writer, rows, &views.items[i]);
	json_writer_array_end(writer);
	json_writer_object_end(writer);
	lock_views_done(&views);
	return 0;
}
