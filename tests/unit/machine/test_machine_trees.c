// SPDX-License-Identifier: BSD-2-Clause
/* Readers of the machine on trees as these machines have them: a client, a server with two
 * packages, an AMD, an Arm board, a laptop on its battery, a virtual machine with nothing, and
 * broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "machine/energy.h"
#include "machine/frequency.h"
#include "machine/temperature.h"
#include "temp_tree.h"

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-6)

static void add_cpu(struct temp_tree *tree, int cpu, const char *khz, const char *throttles)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
	if (khz)
		temp_tree_file(tree, path, khz);
	snprintf(path, sizeof(path),
		 "sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", cpu);
	if (throttles)
		temp_tree_file(tree, path, throttles);
}

static void add_zone(struct temp_tree *tree, const char *zone, const char *name, const char *energy)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/class/powercap/%s/name", zone);
	temp_tree_file(tree, path, name);
	snprintf(path, sizeof(path), "sys/class/powercap/%s/energy_uj", zone);
	temp_tree_file(tree, path, energy);
	snprintf(path, sizeof(path), "sys/class/powercap/%s/max_energy_range_uj", zone);
	temp_tree_file(tree, path, "262143328850\n");
}

static void reads_an_intel_client(void **state)
{
	struct temp_tree tree;
	struct temperature temperature;
	struct frequency frequency;
	struct energy_meter meter;
	struct error error;
	uint64_t throttles;
	double joules;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "sys/class/hwmon/hwmon0/name", "acpitz\n");
	temp_tree_file(&tree, "sys/class/hwmon/hwmon0/temp1_input", "99000\n");
	temp_tree_file(&tree, "sys/class/hwmon/hwmon3/name", "coretemp\n");
	temp_tree_file(&tree, "sys/class/hwmon/hwmon3/temp1_input", "51000\n");
	temp_tree_file(&tree, "sys/class/hwmon/hwmon3/temp2_input", "63000\n");
	temp_tree_file(&tree, "sys/class/hwmon/hwmon3/temp2_crit", "100000\n");
	add_cpu(&tree, 0, "3400000\n", "3\n");
	add_cpu(&tree, 1, "1400000\n", "4\n");
	temp_tree_file(&tree, "sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2400000\n");
	temp_tree_folder(&tree, "sys/devices/system/cpu/cpufreq");
	add_zone(&tree, "intel-rapl:0", "package-0\n", "1000000\n");
	add_zone(&tree, "intel-rapl:0:0", "core\n", "900000\n");
	add_zone(&tree, "intel-rapl:1", "psys\n", "5000000\n");
	add_zone(&tree, "intel-rapl-mmio:0", "package-0\n", "1000000\n");

	assert_true(temperature_read(tree.root, &temperature, &error));
	assert_near(temperature.celsius, 63);
	assert_string_equal(temperature.sensor, "coretemp");
	assert_true(throttle_count_read(tree.root, &throttles));
	assert_int_equal(throttles, 7);
	assert_true(frequency_read(tree.root, &frequency, &error));
	assert_near(frequency.mean_hz, 2.4e9);
	assert_near(frequency.min_hz, 1.4e9);
	assert_near(frequency.max_hz, 3.4e9);
	assert_near(frequency.base_hz, 2.4e9);
	assert_int_equal(frequency.cpus, 2);
	assert_true(energy_meter_open(&meter, tree.root, 0, &error));
	assert_int_equal(meter.zone_count, 1);
	assert_string_equal(meter.name, "package-0");
	add_zone(&tree, "intel-rapl:0", "package-0\n", "13500000\n");
	assert_true(energy_meter_read(&meter, tree.root, NS_PER_SECOND, &joules));
	assert_near(joules, 12.5);
	temp_tree_done(&tree);
}

static void adds_up_the_packages_of_a_server(void **state)
{
	struct temp_tree tree;
	struct energy_meter meter;
	struct error error;
	double joules;

	temp_tree_init(&tree);
	add_zone(&tree, "intel-rapl:0", "package-0\n", "262143000000\n");
	add_zone(&tree, "intel-rapl:0:0", "dram\n", "7\n");
	add_zone(&tree, "intel-rapl:1", "package-1\n", "10\n");
	assert_true(energy_meter_open(&meter, tree.root, 0, &error));
	assert_int_equal(meter.zone_count, 2);
	assert_string_equal(meter.name, "package-0, package-1");
	/* The first one has begun anew. */
	add_zone(&tree, "intel-rapl:0", "package-0\n", "671150\n");
	add_zone(&tree, "intel-rapl:1", "package-1\n", "1000010\n");
	assert_true(energy_meter_read(&meter, tree.root, NS_PER_SECOND, &joules));
	assert_near(joules, 0.32885 + 0.67115 + 1);
	temp_tree_done(&tree);
}

