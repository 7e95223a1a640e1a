// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is kept of a store for longer: whole slices under a harmless name, the newest first.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "recording/recording_reader.h"
#include "profile/slice/slice.h"
#include "store/store_keep.h"
#include "temp_tree.h"

#define SECOND 1000000000LL
#define SLICE  (10 * SECOND)
/* 2023-11-14 23:00:00 UTC */
#define BEGIN (1700002800LL * SECOND)
#define BYTES (8U << 20)
#define PART  (150U << 10)

static struct fake_profile fake;
static struct temp_tree tree;
static struct store *store;

static int setup(void **state)
{
	struct store_options options = {.max_bytes = BYTES};
	struct error error;

	(void)state;
	account_scenario_init(&fake);
	temp_tree_init(&tree);
	options.path = tree.root;
	if (store_open(&options, &store, &error) < 0)
		fail_msg("%s", error.text);
	for (int64_t n = 0; n < 6; n++) {
		struct profile *slice = slice_new();
		struct profile_info *info;

		assert_int_equal(slice_merge(slice, fake.profile), 0);
		info = profile_info(slice);
		info->sequence = (uint64_t)n;
		info->start_ns = (uint64_t)(1000 * SECOND + n * SLICE);
		info->end_ns = info->start_ns + SLICE;
		info->start_unix_ns = BEGIN + n * SLICE;
		assert_int_equal(store_add(store, slice, NULL), 0);
		profile_free(slice);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	store_close(store);
	fake_profile_done(&fake);
	temp_tree_done(&tree);
	return 0;
}

static const char *kept(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "kept/%s", name);
	return temp_tree_path(&tree, path);
}

static size_t slices_of(const char *name)
{
	int fd = open(kept(name), O_RDONLY | O_CLOEXEC);
	struct recording_reader reader;
	struct error error;
	size_t count;

	assert_true(fd >= 0);
	assert_int_equal(recording_reader_open(&reader, fd, &error), 0);
	count = reader.blocks.count;
	recording_reader_done(&reader);
	close(fd);
	return count;
}

static void the_slices_of_an_interval_are_a_recording(void **state)
{
	char name[STORE_KEEP_NAME_SIZE];

	(void)state;
	assert_int_equal(store_keep(store, "busy ../x", BEGIN + SLICE, BEGIN + 4 * SLICE, name), 0);
	assert_string_equal(name, "busy----x-20231114T230010Z.pkbpf");
	assert_int_equal(slices_of(name), 3);
	assert_int_equal(store_keep(store, "none", BEGIN - 9 * SLICE, BEGIN - 5 * SLICE, name),
			 -ENODATA);
	assert_int_equal(access(kept(name), F_OK), -1);
}

static void add_file(const char *name, time_t time)
{
	const struct timespec times[2] = {{.tv_sec = time}, {.tv_sec = time}};
	char path[64];

	snprintf(path, sizeof(path), "kept/%s", name);
	temp_tree_file(&tree, path, "x");
	assert_int_equal(truncate(kept(name), PART), 0);
	assert_int_equal(utimensat(AT_FDCWD, kept(name), times, 0), 0);
}

/* 5 % of 8 MiB are 410 KiB: two of 150. */
static void the_oldest_recordings_make_room(void **state)
{
	char name[STORE_KEEP_NAME_SIZE];

	(void)state;
	add_file("middle.pkbpf", 200);
	add_file("old.pkbpf", 100);
	add_file("new.pkbpf", 300);
	add_file("notes.txt", 50);
	assert_int_equal(store_keep(store, "busy", BEGIN, BEGIN + SLICE, name), 0);
	assert_int_equal(access(kept("old.pkbpf"), F_OK), -1);
	assert_int_equal(access(kept("middle.pkbpf"), F_OK), 0);
	assert_int_equal(access(kept("new.pkbpf"), F_OK), 0);
	assert_int_equal(access(kept("notes.txt"), F_OK), 0);
	assert_int_equal(access(kept(name), F_OK), 0);
	add_file("newer.pkbpf", 400);
	add_file("newest.pkbpf", 500);
	assert_int_equal(store_keep(store, "busy", BEGIN, BEGIN + SLICE, name), 0);
	assert_int_equal(access(kept("new.pkbpf"), F_OK), -1);
	assert_int_equal(access(kept("newer.pkbpf"), F_OK), 0);
	assert_int_equal(access(kept("newest.pkbpf"), F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_slices_of_an_interval_are_a_recording, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_oldest_recordings_make_room, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
