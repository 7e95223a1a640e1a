// SPDX-License-Identifier: BSD-2-Clause
/* Sizes and maps the tables of the off-CPU programs, and frees the rows of exited processes. */
#include "source/offcpu/offcpu_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file_io.h"
#include "source/offcpu/offcpu_tables_private.h"

#include "pkbpf.skel.h"

/* Slots per existing thread: tids rarely collide, and new threads find room. */
#define SLOTS_PER_THREAD 8
#define MIN_THREADS	 16384U
#define MAX_THREADS	 1048576U
/* With a limit of memory, the table has one part in so many of it, and its threads still find room
 * after few tries. */
#define THREADS_SHARE	       16
#define LEAST_SLOTS_PER_THREAD 2
/* Rows per existing thread: a thread waits in few places, in one state or two. */
#define ROWS_PER_THREAD 4
#define MIN_ROWS	32768U
#define MAX_ROWS	262144U
/* Wait-time histograms by process and state; most processes have two or three. 2.6 KB each. */
#define HISTOGRAMS_PER_THREAD 3
#define MIN_HISTOGRAMS	      2048U
#define MAX_HISTOGRAMS	      16384U
/* With a limit of memory, they have one part in so many of it. */
#define HISTOGRAMS_SHARE 16
#define MIN_MEMOS	 4096U
#define MAX_MEMOS	 65536U
/* Rows and histograms of exited processes are freed when less than 1/LOW_SHARE of all is free. */
#define LOW_SHARE 4

/* Number of threads, from the fourth number of /proc/loadavg ("running/all"). */
static uint32_t count_threads(void)
{
	_cleanup_free_ char *text = NULL;
	const char *slash;
	size_t size;

	if (file_read_all(AT_FDCWD, "/proc/loadavg", 4096, &text, &size))
		return 0;
	slash = strchr(text, '/');
	return slash ? (uint32_t)strtoul(slash + 1, NULL, 10) : 0;
}

static uint32_t power_of_two(uint64_t wanted, uint32_t least, uint32_t most)
{
	uint32_t size = least;

	while (size < wanted && size < most)
		size *= 2;
	return size;
}

uint32_t offcpu_tables_cached_stacks(void)
{
	return power_of_two(count_threads() * SLOTS_PER_THREAD / 2, MIN_MEMOS, MAX_MEMOS);
}

int offcpu_tables_configure(struct pkbpf_bpf *skeleton, uint64_t max_memory_bytes,
			    struct offcpu_tables **ret_tables, struct error *error)
{
	struct offcpu_tables *tables = calloc(1, sizeof(*tables));
	uint64_t threads = count_threads();
	uint32_t slots = power_of_two(threads * SLOTS_PER_THREAD, MIN_THREADS, MAX_THREADS);
	uint32_t rows = power_of_two(threads * ROWS_PER_THREAD, MIN_ROWS, MAX_ROWS);
	uint32_t histograms =
		power_of_two(threads * HISTOGRAMS_PER_THREAD, MIN_HISTOGRAMS, MAX_HISTOGRAMS);
	int err;

	if (!tables)
		return error_set(error, ENOMEM, "cannot prepare off-CPU profiling: out of memory");
	histograms =
		mapped_table_bound(histograms, MIN_HISTOGRAMS, sizeof(struct pkbpf_wait_histogram),
				   max_memory_bytes, HISTOGRAMS_SHARE);
	slots = mapped_table_bound(
		slots, power_of_two(threads * LEAST_SLOTS_PER_THREAD, MIN_THREADS, MAX_THREADS),
		sizeof(struct pkbpf_thread), max_memory_bytes, THREADS_SHARE);
	tables->skeleton = skeleton;
	err = mapped_table_configure(&tables->threads, skeleton->maps.offcpu_threads, slots);
	err = err ? err : mapped_table_configure(&tables->rows, skeleton->maps.offcpu_rows, rows);
	err = err ? err
		  : mapped_table_configure(&tables->histograms, skeleton->maps.offcpu_histograms,
					   histograms);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.offcpu_row_index, rows);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.offcpu_free_rows, rows);
	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.offcpu_histogram_index, histograms);
	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.offcpu_free_histograms, histograms);
	if (err) {
		offcpu_tables_free(tables);
		return error_set(error, -err, "cannot size the BPF maps: %s", strerror(-err));
	}
	skeleton->rodata->offcpu_config.thread_mask = tables->threads.count - 1;
	*ret_tables = tables;
	return 0;
}

