// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/mapped_file_contents: what was overwritten in place is another file, what was
 * merely touched is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "mapped_file_fixture.h"

#define ELF_A "\177ELF the first program"
#define ELF_B "\177ELF another"

/* File systems tell the time in steps of up to ten milliseconds. */
static void let_time_pass(void)
{
	usleep(20000);
}

static void overwrite(struct fixture *fixture, const char *text)
{
	let_time_pass();
	temp_tree_file(&fixture->tree, "app", text);
	let_time_pass();
}

static struct mapped_file *map_at(struct fixture *fixture, uint64_t time_ns, uint32_t generation)
{
	return map_file_at(fixture, "app", "/app", time_ns, generation);
}

static struct mapped_file *map_now(struct fixture *fixture)
{
	return map_at(fixture, clock_now_ns(), 0);
}

static void assert_contents(struct fixture *fixture, struct mapped_file *file, const char *text)
{
	int fd = mapped_file_open(fixture->table, file);
	char buffer[64] = "";

	assert_true(fd >= 0);
	assert_true(pread(fd, buffer, sizeof(buffer) - 1, 0) >= 0);
	assert_string_equal(buffer, text);
}

static struct mapped_file *open_first(struct fixture *fixture)
{
	struct mapped_file *file;

	overwrite(fixture, ELF_A);
	file = map_now(fixture);
	assert_contents(fixture, file, ELF_A);
	return file;
}

static void what_was_overwritten_is_another_file(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *first = open_first(fixture), *second, *third;

	assert_ptr_equal(map_now(fixture), first);
	overwrite(fixture, ELF_B);
	second = map_now(fixture);
	assert_ptr_not_equal(second, first);
	assert_string_equal(second->path, "/app");
	assert_int_equal(second->inode, first->inode);
	assert_contents(fixture, second, ELF_B);
	assert_ptr_equal(map_now(fixture), second);
	assert_int_equal(mapped_file_open(fixture->table, first), -ESTALE);
	/* The same again is not the first one again: that may have been mapped elsewhere. */
	overwrite(fixture, ELF_A);
	third = map_now(fixture);
	assert_contents(fixture, third, ELF_A);
	assert_int_equal(mapped_file_open(fixture->table, second), -ESTALE);
	assert_int_equal(mapped_file_table_count(fixture->table), 3);
}

static void records_that_come_late_lead_to_what_was_mapped(void **state)
{
	struct fixture *fixture = *state;
	uint64_t before_ns, between_ns, late_ns;
	struct mapped_file *files[3];

	before_ns = clock_now_ns();
	files[0] = open_first(fixture);
	let_time_pass();
	late_ns = clock_now_ns();
	overwrite(fixture, ELF_B);
	/* Mapped before it was overwritten, announced after. */
	assert_ptr_equal(map_at(fixture, late_ns, 0), files[0]);
	between_ns = clock_now_ns();
	files[1] = map_now(fixture);
	assert_ptr_not_equal(files[1], files[0]);
	assert_contents(fixture, files[1], ELF_B);
	overwrite(fixture, ELF_A);
	files[2] = map_now(fixture);
	assert_ptr_equal(map_at(fixture, before_ns, 0), files[0]);
	assert_ptr_equal(map_at(fixture, late_ns, 0), files[0]);
	assert_ptr_equal(map_at(fixture, between_ns, 0), files[1]);
	assert_ptr_equal(map_now(fixture), files[2]);
	assert_int_equal(mapped_file_table_count(fixture->table), 3);
}

static void what_was_overwritten_may_be_forgotten_in_the_midst(void **state)
{
	static const char *const texts[] = {ELF_A, ELF_B, ELF_A, ELF_B};
	struct fixture *fixture = *state;
	struct mapped_file *files[4];
	bool is_used[4] = {false};
	uint64_t times_ns[4];

	for (size_t i = 0; i < 4; i++) {
		overwrite(fixture, texts[i]);
		times_ns[i] = clock_now_ns();
		files[i] = map_now(fixture);
		assert_contents(fixture, files[i], texts[i]);
	}
	is_used[files[0]->id] = true;
	assert_int_equal(mapped_file_table_forget(fixture->table, is_used), 0);
	/* The last, that before it, and what is used. */
	assert_int_equal(mapped_file_table_live_count(fixture->table), 3);
	assert_ptr_equal(map_now(fixture), files[3]);
	assert_ptr_equal(map_at(fixture, times_ns[2], 0), files[2]);
	assert_ptr_equal(map_at(fixture, times_ns[0], 0), files[0]);
	assert_int_equal(mapped_file_table_live_count(fixture->table), 3);
}

static void it_is_noticed_when_the_file_is_read_too(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *first = open_first(fixture);

	overwrite(fixture, ELF_B);
	assert_int_equal(mapped_file_open(fixture->table, first), -ESTALE);
	assert_int_equal(mapped_file_open(fixture->table, first), -ESTALE);
	assert_contents(fixture, map_now(fixture), ELF_B);
}

static void a_later_generation_is_known_by_what_it_was_overwritten_with(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *first, *second;

	overwrite(fixture, ELF_A);
	first = map_at(fixture, clock_now_ns(), 5);
	assert_contents(fixture, first, ELF_A);
	overwrite(fixture, ELF_B);
	/* procfs does not show it. */
	second = map_at(fixture, clock_now_ns(), 0);
	assert_ptr_not_equal(second, first);
	assert_int_equal(second->inode_generation, 5);
	assert_ptr_equal(map_at(fixture, clock_now_ns(), 5), second);
}

