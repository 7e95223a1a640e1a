// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_builtin: a function by the name in a table of methods. */
#include "python/python_builtin.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/file_io.h"
#include "elf/elf_file.h"
#include "interpreters.h"
#include "symbol_fixture.h"

static int find_in(const void *bytes, size_t size, const char *name, uint64_t *ret_address)
{
	struct elf_file file;
	int err = elf_file_open_memory(&file, bytes, size);

	if (err)
		return err;
	err = python_builtin_find(&file, name, ret_address);
	elf_file_done(&file);
	return err;
}

static char *read_fixture(const char *path, size_t *ret_size)
{
	char *bytes;

	assert_int_equal(file_read_all(AT_FDCWD, path, 64 << 20, &bytes, ret_size), 0);
	return bytes;
}

static const char *const fixtures[] = {FIXTURES "/methods_relocated", FIXTURES "/methods_fixed"};

/* With relocations, and with pointers in the data. */
static void finds_the_function_of_the_method(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		uint64_t address = 0;
		size_t size;
		char *bytes = read_fixture(fixtures[i], &size);

		assert_int_equal(find_in(bytes, size, "audit", &address), 0);
		assert_int_equal(address, find_place(fixtures[i], "audit_function").address);
		free(bytes);
	}
}

static void other_names_are_not_found(void **state)
{
	static const char *const names[] = {"unlike", "missing", "audi", "pre_",
					    "0123456789012345678901234567890123456789"};

	for (size_t i = 0; i < 2; i++) {
		uint64_t address = 4711;
		size_t size;
		char *bytes = read_fixture(fixtures[i], &size);

		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			assert_int_equal(find_in(bytes, size, names[j], &address), -ENOENT);
		assert_int_equal(address, 4711);
		free(bytes);
	}
}

/* What it finds in a damaged file is inside of its code, or nothing. */
static void damaged_files_lead_nowhere_else(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		size_t size;
		char *bytes = read_fixture(fixtures[i], &size);
		uint64_t expected = find_place(fixtures[i], "audit_function").address, address;
		Elf64_Ehdr header;
		Elf64_Phdr *segments;

		for (size_t cut = 0; cut < size; cut += 509) {
			char *copy = malloc(cut + 1);

			memcpy(copy, bytes, cut);
			address = expected;
			if (find_in(copy, cut, "audit", &address) == 0)
				assert_int_equal(address, expected);
			free(copy);
		}
		memcpy(&header, bytes, sizeof(header));
		segments = (Elf64_Phdr *)(bytes + header.e_phoff);
		for (unsigned int j = 0; j < header.e_phnum; j++)
			segments[j].p_filesz = UINT64_MAX / 2;
		assert_true(find_in(bytes, size, "audit", &address) < 0);
		free(bytes);
	}
}

/* Those of this machine have been stripped of its symbol. */
static void interpreters_have_it(void **state)
{
	struct interpreters interpreters;

	interpreters_find(&interpreters);
	for (size_t i = 0; i < interpreters.count; i++) {
		uint64_t address = 0;
		struct elf_file file;
		bool is_code = false;
		size_t size;
		char *bytes = read_fixture(interpreters.paths[i], &size);

		assert_int_equal(elf_file_open_memory(&file, bytes, size), 0);
		/* It may be in a library. */
		if (python_builtin_find(&file, "audit", &address) == 0) {
			for (size_t j = 0; j < file.segments.count; j++) {
				const struct elf_segment *segment = &file.segments.items[j];

				is_code |= elf_segment_is_code(segment) &&
					   address - segment->address < segment->file_size;
			}
			assert_true(is_code);
		}
		elf_file_done(&file);
		free(bytes);
	}
	interpreters_done(&interpreters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_function_of_the_method),
		cmocka_unit_test(other_names_are_not_found),
		cmocka_unit_test(damaged_files_lead_nowhere_else),
		cmocka_unit_test(interpreters_have_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
