// SPDX-License-Identifier: BSD-2-Clause
/* The table cache on our own mappings: tables built by its thread answer like tables built here. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "elf/elf_program.h"
#include "plain_memory.h"
#include "process/file/mapped_file.h"
#include "process/procfs_maps.h"
#include "unwind/table/table_cache.h"

#define WAIT_NS (30 * NS_PER_SECOND)

struct own_code {
	struct procfs_mapping mapping;
	uint32_t file;
};

struct fixture {
	struct plain_memory plain;
	struct mapped_file_table *files;
	struct table_cache *cache;
	ARRAY_OF(struct own_code) code;
};

static struct mapping_view view_of(const struct procfs_mapping *mapping)
{
	return (struct mapping_view){
		.time_ns = clock_now_ns(),
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.inode = mapping->inode,
		.device_major = mapping->device_major,
		.device_minor = mapping->device_minor,
		.protection = mapping->protection,
		.path = mapping->path,
	};
}

static void on_mapping(void *context, const struct procfs_mapping *mapping)
{
	struct fixture *fixture = context;
	struct own_code *code;

	if (!(mapping->protection & 4) || mapping->start >= 1ULL << 63)
		return;
	code = array_add(&fixture->code);
	assert_non_null(code);
	code->mapping = *mapping;
}

static void begin_with(struct fixture *fixture, struct table_cache_options options, uint32_t pages,
		       uint32_t files)
{
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*fixture = (struct fixture){0};
	assert_int_equal(procfs_maps_read(proc_fd, (uint32_t)getpid(), on_mapping, fixture), 0);
	close(proc_fd);
	plain_memory_init(&fixture->plain, pages, files);
	options.files = fixture->files = mapped_file_table_new("");
	assert_non_null(fixture->files);
	fixture->cache = table_cache_new(&fixture->plain.memory, &options);
	assert_non_null(fixture->cache);
}

static void begin(struct fixture *fixture, uint32_t max_chunks, uint32_t pages, uint32_t files)
{
	struct table_cache_options options = {.max_chunks = max_chunks, .initial_chunks = 1};

	begin_with(fixture, options, pages, files);
}

static void add_all(struct fixture *fixture)
{
	array_foreach(&fixture->code, code) {
		struct mapping_view view = view_of(&code->mapping);

		code->file = table_cache_add(fixture->cache, &view);
	}
}

static void end(struct fixture *fixture)
{
	table_cache_free(fixture->cache);
	mapped_file_table_free(fixture->files);
	plain_memory_done(&fixture->plain);
	array_free(&fixture->code);
}

/* The table of a mapping's file, built here. */
static struct unwind_table *build_here(const struct procfs_mapping *mapping, struct rule_set *rules)
{
	struct unwind_table *table = NULL;
	struct elf_file *image = NULL;
	int fd = open(mapping->path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_program_open(fd, &image), 0);
	assert_int_equal(unwind_table_build(image, false, rules, &table, NULL), 0);
	elf_program_free(image);
	close(fd);
	return table;
}

static void tables_answer_like_those_built_here(void **state)
{
	struct fixture fixture;
	size_t compared = 0;

	begin(&fixture, 16, 1 << 16, 256);
	add_all(&fixture);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	assert_true(table_cache_idle(fixture.cache));
	srand(4);
	array_foreach(&fixture.code, code) {
		struct unwind_table *table;
		struct rule_set *rules;

		if (code->mapping.path[0] != '/')
			continue;
		rules = rule_set_new();
		assert_true(table_cache_ready(fixture.cache, code->file));
		table = build_here(&code->mapping, rules);
		for (uint32_t i = 0; i < 20000; i++) {
			uint64_t address =
				table->text_start +
				((uint64_t)rand() * 7919 + i) %
					((uint64_t)table->page_count * PKBPF_TEXT_PAGE_SIZE);
			struct pkbpf_unwind_rule rule;

			assert_true(
				table_cache_find_rule(fixture.cache, code->file, address, &rule));
			assert_memory_equal(&rule, unwind_table_lookup(table, rules, address),
					    sizeof(rule));
			compared++;
		}
		unwind_table_free(table);
		rule_set_free(rules);
	}
	assert_true(compared >= 20000);
	end(&fixture);
}

