// SPDX-License-Identifier: BSD-2-Clause
/* Tests the table of locks as comma-separated values. */
#include <stdlib.h>

#include "lock_scenario.h"

static void assert_says(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' is not in:\n%s", words, text);
}

static void a_record_has_the_lock_and_its_holder(void **state)
{
	struct fake_profile fake;
	char *text;

	(void)state;
	lock_scenario(&fake, "cache,lock");
	text = fake_profile_write(&fake, "csv-locks", NULL);
	assert_int_equal(strncmp(text, "pid,comm,lock,class,symbol,address,waits,", 41), 0);
	assert_says(text,
		    "\r\n100,server,\"cache,lock (mutex) in exec_query\",mutex,\"cache,lock\","
		    "0x1000,10,10000000,10,");
	assert_says(text, ",1000000,3,10000000,list_append (disk),70.000\r\n");
	assert_says(text, "\r\n101,other,rwlock,rwlock,,0x1000,2,2000000,2,");
	assert_says(text, ",1000000,3,0,,\r\n");
	free(text);
	fake_profile_done(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_record_has_the_lock_and_its_holder)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
