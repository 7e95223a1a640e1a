// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/elf/symbol_folder: files by their build ids, wherever they lie. */
#include "symbol/elf/symbol_folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file_io.h"
#include "symbol_fixture.h"
#include "temp_tree.h"

static struct temp_tree tree;

static int make_tree(void **state)
{
	temp_tree_init(&tree);
	return 0;
}

static int remove_tree(void **state)
{
	temp_tree_done(&tree);
	return 0;
}

/* share: of 100, that are there. */
static void put_fixture(const char *fixture, const char *path, size_t share)
{
	char from[4096], *bytes;
	size_t size;

	snprintf(from, sizeof(from), FIXTURE_DIR "/%s", fixture);
	assert_int_equal(file_read_all(AT_FDCWD, from, 16 << 20, &bytes, &size), 0);
	temp_tree_file_bytes(&tree, path, bytes, size * share / 100);
	free(bytes);
}

static struct symbol_folder *open_folder(bool with_lines)
{
	struct symbol_folder *folder = NULL;
	struct error error;

	assert_int_equal(symbol_folder_open(tree.root, with_lines, &folder, &error), 0);
	return folder;
}

static struct symbol unnamed(const char *id, uint64_t address)
{
	return (struct symbol){.result = SYMBOL_STRIPPED,
			       .module = "program",
			       .build_id = id,
			       .module_address = address};
}

static void names_functions_and_lines(void **state)
{
	uint64_t leaf = find_place(FIXTURE_DIR "/pie", "leaf_marker").address;
	struct symbol symbol = unnamed(FIXTURE_BUILD_ID, leaf);
	struct symbol_folder *folder;

	put_fixture("pie", "some/where/else", 100);
	folder = open_folder(true);
	assert_true(symbol_folder_name(folder, false, &symbol));
	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_int_equal(symbol.line_count, 3);
	assert_string_equal(symbol.lines[0].function, "inlined_leaf");
	assert_int_equal(symbol.lines[0].line, 100);
	assert_string_equal(symbol.lines[2].function, "outer_function");
	assert_int_equal(symbol.lines[2].line, 300);
	/* The call is before where it returns to. */
	symbol = unnamed(FIXTURE_BUILD_ID, leaf + 1);
	assert_true(symbol_folder_name(folder, true, &symbol));
	assert_string_equal(symbol.lines[0].function, "inlined_leaf");
	symbol_folder_free(folder);
	folder = open_folder(false);
	symbol = unnamed(FIXTURE_BUILD_ID, leaf);
	assert_true(symbol_folder_name(folder, false, &symbol));
	assert_int_equal(symbol.line_count, 3);
	assert_int_equal(symbol.lines[0].line, 0);
	symbol_folder_free(folder);
}

/* Debug information has no code, and the program no names. */
static void a_file_with_names_comes_before_a_stripped_one(void **state)
{
	static const char *const debug = "debug/.build-id/ab/"
					 "0123456789abcdef0123456789abcdef012345.debug";
	struct place method = find_place(FIXTURE_DIR "/pie", "_ZN2ns5Class6methodEi");
	struct symbol symbol = unnamed(FIXTURE_BUILD_ID, method.address);
	struct symbol_folder *folder;

	put_fixture("stripped", "a", 100);
	put_fixture(debug, "z/z", 100);
	folder = open_folder(false);
	assert_true(symbol_folder_name(folder, false, &symbol));
	assert_int_equal(symbol.line_count, 1);
	assert_string_equal(symbol.lines[0].function, "ns::Class::method");
	/* Where a call that a function ends in would return to. */
	symbol = unnamed(FIXTURE_BUILD_ID, method.address + method.size);
	assert_true(symbol_folder_name(folder, true, &symbol));
	assert_string_equal(symbol.lines[0].function, "ns::Class::method");
	symbol_folder_free(folder);
}

static void the_next_function_is_not_that_of_a_call_before_it(void **state)
{
	uint64_t follower = find_place(FIXTURE_DIR "/pie", "follower").address;
	struct symbol symbol = unnamed(FIXTURE_BUILD_ID, follower);
	struct symbol_folder *folder;

	put_fixture("pie", "pie", 100);
	folder = open_folder(false);
	assert_false(symbol_folder_name(folder, true, &symbol));
	assert_true(symbol_folder_name(folder, false, &symbol));
	symbol_folder_free(folder);
}

