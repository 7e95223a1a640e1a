// SPDX-License-Identifier: BSD-2-Clause
#include "machine/temperature.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "machine/sysfs_value.h"

#define HWMON "/sys/class/hwmon"
#define ZONES "/sys/class/thermal"
#define CPUS  "/sys/devices/system/cpu"
/* Sensors that are not connected read as far less or more. */
#define CELSIUS_MIN (-40.0)
#define CELSIUS_MAX 150.0

static const char *const drivers[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal",
				      "scpi_sensors"};
/* Types of zones that are of a CPU. */
static const char *const zones[] = {"x86_pkg_temp", "cpu", "soc", "acpitz"};

struct looking {
	const char *root;
	const char *folder; /* of the sensors at hand */
	struct temperature hottest;
	bool found, had_sensors;
};

/* In thousandths of a degree. */
static void offer(struct looking *looking, const char *path, const char *sensor)
{
	double value;

	looking->had_sensors = true;
	if (!sysfs_number(looking->root, path, &value))
		return;
	value /= 1000;
	if (value < CELSIUS_MIN || value > CELSIUS_MAX ||
	    (looking->found && value <= looking->hottest.celsius))
		return;
	looking->found = true;
	looking->hottest.celsius = value;
	snprintf(looking->hottest.sensor, sizeof(looking->hottest.sensor), "%.63s", sensor);
}

/* ---- hwmon ---- */

struct input {
	struct looking *looking;
	char folder[SYSFS_PATH_SIZE];
	const char *driver;
};

static bool look_at_input(void *context, const char *name)
{
	struct input *input = context;
	size_t length = strlen(name);
	char path[2 * SYSFS_PATH_SIZE];

	if (strncmp(name, "temp", 4) != 0 || length < 7 || strcmp(name + length - 6, "_input") != 0)
		return true;
	snprintf(path, sizeof(path), "%s/%.64s", input->folder, name);
	offer(input->looking, path, input->driver);
	return true;
}

static bool look_at_hwmon(void *context, const char *name)
{
	struct input input = {.looking = context};
	char path[SYSFS_PATH_SIZE + 8], driver[SYSFS_VALUE_SIZE];

	snprintf(input.folder, sizeof(input.folder), HWMON "/%.64s", name);
	snprintf(path, sizeof(path), "%s/name", input.folder);
	if (!sysfs_line(input.looking->root, path, driver))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		if (strcmp(driver, drivers[i]) != 0)
			continue;
		input.driver = drivers[i];
		sysfs_each(input.looking->root, input.folder, look_at_input, &input);
	}
	return true;
}

/* ---- thermal zones ---- */

static bool look_at_zone(void *context, const char *name)
{
	struct looking *looking = context;
	char path[SYSFS_PATH_SIZE], type[SYSFS_VALUE_SIZE], sensor[SYSFS_VALUE_SIZE + 80];

	if (strncmp(name, "thermal_zone", 12) != 0)
		return true;
	snprintf(path, sizeof(path), ZONES "/%.64s/type", name);
	if (!sysfs_line(looking->root, path, type))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
		if (strncmp(type, zones[i], strlen(zones[i])) != 0)
			continue;
		snprintf(path, sizeof(path), ZONES "/%.64s/temp", name);
		snprintf(sensor, sizeof(sensor), "%.64s (%s)", name, type);
		offer(looking, path, sensor);
		break;
	}
	return true;
}

bool temperature_read(const char *root, struct temperature *ret_temperature, struct error *error)
{
	struct looking looking = {.root = root};

	sysfs_each(root, HWMON, look_at_hwmon, &looking);
	if (!looking.found)
		sysfs_each(root, ZONES, look_at_zone, &looking);
	if (!looking.found) {
		error_set(error, ENOENT,
			  looking.had_sensors
				  ? "the sensors of the CPUs cannot be read"
				  : "no driver reports the temperature of a CPU; in a virtual "
				    "machine the host has it, else load coretemp or k10temp");
		return false;
	}
	*ret_temperature = looking.hottest;
	return true;
}

/* ---- throttling ---- */

struct counting {
	const char *root;
	uint64_t sum;
	bool known;
};

/* Is it the first CPU of those that share the counter? Where that is not told, each has its own. */
static bool is_first(const struct counting *counting, const char *name, const char *list)
{
	char path[SYSFS_PATH_SIZE], line[SYSFS_VALUE_SIZE];

	snprintf(path, sizeof(path), CPUS "/%.64s/topology/%s", name, list);
	return !sysfs_line(counting->root, path, line) ||
	       strtoul(line, NULL, 10) == strtoul(name + 3, NULL, 10);
}

static bool count_cpu(void *context, const char *name)
{
	/* Each CPU has a file, but siblings of a core and CPUs of a package read one counter. */
	static const struct {
		const char *name, *list;
	} counters[] = {{"core", "thread_siblings_list"}, {"package", "core_siblings_list"}};
	struct counting *counting = context;
	char path[SYSFS_PATH_SIZE];
	uint64_t count;

	if (strncmp(name, "cpu", 3) != 0 || !isdigit((unsigned char)name[3]))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		if (!is_first(counting, name, counters[i].list))
			continue;
		snprintf(path, sizeof(path), CPUS "/%.64s/thermal_throttle/%s_throttle_count", name,
			 counters[i].name);
		if (!sysfs_u64(counting->root, path, &count))
			continue;
		counting->known = true;
		counting->sum += count;
	}
	return true;
}

bool throttle_count_read(const char *root, uint64_t *ret_count)
{
	struct counting counting = {.root = root};

	sysfs_each(root, CPUS, count_cpu, &counting);
	*ret_count = counting.sum;
	return counting.known;
}