static void reads_amd_and_arm(void **state)
{
	struct temp_tree tree;
	struct temperature temperature;
	struct error error;
	uint64_t throttles;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "sys/class/hwmon/hwmon1/name", "k10temp\n");
	temp_tree_file(&tree, "sys/class/hwmon/hwmon1/temp1_input", "45250\n");
	add_cpu(&tree, 0, "3700000", NULL);
	assert_true(temperature_read(tree.root, &temperature, &error));
	assert_near(temperature.celsius, 45.25);
	assert_false(throttle_count_read(tree.root, &throttles));
	temp_tree_done(&tree);

	temp_tree_init(&tree);
	temp_tree_file(&tree, "sys/class/thermal/thermal_zone0/type", "cpu-thermal\n");
	temp_tree_file(&tree, "sys/class/thermal/thermal_zone0/temp", "48312\n");
	temp_tree_file(&tree, "sys/class/thermal/thermal_zone1/type", "gpu-thermal\n");
	temp_tree_file(&tree, "sys/class/thermal/thermal_zone1/temp", "70000\n");
	temp_tree_file(&tree, "sys/class/thermal/cooling_device0/type", "Processor\n");
	assert_true(temperature_read(tree.root, &temperature, &error));
	assert_near(temperature.celsius, 48.312);
	assert_string_equal(temperature.sensor, "thermal_zone0 (cpu-thermal)");
	temp_tree_done(&tree);
}

static void takes_the_power_of_a_laptop_on_its_battery(void **state)
{
	struct temp_tree tree;
	struct energy_meter meter;
	struct error error;
	double joules;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "sys/class/power_supply/AC/type", "Mains\n");
	temp_tree_file(&tree, "sys/class/power_supply/BAT0/status", "Discharging\n");
	temp_tree_file(&tree, "sys/class/power_supply/BAT0/power_now", "10000000\n");
	assert_true(energy_meter_open(&meter, tree.root, 0, &error));
	assert_int_equal(meter.source, ENERGY_POWER);
	assert_string_equal(meter.name, "BAT0");
	temp_tree_file(&tree, "sys/class/power_supply/BAT0/power_now", "14000000\n");
	assert_true(energy_meter_read(&meter, tree.root, 2 * NS_PER_SECOND, &joules));
	assert_near(joules, 24);
	/* Charging: that is no power of the machine. */
	temp_tree_file(&tree, "sys/class/power_supply/BAT0/status", "Charging\n");
	assert_false(energy_meter_open(&meter, tree.root, 0, &error));
	temp_tree_done(&tree);
}

static void says_why_a_virtual_machine_has_nothing(void **state)
{
	struct temp_tree tree;
	struct temperature temperature;
	struct frequency frequency;
	struct energy_meter meter;
	struct error error;

	temp_tree_init(&tree);
	temp_tree_folder(&tree, "sys/class/thermal");
	temp_tree_folder(&tree, "sys/class/hwmon");
	temp_tree_folder(&tree, "sys/devices/system/cpu/cpu0");
	assert_false(temperature_read(tree.root, &temperature, &error));
	assert_non_null(strstr(error.text, "virtual machine"));
	assert_false(frequency_read(tree.root, &frequency, &error));
	assert_non_null(strstr(error.text, "virtual machine"));
	assert_false(energy_meter_open(&meter, tree.root, 0, &error));
	assert_non_null(strstr(error.text, "virtual machine"));
	temp_tree_done(&tree);
}

/* A sensor that is not connected, text where a number belongs, empty files, folders in their place.
 */
