// SPDX-License-Identifier: BSD-2-Clause
/* Tests for symbol/elf/elf_notes: what people are told, and of which files. */
#include "symbol/elf/elf_notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "temp_tree.h"

static void says_what_is_missing_of_a_file(void **state)
{
	struct symbol_notes notes = {0};

	elf_notes_missing(&notes, "/bin/x", NULL);
	assert_int_equal(notes.count, 0);
	elf_notes_missing(&notes, "/bin/x", "damaged");
	elf_notes_missing(&notes, "/bin/x", "damaged");
	assert_int_equal(notes.count, 1);
	assert_string_equal(notes.items[0], "inlined functions are missing in /bin/x, whose debug "
					    "information is incomplete: damaged");
	symbol_notes_done(&notes);
}

static void says_how_a_c_library_gets_names(void **state)
{
	struct debug_file_search search = {.debug_dir = "/usr/lib/debug", .path = "/lib/libc.so.6"};
	struct symbol_notes notes = {0};
	struct temp_tree tree;

	temp_tree_init(&tree);
	search.root = tree.root;
	elf_notes_unresolved(&notes, "libcrypto.so.3", &search, false);
	assert_int_equal(notes.count, 0);
	elf_notes_unresolved(&notes, "libc.so.6", &search, true);
	assert_int_equal(notes.count, 1);
	assert_string_equal(notes.items[0],
			    "libc.so.6 has no names for functions of its own, such as those that "
			    "begin threads: install the debug symbols of the C library");
	temp_tree_file(&tree, "etc/os-release", "ID=debian\n");
	elf_notes_unresolved(&notes, "libc.so.6", &search, false);
	assert_int_equal(notes.count, 2);
	assert_string_equal(notes.items[1],
			    "libc.so.6 has no names for functions of its own, such as those that "
			    "begin threads: install libc6-dbg, or use --debuginfod");
	symbol_notes_done(&notes);
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_is_missing_of_a_file),
		cmocka_unit_test(says_how_a_c_library_gets_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
