/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the kernel whether a block device has anything to do. */
#ifndef PKBPF_SOURCE_DEVICE_IDLE_H
#define PKBPF_SOURCE_DEVICE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

/* Is no request of the device (major << 20 | minor) under way, as `sysfs` ("/sys") says? false: some are, or it does not
 * say. */
bool device_is_idle(const char *sysfs, uint32_t device);

#endif
