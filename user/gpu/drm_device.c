// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/drm_device.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "machine/sysfs_value.h"

#define CARDS	   "/sys/class/drm"
#define HZ_PER_MHZ 1000000
#define PATH_SIZE  (2 * SYSFS_PATH_SIZE)
/* Sensors that are not connected read as far more. */
#define MILLICELSIUS_MAX 150000
#define MICROWATTS_MAX	 10000000000

struct card {
	const char *root;
	struct gpu_look *look;
	struct gpu_reading *device;
	char folder[SYSFS_PATH_SIZE]; /* of the card: "/sys/class/drm/card0" */
};

static bool read_u64(const struct card *card, const char *name, uint64_t *ret_value)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%s", card->folder, name);
	return sysfs_u64(card->root, path, ret_value);
}

/* ---- identity ---- */

static void copy_value(char *to, size_t size, const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; *line; line += strspn(line, "\n")) {
		size_t end = strcspn(line, "\n");

		if (strncmp(line, key, length) == 0 && end - length < size) {
			snprintf(to, size, "%.*s", (int)(end - length), line + length);
			return;
		}
		line += end;
	}
}

static bool identify(struct card *card, const char *name)
{
	char path[PATH_SIZE], id[GPU_ID_SIZE] = "", driver[GPU_DRIVER_SIZE] = "";
	char *text;

	snprintf(path, sizeof(path), "%s/device/uevent", card->folder);
	text = sysfs_text(card->root, path);
	if (text) {
		copy_value(id, sizeof(id), text, "PCI_SLOT_NAME=");
		copy_value(driver, sizeof(driver), text, "DRIVER=");
	}
	free(text);
	card->device = gpu_look_device(card->look, id[0] ? id : name);
	if (card->device)
		memcpy(card->device->driver, driver, sizeof(driver));
	return card->device;
}

/* ---- figures beside the card ---- */

static void read_memory(const struct card *card)
{
	struct gpu_reading *device = card->device;

	if (read_u64(card, "device/mem_info_vram_used", &device->memory_used))
		device->known |= GPU_HAS_MEMORY;
	if (read_u64(card, "device/mem_info_vram_total", &device->memory_total) &&
	    device->memory_total)
		device->known |= GPU_HAS_TOTAL;
}

static void read_busy(const struct card *card)
{
	uint64_t percent;

	if (!read_u64(card, "device/gpu_busy_percent", &percent) || percent > 100)
		return;
	card->device->busy_permille = (uint32_t)percent * 10;
	card->device->known |= GPU_HAS_BUSY;
}

static void read_clock(const struct card *card)
{
	static const char *const names[] = {"gt_act_freq_mhz", "device/tile0/gt0/freq0/act_freq"};
	uint64_t mhz;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		/* 0: asleep. */
		if (!read_u64(card, names[i], &mhz) || mhz > UINT32_MAX)
			continue;
		card->device->clock_hz = mhz * HZ_PER_MHZ;
		card->device->known |= GPU_HAS_CLOCK;
		return;
	}
}

static void read_throttle(const struct card *card)
{
	/* i915, xe */
	static const char *const folders[] = {"gt/gt0/throttle_reason_",
					      "device/tile0/gt0/freq0/throttle/reason_"};
	static const struct {
		const char *name;
		unsigned int cause;
	} reasons[] = {
		{"pl1", GPU_THROTTLED_POWER},	 {"pl2", GPU_THROTTLED_POWER},
		{"pl4", GPU_THROTTLED_POWER},	 {"vr_tdc", GPU_THROTTLED_POWER},
		{"thermal", GPU_THROTTLED_HEAT}, {"prochot", GPU_THROTTLED_HEAT},
		{"ratl", GPU_THROTTLED_HEAT},	 {"vr_thermalert", GPU_THROTTLED_HEAT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(folders) * ARRAY_SIZE(reasons); i++) {
		char name[96];
		uint64_t is_so;

		snprintf(name, sizeof(name), "%s%s", folders[i / ARRAY_SIZE(reasons)],
			 reasons[i % ARRAY_SIZE(reasons)].name);
		if (!read_u64(card, name, &is_so))
			continue;
		card->device->known |= GPU_HAS_THROTTLE;
		if (is_so)
			card->device->throttle |= reasons[i % ARRAY_SIZE(reasons)].cause;
	}
}

/* ---- sensors ---- */

static void read_power(const struct card *card, const char *folder)
{
	static const char *const names[] = {"power1_average", "power1_input"};
	uint64_t microwatts;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char name[96];

		snprintf(name, sizeof(name), "%s/%s", folder, names[i]);
		if (!read_u64(card, name, &microwatts) || microwatts > MICROWATTS_MAX)
			continue;
		card->device->power_mw = microwatts / 1000;
		card->device->known |= GPU_HAS_POWER;
		return;
	}
}

static bool look_at_sensors(void *context, const char *entry)
{
	const struct card *card = context;
	struct gpu_reading *device = card->device;
	char folder[64], name[96];

	snprintf(folder, sizeof(folder), "device/hwmon/%.20s", entry);
	read_power(card, folder);
	snprintf(name, sizeof(name), "%s/energy1_input", folder);
	if (read_u64(card, name, &device->energy_uj))
		device->known |= GPU_HAS_ENERGY;
	snprintf(name, sizeof(name), "%s/temp1_input", folder);
	if (read_u64(card, name, &device->millicelsius) && device->millicelsius <= MILLICELSIUS_MAX)
		device->known |= GPU_HAS_TEMPERATURE;
	snprintf(name, sizeof(name), "%s/freq1_input", folder);
	if (read_u64(card, name, &device->clock_hz))
		device->known |= GPU_HAS_CLOCK;
	return true;
}

/* "card0", and not "card0-HDMI-A-1". */
static bool is_card(const char *name)
{
	return strncmp(name, "card", 4) == 0 && isdigit((unsigned char)name[4]) &&
	       !name[4 + strspn(name + 4, "0123456789")];
}

static bool look_at_card(void *context, const char *name)
{
	struct card *card = context;
	char path[PATH_SIZE];

	if (!is_card(name))
		return true;
	snprintf(card->folder, sizeof(card->folder), CARDS "/%.20s", name);
	if (!identify(card, name))
		return true;
	read_busy(card);
	read_memory(card);
	read_clock(card);
	read_throttle(card);
	snprintf(path, sizeof(path), "%s/device/hwmon", card->folder);
	sysfs_each(card->root, path, look_at_sensors, card);
	return true;
}

void drm_devices_look(const char *root, struct gpu_look *look)
{
	struct card card = {.root = root, .look = look};

	sysfs_each(root, CARDS, look_at_card, &card);
}
