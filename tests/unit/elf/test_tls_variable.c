// SPDX-License-Identifier: BSD-2-Clause
/* Tests for elf/tls_variable: variables of this program, and names that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "elf/tls_variable.h"

extern __thread uint64_t tls_variable_of_test;
__thread uint64_t tls_variable_of_test = 42;
uint64_t no_tls_variable_of_test = 1;

static int find(const char *path, const char *name, struct tls_variable *variable)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file file;
	int err;

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&file, fd), 0);
	err = tls_variable_find(&file, name, variable);
	elf_file_done(&file);
	close(fd);
	return err;
}

static void finds_a_variable_of_the_program(void **state)
{
	struct tls_variable variable;

	(void)state;
	assert_int_equal(find("/proc/self/exe", "tls_variable_of_test", &variable), 0);
#if defined(__x86_64__)
	if (variable.model == TLS_FIXED) {
		uint64_t thread;

		__asm__("mov %%fs:0, %0" : "=r"(thread));
		assert_int_equal(thread + (uint64_t)variable.value,
				 (uint64_t)(uintptr_t)&tls_variable_of_test);
	}
#endif
	assert_int_equal(tls_variable_of_test, 42);
}

static void what_is_no_variable_of_threads_is_not_found(void **state)
{
	struct tls_variable variable;

	(void)state;
	assert_int_equal(find("/proc/self/exe", "no_tls_variable_of_test", &variable), -ENOENT);
	assert_int_equal(find("/proc/self/exe", "there_is_no_such_thing", &variable), -ENOENT);
	assert_int_equal(no_tls_variable_of_test, 1);
}

static void long_names_are_not_looked_for(void **state)
{
	struct tls_variable variable;
	char name[100];

	(void)state;
	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = i + 1 < sizeof(name) ? 'x' : 0;
	assert_int_equal(find("/proc/self/exe", name, &variable), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_a_variable_of_the_program),
		cmocka_unit_test(what_is_no_variable_of_threads_is_not_found),
		cmocka_unit_test(long_names_are_not_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
