// SPDX-License-Identifier: BSD-2-Clause
// a program of its own: stands in for maps of the kernel side
/* Tests that sums of regions become records of what was added, and that rows are given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "base/array.h"
#include "event/region_event.h"
#include "source/regions/region_rows.h"

#define ROWS	 8
#define INDEX_FD 11
#define FREE_FD	 12
#define IDS_FD	 13
#define NOW_NS	 5000
#define ALIVE	 100U
#define ENDED	 200U

/* ---- the maps ---- */

static struct pkbpf_span_id_key ids[8];
static size_t id_count;
static struct pkbpf_span_row_key deleted[ROWS];
static uint32_t given_back[ROWS];
static size_t deleted_count, given_count;
static bool index_is_gone;

static size_t id_at(const struct pkbpf_span_id_key *key)
{
	for (size_t i = 0; i < id_count; i++)
		if (memcmp(&ids[i], key, sizeof(*key)) == 0)
			return i;
	return id_count;
}

/* As the kernel's: a key that is not there leads to the first one. */
int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	size_t at = key ? id_at(key) : id_count;

	assert_int_equal(fd, IDS_FD);
	at = at == id_count ? 0 : at + 1;
	if (at >= id_count)
		return -1;
	memcpy(next, &ids[at], sizeof(ids[at]));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	if (fd == IDS_FD) {
		size_t at = id_at(key);

		assert_true(at < id_count);
		memmove(&ids[at], &ids[at + 1], (--id_count - at) * sizeof(*ids));
		return 0;
	}
	assert_int_equal(fd, INDEX_FD);
	if (index_is_gone)
		return -1;
	memcpy(&deleted[deleted_count++], key, sizeof(*deleted));
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(fd, FREE_FD);
	assert_null(key);
	assert_int_equal(flags, 0);
	memcpy(&given_back[given_count++], value, sizeof(*given_back));
	return 0;
}

/* ---- rows ---- */

static struct pkbpf_span_row table[ROWS], sent[ROWS];
static struct region_rows rows = {.rows = table, .sent = sent, .count = ROWS};
static struct event_buffer buffer;

static int setup(void **state)
{
	(void)state;
	memset(table, 0, sizeof(table));
	memset(sent, 0, sizeof(sent));
	id_count = deleted_count = given_count = 0;
	index_is_gone = false;
	rows.unfinished = NULL;
	event_buffer_clear(&buffer);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	event_buffer_done(&buffer);
	buffer = (struct event_buffer){0};
	return 0;
}

static void add_row(uint32_t number, uint32_t pid, const char *name, uint32_t parent)
{
	table[number] = (struct pkbpf_span_row){.pid = pid, .parent = parent, .claims = 7};
	memcpy(table[number].name, name, strlen(name));
}

static void leave(uint32_t number, uint64_t wall_ns)
{
	struct pkbpf_span_row *row = &table[number];

	row->count++;
	row->total_ns += wall_ns;
	row->self_ns += wall_ns;
	if (wall_ns > row->max_ns)
		row->max_ns = wall_ns;
	row->buckets[pkbpf_histogram_index(wall_ns)]++;
}

/* The record number `at` of the drain. */
static struct region_view record_at(size_t at)
{
	const uint8_t *data = buffer.data;
	struct region_view view = {0};

	for (size_t i = 0;; i++) {
		const struct pkbpf_event_header *header = (const void *)data;

		assert_true(data < buffer.data + buffer.size);
		assert_int_equal(header->kind, PKBPF_EVENT_REGION);
		assert_int_equal(header->time_ns, NOW_NS);
		if (i == at) {
			assert_int_equal(region_event_decode(header, &view), 0);
			return view;
		}
		data += header->size;
	}
}

static void drain(void)
{
	event_buffer_clear(&buffer);
	assert_int_equal(region_rows_drain(&rows, NOW_NS, &buffer), 0);
}

static bool has_ended(const void *context, uint32_t pid)
{
	assert_ptr_equal(context, &rows);
	return pid == ENDED;
}

static void free_ended(void)
{
	region_rows_free_ended(&rows, INDEX_FD, FREE_FD, IDS_FD, has_ended, &rows);
}

/* ---- tests ---- */

