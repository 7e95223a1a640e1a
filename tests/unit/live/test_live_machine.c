// SPDX-License-Identifier: BSD-2-Clause
/* Figures of the machine over intervals, on trees as machines have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "live/live_machine.h"
#include "temp_tree.h"

#define CPU0 "sys/devices/system/cpu/cpu0/"
#define ZONE "sys/class/powercap/intel-rapl:0/"

static void set(struct temp_tree *tree, const char *energy_uj, const char *millicelsius,
		const char *khz, const char *throttles)
{
	temp_tree_file(tree, ZONE "name", "package-0\n");
	temp_tree_file(tree, ZONE "max_energy_range_uj", "262143328850\n");
	temp_tree_file(tree, ZONE "energy_uj", energy_uj);
	temp_tree_file(tree, "sys/class/hwmon/hwmon0/name", "coretemp\n");
	temp_tree_file(tree, "sys/class/hwmon/hwmon0/temp1_input", millicelsius);
	temp_tree_file(tree, CPU0 "cpufreq/scaling_cur_freq", khz);
	temp_tree_file(tree, CPU0 "thermal_throttle/core_throttle_count", throttles);
}

static void figures_are_those_of_their_interval(void **state)
{
	struct temp_tree tree;
	struct live_machine machine;
	struct machine_figures first, second, both;

	temp_tree_init(&tree);
	set(&tree, "1000000\n", "50000\n", "2000000\n", "7\n");
	live_machine_begin(&machine, tree.root, NULL, NS_PER_SECOND);
	set(&tree, "3000000\n", "80000\n", "3000000\n", "9\n");
	/* Not yet time to look. */
	live_machine_look(&machine, NS_PER_SECOND + 1);
	live_machine_look(&machine, machine.next_ns);
	set(&tree, "11000000\n", "60000\n", "1000000\n", "9\n");
	first = live_machine_cut(&machine, 6 * NS_PER_SECOND);
	set(&tree, "12000000\n", "55000\n", "1000000\n", "12\n");
	second = live_machine_cut(&machine, 7 * NS_PER_SECOND);
	live_machine_done(&machine);

	assert_int_equal(first.energy_uj, 10000000);
	assert_int_equal(first.energy_ns, 5 * NS_PER_SECOND);
	assert_string_equal(first.energy_source, "package-0");
	assert_true(machine_mean_watts(&first) == 2);
	assert_int_equal(first.millicelsius, 80000);
	assert_int_equal(first.throttles, 2);
	assert_int_equal(first.min_hz, 1000000000);
	assert_int_equal(first.max_hz, 3000000000);
	assert_true(machine_mean_hz(&first) == 2e9);
	assert_int_equal(second.energy_uj, 1000000);
	assert_int_equal(second.millicelsius, 55000);
	assert_int_equal(second.throttles, 3);
	assert_string_equal(first.counts_reason, "");
	both = (struct machine_figures){.known = false};
	machine_figures_add(&both, &first);
	machine_figures_add(&both, &second);
	assert_int_equal(both.energy_uj, 11000000);
	assert_int_equal(both.energy_ns, 6 * NS_PER_SECOND);
	assert_int_equal(both.millicelsius, 80000);
	assert_int_equal(both.throttles, 5);
	assert_int_equal(both.max_hz, 3000000000);
	temp_tree_done(&tree);
}

