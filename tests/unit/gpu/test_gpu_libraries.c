// SPDX-License-Identifier: BSD-2-Clause
/* Tests which libraries of CUDA and HIP are found below a root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "gpu/gpu_libraries.h"
#include "temp_tree.h"

static void those_that_are_there_are_named(void **state)
{
	struct temp_tree tree;
	char text[256];

	temp_tree_init(&tree);
	assert_int_equal(gpu_libraries_find(tree.root, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	temp_tree_file(&tree, "usr/lib64/libcuda.so.1", "");
	temp_tree_file(&tree, "opt/rocm/lib/libamdhip64.so.6", "");
	temp_tree_file(&tree, "opt/rocm/lib/libother.so", "");
	assert_int_equal(gpu_libraries_find(tree.root, text, sizeof(text)), 2);
	assert_string_equal(text, "libcuda.so.1 (/usr/lib64), libamdhip64.so.6 (/opt/rocm/lib)");
	/* What has no room is counted. */
	assert_int_equal(gpu_libraries_find(tree.root, text, 20), 2);
	assert_true(strlen(text) < 20);
	temp_tree_done(&tree);
	(void)state;
}

static void lists_end(void **state)
{
	size_t i = 0;

	while (gpu_library_name_at(i))
		assert_non_null(strstr(gpu_library_name_at(i++), ".so."));
	assert_null(gpu_library_name_at(i + 1));
	for (i = 0; gpu_library_folder_at(i); i++)
		assert_int_equal(gpu_library_folder_at(i)[0], '/');
	assert_true(i > 0);
	(void)state;
}

static void names_of_the_runtime(void **state)
{
	assert_true(gpu_library_is_runtime("/usr/local/cuda/lib64/libcudart.so.12"));
	assert_true(gpu_library_is_runtime("libcudart-d0da41ae.so.11.0"));
	assert_true(gpu_library_is_runtime("/opt/rocm/lib/libamdhip64.so.6"));
	assert_false(gpu_library_is_runtime("/opt/libcudart.so.12/train"));
	assert_false(gpu_library_is_runtime("/usr/lib64/libcuda.so.1"));
	assert_false(gpu_library_is_runtime("/usr/local/cuda/lib64/libcudart_static.a"));
	assert_false(gpu_library_is_runtime(""));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_are_there_are_named),
		cmocka_unit_test(lists_end),
		cmocka_unit_test(names_of_the_runtime),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
