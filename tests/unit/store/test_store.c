// SPDX-License-Identifier: BSD-2-Clause
/* Tests that what is stored comes back once, whatever happens to the files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "finding/results.h"
#include "profile/shrink/process_merge.h"
#include "profile/slice/slice.h"
#include "recording/slice_codec.h"
#include "store/store.h"
#include "temp_tree.h"

#define SECOND 1000000000LL
#define SLICE  (10 * SECOND)
/* On the hour. */
#define BEGIN	(1700002800LL * SECOND)
#define BIG	(1ULL << 30)
#define FOREVER INT64_MAX

static struct fake_profile fake;
static struct temp_tree tree;
static const char *folder;

static int setup(void **state)
{
	account_scenario_init(&fake);
	temp_tree_init(&tree);
	folder = tree.root;
	return 0;
}

static int teardown(void **state)
{
	fake_profile_done(&fake);
	temp_tree_done(&tree);
	return 0;
}

static struct store *open_store(uint64_t bytes)
{
	struct store_options options = {.path = folder, .max_bytes = bytes};
	struct store *store;
	struct error error;

	if (store_open(&options, &store, &error) < 0)
		fail_msg("%s", error.text);
	return store;
}

static int64_t booted; /* the slice with which the machine began */
static int64_t later;  /* s after which it was recorded then */
static int64_t ahead;  /* of the clock */

/* The n-th slice of ten seconds. */
static int add(struct store *store, int64_t n)
{
	struct profile *slice = slice_new();
	struct profile_info *info;
	int err;

	assert_non_null(slice);
	assert_int_equal(slice_merge(slice, fake.profile), 0);
	info = profile_info(slice);
	info->sequence = (uint64_t)n;
	info->start_ns = (uint64_t)((booted ? 1 + later : 1000) * SECOND + (n - booted) * SLICE);
	info->end_ns = info->start_ns + SLICE;
	/* The clock is set a little, again and again. */
	info->start_unix_ns = BEGIN + ahead + n * SLICE + n % 3 * 1000;
	err = store_add(store, slice, NULL);
	profile_free(slice);
	return err;
}

static void add_many(struct store *store, int64_t from, int64_t to)
{
	for (int64_t n = from; n < to; n++)
		assert_int_equal(add(store, n), 0);
}

static uint64_t samples_of(struct store *store, int64_t from, int64_t to)
{
	struct store_windows windows;
	struct profile *profile;
	uint64_t samples = 0;
	size_t missing, count;

	assert_int_equal(store_cover(store, from, to, &windows), 0);
	assert_int_equal(store_merge(store, &windows, NULL, &profile, &missing), 0);
	array_free(&windows.list);
	if (!profile)
		return 0;
	for (const struct profile_row *rows = profile_rows(profile, &count), *row = rows;
	     row < rows + count; row++)
		samples += row->kind == PKBPF_PROFILE_CPU ? row->count : 0;
	profile_free(profile);
	return samples;
}

static size_t count_of(struct store *store, enum store_level level)
{
	struct store_state state;

	store_get_state(store, &state);
	return state.windows[level];
}

static void every_event_of_an_interval_is_counted_once(void **state)
{
	struct store *store = open_store(BIG);
	uint64_t one;

	add_many(store, 0, 20);
	one = samples_of(store, BEGIN, BEGIN + 1);
	assert_true(one > 0);
	assert_int_equal(samples_of(store, BEGIN, FOREVER), 20 * one);
	/* Three minutes are whole, the rest is slices. */
	assert_int_equal(count_of(store, STORE_MINUTE), 3);
	assert_int_equal(samples_of(store, BEGIN + 3 * SLICE + 5000, BEGIN + 15 * SLICE), 12 * one);
	/* Cut inside of slices: those are taken whole. */
	assert_int_equal(samples_of(store, BEGIN + SLICE / 2, BEGIN + 2 * SLICE + SLICE / 2),
			 3 * one);
	assert_int_equal(samples_of(store, BEGIN - 1000 * SECOND, BEGIN - 900 * SECOND), 0);
	store_close(store);
}

static void a_slice_is_kept_as_it_was_encoded(void **state)
{
	struct store *store = open_store(BIG);
	struct recording_sections sections = {0};
	struct profile_info *info = profile_info(fake.profile);
	struct store_windows windows;
	uint64_t samples;

	add_many(store, 0, 1);
	samples = samples_of(store, BEGIN, BEGIN + 1);
	info->start_ns = (uint64_t)(1000 * SECOND + SLICE);
	info->end_ns = info->start_ns + SLICE;
	info->start_unix_ns = BEGIN + SLICE;
	assert_int_equal(slice_encode(fake.profile, 1, &sections), 0);
	assert_int_equal(store_add(store, fake.profile, &sections), 0);
	recording_sections_done(&sections);
	assert_int_equal(store_list(store, STORE_SLICE, BEGIN, FOREVER, &windows), 0);
	assert_int_equal(windows.list.count, 2);
	array_free(&windows.list);
	assert_int_equal(samples_of(store, BEGIN + SLICE, FOREVER), samples);
	store_close(store);
}

