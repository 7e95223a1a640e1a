// SPDX-License-Identifier: BSD-2-Clause
/* Tests which files and functions a pattern of --function means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "source/regions/function_match.h"
#include "source/regions/syscall_names.h"

/* false: it is none. The text lives until the next call. */
static bool parse(const char *text, struct function_pattern *pattern)
{
	static char copy[128];

	snprintf(copy, sizeof(copy), "%s", text);
	return function_pattern_parse(copy, pattern);
}

static void patterns_have_a_library_and_a_name_or_an_address(void **state)
{
	static const struct {
		const char *text, *library, *glob;
		uint64_t address;
	} rows[] = {
		{"main", NULL, "main", 0},
		{"libc:malloc*", "libc", "malloc*", 0},
		{"ns::Class::run", NULL, "ns::Class::run", 0},
		{"libx:ns::run", "libx", "ns::run", 0},
		{"0x401000", NULL, "0x401000", 0x401000},
		{"libc:0x2f0", "libc", "0x2f0", 0x2f0},
	};
	struct function_pattern pattern;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(parse(rows[i].text, &pattern));
		assert_string_equal(pattern.glob, rows[i].glob);
		assert_int_equal(pattern.address, rows[i].address);
		if (rows[i].library)
			assert_string_equal(pattern.library, rows[i].library);
		else
			assert_null(pattern.library);
	}
}

static void what_is_no_pattern_is_refused(void **state)
{
	static const char *const texts[] = {
		"", "libc:", ":malloc", "0x", "0x40zz", "0x0", "0x10000000000000000", "libc:0xq"};
	struct function_pattern pattern;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (parse(texts[i], &pattern))
			fail_msg("'%s' is a pattern", texts[i]);
}

static void a_library_is_meant_by_its_name_without_a_version(void **state)
{
	static const struct {
		const char *text, *path;
		bool expected;
	} rows[] = {
		{"main", "/usr/bin/app", true},
		{"main", "/usr/lib/libc.so.6", false},
		{"main", "/usr/lib/libx.so", false},
		{"main", "/usr/bin/app.sock", true},
		{"libc:f", "/usr/lib/libc.so.6", true},
		{"libc:f", "/usr/lib/libc-2.31.so", false},
		{"libc*:f", "/usr/lib/libc-2.31.so", true},
		{"libc:f", "/usr/lib/libcrypt.so.1", false},
		{"libc.so.6:f", "/lib/libc.so.6", true},
		{"app:f", "/usr/bin/app", true},
		{"app:f", "/usr/bin/other", false},
	};
	struct function_pattern pattern;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(parse(rows[i].text, &pattern));
		if (function_pattern_has_file(&pattern, rows[i].path) != rows[i].expected)
			fail_msg("%s: %s", rows[i].text, rows[i].path);
	}
}

static void names_are_meant_mangled_or_not(void **state)
{
	static const struct {
		const char *text, *name, *expected; /* NULL: not meant */
	} rows[] = {
		{"work", "work", "work"},
		{"wor?", "work", "work"},
		{"wor", "work", NULL},
		{"ns::Class::method", "_ZN2ns5Class6methodEi", "ns::Class::method"},
		{"_ZN2ns*", "_ZN2ns5Class6methodEi", "ns::Class::method"},
		{"ns::Other::*", "_ZN2ns5Class6methodEi", NULL},
	};
	struct function_pattern pattern;
	char name[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(parse(rows[i].text, &pattern));
		if (function_pattern_means(&pattern, rows[i].name, name, sizeof(name)) !=
		    !!rows[i].expected)
			fail_msg("%s: %s", rows[i].text, rows[i].name);
		if (rows[i].expected)
			assert_string_equal(name, rows[i].expected);
	}
}

/* strlen() of the C library that this test uses. */
static void a_chosen_function_is_the_one_of_this_machine(void **state)
{
	size_t (*volatile length)(const char *) = strlen;
	struct matched_functions matches = {0};
	struct function_pattern pattern;
	struct link_map *library = NULL;
	struct elf_file file;
	Dl_info info;
	int fd;

	assert_true(dladdr1((void *)(uintptr_t)length, &info, (void **)&library, RTLD_DL_LINKMAP));
	fd = open(library->l_name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || dlsym(RTLD_DEFAULT, "strlen") != (void *)(uintptr_t)length)
		skip(); /* a sanitizer's */
	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_true(parse("libc:strlen", &pattern));
	assert_int_equal(function_match(&file, library->l_name, &pattern, &matches), 0);
	assert_int_equal(matches.chosen_later, 0);
	assert_int_equal(matches.items.count, 1);
	assert_true(matches.items.items[0].address ==
		    (uint64_t)(uintptr_t)length - library->l_addr);
	assert_string_equal(matches.items.items[0].name, "strlen");
	matched_functions_done(&matches);
	elf_file_done(&file);
	close(fd);
}

int has_two_names(int value);
int second_name(int value) __attribute__((alias("has_two_names")));

__attribute__((noinline)) int has_two_names(int value)
{
	return value * 2;
}

static void both_names_of_an_address_mean_a_function(void **state)
{
	struct matched_functions matches = {0};
	struct function_pattern pattern;
	struct elf_file file;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_true(parse("has_two_names", &pattern));
	assert_int_equal(function_match(&file, "app", &pattern, &matches), 0);
	assert_int_equal(matches.meant, 1);
	assert_true(parse("second_name", &pattern));
	assert_int_equal(function_match(&file, "app", &pattern, &matches), 0);
	assert_int_equal(matches.meant, 2);
	assert_int_equal(matches.items.count, 1);
	matched_functions_done(&matches);
	elf_file_done(&file);
	close(fd);
}

static void system_calls_have_their_names(void **state)
{
	bool found = false;

	for (uint32_t i = 0; i < 400; i++) {
		const char *name = syscall_name(i);

		found |= name && strcmp(name, "openat") == 0;
	}
	assert_true(found);
	assert_null(syscall_name(UINT32_MAX));
	assert_int_equal(syscall_match_count("openat"), 1);
	assert_true(syscall_match_count("openat*") >= 2);
	assert_int_equal(syscall_match_count("openat_"), 0);
	assert_true(syscall_match_count("*") > 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_have_a_library_and_a_name_or_an_address),
		cmocka_unit_test(what_is_no_pattern_is_refused),
		cmocka_unit_test(a_library_is_meant_by_its_name_without_a_version),
		cmocka_unit_test(names_are_meant_mangled_or_not),
		cmocka_unit_test(a_chosen_function_is_the_one_of_this_machine),
		cmocka_unit_test(both_names_of_an_address_mean_a_function),
		cmocka_unit_test(system_calls_have_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
