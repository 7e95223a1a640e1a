// SPDX-License-Identifier: BSD-2-Clause
/* Sizes, maps and drains the tables of the block I/O programs. */
#include "source/blockio/blockio_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "source/blockio/blockio_records.h"
#include "source/mapped_table.h"

#include "pkbpf.skel.h"

/* Drivers own a fixed number of requests: up to a thousand per queue of a fast device. 80 bytes
 * each. */
#define REQUESTS   65536U
#define ROWS	   16384U
#define HISTOGRAMS 1024U
/* Rows of exited processes are freed when less than a quarter of all rows or histograms is free. */
#define LOW_ROWS       (ROWS / 4)
#define LOW_HISTOGRAMS (HISTOGRAMS / 4)

struct blockio_tables {
	struct pkbpf_bpf *skeleton;
	struct mapped_table row_table, histogram_table;
	volatile struct pkbpf_blockio_row *rows; /* the mapped BPF map */
	volatile struct pkbpf_blockio_histogram *histograms;
	struct blockio_sent *sent_rows;
	struct pkbpf_blockio_histogram *sent_histograms;
	uint32_t used_rows, used_histograms; /* at the last drain */
	uint8_t *histogram_used;	     /* one flag per histogram */
};

int blockio_tables_configure(struct pkbpf_bpf *skeleton, struct blockio_tables **ret_tables,
			     struct error *error)
{
	struct blockio_tables *tables = calloc(1, sizeof(*tables));
	int err;

	if (!tables)
		return error_set(error, ENOMEM,
				 "cannot prepare block I/O profiling: out of memory");
	tables->skeleton = skeleton;
	err = bpf_map__set_max_entries(skeleton->maps.blockio_requests, REQUESTS);
	err = err ? err
		  : mapped_table_configure(&tables->row_table, skeleton->maps.blockio_rows, ROWS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.blockio_row_index, ROWS);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.blockio_free_rows, ROWS);
	err = err ? err
		  : mapped_table_configure(&tables->histogram_table,
					   skeleton->maps.blockio_histograms, HISTOGRAMS);
	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.blockio_histogram_index, HISTOGRAMS);
	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.blockio_free_histograms, HISTOGRAMS);
	if (err) {
		blockio_tables_free(tables);
		return error_set(error, -err, "cannot size the BPF maps: %s", strerror(-err));
	}
	*ret_tables = tables;
	return 0;
}

int blockio_tables_open(struct blockio_tables *tables, struct error *error)
{
	int err = mapped_table_open(&tables->row_table, error);

	err = err ? err : mapped_table_open(&tables->histogram_table, error);
	if (err)
		return err;
	tables->rows = tables->row_table.items;
	tables->histograms = tables->histogram_table.items;
	tables->sent_rows = calloc(ROWS, sizeof(*tables->sent_rows));
	tables->sent_histograms = calloc(HISTOGRAMS, sizeof(*tables->sent_histograms));
	tables->histogram_used = calloc(HISTOGRAMS, sizeof(*tables->histogram_used));
	if (!tables->sent_rows || !tables->sent_histograms || !tables->histogram_used)
		return error_set(error, ENOMEM,
				 "cannot prepare block I/O profiling: out of memory");
	return 0;
}

void blockio_tables_free(struct blockio_tables *tables)
{
	if (!tables)
		return;
	mapped_table_close(&tables->row_table);
	mapped_table_close(&tables->histogram_table);
	free(tables->sent_rows);
	free(tables->sent_histograms);
	free(tables->histogram_used);
	free(tables);
}