static void believes_no_broken_tree(void **state)
{
	static const char *const values[] = {"",      "\n",    "N/A\n",	  "-128000\n",
					     "1e9\n", "nan\n", "12 34\n", "0x10\n"};
	struct temp_tree tree;
	struct temperature temperature;
	struct frequency frequency;
	struct energy_meter meter;
	struct error error;
	uint64_t throttles;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		temp_tree_init(&tree);
		temp_tree_file(&tree, "sys/class/hwmon/hwmon0/name", "coretemp\n");
		temp_tree_file(&tree, "sys/class/hwmon/hwmon0/temp1_input", values[i]);
		temp_tree_folder(&tree, "sys/class/hwmon/hwmon1/name");
		temp_tree_folder(&tree, "sys/class/hwmon/hwmon0/temp2_input");
		add_cpu(&tree, 0, strcmp(values[i], "1e9\n") ? values[i] : "1e19\n", values[i]);
		add_zone(&tree, "intel-rapl:0", "package-0\n", values[i]);
		assert_false(temperature_read(tree.root, &temperature, &error));
		assert_string_equal(error.text, "the sensors of the CPUs cannot be read");
		assert_false(frequency_read(tree.root, &frequency, &error));
		assert_false(throttle_count_read(tree.root, &throttles));
		assert_false(energy_meter_open(&meter, tree.root, 0, &error));
		temp_tree_done(&tree);
	}
}

static void a_counter_that_goes_away_ends_the_measurement(void **state)
{
	struct temp_tree tree;
	struct energy_meter meter;
	struct error error;
	double joules;

	temp_tree_init(&tree);
	add_zone(&tree, "intel-rapl:0", "package-0\n", "5000000\n");
	assert_true(energy_meter_open(&meter, tree.root, 0, &error));
	add_zone(&tree, "intel-rapl:0", "package-0\n", "gone\n");
	assert_false(energy_meter_read(&meter, tree.root, 1, &joules));
	/* Set back without a turn: never less than nothing. */
	add_zone(&tree, "intel-rapl:0", "package-0\n", "2000000\n");
	temp_tree_file(&tree, "sys/class/powercap/intel-rapl:0/max_energy_range_uj", "");
	assert_true(energy_meter_open(&meter, tree.root, 0, &error));
	add_zone(&tree, "intel-rapl:0", "package-0\n", "1000000\n");
	assert_true(energy_meter_read(&meter, tree.root, 1, &joules));
	assert_near(joules, 1);
	temp_tree_done(&tree);
}

/* Two packages of two cores with two threads each: files of CPUs that share a counter. */
static void counters_that_cpus_share_count_once(void **state)
{
	struct temp_tree tree;
	uint64_t throttles;

	(void)state;
	temp_tree_init(&tree);
	for (int cpu = 0; cpu < 8; cpu++) {
		int package = cpu / 2 % 2, core = cpu % 4;
		char path[128], text[32];

		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/", cpu);
		snprintf(text, sizeof(text), "%d,%d\n", core, core + 4);
		strcpy(path + strlen(path), "thread_siblings_list");
		temp_tree_file(&tree, path, text);
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%d/topology/core_siblings_list", cpu);
		temp_tree_file(&tree, path, package ? "2-3,6-7\n" : "0-1,4-5\n");
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%d/thermal_throttle/package_throttle_count",
			 cpu);
		temp_tree_file(&tree, path, package ? "100\n" : "1000\n");
		add_cpu(&tree, cpu, NULL, core == 3 ? "7\n" : "0\n");
	}
	assert_true(throttle_count_read(tree.root, &throttles));
	assert_int_equal(throttles, 1107);
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_that_cpus_share_count_once),
		cmocka_unit_test(reads_an_intel_client),
		cmocka_unit_test(adds_up_the_packages_of_a_server),
		cmocka_unit_test(reads_amd_and_arm),
		cmocka_unit_test(takes_the_power_of_a_laptop_on_its_battery),
		cmocka_unit_test(says_why_a_virtual_machine_has_nothing),
		cmocka_unit_test(believes_no_broken_tree),
		cmocka_unit_test(a_counter_that_goes_away_ends_the_measurement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
