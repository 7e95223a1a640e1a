// SPDX-License-Identifier: BSD-2-Clause
/* Tests reading of build id notes. */
#include "elf/build_id.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "symbol_fixture.h"

static int read_from(const char *path, struct build_id *ret_id)
{
	int fd = open(path, O_RDONLY);
	struct elf_file file;
	int err;

	assert_int_equal(elf_file_open(&file, fd), 0);
	err = build_id_read(&file, ret_id);
	elf_file_done(&file);
	close(fd);
	return err;
}

static void reads_the_id_of_a_program_and_of_its_debug_file(void **state)
{
	char text[BUILD_ID_HEX_SIZE];
	struct build_id id, debug;

	assert_int_equal(read_from(FIXTURE_DIR "/pie", &id), 0);
	build_id_format(&id, text);
	assert_string_equal(text, FIXTURE_BUILD_ID);
	assert_int_equal(
		read_from(FIXTURE_DIR
			  "/debug/.build-id/ab/0123456789abcdef0123456789abcdef012345.debug",
			  &debug),
		0);
	assert_true(build_id_equal(&id, &debug));
	debug.bytes[19] ^= 1;
	assert_false(build_id_equal(&id, &debug));
}

static void file_without_id_says_so(void **state)
{
	struct build_id id;

	assert_int_equal(read_from(FIXTURE_DIR "/no_id", &id), -ENOENT);
}

struct notes {
	Elf64_Nhdr other;
	char other_name[8];
	char other_data[4];
	Elf64_Nhdr header;
	char name[4];
	uint8_t data[BUILD_ID_MAX_BYTES + 4];
};

static struct notes make_notes(uint32_t id_size)
{
	return (struct notes){
		.other = {.n_namesz = 6, .n_descsz = 1, .n_type = NT_GNU_BUILD_ID},
		.other_name = "Other",
		.header = {.n_namesz = 4, .n_descsz = id_size, .n_type = NT_GNU_BUILD_ID},
		.name = "GNU",
		.data = {1, 2, 3, 4, 5, 6, 7, 8},
	};
}

static void passes_over_other_notes(void **state)
{
	struct notes notes = make_notes(8);
	struct build_id id;

	assert_true(build_id_find_in_notes(&notes, sizeof(notes), &id));
	assert_int_equal(id.size, 8);
	assert_int_equal(id.bytes[7], 8);
}

static void refuses_ids_of_impossible_size(void **state)
{
	static const uint32_t sizes[] = {0, BUILD_ID_MAX_BYTES + 1, 0x7fffffff, 0xffffffff};
	struct build_id id;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct notes notes = make_notes(sizes[i]);

		assert_false(build_id_find_in_notes(&notes, sizeof(notes), &id));
	}
}

static void notes_cut_anywhere_do_no_harm(void **state)
{
	struct notes notes = make_notes(8);
	size_t whole = offsetof(struct notes, data) + 8;
	struct build_id id;

	for (size_t size = 0; size <= whole; size++) {
		void *copy = malloc(size ? size : 1);

		assert_non_null(copy);
		memcpy(copy, &notes, size);
		assert_int_equal(build_id_find_in_notes(copy, size, &id), size == whole);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_id_of_a_program_and_of_its_debug_file),
		cmocka_unit_test(file_without_id_says_so),
		cmocka_unit_test(passes_over_other_notes),
		cmocka_unit_test(refuses_ids_of_impossible_size),
		cmocka_unit_test(notes_cut_anywhere_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
