// SPDX-License-Identifier: BSD-2-Clause
/* Tests for cli/doctor_java: the remedy fits the error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "cli/doctor_java.h"

static void a_remedy_fits_its_error(void **state)
{
	(void)state;
	assert_string_equal(doctor_java_remedy(-EPERM), "run as root, or with CAP_SYS_PTRACE");
	assert_string_equal(doctor_java_remedy(-EACCES), "run as root, or with CAP_SYS_PTRACE");
	assert_string_equal(doctor_java_remedy(-ESRCH), "the process has exited");
	assert_string_equal(doctor_java_remedy(-EBADMSG), "try again when the JVM has started");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_remedy_fits_its_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
