// SPDX-License-Identifier: BSD-2-Clause
/* Tests for elf/elf_needed with this program, as it is and with a dynamic section that lies. */
#include "elf/elf_needed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file_io.h"

struct needed {
	size_t count, c_libraries, longest;
};

static void take(void *context, const char *name)
{
	struct needed *needed = context;
	size_t length = strlen(name);

	needed->count++;
	needed->c_libraries += strncmp(name, "libc.", 5) == 0;
	needed->longest = length > needed->longest ? length : needed->longest;
}

static struct needed find(const char *bytes, size_t size, char *run_path, size_t run_path_size)
{
	struct needed needed = {0};
	struct elf_file file;

	assert_int_equal(elf_file_open_memory(&file, bytes, size), 0);
	elf_needed(&file, run_path, run_path_size, take, &needed);
	elf_file_done(&file);
	return needed;
}

static char *read_self(size_t *ret_size)
{
	char *bytes;

	assert_int_equal(file_read_all(AT_FDCWD, "/proc/self/exe", 256 << 20, &bytes, ret_size), 0);
	return bytes;
}

static Elf64_Dyn *find_entries(char *bytes, size_t *ret_count)
{
	const Elf64_Ehdr *header = (const void *)bytes;
	const Elf64_Phdr *segments = (const void *)(bytes + header->e_phoff);

	for (unsigned int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_DYNAMIC) {
			*ret_count = segments[i].p_filesz / sizeof(Elf64_Dyn);
			return (Elf64_Dyn *)(bytes + segments[i].p_offset);
		}
	abort();
}

static Elf64_Dyn *find_entry(char *bytes, Elf64_Sxword tag)
{
	size_t count;
	Elf64_Dyn *entries = find_entries(bytes, &count);

	for (size_t i = 0; i < count; i++)
		if (entries[i].d_tag == tag)
			return &entries[i];
	abort();
}

static void names_what_this_program_needs(void **state)
{
	size_t size;
	char *bytes = read_self(&size), run_path[256] = "before";
	struct needed needed = find(bytes, size, run_path, sizeof(run_path));

	assert_true(needed.count >= 2 && needed.count < 64);
	assert_int_equal(needed.c_libraries, 1);
	free(bytes);
}

/* DT_DEBUG is made to one; its text is the first library's name. */
static void a_run_path_is_cut_to_its_room(void **state)
{
	size_t size;
	char *bytes = read_self(&size), run_path[256], first[256];
	const Elf64_Dyn *needed = find_entry(bytes, DT_NEEDED);
	Elf64_Dyn *other = find_entry(bytes, DT_DEBUG);

	*other = (Elf64_Dyn){.d_tag = DT_RUNPATH, .d_un.d_val = needed->d_un.d_val};
	find(bytes, size, first, sizeof(first));
	assert_int_equal(strncmp(first, "lib", 3), 0);
	find(bytes, size, run_path, 4);
	assert_true(strcmp(run_path, "lib") == 0 || !run_path[0]);
	other->d_tag = DT_RPATH;
	find(bytes, size, run_path, sizeof(run_path));
	assert_string_equal(run_path, first);
	free(bytes);
}

static void names_outside_of_the_strings_are_left_out(void **state)
{
	static const uint64_t places[] = {UINT64_MAX, 1ULL << 40, INT64_MAX};
	size_t size;
	char *bytes = read_self(&size), run_path[64];
	size_t before = find(bytes, size, run_path, sizeof(run_path)).count;
	Elf64_Dyn *entry = find_entry(bytes, DT_NEEDED);

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		entry->d_un.d_val = places[i];
		assert_int_equal(find(bytes, size, run_path, sizeof(run_path)).count, before - 1);
	}
	find_entry(bytes, DT_STRTAB)->d_un.d_val = 1ULL << 62;
	assert_int_equal(find(bytes, size, run_path, sizeof(run_path)).count, 0);
	free(bytes);
}

static void sections_without_an_end_are_given_up(void **state)
{
	size_t size, count;
	char *bytes = read_self(&size), run_path[64];
	Elf64_Ehdr *header = (void *)bytes;
	Elf64_Phdr *segments = (void *)(bytes + header->e_phoff);
	Elf64_Dyn *entries = find_entries(bytes, &count);
	const Elf64_Dyn needed = *find_entry(bytes, DT_NEEDED);

	for (size_t i = 0; i < count; i++)
		if (entries[i].d_tag != DT_STRTAB && entries[i].d_tag != DT_STRSZ)
			entries[i] = needed;
	assert_int_equal(find(bytes, size, run_path, sizeof(run_path)).count, count - 2);
	/* It claims all of the file. */
	for (unsigned int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_DYNAMIC)
			segments[i].p_filesz = size - segments[i].p_offset;
	assert_true(find(bytes, size, run_path, sizeof(run_path)).count <= ELF_NEEDED_MAX);
	for (unsigned int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_DYNAMIC)
			segments[i].p_type = PT_NULL;
	assert_int_equal(find(bytes, size, run_path, sizeof(run_path)).count, 0);
	assert_string_equal(run_path, "");
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_what_this_program_needs),
		cmocka_unit_test(a_run_path_is_cut_to_its_room),
		cmocka_unit_test(names_outside_of_the_strings_are_left_out),
		cmocka_unit_test(sections_without_an_end_are_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
