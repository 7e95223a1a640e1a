// SPDX-License-Identifier: BSD-2-Clause
/* Targets in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "live/live_targets.h"

static void targets_are_described_as_they_were_chosen(void **state)
{
	char *command[] = {(char *)"make", (char *)"-j2", NULL};
	struct live_targets targets = {.follow = PKBPF_FOLLOW_WORKERS};
	struct error error;
	char text[64], cut[12];

	live_targets_describe(&targets, text, sizeof(text));
	assert_string_equal(text, "whole host");
	targets.comm = "postgres";
	live_targets_describe(&targets, text, sizeof(text));
	assert_string_equal(text, "whole host, comm postgres");
	targets.comm = NULL;
	targets.command = command;
	live_targets_describe(&targets, text, sizeof(text));
	assert_string_equal(text, "command make -j2");
	live_targets_describe(&targets, cut, sizeof(cut));
	assert_string_equal(cut, "command mak");
	targets.command = NULL;
	assert_int_equal(parse_u32_list("812,813", "--tid", 9999, &targets.tids, &error), 0);
	live_targets_describe(&targets, text, sizeof(text));
	assert_string_equal(text, "tid 812,813");
	live_targets_done(&targets);
}

static void many_targets_are_counted_and_not_cut_in_mid_number(void **state)
{
	struct live_targets targets = {.follow = PKBPF_FOLLOW_WORKERS};
	char text[128];

	for (uint32_t pid = 1000; pid < 1400; pid++)
		*(uint32_t *)array_add(&targets.pids) = pid;
	live_targets_describe(&targets, text, sizeof(text));
	assert_string_equal(text, "pid "
				  "1000,1001,1002,1003,1004,1005,1006,1007,1008,1009,1010,1011,"
				  "1012,1013,1014,1015,1016,1017 "
				  "... and 382 more and workers");
	live_targets_done(&targets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_described_as_they_were_chosen),
		cmocka_unit_test(many_targets_are_counted_and_not_cut_in_mid_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