/* 600 processes that no other slice has. */
static void add_short_lived(struct store *store, int64_t n)
{
	struct fake_profile machine;
	struct profile_info *info;

	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 20 * (uint64_t)SECOND, 0);
	for (uint32_t i = 0; i < ACCOUNT_SHORT_LIVED; i++)
		account_short(&machine, (uint32_t)(1000 * (n + 1)) + i, "true", 9000000);
	account_end(&machine);
	/* Of a request that the kernel made for nobody. */
	assert_int_equal(profile_put_distribution(
				 machine.profile,
				 &(struct distribution){.key = {.process = UINT32_MAX,
								.kind = PKBPF_PROFILE_BLOCKIO}}),
			 0);
	info = profile_info(machine.profile);
	info->start_ns = (uint64_t)(1000 * SECOND + n * SLICE);
	info->end_ns = info->start_ns + SLICE;
	info->start_unix_ns = BEGIN + n * SLICE;
	assert_int_equal(store_add(store, machine.profile, NULL), 0);
	fake_profile_done(&machine);
}

static void processes_that_ended_have_rows_by_name_when_they_are_many(void **state)
{
	struct store *store = open_store(BIG);
	struct store_windows windows;
	struct profile *minute;
	struct results results;
	const struct resource_rows *rows;
	size_t missing;

	for (int64_t n = 0; n < 6; n++)
		add_short_lived(store, n);
	assert_int_equal(store_list(store, STORE_MINUTE, BEGIN, FOREVER, &windows), 0);
	assert_int_equal(windows.list.count, 1);
	assert_int_equal(store_merge(store, &windows, NULL, &minute, &missing), 0);
	array_free(&windows.list);
	assert_in_range(profile_ended_processes(minute), 0, 2 * ACCOUNT_SHORT_LIVED);
	results_init(&results, minute, ROWS_BY_COMM);
	assert_int_equal(results_rows(&results, &rows), 0);
	/* And that of no process. */
	assert_int_equal(rows->all_count, 2);
	assert_string_equal(rows->items[0].name, "true");
	assert_int_equal(rows->items[0].cpu.total_ns, 6 * ACCOUNT_SHORT_LIVED * 9000000ULL);
	assert_int_equal(rows->items[0].processes, 6 * ACCOUNT_SHORT_LIVED);
	results_done(&results);
	profile_free(minute);
	store_close(store);
}

static void a_long_interval_is_read_from_coarse_windows(void **state)
{
	struct store *store = open_store(BIG);
	struct store_windows windows;

	add_many(store, 0, 2 * 360 + 10);
	assert_int_equal(store_cover(store, BEGIN, FOREVER, &windows), 0);
	/* Two hours, a minute, and four slices. */
	assert_int_equal(windows.list.count, 2 + 1 + 4);
	assert_int_equal(windows.list.items[0].level, STORE_HOUR);
	assert_int_equal(windows.list.items[2].level, STORE_MINUTE);
	assert_int_equal(windows.list.items[6].level, STORE_SLICE);
	array_free(&windows.list);
	store_close(store);
}

static void a_store_that_is_opened_again_has_what_it_had(void **state)
{
	struct store *store = open_store(BIG);
	uint64_t samples;

	add_many(store, 0, 9);
	samples = samples_of(store, BEGIN, FOREVER);
	store_close(store);
	store = open_store(BIG);
	assert_int_equal(samples_of(store, BEGIN, FOREVER), samples);
	add_many(store, 9, 18);
	assert_int_equal(samples_of(store, BEGIN, FOREVER), 2 * samples);
	store_close(store);
}

static void a_second_writer_is_refused(void **state)
{
	struct store *store = open_store(BIG), *second;
	struct store_options options = {.path = folder, .max_bytes = BIG};
	struct error error;

	assert_int_equal(store_open(&options, &second, &error), -EBUSY);
	assert_non_null(strstr(error.text, folder));
	store_close(store);
}

static void the_oldest_goes_when_the_store_is_full(void **state)
{
	struct store *store = open_store(2 << 20);
	struct store_state now;
	uint64_t bytes;

	add_many(store, 0, 500);
	store_get_state(store, &now);
	bytes = now.bytes[STORE_SLICE] + now.bytes[STORE_MINUTE] + now.bytes[STORE_HOUR];
	assert_in_range(bytes, 1 << 20, 2 << 20);
	assert_true(now.oldest_unix_ns[STORE_SLICE] > BEGIN);
	/* The newest is there. */
	assert_true(samples_of(store, BEGIN + 499 * SLICE, FOREVER) > 0);
	store_close(store);
}