static void published_files_lead_to_the_same_rows(void **state)
{
	struct fixture fixture;
	size_t checked = 0;

	begin(&fixture, 16, 1 << 16, 256);
	add_all(&fixture);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	array_foreach(&fixture.code, code) {
		const struct pkbpf_unwind_file *file;
		struct pkbpf_unwind_mapping mapping;
		uint64_t address;

		table_cache_describe(fixture.cache, code->file, code->mapping.start,
				     code->mapping.end, code->mapping.file_offset, &mapping);
		if (code->mapping.path[0] != '/' && strcmp(code->mapping.path, "[vdso]") != 0) {
			assert_int_equal(mapping.flags, PKBPF_MAPPING_ANONYMOUS);
			continue;
		}
		assert_int_equal(mapping.flags, 0);
		file = &fixture.plain.memory.files[mapping.file];
		assert_true(file->flags & PKBPF_FILE_READY);
		/* The mapping's addresses, less its bias, fall into the file's pages. */
		address = code->mapping.start - mapping.bias;
		assert_true(address >= file->text_start);
		assert_true((address - file->text_start) >> PKBPF_TEXT_PAGE_SHIFT <
			    file->page_count);
		checked++;
	}
	assert_true(checked >= 3);
	end(&fixture);
}

static void a_known_file_costs_nothing_again(void **state)
{
	struct fixture fixture;
	struct table_cache_stats before, after;

	begin(&fixture, 16, 1 << 16, 256);
	add_all(&fixture);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	before = table_cache_stats(fixture.cache);
	add_all(&fixture);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	after = table_cache_stats(fixture.cache);
	assert_int_equal(before.built, after.built);
	assert_int_equal(before.files, after.files);
	assert_true(before.tables >= 3);
	end(&fixture);
}

/* Ages every table but one beyond what protects it. */
static void on_demand_only_wanted_tables_are_built(void **state)
{
	struct table_cache_options options = {
		.max_chunks = 16, .initial_chunks = 1, .on_demand = true};
	struct own_code *wanted = NULL;
	struct pkbpf_unwind_mapping published;
	struct pkbpf_unwind_rule rule;
	struct fixture fixture;

	begin_with(&fixture, options, 1 << 16, 256);
	add_all(&fixture);
	assert_true(table_cache_idle(fixture.cache));
	assert_int_equal(table_cache_stats(fixture.cache).built, 0);
	array_foreach(&fixture.code, code) {
		assert_false(table_cache_ready(fixture.cache, code->file));
		if (strstr(code->mapping.path, "/libc.so"))
			wanted = code;
	}
	assert_non_null(wanted);
	/* Its place is known before there is a table. */
	table_cache_describe(fixture.cache, wanted->file, wanted->mapping.start,
			     wanted->mapping.end, wanted->mapping.file_offset, &published);
	assert_int_equal(published.flags, 0);
	assert_int_equal(fixture.plain.memory.files[published.file].flags, 0);
	table_cache_want(fixture.cache, wanted->file);
	table_cache_want(fixture.cache, wanted->file);
	assert_true(table_cache_wait_file(fixture.cache, wanted->file, WAIT_NS));
	assert_true(table_cache_ready(fixture.cache, wanted->file));
	assert_int_equal(fixture.plain.memory.files[published.file].flags & PKBPF_FILE_READY,
			 PKBPF_FILE_READY);
	assert_true(table_cache_find_rule(fixture.cache, wanted->file,
					  wanted->mapping.start - published.bias, &rule));
	assert_int_equal(table_cache_stats(fixture.cache).built, 1);
	array_foreach(&fixture.code, code)
		assert_int_equal(table_cache_ready(fixture.cache, code->file),
				 code->file == wanted->file);
	end(&fixture);
}