static void what_is_not_there_stays_as_it_is(void **state)
{
	uint64_t leaf = find_place(FIXTURE_DIR "/pie", "leaf_marker").address;
	struct symbol cases[] = {
		unnamed("0011223344", leaf),  unnamed("", leaf),
		unnamed(NULL, leaf),	      unnamed(FIXTURE_BUILD_ID, 0),
		unnamed(FIXTURE_BUILD_ID, 1), unnamed(FIXTURE_BUILD_ID, UINT64_MAX),
	};
	struct symbol found = unnamed(FIXTURE_BUILD_ID, leaf);
	struct symbol_folder_notes notes;
	struct symbol_folder *folder;

	put_fixture("pie", "pie", 100);
	put_fixture("no_id", "no_id", 100);
	folder = open_folder(true);
	notes = symbol_folder_notes(folder);
	assert_int_equal(notes.asked, 0);
	assert_null(notes.missing);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct symbol symbol = cases[i];

		assert_false(symbol_folder_name(folder, false, &symbol));
		assert_false(symbol_folder_name(folder, true, &symbol));
		assert_int_equal(symbol.result, SYMBOL_STRIPPED);
		assert_int_equal(symbol.line_count, 0);
	}
	/* It has a name. */
	found.result = SYMBOL_FOUND;
	assert_false(symbol_folder_name(folder, false, &found));
	notes = symbol_folder_notes(folder);
	assert_int_equal(notes.asked, 3);
	assert_int_equal(notes.found, 1);
	assert_string_equal(notes.missing, "program");
	assert_false(notes.is_cut);
	symbol_folder_free(folder);
}

/* Opening a FIFO would wait; links may lead in circles. */
static void other_things_in_the_folder_are_no_harm(void **state)
{
	uint64_t leaf = find_place(FIXTURE_DIR "/pie", "leaf_marker").address;
	struct symbol symbol = unnamed(FIXTURE_BUILD_ID, leaf);
	struct symbol_folder *folder;

	temp_tree_file(&tree, "text", "\177ELF and nothing else");
	temp_tree_file(&tree, "empty", "");
	put_fixture("pie", "cut", 30);
	put_fixture("pie", "shorter", 1);
	temp_tree_folder(&tree, "in");
	temp_tree_link(&tree, "in/circle", "..");
	temp_tree_link(&tree, "in/nowhere", "none");
	temp_tree_link(&tree, "in/self", "self");
	temp_tree_link(&tree, "in/device", "/dev/zero");
	assert_int_equal(mkfifo(temp_tree_path(&tree, "in/fifo"), 0600), 0);
	folder = open_folder(true);
	assert_false(symbol_folder_name(folder, false, &symbol));
	symbol_folder_free(folder);
	/* A link to a file counts. */
	temp_tree_link(&tree, "in/program", FIXTURE_DIR "/pie");
	folder = open_folder(true);
	assert_true(symbol_folder_name(folder, false, &symbol));
	symbol_folder_free(folder);
}

static void folders_in_folders_have_an_end(void **state)
{
	uint64_t leaf = find_place(FIXTURE_DIR "/pie", "leaf_marker").address;
	struct symbol symbol = unnamed(FIXTURE_BUILD_ID, leaf);
	struct symbol_folder *folder;
	char path[128] = "";

	for (int i = 0; i < 33; i++)
		strcat(path, "d/");
	strcat(path, "pie");
	put_fixture("pie", path, 100);
	folder = open_folder(true);
	assert_false(symbol_folder_name(folder, false, &symbol));
	symbol_folder_free(folder);
	put_fixture("pie", path + 2, 100);
	folder = open_folder(true);
	assert_true(symbol_folder_name(folder, false, &symbol));
	symbol_folder_free(folder);
}

/* Between looking through it and asking. */
static void files_that_change_are_not_believed(void **state)
{
	uint64_t leaf = find_place(FIXTURE_DIR "/pie", "leaf_marker").address;
	struct symbol symbol = unnamed(FIXTURE_BUILD_ID, leaf);
	struct symbol_folder *folder;

	put_fixture("pie", "pie", 100);
	folder = open_folder(true);
	put_fixture("no_pie", "pie", 100);
	assert_false(symbol_folder_name(folder, false, &symbol));
	symbol_folder_free(folder);
	put_fixture("pie", "pie", 100);
	folder = open_folder(true);
	assert_int_equal(unlink(temp_tree_path(&tree, "pie")), 0);
	assert_false(symbol_folder_name(folder, false, &symbol));
	assert_int_equal(symbol_folder_notes(folder).found, 0);
	symbol_folder_free(folder);
}

static void says_why_a_folder_cannot_be_read(void **state)
{
	struct symbol_folder *folder = NULL;
	struct error error;

	assert_int_equal(symbol_folder_open("/nonexistent/folder", true, &folder, &error), -ENOENT);
	assert_string_equal(error.text, "cannot look for symbols in /nonexistent/folder: "
					"No such file or directory");
	assert_int_equal(symbol_folder_open(FIXTURE_DIR "/pie", true, &folder, &error), -ENOTDIR);
	assert_null(folder);
	symbol_folder_free(NULL);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, make_tree, remove_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TREE(names_functions_and_lines),
		WITH_TREE(a_file_with_names_comes_before_a_stripped_one),
		WITH_TREE(the_next_function_is_not_that_of_a_call_before_it),
		WITH_TREE(what_is_not_there_stays_as_it_is),
		WITH_TREE(other_things_in_the_folder_are_no_harm),
		WITH_TREE(folders_in_folders_have_an_end),
		WITH_TREE(files_that_change_are_not_believed),
		cmocka_unit_test(says_why_a_folder_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