static void a_record_has_what_was_added_and_its_path(void **state)
{
	int64_t page_kib = sysconf(_SC_PAGESIZE) / 1024;
	struct region_view view;

	(void)state;
	add_row(0, ALIVE, "epoch", PKBPF_NO_ROW);
	add_row(1, ALIVE, "step", 0);
	leave(1, 3000);
	leave(1, 70000);
	table[1].items = 64;
	table[1].part_ns[PKBPF_WAIT_SLEEP] = 900;
	table[1].minor_faults = 3;
	table[1].read_bytes = 4096;
	table[1].rss_readings = 2;
	table[1].rss_sum_pages = 300;
	table[1].rss_max_pages = 200;
	table[1].rss_growth_pages = -5;
	table[1].flags = PKBPF_REGION_BY_ID;
	drain();
	view = record_at(0);
	assert_int_equal(view.depth, 2);
	assert_string_equal(region_view_name(&view, 0), "epoch");
	assert_string_equal(region_view_name(&view, 1), "step");
	assert_int_equal(view.record->pid, ALIVE);
	assert_int_equal(view.record->count, 2);
	assert_int_equal(view.record->total_ns, 73000);
	assert_int_equal(view.record->self_ns, 73000);
	assert_int_equal(view.record->max_ns, 70000);
	assert_int_equal(view.record->items, 64);
	assert_int_equal(view.record->part_ns[PKBPF_WAIT_SLEEP], 900);
	assert_int_equal(view.record->minor_faults, 3);
	assert_int_equal(view.record->major_faults, 0);
	assert_int_equal(view.record->read_bytes, 4096);
	assert_int_equal(view.record->rss_readings, 2);
	assert_int_equal(view.record->rss_sum_kib, 300 * page_kib);
	assert_int_equal(view.record->rss_max_kib, 200 * page_kib);
	assert_int_equal(view.record->rss_growth_kib, -5 * page_kib);
	assert_int_equal(view.record->written_bytes, 0);
	assert_int_equal(view.record->unfinished, 0);
	assert_int_equal(view.record->header.flags, PKBPF_REGION_BY_ID);
	assert_int_equal(view.bucket_count, 2);
	assert_int_equal(view.buckets[0].index, pkbpf_histogram_index(3000));
	assert_int_equal(view.buckets[1].count, 1);
}

static void the_next_one_has_only_what_came_since(void **state)
{
	struct region_view view;

	(void)state;
	add_row(0, ALIVE, "step", PKBPF_NO_ROW);
	leave(0, 3000);
	drain();
	drain();
	assert_int_equal(buffer.size, 0);
	leave(0, 3000);
	leave(0, 5000);
	drain();
	view = record_at(0);
	assert_int_equal(view.record->count, 2);
	assert_int_equal(view.record->total_ns, 8000);
	/* The longest of all. */
	assert_int_equal(view.record->max_ns, 5000);
}

static void a_slice_has_the_longest_of_its_own(void **state)
{
	(void)state;
	add_row(0, ALIVE, "step", PKBPF_NO_ROW);
	add_row(1, ALIVE, "late", PKBPF_NO_ROW);
	leave(0, 5000);
	leave(1, 3000);
	table[0].rss_max_pages = table[1].rss_max_pages = 50;
	drain();
	/* It ends between the last record of a slice and the begin of the next one. */
	leave(1, 9000);
	table[1].rss_max_pages = 60;
	region_rows_begin_slice(&rows);
	assert_int_equal(table[0].max_ns, 0);
	assert_int_equal(table[0].rss_max_pages, 0);
	leave(0, 2000);
	drain();
	assert_int_equal(record_at(0).record->max_ns, 2000);
	assert_int_equal(record_at(1).record->count, 1);
	assert_int_equal(record_at(1).record->max_ns, 9000);
	assert_int_equal(record_at(0).record->rss_max_kib, 0);
	assert_int_equal(record_at(1).record->rss_max_kib, 60 * sysconf(_SC_PAGESIZE) / 1024);
}

static void each_kind_of_news_makes_a_record(void **state)
{
	(void)state;
	add_row(0, ALIVE, "step", PKBPF_NO_ROW);
	drain();
	assert_int_equal(buffer.size, 0);
	table[0].lost_end = 1;
	drain();
	assert_int_equal(record_at(0).record->lost_end, 1);
	table[0].recursive = 2;
	drain();
	assert_int_equal(record_at(0).record->recursive, 2);
	assert_int_equal(record_at(0).record->lost_end, 0);
	table[0].unmeasured = 3;
	drain();
	assert_int_equal(record_at(0).record->unmeasured, 3);
	drain();
	assert_int_equal(buffer.size, 0);
}

static void open_regions_are_said_each_time(void **state)
{
	uint64_t unfinished[ROWS] = {[2] = 4};

	(void)state;
	add_row(2, ALIVE, "request", PKBPF_NO_ROW);
	rows.unfinished = unfinished;
	for (int i = 0; i < 2; i++) {
		drain();
		assert_int_equal(record_at(0).record->unfinished, 4);
		assert_int_equal(record_at(0).record->count, 0);
	}
	unfinished[2] = 0;
	drain();
	assert_int_equal(buffer.size, 0);
}

static void a_broken_chain_makes_no_record(void **state)
{
	(void)state;
	/* The parent is not complete yet; the number is none; it is its own parent. */
	add_row(0, ALIVE, "child", 3);
	add_row(1, ALIVE, "stray", ROWS + 5);
	add_row(2, ALIVE, "loop", 2);
	leave(0, 10);
	leave(1, 10);
	leave(2, 10);
	drain();
	assert_int_equal(buffer.size, 0);
	/* What it waited for comes: nothing was lost. */
	add_row(3, ALIVE, "parent", PKBPF_NO_ROW);
	drain();
	assert_int_equal(record_at(0).record->count, 1);
	assert_string_equal(record_at(0).path, "parent");
}

