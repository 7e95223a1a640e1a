// SPDX-License-Identifier: BSD-2-Clause
/* Names the block devices of a profile from sysfs. */
#include "profile/account/device_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file_io.h"

/* A uevent file is a dozen short lines. */
#define MAX_UEVENT_BYTES 4096

static void name_device(struct profile *profile, uint32_t device, const char *sysfs)
{
	_cleanup_free_ char *text = NULL;
	char path[512], *name, *end;
	size_t size;

	snprintf(path, sizeof(path), "%s/dev/block/%u:%u/uevent", sysfs, device >> 20,
		 device & 0xfffff);
	if (file_read_all(AT_FDCWD, path, MAX_UEVENT_BYTES, &text, &size))
		return;
	name = strstr(text, "DEVNAME=");
	if (!name)
		return;
	name += strlen("DEVNAME=");
	end = strchr(name, '\n');
	if (end)
		*end = '\0';
	/* Without memory it stays a number. */
	profile_set_device_name(profile, device, name);
}

void profile_name_devices(struct profile *profile, const char *sysfs)
{
	const struct distribution *distribution;

	for (size_t i = 0; (distribution = profile_distribution_at(profile, i)); i++) {
		uint32_t device = distribution->key.device;

		if (device && !profile_device_name(profile, device))
			name_device(profile, device, sysfs);
	}
}
