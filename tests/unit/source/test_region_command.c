// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/regions: the files of a command before it starts, and functions that the dynamic
 * linker chooses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "temp_tree.h"
#include "source/regions/function_chosen.h"
#include "source/regions/region_command.h"

#define FOUND_MAX 300

static struct {
	char paths[FOUND_MAX][PATH_MAX];
	size_t count;
} found;

static void take(void *context, int fd, const char *path)
{
	char magic[4];

	assert_ptr_equal(context, &found);
	assert_int_equal(pread(fd, magic, sizeof(magic), 0), sizeof(magic));
	assert_memory_equal(magic, "\177ELF", sizeof(magic));
	assert_true(found.count < FOUND_MAX);
	snprintf(found.paths[found.count++], PATH_MAX, "%s", path);
}

static void find(const char *command)
{
	found.count = 0;
	region_command_files(command, take, &found);
}

static bool has(const char *part)
{
	for (size_t i = 0; i < found.count; i++)
		if (strstr(found.paths[i], part))
			return true;
	return false;
}

static int start(void **state)
{
	static struct temp_tree tree;

	temp_tree_init(&tree);
	*state = &tree;
	return 0;
}

static int stop(void **state)
{
	temp_tree_done(*state);
	return 0;
}

/* This program, which is linked with the C library unless it is static. */
static void a_program_comes_with_its_libraries(void **state)
{
	find("/proc/self/exe");
	assert_true(found.count >= 1);
	assert_string_equal(found.paths[0], "/proc/self/exe");
	assert_true(has("libc.so"));
	for (size_t i = 0; i < found.count; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(found.paths[i], found.paths[j]);
}

static void a_script_comes_with_its_interpreter(void **state)
{
	struct temp_tree *tree = *state;

	temp_tree_file(tree, "plain", "#!/proc/self/exe\ntrue\n");
	find(temp_tree_path(tree, "plain"));
	assert_true(found.count >= 1);
	assert_string_equal(found.paths[0], "/proc/self/exe");
	temp_tree_file(tree, "by_env", "#! /usr/bin/env -S /proc/self/exe -x\n");
	find(temp_tree_path(tree, "by_env"));
	assert_true(found.count >= 1);
	assert_string_equal(found.paths[0], "/proc/self/exe");
}

static void the_path_is_searched_in_its_order(void **state)
{
	struct temp_tree *tree = *state;
	char *before = strdup(getenv("PATH") ? getenv("PATH") : ""), path[PATH_MAX];

	temp_tree_folder(tree, "empty");
	temp_tree_link(tree, "first/tool", "/proc/self/exe");
	temp_tree_link(tree, "second/tool", "/proc/self/exe");
	snprintf(path, sizeof(path), "%s::%s:%s", temp_tree_path(tree, "empty"),
		 temp_tree_path(tree, "first"), temp_tree_path(tree, "second"));
	setenv("PATH", path, 1);
	find("tool");
	setenv("PATH", before, 1);
	free(before);
	assert_true(found.count >= 1);
	assert_string_equal(found.paths[0], temp_tree_path(tree, "first/tool"));
}

static void what_cannot_run_has_no_files(void **state)
{
	struct temp_tree *tree = *state;

	find(temp_tree_path(tree, "missing"));
	assert_int_equal(found.count, 0);
	temp_tree_file(tree, "text", "no program\n");
	find(temp_tree_path(tree, "text"));
	assert_int_equal(found.count, 0);
	/* It leads to itself. */
	snprintf(found.paths[0], PATH_MAX, "#!%s\n", temp_tree_path(tree, "loop"));
	temp_tree_file(tree, "loop", found.paths[0]);
	find(temp_tree_path(tree, "loop"));
	assert_int_equal(found.count, 0);
	temp_tree_file(tree, "nothing", "#!  \n");
	find(temp_tree_path(tree, "nothing"));
	assert_int_equal(found.count, 0);
}

static void the_linker_of_this_program_chooses_functions(void **state)
{
	struct link_map *library = NULL;
	struct elf_file file;
	uint64_t address = 0;
	Dl_info info;
	void *chosen = dlsym(RTLD_DEFAULT, "strnlen");
	int fd;

	if (!chosen || !dladdr1(chosen, &info, (void **)&library, RTLD_DL_LINKMAP) || !library ||
	    !library->l_name[0])
		skip();
	fd = open(library->l_name, O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_true(function_chosen_find(&file, "strnlen", &address));
	assert_true(address == (uint64_t)(uintptr_t)chosen - library->l_addr);
	assert_false(function_chosen_find(&file, "no_such_function", &address));
	elf_file_done(&file);
	close(fd);
	/* Another file has other addresses. */
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_false(function_chosen_find(&file, "strnlen", &address));
	elf_file_done(&file);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_program_comes_with_its_libraries, start, stop),
		cmocka_unit_test_setup_teardown(a_script_comes_with_its_interpreter, start, stop),
		cmocka_unit_test_setup_teardown(the_path_is_searched_in_its_order, start, stop),
		cmocka_unit_test_setup_teardown(what_cannot_run_has_no_files, start, stop),
		cmocka_unit_test(the_linker_of_this_program_chooses_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
