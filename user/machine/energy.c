// SPDX-License-Identifier: BSD-2-Clause
#include "machine/energy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text_append.h"
#include "machine/sysfs_value.h"

#define POWERCAP "/sys/class/powercap"
#define SUPPLIES "/sys/class/power_supply"
#define HWMON	 "/sys/class/hwmon"

struct opening {
	const char *root;
	struct energy_meter *meter;
	bool refused; /* there is one that this user may not read */
};

/* ---- powercap ---- */

static bool read_zone(const char *root, const char *zone, const char *name, uint64_t *ret_value)
{
	char path[SYSFS_PATH_SIZE];

	snprintf(path, sizeof(path), POWERCAP "/%.63s/%s", zone, name);
	return sysfs_u64(root, path, ret_value);
}

/* Packages, which have the rest within them ("intel-rapl:0:1"); psys has the packages within it,
 * and other things. The same counters stand under intel-rapl-mmio again. */
static bool open_zone(void *context, const char *name)
{
	struct opening *opening = context;
	struct energy_meter *meter = opening->meter;
	struct energy_zone *zone = &meter->zones[meter->zone_count];
	char path[SYSFS_PATH_SIZE], label[SYSFS_VALUE_SIZE];
	const char *colon = strchr(name, ':');

	if (!colon || strchr(colon + 1, ':') || strlen(name) >= sizeof(zone->path) ||
	    strstr(name, "mmio"))
		return true;
	snprintf(path, sizeof(path), POWERCAP "/%.63s/name", name);
	if (!sysfs_line(opening->root, path, label) || strncmp(label, "package", 7) != 0)
		return true;
	if (!read_zone(opening->root, name, "energy_uj", &zone->value_uj)) {
		opening->refused = true;
		return true;
	}
	snprintf(zone->path, sizeof(zone->path), "%s", name);
	if (!read_zone(opening->root, name, "max_energy_range_uj", &zone->range_uj))
		zone->range_uj = 0;
	text_append(meter->name, sizeof(meter->name), "%s%s", meter->zone_count ? ", " : "", label);
	meter->zone_count++;
	return meter->zone_count < ENERGY_ZONES_MAX;
}

static bool read_zones(struct energy_meter *meter, const char *root, double *ret_joules)
{
	double sum_uj = 0;

	for (uint32_t i = 0; i < meter->zone_count; i++) {
		struct energy_zone *zone = &meter->zones[i];
		uint64_t now_uj;

		if (!read_zone(root, zone->path, "energy_uj", &now_uj))
			return false;
		if (now_uj >= zone->value_uj)
			sum_uj += (double)(now_uj - zone->value_uj);
		else if (zone->range_uj >= zone->value_uj)
			sum_uj += (double)(zone->range_uj - zone->value_uj + now_uj);
		else /* set back, by a suspend or a driver that was loaded anew */
			sum_uj += (double)now_uj;
		zone->value_uj = now_uj;
	}
	*ret_joules = sum_uj / 1e6;
	return true;
}

/* ---- power ---- */

static bool read_watts(const char *root, const char *path, double *ret_watts)
{
	double microwatts;

	/* A battery that is charged has a sign, or lies. */
	if (!sysfs_number(root, path, &microwatts) || microwatts <= 0 || microwatts > 1e12)
		return false;
	*ret_watts = microwatts / 1e6;
	return true;
}

static bool open_power(struct opening *opening, const char *path, const char *name)
{
	struct energy_meter *meter = opening->meter;

	if (!read_watts(opening->root, path, &meter->watts))
		return false;
	meter->source = ENERGY_POWER;
	snprintf(meter->power_path, sizeof(meter->power_path), "%.127s", path);
	snprintf(meter->name, sizeof(meter->name), "%.63s", name);
	return true;
}

static bool open_supply(void *context, const char *name)
{
	struct opening *opening = context;
	char path[SYSFS_PATH_SIZE], line[SYSFS_VALUE_SIZE];

	/* On mains it is not the battery that feeds the machine. */
	snprintf(path, sizeof(path), SUPPLIES "/%.63s/status", name);
	if (!sysfs_line(opening->root, path, line) || strcmp(line, "Discharging") != 0)
		return true;
	snprintf(path, sizeof(path), SUPPLIES "/%.63s/power_now", name);
	return !open_power(opening, path, name);
}

static bool open_hwmon(void *context, const char *name)
{
	struct opening *opening = context;
	char path[SYSFS_PATH_SIZE], driver[SYSFS_VALUE_SIZE];

	snprintf(path, sizeof(path), HWMON "/%.63s/name", name);
	/* The ACPI power meter measures the whole machine; others a part of it. */
	if (!sysfs_line(opening->root, path, driver) || strcmp(driver, "power_meter") != 0)
		return true;
	snprintf(path, sizeof(path), HWMON "/%.63s/power1_average", name);
	return !open_power(opening, path, driver);
}

/* ---- the meter ---- */

bool energy_meter_open(struct energy_meter *meter, const char *root, uint64_t now_ns,
		       struct error *error)
{
	struct opening opening = {.root = root, .meter = meter};

	*meter = (struct energy_meter){.time_ns = now_ns};
	sysfs_each(root, POWERCAP, open_zone, &opening);
	if (meter->zone_count)
		return true;
	sysfs_each(root, HWMON, open_hwmon, &opening);
	if (!meter->power_path[0])
		sysfs_each(root, SUPPLIES, open_supply, &opening);
	if (meter->power_path[0])
		return true;
	if (opening.refused)
		error_set(error, EACCES,
			  "energy_uj of powercap cannot be read; run as root: since Linux 5.10 it "
			  "is root's alone");
	else
		error_set(error, ENOENT,
			  "no powercap zone, power meter or battery measures energy; in a virtual "
			  "machine the host has it");
	return false;
}

bool energy_meter_read(struct energy_meter *meter, const char *root, uint64_t now_ns,
		       double *ret_joules)
{
	double seconds = (double)(now_ns - meter->time_ns) / (double)NS_PER_SECOND;
	double before = meter->watts;

	meter->time_ns = now_ns;
	if (meter->source == ENERGY_ZONES)
		return read_zones(meter, root, ret_joules);
	if (!read_watts(root, meter->power_path, &meter->watts))
		return false;
	*ret_joules = (before + meter->watts) / 2 * seconds;
	return true;
}