static void used_rows_are_those_that_are_complete(void **state)
{
	(void)state;
	assert_int_equal(region_rows_used(&rows), 0);
	add_row(1, ALIVE, "a", PKBPF_NO_ROW);
	add_row(7, ENDED, "b", PKBPF_NO_ROW);
	assert_int_equal(region_rows_used(&rows), 2);
}

static void rows_of_ended_processes_are_given_back_children_first(void **state)
{
	struct pkbpf_span_row key_of;

	(void)state;
	add_row(0, ENDED, "epoch", PKBPF_NO_ROW);
	add_row(1, ENDED, "step", 0);
	add_row(2, ALIVE, "epoch", PKBPF_NO_ROW);
	table[1].flags = PKBPF_REGION_FUNCTION | PKBPF_REGION_LET_GO;
	key_of = table[1];
	free_ended();
	assert_int_equal(given_count, 2);
	assert_int_equal(given_back[0], 1);
	assert_int_equal(given_back[1], 0);
	assert_int_equal(table[0].pid, 0);
	assert_int_equal(table[1].pid, 0);
	assert_string_equal(table[1].name, "");
	assert_int_equal(table[1].claims, 7);
	assert_int_equal(table[2].pid, ALIVE);
	/* The key is that of the kernel side: being let go is no part of it. */
	assert_int_equal(deleted[0].pid, ENDED);
	assert_int_equal(deleted[0].parent, 0);
	assert_int_equal(deleted[0].flags, PKBPF_REGION_FUNCTION);
	assert_true(deleted[0].name_hash == pkbpf_span_name_hash((const __u64 *)key_of.name));
}

static void what_is_not_drained_is_kept(void **state)
{
	(void)state;
	add_row(0, ENDED, "epoch", PKBPF_NO_ROW);
	add_row(1, ENDED, "step", 0);
	leave(1, 10);
	free_ended();
	/* A child that stays keeps its parent: its path goes through it. */
	assert_int_equal(given_count, 0);
	drain();
	free_ended();
	assert_int_equal(given_count, 2);
	/* A row that comes back begins anew. */
	assert_int_equal(sent[1].count, 0);
}

static void a_row_that_the_index_has_lost_is_not_given_back(void **state)
{
	(void)state;
	add_row(0, ENDED, "epoch", PKBPF_NO_ROW);
	index_is_gone = true;
	free_ended();
	assert_int_equal(given_count, 0);
	assert_int_equal(table[0].pid, ENDED);
}

static void regions_that_nobody_will_end_leave_the_map(void **state)
{
	static const uint32_t pids[] = {ENDED, ALIVE, ENDED, ENDED, ALIVE, ENDED};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		ids[id_count++] = (struct pkbpf_span_id_key){.pid = pids[i], .id = i};
	free_ended();
	assert_int_equal(id_count, 2);
	assert_int_equal(ids[0].pid, ALIVE);
	assert_int_equal(ids[1].pid, ALIVE);
}

static void only_rows_of_the_name_and_its_kind_are_let_go(void **state)
{
	(void)state;
	add_row(0, ALIVE, "step", PKBPF_NO_ROW);
	add_row(1, ALIVE, "step", PKBPF_NO_ROW);
	add_row(2, ALIVE, "steps", PKBPF_NO_ROW);
	table[1].flags = PKBPF_REGION_FUNCTION;
	region_rows_let_go(table, ROWS, "step", true);
	assert_int_equal(table[0].flags, 0);
	assert_int_equal(table[1].flags, PKBPF_REGION_FUNCTION | PKBPF_REGION_LET_GO);
	region_rows_let_go(table, ROWS, "step", false);
	assert_int_equal(table[0].flags, PKBPF_REGION_LET_GO);
	assert_int_equal(table[2].flags, 0);
	/* Rows without a process have no name yet. */
	region_rows_let_go(table, ROWS, "", false);
	assert_int_equal(table[5].flags, 0);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(a_record_has_what_was_added_and_its_path),
		test(the_next_one_has_only_what_came_since),
		test(a_slice_has_the_longest_of_its_own),
		test(each_kind_of_news_makes_a_record),
		test(open_regions_are_said_each_time),
		test(a_broken_chain_makes_no_record),
		test(used_rows_are_those_that_are_complete),
		test(rows_of_ended_processes_are_given_back_children_first),
		test(what_is_not_drained_is_kept),
		test(a_row_that_the_index_has_lost_is_not_given_back),
		test(regions_that_nobody_will_end_leave_the_map),
		test(only_rows_of_the_name_and_its_kind_are_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