static void touched_renamed_linked_and_deleted_files_stay_what_they_are(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file = open_first(fixture);
	struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
	char path[256], other[256];

	snprintf(path, sizeof(path), "%s", temp_tree_path(&fixture->tree, "app"));
	snprintf(other, sizeof(other), "%s", temp_tree_path(&fixture->tree, "other"));
	assert_int_equal(chmod(path, 0700), 0);
	assert_ptr_equal(map_now(fixture), file);
	assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
	assert_ptr_equal(map_now(fixture), file);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_ptr_equal(map_now(fixture), file);
	assert_int_equal(link(path, other), 0);
	assert_ptr_equal(map_now(fixture), file);
	overwrite(fixture, ELF_A);
	assert_ptr_equal(map_now(fixture), file);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(other), 0);
	assert_contents(fixture, file, ELF_A);
	assert_int_equal(mapped_file_table_count(fixture->table), 1);
}

static void time_stamps_may_be_set_back_to_what_they_were(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *first = open_first(fixture);
	struct stat before = temp_tree_stat(&fixture->tree, "app");
	struct timespec times[2] = {before.st_atim, before.st_mtim};
	uint64_t late_ns;

	let_time_pass();
	late_ns = clock_now_ns();
	overwrite(fixture, "\177ELF THE FIRST PROGRAM");
	assert_int_equal(utimensat(AT_FDCWD, temp_tree_path(&fixture->tree, "app"), times, 0), 0);
	assert_ptr_not_equal(map_now(fixture), first);
	assert_ptr_equal(map_at(fixture, late_ns, 0), first);
}

static void large_programs_are_told_apart_by_their_ends(void **state)
{
	struct fixture *fixture = *state;
	static char program[1 << 20] = "\177ELF";
	static const size_t places[] = {100, sizeof(program) - 10000, sizeof(program) - 1};
	struct mapped_file *file, *next;

	temp_tree_file_bytes(&fixture->tree, "app", program, sizeof(program));
	let_time_pass();
	file = map_now(fixture);
	assert_true(mapped_file_open(fixture->table, file) >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		program[places[i]]++;
		let_time_pass();
		temp_tree_file_bytes(&fixture->tree, "app", program, sizeof(program));
		let_time_pass();
		next = map_now(fixture);
		assert_ptr_not_equal(next, file);
		assert_true(mapped_file_open(fixture->table, next) >= 0);
		file = next;
	}
}

/* libffi and others map a file, write code to it, and map more of it. */
static void generated_code_may_be_written_while_it_is_mapped(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;

	overwrite(fixture, "code");
	file = map_now(fixture);
	overwrite(fixture, "more code");
	assert_contents(fixture, file, "more code");
	overwrite(fixture, "yet more code");
	assert_ptr_equal(map_now(fixture), file);
	assert_contents(fixture, file, "yet more code");
}

static void
what_was_overwritten_before_anybody_opened_it_is_not_taken_for_what_was_mapped(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *first, *second;

	overwrite(fixture, ELF_A);
	first = map_now(fixture);
	overwrite(fixture, ELF_B);
	assert_int_equal(mapped_file_open(fixture->table, first), -ESTALE);
	second = map_now(fixture);
	assert_ptr_not_equal(second, first);
	assert_contents(fixture, second, ELF_B);
	assert_int_equal(mapped_file_open(fixture->table, first), -ESTALE);
}

/* As on a server whose clock is ahead. */
static void a_file_from_the_future_is_read_all_the_same(void **state)
{
	struct fixture *fixture = *state;
	struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = time(NULL) + 3600}};
	struct mapped_file *file;

	overwrite(fixture, ELF_A);
	assert_int_equal(utimensat(AT_FDCWD, temp_tree_path(&fixture->tree, "app"), times, 0), 0);
	file = map_now(fixture);
	assert_contents(fixture, file, ELF_A);
	overwrite(fixture, ELF_B);
	assert_int_equal(utimensat(AT_FDCWD, temp_tree_path(&fixture->tree, "app"), times, 0), 0);
	file = map_now(fixture);
	assert_contents(fixture, file, ELF_B);
}

#define CONTENTS_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONTENTS_TEST(what_was_overwritten_is_another_file),
		CONTENTS_TEST(records_that_come_late_lead_to_what_was_mapped),
		CONTENTS_TEST(what_was_overwritten_may_be_forgotten_in_the_midst),
		CONTENTS_TEST(it_is_noticed_when_the_file_is_read_too),
		CONTENTS_TEST(a_later_generation_is_known_by_what_it_was_overwritten_with),
		CONTENTS_TEST(touched_renamed_linked_and_deleted_files_stay_what_they_are),
		CONTENTS_TEST(time_stamps_may_be_set_back_to_what_they_were),
		CONTENTS_TEST(large_programs_are_told_apart_by_their_ends),
		CONTENTS_TEST(generated_code_may_be_written_while_it_is_mapped),
		CONTENTS_TEST(
			what_was_overwritten_before_anybody_opened_it_is_not_taken_for_what_was_mapped),
		CONTENTS_TEST(a_file_from_the_future_is_read_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
