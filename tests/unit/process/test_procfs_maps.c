// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/procfs_maps: lines the kernel writes, lines nobody should, reading in
 * pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "process/procfs_maps.h"

static int parse(const char *line, struct procfs_mapping *ret_mapping)
{
	/* An exact heap copy without NUL lets AddressSanitizer see a read past the end. */
	size_t length = strlen(line);
	char *copy = malloc(length ? length : 1);
	int err;

	memcpy(copy, line, length);
	err = procfs_maps_parse_line(copy, length, ret_mapping);
	free(copy);
	return err;
}

static void parses_lines_of_the_kernel(void **state)
{
	static const struct {
		const char *line;
		struct procfs_mapping expected;
	} rows[] = {
		{"55d0c0a00000-55d0c0a2c000 r-xp 0002c000 fe:01 131125                     "
		 "/usr/bin/bash",
		 {0x55d0c0a00000, 0x55d0c0a2c000, 0x2c000, 131125, 0xfe, 1, 5, "/usr/bin/bash"}},
		{"7ffc1b5f2000-7ffc1b613000 rw-p 00000000 00:00 0                          [stack]",
		 {0x7ffc1b5f2000, 0x7ffc1b613000, 0, 0, 0, 0, 3, "[stack]"}},
		{"7f1a00000000-7f1a00021000 ---p 00000000 00:00 0 ",
		 {0x7f1a00000000, 0x7f1a00021000, 0, 0, 0, 0, 0, ""}},
		{"7f1a00000000-7f1a00021000 rwxs 00000000 00:00 0",
		 {0x7f1a00000000, 0x7f1a00021000, 0, 0, 0, 0, 7, ""}},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  "
		 "[vsyscall]",
		 {0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, 0, 4, "[vsyscall]"}},
		{"7f0000000000-7f0000001000 r-xp 00000000 103:05 18446744073709551615      /a b/c "
		 "(deleted)",
		 {0x7f0000000000, 0x7f0000001000, 0, UINT64_MAX, 0x103, 5, 5, "/a b/c (deleted)"}},
		{"7f0000000000-7f0000001000 r-xp 00000000 00:01 77                         "
		 "/memfd:jit (deleted)",
		 {0x7f0000000000, 0x7f0000001000, 0, 77, 0, 1, 5, "/memfd:jit (deleted)"}},
		{"7f0000000000-7f0000001000 r-xp 00000000 08:01 77                         "
		 "/x\\012y\\z\\011",
		 {0x7f0000000000, 0x7f0000001000, 0, 77, 8, 1, 5, "/x\ny\\z\\011"}},
		{"0-ffffffffffffffff r-xp ffffffffffffffff ffffffff:ffffffff 1 x",
		 {0, UINT64_MAX, UINT64_MAX, 1, UINT32_MAX, UINT32_MAX, 5, "x"}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct procfs_mapping *expected = &rows[i].expected;
		struct procfs_mapping mapping;

		assert_int_equal(parse(rows[i].line, &mapping), 0);
		assert_int_equal(mapping.start, expected->start);
		assert_int_equal(mapping.end, expected->end);
		assert_int_equal(mapping.file_offset, expected->file_offset);
		assert_int_equal(mapping.inode, expected->inode);
		assert_int_equal(mapping.device_major, expected->device_major);
		assert_int_equal(mapping.device_minor, expected->device_minor);
		assert_int_equal(mapping.protection, expected->protection);
		assert_string_equal(mapping.path, expected->path);
	}
}

static void refuses_lines_that_the_kernel_would_not_write(void **state)
{
	static const char *const lines[] = {
		"",
		"-",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 ",
		"1000-2000 r-x",
		"1000-2000 r-xp",
		"1000-2000 r-xp 0",
		"1000-2000 r-xp 0 0",
		"1000-2000 r-xp 0 0:0",
		"1000-2000 r-xp 0 0:0 ",
		"1000-2000 r-xp 0 0:0 5x",
		"1000-2000 r-xp 0 0:0 -5",
		"1000-2000 r-xq 0 0:0 5",
		"1000-2000 xr-p 0 0:0 5",
		"1000-2000  r-xp 0 0:0 5",
		"2000-1000 r-xp 0 0:0 5",
		"1000-1000 r-xp 0 0:0 5",
		" 1000-2000 r-xp 0 0:0 5",
		"0x1000-2000 r-xp 0 0:0 5",
		"1000-10000000000000000 r-xp 0 0:0 5",
		"1000-2000 r-xp 10000000000000000 0:0 5",
		"1000-2000 r-xp 0 100000000:0 5",
		"1000-2000 r-xp 0 0:100000000 5",
		"1000-2000 r-xp 0 0:0 18446744073709551616",
		"1000-2000 r-xp 0 0:0 99999999999999999999999",
		"1000-2000 R-XP 0 0:0 5",
		"1000-200G r-xp 0 0:0 5",
	};
	static const char with_nul[] = "1000-2000 r-xp 0 0:0 5 /a\0b";
	struct procfs_mapping mapping;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(parse(lines[i], &mapping), -EBADMSG);
	assert_int_equal(procfs_maps_parse_line(with_nul, sizeof(with_nul) - 1, &mapping),
			 -EBADMSG);
}

