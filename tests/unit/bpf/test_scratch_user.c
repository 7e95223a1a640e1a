// SPDX-License-Identifier: BSD-2-Clause
/* Tests for bpf/scratch_user.bpf.h: scratch memory has one user at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/types.h>
#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#include "scratch_user.bpf.h"

static void is_free_again_when_its_user_leaves(void **state)
{
	__u32 users = 0;

	for (int i = 0; i < 3; i++) {
		assert_true(scratch_enter(&users));
		assert_false(scratch_enter(&users));
		assert_false(scratch_enter(&users));
		scratch_leave(&users);
		assert_int_equal(users, 0);
	}
}

#if defined(__x86_64__)

#define TRAP_FLAG 0x100

/* A handler changes all of it; the code under test uses the first. */
static struct {
	__u32 users;
	volatile uint32_t steps, preempted_at; /* instructions */
	volatile bool is_stepping, other_entered;
} cpu;

/* After each instruction; at one of them another program preempts this one, and stays inside. */
static void step(int signal_number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	if (++cpu.steps == cpu.preempted_at)
		cpu.other_entered = scratch_enter(&cpu.users);
	if (cpu.is_stepping)
		interrupted->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	else
		interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

/* false: it was inside before so many instructions. */
static bool enter_preempted(uint32_t preempted_at, bool *ret_entered)
{
	cpu.users = cpu.steps = 0;
	cpu.other_entered = false;
	cpu.preempted_at = preempted_at;
	cpu.is_stepping = true;
	raise(SIGTRAP);
	*ret_entered = scratch_enter(&cpu.users);
	cpu.is_stepping = false;
	return cpu.steps >= preempted_at;
}

static void is_not_shared_by_one_that_preempts_another(void **state)
{
	struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO}, before;
	uint32_t refused = 0, at = 1;
	bool entered;

	assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
	for (; enter_preempted(at, &entered); at++) {
		if (entered && cpu.other_entered)
			break;
		refused += entered && !cpu.other_entered;
	}
	sigaction(SIGTRAP, &before, NULL);
	assert_false(entered && cpu.other_entered);
	/* Some of them came while the first was on its way. */
	assert_true(refused > 0);
	assert_true(at > 10);
}

#else

static void is_not_shared_by_one_that_preempts_another(void **state)
{
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_free_again_when_its_user_leaves),
		cmocka_unit_test(is_not_shared_by_one_that_preempts_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