int offcpu_tables_open(struct offcpu_tables *tables, struct error *error)
{
	int err = mapped_table_open(&tables->threads, error);

	err = err ? err : mapped_table_open(&tables->rows, error);
	err = err ? err : mapped_table_open(&tables->histograms, error);
	if (err)
		return err;
	tables->sent_rows = calloc(tables->rows.count, sizeof(*tables->sent_rows));
	tables->sent_threads = calloc(tables->threads.count, sizeof(*tables->sent_threads));
	tables->sent_histograms =
		calloc(tables->histograms.count, sizeof(*tables->sent_histograms));
	if (!tables->sent_rows || !tables->sent_threads || !tables->sent_histograms)
		return error_set(error, ENOMEM, "cannot prepare off-CPU profiling: out of memory");
	return 0;
}

void offcpu_tables_free(struct offcpu_tables *tables)
{
	if (!tables)
		return;
	mapped_table_close(&tables->threads);
	mapped_table_close(&tables->rows);
	mapped_table_close(&tables->histograms);
	array_free(&tables->waited);
	hash_map_done(&tables->waited_numbers);
	free(tables->sent_rows);
	free(tables->sent_threads);
	free(tables->sent_histograms);
	free(tables->ahead_ns);
	free(tables);
}

/* True for an exited process or thread; kill() finds both. */
static bool task_is_gone(uint32_t number)
{
	return kill((pid_t)number, 0) && errno == ESRCH;
}

static void free_row(struct offcpu_tables *tables, uint32_t number)
{
	volatile struct pkbpf_wait_row *row =
		&((volatile struct pkbpf_wait_row *)tables->rows.items)[number];
	struct pkbpf_wait_row_key key = {.stack_id = row->stack_id,
					 .waker_id = pkbpf_wait_row_cause(row->waker_id, row->peer),
					 .pid = row->pid,
					 .tid = row->tid,
					 .state = (uint16_t)row->state,
					 .open = row->flags & PKBPF_TOTALS_OPEN ? PKBPF_THREAD_OPEN
										: 0};
	uint64_t comm[2];

	memcpy(comm, (const void *)row->comm, sizeof(comm));
	key.comm = (uint32_t)pkbpf_comm_hash(comm[0], comm[1]);
	bpf_map_delete_elem(bpf_map__fd(tables->skeleton->maps.offcpu_row_index), &key);
	memset((void *)row, 0, offsetof(struct pkbpf_wait_row, claims));
	memset(&tables->sent_rows[number], 0, sizeof(tables->sent_rows[number]));
	bpf_map_update_elem(bpf_map__fd(tables->skeleton->maps.offcpu_free_rows), NULL, &number,
			    BPF_ANY);
}

/* True when the single wait of this row was already sent in an earlier drain, so that the kernel
 * side no longer adds to it. */
static bool single_is_over(const volatile struct pkbpf_wait_row *row, struct sent_row *sent)
{
	if (!(row->flags & PKBPF_ROW_SINGLE) || !sent->count)
		return false;
	if (sent->settled)
		return true;
	sent->settled = true;
	return false;
}

static bool are_few_free(const struct mapped_table *table, uint32_t used)
{
	return table->count - used < table->count / LOW_SHARE;
}

/* Frees rows that get no more waits: of single waits and, when room is short, of exited
 * processes and threads. */
static void free_rows(struct offcpu_tables *tables)
{
	volatile struct pkbpf_wait_row *rows = tables->rows.items;
	bool are_few = are_few_free(&tables->rows, tables->used_rows);
	uint32_t last = 0;
	bool gone = false;

	for (uint32_t i = 0; i < tables->rows.count; i++) {
		uint32_t owner = rows[i].tid ? rows[i].tid : rows[i].pid;

		if (!rows[i].pid)
			continue;
		if (are_few && owner != last) {
			last = owner;
			gone = task_is_gone(owner);
		}
		/* The row was drained above. If its thread had exited by then, the row cannot
		 * have changed since. */
		if (single_is_over(&rows[i], &tables->sent_rows[i]) ||
		    (gone && rows[i].count == tables->sent_rows[i].count &&
		     rows[i].queue_ns == tables->sent_rows[i].queue_ns))
			free_row(tables, i);
	}
}

static void free_histograms(struct offcpu_tables *tables)
{
	volatile struct pkbpf_wait_histogram *histograms = tables->histograms.items;
	int index_fd = bpf_map__fd(tables->skeleton->maps.offcpu_histogram_index);
	int free_fd = bpf_map__fd(tables->skeleton->maps.offcpu_free_histograms);

	if (!are_few_free(&tables->histograms, tables->used_histograms))
		return;
	for (uint32_t i = 0; i < tables->histograms.count; i++) {
		struct pkbpf_wait_histogram_key key = {.pid = histograms[i].pid,
						       .state = histograms[i].state};

		if (!key.pid || !task_is_gone(key.pid) ||
		    memcmp((const void *)histograms[i].buckets, tables->sent_histograms[i].buckets,
			   sizeof(tables->sent_histograms[i].buckets)) != 0)
			continue;
		bpf_map_delete_elem(index_fd, &key);
		memset((void *)&histograms[i], 0, offsetof(struct pkbpf_wait_histogram, claims));
		memset(&tables->sent_histograms[i], 0, sizeof(tables->sent_histograms[i]));
		bpf_map_update_elem(free_fd, NULL, &i, BPF_ANY);
	}
}