static void cuts_paths_that_are_too_long(void **state)
{
	static const char start[] = "1000-2000 r-xp 0 0:0 5 ";
	char *line = malloc(sizeof(start) + 20000);
	struct procfs_mapping mapping;

	strcpy(line, start);
	memset(line + sizeof(start) - 1, 'p', 20000);
	assert_int_equal(procfs_maps_parse_line(line, sizeof(start) - 1 + 20000, &mapping), 0);
	assert_int_equal(strlen(mapping.path), sizeof(mapping.path) - 1);
	free(line);
}

struct fixture {
	char root[64];
	int proc_fd;
	char path[128];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char folder[96];

	strcpy(fixture->root, "/tmp/pkbpf-maps-XXXXXX");
	if (!mkdtemp(fixture->root))
		return -1;
	snprintf(folder, sizeof(folder), "%s/42", fixture->root);
	mkdir(folder, 0755);
	snprintf(fixture->path, sizeof(fixture->path), "%s/42/maps", fixture->root);
	fixture->proc_fd = open(fixture->root, O_PATH | O_DIRECTORY);
	*state = fixture;
	return fixture->proc_fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	unlink(fixture->path);
	*strrchr(fixture->path, '/') = '\0';
	rmdir(fixture->path);
	rmdir(fixture->root);
	close(fixture->proc_fd);
	free(fixture);
	return 0;
}

struct sum {
	size_t count;
	uint64_t inodes;
};

static void add_up(void *context, const struct procfs_mapping *mapping)
{
	struct sum *sum = context;

	sum->count++;
	sum->inodes += mapping->inode;
}

static void reads_more_than_one_buffer_and_counts_what_it_cannot_parse(void **state)
{
	struct fixture *fixture = *state;
	FILE *out = fopen(fixture->path, "w");
	struct sum sum = {0};

	assert_non_null(out);
	for (unsigned int i = 1; i <= 50000; i++) {
		fprintf(out,
			"%x000-%x000 r-xp 00000000 08:01 %u                 "
			"/lib/some/library-%u.so\n",
			i, i + 1, i, i);
		if (i % 10000 == 0)
			fputs("rubbish\n", out);
	}
	fclose(out);
	assert_int_equal(procfs_maps_read(fixture->proc_fd, 42, add_up, &sum), 5);
	assert_int_equal(sum.count, 50000);
	assert_int_equal(sum.inodes, 50000ULL * 50001 / 2);
}

struct seen {
	struct procfs_mapping mappings[8];
	size_t count;
};

static void see(void *context, const struct procfs_mapping *mapping)
{
	struct seen *seen = context;

	assert_true(seen->count < sizeof(seen->mappings) / sizeof(seen->mappings[0]));
	seen->mappings[seen->count++] = *mapping;
}

static void see_lines(struct fixture *fixture, const char *lines, struct seen *seen)
{
	FILE *out = fopen(fixture->path, "w");

	assert_non_null(out);
	fputs(lines, out);
	fclose(out);
	seen->count = 0;
	assert_int_equal(procfs_maps_read(fixture->proc_fd, 42, see, seen), 0);
}

static void text_moved_to_huge_pages_is_its_files(void **state)
{
	static struct seen seen;

	see_lines(*state,
		  "400000-600000 r--p 00000000 08:01 7 /bin/server\n"
		  "600000-a00000 r-xp 00000000 00:00 0 \n"
		  "a00000-b00000 r--p 00600000 08:01 7 /bin/server\n"
		  "b00000-c00000 rw-p 00000000 00:00 0 [heap]\n",
		  &seen);
	assert_int_equal(seen.count, 4);
	assert_string_equal(seen.mappings[1].path, "/bin/server");
	assert_true(seen.mappings[1].inode == 7 && seen.mappings[1].device_major == 8 &&
		    seen.mappings[1].device_minor == 1);
	assert_true(seen.mappings[1].start == 0x600000 && seen.mappings[1].end == 0xa00000);
	assert_true(seen.mappings[1].file_offset == 0x200000);
	assert_string_equal(seen.mappings[3].path, "[heap]");
	/* Asked for as huge pages, and at the end of what is listed. */
	see_lines(*state,
		  "400000-600000 r--p 00000000 08:01 7 /bin/server\n"
		  "600000-a00000 r-xp 00000000 00:0f 99 /anon_hugepage (deleted)\n"
		  "a00000-b00000 r--p 00600000 08:01 7 /bin/server\n",
		  &seen);
	assert_string_equal(seen.mappings[1].path, "/bin/server");
}

