// SPDX-License-Identifier: BSD-2-Clause
/* Tests the states of stacks below calls of a GPU's libraries in folded stacks. */
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

/* A thread that computes and sleeps below this function. */
static char *folded_of(uint64_t function, enum pkbpf_profile_kind kind)
{
	const struct format_options options = {.kind = kind, .wait_states = true};
	struct fake_profile fake;
	char *text;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_OFFCPU, 5 * SECOND,
		      15 * SECOND);
	account_process(&fake,
			&(struct account_process){.pid = PID, .comm = "train", .run_ns = SECOND});
	account_samples(&fake, PID, "train", 99, FAKE_IPS(function, ACCOUNT_MAIN));
	account_waits(&fake, PID, "train", PKBPF_WAIT_SLEEP, 100, 9 * SECOND / 100, 1,
		      FAKE_IPS(ACCOUNT_FUTEX), FAKE_IPS(function, ACCOUNT_MAIN));
	account_end(&fake);
	text = fake_profile_write(&fake, "folded", &options);
	fake_profile_done(&fake);
	return text;
}

static void assert_state(uint64_t function, enum pkbpf_profile_kind kind, const char *state,
			 bool expected)
{
	char *text = folded_of(function, kind);

	if ((strstr(text, state) != NULL) != expected)
		fail_msg("'%s' is %sin:\n%s", state, expected ? "not " : "", text);
	free(text);
}

static void only_calls_that_do_nothing_else_spin(void **state)
{
	assert_state(ACCOUNT_GPU_WAIT, PKBPF_PROFILE_CPU, "[gpu wait, spinning] 99", true);
	assert_state(ACCOUNT_GPU_COPY, PKBPF_PROFILE_CPU, "[gpu wait", false);
	assert_state(ACCOUNT_QUERY, PKBPF_PROFILE_CPU, "[gpu wait", false);
	(void)state;
}

static void who_sleeps_in_a_copy_waits(void **state)
{
	assert_state(ACCOUNT_GPU_WAIT, PKBPF_PROFILE_OFFCPU, "[gpu wait]", true);
	assert_state(ACCOUNT_GPU_COPY, PKBPF_PROFILE_OFFCPU, "[gpu wait]", true);
	assert_state(ACCOUNT_GPU_LAUNCH, PKBPF_PROFILE_OFFCPU, "[gpu wait]", false);
	assert_state(ACCOUNT_GPU_LAUNCH, PKBPF_PROFILE_OFFCPU, "[sleep]", true);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_calls_that_do_nothing_else_spin),
		cmocka_unit_test(who_sleeps_in_a_copy_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