static void age_tables(struct fixture *fixture)
{
	for (uint32_t i = 0; i < fixture->plain.memory.file_count; i++)
		fixture->plain.memory.files[i].last_used -= 100;
}

/* Pages of our own largest table. */
static uint32_t largest_table(void)
{
	struct fixture fixture;
	uint32_t largest = 0;

	begin(&fixture, 16, 1 << 16, 256);
	add_all(&fixture);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	array_foreach(&fixture.code, code) {
		uint64_t bytes;
		uint32_t rows, pages;

		table_cache_size(fixture.cache, code->file, &rows, &bytes);
		pages = (uint32_t)((bytes - rows * sizeof(uint32_t)) /
				   sizeof(struct pkbpf_unwind_page));
		largest = pages > largest ? pages : largest;
	}
	end(&fixture);
	return largest;
}

static void gives_the_place_of_the_least_used_table_to_another(void **state)
{
	uint32_t pages = largest_table(), first = MAPPING_NO_FILE;
	struct fixture fixture;
	struct table_cache_stats stats;
	struct pkbpf_unwind_rule rule;

	/* Room for any one file, not for all. */
	begin(&fixture, 16, pages, 256);
	array_foreach(&fixture.code, code) {
		struct mapping_view view = view_of(&code->mapping);

		if (code->mapping.path[0] != '/')
			continue;
		code->file = table_cache_add(fixture.cache, &view);
		assert_true(table_cache_wait(fixture.cache, WAIT_NS));
		if (first == MAPPING_NO_FILE && table_cache_ready(fixture.cache, code->file))
			first = code->file;
		age_tables(&fixture);
	}
	stats = table_cache_stats(fixture.cache);
	assert_true(stats.evictions > 0);
	assert_true(fixture.plain.waits > 0);
	assert_true(stats.pages <= pages);
	assert_int_not_equal(first, MAPPING_NO_FILE);
	/* Wanted again, it comes back. */
	for (uint32_t i = 0; i < 20 && !table_cache_ready(fixture.cache, first); i++) {
		age_tables(&fixture);
		table_cache_want(fixture.cache, first);
		assert_true(table_cache_wait_file(fixture.cache, first, WAIT_NS));
	}
	assert_true(table_cache_ready(fixture.cache, first));
	assert_true(table_cache_find_rule(fixture.cache, first, 0, &rule));
	end(&fixture);
}

static void does_without_a_table_when_all_room_is_in_use(void **state)
{
	struct fixture fixture;
	struct table_cache_stats stats;

	begin(&fixture, 16, 10, 256);
	add_all(&fixture);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	stats = table_cache_stats(fixture.cache);
	assert_true(stats.no_room > 0);
	assert_true(stats.pages <= 10);
	assert_int_equal(stats.evictions, 0);
	end(&fixture);
}

static void does_without_a_table_when_all_numbers_are_in_use(void **state)
{
	struct fixture fixture;
	struct pkbpf_unwind_mapping mapping;
	struct table_cache_stats stats;
	size_t pending = 0;

	begin(&fixture, 16, 1 << 16, 1);
	add_all(&fixture);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	stats = table_cache_stats(fixture.cache);
	assert_int_equal(stats.tables, 1);
	array_foreach(&fixture.code, code) {
		table_cache_describe(fixture.cache, code->file, code->mapping.start,
				     code->mapping.end, code->mapping.file_offset, &mapping);
		pending += mapping.flags == PKBPF_MAPPING_PENDING;
	}
	assert_int_equal(pending, stats.no_room);
	end(&fixture);
}

