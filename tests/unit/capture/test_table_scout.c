// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "plain_memory.h"
#include "base/clock.h"
#include "capture/session/table_scout.h"
#include "process/file/mapped_file.h"
#include "process/procfs_maps.h"
#include "unwind/table/table_cache.h"

#define QUIET_NS (1000 * NS_PER_MS)
#define LIMIT_NS (30 * NS_PER_SECOND)

struct fixture {
	struct plain_memory plain;
	struct mapped_file_table *files;
	struct table_cache *cache;
	uint32_t added;
};

static int setup(void **state)
{
	static struct fixture fixture;
	struct table_cache_options options = {.max_chunks = 64, .initial_chunks = 1};

	fixture = (struct fixture){0};
	plain_memory_init(&fixture.plain, 1 << 18, 4096);
	options.files = fixture.files = mapped_file_table_new("");
	fixture.cache = fixture.files ? table_cache_new(&fixture.plain.memory, &options) : NULL;
	*state = &fixture;
	return fixture.cache ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	table_cache_free(fixture->cache);
	mapped_file_table_free(fixture->files);
	plain_memory_done(&fixture->plain);
	return 0;
}

static void add_own(void *context, const struct procfs_mapping *mapping)
{
	struct fixture *fixture = context;
	struct mapping_view view = {
		.time_ns = clock_now_ns(),
		.pid = (uint32_t)getpid(),
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.inode = mapping->inode,
		.device_major = mapping->device_major,
		.device_minor = mapping->device_minor,
		.protection = mapping->protection,
		.path = mapping->path,
	};

	if (!(mapping->protection & PKBPF_PROT_EXEC))
		return;
	table_cache_add(fixture->cache, &view);
	fixture->added++;
}

/* Until nothing has been asked for any more for a while. */
static void wait_until_quiet(struct fixture *fixture)
{
	uint64_t begin_ns = clock_now_ns(), changed_ns = begin_ns;
	uint32_t files = 0;

	while (!files || clock_now_ns() - changed_ns < QUIET_NS) {
		uint32_t now = table_cache_stats(fixture->cache).files;

		if (now != files)
			changed_ns = clock_now_ns();
		files = now;
		assert_true(clock_now_ns() - begin_ns < LIMIT_NS);
		usleep(5000);
	}
}

static void asks_for_the_tables_of_what_runs(void **state)
{
	struct fixture *fixture = *state;
	struct table_scout *scout = table_scout_start(fixture->cache);
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t files;

	assert_non_null(scout);
	wait_until_quiet(fixture);
	table_scout_stop(scout);
	files = table_cache_stats(fixture->cache).files;
	assert_int_equal(procfs_maps_read(proc_fd, (uint32_t)getpid(), add_own, fixture), 0);
	close(proc_fd);
	assert_true(fixture->added > 0);
	assert_int_equal(table_cache_stats(fixture->cache).files, files);
}

static void can_be_stopped_before_it_has_read_everything(void **state)
{
	struct fixture *fixture = *state;
	struct table_scout *scout = table_scout_start(fixture->cache);
	uint32_t files;

	assert_non_null(scout);
	table_scout_stop(scout);
	files = table_cache_stats(fixture->cache).files;
	usleep(20000);
	assert_int_equal(table_cache_stats(fixture->cache).files, files);
}

static void none_need_not_be_stopped(void **state)
{
	table_scout_stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(asks_for_the_tables_of_what_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(can_be_stopped_before_it_has_read_everything, setup,
						teardown),
		cmocka_unit_test(none_need_not_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
