// SPDX-License-Identifier: BSD-2-Clause
/* Targets in words, and as options of a session. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "capture/session/session.h"
#include "live/live_targets.h"
#include "process/cgroup/cgroup.h"

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
	assert_string_equal(text, "command make");
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

static void the_session_gets_exactly_one_kind_of_target(void **state)
{
	static uint32_t numbers[] = {7, 8};
	static const struct {
		size_t pids, tids;
		const char *cgroup_path;
		uint32_t command_pid;
		enum pkbpf_follow follow;
		enum pkbpf_target_mode mode;
		enum pkbpf_follow followed;
	} rows[] = {
		{0, 0, NULL, 0, PKBPF_FOLLOW_WORKERS, PKBPF_TARGET_HOST, PKBPF_FOLLOW_WORKERS},
		{2, 0, NULL, 0, PKBPF_FOLLOW_NONE, PKBPF_TARGET_PROCESS, PKBPF_FOLLOW_NONE},
		{0, 2, NULL, 0, PKBPF_FOLLOW_WORKERS, PKBPF_TARGET_THREAD, PKBPF_FOLLOW_WORKERS},
		{0, 0, "/c", 0, PKBPF_FOLLOW_WORKERS, PKBPF_TARGET_CGROUP, PKBPF_FOLLOW_WORKERS},
		{0, 0, NULL, 9, PKBPF_FOLLOW_WORKERS, PKBPF_TARGET_PROCESS,
		 PKBPF_FOLLOW_DESCENDANTS},
		{0, 0, NULL, 9, PKBPF_FOLLOW_NONE, PKBPF_TARGET_PROCESS, PKBPF_FOLLOW_NONE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct live_targets targets = {
			.pids = {numbers, rows[i].pids, 0},
			.tids = {numbers, rows[i].tids, 0},
			.cgroup_path = rows[i].cgroup_path,
			.comm = "a",
			.follow = rows[i].follow,
		};
		static const struct cgroup_paths cgroups;
		struct session_options session = {0};

		live_targets_choose(&targets, &cgroups, &rows[i].command_pid, &session);
		assert_int_equal(session.target_mode, rows[i].mode);
		assert_int_equal(session.follow, rows[i].followed);
		assert_string_equal(session.comm, "a");
		assert_int_equal(session.pid_count, rows[i].command_pid ? 1 : rows[i].pids);
		assert_int_equal(session.tid_count, rows[i].tids);
		assert_ptr_equal(session.cgroups, rows[i].cgroup_path ? &cgroups : NULL);
		assert_int_equal(session.waiting_pid, rows[i].command_pid);
		if (session.pid_count)
			assert_int_equal(session.pids[0],
					 rows[i].command_pid ? rows[i].command_pid : 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_described_as_they_were_chosen),
		cmocka_unit_test(the_session_gets_exactly_one_kind_of_target),
		cmocka_unit_test(many_targets_are_counted_and_not_cut_in_mid_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
