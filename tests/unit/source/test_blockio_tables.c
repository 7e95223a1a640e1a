// SPDX-License-Identifier: BSD-2-Clause
// a program of its own: stands in for maps of the kernel side
/* Tests that rows of ended processes are given back, and that open requests are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include <pkbpf/blockio.h>

#include "event/decoder.h"
#include "source/blockio/blockio_tables.h"
#include "source/mapped_table.h"

#include "pkbpf.skel.h"

#define REQUESTS  8
#define NOW_NS	  9000000000ULL
#define MANY	  800U /* of 1,024 histograms: room gets short */
#define FREED_MAX 4096

enum { REQUEST_MAP = 1, ROW_INDEX, HISTOGRAM_INDEX, FREE_ROWS, FREE_HISTOGRAMS };

/* ---- the maps ---- */

static struct pkbpf_bpf skeleton;
static struct pkbpf_blockio_request requests[REQUESTS];
static bool request_is_there[REQUESTS];
static uint32_t freed_rows[FREED_MAX], freed_histograms[FREED_MAX];
static size_t freed_row_count, freed_histogram_count;
static struct pkbpf_blockio_row_key deleted_row;
static struct pkbpf_blockio_histogram_key deleted_histogram;

int bpf_map__fd(const struct bpf_map *map)
{
	return (int)(intptr_t)map;
}

int bpf_map__set_max_entries(struct bpf_map *map, __u32 count)
{
	(void)map;
	(void)count;
	return 0;
}

int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	uint64_t at = 0;

	assert_int_equal(fd, REQUEST_MAP);
	if (key) {
		memcpy(&at, key, sizeof(at));
		at++;
	}
	while (at < REQUESTS && !request_is_there[at])
		at++;
	memcpy(next, &at, sizeof(at));
	return at < REQUESTS ? 0 : -1;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	uint64_t at;

	assert_int_equal(fd, REQUEST_MAP);
	memcpy(&at, key, sizeof(at));
	memcpy(value, &requests[at], sizeof(requests[at]));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	uint64_t at;

	if (fd == ROW_INDEX) {
		memcpy(&deleted_row, key, sizeof(deleted_row));
	} else if (fd == HISTOGRAM_INDEX) {
		memcpy(&deleted_histogram, key, sizeof(deleted_histogram));
	} else {
		assert_int_equal(fd, REQUEST_MAP);
		memcpy(&at, key, sizeof(at));
		request_is_there[at] = false;
	}
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_null(key);
	assert_int_equal(flags, 0);
	if (fd == FREE_ROWS) {
		memcpy(&freed_rows[freed_row_count++], value, sizeof(uint32_t));
	} else {
		assert_int_equal(fd, FREE_HISTOGRAMS);
		memcpy(&freed_histograms[freed_histogram_count++], value, sizeof(uint32_t));
	}
	return 0;
}

int mapped_table_configure(struct mapped_table *table, struct bpf_map *map, uint32_t count)
{
	table->map = map;
	table->count = count;
	return 0;
}

int mapped_table_open(struct mapped_table *table, struct error *error)
{
	(void)error;
	table->items = calloc(table->count, table->map == skeleton.maps.blockio_rows
						    ? sizeof(struct pkbpf_blockio_row)
						    : sizeof(struct pkbpf_blockio_histogram));
	return table->items ? 0 : -1;
}

void mapped_table_close(struct mapped_table *table)
{
	free(table->items);
	table->items = NULL;
}

/* ---- tables ---- */

/* The tables keep their arrays to themselves: these are their first members. */
struct view {
	struct pkbpf_bpf *skeleton;
	struct mapped_table row_table, histogram_table;
};

static struct blockio_tables *tables;
static struct pkbpf_blockio_row *rows;
static struct event_buffer buffer;
static uint32_t ended;

static int setup(void **state)
{
	struct error error;
	pid_t child;

	(void)state;
	memset(requests, 0, sizeof(requests));
	memset(request_is_there, 0, sizeof(request_is_there));
	freed_row_count = freed_histogram_count = 0;
	skeleton.maps.blockio_requests = (struct bpf_map *)REQUEST_MAP;
	skeleton.maps.blockio_row_index = (struct bpf_map *)ROW_INDEX;
	skeleton.maps.blockio_histogram_index = (struct bpf_map *)HISTOGRAM_INDEX;
	skeleton.maps.blockio_free_rows = (struct bpf_map *)FREE_ROWS;
	skeleton.maps.blockio_free_histograms = (struct bpf_map *)FREE_HISTOGRAMS;
	skeleton.maps.blockio_rows = (struct bpf_map *)16;
	skeleton.maps.blockio_histograms = (struct bpf_map *)17;
	assert_int_equal(blockio_tables_configure(&skeleton, &tables, &error), 0);
	assert_int_equal(blockio_tables_open(tables, &error), 0);
	rows = ((struct view *)(void *)tables)->row_table.items;
	child = fork();
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	ended = (uint32_t)child;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	blockio_tables_free(tables);
	event_buffer_done(&buffer);
	buffer = (struct event_buffer){0};
	return 0;
}