static void path_of_first_segment(char *ret_path, size_t size)
{
	snprintf(ret_path, size, "%s/slice/0000000000000001.pkbpf", folder);
}

static void a_segment_that_was_cut_off_is_read_up_to_its_last_whole_window(void **state)
{
	struct store *store = open_store(BIG);
	char path[512];
	struct stat st;
	uint64_t one;

	add_many(store, 0, 5);
	one = samples_of(store, BEGIN, BEGIN + 1);
	store_close(store);
	path_of_first_segment(path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size * 7 / 10), 0);
	store = open_store(BIG);
	assert_int_equal(count_of(store, STORE_SLICE), 3);
	/* It goes on in another file. */
	add_many(store, 5, 6);
	assert_int_equal(count_of(store, STORE_SLICE), 4);
	/* The window of the hour was written when the store was closed. */
	assert_int_equal(samples_of(store, BEGIN, FOREVER), 6 * one);
	store_close(store);
}

static void damage_costs_the_window_that_is_damaged(void **state)
{
	struct store *store = open_store(BIG);
	char path[512], bytes[64];
	struct store_windows windows;
	struct profile *profile;
	size_t missing;
	int fd;

	add_many(store, 0, 5);
	assert_int_equal(store_list(store, STORE_SLICE, BEGIN, FOREVER, &windows), 0);
	path_of_first_segment(path, sizeof(path));
	fd = open(path, O_RDWR);
	memset(bytes, 0x5a, sizeof(bytes));
	assert_int_equal(
		pwrite(fd, bytes, sizeof(bytes), (off_t)windows.list.items[2].offset + 500),
		sizeof(bytes));
	close(fd);
	assert_int_equal(store_merge(store, &windows, NULL, &profile, &missing), 0);
	assert_int_equal(missing, 1);
	assert_non_null(profile);
	profile_free(profile);
	array_free(&windows.list);
	store_close(store);
}

static void what_an_end_by_force_kept_from_being_merged_is_merged_at_the_next_start(void **state)
{
	struct store *store;
	pid_t child = fork();
	uint64_t one;
	int status;

	if (!child) {
		/* It ends as by a signal: nothing is closed. */
		add_many(open_store(BIG), 0, 400);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	store = open_store(BIG);
	one = samples_of(store, BEGIN, BEGIN + 1);
	assert_int_equal(count_of(store, STORE_HOUR), 1);
	add_many(store, 400, 2 * 360);
	assert_int_equal(count_of(store, STORE_MINUTE), 120);
	assert_int_equal(count_of(store, STORE_TEN), 12);
	assert_int_equal(count_of(store, STORE_HOUR), 2);
	assert_int_equal(samples_of(store, BEGIN, FOREVER), 2 * 360 * one);
	store_close(store);
}

static void a_reader_needs_no_lock_and_changes_nothing(void **state)
{
	struct store_options options = {.path = folder, .read_only = true};
	struct store *store = open_store(BIG), *reader;
	struct error error;
	char path[512];
	uint64_t one;

	add_many(store, 0, 9);
	one = samples_of(store, BEGIN, BEGIN + 1);
	assert_int_equal(store_open(&options, &reader, &error), 0);
	assert_int_equal(samples_of(reader, BEGIN, FOREVER), 9 * one);
	store_close(reader);
	store_close(store);
	/* Part of a copy. */
	snprintf(path, sizeof(path), "%s/ten/0000000000000001.pkbpf", folder);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/ten", folder);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(store_open(&options, &reader, &error), 0);
	assert_int_equal(samples_of(reader, BEGIN, FOREVER), 9 * one);
	store_close(reader);
	assert_int_equal(access(path, F_OK), -1);
}

/* The clock of a machine that boots begins anew. */
static void an_interval_over_a_reboot_is_as_long_as_it_was(void **state)
{
	struct store *store = open_store(BIG);
	struct store_windows windows;
	const struct profile_info *info;
	struct profile *profile;
	size_t missing;

	/* It may have been up for longer than before. */
	for (later = 0; later <= 1200; later += 1200) {
		int64_t first = later / 12;

		add_many(store, first, first + 3);
		booted = first + 30;
		add_many(store, first + 30, first + 33);
		booted = 0;
		assert_int_equal(
			store_list(store, STORE_SLICE, BEGIN + first * SLICE, FOREVER, &windows),
			0);
		assert_int_equal(windows.list.count, 6);
		assert_int_equal(store_merge(store, &windows, NULL, &profile, &missing), 0);
		info = profile_info_read(profile);
		assert_in_range(info->end_ns - info->start_ns, 33 * SLICE - SECOND,
				33 * SLICE + SECOND);
		profile_free(profile);
		array_free(&windows.list);
	}
	later = 0;
	store_close(store);
}

#define DAY (86400 * SECOND)

/* A board without a battery, a guest that was restored: for some slices the clock is years off. */
static void a_clock_that_jumps_deletes_no_history(void **state)
{
	static const int64_t jumps[] = {500 * DAY, -500 * DAY, 20000 * DAY};
	struct store_state now;

	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		int64_t first = (int64_t)i * 30;
		struct store *store = open_store(BIG);

		add_many(store, first, first + 10);
		ahead = jumps[i];
		add_many(store, first + 10, first + 14);
		store_get_state(store, &now);
		assert_true(ahead > 0 ? now.ahead_ns > 400 * DAY : now.ahead_ns < -400 * DAY);
		store_close(store);
		/* It starts again with that clock. */
		store = open_store(BIG);
		add_many(store, first + 14, first + 20);
		ahead = 0;
		add_many(store, first + 20, first + 30);
		store_get_state(store, &now);
		assert_int_equal(now.ahead_ns, 0);
		assert_true(samples_of(store, BEGIN, BEGIN + 1) > 0);
		assert_int_equal(count_of(store, STORE_SLICE), first + 30);
		store_close(store);
	}
}