static void memory_is_read_as_often_and_the_most_is_kept(void **state)
{
	static const char *const available[] = {"9000", "2000", "7000"};
	struct temp_tree tree;
	struct live_machine machine;
	struct machine_figures first, second;
	char text[128];

	(void)state;
	temp_tree_init(&tree);
	for (size_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "MemTotal: 10000 kB\nMemAvailable: %s kB\n",
			 available[i]);
		temp_tree_file(&tree, "proc/meminfo", text);
		if (!i)
			live_machine_begin(&machine, tree.root, NULL, NS_PER_SECOND);
		else
			live_machine_look(&machine, machine.next_ns);
	}
	first = live_machine_cut(&machine, 6 * NS_PER_SECOND);
	second = live_machine_cut(&machine, 7 * NS_PER_SECOND);
	live_machine_done(&machine);
	assert_int_equal(first.memory_used_peak_bytes, 8000 * 1024);
	assert_int_equal(second.memory_used_peak_bytes, 3000 * 1024);
	machine_figures_add(&second, &first);
	assert_int_equal(second.memory_used_peak_bytes, 8000 * 1024);
	temp_tree_done(&tree);
}

static void what_is_absent_has_a_reason(void **state)
{
	struct temp_tree tree;
	struct live_machine machine;
	const struct live_counted counted = {.wanted = true, .refusal = "not these"};

	temp_tree_init(&tree);
	live_machine_begin(&machine, tree.root, &counted, NS_PER_SECOND);
	live_machine_cut(&machine, 2 * NS_PER_SECOND);
	for (int i = 0; i < 2; i++) {
		struct machine_figures figures =
			live_machine_cut(&machine, (3 + (uint64_t)i) * NS_PER_SECOND);

		assert_true(figures.known);
		assert_int_equal(figures.energy_ns, 0);
		assert_true(figures.energy_reason[0]);
		assert_true(figures.temperature_reason[0]);
		assert_true(figures.frequency_reason[0]);
		assert_string_equal(figures.counts_reason, "not these");
		assert_int_equal(figures.counts_known, 0);
	}
	live_machine_done(&machine);
	temp_tree_done(&tree);
}

static void a_meter_that_goes_away_is_told(void **state)
{
	struct temp_tree tree;
	struct live_machine machine;
	struct machine_figures figures;

	temp_tree_init(&tree);
	set(&tree, "1000000\n", "50000\n", "2000000\n", "7\n");
	live_machine_begin(&machine, tree.root, NULL, NS_PER_SECOND);
	set(&tree, "gone\n", "hot\n", "-3\n", "x\n");
	figures = live_machine_cut(&machine, 3 * NS_PER_SECOND);
	assert_true(figures.energy_reason[0]);
	/* From the reading at the start. */
	assert_int_equal(figures.millicelsius, 50000);
	assert_int_equal(figures.throttles, 0);
	figures = live_machine_cut(&machine, 4 * NS_PER_SECOND);
	assert_int_equal(figures.energy_ns, 0);
	assert_true(figures.energy_reason[0]);
	assert_true(figures.temperature_reason[0]);
	live_machine_done(&machine);
	temp_tree_done(&tree);
}

static void counts_the_threads_of_a_process(void **state)
{
	struct temp_tree tree;
	struct live_machine machine;
	uint32_t own = (uint32_t)getpid();
	const struct live_counted counted = {.wanted = true, .pids = &own, .pid_count = 1};
	struct machine_figures figures;
	volatile uint64_t sum = 0;

	temp_tree_init(&tree);
	live_machine_begin(&machine, tree.root, &counted, NS_PER_SECOND);
	for (uint64_t i = 0; i < 10000000; i++)
		sum += i;
	(void)sum;
	figures = live_machine_cut(&machine, 2 * NS_PER_SECOND);
	live_machine_done(&machine);
	temp_tree_done(&tree);
	if (!(figures.counts_known & 1U << MACHINE_INSTRUCTIONS)) {
		assert_true(figures.counts_reason[0]);
		print_message("NOT CHECKED: %s\n", figures.counts_reason);
		return;
	}
	assert_true(figures.counts[MACHINE_INSTRUCTIONS] > 10000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_of_their_interval),
		cmocka_unit_test(memory_is_read_as_often_and_the_most_is_kept),
		cmocka_unit_test(what_is_absent_has_a_reason),
		cmocka_unit_test(a_meter_that_goes_away_is_told),
		cmocka_unit_test(counts_the_threads_of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
