// SPDX-License-Identifier: BSD-2-Clause
/* Who is behind sudo. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/invoking_user.h"

static int find(const char *uid, const char *gid, struct invoking_user *ret_user,
		struct error *error)
{
	if (uid)
		setenv("SUDO_UID", uid, 1);
	else
		unsetenv("SUDO_UID");
	if (gid)
		setenv("SUDO_GID", gid, 1);
	else
		unsetenv("SUDO_GID");
	return invoking_user_find(ret_user, error);
}

static void without_sudo_there_is_nobody_else(void **state)
{
	struct invoking_user user;
	struct error error;

	assert_int_equal(find(NULL, NULL, &user, &error), 0);
	assert_false(user.behind_sudo);
	assert_int_equal(find("0", "0", &user, &error), 0);
	assert_false(user.behind_sudo);
}

static void only_root_believes_the_environment(void **state)
{
	struct invoking_user user;
	struct error error;

	assert_int_equal(find("65534", "65534", &user, &error), 0);
	assert_int_equal(user.behind_sudo, geteuid() == 0);
	invoking_user_done(&user);
}

static void ids_and_names_come_from_sudo_and_the_user_database(void **state)
{
	struct invoking_user user;
	struct error error;

	if (geteuid() != 0)
		skip();
	assert_int_equal(find("1", "7", &user, &error), 0);
	assert_true(user.behind_sudo);
	assert_int_equal(user.uid, 1);
	assert_int_equal(user.gid, 7);
	assert_string_equal(user.name, "daemon");
	assert_non_null(user.home);
	invoking_user_done(&user);

	/* a uid nobody has heard of still owns its files */
	assert_int_equal(find("3999999999", "4000000000", &user, &error), 0);
	assert_true(user.uid == 3999999999U && user.gid == 4000000000U);
	assert_null(user.name);
	invoking_user_done(&user);
}

static void ids_that_are_no_numbers_are_refused(void **state)
{
	struct invoking_user user;
	struct error error;

	if (geteuid() != 0)
		skip();
	assert_true(find("root", "0", &user, &error) < 0);
	assert_non_null(strstr(error.text, "SUDO_UID"));
	assert_true(find("1", "-1", &user, &error) < 0);
	assert_non_null(strstr(error.text, "SUDO_GID"));
	assert_true(find("4294967295", "1", &user, &error) < 0);
	assert_true(find("", "1", &user, &error) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_sudo_there_is_nobody_else),
		cmocka_unit_test(only_root_believes_the_environment),
		cmocka_unit_test(ids_and_names_come_from_sudo_and_the_user_database),
		cmocka_unit_test(ids_that_are_no_numbers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