static void add_row(uint32_t number, uint32_t pid, uint32_t histogram)
{
	rows[number] = (struct pkbpf_blockio_row){
		.key = {.stack_id = 1000 + number, .pid = pid, .tid = pid, .device = 8 << 20},
		.histogram = histogram,
		.ready = 1,
		.count = 1,
		.bytes = 4096,
		.total_ns = 5000,
		.claims = 1,
	};
	rows[number].key.state = PKBPF_BLOCKIO_READ;
}

static void add_request(size_t at, uint32_t row, uint64_t insert_ns, uint64_t issue_ns)
{
	request_is_there[at] = true;
	requests[at] = (struct pkbpf_blockio_request){
		.row = row, .insert_ns = insert_ns, .issue_ns = issue_ns, .length = 512};
}

static void drain(void)
{
	assert_int_equal(blockio_tables_drain(tables, &buffer), 0);
}

/* Number of records of open requests, and of slow ones. */
static void count_open(size_t *ret_open, size_t *ret_slow)
{
	*ret_open = *ret_slow = 0;
	for (size_t at = 0; at < buffer.size;) {
		const struct pkbpf_event_header *header = (const void *)(buffer.data + at);

		*ret_open += header->kind == PKBPF_EVENT_TOTALS;
		*ret_slow += header->kind == PKBPF_EVENT_SLOW_IO;
		at += header->size;
	}
}

static void rows_stay_while_there_is_room(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 700; i++)
		add_row(i, ended, i);
	drain();
	assert_int_equal(freed_row_count, 0);
}

static void ended_rows_make_room(void **state)
{
	uint32_t alive = (uint32_t)getpid();

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		add_row(i, i < 400 ? ended : alive, i);
	/* Shares the histogram of a row that stays. */
	add_row(MANY, ended, 500);
	/* None has measured it. */
	add_row(MANY + 1, ended, PKBPF_BLOCKIO_NO_ROW);
	add_row(MANY + 2, ended | PKBPF_PID_WRITEBACK, PKBPF_BLOCKIO_NO_ROW);
	/* In the queue, and at the device. */
	add_request(0, 7, 100, 0);
	add_request(1, 8, 0, 200);
	/* Left over of a device that is gone. */
	add_request(2, 9, 0, 0);
	add_request(3, UINT32_MAX, 100, 0);
	drain();
	assert_int_equal(freed_row_count, 400 - 2 + 2);
	assert_int_equal(freed_histogram_count, 400 - 2);
	for (size_t i = 0; i < freed_row_count; i++) {
		assert_true(freed_rows[i] < 400 || freed_rows[i] == MANY ||
			    freed_rows[i] == MANY + 1);
		assert_true(freed_rows[i] != 7 && freed_rows[i] != 8);
		assert_int_equal(rows[freed_rows[i]].ready, 0);
		/* The number stays taken: it comes back by the queue. */
		assert_int_equal(rows[freed_rows[i]].claims, 1);
	}
	for (size_t i = 0; i < freed_histogram_count; i++)
		assert_true(freed_histograms[i] < 400);
	assert_int_equal(deleted_row.pid, ended);
	assert_int_equal(deleted_histogram.pid, ended);
	assert_true(request_is_there[0] && request_is_there[1] && request_is_there[3]);
	assert_false(request_is_there[2]);
}

/* What the last drain has not seen has to be sent first. */
static void a_row_with_news_is_kept(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		add_row(i, ended, i);
	rows[5].ready = 0;
	drain();
	assert_int_equal(freed_row_count, MANY - 1);
}

static void open_requests_are_told(void **state)
{
	struct slow_io_choice slow = {.slowest.limit = 4};
	size_t open, slow_count;

	(void)state;
	add_row(0, 7, PKBPF_BLOCKIO_NO_ROW);
	add_request(0, 0, NOW_NS - 4000, 0);
	add_request(1, 0, NOW_NS - 9000, NOW_NS - 3000);
	add_request(2, 0, 0, NOW_NS - 2000);
	/* Neither waits nor runs; belongs to no row. */
	add_request(3, 0, 0, 0);
	add_request(4, UINT32_MAX, NOW_NS - 4000, 0);
	assert_int_equal(blockio_tables_drain_open(tables, NOW_NS, &slow, &buffer), 0);
	count_open(&open, &slow_count);
	assert_int_equal(open, 3);
	assert_int_equal(slow_count, 3);
	/* None is deleted by being looked at. */
	for (size_t i = 0; i < 5; i++)
		assert_true(request_is_there[i]);
	slow_io_choice_done(&slow);
}

static void a_slice_has_the_longest_of_its_own(void **state)
{
	(void)state;
	add_row(3, 7, PKBPF_BLOCKIO_NO_ROW);
	rows[3].max_ns = rows[3].queue_max_ns = 900;
	blockio_tables_forget_largest(tables);
	assert_int_equal(rows[3].max_ns, 0);
	assert_int_equal(rows[3].queue_max_ns, 0);
	assert_int_equal(rows[3].total_ns, 5000);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(rows_stay_while_there_is_room),
		test(ended_rows_make_room),
		test(a_row_with_news_is_kept),
		test(open_requests_are_told),
		test(a_slice_has_the_longest_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