static bool process_is_gone(uint32_t pid)
{
	return !(pid & PKBPF_PID_WRITEBACK) && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* Calls `visit` for each request; deletes requests for which it returns false. */
static void visit_requests(struct blockio_tables *tables,
			   bool (*visit)(void *context, const struct pkbpf_blockio_request *),
			   void *context)
{
	int fd = bpf_map__fd(tables->skeleton->maps.blockio_requests);
	struct pkbpf_blockio_request request;
	uint64_t key, next;
	bool more = bpf_map_get_next_key(fd, NULL, &next) == 0;

	/* One pass at most, even if the kernel side adds as fast as this loop reads. */
	for (uint32_t i = 0; more && i < REQUESTS; i++) {
		key = next;
		more = bpf_map_get_next_key(fd, &key, &next) == 0;
		if (bpf_map_lookup_elem(fd, &key, &request) == 0 && !visit(context, &request))
			bpf_map_delete_elem(fd, &key);
	}
}

/* A removed device never reuses its requests. Without deletion their addresses would fill the
 * table. */
static bool mark_row_in_flight(void *context, const struct pkbpf_blockio_request *request)
{
	uint8_t *in_flight = context;

	if (!request->insert_ns && !request->issue_ns)
		return false;
	if (request->row < ROWS)
		in_flight[request->row] = 1;
	return true;
}

static void free_row(struct blockio_tables *tables, uint32_t index)
{
	struct pkbpf_blockio_row_key key;

	memcpy(&key, (const void *)&tables->rows[index].key, sizeof(key));
	bpf_map_delete_elem(bpf_map__fd(tables->skeleton->maps.blockio_row_index), &key);
	memset((void *)&tables->rows[index], 0, offsetof(struct pkbpf_blockio_row, claims));
	memset(&tables->sent_rows[index], 0, sizeof(tables->sent_rows[index]));
	bpf_map_update_elem(bpf_map__fd(tables->skeleton->maps.blockio_free_rows), NULL, &index,
			    BPF_ANY);
}

static void free_histogram(struct blockio_tables *tables, uint32_t index,
			   const struct pkbpf_blockio_row_key *row)
{
	struct pkbpf_blockio_histogram_key key = {.pid = row->pid,
						  .tid = row->tid,
						  .device = row->device,
						  .state = row->state,
						  .lower = row->lower};

	bpf_map_delete_elem(bpf_map__fd(tables->skeleton->maps.blockio_histogram_index), &key);
	memset((void *)&tables->histograms[index], 0,
	       offsetof(struct pkbpf_blockio_histogram, claims));
	memset(&tables->sent_histograms[index], 0, sizeof(tables->sent_histograms[index]));
	bpf_map_update_elem(bpf_map__fd(tables->skeleton->maps.blockio_free_histograms), NULL,
			    &index, BPF_ANY);
}

/* Finds rows of exited processes that nothing refers to, and histograms that remaining rows use. */
static void find_ended(struct blockio_tables *tables, const uint8_t *in_flight, uint8_t *ret_ended,
		       uint8_t *ret_histogram_stays)
{
	uint32_t last_pid = 0;
	bool gone = false;

	for (uint32_t i = 0; i < ROWS; i++) {
		const volatile struct pkbpf_blockio_row *row = &tables->rows[i];
		uint32_t histogram = row->histogram;

		if (!row->ready)
			continue;
		if (row->key.pid != last_pid) {
			last_pid = row->key.pid;
			gone = process_is_gone(last_pid);
		}
		/* Requests of an exited process may still be in flight; then its row is freed
		 * next time. */
		ret_ended[i] = gone && !in_flight[i] && row->count == tables->sent_rows[i].count;
		if (!ret_ended[i] && histogram < HISTOGRAMS)
			ret_histogram_stays[histogram] = 1;
	}
}

/* Frees rows and histograms of exited processes when the tables fill up. */
static void free_ended(struct blockio_tables *tables)
{
	_cleanup_free_ uint8_t *in_flight = NULL, *ended = NULL, *histogram_stays = NULL;

	if (ROWS - tables->used_rows >= LOW_ROWS &&
	    HISTOGRAMS - tables->used_histograms >= LOW_HISTOGRAMS)
		return;
	in_flight = calloc(ROWS, 1);
	ended = calloc(ROWS, 1);
	histogram_stays = calloc(HISTOGRAMS, 1);
	if (!in_flight || !ended || !histogram_stays)
		return;
	visit_requests(tables, mark_row_in_flight, in_flight);
	find_ended(tables, in_flight, ended, histogram_stays);
	for (uint32_t i = 0; i < ROWS; i++) {
		const volatile struct pkbpf_blockio_row *row = &tables->rows[i];
		struct pkbpf_blockio_row_key key;
		uint32_t histogram = row->histogram;

		if (!ended[i])
			continue;
		memcpy(&key, (const void *)&row->key, sizeof(key));
		/* Marks the histogram as used, so that it is freed only once. */
		if (histogram < HISTOGRAMS && !histogram_stays[histogram]) {
			histogram_stays[histogram] = 1;
			free_histogram(tables, histogram, &key);
		}
		free_row(tables, i);
	}
}

void blockio_tables_forget_largest(struct blockio_tables *tables)
{
	for (uint32_t i = 0; i < ROWS; i++)
		tables->rows[i].max_ns = tables->rows[i].queue_max_ns = 0;
}

int blockio_tables_drain(struct blockio_tables *tables, struct event_buffer *buffer)
{
	tables->used_rows = tables->used_histograms = 0;
	memset(tables->histogram_used, 0, HISTOGRAMS);
	for (uint32_t i = 0; i < ROWS; i++) {
		const volatile struct pkbpf_blockio_row *row = &tables->rows[i];
		uint32_t histogram = row->histogram;
		bool measured = histogram < HISTOGRAMS;
		int err;

		if (!row->ready)
			continue;
		tables->used_rows++;
		if (measured && !tables->histogram_used[histogram]) {
			tables->histogram_used[histogram] = 1;
			tables->used_histograms++;
		}
		err = blockio_records_of_row(row, &tables->sent_rows[i],
					     measured ? &tables->histograms[histogram] : NULL,
					     measured ? &tables->sent_histograms[histogram] : NULL,
					     buffer);
		if (err)
			return err;
	}
	free_ended(tables);
	return 0;
}

struct open_drain {
	struct blockio_tables *tables;
	struct slow_io_choice *slow;
	struct event_buffer *buffer;
	uint64_t time_ns;
	int err;
};

static bool drain_request(void *context, const struct pkbpf_blockio_request *request)
{
	struct open_drain *drain = context;
	const volatile struct pkbpf_blockio_row *row;

	if ((!request->insert_ns && !request->issue_ns) || request->row >= ROWS || drain->err)
		return true;
	row = &drain->tables->rows[request->row];
	drain->err = blockio_record_of_request(row, request, drain->time_ns, drain->buffer);
	if (!drain->err)
		drain->err = slow_io_choice_add_open(drain->slow, row, request, drain->time_ns,
						     drain->buffer);
	return true;
}

int blockio_tables_drain_open(struct blockio_tables *tables, uint64_t time_ns,
			      struct slow_io_choice *slow, struct event_buffer *buffer)
{
	struct open_drain drain = {
		.tables = tables, .slow = slow, .buffer = buffer, .time_ns = time_ns};

	visit_requests(tables, drain_request, &drain);
	return drain.err;
}

void blockio_tables_each_stack(const struct blockio_tables *tables,
			       void (*take)(void *context, uint64_t stack_id), void *context)
{
	for (uint32_t i = 0; i < ROWS; i++) {
		if (tables->rows[i].key.stack_id)
			take(context, tables->rows[i].key.stack_id);
	}
}
