/* SPDX-License-Identifier: BSD-2-Clause */
/* Names the block devices of a profile as this machine calls them. */
#ifndef PKBPF_PROFILE_ACCOUNT_DEVICE_NAMES_H
#define PKBPF_PROFILE_ACCOUNT_DEVICE_NAMES_H

#include "base/array.h"
#include "base/hash_map.h"
#include "profile/profile.h"

/* For a profile recorded on this machine just now. sysfs is its mount point, "/sys". Devices that
 * have gone meanwhile have the names that were noted, or none. */
void profile_name_devices(struct profile *profile, const char *sysfs);

#define DEVICE_NAME_SIZE 64 /* the kernel's longest has 31 bytes */

struct device_name_entry {
	uint32_t device;
	char name[DEVICE_NAME_SIZE];
};

/* Names of the devices there are or were, whether or not they had requests: so that one that goes
 * before the end has a name. Starts as zeroes. */
struct device_names {
	struct hash_map numbers; /* number -> index */
	ARRAY_OF(struct device_name_entry) items;
};

/* Looks at those there are now. What is left out for want of memory stays a number. */
void device_names_note(struct device_names *names, const char *sysfs);
/* Gives them to a profile that has no other names for them. */
void device_names_give(const struct device_names *names, struct profile *profile);
void device_names_done(struct device_names *names);

#endif
