/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices that do I/O without block requests (zram, RAM disks). The request tracepoints miss
 * this I/O, so the report says that it is missing. */
#ifndef PKBPF_SOURCE_BLOCKIO_REQUESTLESS_H
#define PKBPF_SOURCE_BLOCKIO_REQUESTLESS_H

#include <stdint.h>

/* Total reads, writes and discards of these devices since they exist, from `sysfs` ("/sys").
 * Stacked devices (dm, md, NVMe multipath) do not count: their I/O is traced on the devices
 * below. Files that cannot be read count 0. */
uint64_t requestless_count(const char *sysfs);

#endif
