/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets the names of a profile's block devices from this machine. */
#ifndef PKBPF_PROFILE_ACCOUNT_DEVICE_NAMES_H
#define PKBPF_PROFILE_ACCOUNT_DEVICE_NAMES_H

#include "base/array.h"
#include "base/hash_map.h"
#include "profile/profile.h"

/* For a profile just recorded on this machine. sysfs is its mount point, "/sys". Devices removed
 * meanwhile keep the names noted earlier, or have none. */
void profile_name_devices(struct profile *profile, const char *sysfs);

#define DEVICE_NAME_SIZE 64 /* the kernel's longest has 31 bytes */

struct device_name_entry {
	uint32_t device;
	char name[DEVICE_NAME_SIZE];
};

/* Names of all devices, whether or not they had requests, so that a device removed before the
 * end has a name. Zero-initialized: empty. */
struct device_names {
	struct hash_map numbers; /* number -> index */
	ARRAY_OF(struct device_name_entry) items;
};

/* Notes the present devices. Devices left out for lack of memory are shown by their numbers. */
void device_names_note(struct device_names *names, const char *sysfs);
/* Sets these names in a profile where it has no others. */
void device_names_give(const struct device_names *names, struct profile *profile);
void device_names_done(struct device_names *names);

#endif