static void slices_are_deleted_six_hours_after_their_end(void **state)
{
	struct store *store = open_store(BIG);

	add_many(store, 0, 5);
	store_close(store);
	/* The machine was off for a day. */
	ahead = DAY;
	store = open_store(BIG);
	add_many(store, 5, 6);
	ahead = 0;
	assert_int_equal(count_of(store, STORE_SLICE), 1);
	assert_int_equal(samples_of(store, BEGIN, BEGIN + 1),
			 samples_of(store, BEGIN + DAY, FOREVER) * 5);
	store_close(store);
}

/* What a loss of power leaves of a segment that was just begun. */
static void segments_without_windows_do_not_stop_deletion_by_age(void **state)
{
	struct store *store = open_store(BIG);
	char path[512];

	add_many(store, 0, 5);
	store_close(store);
	path_of_first_segment(path, sizeof(path));
	assert_int_equal(truncate(path, 0), 0);
	store = open_store(BIG);
	add_many(store, 5, 10);
	store_close(store);
	store = open_store(BIG);
	assert_int_equal(count_of(store, STORE_SLICE), 5);
	ahead = DAY;
	add_many(store, 10, 11);
	ahead = 0;
	assert_int_equal(count_of(store, STORE_SLICE), 1);
	assert_int_equal(access(path, F_OK), -1);
	store_close(store);
}

static void files_that_cannot_be_read_count_as_bytes(void **state)
{
	struct store *store = open_store(BIG);
	struct store_state now;
	char path[512];

	store_close(store);
	path_of_first_segment(path, sizeof(path));
	assert_int_equal(close(open(path, O_WRONLY | O_CREAT, 0600)), 0);
	assert_int_equal(truncate(path, 4 << 20), 0);
	store = open_store(2 << 20);
	store_get_state(store, &now);
	assert_int_equal(now.bytes[STORE_SLICE], 4 << 20);
	add_many(store, 0, 1);
	store_get_state(store, &now);
	assert_true(now.bytes[STORE_SLICE] < 2 << 20);
	store_close(store);
}

static void files_of_others_are_left_alone(void **state)
{
	struct store *store = open_store(2 << 20);
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/slice/mine.pkbpf", folder);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
	add_many(store, 0, 300);
	assert_int_equal(access(path, F_OK), 0);
	store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_event_of_an_interval_is_counted_once),
		TEST(a_slice_is_kept_as_it_was_encoded),
		TEST(processes_that_ended_have_rows_by_name_when_they_are_many),
		TEST(a_long_interval_is_read_from_coarse_windows),
		TEST(a_store_that_is_opened_again_has_what_it_had),
		TEST(a_second_writer_is_refused),
		TEST(the_oldest_goes_when_the_store_is_full),
		TEST(a_segment_that_was_cut_off_is_read_up_to_its_last_whole_window),
		TEST(damage_costs_the_window_that_is_damaged),
		TEST(what_an_end_by_force_kept_from_being_merged_is_merged_at_the_next_start),
		TEST(a_reader_needs_no_lock_and_changes_nothing),
		TEST(an_interval_over_a_reboot_is_as_long_as_it_was),
		TEST(a_clock_that_jumps_deletes_no_history),
		TEST(slices_are_deleted_six_hours_after_their_end),
		TEST(segments_without_windows_do_not_stop_deletion_by_age),
		TEST(files_that_cannot_be_read_count_as_bytes),
		TEST(files_of_others_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