static void forgets_files_that_have_nothing(void **state)
{
	struct pkbpf_unwind_mapping described;
	bool is_used[1000] = {false};
	struct mapping_view gone = {.pid = (uint32_t)getpid(),
				    .start = 0x1000,
				    .end = 0x2000,
				    .protection = 5,
				    .inode = 77,
				    .path = "/gone"};
	struct fixture fixture;
	uint32_t number;

	begin(&fixture, 16, 1 << 16, 256);
	add_all(&fixture);
	number = table_cache_add(fixture.cache, &gone);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	table_cache_mark_files(fixture.cache, is_used, 1000);
	/* It could not be opened; the others have tables. */
	assert_false(is_used[number]);
	array_foreach(&fixture.code, code)
		assert_true(is_used[code->file] || !table_cache_ready(fixture.cache, code->file));
	table_cache_reference(fixture.cache, number);
	table_cache_mark_files(fixture.cache, is_used, 1000);
	assert_true(is_used[number]);
	table_cache_release(fixture.cache, number);
	is_used[number] = false;
	table_cache_forget_files(fixture.cache, is_used, 1000);
	assert_int_equal(mapped_file_table_forget(fixture.files, is_used), 0);
	/* Its number is another's now. */
	gone.inode = 78;
	gone.path = "/later";
	assert_int_equal(table_cache_add(fixture.cache, &gone), number);
	assert_string_equal(table_cache_path(fixture.cache, number), "/later");
	array_foreach(&fixture.code, code) {
		table_cache_describe(fixture.cache, code->file, code->mapping.start,
				     code->mapping.end, code->mapping.file_offset, &described);
		assert_int_equal(described.flags & PKBPF_MAPPING_PENDING, 0);
	}
	end(&fixture);
}

static void a_file_beyond_all_that_are_kept_apart_is_no_generated_code(void **state)
{
	struct pkbpf_unwind_mapping described;
	struct mapping_view mapping = {.pid = (uint32_t)getpid(),
				       .start = 0x1000,
				       .end = 0x2000,
				       .protection = 5,
				       .path = "/gone"};
	struct mapped_file *ignored;
	struct fixture fixture;
	uint32_t file;

	begin(&fixture, 16, 1 << 16, 256);
	for (mapping.inode = 1; !mapped_file_table_add(fixture.files, &mapping, &ignored);
	     mapping.inode++)
		;
	file = table_cache_add(fixture.cache, &mapping);
	assert_int_equal(file, MAPPING_REFUSED);
	table_cache_describe(fixture.cache, file, mapping.start, mapping.end, 0, &described);
	assert_int_equal(described.flags, PKBPF_MAPPING_NO_ROOM);
	mapping.path = "//anon";
	mapping.inode = 0;
	assert_int_equal(table_cache_add(fixture.cache, &mapping), MAPPING_NO_FILE);
	end(&fixture);
}

static void a_file_that_cannot_be_opened_is_tried_with_the_next_mapping(void **state)
{
	struct fixture fixture;
	struct mapping_view view;
	uint32_t file, again;

	begin(&fixture, 16, 1 << 16, 256);
	array_foreach(&fixture.code, code) {
		if (code->mapping.path[0] != '/')
			continue;
		view = view_of(&code->mapping);
		break;
	}
	view.start += 0x5000000000ULL; /* nothing is there */
	view.end += 0x5000000000ULL;
	view.inode ^= 1ULL << 40;
	file = table_cache_add(fixture.cache, &view);
	assert_int_not_equal(file, MAPPING_NO_FILE);
	assert_false(table_cache_ready(fixture.cache, file));
	assert_int_equal(table_cache_stats(fixture.cache).unopened, 1);
	again = table_cache_add(fixture.cache, &view);
	assert_int_equal(again, file);
	end(&fixture);
}

static void copy_into(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_TRUNC | O_CLOEXEC);
	char buffer[65536];
	ssize_t got;

	assert_true(in >= 0 && out >= 0);
	while ((got = read(in, buffer, sizeof(buffer))) > 0)
		assert_int_equal(write(out, buffer, (size_t)got), got);
	close(in);
	close(out);
}

