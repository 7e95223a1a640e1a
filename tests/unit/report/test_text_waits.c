// SPDX-License-Identifier: BSD-2-Clause
/* Tests that the states of threads by context switches say what they do not divide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "export/format.h"

#define SECOND 1000000000ULL
#define PID    5
#define NOTE   "On-CPU and sleep include GPU waits here."

/* A thread that sleeps below this function. */
static char *report_of(uint64_t function)
{
	const struct format_options options = {
		.kind = PKBPF_PROFILE_OFFCPU, .top = 10, .full = true, .details = true};
	struct fake_profile fake;
	char *text;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, 5 * SECOND, 15 * SECOND);
	account_process(&fake,
			&(struct account_process){.pid = PID, .comm = "train", .run_ns = SECOND});
	account_on_cpu(&fake, PID, "train", SECOND);
	account_waits(&fake, PID, "train", PKBPF_WAIT_SLEEP, 100, 9 * SECOND / 100, 1,
		      FAKE_IPS(ACCOUNT_FUTEX), FAKE_IPS(function, ACCOUNT_MAIN));
	account_end(&fake);
	text = fake_profile_write(&fake, "text", &options);
	fake_profile_done(&fake);
	assert_non_null(strstr(text, "Thread states by process"));
	return text;
}

static void gpu_waits_are_named_where_there_are_some(void **state)
{
	char *text = report_of(ACCOUNT_GPU_WAIT);

	assert_non_null(strstr(text, NOTE));
	free(text);
	text = report_of(ACCOUNT_QUERY);
	assert_null(strstr(text, NOTE));
	free(text);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpu_waits_are_named_where_there_are_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