static void memory_beside_a_file_is_not_its_text(void **state)
{
	static const char *const lines[] = {
		/* The file does not go on behind it, or another does, or not where it would. */
		"400000-600000 r--p 00000000 08:01 7 /a\n600000-a00000 r-xp 00000000 00:00 0 \n",
		"400000-600000 r--p 00000000 08:01 7 /a\n600000-a00000 r-xp 00000000 00:00 0 "
		"\na00000-b00000 r--p 00600000 08:01 8 /b\n",
		"400000-600000 r--p 00000000 08:01 7 /a\n600000-a00000 r-xp 00000000 00:00 0 "
		"\na00000-b00000 r--p 00601000 08:01 7 /a\n",
		"400000-600000 r--p 00000000 08:01 7 /a\n600000-a00000 r-xp 00000000 00:00 0 "
		"\na01000-b00000 r--p 00601000 08:01 7 /a\n",
		/* It does not begin where the file ends, or is no code. */
		"400000-5ff000 r--p 00000000 08:01 7 /a\n600000-a00000 r-xp 00000000 00:00 0 "
		"\na00000-b00000 r--p 00600000 08:01 7 /a\n",
		"400000-600000 r--p 00000000 08:01 7 /a\n600000-a00000 rw-p 00000000 00:00 0 "
		"\na00000-b00000 r--p 00600000 08:01 7 /a\n",
		/* Something else lies in between. */
		"500000-600000 rw-p 00000000 00:00 0 \n600000-a00000 r-xp 00000000 00:00 0 "
		"\na00000-b00000 r--p 00600000 08:01 7 /a\n",
	};
	static struct seen seen;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t text = 0;

		see_lines(*state, lines[i], &seen);
		while (seen.mappings[text].start != 0x600000)
			text++;
		assert_true(text < seen.count && seen.mappings[text].inode == 0 &&
			    seen.mappings[text].path[0] == '\0');
	}
}

static void skips_a_line_longer_than_any_real_one(void **state)
{
	struct fixture *fixture = *state;
	FILE *out = fopen(fixture->path, "w");
	struct sum sum = {0};

	assert_non_null(out);
	fputs("1000-2000 r-xp 0 0:0 1 /a\n", out);
	fputs("2000-3000 r-xp 0 0:0 2 /", out);
	for (int i = 0; i < 200000; i++)
		fputc('x', out);
	fputs("\n3000-4000 r-xp 0 0:0 4 /b\n4000-5000 r-xp 0 0:0 8 /cut off", out);
	fclose(out);
	assert_int_equal(procfs_maps_read(fixture->proc_fd, 42, add_up, &sum), 2);
	assert_int_equal(sum.count, 2);
	assert_int_equal(sum.inodes, 5);
}

static void says_that_there_is_no_such_process(void **state)
{
	struct fixture *fixture = *state;
	struct sum sum = {0};

	assert_int_equal(procfs_maps_read(fixture->proc_fd, 43, add_up, &sum), -ENOENT);
}

struct own {
	uint64_t address;
	bool found_text, found_vdso;
};

static void look_for_own_text(void *context, const struct procfs_mapping *mapping)
{
	struct own *own = context;

	if (own->address >= mapping->start && own->address < mapping->end)
		own->found_text = mapping->protection == 5 && strstr(mapping->path, "unit_process");
	if (strcmp(mapping->path, "[vdso]") == 0)
		own->found_vdso = true;
}

static void finds_its_own_text_and_vdso(void **state)
{
	struct own own = {.address = (uint64_t)(uintptr_t)look_for_own_text};
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY);

	assert_int_equal(procfs_maps_read(proc_fd, (uint32_t)getpid(), look_for_own_text, &own), 0);
	assert_true(own.found_text);
	assert_true(own.found_vdso);
	close(proc_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_lines_of_the_kernel),
		cmocka_unit_test(refuses_lines_that_the_kernel_would_not_write),
		cmocka_unit_test(cuts_paths_that_are_too_long),
		cmocka_unit_test_setup_teardown(
			reads_more_than_one_buffer_and_counts_what_it_cannot_parse, setup,
			teardown),
		cmocka_unit_test_setup_teardown(text_moved_to_huge_pages_is_its_files, setup,
						teardown),
		cmocka_unit_test_setup_teardown(memory_beside_a_file_is_not_its_text, setup,
						teardown),
		cmocka_unit_test_setup_teardown(skips_a_line_longer_than_any_real_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(says_that_there_is_no_such_process, setup,
						teardown),
		cmocka_unit_test(finds_its_own_text_and_vdso),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