static struct mapping_view view_at(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (struct mapping_view){
		.time_ns = clock_now_ns(),
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.start = 0x1000,
		.end = 0x2000,
		.inode = status.st_ino,
		.device_major = major(status.st_dev),
		.device_minor = minor(status.st_dev),
		.protection = 5,
		.path = path,
	};
}

/* Our own program, then another one in the same file; the number of each. */
static void add_overwritten(struct fixture *fixture, const char *path, uint32_t *ret_first,
			    uint32_t *ret_second)
{
	struct mapping_view view;

	copy_into("/proc/self/exe", path);
	usleep(20000); /* a step of the file system's clock */
	view = view_at(path);
	*ret_first = table_cache_add(fixture->cache, &view);
	assert_true(table_cache_wait(fixture->cache, WAIT_NS));
	copy_into("/bin/sh", path);
	usleep(20000);
	table_cache_want(fixture->cache, *ret_first);
	assert_true(table_cache_wait(fixture->cache, WAIT_NS));
	view = view_at(path);
	*ret_second = table_cache_add(fixture->cache, &view);
	assert_int_not_equal(*ret_second, *ret_first);
	table_cache_want(fixture->cache, *ret_second);
	assert_true(table_cache_wait(fixture->cache, WAIT_NS));
	assert_true(table_cache_ready(fixture->cache, *ret_second));
}

static void what_has_overwritten_a_file_has_a_table_of_its_own(void **state)
{
	char path[] = "/tmp/pkbpf-cache-XXXXXX";
	uint32_t first, second, first_rows, second_rows;
	struct fixture fixture;
	uint64_t bytes;

	close(mkstemp(path));
	begin(&fixture, 16, 1 << 16, 256);
	add_overwritten(&fixture, path, &first, &second);
	/* It was built in time: stacks that are walked later still need it. */
	assert_true(table_cache_ready(fixture.cache, first));
	table_cache_size(fixture.cache, first, &first_rows, &bytes);
	table_cache_size(fixture.cache, second, &second_rows, &bytes);
	assert_true(first_rows && second_rows && first_rows != second_rows);
	end(&fixture);
	unlink(path);
}

static void no_table_is_built_from_what_has_overwritten_the_file(void **state)
{
	struct table_cache_options options = {
		.max_chunks = 16, .initial_chunks = 1, .on_demand = true};
	char path[] = "/tmp/pkbpf-cache-XXXXXX";
	uint32_t first, second;
	struct fixture fixture;

	close(mkstemp(path));
	begin_with(&fixture, options, 1 << 16, 256);
	add_overwritten(&fixture, path, &first, &second);
	assert_false(table_cache_ready(fixture.cache, first));
	assert_int_equal(table_cache_stats(fixture.cache).built, 1);
	end(&fixture);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_answer_like_those_built_here),
		cmocka_unit_test(published_files_lead_to_the_same_rows),
		cmocka_unit_test(a_known_file_costs_nothing_again),
		cmocka_unit_test(on_demand_only_wanted_tables_are_built),
		cmocka_unit_test(gives_the_place_of_the_least_used_table_to_another),
		cmocka_unit_test(does_without_a_table_when_all_room_is_in_use),
		cmocka_unit_test(does_without_a_table_when_all_numbers_are_in_use),
		cmocka_unit_test(forgets_files_that_have_nothing),
		cmocka_unit_test(a_file_beyond_all_that_are_kept_apart_is_no_generated_code),
		cmocka_unit_test(a_file_that_cannot_be_opened_is_tried_with_the_next_mapping),
		cmocka_unit_test(what_has_overwritten_a_file_has_a_table_of_its_own),
		cmocka_unit_test(no_table_is_built_from_what_has_overwritten_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