int offcpu_tables_drain(struct offcpu_tables *tables, struct event_buffer *buffer)
{
	int err = offcpu_drain_increments(tables, buffer);

	if (err)
		return err;
	free_rows(tables);
	free_histograms(tables);
	return 0;
}

static void close_thread(volatile struct pkbpf_thread *thread, uint64_t end_ns)
{
	uint64_t rest_ns = end_ns > thread->since_ns ? end_ns - thread->since_ns : 0;
	uint32_t state = thread->state < PKBPF_WAIT_STATES ? thread->state : PKBPF_WAIT_SLEEP;

	if (thread->pending_ns) {
		thread->time_ns[state] += thread->pending_ns;
		thread->count[state]++;
		thread->pending_ns = 0;
	}
	if (thread->place == PKBPF_THREAD_ON_CPU)
		state = PKBPF_WAIT_NONE;
	thread->time_ns[state] += rest_ns;
	thread->count[state]++;
	thread->since_ns += rest_ns;
	thread->place = PKBPF_THREAD_ENDED;
}

/* Writes no row that is not in use: the first write to each page of a map costs a fault. */
static void forget_largest(struct offcpu_tables *tables)
{
	volatile struct pkbpf_wait_row *rows = tables->rows.items;
	volatile struct pkbpf_wait_histogram *histograms = tables->histograms.items;

	for (uint32_t i = 0; i < tables->rows.count; i++) {
		if (rows[i].pid)
			rows[i].max_ns = rows[i].queue_max_ns = 0;
	}
	for (uint32_t i = 0; i < tables->histograms.count; i++) {
		if (histograms[i].pid)
			histograms[i].max_ns = 0;
	}
}

int offcpu_tables_cut(struct offcpu_tables *tables, uint64_t until_ns, struct event_buffer *buffer)
{
	int err;

	tables->until_ns = until_ns;
	err = offcpu_tables_drain(tables, buffer);
	tables->until_ns = 0;
	forget_largest(tables);
	return err;
}

void offcpu_tables_close(struct offcpu_tables *tables, uint64_t end_ns)
{
	volatile struct pkbpf_thread *threads = tables->threads.items;

	for (uint32_t i = 0; i < tables->threads.count; i++) {
		if (threads[i].tid && threads[i].tid != PKBPF_THREAD_TOMBSTONE &&
		    (threads[i].place == PKBPF_THREAD_ON_CPU ||
		     threads[i].place == PKBPF_THREAD_OFF_CPU))
			close_thread(&threads[i], end_ns);
	}
}

void offcpu_tables_trace(struct offcpu_tables *tables)
{
	tables->traced = true;
}

void offcpu_tables_set_sampled(struct offcpu_tables *tables)
{
	tables->sampled = true;
}

bool offcpu_tables_are_sampled(const struct offcpu_tables *tables)
{
	return tables->sampled;
}

const volatile struct pkbpf_thread *offcpu_tables_thread(const struct offcpu_tables *tables,
							 uint32_t tid)
{
	const volatile struct pkbpf_thread *threads = tables->threads.items;

	for (uint32_t i = 0; i < PKBPF_THREAD_PROBES; i++) {
		uint32_t slot = pkbpf_thread_slot(tid, i, tables->threads.count - 1);
		const volatile struct pkbpf_thread *thread = &threads[slot];

		if (!thread->tid)
			return NULL;
		if (thread->tid == tid && thread->place != PKBPF_THREAD_ENDED)
			return thread;
	}
	return NULL;
}

void offcpu_tables_each_stack(const struct offcpu_tables *tables,
			      void (*take)(void *context, uint64_t stack_id), void *context)
{
	const volatile struct pkbpf_thread *threads = tables->threads.items;
	const volatile struct pkbpf_wait_row *rows = tables->rows.items;

	for (uint32_t i = 0; i < tables->threads.count; i++) {
		if (!threads[i].tid)
			continue;
		take(context, threads[i].stack_id);
		take(context, threads[i].waker_id);
	}
	for (uint32_t i = 0; i < tables->rows.count; i++) {
		if (!rows[i].stack_id && !rows[i].waker_id)
			continue;
		take(context, rows[i].stack_id);
		take(context, rows[i].waker_id);
	}
}
