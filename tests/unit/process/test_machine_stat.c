// SPDX-License-Identifier: BSD-2-Clause
/* Tests reading the machine's own account. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "process/machine_stat.h"

static void takes_all_times_and_the_memory(void **state)
{
	struct pkbpf_event_machine machine;

	assert_int_equal(
		machine_stat_parse("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 9 9 9 9\n",
				   "MemTotal:  100 kB\nMemFree: 7 kB\nMemAvailable:    50 kB\n",
				   100, &machine),
		0);
	assert_int_equal(machine.user_ns, 10000000);
	assert_int_equal(machine.nice_ns, 20000000);
	assert_int_equal(machine.system_ns, 30000000);
	assert_int_equal(machine.idle_ns, 40000000);
	assert_int_equal(machine.iowait_ns, 50000000);
	assert_int_equal(machine.irq_ns, 60000000);
	assert_int_equal(machine.softirq_ns, 70000000);
	assert_int_equal(machine.steal_ns, 80000000);
	assert_int_equal(machine.memory_bytes, 102400);
	assert_int_equal(machine.memory_available_bytes, 51200);
}

static void cpus_that_are_online_have_a_line_each(void **state)
{
	struct pkbpf_event_machine machine;

	assert_int_equal(machine_stat_parse("cpu  1 2 3 4 5 6 7 8\ncpu0 1 2\ncpu12 3 4\n"
					    "intr 5\ncpuset 9\n",
					    "", 100, &machine),
			 0);
	assert_int_equal(machine.cpu_count, 2);
}

static void memory_that_is_not_told_is_zero(void **state)
{
	struct pkbpf_event_machine machine;

	assert_int_equal(machine_stat_parse("cpu  1 2 3 4 5 6 7 8\n", "", 100, &machine), 0);
	assert_int_equal(machine.memory_bytes, 0);
}

static void refuses_what_is_no_stat(void **state)
{
	struct pkbpf_event_machine machine;

	assert_int_equal(machine_stat_parse("", "", 100, &machine), -74);
	assert_int_equal(machine_stat_parse("cpu  1 2 3\n", "", 100, &machine), -74);
	assert_int_equal(machine_stat_parse("cpu  1 2 3 4 5 6 7 x\n", "", 100, &machine), -74);
	assert_int_equal(machine_stat_parse("cpu0 1 2 3 4 5 6 7 8\n", "", 100, &machine), -74);
	assert_int_equal(machine_stat_parse("cpu  1 2 3 4 5 6 7 8\n", "", 0, &machine), -74);
}

static void this_machine_has_been_idle_or_busy(void **state)
{
	struct pkbpf_event_machine machine;

	assert_int_equal(machine_stat_read("/proc", &machine), 0);
	assert_true(machine.user_ns + machine.system_ns + machine.idle_ns > 0);
	assert_true(machine.memory_bytes > machine.memory_available_bytes);
	assert_true(machine.header.time_ns > 0);
	assert_true(machine.cpu_count > 0);
	assert_int_equal(machine_stat_read("/nowhere", &machine), -2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_all_times_and_the_memory),
		cmocka_unit_test(cpus_that_are_online_have_a_line_each),
		cmocka_unit_test(memory_that_is_not_told_is_zero),
		cmocka_unit_test(refuses_what_is_no_stat),
		cmocka_unit_test(this_machine_has_been_idle_or_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
