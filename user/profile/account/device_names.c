// SPDX-License-Identifier: BSD-2-Clause
/* Names the block devices of a profile from sysfs. */
#include "profile/account/device_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file_io.h"

/* A uevent file is a dozen short lines. */
#define MAX_UEVENT_BYTES 4096
/* More devices than the largest storage servers have, each with a few partitions. */
#define MAX_DEVICES 65536

/* false: no name. */
static bool read_name(const char *sysfs, uint32_t device, char *ret_name, size_t name_size)
{
	_cleanup_free_ char *text = NULL;
	char path[512], *name, *end;
	size_t size;

	snprintf(path, sizeof(path), "%s/dev/block/%u:%u/uevent", sysfs, device >> 20,
		 device & 0xfffff);
	if (file_read_all(AT_FDCWD, path, MAX_UEVENT_BYTES, &text, &size))
		return false;
	name = strstr(text, "DEVNAME=");
	if (!name)
		return false;
	name += strlen("DEVNAME=");
	end = strchr(name, '\n');
	if (end)
		*end = '\0';
	snprintf(ret_name, name_size, "%s", name);
	return true;
}

void profile_name_devices(struct profile *profile, const char *sysfs)
{
	const struct distribution *distribution;
	char name[DEVICE_NAME_SIZE];

	for (size_t i = 0; (distribution = profile_distribution_at(profile, i)); i++) {
		uint32_t device = distribution->key.device;

		/* Without memory the device is shown by its number. */
		if (device && !profile_device_name(profile, device) &&
		    read_name(sysfs, device, name, sizeof(name)))
			profile_set_device_name(profile, device, name);
	}
}

static void note(struct device_names *names, const char *sysfs, uint32_t device)
{
	struct device_name_entry *entry;

	if (!device || hash_map_find(&names->numbers, device))
		return;
	entry = array_add(&names->items);
	if (!entry)
		return;
	entry->device = device;
	if (!read_name(sysfs, device, entry->name, sizeof(entry->name)) ||
	    !hash_map_put(&names->numbers, device, names->items.count - 1))
		names->items.count--;
}

void device_names_note(struct device_names *names, const char *sysfs)
{
	struct dirent *entry;
	char path[512];
	DIR *folder;

	snprintf(path, sizeof(path), "%s/dev/block", sysfs);
	folder = opendir(path);
	for (size_t i = 0; folder && i < MAX_DEVICES && (entry = readdir(folder)); i++) {
		unsigned int major, minor;

		if (names->items.count < MAX_DEVICES &&
		    sscanf(entry->d_name, "%u:%u", &major, &minor) == 2)
			note(names, sysfs, major << 20 | (minor & 0xfffff));
	}
	if (folder)
		closedir(folder);
}

void device_names_give(const struct device_names *names, struct profile *profile)
{
	for (size_t i = 0; i < names->items.count; i++) {
		const struct device_name_entry *entry = &names->items.items[i];

		if (!profile_device_name(profile, entry->device))
			profile_set_device_name(profile, entry->device, entry->name);
	}
}

void device_names_done(struct device_names *names)
{
	hash_map_done(&names->numbers);
	array_free(&names->items);
}
