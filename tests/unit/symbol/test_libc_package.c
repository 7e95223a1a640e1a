// SPDX-License-Identifier: BSD-2-Clause
/* Tests what systems are told to install for the names of their C library. */
#include "symbol/elf/libc_package.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"

static void knows_c_libraries_by_name(void **state)
{
	assert_true(libc_is_file("libc.so.6"));
	assert_true(libc_is_file("libc-2.31.so"));
	assert_true(libc_is_file("libpthread-2.31.so"));
	assert_true(libc_is_file("ld-musl-x86_64.so.1"));
	assert_false(libc_is_file("libcrypto.so.3"));
	assert_false(libc_is_file("libc.so"));
}

static void names_the_package_of_the_system(void **state)
{
	static const struct {
		const char *file, *os_release, *advice;
	} cases[] = {
		{"libc.so.6", "PRETTY_NAME=\"Debian\"\nID=debian\n", "install libc6-dbg"},
		{"libc.so.6", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"", "install libc6-dbg"},
		{"libc.so.6", "ID=\"fedora\"\n", "dnf debuginfo-install glibc"},
		{"libc.so.6", "ID='rocky'\nID_LIKE='rhel centos fedora'\n",
		 "dnf debuginfo-install glibc"},
		{"libc.so.6", "ID=opensuse-leap\nID_LIKE=\"suse opensuse\"\n",
		 "zypper install glibc-debuginfo"},
		{"ld-musl-x86_64.so.1", "ID=alpine\nVERSION_ID=3\n", "apk add musl-dbg"},
		/* A musl of somebody's own on Debian is in no package there. */
		{"ld-musl-x86_64.so.1", "ID=debian\n", NULL},
		{"libc.so.6", "ID=arch\n", NULL},
		{"libc.so.6", "VERSION_ID=debian\nNAME=ID=debian\n", NULL},
		{"libc.so.6", "ID=debianoid\nID_LIKE=\n", NULL},
		{"libc.so.6", "ID=\"", NULL},
		{"libc.so.6", "", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *advice = libc_package_advice(cases[i].file, cases[i].os_release);

		if (cases[i].advice)
			assert_string_equal(advice, cases[i].advice);
		else
			assert_null(advice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_c_libraries_by_name),
		cmocka_unit_test(names_the_package_of_the_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
