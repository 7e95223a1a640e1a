// SPDX-License-Identifier: BSD-2-Clause
/* Files that cannot be opened: stacks do not wait for their tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "plain_memory.h"
#include "process/file/mapped_file.h"
#include "temp_tree.h"
#include "unwind/table/table_cache.h"

static void nobody_waits_for_a_file_that_cannot_be_opened_until_it_can(void **state)
{
	struct table_cache_options options = {.max_chunks = 16, .initial_chunks = 1};
	struct mapping_view view = {
		.pid = 7, .start = 0x1000, .end = 0x2000, .protection = 5, .path = "/app"};
	struct pkbpf_unwind_mapping described;
	struct plain_memory plain;
	struct table_cache *cache;
	struct temp_tree tree;
	struct stat status;
	uint32_t file;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "elsewhere", "no ELF file");
	status = temp_tree_stat(&tree, "elsewhere");
	view.inode = status.st_ino;
	view.device_major = major(status.st_dev);
	view.device_minor = minor(status.st_dev);
	plain_memory_init(&plain, 1 << 10, 16);
	options.files = mapped_file_table_new(tree.root);
	assert_non_null(options.files);
	cache = table_cache_new(&plain.memory, &options);
	assert_non_null(cache);

	file = table_cache_add(cache, &view);
	table_cache_want(cache, file);
	assert_true(table_cache_wait_file(cache, file, 0));
	table_cache_describe(cache, file, view.start, view.end, 0, &described);
	assert_int_equal(described.flags, PKBPF_MAPPING_NO_TABLE | PKBPF_MAPPING_NO_FILE);
	assert_int_equal(link(temp_tree_path(&tree, "elsewhere"), temp_tree_path(&tree, "app")), 0);
	/* Not for who wants it, so soon, but for a mapping that is new. */
	table_cache_want(cache, file);
	assert_int_equal(table_cache_stats(cache).unopened, 1);
	assert_int_equal(table_cache_add(cache, &view), file);
	table_cache_describe(cache, file, view.start, view.end, 0, &described);
	assert_int_equal(described.flags, PKBPF_MAPPING_ANONYMOUS);
	assert_int_equal(table_cache_stats(cache).unopened, 0);

	table_cache_free(cache);
	mapped_file_table_free(options.files);
	plain_memory_done(&plain);
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits_for_a_file_that_cannot_be_opened_until_it_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
