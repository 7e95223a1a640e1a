/* SPDX-License-Identifier: BSD-2-Clause */
/* Names the block devices of a profile as this machine calls them. */
#ifndef PKBPF_PROFILE_ACCOUNT_DEVICE_NAMES_H
#define PKBPF_PROFILE_ACCOUNT_DEVICE_NAMES_H

#include "profile/profile.h"

/* For a profile recorded on this machine just now. sysfs is its mount point, "/sys". Devices that
 * have gone meanwhile stay without a name. */
void profile_name_devices(struct profile *profile, const char *sysfs);

#endif
